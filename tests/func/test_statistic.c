/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Histograms made by SQL against cells counted here by type/scheme.h, merged ones
 * against one of all values, and quantiles in SQL against quantile_of() on the same.
 */
#include <math.h>

#include "sql.h"

#define S64_LO ((s128)INT64_MIN)
#define U64_HI ((s128)UINT64_MAX)
#define N      40u

static const s64 bounds[] = { -1000, 0, 1, 7, 1ll << 40 };

static const struct {
	const char *text;
	struct scheme scheme;
} schemes[] = {
	{ "log2", { .kind = SCHEME_LOG2 } },
	{ "exponential(0)", { .kind = SCHEME_EXPONENTIAL, .digits = 0 } },
	{ "exponential(3)", { .kind = SCHEME_EXPONENTIAL, .digits = 3 } },
	{ "loglinear(7)", { .kind = SCHEME_LOGLINEAR, .digits = 7 } },
	{ "linear(-50, 1000, 7)", { .kind = SCHEME_LINEAR, .low = -50, .high = 1000, .step = 7 } },
	{ "bounds(-1000, 0, 1, 7, 1099511627776)",
	  { .kind = SCHEME_BOUNDS, .bounds = bounds, .n_bounds = ARRAY_SIZE(bounds) } },
};

static u64 random_state = 0x9e3779b97f4a7c15ull;

static u64 random_word(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state * 0x2545f4914f6cdd1dull;
}

struct counted {
	struct histogram histogram;
	struct histogram_cell cells[70000];
	u64 n_negative;
};

/* Table t(i, x): N rows, which are also given[0 .. N - 1]. */
static void fill(void)
{
	run("DROP TABLE IF EXISTS t; CREATE TABLE t(i, x)");
	for (u32 i = 0; i < N; i++) {
		u64 word = random_word();

		given[i] = integer_value((s128)(word >> word % 64));
		if (word % 7 == 0)
			given[i] = integer_value(-given[i].integer / 2);
		else if (word % 11 == 0)
			given[i] = (struct value){ .kind = VALUE_NULL };
		run(arena_printf(&arena, "INSERT INTO t VALUES (%u, given(%u))", i, i));
	}
}

static void count(const struct scheme *scheme, u32 first, u32 n, struct counted *ret_counted)
{
	struct counted *c = ret_counted;
	struct histogram *h = &c->histogram;
	u64 *cells = arena_array(&arena, u64, scheme_n_cells(scheme));

	*h = (struct histogram){ .scheme = scheme, .cells = c->cells };
	c->n_negative = 0;
	for (u32 i = first; i < first + n; i++) {
		s128 x = given[i].integer;

		if (given[i].kind == VALUE_NULL)
			continue;
		if (x < 0 && !scheme_takes_negative(scheme)) {
			c->n_negative++;
			continue;
		}
		h->min = h->count ? MIN(h->min, x) : x;
		h->max = h->count ? MAX(h->max, x) : x;
		h->count++;
		h->sum += x;
		cells[scheme_cell(scheme, x)]++;
	}
	for (u32 i = 0; i < scheme_n_cells(scheme); i++)
		if (cells[i])
			c->cells[h->n_cells++] = (struct histogram_cell){ i, cells[i] };
}

static void expect_same(const struct histogram *wanted, struct value got)
{
	const struct histogram *h = got.histogram;

	assert_int_equal(got.kind, VALUE_HISTOGRAM);
	assert_true(scheme_equal(wanted->scheme, h->scheme));
	assert_int_equal(wanted->n_cells, h->n_cells);
	for (u32 i = 0; i < h->n_cells; i++) {
		assert_int_equal(wanted->cells[i].cell, h->cells[i].cell);
		assert_int_equal(wanted->cells[i].count, h->cells[i].count);
	}
	assert_int_equal(wanted->count, h->count);
	assert_int_equal(wanted->n_unplaced, h->n_unplaced);
	assert_true(wanted->sum == h->sum && wanted->min == h->min && wanted->max == h->max);
}

static struct counted *counted;

static void test_histograms(void **state)
{
	struct type type = { .kind = TYPE_HISTOGRAM, .of = TYPE_INT };

	for (u32 round = 0; round < 20; round++) {
		fill();
		for (u32 s = 0; s < ARRAY_SIZE(schemes); s++) {
			const char *text = schemes[s].text;
			u64 n_negative = func.n_negative;

			count(&schemes[s].scheme, 0, N, counted);
			expect_same(
				&counted->histogram,
				ask_typed(type, "SELECT eb_histogram(x, '%s', 0) FROM t", text));
			assert_int_equal(func.n_negative - n_negative, counted->n_negative);
			/* In seven pieces and together again; one of them has no values. */
			expect_same(
				&counted->histogram,
				ask_typed(type,
					  "SELECT eb_histogram_merge(h, '') FROM (SELECT "
					  "eb_histogram(x, '%s', 0) AS h FROM t GROUP BY i %% 7 "
					  "UNION ALL SELECT eb_histogram_empty('%s') UNION ALL "
					  "SELECT NULL)",
					  text, text));
			count(&schemes[s].scheme, 0, 0, counted);
			expect_same(&counted->histogram,
				    ask_typed(type,
					      "SELECT ifnull(eb_histogram(x, '%s', 0), "
					      "eb_histogram_empty('%s')) FROM t WHERE 0",
					      text, text));
			expect_same(&counted->histogram,
				    ask_typed(type, "SELECT eb_histogram(NULL, '%s', 0)", text));
		}
	}
	expect_null(ask("SELECT eb_histogram_merge(NULL, '')"), "nothing merged");
	expect_error(
		"log2 and exponential(0)@7-21",
		"SELECT eb_histogram_merge(column1, '@7-21') FROM "
		"(VALUES(eb_histogram_empty('log2')), (eb_histogram_empty('exponential(0)')))");
	expect_error("not a histogram", "SELECT eb_histogram_merge(5, '')");
	expect_error("not an integer", "SELECT eb_histogram(0.5, 'log2', 0)");
	assert_int_equal(ask_typed(type, "SELECT eb_histogram(4.0, 'log2', 0)").histogram->max, 4);
}

static void test_bad_schemes(void **state)
{
	static const char *const bad[] = {
		"",
		"log",
		"log2()",
		"log22",
		"exponential",
		"exponential()",
		"exponential(7)",
		"exponential(-1)",
		"exponential(1, 2)",
		"exponential(1",
		"exponential(1)x",
		"loglinear(0)",
		"loglinear(11)",
		"linear(1, 2)",
		"linear(2, 1, 1)",
		"linear(1, 2, 0)",
		"linear(0, 70000, 1)",
		"bounds()",
		"bounds(2, 1)",
		"bounds(1, 1)",
		"bounds(1, x)",
		"bounds(99999999999999999999)",
	};

	for (u32 i = 0; i < ARRAY_SIZE(bad); i++) {
		expect_error("not a scheme", "SELECT eb_histogram(1, '%s', 0)", bad[i]);
		expect_error("not a scheme", "SELECT eb_histogram_empty('%s')", bad[i]);
	}
	expect_error("not a scheme", "SELECT eb_histogram(1, NULL, 0)");
}

static void expect_quantile(const struct quantile *a, const struct quantile *b)
{
	assert_int_equal(a->q_ppb, b->q_ppb);
	assert_true(a->has_lo == b->has_lo && a->has_hi == b->has_hi);
	assert_true(a->is_lo_open == b->is_lo_open && a->is_hi_open == b->is_hi_open);
	assert_true(a->is_interpolated == b->is_interpolated && a->estimate == b->estimate);
	assert_true(a->interpolated == b->interpolated);
	assert_true((!a->has_lo || a->lo == b->lo) && (!a->has_hi || a->hi == b->hi));
}

static void expect_bound(struct value value, bool has_bound, s128 bound, double without)
{
	if (has_bound)
		expect_integer(value, bound, "bound");
	else
		assert_true(value.kind == VALUE_REAL && value.real == without);
}

static void check_quantiles(const char *scheme, const struct quantile_request *request,
			    const char *edge)
{
	struct type type = { .kind = TYPE_QUANTILE, .of = TYPE_INT };
	struct type real = { .kind = TYPE_REAL };
	struct quantile_request cont = *request;
	struct quantile q;
	struct value got[8];

	run("DROP TABLE IF EXISTS h; CREATE TABLE h(h)");
	run(arena_printf(&arena, "INSERT INTO h SELECT eb_histogram(x, '%s', 0) FROM t", scheme));
	assert_null(ask_row(got, type,
			    "SELECT q, eb_lo(q), eb_hi(q), eb_estimate(q), "
			    "eb_quantiles(h, '%s', 0, %u), eb_quantiles(h, 'cont', %u) "
			    "FROM (SELECT h, eb_quantiles(h, '%s', %u) AS q FROM h)",
			    edge, request->q_ppb, request->q_ppb, edge, request->q_ppb));
	got[6] = ask_typed(real, "SELECT eb_estimate(eb_quantiles(h, 'cont', %u)) FROM h",
			   request->q_ppb);
	if (!quantile_of(&counted->histogram, request, &q)) {
		for (u32 i = 0; i < 7; i++)
			expect_null(got[i], "a quantile of nothing");
		return;
	}
	assert_int_equal(got[0].kind, VALUE_QUANTILES);
	expect_quantile(&q, got[0].quantiles);
	expect_bound(got[1], q.has_lo, q.lo, -INFINITY);
	expect_bound(got[2], q.has_hi, q.hi, INFINITY);
	expect_integer(got[3], q.estimate, "estimate");
	assert_int_equal(got[4].n, 2);
	expect_quantile(&q, got[4].quantiles + 1);
	cont.q_ppb = 0;
	assert_true(quantile_of(&counted->histogram, &cont, &q));
	expect_quantile(&q, got[4].quantiles);
	cont.q_ppb = request->q_ppb;
	cont.is_interpolated = true;
	cont.edge = EDGE_MID;
	assert_true(quantile_of(&counted->histogram, &cont, &q));
	expect_quantile(&q, got[5].quantiles);
	assert_true(got[6].kind == VALUE_REAL && got[6].real == q.interpolated);
}

static void test_quantiles(void **state)
{
	static const u32 qs[] = { 0, 1, 250000000, 500000000, 990000000, 999999999, 1000000000 };
	static const char *const edges[] = { [EDGE_MID] = "mid",
					     [EDGE_LOWER] = "lower",
					     [EDGE_UPPER] = "upper",
					     [EDGE_LINEAR] = "linear" };
	static const u64 losses[] = { 0, 1, 30, 1000 };

	for (u32 s = 0; s < ARRAY_SIZE(schemes); s++) {
		fill();
		count(&schemes[s].scheme, 0, N, counted);
		for (u32 i = 0; i < ARRAY_SIZE(qs) * ARRAY_SIZE(losses); i++) {
			for (u32 edge = 0; edge < ARRAY_SIZE(edges); edge++) {
				struct quantile_request request = {
					.q_ppb = qs[i % ARRAY_SIZE(qs)],
					.n_lost = losses[i / ARRAY_SIZE(qs)],
					.edge = edge,
				};

				func.n_lost_values = request.n_lost;
				check_quantiles(schemes[s].text, &request, edges[edge]);
			}
		}
		func.n_lost_values = 0;
	}
	run("DELETE FROM t");
	count(&schemes[0].scheme, 0, 0, counted);
	check_quantiles("log2", &(struct quantile_request){ .q_ppb = 5 }, "mid");
	expect_error("not a histogram", "SELECT eb_quantiles(7, 'mid', 5)");
	expect_error("an edge of", "SELECT eb_quantiles(NULL, 'middle', 5)");
	expect_error("between 0 and 1", "SELECT eb_quantiles(NULL, 'mid', 1000000001)");
	expect_error("which ones", "SELECT eb_quantiles(NULL, 'mid')");
	expect_null(ask("SELECT eb_quantiles(NULL, 'mid', 5)"), "quantiles of NULL");
}

/* Aggregates of aggregates, over what SQLite sorted and grouped in between. */
static void test_nested(void **state)
{
	struct value got[8];

	run("CREATE TABLE n(g, x)");
	run("WITH RECURSIVE r(i) AS (VALUES(0) UNION ALL SELECT i + 1 FROM r WHERE i < 999) "
	    "INSERT INTO n SELECT i % 10, i FROM r");
	assert_null(
		ask_row(got, type_int(64, true),
			"SELECT max(e), min(e), count(*) FROM (SELECT g, "
			"eb_estimate(eb_quantiles(eb_histogram(x, 'loglinear(10)', 0), 'lower', "
			"500000000)) AS e FROM n GROUP BY g HAVING e >= 492 ORDER BY e DESC)"));
	/* Of group g the 50th of g, g + 10, ... is 490 + g. */
	expect_integer(got[0], 499, "max");
	expect_integer(got[1], 492, "min");
	expect_integer(got[2], 8, "count");
}

/* eb_cells(h): the rows of UNNEST. */
static void test_cells(void **state)
{
	struct value got[9];

	given[0] = integer_value((s128)UINT64_MAX);
	given[1] = integer_value(3);
	run("CREATE TABLE u (h)");
	run("INSERT INTO u SELECT eb_histogram(given(column1), 'log2', 0) FROM (VALUES (0), (1), (1))");
	expect_integer(ask("SELECT count(*) FROM u, eb_cells(u.h)"), 2, "cells");
	for (u32 i = 0; i < 2; i++) {
		assert_null(ask_row(got, type_int(64, false),
				    "SELECT a, b, c FROM u, eb_cells(u.h) WHERE cell = %u", i));
		expect_integer(got[0], i ? (s128)1 << 63 : 2, "lo");
		expect_integer(got[1], i ? (s128)1 << 64 : 4, "hi");
		expect_integer(got[2], i ? 1 : 2, "count");
	}
	run("INSERT INTO u SELECT eb_top_k(value, 2, 1, 0) FROM "
	    "(SELECT 'a' AS value UNION ALL SELECT 'b' UNION ALL SELECT 'b' UNION ALL SELECT 'c')");
	expect_integer(ask("SELECT count(*) FROM u, eb_cells(u.h)"), 5, "rows of both");
	assert_null(ask_row(got, type_text(0),
			    "SELECT group_concat(coalesce(a, '-') || b, ',') FROM u, eb_cells(u.h) "
			    "WHERE u.rowid = 2"));
	assert_string_equal(got[0].text, "b2,a1,-1");
	expect_integer(ask("SELECT count(*) FROM eb_cells(NULL)"), 0, "of NULL");
	assert_string_equal(ask_row(got, type_int(64, true), "SELECT * FROM eb_cells(5)"),
			    "not a histogram, and no top list");
	/* An integer of 2^63 and more is special, too. */
	assert_non_null(ask_row(got, type_int(64, true), "SELECT * FROM eb_cells(given(0))"));
	assert_non_null(ask_row(got, type_int(64, true), "SELECT * FROM eb_cells"));
}

static int start(void **state)
{
	counted = calloc(1, sizeof(*counted));
	return counted ? 0 : -1;
}

static int end(void **state)
{
	free(counted);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_histograms, open_sql, close_sql),
		cmocka_unit_test_setup_teardown(test_bad_schemes, open_sql, close_sql),
		cmocka_unit_test_setup_teardown(test_quantiles, open_sql, close_sql),
		cmocka_unit_test_setup_teardown(test_nested, open_sql, close_sql),
		cmocka_unit_test_setup_teardown(test_cells, open_sql, close_sql),
	};

	return cmocka_run_group_tests(tests, start, end);
}
