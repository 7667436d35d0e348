/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The tables of joins -> how many starts wait in them for their ends.
 */
#ifndef EBQL_DRAIN_PAIR_H
#define EBQL_DRAIN_PAIR_H

#include "phys/phys.h"

/* Those from then on and before that instant (CLOCK_MONOTONIC; UINT64_MAX: of any time), but for
 * those whose word at PAIR_OTHERS_BYTES has one of these bits. */
struct pair_which {
	u64 from_ns, before_ns;
	u32 others;
};

/*
 * Of such starts of a PAIR JOIN those that wait, of an ASOF JOIN, which uses none up, what it
 * keeps.  The tables are read at `pairs` or, where that is NULL, by map_fd, a piece at a time:
 * whoever maps an array of the kernel has all its pages in his memory at once.  The number, or
 * -errno.
 */
s64 pair_count_waiting(const struct phys_join *join, const u8 *pairs, int map_fd,
		       const struct pair_which *which);

#endif
