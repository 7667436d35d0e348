/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * f(...) OVER (PARTITION BY ... ORDER BY ... frame) -> EXPR_OVER.  Over single events a
 * sum or a count that runs along with them is PLAN_RUNNING (bind_running.c); all others
 * see the rows of a window.
 */

#include "plan/bind.h"

/* An aggregate as it would be without OVER; its type. */
static struct expr *bind_aggregate_over(struct scope *scope, const struct ast *ast, struct over *o)
{
	struct ast plain = *ast;
	struct aggregate *a = arena_new(scope->arena, struct aggregate);
	struct expr *e;

	if (ast->distinct)
		return diag_refuse(scope->diags, "not-supported", ast->span,
				   "DISTINCT in %s() with OVER is not available" HINT
				   "SELECT DISTINCT in a nested select",
				   ast->text);
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
		return diag_refuse(scope->diags, "not-supported", ast->span,
				   "%s() as a window function is not available" HINT
				   "group in a nested select, or take it over the whole window",
				   ast->text);
	o->aggregate = a;
	return e;
}

static struct expr *bind_function_over(struct scope *scope, const struct ast *ast,
				       const struct sql_function *f, struct over *o)
{
	o->function = f;
	o->args = bind_exprs(scope, ast->args, ast->n_args);
	o->n_args = ast->n_args;
	if (!o->args || !bind_check_arguments(scope, f, ast, o->args))
		return NULL;
	return expr_call(scope->arena, f, ast->span, o->args, o->n_args);
}

static bool bind_window(struct scope *scope, const struct ast *ast, struct over *o)
{
	o->n_partition = ast->n_partition_by;
	o->partition = bind_exprs(scope, ast->partition_by, o->n_partition);
	if (!o->partition || ast->is_within_group)
		return o->partition;
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
 * A sum that would run along with single events, but for what user space computes of it or below
 * it: in the order of the events it is the same, but SQLite's begins anew in each window.
 */
static bool run_along(struct scope *scope, const struct ast *ast, struct over *o)
{
	struct expr *time;

	if (o->n_order)
		return true;
	if (scope->shared->window.kind != WINDOW_NONE)
		return diag_refuse(
			scope->diags, "not-supported", ast->span,
			"this %s() runs through all windows, which it cannot where user "
			"space tests or computes what it is of" HINT
			"ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING within "
			"OVER makes it that of each window",
			ast->text);
	bind_warn_running(scope, ast);
	time = scope->from->kind == PLAN_DERIVED ? bind_time_of_select(scope, scope->from)
						 : plan_time(scope->from, scope->arena);
	o->order[o->n_order++] = (struct sort_key){ .expr = time };
	o->frame = "ROWS UNBOUNDED PRECEDING";
	return true;
}

static struct expr *misplaced(struct scope *scope, const struct ast *ast)
{
	const char *in = scope->is_inside_over	      ? "another one"
			 : scope->is_inside_aggregate ? "an aggregate"
			 : scope->no_aggregates_in    ? scope->no_aggregates_in
						      : scope->no_overs_in;

	return diag_refuse(
		scope->diags, "window-function-here", ast->span,
		"%s() OVER (...) in %s: it is computed over the rows that come out "
		"of it" HINT
		"name it in a nested select: SELECT ... FROM (SELECT *, %s(...) OVER (...) AS n "
		"FROM ...) WHERE n > 3",
		ast->text, in, ast->text);
}

struct expr *bind_over(struct scope *scope, const struct ast *ast)
{
	const struct sql_function *f = function_find(ast->text, true);
	struct over o = { .span = ast->span };
	struct aggregate_name name;
	bool is_good, may_run = bind_may_run(scope, ast);
	u32 n_errors = scope->diags->n_errors;
	struct expr *of, *e;

	if (scope->no_aggregates_in || scope->no_overs_in || scope->is_inside_aggregate ||
	    scope->is_inside_over)
		return misplaced(scope, ast);
	if (!f && !bind_find_aggregate(ast, &name))
		return bind_unknown_function(scope, ast, true);
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
		if (!run_along(scope, ast, &o))
			return NULL;
	}
	if (!scope->overs.n)
		scope->over_number = scope->shared->n_overs++;
	o.type = of->type;
	e = expr_ref(scope->arena, EXPR_OVER, ast->span, of, scope->over_number, scope->overs.n);
	e->name = ast->text;
	vec_push(scope->arena, &scope->overs, o);
	return e;
}
