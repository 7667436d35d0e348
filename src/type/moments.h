/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Moments: the exact sums that a standard deviation is made of.  They merge by
 * addition, so CPUs, panes and windows do; the result is rounded once, at its end.
 */
#ifndef EBQL_TYPE_MOMENTS_H
#define EBQL_TYPE_MOMENTS_H

#include "base/base.h"

struct moments {
	u64 n;
	s128 sum;
	u64 squares[3]; /* the sum of the squares, 192 bits, the lowest word first */
};

/* x in [-2^63, 2^64).  direction: 1, or -1 to take it back. */
void moments_add(struct moments *moments, s128 x, s32 direction);
/*
 * sqrt((n S2 - S1^2) / (n (n - 1))), of a population / (n n): with S1 the sum and S2 that of
 * the squares, the double that is nearest to the exact value.  NaN: NULL in SQL, where
 * n < 2, of a population n < 1.
 */
double moments_stddev(const struct moments *moments, bool is_population);

#endif
