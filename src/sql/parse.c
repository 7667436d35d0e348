/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What all parsing rules stand on: the current token and accepting it, errors, and
 * recovery at the next clause.
 */
#include <string.h>
#include <strings.h>

#include "base/utf8.h"
#include "sql/parse.h"

void parse_stop(struct parser *p)
{
	p->panic = true;
	p->fatal = true;
	p->tok = (struct token){ .span = { p->text_bytes, p->text_bytes } };
}

/* Is there a clause in a text, as where it goes from a forgotten quote to the next? */
static bool has_clause(const char *at, const char *end)
{
	while (at < end) {
		size_t n = 0;
		enum keyword keyword;

		while (at + n < end && ((at[n] | 0x20) >= 'a' && (at[n] | 0x20) <= 'z'))
			n++;
		keyword = n ? keyword_find(at, n) : KW_NONE;
		if (keyword && keyword_flags[keyword] & KEYWORD_CLAUSE)
			return true;
		at += MAX(n, (size_t)1);
	}
	return false;
}

/* The text before `end` that lacks its closing quote, if the quotes of the query do not pair. */
static bool find_unclosed(const struct parser *p, u32 end, struct span *ret_span)
{
	struct token token = { 0 };
	bool is_found = false;

	do {
		token = lex(p->text, p->text_bytes, token.span.end);
		if (token.kind == TOKEN_TEXT && token.span.start < end && !is_found &&
		    has_clause(p->text + token.span.start, p->text + token.span.end)) {
			*ret_span = token.span;
			is_found = true;
		}
	} while (token.kind != TOKEN_END && token.problem != LEX_UNCLOSED_TEXT);
	return is_found && token.kind != TOKEN_END;
}

bool parse_unclosed_text(struct parser *p)
{
	struct span span;

	if (p->panic || !find_unclosed(p, p->tok.span.start + 1, &span))
		return false;
	parse_error(p, "unclosed-quote", span,
		    "this text goes on to the next quote" HINT "a closing ' is missing in it");
	parse_stop(p);
	return true;
}

/* What a mark that SQL has not was meant for. */
static const char *mark_hint(const struct parser *p)
{
	static const char *const marks[][2] = {
		/* longer ones first */
		{ "!~", "LIKE 'a%' and GLOB 'a*[0-9]' match patterns, NOT LIKE what does not" },
		{ "!", "write NOT, or != for \"is not equal\"" },
		{ "\\", "commands are the shell's, in what it reads; a statement ends with \";\"" },
		{ "^", "power(x, y); x << n is x times 2 to the n" },
		{ "{", "columns are selected one by one; -o json writes rows as objects" },
		{ ":", "a stream's path stands behind FROM and JOIN only" },
	};
	u32 at = p->tok.span.start;

	for (u32 i = 0; i < ARRAY_SIZE(marks); i++) {
		size_t n = strlen(marks[i][0]);

		if (n <= p->text_bytes - at && memcmp(p->text + at, marks[i][0], n) == 0)
			return marks[i][1];
	}
	return NULL;
}

void parse_problem(struct parser *p, enum lex_problem problem, struct span span)
{
	const struct lex_message *message = &lex_messages[problem];
	const char *hint = problem == LEX_BAD_MARK ? mark_hint(p) : message->hint;

	if (problem == LEX_BAD_BYTE)
		parse_report(p, message->tag, span, "%s (0x%02x)", message->message,
			     (unsigned char)p->text[span.start]);
	else
		parse_report(p, message->tag, span, "%s" HINT "%s", message->message,
			     hint ? hint : "");
}

static void bad_token(struct parser *p)
{
	const struct lex_message *message = &lex_messages[p->tok.problem];

	if (p->tok.problem == LEX_UNCLOSED_TEXT && parse_unclosed_text(p))
		return;
	parse_problem(p, p->tok.problem, p->tok.span);
	if (message->is_fatal) {
		parse_stop(p);
	} else if (!message->reads_as) {
		p->panic = true;
		p->error_parens = p->parens;
	} else {
		p->tok.kind = message->reads_as;
	}
}

static void take_parameter(struct parser *p)
{
	struct sql_parameter *value = parameter_read(p, &p->tok);
	const char *nearest;

	if (value) {
		value->is_used = true;
	} else if (p->parameters && p->parameters->is_open) {
		p->error_parens = p->parens;
		p->panic = true;
	} else {
		nearest = parameter_nearest(p, &p->tok);
		parse_error(p, "unbound-parameter", p->tok.span,
			    "this parameter has no value" HINT "%s%s",
			    nearest ? "there is a value for :"
				    : "--set NAME=VALUE gives it one, in a program ebql_bind_int() "
				      "and its like",
			    nearest ?: "");
	}
}

static void take(struct parser *p, struct token next)
{
	if (p->diags->n_errors >= DIAG_MAX) {
		parse_stop(p);
		return;
	}
	p->before = p->tok;
	if (p->tok.kind == TOKEN_OPEN)
		p->parens++;
	else if (p->tok.kind == TOKEN_CLOSE && p->parens)
		p->parens--;
	p->tok = next;
	if (p->tok.kind == TOKEN_BAD)
		bad_token(p);
	else if (p->tok.kind == TOKEN_PARAMETER && !p->panic)
		take_parameter(p);
}

void parse_next(struct parser *p)
{
	if (!p->fatal)
		take(p, lex(p->text, p->text_bytes, p->tok.span.end));
}

void parse_next_source(struct parser *p)
{
	if (!p->fatal)
		take(p, lex_source(p->text, p->text_bytes, p->tok.span.end));
}

struct token parse_peek(const struct parser *p)
{
	struct token token = lex(p->text, p->text_bytes, p->tok.span.end);

	if (token.kind == TOKEN_PARAMETER)
		parameter_read(p, &token);
	return token;
}

bool parse_at(const struct parser *p, enum token_kind kind)
{
	return !p->panic && p->tok.kind == kind;
}

bool parse_at_keyword(const struct parser *p, enum keyword keyword)
{
	return parse_at(p, TOKEN_WORD) && p->tok.keyword == keyword;
}

bool parse_word_is(const struct parser *p, const char *word)
{
	u32 n = p->tok.span.end - p->tok.span.start;

	return parse_at(p, TOKEN_WORD) && strlen(word) == n &&
	       !strncasecmp(word, p->text + p->tok.span.start, n);
}

bool parse_accept(struct parser *p, enum token_kind kind)
{
	if (!parse_at(p, kind))
		return false;
	parse_next(p);
	return true;
}

bool parse_accept_keyword(struct parser *p, enum keyword keyword)
{
	if (!parse_at_keyword(p, keyword))
		return false;
	parse_next(p);
	return true;
}

bool parse_accept_word(struct parser *p, const char *word)
{
	if (!parse_word_is(p, word))
		return false;
	parse_next(p);
	return true;
}

bool parse_enter(struct parser *p, u32 levels)
{

	if (p->fatal)
		return false;
	p->depth += levels;
	if (p->depth <= SQL_DEPTH_MAX)
		return true;
	p->depth -= levels;
	parse_error(p, "too-deep", p->tok.span,
		    "this is nested more than %u levels deep" HINT
		    "take out parentheses, or name parts in WITH name AS (...)",
		    SQL_DEPTH_MAX);
	parse_stop(p);
	return false;
}

void parse_leave(struct parser *p, u32 levels)
{
	p->depth -= levels;
}

void parse_complain(struct parser *p, bool is_panic, const char *tag, struct span span,
		    const char *format, ...)
{
	va_list args;

	if (p->panic)
		return;
	if (p->diags->n_errors < DIAG_MAX) {
		va_start(args, format);
		diag_vadd(p->diags, DIAG_ERROR, tag, span, format, args);
		va_end(args);
	}
	if (is_panic) {
		p->error_parens = p->parens;
		p->panic = true;
	}
}

const char *parse_found(const struct parser *p)
{
	u32 n = p->tok.span.end - p->tok.span.start, shown = 0;
	const char *at = p->text + p->tok.span.start;

	if (p->tok.kind == TOKEN_END)
		return "the end of the query";
	while (shown < n && shown < 32) {
		size_t length = utf8_length(at + shown, n - shown);

		shown += length ? (u32)length : 1;
	}
	if (p->tok.kind == TOKEN_NAME || p->tok.kind == TOKEN_TEXT)
		return arena_printf(p->arena, "%.*s%s", (int)shown, at, shown < n ? "..." : "");
	return arena_printf(p->arena, "\"%.*s%s\"", (int)shown, at, shown < n ? "..." : "");
}

static bool is_clause(const struct token *token)
{
	return token->kind == TOKEN_WORD && keyword_flags[token->keyword] & KEYWORD_CLAUSE;
}

bool parse_at_clause(const struct parser *p)
{
	return is_clause(&p->tok);
}

bool parse_ends_list(const struct token *token)
{
	return token->kind == TOKEN_END || token->kind == TOKEN_SEMICOLON ||
	       token->kind == TOKEN_CLOSE || is_clause(token);
}

bool parse_at_end(const struct parser *p)
{
	return p->tok.kind == TOKEN_END || p->tok.kind == TOKEN_SEMICOLON;
}

/* Clause words that are column names as well begin a clause only with what follows them. */
static bool is_recovery_point(const struct parser *p)
{
	if (!parse_at_clause(p))
		return false;
	if (p->tok.keyword == KW_GROUP || p->tok.keyword == KW_ORDER)
		return parse_peek(p).keyword == KW_BY;
	return true;
}

void parse_recover(struct parser *p, u32 base_parens)
{
	if (p->fatal)
		return;
	if (p->error_parens == UINT32_MAX) {
		p->parens = base_parens;
		p->error_parens = base_parens;
	}
	/* Silent: a second error within what is skipped would be noise. */
	p->panic = true;
	while (!parse_at_end(p)) {
		if (p->tok.kind == TOKEN_CLOSE && p->parens == base_parens && base_parens)
			break;
		if (p->parens <= p->error_parens && is_recovery_point(p))
			break;
		parse_next(p);
		if (p->fatal)
			return;
	}
	p->parens = base_parens;
	p->panic = false;
}

struct span parse_span(const struct parser *p, u32 start)
{
	return (struct span){ start, MAX(p->before.span.end, start) };
}

enum keyword parse_misspelt(const struct parser *p, const enum keyword *among, u32 n)
{
	u32 n_word = p->tok.span.end - p->tok.span.start, i;
	struct suggest suggest;
	char word[16];

	/* A path is only looked at after FROM; keywords have no quotes. */
	if (p->panic || p->tok.kind != TOKEN_WORD || n_word >= sizeof(word) || n_word < 3)
		return KW_NONE;
	if (p->tok.keyword && (keyword_flags[p->tok.keyword] & (KEYWORD_STOP | KEYWORD_HARD)))
		return KW_NONE;
	memcpy(word, p->text + p->tok.span.start, n_word);
	word[n_word] = '\0';
	suggest_init(&suggest, word);
	for (i = 0; i < n; i++)
		suggest_offer(&suggest, keyword_names[among[i]]);
	if (!suggest_best(&suggest))
		return KW_NONE;
	return keyword_find(suggest.best, strlen(suggest.best));
}

enum keyword parse_misspelt_clause(const struct parser *p)
{
	static const enum keyword clauses[] = { KW_FROM,      KW_WHERE, KW_GROUP, KW_WINDOW,
						KW_HAVING,    KW_ORDER, KW_LIMIT, KW_UNION,
						KW_INTERSECT, KW_EXCEPT };

	return parse_misspelt(p, clauses, ARRAY_SIZE(clauses));
}

const char *parse_text(const struct parser *p, const struct token *token, u32 *ret_bytes)
{
	u32 n = token->span.end - token->span.start, i, length = 0;
	const char *at = p->text + token->span.start;
	char *copy;

	if (token->parameter && token->kind != TOKEN_WORD)
		return parameter_text(p, token->parameter, ret_bytes);
	copy = arena_alloc(p->arena, (size_t)n + 1);
	if (token->kind != TOKEN_NAME && token->kind != TOKEN_TEXT) {
		memcpy(copy, at, n);
		length = n;
	} else {
		for (i = 1; i + 1 < n; i++) {
			copy[length++] = at[i];
			i += at[i] == at[0];
		}
	}
	copy[length] = '\0';
	if (ret_bytes)
		*ret_bytes = length;
	return copy;
}

bool parse_at_name(const struct parser *p)
{
	return parse_at(p, TOKEN_WORD) || parse_at(p, TOKEN_NAME);
}

bool parse_at_operand(const struct parser *p)
{
	enum keyword keyword = (enum keyword)p->tok.keyword;

	if (p->panic)
		return false;
	if (p->tok.kind != TOKEN_WORD)
		return p->tok.kind == TOKEN_OPEN || p->tok.kind == TOKEN_PARAMETER ||
		       (p->tok.kind >= TOKEN_NAME && p->tok.kind <= TOKEN_DURATION);
	return keyword == KW_CASE || keyword == KW_NULL || keyword == KW_TRUE ||
	       keyword == KW_FALSE || !(keyword_flags[keyword] & (KEYWORD_STOP | KEYWORD_HARD));
}
