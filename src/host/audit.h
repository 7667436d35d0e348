/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * --audit FILE: who loaded which programs for which query, and what became of them -> a line of
 * JSON for each load, reload and unload, in a file and in the system's log.
 */
#ifndef EBQL_HOST_AUDIT_H
#define EBQL_HOST_AUDIT_H

#include "base/base.h"

/* From here on, of all queries; NULL: nobody wants to know.  false after a message. */
bool audit_open(const char *path);
/* The file may have been moved away. */
void audit_reopen(void);
void audit_close(void);

#endif
