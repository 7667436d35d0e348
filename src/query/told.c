/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The programs that serve a query -> who wants to know of each that comes, changes or goes
 * (query_on_programs()).
 */
#include "query/internal.h"

void query_each_program(const struct query *query, load_visit *visit, void *context)
{
	struct load_state *const *states;
	u32 n;

	states = flow_loads(query->flow, &n);
	if (n)
		load_each_program(states[0]->hooks, states, n, visit, context);
	for (u32 i = 0; i < query->cut->n_parts; i++)
		if (query->parts[i].list)
			load_each_program(&query->parts[i].list->hooks, NULL, 0, visit, context);
}

void (*query_on_programs)(const struct query *query, enum query_event event);

static void add_id(void *context, const struct load_identity *program)
{
	u64 *ids = context;

	*ids = *ids * 0x100000001b3 + program->id;
}

void query_announce(struct query *query, enum query_event event)
{
	u64 ids = 0;

	if (!query_on_programs || !query->flow)
		return;
	query_each_program(query, add_id, &ids);
	if (!ids || (event == QUERY_CHANGED && ids == query->told_ids))
		return;
	query->told_ids = ids;
	query_on_programs(query, event);
}
