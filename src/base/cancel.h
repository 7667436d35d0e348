/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * When what is being computed must end: told by whoever owns the program, read by whoever
 * computes for long.
 */
#ifndef EBQL_BASE_CANCEL_H
#define EBQL_BASE_CANCEL_H

#include "base/base.h"

struct cancel {
	u64 at_ns; /* CLOCK_MONOTONIC; 0: never */
};

/* Who waits without a signal that wakes him looks so often. */
#define CANCEL_POLL_MS 100

/* From a signal handler too. */
static inline void cancel_set(struct cancel *cancel, u64 at_ns)
{
	__atomic_store_n(&cancel->at_ns, at_ns, __ATOMIC_RELAXED);
}

/* NULL: never. */
static inline bool cancel_is_due(const struct cancel *cancel)
{
	u64 at_ns = cancel ? __atomic_load_n(&cancel->at_ns, __ATOMIC_RELAXED) : 0;

	return at_ns && base_monotonic_ns() >= at_ns;
}

#endif
