/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What each program of the benchmark needs: its end with a message, clocks, a CPU of its own,
 * quantiles.
 */
#include <math.h>
#include <sched.h>
#include <stdarg.h>
#include <stdlib.h>
#include <time.h>

#include "bench.h"

void fail(const char *format, ...)
{
	va_list list;

	va_start(list, format);
	fputs("bench: ", stderr);
	vfprintf(stderr, format, list);
	fputc('\n', stderr);
	va_end(list);
	exit(1);
}

static u64 clock_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (u64)t.tv_sec * 1000000000ull + (u64)t.tv_nsec;
}

u64 monotonic_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

u64 realtime_ns(void)
{
	return clock_ns(CLOCK_REALTIME);
}

void sleep_ns(u64 ns)
{
	const struct timespec t = { (time_t)(ns / 1000000000), (long)(ns % 1000000000) };

	nanosleep(&t, NULL);
}

void pin_to_cpu(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		fail("cannot run on CPU %d", cpu);
}

static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* The q-quantile with linear interpolation; sorts. */
double quantile(double *values, size_t n, double q)
{
	double at = q * (double)(n - 1);
	size_t i = (size_t)at;

	if (n == 0)
		return NAN;
	qsort(values, n, sizeof(*values), compare_doubles);
	if (i + 1 >= n)
		return values[n - 1];
	return values[i] + (at - (double)i) * (values[i + 1] - values[i]);
}

double median(double *values, size_t n)
{
	return quantile(values, n, 0.5);
}
