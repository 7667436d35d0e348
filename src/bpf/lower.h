/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Shared by lower.c (structure, memory, calls) and fold.c (arithmetic): how both append, and
 * what is known of each vreg.
 */
#ifndef EBQL_BPF_LOWER_H
#define EBQL_BPF_LOWER_H

#include "bpf/ir.h"

enum value_kind { VALUE_UNKNOWN, VALUE_CONST, VALUE_STACK };

/* Known of a vreg that one instruction defines: it holds wherever the vreg may be read. */
struct value {
	bool once;
	u8 kind;
	u8 bits;    /* bits at and above this one are 0; 64: nothing known */
	vreg alias; /* the same as this vreg; 0: itself */
	s64 imm;
	u32 object;
	s32 offset;
};

struct lower {
	struct ir *ir;
	struct lir *lir;
	struct arena *arena;
	const struct bpf_features *features;
	VEC(struct value) values;
	label *threaded; /* where a jump to a label ends up */
	bool *reached;
	bool is_reachable;
	struct span span;
	bool is_cold;
};

/* fold.c.  A vreg of our own; its only definition is the next instruction that writes it. */
vreg lower_reg(struct lower *lower);
void lower_emit(struct lower *lower, struct ir_insn insn);
/* The vreg that holds what v holds, if v is a copy that was left out. */
vreg lower_follow(const struct lower *lower, vreg v);
bool lower_const(const struct lower *lower, vreg v, s64 *ret_imm);

void lower_imm(struct lower *lower, vreg d, s64 imm);
void lower_mov(struct lower *lower, vreg d, vreg a);
void lower_neg(struct lower *lower, vreg d, vreg a);
void lower_extend(struct lower *lower, vreg d, vreg a, u8 size);
void lower_alu(struct lower *lower, u8 op, vreg d, vreg a, vreg b);
void lower_alui(struct lower *lower, u8 op, vreg d, vreg a, s64 b);

#endif
