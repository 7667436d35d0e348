/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * CSV (RFC 4180, with a header line) <-> rows.  An empty field is NULL, "" the empty text;
 * what stands in quotes is a text, so that a text of digits stays one.  A field without
 * quotes is an integer or a real number where all of its column are.  What a column without
 * any value would have been is said in a last line, "# types INTEGER,TEXT", of our own files.
 */
#include <string.h>

#include "file/internal.h"

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

/*
 * 1: a record, without its line end; 0: none is left; -errno after a diagnostic, or file_cut().
 */
static int next_record(struct file_pass *pass, char **ret_text, size_t *ret_n)
{
	struct reader *reader = &pass->reader;
	enum csv_state state = CSV_START;
	size_t at = 0, end;

	pass->place = pass->n_lines + 1;
	for (;; at++) {
		int error = file_line_end(pass, at, &end);

		if (error)
			return error;
		if (!reader_has(reader))
			return 0;
		pass->n_lines++;
		for (; at < end; at++)
			state = csv_step(state, reader->buf[reader->start + at]);
		if (pass->is_ours && end == reader_has(reader))
			return file_cut(pass, reader->buf[reader->start] != '#');
		if (state != CSV_QUOTED)
			break;
		if (end == reader_has(reader))
			return file_complain(pass, "a quoted field without its closing quote");
	}
	*ret_text = reader->buf + reader->start;
	reader->start += MIN(end + 1, reader_has(reader));
	*ret_n = end && (*ret_text)[end - 1] == '\r' ? end - 1 : end;
	return 1;
}

/* The field at `at` without its quotes, resolved in place; behind it. */
static char *take_quoted(char *at, const char *end, struct written *field)
{
	char *to = ++at;

	*field = (struct written){ .kind = WRITTEN_STRING, .text = to };
	while (at < end && (*at != '"' || (at + 1 < end && at[1] == '"'))) {
		at += *at == '"';
		*to++ = *at++;
	}
	field->n = (size_t)(to - field->text);
	return at < end ? at + 1 : at;
}

/* \xHH -> the byte, in place. */
static void decode(struct written *field)
{
	const char *at = field->text, *end = at + field->n;
	char *to = field->text;

	while (at < end) {
		bool is_hex = end - at >= 4 && at[0] == '\\' && at[1] == 'x';
		int high = is_hex ? base_hex_digit(at[2]) : -1;
		int low = is_hex ? base_hex_digit(at[3]) : -1;

		if (high < 0 || low < 0 || high + low == 0) {
			*to++ = *at++;
			continue;
		}
		*to++ = (char)(high << 4 | low);
		at += 4;
	}
	field->n = (size_t)(to - field->text);
}

static int complain_line_end(struct file_pass *pass)
{
	return file_complain(pass,
			     "a carriage return without a line feed behind it: lines end with "
			     "LF or CR LF");
}

/* A record -> fields; 0 or -errno after a diagnostic. */
static int split(struct file_pass *pass, char *at, size_t n, struct written *fields, u32 *ret_n)
{
	char *end = at + n, *cr = pass->n_lines == 1 ? memchr(at, '\r', n) : NULL;

	if (memchr(at, '\0', n))
		return file_complain(pass, "a NUL byte");
	/* Where lines end with CR alone all of them are the first one. */
	if (cr && !memchr(at, '"', (size_t)(cr - at)))
		return complain_line_end(pass);
	for (u32 i = 0; i < FILE_COLUMNS_MAX; i++, at++) {
		if (at < end && *at == '"') {
			at = take_quoted(at, end, &fields[i]);
			if (at < end && *at != ',')
				return file_complain(
					pass, "field %u goes on behind its closing quote", i + 1);
		} else {
			char *comma = memchr(at, ',', (size_t)(end - at));

			fields[i] = (struct written){ .kind = WRITTEN_BARE, .text = at };
			at = comma ? comma : end;
			fields[i].n = (size_t)(at - fields[i].text);
			if (!fields[i].n)
				fields[i].kind = WRITTEN_NULL;
		}
		if (pass->is_escaped)
			decode(&fields[i]);
		*ret_n = i + 1;
		if (at == end)
			return 0;
	}
	return file_complain(pass, "more than %u columns", FILE_COLUMNS_MAX);
}

#define TYPES_LINE "# types "

static bool begins_with(const char *text, size_t n, const char *word)
{
	return n >= strlen(word) && memcmp(text, word, strlen(word)) == 0;
}

/* "INTEGER,TEXT": what columns without a value are; only our own files say it. */
static void take_types(struct file *file, const char *types, const char *end)
{
	for (u32 i = 0; i < file->schema.n_columns && types < end; i++) {
		const char *comma = memchr(types, ',', (size_t)(end - types));
		size_t n = (size_t)((comma ? comma : end) - types);

		file_type_of(types, n, &file->schema.columns[i].type);
		types += n + 1;
	}
}

/* Lines that tell of a window, of what a query lost, and of types, are no rows: out/csv.c. */
static bool take_comment(struct file_rows *rows, const char *text, size_t n)
{
	static const char *const words[] = { "# late ", "# lost ", "# unwritten ", "# other ",
					     "# partial " };

	for (u32 i = 0; i < ARRAY_SIZE(words); i++)
		if (begins_with(text, n, words[i]))
			return true;
	if (!begins_with(text, n, TYPES_LINE))
		return false;
	if (rows->learnt)
		take_types(rows->learnt, text + strlen(TYPES_LINE), text + n);
	return true;
}

/*
 * 1: a row of n_columns (0: of any number); 0: the end; -errno after a diagnostic.  A blank
 * line is a NULL where there is one column, else it is nothing.
 */
static int next_row(struct file_rows *rows, u32 n_columns, u32 *ret_n)
{
	struct file_pass *pass = &rows->pass;
	char *text = NULL;
	size_t n = 0;
	int rc;

	do {
		rc = next_record(pass, &text, &n);
		if (rc <= 0)
			return rc;
	} while (take_comment(rows, text, n) || (n == 0 && n_columns != 1));
	rc = split(pass, text, n, rows->fields, ret_n);
	if (rc)
		return rc;
	if (n_columns && *ret_n != n_columns)
		return file_complain(pass, "%u fields where the header has %u", *ret_n, n_columns);
	return 1;
}

/* The last name of -o csv --window-columns. */
static bool is_other(const char *name, size_t n)
{
	return n == strlen("_other") && memcmp(name, "_other", n) == 0;
}

/*
 * "ebql record" puts names in quotes, but the last where it can be without: no other writer does,
 * so where our files end without a line feed they are cut.
 */
static bool is_name_quoted(const char *name, size_t n, u32 column, u32 n_columns)
{
	return column + 1 < n_columns || n_columns == 1 || strchr(" #", *name) ||
	       memchr(name, ',', n) || memchr(name, '"', n) || memchr(name, '\n', n) ||
	       memchr(name, '\r', n) || is_other(name, n);
}

/*
 * Does it begin as what "ebql record" or -o csv --window-columns (_other at the end)
 * writes?  The head is whole?
 * Its last name may go on where no line feed ends it.
 */
static bool learn_writer(struct file_pass *pass, struct written *names, u32 n)
{
	bool is_ended = pass->reader.buf[pass->reader.start - 1] == '\n';
	const struct written *last = &names[n - 1];
	u32 n_quoted = 0, n_ours = 0;

	for (u32 i = 0; i < n; i++) {
		bool is_quoted = names[i].kind == WRITTEN_STRING;

		n_quoted += is_quoted;
		n_ours +=
			names[i].n && is_quoted == is_name_quoted(names[i].text, names[i].n, i, n);
	}
	pass->is_escaped = last->kind == WRITTEN_BARE && is_other(last->text, last->n);
	pass->is_ours = pass->is_escaped || n_ours == n;
	for (u32 i = 0; pass->is_escaped && i < n; i++)
		decode(&names[i]);
	return is_ended || (!n_quoted && last->kind != WRITTEN_NULL);
}

/* The names are those of all lines, where these end with CR alone. */
static int check_names(struct file_pass *pass, const struct written *names, u32 n)
{
	for (u32 i = 0; i < n; i++)
		if (names[i].kind == WRITTEN_BARE && memchr(names[i].text, '\r', names[i].n))
			return complain_line_end(pass);
	return 0;
}

static struct file *csv_head(struct file_rows *rows, struct arena *arena)
{
	struct file *file = arena_new(arena, struct file);
	struct schema *schema = &file->schema;
	int rc;

	reader_skip_mark(&rows->pass.reader);
	rc = next_row(rows, 0, &schema->n_columns);
	if (rc == 0) {
		rows->pass.place = 0;
		file_complain(&rows->pass, "is empty");
	}
	if (rc <= 0 || check_names(&rows->pass, rows->fields, schema->n_columns))
		return NULL;
	if (!learn_writer(&rows->pass, rows->fields, schema->n_columns)) {
		file_cut(&rows->pass, 0);
		return NULL;
	}
	schema->columns = arena_array(arena, struct column, schema->n_columns);
	for (u32 i = 0; i < schema->n_columns; i++)
		schema->columns[i].name =
			arena_strndup(arena, rows->fields[i].text, rows->fields[i].n);
	return file;
}

static int csv_next(struct file_rows *rows)
{
	u32 n;

	return next_row(rows, rows->file->schema.n_columns, &n);
}

/* --- Writing --- */

static void csv_write_begin(struct file_writer *w)
{
	for (u32 i = 0; i < w->schema->n_columns; i++) {
		const char *name = w->names[i];

		if (i)
			buf_putc(w->out, ',');
		if (is_name_quoted(name, strlen(name), i, w->schema->n_columns))
			buf_put_quoted(w->out, '"', name, strlen(name));
		else
			buf_puts(w->out, name);
	}
	buf_putc(w->out, '\n');
}

/* What the values of this type are read as. */
static const char *type_word(struct type type)
{
	return type_is_word(type) ? "INTEGER" : type.kind == TYPE_REAL ? "REAL" : "TEXT";
}

static void csv_write_end(struct file_writer *w)
{
	u32 n_columns = w->schema->n_columns, n_known = 0;

	for (u32 i = 0; i < n_columns; i++)
		n_known += w->has_value[i];
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
	.head = csv_head,
	.next = csv_next,
	.value = file_text_value,
	.write_begin = csv_write_begin,
	.write_rows = file_write_text,
	.write_end = csv_write_end,
};
