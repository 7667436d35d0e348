/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Tree -> SQL text that parses to the same tree.  Parentheses stand only where precedence asks
 * for them, or, to show the tree, around every operand with an operator of its own; then each
 * clause has a line, too.  Names that could be read as keywords are quoted.
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

struct print {
	struct buf *out;
	bool is_explicit; /* shows the tree */
	u32 depth;	  /* selects around this one */
};

static void print_expr(struct print *p, const struct ast *ast);
static void print_select(struct print *p, const struct ast_select *select);

/* Would the lexer read the whole of it as one bare word? */
static bool is_word(const char *text)
{
	size_t n = strlen(text);
	struct token token = lex(text, (u32)n, 0);

	return token.kind == TOKEN_WORD && token.span.end == n && token.span.start == 0;
}

static void print_name(struct print *p, const char *name)
{
	if (is_word(name) && !keyword_flags[keyword_find(name, strlen(name))] &&
	    strcasecmp(name, "ALL") != 0)
		buf_puts(p->out, name);
	else
		buf_put_quoted(p->out, '"', name, strlen(name));
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
static void print_at(struct print *p, const struct ast *ast, u32 level)
{
	bool has_parens = level_of(ast) < (p->is_explicit ? (u32)LEVEL_POSTFIX : level);

	if (has_parens)
		buf_putc(p->out, '(');
	print_expr(p, ast);
	if (has_parens)
		buf_putc(p->out, ')');
}

/* Nothing where there is no expression. */
static void print_after(struct print *p, const char *before, const struct ast *ast)
{
	if (!ast)
		return;
	buf_puts(p->out, before);
	print_expr(p, ast);
}

static void begin_clause(struct print *p, const char *word)
{
	buf_putc(p->out, p->is_explicit ? '\n' : ' ');
	buf_fill(p->out, ' ', p->is_explicit ? 2 * (size_t)p->depth : 0);
	buf_puts(p->out, word);
}

static void print_clause(struct print *p, const char *word, const struct ast *ast)
{
	if (!ast)
		return;
	begin_clause(p, word);
	print_expr(p, ast);
}

/* A select that is part of something. */
static void print_nested(struct print *p, const struct ast_select *select)
{
	p->depth++;
	buf_putc(p->out, '(');
	print_select(p, select);
	buf_putc(p->out, ')');
	p->depth--;
}

static void print_alias(struct print *p, const char *alias)
{
	if (!alias)
		return;
	buf_puts(p->out, " AS ");
	print_name(p, alias);
}

static void print_list(struct print *p, struct ast *const *list, u32 n)
{
	u32 i;

	for (i = 0; i < n; i++) {
		print_after(p, i ? ", " : "", list[i]);
	}
}

static void print_order(struct print *p, const struct ast_order *list, u32 n)
{
	u32 i;

	buf_puts(p->out, "ORDER BY ");
	for (i = 0; i < n; i++) {
		print_after(p, i ? ", " : "", list[i].expr);
		buf_puts(p->out, list[i].is_descending ? " DESC" : "");
		buf_puts(p->out, list[i].nulls < 0 ? " NULLS FIRST" : "");
		buf_puts(p->out, list[i].nulls > 0 ? " NULLS LAST" : "");
	}
}

static void print_duration(struct print *p, u64 ns)
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
		buf_put_u64(p->out, ns / units[i].ns);
		buf_puts(p->out, units[i].name);
		return;
	}
	buf_put_u64(p->out, ns);
	buf_puts(p->out, "ns");
}

static void print_call(struct print *p, const struct ast *ast)
{
	print_name(p, ast->text);
	buf_puts(p->out, ast->distinct ? "(DISTINCT " : "(");
	buf_puts(p->out, ast->star ? "*" : "");
	print_list(p, ast->args, ast->n_args);
	buf_putc(p->out, ')');
	if (ast->is_within_group) {
		buf_puts(p->out, " WITHIN GROUP (");
		print_order(p, ast->order_by, ast->n_order_by);
		buf_putc(p->out, ')');
	}
	print_after(p, " FILTER (WHERE ", ast->filter);
	buf_puts(p->out, ast->filter ? ")" : "");
	if (!ast->is_over)
		return;
	buf_puts(p->out, " OVER (");
	if (ast->n_partition_by) {
		buf_puts(p->out, "PARTITION BY ");
		print_list(p, ast->partition_by, ast->n_partition_by);
	}
	if (ast->n_order_by && !ast->is_within_group) {
		buf_puts(p->out, ast->n_partition_by ? " " : "");
		print_order(p, ast->order_by, ast->n_order_by);
	}
	if (ast->frame)
		buf_printf(p->out, "%s%s", ast->n_partition_by || ast->n_order_by ? " " : "",
			   ast->frame);
	buf_putc(p->out, ')');
}

static void print_case(struct print *p, const struct ast *ast)
{
	u32 i;

	buf_puts(p->out, "CASE");
	print_after(p, " ", ast->args[0]);
	for (i = 1; i + 1 < ast->n_args; i += 2) {
		print_after(p, " WHEN ", ast->args[i]);
		print_after(p, " THEN ", ast->args[i + 1]);
	}
	print_after(p, " ELSE ", ast->otherwise);
	buf_puts(p->out, " END");
}

static void print_unary(struct print *p, const struct ast *ast)
{
	const struct ast *arg = ast->args[0];

	buf_puts(p->out, ast_op_names[ast->op]);
	/* "--" begins a comment. */
	if (ast->op == OP_NOT || (ast->op == OP_NEG && arg->kind == AST_UNARY && arg->op == OP_NEG))
		buf_putc(p->out, ' ');
	print_at(p, arg, operators[ast->op].level);
}

/* Operators of equality's level: IN, LIKE, BETWEEN, IS NULL. */
static void print_predicate(struct print *p, const struct ast *ast)
{
	const char *not = ast->negated ? " NOT" : "";

	print_at(p, ast->args[0], LEVEL_EQUAL);
	if (ast->kind == AST_BETWEEN) {
		buf_printf(p->out, "%s BETWEEN ", not );
		print_at(p, ast->args[1], LEVEL_EQUAL + 1);
		buf_puts(p->out, " AND ");
		print_at(p, ast->args[2], LEVEL_EQUAL + 1);
	} else if (ast->kind == AST_LIKE) {
		buf_printf(p->out, "%s %s ", not, ast->text);
		print_at(p, ast->args[1], LEVEL_EQUAL + 1);
		if (ast->n_args > 2) {
			buf_puts(p->out, " ESCAPE ");
			print_at(p, ast->args[2], LEVEL_EQUAL + 1);
		}
	} else if (ast->kind == AST_IS_NULL) {
		buf_printf(p->out, " IS%s NULL", not );
	} else {
		buf_printf(p->out, "%s IN ", not );
		if (ast->kind == AST_IN_SELECT) {
			print_nested(p, ast->select);
			return;
		}
		buf_putc(p->out, '(');
		print_list(p, ast->args + 1, ast->n_args - 1);
		buf_putc(p->out, ')');
	}
}

static void print_parts(struct print *p, const struct ast *ast)
{
	u32 i;

	for (i = 0; i < ast->n_parts; i++) {
		buf_puts(p->out, i || ast->kind == AST_MEMBER ? "." : "");
		print_name(p, ast->parts[i]);
	}
	if (ast->kind == AST_STAR)
		buf_puts(p->out, ast->n_parts ? ".*" : "*");
}

static void print_literal(struct print *p, const struct ast *ast)
{
	if (ast->kind == AST_NULL)
		buf_puts(p->out, "NULL");
	else if (ast->kind == AST_BOOL)
		buf_puts(p->out, ast->integer ? "TRUE" : "FALSE");
	else if (ast->kind == AST_INTEGER)
		buf_put_u64(p->out, ast->integer);
	else if (ast->kind == AST_REAL)
		buf_put_real(p->out, ast->real);
	else if (ast->kind == AST_TEXT)
		buf_put_quoted(p->out, '\'', ast->text, strlen(ast->text));
	else
		print_duration(p, ast->integer);
}

static void print_expr(struct print *p, const struct ast *ast)
{
	u32 level;

	switch (ast->kind) {
	case AST_NULL:
	case AST_BOOL:
	case AST_INTEGER:
	case AST_REAL:
	case AST_TEXT:
	case AST_DURATION:
		print_literal(p, ast);
		break;
	case AST_NAME:
	case AST_STAR:
		print_parts(p, ast);
		break;
	case AST_UNARY:
		print_unary(p, ast);
		break;
	case AST_BINARY:
		level = operators[ast->op].level;
		print_at(p, ast->args[0], level);
		buf_printf(p->out, " %s ", ast_op_names[ast->op]);
		print_at(p, ast->args[1], level + 1);
		break;
	case AST_BETWEEN:
	case AST_IN:
	case AST_LIKE:
	case AST_IS_NULL:
	case AST_IN_SELECT:
		print_predicate(p, ast);
		break;
	case AST_CASE:
		print_case(p, ast);
		break;
	case AST_CAST:
		print_after(p, "CAST(", ast->args[0]);
		buf_puts(p->out, " AS ");
		if (is_word(ast->text))
			buf_puts(p->out, ast->text);
		else
			buf_put_quoted(p->out, '\'', ast->text, ast->text_bytes);
		buf_putc(p->out, ')');
		break;
	case AST_CALL:
		print_call(p, ast);
		break;
	case AST_ROW:
		buf_putc(p->out, '(');
		print_list(p, ast->args, ast->n_args);
		buf_putc(p->out, ')');
		break;
	case AST_INDEX:
		print_at(p, ast->args[0], LEVEL_POSTFIX);
		print_after(p, "[", ast->args[1]);
		buf_putc(p->out, ']');
		break;
	case AST_MEMBER:
		print_at(p, ast->args[0], LEVEL_POSTFIX);
		print_parts(p, ast);
		break;
	case AST_EXISTS:
	case AST_SUBQUERY:
		buf_puts(p->out, ast->negated ? "NOT " : "");
		buf_puts(p->out, ast->kind == AST_EXISTS ? "EXISTS " : "");
		print_nested(p, ast->select);
		break;
	}
}

static void print_source(struct print *p, const struct ast_source *source);

static void print_columns(struct print *p, const char *before, const ast_columns *columns)
{
	for (u32 i = 0; i < columns->n; i++) {
		buf_puts(p->out, i ? "" : before);
		buf_puts(p->out, i ? ", " : " (");
		print_name(p, columns->at[i].name);
	}
	buf_puts(p->out, columns->n ? ")" : "");
}

static void print_join(struct print *p, const struct ast_source *join)
{
	static const char *const words[] = {
		[AST_JOIN_INNER] = " JOIN ",	   [AST_JOIN_LEFT] = " LEFT JOIN ",
		[AST_JOIN_RIGHT] = " RIGHT JOIN ", [AST_JOIN_FULL] = " FULL JOIN ",
		[AST_JOIN_CROSS] = " CROSS JOIN ", [AST_JOIN_PAIR] = " PAIR JOIN ",
		[AST_JOIN_ASOF] = " ASOF JOIN ",
	};
	/* A chain leans left; a join on the right was in parentheses. */
	bool has_parens = join->right->kind == AST_SOURCE_JOIN && !join->right->alias;

	print_source(p, join->left);
	buf_puts(p->out, join->is_natural ? " NATURAL" : "");
	buf_puts(p->out, join->is_left ? " LEFT" : "");
	buf_puts(p->out, words[join->join]);
	buf_puts(p->out, has_parens ? "(" : "");
	print_source(p, join->right);
	buf_puts(p->out, has_parens ? ")" : "");
	print_after(p, " ON ", join->on);
	print_columns(p, " USING", &join->columns);
	if (join->within_ns) {
		buf_puts(p->out, " WITHIN ");
		print_duration(p, join->within_ns);
	}
}

static void print_source(struct print *p, const struct ast_source *source)
{
	switch (source->kind) {
	case AST_SOURCE_STREAM:
		buf_puts(p->out, source->written);
		break;
	case AST_SOURCE_FILE:
		buf_put_quoted(p->out, '\'', source->path[0], strlen(source->path[0]));
		break;
	case AST_SOURCE_SELECT:
		print_nested(p, source->select);
		break;
	case AST_SOURCE_JOIN:
		buf_puts(p->out, source->alias ? "(" : "");
		print_join(p, source);
		buf_puts(p->out, source->alias ? ")" : "");
		break;
	}
	print_alias(p, source->alias);
	if (source->kind != AST_SOURCE_JOIN)
		print_columns(p, "", &source->columns);
}

static void print_window(struct print *p, const struct ast_window *window)
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

	begin_clause(p, "WINDOW ");
	buf_puts(p->out, words[window->kind]);
	if (window->kind == AST_WINDOW_COUNT) {
		buf_put_u64(p->out, window->size);
		buf_puts(p->out, ", ADVANCE BY ");
		buf_put_u64(p->out, window->advance);
	} else {
		print_duration(p, window->size);
	}
	if (window->kind == AST_WINDOW_HOPPING) {
		buf_puts(p->out, ", ADVANCE BY ");
		print_duration(p, window->advance);
	}
	buf_puts(p->out, scopes[window->scope]);
	buf_putc(p->out, ')');
}

/* SELECT up to HAVING: what stands between two UNIONs. */
static void print_core(struct print *p, const struct ast_select *select)
{
	u32 i;

	buf_puts(p->out, select->is_distinct ? "SELECT DISTINCT " : "SELECT ");
	for (i = 0; i < select->items.n; i++) {
		print_after(p, i ? ", " : "", select->items.at[i].expr);
		print_alias(p, select->items.at[i].alias);
	}
	if (select->from) {
		begin_clause(p, "FROM ");
		print_source(p, select->from);
	}
	print_clause(p, "WHERE ", select->where);
	if (select->group_by.n) {
		begin_clause(p, "GROUP BY ");
		if (select->group_by.at[0]->kind == AST_STAR)
			buf_puts(p->out, "ALL");
		else
			print_list(p, select->group_by.at, select->group_by.n);
	}
	if (select->window.kind != AST_WINDOW_NONE)
		print_window(p, &select->window);
	print_clause(p, "HAVING ", select->having);
}

static void print_option(struct print *p, const struct ast_option *option)
{
	print_name(p, option->name);
	print_after(p, " = ", option->value);
}

static void print_select(struct print *p, const struct ast_select *select)
{
	static const char *const words[] = {
		[AST_UNION_ALL] = "UNION ALL",
		[AST_UNION] = "UNION",
		[AST_EXCEPT] = "EXCEPT",
		[AST_INTERSECT] = "INTERSECT",
	};
	u32 i;

	for (i = 0; i < select->ctes.n; i++) {
		buf_puts(p->out, i ? ", " : "WITH ");
		print_name(p, select->ctes.at[i].name);
		print_columns(p, "", &select->ctes.at[i].columns);
		buf_puts(p->out, " AS ");
		print_nested(p, select->ctes.at[i].select);
	}
	if (select->ctes.n)
		begin_clause(p, "");
	print_core(p, select);
	for (i = 0; i < select->compound.n; i++) {
		begin_clause(p, words[select->compound.at[i].op]);
		begin_clause(p, "");
		print_core(p, select->compound.at[i].select);
	}
	if (select->order_by.n) {
		begin_clause(p, "");
		print_order(p, select->order_by.at, select->order_by.n);
	}
	print_clause(p, "LIMIT ", select->limit);
	if (select->limit)
		print_after(p, " OFFSET ", select->offset);
	else
		print_clause(p, "OFFSET ", select->offset);
	if (!select->options.n)
		return;
	begin_clause(p, "WITH (");
	for (i = 0; i < select->options.n; i++) {
		buf_puts(p->out, i ? ", " : "");
		print_option(p, &select->options.at[i]);
	}
	buf_putc(p->out, ')');
}

static void print_statement(struct print *p, const struct ast_statement *s)
{
	static const char *const words[] = {
		[AST_STATEMENT_SELECT] = "",
		[AST_STATEMENT_EXPLAIN] = "EXPLAIN ",
		[AST_STATEMENT_SHOW_STREAMS] = "SHOW STREAMS",
		[AST_STATEMENT_SHOW_VIEWS] = "SHOW VIEWS",
		[AST_STATEMENT_DESCRIBE] = "DESCRIBE ",
		[AST_STATEMENT_CREATE_VIEW] = "CREATE ",
		[AST_STATEMENT_DROP_VIEW] = "DROP VIEW ",
		[AST_STATEMENT_SET] = "SET ",
		[AST_STATEMENT_ATTACH] = "ATTACH ",
	};

	buf_puts(p->out, words[s->kind]);
	if (s->kind == AST_STATEMENT_EXPLAIN) {
		buf_puts(p->out, s->analyze ? "ANALYZE " : s->text ? s->text : "");
		buf_puts(p->out, s->text ? " " : "");
	} else if (s->kind == AST_STATEMENT_CREATE_VIEW) {
		buf_puts(p->out, s->replace ? "OR REPLACE VIEW " : "VIEW ");
		buf_puts(p->out, s->if_exists ? "IF NOT EXISTS " : "");
		print_name(p, s->text);
		buf_puts(p->out, " AS ");
	} else if (s->kind == AST_STATEMENT_DROP_VIEW) {
		buf_puts(p->out, s->if_exists ? "IF EXISTS " : "");
		print_name(p, s->text);
	} else if (s->text) { /* a pattern, a file */
		buf_puts(p->out, s->kind == AST_STATEMENT_ATTACH ? "" : " LIKE ");
		buf_put_quoted(p->out, '\'', s->text, strlen(s->text));
	}
	if (s->kind == AST_STATEMENT_SET)
		print_option(p, &s->option);
	else if (s->kind == AST_STATEMENT_ATTACH)
		print_alias(p, s->option.name);
	if (s->source)
		print_source(p, s->source);
	if (s->select)
		print_select(p, s->select);
	buf_puts(p->out, ";\n");
}

void sql_print_expr(const struct ast *expr, struct buf *out)
{
	print_expr(&(struct print){ .out = out }, expr);
}

void sql_print_script(const struct ast_script *script, bool is_explicit, struct buf *out)
{
	struct print p = { .out = out, .is_explicit = is_explicit };

	for (u32 i = 0; i < script->statements.n; i++)
		print_statement(&p, &script->statements.at[i]);
}
