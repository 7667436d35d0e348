/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Region: mmap() and mremap() behind "at least this many bytes".  Sizes double,
 * so a table that grows to n bytes is moved log2(n) times, by page tables only.
 */
#include "base/region.h"

#include <sys/mman.h>

#define REGION_MIN_BYTES 65536

bool region_need(struct region *region, size_t n_bytes)
{
	size_t size = region->n_bytes ? region->n_bytes : REGION_MIN_BYTES;
	void *at;

	if (n_bytes <= region->n_bytes)
		return true;
	while (size < n_bytes)
		size *= 2;
	if (region->at)
		at = mremap(region->at, region->n_bytes, size, MREMAP_MAYMOVE);
	else
		at = mmap(NULL, size, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (at == MAP_FAILED)
		return false;
	region->at = at;
	region->n_bytes = size;
	return true;
}

void region_free(struct region *region)
{
	if (region->at)
		munmap(region->at, region->n_bytes);
	*region = (struct region){ 0 };
}
