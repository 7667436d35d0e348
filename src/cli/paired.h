/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Paired differences -> what is known of the shift between the two; figures of several rounds -> as
 * if all had been as fast.
 */
#ifndef EBQL_CLI_PAIRED_H
#define EBQL_CLI_PAIRED_H

#include "base/arena.h"

/*
 * The Hodges-Lehmann estimate, the median of the means of all pairs of differences (Walsh
 * averages), and the interval that Wilcoxon's signed-rank test at 5 % does not refuse, which is two
 * of these averages (Hollander, Wolfe, Chicken: Nonparametric Statistical Methods, 3rd edition,
 * sections 3.2 and 3.3).  What is assumed: differences that are spread evenly about their middle
 * and do not depend on each other.  The coin that orders a pair makes them so only where there is
 * no effect; where there is one, that is an assumption.
 */
struct shift {
	double estimate, lo, hi;
	double confidence; /* of the interval: at least 0.95 */
};

/* Fewer have no interval of 95 %. */
#define SHIFT_PAIRS_MIN 6u
#define SHIFT_PAIRS_MAX 1000u

struct shift shift_of(const double *differences, u32 n, struct arena *arena);
/*
 * The largest c for which the interval from the c-th of the n (n + 1) / 2 averages to the c-th from
 * above covers the shift with 95 % at least, and the exact probability.
 */
u32 shift_rank(u32 n, struct arena *arena, double *ret_confidence);

/*
 * Each round's value as it would be if its base had been the median of all bases: what neighbours
 * of a machine slow down they slow down alike.  A round whose base is not above 0 tells no speed,
 * and keeps its value.
 */
void paired_scale(double *values, const double *bases, u32 n, struct arena *arena);

#endif
