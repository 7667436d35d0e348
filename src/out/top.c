/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Top lists -> lines of a table's cell, and JSON.  What is not listed stands behind the
 * list: "(other)", with the bounds of its weight.
 */
#include "out/format.h"

static u32 put_name(struct buf *buf, struct type type, const struct value *value)
{
	size_t start = buf->n;

	if (value->kind == VALUE_NULL)
		buf_puts(buf, OUT_OTHER);
	else if (value->kind == VALUE_TEXT)
		return out_put_visible(buf, value->text, value->n, 0);
	else
		out_put_measure(buf, type.of, value->integer, OUT_DIGITS_EXACT, OUT_NEAREST);
	return (u32)(buf->n - start);
}

/* "dd       [118, 120]"; "bash     12" where the weight is known. */
static u32 put_line(struct buf *buf, struct type type, const struct value *value, u32 line)
{
	struct scheme_edges edges = { .has_lo = true, .has_hi = true };
	size_t start = buf->n, numbers;
	u32 longest = 0, width;
	struct value row[3]; /* value, weight, error */

	for (u32 i = 0; i < special_n_rows(value); i++) {
		special_row(value, i, row);
		width = put_name(buf, type, &row[0]);
		longest = MAX(longest, width);
		buf->n = start;
	}
	special_row(value, line, row);
	width = put_name(buf, type, &row[0]);
	buf_fill(buf, ' ', longest - width + 2);
	numbers = buf->n;
	edges.lo = row[1].integer - row[2].integer;
	edges.hi = row[1].integer;
	out_put_interval(buf, TYPE_INT, &edges, OUT_DIGITS_EXACT, true);
	return longest + 2 + (u32)(buf->n - numbers);
}

static void put_bounds(struct buf *buf, s128 lo, s128 hi)
{
	buf_puts(buf, "\"lo\":");
	buf_put_s128(buf, lo);
	buf_puts(buf, ",\"hi\":");
	buf_put_s128(buf, hi);
}

/*
 * {"top":[{"value":"dd","lo":118,"hi":120},...],"other":{"lo":3,"hi":9,"max":2},"total":141}:
 * other: all values that are not listed, together; max: no one of them weighs more.
 */
static void put_json(struct buf *buf, struct type type, const struct value *value)
{
	const struct top *top = value->top;
	s128 lo, hi;

	buf_puts(buf, "{\"top\":[");
	for (u32 i = 0; i < top->n_rows; i++) {
		const struct top_row *row = &top->rows[i];

		buf_puts(buf, i ? ",{\"value\":" : "{\"value\":");
		out_put_json_scalar(buf, (struct type){ .kind = type.of }, &row->value);
		buf_putc(buf, ',');
		put_bounds(buf, row->weight - row->error, row->weight);
		buf_putc(buf, '}');
	}
	buf_puts(buf, "],\"other\":{");
	top_others(top, &lo, &hi);
	put_bounds(buf, lo, hi);
	buf_puts(buf, ",\"max\":");
	buf_put_s128(buf, MIN(top->max_unlisted, hi));
	buf_puts(buf, "},\"total\":");
	buf_put_s128(buf, top->total);
	buf_putc(buf, '}');
}

const struct out_special out_top = { special_n_rows, put_line, put_json };
