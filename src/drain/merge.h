/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Rows of slices -> groups: a table keyed by the key words (and the CPU when
 * `cpu` is a key), whose cells sum up what the CPUs and nesting levels counted.
 *
 * Exactness.  Where a slice's table was full, events of groups it had no row for
 * went to its "(other)" row.  So a group's cells are its true ones only when the
 * group has a row in every slice that overflowed (of its own CPU, when `cpu` is a
 * key); every other group is folded into "(other)", and so is, until the next
 * merge_reset(), every group that first appears after an overflow.  The totals
 * over all rows are exact either way.
 *
 * Histograms are kept as the rows keep them: all cells in the entry, or in the entry a
 * directory of chunks (u32 each, two a word: the chunk's place in `pool`, 0 = none yet)
 * and a count of the values that found no room.
 */
#ifndef EBQL_DRAIN_MERGE_H
#define EBQL_DRAIN_MERGE_H

#include "base/arena.h"
#include "phys/phys.h"
#include "base/region.h"

#define MERGE_OTHER 0u /* entry number of the "(other)" row */
#define MERGE_END   UINT32_MAX

struct merge_cell {
	const struct cell *cell;
	const struct cell_ops *ops;
	u32 from_bytes; /* behind the row's first cell */
	u32 to_word;	/* of the entry's cells */
	/* HISTOGRAM */
	u32 n_cells, chunk_cells, n_chunks; /* chunk_cells 0: all cells lie in the entry */
	u32 unplaced_bytes;		    /* in the row, behind from_bytes */
	u32 unplaced_word;		    /* in the entry, behind to_word */
};

struct merge_entry {
	u32 hash;
	u32 n_full : 31; /* overflowed slices it was seen in since the last merge_settle() */
	u32 is_folded : 1;
	u64 words[]; /* key words, the CPU when has_slice_key, cells */
};

struct merge {
	u32 n_row_words; /* key words of a row */
	u32 n_key_words; /* of an entry: and the CPU */
	bool has_slice_key;
	bool is_grouped;
	struct merge_cell *cells;
	u32 n_cells;
	s32 plain_count_cell; /* counts every event of the group; -1: none */
	u32 entry_bytes;
	u32 n_cpus;
	u64 max_entries;

	struct region entries; /* dense; entry 0 is "(other)" */
	struct region index;   /* u32 entry numbers, 0: empty */
	struct region pool;    /* u64: chunks of histograms; word 0 is no chunk's */
	u32 n_pool_words;      /* in use */
	u32 n_entries;	       /* entry 0 included */
	u32 n_live;	       /* rows to show, "(other)" included */
	u32 index_mask;
	bool has_other;

	u32 n_full;	  /* slices that overflowed since the last merge_settle() */
	u32 *cpu_n_full;  /* the same per CPU */
	bool is_closed;	  /* overflowed since the last reset: new groups are not exact */
	bool *cpu_closed; /* the same per CPU */
	u64 n_folded;	  /* events in "(other)" that no slice counted there, if known */
};

/* -ENOMEM, or 0. */
int merge_open(struct merge *merge, const struct phys *phys, struct arena *arena);
void merge_close(struct merge *merge);
/* Forgets all groups: the next window begins. */
void merge_reset(struct merge *merge);

/* Before the rows: one slice of this CPU overflowed. */
void merge_mark_full(struct merge *merge, u32 cpu);
/*
 * keys: the row's n_row_words key words; cells: its first cell; slice: the bytes that
 * the row's directories of chunks count from.
 */
void merge_row(struct merge *merge, const u64 *keys, const u8 *cells, const u8 *slice, u32 cpu,
	       bool is_full);
void merge_other(struct merge *merge, const u8 *cells, const u8 *slice);
/* After the rows of all slices: folds the groups that are not exact. */
void merge_settle(struct merge *merge);
/* From now on what is new is not exact. */
void merge_shut(struct merge *merge);
/* Folds all groups: there is no room to keep them. */
void merge_fold_all(struct merge *merge);
/*
 * Adds the groups of another merge of the same query (other than `to`; both settled), as if
 * its slices had been drained into `to`: a group stays exact only where it is in both, or
 * absent from one that never overflowed.  All that a group has lies in `from`'s entries
 * and pool: its index is not read.
 */
void merge_add(struct merge *to, const struct merge *from);

static inline struct merge_entry *merge_entry(const struct merge *merge, u32 number)
{
	return (struct merge_entry *)((u8 *)merge->entries.at + (u64)number * merge->entry_bytes);
}

static inline const u64 *merge_cells(const struct merge *merge, const struct merge_entry *entry)
{
	return entry->words + merge->n_key_words;
}

/*
 * Calls visit for each cell of a histogram that holds something, in order, with `cells`
 * of an entry; returns the count of values that found no room in a cell.
 */
u64 merge_histogram(const struct merge *merge, const u64 *cells, const struct merge_cell *cell,
		    void (*visit)(void *context, u32 cell, u64 count), void *context);

/* The first entry to show from number on: 1, 2, ..., then MERGE_OTHER, then MERGE_END. */
u32 merge_seek(const struct merge *merge, u32 number);

/* The one behind that. */
static inline u32 merge_next(const struct merge *merge, u32 number)
{
	return number == MERGE_OTHER ? MERGE_END : merge_seek(merge, number + 1);
}

#endif
