/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The arguments of a user probe, one by one: size and sign, and what all machines have in common.
 */
#include <ctype.h>
#include <string.h>

#include "cat/operand.h"

bool operand_number(const char **at, const char *end, s64 *ret_number)
{
	const char *c = *at;
	bool is_negative = c < end && *c == '-', has_digit = false;
	u64 base = 10, n = 0;

	c += is_negative || (c < end && *c == '+');
	if (end - c > 2 && c[0] == '0' && (c[1] | 0x20) == 'x') {
		base = 16;
		c += 2;
	}
	for (; c < end; c++) {
		int digit = base_hex_digit(*c);

		if (digit < 0 || (u64)digit >= base)
			break;
		if (__builtin_mul_overflow(n, base, &n) ||
		    __builtin_add_overflow(n, (u64)digit, &n))
			return false;
		has_digit = true;
	}
	if (!has_digit)
		return false;
	*ret_number = (s64)(is_negative ? -n : n);
	*at = c;
	return true;
}

static size_t symbol_length(const char *text, size_t n)
{
	size_t i = 0;

	while (i < n && (isalnum((u8)text[i]) || strchr("_.$", text[i]) || (u8)text[i] >= 0x80))
		i++;
	return i;
}

const char *operand_address(const char *text, size_t n, const struct operand_place *place,
			    u64 *ret_value, bool *ret_is_address)
{
	const char *at = text, *end = text + n;

	*ret_value = 0;
	*ret_is_address = false;
	while (at < end) {
		u64 address;
		s64 number;
		size_t length;

		if (operand_number(&at, end, &number)) {
			*ret_value += (u64)number;
			continue;
		}
		at += *at == '+';
		length = symbol_length(at, (size_t)(end - at));
		if (!length || isdigit((u8)*at) || *ret_is_address)
			return OPERAND_UNKNOWN;
		if (at + length < end && at[length] == '@')
			return "its address is in a table of the loader's";
		if (!place->find_symbol(place, at, length, &address))
			return "the program's symbols do not have it";
		*ret_value += address;
		*ret_is_address = true;
		at += length;
	}
	return NULL;
}

/* Up to the next blank that is not within brackets. */
static size_t length_of(const char *text)
{
	size_t n = 0;
	int depth = 0;

	for (; text[n] && (depth > 0 || text[n] != ' '); n++)
		depth += (text[n] == '[' || text[n] == '(') - (text[n] == ']' || text[n] == ')');
	return n;
}

/* "-4@", "8f@", or nothing: 8 bytes. */
static const char *read_type(const char **at, const char *end, struct user_operand *operand)
{
	const char *sign = memchr(*at, '@', (size_t)(end - *at)), *c = *at;
	s64 size = 8;

	operand->type = type_int(64, false);
	if (!sign || !operand_number(&c, sign, &size))
		return NULL;
	*at = sign + 1;
	if (c < sign)
		return "it is a number with a fraction";
	if (size != 1 && size != 2 && size != 4 && size != 8 && size != -1 && size != -2 &&
	    size != -4 && size != -8)
		return "it is no number of 1, 2, 4 or 8 bytes";
	operand->type = type_int((u8)(8 * (size < 0 ? -size : size)), size < 0);
	return NULL;
}

bool operand_next(const struct operand_machine *machine, const char **text,
		  const struct operand_place *place, struct arena *arena,
		  struct user_operand *operand)
{
	const char *at = *text + strspn(*text, " "), *end;

	if (!*at)
		return false;
	end = at + length_of(at);
	*operand = (struct user_operand){ .text = arena_strndup(arena, at, (size_t)(end - at)),
					  .base = OPERAND_NO_REGISTER,
					  .index = OPERAND_NO_REGISTER,
					  .bits = 64 };
	operand->why_not = read_type(&at, end, operand);
	if (!operand->why_not)
		operand->why_not = machine->read(at, (size_t)(end - at), place, operand);
	/* An address of the file, in memory: as far from the probe as there. */
	if (!operand->why_not && operand->is_address && place->is_relocated &&
	    operand->base == OPERAND_NO_REGISTER) {
		operand->base = machine->place_register;
		operand->value -= place->address;
	} else if (!operand->why_not && operand->is_address && place->is_relocated) {
		operand->why_not = "it is an address that another one is added to";
	}
	*text = end;
	return true;
}
