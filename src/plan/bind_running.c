/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * SUM(x) OVER (PARTITION BY k, ...) in a select of events -> PLAN_RUNNING above its
 * FROM and WHERE, and the EXPR_RUNNING that reads it.  The sum runs in the order of the
 * events, so ORDER BY time within OVER says what is so anyway.
 */
#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "plan/bind.h"

#define RUNNING_KEYS_MAX  6u
#define RUNNING_WORDS_MAX 32u

/* All rows up to this one: what a running sum is without saying so. */
static bool is_running_frame(const char *frame)
{
	static const char *const frames[] = { "ROWS UNBOUNDED PRECEDING",
					      "ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW" };

	for (u32 i = 0; i < ARRAY_SIZE(frames); i++) {
		const char *a = frame, *b = frames[i];

		while (*a && *b && (isspace((u8)*a) ? *b == ' ' : toupper((u8)*a) == *b)) {
			a += isspace((u8)*a) ? strspn(a, " \t\n\v\f\r") : 1;
			b++;
		}
		if (!*a && !*b)
			return true;
	}
	return false;
}

bool bind_is_running(const struct ast *call)
{
	if (call->kind != AST_CALL || !call->is_over || call->distinct || call->is_within_group)
		return false;
	if (call->frame && !is_running_frame(call->frame))
		return false;
	if (strcasecmp(call->text, "sum") == 0)
		return !call->star && call->n_args == 1;
	return strcasecmp(call->text, "count") == 0 && call->n_args <= 1;
}

/* ORDER BY within OVER: the time at which the rows appear, or nothing. */
static bool check_order(struct scope *scope, const struct ast *ast)
{
	struct expr *e;

	if (!ast->n_order_by)
		return true;
	e = bind_expr(scope, ast->order_by[0].expr);
	if (!e)
		return false;
	if (ast->n_order_by == 1 && !ast->order_by[0].is_descending &&
	    bind_is_time_of(scope->arena, e, scope->relations.at[0].tree))
		return true;
	/* Another order is a window function's. */
	return false;
}

/* What needs more than the kernel has makes it a window function, of the rows of a window. */
static bool is_of_kernel(const struct scope *scope, const struct expr *e)
{
	return !e->is_user_only && (expr_is_of(e, scope->from) || !expr_reads(e));
}

static bool bind_partition(struct scope *scope, const struct ast *ast, struct plan *p)
{
	u32 words = 1;

	p->running.n_keys = ast->n_partition_by;
	p->running.keys = arena_array(scope->arena, struct expr *, MAX(p->running.n_keys, 1u));
	for (u32 i = 0; i < p->running.n_keys; i++) {
		struct expr *e = bind_expr(scope, ast->partition_by[i]);

		if (!e)
			return false;
		while (bind_is_naming(e))
			e = e->args[0];
		if (!is_of_kernel(scope, e) ||
		    (!type_is_word(e->type) && e->type.kind != TYPE_TEXT))
			return false;
		words += e->type.kind == TYPE_TEXT ? (u32)ALIGN_UP(e->type.bytes, 8) / 8 : 1;
		p->running.keys[i] = e;
	}
	if (p->running.n_keys <= RUNNING_KEYS_MAX && words <= RUNNING_WORDS_MAX)
		return true;
	diag_hint(scope->diags,
		  diag_error(scope->diags, "key-too-wide", ast->span,
			     "PARTITION BY takes at most %u expressions of together %u bytes",
			     RUNNING_KEYS_MAX, 8 * RUNNING_WORDS_MAX),
		  "partition by fewer or shorter texts");
	return false;
}

/* What each row adds: the argument, 1 for count(); NULL where FILTER leaves the row out. */
static struct expr *bind_arg(struct scope *scope, const struct ast *ast)
{
	bool is_count = strcasecmp(ast->text, "count") == 0;
	struct expr *one = expr_integer(scope->arena, ast->span, type_int(64, true), 1), *x = one;
	struct expr *filter, *is_null;

	if (ast->n_args)
		x = bind_expr(scope, ast->args[0]);
	if (!x)
		return NULL;
	if (!is_count && !x->is_user_only && x->type.kind != TYPE_INT &&
	    x->type.kind != TYPE_BOOL && x->type.kind != TYPE_DURATION) {
		diag_hint(scope->diags,
			  diag_error(scope->diags, "type-mismatch", ast->args[0]->span,
				     "sum() OVER (...) takes whole numbers and durations"),
			  "for example SUM(bytes) OVER (PARTITION BY cpu)");
		return NULL;
	}
	if (is_count && x->kind == EXPR_NULL) {
		x = expr_integer(scope->arena, ast->span, type_int(64, true), 0);
	} else if (is_count && x->nullable) {
		is_null = expr_new(scope->arena, EXPR_IS_NULL, x->span);
		is_null->n_args = 1;
		is_null->args = arena_array(scope->arena, struct expr *, 1);
		is_null->args[0] = x;
		expr_infer(is_null);
		x = bind_case_of(scope, ast->span, is_null,
				 expr_integer(scope->arena, ast->span, type_int(64, true), 0), one);
	} else if (is_count && !x->is_user_only) {
		x = one;
	}
	if (ast->filter) {
		filter = bind_condition(scope, ast->filter, "FILTER");
		x = bind_case_of(
			scope, ast->span, filter, x,
			is_count ? expr_integer(scope->arena, ast->span, type_int(64, true), 0)
				 : expr_new(scope->arena, EXPR_NULL, ast->span));
	}
	return x;
}

/* The value of the sum at this row; one that is asked for twice is made once. */
static struct expr *running_ref(struct scope *scope, struct plan *p, struct span span)
{
	const struct expr *x = p->running.arg;
	struct expr *e = expr_new(scope->arena, EXPR_RUNNING, span);

	e->name = "sum";
	e->index = p->running.number;
	e->source = plan_trigger(scope->relations.at[0].tree);
	e->type = type_int(64, true);
	if (x->type.kind == TYPE_DURATION)
		e->type.kind = TYPE_DURATION;
	e->lo = x->lo >= 0 ? 0 : INT64_MIN;
	e->hi = x->hi <= 0 ? 0 : INT64_MAX;
	/* Before the first value, behind an overflow, and where the table of sums is full. */
	e->nullable = true;
	e->n_nodes = 1;
	return e;
}

static struct plan *same_running(struct scope *scope, const struct plan *p)
{
	for (u32 i = 0; i < scope->runnings.n; i++) {
		struct plan *q = scope->runnings.at[i];
		bool is_same = expr_equal(p->running.arg, q->running.arg) &&
			       p->running.n_keys == q->running.n_keys;

		for (u32 k = 0; is_same && k < p->running.n_keys; k++)
			is_same = expr_equal(p->running.keys[k], q->running.keys[k]);
		if (is_same)
			return q;
	}
	return NULL;
}

struct expr *bind_running(struct scope *scope, const struct ast *ast)
{
	bool was_inside = scope->is_inside_aggregate, is_good;
	struct plan *p, *same;

	if (!scope->has_event_items || was_inside || scope->no_aggregates_in ||
	    !bind_is_running(ast) || !plan_is_rows(scope->from) ||
	    !bind_has_times(scope, scope->from))
		return NULL;
	p = bind_plan_new(scope, PLAN_RUNNING, NULL);
	p->span = ast->span;
	scope->is_inside_aggregate = true;
	p->running.arg = bind_arg(scope, ast);
	is_good = p->running.arg && is_of_kernel(scope, p->running.arg) &&
		  bind_partition(scope, ast, p) && check_order(scope, ast);
	scope->is_inside_aggregate = was_inside;
	if (!is_good)
		return NULL;
	same = same_running(scope, p);
	if (!same) {
		p->running.number = scope->shared->n_runnings++;
		vec_push(scope->arena, &scope->runnings, p);
	}
	return running_ref(scope, same ? same : p, ast->span);
}

struct plan *bind_runnings_new(struct scope *scope, struct plan *input)
{
	for (u32 i = 0; i < scope->runnings.n; i++) {
		scope->runnings.at[i]->input = input;
		input = scope->runnings.at[i];
	}
	return input;
}
