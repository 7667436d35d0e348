/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Values on their way through SQLite, joins, what it refuses, databases, and losses.
 */
#include <errno.h>
#include <setjmp.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "flow_bench.h"
#include "rel/connect.h"

/* --- Values and SQL --- */

static void test_values(void **state)
{
	struct bench b;
	struct row_source *s, *t;

	bench_init(&b, "SELECT w0.c1, w1.c2, w0.c3 FROM w0 JOIN w1 ON w0.c1 = w1.c1 ORDER BY 1", 3);
	b.output[1].type = b.output[2].type = type_text(16);
	b.output[0].type = type_int(64, false);
	s = add_file(&b, 4);
	t = add_file(&b, 3);
	put_row(s, 1, INT64_MAX, "");
	put_row(s, 2, 0, "");
	s->rows[COLUMNS + 1].integer = ((s128)1 << 63) + 5;
	put_row(s, 3, 0, "");
	s->rows[2 * COLUMNS + 1].integer = ((s128)1 << 64) - 1;
	put_row(s, 4, 0, "");
	s->rows[3 * COLUMNS + 1].kind = VALUE_NULL;
	put_row(s, 5, -1, "");
	put_row(t, 1, -1, "minus");
	put_row(t, 2, 0, "large");
	t->rows[COLUMNS + 1].integer = ((s128)1 << 63) + 5;
	put_row(t, 3, 0, "null");
	t->rows[2 * COLUMNS + 1].kind = VALUE_NULL;
	put_row(t, 4, INT64_MAX, "max");
	expect(&b, " -1,minus,-;9223372036854775807,max,-;9223372036854775813,large,-!\n");
	/* reals, and blobs that are no texts */
	bench_init(&b, "SELECT c1, hex(c2), typeof(c2) FROM w0 WHERE c1 > 0.25", 3);
	b.output[0].type.kind = TYPE_REAL;
	b.output[1].type = b.output[2].type = type_text(16);
	s = add_file(&b, 3);
	b.columns[0][2].type = (struct type){ .kind = TYPE_BLOB, .bytes = 2 };
	put_row(s, 1, 0, "AB");
	s->rows[1] = (struct value){ .kind = VALUE_REAL, .real = 0.5 };
	expect(&b, " 0.5,4142,blob!\n");
}

/* Joins go through the index of a relation: all pairs, against two plain loops. */
static void test_join_index(void **state)
{
	struct bench b;
	struct row_source *sides[2];
	struct buf wanted;
	u64 n = 0, sum = 0;

	bench_init(&b,
		   "SELECT count(*), sum(w0.c0 * 7 + w1.c0) FROM w0 JOIN w1 "
		   "ON w0.c1 = w1.c1 AND w0.c2 = w1.c2 WHERE w0.c0 <> w1.c0",
		   2);
	srandom(1);
	for (u32 side = 0; side < 2; side++) {
		static const char *const texts[] = { "a", "1", "1.0", "" };

		sides[side] = add_file(&b, 3);
		for (u32 i = 0; i < 600; i++) {
			struct value *row = &sides[side]->rows[(size_t)i * COLUMNS];

			put_row(sides[side], i, random() % 40, texts[random() % 4]);
			if (random() % 10 == 0)
				row[1] = (struct value){ .kind = VALUE_NULL };
		}
	}
	for (u32 i = 0; i < 600; i++) {
		for (u32 k = 0; k < 600; k++) {
			const struct value *x = &sides[0]->rows[(size_t)i * COLUMNS];
			const struct value *y = &sides[1]->rows[(size_t)k * COLUMNS];

			if (x[1].kind == VALUE_NULL || y[1].kind == VALUE_NULL || i == k ||
			    x[1].integer != y[1].integer || x[2].text != y[2].text)
				continue;
			n++;
			sum += i * 7 + k;
		}
	}
	buf_init(&wanted);
	buf_printf(&wanted, " %llu,%llu!\n", (unsigned long long)n, (unsigned long long)sum);
	expect(&b, wanted.at);
	buf_free(&wanted);
	/* Numbers that SQLite calls equal; another collation is no matter for the index. */
	bench_init(&b,
		   "SELECT count(*) FROM w0 JOIN (SELECT 2.0 AS r UNION ALL SELECT 3) ON c1 = r "
		   "WHERE c2 = 'x' COLLATE NOCASE",
		   1);
	sides[0] = add_file(&b, 3);
	put_row(sides[0], 1, 2, "x");
	put_row(sides[0], 2, 3, "X");
	put_row(sides[0], 3, 4, "X");
	expect(&b, " 2!\n");
}

static void expect_tag(struct bench *b, const char *tag, const char *hint)
{
	assert_int_equal(b->diags.list.n, 1);
	assert_string_equal(b->diags.list.at[0].tag, tag);
	if (hint)
		assert_non_null(strstr(b->diags.list.at[0].hint, hint));
	bench_free(b);
}

static void expect_refused(struct bench *b, const char *message)
{
	assert_string_equal(b->diags.list.at[0].message, message);
	expect_tag(b, "user-part", "EXPLAIN");
}

/* Nobody wrote the text that SQLite gets: its names are not told. */
static void test_messages(void **state)
{
	static const char *const cases[][2] = {
		{ "SELECT eb_sum(c1, 2) FROM w0", "wrong number of arguments to function sum()" },
		{ "SELECT eb_add(c1) FROM w0", "wrong number of arguments to function +()" },
		{ "SELECT eb_nosuch(c1) FROM w0", "no such function: nosuch" },
		{ "SELECT t0.c7 FROM w0 AS t0", "no such column: a column" },
		{ "SELECT eb_quantiles(eb_sum(eb_avg(c1))) FROM w0",
		  "misuse of aggregate function avg()" },
		{ "SELECT c1 FROM w5", "no such table: a stream" },
		{ "SELECT FROM w0", "syntax error" },
	};
	struct bench b;
	struct buf text;

	for (u32 i = 0; i < ARRAY_SIZE(cases); i++) {
		bench_init(&b, cases[i][0], 1);
		add_file(&b, 2);
		assert_int_equal(bench_run(&b), -EINVAL);
		buf_init(&text);
		buf_printf(&text, "SQLite: %s", cases[i][1]);
		expect_refused(&b, text.at);
		buf_free(&text);
	}
}

static void test_diagnostics(void **state)
{
	struct bench b;

	bench_init(&b, "SELECT count(*) FROM w0\nWHERE nonsense > 1", 1);
	add_file(&b, 2);
	assert_int_equal(bench_run(&b), -EINVAL);
	expect_refused(&b, "SQLite: no such column: nonsense");
	/* while it runs */
	bench_init(&b, "SELECT abs(c1) FROM w0", 1);
	put_row(add_file(&b, 2), 1, INT64_MIN, "");
	assert_int_equal(bench_run(&b), -EINVAL);
	expect_tag(&b, "user-part", NULL);
	bench_init(&b, "SELECT eb_i64(c1, '') FROM w0", 1);
	put_row(add_file(&b, 2), 1, 0, "");
	b.sources[0].rows[1].integer = (s128)1 << 63;
	assert_int_equal(bench_run(&b), -EOVERFLOW);
	expect_tag(&b, "too-large", NULL);
	/* SQLite went over to floating point */
	bench_init(&b, "SELECT c1 + 1 FROM w0", 1);
	put_row(add_file(&b, 2), 1, INT64_MAX, "");
	assert_int_equal(bench_run(&b), -EOVERFLOW);
	expect_tag(&b, "too-large", NULL);
	bench_init(&b, "SELECT count(*) FROM w0", 1);
	b.cut.window = (struct cut_window){ WINDOW_TUMBLING, 1000 * MS, 1000 * MS };
	put_times(add_file(&b, 2), TIMES(1, 1ull << 63));
	assert_int_equal(bench_run(&b), -EOVERFLOW);
	assert_int_equal(b.n_batches, 0);
	expect_tag(&b, "too-large", NULL);
	/* a row that is far from the others: before the first window */
	for (u32 n_windows = 0; n_windows < 4; n_windows += 3) {
		bench_init(&b, "SELECT count(*) FROM w0", 1);
		b.cut.window = (struct cut_window){ WINDOW_TUMBLING, 1000 * MS, 1000 * MS };
		b.options.n_windows = n_windows;
		put_times(add_file(&b, 2), TIMES(0, 10000001ull * 1000 * MS));
		assert_int_equal(bench_run(&b), n_windows ? 0 : -E2BIG);
		assert_int_equal(b.n_batches, n_windows);
		if (n_windows)
			bench_free(&b);
		else
			expect_tag(&b, "too-many-windows", "-n");
	}
	bench_init(&b, "SELECT count(*) FROM w0", 1);
	put_times(add_file(&b, 2), TIMES(1, 2, 3));
	b.max_bytes = 200;
	assert_int_equal(bench_run(&b), -E2BIG);
	expect_tag(&b, "too-many-rows", "WINDOW");
}

static void test_heap(void **state)
{
	struct bench b;

	bench_init(&b, "SELECT count(*) FROM w0", 1);
	put_times(add_file(&b, 2), TIMES(1));
	expect(&b, " 1!\n");
	/* The limit is the host's, which keeps one that was there. */
	assert_int_equal(sqlite3_hard_heap_limit64(4 << 20), HOST_HEAP_BYTES);
	bench_init(
		&b,
		"WITH RECURSIVE r(i) AS (SELECT c1 FROM w0 UNION ALL SELECT i + 1 FROM r WHERE i "
		"< 1000000) SELECT count(DISTINCT i) FROM r",
		1);
	put_times(add_file(&b, 2), TIMES(1));
	assert_int_equal(bench_run(&b), -E2BIG);
	expect_tag(&b, "too-many-rows", "WHERE");
	sqlite3_hard_heap_limit64((s64)HOST_HEAP_BYTES);
}

/* What a host cannot wait for ends; it is no answer. */
static void test_slow(void **state)
{
	struct bench b;

	bench_init(&b,
		   "WITH RECURSIVE r(i) AS (SELECT c1 FROM w0 UNION ALL SELECT i + 1 FROM r) "
		   "SELECT count(*) FROM r",
		   1);
	put_times(add_file(&b, 2), TIMES(1));
	b.is_brief = true;
	assert_int_equal(bench_run(&b), -ETIME);
	assert_int_equal(b.n_batches, 0);
	expect_tag(&b, "too-slow", "alone");
}

static void test_attach_database(void **state)
{
	char path[] = "/tmp/ebql test%3f?XXXXXX";
	int fd = mkstemp(path);
	struct sqlite3 *db;
	struct bench b;

	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(sqlite3_open(path, &db), 0);
	assert_int_equal(sqlite3_exec(db,
				      "CREATE TABLE t(id INTEGER PRIMARY KEY, name TEXT);"
				      "INSERT INTO t VALUES (1, 'one'), (3, 'three')",
				      NULL, NULL, NULL),
			 0);
	/* To read its schema takes more steps than SQLite does without a look at the time. */
	assert_int_equal(sqlite3_exec(db, "BEGIN", NULL, NULL, NULL), 0);
	for (u32 i = 0; i < 1500; i++) {
		char text[64];

		snprintf(text, sizeof(text), "CREATE TABLE other_%u(a, b, c)", i);
		assert_int_equal(sqlite3_exec(db, text, NULL, NULL, NULL), 0);
	}
	assert_int_equal(sqlite3_exec(db, "COMMIT", NULL, NULL, NULL), 0);
	sqlite3_close(db);
	bench_init(&b, "SELECT c1, name FROM w0 LEFT JOIN ref.t ON id = c1 ORDER BY c0", 2);
	b.output[1].type = type_text(16);
	b.cut.databases = &b.database;
	b.cut.n_databases = 1;
	b.database = (struct plan_database){ .path = path, .name = "ref" };
	put_times(add_file(&b, 2), TIMES(5, 6, 7));
	expect(&b, " 1,one;2,-;3,three!\n");
	unlink(path);
	/* It is not made where there is none. */
	bench_init(&b, "SELECT 1 FROM ref.t", 1);
	b.cut.databases = &b.database;
	b.cut.n_databases = 1;
	b.database = (struct plan_database){ .path = path, .name = "ref" };
	assert_int_equal(bench_run(&b), -EINVAL);
	assert_int_equal(access(path, F_OK), -1);
	expect_tag(&b, "user-part", NULL);
}

/* --- Losses --- */

static void test_losses(void **state)
{
	struct bench b;
	struct row_source *s;

	bench_init(&b, "SELECT count(*) FROM w0", 1);
	b.cut.window = (struct cut_window){ .kind = WINDOW_TUMBLING, .size = 10, .advance = 10 };
	s = add_file(&b, 2);
	put_times(s, TIMES(1, 11, 12));
	s->account.events = 9;
	s->account.lost[LOSS_MISSED] = 3;
	s->has_leftovers = true;
	assert_int_equal(bench_run(&b), 0);
	assert_int_equal(b.n_batches, 2);
	assert_int_equal(b.batches[0].account.events, 9);
	assert_int_equal(b.batches[0].account.matched, 1);
	assert_int_equal(b.batches[0].account.lost[LOSS_MISSED], 3);
	assert_int_equal(b.batches[1].account.events, 0);
	assert_int_equal(b.batches[1].account.matched, 2);
	assert_int_equal(b.batches[1].account.lost[LOSS_MISSED], 0);
	/* What waits at the end is told with the last window. */
	assert_int_equal(b.batches[1].account.unpaired[UNPAIRED_NEVER_ENDED], 7);
	assert_int_equal(b.result.account.events, 9);
	assert_int_equal(b.result.account.matched, 3);
	assert_int_equal(b.result.account.lost[LOSS_MISSED], 3);
	assert_int_equal(b.result.account.unpaired[UNPAIRED_NEVER_ENDED], 7);
	assert_int_equal(b.n_batches, 2);
	bench_free(&b);
	/* A window that reaches back has the losses of what it reaches. */
	bench_init(&b, "SELECT count(*) FROM w0", 1);
	b.cut.window = (struct cut_window){ .kind = WINDOW_HOPPING, .size = 20, .advance = 10 };
	s = add_file(&b, 2);
	put_times(s, TIMES(1, 11, 32));
	s->account.lost[LOSS_MISSED] = 3;
	assert_int_equal(bench_run(&b), 0);
	assert_int_equal(b.n_batches, 4);
	for (u32 i = 0; i < 4; i++)
		assert_int_equal(b.batches[i].account.lost[LOSS_MISSED], i < 2 ? 3 : 0);
	assert_int_equal(b.result.account.lost[LOSS_MISSED], 3);
	bench_free(&b);
	/* Without a window a batch has those of the run so far; faults are those of its SQL. */
	bench_init(&b, "SELECT eb_div(c1, 0) FROM w0", 1);
	b.cut.is_streaming = true;
	b.read_limit = 1;
	s = add_file(&b, 2);
	put_times(s, TIMES(1, 2));
	s->account.lost[LOSS_MISSED] = 3;
	assert_int_equal(bench_run(&b), 0);
	assert_int_equal(b.n_batches, 3);
	assert_int_equal(b.batches[0].account.lost[LOSS_FAULT], 1);
	assert_int_equal(b.batches[1].account.lost[LOSS_FAULT], 2);
	assert_int_equal(b.batches[2].account.lost[LOSS_FAULT], 2);
	assert_int_equal(b.batches[2].account.lost[LOSS_MISSED], 3);
	assert_int_equal(b.result.account.lost[LOSS_FAULT], 2);
	assert_int_equal(b.result.account.lost[LOSS_MISSED], 3);
	bench_free(&b);
}

/*
 * Values below zero have no cell, so they are missing: the bounds are those of the kernel's
 * histogram with as many lost.  They are counted once, however often the statement runs.
 */
static void test_negative_values(void **state)
{
	const struct scheme scheme = { .kind = SCHEME_LOG2 };
	/* 1..10: [1, 2), [2, 4), [4, 8), [8, 16) */
	const struct histogram_cell cells[] = { { 1, 1 }, { 2, 2 }, { 3, 4 }, { 4, 3 } };
	const struct histogram h = { .scheme = &scheme,
				     .cells = cells,
				     .n_cells = 4,
				     .count = 10,
				     .sum = 55,
				     .min = 1,
				     .max = 10 };
	struct quantile_request request = { .q_ppb = 500000000, .n_lost = 5 };
	struct quantile q;
	struct bench b;
	struct row_source *s;

	assert_true(quantile_of(&h, &request, &q));
	assert_true(q.lo == 2 && q.hi == 10); /* ranks 8 - 5 and 8 of 15 */
	bench_init(
		&b,
		"SELECT eb_lo(eb_quantiles(eb_histogram(c1, 'log2', 0), 'mid', 500000000)), "
		"eb_hi(eb_quantiles(eb_histogram(c1, 'log2', 0), 'mid', 500000000)), eb_div(1, 0) "
		"FROM w0",
		3);
	b.cut.window = (struct cut_window){ .kind = WINDOW_TUMBLING, .size = 100, .advance = 100 };
	s = add_file(&b, 2);
	for (s64 i = -5; i <= 10; i++)
		if (i)
			put_row(s, (u64)(i + 6), i, "");
	put_row(s, 150, 3, "");
	assert_int_equal(bench_run(&b), 0);
	assert_int_equal(b.n_batches, 2);
	assert_int_equal(b.firsts[0], q.lo);
	assert_int_equal(b.seconds[0], q.hi);
	assert_int_equal(b.batches[0].account.lost[LOSS_NEGATIVE], 5);
	assert_int_equal(b.batches[0].account.lost[LOSS_FAULT], 1);
	assert_int_equal(b.result.account.lost[LOSS_NEGATIVE], 5);
	assert_int_equal(b.firsts[1], 3);
	assert_int_equal(b.seconds[1], 3);
	assert_int_equal(b.batches[1].account.lost[LOSS_NEGATIVE], 0);
	bench_free(&b);
}

/* Rows that the ring buffer had no room for are values that may have been the largest. */
static void test_lost_rows(void **state)
{
	for (u64 n_lost = 0; n_lost < 8; n_lost++) {
		struct bench b;
		struct row_source *s;

		bench_init(
			&b,
			"SELECT eb_hi(eb_quantiles(eb_histogram(c1, 'log2', 0), 'mid', 500000000)) = "
			"9e999, eb_lo(eb_quantiles(eb_histogram(c1, 'log2', 0), 'mid', 500000000)) = "
			"-9e999 FROM w0",
			2);
		b.cut.window =
			(struct cut_window){ .kind = WINDOW_TUMBLING, .size = 10, .advance = 10 };
		s = add_file(&b, 2);
		put_times(s, TIMES(1, 2, 3));
		s->account.lost[LOSS_RING_FULL] = n_lost;
		assert_int_equal(bench_run(&b), 0);
		/* Rank ceil(q (n + L)) is beyond the n values from L = 4 on, and the rank less L
		 * below the first from L = 3 on. */
		assert_int_equal(b.firsts[0], n_lost >= 4);
		assert_int_equal(b.seconds[0], n_lost >= 3);
		bench_free(&b);
	}
}

static void test_sink_error(void **state)
{
	struct bench b;

	bench_init(&b, "SELECT count(*) FROM w0", 1);
	b.cut.window = (struct cut_window){ .kind = WINDOW_TUMBLING, .size = 10, .advance = 10 };
	put_times(add_file(&b, 2), TIMES(1, 11, 12));
	b.sink_error = -EPIPE;
	assert_int_equal(bench_run(&b), -EPIPE);
	assert_int_equal(b.n_batches, 1);
	assert_int_equal(b.diags.list.n, 0);
	bench_free(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_join_index),
		cmocka_unit_test(test_diagnostics),
		cmocka_unit_test(test_heap),
		cmocka_unit_test(test_slow),
		cmocka_unit_test(test_attach_database),
		cmocka_unit_test(test_losses),
		cmocka_unit_test(test_lost_rows),
		cmocka_unit_test(test_sink_error),
		cmocka_unit_test(test_messages),
		cmocka_unit_test(test_negative_values),
	};

	return cmocka_run_group_tests_name("run-flow-sql", tests, NULL, NULL);
}
