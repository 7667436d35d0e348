/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Merged groups as rows: cells become SQL values here.  A row's position is its entry's number
 * (merge_seek()).
 */
#ifndef EBQL_DRAIN_ROWS_H
#define EBQL_DRAIN_ROWS_H

#include "load/load.h"
#include "drain/merge.h"
#include "base/scratch.h"
#include "type/type.h"

struct rows {
	const struct phys *phys;
	const struct merge *merge;
	u64 window_start_ns, window_end_ns, matched;
	u64 n_lost_values;	 /* at most so many are missing from each group's histograms */
	struct scratch *scratch; /* for histograms and quantiles, as long as the batch */
};

/*
 * Input column `column` at that position; text points into the merged groups,
 * histograms and quantiles into the scratch.
 */
void rows_value(const struct rows *rows, u32 position, u32 column, struct value *ret_value);

#endif
