/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The messages of an Arrow stream -> batches and dictionaries -> values.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "file/arrow_read.h"

/* Rows of a batch that has only columns of NULLs. */
#define EMPTY_ROWS_MAX (1u << 20)

static bool bit(const u8 *bits, u64 i)
{
	return bits[i / 8] >> i % 8 & 1;
}

/* --- Messages --- */

/* n bytes, then passed; NULL: fewer are left, or (*ret_error) they cannot be read. */
static const u8 *take(struct file_pass *pass, u64 n, int *ret_error)
{
	struct reader *r = &pass->reader;

	*ret_error = 0;
	if (n > reader_has(r) + r->left_bytes)
		return NULL;
	*ret_error = reader_need(r, n);
	if (*ret_error || reader_has(r) < n)
		return NULL;
	r->start += n;
	return (const u8 *)r->buf + r->start - n;
}

static int complain_short(struct file_pass *pass, int error)
{
	if (error)
		return file_complain_read(pass, error);
	return file_cut(pass, 0);
}

/* Bytes of metadata that follow; 0 at the end of the stream.  1: told by *ret_error. */
static int metadata_bytes(struct file_pass *pass, u32 *ret_bytes)
{
	struct reader *r = &pass->reader;
	const u8 *at;
	int error = 0;

	*ret_bytes = 0;
	if (!reader_has(r) && !r->left_bytes)
		return 0; /* a recording that was stopped has no end mark */
	at = take(pass, 4, &error);
	if (at && flatbuf_load(at, 4) == ARROW_CONTINUATION)
		at = take(pass, 4, &error);
	if (!at)
		return complain_short(pass, error);
	*ret_bytes = (u32)flatbuf_load(at, 4); /* before format 0.15 without the four bytes of ff */
	return 0;
}

int arrow_next_message(struct file_pass *pass, struct buf *metadata,
		       struct arrow_message *ret_message)
{
	u64 version;
	u32 bytes;
	const u8 *at;
	int error = metadata_bytes(pass, &bytes);

	if (error)
		return error;
	if (!bytes)
		return 0;
	if (bytes > ARROW_METADATA_MAX)
		return file_complain(pass, "is no Arrow stream");
	at = take(pass, bytes, &error);
	if (!at)
		return complain_short(pass, error);
	buf_reset(metadata);
	buf_put(metadata, at, bytes);
	if (metadata->is_cut)
		return file_complain_read(pass, -ENOMEM);
	*ret_message = (struct arrow_message){ .fb = { (const u8 *)metadata->at, bytes } };

	struct flatbuf *fb = &ret_message->fb;
	u32 root = flatbuf_root(fb);

	version = flatbuf_scalar(fb, root, MESSAGE_VERSION, 2, 0);
	ret_message->header_kind = (u32)flatbuf_scalar(fb, root, MESSAGE_HEADER_TYPE, 1, 0);
	ret_message->header = flatbuf_offset(fb, root, MESSAGE_HEADER);
	ret_message->body_bytes = flatbuf_scalar(fb, root, MESSAGE_BODY_BYTES, 8, 0);
	if (fb->is_broken || !ret_message->header)
		return file_complain(pass, "is no Arrow stream");
	if (version != ARROW_V4 && version != ARROW_V5)
		return file_complain(pass, "is of a version of Arrow that is not read here");
	return 1;
}

/* --- Bodies --- */

struct body {
	struct flatbuf *fb;
	u32 table, nodes, buffers; /* of the RecordBatch */
	u32 n_nodes, n_buffers, node, buffer;
	const u8 *at;
	u64 bytes, n_rows;
};

/* The next buffer, with at least n bytes; false when it is not there. */
static bool next_buffer(struct body *b, u64 n, const u8 **ret_at, u64 *ret_bytes)
{
	const u8 *at = b->fb->at + b->buffers + 4 + 16 * (size_t)b->buffer;
	u64 offset, bytes;

	if (b->buffer++ >= b->n_buffers)
		return false;
	offset = flatbuf_load(at, 8);
	bytes = flatbuf_load(at + 8, 8);
	if (offset > b->bytes || bytes > b->bytes - offset || bytes < n)
		return false;
	*ret_at = b->at + offset;
	*ret_bytes = bytes;
	return true;
}

/* The buffers of one column; false when they do not hold n_rows values. */
static bool take_values(struct body *b, const struct arrow_layout *layout, struct arrow_values *v)
{
	const u8 *node = b->fb->at + b->nodes + 4 + 16 * (size_t)b->node;
	u64 bits = (b->n_rows + 7) / 8, n = b->n_rows, bytes;
	bool is_text = layout->kind == ARROW_UTF8 || layout->kind == ARROW_LARGE_UTF8;

	*v = (struct arrow_values){ 0 };
	if (b->node++ >= b->n_nodes || flatbuf_load(node, 8) != n)
		return false;
	if (layout->kind == ARROW_NULL)
		return true;
	/* Without NULLs the bits may be left out. */
	if (!next_buffer(b, flatbuf_load(node + 8, 8) ? bits : 0, &v->validity, &bytes))
		return false;
	if (!bytes || !flatbuf_load(node + 8, 8))
		v->validity = NULL;
	if (layout->kind == ARROW_BOOL)
		return next_buffer(b, bits, &v->values, &bytes);
	/* A batch without rows may leave out its one offset. */
	n = is_text && n ? n + 1 : n;
	if (!next_buffer(b, n * layout->bytes, &v->values, &bytes))
		return false;
	return !is_text || next_buffer(b, 0, &v->bytes, &v->n_bytes);
}

/* The head of a RecordBatch and its body. */
static int open_body(struct file_pass *pass, struct arrow_message *m, u32 table, struct body *b)
{
	struct flatbuf *fb = &m->fb;
	int error;

	*b = (struct body){ .fb = fb, .table = table, .bytes = m->body_bytes };
	b->n_rows = flatbuf_scalar(fb, table, BATCH_ROWS, 8, 0);
	b->nodes = flatbuf_offset(fb, table, BATCH_NODES);
	b->buffers = flatbuf_offset(fb, table, BATCH_BUFFERS);
	b->n_nodes = flatbuf_count(fb, b->nodes, 16);
	b->n_buffers = flatbuf_count(fb, b->buffers, 16);
	if (flatbuf_offset(fb, table, BATCH_COMPRESSION))
		return file_complain(pass, "is compressed, which is not read here");
	/* A stored value takes at least a bit; rows of which nothing is stored are few. */
	if (fb->is_broken || !table || b->n_rows / 8 > b->bytes + EMPTY_ROWS_MAX / 8)
		return file_complain(pass, "is broken");
	b->at = take(pass, b->bytes, &error);
	return b->at ? 0 : complain_short(pass, error);
}

/* --- Texts --- */

/* Text i of offsets and bytes; false when it lies outside. */
static bool text_at(const struct arrow_values *v, u32 offset_bytes, u64 i, const char **ret_text,
		    u32 *ret_n)
{
	u64 from = flatbuf_load(v->values + i * offset_bytes, offset_bytes);
	u64 to = flatbuf_load(v->values + (i + 1) * offset_bytes, offset_bytes);

	if (from > to || to > v->n_bytes || to - from > FILE_ROW_BYTES_MAX)
		return false;
	*ret_text = (const char *)v->bytes + from;
	*ret_n = (u32)(to - from);
	return !memchr(*ret_text, '\0', *ret_n);
}

static struct arrow_dictionary *find_dictionary(struct arrow_walk *walk, s64 id)
{
	for (u32 i = 0; i < walk->n_dictionaries; i++)
		if (walk->dictionaries[i].id == id)
			return &walk->dictionaries[i];
	return NULL;
}

/* false: no memory. */
static bool add_text(struct arrow_dictionary *d, const char *text, u32 n)
{
	u64 end = d->texts.n + n;

	buf_put(&d->texts, text, n);
	buf_put(&d->ends, &end, sizeof(end));
	d->n++;
	return !d->texts.is_cut && !d->ends.is_cut;
}

/* A dictionary batch: new texts, or more of them. */
static int take_dictionary(struct arrow_walk *walk, struct arrow_message *m)
{
	s64 id = (s64)flatbuf_scalar(&m->fb, m->header, DICTIONARY_ID, 8, 0);
	u32 table = flatbuf_offset(&m->fb, m->header, DICTIONARY_DATA), n;
	struct arrow_dictionary *d = find_dictionary(walk, id);
	struct arrow_layout layout;
	struct arrow_values values;
	struct body body;
	const char *text;
	int error = open_body(walk->pass, m, table, &body);

	if (error || !d)
		return error; /* of a column that is not there: nobody asks for it */
	layout = (struct arrow_layout){ d->is_large ? ARROW_LARGE_UTF8 : ARROW_UTF8,
					d->is_large ? 8 : 4, false, 0 };
	if (!take_values(&body, &layout, &values))
		return file_complain(walk->pass, "a dictionary is broken");
	if (values.validity)
		return file_complain(walk->pass, "a dictionary that holds NULLs is not read here");
	if (!flatbuf_scalar(&m->fb, m->header, DICTIONARY_IS_DELTA, 1, 0)) {
		buf_reset(&d->texts);
		buf_reset(&d->ends);
		d->n = 0;
	}
	for (u64 i = 0; i < body.n_rows; i++) {
		if (!text_at(&values, layout.bytes, i, &text, &n))
			return file_complain(walk->pass, "a text of a dictionary is broken");
		if (!add_text(d, text, n))
			return file_complain_read(walk->pass, -ENOMEM);
	}
	return 0;
}

/* --- Batches --- */

int arrow_walk_open(struct arrow_walk *walk, struct file_pass *pass, const struct arrow_file *file)
{
	u32 n = file->file.schema.n_columns;

	*walk = (struct arrow_walk){ .pass = pass,
				     .schema = &file->file.schema,
				     .columns = file->columns };
	buf_init(&walk->metadata);
	walk->values = calloc(n + 1, sizeof(*walk->values));
	walk->dictionaries = calloc(n + 1, sizeof(*walk->dictionaries));
	if (!walk->values || !walk->dictionaries)
		return file_complain_read(pass, -ENOMEM);
	for (u32 i = 0; i < n; i++) {
		struct arrow_dictionary *d = &walk->dictionaries[walk->n_dictionaries];

		if (!file->columns[i].has_dictionary ||
		    find_dictionary(walk, file->columns[i].dictionary))
			continue;
		d->id = file->columns[i].dictionary;
		d->is_large = file->columns[i].is_large;
		buf_init(&d->texts);
		buf_init(&d->ends);
		walk->n_dictionaries++;
	}
	return 0;
}

void arrow_walk_close(struct arrow_walk *walk)
{
	for (u32 i = 0; i < walk->n_dictionaries; i++) {
		buf_free(&walk->dictionaries[i].texts);
		buf_free(&walk->dictionaries[i].ends);
	}
	buf_free(&walk->metadata);
	free(walk->dictionaries);
	free(walk->values);
}

static int take_batch(struct arrow_walk *walk, struct arrow_message *m)
{
	struct body body;
	int error = open_body(walk->pass, m, m->header, &body);

	if (error == -ENODATA)
		walk->pass->n_cut = body.n_rows;
	if (error)
		return error;
	for (u32 i = 0; i < walk->schema->n_columns; i++) {
		if (!take_values(&body, &walk->columns[i].layout, &walk->values[i]))
			return file_complain(walk->pass, "the values of \"%s\" are not all there",
					     walk->schema->columns[i].name);
	}
	walk->n_rows = body.n_rows;
	walk->row = 0;
	return 0;
}

int arrow_walk_next(struct arrow_walk *walk)
{
	struct arrow_message message;
	int rc;

	walk->n_rows = walk->row = 0;
	while (!walk->is_over && !walk->n_rows) {
		walk->pass->place++;
		rc = arrow_next_message(walk->pass, &walk->metadata, &message);
		walk->is_over = rc <= 0;
		if (rc < 0)
			return rc;
		if (rc == 0)
			break;
		if (message.header_kind == HEADER_BATCH)
			rc = take_batch(walk, &message);
		else if (message.header_kind == HEADER_DICTIONARY)
			rc = take_dictionary(walk, &message);
		else
			rc = file_complain(walk->pass, "a message that is no batch");
		if (rc < 0) {
			walk->is_over = true;
			return rc;
		}
	}
	return walk->n_rows > 0;
}

/* --- Values --- */

static int broken(struct arrow_walk *walk, u32 column, const char *what)
{
	return file_complain(walk->pass, "row %llu: %s of \"%s\"", (unsigned long long)walk->row,
			     what, walk->schema->columns[column].name);
}

static s128 word_at(const struct arrow_layout *layout, const struct arrow_values *v, u64 row)
{
	s128 wide;
	u32 shift;
	u64 word;

	if (layout->bytes == sizeof(wide)) {
		memcpy(&wide, v->values + row * sizeof(wide), sizeof(wide));
		return wide;
	}
	word = flatbuf_load(v->values + row * layout->bytes, layout->bytes);
	shift = 64 - 8 * layout->bytes;
	return layout->is_signed ? (s128)((s64)(word << shift) >> shift) : (s128)word;
}

static int dictionary_value(struct arrow_walk *walk, u32 column, u64 row, struct value *ret)
{
	const struct arrow_column *c = &walk->columns[column];
	const struct arrow_dictionary *d = find_dictionary(walk, c->dictionary);
	s128 i = word_at(&c->layout, &walk->values[column], row);
	const u64 *ends = (const u64 *)d->ends.at;
	u64 from;

	if (i < 0 || i >= d->n)
		return broken(walk, column, "a number outside the dictionary");
	from = i ? ends[i - 1] : 0;
	*ret = (struct value){ .kind = VALUE_TEXT,
			       .n = (u32)(ends[i] - from),
			       .text = d->texts.at + from };
	return 0;
}

/* A word in the column's type, or false when it lies outside. */
static bool word_value(struct type type, const struct arrow_layout *layout,
		       const struct arrow_values *v, u64 row, struct value *ret)
{
	s128 word = layout->kind == ARROW_BOOL ? bit(v->values, row) : word_at(layout, v, row);

	*ret = (struct value){ .kind = VALUE_INT, .integer = word };
	if (layout->scale)
		ret->integer *= layout->scale;
	return ret->integer >= type_min(type) && ret->integer <= type_max(type);
}

static void real_value(const struct arrow_layout *layout, const struct arrow_values *v, u64 row,
		       struct value *ret)
{
	float single;

	ret->kind = VALUE_REAL;
	if (layout->bytes == 8) {
		memcpy(&ret->real, v->values + 8 * row, 8);
	} else {
		memcpy(&single, v->values + 4 * row, 4);
		ret->real = single;
	}
}

int arrow_value(struct arrow_walk *walk, u32 column, struct value *ret)
{
	u64 row = walk->row - 1;
	const struct arrow_layout *layout = &walk->columns[column].layout;
	const struct arrow_values *v = &walk->values[column];

	*ret = (struct value){ .kind = VALUE_NULL };
	if (layout->kind == ARROW_NULL || (v->validity && !bit(v->validity, row)))
		return 0;
	if (walk->columns[column].has_dictionary)
		return dictionary_value(walk, column, row, ret);
	if (layout->kind == ARROW_UTF8 || layout->kind == ARROW_LARGE_UTF8) {
		ret->kind = VALUE_TEXT;
		if (!text_at(v, layout->bytes, row, &ret->text, &ret->n))
			return broken(walk, column, "a broken text");
	} else if (layout->kind == ARROW_FIXED_BINARY) {
		*ret = (struct value){ .kind = VALUE_TEXT,
				       .n = layout->bytes,
				       .text = (const char *)v->values + row * layout->bytes };
	} else if (layout->kind == ARROW_REAL) {
		real_value(layout, v, row, ret);
	} else if (!word_value(walk->schema->columns[column].type, layout, v, row, ret)) {
		return broken(walk, column, "a value out of range");
	}
	return 0;
}
