/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The queues of the CPUs, from the meaning of each event, thread by thread.
 */
#include "truth.h"

#define NEAR_NS 50000ull

static void put(struct truth *t, int tid, enum thread_state state, u32 cpu)
{
	struct thread *thread = &t->threads[tid];

	if (tid == 0)
		return;
	if (thread->state == THREAD_WAITS)
		t->queues[thread->cpu].n_waiting--;
	t->tid_max = MAX(t->tid_max, tid);
	thread->state = (u8)state;
	thread->cpu = (u8)cpu;
	if (state == THREAD_WAITS)
		t->queues[cpu].n_waiting++;
}

/*
 * A thread that another CPU moves is in no queue for a while: sched_migrate_task is at the
 * beginning of that, and no event is at its end, where it enters the queue.  Every other event
 * is under the lock of the queue that it is about, so they are in the order of their
 * times; this one is not.  What the view makes of it is uncertain where it is NEAR_NS from a
 * switch, and if that switch found nothing queued, all up to the next such switch: there
 * the view begins anew.
 */
static void move(struct truth *t, struct event *first, struct event *e)
{
	struct queue *q = &t->queues[e->cpu];

	put(t, e->tid, THREAD_WAITS, e->cpu);
	if (e->at == e->cpu)
		return;
	q->moved_ns = e->time_ns;
	if (e->time_ns - q->empty_ns < NEAR_NS)
		q->is_known = false;
	for (struct event *s = e; s > first && e->time_ns - s->time_ns < NEAR_NS; s--)
		if (s->kind == EVENT_SWITCH && s->cpu == e->cpu)
			s->is_certain = false;
}

/* An event about this CPU and thread was missed; then its queue is not known from that time on. */
static void miss(struct truth *t, struct event *first, struct event *e, u32 cpu)
{
	struct queue *q = &t->queues[cpu];
	u64 since_ns = MAX(t->threads[e->tid].time_ns, q->empty_ns);

	t->n_gaps += q->is_known;
	q->is_known = false;
	for (struct event *s = e; s > first && s->time_ns > since_ns; s--)
		if (s->kind == EVENT_SWITCH && s->cpu == cpu)
			s->is_certain = false;
}

/*
 * While some threads run (a virtual machine's own), there are switches that neither record
 * has.  It shows where the thread that leaves is not the one that came, and where one
 * comes that does not wait here.  From there to the next switch with nothing queued,
 * nothing is compared.
 */
static void apply_switch(struct truth *t, struct event *first, struct event *e)
{
	struct queue *q = &t->queues[e->cpu];
	const struct thread *thread = &t->threads[e->tid];
	bool is_here = thread->cpu == e->cpu &&
		       (thread->state == THREAD_WAITS || thread->state == THREAD_FALLS_ASLEEP);

	if (q->running != e->prev) {
		t->n_gaps += q->is_known;
		q->is_known = false;
	}
	if (e->tid != 0 && !is_here) {
		miss(t, first, e, e->cpu);
		miss(t, first, e, thread->cpu);
	}
	/* Preempted on its way to sleep: the view says that it waits from its wakeup on. */
	put(t, e->prev,
	    !e->is_asleep     ? THREAD_WAITS
	    : e->is_preempted ? THREAD_FALLS_ASLEEP
			      : THREAD_AWAY,
	    e->cpu);
	put(t, e->tid, THREAD_RUNS, e->cpu);
	q->running = e->tid;
}

void truth_apply(struct truth *t, struct event *first, struct event *e)
{
	const struct thread *thread = &t->threads[e->tid];

	switch (e->kind) {
	case EVENT_SWITCH:
		apply_switch(t, first, e);
		break;
	case EVENT_WAKEUP:
	case EVENT_WAKEUP_NEW:
		/* One that is still on its CPU runs on; none is woken that waits. */
		if (thread->state == THREAD_WAITS ||
		    (thread->state == THREAD_RUNS && thread->cpu != e->cpu)) {
			miss(t, first, e, e->cpu);
			miss(t, first, e, thread->cpu);
		}
		if (thread->state != THREAD_RUNS || thread->cpu != e->cpu)
			put(t, e->tid, THREAD_WAITS, e->cpu);
		break;
	case EVENT_MIGRATE:
		/* One that sleeps is woken behind this. */
		if (thread->state == THREAD_WAITS)
			move(t, first, e);
		break;
	}
	t->threads[e->tid].time_ns = e->time_ns;
	t->threads[e->prev].time_ns = e->time_ns;
}

/*
 * Whether the view has to have this depth.  Not where more should wait than are in the
 * queue, for one is on its way to it: and if nothing is queued, the view begins anew
 * one thread too early, so all up to the next such switch is not.
 */
bool truth_is_certain(struct truth *t, const struct event *e)
{
	struct queue *q = &t->queues[e->cpu];
	bool is_near = q->moved_ns && e->time_ns - q->moved_ns < NEAR_NS;
	bool is_arriving = q->n_waiting > e->queued;

	if (e->queued == 0) {
		q->empty_ns = e->time_ns;
		q->is_calm |= e->tid == 0;
		/* What was woken or moved there unseen is gone; so is what left unseen. */
		for (int tid = 1; !q->is_known && !is_near && tid <= t->tid_max; tid++)
			if (t->threads[tid].state == THREAD_WAITS && t->threads[tid].cpu == e->cpu)
				put(t, tid, THREAD_AWAY, 0);
		is_arriving = q->n_waiting > 0;
		q->is_known = q->is_calm && !is_near && !is_arriving;
	}
	return q->is_known && !is_near && !is_arriving;
}
