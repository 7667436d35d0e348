/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The kernel's ring buffer -> rows of values, in the order the programs took their
 * places.  Reads the mapped pages directly.
 */
#ifndef EBQL_DRAIN_STREAM_H
#define EBQL_DRAIN_STREAM_H

#include "load/load.h"
#include "base/region.h"
#include "type/type.h"

#define STREAM_BATCH_ROWS 256u

struct stream_reader {
	const struct load_hooks *hooks;
	const struct phys *phys;
	u64 *consumer;	     /* position pages: ours, */
	const u64 *producer; /* the kernel's, */
	const u8 *data;	     /* and the data, mapped twice in a row: no record wraps */
	u64 mask, n_bytes, page_bytes;
	u64 position;	      /* read up to here; given back by the next read */
	u64 most_bytes;	      /* that were in use when it was looked at */
	u64 end;	      /* what is behind it is not read; UINT64_MAX: all is */
	s32 copy;	      /* stream_read(): rows counted in the other are left away; -1: none */
	struct region values; /* struct value: the rows read last */
};

/*
 * Maps the ring buffer, if there is one: no program names it when WHERE is never true.  0 or
 * -errno.
 */
int stream_open(struct stream_reader *reader, const struct load_state *load);
void stream_close(struct stream_reader *reader);
/*
 * Gives back the room of the rows read before, then reads up to `limit` rows into
 * values; the number of rows.  Text points into the ring until the next read.
 */
u32 stream_read(struct stream_reader *reader, u64 limit);
/* One record of the ring buffer into one row; source: whose bare scan it is of, or NULL. */
void stream_decode(const struct load_hooks *hooks, const struct phys *phys,
		   const struct phys_source *source, const u8 *record, struct value *ret_values);
/*
 * A value as programs write it: a word, or the bytes of a text, of which there are n_bytes; it
 * points to these.  is_probe: the word is a code of `probe`.  Of a stack it is load_stack().
 */
void stream_value(const struct phys *phys, struct type type, bool is_probe, const void *at,
		  u32 n_bytes, struct value *ret_value);
/* The number of the source of a bare scan's record. */
u32 stream_source(const u8 *record);
/* The copy of the part in which the event was counted. */
u32 stream_copy(const struct phys *phys, const u8 *record);
/* The next record as it is, until stream_release() gives back the room of all; NULL: none now. */
const u8 *stream_next(struct stream_reader *reader, u32 *ret_bytes);
void stream_release(struct stream_reader *reader);

/* How far the programs have written. */
static inline u64 stream_written(const struct stream_reader *reader)
{
	return __atomic_load_n(reader->producer, __ATOMIC_ACQUIRE);
}

#endif
