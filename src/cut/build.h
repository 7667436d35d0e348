/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Internal to cut/: the parts as they grow, and who is who in the printed SQL.  A part of
 * rows is known by its FROM tree alone at first: what the SQL reads of it becomes an
 * item as it is printed, and its plan is made when all is printed.
 */
#ifndef EBQL_CUT_BUILD_H
#define EBQL_CUT_BUILD_H

#include "base/buf.h"
#include "base/vec.h"
#include "cut/cut.h"

#define CUT_DEPTH_MAX 64u

/* What the columns of a relation number (EXPR_COLUMN.source) are called. */
struct relation {
	const char *alias;	  /* column i is alias.c<i>, or */
	const char *const *names; /* alias."names[i]", or */
	const u32 *map;		  /* alias.c<map[i]> */
};

/* Rows of a FROM tree: a part of kind ROWS under way, or a file that is a table. */
struct rows {
	const struct plan *tree;
	u32 part, relation; /* numbers */
	expr_vec items;	    /* what the part computes */
	bool has_time;	    /* items[0] */
	expr_vec where;
	const struct file *file; /* a table */
	bool is_nullable;	 /* right of a LEFT JOIN */
	bool is_outer;		 /* of a select around the one that is being printed */
};

/* A PLAN_AGGREGATE by its number. */
struct grouped {
	const struct plan *plan;
	const char
		*alias; /* of the part that computes it: keys, then aggregates; NULL: SQLite does */
	u32 part;
	/* The part's groups are finer, and SQLite puts them together: of each aggregate its column.
	 */
	bool is_regrouped;
	u32 *columns;
};

/* A part of groups, by what it computes. */
struct groups {
	const struct plan *plan;
	u32 part;
};

/* A select that several relations read, or that would nest too deep. */
struct shared {
	const struct plan *plan;
	const char *name; /* of WITH */
};

/* A select that relations read, and how many of them. */
struct derived {
	const struct plan *plan;
	u32 n_uses;
};

struct cutter {
	struct arena *arena;
	struct diags *diags;
	const struct settings *settings;
	const struct plan_query *query;
	struct cut *cut;
	VEC(struct cut_part) parts;
	VEC(struct rows *) rows;
	VEC(struct groups) groups;
	VEC(struct shared) shared;
	VEC(struct derived) derived; /* filled when one is asked for */
	struct buf with;	     /* "s0 AS (SELECT ...), " */
	VEC(const char *) notes;
	struct relation *relations; /* by number: the query's, then those of rows */
	u32 n_relations, n_relations_max;
	VEC(struct grouped *) grouped; /* by number: the query's, then those of DISTINCT */
	const struct plan **overs;
	u32 n_aliases, depth;
	u32 n_outer;	     /* sub-queries around what is being printed */
	bool is_guarded;     /* not all rows are asked for what faults: see is_outer */
	struct expr *only;   /* FILTER: the argument is wanted where it is true */
	bool has_aggregate;  /* somewhere in the SQL: it needs all rows of a window */
	bool needs_all_rows; /* ORDER BY, DISTINCT, LEFT JOIN, ...: the same */
	bool is_only_sorted; /* ORDER BY was the first reason for that */
};

/* How an expression is wanted. */
enum want {
	WANT_ITEM,	/* special values go through as they are */
	WANT_VALUE,	/* a quantile is its estimate */
	WANT_CONDITION, /* only true and false matter */
};

/* A select, its operators from above to below; NULL: it has none. */
struct chain {
	const struct plan *limit, *sort, *distinct, *project, *over, *aggregate, *set;
	expr_vec having, where;
	const struct plan *from;
};

void chain_read(const struct plan *plan, struct arena *arena, struct chain *ret_chain);

/* --- kernel.c: what the kernel can do --- */

/* Rows that a program can make: scans, pairing joins, unions, filters, running sums. */
bool cut_is_rows(const struct plan *plan);
/* A condition below running sums that only SQLite could test, or NULL. */
const struct expr *cut_user_condition(const struct plan *tree);
void cut_refuse_condition(struct cutter *c, const struct expr *e);
void cut_note_scans(const struct plan *tree, struct cut_part *part);
/* NULL is one. */
bool cut_is_kernel_expr(const struct expr *e, const struct plan *tree);
enum cut_reason cut_refuse_rows(const struct cutter *c, const struct chain *chain);
/* CUT_KERNEL: *ret_distinct, if not NULL, is x of count(DISTINCT x), by which it groups too. */
enum cut_reason cut_refuse_groups(const struct cutter *c, const struct chain *chain,
				  struct expr **ret_distinct);
/* Do rows end the windows?  Then they must pass WHERE before. */
bool cut_is_where_first(const struct cutter *c);
/* Has every group windows of its own? */
bool cut_is_own_window(const struct cutter *c);

/* --- distinct.c --- */

/* DISTINCT of rows becomes an aggregate where the kernel can do that. */
void cut_group_distinct(struct cutter *c, struct chain *ch);

/* --- rows.c: parts --- */

u32 cut_part_add(struct cutter *c, struct cut_part part);
u32 cut_groups_part(struct cutter *c, const struct plan *aggregate, enum cut_reason reason);
struct rows *cut_rows_add(struct cutter *c, const struct plan *tree, bool has_time);
/* The rows whose part can compute it, or NULL. */
struct rows *cut_rows_of(struct cutter *c, const struct expr *e);
u32 cut_rows_column(struct cutter *c, struct rows *rows, struct expr *e);
/* With the largest pieces that parts of rows can compute replaced by columns of theirs. */
struct expr *cut_take(struct cutter *c, struct expr *e);
void cut_finish_rows(struct cutter *c);

/* --- from.c --- */

void cut_from(struct cutter *c, const struct plan *from, struct buf *out);

/* --- chain.c: selects --- */

/* Columns c0, c1, ...; is_scalar: a special value is its estimate. */
void cut_select(struct cutter *c, const struct plan *plan, bool is_scalar, struct buf *out);
/* The whole query; nothing is printed where no SQL is needed. */
void cut_top(struct cutter *c, struct buf *out);

/* --- value.c: expressions --- */

void cut_put(struct cutter *c, struct expr *e, enum want want, struct buf *out);
void cut_put_group_key(struct cutter *c, struct expr *e, struct buf *out);
/* " DESC NULLS LAST" */
void cut_put_direction(const struct sort_key *key, struct buf *out);
void cut_put_order(struct cutter *c, const struct sort_key *keys, u32 n, const char *before,
		   struct buf *out);

/* --- aggregate.c --- */

/* With bounds, where it is shown as it is. */
bool cut_is_quantile(const struct aggregate *a);
/* over: what stands behind it, "" or " OVER (...)" */
void cut_put_aggregate(struct cutter *c, const struct aggregate *a, enum want want,
		       const char *over, struct buf *out);
/* Of a histogram, as printed. */
void cut_put_statistic(struct cutter *c, const struct aggregate *a, const char *histogram,
		       enum want want, struct buf *out);
void cut_put_over(struct cutter *c, const struct over *over, enum want want, struct buf *out);
/* An aggregate of finer groups. */
void cut_put_regrouped(struct cutter *c, const struct grouped *g, u32 index, struct buf *out);

/* --- query.c --- */

/* Can each row be answered for as it comes, whatever other rows there are? */
bool cut_is_streaming(const struct cutter *c);

/* --- print.c --- */

/* SQLite does this clause; e NULL: it has no expression. */
void cut_note(struct cutter *c, const char *clause, const struct expr *e, enum cut_reason reason);

#endif
