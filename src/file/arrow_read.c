/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * An Arrow IPC stream -> rows.  Every length and offset is checked before it is followed.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

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

static bool is_same_layout(const struct arrow_column *a, const struct arrow_column *b)
{
	return a->layout.kind == b->layout.kind && a->layout.bytes == b->layout.bytes &&
	       a->layout.is_signed == b->layout.is_signed && a->layout.scale == b->layout.scale &&
	       a->has_dictionary == b->has_dictionary && a->is_large == b->is_large &&
	       a->dictionary == b->dictionary;
}

static struct file *arrow_head(struct file_rows *rows, struct arena *arena)
{
	const struct arrow_file *known = (const struct arrow_file *)rows->file;
	struct arrow_file *file = arena_new(arena, struct arrow_file);
	struct arrow_walk *walk = calloc(1, sizeof(*walk));
	u32 n;

	if (!walk)
		file_complain_read(&rows->pass, -ENOMEM);
	rows->state = walk;
	if (!walk || take_schema(&rows->pass, arena, file) ||
	    arrow_walk_open(walk, &rows->pass, known ? known : file))
		return NULL;
	n = file->file.schema.n_columns;
	for (u32 i = 0; known && n == known->file.n_head && i < n; i++) {
		if (!is_same_layout(&known->columns[i], &file->columns[i])) {
			file_has_changed(&rows->pass);
			return NULL;
		}
	}
	file->file.is_typed = true;
	return &file->file;
}

static int arrow_next(struct file_rows *rows)
{
	struct arrow_walk *walk = rows->state;
	int rc = walk->row < walk->n_rows ? 1 : arrow_walk_next(walk);

	walk->row += rc == 1;
	return rc;
}

static int arrow_row_value(struct file_rows *rows, u32 column, struct value *ret_value)
{
	return arrow_value(rows->state, column, ret_value);
}

static void arrow_close(struct file_rows *rows)
{
	arrow_walk_close(rows->state);
	free(rows->state);
}

const struct file_format file_arrow = {
	.suffix = ".arrows",
	.unit = "batch",
	.head = arrow_head,
	.next = arrow_next,
	.value = arrow_row_value,
	.close = arrow_close,
	.write_begin = arrow_write_begin,
	.write_rows = arrow_write_rows,
	.write_end = arrow_write_end,
};
