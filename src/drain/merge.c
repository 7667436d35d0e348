/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Merge: dense entries and an index of entry numbers (linear probing, at most
 * half full).  The index starts small and doubles inside its region, so a query
 * with few groups touches few pages; both stay grown from window to window, and so
 * does the pool of chunks, which is handed out anew, and cleared piece by piece then.
 */
#include "drain/merge.h"

#include <errno.h>
#include <string.h>

#define INDEX_MIN   64u
#define ENTRIES_MAX (1ull << 30)
#define POOL_FIRST  8u /* words: chunks stay on cache lines of their own */

static u32 hash_words(const u64 *words, u32 n, u64 cpu)
{
	u64 h = cpu + 0x2545f4914f6cdd1dull;
	u32 i;

	for (i = 0; i < n; i++) {
		h = (h ^ words[i]) * 0x9e3779b97f4a7c15ull;
		h ^= h >> 29;
	}
	h *= 0xd6e8feb86659fd93ull;
	return h >> 32;
}

int merge_open(struct merge *merge, const struct phys *phys, struct arena *arena)
{
	const struct state_layout *s = &phys->state;
	u64 rows = s->kind == STATE_KERNEL_MAP ? MAX(s->max_groups, s->n_rows) : s->n_rows;
	u32 n_words = 0, i;
	bool has_row_key = false;

	*merge = (struct merge){ .n_cpus = s->n_cpus,
				 .n_cells = phys->n_cells,
				 .is_grouped = phys->n_keys > 0,
				 .plain_count_cell = -1 };
	for (i = 0; i < phys->n_keys; i++) {
		merge->has_slice_key |= phys->keys[i].is_slice;
		has_row_key |= !phys->keys[i].is_slice;
	}
	/* A DIRECT row has no key words: its number is the key. */
	merge->n_row_words = s->kind == STATE_DIRECT ? has_row_key : s->key_words;
	merge->n_key_words = merge->n_row_words + merge->has_slice_key;
	merge->cells = arena_array(arena, struct merge_cell, MAX(phys->n_cells, 1));
	for (i = 0; i < phys->n_cells; i++) {
		const struct cell *c = &phys->cells[i];

		merge->cells[i] = (struct merge_cell){
			.cell = c,
			.ops = &cell_ops[c->kind],
			.from_bytes = c->bytes_offset - s->cells_bytes_offset,
			.to_word = n_words,
			.n_cells = c->n_cells,
			.chunk_cells = c->chunk_cells,
			.n_chunks = c->n_chunks,
			.unplaced_bytes = c->unplaced_bytes,
			.unplaced_word = (c->n_chunks + 1) / 2,
		};
		n_words += cell_ops[c->kind].fold ? 1 : cell_ops[c->kind].words(c);
		if (c->kind == CELL_COUNT && !c->arg && !c->filter && merge->plain_count_cell < 0)
			merge->plain_count_cell = i;
	}
	merge->entry_bytes = sizeof(struct merge_entry) + 8 * (merge->n_key_words + n_words);
	merge->max_entries = MIN(rows * s->n_cpus * s->n_levels + 2, ENTRIES_MAX);
	merge->cpu_n_full = arena_array(arena, u32, s->n_cpus);
	merge->cpu_closed = arena_array(arena, bool, s->n_cpus);
	merge->index_mask = INDEX_MIN - 1;
	if (!region_need(&merge->entries, 2 * (size_t)merge->entry_bytes) ||
	    !region_need(&merge->index, INDEX_MIN * sizeof(u32))) {
		merge_close(merge);
		return -ENOMEM;
	}
	merge_reset(merge);
	return 0;
}

void merge_close(struct merge *merge)
{
	region_free(&merge->entries);
	region_free(&merge->index);
	region_free(&merge->pool);
}

static u32 entry_new(struct merge *merge, u32 hash)
{
	struct merge_entry *entry;

	if (merge->n_entries >= merge->max_entries ||
	    !region_need(&merge->entries, ((size_t)merge->n_entries + 1) * merge->entry_bytes))
		return MERGE_OTHER;
	entry = merge_entry(merge, merge->n_entries);
	memset(entry, 0, merge->entry_bytes);
	entry->hash = hash;
	return merge->n_entries++;
}

void merge_reset(struct merge *merge)
{
	u32 size = merge->index_mask + 1, wanted = INDEX_MIN;

	memset(merge->index.at, 0, (size_t)size * sizeof(u32));
	/* One burst of groups must not make every later window clear a large index. */
	while (wanted < 16ull * merge->n_entries)
		wanted *= 2;
	merge->index_mask = MIN(size, wanted) - 1;
	merge->n_entries = 0;
	merge->n_pool_words = POOL_FIRST;
	entry_new(merge, 0);
	merge->n_live = 0;
	merge->has_other = merge->is_closed = false;
	merge->n_folded = 0;
	merge->n_full = 0;
	memset(merge->cpu_n_full, 0, merge->n_cpus * sizeof(u32));
	memset(merge->cpu_closed, 0, merge->n_cpus * sizeof(bool));
	if (!merge->is_grouped) {
		/* The one group is there even when nothing happened. */
		u32 hash = hash_words(NULL, 0, 0);
		u32 *index = merge->index.at;

		index[hash & merge->index_mask] = entry_new(merge, hash);
		merge->n_live = 1;
	}
}

/* Doubles the index; false when memory is short, then it stays as it was. */
static bool index_grow(struct merge *merge)
{
	u64 size = 2 * ((u64)merge->index_mask + 1);
	u32 *index, i, at;

	if (!region_need(&merge->index, size * sizeof(u32)))
		return false;
	index = merge->index.at;
	memset(index, 0, size * sizeof(u32));
	merge->index_mask = size - 1;
	for (i = 1; i < merge->n_entries; i++) {
		at = merge_entry(merge, i)->hash & merge->index_mask;
		while (index[at])
			at = (at + 1) & merge->index_mask;
		index[at] = i;
	}
	return true;
}

static u64 load_word(const u8 *at)
{
	u64 word;

	memcpy(&word, at, sizeof(word));
	return word;
}

/* --- Histograms --- */

/* The chunk of that number in the pool, taken when there is none yet; NULL: no memory. */
static u64 *chunk_of(struct merge *merge, u32 *directory, u32 number, u32 chunk_cells)
{
	u64 end = (u64)merge->n_pool_words + chunk_cells;
	u64 *chunk;

	if (directory[number])
		return (u64 *)merge->pool.at + directory[number];
	if (end > UINT32_MAX || !region_need(&merge->pool, end * sizeof(u64)))
		return NULL;
	directory[number] = merge->n_pool_words;
	chunk = (u64 *)merge->pool.at + merge->n_pool_words;
	memset(chunk, 0, chunk_cells * sizeof(u64));
	merge->n_pool_words = end;
	return chunk;
}

/* Adds cells first .. first + n - 1, which lie at `from` (maybe unaligned). */
static void add_cells(u64 *to, const u8 *from, u32 n)
{
	for (u32 i = 0; i < n; i++)
		to[i] += load_word(from + 8 * (size_t)i);
}

/* chunk NULL: its values are counted as having no room. */
static void add_chunk(const struct merge_cell *cell, u64 *to, u32 number, u64 *chunk,
		      const u8 *from)
{
	u32 n = MIN(cell->chunk_cells, cell->n_cells - number * cell->chunk_cells);

	if (chunk) {
		add_cells(chunk, from, n);
		return;
	}
	for (u32 i = 0; i < n; i++)
		to[cell->unplaced_word] += load_word(from + 8 * (size_t)i);
}

static void combine_histogram(struct merge *merge, const struct merge_cell *cell, u64 *to,
			      const u8 *from, const u8 *slice)
{
	u32 place;

	if (!cell->chunk_cells) {
		add_cells(to, from, cell->n_cells);
		return;
	}
	for (u32 i = 0; i < cell->n_chunks; i++) {
		memcpy(&place, from + 4 * (size_t)i, sizeof(place));
		if (place)
			add_chunk(cell, to, i, chunk_of(merge, (u32 *)to, i, cell->chunk_cells),
				  slice + place);
	}
	to[cell->unplaced_word] += load_word(from + cell->unplaced_bytes);
}

/* Entry of `source` to entry of `merge`, which may be the same. */
static void fold_histogram(struct merge *merge, const struct merge_cell *cell, u64 *to,
			   const struct merge *source, const u64 *from)
{
	const u32 *directory = (const u32 *)from;
	u64 *chunk;

	if (!cell->chunk_cells) {
		add_cells(to, (const u8 *)from, cell->n_cells);
		return;
	}
	for (u32 i = 0; i < cell->n_chunks; i++) {
		if (!directory[i])
			continue;
		/* First: it may move the pool. */
		chunk = chunk_of(merge, (u32 *)to, i, cell->chunk_cells);
		add_chunk(cell, to, i, chunk, (const u8 *)((u64 *)source->pool.at + directory[i]));
	}
	to[cell->unplaced_word] += from[cell->unplaced_word];
}

u64 merge_histogram(const struct merge *merge, const u64 *cells, const struct merge_cell *cell,
		    void (*visit)(void *context, u32 cell, u64 count), void *context)
{
	const u64 *at = cells + cell->to_word, *pool = merge->pool.at;
	const u32 *directory = (const u32 *)at;

	if (!cell->chunk_cells) {
		for (u32 i = 0; i < cell->n_cells; i++)
			if (at[i])
				visit(context, i, at[i]);
		return 0;
	}
	for (u32 chunk = 0; chunk < cell->n_chunks; chunk++) {
		u32 first = chunk * cell->chunk_cells;

		if (!directory[chunk])
			continue;
		for (u32 i = 0; i < cell->chunk_cells; i++)
			if (pool[directory[chunk] + i])
				visit(context, first + i, pool[directory[chunk] + i]);
	}
	return at[cell->unplaced_word];
}

/* --- Rows --- */

/* Row cells (as the kernel part wrote them) into entry cells. */
static void combine(struct merge *merge, u64 *to, const u8 *cells, const u8 *slice)
{
	const struct merge_cell *c = merge->cells, *end = c + merge->n_cells;

	for (; c < end; c++) {
		u64 *cell = to + c->to_word;
		const u8 *from = cells + c->from_bytes;

		if (c->ops->fold)
			*cell = c->ops->fold(*cell, load_word(from));
		else if (c->ops->merge_row)
			c->ops->merge_row(c->cell, cell, from);
		else
			combine_histogram(merge, c, cell, from, slice);
	}
}

/* The cells of the "(other)" row, which is shown from now on. */
static u64 *use_other(struct merge *merge)
{
	merge->n_live += !merge->has_other;
	merge->has_other = true;
	return merge_entry(merge, MERGE_OTHER)->words + merge->n_key_words;
}

/*
 * Entry cells of `source`, a merge of the same query or the same merge, into entry cells:
 * what combine() is for rows.
 */
static void combine_entry(struct merge *merge, u64 *to, const struct merge *source, const u64 *from)
{
	for (u32 i = 0; i < merge->n_cells; i++) {
		const struct merge_cell *c = &merge->cells[i];

		u64 *cell = to + c->to_word;
		const u64 *added = from + c->to_word;

		if (c->ops->fold)
			*cell = c->ops->fold(*cell, *added);
		else if (c->ops->merge_entry)
			c->ops->merge_entry(c->cell, cell, added);
		else if (c->ops->merge_row)
			c->ops->merge_row(c->cell, cell, (const u8 *)added);
		else
			fold_histogram(merge, c, cell, source, added);
	}
}

/* Into "(other)": the cells of an entry that is not exact. */
static void combine_other(struct merge *merge, const struct merge *source, const u64 *from)
{
	combine_entry(merge, use_other(merge), source, from);
	if (merge->plain_count_cell >= 0)
		merge->n_folded += from[merge->cells[merge->plain_count_cell].to_word];
	else
		merge->n_folded++;
}

static void fold_entry(struct merge *merge, struct merge_entry *entry)
{
	combine_other(merge, merge, merge_cells(merge, entry));
	entry->is_folded = true;
	merge->n_live--;
}

static bool key_equal(const struct merge *merge, const struct merge_entry *entry, const u64 *keys,
		      u32 cpu)
{
	u32 i;

	for (i = 0; i < merge->n_row_words; i++)
		if (entry->words[i] != keys[i])
			return false;
	return !merge->has_slice_key || entry->words[i] == cpu;
}

void merge_shut(struct merge *merge)
{
	memset(merge->cpu_closed, true, merge->n_cpus * sizeof(bool));
	merge->is_closed = true;
}

/* The entry of that key, new if need be; MERGE_OTHER where it cannot be exact or has no room. */
static u32 find(struct merge *merge, const u64 *keys, u32 cpu, u32 hash)
{
	u32 *index = merge->index.at;
	u32 at = hash & merge->index_mask, number;
	struct merge_entry *entry;

	for (; index[at]; at = (at + 1) & merge->index_mask) {
		entry = merge_entry(merge, index[at]);
		if (entry->hash == hash && key_equal(merge, entry, keys, cpu))
			return entry->is_folded ? MERGE_OTHER : index[at];
	}
	if (merge->has_slice_key ? merge->cpu_closed[cpu] : merge->is_closed)
		return MERGE_OTHER;
	number = entry_new(merge, hash);
	if (number == MERGE_OTHER) {
		merge_shut(merge);
		return MERGE_OTHER;
	}
	entry = merge_entry(merge, number);
	memcpy(entry->words, keys, merge->n_row_words * sizeof(u64));
	if (merge->has_slice_key)
		entry->words[merge->n_row_words] = cpu;
	index[at] = number;
	merge->n_live++;
	if (2ull * merge->n_entries > merge->index_mask && !index_grow(merge) &&
	    merge->n_entries + 1ull > merge->index_mask)
		merge->max_entries = merge->n_entries; /* keeps one slot empty: look-ups end */
	return number;
}

void merge_row(struct merge *merge, const u64 *keys, const u8 *cells, const u8 *slice, u32 cpu,
	       bool is_full)
{
	u32 hash = hash_words(keys, merge->n_row_words, merge->has_slice_key ? cpu : 0);
	u32 number = find(merge, keys, cpu, hash);
	struct merge_entry *entry = merge_entry(merge, number);

	if (number != MERGE_OTHER) {
		combine(merge, entry->words + merge->n_key_words, cells, slice);
		entry->n_full += is_full;
		return;
	}
	combine(merge, use_other(merge), cells, slice);
	if (merge->plain_count_cell >= 0)
		merge->n_folded +=
			load_word(cells + merge->cells[merge->plain_count_cell].from_bytes);
	else
		merge->n_folded++;
}

void merge_other(struct merge *merge, const u8 *cells, const u8 *slice)
{
	combine(merge, use_other(merge), cells, slice);
}

void merge_mark_full(struct merge *merge, u32 cpu)
{
	merge->n_full++;
	merge->cpu_n_full[cpu]++;
}

void merge_settle(struct merge *merge)
{
	struct merge_entry *entry;
	u32 i, wanted, cpu;

	if (!merge->n_full)
		return;
	for (i = 1; i < merge->n_entries; i++) {
		entry = merge_entry(merge, i);
		wanted = merge->n_full;
		if (merge->has_slice_key)
			wanted = merge->cpu_n_full[entry->words[merge->n_row_words]];
		if (!entry->is_folded && entry->n_full != wanted)
			fold_entry(merge, entry);
		entry->n_full = 0;
	}
	for (cpu = 0; cpu < merge->n_cpus; cpu++) {
		merge->cpu_closed[cpu] |= merge->cpu_n_full[cpu] > 0;
		merge->cpu_n_full[cpu] = 0;
	}
	merge->is_closed = true;
	merge->n_full = 0;
}

void merge_fold_all(struct merge *merge)
{
	for (u32 i = 1; i < merge->n_entries; i++)
		if (!merge_entry(merge, i)->is_folded)
			fold_entry(merge, merge_entry(merge, i));
	merge_shut(merge);
}

static void add_entry(struct merge *to, const struct merge *from, const struct merge_entry *entry)
{
	u32 cpu = from->has_slice_key ? (u32)entry->words[from->n_row_words] : 0;
	bool is_full = from->has_slice_key ? from->cpu_closed[cpu] : from->is_closed;
	u32 number = find(to, entry->words, cpu, entry->hash);
	struct merge_entry *group = merge_entry(to, number);

	if (number == MERGE_OTHER) {
		combine_other(to, from, merge_cells(from, entry));
		return;
	}
	combine_entry(to, group->words + to->n_key_words, from, merge_cells(from, entry));
	group->n_full += is_full;
}

void merge_add(struct merge *to, const struct merge *from)
{
	/* A merge that overflowed counts as one slice that did. */
	for (u32 cpu = 0; from->has_slice_key && cpu < from->n_cpus; cpu++)
		if (from->cpu_closed[cpu])
			merge_mark_full(to, cpu);
	if (!from->has_slice_key && from->is_closed)
		merge_mark_full(to, 0);
	for (u32 i = 1; i < from->n_entries; i++)
		if (!merge_entry(from, i)->is_folded)
			add_entry(to, from, merge_entry(from, i));
	if (from->has_other)
		combine_entry(to, use_other(to), from,
			      merge_cells(from, merge_entry(from, MERGE_OTHER)));
	to->n_folded += from->n_folded;
	merge_settle(to);
}

u32 merge_seek(const struct merge *merge, u32 number)
{
	for (; number < merge->n_entries; number++)
		if (number != MERGE_OTHER && !merge_entry(merge, number)->is_folded)
			return number;
	return merge->has_other ? MERGE_OTHER : MERGE_END;
}
