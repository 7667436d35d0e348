/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A load whose programs aggregate -> the groups of each window, and what happened in it.
 * Whoever owns the load switches it (load_flip()); what was counted up to the switch is
 * taken by groups_end().  One switch is the end of a window and the start of the next.
 *
 * Several may read one load, each with windows and outputs of its own.  What is switched off for
 * one is then taken for all of them at once, by groups_flipped().
 */
#ifndef EBQL_DRAIN_GROUPS_H
#define EBQL_DRAIN_GROUPS_H

#include "drain/copy.h"
#include "drain/meter.h"
#include "drain/panes.h"
#include "drain/rows.h"

struct groups {
	struct load_state *load;
	struct groups *next_reader; /* of the load */
	const struct phys *phys;    /* its own, which is as the load's but for windows */
	bool is_ending;		    /* the next switch ends it */
	bool is_begun; /* something of the window under way was taken; where it failed: */
	int err;
	bool is_taken; /* what was switched off by the latest switch was */
	struct drain drain;
	struct merge merge;
	struct meter meter;
	struct panes *panes; /* HOPPING; NULL: another kind of window */

	u64 start_ns, window_start_ns; /* CLOCK_REALTIME; HOPPING: of the pane */
	struct account account;	 /* of the window or pane, or of the run where there is none */
	struct account repeated; /* of it, what the window or pane before may have and has, too */
	struct account total;	 /* of the run, as far as it was given */
	u64 n_given;		 /* groups, of all windows and snapshots so far */
	u32 most_groups;	 /* in one of them, without "(other)" */
	/* Of the window or snapshot that ended last; valid until the next ends. */
	bool has_window; /* one did, and was not taken */
	struct rows rows;
	struct account window;
	u64 first_use; /* load_stacks_now() when it began; 0: it keeps what it has */
};

/* What ends with a switch. */
struct groups_end {
	u64 switched_ns; /* CLOCK_REALTIME, just behind the switch */
	/*
	 * HOPPING: the pane's nominal end, on a clock that is never set back; on that clock, which
	 * panes no window to come has: those that ended by then; and does a window end too?
	 */
	u64 position, expired;
	bool has_window;
	bool is_last;  /* the run's end: and */
	u64 before_ns; /* of the starts from before then (CLOCK_MONOTONIC) those wait that do */
	bool is_unswitched; /* the switch failed, and the programs were detached instead */
};

/* phys: as the load's, which the first reader has.  0 or -ENOMEM; groups_close() after either. */
int groups_open(struct groups *groups, struct load_state *load, const struct phys *phys,
		struct arena *arena);
void groups_close(struct groups *groups);
/* The run begins at that instant. */
void groups_start(struct groups *groups, u64 now_ns);
/* Is about to be switched: one that fails may be followed by another. */
void groups_before_flip(struct groups *groups);
/* Was switched: what others read as well is taken for them, too. */
void groups_flipped(struct groups *groups);
/*
 * Is to be switched once more before groups_end(): what was switched off is the first part of the
 * window that ends there.  0 or -errno, which groups_end() says, too.
 */
int groups_take(struct groups *groups);
/* The run is over.  groups_end() says so, too. */
void groups_leave(struct groups *groups);
/* Do others read the load?  Does the next switch end all of them? */
bool groups_are_shared(const struct load_state *load);
bool groups_are_ending(const struct load_state *load);
/* The run began with a switch, at that instant: forgets what was counted before. */
int groups_restart(struct groups *groups, u64 monotonic_ns);
/*
 * Was switched, and is not called again before the next switch.  0 or -errno; has_window says
 * whether a window ended.
 */
int groups_end(struct groups *groups, const struct groups_end *end);
/* No group that it has is of a stack that was read before then (load_stacks_now()). */
u64 groups_first_use(const struct groups *groups);
/* The account of the run, with what no window has given yet. */
void groups_peek(struct groups *groups, struct account *ret_account);
/*
 * glance.c: while programs write, about how many groups there are, and what groups_peek() has of
 * `matched` where groups count it themselves: both are added.  false: that cannot be seen.
 */
bool groups_glance(const struct groups *groups, u64 *matched, u64 *n_groups);

#endif
