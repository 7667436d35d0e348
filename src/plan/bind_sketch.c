/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * first(x), last(x), stddev(x), approx_count_distinct(x [, bits]) and
 * top_k(x, k [, weight]) -> aggregates.
 */
#include <string.h>
#include <strings.h>

#include "plan/bind.h"
#include "type/type.h"

/* What each takes, and its arguments in an example. */
static const struct sketch {
	bool takes_text;
	u32 least, most; /* arguments */
	const char *example;
} sketches[AGGREGATE_N] = {
	[AGGREGATE_FIRST] = { true, 1, 1, "(comm)" },
	[AGGREGATE_LAST] = { true, 1, 1, "(comm)" },
	[AGGREGATE_STDDEV] = { false, 1, 1, "(latency)" },
	[AGGREGATE_APPROX_COUNT_DISTINCT] = { true, 1, 2,
					      "(tid) or, with 2^14 registers, "
					      "approx_count_distinct(tid, 14)" },
	[AGGREGATE_TOP_K] = { true, 2, 3,
			      "(comm, 10) or, by the sum of count, top_k(comm, 10, count)" },
};

bool bind_same_sketch(const struct aggregate *a, const struct aggregate *b)
{
	if (!a->weight != !b->weight || (a->weight && !expr_equal(a->weight, b->weight)))
		return false;
	return a->is_population == b->is_population && a->hll_bits == b->hll_bits && a->k == b->k;
}

/* A whole number as it is written, in [lo, hi]. */
static bool bind_literal_number(struct scope *scope, const struct ast *ast, const char *what,
				u32 lo, u32 hi, u32 *ret_number)
{
	if (ast->kind == AST_INTEGER && ast->integer >= lo && ast->integer <= hi) {
		*ret_number = (u32)ast->integer;
		return true;
	}
	diag_error(scope->diags, "wrong-arguments", ast->span, "%s is a whole number from %u to %u",
		   what, lo, hi);
	return false;
}

static bool bind_options(struct scope *scope, const struct ast *ast, struct aggregate *a)
{
	if (a->kind == AGGREGATE_APPROX_COUNT_DISTINCT) {
		a->hll_bits = scope->select->group_by.n ? HLL_BITS_GROUPED : HLL_BITS_DEFAULT;
		return ast->n_args < 2 ||
		       bind_literal_number(scope, ast->args[1],
					   "the logarithm of the number of registers", HLL_BITS_MIN,
					   HLL_BITS_MAX, &a->hll_bits);
	}
	if (a->kind != AGGREGATE_TOP_K)
		return true;
	if (!bind_literal_number(scope, ast->args[1], "the k of top_k(x, k)", 1, TOP_K_MAX, &a->k))
		return false;
	if (ast->n_args < 3)
		return true;
	a->weight = bind_inside(scope, ast->args[2], false);
	return a->weight != NULL;
}

/* A nested select of rows has their time, too: as one column more, which only this reads. */
static struct expr *time_of_derived(struct scope *scope, const struct relation *r, struct span span)
{
	struct plan *p = r->tree->input;
	const struct plan *rows;
	struct expr *time, *e;
	struct item *items;

	while (p->kind == PLAN_LIMIT || p->kind == PLAN_SORT)
		p = p->input;
	if (p->kind != PLAN_PROJECT)
		return NULL;
	for (rows = p->input; rows->kind == PLAN_OVER || rows->kind == PLAN_FILTER;)
		rows = rows->input;
	if (!plan_is_rows(rows))
		return NULL;
	time = plan_time(rows, scope->arena);
	if (!time)
		return NULL;
	items = arena_array(scope->arena, struct item, p->project.n_items + 1);
	memcpy(items, p->project.items, p->project.n_items * sizeof(*items));
	items[p->project.n_items] = (struct item){ .name = "#time", .expr = time };
	p->project.items = items;
	e = expr_new(scope->arena, EXPR_COLUMN, span);
	e->name = "#time";
	e->source = r->tree->derived.relation;
	e->index = p->project.n_items++;
	e->type = time->type;
	e->lo = time->lo;
	e->hi = time->hi;
	e->is_user_only = e->nullable = true;
	return e;
}

/*
 * The time of a row is that of the event that made it: of several streams, that of the
 * one whose column it is, else of the leftmost.
 */
static struct expr *time_of(struct scope *scope, const struct ast *ast, const struct expr *x)
{
	const struct relation *found = NULL;
	struct expr *time = NULL;

	if (plan_is_rows(scope->from))
		return bind_time_of(scope, scope->relations.at[0].tree, ast->span);
	for (u32 i = 0; i < scope->relations.n; i++) {
		const struct relation *r = &scope->relations.at[i];

		if (plan_is_rows(r->tree) && (!found || expr_is_of(x, r->tree)))
			found = r;
	}
	if (found)
		return bind_time_of(scope, found->tree, ast->span);
	if (scope->relations.n == 1 && scope->relations.at[0].tree->kind == PLAN_DERIVED)
		time = time_of_derived(scope, &scope->relations.at[0], ast->span);
	if (time)
		return time;
	diag_hint(scope->diags,
		  diag_error(scope->diags, "no-time", ast->span,
			     "%s() needs the times of events, and these rows have none", ast->text),
		  "min(), max() or first_value() OVER (ORDER BY ...)");
	return NULL;
}

bool bind_check_integers(struct scope *scope, const struct ast *ast, enum aggregate_kind kind,
			 const struct expr *x)
{
	const struct aggregate_info *info = &aggregate_infos[kind];
	bool is_text = x->type.kind == TYPE_TEXT || x->type.kind == TYPE_BLOB;

	if (!info->takes_integers ||
	    (x->type.kind != TYPE_REAL && !(is_text && !sketches[kind].takes_text)))
		return true;
	diag_hint(scope->diags,
		  diag_error(scope->diags, "type-mismatch", ast->args[0]->span,
			     "%s() takes integers, and this is a %s", ast->text,
			     is_text ? "text" : "real number"),
		  is_text ? "CAST(x AS INTEGER) makes a number of a text"
			  : "say how fine: CAST(x * 1000 AS INTEGER)");
	return false;
}

struct expr *bind_sketch(struct scope *scope, const struct ast *ast,
			 const struct aggregate_name *name)
{
	const struct sketch *s = &sketches[name->kind];
	struct aggregate a = { .kind = name->kind,
			       .span = ast->span,
			       .is_population = name->is_population,
			       .is_distinct = ast->distinct };

	if (!bind_aggregate_allowed(scope, ast))
		return NULL;
	if (ast->star || ast->n_args < s->least || ast->n_args > s->most) {
		diag_hint(scope->diags,
			  diag_error(scope->diags, "wrong-arguments", ast->span,
				     "these are not the arguments of %s()", name->name),
			  "for example %s%s", name->name, s->example);
		return NULL;
	}
	a.arg = bind_inside(scope, ast->args[0], false);
	if (!a.arg || !bind_check_integers(scope, ast, a.kind, a.arg) ||
	    !bind_options(scope, ast, &a))
		return NULL;
	if (a.kind == AGGREGATE_FIRST || a.kind == AGGREGATE_LAST) {
		a.time = time_of(scope, ast, a.arg);
		if (!a.time)
			return NULL;
	}
	if (!bind_aggregate_filter(scope, ast, &a))
		return NULL;
	return bind_aggregate_ref(scope, a);
}
