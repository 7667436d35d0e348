/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Rows in files: Arrow IPC streams (.arrows), JSON lines (.jsonl) and CSV (.csv),
 * written by "ebql record" or by others, and read back as rows of values.
 */
#ifndef EBQL_FILE_FILE_H
#define EBQL_FILE_FILE_H

#include "base/arena.h"
#include "base/diag.h"
#include "file/arrow_c.h"
#include "type/type.h"

enum file_kind { FILE_ARROW, FILE_JSONL, FILE_CSV, FILE_KIND_N };

/* The schema of a file, known before its first row is read. */
struct file {
	enum file_kind kind;
	const char *path;
	struct schema schema; /* words, TEXT (bytes: the longest in the file), REAL */
	bool is_typed;	      /* the types are the file's own word, not guessed by its values */
	u32 n_head;	      /* columns that its head names */
	/*
	 * The column `time`, when it is a TIMESTAMP or an integer: then the file is a recorded
	 * stream, in whose windows its rows lie; else it is a table.  -1: none.
	 */
	s32 time_column;
	const char *no_time; /* what is wrong with a column `time` that is none of times; or NULL */
	const char **notes;  /* why a column of numbers is a text: "a text since line 3"; or "" */
	/* Of the times (0 where there are none): lowest, highest, each row's not below the last's.
	 */
	u64 first_ns, last_ns;
	bool is_ordered;
	bool has_rows;
	/* What was read, up to the last whole row: what was appended since is none of it. */
	u64 size_bytes, inode;
};

/* By the path's suffix? */
bool file_kind_of(const char *path, enum file_kind *ret_kind);
/*
 * Opens a file and learns its columns.  Types are those that were recorded (Arrow
 * metadata, the first line of JSONL); without them: integer, real or text, by looking at
 * every value.  NULL after a diagnostic (tags unknown-file, bad-file).
 */
struct file *file_open(const char *path, struct arena *arena, struct span span,
		       struct diags *diags);

/* One pass over the rows; several may go on at a time. */
struct file_rows;
struct file_rows *file_rows_open(const struct file *file, struct diags *diags);
/*
 * 1: one row (schema.n_columns values, text lives until the next call), 0: the end,
 * -errno after a diagnostic (bad-file, which names the line or the batch).
 */
int file_rows_next(struct file_rows *rows, struct value *ret_row);
void file_rows_close(struct file_rows *rows);

/* Writes rows; out is flushed by the caller.  NULL: no memory. */
struct file_writer;
struct file_writer *file_writer_open(enum file_kind kind, const struct schema *schema,
				     struct buf *out);
/* n rows of schema->n_columns values. */
void file_writer_rows(struct file_writer *writer, const struct value *values, u32 n);
/* What could not be written, after which nothing more is; NULL: nothing. */
const char *file_writer_error(const struct file_writer *writer);
/* Of which column; NULL: of none.  The name is as it was given, and may hold anything. */
const char *file_writer_error_column(const struct file_writer *writer);
/*
 * Of windows, as an Arrow IPC stream of the columns that arrow_export_schema() describes; instants
 * of CLOCK_MONO are moved by offset_ns.
 */
struct file_writer *file_writer_open_windows(const struct schema *schema, s64 offset_ns,
					     struct buf *out);
/* A window as one record batch, also one without rows; about: the text of its metadata. */
void file_writer_window(struct file_writer *writer, const struct batch *batch, const char *about);
/* Writes what the format wants at its end, and frees the writer. */
void file_writer_close(struct file_writer *writer);

#endif
