/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A select as its operators, and for each of them whether the kernel can do it; if not,
 * why (enum cut_reason).
 */
#include "cut/build.h"

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

void chain_read(const struct plan *plan, struct arena *arena, struct chain *ret_chain)
{
	struct chain *c = ret_chain;
	const struct plan *below = plan;

	*c = (struct chain){ 0 };
	c->limit = take_one(&plan, PLAN_LIMIT);
	c->sort = take_one(&plan, PLAN_SORT);
	c->distinct = take_one(&plan, PLAN_DISTINCT);
	if (plan->kind == PLAN_SET) {
		c->set = plan;
		return;
	}
	c->project = take_one(&plan, PLAN_PROJECT);
	BUG_ON(!c->project);
	c->over = take_one(&plan, PLAN_OVER);
	for (below = plan; below->kind == PLAN_FILTER; below = below->input)
		;
	if (below->kind == PLAN_AGGREGATE)
		plan = take_filters(plan, arena, &c->having);
	c->aggregate = take_one(&plan, PLAN_AGGREGATE);
	c->from = take_filters(plan, arena, &c->where);
}

/* --- Expressions --- */

struct reading {
	const struct plan *tree;
	bool is_foreign;
};

static void note_foreign(void *context, struct expr *e)
{
	struct reading *r = context;

	switch (e->kind) {
	case EXPR_FIELD:
	case EXPR_SYSTEM:
	case EXPR_RUNNING:
		r->is_foreign |= !plan_scan(r->tree, e->source);
		return;
	case EXPR_UNION:
		for (u32 i = 0; i < e->n_args; i++)
			r->is_foreign |= !plan_scan(r->tree, e->branches[i]);
		return;
	case EXPR_KEY:
	case EXPR_AGGREGATE:
	case EXPR_OVER:
	case EXPR_COLUMN:
	case EXPR_SUBQUERY:
	case EXPR_EXISTS:
	case EXPR_IN_SELECT:
	case EXPR_STATISTIC:
	case EXPR_WINDOW_START:
	case EXPR_WINDOW_END:
		r->is_foreign = true;
		return;
	case EXPR_NULL:
	case EXPR_INTEGER:
	case EXPR_REAL:
	case EXPR_TEXT:
	case EXPR_MEMBER:
	case EXPR_OP:
	case EXPR_IN:
	case EXPR_LIKE:
	case EXPR_IS_NULL:
	case EXPR_CASE:
	case EXPR_CALL:
	case EXPR_CAST:
	case EXPR_MATCH:
		return;
	}
}

bool cut_is_kernel_expr(const struct expr *e, const struct plan *tree)
{
	struct reading r = { .tree = tree };

	if (!e)
		return true;
	expr_each((struct expr *)e, note_foreign, &r);
	return !r.is_foreign && !e->is_user_only;
}

/* --- Windows --- */

bool cut_is_where_first(const struct cutter *c)
{
	return c->query->window.kind == WINDOW_SESSION || c->query->window.kind == WINDOW_COUNT;
}

bool cut_is_own_window(const struct cutter *c)
{
	return c->query->window.kind == WINDOW_SESSION ||
	       (c->query->window.kind == WINDOW_COUNT && c->query->window.scope != COUNT_GLOBAL);
}

/* --- Operators --- */

bool cut_is_rows(const struct plan *plan)
{
	switch (plan->kind) {
	case PLAN_SCAN:
		return true;
	case PLAN_FILTER:
	case PLAN_RUNNING:
		return cut_is_rows(plan->input);
	case PLAN_JOIN:
		return cut_is_rows(plan->input) && cut_is_rows(plan->right);
	case PLAN_UNION:
		for (u32 i = 0; i < plan->n_inputs; i++)
			if (!cut_is_rows(plan->inputs[i]))
				return false;
		return true;
	case PLAN_AGGREGATE:
	case PLAN_PROJECT:
	case PLAN_SORT:
	case PLAN_LIMIT:
	case PLAN_OVER:
	case PLAN_DISTINCT:
	case PLAN_RELATE:
	case PLAN_DERIVED:
	case PLAN_TABLE:
	case PLAN_SET:
	case PLAN_ONE:
	case PLAN_N:
		return false;
	}
	return false;
}

static void note_scan(void *context, struct plan *p)
{
	struct cut_part *part = context;
	bool is_file;

	if (p->kind != PLAN_SCAN)
		return;
	is_file = p->scan.streams->streams.at[0]->kind == STREAM_FILE;
	part->has_files |= is_file;
	part->has_streams |= !is_file;
}

void cut_note_scans(const struct plan *tree, struct cut_part *part)
{
	plan_each((struct plan *)tree, note_scan, part);
}

static bool takes(const struct aggregate *a, const struct expr *arg)
{
	return !arg || type_is_word(arg->type) || a->kind == AGGREGATE_COUNT ||
	       (arg->type.kind == TYPE_TEXT && aggregate_infos[a->kind].takes == TAKES_VALUE);
}

struct condition_search {
	const struct plan *tree;
	const struct expr *found;
};

static void find_condition(void *context, struct plan *p)
{
	struct condition_search *search = context;

	/* Of a sub-query it may read the rows of the select around it. */
	for (u32 i = 0; i < p->filter.n_conjuncts; i++)
		if (!cut_is_kernel_expr(p->filter.conjuncts[i], search->tree))
			search->found = p->filter.conjuncts[i];
}

const struct expr *cut_user_condition(const struct plan *tree)
{
	struct condition_search search = { .tree = tree };

	plan_each((struct plan *)tree, find_condition, &search);
	return search.found;
}

static enum cut_reason refuse_aggregate(const struct aggregate *a, const struct plan *tree)
{
	if (aggregate_infos[a->kind].cell == CELL_NONE || a->keeps_null)
		return CUT_AGGREGATE;
	if (a->is_distinct)
		return CUT_DISTINCT;
	if (!cut_is_kernel_expr(a->filter, tree))
		return CUT_CONDITION;
	if (!cut_is_kernel_expr(a->arg, tree) || !cut_is_kernel_expr(a->weight, tree) ||
	    !cut_is_kernel_expr(a->time, tree) || !takes(a, a->arg))
		return CUT_ARGUMENT;
	return CUT_KERNEL;
}

/*
 * count(DISTINCT x) of one x, beside what finer groups can be put together of: *ret_x is x;
 * NULL: there is no DISTINCT.
 */
static enum cut_reason find_distinct(const struct plan *aggregate, struct expr **ret_x)
{
	const struct aggregate *list = aggregate->aggregate.list;
	u32 n = aggregate->aggregate.n;

	*ret_x = NULL;
	for (u32 i = 0; i < n; i++) {
		if (!list[i].is_distinct)
			continue;
		if (list[i].kind != AGGREGATE_COUNT || list[i].filter ||
		    (*ret_x && !expr_equal(*ret_x, list[i].arg)))
			return CUT_DISTINCT;
		*ret_x = list[i].arg;
	}
	for (u32 i = 0; *ret_x && i < n; i++)
		if (!list[i].is_distinct && !aggregate_infos[list[i].kind].regroup)
			return CUT_DISTINCT;
	return CUT_KERNEL;
}

enum cut_reason cut_refuse_rows(const struct cutter *c, const struct chain *chain)
{
	const struct plan *from = chain->from;
	struct cut_part part = { 0 };

	if (!cut_is_rows(from))
		return from->kind == PLAN_RELATE ? CUT_JOIN : CUT_SELECT;
	cut_note_scans(from, &part);
	if (part.has_files)
		return CUT_RECORDED;
	if (!c->settings->pushdown)
		return CUT_PUSHDOWN;
	if (cut_is_where_first(c))
		return CUT_ROW_WINDOW;
	if (cut_user_condition(from))
		return CUT_CONDITION;
	for (u32 i = 0; i < chain->where.n; i++)
		if (!cut_is_kernel_expr(chain->where.at[i], from))
			return CUT_CONDITION;
	return CUT_KERNEL;
}

enum cut_reason cut_refuse_groups(const struct cutter *c, const struct chain *chain,
				  struct expr **ret_distinct)
{
	const struct plan *a = chain->aggregate, *tree = chain->from;
	enum cut_reason reason = cut_refuse_rows(c, chain);

	if (!reason)
		reason = find_distinct(a, ret_distinct);
	for (u32 i = 0; !reason && i < a->aggregate.n_keys; i++)
		if (!cut_is_kernel_expr(a->aggregate.keys[i].expr, tree) ||
		    a->aggregate.keys[i].expr->type.kind == TYPE_NULL)
			reason = CUT_KEY;
	if (!reason && *ret_distinct && !cut_is_kernel_expr(*ret_distinct, tree))
		reason = CUT_KEY;
	for (u32 i = 0; !reason && i < a->aggregate.n; i++)
		if (!a->aggregate.list[i].is_distinct)
			reason = refuse_aggregate(&a->aggregate.list[i], tree);
	return reason;
}
