/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Histograms, quantiles, top lists: to bytes and back, and as rows.  What has no meaning in a
 * value, as the lower edge of one without, is 0 in its bytes.
 */
#include "type/special.h"

#include <string.h>

/*
 * Goes over a value and its bytes together, one way or the other: so the order of the members is
 * written once.
 */
struct coder {
	struct buf *to; /* NULL: it reads */
	const u8 *from;
	size_t n;   /* read so far */
	u8 *memory; /* of what the value points to */
	size_t n_taken, n_room;
};

/* Writes the word, or reads one in its place. */
static u64 code(struct coder *coder, u64 word)
{
	if (coder->to) {
		buf_put(coder->to, &word, sizeof(word));
		return word;
	}
	memcpy(&word, coder->from + coder->n, sizeof(word));
	coder->n += sizeof(word);
	return word;
}

static s128 code_integer(struct coder *coder, s128 integer)
{
	u64 low = code(coder, (u64)integer), high = code(coder, (u64)(integer >> 64));

	return (s128)((u128)high << 64 | low);
}

/* Of two zeros the positive one. */
static double code_real(struct coder *coder, double real)
{
	u64 bits;

	real += 0.0;
	memcpy(&bits, &real, sizeof(bits));
	bits = code(coder, bits);
	memcpy(&real, &bits, sizeof(real));
	return real;
}

/* Where what is read is put: nothing to write needs any. */
static void *take(struct coder *coder, size_t n)
{
	void *piece = coder->memory + coder->n_taken;

	if (coder->to)
		return NULL;
	coder->n_taken += ALIGN_UP(n, 16);
	BUG_ON(coder->n_taken > coder->n_room);
	return piece;
}

/* --- Histograms --- */

static void code_scheme(struct coder *coder, struct scheme *scheme)
{
	enum scheme_kind kind = code(coder, scheme->kind);
	struct scheme_numbers numbers;
	s64 *read;

	scheme_numbers(scheme, &numbers);
	numbers.n = (u32)code(coder, numbers.n);
	read = take(coder, numbers.n * sizeof(*read));
	for (u32 i = 0; i < numbers.n; i++) {
		u64 number = code(coder, read ? 0 : (u64)numbers.at[i]);

		if (read)
			read[i] = (s64)number;
	}
	BUG_ON(read && !scheme_of_numbers(kind, read, numbers.n, scheme));
}

static void code_histogram(struct coder *coder, struct value *value)
{
	struct histogram h = { 0 }, *at = take(coder, sizeof(*at));
	struct scheme scheme = { 0 }, *scheme_at = take(coder, sizeof(*scheme_at));
	struct histogram_cell *cells, cell = { 0 };
	bool has_ends;

	if (!at) {
		h = *value->histogram;
		scheme = *h.scheme;
	}
	code_scheme(coder, &scheme);
	h.count = code(coder, h.count);
	h.n_unplaced = code(coder, h.n_unplaced);
	has_ends = h.count || h.n_unplaced;
	h.sum = code_integer(coder, h.sum);
	h.min = code_integer(coder, has_ends ? h.min : 0);
	h.max = code_integer(coder, has_ends ? h.max : 0);
	h.n_cells = (u32)code(coder, h.n_cells);
	cells = take(coder, h.n_cells * sizeof(*cells));
	for (u32 i = 0; i < h.n_cells; i++) {
		if (!at)
			cell = h.cells[i];
		cell.cell = (u32)code(coder, cell.cell);
		cell.count = code(coder, cell.count);
		if (at)
			cells[i] = cell;
	}
	if (!at)
		return;
	h.cells = cells;
	h.scheme = scheme_at;
	*scheme_at = scheme;
	*at = h;
	value->histogram = at;
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

enum quantile_flag { HAS_LO = 1, HAS_HI = 2, LO_OPEN = 4, HI_OPEN = 8, INTERPOLATED = 16 };

static void code_quantile(struct coder *coder, struct quantile *q)
{
	u64 flags = (q->has_lo ? HAS_LO : 0) | (q->has_hi ? HAS_HI : 0) |
		    (q->has_lo && q->is_lo_open ? LO_OPEN : 0) |
		    (q->has_hi && q->is_hi_open ? HI_OPEN : 0) |
		    (q->is_interpolated ? INTERPOLATED : 0);

	q->q_ppb = (u32)code(coder, q->q_ppb);
	flags = code(coder, flags);
	q->has_lo = flags & HAS_LO;
	q->has_hi = flags & HAS_HI;
	q->is_lo_open = flags & LO_OPEN;
	q->is_hi_open = flags & HI_OPEN;
	q->is_interpolated = flags & INTERPOLATED;
	q->estimate = code_integer(coder, q->estimate);
	q->interpolated = code_real(coder, q->is_interpolated ? q->interpolated : 0);
	q->lo = code_integer(coder, q->has_lo ? q->lo : 0);
	q->hi = code_integer(coder, q->has_hi ? q->hi : 0);
}

static void code_quantiles(struct coder *coder, struct value *value)
{
	struct quantile *quantiles, q = { 0 };

	value->n = (u32)code(coder, value->n);
	quantiles = take(coder, value->n * sizeof(*quantiles));
	for (u32 i = 0; i < value->n; i++) {
		if (!quantiles)
			q = value->quantiles[i];
		code_quantile(coder, &q);
		if (quantiles)
			quantiles[i] = q;
	}
	if (quantiles)
		value->quantiles = quantiles;
}

/* --- Top lists --- */

/* An integer, or a text with its length in the integer's place. */
static void code_top_row(struct coder *coder, struct top_row *row)
{
	struct value *value = &row->value;
	bool is_text;
	s128 integer;
	char *text;

	row->weight = code_integer(coder, row->weight);
	row->error = code_integer(coder, row->error);
	value->kind = (u8)code(coder, value->kind);
	is_text = value->kind == VALUE_TEXT;
	integer = code_integer(coder, is_text ? (s128)value->n : value->integer);
	if (!is_text) {
		value->integer = integer;
		return;
	}
	value->n = (u32)integer;
	text = take(coder, value->n);
	if (!text) {
		buf_put(coder->to, value->text, value->n);
		return;
	}
	memcpy(text, coder->from + coder->n, value->n);
	coder->n += value->n;
	value->text = text;
}

static void code_top(struct coder *coder, struct value *value)
{
	struct top top = { 0 }, *at = take(coder, sizeof(*at));
	struct top_row *rows, row = { 0 };

	if (!at)
		top = *value->top;
	top.total = code_integer(coder, top.total);
	top.max_unlisted = code_integer(coder, top.max_unlisted);
	top.n_rows = (u32)code(coder, top.n_rows);
	rows = take(coder, top.n_rows * sizeof(*rows));
	for (u32 i = 0; i < top.n_rows; i++) {
		if (!at)
			row = top.rows[i];
		code_top_row(coder, &row);
		if (at)
			rows[i] = row;
	}
	if (!at)
		return;
	top.rows = rows;
	*at = top;
	value->top = at;
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
