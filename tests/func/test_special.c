/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Values into SQLite and back: every kind comes back as it went in, and big integers
 * behave as numbers wherever SQLite compares.
 */
#include <errno.h>
#include <math.h>

#include "sql.h"

#define TWO_63 ((s128)1 << 63)

/* In ascending order. */
static const s128 integers[] = {
	-TWO_63,
	-1,
	0,
	1,
	255,
	256,
	TWO_63 - 1,
	TWO_63,
	TWO_63 + 1,
	TWO_63 + 255,
	TWO_63 + 256,
	2 * TWO_63 - 1,
	2 * TWO_63,
	2 * TWO_63 + 1,
	((s128)1 << 100) - 1,
	(s128)1 << 100,
	(s128)(((u128)1 << 127) - 1),
};

static void test_integers(void **state)
{
	u32 n = ARRAY_SIZE(integers);

	for (u32 i = 0; i < n; i++)
		given[i] = integer_value(integers[i]);
	run("CREATE TABLE t(i, x)");
	/* Not in order: 7 and 17 have no common divisor. */
	for (u32 i = 0; i < 2 * n; i++)
		run(arena_printf(&arena, "INSERT INTO t VALUES (%u, given(%u))", 7 * i % n,
				 7 * i % n));
	for (u32 i = 0; i < n; i++) {
		expect_integer(ask("SELECT x FROM t WHERE i = %u", i), integers[i], "stored");
		expect_integer(ask("SELECT count(*) FROM t WHERE x = given(%u)", i), 2, "=");
		expect_integer(ask("SELECT count(*) FROM t WHERE x < given(%u)", i), 2 * i, "<");
		expect_integer(ask("SELECT count(*) FROM t WHERE x <= given(%u)", i), 2 * i + 2,
			       "<=");
		expect_integer(ask("SELECT count(*) FROM t WHERE x IN (given(%u), given(0))", i),
			       i ? 4 : 2, "IN");
		expect_integer(ask("SELECT x FROM t ORDER BY x LIMIT 1 OFFSET %u", 2 * i),
			       integers[i], "ORDER BY");
		expect_integer(ask("SELECT DISTINCT x FROM t ORDER BY x DESC LIMIT 1 OFFSET %u", i),
			       integers[n - 1 - i], "DISTINCT");
		expect_integer(ask("SELECT min(x) FROM t WHERE i >= %u", i), integers[i], "min");
		expect_integer(ask("SELECT max(x) FROM t WHERE i <= %u", i), integers[i], "max");
		expect_integer(
			ask("SELECT count(*) FROM t GROUP BY x ORDER BY x LIMIT 1 OFFSET %u", i), 2,
			"GROUP BY");
	}
	expect_integer(ask("SELECT count(*) FROM (SELECT x FROM t UNION SELECT x FROM t)"), n,
		       "UNION");
	run("CREATE INDEX by_x ON t(x)");
	expect_integer(ask("SELECT i FROM t INDEXED BY by_x WHERE x = given(12)"), 12, "index");
	given[0] = integer_value(-TWO_63 - 1);
	expect_error("too large", "SELECT given(0)");
}

static void test_plain(void **state)
{
	struct type text = type_text(8), blob = { .kind = TYPE_BLOB, .bytes = 4 };
	struct type real = { .kind = TYPE_REAL };
	struct value value;

	given[0] = (struct value){ .kind = VALUE_NULL };
	given[1] = (struct value){ .kind = VALUE_REAL, .real = 0.1 };
	given[2] = (struct value){ .kind = VALUE_TEXT, .n = 3, .text = "abcd" };
	given[3] = (struct value){ .kind = VALUE_TEXT };
	expect_null(ask_typed(text, "SELECT given(0)"), "NULL");
	assert_true(ask_typed(real, "SELECT given(1)").real == 0.1);
	value = ask_typed(text, "SELECT given(2)");
	assert_int_equal(value.kind, VALUE_TEXT);
	assert_int_equal(value.n, 3);
	assert_string_equal(value.text, "abc");
	value = ask_typed(text, "SELECT given(3)");
	assert_int_equal(value.kind, VALUE_TEXT);
	assert_int_equal(value.n, 0);
	value = ask_typed(blob, "SELECT x'00ff0041'");
	assert_int_equal(value.kind, VALUE_TEXT);
	assert_int_equal(value.n, 4);
	assert_memory_equal(value.text, "\0\xff\0A", 4);
	assert_int_equal(ask_typed(blob, "SELECT x''").n, 0);
	/* Nothing is cut. */
	assert_int_equal(ask_typed(text, "SELECT 'ab' || char(0) || 'c'").n, 4);
	/* Words of all types, and numbers where reals are asked for. */
	for (u8 kind = TYPE_BOOL; kind <= TYPE_POINTER; kind++)
		expect_integer(ask_typed((struct type){ .kind = kind, .bits = 64 }, "SELECT 1"), 1,
			       "word");
	assert_true(ask_typed(real, "SELECT 3").real == 3);
	assert_int_equal(ask_typed(real, "SELECT 3").kind, VALUE_REAL);
	given[4] = integer_value(2 * TWO_63);
	assert_true(ask_typed(real, "SELECT given(4)").real == 0x1p64);
}

/* Where SQLite went over to floating point, but is exact, the number is taken. */
static void test_inexact(void **state)
{
	struct type real = { .kind = TYPE_REAL };

	assert_true(ask("SELECT 9007199254740991.0").real == 9007199254740991.0);
	expect_error("no longer exact", "SELECT 9223372036854775807 + 1");
	expect_error("no longer exact", "SELECT -9007199254740992.0");
	assert_true(ask_typed(real, "SELECT 9223372036854775807 + 1").real == 0x1p63);
	assert_true(ask("SELECT -9e999").real == -INFINITY);
}

static struct value quantiles_value(struct quantile *quantiles)
{
	for (u32 i = 0; i < 3; i++)
		quantiles[i] = (struct quantile){ .q_ppb = 500000000 + i,
						  .has_lo = i != 1,
						  .has_hi = i != 2,
						  .is_hi_open = i == 0,
						  .is_lo_open = i == 2,
						  .is_interpolated = i == 2,
						  .interpolated = i == 2 ? 2.5 : 0,
						  .estimate = TWO_63 + i,
						  .lo = i,
						  .hi = 2 * TWO_63 - 1 };
	return (struct value){ .kind = VALUE_QUANTILES, .n = 3, .quantiles = quantiles };
}

static void test_quantiles(void **state)
{
	struct type ladder = { .kind = TYPE_LADDER, .of = TYPE_INT };
	struct quantile quantiles[3];
	struct value value;

	given[0] = quantiles_value(quantiles);
	value = ask_typed(ladder, "SELECT x FROM (SELECT given(0) AS x UNION SELECT NULL) "
				  "ORDER BY x DESC");
	assert_int_equal(value.kind, VALUE_QUANTILES);
	assert_int_equal(value.n, 3);
	for (u32 i = 0; i < 3; i++) {
		const struct quantile *a = &quantiles[i], *b = &value.quantiles[i];

		assert_int_equal(a->q_ppb, b->q_ppb);
		assert_true(a->has_lo == b->has_lo && a->has_hi == b->has_hi);
		assert_true(a->is_lo_open == b->is_lo_open && a->is_hi_open == b->is_hi_open);
		assert_true(a->is_interpolated == b->is_interpolated);
		assert_true(a->estimate == b->estimate && a->interpolated == b->interpolated);
		assert_true(!a->has_lo || a->lo == b->lo);
		assert_true(!a->has_hi || a->hi == b->hi);
	}
	/* One alone can be asked for its parts. */
	given[0].n = 1;
	expect_integer(ask("SELECT eb_estimate(given(0))"), TWO_63, "estimate");
	expect_integer(ask("SELECT eb_lo(given(0))"), 0, "lo");
	expect_integer(ask("SELECT eb_hi(given(0))"), 2 * TWO_63 - 1, "hi");
	given[0].quantiles = quantiles + 1;
	assert_true(ask("SELECT eb_lo(given(0))").real == -INFINITY);
	given[0].quantiles = quantiles + 2;
	assert_true(ask("SELECT eb_hi(given(0))").real == INFINITY);
	assert_true(ask("SELECT eb_estimate(given(0))").real == 2.5);
	given[0] = (struct value){ .kind = VALUE_QUANTILES, .n = 2, .quantiles = quantiles };
	expect_error("no number", "SELECT eb_estimate(given(0))");
	expect_integer(ask("SELECT eb_estimate(7)"), 7, "a number passes through");
	expect_null(ask("SELECT eb_estimate(NULL)"), "NULL passes through");
}

static void expect_histogram(const struct histogram *a, const struct histogram *b)
{
	assert_true(scheme_equal(a->scheme, b->scheme));
	assert_int_equal(a->n_cells, b->n_cells);
	for (u32 i = 0; i < a->n_cells; i++) {
		assert_int_equal(a->cells[i].cell, b->cells[i].cell);
		assert_int_equal(a->cells[i].count, b->cells[i].count);
	}
	assert_int_equal(a->count, b->count);
	assert_int_equal(a->n_unplaced, b->n_unplaced);
	assert_true(a->sum == b->sum && a->min == b->min && a->max == b->max);
}

static void test_histograms(void **state)
{
	static const s64 bounds[] = { -5, 0, 1ll << 40 };
	struct scheme schemes[] = { { .kind = SCHEME_LOG2 },
				    { .kind = SCHEME_EXPONENTIAL, .digits = 6 },
				    { .kind = SCHEME_LOGLINEAR, .digits = 10 },
				    { .kind = SCHEME_LINEAR, .low = -9, .high = 9, .step = 2 },
				    { .kind = SCHEME_BOUNDS, .bounds = bounds, .n_bounds = 3 } };
	struct histogram_cell cells[] = { { 0, 7 }, { 3, 1ull << 60 } };
	struct type type = { .kind = TYPE_HISTOGRAM, .of = TYPE_INT };
	struct histogram h = { .cells = cells,
			       .n_cells = 2,
			       .count = (1ull << 60) + 7,
			       .n_unplaced = 3,
			       .sum = -((s128)1 << 100),
			       .min = -TWO_63,
			       .max = 2 * TWO_63 - 1 };
	struct value value;

	given[0] = (struct value){ .kind = VALUE_HISTOGRAM, .histogram = &h };
	for (u32 i = 0; i < ARRAY_SIZE(schemes); i++) {
		h.scheme = &schemes[i];
		value = ask_typed(type, "SELECT x FROM (SELECT given(0) AS x UNION SELECT NULL) "
					"ORDER BY x DESC");
		assert_int_equal(value.kind, VALUE_HISTOGRAM);
		expect_histogram(&h, value.histogram);
	}
	h = (struct histogram){ .scheme = &schemes[4] };
	value = ask_typed(type, "SELECT eb_histogram_empty('bounds(-5, 0, 1099511627776)')");
	expect_histogram(&h, value.histogram);
}

static void test_top(void **state)
{
	struct top_row rows[] = {
		{ { .kind = VALUE_TEXT, .n = 5, .text = "abcde" }, (s128)1 << 90, 5 },
		{ { .kind = VALUE_INT, .integer = 2 * TWO_63 - 1 }, 7, 0 },
		{ { .kind = VALUE_TEXT, .n = 0, .text = "" }, 6, 6 },
		{ { .kind = VALUE_TEXT, .n = 17, .text = "seventeen letters" }, 5, 1 },
	};
	struct top top = { rows, ARRAY_SIZE(rows), ((s128)1 << 90) + 50, 4 };
	struct value value;

	given[0] = (struct value){ .kind = VALUE_TOP, .top = &top };
	value = ask_typed((struct type){ .kind = TYPE_TOP, .of = TYPE_TEXT }, "SELECT given(0)");
	assert_int_equal(value.kind, VALUE_TOP);
	assert_int_equal(value.top->n_rows, top.n_rows);
	assert_true(value.top->total == top.total && value.top->max_unlisted == 4);
	for (u32 i = 0; i < top.n_rows; i++) {
		const struct top_row *a = &rows[i], *b = &value.top->rows[i];

		assert_true(a->weight == b->weight && a->error == b->error);
		assert_int_equal(a->value.kind, b->value.kind);
		if (a->value.kind == VALUE_INT) {
			assert_true(a->value.integer == b->value.integer);
			continue;
		}
		assert_int_equal(a->value.n, b->value.n);
		assert_memory_equal(a->value.text, b->value.text, a->value.n);
	}
}

/* given(0) and given(1) are one value to SQLite. */
static void expect_equal(const char *where)
{
	expect_integer(ask("SELECT given(0) = given(1)"), 1, where);
	expect_integer(ask("SELECT count(*) FROM (SELECT given(0) UNION SELECT given(1))"), 1,
		       where);
	expect_integer(ask("SELECT count(DISTINCT given(column1)) FROM (VALUES (0), (1))"), 1,
		       where);
}

/* The same values twice, with other bytes between their members. */
struct twin {
	s64 bounds[3];
	struct scheme scheme;
	struct histogram_cell cells[2];
	struct histogram h;
	struct quantile q;
	char text[6];
	struct top_row row;
	struct top top;
};

static void twin_init(struct twin *twin, int filler)
{
	static const s64 bounds[] = { -5, 0, 9 };

	memset(twin, filler, sizeof(*twin));
	memcpy(twin->bounds, bounds, sizeof(bounds));
	twin->scheme.kind = SCHEME_BOUNDS;
	twin->scheme.bounds = twin->bounds;
	twin->scheme.n_bounds = 3;
	for (u32 k = 0; k < 2; k++) {
		twin->cells[k].cell = k + 1;
		twin->cells[k].count = 10 + k;
	}
	twin->h.scheme = &twin->scheme;
	twin->h.cells = twin->cells;
	twin->h.n_cells = 2;
	twin->h.count = 21;
	twin->h.n_unplaced = 0;
	twin->h.sum = twin->h.min = -4;
	twin->h.max = 7;
	twin->q.q_ppb = 5;
	twin->q.has_lo = twin->q.has_hi = twin->q.is_hi_open = twin->q.is_lo_open = false;
	twin->q.is_interpolated = false;
	twin->q.estimate = 3;
	memcpy(twin->text, "alpha", 6);
	twin->row.value.kind = VALUE_TEXT;
	twin->row.value.n = 5;
	twin->row.value.text = twin->text;
	twin->row.weight = twin->top.total = 9;
	twin->row.error = twin->top.max_unlisted = 0;
	twin->top.rows = &twin->row;
	twin->top.n_rows = 1;
}

static void test_canonical(void **state)
{
	struct twin at[2];

	for (u32 i = 0; i < 2; i++) {
		twin_init(&at[i], i ? 0xa5 : 0);
		given[i] = (struct value){ .kind = VALUE_HISTOGRAM, .histogram = &at[i].h };
	}
	expect_equal("histogram");
	expect_integer(ask("SELECT count(DISTINCT eb_quantiles(given(column1), 'mid', "
			   "500000000)) FROM (VALUES (0), (1))"),
		       1, "its quantile");
	at[1].cells[1].count++;
	expect_integer(ask("SELECT given(0) = given(1)"), 0, "another histogram");
	for (u32 i = 0; i < 2; i++) {
		at[i].h.count = at[i].h.n_cells = 0;
		at[i].h.sum = 0;
	}
	at[1].h.min = 4; /* of nothing: means nothing */
	expect_equal("empty histogram");
	for (u32 i = 0; i < 2; i++)
		given[i] = (struct value){ .kind = VALUE_QUANTILES, .n = 1, .quantiles = &at[i].q };
	expect_equal("quantile");
	for (u32 i = 0; i < 2; i++)
		given[i] = (struct value){ .kind = VALUE_TOP, .top = &at[i].top };
	expect_equal("top list");
	at[1].text[4] = 'e';
	expect_integer(ask("SELECT given(0) = given(1)"), 0, "another text");
}

/* What the aggregates make of the same rows in another order. */
static void test_canonical_aggregates(void **state)
{
	static const char *const aggregates[] = { "eb_histogram(x, 'log2', 0)",
						  "eb_top_k(x, 2, 1, 0)",
						  "eb_top_k('v' || x, 2, 1, 0)" };

	run("CREATE TABLE u(g, x)");
	run("INSERT INTO u VALUES (1, 5), (1, 7), (1, 7), (2, 7), (2, 5), (2, 7), (3, 9)");
	for (u32 i = 0; i < ARRAY_SIZE(aggregates); i++)
		expect_integer(ask("SELECT count(DISTINCT h) FROM (SELECT %s AS h FROM u GROUP BY "
				   "g)",
				   aggregates[i]),
			       2, aggregates[i]);
}

static void test_pieces(void **state)
{
	static const char *const wholes[] = { "eb_histogram_empty('log2')",
					      "(SELECT eb_top_k(1, 5, 1, 0) WHERE 0)" };

	given[0] = integer_value(TWO_63);
	for (u32 i = 0; i < ARRAY_SIZE(wholes); i++) {
		s64 n = (s64)ask("SELECT length(%s)", wholes[i]).integer;

		assert_true(n > 16);
		for (s64 k = 1; k < n; k++)
			expect_error("not a histogram", "SELECT * FROM eb_cells(substr(%s, 1, %d))",
				     wholes[i], (int)k);
	}
	expect_integer(ask("SELECT eb_compare(substr(given(0), 1, 20), 1)"), 1, "a plain blob");
}

/* A blob that an event brings is never taken for a special value. */
static void test_foreign_blobs(void **state)
{
	struct value value =
		ask_typed((struct type){ .kind = TYPE_BLOB, .bytes = 24 }, "SELECT zeroblob(24)");

	assert_int_equal(value.kind, VALUE_TEXT);
	assert_int_equal(value.n, 24);
	expect_error("not a histogram", "SELECT eb_quantiles(zeroblob(200), 'mid', 1)");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_integers, open_sql, close_sql),
		cmocka_unit_test_setup_teardown(test_plain, open_sql, close_sql),
		cmocka_unit_test_setup_teardown(test_inexact, open_sql, close_sql),
		cmocka_unit_test_setup_teardown(test_quantiles, open_sql, close_sql),
		cmocka_unit_test_setup_teardown(test_histograms, open_sql, close_sql),
		cmocka_unit_test_setup_teardown(test_top, open_sql, close_sql),
		cmocka_unit_test_setup_teardown(test_canonical, open_sql, close_sql),
		cmocka_unit_test_setup_teardown(test_canonical_aggregates, open_sql, close_sql),
		cmocka_unit_test_setup_teardown(test_pieces, open_sql, close_sql),
		cmocka_unit_test_setup_teardown(test_foreign_blobs, open_sql, close_sql),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
