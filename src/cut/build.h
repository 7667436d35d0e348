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
#include "lite/lite.h"

/* What the columns of relation t<number> are called. */
struct relation_name {
	u32 depth;		    /* of the select in whose FROM it stands; 0: none yet */
	const struct schema *named; /* as in there; NULL: c0, c1, ... */
};

/* Rows of a FROM tree: a part of kind ROWS under way, or a file that is a table. */
struct rows {
	const struct plan *tree;
	u32 part, relation; /* numbers */
	expr_vec items;	    /* what the part computes */
	bool has_time;	    /* items[0] */
	expr_vec where;
	const struct file *file; /* a table */
	bool is_table;		 /* that, or an iterator, */
	bool computes;		 /* whose program tests conditions; as all that is no table */
	bool is_nullable;	 /* right of a LEFT JOIN, either side of a FULL one */
};

/* A PLAN_AGGREGATE by its number. */
struct grouped {
	const struct plan *plan;
	u32 depth;    /* of its select */
	bool is_part; /* a part computes it: else SQLite does, and the rest is unused */
	u32 relation; /* of the part: keys, then aggregates */
	/* The part's groups are finer, and SQLite puts them together: of each aggregate its
	 * column, and of each key its first. */
	u32 *columns, *keys;
	bool of_names; /* as in struct finer: several may have one distinct value */
};

/* What the kernel groups by beside the keys, or instead: see cut_refuse_groups(). */
struct finer {
	struct expr *distinct; /* x of count(DISTINCT x); NULL: none */
	bool of_names;	       /* the addresses that a key names, as sym(x) does: many have one */
};

/* A select that is a name of WITH. */
struct shared {
	const struct plan *plan;
	bool reads_streams;
};

struct cutter {
	struct arena *arena;
	struct diags *diags;
	const struct settings *settings;
	const struct plan_query *query;
	struct cut *cut;
	VEC(struct cut_part) parts;
	VEC(struct rows *) rows;
	VEC(struct shared) shared; /* WITH: s0, s1, ... */
	struct buf with;	   /* "WITH s0 AS (SELECT ...), ..." */
	VEC(const char *) notes;
	VEC(struct relation_name)
	relations;		       /* by number (EXPR_COLUMN.source): the query's, then ours */
	VEC(struct grouped *) grouped; /* by number: the query's, then those of DISTINCT */
	const struct plan **overs;
	u32 depth;  /* of the select that is being printed: the query's has 1 */
	u32 reach;  /* the least depth of a select whose rows were read in what was printed */
	u64 depths; /* all of them: bits, from 1 on */
	bool reads_streams;  /* the select that is being printed, or one within */
	bool is_guarded;     /* not all rows are asked for what faults */
	expr_vec joined;     /* ON of the joins that every row of the select has passed */
	bool has_aggregate;  /* somewhere in the SQL: it needs all rows of a window */
	bool needs_all_rows; /* ORDER BY, DISTINCT, LEFT JOIN, ...: the same */
	bool is_only_sorted; /* ORDER BY was the first reason for that */
};

/* A select, its operators from above to below; NULL: it has none. */
struct chain {
	const struct plan *limit, *sort, *distinct, *project, *over, *aggregate, *set;
	expr_vec having, where;
	const struct plan *from;
	s32 unnest; /* number of the item that is UNNEST(...), or -1 */
};

/* --- kernel.c: what the kernel can do --- */

void cut_note_scans(const struct plan *tree, struct cut_part *part);
/* NULL is one. */
bool cut_is_kernel_expr(const struct expr *e, const struct plan *tree);
/* What stands for e where it was computed already. */
struct expr *cut_ref(struct arena *arena, const struct expr *e, enum expr_kind kind, u32 source,
		     u32 index);
enum cut_reason cut_refuse_rows(const struct cutter *c, const struct chain *chain);
enum cut_reason cut_refuse_groups(const struct cutter *c, const struct chain *chain,
				  struct finer *ret_finer);
static inline bool cut_is_finer(const struct finer *finer)
{
	return finer->distinct || finer->of_names;
}
static inline bool cut_names_address(const struct expr *key)
{
	return key->kind == EXPR_CALL && key->function->naming && key->function->naming->is_address;
}
/*
 * The part has a column for each key, or each address that one names, for x of count(DISTINCT x),
 * and each other aggregate.
 */
struct plan *cut_make_finer(struct cutter *c, struct grouped *g, struct expr *x);
/* Do rows end the windows?  Then they must pass WHERE before. */
bool cut_is_where_first(const struct cutter *c);
/* A select's operators; DISTINCT of rows is an aggregate where the kernel can do that. */
void cut_chain(struct cutter *c, const struct plan *select, struct chain *ret_chain);

/* --- print.c: EXPLAIN --- */

/* SQLite does this clause; e NULL: it has no expression. */
void cut_note(struct cutter *c, const char *clause, const struct expr *e, enum cut_reason reason);

/* --- rows.c: parts --- */

u32 cut_relation_add(struct cutter *c);
/* Where groups have windows of their own: the rows that these are of.  NULL: elsewhere. */
const struct rows *cut_window_rows(const struct cutter *c);
/* A PLAN_AGGREGATE; what several selects read is one part. */
u32 cut_groups_part(struct cutter *c, const struct plan *aggregate, enum cut_reason reason);
struct rows *cut_rows_add(struct cutter *c, const struct plan *tree, bool has_time);
/* The rows whose part can compute it, or NULL. */
struct rows *cut_rows_of(struct cutter *c, const struct expr *e);
/* Of the select that reads them. */
u32 cut_rows_depth(const struct cutter *c, const struct rows *rows);
u32 cut_rows_column(struct cutter *c, struct rows *rows, struct expr *e);
/* With the largest pieces that parts of rows can compute replaced by columns of theirs. */
struct expr *cut_take(struct cutter *c, struct expr *e);
void cut_finish_rows(struct cutter *c);

/* --- expr.c: expressions, aggregates, window functions --- */

void cut_put(struct cutter *c, struct expr *e, enum lite_want want, struct buf *out);
/* A sum that may be below -2^63. */
bool cut_is_sum(const struct cutter *c, const struct expr *e);
/* A key of finer groups. */
void cut_put_key(struct cutter *c, const struct grouped *g, u32 index, struct buf *out);
void cut_put_group_key(struct cutter *c, struct expr *e, struct buf *out);
/* item: the number of the printed item that it is, or 0.  false: it orders nothing. */
bool cut_put_sort_key(struct cutter *c, const struct sort_key *key, u32 item, const char *before,
		      struct buf *out);

/* --- select.c --- */

/*
 * "(SELECT ...)", or its name in WITH, before all selects: of FROM wherever it can be, of sub-
 * queries (is_inline) where they nest too deep. Columns c0, c1, ...; is_scalar: a special
 * value is its estimate.
 */
void cut_nested(struct cutter *c, const struct plan *select, bool is_inline, bool is_scalar,
		struct buf *out);
/* The whole query; nothing is printed where no SQL is needed.  Returns LIMIT where it is still
 * to be printed. */
const struct plan *cut_top(struct cutter *c, struct buf *out);
void cut_put_limit(struct cutter *c, const struct plan *limit, struct buf *out);

#endif
