/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Internal to opt/: the rules and what they share.
 */
#ifndef EBQL_OPT_RULES_H
#define EBQL_OPT_RULES_H

#include "opt/opt.h"

struct plan *opt_fold(struct plan *plan, struct arena *arena);
struct plan *opt_split(struct plan *plan, struct arena *arena);
struct plan *opt_unused(struct plan *plan, struct arena *arena);
struct plan *opt_same_thread(struct plan *plan, struct arena *arena);
struct plan *opt_order(struct plan *plan, struct arena *arena);

/* Copies every operator of the plan and hands the copy to `change`, those below it first. */
struct plan *opt_map(struct plan *plan, struct arena *arena,
		     void (*change)(struct plan *copy, struct arena *arena));
/* Bottom-up: a copy of expr in which `change` replaced nodes (it returns its argument or another).
 */
struct expr *opt_map_expr(struct expr *expr, struct arena *arena,
			  struct expr *(*change)(struct expr *expr, struct arena *arena));

#endif
