/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The cut: a select -> the parts of it that kernel programs compute (bound plans), and
 * the SQL text that SQLite runs over the rows of these parts, once a window.
 *
 * A select that the kernel part and one simple pass over its groups can answer is one
 * part and no SQL.  Everything else (sub-queries, SQL window functions, joins within a
 * window, UNION, DISTINCT, ...) keeps its shape: wherever a stream, or a select that
 * the kernel can aggregate, stands in it, SQLite reads a relation instead, w0, w1, ...
 * whose rows are those of the window.
 */
#ifndef EBQL_CUT_CUT_H
#define EBQL_CUT_CUT_H

#include "base/arena.h"
#include "base/diag.h"
#include "cat/cat.h"
#include "plan/plan.h"
#include "sql/sql.h"
#include "type/type.h"

enum cut_part_kind {
	PART_GROUPS, /* aggregated in the kernel: the rows of a window are its batch */
	PART_ROWS,   /* rows of events, each in the window its time lies in */
	PART_TABLE,  /* a file without time, or a list of the kernel: all of it, in every window */
};

/* Why SQLite does a thing that the kernel does for other queries. */
enum cut_reason {
	CUT_KERNEL,	/* it does not */
	CUT_PUSHDOWN,	/* pushdown is off */
	CUT_RECORDED,	/* rows of files */
	CUT_TABLE,	/* a file without times, or beside streams of the kernel */
	CUT_ITERATOR,	/* a list of the kernel's */
	CUT_STREAMED,	/* rows of the kernel, as they come */
	CUT_ROWS,	/* SQLite needs the rows themselves */
	CUT_ROW_WINDOW, /* COUNT and SESSION */
	CUT_JOIN,	/* rows of several members of FROM */
	CUT_SELECT,	/* rows of another select */
	CUT_CONDITION,	/* a condition that only user space can test */
	CUT_KEY,	/* a key that only user space can compute */
	CUT_ARGUMENT,	/* an argument that only user space can compute */
	CUT_AGGREGATE,	/* an aggregate that only SQLite has */
	CUT_DISTINCT,	/* DISTINCT in an aggregate */
	CUT_REGROUPED,	/* count(DISTINCT x): the kernel's groups are finer */
	CUT_NAMED,	/* ..., since keys name addresses */
	CUT_GROUPS,	/* over what was aggregated */
	CUT_WINDOW,	/* over all rows of a window */
};

const char *cut_reason_text(enum cut_reason reason);

/* Numbers of cut.picks that are no column. */
enum { CUT_PICK_START = -1, CUT_PICK_END = -2, CUT_PICK_OTHER = -3, CUT_PICK_SQL = -4 };

struct cut_part {
	enum cut_part_kind kind;
	const char *name; /* of the relation: "w0"; its columns are c0, c1, ... */
	/*
	 * GROUPS: an aggregate; its keys, then its aggregates are the columns, and the relation has
	 * two more: `other` (1: the "(other)" row) and `row`, the number of the row.
	 * ROWS: a projection over a FROM tree, perhaps with a filter; TABLE: the same over the
	 * scan of an iterator, or NULL: `file`.
	 */
	struct plan *plan;
	struct schema columns; /* of the relation, by the names that the query gives them */
	/*
	 * ROWS: the FROM tree and the filter run in the kernel.  Else (pushdown = off, or a scan
	 * of a file) only the scans of kernel streams do, and user space does the rest.
	 */
	bool is_kernel;
	bool has_files, has_streams; /* of the scans */
	const struct file *file;     /* TABLE */
	/* ROWS: the first column is the row's time, and rows are read in its order.  Else they are
	 * handed on as they come: a stream of the kernel that no SQL reads. */
	bool has_time;
	const char *reason; /* why it is cut here, for EXPLAIN */
	const char *where;  /* ROWS: the conditions it tests; NULL: none */
	struct span span;
};

struct cut_window {
	enum window_kind kind;
	u64 size, advance; /* ns, or rows for COUNT; SESSION: the gap */
	enum count_scope scope;
	/*
	 * SESSION and COUNT PER ...: windows of their own for every combination of these columns
	 * of part 0, which is then the only part of kind ROWS.  Its relation has four columns
	 * more: `session` (every window is a batch of its own: one number), `window_start`,
	 * `window_end` (CLOCK_REALTIME) and `session_row` (1, 2, ... in the session).
	 */
	u32 *key_columns;
	u32 n_key_columns;
};

struct cut {
	struct cut_part *parts;
	u32 n_parts;
	struct schema output;
	/*
	 * NULL: every row of part 0 is a row of the output.  Else run over w0, w1, ...;
	 * :window_start and :window_end are parameters, CLOCK_REALTIME.
	 */
	const char *sql;
	/*
	 * Per output column: a column of part 0, taken as it is, or one of CUT_PICK_...: a bound of
	 * the batch's window, whether the row is what found no room, or the next column of sql,
	 * which then yields one more, the last: `row`, the number of the row that the others are
	 * taken from.  NULL: sql yields all.
	 */
	const s32 *picks;
	const char *const *notes; /* what SQLite does, a clause each, and why */
	u32 n_notes;
	struct cut_window window;
	/*
	 * With sql and without a window: true: rows are handed on as they come, and sql sees
	 * each row once; false: it sees all rows since the start (--every, or at the end).
	 */
	bool is_streaming;
	s64 limit; /* is_streaming: LIMIT, which sql does not have; -1: none */
	const struct plan_database *databases;
	u32 n_databases;
	bool reads_tables; /* of theirs: where an integer was declared a real may stand */
	bool names_users;  /* addresses of processes, as usym(x) does: mostly of this one; -1 */
	s32 named_pid;
};

/* NULL when diags got an error.  `databases` are those of ATTACH statements. */
struct cut *cut_query(const struct plan_query *query, const struct settings *settings,
		      const struct plan_database *databases, u32 n_databases, struct arena *arena,
		      struct diags *diags);
/* Has its output rows and no batches: single events, or what only reads tables or nothing? */
static inline bool cut_has_rows(const struct cut *cut)
{
	return cut->is_streaming || !cut->n_parts;
}
/* May a batch have a row of what found no room? */
static inline bool cut_has_other(const struct cut *cut)
{
	for (u32 i = 0; i < cut->n_parts; i++)
		if (cut->parts[i].kind == PART_GROUPS)
			return true;
	return false;
}
/* The parts and their reasons, the SQL, the window and what it costs. */
void cut_print(const struct cut *cut, struct buf *out);

#endif
