/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What other dialects have, and quotes that close too late -> what to write here.  Asked only where
 * the parser is at an error anyway, so all these words stay free for names; or where a word would
 * be read as something else, and only with what must follow it.
 */
#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "sql/parse.h"

#define PATTERNS    "there are no regular expressions", "LIKE 'a%' and GLOB 'a*[0-9]' match patterns"
#define STAR_CHANGE "* takes all columns as they are", "name the columns that are wanted"
#define SETS	    "EXCEPT and INTERSECT have each row once", "leave ALL away"
#define LIMIT_HINT  "LIMIT 5 stands at the end of the query"
#define RANK_HINT                                                                                  \
	"SELECT * FROM (SELECT ..., row_number() OVER (...) AS r FROM ...) AS t WHERE r = 1"

static const struct {
	const char *word, *message, *hint;
	const char *after, *then; /* the text before and behind it; NULL: any */
	const char *tag;	  /* NULL: other-dialect */
} foreign_words[] = {
	{ "REGEXP", PATTERNS },
	{ "RLIKE", PATTERNS },
	{ "SIMILAR", PATTERNS },
	{ "~", PATTERNS },
	{ "MATCH", "there is no MATCH", "LIKE 'a%' and GLOB 'a*[0-9]' match patterns" },
	{ "COLLATE", "there are no collations: texts compare by their bytes",
	  "lower(x) = 'nginx' compares without case, and so does LIKE" },
	{ "join", "there is no join(...)", "strs(argv) is the texts of an array of pointers",
	  .then = "(" },
	{ "QUALIFY", "there is no QUALIFY", RANK_HINT },
	{ "ON", "there is no DISTINCT ON", RANK_HINT, .after = "DISTINCT" },
	{ "TOP", "there is no TOP", LIMIT_HINT },
	{ "FOR", "there is no FOR UPDATE: nothing is written or locked", "leave it away",
	  .then = "UPDATE" },
	{ "EXCLUDE", STAR_CHANGE, .after = "*", .then = "(" },
	{ "EXCEPT", STAR_CHANGE, .after = "*", .then = "(" },
	{ "REPLACE", STAR_CHANGE, .after = "*", .then = "(" },
	{ "OVER", "OVER stands behind a call, and this is none",
	  "for example sum(x) OVER (ORDER BY time)", .then = "(", .tag = "syntax-error" },
	{ "TO", "an option has \"=\" before its value", "SET name = value", .tag = "syntax-error" },
	{ "USING", "no sample is taken of rows", "WHERE cpu = 0, or a stream as profile:99",
	  .then = "SAMPLE" },
	{ "TABLESAMPLE", "no sample is taken of rows", "WHERE cpu = 0, or a stream as profile:99" },
	{ "[", "there are no lists of values", "x IN (1, 2)", .after = "IN" },
	{ "[", "names are not quoted so", "a name of its own stands in \"...\"", .after = "FROM" },
	{ "[", "there are no lists of values",
	  "VALUES (1), (2) are rows; a[0] is an array's element" },
	{ "/", "there is no //", "x / y of two integers is an integer", .after = "/" },
	{ "*", "there is no **", "power(x, y)", .after = "*" },
	{ "ALL", SETS, .after = "EXCEPT" },
	{ "ALL", SETS, .after = "INTERSECT" },
	{ "SLIDING", "there is no SLIDING window",
	  "HOPPING 10s BY 1s is a window of 10 s that ends every second" },
	{ "TUMBLING", "WINDOW is missing before TUMBLING", "for example WINDOW TUMBLING 1s",
	  .tag = "syntax-error" },
	{ "HOPPING", "WINDOW is missing before HOPPING", "for example WINDOW HOPPING 10s BY 1s",
	  .tag = "syntax-error" },
};

static bool is_text(const struct parser *p, struct span span, const char *text)
{
	size_t n = strlen(text);

	return span.end - span.start == n && strncasecmp(p->text + span.start, text, n) == 0;
}

/* 10 ms */
static bool unit_apart(struct parser *p)
{
	struct span number = p->before.span, unit = p->tok.span;

	if ((p->before.kind != TOKEN_INTEGER && p->before.kind != TOKEN_REAL) ||
	    !parse_at(p, TOKEN_WORD) ||
	    !unit_of_duration(p->text + unit.start, unit.end - unit.start))
		return false;
	parse_error(p, "bad-duration", (struct span){ number.start, unit.end },
		    "a time's number and unit are one word" HINT
		    "durations are written 10ms, 1.5s, or INTERVAL '10' SECOND");
	return true;
}

/* 't.csv'.k */
static bool file_before_dot(struct parser *p)
{
	struct span file = p->before.span;

	if (p->before.kind != TOKEN_TEXT || !parse_at(p, TOKEN_DOT))
		return false;
	parse_error(p, "syntax-error", file,
		    "a text has no columns" HINT
		    "give the file a name: FROM %.*s AS x; its columns are x.name",
		    (int)(file.end - file.start), p->text + file.start);
	return true;
}

/* TIMESTAMP '2024-01-01', E'a\n', x'41' */
static bool typed_text(struct parser *p)
{
	static const char *const types[] = { "TIMESTAMP", "DATE", "TIME" };
	struct span before = p->before.span;

	if (!parse_at(p, TOKEN_TEXT) || p->before.kind != TOKEN_WORD)
		return false;
	if (is_text(p, before, "E"))
		parse_error(p, "other-dialect", before,
			    "a text has no escapes" HINT "char(10) is the end of a line, 'it''s' "
			    "has a quote");
	else if (is_text(p, before, "X") && before.end == p->tok.span.start)
		parse_error(p, "other-dialect", before,
			    "there are no literals of BLOBs" HINT
			    "hex(s) = '41' compares bytes, char(65) is a text of one");
	/* Not of a column "time" with a name behind it. */
	for (u32 i = 0; !p->panic && isdigit((unsigned char)p->text[p->tok.span.start + 1]) &&
			i < ARRAY_SIZE(types);
	     i++)
		if (is_text(p, before, types[i]))
			parse_error(p, "other-dialect", before,
				    "times are ns since 1970, live since boot" HINT
				    "datetime(time / 1s, 'unixepoch') > '2024-01-01'");
	return p->panic;
}

/* Is it entry i of foreign_words, between these two? */
static bool is_foreign(const struct parser *p, u32 i, struct span word, struct span before,
		       struct span behind)
{
	const char *after = foreign_words[i].after, *then = foreign_words[i].then;

	return is_text(p, word, foreign_words[i].word) && (!after || is_text(p, before, after)) &&
	       (!then || is_text(p, behind, then));
}

/* WINDOW TUMBLING: what is wrong stands behind these two. */
static bool is_window(const struct parser *p, u32 end)
{
	while (end && strchr(" \t\r\n", p->text[end - 1]))
		end--;
	return end >= 6 && is_text(p, (struct span){ end - 6, end }, "WINDOW");
}

static bool foreign_word(struct parser *p)
{
	struct span next = parse_peek(p).span, none = { 0, 0 };
	struct span at = parse_at_keyword(p, KW_NOT) ? next : p->tok.span;

	for (u32 i = 0; i < ARRAY_SIZE(foreign_words); i++) {
		bool is_here = is_foreign(p, i, at, p->before.span, next);

		/* Or it was taken for a name: k FETCH FIRST, sum(k) OVER w. */
		if (!is_here && (is_window(p, p->before.span.start) ||
				 !is_foreign(p, i, p->before.span, none, p->tok.span)))
			continue;
		parse_error(p, foreign_words[i].tag ? foreign_words[i].tag : "other-dialect",
			    is_here ? at : p->before.span, "%s" HINT "%s", foreign_words[i].message,
			    foreign_words[i].hint);
		return true;
	}
	return false;
}

bool parse_foreign(struct parser *p)
{
	return !p->panic && (parse_unclosed_text(p) || unit_apart(p) || file_before_dot(p) ||
			     typed_text(p) || foreign_word(p));
}

#define NOTHING_WRITTEN                                                                              \
	"nothing is written or changed",                                                             \
		"CREATE VIEW name AS SELECT ... names a query; \"ebql record -o FILE\", and \\copy " \
		"in the shell, write a file"
#define LISTS                                                                                      \
	"there are streams, views and files",                                                      \
		"SHOW VIEWS, SHOW STREAMS LIKE '%sched%'; a file is read by FROM 'FILE.csv'"
#define OPTIONS                                                                                      \
	"options are not shown by SHOW",                                                             \
		"SET name = value sets one: \"man ebql-sql\" lists them, and TAB behind SET in the " \
		"shell"

/* How statements begin that are none here, and what stands behind SHOW. */
static const struct foreign_start {
	const char *word, *message, *hint;
} foreign_starts[] = {
	{ "FROM", "a query begins with SELECT", "SELECT * FROM ..." },
	{ "TABLE", "a query begins with SELECT", "SELECT * FROM ..." },
	{ "SUMMARIZE", "there is no SUMMARIZE",
	  "SELECT count(*), min(x), avg(x), p99(x), max(x) FROM ...; DESCRIBE tells the columns" },
	{ "PIVOT", "there is no PIVOT",
	  "sum(x) FILTER (WHERE k = 'a') AS a is a column for one value of k" },
	{ "UNPIVOT", "there is no UNPIVOT", "a SELECT for each column, joined by UNION ALL" },
	{ "PRAGMA", "there is no PRAGMA", "SET name = value; DESCRIBE tells the columns of a stream" },
	{ "RESET", "there is no RESET", "SET name = value; a new shell has all as it was" },
	{ "USE", LISTS },
	{ "COPY", "there is no COPY",
	  "\"ebql record -o FILE\", and \\copy in the shell, write a file; FROM 'FILE.csv' reads one" },
	{ "INSERT", NOTHING_WRITTEN },
	{ "UPDATE", NOTHING_WRITTEN },
	{ "DELETE", NOTHING_WRITTEN },
	{ "ALTER", NOTHING_WRITTEN },
	{ "TRUNCATE", NOTHING_WRITTEN },
	{ "BEGIN", NOTHING_WRITTEN },
	{ "COMMIT", NOTHING_WRITTEN },
	{ "ROLLBACK", NOTHING_WRITTEN },
	{ "ANALYZE", "there are no statistics to take", "EXPLAIN ANALYZE SELECT ... runs a query" },
}, foreign_shows[] = {
	{ "TABLES", LISTS },
	{ "DATABASES", LISTS },
	{ "SCHEMAS", LISTS },
	{ "ALL", OPTIONS },
	{ "VARIABLES", OPTIONS },
	{ "SETTINGS", OPTIONS },
	{ "COLUMNS", "DESCRIBE tells the columns", "DESCRIBE stream" },
	{ "FUNCTIONS", "functions are not shown by SHOW",
	  "\"man ebql-sql\" has them, and TAB in the shell" },
};

static bool foreign_start(struct parser *p, const struct foreign_start *starts, u32 n)
{
	for (u32 i = 0; i < n; i++) {
		if (!parse_word_is(p, starts[i].word))
			continue;
		parse_error(p, "other-dialect", p->tok.span, "%s" HINT "%s", starts[i].message,
			    starts[i].hint);
		return true;
	}
	return false;
}

bool parse_foreign_start(struct parser *p)
{
	return foreign_start(p, foreign_starts, ARRAY_SIZE(foreign_starts));
}

bool parse_foreign_show(struct parser *p)
{
	return foreign_start(p, foreign_shows, ARRAY_SIZE(foreign_shows));
}

bool parse_foreign_quantifier(struct parser *p)
{
	static const char *const words[] = { "ALL", "ANY", "SOME" };
	bool is_like = p->before.kind == TOKEN_WORD && is_text(p, p->before.span, "LIKE");

	for (u32 i = 0; i < ARRAY_SIZE(words); i++) {
		if (((p->before.kind < TOKEN_EQ || p->before.kind > TOKEN_GE) && !is_like) ||
		    !parse_word_is(p, words[i]) || parse_peek(p).kind != TOKEN_OPEN)
			continue;
		parse_error(p, "other-dialect", p->tok.span, "there is no %s (...)" HINT "%s",
			    words[i],
			    is_like ? "x LIKE 'a%' OR x LIKE 'b%'"
				    : "x > (SELECT max(y) ...) or x > (SELECT min(y) ...); "
				      "x IN (SELECT y ...)");
		return true;
	}
	return false;
}

bool parse_foreign_join(struct parser *p)
{
	static const char *const joins[][2] = {
		{ "SEMI", "WHERE x IN (SELECT y FROM ...)" },
		{ "ANTI", "WHERE NOT EXISTS (SELECT 1 FROM b WHERE b.x = a.x)" },
		{ "POSITIONAL",
		  "JOIN ... USING (r), where row_number() OVER () AS r numbers both" },
		{ "PASTE", "JOIN ... USING (r), where row_number() OVER () AS r numbers both" },
		{ "ANY", "JOIN (SELECT x, min(y) FROM ... GROUP BY x) has one row for each x" },
		{ "GLOBAL", "leave GLOBAL away" },
	};
	struct token next = parse_peek(p);

	if (next.kind != TOKEN_WORD)
		return false;
	for (u32 i = 0; i < ARRAY_SIZE(joins); i++) {
		if (!parse_word_is(p, joins[i][0]) ||
		    (next.keyword != KW_JOIN && next.keyword != KW_INNER &&
		     next.keyword != KW_LEFT && next.keyword != KW_RIGHT &&
		     next.keyword != KW_FULL && next.keyword != KW_CROSS &&
		     !is_text(p, next.span, "ANY") && !is_text(p, next.span, "ALL")))
			continue;
		parse_error(p, "other-dialect", p->tok.span,
			    "there is no %s JOIN" HINT "%s; a name so called stands behind AS",
			    joins[i][0], joins[i][1]);
		return true;
	}
	return false;
}

bool parse_foreign_list(struct parser *p, const char *clause)
{
	static const char *const sets[][2] = { { "ROLLUP", "(" },
					       { "CUBE", "(" },
					       { "GROUPING", "SETS" } };
	struct token next = parse_peek(p);

	for (u32 i = 0; i < ARRAY_SIZE(sets); i++) {
		if (!parse_word_is(p, sets[i][0]) || !is_text(p, next.span, sets[i][1]))
			continue;
		parse_error(p, "other-dialect", p->tok.span,
			    "%s has one set of keys" HINT
			    "one SELECT for each set, joined by UNION ALL",
			    clause);
		return true;
	}
	return false;
}

bool parse_foreign_call(struct parser *p, const char *name)
{
	static const char *const calls[][2] = {
		{ "extract",
		  "strftime('%H', time / 1s, 'unixepoch') is the hour, time / 1s the whole seconds" },
		{ "substring", "substr(x, 1, 3)" },
		{ "trim", "trim(x), or trim(x, '.')" },
		{ "position", "instr(x, 'a')" },
		{ "try_cast", "CAST(x AS INTEGER)" },
	};
	u32 i, end = p->tok.span.end, depth = 1;
	bool has_word = false;

	for (i = 0; i < ARRAY_SIZE(calls) && strcasecmp(calls[i][0], name) != 0;)
		i++;
	if (i == ARRAY_SIZE(calls))
		return false;
	while (depth) {
		struct token token = lex(p->text, p->text_bytes, end);

		if (token.kind == TOKEN_END || token.kind == TOKEN_BAD)
			return false;
		depth += token.kind == TOKEN_OPEN;
		depth -= token.kind == TOKEN_CLOSE;
		has_word |= depth == 1 && (token.keyword == KW_FROM || token.keyword == KW_IN ||
					   token.keyword == KW_AS);
		end = token.span.end;
	}
	if (!has_word)
		return false;
	parse_report(p, "other-dialect", (struct span){ p->before.span.start, end },
		     "%s(...) is written otherwise here" HINT "%s", name, calls[i][1]);
	/* Read over: what follows is the query's. */
	while (!p->fatal && p->tok.span.start < end)
		parse_next(p);
	return true;
}
