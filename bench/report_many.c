/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Tables: what fourteen histograms cost an event, beside one, and what they take of a core.
 */
#include <math.h>
#include <stdlib.h>

#include "bench.h"

struct spread {
	double median, low, high;
};

/* Of the rounds' costs, or (by >= 0) of their ratios to another's. */
static struct spread spread_of(const struct report *r, int set, int way, int by)
{
	size_t n = (size_t)many_n_rounds();
	double *values = calloc(n, sizeof(*values));
	struct spread spread;

	if (!values)
		fail("out of memory");
	for (size_t i = 0; i < n; i++) {
		values[i] = many_sample(r->many, (int)i, set, way)->cost_ns;
		if (by >= 0)
			values[i] /= many_sample(r->many, (int)i, set, by)->cost_ns;
	}
	spread.median = quantile(values, n, 0.5);
	spread.low = quantile(values, n, 0.25);
	spread.high = quantile(values, n, 0.75);
	free(values);
	return spread;
}

static void put_counts(const struct report *r, int set, int way, FILE *out)
{
	int n_low = 0, n_high = 0;

	for (int i = 0; i < many_n_rounds(); i++) {
		double difference = many_sample(r->many, i, set, way)->difference;

		n_low += difference < 0;
		n_high += difference > 0;
	}
	if (!n_low && !n_high)
		fputs(" exact in all rounds |\n", out);
	else
		fprintf(out, " too low in %d, too high in %d of %d rounds |\n", n_low, n_high,
			many_n_rounds());
}

static void put_set(const struct report *r, int set, FILE *out)
{
	fprintf(out,
		"| %s | ns an event (median) | middle half | to one query of its kind | middle half | "
		"counts |\n|---|---|---|---|---|---|\n",
		many_set_names[set]);
	for (int way = 0; way < N_MANY_WAYS; way++) {
		bool is_ebql = many_ways[way].kind == KIND_EBQL;
		struct spread cost, ratio;

		if (!many_is_there((enum many_at)way))
			continue;
		cost = spread_of(r, set, way, -1);
		ratio = spread_of(r, set, way, is_ebql ? MANY_EBQL_1 : MANY_BPFTRACE_1);
		fprintf(out, "| %s | %.0f | %.0f to %.0f | %.2f | %.2f to %.2f |",
			many_ways[way].name, cost.median, cost.low, cost.high, ratio.median,
			ratio.low, ratio.high);
		put_counts(r, set, way, out);
	}
	fputs("\n", out);
}

static void put_stress(const struct report *r, FILE *out)
{
	static const char *const names[] = { "one `ebql watch`", "14 processes of `ebql`" };

	fputs("| examples/histograms, windows of 1 s, under stress | user space, % of one core | goal: "
	      "at most | events counted a second | missed | peak RSS, MiB |\n|---|---|---|---|---|---|\n",
	      out);
	for (int i = 0; i < 2; i++) {
		const struct many_stress *s = &r->stresses[i];

		fprintf(out, "| %s | **%.2f** | %s | %.0f | %llu | %.1f |\n", names[i],
			s->cpu_percent, i ? "" : "0.5", s->counted_per_s,
			(unsigned long long)s->missed, (double)s->peak_rss_kib / 1024);
	}
}

void report_put_many(const struct report *r, FILE *out)
{
	fprintf(out, "Fourteen histograms at once, %d rounds:\n\n", many_n_rounds());
	for (int set = 0; set < N_MANY_SETS; set++)
		put_set(r, set, out);
	fputs("The goal for 14 queries of a hook is at most 1.30 of one. A set's histograms differ by key "
	      "and by value or\ncondition; all ask for the loop's pid. In a script of bpftrace each "
	      "has probes of its own. `counts`: of all\n14 together, against calls made.\n\n",
	      out);
	put_stress(r, out);
	fputs("\nTwo processes, one on each CPU, open, read, write, map, fault, close, poll, wake, sleep, "
	      "connect and write\nblocks all the time. CPU time is that of ebql's processes, user and "
	      "system.\n\n",
	      out);
}
