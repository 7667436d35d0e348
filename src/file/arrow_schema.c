/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The schema message of an Arrow stream -> columns, and how their values are stored.
 */
#include <string.h>

#include "file/arrow_read.h"

static const char *const type_names[ARROW_TYPE_N] = {
	[ARROW_BINARY] = "binary",
	[ARROW_DECIMAL] = "decimal",
	[ARROW_DATE] = "date",
	[ARROW_TIME] = "time of day",
	[ARROW_INTERVAL] = "interval",
	[ARROW_LIST] = "list",
	[ARROW_STRUCT] = "struct",
	[ARROW_UNION] = "union",
	[ARROW_FIXED_LIST] = "list",
	[ARROW_MAP] = "map",
	[ARROW_LARGE_BINARY] = "binary",
	[ARROW_LARGE_LIST] = "list",
	[ARROW_RUN_END] = "run-end encoded",
	[ARROW_BINARY_VIEW] = "binary view",
	[ARROW_UTF8_VIEW] = "utf8 view",
};

static bool take_int(struct flatbuf *fb, u32 table, struct arrow_layout *layout)
{
	u64 bits = flatbuf_scalar(fb, table, 0, 4, 0);

	layout->kind = ARROW_INT;
	layout->bytes = (u32)bits / 8;
	layout->is_signed = flatbuf_scalar(fb, table, 1, 1, 0);
	return bits == 8 || bits == 16 || bits == 32 || bits == 64;
}

static bool take_unit(struct flatbuf *fb, u32 table, u32 other, struct arrow_layout *layout)
{
	static const u32 scales[] = { 1000000000, 1000000, 1000, 1 };
	u64 unit = flatbuf_scalar(fb, table, 0, 2, other);

	if (unit >= ARRAY_SIZE(scales))
		return false;
	layout->bytes = 8;
	layout->is_signed = true;
	layout->scale = scales[unit];
	return true;
}

/* union Type -> ours; false: a type that is not known here. */
static bool take_type(struct flatbuf *fb, u32 kind, u32 table, struct arrow_layout *layout,
		      struct type *ret_type)
{
	u64 n;

	layout->kind = kind;
	switch (kind) {
	case ARROW_NULL:
		*ret_type = (struct type){ .kind = TYPE_NULL };
		return true;
	case ARROW_INT:
		if (!take_int(fb, table, layout))
			return false;
		*ret_type = type_int((u8)(8 * layout->bytes), layout->is_signed);
		return true;
	case ARROW_REAL:
		n = flatbuf_scalar(fb, table, 0, 2, 0);
		layout->bytes = n == 1 ? 4 : 8;
		*ret_type = (struct type){ .kind = TYPE_REAL };
		return n == 1 || n == 2;
	case ARROW_DECIMAL: /* whole ones, as sums are */
		layout->bytes = 16;
		layout->is_signed = true;
		*ret_type = type_int(64, true);
		return !flatbuf_scalar(fb, table, 1, 4, 0) &&
		       flatbuf_scalar(fb, table, 2, 4, 128) == 128;
	case ARROW_BOOL:
		*ret_type = (struct type){ .kind = TYPE_BOOL };
		return true;
	case ARROW_TIMESTAMP:
		*ret_type = (struct type){ TYPE_TIMESTAMP, 64, true };
		return take_unit(fb, table, ARROW_UNIT_S, layout);
	case ARROW_DURATION:
		*ret_type = (struct type){ TYPE_DURATION, 64, true };
		return take_unit(fb, table, ARROW_UNIT_MS, layout);
	case ARROW_FIXED_BINARY:
		n = flatbuf_scalar(fb, table, 0, 4, 0);
		layout->bytes = (u32)n;
		*ret_type = (struct type){ .kind = TYPE_BLOB, .bytes = (u32)n };
		return n > 0 && n <= 65536;
	case ARROW_UTF8:
	case ARROW_LARGE_UTF8:
		layout->bytes = kind == ARROW_UTF8 ? 4 : 8;
		*ret_type = type_text(1);
		return true;
	}
	return false;
}

/* Can values that are stored so be of the type that the metadata names? */
static bool is_of(const struct arrow_layout *layout, struct type stored, struct type named)
{
	if (named.kind == TYPE_POINTER)
		return layout->kind == ARROW_INT && layout->bytes == 8 && !layout->is_signed;
	if (layout->kind == ARROW_DECIMAL)
		return named.kind == TYPE_INT && named.bits == 64;
	/* Of others the stored type says as much. */
	return stored.kind == named.kind &&
	       (named.kind == TYPE_DURATION || named.kind == TYPE_TIMESTAMP);
}

/* The value of our key in a field's metadata. */
static bool named_type(struct flatbuf *fb, u32 field, struct type *ret_type)
{
	u32 pairs = flatbuf_offset(fb, field, FIELD_METADATA), n = flatbuf_count(fb, pairs, 4);

	for (u32 i = 0; i < n; i++) {
		u32 pair = flatbuf_element(fb, pairs, i), n_key, n_value;
		const char *key = flatbuf_string(fb, flatbuf_offset(fb, pair, PAIR_KEY), &n_key);
		const char *value =
			flatbuf_string(fb, flatbuf_offset(fb, pair, PAIR_VALUE), &n_value);

		if (key && value && n_key == strlen(ARROW_TYPE_KEY) &&
		    memcmp(key, ARROW_TYPE_KEY, n_key) == 0)
			return file_type_of(value, n_value, ret_type);
	}
	return false;
}

static bool take_dictionary(struct flatbuf *fb, u32 field, struct arrow_column *column)
{
	u32 encoding = flatbuf_offset(fb, field, FIELD_DICTIONARY), index;

	if (!encoding)
		return true;
	/* Texts only: there a dictionary pays, and so other programs write it. */
	if (column->layout.kind != ARROW_UTF8 && column->layout.kind != ARROW_LARGE_UTF8)
		return false;
	column->has_dictionary = true;
	column->is_large = column->layout.kind == ARROW_LARGE_UTF8;
	column->dictionary = (s64)flatbuf_scalar(fb, encoding, ENCODING_ID, 8, 0);
	index = flatbuf_offset(fb, encoding, ENCODING_INDEX_TYPE);
	if (index)
		return take_int(fb, index, &column->layout);
	column->layout = (struct arrow_layout){ ARROW_INT, 4, true, 0 };
	return true;
}

static int take_field(struct file_pass *pass, struct flatbuf *fb, u32 field, struct arena *arena,
		      struct column *column, struct arrow_column *stored)
{
	u32 kind = (u32)flatbuf_scalar(fb, field, FIELD_TYPE_KIND, 1, 0), n_name;
	const char *name = flatbuf_string(fb, flatbuf_offset(fb, field, FIELD_NAME), &n_name);
	const char *word = kind < ARROW_TYPE_N && type_names[kind] ? type_names[kind] : "other";
	struct type named;

	if (memchr(name ? name : "", '\0', n_name))
		return file_complain(pass, "a column's name holds a NUL byte");
	column->name = name ? arena_strndup(arena, name, n_name) : "";
	if (!take_type(fb, kind, flatbuf_offset(fb, field, FIELD_TYPE), &stored->layout,
		       &column->type) ||
	    flatbuf_count(fb, flatbuf_offset(fb, field, FIELD_CHILDREN), 4))
		return file_complain(pass, "column \"%s\" is of a type that is not read here (%s)",
				     column->name, word);
	if (!take_dictionary(fb, field, stored))
		return file_complain(pass, "column \"%s\" has a dictionary of no texts",
				     column->name);
	if (!stored->has_dictionary && named_type(fb, field, &named) &&
	    is_of(&stored->layout, column->type, named))
		column->type = named;
	return 0;
}

int arrow_learn_schema(struct file_pass *pass, struct arrow_message *message, struct arena *arena,
		       struct arrow_file *ret_file)
{
	struct flatbuf *fb = &message->fb;
	u32 fields, n;
	int error;

	if (message->header_kind != HEADER_SCHEMA)
		return file_complain(pass, "the stream does not begin with a schema");
	if (flatbuf_scalar(fb, message->header, SCHEMA_ENDIANNESS, 2, 0))
		return file_complain(pass, "is of a big-endian machine");
	fields = flatbuf_offset(fb, message->header, SCHEMA_FIELDS);
	n = flatbuf_count(fb, fields, 4);
	if (n > FILE_COLUMNS_MAX)
		return file_complain(pass, "more than %u columns", FILE_COLUMNS_MAX);
	ret_file->file.schema.n_columns = n;
	ret_file->file.schema.columns = arena_array(arena, struct column, n + 1);
	ret_file->columns = arena_array(arena, struct arrow_column, n + 1);
	for (u32 i = 0; i < n; i++) {
		error = take_field(pass, fb, flatbuf_element(fb, fields, i), arena,
				   &ret_file->file.schema.columns[i], &ret_file->columns[i]);
		if (error)
			return error;
	}
	if (fb->is_broken)
		return file_complain(pass, "the schema is broken");
	if (!n)
		return file_complain(pass, "has no columns");
	return 0;
}
