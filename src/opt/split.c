/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Rule split: a filter on a AND b becomes a filter on the two conjuncts, and a
 * conjunct that is always true goes.  A filter takes rows whose every conjunct
 * is true, so NULL and false need not be told apart.
 */
#include "opt/rules.h"

static void collect(struct expr *e, expr_vec *conjuncts, struct arena *arena)
{
	if (e->kind == EXPR_OP && e->op == OP_AND) {
		collect(e->args[0], conjuncts, arena);
		collect(e->args[1], conjuncts, arena);
		return;
	}
	if (e->kind == EXPR_INTEGER && e->integer != 0)
		return;
	vec_push(arena, conjuncts, e);
}

static void split_plan(struct plan *p, struct arena *arena)
{
	expr_vec conjuncts = { 0 };

	for (u32 i = 0; i < p->filter.n_conjuncts; i++)
		collect(p->filter.conjuncts[i], &conjuncts, arena);
	p->filter.conjuncts = conjuncts.at;
	p->filter.n_conjuncts = conjuncts.n;
}

struct plan *opt_split(struct plan *plan, struct arena *arena)
{
	return opt_map(plan, arena, split_plan);
}
