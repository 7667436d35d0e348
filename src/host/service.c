/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * States and signs of life for the service manager.
 */
#include "host/service.h"

#include <poll.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define SEND_MS 100

static struct {
	char socket[sizeof(((struct sockaddr_un *)0)->sun_path)]; /* "": nobody wants to know */
	u64 every_ns, next_ns; /* signs of life, CLOCK_MONOTONIC; 0: none */
} service;

bool datagram_send(const char *path, const char *bytes, size_t n)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	size_t length = strlen(path);
	struct pollfd fd;
	bool is_sent;

	if (!length || length >= sizeof(to.sun_path))
		return false;
	memcpy(to.sun_path, path, length);
	if (*path == '@')
		to.sun_path[0] = '\0';
	fd = (struct pollfd){ socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0),
			      POLLOUT };
	if (fd.fd < 0)
		return false;
	is_sent = connect(fd.fd, (const struct sockaddr *)&to,
			  (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length)) == 0 &&
		  poll(&fd, 1, SEND_MS) == 1 && send(fd.fd, bytes, n, MSG_NOSIGNAL) == (ssize_t)n;
	close(fd.fd);
	return is_sent;
}

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
