/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Loaded ahead of libc (LD_PRELOAD): a program whose wall clock, in seconds, was set: it is off by
 * what the file of EBQL_TEST_CLOCK says just then, and so are its timers by that clock.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

static long clock_offset(void)
{
	FILE *file = fopen(getenv("EBQL_TEST_CLOCK"), "re");
	long offset = 0;

	if (file && fscanf(file, "%ld", &offset) != 1)
		abort();
	if (file)
		fclose(file);
	return offset;
}

/* Only the wall's clock is one that is set. */
int timerfd_settime(int fd, int flags, const struct itimerspec *at, struct itimerspec *ret_old)
{
	struct itimerspec real = *at;

	if (flags & TFD_TIMER_CANCEL_ON_SET && real.it_value.tv_sec)
		real.it_value.tv_sec -= clock_offset();
	return (int)syscall(SYS_timerfd_settime, fd, flags, &real, ret_old);
}

time_t time(time_t *ret)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	now.tv_sec += clock_offset();
	if (ret)
		*ret = now.tv_sec;
	return now.tv_sec;
}
