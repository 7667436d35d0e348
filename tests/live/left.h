/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What a process has in the kernel: the ids of its BPF programs and of the maps they
 * use, to see later that none is left.
 */
#ifndef EBQL_TESTS_LEFT_H
#define EBQL_TESTS_LEFT_H

#include "base/base.h"

enum { LEFT_MAX = 1024 };

struct left {
	u32 programs[LEFT_MAX], maps[LEFT_MAX];
	u32 n_programs, n_maps;
};

void left_take(struct left *left, int pid);
/* Waits until all are gone; how many are not, after so long. */
u32 left_wait_gone(const struct left *left, int timeout_ms);
/* How many this process has. */
u32 left_descriptors(void);

#endif
