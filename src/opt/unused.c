/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Rule unused: a LEFT join whose right side nothing reads goes.  It gives each row of
 * its left side once, with or without a partner; so a view may offer columns that cost
 * a hook and a table, and only queries that name them pay.  One that can fault stays.
 */
#include "opt/rules.h"

/* Sources that something above reads. */
struct used {
	u64 sources;
};

static void mark_plan(void *context, struct plan *p);

static void mark(void *context, struct expr *e)
{
	struct used *used = context;

	if (e->plan)
		plan_each(e->plan, mark_plan, used);

	if (e->kind == EXPR_FIELD || e->kind == EXPR_SYSTEM || e->kind == EXPR_RUNNING)
		used->sources |= 1ull << e->source;
	/* Also where every branch is a constant: which one is taken depends on the row. */
	for (u32 i = 0; e->kind == EXPR_UNION && i < e->n_args; i++)
		used->sources |= 1ull << e->branches[i];
}

static void mark_slot(void *context, struct expr **e)
{
	expr_each(*e, mark, context);
}

static void mark_plan(void *context, struct plan *p)
{
	plan_each_expr(p, mark_slot, context);
}

/* What an operator itself reads, without those below it. */
static void mark_operator(const struct plan *p, struct used *used)
{
	plan_each_expr((struct plan *)p, mark_slot, used);
}

static u64 sources_of(const struct plan *p)
{
	u64 all = p->kind == PLAN_SCAN ? 1ull << p->scan.source : 0;

	if (p->input)
		all |= sources_of(p->input);
	if (p->right)
		all |= sources_of(p->right);
	for (u32 i = 0; i < p->n_inputs; i++)
		all |= sources_of(p->inputs[i]);
	return all;
}

static bool any_can_fault(struct expr *const *e, u32 n, const struct plan *tree)
{
	for (u32 i = 0; i < n; i++)
		if (expr_can_fault(e[i], tree))
			return true;
	return false;
}

/* What the operators of a tree of FROM compute of each row. */
static bool rows_can_fault(const struct plan *p)
{
	if (any_can_fault(p->filter.conjuncts, p->filter.n_conjuncts, p) ||
	    (p->running.arg && expr_can_fault(p->running.arg, p)) ||
	    any_can_fault(p->running.keys, p->running.n_keys, p))
		return true;
	for (u32 i = 0; i < p->join.n_keys; i++)
		if (expr_can_fault(p->join.keys[i].left, p) ||
		    expr_can_fault(p->join.keys[i].right, p))
			return true;
	if ((p->input && rows_can_fault(p->input)) || (p->right && rows_can_fault(p->right)))
		return true;
	for (u32 i = 0; i < p->n_inputs; i++)
		if (rows_can_fault(p->inputs[i]))
			return true;
	return false;
}

static bool is_unused(const struct plan *p, u64 used_sources)
{
	if (p->kind != PLAN_JOIN || !p->join.is_left || (sources_of(p->right) & used_sources) ||
	    rows_can_fault(p->right))
		return false;
	for (u32 i = 0; i < p->join.n_keys; i++)
		if (expr_can_fault(p->join.keys[i].left, p) ||
		    expr_can_fault(p->join.keys[i].right, p))
			return false;
	return true;
}

/* Only operators above a join read its right side: they were all marked on the way down. */
static struct plan *prune(const struct plan *p, struct used used, struct arena *arena)
{
	struct plan *copy;

	while (is_unused(p, used.sources))
		p = p->input;
	copy = arena_new(arena, struct plan);
	*copy = *p;
	mark_operator(p, &used);
	if (p->kind == PLAN_DERIVED || p->kind == PLAN_SET)
		return copy;
	if (p->input)
		copy->input = prune(p->input, used, arena);
	if (p->right)
		copy->right = prune(p->right, used, arena);
	if (p->n_inputs)
		copy->inputs = arena_array(arena, struct plan *, p->n_inputs);
	for (u32 i = 0; i < p->n_inputs; i++)
		copy->inputs[i] = prune(p->inputs[i], used, arena);
	return copy;
}

struct plan *opt_unused(struct plan *plan, struct arena *arena)
{
	return prune(plan, (struct used){ 0 }, arena);
}
