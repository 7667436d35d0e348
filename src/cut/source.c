/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * FROM -> relations and the printed FROM: streams become parts of kind ROWS, selects
 * that the kernel can aggregate parts of kind GROUPS, files without time tables; other
 * selects are printed where they stand.
 */
#include <sqlite3.h>
#include <string.h>
#include <strings.h>

#include "cut/internal.h"

/* What may stand before a column: the alias, the event, the file without its ending. */
static const char *relation_name(struct cutter *c, const struct ast_source *source)
{
	const char *base, *dot;

	if (source->alias)
		return source->alias;
	if (source->kind == AST_SOURCE_STREAM)
		return source->path[source->n_path - 1];
	if (source->kind != AST_SOURCE_FILE)
		return NULL;
	base = strrchr(source->path[0], '/');
	base = base ? base + 1 : source->path[0];
	dot = strrchr(base, '.');
	return arena_strndup(c->arena, base, dot ? (size_t)(dot - base) : strlen(base));
}

static struct relation *relation_add(struct cutter *c, struct level *level,
				     struct relation relation)
{
	relation.alias = arena_printf(c->arena, "t%u", c->n_aliases++);
	vec_push(c->arena, &level->relations, relation);
	return &level->relations.at[level->relations.n - 1];
}

/* --- Names of WITH, views --- */

static const struct ast_cte *cte_find(const struct cutter *c, const struct ast_source *source)
{
	if (source->kind != AST_SOURCE_STREAM || source->n_path != 1 || !c->ctes)
		return NULL;
	for (u32 i = c->ctes->ctes.n; i-- > 0;)
		if (strcasecmp(c->ctes->ctes.at[i].name, source->path[0]) == 0)
			return &c->ctes->ctes.at[i];
	return NULL;
}

static const struct view *view_find(struct cutter *c, const struct ast_source *source)
{
	if (source->kind != AST_SOURCE_STREAM || source->n_path != 1 || !c->views)
		return NULL;
	return views_find(c->views, source->path[0], c->n_views);
}

/* --- Rows of streams --- */

static bool is_window_join(const struct ast_source *source)
{
	return source->kind == AST_SOURCE_JOIN && source->join != AST_JOIN_PAIR &&
	       source->join != AST_JOIN_ASOF;
}

struct rows_part *cut_rows_of(struct cutter *c, const struct ast_source *source,
			      const struct ast_select *reader, struct diags *ret_diags)
{
	struct rows_part *rows = cut_rows_new(c, source);
	struct plan_context context = cut_context(c);
	struct ast_select *select = arena_new(c->arena, struct ast_select);
	struct plan *p;

	cut_trial(c, ret_diags);
	if (is_window_join(source))
		return NULL;
	/* What is derived and read must be computed by the part. */
	if (source->kind == AST_SOURCE_SELECT || cte_find(c, source) || view_find(c, source))
		vec_push(c->arena, &select->items, cut_star(c, source->span));
	select->span = source->span;
	select->from = (struct ast_source *)source;
	if (c->ctes)
		select->ctes = c->ctes->ctes;
	p = plan_bind_rows(&context, select, ret_diags);
	for (u32 i = 1; p && i < p->project.n_items; i++)
		if (p->project.items[i].expr->is_user_only &&
		    p->project.items[i].expr->kind != EXPR_FIELD &&
		    !cut_naming_of(p->project.items[i].expr) &&
		    cut_mentions(c, reader, p->project.items[i].name))
			return NULL;
	return p ? rows : NULL;
}

static bool add_rows(struct cutter *c, struct level *level, const struct ast_source *source,
		     struct rows_part *rows, struct buf *out)
{
	struct relation *r = relation_add(
		c, level, (struct relation){ .name = relation_name(c, source), .rows = rows });

	rows->part =
		cut_part_add(c, (struct cut_part){ .kind = PART_ROWS, .span = source->span }, rows);
	buf_printf(out, "w%u AS %s", rows->part, r->alias);
	return true;
}

/* --- Tables --- */

static bool add_file(struct cutter *c, struct level *level, const struct ast_source *source,
		     const struct file *file, struct buf *out)
{
	struct relation *r = relation_add(
		c, level,
		(struct relation){ .name = relation_name(c, source), .columns = file->schema });
	u32 n = cut_part_add(c,
			     (struct cut_part){ .kind = PART_TABLE,
						.columns = file->schema,
						.has_files = true,
						.file = file,
						.span = source->span,
						.reason =
							"a file without times, or beside streams "
							"of the kernel, is a table: all of it, in "
							"every window" },
			     NULL);

	buf_printf(out, "w%u AS %s", n, r->alias);
	return true;
}

/*
 * A recorded stream or a table?  A file with a time is a stream of events, unless the
 * query reads streams of the kernel: those have no windows in common, it is looked up.
 */
static bool from_file(struct cutter *c, struct level *level, const struct ast_source *source,
		      struct buf *out)
{
	struct stream_list *list =
		catalog_file(c->catalog, source->path[0], source->span, c->diags);
	const struct file *file = list ? list->streams.at[0]->file : NULL;

	if (!file)
		return false;
	if (file->time_column >= 0 && !c->has_streams)
		return add_rows(c, level, source, cut_rows_new(c, source), out);
	return add_file(c, level, source, file, out);
}

/* ref.users, or users: the table of an attached database; its columns, or NULL. */
static struct schema *table_columns(struct cutter *c, const struct plan_database *database,
				    const char *table, const char *const **ret_printed)
{
	struct schema *schema = arena_new(c->arena, struct schema);
	VEC(struct column) columns = { 0 };
	VEC(const char *) printed = { 0 };
	sqlite3_stmt *statement = NULL;
	sqlite3 *db = NULL;

	if (sqlite3_open_v2(database->path, &db, SQLITE_OPEN_READONLY, NULL) == SQLITE_OK &&
	    sqlite3_prepare_v2(db, "SELECT name, type FROM pragma_table_xinfo(?) WHERE hidden <> 1",
			       -1, &statement, NULL) == SQLITE_OK) {
		sqlite3_bind_text(statement, 1, table, -1, SQLITE_STATIC);
		while (sqlite3_step(statement) == SQLITE_ROW) {
			const char *name = (const char *)sqlite3_column_text(statement, 0);

			/* Any value may stand in a column of SQLite: its type is that of the value.
			 */
			vec_push(c->arena, &columns,
				 (struct column){ arena_strdup(c->arena, name),
						  { .kind = TYPE_NULL } });
			vec_push(c->arena, &printed, arena_strdup(c->arena, name));
		}
	}
	sqlite3_finalize(statement);
	sqlite3_close(db);
	schema->columns = columns.at;
	schema->n_columns = columns.n;
	*ret_printed = printed.at;
	return columns.n ? schema : NULL;
}

/* true: it is such a table, and was printed. */
static bool from_database(struct cutter *c, struct level *level, const struct ast_source *source,
			  struct buf *out)
{
	const char *dot = source->kind == AST_SOURCE_STREAM ? strchr(source->written, '.') : NULL;
	const char *table = dot ? dot + 1 : source->written;

	if (source->kind != AST_SOURCE_STREAM || source->n_path != 1)
		return false;
	for (u32 i = 0; i < c->cut->n_databases; i++) {
		const struct plan_database *d = &c->cut->databases[i];
		const char *const *printed;
		struct schema *columns;
		struct relation *r;

		if (dot &&
		    (strncasecmp(d->name, source->written, (size_t)(dot - source->written)) ||
		     d->name[dot - source->written]))
			continue;
		columns = table_columns(c, d, table, &printed);
		if (!columns)
			continue;
		r = relation_add(c, level,
				 (struct relation){ .name = source->alias ? source->alias : table,
						    .columns = *columns,
						    .printed = printed });
		buf_printf(out, "\"%s\".\"%s\" AS %s", d->name, table, r->alias);
		return true;
	}
	return false;
}

/* --- Selects --- */

static bool from_select(struct cutter *c, struct level *level, const struct ast_source *source,
			const struct ast_select *select, const char *name, struct buf *out)
{
	struct relation relation = { .name = name }, *r;

	if (!cut_same_window(c, select))
		return false;
	if (cut_groups(c, select, &relation)) {
		relation.name = name;
		r = relation_add(c, level, relation);
		buf_printf(out, "w%u AS %s", r->part, r->alias);
		return true;
	}
	if (diags_failed(c->diags))
		return false;
	buf_putc(out, '(');
	/* A select of FROM does not see its neighbours. */
	if (!cut_select(c, level->outer, select, false, out, &relation.columns))
		return false;
	r = relation_add(c, level, relation);
	buf_printf(out, ") AS %s", r->alias);
	return true;
}

static bool from_cte(struct cutter *c, struct level *level, const struct ast_source *source,
		     const struct ast_cte *cte, struct buf *out)
{
	const struct ast_select *visible = c->ctes;
	struct ast_select *before = arena_new(c->arena, struct ast_select);
	bool is_good;

	/* A name of WITH sees those before it, not itself. */
	for (u32 i = 0; &visible->ctes.at[i] != cte; i++)
		vec_push(c->arena, &before->ctes, visible->ctes.at[i]);
	c->ctes = before;
	is_good = from_select(c, level, source, cte->select,
			      source->alias ? source->alias : cte->name, out);
	c->ctes = visible;
	return is_good;
}

static bool from_view(struct cutter *c, struct level *level, const struct ast_source *source,
		      const struct view *view, struct buf *out)
{
	const struct ast_select *visible = c->ctes;
	u32 n_views = c->n_views;
	bool is_good;

	c->ctes = NULL;
	c->n_views = (u32)(view - c->views->views.at);
	is_good = from_select(c, level, source, view->select,
			      source->alias ? source->alias : view->name, out);
	c->ctes = visible;
	c->n_views = n_views;
	return is_good;
}

static bool from_join(struct cutter *c, struct level *level, const struct ast_source *source,
		      struct buf *out)
{
	static const char *const words[] = { [AST_JOIN_INNER] = " JOIN ",
					     [AST_JOIN_LEFT] = " LEFT JOIN ",
					     [AST_JOIN_CROSS] = " CROSS JOIN " };
	u32 first_right;
	struct buf on;
	bool is_good;

	if (!cut_from(c, level, source->left, out))
		return false;
	buf_puts(out, words[source->join]);
	first_right = level->relations.n;
	buf_puts(out, is_window_join(source->right) ? "(" : "");
	if (!cut_from(c, level, source->right, out))
		return false;
	buf_puts(out, is_window_join(source->right) ? ")" : "");
	for (u32 i = first_right; source->join == AST_JOIN_LEFT && i < level->relations.n; i++) {
		level->relations.at[i].is_nullable = true;
		/* Without a partner: that is known at the end only. */
		c->needs_all_rows |= level->relations.at[i].rows != NULL;
	}
	cut_note(c, source->join == AST_JOIN_LEFT ? "left join" : "join", source->on,
		 "of the rows of one window");
	if (!source->on)
		return true;
	buf_init(&on);
	is_good = cut_condition(c, level, source->on, &on).is_good;
	if (is_good)
		buf_printf(out, " ON %s", on.at);
	buf_free(&on);
	return is_good;
}

bool cut_from(struct cutter *c, struct level *level, const struct ast_source *source,
	      struct buf *out)
{
	const struct ast_cte *cte;
	const struct view *view;
	struct rows_part *rows;
	struct diags trial;

	if (is_window_join(source))
		return from_join(c, level, source, out);
	if (source->kind == AST_SOURCE_FILE)
		return from_file(c, level, source, out);
	rows = cut_rows_of(c, source, level->select, &trial);
	if (rows)
		return add_rows(c, level, source, rows, out);
	cte = cte_find(c, source);
	if (cte)
		return from_cte(c, level, source, cte, out);
	view = view_find(c, source);
	if (view)
		return from_view(c, level, source, view, out);
	if (from_database(c, level, source, out))
		return true;
	if (source->kind == AST_SOURCE_SELECT)
		return from_select(c, level, source, source->select, source->alias, out);
	cut_take_diags(c, &trial);
	return false;
}
