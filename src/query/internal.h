/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Internal to query/: a query's programs, and those that it shares with others.
 */
#ifndef EBQL_QUERY_INTERNAL_H
#define EBQL_QUERY_INTERNAL_H

#include "query/query.h"

/* --- compile.c --- */

/* The parts that the kernel does something for. */
const struct phys_input *query_inputs(struct query *query, u32 *ret_n);
/* They are planned so. */
void query_set_parts(struct query *query, const struct phys_set *set);
/* Room for so many. */
void programs_init(struct programs *programs, u32 n_hooks, struct arena *arena);
/* The program of that hook of programs->set.  false: it is too large, and why. */
bool program_compile(struct programs *programs, u32 i, const struct kernel_features *kernel,
		     struct arena *arena, const char **ret_reason);

/* The programs of the query alone, as many as it takes.  false after a diagnostic. */
bool query_programs(struct query *query);

/* --- segment.c --- */

/*
 * The kernel does for the query what it is to do, together with what it does for others of the
 * engine.  0; -EFBIG: it takes programs of its own; or -errno after a diagnostic.
 */
int segment_join(struct query *query, struct engine *engine);
void segment_leave(struct query *query);
u32 segment_n_queries(const struct query *query);
struct load_state *segment_state(const struct query *query, const struct phys *phys);

#endif
