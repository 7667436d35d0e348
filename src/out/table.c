/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Batches -> aligned columns for people: durations and instants in human units,
 * numbers right, text left, one line above each window that says what it saw and
 * one below when something was lost.  A pipe gets the same text, never cut and
 * without colour.
 */
#include "out/format.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define GAP		 "  "
#define GAP_COLUMNS	 2
#define TEXT_MIN_COLUMNS 8 /* text is not cut below this to fit a terminal */

struct table_column {
	u32 width, wanted; /* of a text that was made narrower */
	bool is_right;
	bool is_text; /* may be cut */
};

struct table_state {
	const struct schema *schema;
	struct table_column *columns;
	u32 n_histograms; /* columns of them: then each row is a block */
	u32 other;	  /* out_other_column() of the batch */
	bool has_output;
	bool has_header; /* streamed rows: printed once */
	/* Of the line: how much of the terminal it takes, and whether columns found no room. */
	u32 at;
	bool is_cut;
	bool is_rung;	/* it is the second of a row or a later one */
	u32 n_left_out; /* columns, of all lines since the last account */
};

static int table_begin(struct out *out, const struct schema *schema)
{
	struct table_state *state = out->state;

	state->schema = schema;
	state->columns = calloc(schema->n_columns + 1, sizeof(*state->columns));
	if (!state->columns)
		return -ENOMEM;
	for (u32 i = 0; i < schema->n_columns; i++) {
		const struct column *from = &schema->columns[i];
		struct table_column *column = &state->columns[i];

		if (from->type.kind == TYPE_HISTOGRAM)
			state->n_histograms++;
		column->is_text = from->type.kind == TYPE_TEXT || from->type.kind == TYPE_BLOB;
		column->is_right = !column->is_text && from->type.kind != TYPE_BOOL &&
				   from->type.kind != TYPE_TIMESTAMP &&
				   from->type.kind != TYPE_QUANTILE &&
				   from->type.kind != TYPE_LADDER && from->type.kind != TYPE_TOP &&
				   from->type.kind != TYPE_STACK;
	}
	return 0;
}

/* One line of a cell's text into out->scratch, cut to max_width (0: whole); returns its width. */
static u32 put_cell(struct out *out, const struct batch *batch, u32 row, u32 i, u32 line,
		    u32 max_width)
{
	struct table_state *state = out->state;

	buf_reset(&out->scratch);
	if (i == state->other && line == 0 && out_is_other(batch, row))
		return out_put_visible(&out->scratch, OUT_OTHER, strlen(OUT_OTHER), 0);
	return out_put_cell(out, &out->scratch, state->schema->columns[i].type,
			    &batch->values[(u64)row * state->schema->n_columns + i], line,
			    max_width);
}

/* --- Widths --- */

/* What stands for the columns that a line has no room for; as wide as any column is at least. */
#define LEFT_OUT	 GAP "…"
#define LEFT_OUT_COLUMNS (GAP_COLUMNS + 1)

/* Streamed rows keep the widths of the first batch: room for what the type usually holds. */
static u32 usual_width(struct type type)
{
	if (type.kind == TYPE_TEXT)
		return MIN(type.bytes, 16u);
	if (type.kind == TYPE_INT)
		return type.bits <= 8 ? 3 : type.bits <= 16 ? 5 : 7;
	return type.kind == TYPE_DURATION    ? 7
	       : type.kind == TYPE_TIMESTAMP ? 15
	       : type.kind == TYPE_POINTER   ? 18
					     : 5;
}

/* Columns that find no room leave what is behind the others to the texts among these. */
static void share_rest(struct out *out)
{
	struct table_state *state = out->state;
	u32 n = 0, at = 0, room = out_width(out) - MIN(out_width(out), LEFT_OUT_COLUMNS);

	for (; n < state->schema->n_columns; n++) {
		u32 width = state->columns[n].width + (n ? GAP_COLUMNS : 0);

		if (at + width > room)
			break;
		at += width;
	}
	for (u32 i = 0; i < n; i++) {
		struct table_column *column = &state->columns[i];
		u32 more = column->is_text ? MIN(column->wanted - column->width, room - at) : 0;

		column->width += more;
		at += more;
	}
}

static void shrink_to_terminal(struct out *out)
{
	struct table_state *state = out->state;
	u32 n = state->schema->n_columns;
	u32 total = n > 0 ? (n - 1) * GAP_COLUMNS : 0;

	for (u32 i = 0; i < n; i++)
		total += state->columns[i].wanted = state->columns[i].width;
	while (total > out->options.width) {
		struct table_column *widest = NULL;

		for (u32 i = 0; i < n; i++) {
			struct table_column *column = &state->columns[i];

			if (column->is_text && column->width > TEXT_MIN_COLUMNS &&
			    (!widest || column->width > widest->width))
				widest = column;
		}
		if (!widest) {
			share_rest(out);
			return;
		}
		widest->width--;
		total--;
	}
}

/* Of streamed rows a text at the end, as a command's arguments, has all that the line has left. */
static void widen_last(struct out *out)
{
	struct table_state *state = out->state;
	u32 n = state->schema->n_columns, total = 0;

	for (u32 i = 0; i < n; i++)
		total += state->columns[i].width + (i ? GAP_COLUMNS : 0);
	if (n && state->columns[n - 1].is_text && total < out_width(out))
		state->columns[n - 1].width += out_width(out) - total;
}

static void set_widths(struct out *out, const struct batch *batch)
{
	struct table_state *state = out->state;
	const struct value *value = batch->values;
	u32 n = state->schema->n_columns;

	for (u32 i = 0; i < n; i++) {
		const struct column *column = &state->schema->columns[i];

		buf_reset(&out->scratch);
		state->columns[i].width =
			out_put_visible(&out->scratch, column->name, strlen(column->name), 0);
		if (out->options.is_streaming)
			state->columns[i].width =
				MAX(state->columns[i].width, usual_width(column->type));
	}
	for (u32 row = 0; row < batch->n_rows; row++) {
		for (u32 i = 0; i < n; i++, value++) {
			for (u32 line = 0; line < out_n_lines(value); line++) {
				u32 width = put_cell(out, batch, row, i, line, 0);

				state->columns[i].width = MAX(state->columns[i].width, width);
			}
		}
	}
	if (out_width(out))
		shrink_to_terminal(out);
	if (out_width(out) && out->options.is_streaming)
		widen_last(out);
}

/* --- Lines --- */

/* Has the terminal room for `width` columns more, and a mark behind them where others follow? */
static bool has_room(struct out *out, u32 i, u32 width)
{
	struct table_state *state = out->state;
	u32 n = state->schema->n_columns;

	if (!i) {
		state->at = 0;
		state->is_cut = false;
	}
	if (state->is_cut)
		return false;
	state->at += width;
	if (!out_width(out) || state->at + (i + 1 < n ? LEFT_OUT_COLUMNS : 0) <= out_width(out))
		return true;
	state->is_cut = true;
	state->n_left_out = MAX(state->n_left_out, n - i);
	if (!state->is_rung)
		buf_puts(&out->buf, LEFT_OUT);
	return false;
}

/* out->scratch, which is `width` columns wide, as column i of the line. */
static void put_padded(struct out *out, u32 i, u32 width)
{
	struct table_state *state = out->state;
	const struct table_column *column = &state->columns[i];
	u32 pad = column->width > width ? column->width - width : 0;

	if (!has_room(out, i, (i ? GAP_COLUMNS : 0) + MAX(width, column->width)))
		return;
	if (i > 0)
		buf_puts(&out->buf, GAP);
	if (column->is_right)
		buf_fill(&out->buf, ' ', pad);
	buf_put(&out->buf, out->scratch.at, out->scratch.n);
	if (!column->is_right && i + 1 < state->schema->n_columns)
		buf_fill(&out->buf, ' ', pad);
}

static void put_header(struct out *out)
{
	struct table_state *state = out->state;

	out_put_bold(out, true);
	state->is_rung = false;
	for (u32 i = 0; i < state->schema->n_columns; i++) {
		const char *name = state->schema->columns[i].name;

		buf_reset(&out->scratch);
		put_padded(out, i,
			   out_put_visible(&out->scratch, name, strlen(name),
					   state->columns[i].width));
	}
	out_put_bold(out, false);
	buf_putc(&out->buf, '\n');
}

static void put_row(struct out *out, const struct batch *batch, u32 row)
{
	struct table_state *state = out->state;
	u32 n = state->schema->n_columns, lines = 1;
	const struct value *values = &batch->values[(u64)row * n];
	bool is_cut = out_width(out) > 0;

	for (u32 i = 0; i < n; i++)
		lines = MAX(lines, out_n_lines(&values[i]));
	for (u32 line = 0; line < lines; line++) {
		size_t start = out->buf.n;

		state->is_rung = line > 0;
		for (u32 i = 0; i < n; i++)
			put_padded(out, i,
				   put_cell(out, batch, row, i, line,
					    is_cut ? state->columns[i].width : 0));
		/* Below a ladder's first line most columns are empty. */
		while (line > 0 && out->buf.at[out->buf.n - 1] == ' ')
			out->buf.n--;
		if (line > 0 && out->buf.n == start)
			continue;
		if (line == 0 && state->other == n && out_is_other(batch, row))
			buf_puts(&out->buf, GAP OUT_OTHER);
		buf_putc(&out->buf, '\n');
	}
}

/* --- Histograms --- */

/* Columns that are left for a value behind its name; 0: as many as it wants. */
static u32 text_room(const struct out *out, const struct out_flow *flow, u32 name_columns)
{
	if (!out_width(out))
		return 0;
	return MAX(MAX(flow->limit, name_columns + 1) - name_columns - 1, TEXT_MIN_COLUMNS);
}

/* "pid 12" in the flow; a ladder stands on lines of its own, one a rung. */
static void put_block_item(struct out *out, struct out_flow *flow, const struct batch *batch,
			   u32 row, u32 i)
{
	struct table_state *state = out->state;
	u32 n = state->schema->n_columns, name_columns, columns;
	u32 lines = out_n_lines(&batch->values[(u64)row * n + i]);
	const char *name = state->schema->columns[i].name;

	buf_reset(&out->scratch);
	name_columns = out_put_visible(&out->scratch, name, strlen(name), 0);
	columns = put_cell(out, batch, row, i, 0, text_room(out, flow, name_columns));
	if (lines > 1)
		flow->column = flow->column > 0 ? flow->limit : 0;
	out_flow_next(out, flow, name_columns + 1 + columns);
	out_put_visible(&out->buf, name, strlen(name), 0);
	buf_putc(&out->buf, ' ');
	buf_put(&out->buf, out->scratch.at, out->scratch.n);
	for (u32 line = 1; line < lines; line++) {
		put_cell(out, batch, row, i, line, 0);
		buf_putc(&out->buf, '\n');
		buf_fill(&out->buf, ' ', name_columns + 1);
		buf_put(&out->buf, out->scratch.at, out->scratch.n);
		flow->column = flow->limit;
	}
}

/* "pid 12  comm dd  count(*) 500": what is no histogram. */
static void put_block_header(struct out *out, const struct batch *batch, u32 row)
{
	struct table_state *state = out->state;
	u32 n = state->schema->n_columns;
	struct out_flow flow;

	out_flow_init(&flow, out);
	out_put_bold(out, true);
	for (u32 i = 0; i < n; i++) {
		if (state->schema->columns[i].type.kind != TYPE_HISTOGRAM)
			put_block_item(out, &flow, batch, row, i);
	}
	if (state->other == n && out_is_other(batch, row))
		out_flow_put(out, &flow, OUT_OTHER, strlen(OUT_OTHER));
	out_put_bold(out, false);
	buf_putc(&out->buf, '\n');
}

static void put_charts(struct out *out, const struct value *values)
{
	struct table_state *state = out->state;

	for (u32 i = 0; i < state->schema->n_columns; i++) {
		const struct column *column = &state->schema->columns[i];

		if (column->type.kind != TYPE_HISTOGRAM)
			continue;
		/* A lone histogram needs a title only where somebody gave it one. */
		if (state->n_histograms > 1 || !column->is_unnamed) {
			out_put_visible(&out->buf, column->name, strlen(column->name), 0);
			buf_putc(&out->buf, '\n');
		}
		if (values[i].kind == VALUE_HISTOGRAM)
			out_put_chart(out, column->type.of, values[i].histogram);
		else
			buf_puts(&out->buf, "NULL\n");
	}
}

/* A row's other columns, then its histograms. */
static void put_block(struct out *out, const struct batch *batch, u32 row)
{
	struct table_state *state = out->state;
	u32 n = state->schema->n_columns;

	if (row > 0)
		buf_putc(&out->buf, '\n');
	if (state->n_histograms < n || out_is_other(batch, row))
		put_block_header(out, batch, row);
	put_charts(out, &batch->values[(u64)row * n]);
}

static void table_batch(struct out *out, const struct batch *batch)
{
	struct table_state *state = out->state;
	bool is_streaming = out->options.is_streaming;

	state->other = out_other_column(batch);
	if (!is_streaming)
		out_put_window_head(out, batch, &state->has_output);
	if (is_streaming ? state->has_header || !(batch->n_rows || batch->is_last)
			 : state->n_histograms || !batch->n_rows)
		return;
	set_widths(out, batch);
	put_header(out);
	state->has_header = true;
}

static void table_row(struct out *out, const struct batch *batch, u32 row)
{
	const struct table_state *state = out->state;

	if (state->n_histograms && !out->options.is_streaming)
		put_block(out, batch, row);
	else
		put_row(out, batch, row);
}

static void table_account(struct out *out, const struct batch *batch, u64 n_rows)
{
	struct table_state *state = out->state;

	if (state->n_left_out) {
		buf_puts(&out->buf, "(… ");
		out_put_thousands(&out->buf, state->n_left_out);
		buf_puts(&out->buf, state->n_left_out == 1 ? " column more: -o expanded)\n"
							   : " columns more: -o expanded)\n");
	}
	state->n_left_out = 0;
	out_put_notes(out, batch, n_rows);
}

static void table_end(struct out *out)
{
	struct table_state *state = out->state;

	free(state->columns);
}

const struct out_format out_table = {
	.name = "table",
	.meaning = "aligned columns with human units (the default)",
	.state_bytes = sizeof(struct table_state),
	.begin = table_begin,
	.batch = table_batch,
	.row = table_row,
	.account = table_account,
	.end = table_end,
};
