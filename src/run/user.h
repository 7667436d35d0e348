/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The user part: input rows -> output rows, by picking columns, or by SQLite, which
 * reads the input rows in place as the virtual table w(c0, c1, ..., other).
 */
#ifndef EBQL_RUN_USER_H
#define EBQL_RUN_USER_H

#include "base/diag.h"
#include "phys/phys.h"
#include "run/region.h"
#include "run/rows.h"

struct sqlite3;
struct sqlite3_stmt;

struct user {
	const struct phys *phys;
	const struct rows *rows; /* the window's input */
	struct sqlite3 *db;	 /* NULL: columns are only picked */
	struct sqlite3_stmt *statement;
	struct region values; /* output rows */
	struct buf text;      /* SQLite's texts of this batch */
	s32 too_large;	      /* input column whose value SQLite cannot hold; -1: none */
};

/* 0, or a diagnostic (tag user-part) and -EINVAL. */
int user_open(struct user *user, const struct phys *phys, struct diags *diags);
void user_close(struct user *user);
/*
 * Sets n_rows, values and other_row of the batch; they live until the next call.  0, or a
 * diagnostic and -errno: too-large (an integer beyond 64 bits signed meets SQLite,
 * which would round it) or user-part (SQLite's own message).
 */
int user_run(struct user *user, const struct rows *rows, struct diags *diags,
	     struct batch *ret_batch);

#endif
