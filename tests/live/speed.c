/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Loaded ahead of libc (LD_PRELOAD) into ebql calibrate: the machine changes its speed behind each
 * two of its loops of pread64, so that none is as fast behind a query as before it; and the kernel
 * refuses perf events.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define LOOP_CALLS (32 * 256)
#define SLOW_NS	   3000

static void wait_ns(long ns)
{
	struct timespec begin, now;

	clock_gettime(CLOCK_MONOTONIC, &begin);
	do
		clock_gettime(CLOCK_MONOTONIC, &now);
	while ((now.tv_sec - begin.tv_sec) * 1000000000l + now.tv_nsec - begin.tv_nsec < ns);
}

long syscall(long number, ...)
{
	static long (*real)(long number, ...);
	static unsigned long n_calls;
	long args[6];
	va_list list;

	va_start(list, number);
	for (unsigned i = 0; i < 6; i++)
		args[i] = va_arg(list, long);
	va_end(list);
	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "syscall");
	if (number == SYS_perf_event_open) {
		errno = EACCES;
		return -1;
	}
	if (number == SYS_pread64 && n_calls++ / LOOP_CALLS % 4 >= 2)
		wait_ns(SLOW_NS);
	return real(number, args[0], args[1], args[2], args[3], args[4], args[5]);
}
