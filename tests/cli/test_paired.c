/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Paired differences: numbers that books and R's wilcox.test(conf.int = TRUE) have as well. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <math.h>

#include "cli/paired.h"

static bool is_near(double a, double b)
{
	return fabs(a - b) < 1e-9;
}

/* Hollander, Wolfe, Chicken, table 3.1: depression before and after; examples 3.3 and 3.4. */
static void test_book(void **state)
{
	static const double before[] = { 1.83, .50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30 };
	static const double after[] = { .878, .647, .598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29 };
	double differences[ARRAY_SIZE(before)];
	struct shift shift;
	struct arena arena;

	arena_init(&arena);
	for (u32 i = 0; i < ARRAY_SIZE(before); i++)
		differences[i] = after[i] - before[i];
	shift = shift_of(differences, ARRAY_SIZE(before), &arena);
	assert_true(is_near(shift.estimate, -0.46));
	assert_true(is_near(shift.lo, -0.786));
	assert_true(is_near(shift.hi, -0.010));
	assert_true(is_near(shift.confidence, 1 - 2 * 10. / 512));
	arena_free(&arena);
}

/* qsignrank(0.025, n) + 1, and the probability by counting all signs. */
static void test_ranks(void **state)
{
	static const struct {
		u32 n, c;
	} known[] = { { 6, 1 }, { 7, 3 }, { 8, 4 }, { 9, 6 }, { 10, 9 }, { 15, 26 }, { 20, 53 } };
	struct arena arena;
	double confidence;

	arena_init(&arena);
	for (u32 i = 0; i < ARRAY_SIZE(known); i++) {
		u32 n = known[i].n, n_below = 0;

		assert_int_equal(shift_rank(n, &arena, &confidence), known[i].c);
		for (u32 signs = 0; signs < 1u << n; signs++) {
			u32 sum = 0;

			for (u32 k = 0; k < n; k++)
				sum += signs >> k & 1 ? k + 1 : 0;
			n_below += sum < known[i].c;
		}
		assert_true(is_near(confidence, 1 - 2 * (double)n_below / (1u << n)));
		assert_true(confidence >= 0.95);
	}
	/* Of five no interval has so much. */
	assert_int_equal(shift_rank(SHIFT_PAIRS_MIN - 1, &arena, &confidence), 0);
	arena_free(&arena);
}

/* What is added to all differences is added to all three; one wild pair moves little. */
static void test_shifted(void **state)
{
	static const double differences[] = { 1, -2, 3, 5, 4, 2, -1, 6 };
	double moved[ARRAY_SIZE(differences)];
	struct shift a, b;
	struct arena arena;

	arena_init(&arena);
	a = shift_of(differences, ARRAY_SIZE(differences), &arena);
	assert_true(a.lo <= 0 && a.hi >= 0);
	for (u32 i = 0; i < ARRAY_SIZE(differences); i++)
		moved[i] = differences[i] + 100;
	b = shift_of(moved, ARRAY_SIZE(moved), &arena);
	assert_true(is_near(b.estimate, a.estimate + 100) && is_near(b.lo, a.lo + 100) &&
		    is_near(b.hi, a.hi + 100));
	moved[7] = 1e9;
	b = shift_of(moved, ARRAY_SIZE(moved), &arena);
	assert_true(b.estimate < 110 && b.lo > 90);
	arena_free(&arena);
}

/* In the slow rounds both are slow; one whose base is nothing keeps its value. */
static void test_scale(void **state)
{
	static const double bases[] = { 30, 60, 60, 90, 0 };
	double values[] = { 10, 20, 21, 30, 7 };
	static const double scaled[] = { 20, 20, 21, 20, 7 };
	struct arena arena;

	arena_init(&arena);
	paired_scale(values, bases, ARRAY_SIZE(bases), &arena);
	for (u32 i = 0; i < ARRAY_SIZE(bases); i++)
		assert_true(is_near(values[i], scaled[i]));
	arena_free(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_scale),
		cmocka_unit_test(test_book),
		cmocka_unit_test(test_ranks),
		cmocka_unit_test(test_shifted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
