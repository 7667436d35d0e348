/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * --audit FILE: who loaded which programs for which query, and what became of them -> a line of
 * JSON for each load and unload, in a file and in the system's log.
 */
#ifndef EBQL_CLI_AUDIT_H
#define EBQL_CLI_AUDIT_H

#include "query/query.h"

/* NULL: nobody wants to know.  false after a message. */
bool audit_open(const char *path);
/* The file may have been moved away. */
void audit_reopen(void);
void audit_close(void);
/* It is attached; with the rights that it took. */
void audit_load(const struct query *query, const char *name);
/* It is over, after so long. */
void audit_unload(const struct query *query, const char *name, u64 start_ns,
		  const struct account *account);

#endif
