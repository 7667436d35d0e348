/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Probes that a program was built with (sys/sdt.h): this test, as a workload, passes probes of its
 * own a known number of times, and ebql counts them in windows and sums their arguments, by
 * equality.  --quick (slow guests): fewer passes; --long: ten million.
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sdt.h>
#include <unistd.h>

#include <cmocka.h>

#include "session.h"
#include "usdt.h"
#include "watch.h"

enum { THREADS = 64, KINDS = 16 };

static u32 n_calls = 2400; /* of each thread, a multiple of KINDS */

/* --- The workload --- */

static void *call(void *unused)
{
	for (u32 i = 0; i < n_calls; i++) {
		u64 number = i;

		DTRACE_PROBE2(ebql_test, call, i % KINDS, number);
	}
	return NULL;
}

static void run_by_threads(void)
{
	pthread_t threads[THREADS];

	for (u32 i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, call, NULL))
			_exit(1);
	for (u32 i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
}

/* A variable of the file, one of the thread's stack, an element, a constant, all widths and signs.
 */
static s32 counter;
static s64 elements[KINDS];

struct shapes {
	s8 a;
	u8 b;
	s16 c;
	u16 d;
	s32 e;
	u32 f;
	s64 g;
	u64 h;
};

static struct shapes shapes_of(u32 i)
{
	return (struct shapes){ (s8)(i * 7),   (u8)(i * 7),  (s16)(i * 4999),	(u16)(i * 4999),
				-(s32)(i * 3), i * 4000000u, -(s64)i * 9000001, (u64)i << 33 };
}

static __attribute__((noinline)) void pass_shapes(const struct shapes *s, u32 i)
{
	volatile s32 local = (s32)i * -5;

	DTRACE_PROBE8(ebql_test, widths, s->a, s->b, s->c, s->d, s->e, s->f, s->g, s->h);
	DTRACE_PROBE6(ebql_test, memory, counter, local, elements[i % KINDS], -7, 3000000000u,
		      s->c + s->d);
}

static void run_shapes(void)
{
	for (u32 i = 0; i < KINDS; i++)
		elements[i] = -(s64)i * 11;
	for (u32 i = 0; i < n_calls; i++) {
		struct shapes s = shapes_of(i);

		counter = (s32)i * 3;
		pass_shapes(&s, i);
	}
}

/* It stands in each of its callers, with its argument somewhere else. */
static inline __attribute__((always_inline)) void pass(s64 x, double fraction)
{
	DTRACE_PROBE2(ebql_test, twice, x, fraction);
}

static __attribute__((noinline)) void pass_constant(void)
{
	pass(-1000, 0.5);
}

static __attribute__((noinline)) void pass_argument(s64 *x)
{
	pass(*x, 1.5);
}

static void run_places(void)
{
	for (u32 i = 0; i < n_calls; i++) {
		s64 x = i;

		pass_argument(&x);
		if (i % 2)
			pass_constant();
	}
}

/* In more places than there may be programs, and in each with another number. */
#define MANY4(x)                                                                                   \
	do {                                                                                       \
		DTRACE_PROBE1(ebql_test, many, x);                                                 \
		DTRACE_PROBE1(ebql_test, many, x + 1);                                             \
		DTRACE_PROBE1(ebql_test, many, x + 2);                                             \
		DTRACE_PROBE1(ebql_test, many, x + 3);                                             \
	} while (0)
#define MANY20(x)                                                                                  \
	do {                                                                                       \
		MANY4(x);                                                                          \
		MANY4(x + 4);                                                                      \
		MANY4(x + 8);                                                                      \
		MANY4(x + 12);                                                                     \
		MANY4(x + 16);                                                                     \
	} while (0)
enum { MANY = 80 };

static void run_many(void)
{
	for (u32 i = 0; i < n_calls; i++) {
		MANY20(100);
		MANY20(200);
		MANY20(300);
		MANY20(400);
	}
}

static int work(void)
{
	char line[32];

	work_answer("pid %d\n", getpid());
	while (work_line(line, sizeof(line))) {
		if (!strcmp(line, "call"))
			run_by_threads();
		else if (!strcmp(line, "shapes"))
			run_shapes();
		else if (!strcmp(line, "places"))
			run_places();
		else if (!strcmp(line, "ask"))
			usdt_ask(n_calls);
		else if (!strcmp(line, "many"))
			run_many();
		else if (!strcmp(line, "twins"))
			usdt_twins(n_calls);
		if (!strcmp(line, "listens"))
			work_answer(usdt_listens() ? "yes\n" : "no\n");
		else
			work_answer("done\n");
	}
	return 0;
}

/* --- What ebql saw of it --- */

enum { SUMS = 8 };

struct seen {
	struct watch watch;
	u64 n[KINDS];
	s64 total[KINDS], sums[SUMS];
	u32 n_rows;
};

static void take_row(void *context, const struct line *line)
{
	struct seen *s = context;
	u64 k = line_number(line, "k");

	assert_true(k < KINDS);
	s->n[k] += line_number(line, "n");
	for (u32 i = 0; i < SUMS; i++) {
		char name[4] = { 's', (char)('0' + i) };

		if (line_leaf(line, name))
			s->sums[i] += (s64)line_number(line, name);
	}
	/* Of each event a window has all or nothing. */
	if (line_leaf(line, "whole"))
		assert_int_equal(line_number(line, "whole"), k * line_number(line, "n"));
	if (line_leaf(line, "total"))
		s->total[k] += (s64)line_number(line, "total");
	s->n_rows++;
}

/* format has a %s for this program's path. */
static struct seen *watch_passes(void **state, const char *work, const char *format)
{
	struct seen *s = *state;
	char path[WATCH_PATH_BYTES], query[1024];

	watch_own_path(path);
	snprintf(query, sizeof(query), format, path);
	watch_begin(&s->watch, take_row, s);
	watch_tell(&s->watch, "listens", "no\n");
	watch_ebql(&s->watch, "%s", query);
	watch_tell(&s->watch, work, "done\n");
	return s;
}

#define CALLS(window)                                                                              \
	"SELECT arg0 AS k, count(*) AS n, sum(arg1) AS total, histogram(arg1) AS h, "              \
	"sum(arg0) AS whole FROM usdt:%s:ebql_test:call "                                          \
	"GROUP BY k WINDOW TUMBLING " window

static void passes(void **state, const char *format)
{
	struct seen *s = watch_passes(state, "call", format);

	watch_end(&s->watch, 0);
	for (u32 k = 0; k < KINDS; k++) {
		u64 total = 0;

		for (u32 i = k; i < n_calls; i += KINDS)
			total += i;
		assert_int_equal(s->n[k], n_calls / KINDS * THREADS);
		assert_int_equal(s->total[k], total * THREADS);
	}
}

static void test_passes_1ms(void **state)
{
	passes(state, CALLS("1ms"));
}

static void test_passes_10ms(void **state)
{
	passes(state, CALLS("10ms"));
}

static void test_passes_100ms(void **state)
{
	passes(state, CALLS("100ms"));
}

static void test_widths(void **state)
{
	struct seen *s = watch_passes(
		state, "shapes",
		"SELECT 0 AS k, count(*) AS n, sum(arg0) AS s0, sum(arg1) AS s1, sum(arg2) AS s2, "
		"sum(arg3) AS s3, sum(arg4) AS s4, sum(arg5) AS s5, sum(arg6) AS s6, "
		"sum(arg7) AS s7 FROM usdt:%s:widths");
	s64 sums[SUMS] = { 0 };

	watch_end(&s->watch, 0);
	for (u32 i = 0; i < n_calls; i++) {
		struct shapes x = shapes_of(i);

		sums[0] += x.a, sums[1] += x.b, sums[2] += x.c, sums[3] += x.d;
		sums[4] += x.e, sums[5] += x.f, sums[6] += x.g, sums[7] += (s64)x.h;
	}
	assert_int_equal(s->n[0], n_calls);
	for (u32 i = 0; i < SUMS; i++)
		assert_int_equal(s->sums[i], sums[i]);
}

static void test_memory(void **state)
{
	struct seen *s = watch_passes(
		state, "shapes",
		"SELECT 0 AS k, count(*) AS n, sum(arg0) AS s0, sum(arg1) AS s1, sum(arg2) AS s2, "
		"sum(arg3) AS s3, sum(arg4) AS s4, sum(arg5) AS s5 FROM usdt:%s:memory");
	s64 sums[SUMS] = { 0 };

	watch_end(&s->watch, 0);
	for (u32 i = 0; i < n_calls; i++) {
		struct shapes x = shapes_of(i);

		sums[0] += i * 3, sums[1] += (s64)i * -5, sums[2] += -(s64)(i % KINDS) * 11;
		sums[3] += -7, sums[4] += 3000000000, sums[5] += x.c + x.d;
	}
	assert_int_equal(s->n[0], n_calls);
	for (u32 i = 0; i < SUMS; i++)
		assert_int_equal(s->sums[i], sums[i]);
}

/* One stream and one name, wherever it stands. */
static void test_places(void **state)
{
	struct seen *s = watch_passes(state, "places",
				      "SELECT 0 AS k, probe, count(*) AS n, sum(arg0) AS s0 "
				      "FROM usdt:%s:ebql_test:twice GROUP BY probe");

	watch_end(&s->watch, 0);
	assert_int_equal(s->n_rows, 1);
	assert_int_equal(s->n[0], n_calls + n_calls / 2);
	assert_int_equal(s->sums[0], (s64)n_calls * (n_calls - 1) / 2 - 1000 * (s64)(n_calls / 2));
}

/* The program passes the probe only while somebody listens. */
static void test_semaphore(void **state)
{
	struct seen *s = watch_passes(state, "ask",
				      "SELECT 0 AS k, count(*) AS n, sum(arg0) AS s0 "
				      "FROM usdt:%s:ebql_asked:asked");

	watch_tell(&s->watch, "listens", "yes\n");
	watch_end(&s->watch, 0);
	watch_tell(&s->watch, "listens", "no\n");
	assert_int_equal(s->n[0], n_calls);
	assert_int_equal(s->sums[0], (s64)n_calls * (n_calls - 1) / 2);
}

/* All probes of a provider, of which each has arguments of its own. */
static void test_wildcard(void **state)
{
	struct seen *s = watch_passes(
		state, "shapes",
		"SELECT CASE probe WHEN 'usdt:' || '%1$s' || ':ebql_test:widths' THEN 0 "
		"WHEN 'usdt:' || '%1$s' || ':ebql_test:memory' THEN 1 ELSE 2 END AS k, "
		"count(*) AS n FROM usdt:%1$s:ebql_test:* GROUP BY probe");

	watch_end(&s->watch, 0);
	assert_int_equal(s->n[0], n_calls);
	assert_int_equal(s->n[1], n_calls);
	assert_int_equal(s->n[2], 0);
}

/* By one program, where none of the arguments is read. */
static void test_many(void **state)
{
	struct seen *s = watch_passes(state, "many",
				      "SELECT 0 AS k, count(*) AS n "
				      "FROM usdt:%s:ebql_test:many WINDOW TUMBLING 10ms");

	watch_end(&s->watch, 0);
	assert_int_equal(s->n[0], (u64)n_calls * MANY);
}

/* Of one probe and place a pass is one event, however many notes there are. */
static void test_twin_notes(void **state)
{
	struct seen *s = watch_passes(state, "twins",
				      "SELECT 0 AS k, count(*) AS n FROM usdt:%s:ebql_twin:again");

	watch_end(&s->watch, 0);
	assert_int_equal(s->n[0], n_calls);
}

/* Each of two probes at one place can be had alone. */
static void test_shared_place(void **state)
{
	struct seen *s = watch_passes(state, "twins",
				      "SELECT 0 AS k, count(*) AS n FROM usdt:%s:ebql_twin:second");

	watch_end(&s->watch, 0);
	assert_int_equal(s->n[0], n_calls);
}

/* What ebql answers to the command. */
static void expect_said(const char *command, const char *part)
{
	char path[WATCH_PATH_BYTES], line[2048], said[8192];
	FILE *f;
	size_t n;

	watch_own_path(path);
	snprintf(line, sizeof(line), command, proc_ebql(), path);
	f = popen(line, "r");
	assert_non_null(f);
	n = fread(said, 1, sizeof(said) - 1, f);
	said[n] = '\0';
	pclose(f);
	if (!strstr(said, part))
		fail_msg("%s: no \"%s\" in: %s", line, part, said);
}

/* But not both at once, by their two semaphores. */
static void test_other_semaphore(void **state)
{
	struct seen *s = watch_passes(state, "twins",
				      "SELECT 0 AS k, count(*) AS n FROM usdt:%s:ebql_twin:first");

	expect_said("%s 'SELECT 1 FROM usdt:%s:ebql_twin:second' 2>&1", "by another semaphore");
	/* Of one probe's places those that it can have. */
	expect_said("%s -d 10ms 'SELECT count(*) FROM usdt:%s:ebql_twin:both' 2>&1",
		    "warning[left-out]: 1 of the 2 places of ");
	expect_said("%s -d 10ms 'SELECT count(*) FROM usdt:%s:ebql_twin:both' 2>&1",
		    "  hint: somebody listens there by another semaphore");
	watch_end(&s->watch, 0);
	assert_int_equal(s->n[0], n_calls);
}

static void test_names(void **state)
{
	expect_said("%s list usdt:%s 2>&1", ":ebql_test:widths\n");
	expect_said("%s list 'usdt:%s:*ask*' 2>&1", ":ebql_asked:asked\n");
	expect_said("%s describe usdt:%s:widths 2>&1", "arg0    s8 ");
	expect_said("%s describe usdt:%s:twice 2>&1", "in 2 places of ");
	expect_said("%s describe usdt:%s:asked 2>&1", "by a semaphore");
	expect_said("%s explain 'SELECT 1 FROM usdt:%s:ebql_test:width' 2>&1",
		    ":ebql_test:widths\"?");
	expect_said("%s explain 'SELECT arg1 FROM usdt:%s:twice' 2>&1", "unreadable-argument");
	expect_said("%s explain 'SELECT arg1 FROM usdt:%s:twice' 2>&1", "a fraction");
	expect_said("%s explain 'SELECT arg2 FROM usdt:%s:twice' 2>&1", "unknown-column");
	expect_said("%s explain 'SELECT * FROM usdt:%s:twice' 2>&1", "arg0");
	expect_said("%s explain 'SELECT arg0 FROM usdt:%s:many' 2>&1", "error[too-many-places]");
	expect_said("%s describe usdt:%s:many 2>&1", "in 80 places of ");
	expect_said("%s explain 'SELECT 1 FROM usdt:%s:ebql_twin:*' 2>&1", "error[two-semaphores]");
	expect_said("twin=ebql_twin; %1$s explain \"SELECT 1 FROM usdt:%2$s:$twin:first UNION ALL "
		    "SELECT 1 FROM usdt:%2$s:$twin:second\" 2>&1",
		    "ebql_twin:first and ebql_twin:second stand at one place, and each has a "
		    "semaphore of its own");
	expect_said("%1$s explain \"SELECT 1 FROM usdt:%2$s:ebql_twin:first UNION ALL "
		    "SELECT 1 FROM uprobe:%2$s:usdt_twins_once+1\" 2>&1",
		    "stand at one place, and only one of them asks by a semaphore");
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		WATCH_TEST(test_passes_1ms, struct seen),
		WATCH_TEST(test_passes_10ms, struct seen),
		WATCH_TEST(test_passes_100ms, struct seen),
		WATCH_TEST(test_widths, struct seen),
		WATCH_TEST(test_memory, struct seen),
		WATCH_TEST(test_places, struct seen),
		WATCH_TEST(test_semaphore, struct seen),
		WATCH_TEST(test_wildcard, struct seen),
		WATCH_TEST(test_many, struct seen),
		WATCH_TEST(test_twin_notes, struct seen),
		WATCH_TEST(test_shared_place, struct seen),
		WATCH_TEST(test_other_semaphore, struct seen),
		cmocka_unit_test(test_names),
	};

	if (watch_is_quick(argc, argv)) {
		n_calls = 400;
	} else if (session_is_long()) {
		n_calls = 160000;
	}
	if (argc == 3 && !strcmp(argv[1], "--work"))
		return work();
	return cmocka_run_group_tests_name("usdt", tests, NULL, NULL);
}
