/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A recorded stream -> its rows in the order of their times.  A file whose rows are not in
 * order is held in memory as a whole.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tree/internal.h"

struct row_order {
	u64 time_ns, number;
};

/* In a file without times all rows have the same one. */
static u64 time_of(const struct row_file *f)
{
	if (f->file->time_column < 0)
		return 0;
	return (u64)MIN(f->row[f->file->time_column].integer, (s128)(UINT64_MAX - 1));
}

static int compare_order(const void *a, const void *b)
{
	const struct row_order *x = a, *y = b;

	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

static int keep_row(struct row_file *f)
{
	u32 n = f->file->schema.n_columns;
	struct value *to;
	struct row_order *order;

	if (!region_need(&f->values, (f->n_rows + 1) * n * sizeof(*to)) ||
	    !region_need(&f->order, (f->n_rows + 1) * sizeof(*order)))
		return -ENOMEM;
	to = (struct value *)f->values.at + f->n_rows * n;
	memcpy(to, f->row, n * sizeof(*to));
	for (u32 i = 0; i < n; i++)
		if (to[i].kind == VALUE_TEXT && to[i].n) {
			char *text = scratch_alloc(&f->texts, to[i].n);

			if (!text)
				return -ENOMEM;
			memcpy(text, to[i].text, to[i].n);
			to[i].text = text;
		}
	order = (struct row_order *)f->order.at + f->n_rows;
	*order = (struct row_order){ time_of(f), f->n_rows };
	f->n_rows++;
	return 0;
}

static int load_all(struct row_file *f)
{
	int got;

	while ((got = file_rows_next(f->rows, f->row)) > 0) {
		got = keep_row(f);
		if (got)
			break;
	}
	file_rows_close(f->rows);
	f->rows = NULL;
	if (got == 0 && f->n_rows)
		qsort(f->order.at, f->n_rows, sizeof(struct row_order), compare_order);
	return got;
}

struct row_file *row_file_open(const struct file *file, struct arena *arena, struct diags *diags)
{
	struct row_file *f = arena_new(arena, struct row_file);

	f->file = file;
	f->diags = diags;
	f->row = arena_array(arena, struct value, MAX(file->schema.n_columns, 1u));
	f->rows = file_rows_open(file, diags);
	if (!f->rows)
		return NULL;
	if (file->is_ordered || load_all(f) == 0)
		return f;
	row_file_close(f);
	return NULL;
}

static int read_next(struct row_file *f)
{
	const struct row_order *order = f->order.at;
	u32 n = f->file->schema.n_columns;
	int got;

	if (f->rows) {
		got = file_rows_next(f->rows, f->row);
		f->time_ns = got > 0 ? time_of(f) : 0;
		return got;
	}
	if (f->position == f->n_rows)
		return 0;
	memcpy(f->row, (struct value *)f->values.at + order[f->position].number * n,
	       n * sizeof(*f->row));
	f->time_ns = order[f->position].time_ns;
	return 1;
}

int row_file_peek(struct row_file *f, const struct value **ret_row, u64 *ret_time_ns)
{
	int got;

	if (!f->has_row) {
		if (f->is_over || f->err)
			return f->err;
		got = read_next(f);
		f->is_over = got == 0;
		f->err = MIN(got, 0);
		if (got <= 0)
			return got;
		f->has_row = true;
	}
	*ret_row = f->row;
	*ret_time_ns = f->time_ns;
	return 1;
}

void row_file_next(struct row_file *f)
{
	f->has_row = false;
	f->position++;
}

void row_file_close(struct row_file *f)
{
	if (!f)
		return;
	if (f->rows)
		file_rows_close(f->rows);
	region_free(&f->values);
	region_free(&f->order);
	scratch_free(&f->texts);
	f->rows = NULL;
}
