/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The tree itself as text, one node a line, children indented by two: every
 * field that a later layer reads is shown, so equal dumps are equal trees.
 */
#include "sql/sql.h"

static void dump_select(const struct ast_select *select, u32 depth, struct buf *out);
static void dump_expr(const struct ast *ast, u32 depth, struct buf *out);

static const char *const kind_names[] = {
	[AST_NULL] = "null",	     [AST_BOOL] = "bool",	[AST_INTEGER] = "integer",
	[AST_REAL] = "real",	     [AST_TEXT] = "text",	[AST_DURATION] = "duration",
	[AST_NAME] = "name",	     [AST_STAR] = "star",	[AST_UNARY] = "unary",
	[AST_BINARY] = "binary",     [AST_BETWEEN] = "between", [AST_IN] = "in",
	[AST_LIKE] = "like",	     [AST_IS_NULL] = "is-null", [AST_CASE] = "case",
	[AST_CAST] = "cast",	     [AST_CALL] = "call",	[AST_INDEX] = "index",
	[AST_SUBQUERY] = "subquery", [AST_EXISTS] = "exists",	[AST_IN_SELECT] = "in-select",
};

static void indent(u32 depth, struct buf *out)
{
	buf_fill(out, ' ', 2 * (size_t)depth);
}

static void label(const char *text, u32 depth, struct buf *out)
{
	indent(depth, out);
	buf_puts(out, text);
	buf_putc(out, '\n');
}

/* A name or text so that neither a blank nor a newline in it can mislead. */
static void dump_text(const char *text, struct buf *out)
{
	size_t n = 0;

	while (text[n])
		n++;
	buf_putc(out, ' ');
	buf_put_json_string(out, text, n);
}

static void labelled(const char *text, const struct ast *ast, u32 depth, struct buf *out)
{
	if (!ast)
		return;
	label(text, depth, out);
	dump_expr(ast, depth + 1, out);
}

static void dump_orders(const struct ast_order *list, u32 n, u32 depth, struct buf *out)
{
	u32 i;

	for (i = 0; i < n; i++) {
		indent(depth, out);
		buf_printf(out, "order-by%s%s%s\n", list[i].is_descending ? " descending" : "",
			   list[i].nulls < 0 ? " nulls-first" : "",
			   list[i].nulls > 0 ? " nulls-last" : "");
		dump_expr(list[i].expr, depth + 1, out);
	}
}

static void dump_value(const struct ast *ast, struct buf *out)
{
	u32 i;

	if (ast->kind == AST_BOOL || ast->kind == AST_INTEGER) {
		buf_printf(out, " %llu", (unsigned long long)ast->integer);
	} else if (ast->kind == AST_DURATION) {
		buf_printf(out, " %llu ns", (unsigned long long)ast->integer);
	} else if (ast->kind == AST_REAL) {
		buf_putc(out, ' ');
		sql_print_expr(ast, out);
	} else if (ast->kind == AST_UNARY || ast->kind == AST_BINARY) {
		buf_printf(out, " %s", ast_op_names[ast->op]);
	}
	if (ast->text && ast->kind != AST_REAL)
		dump_text(ast->text, out);
	for (i = 0; i < ast->n_parts; i++)
		dump_text(ast->parts[i], out);
}

static void dump_expr(const struct ast *ast, u32 depth, struct buf *out)
{
	u32 i;

	indent(depth, out);
	buf_puts(out, kind_names[ast->kind]);
	dump_value(ast, out);
	buf_puts(out, ast->negated ? " negated" : "");
	buf_puts(out, ast->star ? " star" : "");
	buf_puts(out, ast->distinct ? " distinct" : "");
	buf_puts(out, ast->is_within_group ? " within-group" : "");
	buf_puts(out, ast->is_over ? " over" : "");
	if (ast->frame)
		buf_printf(out, " frame %s", ast->frame);
	buf_putc(out, '\n');
	for (i = 0; i < ast->n_args; i++) {
		if (ast->args[i])
			dump_expr(ast->args[i], depth + 1, out);
		else
			label("none", depth + 1, out);
	}
	labelled("else", ast->otherwise, depth + 1, out);
	labelled("filter", ast->filter, depth + 1, out);
	for (i = 0; i < ast->n_partition_by; i++)
		labelled("partition-by", ast->partition_by[i], depth + 1, out);
	dump_orders(ast->order_by, ast->n_order_by, depth + 1, out);
	if (ast->select)
		dump_select(ast->select, depth + 1, out);
}

static void dump_source(const struct ast_source *source, u32 depth, struct buf *out)
{
	static const char *const kinds[] = {
		[AST_SOURCE_STREAM] = "stream",
		[AST_SOURCE_FILE] = "file",
		[AST_SOURCE_SELECT] = "from-select",
		[AST_SOURCE_JOIN] = "join",
	};
	static const char *const joins[] = {
		[AST_JOIN_INNER] = " inner", [AST_JOIN_LEFT] = " left", [AST_JOIN_CROSS] = " cross",
		[AST_JOIN_PAIR] = " pair",   [AST_JOIN_ASOF] = " asof",
	};
	u32 i;

	indent(depth, out);
	buf_puts(out, kinds[source->kind]);
	if (source->kind == AST_SOURCE_JOIN) {
		buf_puts(out, source->is_left ? " left" : "");
		buf_puts(out, joins[source->join]);
	}
	for (i = 0; i < source->n_path; i++)
		dump_text(source->path[i], out);
	if (source->alias) {
		buf_puts(out, " as");
		dump_text(source->alias, out);
	}
	if (source->within_ns)
		buf_printf(out, " within %llu ns", (unsigned long long)source->within_ns);
	buf_putc(out, '\n');
	if (source->select)
		dump_select(source->select, depth + 1, out);
	if (source->kind == AST_SOURCE_JOIN) {
		dump_source(source->left, depth + 1, out);
		dump_source(source->right, depth + 1, out);
	}
	labelled("on", source->on, depth + 1, out);
}

static void dump_window(const struct ast_window *window, u32 depth, struct buf *out)
{
	static const char *const kinds[] = {
		[AST_WINDOW_TUMBLING] = "tumbling",
		[AST_WINDOW_HOPPING] = "hopping",
		[AST_WINDOW_COUNT] = "count",
		[AST_WINDOW_SESSION] = "session",
	};
	static const char *const scopes[] = {
		[AST_COUNT_ALL] = "",
		[AST_COUNT_PER_CPU] = " per cpu",
		[AST_COUNT_PER_GROUP] = " per group",
	};
	const char *unit = window->kind == AST_WINDOW_COUNT ? "events" : "ns";

	indent(depth, out);
	buf_printf(out, "window %s size %llu %s advance %llu %s%s%s\n", kinds[window->kind],
		   (unsigned long long)window->size, unit, (unsigned long long)window->advance,
		   unit, scopes[window->scope], window->overflow ? " overflow" : "");
}

static void dump_option(const struct ast_option *option, u32 depth, struct buf *out)
{
	indent(depth, out);
	buf_puts(out, "option");
	dump_text(option->name, out);
	buf_putc(out, '\n');
	dump_expr(option->value, depth + 1, out);
}

static void dump_items(const struct ast_select *select, u32 depth, struct buf *out)
{
	u32 i;

	for (i = 0; i < select->items.n; i++) {
		indent(depth, out);
		buf_puts(out, "item");
		if (select->items.at[i].alias) {
			buf_puts(out, " as");
			dump_text(select->items.at[i].alias, out);
		}
		buf_putc(out, '\n');
		dump_expr(select->items.at[i].expr, depth + 1, out);
	}
}

static void dump_select(const struct ast_select *select, u32 depth, struct buf *out)
{
	static const char *const compounds[] = {
		[AST_UNION_ALL] = "union-all",
		[AST_UNION] = "union",
		[AST_EXCEPT] = "except",
		[AST_INTERSECT] = "intersect",
	};
	u32 i;

	label(select->is_distinct ? "select distinct" : "select", depth, out);
	depth++;
	for (i = 0; i < select->ctes.n; i++) {
		indent(depth, out);
		buf_puts(out, "with");
		dump_text(select->ctes.at[i].name, out);
		buf_putc(out, '\n');
		dump_select(select->ctes.at[i].select, depth + 1, out);
	}
	dump_items(select, depth, out);
	if (select->from)
		dump_source(select->from, depth, out);
	labelled("where", select->where, depth, out);
	for (i = 0; i < select->group_by.n; i++)
		labelled("group-by", select->group_by.at[i], depth, out);
	if (select->window.kind != AST_WINDOW_NONE)
		dump_window(&select->window, depth, out);
	labelled("having", select->having, depth, out);
	for (i = 0; i < select->compound.n; i++) {
		label(compounds[select->compound.at[i].op], depth, out);
		dump_select(select->compound.at[i].select, depth + 1, out);
	}
	dump_orders(select->order_by.at, select->order_by.n, depth, out);
	labelled("limit", select->limit, depth, out);
	labelled("offset", select->offset, depth, out);
	for (i = 0; i < select->options.n; i++)
		dump_option(&select->options.at[i], depth, out);
}

void sql_dump_script(const struct ast_script *script, struct buf *out)
{
	static const char *const kinds[] = {
		[AST_STATEMENT_EXPLAIN] = "explain",
		[AST_STATEMENT_SHOW_STREAMS] = "show-streams",
		[AST_STATEMENT_SHOW_VIEWS] = "show-views",
		[AST_STATEMENT_DESCRIBE] = "describe",
		[AST_STATEMENT_CREATE_VIEW] = "create-view",
		[AST_STATEMENT_DROP_VIEW] = "drop-view",
		[AST_STATEMENT_SET] = "set",
		[AST_STATEMENT_ATTACH] = "attach",
	};
	u32 i;

	for (i = 0; i < script->statements.n; i++) {
		const struct ast_statement *statement = &script->statements.at[i];
		u32 depth = statement->kind == AST_STATEMENT_SELECT ? 0 : 1;

		if (depth) {
			buf_puts(out, kinds[statement->kind]);
			buf_puts(out, statement->replace ? " replace" : "");
			buf_puts(out, statement->if_exists ? " if-exists" : "");
			buf_puts(out, statement->analyze ? " analyze" : "");
			if (statement->text)
				dump_text(statement->text, out);
			if (statement->kind == AST_STATEMENT_ATTACH && statement->option.name)
				buf_printf(out, " as %s", statement->option.name);
			buf_putc(out, '\n');
		}
		if (statement->source)
			dump_source(statement->source, depth, out);
		if (statement->kind == AST_STATEMENT_SET)
			dump_option(&statement->option, depth, out);
		if (statement->select)
			dump_select(statement->select, depth, out);
	}
}
