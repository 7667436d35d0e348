/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Loaded ahead of libc (LD_PRELOAD): a program whose wall clock, in seconds, was set: it is off by
 * what the file of EBQL_TEST_CLOCK says just then.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

time_t time(time_t *ret)
{
	FILE *file = fopen(getenv("EBQL_TEST_CLOCK"), "re");
	struct timespec now;
	long offset = 0;

	clock_gettime(CLOCK_REALTIME, &now);
	if (file && fscanf(file, "%ld", &offset) != 1)
		abort();
	if (file)
		fclose(file);
	now.tv_sec += offset;
	if (ret)
		*ret = now.tv_sec;
	return now.tv_sec;
}
