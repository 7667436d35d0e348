/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What several rules ask of expressions, and rewriting them by copy: is it a function of
 * these others, what is it in one branch of a union.
 */
#include <string.h>

#include "opt/rules.h"

bool opt_contains(const struct expr *e, const struct expr *part)
{
	if (expr_equal(e, part))
		return true;
	for (u32 i = 0; e->kind != EXPR_UNION && i < e->n_args; i++)
		if (opt_contains(e->args[i], part))
			return true;
	return false;
}

/* Of one with arguments. */
static struct expr *copied(const struct expr *e, struct arena *arena)
{
	struct expr *copy = arena_new(arena, struct expr);

	*copy = *e;
	copy->args = arena_array(arena, struct expr *, e->n_args);
	memcpy(copy->args, e->args, e->n_args * sizeof(*e->args));
	return copy;
}

struct expr *opt_rewrite(struct expr *e, struct expr *const *from, struct expr *const *to, u32 n,
			 struct arena *arena)
{
	struct expr *copy;

	for (u32 i = 0; i < n; i++)
		if (from[i] && expr_equal(e, from[i]))
			return to[i];
	if (e->kind == EXPR_FIELD || e->kind == EXPR_SYSTEM || e->kind == EXPR_RUNNING ||
	    e->kind == EXPR_UNION)
		return NULL;
	if (!e->n_args)
		return e;
	copy = copied(e, arena);
	for (u32 i = 0; i < e->n_args; i++) {
		copy->args[i] = opt_rewrite(e->args[i], from, to, n, arena);
		if (!copy->args[i])
			return NULL;
	}
	return copy;
}

struct expr *opt_branch(struct expr *e, u32 trigger, struct arena *arena)
{
	struct expr *copy = NULL;

	if (e->kind == EXPR_UNION) {
		for (u32 i = 0; i < e->n_args; i++) {
			if (e->branches[i] != trigger)
				continue;
			if (e->args[i]->kind != EXPR_NULL)
				return e->args[i];
			/* A NULL of the column's type: what stands above compares by it. */
			copy = expr_new(arena, EXPR_NULL, e->span);
			copy->type = e->type;
			copy->nullable = true;
			return copy;
		}
		return e;
	}
	for (u32 i = 0; i < e->n_args; i++) {
		struct expr *arg = opt_branch(e->args[i], trigger, arena);

		if (arg == e->args[i])
			continue;
		if (!copy)
			copy = copied(e, arena);
		copy->args[i] = arg;
	}
	return copy ? copy : e;
}

struct plan *opt_filter(struct plan *input, struct expr *const *conjuncts, u32 n,
			struct arena *arena)
{
	struct plan *p;

	if (!n)
		return input;
	p = arena_new(arena, struct plan);
	p->kind = PLAN_FILTER;
	p->input = input;
	p->span = conjuncts[0]->span;
	p->limit.count = -1;
	p->filter.n_conjuncts = n;
	p->filter.conjuncts = arena_array(arena, struct expr *, n);
	memcpy(p->filter.conjuncts, conjuncts, n * sizeof(*conjuncts));
	return p;
}
