/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Calls of aggregates: what all of them need, and those that are no statistic
 * (bind_statistic.c), each by the row of a table that says what it takes.
 */
#include <string.h>
#include <strings.h>

#include "plan/bind.h"

/* min(a, b) and max(a, b) are SQLite's scalar functions. */
bool bind_find_aggregate(const struct ast *ast, struct aggregate_name *ret_name)
{
	if (!aggregate_find(ast->text, ret_name))
		return false;
	return !((ret_name->kind == AGGREGATE_MIN || ret_name->kind == AGGREGATE_MAX) &&
		 ast->n_args > 1);
}

bool bind_has_aggregate(const struct ast *ast)
{
	struct aggregate_name name;

	if (!ast)
		return false;
	if (ast->kind == AST_CALL && !ast->is_over && bind_find_aggregate(ast, &name))
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

bool bind_is_aggregated(const struct ast_select *s)
{
	bool is_aggregated = s->group_by.n || bind_has_aggregate(s->having);

	for (u32 i = 0; i < s->items.n; i++)
		is_aggregated |= bind_has_aggregate(s->items.at[i].expr);
	for (u32 i = 0; i < s->order_by.n; i++)
		is_aggregated |= bind_has_aggregate(s->order_by.at[i].expr);
	return is_aggregated;
}

/* One quantile is a value of x for those that compute with it; NULL when nothing was counted. */
static void quantile_type(struct expr *e, const struct aggregate *a)
{
	const struct expr *x = a->arg;

	if (a->is_ladder) {
		e->type = (struct type){ .kind = TYPE_LADDER,
					 .is_signed = x->type.is_signed,
					 .of = x->type.kind,
					 .clock = x->type.clock };
	} else if (a->is_interpolated) {
		e->type = (struct type){ .kind = TYPE_REAL, .of = x->type.kind };
		e->is_user_only = e->is_quantile = true;
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

void *bind_no_distinct(struct scope *scope, const struct ast *ast)
{
	return diag_refuse(scope->diags, "not-supported", ast->span,
			   "DISTINCT in %s() is not available" HINT
			   "SELECT DISTINCT in a nested select",
			   ast->text);
}

#define OF_EACH_EVENT                                                                              \
	"%s() is an aggregate; %s is evaluated for each event, before there are groups"

bool bind_aggregate_allowed(struct scope *scope, const struct ast *ast)
{
	const char *clause = scope->no_aggregates_in;

	if (clause && strcmp(clause, "WHERE") == 0)
		return diag_refuse(scope->diags, "aggregate-not-allowed", ast->span,
				   OF_EACH_EVENT HINT "put the condition into HAVING", ast->text,
				   clause);
	if (clause)
		return diag_refuse(scope->diags, "aggregate-not-allowed", ast->span, OF_EACH_EVENT,
				   ast->text, clause);
	if (scope->is_inside_aggregate)
		return diag_refuse(scope->diags, "aggregate-not-allowed", ast->span,
				   "%s() stands inside another aggregate", ast->text);
	if (ast->is_within_group && strcasecmp(ast->text, "percentile_cont") != 0)
		return diag_refuse(scope->diags, "not-supported", ast->span,
				   "an ordered aggregate is not available yet");
	return true;
}

static bool same_aggregate(const struct aggregate *a, const struct aggregate *b)
{
	if (a->kind != b->kind || a->is_distinct != b->is_distinct ||
	    a->keeps_null != b->keeps_null || a->n_q != b->n_q || a->is_ladder != b->is_ladder ||
	    a->is_interpolated != b->is_interpolated || a->part != b->part ||
	    a->is_population != b->is_population || a->hll_bits != b->hll_bits || a->k != b->k)
		return false;
	if (!expr_equal(a->arg, b->arg) || !expr_equal(a->filter, b->filter) ||
	    !expr_equal(a->weight, b->weight) || !expr_equal(a->separator, b->separator))
		return false;
	if (a->n_q && memcmp(a->q_ppb, b->q_ppb, a->n_q * sizeof(*a->q_ppb)) != 0)
		return false;
	return a->scheme && b->scheme ? scheme_equal(a->scheme, b->scheme) : a->scheme == b->scheme;
}

struct expr *bind_aggregate_ref(struct scope *scope, struct aggregate a)
{
	struct expr *e = expr_new(scope->arena, EXPR_AGGREGATE, a.span);

	aggregate_type(e, &a);
	a.type = e->type;
	if (scope->over) {
		*scope->over = a;
		return e;
	}
	e->source = bind_number(scope);
	while (e->index < scope->aggregates.n &&
	       !same_aggregate(&scope->aggregates.at[e->index], &a))
		e->index++;
	if (e->index == scope->aggregates.n)
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

/* What each takes; the arguments of an example. */
static const struct shape {
	u8 least, most;
	bool takes_text, is_of_rows; /* it says something of rows, not of values: no DISTINCT */
	const char *example;
} shapes[AGGREGATE_N] = {
	[AGGREGATE_COUNT] = { 0, 1, true, false, "(*)" },
	[AGGREGATE_SUM] = { 1, 1, false, false, "(count)" },
	[AGGREGATE_MIN] = { 1, 1, false, false, "(count)" },
	[AGGREGATE_MAX] = { 1, 1, false, false, "(count)" },
	[AGGREGATE_AVG] = { 1, 1, false, false, "(count)" },
	[AGGREGATE_BIT_OR] = { 1, 1, false, false, "(flags)" },
	[AGGREGATE_BIT_AND] = { 1, 1, false, false, "(flags)" },
	[AGGREGATE_BIT_XOR] = { 1, 1, false, false, "(flags)" },
	[AGGREGATE_FIRST] = { 1, 1, true, true, "(comm)" },
	[AGGREGATE_LAST] = { 1, 1, true, true, "(comm)" },
	[AGGREGATE_STDDEV] = { 1, 1, false, false, "(latency)" },
	[AGGREGATE_APPROX_COUNT_DISTINCT] = { 1, 2, true, false,
					      "(tid) or, with 2^14 registers, "
					      "approx_count_distinct(tid, 14)" },
	[AGGREGATE_TOP_K] = { 2, 3, true, true,
			      "(comm, 10) or, by the sum of count, top_k(comm, 10, count)" },
	[AGGREGATE_TOTAL] = { 1, 1, false, false, "(count)" },
	[AGGREGATE_GROUP_CONCAT] = { 1, 2, true, false, "(comm, ' ')" },
	[AGGREGATE_HISTOGRAM_MERGE] = { 1, 1, false, true,
					"(h) ... FROM (SELECT histogram(latency) AS h ...)" },
};

/*
 * The time of a row is that of the event that made it: of several streams, that of the
 * one whose column it is, else of the leftmost that it has.
 */
static struct expr *time_of(struct scope *scope, const struct ast *ast, const struct expr *x)
{
	struct expr *found = NULL, *time;

	if (plan_is_rows(scope->from))
		return bind_time_of(scope, scope->members.at[0].tree, ast->span);
	for (u32 i = 0; i < scope->members.n; i++) {
		const struct from_member *r = &scope->members.at[i];

		if (!plan_is_rows(r->tree))
			continue;
		time = bind_time_of(scope, r->tree, ast->span);
		if (!time || expr_is_of(x, r->tree))
			return time;
		time->nullable |= r->is_nullable;
		if (!found)
			found = time;
		else if (found->nullable)
			found = bind_case_of(
				scope, ast->span,
				expr_make(scope->arena, EXPR_IS_NULL, ast->span, 1, found), time,
				found);
	}
	if (found)
		return found;
	if (bind_is_of_events(scope, scope->from, true))
		return bind_time_of_select(scope, scope->from);
	return diag_refuse(scope->diags, "no-time", ast->span,
			   "%s() needs the times of events, and these rows have none" HINT
			   "min(), max() or first_value() OVER (ORDER BY ...)",
			   ast->text);
}

/* A real number, or a text, where the aggregate takes integers? */
static bool check_argument(struct scope *scope, const struct ast *ast, const struct aggregate *a)
{
	const struct expr *x = a->arg;

	if (a->kind == AGGREGATE_HISTOGRAM_MERGE && x->type.kind != TYPE_HISTOGRAM)
		return diag_refuse(
			scope->diags, "type-mismatch", x->span,
			"histogram_merge() takes histograms" HINT
			"SELECT histogram_merge(h) FROM (SELECT histogram(latency) AS h ...)");
	if (!aggregate_infos[a->kind].takes_integers)
		return true;
	if (x->type.kind == TYPE_REAL)
		return diag_refuse(scope->diags, "type-mismatch", ast->args[0]->span,
				   "%s() takes integers, and this is a real number" HINT
				   "say how fine: CAST(x * 1000 AS INTEGER)",
				   ast->text);
	if (expr_is_text(x) && !shapes[a->kind].takes_text)
		return diag_refuse(scope->diags, "type-mismatch", ast->args[0]->span,
				   "%s() takes integers, and this is a text" HINT
				   "CAST(x AS INTEGER) makes a number of a text",
				   ast->text);
	return true;
}

/* A whole number as it is written, in [lo, hi]. */
static bool bind_literal_number(struct scope *scope, const struct ast *ast, const char *what,
				u32 lo, u32 hi, u32 *ret_number)
{
	if (ast->kind == AST_INTEGER && ast->integer >= lo && ast->integer <= hi) {
		*ret_number = (u32)ast->integer;
		return true;
	}
	return diag_refuse(scope->diags, "wrong-arguments", ast->span,
			   "%s is a whole number from %u to %u", what, lo, hi);
}

/* What stands behind the first argument, and what the aggregate needs beside it. */
static bool bind_others(struct scope *scope, const struct ast *ast, struct aggregate *a)
{
	struct expr **second = a->kind == AGGREGATE_GROUP_CONCAT ? &a->separator : &a->weight;
	u32 at = a->kind == AGGREGATE_GROUP_CONCAT ? 1 : 2;

	if (a->kind == AGGREGATE_FIRST || a->kind == AGGREGATE_LAST) {
		a->time = time_of(scope, ast, a->arg);
		return a->time;
	}
	if (a->kind == AGGREGATE_APPROX_COUNT_DISTINCT) {
		a->hll_bits = scope->select->group_by.n ? HLL_BITS_GROUPED : HLL_BITS_DEFAULT;
		return ast->n_args < 2 ||
		       bind_literal_number(scope, ast->args[1],
					   "the logarithm of the number of registers", HLL_BITS_MIN,
					   HLL_BITS_MAX, &a->hll_bits);
	}
	if (a->kind == AGGREGATE_TOP_K &&
	    !bind_literal_number(scope, ast->args[1], "the k of top_k(x, k)", 1, TOP_K_MAX, &a->k))
		return false;
	if (ast->n_args <= at)
		return true;
	*second = bind_inside(scope, ast->args[at], false);
	return *second;
}

struct expr *bind_aggregate(struct scope *scope, const struct ast *ast,
			    const struct aggregate_name *name)
{
	const struct shape *shape = &shapes[name->kind];
	struct aggregate a = { .kind = name->kind,
			       .span = ast->span,
			       .is_population = name->is_population,
			       .is_distinct = ast->distinct &&
					      name->kind != AGGREGATE_APPROX_COUNT_DISTINCT };

	if (!bind_aggregate_allowed(scope, ast))
		return NULL;
	if (ast->distinct && shape->is_of_rows)
		return bind_no_distinct(scope, ast);
	if (ast->distinct && a.kind == AGGREGATE_COUNT && ast->n_args > 1)
		return diag_refuse(scope->diags, "wrong-arguments", ast->span,
				   "count(DISTINCT x) takes one argument" HINT
				   "SELECT count(*) FROM (SELECT DISTINCT a, b FROM ...)");
	if ((ast->star && shape->least) || ast->n_args < shape->least || ast->n_args > shape->most)
		return diag_refuse(scope->diags, "wrong-arguments", ast->span,
				   "these are not the arguments of %s()" HINT "for example %s%s",
				   name->name, name->name, shape->example);
	if (ast->distinct && a.kind == AGGREGATE_GROUP_CONCAT && ast->n_args > 1)
		return diag_refuse(scope->diags, "wrong-arguments", ast->span,
				   "%s(DISTINCT x) takes one argument" HINT
				   "the texts are then separated by commas",
				   name->name);
	if (ast->n_args) {
		scope->is_top_of_item = a.kind == AGGREGATE_HISTOGRAM_MERGE;
		scope->takes_stack = a.kind == AGGREGATE_COUNT;
		a.arg = bind_inside(scope, ast->args[0], false);
		scope->is_top_of_item = false;
		if (!a.arg || !check_argument(scope, ast, &a) || !bind_others(scope, ast, &a))
			return NULL;
		if ((a.kind == AGGREGATE_SUM || a.kind == AGGREGATE_AVG) &&
		    !scope->shared->is_text_told && *bind_note(scope, a.arg)) {
			scope->shared->is_text_told = true;
			diag_warning(scope->diags, "sum-of-text", ast->args[0]->span,
				     "%s is %s" HINT
				     "what is no number of 64 bits is not added, and "
				     "counts as a fault",
				     a.arg->name, bind_note(scope, a.arg));
		}
		/* never NULL: count(x) is count(*) */
		if (a.kind == AGGREGATE_COUNT && !a.arg->nullable &&
		    a.arg->type.kind != TYPE_NULL && !a.is_distinct)
			a.arg = NULL;
	}
	if (!bind_aggregate_filter(scope, ast, &a))
		return NULL;
	return bind_aggregate_ref(scope, a);
}
