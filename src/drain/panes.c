/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The ring of blocks.  Packs grow to what a block needed at most and are then used
 * again, so that a run whose groups stay as many allocates nothing.
 */
#include "drain/panes.h"

#include <errno.h>
#include <string.h>

#define PACK_ALIGN	64u
#define PANES_BYTES_MAX (1ull << 30) /* and as much again for what is merged of them */

/* --- Packed merges --- */

static int pack_merge(struct pack *pack, const struct merge *merge, struct packed *ret_packed)
{
	size_t n_entry_bytes = (size_t)merge->n_entries * merge->entry_bytes;
	size_t n_pool_bytes = (size_t)merge->n_pool_words * sizeof(u64);
	u64 end_bytes = pack->used_bytes + n_entry_bytes + n_pool_bytes + merge->n_cpus;
	u8 *at;

	if (!region_need(&pack->bytes, end_bytes))
		return -ENOMEM;
	at = (u8 *)pack->bytes.at + pack->used_bytes;
	memcpy(at, merge->entries.at, n_entry_bytes);
	/* Without histograms the pool is not there. */
	if (merge->pool.at)
		memcpy(at + n_entry_bytes, merge->pool.at, n_pool_bytes);
	memcpy(at + n_entry_bytes + n_pool_bytes, merge->cpu_closed, merge->n_cpus);
	*ret_packed = (struct packed){
		.bytes_offset = pack->used_bytes,
		.n_entries = merge->n_entries,
		.n_pool_words = merge->n_pool_words,
		.has_other = merge->has_other,
		.is_closed = merge->is_closed,
		.n_folded = merge->n_folded,
	};
	pack->used_bytes = ALIGN_UP(end_bytes, PACK_ALIGN);
	return 0;
}

/* Adds it to a merge of the same query. */
static void add_packed(struct merge *to, const struct pack *pack, const struct packed *packed)
{
	size_t n_entry_bytes = (size_t)packed->n_entries * to->entry_bytes;
	size_t n_pool_bytes = (size_t)packed->n_pool_words * sizeof(u64);
	u8 *at = (u8 *)pack->bytes.at + packed->bytes_offset;
	struct merge from = *to;

	from.entries = (struct region){ at, n_entry_bytes };
	from.pool = (struct region){ at + n_entry_bytes, n_pool_bytes };
	from.index = (struct region){ 0 };
	from.cpu_closed = (bool *)(at + n_entry_bytes + n_pool_bytes);
	from.cpu_n_full = NULL;
	from.n_entries = packed->n_entries;
	from.n_pool_words = packed->n_pool_words;
	from.has_other = packed->has_other;
	from.is_closed = packed->is_closed;
	from.n_folded = packed->n_folded;
	merge_add(to, &from);
}

/* --- Opening and closing --- */

static u32 square_root_up(u64 n)
{
	u32 root = 1;

	while ((u64)root * root < n)
		root++;
	return root;
}

int panes_open(struct panes *panes, const struct phys *phys, u64 n_panes, struct arena *arena)
{
	struct merge *const merges[] = { &panes->pane, &panes->newest, &panes->middle,
					 &panes->scratch };
	int err = 0;

	*panes = (struct panes){ .block_panes = square_root_up(n_panes),
				 .n_blocks = 1,
				 .max_bytes = PANES_BYTES_MAX };
	/* The oldest and the newest block may be there for one pane each. */
	panes->n_ring = (u32)(n_panes / panes->block_panes) + 4;
	panes->blocks = arena_array(arena, struct pane_block, panes->n_ring);
	for (u32 i = 0; i < panes->n_ring; i++)
		panes->blocks[i].panes = arena_array(arena, struct pane, panes->block_panes);
	panes->rest = arena_array(arena, struct packed, panes->block_panes);
	for (u32 i = 0; i < ARRAY_SIZE(merges) && !err; i++)
		err = merge_open(merges[i], phys, arena);
	return err;
}

void panes_close(struct panes *panes)
{
	for (u32 i = 0; i < panes->n_ring; i++)
		region_free(&panes->blocks[i].pack.bytes);
	region_free(&panes->rest_pack.bytes);
	merge_close(&panes->pane);
	merge_close(&panes->newest);
	merge_close(&panes->middle);
	merge_close(&panes->scratch);
	panes->n_ring = 0;
}

/* --- Blocks --- */

/* The i-th block in use. */
static struct pane_block *block_at(struct panes *panes, u32 i)
{
	return &panes->blocks[(panes->first_block + i) % panes->n_ring];
}

static void block_empty(struct pane_block *block)
{
	block->n_panes = block->first = 0;
	block->pack.used_bytes = 0;
}

static void forget_oldest_pane(struct panes *panes)
{
	struct pane_block *block = block_at(panes, 0);
	const struct pane *pane = &block->panes[block->first++];

	account_subtract(&panes->kept, &pane->account);
	/* The fresh ones are the newest. */
	if (panes->n_kept-- == panes->n_fresh) {
		account_subtract(&panes->fresh, &pane->account);
		panes->fresh.lost[LOSS_TABLE_FULL] -= pane->merge.n_folded;
		panes->n_fresh--;
	}
	if (block->first == block->n_panes) {
		block_empty(block);
		if (panes->n_blocks == 1) {
			merge_reset(&panes->newest);
			return;
		}
		panes->first_block = (panes->first_block + 1) % panes->n_ring;
		panes->n_blocks--;
		panes->is_oldest_ready = false;
	}
	/* The one before the next is in no window any more. */
	if (panes->n_kept)
		account_add(&panes->kept,
			    &block_at(panes, 0)->panes[block_at(panes, 0)->first].repeated);
}

void panes_expire(struct panes *panes, u64 position, bool fresh_stay)
{
	u64 n_staying = fresh_stay ? panes->n_fresh : 0;

	while (panes->n_kept > n_staying) {
		const struct pane_block *block = block_at(panes, 0);

		if (block->panes[block->first].position > position)
			return;
		forget_oldest_pane(panes);
	}
}

/* The newest block is full: the next one begins. */
static int begin_block(struct panes *panes)
{
	struct pane_block *block = block_at(panes, panes->n_blocks - 1);
	int err = pack_merge(&block->pack, &panes->newest, &block->sum);

	if (err)
		return err;
	if (panes->is_oldest_ready)
		merge_add(&panes->middle, &panes->newest);
	merge_reset(&panes->newest);
	/* Only a clock that is set again and again makes more panes than a window has. */
	while (panes->n_blocks == panes->n_ring)
		forget_oldest_pane(panes);
	panes->n_blocks++;
	block_empty(block_at(panes, panes->n_blocks - 1));
	return 0;
}

static bool has_room(struct panes *panes)
{
	u64 n_bytes = (u64)panes->pane.n_entries * panes->pane.entry_bytes +
		      (u64)panes->pane.n_pool_words * sizeof(u64);

	for (u32 i = 0; i < panes->n_blocks; i++)
		n_bytes += block_at(panes, i)->pack.used_bytes;
	return n_bytes <= panes->max_bytes;
}

/* What is kept of the pane: where it has no room, its "(other)" row with all that there is. */
static const struct merge *kept_of_pane(struct panes *panes)
{
	if (!panes->pane.is_grouped || panes->pane.n_entries < 2 || has_room(panes))
		return &panes->pane;
	merge_fold_all(&panes->pane);
	/* A merge of its own has no more of the pool than that row needs. */
	merge_reset(&panes->scratch);
	merge_add(&panes->scratch, &panes->pane);
	return &panes->scratch;
}

int panes_push(struct panes *panes, u64 position, u64 start_ns, const struct account *account,
	       const struct account *repeated)
{
	struct pane_block *block = block_at(panes, panes->n_blocks - 1);
	struct pane *pane = &block->panes[block->n_panes];
	const struct merge *merge = kept_of_pane(panes);
	int err = pack_merge(&block->pack, merge, &pane->merge);

	if (err)
		return err;
	pane->position = position;
	pane->start_ns = start_ns;
	pane->first_use = panes->first_use;
	pane->account = *account;
	pane->repeated = *repeated;
	account_add(&panes->kept, account);
	if (panes->n_kept)
		account_subtract(&panes->kept, repeated);
	account_add(&panes->fresh, account);
	panes->fresh.lost[LOSS_TABLE_FULL] += merge->n_folded;
	panes->n_kept++;
	panes->n_fresh++;
	block->n_panes++;
	merge_add(&panes->newest, merge);
	return block->n_panes == panes->block_panes ? begin_block(panes) : 0;
}

u64 panes_first_use(struct panes *panes)
{
	const struct pane_block *oldest = block_at(panes, 0);

	return panes->n_kept ? oldest->panes[oldest->first].first_use : panes->first_use;
}

/* --- Windows --- */

static int make_oldest_ready(struct panes *panes)
{
	struct pane_block *oldest = block_at(panes, 0);

	panes->rest_pack.used_bytes = 0;
	merge_reset(&panes->scratch);
	for (u32 i = oldest->n_panes; i-- > oldest->first;) {
		int err;

		add_packed(&panes->scratch, &oldest->pack, &oldest->panes[i].merge);
		err = pack_merge(&panes->rest_pack, &panes->scratch, &panes->rest[i]);
		if (err)
			return err;
	}
	merge_reset(&panes->middle);
	for (u32 i = 1; i + 1 < panes->n_blocks; i++)
		add_packed(&panes->middle, &block_at(panes, i)->pack, &block_at(panes, i)->sum);
	panes->is_oldest_ready = true;
	return 0;
}

int panes_merge(struct panes *panes, struct merge *merge, struct account *ret_fresh,
		u64 *ret_start_ns)
{
	struct pane_block *oldest = block_at(panes, 0);
	int err = 0;

	*ret_fresh = panes->fresh;
	panes->fresh = (struct account){ 0 };
	panes->n_fresh = 0;
	if (!panes->n_kept)
		return 0;
	*ret_start_ns = oldest->panes[oldest->first].start_ns;
	if (panes->n_blocks == 1 && oldest->first) {
		for (u32 i = oldest->first; i < oldest->n_panes; i++)
			add_packed(merge, &oldest->pack, &oldest->panes[i].merge);
		return 0;
	}
	if (panes->n_blocks > 1) {
		if (!panes->is_oldest_ready)
			err = make_oldest_ready(panes);
		if (err)
			return err;
		add_packed(merge, &panes->rest_pack, &panes->rest[oldest->first]);
		merge_add(merge, &panes->middle);
	}
	merge_add(merge, &panes->newest);
	return 0;
}
