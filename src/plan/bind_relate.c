/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Members of FROM that only SQLite has: relational joins, selects that are not
 * opened, tables of attached databases.
 */
#include <sqlite3.h>
#include <string.h>
#include <strings.h>

#include "plan/bind.h"

/* --- Columns of a select --- */

static void push_column(struct scope *scope, const char *name, u32 relation, const struct expr *of,
			struct span span, item_vec *columns)
{
	struct expr *e = expr_new(scope->arena, EXPR_COLUMN, span);

	e->name = name;
	e->source = relation;
	e->index = columns->n;
	e->type = of->type;
	e->lo = of->lo;
	e->hi = of->hi;
	e->nullable = e->is_user_only = true;
	e->is_quantile = of->is_quantile;
	vec_push(scope->arena, columns, (struct item){ name, e });
}

void bind_output(struct scope *scope, const struct plan *chain, u32 relation, struct span span,
		 item_vec *ret_columns)
{
	u32 n;
	const struct item *items = plan_items(chain, &n);

	for (u32 i = 0; i < n; i++) {
		struct column cells[3]; /* of UNNEST */

		if (!items[i].is_unnest) {
			push_column(scope, items[i].name, relation, items[i].expr, span,
				    ret_columns);
			continue;
		}
		plan_unnest_columns(items[i].name, items[i].expr->type, scope->arena, cells);
		for (u32 k = 0; k < 3; k++) {
			struct expr of = { 0 };

			expr_set_type(&of, cells[k].type);
			push_column(scope, cells[k].name, relation, &of, span, ret_columns);
		}
	}
}

struct plan *bind_derived_new(struct scope *scope, struct plan *chain, const char *name,
			      const char *written, struct span span)
{
	struct plan *p = bind_plan_new(scope, PLAN_DERIVED, chain);
	item_vec columns = { 0 };

	p->span = span;
	p->derived.relation = scope->shared->n_relations++;
	p->derived.alias = name;
	bind_output(scope, chain, p->derived.relation, span, &columns);
	vec_push(scope->arena, &scope->members,
		 (struct from_member){ .name = name,
				       .written = written,
				       .tree = p,
				       .columns = columns.at,
				       .n_columns = columns.n });
	return p;
}

/* --- Joins --- */

struct plan *bind_relate(struct scope *scope, const struct ast_source *source)
{
	static const enum relate_kind kinds[] = { [AST_JOIN_INNER] = RELATE_INNER,
						  [AST_JOIN_LEFT] = RELATE_LEFT,
						  [AST_JOIN_CROSS] = RELATE_CROSS };
	u32 outer = scope->first_member, first = scope->members.n, middle;
	const char *clause = scope->no_aggregates_in;
	struct plan *left, *right, *p;

	if (source->alias) {
		bind_refuse(scope, source->span, "a name for a whole join is");
		return NULL;
	}
	left = bind_from(scope, source->left);
	middle = scope->members.n;
	right = left ? bind_from(scope, source->right) : NULL;
	if (!right)
		return NULL;
	for (u32 i = first; i < scope->members.n; i++)
		if (!scope->members.at[i].leaf)
			scope->members.at[i].leaf = i < middle ? left : right;
	p = bind_plan_new(scope, PLAN_RELATE, left);
	p->span = source->span;
	p->right = right;
	p->relate.kind = kinds[source->join];
	for (u32 i = middle; source->join == AST_JOIN_LEFT && i < scope->members.n; i++)
		scope->members.at[i].is_nullable = true;
	if (!source->on)
		return p;
	scope->first_member = first;
	scope->no_aggregates_in = "ON";
	p->relate.on = bind_condition(scope, source->on, "ON");
	scope->no_aggregates_in = clause;
	scope->first_member = outer;
	return p->relate.on ? p : NULL;
}

/* --- Tables of databases --- */

/* Any value may stand in a column of SQLite: its type is that of the value. */
static struct schema columns_of(struct scope *scope, const struct plan_database *database,
				const char *table)
{
	VEC(struct column) columns = { 0 };
	sqlite3_stmt *statement = NULL;
	sqlite3 *db = NULL;

	if (sqlite3_open_v2(database->path, &db, SQLITE_OPEN_READONLY, NULL) == SQLITE_OK &&
	    sqlite3_prepare_v2(db, "SELECT name FROM pragma_table_xinfo(?) WHERE hidden <> 1", -1,
			       &statement, NULL) == SQLITE_OK) {
		sqlite3_bind_text(statement, 1, table, -1, SQLITE_STATIC);
		while (sqlite3_step(statement) == SQLITE_ROW) {
			const char *name = (const char *)sqlite3_column_text(statement, 0);

			vec_push(scope->arena, &columns,
				 (struct column){ arena_strdup(scope->arena, name), { 0 } });
		}
	}
	sqlite3_finalize(statement);
	sqlite3_close(db);
	return (struct schema){ columns.n, columns.at };
}

static struct plan *table_new(struct scope *scope, const struct ast_source *source,
			      const struct plan_database *database, const char *table,
			      struct schema columns)
{
	struct plan *p = bind_plan_new(scope, PLAN_TABLE, NULL);
	struct item *items = arena_array(scope->arena, struct item, columns.n_columns);

	p->span = source->span;
	p->table = (struct plan_table){ .relation = scope->shared->n_relations++,
					.database = database,
					.name = table,
					.columns = columns };
	for (u32 i = 0; i < columns.n_columns; i++) {
		struct expr *e = expr_new(scope->arena, EXPR_COLUMN, source->span);

		e->name = columns.columns[i].name;
		e->source = p->table.relation;
		e->index = i;
		e->is_user_only = e->nullable = true;
		items[i] = (struct item){ .name = e->name, .expr = e };
	}
	vec_push(scope->arena, &scope->members,
		 (struct from_member){ .name = source->alias ? source->alias : table,
				       .written = source->written,
				       .tree = p,
				       .columns = items,
				       .n_columns = columns.n_columns });
	return p;
}

struct plan *bind_table(struct scope *scope, const struct ast_source *source)
{
	const struct plan_context *context = scope->shared->context;
	const char *dot = strchr(source->written, '.');
	const char *table = dot ? dot + 1 : source->written;

	if (source->n_path != 1)
		return NULL;
	for (u32 i = 0; i < context->n_databases; i++) {
		const struct plan_database *d = &context->databases[i];
		size_t n = dot ? (size_t)(dot - source->written) : 0;
		struct schema columns;

		if (dot && (strncasecmp(d->name, source->written, n) != 0 || d->name[n]))
			continue;
		columns = columns_of(scope, d, table);
		if (columns.n_columns)
			return table_new(scope, source, d, table, columns);
	}
	return NULL;
}
