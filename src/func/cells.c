/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * UNNEST: a histogram or a top list -> three values for each cell or row of it, as rows of
 * the table-valued function eb_cells(h), or one by one for a user part without SQL.
 */
#include "func/internal.h"

#include <stdlib.h>

/* The edge of a cell; NULL: the cell reaches as far as values do. */
static struct value edge_value(bool has_edge, s128 edge)
{
	if (!has_edge)
		return (struct value){ .kind = VALUE_NULL };
	return (struct value){ .kind = VALUE_INT, .integer = edge };
}

static void set_cell(const struct histogram *h, u32 number, struct value *ret_values)
{
	struct scheme_edges edges;

	scheme_edges(h->scheme, h->cells[number].cell, &edges);
	ret_values[0] = edge_value(edges.has_lo, edges.lo);
	ret_values[1] = edge_value(edges.has_hi, edges.hi);
	ret_values[2] = edge_value(true, h->cells[number].count);
}

/* Row `number` of a top list: value, weight, error; behind the last one all other values. */
static void set_top_row(const struct top *top, u32 number, struct value *ret_values)
{
	const struct top_row *row = &top->rows[number];
	s128 lo = 0, hi = 0;

	if (number < top->n_rows) {
		ret_values[0] = row->value;
		ret_values[1] = edge_value(true, row->weight);
		ret_values[2] = edge_value(true, row->error);
		return;
	}
	top_others(top, &lo, &hi);
	ret_values[0] = edge_value(false, 0);
	ret_values[1] = edge_value(true, hi);
	ret_values[2] = edge_value(true, hi - lo);
}

u32 func_cells_count(const struct value *value)
{
	s128 lo, hi;

	if (value->kind == VALUE_HISTOGRAM)
		return value->histogram->n_cells;
	if (value->kind != VALUE_TOP)
		return 0;
	return value->top->n_rows + top_others(value->top, &lo, &hi);
}

void func_cells_get(const struct value *value, u32 number, struct value *ret_values)
{
	if (value->kind == VALUE_HISTOGRAM)
		set_cell(value->histogram, number, ret_values);
	else
		set_top_row(value->top, number, ret_values);
}

/* --- eb_cells(h) --- */

/* The argument is the first hidden column. */
enum cells_column { CELLS_A, CELLS_B, CELLS_C, CELLS_OF, CELLS_NUMBER };

struct cells_cursor {
	sqlite3_vtab_cursor base;
	struct value value;
	void *memory; /* of the value */
	u32 number, n;
	struct value at[3]; /* of the row `number` */
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
	struct cells_cursor *cursor = func_alloc(sizeof(*cursor));

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
	if (cursor->number < cursor->n)
		func_cells_get(&cursor->value, cursor->number, cursor->at);
	return SQLITE_OK;
}

static int cells_filter(sqlite3_vtab_cursor *base, int number, const char *text, int argc,
			sqlite3_value **argv)
{
	struct cells_cursor *cursor = (struct cells_cursor *)base;
	enum special kind = argc ? special_of(argv[0]) : SPECIAL_NONE;

	free(cursor->memory);
	cursor->memory = NULL;
	cursor->number = cursor->n = 0;
	if (kind == SPECIAL_HISTOGRAM || kind == SPECIAL_TOP) {
		cursor->memory = special_value(argv[0], &cursor->value);
		cursor->n = func_cells_count(&cursor->value);
		if (cursor->n)
			func_cells_get(&cursor->value, 0, cursor->at);
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
	const struct value *value = &cursor->at[column < 3 ? column : 0];

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
