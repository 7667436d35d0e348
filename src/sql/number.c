/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Number literals: integers, hexadecimal, reals, durations (1.5ms) and sizes
 * (4KiB).  Scaling by a unit is exact in integers: 0.3s is 300000000 ns.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/real.h"
#include "sql/sql.h"
#include "sql/token.h"

static const struct {
	const char *name;
	u64 ns;
} duration_units[] = {
	{ "ns", 1 },
	{ "us", 1000 },
	{ "\xC2\xB5s", 1000 }, /* the micro sign */
	{ "\xCE\xBCs", 1000 }, /* the Greek letter */
	{ "ms", 1000000 },
	{ "s", 1000000000 },
	{ "m", 60000000000 },
	{ "h", 3600000000000 },
	{ "d", 86400000000000 },
	{ "w", 604800000000000 },
	{ "y", 31536000000000000 },
	{ "nanosecond", 1 },
	{ "microsecond", 1000 },
	{ "millisecond", 1000000 },
	{ "second", 1000000000 },
	{ "sec", 1000000000 },
	{ "min", 60000000000 },
	{ "minute", 60000000000 },
	{ "hour", 3600000000000 },
	{ "day", 86400000000000 },
	{ "week", 604800000000000 },
	{ "month", 2592000000000000 }, /* of 30 days */
	{ "year", 31536000000000000 }, /* of 365 days, as y */
};

static const struct {
	const char *name;
	u32 shift; /* 0: a unit that means different sizes to different people */
} size_units[] = {
	{ "KiB", 10 }, { "MiB", 20 }, { "GiB", 30 }, { "TiB", 40 },
	{ "KB", 0 },   { "MB", 0 },   { "GB", 0 },   { "TB", 0 },
};

u64 unit_of_duration(const char *word, u32 n)
{
	size_t i;

	/* 1M is a million to most. */
	if (n == 1 && word[0] == 'M')
		return 0;
	for (i = 0; i < ARRAY_SIZE(duration_units); i++) {
		size_t length = strlen(duration_units[i].name);

		if (n == length && !strncasecmp(word, duration_units[i].name, n))
			return duration_units[i].ns;
		if (length >= 3 && n == length + 1 && (word[length] | 0x20) == 's' &&
		    !strncasecmp(word, duration_units[i].name, length))
			return duration_units[i].ns;
	}
	return 0;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

enum lex_problem number_scale(const char *digits, u32 n, u64 unit, u64 *ret_value)
{
	u128 whole = 0, fraction = 0;
	u64 divisor = 1;
	bool is_exact = true;
	u32 i = 0;

	for (; i < n && is_digit(digits[i]); i++) {
		whole = whole * 10 + (u64)(digits[i] - '0');
		if (whole > UINT64_MAX)
			return LEX_TOO_LARGE;
	}
	if (i < n && digits[i] == '.')
		i++;
	else if (i < n)
		return LEX_BAD_NUMBER;
	for (; i < n && is_digit(digits[i]); i++) {
		/* 10^18 resolves every unit of ours; only zeros may follow. */
		if (divisor < 1000000000000000000u) {
			fraction = fraction * 10 + (u64)(digits[i] - '0');
			divisor *= 10;
		} else {
			is_exact = is_exact && digits[i] == '0';
		}
	}
	if (i < n || !n || (n == 1 && digits[0] == '.'))
		return LEX_BAD_NUMBER;
	whole *= unit;
	fraction *= unit;
	is_exact = is_exact && fraction % divisor == 0;
	whole += fraction / divisor;
	if (whole > UINT64_MAX)
		return LEX_TOO_LARGE;
	*ret_value = (u64)whole;
	return is_exact ? LEX_FINE : LEX_DURATION_FRACTION;
}

bool sql_duration(const char *text, u64 *ret_ns)
{
	u32 n = (u32)strspn(text, "0123456789.");
	u64 unit = unit_of_duration(text[n] ? text + n : "s", text[n] ? (u32)strlen(text + n) : 1);

	return unit && number_scale(text, n, unit, ret_ns) == LEX_FINE;
}

/* As SQLite takes white space. */
static bool is_space(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

/* Is it e3, e+3, e-3? */
static bool is_exponent(const char *at, const char *end)
{
	if (at == end || (*at | 0x20) != 'e')
		return false;
	at++;
	at += at < end && (*at == '+' || *at == '-');
	if (at == end)
		return false;
	while (at < end && is_digit(*at))
		at++;
	return at == end;
}

/* What CAST AS INTEGER takes of a number: its whole digits, and at most what fits. */
static bool whole_number(const char *digits, u32 n, bool is_negative, s64 *ret_value)
{
	const u64 most = (u64)INT64_MAX + is_negative;
	u32 n_points = 0;
	u128 value = 0;

	for (u32 i = 0; i < n; i++) {
		n_points += digits[i] == '.';
		if (!n_points)
			value = MIN(value * 10 + (u64)(digits[i] - '0'), most);
	}
	if (n_points > 1 || n == n_points)
		return false;
	*ret_value = (s64)(is_negative ? -(u64)value : (u64)value);
	return true;
}

bool sql_cast_duration(const char *text, size_t bytes, s64 *ret_ns)
{
	const char *at = text, *end = text + bytes;
	bool is_negative;
	u64 unit, ns;
	u32 n;

	while (at < end && is_space(*at))
		at++;
	while (at < end && is_space(end[-1]))
		end--;
	*ret_ns = 0;
	if (at == end)
		return true;
	is_negative = *at == '-';
	at += is_negative || *at == '+';
	for (n = 0; at + n < end && (is_digit(at[n]) || at[n] == '.'); n++)
		;
	text = at + n;
	if (text == end || is_exponent(text, end))
		return whole_number(at, n, is_negative, ret_ns);
	while (text < end && is_space(*text))
		text++;
	unit = unit_of_duration(text, (u32)(end - text));
	if (!unit || number_scale(at, n, unit, &ns) != LEX_FINE ||
	    ns > (u64)INT64_MAX + is_negative)
		return false;
	*ret_ns = (s64)(is_negative ? -ns : ns);
	return true;
}

static void lex_hex(const char *text, u32 at, u32 end, struct token *token)
{
	u32 i;

	token->kind = TOKEN_INTEGER;
	if (at + 2 == end)
		token->problem = LEX_BAD_HEX;
	for (i = at + 2; i < end; i++) {
		int digit = base_hex_digit(text[i]);

		if (digit < 0) {
			token->problem = LEX_BAD_HEX;
			return;
		}
		if (token->integer >> 60)
			token->problem = LEX_TOO_LARGE;
		token->integer = token->integer << 4 | (u64)digit;
	}
}

static void lex_unit(const char *text, u32 at, u32 digits_end, u32 end, struct token *token)
{
	const char *unit = text + digits_end;
	u32 n_unit = end - digits_end;
	u64 ns = unit_of_duration(unit, n_unit);
	size_t i;

	if (ns) {
		token->kind = TOKEN_DURATION;
		token->problem = (u8)number_scale(text + at, digits_end - at, ns, &token->integer);
		if (token->problem == LEX_TOO_LARGE)
			token->problem = LEX_DURATION_LARGE;
		return;
	}
	token->kind = TOKEN_INTEGER;
	token->problem = strpbrk("eE", (char[]){ unit[0], '\0' }) ? LEX_BAD_NUMBER : LEX_BAD_UNIT;
	for (i = 0; i < ARRAY_SIZE(size_units); i++) {
		if (strlen(size_units[i].name) != n_unit ||
		    strncasecmp(unit, size_units[i].name, n_unit))
			continue;
		token->problem = LEX_BAD_SIZE_UNIT;
		if (size_units[i].shift)
			token->problem =
				(u8)number_scale(text + at, digits_end - at,
						 1ull << size_units[i].shift, &token->integer);
		if (token->problem == LEX_DURATION_FRACTION)
			token->problem = LEX_SIZE_FRACTION;
	}
}

static u32 skip_digits(const char *text, u32 n, u32 at)
{
	while (at < n && is_digit(text[at]))
		at++;
	return at;
}

static u32 skip_word(const char *text, u32 n, u32 at)
{
	while (at < n && lex_is_word((unsigned char)text[at]))
		at++;
	return at;
}

static void lex_decimal(const char *text, u32 n, u32 at, struct token *token)
{
	u32 i = skip_digits(text, n, at), exponent = i;
	bool is_real = i < n && text[i] == '.', has_exponent = false;

	if (is_real)
		exponent = i = skip_digits(text, n, i + 1);
	if (i < n && (text[i] | 0x20) == 'e') {
		exponent++;
		exponent += exponent < n && (text[exponent] == '+' || text[exponent] == '-');
		has_exponent = exponent < n && is_digit(text[exponent]);
		if (has_exponent)
			i = skip_digits(text, n, exponent);
	}
	token->span = (struct span){ at, skip_word(text, n, i) };
	token->kind = TOKEN_INTEGER;
	if (token->span.end > i && has_exponent) {
		token->problem = LEX_BAD_NUMBER;
	} else if (token->span.end > i) {
		lex_unit(text, at, i, token->span.end, token);
	} else if (is_real || has_exponent) {
		token->kind = TOKEN_REAL;
		token->real = base_real(text + at, NULL);
		if (isinf(token->real))
			token->problem = LEX_REAL_LARGE;
	} else {
		token->problem = (u8)number_scale(text + at, i - at, 1, &token->integer);
	}
}

void lex_number(const char *text, u32 n, u32 at, struct token *token)
{
	u32 end;

	if (text[at] == '0' && at + 1 < n && (text[at + 1] | 0x20) == 'x') {
		token->span = (struct span){ at, skip_word(text, n, at + 2) };
		lex_hex(text, at, token->span.end, token);
	} else {
		lex_decimal(text, n, at, token);
	}
	/* 1.2.3: what follows would read as another number. */
	end = token->span.end;
	if (end + 1 < n && text[end] == '.' && is_digit(text[end + 1])) {
		while (end < n && text[end] == '.')
			end = skip_word(text, n, end + 1);
		token->span.end = end;
		token->problem = LEX_BAD_NUMBER;
	}
	if (token->problem)
		token->kind = TOKEN_BAD;
}
