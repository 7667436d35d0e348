/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Rule split: a filter on a AND b becomes a filter on the two conjuncts, and a
 * conjunct that is always true goes.  A filter takes rows whose every conjunct
 * is true, so NULL and false need not be told apart.
 */
#include "opt/rules.h"

void opt_split(struct plan *p, const struct settings *settings, struct arena *arena)
{
	expr_vec all = { 0 }, kept = { 0 };

	for (u32 i = 0; i < p->filter.n_conjuncts; i++)
		expr_conjuncts(arena, p->filter.conjuncts[i], &all);
	for (u32 i = 0; i < all.n; i++)
		if (all.at[i]->kind != EXPR_INTEGER || all.at[i]->integer == 0)
			vec_push(arena, &kept, all.at[i]);
	p->filter.conjuncts = kept.at;
	p->filter.n_conjuncts = kept.n;
}
