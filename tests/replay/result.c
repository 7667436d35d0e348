/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Result sets: built row by row, sorted, compared by equality of every value
 * (integers exact, REAL bit by bit but for the sign of zero), printed.
 */
#include <stdlib.h>
#include <string.h>

#include "replay.h"

int value_compare(const struct value *a, const struct value *b)
{
	int c;

	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	switch (a->kind) {
	case VALUE_INT:
		return (a->integer > b->integer) - (a->integer < b->integer);
	case VALUE_REAL:
		return (a->real > b->real) - (a->real < b->real);
	case VALUE_TEXT:
		c = memcmp(a->text, b->text, MIN(a->n, b->n));
		return c ? c : (a->n > b->n) - (a->n < b->n);
	}
	return 0;
}

void value_print(const struct value *value, struct buf *out)
{
	switch (value->kind) {
	case VALUE_NULL:
		buf_puts(out, "NULL");
		break;
	case VALUE_INT:
		buf_put_s128(out, value->integer);
		break;
	case VALUE_REAL:
		buf_printf(out, "%.17g", value->real);
		break;
	default:
		buf_printf(out, "'%.*s'", (int)value->n, value->text);
	}
}

void result_add_row(struct result *result, struct arena *arena, const struct value *values)
{
	size_t old = (size_t)result->n_rows * result->n_columns * sizeof(*values);
	size_t row = result->n_columns * sizeof(*values);
	struct value *at;

	/* Room for a power of two of rows. */
	if ((result->n_rows & (result->n_rows - 1)) == 0)
		result->values = arena_grow(arena, result->values, old, MAX(2 * old, row));
	at = result->values + (size_t)result->n_rows * result->n_columns;
	memcpy(at, values, row);
	for (u32 i = 0; i < result->n_columns; i++)
		if (at[i].kind == VALUE_TEXT)
			at[i].text = arena_strndup(arena, at[i].text, at[i].n);
	result->n_rows++;
}

struct sort_row {
	const struct value *values;
	u32 n_columns;
	bool is_other;
};

static int compare_rows(const void *a, const void *b)
{
	const struct sort_row *x = a, *y = b;

	for (u32 i = 0; i < x->n_columns; i++) {
		int c = value_compare(&x->values[i], &y->values[i]);

		if (c)
			return c;
	}
	return x->is_other - y->is_other;
}

void result_sort(struct result *result)
{
	u32 n = result->n_columns;
	struct sort_row *rows = calloc(result->n_rows + 1, sizeof(*rows));
	struct value *copy = calloc((size_t)result->n_rows * n + 1, sizeof(*copy));
	s64 other = -1;

	BUG_ON(!rows || !copy);
	if (result->n_rows)
		memcpy(copy, result->values, (size_t)result->n_rows * n * sizeof(*copy));
	for (u32 i = 0; i < result->n_rows; i++)
		rows[i] = (struct sort_row){ copy + (size_t)i * n, n, i == result->other_row };
	qsort(rows, result->n_rows, sizeof(*rows), compare_rows);
	for (u32 i = 0; i < result->n_rows; i++) {
		memcpy(result->values + (size_t)i * n, rows[i].values, n * sizeof(*copy));
		if (rows[i].is_other)
			other = i;
	}
	result->other_row = other;
	free(rows);
	free(copy);
}

bool result_equal(const struct result *a, const struct result *b)
{
	if (a->n_columns != b->n_columns || a->n_rows != b->n_rows || a->other_row != b->other_row)
		return false;
	for (size_t i = 0; i < (size_t)a->n_rows * a->n_columns; i++)
		if (value_compare(&a->values[i], &b->values[i]))
			return false;
	return true;
}

void result_print(const struct result *result, struct buf *out)
{
	for (u32 i = 0; i < result->n_rows && i < 40; i++) {
		buf_puts(out, i == result->other_row ? "    (other) " : "    ");
		for (u32 j = 0; j < result->n_columns; j++) {
			if (j)
				buf_puts(out, " | ");
			value_print(&result->values[(size_t)i * result->n_columns + j], out);
		}
		buf_putc(out, '\n');
	}
	buf_printf(out, "    %u rows", result->n_rows);
	if (result->has_counters) {
		buf_printf(out, ", events %llu, matched %llu", (unsigned long long)result->events,
			   (unsigned long long)result->matched);
		for (u32 i = 0; i < LOSS_N; i++)
			if (result->lost[i])
				buf_printf(out, ", %s %llu", loss_names[i],
					   (unsigned long long)result->lost[i]);
	}
	buf_putc(out, '\n');
}
