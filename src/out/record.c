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
	struct value *values; /* with instants moved */
	size_t capacity;
};

static int record_begin(struct out *out, const struct schema *schema, enum file_kind kind)
{
	struct record_state *state = out->state;

	state->writer = file_writer_open(kind, schema, &out->buf);
	return state->writer ? 0 : -ENOMEM;
}

static int begin_arrow(struct out *out, const struct schema *schema)
{
	return record_begin(out, schema, FILE_ARROW);
}

static int begin_jsonl(struct out *out, const struct schema *schema)
{
	return record_begin(out, schema, FILE_JSONL);
}

static int begin_csv(struct out *out, const struct schema *schema)
{
	return record_begin(out, schema, FILE_CSV);
}

/* NULL: no memory. */
static const struct value *moved(struct out *out, const struct batch *batch)
{
	struct record_state *state = out->state;
	u32 n_columns = batch->schema->n_columns;
	size_t n = (size_t)batch->n_rows * n_columns;

	if (n > state->capacity) {
		free(state->values);
		state->values = malloc(n * sizeof(*state->values));
		state->capacity = state->values ? n : 0;
	}
	if (!state->values)
		return NULL;
	memcpy(state->values, batch->values, n * sizeof(*state->values));
	for (size_t i = 0; i < n; i++) {
		struct type type = batch->schema->columns[i % n_columns].type;

		if (type.kind == TYPE_TIMESTAMP && state->values[i].kind == VALUE_INT)
			state->values[i].integer += out_clock_offset(out, type);
	}
	return state->values;
}

static void record_batch(struct out *out, const struct batch *batch)
{
	struct record_state *state = out->state;
	const struct value *values;

	if (!batch->n_rows)
		return;
	values = moved(out, batch);
	if (values)
		file_writer_rows(state->writer, values, batch->n_rows);
	if (!values || file_writer_error(state->writer))
		out->error = values ? -EOVERFLOW : -ENOMEM;
}

static void record_end(struct out *out)
{
	struct record_state *state = out->state;

	file_writer_close(state->writer);
	free(state->values);
}

#define RECORD(file_name, its_begin, its_meaning)                                                  \
	.name = file_name, .meaning = its_meaning, .needs_rows = true,                             \
	.state_bytes = sizeof(struct record_state), .begin = its_begin, .batch = record_batch,     \
	.end = record_end

const struct out_format out_arrow = {
	RECORD("arrow", begin_arrow, "an Arrow IPC stream of rows"),
	.is_binary = true,
};

const struct out_format out_jsonl = {
	RECORD("jsonl", begin_jsonl, "rows as JSON lines that FROM reads back"),
};

/* The rows alone, without what -o csv tells of windows: "ebql record" only. */
static const struct out_format out_record_csv = {
	RECORD("csv", begin_csv, "rows as CSV that FROM reads back"),
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
