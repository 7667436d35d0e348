/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The life of an ebql process on this kernel: how it starts, streams, ends, refuses,
 * and that nothing of it stays behind.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <cmocka.h>

#include "left.h"
#include "session.h"

#define PREAD	     "tracepoint:syscalls:sys_enter_pread64"
#define COUNT_PREADS "SELECT count(*) AS n, sum(count) AS s FROM " PREAD " WHERE pid = %d "

/* Ends by signal: the last window is printed, all is counted, nothing is left. */
static void end_by(struct session *session, int signal, const char *path)
{
	struct left left;
	char query[256];

	session_require();
	snprintf(query, sizeof(query),
		 "SET access_path = %s; SELECT count(*) AS n, sum(count) AS s FROM " PREAD
		 " WHERE pid = %s WINDOW TUMBLING 1m",
		 path, "%d");
	session_load(session, "--calls", "20000", NULL);
	session_ebql(session, query, NULL);
	left_take(&left, session->ebql.pid);
	assert_true(left.n_programs > 0 && left.n_maps > 0);
	session_load_run(session);
	session_end(session, signal, signal == SIGKILL ? 128 + SIGKILL : 0);
	if (signal != SIGKILL) {
		assert_string_equal(session->rows.error, "");
		assert_int_equal(session->rows.calls, session->truth.calls);
		assert_int_equal(session->rows.sum, session->truth.sum);
		assert_true(session->rows.was_last);
	}
	assert_int_equal(left_wait_gone(&left, 20000), 0);
}

static void test_interrupt(void **state)
{
	end_by(*state, SIGINT, "auto");
}

static void test_terminate(void **state)
{
	end_by(*state, SIGTERM, "auto");
}

static void test_kill_raw(void **state)
{
	end_by(*state, SIGKILL, "raw");
}

static void test_kill_tracepoint(void **state)
{
	end_by(*state, SIGKILL, "tracepoint");
}

/* The reader goes away: a clean end by itself. */
static void test_closed_pipe(void **state)
{
	struct session *session = *state;
	struct left left;

	session_require();
	session_load(session, "--calls", "1", NULL);
	session_ebql(session, COUNT_PREADS "WINDOW TUMBLING 20ms", NULL);
	left_take(&left, session->ebql.pid);
	while (session->rows.n_windows < 2 && session->ebql.out >= 0)
		proc_pump(100);
	proc_close_out(&session->ebql);
	session_end(session, 0, 0);
	assert_int_equal(left_wait_gone(&left, 20000), 0);
}

static void test_nobody(void **state)
{
	struct session *session = *state;
	const char *text;

	session_require();
	session_ebql_plain(session, PROC_NOBODY,
			   "SELECT count(*) FROM " PREAD " WINDOW TUMBLING 1s", NULL);
	session_end(session, 0, 1);
	text = session->ebql.err_text.n ? session->ebql.err_text.at : "";
	if (!strstr(text, "CAP_") && !strstr(text, "root"))
		fail_msg("the message names no capability: %s", text);
	/* One message: a head line and at most a few of help. */
	assert_true(session->ebql.err_text.n < 1000);
	assert_int_equal(session->rows.n_lines, 0);
}

static void test_exit_statuses(void **state)
{
	static const char *const wrong[] = {
		"SELEC 1",
		"SELECT fdd FROM " PREAD,
		"SELECT fd FROM tracepoint:syscalls:sys_enter_pread65",
		"SELECT nosuch(fd) FROM " PREAD,
		"SELECT fd FROM " PREAD " WHERE count(*) > 1",
		"SELECT fd, count(*) FROM " PREAD,
		"SELECT count(*) FROM " PREAD " WINDOW TUMBLING 0s",
		"SELECT fd FROM " PREAD " WHERE comm = 5",
		"SELECT 'abc FROM " PREAD,
		"SELECT (fd FROM " PREAD,
		"",
	};
	struct session *session = *state;

	session_require();
	for (u32 i = 0; i < ARRAY_SIZE(wrong); i++) {
		session_ebql_plain(session, 0, wrong[i], NULL);
		session_end(session, 0, 2);
		if (session->ebql.err_text.n == 0)
			fail_msg("no message for: %s", wrong[i]);
		proc_end_all();
	}
	session_ebql_plain(session, 0, "--no-such-option", NULL);
	session_end(session, 0, 2);
}

/* More than what takes half a second needs, on whatever machine. */
#define LATE_NS 3000000000ull

/* Nobody reads: windows close by the clock all the same, each with its row of zero. */
static void test_idle(void **state)
{
	struct session *session = *state;
	u64 ns;

	session_require();
	session_load(session, "--calls", "1", NULL);
	session_ebql(session, "-n", "5", COUNT_PREADS "WINDOW TUMBLING 100ms", NULL);
	session_end(session, 0, 0);
	ns = session->rows.last_end_ns - session->rows.first_start_ns;
	assert_string_equal(session->rows.error, "");
	/* The first may be cut short by the alignment, and does not count then. */
	assert_true(session->rows.n_partial <= 1);
	assert_int_equal(session->rows.n_windows, 5 + session->rows.n_partial);
	assert_int_equal(session->rows.n_rows, session->rows.n_windows);
	assert_int_equal(session->rows.calls, 0);
	/* A busy machine closes them late. */
	assert_true(ns >= 490000000 && ns <= LATE_NS);
	assert_true(session->ebql.end_ns - session->ebql.start_ns < 5 * LATE_NS);
}

static void test_idle_grouped(void **state)
{
	struct session *session = *state;

	session_require();
	session_load(session, "--calls", "1", NULL);
	session_ebql(session, "--partial", "-n", "3",
		     "SELECT fd, count(*) AS n FROM " PREAD
		     " WHERE pid = %d GROUP BY fd WINDOW TUMBLING 50ms",
		     NULL);
	session_end(session, 0, 0);
	assert_string_equal(session->rows.error, "");
	assert_int_equal(session->rows.n_windows, 3);
	assert_int_equal(session->rows.n_rows, 0);
}

/* As the script has it: windows that the run begins in are given, marked, and not counted. */
static void test_whole(void **state)
{
	struct session *session = *state;

	session_require();
	session_load(session, "--calls", "1", NULL);
	session->rows.advance_ns = 50000000;
	session_ebql(session, "SET windows = 1; " COUNT_PREADS "WINDOW HOPPING 100ms BY 50ms",
		     NULL);
	session_end(session, 0, 0);
	assert_true(session->rows.n_partial >= 1 && session->rows.n_partial <= 2);
	assert_int_equal(session->rows.n_windows, 1 + session->rows.n_partial);
	assert_true(session->rows.was_last);
}

static void test_duration(void **state)
{
	struct session *session = *state;
	u64 ns;

	session_require();
	session_load(session, "--calls", "1", NULL);
	session_ebql(session, "-d", "300ms", COUNT_PREADS "WINDOW TUMBLING 100ms", NULL);
	session_end(session, 0, 0);
	ns = session->ebql.end_ns - session->ebql.start_ns;
	assert_true(ns >= 300000000 && ns < 5 * LATE_NS);
	/* Two that are late by more than a window are one, which says so. */
	assert_true(session->rows.n_windows + session->rows.n_merged >= 2);
	assert_true(session->rows.n_windows <= 2 + ns / 100000000);
}

/* The thesis' query as it stands in the thesis, but for the pid. */
static void test_figure_12(void **state)
{
	struct session *session = *state;
	struct fold *rows = &session->rows;

	session_require();
	session_load(session, "--calls", "100000", "--fds", "4", NULL);
	session_ebql(session,
		     "SELECT fd, cpu, COUNT(*), MAX(count), AVG(count)\n"
		     "FROM tracepoint/syscalls/sys_enter_pread64\n"
		     "GROUP BY fd, cpu\n"
		     "WHERE pid == %d\n"
		     "WINDOW(time, 1000, 1000);\n",
		     NULL);
	session_load_run(session);
	session_end(session, SIGINT, 0);
	assert_string_equal(rows->error, "");
	assert_int_equal(rows->matched, session->truth.calls);
	assert_int_equal(rows->lost, 0);
	assert_true(rows->n_rows >= session->truth.n_cells);
	assert_true(rows->n_windows >= 1);
	/* Peak memory: 10 MB.  A forked child starts with its parent's peak, which is less. */
	assert_true(session->ebql.usage.ru_maxrss <= 10 * 1024);
}

/* Two windows without a WINDOW: snapshots grow, the last holds all. */
static void test_every(void **state)
{
	struct session *session = *state;

	session_require();
	session_load(session, "--calls", "20000", NULL);
	session_ebql(session, "--every", "50ms", COUNT_PREADS, NULL);
	session_load_run(session);
	while (session->rows.n_windows < 3 && session->ebql.out >= 0)
		proc_pump(100);
	session_end(session, SIGINT, 0);
	assert_true(session->rows.n_rows >= 3);
	/* Each row is a running total, so rows add up to more; matched is of all events. */
	assert_true(session->rows.calls >= session->truth.calls);
}

static void test_command(void **state)
{
	struct session *session = *state;

	session_require();
	session_ebql_plain(session, 0,
			   "SELECT count(*) AS n, sum(count) AS s FROM " PREAD
			   " WHERE pid = target_pid() AND fd >= 100 WINDOW TUMBLING 100ms",
			   "--", proc_loadgen(), "--calls", "54321", "--no-wait", "--size", "fixed",
			   NULL);
	session_end(session, 0, 0);
	/* The command writes to the same output: "pid", its lines and "total". */
	assert_int_equal(session->rows.calls, 54321);
	assert_int_equal(session->rows.sum, 5432100);
}

/*
 * Windows that rows end, while more rows wait than are read at a time: events of all batches are
 * the run's.
 */
static void all_events(struct session *session, const char *window)
{
	char sql[256];
	const char *at;

	snprintf(sql, sizeof(sql),
		 "SELECT count(*) AS n FROM " PREAD " WHERE pid = target_pid() WINDOW %s "
		 "WITH (ring_bytes=64MiB)",
		 window);
	session_ebql_plain(session, 0, "--stats", sql, "--", proc_loadgen(), "--calls", "200000",
			   "--threads", "2", "--no-pin", "--no-wait", NULL);
	session_end(session, 0, 0);
	at = strstr(session->ebql.err_text.at, "\"events\": ");
	assert_non_null(at);
	assert_true(session->rows.events >= 200000);
	assert_int_equal(session->rows.events, strtoull(at + strlen("\"events\": "), NULL, 10));
}

static void test_events_of_count(void **state)
{
	session_require();
	all_events(*state, "COUNT 1000");
}

static void test_events_of_sessions(void **state)
{
	session_require();
	all_events(*state, "SESSION 3ms");
}

static void test_wildcard(void **state)
{
	struct session *session = *state;

	session_require();
	session_load(session, "--calls", "30000", NULL);
	session_ebql(session,
		     "SELECT probe, count(*) AS n FROM tracepoint:syscalls:sys_enter_pread* "
		     "WHERE pid = %d GROUP BY probe WINDOW TUMBLING 100ms",
		     NULL);
	session_load_run(session);
	session_end(session, SIGINT, 0);
	assert_string_equal(session->rows.error, "");
	assert_int_equal(session->rows.calls, 30000);
	assert_int_equal(session->rows.lost, 0);
}

/* Every event a row, none lost at a pace the reader can follow. */
static void test_stream(void **state)
{
	struct session *session = *state;

	session_require();
	session_load(session, "--calls", "60000", "--fds", "32", "--pause-every", "500",
		     "--pause-us", "2000", NULL);
	session_ebql(session, "SELECT fd, cpu, count FROM " PREAD " WHERE pid = %d", NULL);
	session_load_run(session);
	session_end(session, SIGINT, 0);
	session_expect_exact(session);
	assert_int_equal(session->rows.n_rows, 60000);
}

/* Faster than it can be printed: what is lost is counted, to the event. */
static void test_stream_flood(void **state)
{
	struct session *session = *state;
	struct fold *rows = &session->rows;

	session_require();
	session_load(session, "--calls", "3000000", NULL);
	session_ebql(session, "SELECT time, pid, comm, fd, count FROM " PREAD " WHERE pid = %d",
		     NULL);
	session_load_run(session);
	proc_signal(&session->ebql, SIGINT);
	proc_wait_exit(&session->ebql, 60000);
	assert_string_equal(rows->error, "");
	assert_int_equal(rows->n_rows + rows->lost_ring_full, 3000000);
	assert_int_equal(rows->lost, rows->lost_ring_full);
	assert_int_equal(session->ebql.status, rows->lost ? 3 : 0);
}

static void test_rows_limit(void **state)
{
	struct session *session = *state;

	session_require();
	session_load(session, "--calls", "1000", NULL);
	session_ebql(session, "-n", "10", "SELECT fd, count FROM " PREAD " WHERE pid = %d", NULL);
	session_load_run(session);
	session_end(session, 0, 0);
	assert_int_equal(session->rows.n_rows, 10);
}

/* LIMIT and -n both count streamed rows: the smaller ends the run. */
static void limit_and_n(struct session *session, const char *n, u64 n_rows)
{
	session_load(session, "--calls", "1000", NULL);
	session_ebql(session, "-n", n, "SELECT fd, count FROM " PREAD " WHERE pid = %d LIMIT 7",
		     NULL);
	session_load_run(session);
	session_end(session, 0, 0);
	assert_int_equal(session->rows.n_rows, n_rows);
}

static void test_limit_below_n(void **state)
{
	session_require();
	limit_and_n(*state, "10", 7);
}

static void test_n_below_limit(void **state)
{
	session_require();
	limit_and_n(*state, "4", 4);
}

static const char *said(struct session *session)
{
	return session->ebql.err_text.n ? session->ebql.err_text.at : "";
}

/* Runs to its end; standard error has the text once, and nothing of it twice. */
static void expect_said(struct session *session, const char *text)
{
	const char *first = strstr(said(session), text);

	if (!first)
		fail_msg("\"%s\" is not in: %s", text, said(session));
	if (strstr(first + 1, text))
		fail_msg("\"%s\" is twice in: %s", text, said(session));
	proc_end_all();
}

static void test_warnings(void **state)
{
	struct session *session = *state;

	session_require();
	session_ebql_plain(session, 0, "-d", "50ms", "SELECT pid comm FROM " PREAD, NULL);
	session_end(session, 0, 0);
	expect_said(session, "warning[missing-comma]");
	session_ebql_plain(session, 0, "-d", "50ms", "--every", "20ms",
			   "SELECT count(*) FROM " PREAD " WINDOW TUMBLING 20ms", NULL);
	session_end(session, 0, 0);
	expect_said(session, "--every has no effect: the query has a WINDOW\n");
	session_ebql_plain(session, 0, "-d", "50ms", "--every", "20ms", "SELECT pid FROM " PREAD,
			   NULL);
	session_end(session, 0, 0);
	expect_said(session, "--every has no effect: the query's rows");
	session_ebql_plain(session, 0, "-d", "50ms", "--every", "20ms",
			   "SELECT count(*) FROM " PREAD, NULL);
	session_end(session, 0, 0);
	assert_string_equal(said(session), "");
}

/* What a heat map leaves away is said; views without a query are looked at. */
static void test_said(void **state)
{
	struct session *session = *state;

	session_require();
	session_ebql_plain(session, 0, "-o", "heatmap", "-d", "50ms",
			   "SELECT fd, histogram(count) AS a, histogram(fd) AS b, "
			   "histogram(count, exponential(1)) FROM " PREAD
			   " GROUP BY fd WINDOW TUMBLING 20ms",
			   NULL);
	session_end(session, 0, 0);
	expect_said(session, "ebql: --heatmap draws only the first histogram, a\n"
			     "ebql: --heatmap merges all groups of GROUP BY into one map\n");
	session_ebql_plain(session, 0, "-o", "heatmap", "-d", "50ms",
			   "SELECT histogram(count) FROM " PREAD, NULL);
	session_end(session, 0, 0);
	assert_string_equal(said(session), "");
	session_ebql_plain(session, 0,
			   "CREATE VIEW v AS SELECT fd FROM " PREAD
			   "; CREATE VIEW w AS SELECT * FROM v",
			   NULL);
	session_end(session, 0, 0);
	assert_string_equal(said(session),
			    "ebql: 2 views checked, and no query: a view lives as long as its "
			    "text, put the query behind it\n");
	session_ebql_plain(session, 0, "CREATE VIEW v AS SELECT fdd FROM " PREAD, NULL);
	session_end(session, 0, 2);
	expect_said(session, "error[unknown-column]");
}

static void test_options(void **state)
{
	static const struct {
		const char *query, *said;
	} wrong[] = {
		{ "SET rules_off = 'fold,bogus'; SELECT pid FROM " PREAD,
		  "error[bad-option-value]" },
		{ "SELECT pid FROM " PREAD " WITH (rules_off = 'bogus')",
		  "error[bad-option-value]" },
		{ "SELECT pid FROM " PREAD " WITH (rules_off = 5)", "error[bad-option-value]" },
		{ "SET pushdown = maybe; SET max_groups = 5; SELECT pid FROM " PREAD,
		  "error[bad-option-value]" },
		{ "SELECT count(*) FROM " PREAD " WINDOW TUMBLING (SIZE 1 YEAR)",
		  "error[bad-window]" },
		{ "SELECT count(*) FROM " PREAD " WINDOW TUMBLING 1w", "error[bad-window]" },
	};
	struct session *session = *state;

	session_require();
	for (u32 i = 0; i < ARRAY_SIZE(wrong); i++) {
		session_ebql_plain(session, 0, wrong[i].query, NULL);
		session_end(session, 0, 2);
		expect_said(session, wrong[i].said);
	}
	session_ebql_plain(session, 0, "-o", "heatmap", "-d", "20ms", "SELECT count(*) FROM " PREAD,
			   NULL);
	session_end(session, 0, 2);
	expect_said(session, "error[no-histogram]");
	session_ebql_plain(session, 0, "-o", "folded", "-d", "20ms", "SELECT count(*) FROM " PREAD,
			   NULL);
	session_end(session, 0, 2);
	expect_said(session, "error[no-stack]");
	session_ebql_plain(session, 0, "-d", "20ms",
			   "SET rules_off = 'split, order'; SELECT pid FROM " PREAD
			   " WITH (rules_off = 'all')",
			   NULL);
	session_end(session, 0, 0);
	assert_string_equal(said(session), "");
}

/* A command that cannot be executed fails the run; the status of one that can does not. */
static void test_command_status(void **state)
{
	struct session *session = *state;

	session_require();
	session_ebql_plain(session, 0, "SELECT count(*) AS n FROM " PREAD, "--", "/nonexistent",
			   NULL);
	session_end(session, 0, 1);
	expect_said(session, "/nonexistent: No such file");
	session_ebql_plain(session, 0, "SELECT count(*) AS n FROM " PREAD, "--", "sh", "-c",
			   "exit 127", NULL);
	session_end(session, 0, 0);
	proc_end_all();
	/* EXPLAIN starts no command: it could not be started. */
	session_ebql_plain(session, 0,
			   "EXPLAIN SELECT count(*) FROM " PREAD " WHERE pid = target_pid()", "--",
			   "/nonexistent", NULL);
	session_end(session, 0, 0);
	assert_string_equal(said(session), "");
}

static void test_comment_first(void **state)
{
	static const char *const queries[] = {
		"-- hello\nSELECT count(*) AS n FROM " PREAD " WINDOW TUMBLING 20ms",
		"--hello\nSELECT count(*) AS n FROM " PREAD " WINDOW TUMBLING 20ms",
		"--\nSELECT count(*) AS n FROM " PREAD " WINDOW TUMBLING 20ms",
	};
	struct session *session = *state;

	session_require();
	for (u32 i = 0; i < ARRAY_SIZE(queries); i++) {
		u64 before = session->rows.n_windows;

		session_ebql_plain(session, 0, queries[i], "--partial", "-n", "2", NULL);
		session_end(session, 0, 0);
		assert_int_equal(session->rows.n_windows, before + 2);
		proc_end_all();
	}
	session_ebql_plain(session, 0, queries[0], "SELECT 1", NULL);
	session_end(session, 0, 2);
	expect_said(session, "too many arguments");
}

static int compare_u64(const void *a, const void *b)
{
	u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return x < y ? -1 : x > y;
}

/*
 * From fork to the time of the first counted event: it comes behind the start, and how long that
 * takes is told (bench/ has the figure).
 */
static void test_start_up(void **state)
{
	struct session *session = *state;
	u64 ns[11];

	session_require();
	session_load(session, "--spin", NULL);
	for (u32 i = 0; i < ARRAY_SIZE(ns); i++) {
		fold_free(&session->rows);
		fold_init(&session->rows);
		session_ebql_plain(session, 0, "-n", "1",
				   "SELECT time FROM " PREAD " WHERE pid = %d", NULL);
		session_end(session, 0, 0);
		/* As the time of day, whatever the clock of the events. */
		ns[i] = session->rows.first_time_ns - (base_realtime_ns() - base_monotonic_ns());
		assert_true(ns[i] > session->ebql.start_ns);
		ns[i] -= session->ebql.start_ns;
		/* The next one needs the place; the load generator stays. */
		proc_forget(&session->ebql);
	}
	qsort(ns, ARRAY_SIZE(ns), sizeof(ns[0]), compare_u64);
	print_message("start to first event: median %.2f ms, slowest %.2f ms\n",
		      (double)ns[ARRAY_SIZE(ns) / 2] / 1e6, (double)ns[ARRAY_SIZE(ns) - 1] / 1e6);
}

/* libc and SQLite. */
static void test_libraries(void **state)
{
	static const char *const allowed[] = { "libc.so", "libsqlite3.so", "libm.so", "ld-linux" };
	char command[4200], line[512];
	u32 n = 0;
	FILE *readelf;

	session_require();
	snprintf(command, sizeof(command), "readelf -dW '%s' 2>/dev/null", proc_ebql());
	readelf = popen(command, "r");
	assert_non_null(readelf);
	while (fgets(line, sizeof(line), readelf)) {
		bool is_allowed = false;

		if (!strstr(line, "(NEEDED)"))
			continue;
		if (strstr(line, "libasan") || strstr(line, "libubsan")) {
			pclose(readelf);
			print_message("SKIP: built with a sanitizer\n");
			skip();
		}
		for (u32 i = 0; i < ARRAY_SIZE(allowed); i++)
			is_allowed |= strstr(line, allowed[i]) != NULL;
		if (!is_allowed)
			fail_msg("needs %s", line);
		n++;
	}
	pclose(readelf);
	if (n == 0) {
		print_message("SKIP: no readelf here\n");
		skip();
	}
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, session_setup, session_teardown)

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		TEST(test_interrupt),
		TEST(test_terminate),
		TEST(test_kill_raw),
		TEST(test_kill_tracepoint),
		TEST(test_closed_pipe),
		TEST(test_nobody),
		TEST(test_exit_statuses),
		TEST(test_idle),
		TEST(test_idle_grouped),
		TEST(test_whole),
		TEST(test_duration),
		TEST(test_figure_12),
		TEST(test_every),
		TEST(test_command),
		TEST(test_wildcard),
		TEST(test_stream),
		TEST(test_stream_flood),
		TEST(test_rows_limit),
		TEST(test_start_up),
		TEST(test_libraries),
		TEST(test_warnings),
		TEST(test_said),
		TEST(test_options),
		TEST(test_command_status),
		TEST(test_limit_below_n),
		TEST(test_n_below_limit),
		TEST(test_comment_first),
		TEST(test_events_of_count),
		TEST(test_events_of_sessions),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests_name("session", tests, NULL, NULL);
}
