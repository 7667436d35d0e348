/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Rule unused: a LEFT join whose right side nothing reads goes.  It gives each row of
 * its left side once, with or without a partner; so a view may offer columns that cost
 * a hook and a table, and only queries that name them pay.  One that can fault stays.
 */
#include "opt/rules.h"

/* A bit for each source that something above reads. */
static void mark(void *context, struct expr *e)
{
	u64 *used = context;

	if (e->kind == EXPR_FIELD || e->kind == EXPR_SYSTEM || e->kind == EXPR_RUNNING)
		*used |= 1ull << e->source;
	/* Also where every branch is a constant: which one is taken depends on the row. */
	for (u32 i = 0; e->kind == EXPR_UNION && i < e->n_args; i++)
		*used |= 1ull << e->branches[i];
}

/* What a tree of FROM reads, and may computing the rows of its operators fault? */
struct tree {
	u64 sources;
	const struct plan *at;
	bool can_fault;
};

static void find_fault(void *context, struct expr **e)
{
	struct tree *tree = context;

	tree->can_fault |= expr_can_fault(*e, tree->at);
}

static void look_at(void *context, struct plan *p)
{
	struct tree *tree = context;

	tree->at = p;
	if (p->kind == PLAN_SCAN)
		tree->sources |= 1ull << p->scan.source;
	plan_each_expr(p, find_fault, tree);
}

static bool is_unused(struct plan *p, u64 used_sources)
{
	struct tree right = { 0 };

	if (p->kind != PLAN_JOIN || !p->join.is_left)
		return false;
	plan_each(p->right, look_at, &right);
	look_at(&right, p);
	return !(right.sources & used_sources) && !right.can_fault;
}

/* Only operators above a join read its right side: they were all marked on the way down. */
static struct plan *prune(struct plan *p, u64 used, struct arena *arena)
{
	struct plan *copy, **below;

	while (is_unused(p, used))
		p = p->input;
	copy = plan_copy(p, arena);
	plan_each_own(copy, mark, &used);
	for (u32 i = 0; !plan_reads_selects(p) && (below = plan_slot(copy, i)); i++)
		*below = prune(*below, used, arena);
	return copy;
}

struct plan *opt_unused(struct plan *plan, struct arena *arena)
{
	return prune(plan, 0, arena);
}
