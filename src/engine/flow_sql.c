/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * SQLite's side of a flow: one connection with the relations, the functions and the
 * attached databases (read-only), and one statement.
 */
#include <ctype.h>
#include <errno.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "engine/internal.h"

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

static int attach_database(struct flow *flow, const struct plan_database *database)
{
	struct sqlite3 *db = flow->sql.db;
	sqlite3_stmt *statement = NULL;
	struct buf uri;
	int err;

	buf_init(&uri);
	put_uri(&uri, database->path);
	err = uri.is_cut ? SQLITE_NOMEM
			 : sqlite3_prepare_v2(db, "ATTACH ?1 AS ?2", -1, &statement, NULL);
	if (!err) {
		sqlite3_bind_text(statement, 1, uri.at, -1, SQLITE_TRANSIENT);
		sqlite3_bind_text(statement, 2, database->name, -1, SQLITE_TRANSIENT);
		err = sqlite3_step(statement) == SQLITE_DONE ? 0 : SQLITE_ERROR;
	}
	if (err)
		diag_failure_at(flow->diags, "user-part", database->span,
				"SQLite cannot attach '%s': %s", database->path,
				sqlite3_errmsg(db));
	sqlite3_finalize(statement);
	buf_free(&uri);
	return err ? -EINVAL : 0;
}

u64 flow_computed_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (u64)now.tv_sec * 1000000000 + (u64)now.tv_nsec;
}

void flow_begin_turn(struct flow *flow)
{
	flow->sql.left_ns = flow->is_hasty ? ENGINE_SQL_NS : UINT64_MAX;
	flow->are_lists_read = false;
}

static int on_steps(void *context)
{
	struct flow *flow = context;

	flow->sql.is_too_slow = flow_computed_ns() >= flow->sql.end_ns;
	return flow->sql.is_too_slow || cancel_is_due(flow->cancel);
}

static int too_slow(struct flow *flow)
{
	const struct span all = { 0, (u32)flow->diags->text_bytes };
	struct diag *diag = diag_failure_at(
		flow->diags, "too-slow", all,
		"user space has computed %u s for one result, and other queries wait for it",
		(u32)(ENGINE_SQL_NS / 1000000000));

	diag_hint(
		flow->diags, diag,
		"alone it may take its time: ebql 'SELECT ...', or a session of its own; here ask "
		"for fewer rows to join, sort or group: WHERE, GROUP BY, or a shorter WINDOW");
	return -ETIME;
}

int flow_open_sql(struct flow *flow)
{
	const struct cut *cut = flow->cut;
	struct flow_sql *sql = &flow->sql;
	u32 i;
	int err;

	if (flow->is_plain || sql->db)
		return 0;
	for (i = 0; i < cut->output.n_columns; i++)
		sql->n_computed += !cut->picks || cut->picks[i] == CUT_PICK_SQL;
	if (connect_open(flow->cancel, &sql->db) || func_register(sql->db, &sql->context))
		return connect_refused(sql->db, flow->diags);
	sql->end_ns = UINT64_MAX; /* what is attached and prepared here takes its time */
	sqlite3_progress_handler(sql->db, CONNECT_STEPS, on_steps, flow);
	for (i = 0; i < cut->n_parts; i++) {
		flow->relations[i].context = &sql->context;
		if (relation_register(sql->db, &flow->relations[i]))
			return connect_refused(sql->db, flow->diags);
	}
	for (i = 0; i < cut->n_databases; i++) {
		err = attach_database(flow, &cut->databases[i]);
		if (err)
			return err;
	}
	if (sqlite3_prepare_v3(sql->db, cut->sql, -1, SQLITE_PREPARE_PERSISTENT, &sql->statement,
			       NULL))
		return connect_refused(sql->db, flow->diags);
	BUG_ON((u32)sqlite3_column_count(sql->statement) != sql->n_computed + !!cut->picks);
	sql->start_parameter = sqlite3_bind_parameter_index(sql->statement, ":window_start");
	sql->end_parameter = sqlite3_bind_parameter_index(sql->statement, ":window_end");
	return 0;
}

void flow_close_sql(struct flow *flow)
{
	struct flow_sql *sql = &flow->sql;

	sqlite3_finalize(sql->statement);
	sqlite3_close(sql->db);
	region_free(&sql->values);
	scratch_free(&sql->scratch);
	sql->statement = NULL;
	sql->db = NULL;
}

/* What SQLite does not see of the row. */
static void pick(struct flow *flow, s32 column, u64 row, const struct batch *batch,
		 struct value *ret_value)
{
	const struct relation_reader *reader = &flow->relations[0].reader;

	if (column >= 0)
		reader->value(reader->context, row, (u32)column, &flow->sql.scratch, ret_value);
	else
		*ret_value = (struct value){
			.kind = VALUE_INT,
			.integer = column == CUT_PICK_START ? batch->window_start_ns
				   : column == CUT_PICK_END ? batch->window_end_ns
							    : (s64)row == reader->other_row,
		};
}

static void begin_rows(struct flow *flow, struct batch *batch)
{
	scratch_reset(&flow->sql.scratch);
	batch->n_rows = 0;
	batch->other_row = -1;
}

/* Room for a row behind the last one of the batch; NULL: no memory. */
static struct value *new_row(struct flow *flow, struct batch *batch)
{
	struct region *values = &flow->sql.values;
	u64 width = batch->schema->n_columns;

	if (!region_need(values, (batch->n_rows + 1) * width * sizeof(struct value)))
		return NULL;
	batch->values = values->at;
	return (struct value *)values->at + batch->n_rows++ * width;
}

/* The statement's row. */
static int take_row(struct flow *flow, struct batch *batch)
{
	const struct schema *schema = batch->schema;
	const s32 *picks = flow->cut->picks;
	struct flow_sql *sql = &flow->sql;
	struct value *row = new_row(flow, batch);
	int n = 0, err = row ? 0 : -ENOMEM;
	u64 from = 0;

	if (picks)
		from = (u64)sqlite3_column_int64(sql->statement, (int)sql->n_computed);
	if (picks && (s64)from == flow->relations[0].reader.other_row)
		batch->other_row = batch->n_rows - 1;
	for (u32 i = 0; i < schema->n_columns && !err; i++) {
		if (picks && picks[i] != CUT_PICK_SQL) {
			pick(flow, picks[i], from, batch, &row[i]);
			continue;
		}
		err = func_take(sql->statement, n++, schema->columns[i].type, &sql->scratch,
				&row[i]);
		/* It is what a table holds, as like as not. */
		if (err == -EOVERFLOW && flow->cut->reads_tables)
			err = 0;
		if (err == -EOVERFLOW)
			connect_too_large(schema->columns[i].name, flow->diags);
	}
	return sql->scratch.is_short ? -ENOMEM : err;
}

int flow_pick(struct flow *flow, struct batch *batch)
{
	begin_rows(flow, batch);
	batch->other_row = flow->relations[0].reader.other_row;
	for (u64 row = 0; row < flow->relations[0].n_rows; row++) {
		struct value *values = new_row(flow, batch);

		if (!values)
			return -ENOMEM;
		for (u32 i = 0; i < batch->schema->n_columns; i++)
			pick(flow, flow->cut->picks[i], row, batch, &values[i]);
	}
	return flow->sql.scratch.is_short ? -ENOMEM : 0;
}

/* The statement's rows; n_negative: of the batch's values, known from a run before. */
static int run_once(struct flow *flow, u64 limit, u64 n_negative, struct batch *batch)
{
	struct flow_sql *sql = &flow->sql;
	int step = SQLITE_DONE, err = 0;

	begin_rows(flow, batch);
	sql->context =
		(struct func_context){ .n_lost_values =
					       account_lost_values(&batch->account) + n_negative };
	while (!err && batch->n_rows < limit) {
		step = sqlite3_step(sql->statement);
		if (step != SQLITE_ROW)
			break;
		err = take_row(flow, batch);
	}
	if (!err && step != SQLITE_DONE && step != SQLITE_ROW)
		err = sql->is_too_slow ? too_slow(flow) : connect_refused(sql->db, flow->diags);
	sqlite3_reset(sql->statement);
	return err;
}

int flow_run_sql(struct flow *flow, u64 limit, struct batch *batch)
{
	struct flow_sql *sql = &flow->sql;
	struct account counted = { 0 };
	u64 n_negative, start_ns = base_monotonic_ns(), from_ns = flow_computed_ns();
	int err;

	sql->end_ns = sql->left_ns == UINT64_MAX ? UINT64_MAX : from_ns + sql->left_ns;
	if (sql->start_parameter)
		sqlite3_bind_int64(sql->statement, sql->start_parameter,
				   (s64)batch->window_start_ns);
	if (sql->end_parameter)
		sqlite3_bind_int64(sql->statement, sql->end_parameter, (s64)batch->window_end_ns);
	err = run_once(flow, limit, 0, batch);
	/* Values that histograms had no cells for are missing from their quantiles: once more. */
	n_negative = sql->context.n_negative;
	if (!err && n_negative)
		err = run_once(flow, limit, n_negative, batch);
	counted.lost[LOSS_FAULT] = sql->context.n_faults;
	counted.lost[LOSS_NEGATIVE] = sql->context.n_negative;
	account_add(&batch->account, &counted);
	account_add(&sql->done, &counted);
	for (u32 i = 0; i < flow->cut->n_parts; i++)
		sql->done.events += flow->relations[i].n_rows;
	sql->done.matched += batch->n_rows;
	sql->ns += base_monotonic_ns() - start_ns;
	if (sql->left_ns != UINT64_MAX)
		sql->left_ns -= MIN(sql->left_ns, flow_computed_ns() - from_ns);
	/* Of the run: once a window, once a streamed row, or anew each snapshot. */
	if (!flow_is_windowed(flow) && !flow->is_streaming)
		flow->sql_lost = (struct account){ 0 };
	account_add(&flow->sql_lost, &counted);
	return err;
}
