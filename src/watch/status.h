/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * ebql watch --status: a local socket that tells its owner, and root, what the queries do.
 */
#ifndef EBQL_WATCH_STATUS_H
#define EBQL_WATCH_STATUS_H

#include "watch/query.h"

struct status;

/*
 * Listens at that path (NULL: the usual one, where there is such a place).  0; 1 after a message:
 * another ebql watch does, or a path that was asked for cannot be had.  *ret_status NULL: nobody
 * listens.
 */
int status_open(const char *path, struct status **ret_status);
/* Takes its name away, too. */
void status_close(struct status *status);
/* To be polled for reading; -1: none. */
int status_fd(const struct status *status);
/* Does for its clients what can be done without waiting for them. */
void status_step(struct status *status, struct watch_all *all);
/* The client: prints what is told at that path.  The exit status. */
int status_show(const char *path, bool is_json);

#endif
