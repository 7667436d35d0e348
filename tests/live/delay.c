/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Loaded ahead of libc (LD_PRELOAD): a program that is stopped for a while behind each third look
 * at the clock, as by a busy machine where it matters most.
 */
#include <dlfcn.h>
#include <time.h>
#include <unistd.h>

#include "delay.h"

#define DELAY_US 1000

int clock_gettime(clockid_t clock, struct timespec *time)
{
	static int (*real)(clockid_t clock, struct timespec * time);
	static unsigned n_looks;
	int result;

	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "clock_gettime");
	result = real(clock, time);
	if (clock == CLOCK_MONOTONIC) {
		unsigned n = __atomic_add_fetch(&n_looks, 1, __ATOMIC_RELAXED);

		if (n % 3 == 0)
			usleep(DELAY_US);
		if (n == 3 && write(2, DELAY_MARK, sizeof(DELAY_MARK) - 1) < 0)
			_exit(127);
	}
	return result;
}
