/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Streamed rows -> the bytes of a file that FROM 'FILE' reads back: Arrow IPC stream, JSON
 * lines, CSV; and windows -> an Arrow IPC stream.  Instants of the kernel are recorded as
 * CLOCK_REALTIME, all moved by the same amount, so that their differences stay exact.  With
 * is_gathered rows wait for others, so that they are written in few large pieces: a recording of
 * write calls sees those to its own file too, and would feed itself.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "out/format.h"

#define GATHERED_ROWS	    4096u
#define GATHERED_TEXT_BYTES (1u << 20)
#define GATHERED_NS	    250000000ull

/* Of a column's name that is told. */
#define NAME_WIDTH_MAX 60u
#define NAME_BYTES_MAX 256ul

struct record_state {
	struct file_writer *writer;
	struct schema stored; /* as the writer has it */
	u32 n_columns;
	/* Rows that wait, with instants moved. */
	struct value *values;
	size_t capacity;
	struct buf texts; /* of the values */
	u32 n_rows;
	u64 first_ns; /* CLOCK_MONOTONIC, when the first of them came */
};

/* Stacks are texts there. */
static int store_schema(struct record_state *state, const struct schema *schema)
{
	u32 n = schema->n_columns;

	state->stored.columns = calloc(n + 1, sizeof(*schema->columns));
	if (!state->stored.columns)
		return -ENOMEM;
	state->stored.n_columns = state->n_columns = n;
	for (u32 i = 0; i < n; i++) {
		state->stored.columns[i] = schema->columns[i];
		if (schema->columns[i].type.kind == TYPE_STACK)
			state->stored.columns[i].type = type_text(0);
	}
	return 0;
}

static int record_begin(struct out *out, const struct schema *schema)
{
	struct record_state *state = out->state;

	buf_init(&state->texts);
	if (store_schema(state, schema))
		return -ENOMEM;
	schema = &state->stored;
	if (out->options.is_streaming)
		state->writer = file_writer_open(out->format->file, schema, &out->buf);
	else
		state->writer = file_writer_open_windows(
			schema, out->options.monotonic_to_realtime_ns, &out->buf);
	return state->writer ? 0 : -ENOMEM;
}

/* Texts go to a buffer that may move: value->integer says where in it they are. */
static void add_value(struct out *out, struct type type, const struct value *from, struct value *to)
{
	struct record_state *state = out->state;

	*to = *from;
	if (from->kind == VALUE_INT && type.kind == TYPE_TIMESTAMP)
		to->integer += out_clock_offset(out, type);
	if (from->kind == VALUE_STACK) {
		size_t start = state->texts.n;

		stack_put_folded(from->stack, &state->texts);
		*to = (struct value){ .kind = VALUE_TEXT,
				      .n = (u32)(state->texts.n - start),
				      .integer = (s128)start };
	}
	if (from->kind != VALUE_TEXT)
		return;
	to->integer = (s128)state->texts.n;
	if (from->n)
		buf_put(&state->texts, from->text, from->n);
}

/* false: no memory. */
static bool add_rows(struct out *out, const struct batch *batch)
{
	struct record_state *state = out->state;
	size_t n_before = (size_t)state->n_rows * state->n_columns;
	size_t n = (size_t)batch->n_rows * state->n_columns;

	if (n_before + n > state->capacity) {
		size_t capacity = MAX(n_before + n, 2 * state->capacity);
		void *grown = realloc(state->values, capacity * sizeof(*state->values));

		if (!grown)
			return false;
		state->values = grown;
		state->capacity = capacity;
	}
	for (size_t i = 0; i < n; i++)
		add_value(out, batch->schema->columns[i % state->n_columns].type, &batch->values[i],
			  &state->values[n_before + i]);
	if (!state->n_rows)
		state->first_ns = base_monotonic_ns();
	state->n_rows += batch->n_rows;
	return !state->texts.is_cut;
}

/* The name may be a database's, of any bytes and any length: the reason is to have its room. */
static void name_column(struct out *out, const char *column)
{
	struct buf *shown = &out->scratch;
	size_t n;

	buf_reset(shown);
	out_put_visible(shown, column, strlen(column), NAME_WIDTH_MAX);
	/* What combines has no width. */
	n = MIN(shown->n, NAME_BYTES_MAX);
	while (n < shown->n && n && (shown->at[n] & 0xc0) == 0x80)
		n--;
	snprintf(out->why_of, sizeof(out->why_of), "column \"%.*s\": ", (int)n, shown->at ?: "");
}

static void check_writer(struct out *out)
{
	struct record_state *state = out->state;
	const char *why = file_writer_error(state->writer);
	size_t n;

	if (!why)
		return;
	/* It is told when the writer is gone. */
	if (file_writer_error_column(state->writer))
		name_column(out, file_writer_error_column(state->writer));
	n = strlen(out->why_of);
	snprintf(out->why_of + n, sizeof(out->why_of) - n, "%s", why);
	out->why = out->why_of;
	out->error = -EOVERFLOW;
}

static void write_rows(struct out *out)
{
	struct record_state *state = out->state;
	size_t n = (size_t)state->n_rows * state->n_columns;

	for (size_t i = 0; i < n; i++) {
		struct value *value = &state->values[i];

		if (value->kind == VALUE_TEXT)
			value->text = state->texts.at + (size_t)value->integer;
	}
	if (n)
		file_writer_rows(state->writer, state->values, state->n_rows);
	check_writer(out);
	state->n_rows = 0;
	buf_reset(&state->texts);
}

/* So many wait, or so long, that it is time to write them. */
static bool is_due(const struct out *out)
{
	const struct record_state *state = out->state;

	return !out->options.is_gathered || state->n_rows >= GATHERED_ROWS ||
	       state->texts.n >= GATHERED_TEXT_BYTES ||
	       base_monotonic_ns() - state->first_ns >= GATHERED_NS;
}

/* A window is a piece by itself, and says what JSON's _batch says. */
static void write_window(struct out *out, const struct batch *batch)
{
	struct record_state *state = out->state;

	buf_reset(&out->scratch);
	out_put_json_batch(out, &out->scratch, batch, batch->n_rows);
	file_writer_window(state->writer, batch, out->scratch.at);
	check_writer(out);
}

static void record_batch(struct out *out, const struct batch *batch)
{
	if (!out->options.is_streaming)
		write_window(out, batch);
	else if (!add_rows(out, batch))
		out->error = -ENOMEM;
	else if (is_due(out))
		write_rows(out);
}

static void record_idle(struct out *out)
{
	if (is_due(out))
		write_rows(out);
}

static void record_end(struct out *out)
{
	struct record_state *state = out->state;

	if (!out->error)
		write_rows(out);
	if (state->writer)
		file_writer_close(state->writer);
	buf_free(&state->texts);
	free(state->values);
	free(state->stored.columns);
}

#define RECORD(its_name, its_file, its_meaning)                                                    \
	.name = its_name, .meaning = its_meaning, .file = its_file,                                \
	.state_bytes = sizeof(struct record_state), .begin = record_begin, .batch = record_batch,  \
	.idle = record_idle, .end = record_end

const struct out_format out_arrow = {
	RECORD("arrow", FILE_ARROW, "an Arrow IPC stream of windows, or of rows"),
	.is_binary = true,
	.is_single = true,
};

const struct out_format out_jsonl = {
	RECORD("jsonl", FILE_JSONL, "rows as JSON lines that FROM reads back"),
	.needs_rows = true,
};

/* The rows alone, without what -o csv tells of windows: "ebql record" only. */
static const struct out_format out_record_csv = {
	RECORD("csv", FILE_CSV, "rows as CSV that FROM reads back"),
	.needs_rows = true,
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
