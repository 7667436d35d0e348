/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Files that somebody named to have something written there: rows, a snapshot, the audit.
 */
#ifndef EBQL_HOST_WRITTEN_H
#define EBQL_HOST_WRITTEN_H

#include "base/base.h"

/*
 * Through no link, which another user may have placed: created where it is not there, and
 * emptied; is_log: written on behind its end, also where it is a FIFO that nobody reads yet, and
 * without blocking.  -1, and why.
 */
int written_open(const char *path, bool is_log, const char **ret_why);
/* The same, but that it is not emptied: that is for when it is known that something comes. */
int written_open_as_it_is(const char *path, bool is_log, const char **ret_why);
/* -errno: it cannot be; what is no file of bytes needs not. */
int written_empty(int fd);
/* Of such a log of lines: what a full disk or a kill has cut there stays a line of its own. */
void written_end_line(int fd);
/* That file (-1: none) is for nothing else: written_open() refuses it. */
void written_guard(int fd);

#endif
