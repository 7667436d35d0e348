/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What a latency histogram costs: the contenders of SET_PAIR against the floor, against
 * each other and against their peers, each within the same round.
 */
#include <math.h>
#include <stdlib.h>

#include "bench.h"

struct spread {
	double median, low, high;
};

static bool are_there(int a, int b)
{
	return contender_is_there(&contenders[a]) && contender_is_there(&contenders[b]);
}

/* Of the rounds' differences, or ratios. */
static struct spread compare(const struct report *r, int contender, int by, bool is_ratio)
{
	size_t member = offsetof(struct sample, cost_ns), n = (size_t)config.n_rounds;
	double *values = report_column(r, contender, member);
	double *others = report_column(r, by, member);
	struct spread spread;

	for (size_t i = 0; i < n; i++)
		values[i] = is_ratio ? values[i] / others[i] : values[i] - others[i];
	spread.median = quantile(values, n, 0.5);
	spread.low = quantile(values, n, 0.25);
	spread.high = quantile(values, n, 0.75);
	free(values);
	free(others);
	return spread;
}

static void put_difference(const struct report *r, FILE *out, int contender, int by, double goal)
{
	struct spread s;

	if (!are_there(contender, by))
		return;
	s = compare(r, contender, by, false);
	fprintf(out, "| %s - %s | **%.1f** | %.1f to %.1f |", contenders[contender].id,
		contenders[by].id, s.median, s.low, s.high);
	if (isnan(goal))
		fputs(" |\n", out);
	else
		fprintf(out, " %.0f |\n", goal);
}

static void put_ratio(const struct report *r, FILE *out, int contender, int by, double goal)
{
	struct spread s;

	if (!are_there(contender, by))
		return;
	s = compare(r, contender, by, true);
	fprintf(out, "| %s / %s | **%.2f** | %.2f to %.2f | %.2f |\n", contenders[contender].id,
		contenders[by].id, s.median, s.low, s.high, goal);
}

void report_put_pairs(const struct report *r, FILE *out)
{
	if (!contender_is_there(&contenders[PAIR_EBQL]))
		return;
	fputs("Latencies of pread64, a log2 histogram where nothing else is said:\n\n"
	      "| cost per call, ns | median of the rounds' differences | middle half | goal: at most "
	      "|\n|---|---|---|---|\n",
	      out);
	put_difference(r, out, PAIR_EBQL, PAIR_FLOOR, 20);
	put_difference(r, out, PAIR_EBQL_GROUPED, PAIR_FLOOR, 60);
	put_difference(r, out, PAIR_EBQL_EXPONENTIAL, PAIR_EBQL, 5);
	put_difference(r, out, PAIR_EBQL_LOGLINEAR, PAIR_EBQL, 5);
	put_difference(r, out, PAIR_HAND, PAIR_FLOOR, NAN);
	put_difference(r, out, PAIR_HAND_GROUPED, PAIR_FLOOR, NAN);
	fputs("\n| cost per call | median of the rounds' ratios | middle half | goal: at most |\n"
	      "|---|---|---|---|\n",
	      out);
	put_ratio(r, out, PAIR_EBQL, PAIR_BPFTRACE, 0.45);
	put_ratio(r, out, PAIR_EBQL_GROUPED, PAIR_BPFTRACE_GROUPED, 0.55);
	put_ratio(r, out, PAIR_EBQL, PAIR_HAND, 0.80);
	put_ratio(r, out, PAIR_EBQL_GROUPED, PAIR_HAND_GROUPED, 0.80);
	fputs("\npair-floor is two programs, one at each end of the call, that find it by its number "
	      "and read the time once\neach.\n\n",
	      out);
}
