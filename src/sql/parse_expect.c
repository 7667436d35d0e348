/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What must come next, or an error that says what was expected and found: also that it is
 * of another dialect, or misspelt.
 */
#include "sql/parse.h"

struct diag *parse_expected(struct parser *p, const char *what)
{
	bool is_after_comma = p->before.kind == TOKEN_COMMA;
	enum keyword near;
	struct diag *diag;

	if (p->panic)
		return NULL;
	if (p->tok.kind == TOKEN_CLOSE && !p->parens)
		return parse_error(p, "syntax-error", p->tok.span,
				   "expected %s, found a \")\" that closes nothing", what);
	diag = parse_foreign(p);
	if (diag)
		return NULL;
	near = parse_misspelt_clause(p);
	diag = parse_error(p, "syntax-error", p->tok.span, "expected %s, found %s", what,
			   parse_found(p));
	if (is_after_comma && (parse_at_clause(p) || p->tok.kind == TOKEN_CLOSE))
		diag_hint(p->diags, diag, "there is a \",\" too many before it");
	else if (near)
		diag_hint(p->diags, diag, "did you mean %s?", keyword_names[near]);
	return diag;
}

void parse_expect(struct parser *p, enum token_kind kind, const char *what)
{
	if (!parse_accept(p, kind))
		parse_expected(p, what);
}

bool parse_mend(struct parser *p, const enum keyword *among, u32 n, const char *is_what)
{
	enum keyword near = parse_misspelt(p, among, n);
	struct diag *diag;

	if (!near || near == p->tok.keyword)
		return false;
	diag = parse_report(p, "unknown-keyword", p->tok.span, "%s %s", parse_found(p), is_what);
	diag_hint(p->diags, diag, "did you mean %s?", keyword_names[near]);
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
	struct diag *diag;

	if (p->panic || parse_accept(p, TOKEN_CLOSE))
		return;
	if (parse_at_end(p) || parse_at_clause(p)) {
		diag = parse_error(p, "unclosed-parenthesis", open, "this \"(\" is not closed");
		diag_hint(p->diags, diag, "a \")\" is missing before %s", parse_found(p));
		/* What follows belongs to the select around it. */
		p->error_parens = UINT32_MAX;
		return;
	}
	parse_expected(p, "\")\"");
}

bool parse_more(struct parser *p)
{
	struct diag *diag;

	if (parse_accept(p, TOKEN_COMMA))
		return true;
	if (p->panic || !parse_at_operand(p) || parse_misspelt_clause(p) || parse_foreign(p))
		return false;
	diag = parse_report(p, "missing-comma", p->tok.span, "a comma is missing before %s",
			    parse_found(p));
	diag_hint(p->diags, diag, "items are separated by \",\"");
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
