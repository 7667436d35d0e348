/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * FROM: streams and their paths, files, subqueries and joins -> struct ast_source.
 */

#include <string.h>
#include <strings.h>

#include "sql/parse.h"

/* One part [start, end) of a path; quoted parts lose their quotes. */
static const char *path_part(struct parser *p, u32 start, u32 end)
{
	struct token part = { .kind = TOKEN_WORD, .span = { start, end } };

	if (start == end) {
		parse_error(p, "syntax-error", (struct span){ start, end + 1 },
			    "a part of this stream's path is empty" HINT
			    "a path has no blanks; write parts that hold ':' in \"quotes\"");
		return "";
	}
	if (p->text[start] == '"' || p->text[start] == '`')
		part.kind = TOKEN_NAME;
	return parse_text(p, &part, NULL);
}

/* Where the part that begins at `at` ends: at the separator, or at the path's end. */
static u32 part_end(const struct parser *p, u32 at, u32 end, char separator)
{
	u32 begin = at; /* of a name */

	while (at < end && p->text[at] != separator) {
		if (at == begin && (p->text[at] == '"' || p->text[at] == '`'))
			at = lex(p->text, end, at).span.end;
		else if (p->text[at++] == '.')
			begin = at;
	}
	return at;
}

/*
 * The path as a table's name would be read: users, ref.users, "ref"."my users".  What has quotes in
 * its middle is no path of a stream.
 */
static void read_table(struct parser *p, u32 start, u32 end, struct ast_source *source)
{
	u32 dot = part_end(p, start, end, '.');

	if (dot == start || dot + 1 == end || part_end(p, MIN(dot + 1, end), end, '.') < end)
		return;
	source->table = path_part(p, dot < end ? dot + 1 : start, end);
	if (dot == end)
		return;
	source->database = path_part(p, start, dot);
	if (!strpbrk(source->written, "\"`"))
		return;
	source->path = arena_array(p->arena, const char *, 1);
	source->path[0] = arena_printf(p->arena, "%s.%s", source->database, source->table);
	source->n_path = 1;
}

/* The path [start, end) of p->text. */
static void split_path(struct parser *p, u32 start, u32 end, struct ast_source *source)
{
	VEC(const char *) path = { 0 };
	char separator = ':';
	u32 at = start;

	source->kind = AST_SOURCE_STREAM;
	source->written = arena_strndup(p->arena, p->text + start, end - start);
	/* tracepoint/CAT/NAME; with a ":" anywhere a "/" belongs to a file's name. */
	if (part_end(p, start, end, ':') == end)
		separator = '/';
	for (;;) {
		u32 stop = part_end(p, at, end, separator);

		vec_push(p->arena, &path, path_part(p, at, stop));
		if (stop == end)
			break;
		at = stop + 1;
	}
	source->path = path.at;
	source->n_path = path.n;
	if (part_end(p, start, end, ':') == end)
		read_table(p, start, end, source);
}

static void read_path(struct parser *p, struct ast_source *source)
{
	struct parser value = *p;
	u32 n;

	if (p->tok.parameter) {
		value.text = parse_text(p, &p->tok, &n);
		split_path(&value, 0, n, source);
	} else {
		split_path(p, p->tok.span.start, p->tok.span.end, source);
	}
	parse_next(p);
}

static void read_file(struct parser *p, struct ast_source *source)
{
	source->kind = AST_SOURCE_FILE;
	source->path = arena_array(p->arena, const char *, 1);
	source->path[0] = parse_text(p, &p->tok, NULL);
	source->n_path = 1;
	source->written = arena_strndup(p->arena, p->text + p->tok.span.start,
					p->tok.span.end - p->tok.span.start);
	if (!source->path[0][0])
		parse_error(p, "syntax-error", p->tok.span, "a file's name cannot be empty");
	parse_next(p);
}

/* read_csv('t.csv') */
static void refuse_function(struct parser *p, const struct ast_source *source)
{
	struct token argument = parse_peek(p);

	if (!parse_at(p, TOKEN_OPEN))
		return;
	if (argument.kind == TOKEN_TEXT)
		parse_error(p, "other-dialect", source->span,
			    "no function stands in FROM" HINT
			    "a file is read by its name: FROM %.*s",
			    (int)(argument.span.end - argument.span.start),
			    p->text + argument.span.start);
	else
		parse_error(
			p, "other-dialect", source->span,
			"no function stands in FROM" HINT
			"a stream, a view, a 'FILE' or a (SELECT ...) does; (VALUES (1), (2)) AS v "
			"(i) are rows");
}

/* profile 99: bpftrace and this language have a colon there. */
static void refuse_number(struct parser *p, const struct ast_source *source)
{
	bool is_integer = parse_at(p, TOKEN_INTEGER);
	const char *before = "LIMIT ", *behind = " ends after so many rows";

	if (source->n_path != 1 || !(is_integer || parse_at(p, TOKEN_DURATION)))
		return;
	if (is_integer && strcasecmp(source->written, "profile") == 0)
		before = "write profile:", behind = "";
	else if (!is_integer && strcasecmp(source->written, "interval") == 0)
		before = "write interval:", behind = "";
	else if (!is_integer)
		before = "WINDOW TUMBLING ", behind = " makes windows of that length";
	parse_error(p, "syntax-error", p->tok.span,
		    "no number stands behind a stream" HINT "%s%.*s%s", before,
		    (int)(p->tok.span.end - p->tok.span.start), p->text + p->tok.span.start,
		    behind);
}

struct ast_source *parse_one_source(struct parser *p)
{
	struct ast_source *source = arena_new(p->arena, struct ast_source);

	source->span = p->tok.span;
	if (parse_at(p, TOKEN_PATH)) {
		read_path(p, source);
		refuse_function(p, source);
		refuse_number(p, source);
	} else if (parse_at(p, TOKEN_TEXT)) {
		read_file(p, source);
	} else {
		parse_expected(p, "a stream");
	}
	source->span = parse_span(p, source->span.start);
	return source;
}

static const enum keyword join_words[] = { KW_JOIN, KW_INNER,	KW_LEFT,  KW_CROSS, KW_PAIR,
					   KW_ASOF, KW_NATURAL, KW_RIGHT, KW_FULL };

/* Can the token stand behind a source that ends here? */
static bool follows_source(const struct token *token)
{
	if (token->kind == TOKEN_WORD)
		return keyword_flags[token->keyword] & KEYWORD_STOP && token->keyword != KW_BY &&
		       token->keyword != KW_NOT;
	return token->kind == TOKEN_COMMA || parse_ends_list(token);
}

void parse_columns(struct parser *p, ast_columns *columns)
{
	struct span open = parse_open(p);

	do {
		struct ast_column column = { .span = p->tok.span };

		column.name = parse_name(p, "a column's name");
		vec_push(p->arena, columns, column);
	} while (parse_more(p));
	parse_close(p, open);
}

static void read_alias(struct parser *p, struct ast_source *source)
{
	bool has_as = parse_accept_keyword(p, KW_AS);
	struct token next;

	if (!has_as) {
		/* FROM a SEMI JOIN b: as an alias it would be another JOIN, too. */
		if (parse_foreign_join(p))
			return;
		if (!parse_at_name(p) || (keyword_flags[p->tok.keyword] & KEYWORD_STOP))
			return;
		next = parse_peek(p);
		/* FROM a PIAR JOIN b: as an alias it would be a JOIN of another meaning. */
		if (next.keyword == KW_JOIN &&
		    parse_misspelt(p, join_words, ARRAY_SIZE(join_words)))
			return;
		/* FROM s WHER pid = 3: no alias, a misspelt clause. */
		if (!follows_source(&next) &&
		    (parse_misspelt_clause(p) ||
		     parse_misspelt(p, join_words, ARRAY_SIZE(join_words))))
			return;
	}
	if (source->alias)
		parse_error(p, "syntax-error", p->tok.span, "this stream has a name already");
	source->alias_span = p->tok.span;
	source->alias = parse_name(p, "a name");
	if (source->kind == AST_SOURCE_SELECT && parse_at(p, TOKEN_OPEN))
		parse_columns(p, &source->columns);
	parse_foreign_join(p);
}

static struct ast_source *parse_primary(struct parser *p)
{
	struct ast_source *source;
	struct span open;

	if (!parse_at(p, TOKEN_OPEN)) {
		source = parse_one_source(p);
	} else if (parse_enter(p, 1)) {
		open = p->tok.span;
		parse_next_source(p);
		if (parse_at_select(p)) {
			source = arena_new(p->arena, struct ast_source);
			source->kind = AST_SOURCE_SELECT;
			source->select = parse_select(p);
		} else {
			source = parse_from(p);
		}
		parse_close(p, open);
		source->span = parse_span(p, open.start);
		parse_leave(p, 1);
	} else {
		return arena_new(p->arena, struct ast_source);
	}
	read_alias(p, source);
	source->span = parse_span(p, source->span.start);
	return source;
}

/* JOIN, and the stream behind it is read as one. */
static bool expect_join(struct parser *p)
{
	static const enum keyword join = KW_JOIN;

	if (parse_foreign_join(p))
		return false;
	if (!parse_mend(p, &join, 1, "is no keyword here") && !parse_at_keyword(p, KW_JOIN)) {
		parse_expected(p, "JOIN");
		return false;
	}
	parse_next_source(p);
	return true;
}

/* LEFT, RIGHT or FULL, with OUTER or without it; INNER: none of them. */
static enum ast_join_kind accept_outer(struct parser *p)
{
	static const struct {
		enum keyword word;
		enum ast_join_kind join;
	} outer[] = { { KW_LEFT, AST_JOIN_LEFT },
		      { KW_RIGHT, AST_JOIN_RIGHT },
		      { KW_FULL, AST_JOIN_FULL } };

	for (u32 i = 0; i < ARRAY_SIZE(outer); i++) {
		if (!parse_accept_keyword(p, outer[i].word))
			continue;
		parse_accept_keyword(p, KW_OUTER);
		return outer[i].join;
	}
	return AST_JOIN_INNER;
}

/* PAIR or ASOF, taken; of them the word LEFT may stand on either side. */
static bool read_pair_word(struct parser *p, enum ast_join_kind outer, struct span span,
			   struct ast_source *join)
{
	join->join = parse_at_keyword(p, KW_PAIR) ? AST_JOIN_PAIR : AST_JOIN_ASOF;
	parse_next(p);
	if (outer == AST_JOIN_INNER && !join->is_natural) {
		span = p->tok.span;
		outer = accept_outer(p);
	}
	join->is_left = outer == AST_JOIN_LEFT;
	if (join->is_natural)
		parse_error(p, "bad-join", span,
			    "%s JOIN takes its keys by name" HINT "name them: USING (%s)",
			    join->join == AST_JOIN_PAIR ? "PAIR" : "ASOF",
			    join->join == AST_JOIN_PAIR ? "a, b" : "a, b, time");
	else if (outer == AST_JOIN_RIGHT || outer == AST_JOIN_FULL)
		parse_error(
			p, "bad-join", span,
			"PAIR and ASOF JOIN look for the earlier row of each later one, and "
			"not the other way round" HINT
			"LEFT keeps what has no partner; what nobody took is counted: unpaired");
	return !p->panic;
}

/* "NATURAL LEFT OUTER JOIN" and its like, taken; false when no join follows. */
static bool read_join_word(struct parser *p, struct ast_source *join)
{
	struct span span = p->tok.span;

	join->join = AST_JOIN_INNER;
	if (parse_at(p, TOKEN_COMMA)) {
		join->join = AST_JOIN_CROSS;
		parse_next_source(p);
		return true;
	}
	if (!parse_misspelt_clause(p))
		parse_mend(p, join_words, ARRAY_SIZE(join_words), "is no keyword here");
	join->is_natural = parse_accept_keyword(p, KW_NATURAL);
	join->join = accept_outer(p);
	if (parse_at_keyword(p, KW_PAIR) || parse_at_keyword(p, KW_ASOF))
		return read_pair_word(p, join->join, span, join) && expect_join(p);
	if (join->join != AST_JOIN_INNER)
		return expect_join(p);
	if (!join->is_natural && parse_accept_keyword(p, KW_CROSS))
		join->join = AST_JOIN_CROSS;
	else if (!parse_accept_keyword(p, KW_INNER) && !parse_at_keyword(p, KW_JOIN) &&
		 !join->is_natural)
		return false;
	return expect_join(p);
}

/* Behind WITHIN. */
static void read_within(struct parser *p, struct ast_source *join)
{
	bool is_negative = parse_at(p, TOKEN_MINUS), overflow;
	u32 n_errors = p->diags->n_errors, start = p->tok.span.start;
	struct span span;
	struct token next;

	if (is_negative)
		parse_next(p);
	/* A bare 0 lacks more than its unit. */
	next = parse_peek(p);
	if (parse_at(p, TOKEN_INTEGER) && !p->tok.integer &&
	    (next.kind != TOKEN_WORD || keyword_flags[next.keyword] & KEYWORD_STOP))
		parse_next(p);
	else
		join->within_ns = parse_duration(p, &span, &overflow);
	if (p->panic || p->diags->n_errors > n_errors || (join->within_ns && !is_negative))
		return;
	parse_report(p, "bad-duration", parse_span(p, start),
		     "%s" HINT "for example WITHIN 10s; without WITHIN any age will do",
		     is_negative ? "WITHIN is an age, and no age is negative"
				 : "WITHIN needs more than no time");
}

static void read_condition(struct parser *p, struct ast_source *join, bool is_comma)
{
	bool needs_on = join->join == AST_JOIN_PAIR || join->join == AST_JOIN_ASOF;
	bool takes_on = !is_comma && join->join != AST_JOIN_CROSS && !join->is_natural;

	if (takes_on && parse_accept_keyword(p, KW_ON)) {
		join->on = parse_expr(p);
	} else if (takes_on && parse_accept_keyword(p, KW_USING)) {
		parse_columns(p, &join->columns);
	} else if (needs_on) {
		parse_expected_hint(p, "ON", "say which rows belong together: ON a.key = b.key");
	} else if (join->is_natural &&
		   (parse_at_keyword(p, KW_ON) || parse_at_keyword(p, KW_USING))) {
		parse_error(p, "syntax-error", p->tok.span,
			    "NATURAL JOIN goes by the names of columns" HINT
			    "leave NATURAL away, or put the condition into WHERE");
	}
	if (!needs_on && parse_at_keyword(p, KW_WITHIN)) {
		parse_error(p, "syntax-error", p->tok.span,
			    "WITHIN belongs to PAIR JOIN and ASOF JOIN" HINT
			    "a plain JOIN is of what happened in one window");
	} else if (parse_accept_keyword(p, KW_WITHIN)) {
		read_within(p, join);
	}
}

struct ast_source *parse_from(struct parser *p)
{
	struct ast_source *left = parse_primary(p);
	u32 n_joins = 0;

	for (;;) {
		struct ast_source head = { .kind = AST_SOURCE_JOIN }, *join;
		bool is_comma = parse_at(p, TOKEN_COMMA);

		if (!read_join_word(p, &head))
			return left;
		if (++n_joins > SQL_JOINS_MAX) {
			parse_error(p, "too-deep", p->tok.span, "a query joins at most %u streams",
				    SQL_JOINS_MAX);
			return left;
		}
		join = arena_new(p->arena, struct ast_source);
		*join = head;
		join->left = left;
		join->right = parse_primary(p);
		read_condition(p, join, is_comma);
		join->span = parse_span(p, left->span.start);
		left = join;
	}
}
