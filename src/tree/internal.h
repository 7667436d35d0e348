/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Internal to this layer.  Rows of scans come from the ring buffer and from files, merged
 * by time, some hundred at a time.  A tuple is a row of any operator: one slot for each
 * column of each scan of the FROM tree, and for each running sum; those of scans that
 * the row is not of are NULL.  Every operator turns the tuples of its inputs into its
 * own, in the order of the rows of scans that trigger them.
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

/* How often rows were missing, or may have been: no row of a full ring, and what max_cpu left. */
struct gaps {
	u32 full, left;
};

struct tuple {
	u64 seq;	  /* of the scan's row that triggers it */
	u64 time_ns;	  /* of its event */
	u64 flip;	  /* as row_source_read() */
	struct gaps gaps; /* behind so many; a file's: those of the row before */
	u64 n_faults;	  /* of the values of the projection, which the row takes along */
	struct value slots[];
};

/* --- queue.c: records of the ring buffer, in the order of their times --- */

struct queue_entry {
	u64 time_ns, flip, offset_bytes;
	u32 n_bytes;
	struct gaps gaps;
};

struct row_queue {
	struct region bytes, entries;
	u64 used_bytes;
	u32 head, n; /* entries[head .. n) wait */
};

/* Behind those of the same time.  false: no memory. */
bool queue_push(struct row_queue *q, const void *record, u32 n_bytes, u64 time_ns, u64 flip,
		struct gaps gaps);
/* The first one when it is from before that time (UINT64_MAX: of any time), or NULL. */
const struct queue_entry *queue_first(const struct row_queue *q, u64 before_ns);
/* Takes the first one; its bytes stay until the next queue_trim() or queue_push(). */
const u8 *queue_take(struct row_queue *q);
/* Takes away what was before that flip. */
void queue_skip(struct row_queue *q, u64 flip);
/* Gives back the memory of what was taken. */
void queue_trim(struct row_queue *q);
void queue_free(struct row_queue *q);

/* --- file.c: rows of one file, in the order of their times --- */

struct row_file {
	const struct file *file;
	struct file_rows *rows; /* NULL: all are in memory */
	struct diags *diags;
	struct value *row;
	bool has_row, is_over;
	int err;
	u64 time_ns, position; /* of the row to be peeked at: so many came before it */
	/* in memory */
	struct region values, order;
	struct scratch texts;
	u64 n_rows;
};

/* NULL after a diagnostic. */
struct row_file *row_file_open(const struct file *file, struct arena *arena, struct diags *diags);
/* 1: *ret_row is the next row and *ret_time_ns its time; 0: the end; -errno, told. */
int row_file_peek(struct row_file *f, const struct value **ret_row, u64 *ret_time_ns);
/* Goes on behind it; texts of the row peeked at are gone. */
void row_file_next(struct row_file *f);
void row_file_close(struct row_file *f);

/* --- Where in a tuple a column is --- */

struct slot_source {
	const struct phys_source *source;
	u32 first;    /* its slots: columns[0], the time, and so on */
	bool is_root; /* its events make rows of the root appear */
	u32 n_asof;   /* ASOF joins on whose right side it is */
	struct row_file *file;
	s32 *file_columns; /* per column: of the file; -1: none */
};

/* Given by row_tree_open(), in the order of the tree: those of an operator's tree are together. */
struct slots {
	struct arena *arena;
	struct slot_source *sources; /* in the order of phys_scan_sources() */
	u32 n_sources, n_slots;
	VEC(u32) running; /* slot of running sum number i */
};

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
	/* Whoever asks for what is picked counts its fault; those of the others are the row's. */
	bool is_handed_on;
	u32 n_computed;
	u64 sql_ns, n_faults; /* of all runs */
	const char *text;
	struct sqlite3_stmt *statement; /* NULL: all are picked */
	struct region values;
};

struct slot_source *slots_source(const struct slots *slots, u32 number);
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
 * One batch: rows of scans, in order, with the number of the source each is of.  Output rows
 * of n_items values live until the next call, what they point to as long as the
 * scratch; ret_triggers: the tuples that they are of.  0, or -errno after a diagnostic.
 */
int row_tree_run(struct row_tree *tree, struct tuple *const *tuples, const u32 *sources, u32 n,
		 const struct value **ret_rows, struct tuple *const **ret_triggers,
		 u32 *ret_n_rows);
/* Events from behind this flip are counted when the next one was made. */
void row_tree_flipped(struct row_tree *tree, u64 flip);
/* Starts of PAIR JOINs from before that time that still wait. */
u64 row_tree_waiting(struct row_tree *tree, u64 before_ns);
/* Do values of rows hang on those of all rows before? */
bool row_tree_goes_on(const struct row_tree *tree);
/* Of the run so far; lost[LOSS_UNPAIRED] is not added up. */
void row_tree_account(const struct row_tree *tree, struct account *ret_account);
/* The operators, each behind what it reads; the projection is the last. */
u32 row_tree_n_operators(const struct row_tree *tree);
void row_tree_operator(const struct row_tree *tree, u32 i, struct row_operator *ret_operator);
void row_tree_close(struct row_tree *tree);

/* --- scans.c: part->is_kernel false --- */

#define SCANS_BATCH_ROWS 512u

struct row_scans {
	const struct load_hooks *hooks;
	const struct phys *phys; /* NULL: files alone */
	struct row_queue *queue; /* of streams */
	struct diags *diags;
	struct slots slots;
	struct row_sql sql;
	struct scratch scratch;
	struct row_tree *tree;
	bool has_files, has_streams;
	u64 clock_offset_ns; /* of files and streams together: what is added to a stream's time */
	u64 n_seen, newest_ns;
	struct gaps gaps; /* of the latest row of a stream */
	struct tuple *tuples[SCANS_BATCH_ROWS];
	u32 sources[SCANS_BATCH_ROWS];
	/* Rows of the last batch, handed out up to `at`. */
	const struct value *rows;
	struct tuple *const *triggers;
	u32 n_columns, n_rows, at;
	int err;
};

/* NULL after a diagnostic. */
struct row_scans *row_scans_open(const struct cut_part *part, const struct load_hooks *hooks,
				 const struct phys *phys, struct row_queue *queue,
				 const struct cancel *cancel, struct arena *arena,
				 struct diags *diags);
/* As row_source_read() and row_source_peek(). */
s64 row_scans_read(struct row_scans *scans, u64 before_ns, u32 limit, const struct value **ret_rows,
		   struct row_origin *ret_origins);
bool row_scans_peek(struct row_scans *scans, u64 *ret_time_ns);
void row_scans_close(struct row_scans *scans);

#endif
