/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Scopes, and the operators that more than one file of the binder makes.
 */
#include "plan/bind.h"

struct scope bind_scope(const struct scope *outer, const struct ast_select *select)
{
	return (struct scope){ .arena = outer->arena,
			       .diags = outer->diags,
			       .catalog = outer->catalog,
			       .settings = outer->settings,
			       .shared = outer->shared,
			       .ctes = outer->ctes,
			       .n_views = outer->n_views,
			       .is_shipped = outer->is_shipped,
			       .select = select };
}

void *bind_refuse(struct scope *scope, struct span span, const char *what)
{
	return diag_refuse(
		scope->diags, "not-supported", span,
		"%s not available yet" HINT "see the manual for what this version can do", what);
}

struct plan *bind_scan(struct scope *scope, struct stream_list *streams, const char *alias,
		       struct span span)
{
	struct plan *p = plan_new(scope->arena, PLAN_SCAN, span, NULL);

	if (scope->shared->scans.n == SOURCES_MAX)
		return diag_refuse(scope->diags, "too-deep", span,
				   "the query reads more than %u streams, views counted each "
				   "time" HINT "a wildcard reads many streams as one",
				   SOURCES_MAX);
	p->scan.streams = streams;
	p->scan.alias = alias;
	p->scan.source = scope->shared->scans.n;
	vec_push(scope->arena, &scope->shared->scans, p);
	return p;
}

struct plan *bind_join_new(struct scope *scope, enum plan_join_kind join, struct plan *left,
			   struct plan *right, struct span span)
{
	struct plan *p = plan_new(scope->arena, PLAN_JOIN, span, left);

	p->join.kind = join;
	p->right = right;
	vec_push(scope->arena, &scope->shared->joins, p);
	return p;
}

u32 bind_number(struct scope *scope)
{
	if (!scope->has_number)
		scope->number = scope->shared->n_aggregates++;
	scope->has_number = true;
	return scope->number;
}

const struct stream *bind_stream_of(struct scope *scope, const struct expr *e)
{
	return e->kind == EXPR_FIELD
		       ? scope->shared->scans.at[e->source]->scan.streams->streams.at[0]
		       : NULL;
}
