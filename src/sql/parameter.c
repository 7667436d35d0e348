/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * :name or $1 -> the literal that is its value, at the place of the name: what comes behind the
 * tokens knows nothing of parameters, and a value can stand wherever such a literal can.
 */
#include <string.h>

#include "sql/parse.h"

static struct sql_parameter *find(const struct parser *p, const struct token *token)
{
	const char *name = p->text + token->span.start + 1;
	u32 n = token->span.end - token->span.start - 1;

	for (u32 i = 0; p->parameters && i < p->parameters->list.n; i++) {
		struct sql_parameter *parameter = &p->parameters->list.at[i];

		if (strlen(parameter->name) == n && memcmp(parameter->name, name, n) == 0)
			return parameter;
	}
	return NULL;
}

/* A value below zero stays a parameter, which stands where expressions do. */
struct sql_parameter *parameter_read(const struct parser *p, struct token *token)
{
	static const u8 kinds[] = {
		[AST_NULL] = TOKEN_WORD,       [AST_BOOL] = TOKEN_WORD,
		[AST_INTEGER] = TOKEN_INTEGER, [AST_DURATION] = TOKEN_DURATION,
		[AST_REAL] = TOKEN_REAL,       [AST_TEXT] = TOKEN_TEXT,
		[AST_NAME] = TOKEN_PATH,
	};
	struct sql_parameter *value = find(p, token);

	if (!value)
		return NULL;
	token->parameter = value;
	token->integer = value->integer;
	token->real = value->real;
	if (!value->is_negative)
		token->kind = kinds[value->kind];
	if (value->kind == AST_NULL)
		token->keyword = KW_NULL;
	else if (value->kind == AST_BOOL)
		token->keyword = value->integer ? KW_TRUE : KW_FALSE;
	return value;
}

const char *parameter_nearest(const struct parser *p, const struct token *token)
{
	const struct sql_parameters *all = p->parameters;
	struct suggest suggest;

	suggest_init(&suggest, arena_strndup(p->arena, p->text + token->span.start + 1,
					     token->span.end - token->span.start - 1));
	for (u32 i = 0; all && i < all->list.n; i++)
		suggest_offer(&suggest, all->list.at[i].name);
	return suggest_best(&suggest);
}

const char *parameter_text(const struct parser *p, const struct sql_parameter *value,
			   u32 *ret_bytes)
{
	struct buf text;

	buf_init_in(&text, p->arena);
	if (value->kind == AST_TEXT || value->kind == AST_NAME)
		buf_put(&text, value->text, value->text_bytes);
	else if (value->kind == AST_REAL)
		buf_put_real(&text, value->real);
	else
		buf_put_u64(&text, value->integer);
	if (ret_bytes)
		*ret_bytes = (u32)text.n;
	return text.at;
}
