/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * May computing an expression count a fault?  Two kinds do: an operation without a result
 * (x / 0, what leaves 64 bits), and a read that fails or cuts a text.  A fault counts where
 * the value was asked for, so who moves or keeps an expression asks here first.
 */
#include <strings.h>

#include "plan/plan.h"

bool field_is_in_memory(const struct stream_list *list, const char *name)
{
	for (u32 i = 0; i < list->streams.n; i++) {
		const struct stream *s = list->streams.at[i];

		for (u32 k = 0; k < s->n_fields; k++)
			if (s->fields[k].kind == FIELD_OPERAND &&
			    s->fields[k].operand->kind == OPERAND_MEMORY &&
			    strcasecmp(s->fields[k].name, name) == 0)
				return true;
	}
	return false;
}

bool field_may_be_null(const struct stream_list *list, u32 index)
{
	const struct stream *s = list->streams.at[0];

	/* Any column of a file may hold NULLs but `time`, which is none then (file/file.h). */
	if (s->kind == STREAM_FILE)
		return s->file->time_column != (s32)index;
	/* Of a list what is read through a pointer, as a text. */
	if (s->kind == STREAM_ITERATOR)
		return s->fields[index].kind == FIELD_DATA_LOC;
	return field_is_in_memory(list, s->fields[index].name);
}

/* A text that does not stand in the record itself is read, and may be cut: counted both. */
static bool field_can_fault(const struct expr *e, const struct plan *tree)
{
	const struct plan *scan = plan_scan(tree, e->source);

	if (e->type.kind != TYPE_TEXT)
		return scan && field_is_in_memory(scan->scan.streams, e->name);
	for (u32 i = 0; scan && i < scan->scan.streams->streams.n; i++) {
		const struct stream *s = scan->scan.streams->streams.at[i];

		for (u32 k = 0; k < s->n_fields; k++)
			if (strcasecmp(s->fields[k].name, e->name) == 0 &&
			    s->fields[k].kind != FIELD_FIXED)
				return true;
	}
	return !scan;
}

static bool operation_can_fail(const struct expr *e)
{
	if (e->kind == EXPR_CAST && e->type.kind == TYPE_DURATION)
		return e->args[0]->type.kind != TYPE_REAL;
	return e->may_overflow || (e->kind == EXPR_OP && (e->op == OP_DIV || e->op == OP_MOD) &&
				   e->args[1]->lo <= 0 && e->args[1]->hi >= 0);
}

bool expr_is_null(const struct expr *e)
{
	if (e->kind == EXPR_CASE) {
		for (u32 i = 1; i <= e->n_args; i += 2)
			if (!expr_is_null(e->args[MIN(i, e->n_args - 1)]))
				return false;
		return true;
	}
	if (e->kind != EXPR_OP || (e->op >= OP_IS && e->op <= OP_OR))
		return e->kind == EXPR_NULL;
	return expr_is_null(e->args[0]) || (e->n_args == 2 && expr_is_null(e->args[1]));
}

bool plan_is_empty(const struct plan *p)
{
	const struct expr *e = p->kind == PLAN_FILTER ? p->filter.conjuncts[0] : NULL;

	return e && (expr_is_null(e) || (e->kind == EXPR_INTEGER && e->integer == 0));
}

bool expr_can_fail(const struct expr *e)
{
	if (operation_can_fail(e))
		return true;
	for (u32 i = 0; i < e->n_args; i++)
		if (expr_can_fail(e->args[i]))
			return true;
	return false;
}

/* What it takes, where the tree makes it: whoever leaves it out leaves that out. */
static bool aggregate_can_fault(const struct expr *e, const struct plan *tree)
{
	const struct plan *p = plan_find(tree, PLAN_AGGREGATE);
	const struct aggregate *a;

	if (!p || p->aggregate.number != e->source)
		return false;
	a = &p->aggregate.list[e->index];
	return (a->arg && expr_can_fault(a->arg, p->input)) ||
	       (a->weight && expr_can_fault(a->weight, p->input)) ||
	       (a->filter && expr_can_fault(a->filter, p->input));
}

bool expr_can_fault(const struct expr *e, const struct plan *tree)
{
	if (e->kind == EXPR_MEMBER || e->kind == EXPR_CALL || e->is_user_only ||
	    operation_can_fail(e))
		return true;
	if (e->kind == EXPR_FIELD)
		return field_can_fault(e, tree);
	if (e->kind == EXPR_AGGREGATE)
		return aggregate_can_fault(e, tree);
	for (u32 i = 0; i < e->n_args; i++)
		if (expr_can_fault(e->args[i], tree))
			return true;
	return false;
}
