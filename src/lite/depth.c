/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * SQL -> how many entries of its stack SQLite's parser needs for it.  It has 100, fixed when
 * SQLite is built, and refuses what needs more without a place.  An entry is a symbol of the
 * grammar that waits for what follows: before x in "f(a, x" these are name, bracket, DISTINCT,
 * list and comma.  Counted is the text that lite/ and cut/ print, whose keywords are the words
 * in capitals, and rather too many than too few.
 */
#include <ctype.h>
#include <string.h>

#include "lite/lite.h"

#define LEVELS_MAX 100
/* Of a name and its bracket; a list and its comma; a value and the operator behind it. */
#define FUNCTION_ENTRIES 3
#define PAIR_ENTRIES	 2
/* The parser's first state, and "t0.c1". */
#define LEAF_ENTRIES 4

/* What waits behind these words of a select or a CASE. */
static const struct clause {
	const char *word;
	u32 n;
} clauses[] = {
	{ "SELECT", 4 }, { "FROM", 5 },	  { "ON", 10 },	  { "WHERE", 5 }, { "GROUP", 9 },
	{ "HAVING", 7 }, { "ORDER", 11 }, { "OVER", 17 }, { "CASE", 1 },  { "ELSE", 4 },
};

static const char *const sets[] = { "UNION", "EXCEPT", "INTERSECT" };
static const char *const operators[] = { "AND", "OR", "IS", "IN", "LIKE", "GLOB", "ESCAPE" };

/* A bracket, or a CASE. */
struct level {
	u32 base, clause, held; /* entries: before it; in it before an expression; here, in all */
	u32 arms;		/* of a UNION: for those before */
	const char *last;	/* operator of that expression; NULL: none yet */
};

static bool is_word(char c)
{
	return isalnum((u8)c) || c == '_';
}

static size_t token_length(const char *at)
{
	size_t n = 1;

	if (*at == '\'' || *at == '"')
		return n + strcspn(at + 1, *at == '"' ? "\"" : "'") + 1;
	while (is_word(*at) && is_word(at[n]))
		n++;
	return n;
}

static bool is_token(const char *at, const char *word)
{
	size_t n = strlen(word);

	return token_length(at) == n && memcmp(at, word, n) == 0;
}

static bool is_one_of(const char *at, const char *const *tokens, u32 n)
{
	for (u32 i = 0; i < n; i++)
		if (is_token(at, tokens[i]))
			return true;
	return false;
}

static bool is_operator(const char *at)
{
	return strchr("<>=|+-*/&", *at) || is_one_of(at, operators, ARRAY_SIZE(operators));
}

static void begin(struct level *l, u32 clause)
{
	l->clause = clause;
	l->held = l->base + l->arms + clause;
	l->last = NULL;
}

/* The same one again waits for no more than the first, another one may bind closer. */
static void note_operator(struct level *l, const char *at)
{
	u32 n = l->last && strncmp(l->last, at, token_length(at)) != 0 ? 2 : 1;

	l->held = MAX(l->held, l->base + l->arms + l->clause + n * PAIR_ENTRIES);
	l->last = at;
}

u32 lite_depth(const char *sql)
{
	struct level levels[LEVELS_MAX] = { 0 }, *l = levels;
	u32 most = 0, n;

	for (const char *at = sql, *before = sql; *at; before = at, at += token_length(at)) {
		bool is_case = is_token(at, "CASE");

		if (*at == '(' || is_case) {
			if (l == levels + LEVELS_MAX - 1)
				return 10 * LEVELS_MAX;
			n = is_case ? 0 : is_word(*before) ? FUNCTION_ENTRIES : 1;
			l[1] = (struct level){ .base = l->held + n };
			begin(++l, 0);
		} else if (*at == ')' || is_token(at, "END")) {
			l--;
		} else if (*at == ',') {
			begin(l, MAX(l->clause, PAIR_ENTRIES));
		} else if (is_token(at, "NOT") || is_token(at, "EXISTS")) {
			l->held++;
		} else if (is_token(at, "WHEN")) {
			/* Behind the first arm a list of them waits, too. */
			begin(l, l->clause == 1 ? 3 : 4);
		} else if (is_token(at, "THEN")) {
			begin(l, l->clause + PAIR_ENTRIES);
		} else if (is_one_of(at, sets, ARRAY_SIZE(sets))) {
			l->arms = PAIR_ENTRIES;
		} else if (is_operator(at)) {
			note_operator(l, at);
		}
		for (u32 i = 0; i < ARRAY_SIZE(clauses); i++)
			if (is_token(at, clauses[i].word))
				begin(l, clauses[i].n);
		most = MAX(most, l->held);
	}
	return most + LEAF_ENTRIES;
}

void lite_refuse_depth(struct span span, struct diags *diags)
{
	if (!diags_failed(diags))
		diag_error(diags, "too-deep", span, "this nests too deep for user space");
}

void lite_check_depth(const char *sql, u32 n_around, struct span span, struct diags *diags)
{
	if (strlen(sql) >= LITE_BYTES_MAX || lite_depth(sql) + n_around > LITE_DEPTH_MAX)
		lite_refuse_depth(span, diags);
}
