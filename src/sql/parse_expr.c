/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Expressions by precedence climbing, with SQLite's precedence: OR, AND, NOT,
 * equality and its like, comparison, bits, sum, product, ||, prefix, postfix.
 */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/utf8.h"
#include "sql/parse.h"

const struct operator operators[OP_N] = {
	[OP_OR] = { LEVEL_OR, TOKEN_WORD, KW_OR },
	[OP_AND] = { LEVEL_AND, TOKEN_WORD, KW_AND },
	[OP_NOT] = { LEVEL_NOT },
	[OP_EQ] = { LEVEL_EQUAL, TOKEN_EQ },
	[OP_NE] = { LEVEL_EQUAL, TOKEN_NE },
	[OP_IS] = { LEVEL_EQUAL },
	[OP_IS_NOT] = { LEVEL_EQUAL },
	[OP_LT] = { LEVEL_COMPARE, TOKEN_LT },
	[OP_LE] = { LEVEL_COMPARE, TOKEN_LE },
	[OP_GT] = { LEVEL_COMPARE, TOKEN_GT },
	[OP_GE] = { LEVEL_COMPARE, TOKEN_GE },
	[OP_BIT_AND] = { LEVEL_BITS, TOKEN_AND },
	[OP_BIT_OR] = { LEVEL_BITS, TOKEN_OR },
	[OP_SHIFT_LEFT] = { LEVEL_BITS, TOKEN_SHIFT_LEFT },
	[OP_SHIFT_RIGHT] = { LEVEL_BITS, TOKEN_SHIFT_RIGHT },
	[OP_ADD] = { LEVEL_SUM, TOKEN_PLUS },
	[OP_SUB] = { LEVEL_SUM, TOKEN_MINUS },
	[OP_MUL] = { LEVEL_PRODUCT, TOKEN_STAR },
	[OP_DIV] = { LEVEL_PRODUCT, TOKEN_SLASH },
	[OP_MOD] = { LEVEL_PRODUCT, TOKEN_PERCENT },
	[OP_CONCAT] = { LEVEL_CONCAT, TOKEN_CONCAT },
	[OP_NEG] = { LEVEL_PREFIX },
	[OP_PLUS] = { LEVEL_PREFIX },
	[OP_BIT_NOT] = { LEVEL_PREFIX },
};

static struct ast *parse_level(struct parser *p, u32 level);

/* A select inside an expression counts with all its own expressions. */
static struct ast *select_node(struct parser *p, struct ast *parent)
{
	u32 outer_height = p->height, outer_cases = p->case_depth;

	p->height = 0;
	p->case_depth = 0;
	parent->select = parse_select(p);
	parse_raise(parent, p->height + 1);
	p->height = outer_height;
	p->case_depth = outer_cases;
	return parent;
}

static struct ast *literal(struct parser *p, enum ast_kind kind)
{
	struct ast *ast = parse_node(p, kind, p->tok.span.start);
	bool is_negative = p->tok.kind == TOKEN_PARAMETER;
	struct ast *negated;

	ast->integer = p->tok.integer;
	ast->real = p->tok.real;
	ast->is_parameter = p->tok.parameter != NULL;
	if (kind == AST_BOOL)
		ast->integer = p->tok.keyword == KW_TRUE;
	if (kind == AST_TEXT || kind == AST_REAL)
		ast->text = parse_text(p, &p->tok, &ast->text_bytes);
	parse_next(p);
	parse_finish(p, ast);
	if (!is_negative)
		return ast;
	negated = parse_node(p, AST_UNARY, ast->span.start);
	negated->op = OP_NEG;
	parse_add_arg(p, negated, ast);
	return parse_finish(p, negated);
}

/* a, s.a, rq.q.disk, s.*, f(...) */
static struct ast *parse_name_or_call(struct parser *p)
{
	struct ast *ast = parse_node(p, AST_NAME, p->tok.span.start);
	VEC(const char *) parts = { 0 };
	VEC(struct span) spans = { 0 };

	if (parse_foreign_quantifier(p))
		return parse_node(p, AST_NULL, p->tok.span.start);

	for (;;) {
		vec_push(p->arena, &spans, p->tok.span);
		vec_push(p->arena, &parts, parse_name(p, "a name"));
		if (!parse_accept(p, TOKEN_DOT))
			break;
		if (parse_at(p, TOKEN_STAR)) {
			ast->kind = AST_STAR;
			parse_next(p);
			if (parts.n > 1)
				parse_error(p, "syntax-error", parse_span(p, ast->span.start),
					    "only a stream's name may stand before \".*\"");
			break;
		}
	}
	ast->parts = parts.at;
	ast->part_spans = spans.at;
	ast->n_parts = parts.n;
	parse_finish(p, ast);
	if (ast->kind == AST_NAME && parse_at(p, TOKEN_OPEN))
		return parse_call(p, ast);
	return ast;
}

static struct ast *parse_case(struct parser *p)
{
	struct ast *ast = parse_node(p, AST_CASE, p->tok.span.start);
	struct span start = p->tok.span;

	if (!parse_enter(p, 1))
		return ast;
	p->case_depth++;
	parse_next(p);
	parse_add_arg(p, ast, parse_at_keyword(p, KW_WHEN) ? NULL : parse_expr(p));
	while (parse_accept_keyword(p, KW_WHEN)) {
		parse_add_arg(p, ast, parse_expr(p));
		parse_expect_keyword(p, KW_THEN);
		parse_add_arg(p, ast, parse_expr(p));
	}
	if (ast->n_args == 1)
		parse_expected(p, "WHEN");
	if (parse_accept_keyword(p, KW_ELSE)) {
		ast->otherwise = parse_expr(p);
		parse_under(p, ast, ast->otherwise);
	}
	p->case_depth--;
	if (!p->panic && !parse_accept_keyword(p, KW_END)) {
		parse_error(p, "syntax-error", start,
			    "this CASE has no END before %s" HINT "CASE WHEN a THEN b [ELSE c] END",
			    parse_found(p));
	}
	parse_leave(p, 1);
	return parse_finish(p, ast);
}

/* CAST(x AS INTEGER), CAST(x AS 'struct sock *'), also without the quotes. */
static struct ast *parse_cast(struct parser *p)
{
	struct ast *ast = parse_node(p, AST_CAST, p->tok.span.start);
	struct span open;
	const char *text = NULL;

	if (!parse_enter(p, 1))
		return ast;
	parse_next(p);
	open = parse_open(p);
	parse_add_arg(p, ast, parse_expr(p));
	parse_expect_keyword(p, KW_AS);
	if (parse_at(p, TOKEN_TEXT)) {
		text = parse_text(p, &p->tok, NULL);
		/* In quotes it is C's; the word alone SQL's, of 64 bits. */
		if (strcmp(text, "int") == 0)
			text = "signed int";
		parse_next(p);
	} else {
		while (parse_at_name(p) || (text && parse_at(p, TOKEN_STAR))) {
			const char *word = parse_text(p, &p->tok, NULL);

			text = text ? arena_printf(p->arena, "%s %s", text, word) : word;
			parse_next(p);
		}
	}
	if (!text || !text[0])
		parse_expected(p, "a type");
	else if (parse_at(p, TOKEN_OPEN))
		parse_error(p, "other-dialect", p->tok.span,
			    "a type has no length or digits here" HINT
			    "CAST(x AS TEXT), AS INTEGER or AS REAL");
	ast->text = text ? text : "";
	ast->text_bytes = (u32)strlen(ast->text);
	parse_close(p, open);
	parse_leave(p, 1);
	return parse_finish(p, ast);
}

static struct ast *parse_exists(struct parser *p)
{
	struct ast *ast = parse_node(p, AST_EXISTS, p->tok.span.start);
	struct span open;

	if (!parse_enter(p, 1))
		return ast;
	parse_next(p);
	open = parse_open(p);
	select_node(p, ast);
	parse_close(p, open);
	parse_leave(p, 1);
	return parse_finish(p, ast);
}

/* "(expr)" or "(SELECT ...)" */
static struct ast *parse_parens(struct parser *p)
{
	struct span open = p->tok.span;
	struct ast *ast;

	if (!parse_enter(p, 1))
		return parse_node(p, AST_NULL, open.start);
	parse_next(p);
	if (parse_at_select(p))
		ast = select_node(p, parse_node(p, AST_SUBQUERY, open.start));
	else
		ast = parse_expr(p);
	if (parse_at(p, TOKEN_COMMA)) {
		struct ast *row = parse_node(p, AST_ROW, open.start);

		parse_add_arg(p, row, ast);
		while (parse_accept(p, TOKEN_COMMA))
			parse_add_arg(p, row, parse_expr(p));
		ast = row;
	}
	parse_close(p, open);
	parse_leave(p, 1);
	/* The parentheses belong to it, so that a column is named after all that is written. */
	ast->span.start = open.start;
	return parse_finish(p, ast);
}

static struct ast *parse_word(struct parser *p)
{
	enum keyword keyword = (enum keyword)p->tok.keyword;
	bool is_name = !(keyword_flags[keyword] & KEYWORD_HARD), overflow;
	u32 start = p->tok.span.start;
	struct token next = parse_peek(p);
	struct ast *ast;

	if (keyword == KW_NULL)
		return literal(p, AST_NULL);
	if (keyword == KW_TRUE || keyword == KW_FALSE)
		return literal(p, AST_BOOL);
	if (keyword == KW_CASE)
		return parse_case(p);
	if (keyword == KW_CAST && next.kind == TOKEN_OPEN)
		return parse_cast(p);
	if (keyword == KW_EXISTS && next.kind == TOKEN_OPEN)
		return parse_exists(p);
	if (parse_at_interval(p)) {
		ast = parse_node(p, AST_DURATION, start);
		ast->integer = parse_interval(p, &overflow);
		return parse_finish(p, ast);
	}
	if (keyword == KW_GROUP || keyword == KW_ORDER)
		is_name = next.keyword != KW_BY;
	else if (keyword == KW_END)
		is_name = !p->case_depth;
	if (is_name)
		return parse_name_or_call(p);
	parse_expected_hint(p, "an expression",
			    keyword == KW_SELECT ? "a SELECT inside an expression stands in (...)"
						 : NULL);
	return parse_node(p, AST_NULL, start);
}

/* 0777, as C and `chmod` have it; 0189 and 010KiB are none of theirs. */
static void warn_octal(struct parser *p)
{
	const struct token *token = &p->tok;
	const char *at = p->text + token->span.start;
	u64 octal = strtoull(at, NULL, 8), n = token->span.end - token->span.start;

	if (token->kind == TOKEN_INTEGER && !token->problem && *at == '0' &&
	    strspn(at, "01234567") == n && octal != token->integer)
		diag_warning(p->diags, "no-octal", token->span,
			     "this is %llu, in SQL a 0 ahead makes no octal number" HINT
			     "of C it would be 0x%llx",
			     (unsigned long long)token->integer, (unsigned long long)octal);
}

static struct ast *parse_operand(struct parser *p)
{
	static const u8 literals[TOKEN_N] = { [TOKEN_INTEGER] = AST_INTEGER,
					      [TOKEN_REAL] = AST_REAL,
					      [TOKEN_DURATION] = AST_DURATION,
					      [TOKEN_TEXT] = AST_TEXT };

	if (p->panic)
		return parse_node(p, AST_NULL, p->tok.span.start);
	warn_octal(p);
	if (literals[p->tok.kind])
		return literal(p, literals[p->tok.kind]);
	if (p->tok.kind == TOKEN_PARAMETER)
		return literal(p, p->tok.parameter->kind);
	if (p->tok.kind == TOKEN_NAME)
		return parse_name_or_call(p);
	if (p->tok.kind == TOKEN_WORD)
		return parse_word(p);
	if (p->tok.kind == TOKEN_OPEN)
		return parse_parens(p);
	parse_expected(p, "an expression");
	return parse_node(p, AST_NULL, p->tok.span.start);
}

/* a[i] */
static struct ast *parse_index(struct parser *p, struct ast *of)
{
	struct ast *index = parse_node(p, AST_INDEX, of->span.start);
	struct span open = p->tok.span;

	if (!parse_enter(p, 1))
		return index;
	parse_next(p);
	parse_add_arg(p, index, of);
	parse_add_arg(p, index, parse_expr(p));
	if (!p->panic && (parse_at_end(p) || parse_at_clause(p)))
		parse_error(p, "unclosed-parenthesis", open, "this \"[\" is not closed");
	parse_expect(p, TOKEN_CLOSE_BRACKET, "\"]\"");
	parse_leave(p, 1);
	return parse_finish(p, index);
}

/* a[i].b.c, f(x).b */
static struct ast *parse_member(struct parser *p, struct ast *of)
{
	struct ast *ast = parse_node(p, AST_MEMBER, of->span.start);
	VEC(const char *) parts = { 0 };
	VEC(struct span) spans = { 0 };

	parse_add_arg(p, ast, of);
	while (parse_accept(p, TOKEN_DOT)) {
		vec_push(p->arena, &spans, p->tok.span);
		vec_push(p->arena, &parts, parse_name(p, "a member's name"));
	}
	ast->parts = parts.at;
	ast->part_spans = spans.at;
	ast->n_parts = parts.n;
	return parse_finish(p, ast);
}

/* x::REAL, x::'struct sock *' */
static struct ast *parse_typed(struct parser *p, struct ast *of)
{
	struct ast *ast = parse_node(p, AST_CAST, of->span.start);

	parse_next(p);
	parse_add_arg(p, ast, of);
	ast->text = "";
	if (parse_at_name(p) || parse_at(p, TOKEN_TEXT)) {
		ast->text = parse_text(p, &p->tok, &ast->text_bytes);
		parse_next(p);
		if (strcasecmp(ast->text, "double") == 0)
			parse_accept_word(p, "PRECISION");
	} else {
		parse_expected(p, "a type");
	}
	return parse_finish(p, ast);
}

static struct ast *parse_postfix(struct parser *p)
{
	struct ast *ast = parse_operand(p);

	for (;;) {
		if (parse_at(p, TOKEN_OPEN_BRACKET))
			ast = parse_index(p, ast);
		else if (parse_at(p, TOKEN_CAST))
			ast = parse_typed(p, ast);
		else if (parse_at(p, TOKEN_DOT) &&
			 (p->before.kind == TOKEN_CLOSE || p->before.kind == TOKEN_CLOSE_BRACKET))
			ast = parse_member(p, ast);
		else
			return ast;
	}
}

/* NOT x.  Where an operator to its left binds tighter, the printer needs a "(". */
static struct ast *parse_not(struct parser *p, u32 level)
{
	u32 levels = level > LEVEL_NOT ? 2 : 1;
	struct ast *ast = parse_node(p, AST_UNARY, p->tok.span.start), *arg;

	if (!parse_enter(p, levels))
		return ast;
	parse_next(p);
	arg = parse_level(p, LEVEL_NOT);
	parse_leave(p, levels);
	if (arg->kind == AST_EXISTS && !arg->negated) {
		arg->negated = true;
		arg->span.start = ast->span.start;
		return arg;
	}
	ast->op = OP_NOT;
	parse_add_arg(p, ast, arg);
	return parse_finish(p, ast);
}

static struct ast *parse_prefix(struct parser *p, u32 level)
{
	struct ast *ast;
	enum ast_op op;

	if (parse_at_keyword(p, KW_NOT))
		return parse_not(p, level);
	if (parse_at(p, TOKEN_MINUS))
		op = OP_NEG;
	else if (parse_at(p, TOKEN_PLUS))
		op = OP_PLUS;
	else if (parse_at(p, TOKEN_TILDE))
		op = OP_BIT_NOT;
	else
		return parse_postfix(p);
	ast = parse_node(p, AST_UNARY, p->tok.span.start);
	ast->op = op;
	if (!parse_enter(p, 1))
		return ast;
	parse_next(p);
	parse_add_arg(p, ast, parse_prefix(p, LEVEL_PREFIX));
	parse_leave(p, 1);
	return parse_finish(p, ast);
}

/* x IN (VALUES (1), (2)) is x IN (1, 2). */
static void take_values(struct parser *p, struct ast *in)
{
	const struct ast_select *s = in->select;

	if (!s->is_values || s->items.n != 1 || s->order_by.n || s->limit || s->offset ||
	    s->options.n)
		return;
	for (u32 i = 0; i < s->compound.n; i++)
		if (s->compound.at[i].op != AST_UNION_ALL || !s->compound.at[i].select->is_values)
			return;
	in->kind = AST_IN;
	parse_add_arg(p, in, s->items.at[0].expr);
	for (u32 i = 0; i < s->compound.n; i++)
		parse_add_arg(p, in, s->compound.at[i].select->items.at[0].expr);
}

static struct ast *parse_in(struct parser *p, struct ast *left, bool negated)
{
	struct ast *ast = parse_node(p, AST_IN, left->span.start);
	struct span open;

	ast->negated = negated;
	parse_add_arg(p, ast, left);
	if (!parse_enter(p, 1))
		return ast;
	open = parse_open(p);
	if (parse_at_select(p)) {
		ast->kind = AST_IN_SELECT;
		select_node(p, ast);
		take_values(p, ast);
	} else if (!parse_at(p, TOKEN_CLOSE)) {
		do {
			parse_add_arg(p, ast, parse_expr(p));
		} while (parse_more(p));
	}
	parse_close(p, open);
	parse_leave(p, 1);
	return parse_finish(p, ast);
}

static struct ast *parse_is(struct parser *p, struct ast *left)
{
	struct ast *ast = parse_node(p, AST_BINARY, left->span.start);
	bool negated = parse_accept_keyword(p, KW_NOT);
	struct ast *right;

	if (parse_accept_keyword(p, KW_DISTINCT)) {
		parse_expect_keyword(p, KW_FROM);
		negated = !negated;
	}
	right = parse_level(p, LEVEL_EQUAL + 1);
	parse_add_arg(p, ast, left);
	if (right->kind == AST_NULL) {
		ast->kind = AST_IS_NULL;
		ast->negated = negated;
	} else {
		ast->op = negated ? OP_IS_NOT : OP_IS;
		parse_add_arg(p, ast, right);
	}
	return parse_finish(p, ast);
}

/* LIKE pattern ESCAPE c; GLOB has none. */
static void parse_escape(struct parser *p, struct ast *like)
{
	u32 start = p->tok.span.start;
	struct ast *escape;

	if (p->panic || !parse_accept_keyword(p, KW_ESCAPE))
		return;
	escape = parse_level(p, LEVEL_EQUAL + 1);
	parse_add_arg(p, like, escape);
	if (p->panic || (strcasecmp(like->text, "LIKE") == 0 && escape->kind == AST_TEXT &&
			 escape->text_bytes &&
			 utf8_length(escape->text, escape->text_bytes) == escape->text_bytes))
		return;
	parse_report(p, "syntax-error", parse_span(p, start),
		     "ESCAPE belongs to LIKE, and is one character in quotes" HINT
		     "write LIKE '10!%%' ESCAPE '!'; in GLOB, [*] is a star");
}

/* ILIKE is LIKE, which ignores the case of ASCII letters. */
static enum keyword predicate_word(const struct token *token)
{
	return token->keyword == KW_ILIKE ? KW_LIKE : (enum keyword)token->keyword;
}

/*
 * IS, IN, LIKE, GLOB, BETWEEN, ISNULL, NOTNULL and their NOT forms behind left.
 * Returns NULL when none follows.
 */
static struct ast *parse_predicate(struct parser *p, struct ast *left)
{
	enum keyword word = predicate_word(&p->tok);
	bool negated = word == KW_NOT;
	struct token next;
	struct ast *ast;

	if (p->panic || p->tok.kind != TOKEN_WORD)
		return NULL;
	if (negated) {
		next = parse_peek(p);
		word = predicate_word(&next);
		if (word == KW_NULL)
			word = KW_NOTNULL;
		else if (word != KW_IN && word != KW_LIKE && word != KW_GLOB && word != KW_BETWEEN)
			return NULL;
		parse_next(p);
	}
	if (word == KW_IS) {
		parse_next(p);
		return parse_is(p, left);
	}
	if (word == KW_IN) {
		parse_next(p);
		return parse_in(p, left, negated);
	}
	if (word == KW_ISNULL || word == KW_NOTNULL) {
		ast = parse_node(p, AST_IS_NULL, left->span.start);
		ast->negated = word == KW_NOTNULL;
		parse_next(p);
		parse_add_arg(p, ast, left);
		return parse_finish(p, ast);
	}
	if (word != KW_LIKE && word != KW_GLOB && word != KW_BETWEEN)
		return NULL;
	ast = parse_node(p, word == KW_BETWEEN ? AST_BETWEEN : AST_LIKE, left->span.start);
	if (word != KW_BETWEEN) {
		ast->text = keyword_names[word];
		ast->text_bytes = (u32)strlen(ast->text);
	}
	ast->negated = negated;
	parse_next(p);
	parse_add_arg(p, ast, left);
	parse_add_arg(p, ast, parse_level(p, LEVEL_EQUAL + 1));
	if (ast->kind == AST_BETWEEN) {
		parse_expect_keyword(p, KW_AND);
		parse_add_arg(p, ast, parse_level(p, LEVEL_EQUAL + 1));
	}
	if (ast->kind == AST_LIKE)
		parse_escape(p, ast);
	return parse_finish(p, ast);
}

/* The binary operator at the current token, or OP_N. */
static enum ast_op at_binary(const struct parser *p)
{
	enum ast_op op;

	for (op = 0; op < OP_N && !p->panic; op++)
		if (operators[op].token && operators[op].token == p->tok.kind &&
		    (p->tok.kind != TOKEN_WORD || p->tok.keyword == operators[op].keyword))
			return op;
	return OP_N;
}

/* An expression whose operators all bind at least as tight as level. */
static struct ast *parse_level(struct parser *p, u32 level)
{
	struct ast *left = parse_prefix(p, level), *ast;

	for (;;) {
		enum ast_op op = at_binary(p);

		if (op != OP_N) {
			if (operators[op].level < level)
				return left;
			parse_next(p);
			ast = parse_node(p, AST_BINARY, left->span.start);
			ast->op = op;
			parse_add_arg(p, ast, left);
			parse_add_arg(p, ast, parse_level(p, operators[op].level + 1u));
			left = parse_finish(p, ast);
			continue;
		}
		if (level > LEVEL_EQUAL)
			return left;
		ast = parse_predicate(p, left);
		if (!ast)
			return left;
		left = ast;
	}
}

struct ast *parse_expr(struct parser *p)
{
	struct ast *ast = parse_level(p, LEVEL_OR);

	p->height = MAX(p->height, parse_height_of(ast));
	return ast;
}

struct ast *parse_value(struct parser *p)
{
	bool is_case = parse_at_keyword(p, KW_CASE);
	bool is_literal = parse_at_keyword(p, KW_NULL) || parse_at_keyword(p, KW_TRUE) ||
			  parse_at_keyword(p, KW_FALSE) || parse_at_interval(p);
	struct ast *ast = parse_node(p, AST_NULL, p->tok.span.start);
	u8 next = parse_peek(p).kind;

	/* No option takes a negative one: its own message says what it takes. */
	if (parse_at(p, TOKEN_MINUS) && next >= TOKEN_INTEGER && next <= TOKEN_DURATION) {
		ast->kind = AST_UNARY;
		ast->op = OP_NEG;
		parse_next(p);
		parse_add_arg(p, ast, parse_operand(p));
		return parse_finish(p, ast);
	}
	if (!parse_at_name(p) || is_case) {
		if (parse_at_operand(p) && !is_case && !parse_at(p, TOKEN_OPEN))
			return parse_operand(p);
		parse_expected(p, "a value");
		return ast;
	}
	if (is_literal)
		return parse_operand(p);
	/* A bare word, also one that is a keyword elsewhere: on, auto. */
	ast->kind = AST_NAME;
	ast->part_spans = arena_new(p->arena, struct span);
	ast->part_spans[0] = p->tok.span;
	ast->parts = arena_array(p->arena, const char *, 1);
	ast->parts[0] = parse_name(p, "a value");
	ast->n_parts = 1;
	return parse_finish(p, ast);
}
