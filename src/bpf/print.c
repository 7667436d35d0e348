/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The IR as text, one instruction a line, for `ebql explain --stage ir`.
 */
#include "bpf/ir.h"

static const char *const alu_names[IR_ALU_N] = {
	[IR_ADD] = "+",	  [IR_SUB] = "-",   [IR_MUL] = "*",   [IR_DIV] = "/", [IR_MOD] = "%",
	[IR_SDIV] = "s/", [IR_SMOD] = "s%", [IR_AND] = "&",   [IR_OR] = "|",  [IR_XOR] = "^",
	[IR_SHL] = "<<",  [IR_SHR] = ">>",  [IR_SAR] = "s>>",
};

static const char *const condition_names[IR_CONDITION_N] = {
	[IR_EQ] = "==",	 [IR_NE] = "!=",   [IR_LT] = "<",   [IR_LE] = "<=",
	[IR_GT] = ">",	 [IR_GE] = ">=",   [IR_SLT] = "s<", [IR_SLE] = "s<=",
	[IR_SGT] = "s>", [IR_SGE] = "s>=", [IR_TEST] = "&",
};

static const char *const size_names[] = {
	[IR_U8] = "u8", [IR_U16] = "u16", [IR_U32] = "u32", [IR_U64] = "u64",
	[IR_S8] = "s8", [IR_S16] = "s16", [IR_S32] = "s32",
};

static const char *const atomic_names[] = {
	[IR_ATOMIC_ADD] = "atomic_add",
	[IR_ATOMIC_FETCH_ADD] = "atomic_fetch_add",
	[IR_ATOMIC_XCHG] = "atomic_xchg",
};

#define HELPER_NAME(name, ...) [BPF_FUNC_##name] = #name
static const char *const helper_names[] = { __BPF_FUNC_MAPPER(HELPER_NAME) };

static void print_call(const struct ir *ir, const struct ir_insn *insn, struct buf *out)
{
	if (insn->d)
		buf_printf(out, "v%u = ", insn->d);
	if (insn->op == IR_OP_CALL && insn->index < ARRAY_SIZE(helper_names))
		buf_printf(out, "call %s(", helper_names[insn->index]);
	else if (insn->op == IR_OP_CALL)
		buf_printf(out, "call helper#%u(", insn->index);
	else
		buf_printf(out, "call kernel#%u(", insn->index);
	for (u32 i = 0; i < insn->n_args; i++)
		buf_printf(out, "%sv%u", i ? ", " : "", ir->args.at[insn->first_arg + i]);
	buf_puts(out, ")");
}

static void print_insn(const struct ir *ir, const struct ir_insn *insn, struct buf *out)
{
	const char *size = size_names[insn->size];
	long long imm = insn->imm;

	switch (insn->op) {
	case IR_OP_IMM:
		buf_printf(out, "v%u = %lld", insn->d, imm);
		break;
	case IR_OP_MOV:
		buf_printf(out, "v%u = v%u", insn->d, insn->a);
		break;
	case IR_OP_ALU:
		buf_printf(out, "v%u = v%u %s v%u", insn->d, insn->a, alu_names[insn->sub],
			   insn->b);
		break;
	case IR_OP_ALUI:
		buf_printf(out, "v%u = v%u %s %lld", insn->d, insn->a, alu_names[insn->sub], imm);
		break;
	case IR_OP_NEG:
		buf_printf(out, "v%u = -v%u", insn->d, insn->a);
		break;
	case IR_OP_BSWAP:
		buf_printf(out, "v%u = bswap v%u", insn->d, insn->a);
		break;
	case IR_OP_EXTEND:
		buf_printf(out, "v%u = %s v%u", insn->d, size, insn->a);
		break;
	case IR_OP_LOAD:
		buf_printf(out, "v%u = %s [v%u %+d]", insn->d, size, insn->a, insn->offset);
		break;
	case IR_OP_STORE:
		buf_printf(out, "%s [v%u %+d] = v%u", size, insn->a, insn->offset, insn->b);
		break;
	case IR_OP_STOREI:
		buf_printf(out, "%s [v%u %+d] = %lld", size, insn->a, insn->offset, imm);
		break;
	case IR_OP_ATOMIC:
		if (insn->d)
			buf_printf(out, "v%u = ", insn->d);
		buf_printf(out, "%s %s [v%u %+d], v%u", atomic_names[insn->sub], size, insn->a,
			   insn->offset, insn->b);
		break;
	case IR_OP_MAP:
		buf_printf(out, "v%u = map %u", insn->d, insn->index);
		break;
	case IR_OP_MAP_VALUE:
		buf_printf(out, "v%u = value of map %u %+d", insn->d, insn->index, insn->offset);
		break;
	case IR_OP_STACK_ADDRESS:
		buf_printf(out, "v%u = &stack%u %+d", insn->d, insn->index, insn->offset);
		break;
	case IR_OP_STACK_LOAD:
		buf_printf(out, "v%u = %s [stack%u %+d]", insn->d, size, insn->index, insn->offset);
		break;
	case IR_OP_STACK_STORE:
		buf_printf(out, "%s [stack%u %+d] = v%u", size, insn->index, insn->offset, insn->b);
		break;
	case IR_OP_STACK_STOREI:
		buf_printf(out, "%s [stack%u %+d] = %lld", size, insn->index, insn->offset, imm);
		break;
	case IR_OP_JUMP:
		buf_printf(out, "goto L%u", insn->index);
		break;
	case IR_OP_BRANCH:
		buf_printf(out, "if v%u %s v%u goto L%u", insn->a, condition_names[insn->sub],
			   insn->b, insn->index);
		break;
	case IR_OP_BRANCHI:
		buf_printf(out, "if v%u %s %lld goto L%u", insn->a, condition_names[insn->sub], imm,
			   insn->index);
		break;
	case IR_OP_CALL:
	case IR_OP_CALL_KERNEL:
		print_call(ir, insn, out);
		break;
	case IR_OP_COMPARE_EXCHANGE:
		buf_printf(out, "compare u64 [v%u %+d] with %lld, exchange v%u",
			   ir->args.at[insn->first_arg], insn->offset, imm,
			   ir->args.at[insn->first_arg + 1]);
		break;
	case IR_OP_EXIT:
		buf_printf(out, "exit %lld", imm);
		break;
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
