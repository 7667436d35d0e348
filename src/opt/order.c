/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Rule order: conjuncts by what they cost to test for each row that they drop: the
 * cheap ones and those that few rows pass come first; equal ones stay as written.  With
 * costs c and shares s of the rows that pass, a before b is the better order where
 * c_a + s_a c_b < c_b + s_b c_a, which is c_a / (1 - s_a) < c_b / (1 - s_b).  A conjunct
 * that can fault (x / 0) stays where it is among the others: those ahead of it guard it.
 */
#include "opt/rules.h"

static double cost(const struct expr *e, const struct costs *costs)
{
	double sum = expr_own_cost_ns(e, costs);

	for (u32 i = 0; i < e->n_args; i++)
		sum += cost(e->args[i], costs);
	return sum;
}

/* How many of 1000 rows are assumed to pass where nothing is known about the values. */
#define PASS_EQUAL   100
#define PASS_LIKE    250
#define PASS_RANGE   333
#define PASS_NULL    50
#define PASS_UNKNOWN 500

/* One value of a small range is hit more often. */
static u32 pass_equal(const struct expr *a, const struct expr *b)
{
	s128 n = MIN(a->hi - a->lo, b->lo == b->hi ? a->hi - a->lo : b->hi - b->lo) + 1;

	if (!type_is_word(a->type) || !type_is_word(b->type) || n > 10 || n < 1)
		return PASS_EQUAL;
	return (u32)(1000 / n);
}

static u32 passing(const struct expr *e);

static u32 passing_op(const struct expr *e)
{
	if (e->op == OP_AND)
		return passing(e->args[0]) * passing(e->args[1]) / 1000;
	if (e->op == OP_OR)
		return 1000 - (1000 - passing(e->args[0])) * (1000 - passing(e->args[1])) / 1000;
	if (e->op == OP_NOT)
		return 1000 - passing(e->args[0]);
	if (e->op == OP_EQ || e->op == OP_IS)
		return pass_equal(e->args[0], e->args[1]);
	if (e->op == OP_NE || e->op == OP_IS_NOT)
		return 1000 - pass_equal(e->args[0], e->args[1]);
	return e->op >= OP_LT && e->op <= OP_GE ? PASS_RANGE : PASS_UNKNOWN;
}

static u32 passing(const struct expr *e)
{
	if (e->kind == EXPR_OP)
		return passing_op(e);
	if (e->kind == EXPR_IN)
		return MIN((e->n_args - 1) * PASS_EQUAL, 900u);
	if (e->kind == EXPR_LIKE)
		return PASS_LIKE;
	if (e->kind == EXPR_IS_NULL)
		return PASS_NULL;
	return e->kind == EXPR_UNION && e->n_args ? passing(e->args[0]) : PASS_UNKNOWN;
}

/* What it costs to drop 1000 rows. */
static u32 rank(const struct expr *e, const struct costs *costs)
{
	return (u32)(cost(e, costs) * 1000 / (1000 - MIN(passing(e), 990u)));
}

void opt_order(struct plan *p, const struct settings *settings, struct arena *arena)
{
	struct expr **sorted = arena_array(arena, struct expr *, p->filter.n_conjuncts);
	u32 begin = 0; /* behind the last that can fault */

	for (u32 i = 0; i < p->filter.n_conjuncts; i++) {
		struct expr *e = p->filter.conjuncts[i];
		u32 at = i;

		if (expr_can_fault(e, p->input))
			begin = i + 1;
		while (at > begin &&
		       rank(sorted[at - 1], settings->costs) > rank(e, settings->costs)) {
			sorted[at] = sorted[at - 1];
			at--;
		}
		sorted[at] = e;
	}
	p->filter.conjuncts = sorted;
}
