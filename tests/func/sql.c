/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * SQL text -> values.
 */
#include "sql.h"

sqlite3 *db;
struct func_context func;
struct arena arena;
struct value given[64];
static struct scratch scratch; /* of all values that were asked for */

static void call_given(sqlite3_context *context, int argc, sqlite3_value **argv)
{
	s64 i = sqlite3_value_int64(argv[0]);

	BUG_ON(i < 0 || i >= (s64)ARRAY_SIZE(given));
	func_result(context, &given[i]);
}

int open_sql(void **state)
{
	arena_init(&arena);
	func = (struct func_context){ 0 };
	if (sqlite3_open(":memory:", &db) || func_register(db, &func))
		return -1;
	return sqlite3_create_function_v2(db, "given", 1, SQLITE_UTF8, NULL, call_given, NULL, NULL,
					  NULL);
}

int close_sql(void **state)
{
	int err = sqlite3_close(db);

	arena_free(&arena);
	scratch_free(&scratch);
	return err;
}

void run(const char *sql)
{
	char *message = NULL;

	if (sqlite3_exec(db, sql, NULL, NULL, &message))
		fail_msg("%s: %s", sql, message);
}

static const char *row_of(struct value *ret_values, struct type type, const char *sql)
{
	const char *error = NULL;
	sqlite3_stmt *statement;

	if (sqlite3_prepare_v2(db, sql, -1, &statement, NULL) ||
	    sqlite3_step(statement) != SQLITE_ROW)
		error = arena_strdup(&arena, sqlite3_errmsg(db));
	for (int i = 0; !error && i < sqlite3_column_count(statement); i++)
		if (func_take(statement, i, type, &scratch, &ret_values[i]))
			error = "func_take: no longer exact";
	sqlite3_finalize(statement);
	return error;
}

const char *ask_row(struct value *ret_values, struct type type, const char *format, ...)
{
	va_list args;
	char *sql;

	va_start(args, format);
	sql = arena_vprintf(&arena, format, args);
	va_end(args);
	return row_of(ret_values, type, sql);
}

static struct value ask_list(struct type type, const char *format, va_list args)
{
	char *sql = arena_vprintf(&arena, format, args);
	struct value values[8];
	const char *error = row_of(values, type, sql);

	if (error)
		fail_msg("%s: %s", sql, error);
	return values[0];
}

struct value ask(const char *format, ...)
{
	struct value value;
	va_list args;

	va_start(args, format);
	value = ask_list(type_int(64, true), format, args);
	va_end(args);
	return value;
}

struct value ask_typed(struct type type, const char *format, ...)
{
	struct value value;
	va_list args;

	va_start(args, format);
	value = ask_list(type, format, args);
	va_end(args);
	return value;
}

const char *show(struct value value)
{
	struct buf out;
	const char *text;

	buf_init(&out);
	if (value.kind == VALUE_NULL)
		buf_puts(&out, "NULL");
	else if (value.kind == VALUE_INT)
		buf_put_s128(&out, value.integer);
	else if (value.kind == VALUE_REAL)
		buf_printf(&out, "%.17g", value.real);
	else if (value.kind == VALUE_TEXT)
		buf_printf(&out, "'%.*s'", (int)value.n, value.text);
	else
		buf_printf(&out, "value of kind %u", value.kind);
	text = arena_strndup(&arena, out.at, out.n);
	buf_free(&out);
	return text;
}

void expect_integer(struct value value, s128 wanted, const char *where)
{
	if (value.kind != VALUE_INT || value.integer != wanted)
		fail_msg("%s: %s instead of %s", where, show(value), show(integer_value(wanted)));
}

void expect_null(struct value value, const char *where)
{
	if (value.kind != VALUE_NULL)
		fail_msg("%s: %s instead of NULL", where, show(value));
}

void expect_error(const char *words, const char *format, ...)
{
	struct value values[8];
	const char *error;
	va_list args;
	char *sql;

	va_start(args, format);
	sql = arena_vprintf(&arena, format, args);
	va_end(args);
	error = row_of(values, type_int(64, true), sql);
	if (!error || !strstr(error, words))
		fail_msg("%s: %s instead of %s", sql, error ? error : "no error", words);
}
