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

enum { SUM, TOTAL, AVG, STDDEV_SAMP, STDDEV_POP, BIT_OR, BIT_AND, BIT_XOR };

struct sums {
	struct moments exact; /* of the integers */
	u64 n, n_real;	      /* of all values; of those that are no integers */
	double sum;
	double mean, squares; /* Welford: squares of the distances from the mean */
};

/* false: NULL, a text that is no number, or an error. */
static bool is_summed(sqlite3_context *context, sqlite3_value *value, struct number *ret_number)
{
	if (!number_of_whole(context, value, ret_number) || ret_number->kind == NUMBER_NULL)
		return false;
	return sqlite3_value_numeric_type(value) != SQLITE_TEXT;
}

static void step(sqlite3_context *context, int argc, sqlite3_value **argv)
{
	struct sums *sums = func_state(context, sizeof(*sums));
	struct number x;
	double distance;

	if (!sums)
		return;
	if (!is_summed(context, argv[0], &x)) {
		if (sqlite3_value_numeric_type(argv[0]) == SQLITE_TEXT)
			func_context_of(context)->n_faults++;
		return;
	}
	if (x.kind == NUMBER_INTEGER && x.integer > U64_HI && func_detail(context) >= STDDEV_SAMP) {
		func_too_large(context, "stddev");
		return;
	}
	sums->n++;
	sums->n_real += x.kind == NUMBER_REAL;
	if (func_detail(context) < STDDEV_SAMP) {
		sums->sum += x.real;
		if (__builtin_add_overflow(sums->exact.sum, x.integer, &sums->exact.sum))
			func_too_large(context, "sum");
		return;
	}
	distance = x.real - sums->mean;
	sums->mean += distance / (double)sums->n;
	sums->squares += distance * (x.real - sums->mean);
	if (x.kind == NUMBER_INTEGER)
		moments_add(&sums->exact, x.integer);
}

static void inverse(sqlite3_context *context, int argc, sqlite3_value **argv)
{
	struct sums *sums = func_state(context, sizeof(*sums));
	struct number x;
	double distance;

	if (!is_summed(context, argv[0], &x))
		return;
	sums->n--;
	sums->n_real -= x.kind == NUMBER_REAL;
	if (func_detail(context) < STDDEV_SAMP) {
		sums->sum -= x.real;
		sums->exact.sum -= x.integer;
		return;
	}
	distance = x.real - sums->mean;
	sums->mean = sums->n ? sums->mean - distance / (double)sums->n : 0;
	sums->squares = sums->n ? sums->squares - distance * (x.real - sums->mean) : 0;
	if (x.kind == NUMBER_INTEGER)
		moments_subtract(&sums->exact, x.integer);
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

static void value(sqlite3_context *context)
{
	const struct sums *sums = func_state(context, 0);
	s32 detail = func_detail(context);
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
	if (detail == SUM && !sums->n_real)
		special_result_integer(context, sums->exact.sum);
	else if (detail == SUM || detail == TOTAL)
		sqlite3_result_double(context, sum);
	else if (detail == AVG)
		sqlite3_result_double(context, sum / (double)sums->n);
	else
		sqlite3_result_double(context, deviation(sums, detail == STDDEV_POP));
}

static void last(sqlite3_context *context)
{
	value(context);
	func_state_free(context);
}

/* --- Bits --- */

#define N_BITS 65 /* of two's complement: those of a word, and the sign */

/* How many values have each bit: so that values can be taken back. */
struct bits {
	u64 n;
	u64 n_set[N_BITS];
};

static void count_bits(sqlite3_context *context, sqlite3_value *value, u64 amount)
{
	struct bits *bits = func_state(context, sizeof(*bits));
	static const char *const names[] = {
		[BIT_OR] = "bit_or", [BIT_AND] = "bit_and", [BIT_XOR] = "bit_xor"
	};
	struct number number;
	s128 integer;

	if (!bits)
		return;
	if (!is_summed(context, value, &number)) {
		if (amount == 1 && sqlite3_value_numeric_type(value) == SQLITE_TEXT)
			func_context_of(context)->n_faults++;
		return;
	}
	if (!integer_of(context, value, names[func_detail(context)], &integer))
		return;
	bits->n += amount;
	for (u32 i = 0; i < N_BITS; i++)
		bits->n_set[i] += integer >> i & 1 ? amount : 0;
}

static void step_bits(sqlite3_context *context, int argc, sqlite3_value **argv)
{
	count_bits(context, argv[0], 1);
}

static void inverse_bits(sqlite3_context *context, int argc, sqlite3_value **argv)
{
	count_bits(context, argv[0], -1ull);
}

static bool is_set(s32 detail, const struct bits *bits, u32 i)
{
	if (detail == BIT_OR)
		return bits->n_set[i] > 0;
	return detail == BIT_AND ? bits->n_set[i] == bits->n : bits->n_set[i] & 1;
}

static void value_bits(sqlite3_context *context)
{
	const struct bits *bits = func_state(context, 0);
	s128 integer = 0;

	if (!bits || !bits->n) {
		sqlite3_result_null(context);
		return;
	}
	for (u32 i = 0; i < N_BITS; i++)
		if (is_set(func_detail(context), bits, i))
			integer |= i < N_BITS - 1 ? (s128)1 << i : -((s128)1 << i);
	special_result_integer(context, integer);
}

static void last_bits(sqlite3_context *context)
{
	value_bits(context);
	func_state_free(context);
}

#define OF_ONE(name, detail)                                                                       \
	{                                                                                          \
		name, 1, detail, NULL, step, last, value, inverse                                  \
	}
#define OF_BITS(name, detail)                                                                      \
	{                                                                                          \
		name, 1, detail, NULL, step_bits, last_bits, value_bits, inverse_bits              \
	}

const struct function sum_functions[] = {
	OF_ONE("eb_sum", SUM),
	OF_ONE("eb_total", TOTAL),
	OF_ONE("eb_avg", AVG),
	OF_ONE("eb_stddev_samp", STDDEV_SAMP),
	OF_ONE("eb_stddev_pop", STDDEV_POP),
	OF_BITS("eb_bit_or", BIT_OR),
	OF_BITS("eb_bit_and", BIT_AND),
	OF_BITS("eb_bit_xor", BIT_XOR),
	{ NULL },
};
