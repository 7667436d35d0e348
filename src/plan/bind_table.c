/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Tables of attached databases: names -> their columns, of STRICT tables with their types; and
 * what tables there are.
 */
#include <sqlite3.h>
#include <string.h>
#include <strings.h>

#include "plan/bind.h"

/* So many are told of; a hint is one line. */
#define SHOWN_MAX 8u

/* Of STRICT tables alone, where SQLite sees to it; others hold any value beside what is declared.
 */
static struct type type_of(const char *declared)
{
	static const struct {
		const char *word;
		struct type type;
	} types[] = {
		{ "INT", { TYPE_INT, 64, true } },
		{ "INTEGER", { TYPE_INT, 64, true } },
		{ "REAL", { .kind = TYPE_REAL } },
		{ "TEXT", { .kind = TYPE_TEXT } },
	};

	for (u32 i = 0; i < ARRAY_SIZE(types); i++)
		if (strcasecmp(declared, types[i].word) == 0)
			return types[i].type;
	return (struct type){ .kind = TYPE_NULL };
}

/* Calls take for each row of the statement; why there are no more, by SQLite, or NULL. */
static const char *read_rows(const struct plan_database *database, const char *sql,
			     const char *parameter, void (*take)(void *context, sqlite3_stmt *row),
			     void *context, struct arena *arena)
{
	sqlite3_stmt *statement = NULL;
	const char *why = NULL;
	sqlite3 *db = NULL;
	int error = SQLITE_ERROR;

	if (sqlite3_open_v2(database->path, &db, SQLITE_OPEN_READONLY, NULL) == SQLITE_OK &&
	    sqlite3_prepare_v2(db, sql, -1, &statement, NULL) == SQLITE_OK) {
		sqlite3_bind_text(statement, 1, parameter, -1, SQLITE_STATIC);
		while ((error = sqlite3_step(statement)) == SQLITE_ROW)
			take(context, statement);
	}
	if (error != SQLITE_DONE)
		why = arena_strdup(arena, sqlite3_errmsg(db));
	sqlite3_finalize(statement);
	sqlite3_close(db);
	return why;
}

static const char *text_of(sqlite3_stmt *row, int column)
{
	return (const char *)sqlite3_column_text(row, column) ?: "";
}

struct columns {
	struct arena *arena;
	VEC(struct column) list;
	VEC(const char *) declared;
};

static void take_column(void *context, sqlite3_stmt *row)
{
	struct columns *columns = context;

	vec_push(columns->arena, &columns->list,
		 (struct column){ arena_strdup(columns->arena, text_of(row, 0)),
				  type_of(sqlite3_column_int(row, 2) ? text_of(row, 1) : "") });
	vec_push(columns->arena, &columns->declared,
		 arena_printf(columns->arena, "declared %s",
			      *text_of(row, 1) ? text_of(row, 1) : "without a type"));
}

static struct plan *table_new(struct scope *scope, const struct ast_source *source,
			      const struct plan_database *database, const struct columns *columns)
{
	struct plan *p = plan_new(scope->arena, PLAN_TABLE, source->span, NULL);
	item_vec items = { 0 };

	p->table = (struct plan_table){ .relation = scope->shared->n_relations++,
					.database = database,
					.name = source->table,
					.columns = { columns->list.n, columns->list.at } };
	for (u32 i = 0; i < columns->list.n; i++) {
		struct expr of = { 0 };

		expr_set_type(&of, columns->list.at[i].type);
		bind_push_column(scope, columns->list.at[i].name, p->table.relation, &of,
				 source->span, &items);
		items.at[i].meaning = columns->declared.at[i];
	}
	vec_push(scope->arena, &scope->members,
		 (struct from_member){ .name = source->alias ? source->alias : source->table,
				       .written = source->written,
				       .tree = p,
				       .columns = items });
	return p;
}

/* May the source be a table of it? */
static bool is_meant(const struct ast_source *source, const struct plan_database *database)
{
	return source->table &&
	       (!source->database || strcasecmp(source->database, database->name) == 0);
}

/* --- Names that none has --- */

struct tables {
	struct arena *arena;
	struct suggest *suggest;
	struct buf names; /* of the first ones */
	u32 n;
};

static void take_table(void *context, sqlite3_stmt *row)
{
	struct tables *tables = context;
	/* What is offered is kept. */
	const char *name = arena_strdup(tables->arena, text_of(row, 0));

	suggest_offer(tables->suggest, name);
	if (tables->n < SHOWN_MAX)
		buf_printf(&tables->names, "%s%s", tables->n ? ", " : "", name);
	else if (tables->n == SHOWN_MAX)
		buf_puts(&tables->names, ", ...");
	tables->n++;
}

static void read_tables(const struct plan_database *database, struct tables *tables)
{
	read_rows(
		database,
		"SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE "
		"'sqlite~_%' ESCAPE '~' ORDER BY name",
		"", take_table, tables, tables->arena);
}

void bind_offer_tables(struct scope *scope, struct suggest *suggest)
{
	const struct plan_context *context = scope->shared->context;
	struct tables tables = { .arena = scope->arena, .suggest = suggest };

	buf_init_in(&tables.names, scope->arena);
	for (u32 i = 0; i < context->n_databases; i++)
		read_tables(&context->databases[i], &tables);
}

/* A database is named, and has no such table: true after a diagnostic. */
static bool misses_table(struct scope *scope, const struct ast_source *source)
{
	const struct plan_context *context = scope->shared->context;
	struct tables tables = { .arena = scope->arena };
	struct suggest suggest;
	struct diag *diag;
	const char *best;

	for (u32 i = 0; source->database && i < context->n_databases; i++) {
		const struct plan_database *d = &context->databases[i];

		if (!is_meant(source, d))
			continue;
		suggest_init(&suggest, source->table);
		tables.suggest = &suggest;
		buf_init_in(&tables.names, scope->arena);
		read_tables(d, &tables);
		best = suggest_best(&suggest);
		diag = diag_error(scope->diags, "unknown-stream", source->span,
				  "the database \"%s\" has no table \"%s\"", d->name,
				  source->table);
		if (best)
			diag_hint(scope->diags, diag, "did you mean \"%s\"?", best);
		else if (tables.n)
			diag_hint(scope->diags, diag, "it has %s", tables.names.at);
		else
			diag_hint(scope->diags, diag, "it has none: is \"%s\" the right file?",
				  d->path);
		return true;
	}
	return false;
}

/* --- Tables --- */

static void take_any(void *context, sqlite3_stmt *row)
{
	*(bool *)context |= row != NULL;
}

static bool has_table(const struct plan_database *database, const char *name, struct arena *arena)
{
	bool is_found = false;

	read_rows(database, "SELECT 1 FROM sqlite_master WHERE name = ? COLLATE NOCASE", name,
		  take_any, &is_found, arena);
	return is_found;
}

/* A stream's name may begin as a database is called. */
static bool is_stream(const struct ast_source *source, const struct plan_context *context)
{
	const char **path, *nearest;
	struct stream_list *list;
	struct diags unsaid;
	u32 n;

	path = catalog_spell(context->catalog, source->path, source->n_path, &n, &nearest);
	diags_init(&unsaid, context->arena, "", "", 0);
	return catalog_look_up(context->catalog, path ?: source->path, path ? n : source->n_path,
			       source->span, &unsaid, &list) == FIND_FOUND;
}

bool plan_is_table(const struct ast_source *source, const struct plan_context *context)
{
	bool is_named = false;

	for (u32 i = 0; i < context->n_databases; i++) {
		const struct plan_database *d = &context->databases[i];

		if (!is_meant(source, d))
			continue;
		if (has_table(d, source->table, context->arena))
			return true;
		is_named |= source->database != NULL;
	}
	return is_named && !is_stream(source, context);
}

bool bind_table(struct scope *scope, const struct ast_source *source, struct plan **ret_plan)
{
	const struct plan_context *context = scope->shared->context;
	const char *why;

	*ret_plan = NULL;
	for (u32 i = 0; i < context->n_databases; i++) {
		const struct plan_database *d = &context->databases[i];
		struct columns columns = { .arena = scope->arena };

		if (!is_meant(source, d))
			continue;
		/* hidden 2: computed when it is read, which no table checks. */
		why = read_rows(
			d,
			"SELECT name, type, hidden <> 2 AND EXISTS (SELECT 1 FROM "
			"pragma_table_list WHERE schema = 'main' AND lower(name) = "
			"lower(?1) AND strict) FROM pragma_table_xinfo(?1) WHERE hidden <> 1",
			source->table, take_column, &columns, scope->arena);
		if (!why && columns.list.n) {
			*ret_plan = table_new(scope, source, d, &columns);
			return true;
		}
		/* Of one that the query may not mean at all the reason would be a riddle. */
		if (why && has_table(d, source->table, scope->arena)) {
			diag_refuse(scope->diags, "bad-file", source->span,
				    "\"%s\" of the database \"%s\" cannot be read: %s",
				    source->table, d->name, why);
			return true;
		}
	}
	return source->database && !is_stream(source, context) && misses_table(scope, source);
}
