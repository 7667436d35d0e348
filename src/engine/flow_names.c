/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Stacks that programs met -> their names, every 20 ms and ahead of each batch: a process that has
 * ended cannot be asked any more.
 */
#include "engine/internal.h"

bool flow_takes_stacks(const struct flow *flow)
{
	const struct load_hooks *hooks = flow_hooks(flow);

	return hooks && hooks->stacks;
}

void flow_open_names(struct flow *flow, struct flow_names *names)
{
	flow->names = names;
	if (!flow_takes_stacks(flow))
		return;
	if (!names->namer)
		names->namer = namer_open();
	names->due_ns = 1; /* at once */
}

void flow_name_stacks(struct flow *flow)
{
	struct stack *stack;

	if (!flow->names || !flow->names->namer || !flow_takes_stacks(flow))
		return;
	load_stacks_look(flow_hooks(flow));
	while ((stack = load_stacks_next(flow_hooks(flow))))
		namer_name(flow->names->namer, stack);
}

u64 flow_first_use(const struct flow *flow)
{
	u64 first = UINT64_MAX;

	for (u32 i = 0; i < flow->n_parts; i++) {
		const struct flow_part *part = &flow->parts[i];

		/* Rows are kept as long as their windows and joins need them. */
		if (part->load && part->load->phys->has_stacks)
			first = MIN(first, part->groups ? groups_first_use(part->groups) : 0);
	}
	return first;
}
