/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * top_k(): the heaviest values of a stream in bounded memory, by Space-Saving
 * (Metwally, Agrawal, El Abbadi 2005) in sets: the hash of a value chooses one of
 * n_sets sets of TOP_WAYS ways, each of which holds a value, a weight and an error.
 *
 * A value that is there gains the weight of its event.  Else it takes a free way; else
 * it takes the way of least weight m of its set, with weight m + w and error m.
 *
 * What holds for every set, with T(v) the true weight of a value v that belongs to it:
 *	(1) listed v:		weight - error <= T(v) <= weight
 *	(2) v not listed:	T(v) <= absent
 * In a slice, absent is the least weight of a full set, 0 where a way is free.  Both hold
 * when nothing has happened.  An event of weight w for a listed value adds w to its T and
 * its weight.  A free way is taken only by a value whose T was 0, by (2): it gets weight w,
 * error 0.  When v replaces u, T(u) <= weight(u) = m, and the least weight is never below m
 * again: (2) holds for u.  By (2) T(v) was at most m, so with the event w <= T(v) <= m + w:
 * (1) holds for v.
 *
 * Merging sets A and B: T is the sum of both.  A value listed in both gets the sums of
 * weight and error; one that only A lists gains B's absent in weight and in error, since
 * 0 <= T_B(v) <= absent_B; one that neither lists has T(v) <= absent_A + absent_B.  When
 * more than TOP_WAYS values are listed only the heaviest stay; absent is then raised to
 * the weight of the heaviest that goes, which bounds its T by (1).  So (1) and (2) hold
 * after any sequence of merges, and CPUs, panes and windows merge in any order.
 *
 * Generated code does in a slice what top_update() of tests/top_model.h does, word by word.
 */
#ifndef EBQL_TYPE_TOP_H
#define EBQL_TYPE_TOP_H

#include "base/base.h"

#define TOP_WAYS      8u
#define TOP_SETS_MIN  16u
#define TOP_K_MAX     1000u
#define TOP_WORDS_MAX 8u /* of a value: texts of at most 64 bytes */

/*
 * A slice: u64 total; then n_sets sets, each u64 weight[TOP_WAYS], error[TOP_WAYS],
 * value[n_words][TOP_WAYS]; weight 0: the way is free.  The set of a value is that of the high
 * bits of hll_hash() of its words.
 */
struct top_shape {
	u32 n_sets; /* a power of two */
	u32 n_words;
};

/* As many sets as k values need so that few of them must share one. */
struct top_shape top_shape(u32 k, u32 n_words);
static inline u32 top_set_bytes(const struct top_shape *shape)
{
	return 8 * TOP_WAYS * (2 + shape->n_words);
}
static inline u32 top_slice_bytes(const struct top_shape *shape)
{
	return 8 + shape->n_sets * top_set_bytes(shape);
}
/*
 * What slices merge into, in 128 bits each (low word first): total; then for each set absent,
 * then TOP_WAYS ways of weight, error, value[n_words].  All zero: nothing yet.
 */
u32 top_merged_words(const struct top_shape *shape);
/* A slice, which may be unaligned. */
void top_merge_slice(const struct top_shape *shape, u64 *to, const void *slice);
void top_merge(const struct top_shape *shape, u64 *to, const u64 *from);

struct top_entry {
	s128 weight, error;
	const u64 *value;
};

/*
 * The k heaviest by weight, then the least error, then the least words; `entries` has room
 * for all n_sets * TOP_WAYS.  Their number; *ret_max_unlisted: no other value weighs more.
 */
u32 top_list(const struct top_shape *shape, const u64 *merged, u32 k, struct top_entry *entries,
	     s128 *ret_total, s128 *ret_max_unlisted);

#endif
