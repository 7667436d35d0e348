/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A node of an expression -> what it costs to compute it for a row, its operands apart.
 */
#include "plan/plan.h"

static enum cost member_cost(const struct expr *e)
{
	if (e->read == READ_NAME)
		return COST_FILE_NAME;
	if (e->read == READ_PATH)
		return COST_FILE_PATH;
	if (e->read == READ_POINTER)
		return COST_NONE;
	return e->is_of_user ? COST_USER : COST_MEMBER;
}

double expr_own_cost_ns(const struct expr *e, const struct costs *costs)
{
	if (e->kind == EXPR_FIELD)
		return cost_ns(costs, e->type.kind == TYPE_TEXT ? COST_TEXT : COST_NONE);
	if (e->kind == EXPR_MEMBER)
		return cost_ns(costs, member_cost(e));
	if (e->kind == EXPR_LIKE)
		return cost_ns(costs, COST_LIKE);
	if (e->kind != EXPR_SYSTEM)
		return cost_ns(costs, COST_NONE);
	return cost_ns(costs, system_columns[e->index].cost) +
	       (e->pid_ns ? cost_ns(costs, COST_IN_NAMESPACE) : 0);
}
