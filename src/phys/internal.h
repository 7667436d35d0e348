/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Internal to phys/: the steps of phys_plan().
 */
#ifndef EBQL_PHYS_INTERNAL_H
#define EBQL_PHYS_INTERNAL_H

#include "phys/phys.h"

/* access.c: hooks and probes.  false after a diagnostic. */
bool phys_access(struct phys *phys, const struct phys_input *input, struct diags *diags);
/* state.c: keys, cells, aggregates, state layout. */
bool phys_state(struct phys *phys, const struct phys_input *input, struct diags *diags);
/* user.c: streamed columns, the user part's schemas and SQL. */
bool phys_user_part(struct phys *phys, const struct phys_input *input, struct diags *diags);

#endif
