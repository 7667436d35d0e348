/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Values without an SQLite type <-> blobs.  A blob begins with the process's magic
 * number, drawn at random, so that no blob that an event or a file brings can pass
 * for one, and the kind.  An integer's 128 bits follow with the highest byte first:
 * blobs order as their bytes do, so these order as their numbers.
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

static enum special kind_of(const void *blob, size_t n_bytes)
{
	const u8 *at = blob;

	if (n_bytes < MAGIC_BYTES || memcmp(at, magic, sizeof(magic)) != 0)
		return SPECIAL_NONE;
	return at[sizeof(magic)];
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

/* --- The others: structures one behind the other, at places that are multiples of 16 --- */

struct writer {
	u8 *blob; /* NULL: only counts */
	size_t n;
};

static void put(struct writer *writer, const void *bytes, size_t n)
{
	if (writer->blob && n)
		memcpy(writer->blob + writer->n, bytes, n);
	writer->n = ALIGN_UP(writer->n + n, 16);
}

static void put_value(struct writer *writer, const struct value *value)
{
	u8 head[16] = { SPECIAL_NONE };

	memcpy(head, magic, sizeof(magic));
	switch (value->kind) {
	case VALUE_HISTOGRAM:
		head[sizeof(magic)] = SPECIAL_HISTOGRAM;
		put(writer, head, sizeof(head));
		put(writer, value->histogram, sizeof(*value->histogram));
		put(writer, value->histogram->scheme, sizeof(*value->histogram->scheme));
		put(writer, value->histogram->scheme->bounds,
		    value->histogram->scheme->n_bounds * sizeof(s64));
		put(writer, value->histogram->cells,
		    value->histogram->n_cells * sizeof(*value->histogram->cells));
		break;
	case VALUE_QUANTILES:
		head[sizeof(magic)] = SPECIAL_QUANTILES;
		memcpy(head + MAGIC_BYTES, &value->n, sizeof(value->n));
		put(writer, head, sizeof(head));
		put(writer, value->quantiles, value->n * sizeof(*value->quantiles));
		break;
	case VALUE_TOP:
		head[sizeof(magic)] = SPECIAL_TOP;
		put(writer, head, sizeof(head));
		put(writer, value->top, sizeof(*value->top));
		put(writer, value->top->rows, value->top->n_rows * sizeof(*value->top->rows));
		for (u32 i = 0; i < value->top->n_rows; i++)
			if (value->top->rows[i].value.kind == VALUE_TEXT)
				put(writer, value->top->rows[i].value.text,
				    value->top->rows[i].value.n);
		break;
	default:
		BUG("value kind %u", value->kind);
	}
}

static void result_opaque(sqlite3_context *context, const struct value *value)
{
	struct writer writer = { 0 };

	put_value(&writer, value);
	writer.blob = sqlite3_malloc64(writer.n);
	if (!writer.blob) {
		sqlite3_result_error_nomem(context);
		return;
	}
	/* What lies between the structures must not be what memory held before. */
	memset(writer.blob, 0, writer.n);
	writer.n = 0;
	put_value(&writer, value);
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

static void *take(u8 **at, size_t n)
{
	void *piece = *at;

	*at += ALIGN_UP(n, 16);
	return piece;
}

bool special_decode(const void *blob, size_t n_bytes, void *(*alloc)(void *memory, size_t n_bytes),
		    void *memory, struct value *ret_value)
{
	enum special kind = kind_of(blob, n_bytes);
	struct histogram *histogram;
	struct top_row *rows;
	struct scheme *scheme;
	struct top *top;
	u8 *at;

	*ret_value = (struct value){ .kind = VALUE_NULL };
	if (kind == SPECIAL_NONE)
		return false;
	if (kind == SPECIAL_INTEGER) {
		*ret_value = (struct value){ .kind = VALUE_INT, .integer = integer_in(blob) };
		return true;
	}
	/* A copy, whose pointers then are set: SQLite's lie anywhere. */
	at = alloc(memory, n_bytes);
	memcpy(at, blob, n_bytes);
	memcpy(&ret_value->n, at + MAGIC_BYTES, sizeof(ret_value->n));
	at += 16;
	switch (kind) {
	case SPECIAL_HISTOGRAM:
		histogram = take(&at, sizeof(*histogram));
		scheme = take(&at, sizeof(*scheme));
		scheme->bounds = take(&at, scheme->n_bounds * sizeof(s64));
		histogram->scheme = scheme;
		histogram->cells = take(&at, histogram->n_cells * sizeof(*histogram->cells));
		ret_value->kind = VALUE_HISTOGRAM;
		ret_value->histogram = histogram;
		break;
	case SPECIAL_QUANTILES:
		ret_value->kind = VALUE_QUANTILES;
		ret_value->quantiles = (const struct quantile *)at;
		break;
	default:
		top = take(&at, sizeof(*top));
		rows = take(&at, top->n_rows * sizeof(*rows));
		top->rows = rows;
		for (u32 i = 0; i < top->n_rows; i++)
			if (rows[i].value.kind == VALUE_TEXT)
				rows[i].value.text = take(&at, rows[i].value.n);
		ret_value->kind = VALUE_TOP;
		ret_value->top = top;
	}
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
