/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Values without an SQLite type <-> blobs.  A blob begins with the process's magic
 * number, drawn at random, so that no blob that an event or a file brings can pass
 * for one, and the kind.  An integer's 128 bits follow with the highest byte first:
 * blobs order as their bytes do, so these order as their numbers.
 *
 * Of the others 64-bit words follow: first the number of bytes of the whole, then what the
 * value says, and nothing that depends on where it lay.  So equal values are equal blobs, and
 * DISTINCT, GROUP BY and UNION work.
 */
#include "func/internal.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAGIC_BYTES   8u /* the last one is the kind */
#define INTEGER_BYTES (MAGIC_BYTES + 16)

static u8 magic[MAGIC_BYTES - 1];

void special_init(void)
{
	static bool is_done;

	/* Blobs of one connection may meet those of another: one number for all. */
	if (!is_done)
		sqlite3_randomness(sizeof(magic), magic);
	is_done = true;
}

/* A piece of a special value, which substr() makes, is none. */
static enum special kind_of(const void *blob, size_t n_bytes)
{
	const u8 *at = blob;
	u64 whole_bytes;

	if (n_bytes < MAGIC_BYTES + sizeof(whole_bytes) || memcmp(at, magic, sizeof(magic)) != 0)
		return SPECIAL_NONE;
	if (at[sizeof(magic)] == SPECIAL_INTEGER)
		return n_bytes == INTEGER_BYTES ? SPECIAL_INTEGER : SPECIAL_NONE;
	memcpy(&whole_bytes, at + MAGIC_BYTES, sizeof(whole_bytes));
	return whole_bytes == n_bytes ? at[sizeof(magic)] : SPECIAL_NONE;
}

enum special special_of(sqlite3_value *value)
{
	if (sqlite3_value_type(value) != SQLITE_BLOB)
		return SPECIAL_NONE;
	return kind_of(sqlite3_value_blob(value), sqlite3_value_bytes(value));
}

bool func_is_special(struct sqlite3_value *value)
{
	return special_of(value) != SPECIAL_NONE;
}

/* --- Integers --- */

void special_result_integer(sqlite3_context *context, s128 integer)
{
	u8 blob[INTEGER_BYTES];

	if (integer < S64_LO) {
		sqlite3_result_error(context, "too large", -1);
		return;
	}
	if (integer <= S64_HI) {
		sqlite3_result_int64(context, (s64)integer);
		return;
	}
	memcpy(blob, magic, sizeof(magic));
	blob[sizeof(magic)] = SPECIAL_INTEGER;
	for (u32 i = 0; i < 16; i++)
		blob[INTEGER_BYTES - 1 - i] = (u8)(integer >> (8 * i));
	sqlite3_result_blob(context, blob, sizeof(blob), SQLITE_TRANSIENT);
}

static s128 integer_in(const u8 *blob)
{
	u128 integer = 0;

	for (u32 i = MAGIC_BYTES; i < INTEGER_BYTES; i++)
		integer = integer << 8 | blob[i];
	return (s128)integer;
}

s128 special_integer(sqlite3_value *value)
{
	return integer_in(sqlite3_value_blob(value));
}

/* --- The others: words --- */

struct writer {
	u8 *blob; /* NULL: only counts */
	size_t n;
};

static void put_word(struct writer *writer, u64 word)
{
	if (writer->blob)
		memcpy(writer->blob + writer->n, &word, sizeof(word));
	writer->n += sizeof(word);
}

static void put_integer(struct writer *writer, s128 integer)
{
	put_word(writer, (u64)integer);
	put_word(writer, (u64)(integer >> 64));
}

static void put_bytes(struct writer *writer, const void *bytes, size_t n)
{
	if (writer->blob && n)
		memcpy(writer->blob + writer->n, bytes, n);
	writer->n += n;
}

/* Without what a scheme of another kind has left there. */
static void put_scheme(struct writer *writer, const struct scheme *scheme)
{
	bool has_digits = scheme->kind == SCHEME_EXPONENTIAL || scheme->kind == SCHEME_LOGLINEAR;
	bool is_linear = scheme->kind == SCHEME_LINEAR;
	u32 n_bounds = scheme->kind == SCHEME_BOUNDS ? scheme->n_bounds : 0;

	put_word(writer, scheme->kind);
	put_word(writer, has_digits ? scheme->digits : 0);
	put_word(writer, is_linear ? (u64)scheme->low : 0);
	put_word(writer, is_linear ? (u64)scheme->high : 0);
	put_word(writer, is_linear ? (u64)scheme->step : 0);
	put_word(writer, n_bounds);
	for (u32 i = 0; i < n_bounds; i++)
		put_word(writer, (u64)scheme->bounds[i]);
}

static void put_histogram(struct writer *writer, const struct histogram *h)
{
	bool has_ends = h->count || h->n_unplaced;

	put_scheme(writer, h->scheme);
	put_word(writer, h->count);
	put_word(writer, h->n_unplaced);
	put_integer(writer, h->sum);
	put_integer(writer, has_ends ? h->min : 0);
	put_integer(writer, has_ends ? h->max : 0);
	put_word(writer, h->n_cells);
	for (u32 i = 0; i < h->n_cells; i++) {
		put_word(writer, h->cells[i].cell);
		put_word(writer, h->cells[i].count);
	}
}

enum quantile_flag { HAS_LO = 1, HAS_HI = 2, LO_OPEN = 4, HI_OPEN = 8, INTERPOLATED = 16 };

static void put_quantile(struct writer *writer, const struct quantile *q)
{
	double interpolated = q->is_interpolated ? q->interpolated : 0;
	u64 bits;

	put_word(writer, q->q_ppb);
	put_word(writer, (q->has_lo ? HAS_LO : 0) | (q->has_hi ? HAS_HI : 0) |
				 (q->has_lo && q->is_lo_open ? LO_OPEN : 0) |
				 (q->has_hi && q->is_hi_open ? HI_OPEN : 0) |
				 (q->is_interpolated ? INTERPOLATED : 0));
	put_integer(writer, q->estimate);
	interpolated += 0.0; /* of two zeros the positive one */
	memcpy(&bits, &interpolated, sizeof(bits));
	put_word(writer, bits);
	put_integer(writer, q->has_lo ? q->lo : 0);
	put_integer(writer, q->has_hi ? q->hi : 0);
}

static void put_top(struct writer *writer, const struct top *top)
{
	put_integer(writer, top->total);
	put_integer(writer, top->max_unlisted);
	put_word(writer, top->n_rows);
	for (u32 i = 0; i < top->n_rows; i++) {
		const struct top_row *row = &top->rows[i];
		bool is_text = row->value.kind == VALUE_TEXT;

		put_integer(writer, row->weight);
		put_integer(writer, row->error);
		put_word(writer, row->value.kind);
		put_integer(writer, is_text ? (s128)row->value.n : row->value.integer);
		if (is_text)
			put_bytes(writer, row->value.text, row->value.n);
	}
}

/* n_bytes: of all, when it is known. */
static void put_value(struct writer *writer, const struct value *value, size_t n_bytes)
{
	static const u8 kinds[] = { [VALUE_HISTOGRAM] = SPECIAL_HISTOGRAM,
				    [VALUE_QUANTILES] = SPECIAL_QUANTILES,
				    [VALUE_TOP] = SPECIAL_TOP };

	put_bytes(writer, magic, sizeof(magic));
	put_bytes(writer, &kinds[value->kind], 1);
	put_word(writer, n_bytes);
	switch (value->kind) {
	case VALUE_HISTOGRAM:
		put_histogram(writer, value->histogram);
		break;
	case VALUE_QUANTILES:
		put_word(writer, value->n);
		for (u32 i = 0; i < value->n; i++)
			put_quantile(writer, &value->quantiles[i]);
		break;
	case VALUE_TOP:
		put_top(writer, value->top);
		break;
	default:
		BUG("value kind %u", value->kind);
	}
}

static void result_opaque(sqlite3_context *context, const struct value *value)
{
	struct writer counted = { 0 }, writer = { 0 };

	put_value(&counted, value, 0);
	writer.blob = sqlite3_malloc64(counted.n);
	if (!writer.blob) {
		sqlite3_result_error_nomem(context);
		return;
	}
	put_value(&writer, value, counted.n);
	sqlite3_result_blob64(context, writer.blob, writer.n, sqlite3_free);
}

void func_result(struct sqlite3_context *context, const struct value *value)
{
	switch (value->kind) {
	case VALUE_NULL:
		sqlite3_result_null(context);
		break;
	case VALUE_INT:
		special_result_integer(context, value->integer);
		break;
	case VALUE_REAL:
		sqlite3_result_double(context, value->real);
		break;
	case VALUE_TEXT:
		sqlite3_result_text(context, value->n ? value->text : "", (int)value->n,
				    SQLITE_STATIC);
		break;
	default:
		result_opaque(context, value);
	}
}

/* --- Back --- */

/* Goes over a blob twice: what it says is counted first, then put into memory of that size. */
struct reader {
	const u8 *blob;
	size_t n;   /* bytes read */
	u8 *memory; /* NULL: only counts */
	size_t n_taken;
};

static u64 get_word(struct reader *reader)
{
	u64 word;

	memcpy(&word, reader->blob + reader->n, sizeof(word));
	reader->n += sizeof(word);
	return word;
}

static s128 get_integer(struct reader *reader)
{
	u64 low = get_word(reader);

	return (s128)((u128)get_word(reader) << 64 | low);
}

/* NULL: only counted. */
static void *take(struct reader *reader, size_t n)
{
	void *piece = reader->memory ? reader->memory + reader->n_taken : NULL;

	reader->n_taken += ALIGN_UP(n, 16);
	return piece;
}

static void get_scheme(struct reader *reader, struct scheme *ret_scheme)
{
	s64 *bounds;

	*ret_scheme = (struct scheme){ .kind = get_word(reader) };
	ret_scheme->digits = (u32)get_word(reader);
	ret_scheme->low = (s64)get_word(reader);
	ret_scheme->high = (s64)get_word(reader);
	ret_scheme->step = (s64)get_word(reader);
	ret_scheme->n_bounds = (u32)get_word(reader);
	ret_scheme->bounds = bounds = take(reader, ret_scheme->n_bounds * sizeof(*bounds));
	for (u32 i = 0; i < ret_scheme->n_bounds; i++) {
		s64 bound = (s64)get_word(reader);

		if (bounds)
			bounds[i] = bound;
	}
}

static const struct histogram *get_histogram(struct reader *reader)
{
	struct histogram *at = take(reader, sizeof(*at)), h = { 0 };
	struct scheme *scheme_at = take(reader, sizeof(*scheme_at)), scheme;
	struct histogram_cell *cells;

	get_scheme(reader, &scheme);
	h.scheme = scheme_at;
	h.count = get_word(reader);
	h.n_unplaced = get_word(reader);
	h.sum = get_integer(reader);
	h.min = get_integer(reader);
	h.max = get_integer(reader);
	h.n_cells = (u32)get_word(reader);
	h.cells = cells = take(reader, h.n_cells * sizeof(*cells));
	for (u32 i = 0; i < h.n_cells; i++) {
		u32 cell = (u32)get_word(reader);
		u64 count = get_word(reader);

		if (cells)
			cells[i] = (struct histogram_cell){ cell, count };
	}
	if (at) {
		*scheme_at = scheme;
		*at = h;
	}
	return at;
}

static void get_quantile(struct reader *reader, struct quantile *ret_quantile)
{
	u64 flags, bits;

	*ret_quantile = (struct quantile){ .q_ppb = (u32)get_word(reader) };
	flags = get_word(reader);
	ret_quantile->has_lo = flags & HAS_LO;
	ret_quantile->has_hi = flags & HAS_HI;
	ret_quantile->is_lo_open = flags & LO_OPEN;
	ret_quantile->is_hi_open = flags & HI_OPEN;
	ret_quantile->is_interpolated = flags & INTERPOLATED;
	ret_quantile->estimate = get_integer(reader);
	bits = get_word(reader);
	memcpy(&ret_quantile->interpolated, &bits, sizeof(bits));
	ret_quantile->lo = get_integer(reader);
	ret_quantile->hi = get_integer(reader);
}

static const struct quantile *get_quantiles(struct reader *reader, u32 *ret_n)
{
	struct quantile *quantiles, q;

	*ret_n = (u32)get_word(reader);
	quantiles = take(reader, *ret_n * sizeof(*quantiles));
	for (u32 i = 0; i < *ret_n; i++) {
		get_quantile(reader, &q);
		if (quantiles)
			quantiles[i] = q;
	}
	return quantiles;
}

static void get_top_row(struct reader *reader, struct top_row *ret_row)
{
	s128 integer;
	char *text;

	*ret_row = (struct top_row){ .weight = get_integer(reader) };
	ret_row->error = get_integer(reader);
	ret_row->value.kind = (u8)get_word(reader);
	integer = get_integer(reader);
	if (ret_row->value.kind != VALUE_TEXT) {
		ret_row->value.integer = integer;
		return;
	}
	ret_row->value.n = (u32)integer;
	ret_row->value.text = text = take(reader, ret_row->value.n);
	if (text)
		memcpy(text, reader->blob + reader->n, ret_row->value.n);
	reader->n += ret_row->value.n;
}

static const struct top *get_top(struct reader *reader)
{
	struct top *at = take(reader, sizeof(*at)), top = { 0 };
	struct top_row *rows, row;

	top.total = get_integer(reader);
	top.max_unlisted = get_integer(reader);
	top.n_rows = (u32)get_word(reader);
	top.rows = rows = take(reader, top.n_rows * sizeof(*rows));
	for (u32 i = 0; i < top.n_rows; i++) {
		get_top_row(reader, &row);
		if (rows)
			rows[i] = row;
	}
	if (at)
		*at = top;
	return at;
}

static void get_value(struct reader *reader, enum special kind, struct value *ret_value)
{
	*ret_value = (struct value){ .kind = VALUE_NULL };
	reader->n = MAGIC_BYTES + sizeof(u64);
	reader->n_taken = 0;
	switch (kind) {
	case SPECIAL_HISTOGRAM:
		ret_value->kind = VALUE_HISTOGRAM;
		ret_value->histogram = get_histogram(reader);
		break;
	case SPECIAL_QUANTILES:
		ret_value->kind = VALUE_QUANTILES;
		ret_value->quantiles = get_quantiles(reader, &ret_value->n);
		break;
	case SPECIAL_TOP:
		ret_value->kind = VALUE_TOP;
		ret_value->top = get_top(reader);
		break;
	case SPECIAL_INTEGER:
	case SPECIAL_NONE:
		BUG("special kind %u", kind);
	}
}

bool special_decode(const void *blob, size_t n_bytes, void *(*alloc)(void *memory, size_t n_bytes),
		    void *memory, struct value *ret_value)
{
	enum special kind = kind_of(blob, n_bytes);
	struct reader reader = { .blob = blob };

	*ret_value = (struct value){ .kind = VALUE_NULL };
	if (kind == SPECIAL_NONE)
		return false;
	if (kind == SPECIAL_INTEGER) {
		*ret_value = (struct value){ .kind = VALUE_INT, .integer = integer_in(blob) };
		return true;
	}
	get_value(&reader, kind, ret_value);
	reader.memory = alloc(memory, reader.n_taken);
	get_value(&reader, kind, ret_value);
	return true;
}

static void *alloc_once(void *memory, size_t n_bytes)
{
	void **at = memory;

	BUG_ON(*at);
	*at = func_alloc(n_bytes);
	return *at;
}

void *special_value(sqlite3_value *value, struct value *ret_value)
{
	void *memory = NULL;

	BUG_ON(!special_decode(sqlite3_value_blob(value), sqlite3_value_bytes(value), alloc_once,
			       &memory, ret_value));
	return memory;
}

/* --- Results --- */

static void take_text(const void *text, size_t n, void *(*alloc)(void *memory, size_t n_bytes),
		      void *memory, struct value *ret_value)
{
	char *copy = alloc(memory, n + 1);

	if (n)
		memcpy(copy, text, n);
	copy[n] = '\0';
	*ret_value = (struct value){ .kind = VALUE_TEXT, .n = (u32)n, .text = copy };
}

/*
 * SQLite goes over to floating point where integers overflow: then no longer exact.  An
 * infinite bound of a quantile, and what is computed from it, is.
 */
static int take_real(double real, struct type type, struct value *ret_value)
{
	*ret_value = (struct value){ .kind = VALUE_REAL, .real = real };
	return type.kind != TYPE_REAL && fabs(real) >= 0x1p53 && !isinf(real) ? -EOVERFLOW : 0;
}

int func_take(struct sqlite3_stmt *statement, int column, struct type type,
	      void *(*alloc)(void *memory, size_t n_bytes), void *memory, struct value *ret_value)
{
	const void *bytes;
	size_t n;

	*ret_value = (struct value){ .kind = VALUE_NULL };
	switch (sqlite3_column_type(statement, column)) {
	case SQLITE_INTEGER:
		if (type.kind == TYPE_REAL)
			return take_real(sqlite3_column_double(statement, column), type, ret_value);
		ret_value->kind = VALUE_INT;
		ret_value->integer = sqlite3_column_int64(statement, column);
		return 0;
	case SQLITE_FLOAT:
		return take_real(sqlite3_column_double(statement, column), type, ret_value);
	case SQLITE_TEXT:
		bytes = sqlite3_column_text(statement, column);
		n = sqlite3_column_bytes(statement, column);
		/* A text has no NUL inside; a blob that passed as one may. */
		take_text(bytes, type.kind == TYPE_BLOB ? n : strnlen(bytes, n), alloc, memory,
			  ret_value);
		return 0;
	case SQLITE_BLOB:
		bytes = sqlite3_column_blob(statement, column);
		n = sqlite3_column_bytes(statement, column);
		if (!special_decode(bytes, n, alloc, memory, ret_value))
			take_text(bytes, n, alloc, memory, ret_value);
		else if (ret_value->kind == VALUE_INT && type.kind == TYPE_REAL)
			return take_real((double)ret_value->integer, type, ret_value);
		return 0;
	}
	return 0;
}
