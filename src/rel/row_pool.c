/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Row pool: rows of one size from a scratch and a list of free ones; texts in pieces of
 * powers of two, each size with a list of its own.
 */
#include "rel/row_pool.h"

#include <string.h>

void row_pool_open(struct row_pool *pool, u32 n_columns)
{
	*pool = (struct row_pool){ .n_columns = n_columns };
}

void row_pool_close(struct row_pool *pool)
{
	scratch_free(&pool->memory);
	pool_free(&pool->texts);
	row_pool_open(pool, pool->n_columns);
}

static size_t row_bytes(const struct row_pool *pool)
{
	return sizeof(struct row) + pool->n_columns * sizeof(struct value);
}

/* NULL: there is no memory. */
static struct row *take(struct row_pool *pool, const struct value *values)
{
	struct row *row = pool->free_rows;

	if (row)
		pool->free_rows = row->next;
	else
		row = scratch_alloc(&pool->memory, row_bytes(pool));
	if (!row)
		return NULL;
	pool->row_bytes += row_bytes(pool);
	row->next = NULL;
	for (u32 i = 0; i < pool->n_columns; i++)
		row->values[i] = (struct value){ .kind = VALUE_NULL };
	for (u32 i = 0; i < pool->n_columns; i++) {
		char *text = NULL;

		/* A stack stays where programs wrote it. */
		BUG_ON(values[i].kind > VALUE_TEXT && values[i].kind != VALUE_STACK);
		if (values[i].kind == VALUE_TEXT && values[i].n) {
			text = pool_take(&pool->texts, values[i].n);
			if (!text) {
				row_pool_give(pool, row);
				return NULL;
			}
			memcpy(text, values[i].text, values[i].n);
		}
		row->values[i] = values[i];
		if (values[i].kind == VALUE_TEXT)
			row->values[i].text = text ? text : "";
	}
	return row;
}

void row_pool_give(struct row_pool *pool, struct row *row)
{
	for (u32 i = 0; i < pool->n_columns; i++)
		if (row->values[i].kind == VALUE_TEXT && row->values[i].n)
			pool_give(&pool->texts, (void *)row->values[i].text, row->values[i].n);
	pool->row_bytes -= row_bytes(pool);
	row->next = pool->free_rows;
	pool->free_rows = row;
}

bool row_fifo_put(struct row_fifo *queue, struct row_pool *pool, const struct value *values)
{
	struct row *row;

	/* Those that are gone make room when they are at least as many as those there are. */
	if (queue->head > queue->n) {
		memmove(queue->places.at, row_fifo_rows(queue), queue->n * sizeof(row));
		queue->head = 0;
	}
	if (!region_need(&queue->places, (queue->head + queue->n + 1) * sizeof(row)))
		return false;
	row = take(pool, values);
	if (row)
		row_fifo_rows(queue)[queue->n++] = row;
	return row;
}

void row_fifo_drop(struct row_fifo *queue, u64 n)
{
	BUG_ON(n > queue->n);
	queue->head += n;
	queue->n -= n;
	if (!queue->n)
		queue->head = 0;
}

void row_fifo_close(struct row_fifo *queue)
{
	region_free(&queue->places);
	*queue = (struct row_fifo){ 0 };
}
