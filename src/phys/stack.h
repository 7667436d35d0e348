/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Stacks that programs met: each once a generation, whatever query, CPU or window it was met for;
 * part of phys.h.
 */
#ifndef EBQL_PHYS_STACK_H
#define EBQL_PHYS_STACK_H

#include "type/type.h"

/*
 * LOAD_MAP_STACKS: the bytes of each generation's pool that are taken; a scratch for each slot of
 * each CPU (struct slot_line); then slots[STACK_GENERATIONS][n_slots], each 0, free, or
 *	the hash of the stack, but for its low STACK_PLACE_BITS
 *	the place of its struct stack in the pool, in words of 8 bytes, and 1
 * and the pools, of struct stack one behind the other.  What programs have of a stack is the number
 * of its slot and 1, by which it is grouped, stored and streamed; STACK_NONE where there is no
 * room, or where another stack has the same hash: all of a stack is compared.
 *
 * A stack is written before its slot is taken, by one compare-and-exchange: of two that meet one
 * for the first time at once the second finds it whole, and what it wrote itself is left alone.
 *
 * The generation that is used is a bit of the epochs, SLOT_STACKS_SHIFT: it goes over to the other
 * one as windows end, so that a window has one (load/stacks.c).
 */
#define STACK_NONE	  0
#define STACK_GENERATIONS 2u
#define STACK_PLACE_BITS  26
#define STACK_STEPS	  16
#define STACK_POOL_BYTES  512u /* for each that there is to be room for */
#define STACK_WORDS	  2    /* of struct stack, before the addresses */
#define STACK_AT_ONCE	  8u   /* addresses that are looked at together, the first ones always */
#define STACK_HEAD_BYTES  128u
#define STACKS_MIN	  64u
#define STACKS_MAX	  (1u << 18) /* programs reach 512 MiB of a map (BPF_MAX_VAR_OFF) */
#define STACKS_USUAL	  (1u << 14)

/* Of a struct stack with so many addresses; of the largest; and what a scratch takes. */
static inline u32 stack_bytes(u32 n)
{
	return 8 * (STACK_WORDS + (u32)ALIGN_UP(n + 1, STACK_AT_ONCE));
}
#define STACK_MOST_BYTES    stack_bytes(STACK_DEPTH_MAX)
#define STACK_SCRATCH_BYTES ALIGN_UP(STACK_MOST_BYTES, 128u)

/* Of a generation; n_stacks is a power of two. */
static inline u32 stacks_n_slots(const struct phys_set *set)
{
	return 2 * set->n_stacks;
}

static inline u64 stacks_pool_bytes(const struct phys_set *set)
{
	return (u64)set->n_stacks * STACK_POOL_BYTES;
}

/* Of slots[] in LOAD_MAP_STACKS, of the pools, and of all of it. */
static inline u64 stacks_slots_at(const struct phys_set *set)
{
	return STACK_HEAD_BYTES +
	       (u64)phys_n_blocks(set) * set->n_cpus * set->n_slots * STACK_SCRATCH_BYTES;
}

static inline u64 stacks_pools_at(const struct phys_set *set)
{
	return stacks_slots_at(set) + 8ull * STACK_GENERATIONS * stacks_n_slots(set);
}

static inline u64 stacks_bytes(const struct phys_set *set)
{
	return stacks_pools_at(set) + STACK_GENERATIONS * stacks_pool_bytes(set);
}

_Static_assert(offsetof(struct stack, addresses) == 8 * STACK_WORDS, "as programs write it");

#endif
