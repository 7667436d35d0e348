/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The kinds of files by the ends of their names, and the calls of file.h as calls of
 * the kind's own functions.
 */
#include "file/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const struct file_format *const file_formats[FILE_KIND_N] = {
	[FILE_ARROW] = &file_arrow,
	[FILE_JSONL] = &file_jsonl,
	[FILE_CSV] = &file_csv,
};

bool file_kind_of(const char *path, enum file_kind *ret_kind)
{
	size_t n = strlen(path);

	for (u32 i = 0; i < FILE_KIND_N; i++) {
		const char *suffix = file_formats[i]->suffix;
		size_t n_suffix = strlen(suffix);

		if (n >= n_suffix && strcasecmp(path + n - n_suffix, suffix) == 0) {
			*ret_kind = i;
			return true;
		}
	}
	return false;
}

static int open_rows(struct file_rows *rows)
{
	struct file_pass *pass = &rows->pass;
	int error;

	pass->unit = rows->format->unit;
	error = reader_open(&pass->reader, pass->path);
	if (error == -ESPIPE)
		file_complain_as(pass, "unknown-file", "is no regular file, and it is read twice");
	else if (error)
		file_complain_errno(pass, "unknown-file", error);
	if (error)
		return error;
	rows->fields = calloc(FILE_COLUMNS_MAX, sizeof(*rows->fields));
	return rows->fields ? 0 : file_complain_read(pass, -ENOMEM);
}

static void close_rows(struct file_rows *rows)
{
	if (rows->state)
		rows->format->close(rows);
	reader_close(&rows->pass.reader);
	free(rows->fields);
}

struct file *file_open(const char *path, struct arena *arena, struct span span, struct diags *diags)
{
	struct file_rows rows = { .pass = { .path = path, .diags = diags, .span = span } };
	struct file *file = NULL;
	enum file_kind kind;
	u64 size_bytes;

	rows.pass.reader.fd = -1;
	if (!file_kind_of(path, &kind)) {
		diag_hint(diags, file_complain_as(&rows.pass, "unknown-file", "is no kind of file"),
			  "files end with .arrows, .jsonl or .csv");
		return NULL;
	}
	rows.format = file_formats[kind];
	if (open_rows(&rows) == 0) {
		size_bytes = rows.pass.reader.left_bytes;
		file = rows.format->head(&rows, arena);
	}
	if (file) {
		file->kind = kind;
		file->path = arena_strdup(arena, path);
		file->size_bytes = size_bytes;
		file->inode = rows.pass.reader.inode;
		file->n_head = file->schema.n_columns;
		rows.file = rows.learnt = file;
		if (!file_learn(&rows, arena))
			file = NULL;
	}
	close_rows(&rows);
	return file;
}

/* Opens it anew; false after a diagnostic, also that it is no longer what was learnt. */
static bool begin_rows(struct file_rows *rows)
{
	const struct file *file = rows->file, *now = NULL;
	struct reader *reader = &rows->pass.reader;

	if (open_rows(rows))
		return false;
	if (reader->inode == file->inode && reader->left_bytes >= file->size_bytes) {
		reader->left_bytes = file->size_bytes;
		now = rows->format->head(rows, rows->pass.diags->arena);
		if (!now)
			return false;
	}
	if (now && now->schema.n_columns == file->n_head)
		return true;
	file_has_changed(&rows->pass);
	return false;
}

struct file_rows *file_rows_open(const struct file *file, struct diags *diags)
{
	struct file_pass pass = {
		.path = file->path, .diags = diags, .span = SPAN_NONE, .reader.fd = -1
	};
	struct file_rows *rows = calloc(1, sizeof(*rows));

	if (!rows) {
		file_complain_read(&pass, -ENOMEM);
		return NULL;
	}
	*rows = (struct file_rows){ .pass = pass,
				    .format = file_formats[file->kind],
				    .file = file };
	if (!begin_rows(rows)) {
		file_rows_close(rows);
		return NULL;
	}
	return rows;
}

/* Are the times those that were learnt? */
static bool is_in_time(struct file_rows *rows, const struct value *time)
{
	const struct file *file = rows->file;

	if (time->kind != VALUE_INT || time->integer < file->first_ns ||
	    time->integer > file->last_ns || (file->is_ordered && time->integer < rows->before_ns))
		return false;
	rows->before_ns = (u64)time->integer;
	return true;
}

int file_rows_next(struct file_rows *rows, struct value *ret_row)
{
	const struct file *file = rows->file;
	int got = rows->format->next(rows);

	for (u32 i = 0; got > 0 && i < file->schema.n_columns; i++) {
		int error = rows->format->value(rows, i, &ret_row[i]);

		if (error)
			return error;
	}
	if (got > 0 && file->time_column >= 0 && !is_in_time(rows, &ret_row[file->time_column]))
		return file_has_changed(&rows->pass);
	return got;
}

void file_rows_close(struct file_rows *rows)
{
	if (!rows)
		return;
	close_rows(rows);
	free(rows);
}

static struct file_writer *open_writer(struct file_writer how)
{
	struct file_writer *writer = calloc(1, sizeof(*writer));

	if (!writer || !arena_reserve(&how.arena)) {
		free(writer);
		return NULL;
	}
	*writer = how;
	writer->names = file_unique_names(&writer->arena, how.schema);
	writer->has_value = arena_array(&writer->arena, bool, how.schema->n_columns);
	file_formats[how.kind]->write_begin(writer);
	return writer;
}

struct file_writer *file_writer_open(enum file_kind kind, const struct schema *schema,
				     struct buf *out)
{
	return open_writer((struct file_writer){ .kind = kind, .schema = schema, .out = out });
}

struct file_writer *file_writer_open_windows(const struct schema *schema, s64 offset_ns,
					     struct buf *out)
{
	return open_writer((struct file_writer){ .kind = FILE_ARROW,
						 .schema = schema,
						 .out = out,
						 .is_window = true,
						 .offset_ns = offset_ns });
}

/* A column of whole numbers, and one that is none of those it can have; or NULL. */
static const char *refuse_word(struct type type, const struct value *value)
{
	if (value->kind != VALUE_INT)
		return FILE_NOT_OF_TYPE;
	if (value->integer >= type_min(type) && value->integer <= type_max(type))
		return NULL;
	return type.kind == TYPE_INT && type.bits == 64 ? FILE_TOO_LARGE : FILE_NOT_OF_TYPE;
}

/* Why a value cannot be written, or NULL. */
static const char *refuse(struct type type, const struct value *value)
{
	bool fits;

	if (value->kind == VALUE_NULL)
		return NULL;
	if (value->kind == VALUE_TEXT && type.kind != TYPE_BLOB && value->n &&
	    memchr(value->text, '\0', value->n))
		return "a text with a NUL in it, which FROM does not read: hex(x) has all of it";
	if (type_is_word(type))
		return refuse_word(type, value);
	if (type.kind == TYPE_REAL)
		fits = value->kind == VALUE_REAL || value->kind == VALUE_INT;
	else
		fits = value->kind == VALUE_TEXT && value->n <= FILE_ROW_BYTES_MAX &&
		       (type.kind != TYPE_BLOB || value->n == type.bytes);
	return fits ? NULL : FILE_NOT_OF_TYPE;
}

void file_writer_rows(struct file_writer *writer, const struct value *values, u32 n)
{
	const struct schema *schema = writer->schema;

	for (size_t i = 0; i < (size_t)n * schema->n_columns && !writer->error; i++) {
		u32 column = (u32)(i % schema->n_columns);
		const char *why = refuse(schema->columns[column].type, &values[i]);

		if (why)
			file_writer_refuse(writer, why, writer->names[column]);
		writer->has_value[column] |= values[i].kind != VALUE_NULL;
	}
	if (n && !writer->error)
		file_formats[writer->kind]->write_rows(writer, values, n);
}

const char *file_writer_error(const struct file_writer *writer)
{
	return writer->error;
}

const char *file_writer_error_column(const struct file_writer *writer)
{
	return writer->error_column;
}

void file_writer_close(struct file_writer *writer)
{
	if (file_formats[writer->kind]->write_end)
		file_formats[writer->kind]->write_end(writer);
	arena_free(&writer->arena);
	free(writer);
}
