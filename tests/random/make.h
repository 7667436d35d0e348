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
	bool is_nullable;     /* of a LEFT join's right side, or computed */
	bool is_field;	      /* of an event, and no column of a select */
};

struct scope {
	VEC(struct seen) columns;
	const char *time; /* the time of the row; NULL: it has none */
	u32 n_rows_max;
	bool is_stream; /* tracepoint:test:event and nothing else: see rows.has_ties */
};

/* WITH name AS (...): its columns by their bare names. */
struct cte {
	const char *name;
	struct scope scope;
	bool is_union; /* of aggregates */
	u32 n_reads;
};

struct maker {
	const struct rows *rows;
	struct arena *arena;
	struct rng *rng;
	u32 n_names;
	u32 depth; /* of selects */
	enum window_shape shape;
	bool has_opaque;    /* some item cannot be sorted by */
	bool is_wild;	    /* arithmetic may leave 64 bits: SQLite does not follow */
	bool has_reference; /* nothing in it that SQLite cannot */
	bool may_fault;	    /* else no value is asked for that faults */
	bool spares_faults; /* see struct oracle_query */
	bool has_statistic; /* see struct oracle_query */
	bool is_running;    /* in a nested running sum */
	bool has_alias_use; /* GROUP BY names an item */
	VEC(struct cte) ctes;
	struct phrase *with;	/* their list */
	struct phrase *aliases; /* of the items of the query; any may be gone */
};

/* One of several, each as often as its weight; a maker that cannot gives NULL. */
struct choice {
	u32 weight;
	struct phrase *(*make)(struct maker *m, const char *alias, struct scope *scope);
	bool (*fits)(const struct maker *m); /* NULL: always */
};

/* --- interval.c --- */

struct interval {
	s128 lo, hi;
};

/* Does it lie in 64 signed bits? */
bool interval_fits(s128 lo, s128 hi);
/* Of a op b, '<' and '>' being the shifts; by SQLite's arithmetic, where that fits. */
struct interval interval_infer(char op, struct interval a, struct interval b);

/* --- make_expr.c --- */

enum place; /* grammar.h */

/* What may stand there, at random; depth: how far it may nest. */
struct phrase *make(struct maker *m, const struct scope *scope, enum place place, u32 depth);
struct phrase *make_column(struct maker *m, const struct seen *seen);
/* A random column of that class; for arithmetic, or also for what is only compared.  NULL: none. */
const struct seen *pick_column(struct maker *m, const struct scope *scope, enum phrase_class class,
			       bool is_compare);
/* A literal, in range. */
struct phrase *make_literal(struct maker *m, s128 value);

/* $0 of the form is arg; it is there in so many percent, and shrinking tries without. */
struct phrase *make_optional(struct maker *m, const char *form, struct phrase *arg, u32 percent);
struct phrase *make_named(struct maker *m, struct phrase *e, const char *name);

bool phrase_fits(struct maker *m, struct phrase *p);

/* --- make_from.c --- */

struct phrase *choose(struct maker *m, const struct choice *choices, u32 n, const char *alias,
		      struct scope *scope);
/* A member of FROM; the scope gets its columns. */
struct phrase *make_from(struct maker *m, struct scope *scope);
struct phrase *make_stream(struct maker *m, bool is_other, const char *alias, struct scope *scope);
/* What streams as a member of FROM see: all that there is, or a join. */
struct phrase *make_where(struct maker *m, const struct scope *scope, u32 percent);
const char *make_name(struct maker *m, const char *prefix);

/* --- make_nested.c --- */

/* A select in parentheses: a set, or one number. */
struct phrase *make_set(struct maker *m, const struct scope *outer);
struct phrase *make_scalar(struct maker *m, const struct scope *outer);
/* A condition with a select in it. */
struct phrase *make_nested_condition(struct maker *m, const struct scope *scope);
/* A select whose columns have names, which the scope gets: groups, unions of groups, ... */
struct phrase *make_columns(struct maker *m, struct scope *scope);
/* The same as a member of FROM, nested or of WITH. */
struct phrase *make_derived(struct maker *m, const char *alias, struct scope *scope);
struct phrase *make_cte(struct maker *m, const char *alias, struct scope *scope);

#endif
