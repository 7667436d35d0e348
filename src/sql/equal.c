/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Are two expressions the same, spans aside?  Names compare without case, as
 * SQLite's do; text literals and the paths of streams compare exactly.
 */
#include <string.h>
#include <strings.h>

#include "sql/sql.h"

static bool select_equal(const struct ast_select *a, const struct ast_select *b);

static bool name_equal(const char *a, const char *b)
{
	return !a || !b ? a == b : !strcasecmp(a, b);
}

static bool maybe_equal(const struct ast *a, const struct ast *b)
{
	return !a || !b ? a == b : sql_expr_equal(a, b);
}

static bool list_equal(struct ast *const *a, u32 n_a, struct ast *const *b, u32 n_b)
{
	u32 i;

	if (n_a != n_b)
		return false;
	for (i = 0; i < n_a; i++)
		if (!maybe_equal(a[i], b[i]))
			return false;
	return true;
}

static bool order_equal(const struct ast_order *a, u32 n_a, const struct ast_order *b, u32 n_b)
{
	u32 i;

	if (n_a != n_b)
		return false;
	for (i = 0; i < n_a; i++)
		if (a[i].is_descending != b[i].is_descending || a[i].nulls != b[i].nulls ||
		    !sql_expr_equal(a[i].expr, b[i].expr))
			return false;
	return true;
}

static bool text_equal(const struct ast *a, const struct ast *b)
{
	if (a->kind == AST_TEXT)
		return a->text_bytes == b->text_bytes && !memcmp(a->text, b->text, a->text_bytes);
	return a->kind == AST_REAL || name_equal(a->text, b->text);
}

static bool parts_equal(const struct ast *a, const struct ast *b)
{
	u32 i;

	if (a->n_parts != b->n_parts)
		return false;
	for (i = 0; i < a->n_parts; i++)
		if (strcasecmp(a->parts[i], b->parts[i]))
			return false;
	return true;
}

bool sql_expr_equal(const struct ast *a, const struct ast *b)
{
	if (a->kind != b->kind || a->negated != b->negated || a->star != b->star ||
	    a->distinct != b->distinct || a->integer != b->integer || a->is_over != b->is_over ||
	    a->is_within_group != b->is_within_group || !name_equal(a->frame, b->frame))
		return false;
	if ((a->kind == AST_UNARY || a->kind == AST_BINARY) && a->op != b->op)
		return false;
	/* Bit by bit: 0.0 and -0.0 are not the same literal. */
	if (memcmp(&a->real, &b->real, sizeof(a->real)))
		return false;
	if (!text_equal(a, b) || !parts_equal(a, b))
		return false;
	if (!a->select != !b->select || (a->select && !select_equal(a->select, b->select)))
		return false;
	return list_equal(a->args, a->n_args, b->args, b->n_args) &&
	       maybe_equal(a->filter, b->filter) && maybe_equal(a->otherwise, b->otherwise) &&
	       list_equal(a->partition_by, a->n_partition_by, b->partition_by, b->n_partition_by) &&
	       order_equal(a->order_by, a->n_order_by, b->order_by, b->n_order_by);
}

static bool source_equal(const struct ast_source *a, const struct ast_source *b)
{
	u32 i;

	if (!a || !b)
		return a == b;
	if (a->kind != b->kind || a->n_path != b->n_path || !name_equal(a->alias, b->alias) ||
	    a->within_ns != b->within_ns || a->is_left != b->is_left || !maybe_equal(a->on, b->on))
		return false;
	for (i = 0; i < a->n_path; i++)
		if (strcmp(a->path[i], b->path[i]))
			return false;
	if (a->kind == AST_SOURCE_SELECT)
		return select_equal(a->select, b->select);
	return a->join == b->join && source_equal(a->left, b->left) &&
	       source_equal(a->right, b->right);
}

static bool window_equal(const struct ast_window *a, const struct ast_window *b)
{
	return a->kind == b->kind && a->scope == b->scope && a->size == b->size &&
	       a->advance == b->advance && a->overflow == b->overflow;
}

static bool nested_equal(const struct ast_select *a, const struct ast_select *b)
{
	u32 i;

	if (a->ctes.n != b->ctes.n || a->compound.n != b->compound.n)
		return false;
	for (i = 0; i < a->ctes.n; i++)
		if (!name_equal(a->ctes.at[i].name, b->ctes.at[i].name) ||
		    !select_equal(a->ctes.at[i].select, b->ctes.at[i].select))
			return false;
	for (i = 0; i < a->compound.n; i++)
		if (a->compound.at[i].op != b->compound.at[i].op ||
		    !select_equal(a->compound.at[i].select, b->compound.at[i].select))
			return false;
	return true;
}

static bool select_equal(const struct ast_select *a, const struct ast_select *b)
{
	u32 i;

	if (a->is_distinct != b->is_distinct || a->items.n != b->items.n ||
	    a->options.n != b->options.n || !nested_equal(a, b))
		return false;
	for (i = 0; i < a->items.n; i++)
		if (!name_equal(a->items.at[i].alias, b->items.at[i].alias) ||
		    !sql_expr_equal(a->items.at[i].expr, b->items.at[i].expr))
			return false;
	for (i = 0; i < a->options.n; i++)
		if (!name_equal(a->options.at[i].name, b->options.at[i].name) ||
		    !sql_expr_equal(a->options.at[i].value, b->options.at[i].value))
			return false;
	return source_equal(a->from, b->from) && maybe_equal(a->where, b->where) &&
	       list_equal(a->group_by.at, a->group_by.n, b->group_by.at, b->group_by.n) &&
	       window_equal(&a->window, &b->window) && maybe_equal(a->having, b->having) &&
	       order_equal(a->order_by.at, a->order_by.n, b->order_by.at, b->order_by.n) &&
	       maybe_equal(a->limit, b->limit) && maybe_equal(a->offset, b->offset);
}
