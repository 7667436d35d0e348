/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Which slot of a tuple holds what.  Slots are given in the order of the FROM tree, so
 * those of an operator's tree stand together.
 */
#include <string.h>
#include <strings.h>

#include "tree/internal.h"

struct slot_source *slots_source(const struct slots *slots, u32 number)
{
	for (u32 i = 0; i < slots->n_sources; i++)
		if (slots->sources[i].source->number == number)
			return &slots->sources[i];
	BUG("no scan is source %u", number);
}

static void count_running(struct slots *slots, const struct plan *p)
{
	if (p->kind == PLAN_RUNNING)
		slots->n_running = MAX(slots->n_running, p->running.number + 1);
	if (p->input)
		count_running(slots, p->input);
	if (p->right)
		count_running(slots, p->right);
	for (u32 i = 0; i < p->n_inputs; i++)
		count_running(slots, p->inputs[i]);
}

static void assign(struct slots *slots, const struct plan *p, bool is_root, u32 n_asof)
{
	if (p->input)
		assign(slots, p->input, is_root, n_asof);
	if (p->right)
		assign(slots, p->right, false, n_asof + (p->join.kind == JOIN_ASOF));
	for (u32 i = 0; i < p->n_inputs; i++)
		assign(slots, p->inputs[i], is_root, n_asof);
	if (p->kind == PLAN_SCAN) {
		struct slot_source *s = slots_source(slots, p->scan.source);

		s->first = slots->n_slots;
		s->is_root = is_root;
		s->n_asof = n_asof;
		slots->n_slots += s->source->n_columns;
	} else if (p->kind == PLAN_RUNNING) {
		slots->running[p->running.number] = slots->n_slots++;
	}
}

void slots_init(struct slots *slots, const struct plan *plan, const struct phys_source *sources,
		u32 n_sources, struct arena *arena)
{
	*slots = (struct slots){ .arena = arena, .n_sources = n_sources };
	slots->sources = arena_array(arena, struct slot_source, MAX(n_sources, 1u));
	for (u32 i = 0; i < n_sources; i++)
		slots->sources[i].source = &sources[i];
	count_running(slots, plan);
	slots->running = arena_array(arena, u32, MAX(slots->n_running, 1u));
	assign(slots, plan, true, 0);
}

static void widen(u32 lo, u32 hi, u32 *ret_lo, u32 *ret_hi)
{
	*ret_lo = MIN(*ret_lo, lo);
	*ret_hi = MAX(*ret_hi, hi);
}

static void find_range(const struct slots *slots, const struct plan *p, u32 *lo, u32 *hi)
{
	if (p->input)
		find_range(slots, p->input, lo, hi);
	if (p->right)
		find_range(slots, p->right, lo, hi);
	for (u32 i = 0; i < p->n_inputs; i++)
		find_range(slots, p->inputs[i], lo, hi);
	if (p->kind == PLAN_SCAN) {
		const struct slot_source *s = slots_source(slots, p->scan.source);

		widen(s->first, s->first + s->source->n_columns, lo, hi);
	} else if (p->kind == PLAN_RUNNING) {
		u32 slot = slots->running[p->running.number];

		widen(slot, slot + 1, lo, hi);
	}
}

void slots_range(const struct slots *slots, const struct plan *tree, u32 *ret_lo, u32 *ret_hi)
{
	*ret_lo = UINT32_MAX;
	*ret_hi = 0;
	find_range(slots, tree, ret_lo, ret_hi);
}

static void note_source(void *context, struct expr *e)
{
	if (e->kind == EXPR_FIELD || e->kind == EXPR_SYSTEM)
		*(u32 *)context = e->source;
}

s32 slots_find(const struct slots *slots, const struct expr *e)
{
	const struct slot_source *s;
	u32 number = 0;

	if (e->kind == EXPR_RUNNING)
		return (s32)slots->running[e->index];
	if (e->kind != EXPR_FIELD && e->kind != EXPR_SYSTEM && e->kind != EXPR_MEMBER)
		return -1;
	expr_each((struct expr *)e, note_source, &number);
	s = slots_source(slots, number);
	for (u32 i = 0; i < s->source->n_columns; i++)
		if (expr_equal(s->source->columns[i].expr, e))
			return (s32)(s->first + i);
	BUG("source %u has no column %s", number, e->name ? e->name : "?");
}
