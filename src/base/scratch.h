/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Scratch: memory for what the values of one batch point to (cells of histograms,
 * quantiles).  It never moves, is taken back all at once, and what was needed once
 * stays there for the next batch.
 */
#ifndef EBQL_BASE_SCRATCH_H
#define EBQL_BASE_SCRATCH_H

#include "base/region.h"

#define SCRATCH_BLOCKS 24u

struct scratch {
	struct region blocks[SCRATCH_BLOCKS]; /* each at least twice the one before */
	u32 block;			      /* the one in use */
	size_t used_bytes;		      /* of it */
	bool is_short; /* since the last reset there was no memory for a piece */
};

struct scratch_mark {
	u32 block;
	size_t used_bytes;
};

/* Aligned to 16 bytes, not cleared.  NULL: there is no memory. */
void *scratch_alloc(struct scratch *scratch, size_t n_bytes);
void scratch_reset(struct scratch *scratch);
void scratch_free(struct scratch *scratch);

static inline struct scratch_mark scratch_mark(const struct scratch *scratch)
{
	return (struct scratch_mark){ scratch->block, scratch->used_bytes };
}

/* Takes back what was given since the mark. */
static inline void scratch_release(struct scratch *scratch, struct scratch_mark mark)
{
	scratch->block = mark.block;
	scratch->used_bytes = mark.used_bytes;
}

/* Takes back the end of the piece given last: only its first n_bytes are needed. */
static inline void scratch_trim(struct scratch *scratch, const void *at, size_t n_bytes)
{
	scratch->used_bytes = ALIGN_UP(
		(size_t)((const u8 *)at - (u8 *)scratch->blocks[scratch->block].at) + n_bytes, 16);
}

#endif
