/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Bucket arithmetic against references written from the definitions: powers of
 * many words for exponential, a walk over the powers of two for loglinear, a
 * search from the first cell on for linear and bounds.  At every edge -1, 0, +1
 * and for a million random values of each scheme (EBQL_SEED: that seed).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "type/scheme.h"

#define N_RANDOM 1000000u
#define END	 ((s128)1 << 64) /* values are below it */
#define LOWEST	 (-((s128)1 << 63))

/* --- Random values --- */

struct source {
	u64 state;
};

/* A counter that steps by the golden ratio of 2^64, its bits mixed by xorshift and multiply. */
static u64 source_next(struct source *source)
{
	u64 x = source->state += 0x9e3779b97f4a7c15ull;

	x = (x ^ x >> 32) * 0xd6e8feb86659fd93ull;
	x = (x ^ x >> 32) * 0xd6e8feb86659fd93ull;
	return x ^ x >> 32;
}

/* Every second one uniform, the others of each magnitude alike. */
static u64 source_value(struct source *source, u32 i)
{
	u64 value = source_next(source);

	return i & 1 ? value : value >> (source_next(source) & 63);
}

static s64 source_between(struct source *source, s64 low, s64 high)
{
	return (s64)((s128)low + (s128)(source_next(source) % ((u64)high - (u64)low + 1)));
}

static u64 test_seed(const char *what)
{
	const char *text = getenv("EBQL_SEED");
	u64 seed = text ? strtoull(text, NULL, 0) : base_monotonic_ns();

	print_message("%s: EBQL_SEED=%llu\n", what, (unsigned long long)seed);
	return seed;
}

static void check_cell(const struct scheme *scheme, s128 value, u32 expected)
{
	u32 cell = scheme_cell(scheme, value);
	struct buf buf;

	if (cell == expected)
		return;
	buf_init(&buf);
	scheme_print(scheme, &buf);
	buf_puts(&buf, " of ");
	buf_put_s128(&buf, value);
	fail_msg("%s: cell %u, not %u", buf.at, cell, expected);
}

/* --- exponential: numbers of 64 words --- */

struct wide {
	u32 n; /* words in use, the highest not 0 */
	u64 word[64];
};

static void wide_square(const struct wide *a, struct wide *ret_square)
{
	u32 n = a->n, i, j;

	BUG_ON(2 * n > 64 && !(n == 1 && !a->word[0]));
	memset(ret_square->word, 0, 2 * n * sizeof(u64));
	for (i = 0; i < n; i++) {
		u64 carry = 0;

		for (j = 0; j < n; j++) {
			u128 sum = (u128)a->word[i] * a->word[j] + ret_square->word[i + j] + carry;

			ret_square->word[i + j] = (u64)sum;
			carry = (u64)(sum >> 64);
		}
		ret_square->word[i + n] = carry;
	}
	ret_square->n = 2 * n - !ret_square->word[2 * n - 1];
}

/* The smallest i with the number <= 2^i; the number is not 0. */
static u32 wide_log2_ceil(const struct wide *a)
{
	u32 top = a->n - 1;
	u32 bit = 63 - (u32)__builtin_clzll(a->word[top]);
	bool is_power = a->word[top] == 1ull << bit;

	while (is_power && top--)
		is_power = !a->word[top];
	return (a->n - 1) * 64 + bit + !is_power;
}

/*
 * exponential(s), s = 0 .. 6: 0 is cell 0, cell i + 1 is (2^((i - 1) / 2^s), 2^(i / 2^s)], and
 * v <= 2^(i / 2^s) where v^(2^s) <= 2^i.
 */
static void exponential_reference(u64 v, u32 cells[7])
{
	struct wide power[2];
	u32 s;

	power[0].n = 1;
	power[0].word[0] = v;
	for (s = 0; s <= 6; s++) {
		cells[s] = v ? wide_log2_ceil(&power[s & 1]) + 1 : 0;
		if (v && s < 6)
			wide_square(&power[s & 1], &power[~s & 1]);
	}
}

static u32 loglinear_reference(u32 b, u64 v);

/* What generated code computes from the tables. */
static u32 exponential_by_table(const struct scheme_exponential *tables, u32 s, u64 v)
{
	u32 c = loglinear_reference(s + 1, v);

	BUG_ON(c >= tables->n);
	return tables->base[c] + (v > tables->threshold[c]);
}

static void check_exponential(const struct scheme_exponential *tables, u64 v)
{
	struct scheme scheme = { .kind = SCHEME_EXPONENTIAL };
	u32 cells[7];

	exponential_reference(v, cells);
	for (scheme.digits = 0; scheme.digits <= 6; scheme.digits++) {
		u32 s = scheme.digits;

		check_cell(&scheme, v, cells[s]);
		if (exponential_by_table(&tables[s], s, v) != cells[s])
			fail_msg("table %u of %llu: cell %u, not %u", s, (unsigned long long)v,
				 exponential_by_table(&tables[s], s, v), cells[s]);
	}
}

static void all_tables(struct arena *arena, struct scheme_exponential tables[7])
{
	u32 s;

	for (s = 0; s <= 6; s++)
		scheme_exponential_tables(s, arena, &tables[s]);
}

static void test_exponential_edges(void **state)
{
	struct scheme scheme = { .kind = SCHEME_EXPONENTIAL };
	struct scheme_exponential tables[7];
	struct scheme_edges edges;
	struct arena arena;
	u64 highest = 0;
	u32 cell, n;
	s128 v;

	(void)state;
	arena_init(&arena);
	all_tables(&arena, tables);
	for (scheme.digits = 0; scheme.digits <= 6; scheme.digits++) {
		n = scheme_n_cells(&scheme);
		assert_int_equal(n, 2 + (64 << scheme.digits));
		for (cell = 0; cell < n; cell++) {
			scheme_edges(&scheme, cell, &edges);
			assert_true(edges.has_lo && edges.has_hi && !edges.is_hi_open);
			assert_true(edges.is_lo_open == (cell > 0));
			/* Cell 0 is [0, 0]; each other one starts where the last ended. */
			assert_true(edges.lo == highest && edges.hi >= edges.lo);
			for (v = MAX(edges.hi - 1, 0); v <= edges.hi + 1 && v < END; v++)
				check_exponential(tables, (u64)v);
			/* The edge is the last value at or below the cell's end: of (T, T] too. */
			assert_true(scheme_cell(&scheme, edges.hi) <= cell);
			if (edges.hi > edges.lo) {
				check_cell(&scheme, edges.lo + 1, cell);
				check_cell(&scheme, edges.hi, cell);
			}
			if (edges.hi + 1 < END)
				assert_true(scheme_cell(&scheme, edges.hi + 1) > cell);
			highest = (u64)edges.hi;
		}
		assert_true(highest == UINT64_MAX);
		highest = 0;
	}
	arena_free(&arena);
}

static void test_exponential_random(void **state)
{
	struct source source = { test_seed("exponential") };
	struct scheme_exponential tables[7];
	struct arena arena;
	u32 i;

	(void)state;
	arena_init(&arena);
	all_tables(&arena, tables);
	for (i = 0; i < N_RANDOM; i++)
		check_exponential(tables, source_value(&source, i));
	arena_free(&arena);
}

/*
 * The claim the tables rest on.  test_exponential_edges() has shown the ends of the cells to be
 * the floors of the edges, and floor(edge) is in [lo, hi) exactly when the edge is.
 */
static void test_one_edge(void **state)
{
	struct scheme exponential = { .kind = SCHEME_EXPONENTIAL };
	struct scheme loglinear = { .kind = SCHEME_LOGLINEAR };
	struct scheme_exponential tables;
	struct scheme_edges cell, edge;
	struct arena arena;
	u32 s, c, e, first, n, found;
	u64 inner;

	(void)state;
	arena_init(&arena);
	for (s = 0; s <= 6; s++) {
		exponential.digits = s;
		loglinear.digits = s + 1;
		assert_int_equal(scheme_digits(&exponential), s + 1);
		scheme_exponential_tables(s, &arena, &tables);
		n = scheme_n_cells(&exponential);
		assert_int_equal(tables.n, scheme_n_cells(&loglinear));
		/* Cells and edges both ascend, so each is met once. */
		for (c = 0, first = 1; c < tables.n; c++) {
			scheme_edges(&loglinear, c, &cell);
			found = 0;
			inner = UINT64_MAX;
			for (e = first; e < n; e++) {
				scheme_edges(&exponential, e, &edge);
				if (edge.hi >= cell.hi || e == n - 1)
					break;
				assert_true(edge.hi >= cell.lo);
				found++;
				if (edge.hi < cell.hi - 1)
					inner = (u64)edge.hi;
			}
			if (cell.lo >= 2 << s)
				assert_true(found <= 1);
			else
				assert_true(cell.hi == cell.lo + 1);
			if (c)
				assert_true(tables.threshold[c] == inner);
			first = e;
		}
		assert_int_equal(first, n - 1);
	}
	arena_free(&arena);
}

/* --- log2 (b = 0) and loglinear --- */

/* Below 2^b a cell each; then every [power, 2 * power) in 2^b parts. */
static u32 loglinear_reference(u32 b, u64 v)
{
	u128 power = (u128)1 << b;
	u32 parts = 1u << b;
	u32 cell = parts;

	if (v < power)
		return (u32)v;
	while (v >= 2 * power) {
		power *= 2;
		cell += parts;
	}
	return cell + (u32)((v - (u64)power) / (u64)(power / parts));
}

static struct scheme loglinear_scheme(u32 b)
{
	return (struct scheme){ .kind = b ? SCHEME_LOGLINEAR : SCHEME_LOG2, .digits = b };
}

static void test_loglinear_edges(void **state)
{
	struct scheme_edges edges;
	struct scheme scheme;
	s128 lo, width, v;
	u32 b, cell, n;

	(void)state;
	for (b = 0; b <= 10; b++) {
		scheme = loglinear_scheme(b);
		assert_int_equal(scheme_digits(&scheme), b);
		n = scheme_n_cells(&scheme);
		lo = 0;
		width = 1;
		for (cell = 0; cell < n; cell++) {
			/* Twice as wide at each power of two from 2^(b + 1) on. */
			if (lo >= 2 << b && !(lo & (lo - 1)))
				width *= 2;
			scheme_edges(&scheme, cell, &edges);
			assert_true(edges.has_lo && edges.has_hi);
			assert_true(!edges.is_lo_open && edges.is_hi_open);
			assert_true(edges.lo == lo && edges.hi == lo + width);
			for (v = MAX(lo - 1, 0); v <= lo + 1 && v < END; v++)
				check_cell(&scheme, v, loglinear_reference(b, (u64)v));
			check_cell(&scheme, lo, cell);
			check_cell(&scheme, lo + width - 1, cell);
			lo += width;
		}
		assert_true(lo == END);
	}
}

static void test_loglinear_random(void **state)
{
	struct source source = { test_seed("log2, loglinear") };
	struct scheme scheme;
	u32 b, i;
	u64 v;

	(void)state;
	for (b = 0; b <= 10; b++) {
		scheme = loglinear_scheme(b);
		for (i = 0; i < N_RANDOM; i++) {
			v = source_value(&source, i);
			check_cell(&scheme, v, loglinear_reference(b, v));
		}
	}
}

static void test_log2_table(void **state)
{
	u64 smeared = 0;
	u32 k;

	(void)state;
	for (k = 0; k < 64; k++) {
		smeared = smeared << 1 | 1;
		assert_int_equal(scheme_log2_table[smeared * SCHEME_LOG2_MULTIPLIER >> 58], k);
	}
}

/* --- linear and bounds --- */

/* One cell after the other until one ends above the value. */
static u32 linear_reference(const struct scheme *scheme, s128 value)
{
	s128 end = scheme->low;
	u32 cell = 0;

	while (value >= end) {
		cell++;
		if (end == scheme->high)
			break;
		end = MIN(end + scheme->step, (s128)scheme->high);
	}
	return cell;
}

static u32 bounds_reference(const struct scheme *scheme, s128 value)
{
	u32 cell = 0;

	while (cell < scheme->n_bounds && value >= scheme->bounds[cell])
		cell++;
	return cell;
}

static u32 listed_reference(const struct scheme *scheme, s128 value)
{
	return scheme->kind == SCHEME_LINEAR ? linear_reference(scheme, value)
					     : bounds_reference(scheme, value);
}

/* Cells tile [-2^63, 2^64), and the edge after cell i is where the definition has it. */
static void check_listed_edges(const struct scheme *scheme)
{
	u32 n = scheme_n_cells(scheme), cell;
	struct scheme_edges edges;
	s128 start = LOWEST, end, v;

	for (cell = 0; cell < n; cell++) {
		if (cell == n - 1)
			end = END;
		else if (scheme->kind == SCHEME_BOUNDS)
			end = scheme->bounds[cell];
		else
			end = MIN((s128)scheme->low + (s128)cell * scheme->step, scheme->high);
		scheme_edges(scheme, cell, &edges);
		assert_true(edges.has_lo == (cell > 0) && edges.has_hi == (cell < n - 1));
		assert_true(!edges.is_lo_open && edges.is_hi_open);
		assert_true(edges.lo == start && edges.hi == end);
		/* Only the first cell can be empty: where its end is the smallest value. */
		assert_true(end > start || (!cell && end == start));
		for (v = MAX(end - 1, start); v < end; v++)
			check_cell(scheme, v, cell);
		for (v = end; v <= end + 1 && v < END && n <= 300; v++)
			check_cell(scheme, v, listed_reference(scheme, v));
		if (end < END)
			check_cell(scheme, end, cell + 1);
		start = end;
	}
}

/* Over all values, of all magnitudes, and near the cells. */
static s128 listed_value(struct source *source, const struct scheme *scheme, u32 i)
{
	s64 low = scheme->kind == SCHEME_LINEAR ? scheme->low : scheme->bounds[0];
	s64 high =
		scheme->kind == SCHEME_LINEAR ? scheme->high : scheme->bounds[scheme->n_bounds - 1];
	s128 width = (s128)high - low + 2, value;

	if (i & 2) {
		value = (s128)low - 1 + (s128)(source_next(source) % (u128)width);
		return MAX(MIN(value, END - 1), LOWEST);
	}
	value = source_value(source, i);
	return source_next(source) & 1 && value <= -LOWEST ? -value : value;
}

static void check_listed(struct source *source, const struct scheme *scheme, u32 n_values)
{
	s128 value;
	u32 i;

	check_listed_edges(scheme);
	for (i = 0; i < n_values; i++) {
		value = listed_value(source, scheme, i);
		check_cell(scheme, value, listed_reference(scheme, value));
	}
}

static void test_linear(void **state)
{
	static const struct {
		s64 low, high, step;
		u32 n;
	} fixed[] = {
		{ 0, 100, 10, 12 },
		{ 0, 95, 10, 12 },
		{ 0, 91, 10, 12 },
		{ 0, 90, 10, 11 },
		{ 5, 6, 1, 3 },
		{ 5, 6, 1000, 3 },
		{ -50, 50, 7, 17 },
		{ -100, -1, 3, 35 },
		{ INT64_MIN, INT64_MAX, INT64_MAX, 5 },
		{ INT64_MIN, INT64_MAX, (s64)1 << 60, 18 },
		{ INT64_MAX - 10, INT64_MAX, 4, 5 },
		{ INT64_MIN, INT64_MIN + 10, 4, 5 },
		{ -32767, 32767, 1, SCHEME_CELLS_MAX },
	};
	struct source source = { test_seed("linear") };
	struct scheme scheme = { .kind = SCHEME_LINEAR };
	s64 span;
	u32 i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(fixed); i++) {
		scheme.low = fixed[i].low;
		scheme.high = fixed[i].high;
		scheme.step = fixed[i].step;
		assert_int_equal(scheme_n_cells(&scheme), fixed[i].n);
		check_listed(&source, &scheme, fixed[i].n < 100 ? 20000 : 100);
	}
	for (i = 0; i < N_RANDOM / 1000; i++) {
		span = (s64)(source_value(&source, 0) >> 1 | 1);
		scheme.low = source_between(&source, INT64_MIN, INT64_MAX - span);
		scheme.high = scheme.low + span;
		scheme.step = span / source_between(&source, 1, 99) + 1;
		check_listed(&source, &scheme, 1000);
	}
	/* Too many to number, yet no overflow: the binder refuses such a scheme by this number. */
	scheme = (struct scheme){ SCHEME_LINEAR, .low = INT64_MIN, .high = INT64_MAX, .step = 1 };
	assert_int_equal(scheme_n_cells(&scheme), UINT32_MAX);
}

static int compare_s64(const void *a, const void *b)
{
	s64 x = *(const s64 *)a, y = *(const s64 *)b;

	return (x > y) - (x < y);
}

/* Some values more than once, all but one of each dropped: ascending. */
static u32 make_bounds(struct source *source, s64 bounds[SCHEME_BOUNDS_MAX])
{
	u32 n = (u32)source_between(source, 1, SCHEME_BOUNDS_MAX) >> (source_next(source) % 8);
	u32 magnitude = source_next(source) % 64, i, kept = 1;

	n = MAX(n, 1);
	for (i = 0; i < n; i++)
		bounds[i] = (s64)source_next(source) >> magnitude;
	qsort(bounds, n, sizeof(*bounds), compare_s64);
	for (i = 1; i < n; i++)
		if (bounds[i] != bounds[kept - 1])
			bounds[kept++] = bounds[i];
	return kept;
}

static void test_bounds(void **state)
{
	static const s64 seed[] = { 1, 2, 5, 9, 17, 33, 65 };
	static const s64 ends[] = { INT64_MIN, -1, 0, 1, INT64_MAX };
	struct source source = { test_seed("bounds") };
	struct scheme scheme = { .kind = SCHEME_BOUNDS };
	s64 bounds[SCHEME_BOUNDS_MAX];
	u32 i;

	(void)state;
	scheme.bounds = seed;
	scheme.n_bounds = ARRAY_SIZE(seed);
	assert_int_equal(scheme_n_cells(&scheme), ARRAY_SIZE(seed) + 1);
	check_listed(&source, &scheme, 100000);
	scheme.bounds = ends;
	scheme.n_bounds = ARRAY_SIZE(ends);
	check_listed(&source, &scheme, 100000);
	scheme.bounds = bounds;
	for (i = 0; i < SCHEME_BOUNDS_MAX; i++)
		bounds[i] = 3 * (s64)i - 300;
	scheme.n_bounds = SCHEME_BOUNDS_MAX;
	check_listed(&source, &scheme, 100000);
	for (i = 0; i < N_RANDOM / 1000; i++) {
		scheme.n_bounds = make_bounds(&source, bounds);
		check_listed(&source, &scheme, 1000);
	}
}

/* --- Names --- */

static void test_print_and_equal(void **state)
{
	static const s64 few[] = { -1, 2, 5 }, others[] = { -1, 2, 6 };
	static const struct {
		struct scheme scheme;
		const char *text;
		bool takes_negative;
	} schemes[] = {
		{ { SCHEME_LOG2 }, "log2", false },
		{ { SCHEME_EXPONENTIAL, .digits = 0 }, "exponential(0)", false },
		{ { SCHEME_EXPONENTIAL, .digits = 3 }, "exponential(3)", false },
		{ { SCHEME_LOGLINEAR, .digits = 3 }, "loglinear(3)", false },
		{ { SCHEME_LOGLINEAR, .digits = 10 }, "loglinear(10)", false },
		{ { SCHEME_LINEAR, .low = -5, .high = 100, .step = 7 },
		  "linear(-5, 100, 7)",
		  true },
		{ { SCHEME_LINEAR, .low = -4, .high = 100, .step = 7 },
		  "linear(-4, 100, 7)",
		  true },
		{ { SCHEME_LINEAR, .low = -5, .high = 101, .step = 7 },
		  "linear(-5, 101, 7)",
		  true },
		{ { SCHEME_LINEAR, .low = -5, .high = 100, .step = 8 },
		  "linear(-5, 100, 8)",
		  true },
		{ { SCHEME_BOUNDS, .bounds = few, .n_bounds = 3 }, "bounds(-1, 2, 5)", true },
		{ { SCHEME_BOUNDS, .bounds = others, .n_bounds = 3 }, "bounds(-1, 2, 6)", true },
		{ { SCHEME_BOUNDS, .bounds = few, .n_bounds = 2 }, "bounds(-1, 2)", true },
	};
	s64 copied[] = { -1, 2, 5 };
	struct scheme copy = { SCHEME_BOUNDS, .bounds = copied, .n_bounds = 3 };
	struct buf buf;
	u32 i, j;

	(void)state;
	buf_init(&buf);
	for (i = 0; i < ARRAY_SIZE(schemes); i++) {
		buf_reset(&buf);
		scheme_print(&schemes[i].scheme, &buf);
		assert_string_equal(buf.at, schemes[i].text);
		assert_true(scheme_takes_negative(&schemes[i].scheme) == schemes[i].takes_negative);
		for (j = 0; j < ARRAY_SIZE(schemes); j++)
			assert_true(scheme_equal(&schemes[i].scheme, &schemes[j].scheme) ==
				    (i == j));
	}
	assert_true(scheme_equal(&copy, &schemes[9].scheme));
	buf_free(&buf);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_print_and_equal),
		cmocka_unit_test(test_log2_table),
		cmocka_unit_test(test_loglinear_edges),
		cmocka_unit_test(test_loglinear_random),
		cmocka_unit_test(test_exponential_edges),
		cmocka_unit_test(test_exponential_random),
		cmocka_unit_test(test_one_edge),
		cmocka_unit_test(test_linear),
		cmocka_unit_test(test_bounds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
