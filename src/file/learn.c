/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The values of a column -> its type; types and numbers as text, and back.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "file/internal.h"

void file_guess_int(struct file_guess *guess, s128 value)
{
	if (!guess->has_int || value < guess->min)
		guess->min = value;
	if (!guess->has_int || value > guess->max)
		guess->max = value;
	guess->is_unordered |= guess->has_int && value < guess->last;
	guess->last = value;
	guess->has_int = true;
}

void file_guess_number(struct file_guess *guess, const char *text, size_t n)
{
	s128 value;

	if (file_integer_of(text, n, &value))
		file_guess_int(guess, value);
	else if (file_is_digits(text, n))
		guess->has_huge = true;
	else
		guess->has_real = true;
	guess->longest_bytes = MAX(guess->longest_bytes, (u32)n);
}

void file_guess_text(struct file_guess *guess, size_t n, u64 place)
{
	if (!guess->has_text)
		guess->text_place = place;
	guess->has_text = true;
	guess->longest_bytes = MAX(guess->longest_bytes, (u32)n);
}

/*
 * Integers that no 64-bit type holds together stay exact as texts; among real numbers
 * they are the nearest double, as those are.
 */
struct type file_guess_type(const struct file_guess *g)
{
	bool is_number = g->has_int || g->has_huge || g->has_real;
	bool is_wide = g->has_int && g->max > INT64_MAX;

	if (g->has_text || (g->has_bool && is_number))
		return type_text(MAX(g->longest_bytes, 1u));
	if (g->has_bool)
		return (struct type){ .kind = TYPE_BOOL };
	if (g->has_real)
		return (struct type){ .kind = TYPE_REAL };
	if (!is_number || g->has_huge || (is_wide && g->min < 0))
		return type_text(MAX(g->longest_bytes, 1u));
	return type_int(64, !is_wide);
}

/* Numbers beside a text are texts: where is the first? */
static const char *note_of(struct arena *arena, const struct file_guess *g)
{
	if (!g->has_text || (!g->has_int && !g->has_huge && !g->has_real))
		return "";
	return arena_printf(arena, "a text since line %llu", (unsigned long long)g->text_place);
}

void file_finish(struct file *file, struct arena *arena, const struct file_guess *guesses)
{
	const char **names = file_unique_names(arena, &file->schema);

	file->time_column = -1;
	file->is_ordered = true;
	file->notes = arena_array(arena, const char *, file->schema.n_columns);
	for (u32 i = 0; i < file->schema.n_columns; i++) {
		struct column *c = &file->schema.columns[i];
		const struct file_guess *g = &guesses[i];

		c->name = names[i];
		file->notes[i] = note_of(arena, g);
		if (c->type.kind == TYPE_TEXT)
			c->type.bytes = MAX(g->longest_bytes, 1u);
		file->has_rows |= g->has_null || g->has_int || g->has_huge || g->has_real ||
				  g->has_bool || g->has_text;
		if (file->time_column >= 0 || strcasecmp(c->name, "time") != 0 || g->has_null ||
		    (c->type.kind != TYPE_TIMESTAMP && c->type.kind != TYPE_INT) ||
		    (g->has_int && g->min < 0))
			continue;
		file->time_column = (s32)i;
		c->type = (struct type){ .kind = TYPE_TIMESTAMP, .bits = 64 };
		file->is_ordered = !g->is_unordered;
		file->first_ns = (u64)g->min;
		file->last_ns = (u64)g->max;
	}
}

/* --- Names --- */

/* By an earlier column, or (with schema) wanted by a later one? */
static bool is_taken(const char *const *names, u32 n, const struct schema *schema, const char *name)
{
	for (u32 i = 0; i < n; i++)
		if (strcasecmp(names[i], name) == 0)
			return true;
	for (u32 i = n + 1; schema && i < schema->n_columns; i++)
		if (strcasecmp(schema->columns[i].name, name) == 0)
			return true;
	return false;
}

/* Columns before this one that want the same name. */
static u32 n_before(const struct schema *schema, u32 column)
{
	u32 n = 0;

	for (u32 i = 0; i < column; i++)
		n += strcasecmp(schema->columns[i].name, schema->columns[column].name) == 0;
	return n;
}

const char **file_unique_names(struct arena *arena, const struct schema *schema)
{
	const char **names = arena_array(arena, const char *, schema->n_columns + 1);

	for (u32 i = 0; i < schema->n_columns; i++) {
		const char *name = schema->columns[i].name;
		u32 suffix = n_before(schema, i) + 1;

		names[i] = *name ? name : arena_printf(arena, "column_%u", i + 1);
		/* The first of its name keeps it; an earlier suffix may have taken it, though. */
		if (suffix == 1 && !is_taken(names, i, NULL, names[i]))
			continue;
		if (!*name)
			name = "column";
		do {
			names[i] = arena_printf(arena, "%s_%u", name, MAX(suffix, 2u));
			suffix = MAX(suffix, 2u) + 1;
		} while (is_taken(names, i, schema, names[i]));
	}
	return names;
}

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
static bool is_number(const char *text, size_t n)
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

bool file_real_of(const char *text, size_t n, double *ret_value)
{
	char small[64], *copy;

	if (!is_number(text, n))
		return false;
	if (n < sizeof(small)) {
		memcpy(small, text, n);
		small[n] = '\0';
		*ret_value = strtod(small, NULL);
		return true;
	}
	copy = strndup(text, n);
	if (!copy)
		base_no_memory();
	*ret_value = strtod(copy, NULL);
	free(copy);
	return true;
}

static int hex_of(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

bool file_hex_decode(char *text, u32 n)
{
	if (n % 2)
		return false;
	for (u32 i = 0; i < n; i += 2) {
		int high = hex_of(text[i]), low = hex_of(text[i + 1]);

		if (high < 0 || low < 0)
			return false;
		text[i / 2] = (char)(high << 4 | low);
	}
	return true;
}
