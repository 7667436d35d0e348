/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The FROM tree -> the way of each source's events: up the tree, through filters and
 * look-ups, to a store or to the root.
 */
#include "phys/internal.h"

/* The way from an operator to the root, nearest step first. */
struct way {
	struct phys_step step;
	const struct way *next;
};

typedef VEC(struct phys_source) source_vec;

struct rows_walk {
	struct phys *phys;
	source_vec sources;
};

static void count_kind(void *context, struct plan *p)
{
	((u32 *)context)[p->kind]++;
}

static void add_source(struct rows_walk *w, const struct plan *scan, const struct way *way)
{
	struct phys_source s = { .number = scan->scan.source,
				 .scan = scan,
				 .streams = scan->scan.streams,
				 .is_root = true };
	u32 n = 0;

	for (const struct way *at = way; at; at = at->next)
		n++;
	s.steps = arena_array(w->phys->arena, struct phys_step, MAX(n, 1u));
	for (; way; way = way->next) {
		s.steps[s.n_steps++] = way->step;
		if (way->step.kind == STEP_STORE) {
			s.is_root = false;
			break;
		}
	}
	vec_push(w->phys->arena, &w->sources, s);
}

static struct way *step_new(struct rows_walk *w, enum phys_step_kind kind, const struct plan *p,
			    const struct way *next)
{
	struct way *way = arena_new(w->phys->arena, struct way);

	way->step.kind = kind;
	way->step.span = p->span;
	way->next = next;
	return way;
}

static void plan_join_keys(struct phys *phys, struct phys_join *j, const struct plan *p)
{
	j->n_keys = p->join.n_keys;
	j->keys = arena_array(phys->arena, struct phys_key, MAX(j->n_keys, 1u));
	for (u32 i = 0; i < j->n_keys; i++) {
		const struct expr *left = p->join.keys[i].left, *right = p->join.keys[i].right;
		struct phys_key *key = &j->keys[i];
		u32 bytes = MAX(left->type.bytes, right->type.bytes);

		*key = (struct phys_key){ .expr = p->join.keys[i].left, .null_bit = -1 };
		key->first_word = j->key_words;
		key->n_words = left->type.kind == TYPE_TEXT ? (u32)ALIGN_UP(bytes, 8) / 8 : 1;
		j->key_words += key->n_words;
	}
}

static void walk(struct rows_walk *w, const struct plan *p, const struct way *way);

static void walk_join(struct rows_walk *w, const struct plan *p, const struct way *way)
{
	struct arena *arena = w->phys->arena;
	struct phys_join *j = &w->phys->joins[w->phys->n_joins];
	struct way *look_up = step_new(w, STEP_LOOKUP, p, way);
	struct way *store = step_new(w, STEP_STORE, p, NULL);

	*j = (struct phys_join){ .number = w->phys->n_joins++,
				 .plan = p,
				 .span = p->span,
				 .join = p->join.kind,
				 .is_left = p->join.is_left,
				 .within_ns = p->join.within_ns };
	plan_join_keys(w->phys, j, p);
	look_up->step.join = store->step.join = j;
	look_up->step.keys = arena_array(arena, struct expr *, MAX(j->n_keys, 1u));
	store->step.keys = arena_array(arena, struct expr *, MAX(j->n_keys, 1u));
	for (u32 i = 0; i < j->n_keys; i++) {
		look_up->step.keys[i] = p->join.keys[i].left;
		store->step.keys[i] = p->join.keys[i].right;
	}
	walk(w, p->input, look_up);
	walk(w, p->right, store);
}

static void walk_running(struct rows_walk *w, const struct plan *p, const struct way *way)
{
	struct phys_running *r = &w->phys->runnings[w->phys->n_runnings++];
	struct way *step = step_new(w, STEP_RUNNING, p, way);

	*r = (struct phys_running){ .number = p->running.number, .plan = p };
	step->step.running = r;
	walk(w, p->input, step);
}

/* Events of an empty branch are not asked for, unless all are empty. */
static void walk_union(struct rows_walk *w, const struct plan *p, const struct way *way)
{
	u32 n_empty = 0;

	for (u32 i = 0; i < p->n_inputs; i++)
		n_empty += plan_is_empty(p->inputs[i]);
	for (u32 i = 0; i < p->n_inputs; i++)
		if (n_empty == p->n_inputs || !plan_is_empty(p->inputs[i]))
			walk(w, p->inputs[i], way);
}

static void walk(struct rows_walk *w, const struct plan *p, const struct way *way)
{
	struct way *filter;

	if (p->kind == PLAN_SCAN) {
		add_source(w, p, way);
	} else if (p->kind == PLAN_FILTER) {
		filter = step_new(w, STEP_FILTER, p, way);
		filter->step.conjuncts = p->filter.conjuncts;
		filter->step.n_conjuncts = p->filter.n_conjuncts;
		walk(w, p->input, filter);
	} else if (p->kind == PLAN_JOIN) {
		walk_join(w, p, way);
	} else if (p->kind == PLAN_RUNNING) {
		walk_running(w, p, way);
	} else {
		BUG_ON(p->kind != PLAN_UNION);
		walk_union(w, p, way);
	}
}

void phys_rows(struct phys *phys, const struct phys_input *input)
{
	const struct plan *rows = plan_rows(input->plan);
	enum plan_kind top = phys->is_streaming ? PLAN_PROJECT : PLAN_AGGREGATE;
	const struct plan *output = plan_find(input->plan, top);
	struct rows_walk w = { .phys = phys };
	u32 n[PLAN_N] = { 0 };

	phys->shared = output->shared;
	phys->n_shared = output->n_shared;
	plan_each((struct plan *)rows, count_kind, n);
	phys->joins = arena_array(phys->arena, struct phys_join, n[PLAN_JOIN]);
	phys->runnings = arena_array(phys->arena, struct phys_running, n[PLAN_RUNNING]);
	walk(&w, rows, NULL);
	phys->sources = w.sources.at;
	phys->n_sources = w.sources.n;
	/* A look-up drops what has no partner, unless the join is a LEFT one; a sum nothing. */
	for (u32 i = 0; i < phys->n_sources; i++)
		for (u32 j = 0; phys->sources[i].is_root && j < phys->sources[i].n_steps; j++)
			phys->has_matched |= phys->sources[i].steps[j].kind == STEP_LOOKUP ||
					     phys->sources[i].steps[j].n_conjuncts > 0;
}

/* --- Which expressions there are --- */

void phys_each_output(const struct phys *phys, void (*visit)(void *context, struct expr *expr),
		      void *context)
{
	for (u32 i = 0; i < phys->n_keys; i++)
		visit(context, phys->keys[i].expr);
	for (u32 i = 0; i < phys->n_cells; i++) {
		const struct cell *cell = &phys->cells[i];
		struct expr *const all[] = { cell->arg, cell->filter, cell->time, cell->weight };

		for (u32 k = 0; k < ARRAY_SIZE(all); k++)
			if (all[k])
				visit(context, all[k]);
	}
	for (u32 i = 0; i < phys->n_columns; i++)
		visit(context, phys->columns[i].expr);
}

void phys_each_behind(const struct phys *phys, const struct phys_source *source, u32 from,
		      void (*visit)(void *context, struct expr *expr), void *context)
{
	for (u32 i = from; i < source->n_steps; i++) {
		const struct phys_step *step = &source->steps[i];
		const struct plan_running *running =
			step->running ? &step->running->plan->running : NULL;

		for (u32 j = 0; j < step->n_conjuncts; j++)
			visit(context, step->conjuncts[j]);
		for (u32 j = 0; step->join && j < step->join->n_keys; j++)
			visit(context, step->keys[j]);
		for (u32 j = 0; step->kind == STEP_STORE && j < step->join->n_columns; j++)
			visit(context, step->join->columns[j].expr);
		if (running)
			visit(context, running->arg);
		for (u32 j = 0; running && j < running->n_keys; j++)
			visit(context, running->keys[j]);
	}
	if (source->is_root)
		phys_each_output(phys, visit, context);
}
