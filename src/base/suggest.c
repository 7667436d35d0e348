/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Did-you-mean: the candidate at the least Damerau-Levenshtein distance (optimal
 * string alignment: insert, delete, replace, swap neighbours), without case.
 * Near is at most a third of the word's length; a word that begins the other
 * ("quant" of "quantile") is near too, but behind every real neighbour.
 */
#include <ctype.h>
#include <string.h>

#include "base/diag.h"

/* Names longer than this are never suggested; kernel names are far shorter. */
#define SUGGEST_MAX_BYTES 128
/* A shorter word begins too many others. */
#define SUGGEST_PREFIX_BYTES 3

void suggest_init(struct suggest *suggest, const char *wanted)
{
	*suggest = (struct suggest){ .wanted = wanted, .best_distance = UINT32_MAX };
}

static char lower(char c)
{
	return (char)tolower((unsigned char)c);
}

static u32 distance(const char *a, size_t n_a, const char *b, size_t n_b)
{
	u32 rows[3][SUGGEST_MAX_BYTES + 1];
	u32 *before = rows[0], *above = rows[1], *row = rows[2], *spare;
	size_t i, j;

	for (j = 0; j <= n_b; j++)
		above[j] = (u32)j;
	for (i = 1; i <= n_a; i++) {
		row[0] = (u32)i;
		for (j = 1; j <= n_b; j++) {
			bool same = lower(a[i - 1]) == lower(b[j - 1]);

			row[j] = MIN(MIN(above[j], row[j - 1]) + 1, above[j - 1] + !same);
			if (i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) &&
			    lower(a[i - 2]) == lower(b[j - 1]))
				row[j] = MIN(row[j], before[j - 2] + 1);
		}
		spare = before;
		before = above;
		above = row;
		row = spare;
	}
	return above[n_b];
}

void suggest_offer(struct suggest *suggest, const char *candidate)
{
	size_t n_wanted = strlen(suggest->wanted), n = strlen(candidate);
	size_t shorter = MIN(n_wanted, n), longer = MAX(n_wanted, n);
	u32 limit = (u32)MAX(n_wanted / 3, (size_t)1), d;
	bool is_prefix;

	if (!shorter || longer > SUGGEST_MAX_BYTES)
		return;
	/* The other way round ("latency_ns" of "latency") only where most of it agrees. */
	is_prefix = !strncasecmp(suggest->wanted, candidate, shorter) &&
		    shorter >= SUGGEST_PREFIX_BYTES && (n > n_wanted || 2 * shorter >= longer);
	if (longer - shorter > limit && !is_prefix)
		return;
	d = distance(suggest->wanted, n_wanted, candidate, n);
	/* Nothing in common is no neighbour, whatever the length says. */
	if (d >= longer || (d > limit && !is_prefix))
		return;
	if (d > limit)
		d += limit;
	if (d < suggest->best_distance) {
		suggest->best = candidate;
		suggest->best_distance = d;
	}
}

const char *suggest_best(const struct suggest *suggest)
{
	return suggest->best;
}
