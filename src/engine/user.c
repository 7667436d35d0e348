/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * User part.  SQLite's integers are signed and have 64 bits.  A sum or a u64 beyond
 * them passes by SQLite, which is told the row only, and is sorted by its halves; it
 * is refused where SQLite computes with it, never rounded or made negative.
 * Everything is prepared once; a window costs a reset and the steps.
 */
#include "engine/user.h"

#include <errno.h>
#include <math.h>
#include <sqlite3.h>
#include <string.h>

#include "func/func.h"
#include "rel/rel.h"

struct window_table {
	sqlite3_vtab base;
	struct user *user;
};

struct window_cursor {
	sqlite3_vtab_cursor base;
	u32 position;
};

static struct user *cursor_user(sqlite3_vtab_cursor *cursor)
{
	return ((struct window_table *)cursor->pVtab)->user;
}

static int window_connect(sqlite3 *db, void *context, int argc, const char *const *argv,
			  sqlite3_vtab **ret_table, char **ret_error)
{
	struct user *user = context;
	struct window_table *table;
	struct buf sql;
	u32 i;
	int err;

	buf_init(&sql);
	buf_puts(&sql, "CREATE TABLE w(");
	for (i = 0; i < user->phys->user.input.n_columns; i++)
		buf_printf(&sql, "c%u, h%u, l%u, ", i, i, i);
	buf_puts(&sql, "other, row)");
	err = sqlite3_declare_vtab(db, sql.at);
	buf_free(&sql);
	if (err)
		return err;
	table = sqlite3_malloc(sizeof(*table));
	if (!table)
		return SQLITE_NOMEM;
	*table = (struct window_table){ .user = user };
	*ret_table = &table->base;
	return SQLITE_OK;
}

static int window_disconnect(sqlite3_vtab *table)
{
	sqlite3_free(table);
	return SQLITE_OK;
}

static int window_best_index(sqlite3_vtab *table, sqlite3_index_info *info)
{
	info->estimatedCost = 10000;
	info->estimatedRows = 10000;
	return SQLITE_OK;
}

static int window_open(sqlite3_vtab *table, sqlite3_vtab_cursor **ret_cursor)
{
	struct window_cursor *cursor = sqlite3_malloc(sizeof(*cursor));

	if (!cursor)
		return SQLITE_NOMEM;
	*cursor = (struct window_cursor){ .position = ROWS_END };
	*ret_cursor = &cursor->base;
	return SQLITE_OK;
}

static int window_close(sqlite3_vtab_cursor *cursor)
{
	sqlite3_free(cursor);
	return SQLITE_OK;
}

static int window_filter(sqlite3_vtab_cursor *cursor, int index, const char *name, int argc,
			 sqlite3_value **argv)
{
	struct window_cursor *c = (struct window_cursor *)cursor;

	c->position = rows_seek(&cursor_user(cursor)->rows, ROWS_FIRST);
	return SQLITE_OK;
}

static int window_next(sqlite3_vtab_cursor *cursor)
{
	struct window_cursor *c = (struct window_cursor *)cursor;

	c->position = rows_next(&cursor_user(cursor)->rows, c->position);
	return SQLITE_OK;
}

static int window_eof(sqlite3_vtab_cursor *cursor)
{
	return ((struct window_cursor *)cursor)->position == ROWS_END;
}

/* SQLite computes with a quantile's estimate; its bounds pass by. */
static void take_estimate(struct value *value)
{
	const struct quantile *q = value->quantiles;

	if (value->kind != VALUE_QUANTILES)
		return;
	if (q->is_interpolated)
		*value = (struct value){ .kind = VALUE_REAL, .real = q->interpolated };
	else
		*value = (struct value){ .kind = VALUE_INT, .integer = q->estimate };
}

static int give_value(struct user *user, sqlite3_context *context, const struct column *column,
		      const struct value *value)
{
	switch (value->kind) {
	case VALUE_INT:
		if (value->integer < INT64_MIN || value->integer > INT64_MAX) {
			user->too_large = column->name;
			sqlite3_result_error(context, "too large", -1);
			return SQLITE_ERROR;
		}
		sqlite3_result_int64(context, value->integer);
		break;
	case VALUE_REAL:
		user->has_infinity |= isinf(value->real);
		sqlite3_result_double(context, value->real);
		break;
	case VALUE_TEXT:
		/* The rows stay where they are while the statement runs: nothing is copied. */
		if (column->type.kind == TYPE_BLOB)
			sqlite3_result_blob(context, value->text, value->n, SQLITE_STATIC);
		else
			sqlite3_result_text(context, value->text, value->n, SQLITE_STATIC);
		break;
	default:
		sqlite3_result_null(context);
	}
	return SQLITE_OK;
}

/*
 * 128 bits order as their high half, then the low one; it is biased to order as signed.
 * A bound that is infinite lies beyond every integer.
 */
static void give_half(sqlite3_context *context, const struct value *value, bool is_low)
{
	if (value->kind == VALUE_REAL && isinf(value->real))
		sqlite3_result_int64(context, value->real < 0 ? INT64_MIN : INT64_MAX);
	else if (value->kind != VALUE_INT)
		sqlite3_result_null(context);
	else if (is_low)
		sqlite3_result_int64(context, (s64)((u64)value->integer ^ 1ull << 63));
	else
		sqlite3_result_int64(context, (s64)(value->integer >> 64));
}

static int window_column(sqlite3_vtab_cursor *cursor, sqlite3_context *context, int column)
{
	u32 position = ((struct window_cursor *)cursor)->position, number = column / 3;
	struct user *user = cursor_user(cursor);
	const struct schema *input = &user->phys->user.input;
	struct scratch_mark mark = scratch_mark(&user->scratch);
	struct value value;
	int err = SQLITE_OK;

	if (number >= input->n_columns) {
		bool is_other = user->rows.merge && position == ROWS_OTHER;

		sqlite3_result_int64(context, column % 3 ? (s64)position : is_other);
		return SQLITE_OK;
	}
	if (input->columns[number].type.kind == TYPE_HISTOGRAM ||
	    input->columns[number].type.kind == TYPE_LADDER ||
	    input->columns[number].type.kind == TYPE_TOP) {
		sqlite3_result_null(context);
		return SQLITE_OK;
	}
	rows_value(&user->rows, position, number, &value);
	take_estimate(&value);
	if (column % 3 == 0)
		err = give_value(user, context, &input->columns[number], &value);
	else
		give_half(context, &value, column % 3 == 2);
	/* Only numbers can have come from there. */
	scratch_release(&user->scratch, mark);
	return err;
}

static int window_rowid(sqlite3_vtab_cursor *cursor, sqlite3_int64 *ret_rowid)
{
	*ret_rowid = ((struct window_cursor *)cursor)->position;
	return SQLITE_OK;
}

/* No xCreate: the table is there without CREATE VIRTUAL TABLE, under the module's name. */
static const sqlite3_module window_module = {
	.xConnect = window_connect,
	.xDisconnect = window_disconnect,
	.xBestIndex = window_best_index,
	.xOpen = window_open,
	.xClose = window_close,
	.xFilter = window_filter,
	.xNext = window_next,
	.xEof = window_eof,
	.xColumn = window_column,
	.xRowid = window_rowid,
};

static int sqlite_failed(struct user *user, struct diags *diags)
{
	struct diag *diag;

	if (!user->too_large)
		return connect_refused(user->db, diags);
	diag = diag_plain(diags, "too-large",
			  "a value of %s does not fit 64 bits signed, which is what HAVING, ORDER "
			  "BY and SELECT compute with in user space",
			  user->too_large);
	diag_hint(diags, diag,
		  "use the column as it is, in SELECT and ORDER BY: it is then exact; what WHERE "
		  "and aggregates compute is exact too");
	return -EOVERFLOW;
}

int user_open(struct user *user, const struct phys *phys, const struct cancel *cancel,
	      struct diags *diags)
{
	*user = (struct user){ .phys = phys };
	buf_init(&user->text);
	if (!phys->user.sql)
		return 0;
	for (u32 i = 0; i < phys->user.output.n_columns; i++)
		user->n_computed += phys->user.output_from[i] < 0;
	if (connect_open(cancel, &user->db) ||
	    sqlite3_create_module(user->db, "w", &window_module, user) ||
	    func_register_names(user->db) ||
	    sqlite3_prepare_v3(user->db, phys->user.sql, -1, SQLITE_PREPARE_PERSISTENT,
			       &user->statement, NULL))
		return sqlite_failed(user, diags);
	BUG_ON((u32)sqlite3_column_count(user->statement) != user->n_computed + 1);
	return 0;
}

void user_close(struct user *user)
{
	sqlite3_finalize(user->statement);
	sqlite3_close(user->db);
	region_free(&user->values);
	scratch_free(&user->scratch);
	buf_free(&user->text);
	*user = (struct user){ 0 };
}

static struct value *output_row(struct user *user, u64 row)
{
	u32 n = user->phys->user.output.n_columns;

	if (!region_need(&user->values, (row + 1) * n * sizeof(struct value)))
		return NULL;
	return (struct value *)user->values.at + row * n;
}

/* hi and count of UNNEST: set with lo, from the histogram that stands in its place. */
static bool is_cell_column(const struct phys_user *plan, u32 column)
{
	return plan->unnest >= 0 && (s32)column > plan->unnest && (s32)column <= plan->unnest + 2;
}

/*
 * The row behind the last one of the batch, once more for each cell of its histogram.
 * LIMIT and OFFSET, which never drop the "(other)" rows, count these rows.  Their number, or
 * -ENOMEM.
 */
static int unnest_row(struct user *user, bool is_other, u32 n_rows)
{
	const struct phys_user *plan = &user->phys->user;
	struct value *row = output_row(user, n_rows);
	const struct value value = row[plan->unnest];
	u32 first = 0, n = func_cells_count(&value), width = plan->output.n_columns;

	if (!is_other) {
		first = MIN(n, user->cells_to_skip);
		n = MIN(n - first, user->cells_to_take);
		user->cells_to_skip -= first;
		user->cells_to_take -= n;
	}
	if (!n)
		return 0;
	if (!output_row(user, (u64)n_rows + n - 1))
		return -ENOMEM;
	row = output_row(user, n_rows);
	for (u32 i = n; i-- > 0;) {
		struct value *to = row + (size_t)i * width;

		if (i)
			memcpy(to, row, width * sizeof(*to));
		func_cells_get(&value, first + i, to + plan->unnest);
	}
	return (int)n;
}

/* The row behind the last one of the batch, which output_row() gave, is complete. */
static int add_row(struct user *user, bool is_other, struct batch *batch)
{
	int n = user->phys->user.unnest < 0 ? 1 : unnest_row(user, is_other, batch->n_rows);

	if (n < 0)
		return n;
	if (is_other && n)
		batch->other_row = batch->n_rows;
	batch->n_rows += n;
	return 0;
}

static int pick_columns(struct user *user, struct batch *ret_batch)
{
	const struct phys_user *plan = &user->phys->user;
	const struct rows *rows = &user->rows;
	u32 position = rows_seek(rows, ROWS_FIRST), column;
	struct value *row;
	int err = 0;

	if (!output_row(user, rows_count(rows)))
		return -ENOMEM;
	for (; position != ROWS_END && !err; position = rows_next(rows, position)) {
		row = output_row(user, ret_batch->n_rows);
		if (!row)
			return -ENOMEM;
		for (column = 0; column < plan->output.n_columns; column++)
			if (!is_cell_column(plan, column))
				rows_value(rows, position, plan->output_from[column], &row[column]);
		err = add_row(user, rows->merge && position == ROWS_OTHER, ret_batch);
	}
	ret_batch->values = user->values.at;
	return err;
}

/* Text and blobs: only the place in the buffer, which may still move; set_texts() ends it. */
static void take_text(struct user *user, int column, struct value *ret_value)
{
	ret_value->kind = VALUE_TEXT;
	ret_value->integer = user->text.n;
	if (sqlite3_column_type(user->statement, column) == SQLITE_BLOB) {
		const void *blob = sqlite3_column_blob(user->statement, column);

		ret_value->n = sqlite3_column_bytes(user->statement, column);
		if (ret_value->n)
			buf_put(&user->text, blob, ret_value->n);
		return;
	}
	buf_puts(&user->text, (const char *)sqlite3_column_text(user->statement, column));
	ret_value->n = user->text.n - (size_t)ret_value->integer;
}

static int take_value(struct user *user, const struct column *output, u32 column,
		      struct value *ret_value)
{
	struct type type = output->type;

	*ret_value = (struct value){ .kind = VALUE_NULL };
	switch (sqlite3_column_type(user->statement, column)) {
	case SQLITE_INTEGER:
		if (type.kind == TYPE_REAL) {
			ret_value->kind = VALUE_REAL;
			ret_value->real = sqlite3_column_double(user->statement, column);
		} else {
			ret_value->kind = VALUE_INT;
			ret_value->integer = sqlite3_column_int64(user->statement, column);
		}
		break;
	case SQLITE_FLOAT:
		ret_value->kind = VALUE_REAL;
		ret_value->real = sqlite3_column_double(user->statement, column);
		/*
		 * SQLite goes over to floating point when integers overflow: no longer exact.
		 * What it computes from an infinite bound is.
		 */
		if (type.kind != TYPE_REAL && fabs(ret_value->real) >= 0x1p53 &&
		    !(user->has_infinity && isinf(ret_value->real))) {
			user->too_large = output->name;
			return -EOVERFLOW;
		}
		break;
	case SQLITE_TEXT:
	case SQLITE_BLOB:
		take_text(user, column, ret_value);
		break;
	}
	return 0;
}

static void set_texts(struct user *user, struct batch *batch)
{
	const struct phys_user *plan = &user->phys->user;
	struct value *value = batch->values;
	u32 row, column;

	for (row = 0; row < batch->n_rows; row++)
		for (column = 0; column < plan->output.n_columns; column++, value++)
			if (value->kind == VALUE_TEXT && plan->output_from[column] < 0)
				value->text = user->text.at + (size_t)value->integer;
}

static int take_row(struct user *user, struct value *ret_row)
{
	const struct phys_user *plan = &user->phys->user;
	u32 position = (u32)sqlite3_column_int64(user->statement, user->n_computed);
	u32 computed = 0, i;
	int err = 0;

	for (i = 0; i < plan->output.n_columns && !err; i++) {
		if (is_cell_column(plan, i))
			continue;
		if (plan->output_from[i] >= 0)
			rows_value(&user->rows, position, plan->output_from[i], &ret_row[i]);
		else
			err = take_value(user, &plan->output.columns[i], computed++, &ret_row[i]);
	}
	return err;
}

static int run_sql(struct user *user, struct diags *diags, struct batch *ret_batch)
{
	int step = SQLITE_DONE, err = 0;
	struct value *row;

	buf_reset(&user->text);
	user->too_large = NULL;
	user->has_infinity = false;
	while (!err && (step = sqlite3_step(user->statement)) == SQLITE_ROW) {
		row = output_row(user, ret_batch->n_rows);
		err = row ? take_row(user, row) : -ENOMEM;
		if (!err)
			err = add_row(user,
				      user->rows.merge &&
					      sqlite3_column_int64(user->statement,
								   user->n_computed) == ROWS_OTHER,
				      ret_batch);
	}
	if (err == -EOVERFLOW || (!err && step != SQLITE_DONE))
		err = sqlite_failed(user, diags);
	sqlite3_reset(user->statement);
	ret_batch->values = user->values.at;
	set_texts(user, ret_batch);
	return err;
}

int user_run(struct user *user, const struct rows *rows, struct diags *diags,
	     struct batch *ret_batch)
{
	ret_batch->schema = &user->phys->user.output;
	ret_batch->n_rows = 0;
	ret_batch->other_row = -1;
	ret_batch->values = NULL;
	user->rows = *rows;
	user->rows.scratch = &user->scratch;
	scratch_reset(&user->scratch);
	user->cells_to_skip = (u64)user->phys->user.unnest_offset;
	user->cells_to_take = (u64)user->phys->user.unnest_limit; /* -1: all there are */
	if (!user->phys->user.sql)
		return pick_columns(user, ret_batch);
	return run_sql(user, diags, ret_batch);
}
