/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The memory of functions: an aggregate's from step to step, and any; what a row left out.
 */
#include "func/internal.h"

#include <stdlib.h>

/* Not SQLite's: that is aligned to 8 bytes only. */
void *func_alloc(sqlite3_context *context, size_t n_bytes)
{
	void *at = calloc(1, MAX(n_bytes, (size_t)1));

	if (!at)
		sqlite3_result_error_nomem(context);
	return at;
}

void *func_state(sqlite3_context *context, size_t n_bytes)
{
	void **at = sqlite3_aggregate_context(context, n_bytes ? sizeof(*at) : 0);

	if (!at && n_bytes)
		sqlite3_result_error_nomem(context);
	if (at && !*at && n_bytes)
		*at = func_alloc(context, n_bytes);
	return at ? *at : NULL;
}

/* A select's aggregates see each row of a group in turn, and one group at a time. */
void func_negative(sqlite3_context *context, u64 row, sqlite3_value *select)
{
	struct func_context *told = func_of(context)->context;
	s64 number = sqlite3_value_int64(select);

	told->n_negative += told->negative_row != row || told->negative_select != number;
	told->negative_row = row;
	told->negative_select = number;
}
