/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * State that programs go on writing -> how much is in it.  Nothing is read but keys and counts, as
 * they are met: a number that is shown until there is a later one.
 */
#include "drain/groups.h"

#include "base/region.h"

/* Hashes of keys, each once; 0: none. */
struct seen {
	struct region room;
	u64 mask, n;
};

static void see(struct seen *seen, const u64 *words, u32 n, u64 hash)
{
	u64 *set = seen->room.at;

	for (u32 i = 0; i < n; i++) {
		hash = (hash ^ words[i]) * 0x9e3779b97f4a7c15ull;
		hash ^= hash >> 32;
	}
	hash = hash ?: 1;
	for (u64 at = hash & seen->mask;; at = (at + 1) & seen->mask) {
		if (set[at] == hash)
			return;
		if (set[at])
			continue;
		set[at] = hash;
		seen->n++;
		return;
	}
}

/* Rows in use, or those that may be. */
static u32 rows_of(const struct state_layout *s, const u8 *slice)
{
	const u64 *counters = (const u64 *)slice;

	if (s->kind == STATE_TABLE)
		return (u32)MIN(__atomic_load_n(&counters[COUNTER_ROWS], __ATOMIC_ACQUIRE) + 1,
				s->n_rows);
	return s->kind == STATE_DIRECT ? s->n_rows : 0;
}

static void see_slice(const struct groups *groups, const u8 *slice, u32 cpu, u32 n,
		      struct seen *seen, u64 *matched)
{
	const struct state_layout *s = &groups->load->phys->state;
	const struct drain *drain = &groups->drain;
	u64 hash = groups->merge.has_slice_key ? cpu + 1 : 0;

	/* A table's row 0 is that of events that found no other. */
	for (u32 i = 0; i < n; i++) {
		const u8 *row = slice + s->rows_bytes_offset + (u64)i * s->row_bytes;
		u64 key = i;

		if (drain->matched_bytes >= 0)
			*matched += *(const u64 *)(row + drain->matched_bytes);
		if (s->kind == STATE_TABLE && i > 0)
			see(seen, (const u64 *)(row + 8), s->key_words, hash);
		else if (drain->exists_bytes >= 0 && *(const u64 *)(row + drain->exists_bytes))
			see(seen, &key, 1, hash);
	}
}

bool groups_glance(const struct groups *groups, u64 *matched, u64 *n_groups)
{
	const struct state_layout *s = &groups->load->phys->state;
	u32 n_slices = STATE_COPIES * s->n_cpus * s->n_levels, n_rows = 0;
	struct seen seen = { .mask = 1 };

	for (u32 i = 0; i < n_slices; i++)
		n_rows += rows_of(s, groups->load->state + (u64)i * s->slice_bytes);
	while (seen.mask < 2ull * n_rows)
		seen.mask = seen.mask * 2 + 1;
	if (s->kind == STATE_KERNEL_MAP || !region_need(&seen.room, (seen.mask + 1) * sizeof(u64)))
		return false;
	for (u32 i = 0; i < n_slices; i++) {
		const u8 *slice = groups->load->state + (u64)i * s->slice_bytes;
		/* Rows that came meanwhile are left for the next time: there is no room for them.
		 */
		u32 n = MIN(n_rows, rows_of(s, slice));

		see_slice(groups, slice, i / s->n_levels % s->n_cpus, n, &seen, matched);
		n_rows -= n;
	}
	region_free(&seen.room);
	*n_groups += seen.n;
	return true;
}
