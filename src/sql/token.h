/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Tokens: what the lexer makes of the bytes of a query.  Keywords are soft: a
 * word carries the keyword it could be, and the parser decides by its place.
 */
#ifndef EBQL_SQL_TOKEN_H
#define EBQL_SQL_TOKEN_H

#include "base/diag.h"

struct sql_parameter;

enum token_kind {
	TOKEN_END,
	TOKEN_BAD,
	TOKEN_WORD,	/* keyword or bare name */
	TOKEN_NAME,	/* "quoted" or `quoted` */
	TOKEN_TEXT,	/* 'text' */
	TOKEN_INTEGER,	/* integer */
	TOKEN_REAL,	/* real */
	TOKEN_DURATION, /* integer: ns */
	TOKEN_PATH,	/* a stream; only after FROM, JOIN, DESCRIBE */
	TOKEN_COMMA,
	TOKEN_DOT,
	TOKEN_SEMICOLON,
	TOKEN_OPEN,
	TOKEN_CLOSE,
	TOKEN_OPEN_BRACKET,
	TOKEN_CLOSE_BRACKET,
	TOKEN_PLUS,
	TOKEN_MINUS,
	TOKEN_STAR,
	TOKEN_SLASH,
	TOKEN_PERCENT,
	TOKEN_AND,
	TOKEN_OR,
	TOKEN_TILDE,
	TOKEN_SHIFT_LEFT,
	TOKEN_SHIFT_RIGHT,
	TOKEN_CONCAT,
	TOKEN_CAST, /* :: */
	TOKEN_EQ,
	TOKEN_NE,
	TOKEN_LT,
	TOKEN_LE,
	TOKEN_GT,
	TOKEN_GE,
	TOKEN_PARAMETER, /* :name without a value, or with one below zero */
	TOKEN_N
};

/*
 * HARD: cannot be a bare name in an expression.  STOP: cannot be an alias without AS.
 * CLAUSE: begins a clause of SELECT, so the parser recovers there.  QUOTE: read as
 * something else before a "(" or a literal.  The printer quotes names that have any of these.
 */
#define KEYWORD_HARD   1
#define KEYWORD_STOP   2
#define KEYWORD_CLAUSE 4
#define KEYWORD_QUOTE  8

#define KEYWORDS(X)                                                                                \
	X(ADVANCE, 0)                                                                              \
	X(ANALYZE, 0)                                                                              \
	X(AND, KEYWORD_HARD | KEYWORD_STOP)                                                        \
	X(AS, KEYWORD_HARD | KEYWORD_STOP)                                                         \
	X(ASC, 0)                                                                                  \
	X(ASOF, KEYWORD_STOP)                                                                      \
	X(BETWEEN, KEYWORD_HARD | KEYWORD_STOP)                                                    \
	X(BY, KEYWORD_HARD | KEYWORD_STOP)                                                         \
	X(CASE, KEYWORD_HARD | KEYWORD_STOP)                                                       \
	X(CAST, KEYWORD_QUOTE)                                                                     \
	X(COUNT, 0)                                                                                \
	X(CREATE, 0)                                                                               \
	X(CROSS, KEYWORD_STOP)                                                                     \
	X(DESC, 0)                                                                                 \
	X(DESCRIBE, 0)                                                                             \
	X(DISTINCT, KEYWORD_HARD | KEYWORD_STOP)                                                   \
	X(DROP, 0)                                                                                 \
	X(ELSE, KEYWORD_HARD | KEYWORD_STOP)                                                       \
	X(END, KEYWORD_STOP)                                                                       \
	X(ESCAPE, KEYWORD_STOP)                                                                    \
	X(EXCEPT, KEYWORD_HARD | KEYWORD_STOP | KEYWORD_CLAUSE)                                    \
	X(EXISTS, KEYWORD_QUOTE)                                                                   \
	X(EXPLAIN, 0)                                                                              \
	X(FALSE, KEYWORD_HARD | KEYWORD_STOP)                                                      \
	X(FETCH, KEYWORD_STOP | KEYWORD_CLAUSE)                                                    \
	X(FILTER, 0)                                                                               \
	X(FIRST, 0)                                                                                \
	X(FROM, KEYWORD_HARD | KEYWORD_STOP | KEYWORD_CLAUSE)                                      \
	X(FULL, KEYWORD_STOP)                                                                      \
	X(GAP, 0)                                                                                  \
	X(GLOB, KEYWORD_STOP)                                                                      \
	X(GROUP, KEYWORD_STOP | KEYWORD_CLAUSE)                                                    \
	X(HAVING, KEYWORD_HARD | KEYWORD_STOP | KEYWORD_CLAUSE)                                    \
	X(HOPPING, 0)                                                                              \
	X(ILIKE, KEYWORD_STOP)                                                                     \
	X(IN, KEYWORD_HARD | KEYWORD_STOP)                                                         \
	X(INNER, KEYWORD_STOP)                                                                     \
	X(INTERSECT, KEYWORD_HARD | KEYWORD_STOP | KEYWORD_CLAUSE)                                 \
	X(INTERVAL, KEYWORD_QUOTE)                                                                 \
	X(IS, KEYWORD_HARD | KEYWORD_STOP)                                                         \
	X(ISNULL, KEYWORD_STOP)                                                                    \
	X(JOIN, KEYWORD_HARD | KEYWORD_STOP)                                                       \
	X(LAST, 0)                                                                                 \
	X(LEFT, KEYWORD_STOP)                                                                      \
	X(LIKE, KEYWORD_HARD | KEYWORD_STOP)                                                       \
	X(LIMIT, KEYWORD_STOP | KEYWORD_CLAUSE)                                                    \
	X(NATURAL, KEYWORD_STOP)                                                                   \
	X(NOT, KEYWORD_HARD | KEYWORD_STOP)                                                        \
	X(NOTNULL, KEYWORD_STOP)                                                                   \
	X(NULL, KEYWORD_HARD | KEYWORD_STOP)                                                       \
	X(NULLS, 0)                                                                                \
	X(OFFSET, KEYWORD_STOP | KEYWORD_CLAUSE)                                                   \
	X(ON, KEYWORD_HARD | KEYWORD_STOP)                                                         \
	X(OR, KEYWORD_HARD | KEYWORD_STOP)                                                         \
	X(ORDER, KEYWORD_STOP | KEYWORD_CLAUSE)                                                    \
	X(OUTER, 0)                                                                                \
	X(OVER, 0)                                                                                 \
	X(PAIR, KEYWORD_STOP)                                                                      \
	X(PARTITION, KEYWORD_QUOTE)                                                                \
	X(REPLACE, 0)                                                                              \
	X(RIGHT, KEYWORD_STOP)                                                                     \
	X(SELECT, KEYWORD_HARD | KEYWORD_STOP)                                                     \
	X(SESSION, 0)                                                                              \
	X(SET, 0)                                                                                  \
	X(SHOW, 0)                                                                                 \
	X(SIZE, 0)                                                                                 \
	X(STREAMS, 0)                                                                              \
	X(THEN, KEYWORD_HARD | KEYWORD_STOP)                                                       \
	X(TIME, 0)                                                                                 \
	X(TRUE, KEYWORD_HARD | KEYWORD_STOP)                                                       \
	X(TUMBLING, 0)                                                                             \
	X(UNION, KEYWORD_HARD | KEYWORD_STOP | KEYWORD_CLAUSE)                                     \
	X(USING, KEYWORD_STOP)                                                                     \
	X(VIEW, 0)                                                                                 \
	X(VIEWS, 0)                                                                                \
	X(WHEN, KEYWORD_HARD | KEYWORD_STOP)                                                       \
	X(WHERE, KEYWORD_HARD | KEYWORD_STOP | KEYWORD_CLAUSE)                                     \
	X(WINDOW, KEYWORD_STOP | KEYWORD_CLAUSE)                                                   \
	X(WITH, KEYWORD_HARD | KEYWORD_STOP | KEYWORD_CLAUSE)                                      \
	X(WITHIN, KEYWORD_STOP)

enum keyword {
	KW_NONE,
#define X(name, flags) KW_##name,
	KEYWORDS(X)
#undef X
		KW_N
};

extern const char *const keyword_names[KW_N];
extern const u8 keyword_flags[KW_N];

/* The keyword that the word spells, without case; KW_NONE. */
enum keyword keyword_find(const char *word, size_t n);

/* Why a token is bad; the table in lex.c has tag, words and hint. */
enum lex_problem {
	LEX_FINE,
	LEX_BAD_BYTE,
	LEX_BAD_MARK,
	LEX_NUL,
	LEX_BAD_QUOTE,
	LEX_BAD_SPACE,
	LEX_UNCLOSED_TEXT,
	LEX_UNCLOSED_NAME,
	LEX_UNCLOSED_COMMENT,
	LEX_EMPTY_NAME,
	LEX_AND_AND,
	LEX_BAD_NUMBER,
	LEX_BAD_HEX,
	LEX_TOO_LARGE,
	LEX_DURATION_LARGE,
	LEX_REAL_LARGE,
	LEX_BAD_UNIT,
	LEX_BAD_SIZE_UNIT,
	LEX_DURATION_FRACTION,
	LEX_SIZE_FRACTION,
	LEX_PROBLEM_N
};

struct token {
	u8 kind;    /* enum token_kind */
	u8 keyword; /* enum keyword, of words */
	u8 problem; /* enum lex_problem */
	struct span span;
	u64 integer;
	double real;
	const struct sql_parameter *parameter; /* whose value it is; NULL: as written */
};

struct lex_message {
	const char *tag, *message, *hint;
	bool is_fatal; /* nothing behind it can be read with any trust */
	u8 reads_as;   /* token kind to go on with, or 0 */
};

extern const struct lex_message lex_messages[LEX_PROBLEM_N];

/* The token at or after byte `at`; lex_source() reads a stream path there if there is one. */
struct token lex(const char *text, u32 n, u32 at);
struct token lex_source(const char *text, u32 n, u32 at);

static inline bool lex_is_word_start(unsigned char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c >= 0x80;
}

static inline bool lex_is_word(unsigned char c)
{
	return lex_is_word_start(c) || (c >= '0' && c <= '9') || c == '$';
}

/* Reads the number at `at`, units included, into token (kind, value, span end, problem). */
void lex_number(const char *text, u32 n, u32 at, struct token *token);
/*
 * Decimal digits with an optional fraction, times unit_ns, exactly.  Returns
 * LEX_FINE, LEX_BAD_NUMBER, LEX_TOO_LARGE or LEX_DURATION_FRACTION.
 */
enum lex_problem number_scale(const char *digits, u32 n, u64 unit, u64 *ret_value);
/* Nanoseconds of "s", "ms", "SECOND", "seconds", ...; 0: no such unit. */
u64 unit_of_duration(const char *word, u32 n);

#endif
