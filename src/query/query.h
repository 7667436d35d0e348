/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A query on its way through the pipeline, for run, explain, and programs that have an engine of
 * their own (tests/live/embed.c).
 */
#ifndef EBQL_QUERY_QUERY_H
#define EBQL_QUERY_QUERY_H

#include "bpf/bpf.h"
#include "cat/cat.h"
#include "cut/cut.h"
#include "engine/engine.h"
#include "load/load.h"
#include "phys/phys.h"
#include "plan/plan.h"
#include "sql/sql.h"

/*
 * What the statements of a shell leave to those behind them: SET, ATTACH and the views.  The
 * times are of the latest run.
 */
struct keep {
	struct arena arena;
	struct settings settings;
	struct view_list views;
	VEC(struct plan_database) databases;
	u64 compile_ns, load_ns, attach_ns;
	/* The shell's own, for completion and \d; as they ask, it is opened. */
	struct catalog *catalog;
};

/* What the kernel does for all parts of a query, or of several that run at once. */
struct programs {
	struct query *first; /* of these queries: all of it lies in its arena */
	u32 n_queries;	     /* that use it */
	struct phys_set *set;
	struct ir **irs;	      /* by hook */
	struct load_program *of_hook; /* the same */
	struct buf constants;
	struct load_hooks hooks;
	bool is_loaded;
};

struct query {
	struct keep *keep; /* NULL: the text is all there is */
	struct arena arena;
	struct diags diags;
	const char *catalog_path; /* of a snapshot, or NULL for the live one */
	struct settings settings;
	struct view_list views;
	struct kernel_features features;
	u32 n_cpus;
	struct catalog *catalog;
	struct sql_parameters *parameters; /* the values of :name; NULL: there are none */
	struct ast_script *script;
	const struct ast_statement
		*statement;	 /* the query; without one, the last CREATE or DROP VIEW */
	struct plan *bound_plan; /* before it was optimised */
	struct plan_query *bound;
	struct cut *cut;
	struct query_part *parts;  /* one for each of cut->parts */
	struct programs *programs; /* NULL: the kernel does nothing for it */
	VEC(struct plan_database) databases;
	u64 compile_ns;
	struct flow *flow; /* NULL: it does not run */
};

/* The kernel does nothing for a part whose phys is NULL. */
struct query_part {
	struct plan *logical, *optimized;
	struct phys_input input; /* of that one */
	struct phys *phys;
};

/* false: there is no memory for any query.  query_free() after both. */
bool query_init(struct query *query, const char *file, const char *text, size_t text_bytes);
/* Ends the query, if it runs. */
void query_free(struct query *query);
/* For what the shell itself asks: of its own catalog, and its views.  As query_init(). */
bool query_init_kept(struct query *query, struct keep *keep);
struct catalog *keep_catalog(struct keep *keep);
/* The query goes on where the shell's earlier ones ended; a text of SET alone is then whole. */
void query_begin_kept(struct query *query, struct keep *keep);
/* What a query that went well leaves in query->keep; does nothing without one. */
void query_end_kept(struct query *query);
/* Text -> script; applies SET; finds the one statement to do.  false after a diagnostic. */
bool query_parse(struct query *query);
/* Script -> instructions.  false after a diagnostic. */
bool query_compile(struct query *query);
/*
 * Compiled queries of one process, before any of them is loaded -> one program for each hook, for
 * all of them: what that hook costs by itself is then paid once, and windows that end together end
 * in one flip.  One with a join or a running sum that starts behind another gets programs of its
 * own then: what these keep begins with their first.  The first is to be freed last, the others
 * not before the programs are loaded.  false after a diagnostic of the first.
 */
bool query_share(struct query *const *queries, u32 n);
/* Instructions -> the kernel, where nothing is attached yet.  0, or -errno after a diagnostic. */
int query_load(struct query *query);
/*
 * query_load(), unless that was done, and engine_add().  `how` says what becomes of the batches and
 * what limits there are; the rest of it is filled in.
 */
int query_start(struct query *query, struct engine *engine, const struct flow_input *how);
/* Of one that was loaded or runs: nothing is left of it but its answer's schema.  0, or the
 * -errno of flow_close(). */
int query_close(struct query *query);
/* Opens query->catalog, unless it is; false after a diagnostic. */
bool query_open_catalog(struct query *query);

#endif
