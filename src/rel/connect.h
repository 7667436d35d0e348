/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What all connections to SQLite have in common: small, in memory only, for one thread, and
 * ended with the run.  What holds for all of a process (threads, a limit of memory) is the
 * host's to set.
 */
#ifndef EBQL_REL_CONNECT_H
#define EBQL_REL_CONNECT_H

#include "base/cancel.h"
#include "base/diag.h"

struct sqlite3;

/* An empty database; `cancel` ends its statements.  Returns SQLite's code; *ret_db is to be closed
 * after an error too. */
int connect_open(const struct cancel *cancel, struct sqlite3 **ret_db);
/*
 * Why a statement failed, where it was neither the statement nor its data: -EINTR and the
 * warning `interrupted` (the run was told to end), -E2BIG and too-many-rows (no memory).
 * 0: another reason.  db NULL: there was no memory for it.
 */
int connect_failed(struct sqlite3 *db, struct diags *diags);

/*
 * As connect_failed(), and for all other errors -EINVAL and the diagnostic user-part:
 * SQLite's message without the names that only generated SQL has.
 */
int connect_refused(struct sqlite3 *db, struct diags *diags);

#endif
