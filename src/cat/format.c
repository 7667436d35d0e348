/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The text of a tracefs format file -> the columns of a tracepoint.  One line
 *   field:unsigned int fd;	offset:16;	size:8;	signed:0;
 * is one column.  Fields that every event has (common_*) and those without a size
 * (a trailing array of unknown length) are left out.
 */
#include "cat/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <ctype.h>

struct text_line {
	const char *at;
	size_t n;
};

/* Takes the next line off text; false at its end. */
static bool next_line(const char **text, const char *end, struct text_line *ret_line)
{
	const char *stop;

	if (*text >= end)
		return false;
	stop = memchr(*text, '\n', end - *text);
	ret_line->at = *text;
	ret_line->n = (stop ? stop : end) - *text;
	*text = stop ? stop + 1 : end;
	return true;
}

/* The digits that the line begins with: how many; 0: none, or more than a u32 holds. */
static size_t take_number(struct text_line line, u32 *ret_number)
{
	u64 number = 0;
	size_t n;

	for (n = 0; n < line.n && isdigit((u8)line.at[n]); n++) {
		number = number * 10 + (line.at[n] - '0');
		if (number > UINT32_MAX)
			return 0;
	}
	*ret_number = number;
	return n;
}

/* The number behind "key" in a line, or -EINVAL. */
static int line_number(struct text_line line, const char *key, u32 *ret_number)
{
	const char *at = memmem(line.at, line.n, key, strlen(key));

	if (!at)
		return -EINVAL;
	at += strlen(key);
	line.n = line.at + line.n - at;
	line.at = at;
	return take_number(line, ret_number) ? 0 : -EINVAL;
}

/* A declaration in its parts: type words, name, and the text between [ and ] if any. */
struct declaration {
	struct text_line type, name, bounds;
	bool is_array;
	enum field_kind kind;
};

static bool starts_with(struct text_line line, const char *prefix)
{
	return line.n >= strlen(prefix) && !memcmp(line.at, prefix, strlen(prefix));
}

static struct text_line trim(struct text_line line)
{
	while (line.n && isspace((u8)line.at[0])) {
		line.at++;
		line.n--;
	}
	while (line.n && isspace((u8)line.at[line.n - 1]))
		line.n--;
	return line;
}

/* "char comm[16]" and "__data_loc char[] name": the bounds follow the name or the type. */
static int declaration_split(struct text_line text, struct declaration *ret)
{
	const char *bracket;
	size_t n;

	*ret = (struct declaration){ .kind = FIELD_FIXED };
	text = trim(text);
	if (starts_with(text, "__data_loc ")) {
		ret->kind = FIELD_DATA_LOC;
		text = (struct text_line){ text.at + 11, text.n - 11 };
	} else if (starts_with(text, "__rel_loc ")) {
		ret->kind = FIELD_REL_LOC;
		text = (struct text_line){ text.at + 10, text.n - 10 };
	}
	if (text.n && text.at[text.n - 1] == ']') {
		bracket = memrchr(text.at, '[', text.n);
		if (!bracket)
			return -EINVAL;
		ret->is_array = true;
		ret->bounds = (struct text_line){ bracket + 1, text.at + text.n - bracket - 2 };
		text.n = bracket - text.at;
		text = trim(text);
	}
	for (n = text.n; n && (isalnum((u8)text.at[n - 1]) || text.at[n - 1] == '_'); n--)
		;
	if (n == text.n)
		return -EINVAL;
	ret->name = (struct text_line){ text.at + n, text.n - n };
	ret->type = trim((struct text_line){ text.at, n });
	if (ret->type.n && ret->type.at[ret->type.n - 1] == ']') {
		bracket = memrchr(ret->type.at, '[', ret->type.n);
		if (!bracket)
			return -EINVAL;
		ret->is_array = true;
		ret->type.n = bracket - ret->type.at;
	}
	return 0;
}

static bool is_word_size(u32 bytes)
{
	return bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8;
}

static struct type type_blob(u32 bytes)
{
	return (struct type){ .kind = TYPE_BLOB, .bytes = bytes };
}

static struct type word_type(struct ctype ctype, u32 bytes, bool is_signed)
{
	if (ctype.kind == CTYPE_POINTER && bytes == 8)
		return (struct type){ .kind = TYPE_POINTER, .bits = 64 };
	if (ctype.kind == CTYPE_BOOL)
		return (struct type){ .kind = TYPE_BOOL, .bits = 8 };
	return type_int(8 * bytes, is_signed);
}

/* A single value that fills size_bytes of the record. */
static struct type scalar_type(struct ctype ctype, u32 size_bytes, bool is_signed, bool is_syscall)
{
	if (ctype.kind == CTYPE_STRUCT || !is_word_size(size_bytes))
		return type_blob(size_bytes);
	if (ctype.kind == CTYPE_UNKNOWN || ctype.kind == CTYPE_POINTER)
		return word_type(ctype, size_bytes, is_signed);
	/* The value is in the low bytes: little-endian, as x86-64 and arm64 kernels are. */
	if (ctype.bits < 8 * size_bytes)
		return word_type(ctype, ctype.bits / 8, ctype.is_signed);
	if (ctype.bits == 8 * size_bytes && is_syscall)
		return word_type(ctype, size_bytes, ctype.is_signed);
	return word_type(ctype, size_bytes, is_signed);
}

/* A number between brackets, 0 when it is none (kernels before 4.17 print macro names). */
static u32 bounds_number(struct text_line bounds)
{
	u32 number = 0;

	bounds = trim(bounds);
	return take_number(bounds, &number) == bounds.n ? number : 0;
}

static void array_type(struct ctype ctype, struct text_line bounds, bool is_signed,
		       struct field *field)
{
	u32 element_bytes, n = bounds_number(bounds);

	if (ctype.kind == CTYPE_CHAR) {
		field->type = type_text(field->size_bytes);
		return;
	}
	field->type = type_blob(field->size_bytes);
	if (!n && ctype.bits)
		n = field->size_bytes / (ctype.bits / 8);
	if (!n || ctype.kind == CTYPE_STRUCT || field->size_bytes % n)
		return;
	element_bytes = field->size_bytes / n;
	if (!is_word_size(element_bytes))
		return;
	field->type = word_type(ctype, element_bytes, is_signed);
	field->n_elements = n;
}

/* Returns 1 for a column, 0 for a line to leave out, -EINVAL for a broken one. */
static int field_parse(struct arena *arena, struct text_line line, bool is_syscall,
		       struct field *ret_field)
{
	const char *stop = memchr(line.at, ';', line.n);
	struct declaration declaration;
	struct text_line text;
	struct ctype ctype;
	u32 is_signed = 0;

	if (!stop)
		return -EINVAL;
	text = (struct text_line){ line.at, stop - line.at };
	line = (struct text_line){ stop, line.at + line.n - stop };
	*ret_field = (struct field){ 0 };
	if (declaration_split(text, &declaration) ||
	    line_number(line, "offset:", &ret_field->offset_bytes) ||
	    line_number(line, "size:", &ret_field->size_bytes))
		return -EINVAL;
	/* "signed:" came with kernel 2.6.32. */
	line_number(line, "signed:", &is_signed);
	if (starts_with(declaration.name, "common_") || !ret_field->size_bytes)
		return 0;
	ret_field->kind = declaration.kind;
	ret_field->name = arena_strndup(arena, declaration.name.at, declaration.name.n);
	ret_field->declaration = arena_strndup(arena, trim(text).at, trim(text).n);
	ctype = ctype_parse(declaration.type.at, declaration.type.n);
	if (declaration.kind != FIELD_FIXED)
		ret_field->type = ctype.kind == CTYPE_CHAR && declaration.is_array
					  ? type_text(DYNAMIC_TEXT_BYTES)
					  : type_blob(DYNAMIC_TEXT_BYTES);
	else if (declaration.is_array)
		array_type(ctype, declaration.bounds, is_signed, ret_field);
	else
		ret_field->type = scalar_type(ctype, ret_field->size_bytes, is_signed, is_syscall);
	return 1;
}

int format_parse(struct arena *arena, const char *text, size_t text_bytes, struct stream *stream)
{
	const char *at = text, *end = text + text_bytes;
	bool is_syscall = stream->category && !strcmp(stream->category, "syscalls");
	VEC(struct field) fields = { 0 };
	struct text_line line;
	struct field field;

	if (memchr(text, '\0', text_bytes))
		return -EINVAL;
	while (next_line(&at, end, &line)) {
		line = trim(line);
		if (starts_with(line, "ID:")) {
			if (line_number(line, "ID: ", &stream->tracepoint_id))
				return -EINVAL;
		} else if (starts_with(line, "field:")) {
			int rc = field_parse(arena, (struct text_line){ line.at + 6, line.n - 6 },
					     is_syscall, &field);

			if (rc < 0)
				return rc;
			if (rc)
				vec_push(arena, &fields, field);
		} else if (starts_with(line, "print fmt:")) {
			break;
		}
	}
	if (!stream->tracepoint_id)
		return -EINVAL;
	stream->fields = fields.at;
	stream->n_fields = fields.n;
	return 0;
}
