/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What a run tells who sits at a terminal, on standard error: what it is attached to, how far it
 * is; and nobody else.
 */
#include <pty.h>
#include <signal.h>

#include "cli/host.h"
#include "cli/live.h"
#include "terminal.h"

#define N_FDS	 7
#define N_ROUNDS 5
#define FIRST_FD 1000

/* Totals of what this process does: call() makes N_FDS * N_ROUNDS calls, of as many groups. */
static void totals_text(char *text, size_t n, const char *more)
{
	snprintf(text, n,
		 "SELECT fd, count(*) AS n FROM tracepoint:syscalls:sys_enter_fsync WHERE pid = %d "
		 "AND fd >= %d GROUP BY fd%s",
		 getpid(), FIRST_FD, more);
}

static void call(void)
{
	for (int i = 0; i < N_FDS * N_ROUNDS; i++)
		assert_int_equal(fsync(FIRST_FD + i % N_FDS), -1);
}

static void test_totals(void **state)
{
	struct terminal *t = *state;
	char text[256];
	size_t from;

	NEEDS_ROOT();
	totals_text(text, sizeof(text), "");
	start_words(t, 80, (char *const[]){ EBQL_BINARY, text, NULL });
	expect(t, "ebql: until ^C, attached to ");
	expect(t, "sys_enter");
	expect(t, "\r\n");
	call();
	from = t->at;
	expect(t, "\rebql: 1 s: ");
	expect(t, " 35 matched, 7 groups");
	expect(t, "\rebql: 2 s: ");
	expect(t, " 35 matched, 7 groups");
	/* In its place, and gone where the table begins. */
	assert_null(memchr(t->seen.at + from, '\n', t->at - from));
	key(t, CTRL('C'));
	expect(t, "   \r");
	from = t->at;
	expect(t, "matched 35\r\n");
	assert_false(has_seen(t, from, "ebql"));
	for (int i = 0; i < N_FDS; i++)
		expect(t, "5\r\n");
	assert_int_equal(ended(t), 0);
}

/* A run that has an end of its own says so by not naming ^C; with windows there is no other line.
 */
static void test_windows(void **state)
{
	struct terminal *t = *state;
	char text[256];

	NEEDS_ROOT();
	totals_text(text, sizeof(text), " WINDOW TUMBLING 100ms");
	start_words(t, 80, (char *const[]){ EBQL_BINARY, "-d", "1.2s", text, NULL });
	expect(t, "ebql: attached to ");
	expect(t, "\n");
	assert_int_equal(ended(t), 0);
	assert_false(has_seen(t, t->at, "ebql:"));
}

static void test_quiet(void **state)
{
	struct terminal *t = *state;
	char text[256];

	NEEDS_ROOT();
	totals_text(text, sizeof(text), "");
	start_words(t, 80, (char *const[]){ EBQL_BINARY, "-q", "-d", "1.2s", text, NULL });
	assert_int_equal(ended(t), 0);
	assert_false(has_seen(t, 0, "ebql:"));
	/* A command has the terminal for itself, but for the first line. */
	start_words(t, 80,
		    (char *const[]){ EBQL_BINARY, text, "--", "sh", "-c", "sleep 1.2; echo done",
				     NULL });
	expect(t, "ebql: attached to ");
	expect(t, "\r\ndone\r\n");
	assert_int_equal(ended(t), 0);
}

static u64 n_switches(int pid)
{
	char path[64], line[128];
	unsigned long long n = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	file = fopen(path, "r");
	assert_non_null(file);
	while (fgets(line, sizeof(line), file))
		if (sscanf(line, "voluntary_ctxt_switches: %llu", &n) == 1)
			break;
	fclose(file);
	return n;
}

/* Where results go into a pipe nothing is told, though standard error is a terminal; and nothing
 * wakes up for it. */
static void test_pipe(void **state)
{
	struct terminal *t = *state;
	char text[256], command[400], word[32] = "";
	u64 n;

	NEEDS_ROOT();
	totals_text(text, sizeof(text), "");
	/* The number of the process that runs the query; "-v" says when it is attached. */
	snprintf(command, sizeof(command),
		 "{ sh -c 'echo pid $$ >&2; exec %s -v \"$0\"' \"%s\"; } | cat", EBQL_BINARY, text);
	start_words(t, 80, (char *const[]){ "sh", "-c", command, NULL });
	expect(t, "pid ");
	while (!memchr(t->seen.at + t->at, '\n', t->seen.n - t->at))
		assert_true(read_more(t));
	snprintf(word, sizeof(word), "%.20s", t->seen.at + t->at);
	expect(t, "attached: load ");
	expect(t, "\r\n");
	usleep(300000); /* for it to sleep */
	n = n_switches(atoi(word));
	usleep(2200000);
	assert_int_equal(n_switches(atoi(word)), n);
	kill(atoi(word), SIGINT);
	expect(t, "matched 0");
	assert_int_equal(ended(t), 0);
	assert_false(has_seen(t, 0, "ebql: "));
}

/* Attaching to many functions, where that takes longer than a second. */
static void attach_slowly(int out_fd)
{
	setenv("NO_COLOR", "1", 1);
	live_open(out_fd);
	host_say_progress = live_say_progress;
	host_tell_progress("attaching to", "vfs_*", 1, 10000);
	host_tell_progress("attaching to", "vfs_*", 2, 10000);
	usleep(1001000);
	host_tell_progress("attaching to", "vfs_*", 5000, 10000);
	live_clear();
	fputs("attached\n", stderr);
	_exit(0);
}

static void test_progress(void **state)
{
	struct terminal *t = *state;
	int pipes[2];

	assert_int_equal(pipe(pipes), 0);
	for (u32 i = 0; i < 2; i++) {
		t->at = 0;
		buf_reset(&t->seen);
		t->pid = forkpty(&t->fd, NULL, NULL, NULL);
		assert_true(t->pid >= 0);
		if (t->pid == 0)
			attach_slowly(i ? pipes[1] : STDERR_FILENO);
		if (!i)
			expect(t, "\rebql: attaching to vfs_*: 5,000 of 10,000 functions\r   ");
		expect(t, "attached\r\n");
		assert_int_equal(has_seen(t, 0, "functions"), !i);
		assert_false(has_seen(t, 0, ": 2 of"));
		assert_int_equal(ended(t), 0);
	}
	close(pipes[0]);
	close(pipes[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_totals, setup_idle, teardown),
		cmocka_unit_test_setup_teardown(test_windows, setup_idle, teardown),
		cmocka_unit_test_setup_teardown(test_quiet, setup_idle, teardown),
		cmocka_unit_test_setup_teardown(test_pipe, setup_idle, teardown),
		cmocka_unit_test_setup_teardown(test_progress, setup_idle, teardown),
	};

	return cmocka_run_group_tests_name("terminal", tests, NULL, NULL);
}
