/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What generated code does in a slice of type/top.h, word by word.
 */
#ifndef EBQL_TESTS_TOP_MODEL_H
#define EBQL_TESTS_TOP_MODEL_H

#include "type/hll.h"
#include "type/top.h"

static inline u32 top_set(const struct top_shape *shape, const u64 *value)
{
	return (u32)(hll_hash(value, shape->n_words) >> (64 - (u32)__builtin_ctz(shape->n_sets)));
}

static inline bool is_way(const struct top_shape *shape, const u64 *set, u32 way, const u64 *value)
{
	if (!set[way])
		return false;
	for (u32 i = 0; i < shape->n_words; i++)
		if (set[(2 + i) * TOP_WAYS + way] != value[i])
			return false;
	return true;
}

/*
 * One event of weight w > 0 (0 does nothing).  false: the total would not fit 64 bits; then
 * the event is left out.
 */
static inline bool top_update(const struct top_shape *shape, u64 *slice, const u64 *value,
			      u64 weight)
{
	u64 *set = slice + 1 + top_set(shape, value) * top_set_bytes(shape) / 8;
	u32 least = 0;

	if (slice[0] + weight < weight)
		return false;
	if (!weight)
		return true;
	slice[0] += weight;
	for (u32 way = 0; way < TOP_WAYS; way++) {
		if (is_way(shape, set, way, value)) {
			set[way] += weight;
			return true;
		}
		if (set[way] < set[least])
			least = way;
	}
	/* A free way weighs 0: it is the least, and leaves no error. */
	set[TOP_WAYS + least] = set[least];
	set[least] += weight;
	for (u32 i = 0; i < shape->n_words; i++)
		set[(2 + i) * TOP_WAYS + least] = value[i];
	return true;
}

#endif
