/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Which streams there are, and what the columns of one are: for list, describe, SHOW, DESCRIBE
 * and the shell's completion.  They ask the query's catalog and views.
 */
#ifndef EBQL_CLI_DESCRIBE_H
#define EBQL_CLI_DESCRIBE_H

#include "cli/options.h"
#include "query/query.h"

/*
 * The source as it stands in FROM, of a wildcard with the columns that all its streams share;
 * false: there is none such (the diagnostics are for nobody).
 */
bool describe_written(struct query *q, const char *written, size_t n,
		      struct query_description *ret_description);
/* The text, as a name, makes the statement; false after a diagnostic. */
bool describe_name(struct query *q);
/* Prints the columns of a source; the exit status. */
int describe_columns(struct query *q, const struct ast_source *source, bool is_json);

/* --- list.c --- */

/* Prints the streams and views that match the pattern; 0, or 1 after a complaint. */
int list_streams(struct query *q, const char *pattern, bool is_json);
/* The views; like: NULL: all.  format: table, expanded, json or csv. */
int list_views(struct query *q, const char *like, const struct out_format *format);

#endif
