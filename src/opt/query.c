/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The whole query: each of its selects is rewritten by itself, those that it reads, and
 * those of sub-queries, first.  A select that is read twice stays one.
 */
#include "opt/rules.h"

struct query_walk {
	const struct settings *settings;
	struct arena *arena;
	VEC(struct plan *) from, to; /* selects that were optimised already */
};

static struct plan *optimize(struct query_walk *w, struct plan *select);

static struct expr *with_subquery(void *context, struct expr *e)
{
	struct query_walk *w = context;
	struct expr *copy;

	if (!e->plan)
		return e;
	copy = expr_copy(w->arena, e);
	copy->plan = optimize(w, e->plan);
	return copy;
}

static void take_subqueries(void *context, struct expr **e)
{
	struct query_walk *w = context;

	*e = expr_map(w->arena, *e, with_subquery, w);
}

/* A copy of the operators of one select, those that it reads optimised. */
static struct plan *with_selects(struct query_walk *w, const struct plan *p)
{
	struct plan *copy = plan_copy(p, w->arena), **below;

	plan_each_expr(copy, take_subqueries, w);
	for (u32 i = 0; (below = plan_slot(copy, i)); i++)
		*below = plan_reads_selects(p) ? optimize(w, *below) : with_selects(w, *below);
	return copy;
}

static struct plan *optimize(struct query_walk *w, struct plan *select)
{
	struct plan *to;

	for (u32 i = 0; i < w->from.n; i++)
		if (w->from.at[i] == select)
			return w->to.at[i];
	to = opt_run(with_selects(w, select), w->settings, w->arena);
	vec_push(w->arena, &w->from, select);
	vec_push(w->arena, &w->to, to);
	return to;
}

struct plan *opt_query(struct plan *plan, const struct settings *settings, struct arena *arena)
{
	struct query_walk w = { .settings = settings, .arena = arena };

	return optimize(&w, plan);
}
