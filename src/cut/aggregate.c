/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Aggregates and window functions -> SQLite's SQL, by the functions of func/.
 */
#include <string.h>

#include "cut/build.h"

static const char *const edges[] = {
	[EDGE_MID] = "mid", [EDGE_LOWER] = "lower", [EDGE_UPPER] = "upper", [EDGE_LINEAR] = "linear"
};

/* What stands behind the call. */
static void put_suffix(struct cutter *c, const struct aggregate *a, const char *over,
		       struct buf *out)
{
	if (a->filter) {
		buf_puts(out, " FILTER (WHERE ");
		cut_put(c, a->filter, WANT_CONDITION, out);
		buf_putc(out, ')');
	}
	buf_puts(out, over);
}

/* "f(DISTINCT x" */
static void put_call(struct cutter *c, const char *function, const struct aggregate *a,
		     struct buf *out)
{
	bool is_merged = a->kind == AGGREGATE_HISTOGRAM_MERGE;
	bool is_checked = aggregate_infos[a->kind].sql_takes_text && type_is_word(a->arg->type);

	c->only = a->filter;
	buf_printf(out, "%s(%s%s", function, a->is_distinct ? "DISTINCT " : "",
		   is_checked ? "eb_text(" : "");
	if (a->arg)
		cut_put(c, a->arg, is_merged ? WANT_ITEM : WANT_VALUE, out);
	else
		buf_putc(out, '*');
	buf_puts(out, is_checked ? ")" : "");
	c->only = NULL;
}

/* Of no rows it is empty, not NULL. */
static void put_histogram(struct cutter *c, const struct aggregate *a, enum want want,
			  const char *over, struct buf *out)
{
	struct buf scheme;

	buf_init_in(&scheme, c->arena);
	scheme_print(a->scheme, &scheme);
	buf_puts(out, "ifnull(");
	put_call(c, "eb_histogram", a, out);
	buf_printf(out, ", '%s')", scheme.at);
	put_suffix(c, a, over, out);
	buf_printf(out, ", eb_histogram_empty('%s'))", scheme.at);
}

bool cut_is_quantile(const struct aggregate *a)
{
	return a->kind == AGGREGATE_QUANTILE && a->part == QUANTILE_WHOLE && !a->is_ladder;
}

void cut_put_statistic(struct cutter *c, const struct aggregate *a, const char *histogram,
		       enum want want, struct buf *out)
{
	static const char *const parts[] = { [QUANTILE_WHOLE] = "eb_estimate(",
					     [QUANTILE_LO] = "eb_lo(",
					     [QUANTILE_HI] = "eb_hi(" };
	bool is_number = a->part != QUANTILE_WHOLE || (want != WANT_ITEM && cut_is_quantile(a));
	u32 n = a->is_ladder ? a->n_q : 1;

	buf_printf(out, "%seb_quantiles(%s, '%s'", is_number ? parts[a->part] : "", histogram,
		   a->is_interpolated ? "cont" : edges[c->settings->edge]);
	for (u32 i = 0; i < n; i++)
		buf_printf(out, ", %u", a->q_ppb[i]);
	buf_puts(out, is_number ? "))" : ")");
}

static void put_quantile(struct cutter *c, const struct aggregate *a, enum want want,
			 const char *over, struct buf *out)
{
	struct buf histogram;

	buf_init_in(&histogram, c->arena);
	put_histogram(c, a, want, over, &histogram);
	cut_put_statistic(c, a, histogram.at, want, out);
}

static void put_top(struct cutter *c, const struct aggregate *a, enum want want, const char *over,
		    struct buf *out)
{
	buf_puts(out, "ifnull(");
	put_call(c, "eb_top_k", a, out);
	buf_printf(out, ", %u, ", a->k);
	if (a->weight)
		cut_put(c, a->weight, WANT_VALUE, out);
	else
		buf_putc(out, '1');
	buf_putc(out, ')');
	put_suffix(c, a, over, out);
	buf_puts(out, ", eb_top_k_empty())");
}

/* f(x, y): y is what the events are ordered by, or another argument. */
static void put_two(struct cutter *c, const char *function, const struct aggregate *a,
		    struct expr *second, const char *over, struct buf *out)
{
	put_call(c, function, a, out);
	if (second) {
		buf_puts(out, ", ");
		cut_put(c, second, WANT_VALUE, out);
	}
	buf_putc(out, ')');
	put_suffix(c, a, over, out);
}

static void put_first(struct cutter *c, const struct aggregate *a, enum want want, const char *over,
		      struct buf *out)
{
	put_two(c, "eb_first", a, a->time, over, out);
}

static void put_last(struct cutter *c, const struct aggregate *a, enum want want, const char *over,
		     struct buf *out)
{
	put_two(c, a->keeps_null ? "eb_latest" : "eb_last", a, a->time, over, out);
}

static void put_stddev(struct cutter *c, const struct aggregate *a, enum want want,
		       const char *over, struct buf *out)
{
	put_two(c, a->is_population ? "eb_stddev_pop" : "eb_stddev_samp", a, NULL, over, out);
}

static void put_hll(struct cutter *c, const struct aggregate *a, enum want want, const char *over,
		    struct buf *out)
{
	put_call(c, "eb_approx_count_distinct", a, out);
	buf_printf(out, ", %u)", a->hll_bits);
	put_suffix(c, a, over, out);
}

void cut_put_aggregate(struct cutter *c, const struct aggregate *a, enum want want,
		       const char *over, struct buf *out)
{
	/* Those with options. */
	static void (*const puts[AGGREGATE_N])(struct cutter * c, const struct aggregate *a,
					       enum want want, const char *over,
					       struct buf *out) = {
		[AGGREGATE_HISTOGRAM] = put_histogram, [AGGREGATE_QUANTILE] = put_quantile,
		[AGGREGATE_FIRST] = put_first,	       [AGGREGATE_LAST] = put_last,
		[AGGREGATE_STDDEV] = put_stddev,       [AGGREGATE_APPROX_COUNT_DISTINCT] = put_hll,
		[AGGREGATE_TOP_K] = put_top,
	};
	const struct aggregate_info *info = &aggregate_infos[a->kind];

	BUG_ON(!puts[a->kind] && !info->sql);
	if (puts[a->kind])
		puts[a->kind](c, a, want, over, out);
	else
		put_two(c, info->sql, a, a->separator, over, out);
}

void cut_put_regrouped(struct cutter *c, const struct grouped *g, u32 index, struct buf *out)
{
	const struct aggregate *a = &g->plan->aggregate.list[index];
	const struct aggregate_info *info = &aggregate_infos[a->kind];
	bool is_counted = info->is_never_null && !a->is_distinct;

	buf_printf(out, "%s%s(%s.c%u)%s", is_counted ? "coalesce(" : "",
		   a->is_distinct ? info->sql : info->regroup, g->alias, g->columns[index],
		   is_counted ? ", 0)" : "");
}

/* --- OVER --- */

static void put_window(struct cutter *c, const struct over *o, struct buf *out)
{
	const char *before = "PARTITION BY ";

	buf_puts(out, " OVER (");
	for (u32 i = 0; i < o->n_partition; i++) {
		buf_puts(out, before);
		before = ", ";
		cut_put(c, o->partition[i], WANT_VALUE, out);
	}
	for (u32 i = 0; i < o->n_order; i++) {
		const struct sort_key *key = &o->order[i];
		/* An integer of 2^63 and more has no distance in SQLite. */
		bool is_range = sql_is_range(o->frame) && type_is_word(key->expr->type) &&
				!key->expr->type.is_signed;

		buf_puts(out, i ? ", " : " ORDER BY ");
		buf_puts(out, is_range ? "eb_range(" : "");
		cut_put(c, key->expr, WANT_VALUE, out);
		buf_puts(out, is_range ? ")" : "");
		cut_put_direction(key, out);
	}
	if (o->frame)
		buf_printf(out, " %s", o->frame);
	buf_putc(out, ')');
}

void cut_put_over(struct cutter *c, const struct over *o, enum want want, struct buf *out)
{
	struct buf window;

	c->needs_all_rows = true;
	buf_init_in(&window, c->arena);
	put_window(c, o, &window);
	if (o->function) {
		buf_printf(out, "%s(", o->function->sql ? o->function->sql : o->function->name);
		for (u32 i = 0; i < o->n_args; i++) {
			buf_puts(out, i ? ", " : "");
			cut_put(c, o->args[i], WANT_VALUE, out);
		}
		buf_printf(out, ")%s", window.at);
	} else {
		cut_put_aggregate(c, o->aggregate, want, window.at, out);
	}
}
