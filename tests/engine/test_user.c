/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The user part: column picking, SQLite over groups and over events, and refusals.
 */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "cat/cat.h"
#include "fake.h"
#include "engine/user.h"

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
	assert_int_equal(user_open(&b->user, &b->fake.phys, NULL, &b->diags), 0);
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
	assert_int_equal(user_open(&b.user, &b.fake.phys, NULL, &b.diags), 0);
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
	assert_int_equal(user_open(&b.user, &b.fake.phys, NULL, &b.diags), -EINVAL);
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

/* --- Names --- */

static void expect_name(struct bench *b, const char *call, const char *wanted)
{
	char sql[128];

	snprintf(sql, sizeof(sql), "SELECT %s, row FROM w", call);
	user_close(&b->user);
	bench_sql(b, sql, 1);
	event(b, 1, "x", 1);
	assert_int_equal(bench_run(b), 0);
	if (wanted)
		expect_text(b, 0, 0, wanted);
	else
		assert_int_equal(at(b, 0, 0)->kind, VALUE_NULL);
}

static void test_names(void **state)
{
	static const struct {
		const char *call, *wanted;
	} cases[] = {
		{ "syscall_name(NULL)", NULL },
		{ "syscall_name(-1)", "-1" },
		{ "syscall_name(4294967296)", "4294967296" },
		{ "task_state(0)", "running" },
		{ "task_state(256)", "runnable" },
		{ "task_state(1)", "sleeping" },
		{ "task_state(2)", "disk sleep" },
		{ "task_state(4)", "stopped" },
		{ "task_state(8)", "traced" },
		{ "task_state(16)", "dead" },
		{ "task_state(32)", "zombie" },
		{ "task_state(64)", "parked" },
		{ "task_state(128)", "idle" },
		{ "task_state(1026)", "idle" },
		{ "task_state(258)", "disk sleep" },
		{ "task_state(48)", "dead" },
		{ "task_state(4096)", "4096" },
		{ "task_state(NULL)", NULL },
		{ "softirq_name(0)", "HI" },
		{ "softirq_name(9)", "RCU" },
		{ "softirq_name(10)", "10" },
		{ "tcp_state(1)", "ESTABLISHED" },
		{ "tcp_state(12)", "NEW_SYN_RECV" },
		{ "tcp_state(0)", "0" },
		{ "tcp_state(14)", "14" },
		{ "device_name(8388624)", "8:16" },
		{ "device_name(272629759)", "259:1048575" },
		{ "device_name(4294967295)", "4095:1048575" },
		{ "device_name(-1)", "-1" },
		{ "device_name(NULL)", NULL },
	};
	char call[64];
	struct bench b;

	bench_init(&b, 4);
	bench_sql(&b, "SELECT 1, row FROM w", 1);
	for (u32 i = 0; i < ARRAY_SIZE(cases); i++)
		expect_name(&b, cases[i].call, cases[i].wanted);
	snprintf(call, sizeof(call), "syscall_name(%d)", syscall_number("pread64"));
	expect_name(&b, call, "pread64");
	bench_free(&b);
}

/* --- Histograms and quantiles --- */

static const struct scheme log2_scheme = { .kind = SCHEME_LOG2 };
static const struct scheme bounds_scheme = { .kind = SCHEME_BOUNDS,
					     .bounds = (const s64[]){ 10, 20 },
					     .n_bounds = 2 };
static const u32 half[] = { 500000000, 1000000000 };

/* c0 key, c1 histogram, c2 quantile, c3 ladder, c4 its lower bound, c5 its upper one */
static void statistics_init(struct bench *b, u64 max_groups, const struct scheme *scheme)
{
	struct fake *f = &b->fake;
	s32 cell;

	memset(b, 0, sizeof(*b));
	arena_init(&b->arena);
	diags_init(&b->diags, &b->arena, "query", "", 0);
	fake_init(f, STATE_TABLE, 1, 1, max_groups);
	fake_key(f, type_int(64, true));
	cell = fake_histogram(f, scheme, 0, 0, true);
	fake_statistic(f, AGGREGATE_HISTOGRAM, cell, NULL, 0, 0);
	fake_statistic(f, AGGREGATE_QUANTILE, cell, half, 1, QUANTILE_WHOLE);
	fake_statistic(f, AGGREGATE_QUANTILE, cell, half, 2, QUANTILE_WHOLE);
	fake_statistic(f, AGGREGATE_QUANTILE, cell, half, 1, QUANTILE_LO);
	fake_statistic(f, AGGREGATE_QUANTILE, cell, half, 1, QUANTILE_HI);
	fake_ready(f);
	for (u32 i = 0; i < f->phys.user.input.n_columns; i++)
		f->columns[i].name = "some column";
	b->rows = (struct rows){ .phys = &f->phys, .merge = &f->merge, .matched = 1 };
}

static void statistics_event(struct bench *b, u64 key, s128 value)
{
	u8 *cells = fake_row(&b->fake, 0, 0, 0, &key);

	fake_counters(&b->fake, 0, 0, 0)[COUNTER_EVENTS]++;
	fake_histogram_update(&b->fake, cells, 0, 0, 0, 0, value);
}

static void some_statistics(struct bench *b)
{
	for (s64 i = 0; i < 1000; i++) {
		statistics_event(b, 1, 5);
		statistics_event(b, 1, 100);
		statistics_event(b, 2, i * 1000);
	}
	statistics_event(b, 3, 1);
}

/* SQLite computes with the estimate; the column itself keeps its bounds. */
static void test_quantiles(void **state)
{
	static const s32 from[] = { 0, 2, -1, 3, 1 };
	struct bench b;

	statistics_init(&b, 8, &log2_scheme);
	bench_sql_from(&b,
		       "SELECT c2 * 2, row FROM w WHERE c2 > 3 ORDER BY other, h2 DESC, l2 DESC", 5,
		       from);
	for (u32 window = 0; window < 3; window++) {
		some_statistics(&b);
		assert_int_equal(bench_run(&b), 0);
		assert_int_equal(b.batch.n_rows, 2);
		expect_int(&b, 0, 0, 2);
		assert_int_equal(at(&b, 0, 1)->kind, VALUE_QUANTILES);
		assert_true(at(&b, 0, 1)->quantiles->lo == 262144);
		assert_true(at(&b, 0, 1)->quantiles->hi == 524288);
		assert_true(at(&b, 0, 1)->quantiles->estimate == 370728); /* 2^18.5 */
		expect_int(&b, 0, 2, 2 * 370728);
		assert_int_equal(at(&b, 0, 3)->n, 2);
		assert_true(at(&b, 0, 3)->quantiles[1].hi == 999000);
		assert_int_equal(at(&b, 0, 4)->kind, VALUE_HISTOGRAM);
		assert_int_equal(at(&b, 0, 4)->histogram->count, 1000);
		expect_int(&b, 1, 0, 1);
		assert_true(at(&b, 1, 1)->quantiles->lo == 5);
		assert_true(at(&b, 1, 1)->quantiles->hi == 8);
		assert_int_equal(at(&b, 1, 4)->histogram->n_cells, 2);
	}
	/* Lost values widen the bounds of every group. */
	b.rows.n_lost_values = 1000;
	some_statistics(&b);
	assert_int_equal(bench_run(&b), 0);
	assert_false(at(&b, 0, 1)->quantiles->has_lo);
	assert_true(at(&b, 0, 1)->quantiles->hi == 999000);
	bench_free(&b);
}

static void expect_infinity(const struct bench *b, u32 row, u32 column, int sign)
{
	assert_int_equal(at(b, row, column)->kind, VALUE_REAL);
	assert_true(at(b, row, column)->real == (double)sign * INFINITY);
}

/* Key 1 has one value and key 2 a thousand, when ten are lost. */
static void lossy_statistics(struct bench *b)
{
	b->rows.n_lost_values = 10;
	statistics_event(b, 1, 5);
	for (s64 i = 0; i < 1000; i++)
		statistics_event(b, 2, i * 1000);
}

/* Where there is no bound it is infinite: HAVING keeps what may exceed, ORDER BY sorts it. */
static void test_no_bound(void **state)
{
	static const s32 from[] = { 0, 4, 5, -1, -1, -1 };
	static const char *const sorts[] = { "h5 DESC, l5 DESC", "h4, l4" };
	struct bench b;

	for (u32 i = 0; i < ARRAY_SIZE(sorts); i++) {
		char sql[160];

		snprintf(sql, sizeof(sql),
			 "SELECT c5 / 2, c4 - 1, c5 - c5, row FROM w WHERE c5 > 1 AND c4 < 1e9 "
			 "ORDER BY other, %s",
			 sorts[i]);
		statistics_init(&b, 8, &log2_scheme);
		bench_sql_from(&b, sql, 6, from);
		for (u32 window = 0; window < 2; window++) {
			lossy_statistics(&b);
			assert_int_equal(bench_run(&b), 0);
			assert_int_equal(b.batch.n_rows, 2);
			expect_int(&b, 0, 0, 1);
			expect_infinity(&b, 0, 1, -1);
			expect_infinity(&b, 0, 2, 1);
			expect_infinity(&b, 0, 3, 1);
			expect_infinity(&b, 0, 4, -1);
			assert_int_equal(at(&b, 0, 5)->kind, VALUE_NULL);
			expect_int(&b, 1, 0, 2);
			expect_int(&b, 1, 1, 262144);
			expect_int(&b, 1, 2, 524288);
			expect_int(&b, 1, 3, 262144);
			expect_int(&b, 1, 4, 262143);
			expect_int(&b, 1, 5, 0);
		}
		bench_free(&b);
	}

	/* What overflows by itself is refused, though a bound is infinite elsewhere. */
	statistics_init(&b, 8, &log2_scheme);
	bench_sql_from(&b, "SELECT c2 + 9223372036854775807, c5, row FROM w", 2, NULL);
	lossy_statistics(&b);
	assert_int_equal(bench_run(&b), -EOVERFLOW);
	assert_string_equal(b.diags.list.at[0].tag, "too-large");
	bench_free(&b);
}

static void expect_null_at(const struct bench *b, u32 row, u32 column)
{
	assert_int_equal(at(b, row, column)->kind, VALUE_NULL);
}

static void expect_cell(const struct bench *b, u32 row, s128 key, s128 lo, s128 hi, s128 count)
{
	expect_int(b, row, 0, key);
	expect_int(b, row, 1, lo);
	expect_int(b, row, 2, hi);
	expect_int(b, row, 3, count);
}

static void unnest_output(struct bench *b, const s32 *from, u32 n, u32 unnest)
{
	b->fake.phys.user.output = (struct schema){ n, b->output };
	b->fake.phys.user.unnest = (s32)unnest;
	memcpy(b->fake.output_from, from, n * sizeof(*from));
	assert_int_equal(user_open(&b->user, &b->fake.phys, NULL, &b->diags), 0);
}

static void test_unnest_pick(void **state)
{
	struct bench b;

	statistics_init(&b, 2, &log2_scheme);
	unnest_output(&b, (const s32[]){ 0, 1, 1, 1, 2 }, 5, 1);
	for (u32 window = 0; window < 2; window++) {
		some_statistics(&b); /* 3 finds no room: the only (other) */
		statistics_event(&b, 4, 1000);
		assert_int_equal(bench_run(&b), 0);
		/* 5 and 100; 0, 1000, 2000 .. 999000 in 2^9, 2^10 .. 2^19; 1 and 1000 */
		assert_int_equal(b.batch.n_rows, 2 + 12 + 2);
		expect_cell(&b, 0, 1, 4, 8, 1000);
		expect_cell(&b, 1, 1, 64, 128, 1000);
		expect_cell(&b, 2, 2, 0, 1, 1);
		expect_cell(&b, 3, 2, 512, 1024, 1);
		expect_cell(&b, 4, 2, 1024, 2048, 1);
		expect_cell(&b, 5, 2, 2048, 4096, 2);
		expect_cell(&b, 13, 2, 524288, 1048576, 475);
		assert_int_equal(b.batch.other_row, 14);
		expect_null_at(&b, 14, 0);
		expect_int(&b, 14, 1, 1);
		expect_int(&b, 15, 1, 512);
		for (u32 i = 2; i < 14; i++)
			assert_true(at(&b, i, 4)->quantiles->lo == 262144);
	}
	bench_free(&b);

	/* Cells without an edge; a LIMIT counts cells, and drops none of (other). */
	statistics_init(&b, 2, &bounds_scheme);
	b.fake.phys.user.unnest_limit = 3;
	b.fake.phys.user.unnest_offset = 1;
	unnest_output(&b, (const s32[]){ 0, 1, 1, 1 }, 4, 1);
	for (u64 key = 0; key < 4; key++) {
		statistics_event(&b, key, -5);
		statistics_event(&b, key, 15);
		statistics_event(&b, key, 1500);
	}
	assert_int_equal(bench_run(&b), 0);
	assert_int_equal(b.batch.n_rows, 3 + 3);
	expect_cell(&b, 0, 0, 10, 20, 1);
	expect_int(&b, 1, 1, 20);
	expect_null_at(&b, 1, 2);
	expect_int(&b, 2, 0, 1);
	expect_null_at(&b, 2, 1);
	expect_int(&b, 2, 2, 10);
	assert_int_equal(b.batch.other_row, 3);
	expect_int(&b, 5, 3, 2);
	assert_int_equal(bench_run(&b), 0); /* an idle window */
	assert_int_equal(b.batch.n_rows, 0);
	assert_int_equal(b.batch.other_row, -1);
	bench_free(&b);
}

/* Computed columns, texts among them, stand in each cell's row. */
static void test_unnest_sql(void **state)
{
	static const s32 from[] = { -1, 1, 1, 1, -1 };
	struct bench b;

	statistics_init(&b, 8, &log2_scheme);
	b.fake.phys.user.unnest = 1;
	bench_sql_from(&b, "SELECT c0 * 10, 'k' || c0, row FROM w ORDER BY other, c0 DESC", 5,
		       from);
	for (u32 window = 0; window < 2; window++) {
		some_statistics(&b);
		assert_int_equal(bench_run(&b), 0);
		assert_int_equal(b.batch.n_rows, 1 + 12 + 2);
		expect_cell(&b, 0, 30, 1, 2, 1);
		expect_text(&b, 0, 4, "k3");
		expect_cell(&b, 12, 20, 524288, 1048576, 475);
		for (u32 i = 1; i < 13; i++)
			expect_text(&b, i, 4, "k2");
		expect_cell(&b, 14, 10, 64, 128, 1000);
		expect_text(&b, 14, 4, "k1");
	}
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
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_quantiles),
		cmocka_unit_test(test_no_bound),
		cmocka_unit_test(test_unnest_pick),
		cmocka_unit_test(test_unnest_sql),
	};

	return cmocka_run_group_tests_name("run-user", tests, NULL, NULL);
}
