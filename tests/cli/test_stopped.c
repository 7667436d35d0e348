/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * An output that stops reading: a pipe, a terminal, one that ^S stopped.  ebql is told to end
 * and ends, by one signal, and says by its exit status whether anything was not written.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "base/buf.h"
#include "root.h"

#define N_ROWS	 200000
#define LIMIT_NS 60000000000ull

static char file_path[] = "/tmp/ebql-test-XXXXXX.csv";
static char select_all[128];

/* Rows of 22 bytes: far more than a pipe or a terminal holds. */
static int write_file(void **state)
{
	int fd = mkstemps(file_path, 4);
	FILE *file = fdopen(fd, "w");

	assert_non_null(file);
	fputs("time,same\n", file);
	for (u32 i = 0; i < N_ROWS; i++)
		fprintf(file, "%u,abcdefghijkl\n", i);
	assert_int_equal(fclose(file), 0);
	snprintf(select_all, sizeof(select_all), "SELECT time, same FROM '%s'", file_path);
	return 0;
}

static int remove_file(void **state)
{
	return unlink(file_path);
}

static void run(int out)
{
	dup2(out, STDOUT_FILENO);
	execl(EBQL_BINARY, EBQL_BINARY, "-o", "csv", select_all, NULL);
	_exit(127);
}

/* out: standard output; is_terminal: it is all three, and the terminal of a session. */
static pid_t start(int out, bool is_terminal)
{
	pid_t child = fork();

	assert_true(child >= 0);
	if (child)
		return child;
	if (is_terminal) {
		setsid();
		ioctl(out, TIOCSCTTY, 0);
		dup2(out, STDIN_FILENO);
		dup2(out, STDERR_FILENO);
	}
	run(out);
	return 0;
}

static bool is_asleep(pid_t child)
{
	char path[64], text[512] = "";
	const char *state;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/stat", child);
	file = fopen(path, "r");
	assert_non_null(file);
	assert_true(fread(text, 1, sizeof(text) - 1, file) > 0);
	fclose(file);
	state = strrchr(text, ')');
	return state && state[2] == 'S';
}

/* Until the output is full: it sleeps, each time it is looked at. */
static void wait_until_full(pid_t child)
{
	u64 end_ns = base_monotonic_ns() + LIMIT_NS;

	for (u32 n_asleep = 0; n_asleep < 20;) {
		assert_true(base_monotonic_ns() < end_ns);
		usleep(10000);
		n_asleep = is_asleep(child) ? n_asleep + 1 : 0;
	}
}

/* Its status; what it writes to `from` meanwhile goes into `to` (NULL: it is not read). */
static int wait_for_status(pid_t child, int from, struct buf *to)
{
	u64 end_ns = base_monotonic_ns() + LIMIT_NS;
	char chunk[65536];
	ssize_t n;
	int status;

	/* ^C drops what a terminal has not shown, also what was there to be read. */
	if (to)
		fcntl(from, F_SETFL, O_NONBLOCK);
	while (waitpid(child, &status, WNOHANG) == 0) {
		struct pollfd ready = { .fd = from, .events = POLLIN };

		if (base_monotonic_ns() >= end_ns) {
			kill(child, SIGKILL);
			waitpid(child, &status, 0);
			fail_msg("it did not end");
		}
		if (!to)
			usleep(10000);
		else if (poll(&ready, 1, 10) > 0 && (n = read(from, chunk, sizeof(chunk))) > 0)
			buf_put(to, chunk, (size_t)n);
	}
	return status;
}

static int wait_for_end(pid_t child, int from, struct buf *to)
{
	int status = wait_for_status(child, from, to);

	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void read_rest(int fd, struct buf *to)
{
	char chunk[65536];
	ssize_t n;

	while ((n = read(fd, chunk, sizeof(chunk))) > 0)
		buf_put(to, chunk, (size_t)n);
	close(fd);
}

/* --- A pipe --- */

static void open_pipe(int ends[2])
{
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	assert_true(fcntl(ends[1], F_SETPIPE_SZ, 4096) >= 0);
}

static void test_pipe(void **state)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP };

	for (u32 i = 0; i < ARRAY_SIZE(signals); i++) {
		int ends[2];
		pid_t child;

		open_pipe(ends);
		child = start(ends[1], false);
		close(ends[1]);
		wait_until_full(child);
		kill(child, signals[i]);
		assert_int_equal(wait_for_end(child, -1, NULL), 1);
		close(ends[0]);
	}
}

/* A second signal does not wait for the reader. */
static void test_second_signal(void **state)
{
	u64 from_ns, took_ns, first_ns = 0;

	for (u32 n = 1; n <= 2; n++) {
		int ends[2];
		pid_t child;

		open_pipe(ends);
		child = start(ends[1], false);
		close(ends[1]);
		wait_until_full(child);
		from_ns = base_monotonic_ns();
		kill(child, SIGINT);
		if (n > 1)
			kill(child, SIGTERM);
		assert_int_equal(wait_for_end(child, -1, NULL), 1);
		took_ns = base_monotonic_ns() - from_ns;
		if (n == 1)
			first_ns = took_ns;
		else
			assert_true(took_ns + 500000000 < first_ns);
		close(ends[0]);
	}
}

/* A third one ends it at once, also where no signal does that: the first process of a container. */
static void test_third_signal(void **state)
{
	for (u32 is_first = 0; is_first < 2; is_first++) {
		int ends[2], status;
		pid_t child;

		if (is_first)
			NEEDS_ROOT();
		open_pipe(ends);
		child = (pid_t)syscall(SYS_clone, SIGCHLD | (is_first ? CLONE_NEWPID : 0), 0, 0, 0,
				       0);
		assert_true(child >= 0);
		if (!child)
			run(ends[1]);
		close(ends[1]);
		wait_until_full(child);
		/* All three are there when it goes on. */
		kill(child, SIGSTOP);
		kill(child, SIGINT);
		kill(child, SIGTERM);
		kill(child, SIGHUP);
		kill(child, SIGCONT);
		status = wait_for_status(child, -1, NULL);
		assert_true(is_first ? WIFEXITED(status) && WEXITSTATUS(status) > 128
				     : WIFSIGNALED(status));
		close(ends[0]);
	}
}

/* The command has its second to end in, however long the output kept us. */
static void test_command(void **state)
{
	char done[64], command[200];
	int ends[2];
	pid_t child;

	NEEDS_ROOT();
	snprintf(done, sizeof(done), "%s.done", file_path);
	snprintf(command, sizeof(command),
		 "trap 'sleep 0.3; : >%s; exit 7' TERM; while :; do sleep 0.01; done", done);
	open_pipe(ends);
	child = fork();
	assert_true(child >= 0);
	if (!child) {
		dup2(ends[1], STDOUT_FILENO);
		execl(EBQL_BINARY, EBQL_BINARY, "-o", "csv",
		      "SELECT time, comm FROM raw_tracepoint:sched_switch", "--", "sh", "-c",
		      command, NULL);
		_exit(127);
	}
	close(ends[1]);
	wait_until_full(child);
	kill(child, SIGTERM);
	wait_for_end(child, -1, NULL);
	assert_int_equal(unlink(done), 0);
	close(ends[0]);
}

/* ebql overhead is told to end while it is stopped, and finds the command at its end, too. */
static void test_rounds(void **state)
{
	char runs[64], command[256];
	struct stat info;
	pid_t child;

	NEEDS_ROOT();
	snprintf(runs, sizeof(runs), "%s.runs", file_path);
	snprintf(command, sizeof(command),
		 "echo >>%s; kill -STOP $PPID; kill -INT $PPID; "
		 "(sleep 0.1; kill -CONT $PPID) >/dev/null 2>&1 &",
		 runs);
	child = fork();
	assert_true(child >= 0);
	if (!child) {
		execl(EBQL_BINARY, EBQL_BINARY, "overhead",
		      "SELECT count(*) FROM raw_tracepoint:sys_enter", "--", "sh", "-c", command,
		      NULL);
		_exit(127);
	}
	assert_int_equal(wait_for_end(child, -1, NULL), 1);
	assert_int_equal(stat(runs, &info), 0);
	assert_int_equal(info.st_size, 1);
	unlink(runs);
}

/* A reader that only paused has all rows that were read until the signal, each whole. */
static void test_pause(void **state)
{
	struct buf text;
	int ends[2];
	pid_t child;
	u32 n = 0;

	buf_init(&text);
	open_pipe(ends);
	child = start(ends[1], false);
	close(ends[1]);
	wait_until_full(child);
	kill(child, SIGTERM);
	usleep(100000);
	assert_int_equal(wait_for_end(child, ends[0], &text), 0);
	read_rest(ends[0], &text);
	for (const char *line = strchr(text.at, '\n'); line && line[1]; n++) {
		char wanted[64];

		snprintf(wanted, sizeof(wanted), "\n%u,abcdefghijkl\n", n);
		assert_int_equal(strncmp(line, wanted, strlen(wanted)), 0);
		line += strlen(wanted) - 1;
	}
	assert_in_range(n, 1, N_ROWS);
	buf_free(&text);
}

/* --- A terminal --- */

static void open_terminal(int *master, int *slave)
{
	struct termios raw;

	*master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	assert_true(*master >= 0);
	assert_int_equal(grantpt(*master) || unlockpt(*master), 0);
	*slave = open(ptsname(*master), O_RDWR | O_NOCTTY | O_CLOEXEC);
	assert_true(*slave >= 0);
	/* As a terminal begins: it obeys ^C and ^S, and makes CR LF of LF. */
	assert_int_equal(tcgetattr(*slave, &raw), 0);
	raw.c_lflag |= ISIG;
	raw.c_iflag |= IXON;
	raw.c_oflag |= OPOST | ONLCR;
	assert_int_equal(tcsetattr(*slave, TCSANOW, &raw), 0);
}

/*
 * Takes nothing more, also when it is asked again: the kernel moves what waits on to the reader,
 * and does not wake a writer for the room that this makes.
 */
static void fill(int slave)
{
	static const char rows[4096];
	int flags = fcntl(slave, F_GETFL);

	assert_int_equal(fcntl(slave, F_SETFL, flags | O_NONBLOCK), 0);
	for (u32 n_refused = 0; n_refused < 5;) {
		n_refused = write(slave, rows, sizeof(rows)) > 0 ? 0 : n_refused + 1;
		usleep(n_refused ? 10000 : 0);
	}
	assert_int_equal(fcntl(slave, F_SETFL, flags), 0);
}

/* Whoever shows it reads no more: a window that hangs, a connection that is gone. */
static void test_terminal(void **state)
{
	for (u32 is_stopped = 0; is_stopped < 2; is_stopped++) {
		int master, slave;
		pid_t child;

		open_terminal(&master, &slave);
		/* ^S, before a byte was written, complaints included. */
		if (is_stopped)
			assert_int_equal(tcflow(slave, TCOOFF), 0);
		else
			fill(slave);
		child = start(slave, true);
		wait_until_full(child);
		kill(child, SIGTERM);
		assert_int_equal(wait_for_end(child, -1, NULL), 1);
		close(slave);
		close(master);
	}
}

/* ^C sets a terminal going that ^S has stopped. */
static void test_keys(void **state)
{
	int master, slave;
	struct buf text;
	pid_t child;
	char chunk[4096];

	buf_init(&text);
	open_terminal(&master, &slave);
	child = start(slave, true);
	assert_true(read(master, chunk, sizeof(chunk)) > 0);
	assert_int_equal(write(master, "\x13", 1), 1);
	wait_until_full(child);
	assert_int_equal(write(master, "\x03", 1), 1);
	assert_int_equal(wait_for_end(child, master, &text), 0);
	close(slave);
	close(master);
	buf_free(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pipe),	     cmocka_unit_test(test_second_signal),
		cmocka_unit_test(test_third_signal), cmocka_unit_test(test_command),
		cmocka_unit_test(test_pause),	     cmocka_unit_test(test_terminal),
		cmocka_unit_test(test_keys),	     cmocka_unit_test(test_rounds),
	};

	return cmocka_run_group_tests_name("stopped", tests, write_file, remove_file);
}
