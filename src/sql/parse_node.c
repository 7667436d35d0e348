/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What the parser has read -> nodes of the syntax tree.  The tree's height is kept beside each
 * node, so that no later walk of it can run out of stack.
 */
#include "sql/parse.h"

/* A node and its height, which is the parser's own business. */
struct tall {
	struct ast ast;
	u32 height;
};

u32 parse_height_of(const struct ast *ast)
{
	return ((const struct tall *)ast)->height;
}

struct ast *parse_node(struct parser *p, enum ast_kind kind, u32 start)
{
	struct tall *tall = arena_new(p->arena, struct tall);

	tall->ast.kind = kind;
	tall->ast.span = parse_span(p, start);
	tall->height = 1;
	return &tall->ast;
}

void parse_raise(struct ast *ast, u32 height)
{
	struct tall *tall = (struct tall *)ast;

	tall->height = MAX(tall->height, height);
}

/* Puts child under parent, in height only. */
void parse_under(struct parser *p, struct ast *parent, const struct ast *child)
{
	struct tall *tall = (struct tall *)parent;

	if (!child || parse_height_of(child) < tall->height)
		return;
	tall->height = parse_height_of(child) + 1;
	if (tall->height <= SQL_HEIGHT_MAX)
		return;
	parse_error(p, "too-deep", p->tok.span,
		    parent->kind == AST_BINARY && parent->op == OP_OR
			    ? "this expression has more than %u levels" HINT
			      "x IN (1, 2, ...) takes 3900 values"
			    : "this expression has more than %u levels",
		    SQL_HEIGHT_MAX);
	parse_stop(p);
}

void parse_add_arg(struct parser *p, struct ast *parent, struct ast *arg)
{
	if (!(parent->n_args & (parent->n_args - 1)))
		parent->args =
			arena_grow(p->arena, parent->args, parent->n_args * sizeof(struct ast *),
				   MAX(2 * parent->n_args, 2u) * sizeof(struct ast *));
	parent->args[parent->n_args++] = arg;
	parse_under(p, parent, arg);
}

struct ast *parse_finish(struct parser *p, struct ast *ast)
{
	ast->span.end = MAX(p->before.span.end, ast->span.start);
	return ast;
}
