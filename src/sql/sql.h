/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * SQL text -> abstract syntax tree.  The parser knows the grammar of the whole
 * language and nothing of streams, columns or functions: names stay names.
 */
#ifndef EBQL_SQL_SQL_H
#define EBQL_SQL_SQL_H

#include "base/arena.h"
#include "base/diag.h"
#include "base/vec.h"

enum ast_kind {
	AST_NULL,
	AST_BOOL,     /* integer: 0 or 1 */
	AST_INTEGER,  /* integer; sizes such as 4KiB are integers too */
	AST_REAL,     /* real; text: as written */
	AST_TEXT,     /* text */
	AST_DURATION, /* integer: ns (5ns 20us 1.5ms 2s 1m 1h, INTERVAL '1' SECOND) */
	AST_NAME,     /* parts[0..n_parts): a, s.a, rq.q.disk */
	AST_STAR,     /* the * of SELECT * ; n_parts == 1 for s.* */
	AST_UNARY,    /* op, args[0] */
	AST_BINARY,   /* op, args[0], args[1] */
	AST_BETWEEN,  /* args[0] BETWEEN args[1] AND args[2]; negated */
	AST_IN,	      /* args[0] IN (args[1..]); negated */
	AST_LIKE,     /* args[0] LIKE args[1]; text: "LIKE" or "GLOB"; negated */
	AST_IS_NULL,  /* args[0] IS [NOT] NULL; negated */
	AST_CASE,     /* args[0] operand or NULL, then WHEN, THEN pairs; otherwise: ELSE or NULL */
	AST_CAST,     /* args[0], text: the type's name */
	AST_CALL, /* text: function name as written; args; star, distinct, filter, order_by, over */
	AST_ROW,  /* (args[0], args[1], ...): beside = and IN */
	AST_INDEX,     /* args[0] [ args[1] ] */
	AST_MEMBER,    /* args[0] . parts[0] . parts[1] ...: of what is no plain name */
	AST_SUBQUERY,  /* select */
	AST_EXISTS,    /* select; negated */
	AST_IN_SELECT, /* args[0] IN (select); negated */
};

enum ast_op {
	OP_ADD,
	OP_SUB,
	OP_MUL,
	OP_DIV,
	OP_MOD,
	OP_BIT_AND,
	OP_BIT_OR,
	OP_SHIFT_LEFT,
	OP_SHIFT_RIGHT,
	OP_CONCAT,
	OP_EQ,
	OP_NE,
	OP_LT,
	OP_LE,
	OP_GT,
	OP_GE,
	OP_IS, /* IS: equality that is never NULL */
	OP_IS_NOT,
	OP_AND,
	OP_OR,
	/* unary */
	OP_NOT,
	OP_NEG,
	OP_PLUS,
	OP_BIT_NOT,
	OP_N
};

/* "+", "AND", ... as written in SQL. */
extern const char *const ast_op_names[OP_N];

struct ast_select;

struct ast_order {
	struct ast *expr;
	bool is_descending;
	s8 nulls; /* -1 NULLS FIRST, 1 NULLS LAST, 0 not said */
};

struct ast {
	enum ast_kind kind;
	enum ast_op op;
	struct span span;
	bool negated, star, distinct;
	bool is_parameter; /* a literal that is the value of one */
	u64 integer;
	double real;
	const char *
		text; /* NUL-terminated; text_bytes long (literals hold no NUL); REAL: its digits */
	u32 text_bytes;
	const char **parts;
	struct span *part_spans;
	u32 n_parts;
	struct ast **args;
	u32 n_args;
	struct ast *filter;    /* FILTER (WHERE ...) */
	struct ast *otherwise; /* CASE ... ELSE */
	struct ast_select *select;
	/* f(...) WITHIN GROUP (ORDER BY ...) and f(...) OVER (PARTITION BY ... ORDER BY ...) */
	struct ast_order *order_by;
	u32 n_order_by;
	struct ast **partition_by;
	u32 n_partition_by;
	bool is_over, is_within_group;
	const char *frame; /* OVER: ROWS, RANGE or GROUPS and what follows, checked; or NULL */
};

enum ast_window_kind {
	AST_WINDOW_NONE,
	AST_WINDOW_TUMBLING, /* size */
	AST_WINDOW_HOPPING,  /* size, advance */
	AST_WINDOW_COUNT,    /* size, advance: in events */
	AST_WINDOW_SESSION,  /* size: the gap */
};

/* Whose events a COUNT window counts. */
enum ast_count_scope {
	AST_COUNT_ALL,	     /* the stream's */
	AST_COUNT_PER_CPU,   /* each CPU's by itself */
	AST_COUNT_PER_GROUP, /* each group's by itself */
};

struct ast_window {
	enum ast_window_kind kind;
	enum ast_count_scope scope; /* of COUNT */
	struct span span;
	struct span size_span, advance_span;
	u64 size, advance; /* ns, or events for COUNT; WINDOW(time, a, b) is already in ns */
	bool overflow;	   /* a size that does not fit u64 ns */
};

/* One item of FROM before binding. */
enum ast_source_kind {
	AST_SOURCE_STREAM, /* path: the parts between : or / ; also a plain name (a view, a CTE) */
	AST_SOURCE_FILE,   /* path[0]: 'FILE.csv' */
	AST_SOURCE_SELECT, /* (select) */
	AST_SOURCE_JOIN,   /* left, right, join, on or columns (USING), within_ns */
};

enum ast_join_kind {
	AST_JOIN_INNER,
	AST_JOIN_LEFT,
	AST_JOIN_RIGHT,
	AST_JOIN_FULL,
	AST_JOIN_CROSS,
	AST_JOIN_PAIR,
	AST_JOIN_ASOF,
};

/* A column by its name alone: of USING, or behind the name of a select. */
struct ast_column {
	const char *name;
	struct span span;
};

typedef VEC(struct ast_column) ast_columns;

struct ast_source {
	enum ast_source_kind kind;
	enum ast_join_kind join;
	struct span span;
	const char **path; /* "tracepoint", "syscalls", "sys_enter_pread64" */
	u32 n_path;
	const char *written; /* the stream exactly as written: tracepoint:a:b */
	/* As a table's name, ref.users or users; NULL: it is none, and no database is named. */
	const char *database, *table;
	const char *alias; /* NULL when there is none */
	struct span alias_span;
	struct ast_select *select;
	struct ast_source *left, *right;
	struct ast *on;
	ast_columns columns; /* JOIN: USING (...); else (select) AS alias (a, b) */
	u64 within_ns;	     /* 0: no WITHIN */
	bool is_left;	     /* LEFT PAIR JOIN, LEFT ASOF JOIN */
	bool is_natural;
};

struct ast_item {
	struct ast *expr;
	const char *alias; /* NULL when there is none */
	struct span alias_span;
};

struct ast_option {
	const char *name;
	struct ast *value; /* a literal, or AST_NAME for a bare word (auto, off) */
	struct span span;
};

struct ast_cte {
	const char *name;
	ast_columns columns; /* name (a, b) AS (...) */
	struct ast_select *select;
	struct span span;
};

enum ast_compound_op { AST_UNION_ALL, AST_UNION, AST_EXCEPT, AST_INTERSECT };

/* WINDOW name AS (...), as an OVER: where OVER name stands it is written out in the tree. */
struct ast_named_window {
	const char *name;
	const struct ast *over;
};

struct ast_compound {
	enum ast_compound_op op;
	struct ast_select *select;
};

/* SELECT; with n_compound > 0 the selects that UNION ALL and the like append to it. */
struct ast_select {
	struct span span;
	bool is_distinct;
	bool is_values; /* VALUES (1, 2), ...: each row is a select, joined by UNION ALL */
	VEC(struct ast_cte) ctes;
	VEC(struct ast_item) items;
	struct ast_source *from; /* NULL: no FROM */
	struct ast *where;
	VEC(struct ast *) group_by;
	struct ast_window window;
	VEC(struct ast_named_window) windows;
	struct ast *having;
	VEC(struct ast_order) order_by;
	struct ast *limit, *offset;
	VEC(struct ast_option) options; /* WITH (max_groups = 10) behind the query */
	VEC(struct ast_compound) compound;
};

enum ast_statement_kind {
	AST_STATEMENT_SELECT,
	AST_STATEMENT_EXPLAIN, /* select; text: NULL or LOGICAL, PHYSICAL, ..., upper case; analyze
				*/
	AST_STATEMENT_SHOW_STREAMS, /* text: the LIKE pattern or NULL */
	AST_STATEMENT_SHOW_VIEWS,   /* text: the LIKE pattern or NULL */
	AST_STATEMENT_DESCRIBE,	    /* source */
	AST_STATEMENT_CREATE_VIEW,  /* text: name; select; replace or if_exists: IF NOT EXISTS */
	AST_STATEMENT_DROP_VIEW,    /* text: name; if_exists */
	AST_STATEMENT_SET,	    /* option */
	AST_STATEMENT_ATTACH,	    /* text: the path; option.name: AS name, or NULL */
};

struct ast_statement {
	enum ast_statement_kind kind;
	struct span span;
	struct ast_select *select;
	struct ast_source *source;
	struct ast_option option;
	const char *text;
	bool analyze, replace;
	bool if_exists; /* DROP VIEW IF EXISTS, CREATE VIEW IF NOT EXISTS */
};

struct ast_script {
	VEC(struct ast_statement) statements;
};

/*
 * Parses one or more statements separated by ";".  Errors go to diags; the
 * script is complete only when diags_failed() is false.  Any bytes may come:
 * 10 MB of garbage and nesting 10,000 deep end in a diagnostic.
 */
struct ast_script *sql_parse(struct arena *arena, struct diags *diags);

/* The value of :name, which stands in the tree as if it were written there. */
struct sql_parameter {
	const char *name;
	enum ast_kind kind; /* AST_NULL, BOOL, INTEGER, REAL, TEXT, DURATION; NAME: a stream */
	bool is_negative;   /* of INTEGER, REAL and DURATION, whose values are not */
	bool is_used;	    /* set where the text has it */
	u64 integer;
	double real;
	const char *text;
	u32 text_bytes;
};

/* What stands on a command line for :name; NULL: for the next one in the order declared, or $1. */
struct sql_word {
	const char *name, *text;
};

struct sql_parameters {
	VEC(struct sql_parameter) list;
	VEC(struct sql_word) words;
	/* What -p names: the value of a declared :pid that has no other.  NULL: nothing. */
	const char *pid;
	bool is_pid_used, has_pid; /* a declared :pid takes it; has a value of its own */
	const char *declared;	   /* ":interval, :count": what the text declares, or "" */
	bool is_shared;		   /* with other texts: this one need not use them all */
	/* One without a value is no error, but the script is of no use then. */
	bool is_open;
};

/* A parameter that a script's head declares, and the value that it has if none is given. */
struct sql_declared {
	struct sql_parameter value; /* where written is not NULL; its name always */
	enum ast_kind kind;
	const char *type, *written, *meaning;
	struct span span;
};

/* What a script says of itself: the lines of its first comment, and its parameters. */
struct sql_head {
	VEC(const char *) lines;
	VEC(struct sql_declared) list;
};

/* Reads the head of the diags' text.  false after a diagnostic. */
bool sql_declared(struct arena *arena, struct diags *diags, struct sql_head *ret_head);
/* Words and declared values -> all->list.  false after a diagnostic. */
bool sql_bind(struct arena *arena, struct diags *diags, const struct sql_head *head,
	      struct sql_parameters *all);

struct ast_script *sql_parse_bound(struct arena *arena, struct sql_parameters *parameters,
				   struct diags *diags);

/* A frame of RANGE?  NULL is none. */
bool sql_is_range(const char *frame);

/*
 * SQL text that parses to the same tree again.  Explicit (explain --stage ast): each operand with
 * an operator of its own stands in parentheses, and each clause in a line.
 */
void sql_print_script(const struct ast_script *script, bool is_explicit, struct buf *out);
void sql_print_expr(const struct ast *expr, struct buf *out);
/* Sets every span in the tree to this one: what the user did not write has no place of its own. */
void sql_respan(struct ast_select *select, struct span span);

/* --- Text that is being typed (scan.c) --- */

/*
 * Bytes of the first statement, its ";" included; 0: it has not ended, or a quote or comment
 * has not.  Blank: there is nothing but blanks and comments before the ";".
 */
size_t sql_statement_bytes(const char *text, size_t n, bool *ret_is_blank);
/* Where a command of the shell begins behind it, by a backslash outside of quotes; else n. */
size_t sql_command_at(const char *text, size_t n);
enum sql_place {
	SQL_PLACE_NONE,	      /* in a quote, a comment, a number: nothing to complete */
	SQL_PLACE_START,      /* a statement begins */
	SQL_PLACE_SOURCE,     /* behind FROM, JOIN, DESCRIBE */
	SQL_PLACE_MEMBER,     /* behind a dot */
	SQL_PLACE_OPTION,     /* behind SET */
	SQL_PLACE_EXPRESSION, /* anywhere else */
};
/* What the word that ends the text may become; it is text[*ret_word_start, n). */
enum sql_place sql_place_at_end(const char *text, size_t n, size_t *ret_word_start);
/* Calls visit for each stream, view and 'FILE' that the first statement names, as written. */
void sql_each_source(const char *text, size_t n,
		     void (*visit)(void *context, const char *source, size_t n), void *context);
/* "10s", "1.5ms", a bare number of seconds; false when it is none, or no whole number of ns. */
bool sql_duration(const char *text, u64 *ret_ns);
/* CAST of a text: "1.5ms", "-2 seconds", "12" of ns; false when it is none. */
bool sql_cast_duration(const char *text, size_t bytes, s64 *ret_ns);
/* About nine years: an end that the clocks can still tell. */
#define DURATION_MAX_NS 300000000000000000ull
/* Keyword i in upper case; NULL behind the last. */
const char *sql_keyword(u32 i);

#endif
