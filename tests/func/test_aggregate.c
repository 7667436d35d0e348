/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Sums, averages, first, last, stddev, distinct counts and top lists against the same
 * computed here; over frames that move, against the rows of each frame.
 */
#include <math.h>

#include "sql.h"

#define S64_LO ((s128)INT64_MIN)
#define S64_HI ((s128)INT64_MAX)
#define U64_HI ((s128)UINT64_MAX)
#define N      48

static u64 random_state = 0x9e3779b97f4a7c15ull;

static u64 random_word(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state * 0x2545f4914f6cdd1dull;
}

static s128 random_integer(void)
{
	u64 word = random_word(), bits = random_word() % 64;

	switch (random_word() % 8) {
	case 0:
		return S64_HI - (s128)(word % 3);
	case 1:
		return S64_LO + (s128)(word % 3);
	case 2:
		return U64_HI - (s128)(word % 3);
	case 3:
		return (s128)word;
	default:
		return (s128)((s64)word >> bits);
	}
}

/* Table t(i, x, time) of n rows: x integers, one in eight NULL. */
static void store(const s128 *values, bool *is_null, u32 n)
{
	run("DROP TABLE IF EXISTS t; CREATE TABLE t(i, x, time)");
	for (u32 i = 0; i < n; i++) {
		is_null[i] = random_word() % 8 == 0;
		given[i] = is_null[i] ? (struct value){ .kind = VALUE_NULL }
				      : integer_value(values[i]);
		run(arena_printf(&arena, "INSERT INTO t VALUES (%u, given(%u), %u)", i, i,
				 (u32)(random_word() % 10)));
	}
}

static void fill(s128 *values, bool *is_null, u32 n)
{
	for (u32 i = 0; i < n; i++)
		values[i] = random_integer();
	store(values, is_null, n);
}

/* A text that is no number is a fault and adds nothing, also where a frame leaves it behind. */
static void test_texts(void **state)
{
	u64 before = func.n_faults;

	run("DROP TABLE IF EXISTS words; CREATE TABLE words(i, x); INSERT INTO words VALUES (1, '7'), "
	    "(2, 'abc'), (3, ''), (4, '5x'), (5, 3), (6, NULL), (7, ' 2 ')");
	expect_integer(ask("SELECT eb_sum(x) FROM words"), 12, "sum");
	assert_int_equal(func.n_faults - before, 3);
	assert_true(ask("SELECT eb_avg(x) FROM words").real == 4);
	assert_int_equal(func.n_faults - before, 6);
	expect_integer(
		ask("SELECT s FROM (SELECT i, eb_sum(x) OVER (ORDER BY i ROWS 1 PRECEDING) AS s "
		    "FROM words) WHERE i = 5"),
		3, "frame");
	expect_null(
		ask("SELECT s FROM (SELECT i, eb_sum(x) OVER (ORDER BY i ROWS 1 PRECEDING) AS s "
		    "FROM words) WHERE i = 4"),
		"frame of texts");
	assert_true(func.n_faults - before == 12);
	expect_integer(ask("SELECT eb_bit_or(x) FROM words"), 7, "bits");
	assert_int_equal(func.n_faults - before, 15);
}

static void test_sums(void **state)
{
	s128 values[N];
	bool is_null[N];

	for (u32 round = 0; round < 20; round++) {
		fill(values, is_null, N);
		for (u32 n = 0; n <= N; n++) {
			s128 sum = 0;
			u64 count = 0;
			struct value average;

			for (u32 i = 0; i < n; i++) {
				sum += is_null[i] ? 0 : values[i];
				count += !is_null[i];
			}
			average = ask_typed((struct type){ .kind = TYPE_REAL },
					    "SELECT eb_avg(x) FROM t WHERE i < %u", n);
			if (!count) {
				expect_null(ask("SELECT eb_sum(x) FROM t WHERE i < %u", n), "sum");
				expect_null(average, "avg");
				continue;
			}
			assert_true(average.real == (double)sum / (double)count);
			if (sum < S64_LO)
				expect_error("too large", "SELECT eb_sum(x) FROM t WHERE i < %u",
					     n);
			else
				expect_integer(ask("SELECT eb_sum(x) FROM t WHERE i < %u", n), sum,
					       "sum");
		}
	}
	/* Sums of sums leave 64 bits by far. */
	given[0] = integer_value((s128)1 << 126);
	expect_integer(ask("SELECT eb_sum(given(0) ) FROM (VALUES(1))"), (s128)1 << 126, "2^126");
	expect_error("too large", "SELECT eb_sum(given(0)) FROM (VALUES(1), (2))");
	expect_integer(ask("SELECT eb_sum(DISTINCT column1) FROM (VALUES(1), (2), (2))"), 3,
		       "DISTINCT");
	expect_integer(ask("SELECT eb_sum(column1) FILTER (WHERE column1 > 1) "
			   "FROM (VALUES(1), (2), (2))"),
		       4, "FILTER");
}

static void test_frames(void **state)
{
	s128 values[N];
	bool is_null[N];

	for (u32 round = 0; round < 10; round++) {
		u32 before = (u32)(random_word() % 6), after = (u32)(random_word() % 4);

		fill(values, is_null, N);
		for (u32 at = 0; at < N; at++) {
			u32 first = at < before ? 0 : at - before, last = MIN(at + after, N - 1);
			struct value got[8];
			struct moments m = { 0 };
			const char *error;

			for (u32 i = first; i <= last; i++)
				if (!is_null[i])
					moments_add(&m, values[i], 1);
			error = ask_row(got, (struct type){ .kind = TYPE_REAL },
					"SELECT a, d, e FROM (SELECT i, eb_avg(x) OVER w AS a, "
					"eb_stddev_samp(x) OVER w AS d, eb_stddev_pop(x) OVER w AS "
					"e FROM t WINDOW w AS (ORDER BY i ROWS BETWEEN %u "
					"PRECEDING AND %u FOLLOWING)) WHERE i = %u",
					before, after, at);
			assert_null(error);
			if (m.n)
				assert_true(got[0].real == (double)m.sum / (double)m.n);
			else
				expect_null(got[0], "avg");
			if (m.n > 1)
				assert_true(got[1].real == moments_stddev(&m, false));
			else
				expect_null(got[1], "stddev_samp");
			if (m.n)
				assert_true(got[2].real == moments_stddev(&m, true));
			else
				expect_null(got[2], "stddev_pop");
		}
	}
}

static s128 fold_or(s128 a, s128 b)
{
	return a | b;
}

static s128 fold_and(s128 a, s128 b)
{
	return a & b;
}

static s128 fold_xor(s128 a, s128 b)
{
	return a ^ b;
}

static const struct {
	const char *name;
	s128 (*fold)(s128 a, s128 b);
} bits[] = {
	{ "eb_bit_or", fold_or },
	{ "eb_bit_and", fold_and },
	{ "eb_bit_xor", fold_xor },
};

static void expect_bits(u32 which, const s128 *values, const bool *is_null, u32 first, u32 last,
			const char *sql)
{
	s128 wanted = 0;
	bool has_value = false;

	for (u32 i = first; i < last; i++) {
		if (is_null[i])
			continue;
		wanted = has_value ? bits[which].fold(wanted, values[i]) : values[i];
		has_value = true;
	}
	if (!has_value)
		expect_null(ask("%s", sql), bits[which].name);
	else
		expect_integer(ask("%s", sql), wanted, bits[which].name);
}

static void test_bits(void **state)
{
	s128 values[N];
	bool is_null[N];

	for (u32 which = 0; which < ARRAY_SIZE(bits); which++) {
		for (u32 round = 0; round < 10; round++) {
			for (u32 i = 0; i < N; i++) {
				u64 word = random_word();
				u32 shift = random_word() % 64;

				values[i] = round & 1 ? (s128)((s64)word >> shift) : word >> shift;
			}
			store(values, is_null, N);
			for (u32 i = 0; i < N; i++) {
				expect_bits(which, values, is_null, 0, i,
					    arena_printf(&arena, "SELECT %s(x) FROM t WHERE i < %u",
							 bits[which].name, i));
				expect_bits(
					which, values, is_null, i < 2 ? 0 : i - 2, i + 1,
					arena_printf(&arena,
						     "SELECT b FROM (SELECT i, %s(x) OVER (ORDER "
						     "BY i ROWS 2 PRECEDING) AS b FROM t WHERE i "
						     "<= %u) WHERE i = %u",
						     bits[which].name, i, i));
			}
		}
		expect_error("not an integer", "SELECT %s(1.5)", bits[which].name);
		given[0] = integer_value(1ull << 63);
		if (bits[which].fold == fold_xor)
			expect_error("too large",
				     "SELECT %s(column1) FROM (VALUES(-1), (given(0)))",
				     bits[which].name);
	}
}

static void test_sum_over(void **state)
{
	run("CREATE TABLE u(i, x)");
	run("INSERT INTO u VALUES (1, 9223372036854775807), (2, 9223372036854775807), (3, NULL), "
	    "(4, -5), (5, 7)");
	expect_integer(ask("SELECT s FROM (SELECT i, eb_sum(x) OVER (ORDER BY i ROWS 1 PRECEDING) "
			   "AS s FROM u) WHERE i = 2"),
		       2 * S64_HI, "a frame of two");
	expect_integer(ask("SELECT s FROM (SELECT i, eb_sum(x) OVER (ORDER BY i ROWS 1 PRECEDING) "
			   "AS s FROM u) WHERE i = 4"),
		       -5, "a NULL leaves the frame");
	expect_integer(ask("SELECT s FROM (SELECT i, eb_sum(x) OVER (ORDER BY i) AS s FROM u) "
			   "WHERE i = 5"),
		       2 * S64_HI + 2, "a running sum");
}

/* One real makes a sum what SQLite's is. */
static void test_reals(void **state)
{
	struct type real = { .kind = TYPE_REAL };
	struct value got[8];

	run("CREATE TABLE v(i, x)");
	run("INSERT INTO v VALUES (1, 0.1), (2, 3), (3, '0.7'), (4, '-2'), (5, NULL), (6, '12'), "
	    "(7, 1e10)");
	for (u32 n = 1; n <= 8; n++) {
		assert_null(ask_row(got, real,
				    "SELECT sum(x), eb_sum(x), avg(x), eb_avg(x) FROM v WHERE i < "
				    "%u",
				    n));
		for (u32 k = 0; k < 4; k += 2) {
			assert_int_equal(got[k].kind, got[k + 1].kind);
			if (got[k].kind == VALUE_REAL)
				assert_true(got[k].real == got[k + 1].real);
		}
	}
	/* 2, 4, 4, 4, 5, 5, 7, 9: mean 5, squares 32. */
	got[0] = ask_typed(real, "SELECT eb_stddev_pop(column1) FROM (VALUES(2.0), (4), (4), (4), "
				 "(5.0), (5), (7), (9))");
	assert_true(fabs(got[0].real - 2) < 1e-15);
	got[0] = ask_typed(real, "SELECT eb_stddev_samp(column1) FROM (VALUES(2), (4), (4), (4), "
				 "(5), (5), (7), (9))");
	assert_true(got[0].real == sqrt(32.0 / 7));
	expect_null(ask("SELECT eb_stddev_samp(1.5)"), "one value");
	assert_true(ask("SELECT eb_stddev_pop(1.5)").real == 0);
}

static void test_first_and_last(void **state)
{
	s128 values[N];
	bool is_null[N];

	for (u32 round = 0; round < 10; round++) {
		u32 before = (u32)(random_word() % 9);

		fill(values, is_null, N);
		for (u32 at = 0; at < N; at++) {
			u32 begin = at < before ? 0 : at - before;
			s64 first = -1, last = -1, times[N];
			struct value got[8];

			for (u32 i = begin; i <= at; i++) {
				times[i] = (s64)ask("SELECT time FROM t WHERE i = %u", i).integer;
				if (is_null[i])
					continue;
				first = first < 0 || times[i] < times[first] ? i : first;
				last = last < 0 || times[i] >= times[last] ? i : last;
			}
			assert_null(ask_row(
				got, type_int(64, true),
				"SELECT a, b, (SELECT eb_first(x, time) FROM t WHERE i BETWEEN %u "
				"AND %u), (SELECT eb_last(x, time) FROM t WHERE i BETWEEN %u AND "
				"%u) FROM (SELECT i, eb_first(x, time) OVER w AS a, eb_last(x, "
				"time) OVER w AS b FROM t WINDOW w AS (ORDER BY i ROWS %u "
				"PRECEDING)) WHERE i = %u",
				begin, at, begin, at, before, at));
			for (u32 k = 0; k < 4; k++) {
				s64 row = k % 2 ? last : first;

				if (row < 0)
					expect_null(got[k], "no value");
				else
					expect_integer(got[k], values[row],
						       k % 2 ? "last" : "first");
			}
		}
	}
	assert_string_equal(ask("SELECT eb_last(column1, column2) FROM (VALUES('a', 3), ('b', 9), "
				"('c', 5), ('d', NULL))")
				    .text,
			    "b");
	expect_error("not an integer", "SELECT eb_first(1, 'noon')");
}

static void test_distinct(void **state)
{
	u8 registers[1 << HLL_BITS_DEFAULT] = { 0 };

	run("CREATE TABLE d(x)");
	for (u32 i = 0; i < 3000; i++) {
		u64 word = random_word() % 1000;

		run(arena_printf(&arena, "INSERT INTO d VALUES (%lld), ('text %llu'), (NULL)",
				 (long long)word - 500, (unsigned long long)word));
		word -= 500;
		hll_add(registers, HLL_BITS_DEFAULT, hll_hash(&word, 1));
		word += 500;
		char *text = arena_printf(&arena, "text %llu", (unsigned long long)word);
		hll_add(registers, HLL_BITS_DEFAULT, hll_hash_bytes(text, strlen(text)));
	}
	expect_integer(ask("SELECT eb_approx_count_distinct(x, %u) FROM d", HLL_BITS_DEFAULT),
		       hll_estimate(registers, HLL_BITS_DEFAULT), "estimate");
	expect_integer(ask("SELECT eb_approx_count_distinct(x, 12) FROM d WHERE 0"), 0, "no rows");
	expect_integer(ask("SELECT eb_approx_count_distinct(NULL, 12)"), 0, "no values");
	expect_error("4 to 16", "SELECT eb_approx_count_distinct(1, 17)");
}

static void test_top(void **state)
{
	struct type type = { .kind = TYPE_TOP, .of = TYPE_INT };
	s128 weights[300] = { 0 }, total = 0;
	const struct top *top;

	run("CREATE TABLE h(x, w)");
	for (u32 i = 0; i < 2000; i++) {
		u64 x = random_word() % 300, w = random_word() % 3 * (x % 7);

		x = x * x / 300;
		run(arena_printf(&arena,
				 "INSERT INTO h VALUES (%llu, %llu), (NULL, 5), (3, NULL), "
				 "(3, -1)",
				 (unsigned long long)x, (unsigned long long)w));
		weights[x] += w;
		total += w;
	}
	top = ask_typed(type, "SELECT eb_top_k(x, 20, w, 0) FROM h").top;
	assert_int_equal(func.n_negative, 2000);
	assert_int_equal(top->n_rows, 20);
	assert_true(top->total == total);
	for (u32 i = 0; i < top->n_rows; i++) {
		s128 best = 0;
		u32 at = 0;

		for (u32 x = 0; x < ARRAY_SIZE(weights); x++)
			if (weights[x] > best) {
				best = weights[x];
				at = x;
			}
		expect_integer(top->rows[i].value, at, "the heaviest that is left");
		assert_true(top->rows[i].weight == best && top->rows[i].error == 0);
		weights[at] = 0;
	}
	for (u32 x = 0; x < ARRAY_SIZE(weights); x++)
		assert_true(weights[x] <= top->max_unlisted);
	top = ask_typed(type,
			"SELECT eb_top_k(column1, 3, 1, 0) FROM (VALUES('ab'), ('a'), ('ab'), "
			"('c'), (''), ('a'), ('abcdefghi'))")
		      .top;
	assert_int_equal(top->n_rows, 3);
	/* Of one weight, the least words come first: "a" before "ab". */
	assert_int_equal(top->rows[0].value.n, 1);
	assert_memory_equal(top->rows[0].value.text, "a", 1);
	assert_memory_equal(top->rows[1].value.text, "ab", 2);
	assert_int_equal(top->rows[2].value.n, 0);
	assert_true(top->max_unlisted == 1 && top->total == 7);
	given[0] = integer_value(U64_HI);
	top = ask_typed(type, "SELECT eb_top_k(given(0), 1, 1, 0)").top;
	expect_integer(top->rows[0].value, U64_HI, "a big integer");
	for (u32 i = 0; i < 2; i++) {
		top = ask_typed(type, i ? "SELECT eb_top_k(x, 5, 1, 0) FROM h WHERE 0"
					: "SELECT eb_top_k(NULL, 5, 1, 0)")
			      .top;
		assert_int_equal(top->n_rows, 0);
		assert_true(top->total == 0 && top->max_unlisted == 0);
	}
	expect_error("1 to 1000", "SELECT eb_top_k(1, 0, 1, 0)");
	expect_error("not an integer", "SELECT eb_top_k(1.5, 3, 1, 0)");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_texts, open_sql, close_sql),
		cmocka_unit_test_setup_teardown(test_sums, open_sql, close_sql),
		cmocka_unit_test_setup_teardown(test_frames, open_sql, close_sql),
		cmocka_unit_test_setup_teardown(test_bits, open_sql, close_sql),
		cmocka_unit_test_setup_teardown(test_sum_over, open_sql, close_sql),
		cmocka_unit_test_setup_teardown(test_reals, open_sql, close_sql),
		cmocka_unit_test_setup_teardown(test_first_and_last, open_sql, close_sql),
		cmocka_unit_test_setup_teardown(test_distinct, open_sql, close_sql),
		cmocka_unit_test_setup_teardown(test_top, open_sql, close_sql),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
