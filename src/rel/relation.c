/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The virtual table.  A plan's idxStr lists the columns that an equality is asked of
 * ("0,3"); xFilter finds or makes the index over them.  SQLite tests the equality
 * again, so an index need only find all rows that are equal: values which SQLite may
 * call equal (5, 5.0, and '5' beside a column of numeric affinity) have one hash.
 */
#include "rel/relation.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/real.h"
#include "func/func.h"

#define SPECIAL_HASH 0x517cc1b727220a95ull

struct relation_table {
	sqlite3_vtab base;
	struct relation *relation;
};

struct relation_cursor {
	sqlite3_vtab_cursor base;
	const struct relation_index *index; /* NULL: all rows */
	u64 row;			    /* n_rows: the end */
};

static struct relation *cursor_relation(const struct relation_cursor *cursor)
{
	return ((struct relation_table *)cursor->base.pVtab)->relation;
}

/* *made: room for a value that stands nowhere. */
static const struct value *value_of(struct relation *relation, u64 row, u32 column,
				    struct value *made)
{
	const struct relation_reader *reader = &relation->reader;

	if (!relation->is_read)
		return &relation->rows[row]->values[column];
	scratch_reset(&relation->scratch);
	reader->value(reader->context, row, column, &relation->scratch, made);
	return made;
}

/* --- Hashes --- */

static u64 hash_mix(u64 hash, u64 word)
{
	hash = (hash ^ word) * 0x9E3779B97F4A7C15ull;
	return hash ^ hash >> 32;
}

/* Integers and reals that are equal are equal as reals too. */
static u64 hash_real(double real)
{
	u64 word;

	real += 0.0; /* -0 and 0 are equal */
	memcpy(&word, &real, sizeof(word));
	return hash_mix(0, word);
}

static u64 hash_text(const char *text, size_t n)
{
	char number[64], *end;
	u64 hash = n;
	double real;

	/* Longer ones are taken for texts that are no number. */
	if (n && n < sizeof(number)) {
		memcpy(number, text, n);
		number[n] = '\0';
		real = base_real(number, &end);
		while (*end == ' ' || (*end >= '\t' && *end <= '\r'))
			end++;
		if (end == number + n)
			return hash_real(real);
	}
	for (size_t i = 0; i < n; i++)
		hash = hash_mix(hash, (u8)text[i]);
	return hash;
}

/* false: NULL, which equals nothing. */
static bool hash_value(const struct value *value, struct type type, u64 *hash)
{
	u64 word = SPECIAL_HASH; /* of all blobs */

	if (value->kind == VALUE_NULL)
		return false;
	if (value->kind == VALUE_INT && value->integer >= INT64_MIN && value->integer <= INT64_MAX)
		word = hash_real((double)(s64)value->integer);
	else if (value->kind == VALUE_REAL)
		word = hash_real(value->real);
	else if (value->kind == VALUE_TEXT && type.kind != TYPE_BLOB)
		word = hash_text(value->text, value->n);
	*hash = hash_mix(*hash, word);
	return true;
}

static bool hash_argument(sqlite3_value *value, u64 *hash)
{
	int type = sqlite3_value_type(value);
	u64 word = SPECIAL_HASH;

	if (type == SQLITE_NULL)
		return false;
	if (type == SQLITE_TEXT)
		word = hash_text(sqlite3_value_blob(value), (size_t)sqlite3_value_bytes(value));
	else if (type != SQLITE_BLOB)
		word = hash_real(sqlite3_value_double(value));
	*hash = hash_mix(*hash, word);
	return true;
}

/* --- Indexes --- */

/* From the last row to the first, so that those of one hash are found in their order. */
static bool index_make(struct relation *relation, struct relation_index *index)
{
	u64 n_buckets = 16;
	u32 *buckets, *next;

	while (n_buckets < relation->n_rows)
		n_buckets *= 2;
	if (!region_need(&index->buckets, n_buckets * sizeof(u32)) ||
	    !region_need(&index->next, relation->n_rows * sizeof(u32)))
		return false;
	buckets = index->buckets.at;
	next = index->next.at;
	memset(buckets, 0, n_buckets * sizeof(u32));
	index->mask = n_buckets - 1;
	index->version = relation->version;
	for (u64 row = relation->n_rows; row-- > 0;) {
		struct value made;
		u64 hash = 0;
		u32 i = 0, column;

		for (; i < index->n_columns; i++) {
			column = index->columns[i];
			if (!hash_value(value_of(relation, row, column, &made),
					relation->columns->columns[column].type, &hash))
				break;
		}
		if (i < index->n_columns)
			continue;
		next[row] = buckets[hash & index->mask];
		buckets[hash & index->mask] = (u32)(row + 1);
	}
	return true;
}

/* NULL: no index can be had, all rows are read instead. */
static const struct relation_index *index_get(struct relation *relation, const char *name)
{
	struct relation_index *index = NULL;
	u32 columns[RELATION_INDEX_COLUMNS], n = 0, i;
	char *end;

	if (relation->n_rows >= UINT32_MAX)
		return NULL;
	for (; *name && n < RELATION_INDEX_COLUMNS; name = *end == ',' ? end + 1 : end)
		columns[n++] = (u32)strtoul(name, &end, 10);
	for (i = 0; i < relation->n_indexes && !index; i++)
		if (relation->indexes[i].n_columns == n &&
		    !memcmp(relation->indexes[i].columns, columns, n * sizeof(*columns)))
			index = &relation->indexes[i];
	if (!index) {
		if (relation->n_indexes == RELATION_INDEXES)
			return NULL;
		index = &relation->indexes[relation->n_indexes++];
		memcpy(index->columns, columns, n * sizeof(*columns));
		index->n_columns = n;
		index->version = relation->version - 1;
	}
	if (index->version != relation->version && !index_make(relation, index))
		return NULL;
	return index;
}

/* --- The module --- */

static int relation_connect(sqlite3 *db, void *context, int argc, const char *const *argv,
			    sqlite3_vtab **ret_table, char **ret_error)
{
	struct relation *relation = context;
	struct relation_table *table;
	struct buf sql;
	int err;

	buf_init(&sql);
	buf_puts(&sql, "CREATE TABLE w(");
	for (u32 i = 0; i < relation->n_columns; i++)
		buf_printf(&sql, "%sc%u", i ? ", " : "", i);
	if (relation->has_sessions)
		buf_puts(&sql, ", session, window_start, window_end, session_row");
	if (relation->is_read)
		buf_puts(&sql, ", other, row");
	buf_putc(&sql, ')');
	err = sql.is_cut ? SQLITE_NOMEM : sqlite3_declare_vtab(db, sql.at);
	buf_free(&sql);
	if (err)
		return err;
	table = sqlite3_malloc(sizeof(*table));
	if (!table)
		return SQLITE_NOMEM;
	*table = (struct relation_table){ .relation = relation };
	*ret_table = &table->base;
	return SQLITE_OK;
}

static int relation_disconnect(sqlite3_vtab *table)
{
	sqlite3_free(table);
	return SQLITE_OK;
}

/* Can the equality go through an index?  Other collations call more texts equal. */
static bool is_indexable(const struct relation *relation, sqlite3_index_info *info, int number)
{
	const struct sqlite3_index_constraint *c = &info->aConstraint[number];
	const char *collation;

	if (!c->usable || c->op != SQLITE_INDEX_CONSTRAINT_EQ || c->iColumn < 0 ||
	    (u32)c->iColumn >= relation->n_columns)
		return false;
	collation = sqlite3_vtab_collation(info, number);
	return !collation || sqlite3_stricmp(collation, "BINARY") == 0;
}

static int relation_best_index(sqlite3_vtab *table, sqlite3_index_info *info)
{
	const struct relation *relation = ((struct relation_table *)table)->relation;
	u64 columns = 0; /* bit i: column i & 63 was seen: a second equality is only tested */
	char name[16 * RELATION_INDEX_COLUMNS] = "";
	u32 n = 0, length = 0;

	for (int i = 0; i < info->nConstraint && n < RELATION_INDEX_COLUMNS; i++) {
		int column = info->aConstraint[i].iColumn;

		if (!is_indexable(relation, info, i) || columns >> (column & 63) & 1)
			continue;
		columns |= 1ull << (column & 63);
		info->aConstraintUsage[i].argvIndex = (int)++n;
		length += (u32)snprintf(name + length, sizeof(name) - length, "%s%d",
					length ? "," : "", column);
	}
	info->estimatedRows = (sqlite3_int64)relation->expected_rows;
	info->estimatedCost = (double)relation->expected_rows;
	if (!n)
		return SQLITE_OK;
	info->estimatedRows = (sqlite3_int64)(relation->expected_rows >> MIN(4 * n, 32)) + 1;
	info->estimatedCost = (double)info->estimatedRows + 2;
	info->idxNum = (int)n;
	info->idxStr = sqlite3_mprintf("%s", name);
	info->needToFreeIdxStr = 1;
	return info->idxStr ? SQLITE_OK : SQLITE_NOMEM;
}

static int relation_open(sqlite3_vtab *table, sqlite3_vtab_cursor **ret_cursor)
{
	struct relation_cursor *cursor = sqlite3_malloc(sizeof(*cursor));

	if (!cursor)
		return SQLITE_NOMEM;
	*cursor = (struct relation_cursor){ .row = 0 };
	*ret_cursor = &cursor->base;
	return SQLITE_OK;
}

static int relation_cursor_close(sqlite3_vtab_cursor *cursor)
{
	sqlite3_free(cursor);
	return SQLITE_OK;
}

static int relation_filter(sqlite3_vtab_cursor *cursor, int n_index, const char *name, int argc,
			   sqlite3_value **argv)
{
	struct relation_cursor *c = (struct relation_cursor *)cursor;
	struct relation *relation = cursor_relation(c);
	u64 hash = 0;
	u32 first;

	c->row = 0;
	c->index = NULL;
	if (!n_index)
		return SQLITE_OK;
	for (int i = 0; i < argc; i++) {
		if (!hash_argument(argv[i], &hash)) {
			c->row = relation->n_rows;
			return SQLITE_OK;
		}
	}
	c->index = index_get(relation, name);
	if (!c->index)
		return SQLITE_OK;
	first = ((const u32 *)c->index->buckets.at)[hash & c->index->mask];
	c->row = first ? first - 1 : relation->n_rows;
	return SQLITE_OK;
}

static int relation_next(sqlite3_vtab_cursor *cursor)
{
	struct relation_cursor *c = (struct relation_cursor *)cursor;
	u32 next;

	if (!c->index) {
		c->row++;
		return SQLITE_OK;
	}
	next = ((const u32 *)c->index->next.at)[c->row];
	c->row = next ? next - 1 : cursor_relation(c)->n_rows;
	return SQLITE_OK;
}

static int relation_eof(sqlite3_vtab_cursor *cursor)
{
	const struct relation_cursor *c = (const struct relation_cursor *)cursor;

	return c->row >= cursor_relation(c)->n_rows;
}

/* `session` (one number), its bounds, and the row's number in it. */
static s64 session_column(const struct relation *relation, u64 row, u32 column)
{
	const s64 values[] = { 0, (s64)relation->session->start_ns, (s64)relation->session->end_ns,
			       (s64)row + 1 };

	return values[column];
}

static int relation_column(sqlite3_vtab_cursor *cursor, sqlite3_context *context, int column)
{
	const struct relation_cursor *c = (const struct relation_cursor *)cursor;
	struct relation *relation = cursor_relation(c);
	const struct value *value;
	struct value made = { 0 };

	if ((u32)column >= relation->n_columns && relation->is_read) {
		bool is_row = (u32)column > relation->n_columns;

		sqlite3_result_int64(context, is_row ? (s64)c->row
						     : (s64)c->row == relation->reader.other_row);
		return SQLITE_OK;
	}
	if ((u32)column >= relation->n_columns) {
		sqlite3_result_int64(context, session_column(relation, c->row,
							     (u32)column - relation->n_columns));
		return SQLITE_OK;
	}
	value = value_of(relation, c->row, (u32)column, &made);
	if (relation->is_read && relation->scratch.is_short)
		return SQLITE_NOMEM;
	if (value->has_fault)
		relation->context->n_faults++;
	if (relation->columns && relation->columns->columns[column].type.kind == TYPE_BLOB &&
	    value->kind == VALUE_TEXT)
		sqlite3_result_blob(context, value->text, (int)value->n, SQLITE_STATIC);
	else
		func_result(context, value);
	return SQLITE_OK;
}

static int relation_rowid(sqlite3_vtab_cursor *cursor, sqlite3_int64 *ret_rowid)
{
	*ret_rowid = (s64)((struct relation_cursor *)cursor)->row;
	return SQLITE_OK;
}

/* No xCreate: the table is there without CREATE VIRTUAL TABLE, under the module's name. */
static const sqlite3_module relation_module = {
	.xConnect = relation_connect,
	.xDisconnect = relation_disconnect,
	.xBestIndex = relation_best_index,
	.xOpen = relation_open,
	.xClose = relation_cursor_close,
	.xFilter = relation_filter,
	.xNext = relation_next,
	.xEof = relation_eof,
	.xColumn = relation_column,
	.xRowid = relation_rowid,
};

int relation_register(struct sqlite3 *db, struct relation *relation)
{
	return sqlite3_create_module(db, relation->name, &relation_module, relation);
}

void relation_set_reader(struct relation *relation, const struct relation_reader *reader,
			 u64 n_rows)
{
	relation->reader = *reader;
	relation->n_rows = n_rows;
	relation->version++;
}

void relation_set_rows(struct relation *relation, struct row *const *rows, u64 n_rows)
{
	relation->rows = rows;
	relation->n_rows = n_rows;
	relation->version++;
}

void relation_close(struct relation *relation)
{
	for (u32 i = 0; i < relation->n_indexes; i++) {
		region_free(&relation->indexes[i].buckets);
		region_free(&relation->indexes[i].next);
	}
	relation->n_indexes = 0;
	scratch_free(&relation->scratch);
}
