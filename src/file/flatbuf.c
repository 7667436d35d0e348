/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * FlatBuffers: bytes -> tables, strings and vectors, and back.
 */
#include "file/flatbuf.h"

#include <string.h>

u64 flatbuf_load(const u8 *at, u32 bytes)
{
	u64 word = 0;

	memcpy(&word, at, bytes);
	return word;
}

static bool is_within(struct flatbuf *fb, u64 at, u64 bytes)
{
	if (!fb->is_broken && at <= fb->n && bytes <= fb->n - at)
		return true;
	fb->is_broken = true;
	return false;
}

/* The u32 at `at` leads there; 0 when it leads out. */
static u32 follow(struct flatbuf *fb, u64 at)
{
	u64 to;

	if (!is_within(fb, at, 4))
		return 0;
	to = at + flatbuf_load(fb->at + at, 4);
	return to != at && is_within(fb, to, 4) ? (u32)to : 0;
}

u32 flatbuf_root(struct flatbuf *fb)
{
	u32 root = follow(fb, 0);

	fb->is_broken |= !root;
	return root;
}

/* Where the slot's value stands; 0: absent. */
static u32 slot_at(struct flatbuf *fb, u32 table, u32 slot, u32 bytes)
{
	s64 vtable;
	u64 vtable_bytes, offset;

	if (!table || !is_within(fb, table, 4))
		return 0;
	vtable = (s64)table - (s32)(u32)flatbuf_load(fb->at + table, 4);
	if (vtable < 0 || !is_within(fb, (u64)vtable, 4)) {
		fb->is_broken = true;
		return 0;
	}
	vtable_bytes = flatbuf_load(fb->at + vtable, 2);
	if (vtable_bytes < 4 || !is_within(fb, (u64)vtable, vtable_bytes)) {
		fb->is_broken = true;
		return 0;
	}
	if (4 + 2 * (u64)slot + 2 > vtable_bytes)
		return 0;
	offset = flatbuf_load(fb->at + vtable + 4 + 2 * (size_t)slot, 2);
	return offset && is_within(fb, table + offset, bytes) ? (u32)(table + offset) : 0;
}

u64 flatbuf_scalar(struct flatbuf *fb, u32 table, u32 slot, u32 bytes, u64 other)
{
	u32 at = slot_at(fb, table, slot, bytes);

	return at ? flatbuf_load(fb->at + at, bytes) : other;
}

u32 flatbuf_offset(struct flatbuf *fb, u32 table, u32 slot)
{
	u32 at = slot_at(fb, table, slot, 4);

	return at ? follow(fb, at) : 0;
}

u32 flatbuf_count(struct flatbuf *fb, u32 vector, u32 element_bytes)
{
	u64 n;

	if (!vector || !is_within(fb, vector, 4))
		return 0;
	n = flatbuf_load(fb->at + vector, 4);
	return is_within(fb, (u64)vector + 4, n * element_bytes) ? (u32)n : 0;
}

u32 flatbuf_element(struct flatbuf *fb, u32 vector, u32 i)
{
	return follow(fb, (u64)vector + 4 + 4 * (u64)i);
}

const char *flatbuf_string(struct flatbuf *fb, u32 string, u32 *ret_n)
{
	*ret_n = flatbuf_count(fb, string, 1);
	return string && !fb->is_broken ? (const char *)fb->at + string + 4 : NULL;
}

/* --- Writing --- */

/* Zeroes, so that what stands `behind` bytes on is at a multiple of n from the base. */
static void align_before(struct flatbuf_out *fb, size_t behind, u32 n)
{
	size_t at = fb->buf->n - fb->base + behind;

	buf_fill(fb->buf, '\0', ALIGN_UP(at, n) - at);
}

void flatbuf_align(struct flatbuf_out *fb, u32 n)
{
	align_before(fb, 0, n);
}

void flatbuf_put_scalar(struct flatbuf_out *fb, u64 value, u32 bytes)
{
	for (u32 i = 0; i < bytes; i++)
		buf_putc(fb->buf, (char)(value >> 8 * i));
}

/* The vtable stands before its table, which begins at a multiple of 8. */
size_t flatbuf_put_table(struct flatbuf_out *fb, const struct flatbuf_slot *slots, u32 n,
			 size_t *ret_slots)
{
	size_t vtable, table, vtable_bytes = 4 + 2 * (size_t)n;
	u32 offsets[16], end = 4;

	BUG_ON(n > ARRAY_SIZE(offsets));
	for (u32 i = 0; i < n; i++) {
		offsets[i] = slots[i].bytes ? ALIGN_UP(end, slots[i].bytes) : 0;
		end = slots[i].bytes ? offsets[i] + slots[i].bytes : end;
	}
	align_before(fb, vtable_bytes, 8);
	vtable = fb->buf->n;
	table = vtable + vtable_bytes;
	flatbuf_put_scalar(fb, vtable_bytes, 2);
	flatbuf_put_scalar(fb, end, 2);
	for (u32 i = 0; i < n; i++)
		flatbuf_put_scalar(fb, offsets[i], 2);
	flatbuf_put_scalar(fb, table - vtable, 4);
	for (u32 i = 0; i < n; i++) {
		if (!slots[i].bytes)
			continue;
		buf_fill(fb->buf, '\0', table + offsets[i] - fb->buf->n);
		ret_slots[i] = fb->buf->n;
		flatbuf_put_scalar(fb, slots[i].value, slots[i].bytes);
	}
	return table;
}

size_t flatbuf_put_string(struct flatbuf_out *fb, const char *text)
{
	size_t n = strlen(text), at = flatbuf_put_vector(fb, (u32)n, 1);

	buf_put(fb->buf, text, n + 1);
	return at;
}

size_t flatbuf_put_vector(struct flatbuf_out *fb, u32 n, u32 element_align)
{
	align_before(fb, 4, MAX(element_align, 4u));
	flatbuf_put_scalar(fb, n, 4);
	return fb->buf->n - 4;
}

void flatbuf_point(struct flatbuf_out *fb, size_t from, size_t to)
{
	u32 offset = (u32)(to - from);

	/* Without memory for it there is no such place. */
	for (u32 i = 0; i < 4 && !fb->buf->is_cut; i++)
		fb->buf->at[from + i] = (char)(offset >> 8 * i);
}
