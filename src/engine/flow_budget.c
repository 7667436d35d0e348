/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * max_cpu: what a flow takes of a CPU, in its programs, their hooks, and user space.
 *
 * Programs add up what they take (phys/maps.h) and wake user space when that has grown by a step,
 * an eighth of what is allowed in a second; so a quiet query is never woken for it.  When eight
 * steps were taken within a second, that is too much: the flow ends, or takes the events of fewer
 * threads.  Both begin with a store to its programs' memory, at once.
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
	s64 left_ns = (s64)(b->counted_ns + step_ns - spent_ns(flow)),
	    more_ns = (FLOW_BUDGET_STEPS - 1) * (s64)step_ns;

	for (u64 i = b->n_steps - MIN(b->n_steps, (u64)FLOW_BUDGET_STEPS); i < b->n_steps; i++) {
		u64 taken_ns = b->steps_ns[i % FLOW_BUDGET_STEPS];

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

/* What was taken up to here is forgotten. */
static void begin(struct flow *flow, u64 now_ns)
{
	struct flow_budget *b = &flow->budget;

	b->n_steps = 0;
	b->looked_ns = b->begun_ns = now_ns;
	b->begun_spent_ns = b->counted_ns = spent_ns(flow);
	b->begun_hook_ns = hook_ns(flow);
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

/*
 * When the steps up to now were taken: if there are several, what took them is of all the time
 * since the last look, as what user space makes of a window is.
 */
static void take_steps(struct flow *flow, u64 now_ns)
{
	struct flow_budget *b = &flow->budget;
	u64 step_ns = allowed_ns(flow) / FLOW_BUDGET_STEPS;
	u64 n = (spent_ns(flow) - b->counted_ns) / step_ns;

	for (u64 i = n - MIN(n, (u64)FLOW_BUDGET_STEPS); i < n; i++)
		b->steps_ns[b->n_steps++ % FLOW_BUDGET_STEPS] =
			b->looked_ns +
			(u64)((double)(now_ns - b->looked_ns) * (double)(i + 1) / (double)n);
	b->counted_ns += n * step_ns;
	b->looked_ns = now_ns;
}

/* In how much time the last eight steps were taken; never: they were not. */
static u64 steps_took(const struct flow_budget *b, u64 now_ns)
{
	if (b->n_steps < FLOW_BUDGET_STEPS)
		return UINT64_MAX;
	return now_ns - b->steps_ns[b->n_steps % FLOW_BUDGET_STEPS];
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
static u32 threads_for(const struct flow *flow, double taken, double hooks)
{
	double left = 0.9 - hooks, events = taken - hooks;
	u32 one_in = flow->budget.sampled.now;

	if (left <= 0)
		return 0;
	do {
		one_in *= 2;
		events /= 2;
	} while (events > left && one_in < 1u << SAMPLED_MAX);
	return events > left ? 0 : one_in;
}

static void say_over(struct flow *flow, double taken, double hooks)
{
	double allowed = (double)flow->loads[0]->phys->settings->max_cpu / 10000;
	double unit = (double)allowed_ns(flow) / (double)NS_PER_S * 100;
	bool is_sampled = flow->loads[0]->phys->settings->over_budget == BUDGET_SAMPLE;
	struct diag *diag = diag_failure(
		flow->diags, "over-budget",
		"the query took %.2f %% of a CPU (%.2f of it the hooks alone) where max_cpu allows "
		"%.2f %%: it was detached",
		unit * taken, unit * hooks, allowed);

	if (is_sampled)
		diag_hint(flow->diags, diag,
			  "fewer threads would not do: an event costs its hook's time whether it "
			  "is taken or not");
	else
		diag_hint(flow->diags, diag,
			  "over_budget = 'sample' takes the events of fewer threads; a stream "
			  "of fewer events costs less");
}

/* Eight steps in `took_ns`. */
static bool is_over(struct flow *flow, u64 took_ns, u64 now_ns)
{
	struct flow_budget *b = &flow->budget;
	double taken = (double)NS_PER_S / (double)MAX(took_ns, 1ull);
	u64 spent = spent_ns(flow) - b->begun_spent_ns;
	double hooks =
		taken * (double)(hook_ns(flow) - b->begun_hook_ns) / (double)MAX(spent, 1ull);
	u32 one_in = 0;

	if (flow->loads[0]->phys->settings->over_budget == BUDGET_SAMPLE)
		one_in = threads_for(flow, taken, hooks);
	if (one_in) {
		sample(flow, one_in, now_ns);
		return false;
	}
	for (u32 i = 0; i < flow->n_loads; i++)
		__atomic_store_n(&flow->loads[i]->budget->threshold, 0, __ATOMIC_RELAXED);
	b->is_over = true;
	say_over(flow, taken, hooks);
	return true;
}

bool flow_is_over_budget(struct flow *flow)
{
	struct flow_budget *b = &flow->budget;
	u64 now_ns = base_monotonic_ns(), took_ns;

	take_steps(flow, now_ns);
	took_ns = steps_took(b, now_ns);
	if (took_ns < NS_PER_S && is_over(flow, took_ns, now_ns))
		return true;
	if (b->sampled.now > 1 && now_ns - b->begun_ns > GROWS_NS &&
	    spent_ns(flow) - b->begun_spent_ns <
		    allowed_ns(flow) * ((now_ns - b->begun_ns) / NS_PER_S) / THREADS_LOW)
		sample(flow, b->sampled.now / 2, now_ns);
	set_marks(flow, now_ns);
	return false;
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
