/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What the user is told of a query, and the exit status that goes with it.
 */
#ifndef EBQL_HOST_REPORT_H
#define EBQL_HOST_REPORT_H

#include "query/query.h"

/* -q: from then on only errors and losses are told. */
void query_be_quiet(void);
bool query_is_quiet(void);
/* What is no error, and not lost: nothing with -q. */
void query_note(const char *format, ...) PRINTF(1, 2);
/* Tells the user; the exit status. */
int query_no_memory(void);
/* Prints the diagnostics (warnings once); 2 for a wrong query, 1 for what the machine or privileges
 * lack, else 0.
 */
int query_report(struct query *query);
#define QUERY_STDOUT "standard output"
/* Tells the user of an errno, of what (maybe "", a name as it is), and what helps; 1, the exit
 * status. */
int query_failed(const char *what, int error);
/* What a statement has to show; status, or 1 after telling why it cannot be shown.  Frees it. */
int query_say(struct buf *out, int status);
/* What the terminal `fd` has no room for in a line goes to the next, under its last column. */
void query_fold(struct buf *out, int fd);
/* Writes it so, and frees it. */
void query_print(struct buf *out, FILE *to);
/* The same on standard error. */
void query_tell(const char *format, ...) PRINTF(1, 2);
/* As query_say(), through $PAGER where a terminal has not as many lines. */
int query_page(struct buf *out, int status);

#endif
