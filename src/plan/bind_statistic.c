/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * histogram(x), quantile(x, q) and their kin -> aggregates with a scheme of cells.
 * A q is in billionths, so that 0.999 is 0.999 and not the double next to it.
 */
#include <math.h>
#include <strings.h>

#include "plan/bind.h"

#define QUANTILES_MAX 16u

/* --- Schemes --- */

static int scheme_find(const char *name)
{
	for (int i = 0; i < SCHEME_N; i++)
		if (strcasecmp(scheme_name((enum scheme_kind)i), name) == 0)
			return i;
	return -1;
}

/* "log2", or a call that names a scheme. */
static bool is_scheme(const struct ast *ast)
{
	if (ast->kind == AST_CALL)
		return scheme_find(ast->text) >= 0;
	return ast->kind == AST_NAME && ast->n_parts == 1 && scheme_find(ast->parts[0]) >= 0;
}

static void *bad_scheme(struct scope *scope, struct span span, const char *message,
			const char *hint)
{
	return diag_refuse(scope->diags, "bad-scheme", span, "%s" HINT "%s", message, hint);
}

/* A number, a size or a duration, also a negative one. */
static bool constant(struct scope *scope, const struct ast *ast, s64 *ret_value)
{
	bool is_negative = ast->kind == AST_UNARY && ast->op == OP_NEG;
	const struct ast *number = is_negative ? ast->args[0] : ast;

	if ((number->kind == AST_INTEGER || number->kind == AST_DURATION) &&
	    number->integer > INT64_MAX) {
		return bad_scheme(scope, ast->span, "this edge is out of range",
				  "edges lie between -9223372036854775807 and 9223372036854775807");
	}
	if (number->kind == AST_INTEGER || number->kind == AST_DURATION) {
		*ret_value = is_negative ? -(s64)number->integer : (s64)number->integer;
		return true;
	}
	return bad_scheme(
		scope, ast->span, "the edges of cells are whole numbers, sizes or durations",
		"for example linear(0, 1000, 50), bounds(0, 4KiB, 1MiB), bounds(1ms, 10ms)");
}

/* A number of time, or one without a unit?  0 is both. */
static bool is_edge_of(const struct ast *ast, enum ast_kind kind)
{
	if (ast->kind == AST_UNARY && ast->op == OP_NEG)
		ast = ast->args[0];
	return ast->kind == kind && ast->integer;
}

static struct scheme *bind_digits(struct scope *scope, const struct ast *ast, struct scheme *scheme)
{
	bool is_exponential = scheme->kind == SCHEME_EXPONENTIAL;
	const char *hint =
		is_exponential ? "exponential(s): s is 0 to 6" : "loglinear(b): b is 1 to 10";
	s64 digits;

	if (ast->n_args != 1)
		return bad_scheme(scope, ast->span, "this scheme takes one number", hint);
	if (ast->args[0]->kind != AST_INTEGER)
		return bad_scheme(scope, ast->args[0]->span, "a resolution is a whole number",
				  hint);
	if (!constant(scope, ast->args[0], &digits))
		return NULL;
	if (digits < (is_exponential ? 0 : 1) || digits > (is_exponential ? 6 : 10))
		return bad_scheme(scope, ast->args[0]->span, "there is no such resolution", hint);
	scheme->digits = digits;
	return scheme;
}

static struct scheme *bind_linear(struct scope *scope, const struct ast *ast, struct scheme *scheme)
{
	s64 *to[3] = { &scheme->low, &scheme->high, &scheme->step };

	if (ast->n_args != 3)
		return bad_scheme(scope, ast->span, "linear() takes three numbers",
				  "linear(low, high, step)");
	for (u32 i = 0; i < 3; i++)
		if (!constant(scope, ast->args[i], to[i]))
			return NULL;
	if (scheme->step <= 0 || scheme->high <= scheme->low)
		return bad_scheme(scope, ast->span, "linear() goes up, by a step of more than 0",
				  "linear(low, high, step)");
	if (scheme_n_cells(scheme) > SCHEME_CELLS_MAX)
		return bad_scheme(scope, ast->span, "these are more than 65536 cells",
				  "take a longer step");
	return scheme;
}

static struct scheme *bind_bounds(struct scope *scope, const struct ast *ast, struct scheme *scheme)
{
	s64 *bounds = arena_array(scope->arena, s64, MAX(ast->n_args, 1u));

	if (!ast->n_args || ast->n_args > SCHEME_BOUNDS_MAX)
		return bad_scheme(scope, ast->span, "bounds() takes 1 to 255 numbers",
				  "bounds(1, 2, 5, 9, 17, 33, 65)");
	for (u32 i = 0; i < ast->n_args; i++) {
		if (!constant(scope, ast->args[i], &bounds[i]))
			return NULL;
		if (i && bounds[i] <= bounds[i - 1])
			return bad_scheme(
				scope, ast->args[i]->span, "a bound is not above the one before it",
				is_edge_of(ast->args[i], AST_INTEGER) &&
						is_edge_of(ast->args[i - 1], AST_DURATION)
					? "without a unit it is in nanoseconds: write one "
					  "behind each number"
					: "list them from low to high, each once");
	}
	scheme->bounds = bounds;
	scheme->n_bounds = ast->n_args;
	return scheme;
}

static struct scheme *bind_scheme(struct scope *scope, const struct ast *ast)
{
	struct scheme *scheme = arena_new(scope->arena, struct scheme);

	scheme->kind =
		(enum scheme_kind)scheme_find(ast->kind == AST_CALL ? ast->text : ast->parts[0]);
	if (ast->kind == AST_CALL && (ast->star || ast->distinct || ast->filter || ast->is_over))
		return bad_scheme(scope, ast->span, "a scheme takes numbers and nothing else",
				  "for example exponential(3)");
	switch (scheme->kind) {
	case SCHEME_LOG2:
		if (ast->n_args)
			return bad_scheme(scope, ast->span, "log2 takes no numbers",
					  "loglinear(b) divides each power of two into 2^b cells");
		return scheme;
	case SCHEME_EXPONENTIAL:
	case SCHEME_LOGLINEAR:
		return bind_digits(scope, ast, scheme);
	case SCHEME_LINEAR:
		return bind_linear(scope, ast, scheme);
	case SCHEME_BOUNDS:
	case SCHEME_N:
		break;
	}
	return bind_bounds(scope, ast, scheme);
}

/* --- Quantiles --- */

/* "0.99", ".5", "1" -> billionths; false: it is not from 0 to 1, or has more than 9 decimals. */
static bool parse_q(const struct ast *ast, u32 *ret_ppb)
{
	double ppb = 1e9 * (ast->kind == AST_INTEGER ? (double)ast->integer : ast->real);

	if ((ast->kind != AST_INTEGER && ast->kind != AST_REAL) || !(ppb >= 0 && ppb <= 1e9))
		return false;
	*ret_ppb = (u32)lround(ppb);
	return fabs(ppb - *ret_ppb) < 1e-6; /* no more than rounding a decimal comes to */
}

static bool bind_q(struct scope *scope, const struct ast *ast, u32 *ret_ppb)
{
	if (parse_q(ast, ret_ppb))
		return true;
	return diag_refuse(scope->diags, "bad-quantile", ast->span,
			   "a quantile is a decimal number from 0 to 1 with at most 9 decimals" HINT
			   "the median is 0.5, the 99.9th percentile 0.999");
}

static struct expr *wrong_arguments(struct scope *scope, const struct ast *ast,
				    const struct aggregate_name *s)
{
	struct diag *d = diag_error(scope->diags, "wrong-arguments", ast->span,
				    "these are not the arguments of %s()", s->name);

	if (s->kind == AGGREGATE_HISTOGRAM)
		diag_hint(scope->diags, d,
			  "histogram(x) or histogram(x, scheme): log2, exponential(s), "
			  "loglinear(b), linear(low, high, step), bounds(...)");
	else if (s->is_interpolated)
		diag_hint(scope->diags, d, "percentile_cont(0.99) WITHIN GROUP (ORDER BY latency)");
	else if (s->q_ppb)
		diag_hint(scope->diags, d, "%s(latency) or %s(latency, loglinear(7))", s->name,
			  s->name);
	else
		diag_hint(scope->diags, d, "%s(latency, %s) or %s(latency, %s, loglinear(7))",
			  s->name, s->is_many ? "0.5, 0.99" : "0.99", s->name,
			  s->is_many ? "0.5, 0.99" : "0.99");
	return NULL;
}

/* A scheme of durations over a plain number, or of durations and plain numbers. */
static void warn_units(struct scope *scope, const struct ast *scheme, const struct expr *x)
{
	const struct ast *time = NULL, *number = NULL;

	if (scheme->kind != AST_CALL || scope->is_shipped)
		return;
	for (u32 i = 0; i < scheme->n_args; i++) {
		const struct ast *arg = scheme->args[i];

		time = !time && is_edge_of(arg, AST_DURATION) ? arg : time;
		number = !number && is_edge_of(arg, AST_INTEGER) ? arg : number;
	}
	if (!time)
		return;
	if (x->type.kind == TYPE_INT || x->type.kind == TYPE_BOOL || x->type.kind == TYPE_POINTER) {
		diag_warning(scope->diags, "mixed-units", scheme->span,
			     "the cells are durations, what is counted in them is a plain "
			     "number" HINT "write the edges without units of time");
	} else if (number) {
		diag_warning(scope->diags, "mixed-units", number->span,
			     "this edge is in nanoseconds, others have a unit" HINT
			     "write a unit behind each number");
	}
}

static struct scheme *default_scheme(struct scope *scope, const struct aggregate_name *s)
{
	struct scheme *scheme = arena_new(scope->arena, struct scheme);

	scheme->kind = s->kind == AGGREGATE_HISTOGRAM ? SCHEME_LOG2 : SCHEME_EXPONENTIAL;
	scheme->digits = s->kind == AGGREGATE_HISTOGRAM ? 0 : 3;
	return scheme;
}

/* q_ppb: what the name says, or these arguments. */
static bool bind_qs(struct scope *scope, struct ast *const *qs, u32 n, bool is_descending,
		    const struct aggregate_name *s, struct aggregate *a)
{
	u32 *ppb = arena_array(scope->arena, u32, MAX(n, 1u));

	a->q_ppb = ppb;
	a->n_q = s->q_ppb ? 1 : n;
	ppb[0] = s->q_ppb;
	for (u32 i = 0; i < n; i++) {
		if (!bind_q(scope, qs[i], &ppb[i]))
			return false;
		if (is_descending)
			ppb[i] = 1000000000 - ppb[i];
	}
	return true;
}

static bool is_histogram_call(const struct ast *ast)
{
	return ast->kind == AST_CALL && !ast->is_over &&
	       (strcasecmp(ast->text, "histogram") == 0 ||
		strcasecmp(ast->text, "histogram_merge") == 0);
}

/* What is put into cells: a word; or a histogram that is there already, whose cells
 * are read. */
static struct expr *bind_value(struct scope *scope, const struct ast *ast,
			       const struct aggregate_name *s)
{
	struct expr *x;

	scope->is_top_of_item = true;
	x = is_histogram_call(ast) ? bind_expr(scope, ast) : bind_inside(scope, ast, false);
	scope->is_top_of_item = false;
	if (!x || type_is_word(x->type) || x->type.kind == TYPE_NULL ||
	    (x->type.kind == TYPE_HISTOGRAM && s->kind == AGGREGATE_QUANTILE))
		return x;
	if (x->type.kind == TYPE_HISTOGRAM)
		return diag_refuse(
			scope->diags, "type-mismatch", ast->span,
			"%s() does not take a histogram" HINT
			"histogram_merge(h) adds histograms up, quantile(h, 0.99) reads one",
			s->name);
	return diag_refuse(scope->diags, "type-mismatch", ast->span,
			   "%s() puts integers into cells, and this is a %s" HINT "%s", s->name,
			   expr_is_text(x)	       ? "text"
			   : x->type.kind == TYPE_REAL ? "real number"
						       : "list",
			   expr_is_text(x) ? "CAST(x AS INTEGER) makes a number of a text"
					   : "say how fine: CAST(x * 1000 AS INTEGER)");
}

/* Quantiles of a histogram are no aggregate: each row has its own. */
static struct expr *bind_merged(struct scope *scope, const struct ast *ast, struct aggregate a)
{
	struct expr *e = expr_make(scope->arena, EXPR_STATISTIC, ast->span, 1, a.arg);
	struct aggregate *copy = arena_new(scope->arena, struct aggregate);
	u8 of = a.arg->type.of;

	e->lo = INT64_MIN;
	e->hi = UINT64_MAX;
	e->nullable = true;
	e->is_quantile = a.part == QUANTILE_WHOLE && !a.is_ladder;
	if (a.is_ladder || a.is_interpolated)
		e->type = (struct type){ .kind = a.is_ladder ? TYPE_LADDER : TYPE_REAL,
					 .is_signed = a.is_ladder && a.arg->type.is_signed,
					 .of = of };
	else
		e->type = (struct type){
			.kind = of, .bits = 64, .is_signed = true, .clock = a.arg->type.clock
		};
	a.type = e->type;
	*copy = a;
	e->statistic = copy;
	return e;
}

/* f(x, q ... [, scheme]), or percentile_cont(q [, scheme]) WITHIN GROUP (ORDER BY x [DESC]) */
struct expr *bind_statistic(struct scope *scope, const struct ast *ast,
			    const struct aggregate_name *s)
{
	bool is_cont = s->is_interpolated, takes_q = s->kind == AGGREGATE_QUANTILE && !s->q_ppb;
	struct aggregate a = { .kind = s->kind,
			       .span = ast->span,
			       .part = s->part,
			       .is_ladder = s->is_many,
			       .is_interpolated = is_cont };
	u32 first = !is_cont, n = ast->n_args, n_q;
	const struct ast *last, *scheme;

	if (!bind_aggregate_allowed(scope, ast))
		return NULL;
	if (ast->distinct)
		return bind_no_distinct(scope, ast);
	if (ast->star || !n || ast->is_within_group != is_cont || (is_cont && ast->n_order_by != 1))
		return wrong_arguments(scope, ast, s);
	last = n > first ? ast->args[n - 1] : NULL;
	scheme = last && is_scheme(last) ? last : NULL;
	n_q = n - first - (scheme != NULL);
	if (!takes_q && n_q == 1 && (last->kind == AST_CALL || last->kind == AST_NAME))
		return diag_refuse(scope->diags, "bad-scheme", last->span,
				   "there is no such scheme" HINT
				   "log2, exponential(s), loglinear(b), linear(low, high, step), "
				   "bounds(...)");
	if (s->is_many && n_q > QUANTILES_MAX)
		return diag_refuse(scope->diags, "wrong-arguments", ast->span,
				   "quantiles() takes at most %u quantiles, these are %u" HINT
				   "two lists of the same x and scheme share their histogram: the "
				   "second costs nothing",
				   QUANTILES_MAX, n_q);
	if (takes_q ? n_q < 1 || (n_q > 1 && !s->is_many) : n_q)
		return wrong_arguments(scope, ast, s);
	a.scheme = scheme ? bind_scheme(scope, scheme) : default_scheme(scope, s);
	if (!a.scheme || !bind_qs(scope, ast->args + first, n_q,
				  is_cont && ast->order_by[0].is_descending, s, &a))
		return NULL;
	a.arg = bind_value(scope, is_cont ? ast->order_by[0].expr : ast->args[0], s);
	if (!a.arg)
		return NULL;
	if (a.arg->type.kind == TYPE_HISTOGRAM)
		return bind_merged(scope, ast, a);
	if (scheme)
		warn_units(scope, scheme, a.arg);
	return bind_aggregate_filter(scope, ast, &a) ? bind_aggregate_ref(scope, a) : NULL;
}
