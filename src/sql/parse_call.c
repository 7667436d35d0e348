/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Function calls: name(arguments) and what may follow them: WITHIN GROUP,
 * FILTER, OVER.
 */
#include <string.h>
#include <strings.h>

#include "sql/parse.h"

struct ast_order *parse_order_list(struct parser *p, u32 *ret_n)
{
	static const enum keyword directions[] = { KW_DESC, KW_ASC, KW_NULLS };
	VEC(struct ast_order) list = { 0 };
	struct ast_order order;

	do {
		order = (struct ast_order){ .expr = parse_expr(p) };
		if (!parse_misspelt_clause(p))
			parse_mend(p, directions, ARRAY_SIZE(directions), "is no order");
		order.is_descending = parse_accept_keyword(p, KW_DESC);
		if (!order.is_descending)
			parse_accept_keyword(p, KW_ASC);
		if (parse_accept_keyword(p, KW_NULLS)) {
			order.nulls = parse_accept_keyword(p, KW_FIRST) ? -1 : 1;
			if (order.nulls > 0)
				parse_expect_keyword(p, KW_LAST);
		}
		vec_push(p->arena, &list, order);
	} while (!parse_at_frame(p) && parse_more(p));
	*ret_n = list.n;
	return list.at;
}

static void read_order_by(struct parser *p, struct ast *call)
{
	u32 i;

	if (call->order_by)
		parse_error(p, "duplicate-clause", p->tok.span,
			    "this call has an ORDER BY already");
	parse_expect_keyword(p, KW_ORDER);
	parse_expect_keyword(p, KW_BY);
	call->order_by = parse_order_list(p, &call->n_order_by);
	for (i = 0; i < call->n_order_by; i++)
		parse_under(p, call, call->order_by[i].expr);
}

/* ntile(n) and nth_value(x, n): SQLite would refuse a 0 when the query runs. */
static void check_over(struct parser *p, const struct ast *call)
{
	bool is_ntile = strcasecmp(call->text, "ntile") == 0 && call->n_args == 1;
	bool is_nth = strcasecmp(call->text, "nth_value") == 0 && call->n_args == 2;
	const struct ast *n;

	if (!is_ntile && !is_nth)
		return;
	n = call->args[call->n_args - 1];
	if (!(n->kind == AST_INTEGER && !n->integer) && !(n->kind == AST_UNARY && n->op == OP_NEG))
		return;
	parse_report(p, "wrong-arguments", n->span,
		     "%s() takes a number from 1 on" HINT "for example %s", call->text,
		     is_ntile ? "ntile(4)" : "nth_value(x, 1)");
}

static void read_over(struct parser *p, struct ast *call)
{
	VEC(struct ast *) list = { 0 };
	struct span open;
	u32 i;

	if (call->is_over)
		parse_error(p, "duplicate-clause", p->tok.span, "this call has an OVER already");
	open = parse_open(p);
	call->is_over = true;
	if (parse_accept_keyword(p, KW_PARTITION)) {
		parse_expect_keyword(p, KW_BY);
		do {
			vec_push(p->arena, &list, parse_expr(p));
		} while (!parse_at_frame(p) && parse_more(p));
	}
	call->partition_by = list.at;
	call->n_partition_by = list.n;
	for (i = 0; i < list.n; i++)
		parse_under(p, call, list.at[i]);
	if (parse_at_keyword(p, KW_ORDER))
		read_order_by(p, call);
	parse_frame(p, call);
	check_over(p, call);
	parse_close(p, open);
}

static void read_filter(struct parser *p, struct ast *call)
{
	struct span open;

	if (call->filter)
		parse_error(p, "duplicate-clause", p->tok.span, "this call has a FILTER already");
	open = parse_open(p);
	parse_expect_keyword(p, KW_WHERE);
	call->filter = parse_expr(p);
	parse_under(p, call, call->filter);
	parse_close(p, open);
}

/* FILTER (WHERE ...), WITHIN GROUP (ORDER BY ...), OVER (...) behind a call. */
static void read_call_suffixes(struct parser *p, struct ast *call)
{
	for (;;) {
		struct span open;

		if (parse_at_keyword(p, KW_FILTER) && parse_peek(p).kind == TOKEN_OPEN) {
			parse_next(p);
			read_filter(p, call);
		} else if (parse_at_keyword(p, KW_OVER) && parse_peek(p).kind == TOKEN_OPEN) {
			parse_next(p);
			read_over(p, call);
		} else if (parse_at_keyword(p, KW_WITHIN) && parse_peek(p).keyword == KW_GROUP) {
			parse_next(p);
			parse_next(p);
			open = parse_open(p);
			call->is_within_group = true;
			read_order_by(p, call);
			parse_close(p, open);
		} else {
			return;
		}
	}
}

struct ast *parse_call(struct parser *p, struct ast *name)
{
	struct ast *call = parse_node(p, AST_CALL, name->span.start);
	struct span open = p->tok.span;

	call->text = name->parts[0];
	call->text_bytes = (u32)strlen(call->text);
	if (name->n_parts > 1)
		parse_error(p, "syntax-error", name->span, "a function's name has no \".\"");
	if (parse_foreign_call(p, call->text))
		return parse_finish(p, call);
	if (!parse_enter(p, 1))
		return call;
	parse_next(p);
	call->distinct = parse_accept_keyword(p, KW_DISTINCT);
	if (parse_at(p, TOKEN_STAR) && !call->distinct) {
		call->star = true;
		parse_next(p);
	} else if (!parse_at(p, TOKEN_CLOSE) || call->distinct) {
		do {
			parse_add_arg(p, call, parse_expr(p));
		} while (parse_more(p));
	}
	parse_close(p, open);
	read_call_suffixes(p, call);
	parse_leave(p, 1);
	return parse_finish(p, call);
}
