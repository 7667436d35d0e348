/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "figures.h"

#include <string.h>

/* Rows that came to a look-up and did not go on. */
static u64 dropped(const struct flow_operator *o)
{
	const struct account *a = &o->account;

	return a->lost[LOSS_NEGATIVE] + a->unpaired[UNPAIRED_NEVER_STARTED] +
	       a->unpaired[UNPAIRED_BEGAN_BEFORE] + a->unpaired[UNPAIRED_EXPIRED];
}

static bool is_step_right(const struct phys_step *step, const struct flow_operator *o)
{
	const struct account *a = &o->account;

	switch (step->kind) {
	case STEP_FILTER:
		return a->matched <= a->events;
	case STEP_LOOKUP:
		if (step->join->is_left)
			return a->matched == a->events && o->n_single <= a->matched;
		return !o->n_single && a->events == a->matched + dropped(o);
	case STEP_STORE:
		if (a->matched > a->events)
			return false;
		/* Of an ASOF JOIN, keys that are NULL are no loss. */
		return step->join->join == JOIN_ASOF ||
		       a->events <= a->matched + a->unpaired[UNPAIRED_NEVER_ENDED] +
					    a->unpaired[UNPAIRED_FULL];
	case STEP_RUNNING:
		return a->matched == a->events;
	}
	return false;
}

static bool is_plan_right(const struct plan *p, const struct flow_operator *o)
{
	const struct account *a = &o->account;

	if (p->kind == PLAN_FILTER || p->kind == PLAN_JOIN)
		return a->matched <= a->events && o->n_single <= a->matched;
	return a->matched == a->events;
}

struct sums {
	struct account lost; /* of all operators */
	u64 scanned, taken;  /* by the scans of roots; what came out at these */
};

/* What rows come to in user space, and panes between windows, is counted elsewhere. */
static bool is_sum_right(const struct flow *flow, const struct sums *sums,
			 const struct account *total)
{
	if (flow->has_rows || flow->cut->window.kind == WINDOW_HOPPING)
		return true;
	return sums->scanned == total->events && sums->taken == total->matched;
}

/* The operators of a part's programs; *ret_right: each by itself. */
static u32 check_kernel(const struct flow_part *part, const struct flow_operator *o,
			struct sums *sums, bool *ret_right)
{
	const struct phys *phys = part->load->phys;
	const struct flow_operator *last = o + phys->n_operators - 1;
	u64 n_rows = 0;

	for (u32 i = 0; i < phys->n_operators; i++) {
		const struct phys_step *step = phys_operator_step(phys, i);

		if (step)
			*ret_right &= is_step_right(step, &o[i]);
		account_add(&sums->lost, &o[i].account);
	}
	for (u32 i = 0; i < phys->n_sources; i++) {
		const struct phys_source *s = &phys->sources[i];

		if (!s->is_root)
			continue;
		n_rows += o[s->first_operator + s->n_steps].account.matched;
		sums->scanned += o[s->first_operator].account.matched;
	}
	*ret_right &= last->account.events == n_rows;
	if (phys->is_streaming)
		*ret_right &= n_rows == last->account.matched + last->account.lost[LOSS_RING_FULL];
	sums->taken += n_rows;
	return phys->n_operators;
}

static u32 check_user(const struct flow_part *part, const struct flow_operator *o,
		      struct sums *sums, bool *ret_right)
{
	u32 n = row_source_n_operators(part->source);

	for (u32 i = 0; i < n; i++) {
		struct row_operator row;

		row_source_operator(part->source, i, &row);
		*ret_right &= is_plan_right(row.plan, &o[i]);
		account_add(&sums->lost, &o[i].account);
	}
	return n;
}

static bool is_lost_right(const struct flow *flow, const struct account *sum,
			  const struct account *total)
{
	/* Faults of values that were read and not asked for, and groups folded when they are
	 * merged, are no operator's. */
	static const enum loss causes[] = { LOSS_RING_FULL, LOSS_EVICTED, LOSS_NEGATIVE };
	const struct cut_window *window = &flow->cut->window;
	bool is_right = true;

	/* What happens between two windows is of no window. */
	if (window->kind == WINDOW_HOPPING && window->size < window->advance)
		return true;
	for (u32 i = 0; i < ARRAY_SIZE(causes); i++)
		is_right &= sum->lost[causes[i]] == total->lost[causes[i]];
	/* Doubtful ones change their kind. */
	return is_right && sum->lost[LOSS_UNPAIRED] == total->lost[LOSS_UNPAIRED];
}

const char *figures_check(struct flow *flow, struct arena *arena)
{
	struct flow_figures figures;
	struct flow_result result;
	struct sums sums = { 0 };
	bool is_right = true;
	u32 at = 0;

	flow_figures(flow, arena, &figures);
	flow_result(flow, &result);
	for (u32 i = 0; i < flow->n_parts; i++) {
		const struct flow_part *part = &flow->parts[i];

		if (part->load && !part->load->phys->state.n_operators)
			return NULL;
		if (part->load)
			at += check_kernel(part, &figures.operators.at[at], &sums, &is_right);
		if (part->source)
			at += check_user(part, &figures.operators.at[at], &sums, &is_right);
		at += part->part->kind == PART_TABLE;
	}
	if (!flow->is_plain)
		account_add(&sums.lost, &figures.operators.at[at++].account);
	if (!is_right)
		return "figures of an operator";
	if (at != figures.operators.n)
		return "number of operators";
	if (!is_sum_right(flow, &sums, &result.account))
		return "events of operators";
	if (!is_lost_right(flow, &sums.lost, &result.account))
		return "losses of operators";
	return NULL;
}
