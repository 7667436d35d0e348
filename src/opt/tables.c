/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Rule tables: the program that reads an iterator tests conditions on its rows, and computes of
 * them what it can, so that fewer and smaller rows leave the kernel.  Without the rule it hands on
 * the columns that are used, of all rows, and SQLite does the rest.
 *
 * Which conditions and expressions these are is the cut's business: the rule says that they may be.
 */
#include "opt/rules.h"

void opt_tables(struct plan *p, const struct settings *settings, struct arena *arena)
{
	(void)arena;
	if (p->kind == PLAN_SCAN)
		p->scan.computes = p->scan.streams->streams.at[0]->kind == STREAM_ITERATOR;
}
