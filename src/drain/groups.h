/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A load whose programs aggregate -> the groups of each window, and what happened in it.
 * Whoever owns the load switches it (load_flip()); what was counted up to the switch is
 * taken by groups_end().  One switch is the end of a window and the start of the next.
 */
#ifndef EBQL_DRAIN_GROUPS_H
#define EBQL_DRAIN_GROUPS_H

#include "drain/copy.h"
#include "drain/meter.h"
#include "drain/panes.h"
#include "drain/rows.h"

struct groups {
	struct load_state *load;
	const struct phys *phys;
	struct drain drain;
	struct merge merge;
	struct meter meter;
	/* HOPPING: boundaries are those of hop_between_ns(), on CLOCK_REALTIME. */
	struct panes *panes; /* NULL: another kind of window */
	u64 boundary_ns;     /* of the schedule: the latest that was seen; 0: none yet */
	u64 position;	     /* the same on a clock that is never set back: where panes end */

	u64 start_ns, window_start_ns; /* CLOCK_REALTIME; HOPPING: of the pane */
	struct account account; /* of the window or pane, or of the run where there is none */
	struct account total;	/* of the run, as far as it was given */
	/* Of the window or snapshot that ended last; valid until the next ends. */
	bool has_window;
	struct rows rows;
	struct account window;
};

/* 0 or -ENOMEM; groups_close() after either. */
int groups_open(struct groups *groups, struct load_state *load, struct arena *arena);
void groups_close(struct groups *groups);
/* The programs are being attached: the run begins. */
void groups_start(struct groups *groups, u64 now_ns);
/* Was switched: forgets what was counted before, the run begins at that instant. */
int groups_restart(struct groups *groups, u64 switched_ns);
/* HOPPING: does a window end at this boundary, or does only a pane?  Others always do. */
bool groups_is_due(const struct groups *groups, u64 now_ns);
/*
 * Was switched at switched_ns (CLOCK_REALTIME, just behind it).  now_ns tells which boundaries
 * have passed, so that several that end one after the other agree on it.  0 or -errno;
 * has_window says whether a window ended.
 */
int groups_end(struct groups *groups, u64 now_ns, u64 switched_ns);
/*
 * The same at the end of the run.  is_switched false: the switch failed, and the programs were
 * detached at switched_ns.
 */
int groups_end_last(struct groups *groups, u64 switched_ns, bool is_switched);
/* The account of the run, with what no window has given yet. */
void groups_peek(struct groups *groups, struct account *ret_account);
/* Tests: was switched; all that was counted so far is one window. */
int groups_end_replay(struct groups *groups, bool is_last);

/* At the multiples of this a boundary is; 0: there is no window. */
u64 groups_period_ns(const struct phys *phys);
/* HOPPING: and this long after each multiple, where windows begin; 0: not there. */
u64 groups_between_ns(const struct phys *phys);

#endif
