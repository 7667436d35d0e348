/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Region: one run of zeroed memory from mmap() that can grow (and then may
 * move).  Pages never touched take no memory, so a region may be generous;
 * growing happens at start and at new record sizes only, never in steady state.
 */
#ifndef EBQL_BASE_REGION_H
#define EBQL_BASE_REGION_H

#include "base/base.h"

struct region {
	void *at;
	size_t n_bytes;
};

/* Makes it at least n_bytes; what was there stays, the rest is zero.  false: no memory. */
bool region_need(struct region *region, size_t n_bytes);
void region_free(struct region *region);

#endif
