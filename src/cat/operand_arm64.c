/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Arguments of user probes on arm64: w0, 5, [sp, 16], [x0, x1, lsl 3], [x0, w1, sxtw 2]. */
#include <elf.h>
#include <string.h>

#include "cat/operand.h"

/* Where struct pt_regs has them. */
#define REGISTER(i)    ((u16)(8 * (i)))
#define STACK_REGISTER REGISTER(31)
#define PLACE_REGISTER REGISTER(32) /* pc */

/* "x0" to "x30", "w0" to "w30", sp, wsp, xzr, wzr; ret_offset: OPERAND_NO_REGISTER of the last two.
 */
static bool find_register(const char *text, size_t n, u16 *ret_offset, u8 *ret_bits)
{
	const char *at = text + 1, *end = text + n;
	s64 number;

	*ret_bits = *text == 'w' ? 32 : 64;
	*ret_offset = STACK_REGISTER;
	if ((n == 2 && memcmp(text, "sp", 2) == 0) || (n == 3 && memcmp(text, "wsp", 3) == 0))
		return true;
	*ret_offset = OPERAND_NO_REGISTER;
	if (n < 2 || (*text != 'x' && *text != 'w'))
		return false;
	if (n == 3 && memcmp(at, "zr", 2) == 0)
		return true;
	if (*at < '0' || *at > '9' || !operand_number(&at, end, &number) || at != end ||
	    number > 30)
		return false;
	*ret_offset = REGISTER(number);
	return true;
}

/* A part of "[x0, w1, sxtw #2]", without blanks around it. */
struct part {
	const char *at;
	size_t n;
};

static bool next_part(const char **at, const char *end, struct part *part)
{
	const char *comma;

	while (*at < end && **at == ' ')
		(*at)++;
	if (*at >= end)
		return false;
	comma = memchr(*at, ',', (size_t)(end - *at)) ?: end;
	part->at = *at;
	part->n = (size_t)(comma - *at);
	while (part->n && part->at[part->n - 1] == ' ')
		part->n--;
	*at = comma + (comma < end);
	return part->n;
}

static bool number_of(struct part part, s64 *ret_number)
{
	const char *at = part.at, *end = part.at + part.n;

	at += *at == '#';
	return operand_number(&at, end, ret_number) && at == end;
}

/* "lsl #3", "sxtw 2", "uxtw", "sxtx #3": what becomes of the index before it is added. */
static const char *read_shift(struct part part, struct user_operand *operand)
{
	static const char *const words[] = { "lsl", "uxtw", "sxtw", "sxtx" };
	u8 bits = operand->index_bits;

	for (u32 i = 0; i < ARRAY_SIZE(words); i++) {
		size_t n = strlen(words[i]);
		struct part number = { part.at + n, part.n - MIN(n, part.n) };
		s64 shift = 0;

		if (part.n < n || memcmp(part.at, words[i], n) != 0)
			continue;
		while (number.n && *number.at == ' ') {
			number.at++;
			number.n--;
		}
		if (number.n && (!number_of(number, &shift) || shift < 0 || shift > 4))
			return OPERAND_UNKNOWN;
		/* A half of a register is extended, a whole one is not. */
		if ((i == 1 || i == 2) != (bits == 32))
			return OPERAND_UNKNOWN;
		operand->index_shift = (u8)shift;
		operand->index_is_signed = i == 2;
		return NULL;
	}
	return OPERAND_UNKNOWN;
}

static const char *read_second(struct part part, const struct operand_place *place,
			       struct user_operand *operand)
{
	static const char low_bits[] = ":lo12:";
	size_t skip = part.n && *part.at == '#', n = sizeof(low_bits) - 1;
	bool is_address;
	s64 number;

	if (number_of(part, &number)) {
		operand->value = (u64)number;
		return NULL;
	}
	if (part.n > skip + n && memcmp(part.at + skip, low_bits, n) == 0) {
		/* Programs lie in memory in whole pages. */
		const char *why_not = operand_address(part.at + skip + n, part.n - skip - n, place,
						      &operand->value, &is_address);

		operand->value &= 0xFFF;
		return why_not;
	}
	return find_register(part.at, part.n, &operand->index, &operand->index_bits)
		       ? NULL
		       : OPERAND_UNKNOWN;
}

static const char *read_memory(const char *at, const char *end, const struct operand_place *place,
			       struct user_operand *operand)
{
	const char *why_not;
	struct part part;
	u8 bits;

	operand->kind = OPERAND_MEMORY;
	if (!next_part(&at, end, &part) || !find_register(part.at, part.n, &operand->base, &bits) ||
	    bits != 64)
		return OPERAND_UNKNOWN;
	if (!next_part(&at, end, &part))
		return NULL;
	why_not = read_second(part, place, operand);
	if (!why_not && next_part(&at, end, &part))
		why_not = read_shift(part, operand);
	else if (!why_not && operand->index_bits == 32)
		why_not = OPERAND_UNKNOWN;
	return why_not ?: at < end ? OPERAND_UNKNOWN : NULL;
}

static const char *read_operand(const char *text, size_t n, const struct operand_place *place,
				struct user_operand *operand)
{
	s64 number;

	if (n > 2 && *text == '[' && text[n - 1] == ']')
		return read_memory(text + 1, text + n - 1, place, operand);
	operand->kind = OPERAND_VALUE;
	if (n && find_register(text, n, &operand->base, &operand->bits))
		return NULL;
	if (n && number_of((struct part){ text, n }, &number)) {
		operand->value = (u64)number;
		return NULL;
	}
	if (n > 1 && strchr("qdshbv", *text) && text[1] >= '0' && text[1] <= '9')
		return "it is in a register of another kind";
	return OPERAND_UNKNOWN;
}

const struct operand_machine operand_arm64 = { .elf_machine = EM_AARCH64,
					       .place_register = PLACE_REGISTER,
					       .read = read_operand };
