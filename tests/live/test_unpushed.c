/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * SET pushdown = off on this kernel: the scans alone run in it, and the account of every
 * call is as exact as that of the kernel part.
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
/* Room for all rows between two looks at the ring buffer, on a machine that is busy. */
#define OFF "SET pushdown = off; SET ring_bytes = 67108864; "

static void run(struct session *session, const char *query)
{
	session_require();
	session_load(session, "--calls", "100000", NULL);
	session_ebql(session, query, NULL);
	session_load_run(session);
	session_end(session, SIGINT, 0);
	/* WHERE is done by SQLite: what is counted before it are the calls of the whole machine. */
	if (!fold_equals(&session->rows, &session->truth))
		fail_msg("%s (%lu windows, lost %lu)", session->rows.error, session->rows.n_windows,
			 session->rows.lost);
	assert_int_equal(session->rows.lost_ring_full, 0);
	assert_true(session->rows.events >= session->truth.calls);
}

static void test_scan(void **state)
{
	run(*state, OFF "SELECT fd, cpu, " AGGREGATES
			"FROM tracepoint:syscalls:sys_enter_pread64 WHERE pid = %d "
			"GROUP BY fd, cpu WINDOW TUMBLING 10ms");
}

/* A span is a PAIR JOIN, done in user space. */
static void test_span(void **state)
{
	run(*state, OFF "SELECT fd, cpu, " AGGREGATES
			"FROM syscall:pread64 WHERE pid = %d AND latency > 0ns "
			"GROUP BY fd, cpu WINDOW TUMBLING 10ms");
}

/* One result: events, values that are not NULL, faults. */
static void read_members(const char *expression, u64 *ret_n, u64 *ret_values, u64 *ret_faults)
{
	char command[1024], text[4096];
	const char *fault;
	FILE *pipe;
	size_t n;

	snprintf(command, sizeof(command),
		 "%s --duration 200ms -o json '" OFF "SELECT count(*) AS n, count(%s) AS v FROM "
		 "raw_tracepoint:sched_switch'",
		 EBQL_BINARY, expression);
	pipe = popen(command, "r");
	assert_non_null(pipe);
	n = fread(text, 1, sizeof(text) - 1, pipe);
	text[n] = '\0';
	pclose(pipe);
	assert_int_equal(sscanf(text, "{\"n\":%lu,\"v\":%lu}", ret_n, ret_values), 2);
	fault = strstr(text, "\"fault\":");
	*ret_faults = fault ? strtoull(fault + 8, NULL, 10) : 0;
}

/*
 * A kernel thread has no mm.  Bare scans read a member for every event, but what is a fault
 * is what the query evaluates.
 */
static void test_guarded_read(void **state)
{
	u64 n, n_values, n_faults;

	session_require();
	read_members("next.mm.map_count", &n, &n_values, &n_faults);
	assert_true(n_values < n);
	assert_int_equal(n_faults, n - n_values);
	read_members("CASE WHEN next.pid > 2000000000 THEN next.mm.map_count ELSE 0 END", &n,
		     &n_values, &n_faults);
	assert_true(n > 0);
	assert_int_equal(n_values, n);
	assert_int_equal(n_faults, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_scan, session_setup, session_teardown),
		cmocka_unit_test_setup_teardown(test_span, session_setup, session_teardown),
		cmocka_unit_test(test_guarded_read),
	};

	return cmocka_run_group_tests_name("raw", tests, NULL, NULL);
}
