/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Stacks that programs met -> their names, every 20 ms and ahead of each batch: a process that has
 * ended cannot be asked any more.
 */
#include "engine/internal.h"

bool flow_takes_stacks(const struct flow *flow)
{
	const struct load_hooks *hooks = flow_hooks(flow);

	return hooks && hooks->stacks.at;
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
	struct load_stacks *stacks;
	u64 end;

	if (!flow->names || !flow->names->namer || !flow_takes_stacks(flow))
		return;
	stacks = &flow_hooks(flow)->stacks;
	end = __atomic_load_n((u64 *)stacks->at, __ATOMIC_ACQUIRE);
	end = MIN(end, STACK_POOL_BYTES - STACK_MOST_BYTES + 1);
	while (stacks->n_seen < end) {
		struct stack *stack = (struct stack *)(stacks->pool + stacks->n_seen);

		/* A program is writing it, or was refused the room. */
		if (!__atomic_load_n(&stack->is_whole, __ATOMIC_ACQUIRE))
			return;
		namer_name(flow->names->namer, stack);
		stacks->n_seen += stack_bytes(stack->n);
	}
}
