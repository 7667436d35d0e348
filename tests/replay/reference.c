/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The reference: events as rows of tables of an SQLite database in memory, and a
 * query's text -> its result set.
 */
#include "func/func.h"
#include "replay.h"

static void must(sqlite3 *db, int rc)
{
	if (rc != SQLITE_OK && rc != SQLITE_DONE)
		BUG("reference: %s", sqlite3_errmsg(db));
}

void reference_table(sqlite3 *db, const char *table)
{
	struct buf sql;

	buf_init(&sql);
	buf_printf(&sql, "CREATE TABLE %s (", table);
	for (u32 i = 0; i < C_N; i++)
		buf_printf(&sql, "%s %s, ", column_infos[i].name,
			   column_infos[i].is_text ? "TEXT" : "INTEGER");
	buf_puts(&sql, "seq INTEGER)");
	must(db, sqlite3_exec(db, sql.at, NULL, NULL, NULL));
	buf_free(&sql);
}

static void insert_event(sqlite3 *db, sqlite3_stmt *insert, const struct event *e, u32 seq)
{
	for (u32 i = 0; i < C_N; i++) {
		int at = (int)i + 1;

		if (column_infos[i].is_text)
			must(db, sqlite3_bind_text(insert, at, e->texts[i], (int)e->text_bytes[i],
						   SQLITE_STATIC));
		else
			must(db, sqlite3_bind_int64(insert, at, (s64)e->integers[i]));
	}
	must(db, sqlite3_bind_int(insert, C_N + 1, (int)seq));
	must(db, sqlite3_step(insert));
	must(db, sqlite3_reset(insert));
}

void reference_fill(sqlite3 *db, const char *table, const struct event *events, u32 n_events,
		    s32 stream)
{
	sqlite3_stmt *insert;
	struct buf sql;

	buf_init(&sql);
	buf_printf(&sql, "INSERT INTO %s VALUES (?", table);
	for (u32 i = 0; i < C_N; i++)
		buf_puts(&sql, ", ?");
	buf_puts(&sql, ")");
	must(db, sqlite3_exec(db, "BEGIN", NULL, NULL, NULL));
	must(db, sqlite3_prepare_v2(db, sql.at, -1, &insert, NULL));
	for (u32 i = 0; i < n_events; i++)
		if (stream < 0 || events[i].stream == stream)
			insert_event(db, insert, &events[i], i);
	must(db, sqlite3_finalize(insert));
	must(db, sqlite3_exec(db, "COMMIT", NULL, NULL, NULL));
	buf_free(&sql);
}

sqlite3 *reference_open(void)
{
	static struct func_context context;
	sqlite3 *db;

	must(NULL, sqlite3_open(":memory:", &db));
	must(db, func_register(db, &context));
	reference_table(db, "t");
	return db;
}

void reference_load(sqlite3 *db, const struct event *events, u32 n_events)
{
	must(db, sqlite3_exec(db, "DELETE FROM t", NULL, NULL, NULL));
	reference_fill(db, "t", events, n_events, -1);
}

struct value reference_value(sqlite3_stmt *statement, u32 column)
{
	int i = (int)column;

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
				       .n = (u32)sqlite3_column_bytes(statement, i) };
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
			row[i] = reference_value(statement, i);
		result_add_row(ret_result, arena, row);
	}
	if (rc != SQLITE_DONE)
		*ret_error = arena_strdup(arena, sqlite3_errmsg(db));
	sqlite3_finalize(statement);
	return rc == SQLITE_DONE;
}
