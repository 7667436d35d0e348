/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What the tests of src/file share: a file of given bytes, and all of a file's rows as text.
 */
#ifndef EBQL_TESTS_FILE_FILES_H
#define EBQL_TESTS_FILE_FILES_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "file/file.h"

struct folder {
	char path[64];
	char file[96];
};

static inline void folder_open(struct folder *f)
{
	/* Thousands of files: in memory, if there is such a place. */
	snprintf(f->path, sizeof(f->path), "/dev/shm/ebql-file-XXXXXX");
	if (mkdtemp(f->path))
		return;
	snprintf(f->path, sizeof(f->path), "/tmp/ebql-file-XXXXXX");
	assert_non_null(mkdtemp(f->path));
}

static inline void folder_close(struct folder *f)
{
	if (f->file[0])
		unlink(f->file);
	assert_int_equal(rmdir(f->path), 0);
}

/* Writes the one file of the folder. */
static inline const char *folder_write(struct folder *f, const char *name, const void *bytes,
				       size_t n)
{
	FILE *file;

	snprintf(f->file, sizeof(f->file), "%s/%s", f->path, name);
	file = fopen(f->file, "w");
	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, n, file), n);
	assert_int_equal(fclose(file), 0);
	return f->file;
}

static inline void put_value(struct buf *out, struct type type, const struct value *v)
{
	if (v->kind == VALUE_TEXT && type.kind == TYPE_BLOB) {
		for (u32 i = 0; i < v->n; i++)
			buf_printf(out, "%02x", (u8)v->text[i]);
		return;
	}
	switch (v->kind) {
	case VALUE_NULL:
		buf_puts(out, "NULL");
		break;
	case VALUE_INT:
		buf_put_s128(out, v->integer);
		break;
	case VALUE_REAL:
		buf_printf(out, "%.17g", v->real);
		break;
	default:
		buf_putc(out, '\'');
		buf_put(out, v->text, v->n);
		buf_putc(out, '\'');
		break;
	}
}

/*
 * "name TYPE, ...; time N\n" and a line for each row; diagnostics as they are printed, with
 * the file's folder left out.
 */
static inline void show(const char *path, struct buf *out)
{
	struct span span = { 0, 0 };
	struct file_rows *rows;
	struct arena arena;
	struct diags diags;
	struct value *row;
	struct file *file;

	arena_init(&arena);
	diags_init(&diags, &arena, "query", "", 0);
	file = file_open(path, &arena, span, &diags);
	for (u32 i = 0; file && i < file->schema.n_columns; i++) {
		buf_printf(out, "%s%s ", i ? ", " : "", file->schema.columns[i].name);
		type_print(file->schema.columns[i].type, out);
	}
	if (file)
		buf_printf(out, "; time %d\n", file->time_column);
	rows = file ? file_rows_open(file, &diags) : NULL;
	row = arena_array(&arena, struct value, file ? file->schema.n_columns + 1 : 1);
	while (rows && file_rows_next(rows, row) == 1) {
		for (u32 i = 0; i < file->schema.n_columns; i++) {
			buf_puts(out, i ? ", " : "");
			put_value(out, file->schema.columns[i].type, &row[i]);
		}
		buf_putc(out, '\n');
	}
	file_rows_close(rows);
	for (u32 i = 0; i < diags.list.n; i++) {
		const struct diag *d = &diags.list.at[i];
		const char *slash = strrchr(d->message, '/');
		const char *name = strstr(d->message, path);

		buf_printf(out, "%s[%s]: %s\n", d->is_warning ? "warning" : "error", d->tag,
			   name && slash ? name + (strrchr(path, '/') - path) + 1 : d->message);
	}
	assert_true(!file == !!diags_failed(&diags) || file);
	arena_free(&arena);
}

#endif
