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

/* Between two looks whether it is to end, of SQLite's machine; below 1 ms. */
#define CONNECT_STEPS 4096

/* An empty database; `cancel` ends its statements.  Returns SQLite's code; *ret_db is to be closed
 * after an error too. */
int connect_open(const struct cancel *cancel, struct sqlite3 **ret_db);
/*
 * Why a statement failed: -EOVERFLOW and too-large, -EINTR and the warning `interrupted` (the run
 * was told to end), -E2BIG and too-many-rows (no memory; db may be NULL for want of it), -EINVAL
 * and type-mismatch (an aggregate of integers got what is none), mixed-schemes, else -EINVAL and
 * user-part: SQLite's message without the names that only generated SQL has.
 */
int connect_refused(struct sqlite3 *db, struct diags *diags);
/* What an integer is of that user space has no number for. */
int connect_too_large(const char *what, struct diags *diags);

#endif
