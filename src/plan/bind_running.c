/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * SUM(x) OVER (PARTITION BY k, ...) in a select of events -> PLAN_RUNNING above its
 * FROM and WHERE, and the EXPR_RUNNING that reads it.  The sum runs in the order of the
 * events, so ORDER BY time within OVER says what is so anyway.
 */
#include <string.h>
#include <strings.h>

#include "plan/bind.h"

#define RUNNING_KEYS_MAX  6u
#define RUNNING_WORDS_MAX 32u

/* All rows up to this one: what a running sum is without saying so. */
static bool is_running_frame(const char *frame)
{
	return strcmp(frame, "ROWS UNBOUNDED PRECEDING") == 0 ||
	       strcmp(frame, "ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW") == 0;
}

static bool is_running(const struct ast *call)
{
	if (call->distinct || call->is_within_group ||
	    (call->frame && !is_running_frame(call->frame)))
		return false;
	if (strcasecmp(call->text, "sum") == 0)
		return !call->star && call->n_args == 1;
	return strcasecmp(call->text, "count") == 0 && call->n_args <= 1;
}

bool bind_may_run(struct scope *scope, const struct ast *call)
{
	if (!scope->has_event_items || !is_running(call))
		return false;
	return bind_is_of_events(scope, scope->from, false) ||
	       (plan_is_rows(scope->from) && bind_has_times(scope, scope->from));
}

/* What needs more than the kernel has makes it a window function, of the rows of a window. */
static bool is_of_kernel(const struct scope *scope, const struct expr *e)
{
	return !e->is_user_only && expr_is_within(e, scope->from);
}

/* ORDER BY within OVER: the time at which the rows appear, or nothing. */
static bool is_in_time(struct scope *scope, const struct over *o)
{
	return !o->n_order ||
	       (o->n_order == 1 && !o->order[0].is_descending &&
		bind_is_time_of(scope->arena, o->order[0].expr, scope->members.at[0].tree));
}

static bool is_key(const struct plan *p, const struct expr *e)
{
	for (u32 i = 0; i < p->running.n_keys; i++)
		if (expr_equal(p->running.keys[i], e))
			return true;
	return false;
}

/* false: a window function, or after a diagnostic. */
static bool take_keys(struct scope *scope, const struct over *o, struct plan *p)
{
	u32 words = 1;

	p->running.keys = arena_array(scope->arena, struct expr *, MAX(o->n_partition, 1u));
	for (u32 i = 0; i < o->n_partition; i++) {
		struct expr *e = o->partition[i];

		/* Many addresses have one name, which the kernel does not know. */
		while (function_is_naming(e) && e->n_args == 1 && !e->function->naming->is_address)
			e = e->args[0];
		if (!is_of_kernel(scope, e) ||
		    (!type_is_word(e->type) && e->type.kind != TYPE_TEXT &&
		     !bind_is_empty(scope, e)))
			return false;
		if (is_key(p, e))
			continue;
		words += e->type.kind == TYPE_TEXT ? (u32)ALIGN_UP(e->type.bytes, 8) / 8 : 1;
		p->running.keys[p->running.n_keys++] = e;
	}
	if (p->running.n_keys <= RUNNING_KEYS_MAX && words <= RUNNING_WORDS_MAX)
		return true;
	return diag_refuse(scope->diags, "key-too-wide", o->span,
			   "PARTITION BY takes at most %u expressions of together %u bytes" HINT
			   "partition by fewer or shorter texts",
			   RUNNING_KEYS_MAX, 8 * RUNNING_WORDS_MAX);
}

/* What each row adds: the argument, 1 for count(); NULL where FILTER leaves the row out. */
static struct expr *take_arg(struct scope *scope, const struct ast *ast, const struct aggregate *a)
{
	struct expr *zero = expr_number(scope->arena, ast->span, 0);
	struct expr *one = expr_number(scope->arena, ast->span, 1), *x = a->arg;

	if (a->kind == AGGREGATE_SUM) {
		if (!x->is_user_only && x->type.kind != TYPE_INT && x->type.kind != TYPE_BOOL &&
		    x->type.kind != TYPE_DURATION && !bind_is_empty(scope, x))
			return diag_refuse(scope->diags, "type-mismatch", ast->args[0]->span,
					   "sum() OVER (...) takes whole numbers and durations" HINT
					   "for example SUM(bytes) OVER (PARTITION BY cpu)");
		zero = expr_new(scope->arena, EXPR_NULL, ast->span);
	} else if (!x) {
		x = one;
	} else if (x->kind == EXPR_NULL) {
		x = zero;
	} else {
		x = bind_case_of(scope, ast->span,
				 expr_make(scope->arena, EXPR_IS_NULL, x->span, 1, x), zero, one);
	}
	return a->filter ? bind_case_of(scope, ast->span, a->filter, x, zero) : x;
}

/* The value of the sum at this row; one that is asked for twice is made once. */
static struct expr *running_ref(struct scope *scope, struct plan *p, struct span span)
{
	const struct expr *x = p->running.arg;
	struct expr *e = expr_new(scope->arena, EXPR_RUNNING, span);

	e->name = "sum";
	e->index = p->running.number;
	e->source = plan_trigger(scope->members.at[0].tree);
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

void bind_warn_running(struct scope *scope, const struct ast *call)
{
	if (call->n_order_by || call->frame || scope->is_shipped || scope->shared->is_running_told)
		return;
	scope->shared->is_running_told = true;
	diag_warning(scope->diags, "running-sum", call->span,
		     "this %s() runs along with the events: at each it is that of those so far" HINT
		     "ROWS UNBOUNDED PRECEDING within OVER says that this is meant; ROWS BETWEEN "
		     "UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING makes it that of all",
		     call->text);
}

struct expr *bind_running(struct scope *scope, const struct ast *ast, const struct over *o)
{
	struct plan *p = plan_new(scope->arena, PLAN_RUNNING, ast->span, NULL), *same;

	if (!plan_is_rows(scope->from) || scope->is_where_of_user)
		return NULL;
	p->running.arg = take_arg(scope, ast, o->aggregate);
	if (!p->running.arg || !is_of_kernel(scope, p->running.arg) || !take_keys(scope, o, p) ||
	    !is_in_time(scope, o))
		return NULL;
	bind_warn_running(scope, ast);
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
