/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What a call of a function is about: its entry, the batch, and an aggregate's memory.
 */
#include "func/internal.h"

#include <stdlib.h>

static const struct registered *registered(sqlite3_context *context)
{
	return sqlite3_user_data(context);
}

struct func_context *func_context_of(sqlite3_context *context)
{
	return registered(context)->context;
}

s64 func_real_offset_ns(sqlite3_context *context)
{
	return registered(context)->real_offset_ns;
}

s32 func_detail(sqlite3_context *context)
{
	return registered(context)->function->detail;
}

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

void func_state_free(sqlite3_context *context)
{
	free(func_state(context, 0));
}
