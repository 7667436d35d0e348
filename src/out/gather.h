/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Streamed rows that wait for others, so that they are written in few large pieces: a recording
 * of write calls sees those to its own file too, and would feed itself.
 */
#ifndef EBQL_OUT_GATHER_H
#define EBQL_OUT_GATHER_H

#include "type/type.h"

struct gather {
	struct value *values;
	size_t capacity;
	struct buf texts; /* of the values */
	u32 n_rows;
	u64 first_ns; /* CLOCK_MONOTONIC, when the first of them came */
};

/* false: no memory. */
bool gather_add(struct gather *gather, const struct batch *batch);
/* So many wait, or so long, that it is time to write them. */
bool gather_is_due(const struct gather *gather);
/* They wait no more: rows of *ret_batch, which stay until the next gather_add(). */
void gather_take(struct gather *gather, const struct schema *schema, struct batch *ret_batch);
void gather_free(struct gather *gather);

#endif
