/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What a program takes to be alone with what it writes, and what says where it writes; part of
 * phys.h.
 */
#ifndef EBQL_PHYS_SLOT_H
#define EBQL_PHYS_SLOT_H

#include "base/base.h"

/*
 * Slots: what a program takes to be alone with the slices that it writes.  The word of a free
 * one says which slot of its CPU it is.  A program exchanges it for SLOT_BUSY, at once, and stores
 * it again at its end.  In between it has the epochs in it as well, one word for all CPUs: which
 * copy of its state each part uses, a bit for each.  User space switches copies by a store to it
 * (load/flip.c), so that all parts of a program see an event in the same window.  Where a part's
 * run is over a second bit says so: its ends leave, and take no start.  A third one says that what
 * starts now is none of its run; the start's slot keeps these bits.  Parts are taken in blocks of
 * BLOCK_PARTS: a program serves parts of one block, which has epochs and slots of its own.
 */
#define SLOT_OVER_SHIFT	  BLOCK_PARTS
#define SLOT_OTHERS_SHIFT (2 * BLOCK_PARTS)
#define SLOT_STACKS_SHIFT 55	     /* which generation of stacks programs use (phys/stack.h) */
#define SLOT_BUSY	  UINT64_MAX /* the one word with the highest bit */
#define SLOT_LEVEL_SHIFT  56
#define SLOTS_MAX	  4
#define BLOCK_PARTS	  16

static inline u64 slot_word(u32 level, u64 epochs)
{
	return (u64)level << SLOT_LEVEL_SHIFT | epochs;
}

/*
 * LOAD_MAP_SLOTS: lines[block][cpu], then for each block one whose first word has the epochs, then
 * for each part a u64: events that found no slot.
 */
struct slot_line {
	u64 slots[SLOTS_MAX]; /* the first phys_set.n_slots are used */
	u64 unused[16 - SLOTS_MAX];
};
_Static_assert(sizeof(struct slot_line) == 128, "two CPUs on one cache line cost 22 ns");

#endif
