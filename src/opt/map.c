/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Walking plans and expressions by copy, for rules that look at one node at a time.
 */
#include <string.h>

#include "opt/rules.h"

struct plan *opt_map(struct plan *plan, struct arena *arena,
		     void (*change)(struct plan *copy, struct arena *arena))
{
	struct plan *copy = arena_new(arena, struct plan);

	*copy = *plan;
	if (plan->input && plan->kind != PLAN_DERIVED)
		copy->input = opt_map(plan->input, arena, change);
	if (plan->right)
		copy->right = opt_map(plan->right, arena, change);
	if (plan->n_inputs && plan->kind != PLAN_SET)
		copy->inputs = arena_array(arena, struct plan *, plan->n_inputs);
	for (u32 i = 0; i < plan->n_inputs && plan->kind != PLAN_SET; i++)
		copy->inputs[i] = opt_map(plan->inputs[i], arena, change);
	change(copy, arena);
	return copy;
}

struct expr *opt_map_expr(struct expr *expr, struct arena *arena,
			  struct expr *(*change)(struct expr *expr, void *context), void *context)
{
	struct expr *copy = NULL;

	for (u32 i = 0; i < expr->n_args; i++) {
		struct expr *arg = opt_map_expr(expr->args[i], arena, change, context);

		if (arg == expr->args[i])
			continue;
		if (!copy) {
			copy = arena_new(arena, struct expr);
			*copy = *expr;
			copy->args = arena_array(arena, struct expr *, expr->n_args);
			memcpy(copy->args, expr->args, expr->n_args * sizeof(*expr->args));
		}
		copy->args[i] = arg;
	}
	return change(copy ? copy : expr, context);
}
