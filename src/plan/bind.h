/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Internal to plan/: the scope in which names are bound, shared by the files of
 * the binder.
 */
#ifndef EBQL_PLAN_BIND_H
#define EBQL_PLAN_BIND_H

#include "plan/plan.h"

/* Streams that one query may read, those within views counted each time they are used. */
#define SOURCES_MAX 64u

typedef VEC(struct item) item_vec;

/* One member of FROM: a stream with its fields, or something derived with named columns. */
struct from_member {
	const char *name;		   /* what may stand before a column of it; NULL: nothing */
	const char *written;		   /* how messages call it */
	const struct stream_list *streams; /* NULL: derived */
	struct plan *tree;
	const struct plan *leaf; /* of FROM's joins, whose rows it is of; NULL: FROM has one */
	u32 source;		 /* with streams or has_system: whose event */
	bool has_system;	 /* the system columns of that event are columns of it */
	bool is_nullable;	 /* right of a LEFT join */
	bool is_real;		 /* its events are put on CLOCK_REALTIME */
	bool is_call;		 /* its columns are arguments of a system call */
	item_vec columns;
};

/*
 * A column that a join's USING or NATURAL made one of: where both of its sides, members
 * [first, middle) and [middle, end), are visible, the bare name is one column.
 */
struct merged_column {
	const char *name;
	u32 first, middle, end;
	bool is_either; /* RIGHT, FULL: of the side that has it */
};

/* WITH name AS (select): an entry sees those behind `outer`. */
struct cte_list {
	const struct ast_cte *cte;
	const struct cte_list *outer;
};

/* A select of WITH or of a view that is not opened: bound once, however often it is read. */
struct bound_select {
	const struct ast_select *select;
	const struct cte_list *ctes;
	struct plan *plan;
};

/* What all selects of one query share. */
struct bind_shared {
	const struct plan_context *context;
	struct query_window window;
	/* Warnings that are given once: of a running sum, and of a sum of texts. */
	bool is_running_told, is_text_told;
	VEC(struct bound_select) selects;
	u32 n_relations, n_aggregates, n_overs, n_subqueries;
	u32 depth;		  /* of nested selects */
	VEC(struct plan *) scans; /* by source */
	VEC(struct plan *) joins;
	u32 n_runnings;
};

/* A sub-query as it is written, and where: which members of FROM are visible. */
struct bound_text {
	const char *text;
	u32 first_member, n_members, number;
};

struct scope {
	struct arena *arena;
	struct diags *diags;
	struct catalog *catalog;
	struct settings *settings;
	struct bind_shared *shared;
	const struct cte_list *ctes;
	u32 n_views;	 /* the views that may be named: the first n of the list */
	bool is_shipped; /* the select is not of the query's text: spans are of its use */
	const struct ast_select *select;
	struct scope *outer; /* of a sub-query: whose columns it may name, too */
	struct plan *from;   /* FROM and WHERE, once bound */
	VEC(struct from_member) members;
	u32 first_member; /* those before it are not visible: the ON of a join on the right */
	VEC(struct merged_column) merged;
	const char *no_aggregates_in; /* "WHERE", "GROUP BY", ...: aggregates are errors here */
	const char *no_overs_in;      /* the same of window functions: HAVING */
	bool is_inside_aggregate;
	const struct ast
		*item;	      /* bound now: where it is one of SELECT, its name is unknown within */
	bool is_inside_alias; /* an alias stands for an expression of columns, not of aliases */
	bool takes_stack;     /* the expression bound next may be a stack as well */
	bool is_top_of_item;  /* the expression bound next is a whole item of SELECT */
	bool has_unnest;
	bool wants_text; /* the name bound next is compared with a text */
	bool is_between; /* the lower bound of BETWEEN is compared, for which 0 is as good as any */
	VEC(struct item) keys;
	VEC(struct aggregate) aggregates;
	u32 number; /* of the aggregates; taken with the first key or aggregate */
	bool has_number;
	VEC(struct over) overs;
	u32 over_number;
	struct aggregate *over; /* where the aggregate bound next, which has OVER, goes */
	bool is_inside_over;
	bool is_grouped;       /* the select has groups, by its own words */
	bool is_where_of_user; /* the kernel cannot test WHERE, or not by its rows alone */
	bool has_event_items; /* the item bound now is of each event: OVER is a running sum there */
	VEC(struct plan *) runnings; /* of the items; their input is set when all are known */
	VEC(struct bound_text) subqueries;
};

/* A bound select without what stands behind UNION. */
struct arm {
	struct span span;
	struct plan *chain;
	struct plan *tree; /* is_open: its rows, and the columns that they have */
	item_vec columns;
	bool is_open;
};

/* Every bind_ function returns NULL, or false, after a diagnostic. */

/* bind_scope.c */
/* A scope as that of `outer`, with nothing in it yet. */
struct scope bind_scope(const struct scope *outer, const struct ast_select *select);
void bind_push_column(struct scope *scope, const char *name, u32 relation, const struct expr *of,
		      struct span span, item_vec *columns);
/* Reports "WHAT not available yet". */
void *bind_refuse(struct scope *scope, struct span span, const char *what);
/* The stream of the field that an expression is, or NULL. */
const struct stream *bind_stream_of(struct scope *scope, const struct expr *e);
/* Why a column of a file that holds numbers is a text; "": it is none, or no such column. */
const char *bind_note(struct scope *scope, const struct expr *e);
/* Is that column of the member the right side's of two that are one by USING? */
bool bind_is_merged(const struct scope *scope, const struct from_member *member, const char *name);
/* The one that it is of, where either side may have it; NULL: it is of its member alone. */
const struct merged_column *bind_either_of(const struct scope *scope,
					   const struct from_member *member, const char *name);
struct plan *bind_scan(struct scope *scope, struct stream_list *streams, const char *alias,
		       struct span span);
struct plan *bind_join_new(struct scope *scope, enum plan_join_kind join, struct plan *left,
			   struct plan *right, struct span span);
/* The number of the select's aggregate. */
u32 bind_number(struct scope *scope);

/* function.c */
const struct sql_function *function_find(const char *name, bool is_window);
/* Does it name a kernel's number, as a function of that?  Then it is grouped by the number. */
bool function_is_naming(const struct expr *e);
void function_suggest(struct suggest *suggest, bool is_window);
/* The letter of argument i in `takes`. */
char function_takes(const struct sql_function *f, u32 i);
extern const struct sql_function function_real_time;
/* bind_time.c */
/* The time at which rows of the tree appear. */
struct expr *bind_time_of(struct scope *scope, const struct plan *tree, struct span span);
/* Files without times are tables. */
bool bind_has_times(struct scope *scope, const struct plan *rows);
/* Is this the time at which rows of the tree appear? */
bool bind_is_time_of(struct arena *arena, const struct expr *e, const struct plan *tree);
/*
 * FROM is a select of which each row comes of one event, and which is not opened; may_be_sorted:
 * also by way of ORDER BY and LIMIT, behind which it is no stream.  And the time of that event,
 * which becomes a column that only this reads.
 */
bool bind_is_of_events(struct scope *scope, const struct plan *from, bool may_be_sorted);
struct expr *bind_time_of_select(struct scope *scope, const struct plan *from);
extern const char bind_event_time[];
/* Makes all times of a tree of rows real, if it reads streams of the kernel and files. */
bool bind_one_clock(struct plan *tree);
/* The same of columns of such a tree. */
void bind_real_items(const item_vec *items);
/* What a date function reads, or an operator's other side asks for: e with real times. */
struct expr *bind_real_time(struct arena *arena, struct expr *e);
/* Brings the instants among values that are compared, subtracted or chosen from onto one clock. */
void bind_meet_clocks(struct arena *arena, struct expr **exprs, u32 n);

/* bind_op.c */
/* op over arguments, typed; checks that the types fit together. */
/* Warns of what is legal and most often not meant; bind_op() does. */
void bind_warn_unlike(struct scope *scope, enum ast_op op, const struct expr *a,
		      const struct expr *b);
/* The same of x LIKE 'a%' and the like, where x is the name of a process's address. */
void bind_warn_process(struct scope *scope, const struct expr *x);
struct expr *bind_op(struct scope *scope, enum ast_op op, struct span span, struct expr *a,
		     struct expr *b);
/* Are both texts, or both numbers?  `what` is how a message calls what they are arguments of. */
bool bind_fits(struct scope *scope, const char *what, struct span span, const struct expr *a,
	       const struct expr *b);
/* Says that they are not. */
void *bind_mismatch(struct scope *scope, const char *what, struct span span, const struct expr *a,
		    const struct expr *b);
bool bind_check_condition(struct scope *scope, const struct expr *e, const char *clause);
/* Types the CASE whose arguments are set; is_iif: as messages call it. */
struct expr *bind_case_done(struct scope *scope, struct expr *e, bool is_iif);
/* iif(when, then, otherwise); NULL where one of them is */
struct expr *bind_case_of(struct scope *scope, struct span span, struct expr *when,
			  struct expr *then, struct expr *otherwise);

/* bind_name.c */
/* What a name stands for, be it a struct or an array. */
struct expr *bind_place(struct scope *scope, const struct ast *ast);
/* Without a diagnostic; NULL where there is none. */
struct expr *bind_column(struct scope *scope, const struct from_member *member, const char *name,
			 struct span span);
/* The member of FROM that a scan is: the fields that all its streams have are its columns. */
struct from_member bind_stream_member(struct scope *scope, struct plan *scan);
/* A name with nothing before it; NULL also without a diagnostic. */
struct expr *bind_bare(struct scope *scope, const char *name, struct span span);
/* The column of that name of members [first, end) alone, or NULL after a diagnostic. */
struct expr *bind_among(struct scope *scope, u32 first, u32 end, const struct ast_column *column);
/* A column of a file without any value, or what is computed of such: it can be of any type yet. */
bool bind_is_empty(struct scope *scope, const struct expr *e);
struct expr *bind_column_at(struct scope *scope, const struct from_member *member, u32 i,
			    struct span span);
/* Does a name of one part mean a column, whichever? */
bool bind_is_column(struct scope *scope, const char *name);
/* Which bound of the window a column so called is. */
enum window_bound bind_bound_of(const char *name);
/* NULL after a diagnostic. */
struct expr *bind_window_bound(struct scope *scope, enum window_bound bound, struct span span);
/* What the item with that alias is, or NULL. */
const struct ast *bind_find_alias(struct scope *scope, const char *name);

/* bind_system.c */
struct expr *bind_column_expr(struct scope *scope, enum expr_kind kind, const char *name, u32 index,
			      struct type type, struct span span);
/* Without a diagnostic; NULL: the member is of no stream of the kernel. */
struct expr *bind_system(struct scope *scope, const struct from_member *member,
			 enum system_column column, struct span span);
/* The number of the system column of that name, or -1. */
int bind_system_find(const char *name);
/* The event that completes the row; *ret_n: several, where rows of several streams are joined, but
 * for those whose column of that name is merged with another's.  NULL: any name. */
const struct from_member *bind_system_member(struct scope *scope, const char *name, u32 *ret_n);
/* The process' number in the PID namespace with this inode; function: as messages call it. */
struct expr *bind_tree(struct scope *scope, s32 parent, struct span span);
struct expr *bind_pid_in(struct scope *scope, const char *function, u64 ino, struct span span);
/* kstack(n), ustack(n) */
struct expr *bind_stack(struct scope *scope, const struct ast *ast, enum system_column column);

/* Of the one stream's event; function: as messages call it. */
struct expr *bind_of_event(struct scope *scope, const char *function, enum system_column column,
			   struct span span);

/* bind_member.c: memory that is read where the event is: a.b, a[i], str(p) and their like */
/* parts[from], ... of the tree's node behind base. */
struct expr *bind_members(struct scope *scope, struct expr *base, const struct ast *ast, u32 from);
/* The same of names that end with a NULL. */
struct expr *bind_member_chain(struct scope *scope, struct expr *base, struct span span,
			       const char *const *names);
/* index: NULL where there is none */
struct expr *bind_read_new(struct scope *scope, enum read_kind read, struct span span,
			   struct expr *base, struct expr *index);
/* The expression, or NULL after a diagnostic: no program has all of it where the event is. */
struct expr *bind_of_one_event(struct scope *scope, struct expr *e);
/* How many bytes to read, which the query says; 0 after a diagnostic. */
u32 bind_bytes(struct scope *scope, const struct ast *call, const struct ast *ast, u32 least,
	       u32 most);
/* The struct whose members `.` can walk to from here, as a BTF id; 0: none. */
u32 bind_struct_behind(struct scope *scope, const struct expr *e);
/* Of the value, struct or array that an expression is; false: nothing more than its type. */
bool bind_facts(struct scope *scope, const struct expr *e, struct catalog_member *ret_facts);
/* So many bytes from there on, as an unsigned number; the place is of one event of the kernel. */
struct expr *bind_word_at(struct scope *scope, struct expr *place, u32 at, u32 bytes);
/* No array, struct or raw bytes: what SELECT * shows, and what can be computed with. */
bool bind_is_value(struct scope *scope, const struct expr *e);
/* The expression, or NULL after a diagnostic: it is none. */
struct expr *bind_check_value(struct scope *scope, struct expr *e, const struct ast *ast);
struct expr *bind_element(struct scope *scope, const struct ast *ast);
/* user(p, 'u32'), where nothing goes on from it, is the number there; what else e is, it stays. */
struct expr *bind_value_there(struct scope *scope, const struct ast *ast, struct expr *e);
struct expr *bind_str(struct scope *scope, const struct ast *ast);
struct expr *bind_strs(struct scope *scope, const struct ast *ast);
struct expr *bind_user(struct scope *scope, const struct ast *ast);
struct expr *bind_container_of(struct scope *scope, const struct ast *ast);
/* CAST(p AS 'struct x *'): is that a pointer's type? */
bool bind_is_pointer_type(const char *type);
struct expr *bind_cast_pointer(struct scope *scope, const struct ast *ast);

/* bind_file.c */
/* file_name(x), file_name(x, n); file_path() */
struct expr *bind_file_name(struct scope *scope, const struct ast *ast);
struct expr *bind_file_path(struct scope *scope, const struct ast *ast);

/* bind_aggregate.c */
/* Is it the call of an aggregate, be it with OVER? */
bool bind_find_aggregate(const struct ast *ast, struct aggregate_name *ret_name);
/* Is there such a call in it, without OVER? */
bool bind_has_aggregate(const struct ast *ast);
/* Does the select aggregate, by its own words?  quantile(h, q) of a histogram, which only its type
 * tells, is no aggregate. */
bool bind_is_aggregated(const struct ast_select *select);
struct expr *bind_aggregate(struct scope *scope, const struct ast *ast,
			    const struct aggregate_name *name);
/* What every aggregate call needs */
bool bind_aggregate_allowed(struct scope *scope, const struct ast *ast);
void *bind_no_distinct(struct scope *scope, const struct ast *ast);
/* Within an aggregate's parentheses. */
struct expr *bind_inside(struct scope *scope, const struct ast *ast, bool is_condition);
bool bind_aggregate_filter(struct scope *scope, const struct ast *ast, struct aggregate *a);
struct expr *bind_aggregate_ref(struct scope *scope, struct aggregate a);

/* bind_statistic.c: histogram() and quantiles */
struct expr *bind_statistic(struct scope *scope, const struct ast *ast,
			    const struct aggregate_name *name);

/* bind_call.c */
struct expr *bind_call(struct scope *scope, const struct ast *ast);
struct expr *bind_unknown_function(struct scope *scope, const struct ast *ast, bool is_window);
/* No DISTINCT and no FILTER; number and types of the arguments. */
bool bind_check_arguments(struct scope *scope, const struct sql_function *f, const struct ast *ast,
			  struct expr *const *args);

/* bind_naming.c */
/* inet(), ntop(), errno_name() and their like; false: it is none of these. */
bool bind_naming(struct scope *scope, const struct ast *ast, struct expr **ret_expr);
/* bind_named.c: names of numbers */
/*
 * f(x) = 'name' or f(x) <> 'name' as a comparison of numbers, so that the kernel can do it; false:
 * it is none, or has no such form.  NULL after a diagnostic: no number has that name.
 */
bool bind_named(struct scope *scope, enum ast_op op, struct span span, struct expr *a,
		struct expr *b, struct expr **ret_expr);
/* x IN (...): the same of a list, args[0] of which is x; false after a diagnostic. */
bool bind_named_list(struct scope *scope, struct expr ***args, u32 *n);
/* Of x LIKE a pattern of flags: false after a diagnostic of one between two | that is none. */
bool bind_named_flags(struct scope *scope, const struct expr *x, const struct expr *pattern);
/* The keys of GROUP BY f(x): the numbers, one group for each. */
void bind_push_keys(struct scope *scope, const char *name, struct expr *e);

/* bind_running.c: what runs along with events */
/* Is it a sum or a count of single events, with a frame that runs along? */
bool bind_may_run(struct scope *scope, const struct ast *call);
/* The same as the kernel has it; NULL without a diagnostic: it is a window function. */
struct expr *bind_running(struct scope *scope, const struct ast *ast, const struct over *o);
/* Without ORDER BY, where SQL means all rows. */
void bind_warn_running(struct scope *scope, const struct ast *call);
/* The running sums that the items of the select named, above its FROM and WHERE. */
struct plan *bind_runnings_new(struct scope *scope, struct plan *input);

/* bind_over.c */
struct expr *bind_over(struct scope *scope, const struct ast *ast);

/* bind_expr.c */
/* a, a.b, a[i], f(x).b: what it is, be it a struct or an array. */
struct expr *bind_path(struct scope *scope, const struct ast *ast);
struct expr *bind_expr(struct scope *scope, const struct ast *ast);
/* All of them, or NULL. */
struct expr **bind_exprs(struct scope *scope, struct ast *const *asts, u32 n);
/* A condition: BOOL or a number, which is true when it is not 0. */
struct expr *bind_condition(struct scope *scope, const struct ast *ast, const char *clause);

/* bind_span.c: syscall:NAME */
bool bind_is_span(const struct ast_source *source);
struct plan *bind_span(struct scope *scope, const struct ast_source *source);
/* What counts as such a call, for DESCRIBE; tests/live/test_calls.c is its table. */
const char *bind_span_comment(const struct ast_source *source, struct arena *arena);

/* Its columns, of the event at its end and the one at its start. */
void bind_span_member(struct scope *scope, const struct ast_source *source,
		      const struct from_member *end, const struct from_member *start,
		      struct plan *join);
/* bind_function.c: function:NAME, and what counts as such a call */
bool bind_is_function(const struct ast_source *source);
/* bind_scope.c: something derived is not known by name everywhere: its columns are listed. */
void bind_hint_columns(struct scope *scope, struct diag *d, const struct from_member *r);
/* true after a diagnostic: there is an argument of that name, but it cannot be had. */
bool bind_is_unreadable(struct scope *scope, const struct from_member *member, const char *name,
			struct span span);
struct plan *bind_function(struct scope *scope, const struct ast_source *source);
const char *bind_function_comment(void);

/* bind_join.c, bind_from.c: members of FROM */
struct plan *bind_join(struct scope *scope, const struct ast_source *source);
/* The columns of a select as a relation's, EXPR_COLUMN of that number. */
void bind_output(struct scope *scope, const struct plan *chain, u32 relation, struct span span,
		 item_vec *ret_columns);
struct plan *bind_derived_new(struct scope *scope, struct plan *chain, const char *name,
			      const char *written, struct span span);
struct plan *bind_from(struct scope *scope, const struct ast_source *source);

/* bind_table.c: tables of attached databases */
/*
 * ref.users or users; false: it means no table.  *ret_plan is NULL after a diagnostic: the database
 * that is named has no such table, or SQLite cannot open it.
 */
bool bind_table(struct scope *scope, const struct ast_source *source, struct plan **ret_plan);
void bind_offer_tables(struct scope *scope, struct suggest *suggest);

/* bind_window.c */
/* The one window of the query, wherever it is said. */
bool bind_find_window(struct scope *scope, const struct ast_select *select);
/* The select says no other one. */
bool bind_take_window(struct scope *scope);

/* bind.c: clauses of a select */
bool bind_items(struct scope *scope, item_vec *items);
/* What * shows of the visible members of FROM, or of the one that is called so. */
bool bind_star(struct scope *scope, const char *only, struct span span, item_vec *items);
bool bind_keys(struct scope *scope);
/* GROUP BY and ORDER BY may name items by number or by alias; else the expression itself. */
const struct ast *bind_resolve_item(struct scope *scope, const struct ast *ast, const char *clause);
/* ORDER BY, LIMIT and OFFSET of the select above it. */
struct plan *bind_add_order(struct scope *scope, struct plan *p, struct sort_key *keys, u32 n);

/* bind_lift.c: what stands above the aggregate, bound of rows -> of keys and aggregates; a column
 * that is no key is an error. */
bool bind_lift(struct scope *scope, struct plan *chain);

/* bind_set.c: with what stands behind UNION and its like */
bool bind_arms(struct scope *scope, struct arm *ret_arm);

/* bind_query.c */
bool bind_arm(struct scope *scope, struct arm *ret_arm);
/* A select of FROM; is_named: of WITH or a view, which is bound once however often it is read. */
struct plan *bind_nested(struct scope *scope, const struct scope *inner,
			 const struct ast_select *select, const char *name, const char *written,
			 bool is_named);
/* (select), EXISTS (select), x IN (select) */
struct expr *bind_subquery(struct scope *scope, const struct ast *ast);

#endif
