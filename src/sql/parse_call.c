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

/* (PARTITION BY ... ORDER BY ... frame) */
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
	parse_close(p, open);
}

/* --- WINDOW name AS (...), and OVER name --- */

bool parse_at_named_windows(const struct parser *p)
{
	struct token name = parse_peek(p);

	return parse_at_keyword(p, KW_WINDOW) &&
	       (name.kind == TOKEN_WORD || name.kind == TOKEN_NAME) &&
	       lex(p->text, p->text_bytes, name.span.end).keyword == KW_AS;
}

static const struct ast *window_find(const struct ast_select *select, const char *name)
{
	for (u32 i = 0; i < select->windows.n; i++)
		if (strcasecmp(select->windows.at[i].name, name) == 0)
			return select->windows.at[i].over;
	return NULL;
}

void parse_named_windows(struct parser *p, struct ast_select *select)
{
	do {
		struct ast_named_window window;
		struct span span = p->tok.span;
		struct ast *over = parse_node(p, AST_CALL, span.start);
		u32 n_names = p->over_names.n;

		window = (struct ast_named_window){ parse_name(p, "a window's name"), over };
		if (window_find(select, window.name))
			parse_report(p, "duplicate-name", span,
				     "the window \"%s\" is made twice" HINT
				     "give each a name of its own",
				     window.name);
		parse_expect_keyword(p, KW_AS);
		read_over(p, over);
		if (p->over_names.n > n_names)
			parse_error(p, "syntax-error", p->over_names.at[n_names].span,
				    "a window is not made by another one");
		p->over_names.n = n_names;
		vec_push(p->arena, &select->windows, window);
	} while (parse_more(p));
}

static void unknown_window(struct parser *p, const struct ast_select *select,
			   const struct over_name *of)
{
	struct suggest suggest;

	suggest_init(&suggest, of->name);
	for (u32 i = 0; i < select->windows.n; i++)
		suggest_offer(&suggest, select->windows.at[i].name);
	if (suggest_best(&suggest))
		parse_report(p, "unknown-window", of->span,
			     "there is no window \"%s\"" HINT "did you mean \"%s\"?", of->name,
			     suggest_best(&suggest));
	else
		parse_report(p, "unknown-window", of->span,
			     "there is no window \"%s\"" HINT
			     "WINDOW %s AS (PARTITION BY ... ORDER BY ...) makes one",
			     of->name, of->name);
}

void parse_over_names(struct parser *p, const struct ast_select *select, u32 first)
{
	for (u32 i = first; i < p->over_names.n; i++) {
		const struct over_name *of = &p->over_names.at[i];
		const struct ast *over = window_find(select, of->name);

		if (!over) {
			unknown_window(p, select, of);
			continue;
		}
		of->call->partition_by = over->partition_by;
		of->call->n_partition_by = over->n_partition_by;
		of->call->order_by = over->order_by;
		of->call->n_order_by = over->n_order_by;
		of->call->frame = over->frame;
		parse_under(p, of->call, over);
	}
	p->over_names.n = first;
}

/* OVER (...) or OVER name; false: a column may be called "over". */
static bool accept_over(struct parser *p, struct ast *call)
{
	struct token next = parse_peek(p);
	bool is_name = next.kind == TOKEN_NAME ||
		       (next.kind == TOKEN_WORD && !(keyword_flags[next.keyword] & KEYWORD_STOP));

	if (!parse_at_keyword(p, KW_OVER) || (next.kind != TOKEN_OPEN && !is_name))
		return false;
	parse_next(p);
	if (is_name) {
		struct over_name of = { .call = call, .span = p->tok.span };

		if (call->is_over || call->is_within_group)
			parse_error(p, "duplicate-clause", p->tok.span,
				    "this call has an OVER or an ORDER BY already");
		of.name = parse_name(p, "a window's name");
		call->is_over = true;
		vec_push(p->arena, &p->over_names, of);
	} else {
		read_over(p, call);
	}
	check_over(p, call);
	return true;
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
		} else if (accept_over(p, call)) {
			continue;
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
	if (parse_at_keyword(p, KW_ORDER)) {
		parse_error(p, "other-dialect", p->tok.span,
			    "a call takes rows in the order in which they come" HINT
			    "SELECT %s(x) FROM (SELECT x FROM ... ORDER BY y)",
			    strcasecmp(call->text, "string_agg") &&
					    strcasecmp(call->text, "array_agg")
				    ? call->text
				    : "group_concat");
		parse_stop(p);
	}
	parse_close(p, open);
	read_call_suffixes(p, call);
	parse_leave(p, 1);
	return parse_finish(p, call);
}
