/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Internal to cut/: the selects of a query as scopes, the parts as they grow, and the
 * SQL text as it is printed.
 */
#ifndef EBQL_CUT_INTERNAL_H
#define EBQL_CUT_INTERNAL_H

#include "base/buf.h"
#include "base/vec.h"
#include "cut/cut.h"

/*
 * A part of kind ROWS under way: the text of the query is printed first, and what it
 * reads of the rows becomes an item here; the part is bound when all are known.
 */
struct rows_part {
	const struct ast_source *source;
	VEC(struct ast_item) items; /* column c1, c2, ...; c0 is the time */
	VEC(struct type) types;
	/* The function that SQLite applies to the column, which is its argument; or NULL. */
	VEC(const char *) naming;
	VEC(struct ast *) where;       /* conditions that the kernel can test */
	const struct ast_select *ctes; /* whose WITH names the source may read; NULL: none */
	u32 n_views;
	bool is_kernel;
	u32 part; /* number */
};

/* One member of a printed FROM. */
struct relation {
	const char *name;	    /* what may stand before a column of it; NULL: nothing */
	const char *alias;	    /* its name in the printed SQL */
	struct rows_part *rows;	    /* NULL: the columns are known: */
	struct schema columns;	    /* column i is printed as alias.c<i>, or by */
	const char *const *printed; /* these names, when not NULL */
	bool is_nullable;	    /* right of a LEFT JOIN */
	u32 part;		    /* of groups */
};

/* A name of WITH that is read twice is aggregated once. */
struct shared_groups {
	const struct ast_select *select;
	const struct ast_select *ctes; /* what its names mean depends on these */
	u32 n_views;
	struct relation relation;
};

/* A group key or aggregate that the kernel part computes, and the column it comes in. */
struct replaced {
	const struct ast *ast;
	u32 column;
	/* The kernel's groups are finer than the query's: who says what puts them together; NULL: a
	 * key, or they are the query's. */
	const struct aggregate_info *regroup;
};

/* One select being printed. */
struct level {
	struct level *outer;
	const struct ast_select *select;
	VEC(struct relation) relations;
	VEC(struct replaced) replaced; /* of relations.at[0] */
	bool is_split, is_regrouped;   /* see cut_split() */
	/* Rows of streams with running sums, which the part computes: so WHERE must be the part's.
	 */
	bool has_running;
	bool is_guarded; /* in an arm of CASE, AND, OR: only columns may become items */
	u32 alias_depth; /* names of items stand for expressions: not without end */
	bool is_arm;	 /* behind UNION and its like */
	const struct ast_item *unnest; /* the item UNNEST(h), or NULL */
	u32 unnest_column;
	const char *unnest_order; /* the ORDER BY of its cells, once printed */
};

struct cutter {
	struct arena *arena;
	struct diags *diags;
	struct catalog *catalog;
	struct settings *settings;
	struct view_list *views;
	struct cut *cut;
	VEC(struct cut_part) parts;
	VEC(struct rows_part *) rows; /* parallel to parts; NULL: another kind */
	VEC(struct shared_groups) groups;
	VEC(const char *) notes;       /* for EXPLAIN */
	const struct ast_select *ctes; /* the innermost select with WITH; its names are visible */
	u32 n_views;
	struct ast_window window; /* of the whole query */
	u32 n_aliases, depth;
	bool has_streams;    /* the query reads some of the kernel's */
	bool is_kernel;	     /* pushdown is on */
	bool has_aggregate;  /* somewhere in the SQL: it needs all rows of a window */
	bool needs_all_rows; /* ORDER BY, DISTINCT, joins, ...: the same */
	bool is_only_sorted; /* ORDER BY was the first reason for that */
};

/* What a printed expression is. */
struct printed {
	struct type type;
	bool is_good;
};

#define CUT_DEPTH_MAX 64u

/* --- part.c --- */
struct plan_context cut_context(const struct cutter *c);
struct rows_part *cut_rows_new(struct cutter *c, const struct ast_source *source);
/*
 * The column of this expression of the rows' columns: an item of the part, made if need
 * be.  -1: the part does not know it, or cannot compute it; `diags`, when not NULL, then
 * has the reasons.
 */
s32 cut_rows_column(struct cutter *c, struct rows_part *rows, const struct ast *ast,
		    struct diags *diags, struct type *ret_type);
/* The expression as the part would compute it, or NULL; makes no column. */
const struct expr *cut_rows_expr(struct cutter *c, struct rows_part *rows, const struct ast *ast);
/* A view's column that is the name of a number: the function that SQLite makes it by, or NULL. */
const char *cut_naming_of(const struct expr *e);
/* The item "*". */
struct ast_item cut_star(struct cutter *c, struct span span);
/* Can the part test the condition?  It then does. */
bool cut_rows_where(struct cutter *c, struct rows_part *rows, struct ast *condition);
bool cut_rows_finish(struct cutter *c);
/* A trial: diagnostics go to a list of their own. */
void cut_trial(const struct cutter *c, struct diags *ret_diags);
/* Did it fail only because the kernel part cannot do it? */
bool cut_is_refusal(const struct diags *diags);
void cut_take_diags(struct cutter *c, const struct diags *from);
u32 cut_part_add(struct cutter *c, struct cut_part part, struct rows_part *rows);

/* --- walk.c: nested selects included --- */
bool cut_reads_streams(struct cutter *c, const struct ast_select *select);
bool cut_reads_files(const struct plan *plan);
/* Does the select, or one in it, name a column so, or all of them by "*"? */
bool cut_mentions(struct cutter *c, const struct ast_select *select, const char *column);
/* The window that is said, wherever; or the select's, which then is none. */
const struct ast_window *cut_window_of(struct cutter *c, const struct ast_select *select);

/* --- source.c --- */
bool cut_from(struct cutter *c, struct level *level, const struct ast_source *source,
	      struct buf *out);
/* The part that these rows come from, or NULL: FROM is more, or less, than rows of streams. */
struct rows_part *cut_rows_of(struct cutter *c, const struct ast_source *source,
			      const struct ast_select *reader, struct diags *ret_diags);

/* --- select.c --- */
/* Prints the select; its columns are c0, c1, ... in order.  false after a diagnostic. */
bool cut_select(struct cutter *c, struct level *outer, const struct ast_select *select, bool is_top,
		struct buf *out, struct schema *ret_columns);

/* Can each row be answered for as it comes, whatever other rows there are? */
bool cut_is_streaming(const struct cutter *c);
/* One query has one window, wherever it is said; false after a diagnostic. */
bool cut_same_window(struct cutter *c, const struct ast_select *select);

/* --- unnest.c --- */
bool cut_is_unnest(const struct ast *ast);
const struct ast_item *cut_unnest_item(struct cutter *c, const struct ast_select *select);
/* The histogram or top list itself. */
struct printed cut_unnest_argument(struct cutter *c, struct level *level, const struct ast *ast,
				   struct buf *out);
/* sql: the select with columns c0, c1, ... as `inner` says, and n, the number of the row. */
void cut_print_unnested(struct cutter *c, struct level *level, const struct schema *inner,
			const char *sql, struct buf *out, struct schema *ret_columns);
/* The error unnest-here. */
struct printed cut_unnest_here(struct cutter *c, const struct ast *ast, const char *message);

/* --- print.c --- */
/* For EXPLAIN: SQLite does this clause; ast NULL: it has no expression. */
void cut_note(struct cutter *c, const char *clause, const struct ast *ast, const char *why);

/* --- where.c --- */
bool cut_where(struct cutter *c, struct level *level, struct ast *ast, bool *is_first,
	       struct buf *out);
/* A diagnostic, and false: why there are no groups to aggregate. */
bool cut_refuse_aggregate(struct cutter *c, const struct ast *ast, const char *why);

/* --- split.c --- */
/* The select as a part of the kernel, all of it; false: it is none. */
bool cut_groups(struct cutter *c, const struct ast_select *select, struct relation *ret_relation);
/* The keys and aggregates of the select as a part of the kernel; level->replaced has them. */
bool cut_split(struct cutter *c, struct level *level, struct buf *from);
/* Is item i one of the keys of GROUP BY? */
bool cut_is_key(const struct ast_select *select, u32 i);
/* SELECT DISTINCT without aggregates: grouped by what it selects, the latest row of each group. */
const struct ast_select *cut_distinct(struct cutter *c, const struct ast_select *select);

/* --- expr.c --- */
struct printed cut_expr(struct cutter *c, struct level *level, const struct ast *ast,
			struct buf *out);
/* Where only true and false matter. */
struct printed cut_condition(struct cutter *c, struct level *level, const struct ast *ast,
			     struct buf *out);
/* Where the whole of an item, an ORDER BY, ... stands: special values go through as they are. */
struct printed cut_item(struct cutter *c, struct level *level, const struct ast *ast,
			struct buf *out);
bool cut_exprs(struct cutter *c, struct level *level, struct ast *const *list, u32 n,
	       struct buf *out);
struct printed cut_bad(void);
/* The column of a group key of an outer select, by its name. */
bool cut_outer_key(const struct level *level, const struct ast *name, struct buf *out,
		   struct printed *ret_printed);

/* --- compare.c --- */
/* a = b and its like, a || b. */
struct printed cut_pair(struct cutter *c, struct level *level, const struct ast *ast,
			struct buf *out);
struct printed cut_predicate(struct cutter *c, struct level *level, const struct ast *ast,
			     struct buf *out);

/* --- name.c --- */
struct printed cut_name(struct cutter *c, struct level *level, const struct ast *name,
			struct buf *out);
/* The column of that name of a relation whose columns are known, or -1. */
s32 cut_known_column(const struct relation *r, const struct ast *name);
void cut_print_column(const struct relation *r, s32 column, struct buf *out);
/* The name of one part as an item's alias, or NULL. */
const struct ast_item *cut_alias(const struct ast_select *select, const struct ast *ast);
/* GROUP BY and ORDER BY: numbers and aliases of items stand for these. */
const struct ast *cut_resolve_item(struct cutter *c, struct level *level, const struct ast *ast,
				   const char *clause);
bool cut_is_column(struct cutter *c, struct level *level, const struct ast *name);

/* --- call.c --- */
struct printed cut_call(struct cutter *c, struct level *level, const struct ast *ast, bool is_item,
			struct buf *out);
bool cut_is_aggregate(const struct ast *ast);
bool cut_has_aggregate(const struct ast *ast);
/* Aggregates, sub-queries or window functions: what no row has of its own. */
bool cut_is_of_rows(const struct ast *ast);

#endif
