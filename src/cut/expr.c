/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Expressions of a select -> SQL: which columns stand for what was computed already, and
 * the special values (quantiles), which are numbers wherever one computes with them.
 */
#include "cut/build.h"

/* Entries of SQLite's parser (lite_depth()) around an item, at least. */
#define SELECT_DEPTH 4u

/* What is printed reads rows of a select of that depth. */
static void note_depth(struct cutter *c, u32 depth)
{
	c->reach = MIN(c->reach, depth);
	c->depths |= 1ull << (depth - 1);
}

static void put_column(struct cutter *c, u32 relation, u32 index, struct buf *out)
{
	const struct relation_name *n = &c->relations.at[relation];

	BUG_ON(!n->depth);
	note_depth(c, n->depth);
	buf_printf(out, "t%u.", relation);
	if (n->named)
		lite_write_name(n->named->columns[index].name, out);
	else
		buf_printf(out, "c%u", index);
}

/* An aggregate of finer groups. */
static void put_regrouped(struct cutter *c, const struct grouped *g, u32 index, struct buf *out)
{
	const struct aggregate *a = &g->plan->aggregate.list[index];
	const struct aggregate_info *info = &aggregate_infos[a->kind];
	bool is_counted = info->is_never_null && !a->is_distinct;

	buf_printf(out, "%s%s(%s", is_counted ? "coalesce(" : "",
		   a->is_distinct ? info->sql : info->regroup,
		   a->is_distinct && g->of_names ? "DISTINCT " : "");
	put_column(c, g->relation, g->columns[index], out);
	buf_puts(out, is_counted ? "), 0)" : ")");
}

void cut_put_key(struct cutter *c, const struct grouped *g, u32 index, struct buf *out)
{
	const struct expr *key = g->plan->aggregate.keys[index].expr;
	bool is_name = cut_names_address(key);

	if (is_name)
		buf_printf(out, "%s(", key->function->sql ?: key->function->name);
	for (u32 i = 0; i < (is_name ? key->n_args : 1); i++) {
		buf_puts(out, i ? ", " : "");
		put_column(c, g->relation, g->keys[index] + i, out);
	}
	buf_puts(out, is_name ? ")" : "");
}

/* SQLite, as the standard has it, takes one that reads rows of selects around its own, and none of
 * its own, for an aggregate of those. */
static void put_aggregate(struct cutter *c, const struct lite_writer *w, const struct expr *e,
			  enum lite_want want, struct buf *out)
{
	const struct grouped *g = c->grouped.at[e->source];
	u64 own = 1ull << (g->depth - 1), before = c->depths;
	struct lite_writer of = *w;

	of.select = e->source + 1;
	c->depths = 0;
	lite_write_aggregate(&of, &g->plan->aggregate.list[e->index], want, NULL, out);
	if ((c->depths & (own - 1)) && !(c->depths & own) && !diags_failed(c->diags))
		diag_refuse(
			c->diags, "aggregate-not-allowed", e->span,
			"this aggregate reads no rows but those of the select around, and would "
			"be one of that" HINT
			"write it there; or name what it reads in a (SELECT ...) in FROM");
	c->depths |= before;
}

/* A column; or of groups, be they of an outer select: by the part, or computed here. */
static void put_computed(struct cutter *c, const struct lite_writer *w, const struct expr *e,
			 enum lite_want want, struct buf *out)
{
	const struct grouped *g = e->kind != EXPR_COLUMN ? c->grouped.at[e->source] : NULL;
	bool is_estimate = e->is_quantile && want != LITE_ITEM;
	u32 n_keys = e->kind == EXPR_AGGREGATE ? g->plan->aggregate.n_keys : 0;

	if (g && !g->is_part && e->kind == EXPR_KEY) {
		cut_put(c, g->plan->aggregate.keys[e->index].expr, want, out);
	} else if (g && !g->is_part) {
		put_aggregate(c, w, e, want, out);
	} else if (e->kind == EXPR_AGGREGATE && g->columns) {
		put_regrouped(c, g, e->index, out);
	} else if (e->kind == EXPR_KEY && g->keys) {
		cut_put_key(c, g, e->index, out);
	} else {
		buf_puts(out, is_estimate ? "eb_estimate(" : "");
		put_column(c, g ? g->relation : e->source, n_keys + e->index, out);
		buf_puts(out, is_estimate ? ")" : "");
	}
}

static void put_bound(const struct cutter *c, const char *name, struct buf *out)
{
	const struct rows *rows = cut_window_rows(c);

	if (rows)
		buf_printf(out, "t%u.%s", rows->relation, name);
	else
		buf_printf(out, ":%s", name);
}

/* Only of the kernel's own groups: what SQLite groups has room.  A plain 0 would be the number of a
 * column in ORDER BY. */
static void put_other(struct cutter *c, const struct expr *e, struct buf *out)
{
	const struct grouped *g = c->grouped.at[e->source];
	u32 depth = g->is_part ? c->relations.at[g->relation].depth : 0;

	if (!g->is_part) {
		buf_puts(out, "(0 = 1)");
		return;
	}
	/* SQLite takes no aggregate of a select around wherever its columns may stand. */
	if ((g->columns || g->keys) && depth < c->depth)
		diag_refuse(
			c->diags, "not-supported", e->span,
			"_other of groups by sym(x), or that count(DISTINCT x), is not available "
			"within another select yet" HINT
			"select it AS r in a (SELECT ...) in FROM, and name r there");
	note_depth(c, depth);
	buf_printf(out, g->columns || g->keys ? "max(t%u.other)" : "t%u.other", g->relation);
}

/* What it aggregates makes no groups of the rows around it: these are kept until its own are known.
 */
static void put_subquery(struct cutter *c, const struct expr *e, bool is_scalar, struct buf *out)
{
	bool had_aggregate = c->has_aggregate;

	cut_nested(c, e->plan, true, is_scalar, out);
	c->needs_all_rows |= c->has_aggregate;
	c->has_aggregate = had_aggregate;
}

/* What is not computed from its arguments; false: lite/ prints it. */
static bool put_leaf(struct cutter *c, const struct lite_writer *w, const struct expr *e,
		     enum lite_want want, struct buf *out)
{
	if (e->kind == EXPR_COLUMN || e->kind == EXPR_KEY || e->kind == EXPR_AGGREGATE) {
		put_computed(c, w, e, want, out);
	} else if (e->kind == EXPR_OVER) {
		cut_note(c, "over", e, CUT_WINDOW);
		c->needs_all_rows = true;
		lite_write_over(w, &c->overs[e->source]->over.list[e->index], want, out);
	} else if (e->kind == EXPR_STATISTIC) {
		lite_write_statistic(w, e, want, out);
	} else if (e->kind == EXPR_WINDOW_START || e->kind == EXPR_WINDOW_END) {
		put_bound(c, e->kind == EXPR_WINDOW_START ? "window_start" : "window_end", out);
	} else if (e->kind == EXPR_OTHER) {
		put_other(c, e, out);
	} else if (e->kind == EXPR_IN_SELECT) {
		buf_putc(out, '(');
		lite_write(w, e->args[0], out);
		buf_puts(out, " IN ");
		put_subquery(c, e, true, out);
		buf_putc(out, ')');
	} else if (e->kind == EXPR_EXISTS || e->kind == EXPR_SUBQUERY) {
		buf_puts(out, e->kind == EXPR_EXISTS ? "EXISTS " : "");
		put_subquery(c, e, e->kind == EXPR_SUBQUERY, out);
	} else {
		return false;
	}
	return true;
}

static bool put_value_leaf(const struct lite_writer *w, const struct expr *e, struct buf *out)
{
	return put_leaf(w->context, w, e, LITE_VALUE, out);
}

static void put(const struct lite_writer *w, struct expr *e, enum lite_want want, struct buf *out)
{
	struct expr *taken = cut_take(w->context, e);

	if (want == LITE_CONDITION)
		lite_write_condition(w, taken, out);
	else if (want == LITE_VALUE || !put_leaf(w->context, w, taken, want, out))
		lite_write(w, taken, out);
}

bool cut_is_sum(const struct cutter *c, const struct expr *e)
{
	const struct aggregate *a =
		e->kind == EXPR_AGGREGATE
			? &c->grouped.at[e->source]->plan->aggregate.list[e->index]
		: e->kind == EXPR_OVER ? c->overs[e->source]->over.list[e->index].aggregate
				       : NULL;

	return a && a->kind == AGGREGATE_SUM && e->type.kind != TYPE_REAL &&
	       !(type_is_word(e->type) && !e->type.is_signed);
}

static bool is_sum(const struct lite_writer *w, const struct expr *e)
{
	return cut_is_sum(w->context, e);
}

void cut_put(struct cutter *c, struct expr *e, enum lite_want want, struct buf *out)
{
	size_t start = out->n;
	const struct lite_writer w = { .leaf = put_value_leaf,
				       .context = c,
				       .put = put,
				       .is_sum = is_sum,
				       .arena = c->arena,
				       .edge = c->settings->edge };

	put(&w, e, want, out);
	lite_check_depth(out->at + start, SELECT_DEPTH, e->span, c->diags);
}

/* What is printed for it: SQLite would take a lone number for that of a column. */
static const struct expr *printed(const struct cutter *c, const struct expr *e)
{
	for (;;) {
		if (e->kind == EXPR_KEY && !c->grouped.at[e->source]->is_part)
			e = c->grouped.at[e->source]->plan->aggregate.keys[e->index].expr;
		else if ((e->kind == EXPR_OP && e->op == OP_PLUS) ||
			 (e->kind == EXPR_CASE && e->n_args == 1))
			e = e->args[0];
		else
			return e;
	}
}

/* There SQLite finds no columns of a select around. */
static void put_own(struct cutter *c, struct expr *e, struct buf *out)
{
	u32 reach = c->reach;

	c->reach = UINT32_MAX;
	cut_put(c, e, LITE_VALUE, out);
	if (c->reach < c->depth && !diags_failed(c->diags))
		diag_error(c->diags, "not-supported", e->span,
			   "ORDER BY and GROUP BY of a sub-query cannot read the select around it");
	c->reach = MIN(c->reach, reach);
}

void cut_put_group_key(struct cutter *c, struct expr *e, struct buf *out)
{
	put_own(c, e, out);
	buf_puts(out, printed(c, e)->kind == EXPR_INTEGER ? " | 0" : "");
}

bool cut_put_sort_key(struct cutter *c, const struct sort_key *key, u32 item, const char *before,
		      struct buf *out)
{
	if (expr_is_constant(printed(c, key->expr)))
		return false;
	buf_puts(out, before);
	if (item)
		buf_printf(out, "%u", item);
	else
		put_own(c, key->expr, out);
	lite_write_direction(key, out);
	return true;
}
