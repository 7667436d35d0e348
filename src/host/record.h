/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What "ebql record", and -o of formats for single events, ask of a query and its file.
 */
#ifndef EBQL_HOST_RECORD_H
#define EBQL_HOST_RECORD_H

#include "out/out.h"
#include "query/query.h"

/* Do all rows come from files? */
bool record_is_replay(const struct cut *cut);
/*
 * Has the query rows of single events (path: else of "ebql record"), and does a terminal get what
 * it can show?  false after a diagnostic.
 */
bool record_check(struct query *query, const struct out_format *format, const char *path,
		  bool is_terminal);
/* Would writing the file destroy what the query reads?  false after a diagnostic. */
bool record_check_file(struct query *query, const char *path);
/* Creates the file, or opens it as it is: written_empty() is the caller's; false after a
 * diagnostic. */
bool record_open(struct query *query, const char *path, bool is_recording, bool is_begun,
		 int *ret_fd);

#endif
