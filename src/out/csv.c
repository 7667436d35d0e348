/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Batches -> CSV as RFC 4180 has it, lines ended by LF: a header once, then rows of the columns
 * that the query selects.  With --window-columns windows and totals have their two bounds in front,
 * unless the query selects them, and the last column tells the "(other)" row.  That stands in a
 * comment line otherwise, unless _other is selected: it is no group.  So does what was lost.  An
 * empty cell is NULL, "" is the empty text.  A quantile has three columns; ladders and histograms
 * are their JSON text.
 */
#include "out/format.h"

#include <math.h>
#include <string.h>

#include "base/utf8.h"

static const char *const csv_reserved[] = { "_other", NULL };

/* A text that would be a number, read back, without quotes. */
static bool is_like_number(const char *text, size_t n)
{
	size_t i = 0;

	while (i < n && strchr("0123456789-+.eE", text[i]))
		i++;
	return i == n || (n == 3 && (memcmp(text, "nan", 3) == 0 || memcmp(text, "inf", 3) == 0)) ||
	       (n == 4 && memcmp(text, "-inf", 4) == 0);
}

/*
 * Text in quotes, if only where needed.  What would end a line or steer a terminal, or is no UTF-8,
 * is \xHH byte by byte, and so is a backslash that looks like the first of these (file/csv.c).
 */
static void csv_put_text(struct out *out, const char *text, size_t n, bool is_quoted)
{
	struct buf *buf = &out->buf;
	size_t length;

	is_quoted |= n == 0 || text[0] == '#' || text[0] == ' ' || text[n - 1] == ' ' ||
		     memchr(text, '"', n) || memchr(text, ',', n);
	if (is_quoted)
		buf_putc(buf, '"');
	for (size_t i = 0; i < n; i += length) {
		length = MAX(utf8_length(text + i, n - i), 1ul);
		if (text[i] == '"')
			buf_put(buf, "\"\"", 2);
		else if (text[i] == '\\' && i + 1 < n && text[i + 1] == 'x')
			buf_puts(buf, "\\x5c");
		else
			out_put_visible(buf, text + i, length, 0);
	}
	if (is_quoted)
		buf_putc(buf, '"');
}

static void csv_put_value(struct out *out, struct type type, const struct value *value)
{
	struct buf *buf = &out->buf;

	switch ((enum value_kind)value->kind) {
	case VALUE_NULL:
		break;
	case VALUE_INT:
		if (type.kind == TYPE_POINTER)
			out_put_hex(buf, (u64)value->integer);
		else
			buf_put_s128(buf, value->integer);
		break;
	case VALUE_REAL:
		if (isinf(value->real) && type.kind != TYPE_REAL)
			break; /* quantile_lo(), quantile_hi(): no bound, as in NAME_lo, NAME_hi */
		buf_put_real(buf, value->real);
		break;
	case VALUE_TEXT:
		if (type.kind == TYPE_BLOB)
			buf_put_hex_bytes(buf, value->text, value->n);
		else
			csv_put_text(out, value->text, value->n,
				     is_like_number(value->text, value->n));
		break;
	case VALUE_STACK:
		buf_reset(&out->scratch);
		stack_put_folded(value->stack, &out->scratch);
		csv_put_text(out, out->scratch.at, out->scratch.n, false);
		break;
	case VALUE_QUANTILES:
	case VALUE_TOP:
	case VALUE_HISTOGRAM:
		buf_reset(&out->scratch);
		out_put_json_value(&out->scratch, type, value);
		csv_put_text(out, out->scratch.at, out->scratch.n, false);
		break;
	}
}

/* Totals have bounds too: else the columns of --every would depend on how long the run took. */
static int csv_begin(struct out *out, const struct schema *schema)
{
	if (out->has_start)
		buf_puts(&out->buf, "window_start,");
	if (out->has_end)
		buf_puts(&out->buf, "window_end,");
	for (u32 i = 0; i < out->columns.n; i++) {
		const char *name = out->columns.at[i].name;

		if (i)
			buf_putc(&out->buf, ',');
		csv_put_text(out, name, strlen(name), false);
	}
	buf_puts(&out->buf, out->options.has_window_columns ? ",_other\n" : "\n");
	return 0;
}

static void put_count(struct buf *buf, const char *before, const char *name, u64 count)
{
	buf_puts(buf, before);
	buf_puts(buf, name);
	buf_putc(buf, '=');
	buf_put_u64(buf, count);
}

static void put_bounds(struct buf *buf, const struct batch *batch)
{
	put_count(buf, " ", "window_start", batch->window_start_ns);
	put_count(buf, " ", "window_end", batch->window_end_ns);
	buf_putc(buf, '\n');
}

static void csv_account(struct out *out, const struct batch *batch, u64 n_rows)
{
	struct buf *buf = &out->buf;

	if (batch->is_partial) {
		buf_puts(buf, "# partial");
		put_bounds(buf, batch);
	}
	if (batch->late_ns || batch->n_merged) {
		buf_puts(buf, "# late");
		if (batch->late_ns)
			put_count(buf, " ", "late_ns", batch->late_ns);
		if (batch->n_merged)
			put_count(buf, " ", "merged", batch->n_merged);
		put_bounds(buf, batch);
	}
	if (batch->sampled.now > 1 || batch->sampled.before > 1) {
		put_count(buf, "# sampled ", "one_in", batch->sampled.now);
		put_count(buf, " ", "before", batch->sampled.before);
		put_bounds(buf, batch);
	}
	if (batch->is_over_budget) {
		buf_puts(buf, "# over_budget");
		put_bounds(buf, batch);
	}
	if (batch->n_unwritten) {
		put_count(buf, "# unwritten ", out->options.is_streaming ? "rows" : "windows",
			  batch->n_unwritten);
		put_bounds(buf, batch);
	}
	if (!account_has_loss(&batch->account))
		return;
	buf_puts(buf, "# lost");
	for (u32 i = 0; i < LOSS_N; i++)
		if (batch->account.lost[i])
			put_count(buf, " ", loss_names[i], batch->account.lost[i]);
	for (u32 i = 0; i < UNPAIRED_N; i++)
		if (batch->account.unpaired[i])
			put_count(buf, " unpaired.", unpaired_names[i], batch->account.unpaired[i]);
	put_bounds(buf, batch);
}

static void csv_row(struct out *out, const struct batch *batch, u32 row)
{
	const struct value *values = &batch->values[(u64)row * batch->schema->n_columns];
	struct buf *buf = &out->buf;

	if (out_is_other(batch, row) && !out->options.has_window_columns && !out->selects_other)
		buf_puts(buf, "# other ");
	if (out->has_start) {
		buf_put_u64(buf, batch->window_start_ns);
		buf_putc(buf, ',');
	}
	if (out->has_end) {
		buf_put_u64(buf, batch->window_end_ns);
		buf_putc(buf, ',');
	}
	for (u32 i = 0; i < out->columns.n; i++) {
		const struct out_column *column = &out->columns.at[i];
		struct value value = out_column_value(out, column, values);

		if (i)
			buf_putc(buf, ',');
		csv_put_value(out, column->type, &value);
	}
	if (out->options.has_window_columns)
		buf_puts(buf, out_is_other(batch, row) ? ",1" : ",0");
	buf_putc(buf, '\n');
}

const struct out_format out_csv = {
	.name = "csv",
	.meaning = "comma-separated values with a header; losses in # comment lines",
	.takes_window_columns = true,
	.reserved = csv_reserved,
	.begin = csv_begin,
	.row = csv_row,
	.account = csv_account,
};
