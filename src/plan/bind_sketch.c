/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * first(x), last(x), stddev(x), approx_count_distinct(x [, bits]) and
 * top_k(x, k [, weight]) -> aggregates.
 */
#include <string.h>
#include <strings.h>

#include "plan/bind.h"
#include "type/type.h"

static const struct sketch {
	const char *name;
	enum aggregate_kind kind;
	bool is_population; /* STDDEV */
	bool takes_text;
	u32 least, most; /* arguments */
	const char *example;
} sketches[] = {
	{ "first", AGGREGATE_FIRST, false, true, 1, 1, "first(comm)" },
	{ "last", AGGREGATE_LAST, false, true, 1, 1, "last(comm)" },
	{ "stddev", AGGREGATE_STDDEV, false, false, 1, 1, "stddev(latency)" },
	{ "stddev_samp", AGGREGATE_STDDEV, false, false, 1, 1, "stddev_samp(latency)" },
	{ "stddev_pop", AGGREGATE_STDDEV, true, false, 1, 1, "stddev_pop(latency)" },
	{ "approx_count_distinct", AGGREGATE_APPROX_COUNT_DISTINCT, false, true, 1, 2,
	  "approx_count_distinct(tid) or, with 2^14 registers, approx_count_distinct(tid, 14)" },
	{ "top_k", AGGREGATE_TOP_K, false, true, 2, 3,
	  "top_k(comm, 10) or, by the sum of count, top_k(comm, 10, count)" },
};

static const struct sketch *sketch_find(const char *name)
{
	for (u32 i = 0; i < ARRAY_SIZE(sketches); i++)
		if (strcasecmp(sketches[i].name, name) == 0)
			return &sketches[i];
	return NULL;
}

bool bind_is_sketch(const char *name)
{
	return sketch_find(name) != NULL;
}

void bind_sketch_suggest(struct suggest *suggest)
{
	for (u32 i = 0; i < ARRAY_SIZE(sketches); i++)
		suggest_offer(suggest, sketches[i].name);
}

void bind_sketch_type(struct expr *e, const struct aggregate *a)
{
	const struct expr *x = a->arg;

	switch (a->kind) {
	case AGGREGATE_STDDEV:
		e->type = (struct type){ .kind = TYPE_REAL };
		e->is_user_only = true;
		break;
	case AGGREGATE_APPROX_COUNT_DISTINCT:
		e->type = type_int(64, false);
		e->lo = type_min(e->type);
		e->hi = type_max(e->type);
		e->nullable = false;
		break;
	case AGGREGATE_TOP_K:
		e->type = x->type; /* UNNEST has columns of it */
		e->type.of = x->type.kind;
		e->type.kind = TYPE_TOP;
		break;
	default: /* FIRST, LAST */
		e->type = x->type;
		e->lo = x->lo;
		e->hi = x->hi;
	}
}

bool bind_same_sketch(const struct aggregate *a, const struct aggregate *b)
{
	if (!a->weight != !b->weight || (a->weight && !expr_equal(a->weight, b->weight)))
		return false;
	return a->is_population == b->is_population && a->hll_bits == b->hll_bits && a->k == b->k;
}

/* Its texts are known: the kernel part has a number of it. */
static bool is_probe(const struct expr *x)
{
	return x->kind == EXPR_SYSTEM && x->index == SYS_PROBE;
}

/* A word, or a text that the kernel part has. */
static struct expr *bind_value(struct scope *scope, const struct ast *ast, const struct sketch *s)
{
	struct expr *x;
	struct diag *d;

	if (!s->takes_text)
		return bind_aggregate_arg(scope, ast, s->name);
	scope->is_inside_aggregate = true;
	x = bind_expr(scope, ast);
	scope->is_inside_aggregate = false;
	if (!x)
		return NULL;
	if (x->is_user_only || (!type_is_word(x->type) && x->type.kind != TYPE_TEXT)) {
		d = diag_error(scope->diags, "not-supported", ast->span,
			       "%s() of %s is not available yet", s->name,
			       x->is_user_only		   ? "this expression"
			       : x->type.kind == TYPE_NULL ? "NULL"
							   : "such a value");
		diag_hint(scope->diags, d,
			  "it takes whole numbers, durations, times, and texts as they are");
		return NULL;
	}
	if (s->kind == AGGREGATE_TOP_K && x->type.kind == TYPE_TEXT && !is_probe(x) &&
	    x->type.bytes > 8 * TOP_WORDS_MAX) {
		d = diag_error(scope->diags, "not-supported", ast->span,
			       "top_k() of a text of more than %u bytes is not available yet",
			       8 * TOP_WORDS_MAX);
		diag_hint(scope->diags, d, "GROUP BY it, with ORDER BY and LIMIT");
		return NULL;
	}
	return x;
}

/* A whole number as it is written, in [lo, hi]. */
static bool bind_number(struct scope *scope, const struct ast *ast, const char *what, u32 lo,
			u32 hi, u32 *ret_number)
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
		       bind_number(scope, ast->args[1], "the logarithm of the number of registers",
				   HLL_BITS_MIN, HLL_BITS_MAX, &a->hll_bits);
	}
	if (a->kind != AGGREGATE_TOP_K)
		return true;
	if (!bind_number(scope, ast->args[1], "the k of top_k(x, k)", 1, TOP_K_MAX, &a->k))
		return false;
	if (ast->n_args < 3)
		return true;
	a->weight = bind_aggregate_arg(scope, ast->args[2], "top_k");
	return a->weight != NULL;
}

struct expr *bind_sketch(struct scope *scope, const struct ast *ast)
{
	const struct sketch *s = sketch_find(ast->text);
	struct aggregate a = { .kind = s->kind,
			       .span = ast->span,
			       .is_population = s->is_population };

	if (!bind_aggregate_allowed(scope, ast))
		return NULL;
	if (ast->star || ast->n_args < s->least || ast->n_args > s->most) {
		diag_hint(scope->diags,
			  diag_error(scope->diags, "wrong-arguments", ast->span,
				     "these are not the arguments of %s()", s->name),
			  "for example %s", s->example);
		return NULL;
	}
	a.arg = bind_value(scope, ast->args[0], s);
	if (!a.arg || !bind_options(scope, ast, &a))
		return NULL;
	/* The time of a row is that of the event that made it: the leftmost relation's. */
	if (a.kind == AGGREGATE_FIRST || a.kind == AGGREGATE_LAST)
		a.time = bind_time_of(scope, scope->relations.at[0].tree, ast->span);
	if (!bind_aggregate_filter(scope, ast, &a))
		return NULL;
	return bind_aggregate_ref(scope, a);
}
