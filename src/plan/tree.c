/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Questions about plans: which part is FROM, whose events make a row appear, and
 * which sources an expression reads.
 */
#include "plan/plan.h"

const struct plan *plan_find(const struct plan *plan, enum plan_kind kind)
{
	while (plan && plan->kind != kind)
		plan = plan->input;
	return plan;
}

const struct plan *plan_rows(const struct plan *plan)
{
	const struct plan *aggregate = plan_find(plan, PLAN_AGGREGATE);
	const struct plan *project = plan_find(plan, PLAN_PROJECT);

	if (aggregate)
		return aggregate->input;
	return project ? project->input : plan;
}

u32 plan_trigger(const struct plan *plan)
{
	while (plan->kind != PLAN_SCAN)
		plan = plan->kind == PLAN_UNION ? plan->inputs[0] : plan->input;
	return plan->scan.source;
}

u32 plan_n_sources(const struct plan *plan)
{
	u32 n = plan->kind == PLAN_SCAN;

	if (plan->input)
		n += plan_n_sources(plan->input);
	if (plan->right)
		n += plan_n_sources(plan->right);
	for (u32 i = 0; i < plan->n_inputs; i++)
		n += plan_n_sources(plan->inputs[i]);
	return n;
}

bool plan_has_source(const struct plan *plan, u32 source)
{
	if (plan->kind == PLAN_SCAN)
		return plan->scan.source == source;
	if (plan->input && plan_has_source(plan->input, source))
		return true;
	if (plan->right && plan_has_source(plan->right, source))
		return true;
	for (u32 i = 0; i < plan->n_inputs; i++)
		if (plan_has_source(plan->inputs[i], source))
			return true;
	return false;
}

/* 0: reads nothing, 1: of the tree only, -1: of others too */
static int reads(const struct expr *e, const struct plan *tree)
{
	int all = 0;

	if (e->kind == EXPR_FIELD || e->kind == EXPR_SYSTEM || e->kind == EXPR_RUNNING)
		return plan_has_source(tree, e->source) ? 1 : -1;
	/* Which branch the row is of is something read, be the branches constants. */
	for (u32 i = 0; e->kind == EXPR_UNION && i < e->n_args; i++) {
		if (!plan_has_source(tree, e->branches[i]))
			return -1;
		all = 1;
	}
	for (u32 i = 0; i < e->n_args; i++) {
		int one = reads(e->args[i], tree);

		if (one < 0)
			return -1;
		all |= one;
	}
	return all;
}

bool expr_is_of(const struct expr *expr, const struct plan *tree)
{
	return reads(expr, tree) > 0;
}

void plan_each(struct plan *plan, void (*visit)(void *context, struct plan *plan), void *context)
{
	visit(context, plan);
	if (plan->input)
		plan_each(plan->input, visit, context);
	if (plan->right)
		plan_each(plan->right, visit, context);
	for (u32 i = 0; i < plan->n_inputs; i++)
		plan_each(plan->inputs[i], visit, context);
}

typedef void visit_expr(void *context, struct expr **expr);

static void visit_list(struct expr **list, u32 n, visit_expr *visit, void *context)
{
	for (u32 i = 0; i < n; i++)
		visit(context, &list[i]);
}

static void visit_items(struct item *items, u32 n, visit_expr *visit, void *context)
{
	for (u32 i = 0; i < n; i++)
		visit(context, &items[i].expr);
}

static void visit_sort(struct sort_key *keys, u32 n, visit_expr *visit, void *context)
{
	for (u32 i = 0; i < n; i++)
		visit(context, &keys[i].expr);
}

static void visit_aggregate(struct aggregate *a, visit_expr *visit, void *context)
{
	struct expr **const all[] = { &a->arg, &a->filter, &a->time, &a->weight, &a->separator };

	for (u32 i = 0; i < ARRAY_SIZE(all); i++)
		if (*all[i])
			visit(context, all[i]);
}

static void visit_over(struct over *o, visit_expr *visit, void *context)
{
	if (o->aggregate)
		visit_aggregate(o->aggregate, visit, context);
	visit_list(o->args, o->n_args, visit, context);
	visit_list(o->partition, o->n_partition, visit, context);
	visit_sort(o->order, o->n_order, visit, context);
}

void plan_each_expr(struct plan *p, void (*visit)(void *context, struct expr **expr), void *context)
{
	visit_list(p->filter.conjuncts, p->filter.n_conjuncts, visit, context);
	visit_items(p->aggregate.keys, p->aggregate.n_keys, visit, context);
	for (u32 i = 0; i < p->aggregate.n; i++)
		visit_aggregate(&p->aggregate.list[i], visit, context);
	for (u32 i = 0; i < p->over.n; i++)
		visit_over(&p->over.list[i], visit, context);
	visit_items(p->project.items, p->project.n_items, visit, context);
	visit_sort(p->sort.keys, p->sort.n_keys, visit, context);
	visit_list(p->shared, p->n_shared, visit, context);
	for (u32 i = 0; i < p->join.n_keys; i++) {
		visit(context, &p->join.keys[i].left);
		visit(context, &p->join.keys[i].right);
	}
	if (p->relate.on)
		visit(context, &p->relate.on);
	if (p->running.arg)
		visit(context, &p->running.arg);
	visit_list(p->running.keys, p->running.n_keys, visit, context);
}
