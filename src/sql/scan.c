/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Text that is still being typed -> where its first statement ends, what may stand at
 * its end, and which sources it names.  Reads tokens only: the text need not parse.
 */
#include <string.h>

#include "sql/sql.h"
#include "sql/token.h"

const char *sql_keyword(u32 i)
{
	return i < KW_N - 1 ? keyword_names[i + 1] : NULL;
}

/* A walk over the tokens of the first statement. */
struct scan {
	const char *text;
	u32 at, end;
	struct token token, before;
};

static struct scan scan_open(const char *text, size_t n)
{
	return (struct scan){ .text = text, .end = (u32)MIN(n, (size_t)UINT32_MAX) };
}

static bool is_source_next(const struct token *before)
{
	return before->kind == TOKEN_WORD &&
	       (before->keyword == KW_FROM || before->keyword == KW_JOIN ||
		before->keyword == KW_DESCRIBE);
}

/* The next token; false behind the last.  Where a source may stand it is one. */
static bool scan_next(struct scan *scan)
{
	scan->before = scan->token;
	scan->token = is_source_next(&scan->before) ? lex_source(scan->text, scan->end, scan->at)
						    : lex(scan->text, scan->end, scan->at);
	scan->at = MAX(scan->token.span.end, scan->at + 1);
	return scan->token.kind != TOKEN_END;
}

/* Goes on to the end of the text. */
static bool is_unclosed(const struct token *token)
{
	return token->kind == TOKEN_BAD &&
	       (token->problem == LEX_UNCLOSED_TEXT || token->problem == LEX_UNCLOSED_NAME ||
		token->problem == LEX_UNCLOSED_COMMENT);
}

static bool is_mark(const struct scan *scan, char mark)
{
	return scan->token.kind == TOKEN_BAD && scan->text[scan->token.span.start] == mark;
}

/* Nothing but blanks up to the end of the line? */
static bool ends_line(const struct scan *scan)
{
	u32 at = scan->at;

	while (at < scan->end && strchr(" \t\r", scan->text[at]))
		at++;
	return at == scan->end || scan->text[at] == '\n';
}

size_t sql_statement_bytes(const char *text, size_t n, bool *ret_is_blank)
{
	struct scan scan = scan_open(text, n);
	bool is_ours = true; /* bpftrace's PROBE { a; b; } is another's, and one text */
	u32 depth = 0;

	*ret_is_blank = true;
	while (scan_next(&scan)) {
		if (scan.token.kind == TOKEN_SEMICOLON && !depth)
			return scan.token.span.end;
		if (*ret_is_blank)
			is_ours = scan.token.kind != TOKEN_WORD || scan.token.keyword;
		*ret_is_blank = false;
		if (is_unclosed(&scan.token))
			break;
		depth += !is_ours && is_mark(&scan, '{');
		if (depth && is_mark(&scan, '}') && --depth == 0 && ends_line(&scan))
			return scan.token.span.end;
	}
	return 0;
}

size_t sql_command_at(const char *text, size_t n)
{
	struct scan scan = scan_open(text, n);

	while (scan_next(&scan) && !is_unclosed(&scan.token))
		if (is_mark(&scan, '\\'))
			return scan.token.span.start;
	return n;
}

void sql_each_source(const char *text, size_t n,
		     void (*visit)(void *context, const char *source, size_t n), void *context)
{
	struct scan scan = scan_open(text, n);

	while (scan_next(&scan)) {
		struct span span = scan.token.span;

		if (scan.token.kind == TOKEN_SEMICOLON || is_unclosed(&scan.token))
			return;
		if (is_source_next(&scan.before) &&
		    (scan.token.kind == TOKEN_PATH || scan.token.kind == TOKEN_TEXT))
			visit(context, text + span.start, span.end - span.start);
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
	if (is_source_next(before))
		return SQL_PLACE_SOURCE;
	return before->keyword == KW_SET ? SQL_PLACE_OPTION : SQL_PLACE_EXPRESSION;
}

enum sql_place sql_place_at_end(const char *text, size_t n, size_t *ret_word_start)
{
	struct scan scan = scan_open(text, n);

	*ret_word_start = scan.end;
	while (scan_next(&scan)) {
		const struct token *token = &scan.token;

		if (is_unclosed(token))
			return SQL_PLACE_NONE;
		if (token->span.end < scan.end)
			continue;
		if (token->kind == TOKEN_WORD || token->kind == TOKEN_PATH) {
			*ret_word_start = token->span.start;
			return place_behind(&scan.before);
		}
		if ((token->kind >= TOKEN_TEXT && token->kind <= TOKEN_DURATION) ||
		    token->kind == TOKEN_PARAMETER)
			return SQL_PLACE_NONE;
	}
	return place_behind(&scan.before);
}
