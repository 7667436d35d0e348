/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Scratch: blocks of doubling size, filled one after the other.
 */
#include "base/scratch.h"

#define BLOCK_MIN_BYTES 65536u

void *scratch_alloc(struct scratch *scratch, size_t n_bytes)
{
	struct region *block;
	u8 *at;

	n_bytes = ALIGN_UP(n_bytes, 16);
	for (;; scratch->block++, scratch->used_bytes = 0) {
		block = &scratch->blocks[scratch->block];
		/* An empty block may be made as large as it takes: nothing points into it. */
		if (scratch->block == SCRATCH_BLOCKS ||
		    (!scratch->used_bytes &&
		     !region_need(block,
				  MAX(n_bytes, (size_t)BLOCK_MIN_BYTES << scratch->block)))) {
			scratch->is_short = true;
			return NULL;
		}
		if (n_bytes <= block->n_bytes - scratch->used_bytes)
			break;
	}
	at = (u8 *)block->at + scratch->used_bytes;
	scratch->used_bytes += n_bytes;
	return at;
}

void scratch_reset(struct scratch *scratch)
{
	scratch->block = 0;
	scratch->used_bytes = 0;
	scratch->is_short = false;
}

void scratch_free(struct scratch *scratch)
{
	for (u32 i = 0; i < SCRATCH_BLOCKS; i++)
		region_free(&scratch->blocks[i]);
	scratch_reset(scratch);
}
