/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * ebql watch: what rows do.  Lines of the log and commands get each row of a known load once;
 * commands that fail, hang or come too often; snapshots of what another query keeps.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

#include "place.h"

#define ROWS                                                                                       \
	"SELECT pid AS \"a b\", count(*) AS n " CALLS                                              \
	"GROUP BY pid HAVING count(*) > 0 WINDOW TUMBLING 20ms WITH (out = 'json:/dev/null', "

enum { FIRST = 1000000000, BATCH = 17 };

static void wait_sum(struct place *p, const char *file, const char *key, u64 sum)
{
	u64 limit_ns = base_monotonic_ns() + LIMIT_MS * 1000000ull;

	while ((access(place_path(p, file), F_OK) || place_sum(p, file, key) < sum) &&
	       base_monotonic_ns() < limit_ns)
		proc_pump(20);
	assert_int_equal(place_sum(p, file, key), sum);
}

static void wait_figure(struct place *p, const char *query, const char *key, double least)
{
	u64 limit_ns = base_monotonic_ns() + LIMIT_MS * 1000000ull;
	struct buf text;

	buf_init(&text);
	do
		place_status(p, true, &text);
	while (place_figure(text.at, query, key) < least && base_monotonic_ns() < limit_ns);
	assert_true(place_figure(text.at, query, key) >= least);
	buf_free(&text);
}

/* All rows of calls that are made over several windows, each once, by each of three ways. */
static void test_rows(void **state)
{
	struct place *p = *state;
	struct proc *ebql = &p->session->ebql;
	char line[64];
	struct buf text;
	u64 sum = 0;

	session_require();
	place_write(p, "log.sql", ROWS "on_row = 'log')", getpid());
	place_write(p, "script",
		    "cat >>%s/rows; echo \"$1 $# $EBQL_A_B $EBQL_QUERY n=$EBQL_N\" "
		    ">>%s/env\n",
		    p->folder, p->folder);
	/* A column's name that is taken does not stand in for the query's. */
	place_write(p, "exec.sql",
		    "SELECT pid AS \"a b\", count(*) AS n, 'x' AS query " CALLS
		    "GROUP BY pid HAVING count(*) > 0 WINDOW TUMBLING 20ms "
		    "WITH (out = 'json:/dev/null', on_row = 'exec:/bin/sh %s/script $one  two')",
		    getpid(), p->folder);
	place_write(p, "shell.sql", ROWS "on_row = 'shell: cat >>%s/shell')", getpid(), p->folder);
	/* ebql watch as in the command of another row. */
	place_write(p, "print.sql", ROWS "on_row = 'exec:printenv EBQL_QUERY')", getpid());
	setenv("EBQL_QUERY", "other", 1);
	place_start(p, p->folder, NULL);
	unsetenv("EBQL_QUERY");
	for (u32 i = 0; i < 5; i++) {
		place_call(100);
		/* In windows of their own, however late they end. */
		wait_sum(p, "rows", "\"n\":", 100 * (i + 1));
	}
	wait_sum(p, "env", "n=", 500);
	wait_sum(p, "shell", "\"n\":", 500);
	buf_init(&text);
	place_read(p, "env", &text);
	/* No shell has read the words. */
	snprintf(line, sizeof(line), "$one 2 %d exec n=", getpid());
	assert_int_equal(strncmp(text.at, line, strlen(line)), 0);
	place_read(p, "rows", &text);
	assert_int_equal(strncmp(text.at, "{\"window_start\":", 16), 0);
	snprintf(line, sizeof(line), ",\"a b\":%d,\"n\":", getpid());
	assert_non_null(strstr(text.at, line));
	place_status(p, true, &text);
	assert_true(place_figure(text.at, "exec", "\"commands\":") >= 2);
	assert_int_equal(place_figure(text.at, "exec", "\"commands_failed\":"), 0);
	proc_pump(20);
	for (const char *at = ebql->err_text.at; (at = strstr(at, "ebql: log: row: {")); at++)
		sum += strtoull(strstr(at, "\"n\":") + 4, NULL, 10);
	assert_int_equal(sum, 500);
	buf_free(&text);
	place_end(p, SIGTERM, 0);
	assert_non_null(strstr(ebql->err_text.at, "\nprint\n"));
	assert_null(strstr(ebql->err_text.at, "\nother\n"));
}

/* What was killed may take a moment to be gone. */
static void wait_killed(void)
{
	u64 limit_ns = base_monotonic_ns() + LIMIT_MS * 1000000ull;

	while (system("pgrep -f '^sleep 1234' >/dev/null") == 0) {
		assert_true(base_monotonic_ns() < limit_ns);
		proc_pump(20);
	}
}

/* None of them stops a window; what is wrong with each is said. */
static void test_bad_commands(void **state)
{
	struct place *p = *state;
	struct buf text;
	double n;

	session_require();
	place_write(p, "none.sql", ROWS "on_row = 'exec:/nowhere/\033command')", getpid());
	place_write(p, "three.sql", ROWS "on_row = 'shell:exit 3')", getpid());
	place_write(p, "self.sql", ROWS "on_row = 'shell:kill -SEGV $$')", getpid());
	/* It starts others, and reads nothing. */
	place_write(p, "hangs.sql",
		    ROWS "on_row = 'shell:sleep 1234 & sleep 1234', on_row_limit = 5s)", getpid());
	place_write(p, "many.sql",
		    "SELECT time, pid " CALLS
		    "WITH (on_row = 'shell:echo >>%s/ran; sleep 0.1', out = 'json:%s/many')",
		    getpid(), p->folder, p->folder);
	/* Of one batch: one runs and 16 wait. */
	place_write(
		p, "batch.sql",
		"SELECT pid FROM tracepoint:syscalls:sys_enter_getpgid WHERE pid >= %d "
		"GROUP BY pid WINDOW TUMBLING 400ms WITH (on_row = 'shell:echo >>%s/batch; sleep 0.01', "
		"out = 'json:/dev/null')",
		FIRST, p->folder);
	/* Who starts it may take no notice of children that end. */
	signal(SIGCHLD, SIG_IGN);
	place_start(p, p->folder, NULL);
	signal(SIGCHLD, SIG_DFL);
	place_call(1);
	place_said(p, "none.sql: on_row: /nowhere/\\x1bcommand: No such file or directory\n");
	place_call(1);
	place_said(p, "three.sql: on_row: exit 3: ended with 3\n");
	place_call(1);
	place_said(p, "self.sql: on_row: kill -SEGV $$: killed by signal 11\n");
	buf_init(&text);
	place_status(p, true, &text);
	n = place_figure(text.at, "hangs", "\"windows\":");
	place_said(
		p,
		"hangs.sql: on_row: sleep 1234 & sleep 1234: killed, after 5000 ms (on_row_limit)\n");
	place_status(p, true, &text);
	assert_true(place_figure(text.at, "hangs", "\"windows\":") > n + 5);
	for (int i = 0; i < BATCH; i++)
		syscall(SYS_getpgid, FIRST + i);
	place_wait_status(p, "\"commands\":17,\"commands_failed\":0,\"rows_left_out\":0");
	/* Beyond those that wait none is run, and no row is missing elsewhere. */
	place_call(100);
	place_said(p, "rows: 16 waited already\n");
	wait_sum(p, "many", ",\"pid\":", (u64)getpid() * 103);
	place_status(p, true, &text);
	assert_true(place_figure(text.at, "many", "\"rows_left_out\":") >= 103 - 16 - 20);
	place_end(p, SIGTERM, 0);
	wait_killed();
	buf_free(&text);
}

/* Who may write the file must not have commands run by who runs ebql watch. */
static void test_trust(void **state)
{
	struct place *p = *state;
	char shared[96], file[96];

	session_require();
	place_write(p, "a.sql", ROWS "on_row = 'exec:/bin/true')", getpid());
	assert_int_equal(chmod(place_path(p, "a.sql"), 0666), 0);
	place_write(p, "b.sql", ROWS "on_row = 'shell:true')", getpid());
	assert_int_equal(chown(place_path(p, "b.sql"), 65534, 0), 0);
	place_write(p, "c.sql", "SELECT count(*) " CALLS "WITH (out = 'json', on_row = 'log')",
		    getpid());
	assert_int_equal(chmod(place_path(p, "c.sql"), 0666), 0);
	/* Nor files written. */
	place_write(p, "e.sql", "SELECT count(*) " CALLS "WITH (out = 'json:%s/e.out')", getpid(),
		    p->folder);
	assert_int_equal(chmod(place_path(p, "e.sql"), 0666), 0);
	/* A good file may be put where it was not meant to be, or a link to it. */
	snprintf(file, sizeof(file), "%s", place_path(p, "f"));
	place_write(p, "f", ROWS "on_row = 'exec:/bin/true')", getpid());
	assert_int_equal(symlink(file, place_path(p, "link.sql")), 0);
	snprintf(shared, sizeof(shared), "%s", place_path(p, "shared"));
	assert_int_equal(mkdir(shared, 0755), 0);
	assert_int_equal(chmod(shared, 0777), 0);
	place_write(p, "shared/g.sql", ROWS "on_row = 'exec:/bin/true')", getpid());
	place_write(p, "d.sql", ROWS "on_row = 'exec: ')", getpid());
	place_write(p, "h.sql",
		    ROWS "on_row = 'exec:echo 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 "
			 "21 22 23 24 25 26 27 28 29 30 31 32')",
		    getpid());
	place_write(p, "h.sql",
		    ROWS "on_row = 'exec:echo 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 "
			 "21 22 23 24 25 26 27 28 29 30 31 32')",
		    getpid());
	place_start(p, p->folder, shared, NULL);
	place_wait_status(p, "/c.sql\",\"state\":\"runs\"");
	place_wait_status(p, "error[untrusted-file]: a command would be run for who may write ");
	place_wait_status(p, "/e.out would be written for who may write ");
	assert_int_not_equal(access(place_path(p, "e.out"), F_OK), 0);
	place_wait_status(p, "/link.sql\",\"state\":\"failed\"");
	place_wait_status(p, "/shared/g.sql\",\"state\":\"failed\"");
	place_wait_status(p, "error[bad-on-row]: nothing is done with a row by \\\"exec: \\\"");
	place_wait_status(p, "error[bad-on-row]: the command has more than 32 words");
	place_wait_status(p, "error[bad-on-row]: the command has more than 32 words");
	assert_int_equal(chmod(place_path(p, "a.sql"), 0644), 0);
	place_said(p, "a.sql: its query runs\n");
	assert_int_equal(chown(place_path(p, "b.sql"), 0, 0), 0);
	place_said(p, "b.sql: its query runs\n");
	assert_int_equal(chmod(place_path(p, "e.sql"), 0644), 0);
	place_said(p, "e.sql: its query runs\n");
	assert_int_equal(chmod(shared, 0755), 0);
	proc_signal(&p->session->ebql, SIGHUP);
	place_said(p, "g.sql: its query runs\n");
	place_end(p, SIGTERM, 1);
}

/* A call with this process as its argument is what a snapshot is wanted at. */
#define WANTS                                                                                      \
	"SELECT count(*) AS n FROM tracepoint:syscalls:sys_enter_getpgid WHERE pid = %d "          \
	"HAVING count(*) > 0 WINDOW TUMBLING 20ms WITH (out = 'json:/dev/null', on_row = 'snapshot:"

static void write_keeper(struct place *p, const char *name, u32 n, const char *format)
{
	char file[64];

	snprintf(file, sizeof(file), "%s.sql", name);
	place_write(p, file,
		    "SELECT count(*) AS n " CALLS "WINDOW TUMBLING 20ms "
		    "WITH (keep = %u, out = '%s:%s/%s.out')",
		    getpid(), n, format, p->folder, name);
	snprintf(file, sizeof(file), "wants_%s.sql", name);
	place_write(p, file, WANTS "%s')", getpid(), name);
}

/* Each window that a query keeps is written once, when a row of another wants it. */
static void test_snapshot(void **state)
{
	struct place *p = *state;
	struct buf text;
	u32 n = 0;
	double seen;

	session_require();
	write_keeper(p, "all", 100000, "csv");
	write_keeper(p, "two", 2, "json");
	place_write(p, "lost.sql", WANTS "\033other')", getpid());
	place_start(p, p->folder, NULL);
	buf_init(&text);
	for (u32 i = 0; i < 2; i++) {
		place_call(500);
		place_status(p, true, &text);
		seen = place_figure(text.at, "all", "\"windows\":");
		wait_figure(p, "all", "\"windows\":", seen + 3);
		place_read(p, "all.out", &text);
		assert_int_equal(strtol(text.at, NULL, 10), 0);
		assert_int_equal(text.n > 1, i);
		syscall(SYS_getpgid, getpid());
		/* Once. */
		if (!i)
			place_said(p, "lost.sql: on_row: no query \"\\x1bother\" that runs keeps "
				      "anything\n");
		place_wait_status(p, "\"name\":\"wants_two\"");
		wait_sum(p, "all.out", "\n", 500 * (i + 1));
	}
	place_read(p, "all.out", &text);
	assert_int_equal(strncmp(text.at, "n\n", 2), 0);
	assert_null(strstr(text.at + 1, "n\n"));
	assert_false(proc_wait_text(&p->session->ebql, "lost.sql", 1));
	place_end(p, SIGTERM, 0);
	place_read(p, "two.out", &text);
	for (const char *at = text.at; (at = strstr(at, "\"_batch\"")); at++)
		n++;
	assert_int_equal(n, 4);
	assert_int_equal(place_sum(p, "two.out", "{\"n\":"), 0);
	buf_free(&text);
}

/* A snapshot that cannot be written is none. */
static void test_full(void **state)
{
	struct place *p = *state;

	session_require();
	place_write(p, "full.sql",
		    "SELECT count(*) AS n " CALLS "WINDOW TUMBLING 20ms "
		    "WITH (keep = 10, out = 'csv:/dev/full')",
		    getpid());
	place_write(p, "wants.sql", WANTS "full')", getpid());
	place_start(p, p->folder, NULL);
	syscall(SYS_getpgid, getpid());
	place_said(p, "/dev/full: No space left on device\n");
	place_wait_status(p, "/full.sql\",\"state\":\"failed\"");
	place_end(p, SIGTERM, 1);
}

enum { N_ROWS = 4000 };

/* What is kept, or wanted, while nobody reads is written when somebody does, each row once. */
static void test_slow_reader(void **state)
{
	struct place *p = *state;
	char wide[700], command[256];

	session_require();
	memset(wide, 'x', sizeof(wide) - 1);
	wide[sizeof(wide) - 1] = '\0';
	snprintf(command, sizeof(command), "mkfifo %s/fifo", p->folder);
	assert_int_equal(system(command), 0);
	place_write(p, "rows.sql",
		    "SELECT pid, '%s' AS wide " CALLS "WITH (keep = 100000, out = 'csv:%s/fifo')",
		    wide, getpid(), p->folder);
	place_write(p, "wants.sql", WANTS "rows')", getpid());
	place_start(p, p->folder, NULL);
	/* The first is being written, the second waits, the third has no room. */
	for (u32 i = 1; i <= 3; i++) {
		place_call(N_ROWS);
		wait_figure(p, "rows", "\"rows\":", i * N_ROWS);
		syscall(SYS_getpgid, getpid());
		wait_figure(p, "wants", "\"rows\":", i);
		if (i < 3)
			place_said(p, "rows.sql: a snapshot of 4000 rows\n");
	}
	/* What the third goes on to keep before anybody reads, it takes with it. */
	place_call(N_ROWS);
	wait_figure(p, "rows", "\"rows\":", 4 * N_ROWS);
	snprintf(command, sizeof(command), "timeout 60 head -n %u %s/fifo >%s/read", 4 * N_ROWS + 1,
		 p->folder, p->folder);
	assert_int_equal(system(command), 0);
	assert_int_equal(place_sum(p, "read", "\n"), (u64)getpid() * 4 * N_ROWS);
	place_end(p, SIGTERM, 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, place_setup, place_teardown)
	static const struct CMUnitTest tests[] = {
		TEST(test_rows),     TEST(test_bad_commands), TEST(test_trust),
		TEST(test_snapshot), TEST(test_full),	      TEST(test_slow_reader),
	};

	return cmocka_run_group_tests_name("watch_row", tests, NULL, NULL);
}
