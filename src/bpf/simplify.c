/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Clean-up of the lowered instructions, from the end to the start: results that
 * nothing reads, jumps to the next instruction, and branches around a jump go.
 */
#include "bpf/ir.h"

static void count_uses(const struct lir *lir, const struct ir_insn *insn, u32 step, u32 *n_uses)
{
	u8 flags = ir_op_flags[insn->op];

	if (flags & OP_USE_A)
		n_uses[insn->a] += step;
	if (insn->b)
		n_uses[insn->b] += step;
	for (u32 i = 0; i < insn->n_args; i++)
		n_uses[lir->args[insn->first_arg + i]] += step;
}

/* Only labels between here and the label? */
static bool is_next(const struct lir *lir, u32 at, label l)
{
	for (u32 i = at + 1; i < lir->insns.n; i++) {
		const struct ir_insn *insn = &lir->insns.at[i];

		if (insn->op == IR_OP_LABEL && insn->index == l)
			return true;
		if (insn->op != IR_OP_LABEL && insn->op != IR_OP_NOP)
			return false;
	}
	return false;
}

/* if (c) goto over; goto far; over:  ->  if (!c) goto far; */
static void invert_over_jump(struct lir *lir, u32 at)
{
	struct ir_insn *insn = &lir->insns.at[at];
	u32 next = at + 1;

	while (next < lir->insns.n && lir->insns.at[next].op == IR_OP_NOP)
		next++;
	if (insn->sub == IR_TEST || next == lir->insns.n || lir->insns.at[next].op != IR_OP_JUMP ||
	    !is_next(lir, next, insn->index))
		return;
	insn->sub = ir_conditions[insn->sub].inverse;
	insn->index = lir->insns.at[next].index;
	lir->insns.at[next].op = IR_OP_NOP;
}

static bool is_dead(const struct lir *lir, u32 at, const u32 *n_uses)
{
	const struct ir_insn *insn = &lir->insns.at[at];
	u8 flags = ir_op_flags[insn->op];

	if (flags & OP_PURE)
		return n_uses[insn->d] == 0;
	if (flags & OP_JUMP)
		return is_next(lir, at, insn->index);
	return false;
}

static void drop_result(struct ir_insn *insn, const u32 *n_uses)
{
	if (!insn->d || n_uses[insn->d])
		return;
	if (ir_op_flags[insn->op] & OP_CALL) {
		insn->d = 0;
	} else if (insn->op == IR_OP_ATOMIC && insn->sub == IR_ATOMIC_FETCH_ADD) {
		insn->sub = IR_ATOMIC_ADD;
		insn->d = 0;
	}
}

void lir_simplify(struct lir *lir)
{
	u32 *n_uses = arena_array(lir->arena, u32, lir->n_vregs);
	u32 n = 0;

	for (u32 i = 0; i < lir->insns.n; i++)
		count_uses(lir, &lir->insns.at[i], 1, n_uses);
	for (u32 i = lir->insns.n; i-- > 0;) {
		struct ir_insn *insn = &lir->insns.at[i];

		if (insn->op == IR_OP_BRANCH)
			invert_over_jump(lir, i);
		drop_result(insn, n_uses);
		if (is_dead(lir, i, n_uses)) {
			count_uses(lir, insn, (u32)-1, n_uses);
			insn->op = IR_OP_NOP;
		}
	}
	for (u32 i = 0; i < lir->insns.n; i++)
		if (lir->insns.at[i].op != IR_OP_NOP)
			lir->insns.at[n++] = lir->insns.at[i];
	lir->insns.n = n;
}
