/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A folder with files of queries, and an ebql watch that runs them.
 */
#ifndef EBQL_TESTS_PLACE_H
#define EBQL_TESTS_PLACE_H

#include "session.h"

enum { LIMIT_MS = 60000 };

#define CALLS "FROM tracepoint:syscalls:sys_enter_getppid WHERE pid = %d "

struct place {
	struct session *session;
	char folder[64], socket[96], path[128];
};

/* A cmocka setup and teardown. */
int place_setup(void **state);
int place_teardown(void **state);

/* Of a file in the folder; until the next call. */
const char *place_path(struct place *p, const char *name);
/* In two pieces, a moment apart. */
void place_write(struct place *p, const char *name, const char *format, ...) PRINTF(3, 4);
void place_move(struct place *p, const char *from, const char *to);
void place_read(struct place *p, const char *name, struct buf *text);
/* What stands behind the key in all lines, added up. */
u64 place_sum(struct place *p, const char *name, const char *key);

/* Options, then the folder, or what else is named; waits until it runs. */
void place_start(struct place *p, const char *what, ...) __attribute__((sentinel));
void place_end(struct place *p, int signal, int status);
/* So too a file of the folder ("." is all of it), by a wall clock that can be set: clock.c's. */
void place_start_clock(struct place *p, const char *name, const char *library);
/* It goes off by so many seconds, and was looked at behind that. */
void place_set_clock(struct place *p, int offset);
/* Waits until standard error says so, and forgets what it said. */
void place_said(struct place *p, const char *text);
void place_status(struct place *p, bool is_json, struct buf *text);
/* Waits until the status says so. */
void place_wait_status(struct place *p, const char *part);
/* A number of the query's line. */
double place_figure(const char *status, const char *query, const char *key);
/* This process makes so many calls. */
void place_call(u32 n);

#endif
