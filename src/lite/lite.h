/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The one printer of bound expressions as SQL for SQLite: arithmetic by the functions of
 * func/, so that it means what it means in the kernel.
 */
#ifndef EBQL_LITE_LITE_H
#define EBQL_LITE_LITE_H

#include "base/buf.h"
#include "plan/plan.h"
#include "type/type.h"

/* How an expression is wanted. */
enum lite_want {
	LITE_ITEM,	/* special values go through as they are */
	LITE_SHOWN,	/* of a sum, which nothing computes with: it may be below -2^63 */
	LITE_VALUE,	/* a quantile is its estimate */
	LITE_CONDITION, /* only true and false matter */
};

/*
 * Bound expressions as SQL.  What a column is called only the caller knows: leaf() prints it
 * and returns true, or leaves the expression to be printed from its arguments.
 */
struct lite_writer {
	bool (*leaf)(const struct lite_writer *writer, const struct expr *e, struct buf *out);
	void *context;
	/* For aggregates, windows: a whole expression of theirs. */
	void (*put)(const struct lite_writer *writer, struct expr *e, enum lite_want want,
		    struct buf *out);
	/* Is it a sum that may be below -2^63?  NULL: there are none. */
	bool (*is_sum)(const struct lite_writer *writer, const struct expr *e);
	struct arena *arena;
	enum quantile_edge edge;
	u32 select; /* aggregates: those of one select count a row's negative values once */
};

void lite_write(const struct lite_writer *writer, const struct expr *e, struct buf *out);
/* Where only true and false matter. */
void lite_write_condition(const struct lite_writer *writer, const struct expr *e, struct buf *out);
/* over: NULL, or the window it is of. */
void lite_write_aggregate(const struct lite_writer *writer, const struct aggregate *a,
			  enum lite_want want, const struct over *over, struct buf *out);
void lite_write_over(const struct lite_writer *writer, const struct over *over, enum lite_want want,
		     struct buf *out);
/* EXPR_STATISTIC */
void lite_write_statistic(const struct lite_writer *writer, const struct expr *e,
			  enum lite_want want, struct buf *out);
/* In quotes, whatever it holds. */
void lite_write_name(const char *name, struct buf *out);
/* " DESC NULLS LAST" */
void lite_write_direction(const struct sort_key *key, struct buf *out);
/* The value of a constant: an item of a projection that no column of its rows stands for. */
struct value lite_constant(const struct expr *e);

/* With bounds, where it is shown as it is. */
static inline bool lite_is_quantile(const struct aggregate *a)
{
	return a->kind == AGGREGATE_QUANTILE && a->part == QUANTILE_WHOLE && !a->is_ladder;
}

/* Entries of its stack that SQLite's parser needs for the text, at most; and how many it has.  Of a
 * longer text something is missing: what guards in guards double. */
#define LITE_DEPTH_MAX 99u
#define LITE_BYTES_MAX (1u << 20)
u32 lite_depth(const char *sql);
/* With so many more around it; error too-deep, if nothing was said yet. */
void lite_check_depth(const char *sql, u32 n_around, struct span span, struct diags *diags);
void lite_refuse_depth(struct span span, struct diags *diags);

/*
 * Of the conditions of WHERE SQLite may test any first; within a CASE it goes from left to right,
 * and as far as it must.  So that is where one that can fail stands, with all before it.
 */
void lite_guard_failures(expr_vec *conjuncts, struct arena *arena);

#endif
