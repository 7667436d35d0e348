/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Function calls: aggregates, functions that are rewritten into operators, and
 * SQLite's scalar functions, which only the user part can run.
 */
#include <string.h>
#include <strings.h>

#include "plan/bind.h"

/* In the language, not in this version. */
static const char *const later_functions[] = {
	"pid_in_ns",
};

/* min(a, b) and max(a, b) are SQLite's scalar functions. */
static bool find_aggregate(const struct ast *ast, struct aggregate_name *ret_name)
{
	if (!aggregate_find(ast->text, ret_name))
		return false;
	return !((ret_name->kind == AGGREGATE_MIN || ret_name->kind == AGGREGATE_MAX) &&
		 ast->n_args > 1);
}

bool bind_is_aggregate_name(const struct ast *ast)
{
	struct aggregate_name name;

	return find_aggregate(ast, &name);
}

bool bind_has_aggregate(const struct ast *ast)
{
	struct aggregate_name name;

	if (!ast)
		return false;
	if (ast->kind == AST_CALL && !ast->is_over && find_aggregate(ast, &name))
		return true;
	for (u32 i = 0; i < ast->n_args; i++)
		if (bind_has_aggregate(ast->args[i]))
			return true;
	for (u32 i = 0; i < ast->n_partition_by; i++)
		if (bind_has_aggregate(ast->partition_by[i]))
			return true;
	for (u32 i = 0; i < ast->n_order_by; i++)
		if (bind_has_aggregate(ast->order_by[i].expr))
			return true;
	return bind_has_aggregate(ast->otherwise) || bind_has_aggregate(ast->filter);
}

/* One quantile is a value of x for those that compute with it; NULL when nothing was counted. */
static void quantile_type(struct expr *e, const struct aggregate *a)
{
	const struct expr *x = a->arg;

	if (a->is_ladder) {
		e->type = (struct type){ .kind = TYPE_LADDER, .of = x->type.kind };
	} else if (a->is_interpolated) {
		e->type = (struct type){ .kind = TYPE_REAL, .of = x->type.kind };
		e->is_user_only = true;
	} else {
		e->type = x->type;
		e->lo = x->lo;
		e->hi = x->hi;
		e->is_quantile = a->part == QUANTILE_WHOLE;
		/* A bound may be infinite, outside of the range: nothing is folded with it. */
		e->is_user_only = a->part != QUANTILE_WHOLE;
	}
}

/* Result type and range of an aggregate over x. */
static void aggregate_type(struct expr *e, const struct aggregate *a)
{
	const struct aggregate_info *info = &aggregate_infos[a->kind];
	struct type_range range = { 0 };

	e->nullable = !info->is_never_null;
	if (!info->result) {
		quantile_type(e, a);
		return;
	}
	if (a->arg)
		range = (struct type_range){ a->arg->type, a->arg->lo, a->arg->hi };
	info->result(&range);
	e->type = range.type;
	e->lo = range.lo;
	e->hi = range.hi;
	e->is_user_only =
		e->type.kind == TYPE_REAL || e->type.kind == TYPE_TEXT || e->type.kind == TYPE_NULL;
}

/* Within the aggregate of a window function, which is one of groups then, others may stand. */
struct expr *bind_inside(struct scope *scope, const struct ast *ast, bool is_condition)
{
	struct aggregate *over = scope->over;
	bool was_inside = scope->is_inside_aggregate;
	struct expr *x;

	scope->over = NULL;
	scope->is_inside_aggregate = was_inside || !over;
	x = is_condition ? bind_condition(scope, ast, "FILTER") : bind_expr(scope, ast);
	scope->is_inside_aggregate = was_inside;
	scope->over = over;
	return x;
}

/* first(), last() and top_k() say something of rows, not of values. */
static bool check_distinct(struct scope *scope, const struct ast *ast)
{
	bool is_of_rows = strcasecmp(ast->text, "first") == 0 ||
			  strcasecmp(ast->text, "last") == 0 || strcasecmp(ast->text, "top_k") == 0;

	if (ast->is_within_group && strcasecmp(ast->text, "percentile_cont") != 0) {
		diag_error(scope->diags, "not-supported", ast->span,
			   "an ordered aggregate is not available yet");
		return false;
	}
	if (!ast->distinct || !is_of_rows)
		return true;
	diag_hint(scope->diags,
		  diag_error(scope->diags, "not-supported", ast->span,
			     "DISTINCT in %s() is not available", ast->text),
		  "SELECT DISTINCT in a nested select");
	return false;
}

bool bind_aggregate_allowed(struct scope *scope, const struct ast *ast)
{
	struct diag *d;

	if (scope->no_aggregates_in) {
		d = diag_error(scope->diags, "aggregate-not-allowed", ast->span,
			       "%s() is an aggregate; %s is evaluated for each event, before there "
			       "are groups",
			       ast->text, scope->no_aggregates_in);
		if (strcmp(scope->no_aggregates_in, "WHERE") == 0)
			diag_hint(scope->diags, d, "put the condition into HAVING");
		return false;
	}
	if (scope->is_inside_aggregate) {
		diag_error(scope->diags, "aggregate-not-allowed", ast->span,
			   "%s() stands inside another aggregate", ast->text);
		return false;
	}
	return check_distinct(scope, ast);
}

static bool same_expr(const struct expr *a, const struct expr *b)
{
	return a ? b && expr_equal(a, b) : !b;
}

static bool same_statistic(const struct aggregate *a, const struct aggregate *b)
{
	if (!a->scheme != !b->scheme || a->n_q != b->n_q || a->is_ladder != b->is_ladder ||
	    a->is_interpolated != b->is_interpolated || a->part != b->part)
		return false;
	if (a->n_q && memcmp(a->q_ppb, b->q_ppb, a->n_q * sizeof(*a->q_ppb)) != 0)
		return false;
	return !a->scheme || scheme_equal(a->scheme, b->scheme);
}

struct expr *bind_aggregate_ref(struct scope *scope, struct aggregate a)
{
	struct expr *e = expr_new(scope->arena, EXPR_AGGREGATE, a.span);

	if (scope->over) {
		aggregate_type(e, &a);
		a.type = e->type;
		*scope->over = a;
		return e;
	}
	e->source = bind_number(scope);
	for (u32 i = 0; i < scope->aggregates.n; i++) {
		const struct aggregate *b = &scope->aggregates.at[i];

		if (b->kind == a.kind && a.is_distinct == b->is_distinct &&
		    a.keeps_null == b->keeps_null && same_expr(a.separator, b->separator) &&
		    (a.arg ? b->arg && expr_equal(a.arg, b->arg) : !b->arg) &&
		    (a.filter ? b->filter && expr_equal(a.filter, b->filter) : !b->filter) &&
		    same_statistic(b, &a) && bind_same_sketch(b, &a)) {
			e->index = i;
			aggregate_type(e, b);
			return e;
		}
	}
	aggregate_type(e, &a);
	a.type = e->type;
	e->index = scope->aggregates.n;
	vec_push(scope->arena, &scope->aggregates, a);
	return e;
}

bool bind_aggregate_filter(struct scope *scope, const struct ast *ast, struct aggregate *a)
{
	if (!ast->filter)
		return true;
	a->filter = bind_inside(scope, ast->filter, true);
	return a->filter != NULL;
}

/* histogram_merge(h), group_concat(x [, between]) */
static struct expr *bind_special(struct scope *scope, const struct ast *ast, struct aggregate a)
{
	bool is_merge = a.kind == AGGREGATE_HISTOGRAM_MERGE;

	if (ast->star || ast->n_args < 1 || ast->n_args > (is_merge ? 1u : 2u)) {
		diag_error(scope->diags, "wrong-arguments", ast->span,
			   is_merge ? "%s() takes one argument" : "%s() takes 1 or 2 arguments",
			   aggregate_infos[a.kind].name);
		return NULL;
	}
	if (a.is_distinct && ast->n_args > 1) {
		diag_hint(scope->diags,
			  diag_error(scope->diags, "wrong-arguments", ast->span,
				     "%s(DISTINCT x) takes one argument",
				     aggregate_infos[a.kind].name),
			  "the texts are then separated by commas");
		return NULL;
	}
	scope->is_top_of_item = is_merge;
	a.arg = bind_inside(scope, ast->args[0], false);
	scope->is_top_of_item = false;
	if (a.arg && is_merge && a.arg->type.kind != TYPE_HISTOGRAM) {
		diag_hint(scope->diags,
			  diag_error(scope->diags, "type-mismatch", ast->args[0]->span,
				     "histogram_merge() takes histograms"),
			  "SELECT histogram_merge(h) FROM (SELECT histogram(latency) AS h ...)");
		return NULL;
	}
	if (a.arg && ast->n_args > 1) {
		a.separator = bind_inside(scope, ast->args[1], false);
		if (!a.separator)
			return NULL;
	}
	if (!a.arg || !bind_aggregate_filter(scope, ast, &a))
		return NULL;
	return bind_aggregate_ref(scope, a);
}

static struct expr *bind_aggregate(struct scope *scope, const struct ast *ast,
				   enum aggregate_kind kind)
{
	struct aggregate a = { .kind = kind, .span = ast->span, .is_distinct = ast->distinct };

	if (!bind_aggregate_allowed(scope, ast))
		return NULL;
	if (kind == AGGREGATE_HISTOGRAM_MERGE || kind == AGGREGATE_GROUP_CONCAT)
		return bind_special(scope, ast, a);
	if (kind != AGGREGATE_COUNT && (ast->star || ast->n_args != 1)) {
		diag_hint(scope->diags,
			  diag_error(scope->diags, "wrong-arguments", ast->span,
				     "%s() takes one argument", aggregate_infos[kind].name),
			  "for example %s(count)", aggregate_infos[kind].name);
		return NULL;
	}
	if (kind == AGGREGATE_COUNT && ast->n_args > 1) {
		diag_error(scope->diags, "wrong-arguments", ast->span,
			   "count() takes * or one argument");
		return NULL;
	}
	if (ast->n_args == 1) {
		a.arg = bind_inside(scope, ast->args[0], false);
		if (!a.arg || !bind_check_integers(scope, ast, kind, a.arg))
			return NULL;
		if ((kind == AGGREGATE_SUM || kind == AGGREGATE_AVG) && *bind_note(scope, a.arg))
			diag_hint(
				scope->diags,
				diag_warning(scope->diags, "sum-of-text", ast->args[0]->span,
					     "%s is %s", a.arg->name, bind_note(scope, a.arg)),
				"what is no number of 64 bits is not added, and counts as a fault");
		if (kind == AGGREGATE_COUNT && !a.arg->nullable && a.arg->kind != EXPR_NULL &&
		    !a.is_distinct && a.arg->type.kind != TYPE_NULL)
			a.arg = NULL; /* never NULL: count(x) is count(*) */
	}
	if (!bind_aggregate_filter(scope, ast, &a))
		return NULL;
	return bind_aggregate_ref(scope, a);
}

struct expr *bind_case_of(struct scope *scope, struct span span, struct expr *when,
			  struct expr *then, struct expr *otherwise)
{
	struct expr *e;

	if (!when || !then || !otherwise)
		return NULL;
	e = expr_new(scope->arena, EXPR_CASE, span);
	e->n_args = 3;
	e->args = arena_array(scope->arena, struct expr *, 3);
	e->args[0] = when;
	e->args[1] = then;
	e->args[2] = otherwise;
	return bind_case_done(scope, e, "iif()");
}

static struct expr *is_null(struct scope *scope, struct expr *x)
{
	struct expr *e = expr_new(scope->arena, EXPR_IS_NULL, x->span);

	e->n_args = 1;
	e->args = arena_array(scope->arena, struct expr *, 1);
	e->args[0] = x;
	expr_infer(e);
	return e;
}

/* The smaller (or larger) of two values, NULL when one is NULL: neither WHEN is true then. */
static struct expr *extreme_of(struct scope *scope, struct span span, enum ast_op better,
			       struct expr *a, struct expr *b)
{
	struct expr *null = expr_new(scope->arena, EXPR_NULL, span);

	return bind_case_of(scope, span, bind_op(scope, better, span, a, b), a,
			    bind_case_of(scope, span, bind_op(scope, better, span, b, a), b, null));
}

/* abs, min, max, coalesce, ifnull, nullif, iif: CASE in other clothes, so the kernel part has them
 * too. */
static struct expr *bind_rewritten(struct scope *scope, const struct ast *ast, struct expr **x)
{
	const char *f = ast->text;
	struct span span = ast->span;
	u32 n = ast->n_args;

	if (strcasecmp(f, "abs") == 0 && n == 1 && type_is_word(x[0]->type) && x[0]->lo >= 0)
		return x[0];
	if (strcasecmp(f, "abs") == 0 && n == 1)
		return bind_case_of(
			scope, span,
			bind_op(scope, OP_LT, span, x[0],
				expr_integer(scope->arena, span, type_int(64, true), 0)),
			bind_op(scope, OP_NEG, span, x[0], NULL), x[0]);
	if ((strcasecmp(f, "min") == 0 || strcasecmp(f, "max") == 0) && n >= 2) {
		struct expr *e = x[0];

		for (u32 i = 1; i < n && e; i++)
			e = extreme_of(scope, span, strcasecmp(f, "min") == 0 ? OP_LE : OP_GE, e,
				       x[i]);
		return e;
	}
	if (strcasecmp(f, "iif") == 0 && n == 3)
		return bind_case_of(scope, span, x[0], x[1], x[2]);
	if (strcasecmp(f, "nullif") == 0 && n == 2)
		return bind_case_of(scope, span, bind_op(scope, OP_EQ, span, x[0], x[1]),
				    expr_new(scope->arena, EXPR_NULL, span), x[0]);
	if ((strcasecmp(f, "coalesce") == 0 && n >= 2) ||
	    (strcasecmp(f, "ifnull") == 0 && n == 2)) {
		struct expr *e = x[n - 1];

		for (u32 i = n - 1; i > 0 && e; i--)
			e = bind_case_of(scope, span, is_null(scope, x[i - 1]), e, x[i - 1]);
		return e;
	}
	return NULL;
}

/* p42 -> "0.42", p5 -> "0.05", p9999 -> "0.9999"; NULL for other names. */
static const char *percentile_named(struct scope *scope, const char *name)
{
	size_t n = strspn(name + 1, "0123456789");

	if ((name[0] != 'p' && name[0] != 'P') || !n || n > 9 || name[1 + n])
		return NULL;
	if (strcmp(name + 1, "100") == 0)
		return "1";
	return arena_printf(scope->arena, "0.%s%s", n == 1 ? "0" : "", name + 1);
}

/* What other databases call it, and what it is called here. */
static const char *const foreign[][2] = {
	{ "median", "p50(x) with its bounds, or percentile_cont(0.5) WITHIN GROUP (ORDER BY x)" },
	{ "percentile", "quantile(x, 0.99), or p50 ... p999" },
	{ "percentile_disc", "quantile(x, 0.99), or percentile_cont(q) WITHIN GROUP (ORDER BY x)" },
	{ "approx_percentile", "quantile(x, 0.99), or p50 ... p999" },
	{ "date_trunc", "time / 1s * 1s is the time in whole seconds" },
	{ "time_bucket", "time / 1s * 1s is the time in whole seconds; or WINDOW TUMBLING 1s" },
	{ "tumble", "WINDOW TUMBLING 1s at the end of the query" },
	{ "now", "time is that of the event" },
	{ "var_samp", "stddev_samp(x) is its root" },
	{ "var_pop", "stddev_pop(x) is its root" },
	{ "variance", "stddev(x) is its root" },
	{ "count_distinct", "count(DISTINCT x), or approx_count_distinct(x)" },
	{ "uniq", "count(DISTINCT x), or approx_count_distinct(x)" },
	{ "arg_max", "last(x), or a nested select with ORDER BY and LIMIT 1" },
	{ "string_agg", "group_concat(x, ', ')" },
	{ "listagg", "group_concat(x, ', ')" },
	{ "concat", "x || y" },
	{ "len", "length(x)" },
	{ "if", "iif(condition, x, y), or CASE WHEN condition THEN x ELSE y END" },
	{ "greatest", "max(x, y)" },
	{ "least", "min(x, y)" },
	{ "bucket", "histogram(x, linear(low, high, step)), or x / 100 * 100" },
	{ "width_bucket", "histogram(x, linear(low, high, step))" },
	{ "hist", "histogram(x)" },
	{ "lhist", "histogram(x, linear(low, high, step))" },
};

static struct expr *unknown_function(struct scope *scope, const struct ast *ast)
{
	struct suggest suggest;
	struct diag *d;

	for (u32 i = 0; i < ARRAY_SIZE(later_functions); i++) {
		if (strcasecmp(later_functions[i], ast->text) != 0)
			continue;
		d = diag_error(scope->diags, "not-supported", ast->span,
			       "%s() is not available yet", ast->text);
		diag_hint(scope->diags, d, "the manual lists what this version has");
		return NULL;
	}
	for (u32 i = 0; i < ARRAY_SIZE(foreign); i++)
		if (strcasecmp(foreign[i][0], ast->text) == 0) {
			d = diag_error(scope->diags, "unknown-function", ast->span,
				       "there is no function \"%s\"", ast->text);
			diag_hint(scope->diags, d, "%s", foreign[i][1]);
			return NULL;
		}
	suggest_init(&suggest, ast->text);
	for (u32 i = 0; aggregate_name_at(i); i++)
		suggest_offer(&suggest, aggregate_name_at(i));
	function_suggest(&suggest, false);
	suggest_offer(&suggest, "target_pid");
	d = diag_error(scope->diags, "unknown-function", ast->span, "there is no function \"%s\"",
		       ast->text);
	if (percentile_named(scope, ast->text))
		diag_hint(scope->diags, d,
			  "write quantile(x, %s); there are p50, p90, p95, p99, p999",
			  percentile_named(scope, ast->text));
	else if (suggest_best(&suggest))
		diag_hint(scope->diags, d, "did you mean \"%s\"?", suggest_best(&suggest));
	return NULL;
}

static struct expr *bind_target_pid(struct scope *scope, const struct ast *ast)
{
	scope->settings->is_target_used = true;
	if (scope->settings->target_pid >= 0)
		return expr_integer(scope->arena, ast->span, type_int(32, true),
				    scope->settings->target_pid);
	diag_hint(scope->diags,
		  diag_error(scope->diags, "no-target", ast->span, "no target process is named"),
		  "name one by -p PID or -- COMMAND");
	return NULL;
}

bool bind_is_naming(const struct expr *e)
{
	return e->kind == EXPR_CALL && e->function && function_is_naming(e->function);
}

/* What only user space computes is computed once, by SQLite's own function. */
static bool is_rewritable(const struct ast *ast, struct expr *const *args)
{
	for (u32 i = 0; i < ast->n_args && strcasecmp(ast->text, "iif") != 0; i++)
		if (args[i]->is_user_only || args[i]->type.kind == TYPE_TEXT ||
		    args[i]->type.kind == TYPE_NULL)
			return false;
	return true;
}

/* One that only user space has. */
static struct expr *call_new(struct scope *scope, const struct sql_function *f, struct span span,
			     struct expr **args, u32 n)
{
	struct expr *e = expr_new(scope->arena, EXPR_CALL, span);

	e->name = f->name;
	e->function = f;
	e->args = args;
	e->n_args = n;
	expr_infer(e);
	return e;
}

static struct expr *needs_over(struct scope *scope, const struct ast *ast)
{
	diag_hint(scope->diags,
		  diag_error(scope->diags, "needs-over", ast->span, "%s() looks at other rows",
			     ast->text),
		  "say which: %s() OVER (PARTITION BY ... ORDER BY ...)", ast->text);
	return NULL;
}

static struct expr *wrong_suffix(struct scope *scope, const struct ast *ast)
{
	diag_error(scope->diags, "not-supported", ast->span,
		   ast->distinct ? "DISTINCT belongs into an aggregate, and %s() is none"
				 : "FILTER belongs behind an aggregate, and %s() is none",
		   ast->text);
	return NULL;
}

struct expr *bind_call(struct scope *scope, const struct ast *ast)
{
	struct aggregate_name aggregate;
	u32 n_errors = scope->diags->n_errors;
	const struct sql_function *f;
	struct expr *e, **args;

	if (ast->is_over) {
		e = bind_running(scope, ast);
		return e || scope->diags->n_errors > n_errors ? e : bind_over(scope, ast);
	}
	if (find_aggregate(ast, &aggregate)) {
		if (!aggregate_infos[aggregate.kind].cell)
			return bind_aggregate(scope, ast, aggregate.kind);
		switch (aggregate_infos[aggregate.kind].takes) {
		case TAKES_WORD:
			return bind_aggregate(scope, ast, aggregate.kind);
		case TAKES_SCHEME:
			return bind_statistic(scope, ast, &aggregate);
		case TAKES_VALUE:
			return bind_sketch(scope, ast, &aggregate);
		}
	}
	if (strcasecmp(ast->text, "unnest") == 0) {
		diag_hint(scope->diags,
			  diag_error(scope->diags, "unnest-here", ast->span,
				     "UNNEST() is a whole item of the SELECT list"),
			  "SELECT comm, UNNEST(histogram(latency)) ... GROUP BY comm");
		return NULL;
	}
	if (strcasecmp(ast->text, "target_pid") == 0 && ast->n_args == 0)
		return bind_target_pid(scope, ast);
	args = arena_array(scope->arena, struct expr *, MAX(ast->n_args, 1u));
	for (u32 i = 0; i < ast->n_args; i++) {
		args[i] = bind_expr(scope, ast->args[i]);
		if (!args[i])
			return NULL;
	}
	f = function_find(ast->text, false);
	if (!f && function_find(ast->text, true))
		return needs_over(scope, ast);
	if (!f)
		return unknown_function(scope, ast);
	if (ast->distinct || ast->filter)
		return wrong_suffix(scope, ast);
	if (!function_check(scope, f, ast, args))
		return NULL;
	for (u32 i = 0; i < ast->n_args; i++)
		if (function_takes(f, i) == 'd')
			args[i] = bind_real_time(scope->arena, args[i]);
	if (is_rewritable(ast, args)) {
		e = bind_rewritten(scope, ast, args);
		if (e || scope->diags->n_errors > n_errors)
			return e;
	}
	return call_new(scope, f, ast->span, args, ast->n_args);
}
