/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The pass table of the optimiser, and how it goes over a query: each of its selects is rewritten
 * by itself, those that it reads, and those of sub-queries, first.
 */
#include <string.h>

#include "opt/rules.h"

/* What is pushed into a branch of a union meets the constants there: the rules go round again. */
#define N_ROUNDS 2

const struct opt_rule opt_rules[] = {
	{ "fold", "compute constants and what the ranges of values decide", .each = opt_fold },
	{ "split", "make one condition of each side of an AND", .each = opt_split },
	{ "keys", "group by no key that a condition or another key tells", .whole = opt_keys,
	  .each = opt_fix_keys },
	{ "unused", "leave out LEFT joins whose right side nothing reads", .whole = opt_unused },
	{ "push_down", "test conditions below joins, unions and running sums",
	  .whole = opt_push_down },
	{ "order", "test cheap conditions that drop much first", .each = opt_order },
	{ "share", "compute once what several parts of the query use", .each = opt_share },
	{ "cells", "keep once what several aggregates count or sum", .each = opt_cells },
	{ "starts", "keep once the starts that joins alike wait for", .each = opt_starts },
	{ "members", "read members of one object at once", .whole = opt_members },
	{ "typed", "load members of the kernel's memory without a helper", .whole = opt_typed },
	{ "tables", "test conditions of iterators in their programs", .each = opt_tables },
};

const u32 opt_n_rules = ARRAY_SIZE(opt_rules);

bool opt_is_off(const char *rules_off, const char *name)
{
	size_t n = strlen(name);

	if (strcmp(rules_off, "all") == 0)
		return true;
	for (const char *at = rules_off; *at;) {
		size_t length = strcspn(at, ", ");

		if (length == n && strncmp(at, name, n) == 0)
			return true;
		at += length;
		at += strspn(at, ", ");
	}
	return false;
}

static struct plan *map(struct plan *plan, const struct settings *settings, struct arena *arena,
			opt_change *change)
{
	struct plan *copy = plan_copy(plan, arena), **below;

	for (u32 i = 0; !plan_reads_selects(copy) && (below = plan_slot(copy, i)); i++)
		*below = map(*below, settings, arena, change);
	change(copy, settings, arena);
	return copy;
}

struct plan *opt_run(struct plan *plan, const struct settings *settings, struct arena *arena)
{
	for (u32 i = 0; i < N_ROUNDS * opt_n_rules; i++) {
		const struct opt_rule *rule = &opt_rules[i % opt_n_rules];

		if (opt_is_off(settings->rules_off, rule->name))
			continue;
		plan = rule->whole ? rule->whole(plan, arena) : plan;
		plan = rule->each ? map(plan, settings, arena, rule->each) : plan;
	}
	return plan;
}

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

/* A copy of the operators of one select, those that it reads optimised. */
static struct plan *with_selects(struct query_walk *w, const struct plan *p)
{
	struct plan *copy = plan_copy(p, w->arena), **below;

	plan_map_expr(copy, w->arena, with_subquery, w);
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
