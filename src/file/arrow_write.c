/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Columns -> an Arrow IPC stream: recorded rows, one record batch for each call; or windows, one
 * record batch each, with its dictionaries before it and what is said of it in its metadata.  Each
 * column's metadata says its own type.  Texts of recordings are stored byte for byte in utf8
 * columns, also those of the kernel that are no UTF-8.
 */

#include "file/arrow_build.h"
#include "file/flatbuf.h"
#include "file/internal.h"

/* Offsets of texts are 32 bits wide: a batch is smaller than this, if need be of one row. */
#define BATCH_TEXT_BYTES_MAX (1u << 30)
#define BATCH_ROWS_MAX	     (1u << 16)

struct arrow_writer {
	struct arrow_frame frame;
	/* Of a message: its fields and its body's buffers, each a pair of u64. */
	struct buf nodes;  /* values and NULLs */
	struct buf ranges; /* offset and bytes */
	u64 body_bytes;
};

/* [{key: value}], to which the offset at `from` leads. */
static void put_metadata(struct flatbuf_out *fb, size_t from, const char *key, const char *value)
{
	const struct flatbuf_slot pair[] = { [PAIR_KEY] = { 4 }, [PAIR_VALUE] = { 4 } };
	size_t at[ARRAY_SIZE(pair)];

	flatbuf_point(fb, from, flatbuf_put_vector(fb, 1, 4));
	from = fb->buf->n;
	flatbuf_put_scalar(fb, 0, 4);
	flatbuf_point(fb, from, flatbuf_put_table(fb, pair, ARRAY_SIZE(pair), at));
	flatbuf_point(fb, at[PAIR_KEY], flatbuf_put_string(fb, key));
	flatbuf_point(fb, at[PAIR_VALUE], flatbuf_put_string(fb, value));
}

/* Begins a message; its length is set by end_message().  about: its metadata, or NULL. */
static struct flatbuf_out begin_message(struct buf *out, u32 header, u64 body_bytes,
					const char *about, size_t *ret_header)
{
	const struct flatbuf_slot slots[] = { [MESSAGE_VERSION] = { 2, ARROW_V5 },
					      [MESSAGE_HEADER_TYPE] = { 1, header },
					      [MESSAGE_HEADER] = { 4 },
					      [MESSAGE_BODY_BYTES] = { 8, body_bytes },
					      [MESSAGE_METADATA] = { 4 } };
	struct flatbuf_out fb = { .buf = out, .base = out->n };
	size_t at[ARRAY_SIZE(slots)];

	flatbuf_put_scalar(&fb, ARROW_CONTINUATION, 4);
	flatbuf_put_scalar(&fb, 0, 4);
	fb.base = out->n;
	flatbuf_put_scalar(&fb, 0, 4); /* the root */
	flatbuf_point(&fb, fb.base, flatbuf_put_table(&fb, slots, ARRAY_SIZE(slots) - !about, at));
	if (about)
		put_metadata(&fb, at[MESSAGE_METADATA], ARROW_BATCH_KEY, about);
	*ret_header = at[MESSAGE_HEADER];
	return fb;
}

static void end_message(struct flatbuf_out *fb)
{
	flatbuf_align(fb, ARROW_ALIGN);
	flatbuf_point(fb, fb->base - 4, fb->buf->n - 4); /* a length is no offset: 4 less */
}

/* --- The schema --- */

static struct flatbuf_slot slot_of(u32 bytes, u64 value)
{
	return (struct flatbuf_slot){ bytes, value };
}

/* The table of a member of union Type. */
static size_t put_type(struct flatbuf_out *fb, const struct arrow_field *f)
{
	bool has_unit = f->kind == ARROW_DURATION || f->kind == ARROW_TIMESTAMP;
	struct flatbuf_slot slots[3];
	size_t table, at[3];
	u32 n = 0;

	if (f->kind == ARROW_INT) {
		slots[n++] = slot_of(4, 8 * f->bytes);
		slots[n++] = slot_of(1, f->type.kind == TYPE_INT && f->type.is_signed);
	} else if (has_unit) {
		slots[n++] = slot_of(2, ARROW_UNIT_NS);
	} else if (f->kind == ARROW_REAL) {
		slots[n++] = slot_of(2, 2);
	} else if (f->kind == ARROW_FIXED_BINARY) {
		slots[n++] = slot_of(4, f->bytes);
	} else if (f->kind == ARROW_DECIMAL) {
		slots[n++] = slot_of(4, ARROW_DECIMAL_DIGITS);
		slots[n++] = slot_of(4, 0);
		slots[n++] = slot_of(4, 128);
	}
	if (f->kind == ARROW_TIMESTAMP)
		slots[n++] = slot_of(4, 0); /* the time zone */
	table = flatbuf_put_table(fb, slots, n, at);
	if (f->kind == ARROW_TIMESTAMP)
		flatbuf_point(fb, at[1], flatbuf_put_string(fb, "UTC"));
	return table;
}

static size_t put_encoding(struct flatbuf_out *fb, u32 id)
{
	const struct arrow_field index = { .kind = ARROW_INT,
					   .type = type_int(32, true),
					   .bytes = 4 };
	const struct flatbuf_slot slots[] = {
		[ENCODING_ID] = { 8, id }, [ENCODING_INDEX_TYPE] = { 4 }
	};
	size_t at[ARRAY_SIZE(slots)];
	size_t table = flatbuf_put_table(fb, slots, ARRAY_SIZE(slots), at);

	flatbuf_point(fb, at[ENCODING_INDEX_TYPE], put_type(fb, &index));
	return table;
}

/* A vector of n offsets; where the first one stands. */
static size_t put_offsets(struct flatbuf_out *fb, size_t from, u32 n)
{
	size_t at;

	flatbuf_point(fb, from, flatbuf_put_vector(fb, n, 4));
	at = fb->buf->n;
	for (u32 i = 0; i < n; i++)
		flatbuf_put_scalar(fb, 0, 4);
	return at;
}

/* about: its metadata, or NULL. */
static size_t put_field(struct flatbuf_out *fb, const struct arrow_field *f, const char *about)
{
	const struct arrow_field *shown = f->dictionary ? f->dictionary : f;
	const struct flatbuf_slot slots[] = {
		[FIELD_NAME] = { 4 },
		[FIELD_NULLABLE] = { 1, 1 },
		[FIELD_TYPE_KIND] = { 1, shown->kind },
		[FIELD_TYPE] = { 4 },
		[FIELD_DICTIONARY] = { f->dictionary ? 4 : 0 },
		[FIELD_CHILDREN] = { 4 },
		[FIELD_METADATA] = { about ? 4 : 0 },
	};
	size_t at[ARRAY_SIZE(slots)], children;
	size_t field = flatbuf_put_table(fb, slots, ARRAY_SIZE(slots), at);

	flatbuf_point(fb, at[FIELD_NAME], flatbuf_put_string(fb, f->name));
	flatbuf_point(fb, at[FIELD_TYPE], put_type(fb, shown));
	if (f->dictionary)
		flatbuf_point(fb, at[FIELD_DICTIONARY], put_encoding(fb, f->id));
	/* Readers want the vector, though it is empty. */
	children = put_offsets(fb, at[FIELD_CHILDREN], f->n_children);
	if (about)
		put_metadata(fb, at[FIELD_METADATA], ARROW_TYPE_KEY, about);
	for (u32 i = 0; i < f->n_children; i++)
		flatbuf_point(fb, children + 4 * (size_t)i, put_field(fb, &f->children[i], NULL));
	return field;
}

void arrow_write_begin(struct file_writer *w)
{
	const struct flatbuf_slot slots[] = {
		[SCHEMA_ENDIANNESS] = { 0 }, [SCHEMA_FIELDS] = { 4 }
	};
	struct arrow_writer *state = arena_new(&w->arena, struct arrow_writer);
	struct arrow_field *root = &state->frame.root;
	size_t at[ARRAY_SIZE(slots)], header, fields;
	struct flatbuf_out fb = begin_message(w->out, HEADER_SCHEMA, 0, NULL, &header);
	struct buf about;

	w->state = state;
	arrow_frame_init(&state->frame, w->schema, w->is_window, &w->arena);
	state->frame.offset_ns = w->offset_ns;
	buf_init(&state->nodes);
	buf_init(&state->ranges);
	buf_init_in(&about, &w->arena);
	flatbuf_point(&fb, header, flatbuf_put_table(&fb, slots, ARRAY_SIZE(slots), at));
	fields = put_offsets(&fb, at[SCHEMA_FIELDS], root->n_children);
	for (u32 i = 0; i < root->n_children; i++) {
		const struct arrow_field *f = &root->children[i];

		buf_reset(&about);
		file_put_type(&about, f->type);
		flatbuf_point(&fb, fields + 4 * (size_t)i, put_field(&fb, f, about.at));
	}
	end_message(&fb);
}

/* --- Batches --- */

static void add_range(struct arrow_writer *state, u64 bytes)
{
	const u64 range[2] = { state->body_bytes, bytes };

	buf_put(&state->ranges, range, sizeof(range));
	state->body_bytes += ALIGN_UP(bytes, ARROW_ALIGN);
}

/* The field and its children as the head of a message wants them. */
static void add_field(struct arrow_writer *state, struct arrow_field *f)
{
	const u64 node[2] = { f->n, f->n_nulls };
	struct buf *buffers[3];
	u32 n = arrow_buffers(f, buffers);

	buf_put(&state->nodes, node, sizeof(node));
	for (u32 i = 0; i < n; i++)
		add_range(state, buffers[i] ? buffers[i]->n : 0);
	for (u32 i = 0; i < f->n_children; i++)
		add_field(state, &f->children[i]);
}

/* The same, the bytes themselves. */
static void put_body(struct buf *out, struct arrow_field *f)
{
	struct buf *buffers[3];
	u32 n = arrow_buffers(f, buffers);

	for (u32 i = 0; i < n; i++) {
		if (!buffers[i])
			continue;
		buf_put(out, buffers[i]->at, buffers[i]->n);
		buf_fill(out, '\0', ALIGN_UP(buffers[i]->n, ARROW_ALIGN) - buffers[i]->n);
	}
	for (u32 i = 0; i < f->n_children; i++)
		put_body(out, &f->children[i]);
}

/* A vector of pairs of u64. */
static void put_pairs(struct flatbuf_out *fb, size_t from, const struct buf *pairs)
{
	flatbuf_point(fb, from, flatbuf_put_vector(fb, (u32)(pairs->n / 16), 8));
	buf_put(fb->buf, pairs->at, pairs->n);
}

static size_t put_record_batch(struct flatbuf_out *fb, const struct arrow_writer *state, u64 n_rows)
{
	const struct flatbuf_slot slots[] = {
		[BATCH_ROWS] = { 8, n_rows }, [BATCH_NODES] = { 4 }, [BATCH_BUFFERS] = { 4 }
	};
	size_t at[ARRAY_SIZE(slots)];
	size_t table = flatbuf_put_table(fb, slots, ARRAY_SIZE(slots), at);

	put_pairs(fb, at[BATCH_NODES], &state->nodes);
	put_pairs(fb, at[BATCH_BUFFERS], &state->ranges);
	return table;
}

/* A message of these fields. */
static void put_message(struct file_writer *w, struct arrow_field *fields, u32 n, u64 n_rows,
			const u32 *dictionary, const char *about)
{
	const struct flatbuf_slot slots[] = {
		[DICTIONARY_ID] = { 8, dictionary ? *dictionary : 0 }, [DICTIONARY_DATA] = { 4 }
	};
	struct arrow_writer *state = w->state;
	size_t at[ARRAY_SIZE(slots)], header;
	struct flatbuf_out fb;

	buf_reset(&state->nodes);
	buf_reset(&state->ranges);
	state->body_bytes = 0;
	for (u32 i = 0; i < n; i++)
		add_field(state, &fields[i]);
	fb = begin_message(w->out, dictionary ? HEADER_DICTIONARY : HEADER_BATCH, state->body_bytes,
			   about, &header);
	if (dictionary) {
		flatbuf_point(&fb, header, flatbuf_put_table(&fb, slots, ARRAY_SIZE(slots), at));
		header = at[DICTIONARY_DATA];
	}
	flatbuf_point(&fb, header, put_record_batch(&fb, state, n_rows));
	end_message(&fb);
	for (u32 i = 0; i < n; i++)
		put_body(w->out, &fields[i]);
	if (state->nodes.is_cut || state->ranges.is_cut)
		w->error = arrow_no_memory;
}

/* A record batch, behind the dictionaries that it needs: each takes the place of the one before. */
static void put_batch(struct file_writer *w, const struct value *values, u32 n, s64 other_row,
		      const char *about)
{
	struct arrow_writer *state = w->state;
	struct arrow_field *root = &state->frame.root;

	if (!arrow_frame_set(&state->frame, values, n, other_row)) {
		file_writer_refuse(w, state->frame.error, state->frame.column);
		return;
	}
	for (u32 i = 0; i < root->n_children; i++) {
		struct arrow_field *f = &root->children[i];

		if (f->dictionary)
			put_message(w, f->dictionary, 1, f->dictionary->n, &f->id, NULL);
	}
	put_message(w, root->children, root->n_children, n, NULL, about);
}

/* Rows that fit one batch, at least one; texts of a single row always do. */
static u32 batch_rows(const struct schema *schema, const struct value *values, u32 n)
{
	u64 bytes = 0;
	u32 rows;

	for (rows = 0; rows < MIN(n, BATCH_ROWS_MAX) && bytes < BATCH_TEXT_BYTES_MAX; rows++) {
		for (u32 i = 0; i < schema->n_columns; i++) {
			const struct value *v = &values[(size_t)rows * schema->n_columns + i];

			bytes += v->kind == VALUE_TEXT ? v->n : 0;
		}
	}
	return rows;
}

void arrow_write_rows(struct file_writer *w, const struct value *values, u32 n)
{
	while (n && !w->error) {
		u32 rows = batch_rows(w->schema, values, n);

		put_batch(w, values, rows, -1, NULL);
		values += (size_t)rows * w->schema->n_columns;
		n -= rows;
	}
}

void file_writer_window(struct file_writer *w, const struct batch *batch, const char *about)
{
	if (!w->error)
		put_batch(w, batch->values, batch->n_rows, batch->other_row, about);
}

void arrow_write_end(struct file_writer *w)
{
	struct flatbuf_out fb = { .buf = w->out, .base = w->out->n };
	struct arrow_writer *state = w->state;

	if (!w->error) {
		flatbuf_put_scalar(&fb, ARROW_CONTINUATION, 4);
		flatbuf_put_scalar(&fb, 0, 4);
	}
	arrow_frame_free(&state->frame);
	buf_free(&state->nodes);
	buf_free(&state->ranges);
}
