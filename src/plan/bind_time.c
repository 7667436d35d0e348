/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Times of rows and their clocks.  What only CLOCK_REALTIME gives a meaning to, dates, the
 * bounds of windows and times of files, meets times of the kernel's events by way of
 * eb_real_time().  But where one tree of joins and unions reads streams of the kernel and files,
 * user space puts the events on the clock of the files (tree/tree.h): their times are real,
 * and their types say so from the moment that the tree is known.
 */
#include <string.h>
#include <strings.h>

#include "plan/bind.h"

/* An iterator, or a file without a column `time`, or NULL: it is a table, and nothing tells when
 * its rows happened. */
static const struct plan *find_table(struct scope *scope, const struct plan *rows)
{
	trigger_vec triggers = { 0 };

	plan_triggers(rows, scope->arena, &triggers);
	for (u32 i = 0; i < triggers.n; i++) {
		const struct plan *scan = scope->shared->scans.at[triggers.at[i]];
		const struct stream *s = scan->scan.streams->streams.at[0];

		if (!stream_has_times(s))
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

	if (table && s->kind == STREAM_ITERATOR)
		return diag_refuse(scope->diags, "no-time", table->span,
				   "%s is a list of the kernel as it is now, and its rows have no "
				   "times" HINT "JOIN takes it as a table",
				   s->name);
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

/* --- Selects of events --- */

/* The name, by its address, of a column that is not there for the query to read. */
const char bind_event_time[] = "#time";

static const struct plan *below(const struct plan *p, const enum plan_kind kinds[2])
{
	while (p->kind == kinds[0] || p->kind == kinds[1])
		p = p->input;
	return p;
}

static const enum plan_kind order[] = { PLAN_LIMIT, PLAN_SORT };
static const enum plan_kind upon_rows[] = { PLAN_OVER, PLAN_FILTER };

static bool is_of_events(struct scope *scope, const struct plan *p, bool may_be_sorted)
{
	p = may_be_sorted ? below(p, order) : p;
	for (u32 i = 0; p->kind == PLAN_SET && i < p->n_inputs; i++)
		if ((i && p->set.ops[i] != AST_UNION_ALL) ||
		    !is_of_events(scope, p->inputs[i], may_be_sorted))
			return false;
	if (p->kind == PLAN_SET)
		return true;
	if (p->kind != PLAN_PROJECT)
		return false;
	p = below(p->input, upon_rows);
	return (plan_is_rows(p) && bind_has_times(scope, p)) ||
	       bind_is_of_events(scope, p, may_be_sorted);
}

bool bind_is_of_events(struct scope *scope, const struct plan *from, bool may_be_sorted)
{
	return from->kind == PLAN_DERIVED && is_of_events(scope, from->input, may_be_sorted);
}

/* As the last column of the select; what stands in it. */
static const struct expr *add_time(struct scope *scope, struct plan *p)
{
	const struct expr *time = NULL;
	struct item **items, *copy;
	u32 *n;

	p = (struct plan *)below(p, order);
	items = p->kind == PLAN_SET ? &p->set.columns : &p->project.items;
	n = p->kind == PLAN_SET ? &p->set.n_columns : &p->project.n_items;
	if ((*items)[*n - 1].name == bind_event_time)
		return (*items)[*n - 1].expr;
	for (u32 i = 0; i < p->n_inputs; i++)
		time = add_time(scope, p->inputs[i]);
	if (p->kind == PLAN_PROJECT) {
		const struct plan *rows = below(p->input, upon_rows);

		time = rows->kind == PLAN_DERIVED ? bind_time_of_select(scope, rows)
						  : plan_time(rows, scope->arena);
	}
	copy = arena_array(scope->arena, struct item, *n + 1);
	memcpy(copy, *items, *n * sizeof(*copy));
	copy[*n] = (struct item){ .name = bind_event_time, .expr = (struct expr *)time };
	*items = copy;
	++*n;
	return time;
}

struct expr *bind_time_of_select(struct scope *scope, const struct plan *from)
{
	const struct expr *time = add_time(scope, from->input);
	struct expr *e;
	u32 n;

	plan_items(from->input, &n);
	e = expr_ref(scope->arena, EXPR_COLUMN, from->span, time, from->derived.relation, n - 1);
	e->name = bind_event_time;
	return e;
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

void bind_real_items(const item_vec *items)
{
	for (u32 i = 0; i < items->n; i++)
		expr_each(items->at[i].expr, set_real, NULL);
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

void bind_meet_clocks(struct arena *arena, struct expr **exprs, u32 n)
{
	bool has[] = { [CLOCK_REAL] = false, [CLOCK_MONO] = false };

	for (u32 i = 0; i < n; i++)
		if (exprs[i]->type.kind == TYPE_TIMESTAMP)
			has[exprs[i]->type.clock] = true;
	for (u32 i = 0; has[CLOCK_REAL] && has[CLOCK_MONO] && i < n; i++)
		if (exprs[i]->type.kind == TYPE_TIMESTAMP)
			exprs[i] = bind_real_time(arena, exprs[i]);
}
