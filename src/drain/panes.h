/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Panes -> hopping windows.  A pane is what was counted between two boundaries; a window
 * is the merge of the panes that are kept when it ends.
 *
 * Panes are kept packed, in blocks of about the square root of a window's panes.  A block
 * that is full has a merge of all of it; the oldest block, which windows leave pane by
 * pane, has for each of its panes the merge of it and those behind it.  So a window is
 * three merges: the rest of the oldest block, the full blocks behind it, the newest block.
 * With G groups that is a cost of G for a window, of sqrt(panes) G when a block is left.
 */
#ifndef EBQL_DRAIN_PANES_H
#define EBQL_DRAIN_PANES_H

#include "phys/phys.h"
#include "drain/merge.h"
#include "base/region.h"

/* A merge that was packed: offsets in the pack. */
struct packed {
	u64 bytes_offset; /* entries, pool words, one bool for each CPU */
	u32 n_entries, n_pool_words;
	bool has_other, is_closed;
	u64 n_folded;
};

struct pane {
	u64 position;		 /* of its nominal end */
	u64 start_ns, first_use; /* first_use: struct panes', as it was then */
	struct account account, repeated;
	struct packed merge;
};

struct pack {
	struct region bytes;
	u64 used_bytes;
};

struct pane_block {
	struct pane *panes;
	u32 n_panes, first; /* panes[first .. n_panes - 1] are kept */
	struct pack pack;
	struct packed sum; /* once it is full */
};

struct panes {
	struct merge pane;   /* what is counted now is drained into this */
	struct merge newest; /* all kept panes of the newest block, when its first is kept */
	struct merge middle; /* the full blocks behind the oldest, when is_oldest_ready */
	struct merge scratch;
	u32 block_panes;
	struct pane_block *blocks;	   /* a ring */
	u32 n_ring, first_block, n_blocks; /* n_blocks of n_ring are in use, at least one */
	bool is_oldest_ready;
	struct packed *rest; /* of the oldest block: panes[i] and what is behind it in the block */
	struct pack rest_pack;
	struct account kept;  /* of all kept panes, but what was folded */
	struct account fresh; /* of those which no window had yet */
	u64 n_fresh, n_kept;
	u64 first_use; /* groups->first_use of the pane that is counted now */
	u64 max_bytes; /* of kept panes: beyond that their groups are summed in "(other)" */
};

/* n_panes: of one window at most, about.  -ENOMEM, or 0. */
int panes_open(struct panes *panes, const struct phys *phys, u64 n_panes, struct arena *arena);
void panes_close(struct panes *panes);
/*
 * Keeps panes->pane, which was counted from start_ns on, with a copy of `account`;
 * panes->pane is to be reset then.  position: greater than that of the pane before, whose account
 * has `repeated` too: a window of both has it once.
 */
int panes_push(struct panes *panes, u64 position, u64 start_ns, const struct account *account,
	       const struct account *repeated);
/* The least first_use of the pane that is counted and those that are kept. */
u64 panes_first_use(struct panes *panes);
/* Forgets the panes up to that position; not those which no window had yet, if these stay. */
void panes_expire(struct panes *panes, u64 position, bool fresh_stay);
/*
 * Merges all kept panes into `merge`, which was reset, and takes note that a window had
 * them.  *ret_start_ns: of the oldest, or when none is kept what it was.
 * *ret_fresh: what happened in the panes which no window had before.
 */
int panes_merge(struct panes *panes, struct merge *merge, struct account *ret_fresh,
		u64 *ret_start_ns);

#endif
