/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Streamed rows -> the bytes of a file that FROM 'FILE' reads back: Arrow IPC stream, JSON
 * lines, CSV.  Instants of the kernel are recorded as CLOCK_REALTIME, all moved by the same
 * amount, so that their differences stay exact.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "out/format.h"

struct record_state {
	struct file_writer *writer;
	const struct schema *schema;
	struct value *values; /* of the batch, with instants moved */
	size_t capacity;
};

static void record_begin(struct out *out, const struct schema *schema, enum file_kind kind)
{
	struct record_state *state = calloc(1, sizeof(*state));

	if (!state)
		base_no_memory();
	state->schema = schema;
	state->writer = file_writer_open(kind, schema, &out->buf);
	out->state = state;
}

static void begin_arrow(struct out *out, const struct schema *schema)
{
	record_begin(out, schema, FILE_ARROW);
}

static void begin_jsonl(struct out *out, const struct schema *schema)
{
	record_begin(out, schema, FILE_JSONL);
}

static void begin_csv(struct out *out, const struct schema *schema)
{
	record_begin(out, schema, FILE_CSV);
}

/* Rows of files have CLOCK_REALTIME already. */
static void move_instants(const struct out *out, struct value *values, u32 n_rows)
{
	const struct record_state *state = out->state;
	u32 n_columns = state->schema->n_columns;

	for (u32 i = 0; i < n_columns; i++) {
		if (state->schema->columns[i].type.kind != TYPE_TIMESTAMP)
			continue;
		for (u32 row = 0; row < n_rows; row++) {
			struct value *v = &values[(size_t)row * n_columns + i];

			if (v->kind == VALUE_INT && out_is_monotonic(v->integer))
				v->integer += out->options.monotonic_to_realtime_ns;
		}
	}
}

static void record_batch(struct out *out, const struct batch *batch)
{
	struct record_state *state = out->state;
	size_t n = (size_t)batch->n_rows * state->schema->n_columns;

	if (n > state->capacity) {
		state->capacity = MAX(n, 2 * state->capacity);
		state->values = realloc(state->values, state->capacity * sizeof(*state->values));
		if (!state->values)
			base_no_memory();
	}
	if (n)
		memcpy(state->values, batch->values, n * sizeof(*state->values));
	move_instants(out, state->values, batch->n_rows);
	file_writer_rows(state->writer, state->values, batch->n_rows);
	if (file_writer_error(state->writer))
		out->error = -EOVERFLOW;
}

static void record_end(struct out *out)
{
	struct record_state *state = out->state;

	file_writer_close(state->writer);
	free(state->values);
	free(state);
}

const struct out_format out_arrow = {
	.name = "arrow",
	.meaning = "an Arrow IPC stream of rows",
	.needs_rows = true,
	.is_binary = true,
	.begin = begin_arrow,
	.batch = record_batch,
	.end = record_end,
};

const struct out_format out_jsonl = {
	.name = "jsonl",
	.meaning = "rows as JSON lines that FROM reads back",
	.needs_rows = true,
	.begin = begin_jsonl,
	.batch = record_batch,
	.end = record_end,
};

/* The rows alone, without what -o csv tells of windows: "ebql record" only. */
static const struct out_format out_record_csv = {
	.name = "csv",
	.meaning = "rows as CSV that FROM reads back",
	.needs_rows = true,
	.begin = begin_csv,
	.batch = record_batch,
	.end = record_end,
};

const struct out_format *out_recorder(enum file_kind kind)
{
	static const struct out_format *const recorders[FILE_KIND_N] = {
		[FILE_ARROW] = &out_arrow,
		[FILE_JSONL] = &out_jsonl,
		[FILE_CSV] = &out_record_csv,
	};

	return recorders[kind];
}
