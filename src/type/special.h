/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Special values: those that point to more than a text, as histograms, quantiles,
 * top lists and stacks.
 * What can be done with each stands in one row (special.c); out/ has a row of how each is shown.
 *
 * Nothing in their encoded bytes depends on where a value lay: equal values are equal bytes.  (Of
 * stacks there is each once, which is what stands for it.)
 */
#ifndef EBQL_TYPE_SPECIAL_H
#define EBQL_TYPE_SPECIAL_H

#include "type/type.h"

bool value_is_special(enum value_kind kind);
/* Appends it to the buffer. */
void special_encode(const struct value *value, struct buf *to);
/*
 * The value of that kind that special_encode() made `bytes` of, in memory of special_room() bytes,
 * which is aligned to 16.
 */
void special_decode(enum value_kind kind, const void *bytes, size_t n_bytes, void *memory,
		    struct value *ret_value);
static inline size_t special_room(size_t n_bytes)
{
	return 2 * n_bytes + 16;
}

/* UNNEST: so many rows (0: none, or it has no rows) of three values each, in order. */
u32 special_n_rows(const struct value *value);
void special_row(const struct value *value, u32 number, struct value *ret_values);

#endif
