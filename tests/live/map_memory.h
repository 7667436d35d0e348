/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What programs of another process have in their maps.
 */
#ifndef EBQL_TESTS_MAP_MEMORY_H
#define EBQL_TESTS_MAP_MEMORY_H

#include <sys/types.h>

#include "base/base.h"

u32 newest_map(void);
/* Of a map made since then. */
void *map_memory(u32 since, const char *name, int protection, off_t offset);

#endif
