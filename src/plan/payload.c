/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A bound plan -> what of user programs' memory its rows may carry.
 */
#include "plan/plan.h"

struct look {
	const struct plan *at; /* whose expression it is */
	const struct expr *found;
};

/* An argument of a user probe that stands in memory is read there, before anything is asked. */
static bool is_argument(const struct plan *at, const struct expr *e)
{
	const struct plan *scan = e->kind == EXPR_FIELD ? plan_scan(at, e->source) : NULL;

	return scan && field_is_in_memory(scan->scan.streams, e->name);
}

static void note(void *context, struct expr *e)
{
	struct look *look = context;

	if (look->found)
		return;
	if (is_argument(look->at, e) ||
	    (e->kind == EXPR_MEMBER &&
	     (e->is_of_user || e->read == READ_TEXT || e->read == READ_TEXTS)))
		look->found = e;
	else if (e->plan)
		look->found = plan_payload(e->plan);
}

static void note_root(void *context, struct expr **expr)
{
	expr_each(*expr, note, context);
}

/* Conditions compare it, and hand on what else there is. */
static void note_operator(void *context, struct plan *plan)
{
	struct look *look = context;

	look->at = plan;
	if (plan->kind != PLAN_FILTER)
		plan_each_expr(plan, note_root, context);
}

const struct expr *plan_payload(struct plan *plan)
{
	struct look look = { 0 };

	plan_each(plan, note_operator, &look);
	return look.found;
}
