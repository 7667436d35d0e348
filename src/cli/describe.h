/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Which streams there are, and what the columns of one are: for list, describe, SHOW, DESCRIBE
 * and the shell's completion.  They ask the query's catalog and views.
 */
#ifndef EBQL_CLI_DESCRIBE_H
#define EBQL_CLI_DESCRIBE_H

#include "cli/report.h"
#include "out/out.h"

struct described_column {
	const char *name, *type, *meaning;
};

struct description {
	const char *name;		/* as asked for a wildcard, canonical otherwise */
	const char *comment;		/* of a view; "" none */
	const char *note;		/* of a stream; NULL: none */
	const char *access;		/* of a tracepoint: by what it is read; NULL: no such */
	const struct stream_list *list; /* NULL: a view, a span or a file */
	VEC(struct described_column) columns, system;
};

/*
 * The source as it stands in FROM, of a wildcard with the columns that all its streams share;
 * false: there is none such (the diagnostics are for nobody).
 */
bool describe_written(struct query *q, const char *written, size_t n,
		      struct description *ret_description);
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
