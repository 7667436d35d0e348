/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * WITH (on_row = ...): a row of a query of ebql watch -> a line of the log, a command that is run,
 * or a snapshot of what another query keeps.
 */
#ifndef EBQL_WATCH_ROW_H
#define EBQL_WATCH_ROW_H

#include "base/cancel.h"
#include "out/out.h"
#include "query/query.h"

struct row_action;

/* Of commands: those that ran, that failed, and rows for which none was run. */
struct row_counts {
	u64 n_run, n_failed, n_dropped;
};

/*
 * Who may have written a text: anybody; only root or the user; and no other may have put its file
 * there either.
 */
enum trust { TRUST_NONE, TRUST_FILE, TRUST_PLACE };

/* May the query's on_row be, in such a text?  false after a diagnostic. */
bool row_check(struct query *query, enum trust trust);
/* name: of the query, shown: as messages name its file.  NULL: no memory. */
struct row_action *row_open(const struct settings *settings, const char *name, const char *shown,
			    const struct schema *schema, const struct out_options *options);
/* It has nothing to add, but its commands go on. */
void row_leave(struct row_action *action);
/* What is to be done with the rows is begun, or put into a queue: this never waits. */
void row_batch(struct row_action *action, const struct batch *batch);
const struct row_counts *row_counts(const struct row_action *action);
/* The query whose snapshot it wants, since the last call; NULL: none. */
const char *row_wanted(struct row_action *action);

/* Commands that are over, or take too long, are told; the next ones begin. */
void rows_step(void);
/* Before any; to be polled for reading; -1: there is none. */
int rows_open(void);
/* When to step at the latest (CLOCK_MONOTONIC; 0: never). */
u64 rows_due_ns(void);
/* Waits for the commands of all that were left, as long as outputs do; then they are killed. */
void rows_close(const struct cancel *cancel);

#endif
