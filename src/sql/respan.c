/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Puts every node of a tree at one place: a view that ships with ebql has no text
 * in the query, so what is said of it points at its name there.
 */
#include "sql/sql.h"

static void respan_expr(struct ast *ast, struct span span)
{
	if (!ast)
		return;
	ast->span = span;
	for (u32 i = 0; ast->part_spans && i < ast->n_parts; i++)
		ast->part_spans[i] = span;
	for (u32 i = 0; i < ast->n_args; i++)
		respan_expr(ast->args[i], span);
	for (u32 i = 0; i < ast->n_order_by; i++)
		respan_expr(ast->order_by[i].expr, span);
	for (u32 i = 0; i < ast->n_partition_by; i++)
		respan_expr(ast->partition_by[i], span);
	respan_expr(ast->filter, span);
	respan_expr(ast->otherwise, span);
	if (ast->select)
		sql_respan(ast->select, span);
}

static void respan_columns(ast_columns *columns, struct span span)
{
	for (u32 i = 0; i < columns->n; i++)
		columns->at[i].span = span;
}

static void respan_source(struct ast_source *source, struct span span)
{
	if (!source)
		return;
	source->span = source->alias_span = span;
	if (source->select)
		sql_respan(source->select, span);
	respan_columns(&source->columns, span);
	respan_source(source->left, span);
	respan_source(source->right, span);
	respan_expr(source->on, span);
}

void sql_respan(struct ast_select *select, struct span span)
{
	select->span = span;
	for (u32 i = 0; i < select->ctes.n; i++) {
		select->ctes.at[i].span = span;
		respan_columns(&select->ctes.at[i].columns, span);
		sql_respan(select->ctes.at[i].select, span);
	}
	for (u32 i = 0; i < select->items.n; i++) {
		select->items.at[i].alias_span = span;
		respan_expr(select->items.at[i].expr, span);
	}
	respan_source(select->from, span);
	respan_expr(select->where, span);
	for (u32 i = 0; i < select->group_by.n; i++)
		respan_expr(select->group_by.at[i], span);
	select->window.span = select->window.size_span = select->window.advance_span = span;
	respan_expr(select->having, span);
	for (u32 i = 0; i < select->order_by.n; i++)
		respan_expr(select->order_by.at[i].expr, span);
	respan_expr(select->limit, span);
	respan_expr(select->offset, span);
	for (u32 i = 0; i < select->options.n; i++) {
		select->options.at[i].span = span;
		respan_expr(select->options.at[i].value, span);
	}
	for (u32 i = 0; i < select->compound.n; i++)
		sql_respan(select->compound.at[i].select, span);
}
