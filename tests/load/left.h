/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What of a query is still in the kernel, by the ids that its programs and maps
 * had; and children that end in ways of their own.
 */
#ifndef TESTS_LOAD_LEFT_H
#define TESTS_LOAD_LEFT_H

#include <sys/types.h>

#include "load/load.h"

#define LEFT_MAX 1024

struct left {
	u32 programs[LEFT_MAX], maps[LOAD_MAP_SHARED_N + LOAD_MAP_N];
	u32 n_programs, n_maps;
};

/* The ids of everything that is open; at least one program and one map. */
void left_note(const struct load_hooks *load, struct left *ret_left);
/* How many of them exist after at most `wait_ns` (freeing waits for RCU). */
u32 left_count(const struct left *left, u64 wait_ns);

u32 left_open_files(void);
/* Drops all capabilities of this process but those of the mask. */
void left_keep_capabilities(u64 mask);

#endif
