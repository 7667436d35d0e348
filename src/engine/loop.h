/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * When things happen in a run: at boundaries of the wall clock, every 10 ms, and at its
 * end.  What happens then is the driver's: run.c's for a query that one kernel part
 * answers, flow.c's for all others.
 */
#ifndef EBQL_ENGINE_LOOP_H
#define EBQL_ENGINE_LOOP_H

#include "base/cancel.h"
#include "engine/engine.h"

/* All return 0, or -errno, which ends the run. */
struct loop_driver {
	/* Attaches the programs: it begins to count. */
	int (*attach)(void *context);
	/* A multiple of period_ns, or a boundary between two, passed.  *ret_is_over: the run ends
	 * here. */
	int (*boundary)(void *context, bool *ret_is_over);
	/*
	 * Every poll_ns, and after each boundary; at once again after *ret_more.  NULL: nothing is
	 * to be done between boundaries.
	 */
	int (*poll)(void *context, bool *ret_more, bool *ret_is_over);
	/* The end, not after an error: detaches and gives the last batch. */
	int (*last)(void *context);
	/* Whatever happened before. */
	void (*detach)(void *context);
	void *context;

	u64 poll_ns;	/* below 1 s; 0: 10 ms */
	u64 period_ns;	/* of boundaries, on CLOCK_REALTIME; 0: none */
	u64 between_ns; /* a boundary also so long after each multiple of it; 0: not */
	const struct run_options *options;
	const struct run_sink *sink; /* its attached() and idle() are called here */
	int *ret_child_status;
};

/* 0 or -errno: of the driver, or of a timer; one at a time. */
int loop_drive(const struct loop_driver *driver);
/*
 * Due when the run was told to end and what is still being computed takes too long: 2 s
 * behind a first signal, none behind a second, 10 s behind the end of the duration.
 */
const struct cancel *loop_cancel(void);

#endif
