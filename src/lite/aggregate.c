/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Aggregates and window functions -> SQLite's SQL, by the functions of func/.
 */
#include "lite/lite.h"

/*
 * x where FILTER is true, else NULL, which no aggregate takes: as one expression, so that it is
 * computed for these rows alone.  SQLite's FILTER would not do over a window, where it computes
 * x, and both sides of OR, for all rows.
 */
static struct expr *filtered(const struct lite_writer *w, const struct aggregate *a, struct expr *x)
{
	if (!a->filter)
		return x;
	if (!x)
		x = expr_number(w->arena, a->span, 1);
	return expr_make(w->arena, EXPR_CASE, a->span, 3, a->filter, x,
			 expr_new(w->arena, EXPR_NULL, a->span));
}

/* "f(DISTINCT x, ...)", with what the aggregate's options are. */
static void put_call(const struct lite_writer *w, const struct aggregate *a, enum lite_want want,
		     struct buf *out)
{
	const struct aggregate_info *info = &aggregate_infos[a->kind];
	bool is_checked = info->sql_takes_text && type_is_word(a->arg->type);
	struct expr *const more[] = { a->weight, a->time, a->separator };
	struct expr *x = filtered(w, a, a->arg);

	buf_printf(out, "%s(%s%s",
		   a->is_population	? "eb_stddev_pop"
		   : a->keeps_null	? "eb_latest"
		   : want == LITE_SHOWN ? "eb_sum_shown"
					: info->sql,
		   a->is_distinct ? "DISTINCT " : "", is_checked ? "eb_text(" : "");
	if (x)
		w->put(w, x, a->kind == AGGREGATE_HISTOGRAM_MERGE ? LITE_ITEM : LITE_VALUE, out);
	else
		buf_putc(out, '*');
	buf_puts(out, is_checked ? ")" : "");
	if (a->scheme) {
		buf_puts(out, ", '");
		scheme_print(a->scheme, out);
		buf_putc(out, '\'');
	}
	if (a->kind == AGGREGATE_HISTOGRAM_MERGE) /* it can fail */
		buf_printf(out, ", '@%u-%u'", a->span.start, a->span.end);
	if (a->hll_bits || a->k)
		buf_printf(out, ", %u", a->hll_bits ? a->hll_bits : a->k);
	for (u32 i = 0; i < ARRAY_SIZE(more); i++) {
		if (!more[i])
			continue;
		buf_puts(out, ", ");
		/* FILTER is computed, and its faults count, again: only where there is need. */
		x = expr_can_fail(more[i]) ? filtered(w, a, more[i]) : more[i];
		w->put(w, x, LITE_VALUE, out);
	}
	buf_puts(out, a->k && !a->weight ? ", 1" : "");
	if (a->scheme || a->k)
		buf_printf(out, ", %u", w->select);
	buf_putc(out, ')');
}

void lite_write_direction(const struct sort_key *key, struct buf *out)
{
	buf_puts(out, key->is_descending ? " DESC" : "");
	buf_puts(out, key->nulls < 0 ? " NULLS FIRST" : key->nulls > 0 ? " NULLS LAST" : "");
}

static void put_window(const struct lite_writer *w, const struct over *o, struct buf *out)
{
	buf_puts(out, " OVER (");
	for (u32 i = 0; i < o->n_partition; i++) {
		buf_puts(out, i ? ", " : "PARTITION BY ");
		w->put(w, o->partition[i], LITE_VALUE, out);
	}
	for (u32 i = 0; i < o->n_order; i++) {
		const struct sort_key *key = &o->order[i];
		/* An integer of 2^63 and more has no distance in SQLite. */
		bool is_range = sql_is_range(o->frame) && type_is_word(key->expr->type) &&
				!key->expr->type.is_signed;

		buf_puts(out, i ? ", " : " ORDER BY ");
		buf_puts(out, is_range ? "eb_range(" : "");
		w->put(w, key->expr, LITE_VALUE, out);
		buf_puts(out, is_range ? ")" : "");
		lite_write_direction(key, out);
	}
	if (o->frame)
		buf_printf(out, " %s", o->frame);
	buf_putc(out, ')');
}

/* over: NULL, or the window it is of.  Of no rows a histogram is empty, not NULL. */
static void put_rows_of(const struct lite_writer *w, const struct aggregate *a, enum lite_want want,
			const struct over *over, struct buf *out)
{
	buf_puts(out, a->scheme ? "ifnull(" : "");
	put_call(w, a, want, out);
	if (over)
		put_window(w, over, out);
	if (a->scheme) {
		buf_puts(out, ", eb_histogram_empty('");
		scheme_print(a->scheme, out);
		buf_puts(out, "'))");
	}
}

/* Around the histogram, which is there already or is to be made. */
static void put_quantile(const struct lite_writer *w, const struct aggregate *a,
			 struct expr *histogram, enum lite_want want, const struct over *over,
			 struct buf *out)
{
	static const char *const parts[] = { [QUANTILE_WHOLE] = "eb_estimate(",
					     [QUANTILE_LO] = "eb_lo(",
					     [QUANTILE_HI] = "eb_hi(" };
	bool is_number = a->part != QUANTILE_WHOLE || (want != LITE_ITEM && lite_is_quantile(a));

	buf_printf(out, "%seb_quantiles(", is_number ? parts[a->part] : "");
	if (histogram)
		w->put(w, histogram, LITE_ITEM, out);
	else
		put_rows_of(w, a, LITE_ITEM, over, out);
	buf_printf(out, ", '%s'", a->is_interpolated ? "cont" : quantile_edge_names[w->edge]);
	for (u32 i = 0; i < (a->is_ladder ? a->n_q : 1); i++)
		buf_printf(out, ", %u", a->q_ppb[i]);
	buf_puts(out, is_number ? "))" : ")");
}

void lite_write_statistic(const struct lite_writer *w, const struct expr *e, enum lite_want want,
			  struct buf *out)
{
	put_quantile(w, e->statistic, e->args[0], want, NULL, out);
}

void lite_write_aggregate(const struct lite_writer *w, const struct aggregate *a,
			  enum lite_want want, const struct over *over, struct buf *out)
{
	if (a->kind == AGGREGATE_QUANTILE)
		put_quantile(w, a, NULL, want, over, out);
	else
		put_rows_of(w, a, want, over, out);
}

void lite_write_over(const struct lite_writer *w, const struct over *o, enum lite_want want,
		     struct buf *out)
{
	if (o->aggregate) {
		lite_write_aggregate(w, o->aggregate, want, o, out);
		return;
	}
	buf_printf(out, "%s(", o->function->sql ? o->function->sql : o->function->name);
	for (u32 i = 0; i < o->n_args; i++) {
		buf_puts(out, i ? ", " : "");
		w->put(w, o->args[i], LITE_VALUE, out);
	}
	buf_putc(out, ')');
	put_window(w, o, out);
}
