/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Histograms out of values and of other histograms, and quantiles out of histograms:
 * the arithmetic is that of type/scheme.h and type/quantile.h.
 */
#include "func/internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct counts {
	struct scheme scheme;
	u64 *cells; /* NULL: no scheme was given so far */
	u64 n_rows;
	struct histogram total; /* count, n_unplaced, sum, min, max */
};

/* false: there is no memory for it. */
static bool counts_start(sqlite3_context *context, struct counts *counts,
			 const struct scheme *scheme)
{
	if (scheme_copy(scheme, &counts->scheme))
		counts->cells = func_alloc(context, scheme_n_cells(scheme) * sizeof(u64));
	else
		sqlite3_result_error_nomem(context);
	return counts->cells;
}

static void widen(struct histogram *total, bool is_first, s128 min, s128 max)
{
	total->min = is_first ? min : MIN(total->min, min);
	total->max = is_first ? max : MAX(total->max, max);
}

static bool scheme_of(sqlite3_context *context, sqlite3_value *value, s64 *bounds,
		      struct scheme *ret_scheme)
{
	const char *text = (const char *)sqlite3_value_text(value);

	if (text && scheme_read(text, bounds, ret_scheme))
		return true;
	sqlite3_result_error(context, "not a scheme of a histogram", -1);
	return false;
}

static void step_histogram(sqlite3_context *context, int argc, sqlite3_value **argv)
{
	struct counts *counts = func_state(context, sizeof(struct counts));
	s64 bounds[SCHEME_BOUNDS_MAX];
	struct histogram *total;
	struct scheme scheme;
	s128 x;

	if (!counts)
		return;
	counts->n_rows++;
	if (!counts->cells && (!scheme_of(context, argv[1], bounds, &scheme) ||
			       !counts_start(context, counts, &scheme)))
		return;
	if (!integer_of(context, argv[0], &x))
		return;
	if (x < 0 && !scheme_takes_negative(&counts->scheme)) {
		func_negative(context, counts->n_rows, argv[2]);
		return;
	}
	total = &counts->total;
	widen(total, !total->count, x, x);
	counts->cells[scheme_cell(&counts->scheme, x)]++;
	total->count++;
	total->sum += x;
}

/* NULL: of NULL, and after an error.  *ret_memory is for free(). */
static const struct histogram *histogram_of(sqlite3_context *context, sqlite3_value *value,
					    void **ret_memory)
{
	struct value decoded = { 0 };

	*ret_memory = NULL;
	if (special_of(value) == VALUE_HISTOGRAM) {
		*ret_memory = special_value(value, &decoded);
		if (!*ret_memory)
			sqlite3_result_error_nomem(context);
	} else if (sqlite3_value_type(value) != SQLITE_NULL) {
		sqlite3_result_error(context, "not a histogram", -1);
	}
	return *ret_memory ? decoded.histogram : NULL;
}

static void merge(struct counts *counts, const struct histogram *h)
{
	struct histogram *total = &counts->total;

	if (h->count || h->n_unplaced)
		widen(total, !total->count && !total->n_unplaced, h->min, h->max);
	for (u32 i = 0; i < h->n_cells; i++)
		counts->cells[h->cells[i].cell] += h->cells[i].count;
	total->count += h->count;
	total->n_unplaced += h->n_unplaced;
	total->sum += h->sum;
}

static void refuse_mixed(sqlite3_context *context, const struct scheme *a, const struct scheme *b,
			 sqlite3_value *place)
{
	struct buf what;

	buf_init(&what);
	scheme_print(a, &what);
	buf_puts(&what, " and ");
	scheme_print(b, &what);
	func_refuse(context, FUNC_MIXED_SCHEMES, place, "%s", what.at);
	buf_free(&what);
}

static void step_merge(sqlite3_context *context, int argc, sqlite3_value **argv)
{
	struct counts *counts = func_state(context, sizeof(struct counts));
	const struct histogram *h;
	void *memory;

	if (!counts)
		return;
	h = histogram_of(context, argv[0], &memory);
	if (h && !counts->cells && !counts_start(context, counts, h->scheme))
		h = NULL;
	if (h && scheme_equal(&counts->scheme, h->scheme))
		merge(counts, h);
	else if (h)
		refuse_mixed(context, &counts->scheme, h->scheme, argv[1]);
	free(memory);
}

static void value_histogram(sqlite3_context *context)
{
	const struct counts *counts = func_state(context, 0);
	struct value value = { .kind = VALUE_HISTOGRAM };
	struct histogram_cell *cells;
	struct histogram h;
	u32 n;

	if (!counts || !counts->cells)
		return;
	n = scheme_n_cells(&counts->scheme);
	cells = func_alloc(context, n * sizeof(*cells));
	if (!cells)
		return;
	h = counts->total;
	h.scheme = &counts->scheme;
	h.cells = cells;
	for (u32 i = 0; i < n; i++)
		if (counts->cells[i])
			cells[h.n_cells++] = (struct histogram_cell){ i, counts->cells[i] };
	value.histogram = &h;
	func_result(context, &value);
	free(cells);
}

static void clear_counts(void *state)
{
	struct counts *counts = state;

	free(counts->cells);
	free((void *)counts->scheme.bounds);
}

static void call_empty(sqlite3_context *context, int argc, sqlite3_value **argv)
{
	s64 bounds[SCHEME_BOUNDS_MAX];
	struct scheme scheme;
	struct histogram h = { .scheme = &scheme };
	struct value value = { .kind = VALUE_HISTOGRAM, .histogram = &h };

	if (scheme_of(context, argv[0], bounds, &scheme))
		func_result(context, &value);
}

/* --- Quantiles --- */

static bool read_edge(sqlite3_context *context, sqlite3_value *value,
		      struct quantile_request *request)
{
	const char *text = (const char *)sqlite3_value_text(value);

	request->is_interpolated = text && strcmp(text, "cont") == 0;
	for (u32 i = 0; text && i < EDGE_N; i++) {
		request->edge = i;
		if (request->is_interpolated || strcmp(text, quantile_edge_names[i]) == 0)
			return true;
	}
	sqlite3_result_error(context, "an edge of a quantile that is not known", -1);
	return false;
}

static bool read_q(sqlite3_context *context, sqlite3_value *value, struct quantile_request *request)
{
	s64 q_ppb = sqlite3_value_int64(value);

	if (q_ppb < 0 || q_ppb > 1000000000) {
		sqlite3_result_error(context, "a quantile is between 0 and 1", -1);
		return false;
	}
	request->q_ppb = (u32)q_ppb;
	return true;
}

/* One or several, of a histogram; NULL where it has no values. */
static void call_quantiles(sqlite3_context *context, int argc, sqlite3_value **argv)
{
	struct quantile_request request = { .n_lost = func_of(context)->context->n_lost_values };
	struct value result = { .kind = VALUE_QUANTILES };
	struct quantile *quantiles;
	const struct histogram *h;
	void *memory;

	if (argc < 3) {
		sqlite3_result_error(context, "eb_quantiles: which ones?", -1);
		return;
	}
	if (!read_edge(context, argv[1], &request))
		return;
	h = histogram_of(context, argv[0], &memory);
	quantiles = func_alloc(context, (argc - 2) * sizeof(*quantiles));
	while (quantiles && result.n < (u32)argc - 2 &&
	       read_q(context, argv[2 + result.n], &request) && h &&
	       quantile_of(h, &request, &quantiles[result.n]))
		result.n++;
	result.quantiles = quantiles;
	if (result.n == (u32)argc - 2)
		func_result(context, &result);
	free(quantiles);
	free(memory);
}

enum part { PART_LO, PART_HI, PART_ESTIMATE };

/* Without a bound it is infinite, so that conditions and orders over it are right. */
static void give_part(sqlite3_context *context, const struct quantile *q, enum part part)
{
	bool is_lo = part == PART_LO;

	if (part == PART_ESTIMATE && q->is_interpolated)
		sqlite3_result_double(context, q->interpolated);
	else if (part == PART_ESTIMATE)
		special_result_integer(context, q->estimate);
	else if (is_lo ? q->has_lo : q->has_hi)
		special_result_integer(context, is_lo ? q->lo : q->hi);
	else
		sqlite3_result_double(context, is_lo ? -INFINITY : INFINITY);
}

/* Of a quantile; what is none passes through. */
static void call_part(sqlite3_context *context, int argc, sqlite3_value **argv)
{
	struct value decoded;
	void *memory;

	if (special_of(argv[0]) != VALUE_QUANTILES) {
		sqlite3_result_value(context, argv[0]);
		return;
	}
	memory = special_value(argv[0], &decoded);
	if (!memory)
		sqlite3_result_error_nomem(context);
	else if (decoded.n == 1)
		give_part(context, decoded.quantiles, func_of(context)->function->detail);
	else
		sqlite3_result_error(context, "several quantiles are no number", -1);
	free(memory);
}

const struct function statistic_functions[] = {
	{ "eb_histogram", 3, 0, NULL, step_histogram, value_histogram, NULL, clear_counts },
	{ "eb_histogram_merge", 2, 0, NULL, step_merge, value_histogram, NULL, clear_counts },
	{ "eb_histogram_empty", 1, 0, call_empty },
	{ "eb_quantiles", -1, 0, call_quantiles },
	{ "eb_estimate", 1, PART_ESTIMATE, call_part },
	{ "eb_lo", 1, PART_LO, call_part },
	{ "eb_hi", 1, PART_HI, call_part },
	{ NULL },
};
