/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Rule share: an expression that stands in several conditions, keys, aggregates or items is
 * marked to be computed once, before the first of them.
 *
 * A program keeps what it has computed, but forgets it where two ways join and one did not
 * compute it: behind the FILTER of an aggregate, an arm of a CASE, a side of an OR.  A marked
 * expression is computed ahead of these.  It is never NULL and cannot fault, so nothing is
 * counted that would not have been, and no way is changed.
 */
#include "opt/rules.h"

#define USES_MAX   256 /* looked at */
#define SHARED_MAX 8   /* each takes a register or a word of the stack up to its last use */

struct use {
	struct expr *e;
	u32 n;
};

struct share {
	struct arena *arena;
	const struct plan *tree; /* below the aggregate or the projection */
	VEC(struct use) uses;
};

/* What costs more than keeping it: arithmetic, and columns that a helper gives. */
static bool is_worth_it(const struct expr *e)
{
	if (e->nullable || !type_is_word(e->type))
		return false;
	if (e->kind == EXPR_SYSTEM)
		return e->index != SYS_TIME && e->index != SYS_CPU && e->index != SYS_PROBE;
	return e->kind == EXPR_OP && ((e->op >= OP_ADD && e->op <= OP_SHIFT_RIGHT) ||
				      e->op == OP_NEG || e->op == OP_BIT_NOT);
}

static void note(struct share *s, struct expr *e)
{
	for (u32 i = 0; i < s->uses.n; i++) {
		if (expr_equal(s->uses.at[i].e, e)) {
			s->uses.at[i].n++;
			return;
		}
	}
	if (s->uses.n < USES_MAX)
		vec_push(s->arena, &s->uses, (struct use){ e, 1 });
}

/* Branches of a union are ways of their own: what they compute may be missing on this one. */
static void collect(struct share *s, struct expr *e)
{
	if (is_worth_it(e) && !expr_can_fault(e, s->tree))
		note(s, e);
	for (u32 i = 0; e->kind != EXPR_UNION && i < e->n_args; i++)
		collect(s, e->args[i]);
}

static void collect_slot(void *context, struct expr **e)
{
	collect(context, *e);
}

/* Is it always computed as a part of a larger one, which is kept? */
static bool is_inside(const struct share *s, const struct use *use)
{
	for (u32 i = 0; i < s->uses.n; i++) {
		const struct use *other = &s->uses.at[i];

		if (other != use && other->n == use->n && opt_contains(other->e, use->e))
			return true;
	}
	return false;
}

void opt_share(struct plan *p, const struct settings *settings, struct arena *arena)
{
	struct share s = { .arena = arena, .tree = p->input };

	if (p->kind != PLAN_AGGREGATE && (p->kind != PLAN_PROJECT || plan_find(p, PLAN_AGGREGATE)))
		return;
	p->n_shared = 0;
	plan_each_expr(p, collect_slot, &s);
	/* Conditions that the same events have met just before. */
	for (struct plan *below = p->input; below->kind == PLAN_FILTER; below = below->input)
		plan_each_expr(below, collect_slot, &s);
	p->shared = arena_array(arena, struct expr *, SHARED_MAX);
	for (u32 i = 0; i < s.uses.n && p->n_shared < SHARED_MAX; i++)
		if (s.uses.at[i].n > 1 && !is_inside(&s, &s.uses.at[i]))
			p->shared[p->n_shared++] = s.uses.at[i].e;
}
