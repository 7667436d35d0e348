/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * UNNEST: the table-valued function eb_cells(h): a histogram or a top list -> its cells or values
 * as rows of three columns.
 */
#include "func/internal.h"

#include <stdlib.h>

/* The argument is the first hidden column. */
enum cells_column { CELLS_A, CELLS_B, CELLS_C, CELLS_OF, CELLS_NUMBER };

struct cells_cursor {
	sqlite3_vtab_cursor base;
	struct value value;
	void *memory; /* of the value */
	u32 number, n;
};

static int cells_connect(sqlite3 *db, void *unused, int argc, const char *const *argv,
			 sqlite3_vtab **ret_table, char **ret_error)
{
	int err = sqlite3_declare_vtab(db, "CREATE TABLE t (a, b, c, h HIDDEN, cell HIDDEN)");

	if (err)
		return err;
	*ret_table = sqlite3_malloc(sizeof(**ret_table));
	if (!*ret_table)
		return SQLITE_NOMEM;
	**ret_table = (sqlite3_vtab){ 0 };
	return SQLITE_OK;
}

static int cells_disconnect(sqlite3_vtab *table)
{
	sqlite3_free(table);
	return SQLITE_OK;
}

static int cells_best_index(sqlite3_vtab *table, sqlite3_index_info *info)
{
	for (int i = 0; i < info->nConstraint; i++) {
		if (info->aConstraint[i].iColumn != CELLS_OF || !info->aConstraint[i].usable ||
		    info->aConstraint[i].op != SQLITE_INDEX_CONSTRAINT_EQ)
			continue;
		info->aConstraintUsage[i].argvIndex = 1;
		info->aConstraintUsage[i].omit = 1;
		info->estimatedCost = info->estimatedRows = 100;
		return SQLITE_OK;
	}
	return SQLITE_CONSTRAINT;
}

static int cells_open(sqlite3_vtab *table, sqlite3_vtab_cursor **ret_cursor)
{
	struct cells_cursor *cursor = calloc(1, sizeof(*cursor));

	if (!cursor)
		return SQLITE_NOMEM;
	*ret_cursor = &cursor->base;
	return SQLITE_OK;
}

static int cells_close(sqlite3_vtab_cursor *base)
{
	struct cells_cursor *cursor = (struct cells_cursor *)base;

	free(cursor->memory);
	free(cursor);
	return SQLITE_OK;
}

static int cells_next(sqlite3_vtab_cursor *base)
{
	struct cells_cursor *cursor = (struct cells_cursor *)base;

	cursor->number++;
	return SQLITE_OK;
}

static int cells_filter(sqlite3_vtab_cursor *base, int number, const char *text, int argc,
			sqlite3_value **argv)
{
	struct cells_cursor *cursor = (struct cells_cursor *)base;
	enum value_kind kind = argc ? special_of(argv[0]) : VALUE_NULL;

	free(cursor->memory);
	cursor->memory = NULL;
	cursor->number = cursor->n = 0;
	if (kind == VALUE_HISTOGRAM || kind == VALUE_TOP) {
		cursor->memory = special_value(argv[0], &cursor->value);
		if (!cursor->memory)
			return SQLITE_NOMEM;
		cursor->n = special_n_rows(&cursor->value);
	} else if (argc && sqlite3_value_type(argv[0]) != SQLITE_NULL) {
		base->pVtab->zErrMsg = sqlite3_mprintf("not a histogram, and no top list");
		return SQLITE_ERROR;
	}
	return SQLITE_OK;
}

static int cells_eof(sqlite3_vtab_cursor *base)
{
	struct cells_cursor *cursor = (struct cells_cursor *)base;

	return cursor->number >= cursor->n;
}

static int cells_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int column)
{
	struct cells_cursor *cursor = (struct cells_cursor *)base;
	struct value row[3], *value = &row[column < CELLS_OF ? column : 0];

	special_row(&cursor->value, cursor->number, row);
	if (column == CELLS_NUMBER)
		sqlite3_result_int64(context, cursor->number);
	else if (column > CELLS_C)
		sqlite3_result_null(context);
	else if (value->kind == VALUE_TEXT) /* it goes with the cursor's next list */
		sqlite3_result_text(context, value->n ? value->text : "", (int)value->n,
				    SQLITE_TRANSIENT);
	else
		func_result(context, value);
	return SQLITE_OK;
}

static int cells_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *ret_rowid)
{
	*ret_rowid = ((struct cells_cursor *)base)->number;
	return SQLITE_OK;
}

/* No xCreate: the table is there without CREATE VIRTUAL TABLE, under the module's name. */
const sqlite3_module cells_module = {
	.xConnect = cells_connect,
	.xDisconnect = cells_disconnect,
	.xBestIndex = cells_best_index,
	.xOpen = cells_open,
	.xClose = cells_close,
	.xFilter = cells_filter,
	.xNext = cells_next,
	.xEof = cells_eof,
	.xColumn = cells_column,
	.xRowid = cells_rowid,
};
