/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * SQLite's values -> numbers, by SQLite's rules where it is a text or a blob: the
 * longest start of it that reads as a number, an integer where no point and no
 * exponent belong to it and it fits 64 bits; 0 where there is none.
 */
#include "func/internal.h"

#include <string.h>

static bool is_space(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Is the number at the start of the text an integer of 64 bits? */
static bool starts_with_integer(const char *text, s64 *ret_integer)
{
	bool is_negative, has_digit = false;
	s128 integer = 0;

	while (is_space(*text))
		text++;
	is_negative = *text == '-';
	text += *text == '-' || *text == '+';
	for (; is_digit(*text); text++) {
		has_digit = true;
		if (integer <= U64_HI)
			integer = 10 * integer + (*text - '0');
	}
	if (*text == '.') {
		if (has_digit || is_digit(text[1]))
			return false;
	} else if (has_digit && (*text == 'e' || *text == 'E')) {
		text++;
		text += *text == '-' || *text == '+';
		if (is_digit(*text))
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

bool integer_of(sqlite3_context *context, sqlite3_value *value, const char *function,
		s128 *ret_integer)
{
	struct number number;
	char *message;

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
	if (number.kind == NUMBER_INTEGER) {
		func_too_large(context, function);
		return false;
	}
	message = sqlite3_mprintf("%s: not an integer", function);
	if (message)
		sqlite3_result_error(context, message, -1);
	else
		sqlite3_result_error_nomem(context);
	sqlite3_free(message);
	return false;
}
