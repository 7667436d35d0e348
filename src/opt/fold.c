/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Rule fold: operators over constants become constants; a comparison that the
 * ranges of its sides decide, and AND, OR, CASE with a decided side, shrink.
 * What may be NULL is never decided by its range, and what can fault stays.
 */
#include "opt/rules.h"

struct fold {
	struct arena *arena;
	const struct plan *tree; /* whose rows it is computed for */
};

static struct expr *constant(struct arena *arena, const struct expr *e, s128 value)
{
	return expr_integer(arena, e->span, e->type, value);
}

static bool is_integer(const struct expr *e)
{
	return e->kind == EXPR_INTEGER;
}

/* -1: unknown, else the truth of a constant condition. */
static int truth(const struct expr *e)
{
	return is_integer(e) ? e->integer != 0 : -1;
}

/* A constant of 2^63 and more, shifted right, stays unsigned. */
static s128 fold_shift(enum ast_op op, s128 a, s128 amount)
{
	bool left = (op == OP_SHIFT_LEFT) == (amount >= 0);

	if (amount < 0)
		amount = -amount;
	if (left)
		return amount > 63 ? 0 : (s64)((u64)a << amount);
	return amount > 63 ? (a < 0 ? -1 : 0) : a >> amount;
}

/* The value of op over constants; false: none (x / 0, or it does not fit the type). */
static bool fold_op(const struct expr *e, s128 a, s128 b, s128 *ret)
{
	switch (e->op) {
	case OP_ADD:
		*ret = a + b;
		break;
	case OP_SUB:
		*ret = a - b;
		break;
	case OP_MUL:
		if (__builtin_mul_overflow(a, b, ret))
			return false;
		break;
	case OP_DIV:
	case OP_MOD:
		if (b == 0)
			return false;
		*ret = e->op == OP_DIV ? a / b : a % b;
		break;
	case OP_BIT_AND:
		*ret = a & b;
		break;
	case OP_BIT_OR:
		*ret = a | b;
		break;
	case OP_SHIFT_LEFT:
	case OP_SHIFT_RIGHT:
		*ret = fold_shift(e->op, a, b);
		break;
	case OP_NEG:
		*ret = -a;
		break;
	case OP_BIT_NOT:
		*ret = ~a;
		break;
	case OP_PLUS:
		*ret = a;
		break;
	case OP_CONCAT:
	case OP_EQ:
	case OP_NE:
	case OP_LT:
	case OP_LE:
	case OP_GT:
	case OP_GE:
	case OP_IS:
	case OP_IS_NOT:
	case OP_AND:
	case OP_OR:
	case OP_NOT:
	case OP_N:
		return false; /* of texts; decide(), fold_logic() */
	}
	return *ret >= e->lo && *ret <= e->hi;
}

/* 1 true, 0 false, -1 not decided by the ranges. */
static int decide(enum ast_op op, const struct expr *a, const struct expr *b)
{
	bool below = a->hi < b->lo, not_above = a->hi <= b->lo;
	bool above = a->lo > b->hi, not_below = a->lo >= b->hi;
	bool same = a->lo == a->hi && b->lo == b->hi && a->lo == b->lo;

	if (op == OP_EQ || op == OP_IS)
		return same ? 1 : below || above ? 0 : -1;
	if (op == OP_NE || op == OP_IS_NOT)
		return same ? 0 : below || above ? 1 : -1;
	if (op == OP_LT)
		return below ? 1 : not_below ? 0 : -1;
	if (op == OP_LE)
		return not_above ? 1 : above ? 0 : -1;
	if (op == OP_GT)
		return above ? 1 : not_above ? 0 : -1;
	return not_below ? 1 : below ? 0 : -1;
}

static struct expr *fold_logic(struct expr *e, const struct fold *f)
{
	struct arena *arena = f->arena;
	struct expr *a = e->args[0], *b = e->n_args > 1 ? e->args[1] : NULL;

	if (e->op == OP_NOT)
		return truth(a) >= 0 ? constant(arena, e, !truth(a)) : e;
	int ends = e->op == OP_OR; /* the value that decides by itself */

	if (truth(a) == ends || (truth(b) == ends && !expr_can_fault(a, f->tree)))
		return constant(arena, e, ends);
	if (truth(a) == !ends && b->type.kind == TYPE_BOOL)
		return b;
	if (truth(b) == !ends && a->type.kind == TYPE_BOOL)
		return a;
	return e;
}

/* Programs compute this on signed words: a value of 2^63 and more is NULL and a fault. */
static bool is_refused(const struct expr *e)
{
	bool is_big = false;

	for (u32 i = 0; i < e->n_args; i++)
		is_big |= e->args[i]->integer > INT64_MAX;
	return is_big && expr_rule(e) == 'S';
}

/* The types of integers too: what comes of it must not hang on the rule. */
static bool is_same_type(struct type a, struct type b)
{
	return a.kind == b.kind && a.bits == b.bits && a.is_signed == b.is_signed &&
	       a.clock == b.clock;
}

static struct expr *fold_case(struct expr *e, struct arena *arena)
{
	/* Only the first WHEN is looked at: enough for constants written by hand. */
	int first = truth(e->args[0]);
	struct expr *arm = first > 0 ? e->args[1] : e->n_args == 3 ? e->args[2] : NULL;

	/* Signed and unsigned arms: a value that no 64 bits hold with the others is NULL. */
	if (first < 0 || e->n_args != 3 || e->may_overflow)
		return e;
	if (is_same_type(arm->type, e->type))
		return arm;
	return is_integer(arm) && type_is_word(e->type) ? constant(arena, e, arm->integer) : e;
}

static struct expr *fold_expr(void *context, struct expr *e)
{
	const struct fold *f = context;
	struct arena *arena = f->arena;
	const struct expr *a = e->n_args ? e->args[0] : NULL;
	const struct expr *b = e->n_args > 1 ? e->args[1] : NULL;
	s128 value = 0;

	if (e->kind == EXPR_CASE)
		return fold_case(e, arena);
	if (e->kind != EXPR_OP || e->is_user_only)
		return e;
	if (e->op == OP_AND || e->op == OP_OR || e->op == OP_NOT)
		return fold_logic(e, f);
	if (!type_is_word(a->type) || (b && !type_is_word(b->type)))
		return e;
	if (e->op >= OP_EQ && e->op <= OP_IS_NOT) {
		int decided = decide(e->op, a, b);

		if (decided >= 0 && !a->nullable && !b->nullable && !expr_can_fault(e, f->tree))
			return constant(arena, e, decided);
		return e;
	}
	if (is_integer(a) && (!b || is_integer(b)) && !is_refused(e) &&
	    fold_op(e, a->integer, b ? b->integer : 0, &value))
		return constant(arena, e, value);
	return e;
}

static void fold_slot(void *context, struct expr **e)
{
	struct fold *f = context;

	*e = expr_map(f->arena, *e, fold_expr, f);
}

static void fold_plan(struct plan *p, struct arena *arena)
{
	plan_each_expr(p, fold_slot, &(struct fold){ arena, p });
}

struct plan *opt_fold(struct plan *plan, struct arena *arena)
{
	return opt_map(plan, arena, fold_plan);
}
