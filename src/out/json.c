/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Batches -> JSON lines: one object a row, and after each window one object
 * {"_batch":{...}} that says what the window saw and lost.  Instants and
 * durations are integers in ns; integers are plain digits up to 128 bits, so a
 * reader needs integers of arbitrary size or must not exceed 2^53.
 */
#include "out/format.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"

struct json_key {
	u32 at, n; /* in texts: `{"fd":`, then `,"cpu":` ... */
};

struct json_state {
	struct buf texts;
	struct json_key *keys; /* OUT_NAMES_A_COLUMN for each column */
	struct out_run run;    /* of streamed rows */
};

static const char *const json_reserved[] = { "_batch", "_other" };

static int json_begin(struct out *out, const struct schema *schema)
{
	struct json_state *state = calloc(1, sizeof(*state));
	struct out_names names;

	if (!state || out_names_init(&names, schema, json_reserved, ARRAY_SIZE(json_reserved))) {
		free(state);
		return -ENOMEM;
	}
	state->keys = calloc(names.n + 1, sizeof(*state->keys));
	if (!state->keys) {
		out_names_free(&names);
		free(state);
		return -ENOMEM;
	}
	out->state = state;
	buf_init(&state->texts);
	for (u32 i = 0; i < names.n; i++) {
		struct json_key *key = &state->keys[i];

		if (!names.names[i])
			continue;
		key->at = (u32)state->texts.n;
		buf_putc(&state->texts, i == 0 ? '{' : ',');
		buf_put_json_string(&state->texts, names.names[i], strlen(names.names[i]));
		buf_putc(&state->texts, ':');
		key->n = (u32)state->texts.n - key->at;
	}
	out_names_free(&names);
	return 0;
}

/*
 * As buf_put_json_string(), but plain text in one piece, and also DEL and the C1
 * controls escaped: a terminal would obey U+009B as it obeys ESC [.
 */
static void json_put_text(struct buf *buf, const char *text, u32 n)
{
	u32 plain = 0;

	while (plain < n && text[plain] >= ' ' && text[plain] < 0x7f && text[plain] != '"' &&
	       text[plain] != '\\')
		plain++;
	if (plain < n && !memchr(text, 0x7f, n) && !memchr(text, 0xc2, n)) {
		buf_put_json_string(buf, text, n);
		return;
	}
	buf_putc(buf, '"');
	buf_put(buf, text, plain);
	for (u32 i = plain; i < n;) {
		const u8 *at = (const u8 *)text + i;
		u32 length = (u32)utf8_length(text + i, n - i);

		if (length == 0)
			buf_puts(buf, "\xef\xbf\xbd");
		else if (at[0] < ' ' || at[0] == 0x7f)
			buf_printf(buf, "\\u%04x", at[0]);
		else if (at[0] == 0xc2 && at[1] < 0xa0)
			buf_printf(buf, "\\u%04x", at[1]);
		else if (at[0] == '"' || at[0] == '\\')
			buf_printf(buf, "\\%c", at[0]);
		else
			buf_put(buf, text + i, length);
		i += MAX(length, 1u);
	}
	buf_putc(buf, '"');
}

static void json_put_count(struct buf *buf, const char *key, u64 value)
{
	buf_puts(buf, key);
	buf_put_u64(buf, value);
}

/* --- Quantiles and histograms --- */

void out_put_json_estimate(struct buf *buf, const struct quantile *quantile)
{
	if (!quantile->is_interpolated)
		out_put_integer(buf, quantile->estimate);
	else if (isfinite(quantile->interpolated))
		out_put_real(buf, quantile->interpolated);
	else
		buf_puts(buf, "null");
}

void out_put_json_bound(struct buf *buf, bool has, s128 bound)
{
	if (has)
		out_put_integer(buf, bound);
	else
		buf_puts(buf, "null");
}

/* 0.999 of 999000000: shortest, so without the real's rounding. */
static void json_put_q(struct buf *buf, u32 q_ppb)
{
	buf_put_u64(buf, q_ppb / 1000000000u);
	if (q_ppb % 1000000000u == 0)
		return;
	buf_printf(buf, ".%09u", q_ppb % 1000000000u);
	while (buf->at[buf->n - 1] == '0')
		buf->n--;
}

void out_put_json_ladder(struct buf *buf, const struct quantile *quantiles, u32 n)
{
	buf_putc(buf, '[');
	for (u32 i = 0; i < n; i++) {
		const struct quantile *quantile = &quantiles[i];

		buf_puts(buf, i == 0 ? "{\"q\":" : ",{\"q\":");
		json_put_q(buf, quantile->q_ppb);
		buf_puts(buf, ",\"est\":");
		out_put_json_estimate(buf, quantile);
		buf_puts(buf, ",\"lo\":");
		out_put_json_bound(buf, quantile->has_lo, quantile->lo);
		buf_puts(buf, ",\"hi\":");
		out_put_json_bound(buf, quantile->has_hi, quantile->hi);
		buf_putc(buf, '}');
	}
	buf_putc(buf, ']');
}

void out_put_json_histogram(struct buf *buf, const struct histogram *histogram)
{
	bool has_values = histogram->count > 0 || histogram->n_unplaced > 0;

	buf_puts(buf, "{\"scheme\":\"");
	scheme_print(histogram->scheme, buf);
	buf_puts(buf, "\",\"cells\":[");
	for (u32 i = 0; i < histogram->n_cells; i++) {
		struct scheme_edges edges;

		scheme_edges(histogram->scheme, histogram->cells[i].cell, &edges);
		buf_puts(buf, i == 0 ? "[" : ",[");
		out_put_json_bound(buf, edges.has_lo, edges.lo);
		buf_putc(buf, ',');
		out_put_json_bound(buf, edges.has_hi, edges.hi);
		json_put_count(buf, ",", histogram->cells[i].count);
		buf_putc(buf, ']');
	}
	json_put_count(buf, "],\"count\":", histogram->count);
	buf_puts(buf, ",\"sum\":");
	out_put_integer(buf, histogram->sum);
	buf_puts(buf, ",\"min\":");
	out_put_json_bound(buf, has_values, histogram->min);
	buf_puts(buf, ",\"max\":");
	out_put_json_bound(buf, has_values, histogram->max);
	if (histogram->n_unplaced > 0)
		json_put_count(buf, ",\"unplaced\":", histogram->n_unplaced);
	buf_putc(buf, '}');
}

/* --- Values --- */

void out_put_json_value(struct buf *buf, struct type type, const struct value *value)
{
	switch ((enum value_kind)value->kind) {
	case VALUE_NULL:
		buf_put(buf, "null", 4);
		break;
	case VALUE_INT:
		if (type.kind == TYPE_POINTER) {
			buf_putc(buf, '"');
			out_put_hex(buf, (u64)value->integer);
			buf_putc(buf, '"');
		} else if (type.kind == TYPE_BOOL) {
			buf_puts(buf, value->integer ? "true" : "false");
		} else {
			out_put_integer(buf, value->integer);
		}
		break;
	case VALUE_REAL:
		/*
		 * JSON has no infinities and no NaN; 1e999 reads as infinity.  Among integers
		 * an infinity is a bound that is not there, as in NAME_lo and NAME_hi.
		 */
		if (isnan(value->real) || (isinf(value->real) && type.kind != TYPE_REAL))
			buf_put(buf, "null", 4);
		else if (isinf(value->real))
			buf_puts(buf, value->real < 0 ? "-1e999" : "1e999");
		else
			out_put_real(buf, value->real);
		break;
	case VALUE_TEXT:
		if (type.kind == TYPE_BLOB) {
			buf_putc(buf, '"');
			out_put_hex_bytes(buf, value->text, value->n);
			buf_putc(buf, '"');
		} else {
			json_put_text(buf, value->text, value->n);
		}
		break;
	case VALUE_QUANTILES:
		if (type.kind == TYPE_LADDER)
			out_put_json_ladder(buf, value->quantiles, value->n);
		else
			out_put_json_estimate(buf, value->quantiles);
		break;
	case VALUE_TOP:
		out_put_json_top(buf, type, value->top);
		break;
	case VALUE_HISTOGRAM:
		out_put_json_histogram(buf, value->histogram);
		break;
	}
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
		json_put_count(buf, "\":", counters[i]);
		is_first = false;
	}
	buf_puts(buf, is_first ? "{}" : "}");
}

static void json_put_batch(struct out *out, const struct batch *batch, u64 n_rows)
{
	struct buf *buf = &out->buf;
	u64 any_unpaired = 0;

	json_put_count(buf, "{\"_batch\":{\"window_start\":", batch->window_start_ns);
	json_put_count(buf, ",\"window_end\":", batch->window_end_ns);
	json_put_count(buf, ",\"events\":", batch->account.events);
	json_put_count(buf, ",\"matched\":", batch->account.matched);
	json_put_count(buf, ",\"rows\":", n_rows);
	json_put_counters(buf, ",\"lost\":", loss_names, batch->account.lost, LOSS_N);
	for (u32 i = 0; i < UNPAIRED_N; i++)
		any_unpaired |= batch->account.unpaired[i];
	if (any_unpaired)
		json_put_counters(buf, ",\"unpaired\":", unpaired_names, batch->account.unpaired,
				  UNPAIRED_N);
	if (!batch->is_windowed && !out->options.is_streaming)
		buf_puts(buf, ",\"snapshot\":true");
	if (batch->is_last)
		buf_puts(buf, ",\"last\":true");
	buf_puts(buf, "}}\n");
}

static void json_put_key(struct out *out, u32 key)
{
	struct json_state *state = out->state;

	buf_put(&out->buf, state->texts.at + state->keys[key].at, state->keys[key].n);
}

/* A column: one member, or three of a quantile. */
static void json_put_column(struct out *out, u32 i, struct type type, const struct value *value)
{
	const struct quantile *quantile;
	u32 key = i * OUT_NAMES_A_COLUMN;

	json_put_key(out, key);
	out_put_json_value(&out->buf, type, value);
	if (type.kind != TYPE_QUANTILE)
		return;
	quantile = value->kind == VALUE_QUANTILES ? value->quantiles : NULL;
	json_put_key(out, key + 1);
	out_put_json_bound(&out->buf, quantile && quantile->has_lo, quantile ? quantile->lo : 0);
	json_put_key(out, key + 2);
	out_put_json_bound(&out->buf, quantile && quantile->has_hi, quantile ? quantile->hi : 0);
}

static void json_batch(struct out *out, const struct batch *batch)
{
	struct json_state *state = out->state;
	const struct schema *schema = batch->schema;
	const struct value *value = batch->values;
	struct buf *buf = &out->buf;

	for (u32 row = 0; row < batch->n_rows; row++) {
		for (u32 i = 0; i < schema->n_columns; i++, value++)
			json_put_column(out, i, schema->columns[i].type, value);
		if (out_is_other(batch, row))
			buf_puts(buf, ",\"_other\":true");
		buf_put(buf, "}\n", 2);
		if (!out_row_done(out))
			return;
	}
	if (!out->options.is_streaming)
		json_put_batch(out, batch, batch->n_rows);
	else if (out_run_add(&state->run, batch))
		json_put_batch(out, &state->run.last, state->run.n_rows);
}

static void json_end(struct out *out)
{
	struct json_state *state = out->state;

	/* The run broke off before its last batch: say what came so far. */
	if (out->options.is_streaming && !state->run.is_closed && state->run.n_rows > 0)
		json_put_batch(out, &state->run.last, state->run.n_rows);
	buf_free(&state->texts);
	free(state->keys);
	free(state);
}

const struct out_format out_json = {
	.name = "json",
	.meaning = "one JSON object a line: rows, and a _batch after each window",
	.begin = json_begin,
	.batch = json_batch,
	.end = json_end,
};
