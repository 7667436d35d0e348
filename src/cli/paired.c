/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Wilcoxon's signed ranks: their exact distribution, and the interval that belongs to it; and
 * values in relation to what else their rounds had.
 */
#include <stdlib.h>
#include <string.h>

#include "cli/paired.h"

#define CONFIDENCE 0.95

/*
 * The sum of the ranks with a plus, where each of 1 ... n has one with probability 1/2: P(sum = t)
 * is counted rank by rank.
 */
u32 shift_rank(u32 n, struct arena *arena, double *ret_confidence)
{
	u32 most = n * (n + 1) / 2, c = 0;
	double *p = arena_array(arena, double, most + 1), below = 0;

	p[0] = 1;
	for (u32 rank = 1; rank <= n; rank++)
		for (u32 t = rank * (rank + 1) / 2 + 1; t-- > 0;)
			p[t] = (p[t] + (t >= rank ? p[t - rank] : 0)) / 2;
	/* The c-th average is above the shift where the sum is below c. */
	while (c < most && 1 - 2 * (below + p[c]) >= CONFIDENCE)
		below += p[c++];
	*ret_confidence = 1 - 2 * below;
	return c;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

struct shift shift_of(const double *differences, u32 n, struct arena *arena)
{
	u32 n_averages = n * (n + 1) / 2, at = 0, c;
	double *averages = arena_array(arena, double, n_averages);
	struct shift shift;

	for (u32 i = 0; i < n; i++)
		for (u32 k = i; k < n; k++)
			averages[at++] = (differences[i] + differences[k]) / 2;
	qsort(averages, n_averages, sizeof(*averages), compare);
	c = MAX(shift_rank(n, arena, &shift.confidence), 1u);
	shift.estimate = (averages[(n_averages - 1) / 2] + averages[n_averages / 2]) / 2;
	shift.lo = averages[c - 1];
	shift.hi = averages[n_averages - c];
	return shift;
}

void paired_scale(double *values, const double *bases, u32 n, struct arena *arena)
{
	double *sorted = arena_array(arena, double, n), median;

	memcpy(sorted, bases, n * sizeof(*sorted));
	qsort(sorted, n, sizeof(*sorted), compare);
	median = (sorted[(n - 1) / 2] + sorted[n / 2]) / 2;
	for (u32 i = 0; i < n; i++)
		if (bases[i] > 0 && median > 0)
			values[i] *= median / bases[i];
}
