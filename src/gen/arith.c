/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Arithmetic in 64 bits with SQL's meaning: x / 0 is NULL, a result that does not
 * fit is NULL, both counted as faults; shifts by any amount are defined.  Where
 * the ranges of the arguments rule a case out, no instruction tests for it.
 */
#include "gen/internal.h"

/* Arguments of a signed operation: an unsigned one of 2^63 and more has no signed form. */
static void require_signed(struct gen *g, const struct expr *e, vreg v, label null)
{
	if (e->hi > INT64_MAX)
		gen_requirei(g, IR_SGE, v, 0, null);
}

static bool both_positive(const struct expr *e)
{
	return e->args[0]->lo >= 0 && e->args[1]->lo >= 0;
}

/* Signs: a + b overflowed when both differ from the sum; a - b when a differs from b and r. */
static vreg add_sub_checked(struct gen *g, const struct expr *e, vreg a, vreg b, label null)
{
	bool is_add = e->op == OP_ADD;
	vreg r = gen_alu(g, is_add ? IR_ADD : IR_SUB, a, b);

	if (is_add && both_positive(e) && !e->has_signed_arguments) {
		gen_require(g, IR_GE, r, a, null);
		return r;
	}
	if (!is_add && both_positive(e)) {
		/* Unsigned a - b as signed: r >= 0 exactly when a >= b. */
		label below = ir_label(g->ir), ok = ir_label(g->ir);

		ir_branch(g->ir, IR_LT, a, b, below);
		gen_requirei(g, IR_SGE, r, 0, null);
		ir_jump(g->ir, ok);
		ir_place(g->ir, below);
		gen_requirei(g, IR_SLT, r, 0, null);
		ir_place(g->ir, ok);
		return r;
	}
	vreg x = gen_alu(g, IR_XOR, a, is_add ? r : b), y = gen_alu(g, IR_XOR, is_add ? b : a, r);

	gen_requirei(g, IR_SGE, gen_alu(g, IR_AND, x, y), 0, null);
	return r;
}

static vreg absolute(struct gen *g, const struct expr *e, vreg v)
{
	vreg r;
	label positive;

	if (e->lo >= 0)
		return v;
	r = ir_reg(g->ir);
	positive = ir_label(g->ir);
	ir_mov(g->ir, r, v);
	ir_branchi(g->ir, IR_SGE, r, 0, positive);
	ir_neg(g->ir, r, r);
	ir_place(g->ir, positive);
	return r;
}

/* |a| <= limit / |b|, where limit is 2^64 - 1, 2^63 - 1, or 2^63 for a negative product. */
static vreg multiply_checked(struct gen *g, const struct expr *e, vreg a, vreg b, label null)
{
	vreg p = absolute(g, e->args[0], a), q = absolute(g, e->args[1], b);
	vreg limit = ir_reg(g->ir);
	label zero = ir_label(g->ir);

	if (e->type.is_signed) {
		/* 2^63 - 1 plus the sign bit of a ^ b. */
		vreg sign = gen_alui(g, IR_SHR, gen_alu(g, IR_XOR, a, b), 63);

		ir_imm(g->ir, limit, INT64_MAX);
		ir_alu(g->ir, IR_ADD, limit, limit, sign);
	} else {
		ir_imm(g->ir, limit, -1);
	}
	ir_branchi(g->ir, IR_EQ, q, 0, zero);
	gen_require(g, IR_LE, p, gen_alu(g, IR_DIV, limit, q), null);
	ir_place(g->ir, zero);
	return gen_alu(g, IR_MUL, a, b);
}

static vreg divide(struct gen *g, const struct expr *e, vreg a, vreg b, label null)
{
	const struct expr *x = e->args[0], *y = e->args[1];
	bool is_div = e->op == OP_DIV;

	if (y->lo <= 0 && y->hi >= 0)
		gen_requirei(g, IR_NE, b, 0, null);
	if (both_positive(e))
		return gen_alu(g, is_div ? IR_DIV : IR_MOD, a, b);
	/* -2^63 / -1 has no 64-bit result. */
	if (is_div && x->lo == INT64_MIN && y->lo <= -1 && y->hi >= -1) {
		label fits = ir_label(g->ir);

		ir_branchi(g->ir, IR_NE, b, -1, fits);
		gen_requirei(g, IR_NE, a, INT64_MIN, null);
		ir_place(g->ir, fits);
	}
	return gen_alu(g, is_div ? IR_SDIV : IR_SMOD, a, b);
}

/* SQLite's shifts: a negative amount shifts the other way, 64 and more shift everything out. */
static vreg shift_by_constant(struct gen *g, const struct expr *e, vreg a, s128 amount)
{
	bool left = (e->op == OP_SHIFT_LEFT) == (amount >= 0);
	enum ir_alu right = e->args[0]->lo < 0 ? IR_SAR : IR_SHR;

	if (amount < 0)
		amount = -amount;
	if (amount <= 63)
		return gen_alui(g, left ? IR_SHL : right, a, (s64)amount);
	if (!left && right == IR_SAR)
		return gen_alui(g, IR_SAR, a, 63);
	return gen_imm(g, 0);
}

static void shift_one_way(struct gen *g, bool left, bool is_signed, vreg r, vreg a, vreg amount)
{
	label far = ir_label(g->ir), end = ir_label(g->ir);

	ir_branchi(g->ir, IR_GT, amount, 63, far);
	ir_alu(g->ir, left ? IR_SHL : is_signed ? IR_SAR : IR_SHR, r, a, amount);
	ir_jump(g->ir, end);
	ir_place(g->ir, far);
	if (!left && is_signed)
		ir_alui(g->ir, IR_SAR, r, a, 63);
	else
		ir_imm(g->ir, r, 0);
	ir_place(g->ir, end);
}

static vreg shift(struct gen *g, const struct expr *e, vreg a, vreg b)
{
	const struct expr *amount = e->args[1];
	bool left = e->op == OP_SHIFT_LEFT, is_signed = e->args[0]->lo < 0;
	vreg r = ir_reg(g->ir), back;
	label negative = ir_label(g->ir), end = ir_label(g->ir);

	if (amount->lo >= 0) {
		shift_one_way(g, left, is_signed, r, a, b);
		return r;
	}
	ir_branchi(g->ir, IR_SLT, b, 0, negative);
	shift_one_way(g, left, is_signed, r, a, b);
	ir_jump(g->ir, end);
	ir_place(g->ir, negative);
	back = ir_reg(g->ir);
	ir_neg(g->ir, back, b);
	shift_one_way(g, !left, is_signed, r, a, back);
	ir_place(g->ir, end);
	return r;
}

static vreg binary(struct gen *g, const struct expr *e, vreg a, vreg b, label null)
{
	if (e->op == OP_ADD || e->op == OP_SUB) {
		if (e->may_overflow)
			return add_sub_checked(g, e, a, b, null);
		return gen_alu(g, e->op == OP_ADD ? IR_ADD : IR_SUB, a, b);
	}
	if (e->op == OP_MUL && e->may_overflow)
		return multiply_checked(g, e, a, b, null);
	if (e->op == OP_MUL)
		return gen_alu(g, IR_MUL, a, b);
	if (e->op == OP_DIV || e->op == OP_MOD)
		return divide(g, e, a, b, null);
	if (e->op == OP_BIT_AND || e->op == OP_BIT_OR)
		return gen_alu(g, e->op == OP_BIT_AND ? IR_AND : IR_OR, a, b);
	return shift(g, e, a, b);
}

/* Small constants become immediates. */
static bool has_immediate(const struct expr *e, enum ir_alu *ret_op)
{
	static const s8 ops[] = {
		[OP_ADD] = IR_ADD,   [OP_SUB] = IR_SUB, [OP_MUL] = IR_MUL, [OP_BIT_AND] = IR_AND,
		[OP_BIT_OR] = IR_OR, [OP_DIV] = IR_DIV, [OP_MOD] = IR_MOD
	};

	if (e->n_args != 2 || e->args[1]->kind != EXPR_INTEGER || e->may_overflow)
		return false;
	if (e->op > OP_BIT_OR)
		return false;
	if ((e->op == OP_DIV || e->op == OP_MOD) && (!both_positive(e) || e->args[1]->integer == 0))
		return false;
	*ret_op = (enum ir_alu)ops[e->op];
	return true;
}

vreg gen_arithmetic(struct gen *g, const struct expr *e, label null)
{
	vreg a = gen_value(g, e->args[0], null), b;
	enum ir_alu op;

	ir_at(g->ir, e->span);
	if (has_immediate(e, &op))
		return gen_alui(g, op, a, (s64)(u64)e->args[1]->integer);
	if (e->n_args == 1) {
		if (e->has_signed_arguments)
			require_signed(g, e->args[0], a, null);
		if (e->op == OP_PLUS)
			return a;
		if (e->op == OP_BIT_NOT)
			return gen_alui(g, IR_XOR, a, -1);
		/* 2^63, the negative of which fits, and -2^63, whose does not, are the same bits.
		 */
		if (e->may_overflow)
			gen_requirei(g, e->args[0]->lo < 0 ? IR_NE : IR_LE, a, INT64_MIN, null);
		b = ir_reg(g->ir);
		ir_neg(g->ir, b, a);
		return b;
	}
	if ((e->op == OP_SHIFT_LEFT || e->op == OP_SHIFT_RIGHT) && e->args[1]->kind == EXPR_INTEGER)
		return shift_by_constant(g, e, a, e->args[1]->integer);
	b = gen_value(g, e->args[1], null);
	/* Beside a NULL no value is one too large. */
	if (e->has_signed_arguments) {
		require_signed(g, e->args[0], a, null);
		require_signed(g, e->args[1], b, null);
	}
	return binary(g, e, a, b, null);
}
