/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * How the process ends on an error of its own, roots, and the two clocks.
 */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/base.h"

_Noreturn void base_bug(const char *file, int line, const char *format, ...)
{
	va_list args;

	fflush(stdout);
	/* Not stderr: what a program has made of that may hand bytes to a thread. */
	dprintf(STDERR_FILENO, "ebql: bug at %s:%d: ", file, line);
	va_start(args, format);
	vdprintf(STDERR_FILENO, format, args);
	va_end(args);
	dprintf(STDERR_FILENO, "\n");
	abort();
}

_Noreturn void base_no_memory(void)
{
	static const char text[] = "ebql: out of memory\n";
	ssize_t written = write(STDERR_FILENO, text, sizeof(text) - 1);

	(void)written;
	_exit(1);
}

u64 base_root(u128 n)
{
	long double guess = sqrtl((long double)n);
	u64 root = guess >= 0x1p64L ? UINT64_MAX : (u64)guess;

	/* A guess of 64 bits is off by one or two at most. */
	while ((u128)root * root > n)
		root--;
	while (root < UINT64_MAX && (u128)(root + 1) * (root + 1) <= n)
		root++;
	return root;
}

static u64 clock_ns(clockid_t clock)
{
	struct timespec t;

	BUG_ON(clock_gettime(clock, &t));
	return (u64)t.tv_sec * 1000000000u + (u64)t.tv_nsec;
}

u64 base_monotonic_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

u64 base_realtime_ns(void)
{
	return clock_ns(CLOCK_REALTIME);
}
