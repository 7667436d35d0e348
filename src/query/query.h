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

/* What the kernel does for all parts of a query by itself. */
struct programs {
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
	/* Where it runs with others, and its plan there; NULL: by its own programs. */
	struct segment *segment;
	struct phys_set *plan;
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
 * Instructions -> the kernel, where nothing is attached yet: for a query that shares its programs
 * with no other.  0, or -errno after a diagnostic.
 */
int query_load(struct query *query);
/*
 * The query runs, with those of the engine that do already: one program a hook serves them all,
 * and is exchanged for one that serves this one too (segment.c).  They notice nothing, also where
 * it fails.  It counts from its own start on.  One that was loaded, or that is too large, or keeps
 * running sums, which begin with their programs, has its own.
 * `how` says what becomes of the batches and what limits there are; the rest of it is filled in.
 * 0, or -errno, mostly after a diagnostic: as engine_add(), and those of loading.
 */
int query_start(struct query *query, struct engine *engine, const struct flow_input *how);
/* Of one that was loaded or runs: nothing is left of it but its answer's schema.  0, or the
 * -errno of flow_close(). */
int query_close(struct query *query);
/* Opens query->catalog, unless it is; false after a diagnostic. */
bool query_open_catalog(struct query *query);

#endif
