/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * An Arrow IPC stream -> rows.  Every length and offset is checked before it is followed.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "file/arrow_read.h"

/* Arrow's other format, for files that are read at random. */
static int refuse_file_format(struct file_pass *pass)
{
	struct reader *r = &pass->reader;
	int error = reader_need(r, 8);

	if (error)
		return file_complain_read(pass, error);
	if (reader_has(r) == 0)
		return file_complain(pass, "is empty");
	if (reader_has(r) >= 6 && memcmp(r->buf + r->start, "ARROW1", 6) == 0)
		return file_complain(pass, "is of Arrow's file format (Feather); it is the stream "
					   "format that is read here");
	return 0;
}

/* The schema message of the file that is read. */
static int take_schema(struct file_pass *pass, struct arena *arena, struct arrow_file *file)
{
	struct arrow_message message;
	struct buf metadata;
	int rc = refuse_file_format(pass);

	if (rc)
		return rc;
	buf_init(&metadata);
	rc = arrow_next_message(pass, &metadata, &message);
	if (rc == 0)
		rc = file_complain(pass, "has no schema");
	if (rc == 1) {
		rc = arrow_learn_schema(pass, &message, arena, file);
		if (rc == 0 && message.body_bytes)
			rc = file_complain(pass, "a schema with a body");
	}
	buf_free(&metadata);
	return rc;
}

/* Texts' lengths, NULLs, and integers' ranges: what file_finish() wants to know. */
static int learn_batch(struct arrow_walk *walk, struct file_guess *guesses)
{
	u64 place = walk->pass->place;

	for (; walk->row < walk->n_rows; walk->row++) {
		for (u32 i = 0; i < walk->schema->n_columns; i++) {
			struct file_guess *g = &guesses[i];
			struct value v;

			if (arrow_value(walk, i, walk->row, &v))
				return -EINVAL;
			if (v.kind == VALUE_NULL)
				file_guess_null(g, place);
			else if (v.kind == VALUE_INT)
				file_guess_int(g, v.integer, place);
			else if (v.kind == VALUE_TEXT)
				file_guess_text(g, v.n, place);
		}
	}
	return 0;
}

static struct file *arrow_learn(struct file_pass *pass, struct arena *arena)
{
	struct arrow_file *file = arena_new(arena, struct arrow_file);
	struct file_guess *guesses;
	struct arrow_walk walk;
	int rc = take_schema(pass, arena, file);

	if (rc)
		return NULL;
	guesses = arena_array(arena, struct file_guess, file->file.schema.n_columns);
	rc = arrow_walk_open(&walk, pass, file);
	while (!rc && (rc = arrow_walk_next(&walk)) == 1) {
		rc = learn_batch(&walk, guesses);
		if (rc)
			break;
	}
	arrow_walk_close(&walk);
	if (rc)
		return NULL;
	file_finish(&file->file, pass, arena, guesses);
	return &file->file;
}

/* --- Rows --- */

static bool is_same_layout(const struct arrow_column *a, const struct arrow_column *b)
{
	return a->layout.kind == b->layout.kind && a->layout.bytes == b->layout.bytes &&
	       a->layout.is_signed == b->layout.is_signed && a->layout.scale == b->layout.scale &&
	       a->has_dictionary == b->has_dictionary && a->is_large == b->is_large &&
	       a->dictionary == b->dictionary;
}

static int arrow_begin(struct file_rows *rows)
{
	const struct arrow_file *file = (const struct arrow_file *)rows->file;
	struct arrow_walk *walk = calloc(1, sizeof(*walk));
	struct arrow_file now = { 0 };
	int error;

	if (!walk)
		return file_complain_read(&rows->pass, -ENOMEM);
	rows->state = walk;
	error = arrow_walk_open(walk, &rows->pass, file);
	if (error)
		return error;
	error = take_schema(&rows->pass, rows->pass.diags->arena, &now);
	if (!error && now.file.schema.n_columns != file->file.schema.n_columns)
		error = file_has_changed(&rows->pass);
	for (u32 i = 0; !error && i < now.file.schema.n_columns; i++) {
		if (!is_same_layout(&now.columns[i], &file->columns[i]))
			error = file_has_changed(&rows->pass);
	}
	return error;
}

static int arrow_next(struct file_rows *rows, struct value *ret_row)
{
	struct arrow_walk *walk = rows->state;
	int rc = walk->row < walk->n_rows ? 1 : arrow_walk_next(walk);

	if (rc <= 0)
		return rc;
	for (u32 i = 0; i < walk->schema->n_columns; i++) {
		rc = arrow_value(walk, i, walk->row, &ret_row[i]);
		if (rc)
			return rc;
	}
	walk->row++;
	return 1;
}

static void arrow_close(struct file_rows *rows)
{
	if (rows->state)
		arrow_walk_close(rows->state);
	free(rows->state);
}

const struct file_format file_arrow = {
	.suffix = ".arrows",
	.unit = "batch",
	.learn = arrow_learn,
	.begin = arrow_begin,
	.next = arrow_next,
	.close = arrow_close,
	.write_begin = arrow_write_begin,
	.write_rows = arrow_write_rows,
	.write_end = arrow_write_end,
};
