/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Arena: memory that is given piece by piece and taken back all at once.  The
 * compiler stages of one query share one arena and never free.  Memory comes zeroed.
 *
 * A stage could do nothing about a lack of memory, so arena_alloc() ends the process then.  Whoever
 * must not be ended reserves first: pieces within the reservation are always there.
 */
#ifndef EBQL_BASE_ARENA_H
#define EBQL_BASE_ARENA_H

#include <stdarg.h>

#include "base/base.h"

struct arena_chunk;

struct arena {
	struct arena_chunk *chunk; /* the newest; older ones are linked behind it */
};

void arena_init(struct arena *arena);
/*
 * Of a new arena: addresses for 256 MiB, which take no memory before they are used, or for as much
 * as this process may have.  false: it may have none.
 */
bool arena_reserve(struct arena *arena);
void arena_free(struct arena *arena);
/* What was given of it so far. */
u64 arena_used(const struct arena *arena);

/* Zeroed, aligned to 16 bytes, valid until arena_free(). */
void *arena_alloc(struct arena *arena, size_t size_bytes);
/* A copy of old grown to new_bytes; the old place stays valid until arena_free(). */
void *arena_grow(struct arena *arena, const void *old, size_t old_bytes, size_t new_bytes);
char *arena_strndup(struct arena *arena, const char *text, size_t length);
char *arena_strdup(struct arena *arena, const char *text);
char *arena_printf(struct arena *arena, const char *format, ...) PRINTF(2, 3);
char *arena_vprintf(struct arena *arena, const char *format, va_list args) PRINTF(2, 0);

#define arena_new(arena, type)	    ((type *)arena_alloc((arena), sizeof(type)))
#define arena_array(arena, type, n) ((type *)arena_alloc((arena), sizeof(type) * (size_t)(n)))

#endif
