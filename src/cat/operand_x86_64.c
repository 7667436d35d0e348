/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Arguments of user probes on x86-64: %eax, $-5, -20(%rbp), 8(%rax,%rcx,4), counter+4(%rip). */
#include <elf.h>
#include <string.h>

#include "cat/operand.h"

/* Where struct pt_regs has it, and what its parts are called: 64, 32, 16, 8 bits, and the high 8.
 */
static const struct {
	u16 offset;
	const char *names[5];
} registers[] = {
	{ 80, { "rax", "eax", "ax", "al", "ah" } }, { 40, { "rbx", "ebx", "bx", "bl", "bh" } },
	{ 88, { "rcx", "ecx", "cx", "cl", "ch" } }, { 96, { "rdx", "edx", "dx", "dl", "dh" } },
	{ 104, { "rsi", "esi", "si", "sil" } },	    { 112, { "rdi", "edi", "di", "dil" } },
	{ 32, { "rbp", "ebp", "bp", "bpl" } },	    { 152, { "rsp", "esp", "sp", "spl" } },
	{ 72, { "r8", "r8d", "r8w", "r8b" } },	    { 64, { "r9", "r9d", "r9w", "r9b" } },
	{ 56, { "r10", "r10d", "r10w", "r10b" } },  { 48, { "r11", "r11d", "r11w", "r11b" } },
	{ 24, { "r12", "r12d", "r12w", "r12b" } },  { 16, { "r13", "r13d", "r13w", "r13b" } },
	{ 8, { "r14", "r14d", "r14w", "r14b" } },   { 0, { "r15", "r15d", "r15w", "r15b" } },
};
static const u8 widths[5] = { 64, 32, 16, 8, 8 };

#define PLACE_REGISTER 128 /* rip */

static bool find_register(const char *text, size_t n, u16 *ret_offset, u32 *ret_form)
{
	if (n < 2 || *text != '%')
		return false;
	for (u32 i = 0; i < ARRAY_SIZE(registers); i++)
		for (u32 k = 0; k < ARRAY_SIZE(widths); k++) {
			const char *name = registers[i].names[k];

			if (name && strlen(name) == n - 1 && memcmp(name, text + 1, n - 1) == 0) {
				*ret_offset = registers[i].offset;
				*ret_form = k;
				return true;
			}
		}
	return false;
}

/* One that an address is made of. */
static bool address_register(const char *text, size_t n, u16 *ret_offset)
{
	u32 form;

	return find_register(text, n, ret_offset, &form) && form == 0;
}

static const char *read_register(const char *text, size_t n, struct user_operand *operand)
{
	u32 form;

	if (!find_register(text, n, &operand->base, &form))
		return "it is in a register of another kind";
	operand->kind = OPERAND_VALUE;
	operand->bits = widths[form];
	operand->shift = form == 4 ? 8 : 0;
	return NULL;
}

/* Behind the displacement: "(%rbp)", "(%rax,%rcx,4)", "(,%rcx,8)". */
static const char *read_registers(const char *text, size_t n, struct user_operand *operand)
{
	const char *end = text + n - 1, *comma = memchr(text, ',', n), *next;
	const char *base_end = comma ?: end;
	s64 scale = 1;

	text++;
	if (base_end > text && !address_register(text, (size_t)(base_end - text), &operand->base))
		return OPERAND_UNKNOWN;
	if (!comma)
		return base_end > text ? NULL : OPERAND_UNKNOWN;
	comma++;
	next = memchr(comma, ',', (size_t)(end - comma));
	if (!address_register(comma, (size_t)((next ?: end) - comma), &operand->index))
		return OPERAND_UNKNOWN;
	if (next && (++next, !operand_number(&next, end, &scale) || next != end))
		return OPERAND_UNKNOWN;
	if (scale != 1 && scale != 2 && scale != 4 && scale != 8)
		return OPERAND_UNKNOWN;
	operand->index_shift = (u8)__builtin_ctzll((u64)scale);
	return NULL;
}

static const char *read_memory(const char *text, size_t n, const struct operand_place *place,
			       struct user_operand *operand)
{
	const char *open = memchr(text, '(', n), *why_not;
	size_t before = open ? (size_t)(open - text) : n;
	bool is_relative = open && n - before == 6 && memcmp(open, "(%rip)", 6) == 0;

	operand->kind = OPERAND_MEMORY;
	why_not = operand_address(text, before, place, &operand->value, &operand->is_address);
	if (why_not)
		return why_not;
	if (is_relative || !open) /* without a symbol nobody knows what it is relative to */
		return operand->is_address ? NULL : OPERAND_UNKNOWN;
	return text[n - 1] == ')' ? read_registers(open, n - before, operand) : OPERAND_UNKNOWN;
}

static const char *read_operand(const char *text, size_t n, const struct operand_place *place,
				struct user_operand *operand)
{
	if (n && *text == '$') {
		operand->kind = OPERAND_VALUE;
		return n > 1 ? operand_address(text + 1, n - 1, place, &operand->value,
					       &operand->is_address)
			     : OPERAND_UNKNOWN;
	}
	if (n && *text == '%' && memchr(text, ':', n))
		return "it is in memory of the thread's own";
	if (n && *text == '%')
		return read_register(text, n, operand);
	return n ? read_memory(text, n, place, operand) : OPERAND_UNKNOWN;
}

const struct operand_machine operand_x86_64 = { .elf_machine = EM_X86_64,
						.place_register = PLACE_REGISTER,
						.read = read_operand };
