/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Calls of functions that name numbers.
 */
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

#include "plan/bind.h"

#define WORDS_MAX 3

/* --- Calls --- */

static struct expr *wrong(struct scope *scope, const struct ast *ast, const char *takes)
{
	return diag_refuse(scope->diags, "wrong-arguments", ast->span, "%s() takes %s", ast->text,
			   takes);
}

/* The numbers that an argument is; how many, 0 after a diagnostic. */
static u32 bind_words(struct scope *scope, const struct ast *call, const struct ast *ast,
		      bool is_address, struct expr **ret_words)
{
	struct expr *e = is_address ? bind_path(scope, ast) : bind_expr(scope, ast);
	struct catalog_member facts;
	u32 n = 0;

	if (!e)
		return 0;
	if (is_address && !bind_is_value(scope, e) && bind_facts(scope, e, &facts) &&
	    (facts.size_bytes == 4 || facts.size_bytes == 16)) {
		for (u32 at = 0; at < facts.size_bytes; at += 8)
			ret_words[n++] = bind_word_at(scope, e, at, MIN(facts.size_bytes, 8u));
		return ret_words[0] && ret_words[n - 1] ? n : 0;
	}
	ret_words[0] = is_address ? bind_check_value(scope, e, ast) : e;
	if (!ret_words[0])
		return 0;
	if (!expr_is_text(e) && e->type.kind != TYPE_REAL)
		return 1;
	diag_refuse(scope->diags, "type-mismatch", e->span,
		    "%s() takes a whole number here, this is a %s" HINT "%s", call->text,
		    expr_is_text(e) ? "text" : "real number",
		    is_address ? "or an array of 4 or 16 bytes, as saddr and saddr_v6 are"
			       : "CAST(x AS INTEGER) makes a whole number");
	return 0;
}

static struct expr *call_of(struct arena *arena, const struct naming *naming, struct span span,
			    struct expr **args, u32 n)
{
	struct sql_function *f = arena_new(arena, struct sql_function);

	*f = (struct sql_function){ .name = naming->name,
				    .sql = naming->sql,
				    .least = 1,
				    .most = (u8)n,
				    .takes = "i",
				    .result = TYPE_TEXT,
				    .takes_big = true,
				    .naming = naming };
	return expr_call(arena, f, span, args, n);
}

bool bind_naming(struct scope *scope, const struct ast *ast, struct expr **ret_expr)
{
	const struct naming *naming = naming_find(ast->text);
	struct expr **words = arena_array(scope->arena, struct expr *, WORDS_MAX);
	bool is_address = naming == &naming_inet || naming == &naming_ntop;
	u32 n = 0, n_args = naming == &naming_ntop ? 2 : 1;

	*ret_expr = NULL;
	if (!naming)
		return false;
	if (ast->star || ast->distinct || ast->filter || ast->n_args != n_args)
		return wrong(scope, ast,
			     n_args > 1 ? "a family and an address: ntop(family, saddr)"
					: "1 argument"),
		       true;
	for (u32 i = 0; i < n_args; i++) {
		u32 more = bind_words(scope, ast, ast->args[i], is_address && i + 1 == n_args,
				      words + n);

		if (!more)
			return true;
		n += more;
	}
	if (naming == &naming_usym) {
		words[n] =
			bind_pid_in(scope, "usym", catalog_pid_ns(scope->catalog).ino, ast->span);
		if (!words[n++])
			return true;
		scope->settings->is_usym_used = true;
	}
	if (naming->prepare)
		naming->prepare();
	if (naming->of_signed && words[0]->lo < 0 && type_is_word(words[0]->type)) {
		naming = naming->of_signed;
		/* What C calls errno is -ret: the name is that of ret. */
		if (words[0]->kind == EXPR_OP && words[0]->op == OP_NEG)
			words[0] = words[0]->args[0];
	}
	*ret_expr = call_of(scope->arena, naming, ast->span, words, n);
	return true;
}
