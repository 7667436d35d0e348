/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * How the process ends on an error of its own, numbers of text, and the two clocks.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/base.h"

_Noreturn void base_bug(const char *file, int line, const char *format, ...)
{
	va_list args;

	fflush(stdout);
	fprintf(stderr, "ebql: bug at %s:%d: ", file, line);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	abort();
}

_Noreturn void base_no_memory(void)
{
	static const char text[] = "ebql: out of memory\n";
	ssize_t written = write(STDERR_FILENO, text, sizeof(text) - 1);

	(void)written;
	_exit(1);
}

double base_real_of(const char *text, size_t n)
{
	char small[64], *copy = n < sizeof(small) ? small : malloc(n + 1);
	double real;

	if (!copy)
		base_no_memory();
	memcpy(copy, text, n);
	copy[n] = '\0';
	real = strtod(copy, NULL);
	if (copy != small)
		free(copy);
	return real;
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
