/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * CSV (RFC 4180, with a header line) <-> rows.  An empty field is NULL, "" the empty text;
 * what stands in quotes is a text, so that a text of digits stays one.  A field without
 * quotes is an integer or a real number where all of its column are.  What a column without
 * any value would have been is said in a last line, "# types INTEGER,TEXT", of our own files.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "file/internal.h"

struct csv_field {
	char *text;
	u32 n;
	bool is_quoted;
};

/* The fields of one line; they point into the reader's buffer. */
struct csv_row {
	struct csv_field *fields;
	u32 n, capacity;
	char *types; /* what the line of types said, or NULL */
};

enum csv_state { CSV_START, CSV_PLAIN, CSV_QUOTED, CSV_BEHIND };

/* One byte on; CSV_BEHIND is behind a quote that ends the field or is the first of two. */
static enum csv_state csv_step(enum csv_state state, char c)
{
	if (state == CSV_QUOTED)
		return c == '"' ? CSV_BEHIND : CSV_QUOTED;
	if (c == ',' || c == '\n')
		return CSV_START;
	if (c == '"' && state != CSV_PLAIN)
		return CSV_QUOTED;
	return state == CSV_BEHIND ? CSV_BEHIND : CSV_PLAIN;
}

/* 1: a record, without its line end; 0: none is left; -errno after a diagnostic. */
static int next_record(struct file_pass *pass, char **ret_text, size_t *ret_n, u64 *ret_n_lines)
{
	struct reader *reader = &pass->reader;
	enum csv_state state = CSV_START;
	size_t at = 0;
	int error;

	*ret_n_lines = 1;
	for (;; at++) {
		char c;

		if (at == reader_has(reader)) {
			error = at > FILE_ROW_BYTES_MAX ? -E2BIG : reader_need(reader, at + 1);
			if (error == -E2BIG)
				return file_complain(pass, "a row of more than %u bytes",
						     FILE_ROW_BYTES_MAX);
			if (error)
				return file_complain_read(pass, error);
			if (at == reader_has(reader))
				break;
		}
		c = reader->buf[reader->start + at];
		if (c == '\n' && state != CSV_QUOTED)
			break;
		if (c == '\n')
			++*ret_n_lines;
		state = csv_step(state, c);
	}
	if (at == 0 && reader_has(reader) == 0)
		return 0;
	if (state == CSV_QUOTED)
		return file_complain(pass, "a quoted field without its closing quote");
	*ret_text = reader->buf + reader->start;
	reader->start += MIN(at + 1, reader_has(reader));
	*ret_n = at && (*ret_text)[at - 1] == '\r' ? at - 1 : at;
	return 1;
}

/* NULL: no memory. */
static struct csv_field *add_field(struct csv_row *row)
{
	u32 capacity = row->capacity ? 2 * row->capacity : 32;
	struct csv_field *grown;

	if (row->n == row->capacity) {
		grown = realloc(row->fields, capacity * sizeof(*grown));
		if (!grown)
			return NULL;
		row->fields = grown;
		row->capacity = capacity;
	}
	row->fields[row->n] = (struct csv_field){ 0 };
	return &row->fields[row->n++];
}

/* The field at `at` without its quotes, resolved in place; behind it. */
static char *take_quoted(char *at, const char *end, struct csv_field *field)
{
	char *to = ++at;

	field->text = to;
	field->is_quoted = true;
	while (at < end && (*at != '"' || (at + 1 < end && at[1] == '"'))) {
		at += *at == '"';
		*to++ = *at++;
	}
	field->n = (u32)(to - field->text);
	return at < end ? at + 1 : at;
}

/* Splits a record; 0 or -errno after a diagnostic. */
static int split(struct file_pass *pass, char *at, size_t n, struct csv_row *row)
{
	char *end = at + n;

	row->n = 0;
	if (memchr(at, '\0', n))
		return file_complain(pass, "a NUL byte");
	for (;; at++) {
		struct csv_field *field = add_field(row);

		if (!field)
			return file_complain_read(pass, -ENOMEM);
		if (row->n > FILE_COLUMNS_MAX)
			return file_complain(pass, "more than %u columns", FILE_COLUMNS_MAX);
		if (at < end && *at == '"') {
			at = take_quoted(at, end, field);
			if (at < end && *at != ',')
				return file_complain(
					pass, "field %u goes on behind its closing quote", row->n);
		} else {
			char *comma = memchr(at, ',', (size_t)(end - at));

			field->text = at;
			at = comma ? comma : end;
			field->n = (u32)(at - field->text);
		}
		if (at == end)
			return 0;
	}
}

static void free_row(struct csv_row *row)
{
	free(row->fields);
	free(row->types);
}

#define LOST_LINE  "# lost "
#define TYPES_LINE "# types "

static bool begins_with(const char *text, size_t n, const char *word)
{
	return n >= strlen(word) && memcmp(text, word, strlen(word)) == 0;
}

/*
 * Lines that tell what a query lost, and types, are no rows.  1: it is such a line; 0: it is none;
 * -ENOMEM.
 */
static int take_comment(struct csv_row *row, const char *text, size_t n)
{
	size_t n_word = strlen(TYPES_LINE);

	if (!begins_with(text, n, TYPES_LINE))
		return begins_with(text, n, LOST_LINE);
	free(row->types);
	row->types = strndup(text + n_word, n - n_word);
	return row->types ? 1 : -ENOMEM;
}

/*
 * 1: a row of n_columns (0: of any number); 0: the end; -errno after a diagnostic.  A blank
 * line is a NULL where there is one column, else it is nothing.
 */
static int next_row(struct file_pass *pass, u32 n_columns, u64 *lines, struct csv_row *row)
{
	char *text = NULL;
	size_t n = 0;
	u64 n_lines = 0;
	int rc;

	do {
		pass->place = *lines + 1;
		rc = next_record(pass, &text, &n, &n_lines);
		if (rc <= 0)
			return rc;
		*lines += n_lines;
		rc = take_comment(row, text, n);
	} while (rc > 0 || (rc == 0 && n == 0 && n_columns != 1));
	if (rc < 0)
		return file_complain_read(pass, rc);
	rc = split(pass, text, n, row);
	if (rc)
		return rc;
	if (n_columns && row->n != n_columns)
		return file_complain(pass, "%u fields where the header has %u", row->n, n_columns);
	return 1;
}

/* --- Learning --- */

static void learn_field(struct file_guess *g, const struct csv_field *f, u64 place)
{
	double real;

	if (!f->n && !f->is_quoted) {
		file_guess_null(g, place);
	} else if (f->is_quoted) {
		file_guess_text(g, f->n, place);
	} else if (file_is_digits(f->text, f->n) || file_real_of(f->text, f->n, &real)) {
		file_guess_number(g, f->text, f->n, place);
	} else if (file_special_of(f->text, f->n, &real)) {
		g->has_real = true;
		g->longest_bytes = MAX(g->longest_bytes, f->n);
	} else {
		file_guess_text(g, f->n, place);
	}
}

static void skip_mark(struct reader *reader)
{
	if (reader_need(reader, 3) == 0 && reader_has(reader) >= 3 &&
	    memcmp(reader->buf + reader->start, "\xef\xbb\xbf", 3) == 0)
		reader->start += 3;
}

/* The header -> the schema's names. */
static int learn_header(struct file_pass *pass, struct arena *arena, u64 *lines,
			struct csv_row *row, struct schema *ret_schema)
{
	int rc;

	skip_mark(&pass->reader);
	rc = next_row(pass, 0, lines, row);
	if (rc == 0) {
		pass->place = 0;
		return file_complain(pass, "is empty");
	}
	if (rc < 0)
		return rc;
	ret_schema->n_columns = row->n;
	ret_schema->columns = arena_array(arena, struct column, row->n);
	for (u32 i = 0; i < row->n; i++)
		ret_schema->columns[i].name =
			arena_strndup(arena, row->fields[i].text, row->fields[i].n);
	return 0;
}

/* What the line of types says of columns without a value; only our own files have one. */
static void take_types(struct file *file, const struct file_guess *guesses, const char *types)
{
	struct type type;

	for (u32 i = 0; types && i < file->schema.n_columns; i++) {
		const struct file_guess *g = &guesses[i];
		size_t n = strcspn(types, ",");

		if (!g->has_int && !g->has_huge && !g->has_real && !g->has_text &&
		    file_type_of(types, n, &type))
			file->schema.columns[i].type = type;
		types = types[n] ? types + n + 1 : NULL;
	}
}

static struct file *csv_learn(struct file_pass *pass, struct arena *arena)
{
	struct file *file = arena_new(arena, struct file);
	struct csv_row row = { 0 };
	struct file_guess *guesses;
	u64 lines = 0;
	int rc = learn_header(pass, arena, &lines, &row, &file->schema);

	if (rc) {
		free_row(&row);
		return NULL;
	}
	guesses = arena_array(arena, struct file_guess, file->schema.n_columns);
	while ((rc = next_row(pass, file->schema.n_columns, &lines, &row)) == 1) {
		for (u32 i = 0; i < row.n; i++)
			learn_field(&guesses[i], &row.fields[i], pass->place);
	}
	for (u32 i = 0; i < file->schema.n_columns; i++)
		file->schema.columns[i].type = file_guess_type(&guesses[i]);
	take_types(file, guesses, row.types);
	free_row(&row);
	if (rc < 0)
		return NULL;
	file_finish(file, pass, arena, guesses);
	return file;
}

/* --- Rows --- */

struct csv_rows {
	struct csv_row row;
	u64 lines;
};

static int csv_begin(struct file_rows *rows)
{
	struct csv_rows *csv = calloc(1, sizeof(*csv));
	int rc;

	if (!csv)
		return file_complain_read(&rows->pass, -ENOMEM);
	rows->state = csv;
	skip_mark(&rows->pass.reader);
	rc = next_row(&rows->pass, 0, &csv->lines, &csv->row);
	if (rc == 0 || (rc == 1 && csv->row.n != rows->file->schema.n_columns))
		return file_has_changed(&rows->pass);
	return rc < 0 ? rc : 0;
}

/* false: the value is none of the type that the column had. */
static bool csv_value(struct type type, const struct csv_field *f, struct value *ret)
{
	s128 integer;

	*ret = (struct value){ .kind = VALUE_NULL };
	if (!f->n && !f->is_quoted)
		return true;
	if (type.kind == TYPE_TEXT) {
		*ret = (struct value){ .kind = VALUE_TEXT, .n = f->n, .text = f->text };
		return f->n <= type.bytes;
	}
	if (f->is_quoted)
		return false;
	if (type.kind == TYPE_REAL) {
		ret->kind = VALUE_REAL;
		return file_real_of(f->text, f->n, &ret->real) ||
		       file_special_of(f->text, f->n, &ret->real);
	}
	if (!file_integer_of(f->text, f->n, &integer) || integer < type_min(type) ||
	    integer > type_max(type))
		return false;
	*ret = (struct value){ .kind = VALUE_INT, .integer = integer };
	return true;
}

static int csv_next(struct file_rows *rows, struct value *ret_row)
{
	const struct schema *schema = &rows->file->schema;
	struct csv_rows *csv = rows->state;
	int rc = next_row(&rows->pass, schema->n_columns, &csv->lines, &csv->row);

	if (rc <= 0)
		return rc;
	for (u32 i = 0; i < schema->n_columns; i++) {
		if (!csv_value(schema->columns[i].type, &csv->row.fields[i], &ret_row[i]))
			return file_has_changed(&rows->pass);
	}
	return 1;
}

static void csv_close(struct file_rows *rows)
{
	struct csv_rows *csv = rows->state;

	if (csv)
		free_row(&csv->row);
	free(csv);
}

/* --- Writing --- */

/* Its state: which columns had a value. */
static void csv_write_begin(struct file_writer *w)
{
	w->state = arena_array(&w->arena, bool, w->schema->n_columns);
	for (u32 i = 0; i < w->schema->n_columns; i++) {
		if (i)
			buf_putc(w->out, ',');
		buf_put_quoted(w->out, '"', w->names[i], strlen(w->names[i]));
	}
	buf_putc(w->out, '\n');
}

static void csv_write_rows(struct file_writer *w, const struct value *values, u32 n)
{
	u32 n_columns = w->schema->n_columns;
	bool *has_value = w->state;

	for (u32 row = 0; row < n; row++) {
		for (u32 i = 0; i < n_columns; i++) {
			const struct value *value = &values[(size_t)row * n_columns + i];

			if (i)
				buf_putc(w->out, ',');
			file_put_value(w->out, w->schema->columns[i].type, value, false);
			has_value[i] |= value->kind != VALUE_NULL;
		}
		buf_putc(w->out, '\n');
	}
}

/* What the values of this type are read as. */
static const char *type_word(struct type type)
{
	return type_is_word(type) ? "INTEGER" : type.kind == TYPE_REAL ? "REAL" : "TEXT";
}

static void csv_write_end(struct file_writer *w)
{
	const bool *has_value = w->state;
	u32 n_columns = w->schema->n_columns, n_known = 0;

	for (u32 i = 0; i < n_columns; i++)
		n_known += has_value[i];
	if (n_known == n_columns)
		return;
	buf_puts(w->out, TYPES_LINE);
	for (u32 i = 0; i < n_columns; i++)
		buf_printf(w->out, "%s%s", i ? "," : "", type_word(w->schema->columns[i].type));
	buf_putc(w->out, '\n');
}

const struct file_format file_csv = {
	.suffix = ".csv",
	.unit = "line",
	.learn = csv_learn,
	.begin = csv_begin,
	.next = csv_next,
	.close = csv_close,
	.write_begin = csv_write_begin,
	.write_rows = csv_write_rows,
	.write_end = csv_write_end,
};
