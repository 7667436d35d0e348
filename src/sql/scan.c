/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Text that is still being typed -> where its first statement ends, what may stand at
 * its end, and which sources it names.  Reads tokens only: the text need not parse.
 */
#include "sql/sql.h"
#include "sql/token.h"

const char *sql_keyword(u32 i)
{
	return i < KW_N - 1 ? keyword_names[i + 1] : NULL;
}

static bool names_source(enum keyword keyword)
{
	return keyword == KW_FROM || keyword == KW_JOIN || keyword == KW_DESCRIBE;
}

/* The next token behind *at, which then stands behind it; a source where one may stand. */
static struct token next(const char *text, u32 n, enum keyword before, u32 *at)
{
	struct token token = names_source(before) ? lex_source(text, n, *at) : lex(text, n, *at);

	*at = token.kind == TOKEN_END ? n : MAX(token.span.end, *at + 1);
	return token;
}

/* Goes on to the end of the text. */
static bool is_unclosed(const struct token *token)
{
	return token->kind == TOKEN_BAD &&
	       (token->problem == LEX_UNCLOSED_TEXT || token->problem == LEX_UNCLOSED_NAME ||
		token->problem == LEX_UNCLOSED_COMMENT);
}

size_t sql_statement_bytes(const char *text, size_t n, bool *ret_is_blank)
{
	enum keyword before = KW_NONE;
	u32 at = 0, end = (u32)MIN(n, (size_t)UINT32_MAX);

	*ret_is_blank = true;
	while (at < end) {
		struct token token = next(text, end, before, &at);

		if (token.kind == TOKEN_SEMICOLON)
			return token.span.end;
		if (token.kind == TOKEN_END)
			break;
		*ret_is_blank = false;
		if (is_unclosed(&token))
			break;
		before = token.kind == TOKEN_WORD ? token.keyword : KW_NONE;
	}
	return 0;
}

void sql_each_source(const char *text, size_t n,
		     void (*visit)(void *context, const char *source, size_t n), void *context)
{
	enum keyword before = KW_NONE;
	u32 at = 0, end = (u32)MIN(n, (size_t)UINT32_MAX);

	while (at < end) {
		struct token token = next(text, end, before, &at);

		if (token.kind == TOKEN_SEMICOLON || token.kind == TOKEN_END || is_unclosed(&token))
			return;
		if (names_source(before) && (token.kind == TOKEN_PATH || token.kind == TOKEN_TEXT))
			visit(context, text + token.span.start, token.span.end - token.span.start);
		before = token.kind == TOKEN_WORD ? token.keyword : KW_NONE;
	}
}

static enum sql_place place_behind(const struct token *before)
{
	if (before->kind == TOKEN_END || before->kind == TOKEN_SEMICOLON)
		return SQL_PLACE_START;
	if (before->kind == TOKEN_DOT)
		return SQL_PLACE_MEMBER;
	if (before->kind != TOKEN_WORD)
		return SQL_PLACE_EXPRESSION;
	if (names_source(before->keyword))
		return SQL_PLACE_SOURCE;
	return before->keyword == KW_SET ? SQL_PLACE_OPTION : SQL_PLACE_EXPRESSION;
}

enum sql_place sql_place_at_end(const char *text, size_t n, size_t *ret_word_start)
{
	struct token before = { .kind = TOKEN_END };
	u32 at = 0, end = (u32)MIN(n, (size_t)UINT32_MAX);

	*ret_word_start = end;
	while (at < end) {
		struct token token =
			next(text, end, before.kind == TOKEN_WORD ? before.keyword : KW_NONE, &at);

		if (token.kind == TOKEN_END)
			break;
		if (is_unclosed(&token))
			return SQL_PLACE_NONE;
		if (token.span.end == end &&
		    (token.kind == TOKEN_WORD || token.kind == TOKEN_PATH)) {
			*ret_word_start = token.span.start;
			return place_behind(&before);
		}
		if (token.span.end == end &&
		    (token.kind == TOKEN_INTEGER || token.kind == TOKEN_REAL ||
		     token.kind == TOKEN_DURATION || token.kind == TOKEN_TEXT))
			return SQL_PLACE_NONE;
		before = token;
	}
	return place_behind(&before);
}
