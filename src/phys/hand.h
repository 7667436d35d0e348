/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A query whose system calls go from one access path to the other while it runs; part of phys.h.
 */
#ifndef EBQL_PHYS_HAND_H
#define EBQL_PHYS_HAND_H

#include "base/arena.h"
#include "phys/estimate.h"

struct phys_set;
struct phys_input;

/*
 * For that time both hooks bring each event, one after the other.  No word that user space changes
 * would do to tell whose it is: it may change between the two.  So the program that has the event
 * first decides for both, and says so to the second one in the byte of the thread.
 */
enum hand {
	HAND_PLAIN,  /* no other hook brings it */
	HAND_TAKES,  /* the first: takes it, and says so */
	HAND_LEAVES, /* the first: leaves it to the second, and says so */
	HAND_SECOND, /* takes what the first has left */
	HAND_IDLE,   /* does nothing, and what it is not called for is no loss */
};

/*
 * LOAD_MAP_MARKS: a byte for each thread's id, of which 64-bit kernels have so many: that its call
 * was taken, or its return.
 */
#define MARKS_BYTES (1u << 22)

/*
 * The same parts with their system calls on the other access path.  NULL: only one will do, or a
 * setting insists, or one hook serves several calls.
 */
struct phys_set *phys_other_path(const struct phys_set *set, const struct phys_input *inputs,
				 struct arena *arena);

/* Why it does not go there by itself, however many of the calls are wanted; NULL: it may. */
const char *phys_path_stays(const struct phys_set *set);

#endif
