/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Merged cells of first, last, stddev, approx_count_distinct and top_k: combining them,
 * and the values that they come to.
 */
#ifndef EBQL_DRAIN_SKETCH_H
#define EBQL_DRAIN_SKETCH_H

#include "drain/merge.h"
#include "drain/rows.h"

/* Words of an entry that such a cell takes; 0: it is none. */
u32 sketch_words(const struct cell *cell);
/* A row's cell, which may be unaligned, into an entry's; then an entry's into an entry's. */
void sketch_combine(const struct cell *cell, u64 *to, const u8 *from);
void sketch_combine_entry(const struct cell *cell, u64 *to, const u64 *from);

/*
 * cells: of an entry; n and sum: STDDEV's.  Texts point into the entry, top lists into the
 * scratch.
 */
void sketch_value(const struct rows *rows, const u64 *cells, const struct phys_aggregate *aggregate,
		  u64 n, s128 sum, struct value *ret_value);

#endif
