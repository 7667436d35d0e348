/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What ebql watch asks of a query beyond that it is one.
 */
#ifndef EBQL_WATCH_CHECK_H
#define EBQL_WATCH_CHECK_H

#include "query/query.h"
#include "watch/watch.h"

/* false after a diagnostic: of one that was parsed, and of one that was compiled. */
bool watch_check_statement(struct query *query);
bool watch_check(struct query *query, const struct watch_options *options);

#endif
