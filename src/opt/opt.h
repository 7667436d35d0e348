/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Logical plan -> equivalent, cheaper logical plan.  One rule a file, listed in
 * opt_rules; each can be switched off by its name (SET rules_off = 'fold,...').
 */
#ifndef EBQL_OPT_OPT_H
#define EBQL_OPT_OPT_H

#include "plan/plan.h"

/* Changes an operator that is a copy of its own, with lists of its own. */
typedef void opt_change(struct plan *copy, const struct settings *settings, struct arena *arena);

/* It rewrites the select as a whole; or each of its operators (not of those that it reads), those
 * below first; or both. */
struct opt_rule {
	const char *name;
	const char *meaning;
	struct plan *(*whole)(struct plan *plan, struct arena *arena);
	opt_change *each;
};

extern const struct opt_rule opt_rules[];
extern const u32 opt_n_rules;

/* Is this name in the comma-separated list, or the list "all"? */
bool opt_is_off(const char *rules_off, const char *name);
/*
 * The whole query: each of its selects by itself, those that it reads first.  One that is
 * read twice stays one.
 */
struct plan *opt_query(struct plan *plan, const struct settings *settings, struct arena *arena);
/* One select. */
struct plan *opt_run(struct plan *plan, const struct settings *settings, struct arena *arena);

#endif
