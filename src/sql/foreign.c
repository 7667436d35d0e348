/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Words of other dialects, and quotes that close too late -> what to write here.  Asked only where
 * the parser is at an error anyway, so all these words stay free for names.
 */
#include <string.h>
#include <strings.h>

#include "sql/parse.h"

static const struct {
	const char *word, *message, *hint, *tag; /* NULL: other-dialect */
} foreign_words[] = {
	{ "ILIKE", "there is no ILIKE", "LIKE ignores the case of ASCII letters" },
	{ "REGEXP", "there are no regular expressions",
	  "LIKE 'a%' and GLOB 'a*[0-9]' match patterns" },
	{ "RLIKE", "there are no regular expressions",
	  "LIKE 'a%' and GLOB 'a*[0-9]' match patterns" },
	{ "SIMILAR", "there are no regular expressions",
	  "LIKE 'a%' and GLOB 'a*[0-9]' match patterns" },
	{ "MATCH", "there is no MATCH", "LIKE 'a%' and GLOB 'a*[0-9]' match patterns" },
	{ "COLLATE", "there are no collations: texts compare by their bytes",
	  "lower(x) = 'nginx' compares without case, and so does LIKE" },
	{ "QUALIFY", "there is no QUALIFY",
	  "SELECT * FROM (SELECT ..., row_number() OVER (...) AS r FROM ...) AS t WHERE r = 1" },
	{ "FETCH", "there is no FETCH", "LIMIT 5 stands at the end of the query" },
	{ "TOP", "there is no TOP", "LIMIT 5 stands at the end of the query" },
	{ "OVER", "there are no named windows",
	  "write it out at each call: OVER (PARTITION BY ... ORDER BY ...)" },
	{ "TUMBLING", "WINDOW is missing before TUMBLING", "for example WINDOW TUMBLING 1s",
	  "syntax-error" },
	{ "HOPPING", "WINDOW is missing before HOPPING", "for example WINDOW HOPPING 10s BY 1s",
	  "syntax-error" },
};

static bool is_word(const struct parser *p, struct span span, const char *word)
{
	return span.end - span.start == strlen(word) &&
	       strncasecmp(p->text + span.start, word, strlen(word)) == 0;
}

/* 10 ms */
static struct diag *unit_apart(struct parser *p)
{
	struct span number = p->before_span, unit = p->tok.span;
	struct diag *diag;

	if ((p->before != TOKEN_INTEGER && p->before != TOKEN_REAL) || !parse_at(p, TOKEN_WORD) ||
	    !unit_of_duration(p->text + unit.start, unit.end - unit.start))
		return NULL;
	diag = parse_error(p, "bad-duration", (struct span){ number.start, unit.end },
			   "a time's number and unit are one word");
	diag_hint(p->diags, diag, "durations are written 10ms, 1.5s, or INTERVAL '10' SECOND");
	return diag;
}

struct diag *parse_foreign(struct parser *p)
{
	struct diag *diag;

	if (p->panic)
		return NULL;
	diag = parse_unclosed_text(p);
	if (!diag)
		diag = unit_apart(p);
	/* The word itself, or what was taken for a name: k FETCH FIRST, sum(k) OVER w. */
	for (u32 i = 0; !diag && i < ARRAY_SIZE(foreign_words); i++) {
		struct span span = parse_at_keyword(p, KW_NOT) ? parse_peek(p).span : p->tok.span;

		if (!is_word(p, span, foreign_words[i].word))
			span = p->before_span;
		if (!is_word(p, span, foreign_words[i].word))
			continue;
		diag = parse_error(p, foreign_words[i].tag ? foreign_words[i].tag : "other-dialect",
				   span, "%s", foreign_words[i].message);
		diag_hint(p->diags, diag, "%s", foreign_words[i].hint);
	}
	return diag;
}

bool parse_foreign_quantifier(struct parser *p)
{
	static const char *const words[] = { "ALL", "ANY", "SOME" };
	struct diag *diag;

	for (u32 i = 0; i < ARRAY_SIZE(words); i++) {
		if (p->before < TOKEN_EQ || p->before > TOKEN_GE || !parse_word_is(p, words[i]) ||
		    parse_peek(p).kind != TOKEN_OPEN)
			continue;
		diag = parse_error(p, "other-dialect", p->tok.span, "there is no %s (...)",
				   words[i]);
		diag_hint(
			p->diags, diag,
			"x > (SELECT max(y) ...) or x > (SELECT min(y) ...); x IN (SELECT y ...)");
		return true;
	}
	return false;
}

bool parse_foreign_group(struct parser *p)
{
	struct token next = parse_peek(p);
	struct diag *diag;

	if (!parse_word_is(p, "ALL") ||
	    !(next.kind == TOKEN_END || next.kind == TOKEN_SEMICOLON || next.kind == TOKEN_CLOSE ||
	      (next.kind == TOKEN_WORD && keyword_flags[next.keyword] & KEYWORD_CLAUSE)))
		return false;
	diag = parse_error(p, "other-dialect", p->tok.span, "there is no GROUP BY ALL");
	diag_hint(p->diags, diag, "name the keys, or give their numbers: GROUP BY 1, 2");
	return true;
}
