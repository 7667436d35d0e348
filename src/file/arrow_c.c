/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Columns -> the structures of Arrow's C data interface.  Each structure owns what it points to,
 * since a consumer may take a child out of its parent and release both in any order.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "file/arrow_build.h"
#include "file/arrow_c.h"
#include "file/internal.h"

/* --- Schemas --- */

struct schema_memory {
	char format[16];
	char *name, *metadata;
	struct ArrowSchema *nodes; /* the children, then the dictionary */
};

static void release_schema(struct ArrowSchema *schema)
{
	struct schema_memory *memory = schema->private_data;

	for (s64 i = 0; i < schema->n_children; i++)
		if (schema->children[i]->release)
			schema->children[i]->release(schema->children[i]);
	if (schema->dictionary && schema->dictionary->release)
		schema->dictionary->release(schema->dictionary);
	free(schema->children);
	free(memory->nodes);
	free(memory->name);
	free(memory->metadata);
	free(memory);
	schema->release = NULL;
}

static void put_format(const struct arrow_field *f, char *to, size_t n)
{
	static const char ints[][2] = { "cC", "sS", "iI", "lL" };
	static const char *const formats[ARROW_TYPE_N] = {
		[ARROW_REAL] = "g",	  [ARROW_BINARY] = "z",		 [ARROW_UTF8] = "u",
		[ARROW_BOOL] = "b",	  [ARROW_LIST] = "+l",		 [ARROW_STRUCT] = "+s",
		[ARROW_DURATION] = "tDn", [ARROW_TIMESTAMP] = "tsn:UTC",
	};
	bool is_signed = f->dictionary || (f->type.kind == TYPE_INT && f->type.is_signed);

	if (f->kind == ARROW_INT)
		snprintf(to, n, "%c", ints[__builtin_ctz(f->bytes)][!is_signed]);
	else if (f->kind == ARROW_DECIMAL)
		snprintf(to, n, "d:%u,0", ARROW_DECIMAL_DIGITS);
	else if (f->kind == ARROW_FIXED_BINARY)
		snprintf(to, n, "w:%u", f->bytes);
	else
		snprintf(to, n, "%s", formats[f->kind]);
}

/* One pair, as the interface packs it: their number, and each with its length before it. */
static char *pack_metadata(const char *key, const char *value)
{
	struct buf packed;
	const s32 n = 1, n_key = (s32)strlen(key), n_value = (s32)strlen(value);

	buf_init(&packed);
	buf_put(&packed, &n, sizeof(n));
	buf_put(&packed, &n_key, sizeof(n_key));
	buf_puts(&packed, key);
	buf_put(&packed, &n_value, sizeof(n_value));
	buf_puts(&packed, value);
	if (!packed.is_cut)
		return packed.at;
	buf_free(&packed);
	return NULL;
}

/* What the type of a column is called; false: no memory. */
static bool name_type(struct type type, char **ret_metadata)
{
	struct buf about;

	buf_init(&about);
	file_put_type(&about, type);
	*ret_metadata = about.is_cut ? NULL : pack_metadata(ARROW_TYPE_KEY, about.at);
	buf_free(&about);
	return *ret_metadata != NULL;
}

/* is_column: with the name of its type.  false: no memory; it may be released. */
static bool export_schema(const struct arrow_field *f, bool is_column, struct ArrowSchema *to)
{
	struct schema_memory *memory = calloc(1, sizeof(*memory));
	u32 n = f->n_children;

	*to = (struct ArrowSchema){ .flags = ARROW_FLAG_NULLABLE };
	if (!memory)
		return false;
	to->private_data = memory;
	to->release = release_schema;
	put_format(f, memory->format, sizeof(memory->format));
	to->format = memory->format;
	to->name = memory->name = strdup(f->name);
	to->children = calloc(n + 1, sizeof(*to->children));
	memory->nodes = calloc(n + 1, sizeof(*memory->nodes));
	if (!to->name || !to->children || !memory->nodes ||
	    (is_column && !name_type(f->type, &memory->metadata)))
		return false;
	to->metadata = memory->metadata;
	to->n_children = n;
	for (u32 i = 0; i < n; i++)
		to->children[i] = &memory->nodes[i];
	if (f->dictionary)
		to->dictionary = &memory->nodes[n];
	for (u32 i = 0; i < n; i++)
		if (!export_schema(&f->children[i], !*f->name, to->children[i]))
			return false;
	return !f->dictionary || export_schema(f->dictionary, false, to->dictionary);
}

/* --- Arrays --- */

struct array_memory {
	const void *buffers[3];
	void *owned[3];
	struct ArrowArray *nodes; /* the children, then the dictionary */
};

static void release_array(struct ArrowArray *array)
{
	struct array_memory *memory = array->private_data;

	for (s64 i = 0; i < array->n_children; i++)
		if (array->children[i]->release)
			array->children[i]->release(array->children[i]);
	if (array->dictionary && array->dictionary->release)
		array->dictionary->release(array->dictionary);
	for (u32 i = 0; i < ARRAY_SIZE(memory->owned); i++)
		free(memory->owned[i]);
	free(array->children);
	free(memory->nodes);
	free(memory);
	array->release = NULL;
}

/* Takes the buffers over. */
static void take_buffers(struct arrow_field *f, struct array_memory *memory, struct ArrowArray *to)
{
	static const u64 nothing[2]; /* what an array without values points to */
	struct buf *buffers[3];

	to->n_buffers = arrow_buffers(f, buffers);
	to->buffers = memory->buffers;
	for (s64 i = 0; i < to->n_buffers; i++) {
		if (!buffers[i])
			continue;
		memory->buffers[i] = buffers[i]->capacity ? (void *)buffers[i]->at : nothing;
		memory->owned[i] = buffers[i]->capacity ? buffers[i]->at : NULL;
		buf_init(buffers[i]);
	}
}

/* false: no memory; it may be released. */
static bool export_array(struct arrow_field *f, struct ArrowArray *to)
{
	struct array_memory *memory = calloc(1, sizeof(*memory));
	u32 n = f->n_children;

	*to = (struct ArrowArray){ .length = (s64)f->n, .null_count = (s64)f->n_nulls };
	if (!memory)
		return false;
	to->private_data = memory;
	to->release = release_array;
	to->children = calloc(n + 1, sizeof(*to->children));
	memory->nodes = calloc(n + 1, sizeof(*memory->nodes));
	if (!to->children || !memory->nodes)
		return false;
	take_buffers(f, memory, to);
	to->n_children = n;
	for (u32 i = 0; i < n; i++)
		to->children[i] = &memory->nodes[i];
	if (f->dictionary)
		to->dictionary = &memory->nodes[n];
	for (u32 i = 0; i < n; i++)
		if (!export_array(&f->children[i], to->children[i]))
			return false;
	return !f->dictionary || export_array(f->dictionary, to->dictionary);
}

/* --- Both --- */

int arrow_export_schema(const struct schema *schema, struct ArrowSchema *ret_schema)
{
	struct arrow_frame frame;
	struct arena arena;
	bool is_done;

	*ret_schema = (struct ArrowSchema){ .release = NULL };
	arena_init(&arena);
	if (!arena_reserve(&arena))
		return -ENOMEM;
	arrow_frame_init(&frame, schema, true, &arena);
	is_done = export_schema(&frame.root, false, ret_schema);
	ret_schema->flags = 0; /* a row is there */
	if (!is_done && ret_schema->release)
		ret_schema->release(ret_schema);
	arena_free(&arena);
	return is_done ? 0 : -ENOMEM;
}

/*
 * CLOCK_MONOTONIC -> CLOCK_REALTIME, one for all batches of the process, so that differences of
 * instants stay exact.
 */
static s64 clock_offset(void)
{
	static s64 offset;
	s64 before = 0, now = (s64)(base_realtime_ns() - base_monotonic_ns());

	__atomic_compare_exchange_n(&offset, &before, now, false, __ATOMIC_RELAXED,
				    __ATOMIC_RELAXED);
	return before ? before : now;
}

int arrow_export_batch(const struct batch *batch, struct ArrowArray *ret_array)
{
	struct arrow_frame frame;
	struct arena arena;
	int error = -ENOMEM;

	*ret_array = (struct ArrowArray){ .release = NULL };
	arena_init(&arena);
	if (!arena_reserve(&arena))
		return -ENOMEM;
	arrow_frame_init(&frame, batch->schema, true, &arena);
	frame.offset_ns = clock_offset();
	if (arrow_frame_set(&frame, batch->values, batch->n_rows, batch->other_row))
		error = export_array(&frame.root, ret_array) ? 0 : -ENOMEM;
	else if (frame.error != arrow_no_memory)
		error = -EOVERFLOW;
	if (error && ret_array->release)
		ret_array->release(ret_array);
	arrow_frame_free(&frame);
	arena_free(&arena);
	return error;
}
