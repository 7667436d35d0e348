/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * SQLite's side of a flow: one connection with the relations, the functions and the
 * attached databases (read-only), and one statement.
 */
#include "engine/flow_sql.h"

#include <ctype.h>
#include <errno.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

#include "rel/rel.h"

static int too_large(const char *what, struct diags *diags)
{
	struct diag *diag = diag_failure(
		diags, "too-large", "an integer beyond what user space computes with: %s", what);

	diag_hint(diags, diag,
		  "it computes exactly with those from -2^63 on, printf() and arguments of "
		  "aggregates to 64 bits; where about right will do, CAST(x AS REAL)");
	return -EOVERFLOW;
}

static int sqlite_failed(struct flow_sql *sql, struct diags *diags)
{
	if (sql->db && func_is_too_large(sql->db))
		return too_large(sqlite3_errmsg(sql->db) + strlen("too large: "), diags);
	return connect_refused(sql->db, diags);
}

/* "file:PATH?mode=ro": as a URI wants it, every other byte than these is %XX. */
static void put_uri(struct buf *out, const char *path)
{
	buf_puts(out, "file:");
	for (; *path; path++) {
		if (isalnum((u8)*path) || strchr("/._-", *path))
			buf_putc(out, *path);
		else
			buf_printf(out, "%%%02X", (u8)*path);
	}
	buf_puts(out, "?mode=ro");
}

static int attach_database(struct flow_sql *sql, const struct plan_database *database,
			   struct diags *diags)
{
	sqlite3_stmt *statement = NULL;
	struct buf uri;
	int err;

	buf_init(&uri);
	put_uri(&uri, database->path);
	err = uri.is_cut ? SQLITE_NOMEM
			 : sqlite3_prepare_v2(sql->db, "ATTACH ?1 AS ?2", -1, &statement, NULL);
	if (!err) {
		sqlite3_bind_text(statement, 1, uri.at, -1, SQLITE_TRANSIENT);
		sqlite3_bind_text(statement, 2, database->name, -1, SQLITE_TRANSIENT);
		err = sqlite3_step(statement) == SQLITE_DONE ? 0 : SQLITE_ERROR;
	}
	if (err)
		diag_failure_at(diags, "user-part", database->span, "SQLite cannot attach '%s': %s",
				database->path, sqlite3_errmsg(sql->db));
	sqlite3_finalize(statement);
	buf_free(&uri);
	return err ? -EINVAL : 0;
}

int flow_sql_open(struct flow_sql *sql, const struct cut *cut, struct relation *relations,
		  const struct cancel *cancel, struct diags *diags)
{
	u32 i;
	int err;

	*sql = (struct flow_sql){ .cut = cut, .relations = relations };
	for (i = 0; i < cut->output.n_columns; i++)
		sql->n_computed += !cut->picks || cut->picks[i] == CUT_PICK_SQL;
	if (connect_open(cancel, &sql->db) || func_register(sql->db, &sql->context))
		return sqlite_failed(sql, diags);
	for (i = 0; i < cut->n_parts; i++) {
		relations[i].context = &sql->context;
		if (relation_register(sql->db, &relations[i]))
			return sqlite_failed(sql, diags);
	}
	for (i = 0; i < cut->n_databases; i++) {
		err = attach_database(sql, &cut->databases[i], diags);
		if (err)
			return err;
	}
	if (sqlite3_prepare_v3(sql->db, cut->sql, -1, SQLITE_PREPARE_PERSISTENT, &sql->statement,
			       NULL))
		return sqlite_failed(sql, diags);
	BUG_ON((u32)sqlite3_column_count(sql->statement) != sql->n_computed + !!cut->picks);
	sql->start_parameter = sqlite3_bind_parameter_index(sql->statement, ":window_start");
	sql->end_parameter = sqlite3_bind_parameter_index(sql->statement, ":window_end");
	return 0;
}

void flow_sql_close(struct flow_sql *sql)
{
	sqlite3_finalize(sql->statement);
	sqlite3_close(sql->db);
	region_free(&sql->values);
	scratch_free(&sql->scratch);
	sql->statement = NULL;
	sql->db = NULL;
}

/* What SQLite does not see of the row. */
static void pick(struct flow_sql *sql, struct relation *relation, s32 column, u64 row,
		 const struct batch *batch, struct value *ret_value)
{
	const struct relation_reader *reader = &relation->reader;

	if (column >= 0)
		reader->value(reader->context, row, (u32)column, &sql->scratch, ret_value);
	else
		*ret_value = (struct value){ .kind = VALUE_INT,
					     .integer = column == CUT_PICK_START
								? batch->window_start_ns
								: batch->window_end_ns };
}

/* Room for a row behind the last one of the batch; NULL: no memory. */
static struct value *new_row(struct flow_sql *sql, struct batch *batch)
{
	u64 width = batch->schema->n_columns;

	if (!region_need(&sql->values, (batch->n_rows + 1) * width * sizeof(struct value)))
		return NULL;
	return (struct value *)sql->values.at + batch->n_rows++ * width;
}

/* The statement's row. */
static int take_row(struct flow_sql *sql, struct diags *diags, struct batch *batch)
{
	const struct schema *schema = &sql->cut->output;
	const s32 *picks = sql->cut->picks;
	struct value *row = new_row(sql, batch);
	int n = 0, err = row ? 0 : -ENOMEM;
	u64 from = 0;

	if (picks)
		from = (u64)sqlite3_column_int64(sql->statement, (int)sql->n_computed);
	if (picks && (s64)from == sql->relations[0].reader.other_row)
		batch->other_row = batch->n_rows - 1;
	for (u32 i = 0; i < schema->n_columns && !err; i++) {
		if (picks && picks[i] != CUT_PICK_SQL) {
			pick(sql, &sql->relations[0], picks[i], from, batch, &row[i]);
			continue;
		}
		err = func_take(sql->statement, n++, schema->columns[i].type, &sql->scratch,
				&row[i]);
		if (err == -EOVERFLOW)
			too_large(schema->columns[i].name, diags);
	}
	return sql->scratch.is_short ? -ENOMEM : err;
}

int flow_sql_pick(struct flow_sql *sql, const struct cut *cut, struct relation *relation,
		  struct batch *batch)
{
	scratch_reset(&sql->scratch);
	batch->schema = &cut->output;
	batch->other_row = relation->reader.other_row;
	batch->n_rows = 0;
	for (u64 row = 0; row < relation->n_rows; row++) {
		struct value *values = new_row(sql, batch);

		if (!values)
			return -ENOMEM;
		for (u32 i = 0; i < cut->output.n_columns; i++)
			pick(sql, relation, cut->picks[i], row, batch, &values[i]);
	}
	batch->values = sql->values.at;
	return sql->scratch.is_short ? -ENOMEM : 0;
}

/* The statement's rows; n_negative: of the batch's values, known from a run before. */
static int run_once(struct flow_sql *sql, u64 limit, u64 n_negative, struct diags *diags,
		    struct batch *batch)
{
	int step = SQLITE_DONE, err = 0;

	batch->n_rows = 0;
	batch->other_row = -1;
	scratch_reset(&sql->scratch);
	sql->context =
		(struct func_context){ .n_lost_values =
					       account_lost_values(&batch->account) + n_negative };
	while (!err && batch->n_rows < limit) {
		step = sqlite3_step(sql->statement);
		if (step != SQLITE_ROW)
			break;
		err = take_row(sql, diags, batch);
	}
	if (!err && step != SQLITE_DONE && step != SQLITE_ROW)
		err = sqlite_failed(sql, diags);
	sqlite3_reset(sql->statement);
	return err;
}

int flow_sql_run(struct flow_sql *sql, u64 limit, struct diags *diags, struct batch *batch)
{
	u64 n_negative;
	int err;

	batch->schema = &sql->cut->output;
	batch->other_row = -1;
	if (sql->start_parameter)
		sqlite3_bind_int64(sql->statement, sql->start_parameter,
				   (s64)batch->window_start_ns);
	if (sql->end_parameter)
		sqlite3_bind_int64(sql->statement, sql->end_parameter, (s64)batch->window_end_ns);
	err = run_once(sql, limit, 0, diags, batch);
	/* Values that histograms had no cells for are missing from their quantiles: once more. */
	n_negative = sql->context.n_negative;
	if (!err && n_negative)
		err = run_once(sql, limit, n_negative, diags, batch);
	batch->values = sql->values.at;
	batch->account.lost[LOSS_FAULT] += sql->context.n_faults;
	batch->account.lost[LOSS_NEGATIVE] += sql->context.n_negative;
	return err;
}
