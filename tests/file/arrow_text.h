/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The structures of Arrow's C data interface as text, by what the interface says alone: nothing
 * here knows how they were made.
 */
#ifndef EBQL_TESTS_FILE_ARROW_TEXT_H
#define EBQL_TESTS_FILE_ARROW_TEXT_H

#include <math.h>

#include "base/utf8.h"
#include "files.h"

/* "name format [metadata] {children} <dictionary>" */
static inline void put_schema(struct buf *out, const struct ArrowSchema *s)
{
	assert_non_null(s->release);
	buf_printf(out, "%s %s%s", s->name, s->format, s->flags & ARROW_FLAG_NULLABLE ? "" : "!");
	if (s->metadata) {
		s32 n[2];
		const char *at = s->metadata;

		memcpy(n, at, sizeof(n));
		assert_int_equal(n[0], 1);
		buf_puts(out, " [");
		buf_put(out, at + 8, (size_t)n[1]);
		at += 8 + n[1];
		memcpy(n, at, 4);
		buf_putc(out, '=');
		buf_put(out, at + 4, (size_t)n[0]);
		buf_putc(out, ']');
	}
	for (s64 i = 0; i < s->n_children; i++) {
		buf_puts(out, i ? ", " : " {");
		put_schema(out, s->children[i]);
	}
	buf_puts(out, s->n_children ? "}" : "");
	if (!s->dictionary)
		return;
	buf_puts(out, " <");
	put_schema(out, s->dictionary);
	buf_puts(out, ">");
}

static inline bool bit_of(const void *bits, s64 i)
{
	return ((const u8 *)bits)[i / 8] >> i % 8 & 1;
}

/* What holds of every array, whatever is in it. */
static inline void check_array(const struct ArrowSchema *s, const struct ArrowArray *a)
{
	bool has_offsets = strcmp(s->format, "u") == 0 || strcmp(s->format, "z") == 0 ||
			   strcmp(s->format, "+l") == 0;
	s64 nulls = 0;

	assert_non_null(a->release);
	assert_int_equal(a->offset, 0);
	assert_int_equal(a->n_children, s->n_children);
	assert_int_equal(!a->dictionary, !s->dictionary);
	for (s64 i = 0; i < a->n_buffers; i++) {
		assert_int_equal((uintptr_t)a->buffers[i] % 8, 0);
		assert_true(i == 0 || a->buffers[i]);
	}
	for (s64 i = 0; i < a->length && a->buffers[0]; i++)
		nulls += !bit_of(a->buffers[0], i);
	assert_int_equal(a->null_count, nulls);
	if (has_offsets) {
		const s32 *offsets = a->buffers[1];

		assert_int_equal(offsets[0], 0);
		for (s64 i = 0; i < a->length; i++)
			assert_true(offsets[i] <= offsets[i + 1]);
		if (s->n_children)
			assert_int_equal(offsets[a->length], a->children[0]->length);
	}
	for (s64 i = 0; i < a->n_children; i++) {
		if (strcmp(s->format, "+s") == 0)
			assert_int_equal(a->children[i]->length, a->length);
		check_array(s->children[i], a->children[i]);
	}
	if (a->dictionary)
		check_array(s->dictionary, a->dictionary);
}

static inline void put_element(struct buf *out, const struct ArrowSchema *s,
			       const struct ArrowArray *a, s64 i);

/* Elements from .. to of an array, which are named or not. */
static inline void put_children(struct buf *out, const struct ArrowSchema *s,
				const struct ArrowArray *a, s64 i)
{
	buf_putc(out, '{');
	for (s64 child = 0; child < s->n_children; child++) {
		buf_printf(out, "%s%s=", child ? " " : "", s->children[child]->name);
		put_element(out, s->children[child], a->children[child], i);
	}
	buf_putc(out, '}');
}

static inline void put_list(struct buf *out, const struct ArrowSchema *s,
			    const struct ArrowArray *a, s64 i)
{
	const s32 *offsets = a->buffers[1];

	buf_putc(out, '[');
	for (s32 at = offsets[i]; at < offsets[i + 1]; at++) {
		buf_puts(out, at > offsets[i] ? " " : "");
		put_element(out, s->children[0], a->children[0], at);
	}
	buf_putc(out, ']');
}

static inline void put_string(struct buf *out, const struct ArrowArray *a, s64 i, bool is_utf8)
{
	const s32 *offsets = a->buffers[1];
	const char *text = (const char *)a->buffers[2] + offsets[i];
	size_t n = (size_t)(offsets[i + 1] - offsets[i]), length;

	for (size_t at = 0; is_utf8 && at < n; at += length) {
		length = utf8_length(text + at, n - at);
		assert_true(length > 0);
	}
	buf_put_json_string(out, text, n);
}

static inline void put_word(struct buf *out, const char *format, const void *at, s64 i)
{
	switch (*format) {
	case 'c':
		buf_put_s128(out, ((const s8 *)at)[i]);
		break;
	case 'C':
		buf_put_s128(out, ((const u8 *)at)[i]);
		break;
	case 's':
		buf_put_s128(out, ((const s16 *)at)[i]);
		break;
	case 'S':
		buf_put_s128(out, ((const u16 *)at)[i]);
		break;
	case 'i':
		buf_put_s128(out, ((const s32 *)at)[i]);
		break;
	case 'I':
		buf_put_s128(out, ((const u32 *)at)[i]);
		break;
	case 'L':
		buf_put_s128(out, ((const u64 *)at)[i]);
		break;
	case 'd':
		buf_put_s128(out, ((const s128 *)at)[i]);
		break;
	default: /* l, tDn, tsn:UTC */
		assert_non_null(strchr("lt", *format));
		buf_put_s128(out, ((const s64 *)at)[i]);
	}
}

static inline void put_element(struct buf *out, const struct ArrowSchema *s,
			       const struct ArrowArray *a, s64 i)
{
	s32 n_bytes;

	if (a->buffers[0] && !bit_of(a->buffers[0], i)) {
		buf_puts(out, "NULL");
	} else if (s->dictionary) {
		s32 index = ((const s32 *)a->buffers[1])[i];

		assert_string_equal(s->format, "i");
		assert_in_range(index, 0, a->dictionary->length - 1);
		put_element(out, s->dictionary, a->dictionary, index);
	} else if (strcmp(s->format, "+s") == 0) {
		put_children(out, s, a, i);
	} else if (strcmp(s->format, "+l") == 0) {
		put_list(out, s, a, i);
	} else if (*s->format == 'u' || *s->format == 'z') {
		put_string(out, a, i, *s->format == 'u');
	} else if (*s->format == 'b') {
		buf_puts(out, bit_of(a->buffers[1], i) ? "true" : "false");
	} else if (*s->format == 'g') {
		buf_put_real(out, ((const double *)a->buffers[1])[i]);
	} else if (sscanf(s->format, "w:%d", &n_bytes) == 1) {
		buf_put_hex_bytes(out, (const char *)a->buffers[1] + i * n_bytes, (size_t)n_bytes);
	} else {
		put_word(out, s->format, a->buffers[1], i);
	}
}

#endif
