/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * AST expressions -> typed expressions: operators with their type rules,
 * literals, BETWEEN, IN, LIKE, CASE, CAST.
 */
#include <math.h>
#include <string.h>
#include <strings.h>

#include "plan/bind.h"

static struct expr **args_of(struct scope *scope, u32 n, struct expr *a, struct expr *b)
{
	struct expr **args = arena_array(scope->arena, struct expr *, n);

	args[0] = a;
	if (n > 1)
		args[1] = b;
	return args;
}

static const char *type_word(const struct expr *e)
{
	switch (e->type.kind) {
	case TYPE_TEXT:
	case TYPE_BLOB:
		return "a text";
	case TYPE_DURATION:
		return "a duration";
	case TYPE_TIMESTAMP:
		return "a time";
	case TYPE_BOOL:
		return "true or false";
	case TYPE_POINTER:
		return "an address";
	default:
		return "a number";
	}
}

static struct expr *type_mismatch(struct scope *scope, enum ast_op op, struct span span,
				  const struct expr *a, const struct expr *b)
{
	const struct expr *text = a->type.kind == TYPE_TEXT ? a : b;
	const struct expr *other = text == a ? b : a;
	struct diag *d = diag_error(scope->diags, "type-mismatch", span, "%s is between %s and %s",
				    ast_op_names[op], type_word(a), type_word(b));

	if (text->kind == EXPR_TEXT && other->kind == EXPR_SYSTEM &&
	    (other->index == SYS_PID || other->index == SYS_TID))
		diag_hint(scope->diags, d, "%s is a number; the name is in comm", other->name);
	else if (text->kind == EXPR_TEXT && other->type.kind == TYPE_TIMESTAMP)
		diag_hint(
			scope->diags, d,
			"times are ns since 1970, live since boot; strftime('%%Y-%%m-%%d', x) makes "
			"a text of one");
	else if (*bind_note(scope, text))
		diag_hint(scope->diags, d, "%s is %s", text->name, bind_note(scope, text));
	else if (other->kind == EXPR_INTEGER)
		diag_hint(scope->diags, d, "write the number as a text: '%lld'",
			  (long long)other->integer);
	else if (text->kind == EXPR_TEXT)
		diag_hint(scope->diags, d, "leave the quotes away to compare numbers");
	else
		diag_hint(scope->diags, d, "both sides must be texts or both numbers");
	return NULL;
}

/* x < 1.5 is x < 2, and so on: an integer against a REAL constant, exactly, without REAL. */
static struct expr *compare_with_real(struct scope *scope, enum ast_op op, struct span span,
				      struct expr *x, double real)
{
	double bound;
	struct type s64_type = type_int(64, true);

	if (op == OP_LT || op == OP_GE)
		bound = ceil(real);
	else
		bound = floor(real);
	if (!(fabs(bound) < 9.2e18))
		return NULL;
	if ((op == OP_EQ || op == OP_NE) && bound != real)
		return bind_op(scope, op == OP_EQ ? OP_NE : OP_EQ, span, x, x);
	return bind_op(scope, op, span, x, expr_integer(scope->arena, span, s64_type, (s64)bound));
}

static bool is_text(const struct expr *e)
{
	return e->type.kind == TYPE_TEXT || e->type.kind == TYPE_BLOB;
}

bool bind_fits(struct scope *scope, enum ast_op op, struct span span, struct expr *a,
	       struct expr *b)
{
	bool wants_numbers = op <= OP_SHIFT_RIGHT || op >= OP_AND;

	if (b && is_text(a) != is_text(b) && a->type.kind != TYPE_NULL &&
	    b->type.kind != TYPE_NULL && op != OP_CONCAT) {
		type_mismatch(scope, op, span, a, b);
		return false;
	}
	if (wants_numbers && (is_text(a) || (b && is_text(b)))) {
		struct diag *d = diag_error(scope->diags, "type-mismatch", span,
					    "%s works on numbers, not on texts", ast_op_names[op]);

		diag_hint(scope->diags, d, "compare texts with =, <>, <, >, IN or LIKE");
		return false;
	}
	return true;
}

/* x IS NULL, x IS NOT NULL: NULL on either side, also one that is computed. */
static struct expr *bind_is_null_op(struct scope *scope, enum ast_op op, struct span span,
				    struct expr *x)
{
	struct expr *e = expr_new(scope->arena, EXPR_IS_NULL, span);

	e->n_args = 1;
	e->args = args_of(scope, 1, x, NULL);
	expr_infer(e);
	return op == OP_IS ? e : bind_op(scope, OP_NOT, span, e, NULL);
}

struct expr *bind_op(struct scope *scope, enum ast_op op, struct span span, struct expr *a,
		     struct expr *b)
{
	bool is_comparison = op >= OP_EQ && op <= OP_GE;

	if (!a || (!b && op < OP_NOT))
		return NULL;
	if (!bind_fits(scope, op, span, a, b))
		return NULL;
	if (b)
		bind_clocks(scope, op, &a, &b);
	if (is_comparison && b->kind == EXPR_REAL && !a->is_user_only && type_is_word(a->type)) {
		struct expr *e = compare_with_real(scope, op, span, a, b->real);

		if (e)
			return e;
	} else if (is_comparison && a->kind == EXPR_REAL && !b->is_user_only &&
		   type_is_word(b->type)) {
		struct expr *e = compare_with_real(scope, expr_op_mirrored(op), span, b, a->real);

		if (e)
			return e;
	}
	/* A constant -9223372036854775808 is a negation of 2^63, which fits only unsigned. */
	if (op == OP_NEG && a->kind == EXPR_INTEGER && a->integer <= (s128)1 << 63)
		return expr_integer(
			scope->arena, span,
			(struct type){ .kind = a->type.kind, .bits = 64, .is_signed = true },
			-a->integer);
	if (op == OP_NEG && a->kind == EXPR_REAL) {
		struct expr *r = expr_new(scope->arena, EXPR_REAL, span);

		r->real = -a->real;
		r->type = a->type;
		expr_infer(r);
		return r;
	}
	if ((op == OP_IS || op == OP_IS_NOT) &&
	    (a->type.kind == TYPE_NULL || b->type.kind == TYPE_NULL))
		return bind_is_null_op(scope, op, span, a->type.kind == TYPE_NULL ? b : a);
	struct expr *e = expr_new(scope->arena, EXPR_OP, span);

	e->op = op;
	e->n_args = b ? 2 : 1;
	e->args = args_of(scope, e->n_args, a, b);
	expr_infer(e);
	bind_difference(scope, e);
	return e;
}

static struct expr *bind_literal(struct scope *scope, const struct ast *ast)
{
	struct expr *e;
	struct type type = type_int(64, ast->integer <= INT64_MAX);

	switch (ast->kind) {
	case AST_NULL:
		e = expr_new(scope->arena, EXPR_NULL, ast->span);
		e->nullable = true;
		return e;
	case AST_REAL:
		e = expr_new(scope->arena, EXPR_REAL, ast->span);
		e->real = ast->real;
		e->type = (struct type){ .kind = TYPE_REAL };
		expr_infer(e);
		return e;
	case AST_TEXT:
		e = expr_new(scope->arena, EXPR_TEXT, ast->span);
		e->text = ast->text;
		e->text_bytes = ast->text_bytes;
		e->type = type_text(ast->text_bytes);
		return e;
	case AST_BOOL:
		type = (struct type){ .kind = TYPE_BOOL, .bits = 8 };
		break;
	case AST_DURATION:
		type.kind = TYPE_DURATION;
		break;
	default:
		break;
	}
	return expr_integer(scope->arena, ast->span, type, ast->integer);
}

static struct expr *negate(struct scope *scope, struct expr *e, const struct ast *ast)
{
	return e && ast->negated ? bind_op(scope, OP_NOT, ast->span, e, NULL) : e;
}

static struct expr *bind_between(struct scope *scope, const struct ast *ast)
{
	struct expr *x = bind_expr(scope, ast->args[0]);
	struct expr *lo = bind_expr(scope, ast->args[1]);
	struct expr *hi = bind_expr(scope, ast->args[2]);

	if (!x || !lo || !hi)
		return NULL;
	return negate(scope,
		      bind_op(scope, OP_AND, ast->span, bind_op(scope, OP_GE, ast->span, x, lo),
			      bind_op(scope, OP_LE, ast->span, x, hi)),
		      ast);
}

/* Beside a text an unknown word, or one in double quotes, was meant as a text. */
static struct expr *bind_beside(struct scope *scope, const struct ast *ast, const struct expr *x)
{
	struct expr *e;

	scope->wants_text = x && is_text(x) && ast->kind == AST_NAME && ast->n_parts == 1;
	e = bind_expr(scope, ast);
	scope->wants_text = false;
	return e;
}

/* IN over constants of one kind stays one node; others become a chain of = and OR. */
static struct expr *bind_in(struct scope *scope, const struct ast *ast)
{
	struct expr *e = expr_new(scope->arena, EXPR_IN, ast->span);
	struct expr *null = NULL; /* x IN (1, NULL) is x IN (1) OR NULL */
	bool all_constant = true, is_user_only = false;
	u32 n = 1;

	e->args = arena_array(scope->arena, struct expr *, MAX(ast->n_args, 1u));
	for (u32 i = 0; i < ast->n_args; i++) {
		struct expr *c = bind_beside(scope, ast->args[i], i ? e->args[0] : NULL);

		if (!c)
			return NULL;
		is_user_only |= c->is_user_only;
		if (i == 0) {
			e->args[0] = c;
		} else {
			if (c->type.kind != TYPE_NULL && e->args[0]->type.kind != TYPE_NULL &&
			    is_text(c) != is_text(e->args[0]))
				return type_mismatch(scope, OP_EQ, c->span, e->args[0], c);
			all_constant &= c->kind == EXPR_INTEGER || c->kind == EXPR_TEXT ||
					c->kind == EXPR_NULL;
			if (c->kind == EXPR_NULL)
				null = c;
			else
				e->args[n++] = c;
		}
	}
	if (ast->n_args == 1)
		return negate(scope,
			      expr_integer(scope->arena, ast->span,
					   (struct type){ .kind = TYPE_BOOL, .bits = 8 }, 0),
			      ast);
	e->n_args = n;
	/* Texts compare in one way; each number has its own.  The kernel has lists of constants. */
	if ((all_constant || (is_user_only && is_text(e->args[0]))) && n > 2) {
		expr_infer(e);
		return negate(scope, null ? bind_op(scope, OP_OR, ast->span, e, null) : e, ast);
	}
	struct expr *any = null ? bind_op(scope, OP_EQ, ast->span, e->args[0], null) : NULL;

	for (u32 i = 1; i < n; i++) {
		struct expr *is = bind_op(scope, OP_EQ, ast->span, e->args[0], e->args[i]);

		any = any ? bind_op(scope, OP_OR, ast->span, any, is) : is;
	}
	return negate(scope, any, ast);
}

/* States of the automaton that runs patterns, gen/pattern.c: bits of a register, less the first. */
#define PATTERN_ELEMENTS_MAX 63

/* What the pattern matches one by one; a [set] of GLOB is one. */
static u32 pattern_elements(const struct expr *pattern, bool is_glob)
{
	u32 n = 0;

	for (u32 i = 0; i < pattern->text_bytes; i++) {
		const char *close = is_glob && pattern->text[i] == '['
					    ? strchr(pattern->text + i + 1, ']')
					    : NULL;

		if (pattern->text[i] == (is_glob ? '*' : '%'))
			continue;
		n++;
		if (close)
			i = (u32)(close - pattern->text);
	}
	return n;
}

static bool is_kernel_pattern(const struct ast *ast, const struct expr *pattern)
{
	return ast->n_args < 3 && pattern->kind == EXPR_TEXT &&
	       pattern_elements(pattern, strcmp(ast->text, "GLOB") == 0) <= PATTERN_ELEMENTS_MAX;
}

/* A pattern that only SQLite can match. */
static struct expr *bind_match(struct scope *scope, const struct ast *ast, struct expr *x,
			       struct expr *pattern)
{
	struct expr *e = expr_new(scope->arena, EXPR_MATCH, ast->span);

	e->is_glob = strcmp(ast->text, "GLOB") == 0;
	e->args = arena_array(scope->arena, struct expr *, 3);
	e->args[e->n_args++] = x;
	e->args[e->n_args++] = pattern;
	if (!is_text(pattern) && pattern->type.kind != TYPE_NULL)
		return type_mismatch(scope, OP_EQ, ast->args[1]->span, x, pattern);
	if (ast->n_args > 2) {
		e->args[e->n_args] = bind_expr(scope, ast->args[2]);
		if (!e->args[e->n_args++])
			return NULL;
	}
	expr_infer(e);
	return negate(scope, e, ast);
}

static struct expr *bind_like(struct scope *scope, const struct ast *ast)
{
	struct expr *x = bind_expr(scope, ast->args[0]);
	struct expr *pattern = bind_beside(scope, ast->args[1], x);
	struct expr *e;

	if (!x || !pattern)
		return NULL;
	if (pattern->kind == EXPR_NULL || x->kind == EXPR_NULL)
		return bind_op(scope, OP_EQ, ast->span, x, pattern);
	if (!is_text(x) && x->type.kind != TYPE_NULL)
		return type_mismatch(scope, OP_EQ, ast->span, x, pattern);
	if (!is_kernel_pattern(ast, pattern))
		return bind_match(scope, ast, x, pattern);
	e = expr_new(scope->arena, EXPR_LIKE, ast->span);
	e->is_glob = strcmp(ast->text, "GLOB") == 0;
	e->text = pattern->text;
	e->text_bytes = pattern->text_bytes;
	e->n_args = 1;
	e->args = args_of(scope, 1, x, NULL);
	expr_infer(e);
	return negate(scope, e, ast);
}

static struct expr *bind_is_null(struct scope *scope, const struct ast *ast)
{
	struct expr *e = expr_new(scope->arena, EXPR_IS_NULL, ast->span);
	struct expr *x = bind_expr(scope, ast->args[0]);

	if (!x)
		return NULL;
	e->n_args = 1;
	e->args = args_of(scope, 1, x, NULL);
	expr_infer(e);
	return negate(scope, e, ast);
}

static bool check_condition(struct scope *scope, const struct expr *e, const char *clause)
{
	if (!is_text(e))
		return true;
	diag_hint(scope->diags,
		  diag_error(scope->diags, "type-mismatch", e->span,
			     "%s needs a condition, this is a text", clause),
		  "compare it: comm = 'nginx'");
	return false;
}

struct expr *bind_case_done(struct scope *scope, struct expr *e, const char *clause)
{
	const struct expr *typed = NULL;

	for (u32 i = 0; i + 1 < e->n_args; i += 2)
		if (!check_condition(scope, e->args[i], clause))
			return NULL;
	for (u32 i = 1; i <= e->n_args; i += 2) {
		const struct expr *r = e->args[MIN(i, e->n_args - 1)];

		if (r->kind == EXPR_NULL || r->type.kind == TYPE_NULL)
			continue;
		if (typed && is_text(typed) != is_text(r))
			return type_mismatch(scope, OP_EQ, r->span, typed, r);
		typed = r;
	}
	expr_infer(e);
	return e;
}

static struct expr *bind_case(struct scope *scope, const struct ast *ast)
{
	struct expr *e = expr_new(scope->arena, EXPR_CASE, ast->span);
	struct expr *operand = ast->args[0] ? bind_expr(scope, ast->args[0]) : NULL;

	if (ast->args[0] && !operand)
		return NULL;
	e->n_args = ast->n_args - 1 + 1;
	e->args = arena_array(scope->arena, struct expr *, e->n_args);
	for (u32 i = 1; i < ast->n_args; i++) {
		struct expr *x = bind_expr(scope, ast->args[i]);

		if (x && i % 2 == 1 && operand)
			x = bind_op(scope, OP_EQ, ast->args[i]->span, operand, x);
		if (!x)
			return NULL;
		e->args[i - 1] = x;
	}
	e->args[e->n_args - 1] = ast->otherwise ? bind_expr(scope, ast->otherwise)
						: expr_new(scope->arena, EXPR_NULL, ast->span);
	if (!e->args[e->n_args - 1])
		return NULL;
	return bind_case_done(scope, e, "WHEN");
}

static struct expr *bind_cast(struct scope *scope, const struct ast *ast)
{
	static const struct {
		const char *name;
		struct type type;
	} casts[] = {
		{ "INTEGER", { .kind = TYPE_INT, .bits = 64, .is_signed = true } },
		{ "INT", { .kind = TYPE_INT, .bits = 64, .is_signed = true } },
		{ "BIGINT", { .kind = TYPE_INT, .bits = 64, .is_signed = true } },
		{ "DOUBLE", { .kind = TYPE_REAL } },
		{ "DURATION", { .kind = TYPE_DURATION, .bits = 64, .is_signed = true } },
		{ "REAL", { .kind = TYPE_REAL } },
		{ "TEXT", { .kind = TYPE_TEXT } },
	};
	struct expr *x = bind_expr(scope, ast->args[0]);

	if (!x)
		return NULL;
	for (u32 i = 0; i < ARRAY_SIZE(casts); i++) {
		if (strcasecmp(casts[i].name, ast->text) != 0)
			continue;
		struct expr *e = expr_new(scope->arena, EXPR_CAST, ast->span);

		if (type_is_word(x->type) && type_is_word(casts[i].type)) {
			/* The same 64 bits under another unit: x + 0 keeps range and checks. */
			struct type zero = { .kind = casts[i].type.kind,
					     .bits = 64,
					     .is_signed = true };

			e = bind_op(scope, OP_ADD, ast->span, x,
				    expr_integer(scope->arena, ast->span, zero, 0));
			if (e)
				e->type.kind = casts[i].type.kind;
			return e;
		}
		e->type = casts[i].type;
		e->n_args = 1;
		e->args = args_of(scope, 1, x, NULL);
		e->nullable = x->nullable;
		e->lo = INT64_MIN;
		e->hi = INT64_MAX;
		expr_infer(e);
		return e;
	}
	diag_hint(scope->diags,
		  diag_error(scope->diags, "not-supported", ast->span,
			     "there is no CAST to \"%s\" yet", ast->text),
		  "INTEGER, DURATION, REAL and TEXT are possible");
	return NULL;
}

struct expr *bind_condition(struct scope *scope, const struct ast *ast, const char *clause)
{
	struct expr *e = bind_expr(scope, ast);

	return e && check_condition(scope, e, clause) ? e : NULL;
}

/* x = NULL is legal, and never true. */
static void warn_null(struct scope *scope, const struct ast *ast)
{
	bool is_equal = ast->op == OP_EQ || ast->op == OP_NE;

	if (!is_equal || (ast->args[0]->kind != AST_NULL && ast->args[1]->kind != AST_NULL))
		return;
	diag_hint(scope->diags,
		  diag_warning(scope->diags, "null-comparison", ast->span,
			       "a comparison with NULL is never true"),
		  ast->op == OP_EQ ? "x IS NULL" : "x IS NOT NULL");
}

static struct expr *bind_node(struct scope *scope, const struct ast *ast)
{
	switch (ast->kind) {
	case AST_NULL:
	case AST_BOOL:
	case AST_INTEGER:
	case AST_REAL:
	case AST_TEXT:
	case AST_DURATION:
		return bind_literal(scope, ast);
	case AST_NAME:
		return bind_name(scope, ast);
	case AST_UNARY:
		/* -2^63 by itself is no 2^63 that is then negated. */
		if (ast->op == OP_NEG && ast->args[0]->kind == AST_INTEGER &&
		    ast->args[0]->integer == (u64)INT64_MAX + 1)
			return expr_integer(scope->arena, ast->span, type_int(64, true), INT64_MIN);
		return bind_op(scope, ast->op, ast->span, bind_expr(scope, ast->args[0]), NULL);
	case AST_BINARY: {
		struct expr *a = bind_expr(scope, ast->args[0]);

		warn_null(scope, ast);
		return bind_op(scope, ast->op, ast->span, a, bind_beside(scope, ast->args[1], a));
	}
	case AST_BETWEEN:
		return bind_between(scope, ast);
	case AST_IN:
		return bind_in(scope, ast);
	case AST_LIKE:
		return bind_like(scope, ast);
	case AST_IS_NULL:
		return bind_is_null(scope, ast);
	case AST_CASE:
		return bind_case(scope, ast);
	case AST_CAST:
		return bind_cast(scope, ast);
	case AST_CALL:
		return bind_call(scope, ast);
	case AST_STAR:
		diag_error(scope->diags, "star-here", ast->span,
			   "* stands for all columns only in the SELECT list and in count(*)");
		return NULL;
	case AST_SUBQUERY:
	case AST_EXISTS:
	case AST_IN_SELECT:
		return bind_subquery(scope, ast);
	default:
		diag_hint(scope->diags,
			  diag_error(scope->diags, "not-supported", ast->span,
				     "array elements are not available yet"),
			  "see the manual for what this version can do");
		return NULL;
	}
}

static struct expr *histogram_here(struct scope *scope, const struct ast *ast, const struct expr *e)
{
	bool is_histogram = e->type.kind == TYPE_HISTOGRAM, is_top = e->type.kind == TYPE_TOP;
	struct diag *d = diag_error(scope->diags, "histogram-here", ast->span,
				    "%s can only be a column of the result, by itself",
				    is_histogram ? "a histogram"
				    : is_top	 ? "a list of top values"
						 : "a list of quantiles");

	diag_hint(scope->diags, d, "%s",
		  is_histogram ? "compute with sum, min, max or quantile(x, q)"
		  : is_top     ? "UNNEST(top_k(x, k)) has its rows"
			       : "compute with quantile(x, q), or p50 ... p999");
	return NULL;
}

/* BETWEEN, abs() and the like use an argument more than once; nested, that multiplies. */
#define EXPR_NODES_MAX 4000

struct expr *bind_expr(struct scope *scope, const struct ast *ast)
{
	bool is_top = scope->is_top_of_item;
	struct expr *e;

	scope->is_top_of_item = false;
	e = bind_node(scope, ast);
	if (e && !is_top &&
	    (e->type.kind == TYPE_HISTOGRAM || e->type.kind == TYPE_LADDER ||
	     e->type.kind == TYPE_TOP))
		return histogram_here(scope, ast, e);
	if (!e || e->n_nodes <= EXPR_NODES_MAX)
		return e;
	diag_hint(scope->diags,
		  diag_error(scope->diags, "expression-too-large", ast->span,
			     "this expression comes to more than %u operations", EXPR_NODES_MAX),
		  "compute the inner part once, as a column of its own");
	return NULL;
}
