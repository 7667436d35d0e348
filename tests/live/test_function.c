/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Functions of the kernel, by trampolines and by kprobes, against a workload that makes a known
 * number of calls: entries, returns, spans that nest, arguments, members, windows.  A kernel that
 * has neither must say so.  --quick (slow guests): fewer calls; EBQL_TEST_LONG: 64 threads, and ten
 * million hits in each window's test.
 */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cmocka.h>

#include "watch.h"

#define FILE_NAME "ebql_read_by_test"

enum { SIZES = 5, NESTED = 3, THREADS_MAX = 64 };

static u32 n_calls = 5000, n_threads = 4;
static bool is_preempted; /* the kernel was booted with preempt=full */

/* --- The workload: each line of its input a kind of calls --- */

static __attribute__((noreturn)) void fail_work(const char *what)
{
	fprintf(stderr, "%s: %s\n", what, strerror(errno));
	_exit(1);
}

static int open_file(void)
{
	static char bytes[4096];
	int fd = open("/tmp/" FILE_NAME, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	if (fd < 0 || write(fd, bytes, sizeof(bytes)) != sizeof(bytes))
		fail_work("file");
	return fd;
}

/* Of size k + 1, k + 1 times as often as of size 1; one past the end of the file returns 0. */
static void *read_all(void *fd)
{
	char bytes[SIZES];

	for (u32 i = 0; i < n_calls; i++)
		for (u32 k = 0; k < SIZES; k++)
			for (u32 j = 0; j <= k; j++)
				if (pread(*(int *)fd, bytes, k + 1, j ? 0 : 4096) !=
				    (j ? k + 1 : 0))
					fail_work("pread");
	return NULL;
}

/* The same to /dev/null, where nobody else writes: of size k + 1, k + 1 times. */
static void *write_all(void *fd)
{
	char bytes[SIZES] = "";

	for (u32 i = 0; i < n_calls; i++)
		for (u32 k = 0; k < SIZES; k++)
			for (u32 j = 0; j <= k; j++)
				if (write(*(int *)fd, bytes, k + 1) != k + 1)
					fail_work("write");
	return NULL;
}

static void do_by_threads(void *(*work)(void *fd), int fd)
{
	pthread_t threads[THREADS_MAX];

	for (u32 i = 0; i < n_threads; i++)
		if (pthread_create(&threads[i], NULL, work, &fd))
			fail_work("pthread_create");
	for (u32 i = 0; i < n_threads; i++)
		pthread_join(threads[i], NULL);
}

/* To add an epoll that watches an epoll that watches ...: the kernel looks for loops, and recurses.
 */
static int chain[NESTED + 1];

static void make_chain(void)
{
	struct epoll_event event = { .events = EPOLLIN };
	int bottom = eventfd(1, EFD_CLOEXEC);

	for (u32 i = 0; i <= NESTED; i++) {
		chain[i] = epoll_create1(EPOLL_CLOEXEC);
		if (chain[i] < 0 || (i < NESTED && epoll_ctl(chain[i], EPOLL_CTL_ADD,
							     i ? chain[i - 1] : bottom, &event)))
			fail_work("epoll");
	}
}

static void add_nested(void)
{
	struct epoll_event event = { .events = EPOLLIN };

	for (u32 i = 0; i < n_calls; i++)
		if (epoll_ctl(chain[NESTED], EPOLL_CTL_ADD, chain[NESTED - 1], &event) ||
		    epoll_ctl(chain[NESTED], EPOLL_CTL_DEL, chain[NESTED - 1], NULL))
			fail_work("epoll_ctl");
}

/* k KiB and 7 bytes, so many times, over TCP to itself. */
static void send_all(void)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(0x7f000001) };
	int listening = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), from, at;
	static char bytes[SIZES << 10];
	socklen_t n = sizeof(to);

	if (bind(listening, (struct sockaddr *)&to, n) || listen(listening, 1) ||
	    getsockname(listening, (struct sockaddr *)&to, &n))
		fail_work("listen");
	from = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (connect(from, (struct sockaddr *)&to, n))
		fail_work("connect");
	at = accept4(listening, NULL, NULL, SOCK_CLOEXEC);
	for (u32 i = 0; i < n_calls / 10; i++)
		for (u32 k = 1; k < SIZES; k++) {
			u32 size = (k << 10) + 7;

			if (send(from, bytes, size, 0) != (ssize_t)size ||
			    recv(at, bytes, size, MSG_WAITALL) != (ssize_t)size)
				fail_work("send");
		}
	close(from);
	close(at);
	close(listening);
}

/* Datagrams to a socket of its own, as a thread of another name: each is one buffer of the
 * kernel's. */
static void send_datagrams(void)
{
	int ends[2];
	char byte;

	if (socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, ends) ||
	    prctl(PR_SET_NAME, "ebql_datagrams"))
		fail_work("socketpair");
	for (u32 i = 0; i < n_calls; i++)
		if (send(ends[0], "x", 1, 0) != 1 || recv(ends[1], &byte, 1, 0) != 1)
			fail_work("datagram");
	close(ends[0]);
	close(ends[1]);
}

static int work(void)
{
	int fd = open_file(), null_fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
	char line[32];

	make_chain();
	work_answer("pid %d\n", getpid());
	while (work_line(line, sizeof(line))) {
		if (!strcmp(line, "read"))
			read_all(&fd);
		else if (!strcmp(line, "threads"))
			do_by_threads(read_all, fd);
		else if (!strcmp(line, "nulls"))
			do_by_threads(write_all, null_fd);
		else if (!strcmp(line, "send"))
			send_all();
		else if (!strcmp(line, "datagrams"))
			send_datagrams();
		else
			add_nested();
		work_answer("done\n");
	}
	unlink("/tmp/" FILE_NAME);
	return 0;
}

/* --- What ebql saw of it --- */

struct seen {
	struct watch watch;
	const char *path;					     /* SET access_path */
	u64 n[SIZES + 1], sum[SIZES + 1], latency[SIZES + 1], other; /* by key k */
	u32 n_windows;
	char name[READER_TEXT_BYTES], fallback[READER_TEXT_BYTES]; /* of the first batch */
	u32 n_fallbacks;
	u64 missed;
};

static void take_row(void *context, const struct line *line)
{
	struct seen *s = context;
	u64 k = line_number(line, "k");

	if (k > SIZES) {
		s->other++;
		return;
	}
	s->n[k] += line_number(line, "n");
	s->sum[k] += line_number(line, "total");
	s->latency[k] += line_number(line, "spent");
	s->n_windows++;
	if (line_leaf(line, "name"))
		snprintf(s->name, sizeof(s->name), "%s", line_text(line, "name"));
}

static void take_batch(void *context, const struct line *line)
{
	struct seen *s = context;

	s->missed += line_number(line, "_batch.lost.missed");
	if (!line_leaf(line, "_batch.fallback"))
		return;
	snprintf(s->fallback, sizeof(s->fallback), "%s", line_text(line, "_batch.fallback"));
	assert_int_equal(s->watch.reader.totals.n_batches, s->n_fallbacks++ ? 0 : 1);
}

/* A kernel without them refuses, and says why. */
static void test_refusal(void **state)
{
	const char *const argv[] = { proc_ebql(), "-d", "1ms",
				     "SELECT count(*) FROM kprobe:vfs_read", NULL };
	struct proc ebql = { 0 };

	(void)state;
	watch_require();
	proc_start(&ebql, argv, 0);
	assert_int_equal(proc_wait_exit(&ebql, 60000), 1);
	if (!strstr(ebql.err_text.at, "error[attach-failed]") ||
	    !strstr(ebql.err_text.at, "this kernel has no kprobes"))
		fail_msg("%s", ebql.err_text.at);
	proc_end_all();
}

static int setup(void **state)
{
	struct seen *s = calloc(1, sizeof(*s));

	s->path = *state;
	*state = s;
	return 0;
}

/* By trampolines, where these take a preempted program for a recursion and skip others? */
static bool may_miss(const struct seen *s)
{
	return is_preempted && !strcmp(s->path, "fentry");
}

static void watch_calls(struct seen *s, const char *work, const char *query)
{
	const struct reader_totals *totals = &s->watch.reader.totals;
	char text[1024];

	watch_begin(&s->watch, take_row, s);
	s->watch.reader.batch = take_batch;
	s->watch.is_measured = is_preempted;
	snprintf(text, sizeof(text), query, s->watch.pid);
	watch_ebql(&s->watch, "SET access_path = %s; %s", s->path, text);
	watch_do(&s->watch, work, -1);
	if (may_miss(s))
		return;
	assert_int_equal(totals->lost, 0);
	/* Who waits for something to read, as the workload does for its next order. */
	assert_int_equal(totals->unpaired, totals->never_ended);
}

static void expect_reads(struct seen *s, u32 n_readers, bool is_of_returns)
{
	for (u32 k = 0; k < SIZES; k++) {
		u64 n = (u64)n_calls * n_readers * (k + 1);
		u64 n_full = (u64)n_calls * n_readers * k; /* the others return 0 */

		assert_int_equal(s->n[k + 1], n);
		assert_int_equal(s->sum[k + 1], (is_of_returns ? n_full : n) * (k + 1));
	}
	assert_int_equal(s->n[0], 0);
	assert_int_equal(s->other, 0);
}

#define OF_FILE "file.f_path.dentry.d_name.name = '" FILE_NAME "'"

static void test_entries(void **state)
{
	watch_calls(*state, "read",
		    "SELECT count AS k, count(*) AS n, sum(count) AS total FROM kprobe:vfs_read "
		    "WHERE " OF_FILE " GROUP BY k");
	expect_reads(*state, 1, false);
}

static void test_name_is_key(void **state)
{
	struct seen *s = *state;

	watch_calls(s, "read",
		    "SELECT file.f_path.dentry.d_name.name AS name, 1 AS k, count(*) AS n "
		    "FROM fentry:vfs_read WHERE pid = %d GROUP BY name HAVING n > 9");
	assert_string_equal(s->name, FILE_NAME);
	assert_int_equal(s->n[1], n_calls * SIZES * (SIZES + 1) / 2);
}

static void test_returns(void **state)
{
	struct seen *s = *state;

	watch_calls(s, "read",
		    "SELECT ret AS k, count(*) AS n, sum(ret) AS total FROM kretprobe:vfs_read "
		    "WHERE pid = %d GROUP BY k");
	for (u32 k = 1; k < SIZES; k++) {
		assert_int_equal(s->n[k + 1], n_calls * k);
		assert_int_equal(s->sum[k + 1], (u64)n_calls * k * (k + 1));
	}
}

/* What the whole run lost by that cause. */
static u64 lost_of_run(const struct seen *s, const char *cause)
{
	const char *lost = strstr(s->watch.ebql.err_text.at, "\"lost\": {"), *at;
	unsigned long n = 0;
	char key[32];

	assert_non_null(lost);
	snprintf(key, sizeof(key), "\"%s\": ", cause);
	at = strstr(lost, key);
	if (at && at < strchr(lost, '}'))
		assert_int_equal(sscanf(at + strlen(key), "%lu", &n), 1);
	return n;
}

/*
 * Each write is an entry and a return, each of which is seen or missed: what was seen, in spans or
 * without its partner, and what was missed are twice the writes.  The run has each once; of two
 * windows both tell what was missed while the first of them ended.  (Of a call whose return was
 * missed the entry may meet the return of the next one, whose entry was: so nothing is said of
 * sizes.)
 */
static void expect_writes(const struct seen *s)
{
	const struct reader_totals *t = &s->watch.reader.totals;
	u64 missed = lost_of_run(s, "missed"), unpaired = lost_of_run(s, "unpaired"), n = 0;

	for (u32 k = 0; k < SIZES; k++)
		n += s->n[k + 1];
	assert_int_equal(s->n[0] + s->other, 0);
	assert_int_equal(t->lost, s->missed);
	assert_true(t->unpaired >= unpaired && s->missed >= missed);
	assert_int_equal(2 * n + unpaired + missed,
			 2 * (u64)n_calls * n_threads * SIZES * (SIZES + 1) / 2);
}

static void watch_spans(struct seen *s, const char *window)
{
	char query[512];

	snprintf(query, sizeof(query),
		 "SELECT count AS k, count(*) AS n, sum(ret) AS total, sum(latency) AS spent "
		 "FROM function:%s GROUP BY k %s",
		 may_miss(s) ? "write_null" : "vfs_read WHERE " OF_FILE, window);
	watch_calls(s, may_miss(s) ? "nulls" : "threads", query);
	if (may_miss(s))
		expect_writes(s);
	else
		expect_reads(s, n_threads, true);
}

static void test_spans(void **state)
{
	watch_spans(*state, "");
}

static void watch_windows(struct seen *s, const char *window)
{
	watch_spans(s, window);
	print_message("# %u rows of %llu windows, %llu hits missed\n", s->n_windows,
		      (unsigned long long)s->watch.reader.totals.n_batches,
		      (unsigned long long)(may_miss(s) ? lost_of_run(s, "missed") : 0));
}

static void test_windows_1ms(void **state)
{
	watch_windows(*state, "WINDOW TUMBLING 1ms");
	assert_true(((struct seen *)*state)->n_windows > SIZES);
}

static void test_windows_10ms(void **state)
{
	watch_windows(*state, "WINDOW TUMBLING 10ms");
	assert_true(((struct seen *)*state)->n_windows > SIZES);
}

static void test_windows_100ms(void **state)
{
	watch_windows(*state, "WINDOW TUMBLING 100ms");
}

/* Where trampolines would miss some, kprobes are taken, and that is told. */
static void test_choice(void **state)
{
	struct seen *s = *state;

	watch_calls(s, "nulls",
		    "SELECT count AS k, count(*) AS n, sum(ret) AS total FROM function:write_null "
		    "GROUP BY k");
	expect_writes(s);
	assert_non_null(strstr(s->fallback, "write_null: by a kprobe: this kernel preempts "
					    "programs of trampolines, and then skips others"));
	assert_int_equal(s->missed, 0);
}

/* Each depth once a call, and what is within took less time than what is around it. */
static void recursion(struct seen *s, const char *functions)
{
	char query[256];

	snprintf(query, sizeof(query),
		 "SELECT depth AS k, count(*) AS n, sum(latency) AS spent "
		 "FROM function:\"%s\" WHERE pid = %%d GROUP BY k",
		 functions);
	watch_calls(s, "nest", query);
	for (u32 depth = 0; depth < NESTED; depth++) {
		assert_int_equal(s->n[depth], n_calls);
		assert_true(!depth || s->latency[depth] < s->latency[depth - 1]);
	}
	assert_int_equal(s->n[NESTED], 0);
}

static void test_recursion(void **state)
{
	recursion(*state, "ep_loop_check_proc");
}

/* As one of a wildcard's functions: by the thread, and not by the call's frame. */
static void test_recursion_of_wildcard(void **state)
{
	recursion(*state, "ep_loop_check_pro?");
}

/* Each call has the return of its own, among those of another function. */
static void test_many_spans(void **state)
{
	struct seen *s = *state;

	watch_calls(s, "threads",
		    "SELECT probe AS name, count AS k, count(*) AS n, sum(ret) AS total "
		    "FROM function:\"vfs_[rw]?[ai]*[de]\" WHERE " OF_FILE " GROUP BY probe, k "
		    "WINDOW TUMBLING 10ms");
	expect_reads(s, n_threads, true);
	assert_string_equal(s->name, "function:vfs_read");
}

/* By size in KiB, and the bytes are those that were sent. */
static void test_sent(void **state)
{
	struct seen *s = *state;

	watch_calls(s, "send",
		    "SELECT size / 1KiB AS k, count(*) AS n, sum(ret) AS total, "
		    "sum(latency) AS spent FROM function:tcp_sendmsg WHERE pid = %d GROUP BY k");
	for (u32 k = 1; k < SIZES; k++) {
		assert_int_equal(s->n[k], n_calls / 10);
		assert_int_equal(s->sum[k], (u64)(n_calls / 10) * ((k << 10) + 7));
		assert_true(s->latency[k]);
	}
	assert_int_equal(s->n[0] + s->other, 0);
}

static void test_buffers_by_name(void **state)
{
	struct seen *s = *state;

	watch_calls(s, "datagrams",
		    "SELECT comm AS name, 1 AS k, count(*) AS n FROM kprobe:__alloc_skb "
		    "WHERE pid = %d AND comm LIKE 'ebql_data%%' GROUP BY name");
	assert_string_equal(s->name, "ebql_datagrams");
	assert_int_equal(s->n[1], n_calls);
}

/* One program on many functions: each call is that of its function, and what is left out is told.
 */
static void test_wildcard(void **state)
{
	struct seen *s = *state;

	watch_calls(
		s, "threads",
		"SELECT probe AS name, 1 AS k, count(*) AS n FROM kprobe:vfs_* WHERE pid = %d AND tid <> pid "
		"GROUP BY probe HAVING n > 999");
	assert_string_equal(s->name, "kprobe:vfs_read");
	assert_int_equal(s->n[1], (u64)n_calls * n_threads * SIZES * (SIZES + 1) / 2);
	assert_non_null(strstr(s->watch.ebql.err_text.at, "warning[left-out]"));
}

/* vfs_read, and one where no kprobe may be: oops_end, do_mem_abort. */
#if defined(__x86_64__)
#define READ_AND_ONE "[vo][fo][sp][_s][r_]e[an]d"
#else
#define READ_AND_ONE "[vd][fo][s_][_m][re][em]*[dt]"
#endif

/*
 * Where functions are attached to one after the other, those where no kprobe may be are left out;
 * one link takes them.  What is left of it is counted and told.
 */
static void test_left_out(void **state)
{
	struct seen *s = *state;
	const char *told;

	watch_calls(s, "threads",
		    "SELECT probe AS name, 1 AS k, count(*) AS n FROM kprobe:\"" READ_AND_ONE
		    "\" WHERE pid = %d AND tid <> pid GROUP BY probe");
	assert_string_equal(s->name, "kprobe:vfs_read");
	assert_int_equal(s->n[1], (u64)n_calls * n_threads * SIZES * (SIZES + 1) / 2);
	told = s->watch.ebql.err_text.at;
	if (strstr(told, "2 functions, by one link")) {
		assert_null(strstr(told, "left-out"));
		assert_null(strstr(s->fallback, "refuses"));
		return;
	}
	assert_non_null(strstr(told, "warning[left-out]: 1 of the 2 functions of " READ_AND_ONE));
	assert_non_null(strstr(s->fallback, "2 functions, one after the other: this kernel has no "
					    "links for many: the kernel refuses 1 of its 2"));
}

static void skip_row(void *context, const struct line *line)
{
}

/*
 * The program on many functions is not run while another program runs on its CPU, which calls one
 * of them for each read that it sees: the kernel counts what that leaves out.
 */
static void test_missed(void **state)
{
	static struct watch caller;
	struct seen *s = *state;

	watch_begin(&s->watch, take_row, s);
	watch_open(&caller, skip_row, NULL);
	watch_ebql(&caller,
		   "SET access_path = tracepoint; SELECT sum(user(buf, 'struct iovec').iov_len) "
		   "FROM tracepoint:syscalls:sys_enter_pread64 WHERE pid = %d",
		   s->watch.pid);
	watch_ebql(&s->watch, "SELECT 1 AS k, count(*) AS n FROM kprobe:copy_from_*_nofault");
	watch_do(&s->watch, "read", 3);
	watch_end(&caller, 0);
	assert_int_equal(s->watch.reader.totals.lost, n_calls * SIZES * (SIZES + 1) / 2);
	watch_close(&caller);
}

/* One link for many functions, and its misses, 6.7 has. */
static bool has_missed(void)
{
	u32 major = 0, minor = 0;
	struct utsname name;

	return !uname(&name) && sscanf(name.release, "%u.%u", &major, &minor) == 2 &&
	       (major > 6 || (major == 6 && minor >= 7));
}

#define BY(test, path)                                                                             \
	{                                                                                          \
#test "_" path, test, setup, watch_teardown, (void *)path                          \
	}

static bool boots_preempted(void)
{
	struct buf words;
	bool is_so;

	buf_init(&words);
	is_so = !buf_read_file(&words, "/proc/cmdline", 65536) && strstr(words.at, "preempt=full");
	buf_free(&words);
	return is_so;
}

int main(int argc, char **argv)
{
	const struct CMUnitTest refusals[] = { cmocka_unit_test(test_refusal) };
	const struct CMUnitTest tests[] = {
		BY(test_entries, "fentry"),
		BY(test_entries, "kprobe"),
		BY(test_name_is_key, "fentry"),
		BY(test_name_is_key, "kprobe"),
		BY(test_returns, "fentry"),
		BY(test_returns, "kprobe"),
		BY(test_spans, "fentry"),
		BY(test_spans, "kprobe"),
		BY(test_windows_1ms, "fentry"),
		BY(test_windows_10ms, "fentry"),
		BY(test_windows_10ms, "kprobe"),
		BY(test_windows_100ms, "fentry"),
		BY(test_recursion, "fentry"),
		BY(test_recursion, "kprobe"),
		BY(test_recursion_of_wildcard, "kprobe"),
		BY(test_many_spans, "kprobe"),
		BY(test_sent, "fentry"),
		BY(test_sent, "kprobe"),
		BY(test_buffers_by_name, "fentry"),
		BY(test_buffers_by_name, "kprobe"),
		BY(test_wildcard, "kprobe"),
		BY(test_left_out, "kprobe"),
		BY(test_missed, "kprobe"),
	};
	const struct CMUnitTest preempted[] = {
		BY(test_spans, "fentry"),	  BY(test_windows_1ms, "fentry"),
		BY(test_windows_10ms, "fentry"),  BY(test_windows_10ms, "kprobe"),
		BY(test_windows_100ms, "fentry"), BY(test_choice, "auto"),
	};
	u32 n_tests = ARRAY_SIZE(tests) - !has_missed();

	is_preempted = boots_preempted();
	if (watch_is_quick(argc, argv))
		n_calls = 300;
	if (getenv("EBQL_TEST_LONG")) {
		n_threads = THREADS_MAX;
		n_calls = 10000000 / 2 / (n_threads * SIZES * (SIZES + 1) / 2) + 1;
	}
	if (argc == 3 && !strcmp(argv[1], "--work"))
		return work();
	if (access("/sys/bus/event_source/devices/kprobe", F_OK))
		return cmocka_run_group_tests_name("function", refusals, NULL, NULL);
	if (is_preempted)
		return cmocka_run_group_tests_name("function", preempted, NULL, NULL);
	return _cmocka_run_group_tests("function", tests, n_tests, NULL, NULL);
}
