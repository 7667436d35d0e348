/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The values of a column -> its type; the columns of a file -> its schema, with names and notes.
 */
#include <string.h>
#include <strings.h>

#include "file/internal.h"

void file_guess_null(struct file_guess *guess, u64 place)
{
	if (!guess->has_null)
		guess->null_place = place;
	guess->has_null = true;
}

void file_guess_int(struct file_guess *guess, s128 value, u64 place)
{
	if (!guess->has_int || value < guess->min) {
		guess->min = value;
		guess->min_place = place;
	}
	if (!guess->has_int || value > guess->max) {
		guess->max = value;
		guess->max_place = place;
	}
	guess->is_unordered |= guess->has_int && value < guess->last;
	guess->last = value;
	guess->has_int = true;
}

void file_guess_number(struct file_guess *guess, const char *text, size_t n, u64 place)
{
	s128 value;

	if (file_integer_of(text, n, &value)) {
		file_guess_int(guess, value, place);
	} else if (!file_is_digits(text, n)) {
		guess->has_real = true;
	} else {
		if (!guess->has_huge)
			guess->huge_place = place;
		guess->has_huge = true;
	}
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

/* Numbers beside a text are texts, and so are integers that no type holds together: where? */
static const char *note_of(const struct file_guess *g, struct type type,
			   const struct file_pass *pass, struct arena *arena)
{
	if (type.kind != TYPE_TEXT || (!g->has_int && !g->has_huge && !g->has_real))
		return "";
	if (g->has_text)
		return arena_printf(arena, "a text since %s %llu", pass->unit,
				    (unsigned long long)g->text_place);
	if (g->has_huge)
		return arena_printf(arena, "a text: the number of %s %llu has more than 64 bits",
				    pass->unit, (unsigned long long)g->huge_place);
	return arena_printf(arena,
			    "a text: no 64 bits hold the numbers of both %s %llu and %s %llu",
			    pass->unit, (unsigned long long)g->max_place, pass->unit,
			    (unsigned long long)g->min_place);
}

/* Why the values of a column `time` are no times; NULL: they are. */
static const char *no_time(const struct file_guess *g, struct type type, const char *note,
			   const struct file_pass *pass, struct arena *arena)
{
	if (g->has_null)
		return arena_printf(arena, "there is none in %s %llu", pass->unit,
				    (unsigned long long)g->null_place);
	if (g->has_int && g->min < 0)
		return arena_printf(arena, "it is %lld in %s %llu", (long long)g->min, pass->unit,
				    (unsigned long long)g->min_place);
	if (type.kind == TYPE_TIMESTAMP || type.kind == TYPE_INT)
		return NULL;
	return *note ? arena_printf(arena, "it is %s", note) : "it is no whole number";
}

void file_finish(struct file *file, const struct file_pass *pass, struct arena *arena,
		 const struct file_guess *guesses)
{
	const char **names = file_unique_names(arena, &file->schema);

	file->time_column = -1;
	file->is_ordered = true;
	file->notes = arena_array(arena, const char *, file->schema.n_columns);
	for (u32 i = 0; i < file->schema.n_columns; i++) {
		struct column *c = &file->schema.columns[i];
		const struct file_guess *g = &guesses[i];

		c->name = names[i];
		file->notes[i] = note_of(g, c->type, pass, arena);
		if (c->type.kind == TYPE_TEXT)
			c->type.bytes = MAX(g->longest_bytes, 1u);
		file->has_rows |= g->has_null || g->has_int || g->has_huge || g->has_real ||
				  g->has_bool || g->has_text;
		if (strcasecmp(c->name, "time") != 0)
			continue;
		file->no_time = no_time(g, c->type, file->notes[i], pass, arena);
		if (file->no_time)
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
