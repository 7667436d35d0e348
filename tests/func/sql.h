/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * One connection with the functions of the language, and short ways to ask it.  given(i)
 * is value number i of `given`, so that any value can get into SQL.
 */
#ifndef EBQL_TEST_FUNC_SQL_H
#define EBQL_TEST_FUNC_SQL_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <sqlite3.h>

#include "base/arena.h"
#include "func/func.h"

extern sqlite3 *db;
extern struct func_context func;
extern struct arena arena;
extern struct value given[64];

int open_sql(void **state);
int close_sql(void **state);

/* Runs statements without results. */
void run(const char *sql);
/*
 * The first row of a query, as values of that type; the error message, or NULL.  The columns are
 * numbered from 1 in ret_values, 8 of them at most.
 */
const char *ask_row(struct value *ret_values, struct type type, const char *format, ...)
	PRINTF(3, 4);
/* The only value of a query that must not fail. */
struct value ask(const char *format, ...) PRINTF(1, 2);
struct value ask_typed(struct type type, const char *format, ...) PRINTF(2, 3);
void expect_integer(struct value value, s128 wanted, const char *where);
void expect_null(struct value value, const char *where);
/* The query ends with an error whose text has these words. */
void expect_error(const char *words, const char *format, ...) PRINTF(2, 3);
const char *show(struct value value);

static inline struct value integer_value(s128 integer)
{
	return (struct value){ .kind = VALUE_INT, .integer = integer };
}

#endif
