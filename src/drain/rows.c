/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Cells -> values.  Sums are exact in 128 bits; an average is the exact sum over
 * the count, rounded to a double; a minimum or maximum loses its bias here.  What
 * histograms and quantiles point to lies in the scratch of the batch.
 */
#include "drain/rows.h"

#include <math.h>
#include <string.h>

#include "drain/stream.h"

static void set_integer(struct value *value, s128 integer)
{
	value->kind = VALUE_INT;
	value->n = 0;
	value->integer = integer;
}

static void set_null(struct value *value)
{
	*value = (struct value){ .kind = VALUE_NULL };
}

static void key_value(const struct rows *rows, const struct merge_entry *entry,
		      const struct phys_key *key, struct value *ret_value)
{
	const struct merge *merge = rows->merge;
	const struct phys *phys = rows->phys;
	u32 word = phys->state.kind == STATE_DIRECT ? 0 : key->first_word;

	if (key->is_slice) {
		set_integer(ret_value, (s128)entry->words[merge->n_row_words]);
		return;
	}
	if (key->null_bit >= 0 && entry->words[0] >> key->null_bit & 1) {
		set_null(ret_value);
		return;
	}
	stream_value(phys, key->expr->type, key->is_probe, entry->words + word, 8 * key->n_words,
		     ret_value);
}

/* The number that a merged cell stands for. */
static s128 cell_integer(const struct rows *rows, const u64 *cells, s32 number)
{
	const struct merge_cell *cell = &rows->merge->cells[number];

	return cell->ops->integer(cell->cell, cells + cell->to_word);
}

/* --- Histograms and quantiles --- */

struct cell_list {
	struct histogram_cell *cells;
	u32 n;
	u64 count;
};

static void list_cell(void *context, u32 cell, u64 count)
{
	struct cell_list *list = context;

	list->cells[list->n++] = (struct histogram_cell){ cell, count };
	list->count += count;
}

/* Its cells lie in the scratch; false: there is no memory. */
static bool read_histogram(const struct rows *rows, const u64 *cells,
			   const struct phys_aggregate *aggregate, struct histogram *ret_histogram)
{
	const struct merge_cell *cell = &rows->merge->cells[aggregate->histogram_cell];
	struct cell_list list = { .cells = scratch_alloc(rows->scratch,
							 cell->n_cells * sizeof(*list.cells)) };
	struct histogram *h = ret_histogram;

	if (!list.cells)
		return false;
	*h = (struct histogram){ .scheme = rows->phys->cells[aggregate->histogram_cell].scheme };
	h->n_unplaced = merge_histogram(rows->merge, cells, cell, list_cell, &list);
	scratch_trim(rows->scratch, list.cells, list.n * sizeof(*list.cells));
	h->cells = list.cells;
	h->n_cells = list.n;
	h->count = list.count;
	h->sum = cell_integer(rows, cells, aggregate->sum_cell);
	if (h->count || h->n_unplaced) {
		h->min = cell_integer(rows, cells, aggregate->min_cell);
		h->max = cell_integer(rows, cells, aggregate->max_cell);
	}
	return true;
}

static void histogram_value(const struct rows *rows, const u64 *cells,
			    const struct phys_aggregate *aggregate, struct value *ret_value)
{
	struct histogram *h = scratch_alloc(rows->scratch, sizeof(*h));

	if (h && read_histogram(rows, cells, aggregate, h))
		*ret_value = (struct value){ .kind = VALUE_HISTOGRAM, .histogram = h };
	else
		set_null(ret_value);
}

/* Without a bound it is infinite, so that conditions and orders over it are right. */
static void quantile_bound(const struct quantile *q, bool is_lo, struct value *ret_value)
{
	if (is_lo ? q->has_lo : q->has_hi)
		set_integer(ret_value, is_lo ? q->lo : q->hi);
	else
		*ret_value =
			(struct value){ .kind = VALUE_REAL, .real = is_lo ? -INFINITY : INFINITY };
}

static void quantile_value(const struct rows *rows, const u64 *cells,
			   const struct phys_aggregate *aggregate, struct value *ret_value)
{
	const struct aggregate *a = aggregate->aggregate;
	struct quantile_request request = { .n_lost = rows->n_lost_values,
					    .is_interpolated = a->is_interpolated,
					    .edge = rows->phys->settings->edge };
	struct quantile *quantiles = scratch_alloc(rows->scratch, a->n_q * sizeof(*quantiles));
	struct scratch_mark mark = scratch_mark(rows->scratch);
	struct histogram h;
	bool is_empty = !quantiles || !read_histogram(rows, cells, aggregate, &h);

	for (u32 i = 0; i < a->n_q && !is_empty; i++) {
		request.q_ppb = a->q_ppb[i];
		is_empty = !quantile_of(&h, &request, &quantiles[i]);
	}
	scratch_release(rows->scratch, mark);
	if (is_empty)
		set_null(ret_value);
	else if (a->part != QUANTILE_WHOLE)
		quantile_bound(quantiles, a->part == QUANTILE_LO, ret_value);
	else
		*ret_value = (struct value){ .kind = VALUE_QUANTILES,
					     .n = a->n_q,
					     .quantiles = quantiles };
}

/* --- First, last, stddev and top_k --- */

/* The words of a value of the argument; texts point into them. */
static void word_value(const struct rows *rows, const struct expr *arg, const u64 *words,
		       struct value *ret_value)
{
	stream_value(rows->phys, arg->type, arg->kind == EXPR_SYSTEM && arg->index == SYS_PROBE,
		     words, arg->type.bytes, ret_value);
}

/* NULL: there are too few values. */
static void stddev_value(const u64 *squares, u64 n, s128 sum, bool is_population,
			 struct value *ret_value)
{
	const struct moments moments = { n, sum, { squares[0], squares[1], squares[2] } };
	double real = moments_stddev(&moments, is_population);

	*ret_value = (struct value){ .kind = isnan(real) ? VALUE_NULL : VALUE_REAL, .real = real };
}

static void top_value(const struct rows *rows, const struct cell *cell, const u64 *words, u32 k,
		      struct value *ret_value)
{
	u32 n = cell->top.n_sets * TOP_WAYS;
	struct top *top = scratch_alloc(rows->scratch, sizeof(*top));
	struct top_row *list = scratch_alloc(rows->scratch, MIN(n, k) * sizeof(*list));
	struct scratch_mark mark = scratch_mark(rows->scratch);
	struct top_entry *entries = scratch_alloc(rows->scratch, n * sizeof(*entries));

	*ret_value = (struct value){ .kind = VALUE_NULL };
	if (rows->scratch->is_short)
		return;
	*top = (struct top){ .rows = list };
	top->n_rows = top_list(&cell->top, words, k, entries, &top->total, &top->max_unlisted);
	for (u32 i = 0; i < top->n_rows; i++) {
		list[i].weight = entries[i].weight;
		list[i].error = entries[i].error;
		word_value(rows, cell->arg, entries[i].value, &list[i].value);
	}
	scratch_release(rows->scratch, mark);
	*ret_value = (struct value){ .kind = VALUE_TOP, .top = top };
}

static void first_last_value(const struct rows *rows, const struct cell *cell, const u64 *words,
			     struct value *ret_value)
{
	if (words[0])
		word_value(rows, cell->arg, words + 1, ret_value);
	else
		*ret_value = (struct value){ .kind = VALUE_NULL };
}

/* Of the values, or of the group's events. */
static u64 count_of(const struct rows *rows, const u64 *cells,
		    const struct phys_aggregate *aggregate)
{
	if (aggregate->count_cell >= 0)
		return (u64)cell_integer(rows, cells, aggregate->count_cell);
	/* Without a count the aggregate has a value wherever its group has an event. */
	return rows->merge->is_grouped || rows->matched;
}

static void aggregate_value(const struct rows *rows, const u64 *cells,
			    const struct phys_aggregate *a, struct value *ret_value)
{
	const struct aggregate_info *info = &aggregate_infos[a->kind];
	const struct merge_cell *of = rows->merge->cells;
	s32 number = a->value_cell >= 0 ? a->value_cell : a->count_cell;
	u64 count = 0;

	if (info->counts != COUNTS_NEVER) {
		count = count_of(rows, cells, a);
		if (!count && !info->is_never_null) {
			set_null(ret_value);
			return;
		}
	}
	switch (info->reads) {
	case READS_NUMBER:
		set_integer(ret_value, cell_integer(rows, cells, number));
		break;
	case READS_MEAN:
		ret_value->kind = VALUE_REAL;
		ret_value->n = 0;
		ret_value->real = (double)cell_integer(rows, cells, number) / (double)count;
		break;
	case READS_DEVIATION:
		stddev_value(cells + of[a->squares_cell].to_word, count,
			     cell_integer(rows, cells, number), a->aggregate->is_population,
			     ret_value);
		break;
	case READS_EVENT:
		first_last_value(rows, of[number].cell, cells + of[number].to_word, ret_value);
		break;
	case READS_HISTOGRAM:
		histogram_value(rows, cells, a, ret_value);
		break;
	case READS_QUANTILES:
		quantile_value(rows, cells, a, ret_value);
		break;
	case READS_TOP:
		top_value(rows, of[number].cell, cells + of[number].to_word, a->aggregate->k,
			  ret_value);
		break;
	}
}

void rows_value(const struct rows *rows, u32 position, u32 column, struct value *ret_value)
{
	const struct phys *phys = rows->phys;
	const struct merge_entry *entry = merge_entry(rows->merge, position);

	if (column < phys->n_keys) {
		if (position == MERGE_OTHER)
			set_null(ret_value);
		else
			key_value(rows, entry, &phys->keys[column], ret_value);
		return;
	}
	column -= phys->n_keys;
	if (column < phys->n_aggregates)
		aggregate_value(rows, merge_cells(rows->merge, entry), &phys->aggregates[column],
				ret_value);
	else
		set_integer(ret_value, column == phys->n_aggregates ? rows->window_start_ns
								    : rows->window_end_ns);
}
