/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The scheduler's recorded events -> which threads wait on which CPU: what the view
 * run_queue_depth is compared with.
 */
#ifndef EBQL_LIVE_TRUTH_H
#define EBQL_LIVE_TRUTH_H

#include "base/base.h"

enum { CPUS_MAX = 64 };

enum event_kind { EVENT_SWITCH, EVENT_WAKEUP, EVENT_WAKEUP_NEW, EVENT_MIGRATE };

/* Of the scheduler: `cpu` is the CPU whose queue it is about, `at` where it happened. */
struct event {
	u64 time_ns;
	u32 number, cpu, from, at; /* from: of a migration */
	int tid, prev;		   /* who is picked, woken or moved; prev: who leaves the CPU */
	enum event_kind kind;
	bool is_preempted; /* prev, against its will */
	bool is_asleep;	   /* prev: its state is not that of a thread that could run on */
	bool is_certain;   /* the view has to have the same depth */
	s64 queued, depth; /* at a switch, but for tid: the kernel's number, and who waits */
};

/*
 * The queues, from the meaning of the events: which thread waits, and where.  A thread
 * waits on a CPU from its wakeup there or from when it was taken off it though it could
 * run on, until that CPU picks it or it moves to another.
 */
enum thread_state {
	THREAD_AWAY,
	THREAD_RUNS,
	THREAD_WAITS,
	THREAD_FALLS_ASLEEP /* preempted on its way to sleep */
};

struct thread {
	u64 time_ns; /* of its last event */
	u8 state, cpu;
};

struct queue {
	s64 n_waiting;
	u64 moved_ns;  /* the last time that another CPU moved a thread here */
	u64 empty_ns;  /* the last switch with nothing queued */
	u64 since_ns;  /* the last event */
	bool is_known; /* no thread waits that is not counted */
	bool is_calm;  /* the idle thread was picked once */
	int running;   /* tid */
};

struct truth {
	struct thread *threads; /* by tid */
	struct queue queues[CPUS_MAX];
	int tid_max;
	u64 n_gaps;
	s64 runnable_ns; /* threads that wait or run, times how long */
};

/* first: of all events, in the order of their times; e: the next of them. */
void truth_apply(struct truth *t, struct event *first, struct event *e);
/* Behind truth_apply() of a switch: must the view have this depth? */
bool truth_is_certain(struct truth *t, const struct event *e);

#endif
