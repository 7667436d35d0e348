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

struct json_state {
	struct out_names keys; /* `{"fd":`, then `,"cpu":` ... */
};

static const char *const json_reserved[] = { "_batch", "_other" };

static int json_begin(struct out *out, const struct schema *schema)
{
	struct json_state *state = out->state;
	struct out_names *keys = &state->keys;

	if (out_names_init(keys, schema, json_reserved, ARRAY_SIZE(json_reserved)))
		return -ENOMEM;
	for (u32 i = 0; i < keys->n; i++) {
		char *name = keys->names[i];

		if (!name)
			continue;
		buf_reset(&out->scratch);
		buf_putc(&out->scratch, i == 0 ? '{' : ',');
		buf_put_json_string(&out->scratch, name, strlen(name));
		buf_putc(&out->scratch, ':');
		keys->names[i] = strdup(out->scratch.at);
		free(name);
		if (!keys->names[i])
			return -ENOMEM;
	}
	return 0;
}

static void json_put_count(struct buf *buf, const char *key, u64 value)
{
	buf_puts(buf, key);
	buf_put_u64(buf, value);
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

static void json_account(struct out *out, const struct batch *batch, u64 n_rows)
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

	buf_puts(&out->buf, state->keys.names[key]);
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

static void json_row(struct out *out, const struct batch *batch, u32 row)
{
	const struct schema *schema = batch->schema;
	const struct value *value = &batch->values[(u64)row * schema->n_columns];

	for (u32 i = 0; i < schema->n_columns; i++, value++)
		json_put_column(out, i, schema->columns[i].type, value);
	if (out_is_other(batch, row))
		buf_puts(&out->buf, ",\"_other\":true");
	buf_put(&out->buf, "}\n", 2);
}

static void json_end(struct out *out)
{
	struct json_state *state = out->state;

	out_names_free(&state->keys);
}

const struct out_format out_json = {
	.name = "json",
	.meaning = "one JSON object a line: rows, and a _batch after each window",
	.state_bytes = sizeof(struct json_state),
	.begin = json_begin,
	.row = json_row,
	.account = json_account,
	.end = json_end,
};
