/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A bound plan -> what of user programs' memory its rows may carry.
 */
#include "plan/plan.h"

static void note(void *context, struct expr *e)
{
	const struct expr **found = context;

	if (*found)
		return;
	if (e->kind == EXPR_MEMBER &&
	    (e->is_of_user || e->read == READ_TEXT || e->read == READ_TEXTS))
		*found = e;
	else if (e->plan)
		*found = plan_payload(e->plan);
}

static void note_root(void *context, struct expr **expr)
{
	expr_each(*expr, note, context);
}

/* Conditions compare it, and hand on what else there is. */
static void note_operator(void *context, struct plan *plan)
{
	if (plan->kind != PLAN_FILTER)
		plan_each_expr(plan, note_root, context);
}

const struct expr *plan_payload(struct plan *plan)
{
	const struct expr *found = NULL;

	plan_each(plan, note_operator, &found);
	return found;
}
