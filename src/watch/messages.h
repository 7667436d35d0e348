/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Standard error of ebql watch: a thread writes what is printed to stderr, so that a reader who
 * takes nothing stops no query.
 */
#ifndef EBQL_WATCH_MESSAGES_H
#define EBQL_WATCH_MESSAGES_H

#include "watch/output.h"

/* From here on; 0 or -errno. */
int messages_open(void);
/* The output that has them; NULL: none. */
struct output *messages_output(void);
/* What had no room is told, once there is some: a look now and then finds it out. */
void messages_step(void);
bool messages_are_missing(void);
#define MESSAGES_POLL_MS 500
/* They are written, or took too long; stderr is what it was. */
void messages_close(const struct cancel *cancel);

#endif
