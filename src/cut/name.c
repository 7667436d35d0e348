/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Names -> columns of relations, of the innermost select that knows them; bounds of
 * windows; aliases and numbers of items.
 */
#include <string.h>
#include <strings.h>

#include "cut/internal.h"

static struct printed good(struct type type)
{
	return (struct printed){ .type = type, .is_good = true };
}

const struct ast_item *cut_alias(const struct ast_select *select, const struct ast *ast)
{
	if (!select || ast->kind != AST_NAME || ast->n_parts != 1)
		return NULL;
	for (u32 i = 0; i < select->items.n; i++)
		if (select->items.at[i].alias &&
		    strcasecmp(select->items.at[i].alias, ast->parts[0]) == 0)
			return &select->items.at[i];
	return NULL;
}

struct found {
	const struct relation *relation;
	s32 column;
	struct type type;
	u32 n; /* relations that know the name */
};

s32 cut_known_column(const struct relation *r, const struct ast *name)
{
	const char *column = name->parts[name->n_parts - 1];

	if (name->n_parts > 2 ||
	    (name->n_parts == 2 && (!r->name || strcasecmp(r->name, name->parts[0]) != 0)))
		return -1;
	for (u32 i = 0; i < r->columns.n_columns; i++)
		if (strcasecmp(r->columns.columns[i].name, column) == 0)
			return (s32)i;
	return -1;
}

/* The column that the name is among the relations of one select. */
static struct found find_in(struct cutter *c, struct level *level, const struct ast *name,
			    struct diags *ret_why)
{
	struct found found = { 0 };

	for (u32 i = 0; i < level->relations.n; i++) {
		const struct relation *r = &level->relations.at[i];
		struct type type;
		s32 column;

		if (r->rows) {
			column = cut_rows_column(c, r->rows, name, ret_why, &type);
		} else {
			column = cut_known_column(r, name);
			if (column >= 0)
				type = r->columns.columns[column].type;
		}
		if (column < 0)
			continue;
		found.n++;
		found.relation = r;
		found.column = column;
		found.type = type;
	}
	return found;
}

bool cut_is_column(struct cutter *c, struct level *level, const struct ast *name)
{
	return name->kind == AST_NAME && find_in(c, level, name, NULL).n > 0;
}

void cut_print_column(const struct relation *r, s32 column, struct buf *out)
{
	const char *naming = r->rows && column > 0 ? r->rows->naming.at[column - 1] : NULL;

	if (naming)
		buf_printf(out, "%s(%s.c%d)", naming, r->alias, column);
	else if (r->printed)
		buf_printf(out, "%s.\"%s\"", r->alias, r->printed[column]);
	else
		buf_printf(out, "%s.c%d", r->alias, column);
}

static struct printed unknown_column(struct cutter *c, struct level *level, const struct ast *name,
				     const struct diags *why)
{
	struct suggest suggest;
	struct buf text;

	/* One stream: what its binder says is best. */
	if (level->relations.n == 1 && level->relations.at[0].rows && diags_failed(why)) {
		cut_take_diags(c, why);
		return cut_bad();
	}
	suggest_init(&suggest, name->parts[name->n_parts - 1]);
	for (u32 i = 0; i < level->relations.n; i++)
		for (u32 k = 0; k < level->relations.at[i].columns.n_columns; k++)
			if (level->relations.at[i].columns.columns[k].name[0] != '#')
				suggest_offer(&suggest,
					      level->relations.at[i].columns.columns[k].name);
	buf_init(&text);
	sql_print_expr(name, &text);
	struct diag *d = diag_error(c->diags, "unknown-column", name->span,
				    "there is no column \"%s\"", text.at);

	if (suggest_best(&suggest))
		diag_hint(c->diags, d, "did you mean \"%s\"?", suggest_best(&suggest));
	buf_free(&text);
	return cut_bad();
}

/* window_start, window_end: parameters, or columns where each group has windows of its own. */
static bool print_bound(struct cutter *c, struct level *level, const struct ast *name,
			struct buf *out)
{
	bool is_own = c->window.kind == AST_WINDOW_SESSION ||
		      (c->window.kind == AST_WINDOW_COUNT && c->window.scope != AST_COUNT_ALL);
	const char *column = name->parts[0];

	if (name->n_parts != 1 || c->window.kind == AST_WINDOW_NONE)
		return false;
	if (strcasecmp(column, "window_start") != 0 && strcasecmp(column, "window_end") != 0)
		return false;
	if (is_own && level->relations.n)
		buf_printf(out, "%s.", level->relations.at[0].alias);
	else
		buf_putc(out, ':');
	buf_puts(out, strcasecmp(column, "window_end") == 0 ? "window_end" : "window_start");
	return true;
}

static struct printed print_alias(struct cutter *c, struct level *level, const struct ast *name,
				  const struct ast_item *item, struct buf *out)
{
	struct printed p;

	if (level->alias_depth == CUT_DEPTH_MAX) {
		diag_error(c->diags, "unknown-column", name->span,
			   "the name \"%s\" stands for itself", name->parts[0]);
		return cut_bad();
	}
	level->alias_depth++;
	buf_putc(out, '(');
	p = cut_expr(c, level, item->expr, out);
	buf_putc(out, ')');
	level->alias_depth--;
	return p;
}

struct printed cut_name(struct cutter *c, struct level *level, const struct ast *name,
			struct buf *out)
{
	struct diags why;

	for (struct level *l = level; l; l = l->outer) {
		struct found found;
		const struct ast_item *item;
		struct printed key;

		cut_trial(c, &why);
		if (l != level && cut_outer_key(l, name, out, &key))
			return key;
		found = find_in(c, l, name, &why);
		if (found.n > 1) {
			diag_hint(c->diags,
				  diag_error(c->diags, "ambiguous-column", name->span,
					     "more than one member of FROM has a column \"%s\"",
					     name->parts[0]),
				  "put the member's name before it: a.%s", name->parts[0]);
			return cut_bad();
		}
		if (found.n == 1) {
			cut_print_column(found.relation, found.column, out);
			return good(found.type);
		}
		if (print_bound(c, l, name, out))
			return good((struct type){ .kind = TYPE_TIMESTAMP, .bits = 64 });
		item = cut_alias(l->select, name);
		if (item)
			return print_alias(c, l, name, item, out);
	}
	cut_trial(c, &why);
	find_in(c, level, name, &why);
	return unknown_column(c, level, name, &why);
}

const struct ast *cut_resolve_item(struct cutter *c, struct level *level, const struct ast *ast,
				   const char *clause)
{
	const struct ast_select *s = level->select;
	const struct ast_item *item;

	if (ast->kind == AST_INTEGER) {
		if (ast->integer >= 1 && ast->integer <= s->items.n &&
		    s->items.at[ast->integer - 1].expr->kind != AST_STAR)
			return s->items.at[ast->integer - 1].expr;
		diag_hint(c->diags,
			  diag_error(c->diags, "bad-ordinal", ast->span,
				     "%s %llu: the SELECT list has no such item", clause,
				     (unsigned long long)ast->integer),
			  "items count from 1 to %u", s->items.n);
		return NULL;
	}
	item = cut_alias(s, ast);
	if (item && (clause[0] == 'O' || !cut_is_column(c, level, ast)))
		return item->expr;
	return ast;
}
