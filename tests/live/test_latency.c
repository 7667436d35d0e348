/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Latencies are right: a workload sleeps known times and measures each call itself, so
 * every latency lies between what it asked for and what it measured.  Each call has its
 * own request in memory, whose address names the call in ebql's rows.
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "watch.h"

enum { N_CLASSES = 5, CALLS_MAX = 200, N_THREADS = 2, N_ALL = N_CLASSES * CALLS_MAX };

static const u32 class_ms[N_CLASSES] = { 1, 2, 5, 10, 20 };

/* Requests lie at an address that both know: `rqtp` is the call's number, then. */
#define REQUESTS_AT ((struct timespec *)0x20000000ull)
/* What is left of a sleep is never written here; the address is the call's class. */
#define REMAINS_AT ((struct timespec *)0x30000000ull)

/* --- The workload --- */

struct sleeper {
	pthread_t thread;
	u32 first, n_each;
	u64 *measured_ns;
};

static void *sleep_known(void *argument)
{
	struct sleeper *s = argument;

	for (u32 i = s->first; i < s->n_each; i += N_THREADS) {
		for (u32 class = 0; class < N_CLASSES; class ++) {
			u32 call = class * CALLS_MAX + i;
			u64 before_ns;

			REQUESTS_AT[call] = (struct timespec){ 0, (long)class_ms[class] * 1000000 };
			before_ns = base_monotonic_ns();
			syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &REQUESTS_AT[call],
				&REMAINS_AT[class]);
			s->measured_ns[call] = base_monotonic_ns() - before_ns;
		}
	}
	return NULL;
}

static void *map_at(void *at, size_t n_bytes)
{
	return mmap(at, n_bytes, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
}

/* "sleep N": N calls of each class; answers with "call measured_ns" lines and "slept". */
static int work(void)
{
	static u64 measured_ns[N_ALL];
	struct sleeper sleepers[N_THREADS];
	char line[64];
	u32 n;

	if (map_at(REQUESTS_AT, N_ALL * sizeof(struct timespec)) != (void *)REQUESTS_AT ||
	    map_at(REMAINS_AT, N_CLASSES * sizeof(struct timespec)) != (void *)REMAINS_AT)
		return 1;
	work_answer("pid %d\n", getpid());
	while (work_line(line, sizeof(line))) {
		if (sscanf(line, "sleep %u", &n) != 1 || n > CALLS_MAX)
			return 1;
		for (u32 i = 0; i < N_THREADS; i++) {
			sleepers[i] = (struct sleeper){ .first = i,
							.n_each = n,
							.measured_ns = measured_ns };
			pthread_create(&sleepers[i].thread, NULL, sleep_known, &sleepers[i]);
		}
		for (u32 i = 0; i < N_THREADS; i++)
			pthread_join(sleepers[i].thread, NULL);
		for (u32 i = 0; i < N_ALL; i++)
			if (i % CALLS_MAX < n)
				printf("%u %lu\n", i, measured_ns[i]);
		work_answer("slept\n");
	}
	return 0;
}

/* --- What ebql says --- */

struct cell {
	s64 lo, hi;
	u64 n;
};

struct quantiles {
	u64 lo, est, hi;
};

struct group {
	u64 n, sum, min, max;
	struct cell cells[256];
	u32 n_cells;
	struct quantiles q[4];
};

static const double q_of[4] = { 0.5, 0.9, 0.99, 0.999 };
static const char *const q_names[4] = { "p50", "p90", "p99", "p999" };

struct latency {
	struct watch watch, raw;
	u32 n_each;
	u64 measured_ns[N_ALL];
	u64 latency_ns[N_ALL]; /* of the streamed rows; 0: none yet */
	u32 n_rows, n_bad_rows;
	struct group groups[N_ALL]; /* by the column key */
};

static void take_cell(void *context, s64 lo, s64 hi, u64 n)
{
	struct group *g = context;

	if (g->n_cells < ARRAY_SIZE(g->cells))
		g->cells[g->n_cells++] = (struct cell){ lo, hi, n };
}

static void take_group(void *context, const struct line *line)
{
	struct latency *l = context;
	const struct leaf *key = line_leaf(line, "key");
	struct group *g;
	char name[32];

	if (!key || key->integer < 0 || key->integer >= N_ALL ||
	    l->groups[(u32)key->integer].n > 0) {
		l->n_bad_rows++;
		return;
	}
	g = &l->groups[(u32)key->integer];
	g->n = line_number(line, "n");
	g->sum = line_number(line, "s");
	g->min = line_number(line, "least");
	g->max = line_number(line, "most");
	if (line_cells(line, "h", take_cell, g) != g->n)
		l->n_bad_rows++;
	for (u32 i = 0; i < ARRAY_SIZE(q_names); i++) {
		g->q[i].est = line_number(line, q_names[i]);
		snprintf(name, sizeof(name), "%s_lo", q_names[i]);
		g->q[i].lo = line_number(line, name);
		snprintf(name, sizeof(name), "%s_hi", q_names[i]);
		g->q[i].hi = line_number(line, name);
	}
	l->n_rows++;
}

static void take_raw(void *context, const struct line *line)
{
	struct latency *l = context;
	const struct leaf *key = line_leaf(line, "key");

	if (!key || key->integer < 0 || key->integer >= N_ALL || l->latency_ns[(u32)key->integer])
		l->n_bad_rows++;
	else
		l->latency_ns[(u32)key->integer] = line_number(line, "latency");
}

static int latency_setup(void **state)
{
	*state = calloc(1, sizeof(struct latency));
	return *state ? 0 : -1;
}

static int latency_teardown(void **state)
{
	struct latency *l = *state;

	watch_close(&l->raw);
	watch_close(&l->watch);
	free(l);
	return 0;
}

/* Streams every latency by its own ebql, aggregates with another, and sleeps. */
static void run_latency(struct latency *l, const char *path, const char *select, const char *group)
{
	char order[32];

	l->n_each = getenv("EBQL_TEST_LONG") ? CALLS_MAX : 40;
	watch_require();
	watch_open(&l->watch, take_group, l);
	watch_open(&l->raw, take_raw, l);
	watch_work(&l->watch, "sleep");
	watch_ebql(
		&l->raw,
		"SET access_path = %s; SELECT (CAST(rqtp AS INTEGER) - %llu) / 16 AS key, latency "
		"FROM syscall:clock_nanosleep WHERE pid = %d",
		path, (unsigned long long)(uintptr_t)REQUESTS_AT, l->watch.pid);
	watch_ebql(&l->watch,
		   "SET access_path = %s; SELECT %s FROM syscall:clock_nanosleep WHERE pid = %d "
		   "GROUP BY %s",
		   path, select, l->watch.pid, group);
	snprintf(order, sizeof(order), "sleep %u", l->n_each);
	watch_tell(&l->watch, order, "slept\n");
	watch_end(&l->watch, 0);
	watch_end(&l->raw, 0);
	for (const char *at = l->watch.work.out_text.at; at && *at != 's'; at = strchr(at, '\n')) {
		u32 call;
		u64 ns;

		at += *at == '\n';
		if (sscanf(at, "%u %lu", &call, &ns) != 2)
			break;
		assert_in_range(call, 0, N_ALL - 1);
		l->measured_ns[call] = ns;
	}
	assert_int_equal(l->n_bad_rows, 0);
	assert_int_equal(l->watch.reader.totals.matched, l->n_each * N_CLASSES);
	assert_int_equal(l->watch.reader.totals.unpaired + l->watch.reader.totals.lost, 0);
}

static u64 asked_ns(u32 call)
{
	return class_ms[call / CALLS_MAX] * 1000000ull;
}

static void expect_within(u64 latency_ns, u32 call, u64 measured_ns)
{
	if (latency_ns < asked_ns(call) || latency_ns > measured_ns)
		fail_msg("call %u: latency %lu, asked for %lu, measured %lu", call, latency_ns,
			 asked_ns(call), measured_ns);
}

/* loglinear(7): an edge is a multiple of 1/128 of its power of two. */
static u64 cell_lower_edge(u64 value)
{
	u32 shift = 63 - (u32)__builtin_clzll(value | 1);

	return shift <= 7 ? value : value >> (shift - 7) << (shift - 7);
}

#define REQUEST_KEY "(CAST(rqtp AS INTEGER) - 536870912) / 16 AS key"
#define CLASS_KEY   "(CAST(rmtp AS INTEGER) - 805306368) / 16 AS key"

/* One group a call: its minimum is its latency, its only cell must be the one of that. */
static void test_each_call(void **state, const char *path)
{
	struct latency *l = *state;

	run_latency(l, path,
		    REQUEST_KEY ", count(*) AS n, sum(latency) AS s, min(latency) AS least, "
				"max(latency) AS most, histogram(latency, loglinear(7)) AS h",
		    "key");
	assert_int_equal(l->n_rows, l->n_each * N_CLASSES);
	for (u32 call = 0; call < N_ALL; call++) {
		const struct group *g = &l->groups[call];

		if (call % CALLS_MAX >= l->n_each)
			continue;
		expect_within(l->latency_ns[call], call, l->measured_ns[call]);
		assert_int_equal(g->n, 1);
		expect_within(g->min, call, l->measured_ns[call]);
		assert_int_equal(g->max, g->min);
		assert_int_equal(g->sum, g->min);
		assert_int_equal(g->n_cells, 1);
		assert_int_equal(g->cells[0].n, 1);
		assert_int_equal(g->cells[0].lo, cell_lower_edge(g->min));
		assert_true((u64)g->cells[0].hi > g->min);
		assert_int_equal(cell_lower_edge((u64)g->cells[0].hi - 1), g->cells[0].lo);
	}
}

static void test_each_call_raw(void **state)
{
	test_each_call(state, "raw");
}

static void test_each_call_tracepoint(void **state)
{
	test_each_call(state, "tracepoint");
}

static int compare_u64(const void *a, const void *b)
{
	u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return (x > y) - (x < y);
}

/*
 * Every latency lies between asked and measured, so of n calls at least those measured
 * below an edge are in cells below it, and at most those asked for below it.
 */
static void expect_cells(const struct group *g, const u64 *measured_ns, u32 n, u64 asked)
{
	u64 below = 0;

	for (u32 i = 0; i < g->n_cells; i++) {
		const struct cell *cell = &g->cells[i];
		u32 n_measured = 0;

		assert_true((u64)cell->hi > asked);
		below += cell->n;
		while (n_measured < n && measured_ns[n_measured] < (u64)cell->hi)
			n_measured++;
		assert_true(below >= n_measured);
	}
	assert_int_equal(below, n);
	assert_true((u64)g->cells[g->n_cells - 1].lo <= measured_ns[n - 1]);
}

/* True order statistics lie between those of what was asked for and of what was measured. */
static void test_classes(void **state)
{
	struct latency *l = *state;

	run_latency(
		l, "raw",
		CLASS_KEY
		", count(*) AS n, sum(latency) AS s, min(latency) AS least, max(latency) AS "
		"most, histogram(latency, loglinear(7)) AS h, p50(latency) AS p50, p90(latency) "
		"AS p90, p99(latency) AS p99, p999(latency) AS p999",
		"key");
	assert_int_equal(l->n_rows, N_CLASSES);
	for (u32 class = 0; class < N_CLASSES; class ++) {
		const struct group *g = &l->groups[class];
		u64 *measured_ns = &l->measured_ns[class * CALLS_MAX];
		u64 asked = class_ms[class] * 1000000ull, sum = 0;

		qsort(measured_ns, l->n_each, sizeof(*measured_ns), compare_u64);
		for (u32 i = 0; i < l->n_each; i++)
			sum += measured_ns[i];
		assert_int_equal(g->n, l->n_each);
		assert_in_range(g->sum, asked * l->n_each, sum);
		assert_in_range(g->min, asked, measured_ns[0]);
		assert_in_range(g->max, asked, measured_ns[l->n_each - 1]);
		expect_cells(g, measured_ns, l->n_each, asked);
		for (u32 i = 0; i < ARRAY_SIZE(q_of); i++) {
			u32 rank = (u32)(q_of[i] * l->n_each);

			rank += rank < q_of[i] * l->n_each;
			rank = MAX(rank, 1u);
			/* lo <= the true one <= measured; asked <= the true one <= hi */
			assert_true(g->q[i].lo <= measured_ns[rank - 1]);
			assert_true(g->q[i].hi >= asked);
			assert_true(g->q[i].lo >= g->min && g->q[i].hi <= g->max + 1);
			assert_in_range(g->q[i].est, g->q[i].lo, g->q[i].hi);
			/* exponential(3): a cell is at most 9.1 % wide */
			assert_true(g->q[i].hi <= g->q[i].lo + g->q[i].lo / 10);
		}
	}
}

int main(int argc, char **argv)
{
#define LATENCY(test) cmocka_unit_test_setup_teardown(test, latency_setup, latency_teardown)
	const struct CMUnitTest tests[] = {
		LATENCY(test_each_call_raw),
		LATENCY(test_each_call_tracepoint),
		LATENCY(test_classes),
	};

	if (argc == 3 && !strcmp(argv[1], "--work"))
		return work();
	return cmocka_run_group_tests_name("latency", tests, NULL, NULL);
}
