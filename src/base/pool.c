/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Free lists by powers of two.
 */
#include "base/pool.h"

#include <string.h>

#define CLASS_MIN 4u /* 16 bytes: what the scratch gives at least */

static u32 class_of(size_t n_bytes)
{
	return n_bytes <= (size_t)1 << CLASS_MIN ? CLASS_MIN
						 : 64 - (u32)__builtin_clzll(n_bytes - 1);
}

void *pool_take(struct pool *pool, size_t n_bytes)
{
	u32 class = class_of(n_bytes);
	void *at;

	if (class >= POOL_CLASSES)
		return NULL;
	at = pool->free[class];
	if (at)
		memcpy(&pool->free[class], at, sizeof(void *));
	else
		at = scratch_alloc(&pool->memory, (size_t)1 << class);
	if (!at)
		return NULL;
	pool->used_bytes += 1ull << class;
	return at;
}

void pool_give(struct pool *pool, void *at, size_t n_bytes)
{
	u32 class = class_of(n_bytes);

	memcpy(at, &pool->free[class], sizeof(void *));
	pool->free[class] = at;
	pool->used_bytes -= 1ull << class;
}

void pool_free(struct pool *pool)
{
	scratch_free(&pool->memory);
	*pool = (struct pool){ 0 };
}
