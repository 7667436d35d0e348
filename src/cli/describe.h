/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * DESCRIBE of what must be bound to know its columns: views and spans.
 */
#ifndef EBQL_CLI_DESCRIBE_H
#define EBQL_CLI_DESCRIBE_H

#include "plan/plan.h"

/* Prints the columns; 0, 1 when that failed, 2 after a diagnostic. */
int describe_derived(const struct ast_source *source, struct catalog *catalog,
		     struct view_list *views, bool is_json, struct arena *arena,
		     struct diags *diags);

#endif
