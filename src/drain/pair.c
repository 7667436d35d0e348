/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Waiting starts: slots of the tables of phys/phys.h, read once at the end.  A program
 * may write meanwhile; a slot is then counted as what it was or as what it becomes.
 */
#include "drain/pair.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#define PIECE_BYTES 262144u

static u64 load_word(const u8 *at)
{
	return __atomic_load_n((const u64 *)at, __ATOMIC_RELAXED);
}

/*
 * What a slot holds says its state, but for one that a thread owns (state 1): that
 * holds a start where its time is not 0.  A slot that is being written, state 1 too, is
 * a start that begins just now.
 */
static bool is_waiting(const struct phys_join *join, const u8 *slot, const struct pair_which *which)
{
	u64 time_ns = load_word(slot + PAIR_TIME_BYTES);
	u64 word = load_word(slot + PAIR_STATE_BYTES);
	u32 state = (u32)word;

	if (state != 2 && !(join->kind == PAIR_THREAD && state == 1 && time_ns))
		return false;
	return !(word >> (8 * PAIR_OTHERS_BYTES) & which->others) && time_ns >= which->from_ns &&
	       (time_ns < which->before_ns || which->before_ns == UINT64_MAX);
}

static u64 count_slots(const struct phys_join *join, const u8 *at, u32 n,
		       const struct pair_which *which)
{
	u64 count = 0;

	for (u32 i = 0; i < n; i++)
		count += is_waiting(join, at + (size_t)i * join->slot_bytes, which);
	return count;
}

/* n whole slots at this place of the map. */
static s64 count_piece(const struct phys_join *join, int map_fd, u64 offset_bytes, u32 n,
		       const struct pair_which *which)
{
	u64 page = offset_bytes & ~((u64)sysconf(_SC_PAGESIZE) - 1);
	size_t n_bytes = offset_bytes - page + (u64)n * join->slot_bytes;
	u8 *at = mmap(NULL, n_bytes, PROT_READ, MAP_SHARED, map_fd, (off_t)page);
	u64 count;

	if (at == MAP_FAILED)
		return -errno;
	count = count_slots(join, at + (offset_bytes - page), n, which);
	munmap(at, n_bytes);
	return (s64)count;
}

static s64 count_table(const struct phys_join *join, const u8 *pairs, int map_fd,
		       const struct pair_which *which)
{
	u64 at = join->offset_bytes + PAIR_HEADER_BYTES;
	u32 n_left = join->n_slots + PAIR_WAYS - 1 + join->n_overflow, n;
	s64 sum = 0, count;

	if (pairs)
		return (s64)count_slots(join, pairs + at, n_left, which);
	for (; n_left; n_left -= n, at += (u64)n * join->slot_bytes) {
		n = MIN(n_left, MAX(PIECE_BYTES / join->slot_bytes, 1u));
		count = count_piece(join, map_fd, at, n, which);
		if (count < 0)
			return count;
		sum += count;
	}
	return sum;
}

s64 pair_count_waiting(const struct phys_join *join, const u8 *pairs, int map_fd,
		       const struct pair_which *which)
{
	/* No map: no program names it, when nothing is ever stored. */
	return !pairs && map_fd < 0 ? 0 : count_table(join, pairs, map_fd, which);
}
