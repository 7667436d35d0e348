/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Rule same_thread: a condition on pid and tid above a system call's span is put on
 * both its ends.  A thread keeps its pid and tid from the entry to the return, so
 * calls of others need not be stored to be thrown away.  What can fault stays, and what
 * is written behind it.
 */
#include "opt/rules.h"

/* Does it read pid and tid of that source and constants, and nothing else? */
static bool is_of_thread(const struct expr *e, u32 source)
{
	if (e->nullable || e->may_overflow || e->is_user_only)
		return false;
	if (e->kind == EXPR_SYSTEM)
		return e->source == source && (e->index == SYS_PID || e->index == SYS_TID);
	if (e->kind == EXPR_FIELD || e->kind == EXPR_MEMBER || e->kind == EXPR_UNION ||
	    e->kind == EXPR_RUNNING)
		return false;
	for (u32 i = 0; i < e->n_args; i++)
		if (!is_of_thread(e->args[i], source))
			return false;
	return true;
}

struct move {
	struct arena *arena;
	const struct plan *scan;
};

/* The same of another source. */
static struct expr *moved(void *context, struct expr *e)
{
	const struct move *m = context;
	struct expr *copy;

	if (e->kind != EXPR_SYSTEM)
		return e;
	copy = expr_copy(m->arena, e);
	copy->source = m->scan->scan.source;
	copy->prefix = m->scan->scan.alias;
	return copy;
}

static bool is_tid(const struct expr *e)
{
	return e->kind == EXPR_SYSTEM && e->index == SYS_TID;
}

static bool is_call(const struct plan *p)
{
	return p->kind == PLAN_JOIN && !p->join.is_nesting && !p->join.is_left &&
	       p->join.n_keys == 1 && is_tid(p->join.keys[0].left) &&
	       is_tid(p->join.keys[0].right) && p->input->kind != PLAN_JOIN &&
	       p->right->kind != PLAN_JOIN;
}

static void push_down(struct plan *p, struct arena *arena)
{
	expr_vec stay = { 0 }, left = { 0 }, right = { 0 };
	bool is_behind = false; /* a condition that can fault */
	struct move move = { arena, NULL };
	struct plan *join;

	if (p->kind != PLAN_FILTER)
		return;
	/* The join is a copy of this walk: it may be changed. */
	for (join = p->input; join->kind == PLAN_FILTER; join = join->input)
		for (u32 i = 0; i < join->filter.n_conjuncts; i++)
			is_behind |= expr_can_fault(join->filter.conjuncts[i], join);
	if (!is_call(join))
		return;
	move.scan = plan_find(join->right, PLAN_SCAN);
	for (u32 i = 0; i < p->filter.n_conjuncts; i++) {
		struct expr *e = p->filter.conjuncts[i];

		is_behind |= expr_can_fault(e, join);
		if (is_behind || !is_of_thread(e, plan_trigger(join))) {
			vec_push(arena, &stay, e);
			continue;
		}
		vec_push(arena, &left, e);
		vec_push(arena, &right, expr_map(arena, e, moved, &move));
	}
	if (!left.n)
		return;
	join->input = opt_filter(join->input, left.at, left.n, arena);
	join->right = opt_filter(join->right, right.at, right.n, arena);
	p->filter.conjuncts = stay.at;
	p->filter.n_conjuncts = stay.n;
	if (!stay.n)
		*p = *p->input;
}

struct plan *opt_same_thread(struct plan *plan, struct arena *arena)
{
	return opt_map(plan, arena, push_down);
}
