/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Batches -> one line a column, a block a row, for rows that are wider than the
 * terminal.  Values look as in the table, and none is ever cut.
 */
#include "out/format.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define RULE_COLUMNS 30u

struct expanded_state {
	void *table; /* the table's own state: its cells are ours */
	const struct schema *schema;
	u32 name_width;
	u64 n_rows; /* of this window; streamed: of the run */
	bool has_output;
	struct out_run run;
};

static int expanded_begin(struct out *out, const struct schema *schema)
{
	struct expanded_state *state = calloc(1, sizeof(*state));

	if (!state || out_table.begin(out, schema)) {
		free(state);
		return -ENOMEM;
	}
	state->table = out->state;
	state->schema = schema;
	for (u32 i = 0; i < schema->n_columns; i++) {
		const char *name = schema->columns[i].name;

		buf_reset(&out->scratch);
		state->name_width = MAX(state->name_width,
					out_put_visible(&out->scratch, name, strlen(name), 0));
	}
	out->state = state;
	return 0;
}

/* "-[ row 1 ]-------------------" */
static void put_rule(struct out *out, bool is_other)
{
	struct expanded_state *state = out->state;
	size_t start, n;

	if (out->has_escapes)
		buf_puts(&out->buf, "\x1b[1m");
	start = out->buf.n;
	buf_puts(&out->buf, "-[ row ");
	buf_put_u64(&out->buf, ++state->n_rows);
	buf_puts(&out->buf, is_other ? ", (other) ]" : " ]");
	n = out->buf.n - start;
	buf_fill(&out->buf, '-', n < RULE_COLUMNS ? RULE_COLUMNS - n : 1);
	if (out->has_escapes)
		buf_puts(&out->buf, "\x1b[0m");
	buf_putc(&out->buf, '\n');
}

static const struct buf *cell(struct out *out, const struct batch *batch, u32 row, u32 i, u32 line)
{
	struct expanded_state *state = out->state;
	const struct buf *text;

	out->state = state->table;
	text = out_table_cell(out, batch, row, i, line);
	out->state = state;
	return text;
}

/* "name | value", and below it the value's other lines. */
static void put_column(struct out *out, const struct batch *batch, u32 row, u32 i)
{
	struct expanded_state *state = out->state;
	const char *name = state->schema->columns[i].name;
	const struct buf *text;

	for (u32 line = 0; (text = cell(out, batch, row, i, line)); line++) {
		u32 width = line ? 0 : out_put_visible(&out->buf, name, strlen(name), 0);

		buf_fill(&out->buf, ' ', state->name_width - width);
		buf_puts(&out->buf, text->n ? " | " : " |");
		buf_put(&out->buf, text->at, text->n);
		buf_putc(&out->buf, '\n');
	}
}

static bool put_row(struct out *out, const struct batch *batch, u32 row)
{
	struct expanded_state *state = out->state;
	const struct value *values = &batch->values[(u64)row * state->schema->n_columns];

	put_rule(out, out_is_other(batch, row));
	for (u32 i = 0; i < state->schema->n_columns; i++) {
		put_column(out, batch, row, i);
		if (values[i].kind == VALUE_HISTOGRAM)
			out_put_chart(out, state->schema->columns[i].type.of, values[i].histogram);
	}
	return out_row_done(out);
}

static void expanded_batch(struct out *out, const struct batch *batch)
{
	struct expanded_state *state = out->state;
	bool is_streaming = out->options.is_streaming;

	if (!is_streaming) {
		if (state->has_output)
			buf_putc(&out->buf, '\n');
		state->has_output = true;
		state->n_rows = 0;
		out_put_window_line(out, batch);
		if (batch->n_rows == 0)
			buf_puts(&out->buf, "(no rows)\n");
	}
	for (u32 row = 0; row < batch->n_rows; row++)
		if (!put_row(out, batch, row))
			return;
	if (!is_streaming)
		out_put_loss_line(out, batch);
	else if (out_run_add(&state->run, batch))
		out_put_loss_line(out, &state->run.last);
}

static void expanded_end(struct out *out)
{
	struct expanded_state *state = out->state;

	if (out->options.is_streaming && !state->run.is_closed)
		out_put_loss_line(out, &state->run.last);
	/* The table saw no batch, so at its end it writes the lines of losses only. */
	out->options.is_streaming = false;
	out->state = state->table;
	out_table.end(out);
	free(state);
}

const struct out_format out_expanded = {
	.name = "expanded",
	.meaning = "one line a column, for wide rows",
	.begin = expanded_begin,
	.batch = expanded_batch,
	.end = expanded_end,
};
