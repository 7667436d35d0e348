/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The user part: input rows -> output rows, by picking columns, or by SQLite, which
 * reads the input rows in place as the virtual table w of phys/phys.h.  With UNNEST
 * each of them becomes as many rows as its histogram has cells that hold something.
 */
#ifndef EBQL_ENGINE_USER_H
#define EBQL_ENGINE_USER_H

#include "base/cancel.h"
#include "base/diag.h"
#include "phys/phys.h"
#include "base/region.h"
#include "drain/drain.h"

struct sqlite3;
struct sqlite3_stmt;

struct user {
	const struct phys *phys;
	struct rows rows;   /* the window's input */
	struct sqlite3 *db; /* NULL: columns are only picked */
	struct sqlite3_stmt *statement;
	struct region values;		  /* output rows */
	struct scratch scratch;		  /* what they point to, and */
	struct buf text;		  /* SQLite's texts of this batch */
	u64 cells_to_skip, cells_to_take; /* UNNEST: OFFSET and LIMIT, of what is still to come */
	u32 n_computed;			  /* columns of the statement before `row` */
	const char *too_large;		  /* column whose value SQLite cannot hold; NULL: none */
	bool has_infinity;		  /* SQLite was given a bound that is infinite */
};

/* 0, or a diagnostic (tag user-part) and -EINVAL. */
int user_open(struct user *user, const struct phys *phys, const struct cancel *cancel,
	      struct diags *diags);
void user_close(struct user *user);
/*
 * Sets n_rows, values and other_row of the batch; they live until the next call.  The
 * scratch of the rows is the user part's own.  0, or a
 * diagnostic and -errno: too-large (SQLite must compute with an integer beyond 64 bits
 * signed, which it would round), user-part (SQLite's own message), or as
 * connect_failed() has it.
 */
int user_run(struct user *user, const struct rows *rows, struct diags *diags,
	     struct batch *ret_batch);

#endif
