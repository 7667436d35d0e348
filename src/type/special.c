/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Histograms, quantiles, top lists, stacks: to bytes and back, and as rows.  What has no meaning in
 * a value, as the lower edge of one without, is 0 in its bytes.
 */
#include "type/special.h"

#include <string.h>

/*
 * Goes over a value and its bytes together, one way or the other: so the order of the members is
 * written once.
 */
struct coder {
	struct buf *to; /* NULL: it reads */
	const u8 *from; /* what was not read yet */
	u8 *memory;	/* of what the value points to */
	size_t n_taken, n_room;
};

static void *take(struct coder *coder, size_t n)
{
	void *piece = coder->memory + coder->n_taken;

	coder->n_taken += ALIGN_UP(n, 16);
	BUG_ON(coder->n_taken > coder->n_room);
	return piece;
}

/* Writes the bytes, or reads others in their place. */
static void code_bytes(struct coder *coder, void *at, size_t n)
{
	if (!n)
		return;
	if (coder->to) {
		buf_put(coder->to, at, n);
	} else {
		memcpy(at, coder->from, n);
		coder->from += n;
	}
}

#define CODE(coder, x) code_bytes(coder, &(x), sizeof(x))

/* Of what a value points to: writes it, or reads it into memory that it takes. */
static const void *code_array(struct coder *coder, const void *at, size_t n)
{
	void *array = coder->to ? (void *)at : take(coder, n);

	code_bytes(coder, array, n);
	return array;
}

/* What was read, where it stays. */
static const void *keep(struct coder *coder, const void *at, size_t n)
{
	return coder->to ? NULL : memcpy(take(coder, n), at, n);
}

static void code_edge(struct coder *coder, bool has_edge, s128 *edge)
{
	*edge = has_edge ? *edge : 0;
	CODE(coder, *edge);
}

/* --- Histograms --- */

static void code_scheme(struct coder *coder, struct scheme *scheme)
{
	u32 n;
	const s64 *numbers = scheme_numbers(scheme, &n);

	CODE(coder, scheme->kind);
	CODE(coder, n);
	numbers = code_array(coder, numbers, n * sizeof(*numbers));
	BUG_ON(!coder->to && !scheme_of_numbers(scheme->kind, numbers, n, scheme));
}

static void code_histogram(struct coder *coder, struct value *value)
{
	struct histogram h = coder->to ? *value->histogram : (struct histogram){ 0 };
	struct scheme scheme = coder->to ? *h.scheme : (struct scheme){ 0 };
	bool has_ends;

	code_scheme(coder, &scheme);
	CODE(coder, h.count);
	CODE(coder, h.n_unplaced);
	has_ends = h.count || h.n_unplaced;
	CODE(coder, h.sum);
	code_edge(coder, has_ends, &h.min);
	code_edge(coder, has_ends, &h.max);
	CODE(coder, h.n_cells);
	h.cells = code_array(coder, h.cells, h.n_cells * sizeof(*h.cells));
	h.scheme = keep(coder, &scheme, sizeof(scheme));
	value->histogram = keep(coder, &h, sizeof(h));
}

/* The edge of a cell; NULL: the cell reaches as far as values do. */
static struct value edge_value(bool has_edge, s128 edge)
{
	if (!has_edge)
		return (struct value){ .kind = VALUE_NULL };
	return (struct value){ .kind = VALUE_INT, .integer = edge };
}

static u32 histogram_n_rows(const struct value *value)
{
	return value->histogram->n_cells;
}

/* A cell: lower edge, upper edge, count. */
static void histogram_row(const struct value *value, u32 number, struct value *ret_values)
{
	const struct histogram *h = value->histogram;
	struct scheme_edges edges;

	scheme_edges(h->scheme, h->cells[number].cell, &edges);
	ret_values[0] = edge_value(edges.has_lo, edges.lo);
	ret_values[1] = edge_value(edges.has_hi, edges.hi);
	ret_values[2] = edge_value(true, h->cells[number].count);
}

/* --- Quantiles --- */

static void code_quantile(struct coder *coder, struct quantile *q)
{
	q->is_lo_open &= q->has_lo;
	q->is_hi_open &= q->has_hi;
	q->interpolated = q->is_interpolated ? q->interpolated + 0.0 : 0; /* no -0.0 */
	CODE(coder, q->q_ppb);
	CODE(coder, q->has_lo);
	CODE(coder, q->has_hi);
	CODE(coder, q->is_lo_open);
	CODE(coder, q->is_hi_open);
	CODE(coder, q->is_interpolated);
	CODE(coder, q->estimate);
	CODE(coder, q->interpolated);
	code_edge(coder, q->has_lo, &q->lo);
	code_edge(coder, q->has_hi, &q->hi);
}

static void code_quantiles(struct coder *coder, struct value *value)
{
	struct quantile *quantiles;

	CODE(coder, value->n);
	quantiles = coder->to ? NULL : take(coder, value->n * sizeof(*quantiles));
	for (u32 i = 0; i < value->n; i++) {
		struct quantile q = coder->to ? value->quantiles[i] : (struct quantile){ 0 };

		code_quantile(coder, &q);
		if (quantiles)
			quantiles[i] = q;
	}
	value->quantiles = quantiles;
}

/* --- Top lists --- */

/* An integer, or a text with its length in the integer's place. */
static void code_top_row(struct coder *coder, struct top_row *row)
{
	struct value *value = &row->value;
	bool is_text;
	s128 integer;

	CODE(coder, row->weight);
	CODE(coder, row->error);
	CODE(coder, value->kind);
	is_text = value->kind == VALUE_TEXT;
	integer = is_text ? (s128)value->n : value->integer;
	CODE(coder, integer);
	if (is_text) {
		value->n = (u32)integer;
		value->text = code_array(coder, value->text, value->n);
	} else {
		value->integer = integer;
	}
}

static void code_top(struct coder *coder, struct value *value)
{
	struct top top = coder->to ? *value->top : (struct top){ 0 };
	struct top_row *rows;

	CODE(coder, top.total);
	CODE(coder, top.max_unlisted);
	CODE(coder, top.n_rows);
	rows = coder->to ? NULL : take(coder, top.n_rows * sizeof(*rows));
	for (u32 i = 0; i < top.n_rows; i++) {
		struct top_row row = coder->to ? top.rows[i] : (struct top_row){ 0 };

		code_top_row(coder, &row);
		if (rows)
			rows[i] = row;
	}
	top.rows = rows;
	value->top = keep(coder, &top, sizeof(top));
}

static u32 top_n_rows(const struct value *value)
{
	s128 lo, hi;

	return value->top->n_rows + top_others(value->top, &lo, &hi);
}

/* Value, weight, error; behind the last one all other values. */
static void top_row(const struct value *value, u32 number, struct value *ret_values)
{
	const struct top *top = value->top;
	const struct top_row *row = &top->rows[number];
	s128 lo = 0, hi = 0;

	if (number < top->n_rows) {
		ret_values[0] = row->value;
		ret_values[1] = edge_value(true, row->weight);
		ret_values[2] = edge_value(true, row->error);
		return;
	}
	top_others(top, &lo, &hi);
	ret_values[0] = edge_value(false, 0);
	ret_values[1] = edge_value(true, hi);
	ret_values[2] = edge_value(true, hi - lo);
}

/* --- Stacks --- */

/* Each is there once (phys/stack.h), and stays. */
static void code_stack(struct coder *coder, struct value *value)
{
	CODE(coder, value->stack);
}

/* --- The table --- */

static const struct special_ops {
	void (*code)(struct coder *coder, struct value *value);
	/* NULL: UNNEST takes none. */
	u32 (*n_rows)(const struct value *value);
	void (*row)(const struct value *value, u32 number, struct value *ret_values);
} specials[] = {
	[VALUE_HISTOGRAM] = { code_histogram, histogram_n_rows, histogram_row },
	[VALUE_QUANTILES] = { code_quantiles },
	[VALUE_TOP] = { code_top, top_n_rows, top_row },
	[VALUE_STACK] = { code_stack },
};

bool value_is_special(enum value_kind kind)
{
	return specials[kind].code != NULL;
}

void special_encode(const struct value *value, struct buf *to)
{
	struct value from = *value;

	specials[value->kind].code(&(struct coder){ .to = to }, &from);
}

void special_decode(enum value_kind kind, const void *bytes, size_t n_bytes, void *memory,
		    struct value *ret_value)
{
	struct coder coder = { .from = bytes, .memory = memory, .n_room = special_room(n_bytes) };

	*ret_value = (struct value){ .kind = kind };
	specials[kind].code(&coder, ret_value);
}

u32 special_n_rows(const struct value *value)
{
	const struct special_ops *ops = &specials[value->kind];

	return ops->n_rows ? ops->n_rows(value) : 0;
}

void special_row(const struct value *value, u32 number, struct value *ret_values)
{
	specials[value->kind].row(value, number, ret_values);
}
