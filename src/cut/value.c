/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Expressions of a select -> SQL: which columns stand for what was computed already, and
 * the special values (quantiles), which are numbers wherever one computes with them.
 */
#include <string.h>

#include "cut/build.h"
#include "lite/lite.h"

static void put_column(struct cutter *c, u32 relation, u32 index, struct buf *out)
{
	const struct relation *r = &c->relations[relation];

	BUG_ON(!r->alias);
	if (r->names)
		buf_printf(out, "%s.\"%s\"", r->alias, r->names[index]);
	else
		buf_printf(out, "%s.c%u", r->alias, r->map ? r->map[index] : index);
}

/* A key, by the select that groups, or an outer one. */
static void put_key(struct cutter *c, const struct expr *e, enum want want, struct buf *out)
{
	const struct grouped *g = c->grouped.at[e->source];

	if (g->alias)
		buf_printf(out, "%s.c%u", g->alias, e->index);
	else
		cut_put(c, g->plan->aggregate.keys[e->index].expr, want, out);
}

static void put_aggregate(struct cutter *c, const struct expr *e, enum want want, struct buf *out)
{
	const struct grouped *g = c->grouped.at[e->source];
	const struct aggregate *a = &g->plan->aggregate.list[e->index];
	bool is_estimate = cut_is_quantile(a) && want != WANT_ITEM;

	if (g->is_regrouped) {
		cut_put_regrouped(c, g, e->index, out);
	} else if (g->alias) {
		buf_printf(out, is_estimate ? "eb_estimate(%s.c%u)" : "%s.c%u", g->alias,
			   g->plan->aggregate.n_keys + e->index);
	} else {
		cut_put_aggregate(c, a, want, "", out);
	}
}

static void put_bound(struct cutter *c, const struct expr *e, struct buf *out)
{
	/* The windows of rows[0], which then is the only one. */
	if (cut_is_own_window(c) && c->rows.n)
		buf_printf(out, "%s.", c->relations[c->rows.at[0]->relation].alias);
	else
		buf_putc(out, ':');
	buf_puts(out, e->kind == EXPR_WINDOW_START ? "window_start" : "window_end");
}

static void put_statistic(struct cutter *c, const struct expr *e, enum want want, struct buf *out)
{
	struct buf histogram;

	buf_init_in(&histogram, c->arena);
	cut_put(c, e->args[0], WANT_ITEM, &histogram);
	cut_put_statistic(c, e->statistic, histogram.at, want, out);
}

/* Rows around a sub-query are read by it, not computed for it. */
static void put_subquery(struct cutter *c, const struct expr *e, struct buf *out)
{
	u32 n = c->rows.n;
	bool was_outer[64] = { false };

	for (u32 i = 0; i < MIN(n, 64u); i++) {
		was_outer[i] = c->rows.at[i]->is_outer;
		c->rows.at[i]->is_outer = true;
	}
	buf_putc(out, '(');
	c->n_outer++;
	cut_select(c, e->plan, e->kind != EXPR_EXISTS, out);
	c->n_outer--;
	buf_putc(out, ')');
	for (u32 i = 0; i < MIN(n, 64u); i++)
		c->rows.at[i]->is_outer = was_outer[i];
}

/* What is not computed from its arguments; false: it is. */
static bool put_leaf(struct cutter *c, const struct lite_writer *w, const struct expr *e,
		     enum want want, struct buf *out)
{
	bool is_estimate = e->is_quantile && want != WANT_ITEM;

	switch (e->kind) {
	case EXPR_COLUMN:
		buf_puts(out, is_estimate ? "eb_estimate(" : "");
		put_column(c, e->source, e->index, out);
		buf_puts(out, is_estimate ? ")" : "");
		return true;
	case EXPR_KEY:
		put_key(c, e, want, out);
		return true;
	case EXPR_AGGREGATE:
		put_aggregate(c, e, want, out);
		return true;
	case EXPR_OVER:
		cut_put_over(c, &c->overs[e->source]->over.list[e->index], want, out);
		return true;
	case EXPR_STATISTIC:
		put_statistic(c, e, want, out);
		return true;
	case EXPR_WINDOW_START:
	case EXPR_WINDOW_END:
		put_bound(c, e, out);
		return true;
	case EXPR_IN_SELECT:
		buf_putc(out, '(');
		lite_write(w, e->args[0], out);
		buf_puts(out, " IN ");
		put_subquery(c, e, out);
		buf_putc(out, ')');
		return true;
	case EXPR_EXISTS:
		buf_puts(out, "EXISTS ");
		put_subquery(c, e, out);
		return true;
	case EXPR_SUBQUERY:
		put_subquery(c, e, out);
		return true;
	case EXPR_NULL:
	case EXPR_INTEGER:
	case EXPR_REAL:
	case EXPR_TEXT:
	case EXPR_FIELD:
	case EXPR_SYSTEM:
	case EXPR_MEMBER:
	case EXPR_OP:
	case EXPR_IN:
	case EXPR_LIKE:
	case EXPR_IS_NULL:
	case EXPR_CASE:
	case EXPR_CALL:
	case EXPR_CAST:
	case EXPR_MATCH:
	case EXPR_UNION:
	case EXPR_RUNNING:
		break;
	}
	return false;
}

static bool put_value_leaf(const struct lite_writer *w, const struct expr *e, struct buf *out)
{
	return put_leaf(w->context, w, e, WANT_VALUE, out);
}

void cut_put(struct cutter *c, struct expr *e, enum want want, struct buf *out)
{
	const struct lite_writer writer = { put_value_leaf, c };
	struct expr *taken = cut_take(c, e);

	if (want == WANT_CONDITION)
		lite_write_condition(&writer, taken, out);
	else if (want == WANT_VALUE || !put_leaf(c, &writer, taken, WANT_ITEM, out))
		lite_write(&writer, taken, out);
}

/* What is printed for it: SQLite would take a lone number for that of a column. */
static const struct expr *printed(const struct cutter *c, const struct expr *e)
{
	for (;;) {
		if (e->kind == EXPR_KEY && !c->grouped.at[e->source]->alias)
			e = c->grouped.at[e->source]->plan->aggregate.keys[e->index].expr;
		else if ((e->kind == EXPR_OP && e->op == OP_PLUS) ||
			 (e->kind == EXPR_CASE && e->n_args == 1))
			e = e->args[0];
		else
			return e;
	}
}

void cut_put_group_key(struct cutter *c, struct expr *e, struct buf *out)
{
	cut_put(c, e, WANT_VALUE, out);
	buf_puts(out, printed(c, e)->kind == EXPR_INTEGER ? " | 0" : "");
}

void cut_put_direction(const struct sort_key *key, struct buf *out)
{
	buf_puts(out, key->is_descending ? " DESC" : "");
	buf_puts(out, key->nulls < 0 ? " NULLS FIRST" : key->nulls > 0 ? " NULLS LAST" : "");
}

void cut_put_order(struct cutter *c, const struct sort_key *keys, u32 n, const char *before,
		   struct buf *out)
{
	for (u32 i = 0; i < n; i++) {
		/* A constant orders nothing. */
		if (expr_is_constant(printed(c, keys[i].expr)))
			continue;
		buf_puts(out, before);
		before = ", ";
		cut_put(c, keys[i].expr, WANT_VALUE, out);
		cut_put_direction(&keys[i], out);
	}
}
