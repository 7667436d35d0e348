/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Two tables: what the user part takes of a core, and what the aggregates with a state
 * of their own cost per event, against count(*) and an empty program of the same round.
 */
#include <math.h>
#include <stdlib.h>

#include "bench.h"

static void put_user_cases(const struct report *r, FILE *out)
{
	fputs("| each 100 ms | groups | events/s | own CPU, % of one core | goal: at most | peak RSS, "
	      "MiB | windows with all groups | lost |\n|---|---|---|---|---|---|---|---|\n",
	      out);
	for (int i = 0; i < N_USER_CASES; i++) {
		const struct user_case *c = &user_cases[i];
		const struct user_result *u = &r->user[i];

		fprintf(out, "| %s | %llu | %.0f | **%.2f** |", c->name,
			(unsigned long long)u->groups, u->events_per_s, u->cpu_percent);
		if (c->goal_percent)
			fprintf(out, " %d |", c->goal_percent);
		else
			fputs(" |", out);
		fprintf(out, " %.1f | %llu of %llu | %llu |\n", (double)u->peak_rss_kib / 1024,
			(unsigned long long)u->n_full, (unsigned long long)u->n_windows,
			(unsigned long long)u->lost);
	}
	fputs("\nThe loop calls pread64 with pos = 0, 1, ... and all queries GROUP BY pos, twice through "
	      "all groups in each\n100 ms. CPU time is that of ebql's process, user and system, over "
	      "2 s. `groups`: what a query that counts\nthe groups said, in the window with the "
	      "fewest. HAVING keeps all groups, so all of them are sorted.\nHOPPING windows merge "
	      "ten panes. JOIN counts the events of both sides. With\npushdown off every event comes "
	      "through the ring buffer, and SQLite groups them.\n\n",
	      out);
}

struct spread {
	double median, low, high;
};

static struct spread spread_of(const struct report *r, int contender, int by, bool is_ratio)
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

static void put_state_costs(const struct report *r, FILE *out)
{
	fputs("| aggregate, beside count(*) | ns per event more than count(*) alone | middle half | "
	      "with count(*), / empty program |\n|---|---|---|---|\n",
	      out);
	for (int i = STATE_COUNT + 1; i <= STATE_TOP; i++) {
		struct spread more = spread_of(r, i, STATE_COUNT, false);

		fprintf(out, "| %s | **%.1f** | %.1f to %.1f | %.2f |\n", contenders[i].name,
			more.median, more.low, more.high, spread_of(r, i, EMPTY_RAW, true).median);
	}
	fprintf(out,
		"\ncount(*) alone costs %.2f of the empty program. All read pread64 at the raw tracepoint, "
		"filtered by pid; pos has\n256 values, one after the other: for top_k(pos, 10), which keeps "
		"128 counters, hardly any event finds its own.\nfirst() and last() read the time.\n\n",
		spread_of(r, STATE_COUNT, EMPTY_RAW, true).median);
}

void report_put_user(const struct report *r, FILE *out)
{
	if (!contender_is_there(&contenders[STATE_COUNT]))
		return;
	put_user_cases(r, out);
	put_state_costs(r, out);
}
