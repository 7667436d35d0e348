/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The steps from a logical plan to a physical one, in their order.
 */
#include "phys/internal.h"

/* WHERE: the filter between the scan and the aggregate (or the projection). */
static void take_conjuncts(struct phys *phys, const struct plan *plan)
{
	const struct plan *p = plan_find(plan, PLAN_AGGREGATE);

	p = plan_find(p ? p->input : plan, PLAN_FILTER);
	if (!p)
		return;
	phys->conjuncts = p->conjuncts;
	phys->n_conjuncts = p->n_conjuncts;
	phys->has_matched = p->n_conjuncts > 0;
}

struct phys *phys_plan(const struct phys_input *input, struct arena *arena, struct diags *diags)
{
	struct phys *phys = arena_new(arena, struct phys);

	phys->arena = arena;
	phys->settings = input->settings;
	phys->is_streaming = !plan_find(input->plan, PLAN_AGGREGATE);
	phys->stream_limit = -1;
	phys->exists_cell = -1;
	phys->matched_cell = -1;
	take_conjuncts(phys, input->plan);
	if (!phys_access(phys, input, diags) || !phys_state(phys, input, diags) ||
	    !phys_user_part(phys, input, diags))
		return NULL;
	return phys;
}
