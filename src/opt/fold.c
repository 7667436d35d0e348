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

static bool is_literal(const struct expr *e)
{
	return is_integer(e) || e->kind == EXPR_REAL || e->kind == EXPR_TEXT;
}

/* -1: unknown, else the truth of a constant condition. */
static int truth(const struct expr *e)
{
	return is_integer(e) ? e->integer != 0 : -1;
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

static struct expr *fold_case(struct expr *e, struct arena *arena)
{
	/* Only the first WHEN is looked at: enough for constants written by hand. */
	int first = truth(e->args[0]);
	struct expr *arm = first > 0 ? e->args[1] : e->n_args == 3 ? e->args[2] : NULL;

	/* Signed and unsigned arms: a value that no 64 bits hold with the others is NULL. */
	if (first < 0 || e->n_args != 3 || e->may_overflow)
		return e;
	/* The types of integers too: what comes of it must not hang on the rule. */
	if (type_equal(arm->type, e->type))
		return arm;
	return is_integer(arm) && type_is_word(e->type) ? constant(arena, e, arm->integer) : e;
}

/* The range of what is computed of constants is its value; none where it is NULL (x / 0). */
static struct expr *fold_constants(struct expr *e, struct arena *arena)
{
	struct expr of = *e;

	of.nullable = false;
	expr_infer(&of);
	if (of.nullable || of.lo != of.hi || of.lo < e->lo || of.hi > e->hi)
		return e;
	return constant(arena, e, of.lo);
}

static struct expr *fold_expr(void *context, struct expr *e)
{
	const struct fold *f = context;
	struct arena *arena = f->arena;
	const struct expr *a = e->n_args ? e->args[0] : NULL;
	const struct expr *b = e->n_args > 1 ? e->args[1] : NULL;

	if (e->kind == EXPR_CASE)
		return fold_case(e, arena);
	/* Of literals: a parameter's value may be NULL, for "of all". */
	if (e->kind == EXPR_IS_NULL && (a->kind == EXPR_NULL || is_literal(a)))
		return constant(arena, e, a->kind == EXPR_NULL);
	if (e->kind != EXPR_OP)
		return e;
	/* Also of what only user space can compute: a side that decides keeps it in the kernel. */
	if (e->op == OP_AND || e->op == OP_OR || e->op == OP_NOT)
		return fold_logic(e, f);
	if (e->is_user_only)
		return e;
	if (!type_is_word(a->type) || (b && !type_is_word(b->type)))
		return e;
	if (e->op >= OP_EQ && e->op <= OP_IS_NOT) {
		int decided = decide(e->op, a, b);

		if (decided >= 0 && !a->nullable && !b->nullable && !expr_can_fault(e, f->tree))
			return constant(arena, e, decided);
		return e;
	}
	if (!is_integer(a) || (b && !is_integer(b)) || is_refused(e))
		return e;
	return fold_constants(e, arena);
}

void opt_fold(struct plan *p, const struct settings *settings, struct arena *arena)
{
	plan_map_expr(p, arena, fold_expr, &(struct fold){ arena, p });
}
