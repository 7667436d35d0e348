/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Pool: pieces of 2^n bytes from a scratch that are given back one by one and used again, so
 * that a steady load takes no more memory.
 */
#ifndef EBQL_BASE_POOL_H
#define EBQL_BASE_POOL_H

#include "base/scratch.h"

#define POOL_CLASSES 32u

struct pool {
	struct scratch memory;
	void *free[POOL_CLASSES]; /* [i]: pieces of 2^i bytes; each points to the next */
	u64 used_bytes;		  /* of pieces not given back */
};

/* Aligned to 16 bytes, not cleared.  NULL: there is no memory. */
void *pool_take(struct pool *pool, size_t n_bytes);
/* n_bytes: what it was taken with. */
void pool_give(struct pool *pool, void *at, size_t n_bytes);
void pool_free(struct pool *pool);

#endif
