/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Closes descriptors in a thread: that of a perf event takes 35-85 ms, that of a raw tracepoint up
 * to 10, since the kernel waits for grace periods, and windows of other queries end meanwhile.  The
 * thread is there as long as there is something to close.
 */
#include <signal.h>

#include "load/internal.h"

void load_closer_open(struct load_closer *closer)
{
	*closer = (struct load_closer){ .n = 0 };
	pthread_mutex_init(&closer->mutex, NULL);
}

static void *work(void *context)
{
	struct load_closer *closer = context;
	bool is_more;
	int fd;

	do {
		pthread_mutex_lock(&closer->mutex);
		is_more = closer->is_working = closer->n > 0;
		fd = is_more ? closer->fds[--closer->n] : -1;
		pthread_mutex_unlock(&closer->mutex);
		sys_close(&fd);
	} while (is_more);
	return NULL;
}

static void start(struct load_closer *closer)
{
	sigset_t all, before;

	if (closer->has_thread)
		pthread_join(closer->thread, NULL); /* it has ended */
	/* The host's signals are for its own threads. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	closer->has_thread = pthread_create(&closer->thread, NULL, work, closer) == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (!closer->has_thread)
		work(closer);
}

void load_closer_take(struct load_closer *closer, int *fd)
{
	bool is_taken, is_first;

	if (*fd < 0)
		return;
	pthread_mutex_lock(&closer->mutex);
	is_taken = closer->n < ARRAY_SIZE(closer->fds);
	is_first = is_taken && !closer->is_working;
	if (is_taken)
		closer->fds[closer->n++] = *fd;
	closer->is_working |= is_first;
	pthread_mutex_unlock(&closer->mutex);
	if (is_first)
		start(closer);
	if (is_taken)
		*fd = -1;
	sys_close(fd);
}

bool load_closer_is_working(struct load_closer *closer)
{
	bool is_working;

	pthread_mutex_lock(&closer->mutex);
	is_working = closer->is_working;
	pthread_mutex_unlock(&closer->mutex);
	return is_working;
}

void load_closer_close(struct load_closer *closer)
{
	if (closer->has_thread)
		pthread_join(closer->thread, NULL);
	pthread_mutex_destroy(&closer->mutex);
}
