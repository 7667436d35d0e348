/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * AST -> logical plan of the whole query: names bound to columns, every expression
 * typed, with the range its values can take.  Immutable: a rewrite returns new nodes.
 *
 * A select is a chain of operators, its FROM first, of which it has those it needs:
 * FROM -> FILTER (where) -> RUNNING ... -> AGGREGATE -> FILTER (having) -> OVER ->
 * PROJECT -> DISTINCT -> SORT -> LIMIT.  Expressions of PROJECT and SORT read what
 * stands below PROJECT.  UNION, EXCEPT, ... are SET over such chains, under SORT and
 * LIMIT.
 *
 * FROM is a tree of RELATE (relational joins) over leaves: rows of streams, which the
 * kernel can make (SCAN, JOIN, UNION, RUNNING and the FILTERs within: views, WITH names and
 * nested selects that only choose and compute are opened into this tree); DERIVED (any
 * other select); TABLE; ONE (no FROM).
 *
 * Scans (EXPR_FIELD, ...), relations (EXPR_COLUMN), aggregates (EXPR_KEY, EXPR_AGGREGATE)
 * and OVERs (EXPR_OVER) are numbered, each kind 0, 1, ... over the whole query.  So an
 * expression of a nested select that reads an outer one's row simply has a number that is
 * not in its own FROM.
 */
#ifndef EBQL_PLAN_PLAN_H
#define EBQL_PLAN_PLAN_H

#include "base/arena.h"
#include "base/diag.h"
#include "base/vec.h"
#include "cat/cat.h"
#include "plan/settings.h"
#include "sql/sql.h"
#include "type/type.h"

enum expr_kind {
	EXPR_NULL,	/* the constant NULL */
	EXPR_INTEGER,	/* integer: constant of any word type */
	EXPR_REAL,	/* real */
	EXPR_TEXT,	/* text, text_bytes */
	EXPR_FIELD,	/* field `index` of the scanned stream(s); `name` finds it in each */
	EXPR_SYSTEM,	/* system column `index` (enum system_column) */
	EXPR_MEMBER,	/* args[0]: pointer or struct address; `read`; is NULL on a failed read */
	EXPR_OP,	/* op over args[0..1]; AND and OR are three-valued */
	EXPR_IN,	/* args[0] IN (constants args[1..]) */
	EXPR_LIKE,	/* args[0] LIKE or GLOB the constant pattern `text` */
	EXPR_IS_NULL,	/* args[0] IS NULL */
	EXPR_CASE,	/* WHEN args[0] THEN args[1] ... ELSE args[n - 1]; n is odd */
	EXPR_CALL,	/* `function` over args; SQLite's, or one that it is taught (func/) */
	EXPR_CAST,	/* args[0] as `type`, by SQLite's rules: INTEGER, REAL or TEXT */
	EXPR_MATCH,	/* args[0] LIKE or GLOB args[1] [ESCAPE args[2]], where EXPR_LIKE cannot */
	EXPR_KEY,	/* behind aggregate number `source`: group key `index` */
	EXPR_AGGREGATE, /* behind aggregate number `source`: aggregate `index` */
	EXPR_OVER,	/* behind PLAN_OVER number `source`: window function `index` */
	EXPR_COLUMN,	/* column `index` of relation `source`: DERIVED, TABLE, SET */
	EXPR_SUBQUERY,	/* the only column of the first row of `plan`; NULL: it has no row */
	EXPR_EXISTS,	/* has `plan` a row? */
	EXPR_IN_SELECT, /* args[0] IN (the only column of `plan`) */
	EXPR_STATISTIC, /* `statistic` (quantiles) of a histogram that is there already, args[0] */
	EXPR_WINDOW_START, /* behind an aggregate with a window */
	EXPR_WINDOW_END,
	EXPR_OTHER,   /* behind aggregate number `source`: is it what found no room? */
	EXPR_UNION,   /* a column of UNION ALL: args[i] in rows of the branch whose rows source
			 branches[i] triggers */
	EXPR_RUNNING, /* the running sum of PLAN_RUNNING number `index`, at this row */
};

/* What EXPR_MEMBER is of args[0]: member.offset_bits behind where that points to, or stands. */
enum read_kind {
	READ_MEMBER,  /* its member `name` */
	READ_ELEMENT, /* element args[1], or `integer` where there is none, of `index` (0: any) */
	READ_TEXT,    /* the text there, of `integer` bytes at most; 0: of 64, more is a fault */
	/* The texts that pointers there lead to, or that stand from there to args[1], with blanks
	 * between them; `integer` bytes, 0: 128. */
	READ_TEXTS,
	READ_TOGETHER, /* `index` bytes from `integer` on, of several members (rule members) */
	READ_POINTER,  /* nothing is read: the address as a pointer to another type, `name` */
	/* The struct file of descriptor args[0] among args[1], which pointers from args[2] on lead
	 * to; NULL: that one is not open. */
	READ_FILE,
	READ_NAME, /* a file's name there, of `integer` bytes at most; 0: all of it */
	/* The path of a dentry, in the mount args[1] from the root of args[2] in args[3] on, or
	 * where there is one argument only from that of its file system; `integer` bytes, 0: 128.
	 */
	READ_PATH,
};

/* Bytes behind the beginning of a dentry, super_block, inode, vfsmount, mount. */
struct file_offsets {
	u32 parent, name, name_length, hashed, super_block, inode;
	u32 magic, inode_number, mount_root;
	u32 mount, mount_parent, mountpoint;
};

struct expr {
	enum expr_kind kind;
	enum ast_op op;
	enum read_kind read; /* MEMBER */
	struct type type;
	struct span span;
	bool nullable;
	bool is_glob;	   /* EXPR_LIKE: GLOB, which minds the case */
	bool may_overflow; /* the result may leave 64 bits: then it is NULL and counted as a fault
			    */
	/*
	 * OP: an argument of 2^63 and more is NULL and a fault, since another may be negative.  As
	 * it was bound: a rule that knows more of the arguments does not change what it means.
	 */
	bool has_signed_arguments;
	bool is_user_only; /* only user space can compute it, whatever it reads */
	/* MEMBER: of the program's memory, not the kernel's; READ_TEXT: the address tells which. */
	bool is_of_user;
	bool is_percpu; /* MEMBER: of memory that each CPU has; the sum of all (fields.sql) */
	/*
	 * AGGREGATE, COLUMN, STATISTIC: a quantile.  As a whole item it is shown with its bounds
	 * (plan_columns() says TYPE_QUANTILE); anywhere else it is its estimate, which is what
	 * `type` and the range are of.
	 */
	bool is_quantile;
	bool is_other;		 /* OTHER, or the column of a select within that is it */
	enum window_bound bound; /* WINDOW_START, WINDOW_END, or the key or column that is it */
	s128 lo, hi; /* every value that is not NULL lies in [lo, hi]; word types only */
	s128 integer;
	double real;
	const char *text;
	u32 text_bytes;
	const char *name;
	u32 index;
	u32 pid_ns; /* SYSTEM: whose numbers pid, tid or ppid are, by inode; 0: the kernel's own */
	u32 source; /* FIELD, SYSTEM: whose event; number of a scan, 0 where there is one only */
	const char
		*prefix; /* FIELD, SYSTEM: printed before it; NULL where there is one scan only */
	const u32 *branches; /* UNION: the source (plan_trigger()) of each branch */
	u32 n_nodes;	     /* of the tree below and with it, shared parts counted each time */
	struct expr **args;
	u32 n_args;
	struct catalog_member member;
	const struct file_offsets *offsets;  /* READ_PATH */
	const struct sql_function *function; /* CALL */
	struct plan *plan;		     /* SUBQUERY, EXISTS, IN_SELECT */
	u32 subquery; /* its number: the same text at one place is the same */
	const struct aggregate *statistic;
};

/* A scalar or window function of SQLite's, or one that it is taught (func/). */
struct sql_function {
	const char *name;
	u8 least, most; /* arguments */
	/* What the arguments must be: n a number, i a whole number, p one written as such and above
	 * 0, t a text or what can be written as one, a any value, d what SQLite reads as a date, c
	 * a condition, = a value of the kind of the others; the last letter is for all that follow.
	 */
	const char *takes;
	u8 result; /* enum type_kind; FUNCTION_OF_ARGS: what the "=" arguments have in common */
	const char *sql; /* what SQLite calls it; NULL: the same */
	bool takes_big;	 /* an integer of 2^63 and more is only compared and handed on; else it is
			    made what `takes` says of the argument (func.h) */
	bool is_window;	 /* needs OVER */
	const char *of_big; /* what it is of such an integer, with %s for it; NULL: as above */
	const struct naming *naming; /* it names numbers (cat.h) */
};

#define FUNCTION_OF_ARGS 255

struct aggregate {
	enum aggregate_kind kind;
	struct expr *arg;    /* NULL: count(*) */
	struct expr *filter; /* NULL: none */
	struct type type;    /* of the result */
	struct span span;
	/* HISTOGRAM and QUANTILE */
	const struct scheme *scheme;
	const u32 *q_ppb; /* QUANTILE: in billionths */
	u32 n_q;
	bool is_ladder;	      /* quantiles(): a list even when n_q is 1 */
	bool is_interpolated; /* percentile_cont() */
	enum quantile_part part;
	struct expr *time;   /* FIRST, LAST: what orders the events */
	bool is_population;  /* STDDEV: divided by n, not n - 1 */
	u32 hll_bits;	     /* APPROX_COUNT_DISTINCT: 2^bits registers */
	struct expr *weight; /* TOP_K: NULL: every event weighs 1; negative weights are skipped */
	u32 k;		     /* TOP_K */
	bool is_distinct;    /* f(DISTINCT x): only SQLite has it */
	bool keeps_null;     /* LAST: the latest row's value, be it NULL: only SQLite has it */
	struct expr *separator; /* GROUP_CONCAT; NULL: a comma */
};

/* f(...) OVER (PARTITION BY ... ORDER BY ... frame), over the rows of a window */
struct over {
	const struct sql_function *function; /* row_number, lag, ...; NULL: an aggregate */
	struct aggregate *aggregate;	     /* its arg, filter, ... */
	struct expr **args;		     /* function: of it */
	u32 n_args;
	struct expr **partition;
	u32 n_partition;
	struct sort_key *order;
	u32 n_order;
	const char *frame; /* "ROWS 2 PRECEDING", as written and checked; NULL: the default */
	struct type type;
	struct span span;
};

/*
 * The kernel part knows NONE, TUMBLING and HOPPING; COUNT and SESSION windows are made
 * in user space, of streamed rows (cut/cut.h).
 */
enum window_kind { WINDOW_NONE, WINDOW_TUMBLING, WINDOW_HOPPING, WINDOW_COUNT, WINDOW_SESSION };

/*
 * A HOPPING window ends at each multiple of the advance and began `size` before it.  So
 * panes, which are what no window has only a part of, end there, and this long after each
 * multiple; 0: the advance divides the size, and windows begin where others end.  These
 * are fewer panes than those of the greatest common divisor: at most two for an advance.
 */
static inline u64 hop_between_ns(u64 size_ns, u64 advance_ns)
{
	return size_ns % advance_ns ? advance_ns - size_ns % advance_ns : 0;
}

#define HOP_PANES_MAX 65536u

/* Panes of one window. */
static inline u64 hop_n_panes(u64 size_ns, u64 advance_ns)
{
	u64 n = size_ns / advance_ns;

	return size_ns % advance_ns ? 2 * n + 1 : n;
}

struct item {
	const char *name;
	struct expr *expr;
	bool is_unnamed; /* as of a column: the name is the call as it was written */
	bool is_unnest;	 /* UNNEST(histogram): the item stands for three columns, lo, hi, count */
	const char *meaning; /* of a span's or table's column, for DESCRIBE; else NULL */
};

struct sort_key {
	struct expr *expr;
	bool is_descending;
	s8 nulls;
};

enum plan_join_kind { JOIN_PAIR, JOIN_ASOF }; /* PAIR uses B up, ASOF does not */

struct join_key {
	struct expr *left, *right; /* of one type: words, or texts */
};

enum plan_kind {
	PLAN_SCAN,
	PLAN_JOIN,    /* rows of `input` with their partner of `right` */
	PLAN_UNION,   /* UNION ALL of `inputs` */
	PLAN_RUNNING, /* rows of `input`, each with one more value: a running sum */
	PLAN_FILTER,  /* below an aggregate: WHERE; above: HAVING */
	PLAN_AGGREGATE,
	PLAN_PROJECT,
	PLAN_SORT,
	PLAN_LIMIT,
	/* What only SQLite does: */
	PLAN_OVER,     /* SQL's window functions */
	PLAN_DISTINCT, /* of the rows of a projection */
	PLAN_RELATE,   /* relational join of `input` and `right` */
	PLAN_DERIVED,  /* the rows of a select as a relation */
	PLAN_TABLE,
	PLAN_SET, /* UNION [ALL], EXCEPT, INTERSECT of `inputs` that are selects */
	PLAN_ONE, /* one row without columns: a select without FROM */
	PLAN_N
};

struct plan_scan {
	struct stream_list *streams;
	const char *alias;
	u32 source; /* numbered 0, 1, ... over the whole query */
	/* An iterator's program tests conditions, and computes, what it can (rule tables). */
	bool computes;
	bool loads;		/* members are loaded where the kernel can (rule typed) */
	struct expr **readings; /* READ_TOGETHER: what members of its events are read by */
	u32 n_readings;
};

/* PAIR and ASOF: rows of the input (A) take the latest earlier row of `right` (B) with the same
 * keys. */
struct plan_join {
	enum plan_join_kind kind;
	bool is_left;	 /* an A without a B gives a row, B's columns NULL */
	bool is_nesting; /* false: B's of one key never nest (a thread's system calls) */
	/* Joins that are alike keep their B's once (rule starts). */
	bool shares_starts;
	struct join_key *keys;
	u32 n_keys;
	u64 within_ns; /* 0: B's of any age */
};

/*
 * The sum of `arg` over the rows so far that have the same keys (NULL is a key like others),
 * this row included, in the order of events; EXPR_RUNNING of that number reads it, and its
 * `source` is plan_trigger() of the input.  A NULL adds nothing; the sum is NULL until
 * something was added.  Once it leaves s64 it is NULL for good, and each row counts a
 * fault; so does an argument of 2^63 and more, which is NULL.
 */
struct plan_running {
	u32 number;
	struct expr *arg;
	struct expr **keys;
	u32 n_keys;
};

/* All of them must be true. */
struct plan_filter {
	struct expr **conjuncts;
	u32 n_conjuncts;
};

struct plan_aggregate {
	u32 number;
	struct item *keys;
	u32 n_keys;
	struct aggregate *list;
	u32 n;
	bool shares_cells; /* aggregates that count or sum the same keep it once (rule cells) */
	enum window_kind window;
	u64 window_ns;
	u64 advance_ns; /* HOPPING */
};

/* Window functions: `list` over the rows of the input. */
struct plan_over {
	struct over *list;
	u32 n;
	u32 number;
};

enum relate_kind { RELATE_INNER, RELATE_LEFT, RELATE_FULL, RELATE_CROSS };

/* Rows of `input` with those of `right` of the same window for which `on` is true. */
struct plan_relate {
	enum relate_kind kind;
	struct expr *on; /* NULL: all of them */
};

/* The rows of a select, `input`, by its columns (plan_columns()): EXPR_COLUMN of `relation`. */
struct plan_derived {
	u32 relation;
	const char *alias; /* NULL: none */
	/* A name of WITH or a view that is read twice is bound once: `input` is the very same
	 * then, and can be computed once. */
};

/* A table of an attached database. */
struct plan_table {
	u32 relation;
	const struct plan_database *database;
	const char *name;      /* the table's */
	struct schema columns; /* as declared; TYPE_NULL: any value may stand in them */
};

/* inputs[0] ops[1] inputs[1] ops[2] ...: from left to right; EXPR_COLUMN of `relation` above. */
struct plan_set {
	u32 relation;
	enum ast_compound_op *ops;
	struct item *columns; /* EXPR_COLUMN, in the type that all inputs have in common */
	u32 n_columns;
};

struct plan_project {
	struct item *items;
	u32 n_items;
};

struct plan_sort {
	struct sort_key *keys;
	u32 n_keys;
};

struct plan_limit {
	s64 count; /* -1: no limit */
	s64 offset;
};

/* Members of other kinds than its own are zero. */
struct plan {
	enum plan_kind kind;
	struct span span;
	struct plan *input;   /* NULL: SCAN, UNION, TABLE, SET, ONE */
	struct plan *right;   /* JOIN, RELATE; else NULL */
	struct plan **inputs; /* UNION, SET */
	u32 n_inputs;
	/* AGGREGATE, PROJECT of rows: computed ahead of what uses them, never NULL (rule share) */
	struct expr **shared;
	u32 n_shared;

	struct plan_scan scan;
	struct plan_join join;
	struct plan_running running;
	struct plan_filter filter;
	struct plan_aggregate aggregate;
	struct plan_project project;
	struct plan_sort sort;
	struct plan_limit limit;
	struct plan_over over;
	struct plan_relate relate;
	struct plan_derived derived;
	struct plan_table table;
	struct plan_set set;
};

enum count_scope { COUNT_GLOBAL, COUNT_PER_CPU, COUNT_PER_GROUP };

/* The one window of a query. */
struct query_window {
	enum window_kind kind;
	u64 size, advance; /* ns, or rows for COUNT; SESSION: size is the gap */
	enum count_scope scope;
	struct expr *cpu; /* COUNT_PER_CPU: of the rows that are counted */
	struct span span;
};

struct plan_database {
	const char *path, *name; /* ATTACH 'path' AS name */
	struct span span;
};

/* A bound query. */
struct plan_query {
	struct plan *plan;
	struct query_window window;
	u32 n_sources, n_relations, n_aggregates, n_overs; /* how many numbers are taken */
	bool has_streams;				   /* it reads events of the kernel's */
	bool has_iterators;				   /* it reads lists of the kernel's */
};

/* CREATE VIEW: a select by name.  A view sees those that stand before it in the list. */
struct view {
	const char *name;
	struct ast_select *select; /* NULL: DROP VIEW took the name away */
	const char *comment;	   /* what it says of itself, lines ended by newlines; "" none */
	bool is_shipped;
};

struct view_list {
	struct arena *arena;
	VEC(struct view) views; /* a later one of the same name hides the earlier */
	bool is_loaded;		/* with those that ship with ebql, which stand first */
};

void views_init(struct view_list *list, struct arena *arena);
/* CREATE VIEW and DROP VIEW; text: the statement's, for its comment.  Diagnostics view-exists,
 * unknown-view. */
void views_add(struct view_list *list, const struct ast_statement *statement, struct diags *diags);
void views_drop(struct view_list *list, const struct ast_statement *statement, struct diags *diags);
/* The newest view of that name among the first n (UINT32_MAX: all), or NULL. */
const struct view *views_find(struct view_list *list, const char *name, u32 n);
/* Calls visit for every view that can be named, in the order of their making. */
void views_each(struct view_list *list, void (*visit)(void *context, const struct view *view),
		void *context);

struct plan_context {
	struct catalog *catalog;
	struct settings *settings;
	struct view_list *views; /* NULL: there are none */
	u32 n_views;		 /* the first n of them may be named */
	struct arena *arena;
	const struct plan_database *databases;
	u32 n_databases;
};

/*
 * A tracepoint that is read by the raw one of its name: its fields as expressions over that one's
 * typed arguments (EXPR_FIELD of RAW_SOURCE, fields.sql), of the field's type or to be made that
 * as C assigns; a word where the field is a text is the text's bytes.
 */
#define RAW_SOURCE UINT32_MAX
struct raw_twin;
/* NULL: no field is known by the raw tracepoint's arguments, or BTF does not know it. */
struct raw_twin *raw_twin_open(struct catalog *catalog, struct arena *arena,
			       const struct stream *stream);
const struct stream *raw_twin_stream(const struct raw_twin *twin);
/* NULL: it cannot be had so in this kernel.  The note says where it may differ, or is NULL. */
struct expr *raw_twin_field(struct raw_twin *twin, const struct field *field,
			    const char **ret_note);

/* DESCRIBE of a view or a span. */
struct plan_column {
	const char *name;
	struct type type;
	/* Of a member of a struct: "struct path", "u32:3"; "ANY"; else NULL */
	const char *c_type;
	const char *meaning;
};

/* Of the scalar and window functions; NULL behind the last. */
const char *function_name_at(u32 i);
/* Those that read memory where the event is: str, user, ... */
const char *read_name_at(u32 i);

struct plan_description {
	const char *name;
	const char *comment; /* "" none */
	struct plan_column *columns;
	u32 n_columns;
	bool has_system; /* it has the system columns too: those of the event that completes it */
};

/* Is it a word (a view, or misspelt) or a span: what DESCRIBE must bind to know its columns? */
bool plan_is_derived(const struct ast_source *source);
/* One of an attached database, or what can be meant as such only: d.x of a database d. */
bool plan_is_table(const struct ast_source *source, const struct plan_context *context);
/* kprobe:vfs_read.file.f_path: is it a path behind a column of the stream that stands first? */
bool plan_is_of_members(const struct ast_source *source, struct catalog *catalog,
			struct arena *arena);
/* false when diags got an error. */
bool plan_describe(const struct ast_source *source, const struct plan_context *context,
		   struct diags *diags, struct plan_description *ret_description);

/*
 * The whole language.  NULL when diags got an error.
 */
struct plan_query *plan_bind_query(const struct ast_select *select,
				   const struct plan_context *context, struct diags *diags);
/* The items of a select, or the columns of a set of them. */
const struct item *plan_items(const struct plan *plan, u32 *ret_n);
/*
 * The first expression outside of WHERE and HAVING that reads memory of user programs, or texts
 * where these may have said that they stand; NULL: there is none.  Of a bound plan.
 */
const struct expr *plan_payload(struct plan *plan);
/* The columns that a select's plan shows: UNNEST is three of them, a quantile TYPE_QUANTILE. */
void plan_columns(const struct plan *plan, struct arena *arena, struct schema *ret_columns);
/* The three columns that UNNEST of a histogram or top list is; name "": they have plain names. */
void plan_unnest_columns(const char *name, struct type type, struct arena *arena,
			 struct column ret_columns[3]);
typedef VEC(u32) trigger_vec;
typedef VEC(struct expr *) expr_vec;
/* When a row of this FROM tree appears: its event's time (EXPR_UNION: one for each trigger). */
struct expr *plan_time(const struct plan *tree, struct arena *arena);
/* The sources whose events make rows of the tree appear, left to right. */
void plan_triggers(const struct plan *tree, struct arena *arena, trigger_vec *ret_triggers);
/* What an expression is in rows that source `trigger` makes appear: unions are resolved. */
struct expr *expr_branch(struct arena *arena, struct expr *expr, u32 trigger);
/* Calls visit for every operator of the tree, those above first; not those of sub-queries. */
void plan_each(struct plan *plan, void (*visit)(void *context, struct plan *plan), void *context);
/* A copy whose lists of expressions are its own, so that these may be exchanged. */
struct plan *plan_copy(const struct plan *plan, struct arena *arena);
/* Calls visit for the root of every expression of this one operator. */
void plan_each_expr(struct plan *plan, void (*visit)(void *context, struct expr **expr),
		    void *context);

/* expr_map() of every expression of this one operator, which is a copy. */
void plan_map_expr(struct plan *plan, struct arena *arena,
		   struct expr *(*change)(void *context, struct expr *expr), void *context);

/* Calls visit for every expression of this one operator and everything below it, also for those
 * of sub-queries. */
void plan_each_own(struct plan *plan, void (*visit)(void *context, struct expr *expr),
		   void *context);
/* The same for all operators of the tree. */
void plan_each_node(struct plan *plan, void (*visit)(void *context, struct expr *expr),
		    void *context);

void plan_print(const struct plan *plan, struct buf *out);
/* One operator, in one line without its end. */
void plan_print_operator(const struct plan *plan, struct buf *out);
/* SQL-like text; EXPR_KEY and EXPR_AGGREGATE print as k0, a0 when names is NULL. */
void expr_print(const struct expr *expr, struct buf *out);
void aggregate_print(const struct aggregate *aggregate, struct buf *out);

/* Builders and questions that rules and the binder share. */
struct plan *plan_new(struct arena *arena, enum plan_kind kind, struct span span,
		      struct plan *input);
/* A filter above input; without conjuncts the input itself. */
struct plan *plan_filter(struct arena *arena, struct plan *input, struct expr *const *conjuncts,
			 u32 n);
struct expr *expr_new(struct arena *arena, enum expr_kind kind, struct span span);
/* With all values of the type. */
void expr_set_type(struct expr *expr, struct type type);
struct expr *expr_integer(struct arena *arena, struct span span, struct type type, s128 value);
/* A plain number. */
struct expr *expr_number(struct arena *arena, struct span span, s64 value);
/* KEY, COLUMN, OVER: what stands above for the value `of` below. */
struct expr *expr_ref(struct arena *arena, enum expr_kind kind, struct span span,
		      const struct expr *of, u32 source, u32 index);
/* A node over n arguments, struct expr *, that follow; typed by them. */
struct expr *expr_make(struct arena *arena, enum expr_kind kind, struct span span, u32 n, ...);
/* b: NULL where the operator has one argument. */
struct expr *expr_op(struct arena *arena, enum ast_op op, struct span span, struct expr *a,
		     struct expr *b);
struct expr *expr_call(struct arena *arena, const struct sql_function *f, struct span span,
		       struct expr **args, u32 n);
/* a and b of a AND b, and of these; the expression where it is none. */
void expr_conjuncts(struct arena *arena, struct expr *expr, expr_vec *ret_conjuncts);
/* With a list of arguments of its own. */
struct expr *expr_copy(struct arena *arena, const struct expr *expr);
/* Bottom-up: a copy in which `change` replaced nodes (it returns its argument or another). */
struct expr *expr_map(struct arena *arena, struct expr *expr,
		      struct expr *(*change)(void *context, struct expr *expr), void *context);
/*
 * What a member is read of: what points to it or to the structs that it stands in, and how far
 * behind that.
 */
struct expr *expr_object(const struct expr *member, u64 *ret_offset_bits);
/* Is a member of `object`, so far behind it, among what READ_TOGETHER reads? */
bool expr_is_read_by(const struct expr *member, const struct expr *object, u64 offset_bits,
		     const struct expr *reading);
/* Types and ranges an operator's result from its arguments; false: no kernel form (overflow of
 * constants, text arithmetic).  Used by the binder and by constant folding. */
void expr_infer(struct expr *expr);
/*
 * Of an arithmetic expression over words: the rule argument that makes eb_add() and its like
 * (func/func.h) compute what the kernel part does; of a CASE the one for eb_fit().
 */
char expr_rule(const struct expr *expr);
/* The comparison with its sides exchanged: < for >. */
enum ast_op expr_op_mirrored(enum ast_op op);
bool expr_equal(const struct expr *a, const struct expr *b);
/* Where source_a, and those numbered behind it, stand for the one what source_b and those behind it
 * do for the other. */
bool expr_equal_as(const struct expr *a, u32 source_a, const struct expr *b, u32 source_b);
bool expr_is_constant(const struct expr *expr);
/* kstack, ustack: `integer` is the most calls that it takes. */
static inline bool expr_is_stack(const struct expr *expr)
{
	return expr->kind == EXPR_SYSTEM &&
	       (expr->index == SYS_KSTACK || expr->index == SYS_USTACK);
}
static inline bool expr_is_text(const struct expr *expr)
{
	return expr->type.kind == TYPE_TEXT || expr->type.kind == TYPE_BLOB;
}
/* Is it NULL wherever all the columns that it reads are?  IS NULL and CASE need not be. */
bool expr_is_strict(const struct expr *expr);
/*
 * fault.c: NULL whatever the row is, as x + NULL and x < NULL: x is not even computed, so it
 * makes no fault.
 */
bool expr_is_null(const struct expr *expr);
/* A filter that is true of no row, as the rule `fold` found? */
bool plan_is_empty(const struct plan *plan);
/* MEMBER: a struct or an array, which has an address and no value? */
bool expr_is_place(const struct expr *expr);
/* May it count a fault when it is computed for a row of the tree? */
/* The column of a scan over these. */
bool field_may_be_null(const struct stream_list *list, u32 index);
/* Of a user probe: its program has it in memory, where it may not be there to be read. */
bool field_is_in_memory(const struct stream_list *list, const char *name);
bool expr_can_fault(const struct expr *expr, const struct plan *tree);
/* By an operation, not by a read: x / 0 and what leaves 64 bits. */
bool expr_can_fail(const struct expr *expr);
/* Of computing it for a row, without its operands (cost.c). */
double expr_own_cost_ns(const struct expr *expr, const struct costs *costs);
/* Calls visit on expr and everything below it. */
void expr_each(struct expr *expr, void (*visit)(void *context, struct expr *expr), void *context);
/* The first operator of that kind on the way down by `input`, within one select, or NULL. */
const struct plan *plan_find(const struct plan *plan, enum plan_kind kind);
/* The FROM part and the filter of WHERE: what stands below the aggregate or the projection. */
const struct plan *plan_rows(const struct plan *plan);
/* The source whose events make a row of this operator appear (not of a UNION). */
u32 plan_trigger(const struct plan *plan);
/* The place of the i-th operator below this one, and that operator; NULL: there are not so many. */
struct plan **plan_slot(struct plan *plan, u32 i);
const struct plan *plan_child(const struct plan *plan, u32 i);
/* Are the operators below it those of other selects? */
bool plan_reads_selects(const struct plan *plan);
/* The scan of that number in the operator's FROM tree, or NULL. */
const struct plan *plan_scan(const struct plan *plan, u32 source);
/* Has the FROM tree this DERIVED or TABLE?  Not those within a DERIVED. */
bool plan_has_relation(const struct plan *plan, u32 relation);
/* Rows of streams (or recorded ones): what the kernel could make, no relational join in it. */
bool plan_is_rows(const struct plan *plan);
/* Does the expression read something, and all of it from sources of this tree? */
bool expr_is_of(const struct expr *expr, const struct plan *tree);
/* The same, or it reads nothing: no outer select's value, no sub-query. */
bool expr_is_within(const struct expr *expr, const struct plan *tree);
/* Does it read any row at all? */
bool expr_reads(const struct expr *expr);
/*
 * The type, and the range, that values of all these have as one column; false: texts and
 * numbers, or special values with others.
 */
bool expr_common(struct expr *const *exprs, u32 n, struct expr *ret_column);

#endif
