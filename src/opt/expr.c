/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What several rules ask of expressions, and rewriting them by copy: is it a function of
 * these others?
 */

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
	copy = expr_copy(arena, e);
	for (u32 i = 0; i < e->n_args; i++) {
		copy->args[i] = opt_rewrite(e->args[i], from, to, n, arena);
		if (!copy->args[i])
			return NULL;
	}
	return copy;
}
