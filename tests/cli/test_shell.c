/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The shell on a pseudo terminal: keys in, the screen's bytes out.  Each wait is for a text
 * that must come, never for a time.  Queries on this kernel need root; the rest does not.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "terminal.h"

static void test_error(void **state)
{
	struct terminal *t = *state;

	expect(t, "ebql> ");
	type(t, "SELECT count(*)\r");
	expect(t, " ...> ");
	type(t, "  WHERE 'a; -- ;' = /* ; */ 'b';\r");
	expect(t, "error[missing-from]");
	expect(t, "query:1:1\r\n  SELECT count(*)\r\n  ^");
	line(t, "SET max_group = 3;");
	expect(t, "  SET max_group = 3;\r\n      ^^^^^^^^^");
	expect(t, "hint: did you mean \"max_groups\"?");
	line(t, "\\timin");
	expect(t, "ebql: there is no command \\timin\r\n  hint: did you mean \"\\timing\"?");
	line(t, "\\x maybe");
	expect(t, "\"maybe\" is neither on nor off");
	line(t, "help");
	expect(t, "\\timing [on|off]");
	line(t, "quit");
	assert_int_equal(ended(t), 0);
}

static void test_prompt(void **state)
{
	struct terminal *t = *state;
	size_t from;

	expect(t, "ebql> ");
	type(t, "SELECT 1 FROM");
	expect(t, "FROM");
	key(t, CTRL('C'));
	expect(t, "^C");
	expect(t, "ebql> ");
	/* The statement is gone, on all its lines. */
	from = t->at;
	type(t, "SELECT\r");
	expect(t, " ...> ");
	key(t, CTRL('C'));
	expect(t, "^C");
	line(t, ";;");
	expect(t, "ebql> ");
	assert_false(has_seen(t, from, "error"));
	key(t, CTRL('D'));
	assert_int_equal(ended(t), 0);
}

/* It ends by itself, not yet reaped, and the terminal is as it was before. */
static void expect_left(struct terminal *t, const struct termios *before)
{
	struct termios after;
	siginfo_t info;

	for (u32 ms = 0; ms < WAIT_MS; ms++) {
		info.si_pid = 0;
		waitid(P_PID, (id_t)t->pid, &info, WEXITED | WNOHANG | WNOWAIT);
		if (info.si_pid)
			break;
		usleep(1000);
	}
	assert_int_equal(info.si_pid, t->pid);
	assert_int_equal(tcgetattr(t->fd, &after), 0);
	assert_int_equal(after.c_lflag, before->c_lflag);
	assert_int_equal(ended(t), 0);
}

/* A terminal that is stopped keeps nobody from ending the shell, whatever waits to be shown. */
static void test_terminate(void **state)
{
	static const int signals[] = { SIGTERM, SIGHUP };
	struct terminal *t = *state;
	struct termios before, raw;

	for (u32 i = 0; i < 2 * ARRAY_SIZE(signals); i++) {
		if (i)
			start(t, NULL);
		assert_int_equal(tcgetattr(t->fd, &before), 0);
		expect(t, "ebql> ");
		type(t, "SEL");
		expect(t, "SEL");
		assert_int_equal(tcgetattr(t->fd, &raw), 0);
		assert_false(raw.c_lflag & ICANON);
		if (i >= ARRAY_SIZE(signals)) {
			key(t, CTRL('S'));
			type(t, "ECT");
			usleep(100000); /* for it to wait in there, most often */
		}
		kill(t->pid, signals[i % ARRAY_SIZE(signals)]);
		expect_left(t, &before);
	}
}

/* What a stopped terminal did not take is told there when it goes on, and the shell goes on, too.
 */
static void test_stopped(void **state)
{
	struct terminal *t = *state;

	NEEDS_ROOT();
	line(t, "SELECT count(*) AS n FROM " SWITCHES " WINDOW TUMBLING 50ms;");
	expect(t, "matched");
	key(t, CTRL('S'));
	usleep(200000);
	kill(t->pid, SIGINT);
	usleep(2500000); /* it waits for 2 s */
	key(t, CTRL('Q'));
	expect(t, "ebql: the output took no more: what was not written is lost");
	line(t, "\\z");
	expect(t, "there is no command");
	expect(t, "ebql> ");
	key(t, CTRL('D'));
	assert_int_equal(ended(t), 0);
}

/* Keys count in the order in which they are pressed, however fast they come. */
static void test_cancel_order(void **state)
{
	struct terminal *t = *state;

	for (u32 i = 0; i < 20; i++) {
		expect(t, "ebql> ");
		type(t, "SELECT \x03\\z\r");
		expect(t, "^C");
		expect(t, "there is no command \\z");
	}
	expect(t, "ebql> ");
	type(t, "\x03\x04");
	assert_int_equal(ended(t), 0);
}

static void test_complete_words(void **state)
{
	struct terminal *t = *state;
	char path[96], keys[200], text[200];
	FILE *file;

	expect_line(t, "\\ti\t", "ebql> \\timing !");
	expect_line(t, "SET max_g\t", "ebql> SET max_groups !");
	expect_line(t, "sel\tapprox_c\tx) DISTI\t",
		    "ebql> select approx_count_distinct(x) DISTINCT !");
	expect_line(t, "SELECT 1; S\tEL\t", "ebql> SELECT 1; SELECT !");
	expect_line(t, "SELECT 'sel\t", "ebql> SELECT 'sel!");
	expect_line(t, "SELECT com\t", "ebql> SELECT comm!");
	snprintf(path, sizeof(path), "%s/x.csv", t->state);
	file = fopen(path, "w");
	assert_non_null(file);
	fputs("first_one,second_one\n1,2\n", file);
	fclose(file);
	snprintf(keys, sizeof(keys), "SELECT 1 FROM '%s' WHERE secon\t", path);
	snprintf(text, sizeof(text), "ebql> SELECT 1 FROM '%s' WHERE second_one!", path);
	expect_line(t, keys, text);
	/* No streams are needed to know the views. */
	expect_line(t, "DESCRIBE block_i\t", "ebql> DESCRIBE block_io !");
}

static void test_complete_streams(void **state)
{
	struct terminal *t = *state;

	NEEDS_ROOT();
	expect_line(t, "SELECT pid FROM trace\tsched:sched_sw\ti\tWHERE prev_co\t",
		    "ebql> SELECT pid FROM tracepoint:sched:sched_switch WHERE prev_comm!");
	expect_line(t, "DESCRIBE t/sched/sched_swi\t", "ebql> DESCRIBE t/sched/sched_switch !");
	expect_line(t, "DESCRIBE kretp\tvfs_readv\t", "ebql> DESCRIBE kretprobe:vfs_readv !");
	expect_line(t, "DESCRIBE func\tvfs_readv\t", "ebql> DESCRIBE function:vfs_readv !");
	/* The source stands behind the word. */
	expect_line(t, "SELECT p99(queue_t FROM block_io\033b\033b\002\t",
		    "ebql> SELECT p99(queue_time! FROM block_io");
	expect(t, "ebql> ");
	type(t, "SELECT next_p FROM " SWITCHES "\033b\033b\033b\033b\002\t");
	expect(t, "next_pid   next_prio");
	key(t, CTRL('C'));
	expect(t, "^C");
	expect(t, "ebql> ");
	type(t, "DESCRIBE syscall:se\t");
	expect(t, "select ");
	expect(t, "sendto ");
	key(t, CTRL('C'));
	expect(t, "^C");
	/* Members behind a column, and behind the stream's name; of no path there are none. */
#define RQ "SELECT 1 FROM rt:block_rq_issue AS x WHERE "
	expect_line(t, RQ "rq.__data_l\t", "ebql> " RQ "rq.__data_len!");
	expect_line(t, RQ "x.rq.q.nr_requ\t", "ebql> " RQ "x.rq.q.nr_requests!");
	expect_line(t, RQ "x.r\t", "ebql> " RQ "x.rq!");
	expect_line(t, RQ "rq.nothing.__data_l\t", "ebql> " RQ "rq.nothing.__data_l!");
	/* On the next line, for the source of the line before. */
	expect(t, "ebql> ");
	type(t, "SELECT x FROM syscall:sendt\t\r");
	expect_line(t, "WHERE laten\t > 5 AND le\tn", " ...> WHERE latency > 5 AND len!");
}

/* ATTACH stays; a comment behind ";" begins no statement, one on its own lines does. */
static void test_attached(void **state)
{
	struct terminal *t = *state;
	char path[96], text[256];
	FILE *file;

	/* A file of nothing is a database of nothing. */
	snprintf(path, sizeof(path), "%s/ref.db", t->state);
	file = fopen(path, "w");
	assert_non_null(file);
	fclose(file);
	snprintf(path, sizeof(path), "%s/x.csv", t->state);
	file = fopen(path, "w");
	assert_non_null(file);
	fputs("a,zb\x1b[m,zc\n5,1,1\n", file);
	fclose(file);
	snprintf(text, sizeof(text), "ATTACH '%s/ref.db' AS ref; -- kept", t->state);
	line(t, text);
	snprintf(text, sizeof(text),
		 "SELECT a + 2, (SELECT count(*) FROM ref.sqlite_schema) + 70 FROM '%s'; /* x */",
		 path);
	for (u32 i = 0; i < 2; i++) {
		line(t, text);
		expect(t, "7 ");
		expect(t, "70");
	}
	/* Names of others are shown, and not obeyed. */
	snprintf(text, sizeof(text), "SELECT a FROM '%s' WHERE z\t\t", path);
	type(t, text);
	expect(t, "zb\\x1b[m  zc\r\n");
	key(t, CTRL('C'));
	snprintf(text, sizeof(text), "ATTACH '%s/ref.db' AS REF;", t->state);
	line(t, text);
	expect(t, "error[duplicate-name]: a database \"REF\" is attached already");
	line(t, "-- for the view");
	expect(t, " ...> ");
}

static void test_kept(void **state)
{
	struct terminal *t = *state;

	NEEDS_ROOT();
	line(t,
	     "SET rules_off = 'all'; CREATE VIEW mine AS SELECT next_pid AS p FROM " SWITCHES ";");
	line(t, "SHOW VIEWS LIKE 'mi%';");
	expect(t, "mine");
	line(t, "\\d mine");
	expect(t, "next_pid");
	expect_line(t, "SELECT q FROM mi\t", "ebql> SELECT q FROM mine !");
	line(t, "SELECT q FROM mine;");
	expect(t, "  SELECT q FROM mine;\r\n         ^\r\n");
	line(t, "CREATE VIEW mine AS SELECT 1 FROM mine;");
	expect(t, "error[view-exists]");
	line(t, "DROP VIEW mine;");
	line(t, "SELECT p FROM mine;");
	expect(t, "error[unknown-stream-kind]: mine is no stream, no view");
	line(t, "SET max_groups = 2;");
	line(t, "\\d 'sched:sched_swi*'");
	expect(t, SWITCHES);
	line(t, "\\d sched_switch");
	expect(t, "pid_t prev_pid");
	line(t, "\\d no_such_stream");
	expect(t, "no stream matches \"no_such_stream\"");
}

static void test_interrupt(void **state)
{
	struct terminal *t = *state;
	size_t from;

	NEEDS_ROOT();
	expect(t, "ebql> ");
	for (u32 i = 0; i < 3; i++) {
		type(t, "SELECT count(*) AS n FROM " SWITCHES "\r");
		expect(t, " ...> ");
		type(t, "WINDOW TUMBLING 50ms; SELECT never FROM never;\r");
		expect(t, "matched");
		expect(t, "matched");
		from = t->seen.n;
		key(t, CTRL('C'));
		/* The last window, then the prompt; what stood behind the query is dropped. */
		expect(t, "ebql> ");
		assert_true(has_seen(t, from, "matched"));
		assert_false(has_seen(t, from, "never"));
	}
	/* Totals come at the end alone. */
	type(t, "SELECT count(*) AS total FROM " SWITCHES ";\r");
	expect(t, "\n");
	key(t, CTRL('C'));
	expect(t, "ebql> ");
	key(t, CTRL('D'));
	assert_int_equal(ended(t), 0);
}

/* A ^C takes the keys before it away: one that the shell has been told of is not waited for. */
static void test_interrupt_keys(void **state)
{
	struct terminal *t = *state;

	for (u32 i = 0; i < 20000; i++) {
		expect(t, "ebql> ");
		type(t, "ab");
		/* At other moments of what is done for a key. */
		for (volatile u32 wait = 0; wait < i * 7 % 4000; wait++)
			;
		key(t, CTRL('C'));
		expect(t, "^C");
	}
}

/* ^Z stops it where a shell can continue it, and nowhere else. */
static void test_suspend(void **state)
{
	struct terminal *t = *state;

	expect(t, "ebql> ");
	type(t, "SELECT 3");
	expect(t, "SELECT 3");
	key(t, CTRL('Z'));
	expect(t, "SELECT 3");
	type(t, " + 4;\r");
	expect(t, " 7\r\n");
	line(t, "\\q");
	assert_int_equal(ended(t), 0);
	start_words(t, 200, (char *const[]){ "bash", "--norc", "-i", NULL });
	type(t, "PS1='%'; " EBQL_BINARY "\r");
	expect(t, "ebql> ");
	type(t, "SELECT 4");
	expect(t, "SELECT 4");
	key(t, CTRL('Z'));
	expect(t, "Stopped");
	type(t, "fg\r");
	expect(t, "ebql> SELECT 4");
	type(t, " + 5;\r");
	expect(t, " 9\r\n");
	line(t, "\\q");
	expect(t, "%");
}

/* ^C and ^\ are of the command that has the terminal. */
static void test_lent(void **state)
{
	struct terminal *t = *state;
	static const char keys[] = { CTRL('C'), CTRL('\\') };

	for (u32 i = 0; i < ARRAY_SIZE(keys); i++) {
		line(t, "\\! echo be''gins; exec sleep 60");
		expect(t, "begins");
		key(t, keys[i]);
	}
	line(t, "\\q");
	assert_int_equal(ended(t), 0);
	setenv("PAGER", "head -n 1; echo be''gins; exec sleep 60", 1);
	start(t, NULL);
	unsetenv("PAGER");
	line(t, "SHOW STREAMS; SELECT 3 + 4;");
	expect(t, "begins");
	key(t, CTRL('C'));
	expect(t, " 7\r\n");
	expect(t, "ebql> ");
}

/* Until it is asleep in that system call, each time it is looked at. */
static void wait_for_call(int pid, long number)
{
	const u64 end_ns = base_monotonic_ns() + WAIT_MS * 1000000ull;
	char path[64], text[64], wanted[16];

	snprintf(path, sizeof(path), "/proc/%d/syscall", pid);
	snprintf(wanted, sizeof(wanted), "%ld ", number); /* else "running" */
	for (u32 n = 0; n < 20;) {
		FILE *file = fopen(path, "r");

		assert_non_null(file);
		assert_true(base_monotonic_ns() < end_ns);
		n = fgets(text, sizeof(text), file) && strncmp(text, wanted, strlen(wanted)) == 0
			    ? n + 1
			    : 0;
		fclose(file);
		usleep(1000);
	}
}

/* A FIFO that nobody reads, or writes; and one whose reader goes. */
static void test_fifo(void **state)
{
	struct terminal *t = *state;
	char path[96], text[128];
	int fd;

	snprintf(path, sizeof(path), "%s/fifo", t->state);
	assert_int_equal(mkfifo(path, 0600), 0);
	for (u32 i = 0; i < 2; i++) {
		snprintf(text, sizeof(text), "\\%c %s", "oi"[i], path);
		line(t, text);
		/* When it waits there; before, it would be of the prompt. */
		wait_for_call(t->pid, SYS_openat);
		key(t, CTRL('C'));
		expect(t, "Interrupted system call");
	}
	/* A writer that writes nothing. */
	fd = open(path, O_RDWR);
	assert_true(fd >= 0);
	snprintf(text, sizeof(text), "\\i %s", path);
	line(t, text);
	wait_for_call(t->pid, SYS_read);
	key(t, CTRL('C'));
	expect(t, "ebql> ");
	close(fd);
	fd = open(path, O_RDONLY | O_NONBLOCK);
	assert_true(fd >= 0);
	snprintf(text, sizeof(text), "\\o %s\r", path);
	type(t, text);
	expect(t, "ebql> ");
	close(fd);
	/* It is told, once, and results are shown again. */
	type(t, "SELECT 3 + 4;\r");
	expect(t, "standard output: Broken pipe");
	line(t, "SELECT 4 + 5;");
	expect(t, " 9\r\n");
	line(t, "\\q");
	assert_int_equal(ended(t), 0);
}

static void test_commands(void **state)
{
	struct terminal *t = *state;
	char command[128], text[4096];
	ssize_t n;
	int fd;

	NEEDS_ROOT();
	line(t, "\\timing");
	expect(t, "Timing is on.");
	line(t, "SELECT comm, count(*) AS n FROM " SWITCHES " GROUP BY comm WINDOW TUMBLING 50ms "
		"LIMIT 1;");
	expect(t, "matched");
	key(t, CTRL('C'));
	expect(t, "compile ");
	expect(t, " ms, load ");
	expect(t, " ms, attach ");
	expect(t, " ms, run ");
	line(t, "\\x");
	expect(t, "Expanded output is on.");
	line(t, "SELECT comm, count(*) AS n FROM " SWITCHES " GROUP BY comm WINDOW TUMBLING 50ms "
		"LIMIT 1;");
	expect(t, "-[ row 1 ]--------------------\r\ncomm | ");
	expect(t, "\r\nn    | ");
	key(t, CTRL('C'));
	line(t, "\\x off");
	expect(t, "Expanded output is off.");
	snprintf(command, sizeof(command), "\\o %s/out", t->state);
	line(t, command);
	line(t, "DESCRIBE " SWITCHES ";");
	expect(t, "time ");
	line(t, "\\o");
	expect(t, "ebql> ");
	snprintf(command, sizeof(command), "%s/out", t->state);
	fd = open(command, O_RDONLY);
	assert_true(fd >= 0);
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	assert_true(n > 0);
	text[n] = '\0';
	assert_memory_equal(text, SWITCHES "\n", sizeof(SWITCHES));
	assert_null(strstr(text, "ebql>"));
	type(t, "SHOW VIEWS LIKE 'block_i_';\r");
	expect(t, "block_io  ");
}

static void test_history(void **state)
{
	struct terminal *t = *state;
	char path[128], text[32];
	struct stat info;
	u32 n_lines = 0;
	FILE *file;
	int c;

	for (u32 i = 0; i < 1010; i++) {
		expect(t, "ebql> ");
		snprintf(text, sizeof(text), "\\z%u\r", i);
		type(t, text);
	}
	expect(t, "ebql> ");
	type(t, "SELECT 'two\r");
	expect(t, " ...> ");
	type(t, "lines' ;\r");
	expect(t, "ebql> ");
	key(t, CTRL('D'));
	assert_int_equal(ended(t), 0);

	snprintf(path, sizeof(path), "%s/ebql/history", t->state);
	assert_int_equal(stat(path, &info), 0);
	assert_int_equal(info.st_mode & 0777, 0600);
	file = fopen(path, "r");
	assert_non_null(file);
	while ((c = getc(file)) != EOF)
		n_lines += c == '\n';
	fclose(file);
	/* libedit's file has a line of its own above the entries. */
	assert_int_equal(n_lines, 1001);

	start(t, NULL);
	expect(t, "ebql> ");
	key(t, CTRL('P'));
	expect(t, "SELECT 'two lines' ;");
	key(t, CTRL('P'));
	expect(t, "\\z1009");
}

/* Neither results nor the history go through a link, nor does ATTACH wait for a pipe's writer. */
static void test_links(void **state)
{
	struct terminal *t = *state;
	char path[128], none[128], text[200];
	struct stat info;

	expect(t, "ebql> ");
	snprintf(none, sizeof(none), "%s/none", t->state);
	snprintf(path, sizeof(path), "%s/ebql", t->state);
	assert_int_equal(mkdir(path, 0700), 0);
	snprintf(path, sizeof(path), "%s/ebql/history.%d", t->state, t->pid);
	assert_int_equal(symlink(none, path), 0);
	snprintf(path, sizeof(path), "%s/link", t->state);
	assert_int_equal(symlink(none, path), 0);
	snprintf(text, sizeof(text), "\\o %s\r", path);
	type(t, text);
	expect(t, "is a link: name the file itself");
	snprintf(path, sizeof(path), "%s/pipe.db", t->state);
	assert_int_equal(mkfifo(path, 0600), 0);
	snprintf(text, sizeof(text), "ATTACH '%s' AS p;", path);
	line(t, text);
	expect(t, "error[unknown-file]: cannot read \"");
	expect(t, "no regular file");
	expect(t, "ebql> ");
	key(t, CTRL('D'));
	assert_int_equal(ended(t), 0);
	assert_int_equal(access(none, F_OK), -1);
	snprintf(path, sizeof(path), "%s/ebql/history", t->state);
	assert_int_equal(lstat(path, &info), 0);
	assert_true(S_ISREG(info.st_mode));
}

static u32 count_entries(const char *path)
{
	DIR *directory = opendir(path);
	u32 n = 0;

	assert_non_null(directory);
	while (readdir(directory))
		n++;
	closedir(directory);
	return n;
}

/* Queries in a row leave no descriptor, no thread and no child. */
static void test_leaks(void **state)
{
	struct terminal *t = *state;
	char fds[64], tasks[64], children[64], text[64];
	u32 n_fds = 0;
	FILE *file;

	NEEDS_ROOT();
	close(t->fd);
	kill(t->pid, SIGKILL);
	waitpid(t->pid, NULL, 0);
	start(t, "-n1");
	snprintf(fds, sizeof(fds), "/proc/%d/fd", t->pid);
	snprintf(tasks, sizeof(tasks), "/proc/%d/task", t->pid);
	snprintf(children, sizeof(children), "/proc/%d/task/%d/children", t->pid, t->pid);
	for (u32 i = 0; i < 50; i++) {
		expect(t, "ebql> ");
		if (i == 2)
			n_fds = count_entries(fds);
		type(t, i % 2 ? "SELECT pid FROM " SWITCHES ";\r"
			      : "SELECT pid, comm, count(*) FROM syscall:* GROUP BY pid, comm "
				"WINDOW TUMBLING 10ms;\r");
		expect(t, "\n");
		expect(t, "pid");
	}
	line(t, "SELECT pidd FROM " SWITCHES ";");
	expect(t, "unknown-column");
	expect(t, "ebql> ");
	assert_int_equal(count_entries(fds), n_fds);
	assert_int_equal(count_entries(tasks), 3); /* one, "." and ".." */
	file = fopen(children, "r");
	assert_non_null(file);
	assert_null(fgets(text, sizeof(text), file));
	fclose(file);
}

static void piped(const char *input, int status, const char *said)
{
	char command[1024], chunk[4096];
	struct buf got;
	FILE *pipe;
	size_t n;
	int end;

	snprintf(command, sizeof(command), "printf '%s' | %s 2>&1", input, EBQL_BINARY);
	pipe = popen(command, "r");
	assert_non_null(pipe);
	buf_init(&got);
	buf_puts(&got, "");
	while ((n = fread(chunk, 1, sizeof(chunk), pipe)) > 0)
		buf_put(&got, chunk, n);
	end = pclose(pipe);
	assert_string_equal(got.at, said);
	assert_true(WIFEXITED(end));
	assert_int_equal(WEXITSTATUS(end), status);
	buf_free(&got);
}

static void test_pipe(void **state)
{
	piped("SET max_groups = 7;\\n-- nothing\\n", 0, "");
	/* The last statement needs no ";"; what went wrong before it stands in the status. */
	piped("SET max_group = 7;\\n/* a; */ DROP VIEW IF EXISTS v;\\nSHOW VIEWS LIKE\\n\\047block_i_\\047",
	      2,
	      "error[unknown-option]: there is no option \"max_group\"\n"
	      "  query:1:5\n"
	      "  SET max_group = 7;\n"
	      "      ^^^^^^^^^^^^^\n"
	      "  hint: did you mean \"max_groups\"?\n"
	      "block_io              requests of block devices, when they complete\n");
	piped("\\\\nothing\\n", 2, "ebql: there is no command \\nothing\n  hint: \\? lists them\n");
	piped("\\\\q\\nnonsense;\\n", 0, "");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		TEST(test_error),
		TEST(test_prompt),
		TEST(test_terminate),
		TEST(test_complete_words),
		TEST(test_complete_streams),
		TEST(test_attached),
		TEST(test_kept),
		TEST(test_interrupt),
		TEST(test_interrupt_keys),
		TEST(test_suspend),
		TEST(test_lent),
		TEST(test_fifo),
		TEST(test_commands),
		TEST(test_history),
		TEST(test_leaks),
		TEST(test_stopped),
		TEST(test_cancel_order),
		TEST(test_links),
		cmocka_unit_test(test_pipe),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests_name("shell", tests, NULL, NULL);
}
