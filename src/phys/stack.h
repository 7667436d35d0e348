/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Stacks that programs met: each once, whatever query, CPU or window it was met for; part of
 * phys.h.
 */
#ifndef EBQL_PHYS_STACK_H
#define EBQL_PHYS_STACK_H

#include "type/type.h"

/*
 * LOAD_MAP_STACKS: the bytes of the pool that are taken; a scratch for each slot of each CPU
 * (struct slot_line); then slots[STACK_SLOTS], each of
 *	u64 tag	  0 free; else the hash of the stack (1 where that is 0): never given back
 *	u64 place 0: not written yet; STACK_REFUSED: the pool has no room for it; else of its
 *		  struct stack, in bytes from the map's beginning
 * and the pool, of struct stack one behind the other.  What programs have of a stack is the number
 * of its slot and 1, by which it is grouped, stored and streamed; STACK_NONE where there is no
 * room, or where another stack has the same hash: all of a stack is compared.
 *
 * Two that meet a stack for the first time at once: one takes the slot with its tag.  Who meets
 * that tag before the place is written takes the stack for his: another one of the same 64
 * bits would have to come in that instant.
 */
#define STACK_NONE	 0
#define STACK_REFUSED	 1
#define STACK_SLOTS	 (1u << 15)
#define STACK_SLOT_BYTES 16
#define STACK_STEPS	 16
#define STACK_POOL_BYTES (8u << 20)
#define STACK_WORDS	 2  /* of struct stack, before the addresses */
#define STACK_AT_ONCE	 8u /* addresses that are looked at together, the first ones always */
#define STACK_HEAD_BYTES 128u

/* Of a struct stack with so many addresses; of the largest; and what a scratch takes. */
static inline u32 stack_bytes(u32 n)
{
	return 8 * (STACK_WORDS + (u32)ALIGN_UP(n + 1, STACK_AT_ONCE));
}
#define STACK_MOST_BYTES    stack_bytes(STACK_DEPTH_MAX)
#define STACK_SCRATCH_BYTES ALIGN_UP(STACK_MOST_BYTES, 128u)

/* Of slots[] in LOAD_MAP_STACKS, of the pool, and of all of it. */
static inline u64 stacks_slots_bytes(const struct phys_set *set)
{
	return STACK_HEAD_BYTES +
	       (u64)phys_n_blocks(set) * set->n_cpus * set->n_slots * STACK_SCRATCH_BYTES;
}

static inline u64 stacks_pool_bytes(const struct phys_set *set)
{
	return stacks_slots_bytes(set) + STACK_SLOTS * STACK_SLOT_BYTES;
}

static inline u64 stacks_bytes(const struct phys_set *set)
{
	return stacks_pool_bytes(set) + STACK_POOL_BYTES;
}

_Static_assert(offsetof(struct stack, addresses) == 8 * STACK_WORDS, "as programs write it");

#endif
