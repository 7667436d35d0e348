/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The head of a script, and what its command line says -> the values of its parameters:
 *
 *	-- :interval DURATION = 1s   the length of a window
 *
 * A declaration has a line of its own among the comments that a text begins with.  What stands
 * behind the value says what it is for.
 */
#include <string.h>
#include <strings.h>

#include "sql/parse.h"

static const struct {
	const char *name;
	enum ast_kind kind;
	const char *example;
} types[] = {
	{ "INTEGER", AST_INTEGER, "7, 4KiB" },	  { "REAL", AST_REAL, "0.99" },
	{ "DURATION", AST_DURATION, "10s, 5ms" }, { "BOOLEAN", AST_BOOL, "true, false" },
	{ "TEXT", AST_TEXT, "'text'" },		  { "STREAM", AST_NAME, "kprobe:vfs_read" },
};

static u32 type_of(const char *word, size_t n)
{
	u32 i = 0;

	while (i < ARRAY_SIZE(types) &&
	       (strlen(types[i].name) != n || strncasecmp(types[i].name, word, n) != 0))
		i++;
	return i;
}

/* --- A value --- */

#define ANY_KIND -1

/* A stream's path, whole: no part of it is empty. */
static bool is_stream(const char *text, u32 n)
{
	struct token token = lex_source(text, n, 0);

	return token.kind == TOKEN_PATH && token.span.end == n && text[0] != ':' &&
	       text[n - 1] != ':' && !memmem(text, n, "::", 2);
}

static enum ast_kind kind_of(const struct token *token, const char *text)
{
	static const u8 kinds[TOKEN_N] = { [TOKEN_INTEGER] = AST_INTEGER,
					   [TOKEN_REAL] = AST_REAL,
					   [TOKEN_DURATION] = AST_DURATION,
					   [TOKEN_TEXT] = AST_TEXT };

	if (kinds[token->kind])
		return (enum ast_kind)kinds[token->kind];
	if (token->keyword == KW_TRUE || token->keyword == KW_FALSE)
		return AST_BOOL;
	if (token->keyword == KW_NULL)
		return AST_NULL;
	return is_stream(text + token->span.start, token->span.end - token->span.start) ? AST_NAME
											: AST_STAR;
}

/*
 * The literal at or behind `at` as a value of that kind, or NULL as any.  Returns the place behind
 * it, or 0: it is none.
 */
static u32 read_literal(struct arena *arena, const char *text, u32 n, u32 at, int kind,
			struct sql_parameter *value)
{
	struct parser p = { .arena = arena, .text = text, .text_bytes = n };
	struct token token = kind == AST_NAME ? lex_source(text, n, at) : lex(text, n, at);
	bool is_negative = token.kind == TOKEN_MINUS;

	if (is_negative)
		token = lex(text, n, token.span.end);
	value->kind = kind_of(&token, text);
	value->is_negative = is_negative;
	value->integer = value->kind == AST_BOOL ? token.keyword == KW_TRUE : token.integer;
	value->real = token.real;
	if (value->kind == AST_TEXT || value->kind == AST_NAME)
		value->text = parse_text(&p, &token, &value->text_bytes);
	if (kind == AST_REAL && value->kind == AST_INTEGER) {
		value->kind = AST_REAL;
		value->real = (double)value->integer;
	}
	if (token.problem || (is_negative && value->kind != AST_INTEGER &&
			      value->kind != AST_REAL && value->kind != AST_DURATION))
		return 0;
	return kind == ANY_KIND || value->kind == AST_NULL || (int)value->kind == kind
		       ? token.span.end
		       : 0;
}

/* What was typed: as that kind, or (ANY_KIND) as what it looks like, else a text. */
static bool read_word(struct arena *arena, const char *word, int kind, struct sql_parameter *value)
{
	u32 n = (u32)strlen(word);

	if (kind == AST_DURATION && sql_duration(word, &value->integer)) {
		value->kind = AST_DURATION; /* as behind -d: a number alone is one of seconds */
		return true;
	}
	if (kind != AST_TEXT && n && read_literal(arena, word, n, 0, kind, value) == n &&
	    (kind != ANY_KIND || (value->kind != AST_NAME && value->kind != AST_STAR)))
		return true;
	value->kind = AST_TEXT;
	value->is_negative = false; /* it looked like a number at first: -5x */
	value->text = word;
	value->text_bytes = n;
	return kind == AST_TEXT || kind == ANY_KIND;
}

/* --- The head --- */

static u32 skip_blanks(const char *text, u32 at)
{
	return at + (u32)strspn(text + at, " \t");
}

static u32 word_end(const char *text, u32 at)
{
	while (lex_is_word((unsigned char)text[at]))
		at++;
	return at;
}

/* The declaration that begins with the ":" at `at`, in a line that ends at `end`. */
static void read_declaration(struct arena *arena, struct diags *diags, u32 at, u32 end,
			     struct sql_declared *d)
{
	const char *text = diags->text;
	u32 name_end = word_end(text, at + 1), type = skip_blanks(text, name_end);
	u32 type_end = word_end(text, type), i = type_of(text + type, type_end - type), behind;

	d->span = (struct span){ at, name_end };
	d->value.name = arena_strndup(arena, text + at + 1, name_end - at - 1);
	if (i == ARRAY_SIZE(types)) {
		diag_error(diags, "bad-declaration", (struct span){ type, MAX(type_end, type + 1) },
			   "a parameter is declared with a type" HINT
			   "-- :%s TYPE = VALUE, where TYPE is INTEGER, REAL, DURATION, BOOLEAN, "
			   "TEXT or STREAM",
			   d->value.name);
		return;
	}
	d->kind = types[i].kind;
	d->type = types[i].name;
	behind = skip_blanks(text, type_end);
	if (text[behind] == '=') {
		u32 value = skip_blanks(text, behind + 1);

		behind = read_literal(arena, text, end, value, d->kind, &d->value);
		if (!behind || behind > end) {
			diag_error(diags, "bad-declaration",
				   (struct span){ value, MAX(end, value + 1) },
				   "this is no value for a %s" HINT "such as %s", d->type,
				   types[i].example);
			return;
		}
		d->written = arena_strndup(arena, text + value, behind - value);
	}
	behind = skip_blanks(text, behind);
	d->meaning = arena_strndup(arena, text + behind, end - MIN(behind, end));
}

bool sql_declared(struct arena *arena, struct diags *diags, struct sql_head *ret_head)
{
	const char *text = diags->text;
	u32 n = (u32)diags->text_bytes, next;

	*ret_head = (struct sql_head){ 0 };
	for (u32 at = 0; at < n; at = next) {
		u32 end = at + (u32)strcspn(text + at, "\r\n"), begin = skip_blanks(text, at);
		struct sql_declared d = { 0 };

		next = end + 1;
		if (begin == end || (at == 0 && strncmp(text, "#!", 2) == 0))
			continue;
		if (strncmp(text + begin, "--", 2) != 0)
			break;
		begin = skip_blanks(text, begin + 2);
		if (text[begin] != ':' || !lex_is_word_start((unsigned char)text[begin + 1])) {
			if (!ret_head->list.n)
				vec_push(arena, &ret_head->lines,
					 arena_strndup(arena, text + begin, end - begin));
			continue;
		}
		read_declaration(arena, diags, begin, end, &d);
		for (u32 i = 0; i < ret_head->list.n; i++)
			if (strcmp(ret_head->list.at[i].value.name, d.value.name) == 0)
				diag_error(diags, "duplicate-name", d.span,
					   "the parameter :%s is declared twice", d.value.name);
		vec_push(arena, &ret_head->list, d);
	}
	return !diags_failed(diags);
}

/* --- Together --- */

static struct sql_parameter *find(struct sql_parameters *all, const char *name)
{
	for (u32 i = 0; i < all->list.n; i++)
		if (strcmp(all->list.at[i].name, name) == 0)
			return &all->list.at[i];
	return NULL;
}

static const struct sql_declared *declared(const struct sql_head *head, const char *name)
{
	for (u32 i = 0; i < head->list.n; i++)
		if (strcmp(head->list.at[i].value.name, name) == 0)
			return &head->list.at[i];
	return NULL;
}

static void take_word(struct arena *arena, struct diags *diags, const struct sql_head *head,
		      struct sql_parameters *all, const struct sql_word *word)
{
	const struct sql_declared *d = declared(head, word->name);
	struct sql_parameter value = { .name = word->name };

	if (read_word(arena, word->text, d ? (int)d->kind : ANY_KIND, &value))
		vec_push(arena, &all->list, value);
	else
		diag_plain(diags, "bad-parameter",
			   "the value of :%s, \"%s\", is no %s" HINT "such as %s", word->name,
			   word->text, d->type, types[type_of(d->type, strlen(d->type))].example);
}

static const char *names_of(struct arena *arena, const struct sql_head *head)
{
	const char *names = "";

	for (u32 i = 0; i < head->list.n; i++)
		names = arena_printf(arena, "%s%s:%s", names, i ? ", " : "",
				     head->list.at[i].value.name);
	return names;
}

bool sql_bind(struct arena *arena, struct diags *diags, const struct sql_head *head,
	      struct sql_parameters *all)
{
	u32 n = 0;

	all->declared = names_of(arena, head);

	for (u32 i = 0; i < all->words.n; i++) {
		struct sql_word word = all->words.at[i];

		if (!word.name && n < head->list.n)
			word.name = head->list.at[n].value.name;
		else if (!word.name)
			word.name = arena_printf(arena, "%u", n + 1);
		n += !all->words.at[i].name;
		if (head->list.n && n > head->list.n)
			diag_plain(diags, "unknown-parameter",
				   "\"%s\" is one value too many" HINT
				   "there %s %u parameter%s, in this order: "
				   "\"ebql tools NAME\" or the script's head says which",
				   word.text, head->list.n == 1 ? "is" : "are", head->list.n,
				   head->list.n == 1 ? "" : "s");
		else if (find(all, word.name))
			diag_plain(diags, "bad-parameter", "the parameter :%s has two values",
				   word.name);
		else
			take_word(arena, diags, head, all, &word);
	}
	all->has_pid = declared(head, "pid") && find(all, "pid");
	all->is_pid_used = all->pid && declared(head, "pid") && !all->has_pid;
	if (all->is_pid_used)
		take_word(arena, diags, head, all, &(struct sql_word){ "pid", all->pid });
	for (u32 i = 0; i < head->list.n; i++)
		if (head->list.at[i].written && !find(all, head->list.at[i].value.name))
			vec_push(arena, &all->list, head->list.at[i].value);
	return !diags_failed(diags);
}
