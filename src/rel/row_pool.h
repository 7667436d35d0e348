/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Rows that are kept for a while: each at a place that does not move, with texts of its
 * own, given back one by one.  Memory once taken is used again, never returned, so a
 * steady stream of rows stops allocating.
 */
#ifndef EBQL_REL_ROW_POOL_H
#define EBQL_REL_ROW_POOL_H

#include "base/pool.h"
#include "type/type.h"

struct row {
	struct row *next; /* its owner's: a list, or the pool's free rows */
	/* Its owner's; values are aligned to 16 bytes. */
	u64 number : 48, n_faults : 16;
	struct value values[];
};

struct row_pool {
	u32 n_columns;
	struct scratch memory; /* of rows; */
	struct row *free_rows;
	struct pool texts;
	u64 row_bytes; /* of rows not given back */
};

void row_pool_open(struct row_pool *pool, u32 n_columns);
void row_pool_close(struct row_pool *pool);
void row_pool_give(struct row_pool *pool, struct row *row);

/* Of rows and texts that were not given back. */
static inline u64 row_pool_bytes(const struct row_pool *pool)
{
	return pool->row_bytes + pool->texts.used_bytes;
}

/* Rows in their order; taken off at the front, put on at the end. */
struct row_fifo {
	struct region places; /* struct row *; those before `head` are gone */
	u64 head, n;	      /* n: rows there are */
};

static inline struct row **row_fifo_rows(const struct row_fifo *queue)
{
	return (struct row **)queue->places.at + queue->head;
}

/* A copy of the pool's n_columns values (NULL, integer, real or text) behind the last row; false:
 * there is no memory. */
bool row_fifo_put(struct row_fifo *queue, struct row_pool *pool, const struct value *values);
/* Takes off the first n rows: the caller has given them back, or keeps them. */
void row_fifo_drop(struct row_fifo *queue, u64 n);
void row_fifo_close(struct row_fifo *queue);

#endif
