/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Values of all types -> the lines of a table's cell, and JSON; and which column marks the
 * "(other)" rows.
 */
#include "out/format.h"

#include <math.h>

/* Numbers, texts and NULL have none. */
static const struct out_special *const specials[] = {
	[VALUE_QUANTILES] = &out_quantiles,
	[VALUE_HISTOGRAM] = &out_histogram,
	[VALUE_TOP] = &out_top,
	[VALUE_STACK] = &out_stack,
};

u32 out_n_lines(const struct value *value)
{
	const struct out_special *special = specials[value->kind];

	return special && special->n_lines ? MAX(special->n_lines(value), 1u) : 1;
}

static void put_timestamp(struct out *out, struct buf *buf, struct type type, s128 ns)
{
	s128 shown = ns + out_clock_offset(out, type);

	if (shown < 0 || shown > INT64_MAX)
		buf_put_s128(buf, ns);
	else
		out_put_time_of_day(buf, (u64)shown);
}

static void put_integer(struct out *out, struct buf *buf, struct type type, s128 value)
{
	if (type.kind == TYPE_DURATION)
		out_put_duration(buf, value);
	else if (type.kind == TYPE_TIMESTAMP)
		put_timestamp(out, buf, type, value);
	else if (type.kind == TYPE_POINTER)
		out_put_hex(buf, (u64)value);
	else if (type.kind == TYPE_BOOL)
		buf_puts(buf, value ? "true" : "false");
	else
		buf_put_s128(buf, value);
}

static void put_real(struct buf *buf, struct type type, double value)
{
	bool is_duration =
		type.kind == TYPE_DURATION || (type.kind == TYPE_REAL && type.of == TYPE_DURATION);

	if (is_duration && fabs(value) < 1e30)
		out_put_duration(buf, (s128)(value + (value < 0 ? -0.5 : 0.5)));
	else
		out_put_short_real(buf, value);
}

u32 out_put_cell(struct out *out, struct buf *buf, struct type type, const struct value *value,
		 u32 line, u32 max_width)
{
	const struct out_special *special = specials[value->kind];
	size_t start = buf->n;

	if (special)
		return special->n_lines && line < special->n_lines(value)
			       ? special->put_line(buf, type, value, line)
			       : 0;
	if (line > 0)
		return 0;
	if (value->kind == VALUE_NULL)
		buf_puts(buf, "NULL");
	else if (value->kind == VALUE_INT)
		put_integer(out, buf, type, value->integer);
	else if (value->kind == VALUE_REAL)
		put_real(buf, type, value->real);
	else if (type.kind == TYPE_BLOB)
		buf_put_hex_bytes(buf, value->text, value->n);
	else
		return out_put_visible(buf, value->text, value->n, max_width);
	return (u32)(buf->n - start);
}

void out_put_json_value(struct buf *buf, struct type type, const struct value *value)
{
	const struct out_special *special = specials[value->kind];

	if (special)
		special->put_json(buf, type, value);
	else
		out_put_json_scalar(buf, type, value);
}

static bool is_null_in_others(const struct batch *batch, u32 column)
{
	u32 n = batch->schema->n_columns;

	for (u64 row = (u64)batch->other_row; row < batch->n_rows; row++) {
		if (batch->values[row * n + column].kind != VALUE_NULL)
			return false;
	}
	return true;
}

u32 out_other_column(const struct batch *batch)
{
	u32 n = batch->schema->n_columns;

	for (u32 i = 0; batch->other_row >= 0 && i < n; i++) {
		if (batch->schema->columns[i].type.kind != TYPE_HISTOGRAM &&
		    is_null_in_others(batch, i))
			return i;
	}
	return n;
}
