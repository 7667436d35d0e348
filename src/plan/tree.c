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
