/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Moments: sums at the ends of 64 bits, merging and taking back; the deviation is the
 * double nearest to the exact value.  That is checked from the two points halfway to
 * its neighbours, whose squares are compared in integers of 512 bits.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "type/moments.h"

#define N_DIGITS 40 /* of 32 bits, the lowest first */

struct big {
	u32 digits[N_DIGITS];
};

static struct big big_of(u128 value)
{
	struct big big = { 0 };

	for (u32 i = 0; i < 4; i++)
		big.digits[i] = (u32)(value >> (32 * i));
	return big;
}

static struct big big_add(const struct big *a, const struct big *b)
{
	struct big sum;
	u64 carry = 0;

	for (u32 i = 0; i < N_DIGITS; i++) {
		carry += (u64)a->digits[i] + b->digits[i];
		sum.digits[i] = (u32)carry;
		carry >>= 32;
	}
	assert_int_equal(carry, 0);
	return sum;
}

static struct big big_mul(const struct big *a, const struct big *b)
{
	struct big product = { 0 };

	for (u32 i = 0; i < N_DIGITS; i++) {
		u64 carry = 0;

		for (u32 j = 0; a->digits[i] && i + j < N_DIGITS; j++) {
			carry += (u64)a->digits[i] * b->digits[j] + product.digits[i + j];
			product.digits[i + j] = (u32)carry;
			carry >>= 32;
		}
		assert_int_equal(carry, 0);
	}
	return product;
}

static int big_order(const struct big *a, const struct big *b)
{
	for (u32 i = N_DIGITS; i-- > 0;)
		if (a->digits[i] != b->digits[i])
			return a->digits[i] < b->digits[i] ? -1 : 1;
	return 0;
}

static struct big shifted(u128 value, u32 amount)
{
	struct big big = big_of(value), two = big_of(2);

	while (amount--)
		big = big_mul(&big, &two);
	return big;
}

/* (twice the numerator's sums) order of half^2 D against N, half = mantissa 2^exponent. */
static int order_of_square(u64 mantissa, s32 exponent, const struct big *numerator,
			   const struct big *divisor)
{
	struct big square = big_of((u128)mantissa * mantissa), n = *numerator;
	struct big scale = shifted(1, 2 * (u32)(exponent < 0 ? -exponent : exponent));

	square = big_mul(&square, divisor);
	if (exponent < 0)
		n = big_mul(&n, &scale);
	else
		square = big_mul(&square, &scale);
	return big_order(&square, &n);
}

/* sum over i < j of (x_i - x_j)^2 = n S2 - S1^2 */
static struct big numerator_of(const s128 *values, u32 n)
{
	struct big sum = { 0 };

	for (u32 i = 0; i < n; i++)
		for (u32 j = 0; j < i; j++) {
			s128 distance = values[i] - values[j];
			struct big d = big_of((u128)(distance < 0 ? -distance : distance));

			d = big_mul(&d, &d);
			sum = big_add(&sum, &d);
		}
	return sum;
}

static void check(const s128 *values, u32 n, bool is_population)
{
	struct moments m = { 0 };
	struct big numerator = numerator_of(values, n), zero = { 0 }, divisor;
	double deviation;
	s32 exponent;
	u64 mantissa;

	for (u32 i = 0; i < n; i++)
		moments_add(&m, values[i], 1);
	deviation = moments_stddev(&m, is_population);
	if (n < (is_population ? 1 : 2)) {
		assert_true(isnan(deviation));
		return;
	}
	if (big_order(&numerator, &zero) == 0) {
		assert_true(deviation == 0);
		return;
	}
	divisor = big_of((u128)n * (is_population ? n : n - 1));
	mantissa = (u64)ldexp(frexp(deviation, &exponent), 53);
	exponent -= 53;
	/* Half a unit below (a quarter at a power of two) and half a unit above. */
	assert_true(order_of_square(4 * mantissa - (mantissa == 1ull << 52 ? 1 : 2), exponent - 2,
				    &numerator, &divisor) <= 0);
	assert_true(order_of_square(4 * mantissa + 2, exponent - 2, &numerator, &divisor) >= 0);
}

static u64 random_state = 0x9e3779b97f4a7c15ull;

static u64 random_word(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state * 0x2545f4914f6cdd1dull;
}

static s128 random_value(u32 bits)
{
	u64 word = random_word();

	switch (word % 5) {
	case 0:
		return INT64_MIN + (s128)(word >> 60);
	case 1:
		return (s128)UINT64_MAX - (s128)(word >> 60);
	case 2:
		return -(s128)(random_word() >> bits) / 2;
	default:
		return (s128)(random_word() >> bits);
	}
}

static void test_nearest(void **state)
{
	static const s128 pair[] = { INT64_MIN, UINT64_MAX };
	s128 values[12];

	check(pair, 2, false);
	check(pair, 2, true);
	for (u32 round = 0; round < 3000; round++) {
		u32 n = (u32)(random_word() % (ARRAY_SIZE(values) + 1));
		u32 bits = (u32)(random_word() % 64);
		s128 base = round % 3 ? 0 : INT64_MAX;

		for (u32 i = 0; i < n; i++)
			values[i] = round % 3 == 1 ? random_value(bits)
						   : base + (s128)(random_word() >> bits) / 2;
		check(values, n, true);
		check(values, n, false);
	}
}

static void expect_equal(const struct moments *a, const struct moments *b)
{
	assert_true(a->n == b->n && a->sum == b->sum);
	assert_memory_equal(a->squares, b->squares, sizeof(a->squares));
}

static void moments_merge(struct moments *to, const struct moments *from)
{
	u128 carry = 0;

	to->n += from->n;
	to->sum += from->sum;
	for (u32 i = 0; i < 3; i++, carry >>= 64) {
		carry += (u128)to->squares[i] + from->squares[i];
		to->squares[i] = (u64)carry;
	}
}

static void test_merge(void **state)
{
	for (u32 round = 0; round < 300; round++) {
		struct moments all = { 0 }, a = { 0 }, b = { 0 };
		u32 n = (u32)(random_word() % 40);
		s128 values[40];

		for (u32 i = 0; i < n; i++) {
			values[i] = random_value((u32)(random_word() % 64));
			moments_add(&all, values[i], 1);
			moments_add(random_word() % 2 ? &a : &b, values[i], 1);
		}
		moments_merge(&a, &b);
		expect_equal(&all, &a);
		for (u32 i = 0; i < n; i++)
			moments_add(&a, values[i], -1);
		memset(&b, 0, sizeof(b));
		expect_equal(&b, &a);
	}
}

/* 2^40 of them: the sums need all their words. */
static void test_many(void **state)
{
	struct moments m = { 0 }, other = { 0 };

	moments_add(&m, UINT64_MAX, 1);
	moments_add(&m, INT64_MIN, 1);
	for (u32 i = 0; i < 40; i++) {
		other = m;
		moments_merge(&m, &other);
	}
	/* Half at either end: the deviation is half the distance, 1.5 (2^64 - 1/1.5). */
	assert_true(m.squares[2] != 0);
	assert_true(moments_stddev(&m, true) == ((double)((s128)UINT64_MAX - INT64_MIN)) / 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nearest),
		cmocka_unit_test(test_merge),
		cmocka_unit_test(test_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
