/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * eb_first, eb_last, eb_latest: the value of the row with the least or the greatest time; of rows
 * of one time eb_first takes the row that came first, eb_last the one that came last;
 * eb_latest does not skip NULL.
 * With OVER the oldest rows leave a frame, so the rows that may still come to be the
 * answer are kept: those without a better one behind them, the answer at their head.
 */
#include "func/internal.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST, LAST, LATEST };

struct candidate {
	u64 row; /* number in the order of the steps */
	s128 time;
	sqlite3_value *value;
};

struct candidates {
	struct candidate *at;
	u32 first, n, capacity;	     /* at[first .. n) */
	u64 n_stepped, n_taken_back; /* rows */
};

static bool is_better(s32 detail, s128 new, s128 old)
{
	return detail == FIRST ? new < old : new >= old;
}

static bool make_room(struct candidates *c)
{
	struct candidate *grown;

	if (c->n < c->capacity)
		return true;
	if (c->first > c->capacity / 2) {
		memmove(c->at, c->at + c->first, (c->n - c->first) * sizeof(*c->at));
		c->n -= c->first;
		c->first = 0;
		return true;
	}
	grown = realloc(c->at, (c->capacity ? 2ull * c->capacity : 4) * sizeof(*c->at));
	if (!grown)
		return false;
	c->capacity = c->capacity ? 2 * c->capacity : 4;
	c->at = grown;
	return true;
}

static void step(sqlite3_context *context, int argc, sqlite3_value **argv)
{
	struct candidates *c = func_state(context, sizeof(*c));
	struct candidate new;

	if (!c)
		return;
	new.row = c->n_stepped++;
	if ((sqlite3_value_type(argv[0]) == SQLITE_NULL &&
	     func_of(context)->function->detail != LATEST) ||
	    !integer_of(context, argv[1], &new.time))
		return;
	while (c->n > c->first &&
	       is_better(func_of(context)->function->detail, new.time, c->at[c->n - 1].time))
		sqlite3_value_free(c->at[--c->n].value);
	new.value = make_room(c) ? sqlite3_value_dup(argv[0]) : NULL;
	if (new.value)
		c->at[c->n++] = new;
	else
		sqlite3_result_error_nomem(context);
}

/* The oldest row of the frame leaves it. */
static void inverse(sqlite3_context *context, int argc, sqlite3_value **argv)
{
	struct candidates *c = func_state(context, sizeof(*c));

	if (c->first < c->n && c->at[c->first].row == c->n_taken_back)
		sqlite3_value_free(c->at[c->first++].value);
	c->n_taken_back++;
}

static void value(sqlite3_context *context)
{
	struct candidates *c = func_state(context, 0);

	if (c && c->first < c->n)
		sqlite3_result_value(context, c->at[c->first].value);
	else
		sqlite3_result_null(context);
}

static void clear(void *state)
{
	struct candidates *c = state;

	for (u32 i = c->first; i < c->n; i++)
		sqlite3_value_free(c->at[i].value);
	free(c->at);
}

#define ORDER(name, detail)                                                                        \
	{                                                                                          \
		name, 2, detail, NULL, step, value, inverse, clear                                 \
	}

const struct function order_functions[] = {
	ORDER("eb_first", FIRST),
	ORDER("eb_last", LAST),
	ORDER("eb_latest", LATEST),
	{ NULL },
};
