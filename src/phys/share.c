/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What several parts do alike with the events of a hook.  Their program does it once: is it the
 * system call that they want, the conditions that their ways begin with, and what they compute
 * behind them (gen/way.c).
 */
#include <string.h>

#include "phys/internal.h"

struct expr *phys_condition(const struct phys_source *source, u32 n)
{
	for (u32 i = 0; i < source->n_steps && source->steps[i].kind == STEP_FILTER; i++) {
		if (n < source->steps[i].n_conjuncts)
			return source->steps[i].conjuncts[n];
		n -= source->steps[i].n_conjuncts;
	}
	return NULL;
}

static bool has_same_streams(const struct hook_use *a, const struct hook_use *b)
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

	/* What counts its operators one by one, or goes to another hook, goes alone. */
	if (!has_same_streams(a, b) || a->phys->state.n_operators || b->phys->state.n_operators ||
	    a->hand || b->hand)
		return 0;
	for (;; n++) {
		const struct expr *x = phys_condition(a->source, n);
		const struct expr *y = phys_condition(b->source, n);

		if (!x || !y || !expr_equal_as(x, a->source->number, y, b->source->number))
			return n + 1;
	}
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
