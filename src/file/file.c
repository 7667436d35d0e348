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

static int open_pass(struct file_pass *pass)
{
	int error = reader_open(&pass->reader, pass->path);

	if (error == -ESPIPE)
		file_complain_as(pass, "unknown-file", "is no regular file, and it is read twice");
	else if (error)
		file_complain_as(pass, "unknown-file", strerror(-error));
	return error;
}

struct file *file_open(const char *path, struct arena *arena, struct span span, struct diags *diags)
{
	struct file_pass pass = { .path = path, .diags = diags, .span = span };
	enum file_kind kind;
	struct file *file;
	u64 size_bytes, inode;

	if (!file_kind_of(path, &kind)) {
		diag_hint(diags, file_complain_as(&pass, "unknown-file", "is no kind of file"),
			  "files end with .arrows, .jsonl or .csv");
		return NULL;
	}
	pass.unit = file_formats[kind]->unit;
	if (open_pass(&pass))
		return NULL;
	size_bytes = pass.reader.left_bytes;
	inode = pass.reader.inode;
	file = file_formats[kind]->learn(&pass, arena);
	reader_close(&pass.reader);
	if (!file)
		return NULL;
	file->size_bytes = size_bytes;
	file->inode = inode;
	file->kind = kind;
	file->path = arena_strdup(arena, path);
	return file;
}

struct file_rows *file_rows_open(const struct file *file, struct diags *diags)
{
	struct file_pass pass = { .path = file->path,
				  .diags = diags,
				  .span = SPAN_NONE,
				  .unit = file_formats[file->kind]->unit };
	struct file_rows *rows = calloc(1, sizeof(*rows));

	if (!rows) {
		file_complain_read(&pass, -ENOMEM);
		return NULL;
	}
	rows->file = file;
	rows->pass = pass;
	if (open_pass(&rows->pass)) {
		free(rows);
		return NULL;
	}
	if (rows->pass.reader.inode != file->inode ||
	    rows->pass.reader.left_bytes < file->size_bytes) {
		file_has_changed(&rows->pass);
		file_rows_close(rows);
		return NULL;
	}
	rows->pass.reader.left_bytes = file->size_bytes;
	if (file_formats[file->kind]->begin(rows)) {
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
	int got = file_formats[file->kind]->next(rows, ret_row);

	if (got > 0 && file->time_column >= 0 && !is_in_time(rows, &ret_row[file->time_column]))
		return file_has_changed(&rows->pass);
	return got;
}

void file_rows_close(struct file_rows *rows)
{
	if (!rows)
		return;
	if (file_formats[rows->file->kind]->close)
		file_formats[rows->file->kind]->close(rows);
	reader_close(&rows->pass.reader);
	free(rows);
}

struct file_writer *file_writer_open(enum file_kind kind, const struct schema *schema,
				     struct buf *out)
{
	struct file_writer *writer = calloc(1, sizeof(*writer));

	if (!writer)
		return NULL;
	*writer = (struct file_writer){ .kind = kind, .schema = schema, .out = out };
	arena_init(&writer->arena);
	writer->names = file_unique_names(&writer->arena, schema);
	file_formats[kind]->write_begin(writer);
	return writer;
}

/* Why a value cannot be written, or NULL. */
static const char *refuse(enum file_kind kind, struct type type, const struct value *value)
{
	bool is_time = type.kind == TYPE_DURATION || type.kind == TYPE_TIMESTAMP, fits;

	if (value->kind == VALUE_NULL)
		return NULL;
	if (type_is_word(type))
		fits = value->kind == VALUE_INT && value->integer >= type_min(type) &&
		       value->integer <= type_max(type);
	else if (type.kind == TYPE_REAL)
		fits = value->kind == VALUE_REAL || value->kind == VALUE_INT;
	else
		fits = value->kind == VALUE_TEXT && value->n <= FILE_ROW_BYTES_MAX &&
		       (type.kind != TYPE_BLOB || value->n == type.bytes);
	if (!fits)
		return "a value that is not of its column's type";
	/* Arrow's are signed. */
	if (kind == FILE_ARROW && is_time && value->integer > INT64_MAX)
		return "a duration or time of 2^63 ns or more, which Arrow cannot hold";
	return NULL;
}

void file_writer_rows(struct file_writer *writer, const struct value *values, u32 n)
{
	const struct schema *schema = writer->schema;

	for (size_t i = 0; i < (size_t)n * schema->n_columns && !writer->error; i++)
		writer->error = refuse(writer->kind, schema->columns[i % schema->n_columns].type,
				       &values[i]);
	if (n && !writer->error)
		file_formats[writer->kind]->write_rows(writer, values, n);
}

const char *file_writer_error(const struct file_writer *writer)
{
	return writer->error;
}

void file_writer_close(struct file_writer *writer)
{
	if (file_formats[writer->kind]->write_end)
		file_formats[writer->kind]->write_end(writer);
	arena_free(&writer->arena);
	free(writer);
}
