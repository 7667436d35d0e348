/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A join in words that test_pair.c prints as SQL and pair_model.c does itself: random
 * events of both sides and, by a search of a list, the rows and left-overs that must come.
 */
#ifndef EBQL_TESTS_PAIR_H
#define EBQL_TESTS_PAIR_H

#include "phys/phys.h"
#include "replay.h"

enum { KEYS_MAX = 2, ITEMS_MAX = 28 };

enum item_side {
	ITEM_A,
	ITEM_B,
	ITEM_B_IF,  /* iif(b.flag, column, NULL) */
	ITEM_SPAN,  /* a.time - b.time */
	ITEM_TWICE, /* b.column * 2: computed from what was stored */
};

struct pair_item {
	enum item_side side;
	enum replay_column column;
};

enum right_side { RIGHT_OTHER, RIGHT_SAME, RIGHT_FILTERED, RIGHT_UNION };

struct configuration {
	const char *name;
	const char *keys; /* of both sides, the same columns: "f_u8, name" */
	u32 n_values;	  /* of each key column */
	/* "a.x", "b.x", "a.time - b.time", "iif(b.flag, b.x, NULL)", "b.x * 2", ... */
	const char *items;
	bool is_asof, is_left;
	u32 within_ns;
	bool keys_may_be_null; /* NULL where flag is 0 */
	enum right_side right;
	const char *where;
	u32 most;	/* starts waiting at once; 0: as many as find room everywhere */
	bool is_skewed; /* clocks that differ: some ends are before their starts */
	bool has_ties;	/* many events of one instant */
	u64 max_in_flight;
};

struct model {
	const struct configuration *c;
	struct arena *arena;
	enum replay_column keys[KEYS_MAX];
	u32 n_keys;
	struct pair_item items[ITEMS_MAX];
	const struct event **waiting; /* in the order in which they came */
	u32 n_waiting;
	struct result result; /* a column for each item */
	u64 starts, ends;
	u64 lost[LOSS_N], unpaired[UNPAIRED_N];
};

static inline u32 pair_most(const struct configuration *c)
{
	return c->most ? c->most : PAIR_WAYS;
}

/*
 * Are the rows and counters exact?  Where more starts wait than the ways of one group of
 * slots, which of them give way hangs on where their keys are; one key is in one group.
 */
static inline bool pair_is_exact(const struct configuration *c)
{
	return pair_most(c) <= PAIR_WAYS || c->n_values == 1;
}

/* Makes n events and does the join; one that would be a start too many becomes an end. */
void pair_model_run(struct model *m, const struct configuration *c, struct arena *arena,
		    struct rng *rng, struct event *events, u32 n);

#endif
