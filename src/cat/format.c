/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The text of a tracefs format file -> the columns of a tracepoint.  One line
 *   field:unsigned int fd;	offset:16;	size:8;	signed:0;
 * is one column.  Fields that every event has (common_*) and those without a size
 * (a trailing array of unknown length) are left out.
 */
#include "cat/internal.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A declaration in its parts: type words, name, and the text between [ and ]. */
struct declaration {
	const char *type, *name, *bounds; /* NULL: there are none behind the name */
	bool is_array;
	enum field_kind kind;
};

static void trim_end(char *text)
{
	size_t n = strlen(text);

	while (n && isspace((u8)text[n - 1]))
		text[--n] = '\0';
}

/* "comm[16]" -> "comm" and "16"; NULL: there are no bounds at its end. */
static const char *cut_bounds(char *text)
{
	size_t n = strlen(text);
	char *bracket = n && text[n - 1] == ']' ? strrchr(text, '[') : NULL;

	if (!bracket)
		return NULL;
	text[n - 1] = *bracket = '\0';
	trim_end(text);
	return bracket + 1;
}

/* "char comm[16]" and "__data_loc char[] name": the bounds follow the name or the type. */
static bool declaration_split(struct arena *arena, char *text, struct declaration *ret)
{
	static const struct {
		const char *prefix;
		enum field_kind kind;
	} kinds[] = { { "__data_loc ", FIELD_DATA_LOC }, { "__rel_loc ", FIELD_REL_LOC } };
	size_t n;

	*ret = (struct declaration){ .kind = FIELD_FIXED };
	for (u32 i = 0; i < ARRAY_SIZE(kinds); i++) {
		n = strlen(kinds[i].prefix);
		if (strncmp(text, kinds[i].prefix, n) != 0)
			continue;
		ret->kind = kinds[i].kind;
		text += n;
	}
	ret->bounds = cut_bounds(text);
	ret->is_array = ret->bounds != NULL;
	for (n = strlen(text); n && (isalnum((u8)text[n - 1]) || text[n - 1] == '_'); n--)
		;
	if (!text[n])
		return false;
	ret->name = arena_strdup(arena, text + n);
	text[n] = '\0';
	trim_end(text);
	ret->is_array |= cut_bounds(text) != NULL;
	ret->type = text;
	return true;
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
static u32 bounds_number(const char *bounds)
{
	unsigned long number;
	char *end;

	if (!bounds)
		return 0;
	number = strtoul(bounds, &end, 10);
	return end[strspn(end, " ")] || number > UINT32_MAX ? 0 : number;
}

static void array_type(struct ctype ctype, const char *bounds, bool is_signed, struct field *field)
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
static int field_parse(struct arena *arena, char *text, bool is_syscall, struct field *ret_field)
{
	unsigned long long offset_bytes, size_bytes, is_signed = 0;
	struct declaration declaration;
	char *stop = strchr(text, ';');
	struct ctype ctype;

	/* "signed:" came with kernel 2.6.32. */
	if (!stop ||
	    sscanf(stop, "; offset:%llu; size:%llu; signed:%llu", &offset_bytes, &size_bytes,
		   &is_signed) < 2 ||
	    offset_bytes > UINT32_MAX || size_bytes > UINT32_MAX)
		return -EINVAL;
	*stop = '\0';
	trim_end(text);
	*ret_field = (struct field){ .declaration = arena_strdup(arena, text),
				     .offset_bytes = offset_bytes,
				     .size_bytes = size_bytes };
	if (!declaration_split(arena, text, &declaration))
		return -EINVAL;
	if (!strncmp(declaration.name, "common_", 7) || !size_bytes)
		return 0;
	ret_field->kind = declaration.kind;
	ret_field->name = declaration.name;
	ctype = ctype_parse(declaration.type, strlen(declaration.type));
	if (declaration.kind != FIELD_FIXED)
		ret_field->type = ctype.kind == CTYPE_CHAR && declaration.is_array
					  ? type_text(DYNAMIC_TEXT_BYTES)
					  : type_blob(DYNAMIC_TEXT_BYTES);
	else if (declaration.is_array)
		array_type(ctype, declaration.bounds, is_signed, ret_field);
	else
		ret_field->type = scalar_type(ctype, size_bytes, is_signed, is_syscall);
	return 1;
}

/*
 * An address that is recorded as an unsigned long is printed as one: "(void *)REC->call_site", as
 * printk's %p wants it.
 */
static bool is_printed_as_address(const char *print, const char *name)
{
	static const char cast[] = "(void *)REC->";
	size_t n = strlen(name);

	while ((print = strstr(print, cast))) {
		print += sizeof(cast) - 1;
		if (!strncmp(print, name, n) && !isalnum((u8)print[n]) && print[n] != '_')
			return true;
	}
	return false;
}

static void find_addresses(const char *print, struct field *fields, u32 n_fields)
{
	for (u32 i = 0; i < n_fields; i++) {
		struct type *type = &fields[i].type;

		if (type->kind == TYPE_INT && type->bits == 64 && !type->is_signed &&
		    is_printed_as_address(print, fields[i].name))
			*type = (struct type){ .kind = TYPE_POINTER, .bits = 64 };
	}
}

int format_parse(struct arena *arena, const char *text, size_t text_bytes, struct stream *stream)
{
	bool is_syscall = stream->category && !strcmp(stream->category, "syscalls");
	char *rest = arena_strndup(arena, text, text_bytes);
	VEC(struct field) fields = { 0 };
	unsigned long long id = 0;
	struct field field;
	char *line;
	int taken;

	if (strlen(rest) != text_bytes)
		return -EINVAL;
	while ((line = strsep(&rest, "\n"))) {
		line += strspn(line, " \t");
		if (!strncmp(line, "print fmt:", 10)) {
			find_addresses(line, fields.at, fields.n);
			break;
		}
		if (!strncmp(line, "ID:", 3) && sscanf(line, "ID: %llu", &id) != 1)
			return -EINVAL;
		if (strncmp(line, "field:", 6) != 0)
			continue;
		taken = field_parse(arena, line + 6, is_syscall, &field);
		if (taken < 0)
			return taken;
		if (taken)
			vec_push(arena, &fields, field);
	}
	if (!id || id > UINT32_MAX)
		return -EINVAL;
	stream->tracepoint_id = id;
	stream->fields = fields.at;
	stream->n_fields = fields.n;
	return 0;
}
