/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Bytes of queries -> standard output or a file.  A thread of its own writes them, so that an
 * output that takes nothing (a full pipe, a FIFO that nobody reads, a disk that hangs) stops
 * neither the engine nor any other output.
 */
#ifndef EBQL_WATCH_OUTPUT_H
#define EBQL_WATCH_OUTPUT_H

#include "base/buf.h"

/* What may wait for the thread, besides what it writes just now. */
#define OUTPUT_WAITING_BYTES (2u << 20)

struct output;

/* Takes fd, and begins to write to it; name: in messages.  NULL: no memory, fd is closed. */
struct output *output_open(int fd, const char *name);
struct output *output_use(struct output *output);
int output_fd(const struct output *output);
/*
 * A full disk is no end of it: what it did not take is lost, and what comes then is written.  So
 * many bytes at most were lost since the last call, with that errno.
 */
void output_outlive_full(struct output *output);
u64 output_take_lost(struct output *output, int *ret_error);
/* false: so much waits that what comes now is to be left away, whole. */
bool output_has_room(struct output *output);
/* Takes what is in the buffer, and empties it; 0, or the -errno of what was written before. */
int output_put(void *output, struct buf *buf);
/*
 * Of the last user: what waits is still written, and then it is closed.  One that takes nothing for
 * 2 s, or when `cancel` is due as it stands now, and whose descriptor does not block, is closed
 * then, which is told.
 */
void output_leave(struct output *output, const struct cancel *cancel);
/* Waits until all that it was given is written; false: not in time, which is as below. */
bool output_drain(struct output *output, const struct cancel *cancel);
/*
 * Waits until all that were left have been written and closed, which are all but `kept`; somewhat
 * above 2 s at most.  false: that was over, or `cancel` was due, before; or one of them failed:
 * which is told.
 */
bool outputs_wait(struct output *kept, const struct cancel *cancel);

#endif
