/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What a query says of itself -> standard error, for programs that have an engine of their own.
 */
#ifndef EBQL_TESTS_LIVE_SAID_H
#define EBQL_TESTS_LIVE_SAID_H

#include <stdio.h>

#include "query/query.h"

/* Does it complain? */
static inline bool query_said(struct query *query)
{
	struct buf out;

	buf_init(&out);
	diags_print(&query->diags, &out);
	fwrite(out.at, 1, out.n, stderr);
	buf_free(&out);
	return diags_failed(&query->diags);
}

#endif
