/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A select -> its plan, for tests of what stands behind the binder.  NULL when diags got an
 * error.
 */
#ifndef EBQL_TESTS_BIND_SELECT_H
#define EBQL_TESTS_BIND_SELECT_H

#include "plan/plan.h"

static inline struct plan *bind_select(const struct ast_select *select, struct catalog *catalog,
				       struct settings *settings, struct view_list *views,
				       struct arena *arena, struct diags *diags)
{
	const struct plan_context context = { .catalog = catalog,
					      .settings = settings,
					      .views = views,
					      .n_views = UINT32_MAX,
					      .arena = arena };
	struct plan_query *query = plan_bind_query(select, &context, diags);

	return query ? query->plan : NULL;
}

#endif
