/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * eb_compare: two values -> which comes first.  SQLite's own operators compare by kinds
 * first, so a big integer, a blob here, would stand behind every real.
 */
#include "func/internal.h"

#include <math.h>
#include <string.h>

/* Numbers, texts, blobs: SQLite's own codes have that order. */
static int kind_of(sqlite3_value *value)
{
	int type = sqlite3_value_type(value);

	return type == SQLITE_FLOAT || special_of(value) == VALUE_INT ? SQLITE_INTEGER : type;
}

#define ORDER(a, b) (((a) > (b)) - ((a) < (b)))

/* A real has an integer part that 128 bits hold exactly, or lies beyond all integers. */
static s32 compare_mixed(s128 integer, double real)
{
	double whole = trunc(real);

	if (real >= 0x1p127)
		return -1;
	if (real < -0x1p127)
		return 1;
	if (integer != (s128)whole)
		return ORDER(integer, (s128)whole);
	return ORDER(whole, real);
}

static s32 compare_numbers(const struct number *a, const struct number *b)
{
	if (a->kind == NUMBER_INTEGER && b->kind == NUMBER_INTEGER)
		return ORDER(a->integer, b->integer);
	if (a->kind == NUMBER_INTEGER)
		return compare_mixed(a->integer, b->real);
	if (b->kind == NUMBER_INTEGER)
		return -compare_mixed(b->integer, a->real);
	return ORDER(a->real, b->real);
}

/* Texts too compare by their bytes, as SQLite's BINARY does. */
static s32 compare_bytes(sqlite3_value *a, sqlite3_value *b)
{
	const void *p = sqlite3_value_blob(a), *q = sqlite3_value_blob(b);
	int m = sqlite3_value_bytes(a), n = sqlite3_value_bytes(b);
	int first = m && n ? memcmp(p, q, (size_t)MIN(m, n)) : 0;

	return first ? ORDER(first, 0) : ORDER(m, n);
}

static void call_compare(sqlite3_context *context, int argc, sqlite3_value **argv)
{
	int a = kind_of(argv[0]), b = kind_of(argv[1]);
	struct number x, y;
	s32 result;

	if (sqlite3_value_type(argv[0]) == SQLITE_NULL ||
	    sqlite3_value_type(argv[1]) == SQLITE_NULL)
		return;
	if (a != b)
		result = ORDER(a, b);
	else if (a != SQLITE_INTEGER)
		result = compare_bytes(argv[0], argv[1]);
	else if (number_of(context, argv[0], &x) && number_of(context, argv[1], &y))
		result = compare_numbers(&x, &y);
	else
		return;
	sqlite3_result_int(context, result);
}

const struct function compare_functions[] = {
	{ "eb_compare", 2, 0, call_compare },
	{ NULL },
};
