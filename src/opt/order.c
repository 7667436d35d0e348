/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Rule order: conjuncts by what they cost to test, cheapest first; equal ones
 * stay as written.  A conjunct that can fault (x / 0) never moves before one
 * that was written ahead of it: the user may have guarded it so.
 */
#include "opt/rules.h"

/* Rough cost in ns; the measured ones are in ARCHITECTURE.md, "What things cost". */
static u32 leaf_cost(const struct expr *e)
{
	if (e->kind == EXPR_FIELD)
		return e->type.kind == TYPE_TEXT ? 20 : 1;
	if (e->kind == EXPR_MEMBER)
		return 25;
	if (e->kind == EXPR_LIKE)
		return 40;
	if (e->kind != EXPR_SYSTEM)
		return 1;
	switch (e->index) {
	case SYS_CPU:
	case SYS_PROBE:
		return 1;
	case SYS_TIME:
		return 30;
	case SYS_COMM:
		return 50;
	case SYS_PPID:
		return 40;
	default:
		return 5;
	}
}

static u32 cost(const struct expr *e)
{
	u32 sum = leaf_cost(e);

	for (u32 i = 0; i < e->n_args; i++)
		sum += cost(e->args[i]);
	return sum;
}

static void order_plan(struct plan *p, struct arena *arena)
{
	struct expr **sorted = arena_array(arena, struct expr *, p->n_conjuncts);

	for (u32 i = 0; i < p->n_conjuncts; i++) {
		struct expr *e = p->conjuncts[i];
		u32 at = i;

		while (at > 0 && !e->nullable && cost(sorted[at - 1]) > cost(e)) {
			sorted[at] = sorted[at - 1];
			at--;
		}
		sorted[at] = e;
	}
	p->conjuncts = sorted;
}

struct plan *opt_order(struct plan *plan, struct arena *arena)
{
	return opt_map(plan, arena, order_plan);
}
