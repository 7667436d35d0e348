/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A bump allocator over anonymous mappings: the kernel hands them out zeroed and
 * gives a page only when it is touched, so a large chunk costs what is used of it.
 * Chunks double from 64 KiB to 8 MiB.  Under AddressSanitizer each piece is
 * followed by a poisoned gap, so overruns inside the arena are found too.
 */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/arena.h"

#if defined(__SANITIZE_ADDRESS__)
#define ARENA_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ARENA_ASAN 1
#endif
#endif

#ifdef ARENA_ASAN
#include <sanitizer/asan_interface.h>
#define ARENA_GAP_BYTES 16
/* All of it is poisoned at once. */
#define ARENA_RESERVE_BYTES ((size_t)16 << 20)
#else
#define ASAN_POISON_MEMORY_REGION(address, size)   ((void)0)
#define ASAN_UNPOISON_MEMORY_REGION(address, size) ((void)0)
#define ARENA_GAP_BYTES				   0
#define ARENA_RESERVE_BYTES			   ((size_t)256 << 20)
#endif

#define ARENA_ALIGN	      16
#define ARENA_CHUNK_MIN_BYTES ((size_t)64 << 10)
#define ARENA_CHUNK_MAX_BYTES ((size_t)8 << 20)
/* Far above any query; keeps the sums below from wrapping. */
#define ARENA_ALLOC_MAX_BYTES ((size_t)1 << 46)

struct arena_chunk {
	struct arena_chunk *older;
	size_t size_bytes; /* of the mapping, this head included */
	size_t used_bytes; /* from the mapping's start; a multiple of ARENA_ALIGN */
} __attribute__((aligned(ARENA_ALIGN)));

void arena_init(struct arena *arena)
{
	*arena = (struct arena){ 0 };
}

void arena_free(struct arena *arena)
{
	struct arena_chunk *chunk = arena->chunk;

	while (chunk) {
		struct arena_chunk *older = chunk->older;

		ASAN_UNPOISON_MEMORY_REGION(chunk, chunk->size_bytes);
		munmap(chunk, chunk->size_bytes);
		chunk = older;
	}
	arena_init(arena);
}

static bool chunk_add(struct arena *arena, size_t size_bytes, int flags)
{
	struct arena_chunk *chunk = mmap(NULL, size_bytes, PROT_READ | PROT_WRITE,
					 MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);

	if (chunk == MAP_FAILED)
		return false;
	chunk->older = arena->chunk;
	chunk->size_bytes = size_bytes;
	chunk->used_bytes = sizeof(*chunk);
	ASAN_POISON_MEMORY_REGION(chunk + 1, size_bytes - sizeof(*chunk));
	arena->chunk = chunk;
	return true;
}

bool arena_reserve(struct arena *arena)
{
	size_t size_bytes = ARENA_RESERVE_BYTES;

	BUG_ON(arena->chunk);
	while (!chunk_add(arena, size_bytes, MAP_NORESERVE)) {
		size_bytes /= 2;
		if (size_bytes < ARENA_CHUNK_MIN_BYTES)
			return false;
	}
	return true;
}

/* The process ends: who asked could do nothing about it. */
static _Noreturn void no_room(const struct arena *arena, size_t need_bytes)
{
	dprintf(STDERR_FILENO,
		"ebql: no memory for what a query is made of: it has taken %llu KiB, and %llu more "
		"are not to be had\n"
		"  hint: write a query this large as several, or raise the limit of this process "
		"(ulimit -v) or of its cgroup (memory.max)\n",
		(unsigned long long)arena_used(arena) >> 10,
		(unsigned long long)(need_bytes >> 10) + 1);
	_exit(1);
}

static struct arena_chunk *arena_more(struct arena *arena, size_t need_bytes)
{
	size_t size_bytes = ARENA_CHUNK_MIN_BYTES;

	if (arena->chunk)
		size_bytes = MIN(2 * arena->chunk->size_bytes, ARENA_CHUNK_MAX_BYTES);
	need_bytes += sizeof(struct arena_chunk);
	if (size_bytes < need_bytes)
		size_bytes = ALIGN_UP(need_bytes, ARENA_CHUNK_MIN_BYTES);
	if (!chunk_add(arena, size_bytes, 0))
		no_room(arena, size_bytes);
	return arena->chunk;
}

void *arena_alloc(struct arena *arena, size_t size_bytes)
{
	struct arena_chunk *chunk = arena->chunk;
	size_t need_bytes;
	char *at;

	if (size_bytes > ARENA_ALLOC_MAX_BYTES)
		no_room(arena, size_bytes);
	need_bytes = ALIGN_UP(size_bytes + ARENA_GAP_BYTES, ARENA_ALIGN);
	if (!chunk || chunk->size_bytes - chunk->used_bytes < need_bytes)
		chunk = arena_more(arena, need_bytes);
	at = (char *)chunk + chunk->used_bytes;
	chunk->used_bytes += need_bytes;
	ASAN_UNPOISON_MEMORY_REGION(at, size_bytes);
	return at;
}

void *arena_grow(struct arena *arena, const void *old, size_t old_bytes, size_t new_bytes)
{
	void *at = arena_alloc(arena, new_bytes);

	if (old_bytes)
		memcpy(at, old, MIN(old_bytes, new_bytes));
	return at;
}

char *arena_strndup(struct arena *arena, const char *text, size_t length)
{
	char *copy = arena_alloc(arena, length + 1);

	if (length)
		memcpy(copy, text, length);
	return copy;
}

char *arena_strdup(struct arena *arena, const char *text)
{
	return arena_strndup(arena, text, strlen(text));
}

char *arena_vprintf(struct arena *arena, const char *format, va_list args)
{
	va_list again;
	char *text;
	int n;

	BUG_ON(!format);
	va_copy(again, args);
	n = vsnprintf(NULL, 0, format, again);
	va_end(again);
	BUG_ON(n < 0);
	text = arena_alloc(arena, (size_t)n + 1);
	vsnprintf(text, (size_t)n + 1, format, args);
	return text;
}

char *arena_printf(struct arena *arena, const char *format, ...)
{
	va_list args;
	char *text;

	va_start(args, format);
	text = arena_vprintf(arena, format, args);
	va_end(args);
	return text;
}

u64 arena_used(const struct arena *arena)
{
	u64 used_bytes = 0;

	for (const struct arena_chunk *c = arena->chunk; c; c = c->older)
		used_bytes += c->used_bytes;
	return used_bytes;
}
