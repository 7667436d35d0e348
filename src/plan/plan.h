/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * AST -> logical plan: names bound to columns, every expression typed, with the
 * range its values can take.  A plan is a tree of operators, a leaf first:
 * scan -> filter -> aggregate -> project -> sort -> limit.  Immutable: a rewrite
 * returns new nodes.
 */
#ifndef EBQL_PLAN_PLAN_H
#define EBQL_PLAN_PLAN_H

#include "base/arena.h"
#include "base/diag.h"
#include "base/vec.h"
#include "cat/cat.h"
#include "sql/sql.h"
#include "type/type.h"

enum expr_kind {
	EXPR_NULL,	/* the constant NULL */
	EXPR_INTEGER,	/* integer: constant of any word type */
	EXPR_REAL,	/* real */
	EXPR_TEXT,	/* text, text_bytes */
	EXPR_FIELD,	/* field `index` of the scanned stream(s); `name` finds it in each */
	EXPR_SYSTEM,	/* system column `index` (enum system_column) */
	EXPR_MEMBER,	/* args[0]: pointer or struct address; member; is NULL on a failed read */
	EXPR_OP,	/* op over args[0..1]; AND and OR are three-valued */
	EXPR_IN,	/* args[0] IN (constants args[1..]) */
	EXPR_LIKE,	/* args[0] LIKE or GLOB the constant pattern `text` */
	EXPR_IS_NULL,	/* args[0] IS NULL */
	EXPR_CASE,	/* WHEN args[0] THEN args[1] ... ELSE args[n - 1]; n is odd */
	EXPR_CALL,	/* function `name` that only the user part can run (SQLite's) */
	EXPR_KEY,	/* behind an aggregate: group key `index` */
	EXPR_AGGREGATE, /* behind an aggregate: aggregate `index` */
	EXPR_WINDOW_START, /* behind an aggregate with a window */
	EXPR_WINDOW_END,
};

struct expr {
	enum expr_kind kind;
	enum ast_op op;
	struct type type;
	struct span span;
	bool nullable;
	bool is_glob;	   /* EXPR_LIKE: GLOB, which minds the case */
	bool may_overflow; /* the result may leave 64 bits: then it is NULL and counted as a fault
			    */
	bool is_user_only; /* needs REAL or a function that the kernel part has not */
	s128 lo, hi;	   /* every value that is not NULL lies in [lo, hi]; word types only */
	s128 integer;
	double real;
	const char *text;
	u32 text_bytes;
	const char *name;
	u32 index;
	u32 n_nodes; /* of the tree below and with it, shared parts counted each time */
	struct expr **args;
	u32 n_args;
	struct catalog_member member;
};

enum aggregate_kind {
	AGGREGATE_COUNT,
	AGGREGATE_SUM,
	AGGREGATE_MIN,
	AGGREGATE_MAX,
	AGGREGATE_AVG,
	AGGREGATE_N
};

struct aggregate {
	enum aggregate_kind kind;
	struct expr *arg;    /* NULL: count(*) */
	struct expr *filter; /* NULL: none */
	struct type type;    /* of the result */
	struct span span;
};

enum window_kind { WINDOW_NONE, WINDOW_TUMBLING };

struct item {
	const char *name;
	struct expr *expr;
};

struct sort_key {
	struct expr *expr;
	bool is_descending;
	s8 nulls;
};

enum plan_kind {
	PLAN_SCAN,
	PLAN_FILTER, /* below an aggregate: WHERE; above: HAVING */
	PLAN_AGGREGATE,
	PLAN_PROJECT,
	PLAN_SORT,
	PLAN_LIMIT,
	PLAN_N
};

struct plan {
	enum plan_kind kind;
	struct plan *input; /* NULL: a scan */
	struct span span;
	/* scan */
	struct stream_list *streams;
	const char *alias;
	/* filter: all of them must be true */
	struct expr **conjuncts;
	u32 n_conjuncts;
	/* aggregate */
	struct item *keys;
	u32 n_keys;
	struct aggregate *aggregates;
	u32 n_aggregates;
	enum window_kind window;
	u64 window_ns;
	/* project */
	struct item *items;
	u32 n_items;
	/* sort */
	struct sort_key *sort_keys;
	u32 n_sort_keys;
	/* limit */
	s64 limit, offset; /* limit -1: none */
};

/* What SET, WITH (...) and the command line's options say; defaults by settings_init(). */
enum setting_access { ACCESS_AUTO, ACCESS_ONLY_TRACEPOINT, ACCESS_ONLY_RAW };
enum setting_state { STATE_AUTO, STATE_ONLY_TABLE, STATE_ONLY_KERNEL_MAP };

struct settings {
	enum setting_access access_path;
	enum setting_state state;
	u64 max_groups;	   /* 16,384 */
	u64 ring_bytes;	   /* 2 MiB */
	u64 survey_ns;	   /* how long to watch rates before choosing; 0: no survey */
	bool on_loss_fail; /* on_loss = 'fail' */
	bool pushdown;
	const char *rules_off; /* comma-separated names of optimiser rules; "all" */
	s32 target_pid;	       /* -1: none named */
	bool is_target_used;   /* set by plan_bind(): the query calls target_pid() */
};

void settings_init(struct settings *settings);
/* SET name = value; an unknown name or value is a diagnostic. */
void settings_set(struct settings *settings, const struct ast_option *option, struct diags *diags);

/* NULL when diags got an error. */
struct plan *plan_bind(const struct ast_select *select, struct catalog *catalog,
		       struct settings *settings, struct arena *arena, struct diags *diags);

void plan_print(const struct plan *plan, struct buf *out);
/* SQL-like text; EXPR_KEY and EXPR_AGGREGATE print as k0, a0 when names is NULL. */
void expr_print(const struct expr *expr, struct buf *out);

/* Builders and questions that rules and the binder share. */
struct expr *expr_new(struct arena *arena, enum expr_kind kind, struct span span);
struct expr *expr_integer(struct arena *arena, struct span span, struct type type, s128 value);
/* Types and ranges an operator's result from its arguments; false: no kernel form (overflow of
 * constants, text arithmetic).  Used by the binder and by constant folding. */
void expr_infer(struct expr *expr);
/* The comparison with its sides exchanged: < for >. */
enum ast_op expr_op_mirrored(enum ast_op op);
bool expr_equal(const struct expr *a, const struct expr *b);
bool expr_is_constant(const struct expr *expr);
/* Calls visit on expr and everything below it. */
void expr_each(struct expr *expr, void (*visit)(void *context, struct expr *expr), void *context);
/* The first operator of that kind on the way down, or NULL. */
const struct plan *plan_find(const struct plan *plan, enum plan_kind kind);

struct aggregate_info {
	const char *name;
	const char *meaning;
};
extern const struct aggregate_info aggregate_infos[AGGREGATE_N];

#endif
