/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The steps from a logical plan to a physical one, in their order.
 */
#include "phys/internal.h"

struct phys *phys_plan(const struct phys_input *input, struct arena *arena, struct diags *diags)
{
	struct phys *phys = arena_new(arena, struct phys);

	phys->arena = arena;
	phys->settings = input->settings;
	phys->is_streaming = !plan_find(input->plan, PLAN_AGGREGATE);
	phys->stream_limit = -1;
	phys->exists_cell = -1;
	phys->matched_cell = -1;
	phys->user.unnest = -1;
	if (input->is_raw)
		return phys_raw(phys, input, diags) && phys_access(phys, input, diags) &&
				       phys_state(phys, input, diags)
			       ? phys
			       : NULL;
	phys_rows(phys, input);
	if (!phys_access(phys, input, diags) || !phys_state(phys, input, diags) ||
	    !phys_user_part(phys, input, diags) || !phys_joins(phys, input, diags) ||
	    !phys_runnings(phys, input, diags))
		return NULL;
	return phys;
}
