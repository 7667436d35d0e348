/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Stacks -> a line of a table's cell for each call, the innermost first, and a JSON array of the
 * same.
 */
#include "out/format.h"

#include <string.h>

static u32 n_lines(const struct value *value)
{
	return value->stack->n;
}

static u32 put_line(struct buf *buf, struct type type, const struct value *value, u32 line)
{
	char hex[STACK_HEX_BYTES];
	const char *name = stack_name(value->stack, line, hex);

	return out_put_visible(buf, name, strlen(name), 0);
}

static void put_json(struct buf *buf, struct type type, const struct value *value)
{
	char hex[STACK_HEX_BYTES];

	buf_putc(buf, '[');
	for (u32 i = 0; i < value->stack->n; i++) {
		const char *name = stack_name(value->stack, i, hex);

		buf_puts(buf, i ? "," : "");
		buf_put_json_string(buf, name, strlen(name));
	}
	buf_putc(buf, ']');
}

const struct out_special out_stack = { n_lines, put_line, put_json };
