/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * States and signs of life for the service manager.
 */
#include "watch/service.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>
#include <unistd.h>

#include "host/host.h"

static struct {
	char socket[sizeof(((struct sockaddr_un *)0)->sun_path)]; /* "": nobody wants to know */
	u64 every_ns, next_ns; /* signs of life, CLOCK_MONOTONIC; 0: none */
} service;

void service_open(void)
{
	const char *path = getenv("NOTIFY_SOCKET"), *pid = getenv("WATCHDOG_PID");
	const char *us = getenv("WATCHDOG_USEC");

	service.every_ns = 0;
	snprintf(service.socket, sizeof(service.socket), "%s", path ? path : "");
	/* Twice in the time, as sd_watchdog_enabled(3) asks for. */
	if (path && us && (!pid || strtoull(pid, NULL, 10) == (u64)getpid()))
		service.every_ns = strtoull(us, NULL, 10) * 1000 / 2;
	service.next_ns = base_monotonic_ns();
	unsetenv("NOTIFY_SOCKET");
	unsetenv("WATCHDOG_PID");
	unsetenv("WATCHDOG_USEC");
}

void service_tell(const char *format, ...)
{
	char text[256];
	va_list args;

	if (!*service.socket)
		return;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	datagram_send(service.socket, text, strlen(text));
}

void service_tell_reload(void)
{
	service_tell("RELOADING=1\nMONOTONIC_USEC=%llu\n",
		     (unsigned long long)(base_monotonic_ns() / 1000));
}

u64 service_live_ns(void)
{
	return service.every_ns ? service.next_ns : 0;
}

void service_live(void)
{
	u64 now_ns = base_monotonic_ns();

	if (!service.every_ns || now_ns < service.next_ns)
		return;
	service.next_ns = now_ns + service.every_ns;
	service_tell("WATCHDOG=1");
}
