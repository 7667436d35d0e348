/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Rows -> an Arrow IPC stream, one record batch for each call.  Types that Arrow has are
 * Arrow's (duration and timestamp in ns, timestamps in UTC); a POINTER is a uint64.  Each
 * field's metadata says the column's own type.  Texts are stored byte for byte in utf8
 * columns, also those of the kernel that are no UTF-8.
 */

#include "file/arrow.h"
#include "file/flatbuf.h"
#include "file/internal.h"

/* Offsets of texts are 32 bits wide: a batch is smaller than this, if need be of one row. */
#define BATCH_TEXT_BYTES_MAX (1u << 30)
#define BATCH_ROWS_MAX	     (1u << 16)

struct arrow_writer {
	struct buf body;
	struct buf ranges; /* of the body's buffers: pairs of u64, offset and bytes */
	u64 *nulls;	   /* of each column */
};

/* Begins a message; its length is set by end_message(). */
static struct flatbuf_out begin_message(struct buf *out, u32 header, u64 body_bytes,
					size_t *ret_header)
{
	const struct flatbuf_slot slots[] = { [MESSAGE_VERSION] = { 2, ARROW_V5 },
					      [MESSAGE_HEADER_TYPE] = { 1, header },
					      [MESSAGE_HEADER] = { 4 },
					      [MESSAGE_BODY_BYTES] = { 8, body_bytes } };
	struct flatbuf_out fb = { .buf = out, .base = out->n };
	size_t at[ARRAY_SIZE(slots)];

	flatbuf_put_scalar(&fb, ARROW_CONTINUATION, 4);
	flatbuf_put_scalar(&fb, 0, 4);
	fb.base = out->n;
	flatbuf_put_scalar(&fb, 0, 4); /* the root */
	flatbuf_point(&fb, fb.base, flatbuf_put_table(&fb, slots, ARRAY_SIZE(slots), at));
	*ret_header = at[MESSAGE_HEADER];
	return fb;
}

static void end_message(struct flatbuf_out *fb)
{
	flatbuf_align(fb, ARROW_ALIGN);
	flatbuf_point(fb, fb->base - 4, fb->buf->n - 4); /* a length is no offset: 4 less */
}

/* --- The schema --- */

/* A kind of union Type, and the slots of its table; absent ones at its end are none. */
struct arrow_stored {
	u32 kind;
	struct flatbuf_slot slots[2];
};

static struct arrow_stored stored_as(struct type type)
{
	bool is_signed = type.kind == TYPE_INT && type.is_signed;

	if (type.kind == TYPE_INT || type.kind == TYPE_POINTER)
		return (struct arrow_stored){ ARROW_INT, { { 4, type.bits }, { 1, is_signed } } };
	if (type.kind == TYPE_BOOL)
		return (struct arrow_stored){ .kind = ARROW_BOOL };
	if (type.kind == TYPE_DURATION)
		return (struct arrow_stored){ ARROW_DURATION, { { 2, ARROW_UNIT_NS } } };
	if (type.kind == TYPE_TIMESTAMP) /* and a time zone */
		return (struct arrow_stored){ ARROW_TIMESTAMP, { { 2, ARROW_UNIT_NS }, { 4 } } };
	if (type.kind == TYPE_REAL)
		return (struct arrow_stored){ ARROW_REAL, { { 2, 2 } } };
	if (type.kind == TYPE_BLOB)
		return (struct arrow_stored){ ARROW_FIXED_BINARY, { { 4, type.bytes } } };
	return (struct arrow_stored){ .kind = ARROW_UTF8 };
}

/* [{"ebql": the type}] */
static void put_metadata(struct flatbuf_out *fb, size_t from, struct type type, struct arena *arena)
{
	const struct flatbuf_slot pair[] = { [PAIR_KEY] = { 4 }, [PAIR_VALUE] = { 4 } };
	size_t at[ARRAY_SIZE(pair)];
	struct buf text;

	buf_init_in(&text, arena);
	file_put_type(&text, type);
	flatbuf_point(fb, from, flatbuf_put_vector(fb, 1, 4));
	from = fb->buf->n;
	flatbuf_put_scalar(fb, 0, 4);
	flatbuf_point(fb, from, flatbuf_put_table(fb, pair, ARRAY_SIZE(pair), at));
	flatbuf_point(fb, at[PAIR_KEY], flatbuf_put_string(fb, ARROW_TYPE_KEY));
	flatbuf_point(fb, at[PAIR_VALUE], flatbuf_put_string(fb, text.at));
}

static size_t put_field(struct flatbuf_out *fb, const char *name, struct type type,
			struct arena *arena)
{
	const struct arrow_stored stored = stored_as(type);
	u32 n_type_slots = stored.slots[1].bytes ? 2 : stored.slots[0].bytes ? 1 : 0;
	const struct flatbuf_slot slots[] = {
		[FIELD_NAME] = { 4 },
		[FIELD_NULLABLE] = { 1, 1 },
		[FIELD_TYPE_KIND] = { 1, stored.kind },
		[FIELD_TYPE] = { 4 },
		[FIELD_DICTIONARY] = { 0 },
		[FIELD_CHILDREN] = { 4 },
		[FIELD_METADATA] = { 4 },
	};
	size_t at[ARRAY_SIZE(slots)], type_at[2];
	size_t field = flatbuf_put_table(fb, slots, ARRAY_SIZE(slots), at);

	flatbuf_point(fb, at[FIELD_NAME], flatbuf_put_string(fb, name));
	flatbuf_point(fb, at[FIELD_TYPE],
		      flatbuf_put_table(fb, stored.slots, n_type_slots, type_at));
	if (stored.kind == ARROW_TIMESTAMP)
		flatbuf_point(fb, type_at[1], flatbuf_put_string(fb, "UTC"));
	/* Readers want the vector, though it is empty. */
	flatbuf_point(fb, at[FIELD_CHILDREN], flatbuf_put_vector(fb, 0, 4));
	put_metadata(fb, at[FIELD_METADATA], type, arena);
	return field;
}

void arrow_write_begin(struct file_writer *w)
{
	const struct flatbuf_slot slots[] = {
		[SCHEMA_ENDIANNESS] = { 0 }, [SCHEMA_FIELDS] = { 4 }
	};
	struct arrow_writer *state = arena_new(&w->arena, struct arrow_writer);
	size_t at[ARRAY_SIZE(slots)], header, fields;
	struct flatbuf_out fb = begin_message(w->out, HEADER_SCHEMA, 0, &header);
	u32 n = w->schema->n_columns;

	w->state = state;
	buf_init(&state->body);
	buf_init(&state->ranges);
	state->nulls = arena_array(&w->arena, u64, n + 1);
	flatbuf_point(&fb, header, flatbuf_put_table(&fb, slots, ARRAY_SIZE(slots), at));
	flatbuf_point(&fb, at[SCHEMA_FIELDS], flatbuf_put_vector(&fb, n, 4));
	fields = fb.buf->n;
	for (u32 i = 0; i < n; i++)
		flatbuf_put_scalar(&fb, 0, 4);
	for (u32 i = 0; i < n; i++)
		flatbuf_point(&fb, fields + 4 * (size_t)i,
			      put_field(&fb, w->names[i], w->schema->columns[i].type, &w->arena));
	end_message(&fb);
}

/* --- Batches --- */

/* Ends a buffer of the body that began at `from`. */
static void end_buffer(struct arrow_writer *state, size_t from)
{
	const u64 range[2] = { from, state->body.n - from };

	buf_put(&state->ranges, range, sizeof(range));
	buf_fill(&state->body, '\0', ALIGN_UP(state->body.n, ARROW_ALIGN) - state->body.n);
}

/* One bit a row, the lowest first: is_value: the value's, else whether there is one. */
static void put_bits(struct arrow_writer *state, const struct value *values, u32 stride, u32 n,
		     bool is_value)
{
	size_t from = state->body.n;
	u8 byte = 0;

	for (u32 i = 0; i < n; i++) {
		const struct value *v = &values[(size_t)i * stride];
		bool bit = v->kind != VALUE_NULL && (!is_value || v->integer);

		byte |= (u8)(bit << i % 8);
		if (i % 8 == 7 || i == n - 1) {
			buf_putc(&state->body, (char)byte);
			byte = 0;
		}
	}
	end_buffer(state, from);
}

/* Values of one width; zeroes for a NULL. */
static void put_fixed(struct arrow_writer *state, struct type type, const struct value *values,
		      u32 stride, u32 n)
{
	u32 bytes = type.kind == TYPE_BLOB ? type.bytes : type.kind == TYPE_INT ? type.bits / 8 : 8;
	size_t from = state->body.n;

	for (u32 i = 0; i < n; i++) {
		const struct value *v = &values[(size_t)i * stride];

		if (v->kind == VALUE_NULL) {
			buf_fill(&state->body, '\0', bytes);
		} else if (type.kind == TYPE_BLOB) {
			buf_put(&state->body, v->text, bytes);
		} else if (type.kind == TYPE_REAL) {
			double real = v->kind == VALUE_REAL ? v->real : (double)v->integer;

			buf_put(&state->body, &real, bytes);
		} else {
			u64 word = (u64)v->integer;

			buf_put(&state->body, &word, bytes); /* little-endian, as the machine */
		}
	}
	end_buffer(state, from);
}

static void put_texts(struct arrow_writer *state, const struct value *values, u32 stride, u32 n)
{
	size_t from = state->body.n;
	u32 offset = 0;

	buf_put(&state->body, &offset, sizeof(offset));
	for (u32 i = 0; i < n; i++) {
		const struct value *v = &values[(size_t)i * stride];

		offset += v->kind == VALUE_TEXT ? v->n : 0;
		buf_put(&state->body, &offset, sizeof(offset));
	}
	end_buffer(state, from);
	from = state->body.n;
	for (u32 i = 0; i < n; i++) {
		const struct value *v = &values[(size_t)i * stride];

		if (v->kind == VALUE_TEXT)
			buf_put(&state->body, v->text, v->n);
	}
	end_buffer(state, from);
}

static u64 put_column(struct arrow_writer *state, struct type type, const struct value *values,
		      u32 stride, u32 n)
{
	u64 nulls = 0;

	for (u32 i = 0; i < n; i++)
		nulls += values[(size_t)i * stride].kind == VALUE_NULL;
	if (nulls)
		put_bits(state, values, stride, n, false);
	else
		end_buffer(state, state->body.n);
	if (type.kind == TYPE_BOOL)
		put_bits(state, values, stride, n, true);
	else if (type_is_word(type) || type.kind == TYPE_REAL || type.kind == TYPE_BLOB)
		put_fixed(state, type, values, stride, n);
	else
		put_texts(state, values, stride, n);
	return nulls;
}

static void put_batch(struct file_writer *w, const struct value *values, u32 n)
{
	const struct flatbuf_slot slots[] = {
		[BATCH_ROWS] = { 8, n }, [BATCH_NODES] = { 4 }, [BATCH_BUFFERS] = { 4 }
	};
	struct arrow_writer *state = w->state;
	u32 n_columns = w->schema->n_columns;
	size_t at[ARRAY_SIZE(slots)], header;
	struct flatbuf_out fb;

	buf_reset(&state->body);
	buf_reset(&state->ranges);
	for (u32 i = 0; i < n_columns; i++)
		state->nulls[i] =
			put_column(state, w->schema->columns[i].type, values + i, n_columns, n);
	if (state->body.is_cut || state->ranges.is_cut) {
		w->error = "rows for which there is no memory";
		return;
	}
	fb = begin_message(w->out, HEADER_BATCH, state->body.n, &header);
	flatbuf_point(&fb, header, flatbuf_put_table(&fb, slots, ARRAY_SIZE(slots), at));
	flatbuf_point(&fb, at[BATCH_NODES], flatbuf_put_vector(&fb, n_columns, 8));
	for (u32 i = 0; i < n_columns; i++) {
		flatbuf_put_scalar(&fb, n, 8);
		flatbuf_put_scalar(&fb, state->nulls[i], 8);
	}
	flatbuf_point(&fb, at[BATCH_BUFFERS],
		      flatbuf_put_vector(&fb, (u32)(state->ranges.n / 16), 8));
	buf_put(fb.buf, state->ranges.at, state->ranges.n);
	end_message(&fb);
	buf_put(w->out, state->body.at, state->body.n);
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
	while (n) {
		u32 rows = batch_rows(w->schema, values, n);

		put_batch(w, values, rows);
		values += (size_t)rows * w->schema->n_columns;
		n -= rows;
	}
}

void arrow_write_end(struct file_writer *w)
{
	struct flatbuf_out fb = { .buf = w->out, .base = w->out->n };
	struct arrow_writer *state = w->state;

	if (!w->error) {
		flatbuf_put_scalar(&fb, ARROW_CONTINUATION, 4);
		flatbuf_put_scalar(&fb, 0, 4);
	}
	buf_free(&state->body);
	buf_free(&state->ranges);
}
