/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What the files of this layer share: special values in blobs, numbers out of SQLite's
 * values, and the table of functions that func_register() goes through.
 */
#ifndef EBQL_FUNC_INTERNAL_H
#define EBQL_FUNC_INTERNAL_H

#include <sqlite3.h>

#include "func/func.h"

#define S64_LO ((s128)INT64_MIN)
#define S64_HI ((s128)INT64_MAX)
#define U64_HI ((s128)UINT64_MAX)

/* One name with one number of arguments (-1: any).  Aggregates have `last`. */
struct function {
	const char *name;
	s32 n_args;
	s32 detail; /* which of the functions that share an implementation */
	void (*call)(sqlite3_context *context, int argc, sqlite3_value **argv);
	/* Aggregates; without inverse they cannot have OVER, and `value` is called once. */
	void (*step)(sqlite3_context *context, int argc, sqlite3_value **argv);
	void (*value)(sqlite3_context *context);
	void (*inverse)(sqlite3_context *context, int argc, sqlite3_value **argv);
	void (*clear)(void *state); /* frees what the state points to */
	bool is_each;		    /* called for each row, though its arguments are constants */
};

/* eb_cells(h): cells.c */
extern const sqlite3_module cells_module;

/* Each ends with an entry without a name. */
extern const struct function arith_functions[];
extern const struct function name_functions[];
extern const struct function number_functions[];
extern const struct function compare_functions[];
extern const struct function sum_functions[];
extern const struct function order_functions[];
extern const struct function statistic_functions[];
extern const struct function distinct_functions[];

/* What SQLite hands back with each call. */
struct registered {
	const struct function *function;
	const struct naming *naming; /* instead of a function */
	struct func_context *context;
	s64 real_offset_ns; /* from CLOCK_MONOTONIC to CLOCK_REALTIME: the same for all calls */
};

static inline const struct registered *func_of(sqlite3_context *context)
{
	return sqlite3_user_data(context);
}

/* names.c */
void func_name_numbers(sqlite3_context *context, int argc, sqlite3_value **argv);

/* As SQLite knows it, which rel/ tells as the query has it. */
static inline const char *func_name(sqlite3_context *context)
{
	return func_of(context)->function->name;
}

/*
 * What an aggregate keeps from step to step: cleared at first, aligned to 16 bytes, which
 * sqlite3_aggregate_context() is not.  n_bytes 0: NULL where there was no step; else after the
 * error that there is no memory.
 */
void *func_state(sqlite3_context *context, size_t n_bytes);

/* Of the row of this number of a group a value is left out; select: the call's argument. */
void func_negative(sqlite3_context *context, u64 row, sqlite3_value *select);

/* --- Special values: special.c --- */

/*
 * The error that the format makes of `what`.  place: NULL, or "@7-21", the call's place in the
 * query's text, which then stands behind it.
 */
void func_refuse(sqlite3_context *context, enum func_refusal why, sqlite3_value *place,
		 const char *format, const char *what);
/* The error of an integer that has no form for SQLite: what it is, or what takes it. */
void func_too_large(sqlite3_context *context, const char *what);
/* Draws the magic number, once. */
void special_init(void);
/* VALUE_INT: of 2^63 and more; or of type/special.h; VALUE_NULL: any other blob, or no blob at all.
 */
enum value_kind special_of(sqlite3_value *value);
/* An integer below 2^127; below -2^63 an error. */
void special_result_integer(sqlite3_context *context, s128 integer);
/* Below -2^63 too, which sorts and compares wrong: for what is only shown, or eb_text(). */
void special_result_shown(sqlite3_context *context, s128 integer);
s128 special_integer(sqlite3_value *value);
/* As a text. */
void func_result_digits(sqlite3_context *context, s128 integer);
/* Of a value that is special, but no integer: what it points to, for free(); NULL: no memory. */
void *special_value(sqlite3_value *value, struct value *ret_value);

/* Cleared memory for free(); NULL: there is none, which is the function's error. */
void *func_alloc(sqlite3_context *context, size_t n_bytes);

/* --- Numbers: number.c --- */

enum number_kind { NUMBER_NULL, NUMBER_INTEGER, NUMBER_REAL };

struct number {
	enum number_kind kind;
	s128 integer;
	double real; /* of an integer too: rounded */
};

/*
 * As SQLite's operators see a value: the number at the start of a text.  false: a histogram
 * or the like; the context then has an error.
 */
bool number_of(sqlite3_context *context, sqlite3_value *value, struct number *ret_number);
/*
 * As SQLite's sum() and avg() see it: a text that is an integer as a whole is one, other
 * texts count as the real number at their start.
 */
bool number_of_whole(sqlite3_context *context, sqlite3_value *value, struct number *ret_number);
/* NULL gives false, and so does an error: something that is no integer. */
bool integer_of(sqlite3_context *context, sqlite3_value *value, s128 *ret_integer);

#endif
