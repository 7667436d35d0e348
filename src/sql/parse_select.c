/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * SELECT with its clauses in any order, WITH, UNION and its like ->
 * struct ast_select.  Recovery happens here: an error ends its clause, not the query.
 */
#include <strings.h>

#include "sql/parse.h"

struct select_state {
	struct ast_select *select;
	u32 seen; /* bits by clause number */
	u32 base_parens;
	bool is_arm; /* behind UNION: ORDER BY and LIMIT belong to the whole */
};

static void read_from(struct parser *p, struct ast_select *select)
{
	parse_next_source(p);
	select->from = parse_from(p);
}

static void read_where(struct parser *p, struct ast_select *select)
{
	parse_next(p);
	select->where = parse_expr(p);
}

/* ALL, where it can be no column's name. */
static bool parse_at_all(const struct parser *p)
{
	struct token next;

	if (!parse_word_is(p, "ALL"))
		return false;
	next = parse_peek(p);
	return parse_ends_list(&next) || next.keyword == KW_DESC || next.keyword == KW_ASC ||
	       next.keyword == KW_NULLS;
}

static void read_group_by(struct parser *p, struct ast_select *select)
{
	parse_next(p);
	parse_expect_keyword(p, KW_BY);
	if (parse_foreign_list(p, "GROUP BY"))
		return;
	/* GROUP BY ALL: a star alone stands for it. */
	if (parse_at_all(p)) {
		vec_push(p->arena, &select->group_by, parse_node(p, AST_STAR, p->tok.span.start));
		parse_next(p);
		parse_finish(p, select->group_by.at[0]);
		return;
	}
	do {
		vec_push(p->arena, &select->group_by, parse_expr(p));
	} while (parse_more(p));
}

static void read_window(struct parser *p, struct ast_select *select)
{
	select->window = parse_window(p);
}

static void read_having(struct parser *p, struct ast_select *select)
{
	parse_next(p);
	select->having = parse_expr(p);
}

/* ORDER BY ALL is by each item, from the first on. */
static bool check_all(struct parser *p, const struct ast_select *select)
{
	for (u32 i = 0; i < select->items.n; i++) {
		if (select->items.at[i].expr->kind != AST_STAR)
			continue;
		parse_error(p, "not-supported", p->tok.span,
			    "ORDER BY ALL needs the list of what is selected, and * is none" HINT
			    "name the columns: ORDER BY a, b");
		return false;
	}
	return true;
}

static void read_order_by(struct parser *p, struct ast_select *select)
{
	struct ast_order *list;
	bool is_all;
	u32 n, i;

	parse_next(p);
	parse_expect_keyword(p, KW_BY);
	is_all = parse_at_all(p);
	if (is_all && !check_all(p, select))
		return;
	list = parse_order_list(p, &n);
	for (i = 0; i < (is_all ? select->items.n : n); i++) {
		struct ast_order order = list[is_all ? 0 : i];

		if (is_all) {
			order.expr = parse_node(p, AST_INTEGER, order.expr->span.start);
			order.expr->integer = i + 1;
			order.expr->span = list[0].expr->span;
		}
		vec_push(p->arena, &select->order_by, order);
	}
}

/* OFFSET 5 [ROWS] */
static void read_offset(struct parser *p, struct ast_select *select)
{
	if (select->offset)
		parse_report(p, "duplicate-clause", p->tok.span, "a second OFFSET in one SELECT");
	parse_next(p);
	select->offset = parse_expr(p);
	if (!parse_accept_word(p, "ROWS"))
		parse_accept_word(p, "ROW");
}

/* FETCH FIRST [5] ROWS ONLY: LIMIT 5 */
static void read_fetch(struct parser *p, struct ast_select *select)
{
	if (select->limit)
		parse_report(p, "duplicate-clause", p->tok.span, "LIMIT and FETCH say the same");
	parse_next(p);
	if (!parse_accept_word(p, "NEXT"))
		parse_expect_keyword(p, KW_FIRST);
	if (parse_word_is(p, "ROW") || parse_word_is(p, "ROWS")) {
		select->limit = parse_node(p, AST_INTEGER, p->tok.span.start);
		select->limit->integer = 1;
	} else {
		select->limit = parse_expr(p);
	}
	if (!parse_accept_word(p, "ROWS") && !parse_accept_word(p, "ROW"))
		parse_expected(p, "ROWS ONLY");
	else if (!parse_accept_word(p, "ONLY"))
		parse_expected_hint(p, "ONLY", "rows of equal rank have no WITH TIES");
}

static void read_limit(struct parser *p, struct ast_select *select)
{
	parse_next(p);
	if (parse_at_all(p)) {
		parse_next(p);
		return;
	}
	select->limit = parse_expr(p);
	if (parse_accept(p, TOKEN_COMMA)) {
		/* SQLite: LIMIT offset, limit */
		select->offset = select->limit;
		select->limit = parse_expr(p);
	}
}

struct ast_option parse_option(struct parser *p)
{
	struct ast_option option = { .span = p->tok.span };

	option.name = parse_name(p, "an option's name");
	parse_expect(p, TOKEN_EQ, "\"=\"");
	option.value = parse_value(p);
	option.span = parse_span(p, option.span.start);
	return option;
}

static void read_options(struct parser *p, struct ast_select *select)
{
	struct ast_option option;
	struct span open;

	parse_next(p);
	open = parse_open(p);
	do {
		option = parse_option(p);
		for (u32 i = 0; option.name && i < select->options.n; i++)
			if (strcasecmp(select->options.at[i].name, option.name) == 0)
				diag_warning(p->diags, "duplicate-clause", option.span,
					     "%s is set twice: this one counts", option.name);
		vec_push(p->arena, &select->options, option);
	} while (parse_more(p));
	parse_close(p, open);
}

static const struct {
	enum keyword keyword;
	void (*read)(struct parser *p, struct ast_select *select);
	const char *name;
	bool is_of_whole; /* stands behind the last UNION, never before one */
	const char *join; /* how two become one */
} clauses[] = {
	{ KW_FROM, read_from, "FROM", false, "streams are joined by JOIN or UNION ALL" },
	{ KW_WHERE, read_where, "WHERE", false, "join the conditions by AND" },
	{ KW_GROUP, read_group_by, "GROUP BY", false, "" },
	{ KW_WINDOW, read_window, "WINDOW", false, "" },
	{ KW_HAVING, read_having, "HAVING", false, "join the conditions by AND" },
	{ KW_ORDER, read_order_by, "ORDER BY", true, "" },
	{ KW_LIMIT, read_limit, "LIMIT", true, "" },
	{ KW_OFFSET, read_offset, "OFFSET", true, "" },
	{ KW_FETCH, read_fetch, "FETCH", true, "" },
	{ KW_WITH, read_options, "WITH", true, "" },
};

static struct ast_item parse_item(struct parser *p)
{
	struct ast_item item = { 0 };
	bool has_as;

	if (parse_at(p, TOKEN_STAR)) {
		item.expr = arena_new(p->arena, struct ast);
		item.expr->kind = AST_STAR;
		item.expr->span = p->tok.span;
		parse_next(p);
		/* * EXCEPT (k) begins no clause, so recovery starts behind it. */
		if (parse_at(p, TOKEN_WORD) && parse_peek(p).kind == TOKEN_OPEN && parse_foreign(p))
			parse_next(p);
		return item;
	}
	item.expr = parse_expr(p);
	has_as = parse_accept_keyword(p, KW_AS);
	if (!has_as) {
		struct token next;

		if (!parse_at_name(p) || (keyword_flags[p->tok.keyword] & KEYWORD_STOP))
			return item;
		next = parse_peek(p);
		/* SELECT pid FORM stream: no alias, a misspelt clause. */
		if (next.kind != TOKEN_COMMA && !parse_ends_list(&next) && parse_misspelt_clause(p))
			return item;
	}
	item.alias_span = p->tok.span;
	/* SELECT pid AS FROM stream: a column may be called "from", but this one is not. */
	if (has_as && parse_at_keyword(p, KW_FROM)) {
		struct token next = parse_peek(p);

		if (next.kind != TOKEN_COMMA && next.keyword != KW_FROM) {
			parse_expected(p, "a name");
			return item;
		}
	}
	if (has_as && parse_at(p, TOKEN_TEXT)) {
		item.alias = parse_text(p, &p->tok, NULL);
		parse_next(p);
	} else {
		item.alias = parse_name(p, "a name");
	}
	return item;
}

/* SELECT ALL *, SELECT ALL k + 1: what cannot stand behind a column called "all". */
static bool at_all_items(const struct parser *p)
{
	struct parser ahead = *p;
	struct token behind;
	bool is_name;

	if (!parse_word_is(p, "ALL"))
		return false;
	ahead.tok = parse_peek(p);
	behind = parse_peek(&ahead);
	if (ahead.tok.kind == TOKEN_STAR)
		return parse_ends_list(&behind) || behind.kind == TOKEN_COMMA;
	is_name = parse_at_name(&ahead);
	return parse_at_operand(&ahead) &&
	       !(is_name && (parse_ends_list(&behind) || behind.kind == TOKEN_COMMA));
}

static void read_items(struct parser *p, struct ast_select *select)
{
	select->is_distinct = parse_accept_keyword(p, KW_DISTINCT);
	if (!select->is_distinct && at_all_items(p)) {
		parse_report(p, "other-dialect", p->tok.span,
			     "there is no SELECT ALL" HINT
			     "leave ALL away: only DISTINCT leaves rows out");
		parse_next(p);
	}
	do {
		struct ast_item item = parse_item(p);

		vec_push(p->arena, &select->items, item);
	} while (parse_more(p));
}

static void unexpected(struct parser *p, const struct select_state *state)
{
	enum keyword near = parse_misspelt_clause(p);

	if (parse_foreign_join(p) || parse_mend(p, &near, 1, "is no keyword here"))
		return;
	if (p->tok.kind == TOKEN_CLOSE) {
		parse_error(p, "syntax-error", p->tok.span, "this \")\" closes nothing");
	} else if (p->tok.kind == TOKEN_WORD && p->tok.keyword == KW_SELECT) {
		parse_expected_hint(p, "a clause or the end of the query",
				    "statements are separated by \";\", selects by UNION ALL");
	} else if (!state->seen) {
		parse_expected_hint(p, "\",\" or FROM",
				    p->tok.kind == TOKEN_STAR
					    ? "COUNT(*) counts; * alone stands for all columns"
					    : NULL);
	} else {
		parse_expected_hint(p, "an operator, a clause or the end of the query",
				    parse_at_operand(p) || p->tok.kind == TOKEN_WORD
					    ? "conditions are joined by AND and OR"
					    : NULL);
	}
}

/* One clause at the current token; false when there is none. */
static bool read_clause(struct parser *p, struct select_state *state)
{
	struct ast_select *select = state->select;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(clauses); i++)
		if (parse_at_keyword(p, clauses[i].keyword))
			break;
	if (i == ARRAY_SIZE(clauses))
		return false;
	if (state->is_arm && clauses[i].is_of_whole)
		return false;
	if (select->is_values && !clauses[i].is_of_whole) {
		parse_error(p, "syntax-error", p->tok.span,
			    "%s does not go with VALUES" HINT "SELECT ... FROM (VALUES ...) AS t",
			    clauses[i].name);
		parse_next(p);
		return true;
	}
	if (select->compound.n && !clauses[i].is_of_whole) {
		parse_error(
			p, "syntax-error", p->tok.span,
			"%s stands behind an ORDER BY, LIMIT or WITH that ended the last SELECT",
			clauses[i].name);
		parse_next(p);
		return true;
	}
	if (parse_at_named_windows(p)) {
		parse_next(p);
		parse_named_windows(p, select);
		return true;
	}
	if (state->seen & 1u << i) {
		parse_report(p, "duplicate-clause", p->tok.span,
			     "a second %s in one SELECT" HINT "%s", clauses[i].name,
			     clauses[i].join);
	}
	state->seen |= 1u << i;
	clauses[i].read(p, select);
	return true;
}

static bool at_compound(const struct parser *p)
{
	return parse_at_keyword(p, KW_UNION) || parse_at_keyword(p, KW_EXCEPT) ||
	       parse_at_keyword(p, KW_INTERSECT);
}

/* Reads clauses until something that is none, recovering from each error. */
static void read_clauses(struct parser *p, struct select_state *state)
{
	while (!p->fatal) {
		if (p->panic) {
			parse_recover(p, state->base_parens);
			continue;
		}
		if (read_clause(p, state))
			continue;
		if (parse_at_end(p) || at_compound(p) ||
		    (parse_at(p, TOKEN_CLOSE) && state->base_parens) ||
		    (state->is_arm && parse_at_clause(p)))
			return;
		/* A list or a call around this select goes on or reports it. */
		if (state->base_parens && parse_at(p, TOKEN_COMMA))
			return;
		unexpected(p, state);
	}
}

static bool parse_at_values(const struct parser *p)
{
	return parse_word_is(p, "VALUES") && parse_peek(p).kind == TOKEN_OPEN;
}

/* One row of VALUES: SELECT 1 AS column1, 2 AS column2 */
static void read_row(struct parser *p, struct ast_select *row)
{
	struct span open = parse_open(p);

	do {
		struct ast_item item = { .expr = parse_expr(p) };

		item.alias = arena_printf(p->arena, "column%u", row->items.n + 1);
		item.alias_span = item.expr->span;
		vec_push(p->arena, &row->items, item);
	} while (parse_more(p));
	parse_close(p, open);
	row->span = parse_span(p, open.start);
}

static void read_values(struct parser *p, struct ast_select *select)
{
	select->is_values = true;
	parse_next(p);
	read_row(p, select);
	while (parse_accept(p, TOKEN_COMMA)) {
		struct ast_compound row = { .op = AST_UNION_ALL };

		row.select = arena_new(p->arena, struct ast_select);
		row.select->is_values = true;
		read_row(p, row.select);
		vec_push(p->arena, &select->compound, row);
		if (row.select->items.n == select->items.n)
			continue;
		parse_error(p, "union-columns", row.select->span,
			    "this row of VALUES has %u columns, the first one %u" HINT
			    "NULL fills one",
			    row.select->items.n, select->items.n);
	}
}

/* SELECT items and clauses, or VALUES, without WITH before and UNION behind it. */
static struct ast_select *read_core(struct parser *p, struct select_state *state)
{
	struct ast_select *select = arena_new(p->arena, struct ast_select);

	u32 n_names = p->over_names.n;

	state->select = select;
	state->base_parens = p->parens;
	select->span.start = p->tok.span.start;
	if (parse_at_values(p)) {
		read_values(p, select);
	} else {
		parse_expect_keyword(p, KW_SELECT);
		read_items(p, select);
	}
	read_clauses(p, state);
	parse_over_names(p, select, n_names);
	select->span = parse_span(p, select->span.start);
	return select;
}

/* Rows of VALUES behind UNION and its like are one select: SELECT * FROM (VALUES ...). */
static struct ast_select *read_arm(struct parser *p)
{
	struct select_state state = { .is_arm = true };
	struct ast_select *select = read_core(p, &state), *around;
	struct ast_item star = { 0 };

	if (!select->compound.n)
		return select;
	around = arena_new(p->arena, struct ast_select);
	around->span = select->span;
	around->from = arena_new(p->arena, struct ast_source);
	around->from->kind = AST_SOURCE_SELECT;
	around->from->select = select;
	around->from->span = select->span;
	star.expr = parse_node(p, AST_STAR, select->span.start);
	vec_push(p->arena, &around->items, star);
	return around;
}

/* UNION [ALL], EXCEPT, INTERSECT and the select behind it. */
static void read_compound(struct parser *p, struct select_state *state)
{
	struct ast_compound compound = { .op = AST_UNION };
	struct token word = p->tok;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(clauses); i++) {
		if (!clauses[i].is_of_whole || !(state->seen & 1u << i))
			continue;
		parse_report(p, "syntax-error", word.span,
			     "%s stands before %s" HINT "%s is said once, behind the last SELECT",
			     clauses[i].name, parse_found(p), clauses[i].name);
		break;
	}
	parse_next(p);
	if (word.keyword == KW_EXCEPT)
		compound.op = AST_EXCEPT;
	else if (word.keyword == KW_INTERSECT)
		compound.op = AST_INTERSECT;
	/* ALL is no keyword of ours: it means something only here. */
	else if (parse_accept_word(p, "ALL"))
		compound.op = AST_UNION_ALL;
	compound.select = read_arm(p);
	vec_push(p->arena, &state->select->compound, compound);
}

/* WITH RECURSIVE: taken, with a message; a select may be called "recursive". */
static void refuse_recursive(struct parser *p)
{
	struct token next = parse_peek(p);

	if (!parse_word_is(p, "RECURSIVE") || next.keyword == KW_AS || next.kind == TOKEN_OPEN)
		return;
	parse_report(p, "not-supported", p->tok.span,
		     "WITH RECURSIVE is not available: a stream has no end to recurse to" HINT
		     "leave RECURSIVE away where no select reads itself");
	parse_next(p);
}

static void check_cte_name(struct parser *p, const struct ast_select *select, const char *name,
			   struct span span)
{

	for (u32 i = 0; !p->panic && i < select->ctes.n; i++) {
		if (strcasecmp(select->ctes.at[i].name, name) != 0)
			continue;
		parse_report(p, "duplicate-name", span,
			     "the name \"%s\" is given twice in WITH" HINT
			     "give each select a name of its own",
			     name);
	}
}

static bool parse_next_is(const struct parser *p, const char *word)
{
	struct parser ahead = *p;

	ahead.tok = parse_peek(p);
	return parse_word_is(&ahead, word);
}

static void read_ctes(struct parser *p, struct ast_select *select)
{
	parse_next(p);
	refuse_recursive(p);
	do {
		struct ast_cte cte = { .span = p->tok.span };
		struct span open, name_span = p->tok.span;

		cte.name = parse_name(p, "a name");
		check_cte_name(p, select, cte.name, name_span);
		if (parse_at(p, TOKEN_OPEN))
			parse_columns(p, &cte.columns);
		parse_expect_keyword(p, KW_AS);
		/* [NOT] MATERIALIZED: it is read once in any case. */
		if (parse_at_keyword(p, KW_NOT) && parse_next_is(p, "MATERIALIZED"))
			parse_next(p);
		parse_accept_word(p, "MATERIALIZED");
		open = parse_open(p);
		cte.select = parse_select(p);
		parse_close(p, open);
		cte.span = parse_span(p, cte.span.start);
		vec_push(p->arena, &select->ctes, cte);
	} while (parse_more(p));
}

bool parse_at_select(const struct parser *p)
{
	return parse_at_keyword(p, KW_SELECT) || parse_at_keyword(p, KW_WITH) || parse_at_values(p);
}

struct ast_select *parse_select(struct parser *p)
{
	struct ast_select head = { 0 }, *select;
	struct select_state state = { 0 };
	u32 start = p->tok.span.start, n_names = p->over_names.n;

	if (!parse_enter(p, 1))
		return arena_new(p->arena, struct ast_select);
	if (parse_at_keyword(p, KW_WITH))
		read_ctes(p, &head);
	select = read_core(p, &state);
	select->ctes.at = head.ctes.at;
	select->ctes.n = head.ctes.n;
	select->ctes.capacity = head.ctes.capacity;
	while (at_compound(p)) {
		read_compound(p, &state);
		if (!at_compound(p))
			read_clauses(p, &state);
	}
	parse_over_names(p, select, n_names);
	select->span = parse_span(p, start);
	parse_leave(p, 1);
	return select;
}
