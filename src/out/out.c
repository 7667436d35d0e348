/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Batches -> bytes on a descriptor: the table of formats, and the sink that gives a format its
 * batches and writes what it makes of them, in pieces, so that a window of any size needs a
 * buffer of fixed size.
 */
#include "out/format.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>

const struct out_format *const out_formats[] = { &out_table, &out_expanded, &out_json,
						 &out_csv,   &out_heatmap,  &out_arrow,
						 &out_jsonl, &out_folded,   &out_flamegraph,
						 &out_line };
const u32 out_n_formats = ARRAY_SIZE(out_formats);

const struct out_format *out_format_find(const char *name)
{
	for (u32 i = 0; i < out_n_formats; i++) {
		if (strcmp(out_formats[i]->name, name) == 0)
			return out_formats[i];
	}
	return NULL;
}

bool out_has_histogram(const struct schema *schema)
{
	for (u32 i = 0; i < schema->n_columns; i++) {
		if (schema->columns[i].type.kind == TYPE_HISTOGRAM)
			return true;
	}
	return false;
}

bool out_has_calls(const struct schema *schema)
{
	for (u32 i = 0; i < schema->n_columns; i++) {
		if (schema->columns[i].type.kind == TYPE_STACK ||
		    schema->columns[i].type.kind == TYPE_TEXT)
			return true;
	}
	return false;
}

/* --- The terminal --- */

/* POSIX: the first of the three that is set and not empty counts. */
static bool locale_is_utf8(void)
{
	static const char *const variables[] = { "LC_ALL", "LC_CTYPE", "LANG" };

	for (u32 i = 0; i < ARRAY_SIZE(variables); i++) {
		const char *locale = getenv(variables[i]);

		if (locale && *locale)
			return strcasestr(locale, "utf-8") || strcasestr(locale, "utf8");
	}
	return false;
}

/* The convention of NO_COLOR: set and not empty. */
bool out_obeys_escapes(void)
{
	const char *term = getenv("TERM"), *no_color = getenv("NO_COLOR");

	return !(term && strcmp(term, "dumb") == 0) && !(no_color && *no_color);
}

/* One cheap system call a window is less trouble than a handler of SIGWINCH. */
static void read_terminal_size(struct out_file *file)
{
	struct winsize size;

	if (!file->out.options.is_terminal || ioctl(file->fd, TIOCGWINSZ, &size) < 0)
		return;
	file->out.options.width = size.ws_col;
	file->out.options.height = size.ws_row;
}

/* --- The sink --- */

static void write_all(struct out_file *file)
{
	struct out *out = &file->out;

	if (out->error)
		buf_reset(&out->buf);
	else if (out->buf.n > 0 && out->options.write)
		out->error = out->options.write(out->options.context, &out->buf);
	else if (out->buf.n > 0)
		out->error = buf_flush(&out->buf, file->fd, out->options.cancel);
}

/* A format sees the first member only. */
static void flush(struct out *out)
{
	write_all((struct out_file *)out);
}

/*
 * Without the name of what no row has, and with those of the bounds in front.  `names` has room for
 * both of these, behind the format's.
 */
static void reserved_names(const struct out *out, const char **names)
{
	const char *const *reserved = out->format->reserved;
	bool has_mark =
		out->format->marks_other ? out->options.has_other : out->options.has_window_columns;
	u32 n = 0;

	for (reserved += !has_mark; *reserved; reserved++)
		names[n++] = *reserved;
	if (out->has_start)
		names[n++] = "window_start";
	if (out->has_end)
		names[n++] = "window_end";
	names[n] = NULL;
}

/* Is what is called so the window's bound?  Of two the first has the name. */
static bool selects_bound(const struct schema *schema, const char *name, enum window_bound bound)
{
	for (u32 i = 0; i < schema->n_columns; i++)
		if (strcmp(schema->columns[i].name, name) == 0)
			return schema->columns[i].bound == bound;
	return false;
}

int out_file_open(struct out_file *file, const struct out_format *format, int fd,
		  const struct out_options *options, const struct schema *schema)
{
	const char *reserved[OUT_RESERVED_MAX + 2 + 1];
	struct out *out = &file->out;

	*file = (struct out_file){ .out.options = *options, .out.format = format, .fd = fd };
	out->flush = flush;
	buf_init(&out->buf);
	buf_init(&out->scratch);
	out->is_utf8 = !options->is_ascii && locale_is_utf8();
	out->has_escapes = options->is_terminal && out_obeys_escapes();
	out->has_start = out->has_end = options->has_window_columns && !options->is_streaming;
	out->has_start &= !selects_bound(schema, "window_start", BOUND_START);
	out->has_end &= !selects_bound(schema, "window_end", BOUND_END);
	out->selects_other = !options->has_window_columns && out_selects_other(schema);
	read_terminal_size(file);
	/* Now, not in the middle of the first window: reads the time zone's file. */
	tzset();
	out->state = calloc(1, MAX(format->state_bytes, (size_t)1));
	if (!out->state)
		out->error = -ENOMEM;
	if (!out->error && format->reserved) {
		reserved_names(out, reserved);
		out->error = out_columns_init(&out->columns, schema, reserved, out->selects_other);
	}
	if (!out->error && format->begin)
		out->error = format->begin(out, schema);
	return out->error;
}

/* Of a stream what was seen and lost is told once, at its end. */
static void give_stream(struct out_file *file, const struct batch *batch)
{
	file->n_rows += batch->n_rows;
	file->run = *batch;
	file->run.n_rows = 0;
	file->run.values = NULL;
	if (batch->is_last && file->out.format->account)
		file->out.format->account(&file->out, &file->run, file->n_rows);
}

int out_file_batch(struct out_file *file, const struct batch *batch)
{
	const struct out_format *format = file->out.format;
	struct out *out = &file->out;

	if (!out->options.is_streaming)
		read_terminal_size(file);
	if (!out->error && format->batch)
		format->batch(out, batch);
	for (u32 row = 0; format->row && !out->error && row < batch->n_rows; row++) {
		format->row(out, batch, row);
		out_row_done(out);
	}
	if (!out->error && out->options.is_streaming)
		give_stream(file, batch);
	else if (!out->error && format->account)
		format->account(out, batch, batch->n_rows);
	write_all(file);
	return out->error;
}

int out_file_idle(struct out_file *file)
{
	if (!file->out.error && file->out.format->idle)
		file->out.format->idle(&file->out);
	write_all(file);
	return file->out.error;
}

int out_file_close(struct out_file *file, int error)
{
	struct out *out = &file->out;

	if (!out->error)
		out->error = error;
	/* A stream that broke off: what came so far. */
	if (!out->error && file->n_rows && !file->run.is_last && file->out.format->account)
		file->out.format->account(out, &file->run, file->n_rows);
	if (out->state && file->out.format->end)
		file->out.format->end(out);
	write_all(file);
	out_columns_free(&out->columns);
	free(out->state);
	buf_free(&out->buf);
	buf_free(&out->scratch);
	return out->error;
}
