/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Merged groups as rows: cells become SQL values here.  A position is 1, 2, ...; then 0, the
 * "(other)" row, when there is one; then ROWS_END.
 */
#ifndef EBQL_DRAIN_ROWS_H
#define EBQL_DRAIN_ROWS_H

#include "phys/phys.h"
#include "drain/merge.h"
#include "base/scratch.h"
#include "type/type.h"

#define ROWS_FIRST 1u
#define ROWS_OTHER MERGE_OTHER
#define ROWS_END   MERGE_END

struct rows {
	const struct phys *phys;
	const struct merge *merge;
	u64 window_start_ns, window_end_ns, matched;
	u64 n_lost_values;	 /* at most so many are missing from each group's histograms */
	struct scratch *scratch; /* for histograms and quantiles, as long as the batch */
};

/* The first position from `position` on that holds a row. */
u32 rows_seek(const struct rows *rows, u32 position);
u32 rows_next(const struct rows *rows, u32 position);
/* How many rows there are, "(other)" included. */
u32 rows_count(const struct rows *rows);
/*
 * Input column `column` at that position; text points into the merged groups,
 * histograms and quantiles into the scratch.
 */
void rows_value(const struct rows *rows, u32 position, u32 column, struct value *ret_value);

#endif
