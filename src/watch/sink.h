/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What a query of ebql watch gives -> standard output or a file, which is one query's.
 */
#ifndef EBQL_WATCH_SINK_H
#define EBQL_WATCH_SINK_H

#include "watch/query.h"

/* out = 'FORMAT' or 'FORMAT:PATH', of a query that is compiled; false after a diagnostic. */
bool sink_choose(struct form *form);
/* Can it be had, when its time comes?  false after a diagnostic. */
bool sink_check(struct form *form);
/* It has its output from here on; false after a diagnostic. */
bool sink_take(struct form *form);
struct sink sink_of(struct form *form);
/* Its file may have been moved away. */
void sink_reopen(struct form *form);

#endif
