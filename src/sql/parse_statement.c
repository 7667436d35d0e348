/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Statements separated by ";" -> struct ast_script: the entry of the layer.
 */

#include "sql/parse.h"

/* The stages EXPLAIN may name; soft words that mean something only there. */
static const char *const explain_stages[] = { "AST", "LOGICAL", "OPTIMIZED", "PHYSICAL",
					      "IR",  "BPF",	"ALL" };

static void read_explain(struct parser *p, struct ast_statement *statement)
{
	size_t i;

	statement->kind = AST_STATEMENT_EXPLAIN;
	statement->analyze = parse_accept_keyword(p, KW_ANALYZE);
	for (i = 0; i < ARRAY_SIZE(explain_stages) && !statement->analyze && !statement->text; i++)
		if (parse_accept_word(p, explain_stages[i]))
			statement->text = explain_stages[i];
	if (!parse_at_select(p)) {
		struct suggest suggest;
		const char *near;

		suggest_init(&suggest, parse_text(p, &p->tok, NULL));
		suggest_offer(&suggest, "ANALYZE");
		suggest_offer(&suggest, "SELECT");
		for (i = 0; i < ARRAY_SIZE(explain_stages); i++)
			suggest_offer(&suggest, explain_stages[i]);
		near = suggest_best(&suggest);
		parse_expected_hint(p,
				    statement->text || statement->analyze
					    ? "SELECT"
					    : "SELECT, ANALYZE, LOGICAL, PHYSICAL, IR or BPF",
				    near ? arena_printf(p->arena, "did you mean %s?", near) : NULL);
		return;
	}
	statement->select = parse_select(p);
}

static void read_show(struct parser *p, struct ast_statement *statement)
{
	bool is_views = parse_accept_keyword(p, KW_VIEWS);

	statement->kind = is_views ? AST_STATEMENT_SHOW_VIEWS : AST_STATEMENT_SHOW_STREAMS;
	if (!is_views && !parse_accept_keyword(p, KW_STREAMS)) {
		if (!parse_foreign_show(p))
			parse_expected_hint(p, "STREAMS or VIEWS",
					    "SHOW STREAMS LIKE '%sched%', or SHOW VIEWS");
		return;
	}
	if (!parse_accept_keyword(p, KW_LIKE))
		return;
	if (parse_at(p, TOKEN_TEXT))
		statement->text = parse_text(p, &p->tok, NULL);
	parse_expect(p, TOKEN_TEXT, "a pattern in '...'");
}

/* IF [NOT] EXISTS, taken; a view may be called "if". */
static bool accept_if(struct parser *p, bool is_not)
{
	enum keyword next = (enum keyword)parse_peek(p).keyword;

	if (!parse_word_is(p, "IF") || next != (is_not ? KW_NOT : KW_EXISTS))
		return false;
	parse_next(p);
	if (is_not)
		parse_next(p);
	parse_expect_keyword(p, KW_EXISTS);
	return true;
}

static void read_create(struct parser *p, struct ast_statement *statement)
{
	struct span span;

	statement->kind = AST_STATEMENT_CREATE_VIEW;
	if (parse_accept_keyword(p, KW_OR)) {
		parse_expect_keyword(p, KW_REPLACE);
		statement->replace = true;
	}
	/* Every view lives as long as the text. */
	if (!parse_accept_word(p, "TEMP"))
		parse_accept_word(p, "TEMPORARY");
	if (parse_word_is(p, "TABLE")) {
		parse_error(p, "other-dialect", p->tok.span,
			    "there are no tables to make" HINT
			    "CREATE VIEW name AS SELECT ...; a file is read by FROM 'FILE.csv'");
		return;
	}
	parse_expect_keyword(p, KW_VIEW);
	span = p->tok.span;
	statement->if_exists = accept_if(p, true);
	if (statement->if_exists && statement->replace) {
		parse_error(p, "syntax-error", parse_span(p, span.start),
			    "OR REPLACE and IF NOT EXISTS exclude each other" HINT
			    "say what is to happen where the view exists already");
	}
	statement->text = parse_name(p, "the view's name");
	parse_expect_keyword(p, KW_AS);
	statement->select = parse_select(p);
}

/* ATTACH [DATABASE] 'ref.db' [AS ref] */
static void read_attach(struct parser *p, struct ast_statement *statement)
{
	statement->kind = AST_STATEMENT_ATTACH;
	parse_accept_word(p, "DATABASE");
	if (parse_at(p, TOKEN_TEXT))
		statement->text = parse_text(p, &p->tok, NULL);
	parse_expect(p, TOKEN_TEXT, "a file in '...'");
	if (parse_accept_keyword(p, KW_AS))
		statement->option.name = parse_name(p, "a name for the database");
}

static void read_statement(struct parser *p, struct ast_statement *statement)
{
	static const enum keyword starts[] = { KW_SELECT, KW_EXPLAIN, KW_SHOW, KW_DESCRIBE,
					       KW_CREATE, KW_DROP,    KW_SET };

	if (parse_bpftrace(p))
		return;
	if (p->tok.keyword != KW_DESC)
		parse_mend(p, starts, ARRAY_SIZE(starts), "begins no statement");
	if (parse_at_select(p)) {
		statement->select = parse_select(p);
	} else if (parse_accept_keyword(p, KW_EXPLAIN)) {
		read_explain(p, statement);
	} else if (parse_accept_keyword(p, KW_SHOW)) {
		read_show(p, statement);
	} else if (parse_at_keyword(p, KW_DESCRIBE) || parse_at_keyword(p, KW_DESC)) {
		statement->kind = AST_STATEMENT_DESCRIBE;
		if (parse_peek(p).keyword == KW_SELECT)
			parse_error(p, "other-dialect", p->tok.span,
				    "only what has a name is described" HINT
				    "CREATE VIEW v AS SELECT ...; DESCRIBE v");
		parse_next_source(p);
		statement->source = parse_one_source(p);
	} else if (parse_accept_keyword(p, KW_CREATE)) {
		read_create(p, statement);
	} else if (parse_accept_keyword(p, KW_DROP)) {
		statement->kind = AST_STATEMENT_DROP_VIEW;
		parse_expect_keyword(p, KW_VIEW);
		statement->if_exists = accept_if(p, false);
		statement->text = parse_name(p, "the view's name");
	} else if (parse_accept_keyword(p, KW_SET)) {
		statement->kind = AST_STATEMENT_SET;
		statement->option = parse_option(p);
	} else if (parse_accept_word(p, "ATTACH")) {
		read_attach(p, statement);
	} else if (!parse_foreign_start(p)) {
		parse_expected_hint(
			p, "a statement",
			"a statement begins with SELECT, EXPLAIN, SHOW, DESCRIBE, CREATE VIEW, "
			"DROP VIEW, SET or ATTACH");
	}
}

/* Behind a statement there is ";" or the end. */
static void end_statement(struct parser *p)
{
	if (!p->panic && !parse_at_end(p)) {
		if (parse_at(p, TOKEN_CLOSE))
			parse_error(p, "syntax-error", p->tok.span, "this \")\" closes nothing");
		else
			parse_expected(p, "\";\" or the end of the query");
	}
	if (!p->panic)
		return;
	while (!p->fatal && !parse_at_end(p))
		parse_next(p);
	p->panic = p->fatal;
	p->parens = 0;
}

struct ast_script *sql_parse(struct arena *arena, struct diags *diags)
{
	return sql_parse_bound(arena, NULL, diags);
}

struct ast_script *sql_parse_bound(struct arena *arena, struct sql_parameters *parameters,
				   struct diags *diags)
{
	struct ast_script *script = arena_new(arena, struct ast_script);
	struct parser p = {
		.arena = arena, .diags = diags, .text = diags->text, .parameters = parameters
	};

	if (diags->text_bytes > SQL_TEXT_MAX_BYTES) {
		diag_plain(diags, "text-too-long",
			   "the query's text has %zu bytes, more than the %u that are read" HINT
			   "is this the right file? rows are read by FROM 'FILE.csv'",
			   diags->text_bytes, SQL_TEXT_MAX_BYTES);
		return script;
	}
	p.text_bytes = (u32)diags->text_bytes;
	parse_next(&p);
	p.before = (struct token){ 0 };
	do {
		struct ast_statement statement = { .span = p.tok.span };

		while (parse_accept(&p, TOKEN_SEMICOLON))
			;
		if (p.fatal || (parse_at(&p, TOKEN_END) && script->statements.n))
			break;
		statement.span = p.tok.span;
		if (!p.panic)
			read_statement(&p, &statement);
		statement.span = parse_span(&p, statement.span.start);
		end_statement(&p);
		vec_push(arena, &script->statements, statement);
	} while (!p.fatal && p.tok.kind != TOKEN_END);
	return script;
}
