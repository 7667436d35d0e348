/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * f(...) OVER (PARTITION BY ... ORDER BY ... frame) -> EXPR_OVER.  Over single events a
 * sum or a count that runs along with them is PLAN_RUNNING (bind_running.c); all others
 * see the rows of a window.
 */
#include <string.h>
#include <strings.h>

#include "plan/bind.h"

static struct expr *refuse(struct scope *scope, const struct ast *ast, const char *message,
			   const char *hint)
{
	struct diag *d = diag_error(scope->diags, "not-supported", ast->span, message, ast->text);

	diag_hint(scope->diags, d, "%s", hint);
	return NULL;
}

/* An aggregate as it would be without OVER; its type. */
static struct expr *bind_aggregate_over(struct scope *scope, const struct ast *ast, struct over *o)
{
	struct ast plain = *ast;
	struct aggregate *a = arena_new(scope->arena, struct aggregate);
	struct expr *e;

	if (ast->distinct)
		return refuse(scope, ast, "DISTINCT in %s() with OVER is not available",
			      "SELECT DISTINCT in a nested select");
	plain.is_over = false;
	plain.n_partition_by = 0;
	plain.frame = NULL;
	if (!ast->is_within_group)
		plain.n_order_by = 0;
	scope->over = a;
	e = bind_call(scope, &plain);
	scope->over = NULL;
	if (!e)
		return NULL;
	if (a->kind == AGGREGATE_HISTOGRAM || a->kind == AGGREGATE_QUANTILE ||
	    a->kind == AGGREGATE_TOP_K || a->kind == AGGREGATE_APPROX_COUNT_DISTINCT ||
	    a->kind == AGGREGATE_HISTOGRAM_MERGE)
		return refuse(scope, ast, "%s() as a window function is not available",
			      "group in a nested select, or take it over the whole window");
	o->aggregate = a;
	return e;
}

static struct expr *bind_function_over(struct scope *scope, const struct ast *ast,
				       const struct sql_function *f, struct over *o)
{
	struct expr *e = expr_new(scope->arena, EXPR_CALL, ast->span);

	if (ast->filter)
		return refuse(scope, ast, "FILTER belongs behind an aggregate, and %s() is none",
			      "CASE WHEN ... THEN x END leaves values out");
	if (ast->distinct)
		return refuse(scope, ast, "DISTINCT belongs into an aggregate, and %s() is none",
			      "SELECT DISTINCT in a nested select");
	o->function = f;
	o->args = arena_array(scope->arena, struct expr *, MAX(ast->n_args, 1u));
	o->n_args = ast->n_args;
	for (u32 i = 0; i < ast->n_args; i++) {
		o->args[i] = bind_expr(scope, ast->args[i]);
		if (!o->args[i])
			return NULL;
	}
	if (!function_check(scope, f, ast, o->args))
		return NULL;
	e->function = f;
	e->args = o->args;
	e->n_args = o->n_args;
	expr_infer(e);
	return e;
}

static bool bind_window(struct scope *scope, const struct ast *ast, struct over *o)
{
	o->n_partition = ast->n_partition_by;
	o->partition = arena_array(scope->arena, struct expr *, MAX(o->n_partition, 1u));
	for (u32 i = 0; i < o->n_partition; i++) {
		o->partition[i] = bind_expr(scope, ast->partition_by[i]);
		if (!o->partition[i])
			return false;
	}
	if (ast->is_within_group)
		return true;
	o->order = arena_array(scope->arena, struct sort_key, MAX(ast->n_order_by, 1u));
	for (u32 i = 0; i < ast->n_order_by; i++) {
		const struct ast_order *by = &ast->order_by[i];
		struct expr *e = bind_expr(scope, by->expr);

		if (!e)
			return false;
		o->order[o->n_order++] = (struct sort_key){ e, by->is_descending, by->nulls };
	}
	o->frame = ast->frame;
	return true;
}

/*
 * A sum that would run along with single events, but for what user space computes of it:
 * in the order of the events it is the same.
 */
static void run_along(struct scope *scope, const struct ast *ast, struct over *o)
{
	if (o->n_order)
		return;
	bind_warn_running(scope, ast);
	o->order[o->n_order++] = (struct sort_key){ .expr = plan_time(scope->from, scope->arena) };
	o->frame = "ROWS UNBOUNDED PRECEDING";
}

static struct expr *misplaced(struct scope *scope, const struct ast *ast)
{
	const char *in = scope->is_inside_over	      ? "another one"
			 : scope->is_inside_aggregate ? "an aggregate"
						      : scope->no_aggregates_in;

	return diag_refuse(
		scope->diags, "window-function-here", ast->span,
		"%s() OVER (...) in %s: it is computed over the rows that come out "
		"of it" HINT
		"name it in a nested select: SELECT ... FROM (SELECT *, %s(...) OVER (...) AS n "
		"FROM ...) WHERE n > 3",
		ast->text, in, ast->text);
}

static struct expr *unknown(struct scope *scope, const struct ast *ast)
{
	struct suggest suggest;
	struct diag *d;

	suggest_init(&suggest, ast->text);
	function_suggest(&suggest, true);
	for (u32 i = 0; aggregate_name_at(i); i++)
		suggest_offer(&suggest, aggregate_name_at(i));
	d = diag_error(scope->diags, "unknown-function", ast->span,
		       "there is no window function \"%s\"", ast->text);
	if (suggest_best(&suggest))
		diag_hint(scope->diags, d, "did you mean \"%s\"?", suggest_best(&suggest));
	return NULL;
}

struct expr *bind_over(struct scope *scope, const struct ast *ast)
{
	const struct sql_function *f = function_find(ast->text, true);
	struct over o = { .span = ast->span };
	struct aggregate_name name;
	bool is_good, may_run = bind_may_run(scope, ast);
	u32 n_errors = scope->diags->n_errors;
	struct expr *of, *e;

	if (scope->no_aggregates_in || scope->is_inside_aggregate || scope->is_inside_over)
		return misplaced(scope, ast);
	if (!f && !bind_find_aggregate(ast, &name))
		return unknown(scope, ast);
	scope->is_inside_over = true;
	of = f ? bind_function_over(scope, ast, f, &o) : bind_aggregate_over(scope, ast, &o);
	is_good = of && bind_window(scope, ast, &o);
	scope->is_inside_over = false;
	if (!is_good)
		return NULL;
	if (may_run) {
		e = bind_running(scope, ast, &o);
		if (e || scope->diags->n_errors > n_errors)
			return e;
		run_along(scope, ast, &o);
	}
	if (!scope->overs.n)
		scope->over_number = scope->shared->n_overs++;
	o.type = of->type;
	e = expr_new(scope->arena, EXPR_OVER, ast->span);
	e->name = ast->text;
	e->index = scope->overs.n;
	e->source = scope->over_number;
	e->type = of->type;
	e->lo = of->lo;
	e->hi = of->hi;
	e->nullable = e->is_user_only = true;
	vec_push(scope->arena, &scope->overs, o);
	return e;
}
