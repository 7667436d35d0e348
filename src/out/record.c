/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Streamed rows -> the bytes of a file that FROM 'FILE' reads back: Arrow IPC stream, JSON
 * lines, CSV.  Instants of the kernel are recorded as CLOCK_REALTIME, all moved by the same
 * amount, so that their differences stay exact.
 *
 * Rows are gathered and written in few large pieces: a recording of write calls sees those to its
 * own file too, and would feed itself.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "out/format.h"

#define GATHERED_ROWS	    4096u
#define GATHERED_TEXT_BYTES (1u << 20)
#define GATHERED_NS	    250000000ull

struct record_state {
	struct file_writer *writer;
	const struct schema *schema;
	struct value *values; /* that were not written yet, with instants moved */
	size_t capacity;
	struct buf texts; /* of the values */
	u32 n_rows;
	u64 first_ns; /* CLOCK_MONOTONIC, when the first of them came */
};

static int record_begin(struct out *out, const struct schema *schema, enum file_kind kind)
{
	struct record_state *state = calloc(1, sizeof(*state));

	if (!state)
		return -ENOMEM;
	state->schema = schema;
	buf_init(&state->texts);
	state->writer = file_writer_open(kind, schema, &out->buf);
	out->state = state;
	return 0;
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

static void move_instants(const struct out *out, struct value *values, u32 n_rows)
{
	const struct record_state *state = out->state;
	u32 n_columns = state->schema->n_columns;

	for (u32 i = 0; i < n_columns; i++) {
		struct type type = state->schema->columns[i].type;

		if (type.kind != TYPE_TIMESTAMP || type.clock == CLOCK_REAL)
			continue;
		for (u32 row = 0; row < n_rows; row++) {
			struct value *v = &values[(size_t)row * n_columns + i];

			if (v->kind == VALUE_INT)
				v->integer += out_clock_offset(out, type);
		}
	}
}

/* Texts lie in a buffer that may have moved since: value->integer says where in it. */
static void point_to_texts(struct record_state *state)
{
	size_t n = (size_t)state->n_rows * state->schema->n_columns;

	for (size_t i = 0; i < n; i++)
		if (state->values[i].kind == VALUE_TEXT)
			state->values[i].text = state->texts.at + (size_t)state->values[i].integer;
}

static void write_rows(struct out *out)
{
	struct record_state *state = out->state;

	point_to_texts(state);
	file_writer_rows(state->writer, state->values, state->n_rows);
	if (file_writer_error(state->writer))
		out->error = -EOVERFLOW;
	state->n_rows = 0;
	buf_reset(&state->texts);
}

static bool keep_rows(struct record_state *state, const struct value *values, u32 n_rows)
{
	u32 n_columns = state->schema->n_columns;
	size_t n_before = (size_t)state->n_rows * n_columns, n = (size_t)n_rows * n_columns;

	if (n_before + n > state->capacity) {
		size_t capacity = MAX(n_before + n, 2 * state->capacity);
		void *grown = realloc(state->values, capacity * sizeof(*state->values));

		if (!grown)
			return false;
		state->values = grown;
		state->capacity = capacity;
	}
	for (size_t i = 0; i < n; i++) {
		struct value *v = &state->values[n_before + i];

		*v = values[i];
		if (v->kind != VALUE_TEXT)
			continue;
		v->integer = (s128)state->texts.n;
		if (v->n)
			buf_put(&state->texts, values[i].text, v->n);
	}
	state->n_rows += n_rows;
	return true;
}

static void record_batch(struct out *out, const struct batch *batch)
{
	struct record_state *state = out->state;

	if (!batch->n_rows)
		return;
	if (!state->n_rows)
		state->first_ns = base_monotonic_ns();
	if (!keep_rows(state, batch->values, batch->n_rows)) {
		out->error = -ENOMEM;
		return;
	}
	move_instants(out,
		      state->values +
			      (size_t)(state->n_rows - batch->n_rows) * state->schema->n_columns,
		      batch->n_rows);
	if (!out->options.is_gathered || state->n_rows >= GATHERED_ROWS ||
	    state->texts.n >= GATHERED_TEXT_BYTES)
		write_rows(out);
}

static void record_idle(struct out *out)
{
	struct record_state *state = out->state;

	if (state->n_rows && base_monotonic_ns() - state->first_ns >= GATHERED_NS)
		write_rows(out);
}

static void record_end(struct out *out)
{
	struct record_state *state = out->state;

	if (state->n_rows && !out->error)
		write_rows(out);
	file_writer_close(state->writer);
	buf_free(&state->texts);
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
	.idle = record_idle,
	.end = record_end,
};

const struct out_format out_jsonl = {
	.name = "jsonl",
	.meaning = "rows as JSON lines that FROM reads back",
	.needs_rows = true,
	.begin = begin_jsonl,
	.batch = record_batch,
	.idle = record_idle,
	.end = record_end,
};

/* The rows alone, without what -o csv tells of windows: "ebql record" only. */
static const struct out_format out_record_csv = {
	.name = "csv",
	.meaning = "rows as CSV that FROM reads back",
	.needs_rows = true,
	.begin = begin_csv,
	.batch = record_batch,
	.idle = record_idle,
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
