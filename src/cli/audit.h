/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * --audit FILE: who loaded which programs for which query, and what became of them -> a line of
 * JSON for each load, reload and unload, in a file and in the system's log.
 */
#ifndef EBQL_CLI_AUDIT_H
#define EBQL_CLI_AUDIT_H

#include "query/query.h"

/* NULL: nobody wants to know.  false after a message. */
bool audit_open(const char *path);
/* The file may have been moved away. */
void audit_reopen(void);
void audit_close(void);
/* What is known of a query that runs. */
struct audited {
	u32 n_changes;
	u64 ids; /* of its programs, as one number */
};

/* It is attached; with the rights that it took. */
void audit_load(const struct query *query, const char *name, struct audited *ret_audited);
/* If its programs are others now: queries that share them came or went, or its path changed. */
void audit_look(const struct query *query, const char *name, struct audited *audited);
/* It is over, after so long. */
void audit_unload(const struct query *query, const char *name, u64 start_ns,
		  const struct account *account);

#endif
