/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Functions of programs: this test, as a workload of many threads, calls functions of its own a
 * known number of times, and ebql counts entries, returns and spans of them in windows, by
 * equality.  --quick (slow guests): fewer calls; --long: ten million.
 */
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "session.h"
#include "twin.h"
#include "watch.h"

/* The kernel keeps 64 returns of a thread (MAX_URETPROBE_DEPTH). */
enum { THREADS = 64, KINDS = 16, DEEPEST = 16, DEPTH = 100, DEPTH_KEPT = 64 };

static u32 n_calls = 2400; /* of each thread, a multiple of KINDS, and five times one of DEEPEST */

/* Each is up to DEEPEST calls. */
static u32 n_recursions(void)
{
	return n_calls / 5;
}

/* --- The workload --- */

u64 traced_call(u64 kind, u64 number);
u64 traced_recursion(u64 depth);

__attribute__((noinline)) u64 traced_call(u64 kind, u64 number)
{
	__asm__ volatile("" : "+r"(kind) : : "memory");
	return number + kind;
}

__attribute__((noinline)) u64 traced_recursion(u64 depth)
{
	u64 below = depth ? traced_recursion(depth - 1) : 0;

	/* So that the compiler makes no loop of it. */
	__asm__ volatile("" : "+r"(below) : : "memory");
	return 1 + below;
}

/* Another name of the same code. */
extern __typeof__(traced_call) traced_alias __attribute__((alias("traced_call")));

/* Of two instructions, of which the second one is STEP bytes behind the first. */
u64 stepped_call(void);
#ifdef __x86_64__
#define STEP  "5"
#define FIRST "movl $7, %eax"
#else
#define STEP  "4"
#define FIRST "mov x0, #7"
#endif
__asm__(".text\n.globl stepped_call\n.type stepped_call, %function\nstepped_call:\n" FIRST
	"\nret\n.size stepped_call, . - stepped_call\n");

static void *call(void *unused)
{
	u64 sum = 0;

	for (u32 i = 0; i < n_calls; i++)
		sum += traced_call(i % KINDS, i);
	return (void *)(uintptr_t)sum;
}

static void *call_twins(void *unused)
{
	const volatile twin_function twins[2] = { twin_call, other_twin() };
	u64 sum = 0;

	for (u32 i = 0; i < n_calls; i++)
		sum += twins[i % 2](i % KINDS, i);
	return (void *)(uintptr_t)sum;
}

static void *recurse(void *unused)
{
	u64 sum = 0;

	for (u32 i = 0; i < n_recursions(); i++)
		sum += traced_recursion(i % DEEPEST);
	return (void *)(uintptr_t)sum;
}

static void *call_and_recurse(void *unused)
{
	u64 sum = 0;

	for (u32 i = 0; i < n_calls / 8; i++)
		sum += traced_call(i % KINDS, i) + traced_recursion(i % 2);
	return (void *)(uintptr_t)sum;
}

/* Their stacks are at the same addresses, each in memory of its own. */
static void call_by_processes(void)
{
	for (u32 i = 0; i < THREADS; i++) {
		int pid = fork();

		if (pid < 0)
			_exit(1);
		if (pid == 0) {
			call(NULL);
			_exit(0);
		}
	}
	while (wait(NULL) > 0)
		;
}

static void run_by_threads(void *(*run)(void *))
{
	pthread_t threads[THREADS];

	for (u32 i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, run, NULL))
			_exit(1);
	for (u32 i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
}

static int work(void)
{
	char line[32];

	work_answer("pid %d\n", getpid());
	while (work_line(line, sizeof(line))) {
		if (!strcmp(line, "fork"))
			call_by_processes();
		else if (!strcmp(line, "deep"))
			for (u32 i = 0; i < n_calls / DEPTH; i++)
				traced_recursion(DEPTH + stepped_call() - 7);
		else
			run_by_threads(!strcmp(line, "call")	? call
				       : !strcmp(line, "both")	? call_and_recurse
				       : !strcmp(line, "twins") ? call_twins
								: recurse);
		work_answer("done\n");
	}
	return 0;
}

/* --- What ebql saw of it --- */

struct seen {
	struct watch watch;
	u64 n[KINDS], total[KINDS], other;
	u32 n_rows;
	struct watch twin; /* another process of this program, that does the same, where it is */
};

/* tests/vm/guest asks which of them it was. */
static void expect_sum(const char *name, u64 have, u64 want)
{
	if (have != want)
		fail_msg("%s: %" PRIu64 " != %" PRIu64, name, have, want);
}

static void take_row(void *context, const struct line *line)
{
	struct seen *s = context;
	u64 k = line_number(line, "k");

	if (k >= KINDS) {
		s->other++;
		return;
	}
	/* Of each event a window has all or nothing. */
	if (line_leaf(line, "whole"))
		expect_sum("whole", line_number(line, "whole"), k * line_number(line, "n"));
	s->n[k] += line_number(line, "n");
	s->total[k] += line_number(line, "total");
	s->n_rows++;
}

/* format has a %s for this program's path. */
static struct seen *watch_calls(void **state, const char *work, const char *format)
{
	struct seen *s = *state;
	char path[WATCH_PATH_BYTES], query[1024];

	watch_own_path(path);
	snprintf(query, sizeof(query), format, path);
	watch_begin(&s->watch, take_row, s);
	s->watch.is_of_process = s->twin.pid;
	watch_ebql(&s->watch, "%s", query);
	if (s->twin.pid)
		watch_tell(&s->twin, work, "done\n");
	watch_do(&s->watch, work, -1);
	assert_int_equal(s->other, 0);
	assert_int_equal(s->watch.reader.totals.lost, 0);
	return s;
}

/* The same, of which no call is without its partner. */
static struct seen *watch_all(void **state, const char *work, const char *format)
{
	struct seen *s = watch_calls(state, work, format);

	assert_int_equal(s->watch.reader.totals.unpaired, 0);
	return s;
}

/* Of call numbers i, 0 <= i < n_calls, those with i % KINDS == k; more: what is added to each. */
static void expect_calls(const struct seen *s, bool has_kind)
{
	for (u32 k = 0; k < KINDS; k++) {
		u64 n = n_calls / KINDS, total = 0;

		for (u32 i = k; i < n_calls; i += KINDS)
			total += i + (has_kind ? k : 0);
		expect_sum("n", s->n[k], n * THREADS);
		expect_sum("total", s->total[k], total * THREADS);
	}
}

#define ENTRIES(window)                                                                            \
	"SELECT arg0 AS k, count(*) AS n, sum(arg1) AS total, histogram(arg1) AS h, "              \
	"sum(arg0) AS whole FROM uprobe:%s:traced_call "                                           \
	"GROUP BY k WINDOW TUMBLING " window

static void test_entries_1ms(void **state)
{
	expect_calls(watch_all(state, "call", ENTRIES("1ms")), false);
}

static void test_entries_10ms(void **state)
{
	expect_calls(watch_all(state, "call", ENTRIES("10ms")), false);
}

static void test_entries_100ms(void **state)
{
	expect_calls(watch_all(state, "call", ENTRIES("100ms")), false);
}

static void expect_returns(void **state, const char *format)
{
	struct seen *s = watch_all(state, "call", format);
	u64 total = 0;

	for (u32 i = 0; i < n_calls; i++)
		total += i + i % KINDS;
	assert_int_equal(s->n[0], (u64)n_calls * THREADS);
	assert_int_equal(s->total[0], total * THREADS);
}

#define RETURNS(name)                                                                              \
	"SELECT 0 AS k, count(*) AS n, sum(ret) AS total FROM uretprobe:%s:" name                  \
	" WINDOW TUMBLING 10ms"

static void test_returns(void **state)
{
	expect_returns(state, RETURNS("traced_call"));
}

/* Of all places by one program. */
static void test_wildcard_returns(void **state)
{
	expect_returns(state, RETURNS("traced_*"));
}

#define SPANS                                                                                      \
	"SELECT arg0 AS k, count(*) AS n, sum(ret) AS total FROM userfunction:%s:traced_call "     \
	"GROUP BY k WINDOW TUMBLING 10ms"

static void test_spans(void **state)
{
	expect_calls(watch_all(state, "call", SPANS), true);
}

static void test_processes(void **state)
{
	expect_calls(watch_all(state, "fork", SPANS), true);
}

/* A call of depth d is one of each depth up to it, and returns d + 1. */
static void recursion(void **state, const char *query)
{
	struct seen *s = watch_all(state, "recurse", query);

	for (u32 k = 0; k < DEEPEST; k++) {
		u64 n = (u64)n_recursions() / DEEPEST * (DEEPEST - k) * THREADS;

		assert_int_equal(s->n[k], n);
		assert_int_equal(s->total[k], n * (k + 1));
	}
}

#define RECURSIONS(name, where)                                                                    \
	"SELECT arg0 AS k, count(*) AS n, sum(ret) AS total "                                      \
	"FROM userfunction:%s:" name " " where " GROUP BY k WINDOW TUMBLING 10ms"

static void test_recursion(void **state)
{
	recursion(state, RECURSIONS("traced_recursion", ""));
}

/* Of several functions, each by itself. */
static void test_wildcard_spans(void **state)
{
	recursion(state, RECURSIONS("traced_*", "WHERE probe LIKE '%%:traced_recursion'"));
}

/* Two functions of one name, that take turns. */
static void test_twins(void **state)
{
	expect_calls(watch_all(state, "twins",
			       "SELECT CASE probe WHEN 'userfunction:' || '%1$s' || ':twin_call' "
			       "THEN arg0 ELSE 99 END AS k, count(*) AS n, sum(ret) AS total "
			       "FROM userfunction:%1$s:*_call GROUP BY k WINDOW TUMBLING 10ms"),
		     true);
}

/* One text of `probe` is one group, whichever function it is. */
static void test_twins_by_name(void **state)
{
	struct seen *s =
		watch_all(state, "twins",
			  "SELECT 0 AS k, probe, count(*) AS n, 0 AS total "
			  "FROM userfunction:%s:*_call GROUP BY probe WINDOW COUNT 1000000000");

	assert_int_equal(s->n[0], (u64)n_calls * THREADS);
	assert_int_equal(s->n_rows, 1);
}

/* What is deeper has no return; and of no other call does it become the partner. */
static void test_deep(void **state)
{
	struct seen *s = watch_calls(state, "deep",
				     "SELECT 0 AS k, count(*) AS n, sum(ret) AS total "
				     "FROM userfunction:%s:traced_recursion WINDOW TUMBLING 10ms");
	u64 n = n_calls / DEPTH, total = 0;

	for (u32 i = 0; i < DEPTH_KEPT; i++)
		total += DEPTH - i + 1;
	assert_int_equal(s->n[0], n * DEPTH_KEPT);
	assert_int_equal(s->total[0], n * total);
	assert_int_equal(s->watch.reader.totals.never_started, 0);
	assert_true(s->watch.reader.totals.unpaired > 0);
}

/* At an instruction within a function. */
static void test_within(void **state)
{
	struct seen *s = watch_all(state, "deep",
				   "SELECT 0 AS k, count(*) AS n, 0 AS total "
				   "FROM uprobe:%s:stepped_call+" STEP);

	assert_int_equal(s->n[0], n_calls / DEPTH);
}

/* An event under two names is no partner of its own: that is the call before it. */
static void test_aliases(void **state)
{
	struct seen *s = watch_calls(state, "call",
				     "SELECT 0 AS k, count(*) AS n, sum(a.arg1 - b.arg1) AS total "
				     "FROM uprobe:%1$s:traced_call AS a PAIR JOIN "
				     "uprobe:%1$s:traced_alias AS b ON a.tid = b.tid");

	assert_int_equal(s->n[0], (n_calls - 1) * THREADS);
	assert_int_equal(s->total[0], s->n[0]);
}

/* Each of its places is known by its name, also while others are hit on the same CPU. */
static void test_names(void **state)
{
	struct seen *s = watch_all(state, "both",
				   "SELECT CASE probe WHEN 'uprobe:' || '%1$s' || ':traced_alias' "
				   "THEN 0 WHEN 'uprobe:' || '%1$s' || ':traced_recursion' THEN 1 "
				   "ELSE 2 END AS k, count(*) AS n, sum(arg0) AS total "
				   "FROM uprobe:%1$s:traced_* GROUP BY probe WINDOW TUMBLING 10ms");
	u64 n = n_calls / 8;

	/* Of two names of one place the first by the alphabet. */
	assert_int_equal(s->n[0], n * THREADS);
	assert_int_equal(s->n[1], (n + n / 2) * THREADS);
	assert_int_equal(s->n[2], 0);
}

/* -p: of two processes of one program those of one, and the other does not even come by. */
static void of_process(void **state, const char *format, bool has_kind)
{
	struct seen *s = *state;

	watch_begin(&s->twin, NULL, NULL);
	expect_calls(watch_all(state, "call", format), has_kind);
	assert_int_equal(s->watch.reader.totals.events, (u64)n_calls * THREADS);
}

static int close_twin(void **state)
{
	watch_close(&((struct seen *)*state)->twin);
	return watch_teardown(state);
}

#define TWIN_TEST(test)                                                                            \
	{                                                                                          \
#test, test, watch_setup, close_twin, (void *)sizeof(struct seen)                  \
	}

static void test_process(void **state)
{
	of_process(state,
		   "SELECT arg0 AS k, count(*) AS n, sum(arg1) AS total, sum(arg0) AS whole "
		   "FROM uprobe:%s:traced_* GROUP BY k WINDOW TUMBLING 10ms",
		   false);
}

static void test_process_spans(void **state)
{
	of_process(state, SPANS, true);
}

/* In a container another file has the path of ours. */
static void test_container(void **state)
{
	static const char script[] =
		"mkdir -p $1/here $1/there && cp $0 $1/here/program && cp $0 $1/there/program && "
		"exec unshare -m sh -c 'mount --bind $0/there $0/here && "
		"exec $0/here/program --work here' $1";
	struct seen *s = *state;
	char own[WATCH_PATH_BYTES], folder[64], clean[128];
	const char *args[] = { "-c", script, own, folder, NULL };

	watch_require();
	watch_own_path(own);
	snprintf(folder, sizeof(folder), "/tmp/ebql_container.%d", getpid());
	watch_open(&s->watch, take_row, s);
	watch_start(&s->watch, "/bin/sh", args);
	s->watch.is_of_process = true;
	watch_ebql(&s->watch,
		   "SELECT arg0 AS k, count(*) AS n, sum(arg1) AS total, sum(arg0) AS whole "
		   "FROM uprobe:%s/here/program:traced_call GROUP BY k WINDOW TUMBLING 10ms",
		   folder);
	snprintf(clean, sizeof(clean), "rm -r %s", folder);
	assert_int_equal(system(clean), 0);
	watch_do(&s->watch, "call", 0);
	expect_calls(s, false);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		WATCH_TEST(test_entries_1ms, struct seen),
		WATCH_TEST(test_entries_10ms, struct seen),
		WATCH_TEST(test_entries_100ms, struct seen),
		WATCH_TEST(test_returns, struct seen),
		WATCH_TEST(test_spans, struct seen),
		WATCH_TEST(test_processes, struct seen),
		WATCH_TEST(test_recursion, struct seen),
		WATCH_TEST(test_deep, struct seen),
		WATCH_TEST(test_within, struct seen),
		WATCH_TEST(test_aliases, struct seen),
		WATCH_TEST(test_wildcard_returns, struct seen),
		WATCH_TEST(test_wildcard_spans, struct seen),
		WATCH_TEST(test_twins, struct seen),
		WATCH_TEST(test_twins_by_name, struct seen),
		WATCH_TEST(test_names, struct seen),
		TWIN_TEST(test_process),
		TWIN_TEST(test_process_spans),
		WATCH_TEST(test_container, struct seen),
	};

	if (watch_is_quick(argc, argv)) {
		n_calls = 400;
	} else if (session_is_long()) {
		n_calls = 160000;
	}
	if (argc == 3 && !strcmp(argv[1], "--work"))
		return work();
	return cmocka_run_group_tests_name("program", tests, NULL, NULL);
}
