/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * struct run, and the steps of a batch that loop.c calls at its instants.
 */
#ifndef EBQL_ENGINE_WINDOW_H
#define EBQL_ENGINE_WINDOW_H

#include "drain/drain.h"
#include "engine/engine.h"
#include "engine/user.h"

#define WINDOW_LOSS_NS 100000000ull

/* HOPPING: boundaries are those of hop_between_ns(), on CLOCK_REALTIME. */
struct hop {
	struct panes *panes; /* NULL: another kind of window */
	u64 boundary_ns;     /* of the schedule: the latest that was seen; 0: none yet */
	u64 position;	     /* the same on a clock that is never set back: where panes end */
};

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

	u64 start_ns, window_start_ns; /* CLOCK_REALTIME; HOPPING: of the pane */
	struct tally tally; /* of the window or pane, or of the run where there is none */
	struct hop hop;
	/* By window_switch(), and not made use of yet. */
	bool is_switched;
	int switch_error;
	u64 switched_ns; /* CLOCK_REALTIME, just behind it */
	/* Of the control lines, what is accounted for. */
	u64 start_faults_before, start_negative_before, start_evicted_before;
	u64 start_running_full_before;
	u64 unpaired_before[UNPAIRED_N];
	/* Streamed rows: hooks are being detached; what ends had counted before. */
	bool is_ended;
	u64 unpaired_at_end[UNPAIRED_N];
	u64 loss_seen_ns; /* CLOCK_MONOTONIC, when window_has_loss() last asked the kernel */
	u64 n_rows;	  /* streamed rows handed on */
	u64 rows_limit;
	/* Lost rows: seen when the ring was written up to a position, and those before it. */
	u64 ring_full_marked, ring_full_position, ring_full_before;
	struct run_result result;
};

/* SQLite, if the query needs it: after the programs are attached, so they start sooner. */
int window_open_user(struct run *run);
/* At the multiples of this a boundary is; 0: there are none. */
u64 window_period_ns(const struct run *run);
/* HOPPING: and this long after each multiple, where windows begin; 0: not there. */
u64 window_between_ns(const struct run *run);
/* HOPPING: does window_close_at() give a batch, or does only a pane end?  Others always do. */
bool window_is_due(const struct run *run, u64 now_ns);
/*
 * Switches now; window_restart() or window_close_...(), called next, goes on from there.
 * So several runs can be switched at nearly one time before the first of them is drained.
 */
void window_switch(struct run *run);
/*
 * Before the first boundary: forgets what was counted; the run begins now.  For runs that
 * are attached one after the other and are to see the same time.
 */
int window_restart(struct run *run);
/* At a boundary: switch, drain, merge, user part, sink. */
int window_close(struct run *run);
/*
 * The same; now_ns (CLOCK_REALTIME) tells which boundaries have passed, so that several
 * runs that are closed one after the other agree on it.
 */
int window_close_at(struct run *run, u64 now_ns);
/* At the stop: switch, detach, then as window_close(). */
int window_close_last(struct run *run);
/*
 * Hands on the rows that are in the ring buffer, but not more than a good many, so
 * that signals are seen.  *ret_more: there may be more.
 */
int window_stream(struct run *run, bool *ret_more);
int window_stream_last(struct run *run);
/*
 * Of a run without a window: did it lose something, so that its answer may be biased?
 * Missed events, which take a system call for each program, are asked for every
 * WINDOW_LOSS_NS.
 */
bool window_has_loss(struct run *run);

#endif
