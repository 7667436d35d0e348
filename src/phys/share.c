/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What several parts do alike with the events of a hook.  Their program does it once: is it the
 * system call that they want, the conditions and the joins that their ways begin with, and what
 * they compute behind them (gen/way.c).
 */
#include <string.h>

#include "phys/internal.h"

struct phys_point phys_point(const struct phys_source *source, u32 n)
{
	for (u32 i = 0; i < source->n_steps; i++) {
		const struct phys_step *step = &source->steps[i];

		if (n < step->n_conjuncts)
			return (struct phys_point){ step, step->conjuncts[n] };
		n -= step->n_conjuncts;
		if (step->kind != STEP_FILTER && n-- == 0)
			return (struct phys_point){ step, NULL };
	}
	return (struct phys_point){ 0 };
}

static bool is_alike(const struct hook_use *a, const struct hook_use *b, u32 n)
{
	struct phys_point x = phys_point(a->source, n), y = phys_point(b->source, n);

	if (!x.step || !y.step)
		return false;
	if (x.condition && y.condition)
		return expr_equal_as(x.condition, a->source->number, y.condition,
				     b->source->number);
	return x.step->join && y.step->join && a->phys->starts == b->phys->starts &&
	       x.step->join->number == y.step->join->number;
}

bool phys_has_same_streams(const struct hook_use *a, const struct hook_use *b)
{
	if (a->n_streams != b->n_streams || a->first_probe != b->first_probe)
		return false;
	for (u32 i = 0; i < a->n_streams; i++)
		if (strcmp(a->streams[i]->name, b->streams[i]->name) != 0)
			return false;
	return true;
}

u32 phys_n_alike(const struct hook_use *a, const struct hook_use *b)
{
	u32 n = 0;

	/* What counts its operators one by one, measures its time, or goes to another hook, goes
	 * alone. */
	if (!phys_has_same_streams(a, b) || a->phys->state.n_operators ||
	    b->phys->state.n_operators || a->phys->has_budget || b->phys->has_budget || a->hand ||
	    b->hand)
		return 0;
	while (is_alike(a, b, n))
		n++;
	return n + 1;
}

/* The first of the uses of that part. */
static u32 first_use(const struct hook *hook, const struct phys *phys)
{
	u32 i = 0;

	while (hook->uses[i].phys != phys)
		i++;
	return i;
}

/*
 * A part's uses must stay in their order, and what one part has of an event before another's does
 * not matter.  So the n-th of one goes with the n-th of the other, if all before them do.
 */
u32 phys_leader(const struct hook *hook, u32 use)
{
	const struct hook_use *uses = hook->uses;
	u32 first = first_use(hook, uses[use].phys), n = use - first;

	for (u32 other = 0; other < first; other++) {
		u32 k = 0;

		if (other && uses[other].phys == uses[other - 1].phys)
			continue;
		while (k <= n && uses[other + k].phys == uses[other].phys &&
		       phys_n_alike(&uses[other + k], &uses[first + k]))
			k++;
		if (k > n)
			return other + n;
	}
	return use;
}
