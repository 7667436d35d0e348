/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A table by the values of keys.  It keeps the memory that it once needed, so that a run that
 * goes on as before takes no more.
 */
#ifndef EBQL_REL_KEYS_H
#define EBQL_REL_KEYS_H

#include "base/buf.h"
#include "base/pool.h"
#include "type/type.h"

/* The start of each entry; the bytes of the key stand behind the entry. */
struct key {
	struct key *next;
	u64 hash;
	u32 n_bytes;
};

struct keys {
	u32 item_bytes;	  /* of an entry, struct key included: set by the owner */
	u32 n_buckets, n; /* a power of two */
	struct region buckets;
	struct pool pool; /* of the entries */
};

/* Appends what is the same for equal values only. */
void key_put(struct buf *buf, const struct value *value);
/*
 * The entry of these bytes; is_made: made, zero behind its struct key, where there is none.  NULL:
 * there is none, or no memory to make it, or the bytes are cut.
 */
struct key *keys_find(struct keys *keys, const struct buf *bytes, bool is_made);
void keys_remove(struct keys *keys, struct key *key);
void keys_close(struct keys *keys);

#endif
