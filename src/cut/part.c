/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Parts of kind ROWS as they grow: an expression over the columns of one stream (or of a
 * tree of PAIR and ASOF joins, views, UNION ALL) becomes a column of the part, if it
 * can be bound there; so only what the query uses is streamed.
 */
#include <string.h>

#include "cut/internal.h"

struct plan_context cut_context(const struct cutter *c)
{
	return (struct plan_context){ c->catalog, c->settings, c->views, c->n_views, c->arena };
}

void cut_trial(const struct cutter *c, struct diags *ret_diags)
{
	diags_init(ret_diags, c->arena, c->diags->file, c->diags->text, c->diags->text_bytes);
}

void cut_take_diags(struct cutter *c, const struct diags *from)
{
	u32 n_kept = 0;

	for (u32 i = 0; i < from->list.n; i++) {
		const struct diag *d = &from->list.at[i];
		struct diag *copy = NULL;

		n_kept += !d->is_warning;
		if (d->is_warning)
			copy = diag_warning(c->diags, d->tag, d->span, "%s", d->message);
		else if (d->has_span)
			copy = diag_error(c->diags, d->tag, d->span, "%s", d->message);
		else
			copy = diag_plain(c->diags, d->tag, "%s", d->message);
		if (d->hint)
			diag_hint(c->diags, copy, "%s", d->hint);
	}
	/* Those that were one too many are still counted. */
	if (from->n_errors > n_kept)
		c->diags->n_errors += from->n_errors - n_kept;
}

bool cut_is_refusal(const struct diags *diags)
{
	/* not-supported: by the kernel part; a function that it does not know SQLite may know. */
	static const char *const tags[] = { "not-supported", "unknown-function" };

	for (u32 i = 0; i < diags->list.n; i++) {
		bool is_refusal = diags->list.at[i].is_warning;

		for (u32 k = 0; k < ARRAY_SIZE(tags); k++)
			is_refusal |= strcmp(diags->list.at[i].tag, tags[k]) == 0;
		if (!is_refusal)
			return false;
	}
	return true;
}

u32 cut_part_add(struct cutter *c, struct cut_part part, struct rows_part *rows)
{
	part.name = arena_printf(c->arena, "w%u", c->parts.n);
	vec_push(c->arena, &c->parts, part);
	vec_push(c->arena, &c->rows, rows);
	return c->parts.n - 1;
}

struct rows_part *cut_rows_new(struct cutter *c, const struct ast_source *source)
{
	struct rows_part *rows = arena_new(c->arena, struct rows_part);

	rows->source = source;
	rows->ctes = c->ctes;
	rows->n_views = c->n_views;
	rows->is_kernel = c->is_kernel;
	return rows;
}

/* SELECT <items> FROM <the part's source> */
static struct plan *bind_items(struct cutter *c, struct rows_part *rows,
			       const struct ast_item *items, u32 n, struct ast *where,
			       struct diags *diags)
{
	struct plan_context context = cut_context(c);
	struct ast_select *select = arena_new(c->arena, struct ast_select);

	context.n_views = rows->n_views;
	select->span = rows->source->span;
	select->from = (struct ast_source *)rows->source;
	select->where = where;
	if (rows->ctes)
		select->ctes = rows->ctes->ctes;
	for (u32 i = 0; i < n; i++)
		vec_push(c->arena, &select->items, items[i]);
	return plan_bind_rows(&context, select, diags);
}

/* A view's column that is the name of a number: SQLite makes the name. */
const char *cut_naming_of(const struct expr *e)
{
	if (e->kind != EXPR_CALL || e->n_args != 1 || e->args[0]->is_user_only)
		return NULL;
	return plan_is_naming(e) ? e->name : NULL;
}

s32 cut_rows_column(struct cutter *c, struct rows_part *rows, const struct ast *ast,
		    struct diags *diags, struct type *ret_type)
{
	struct ast_item item = { .expr = (struct ast *)ast };
	struct diags trial;
	struct expr *e;
	struct plan *p;

	for (u32 i = 0; i < rows->items.n; i++) {
		if (!sql_expr_equal(rows->items.at[i].expr, ast))
			continue;
		*ret_type = rows->types.at[i];
		return (s32)i + 1;
	}
	cut_trial(c, &trial);
	p = bind_items(c, rows, &item, 1, NULL, &trial);
	if (!p || p->project.n_items != 2) {
		if (diags)
			*diags = trial;
		return -1;
	}
	e = p->project.items[1].expr;
	/* A literal SQLite has itself; but a name may stand for one. */
	if (e->kind <= EXPR_TEXT && ast->kind != AST_NAME)
		return -1;
	if (e->is_user_only && e->kind != EXPR_FIELD && !cut_naming_of(e))
		return -1;
	*ret_type = e->type;
	if (expr_equal(e, p->project.items[0].expr))
		return 0;
	vec_push(c->arena, &rows->items, item);
	vec_push(c->arena, &rows->types, e->type);
	vec_push(c->arena, &rows->naming, cut_naming_of(e));
	return (s32)rows->items.n;
}

const struct expr *cut_rows_expr(struct cutter *c, struct rows_part *rows, const struct ast *ast)
{
	struct ast_item item = { .expr = (struct ast *)ast };
	struct diags trial;
	struct plan *p;

	cut_trial(c, &trial);
	p = bind_items(c, rows, &item, 1, NULL, &trial);
	return p && p->project.n_items == 2 ? p->project.items[1].expr : NULL;
}

bool cut_rows_where(struct cutter *c, struct rows_part *rows, struct ast *condition)
{
	struct ast_item one = { .expr = arena_new(c->arena, struct ast) };
	struct diags trial;

	one.expr->kind = AST_INTEGER;
	one.expr->span = condition->span;
	cut_trial(c, &trial);
	if (!bind_items(c, rows, &one, 1, condition, &trial))
		return false;
	vec_push(c->arena, &rows->where, condition);
	return true;
}

static struct ast *and_all(struct cutter *c, struct ast *const *list, u32 n)
{
	struct ast *all = n ? list[0] : NULL;

	for (u32 i = 1; i < n; i++) {
		struct ast *both = arena_new(c->arena, struct ast);

		both->kind = AST_BINARY;
		both->op = OP_AND;
		both->span = span_join(all->span, list[i]->span);
		both->args = arena_array(c->arena, struct ast *, 2);
		both->args[0] = all;
		both->args[1] = list[i];
		both->n_args = 2;
		all = both;
	}
	return all;
}

static void note_scans(const struct plan *p, struct cut_part *part)
{
	if (p->kind == PLAN_SCAN) {
		bool is_file = p->scan.streams->streams.at[0]->kind == STREAM_FILE;

		part->has_files |= is_file;
		part->has_streams |= !is_file;
	}
	if (p->input)
		note_scans(p->input, part);
	if (p->right)
		note_scans(p->right, part);
	for (u32 i = 0; i < p->n_inputs; i++)
		note_scans(p->inputs[i], part);
}

static bool finish(struct cutter *c, struct cut_part *part, struct rows_part *rows)
{
	struct schema *columns = &part->columns;
	struct diags trial;
	struct ast *where;
	struct buf text;

	cut_trial(c, &trial);
	where = and_all(c, rows->where.at, rows->where.n);
	part->plan = bind_items(c, rows, rows->items.at, rows->items.n, where, &trial);
	cut_take_diags(c, &trial);
	if (!part->plan)
		return false;
	if (where) {
		buf_init(&text);
		sql_print_expr(where, &text);
		part->where = arena_strdup(c->arena, text.at);
		buf_free(&text);
	}
	for (u32 i = 0; i < rows->naming.n; i++)
		if (rows->naming.at[i])
			part->plan->project.items[i + 1].expr =
				part->plan->project.items[i + 1].expr->args[0];
	note_scans(part->plan, part);
	part->is_kernel = rows->is_kernel && !part->has_files;
	part->span = rows->source->span;
	columns->n_columns = part->plan->project.n_items;
	columns->columns = arena_array(c->arena, struct column, columns->n_columns);
	for (u32 i = 0; i < columns->n_columns; i++)
		columns->columns[i] = (struct column){ part->plan->project.items[i].name,
						       part->plan->project.items[i].expr->type };
	if (part->has_files)
		part->reason = "recorded rows are read in user space";
	else if (!c->is_kernel)
		part->reason = "pushdown is off: the kernel streams the columns of each scan, and "
			       "nothing else";
	else
		part->reason = "SQLite needs the rows themselves: the kernel filters, pairs and "
			       "streams the columns that are used";
	return true;
}

bool cut_rows_finish(struct cutter *c)
{
	for (u32 i = 0; i < c->parts.n; i++)
		if (c->rows.at[i] && !finish(c, &c->parts.at[i], c->rows.at[i]))
			return false;
	return true;
}
