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
 * What both ends of a thread's call agree on, pid, is as good as a key.
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
	expr_vec left_keys, right_keys; /* equal, and not NULL, where rows meet */
	struct arena *arena;
	bool is_behind; /* something that can fault: the join's keys, or a condition */
	expr_vec stay, left, right;
};

static bool is_same_type(const struct expr *a, const struct expr *b)
{
	return type_equal(a->type, b->type) && a->lo == b->lo && a->hi == b->hi;
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
static struct expr *of_other_side(const struct sides *s, struct expr *e, const expr_vec *from,
				  const expr_vec *to)
{
	struct expr **usable = arena_array(s->arena, struct expr *, from->n);

	for (u32 i = 0; i < from->n; i++)
		if (is_same_type(from->at[i], to->at[i]) || is_plain_test(e, from->at[i]))
			usable[i] = from->at[i];
	return opt_rewrite(e, usable, to->at, from->n, s->arena);
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
		other = of_other_side(s, e, &s->left_keys, &s->right_keys);
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
		other = of_other_side(s, e, &s->right_keys, &s->left_keys);
	if (!other) {
		vec_push(s->arena, &s->stay, e);
		return;
	}
	vec_push(s->arena, &s->left, other);
	vec_push(s->arena, &s->right, e);
}

static void add_keys(struct sides *s, struct expr *left, struct expr *right)
{
	vec_push(s->arena, &s->left_keys, left);
	vec_push(s->arena, &s->right_keys, right);
}

static bool is_tid(const struct expr *e)
{
	return e->kind == EXPR_SYSTEM && e->index == SYS_TID;
}

/* What a call has at its entry and at its return, and has no other process'. */
static bool is_of_process(const struct expr *e)
{
	return e->kind == EXPR_SYSTEM && (e->index == SYS_FRAME || e->index == SYS_TASK);
}

/* A process or thread in a condition, by whichever number, of one of these threads' events. */
static const struct expr *pid_in(const struct expr *e, const struct join_key *tids)
{
	const struct expr *pid = NULL;

	if (e->kind == EXPR_SYSTEM &&
	    (e->index == SYS_PID || (e->index == SYS_TID && is_tid(tids->left))) &&
	    (e->source == tids->left->source || e->source == tids->right->source))
		return e;
	for (u32 i = 0; i < e->n_args && !pid; i++)
		pid = pid_in(e->args[i], tids);
	return pid;
}

/* The same of that thread's event. */
static struct expr *pid_of(const struct expr *tid, const struct expr *pid, struct arena *arena)
{
	struct expr *copy = expr_copy(arena, pid);

	copy->source = tid->source;
	copy->prefix = tid->prefix;
	return copy;
}

static void add_pids(struct sides *s, const struct join_key *tids, const expr_vec *conjuncts)
{
	for (u32 i = 0; i < conjuncts->n; i++) {
		const struct expr *pid = pid_in(conjuncts->at[i], tids);

		if (pid)
			add_keys(s, pid_of(tids->left, pid, s->arena),
				 pid_of(tids->right, pid, s->arena));
	}
}

static struct plan *push_join(struct plan *join, const expr_vec *conjuncts, struct arena *arena)
{
	struct sides s = { .join = join, .arena = arena };

	for (u32 i = 0; i < join->join.n_keys; i++) {
		const struct join_key *key = &join->join.keys[i];

		if (!key->left->nullable && !key->right->nullable)
			add_keys(&s, key->left, key->right);
		s.is_behind |= expr_can_fault(key->left, join) || expr_can_fault(key->right, join);
		/* A thread in one call at a time: a span of bind_span.c.  Or a call, which has one
		 * process from its entry to its return. */
		if ((!join->join.is_nesting && is_tid(key->left) && is_tid(key->right)) ||
		    (is_of_process(key->left) && is_of_process(key->right)))
			add_pids(&s, key, conjuncts);
	}
	for (u32 i = 0; i < conjuncts->n; i++)
		sort_conjunct(&s, conjuncts->at[i]);
	join->input = push(plan_filter(arena, join->input, s.left.at, s.left.n), arena);
	join->right = push(plan_filter(arena, join->right, s.right.at, s.right.n), arena);
	return plan_filter(arena, join, s.stay.at, s.stay.n);
}

/* --- Unions and running sums --- */

static struct plan *push_union(struct plan *all, const expr_vec *conjuncts, struct arena *arena)
{
	for (u32 i = 0; i < all->n_inputs; i++) {
		struct plan **branch = &all->inputs[i];
		trigger_vec triggers = { 0 };
		expr_vec own = { 0 };

		plan_triggers(*branch, arena, &triggers);
		for (u32 k = 0; k < conjuncts->n; k++)
			vec_push(arena, &own,
				 triggers.n == 1
					 ? expr_branch(arena, conjuncts->at[k], triggers.at[0])
					 : conjuncts->at[k]);
		*branch = push(plan_filter(arena, *branch, own.at, own.n), arena);
	}
	return all;
}

static struct plan *push_running(struct plan *sum, const expr_vec *conjuncts, struct arena *arena)
{
	const struct plan_running *r = &sum->running;
	bool is_behind = expr_can_fault(r->arg, sum); /* something that can fault */
	expr_vec stay = { 0 }, below = { 0 };

	for (u32 i = 0; i < r->n_keys; i++)
		is_behind |= expr_can_fault(r->keys[i], sum);
	for (u32 i = 0; i < conjuncts->n; i++) {
		struct expr *e = conjuncts->at[i];

		is_behind |= expr_can_fault(e, sum);
		if (!is_behind && expr_is_of(e, sum) &&
		    opt_rewrite(e, r->keys, r->keys, r->n_keys, arena))
			vec_push(arena, &below, e);
		else
			vec_push(arena, &stay, e);
	}
	sum->input = push(plan_filter(arena, sum->input, below.at, below.n), arena);
	return plan_filter(arena, sum, stay.at, stay.n);
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

/* Where conditions can move on, what only user space can test, as what reads an outer select's
 * row, stays above, and behind it what can fault. */
static struct plan *push(const struct plan *filtered, struct arena *arena)
{
	expr_vec all = { 0 }, below = { 0 }, stay = { 0 };
	struct plan *p = plan_copy(collect(filtered, &all, arena), arena);
	bool is_rows = p->kind == PLAN_JOIN || p->kind == PLAN_UNION || p->kind == PLAN_RUNNING;
	struct plan **slot;

	for (u32 i = 0; i < all.n; i++) {
		struct expr *e = all.at[i];

		if (!is_rows || e->is_user_only || !expr_is_within(e, p) ||
		    (stay.n && expr_can_fault(e, p)))
			vec_push(arena, &stay, e);
		else
			vec_push(arena, &below, e);
	}
	if (p->kind == PLAN_JOIN)
		p = push_join(p, &below, arena);
	else if (p->kind == PLAN_UNION)
		p = push_union(p, &below, arena);
	else if (p->kind == PLAN_RUNNING)
		p = push_running(p, &below, arena);
	for (u32 i = 0; !is_rows && !plan_reads_selects(p) && (slot = plan_slot(p, i)); i++)
		*slot = push(*slot, arena);
	return plan_filter(arena, p, stay.at, stay.n);
}

struct plan *opt_push_down(struct plan *plan, struct arena *arena)
{
	return push(plan, arena);
}
