/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Rule starts: joins whose right sides, keys and what leads to them are alike keep their starts
 * once, and take them once for an end, whatever becomes of the rows behind.  Without the rule each
 * join has a table of its own, which holds the same.
 *
 * Which joins are alike is the physical plan's business, and that of queries that run together: the
 * rule says that they may share.
 */
#include "opt/rules.h"

void opt_starts(struct plan *p, const struct settings *settings, struct arena *arena)
{
	(void)arena;
	if (p->kind == PLAN_JOIN)
		p->join.shares_starts = true;
}
