/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A compiled query -> one that runs, alone or with others, and its end.
 */
#include <errno.h>

#include "query/internal.h"

static int load(struct query *query, struct programs *p)
{
	int err;

	if (!p || p->is_loaded)
		return 0;
	do
		err = load_open(&p->hooks, p->set, p->of_hook, p->constants.at, (u32)p->constants.n,
				&query->arena, &query->diags);
	/* A hook's program was too large: it becomes two, unless it is of one part. */
	while (err == -EFBIG && phys_split(p->set, p->hooks.too_large, &query->arena) &&
	       query_programs(query, p));
	p->is_loaded = !err;
	return err;
}

int query_load(struct query *query)
{
	return load(query, query->programs);
}

static int attach_lists(struct query *query, const struct load_hooks **lists)
{
	int err = 0;

	for (u32 i = 0; i < query->cut->n_parts && !err; i++) {
		struct programs *list = query->parts[i].list;

		err = load(query, list);
		if (list && !err)
			err = load_attach(&list->hooks, &query->diags);
		lists[i] = list ? &list->hooks : NULL;
	}
	return err;
}

static void close_programs(struct programs *p)
{
	if (p && p->is_loaded)
		load_close(&p->hooks);
	if (p)
		p->is_loaded = false;
}

static struct load_state *state_of(const struct query *query, const struct phys *phys)
{
	return query->segment ? segment_state(query, phys)
			      : &query->programs->hooks.states[phys->number];
}

/* By the programs that it is planned by. */
static int start(struct query *query, struct engine *engine, struct flow_input input)
{
	u32 n_parts = query->cut->n_parts;
	struct load_state **loads = arena_array(&query->arena, struct load_state *, n_parts);
	const struct phys **phys = arena_array(&query->arena, const struct phys *, n_parts);
	int err = segment_join(query, engine);

	if (!err)
		turns_enter(query, engine);
	if (err == -EFBIG) {
		if (query->programs)
			query_set_parts(query, query->programs->set);
		err = query_load(query);
	}
	for (u32 i = 0; i < n_parts && !err; i++) {
		phys[i] = query->parts[i].phys;
		loads[i] = phys[i] ? state_of(query, phys[i]) : NULL;
	}
	input.loads = loads;
	input.phys = phys;
	return err ? err : engine_add(engine, &input, &query->flow);
}

/* Was it planned so before? */
static bool was_told(const struct phys_set *before, const struct hook *hook)
{
	for (u32 i = 0; i < before->n_hooks; i++)
		if (hook_is_same(&before->hooks[i], hook))
			return true;
	return false;
}

/*
 * The kernel has refused a trampoline as it was attached: by another path, which the plan takes now
 * that it knows.
 */
static bool plan_again(struct query *query)
{
	const struct phys_set *before = query->programs->set;
	bool is_loaded = query->programs->is_loaded;

	segment_leave(query);
	close_programs(query->programs);
	if (!query_plan_programs(query))
		return false;
	for (u32 i = 0; i < query->programs->set->n_hooks; i++) {
		const struct hook *hook = &query->programs->set->hooks[i];

		if (hook->is_fallback && !was_told(before, hook))
			diag_warning(&query->diags, "fallback", SPAN_NONE,
				     "%s is read %s" HINT
				     "SET access_path = fentry insists on the other",
				     hook->target, hook->reason);
	}
	return !is_loaded || !query_load(query);
}

int query_start(struct query *query, struct engine *engine, const struct flow_input *how)
{
	const struct load_hooks **lists =
		arena_array(&query->arena, const struct load_hooks *, query->cut->n_parts);
	struct flow_input input = *how;
	int err = attach_lists(query, lists);

	input.cut = query->cut;
	input.lists = lists;
	input.arena = &query->arena;
	input.diags = &query->diags;
	if (!err)
		err = start(query, engine, input);
	while (err == -EUNATCH)
		err = plan_again(query) ? start(query, engine, input) : -EINVAL;
	if (err) {
		query_close(query);
	} else {
		query->start_ns = base_monotonic_ns();
		query_announce(query, QUERY_LOADED);
	}
	return err;
}

void query_costs(const struct query *query, struct query_costs *ret_costs)
{
	const struct programs *p = query->programs;

	*ret_costs = (struct query_costs){ 0 };
	if (query->segment) {
		*ret_costs = query->costs;
		ret_costs->n_in_segment = segment_n_queries(query);
		ret_costs->n_counted_with = segment_n_counted_with(query);
	} else if (p && p->is_loaded) {
		*ret_costs = (struct query_costs){ .verify_ns = p->hooks.verify_ns,
						   .attach_ns = p->hooks.attach_ns,
						   .n_programs = p->set->n_hooks };
		for (u32 i = 0; i < p->set->n_hooks; i++)
			ret_costs->n_insns += p->of_hook[i].code.n_insns;
	}
}

int query_close(struct query *query)
{
	int err;

	query_announce(query, QUERY_UNLOADS);
	err = query->flow ? flow_close(query->flow) : 0;
	query->flow = NULL;
	if (query->segment)
		turns_leave(query);
	segment_leave(query);
	close_programs(query->programs);
	for (u32 i = 0; query->parts && i < query->cut->n_parts; i++)
		close_programs(query->parts[i].list);
	return err;
}
