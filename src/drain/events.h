/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A load whose programs stream rows -> these rows, as the ring buffer has them, and what
 * happened since the run began.
 */
#ifndef EBQL_DRAIN_EVENTS_H
#define EBQL_DRAIN_EVENTS_H

#include "drain/meter.h"
#include "drain/stream.h"

struct events {
	struct load_state *load;
	struct stream_reader stream;
	struct meter meter;
	struct account account;	 /* of the run so far */
	bool is_ended, is_whole; /* whole: all rows of the load are of the run */
	u64 n_faults;		 /* of the columns of all rows */
	u64 n_rows, rows_limit;	 /* handed on; not more than that */
	/* Lost rows: seen when the ring was written up to a position, and those before it. */
	u64 ring_full, ring_full_marked, ring_full_position, ring_full_before;
};

/* 0 or -errno; events_close() after either. */
int events_open(struct events *events, struct load_state *load, u64 rows_limit);
void events_close(struct events *events);
/* The run is about to begin, with a flip: what is in the ring buffer makes room. */
void events_skip(struct events *events);
/* The run began with the latest flip: what came before is forgotten. */
void events_restart(struct events *events);
/*
 * Rows of phys->columns that are there now, STREAM_BATCH_ROWS at most; they and their texts
 * stay until the next call.  `account` is then that of the run, with these rows.
 */
u32 events_read(struct events *events, const struct value **ret_rows);
/* Adds to `account` what happened meanwhile; missed events too, where it is asked for. */
void events_account(struct events *events, bool has_missed);
/*
 * The run ended with the latest flip, or, not is_switched, when its programs were detached: what
 * comes behind is neither read nor counted.
 */
void events_end(struct events *events, bool is_switched);
/* At the end: the starts from before that instant that still wait.  0 or -errno. */
int events_finish(struct events *events, u64 before_ns);

#endif
