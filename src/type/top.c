/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Set-associative Space-Saving: one slice's updates, and merging with bounds.  Why the
 * bounds hold stands in the header.
 */
#include "type/top.h"

#include <string.h>

#include "type/hll.h"

struct top_shape top_shape(u32 k, u32 n_words)
{
	struct top_shape shape = { TOP_SETS_MIN, n_words };

	while (shape.n_sets * TOP_WAYS < 4 * k)
		shape.n_sets *= 2;
	return shape;
}

/* --- Merged --- */

static u32 way_words(const struct top_shape *shape)
{
	return 4 + shape->n_words;
}

static u32 set_words(const struct top_shape *shape)
{
	return 2 + TOP_WAYS * way_words(shape);
}

u32 top_merged_words(const struct top_shape *shape)
{
	return 2 + shape->n_sets * set_words(shape);
}

static u128 wide(const u64 *words)
{
	return (u128)words[1] << 64 | words[0];
}

static void wide_set(u64 *words, u128 value)
{
	words[0] = (u64)value;
	words[1] = (u64)(value >> 64);
}

struct way {
	u128 weight, error;
	u64 value[TOP_WORDS_MAX];
};

struct set {
	u128 absent;
	u32 n;
	struct way ways[2 * TOP_WAYS];
};

static void set_of_slice(const struct top_shape *shape, const u8 *at, struct set *ret_set)
{
	u64 words[(2 + TOP_WORDS_MAX) * TOP_WAYS];

	memcpy(words, at, top_set_bytes(shape));
	ret_set->n = 0;
	ret_set->absent = UINT64_MAX;
	for (u32 i = 0; i < TOP_WAYS; i++) {
		struct way *way = &ret_set->ways[ret_set->n];

		ret_set->absent = MIN(ret_set->absent, words[i]);
		if (!words[i])
			continue;
		way->weight = words[i];
		way->error = words[TOP_WAYS + i];
		for (u32 j = 0; j < shape->n_words; j++)
			way->value[j] = words[(2 + j) * TOP_WAYS + i];
		ret_set->n++;
	}
}

static void set_of_merged(const struct top_shape *shape, const u64 *at, struct set *ret_set)
{
	ret_set->absent = wide(at);
	ret_set->n = 0;
	for (u32 i = 0; i < TOP_WAYS; i++) {
		const u64 *words = at + 2 + i * way_words(shape);
		struct way *way = &ret_set->ways[ret_set->n];

		way->weight = wide(words);
		if (!way->weight)
			break;
		way->error = wide(words + 2);
		memcpy(way->value, words + 4, shape->n_words * sizeof(u64));
		ret_set->n++;
	}
}

static void set_put(const struct top_shape *shape, const struct set *set, u64 *to)
{
	memset(to, 0, set_words(shape) * sizeof(u64));
	wide_set(to, set->absent);
	for (u32 i = 0; i < set->n; i++) {
		u64 *words = to + 2 + i * way_words(shape);

		wide_set(words, set->ways[i].weight);
		wide_set(words + 2, set->ways[i].error);
		memcpy(words + 4, set->ways[i].value, shape->n_words * sizeof(u64));
	}
}

/* b into a, which has room for both. */
static void set_merge(const struct top_shape *shape, struct set *a, const struct set *b)
{
	u32 n = a->n;
	bool is_in_both[TOP_WAYS] = { false };

	for (u32 i = 0; i < b->n; i++) {
		const struct way *from = &b->ways[i];
		u32 at = 0;

		while (at < n &&
		       memcmp(a->ways[at].value, from->value, shape->n_words * sizeof(u64)) != 0)
			at++;
		if (at < n) {
			is_in_both[at] = true;
			a->ways[at].weight += from->weight;
			a->ways[at].error += from->error;
			continue;
		}
		a->ways[a->n] = *from;
		a->ways[a->n].weight += a->absent;
		a->ways[a->n++].error += a->absent;
	}
	for (u32 i = 0; i < n; i++) {
		if (is_in_both[i])
			continue;
		a->ways[i].weight += b->absent;
		a->ways[i].error += b->absent;
	}
	a->absent += b->absent;
}

/* The heaviest TOP_WAYS stay. */
static void set_prune(struct set *set)
{
	while (set->n > TOP_WAYS) {
		u32 least = 0;

		for (u32 i = 1; i < set->n; i++)
			if (set->ways[i].weight < set->ways[least].weight)
				least = i;
		set->absent = MAX(set->absent, set->ways[least].weight);
		set->ways[least] = set->ways[--set->n];
	}
}

static void merge_sets(const struct top_shape *shape, u64 *to, struct set *into,
		       const struct set *from)
{
	/* A way that stays empty is worth nothing: most sets of most groups are. */
	if (!from->n && !from->absent)
		return;
	set_of_merged(shape, to, into);
	set_merge(shape, into, from);
	set_prune(into);
	set_put(shape, into, to);
}

void top_merge_slice(const struct top_shape *shape, u64 *to, const void *slice)
{
	const u8 *at = slice;
	struct set into, from;
	u64 total;

	memcpy(&total, at, sizeof(total));
	if (!total)
		return;
	wide_set(to, wide(to) + total);
	for (u32 i = 0; i < shape->n_sets; i++) {
		set_of_slice(shape, at + 8 + i * top_set_bytes(shape), &from);
		merge_sets(shape, to + 2 + i * set_words(shape), &into, &from);
	}
}

void top_merge(const struct top_shape *shape, u64 *to, const u64 *from)
{
	struct set into, other;

	wide_set(to, wide(to) + wide(from));
	for (u32 i = 0; i < shape->n_sets; i++) {
		set_of_merged(shape, from + 2 + i * set_words(shape), &other);
		merge_sets(shape, to + 2 + i * set_words(shape), &into, &other);
	}
}

/* --- Reading --- */

static int entry_order(const struct top_entry *a, const struct top_entry *b, u32 n_words)
{
	if (a->weight != b->weight)
		return a->weight > b->weight ? -1 : 1;
	if (a->error != b->error)
		return a->error < b->error ? -1 : 1;
	for (u32 i = 0; i < n_words; i++)
		if (a->value[i] != b->value[i])
			return a->value[i] < b->value[i] ? -1 : 1;
	return 0;
}

/* In place (Shell 1959): qsort() may ask for memory. */
static void sort(struct top_entry *entries, u32 n, u32 n_words)
{
	for (u32 gap = n / 2; gap; gap = gap == 2 ? 1 : gap * 5 / 11) {
		for (u32 i = gap; i < n; i++) {
			struct top_entry moved = entries[i];
			u32 at = i;

			for (; at >= gap && entry_order(&moved, &entries[at - gap], n_words) < 0;
			     at -= gap)
				entries[at] = entries[at - gap];
			entries[at] = moved;
		}
	}
}

u32 top_list(const struct top_shape *shape, const u64 *merged, u32 k, struct top_entry *entries,
	     s128 *ret_total, s128 *ret_max_unlisted)
{
	u32 n = 0;
	u128 absent = 0;

	for (u32 i = 0; i < shape->n_sets; i++) {
		const u64 *set = merged + 2 + i * set_words(shape);

		absent = MAX(absent, wide(set));
		for (u32 j = 0; j < TOP_WAYS; j++) {
			const u64 *way = set + 2 + j * way_words(shape);

			if (!wide(way))
				break;
			entries[n++] =
				(struct top_entry){ (s128)wide(way), (s128)wide(way + 2), way + 4 };
		}
	}
	sort(entries, n, shape->n_words);
	*ret_total = (s128)wide(merged);
	*ret_max_unlisted = (s128)absent;
	if (n > k && entries[k].weight > *ret_max_unlisted)
		*ret_max_unlisted = entries[k].weight;
	return MIN(n, k);
}
