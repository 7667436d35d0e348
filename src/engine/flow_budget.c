/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * max_cpu: what a flow takes of a CPU, in its programs, their hooks, and user space.
 *
 * Programs add up what they take (phys/maps.h) and wake user space when that has grown by a step,
 * a sixteenth of what is allowed in a second; so a quiet query is never woken for it.  When one
 * second has the ends of sixteen steps, that is too much, though the first may have begun ahead of
 * it: the flow ends, or takes the events of fewer threads.  Both begin with a store to its
 * programs' memory, at once.
 */
#include <errno.h>
#include <sys/epoll.h>

#include "engine/internal.h"

#define NS_PER_S    1000000000ull
#define SAMPLED_MAX 10		   /* 1 of 2^10 threads, or none */
#define GROWS_NS    (5 * NS_PER_S) /* so long it takes little, ahead of twice the threads */
#define THREADS_LOW 4		   /* that is less than one in so many of what is allowed */

static u64 load_of(const u64 *at)
{
	return __atomic_load_n(at, __ATOMIC_RELAXED);
}

/* In a second; a tenth is kept for what hooks cost until they are detached. */
static u64 allowed_ns(const struct flow *flow)
{
	return flow->loads[0]->phys->settings->max_cpu * (NS_PER_S / 1000000) / 10 * 9;
}

static u64 hook_ns(const struct flow *flow)
{
	u64 ns = 0;

	for (u32 i = 0; i < flow->n_loads; i++)
		ns += load_of(&flow->loads[i]->budget->hook_ns);
	return ns;
}

static u64 spent_ns(const struct flow *flow)
{
	u64 ns = flow->computed_ns;

	for (u32 i = 0; i < flow->n_loads; i++)
		ns += load_of(&flow->loads[i]->budget->spent_ns);
	return ns;
}

/*
 * Where the programs wake user space again, and what they may take until when.  A mark that was
 * passed meanwhile is taken at once.
 */
static void set_marks(struct flow *flow, u64 now_ns)
{
	const struct flow_budget *b = &flow->budget;
	u64 step_ns = allowed_ns(flow) / FLOW_BUDGET_STEPS, until_ns = now_ns + NS_PER_S;
	/* Not below 0: a load that took less than others did since would have no mark. */
	s64 left_ns = MAX((s64)(b->counted_ns + step_ns - spent_ns(flow)), 0ll),
	    more_ns = (FLOW_BUDGET_STEPS - 1) * (s64)step_ns;

	for (u64 i = b->n_steps - MIN(b->n_steps, (u64)FLOW_BUDGET_STEPS); i < b->n_steps; i++) {
		u64 taken_ns = b->steps[i % FLOW_BUDGET_STEPS].at_ns;

		if (taken_ns + NS_PER_S <= now_ns || more_ns <= 0)
			continue;
		more_ns -= (s64)step_ns;
		until_ns = MIN(until_ns, taken_ns + NS_PER_S);
	}
	for (u32 i = 0; i < flow->n_loads; i++) {
		struct budget *budget = flow->loads[i]->budget;
		u64 spent_ns = load_of(&budget->spent_ns);
		s64 share_ns = (left_ns + more_ns) / (s64)flow->n_loads;

		__atomic_store_n(&budget->more_ns,
				 (FLOW_BUDGET_STEPS - 1) * step_ns / flow->n_loads,
				 __ATOMIC_RELAXED);
		__atomic_store_n(&budget->limit_until_ns, until_ns, __ATOMIC_RELAXED);
		__atomic_store_n(&budget->limit_ns, spent_ns + (u64)share_ns, __ATOMIC_RELAXED);
		__atomic_store_n(&budget->mark_ns, spent_ns + (u64)MIN(left_ns, share_ns),
				 __ATOMIC_RELAXED);
		__atomic_store_n(&budget->threshold, BUDGET_ALL / b->sampled.now, __ATOMIC_RELAXED);
	}
}

/* From now on it is looked whether more threads could be taken. */
static void begin_stretch(struct flow *flow, u64 now_ns)
{
	flow->budget.begun_ns = now_ns;
	flow->budget.begun_spent_ns = spent_ns(flow);
}

/* What was taken up to here is forgotten. */
static void begin(struct flow *flow, u64 now_ns)
{
	struct flow_budget *b = &flow->budget;

	begin_stretch(flow, now_ns);
	b->n_steps = 0;
	b->counted_ns = b->begun_spent_ns;
	b->looked = (struct flow_budget_step){ now_ns, hook_ns(flow) };
	set_marks(flow, now_ns);
}

int flow_budget_open(struct flow *flow, int epoll_fd)
{
	struct epoll_event event = { .events = EPOLLIN };

	for (u32 i = 0; i < flow->n_loads; i++) {
		int fd = flow->loads[i]->map_fds[LOAD_MAP_WAKE];

		if (flow->loads[i]->wakes && epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &event))
			return -errno;
	}
	if (!flow_has_budget(flow))
		return 0;
	flow->budget.sampled = (struct batch_sampled){ 1, 1 };
	begin(flow, base_monotonic_ns());
	return 0;
}

static u64 between(u64 from, u64 to, double part)
{
	return from + (u64)((double)(to - from) * part);
}

/*
 * When the steps up to now were taken: if there are several, what took them is of all the time
 * since the last look, as what user space makes of a window is.
 */
static void take_steps(struct flow *flow, u64 now_ns)
{
	struct flow_budget *b = &flow->budget;
	struct flow_budget_step now = { now_ns, hook_ns(flow) };
	u64 step_ns = allowed_ns(flow) / FLOW_BUDGET_STEPS;
	u64 n = (spent_ns(flow) - b->counted_ns) / step_ns;

	for (u64 i = n - MIN(n, (u64)FLOW_BUDGET_STEPS); i < n; i++) {
		double part = (double)(i + 1) / (double)n;

		b->steps[b->n_steps++ % FLOW_BUDGET_STEPS] = (struct flow_budget_step){
			between(b->looked.at_ns, now.at_ns, part),
			between(b->looked.hook_ns, now.hook_ns, part),
		};
	}
	b->counted_ns += n * step_ns;
	b->looked = now;
}

/* What was taken since the first of the latest steps had ended. */
struct taken {
	u64 ns, hook_ns, in_ns;
};

static bool is_too_much(const struct flow *flow, struct taken *ret_taken)
{
	const struct flow_budget *b = &flow->budget;
	const struct flow_budget_step *first = &b->steps[b->n_steps % FLOW_BUDGET_STEPS];
	u64 steps_ns = (FLOW_BUDGET_STEPS - 1) * (allowed_ns(flow) / FLOW_BUDGET_STEPS);

	if (b->n_steps < FLOW_BUDGET_STEPS)
		return false;
	ret_taken->ns = spent_ns(flow) - (b->counted_ns - steps_ns);
	ret_taken->hook_ns = MIN(b->looked.hook_ns - first->hook_ns, ret_taken->ns);
	ret_taken->in_ns = MAX(b->looked.at_ns - first->at_ns, 1ull);
	return ret_taken->in_ns < NS_PER_S;
}

static void sample(struct flow *flow, u32 one_in, u64 now_ns)
{
	struct flow_budget *b = &flow->budget;

	if (!b->changed_real_ns || b->changed_real_ns <= flow->window.real_ns)
		b->sampled.before = b->sampled.now;
	/* Changed again: what is told is the most, so that no such batch goes unmarked. */
	b->sampled.before = MAX(b->sampled.before, b->sampled.now);
	b->sampled.now = one_in;
	b->changed_real_ns = base_realtime_ns();
	begin(flow, now_ns);
}

/* One of how many threads keeps within the budget?  0: not one of the most. */
static u32 threads_for(const struct flow *flow, const struct taken *taken)
{
	double in_s = (double)taken->in_ns / (double)NS_PER_S;
	double left = 0.9 * (double)allowed_ns(flow) * in_s - (double)taken->hook_ns;
	double events = (double)(taken->ns - taken->hook_ns);
	u32 one_in = flow->budget.sampled.now;

	if (left <= 0)
		return 0;
	do {
		one_in *= 2;
		events /= 2;
	} while (events > left && one_in < 1u << SAMPLED_MAX);
	return events > left ? 0 : one_in;
}

static void say_over(struct flow *flow, const struct taken *taken)
{
	double allowed = (double)flow->loads[0]->phys->settings->max_cpu / 10000;
	double percent = 100 / (double)taken->in_ns;
	bool is_sampled = flow->loads[0]->phys->settings->over_budget == BUDGET_SAMPLE;
	struct diag *diag = diag_failure(
		flow->diags, "over-budget",
		"the query took %.2f %% of a CPU in %.0f ms (%.2f of it the hooks alone) where "
		"max_cpu allows %.2f %% in a second: it was detached",
		percent * (double)taken->ns, (double)taken->in_ns / 1e6,
		percent * (double)taken->hook_ns, allowed);

	if (is_sampled)
		diag_hint(flow->diags, diag,
			  "fewer threads would not do: an event costs its hook's time whether it "
			  "is taken or not");
	else
		diag_hint(flow->diags, diag,
			  "over_budget = 'sample' takes the events of fewer threads; a stream "
			  "of fewer events costs less");
}

/* It was too much. */
static bool is_over(struct flow *flow, const struct taken *taken)
{
	struct flow_budget *b = &flow->budget;
	u32 one_in = 0;

	if (flow->loads[0]->phys->settings->over_budget == BUDGET_SAMPLE)
		one_in = threads_for(flow, taken);
	if (one_in) {
		sample(flow, one_in, b->looked.at_ns);
		return false;
	}
	for (u32 i = 0; i < flow->n_loads; i++)
		__atomic_store_n(&flow->loads[i]->budget->threshold, 0, __ATOMIC_RELAXED);
	b->is_over = true;
	say_over(flow, taken);
	return true;
}

/* Of so long stretches in which it took little, each takes twice the threads. */
static void take_more_threads(struct flow *flow, u64 now_ns)
{
	struct flow_budget *b = &flow->budget;
	u64 ns = now_ns - b->begun_ns;

	if (b->sampled.now == 1 || ns < GROWS_NS)
		return;
	if ((spent_ns(flow) - b->begun_spent_ns) * THREADS_LOW < allowed_ns(flow) * (ns / NS_PER_S))
		sample(flow, b->sampled.now / 2, now_ns);
	else
		begin_stretch(flow, now_ns);
}

bool flow_is_over_budget(struct flow *flow)
{
	u64 now_ns = base_monotonic_ns();
	struct taken taken;

	take_steps(flow, now_ns);
	if (is_too_much(flow, &taken) && is_over(flow, &taken))
		return true;
	take_more_threads(flow, now_ns);
	set_marks(flow, now_ns);
	return false;
}

u64 flow_budget_due(const struct flow *flow)
{
	const struct flow_budget *b = &flow->budget;

	return flow_has_budget(flow) && b->sampled.now > 1 ? b->begun_ns + GROWS_NS : 0;
}

void flow_budget_tell(struct flow *flow, struct batch *batch)
{
	const struct flow_budget *b = &flow->budget;

	batch->sampled = b->sampled;
	if (batch->window_start_ns >= b->changed_real_ns)
		batch->sampled.before = b->sampled.now;
	batch->is_over_budget = b->is_over && batch->is_last;
}

void flow_take_wakes(struct flow *flow)
{
	for (u32 i = 0; i < flow->n_loads; i++)
		if (flow->loads[i]->wakes)
			load_take_wakes(flow->loads[i]);
}

/* --- wake_count --- */

/* The load that counts, if one does. */
static struct load_state *counts(const struct flow *flow)
{
	for (u32 i = 0; i < flow->n_loads; i++)
		if (flow->loads[i]->budget && flow->loads[i]->phys->wake_cell >= 0)
			return flow->loads[i];
	return NULL;
}

bool flow_is_woken(const struct flow *flow)
{
	const struct load_state *load = counts(flow);

	return load &&
	       load_of(&load->budget->n_counted[load->epoch]) >= load->phys->settings->wake_count;
}

/* No program counts in the other copy any more, until it is switched again. */
void flow_count_anew(struct flow *flow)
{
	const struct load_state *load = counts(flow);

	if (load)
		load->budget->n_counted[load->epoch ^ 1] = 0;
}
