/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Batches -> aligned columns for people: durations and instants in human units,
 * numbers right, text left, one line above each window that says what it saw and
 * one below when something was lost.  A pipe gets the same text, never cut and
 * without colour.
 */
#include "out/format.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define GAP		 "  "
#define GAP_COLUMNS	 2
#define TEXT_MIN_COLUMNS 8 /* text is not cut below this to fit a terminal */

struct table_column {
	u32 width;
	bool is_right;
	bool is_text; /* may be cut */
};

struct table_state {
	const struct schema *schema;
	struct table_column *columns;
	u32 n_histograms; /* columns of them: then each row is a block */
	struct buf cell;
	bool has_output;
	bool has_header;    /* streamed rows: printed once */
	struct out_run run; /* of streamed rows */
};

static const char *const loss_phrases[LOSS_N] = {
	[LOSS_MISSED] = "events for which the kernel skipped the program",
	[LOSS_TABLE_FULL] = "events summed in \"(other)\"; raise max_groups",
	[LOSS_RING_FULL] = "rows that found no room; raise ring_bytes or filter more",
	[LOSS_EVICTED] = "starts that gave their room to newer ones",
	[LOSS_UNPAIRED] = "events without a partner",
	[LOSS_NEGATIVE] = ("negative values or differences, left out; "
			   "linear() and bounds() take them"),
	[LOSS_FAULT] = "values that became NULL: failed read, division by zero, overflow",
};

static int table_begin(struct out *out, const struct schema *schema)
{
	struct table_state *state = calloc(1, sizeof(*state));

	if (!state)
		return -ENOMEM;
	state->schema = schema;
	state->columns = calloc(schema->n_columns + 1, sizeof(*state->columns));
	if (!state->columns) {
		free(state);
		return -ENOMEM;
	}
	buf_init(&state->cell);
	for (u32 i = 0; i < schema->n_columns; i++) {
		const struct column *from = &schema->columns[i];
		struct table_column *column = &state->columns[i];

		if (from->type.kind == TYPE_HISTOGRAM)
			state->n_histograms++;
		column->is_text = from->type.kind == TYPE_TEXT || from->type.kind == TYPE_BLOB;
		column->is_right = !column->is_text && from->type.kind != TYPE_BOOL &&
				   from->type.kind != TYPE_TIMESTAMP &&
				   from->type.kind != TYPE_QUANTILE &&
				   from->type.kind != TYPE_LADDER && from->type.kind != TYPE_TOP;
	}
	out->state = state;
	return 0;
}

/* --- Cells --- */

static void put_timestamp(struct out *out, struct type type, s128 ns)
{
	s128 shown = ns + out_clock_offset(out, type);

	if (shown < 0 || shown > INT64_MAX)
		out_put_integer(&((struct table_state *)out->state)->cell, ns);
	else
		out_put_time_of_day(&((struct table_state *)out->state)->cell, (u64)shown);
}

static void put_integer(struct out *out, u32 i, s128 value)
{
	struct table_state *state = out->state;
	struct buf *cell = &state->cell;

	switch ((enum type_kind)state->schema->columns[i].type.kind) {
	case TYPE_DURATION:
		out_put_duration(cell, value);
		break;
	case TYPE_TIMESTAMP:
		put_timestamp(out, state->schema->columns[i].type, value);
		break;
	case TYPE_POINTER:
		out_put_hex(cell, (u64)value);
		break;
	case TYPE_BOOL:
		buf_puts(cell, value ? "true" : "false");
		break;
	case TYPE_NULL:
	case TYPE_INT:
	case TYPE_TEXT:
	case TYPE_BLOB:
	case TYPE_REAL:
	case TYPE_HISTOGRAM:
	case TYPE_QUANTILE:
	case TYPE_LADDER:
	case TYPE_TOP:
		out_put_integer(cell, value);
	}
}

static void put_quantiles(struct buf *cell, struct type type, const struct value *value, u32 line)
{
	if (type.kind == TYPE_LADDER)
		out_put_ladder_line(cell, type, value->quantiles, value->n, line);
	else if (value->n > 0)
		out_put_quantile(cell, type, value->quantiles);
}

/* Lines a value takes: a ladder has one for each rung, a top list one for each value. */
static u32 n_lines(const struct value *value)
{
	if (value->kind == VALUE_TOP)
		return MAX(out_n_top_lines(value->top), 1u);
	return value->kind == VALUE_QUANTILES ? MAX(value->n, 1u) : 1;
}

/*
 * One line of a cell's text into state->cell, cut to max_width (0: whole); returns its
 * width.  Beyond a value's own lines there is nothing.
 */
static u32 put_cell(struct out *out, u32 i, const struct value *value, bool is_other, u32 max_width,
		    u32 line)
{
	struct table_state *state = out->state;
	struct buf *cell = &state->cell;
	bool is_duration = state->schema->columns[i].type.kind == TYPE_DURATION;

	buf_reset(cell);
	if (line >= n_lines(value))
		return 0;
	switch ((enum value_kind)value->kind) {
	case VALUE_NULL:
		buf_puts(cell, is_other ? "(other)" : "NULL");
		break;
	case VALUE_INT:
		put_integer(out, i, value->integer);
		break;
	case VALUE_REAL:
		if (is_duration && fabs(value->real) < 1e30)
			out_put_duration(cell,
					 (s128)(value->real + (value->real < 0 ? -0.5 : 0.5)));
		else
			out_put_short_real(cell, value->real);
		break;
	case VALUE_TEXT:
		if (state->schema->columns[i].type.kind != TYPE_BLOB)
			return out_put_visible(cell, value->text, value->n, max_width);
		out_put_hex_bytes(cell, value->text, value->n);
		break;
	case VALUE_QUANTILES:
		put_quantiles(cell, state->schema->columns[i].type, value, line);
		break;
	case VALUE_TOP:
		if (line < out_n_top_lines(value->top))
			return out_put_top_line(cell, state->schema->columns[i].type, value->top,
						line);
		break;
	case VALUE_HISTOGRAM:
		break; /* a chart of its own: put_blocks() */
	}
	return (u32)cell->n;
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

/*
 * In the "(other)" rows the keys are NULL: the first of them carries the mark.
 * Returns n_columns when none is shown; the mark then stands behind the rows.
 */
static u32 other_column(const struct batch *batch)
{
	u32 n = batch->schema->n_columns;

	for (u32 i = 0; batch->other_row >= 0 && i < n; i++) {
		if (batch->schema->columns[i].type.kind != TYPE_HISTOGRAM &&
		    is_null_in_others(batch, i))
			return i;
	}
	return n;
}

const struct buf *out_table_cell(struct out *out, const struct batch *batch, u32 row, u32 i,
				 u32 line)
{
	struct table_state *state = out->state;
	const struct value *value = &batch->values[(u64)row * state->schema->n_columns + i];

	if (line >= n_lines(value))
		return NULL;
	put_cell(out, i, value, out_is_other(batch, row) && i == other_column(batch), 0, line);
	return &state->cell;
}

/* --- Widths --- */

/* Streamed rows keep the widths of the first batch: room for what the type usually holds. */
static u32 usual_width(struct type type)
{
	switch ((enum type_kind)type.kind) {
	case TYPE_DURATION:
		return 7;
	case TYPE_TIMESTAMP:
		return 15;
	case TYPE_POINTER:
		return 18;
	case TYPE_TEXT:
		return MIN(type.bytes, 16u);
	case TYPE_INT:
		return type.bits <= 8 ? 3 : type.bits <= 16 ? 5 : 7;
	case TYPE_NULL:
	case TYPE_BOOL:
	case TYPE_BLOB:
	case TYPE_REAL:
	case TYPE_HISTOGRAM:
	case TYPE_QUANTILE:
	case TYPE_LADDER:
	case TYPE_TOP:
		break;
	}
	return 5;
}

static void shrink_to_terminal(struct out *out)
{
	struct table_state *state = out->state;
	u32 n = state->schema->n_columns;
	u32 total = n > 0 ? (n - 1) * GAP_COLUMNS : 0;

	for (u32 i = 0; i < n; i++)
		total += state->columns[i].width;
	while (total > out->options.width) {
		struct table_column *widest = NULL;

		for (u32 i = 0; i < n; i++) {
			struct table_column *column = &state->columns[i];

			if (column->is_text && column->width > TEXT_MIN_COLUMNS &&
			    (!widest || column->width > widest->width))
				widest = column;
		}
		if (!widest)
			return;
		widest->width--;
		total--;
	}
}

static void set_widths(struct out *out, const struct batch *batch)
{
	struct table_state *state = out->state;
	const struct value *value = batch->values;
	u32 n = state->schema->n_columns;
	u32 other = other_column(batch);

	for (u32 i = 0; i < n; i++) {
		const struct column *column = &state->schema->columns[i];

		buf_reset(&state->cell);
		state->columns[i].width =
			out_put_visible(&state->cell, column->name, strlen(column->name), 0);
		if (out->options.is_streaming)
			state->columns[i].width =
				MAX(state->columns[i].width, usual_width(column->type));
	}
	for (u32 row = 0; row < batch->n_rows; row++) {
		for (u32 i = 0; i < n; i++, value++) {
			bool is_other = out_is_other(batch, row) && i == other;

			for (u32 line = 0; line < n_lines(value); line++) {
				u32 width = put_cell(out, i, value, is_other, 0, line);

				state->columns[i].width = MAX(state->columns[i].width, width);
			}
		}
	}
	if (out->options.is_terminal && out->options.width > 0)
		shrink_to_terminal(out);
}

/* --- Lines --- */

/* state->cell, which is `width` columns wide, as column i of the line. */
static void put_padded(struct out *out, u32 i, u32 width)
{
	struct table_state *state = out->state;
	const struct table_column *column = &state->columns[i];
	u32 pad = column->width > width ? column->width - width : 0;

	if (i > 0)
		buf_puts(&out->buf, GAP);
	if (column->is_right)
		buf_fill(&out->buf, ' ', pad);
	buf_put(&out->buf, state->cell.at, state->cell.n);
	if (!column->is_right && i + 1 < state->schema->n_columns)
		buf_fill(&out->buf, ' ', pad);
}

static void put_header(struct out *out)
{
	struct table_state *state = out->state;

	if (out->has_escapes)
		buf_puts(&out->buf, "\x1b[1m");
	for (u32 i = 0; i < state->schema->n_columns; i++) {
		const char *name = state->schema->columns[i].name;

		buf_reset(&state->cell);
		put_padded(
			out, i,
			out_put_visible(&state->cell, name, strlen(name), state->columns[i].width));
	}
	if (out->has_escapes)
		buf_puts(&out->buf, "\x1b[0m");
	buf_putc(&out->buf, '\n');
}

static bool put_rows(struct out *out, const struct batch *batch)
{
	struct table_state *state = out->state;
	const struct value *value = batch->values;
	bool is_cut = out->options.is_terminal && out->options.width > 0;
	u32 other = other_column(batch);
	u32 n = state->schema->n_columns;

	for (u32 row = 0; row < batch->n_rows; row++) {
		bool is_other = out_is_other(batch, row);

		u32 lines = 1;

		for (u32 i = 0; i < n; i++)
			lines = MAX(lines, n_lines(&value[i]));
		for (u32 line = 0; line < lines; line++) {
			for (u32 i = 0; i < n; i++)
				put_padded(out, i,
					   put_cell(out, i, &value[i], is_other && i == other,
						    is_cut ? state->columns[i].width : 0, line));
			/* Below a ladder's first line most columns are empty. */
			while (line > 0 && out->buf.at[out->buf.n - 1] == ' ')
				out->buf.n--;
			if (line == 0 && is_other && other == n)
				buf_puts(&out->buf, GAP "(other)");
			buf_putc(&out->buf, '\n');
		}
		value += n;
		if (!out_row_done(out))
			return false;
	}
	return true;
}

/* --- Histograms --- */

/* Columns that are left for a value behind its name; 0: as many as it wants. */
static u32 text_room(const struct out *out, const struct out_flow *flow, u32 name_columns)
{
	if (!out->options.is_terminal || out->options.width == 0)
		return 0;
	return MAX(MAX(flow->limit, name_columns + 1) - name_columns - 1, TEXT_MIN_COLUMNS);
}

/* "pid 12" in the flow; a ladder stands on lines of its own, one a rung. */
static void put_block_item(struct out *out, struct out_flow *flow, u32 i, const struct value *value,
			   bool is_marked)
{
	struct table_state *state = out->state;
	const char *name = state->schema->columns[i].name;
	u32 lines = n_lines(value), name_columns, columns;

	buf_reset(&out->scratch);
	name_columns = out_put_visible(&out->scratch, name, strlen(name), 0);
	columns = put_cell(out, i, value, is_marked, text_room(out, flow, name_columns), 0);
	if (lines > 1)
		flow->column = flow->column > 0 ? flow->limit : 0;
	out_flow_next(out, flow, name_columns + 1 + columns);
	buf_put(&out->buf, out->scratch.at, out->scratch.n);
	buf_putc(&out->buf, ' ');
	buf_put(&out->buf, state->cell.at, state->cell.n);
	for (u32 line = 1; line < lines; line++) {
		put_cell(out, i, value, is_marked, 0, line);
		buf_putc(&out->buf, '\n');
		buf_fill(&out->buf, ' ', name_columns + 1);
		buf_put(&out->buf, state->cell.at, state->cell.n);
		flow->column = flow->limit;
	}
}

/* "pid 12  comm dd  count(*) 500": what is no histogram. */
static void put_block_header(struct out *out, const struct value *values, bool is_other, u32 other)
{
	struct table_state *state = out->state;
	u32 n = state->schema->n_columns;
	struct out_flow flow;

	out_flow_init(&flow, out);
	if (out->has_escapes)
		buf_puts(&out->buf, "\x1b[1m");
	for (u32 i = 0; i < n; i++) {
		if (state->schema->columns[i].type.kind != TYPE_HISTOGRAM)
			put_block_item(out, &flow, i, &values[i], is_other && i == other);
	}
	if (is_other && other == n)
		out_flow_put(out, &flow, "(other)", 7);
	if (out->has_escapes)
		buf_puts(&out->buf, "\x1b[0m");
	buf_putc(&out->buf, '\n');
}

/*
 * A lone histogram needs a title only where somebody gave it one: without AS its name is
 * the call as it was written.
 */
static bool has_title(const struct table_state *state, const char *name)
{
	static const char call[] = "histogram";

	if (state->n_histograms > 1 || strncasecmp(name, call, sizeof(call) - 1) != 0)
		return true;
	name += sizeof(call) - 1;
	return name[strspn(name, " \t\n")] != '(';
}

static void put_charts(struct out *out, const struct value *values)
{
	struct table_state *state = out->state;

	for (u32 i = 0; i < state->schema->n_columns; i++) {
		const struct column *column = &state->schema->columns[i];

		if (column->type.kind != TYPE_HISTOGRAM)
			continue;
		if (has_title(state, column->name)) {
			out_put_visible(&out->buf, column->name, strlen(column->name), 0);
			buf_putc(&out->buf, '\n');
		}
		if (values[i].kind == VALUE_HISTOGRAM)
			out_put_chart(out, column->type.of, values[i].histogram);
		else
			buf_puts(&out->buf, "NULL\n");
	}
}

/* One block a row: its other columns, then its histograms. */
static bool put_blocks(struct out *out, const struct batch *batch)
{
	struct table_state *state = out->state;
	u32 n = state->schema->n_columns, other = other_column(batch);

	for (u32 row = 0; row < batch->n_rows; row++) {
		const struct value *values = &batch->values[(u64)row * n];
		bool is_other = out_is_other(batch, row);

		if (row > 0)
			buf_putc(&out->buf, '\n');
		if (state->n_histograms < n || is_other)
			put_block_header(out, values, is_other, other);
		put_charts(out, values);
		if (!out_row_done(out))
			return false;
	}
	return true;
}

void out_put_instant(struct buf *buf, u64 realtime_ns, bool is_short)
{
	out_put_time_of_day(buf, realtime_ns);
	if (!is_short)
		buf->n -= 3;
}

bool out_is_short(u64 start_ns, u64 end_ns)
{
	return end_ns - start_ns < 10000000;
}

void out_put_window(struct buf *buf, const struct batch *batch)
{
	bool is_short = out_is_short(batch->window_start_ns, batch->window_end_ns);

	out_put_instant(buf, batch->window_start_ns, is_short);
	buf_puts(buf, " - ");
	out_put_instant(buf, batch->window_end_ns, is_short);
}

void out_put_window_line(struct out *out, const struct batch *batch)
{
	struct buf *buf = &out->buf;

	out_put_window(buf, batch);
	buf_puts(buf, "   events ");
	out_put_thousands(buf, batch->account.events);
	buf_puts(buf, "  matched ");
	out_put_thousands(buf, batch->account.matched);
	buf_putc(buf, '\n');
}

/* "5 never started, 7 overwritten", or the phrase where no kind is known. */
static void put_unpaired(struct buf *buf, const struct batch *batch)
{
	const char *between = "";

	for (u32 i = 0; i < UNPAIRED_N; i++) {
		if (batch->account.unpaired[i] == 0)
			continue;
		buf_puts(buf, between);
		out_put_thousands(buf, batch->account.unpaired[i]);
		buf_putc(buf, ' ');
		for (const char *at = unpaired_names[i]; *at; at++)
			buf_putc(buf, *at == '_' ? ' ' : *at);
		between = ", ";
	}
	if (!*between)
		buf_puts(buf, loss_phrases[LOSS_UNPAIRED]);
}

static const char *loss_phrase(enum loss loss, const struct batch *batch)
{
	/* No row "(other)" to see: not shown by this output, or not what happened. */
	if (loss == LOSS_TABLE_FULL && batch->other_row < 0)
		return "events summed in \"(other)\", or values without room for their running sum "
		       "or histogram; raise max_groups";
	return loss_phrases[loss];
}

void out_put_loss(struct buf *buf, const struct batch *batch)
{
	const char *between = "lost: ";

	for (u32 i = 0; i < LOSS_N; i++) {
		if (batch->account.lost[i] == 0)
			continue;
		buf_puts(buf, between);
		buf_puts(buf, loss_names[i]);
		buf_putc(buf, ' ');
		out_put_thousands(buf, batch->account.lost[i]);
		buf_puts(buf, " (");
		if (i == LOSS_UNPAIRED)
			put_unpaired(buf, batch);
		else
			buf_puts(buf, loss_phrase(i, batch));
		buf_putc(buf, ')');
		between = ", ";
	}
}

void out_put_loss_line(struct out *out, const struct batch *batch)
{
	out_put_loss(&out->buf, batch);
	if (account_has_loss(&batch->account))
		buf_putc(&out->buf, '\n');
}

static void put_streamed(struct out *out, const struct batch *batch)
{
	struct table_state *state = out->state;

	if (!state->has_header && (batch->n_rows > 0 || batch->is_last)) {
		set_widths(out, batch);
		put_header(out);
		state->has_header = true;
	}
	if (put_rows(out, batch) && out_run_add(&state->run, batch))
		out_put_loss_line(out, &state->run.last);
}

static void table_batch(struct out *out, const struct batch *batch)
{
	struct table_state *state = out->state;

	if (out->options.is_streaming) {
		put_streamed(out, batch);
		return;
	}
	if (state->has_output)
		buf_putc(&out->buf, '\n');
	state->has_output = true;
	out_put_window_line(out, batch);
	if (batch->n_rows > 0 && state->n_histograms > 0) {
		if (!put_blocks(out, batch))
			return;
	} else if (batch->n_rows > 0) {
		set_widths(out, batch);
		put_header(out);
		if (!put_rows(out, batch))
			return;
	} else {
		buf_puts(&out->buf, "(no rows)\n");
	}
	out_put_loss_line(out, batch);
}

static void table_end(struct out *out)
{
	struct table_state *state = out->state;

	if (out->options.is_streaming && !state->run.is_closed)
		out_put_loss_line(out, &state->run.last);
	buf_free(&state->cell);
	free(state->columns);
	free(state);
}

const struct out_format out_table = {
	.name = "table",
	.meaning = "aligned columns with human units (the default)",
	.begin = table_begin,
	.batch = table_batch,
	.end = table_end,
};
