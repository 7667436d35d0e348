/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What the programs of one load count, and what the kernel did not run them for -> accounts.
 * The one place that knows which counter is which loss.
 *
 * Counters lie in the slices of a copy, where they belong to the copy's window.  What starts count
 * in the control lines, and what the kernel counts with its programs, only grows: it happened
 * between two readings, and belongs to each window that reaches into that time.
 */
#ifndef EBQL_DRAIN_METER_H
#define EBQL_DRAIN_METER_H

#include "load/load.h"
#include "type/type.h"

struct meter {
	struct load_state *load;  /* whose; the rest begins with nothing */
	struct account starts;	  /* of the control lines, what was told */
	struct account slices[2]; /* of each copy's, where they are never drained */
	u64 n_missed;		  /* of load->n_missed, what was told */
	/* Came to a part that was there: starts from before then are none of its run. */
	u64 begin_ns;
	/* Of what no copy holds, what was read ahead of the flip, and what the reading behind the
	 * flip before this one found, which may have happened behind that flip. */
	struct account before, between;
	/* Values go on from event to event (running sums, ASOF): what is lost is of all that
	 * follows. */
	bool is_lasting;
	bool has_between; /* the window under way has that already */
	u64 n_left;	  /* by max_cpu, of the copy that was switched off */
	/* Bare scans: rows that found no room, which may have been starts. */
	u64 n_full;
	/*
	 * Where operators count by themselves, u64[n_operators][COUNTER_N] each: of the run so far;
	 * and what was told of each copy, and of the control map.
	 */
	u64 *operators, *told[STATE_COPIES + 1], *now;
};

void meter_open(struct meter *meter, struct load_state *load);
/* Do values of the part's programs go on so?  So does it that a start is missing, where a row says
 * no more of it than NULL. */
bool meter_goes_on(const struct phys *phys);
/* An end without a start did not begin before the run for sure, where starts may be lost. */
void meter_doubt_ends(const struct meter *meter, struct account *to);
/* The run begins with what they count next. */
void meter_forget_operators(struct meter *meter);
/* A copy that is about to be cleared: adds what its operators counted. */
void meter_take_operators(struct meter *meter, u64 copy);
/*
 * What an operator of the part handed on (matched), and what it lost, since the run began; of a
 * LEFT join's look-up, how many of these had no partner (events).
 */
void meter_operator(const struct meter *meter, u32 number, struct account *ret_account);

/* Adds what these counters of slices say. */
void meter_add_counters(const struct meter *meter, const u64 counters[COUNTER_N],
			struct account *to);
/* Adds those of a copy that was drained; is_kept: others will drain it. */
void meter_take_drained(struct meter *meter, const u64 counters[COUNTER_N], bool is_kept,
			struct account *to);
/* Adds what starts have counted since the last call. */
void meter_take_starts(struct meter *meter, struct account *to);
/*
 * `counted`: all that slices of a copy had when it was switched off.  Its events became output or
 * are counted by what became of them; n_rows of them were read where they are streamed.
 */
void meter_check_ends(const struct meter *meter, const struct account *counted);
void meter_check_rows(const struct account *counted, u64 n_rows);
/* Adds what all slices hold now. */
void meter_peek_slices(const struct meter *meter, struct account *to);
/* Where slices are never drained: adds what those of a copy have counted since the last call. */
void meter_take_copy(struct meter *meter, u64 copy, struct account *to);
/*
 * Adds the events that the kernel did not run the programs for: a system call for each.  Where
 * there were any in the run, starts may be among them: what `to` says to have begun before the run
 * is then an end without a start.
 */
void meter_take_missed(struct meter *meter, struct account *to);
/* Windows: both around each flip. */
void meter_before_flip(struct meter *meter);
/*
 * Adds what happened meanwhile and belongs to no copy; *ret_repeated: of it, what may have happened
 * in the window before, too, and was added there.
 */
void meter_behind_flip(struct meter *meter, struct account *to, struct account *ret_repeated);
/* The window goes on: the next flip ends it, too. */
void meter_go_on(struct meter *meter);
/*
 * At the end, behind the last flip: adds the starts from before that instant (CLOCK_MONOTONIC;
 * UINT64_MAX: of any time) which still wait, and what else became of starts since they were counted
 * last.  0 or -errno.
 */
int meter_add_waiting(struct meter *meter, u64 before_ns, struct account *to);

#endif
