/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What SQL has no literal for: eb_number('18446744073709551615'), eb_number('0.1');
 * eb_each(x), a constant that is computed for each row; and what an integer of 2^63 and more is to
 * functions of SQLite's own.
 */
#include "func/internal.h"

#include <stdlib.h>
#include <string.h>

static void call_number(sqlite3_context *context, int argc, sqlite3_value **argv)
{
	const char *text = (const char *)sqlite3_value_text(argv[0]), *at = text;
	bool is_negative = text && *text == '-';
	u128 integer = 0;

	for (at += is_negative; at && *at >= '0' && *at <= '9'; at++)
		integer = integer * 10 + (u32)(*at - '0');
	if (!at)
		return;
	if (*at)
		sqlite3_result_double(context, strtod(text, NULL));
	else
		special_result_integer(context, is_negative ? -(s128)integer : (s128)integer);
}

static void call_each(sqlite3_context *context, int argc, sqlite3_value **argv)
{
	sqlite3_result_value(context, argv[0]);
}

enum { TEXT, REAL, CLAMP, I64 };

/* An integer of 2^63 and more as something else; what is none passes through. */
static void call_convert(sqlite3_context *context, int argc, sqlite3_value **argv)
{
	s32 to = func_detail(context);

	if (special_of(argv[0]) != VALUE_INT)
		sqlite3_result_value(context, argv[0]);
	else if (to == TEXT)
		func_result_digits(context, special_integer(argv[0]));
	else if (to == REAL)
		sqlite3_result_double(context, (double)special_integer(argv[0]));
	else if (to == CLAMP) /* as far behind all places; SQLite cuts them to 32 bits */
		sqlite3_result_int64(context, INT32_MAX);
	else
		func_too_large(context, "printf");
}

const struct function constant_functions[] = {
	{ "eb_number", 1, 0, call_number },
	{ "eb_each", 1, 0, call_each, .is_each = true },
	{ "eb_text", 1, TEXT, call_convert },
	{ "eb_real", 1, REAL, call_convert },
	{ "eb_clamp", 1, CLAMP, call_convert },
	{ "eb_i64", 1, I64, call_convert },
	{ NULL },
};
