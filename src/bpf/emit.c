/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What lower.c and fold.c both write with: new vregs and labels, appended instructions, and
 * what is known of a vreg.
 */
#include "bpf/lower.h"

static vreg new_reg(struct lower *lower, bool once)
{
	vec_push(lower->arena, &lower->values, (struct value){ .once = once, .bits = 64 });
	return lower->values.n - 1;
}

vreg lower_reg(struct lower *lower)
{
	return new_reg(lower, true);
}

vreg lower_reg_many(struct lower *lower)
{
	return new_reg(lower, false);
}

label lower_label(struct lower *lower)
{
	return lower->lir->n_labels++;
}

void lower_emit(struct lower *lower, struct ir_insn insn)
{
	insn.span = lower->span;
	insn.is_cold = lower->is_cold;
	vec_push(lower->arena, &lower->lir->insns, insn);
}

bool lower_const(const struct lower *lower, vreg v, s64 *ret_imm)
{
	if (lower->values.at[v].kind != VALUE_CONST)
		return false;
	*ret_imm = lower->values.at[v].imm;
	return true;
}

vreg lower_follow(const struct lower *lower, vreg v)
{
	vreg alias = lower->values.at[v].alias;

	return alias ? alias : v;
}
