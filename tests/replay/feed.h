/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * One query loaded as it is for a replay, and one event that is changed and run again and
 * again: for tests that read the state as it lies in memory.
 */
#ifndef EBQL_TESTS_FEED_H
#define EBQL_TESTS_FEED_H

#include "gen/gen.h"
#include "load/load.h"
#include "phys/phys.h"
#include "replay.h"

struct feed {
	struct arena arena;
	struct diags diags;
	struct settings settings;
	struct catalog *catalog;
	struct phys_set *set;
	struct phys *phys;
	struct load_hooks hooks;
	struct load_state *load;
	struct event event;
	struct rng rng;
};

extern struct kernel_features feed_features;

/* A random seed, the usual settings; settings may be changed before feed_plan(). */
void feed_init(struct feed *f);
/* change (NULL: none) may alter the plan before the optimiser sees it. */
void feed_plan(struct feed *f, const char *sql, u32 n_cpus,
	       void (*change)(void *context, struct plan *plan), void *context);
/* Skips the test where this machine does not let us load programs. */
void feed_load(struct feed *f);
/* Also of what was planned only. */
void feed_close(struct feed *f);

void feed_set(struct feed *f, u32 column, const void *bytes);
void feed_run(struct feed *f);
u8 *feed_slice(struct feed *f);

/* cmocka's group set-up */
int feed_set_up(void **state);

#endif
