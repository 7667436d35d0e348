/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Stacks that programs met -> their names, every 20 ms and ahead of each batch: a process that has
 * ended cannot be asked any more.  Of a single address only the query's own process is looked at
 * so; of others when SQLite asks for a name.
 */
#include "engine/internal.h"

bool flow_takes_stacks(const struct flow *flow)
{
	const struct load_hooks *hooks = flow_hooks(flow);

	return hooks && hooks->stacks;
}

bool flow_names_processes(const struct flow *flow)
{
	return flow_takes_stacks(flow) || flow->cut->names_users;
}

bool flow_looks_at_processes(const struct flow *flow)
{
	return flow_takes_stacks(flow) || (flow->cut->names_users && flow->cut->named_pid > 0);
}

void flow_open_names(struct flow *flow, struct flow_names *names)
{
	flow->names = names;
	if (!flow_looks_at_processes(flow))
		return;
	if (!names->namer && flow_takes_stacks(flow))
		names->namer = namer_open();
	names->due_ns = 1; /* at once */
}

void flow_name_stacks(struct flow *flow)
{
	struct stack *stack;

	if (flow->cut->names_users && flow->cut->named_pid > 0)
		sym_user_look((u32)flow->cut->named_pid);
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
