/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What the programs of one load count, and what the kernel did not run them for -> accounts.
 * The one place that knows which counter is which loss.
 *
 * Counters lie in the slices of a copy, where they belong to the copy's window, and in the
 * control lines, where they only grow: what starts count belongs to no window and is told with
 * the one in which it is seen.
 */
#ifndef EBQL_DRAIN_METER_H
#define EBQL_DRAIN_METER_H

#include "load/load.h"
#include "type/type.h"

struct meter {
	struct load_state *load;  /* whose; the rest begins with nothing */
	struct account starts;	  /* of the control lines, what was told */
	struct account slices[2]; /* of each copy's, where they are never drained */
};

/* Adds what these counters of slices say. */
void meter_add_counters(const struct meter *meter, const u64 counters[COUNTER_N],
			struct account *to);
/* Adds what starts have counted since the last call. */
void meter_take_starts(struct meter *meter, struct account *to);
/* Adds what all slices hold now. */
void meter_peek_slices(const struct meter *meter, struct account *to);
/* Where slices are never drained: adds what those of a copy have counted since the last call. */
void meter_take_copy(struct meter *meter, u64 copy, struct account *to);
/* Adds the events that the kernel did not run the programs for: a system call for each. */
void meter_take_missed(struct meter *meter, struct account *to);
/*
 * At the end: adds the starts from before that instant (CLOCK_MONOTONIC; UINT64_MAX: of any
 * time) which still wait.  0 or -errno.
 */
int meter_add_waiting(const struct meter *meter, u64 before_ns, struct account *to);

#endif
