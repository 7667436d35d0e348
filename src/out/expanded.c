/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Batches -> one line a column, a block a row, for rows that are wider than the
 * terminal.  Values look as in the table, and none is ever cut.
 */
#include "out/format.h"

#include <string.h>

#define RULE_COLUMNS 30u

struct expanded_state {
	const struct schema *schema;
	u32 name_width;
	u32 other;  /* out_other_column() of the batch */
	u64 n_rows; /* of this window; streamed: of the run */
	bool has_output;
};

static int expanded_begin(struct out *out, const struct schema *schema)
{
	struct expanded_state *state = out->state;

	state->schema = schema;
	for (u32 i = 0; i < schema->n_columns; i++) {
		const char *name = schema->columns[i].name;

		buf_reset(&out->scratch);
		state->name_width = MAX(state->name_width,
					out_put_visible(&out->scratch, name, strlen(name), 0));
	}
	return 0;
}

/* "-[ row 1 ]-------------------" */
static void put_rule(struct out *out, bool is_other)
{
	struct expanded_state *state = out->state;
	size_t start, n;

	out_put_bold(out, true);
	start = out->buf.n;
	buf_puts(&out->buf, "-[ row ");
	buf_put_u64(&out->buf, ++state->n_rows);
	buf_puts(&out->buf, is_other ? ", (other) ]" : " ]");
	n = out->buf.n - start;
	buf_fill(&out->buf, '-', n < RULE_COLUMNS ? RULE_COLUMNS - n : 1);
	out_put_bold(out, false);
	buf_putc(&out->buf, '\n');
}

/* "name | value", and below it the value's other lines. */
static void put_column(struct out *out, const struct value *value, u32 i, bool is_marked)
{
	struct expanded_state *state = out->state;
	const struct column *column = &state->schema->columns[i];

	for (u32 line = 0; line < out_n_lines(value); line++) {
		u32 width =
			line ? 0
			     : out_put_visible(&out->buf, column->name, strlen(column->name), 0);

		buf_reset(&out->scratch);
		if (is_marked)
			buf_puts(&out->scratch, OUT_OTHER);
		else
			out_put_cell(out, &out->scratch, column->type, value, line, 0);
		buf_fill(&out->buf, ' ', state->name_width - width);
		buf_puts(&out->buf, out->scratch.n ? " | " : " |");
		buf_put(&out->buf, out->scratch.at, out->scratch.n);
		buf_putc(&out->buf, '\n');
	}
}

static void expanded_batch(struct out *out, const struct batch *batch)
{
	struct expanded_state *state = out->state;

	state->other = out_other_column(batch);
	if (out->options.is_streaming)
		return;
	state->n_rows = 0;
	out_put_window_head(out, batch, &state->has_output);
}

static void expanded_row(struct out *out, const struct batch *batch, u32 row)
{
	struct expanded_state *state = out->state;
	u32 n = state->schema->n_columns;
	const struct value *values = &batch->values[(u64)row * n];
	bool is_other = out_is_other(batch, row);

	put_rule(out, is_other);
	for (u32 i = 0; i < n; i++) {
		put_column(out, &values[i], i, is_other && i == state->other);
		if (values[i].kind == VALUE_HISTOGRAM)
			out_put_chart(out, state->schema->columns[i].type.of, values[i].histogram);
	}
}

const struct out_format out_expanded = {
	.name = "expanded",
	.meaning = "one line a column, for wide rows",
	.state_bytes = sizeof(struct expanded_state),
	.begin = expanded_begin,
	.batch = expanded_batch,
	.row = expanded_row,
	.account = out_put_notes,
};
