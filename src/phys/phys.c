/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The steps from logical plans to physical ones, in their order.  The hooks are chosen for
 * all parts at once: they share them.
 */
#include "phys/internal.h"

static struct phys *part_new(const struct phys_set *set, u32 number, const struct phys_input *input,
			     struct arena *arena)
{
	struct phys *phys = arena_new(arena, struct phys);

	phys->arena = arena;
	phys->settings = input->settings;
	phys->set = set;
	phys->number = phys->starts = number;
	phys->name = input->name;
	phys->is_streaming = !plan_find(input->plan, PLAN_AGGREGATE);
	phys->exists_cell = -1;
	phys->matched_cell = -1;
	phys->wake_cell = -1;
	return phys;
}

static void number_operators(struct phys *phys)
{
	bool is_list =
		phys->n_sources && phys->sources[0].streams->streams.at[0]->kind == STREAM_ITERATOR;
	u32 n = 0;

	for (u32 i = 0; i < phys->n_sources; i++) {
		phys->sources[i].first_operator = n;
		n += 1 + phys->sources[i].n_steps;
	}
	phys->n_operators = n + 1;
	/* An object of an iterator may come twice, of which one is none: see gen_stream(). */
	phys->state.n_operators =
		phys->settings->counts_operators && !is_list ? phys->n_operators : 0;
}

static bool plan_part(struct phys *phys, const struct phys_input *input, struct diags *diags)
{
	if (!phys_state(phys, input, diags))
		return false;
	return input->only_scans ||
	       (phys_stream(phys, input, diags) && phys_joins(phys, input, diags) &&
		phys_runnings(phys, input, diags));
}

/*
 * Does anything hold a stack for longer than a window?  Rows wait in a queue by its number.  Groups
 * of more than one copy that are merged, as without a window or in several queries, would be told
 * whole where a later copy had no room for theirs.
 */
static bool keeps_stacks(const struct phys *phys)
{
	bool keeps = phys->set->is_changing || phys->is_streaming ||
		     (phys->window != WINDOW_TUMBLING && phys->window != WINDOW_HOPPING);

	for (u32 i = 0; i < phys->n_joins; i++)
		for (u32 k = 0; k < phys->joins[i].n_columns; k++)
			keeps |= phys->joins[i].columns[k].expr->type.kind == TYPE_STACK;
	for (u32 i = 0; i < phys->n_runnings; i++)
		for (u32 k = 0; k < phys->runnings[i].n_keys; k++)
			keeps |= phys->runnings[i].keys[k].expr->type.kind == TYPE_STACK;
	return keeps;
}

/* Of sets that change the programs of all times have the same room. */
static void give_room(struct phys_set *set)
{
	set->n_stacks = STACKS_USUAL;
	for (u32 i = 0; i < set->n_parts && !set->is_changing; i++) {
		const struct phys *phys = set->parts[i];

		/* What the first of them asks for. */
		if (!phys->has_stacks)
			continue;
		set->n_stacks = STACKS_MIN;
		while (set->n_stacks < phys->settings->stacks)
			set->n_stacks *= 2;
		return;
	}
}

/* Which of its keys are the thread: a bit each. */
static u64 thread_keys(const struct phys_step *step)
{
	const struct phys_running *running = step->running;
	u32 n = step->join ? step->join->n_keys : running->n_keys;
	u64 keys = step->join && step->join->kind == PAIR_THREAD ? UINT64_MAX : 0;

	for (u32 i = 0; i < MIN(n, 64u); i++) {
		const struct expr *key = step->join ? step->keys[i] : running->keys[i].expr;

		if (key->kind == EXPR_SYSTEM && (key->index == SYS_TID || key->index == SYS_FRAME))
			keys |= 1ull << i;
	}
	return keys;
}

/* Is one of them so on both sides? */
static bool is_of_thread(const struct phys *phys, const struct phys_step *step)
{
	u64 keys = thread_keys(step);

	for (u32 i = 0; i < phys->n_sources && step->join; i++)
		for (u32 k = 0; k < phys->sources[i].n_steps; k++)
			if (phys->sources[i].steps[k].join == step->join)
				keys &= thread_keys(&phys->sources[i].steps[k]);
	return keys;
}

/* Of some threads all events are taken, so what belongs together must be of one thread. */
static bool check_sampled(const struct phys *phys, u32 n_parts, struct diags *diags)
{
	struct span span = phys->sources[0].scan->span;
	bool is_split = n_parts > 1 || (phys->only_scans && phys->n_sources > 1);

	for (u32 i = 0; i < phys->n_sources && !is_split; i++)
		for (u32 k = 0; k < phys->sources[i].n_steps && !is_split; k++) {
			const struct phys_step *step = &phys->sources[i].steps[k];

			is_split = (step->join || step->running) && !is_of_thread(phys, step);
			span = is_split ? step->span : span;
		}
	return !is_split || !phys->has_budget || phys->settings->over_budget != BUDGET_SAMPLE ||
	       diag_refuse(
		       diags, "sample-join", span,
		       "over_budget = 'sample' takes the events of some threads, and here those "
		       "of several belong together" HINT "join on tid, or over_budget = 'detach'");
}

/* What wakes must be one thing: of all parts one count of some of the events. */
static bool find_wake(const struct phys_set *set, struct diags *diags)
{
	bool is_timed = true;
	u32 n = 0;

	for (u32 i = 0; i < set->n_parts; i++) {
		struct phys *phys = set->parts[i];

		is_timed &= phys->window == WINDOW_TUMBLING;
		for (u32 k = 0; k < phys->n_cells; k++) {
			const struct cell *cell = &phys->cells[k];

			if (cell->kind != CELL_COUNT || cell->arg || !cell->filter)
				continue;
			phys->wake_cell = (s32)k;
			n++;
		}
	}
	return (n == 1 && is_timed) ||
	       diag_refuse(diags, "wake-count", set->parts[0]->sources[0].scan->span,
			   "wake_count is for one count(*) FILTER (WHERE ...) that the kernel "
			   "computes in windows that are TUMBLING" HINT
			   "SELECT count(*) FILTER (WHERE latency > 1ms) ... WINDOW TUMBLING 1m");
}

static bool is_list(const struct phys *phys)
{
	return phys->sources[0].streams->streams.at[0]->kind == STREAM_ITERATOR;
}

static struct phys_set *plan_all(bool is_changing, u64 taken, const struct phys_input *inputs,
				 u32 n_inputs, struct arena *arena, struct diags *diags)
{
	struct phys_set *set = arena_new(arena, struct phys_set);
	bool has_events = false; /* a list is a set of its own */
	u32 number = 0;

	set->is_changing = is_changing;
	set->parts = arena_array(arena, struct phys *, n_inputs);
	set->arch = catalog_arch(inputs[0].catalog);
	set->n_cpus = inputs[0].n_cpus;
	set->is_checked = inputs[0].is_checked;
	for (u32 i = 0; i < n_inputs; i++, number++) {
		struct phys *phys;

		while (is_changing && taken >> number & 1)
			number++;
		BUG_ON(is_changing && number >= BLOCK_PARTS);
		phys = part_new(set, number, &inputs[i], arena);
		set->parts[set->n_parts++] = phys;
		if (!inputs[i].only_scans)
			phys_rows(phys, &inputs[i]);
		else if (!phys_scans(phys, &inputs[i], diags))
			return NULL;
		number_operators(phys);
		has_events |= !inputs[i].is_replay && !is_list(phys);
		phys->has_budget = phys->settings->max_cpu && has_events;
	}
	if (!phys_access(set, inputs, arena, diags))
		return NULL;
	/* Other parts may come, with hooks of any kind. */
	set->n_slots = is_changing ? SLOTS_MAX : phys_levels(set, NULL, inputs[0].features);
	for (u32 i = 0; i < n_inputs; i++)
		if (!plan_part(set->parts[i], &inputs[i], diags) ||
		    !check_sampled(set->parts[i], n_inputs, diags))
			return NULL;
	if (inputs[0].settings->wake_count && has_events && !find_wake(set, diags))
		return NULL;
	for (u32 i = 0; i < n_inputs; i++)
		set->parts[i]->keeps_stacks = keeps_stacks(set->parts[i]);
	give_room(set);
	phys_share_all_starts(set);
	return set;
}

struct phys_set *phys_plan(const struct phys_input *inputs, u32 n_inputs, struct arena *arena,
			   struct diags *diags)
{
	return plan_all(false, 0, inputs, n_inputs, arena, diags);
}

struct phys_set *phys_plan_into(u64 taken, const struct phys_input *inputs, u32 n_inputs,
				struct arena *arena, struct diags *diags)
{
	return plan_all(true, taken, inputs, n_inputs, arena, diags);
}
