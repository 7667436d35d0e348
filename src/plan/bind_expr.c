/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * AST expressions -> typed expressions: literals, operators, BETWEEN, IN, LIKE, CASE, CAST.
 */
#include <string.h>
#include <strings.h>

#include "plan/bind.h"

static struct expr *bind_literal(struct scope *scope, const struct ast *ast)
{
	struct expr *e = expr_new(scope->arena, EXPR_NULL, ast->span);
	struct type type = type_int(64, ast->integer <= INT64_MAX);

	if (ast->kind == AST_NULL) {
		e->nullable = true;
	} else if (ast->kind == AST_REAL) {
		e->kind = EXPR_REAL;
		e->real = ast->real;
		e->type = (struct type){ .kind = TYPE_REAL };
		expr_infer(e);
	} else if (ast->kind == AST_TEXT) {
		e->kind = EXPR_TEXT;
		e->text = ast->text;
		e->text_bytes = ast->text_bytes;
		e->type = type_text(ast->text_bytes);
	} else {
		if (ast->kind == AST_DURATION)
			type.kind = TYPE_DURATION;
		return expr_integer(scope->arena, ast->span,
				    ast->kind == AST_BOOL ? type_bool() : type, ast->integer);
	}
	return e;
}

static struct expr *negate(struct scope *scope, struct expr *e, const struct ast *ast)
{
	return e && ast->negated ? bind_op(scope, OP_NOT, ast->span, e, NULL) : e;
}

static struct expr *bind_between(struct scope *scope, const struct ast *ast)
{
	struct expr *x = bind_expr(scope, ast->args[0]);
	struct expr *lo = bind_expr(scope, ast->args[1]);
	struct expr *hi = bind_expr(scope, ast->args[2]), *from;

	if (!x || !lo || !hi)
		return NULL;
	scope->is_between = true;
	from = bind_op(scope, OP_GE, ast->span, x, lo);
	scope->is_between = false;
	return negate(
		scope,
		bind_op(scope, OP_AND, ast->span, from, bind_op(scope, OP_LE, ast->span, x, hi)),
		ast);
}

/* Beside a text an unknown word, or one in double quotes, was meant as a text. */
static struct expr *bind_beside(struct scope *scope, const struct ast *ast, const struct expr *x)
{
	struct expr *e;

	scope->wants_text = x && expr_is_text(x) && ast->kind == AST_NAME && ast->n_parts == 1;
	e = bind_expr(scope, ast);
	scope->wants_text = false;
	return e;
}

/* --- Row values --- */

static void *bad_row(struct scope *scope, struct span span, const char *message)
{
	return diag_refuse(scope->diags, "row-value", span,
			   "%s" HINT "(a, b) = (1, 2), (a, b) IN ((1, 2), (3, 4)); of a select: "
			   "EXISTS (SELECT 1 FROM ... WHERE x = a AND y = b)",
			   message);
}

/* (a, b) = (1, 2) is a = 1 AND b = 2; `left` is bound already. */
static struct expr *rows_equal(struct scope *scope, struct expr *const *left, u32 n,
			       const struct ast *right, enum ast_op op)
{
	struct expr *all = NULL;

	if (right->kind != AST_ROW)
		return bad_row(scope, right->span, "a row value is compared with another one");
	if (right->n_args != n)
		return bad_row(scope, right->span, "these two row values are not of one length");
	for (u32 i = 0; i < n; i++) {
		struct expr *is = bind_op(scope, op, right->args[i]->span, left[i],
					  bind_beside(scope, right->args[i], left[i]));

		all = all ? bind_op(scope, OP_AND, right->span, all, is) : is;
		if (!all)
			return NULL;
	}
	return all;
}

/* (a, b) = (1, 2), and IN ((1, 2), ...) */
static struct expr *bind_rows(struct scope *scope, const struct ast *ast)
{
	const struct ast *row = ast->args[0];
	bool is_not = ast->negated, is_in = ast->kind == AST_IN;
	struct expr **left, *any = NULL;
	enum ast_op op = OP_EQ;

	if (!is_in) {
		op = ast->op == OP_NE ? OP_EQ : ast->op == OP_IS_NOT ? OP_IS : ast->op;
		is_not = ast->op == OP_NE || ast->op == OP_IS_NOT;
	}
	if (row->kind != AST_ROW || (op != OP_EQ && op != OP_IS))
		return bad_row(scope, ast->span, "row values are equal or not, beside = and IN");
	left = bind_exprs(scope, row->args, row->n_args);
	for (u32 i = 1; left && i < ast->n_args; i++) {
		struct expr *is = rows_equal(scope, left, row->n_args, ast->args[i], op);

		any = any ? bind_op(scope, OP_OR, ast->span, any, is) : is;
		if (!any)
			return NULL;
	}
	return any && is_not ? bind_op(scope, OP_NOT, ast->span, any, NULL) : any;
}

static bool has_row(const struct ast *ast)
{
	for (u32 i = 0; i < ast->n_args; i++)
		if (ast->args[i] && ast->args[i]->kind == AST_ROW)
			return true;
	return false;
}

/* IN over constants of one kind stays one node; others become a chain of = and OR. */
static struct expr *bind_in(struct scope *scope, const struct ast *ast)
{
	struct expr **args = arena_array(scope->arena, struct expr *, ast->n_args);
	struct expr *x = bind_expr(scope, ast->args[0]);
	struct expr *null = NULL, *any, *is; /* x IN (1, NULL) is x IN (1) OR NULL */
	bool all_constant = true, is_user_only;
	u32 n = 1;

	if (!x)
		return NULL;
	args[0] = x;
	is_user_only = x->is_user_only;
	for (u32 i = 1; i < ast->n_args; i++) {
		struct expr *c = bind_beside(scope, ast->args[i], x);

		if (!c || !bind_fits(scope, "IN", c->span, x, c))
			return NULL;
		is_user_only |= c->is_user_only;
		all_constant &=
			c->kind == EXPR_INTEGER || c->kind == EXPR_TEXT || c->kind == EXPR_NULL;
		if (c->kind == EXPR_NULL)
			null = c;
		else
			args[n++] = c;
	}
	if (ast->n_args == 1)
		return negate(scope, expr_integer(scope->arena, ast->span, type_bool(), 0), ast);
	if (!bind_named_list(scope, &args, &n))
		return NULL;
	x = args[0];
	/* Texts compare in one way; each number has its own.  The kernel has lists of constants. */
	if ((all_constant || (is_user_only && expr_is_text(x))) && n > 2) {
		for (u32 i = 1; i < n; i++)
			bind_warn_unlike(scope, OP_EQ, x, args[i]);
		is = expr_new(scope->arena, EXPR_IN, ast->span);
		is->args = args;
		is->n_args = n;
		expr_infer(is);
		return negate(scope, null ? bind_op(scope, OP_OR, ast->span, is, null) : is, ast);
	}
	any = null ? bind_op(scope, OP_EQ, ast->span, x, null) : NULL;
	for (u32 i = 1; i < n; i++) {
		is = bind_op(scope, OP_EQ, ast->span, x, args[i]);
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

static struct expr *bind_like(struct scope *scope, const struct ast *ast)
{
	struct expr *x = bind_expr(scope, ast->args[0]);
	struct expr *pattern = bind_beside(scope, ast->args[1], x);
	bool is_glob = strcmp(ast->text, "GLOB") == 0, is_user_only;
	struct expr *e, *escape = NULL;

	if (!x || !pattern)
		return NULL;
	if (pattern->kind == EXPR_NULL || x->kind == EXPR_NULL)
		return bind_op(scope, OP_EQ, ast->span, x, pattern);
	if (x->type.kind != TYPE_NULL && !expr_is_text(x))
		return bind_mismatch(scope, ast->text, ast->span, x, pattern);
	if (pattern->type.kind != TYPE_NULL && !expr_is_text(pattern))
		return bind_mismatch(scope, ast->text, pattern->span, x, pattern);
	if (ast->n_args > 2) {
		escape = bind_expr(scope, ast->args[2]);
		if (!escape)
			return NULL;
	}
	bind_warn_process(scope, x);
	if (!bind_named_flags(scope, x, pattern))
		return NULL;
	is_user_only = escape || pattern->kind != EXPR_TEXT ||
		       pattern_elements(pattern, is_glob) > PATTERN_ELEMENTS_MAX;
	if (is_user_only) {
		e = expr_make(scope->arena, EXPR_MATCH, ast->span, escape ? 3 : 2, x, pattern,
			      escape);
	} else {
		e = expr_make(scope->arena, EXPR_LIKE, ast->span, 1, x);
		e->text = pattern->text;
		e->text_bytes = pattern->text_bytes;
	}
	e->is_glob = is_glob;
	return negate(scope, e, ast);
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
	return bind_case_done(scope, e, false);
}

/* The value of the lower bits, as C has it: below the sign, less the sign. */
static struct expr *bind_cast_bits(struct scope *scope, const struct ast *ast, struct expr *x,
				   struct type type)
{
	s128 sign = (s128)1 << (type.bits - 1);
	struct expr *parts[2];

	if (x->kind == EXPR_NULL)
		return x;
	if (!type_is_word(x->type) || (type.bits == 64 && !type.is_signed && x->lo < 0))
		return diag_refuse(scope->diags, "not-supported", ast->span,
				   "a CAST to \"%s\" is of a whole number%s" HINT
				   "CAST(x AS INTEGER) makes one",
				   ast->text, type_is_word(x->type) ? " that is not below 0" : "");
	if (x->lo >= type_min(type) && x->hi <= type_max(type))
		return bind_op(scope, OP_ADD, ast->span, x,
			       expr_number(scope->arena, ast->span, 0));
	for (u32 i = 0; i < 2; i++) {
		s128 bits = i ? sign : sign - 1;

		parts[i] = bind_op(scope, OP_BIT_AND, ast->span, x,
				   expr_integer(scope->arena, ast->span,
						type_int(64, bits <= INT64_MAX), bits));
	}
	return bind_op(scope, type.is_signed ? OP_SUB : OP_ADD, ast->span, parts[0], parts[1]);
}

/* CAST('1.5ms' AS DURATION) */
static struct expr *bind_duration(struct scope *scope, const struct ast *ast, const struct expr *x)
{
	struct type type = { .kind = TYPE_DURATION, .bits = 64, .is_signed = true };
	s64 ns;

	if (sql_cast_duration(x->text, x->text_bytes, &ns))
		return expr_integer(scope->arena, ast->span, type, ns);
	return diag_refuse(scope->diags, "bad-duration", x->span,
			   "'%.*s' is no duration of whole nanoseconds" HINT
			   "write 10ms or 1.5s, in quotes or without them",
			   (int)x->text_bytes, x->text);
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
		{ "INT8", { .kind = TYPE_INT, .bits = 64, .is_signed = true } },
		{ "INT64", { .kind = TYPE_INT, .bits = 64, .is_signed = true } },
		{ "DOUBLE", { .kind = TYPE_REAL } },
		{ "DOUBLE PRECISION", { .kind = TYPE_REAL } },
		{ "FLOAT", { .kind = TYPE_REAL } },
		{ "FLOAT8", { .kind = TYPE_REAL } },
		{ "DURATION", { .kind = TYPE_DURATION, .bits = 64, .is_signed = true } },
		{ "REAL", { .kind = TYPE_REAL } },
		{ "TEXT", { .kind = TYPE_TEXT } },
		{ "STRING", { .kind = TYPE_TEXT } },
		{ "VARCHAR", { .kind = TYPE_TEXT } },
	};
	struct type c_type = catalog_c_integer(ast->text);
	struct expr *x, *e;

	if (bind_is_pointer_type(ast->text))
		return bind_cast_pointer(scope, ast);
	x = bind_expr(scope, ast->args[0]);
	if (!x)
		return NULL;
	for (u32 i = 0; i < ARRAY_SIZE(casts); i++) {
		struct type type = casts[i].type;

		if (strcasecmp(casts[i].name, ast->text) != 0)
			continue;
		if (type_is_word(x->type) && type_is_word(type)) {
			/* The same 64 bits under another unit: x + 0 keeps range and checks. */
			e = bind_op(scope, OP_ADD, ast->span, x,
				    expr_integer(scope->arena, ast->span, type, 0));
			if (e)
				e->type.kind = type.kind;
			return e;
		}
		if (type.kind == TYPE_DURATION && x->kind == EXPR_TEXT)
			return bind_duration(scope, ast, x);
		e = expr_make(scope->arena, EXPR_CAST, ast->span, 1, x);
		e->type = type;
		e->lo = INT64_MIN;
		e->hi = INT64_MAX;
		return e;
	}
	if (c_type.bits)
		return bind_cast_bits(scope, ast, x, c_type);
	return diag_refuse(scope->diags, "not-supported", ast->span,
			   "there is no CAST to \"%s\" yet" HINT
			   "INTEGER or BIGINT (64 bits), DURATION, REAL or DOUBLE, TEXT or VARCHAR "
			   "are possible, C's integers: 's32', 'unsigned char', and pointers: "
			   "'struct sock *'",
			   ast->text);
}

/* Constants that are always true: 1 by itself is written on purpose, x = 1 OR 2 is not. */
static bool is_always_true(const struct ast *ast, bool is_of_or)
{
	if (ast->kind == AST_CALL)
		return strcasecmp(ast->text, "target_pid") == 0;
	return (ast->kind == AST_DURATION || ast->kind == AST_INTEGER) && !ast->is_parameter &&
	       ast->integer > !is_of_or;
}

/* A time, or which one something is, of which 0 is nothing to leave out. */
static bool is_no_flag(const struct ast *ast, const struct expr *e)
{
	return ast->kind == AST_NAME &&
	       (e->type.kind == TYPE_DURATION || e->type.kind == TYPE_TIMESTAMP ||
		(e->kind == EXPR_SYSTEM && e->type.kind == TYPE_INT && e->index != SYS_TREE));
}

/* A number where a condition stands, as SQLite has it: true if it is not 0. */
static void warn_alone(struct scope *scope, const struct ast *ast, const struct expr *e,
		       bool is_of_or)
{
	bool is_constant = is_always_true(ast, is_of_or);

	if (!e || scope->is_shipped || (!is_constant && !is_no_flag(ast, e)))
		return;
	diag_warning(scope->diags, "number-alone", ast->span,
		     "a number by itself is a condition that is true %s" HINT "%s",
		     is_constant ? "of every row" : "unless it is 0",
		     ast->kind == AST_CALL ? "pid = target_pid()"
		     : !is_constant	   ? "compare it: x = 1, or x <> 0"
		     : is_of_or		   ? "x IN (1, 2) is one of several"
					   : "compare it: x = 1");
}

static void warn_arms(struct scope *scope, const struct ast *ast, const struct expr *x,
		      const struct expr *y)
{
	if (ast->op != OP_AND && ast->op != OP_OR)
		return;
	warn_alone(scope, ast->args[0], x, ast->op == OP_OR);
	warn_alone(scope, ast->args[1], y, ast->op == OP_OR);
}

struct expr *bind_condition(struct scope *scope, const struct ast *ast, const char *clause)
{
	struct expr *e = bind_expr(scope, ast);

	warn_alone(scope, ast, e, false);
	return e && bind_check_condition(scope, e, clause) ? e : NULL;
}

/* The word itself, not the value of a parameter that nobody gave. */
static bool is_null(const struct ast *ast)
{
	return ast->kind == AST_NULL && !ast->is_parameter;
}

/* x = NULL is legal, and never true. */
static void warn_null(struct scope *scope, const struct ast *ast)
{
	bool is_equal = ast->op == OP_EQ || ast->op == OP_NE;

	if (!is_equal || (!is_null(ast->args[0]) && !is_null(ast->args[1])))
		return;
	diag_warning(scope->diags, "null-comparison", ast->span,
		     "a comparison with NULL is never true" HINT "%s",
		     ast->op == OP_EQ ? "x IS NULL" : "x IS NOT NULL");
}

/* x IS [NOT] TRUE or FALSE: the words, which ask for more than equality with 1 or 0. */
static bool is_truth(const struct ast *ast)
{
	return (ast->op == OP_IS || ast->op == OP_IS_NOT) && ast->args[1]->kind == AST_BOOL &&
	       !ast->args[1]->is_parameter;
}

/* Of any number, as a condition is: NOT x is 0, 1 or NULL. */
static struct expr *bind_truth(struct scope *scope, const struct ast *ast)
{
	struct expr *x =
		bind_condition(scope, ast->args[0], ast->args[1]->integer ? "IS TRUE" : "IS FALSE");
	struct expr *not_x = x ? bind_op(scope, OP_NOT, ast->span, x, NULL) : NULL;

	return bind_op(scope, ast->op, ast->span, not_x,
		       expr_integer(scope->arena, ast->args[1]->span, type_bool(),
				    !ast->args[1]->integer));
}

struct expr *bind_path(struct scope *scope, const struct ast *ast)
{
	struct expr *base;

	if (ast->kind == AST_NAME)
		return bind_place(scope, ast);
	if (ast->kind == AST_INDEX)
		return bind_element(scope, ast);
	if (ast->kind == AST_CALL)
		return bind_call(scope, ast);
	if (ast->kind != AST_MEMBER)
		return bind_expr(scope, ast);
	base = bind_path(scope, ast->args[0]);
	return base ? bind_members(scope, base, ast, 0) : NULL;
}

static struct expr *bind_node(struct scope *scope, const struct ast *ast)
{
	struct expr *x, *y, *named;

	switch (ast->kind) {
	case AST_NULL:
	case AST_BOOL:
	case AST_INTEGER:
	case AST_REAL:
	case AST_TEXT:
	case AST_DURATION:
		return bind_literal(scope, ast);
	case AST_NAME:
	case AST_INDEX:
	case AST_MEMBER:
		return bind_check_value(scope, bind_path(scope, ast), ast);
	case AST_UNARY:
		/* -2^63 by itself is no 2^63 that is then negated. */
		if (ast->op == OP_NEG && ast->args[0]->kind == AST_INTEGER &&
		    ast->args[0]->integer == (u64)INT64_MAX + 1)
			return expr_number(scope->arena, ast->span, INT64_MIN);
		return bind_op(scope, ast->op, ast->span, bind_expr(scope, ast->args[0]), NULL);
	case AST_BINARY:
		if (has_row(ast))
			return bind_rows(scope, ast);
		if (is_truth(ast))
			return bind_truth(scope, ast);
		x = bind_expr(scope, ast->args[0]);
		warn_null(scope, ast);
		y = bind_beside(scope, ast->args[1], x);
		warn_arms(scope, ast, x, y);
		return bind_named(scope, ast->op, ast->span, x, y, &named)
			       ? named
			       : bind_op(scope, ast->op, ast->span, x, y);
	case AST_BETWEEN:
		return bind_between(scope, ast);
	case AST_IN:
		return has_row(ast) ? bind_rows(scope, ast) : bind_in(scope, ast);
	case AST_LIKE:
		return bind_like(scope, ast);
	case AST_IS_NULL:
		x = bind_expr(scope, ast->args[0]);
		if (x)
			x = expr_make(scope->arena, EXPR_IS_NULL, ast->span, 1, x);
		return negate(scope, x, ast);
	case AST_CASE:
		return bind_case(scope, ast);
	case AST_CAST:
		return bind_cast(scope, ast);
	case AST_CALL:
		return bind_value_there(scope, ast, bind_call(scope, ast));
	case AST_ROW:
		return bad_row(scope, ast->span, "a row value is no value by itself");
	case AST_STAR:
		return diag_refuse(
			scope->diags, "star-here", ast->span,
			"* stands for all columns only in the SELECT list and in count(*)");
	case AST_SUBQUERY:
	case AST_EXISTS:
	case AST_IN_SELECT:
		return negate(scope, bind_subquery(scope, ast), ast);
	}
	BUG("no expression has kind %d", ast->kind);
}

static struct expr *histogram_here(struct scope *scope, const struct ast *ast, const struct expr *e)
{
	bool is_histogram = e->type.kind == TYPE_HISTOGRAM, is_top = e->type.kind == TYPE_TOP;
	const char *with_histogram =
		e->kind == EXPR_AGGREGATE ? "compute with sum, min, max or quantile(x, q)"
					  : "quantile(h, 0.99) reads one, histogram_merge(h) adds "
					    "several up, UNNEST(h) has its cells";

	return diag_refuse(scope->diags, "histogram-here", ast->span,
			   "%s can only be a column of the result, by itself" HINT "%s",
			   is_histogram ? "a histogram"
			   : is_top	? "a list of top values"
					: "a list of quantiles",
			   is_histogram ? with_histogram
			   : is_top	? "UNNEST(top_k(x, k)) has its rows"
					: "compute with quantile(x, q), or p50 ... p999");
}

/* A name of AS is bound for what names it, too, which is looked at by itself. */
static bool is_stack_here(const struct scope *scope, const struct expr *e, bool takes_stack)
{
	return e && e->type.kind == TYPE_STACK && !takes_stack && !scope->is_inside_alias;
}

/* BETWEEN, abs() and the like use an argument more than once; nested, that multiplies. */
#define EXPR_NODES_MAX 4000

struct expr *bind_expr(struct scope *scope, const struct ast *ast)
{
	bool is_top = scope->is_top_of_item, takes_stack = is_top || scope->takes_stack;
	struct expr *e;

	scope->is_top_of_item = scope->takes_stack = false;
	e = bind_node(scope, ast);
	if (e && !is_top &&
	    (e->type.kind == TYPE_HISTOGRAM || e->type.kind == TYPE_LADDER ||
	     e->type.kind == TYPE_TOP))
		return histogram_here(scope, ast, e);
	if (is_stack_here(scope, e, takes_stack))
		return diag_refuse(
			scope->diags, "stack-here", ast->span,
			"a stack can only be a column, by itself, or a key of GROUP BY" HINT
			"SELECT kstack, count(*) AS n ... GROUP BY kstack ORDER BY n DESC");
	if (!e || e->n_nodes <= EXPR_NODES_MAX)
		return e;
	return diag_refuse(
		scope->diags, "expression-too-large", ast->span,
		"this expression comes to more than %u operations" HINT "%s", EXPR_NODES_MAX,
		ast->kind == AST_IN ? "a file takes more values: x IN (SELECT k FROM 'FILE.csv')"
				    : "compute the inner part once, as a column of its own");
}

struct expr **bind_exprs(struct scope *scope, struct ast *const *asts, u32 n)
{
	struct expr **exprs = arena_array(scope->arena, struct expr *, MAX(n, 1u));

	for (u32 i = 0; i < n; i++) {
		exprs[i] = bind_expr(scope, asts[i]);
		if (!exprs[i])
			return NULL;
	}
	return exprs;
}
