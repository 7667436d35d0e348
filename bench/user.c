/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What ebql's own process takes of a core while it closes windows of many groups: its
 * CPU time, user and system, over a few seconds of a paced loop that touches each group
 * in each window.
 */
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "bench.h"

#define WINDOW_NS 100000000ull
#define PASS_NS	  (WINDOW_NS / 2) /* so that a pass begins and ends in each window */
#define WARM_NS	  500000000ull
#define EVENTS	  "tracepoint:syscalls:sys_enter_pread64 WHERE pid = %1$d GROUP BY pos "
#define WANTED	  "HAVING n > 0 ORDER BY s DESC, pos LIMIT 10 "
#define SUMS	  "SELECT pos, count(*) AS n, sum(count) AS s, max(count) AS m FROM " EVENTS WANTED

const struct user_case user_cases[N_USER_CASES] = {
	{ "HAVING, ORDER BY, LIMIT", 10000, 10, SUMS "WINDOW TUMBLING 100ms" },
	{ "the same", 100, 1, SUMS "WINDOW TUMBLING 100ms" },
	{ "the same, HOPPING 1s BY 100ms", 10000, 0, SUMS "WINDOW HOPPING 1s BY 100ms" },
	{ "p99(latency), ORDER BY its lower bound, LIMIT", 1000, 0,
	  "SELECT pos, count(*) AS n, p99(latency) FROM syscall:pread64 WHERE pid = %1$d "
	  "GROUP BY pos HAVING n > 0 ORDER BY quantile_lo(latency, 0.99) DESC LIMIT 10 "
	  "WINDOW TUMBLING 100ms" },
	{ "the same, HOPPING 1s BY 100ms", 1000, 0,
	  "SELECT pos, count(*) AS n, p99(latency) FROM syscall:pread64 WHERE pid = %1$d "
	  "GROUP BY pos HAVING n > 0 ORDER BY quantile_lo(latency, 0.99) DESC LIMIT 10 "
	  "WINDOW HOPPING 1s BY 100ms" },
	{ "JOIN of two aggregated sides, ORDER BY, LIMIT", 10000, 0,
	  "SELECT a.pos, n, s FROM (SELECT pos, count(*) AS n FROM " EVENTS ") AS a JOIN "
	  "(SELECT pos, sum(ret) AS s FROM syscall:pread64 WHERE pid = %1$d GROUP BY pos) AS b "
	  "ON a.pos = b.pos ORDER BY n DESC, a.pos LIMIT 10 WINDOW TUMBLING 100ms" },
	{ "HAVING, ORDER BY, LIMIT, SET pushdown = off", 10000, 0,
	  "SET pushdown = off; " SUMS "WINDOW TUMBLING 100ms" },
};

static char *query_of(const char *text)
{
	char *query = NULL;

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	if (asprintf(&query, text, loop_pid()) < 0)
		fail("out of memory");
#pragma GCC diagnostic pop
	return query;
}

static void start(struct process *p, const char *text)
{
	char *query = query_of(text);

	process_start(p, (const char *[]){ config.ebql, "-v", "-o", "json", query, NULL });
	free(query);
	if (!process_wait_text(p, 1, "attached:", 20000000000ull))
		fail("ebql does not attach: %s", p->texts[1]);
}

static void finish(struct process *p)
{
	process_finish(p, SIGINT);
	if (!WIFEXITED(p->status) || (WEXITSTATUS(p->status) != 0 && WEXITSTATUS(p->status) != 3))
		fail("ebql: wait status %d: %s", p->status, p->texts[1]);
	if (config.is_debug)
		fprintf(stderr, "%s%s", p->texts[0], p->texts[1]);
}

static u64 number_in(const char *line, const char *key)
{
	const char *at = strstr(line, key);

	return at ? strtoull(at + strlen(key), NULL, 10) : 0;
}

/* All batches of a run but those at its ends, which are parts of windows. */
struct batches {
	u64 n, n_full, matched, lost;
	double seconds;
};

/*
 * The loop calls with pos = 0, 1, ... n - 1, 0, ...: n calls one behind the other touch
 * all groups, so a window that matched n of them has them all.
 */
static void read_batches(char *text, int n_groups, struct batches *ret)
{
	char *save = NULL;
	bool is_first = true;

	memset(ret, 0, sizeof(*ret));
	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		u64 matched = number_in(line, "\"matched\":");
		const char *lost = strstr(line, "\"lost\":{");

		if (!strstr(line, "{\"_batch\":"))
			continue;
		if (lost)
			ret->lost += number_in(lost, "\"missed\":") +
				     number_in(lost, "\"table_full\":") +
				     number_in(lost, "\"ring_full\":");
		if (is_first || strstr(line, "\"last\":true")) {
			is_first = false;
			continue;
		}
		ret->n++;
		ret->n_full += matched >= (u64)n_groups;
		ret->matched += matched;
		ret->seconds += (double)(number_in(line, "\"window_end\":") -
					 number_in(line, "\"window_start\":")) /
				1e9;
	}
}

/* What a query that counts the groups says of them; the smallest of the full windows. */
static u64 count_groups(void)
{
	struct process p;
	char *save = NULL;
	u64 groups = 0, least = UINT64_MAX;
	bool is_full = false;

	start(&p, "SELECT count(*) AS groups FROM (SELECT pos FROM " EVENTS ") "
		  "WINDOW TUMBLING 100ms");
	process_wait_text(&p, 0, "\"last\":true", WARM_NS);
	finish(&p);
	for (char *line = strtok_r(p.texts[0], "\n", &save); line;
	     line = strtok_r(NULL, "\n", &save)) {
		if (!strstr(line, "{\"_batch\":")) {
			groups = number_in(line, "{\"groups\":");
			continue;
		}
		if (is_full && !strstr(line, "\"last\":true") && groups < least)
			least = groups;
		is_full = true;
	}
	process_free(&p);
	return least;
}

static void measure(const struct user_case *c, u64 duration_ns, struct user_result *ret)
{
	struct batches batches;
	u64 cpu_ns, begin_ns;
	struct process p;

	loop_paced_begin(c->n_groups, PASS_NS);
	if (!ret->groups)
		ret->groups = count_groups();
	start(&p, c->text);
	process_wait_text(&p, 0, "\"last\":true", WARM_NS);
	begin_ns = monotonic_ns();
	cpu_ns = process_cpu_ns(&p);
	process_wait_text(&p, 0, "\"last\":true", duration_ns); /* only reads */
	ret->cpu_percent =
		(double)(process_cpu_ns(&p) - cpu_ns) / (double)(monotonic_ns() - begin_ns) * 100;
	ret->peak_rss_kib = process_peak_rss_kib(&p);
	loop_busy_end();
	finish(&p);
	read_batches(p.texts[0], c->n_groups, &batches);
	ret->n_windows = batches.n;
	ret->n_full = batches.n_full;
	ret->lost = batches.lost;
	ret->events_per_s = (double)batches.matched / batches.seconds;
	process_free(&p);
}

void user_measure(u64 duration_ns, struct user_result *ret_results)
{
	for (int i = 0; i < N_USER_CASES; i++) {
		/* Once for each number of groups. */
		for (int k = 0; k < i; k++)
			if (user_cases[k].n_groups == user_cases[i].n_groups)
				ret_results[i].groups = ret_results[k].groups;
		measure(&user_cases[i], duration_ns, &ret_results[i]);
		if (config.is_debug)
			fprintf(stderr, "user %d: %.2f %%, %llu groups\n", i,
				ret_results[i].cpu_percent,
				(unsigned long long)ret_results[i].groups);
	}
}
