/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A relation of a cut: rows of one part, as SQLite reads them in place: a virtual table
 * w0, w1, ... with columns c0, c1, ... of no affinity.  SQLite makes no automatic index
 * for a virtual table; equalities (joins) go through a hash index made here, on demand.
 */
#ifndef EBQL_REL_RELATION_H
#define EBQL_REL_RELATION_H

#include "base/region.h"
#include "base/scratch.h"
#include "rel/row_pool.h"
#include "type/type.h"

#define RELATION_INDEXES       4u
#define RELATION_INDEX_COLUMNS 4u

struct func_context;

/* Windows of their own for every group: one at a time is all rows there are. */
struct relation_session {
	u64 start_ns, end_ns; /* CLOCK_REALTIME */
};

struct relation_index {
	u32 columns[RELATION_INDEX_COLUMNS];
	u32 n_columns;
	struct region buckets; /* u32: first row + 1 with that hash; 0: none */
	struct region next;    /* u32: of a row, the next one + 1 */
	u64 mask;
	u64 version; /* of the rows it was made for */
};

/* Rows whose values are made when they are asked for: groups. */
struct relation_reader {
	/* What the value points to lives in the scratch (is_short: it is not whole), or as long as
	 * the rows. */
	void (*value)(void *context, u64 row, u32 column, struct scratch *scratch,
		      struct value *ret_value);
	void *context;
	s64 other_row; /* that is the "(other)" row; -1: none is */
};

struct relation {
	const char *name;
	const struct schema *columns; /* NULL: no column is of TYPE_BLOB */
	u32 n_columns;
	bool has_sessions;
	bool is_read; /* by `reader`; it has two columns more: `other`, and `row`, the row's number
		       */
	u64 expected_rows;	      /* for SQLite's planner */
	struct func_context *context; /* counts the faults of values that are asked for */

	/* The rows of the window: at places of their own, or read one by one. */
	u64 n_rows;
	struct row *const *rows;
	struct relation_reader reader;
	struct scratch scratch;			/* is_read: of the value that SQLite is given */
	const struct relation_session *session; /* has_sessions */
	u64 version;				/* counted up whenever the rows are others */

	struct relation_index indexes[RELATION_INDEXES];
	u32 n_indexes;
};

struct sqlite3;

/* Registers it; 0 or an SQLite error code.  It must live as long as the connection. */
int relation_register(struct sqlite3 *db, struct relation *relation);
/* Rows of the next window; they stay where they are until the statement was reset. */
void relation_set_reader(struct relation *relation, const struct relation_reader *reader,
			 u64 n_rows);
void relation_set_rows(struct relation *relation, struct row *const *rows, u64 n_rows);
void relation_close(struct relation *relation);

#endif
