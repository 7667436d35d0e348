/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The reference: the events as rows of the table t of an SQLite database in
 * memory, and a query's text -> its result set.
 */
#include "func/func.h"
#include "replay.h"

static void must(sqlite3 *db, int rc)
{
	if (rc != SQLITE_OK && rc != SQLITE_DONE)
		BUG("reference: %s", sqlite3_errmsg(db));
}

sqlite3 *reference_open(void)
{
	static struct func_context context;
	struct buf sql;
	sqlite3 *db;

	buf_init(&sql);
	buf_puts(&sql, "CREATE TABLE t (");
	for (u32 i = 0; i < C_N; i++)
		buf_printf(&sql, "%s%s %s", i ? ", " : "", column_infos[i].name,
			   column_infos[i].is_text ? "TEXT" : "INTEGER");
	buf_puts(&sql, ")");
	must(NULL, sqlite3_open(":memory:", &db));
	must(db, func_register(db, &context));
	must(db, sqlite3_exec(db, sql.at, NULL, NULL, NULL));
	buf_free(&sql);
	return db;
}

void reference_load(sqlite3 *db, const struct event *events, u32 n_events)
{
	sqlite3_stmt *insert;
	struct buf sql;

	buf_init(&sql);
	buf_puts(&sql, "INSERT INTO t VALUES (?");
	for (u32 i = 1; i < C_N; i++)
		buf_puts(&sql, ", ?");
	buf_puts(&sql, ")");
	must(db, sqlite3_exec(db, "BEGIN; DELETE FROM t", NULL, NULL, NULL));
	must(db, sqlite3_prepare_v2(db, sql.at, -1, &insert, NULL));
	for (u32 j = 0; j < n_events; j++) {
		for (u32 i = 0; i < C_N; i++) {
			if (column_infos[i].is_text)
				must(db, sqlite3_bind_text(insert, i + 1, events[j].texts[i],
							   events[j].text_bytes[i], SQLITE_STATIC));
			else
				must(db,
				     sqlite3_bind_int64(insert, i + 1, (s64)events[j].integers[i]));
		}
		must(db, sqlite3_step(insert));
		must(db, sqlite3_reset(insert));
	}
	must(db, sqlite3_finalize(insert));
	must(db, sqlite3_exec(db, "COMMIT", NULL, NULL, NULL));
	buf_free(&sql);
}

static struct value column_value(sqlite3_stmt *statement, u32 i)
{
	switch (sqlite3_column_type(statement, i)) {
	case SQLITE_INTEGER:
		return (struct value){ .kind = VALUE_INT,
				       .integer = sqlite3_column_int64(statement, i) };
	case SQLITE_FLOAT:
		return (struct value){ .kind = VALUE_REAL,
				       .real = sqlite3_column_double(statement, i) };
	case SQLITE_TEXT:
		return (struct value){ .kind = VALUE_TEXT,
				       .text = (const char *)sqlite3_column_text(statement, i),
				       .n = sqlite3_column_bytes(statement, i) };
	}
	return (struct value){ .kind = VALUE_NULL };
}

bool reference_run(sqlite3 *db, const char *sql, struct arena *arena, struct result *ret_result,
		   const char **ret_error)
{
	sqlite3_stmt *statement = NULL;
	struct value row[32];
	int rc = sqlite3_prepare_v2(db, sql, -1, &statement, NULL);

	*ret_result =
		(struct result){ .n_columns = sqlite3_column_count(statement), .other_row = -1 };
	BUG_ON(ret_result->n_columns > ARRAY_SIZE(row));
	while (rc == SQLITE_OK || rc == SQLITE_ROW) {
		rc = sqlite3_step(statement);
		if (rc != SQLITE_ROW)
			break;
		for (u32 i = 0; i < ret_result->n_columns; i++)
			row[i] = column_value(statement, i);
		result_add_row(ret_result, arena, row);
	}
	if (rc != SQLITE_DONE)
		*ret_error = arena_strdup(arena, sqlite3_errmsg(db));
	sqlite3_finalize(statement);
	return rc == SQLITE_DONE;
}
