/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The columns of structured formats: a schema's, with a quantile's bounds, and names made unique
 * by suffixes.
 */
#include "out/format.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool out_selects_other(const struct schema *schema)
{
	for (u32 i = 0; i < schema->n_columns; i++)
		if (schema->columns[i].is_other)
			return true;
	return false;
}

bool out_has_column(const struct schema *schema, const char *name)
{
	for (u32 i = 0; i < schema->n_columns; i++) {
		if (strcmp(schema->columns[i].name, name) == 0)
			return true;
	}
	return false;
}

/* What is given already, and what stays for those whose own name it is. */
static bool is_taken(const struct out_columns *columns, const char *name, bool is_made,
		     bool is_other, const struct schema *schema, const char *const *reserved)
{
	for (; *reserved; reserved++)
		if (strcmp(*reserved, name) == 0 && !is_other)
			return true;
	for (u32 i = 0; i < columns->n; i++)
		if (columns->at[i].name && strcmp(columns->at[i].name, name) == 0)
			return true;
	return is_made && out_has_column(schema, name);
}

/* fd, fd_2, fd_3, ...: the first that is free.  NULL: no memory. */
static char *free_name(const struct out_columns *columns, const char *name, const char *end,
		       bool is_other, const struct schema *schema, const char *const *reserved)
{
	char *made;
	int n = asprintf(&made, "%s%s", name, end);

	for (u32 suffix = 2;
	     n >= 0 && is_taken(columns, made, *end || suffix > 2, is_other, schema, reserved);
	     suffix++) {
		free(made);
		n = asprintf(&made, "%s%s_%u", name, end, suffix);
	}
	return n < 0 ? NULL : made;
}

int out_columns_init(struct out_columns *columns, const struct schema *schema,
		     const char *const *reserved, bool keeps_other)
{
	static const char *const ends[] = { "", "_lo", "_hi" };

	*columns = (struct out_columns){ .at = calloc(ARRAY_SIZE(ends) * schema->n_columns + 1,
						      sizeof(*columns->at)) };
	if (!columns->at)
		return -ENOMEM;
	for (u32 i = 0; i < schema->n_columns; i++) {
		u32 n_parts = schema->columns[i].type.kind == TYPE_QUANTILE ? ARRAY_SIZE(ends) : 1;

		for (u32 part = 0; part < n_parts; part++)
			columns->at[columns->n++] =
				(struct out_column){ NULL, schema->columns[i].type, i, part };
	}
	/* The bounds' names come behind all others, so it is they that get a suffix. */
	for (u32 part = 0; part < ARRAY_SIZE(ends); part++) {
		for (u32 i = 0; i < columns->n; i++) {
			struct out_column *column = &columns->at[i];

			if (column->part != part)
				continue;
			column->name = free_name(
				columns,
				part ? column[-(int)part].name : schema->columns[column->from].name,
				ends[part], keeps_other && schema->columns[column->from].is_other,
				schema, reserved);
			if (!column->name) {
				out_columns_free(columns);
				return -ENOMEM;
			}
		}
	}
	return 0;
}

void out_columns_free(struct out_columns *columns)
{
	for (u32 i = 0; i < columns->n; i++)
		free(columns->at[i].name);
	free(columns->at);
	*columns = (struct out_columns){ 0 };
}

struct value out_column_value(const struct out *out, const struct out_column *column,
			      const struct value *row)
{
	const struct value *value = &row[column->from];
	bool is_hi = column->part == QUANTILE_HI;
	const struct quantile *q;

	if (column->type.kind == TYPE_TIMESTAMP && value->kind == VALUE_INT)
		return (struct value){ .kind = VALUE_INT,
				       .integer = value->integer +
						  out_clock_offset(out, column->type) };
	if (column->part == QUANTILE_WHOLE)
		return *value;
	q = value->kind == VALUE_QUANTILES ? value->quantiles : NULL;
	if (!q || !(is_hi ? q->has_hi : q->has_lo))
		return (struct value){ .kind = VALUE_NULL };
	return (struct value){ .kind = VALUE_INT, .integer = is_hi ? q->hi : q->lo };
}
