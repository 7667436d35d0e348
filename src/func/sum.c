/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * eb_sum, eb_total, eb_avg, eb_stddev: exact sums of integers; eb_bit_or and its like: sums of
 * their bits.  One value that is no integer makes the result a real, as with SQLite's sum() and
 * avg(); its deviation is then that of Welford's updates (B. P. Welford, Technometrics 4, 1962),
 * which can be taken back.  A text that is no number adds nothing and is a fault; SQLite's sum()
 * would add a 0.
 */
#include "func/internal.h"

#include <math.h>

enum { SUM, SUM_SHOWN, TOTAL, AVG, STDDEV_SAMP, STDDEV_POP, BIT_OR, BIT_AND, BIT_XOR };

#define N_BITS 65 /* of two's complement: those of a word, and the sign */

struct sums {
	struct moments exact; /* of the integers */
	u64 n, n_real;	      /* of all values; of those that are no integers */
	double sum;
	double mean, squares; /* Welford: squares of the distances from the mean */
	u64 n_set[N_BITS];    /* so many values have that bit */
};

static void count_deviation(struct sums *sums, const struct number *x, s32 direction)
{
	double distance = x->real - sums->mean;

	sums->mean = sums->n ? sums->mean + direction * distance / (double)sums->n : 0;
	sums->squares = sums->n ? sums->squares + direction * distance * (x->real - sums->mean) : 0;
	if (x->kind == NUMBER_INTEGER)
		moments_add(&sums->exact, x->integer, direction);
}

/* Puts a value in, or takes it back: direction is 1 or -1. */
static void count(sqlite3_context *context, sqlite3_value *value, s32 direction)
{
	struct sums *sums = func_state(context, sizeof(*sums));
	s32 detail = func_of(context)->function->detail;
	struct number x;

	if (!sums || !number_of_whole(context, value, &x) || x.kind == NUMBER_NULL)
		return;
	if (sqlite3_value_numeric_type(value) == SQLITE_TEXT) {
		func_of(context)->context->n_faults += direction > 0;
		return;
	}
	if (detail >= BIT_OR && !integer_of(context, value, &x.integer))
		return;
	if (detail >= STDDEV_SAMP && x.kind == NUMBER_INTEGER && x.integer > U64_HI) {
		func_too_large(context, func_name(context));
		return;
	}
	sums->n += (u64)(s64)direction;
	sums->n_real += x.kind == NUMBER_REAL ? (u64)(s64)direction : 0;
	if (detail >= BIT_OR) {
		for (u32 i = 0; i < N_BITS; i++)
			sums->n_set[i] += x.integer >> i & 1 ? (u64)(s64)direction : 0;
	} else if (detail >= STDDEV_SAMP) {
		count_deviation(sums, &x, direction);
	} else {
		sums->sum += direction * x.real;
		if (__builtin_add_overflow(sums->exact.sum, direction * x.integer,
					   &sums->exact.sum))
			func_too_large(context, func_name(context));
	}
}

static void step(sqlite3_context *context, int argc, sqlite3_value **argv)
{
	count(context, argv[0], 1);
}

static void inverse(sqlite3_context *context, int argc, sqlite3_value **argv)
{
	count(context, argv[0], -1);
}

static double deviation(const struct sums *sums, bool is_population)
{
	u64 n = is_population ? sums->n : sums->n - 1;

	if (!sums->n_real)
		return moments_stddev(&sums->exact, is_population);
	if (!sums->n || !n)
		return NAN;
	return sqrt(MAX(sums->squares, 0.0) / (double)n);
}

static bool is_set(s32 detail, const struct sums *sums, u32 bit)
{
	if (detail == BIT_OR)
		return sums->n_set[bit] > 0;
	return detail == BIT_AND ? sums->n_set[bit] == sums->n : sums->n_set[bit] & 1;
}

static s128 bits(s32 detail, const struct sums *sums)
{
	s128 integer = 0;

	for (u32 i = 0; i < N_BITS; i++)
		if (is_set(detail, sums, i))
			integer |= i < N_BITS - 1 ? (s128)1 << i : -((s128)1 << i);
	return integer;
}

static void value(sqlite3_context *context)
{
	const struct sums *sums = func_state(context, 0);
	s32 detail = func_of(context)->function->detail;
	double sum;

	if (!sums || !sums->n) {
		if (detail == TOTAL)
			sqlite3_result_double(context, 0);
		else
			sqlite3_result_null(context);
		return;
	}
	sum = sums->n_real ? sums->sum : (double)sums->exact.sum;
	/* A NaN is NULL to SQLite. */
	if (detail >= BIT_OR)
		special_result_integer(context, bits(detail, sums));
	else if (detail >= STDDEV_SAMP)
		sqlite3_result_double(context, deviation(sums, detail == STDDEV_POP));
	else if (detail == AVG)
		sqlite3_result_double(context, sum / (double)sums->n);
	else if (detail == TOTAL || sums->n_real)
		sqlite3_result_double(context, sum);
	else if (detail == SUM_SHOWN)
		special_result_shown(context, sums->exact.sum);
	else
		special_result_integer(context, sums->exact.sum);
}

#define SUM_OF(name, detail)                                                                       \
	{                                                                                          \
		name, 1, detail, .step = step, .value = value, .inverse = inverse                  \
	}

const struct function sum_functions[] = {
	SUM_OF("eb_sum", SUM),
	SUM_OF("eb_sum_shown", SUM_SHOWN),
	SUM_OF("eb_total", TOTAL),
	SUM_OF("eb_avg", AVG),
	SUM_OF("eb_stddev_samp", STDDEV_SAMP),
	SUM_OF("eb_stddev_pop", STDDEV_POP),
	SUM_OF("eb_bit_or", BIT_OR),
	SUM_OF("eb_bit_and", BIT_AND),
	SUM_OF("eb_bit_xor", BIT_XOR),
	{ NULL },
};
