/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The IR as text, one instruction a line, for `ebql explain --stage ir`.
 */
#include "bpf/ir.h"

/*
 * d, a, b: vregs, for b where it is 0 the immediate; o: the operation; z: the size; f: the offset;
 * i: the immediate; x: the index; h: the helper; c: all arguments of a call, 0, 1: these; ?: "d = "
 * where there is a d.
 */
static const char *const formats[IR_OP_N] = {
	[IR_OP_IMM] = "%d = %i",
	[IR_OP_MOV] = "%d = %a",
	[IR_OP_ALU] = "%d = %a %o %b",
	[IR_OP_NEG] = "%d = -%a",
	[IR_OP_BSWAP] = "%d = bswap %a",
	[IR_OP_EXTEND] = "%d = %z %a",
	[IR_OP_LOAD] = "%d = %z [%a %f]",
	[IR_OP_STORE] = "%z [%a %f] = %b",
	[IR_OP_ATOMIC] = "%?%o %z [%a %f], %b",
	[IR_OP_MAP] = "%d = map %x",
	[IR_OP_MAP_VALUE] = "%d = value of map %x %f",
	[IR_OP_STACK_ADDRESS] = "%d = &stack%x %f",
	[IR_OP_STACK_LOAD] = "%d = %z [stack%x %f]",
	[IR_OP_STACK_STORE] = "%z [stack%x %f] = %b",
	[IR_OP_JUMP] = "goto L%x",
	[IR_OP_BRANCH] = "if %a %o %b goto L%x",
	[IR_OP_CALL] = "%?call %h(%c)",
	[IR_OP_KERNEL_CALL] = "%?call kernel#%x(%c)",
	[IR_OP_COMPARE_EXCHANGE] = "compare %z [%0 %f] with %i, exchange %1",
	[IR_OP_EXIT] = "exit %i",
};

static const char *operation_name(const struct ir_insn *insn)
{
	if (insn->op == IR_OP_ATOMIC)
		return ir_atomics[insn->sub].name;
	return insn->op == IR_OP_ALU ? ir_alus[insn->sub].name : ir_conditions[insn->sub].name;
}

static void print_args(const struct ir_insn *insn, const vreg *args, struct buf *out)
{
	for (u32 i = 0; i < insn->n_args; i++)
		buf_printf(out, "%sv%u", i ? ", " : "", args[i]);
}

static void print_operand(const struct ir *ir, const struct ir_insn *insn, char what,
			  struct buf *out)
{
	const vreg *args = insn->n_args ? &ir->args.at[insn->first_arg] : NULL;

	if (what == 'b' && !insn->b)
		what = 'i';
	if (what == 'd' || what == 'a' || what == 'b')
		buf_printf(out, "v%u", what == 'd' ? insn->d : what == 'a' ? insn->a : insn->b);
	else if (what == '0' || what == '1')
		buf_printf(out, "v%u", args[what - '0']);
	else if (what == '?' && insn->d)
		buf_printf(out, "v%u = ", insn->d);
	else if (what == 'o')
		buf_puts(out, operation_name(insn));
	else if (what == 'z')
		buf_puts(out, ir_sizes[insn->size].name);
	else if (what == 'f')
		buf_printf(out, "%+d", insn->offset);
	else if (what == 'i')
		buf_printf(out, "%lld", (long long)insn->imm);
	else if (what == 'x')
		buf_printf(out, "%u", insn->index);
	else if (what == 'h' && ir_helper_name(insn->index))
		buf_puts(out, ir_helper_name(insn->index));
	else if (what == 'h')
		buf_printf(out, "helper#%u", insn->index);
	else if (what == 'c')
		print_args(insn, args, out);
}

static void print_insn(const struct ir *ir, const struct ir_insn *insn, struct buf *out)
{
	for (const char *at = formats[insn->op]; at && *at; at++) {
		if (*at == '%')
			print_operand(ir, insn, *++at, out);
		else
			buf_putc(out, *at);
	}
}

static u32 print_notes(const struct ir *ir, u32 next, u32 at, struct buf *out)
{
	for (; next < ir->notes.n && ir->notes.at[next].insn <= at; next++)
		buf_printf(out, "      ; %s\n", ir->notes.at[next].text);
	return next;
}

void ir_print(const struct ir *ir, struct buf *out)
{
	u32 next_note = 0;

	if (ir->context)
		buf_printf(out, "      v%u = context\n", ir->context);
	for (u32 i = 0; i < ir->insns.n; i++) {
		const struct ir_insn *insn = &ir->insns.at[i];

		next_note = print_notes(ir, next_note, i, out);
		if (insn->op == IR_OP_LABEL) {
			buf_printf(out, "L%u:\n", insn->index);
			continue;
		}
		buf_printf(out, "%4u  ", i);
		print_insn(ir, insn, out);
		buf_putc(out, '\n');
	}
	print_notes(ir, next_note, UINT32_MAX, out);
	if (ir->error)
		buf_printf(out, "      ; error: %s\n", ir->error);
}
