/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Times of rows and their clocks.  What only CLOCK_REALTIME gives a meaning to, dates, the
 * bounds of windows and times of files, meets times of the kernel's events by way of
 * eb_real_time().  But where one tree of joins and unions reads streams of the kernel and files,
 * user space puts the events on the clock of the files (tree/tree.h): their times are real,
 * and their types say so from the moment that the tree is known.
 */
#include <strings.h>

#include "plan/bind.h"

/* A file without a column `time`, or NULL: it is a table, and nothing tells when its rows happened.
 */
static const struct plan *find_table(struct scope *scope, const struct plan *rows)
{
	trigger_vec triggers = { 0 };

	plan_triggers(rows, scope->arena, &triggers);
	for (u32 i = 0; i < triggers.n; i++) {
		const struct plan *scan = scope->shared->scans.at[triggers.at[i]];
		const struct stream *s = scan->scan.streams->streams.at[0];

		if (s->kind == STREAM_FILE && s->file->time_column < 0)
			return scan;
	}
	return NULL;
}

bool bind_has_times(struct scope *scope, const struct plan *rows)
{
	return !find_table(scope, rows);
}

#define HOW_TIME                                                                                    \
	"a column of that name, whose values are all whole numbers of ns since 1970; without it a " \
	"file is a table for JOIN"

struct expr *bind_time_of(struct scope *scope, const struct plan *tree, struct span span)
{
	const struct plan *table = find_table(scope, tree);
	const struct stream *s = table ? table->scan.streams->streams.at[0] : NULL;
	struct expr *e;

	if (table)
		return diag_refuse(scope->diags, "no-time", table->span,
				   s->file->no_time
					   ? "%s has a column \"time\" that does not tell when all "
					     "its rows happened: %s" HINT HOW_TIME
					   : "%s has no column \"time\", which tells when its rows "
					     "happened%s" HINT HOW_TIME,
				   s->name, s->file->no_time ? s->file->no_time : "");
	e = plan_time(tree, scope->arena);
	e->span = span;
	return e;
}

/* Of a kernel's event, or the column of a file; fields of kernel events are no TIMESTAMPs. */
static bool is_time(const struct expr *e)
{
	if (e->kind == EXPR_FIELD)
		return e->type.kind == TYPE_TIMESTAMP && strcasecmp(e->name, "time") == 0;
	return e->kind == EXPR_SYSTEM && e->index == SYS_TIME;
}

bool bind_is_time_of(struct arena *arena, const struct expr *e, const struct plan *tree)
{
	trigger_vec triggers = { 0 };

	plan_triggers(tree, arena, &triggers);
	for (u32 i = 0; i < triggers.n; i++) {
		const struct expr *of = expr_branch(arena, (struct expr *)e, triggers.at[i]);

		if (!is_time(of) || of->source != triggers.at[i])
			return false;
	}
	return true;
}

void bind_difference(struct scope *scope, struct expr *e)
{
	const struct expr *a = e->args[0], *b = e->op == OP_SUB ? e->args[1] : NULL;

	if (!b || a->type.kind != TYPE_TIMESTAMP || b->type.kind != TYPE_TIMESTAMP)
		return;
	for (u32 i = 0; i < scope->shared->joins.n; i++) {
		const struct plan *join = scope->shared->joins.at[i];

		if (!bind_is_time_of(scope->arena, a, join->input) ||
		    !bind_is_time_of(scope->arena, b, join->right))
			continue;
		e->type = (struct type){ .kind = TYPE_DURATION, .bits = 64 };
		e->lo = 0;
		e->hi = a->hi;
		e->may_overflow = false;
		e->nullable = a->nullable || b->nullable;
		return;
	}
}

/* --- Clocks --- */

static void note_scan(void *context, struct plan *p)
{
	bool *reads = context; /* streams, files */

	if (p->kind == PLAN_SCAN)
		reads[p->scan.streams->streams.at[0]->kind == STREAM_FILE] = true;
}

static void set_real(void *context, struct expr *e)
{
	(void)context;
	/* It is already. */
	if (e->kind == EXPR_CALL && e->function == &function_real_time)
		*e = *e->args[0];
	if (e->type.kind == TYPE_TIMESTAMP)
		e->type.clock = CLOCK_REAL;
}

bool bind_one_clock(struct plan *tree)
{
	bool reads[2] = { false, false };

	plan_each(tree, note_scan, reads);
	if (!reads[0] || !reads[1])
		return false;
	plan_each_node(tree, set_real, NULL);
	return true;
}

void bind_real_items(struct item *items, u32 n)
{
	for (u32 i = 0; i < n; i++)
		expr_each(items[i].expr, set_real, NULL);
}

struct expr *bind_real_time(struct arena *arena, struct expr *e)
{
	struct expr *copy = e;

	if (e->type.kind == TYPE_TIMESTAMP && e->type.clock == CLOCK_MONO) {
		struct expr **args = arena_new(arena, struct expr *);

		args[0] = e;
		return expr_call(arena, &function_real_time, e->span, args, 1);
	}
	for (u32 i = 0; i < e->n_args; i++) {
		struct expr *real = bind_real_time(arena, e->args[i]);

		if (real == e->args[i])
			continue;
		copy = copy == e ? expr_copy(arena, e) : copy;
		copy->args[i] = real;
	}
	if (copy != e)
		expr_infer(copy);
	return copy;
}

void bind_clocks(struct scope *scope, enum ast_op op, struct expr **a, struct expr **b)
{
	bool is_wanted = op == OP_SUB || (op >= OP_EQ && op <= OP_GE);

	if (!is_wanted || (*a)->type.kind != TYPE_TIMESTAMP || (*b)->type.kind != TYPE_TIMESTAMP ||
	    (*a)->type.clock == (*b)->type.clock)
		return;
	*a = bind_real_time(scope->arena, *a);
	*b = bind_real_time(scope->arena, *b);
}
