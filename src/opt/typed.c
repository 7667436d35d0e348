/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Rule typed: members of the kernel's memory are loaded, where the kernel has loads that may fail:
 * these give 0.  So what is not 0 stands there; for a 0 a helper is asked, which can tell that it
 * failed.  What is NULL, and counts as a fault, is the same as without the rule.
 *
 * Which kernels have them is the physical plan's business: the rule says that they may be used.
 */
#include "opt/rules.h"

struct typed {
	struct arena *arena;
	VEC(u32) sources; /* of whose events members are read */
};

static void note_source(void *context, struct expr *e)
{
	struct typed *t = context;

	if (e->kind == EXPR_FIELD || e->kind == EXPR_SYSTEM)
		vec_push(t->arena, &t->sources, e->source);
}

static void note(void *context, struct expr *e)
{
	if (e->kind == EXPR_MEMBER && !e->is_of_user)
		expr_each(e, note_source, context);
}

static struct plan *map(const struct typed *t, struct plan *plan)
{
	struct plan *copy = plan_copy(plan, t->arena), **below;

	for (u32 i = 0; !plan_reads_selects(copy) && (below = plan_slot(copy, i)); i++)
		*below = map(t, *below);
	for (u32 i = 0; copy->kind == PLAN_SCAN && i < t->sources.n; i++)
		copy->scan.loads |= t->sources.at[i] == copy->scan.source;
	return copy;
}

struct plan *opt_typed(struct plan *plan, struct arena *arena)
{
	struct typed t = { .arena = arena };

	plan_each_node(plan, note, &t);
	return t.sources.n ? map(&t, plan) : plan;
}
