/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Batches -> one line a row, for those who watch a number or tail a file:
 * "14:03:07  comm cat  n 12".  What was lost stands at the end of a window's last line.
 */
#include "out/format.h"

#include <string.h>

#define GAP	 "  "
#define NS_PER_S 1000000000ull
/* A window of a second ends so long behind it at the most, if it is not late. */
#define ON_TIME_NS   10000000ull
#define HALF_S_NS    500000000ull
#define MILLI_DIGITS 4 /* ".512" */

struct line_state {
	const struct schema *schema;
	u32 other; /* out_other_column() of the batch */
};

static int line_begin(struct out *out, const struct schema *schema)
{
	((struct line_state *)out->state)->schema = schema;
	return 0;
}

/* To the second where the window is one of whole seconds. */
static void put_time(struct out *out, const struct batch *batch)
{
	bool is_brief =
		!batch->is_partial && batch->window_end_ns - batch->window_start_ns < HALF_S_NS;

	out_put_instant(&out->buf, batch->window_end_ns, false);
	if (!is_brief && !out->options.is_streaming && batch->window_end_ns % NS_PER_S < ON_TIME_NS)
		out->buf.n -= MILLI_DIGITS;
	if (out->options.query) {
		buf_puts(&out->buf, GAP);
		out_put_visible(&out->buf, out->options.query, strlen(out->options.query), 0);
	}
}

/* A ladder's rungs, say, behind each other; what has no lines as JSON has it. */
static void put_value(struct out *out, struct type type, const struct value *value)
{
	if (value->kind == VALUE_HISTOGRAM) {
		out_put_json_value(&out->buf, type, value);
		return;
	}
	for (u32 line = 0; line < out_n_lines(value); line++) {
		buf_puts(&out->buf, line ? ", " : "");
		out_put_cell(out, &out->buf, type, value, line, 0);
	}
}

static void line_batch(struct out *out, const struct batch *batch)
{
	((struct line_state *)out->state)->other = out_other_column(batch);
}

/* The last one of a window is ended by line_account(). */
static void line_row(struct out *out, const struct batch *batch, u32 row)
{
	const struct line_state *state = out->state;
	u32 n = state->schema->n_columns;
	bool is_other = out_is_other(batch, row);
	bool has_time = !out->options.is_timeless;

	if (has_time)
		put_time(out, batch);
	for (u32 i = 0; i < n; i++) {
		const struct column *column = &state->schema->columns[i];

		if (has_time || i)
			buf_puts(&out->buf, GAP);
		if (n > 1) {
			out_put_visible(&out->buf, column->name, strlen(column->name), 0);
			buf_putc(&out->buf, ' ');
		}
		if (is_other && i == state->other)
			buf_puts(&out->buf, OUT_OTHER);
		else
			put_value(out, column->type, &batch->values[(u64)row * n + i]);
	}
	if (is_other && state->other == n)
		buf_puts(&out->buf, GAP OUT_OTHER);
	if (out->options.is_streaming || row + 1 < batch->n_rows)
		buf_putc(&out->buf, '\n');
}

static void line_account(struct out *out, const struct batch *batch, u64 n_rows)
{
	bool has_loss = account_has_loss(&batch->account);
	bool is_late = batch->late_ns || batch->n_merged;
	bool is_sampled = batch->sampled.now > 1 || batch->sampled.before > 1;
	bool has_row = n_rows && !out->options.is_streaming;

	if (!has_row && !has_loss && !is_late && !is_sampled && !batch->is_over_budget &&
	    !batch->n_unwritten)
		return;
	if (!has_row && !out->options.is_timeless)
		put_time(out, batch);
	if (batch->is_partial)
		buf_puts(&out->buf, GAP "(partial)");
	out_put_late(&out->buf, GAP, batch);
	out_put_sampled(&out->buf, GAP, batch);
	if (batch->n_unwritten) {
		buf_puts(&out->buf, GAP "not written before: ");
		out_put_thousands(&out->buf, batch->n_unwritten);
	}
	buf_puts(&out->buf, has_loss ? GAP : "");
	out_put_loss(&out->buf, batch);
	buf_putc(&out->buf, '\n');
}

const struct out_format out_line = {
	.name = "line",
	.meaning = "one line a row, with its time",
	.state_bytes = sizeof(struct line_state),
	.begin = line_begin,
	.batch = line_batch,
	.row = line_row,
	.account = line_account,
};
