/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Batches -> JSON lines: one object a row, with its window's bounds where --window-columns wants
 * them, and after each window one object {"_batch":{...}} that says what the window saw and lost.
 * Instants and durations are integers in ns; integers are plain digits up to 128 bits, so a reader
 * needs integers of arbitrary size or must not exceed 2^53.
 */
#include "out/format.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"

static const char *const json_reserved[] = { "_other", "_batch", "_query", NULL };

/* The columns' names become `,"fd":`, `,"cpu":` ... */
static int json_begin(struct out *out, const struct schema *schema)
{
	struct out_columns *columns = &out->columns;

	for (u32 i = 0; i < columns->n; i++) {
		char *name = columns->at[i].name;

		buf_reset(&out->scratch);
		buf_putc(&out->scratch, ',');
		buf_put_json_string(&out->scratch, name, strlen(name));
		buf_putc(&out->scratch, ':');
		columns->at[i].name = strdup(out->scratch.at);
		free(name);
		if (!columns->at[i].name)
			return -ENOMEM;
	}
	return 0;
}

/* `"KEY":{"name":n,...}` of the counters that are not 0. */
static void json_put_counters(struct buf *buf, const char *key, const char *const *names,
			      const u64 *counters, u32 n)
{
	bool is_first = true;

	buf_puts(buf, key);
	for (u32 i = 0; i < n; i++) {
		if (counters[i] == 0)
			continue;
		buf_puts(buf, is_first ? "{\"" : ",\"");
		buf_puts(buf, names[i]);
		out_put_json_count(buf, "\":", counters[i]);
		is_first = false;
	}
	buf_puts(buf, is_first ? "{}" : "}");
}

/* Whose it is, where several queries write to one place. */
static void put_query(const struct out *out, struct buf *buf, const char *key)
{
	if (!out->options.query)
		return;
	buf_puts(buf, key);
	buf_put_json_string(buf, out->options.query, strlen(out->options.query));
}

void out_put_json_batch(const struct out *out, struct buf *buf, const struct batch *batch,
			u64 n_rows)
{
	u64 any_unpaired = 0;

	if (batch->window_end_ns) {
		out_put_json_count(buf, "{\"window_start\":", batch->window_start_ns);
		out_put_json_count(buf, ",\"window_end\":", batch->window_end_ns);
	} else {
		buf_puts(buf, "{\"window_start\":null,\"window_end\":null");
	}
	out_put_json_count(buf, ",\"events\":", batch->account.events);
	out_put_json_count(buf, ",\"matched\":", batch->account.matched);
	out_put_json_count(buf, ",\"rows\":", n_rows);
	json_put_counters(buf, ",\"lost\":", loss_names, batch->account.lost, LOSS_N);
	for (u32 i = 0; i < UNPAIRED_N; i++)
		any_unpaired |= batch->account.unpaired[i];
	if (any_unpaired)
		json_put_counters(buf, ",\"unpaired\":", unpaired_names, batch->account.unpaired,
				  UNPAIRED_N);
	if (batch->late_ns)
		out_put_json_count(buf, ",\"late_ns\":", batch->late_ns);
	if (batch->n_merged)
		out_put_json_count(buf, ",\"merged\":", batch->n_merged);
	if (batch->n_unwritten)
		out_put_json_count(buf, ",\"unwritten\":", batch->n_unwritten);
	if (batch->sampled.now > 1 || batch->sampled.before > 1) {
		out_put_json_count(buf, ",\"sampled\":", batch->sampled.now);
		out_put_json_count(buf, ",\"sampled_before\":", batch->sampled.before);
	}
	if (batch->is_over_budget)
		buf_puts(buf, ",\"over_budget\":true");
	if (batch->fallback) {
		buf_puts(buf, ",\"fallback\":");
		buf_put_json_string(buf, batch->fallback, strlen(batch->fallback));
	}
	if (batch->is_partial)
		buf_puts(buf, ",\"partial\":true");
	if (!batch->is_windowed && !out->options.is_streaming)
		buf_puts(buf, ",\"snapshot\":true");
	if (batch->is_last)
		buf_puts(buf, ",\"last\":true");
	put_query(out, buf, ",\"query\":");
	buf_putc(buf, '}');
}

static void json_account(struct out *out, const struct batch *batch, u64 n_rows)
{
	buf_puts(&out->buf, "{\"_batch\":");
	out_put_json_batch(out, &out->buf, batch, n_rows);
	buf_puts(&out->buf, "}\n");
}

static void json_row(struct out *out, const struct batch *batch, u32 row)
{
	const struct value *values = &batch->values[(u64)row * batch->schema->n_columns];

	buf_putc(&out->buf, '{');
	if (out->has_start)
		out_put_json_count(&out->buf, "\"window_start\":", batch->window_start_ns);
	if (out->has_end)
		out_put_json_count(&out->buf,
				   out->has_start ? ",\"window_end\":" : "\"window_end\":",
				   batch->window_end_ns);
	for (u32 i = 0; i < out->columns.n; i++) {
		const struct out_column *column = &out->columns.at[i];
		struct value value = out_column_value(out, column, values);
		bool is_first = i == 0 && !out->has_start && !out->has_end;

		buf_puts(&out->buf, column->name + is_first);
		out_put_json_value(&out->buf, column->type, &value);
	}
	if (out_is_other(batch, row) && !out->selects_other)
		buf_puts(&out->buf, ",\"_other\":true");
	/* Of a window's rows the _batch behind them says it. */
	if (out->options.is_streaming)
		put_query(out, &out->buf, ",\"_query\":");
	buf_put(&out->buf, "}\n", 2);
}

void out_json_each(struct out *out, const struct batch *batch, u32 row, out_json_visit *visit,
		   void *context)
{
	const struct value *values = &batch->values[(u64)row * batch->schema->n_columns];

	for (u32 i = 0; i < out->columns.n; i++) {
		const struct out_column *column = &out->columns.at[i];
		struct value value = out_column_value(out, column, values);
		size_t n = strlen(column->name);

		buf_reset(&out->scratch);
		if (value.kind == VALUE_TEXT)
			buf_put(&out->scratch, value.text, value.n);
		else if (value.kind != VALUE_NULL)
			out_put_json_value(&out->scratch, column->type, &value);
		/* As json_begin() has it: `,"fd":` */
		visit(context, column->name + 2, n - 4, out->scratch.n ? out->scratch.at : "",
		      out->scratch.n);
	}
}

const struct out_format out_json = {
	.name = "json",
	.meaning = "one JSON object a line: rows, and a _batch after each window",
	.takes_window_columns = true,
	.reserved = json_reserved,
	.marks_other = true,
	.begin = json_begin,
	.row = json_row,
	.account = json_account,
};
