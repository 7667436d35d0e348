/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What must come next, or an error that says what was expected and found: also that it is
 * of another dialect, or misspelt.
 */
#include "sql/parse.h"

void parse_expected_hint(struct parser *p, const char *what, const char *hint)
{
	bool is_after_comma = p->before.kind == TOKEN_COMMA;
	enum keyword near;

	if (p->panic)
		return;
	if (p->tok.kind == TOKEN_CLOSE && !p->parens) {
		parse_error(p, "syntax-error", p->tok.span,
			    "expected %s, found a \")\" that closes nothing" HINT "%s", what,
			    hint ? hint : "");
		return;
	}
	if (parse_foreign(p))
		return;
	near = parse_misspelt_clause(p);
	if (!hint && is_after_comma && (parse_at_clause(p) || p->tok.kind == TOKEN_CLOSE))
		hint = "there is a \",\" too many before it";
	else if (!hint && near)
		hint = arena_printf(p->arena, "did you mean %s?", keyword_names[near]);
	parse_error(p, "syntax-error", p->tok.span, "expected %s, found %s" HINT "%s", what,
		    parse_found(p), hint ? hint : "");
}

void parse_expected(struct parser *p, const char *what)
{
	parse_expected_hint(p, what, NULL);
}

void parse_expect(struct parser *p, enum token_kind kind, const char *what)
{
	if (!parse_accept(p, kind))
		parse_expected(p, what);
}

bool parse_mend(struct parser *p, const enum keyword *among, u32 n, const char *is_what)
{
	enum keyword near = parse_misspelt(p, among, n);

	if (!near || near == p->tok.keyword)
		return false;
	parse_report(p, "unknown-keyword", p->tok.span, "%s %s" HINT "did you mean %s?",
		     parse_found(p), is_what, keyword_names[near]);
	p->tok.keyword = (u8)near;
	return true;
}

void parse_expect_keyword(struct parser *p, enum keyword keyword)
{
	if (parse_accept_keyword(p, keyword))
		return;
	if (parse_mend(p, &keyword, 1, "is no keyword here"))
		parse_next(p);
	else
		parse_expected(p, keyword_names[keyword]);
}

struct span parse_open(struct parser *p)
{
	struct span span = p->tok.span;

	parse_expect(p, TOKEN_OPEN, "\"(\"");
	return span;
}

void parse_close(struct parser *p, struct span open)
{

	if (p->panic || parse_accept(p, TOKEN_CLOSE))
		return;
	if (parse_at_end(p) || parse_at_clause(p)) {
		parse_error(p, "unclosed-parenthesis", open,
			    "this \"(\" is not closed" HINT "a \")\" is missing before %s",
			    parse_found(p));
		/* What follows belongs to the select around it. */
		p->error_parens = UINT32_MAX;
		return;
	}
	parse_expected(p, "\")\"");
}

bool parse_more(struct parser *p)
{

	if (parse_accept(p, TOKEN_COMMA))
		return true;
	if (p->panic || !parse_at_operand(p) || parse_misspelt_clause(p) || parse_foreign(p))
		return false;
	parse_report(p, "missing-comma", p->tok.span,
		     "a comma is missing before %s" HINT "items are separated by \",\"",
		     parse_found(p));
	return !p->panic;
}

const char *parse_name(struct parser *p, const char *what)
{
	const char *name;

	if (!parse_at_name(p)) {
		parse_expected(p, what);
		return "";
	}
	name = parse_text(p, &p->tok, NULL);
	parse_next(p);
	return name;
}
