/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What each operator of a flow did, wherever it is computed -> one list.  Whoever computes it
 * counts what it hands on; what comes in is what those below it handed on.
 */
#include "engine/internal.h"

struct figures_walk {
	const struct flow_part *part;
	struct arena *arena;
	struct flow_figures *figures;
};

static struct meter *meter_of(const struct flow_part *part)
{
	if (part->groups)
		return &part->groups->meter;
	if (part->events)
		return &part->events->meter;
	return part->source ? row_source_meter(part->source) : NULL;
}

void flow_forget_figures(struct flow *flow)
{
	for (u32 i = 0; i < flow->n_parts; i++)
		if (flow->parts[i].load)
			meter_forget_operators(meter_of(&flow->parts[i]));
}

/* --- Operators --- */

static void add_operator(struct figures_walk *w, struct flow_operator o, struct buf *text)
{
	o.part = w->part ? w->part->part->name : NULL;
	o.text = arena_strndup(w->arena, text->at, text->n);
	vec_push(w->arena, &w->figures->operators, o);
	buf_reset(text);
}

/* What goes in there: what the operator below it handed on; at the root, those of all ways. */
static u64 rows_in(const struct meter *meter, u32 number)
{
	const struct phys *phys = meter->load->phys;
	const struct phys_source *of = phys_operator_source(phys, number);
	struct account below;
	u64 n = 0;

	if (of) {
		meter_operator(meter, MAX(number, of->first_operator + 1) - 1, &below);
		return below.matched;
	}
	for (u32 i = 0; i < phys->n_sources; i++) {
		const struct phys_source *s = &phys->sources[i];

		if (!s->is_root)
			continue;
		meter_operator(meter, s->first_operator + s->n_steps, &below);
		n += below.matched;
	}
	return n;
}

static void kernel_operators(struct figures_walk *w)
{
	const struct meter *meter = meter_of(w->part);
	const struct phys *phys = w->part->load->phys;
	struct buf text;

	buf_init(&text);
	for (u32 i = 0; i < phys->state.n_operators; i++) {
		struct flow_operator o = { .is_kernel = true };

		meter_operator(meter, i, &o.account);
		o.n_single = o.account.events;
		o.account.events = rows_in(meter, i);
		if (w->part->groups && i + 1 == phys->n_operators)
			o.account.matched = w->part->groups->n_given;
		if (w->part->events && i + 1 == phys->n_operators)
			o.account.lost[LOSS_FAULT] += w->part->events->n_faults;
		phys_print_operator(phys, i, &text);
		add_operator(w, o, &text);
	}
	buf_free(&text);
}

static void user_operators(struct figures_walk *w)
{
	struct buf text;

	buf_init(&text);
	for (u32 i = 0; i < row_source_n_operators(w->part->source); i++) {
		struct row_operator row;

		row_source_operator(w->part->source, i, &row);
		plan_print_operator(row.plan, &text);
		add_operator(w,
			     (struct flow_operator){ .account = row.account,
						     .n_single = row.n_single,
						     .sql_ns = row.sql_ns },
			     &text);
	}
	buf_free(&text);
}

static void table_operator(struct figures_walk *w)
{
	const struct flow_part *part = w->part;
	struct buf text;

	buf_init(&text);
	if (part->list.hooks)
		buf_printf(&text, "read iter:%s, the last time%s%s",
			   part->list.hooks->programs[0].hook->target,
			   part->part->where ? ", where " : "", part->part->where ?: "");
	else
		buf_printf(&text, "read %s", part->part->file->path);
	add_operator(w,
		     (struct flow_operator){
			     .is_kernel = part->list.hooks,
			     .account = { .events = part->list.hooks ? part->list.n_objects
								     : part->queue.n,
					  .matched = part->queue.n,
					  .lost[LOSS_FAULT] = part->list.n_faults } },
		     &text);
	buf_free(&text);
}

static void sql_operator(struct flow *flow, struct figures_walk *w)
{
	struct buf text;

	if (flow->is_plain)
		return;
	w->part = NULL;
	buf_init(&text);
	buf_printf(&text, "SQLite: %s", flow->cut->sql);
	add_operator(w, (struct flow_operator){ .account = flow->sql.done, .sql_ns = flow->sql.ns },
		     &text);
	buf_free(&text);
}

/* --- Rooms --- */

static void add_room(struct figures_walk *w, struct flow_room room)
{
	room.part = w->part->part->name;
	vec_push(w->arena, &w->figures->rooms, room);
}

static void group_rooms(struct figures_walk *w)
{
	const struct groups *groups = w->part->groups;
	const struct state_layout *s = &groups->phys->state;

	u64 size = s->all_rows;

	if (!groups->phys->n_keys)
		return;
	/* A row of each slice is the same group, but for the CPU; panes have different ones. */
	if (groups->panes)
		size = groups->merge.max_entries - 1;
	if (s->kind == STATE_DIRECT)
		size = (u64)s->n_rows * (groups->merge.has_slice_key ? s->n_cpus : 1);
	add_room(w, (struct flow_room){ .what = "groups of a window",
					.unit = "groups",
					.used = groups->most_groups,
					.size = size });
	if (s->kind == STATE_TABLE)
		add_room(w, (struct flow_room){ .what = "groups of one CPU",
						.unit = "groups",
						.used = groups->drain.most_rows,
						.size = s->max_groups });
	if (s->kind == STATE_KERNEL_MAP)
		add_room(w, (struct flow_room){ .what = "groups by CPU in the map",
						.unit = "groups",
						.used = groups->drain.most_rows,
						.size = s->all_rows });
}

static void ring_room(struct figures_walk *w, const struct stream_reader *ring)
{
	if (ring->producer)
		add_room(w, (struct flow_room){ .what = "ring buffer",
						.unit = "bytes",
						.used = ring->most_bytes,
						.size = ring->n_bytes });
}

static void kernel_join_rooms(struct figures_walk *w)
{
	const struct load_state *load = w->part->load;
	const struct phys *phys = load->phys;

	for (u32 i = 0; i < phys->n_joins; i++) {
		const struct phys_join *join = &phys->joins[i];
		s64 n = pair_count_waiting(join, load->pairs, load->map_fds[LOAD_MAP_PAIR],
					   &(struct pair_which){ .before_ns = UINT64_MAX });

		add_room(w, (struct flow_room){
				    .what = arena_printf(w->arena, "starts in j%u", join->number),
				    .unit = "starts",
				    .used = (u64)MAX(n, 0),
				    .size = join->n_slots + join->n_overflow,
				    .is_last = true });
	}
}

static void user_join_rooms(struct figures_walk *w)
{
	for (u32 i = 0; i < row_source_n_operators(w->part->source); i++) {
		struct row_operator row;

		row_source_operator(w->part->source, i, &row);
		if (row.plan->kind == PLAN_JOIN)
			add_room(w, (struct flow_room){ .what = "starts of the join",
							.unit = "starts",
							.used = row.most_waiting,
							.size = row.max_in_flight });
	}
}

static void part_figures(struct figures_walk *w)
{
	const struct flow_part *part = w->part;

	if (part->load)
		kernel_operators(w);
	if (part->source)
		user_operators(w);
	if (part->part->kind == PART_TABLE)
		table_operator(w);
	if (part->groups)
		group_rooms(w);
	if (part->load)
		kernel_join_rooms(w);
	if (part->source)
		user_join_rooms(w);
	if (part->events)
		ring_room(w, &part->events->stream);
	if (part->source)
		ring_room(w, row_source_stream(part->source));
}

void flow_figures(struct flow *flow, struct arena *arena, struct flow_figures *ret_figures)
{
	struct figures_walk w = { .arena = arena, .figures = ret_figures };

	*ret_figures = (struct flow_figures){ 0 };
	for (u32 i = 0; i < flow->n_parts; i++) {
		w.part = &flow->parts[i];
		part_figures(&w);
	}
	sql_operator(flow, &w);
}
