/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Drain: two walks over the slices.  The first reads the counters (a slice where
 * nothing happened costs one cache line pair) and learns which tables were full,
 * which the merge must know before it sees rows; the second hands on the rows in
 * use and clears just those, and the used part of each slice's pool of chunks.
 */
#include "drain/copy.h"

#include <errno.h>
#include <string.h>

#include "sys/sys.h"

#define MAP_BATCH 512u

static void find_stacks(struct drain *drain, const struct phys *phys, struct arena *arena)
{
	drain->stack_words = arena_array(arena, u32, MAX(phys->n_keys, 1u));
	drain->keys = arena_array(arena, u64, MAX(phys->state.key_words, 1u));
	for (u32 i = 0; i < phys->n_keys; i++)
		if (phys->keys[i].expr->type.kind == TYPE_STACK)
			drain->stack_words[drain->n_stack_words++] = phys->keys[i].first_word;
}

void drain_open(struct drain *drain, const struct load_hooks *hooks, const struct phys *phys,
		struct arena *arena)
{
	const struct state_layout *s = &phys->state;
	u32 n_slices = s->n_cpus * s->n_levels;

	*drain = (struct drain){
		.layout = s, .hooks = hooks, .exists_bytes = -1, .matched_bytes = -1
	};
	find_stacks(drain, phys, arena);
	if (phys->has_matched && phys->matched_cell >= 0)
		drain->matched_bytes = (s32)phys->cells[phys->matched_cell].bytes_offset;
	drain->active = arena_array(arena, u32, n_slices);
	drain->is_full = arena_array(arena, bool, n_slices);
	if (phys->n_keys > 0 && phys->exists_cell >= 0 && s->kind == STATE_DIRECT)
		drain->exists_bytes = phys->cells[phys->exists_cell].bytes_offset;
	if (s->kind == STATE_KERNEL_MAP) {
		drain->map_key_bytes = 8 * (s->key_words + 1);
		drain->map_value_bytes = ALIGN_UP(s->row_bytes - s->cells_bytes_offset, 8);
		drain->map_keys = arena_alloc(arena, (size_t)MAP_BATCH * drain->map_key_bytes);
		drain->map_values = arena_alloc(arena, (size_t)MAP_BATCH * drain->map_value_bytes);
	}
}

static u8 *slice_at(const struct state_layout *s, u8 *state, u32 copy, u32 slice)
{
	return state + state_slice_offset(s, copy, slice / s->n_levels, slice % s->n_levels);
}

/* COUNTER_POOL and COUNTER_HASH count no events: they are not added up. */
static bool counters_add(u64 to[COUNTER_N], const u64 *from)
{
	u64 any = 0;
	u32 i;

	for (i = 0; i < COUNTER_N; i++) {
		to[i] += i == COUNTER_POOL || i == COUNTER_HASH ? 0 : from[i];
		any |= from[i];
	}
	return any;
}

void drain_peek_counters(const struct state_layout *layout, const u8 *state, u64 copy,
			 u64 counters[COUNTER_N])
{
	const struct state_layout *s = layout;

	for (u32 slice = 0; slice < s->n_cpus * s->n_levels; slice++)
		counters_add(counters, (const u64 *)slice_at(s, (u8 *)state, (u32)copy, slice));
}

void drain_peek_operators(const struct state_layout *s, const u8 *state, u64 copy, u64 *counters)
{
	for (u32 slice = 0; slice < s->n_cpus * s->n_levels; slice++) {
		const u64 *from = (const u64 *)slice_at(s, (u8 *)state, (u32)copy, slice);

		for (u32 i = 0; i < s->n_operators * COUNTER_N; i++)
			counters[i] += from[COUNTER_N + i];
	}
}

/* Where count(*) is kept for each group, the programs keep no second count of events. */
static void count_matched(struct drain *drain, const u8 *row)
{
	u64 n;

	if (drain->matched_bytes < 0)
		return;
	memcpy(&n, row + drain->matched_bytes, sizeof(n));
	drain->n_matched += n;
}

static const u64 *keys_of(const struct drain *drain, const u64 *words)
{
	if (!drain->n_stack_words)
		return words;
	memcpy(drain->keys, words, drain->layout->key_words * sizeof(*words));
	for (u32 i = 0; i < drain->n_stack_words; i++) {
		u64 *word = &drain->keys[drain->stack_words[i]];

		*word = (uintptr_t)load_stack(drain->hooks, *word);
	}
	return drain->keys;
}

static void drain_direct(struct drain *drain, u8 *slice, u32 cpu, struct merge *merge)
{
	const struct state_layout *s = drain->layout;
	u8 *rows = slice + s->rows_bytes_offset;
	u64 key, exists;
	u32 i;

	for (i = 0; i < s->n_rows; i++) {
		u8 *row = rows + (u64)i * s->row_bytes;

		if (drain->exists_bytes >= 0) {
			memcpy(&exists, row + drain->exists_bytes, sizeof(exists));
			if (!exists)
				continue;
		}
		key = (u64)s->domain_lo + i;
		count_matched(drain, row);
		merge_row(merge, &key, row + s->cells_bytes_offset, slice, cpu, false);
		if (!drain->is_kept)
			memset(row, 0, s->row_bytes);
	}
}

static void drain_table(struct drain *drain, u8 *slice, u64 n_used, u32 cpu, bool is_full,
			struct merge *merge)
{
	const struct state_layout *s = drain->layout;
	u32 *index = (u32 *)(slice + s->index_bytes_offset);
	u8 *rows = slice + s->rows_bytes_offset;
	bool is_sparse, has_other = ((u64 *)slice)[COUNTER_TABLE_FULL];
	u32 i;

	n_used = MIN(n_used, s->n_rows - 1);
	is_sparse = n_used < s->n_index / 16;
	if (has_other) {
		count_matched(drain, rows);
		merge_other(merge, rows + s->cells_bytes_offset, slice);
	}
	for (i = 1; i <= n_used; i++) {
		u8 *row = rows + (u64)i * s->row_bytes;

		count_matched(drain, row);
		merge_row(merge, keys_of(drain, (u64 *)(row + 8)), row + s->cells_bytes_offset,
			  slice, cpu, is_full);
		if (is_sparse && !drain->is_kept)
			index[*(u32 *)row & (s->n_index - 1)] = 0;
	}
	if (!is_sparse && !drain->is_kept)
		memset(index, 0, (size_t)s->n_index * sizeof(u32));
	if (!drain->is_kept)
		memset(rows, 0, (n_used + 1) * s->row_bytes);
}

static void map_row(struct drain *drain, struct merge *merge, const u8 *key, const u8 *value)
{
	const struct state_layout *s = drain->layout;
	const u64 *words = (const u64 *)key;
	u64 slice = words[s->key_words];

	/* A row has one writer: its chunks lie in the slice that its key names. */
	BUG_ON(slice >= (u64)s->n_cpus * s->n_levels);
	drain->n_map_rows++;
	count_matched(drain, value);
	merge_row(merge, keys_of(drain, words), value,
		  slice_at(s, drain->state, drain->copy, slice), slice / s->n_levels,
		  drain->is_full[slice]);
}

/* Kernels before 5.6 have no batches (commit 05799638e3a3, "Add batch ops"). */
static int drain_map_singly(struct drain *drain, int fd, struct merge *merge)
{
	int err;

	for (;;) {
		err = sys_map_element(BPF_MAP_GET_NEXT_KEY, fd, NULL, drain->map_keys);
		if (err)
			return err == -ENOENT ? 0 : err;
		err = sys_map_element(BPF_MAP_LOOKUP_ELEM, fd, drain->map_keys, drain->map_values);
		if (err)
			return err;
		map_row(drain, merge, drain->map_keys, drain->map_values);
		err = sys_map_element(BPF_MAP_DELETE_ELEM, fd, drain->map_keys, NULL);
		if (err)
			return err;
	}
}

static int drain_map(struct drain *drain, int fd, struct merge *merge)
{
	u32 position[2], count, i;
	void *from = NULL;
	int err = 0;

	while (!err) {
		count = MAP_BATCH;
		err = sys_map_take_batch(fd, from, position, drain->map_keys, drain->map_values,
					 &count);
		/* ENOENT: the end, with what is left.  Others (no such command, a bucket larger
		 * than the batch) took nothing out. */
		if (err && err != -ENOENT)
			return drain_map_singly(drain, fd, merge);
		for (i = 0; i < count; i++)
			map_row(drain, merge, drain->map_keys + (size_t)i * drain->map_key_bytes,
				drain->map_values + (size_t)i * drain->map_value_bytes);
		from = position;
	}
	return 0;
}

/* The rows of one slice, but those of a kernel map. */
static void drain_slice(struct drain *drain, u8 *bytes, u32 slice, struct merge *merge)
{
	const struct state_layout *s = drain->layout;
	const u64 *counters = (const u64 *)bytes;
	u8 *rows = bytes + s->rows_bytes_offset;

	switch (s->kind) {
	case STATE_DIRECT:
		drain_direct(drain, bytes, slice / s->n_levels, merge);
		break;
	case STATE_TABLE:
		drain->most_rows = MAX(drain->most_rows, counters[COUNTER_ROWS]);
		drain_table(drain, bytes, counters[COUNTER_ROWS], slice / s->n_levels,
			    drain->is_full[slice], merge);
		break;
	case STATE_KERNEL_MAP:
		if (s->n_rows && counters[COUNTER_TABLE_FULL]) {
			count_matched(drain, rows);
			merge_other(merge, rows + s->cells_bytes_offset, bytes);
			memset(rows, 0, s->row_bytes);
		}
		break;
	case STATE_NONE:
		break;
	}
}

/* After the last row that has chunks in it. */
static void clear_slice(const struct state_layout *s, u8 *bytes)
{
	u64 *counters = (u64 *)bytes;

	if (s->pool_bytes)
		memset(bytes + s->pool_bytes_offset, 0, MIN(counters[COUNTER_POOL], s->pool_bytes));
	memset(counters, 0, phys_operator_bytes(1 + s->n_operators));
}

int drain_copy(struct drain *drain, u8 *state, u32 copy, int map_fd, struct merge *merge,
	       u64 counters[COUNTER_N])
{
	const struct state_layout *s = drain->layout;
	bool has_refused = false;
	u32 n_slices = s->n_cpus * s->n_levels, n_active = 0, slice, i;
	u64 *c;
	int err = 0;

	drain->n_matched = drain->n_map_rows = 0;
	drain->state = state;
	drain->copy = copy;
	for (slice = 0; slice < n_slices; slice++) {
		c = (u64 *)slice_at(s, state, copy, slice);
		drain->is_full[slice] = c[COUNTER_TABLE_FULL] > c[COUNTER_STACK_FULL];
		has_refused |= c[COUNTER_STACK_FULL] > 0;
		if (!counters_add(counters, c))
			continue;
		drain->active[n_active++] = slice;
		if (drain->is_full[slice])
			merge_mark_full(merge, slice / s->n_levels);
	}
	for (i = 0; i < n_active; i++) {
		slice = drain->active[i];
		drain_slice(drain, slice_at(s, state, copy, slice), slice, merge);
	}
	/* No map: no program names it, when WHERE is never true. */
	if (s->kind == STATE_KERNEL_MAP && n_active && map_fd >= 0)
		err = drain_map(drain, map_fd, merge);
	drain->most_rows = MAX(drain->most_rows, drain->n_map_rows);
	for (i = 0; i < n_active && !drain->is_kept; i++)
		clear_slice(s, slice_at(s, state, copy, drain->active[i]));
	counters[COUNTER_MATCHED] += drain->n_matched;
	merge_settle(merge);
	/* A stack that was refused may have room in a later copy. */
	if (has_refused)
		merge_shut(merge);
	return err;
}
