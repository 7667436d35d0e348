/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Standard deviation from exact sums: integers of 256 bits up to the root, of which
 * the 64 leading bits and whether anything was cut off make the nearest double.
 */
#include "type/moments.h"

#include <math.h>

#define N_WORDS 4

void moments_add(struct moments *moments, s128 x, s32 direction)
{
	/* Mod 2^128, where a square has no sign; to take it back, 2^192 - x^2 is added. */
	u128 square = (u128)direction * ((u128)x * (u128)x), carry = 0;
	u64 words[3] = { (u64)square, (u64)(square >> 64), direction < 0 && x ? UINT64_MAX : 0 };

	moments->n += (u64)(s64)direction;
	moments->sum += direction * x;
	for (u32 i = 0; i < 3; i++) {
		carry += (u128)moments->squares[i] + words[i];
		moments->squares[i] = (u64)carry;
		carry >>= 64;
	}
}

/* --- 256 bits, the lowest word first --- */

/* n S2 - S1^2, which is not negative (Cauchy and Schwarz). */
static void numerator(const struct moments *m, u64 ret_words[N_WORDS])
{
	u128 sum = m->sum < 0 ? -(u128)m->sum : (u128)m->sum;
	u64 low = (u64)sum, high = (u64)(sum >> 64);
	u128 carry = 0, cross = (u128)low * high, square[2] = { (u128)low * low, 0 };
	u64 *words = ret_words, borrow = 0;

	for (u32 i = 0; i < 3; i++) {
		carry += (u128)m->n * m->squares[i];
		words[i] = (u64)carry;
		carry >>= 64;
	}
	words[3] = (u64)carry;
	/* sum^2 = high^2 2^128 + cross 2^65 + low^2 */
	square[1] = (u128)high * high + (cross >> 63);
	square[0] += cross << 65;
	square[1] += square[0] < cross << 65;
	for (u32 i = 0; i < N_WORDS; i++) {
		u64 subtrahend = (u64)(square[i / 2] >> (64 * (i % 2)));
		u128 difference = (u128)words[i] - subtrahend - borrow;

		words[i] = (u64)difference;
		borrow = (u64)(difference >> 64) & 1;
	}
}

static u32 n_bits(const u64 words[N_WORDS])
{
	for (u32 i = N_WORDS; i--;)
		if (words[i])
			return 64 * i + 64 - (u32)__builtin_clzll(words[i]);
	return 0;
}

static void shift_left(u64 words[N_WORDS], u32 amount)
{
	for (u32 i = N_WORDS; i--;) {
		s32 from = (s32)i - (s32)(amount / 64);
		u64 high = from >= 0 ? words[from] : 0, low = from >= 1 ? words[from - 1] : 0;

		words[i] = amount % 64 ? high << (amount % 64) | low >> (64 - amount % 64) : high;
	}
}

/* Returns whether anything but zeros was cut off. */
static bool shift_right(u64 words[N_WORDS], u32 amount)
{
	u64 cut = 0;

	for (u32 i = 0; i < N_WORDS; i++) {
		u32 from = i + amount / 64;
		u64 low = from < N_WORDS ? words[from] : 0;
		u64 high = from + 1 < N_WORDS ? words[from + 1] : 0;

		if (i < amount / 64)
			cut |= words[i];
		else if (i == amount / 64 && amount % 64)
			cut |= words[i] << (64 - amount % 64);
		words[i] = amount % 64 ? high << (64 - amount % 64) | low >> amount % 64 : low;
	}
	return cut;
}

/* Returns whether a remainder was cut off. */
static bool divide(u64 words[N_WORDS], u64 by)
{
	u64 rest = 0;

	for (u32 i = N_WORDS; i--;) {
		u128 part = (u128)rest << 64 | words[i];

		words[i] = (u64)(part / by);
		rest = (u64)(part % by);
	}
	return rest;
}

double moments_stddev(const struct moments *moments, bool is_population)
{
	u64 words[N_WORDS], r;
	s32 exponent;
	u32 bits, shift;
	bool is_inexact;
	u128 quotient;

	if (moments->n < (is_population ? 1 : 2))
		return NAN;
	numerator(moments, words);
	bits = n_bits(words);
	if (!bits)
		return 0;
	/* By an even number, so that the root of 2^shift is a power of two. */
	shift = (256 - bits) & ~1u;
	exponent = -(s32)(shift / 2);
	shift_left(words, shift);
	is_inexact = divide(words, moments->n);
	is_inexact |= divide(words, is_population ? moments->n : moments->n - 1);
	/* 127 bits at least are left: the divisor is less than 2^128. */
	bits = n_bits(words);
	shift = bits > 128 ? (bits - 128 + 1) & ~1u : 0;
	exponent += (s32)(shift / 2);
	is_inexact |= shift_right(words, shift);
	quotient = (u128)words[1] << 64 | words[0];
	r = base_root(quotient);
	is_inexact |= (u128)r * r != quotient;
	/* r has 62 bits or more: its lowest one is below what a double rounds at. */
	return ldexp((double)(r | is_inexact), exponent);
}
