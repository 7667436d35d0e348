/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Exactness: a load of known calls, folded over all windows, equals the truth per key,
 * on all access paths that are here, for windows of 1 ms to 1 s and 1 to 65,536 keys.
 * EBQL_TEST_LONG makes every cell 6,000,000 calls; --quick (slow guests) few.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "session.h"

#define AGGREGATES "count(*) AS n, sum(count) AS s, min(count) AS lo, max(count) AS hi "
#define FROM_PREAD "FROM tracepoint:syscalls:sys_enter_pread64 WHERE pid = %d "

static const u32 window_ms[] = { 1, 10, 100, 1000 };
static const u32 n_keys[] = { 1, 16, 1024, 65536 };
static const char *const paths[] = { "raw", "tracepoint", "fentry" };

struct cell {
	char name[64];
	struct session *session;
	u32 window_ms, n_keys;
	const char *path;
	u64 n_calls;
};

static bool is_quick;

static u64 scaled(u64 calls)
{
	return session_is_long() ? 6000000 : is_quick ? calls / 20 : calls;
}

/* Each thread rests after so many calls: how long the load lasts is no matter of speed then. */
static void run_paced(struct session *session, const char *query, const char *calls,
		      const char *fds, const char *pause_every, const char *pause_us)
{
	session_load(session, "--calls", calls, "--fds", fds, "--pause-every", pause_every,
		     "--pause-us", pause_us, NULL);
	session_ebql(session, query, NULL);
	session_load_run(session);
	session_end(session, SIGINT, 0);
}

static void run_exact(struct session *session, const char *query, const char *calls,
		      const char *fds)
{
	run_paced(session, query, calls, fds, "0", "0");
}

/* The keys are (fd, cpu) pairs: both threads, on a cpu each, use all fds. */
static void test_cell(void **state)
{
	struct cell *cell = *state;
	struct session *session;
	char query[512], calls[32], fds[32];

	session_require();
	session_setup((void **)&cell->session);
	session = cell->session;
	snprintf(query, sizeof(query),
		 "SET access_path = %s; SELECT fd, cpu, %s"
		 "GROUP BY fd, cpu WINDOW TUMBLING %ums WITH (max_groups = 65536)",
		 cell->path, AGGREGATES FROM_PREAD, cell->window_ms);
	snprintf(calls, sizeof(calls), "%lu", cell->n_calls);
	snprintf(fds, sizeof(fds), "%u", MAX(cell->n_keys / 2, 1u));
	run_exact(session, query, calls, fds);
	session_expect_exact(session);
	if (cell->window_ms < 100)
		assert_true(session->rows.n_windows > 1);
}

static int cell_teardown(void **state)
{
	struct cell *cell = *state;

	return cell->session ? session_teardown((void **)&cell->session) : 0;
}

/* One fd used on both CPUs at once is one group: slices must merge. */
static void test_merge(void **state)
{
	struct session *session = *state;
	char calls[32];

	session_require();
	snprintf(calls, sizeof(calls), "%lu", scaled(1000000));
	run_exact(session,
		  "SELECT fd, " AGGREGATES FROM_PREAD
		  "GROUP BY fd WINDOW TUMBLING 10ms WITH (max_groups = 65536)",
		  calls, "65536");
	fold_drop_keys(&session->truth, false, true);
	session_expect_exact(session);
}

static void test_migrating(void **state)
{
	struct session *session = *state;

	session_require();
	session_load(session, "--calls", is_quick ? "20000" : "400000", "--fds", "16", "--migrate",
		     "50", NULL);
	session_ebql(session,
		     "SELECT fd, cpu, " AGGREGATES FROM_PREAD
		     "GROUP BY fd, cpu WINDOW TUMBLING 1ms",
		     NULL);
	session_load_run(session);
	session_end(session, SIGINT, 0);
	session_expect_exact(session);
}

/* More threads than CPUs, not pinned: programs are preempted between events. */
static void test_threads(void **state)
{
	struct session *session = *state;
	char calls[32];

	session_require();
	snprintf(calls, sizeof(calls), "%lu", scaled(1000000));
	session_load(session, "--calls", calls, "--fds", "64", "--threads", "8", "--no-pin",
		     "--size", "wide", NULL);
	session_ebql(session, "SELECT fd, " AGGREGATES FROM_PREAD "GROUP BY fd WINDOW TUMBLING 1ms",
		     NULL);
	session_load_run(session);
	session_end(session, SIGINT, 0);
	fold_drop_keys(&session->truth, false, true);
	session_expect_exact(session);
}

static void test_ungrouped(void **state)
{
	struct session *session = *state;
	char calls[32];

	session_require();
	snprintf(calls, sizeof(calls), "%lu", scaled(1000000));
	run_exact(session, "SELECT " AGGREGATES FROM_PREAD "WINDOW TUMBLING 1ms", calls, "16");
	fold_drop_keys(&session->truth, true, true);
	session_expect_exact(session);
}

/* Without a window: one batch at the end holds everything. */
static void test_accumulate(void **state)
{
	struct session *session = *state;
	char calls[32];

	session_require();
	snprintf(calls, sizeof(calls), "%lu", scaled(1000000));
	run_exact(session, "SELECT fd, cpu, " AGGREGATES FROM_PREAD "GROUP BY fd, cpu", calls,
		  "1024");
	session_expect_exact(session);
	assert_int_equal(session->rows.n_windows, 1);
}

/*
 * Two aggregated sides of one stream are one program, whose events lie in the same window on
 * both: `s` is n only where the sides are equal in the window.  EBQL_TEST_LONG: 10,000 windows.
 */
static void test_two_sides(void **state)
{
	struct session *session = *state;
	u64 calls = session_is_long() ? 120000000 : is_quick ? 50000 : 1000000;
	char text[32];

	session_require();
	snprintf(text, sizeof(text), "%llu", (unsigned long long)calls);
	run_paced(
		session,
		"SELECT a.fd AS fd, n, "
		"CASE WHEN n = m AND a.low = b.low AND high >= a.low THEN n ELSE 0 END AS s FROM "
		"(SELECT fd, count(*) AS n, min(pos) AS low " FROM_PREAD "GROUP BY fd) AS a "
		"LEFT JOIN (SELECT fd, count(pos) AS m, min(pos) AS low, max(pos) AS high " FROM_PREAD
		"GROUP BY fd) AS b ON a.fd = b.fd WINDOW TUMBLING 1ms",
		text, "2", "2000", "1000");
	fold_drop_keys(&session->truth, false, true);
	assert_string_equal(session->rows.error, "");
	assert_int_equal(session->rows.lost, 0);
	assert_int_equal(session->rows.calls, session->truth.calls);
	assert_int_equal(session->rows.sum, session->truth.calls);
	assert_int_equal(session->rows.matched, 2 * session->truth.calls);
	print_message("equal in %llu windows\n", (unsigned long long)session->rows.n_windows);
	assert_true(session->rows.n_windows >= (session_is_long() ? 10000u : is_quick ? 3u : 100u));
}

/*
 * A side that is counted and one whose rows are streamed: `s` is n only where the window has as
 * many rows as events.  No event is near enough to a boundary to be on one side only.
 */
static void check_groups_and_rows(struct session *session, u64 n_calls, const char *pause_us,
				  u64 n_windows)
{
	char calls[32];

	session_require();
	snprintf(calls, sizeof(calls), "%llu", (unsigned long long)n_calls);
	run_paced(session,
		  "SELECT a.fd AS fd, n, CASE WHEN n = m AND a.low = b.low THEN n ELSE 0 END AS s "
		  "FROM (SELECT fd, count(*) AS n, min(pos) AS low " FROM_PREAD
		  "GROUP BY fd) AS a LEFT JOIN (SELECT fd, count(nullif(round(pos), -1)) AS m, "
		  "min(pos) AS low " FROM_PREAD "GROUP BY fd) AS b ON a.fd = b.fd "
		  "WINDOW TUMBLING 1ms WITH (ring_bytes = 256MiB)",
		  calls, "2", pause_us ? "400" : "0", pause_us ?: "0");
	fold_drop_keys(&session->truth, false, true);
	assert_string_equal(session->rows.error, "");
	assert_int_equal(session->rows.lost, 0);
	assert_int_equal(session->rows.calls, session->truth.calls);
	assert_int_equal(session->rows.sum, session->truth.calls);
	assert_int_equal(session->rows.matched, 2 * session->truth.calls);
	print_message("equal in %llu windows\n", (unsigned long long)session->rows.n_windows);
	assert_true(session->rows.n_windows >= n_windows);
}

/*
 * At full load SQLite is what a window waits for, and how many there are is a matter of its speed;
 * with pauses there are many.
 */
static void test_groups_and_rows(void **state)
{
	check_groups_and_rows(*state, scaled(400000), NULL, 2);
}

static void test_groups_and_rows_paced(void **state)
{
	check_groups_and_rows(*state, scaled(400000), "2000", is_quick ? 10 : 100);
}

/* Rows alone: each window has the events that it has the rows of. */
static void test_rows(void **state)
{
	struct session *session = *state;
	char calls[32];

	session_require();
	snprintf(calls, sizeof(calls), "%lu", scaled(400000));
	session->rows.has_all_events = true;
	run_paced(
		session,
		"SELECT count(nullif(round(pos), -1)) AS n FROM tracepoint:syscalls:sys_enter_pread64 "
		"WINDOW TUMBLING 1ms WITH (ring_bytes = 256MiB)",
		calls, "2", "400", "2000");
	assert_string_equal(session->rows.error, "");
	assert_int_equal(session->rows.lost, 0);
	assert_true(session->rows.calls >= session->truth.calls);
	assert_int_equal(session->rows.events, session->rows.calls);
	assert_true(session->rows.n_windows >= (is_quick ? 10u : 100u));
}

/* The filter is exact too: only what FILTER and WHERE let through. */
static void test_filter(void **state)
{
	struct session *session = *state;
	u64 want = 0;

	session_require();
	run_exact(session,
		  "SELECT fd, cpu, " AGGREGATES FROM_PREAD
		  "AND (fd BETWEEN 110 AND 119 OR fd IN (150, 151)) "
		  "GROUP BY fd, cpu WINDOW TUMBLING 10ms",
		  is_quick ? "20000" : "400000", "100");
	for (u32 i = 0; i < session->truth.capacity; i++) {
		struct fold_cell *cell = &session->truth.cells[i];
		bool passes =
			(cell->fd >= 110 && cell->fd <= 119) || cell->fd == 150 || cell->fd == 151;

		if (cell->calls && passes)
			want += cell->calls;
		for (u32 j = 0; passes && j < session->rows.capacity; j++) {
			struct fold_cell *row = &session->rows.cells[j];

			if (row->calls == 0 || row->fd != cell->fd || row->cpu != cell->cpu)
				continue;
			assert_int_equal(row->calls, cell->calls);
			assert_int_equal(row->sum, cell->sum);
			assert_int_equal(row->min, cell->min);
			assert_int_equal(row->max, cell->max);
		}
	}
	assert_string_equal(session->rows.error, "");
	assert_int_equal(session->rows.calls, want);
	assert_int_equal(session->rows.matched, want);
	assert_true(session->rows.events >= session->truth.calls);
	assert_int_equal(session->rows.lost, 0);
}

/* More groups than fit: those that do stay exact, the rest is one row, totals are exact. */
static void test_too_many_groups(void **state)
{
	struct session *session = *state;
	u32 n_exact = 0;

	session_require();
	session_load(session, "--calls", "200000", "--fds", "1024", NULL);
	session_ebql(session,
		     "SELECT fd, cpu, " AGGREGATES FROM_PREAD
		     "GROUP BY fd, cpu WITH (max_groups = 64)",
		     NULL);
	session_load_run(session);
	session_end(session, SIGINT, 3);
	assert_string_equal(session->rows.error, "");
	assert_int_equal(session->rows.calls, session->truth.calls);
	assert_int_equal(session->rows.sum, session->truth.sum);
	assert_true(session->rows.other_calls > 0);
	assert_true(session->rows.lost_table_full > 0);
	for (u32 i = 0; i < session->rows.capacity; i++) {
		struct fold_cell *row = &session->rows.cells[i];

		for (u32 j = 0; row->calls && j < session->truth.capacity; j++) {
			struct fold_cell *cell = &session->truth.cells[j];

			if (cell->calls == 0 || row->fd != cell->fd || row->cpu != cell->cpu)
				continue;
			assert_int_equal(row->calls, cell->calls);
			assert_int_equal(row->sum, cell->sum);
			n_exact++;
		}
	}
	assert_int_equal(n_exact, session->rows.n_cells);
	assert_true(n_exact >= 64);
}

/* Long windows need a long load to see a boundary; wide keys at 1 ms make much output. */
static u64 calls_of(u32 window_ms_of_cell, u32 n_keys_of_cell)
{
	if (session_is_long())
		return 6000000;
	if (is_quick)
		return 30000;
	if (window_ms_of_cell == 1000 || (window_ms_of_cell == 10 && n_keys_of_cell == 1024))
		return 6000000;
	return 600000;
}

int main(int argc, char **argv)
{
	static struct cell cells[ARRAY_SIZE(window_ms) * ARRAY_SIZE(n_keys) * ARRAY_SIZE(paths)];
	static struct CMUnitTest tests[ARRAY_SIZE(cells) + 16];
	static const struct CMUnitTest others[] = {
		cmocka_unit_test_setup_teardown(test_merge, session_setup, session_teardown),
		cmocka_unit_test_setup_teardown(test_migrating, session_setup, session_teardown),
		cmocka_unit_test_setup_teardown(test_threads, session_setup, session_teardown),
		cmocka_unit_test_setup_teardown(test_ungrouped, session_setup, session_teardown),
		cmocka_unit_test_setup_teardown(test_accumulate, session_setup, session_teardown),
		cmocka_unit_test_setup_teardown(test_two_sides, session_setup, session_teardown),
		cmocka_unit_test_setup_teardown(test_groups_and_rows, session_setup,
						session_teardown),
		cmocka_unit_test_setup_teardown(test_groups_and_rows_paced, session_setup,
						session_teardown),
		cmocka_unit_test_setup_teardown(test_rows, session_setup, session_teardown),
		cmocka_unit_test_setup_teardown(test_filter, session_setup, session_teardown),
		cmocka_unit_test_setup_teardown(test_too_many_groups, session_setup,
						session_teardown),
	};
	u32 n = 0, n_paths = ARRAY_SIZE(paths) - !proc_has_trampolines();

	is_quick = argc > 1 && !strcmp(argv[1], "--quick");
	for (u32 i = 0; i < ARRAY_SIZE(window_ms); i++) {
		for (u32 j = 0; j < ARRAY_SIZE(n_keys); j++) {
			for (u32 k = 0; k < n_paths; k++) {
				struct cell *cell = &cells[n];

				cell->window_ms = window_ms[i];
				cell->n_keys = n_keys[j];
				cell->path = paths[k];
				cell->n_calls = calls_of(window_ms[i], n_keys[j]);
				snprintf(cell->name, sizeof(cell->name),
					 "exact_%ums_%s_%u_keys_%lu_calls", cell->window_ms,
					 cell->path, cell->n_keys, cell->n_calls);
				tests[n] = (struct CMUnitTest){ .name = cell->name,
								.test_func = test_cell,
								.teardown_func = cell_teardown,
								.initial_state = cell };
				n++;
			}
		}
	}
	memcpy(&tests[n], others, sizeof(others));
	n += ARRAY_SIZE(others);
	if (argc > 1 && argv[argc - 1][0] != '-')
		cmocka_set_test_filter(argv[argc - 1]);
	return _cmocka_run_group_tests("exact", tests, n, NULL, NULL);
}
