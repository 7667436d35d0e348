/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Internal to the generator: what a place in a query can name, and the makers of its
 * parts: make_expr.c, make_from.c, make_select.c.
 */
#ifndef EBQL_TESTS_MAKE_H
#define EBQL_TESTS_MAKE_H

#include "random.h"

/* A column as it may be named. */
struct seen {
	const char *text;
	enum phrase_class class;
	s128 lo, hi;
	s32 column;	      /* of the rows, whose values literals are made of; -1: computed */
	bool is_compare_only; /* an instant or address */
};

struct scope {
	VEC(struct seen) columns;
	const char *time; /* the time of the row; NULL: it has none */
	u32 n_rows_max;
};

struct maker {
	const struct rows *rows;
	struct arena *arena;
	struct rng *rng;
	u32 n_names;
	u32 depth; /* of selects */
	enum window_shape shape;
	bool has_opaque; /* some item cannot be sorted by */
	bool is_wild;	 /* arithmetic may leave 64 bits: SQLite does not follow */
};

/* --- make_expr.c --- */

struct phrase *make_integer(struct maker *m, const struct scope *scope, u32 depth);
struct phrase *make_text(struct maker *m, const struct scope *scope);
struct phrase *make_condition(struct maker *m, const struct scope *scope, u32 depth);
/* A column, or something computed of columns: never a constant. */
struct phrase *make_key(struct maker *m, const struct scope *scope);
struct phrase *make_column(struct maker *m, const struct seen *seen);
/* A random column of that class that arithmetic takes; NULL: there is none. */
const struct seen *pick_column(struct maker *m, const struct scope *scope, enum phrase_class class,
			       bool is_compare);
struct phrase *make_aggregate(struct maker *m, const struct scope *scope);
/* A literal, in range. */
struct phrase *make_literal(struct maker *m, s128 value);
bool phrase_fits(struct maker *m, struct phrase *p);

/* --- make_from.c --- */

/* A member of FROM; the scope gets its columns. */
struct phrase *make_from(struct maker *m, struct scope *scope);
struct phrase *make_stream(struct maker *m, bool is_other, const char *alias, struct scope *scope);
const char *make_name(struct maker *m, const char *prefix);

/* --- make_select.c --- */

/* A select in parentheses, of one column of that class. */
struct phrase *make_subselect(struct maker *m, const struct scope *outer, enum phrase_class class,
			      bool is_scalar);
/* SELECT keys and aggregates, in parentheses, whose columns the scope gets under that name. */
struct phrase *make_grouped_source(struct maker *m, const char *alias, struct scope *scope);

#endif
