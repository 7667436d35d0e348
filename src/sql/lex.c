/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Bytes -> tokens.  Lexing is a function of the text and a position alone, so
 * the parser looks ahead by lexing again, and asks for a stream path where the
 * grammar has one.  Never fails: a bad token says what is wrong with it.
 */
#include <string.h>
#include <strings.h>

#include "base/utf8.h"
#include "sql/token.h"

const char *const keyword_names[KW_N] = { [KW_NONE] = "",
#define X(name, flags) [KW_##name] = #name,
					  KEYWORDS(X)
#undef X
};

const u8 keyword_flags[KW_N] = {
#define X(name, flags) [KW_##name] = flags,
	KEYWORDS(X)
#undef X
};

const struct lex_message lex_messages[LEX_PROBLEM_N] = {
	[LEX_BAD_BYTE] = { "bad-byte", "this byte cannot stand in a query", NULL, true, 0 },
	[LEX_BAD_MARK] = { "bad-byte", "this character means nothing here", NULL, false, 0 },
	[LEX_NUL] = { "bad-byte", "a query cannot hold a NUL byte", NULL, true, 0 },
	[LEX_BAD_QUOTE] = { "bad-byte", "a typographic quote is no quote of SQL",
			    "text stands in '...', names in \"...\"", true, 0 },
	[LEX_BAD_SPACE] = { "bad-byte", "this is a no-break space",
			    "type an ordinary space in its place", true, 0 },
	[LEX_UNCLOSED_TEXT] = { "unclosed-quote", "this text has no closing quote",
				"end it with '; a quote inside text is written ''", true, 0 },
	[LEX_UNCLOSED_NAME] = { "unclosed-quote", "this quoted name has no closing quote",
				"end it with the quote it began with", true, 0 },
	[LEX_UNCLOSED_COMMENT] = { "unclosed-comment", "this comment has no end",
				   "end it with */; in a stream path write : for /", true, 0 },
	[LEX_EMPTY_NAME] = { "syntax-error", "a quoted name cannot be empty",
			     "text stands in '...'", false, TOKEN_NAME },
	[LEX_AND_AND] = { "syntax-error", "&& is no operator of SQL",
			  "write AND; & is the bitwise operator", false, TOKEN_WORD },
	[LEX_BAD_NUMBER] = { "bad-number", "this is no number", NULL, false, TOKEN_INTEGER },
	[LEX_BAD_HEX] = { "bad-number", "this is no hexadecimal number",
			  "0x is followed by the digits 0-9 a-f", false, TOKEN_INTEGER },
	[LEX_TOO_LARGE] = { "number-too-large", "this number is too large",
			    "the largest integer is 18446744073709551615", false, TOKEN_INTEGER },
	[LEX_DURATION_LARGE] = { "number-too-large",
				 "this duration does not fit 64 bits of nanoseconds",
				 "the longest duration is 584 years", false, TOKEN_DURATION },
	[LEX_REAL_LARGE] = { "number-too-large", "this number is too large",
			     "the largest real number is about 1.8e308", false, TOKEN_REAL },
	[LEX_BAD_UNIT] = { "bad-duration", "this number has an unknown unit",
			   "durations end in ns us ms s m h d, sizes in KiB MiB GiB TiB", false,
			   TOKEN_INTEGER },
	[LEX_BAD_SIZE_UNIT] = { "bad-number", "this size has an ambiguous unit",
				"sizes are written 4KiB, 1MiB, 1GiB (powers of 1024)", false,
				TOKEN_INTEGER },
	[LEX_DURATION_FRACTION] = { "bad-duration",
				    "this duration is not a whole number of nanoseconds", NULL,
				    false, TOKEN_DURATION },
	[LEX_SIZE_FRACTION] = { "bad-number", "this size is not a whole number of bytes", NULL,
				false, TOKEN_INTEGER },
};

enum keyword keyword_find(const char *word, size_t n)
{
	size_t low = 1, high = KW_N;

	while (low < high) {
		size_t middle = (low + high) / 2;
		int order = strncasecmp(word, keyword_names[middle], n);

		if (!order)
			order = keyword_names[middle][n] ? -1 : 0;
		if (!order)
			return (enum keyword)middle;
		if (order < 0)
			high = middle;
		else
			low = middle + 1;
	}
	return KW_NONE;
}

static bool is_space(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

/* Skips blanks and comments; false at a comment without an end, where *at then stands. */
static bool skip_blank(const char *text, u32 n, u32 *at)
{
	u32 i = *at;

	if (i == 0 && n >= 3 && !memcmp(text, "\xEF\xBB\xBF", 3))
		i = 3;
	/* The first line of a script names who runs it. */
	if (i == 0 && n >= 2 && text[0] == '#' && text[1] == '!')
		while (i < n && text[i] != '\n')
			i++;
	for (;;) {
		while (i < n && is_space(text[i]))
			i++;
		*at = i;
		if (i + 1 < n && text[i] == '-' && text[i + 1] == '-') {
			while (i < n && text[i] != '\n')
				i++;
		} else if (i + 1 < n && text[i] == '/' && text[i + 1] == '*') {
			const char *end = memmem(text + i + 2, n - i - 2, "*/", 2);

			if (!end)
				return false;
			i = (u32)(end - text) + 2;
		} else {
			return true;
		}
	}
}

static void bad(struct token *token, enum lex_problem problem, u32 start, u32 end)
{
	token->kind = TOKEN_BAD;
	token->problem = (u8)problem;
	token->span = (struct span){ start, end };
}

/* Text or a quoted name; a doubled quote stands for one. */
static void lex_quoted(const char *text, u32 n, u32 start, struct token *token)
{
	char quote = text[start];
	u32 i = start + 1;

	for (;;) {
		if (i >= n) {
			/* One line shows the place; the rest of the query would be noise. */
			const char *line = memchr(text + start, '\n', n - start);

			bad(token, quote == '\'' ? LEX_UNCLOSED_TEXT : LEX_UNCLOSED_NAME, start,
			    line ? (u32)(line - text) : n);
			return;
		}
		if (!text[i]) {
			bad(token, LEX_NUL, i, i + 1);
			return;
		}
		if (text[i] == quote) {
			if (i + 1 >= n || text[i + 1] != quote)
				break;
			i++;
		}
		i++;
	}
	token->kind = quote == '\'' ? TOKEN_TEXT : TOKEN_NAME;
	token->span = (struct span){ start, i + 1 };
	if (token->kind == TOKEN_NAME && i == start + 1)
		bad(token, LEX_EMPTY_NAME, start, i + 1);
}

/* Characters beyond ASCII that editors and web pages put where SQL has others. */
static enum lex_problem impostor(const char *at, size_t length)
{
	if (length == 3 && !memcmp(at, "\xE2\x80", 2) &&
	    (at[2] == '\x98' || at[2] == '\x99' || at[2] == '\x9C' || at[2] == '\x9D'))
		return LEX_BAD_QUOTE;
	if (length == 2 && !memcmp(at, "\xC2\xA0", 2))
		return LEX_BAD_SPACE;
	return LEX_FINE;
}

static void lex_word(const char *text, u32 n, u32 start, struct token *token)
{
	u32 i = start;

	while (i < n && lex_is_word((unsigned char)text[i])) {
		size_t length = utf8_length(text + i, n - i);
		enum lex_problem problem = length ? impostor(text + i, length) : LEX_BAD_BYTE;

		/* A word before it is still a word; the next token then is the bad one. */
		if (problem != LEX_FINE) {
			if (i > start)
				break;
			bad(token, problem, i, i + (u32)MAX(length, (size_t)1));
			return;
		}
		i += (u32)length;
	}
	token->kind = TOKEN_WORD;
	token->span = (struct span){ start, i };
	token->keyword = (u8)keyword_find(text + start, i - start);
}

static const struct {
	const char *text; /* longer ones first */
	u8 kind;
} symbols[] = {
	{ "&&", TOKEN_BAD },	     { "||", TOKEN_CONCAT },
	{ "::", TOKEN_CAST },	     { "<<", TOKEN_SHIFT_LEFT },
	{ ">>", TOKEN_SHIFT_RIGHT }, { "<=", TOKEN_LE },
	{ ">=", TOKEN_GE },	     { "<>", TOKEN_NE },
	{ "!=", TOKEN_NE },	     { "==", TOKEN_EQ },
	{ "=", TOKEN_EQ },	     { "<", TOKEN_LT },
	{ ">", TOKEN_GT },	     { ",", TOKEN_COMMA },
	{ ".", TOKEN_DOT },	     { ";", TOKEN_SEMICOLON },
	{ "(", TOKEN_OPEN },	     { ")", TOKEN_CLOSE },
	{ "[", TOKEN_OPEN_BRACKET }, { "]", TOKEN_CLOSE_BRACKET },
	{ "+", TOKEN_PLUS },	     { "-", TOKEN_MINUS },
	{ "*", TOKEN_STAR },	     { "/", TOKEN_SLASH },
	{ "%", TOKEN_PERCENT },	     { "&", TOKEN_AND },
	{ "|", TOKEN_OR },	     { "~", TOKEN_TILDE },
};

/* :name, but not behind a word: that is a path where none can stand; or $1. */
static bool is_parameter(const char *text, u32 n, u32 start)
{
	if (text[start] == '$')
		return start + 1 < n && text[start + 1] >= '1' && text[start + 1] <= '9';
	return text[start] == ':' && start + 1 < n &&
	       lex_is_word_start((unsigned char)text[start + 1]) &&
	       !(start &&
		 (lex_is_word((unsigned char)text[start - 1]) || strchr("\"`:", text[start - 1])));
}

static void lex_symbol(const char *text, u32 n, u32 start, struct token *token)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(symbols); i++) {
		u32 length = (u32)strlen(symbols[i].text);

		if (length > n - start || memcmp(text + start, symbols[i].text, length))
			continue;
		token->kind = symbols[i].kind;
		token->span = (struct span){ start, start + length };
		if (token->kind == TOKEN_BAD) {
			bad(token, LEX_AND_AND, start, start + length);
			token->keyword = KW_AND;
		}
		return;
	}
	if (is_parameter(text, n, start)) {
		lex_word(text, n, start + 1, token);
		token->span.start = start;
		token->keyword = KW_NONE;
		if (token->kind == TOKEN_WORD)
			token->kind = TOKEN_PARAMETER;
		return;
	}
	bad(token, text[start] > ' ' && text[start] < 0x7F ? LEX_BAD_MARK : LEX_BAD_BYTE, start,
	    start + 1);
	if (!text[start])
		token->problem = LEX_NUL;
}

struct token lex(const char *text, u32 n, u32 at)
{
	struct token token = { 0 };
	unsigned char c;

	if (!skip_blank(text, n, &at)) {
		bad(&token, LEX_UNCLOSED_COMMENT, at, at + 2);
		return token;
	}
	token.span = (struct span){ at, at };
	if (at >= n)
		return token;
	c = (unsigned char)text[at];
	if (c == '\'' || c == '"' || c == '`')
		lex_quoted(text, n, at, &token);
	else if (lex_is_word_start(c))
		lex_word(text, n, at, &token);
	else if ((c >= '0' && c <= '9') ||
		 (c == '.' && at + 1 < n && text[at + 1] >= '0' && text[at + 1] <= '9'))
		lex_number(text, n, at, &token);
	else
		lex_symbol(text, n, at, &token);
	return token;
}

/* Bytes of the character at i when it can stand in an unquoted part of a path, or 0. */
static u32 path_length(const char *text, u32 n, u32 i)
{
	char c = text[i], next = i + 1 < n ? text[i + 1] : '\0';

	if ((c == '-' && next == '-') || (c == '/' && next == '*'))
		return 0;
	if (lex_is_word((unsigned char)c)) {
		size_t length = utf8_length(text + i, n - i);

		return length && impostor(text + i, length) == LEX_FINE ? (u32)length : 0;
	}
	return c && strchr(".-+*?@:/", c) ? 1 : 0;
}

/* VALUES (...) */
static bool is_values(const char *text, u32 n, const struct span *word)
{
	return word->end - word->start == 6 && strncasecmp(text + word->start, "VALUES", 6) == 0 &&
	       lex(text, n, word->end).kind == TOKEN_OPEN;
}

struct token lex_source(const char *text, u32 n, u32 at)
{
	struct token token = { 0 };
	bool is_word = true;
	u32 i;

	if (!skip_blank(text, n, &at) || at >= n || text[at] == '\'' || text[at] == '(' ||
	    is_parameter(text, n, at) ||
	    (text[at] != '"' && text[at] != '`' && !path_length(text, n, at)))
		return lex(text, n, at);
	for (i = at; i < n;) {
		bool is_start = i == at || text[i - 1] == ':' || text[i - 1] == '.';

		if (is_start && (text[i] == '"' || text[i] == '`')) {
			lex_quoted(text, n, i, &token);
			if (token.kind == TOKEN_BAD)
				return token;
			i = token.span.end;
			is_word = false;
			/* A quoted part is a whole part; behind a database's name is a table's. */
			if (i >= n || (text[i] != ':' && text[i] != '.'))
				break;
		} else {
			u32 length = path_length(text, n, i);

			if (!length)
				break;
			is_word = is_word && lex_is_word((unsigned char)text[i]);
			i += length;
		}
	}
	token = (struct token){ .kind = TOKEN_PATH, .span = { at, i } };
	if (is_word)
		token.keyword = (u8)keyword_find(text + at, i - at);
	if (keyword_flags[token.keyword] & KEYWORD_HARD || is_values(text, n, &token.span))
		token.kind = TOKEN_WORD;
	return token;
}
