/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * struct run, and the steps of a batch that loop.c calls at its instants.
 */
#ifndef EBQL_RUN_WINDOW_H
#define EBQL_RUN_WINDOW_H

#include "run/drain.h"
#include "run/merge.h"
#include "run/rows.h"
#include "run/run.h"
#include "run/stream.h"
#include "run/user.h"

struct run {
	struct load *load;
	const struct phys *phys;
	struct run_options options;
	struct run_sink sink;
	struct arena *arena;
	struct diags *diags;

	struct drain drain;
	struct merge merge;
	struct user user;
	bool is_user_open;
	struct stream_reader stream;

	u64 start_ns, window_start_ns; /* CLOCK_REALTIME */
	u64 counters[COUNTER_N];       /* of the window, or of the run where there is none */
	u64 missed;		       /* the same, and what the starts of joins count: */
	u64 start_faults, start_negative, start_evicted, unpaired[UNPAIRED_N];
	/* Of the control lines, what is accounted for. */
	u64 start_faults_before, start_negative_before, start_evicted_before;
	u64 unpaired_before[UNPAIRED_N];
	/* Streamed rows: hooks are being detached; what ends had counted before. */
	bool is_ended;
	u64 unpaired_at_end[UNPAIRED_N];
	u64 n_rows; /* streamed rows handed on */
	u64 rows_limit;
	/* Lost rows: seen when the ring was written up to a position, and those before it. */
	u64 ring_full_marked, ring_full_position, ring_full_before;
	struct run_result result;
};

/* SQLite, if the query needs it: after the programs are attached, so they start sooner. */
int window_open_user(struct run *run);
/* At a boundary: switch, drain, merge, user part, sink. */
int window_close(struct run *run);
/* At the stop: switch, detach, then as window_close(). */
int window_close_last(struct run *run);
/*
 * Hands on the rows that are in the ring buffer, but not more than a good many, so
 * that signals are seen.  *ret_more: there may be more.
 */
int window_stream(struct run *run, bool *ret_more);
int window_stream_last(struct run *run);

#endif
