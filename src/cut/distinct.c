/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * SELECT DISTINCT a, b of rows -> groups by a and b, which the kernel makes.
 */
#include "cut/build.h"

static bool is_item(const struct chain *ch, const struct expr *e)
{
	for (u32 i = 0; i < ch->project->project.n_items; i++)
		if (expr_equal(ch->project->project.items[i].expr, e))
			return true;
	return expr_is_constant(e);
}

static bool can_group(const struct cutter *c, const struct chain *ch)
{
	const struct plan_project *p;
	u32 n = 0;

	/* A set of selects has no projection of its own. */
	if (!ch->project || !ch->distinct || ch->aggregate || ch->over || cut_refuse_rows(c, ch))
		return false;
	p = &ch->project->project;
	for (u32 i = 0; i < p->n_items; i++) {
		const struct expr *e = p->items[i].expr;

		if (p->items[i].is_unnest || !cut_is_kernel_expr(e, ch->from))
			return false;
		n += !expr_is_constant(e);
	}
	for (u32 i = 0; ch->sort && i < ch->sort->sort.n_keys; i++)
		if (!is_item(ch, ch->sort->sort.keys[i].expr))
			return false;
	return n > 0;
}

/* The key that is that expression. */
static struct expr *key_of(struct cutter *c, const struct plan *a, struct expr *e)
{
	struct expr *ref;
	u32 index = 0;

	if (expr_is_constant(e))
		return e;
	while (!expr_equal(a->aggregate.keys[index].expr, e))
		index++;
	ref = arena_new(c->arena, struct expr);
	*ref = *e;
	ref->kind = EXPR_KEY;
	ref->source = a->aggregate.number;
	ref->args = NULL;
	ref->n_args = 0;
	ref->index = index;
	ref->nullable = true; /* in the "(other)" row */
	return ref;
}

static struct plan *copy_of(struct cutter *c, const struct plan *plan)
{
	struct plan *copy = arena_new(c->arena, struct plan);

	*copy = *plan;
	return copy;
}

void cut_group_distinct(struct cutter *c, struct chain *ch)
{
	const struct query_window *w = &c->query->window;
	struct plan *a, *project, *sort;
	struct item *keys;
	u32 n;

	if (!can_group(c, ch))
		return;
	n = ch->project->project.n_items;
	a = arena_new(c->arena, struct plan);
	a->kind = PLAN_AGGREGATE;
	a->input = ch->project->input;
	a->span = ch->project->span;
	/* A select that is read in several places is one each time. */
	a->aggregate.number = c->grouped.n;
	vec_push(c->arena, &c->grouped, arena_new(c->arena, struct grouped));
	a->aggregate.keys = keys = arena_array(c->arena, struct item, n);
	a->aggregate.window = w->kind;
	a->aggregate.window_ns = w->size;
	a->aggregate.advance_ns = w->kind == WINDOW_HOPPING ? w->advance : 0;
	for (u32 i = 0; i < n; i++)
		if (!expr_is_constant(ch->project->project.items[i].expr))
			keys[a->aggregate.n_keys++] = ch->project->project.items[i];
	project = copy_of(c, ch->project);
	project->input = a;
	project->project.items = arena_array(c->arena, struct item, n);
	for (u32 i = 0; i < n; i++) {
		project->project.items[i] = ch->project->project.items[i];
		project->project.items[i].expr = key_of(c, a, project->project.items[i].expr);
	}
	if (ch->sort) {
		sort = copy_of(c, ch->sort);
		sort->sort.keys = arena_array(c->arena, struct sort_key, sort->sort.n_keys);
		for (u32 i = 0; i < sort->sort.n_keys; i++) {
			sort->sort.keys[i] = ch->sort->sort.keys[i];
			sort->sort.keys[i].expr = key_of(c, a, sort->sort.keys[i].expr);
		}
		ch->sort = sort;
	}
	ch->aggregate = a;
	ch->project = project;
	ch->distinct = NULL;
}
