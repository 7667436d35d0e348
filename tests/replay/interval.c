/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The interval of an operator's result from those of its sides, by SQLite's
 * 64-bit arithmetic; exact where it is easy, else wider.
 */
#include "replay.h"

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

s128 interval_magnitude(const struct node *node)
{
	s128 low = node->lo < 0 ? -node->lo : node->lo, high = node->hi < 0 ? -node->hi : node->hi;

	return MAX(low, high);
}

static void interval_multiply(const struct node *a, const struct node *b, s128 *lo, s128 *hi)
{
	s128 p[4] = { a->lo * b->lo, a->lo * b->hi, a->hi * b->lo, a->hi * b->hi };

	*lo = *hi = p[0];
	for (u32 i = 1; i < 4; i++) {
		*lo = MIN(*lo, p[i]);
		*hi = MAX(*hi, p[i]);
	}
}

static void interval_bits(const struct node *a, const struct node *b, bool is_and, s128 *lo,
			  s128 *hi)
{
	u32 k = bits_of(MIN(a->lo, b->lo), MAX(a->hi, b->hi));
	bool both = a->lo >= 0 && b->lo >= 0;

	*lo = both || (is_and && (a->lo >= 0 || b->lo >= 0)) ? 0 : -((s128)1 << k);
	if (is_and && both)
		*hi = MIN(a->hi, b->hi);
	else if (is_and && *lo == 0)
		*hi = a->lo >= 0 ? a->hi : b->hi;
	else
		*hi = ((s128)1 << k) - 1;
}

bool interval_infer(struct node *node)
{
	const struct node *a = node->args[0], *b = node->args[1];
	s128 m;

	switch (node->text[0]) {
	case '+':
		node->lo = a->lo + b->lo;
		node->hi = a->hi + b->hi;
		break;
	case '-':
		node->lo = a->lo - b->hi;
		node->hi = a->hi - b->lo;
		break;
	case '*':
		interval_multiply(a, b, &node->lo, &node->hi);
		break;
	case '/':
		m = interval_magnitude(a);
		node->lo = a->lo >= 0 && b->lo >= 0 ? 0 : -m;
		node->hi = m;
		break;
	case '%':
		m = interval_magnitude(b) ? MIN(interval_magnitude(a), interval_magnitude(b) - 1)
					  : 0;
		node->lo = a->lo >= 0 ? 0 : -m;
		node->hi = m;
		break;
	case '&':
		interval_bits(a, b, true, &node->lo, &node->hi);
		break;
	case '|':
		interval_bits(a, b, false, &node->lo, &node->hi);
		break;
	case '<': /* the amount lies in 0..63 */
		interval_multiply(a, &(struct node){ .lo = 1, .hi = (s128)1 << b->hi }, &node->lo,
				  &node->hi);
		break;
	default: /* >>: any amount, 0 or more */
		node->lo = MIN(a->lo, 0);
		node->hi = MAX(a->hi, 0);
	}
	return interval_fits(node->lo, node->hi);
}

void interval_of_bits(struct node *node)
{
	s128 end = 1;

	while (end <= node->hi || -end > node->lo)
		end *= 2;
	node->lo = node->lo < 0 ? -end : 0;
	node->hi = end - 1;
}
