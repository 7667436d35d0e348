/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Internal to opt/: the rules and what they share.
 */
#ifndef EBQL_OPT_RULES_H
#define EBQL_OPT_RULES_H

#include "opt/opt.h"

/*
 * No rule changes what counts a fault: not which expression, nor for which rows.  So nothing
 * that can fault is moved or dropped, and nothing that drops rows moves ahead of it.
 */

opt_change opt_fold, opt_split, opt_fix_keys, opt_order, opt_share, opt_cells;
opt_change opt_starts, opt_tables;
struct plan *opt_members(struct plan *plan, struct arena *arena);
struct plan *opt_typed(struct plan *plan, struct arena *arena);
struct plan *opt_keys(struct plan *plan, struct arena *arena);
struct plan *opt_unused(struct plan *plan, struct arena *arena);
struct plan *opt_push_down(struct plan *plan, struct arena *arena);

/* expr.c */

/* Is `part` a part of it, not looked for in the branches of unions? */
bool opt_contains(const struct expr *e, const struct expr *part);
/*
 * e with to[i] wherever from[i] stands (NULL: none), the largest parts first; NULL when it
 * reads columns outside of these.  Types are not inferred anew.
 */
struct expr *opt_rewrite(struct expr *e, struct expr *const *from, struct expr *const *to, u32 n,
			 struct arena *arena);

#endif
