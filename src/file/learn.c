/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The values of a column -> its type; the columns of a file -> its schema, with names and notes.
 */
#include <errno.h>
#include <stdio.h>
#include <strings.h>

#include "file/internal.h"

enum seen { SEEN_NULL, SEEN_INT, SEEN_HUGE, SEEN_REAL, SEEN_BOOL, SEEN_TEXT, SEEN_N };

/* What values of a column there are; places are those of a pass: lines or batches. */
struct file_guess {
	u64 seen[SEEN_N];    /* the place of the first of each kind; 0: there is none */
	bool is_unordered;   /* an integer below the one before it */
	s128 min, max, last; /* of integers */
	u64 min_place, max_place;
	u32 longest_bytes; /* of the values as texts */
};

/* integer: of SEEN_INT. */
static void see(struct file_guess *g, enum seen kind, s128 integer, u64 place)
{
	bool is_first = !g->seen[kind];

	if (is_first)
		g->seen[kind] = place;
	if (kind != SEEN_INT)
		return;
	if (is_first || integer < g->min) {
		g->min = integer;
		g->min_place = place;
	}
	if (is_first || integer > g->max) {
		g->max = integer;
		g->max_place = place;
	}
	g->is_unordered |= !is_first && integer < g->last;
	g->last = integer;
}

/* A value of a column whose type is known. */
static void see_value(struct file_guess *g, const struct value *value, u64 place)
{
	static const u8 kinds[] = { [VALUE_NULL] = SEEN_NULL,
				    [VALUE_INT] = SEEN_INT,
				    [VALUE_REAL] = SEEN_REAL,
				    [VALUE_TEXT] = SEEN_TEXT };

	see(g, kinds[value->kind], value->kind == VALUE_INT ? value->integer : 0, place);
	if (value->kind == VALUE_TEXT)
		g->longest_bytes = MAX(g->longest_bytes, value->n);
}

/* What stands without quotes. */
static enum seen kind_of_bare(const struct written *w, s128 *ret_integer)
{
	double real;

	if (file_integer_of(w->text, w->n, ret_integer))
		return SEEN_INT;
	if (file_is_digits(w->text, w->n))
		return SEEN_HUGE;
	return file_is_number(w->text, w->n) || file_special_of(w->text, w->n, &real) ? SEEN_REAL
										      : SEEN_TEXT;
}

static void see_written(struct file_guess *g, const struct written *w, u64 place)
{
	static const u8 kinds[] = { [WRITTEN_NULL] = SEEN_NULL,	  [WRITTEN_FALSE] = SEEN_BOOL,
				    [WRITTEN_TRUE] = SEEN_BOOL,	  [WRITTEN_BARE] = SEEN_INT,
				    [WRITTEN_STRING] = SEEN_TEXT, [WRITTEN_NESTED] = SEEN_TEXT };
	enum seen kind = kinds[w->kind];
	s128 integer = 0;

	if (w->kind == WRITTEN_BARE)
		kind = kind_of_bare(w, &integer);
	see(g, kind, integer, place);
	if (kind != SEEN_NULL)
		g->longest_bytes = MAX(g->longest_bytes, (u32)w->n);
}

static bool has_number(const struct file_guess *g)
{
	return g->seen[SEEN_INT] || g->seen[SEEN_HUGE] || g->seen[SEEN_REAL];
}

static bool has_value(const struct file_guess *g)
{
	return has_number(g) || g->seen[SEEN_BOOL] || g->seen[SEEN_TEXT];
}

/*
 * Integers that no 64-bit type holds together stay exact as texts; among real numbers
 * they are the nearest double, as those are.
 */
static struct type guess_type(const struct file_guess *g)
{
	bool is_wide = g->seen[SEEN_INT] && g->max > INT64_MAX;

	if (g->seen[SEEN_TEXT] || (g->seen[SEEN_BOOL] && has_number(g)))
		return type_text(MAX(g->longest_bytes, 1u));
	if (g->seen[SEEN_BOOL])
		return (struct type){ .kind = TYPE_BOOL };
	if (g->seen[SEEN_REAL])
		return (struct type){ .kind = TYPE_REAL };
	if (!has_number(g))
		return (struct type){ .kind = TYPE_NULL };
	if (g->seen[SEEN_HUGE] || (is_wide && g->min < 0))
		return type_text(MAX(g->longest_bytes, 1u));
	return type_int(64, !is_wide);
}

/* Numbers beside a text are texts, and so are integers that no type holds together: where? */
static const char *note_of(const struct file_guess *g, struct type type,
			   const struct file_pass *pass, struct arena *arena)
{
	if (type.kind != TYPE_TEXT || !has_number(g))
		return "";
	if (g->seen[SEEN_TEXT])
		return arena_printf(arena, "a text since %s %llu", pass->unit,
				    (unsigned long long)g->seen[SEEN_TEXT]);
	if (g->seen[SEEN_HUGE])
		return arena_printf(arena, "a text: the number of %s %llu has more than 64 bits",
				    pass->unit, (unsigned long long)g->seen[SEEN_HUGE]);
	return arena_printf(arena,
			    "a text: no 64 bits hold the numbers of both %s %llu and %s %llu",
			    pass->unit, (unsigned long long)g->max_place, pass->unit,
			    (unsigned long long)g->min_place);
}

/* Why the values of a column `time` are no times; NULL: they are. */
static const char *no_time(const struct file_guess *g, struct type type, const char *note,
			   const struct file_pass *pass, struct arena *arena)
{
	if (g->seen[SEEN_NULL])
		return arena_printf(arena, "there is none in %s %llu", pass->unit,
				    (unsigned long long)g->seen[SEEN_NULL]);
	if (g->seen[SEEN_INT] && g->min < 0)
		return arena_printf(arena, "it is %lld in %s %llu", (long long)g->min, pass->unit,
				    (unsigned long long)g->min_place);
	/* Of no row at all none is wrong. */
	if (type.kind == TYPE_TIMESTAMP || type.kind == TYPE_INT || type.kind == TYPE_NULL)
		return NULL;
	return *note ? arena_printf(arena, "it is %s", note) : "it is no whole number";
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

/* --- Files --- */

/* Texts as long as the longest, unique names, notes, the column `time` and its order. */
static void finish(struct file *file, const struct file_pass *pass, struct arena *arena,
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
		file->has_rows |= g->seen[SEEN_NULL] || has_value(g);
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

static int learn_row(struct file_rows *rows, struct file_guess *guesses)
{
	const struct file *file = rows->file;
	u64 place = rows->pass.place;
	struct value value;

	for (u32 i = 0; i < file->schema.n_columns; i++) {
		if (!file->is_typed)
			see_written(&guesses[i], &rows->fields[i], place);
		else if (rows->format->value(rows, i, &value))
			return -EINVAL;
		else
			see_value(&guesses[i], &value, place);
	}
	return 0;
}

/* Where the walk over the rows is, in bytes. */
static u64 offset_of(const struct file_rows *rows)
{
	const struct reader *r = &rows->pass.reader;

	return rows->learnt->size_bytes - r->left_bytes - reader_has(r);
}

/* A recording that met a full disk, or was killed: up to the last whole row it is what it was. */
static void cut_off(struct file_rows *rows, u64 whole_bytes)
{
	struct file *file = rows->learnt;
	struct file_pass *pass = &rows->pass;
	char n[32] = "its";
	struct diag *warning;

	if (pass->n_cut)
		snprintf(n, sizeof(n), "%llu", (unsigned long long)pass->n_cut);
	warning = diag_warning(
		pass->diags, "cut-file", pass->span,
		"%s: ends in the middle of %s %llu, as after a full disk or a kill: %s row%s "
		"(%llu bytes) left out",
		pass->path, pass->unit, (unsigned long long)pass->place, n,
		pass->n_cut == 1 ? "" : "s", (unsigned long long)(file->size_bytes - whole_bytes));
	if (warning)
		warning->is_loss = true;
	file->size_bytes = whole_bytes;
}

bool file_learn(struct file_rows *rows, struct arena *arena)
{
	struct file *file = rows->learnt;
	struct file_guess *guesses = arena_array(arena, struct file_guess, FILE_COLUMNS_MAX);
	u64 first_place = 0, whole_bytes = offset_of(rows);
	u32 n_known = 0;
	int rc;

	rows->pass.is_learning = true;
	for (; (rc = rows->format->next(rows)) == 1; whole_bytes = offset_of(rows)) {
		/* Columns that begin here had no value before. */
		for (; n_known < file->schema.n_columns; n_known++)
			if (first_place)
				see(&guesses[n_known], SEEN_NULL, 0, first_place);
		if (!first_place)
			first_place = rows->pass.place;
		if (learn_row(rows, guesses))
			return false;
	}
	if (rc == -ENODATA)
		cut_off(rows, whole_bytes);
	else if (rc < 0)
		return false;
	if (!file->schema.n_columns) {
		rows->pass.place = 0;
		file_complain(&rows->pass,
			      file->is_typed || first_place ? "has no columns" : "is empty");
		return false;
	}
	for (u32 i = 0; i < file->schema.n_columns; i++) {
		struct type *type = &file->schema.columns[i].type;

		/* What a column without values would have been, the file may say. */
		if (!file->is_typed && (has_value(&guesses[i]) || type->kind == TYPE_NULL))
			*type = guess_type(&guesses[i]);
	}
	finish(file, &rows->pass, arena, guesses);
	return true;
}
