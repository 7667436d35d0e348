/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The user part: column picking, SQLite over groups and over events, and refusals.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

#include "fake.h"
#include "run/user.h"

struct bench {
	struct fake fake;
	struct arena arena;
	struct diags diags;
	struct user user;
	struct rows rows;
	struct batch batch;
	struct column output[8];
};

/* Groups fd -> (count, sum): c0 fd, c1 comm, c2 count, c3 sum, c4 avg, c5 max, c6 and c7 bounds */
static void bench_init(struct bench *b, u64 max_groups)
{
	struct fake *f = &b->fake;
	s32 count, sum, max;

	memset(b, 0, sizeof(*b));
	arena_init(&b->arena);
	diags_init(&b->diags, &b->arena, "query", "", 0);
	fake_init(f, STATE_TABLE, 1, 1, max_groups);
	fake_key(f, type_int(64, true));
	fake_key(f, type_text(16));
	count = fake_cell(f, CELL_COUNT, false, false);
	sum = fake_cell(f, CELL_SUM, true, true);
	max = fake_cell(f, CELL_MAX, false, false);
	fake_aggregate(f, AGGREGATE_COUNT, count, -1);
	fake_aggregate(f, AGGREGATE_SUM, count, sum);
	fake_aggregate(f, AGGREGATE_AVG, count, sum);
	fake_aggregate(f, AGGREGATE_MAX, count, max);
	fake_ready(f);
	for (u32 i = 0; i < f->phys.user.input.n_columns; i++)
		f->columns[i].name = "some column";
	b->rows = (struct rows){ .phys = &f->phys,
				 .merge = &f->merge,
				 .window_start_ns = 11,
				 .window_end_ns = 22,
				 .matched = 1 };
}

static void event(struct bench *b, s64 fd, const char *comm, s128 value)
{
	u64 words[3] = { fd };
	u8 *cells;

	memcpy(&words[1], comm, strlen(comm));
	cells = fake_row(&b->fake, 0, 0, 0, words);
	fake_counters(&b->fake, 0, 0, 0)[COUNTER_EVENTS]++;
	for (s32 i = 0; i < 3; i++)
		fake_update(&b->fake, cells, i, value);
}

/* from: input columns of the output columns, -1: computed by the SQL; NULL: all are. */
static void bench_sql_from(struct bench *b, const char *sql, u32 n_columns, const s32 *from)
{
	b->fake.phys.user.sql = sql;
	b->fake.phys.user.output = (struct schema){ n_columns, b->output };
	for (u32 i = 0; i < n_columns; i++) {
		b->output[i] = (struct column){ "x", type_int(64, true) };
		b->fake.output_from[i] = from ? from[i] : -1;
	}
	assert_int_equal(user_open(&b->user, &b->fake.phys, &b->diags), 0);
}

static void bench_sql(struct bench *b, const char *sql, u32 n_columns)
{
	bench_sql_from(b, sql, n_columns, NULL);
}

static int bench_run(struct bench *b)
{
	merge_reset(&b->fake.merge);
	fake_drain(&b->fake, 0);
	return user_run(&b->user, &b->rows, &b->diags, &b->batch);
}

static void bench_free(struct bench *b)
{
	user_close(&b->user);
	fake_free(&b->fake);
	arena_free(&b->arena);
}

static const struct value *at(const struct bench *b, u32 row, u32 column)
{
	assert_true(row < b->batch.n_rows);
	return &b->batch.values[row * b->batch.schema->n_columns + column];
}

static void expect_int(const struct bench *b, u32 row, u32 column, s128 wanted)
{
	assert_int_equal(at(b, row, column)->kind, VALUE_INT);
	assert_true(at(b, row, column)->integer == wanted);
}

static void expect_text(const struct bench *b, u32 row, u32 column, const char *wanted)
{
	assert_int_equal(at(b, row, column)->kind, VALUE_TEXT);
	assert_int_equal(at(b, row, column)->n, strlen(wanted));
	assert_memory_equal(at(b, row, column)->text, wanted, strlen(wanted));
}

static void some_events(struct bench *b)
{
	event(b, 3, "dd", 10);
	event(b, 3, "dd", -30);
	event(b, 4, "sixteen-byte-com", 7);
	event(b, 5, "cat", 1);
	event(b, 5, "cat", 2);
	event(b, 5, "cat", 3);
}

static void test_pick(void **state)
{
	struct bench b;

	bench_init(&b, 2);
	b.fake.phys.user.output = (struct schema){ 4, b.output };
	memcpy(b.fake.output_from, (s32[]){ 3, 1, 6, 7 }, 16);
	assert_int_equal(user_open(&b.user, &b.fake.phys, &b.diags), 0);
	some_events(&b);
	assert_int_equal(bench_run(&b), 0);
	assert_int_equal(b.batch.n_rows, 3);
	assert_int_equal(b.batch.other_row, 2);
	expect_int(&b, 0, 0, -20);
	expect_text(&b, 1, 1, "sixteen-byte-com");
	expect_int(&b, 2, 0, 6);
	assert_int_equal(at(&b, 2, 1)->kind, VALUE_NULL);
	expect_int(&b, 0, 2, 11);
	expect_int(&b, 0, 3, 22);
	/* Exact beyond 64 bits: SQLite is not there. */
	event(&b, 1, "x", INT64_MAX);
	event(&b, 1, "x", INT64_MAX);
	assert_int_equal(bench_run(&b), 0);
	expect_int(&b, 0, 0, 2 * (s128)INT64_MAX);
	assert_int_equal(b.batch.other_row, -1);
	bench_free(&b);
}

static void test_sql(void **state)
{
	struct bench b;

	bench_init(&b, 16);
	bench_sql(&b,
		  "SELECT c0, c1, c2 * 100 + c3, c4, upper(c1), c7 - c6, row FROM w "
		  "WHERE c2 > 1 ORDER BY other, c2 DESC LIMIT 2",
		  6);
	b.output[3].type.kind = TYPE_REAL;
	for (u32 window = 0; window < 3; window++) {
		some_events(&b);
		assert_int_equal(bench_run(&b), 0);
		assert_int_equal(b.batch.n_rows, 2);
		assert_int_equal(b.batch.other_row, -1);
		expect_int(&b, 0, 0, 5);
		expect_text(&b, 0, 1, "cat");
		expect_int(&b, 0, 2, 306);
		assert_int_equal(at(&b, 0, 3)->kind, VALUE_REAL);
		assert_true(at(&b, 0, 3)->real == 2.0 && at(&b, 1, 3)->real == -10.0);
		expect_text(&b, 0, 4, "CAT");
		expect_text(&b, 1, 4, "DD");
		expect_int(&b, 1, 2, 180);
		expect_int(&b, 1, 5, 11);
	}
	assert_int_equal(bench_run(&b), 0); /* an idle window */
	assert_int_equal(b.batch.n_rows, 0);
	bench_free(&b);
}

/* The table is read twice at once, by a nested select; the mark of (other) passes through. */
static void test_nested_and_other(void **state)
{
	struct bench b;

	bench_init(&b, 2);
	bench_sql(
		&b,
		"SELECT c0, c2, (SELECT sum(c2) FROM w), NULL, row FROM w ORDER BY other, c0 DESC",
		4);
	some_events(&b);
	assert_int_equal(bench_run(&b), 0);
	assert_int_equal(b.batch.n_rows, 3);
	assert_int_equal(b.batch.other_row, 2);
	expect_int(&b, 0, 0, 4);
	expect_int(&b, 1, 0, 3);
	assert_int_equal(at(&b, 2, 0)->kind, VALUE_NULL);
	expect_int(&b, 2, 1, 3);
	expect_int(&b, 2, 2, 6);
	assert_int_equal(at(&b, 0, 3)->kind, VALUE_NULL);
	bench_free(&b);
}

static void expect_tag(const struct bench *b, const char *tag)
{
	assert_int_equal(b->diags.list.n, 1);
	assert_string_equal(b->diags.list.at[0].tag, tag);
}

static void test_too_large(void **state)
{
	struct bench b;

	bench_init(&b, 4);
	bench_sql(&b, "SELECT c3, c5, row FROM w ORDER BY c0", 2);
	event(&b, 1, "x", INT64_MAX);
	event(&b, 2, "x", INT64_MIN);
	assert_int_equal(bench_run(&b), -EOVERFLOW); /* max: u64 2^63 */
	expect_tag(&b, "too-large");
	bench_free(&b);

	/* the extremes pass, unrounded */
	bench_init(&b, 4);
	bench_sql(&b, "SELECT c3, row FROM w ORDER BY c0", 1);
	event(&b, 1, "x", INT64_MAX);
	event(&b, 2, "x", INT64_MIN);
	assert_int_equal(bench_run(&b), 0);
	expect_int(&b, 0, 0, INT64_MAX);
	expect_int(&b, 1, 0, INT64_MIN);
	event(&b, 1, "x", INT64_MAX);
	event(&b, 1, "x", 1); /* the sum is 2^63 */
	assert_int_equal(bench_run(&b), -EOVERFLOW);
	expect_tag(&b, "too-large");
	bench_free(&b);

	/* SQLite's own overflow of + becomes floating point: refused too */
	bench_init(&b, 4);
	bench_sql(&b, "SELECT c3 + 1, row FROM w", 1);
	event(&b, 1, "x", INT64_MAX);
	assert_int_equal(bench_run(&b), -EOVERFLOW);
	expect_tag(&b, "too-large");
	bench_free(&b);
}

/* What SQLite does not compute with is exact, whatever its size, and sorts exactly. */
static void test_by_row(void **state)
{
	static const s32 from[] = { 0, -1, 3, 1, 5 };
	struct bench b;

	bench_init(&b, 8);
	bench_sql_from(&b,
		       "SELECT upper(c1), row FROM w WHERE c2 > 1 ORDER BY other, h3 DESC, l3 DESC",
		       5, from);
	for (u32 window = 0; window < 2; window++) {
		event(&b, 1, "a", INT64_MAX);
		event(&b, 1, "a", INT64_MAX);
		event(&b, 2, "b", INT64_MAX);
		event(&b, 2, "b", 1); /* 2^63: one more than what a signed word holds */
		event(&b, 3, "c", INT64_MIN);
		event(&b, 3, "c", INT64_MIN);
		event(&b, 4, "d", -1);
		event(&b, 4, "d", 0);
		event(&b, 5, "e", INT64_MAX);
		event(&b, 5, "e", 0);
		event(&b, 6, "f", INT64_MAX);
		assert_int_equal(bench_run(&b), 0);
		assert_int_equal(b.batch.n_rows, 5);
		assert_int_equal(b.batch.other_row, -1);
		for (u32 i = 0; i < 5; i++)
			expect_int(&b, i, 0, (s64[]){ 1, 2, 5, 4, 3 }[i]);
		expect_text(&b, 0, 1, "A");
		expect_text(&b, 0, 3, "a");
		expect_text(&b, 4, 1, "C");
		expect_int(&b, 0, 2, 2 * (s128)INT64_MAX);
		expect_int(&b, 1, 2, (s128)INT64_MAX + 1);
		expect_int(&b, 2, 2, INT64_MAX);
		expect_int(&b, 3, 2, -1);
		expect_int(&b, 4, 2, 2 * (s128)INT64_MIN);
		expect_int(&b, 3, 4, UINT64_MAX);
	}
	bench_free(&b);
}

/* The message names the column; no row can be computed from a value too large. */
static void test_too_large_name(void **state)
{
	struct bench b;

	bench_init(&b, 4);
	b.fake.columns[5].name = "max(bytes)";
	bench_sql(&b, "SELECT c2, row FROM w WHERE c5 > 3", 1);
	event(&b, 1, "x", INT64_MIN);
	assert_int_equal(bench_run(&b), -EOVERFLOW);
	expect_tag(&b, "too-large");
	assert_non_null(strstr(b.diags.list.at[0].message, "max(bytes)"));
	bench_free(&b);
}

static void test_bad_sql(void **state)
{
	struct bench b;

	bench_init(&b, 4);
	b.fake.phys.user.sql = "SELECT nothing_such, row FROM w";
	assert_int_equal(user_open(&b.user, &b.fake.phys, &b.diags), -EINVAL);
	expect_tag(&b, "user-part");
	bench_free(&b);
}

static void test_events(void **state)
{
	const struct value values[] = {
		{ .kind = VALUE_INT, .integer = 5 },
		{ .kind = VALUE_TEXT, .n = 2, .text = "ab" },
		{ .kind = VALUE_INT, .integer = -1 },
		{ .kind = VALUE_NULL },
	};
	struct bench b;

	bench_init(&b, 1);
	b.fake.phys.user.input.n_columns = 2;
	b.fake.columns[1].type = type_text(16);
	bench_sql(&b, "SELECT c1 || '!', c0 / 2.0, row FROM w", 2);
	b.output[1].type.kind = TYPE_REAL;
	b.rows = (struct rows){
		.phys = &b.fake.phys, .values = values, .n_events = 2, .n_columns = 2
	};
	assert_int_equal(user_run(&b.user, &b.rows, &b.diags, &b.batch), 0);
	assert_int_equal(b.batch.n_rows, 2);
	assert_int_equal(b.batch.other_row, -1);
	expect_text(&b, 0, 0, "ab!");
	assert_true(at(&b, 0, 1)->real == 2.5);
	assert_int_equal(at(&b, 1, 0)->kind, VALUE_NULL);
	assert_true(at(&b, 1, 1)->real == -0.5);
	bench_free(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pick),
		cmocka_unit_test(test_sql),
		cmocka_unit_test(test_nested_and_other),
		cmocka_unit_test(test_too_large),
		cmocka_unit_test(test_by_row),
		cmocka_unit_test(test_too_large_name),
		cmocka_unit_test(test_bad_sql),
		cmocka_unit_test(test_events),
	};

	return cmocka_run_group_tests_name("run-user", tests, NULL, NULL);
}
