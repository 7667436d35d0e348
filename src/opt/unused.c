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

	if (e->plan)
		plan_each_node(e->plan, mark, used);
	if (e->kind == EXPR_FIELD || e->kind == EXPR_SYSTEM || e->kind == EXPR_RUNNING)
		*used |= 1ull << e->source;
	/* Also where every branch is a constant: which one is taken depends on the row. */
	for (u32 i = 0; e->kind == EXPR_UNION && i < e->n_args; i++)
		*used |= 1ull << e->branches[i];
}

static void mark_slot(void *context, struct expr **e)
{
	expr_each(*e, mark, context);
}

static u64 sources_of(const struct plan *p)
{
	u64 all = p->kind == PLAN_SCAN ? 1ull << p->scan.source : 0;
	const struct plan *below;

	for (u32 i = 0; (below = plan_child(p, i)); i++)
		all |= sources_of(below);
	return all;
}

struct faults {
	const struct plan *tree;
	bool can_fault;
};

static void find_fault(void *context, struct expr **e)
{
	struct faults *f = context;

	f->can_fault |= expr_can_fault(*e, f->tree);
}

/* What the operator computes of each row. */
static bool can_fault(const struct plan *p)
{
	struct faults f = { .tree = p };

	plan_each_expr((struct plan *)p, find_fault, &f);
	return f.can_fault;
}

/* What the operators of a tree of FROM compute of each row. */
static bool rows_can_fault(const struct plan *p)
{
	const struct plan *below;

	for (u32 i = 0; (below = plan_child(p, i)); i++)
		if (rows_can_fault(below))
			return true;
	return can_fault(p);
}

static bool is_unused(const struct plan *p, u64 used_sources)
{
	return p->kind == PLAN_JOIN && p->join.is_left && !(sources_of(p->right) & used_sources) &&
	       !rows_can_fault(p->right) && !can_fault(p);
}

/* Only operators above a join read its right side: they were all marked on the way down. */
static struct plan *prune(const struct plan *p, u64 used, struct arena *arena)
{
	struct plan *copy, **below;

	while (is_unused(p, used))
		p = p->input;
	copy = plan_copy(p, arena);
	plan_each_expr(copy, mark_slot, &used);
	for (u32 i = 0; !plan_reads_selects(p) && (below = plan_slot(copy, i)); i++)
		*below = prune(*below, used, arena);
	return copy;
}

struct plan *opt_unused(struct plan *plan, struct arena *arena)
{
	return prune(plan, 0, arena);
}
