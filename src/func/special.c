/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Values without an SQLite type <-> blobs.  A blob begins with the process's magic
 * number, drawn at random, so that no blob that an event or a file brings can pass
 * for one, and the kind of the value.  An integer's 128 bits follow with the highest byte first:
 * blobs order as their bytes do, so these order as their numbers.  Of the others follow the
 * number of bytes of the whole and the bytes of type/special.h: equal values are equal blobs, and
 * DISTINCT, GROUP BY and UNION work.
 */
#include "func/internal.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define MAGIC_BYTES   8u /* the last one is the kind */
#define HEAD_BYTES    (MAGIC_BYTES + sizeof(u64))
#define INTEGER_BYTES (MAGIC_BYTES + 16)

static u8 magic[MAGIC_BYTES - 1];

static void draw_magic(void)
{
	sqlite3_randomness(sizeof(magic), magic);
}

/* Blobs of one connection may meet those of another: one number for all, in all threads. */
void special_init(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, draw_magic);
}

/* A piece of a special value, which substr() makes, is none. */
static enum value_kind kind_of(const void *blob, size_t n_bytes)
{
	const u8 *at = blob;
	u64 whole_bytes;

	if (n_bytes < HEAD_BYTES || memcmp(at, magic, sizeof(magic)) != 0)
		return VALUE_NULL;
	if (at[sizeof(magic)] == VALUE_INT)
		return n_bytes == INTEGER_BYTES ? VALUE_INT : VALUE_NULL;
	memcpy(&whole_bytes, at + MAGIC_BYTES, sizeof(whole_bytes));
	return whole_bytes == n_bytes ? at[sizeof(magic)] : VALUE_NULL;
}

enum value_kind special_of(sqlite3_value *value)
{
	if (sqlite3_value_type(value) != SQLITE_BLOB)
		return VALUE_NULL;
	return kind_of(sqlite3_value_blob(value), sqlite3_value_bytes(value));
}

/* --- Integers --- */

/* Codes that no statement of SQLite's own ends with. */
static const int codes[] = {
	[FUNC_REFUSED_OTHERWISE] = SQLITE_ERROR,
	[FUNC_TOO_LARGE] = SQLITE_RANGE,
	[FUNC_MIXED_SCHEMES] = SQLITE_FORMAT,
	[FUNC_NO_INTEGER] = SQLITE_EMPTY,
};

void func_refuse(sqlite3_context *context, enum func_refusal why, sqlite3_value *place,
		 const char *format, const char *what)
{
	const char *at = place ? (const char *)sqlite3_value_text(place) : "";
	char *message = sqlite3_mprintf("%z%s", sqlite3_mprintf(format, what), at);

	if (message) {
		sqlite3_result_error(context, message, -1);
		sqlite3_result_error_code(context, codes[why]);
	} else {
		sqlite3_result_error_nomem(context);
	}
	sqlite3_free(message);
}

void func_too_large(sqlite3_context *context, const char *what)
{
	func_refuse(context, FUNC_TOO_LARGE, NULL, "too large: %s", what);
}

enum func_refusal func_refusal(struct sqlite3 *db)
{
	for (u32 why = FUNC_TOO_LARGE; why < ARRAY_SIZE(codes); why++)
		if (sqlite3_errcode(db) == codes[why])
			return why;
	return FUNC_REFUSED_OTHERWISE;
}

void special_result_integer(sqlite3_context *context, s128 integer)
{
	if (integer < S64_LO)
		func_too_large(context, "a result below -2^63");
	else
		special_result_shown(context, integer);
}

void special_result_shown(sqlite3_context *context, s128 integer)
{
	u8 blob[INTEGER_BYTES];

	if (integer >= S64_LO && integer <= S64_HI) {
		sqlite3_result_int64(context, (s64)integer);
		return;
	}
	memcpy(blob, magic, sizeof(magic));
	blob[sizeof(magic)] = VALUE_INT;
	for (u32 i = 0; i < 16; i++)
		blob[INTEGER_BYTES - 1 - i] = (u8)(integer >> (8 * i));
	sqlite3_result_blob(context, blob, sizeof(blob), SQLITE_TRANSIENT);
}

void func_result_digits(sqlite3_context *context, s128 integer)
{
	struct buf digits;

	buf_init(&digits);
	buf_put_s128(&digits, integer);
	if (digits.is_cut)
		sqlite3_result_error_nomem(context);
	else
		sqlite3_result_text(context, digits.at, (int)digits.n, SQLITE_TRANSIENT);
	buf_free(&digits);
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

/* --- The others --- */

static void result_special(sqlite3_context *context, const struct value *value)
{
	struct buf blob;
	u64 n_bytes = 0;

	buf_init(&blob);
	buf_put(&blob, magic, sizeof(magic));
	buf_putc(&blob, (char)value->kind);
	buf_put(&blob, &n_bytes, sizeof(n_bytes));
	special_encode(value, &blob);
	n_bytes = blob.n;
	if (blob.is_cut) {
		sqlite3_result_error_nomem(context);
	} else {
		memcpy(blob.at + MAGIC_BYTES, &n_bytes, sizeof(n_bytes));
		sqlite3_result_blob64(context, blob.at, blob.n, SQLITE_TRANSIENT);
	}
	buf_free(&blob);
}

void func_result(struct sqlite3_context *context, const struct value *value)
{
	switch ((enum value_kind)value->kind) {
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
	case VALUE_QUANTILES:
	case VALUE_HISTOGRAM:
	case VALUE_TOP:
	case VALUE_STACK:
		result_special(context, value);
	}
}

void *special_value(sqlite3_value *value, struct value *ret_value)
{
	size_t n_bytes = sqlite3_value_bytes(value) - HEAD_BYTES;
	const u8 *blob = sqlite3_value_blob(value);
	void *memory = calloc(1, special_room(n_bytes));

	if (memory)
		special_decode(special_of(value), blob + HEAD_BYTES, n_bytes, memory, ret_value);
	return memory;
}

/* --- Results --- */

static int take_text(const void *text, size_t n, struct scratch *scratch, struct value *ret_value)
{
	char *copy = text || !n ? scratch_alloc(scratch, n + 1) : NULL;

	if (!copy)
		return -ENOMEM;
	if (n)
		memcpy(copy, text, n);
	copy[n] = '\0';
	*ret_value = (struct value){ .kind = VALUE_TEXT, .n = (u32)n, .text = copy };
	return 0;
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

static int take_blob(const void *blob, size_t n, struct type type, struct scratch *scratch,
		     struct value *ret_value)
{
	enum value_kind kind = kind_of(blob, n);
	void *memory;

	if (kind == VALUE_NULL)
		return take_text(blob, n, scratch, ret_value);
	if (!value_is_special(kind)) {
		*ret_value = (struct value){ .kind = VALUE_INT, .integer = integer_in(blob) };
		return type.kind == TYPE_REAL
			       ? take_real((double)ret_value->integer, type, ret_value)
			       : 0;
	}
	memory = scratch_alloc(scratch, special_room(n - HEAD_BYTES));
	if (!memory)
		return -ENOMEM;
	special_decode(kind, (const u8 *)blob + HEAD_BYTES, n - HEAD_BYTES, memory, ret_value);
	return 0;
}

int func_take(struct sqlite3_stmt *statement, int column, struct type type, struct scratch *scratch,
	      struct value *ret_value)
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
		bytes = sqlite3_column_blob(statement, column);
		n = sqlite3_column_bytes(statement, column);
		return take_text(bytes, n, scratch, ret_value);
	case SQLITE_BLOB:
		bytes = sqlite3_column_blob(statement, column);
		n = sqlite3_column_bytes(statement, column);
		return take_blob(bytes, n, type, scratch, ret_value);
	}
	return 0;
}
