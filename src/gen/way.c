/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The way of an event: through conditions, look-ups and running sums, to its store or to the
 * query's output.
 *
 * Uses whose ways begin alike go together until they part: what they test, look up, store and
 * compute alike is done once.  It is only counted for each.
 */
#include "gen/internal.h"

/* Does computing e compute the part? */
static bool contains(const struct gen *g, const struct expr *e, const struct expr *part)
{
	/* What a start has stored as a whole is there, and its parts are not. */
	if (gen_stored(g, e))
		return false;
	if (expr_equal(e, part))
		return true;
	/* A branch of a union is computed on its own way. */
	for (u32 i = 0; e->kind != EXPR_UNION && i < e->n_args; i++)
		if (contains(g, e->args[i], part))
			return true;
	return false;
}

/* What the plan computes once is computed ahead of e, where e needs it. */
static void compute_shared(struct gen *g, const struct expr *e)
{
	for (u32 i = 0; i < g->phys->n_shared; i++)
		if (contains(g, e, g->phys->shared[i]))
			gen_value(g, g->phys->shared[i], g->done);
}

/*
 * One event has one time, and one value of a field that is computed of the kernel's memory, which
 * may change meanwhile, and of members that are read at once: they are read once, before the first
 * expression that uses them, where no join of ways can make them forgotten.
 */
static void read_once(void *context, struct expr *e)
{
	struct gen *g = context;
	const struct expr *raw = e->kind == EXPR_FIELD ? gen_raw_of(g, e) : NULL;

	if (e->source == g->source->number &&
	    ((raw && gen_is_computed(raw)) || (e->kind == EXPR_SYSTEM && e->index == SYS_TIME)))
		gen_operand(g, e, g->done);
	gen_read_together(g, e);
}

static void read_ahead(void *context, struct expr *e)
{
	struct gen *g = context;

	expr_each(e, read_once, g);
	compute_shared(g, e);
}

static void read_output(struct gen *g)
{
	phys_each_output(g->phys, read_ahead, g);
	for (u32 i = 0; i < g->source->n_columns; i++)
		read_ahead(g, g->source->columns[i].expr);
}

static void filter(struct gen *g, const struct expr *e)
{
	label yes = ir_label(g->ir);
	u32 fork;

	read_ahead(g, (struct expr *)e);
	fork = gen_fork(g);

	ir_at(g->ir, e->span);
	gen_condition(g, e, yes, g->done, g->done, yes);
	ir_place(g->ir, yes);
	/* Every way to here went through a comparison as a whole, but not through all
	 * sides of an OR. */
	if (e->kind == EXPR_OP && (e->op == OP_AND || e->op == OP_OR || e->op == OP_NOT))
		gen_join(g, fork);
	if (e->kind == EXPR_CASE || e->kind == EXPR_IS_NULL || e->kind == EXPR_UNION)
		gen_join(g, fork);
}

/* Keys and what a start keeps may be computed in branches. */
static void read_step(struct gen *g, const struct phys_step *step)
{
	if (step->running) {
		read_ahead(g, step->running->plan->running.arg);
		for (u32 i = 0; i < step->running->n_keys; i++)
			read_ahead(g, step->running->keys[i].expr);
		return;
	}
	for (u32 i = 0; i < step->join->n_keys; i++)
		read_ahead(g, step->keys[i]);
	for (u32 i = 0; step->kind == STEP_STORE && i < step->join->n_columns; i++)
		if (step->join->columns[i].bytes_offset != PAIR_TIME_BYTES)
			read_ahead(g, step->join->columns[i].expr);
}

/* What is left of the way, to its store or to the query's output. */
static void go_on(struct gen *g, u32 n_passed)
{
	const struct phys_source *s = g->source;

	g->operator_number = s->first_operator;
	if (s->is_root)
		gen_count(g, COUNTER_EVENTS);
	gen_count_out(g);
	for (u32 i = 0; i < s->n_steps; i++) {
		const struct phys_step *step = &s->steps[i];

		g->operator_number = s->first_operator + 1 + i;
		if (step->join && n_passed) {
			n_passed--;
			if (step->kind == STEP_LOOKUP)
				gen_check_order(g, step);
			continue;
		}
		if (step->join || step->running)
			read_step(g, step);
		for (u32 k = 0; k < step->n_conjuncts; k++)
			if (n_passed)
				n_passed--;
			else
				filter(g, step->conjuncts[k]);
		if (step->kind == STEP_LOOKUP)
			gen_look_up(g, step);
		else if (step->kind == STEP_RUNNING)
			gen_running(g, step);
		else if (step->kind == STEP_STORE)
			gen_store(g, step);
		if (step->kind != STEP_STORE)
			gen_count_out(g);
	}
	if (!s->is_root)
		return;
	g->operator_number = g->phys->n_operators - 1;
	if (g->phys->has_matched && g->phys->matched_cell < 0)
		gen_count(g, COUNTER_MATCHED);
	read_output(g);
	if (g->phys->is_streaming)
		gen_stream(g);
	else
		gen_cells(g, gen_row(g));
}

/* By itself, from where others left it. */
static void go_alone(struct gen *g, const struct hook_use *use, u32 n_passed)
{
	vreg begun = use->phys->has_budget ? gen_imm(g, 0) : 0;

	g->done = ir_label(g->ir);
	g->n_crowd = 0;
	if (gen_is_handed(g, use)) {
		gen_enter_use(g, use, g->done);
		if (begun)
			gen_budget_begin(g, begun);
		go_on(g, n_passed);
	}
	ir_place(g->ir, g->done);
	if (begun)
		gen_budget_end(g, begun);
}

/* --- Several uses --- */

/* What those compute who have no more conditions to pass. */
struct wanted {
	const struct gen *g;
	u32 use;
	VEC(struct wanted_expr {
		struct expr *expr;
		u32 last_use;
		bool is_shared;
	})
	list;
};

/* Without branches and faults: whoever does not need it after all has lost little. */
static bool is_plain(const struct gen *g, const struct expr *e)
{
	bool is_arithmetic = e->kind == EXPR_OP && (e->op < OP_EQ || e->op > OP_OR) &&
			     e->op != OP_NOT && !expr_can_fail(e);
	bool is_read = e->kind == EXPR_SYSTEM || e->kind == EXPR_FIELD;
	const struct stored *known = gen_stored(g, e);

	/* Of an event that was looked up it can be had where it was kept; a fault is one for each.
	 */
	if (known && !known->nulls)
		return true;
	if (known || e->nullable || gen_is_text(e) || e->pid_ns || e->source == RAW_SOURCE ||
	    (is_read && e->source != g->source->number) ||
	    !(is_arithmetic || e->kind == EXPR_SYSTEM || e->kind == EXPR_FIELD ||
	      e->kind == EXPR_INTEGER || (e->kind == EXPR_MEMBER && gen_is_trusted(g, e))))
		return false;
	for (u32 i = 0; i < e->n_args; i++)
		if (!is_plain(g, e->args[i]))
			return false;
	return true;
}

static bool is_worth_it(const struct gen *g, const struct expr *e)
{
	if (e->kind == EXPR_SYSTEM)
		return e->index != SYS_CPU && !gen_is_probe(e);
	return e->kind == EXPR_OP || e->kind == EXPR_MEMBER ||
	       (e->kind == EXPR_FIELD && gen_raw_of(g, e));
}

static void note_wanted(void *context, struct expr *e)
{
	struct wanted *w = context;

	if (!is_plain(w->g, e) || !is_worth_it(w->g, e)) {
		for (u32 i = 0; e->kind != EXPR_CASE && e->kind != EXPR_UNION && i < e->n_args; i++)
			note_wanted(w, e->args[i]);
		return;
	}
	for (u32 i = 0; i < w->list.n; i++) {
		struct wanted_expr *x = &w->list.at[i];

		if (!expr_equal(x->expr, e))
			continue;
		x->is_shared |= x->last_use != w->use;
		return;
	}
	vec_push(w->g->arena, &w->list, (struct wanted_expr){ .expr = e, .last_use = w->use });
}

/* Ahead of where they part: what two of those need that only the output is left for. */
static void compute_ahead(struct gen *g, u32 n_passed)
{
	struct wanted w = { .g = g };

	for (w.use = 0; w.use < g->n_crowd; w.use++) {
		const struct phys_source *s = g->crowd[w.use]->source;
		u32 n = 0;

		for (u32 i = 0; i < s->n_steps; i++)
			n += s->steps[i].n_conjuncts + (s->steps[i].kind != STEP_FILTER);
		if (n > n_passed || !s->is_root || s->number != g->source->number)
			continue;
		phys_each_output(g->crowd[w.use]->phys, note_wanted, &w);
		for (u32 i = 0; i < s->n_columns; i++)
			note_wanted(&w, s->columns[i].expr);
	}
	for (u32 i = 0; i < w.list.n; i++)
		if (w.list.at[i].is_shared)
			gen_value(g, w.list.at[i].expr, g->done);
}

/* What none of them wants any more, they have seen. */
static void count_events(struct gen *g)
{
	for (u32 i = 0; i < g->n_crowd; i++) {
		label over = ir_label(g->ir);

		if (!g->crowd[i]->source->is_root)
			continue;
		gen_enter_use(g, g->crowd[i], over);
		gen_add_one(g, g->slice, 8 * COUNTER_EVENTS);
		ir_place(g->ir, over);
	}
}

/* The first of the uses, and those that go on with it: they are taken out. */
static u32 take_crowd(const struct hook_use **uses, u32 *n_uses, u32 n_alike,
		      const struct hook_use **ret_crowd)
{
	const struct hook_use *first = uses[0];
	u32 n = 0, n_left = 0;

	for (u32 i = 0; i < *n_uses; i++)
		if (i == 0 || phys_n_alike(first, uses[i]) > n_alike)
			ret_crowd[n++] = uses[i];
		else
			uses[n_left++] = uses[i];
	*n_uses = n_left;
	return n;
}

static void go_together(struct gen *g, const struct hook_use *const *crowd, u32 n, u32 n_passed);

/* What was computed up to where they part is known to each: of the same event, by its name there.
 */
static void part(struct gen *g, u32 n_passed)
{
	const struct hook_use **uses = arena_array(g->arena, const struct hook_use *, g->n_crowd);
	const struct hook_use **crowd = arena_array(g->arena, const struct hook_use *, g->n_crowd);
	u32 n_uses = g->n_crowd, source = g->source->number;
	const struct gen known = *g, nothing = { .arena = g->arena };

	memcpy(uses, g->crowd, n_uses * sizeof(*uses));
	while (n_uses) {
		u32 n = take_crowd(uses, &n_uses, n_passed + 1, crowd);
		bool is_same = crowd[0]->source->number == source;

		g->memos = is_same ? known.memos : nothing.memos;
		g->texts = is_same ? known.texts : nothing.texts;
		g->looked_up = known.looked_up;
		g->taken_at = known.taken_at;
		g->slots.n = 0; /* conditions and joins that others pass too make none */
		g->phys = crowd[0]->phys;
		gen_know_looked_up(g);
		if (n == 1)
			go_alone(g, crowd[0], n_passed);
		else
			go_together(g, crowd, n, n_passed);
	}
	g->crowd = known.crowd;
	g->n_crowd = known.n_crowd;
}

/* One point of the way, by all of the crowd.  false: that is its end. */
static bool pass(struct gen *g, u32 n)
{
	struct phys_point point = phys_point(g->source, n);

	if (point.condition) {
		filter(g, point.condition);
		return true;
	}
	for (u32 i = g->n_crowd; i--;) {
		g->phys = g->crowd[i]->phys;
		g->source = g->crowd[i]->source;
		read_step(g, phys_point(g->source, n).step);
	}
	if (point.step->kind == STEP_LOOKUP)
		gen_look_up(g, point.step);
	else
		gen_store(g, point.step);
	return point.step->kind == STEP_LOOKUP;
}

static void go_together(struct gen *g, const struct hook_use *const *crowd, u32 n, u32 n_passed)
{
	bool goes_on = true;
	const struct hook_use **own = arena_array(g->arena, const struct hook_use *, n);
	label failed = ir_label(g->ir), end = ir_label(g->ir);
	u32 n_alike = UINT32_MAX;

	memcpy(own, crowd, n * sizeof(*own));
	for (u32 i = 1; i < n; i++)
		n_alike = MIN(n_alike, phys_n_alike(crowd[0], crowd[i]) - 1);
	g->crowd = own;
	g->n_crowd = n;
	g->slice = 0;
	g->use = crowd[0];
	g->phys = g->use->phys;
	g->source = g->use->source;
	g->done = failed;
	while (n_passed < n_alike)
		goes_on = pass(g, n_passed++);
	if (goes_on) {
		compute_ahead(g, n_passed);
		part(g, n_passed);
	}
	ir_jump(g->ir, end);
	ir_place(g->ir, failed);
	count_events(g);
	ir_place(g->ir, end);
}

void gen_way(struct gen *g, const struct hook_use *const *crowd, u32 n)
{
	if (n == 1)
		go_alone(g, crowd[0], 0);
	else
		go_together(g, crowd, n, 0);
}
