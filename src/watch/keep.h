/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * WITH (keep = N): what a query's output would be given -> the latest N windows, or rows, of it in
 * memory, until somebody wants them written.
 */
#ifndef EBQL_WATCH_KEEP_H
#define EBQL_WATCH_KEEP_H

#include "watch/output.h"

/* What is kept of one query, however long its windows are asked to be. */
#define KEEP_BYTES (16u << 20)

struct keep_ring;

/* Of so many.  NULL: no memory. */
struct keep_ring *keep_open(u64 n);
void keep_free(struct keep_ring *ring);
/* As output_put() of the output's bytes: what comes before the first keep_end() stands ahead of
 * all. */
int keep_put(void *ring, struct buf *buf);
/* What was put since the last call is a window, or so many rows. */
void keep_end(struct keep_ring *ring, u64 n);
/* What is taken next goes to another place. */
void keep_begin_again(struct keep_ring *ring);
/* Takes all out, oldest first, to the end of buf; how many that were. */
u64 keep_take(struct keep_ring *ring, struct buf *buf);

#endif
