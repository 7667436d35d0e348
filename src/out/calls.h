/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Rows with stacks -> a tree of calls, each with what its rows come to: what folded lines and
 * flame graphs are written of, at the end.
 */
#ifndef EBQL_OUT_CALLS_H
#define EBQL_OUT_CALLS_H

#include "out/format.h"

/* A call by those above it, which the tree leads to. */
struct call {
	struct call *parent, *children, *next; /* calls_sort(): by name */
	const char *name;
	u32 depth;
	u128 self; /* of rows whose stack ends here */
	u128 all;  /* and of those that go on: calls_sort() */
};

struct calls {
	struct arena arena;
	struct call *root; /* no call: all of them; NULL: nothing yet */
	s32 value_column;  /* -1: each row is 1 */
	bool is_short;	   /* there was no memory for all */
	u32 deepest;	   /* calls_sort() */
	/* Of the windows that are in it; the latest batch. */
	struct batch total; /* its account, and of how many threads */
	struct buf frame;
};

/* As `begin`, `batch`, `row` and `account` of a format whose state begins with one. */
int calls_begin(struct out *out, const struct schema *schema);
void calls_batch(struct out *out, const struct batch *batch);
void calls_row(struct out *out, const struct batch *batch, u32 row);
void calls_account(struct out *out, const struct batch *batch, u64 n_rows);
/* Once, at the end. */
void calls_sort(struct calls *calls);
void calls_free(struct calls *calls);
/* The one behind it, from the root on, callers before those they call; NULL: it was the last. */
struct call *calls_next(struct call *call);

#endif
