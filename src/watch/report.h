/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What the queries of ebql watch do -> a table, or lines of JSON.
 */
#ifndef EBQL_WATCH_REPORT_H
#define EBQL_WATCH_REPORT_H

#include "watch/query.h"

void report_put(struct watch_all *all, bool is_json, struct buf *out);

#endif
