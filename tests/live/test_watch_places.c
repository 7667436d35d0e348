/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * ebql watch: messages that nobody takes, files that did not change, names of any bytes, and its
 * socket's name.
 */
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "place.h"

/* Neither what user space computes for long nor a survey holds another query up. */
static void test_slow(void **state)
{
	struct place *p = *state;
	char said[256];
	u64 start_ns;

	session_require();
	place_write(p, "a.sql",
		    "SELECT count(*) AS n " CALLS
		    "WINDOW TUMBLING 10ms WITH (out = 'json:%s/a.out')",
		    getpid(), p->folder);
	place_start(p, p->folder, NULL);
	place_write(p, "slow.sql",
		    "SELECT count(*) AS n FROM (SELECT tid AS t " CALLS ") AS a, "
		    "(SELECT tid AS t " CALLS ") AS b, (SELECT tid AS t " CALLS ") AS c "
		    "WHERE a.t + b.t + c.t > 5 WINDOW TUMBLING 300ms",
		    getpid(), getpid(), getpid());
	place_said(p, "slow.sql: its query runs\n");
	/* However a window cuts them. */
	place_call(20000);
	snprintf(said, sizeof(said), "other queries wait for it\n  %s:1:1\n",
		 place_path(p, "slow.sql"));
	place_said(p, said);
	start_ns = base_monotonic_ns();
	place_write(p, "survey.sql",
		    "SET survey = 10s; SELECT count(*) AS n FROM syscall:read WINDOW TUMBLING 10ms "
		    "WITH (out = 'json:/dev/null')");
	place_said(p, "survey.sql: its query runs\n");
	assert_true(base_monotonic_ns() - start_ns < 9000000000ull);
	place_call(500);
	place_end(p, SIGTERM, 1);
	assert_int_equal(place_sum(p, "a.out", "\"n\":"), 20500);
}

/* What standard error has no room for stops nobody, and is told of once it has. */
static void test_messages(void **state)
{
	struct place *p = *state;
	struct proc *ebql = &p->session->ebql;
	char name[32];
	struct buf text;
	u32 n_looks = 0;
	double n;

	session_require();
	place_write(p, "a.sql",
		    "SELECT count(*) AS n " CALLS
		    "WINDOW TUMBLING 10ms WITH (out = 'json:%s/a.out')",
		    getpid(), p->folder);
	place_start(p, p->folder, NULL);
	assert_int_equal(fcntl(ebql->err, F_SETPIPE_SZ, 4096), 4096);
	for (u32 i = 0; i < 40; i++) {
		snprintf(name, sizeof(name), "bad%02u.sql", i);
		place_write(p, name, "SELECT nothing FROM run_queue");
	}
	buf_init(&text);
	do {
		usleep(20000);
		place_status(p, true, &text);
	} while (!strstr(text.at, "bad39.sql:1:8") && n_looks++ < LIMIT_MS / 20);
	n = place_figure(text.at, "a", "\"windows\":");
	place_call(1000);
	do {
		usleep(20000);
		place_status(p, true, &text);
	} while (place_figure(text.at, "a", "\"windows\":") < n + 3 && n_looks++ < LIMIT_MS / 20);
	assert_true(n_looks < LIMIT_MS / 20);
	proc_signal(ebql, SIGTERM);
	usleep(100000);
	place_said(p, "bad39.sql:1:8");
	place_end(p, 0, 1);
	assert_int_equal(place_sum(p, "a.out", "\"n\":"), 1000);
	buf_free(&text);
}

/* A file is read again only where it may be another: so says who watches it being opened. */
static void test_unread(void **state)
{
	struct place *p = *state;
	struct pollfd opened;
	char bytes[4096];

	place_write(p, "rows.csv", "time,n\n1,5\n2,6\n3,7\n");
	place_write(p, "a.sql", "SELECT sum(n) AS n FROM '%s/rows.csv'", p->folder);
	place_start(p, p->folder, "-o", "json", NULL);
	/* Older than any change that its time does not tell. */
	usleep(1500000);
	place_write(p, "b.sql", "SELECT sum(n) AS n FROM '%s/rows.csv'", p->folder);
	place_said(p, "b.sql: its query runs\n");
	opened = (struct pollfd){ inotify_init1(IN_CLOEXEC | IN_NONBLOCK), POLLIN };
	assert_true(opened.fd >= 0);
	assert_true(inotify_add_watch(opened.fd, place_path(p, "a.sql"), IN_OPEN) >= 0);
	for (u32 i = 0; i < 3; i++) {
		place_write(p, "b.sql", "SELECT sum(n) + %u AS n FROM '%s/rows.csv'", i, p->folder);
		place_said(p, "b.sql: its query runs");
	}
	assert_int_equal(poll(&opened, 1, 0), 0);
	/* As long as before, and with its old time. */
	place_write(p, "next", "SELECT max(n) AS n FROM '%s/rows.csv'", p->folder);
	place_move(p, "next", "a.sql");
	place_said(p, "a.sql: its query runs");
	/* SIGHUP reads all. */
	assert_true(inotify_add_watch(opened.fd, place_path(p, "a.sql"), IN_OPEN) >= 0);
	while (read(opened.fd, bytes, sizeof(bytes)) > 0)
		;
	proc_signal(&p->session->ebql, SIGHUP);
	assert_int_equal(poll(&opened, 1, LIMIT_MS), 1);
	close(opened.fd);
	place_end(p, SIGTERM, 0);
}

/* Names may have any byte but '/': messages show those that a terminal would obey. */
static void test_names(void **state)
{
	struct place *p = *state;
	struct buf text;

	place_write(p, "rows.csv", "time,n\n1,5\n2,6\n3,7\n");
	mkdir(place_path(p, "q"), 0755);
	place_write(p, "q/\033[31m.sql", "SELECT n FROM '%s/rows.csv'", p->folder);
	place_write(p, "q/bad\033[31m\nebql: x.sql", "nonsense");
	place_write(p, "q/out.sql",
		    "SELECT n FROM '%s/rows.csv' WITH (out = 'json:/none\033[1m/x')", p->folder);
	assert_int_equal(mkfifo(place_path(p, "q/fifo\033[31m.sql"), 0600), 0);
	place_path(p, "q");
	p->session->ebql.sink = NULL;
	place_start(p, p->path, "-o", "table", NULL);
	place_write(p, "q/new\033[31m.sql", "SELECT n FROM '%s/rows.csv'", p->folder);
	if (!proc_wait_text(&p->session->ebql, "new\\x1b[31m.sql: its query runs\n", LIMIT_MS))
		fail_msg("%s", p->session->ebql.err_text.at);
	buf_init(&text);
	place_status(p, false, &text);
	assert_null(strchr(text.at, '\033'));
	assert_null(strstr(text.at, "\nebql: x"));
	assert_non_null(strstr(text.at, "fifo\\x1b[31m.sql: is a FIFO"));
	place_end(p, SIGTERM, 1);
	assert_null(strchr(p->session->ebql.err_text.at, '\033'));
	assert_null(strstr(p->session->ebql.err_text.at, "\nebql: x"));
	assert_null(strchr(p->session->ebql.out_text.at, '\033'));
	assert_non_null(strstr(p->session->ebql.out_text.at, "\\x1b[31m:\n"));
	buf_free(&text);
}

/* Who ends takes his own name away, not that of another who came to the place. */
static void test_socket(void **state)
{
	struct place *p = *state;
	const char *argv[] = { proc_ebql(), "watch", "--socket", p->socket, p->folder, NULL };
	struct proc *first = &p->session->load;

	place_write(p, "a.sql", "nonsense");
	proc_start(first, argv, 0);
	assert_true(proc_wait_text(first, "queries run\n", LIMIT_MS));
	unlink(p->socket);
	place_start(p, p->folder, NULL);
	proc_signal(first, SIGTERM);
	assert_int_equal(proc_wait_exit(first, LIMIT_MS), 1);
	place_wait_status(p, "\"queries\":1");
	place_end(p, SIGTERM, 1);
}

/* Nothing is written behind an Arrow stream, also where it has not begun yet. */
static void test_arrow(void **state)
{
	static const char wide[] =
		"SELECT cpu, count(*) AS m " CALLS
		"GROUP BY cpu WINDOW TUMBLING 10ms WITH (out = '%s:%s/a.arrows')";
	struct place *p = *state;
	char command[256];

	session_require();
	place_write(p, "a.sql",
		    "SELECT count(*) AS n " CALLS
		    "WINDOW TUMBLING 1h WITH (out = 'arrow:%s/a.arrows')",
		    getpid(), p->folder);
	place_start(p, p->folder, NULL);
	place_call(100);
	place_write(p, "a.sql", wide, getpid(), "arrow", p->folder);
	place_said(p, "a.sql: its query runs on as it was before\n");
	place_wait_status(p, "nothing can be written behind an Arrow stream\\n");
	place_write(p, "a.sql", wide, getpid(), "json", p->folder);
	place_said(p, "a.sql: its query runs on as it was before\n");
	place_wait_status(p, "nothing can be written behind an Arrow stream\\n");
	place_call(200);
	/* Moved away it is the old form's alone. */
	place_move(p, "a.arrows", "old.arrows");
	place_write(p, "a.sql", wide, getpid(), "arrow", p->folder);
	place_said(p, "a.sql: its query runs in its new form\n");
	place_call(400);
	place_end(p, SIGTERM, 0);
	for (u32 i = 0; i < 2; i++) {
		snprintf(command, sizeof(command),
			 "%s -o json \"SELECT sum(%s) AS s FROM '%s/%s.arrows'\" | "
			 "grep -q '\"s\":%u[,}]'",
			 proc_ebql(), i ? "m" : "n", p->folder, i ? "a" : "old", i ? 400 : 300);
		assert_int_equal(system(command), 0);
	}
}

/* An output is the next one's once it is left: by a file that has another name, by two that swap.
 */
static void test_left(void **state)
{
	static const char query[] =
		"SELECT count(*) AS %s " CALLS "WINDOW TUMBLING 10ms WITH (out = 'json:%s/%s')";
	struct place *p = *state;

	session_require();
	place_write(p, "a.sql", query, "n", getpid(), p->folder, "1.out");
	place_start(p, p->folder, NULL);
	place_move(p, "a.sql", "b.sql");
	place_said(p, "b.sql: its query runs\n");
	place_call(100);
	place_write(p, "c.sql", query, "m", getpid(), p->folder, "2.out");
	place_said(p, "c.sql: its query runs\n");
	place_call(200);
	place_write(p, "b.sql", query, "n", getpid(), p->folder, "2.out");
	place_said(p, "b.sql: its query runs on as it was before\n");
	place_write(p, "c.sql", query, "m", getpid(), p->folder, "1.out");
	place_said(p, "b.sql: its query runs in its new form\n");
	place_call(400);
	place_end(p, SIGTERM, 0);
	assert_int_equal(place_sum(p, "1.out", "\"n\":"), 300);
	assert_int_equal(place_sum(p, "2.out", "\"m\":"), 200);
	assert_int_equal(place_sum(p, "2.out", "\"n\":"), 400);
	assert_int_equal(place_sum(p, "1.out", "\"m\":"), 400);
}

/* A file that is named by several paths runs once. */
static void test_once(void **state)
{
	struct place *p = *state;
	char file[128], folder[128], link[128];
	struct buf text;

	place_write(p, "rows.csv", "time,n\n1,5\n2,6\n3,7\n");
	place_write(p, "a.sql", "SELECT n FROM '%s/rows.csv'", p->folder);
	snprintf(file, sizeof(file), "%s", place_path(p, "a.sql"));
	snprintf(folder, sizeof(folder), "%s", place_path(p, "."));
	snprintf(link, sizeof(link), "%s", place_path(p, "link"));
	assert_int_equal(symlink(p->folder, link), 0);
	p->session->ebql.sink = NULL;
	place_start(p, p->folder, file, folder, link, NULL);
	buf_init(&text);
	place_status(p, true, &text);
	assert_non_null(strstr(text.at, "\"queries\":1,"));
	buf_free(&text);
	place_end(p, SIGTERM, 0);
}

/* What is wrong is told with the file, and of an output with its place; a device is for many. */
static void test_told(void **state)
{
	struct place *p = *state;
	struct proc *ebql = &p->session->ebql;
	const char *argv[] = {
		"/bin/sh",
		"-c",
		"ulimit -n 20; exec \"$0\" watch --socket \"$1\" \"$2\" /none/a /none/b",
		proc_ebql(),
		p->socket,
		p->folder,
		NULL
	};
	struct buf text;

	session_require();
	for (u32 i = 0; i < 2; i++)
		place_write(p, i ? "null.sql" : "also.sql",
			    "SELECT tid FROM run_queue WITH (out = 'json:/dev/null')");
	place_write(p, "none.sql", "SELECT tid FROM run_queue\nWITH (out = 'json:%s/none/x')",
		    p->folder);
	place_write(p, "name.sql", "SELECT tid FROM run_queue\nWITH (out = 'xml')");
	place_start(p, p->folder, NULL);
	buf_init(&text);
	place_status(p, true, &text);
	assert_non_null(strstr(text.at, "/none.sql:2:7"));
	assert_non_null(strstr(text.at, "/name.sql:2:7"));
	assert_null(strstr(text.at, "null.sql\nerror"));
	assert_null(strstr(text.at, "/dev/null: "));
	place_end(p, SIGTERM, 1);
	proc_forget(ebql);
	proc_start(ebql, argv, 0);
	if (!proc_wait_text(ebql, "queries run\n", LIMIT_MS) ||
	    !strstr(ebql->err_text.at, "error[limit-reached]") ||
	    !strstr(ebql->err_text.at,
		    "waiting for /none/a, which is not there, and for 1 more\n") ||
	    !strstr(ebql->err_text.at, "/null.sql\n"))
		fail_msg("%s", ebql->err_text.at);
	place_end(p, SIGTERM, 1);
	buf_free(&text);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, place_setup, place_teardown)
	static const struct CMUnitTest tests[] = {
		TEST(test_messages), TEST(test_slow),	TEST(test_unread),
		TEST(test_names),    TEST(test_socket), TEST(test_arrow),
		TEST(test_left),     TEST(test_told),	TEST(test_once),
	};

	return cmocka_run_group_tests_name("watch_places", tests, NULL, NULL);
}
