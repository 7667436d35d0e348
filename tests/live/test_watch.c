/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * ebql watch: files come, change and go while others run under a load of known truth; wrong ones,
 * outputs that take nothing, signals, kill -9, the status.
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
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <cmocka.h>

#include "left.h"
#include "place.h"

/* Two queries that nobody touches count a load exactly, while a third comes, changes and goes. */
static void test_changes(void **state)
{
	static const char *const outs[] = { "keys.out", "cpus.out" };
	struct place *p = *state;
	struct session *s = p->session;
	struct buf text;

	session_require();
	session_load(s, "--calls", "300000", "--fds", "16", "--pause-every", "300", "--pause-us",
		     "1000", NULL);
	for (u32 i = 0; i < 2; i++)
		place_write(p, i ? "cpus.sql" : "keys.sql",
			    "SELECT fd, cpu, count(*) AS n, sum(count) AS s, min(count) AS lo, "
			    "max(count) AS hi FROM tracepoint:syscalls:sys_enter_pread64 "
			    "WHERE pid = %d GROUP BY fd, cpu WINDOW TUMBLING %dms "
			    "WITH (out = 'json:%s/%s')",
			    s->load_pid, i ? 10 : 25, p->folder, outs[i]);
	place_start(p, p->folder, NULL);
	session_load_go(s);
	place_write(p, "new.sql",
		    "SELECT count(*) AS n " CALLS
		    "WINDOW TUMBLING 10ms WITH (out = 'json:%s/new.out')",
		    getpid(), p->folder);
	place_said(p, "new.sql: its query runs\n");
	place_call(1000);
	/* Written beside it, then moved over it; what editors leave there is no query. */
	place_write(p, ".new.sql", "nonsense");
	place_write(p, "new.sql~", "nonsense");
	place_write(p, "next",
		    "SELECT count(*) AS n, cpu " CALLS
		    "GROUP BY cpu WINDOW TUMBLING 7ms WITH (out = 'json:%s/new.out')",
		    getpid(), p->folder);
	place_move(p, "next", "new.sql");
	place_said(p, "new.sql: its query runs in its new form\n");
	place_call(2000);
	/* As vi does: away, and another in its place. */
	place_move(p, "new.sql", "new.sql~");
	usleep(50000);
	place_write(p, "new.sql",
		    "SELECT count(*) AS n, tid " CALLS "GROUP BY tid WINDOW TUMBLING 15ms "
		    "WITH (out = 'json:%s/new.out')",
		    getpid(), p->folder);
	place_said(p, "new.sql: its query runs in its new form\n");
	place_call(4000);
	unlink(place_path(p, "new.sql"));
	place_said(p, "new.sql: is gone, and so is its query\n");
	place_call(8000);
	session_load_wait(s);
	place_end(p, SIGTERM, 0);
	assert_int_equal(place_sum(p, "new.out", "\"n\":"), 7000);
	buf_init(&text);
	for (u32 i = 0; i < 2; i++) {
		place_read(p, outs[i], &text);
		fold_free(&s->rows);
		fold_init(&s->rows);
		fold_feed(&s->rows, text.at, text.n - 1);
		session_expect_exact(s);
		assert_true(s->rows.was_last);
	}
	buf_free(&text);
}

/* It wants none of the calls that are made: the tracepoint is cheaper, and its query goes there. */
static void test_path(void **state)
{
	struct place *p = *state;
	struct utsname kernel;
	struct buf text;

	session_require();
	place_write(p, "rare.sql", "SELECT count(*) AS n FROM syscall:fsync WINDOW TUMBLING 20ms");
	place_start(p, p->folder, NULL);
	buf_init(&text);
	place_status(p, true, &text);
	assert_non_null(strstr(text.at, "\"path\":\"raw\",\"path_changes\":0"));
	assert_int_equal(uname(&kernel), 0);
	if (strverscmp(kernel.release, "6.7") < 0) {
		buf_free(&text);
		return; /* it stays there: test_turn */
	}
	for (u32 i = 0; i < 600 && !strstr(text.at, "\"path_changes\":1"); i++) {
		for (u64 end_ns = base_monotonic_ns() + 100000000; base_monotonic_ns() < end_ns;)
			syscall(SYS_getpgid, -1);
		place_status(p, true, &text);
	}
	assert_non_null(strstr(text.at, "\"path\":\"tracepoint\",\"path_changes\":1"));
	assert_true(place_figure(text.at, "rare", "\"raw_ns_per_wanted\":") >
		    place_figure(text.at, "rare", "\"tracepoint_ns_per_wanted\":"));
	place_said(p, "warning[path-changed]");
	buf_free(&text);
}

/* Else they would go over to another path, and be counted with others, when they like. */
#define RAW "access_path = raw, "

static void test_errors(void **state)
{
	struct place *p = *state;
	struct buf text;
	int stats;

	session_require();
	place_write(p, "good.sql",
		    "SELECT count(*) AS n " CALLS "WINDOW TUMBLING 20ms WITH (" RAW
		    "out = 'json:%s/good.out')",
		    getpid(), p->folder);
	stats = bpf_enable_stats(BPF_STATS_RUN_TIME);
	place_write(p, "bad.sql", "SELECT nothing FROM run_queue");
	place_write(p, "one.sql", "EXPLAIN SELECT pid FROM run_queue");
	place_start(p, p->folder, NULL);
	buf_init(&text);
	place_status(p, true, &text);
	assert_non_null(strstr(text.at, "\"queries\":3"));
	assert_non_null(strstr(text.at, "bad.sql:1:8"));
	assert_non_null(strstr(text.at, "error[no-query]"));
	place_call(100);
	place_write(p, "good.sql", "SELECT count(*) AS n FROM run_queu");
	place_said(p, "good.sql:1:27\n");
	place_wait_status(p, "\"state\":\"runs\",\"windows\":");
	place_status(p, false, &text);
	assert_non_null(strstr(text.at, "error[unknown-stream]"));
	place_call(200);
	usleep(200000);
	place_call(1000);
	place_status(p, true, &text);
	assert_true(place_figure(text.at, "good", "\"ns_per_event\":") > 0);
	assert_true(place_figure(text.at, "good", "\"kernel_core\":") > 0);
	assert_true(place_figure(text.at, "good", "\"user_core\":") > 0);
	assert_true(place_figure(text.at, "good", "\"kernel_bytes\":") >= 4096);
	close(stats);
	assert_true(place_figure(text.at, "good", "\"segment\":") == 1);
	assert_true(place_figure(text.at, "good", "\"segment_queries\":") == 1);
	assert_true(place_figure(text.at, "bad", "\"segment\":") == 0);
	/* The same each hour, beside what it is not counted with. */
	assert_null(strstr(text.at, "\"counted_with\":[\""));
	place_write(p, "slow.sql",
		    "SELECT count(*) AS m " CALLS "WINDOW TUMBLING 1h WITH (" RAW
		    "out = 'json:%s/slow.out')",
		    getpid(), p->folder);
	place_said(p, "slow.sql: its query runs");
	place_write(p, "other.sql",
		    "SELECT count(*) AS m " CALLS "WITH (" RAW "out = 'json:%s/other.out')", 1,
		    p->folder);
	place_said(p, "other.sql: its query runs");
	place_status(p, true, &text);
	assert_non_null(strstr(text.at, "\"segment_queries\":3,\"counted_with\":[\"good\"]"));
	assert_non_null(strstr(text.at, "\"segment_queries\":3,\"counted_with\":[\"slow\"]"));
	assert_non_null(strstr(text.at, "\"segment_queries\":3,\"counted_with\":[]"));
	place_status(p, false, &text);
	assert_non_null(strstr(text.at, "counted with"));
	unlink(place_path(p, "slow.sql"));
	place_said(p, "slow.sql: is gone");
	unlink(place_path(p, "other.sql"));
	place_said(p, "other.sql: is gone");
	/* Taken back: what runs is what stands there. */
	place_write(p, "good.sql",
		    "SELECT count(*) AS n " CALLS "WINDOW TUMBLING 20ms WITH (" RAW
		    "out = 'json:%s/good.out')",
		    getpid(), p->folder);
	place_write(p, "same.sql", "SELECT count(*) FROM run_queue WITH (out = 'json:%s/good.out')",
		    p->folder);
	place_said(p, "error[bad-output]");
	place_write(p, "same.sql",
		    "SELECT count(*) FROM run_queue WITH (out = 'json:%s/../%s/good.out')",
		    p->folder, strrchr(p->folder, '/') + 1);
	place_said(p, "error[bad-output]");
	place_status(p, true, &text);
	assert_null(strstr(text.at, "good.sql:1:27"));
	place_write(p, "same.sql",
		    "SELECT count(*) FROM run_queue WITH (out = 'jsonl:%s/other.out')", p->folder);
	place_said(p, "hint: json, csv and arrow take windows");
	place_write(p, "same.sql", "SELECT 1 AS n FROM run_queue WITH (out = 'csv')");
	place_said(p, "error[bad-output]");
	/* A loss ends the query that asks for it, and no other. */
	place_write(p, "same.sql",
		    "SELECT pid, count(*) FROM raw_tracepoint:sched_switch GROUP BY pid "
		    "WINDOW TUMBLING 20ms WITH (max_groups = 1, on_loss = 'fail', "
		    "out = 'csv:%s/same.out')",
		    p->folder);
	place_said(p, "same.sql: ended by a loss (on_loss = 'fail'): table_full ");
	place_write(p, "same.sql",
		    "SELECT pid FROM raw_tracepoint:sched_switch WITH (ring_bytes = 4096, "
		    "on_loss = 'fail', out = 'csv:/dev/null')");
	place_said(p, "same.sql: its query runs");
	unlink(place_path(p, "same.sql"));
	place_said(p, "same.sql: is gone");
	place_end(p, SIGINT, 1);
	assert_int_equal(place_sum(p, "good.out", "\"n\":"), 1300);
	buf_free(&text);
}

/* A file that was moved away keeps what was before SIGHUP, and its successor what came behind. */
static void test_hangup(void **state)
{
	struct place *p = *state;
	struct buf text;

	session_require();
	place_write(p, "a.sql",
		    "SELECT count(*) AS n " CALLS
		    "WINDOW TUMBLING 10ms WITH (out = 'json:%s/a.out')",
		    getpid(), p->folder);
	place_start(p, p->folder, NULL);
	place_call(1000);
	place_wait_status(p, "\"windows\":3");
	place_move(p, "a.out", "a.1");
	place_call(500);
	proc_signal(&p->session->ebql, SIGHUP);
	buf_init(&text);
	do {
		proc_pump(5);
	} while (access(place_path(p, "a.out"), F_OK));
	place_call(2000);
	place_end(p, SIGTERM, 0);
	assert_int_equal(place_sum(p, "a.1", "\"n\":") + place_sum(p, "a.out", "\"n\":"), 3500);
	assert_true(place_sum(p, "a.1", "\"n\":") >= 1000);
	assert_true(place_sum(p, "a.out", "\"n\":") >= 2000);
	buf_free(&text);
}

/* A second one is refused; killed, it leaves nothing but a name, which the next one takes. */
static void test_kill(void **state)
{
	struct place *p = *state;
	struct left left;
	char command[256];
	struct stat st;

	session_require();
	place_write(p, "a.sql",
		    "SELECT count(*) FROM tracepoint:syscalls:sys_enter_getppid WHERE pid = %d "
		    "WINDOW TUMBLING 20ms",
		    getpid());
	place_start(p, p->folder, "-o", "json", NULL);
	assert_int_equal(stat(p->socket, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	snprintf(command, sizeof(command),
		 "%s watch --socket %s %s 2>&1 | grep -q 'another one runs'", proc_ebql(),
		 p->socket, p->folder);
	assert_int_equal(system(command), 0);
	left_take(&left, p->session->ebql.pid);
	assert_true(left.n_programs > 0 && left.n_maps > 0);
	place_end(p, SIGKILL, 128 + SIGKILL);
	assert_int_equal(left_wait_gone(&left, 20000), 0);
	snprintf(command, sizeof(command),
		 "%s watch --status --socket %s 2>&1 | grep -q 'none runs'", proc_ebql(),
		 p->socket);
	assert_int_equal(system(command), 0);
	proc_forget(&p->session->ebql);
	place_start(p, p->folder, "-o", "json", NULL);
	place_wait_status(p, "\"state\":\"runs\"");
	place_end(p, SIGTERM, 0);
	assert_int_not_equal(stat(p->socket, &st), 0);
}

/* Files that come under a name of their own, and one whose change nobody closes. */
static void test_named(void **state)
{
	static const char query[] = "SELECT count(*) FROM tracepoint:syscalls:sys_enter_getppid "
				    "WINDOW TUMBLING 20ms";
	struct place *p = *state;
	char from[128], fd_path[64];
	int fd;

	session_require();
	place_write(p, "cut.sql", "%s nonsense", query);
	place_start(p, p->folder, "-o", "json", NULL);
	for (u32 i = 0; i < 5; i++) {
		place_write(p, "next", "%s", query);
		snprintf(from, sizeof(from), "%s", place_path(p, "next"));
		assert_int_equal(link(from, place_path(p, "linked.sql")), 0);
		unlink(from);
		place_said(p, "linked.sql: its query runs\n");
		unlink(place_path(p, "linked.sql"));
		place_said(p, "linked.sql: is gone");
	}
	fd = open(p->folder, O_TMPFILE | O_WRONLY, 0600);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, query, strlen(query)), strlen(query));
	snprintf(fd_path, sizeof(fd_path), "/proc/self/fd/%d", fd);
	assert_int_equal(linkat(AT_FDCWD, fd_path, AT_FDCWD, place_path(p, "unnamed.sql"),
				AT_SYMLINK_FOLLOW),
			 0);
	close(fd);
	place_said(p, "unnamed.sql: its query runs\n");
	assert_int_equal(truncate(place_path(p, "cut.sql"), (off_t)strlen(query)), 0);
	proc_pump(100);
	proc_signal(&p->session->ebql, SIGHUP);
	place_said(p, "cut.sql: its query runs\n");
	place_end(p, SIGTERM, 0);
}

/* Until it says so: a reader that comes, and goes. */
static void read_fifo(struct place *p, const char *name, const char *text)
{
	u64 limit_ns = base_monotonic_ns() + LIMIT_MS * 1000000ull;
	int fd = open(place_path(p, name), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	char bytes[65536 + 1];
	ssize_t n = 0;

	assert_true(fd >= 0);
	do {
		n = read(fd, bytes, sizeof(bytes) - 1);
		bytes[MAX(n, (ssize_t)0)] = '\0';
		if (n <= 0)
			proc_pump(1);
	} while (!strstr(bytes, text) && base_monotonic_ns() < limit_ns);
	assert_non_null(strstr(bytes, text));
	close(fd);
}

static u64 count_threads(struct place *p)
{
	char path[64];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%d/task", p->session->ebql.pid);
	assert_int_equal(stat(path, &st), 0);
	return st.st_nlink;
}

static void wait_threads(struct place *p, u64 n)
{
	u64 limit_ns = base_monotonic_ns() + LIMIT_MS * 1000000ull;

	while (count_threads(p) != n && base_monotonic_ns() < limit_ns)
		proc_pump(20);
	assert_int_equal(count_threads(p), n);
}

/* A FIFO that nobody reads, and clients that do not read, stop nobody. */
static void test_blocked(void **state)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	struct place *p = *state;
	char command[256];
	int fds[20];
	pid_t writer;
	u64 n_threads;

	session_require();
	/* What is no file is not opened: its writer waits for another. */
	assert_int_equal(mkfifo(place_path(p, "fifo.sql"), 0600), 0);
	writer = fork();
	if (!writer) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		_exit(open(place_path(p, "fifo.sql"), O_WRONLY) < 0);
	}
	/* By a path that stays: to look for another one takes threads. */
	place_write(p, "a.sql",
		    "SELECT count(*) AS n " CALLS
		    "WINDOW TUMBLING 10ms WITH (access_path = raw, out = 'json:%s/a.out')",
		    getpid(), p->folder);
	/* One that is read in the end, and one that never is. */
	for (u32 i = 0; i < 2; i++) {
		assert_int_equal(mkfifo(place_path(p, i ? "never" : "late"), 0600), 0);
		place_write(p, i ? "never.sql" : "late.sql",
			    "SELECT comm, pid, count(*) AS n, max(time) AS t "
			    "FROM raw_tracepoint:sys_enter GROUP BY comm, pid WINDOW TUMBLING 1ms "
			    "WITH (out = 'json:%s/%s')",
			    p->folder, i ? "never" : "late");
	}
	place_start(p, p->folder, NULL);
	snprintf(address.sun_path, sizeof(address.sun_path), "%s", p->socket);
	for (u32 i = 0; i < ARRAY_SIZE(fds); i++) {
		fds[i] = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
		assert_int_equal(connect(fds[i], (struct sockaddr *)&address, sizeof(address)), 0);
		if (i % 2)
			assert_int_equal(send(fds[i], "j", 1, MSG_NOSIGNAL), 1);
	}
	place_wait_status(p, "fifo.sql: is a FIFO: a query is read from a file\\n");
	place_wait_status(p, "\"unwritten\":1");
	assert_int_equal(waitpid(writer, NULL, WNOHANG), 0);
	kill(writer, SIGKILL);
	waitpid(writer, NULL, 0);
	place_call(1000);
	place_wait_status(p, "\"unwritten\":2");
	/* Signals leave no thread more behind that waits for a reader. */
	n_threads = count_threads(p);
	for (u32 i = 0; i < 3; i++) {
		proc_signal(&p->session->ebql, SIGHUP);
		proc_pump(200);
	}
	wait_threads(p, n_threads);
	/* Nor does a query that goes, or its successor at the same FIFO. */
	place_move(p, "never.sql", "kept");
	place_said(p, "never.sql: is gone");
	place_move(p, "kept", "never.sql");
	place_said(p, "never.sql: its query runs");
	place_said(p, "never: took no more: what was not written is lost\n");
	wait_threads(p, n_threads);
	read_fifo(p, "late", "\"unwritten\":");
	for (u32 i = 0; i < ARRAY_SIZE(fds); i++)
		close(fds[i]);
	/* Nor does one that is stopped: who asks it gets no answer, however many do. */
	proc_signal(&p->session->ebql, SIGSTOP);
	for (u32 i = 0; i < ARRAY_SIZE(fds); i++) {
		fds[i] = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
		connect(fds[i], (struct sockaddr *)&address, sizeof(address));
	}
	snprintf(command, sizeof(command),
		 "timeout 40 %s watch --status --socket %s 2>&1 | grep -q 'does not answer'",
		 proc_ebql(), p->socket);
	assert_int_equal(system(command), 0);
	for (u32 i = 0; i < ARRAY_SIZE(fds); i++)
		close(fds[i]);
	proc_signal(&p->session->ebql, SIGCONT);
	proc_signal(&p->session->ebql, SIGTERM);
	place_said(p, "windows were not written");
	place_said(p, "never: took no more: what was not written is lost\n");
	place_end(p, 0, 1);
	assert_int_equal(place_sum(p, "a.out", "\"n\":"), 1000);
}

/* Without privileges: files of rows, a folder that comes later, links that are turned. */
static void test_recordings(void **state)
{
	struct place *p = *state;
	char folder[128], link[160];

	place_write(p, "rows.csv", "time,n\n1,5\n2,6\n3,7\n");
	snprintf(folder, sizeof(folder), "%s", place_path(p, "later"));
	place_start(p, folder, "-o", "json", NULL);
	mkdir(place_path(p, "v1"), 0755);
	mkdir(place_path(p, "v2"), 0755);
	place_write(p, "v1/q.sql", "SELECT sum(n) AS first FROM '%s/rows.csv'", p->folder);
	place_write(p, "v2/q.sql", "SELECT sum(n) + 1 AS second FROM '%s/rows.csv'", p->folder);
	assert_int_equal(symlink("../v1", place_path(p, "link")), 0);
	mkdir(folder, 0755);
	place_move(p, "link", "later/..data");
	assert_int_equal(symlink("..data/q.sql", place_path(p, "later/q.sql")), 0);
	if (!proc_wait_text(&p->session->ebql, "later/q.sql: its query runs\n", LIMIT_MS))
		fail_msg("%s", p->session->ebql.err_text.at);
	snprintf(link, sizeof(link), "%s", place_path(p, "link"));
	assert_int_equal(symlink("../v2", link), 0);
	p->session->ebql.sink = NULL;
	place_move(p, "link", "later/..data");
	/* The first one may have ended before: then it runs for the first time. */
	if (!proc_wait_text(&p->session->ebql, "\"second\":19", LIMIT_MS))
		fail_msg("%s", p->session->ebql.err_text.at);
	assert_non_null(strstr(p->session->ebql.out_text.at, "{\"first\":18}\n"));
	assert_non_null(strstr(p->session->ebql.out_text.at, "\"query\":\"q\""));
	/* Of rows each says whose it is. */
	place_write(p, "later/rows.sql", "SELECT n FROM '%s/rows.csv'", p->folder);
	if (!proc_wait_text(&p->session->ebql, "{\"n\":7,\"_query\":\"rows\"}\n", LIMIT_MS))
		fail_msg("%s", p->session->ebql.out_text.at);
	place_end(p, SIGTERM, 0);
}

/* Nobody reads standard output any more: a clean end. */
static void test_closed(void **state)
{
	struct place *p = *state;

	session_require();
	place_write(p, "a.sql", "SELECT count(*) FROM run_queue WINDOW TUMBLING 10ms");
	place_start(p, p->folder, NULL);
	if (!proc_wait_text(&p->session->ebql, "a   ", LIMIT_MS))
		fail_msg("no window: %s", p->session->ebql.err_text.at);
	proc_close_out(&p->session->ebql);
	place_end(p, 0, 0);
}

/* Each of the options that say how queries are run and shown is heeded. */
static void test_options(void **state)
{
	static const char load[] =
		"echo 1; while :; do echo 1; echo 0123456789abcdef0123456789abcdef; "
		"sleep 0.01; done >/dev/null";
	const char *argv[] = { "/bin/sh", "-c", load, NULL };
	struct place *p = *state;
	struct proc *ebql = &p->session->ebql;
	static struct proc writer;
	char pid[16];
	struct buf text;

	session_require();
	proc_start(&writer, argv, 0);
	assert_true(proc_wait_text(&writer, "1\n", LIMIT_MS));
	snprintf(pid, sizeof(pid), "%d", writer.pid);
	place_write(p, "n.sql",
		    "SELECT count(*) AS n FROM tracepoint:syscalls:sys_enter_write "
		    "WHERE pid = target_pid() WITH (out = 'json:%s/n.out')",
		    p->folder);
	place_write(p, "h.sql",
		    "SELECT histogram(count) AS h FROM tracepoint:syscalls:sys_enter_write "
		    "WHERE pid = target_pid()");
	place_start(p, p->folder, "-o", "table", "-n", "2", "--every", "200ms", "--window-columns",
		    "--ascii", "--bins", "1", "-p", pid, NULL);
	proc_wait_exit(ebql, LIMIT_MS);
	/* The machine's own losses are none of the test's. */
	assert_true(ebql->status == 0 || ebql->status == 3);
	proc_signal(&writer, SIGKILL);
	proc_wait_exit(&writer, LIMIT_MS);
	assert_null(strstr(ebql->out_text.at, "\u2588"));
	assert_non_null(strstr(ebql->out_text.at, "###"));
	/* Both sizes, 2 and 33, in one line. */
	assert_non_null(strstr(ebql->out_text.at, "[2, 64) "));
	buf_init(&text);
	place_read(p, "n.out", &text);
	assert_int_equal(strncmp(text.at, "{\"window_start\":", 16), 0);
	assert_null(strstr(text.at, "\"n\":0}"));
	buf_free(&text);
}

/* The examples: all run at once, and each gives its windows. */
static void test_examples(void **state)
{
	struct place *p = *state;
	struct buf text;
	u32 n = 0;

	session_require();
	place_start(p, EXAMPLES, "-o", "json", "--partial", "-n", "3", NULL);
	/* The machine's own losses are none of the test's. */
	proc_wait_exit(&p->session->ebql, LIMIT_MS);
	if (p->session->ebql.status != 0 && p->session->ebql.status != 3)
		fail_msg("%d: %s", p->session->ebql.status, p->session->ebql.err_text.at);
	buf_init(&text);
	buf_puts(&text, p->session->ebql.out_text.at);
	for (const char *at = text.at; (at = strstr(at, "\"query\":")); at++)
		n++;
	assert_int_equal(n, 3 * 14);
	buf_free(&text);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, place_setup, place_teardown)
	static const struct CMUnitTest tests[] = {
		TEST(test_changes),  TEST(test_errors),	 TEST(test_path),	TEST(test_hangup),
		TEST(test_kill),     TEST(test_blocked), TEST(test_recordings), TEST(test_closed),
		TEST(test_examples), TEST(test_named),	 TEST(test_options),
	};

	return cmocka_run_group_tests_name("watch", tests, NULL, NULL);
}
