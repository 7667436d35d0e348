/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * SQLite's values -> numbers, by SQLite's rules where it is a text or a blob: the
 * longest start of it that reads as a number, an integer where no point and no
 * exponent belong to it and it fits 64 bits; 0 where there is none.  And the functions for what
 * SQL has no literal for, for a constant that is computed for each row, and for what an integer of
 * 2^63 and more is to functions of SQLite's own.
 */
#include "base/real.h"
#include "func/internal.h"
#include "sql/sql.h"

#include <ctype.h>
#include <stdlib.h>

/* Is the number at the start of the text an integer of 64 bits? */
static bool starts_with_integer(const char *text, s64 *ret_integer)
{
	bool is_negative, has_digit = false;
	s128 integer = 0;

	while (isspace((u8)*text))
		text++;
	is_negative = *text == '-';
	text += *text == '-' || *text == '+';
	for (; isdigit((u8)*text); text++) {
		has_digit = true;
		if (integer <= U64_HI)
			integer = 10 * integer + (*text - '0');
	}
	if (*text == '.') {
		if (has_digit || isdigit((u8)text[1]))
			return false;
	} else if (has_digit && (*text == 'e' || *text == 'E')) {
		text++;
		text += *text == '-' || *text == '+';
		if (isdigit((u8)*text))
			return false;
	}
	integer = is_negative ? -integer : integer;
	*ret_integer = (s64)integer;
	return integer >= S64_LO && integer <= S64_HI;
}

static void set_integer(struct number *number, s128 integer)
{
	*number = (struct number){ NUMBER_INTEGER, integer, (double)integer };
}

static void set_real(struct number *number, double real)
{
	*number = (struct number){ NUMBER_REAL, 0, real };
}

static bool blob_number(sqlite3_context *context, sqlite3_value *value, struct number *ret_number)
{
	enum value_kind kind = special_of(value);

	if (value_is_special(kind)) {
		sqlite3_result_error(context, "a histogram, quantile or list is no number", -1);
		return false;
	}
	if (kind == VALUE_INT)
		set_integer(ret_number, special_integer(value));
	return true;
}

bool number_of(sqlite3_context *context, sqlite3_value *value, struct number *ret_number)
{
	const char *text;
	s64 integer;

	*ret_number = (struct number){ NUMBER_NULL };
	switch (sqlite3_value_type(value)) {
	case SQLITE_NULL:
		return true;
	case SQLITE_INTEGER:
		set_integer(ret_number, sqlite3_value_int64(value));
		return true;
	case SQLITE_FLOAT:
		set_real(ret_number, sqlite3_value_double(value));
		return true;
	case SQLITE_BLOB:
		if (!blob_number(context, value, ret_number))
			return false;
		if (ret_number->kind != NUMBER_NULL)
			return true;
		break;
	}
	text = (const char *)sqlite3_value_text(value);
	if (!text)
		set_integer(ret_number, 0); /* an empty blob */
	else if (starts_with_integer(text, &integer))
		set_integer(ret_number, integer);
	else
		set_real(ret_number, sqlite3_value_double(value));
	return true;
}

bool number_of_whole(sqlite3_context *context, sqlite3_value *value, struct number *ret_number)
{
	int type = sqlite3_value_numeric_type(value);

	if (type != SQLITE_TEXT && (type != SQLITE_BLOB || special_of(value) != VALUE_NULL))
		return number_of(context, value, ret_number);
	set_real(ret_number, sqlite3_value_double(value));
	return true;
}

bool integer_of(sqlite3_context *context, sqlite3_value *value, s128 *ret_integer)
{
	struct number number;

	if (!number_of_whole(context, value, &number) || number.kind == NUMBER_NULL)
		return false;
	/* What a division left whole is an integer too. */
	if (number.kind == NUMBER_REAL && number.real > -0x1p63 && number.real < 0x1p64 &&
	    (double)(s128)number.real == number.real &&
	    sqlite3_value_numeric_type(value) == SQLITE_FLOAT)
		set_integer(&number, (s128)number.real);
	if (number.kind == NUMBER_INTEGER && number.integer <= U64_HI) {
		*ret_integer = number.integer;
		return true;
	}
	if (number.kind == NUMBER_INTEGER)
		func_too_large(context, func_name(context));
	else
		func_refuse(context, FUNC_NO_INTEGER, NULL, "%s: not an integer",
			    func_name(context));
	return false;
}

/* --- Functions --- */

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
		sqlite3_result_double(context, base_real(text, NULL));
	else
		special_result_integer(context, is_negative ? -(s128)integer : (s128)integer);
}

static void call_duration(sqlite3_context *context, int argc, sqlite3_value **argv)
{
	const char *text;
	s64 ns;

	if (sqlite3_value_type(argv[0]) != SQLITE_TEXT) {
		sqlite3_result_value(context, argv[0]);
		return;
	}
	text = (const char *)sqlite3_value_text(argv[0]);
	if (text && sql_cast_duration(text, (size_t)sqlite3_value_bytes(argv[0]), &ns))
		sqlite3_result_int64(context, ns);
	else
		func_of(context)->context->n_faults++;
}

static void call_each(sqlite3_context *context, int argc, sqlite3_value **argv)
{
	sqlite3_result_value(context, argv[0]);
}

enum { TEXT, REAL, CLAMP, I64 };

/* An integer of 2^63 and more as something else; what is none passes through. */
static void call_convert(sqlite3_context *context, int argc, sqlite3_value **argv)
{
	s32 to = func_of(context)->function->detail;

	if (special_of(argv[0]) != VALUE_INT)
		sqlite3_result_value(context, argv[0]);
	else if (to == TEXT)
		func_result_digits(context, special_integer(argv[0]));
	else if (to == REAL)
		sqlite3_result_double(context, (double)special_integer(argv[0]));
	else if (to == CLAMP) /* as far behind all places; SQLite cuts them to 32 bits */
		sqlite3_result_int64(context, INT32_MAX);
	else
		func_refuse(context, FUNC_TOO_LARGE, argv[1], "too large: %s", func_name(context));
}

const struct function number_functions[] = {
	{ "eb_number", 1, 0, call_number },
	{ "eb_duration", 1, 0, call_duration },
	{ "eb_each", 1, 0, call_each, .is_each = true },
	{ "eb_text", 1, TEXT, call_convert },
	{ "eb_real", 1, REAL, call_convert },
	{ "eb_clamp", 1, CLAMP, call_convert },
	{ "eb_i64", 2, I64, call_convert },
	{ NULL },
};
