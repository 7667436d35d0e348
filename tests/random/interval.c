/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The interval of an operator's result from those of its sides, by SQLite's
 * 64-bit arithmetic; exact where it is easy, else wider.
 */
#include "make.h"

bool interval_fits(s128 lo, s128 hi)
{
	return lo >= INT64_MIN && hi <= INT64_MAX;
}

/* The smallest k with -2^k <= lo and hi < 2^k. */
static u32 bits_of(s128 lo, s128 hi)
{
	u32 k = 0;

	while (k < 64 && (-((s128)1 << k) > lo || hi >= ((s128)1 << k)))
		k++;
	return k;
}

static s128 magnitude(struct interval a)
{
	return MAX(a.lo < 0 ? -a.lo : a.lo, a.hi < 0 ? -a.hi : a.hi);
}

/* Beyond 128 bits: the last of them, which fits no type either. */
static s128 product(s128 a, s128 b)
{
	const s128 most = (s128)(~(unsigned __int128)0 >> 1);
	s128 p;

	if (!__builtin_mul_overflow(a, b, &p))
		return p;
	return (a < 0) == (b < 0) ? most : -most;
}

static void interval_multiply(struct interval a, struct interval b, s128 *lo, s128 *hi)
{
	s128 p[4] = { product(a.lo, b.lo), product(a.lo, b.hi), product(a.hi, b.lo),
		      product(a.hi, b.hi) };

	*lo = *hi = p[0];
	for (u32 i = 1; i < 4; i++) {
		*lo = MIN(*lo, p[i]);
		*hi = MAX(*hi, p[i]);
	}
}

static void interval_bits(struct interval a, struct interval b, bool is_and, s128 *lo, s128 *hi)
{
	u32 k = bits_of(MIN(a.lo, b.lo), MAX(a.hi, b.hi));
	bool both = a.lo >= 0 && b.lo >= 0;

	*lo = both || (is_and && (a.lo >= 0 || b.lo >= 0)) ? 0 : -((s128)1 << k);
	if (is_and && both)
		*hi = MIN(a.hi, b.hi);
	else if (is_and && *lo == 0)
		*hi = a.lo >= 0 ? a.hi : b.hi;
	else
		*hi = ((s128)1 << k) - 1;
}

struct interval interval_infer(char op, struct interval a, struct interval b)
{
	struct interval r;
	s128 m;

	switch (op) {
	case '+':
		r.lo = a.lo + b.lo;
		r.hi = a.hi + b.hi;
		break;
	case '-':
		r.lo = a.lo - b.hi;
		r.hi = a.hi - b.lo;
		break;
	case '*':
		interval_multiply(a, b, &r.lo, &r.hi);
		break;
	case '/':
		m = magnitude(a);
		r.lo = a.lo >= 0 && b.lo >= 0 ? 0 : -m;
		r.hi = m;
		break;
	case '%':
		m = magnitude(b) ? MIN(magnitude(a), magnitude(b) - 1) : 0;
		r.lo = a.lo >= 0 ? 0 : -m;
		r.hi = m;
		break;
	case '&':
		interval_bits(a, b, true, &r.lo, &r.hi);
		break;
	case '|':
		interval_bits(a, b, false, &r.lo, &r.hi);
		break;
	case '<': /* the amount lies in 0..63 */
		interval_multiply(a, (struct interval){ 1, (s128)1 << b.hi }, &r.lo, &r.hi);
		break;
	default: /* >>: any amount, 0 or more */
		r.lo = MIN(a.lo, 0);
		r.hi = MAX(a.hi, 0);
	}
	return r;
}
