/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A histogram, and how many values are missing from it -> a quantile with the
 * bounds that surely hold the true one.
 */
#ifndef EBQL_TYPE_QUANTILE_H
#define EBQL_TYPE_QUANTILE_H

#include "type/type.h"

/* Where in its cell the estimate is put. */
enum quantile_edge { EDGE_MID, EDGE_LOWER, EDGE_UPPER, EDGE_LINEAR, EDGE_N };

extern const char *const quantile_edge_names[EDGE_N];

struct quantile_request {
	u32 q_ppb;	      /* 0 .. 1000000000 */
	u64 n_lost;	      /* at most so many values happened that were not counted at all */
	bool is_interpolated; /* percentile_cont: between the ranks around 1 + q (n - 1) */
	enum quantile_edge edge;
};

/*
 * The q-quantile of n values, n_lost included, is the value of rank ceil(q n), at least
 * rank 1.  false: nothing was counted, so it is NULL.
 */
bool quantile_of(const struct histogram *histogram, const struct quantile_request *request,
		 struct quantile *ret_quantile);

#endif
