/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Standard deviation from exact sums: integers of 256 bits up to the root, of which
 * the 64 leading bits and whether anything was cut off make the nearest double.
 */
#include "type/moments.h"

#include <math.h>

#define N_WORDS 4

static u128 square_of(s128 x)
{
	u128 magnitude = x < 0 ? -(u128)x : (u128)x;

	return magnitude * magnitude;
}

static void add_words(u64 to[3], const u64 from[3])
{
	u128 carry = 0;

	for (u32 i = 0; i < 3; i++) {
		carry += (u128)to[i] + from[i];
		to[i] = (u64)carry;
		carry >>= 64;
	}
}

void moments_add(struct moments *moments, s128 x)
{
	u128 square = square_of(x);

	moments->n++;
	moments->sum += x;
	add_words(moments->squares, (u64[3]){ (u64)square, (u64)(square >> 64), 0 });
}

void moments_subtract(struct moments *moments, s128 x)
{
	u128 square = -square_of(x);

	moments->n--;
	moments->sum -= x;
	/* Adds 2^192 - x^2. */
	add_words(moments->squares,
		  (u64[3]){ (u64)square, (u64)(square >> 64), x ? UINT64_MAX : 0 });
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

/* The greatest integer whose square is at most n >= 2^124. */
static u64 root(u128 n)
{
	long double guess = sqrtl((long double)n);
	u64 r = guess >= 0x1p64L ? UINT64_MAX : (u64)guess;

	/* A guess of 64 bits is off by one or two at most. */
	while ((u128)r * r > n)
		r--;
	while (r < UINT64_MAX && (u128)(r + 1) * (r + 1) <= n)
		r++;
	return r;
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
	r = root(quotient);
	is_inexact |= (u128)r * r != quotient;
	/* r has 62 bits or more: its lowest one is below what a double rounds at. */
	return ldexp((double)(r | is_inexact), exponent);
}
