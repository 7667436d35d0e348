/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What a run tells who sits at a terminal, on standard error: what it is attached to, how far it
 * is; and nobody else.
 */
#include <pty.h>
#include <signal.h>

#include "cli/live.h"
#include "host/host.h"
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
			expect(t, "\rebql: attaching to vfs_*: 5,000 of 10,000 places\r   ");
		expect(t, "attached\r\n");
		assert_int_equal(has_seen(t, 0, " places"), !i);
		assert_false(has_seen(t, 0, ": 2 of"));
		assert_int_equal(ended(t), 0);
	}
	close(pipes[0]);
	close(pipes[1]);
}

/* --- Lists --- */

/* What has more lines than the terminal goes through the pager; the rest, and a pipe's, does not.
 */
static void test_pager(void **state)
{
	static char *const commands[] = { EBQL_BINARY " tools",
					  EBQL_BINARY " list --catalog " CATALOG,
					  EBQL_BINARY " describe --catalog " CATALOG
						      " tracepoint:syscalls:sys_enter_read",
					  EBQL_BINARY " tools | cat",
					  "PAGER= " EBQL_BINARY " tools",
					  "PAGER=no-such-program " EBQL_BINARY " tools" };
	struct terminal *t = *state;

	setenv("PAGER", "wc -l | sed s/^/paged:/", 1);
	for (u32 i = 0; i < ARRAY_SIZE(commands); i++) {
		start_words(t, 80, (char *const[]){ "sh", "-c", commands[i], NULL });
		assert_int_equal(ended(t), 0);
		assert_int_equal(has_seen(t, 0, "paged:"), i < 2);
		assert_int_equal(has_seen(t, 0, "biolatency"), i >= 3);
	}
	unsetenv("PAGER");
}

/* --- Widths --- */

/* No line that was printed is wider than the terminal, so none is wrapped.  UTF-8, no escapes. */
static void check_widths(const struct terminal *t, u32 columns)
{
	u32 width = 0;

	for (size_t i = 0; i < t->seen.n; i++) {
		u8 c = (u8)t->seen.at[i];

		width = c == '\r' || c == '\n' ? 0 : width + ((c & 0xc0) != 0x80);
		if (width > columns)
			fail_msg("wider than %u: %.*s", columns, (int)MIN(i, 400u),
				 t->seen.at + i - MIN(i, 400u));
	}
}

static void test_widths(void **state)
{
	static const char *const queries[] = {
		"SELECT * FROM block_io",
		"SELECT kstack, count(*) FROM sched_switch GROUP BY kstack",
		"SELECT comm, pid, tid, cpu, prev_comm, next_comm, histogram(next_pid) AS h, "
		"quantiles(next_prio, 0.5, 0.99) FROM sched_switch GROUP BY 1, 2, 3, 4, 5, 6 "
		"WINDOW TUMBLING 200ms",
	};
	static char *const tools[] = { "runqlat", "syscount", "pidpersec" };
	struct terminal *t = *state;

	NEEDS_ROOT();
	for (u32 wide = 0; wide < 2; wide++) {
		u16 columns = wide ? 200 : 80;

		for (u32 i = 0; i < ARRAY_SIZE(queries); i++) {
			start_words(t, columns,
				    (char *const[]){ EBQL_BINARY, "-d", "300ms", (char *)queries[i],
						     NULL });
			ended(t);
			assert_false(has_seen(t, 0, "error["));
			check_widths(t, columns);
		}
		for (u32 i = 0; i < ARRAY_SIZE(tools); i++) {
			start_words(t, columns,
				    (char *const[]){ EBQL_BINARY, tools[i], "-d", "300ms", NULL });
			ended(t);
			assert_true(has_seen(t, 0, "matched"));
			check_widths(t, columns);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_totals, setup_idle, teardown),
		cmocka_unit_test_setup_teardown(test_windows, setup_idle, teardown),
		cmocka_unit_test_setup_teardown(test_quiet, setup_idle, teardown),
		cmocka_unit_test_setup_teardown(test_pipe, setup_idle, teardown),
		cmocka_unit_test_setup_teardown(test_pager, setup_idle, teardown),
		cmocka_unit_test_setup_teardown(test_widths, setup_idle, teardown),
		cmocka_unit_test_setup_teardown(test_progress, setup_idle, teardown),
	};

	return cmocka_run_group_tests_name("terminal", tests, NULL, NULL);
}
