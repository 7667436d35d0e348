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

/* query->programs: of all its parts but lists.  false after a diagnostic. */
bool query_plan_programs(struct query *query);
/* The programs of the query alone, as many as it takes.  false after a diagnostic. */
bool query_programs(struct query *query, struct programs *programs);

/* --- told.c --- */

/* Of one that runs: query_on_programs(), unless its programs are those that were told. */
void query_announce(struct query *query, enum query_event event);

/* --- alike.c --- */

/* Compiled, neither loaded: can one have what the other's programs count? */
bool query_is_alike(const struct query *a, const struct query *b);

/* The queries of an engine, one of which is looked at, or goes to the other access path: turn.c. */
struct turns {
	struct engine_shared *shared; /* whose step they are */
	struct query *first;
	struct query *query; /* that one */
	enum { TURN_NONE, TURN_LOOKS, TURN_GOES } state;
	struct phys_set *both; /* its plan by both hooks */
	u32 step, n_ordered;   /* and of how many raw hooks is_raw_first is known */
	bool is_waiting;       /* behind it, for what began before */
	bool is_undone;	       /* it goes back */
	struct load_survey survey;
	bool is_raw_first[2]; /* of its hooks on sys_enter and on sys_exit */
	u32 ids[2];	      /* of the tracepoints that load_order() takes */
};

/* --- segment.c --- */

/*
 * The kernel does for the query what it is to do, together with what it does for others of the
 * engine.  0; -EFBIG: it takes programs of its own; or -errno after a diagnostic.
 */
int segment_join(struct query *query, struct engine *engine);
void segment_leave(struct query *query);
u32 segment_n_queries(const struct query *query);
/* How many others read its parts, too. */
u32 segment_n_counted_with(const struct query *query);
/* Do others, or are its starts in one table with those of others? */
bool segment_is_shared(const struct query *query);
struct load_state *segment_state(const struct query *query, const struct phys *phys);
/* Of all queries of the engine: by what they share in it, or by one of them. */
struct turns *crowd_turns(void *crowd);
struct turns *segment_turns(const struct query *query);
struct load_hooks *segment_hooks(const struct query *query);
struct load_closer *segment_closer(const struct query *query);
/* The same parts by other hooks.  0, or -errno: it stays as it was. */
int segment_replan(struct query *query, struct phys_set *plan);
/* Does another query of the engine, that does not wish to leave it, read calls by that path? */
bool segment_shares_calls(const struct query *query, enum access_path path);

/* --- turn.c --- */

/* A query that has joined a segment: it may go to its other access path. */
void turns_enter(struct query *query, struct engine *engine);
/* Before it leaves. */
void turns_leave(struct query *query);

#endif
