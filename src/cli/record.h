/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What "ebql record", and -o of formats for single events, ask of a query and its file.
 */
#ifndef EBQL_CLI_RECORD_H
#define EBQL_CLI_RECORD_H

#include "cli/report.h"
#include "out/out.h"

/* Do all rows come from files? */
bool record_is_replay(const struct cut *cut);
/* Has the query rows of single events (path: else of "ebql record")?  false after a diagnostic. */
bool record_check(struct query *query, const struct out_format *format, const char *path);
/* Creates a file to write into, or empties it, if it is no link and nobody else's; -1 and why. */
int record_open_new(const char *path, const char **ret_why);
/* The same for the rows of the query; false after a diagnostic. */
bool record_open(struct query *query, const char *path, int *ret_fd);

#endif
