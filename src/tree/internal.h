/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Internal to this layer.  Raw rows come from the ring buffer and from files, merged
 * by time, some hundred at a time.  A tuple is a row of any operator: one slot for each
 * column of each scan of the FROM tree, and for each running sum; those of scans that
 * the row is not of are NULL.  Every operator turns the tuples of its inputs into its
 * own, in the order of the raw rows that trigger them.
 */
#ifndef EBQL_TREE_INTERNAL_H
#define EBQL_TREE_INTERNAL_H

#include "base/cancel.h"
#include "func/func.h"
#include "phys/phys.h"
#include "rel/rel.h"
#include "drain/drain.h"
#include "base/pool.h"
#include "base/region.h"
#include "tree/tree.h"
#include "base/scratch.h"

struct sqlite3;
struct sqlite3_stmt;

struct tuple {
	u64 seq;     /* of the raw row that triggers it */
	u64 time_ns; /* of its event */
	u64 flip;    /* as row_source_read() */
	struct value slots[];
};

/* --- queue.c: records of the ring buffer, in the order of their times --- */

struct queue_entry {
	u64 time_ns, flip, offset_bytes;
	u32 n_bytes;
};

struct row_queue {
	struct region bytes, entries;
	u64 used_bytes;
	u32 head, n; /* entries[head .. n) wait */
};

/* Behind those of the same time.  false: no memory. */
bool queue_push(struct row_queue *q, const void *record, u32 n_bytes, u64 time_ns, u64 flip);
/* The first one when it is from before that time (UINT64_MAX: of any time), or NULL. */
const struct queue_entry *queue_first(const struct row_queue *q, u64 before_ns);
/* Takes the first one; its bytes stay until the next queue_trim() or queue_push(). */
const u8 *queue_take(struct row_queue *q);
/* Gives back the memory of what was taken. */
void queue_trim(struct row_queue *q);
void queue_free(struct row_queue *q);

/* --- file.c: rows of one file, in the order of their times --- */

struct row_file;

/* NULL after a diagnostic. */
struct row_file *row_file_open(const struct file *file, struct arena *arena, struct diags *diags);
/* 1: *ret_row is the next row and *ret_time_ns its time; 0: the end; -errno, told. */
int row_file_peek(struct row_file *f, const struct value **ret_row, u64 *ret_time_ns);
/* Goes on behind it; texts of the row peeked at are gone. */
void row_file_next(struct row_file *f);
/* How many rows came before the one to be peeked at. */
u64 row_file_position(const struct row_file *f);
/* The file, whose first and last time are known. */
const struct file *row_file_of(const struct row_file *f);
void row_file_close(struct row_file *f);

/* --- slots.c: where in a tuple a column is --- */

struct slot_source {
	const struct phys_source *source;
	u32 first;    /* its slots: columns[0], the time, and so on */
	bool is_root; /* its events make rows of the root appear */
	u32 n_asof;   /* ASOF joins on whose right side it is */
	struct row_file *file;
	s32 *file_columns; /* per column: of the file; -1: none */
};

struct slots {
	struct arena *arena;
	struct slot_source *sources; /* in the order of phys_scan_sources() */
	u32 n_sources, n_slots;
	u32 *running; /* slot of running sum number i */
	u32 n_running;
};

void slots_init(struct slots *slots, const struct plan *plan, const struct phys_source *sources,
		u32 n_sources, struct arena *arena);
struct slot_source *slots_source(const struct slots *slots, u32 number);
/* The slots of an operator's tree are [*ret_lo, *ret_hi). */
void slots_range(const struct slots *slots, const struct plan *tree, u32 *ret_lo, u32 *ret_hi);
/* The slot that holds the value of this expression, or -1: it is computed. */
s32 slots_find(const struct slots *slots, const struct expr *e);

/* --- sql.c: expressions over tuples, computed by SQLite --- */

struct row_sql {
	const struct cancel *cancel;
	const struct slots *slots;
	struct sqlite3 *db;
	struct func_context context;
	struct diags *diags;
	struct scratch *scratch; /* of the batch: for texts */
	struct relation table;	 /* of them: */
	struct tuple *const *tuples;
};

/* Expressions of one operator. */
struct row_eval {
	struct row_sql *sql;
	struct expr **exprs;
	u32 n;
	s32 *computed; /* per expression: the column of the statement; -1: picked from the tuple */
	s32 *slots;    /* per expression that is picked: its slot; -1: none alone */
	bool is_handed_on; /* what is picked: whoever asks for it counts its fault */
	u32 n_computed;
	const char *text;
	struct sqlite3_stmt *statement; /* NULL: all are picked */
	struct region values;
};

/* What is computed by SQLite is prepared by row_sql_open(), when all are known. */
void row_eval_init(struct row_eval *eval, struct row_sql *sql, struct expr *const *exprs, u32 n);
/* One value, 1 where all conditions are true, else 0. */
void row_eval_init_filter(struct row_eval *eval, struct row_sql *sql, struct expr *const *conjuncts,
			  u32 n);
int row_sql_open(struct row_sql *sql, struct row_eval *const *evals, u32 n_evals);
void row_sql_close(struct row_sql *sql);
/*
 * n values for each tuple, row after row, until the next call; texts live in the
 * scratch, in the tuples, or for ever.  0, or -errno after a diagnostic.
 */
int row_eval_run(struct row_eval *eval, struct tuple *const *tuples, u32 n_tuples,
		 const struct value **ret_values);
void row_eval_close(struct row_eval *eval);

/* --- operators.c: the operators --- */

struct row_tree;

struct row_tree *row_tree_open(const struct plan *plan, struct slots *slots, struct row_sql *sql,
			       struct scratch *scratch, u64 max_in_flight);
/*
 * One batch: raw rows, in order, with the number of the source each is of.  Output rows
 * of n_items values live until the next call, what they point to as long as the
 * scratch; ret_triggers: the tuples that they are of.  0, or -errno after a diagnostic.
 */
int row_tree_run(struct row_tree *tree, struct tuple *const *tuples, const u32 *sources, u32 n,
		 const struct value **ret_rows, struct tuple *const **ret_triggers,
		 u32 *ret_n_rows);
/* Events from behind this flip are counted when the next one was made. */
void row_tree_flipped(struct row_tree *tree, u64 flip);
/* Starts of PAIR JOINs from before that time that still wait. */
u64 row_tree_waiting(const struct row_tree *tree, u64 before_ns);
/* Of the run so far; lost[LOSS_UNPAIRED] is not added up. */
const struct account *row_tree_account(const struct row_tree *tree);
void row_tree_close(struct row_tree *tree);

/* --- raw.c: part->is_kernel false --- */

struct row_raw;

struct row_raw *row_raw_open(const struct cut_part *part, const struct phys *phys,
			     const struct cancel *cancel, struct arena *arena, struct diags *diags);
s64 row_raw_read(struct row_raw *raw, struct row_queue *queue, u64 before_ns, u32 limit,
		 const struct value **ret_rows, u64 *ret_flips);
void row_raw_flipped(struct row_raw *raw, u64 flip);
/* A stream's time on the clock of the part's rows. */
u64 row_raw_time(const struct row_raw *raw, u64 time_ns);
bool row_raw_peek(struct row_raw *raw, struct row_queue *queue, u64 *ret_time_ns);
/* As row_source_span(). */
bool row_raw_span(const struct row_raw *raw, u64 *ret_first_ns, u64 *ret_last_ns);
/* What was seen and lost so far. */
void row_raw_account(const struct row_raw *raw, struct account *ret_account);
u64 row_raw_waiting(const struct row_raw *raw, u64 before_ns);
void row_raw_close(struct row_raw *raw);

#endif
