/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Clocks of times.  What only CLOCK_REALTIME gives a meaning to, dates and the bounds of
 * windows, meets times of the kernel's events by way of eb_real_time().  And where one tree of
 * joins and unions reads streams of the kernel and files, user space puts the events on the
 * clock of the files (tree/tree.h), so that times of the two compare; their types say so.
 */
#include <string.h>

#include "plan/bind.h"

enum { READS_STREAM = 1, READS_FILE = 2, READS_BOTH = 3 };

static void set_real(void *context, struct expr *e)
{
	/* It is already. */
	if (e->kind == EXPR_CALL && e->function == &function_real_time)
		*e = *e->args[0];
	e->type.clock = CLOCK_REAL;
	if (e->plan)
		bind_one_clock(e->plan);
}

static void set_slot(void *context, struct expr **e)
{
	expr_each(*e, set_real, context);
}

static void look_into(void *context, struct expr *e)
{
	if (e->plan)
		bind_one_clock(e->plan);
}

static void look_slot(void *context, struct expr **e)
{
	expr_each(*e, look_into, context);
}

/* Does the operator combine rows by itself, in the order of their times? */
static bool is_of_one_tree(enum plan_kind kind)
{
	return kind != PLAN_RELATE && kind != PLAN_DERIVED && kind != PLAN_SET;
}

static u32 walk(struct plan *p)
{
	u32 reads = 0;

	if (p->kind == PLAN_SCAN)
		return p->scan.streams->streams.at[0]->kind == STREAM_FILE ? READS_FILE
									   : READS_STREAM;
	if (p->input)
		reads |= walk(p->input);
	if (p->right)
		reads |= walk(p->right);
	for (u32 i = 0; i < p->n_inputs; i++)
		reads |= walk(p->inputs[i]);
	if (!is_of_one_tree(p->kind))
		reads = 0;
	for (u32 i = 0; i < p->aggregate.n && reads == READS_BOTH; i++)
		p->aggregate.list[i].type.clock = CLOCK_REAL;
	plan_each_expr(p, reads == READS_BOTH ? set_slot : look_slot, NULL);
	return reads;
}

void bind_one_clock(struct plan *plan)
{
	walk(plan);
}

static bool is_mono(const struct expr *e)
{
	return e->type.kind == TYPE_TIMESTAMP && e->type.clock == CLOCK_MONO;
}

static struct expr *real_time(struct arena *arena, struct expr *x)
{
	struct expr *e = expr_new(arena, EXPR_CALL, x->span);

	e->name = function_real_time.name;
	e->function = &function_real_time;
	e->args = arena_new(arena, struct expr *);
	e->args[0] = x;
	e->n_args = 1;
	expr_infer(e);
	return e;
}

struct expr *bind_real_time(struct arena *arena, struct expr *e)
{
	struct expr *copy = NULL;

	if (is_mono(e))
		return real_time(arena, e);
	for (u32 i = 0; i < e->n_args; i++) {
		struct expr *real = bind_real_time(arena, e->args[i]);

		if (real == e->args[i])
			continue;
		if (!copy) {
			copy = arena_new(arena, struct expr);
			*copy = *e;
			copy->args = arena_array(arena, struct expr *, e->n_args);
			memcpy(copy->args, e->args, e->n_args * sizeof(*e->args));
		}
		copy->args[i] = real;
	}
	if (copy)
		expr_infer(copy);
	return copy ? copy : e;
}

static void find_later(void *context, struct expr *e)
{
	bool *is_later = context;

	*is_later |= e->kind == EXPR_KEY || e->kind == EXPR_AGGREGATE || e->kind == EXPR_COLUMN ||
		     e->kind == EXPR_WINDOW_START || e->kind == EXPR_WINDOW_END;
}

/* Of rows that are made of rows: what bind_one_clock() sees to is below. */
static bool is_later(struct expr *e)
{
	bool found = false;

	expr_each(e, find_later, &found);
	return found;
}

void bind_clocks(struct scope *scope, enum ast_op op, struct expr **a, struct expr **b)
{
	bool is_wanted = op == OP_SUB || (op >= OP_EQ && op <= OP_GE);

	if (!is_wanted || (*a)->type.kind != TYPE_TIMESTAMP || (*b)->type.kind != TYPE_TIMESTAMP ||
	    (*a)->type.clock == (*b)->type.clock || !(is_later(*a) || is_later(*b)))
		return;
	*a = bind_real_time(scope->arena, *a);
	*b = bind_real_time(scope->arena, *b);
}
