/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What SQL has no literal for: eb_number('18446744073709551615'), eb_number('0.1');
 * eb_each(x), a constant that is computed for each row; eb_text(x), a number's digits.
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

static void call_text(sqlite3_context *context, int argc, sqlite3_value **argv)
{
	struct buf digits;

	if (special_of(argv[0]) != VALUE_INT) {
		sqlite3_result_value(context, argv[0]);
		return;
	}
	buf_init(&digits);
	buf_put_s128(&digits, special_integer(argv[0]));
	sqlite3_result_text(context, digits.at, (int)digits.n, SQLITE_TRANSIENT);
	buf_free(&digits);
}

const struct function constant_functions[] = {
	{ "eb_number", 1, 0, call_number },
	{ "eb_each", 1, 0, call_each, .is_each = true },
	{ "eb_text", 1, 0, call_text },
	{ NULL },
};
