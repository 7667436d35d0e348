/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Clocks of times: where one tree of joins and unions reads streams of the kernel and
 * files, user space puts the kernel's events on the clock of the files (tree/tree.h), so
 * that times of the two compare; their types say so.
 */
#include "plan/bind.h"

enum { READS_STREAM = 1, READS_FILE = 2, READS_BOTH = 3 };

static void set_real(void *context, struct expr *e)
{
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
