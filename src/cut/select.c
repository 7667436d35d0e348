/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * SELECT, clause by clause, as SQLite's SQL.  Its columns are c0, c1, ... whatever the
 * query calls them, so names never mean two things.
 */
#include <string.h>
#include <strings.h>

#include "cut/internal.h"

typedef VEC(struct column) column_vec;

static bool is_own_window(const struct cutter *c)
{
	return c->window.kind == AST_WINDOW_SESSION ||
	       (c->window.kind == AST_WINDOW_COUNT && c->window.scope != AST_COUNT_ALL);
}

/* --- The SELECT list --- */

/* alias.column, current.column, but no member of a struct: as plan/ names items. */
static bool is_plain_column(struct cutter *c, struct level *level, const struct ast *name)
{
	if (level->is_split)
		return name->n_parts == 2;
	for (u32 i = 0; i < level->relations.n; i++) {
		const struct relation *r = &level->relations.at[i];
		const struct expr *e = r->rows ? cut_rows_expr(c, r->rows, name) : NULL;

		if (r->rows ? e && e->kind != EXPR_MEMBER : cut_known_column(r, name) >= 0)
			return true;
	}
	return false;
}

static const char *item_name(struct cutter *c, struct level *level, const struct ast_item *item)
{
	const struct ast *e = item->expr;
	const char *text;
	struct buf out;

	if (item->alias)
		return item->alias;
	if (item == level->unnest)
		return ""; /* its columns then have plain names */
	if (e->kind == AST_NAME && e->n_parts == 1)
		return e->parts[0];
	if (e->kind == AST_NAME && is_plain_column(c, level, e))
		return e->parts[e->n_parts - 1];
	if (e->span.end > e->span.start && e->span.end <= c->diags->text_bytes &&
	    c->n_views == UINT32_MAX)
		return arena_strndup(c->arena, c->diags->text + e->span.start,
				     e->span.end - e->span.start);
	buf_init(&out);
	sql_print_expr(e, &out);
	text = arena_strdup(c->arena, out.at);
	buf_free(&out);
	return text;
}

static bool print_item(struct cutter *c, struct level *level, const struct ast *ast,
		       const char *name, column_vec *columns, struct buf *out)
{
	struct printed p;

	buf_puts(out, columns->n ? ", " : "");
	if (level->unnest && ast == level->unnest->expr) {
		level->unnest_column = columns->n;
		p = cut_unnest_argument(c, level, ast, out);
	} else {
		p = cut_item(c, level, ast, out);
	}
	if (!p.is_good)
		return false;
	buf_printf(out, " AS c%u", columns->n);
	vec_push(c->arena, columns, (struct column){ name, p.type });
	return true;
}

static struct ast *name_of_parts(struct cutter *c, const char *qualifier, const char *name,
				 struct span span)
{
	struct ast *ast = arena_new(c->arena, struct ast);

	ast->kind = AST_NAME;
	ast->span = span;
	ast->parts = arena_array(c->arena, const char *, 2);
	ast->part_spans = arena_array(c->arena, struct span, 2);
	if (qualifier)
		ast->parts[ast->n_parts++] = qualifier;
	ast->parts[ast->n_parts++] = name;
	for (u32 i = 0; i < ast->n_parts; i++)
		ast->part_spans[i] = span;
	return ast;
}

struct ast_item cut_star(struct cutter *c, struct span span)
{
	struct ast *all = arena_new(c->arena, struct ast);

	all->kind = AST_STAR;
	all->span = span;
	return (struct ast_item){ .expr = all };
}

/* What * is of rows of streams; names of several streams that clash have theirs before them. */
static bool star_of_rows(struct cutter *c, struct level *level, struct relation *r,
			 const struct ast *star, column_vec *columns, struct buf *out)
{
	struct plan_context context = cut_context(c);
	struct ast_select *select = arena_new(c->arena, struct ast_select);
	struct plan *p;

	context.n_views = r->rows->n_views;
	select->span = star->span;
	select->from = (struct ast_source *)r->rows->source;
	if (r->rows->ctes)
		select->ctes = r->rows->ctes->ctes;
	vec_push(c->arena, &select->items, cut_star(c, star->span));
	p = plan_bind_rows(&context, select, c->diags);
	for (u32 i = 1; p && i < p->project.n_items; i++) {
		const char *name = p->project.items[i].name, *dot = strchr(name, '.');
		struct ast *ast =
			name_of_parts(c, level->relations.n > 1 ? r->name : NULL, name, star->span);

		/* A stream's name before it, or a dot of its own? */
		if (dot && !cut_rows_expr(c, r->rows, ast))
			ast = name_of_parts(c, arena_strndup(c->arena, name, (size_t)(dot - name)),
					    dot + 1, star->span);
		if (!print_item(c, level, ast, name, columns, out))
			return false;
	}
	return p != NULL;
}

static bool print_star(struct cutter *c, struct level *level, const struct ast *star,
		       column_vec *columns, struct buf *out)
{
	const char *only = star->n_parts ? star->parts[0] : NULL;
	u32 n_shown = 0;

	for (u32 i = 0; i < level->relations.n; i++) {
		struct relation r = level->relations.at[i];

		if (only && (!r.name || strcasecmp(r.name, only) != 0))
			continue;
		n_shown++;
		if (r.rows && !star_of_rows(c, level, &r, star, columns, out))
			return false;
		for (u32 k = 0; !r.rows && k < r.columns.n_columns; k++) {
			buf_printf(out, "%s%s.", columns->n ? ", " : "", r.alias);
			if (r.printed)
				buf_printf(out, "\"%s\"", r.printed[k]);
			else
				buf_printf(out, "c%u", k);
			buf_printf(out, " AS c%u", columns->n);
			vec_push(c->arena, columns, r.columns.columns[k]);
		}
	}
	if (n_shown)
		return true;
	diag_hint(c->diags,
		  diag_error(c->diags, "unknown-column", star->span,
			     "nothing in FROM is called \"%s\"", only ? only : "*"),
		  "FROM stream AS %s names one so", only ? only : "s");
	return false;
}

static bool print_items(struct cutter *c, struct level *level, column_vec *columns, struct buf *out)
{
	const struct ast_select *s = level->select;

	for (u32 i = 0; i < s->items.n; i++) {
		const struct ast_item *item = &s->items.at[i];

		if (item->expr->kind == AST_STAR) {
			if (!print_star(c, level, item->expr, columns, out))
				return false;
		} else if (!print_item(c, level, item->expr, item_name(c, level, item), columns,
				       out)) {
			return false;
		}
	}
	return true;
}

/* --- GROUP BY, ORDER BY, LIMIT --- */

/* A number would be taken for a column's. */
static bool print_key(struct cutter *c, struct level *level, const struct ast *ast, struct buf *out)
{
	size_t start = out->n;

	if (!cut_expr(c, level, ast, out).is_good)
		return false;
	if (strspn(out->at + start, "0123456789+- ") == out->n - start)
		buf_puts(out, " | 0");
	return true;
}

static bool note_window_key(struct cutter *c, struct level *level, const struct ast *ast,
			    u32 *columns, u32 *n)
{
	struct type type;
	s32 column = cut_rows_column(c, level->relations.at[0].rows, ast, NULL, &type);

	if (column < 0) {
		diag_hint(c->diags,
			  diag_error(c->diags, "not-supported", ast->span,
				     "windows of their own are made for groups of columns only"),
			  "GROUP BY the event's columns, or expressions of them");
		return false;
	}
	columns[(*n)++] = (u32)column;
	return true;
}

static bool note_cpu(struct cutter *c, struct level *level, u32 *columns, u32 *n)
{
	const struct ast *cpu = name_of_parts(c, NULL, "cpu", c->window.span);
	struct type type;

	/* Recorded rows have the columns that were recorded. */
	if (cut_rows_column(c, level->relations.at[0].rows, cpu, NULL, &type) < 0) {
		diag_hint(c->diags,
			  diag_error(c->diags, "unknown-column", c->window.span,
				     "the rows have no column \"cpu\", which PER CPU goes by"),
			  "record it too: SELECT time, cpu, ...");
		return false;
	}
	return note_window_key(c, level, cpu, columns, n);
}

/* Sessions, and count windows of CPUs and groups: their keys. */
static bool window_keys(struct cutter *c, struct level *level)
{
	const struct ast_select *s = level->select;
	bool is_cpu = c->window.kind == AST_WINDOW_COUNT && c->window.scope == AST_COUNT_PER_CPU;
	u32 *columns = arena_array(c->arena, u32, s->group_by.n + 1), n = 0;

	if (level->relations.n != 1 || !level->relations.at[0].rows) {
		diag_hint(c->diags,
			  diag_error(c->diags, "not-supported", c->window.span,
				     "this kind of window is one stream's"),
			  "a view or a nested select of UNION ALL is one stream, too");
		return false;
	}
	if (is_cpu && !note_cpu(c, level, columns, &n))
		return false;
	for (u32 i = 0; !is_cpu && i < s->group_by.n; i++) {
		const struct ast *ast = cut_resolve_item(c, level, s->group_by.at[i], "GROUP BY");

		if (!ast || !note_window_key(c, level, ast, columns, &n))
			return false;
	}
	c->cut->window.key_columns = columns;
	c->cut->window.n_key_columns = n;
	return true;
}

/* By its own list, GROUP BY or HAVING? */
static bool is_grouped(const struct ast_select *s)
{
	if (s->group_by.n || cut_has_aggregate(s->having))
		return true;
	for (u32 i = 0; i < s->items.n; i++)
		if (cut_has_aggregate(s->items.at[i].expr))
			return true;
	return false;
}

static bool is_aggregated(const struct ast_select *s)
{
	bool is_aggregated = is_grouped(s) || s->having;

	for (u32 i = 0; i < s->order_by.n; i++)
		is_aggregated |= cut_has_aggregate(s->order_by.at[i].expr);
	return is_aggregated;
}

static bool print_group_by(struct cutter *c, struct level *level, struct buf *out)
{
	const struct ast_select *s = level->select;
	const char *before = " GROUP BY ";

	if (level->is_split && !level->is_regrouped)
		return true;
	if (is_own_window(c) && !window_keys(c, level))
		return false;
	for (u32 i = 0; i < s->group_by.n; i++) {
		const struct ast *ast = cut_resolve_item(c, level, s->group_by.at[i], "GROUP BY");

		buf_puts(out, before);
		before = ", ";
		if (!ast || !print_key(c, level, ast, out))
			return false;
		cut_note(c, "group by", ast,
			 level->is_regrouped ? "the kernel's groups are finer" : "over rows");
		c->has_aggregate = true;
	}
	if (is_own_window(c) && is_aggregated(s))
		buf_printf(out, "%s%s.session", before, level->relations.at[0].alias);
	return true;
}

/* Behind a compound only the columns are known. */
static bool order_column(struct cutter *c, struct level *level, const struct ast *ast,
			 const struct schema *columns, struct buf *out)
{
	if (ast->kind == AST_INTEGER && ast->integer >= 1 && ast->integer <= columns->n_columns) {
		buf_put_u64(out, ast->integer);
		return true;
	}
	for (u32 i = 0; ast->kind == AST_NAME && ast->n_parts == 1 && i < columns->n_columns; i++) {
		if (strcasecmp(columns->columns[i].name, ast->parts[0]) != 0)
			continue;
		buf_printf(out, "c%u", i);
		return true;
	}
	diag_hint(c->diags,
		  diag_error(c->diags, "unknown-column", ast->span,
			     "ORDER BY behind UNION, EXCEPT or INTERSECT takes a column of the "
			     "first select"),
		  "name it there: SELECT ... AS x");
	return false;
}

static bool print_order_by(struct cutter *c, struct level *level, const struct schema *columns,
			   struct buf *out)
{
	const struct ast_select *s = level->select;
	const char *before = " ORDER BY ";

	if (level->unnest_order) {
		buf_puts(out, level->unnest_order); /* it has the other one within */
		return true;
	}
	for (u32 i = 0; i < s->order_by.n; i++) {
		const struct ast_order *o = &s->order_by.at[i];
		const struct ast *ast = o->expr;

		if (!s->compound.n)
			ast = cut_resolve_item(c, level, ast, "ORDER BY");
		if (!ast)
			return false;
		if (cut_has_aggregate(ast) && !is_grouped(s) && !cut_is_unnest(ast))
			return cut_refuse_aggregate(c, ast, "the select has no groups");
		buf_puts(out, before);
		before = ", ";
		if (s->compound.n ? !order_column(c, level, ast, columns, out)
				  : !print_key(c, level, ast, out))
			return false;
		buf_puts(out, o->is_descending ? " DESC" : "");
		buf_puts(out, o->nulls < 0 ? " NULLS FIRST" : o->nulls > 0 ? " NULLS LAST" : "");
		cut_note(c, "order by", o->expr, "over the rows of a window");
	}
	c->is_only_sorted |= s->order_by.n > 0 && !c->needs_all_rows && !c->has_aggregate;
	c->needs_all_rows |= s->order_by.n > 0;
	return true;
}

static bool check_limit(struct cutter *c, const struct ast *ast)
{
	if (!ast || (ast->kind == AST_INTEGER && ast->integer <= INT32_MAX))
		return true;
	diag_hint(c->diags,
		  diag_error(c->diags, "bad-limit", ast->span,
			     "LIMIT and OFFSET take a whole number"),
		  "for example LIMIT 10");
	return false;
}

bool cut_is_streaming(const struct cutter *c)
{
	u32 n_rows = 0;

	if (c->window.kind != AST_WINDOW_NONE || c->has_aggregate || c->needs_all_rows)
		return false;
	for (u32 i = 0; i < c->parts.n; i++) {
		n_rows += c->parts.at[i].kind == PART_ROWS;
		if (c->parts.at[i].kind == PART_GROUPS)
			return false;
	}
	return n_rows == 1;
}

static bool print_limit(struct cutter *c, const struct ast_select *s, bool is_top, struct buf *out)
{
	bool is_of_stream = is_top && cut_is_streaming(c) && !s->offset;

	if (!check_limit(c, s->limit) || !check_limit(c, s->offset))
		return false;
	if (is_of_stream) {
		c->cut->limit = s->limit ? (s64)s->limit->integer : -1;
		return true;
	}
	if (s->limit || s->offset) {
		cut_note(c, "limit", s->limit, "behind the sorting");
		c->needs_all_rows = true;
		buf_printf(out, " LIMIT %lld", s->limit ? (long long)s->limit->integer : -1ll);
	}
	if (s->offset)
		buf_printf(out, " OFFSET %llu", (unsigned long long)s->offset->integer);
	return true;
}

/* --- One select, and several --- */

/* The number of the row, by which its cells are sorted. */
static bool print_number(struct cutter *c, struct level *level, struct buf *out)
{
	const struct schema none = { 0 };

	buf_puts(out, ", row_number() OVER (");
	if (!level->select->compound.n && !print_order_by(c, level, &none, out))
		return false;
	buf_puts(out, ") AS n");
	c->needs_all_rows = true;
	return true;
}

/* SELECT DISTINCT a, b ... GROUP BY a: the latest row of each group. */
static bool is_latest(const struct ast_select *s)
{
	bool has_other = false;

	if (!s->is_distinct || !s->group_by.n || s->having)
		return false;
	for (u32 i = 0; i < s->items.n; i++)
		has_other |= !cut_is_key(s, i);
	if (!has_other)
		return false;
	for (u32 i = 0; i < s->items.n; i++)
		if (cut_is_of_rows(s->items.at[i].expr) || s->items.at[i].expr->kind == AST_STAR)
			return false;
	return true;
}

static bool has_running(const struct ast *ast)
{
	if (!ast)
		return false;
	if (plan_is_running(ast))
		return true;
	for (u32 i = 0; i < ast->n_args; i++)
		if (has_running(ast->args[i]))
			return true;
	return has_running(ast->otherwise);
}

/* A select of single events whose list has running sums. */
static bool is_running(const struct ast_select *s)
{
	for (u32 i = 0; !is_aggregated(s) && i < s->items.n; i++)
		if (has_running(s->items.at[i].expr))
			return true;
	return false;
}

static bool print_body(struct cutter *c, struct level *level, column_vec *columns, struct buf *out)
{
	const struct ast_select *s = level->select;
	struct buf from, items;
	bool is_first = true, is_good;

	buf_init(&from);
	buf_init(&items);
	buf_puts(&from, s->from ? " FROM " : "");
	is_good = true;
	if (s->from && (is_latest(s) || !is_aggregated(s) || !cut_split(c, level, &from)))
		is_good = !diags_failed(c->diags) && cut_from(c, level, s->from, &from);
	level->has_running =
		level->relations.n == 1 && level->relations.at[0].rows && is_running(s);
	if (is_good && s->where && !level->is_split)
		is_good = cut_where(c, level, s->where, &is_first, &from);
	is_good = is_good && print_items(c, level, columns, &items);
	is_good = is_good && print_group_by(c, level, &from);
	/* With one max() SQLite takes the bare columns of a group from the row that has it. */
	if (is_good && is_latest(s)) {
		if (level->relations.n == 1 && level->relations.at[0].rows) {
			/* Rows are numbered in the order of their times. */
			buf_printf(&from, " HAVING max(%s.rowid) IS NOT NULL",
				   level->relations.at[0].alias);
			c->has_aggregate = true;
		} else {
			diag_error(c->diags, "not-supported", s->span,
				   "the latest row of each group is of one stream");
			is_good = false;
		}
	}
	if (is_good && s->having && !is_grouped(s)) {
		diag_hint(c->diags,
			  diag_error(c->diags, "having-here", s->having->span,
				     "HAVING chooses among groups, and there are none"),
			  "put the condition into WHERE");
		is_good = false;
	}
	if (is_good && s->having) {
		cut_note(c, "having", s->having, "over what was aggregated");
		buf_puts(&from, level->is_split && !level->is_regrouped ? " WHERE " : " HAVING ");
		is_good = cut_condition(c, level, s->having, &from).is_good;
	}
	if (is_good && level->unnest)
		is_good = print_number(c, level, &items);
	if (is_good)
		buf_printf(out, "SELECT %s%s%s", s->is_distinct && !is_latest(s) ? "DISTINCT " : "",
			   items.at, from.n ? from.at : "");
	c->needs_all_rows |= s->is_distinct;
	buf_free(&items);
	buf_free(&from);
	return is_good;
}

static bool print_unnested(struct cutter *c, struct level *level, column_vec *columns,
			   struct buf *out)
{
	column_vec inner = { 0 };
	struct schema to;
	struct buf sql;
	bool is_good;

	buf_init(&sql);
	is_good = print_body(c, level, &inner, &sql);
	if (is_good) {
		cut_print_unnested(c, level, &(struct schema){ inner.n, inner.at }, sql.at, out,
				   &to);
		for (u32 i = 0; i < to.n_columns; i++)
			vec_push(c->arena, columns, to.columns[i]);
	}
	buf_free(&sql);
	return is_good;
}

/* One arm of a compound, or the only one, without ORDER BY and LIMIT. */
static bool print_arm(struct cutter *c, struct level *level, column_vec *columns, struct buf *out)
{
	struct relation groups = { 0 };

	if ((level->outer || level->select->compound.n == 0) &&
	    cut_groups(c, level->select, &groups)) {
		buf_puts(out, "SELECT ");
		for (u32 i = 0; i < groups.columns.n_columns; i++) {
			buf_printf(out, "%sc%u AS c%u", i ? ", " : "", i, i);
			vec_push(c->arena, columns, groups.columns.columns[i]);
		}
		buf_printf(out, " FROM w%u", groups.part);
		return true;
	}
	level->unnest = cut_unnest_item(c, level->select);
	if (diags_failed(c->diags))
		return false;
	return level->unnest ? print_unnested(c, level, columns, out)
			     : print_body(c, level, columns, out);
}

bool cut_same_window(struct cutter *c, const struct ast_select *s)
{
	const struct ast_window *a = &s->window, *b = &c->window;

	if (a->kind == AST_WINDOW_NONE || (a->kind == b->kind && a->size == b->size &&
					   a->advance == b->advance && a->scope == b->scope))
		return true;
	diag_hint(c->diags,
		  diag_error(c->diags, "bad-window", a->span,
			     "the selects of one query have one window, this is another one"),
		  "say WINDOW once, at the end of the query");
	return false;
}

static bool print_compound(struct cutter *c, struct level *level, struct schema *columns,
			   struct buf *out)
{
	static const char *const words[] = { [AST_UNION_ALL] = " UNION ALL ",
					     [AST_UNION] = " UNION ",
					     [AST_EXCEPT] = " EXCEPT ",
					     [AST_INTERSECT] = " INTERSECT " };
	const struct ast_select *s = level->select;

	for (u32 i = 0; i < s->compound.n; i++) {
		const struct ast_compound *arm = &s->compound.at[i];
		struct level inner = { .outer = level->outer,
				       .select = arm->select,
				       .is_arm = true };
		column_vec more = { 0 };

		c->needs_all_rows |= arm->op != AST_UNION_ALL;
		buf_puts(out, words[arm->op]);
		if (!cut_same_window(c, arm->select) || !print_arm(c, &inner, &more, out))
			return false;
		if (more.n == columns->n_columns) {
			for (u32 k = 0; k < more.n; k++)
				if (columns->columns[k].type.kind == TYPE_NULL)
					columns->columns[k].type = more.at[k].type;
			continue;
		}
		diag_hint(c->diags,
			  diag_error(c->diags, "union-columns", arm->select->span,
				     "this select has %u column%s, the first has %u", more.n,
				     more.n == 1 ? "" : "s", columns->n_columns),
			  "give both the same columns");
		return false;
	}
	return true;
}

static void push_ctes(struct cutter *c, const struct ast_select *s)
{
	struct ast_select *all;

	if (!s->ctes.n)
		return;
	all = arena_new(c->arena, struct ast_select);
	for (u32 i = 0; c->ctes && i < c->ctes->ctes.n; i++)
		vec_push(c->arena, &all->ctes, c->ctes->ctes.at[i]);
	for (u32 i = 0; i < s->ctes.n; i++)
		vec_push(c->arena, &all->ctes, s->ctes.at[i]);
	c->ctes = all;
}

bool cut_select(struct cutter *c, struct level *outer, const struct ast_select *select, bool is_top,
		struct buf *out, struct schema *ret_columns)
{
	const struct ast_select *visible = c->ctes;
	struct level level = { .outer = outer, .select = cut_distinct(c, select) };
	column_vec columns = { 0 };
	bool is_good;

	if (c->depth >= CUT_DEPTH_MAX) {
		diag_error(c->diags, "too-deep", select->span, "these selects nest too deep");
		return false;
	}
	c->depth++;
	push_ctes(c, select);
	is_good = cut_same_window(c, select) && print_arm(c, &level, &columns, out);
	ret_columns->columns = columns.at;
	ret_columns->n_columns = columns.n;
	/* The first select alone has been printed; the others follow. */
	is_good = is_good && print_compound(c, &level, ret_columns, out) &&
		  print_order_by(c, &level, ret_columns, out) &&
		  print_limit(c, select, is_top, out);
	c->ctes = visible;
	c->depth--;
	return is_good;
}
