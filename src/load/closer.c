/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Closes descriptors in a thread, and empties places of chains: a perf event takes 35-85 ms, a raw
 * tracepoint and a place up to 10, since the kernel waits for grace periods, and windows of other
 * queries end meanwhile.  The thread is there as long as there is something to close.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "load/internal.h"

void load_closer_open(struct load_closer *closer)
{
	*closer = (struct load_closer){ .n = 0 };
	pthread_mutex_init(&closer->mutex, NULL);
}

static void do_close(struct load_closing *closing)
{
	u32 place = (u32)closing->place;

	if (closing->place >= 0)
		sys_map_element(BPF_MAP_DELETE_ELEM, closing->fd, &place, NULL);
	sys_close(&closing->fd);
}

static void *work(void *context)
{
	struct load_closer *closer = context;
	struct load_closing now = { .fd = -1, .place = -1 };
	bool is_more;

	do {
		do_close(&now);
		pthread_mutex_lock(&closer->mutex);
		is_more = closer->is_working = closer->n > 0;
		closer->now = now = is_more ? closer->closing[0]
					    : (struct load_closing){ .fd = -1, .place = -1 };
		if (is_more)
			memmove(closer->closing, closer->closing + 1, --closer->n * sizeof(now));
		pthread_mutex_unlock(&closer->mutex);
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

static bool has_room(struct load_closer *closer)
{
	u32 n_room = MAX(2 * closer->n_room, 64u);
	struct load_closing *closing;

	if (closer->n < closer->n_room)
		return true;
	closing = realloc(closer->closing, n_room * sizeof(*closing));
	if (!closing)
		return false;
	closer->closing = closing;
	closer->n_room = n_room;
	return true;
}

static void take(struct load_closer *closer, struct load_closing closing)
{
	bool is_taken, is_first;

	pthread_mutex_lock(&closer->mutex);
	is_taken = has_room(closer);
	is_first = is_taken && !closer->is_working;
	if (is_taken)
		closer->closing[closer->n++] = closing;
	closer->is_working |= is_first;
	pthread_mutex_unlock(&closer->mutex);
	if (is_first)
		start(closer);
	if (!is_taken)
		do_close(&closing);
}

void load_closer_take(struct load_closer *closer, int *fd)
{
	if (*fd >= 0)
		take(closer, (struct load_closing){ .fd = *fd, .place = -1 });
	*fd = -1;
}

void load_closer_take_place(struct load_closer *closer, const struct load_chain *chain, u32 place,
			    int *fd)
{
	take(closer, (struct load_closing){ .fd = *fd, .place = (s32)place, .chain = chain });
	*fd = -1;
}

u32 load_closer_places(struct load_closer *closer, const struct load_chain *chain)
{
	u32 places = 0;

	pthread_mutex_lock(&closer->mutex);
	if (closer->is_working && closer->now.chain == chain)
		places = 1u << closer->now.place;
	for (u32 i = 0; i < closer->n; i++)
		if (closer->closing[i].chain == chain)
			places |= 1u << closer->closing[i].place;
	pthread_mutex_unlock(&closer->mutex);
	return places;
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
	free(closer->closing);
	pthread_mutex_destroy(&closer->mutex);
}
