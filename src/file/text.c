/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Types, numbers and values <-> text, as the kinds of files that are text have them.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/real.h"
#include "file/internal.h"

/* --- Types --- */

/* Those whose name type_print() does not give, or that it gives to two. */
static const struct {
	const char *name;
	struct type type;
} type_words[] = {
	{ "BOOLEAN", { .kind = TYPE_BOOL } },
	{ "s8", { TYPE_INT, 8, true } },
	{ "s16", { TYPE_INT, 16, true } },
	{ "s32", { TYPE_INT, 32, true } },
	{ "INTEGER", { TYPE_INT, 64, true } },
	{ "u8", { TYPE_INT, 8 } },
	{ "u16", { TYPE_INT, 16 } },
	{ "u32", { TYPE_INT, 32 } },
	{ "u64", { TYPE_INT, 64 } },
	{ "DURATION", { TYPE_DURATION, 64 } },
	{ "DURATION SIGNED", { TYPE_DURATION, 64, true } },
	{ "TIMESTAMP", { TYPE_TIMESTAMP, 64 } },
	{ "TIMESTAMP SIGNED", { TYPE_TIMESTAMP, 64, true } },
	{ "POINTER", { TYPE_POINTER, 64 } },
	{ "TEXT", { .kind = TYPE_TEXT } },
	{ "TEXT", { .kind = TYPE_NULL } },
	{ "REAL", { .kind = TYPE_REAL } },
};

void file_put_type(struct buf *buf, struct type type)
{
	for (u32 i = 0; i < ARRAY_SIZE(type_words); i++) {
		const struct type *t = &type_words[i].type;

		if (t->kind == type.kind && (t->kind != TYPE_INT || t->bits == type.bits) &&
		    (!type_is_word(type) || t->kind == TYPE_BOOL || t->kind == TYPE_POINTER ||
		     t->is_signed == type.is_signed)) {
			buf_puts(buf, type_words[i].name);
			return;
		}
	}
	type_print(type, buf);
}

bool file_type_of(const char *text, size_t n, struct type *ret_type)
{
	unsigned int bytes;
	char blob[32], tail;

	for (u32 i = 0; i < ARRAY_SIZE(type_words); i++) {
		if (strlen(type_words[i].name) == n && memcmp(type_words[i].name, text, n) == 0) {
			*ret_type = type_words[i].type;
			return true;
		}
	}
	snprintf(blob, sizeof(blob), "%.*s", (int)MIN(n, sizeof(blob) - 1), text);
	if (sscanf(blob, "BLOB(%u)%c", &bytes, &tail) != 1 || !bytes || bytes > 65536)
		return false;
	*ret_type = (struct type){ .kind = TYPE_BLOB, .bytes = bytes };
	return true;
}

/* --- Numbers --- */

bool file_is_digits(const char *text, size_t n)
{
	size_t i = n && text[0] == '-';

	if (i == n || (text[i] == '0' && n > i + 1))
		return false;
	for (; i < n; i++)
		if (text[i] < '0' || text[i] > '9')
			return false;
	return true;
}

bool file_integer_of(const char *text, size_t n, s128 *ret_value)
{
	bool is_negative = n && text[0] == '-';
	s128 value = 0;

	if (n > 20 || !file_is_digits(text, n))
		return false;
	for (size_t i = is_negative; i < n; i++)
		value = 10 * value + (text[i] - '0');
	*ret_value = is_negative ? -value : value;
	return *ret_value >= INT64_MIN && *ret_value <= (s128)UINT64_MAX;
}

/* -?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)? */
bool file_is_number(const char *text, size_t n)
{
	const char *at = text, *end = text + n, *digits;

	at += at < end && *at == '-';
	for (digits = at; at < end && *at >= '0' && *at <= '9';)
		at++;
	if (at == digits || (*digits == '0' && at > digits + 1))
		return false;
	if (at < end && *at == '.') {
		for (digits = ++at; at < end && *at >= '0' && *at <= '9';)
			at++;
		if (at == digits)
			return false;
	}
	if (at < end && (*at == 'e' || *at == 'E')) {
		at++;
		at += at < end && (*at == '-' || *at == '+');
		for (digits = at; at < end && *at >= '0' && *at <= '9';)
			at++;
		if (at == digits)
			return false;
	}
	return at == end;
}

bool file_special_of(const char *text, size_t n, double *ret_value)
{
	static const struct {
		const char *word;
		double real;
	} reals[] = { { "nan", NAN }, { "inf", INFINITY }, { "-inf", -INFINITY } };

	for (u32 i = 0; i < ARRAY_SIZE(reals); i++) {
		if (n == strlen(reals[i].word) && memcmp(text, reals[i].word, n) == 0) {
			*ret_value = reals[i].real;
			return true;
		}
	}
	return false;
}

/* --- Values --- */

static void put_hex(struct buf *buf, const char *bytes, u32 n)
{
	buf_putc(buf, '"');
	buf_put_hex_bytes(buf, bytes, n);
	buf_putc(buf, '"');
}

/* JSON has no number that is none: it is a text there. */
static void put_real(struct buf *buf, double real, bool is_json)
{
	const char *quote = is_json && !isfinite(real) ? "\"" : "";

	buf_puts(buf, quote);
	buf_put_real(buf, real);
	buf_puts(buf, quote);
}

static void put_value(struct buf *buf, struct type type, const struct value *value, bool is_json)
{
	bool is_word = value->kind == VALUE_INT;

	if (value->kind == VALUE_NULL)
		buf_puts(buf, is_json ? "null" : "");
	else if (is_word && is_json && type.kind == TYPE_BOOL)
		buf_puts(buf, value->integer ? "true" : "false");
	else if (is_word)
		buf_put_s128(buf, value->integer);
	else if (value->kind == VALUE_REAL)
		put_real(buf, value->real, is_json);
	else if (type.kind == TYPE_BLOB)
		put_hex(buf, value->text, value->n);
	else if (is_json)
		buf_put_json_exact(buf, value->text, value->n);
	else
		buf_put_quoted(buf, '"', value->text, value->n);
}

void file_write_text(struct file_writer *w, const struct value *values, u32 n)
{
	bool is_json = w->kind == FILE_JSONL;

	for (; n; n--) {
		for (u32 i = 0; i < w->schema->n_columns; i++, values++) {
			if (is_json) {
				buf_puts(w->out, i ? ", " : "{");
				buf_put_json_exact(w->out, w->names[i], strlen(w->names[i]));
				buf_puts(w->out, ": ");
			} else if (i) {
				buf_putc(w->out, ',');
			}
			put_value(w->out, w->schema->columns[i].type, values, is_json);
		}
		buf_puts(w->out, is_json ? "}\n" : "\n");
	}
}

/* Hex digits -> bytes at the same place; false when they are none. */
static bool decode_hex(char *text, size_t n)
{
	for (size_t i = 0; i < n; i += 2) {
		int high = base_hex_digit(text[i]), low = base_hex_digit(text[i + 1]);

		if (high < 0 || low < 0)
			return false;
		text[i / 2] = (char)(high << 4 | low);
	}
	return true;
}

static bool word_of(struct type type, const struct written *w, struct value *ret)
{
	bool is_bool = w->kind == WRITTEN_FALSE || w->kind == WRITTEN_TRUE;
	s128 integer = w->kind == WRITTEN_TRUE;

	if (!is_bool && (w->kind != WRITTEN_BARE || !file_integer_of(w->text, w->n, &integer)))
		return false;
	*ret = (struct value){ .kind = VALUE_INT, .integer = integer };
	return is_bool == (type.kind == TYPE_BOOL) && integer >= type_min(type) &&
	       integer <= type_max(type);
}

/* false: it is none of the type.  Of a type that was only guessed a text may be any value. */
static bool value_of(struct type type, bool is_typed, const struct written *w, struct value *ret)
{
	u32 n = (u32)w->n;

	*ret = (struct value){ .kind = VALUE_NULL };
	if (w->kind == WRITTEN_NULL)
		return true;
	if (type_is_word(type))
		return word_of(type, w, ret);
	if (type.kind == TYPE_REAL) {
		ret->kind = VALUE_REAL;
		if (file_special_of(w->text, w->n, &ret->real))
			return true;
		if (w->kind != WRITTEN_BARE || !file_is_number(w->text, w->n))
			return false;
		ret->real = base_real(w->text, NULL); /* what follows is no part of a number */
		return true;
	}
	if (type.kind == TYPE_NULL || (is_typed && w->kind != WRITTEN_STRING))
		return false;
	if (type.kind == TYPE_BLOB) {
		if (n != 2 * type.bytes || !decode_hex(w->text, n))
			return false;
		n /= 2;
	}
	*ret = (struct value){ .kind = VALUE_TEXT, .n = n, .text = w->text };
	return !type.bytes || n <= type.bytes;
}

int file_text_value(struct file_rows *rows, u32 column, struct value *ret_value)
{
	const struct column *c = &rows->file->schema.columns[column];
	const struct written *w = &rows->fields[column];
	struct buf type;
	int rc;

	if (value_of(c->type, rows->file->is_typed, w, ret_value))
		return 0;
	if (!rows->file->is_typed)
		return file_has_changed(&rows->pass);
	buf_init(&type);
	file_put_type(&type, c->type);
	rc = file_complain(&rows->pass, "the value of \"%s\" is %.*s%s, which is no %s", c->name,
			   (int)MIN(w->n, (size_t)40), w->text, w->n > 40 ? "..." : "", type.at);
	buf_free(&type);
	return rc;
}
