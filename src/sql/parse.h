/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The parser's state and the small words its files share.  After an error the
 * parser is in panic: every accept says no and every expect is silent, so the
 * rules unwind by themselves to the clause loop, which recovers.
 */
#ifndef EBQL_SQL_PARSE_H
#define EBQL_SQL_PARSE_H

#include "sql/sql.h"
#include "sql/token.h"

#define SQL_TEXT_MAX_BYTES (1u << 20)
/* Parentheses, prefix operators, subqueries within each other. */
#define SQL_DEPTH_MAX 200
/* Height of an expression's tree, a + b + c + ... included; SQLite's limit too. */
#define SQL_HEIGHT_MAX 1000
#define SQL_JOINS_MAX  64

/* How tight operators bind, loosest first, as in SQLite: the parser climbs by it, and the printer
 * sets parentheses by it. */
enum precedence {
	LEVEL_OR = 1,
	LEVEL_AND,
	LEVEL_NOT,
	LEVEL_EQUAL, /* = <> IS IN LIKE GLOB BETWEEN ISNULL */
	LEVEL_COMPARE,
	LEVEL_BITS,
	LEVEL_SUM,
	LEVEL_PRODUCT,
	LEVEL_CONCAT,
	LEVEL_PREFIX,
	LEVEL_POSTFIX,
};

struct operator
{
	u8 level;
	u8 token, keyword; /* how it is written, if by one token: enum token_kind, enum keyword */
};

extern const struct operator operators[OP_N];

/* A call with OVER name, whose window may still follow. */
struct over_name {
	struct ast *call;
	const char *name;
	struct span span;
};

struct parser {
	struct arena *arena;
	struct diags *diags;
	const char *text;
	u32 text_bytes;
	struct token tok, before; /* the current one, and the last that was taken */
	bool panic, fatal;
	u32 depth;
	u32 parens, error_parens; /* open ones; at the latest error */
	u32 height;		  /* tallest expression of the select being read */
	u32 case_depth;
	VEC(struct over_name) over_names; /* of the selects that are being read */
	struct sql_parameters *parameters;
};

/* parameter.c: the token that is a parameter becomes its value's; NULL: it has none. */
struct sql_parameter *parameter_read(const struct parser *p, struct token *token);
/* The name with a value that the parameter without one may have been meant for, or NULL. */
const char *parameter_nearest(const struct parser *p, const struct token *token);
/* As it would be written, text without its quotes. */
const char *parameter_text(const struct parser *p, const struct sql_parameter *value,
			   u32 *ret_bytes);

/* parse.c: tokens, errors, recovery */
void parse_next(struct parser *p);
/* The next token may be a stream path. */
void parse_next_source(struct parser *p);
struct token parse_peek(const struct parser *p);
bool parse_at(const struct parser *p, enum token_kind kind);
bool parse_at_keyword(const struct parser *p, enum keyword keyword);
/* A word that means something in one place only, so it is no keyword. */
bool parse_word_is(const struct parser *p, const char *word);
bool parse_accept(struct parser *p, enum token_kind kind);
bool parse_accept_keyword(struct parser *p, enum keyword keyword);
bool parse_accept_word(struct parser *p, const char *word);
void parse_expect(struct parser *p, enum token_kind kind, const char *what);
void parse_expect_keyword(struct parser *p, enum keyword keyword);
/* "(": returns its span for parse_close(), which blames it when nothing closes it. */
struct span parse_open(struct parser *p);
void parse_close(struct parser *p, struct span open);
/* After one item of a list: is there another?  A forgotten comma is reported and read. */
bool parse_more(struct parser *p);
/* One level deeper; false and one error when that is too deep.  Pair with parse_leave(). */
bool parse_enter(struct parser *p, u32 levels);
void parse_leave(struct parser *p, u32 levels);

/* Nothing while in panic.  What is only reported begins no panic. */
void parse_complain(struct parser *p, bool is_panic, const char *tag, struct span span,
		    const char *format, ...) PRINTF(5, 6);
#define parse_error(p, ...)  parse_complain(p, true, __VA_ARGS__)
#define parse_report(p, ...) parse_complain(p, false, __VA_ARGS__)
/* "expected WHAT, found ...", and the hint, or (NULL) what the place says. */
void parse_expected(struct parser *p, const char *what);
void parse_expected_hint(struct parser *p, const char *what, const char *hint);
/* What the lexer found: its message. */
void parse_problem(struct parser *p, enum lex_problem problem, struct span span);
const char *parse_found(const struct parser *p);
/* Ends the reading: nothing behind this is looked at. */
void parse_stop(struct parser *p);
/* Skips to the next clause, the end of the select that began at base_parens, or ";". */
void parse_recover(struct parser *p, u32 base_parens);

/* The span from start to the end of what was read last. */
struct span parse_span(const struct parser *p, u32 start);
/* Is the current token the first of a clause, of what follows a select, or the end? */
bool parse_at_clause(const struct parser *p);
bool parse_at_end(const struct parser *p);
/* Can no item of a list go on with this token: is it a ")", a clause, the end? */
bool parse_ends_list(const struct token *token);
/* The clause keyword that the current word looks like a misspelling of, or KW_NONE. */
enum keyword parse_misspelt_clause(const struct parser *p);
/* The same, among the given keywords. */
enum keyword parse_misspelt(const struct parser *p, const enum keyword *among, u32 n);
/* Such a misspelling is reported ("DSEC" is no order) and read as what it was meant for. */
bool parse_mend(struct parser *p, const enum keyword *among, u32 n, const char *is_what);

/* Text of a token: words and paths as written, quoted ones without their quotes. */
const char *parse_text(const struct parser *p, const struct token *token, u32 *ret_bytes);
/* A word or quoted name, taken; NULL after an error "expected WHAT". */
const char *parse_name(struct parser *p, const char *what);
bool parse_at_name(const struct parser *p);

/* parse_call.c: the call whose name has been read; a list of expr [ASC|DESC] [NULLS ...]. */
struct ast *parse_call(struct parser *p, struct ast *name);
struct ast_order *parse_order_list(struct parser *p, u32 *ret_n);
/* At WINDOW name AS (...)?  Behind that word: it and those that follow it. */
bool parse_at_named_windows(const struct parser *p);
void parse_named_windows(struct parser *p, struct ast_select *select);
/* Writes the windows of the select out in p->over_names from `first` on, which leave the list. */
void parse_over_names(struct parser *p, const struct ast_select *select, u32 first);

/* parse_frame.c: the frame of OVER, where there is one. */
bool parse_at_frame(const struct parser *p);
void parse_frame(struct parser *p, struct ast *call);

/* foreign.c: true after an error that other dialects' words explain, or a quote that is closed too
 * late. */
bool parse_foreign(struct parser *p);
bool parse_unclosed_text(struct parser *p);
/* PRAGMA ...; SHOW TABLES, at the second word: true after an error. */
bool parse_foreign_start(struct parser *p);
bool parse_foreign_show(struct parser *p);
/* x > ALL (...); SEMI JOIN; GROUP BY ROLLUP (...): true after an error. */
bool parse_foreign_quantifier(struct parser *p);
bool parse_foreign_join(struct parser *p);
bool parse_foreign_list(struct parser *p, const char *clause);
/* extract(epoch FROM time), at its "(": true after an error, behind the ")". */
bool parse_foreign_call(struct parser *p, const char *name);

/* bpftrace.c: at the start of a statement; true after an error that shows the SQL for it. */
bool parse_bpftrace(struct parser *p);

/* parse_expr.c */
struct ast *parse_expr(struct parser *p);
/* Building nodes; parse_finish() gives the span up to here. */
struct ast *parse_node(struct parser *p, enum ast_kind kind, u32 start);
void parse_under(struct parser *p, struct ast *parent, const struct ast *child);
void parse_add_arg(struct parser *p, struct ast *parent, struct ast *arg);
struct ast *parse_finish(struct parser *p, struct ast *ast);
u32 parse_height_of(const struct ast *ast);
/* To this height at least. */
void parse_raise(struct ast *ast, u32 height);
/* A literal as SET and WITH (...) take it, or a bare word. */
struct ast *parse_value(struct parser *p);
bool parse_at_operand(const struct parser *p);

/* parse_duration.c: ns; 0 after an error */
u64 parse_duration(struct parser *p, struct span *ret_span, bool *ret_overflow);
bool parse_at_interval(const struct parser *p);
u64 parse_interval(struct parser *p, bool *ret_overflow);

/* parse_select.c, parse_source.c, parse_window.c */
struct ast_select *parse_select(struct parser *p);
bool parse_at_select(const struct parser *p);
struct ast_option parse_option(struct parser *p);
struct ast_source *parse_from(struct parser *p);
struct ast_source *parse_one_source(struct parser *p);
struct ast_window parse_window(struct parser *p);
/* (a, b, ...): names of columns. */
void parse_columns(struct parser *p, ast_columns *columns);

#endif
