/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Top lists -> lines of a table's cell, and JSON.  What is not listed stands behind the
 * list: "(other)", with the bounds of its weight.
 */
#include "out/format.h"

u32 out_n_top_lines(const struct top *top)
{
	s128 lo, hi;

	return top->n_rows + top_others(top, &lo, &hi);
}

static u32 put_name(struct buf *buf, struct type type, const struct top *top, u32 line)
{
	const struct value *value = &top->rows[line].value;
	size_t start = buf->n;

	if (line == top->n_rows)
		buf_puts(buf, "(other)");
	else if (value->kind == VALUE_TEXT)
		return out_put_visible(buf, value->text, value->n, 0);
	else
		out_put_measure(buf, type.of, value->integer, OUT_DIGITS_EXACT, OUT_NEAREST);
	return (u32)(buf->n - start);
}

u32 out_put_top_line(struct buf *buf, struct type type, const struct top *top, u32 line)
{
	const struct top_row *row = &top->rows[line];
	u32 longest = 0, width;
	size_t start = buf->n, numbers;
	s128 lo, hi;

	for (u32 i = 0; i < out_n_top_lines(top); i++) {
		width = put_name(buf, type, top, i);
		longest = MAX(longest, width);
		buf->n = start;
	}
	width = put_name(buf, type, top, line);
	buf_fill(buf, ' ', longest - width + 2);
	numbers = buf->n;
	if (line < top->n_rows) {
		lo = row->weight - row->error;
		hi = row->weight;
	} else {
		top_others(top, &lo, &hi);
	}
	if (lo == hi) {
		out_put_integer(buf, lo);
		return longest + 2 + (u32)(buf->n - numbers);
	}
	buf_putc(buf, '[');
	out_put_integer(buf, lo);
	buf_puts(buf, ", ");
	out_put_integer(buf, hi);
	buf_putc(buf, ']');
	return longest + 2 + (u32)(buf->n - numbers);
}

static void put_bounds(struct buf *buf, s128 lo, s128 hi)
{
	buf_puts(buf, "\"lo\":");
	out_put_integer(buf, lo);
	buf_puts(buf, ",\"hi\":");
	out_put_integer(buf, hi);
}

void out_put_json_top(struct buf *buf, struct type type, const struct top *top)
{
	s128 lo, hi;

	buf_puts(buf, "{\"top\":[");
	for (u32 i = 0; i < top->n_rows; i++) {
		const struct top_row *row = &top->rows[i];

		buf_puts(buf, i ? ",{\"value\":" : "{\"value\":");
		out_put_json_value(buf, (struct type){ .kind = type.of }, &row->value);
		buf_putc(buf, ',');
		put_bounds(buf, row->weight - row->error, row->weight);
		buf_putc(buf, '}');
	}
	buf_puts(buf, "],\"other\":{");
	top_others(top, &lo, &hi);
	put_bounds(buf, lo, hi);
	buf_puts(buf, ",\"max\":");
	out_put_integer(buf, MIN(top->max_unlisted, hi));
	buf_puts(buf, "},\"total\":");
	out_put_integer(buf, top->total);
	buf_putc(buf, '}');
}
