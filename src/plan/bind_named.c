/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Names of numbers: comparisons with a name as such of the numbers that have it, and what is
 * grouped by.
 */
#include <string.h>

#include "plan/bind.h"

/* --- Comparisons with a name --- */

static struct expr *unknown_name(struct scope *scope, const struct naming *naming,
				 const struct expr *name, const struct suggest *suggest)
{
	struct diag *d = diag_error(scope->diags, "unknown-name", name->span,
				    "%s() names no number \"%s\"", naming->name, name->text);

	if (suggest_best(suggest))
		diag_hint(scope->diags, d, "did you mean \"%s\"?", suggest_best(suggest));
	else
		diag_hint(scope->diags, d, "they are as \"%s\"", naming->example);
	return NULL;
}

static struct expr *equals(struct scope *scope, struct span span, struct expr *x, s128 number)
{
	return bind_op(scope, OP_EQ, span, x,
		       expr_integer(scope->arena, span, type_int(64, number <= INT64_MAX), number));
}

/* Both halves; NULL where they are, and so the address was not read. */
static struct expr *equals_address(struct scope *scope, struct span span, struct expr **x,
				   const struct expr *name)
{
	struct suggest suggest;
	u64 words[2];

	suggest_init(&suggest, name->text);
	if (!naming_address(name->text, words))
		return unknown_name(scope, &naming_inet, name, &suggest);
	return bind_case_of(scope, span, expr_make(scope->arena, EXPR_IS_NULL, span, 1, x[0]),
			    expr_new(scope->arena, EXPR_NULL, span),
			    bind_op(scope, OP_AND, span, equals(scope, span, x[0], words[0]),
				    equals(scope, span, x[1], words[1])));
}

static struct expr *has_bits(struct scope *scope, struct span span, struct expr *x,
			     const struct naming_bits *bits)
{
	if (bits->mask)
		x = bind_op(scope, OP_BIT_AND, span, x,
			    expr_integer(scope->arena, span, type_int(64, true), bits->mask));
	return equals(scope, span, x, bits->value);
}

/* By their bits, or NULL after a diagnostic. */
static struct expr *equals_bits(struct scope *scope, struct span span, const struct expr *call,
				const struct expr *name)
{
	const struct naming *naming = call->function->naming;
	struct naming_bits bits[NAMING_NUMBERS];
	struct expr *e = NULL;
	struct suggest suggest;
	u32 n;

	suggest_init(&suggest, name->text);
	n = naming->bits_of(name->text, bits, &suggest);
	/* One without a name is shown as its digits. */
	if (!n && naming_numbers(naming, name->text, &bits[0].value, &suggest)) {
		bits[0].mask = 0;
		n = 1;
	}
	if (!n)
		return unknown_name(scope, naming, name, &suggest);
	for (u32 i = 0; i < n; i++) {
		struct expr *is = has_bits(scope, span, call->args[0], &bits[i]);

		e = e ? bind_op(scope, OP_OR, span, e, is) : is;
	}
	return e;
}

/* The numbers that have a name; 0 after a diagnostic. */
static u32 numbers_of(struct scope *scope, const struct expr *call, const struct expr *name,
		      s64 *ret_numbers)
{
	struct suggest suggest;
	u32 n;

	suggest_init(&suggest, name->text);
	n = naming_numbers(call->function->naming, name->text, ret_numbers, &suggest);
	if (!n)
		unknown_name(scope, call->function->naming, name, &suggest);
	return n;
}

/* Is it a function of numbers that can be told by their name? */
static bool has_numbers(const struct expr *e)
{
	return function_is_naming(e) && e->function->naming->example &&
	       !e->function->naming->ranges_of && e->args[0]->type.kind != TYPE_NULL;
}

static bool is_of_ranges(const struct expr *e)
{
	return function_is_naming(e) && e->function->naming->ranges_of && e->args[0]->lo >= 0 &&
	       type_is_word(e->args[0]->type);
}

/* An address in one of the functions of that name; -1: that is not known here. */
static int in_ranges(struct scope *scope, struct span span, const struct expr *call,
		     const struct expr *name, struct expr **ret_expr)
{
	struct expr *x = call->args[0], *e = NULL;
	struct naming_range ranges[NAMING_NUMBERS];
	struct suggest suggest;
	int n;

	suggest_init(&suggest, name->text);
	n = call->function->naming->ranges_of(name->text, ranges, &suggest);
	if (!n)
		unknown_name(scope, call->function->naming, name, &suggest);
	for (int i = 0; i < n; i++) {
		struct expr *lo = expr_integer(scope->arena, span, type_int(64, false),
					       ranges[i].lo),
			    *end = expr_integer(scope->arena, span, type_int(64, false),
						ranges[i].end),
			    *is = bind_op(scope, OP_AND, span, bind_op(scope, OP_GE, span, x, lo),
					  bind_op(scope, OP_LT, span, x, end));

		e = e ? bind_op(scope, OP_OR, span, e, is) : is;
	}
	*ret_expr = e;
	return n;
}

bool bind_named(struct scope *scope, enum ast_op op, struct span span, struct expr *a,
		struct expr *b, struct expr **ret_expr)
{
	struct expr *call = a && (has_numbers(a) || is_of_ranges(a)) ? a : b,
		    *name = call == a ? b : a, *e = NULL;
	s64 numbers[NAMING_NUMBERS];
	u32 n;

	if (!a || !b || (op != OP_EQ && op != OP_NE) || name->kind != EXPR_TEXT ||
	    (!has_numbers(call) && !is_of_ranges(call)))
		return false;
	if (is_of_ranges(call)) {
		if (in_ranges(scope, span, call, name, &e) < 0)
			return false;
	} else if (call->function->naming->bits_of) {
		e = equals_bits(scope, span, call, name);
	} else if (call->n_args == 2) {
		e = equals_address(scope, span, call->args, name);
	} else {
		n = numbers_of(scope, call, name, numbers);
		for (u32 i = 0; i < n; i++) {
			struct expr *is = equals(scope, span, call->args[0], numbers[i]);

			e = e ? bind_op(scope, OP_OR, span, e, is) : is;
		}
	}
	*ret_expr = e && op == OP_NE ? bind_op(scope, OP_NOT, span, e, NULL) : e;
	return true;
}

bool bind_named_list(struct scope *scope, struct expr ***args, u32 *n)
{
	struct expr **names = *args, *call = names[0], **to;
	s64 numbers[NAMING_NUMBERS];
	u32 n_to = 1;

	if (!has_numbers(call) || call->n_args > 1)
		return true;
	for (u32 i = 1; i < *n; i++)
		if (names[i]->kind != EXPR_TEXT)
			return true;
	/* It is tested in user space, if all are names. */
	for (u32 i = 1; i < *n && call->function->naming->bits_of; i++)
		if (!equals_bits(scope, names[i]->span, call, names[i]))
			return false;
	if (call->function->naming->bits_of)
		return true;
	to = arena_array(scope->arena, struct expr *, *n * NAMING_NUMBERS);
	to[0] = call->args[0];
	for (u32 i = 1; i < *n; i++) {
		u32 more = numbers_of(scope, call, names[i], numbers);

		if (!more)
			return false;
		for (u32 k = 0; k < more; k++)
			to[n_to++] = expr_number(scope->arena, names[i]->span, numbers[k]);
	}
	*args = to;
	*n = n_to;
	return true;
}

/* --- LIKE '%|O_CREAT|%' --- */

/* Is it flags, perhaps between '|'?  Else what stands between two | may be no flag. */
static bool is_of_flags(const struct expr *e, const struct naming **naming)
{
	bool is_whole = e->kind == EXPR_OP && e->op == OP_CONCAT;

	if (e->kind == EXPR_TEXT)
		return strspn(e->text, "|") == e->text_bytes;
	if (function_is_naming(e)) {
		*naming = e->function->naming;
		return (*naming)->flags;
	}
	for (u32 i = 0; is_whole && i < e->n_args; i++)
		is_whole = is_of_flags(e->args[i], naming);
	return is_whole;
}

/* false: it is not known before it runs. */
static bool put_constant(const struct expr *e, struct buf *text)
{
	bool is_known = e->kind == EXPR_TEXT || (e->kind == EXPR_OP && e->op == OP_CONCAT);

	if (e->kind == EXPR_TEXT)
		buf_put(text, e->text, e->text_bytes);
	for (u32 i = 0; e->kind == EXPR_OP && i < e->n_args && is_known; i++)
		is_known = put_constant(e->args[i], text);
	return is_known;
}

bool bind_named_flags(struct scope *scope, const struct expr *x, const struct expr *pattern)
{
	const struct naming *naming = NULL;
	struct expr name = *pattern;
	struct suggest suggest;
	struct buf text;
	char *at, *word;

	buf_init_in(&text, scope->arena);
	if (!is_of_flags(x, &naming) || !naming || !put_constant(pattern, &text) || !text.n)
		return true;
	/* What stands ahead of the first | and behind the last may be a part of a name. */
	at = strchr(text.at, '|');
	for (at = at ? at + 1 : NULL; at && strchr(at, '|');) {
		word = strsep(&at, "|");
		suggest_init(&suggest, word);
		name.text = word;
		if (*word && !word[strspn(word, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789")] &&
		    !naming_has_flag(naming, word, &suggest))
			return unknown_name(scope, naming, &name, &suggest);
	}
	return true;
}

/* --- GROUP BY --- */

/* Many addresses have one name: they are one group. */
void bind_push_keys(struct scope *scope, const char *name, struct expr *e)
{
	if (!function_is_naming(e) || e->function->naming->is_address)
		vec_push(scope->arena, &scope->keys, (struct item){ name, e });
	else if (e->n_args == 1)
		bind_push_keys(scope, name, e->args[0]);
	else
		for (u32 i = 0; i < e->n_args; i++)
			if (!expr_is_constant(e->args[i]))
				bind_push_keys(scope, name, e->args[i]);
}
