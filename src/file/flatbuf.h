/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * As much of FlatBuffers as the metadata of Arrow needs: tables are read with every
 * access checked, and written front to back.  A table is a signed offset to its vtable,
 * which has a u16 offset for each of its slots; other offsets are u32, forward, from where
 * they stand.
 */
#ifndef EBQL_FILE_FLATBUF_H
#define EBQL_FILE_FLATBUF_H

#include "base/buf.h"

/* --- Reading: positions are from the start, 0 is "absent" --- */

struct flatbuf {
	const u8 *at;
	u32 n;
	bool is_broken; /* an offset led out of it */
};

/* A word of 1 to 8 bytes, little-endian as the machine is, wherever it stands. */
u64 flatbuf_load(const u8 *at, u32 bytes);
u32 flatbuf_root(struct flatbuf *fb);
/* A scalar of 1, 2, 4 or 8 bytes, zero-extended; `other` where the slot is absent. */
u64 flatbuf_scalar(struct flatbuf *fb, u32 table, u32 slot, u32 bytes, u64 other);
/* What the offset in the slot leads to: a table, string or vector. */
u32 flatbuf_offset(struct flatbuf *fb, u32 table, u32 slot);
/* A vector's number of elements; the first is at vector + 4. */
u32 flatbuf_count(struct flatbuf *fb, u32 vector, u32 element_bytes);
/* The table that element i of a vector of offsets leads to. */
u32 flatbuf_element(struct flatbuf *fb, u32 vector, u32 i);
/* A string's bytes (not ended by a NUL); NULL and 0 where it is absent. */
const char *flatbuf_string(struct flatbuf *fb, u32 string, u32 *ret_n);

/* --- Writing --- */

struct flatbuf_slot {
	u32 bytes; /* 1, 2, 4 or 8; 0: absent */
	u64 value; /* offsets are set by flatbuf_point() */
};

struct flatbuf_out {
	struct buf *buf;
	size_t base; /* where it begins in buf */
};

/* Zeroes up to a multiple of n bytes from the base. */
void flatbuf_align(struct flatbuf_out *fb, u32 n);
/* ret_slots: where each slot stands in buf. */
size_t flatbuf_put_table(struct flatbuf_out *fb, const struct flatbuf_slot *slots, u32 n,
			 size_t *ret_slots);
size_t flatbuf_put_string(struct flatbuf_out *fb, const char *text);
/* The count of a vector; its elements are put next. */
size_t flatbuf_put_vector(struct flatbuf_out *fb, u32 n, u32 element_align);
void flatbuf_put_scalar(struct flatbuf_out *fb, u64 value, u32 bytes);
/* Makes the offset at `from` lead to `to`. */
void flatbuf_point(struct flatbuf_out *fb, size_t from, size_t to);

#endif
