/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A cut and the loads of its parts -> a flow: opened, attached, detached, closed.
 */
#include <errno.h>
#include <string.h>

#include "engine/internal.h"

void flow_failed(struct flow *flow, int err)
{
	if (err == -ENOMEM && !diags_failed(flow->diags))
		diag_failure(flow->diags, "too-many-rows",
			     "there is no memory for the rows and groups of the query");
	if (err == -EBUSY && !diags_failed(flow->diags))
		diag_failure(flow->diags, "run-end",
			     "a program has not ended: what it counted last cannot be read");
}

static bool refuse(struct flow *flow, int err)
{
	if (err)
		diag_failure(flow->diags, "run-start", "cannot make room for %s: %s" HINT "%s",
			     flow->is_streaming ? "rows" : "groups", strerror(-err),
			     diag_machine_hint(-err) ?: "");
	return !err;
}

static bool open_groups(struct flow *flow, struct flow_part *part, const struct phys *phys,
			struct arena *arena)
{
	part->relation->is_read = true;
	part->groups = arena_new(arena, struct groups);
	return refuse(flow, groups_open(part->groups, part->load, phys, arena));
}

static bool open_part(struct flow *flow, u32 number, const struct flow_input *input)
{
	struct arena *arena = input->arena;
	struct flow_part *part = &flow->parts[number];
	const struct cut_part *of = part->part;
	struct relation *relation = &flow->relations[number];

	part->relation = relation;
	*relation = (struct relation){ .name = of->name,
				       .columns = &of->columns,
				       .n_columns = of->columns.n_columns,
				       .expected_rows = of->kind == PART_GROUPS ? 1000 : 100000 };
	row_pool_open(&part->pool, of->columns.n_columns);
	flow->is_live |= of->has_streams || of->kind == PART_GROUPS;
	switch (of->kind) {
	case PART_GROUPS:
		return open_groups(flow, part, input->phys ? input->phys[number] : part->load->phys,
				   arena);
	case PART_ROWS:
		if (flow->is_plain) {
			part->events = arena_new(arena, struct events);
			return refuse(flow, events_open(part->events, part->load, flow->limit));
		}
		flow->has_rows = true;
		relation->has_sessions = flow->is_grouped;
		part->source = row_source_open(of, part->load, flow->cancel, arena, flow->diags);
		return part->source;
	case PART_TABLE:
		return !flow_open_table(flow, part, input->lists ? input->lists[number] : NULL,
					arena);
	}
	BUG("kind of part");
}

/* Of all rows that are recorded, those that WHERE drops too: windows begin and end with them. */
static void find_span(struct flow *flow)
{
	u64 first_ns, last_ns;

	for (u32 i = 0; i < flow->n_parts; i++) {
		if (!flow->parts[i].source ||
		    !row_source_span(flow->parts[i].source, &first_ns, &last_ns))
			continue;
		flow->first_ns = flow->has_span ? MIN(flow->first_ns, first_ns) : first_ns;
		flow->last_ns = flow->has_span ? MAX(flow->last_ns, last_ns) : last_ns;
		flow->has_span = true;
	}
}

static struct flow *new_flow(const struct flow_input *input)
{
	struct flow *flow = arena_new(input->arena, struct flow);
	const struct cut *cut = input->cut;
	s64 limit = cut->is_streaming ? cut->limit : -1;

	flow->cut = cut;
	flow->sink = input->sink;
	flow->cancel = input->cancel;
	flow->is_brief = input->is_brief;
	flow->diags = input->diags;
	flow->every_ns = input->every_ns;
	flow->max_bytes = FLOW_MAX_BYTES;
	flow->is_plain = !cut->sql;
	flow->is_streaming = cut->is_streaming;
	flow->limit = input->n_rows ? input->n_rows : UINT64_MAX;
	if (limit >= 0)
		flow->limit = MIN(flow->limit, (u64)limit);
	flow->is_grouped = cut->window.kind == WINDOW_SESSION || cut->window.kind == WINDOW_COUNT;
	flow->parts = arena_array(input->arena, struct flow_part, cut->n_parts + 1);
	flow->relations = arena_array(input->arena, struct relation, cut->n_parts + 1);
	flow->loads = arena_array(input->arena, struct load_state *, cut->n_parts + 1);
	for (u32 i = 0; i < cut->n_parts; i++)
		if (input->loads[i])
			flow->loads[flow->n_loads++] = input->loads[i];
	if (flow->n_loads)
		flow->switching =
			arena_array(input->arena, struct load_state *, flow_hooks(flow)->n_states);
	flow_start(flow, flow_now(flow));
	return flow;
}

void flow_free(struct flow *flow)
{
	/* First the connection, whose tables are the relations. */
	flow_close_sql(flow);
	for (u32 i = 0; i < flow->n_parts; i++) {
		struct flow_part *part = &flow->parts[i];

		relation_close(part->relation);
		if (part->groups)
			groups_close(part->groups);
		if (part->events)
			events_close(part->events);
		region_free(&part->positions);
		if (part->source)
			row_source_close(part->source);
		list_close(&part->list);
		row_fifo_close(&part->queue);
		row_pool_close(&part->pool);
	}
	flow_groups_close(flow);
	region_free(&flow->panes);
}

struct flow *flow_open(const struct flow_input *input)
{
	struct flow *flow = new_flow(input);
	const struct cut *cut = input->cut;
	bool is_good = true;

	for (; flow->n_parts < cut->n_parts && is_good; flow->n_parts++) {
		flow->parts[flow->n_parts] =
			(struct flow_part){ .part = &cut->parts[flow->n_parts],
					    .load = input->loads[flow->n_parts] };
		is_good = open_part(flow, flow->n_parts, input);
	}
	/* Lists alone: read by the clock, or once. */
	flow->is_live |=
		flow->has_lists && !flow->has_rows && (flow_is_timed(flow) || flow->every_ns);
	if (is_good && !flow->is_live)
		find_span(flow);
	/* Tables and lists are read whole, whenever the end comes. */
	flow->is_partial = flow->has_rows && !flow->is_live;
	flow_groups_open(flow);
	if (is_good)
		return flow;
	flow_failed(flow, -ENOMEM);
	flow_free(flow);
	return NULL;
}

void flow_detach(struct flow *flow)
{
	if (flow->n_loads && flow->is_attached)
		load_detach(flow_hooks(flow));
	flow->is_attached = false;
}

/*
 * Attaching takes 0.1 ms for some hooks and 10 for others, and another flow may have done it
 * before.  Several parts begin together when all hooks are attached: what came before is forgotten.
 */
static int start_together(struct flow *flow)
{
	int err = 0;

	flow_start(flow, flow_now(flow));
	for (u32 i = 0; i < flow->n_parts; i++)
		if (flow->parts[i].events)
			events_skip(flow->parts[i].events);
	flow_switch(&flow, 1, FLOW_PATIENCE_NS);
	if (flow->switched.flip)
		flow_start(flow, flow->switched);
	for (u32 i = 0; i < flow->n_parts && !err; i++) {
		struct flow_part *part = &flow->parts[i];

		/* -EBUSY: the second window would have what came before the start. */
		err = part->switch_error;
		if (!err && part->groups)
			err = groups_restart(part->groups, flow->switched.monotonic_ns);
		if (!err && part->events)
			events_restart(part->events);
		if (!err && part->source)
			err = row_source_skip(part->source);
	}
	flow_account(flow, false);
	flow->since = flow->total = flow->repeated = (struct account){ 0 };
	flow->n_other_events = 0;
	flow_forget_figures(flow);
	return err;
}

/* Of the programs that serve it. */
static const char *fallback_of(const struct flow *flow, const struct load_hooks *hooks)
{
	struct buf told;

	buf_init_in(&told, flow->diags->arena);
	for (u32 i = 0; i < hooks->n_programs; i++)
		for (u32 k = 0; k < flow->n_parts; k++)
			if (flow->parts[k].load &&
			    load_tell_fallback(&hooks->programs[i], flow->parts[k].load, &told))
				break;
	return told.n ? told.at : NULL;
}

int flow_attach(struct flow *flow)
{
	struct load_hooks *hooks = flow_hooks(flow);
	/* Its programs have counted for it since another flow attached them, if one did; of several
	 * the first counts ends while starts are not seen yet. */
	bool is_together = flow->n_loads > 1 ||
			   (hooks && (hooks->chains || hooks->attach_ns || hooks->n_programs > 1));
	int err = 0;

	flow_start(flow, flow_now(flow));
	flow->is_attached = true;
	if (flow->n_loads)
		err = load_attach(hooks, flow->diags);
	if (flow->n_loads && !err)
		flow->fallback = fallback_of(flow, hooks);
	if (!err)
		err = flow_open_sql(flow);
	if (!err && is_together)
		err = start_together(flow);
	return err;
}
