/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Plain SQLite: the windows that rows have, and a query's own text for SQLite, run once
 * for each; and the few functions that SQLite lacks, written here again.
 */
#include <math.h>
#include <string.h>

#include "random.h"

/* --- Windows --- */

static void add_window(struct windows *windows, struct arena *arena, u64 from, u64 to, u64 number)
{
	u32 n = windows->n;

	if ((n & (n - 1)) == 0) {
		windows->at = arena_grow(arena, windows->at, n * sizeof(*windows->at),
					 MAX(2 * n, 1u) * sizeof(*windows->at));
		windows->numbers = arena_grow(arena, windows->numbers, n * sizeof(u64),
					      MAX(2 * n, 1u) * sizeof(u64));
	}
	windows->at[n] = (struct span_ns){ from, to };
	windows->numbers[n] = number;
	windows->n++;
}

/* Every end behind the first row, until one is behind the last. */
static void time_windows(const struct oracle_query *query, const struct rows *rows,
			 struct arena *arena, struct windows *windows)
{
	const struct dataset *data = &rows->data;
	u64 advance = query->advance, first, last;

	if (!data->n_events)
		return;
	first = (u64)data->events[0].integers[C_TIME];
	last = (u64)data->events[data->n_events - 1].integers[C_TIME];
	for (u64 end = (first / advance + 1) * advance; end - advance <= last; end += advance)
		add_window(windows, arena, end - query->size, end, end / advance);
}

static void must(sqlite3 *db, int rc)
{
	if (rc != SQLITE_OK && rc != SQLITE_DONE && rc != SQLITE_ROW)
		BUG("reference: %s", sqlite3_errmsg(db));
}

/* Each has `size` rows, and the next one begins `advance` rows later; the last may have less. */
static void count_windows(const struct oracle_query *query, struct rows *rows, struct arena *arena,
			  struct windows *windows)
{
	const struct phrase_print how = { PHRASE_SQLITE, .is_all = true };
	u64 *times = arena_array(arena, u64, 2 * rows->data.n_events + 1), n = 0, at = 0, fresh = 0;
	sqlite3 *db = rows_db(rows);
	sqlite3_stmt *statement;
	struct buf sql;

	buf_init(&sql);
	phrase_print(query->times, &how, &sql);
	if (sqlite3_prepare_v2(db, sql.at, -1, &statement, NULL) != SQLITE_OK) {
		buf_free(&sql);
		return; /* a step of shrinking */
	}
	while (sqlite3_step(statement) == SQLITE_ROW)
		times[n++] = (u64)sqlite3_column_int64(statement, 0);
	sqlite3_finalize(statement);
	for (; at + query->size <= n; at += query->advance) {
		fresh = at + query->size;
		add_window(windows, arena, times[at], times[fresh - 1] + 1, windows->n);
	}
	if (at < n && n > fresh)
		add_window(windows, arena, times[at], times[n - 1] + 1, windows->n);
	buf_free(&sql);
}

void windows_of(const struct oracle_query *query, struct rows *rows, struct arena *arena,
		struct windows *ret_windows)
{
	*ret_windows = (struct windows){ 0 };
	if (query->shape == SHAPE_TUMBLING || query->shape == SHAPE_HOPPING)
		time_windows(query, rows, arena, ret_windows);
	else if (query->shape == SHAPE_COUNT)
		count_windows(query, rows, arena, ret_windows);
	else
		add_window(ret_windows, arena, 0, INT64_MAX, 0);
}

/* --- Answers --- */

static void add_rows(sqlite3_stmt *statement, const struct windows *windows, u32 number,
		     struct arena *arena, struct answer *answer)
{
	struct result *result = &answer->result;
	struct value row[64];
	int rc, from = sqlite3_bind_parameter_index(statement, ":from"),
		to = sqlite3_bind_parameter_index(statement, ":to");

	BUG_ON(result->n_columns > ARRAY_SIZE(row));
	if (from)
		sqlite3_bind_int64(statement, from, (s64)windows->at[number].from);
	if (to)
		sqlite3_bind_int64(statement, to, (s64)windows->at[number].to);
	row[0] = (struct value){ .kind = VALUE_INT, .integer = windows->numbers[number] };
	while ((rc = sqlite3_step(statement)) == SQLITE_ROW) {
		for (u32 i = 1; i < result->n_columns; i++)
			row[i] = reference_value(statement, i - 1);
		result_add_row(result, arena, row);
	}
	if (rc != SQLITE_DONE)
		answer->error = "SQLite fails";
	sqlite3_reset(statement);
}

void reference_answer(const struct oracle_query *query, struct rows *rows,
		      const struct windows *windows, struct arena *arena, struct answer *ret_answer)
{
	const struct phrase_print how = { PHRASE_SQLITE, .is_all = query->shape == SHAPE_NONE ||
								   query->shape == SHAPE_SESSION };
	sqlite3 *db = rows_db(rows);
	sqlite3_stmt *statement;
	struct buf sql;

	*ret_answer = (struct answer){ .result.other_row = -1 };
	buf_init(&sql);
	phrase_print(query->text, &how, &sql);
	if (sqlite3_prepare_v2(db, sql.at, -1, &statement, NULL) != SQLITE_OK) {
		ret_answer->error = arena_strdup(arena, sqlite3_errmsg(db));
	} else {
		u32 n = (u32)sqlite3_column_count(statement);

		ret_answer->result.n_columns = n + 1;
		ret_answer->schema.n_columns = n;
		ret_answer->schema.columns = arena_array(arena, struct column, n + 1);
		for (u32 i = 0; i < n; i++)
			ret_answer->schema.columns[i].name =
				arena_strdup(arena, sqlite3_column_name(statement, (int)i));
		for (u32 i = 0; i < windows->n && !ret_answer->error; i++)
			add_rows(statement, windows, i, arena, ret_answer);
	}
	sqlite3_finalize(statement);
	buf_free(&sql);
}

/* --- Functions --- */

/* Of 113 bits. */
#ifdef __SIZEOF_FLOAT128__
typedef __float128 quad;
#else
typedef long double quad;
#endif

/* ref_stddev(n, sum, sum of squares, is_population): in 113 bits, rounded once. */
static void ref_stddev(sqlite3_context *context, int n_args, sqlite3_value **args)
{
	s64 n = sqlite3_value_int64(args[0]), divisor = sqlite3_value_int(args[3]) ? n : n - 1;
	s128 sum = sqlite3_value_int64(args[1]), numerator;
	quad quotient, root;

	if (divisor <= 0)
		return;
	numerator = (s128)n * sqlite3_value_int64(args[2]) - sum * sum;
	quotient = (quad)numerator / ((quad)n * divisor);
	root = sqrt((double)quotient);
	for (u32 i = 0; i < 3 && root > 0; i++)
		root = (root + quotient / root) / 2;
	sqlite3_result_double(context, (double)root);
}

/* ref_first(x, time) and ref_last(x, time): NULLs are skipped. */
struct ref_end {
	bool has_value;
	s64 time;
	sqlite3_value *value;
};

static void end_step(sqlite3_context *context, int n_args, sqlite3_value **args)
{
	struct ref_end *end = sqlite3_aggregate_context(context, sizeof(*end));
	bool is_last = sqlite3_user_data(context);
	s64 time = sqlite3_value_int64(args[1]);

	if (sqlite3_value_type(args[0]) == SQLITE_NULL)
		return;
	if (end->has_value && (is_last ? time < end->time : time >= end->time))
		return;
	sqlite3_value_free(end->value);
	*end = (struct ref_end){ true, time, sqlite3_value_dup(args[0]) };
}

static void end_final(sqlite3_context *context)
{
	struct ref_end *end = sqlite3_aggregate_context(context, 0);

	if (!end || !end->has_value)
		return;
	sqlite3_result_value(context, end->value);
	sqlite3_value_free(end->value);
}

/* bit_or(x), bit_and(x), bit_xor(x): the user data is the operator */
struct ref_bits {
	bool has_value;
	s64 bits;
};

static void bits_step(sqlite3_context *context, int n_args, sqlite3_value **args)
{
	struct ref_bits *bits = sqlite3_aggregate_context(context, sizeof(*bits));
	char op = *(const char *)sqlite3_user_data(context);
	s64 x = sqlite3_value_int64(args[0]);

	if (sqlite3_value_type(args[0]) == SQLITE_NULL)
		return;
	if (!bits->has_value)
		bits->bits = x;
	else
		bits->bits = op == '|'	 ? bits->bits | x
			     : op == '&' ? bits->bits & x
					 : bits->bits ^ x;
	bits->has_value = true;
}

static void bits_final(sqlite3_context *context)
{
	struct ref_bits *bits = sqlite3_aggregate_context(context, 0);

	if (bits && bits->has_value)
		sqlite3_result_int64(context, bits->bits);
}

/* ref_str(address, bytes) */
static void ref_str(sqlite3_context *context, int n_args, sqlite3_value **args)
{
	const char *text = (const char *)(uintptr_t)sqlite3_value_int64(args[0]);

	if (text)
		sqlite3_result_text(context, text,
				    (int)strnlen(text, (size_t)sqlite3_value_int(args[1])),
				    SQLITE_STATIC);
}

void reference_functions(sqlite3 *db)
{
	static const char *const bits[][2] = { { "bit_or", "|" },
					       { "bit_and", "&" },
					       { "bit_xor", "^" } };

	must(db, sqlite3_create_function(db, "ref_stddev", 4, SQLITE_UTF8, NULL, ref_stddev, NULL,
					 NULL));
	must(db, sqlite3_create_function(db, "ref_str", 2, SQLITE_UTF8, NULL, ref_str, NULL, NULL));
	must(db, sqlite3_create_function(db, "ref_first", 2, SQLITE_UTF8, NULL, NULL, end_step,
					 end_final));
	for (u32 i = 0; i < ARRAY_SIZE(bits); i++)
		must(db, sqlite3_create_function(db, bits[i][0], 1, SQLITE_UTF8, (void *)bits[i][1],
						 NULL, bits_step, bits_final));
	must(db, sqlite3_create_function(db, "ref_last", 2, SQLITE_UTF8, db, NULL, end_step,
					 end_final));
}
