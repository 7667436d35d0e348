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

/* What it took to bring it into the kernel, and where it is there. */
struct query_costs {
	u64 verify_ns, attach_ns;
	u32 n_programs, n_insns; /* those that it shares with others, as they were then */
	u32 segment;		 /* from 1; 0: it has programs of its own */
	u32 n_in_segment;	 /* queries, with this one */
	u32 n_counted_with;	 /* others of these, with which it is counted once for all */
};

/* Which access path its system calls come by: turn.c. */
struct query_turn {
	struct query *next;    /* of the engine */
	u64 look_ns, every_ns; /* the next look at it, CLOCK_MONOTONIC; 0: none; and those behind */
	u32 n_wishes, n_failed;
	bool is_told;
	bool leaves; /* it would, if none but it read calls by its path */
	u32 n_turns;
	u64 turned_ns; /* the latest one, CLOCK_REALTIME */
	/* At the latest look: the share of the calls that it wants, and what each costs. */
	bool was_looked_at;
	double share;
	struct call_costs costs;
};

struct query {
	const char *name;  /* of the file, unless who runs it has another */
	struct keep *keep; /* NULL: the text is all there is */
	struct arena arena;
	struct diags diags;
	const char *catalog_path; /* of a snapshot, or NULL for the live one */
	struct settings settings;
	double share;	/* of the wanted among all system calls, where that is known; else < 0 */
	bool is_beside; /* it goes into an engine of others: nothing may wait meanwhile */
	bool is_fixed;	/* there nothing can be attached once it runs */
	struct view_list views;
	struct kernel_features features;
	u32 n_cpus;
	struct catalog *catalog;
	/* The values of :name: those given, or NULL, and from query_parse() on all. */
	struct sql_parameters *parameters;
	struct ast_script *script;
	bool is_many; /* the text may hold several queries; the last of them is the statement */
	u32 n_queries;
	const struct ast_statement
		*statement;	 /* the query; without one, the last CREATE or DROP VIEW */
	struct plan *bound_plan; /* before it was optimised */
	struct plan_query *bound;
	struct cut *cut;
	struct query_part *parts;  /* one for each of cut->parts */
	struct programs *programs; /* NULL: the kernel does nothing for it */
	/*
	 * Where it runs with others, and its plan there; NULL: by its own programs.  The same by
	 * the other access path, or NULL, and the one that it leaves while it goes there.
	 */
	struct segment *segment;
	struct phys_set *plan, *plan_other, *plan_before;
	struct query_costs costs; /* there, when it came */
	struct query_turn turn;
	VEC(struct plan_database) databases;
	u64 compile_ns;
	struct flow *flow; /* NULL: it does not run */
	u64 start_ns;	   /* of that, CLOCK_MONOTONIC */
	u64 told_ids;	   /* the programs that query_on_programs() was told of, as one number */
};

/* The kernel does nothing for a part whose phys is NULL. */
struct query_part {
	struct plan *logical, *optimized;
	struct phys_input input; /* of that one */
	struct phys *phys;
	/* A list of the kernel: the program that reads it, which shares nothing; else NULL. */
	struct programs *list;
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
/* What names mean: with the views and databases so far. */
struct plan_context query_context(struct query *query);
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
/* Of one that runs. */
void query_costs(const struct query *query, struct query_costs *ret_costs);
/* Of two that run: are they counted together, once for both? */
bool query_counts_with(const struct query *query, const struct query *other);
/* The access path of its system calls; NULL: it has no other that it could go to. */
const char *query_path(const struct query *query);
/*
 * Tests: its system calls go to the other access path, in the engine's next steps, as they do by
 * themselves where that is cheaper.  -ENOTSUP: there is no other, or it runs by its own programs;
 * -EBUSY: one is under way.
 */
int query_turn(struct query *query);
/* Of one that runs: its programs, be they others' too. */
void query_each_program(const struct query *query, load_visit *visit, void *context);
/* Of one that was loaded or runs: nothing is left of it but its answer's schema.  0, or the
 * -errno of flow_close(). */
int query_close(struct query *query);
/*
 * Of the process: is told of each query whose programs were attached, exchanged for others (also on
 * behalf of a query that came or went), or are about to go; of none that has no program.
 * NULL: nobody is.
 */
enum query_event { QUERY_LOADED, QUERY_CHANGED, QUERY_UNLOADS };
extern void (*query_on_programs)(const struct query *query, enum query_event event);

/* --- What statements show that run nothing --- */

/* The stages by the names of the folders: "ast", "logical", ..., "all", in any case. */
bool query_has_stage(const char *stage);
/* EXPLAIN: that stage of the query as text.  false after a diagnostic. */
bool query_explain(struct query *query, const char *stage, struct buf *out);

struct query_column {
	const char *name, *type, *meaning;
};

struct query_description {
	const char *name;		/* as asked for a wildcard, canonical otherwise */
	const char *comment;		/* of a view; "" none */
	const char *note;		/* of a stream; NULL: none */
	const char *access;		/* of a tracepoint: by what it is read; NULL: no such */
	const struct stream_list *list; /* NULL: a view, a span or a file */
	VEC(struct query_column) columns, system;
};

/* Of the source as it stands in FROM.  false after a diagnostic. */
bool query_describe(struct query *query, const struct ast_source *source,
		    struct query_description *ret_description);
typedef void query_stream_function(void *context, const char *name);
typedef void query_view_function(void *context, const char *name, const char *comment, size_t n);
/* Streams and views of that name, or of a pattern with * and ?.  false after a diagnostic. */
bool query_each_stream(struct query *query, const char *pattern, query_stream_function *each,
		       void *context);
/* SHOW STREAMS LIKE: as such a pattern. */
const char *query_stream_pattern(struct query *query);
/* like: NULL: all. */
void query_each_view(struct query *query, const char *like, query_view_function *each,
		     void *context);
/* The statement's rows, which live as long as the query.  false after a diagnostic. */
bool query_show(struct query *query, struct batch *ret_batch);
bool query_shows(const struct query *query);

/*
 * Compiles the query and appends its part of a snapshot (cli/check.c): "query FILE", its text, each
 * line behind "| ", and what it relies on, a line each, sorted: "KEY: VALUE, PLACE", where a place
 * is found anew in each kernel; or "error TAG: MESSAGE" if it cannot be had here.
 */
void query_snapshot(struct query *query, struct buf *out);

/*
 * Warns of functions of the kernel whose code does not see all of their calls, or cannot be probed;
 * all: of each that the compiled query reads.  facts: for a snapshot, where the latter is an error.
 * It reads a list of 5 MB, so only where there is time.
 */
void query_check_function(struct query *query, const struct stream *stream, struct buf *facts);
void query_check_functions(struct query *query, struct buf *facts);

/* Opens query->catalog, unless it is; false after a diagnostic. */
bool query_open_catalog(struct query *query);

#endif
