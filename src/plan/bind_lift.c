/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What was bound of rows -> what it is behind the aggregate: group keys, and what is computed of
 * them and of aggregates; also within sub-queries that read the select's rows.
 */
#include <string.h>

#include "plan/bind.h"

static struct expr *ungrouped(struct scope *scope, const struct expr *e)
{
	const char *text = scope->diags->text + e->span.start;
	u32 n = e->span.end - e->span.start;
	const char *name = e->name;

	/* A part of a computed column, such as a span's latency: what was written is its
	 * name. */
	if (n <= 64 && !strcasestr(arena_strndup(scope->arena, text, n), name))
		name = arena_strndup(scope->arena, text, n);
	struct diag *d = diag_error(scope->diags, "ungrouped-column", e->span,
				    "\"%s\" is neither a group key nor inside an aggregate", name);

	if (bind_bound_of(e->name) && scope->shared->window.kind != WINDOW_NONE)
		diag_hint(scope->diags, d,
			  "current.%s is the window's; of this column add it to GROUP BY, or take "
			  "min(%s) or max(%s)",
			  e->name, name, name);
	else if (type_is_word(e->type))
		diag_hint(scope->diags, d, "add it to GROUP BY, or take min(%s) or max(%s)", name,
			  name);
	else
		diag_hint(scope->diags, d, "add it to GROUP BY");
	return NULL;
}

static bool is_of_row(struct scope *scope, const struct expr *e);

static bool reads_row(struct scope *scope, const struct expr *e)
{
	for (u32 i = 0; i < e->n_args; i++)
		if (reads_row(scope, e->args[i]))
			return true;
	return is_of_row(scope, e);
}

/* Does it read the row, of this select's own FROM?  Memory is read at its event alone. */
static bool is_of_row(struct scope *scope, const struct expr *e)
{
	const struct plan *from = scope->from;
	bool is_read = e->kind == EXPR_MEMBER;

	if (e->kind == EXPR_FIELD || e->kind == EXPR_SYSTEM || e->kind == EXPR_RUNNING)
		return !from || plan_scan(from, e->source);
	if (e->kind == EXPR_UNION)
		return !from || plan_scan(from, e->branches[0]);
	if (e->kind == EXPR_COLUMN)
		return plan_has_relation(from, e->source);
	for (u32 i = 0; is_read && i < e->n_args; i++)
		if (reads_row(scope, e->args[i]))
			return true;
	return false;
}

struct lift {
	struct scope *scope;
	bool is_subquery; /* of which only what reads the outer select's own rows is lifted */
	bool is_bad;
};

static struct expr *lift(struct lift *l, struct expr *e);

static void lift_slot(void *context, struct expr **e)
{
	struct lift *l = context;
	struct expr *lifted = lift(l, *e);

	l->is_bad |= !lifted;
	*e = lifted ? lifted : *e;
}

static void lift_operator(void *context, struct plan *p)
{
	plan_each_expr(p, lift_slot, context);
}

static void lift_subquery(struct lift *l, struct plan *p)
{
	struct lift within = { .scope = l->scope, .is_subquery = true };

	plan_each(p, lift_operator, &within);
	l->is_bad |= within.is_bad;
}

/* NULL after a diagnostic. */
static struct expr *lift(struct lift *l, struct expr *e)
{
	struct scope *scope = l->scope;
	struct expr *r;

	/* A constant of a sub-query is no column of the outer select. */
	for (u32 i = 0; (!l->is_subquery || expr_reads(e)) && i < scope->keys.n; i++)
		if (expr_equal(e, scope->keys.at[i].expr))
			return expr_ref(scope->arena, EXPR_KEY, e->span, e, bind_number(scope), i);
	/* The column of a select within that is the window's bound is one for all groups. */
	if (e->kind == EXPR_COLUMN && e->bound && is_of_row(scope, e))
		return bind_window_bound(scope, e->bound, e->span);
	if (is_of_row(scope, e))
		return ungrouped(scope, e);
	if (e->plan)
		lift_subquery(l, e->plan);
	if (e->kind == EXPR_AGGREGATE || e->n_args == 0)
		return e;
	r = expr_copy(scope->arena, e);
	for (u32 i = 0; i < e->n_args; i++) {
		r->args[i] = lift(l, e->args[i]);
		if (!r->args[i])
			return NULL;
	}
	if (r->kind != EXPR_CALL && r->kind != EXPR_OP)
		expr_infer(r);
	else
		for (u32 i = 0; i < r->n_args; i++) {
			r->nullable |= r->args[i]->nullable;
			r->is_user_only |= r->args[i]->is_user_only;
		}
	return r;
}

bool bind_lift(struct scope *scope, struct plan *chain)
{
	struct lift l = { .scope = scope };

	for (; chain->kind != PLAN_AGGREGATE; chain = chain->input)
		lift_operator(&l, chain);
	return !l.is_bad;
}
