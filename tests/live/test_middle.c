/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The middle event of three ends one pair and starts another.  Where the run ends while its program
 * is between the two, it is a row or `unpaired` all the same.
 *
 * One thread makes the three events in turn, beginning when the run has begun.  So in the end one
 * start waits at most, the first or the middle one: of n middle ones, which the same program counts
 * in the same window, n are rows or never ended, and of first ones never more than one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

#include "watch.h"

enum { ROUNDS = 20, CALLS = 100 };

#define OF "tracepoint:syscalls:sys_"

struct case_state {
	struct watch watch;
	u64 middles, rows;
};

static void take_row(void *context, const struct line *line)
{
	struct case_state *c = context;

	c->middles = line_number(line, "middles");
	c->rows = line_number(line, "rows");
}

static int work(void)
{
	char line[16];

	work_answer("pid %d\n", getpid());
	if (!work_line(line, sizeof(line)))
		return 1;
	for (u32 i = 0;; i++) {
		if (i == CALLS)
			work_answer("called\n");
		syscall(SYS_getppid);
		syscall(SYS_getpgid, 0);
	}
}

static void run_once(struct case_state *c)
{
	const struct reader_totals *t = &c->watch.reader.totals;

	watch_begin(&c->watch, take_row, c);
	watch_ebql(
		&c->watch,
		"WITH m AS (SELECT count(*) AS middles FROM " OF "exit_getppid WHERE pid = %d), "
		"p AS (SELECT count(*) AS rows FROM (SELECT tid FROM " OF "enter_getpgid AS g "
		"WHERE current.pid = %d) AS c PAIR JOIN (SELECT m.tid AS tid FROM (SELECT tid FROM " OF
		"exit_getppid WHERE pid = %d) AS m PAIR JOIN (SELECT tid FROM " OF
		"enter_getppid WHERE pid = %d) AS a ON m.tid = a.tid) AS b ON c.tid = b.tid) "
		"SELECT middles, rows FROM m JOIN p ON 1 = 1",
		c->watch.pid, c->watch.pid, c->watch.pid, c->watch.pid);
	watch_tell(&c->watch, "call", "called");
	watch_end(&c->watch, -1);
	assert_true(c->middles >= CALLS);
	assert_int_equal(t->unpaired, t->never_ended);
	assert_in_range(c->rows + t->never_ended, c->middles, c->middles + 1);
	watch_close(&c->watch);
}

static void test_run_ends_between(void **state)
{
	/* Each program that stores what it has looked up takes its time in between. */
	setenv("EBQL_DAWDLE", "1", 1);
	for (u32 i = 0; i < ROUNDS; i++)
		run_once(*state);
	unsetenv("EBQL_DAWDLE");
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		WATCH_TEST(test_run_ends_between, struct case_state),
	};

	if (argc == 3 && !strcmp(argv[1], "--work"))
		return work();
	if (argc > 1 && argv[1][0] != '-')
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests_name("middle", tests, NULL, NULL);
}
