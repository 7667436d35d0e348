/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What the user is told of a query, and the exit status that goes with it.
 */
#ifndef EBQL_HOST_TELL_H
#define EBQL_HOST_TELL_H

#include "query/query.h"

/* -q: from then on only errors and losses are told. */
void tell_be_quiet(void);
bool tell_is_quiet(void);
/* What is no error, and not lost: nothing with -q. */
void tell_note(const char *format, ...) PRINTF(1, 2);
/* Tells the user; the exit status. */
int tell_no_memory(void);
/* Prints the diagnostics (warnings once); 2 for a wrong query, 1 for what the machine or privileges
 * lack, else 0.
 */
int tell_diags(struct query *query);
#define TELL_STDOUT "standard output"
/* "WHAT: strerror", and a line of what helps; what: maybe "". */
void tell_put_errno(struct buf *out, const char *what, int error);
/* Tells the user of an errno, of what (maybe "", a name as it is), and what helps; 1, the exit
 * status. */
int tell_failed(const char *what, int error);
/* What a statement has to show; status, or 1 after telling why it cannot be shown.  Frees it. */
int tell_answer(struct buf *out, int status);
/* Columns of the terminal that the descriptor is; 0: it is none, or too narrow to put words in
 * order. */
u32 tell_columns(int fd);
/* What the terminal `fd` has no room for in a line goes to the next, under its last column. */
void tell_fold(struct buf *out, int fd);
/* Writes it so, and frees it. */
void tell_print(struct buf *out, FILE *to);
/* The same on standard error. */
void tell(const char *format, ...) PRINTF(1, 2);
/* As tell_answer(), through $PAGER where a terminal has not as many lines. */
int tell_paged(struct buf *out, int status);

#endif
