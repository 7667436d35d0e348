/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Rule push_down: Filter(Union all(x, y)) -> Union all(Filter(x), Filter(y)), each with the
 * columns of its branch; Filter(Join(a, b)) -> Join(Filter(a), Filter(b)), for the
 * conditions that may; Filter(Running sum) -> Running sum(Filter); and filters upon filters
 * become one.
 *
 * Below a join only what cannot change who is whose partner:
 * - a condition on join keys alone, on both sides: rows of other keys never meet these.
 *   Not one on keys of the right side of a LEFT join, which is NULL where there is none.
 * - a condition on the left side (A) of an ASOF join, whose B's are not used up.  In a PAIR
 *   join an A uses up its B also where WHERE drops the row: it must come to the join.
 * - never one on the right side (B) alone: without it an A would take an earlier B.
 * Below a running sum only conditions on its keys: they drop whole sums.
 *
 * What can fault stays where it is, and so do the conditions behind it and those above a join
 * or a sum whose keys or argument can; below a union the events are the same ones.  A start or an
 * end that is dropped before the join is none of the query's, and not counted as unpaired.
 */
#include "opt/rules.h"

static struct plan *push(const struct plan *p, struct arena *arena);

/* --- Joins --- */

struct sides {
	const struct plan *join;
	struct expr **left_keys, **right_keys; /* not NULL where rows meet */
	struct arena *arena;
	bool is_behind; /* something that can fault: the join's keys, or a condition */
	expr_vec stay, left, right;
};

static bool is_same_type(const struct expr *a, const struct expr *b)
{
	return a->type.kind == b->type.kind && a->type.bits == b->type.bits &&
	       a->type.is_signed == b->type.is_signed && a->type.bytes == b->type.bytes &&
	       a->lo == b->lo && a->hi == b->hi;
}

/* key = 5 and key IN (1, 2): true of the same numbers, whatever the key's type is. */
static bool is_plain_test(const struct expr *e, const struct expr *key)
{
	if (!type_is_word(key->type) || !e->n_args || !expr_equal(e->args[0], key))
		return false;
	if (e->kind == EXPR_IN)
		return true;
	return e->kind == EXPR_OP && e->op >= OP_EQ && e->op <= OP_GE &&
	       e->args[1]->kind == EXPR_INTEGER;
}

/* e with the keys of one side for those of the other, or NULL: it reads something else. */
static struct expr *of_other_side(const struct sides *s, struct expr *e, struct expr *const *from,
				  struct expr *const *to)
{
	u32 n = s->join->join.n_keys;
	struct expr **usable = arena_array(s->arena, struct expr *, n);

	for (u32 i = 0; i < n; i++)
		if (!from[i]->nullable && !to[i]->nullable &&
		    (is_same_type(from[i], to[i]) || is_plain_test(e, from[i])))
			usable[i] = from[i];
	return opt_rewrite(e, usable, to, n, s->arena);
}

static void sort_conjunct(struct sides *s, struct expr *e)
{
	const struct plan *join = s->join;
	struct expr *other;

	s->is_behind |= expr_can_fault(e, join);
	if (s->is_behind) {
		vec_push(s->arena, &s->stay, e);
		return;
	}
	if (expr_is_of(e, join->input)) {
		other = of_other_side(s, e, s->left_keys, s->right_keys);
		if (other)
			vec_push(s->arena, &s->right, other);
		if (other || join->join.kind == JOIN_ASOF)
			vec_push(s->arena, &s->left, e);
		else
			vec_push(s->arena, &s->stay, e);
		return;
	}
	other = NULL;
	if (!join->join.is_left && expr_is_of(e, join->right))
		other = of_other_side(s, e, s->right_keys, s->left_keys);
	if (!other) {
		vec_push(s->arena, &s->stay, e);
		return;
	}
	vec_push(s->arena, &s->left, other);
	vec_push(s->arena, &s->right, e);
}

static struct plan *push_join(const struct plan *join, const expr_vec *conjuncts,
			      struct arena *arena)
{
	struct sides s = { .join = join, .arena = arena };
	struct plan *copy = arena_new(arena, struct plan);

	s.left_keys = arena_array(arena, struct expr *, join->join.n_keys);
	s.right_keys = arena_array(arena, struct expr *, join->join.n_keys);
	for (u32 i = 0; i < join->join.n_keys; i++) {
		s.left_keys[i] = join->join.keys[i].left;
		s.right_keys[i] = join->join.keys[i].right;
		s.is_behind |= expr_can_fault(s.left_keys[i], join) ||
			       expr_can_fault(s.right_keys[i], join);
	}
	for (u32 i = 0; i < conjuncts->n; i++)
		sort_conjunct(&s, conjuncts->at[i]);
	*copy = *join;
	copy->input = push(opt_filter(join->input, s.left.at, s.left.n, arena), arena);
	copy->right = push(opt_filter(join->right, s.right.at, s.right.n, arena), arena);
	return opt_filter(copy, s.stay.at, s.stay.n, arena);
}

/* --- Unions and running sums --- */

static struct plan *push_union(const struct plan *p, const expr_vec *conjuncts, struct arena *arena)
{
	struct plan *copy = arena_new(arena, struct plan);

	*copy = *p;
	copy->inputs = arena_array(arena, struct plan *, p->n_inputs);
	for (u32 i = 0; i < p->n_inputs; i++) {
		struct plan *branch = p->inputs[i];
		trigger_vec triggers = { 0 };
		expr_vec own = { 0 };

		plan_triggers(branch, arena, &triggers);
		for (u32 k = 0; k < conjuncts->n; k++)
			vec_push(arena, &own,
				 triggers.n == 1
					 ? expr_branch(arena, conjuncts->at[k], triggers.at[0])
					 : conjuncts->at[k]);
		copy->inputs[i] = push(opt_filter(branch, own.at, own.n, arena), arena);
	}
	return copy;
}

static struct plan *push_running(const struct plan *p, const expr_vec *conjuncts,
				 struct arena *arena)
{
	struct plan *copy = arena_new(arena, struct plan);
	bool is_behind = expr_can_fault(p->running.arg, p); /* something that can fault */
	expr_vec stay = { 0 }, below = { 0 };

	for (u32 i = 0; i < p->running.n_keys; i++)
		is_behind |= expr_can_fault(p->running.keys[i], p);
	for (u32 i = 0; i < conjuncts->n; i++) {
		struct expr *e = conjuncts->at[i];

		is_behind |= expr_can_fault(e, p);
		if (!is_behind && expr_is_of(e, p) &&
		    opt_rewrite(e, p->running.keys, p->running.keys, p->running.n_keys, arena))
			vec_push(arena, &below, e);
		else
			vec_push(arena, &stay, e);
	}
	*copy = *p;
	copy->input = push(opt_filter(p->input, below.at, below.n, arena), arena);
	return opt_filter(copy, stay.at, stay.n, arena);
}

/* --- Filters --- */

/* Of the inner filters first: what was written later must not be tested before. */
static const struct plan *collect(const struct plan *p, expr_vec *conjuncts, struct arena *arena)
{
	const struct plan *below = p;

	if (p->kind != PLAN_FILTER)
		return p;
	below = collect(p->input, conjuncts, arena);
	for (u32 i = 0; i < p->filter.n_conjuncts; i++)
		vec_push(arena, conjuncts, p->filter.conjuncts[i]);
	return below;
}

static struct plan *push_all(const struct plan *p, const expr_vec *all, struct arena *arena);

/* What only user space can test stays above, and behind it what can fault. */
static struct plan *push(const struct plan *p, struct arena *arena)
{
	expr_vec all = { 0 }, below = { 0 }, stay = { 0 };

	p = collect(p, &all, arena);
	for (u32 i = 0; i < all.n; i++) {
		struct expr *e = all.at[i];
		bool is_rows =
			p->kind == PLAN_JOIN || p->kind == PLAN_UNION || p->kind == PLAN_RUNNING;

		if (is_rows && (e->is_user_only || (stay.n && expr_can_fault(e, p))))
			vec_push(arena, &stay, e);
		else
			vec_push(arena, &below, e);
	}
	return opt_filter(push_all(p, &below, arena), stay.at, stay.n, arena);
}

static struct plan *push_all(const struct plan *p, const expr_vec *all, struct arena *arena)
{
	expr_vec conjuncts = *all;
	struct plan *copy;

	if (p->kind == PLAN_JOIN)
		return push_join(p, &conjuncts, arena);
	if (p->kind == PLAN_UNION)
		return push_union(p, &conjuncts, arena);
	if (p->kind == PLAN_RUNNING)
		return push_running(p, &conjuncts, arena);
	copy = arena_new(arena, struct plan);
	*copy = *p;
	if (p->input && p->kind != PLAN_DERIVED)
		copy->input = push(p->input, arena);
	if (p->right)
		copy->right = push(p->right, arena);
	return opt_filter(copy, conjuncts.at, conjuncts.n, arena);
}

struct plan *opt_push_down(struct plan *plan, struct arena *arena)
{
	return push(plan, arena);
}
