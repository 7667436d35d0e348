/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A select as its operators, and for each of them whether the kernel can do it; if not,
 * why (enum cut_reason).  DISTINCT of rows is grouping, where the kernel can do that.
 */
#include "cut/build.h"

/* --- Expressions --- */

/* What no event's program has: groups, other selects, windows. */
static const enum expr_kind kinds_above[] = { EXPR_KEY,	       EXPR_AGGREGATE, EXPR_OVER,
					      EXPR_COLUMN,     EXPR_SUBQUERY,  EXPR_EXISTS,
					      EXPR_IN_SELECT,  EXPR_STATISTIC, EXPR_WINDOW_START,
					      EXPR_WINDOW_END, EXPR_OTHER };

struct reading {
	const struct plan *tree;
	bool is_foreign;
};

static void note_foreign(void *context, struct expr *e)
{
	struct reading *r = context;

	for (u32 i = 0; i < ARRAY_SIZE(kinds_above); i++)
		r->is_foreign |= e->kind == kinds_above[i];
	if (e->kind == EXPR_FIELD || e->kind == EXPR_SYSTEM || e->kind == EXPR_RUNNING)
		r->is_foreign |= !plan_scan(r->tree, e->source);
	for (u32 i = 0; e->kind == EXPR_UNION && i < e->n_args; i++)
		r->is_foreign |= !plan_scan(r->tree, e->branches[i]);
}

bool cut_is_kernel_expr(const struct expr *e, const struct plan *tree)
{
	struct reading r = { .tree = tree };

	if (!e)
		return true;
	expr_each((struct expr *)e, note_foreign, &r);
	return !r.is_foreign && !e->is_user_only;
}

struct expr *cut_ref(struct arena *arena, const struct expr *e, enum expr_kind kind, u32 source,
		     u32 index)
{
	struct expr *ref = arena_new(arena, struct expr);

	*ref = *e;
	ref->kind = kind;
	ref->source = source;
	ref->index = index;
	ref->args = NULL;
	ref->n_args = 0;
	ref->may_overflow = false;
	return ref;
}

bool cut_is_where_first(const struct cutter *c)
{
	return c->query->window.kind == WINDOW_SESSION || c->query->window.kind == WINDOW_COUNT;
}

/* --- Rows --- */

static void note_scan(void *context, struct plan *p)
{
	struct cut_part *part = context;
	const struct stream *s;

	if (p->kind != PLAN_SCAN)
		return;
	s = p->scan.streams->streams.at[0];
	part->has_files |= s->kind == STREAM_FILE;
	part->has_streams |= !stream_is_list(s);
}

void cut_note_scans(const struct plan *tree, struct cut_part *part)
{
	plan_each((struct plan *)tree, note_scan, part);
}

enum cut_reason cut_refuse_rows(const struct cutter *c, const struct chain *chain)
{
	const struct plan *from = chain->from;
	struct cut_part part = { 0 };

	if (!plan_is_rows(from))
		return from->kind == PLAN_RELATE ? CUT_JOIN : CUT_SELECT;
	cut_note_scans(from, &part);
	if (!part.has_files && !part.has_streams)
		return CUT_WINDOW; /* an iterator's */
	if (part.has_files)
		return CUT_RECORDED;
	if (!c->settings->pushdown)
		return CUT_PUSHDOWN;
	if (cut_is_where_first(c))
		return CUT_ROW_WINDOW;
	for (u32 i = 0; i < chain->where.n; i++)
		if (!cut_is_kernel_expr(chain->where.at[i], from))
			return CUT_CONDITION;
	return CUT_KERNEL;
}

/* --- Groups --- */

static bool takes(const struct aggregate *a, const struct expr *arg)
{
	return !arg || type_is_word(arg->type) || a->kind == AGGREGATE_COUNT ||
	       (arg->type.kind == TYPE_TEXT && aggregate_infos[a->kind].takes == TAKES_VALUE);
}

static enum cut_reason refuse_aggregate(const struct aggregate *a, const struct plan *tree)
{
	if (aggregate_infos[a->kind].cell == CELL_NONE || a->keeps_null)
		return CUT_AGGREGATE;
	if (!cut_is_kernel_expr(a->filter, tree))
		return CUT_CONDITION;
	if (!cut_is_kernel_expr(a->arg, tree) || !cut_is_kernel_expr(a->weight, tree) ||
	    !cut_is_kernel_expr(a->time, tree) || !takes(a, a->arg))
		return CUT_ARGUMENT;
	return CUT_KERNEL;
}

/* A key that names addresses of the kernel part, which groups by these. */
static bool is_name_key(const struct expr *key, const struct plan *tree)
{
	bool is = cut_names_address(key);

	for (u32 i = 0; is && i < key->n_args; i++)
		is = cut_is_kernel_expr(key->args[i], tree);
	return is;
}

/* count(DISTINCT x) of one x. */
static enum cut_reason find_distinct(const struct plan_aggregate *a, struct expr **ret_x)
{
	*ret_x = NULL;
	for (u32 i = 0; i < a->n; i++) {
		if (!a->list[i].is_distinct)
			continue;
		if (a->list[i].kind != AGGREGATE_COUNT || a->list[i].filter ||
		    (*ret_x && !expr_equal(*ret_x, a->list[i].arg)))
			return CUT_DISTINCT;
		*ret_x = a->list[i].arg;
	}
	return CUT_KERNEL;
}

static bool can_regroup(const struct plan_aggregate *a)
{
	for (u32 i = 0; i < a->n; i++)
		if (!a->list[i].is_distinct && !aggregate_infos[a->list[i].kind].regroup)
			return false;
	return true;
}

enum cut_reason cut_refuse_groups(const struct cutter *c, const struct chain *chain,
				  struct finer *ret_finer)
{
	const struct plan_aggregate *a = &chain->aggregate->aggregate;
	enum cut_reason reason = cut_refuse_rows(c, chain);

	ret_finer->of_names = false;
	if (!reason)
		reason = find_distinct(a, &ret_finer->distinct);
	for (u32 i = 0; !reason && i < a->n_keys; i++) {
		bool is_name = is_name_key(a->keys[i].expr, chain->from);

		ret_finer->of_names |= is_name;
		if ((!is_name && !cut_is_kernel_expr(a->keys[i].expr, chain->from)) ||
		    a->keys[i].expr->type.kind == TYPE_NULL)
			reason = CUT_KEY;
	}
	if (!reason && !cut_is_kernel_expr(ret_finer->distinct, chain->from))
		reason = CUT_KEY;
	if (!reason && cut_is_finer(ret_finer) && !can_regroup(a))
		reason = ret_finer->distinct ? CUT_DISTINCT : CUT_KEY;
	for (u32 i = 0; !reason && i < a->n; i++)
		if (!a->list[i].is_distinct)
			reason = refuse_aggregate(&a->list[i], chain->from);
	return reason;
}

struct plan *cut_make_finer(struct cutter *c, struct grouped *g, struct expr *x)
{
	const struct plan_aggregate *a = &g->plan->aggregate;
	struct plan *finer = plan_copy(g->plan, c->arena);
	struct plan_aggregate *f = &finer->aggregate;
	VEC(struct item) keys = { 0 };

	g->keys = arena_array(c->arena, u32, a->n_keys);
	for (u32 i = 0; i < a->n_keys; i++) {
		const struct item *key = &a->keys[i];
		bool is_name = cut_names_address(key->expr);

		g->keys[i] = keys.n;
		for (u32 k = 0; is_name && k < key->expr->n_args; k++)
			vec_push(c->arena, &keys, (struct item){ key->name, key->expr->args[k] });
		if (!is_name)
			vec_push(c->arena, &keys, *key);
	}
	if (x)
		vec_push(c->arena, &keys, (struct item){ .name = "distinct", .expr = x });
	f->keys = keys.at;
	f->n_keys = keys.n;
	f->n = 0;
	g->columns = arena_array(c->arena, u32, a->n);
	for (u32 i = 0; i < a->n; i++) {
		g->columns[i] = a->list[i].is_distinct ? keys.n - 1 : keys.n + f->n;
		if (!a->list[i].is_distinct)
			f->list[f->n++] = a->list[i];
	}
	return finer;
}

/* --- Selects --- */

static const struct plan *take_one(const struct plan **plan, enum plan_kind kind)
{
	const struct plan *p = *plan;

	if (p->kind != kind)
		return NULL;
	*plan = p->input;
	return p;
}

/* Filters on top of it, for all of whose conjuncts there is one list: the inner ones guard. */
static const struct plan *take_filters(const struct plan *plan, struct arena *arena,
				       expr_vec *ret_conjuncts)
{
	const struct plan *below;

	if (plan->kind != PLAN_FILTER)
		return plan;
	below = take_filters(plan->input, arena, ret_conjuncts);
	for (u32 i = 0; i < plan->filter.n_conjuncts; i++)
		vec_push(arena, ret_conjuncts, plan->filter.conjuncts[i]);
	return below;
}

static void read_chain(const struct plan *plan, struct arena *arena, struct chain *ch)
{
	const struct plan *below;

	ch->limit = take_one(&plan, PLAN_LIMIT);
	ch->sort = take_one(&plan, PLAN_SORT);
	ch->distinct = take_one(&plan, PLAN_DISTINCT);
	ch->set = take_one(&plan, PLAN_SET);
	if (ch->set)
		return;
	ch->project = take_one(&plan, PLAN_PROJECT);
	BUG_ON(!ch->project);
	ch->over = take_one(&plan, PLAN_OVER);
	for (below = plan; below->kind == PLAN_FILTER; below = below->input)
		;
	if (below->kind == PLAN_AGGREGATE)
		plan = take_filters(plan, arena, &ch->having);
	ch->aggregate = take_one(&plan, PLAN_AGGREGATE);
	ch->from = take_filters(plan, arena, &ch->where);
	for (u32 i = 0; i < ch->project->project.n_items; i++)
		if (ch->project->project.items[i].is_unnest)
			ch->unnest = (s32)i;
}

struct keying {
	struct arena *arena;
	const struct plan_aggregate *a;
	bool is_whole; /* all of it are keys, or constants */
};

static void to_key(void *context, struct expr **e)
{
	struct keying *k = context;
	u32 i = 0;

	if (expr_is_constant(*e))
		return;
	while (i < k->a->n_keys && !expr_equal(k->a->keys[i].expr, *e))
		i++;
	k->is_whole &= i < k->a->n_keys;
	*e = cut_ref(k->arena, *e, EXPR_KEY, k->a->number, i);
	(*e)->nullable = true; /* in the "(other)" row */
}

/* The operator over the keys, in place of what they are. */
static struct plan *over_keys(struct keying *k, const struct plan *plan)
{
	struct plan *copy = plan_copy(plan, k->arena);

	copy->n_shared = 0;
	plan_each_expr(copy, to_key, k);
	return copy;
}

/* Groups by all items, if the kernel can do that. */
static void group_distinct(struct cutter *c, struct chain *ch)
{
	const struct query_window *w = &c->query->window;
	const struct plan_project *p = &ch->project->project;
	struct plan *a = arena_new(c->arena, struct plan);
	struct keying k = { c->arena, &a->aggregate, true };
	struct chain grouped = *ch;
	struct finer finer;

	a->kind = PLAN_AGGREGATE;
	a->input = ch->project->input;
	a->span = ch->project->span;
	/* A select that is read in several places is one each time. */
	a->aggregate.number = c->grouped.n;
	a->aggregate.keys = arena_array(c->arena, struct item, p->n_items);
	a->aggregate.window = w->kind;
	a->aggregate.window_ns = w->size;
	a->aggregate.advance_ns = w->kind == WINDOW_HOPPING ? w->advance : 0;
	for (u32 i = 0; i < p->n_items; i++)
		if (!expr_is_constant(p->items[i].expr))
			a->aggregate.keys[a->aggregate.n_keys++] = p->items[i];
	grouped.aggregate = a;
	grouped.project = over_keys(&k, ch->project);
	grouped.sort = ch->sort ? over_keys(&k, ch->sort) : NULL;
	grouped.distinct = NULL;
	if (!k.is_whole || !a->aggregate.n_keys || cut_refuse_groups(c, &grouped, &finer))
		return;
	vec_push(c->arena, &c->grouped, arena_new(c->arena, struct grouped));
	*ch = grouped;
}

void cut_chain(struct cutter *c, const struct plan *select, struct chain *ret_chain)
{
	struct chain *ch = ret_chain;

	*ch = (struct chain){ .unnest = -1 };
	read_chain(select, c->arena, ch);
	if (ch->distinct && !ch->set && !ch->aggregate && !ch->over && ch->unnest < 0)
		group_distinct(c, ch);
}
