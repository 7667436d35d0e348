/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The bad days of ebql watch: full disks, more rows than anybody takes, files that cannot be read,
 * logs that are moved away, clocks that are set, an end in the midst of a command.  What is lost
 * is told, what is not stands there once.
 */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "place.h"

static void run(const char *format, ...) PRINTF(1, 2);

static void run(const char *format, ...)
{
	char command[1024];
	va_list args;

	va_start(args, format);
	vsnprintf(command, sizeof(command), format, args);
	va_end(args);
	if (system(command))
		fail_msg("%s", command);
}

/* Of the folder, of so many pages. */
static void mount_disk(struct place *p, u32 n_pages)
{
	run("mkdir %s/disk && mount -t tmpfs -o size=%uk tmpfs %s/disk", p->folder, 4 * n_pages,
	    p->folder);
}

static void widen_disk(struct place *p)
{
	run("mount -o remount,size=4m %s/disk", p->folder);
}

static void wait_text(struct place *p, const char *file, const char *part)
{
	u64 limit_ns = base_monotonic_ns() + LIMIT_MS * 1000000ull;
	struct buf text;

	buf_init(&text);
	do {
		proc_pump(20);
		if (access(place_path(p, file), F_OK) == 0)
			place_read(p, file, &text);
	} while (!(text.n && strstr(text.at, part)) && base_monotonic_ns() < limit_ns);
	if (!text.n || !strstr(text.at, part))
		fail_msg("%s never has %s", file, part);
	buf_free(&text);
}

/*
 * A query's output, and a command's, without room: the one fails, the other is told of, and when
 * there is room both go on.  The line that was cut stays one.
 */
static void test_full_outputs(void **state)
{
	struct place *p = *state;
	struct buf text;
	u32 n_cut = 0;
	u64 n;

	session_require();
	mount_disk(p, 1);
	place_write(p, "a.sql",
		    "SELECT count(*) AS n " CALLS "WINDOW TUMBLING 10ms "
		    "WITH (out = 'json:%s/disk/a.out')",
		    getpid(), p->folder);
	place_write(
		p, "b.sql",
		"SELECT count(*) AS n FROM tracepoint:syscalls:sys_enter_getpgid WHERE pid = %d "
		"HAVING count(*) > 0 WINDOW TUMBLING 10ms "
		"WITH (out = 'json:%s/b.out', on_row = 'shell:cat >>%s/disk/rows')",
		getpid(), p->folder, p->folder);
	place_start(p, p->folder, NULL);
	place_said(p, "/disk/a.out: No space left on device\n");
	assert_int_equal(getpgid(getpid()), getpgrp());
	place_said(p, "b.sql: on_row: cat >>");
	place_wait_status(p, "\"commands\":1,\"commands_failed\":1");
	widen_disk(p);
	proc_signal(&p->session->ebql, SIGHUP);
	place_said(p, "a.sql: its query runs\n");
	place_call(300);
	assert_int_equal(getpgid(getpid()), getpgrp());
	place_wait_status(p, "\"commands\":2,\"commands_failed\":1");
	place_end(p, SIGTERM, 0);
	buf_init(&text);
	place_read(p, "disk/a.out", &text);
	n = place_sum(p, "disk/a.out", "\n{\"n\":");
	for (char *line, *rest = text.at; (line = strsep(&rest, "\n")) && *line;)
		n_cut += line[strlen(line) - 1] != '}';
	assert_true(n_cut <= 1);
	assert_int_equal(n, 300);
	assert_int_equal(place_sum(p, "disk/rows", "\"n\":"), 1);
	assert_int_equal(place_sum(p, "b.out", "{\"n\":"), 2);
	run("umount %s/disk", p->folder);
	buf_free(&text);
}

/* Standard error is a file on a disk that is full for a while: what it lost is told behind that. */
static void test_full_log(void **state)
{
	struct place *p = *state;
	char command[512], name[32];
	const char *argv[] = { "/bin/sh", "-c", command, NULL };

	if (geteuid() != 0) {
		print_message("SKIP: needs root to mount\n");
		skip();
	}
	mount_disk(p, 1);
	mkdir(place_path(p, "queries"), 0755);
	snprintf(command, sizeof(command), "exec %s watch --socket %s %s/queries 2>%s/disk/log",
		 proc_ebql(), p->socket, p->folder, p->folder);
	proc_start(&p->session->ebql, argv, 0);
	wait_text(p, "disk/log", "queries run\n");
	for (u32 i = 0; i < 40; i++) {
		snprintf(name, sizeof(name), "queries/bad%02u.sql", i);
		place_write(p, name, "SELECT nothing FROM run_queue");
	}
	place_wait_status(p, "bad39.sql:1:8");
	widen_disk(p);
	place_write(p, "queries/last.sql", "SELECT nothing FROM run_queue");
	wait_text(p, "disk/log", "last.sql:1:8");
	wait_text(p, "disk/log", "\nebql: up to ");
	wait_text(p, "disk/log",
		  " bytes of messages before this are lost: No space left on device\n");
	place_end(p, SIGTERM, 1);
	run("umount %s/disk", p->folder);
}

enum { N_ROWS = 400, ROW_BYTES = 20000 };

/* Rows faster than standard error takes them: each is there whole, or counted. */
static void test_many_rows(void **state)
{
	struct place *p = *state;
	struct proc *ebql = &p->session->ebql;
	u64 n_whole = 0, n_told = 0;
	struct buf status;
	FILE *file;

	file = fopen(place_path(p, "rows.csv"), "we");
	fputs("n,t\n", file);
	for (u32 i = 0; i < N_ROWS; i++)
		fprintf(file, "%u,%0*u\n", i, ROW_BYTES, i);
	assert_int_equal(fclose(file), 0);
	place_start(p, p->folder, NULL);
	place_write(p, "a.sql",
		    "SELECT n, t FROM '%s/rows.csv' WITH (out = 'json:/dev/null', on_row = 'log')",
		    p->folder);
	/* Nobody reads meanwhile. */
	buf_init(&status);
	do {
		usleep(20000);
		place_status(p, true, &status);
	} while (!strstr(status.at, "\"state\":\"ended\""));
	buf_free(&status);
	/* It is told without anything else to say. */
	assert_true(proc_wait_text(ebql, "took no room here\n", LIMIT_MS));
	place_end(p, SIGTERM, 0);
	for (char *line, *rest = ebql->err_text.at; (line = strsep(&rest, "\n"));) {
		n_whole += strncmp(line, "ebql: a: row: {", 15) == 0 && strlen(line) > ROW_BYTES &&
			   line[strlen(line) - 1] == '}';
		if (strstr(line, " messages before this took no room here"))
			n_told += strtoull(line + 6, NULL, 10);
	}
	assert_true(n_told > 0);
	assert_int_equal(n_whole + n_told, N_ROWS);
}

/* A text that cannot be read, or is none, leaves the query as it was, and is told once. */
static void test_unreadable(void **state)
{
	struct place *p = *state;

	session_require();
	place_write(p, "a.sql",
		    "SELECT count(*) AS n " CALLS "WINDOW TUMBLING 10ms "
		    "WITH (out = 'json:%s/a.out')",
		    getpid(), p->folder);
	place_start(p, p->folder, NULL);
	place_call(100);
	run("truncate -s 17M %s/large && mv %s/large %s/a.sql", p->folder, p->folder, p->folder);
	place_said(p, "a.sql: its query runs on as it was before\n");
	place_call(100);
	run("mkfifo %s/fifo && mv %s/fifo %s/a.sql", p->folder, p->folder, p->folder);
	place_said(p, "is a FIFO: a query is read from a file\n");
	place_call(100);
	unlink(place_path(p, "a.sql"));
	place_write(p, "a.sql", "SELECT");
	place_said(p, "a.sql: its query runs on as it was before\n");
	place_call(100);
	unlink(place_path(p, "a.sql"));
	place_said(p, "a.sql: is gone, and so is its query\n");
	place_end(p, SIGTERM, 0);
	assert_int_equal(place_sum(p, "a.out", "{\"n\":"), 400);
}

/* Files that are moved away have successors, also where only root's rights lead to. */
static void test_rotated(void **state)
{
	struct place *p = *state;
	char path[128];

	session_require();
	run("mkdir %s/box && chown 65534 %s/box && chmod 700 %s/box", p->folder, p->folder,
	    p->folder);
	place_write(p, "a.sql",
		    "SELECT count(*) AS n " CALLS "WINDOW TUMBLING 10ms "
		    "WITH (out = 'json:%s/box/a.out')",
		    getpid(), p->folder);
	snprintf(path, sizeof(path), "%s", place_path(p, "box/audit"));
	place_start(p, p->folder, "--audit", path, NULL);
	place_call(100);
	for (u32 i = 0; i < 3; i++) {
		run("cd %s/box && cat audit >>audits && mv audit audit.1 && cat a.out >>outs && "
		    "mv a.out a.%u",
		    p->folder, i);
		proc_signal(&p->session->ebql, SIGHUP);
		while (access(path, F_OK) || access(place_path(p, "box/a.out"), F_OK))
			proc_pump(5);
		place_call(100);
	}
	place_end(p, SIGTERM, 0);
	run("cd %s/box && cat a.0 a.1 a.2 a.out >all && cat audits audit >lines", p->folder);
	assert_int_equal(place_sum(p, "box/all", "{\"n\":"), 400);
	assert_int_equal(place_sum(p, "box/lines", ",\"matched\":"), 400);
	assert_null(strstr(p->session->ebql.err_text.at, "not opened anew"));
}

/* Hours come when the clock says so, again where it is set back, and not where they are skipped. */
static void test_clock(void **state)
{
	struct place *p = *state;
	time_t start = time(NULL) + 3600, stop = start + 3600;
	char from[16], to[16];
	struct tm tm;

	setenv("TZ", "UTC", 1);
	strftime(from, sizeof(from), "%T", gmtime_r(&start, &tm));
	strftime(to, sizeof(to), "%T", gmtime_r(&stop, &tm));
	place_write(p, "rows.csv", "time,n\n1,5\n");
	place_write(p, "a.sql",
		    "SELECT sum(n) AS n FROM '%s/rows.csv' "
		    "WITH (start = '%s', stop = '%s', out = 'json:%s/a.out')",
		    p->folder, from, to, p->folder);
	place_start_clock(p, "a.sql", CLOCK_LIBRARY);
	place_wait_status(p, "\"state\":\"waits\",\"windows\":0");
	place_set_clock(p, 4000);
	place_said(p, "a.sql: its query runs\n");
	place_wait_status(p, "\"state\":\"waits\",\"windows\":1");
	/* Once in its hours. */
	place_set_clock(p, 4100);
	place_set_clock(p, 0);
	place_set_clock(p, 4000);
	place_said(p, "a.sql: its query runs\n");
	place_wait_status(p, "\"state\":\"waits\",\"windows\":1");
	place_set_clock(p, 0);
	place_set_clock(p, 3 * 3600);
	place_wait_status(p, "\"state\":\"waits\",\"windows\":1");
	place_end(p, SIGTERM, 0);
	assert_int_equal(place_sum(p, "a.out", "{\"n\":"), 10);
	unsetenv("TZ");
}

/* The end does not wait for a command longer than it says, and leaves nothing of it. */
static void test_end(void **state)
{
	struct place *p = *state;
	u64 start_ns, pid;

	place_write(p, "rows.csv", "time,n\n1,5\n2,6\n3,7\n");
	place_write(p, "a.sql",
		    "SELECT time, n FROM '%s/rows.csv' WITH (out = 'json:/dev/null', "
		    "on_row = 'shell:echo p=$$ >>%s/pids; sleep 1000 & exec sleep 1000', "
		    "on_row_limit = 1000s)",
		    p->folder, p->folder);
	place_start(p, p->folder, NULL);
	wait_text(p, "pids", "\n");
	pid = place_sum(p, "pids", "p=");
	assert_int_equal(kill((pid_t)pid, 0), 0);
	start_ns = base_monotonic_ns();
	proc_signal(&p->session->ebql, SIGTERM);
	place_said(p, "not waited for any longer, 2 rows waited\n");
	place_end(p, 0, 0);
	assert_true(base_monotonic_ns() - start_ns < 30000000000ull);
	/* One command was started, and its group is gone. */
	assert_int_equal(place_sum(p, "pids", "p="), pid);
	while (kill(-(pid_t)pid, 0) == 0)
		proc_pump(5);
	assert_int_equal(errno, ESRCH);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, place_setup, place_teardown)
	static const struct CMUnitTest tests[] = {
		TEST(test_full_outputs), TEST(test_full_log), TEST(test_many_rows),
		TEST(test_unreadable),	 TEST(test_rotated),  TEST(test_clock),
		TEST(test_end),
	};

	return cmocka_run_group_tests_name("watch_bad", tests, NULL, NULL);
}
