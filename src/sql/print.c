/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Tree -> SQL text that parses to the same tree.  Parentheses stand only where
 * precedence asks for them; names that could be read as keywords are quoted.
 */
#include <string.h>

#include "sql/parse.h"

const char *const ast_op_names[OP_N] = {
	[OP_ADD] = "+",		 [OP_SUB] = "-",	 [OP_MUL] = "*",    [OP_DIV] = "/",
	[OP_MOD] = "%",		 [OP_BIT_AND] = "&",	 [OP_BIT_OR] = "|", [OP_SHIFT_LEFT] = "<<",
	[OP_SHIFT_RIGHT] = ">>", [OP_CONCAT] = "||",	 [OP_EQ] = "=",	    [OP_NE] = "<>",
	[OP_LT] = "<",		 [OP_LE] = "<=",	 [OP_GT] = ">",	    [OP_GE] = ">=",
	[OP_IS] = "IS",		 [OP_IS_NOT] = "IS NOT", [OP_AND] = "AND",  [OP_OR] = "OR",
	[OP_NOT] = "NOT",	 [OP_NEG] = "-",	 [OP_PLUS] = "+",   [OP_BIT_NOT] = "~",
};

/* Would the lexer read the whole of it as one bare word? */
static bool is_word(const char *text)
{
	size_t n = strlen(text);
	struct token token = lex(text, (u32)n, 0);

	return token.kind == TOKEN_WORD && token.span.end == n && token.span.start == 0;
}

static void print_name(const char *name, struct buf *out)
{
	if (is_word(name) && !keyword_flags[keyword_find(name, strlen(name))])
		buf_puts(out, name);
	else
		buf_put_quoted(out, '"', name, strlen(name));
}

static u32 level_of(const struct ast *ast)
{
	if (ast->kind == AST_UNARY || ast->kind == AST_BINARY)
		return operators[ast->op].level;
	if (ast->kind == AST_BETWEEN || ast->kind == AST_IN || ast->kind == AST_IN_SELECT ||
	    ast->kind == AST_LIKE || ast->kind == AST_IS_NULL)
		return LEVEL_EQUAL;
	return ast->kind == AST_EXISTS && ast->negated ? LEVEL_NOT : LEVEL_POSTFIX;
}

/* In parentheses when it binds looser than level. */
static void print_at(const struct ast *ast, u32 level, struct buf *out)
{
	bool has_parens = level_of(ast) < level;

	if (has_parens)
		buf_putc(out, '(');
	sql_print_expr(ast, out);
	if (has_parens)
		buf_putc(out, ')');
}

/* Nothing where there is no expression. */
static void print_clause(const char *before, const struct ast *ast, struct buf *out)
{
	if (!ast)
		return;
	buf_puts(out, before);
	sql_print_expr(ast, out);
}

static void print_alias(const char *alias, struct buf *out)
{
	if (!alias)
		return;
	buf_puts(out, " AS ");
	print_name(alias, out);
}

static void print_list(struct ast *const *list, u32 n, struct buf *out)
{
	u32 i;

	for (i = 0; i < n; i++) {
		print_clause(i ? ", " : "", list[i], out);
	}
}

static void print_order(const struct ast_order *list, u32 n, struct buf *out)
{
	u32 i;

	buf_puts(out, "ORDER BY ");
	for (i = 0; i < n; i++) {
		print_clause(i ? ", " : "", list[i].expr, out);
		buf_puts(out, list[i].is_descending ? " DESC" : "");
		buf_puts(out, list[i].nulls < 0 ? " NULLS FIRST" : "");
		buf_puts(out, list[i].nulls > 0 ? " NULLS LAST" : "");
	}
}

static void print_duration(u64 ns, struct buf *out)
{
	static const struct {
		u64 ns;
		const char *name;
	} units[] = {
		{ 86400000000000, "d" }, { 3600000000000, "h" }, { 60000000000, "m" },
		{ 1000000000, "s" },	 { 1000000, "ms" },	 { 1000, "us" },
	};
	size_t i;

	for (i = 0; ns && i < ARRAY_SIZE(units); i++) {
		if (ns % units[i].ns)
			continue;
		buf_put_u64(out, ns / units[i].ns);
		buf_puts(out, units[i].name);
		return;
	}
	buf_put_u64(out, ns);
	buf_puts(out, "ns");
}

static void print_call(const struct ast *ast, struct buf *out)
{
	print_name(ast->text, out);
	buf_puts(out, ast->distinct ? "(DISTINCT " : "(");
	buf_puts(out, ast->star ? "*" : "");
	print_list(ast->args, ast->n_args, out);
	buf_putc(out, ')');
	if (ast->is_within_group) {
		buf_puts(out, " WITHIN GROUP (");
		print_order(ast->order_by, ast->n_order_by, out);
		buf_putc(out, ')');
	}
	print_clause(" FILTER (WHERE ", ast->filter, out);
	buf_puts(out, ast->filter ? ")" : "");
	if (!ast->is_over)
		return;
	buf_puts(out, " OVER (");
	if (ast->n_partition_by) {
		buf_puts(out, "PARTITION BY ");
		print_list(ast->partition_by, ast->n_partition_by, out);
	}
	if (ast->n_order_by && !ast->is_within_group) {
		buf_puts(out, ast->n_partition_by ? " " : "");
		print_order(ast->order_by, ast->n_order_by, out);
	}
	if (ast->frame)
		buf_printf(out, "%s%s", ast->n_partition_by || ast->n_order_by ? " " : "",
			   ast->frame);
	buf_putc(out, ')');
}

static void print_case(const struct ast *ast, struct buf *out)
{
	u32 i;

	buf_puts(out, "CASE");
	print_clause(" ", ast->args[0], out);
	for (i = 1; i + 1 < ast->n_args; i += 2) {
		print_clause(" WHEN ", ast->args[i], out);
		print_clause(" THEN ", ast->args[i + 1], out);
	}
	print_clause(" ELSE ", ast->otherwise, out);
	buf_puts(out, " END");
}

static void print_unary(const struct ast *ast, struct buf *out)
{
	const struct ast *arg = ast->args[0];

	buf_puts(out, ast_op_names[ast->op]);
	/* "--" begins a comment. */
	if (ast->op == OP_NOT || (ast->op == OP_NEG && arg->kind == AST_UNARY && arg->op == OP_NEG))
		buf_putc(out, ' ');
	print_at(arg, operators[ast->op].level, out);
}

/* Operators of equality's level: IN, LIKE, BETWEEN, IS NULL. */
static void print_predicate(const struct ast *ast, struct buf *out)
{
	const char *not = ast->negated ? " NOT" : "";

	print_at(ast->args[0], LEVEL_EQUAL, out);
	if (ast->kind == AST_BETWEEN) {
		buf_printf(out, "%s BETWEEN ", not );
		print_at(ast->args[1], LEVEL_EQUAL + 1, out);
		buf_puts(out, " AND ");
		print_at(ast->args[2], LEVEL_EQUAL + 1, out);
	} else if (ast->kind == AST_LIKE) {
		buf_printf(out, "%s %s ", not, ast->text);
		print_at(ast->args[1], LEVEL_EQUAL + 1, out);
		if (ast->n_args > 2) {
			buf_puts(out, " ESCAPE ");
			print_at(ast->args[2], LEVEL_EQUAL + 1, out);
		}
	} else if (ast->kind == AST_IS_NULL) {
		buf_printf(out, " IS%s NULL", not );
	} else {
		buf_printf(out, "%s IN (", not );
		if (ast->kind == AST_IN)
			print_list(ast->args + 1, ast->n_args - 1, out);
		else
			sql_print_select(ast->select, out);
		buf_putc(out, ')');
	}
}

static void print_parts(const struct ast *ast, struct buf *out)
{
	u32 i;

	for (i = 0; i < ast->n_parts; i++) {
		buf_puts(out, i ? "." : "");
		print_name(ast->parts[i], out);
	}
	if (ast->kind == AST_STAR)
		buf_puts(out, ast->n_parts ? ".*" : "*");
}

static void print_literal(const struct ast *ast, struct buf *out)
{
	if (ast->kind == AST_NULL)
		buf_puts(out, "NULL");
	else if (ast->kind == AST_BOOL)
		buf_puts(out, ast->integer ? "TRUE" : "FALSE");
	else if (ast->kind == AST_INTEGER)
		buf_put_u64(out, ast->integer);
	else if (ast->kind == AST_REAL)
		buf_put_real(out, ast->real);
	else if (ast->kind == AST_TEXT)
		buf_put_quoted(out, '\'', ast->text, strlen(ast->text));
	else
		print_duration(ast->integer, out);
}

void sql_print_expr(const struct ast *ast, struct buf *out)
{
	u32 level;

	switch (ast->kind) {
	case AST_NULL:
	case AST_BOOL:
	case AST_INTEGER:
	case AST_REAL:
	case AST_TEXT:
	case AST_DURATION:
		print_literal(ast, out);
		break;
	case AST_NAME:
	case AST_STAR:
		print_parts(ast, out);
		break;
	case AST_UNARY:
		print_unary(ast, out);
		break;
	case AST_BINARY:
		level = operators[ast->op].level;
		print_at(ast->args[0], level, out);
		buf_printf(out, " %s ", ast_op_names[ast->op]);
		print_at(ast->args[1], level + 1, out);
		break;
	case AST_BETWEEN:
	case AST_IN:
	case AST_LIKE:
	case AST_IS_NULL:
	case AST_IN_SELECT:
		print_predicate(ast, out);
		break;
	case AST_CASE:
		print_case(ast, out);
		break;
	case AST_CAST:
		print_clause("CAST(", ast->args[0], out);
		buf_puts(out, " AS ");
		if (is_word(ast->text))
			buf_puts(out, ast->text);
		else
			buf_put_quoted(out, '\'', ast->text, ast->text_bytes);
		buf_putc(out, ')');
		break;
	case AST_CALL:
		print_call(ast, out);
		break;
	case AST_INDEX:
		print_at(ast->args[0], LEVEL_POSTFIX, out);
		print_clause("[", ast->args[1], out);
		buf_putc(out, ']');
		break;
	case AST_EXISTS:
	case AST_SUBQUERY:
		buf_puts(out, ast->negated ? "NOT " : "");
		buf_puts(out, ast->kind == AST_EXISTS ? "EXISTS (" : "(");
		sql_print_select(ast->select, out);
		buf_putc(out, ')');
		break;
	}
}

static void print_source(const struct ast_source *source, struct buf *out);

static void print_join(const struct ast_source *join, struct buf *out)
{
	static const char *const words[] = {
		[AST_JOIN_INNER] = " JOIN ",	   [AST_JOIN_LEFT] = " LEFT JOIN ",
		[AST_JOIN_CROSS] = " CROSS JOIN ", [AST_JOIN_PAIR] = " PAIR JOIN ",
		[AST_JOIN_ASOF] = " ASOF JOIN ",
	};
	/* A chain leans left; a join on the right was in parentheses. */
	bool has_parens = join->right->kind == AST_SOURCE_JOIN && !join->right->alias;

	print_source(join->left, out);
	buf_puts(out, join->is_left ? " LEFT" : "");
	buf_puts(out, words[join->join]);
	buf_puts(out, has_parens ? "(" : "");
	print_source(join->right, out);
	buf_puts(out, has_parens ? ")" : "");
	print_clause(" ON ", join->on, out);
	if (join->within_ns) {
		buf_puts(out, " WITHIN ");
		print_duration(join->within_ns, out);
	}
}

static void print_source(const struct ast_source *source, struct buf *out)
{
	switch (source->kind) {
	case AST_SOURCE_STREAM:
		buf_puts(out, source->written);
		break;
	case AST_SOURCE_FILE:
		buf_put_quoted(out, '\'', source->path[0], strlen(source->path[0]));
		break;
	case AST_SOURCE_SELECT:
		buf_putc(out, '(');
		sql_print_select(source->select, out);
		buf_putc(out, ')');
		break;
	case AST_SOURCE_JOIN:
		buf_puts(out, source->alias ? "(" : "");
		print_join(source, out);
		buf_puts(out, source->alias ? ")" : "");
		break;
	}
	print_alias(source->alias, out);
}

static void print_window(const struct ast_window *window, struct buf *out)
{
	static const char *const words[] = {
		[AST_WINDOW_TUMBLING] = "TUMBLING (SIZE ",
		[AST_WINDOW_HOPPING] = "HOPPING (SIZE ",
		[AST_WINDOW_COUNT] = "COUNT (SIZE ",
		[AST_WINDOW_SESSION] = "SESSION (GAP ",
	};
	static const char *const scopes[] = {
		[AST_COUNT_ALL] = "",
		[AST_COUNT_PER_CPU] = " PER CPU",
		[AST_COUNT_PER_GROUP] = " PER GROUP",
	};

	buf_puts(out, " WINDOW ");
	buf_puts(out, words[window->kind]);
	if (window->kind == AST_WINDOW_COUNT) {
		buf_put_u64(out, window->size);
		buf_puts(out, ", ADVANCE BY ");
		buf_put_u64(out, window->advance);
	} else {
		print_duration(window->size, out);
	}
	if (window->kind == AST_WINDOW_HOPPING) {
		buf_puts(out, ", ADVANCE BY ");
		print_duration(window->advance, out);
	}
	buf_puts(out, scopes[window->scope]);
	buf_putc(out, ')');
}

/* SELECT up to HAVING: what stands between two UNIONs. */
static void print_core(const struct ast_select *select, struct buf *out)
{
	u32 i;

	buf_puts(out, select->is_distinct ? "SELECT DISTINCT " : "SELECT ");
	for (i = 0; i < select->items.n; i++) {
		print_clause(i ? ", " : "", select->items.at[i].expr, out);
		print_alias(select->items.at[i].alias, out);
	}
	if (select->from) {
		buf_puts(out, " FROM ");
		print_source(select->from, out);
	}
	print_clause(" WHERE ", select->where, out);
	if (select->group_by.n) {
		buf_puts(out, " GROUP BY ");
		print_list(select->group_by.at, select->group_by.n, out);
	}
	if (select->window.kind != AST_WINDOW_NONE)
		print_window(&select->window, out);
	print_clause(" HAVING ", select->having, out);
}

void sql_print_select(const struct ast_select *select, struct buf *out)
{
	static const char *const words[] = {
		[AST_UNION_ALL] = " UNION ALL ",
		[AST_UNION] = " UNION ",
		[AST_EXCEPT] = " EXCEPT ",
		[AST_INTERSECT] = " INTERSECT ",
	};
	u32 i;

	for (i = 0; i < select->ctes.n; i++) {
		buf_puts(out, i ? ", " : "WITH ");
		print_name(select->ctes.at[i].name, out);
		buf_puts(out, " AS (");
		sql_print_select(select->ctes.at[i].select, out);
		buf_putc(out, ')');
	}
	buf_puts(out, select->ctes.n ? " " : "");
	print_core(select, out);
	for (i = 0; i < select->compound.n; i++) {
		buf_puts(out, words[select->compound.at[i].op]);
		print_core(select->compound.at[i].select, out);
	}
	if (select->order_by.n) {
		buf_putc(out, ' ');
		print_order(select->order_by.at, select->order_by.n, out);
	}
	print_clause(" LIMIT ", select->limit, out);
	print_clause(" OFFSET ", select->offset, out);
	for (i = 0; i < select->options.n; i++) {
		buf_puts(out, i ? ", " : " WITH (");
		print_name(select->options.at[i].name, out);
		print_clause(" = ", select->options.at[i].value, out);
	}
	buf_puts(out, select->options.n ? ")" : "");
}
