/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Internal to plan/: the scope in which names are bound, shared by the files of
 * the binder.
 */
#ifndef EBQL_PLAN_BIND_H
#define EBQL_PLAN_BIND_H

#include "plan/plan.h"

struct scope {
	struct arena *arena;
	struct diags *diags;
	struct catalog *catalog;
	struct settings *settings;
	const struct ast_select *select;
	struct stream_list *streams;
	const char *alias;
	bool is_windowed;
	const char *no_aggregates_in; /* "WHERE", "GROUP BY", ...: aggregates are errors here */
	bool is_inside_aggregate;
	bool is_inside_alias; /* an alias stands for an expression of columns, not of aliases */
	VEC(struct item) keys;
	VEC(struct aggregate) aggregates;
};

/* Every bind_ function returns NULL after a diagnostic. */
struct expr *bind_expr(struct scope *scope, const struct ast *ast);
struct expr *bind_name(struct scope *scope, const struct ast *ast);
struct expr *bind_call(struct scope *scope, const struct ast *ast);
/* A condition: BOOL or a number, which is true when it is not 0. */
struct expr *bind_condition(struct scope *scope, const struct ast *ast, const char *clause);
struct expr *bind_field(struct scope *scope, const char *name, struct span span);
struct expr *bind_system(struct scope *scope, enum system_column column, struct span span);
/* op over arguments, typed; checks that the types fit together. */
struct expr *bind_op(struct scope *scope, enum ast_op op, struct span span, struct expr *a,
		     struct expr *b);

/* Does the expression contain an aggregate call? */
bool bind_has_aggregate(const struct ast *ast);
/* Row expression -> expression over keys and aggregates; a column that is no key is an error. */
struct expr *bind_lift(struct scope *scope, struct expr *expr);

#endif
