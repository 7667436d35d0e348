/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * struct ir -> struct lir: one pass in order that leaves out what is never
 * reached, sends jumps to jumps on to their end, follows copies, puts constants
 * and stack addresses into the instructions that use them, and writes what this
 * kernel lacks in terms of what it has.
 */
#include "bpf/lower.h"

/* Memory ---------------------------------------------------------------- */

/* [a + offset] of a known stack address becomes an access of the stack object. */
static bool is_stack_access(struct lower *lower, struct ir_insn *insn)
{
	const struct value *value = &lower->values.at[insn->a];
	s64 offset = (s64)value->offset + insn->offset;
	u32 bytes = ir_sizes[insn->size].bytes;

	if (value->kind != VALUE_STACK || offset < 0 ||
	    offset + bytes > lower->ir->objects.at[value->object] || offset % bytes)
		return false;
	insn->index = value->object;
	insn->offset = (s32)offset;
	insn->a = 0;
	return true;
}

static void fit_offset(struct lower *lower, struct ir_insn *insn)
{
	vreg t;

	if (fits_s16(insn->offset))
		return;
	t = lower_reg(lower);
	lower_alui(lower, IR_ADD, t, insn->a, insn->offset);
	insn->a = t;
	insn->offset = 0;
}

static void lower_load(struct lower *lower, struct ir_insn insn)
{
	vreg d = insn.d;
	u8 size = insn.size;
	struct value *value;

	if (insn.op == IR_OP_LOAD && is_stack_access(lower, &insn))
		insn.op = IR_OP_STACK_LOAD;
	if (insn.op == IR_OP_LOAD)
		fit_offset(lower, &insn);
	if (ir_sizes[size].is_signed && !lower->features->has_signed_division) {
		insn.size = size == IR_S8 ? IR_U8 : size == IR_S16 ? IR_U16 : IR_U32;
		insn.d = lower_reg(lower);
		lower_emit(lower, insn);
		lower_extend(lower, d, insn.d, size);
		return;
	}
	lower_emit(lower, insn);
	value = &lower->values.at[d];
	if (value->once && !ir_sizes[size].is_signed)
		value->bits = 8 * ir_sizes[size].bytes;
}

static void lower_store(struct lower *lower, struct ir_insn insn)
{
	s64 value;

	if (insn.b && lower_const(lower, insn.b, &value) &&
	    (ir_sizes[insn.size].bytes <= 4 || fits_s32(value))) {
		insn.imm = (s32)value;
		insn.b = 0;
	}
	if (insn.op == IR_OP_STORE && is_stack_access(lower, &insn))
		insn.op = IR_OP_STACK_STORE;
	if (insn.op == IR_OP_STORE)
		fit_offset(lower, &insn);
	lower_emit(lower, insn);
}

static void lower_atomic(struct lower *lower, struct ir_insn insn)
{
	vreg d = insn.d;

	fit_offset(lower, &insn);
	if (insn.sub == IR_ATOMIC_FETCH_ADD && !d)
		insn.sub = IR_ATOMIC_ADD;
	/* The result replaces the operand in its register, so that must not be the base. */
	if (insn.sub != IR_ATOMIC_ADD && (d == 0 || d == insn.a))
		insn.d = lower_reg(lower);
	lower_emit(lower, insn);
	if (d && d != insn.d)
		lower_mov(lower, d, insn.d);
}

static void lower_stack_address(struct lower *lower, struct ir_insn insn)
{
	struct value *value = &lower->values.at[insn.d];

	lower_emit(lower, insn);
	if (!value->once)
		return;
	value->kind = VALUE_STACK;
	value->object = insn.index;
	value->offset = insn.offset;
}

/* Control --------------------------------------------------------------- */

static void lower_jump(struct lower *lower, struct ir_insn insn)
{
	s64 imm;

	if (insn.b && !lower_const(lower, insn.b, &imm) && lower_const(lower, insn.a, &imm)) {
		vreg a = insn.a;

		insn.a = insn.b;
		insn.b = a;
		insn.sub = ir_conditions[insn.sub].swapped;
	}
	if (insn.b && lower_const(lower, insn.b, &imm) && fits_s32(imm)) {
		insn.imm = imm;
		insn.b = 0;
	} else if (!insn.b && !fits_s32(insn.imm)) {
		insn.b = lower_reg(lower);
		lower_imm(lower, insn.b, insn.imm);
		insn.imm = 0;
	}
	insn.index = lower->threaded[insn.index];
	lower->reached[insn.index] = true;
	lower_emit(lower, insn);
}

static void lower_call(struct lower *lower, struct ir_insn insn)
{
	for (u32 i = 0; i < insn.n_args; i++) {
		vreg *arg = &lower->lir->args[insn.first_arg + i];

		*arg = lower_follow(lower, *arg);
	}
	lower_emit(lower, insn);
}

static void lower_insn(struct lower *lower, struct ir_insn insn)
{
	u8 flags = ir_op_flags[insn.op];

	if (flags & OP_USE_A)
		insn.a = lower_follow(lower, insn.a);
	if (insn.b)
		insn.b = lower_follow(lower, insn.b);
	lower->span = insn.span;
	lower->is_cold = insn.is_cold;
	switch (insn.op) {
	case IR_OP_IMM:
		lower_imm(lower, insn.d, insn.imm);
		break;
	case IR_OP_MOV:
		lower_mov(lower, insn.d, insn.a);
		break;
	case IR_OP_ALU:
		if (insn.b)
			lower_alu(lower, insn.sub, insn.d, insn.a, insn.b);
		else
			lower_alui(lower, insn.sub, insn.d, insn.a, insn.imm);
		break;
	case IR_OP_NEG:
		lower_neg(lower, insn.d, insn.a);
		break;
	case IR_OP_EXTEND:
		lower_extend(lower, insn.d, insn.a, insn.size);
		break;
	case IR_OP_LOAD:
	case IR_OP_STACK_LOAD:
		lower_load(lower, insn);
		break;
	case IR_OP_STORE:
	case IR_OP_STACK_STORE:
		lower_store(lower, insn);
		break;
	case IR_OP_ATOMIC:
		lower_atomic(lower, insn);
		break;
	case IR_OP_STACK_ADDRESS:
		lower_stack_address(lower, insn);
		break;
	case IR_OP_JUMP:
	case IR_OP_BRANCH:
		lower_jump(lower, insn);
		break;
	case IR_OP_CALL:
	case IR_OP_KERNEL_CALL:
	case IR_OP_COMPARE_EXCHANGE:
		lower_call(lower, insn);
		break;
	default:
		lower_emit(lower, insn);
		break;
	}
}

/*
 * A jump to a label that is followed by a jump goes where that one goes.  Only
 * forward, so that the chain ends and no label becomes the start of a loop that
 * was none.
 */
static void thread_jumps(struct lower *lower)
{
	const struct ir *ir = lower->ir;

	lower->threaded = arena_array(lower->arena, label, ir->labels.n);
	for (label l = 1; l < ir->labels.n; l++)
		lower->threaded[l] = l;
	/* From the end, so that what follows a label is known already. */
	for (u32 i = ir->insns.n; i-- > 0;) {
		const struct ir_insn *insn = &ir->insns.at[i];
		u32 next = i + 1;

		if (insn->op != IR_OP_LABEL)
			continue;
		while (next < ir->insns.n && ir->insns.at[next].op == IR_OP_LABEL)
			next++;
		if (next == ir->insns.n || ir->insns.at[next].op != IR_OP_JUMP)
			continue;
		if (ir->labels.at[ir->insns.at[next].index] > next)
			lower->threaded[insn->index] = lower->threaded[ir->insns.at[next].index];
	}
}

static void count_definitions(struct lower *lower)
{
	const struct ir *ir = lower->ir;

	lower->values.capacity = ir->n_vregs + ir->n_vregs / 4 + 16;
	lower->values.at = arena_array(lower->arena, struct value, lower->values.capacity);
	lower->values.n = ir->n_vregs;
	for (vreg v = 0; v < ir->n_vregs; v++)
		lower->values.at[v].bits = 64;
	/* `kind` counts here: the first definition sets `once`, the second clears it for good. */
	if (ir->context)
		lower->values.at[ir->context].kind = 1;
	for (u32 i = 0; i < ir->insns.n; i++) {
		const struct ir_insn *insn = &ir->insns.at[i];

		if ((ir_op_flags[insn->op] & OP_DEF) && lower->values.at[insn->d].kind < 2)
			lower->values.at[insn->d].kind++;
	}
	for (vreg v = 0; v < ir->n_vregs; v++) {
		lower->values.at[v].once = lower->values.at[v].kind == 1;
		lower->values.at[v].kind = VALUE_UNKNOWN;
	}
}

void ir_lower(struct ir *ir, struct arena *arena, const struct bpf_features *features,
	      struct lir *ret_lir)
{
	struct lower lower = {
		.ir = ir, .lir = ret_lir, .arena = arena, .features = features, .is_reachable = true
	};

	*ret_lir = (struct lir){ .arena = arena,
				 .n_labels = ir->labels.n,
				 .n_objects = ir->objects.n,
				 .object_bytes = ir->objects.at };
	ret_lir->insns.capacity = ir->insns.n + ir->insns.n / 4 + 16;
	ret_lir->insns.at = arena_array(arena, struct ir_insn, ret_lir->insns.capacity);
	ret_lir->args = arena_array(arena, vreg, ir->args.n);
	for (u32 i = 0; i < ir->args.n; i++)
		ret_lir->args[i] = ir->args.at[i];
	lower.reached = arena_array(arena, bool, ir->labels.n);
	count_definitions(&lower);
	thread_jumps(&lower);
	if (ir->context)
		lower_emit(&lower, (struct ir_insn){ .op = IR_OP_CONTEXT, .d = ir->context });
	for (u32 i = 0; i < ir->insns.n; i++) {
		const struct ir_insn *insn = &ir->insns.at[i];

		if (insn->op == IR_OP_LABEL)
			lower.is_reachable |= lower.reached[insn->index];
		if (!lower.is_reachable)
			continue;
		lower_insn(&lower, *insn);
		if (ir_op_flags[insn->op] & OP_END)
			lower.is_reachable = false;
	}
	ret_lir->n_vregs = lower.values.n;
	lir_simplify(ret_lir);
}
