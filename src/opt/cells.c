/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Rule cells: aggregates are split into what they are computed of, which they share: avg(x)
 * is a sum and a count, and the sum is that of sum(x), the count that of count(*) where x is
 * never NULL; every quantile of one x reads one histogram.  Without the rule each aggregate
 * has cells of its own, which hold the same.
 *
 * Which cells an aggregate is made of is the physical plan's business: the rule says that
 * cells of several aggregates may be one.
 */
#include "opt/rules.h"

/* Sums and the like keep a count where there may be no value at all. */
static bool counts(const struct plan *p, const struct aggregate *a)
{
	switch (aggregate_infos[a->kind].counts) {
	case COUNTS_ALWAYS:
		return true;
	case COUNTS_WHERE_EMPTY:
		return !p->aggregate.n_keys || a->filter;
	case COUNTS_NEVER:
		break;
	}
	return false;
}

/* Do two aggregates of the same rows read the same values, or count the same rows? */
static bool may_share(const struct plan *p, const struct aggregate *a, const struct aggregate *b)
{
	bool has_every_row = counts(p, a) && counts(p, b) && (!a->arg || !a->arg->nullable) &&
			     (!b->arg || !b->arg->nullable);

	return expr_equal(a->filter, b->filter) && (expr_equal(a->arg, b->arg) || has_every_row);
}

void opt_cells(struct plan *p, const struct settings *settings, struct arena *arena)
{
	(void)arena;
	for (u32 i = 0; i < p->aggregate.n; i++)
		for (u32 k = 0; k < i; k++)
			p->aggregate.shares_cells |=
				may_share(p, &p->aggregate.list[i], &p->aggregate.list[k]);
}
