/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * One copy of the kernel part's state -> merged groups and counters, and the copy
 * is as new, all zero, unless others are to read it, too.  Plain loads and stores on memory that no
 * program uses.
 */
#ifndef EBQL_DRAIN_COPY_H
#define EBQL_DRAIN_COPY_H

#include "base/arena.h"
#include "drain/merge.h"
#include "load/load.h"

struct drain {
	const struct state_layout *layout;
	s32 matched_bytes; /* of the cell that counts all events of a group; -1: none */
	u64 n_matched;	   /* its sum over the rows of one drain_copy() */
	s32 exists_bytes;  /* DIRECT: of the cell that tells used rows; -1: all rows are used */
	/* That were in use, of all copies so far; TABLE: in a slice, KERNEL_MAP: in the map. */
	u64 most_rows, n_map_rows;
	u32 *active;   /* slices in which something was counted */
	bool *is_full; /* per slice */
	u8 *state;     /* of the drain_copy() under way, and */
	u32 copy;      /* which copy, and */
	bool is_kept;  /* not KERNEL_MAP: it stays as it is */
	/* Of stacks programs have numbers: here they become what those stand for. */
	const struct load_hooks *hooks;
	u32 *stack_words, n_stack_words; /* which of the key words they are */
	u64 *keys;			 /* room for one row's, where there are any */
	u8 *map_keys, *map_values;	 /* KERNEL_MAP: room for one batch */
	u32 map_key_bytes, map_value_bytes;
};

void drain_open(struct drain *drain, const struct load_hooks *hooks, const struct phys *phys,
		struct arena *arena);
/*
 * state: all copies, as phys/phys.h lays them out.  map_fd: of that copy, for
 * STATE_KERNEL_MAP, else -1.  Adds to counters.  drain->is_kept says whether it is cleared.  0, or
 * -errno of the map.
 */
int drain_copy(struct drain *drain, u8 *state, u32 copy, int map_fd, struct merge *merge,
	       u64 counters[COUNTER_N]);
/* Adds up the counters of all slices of a copy; changes nothing. */
void drain_peek_counters(const struct state_layout *layout, const u8 *state, u64 copy,
			 u64 counters[COUNTER_N]);
/* The same of operators: u64[n_operators][COUNTER_N]. */
void drain_peek_operators(const struct state_layout *layout, const u8 *state, u64 copy,
			  u64 *counters);

#endif
