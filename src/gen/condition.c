/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Conditions -> jumps, three-valued: NULL goes the way of yes or of no, whichever
 * the caller says, so AND, OR and NOT never compute a truth value.
 */
#include "gen/internal.h"

#define S64_HI ((s128)INT64_MAX)

/* On `condition` between a and b (0: the number), given which of the two labels is placed next. */
static void branch(struct gen *g, enum ir_condition condition, vreg a, vreg b, s64 number,
		   label yes, label no, label next)
{
	bool is_inverse = next == yes;

	if (is_inverse)
		condition = ir_inverse(condition);
	if (b)
		ir_branch(g->ir, condition, a, b, is_inverse ? no : yes);
	else
		ir_branchi(g->ir, condition, a, number, is_inverse ? no : yes);
	if (!is_inverse && next != no)
		ir_jump(g->ir, no);
}

static enum ir_condition ir_of(enum ast_op op, bool is_signed)
{
	static const u8 conditions[OP_N][2] = {
		[OP_EQ] = { IR_EQ, IR_EQ },  [OP_IS] = { IR_EQ, IR_EQ },
		[OP_NE] = { IR_NE, IR_NE },  [OP_IS_NOT] = { IR_NE, IR_NE },
		[OP_LT] = { IR_LT, IR_SLT }, [OP_LE] = { IR_LE, IR_SLE },
		[OP_GT] = { IR_GT, IR_SGT }, [OP_GE] = { IR_GE, IR_SGE },
	};

	return (enum ir_condition)conditions[op][is_signed];
}

static void compare(struct gen *g, const struct expr *e, vreg a, vreg b, label yes, label no,
		    label next)
{
	const struct expr *x = e->args[0], *y = e->args[1];
	bool positive = x->lo >= 0 && y->lo >= 0;
	bool is_signed = !positive && x->hi <= S64_HI && y->hi <= S64_HI;

	if (!positive && !is_signed && y->kind == EXPR_INTEGER && y->integer < 0) {
		/* x reaches past 2^63 and so is never negative. */
		ir_jump(g->ir, gen_order_holds(e->op, 1) ? yes : no);
		return;
	}
	if (!positive && !is_signed) {
		/* One side may be negative, the other 2^63 and more: the sign decides first. */
		if (x->lo < 0)
			ir_branchi(g->ir, IR_SLT, a, 0, gen_order_holds(e->op, -1) ? yes : no);
		else
			ir_branchi(g->ir, IR_SLT, b, 0, gen_order_holds(e->op, 1) ? yes : no);
	}
	if (y->kind == EXPR_INTEGER)
		b = 0;
	branch(g, ir_of(e->op, is_signed), a, b, (s64)(u64)y->integer, yes, no, next);
}

/* Can it go to its label for NULL?  A text read through an offset or a pointer can fail. */
static bool may_be_null(const struct gen *g, const struct expr *e)
{
	if (e->nullable)
		return true;
	if (e->kind == EXPR_FIELD && gen_is_text(e) && gen_field_of(g, e)->kind != FIELD_FIXED)
		return true;
	for (u32 i = 0; i < e->n_args; i++)
		if (may_be_null(g, e->args[i]))
			return true;
	return false;
}

/* IS and IS NOT: NULL is NULL; both sides may be. */
static void compare_is(struct gen *g, const struct expr *e, label yes, label no)
{
	label same = e->op == OP_IS ? yes : no, differ = e->op == OP_IS ? no : yes;
	label left_null = ir_label(g->ir);
	u32 fork = gen_fork(g);
	/* Texts are read one by one for their NULLs; the comparison then finds both computed. */
	vreg a = gen_operand(g, e->args[0], left_null).reg;
	vreg b = gen_operand(g, e->args[1], differ).reg;

	if (gen_is_text(e->args[0]))
		gen_text_condition(g, e, yes, no, no);
	else
		compare(g, e, a, b, yes, no, 0);
	gen_join(g, fork);
	ir_place(g->ir, left_null);
	gen_operand(g, e->args[1], same);
	ir_jump(g->ir, differ);
	gen_join(g, fork);
}

static void comparison(struct gen *g, const struct expr *e, label yes, label no, label null,
		       label next)
{
	const struct expr *x = e->args[0], *y = e->args[1];
	vreg a, b = 0;

	if (x->type.kind == TYPE_NULL || y->type.kind == TYPE_NULL) {
		ir_jump(g->ir, null);
		return;
	}
	if ((e->op == OP_IS || e->op == OP_IS_NOT) && (may_be_null(g, x) || may_be_null(g, y))) {
		compare_is(g, e, yes, no);
		return;
	}
	if (gen_is_text(x)) {
		gen_text_condition(g, e, yes, no, null);
		return;
	}
	a = gen_value(g, x, null);
	if (y->kind != EXPR_INTEGER)
		b = gen_value(g, y, null);
	ir_at(g->ir, e->span);
	compare(g, e, a, b, yes, no, next);
}

/* Is everything that the condition reads computed before its first branch? */
static bool is_straight(const struct expr *e)
{
	return e->kind == EXPR_IN || e->kind == EXPR_LIKE ||
	       (e->kind == EXPR_OP && e->op >= OP_EQ && e->op <= OP_GE);
}

bool gen_is_straight(const struct gen *g, const struct expr *e)
{
	return is_straight(e) && !may_be_null(g, e);
}

static void logic(struct gen *g, const struct expr *e, label yes, label no, label null, label next)
{
	bool is_and = e->op == OP_AND;
	const struct expr *a = e->args[0], *b = e->args[1];
	label middle = ir_label(g->ir);
	/* The side that does not decide goes on to the other; NULL does what it does at the end,
	 * unless the other side can still decide. */
	label a_yes = is_and ? middle : yes, a_no = is_and ? no : middle;
	label a_null = is_and == (null == no) ? null : middle;
	u32 fork = gen_fork(g);

	gen_condition(g, a, a_yes, a_no, a_null, middle);
	ir_place(g->ir, middle);
	if (!is_straight(a) || (a_null == middle && may_be_null(g, a)))
		gen_join(g, fork);
	fork = gen_fork(g);
	gen_condition(g, b, yes, no, null, next);
	gen_join(g, fork);
}

static void is_null(struct gen *g, const struct expr *e, label yes, label no)
{
	const struct expr *x = e->args[0];
	u32 fork = gen_fork(g);

	if (x->kind == EXPR_NULL) {
		ir_jump(g->ir, yes);
		return;
	}
	if (x->nullable)
		gen_operand(g, x, yes);
	ir_jump(g->ir, no);
	gen_join(g, fork);
}

void gen_condition(struct gen *g, const struct expr *e, label yes, label no, label null, label next)
{
	BUG_ON(null != yes && null != no);
	ir_at(g->ir, e->span);
	if (expr_is_null(e) || e->type.kind == TYPE_NULL) {
		ir_jump(g->ir, null);
	} else if (e->kind == EXPR_INTEGER) {
		ir_jump(g->ir, e->integer ? yes : no);
	} else if (gen_stored(g, e)) {
		branch(g, IR_NE, gen_value(g, e, null), 0, 0, yes, no, next);
	} else if (e->kind == EXPR_UNION) {
		gen_condition(g, gen_branch_of(g, e), yes, no, null, next);
	} else if (e->kind == EXPR_LIKE || (e->kind == EXPR_IN && gen_is_text(e->args[0]))) {
		gen_text_condition(g, e, yes, no, null);
	} else if (e->kind == EXPR_IN) {
		gen_in(g, e, yes, no, null);
	} else if (e->kind == EXPR_IS_NULL) {
		is_null(g, e, yes, no);
	} else if (e->kind == EXPR_OP && (e->op == OP_AND || e->op == OP_OR)) {
		logic(g, e, yes, no, null, next);
	} else if (e->kind == EXPR_OP && e->op == OP_NOT) {
		gen_condition(g, e->args[0], no, yes, null, next);
	} else if (e->kind == EXPR_OP && e->op >= OP_EQ && e->op <= OP_IS_NOT) {
		comparison(g, e, yes, no, null, next);
	} else {
		branch(g, IR_NE, gen_value(g, e, null), 0, 0, yes, no, next);
	}
}
