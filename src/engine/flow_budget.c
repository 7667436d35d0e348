/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * max_cpu: what a flow takes of a CPU, in its programs, their hooks, and user space.
 *
 * Programs add up what they take (phys/maps.h) and wake user space when that has grown by a step,
 * a sixteenth of what is allowed in a second; so a quiet query is never woken for it.  When one
 * second has the ends of sixteen steps, that is too much, though the first may have begun ahead of
 * it: the flow ends, or takes the events of fewer threads.  Both begin with a store to its
 * programs' memory, at once.
 *
 * What was taken is never forgotten: before the events of fewer threads are taken, those of none
 * are for a second (it rests).  The hooks cost their time meanwhile, which the same second has to
 * bear; so where they cost much it begins to rest ahead of the sixteenth step.
 */
#include <errno.h>
#include <math.h>
#include <sys/epoll.h>

#include "engine/internal.h"

#define NS_PER_S    1000000000ull
#define GROWS_NS    (5 * NS_PER_S) /* so long it takes little, ahead of twice the threads */
#define THREADS_LOW 4		   /* that is less than one in so many of what is allowed */
/* By so many ends of steps it is known what the hooks cost. */
#define STEPS_KNOWN 4u
/* While it rests it ends only behind this, all that max_cpu allows. */
#define STEPS_ALL (FLOW_BUDGET_STEPS * 4 / 3 - 1)
/* Where fewer threads can be taken programs stop so far ahead of user space: what the hooks cost
 * until it looks has to have room, too. */
#define STEPS_AHEAD 4ull

static u64 load_of(const u64 *at)
{
	return __atomic_load_n(at, __ATOMIC_RELAXED);
}

/* In a second. */
static u64 allowed_ns(const struct flow *flow)
{
	return (u64)(BUDGET_SHARE *
		     (double)(flow->loads[0]->phys->settings->max_cpu * (NS_PER_S / 1000000)));
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

static bool is_sampled(const struct flow *flow)
{
	return flow->loads[0]->phys->settings->over_budget == BUDGET_SAMPLE;
}

static u64 step_ns(const struct flow *flow)
{
	return allowed_ns(flow) / FLOW_BUDGET_STEPS;
}

/* How many of the latest steps ended within the last second: at most FLOW_BUDGET_ENDS. */
static u32 n_recent(const struct flow_budget *b, u64 now_ns)
{
	u32 n = 0;

	while (n < MIN(b->n_steps, (u64)FLOW_BUDGET_ENDS) &&
	       b->steps[(b->n_steps - n - 1) % FLOW_BUDGET_ENDS].at_ns + NS_PER_S > now_ns)
		n++;
	return n;
}

/*
 * Starts from before may be of ends that were left.  Where none are taken while the clock is read,
 * what was taken since this look began is from before, too.  Where threads are added to others, no
 * wrong pair comes of it either, but the pairs of these that are under way are lost: both ends
 * count as without a partner.
 */
static void open_gate(struct flow *flow, const struct load_state *load)
{
	for (u32 i = 0; i < flow->n_parts; i++)
		if (flow->parts[i].load == load && flow->parts[i].source)
			row_source_left(flow->parts[i].source);
	__atomic_store_n(&load->budget->opened_ns, base_monotonic_ns(), __ATOMIC_RELEASE);
}

static bool is_closed(const struct budget *budget, u64 limit_ns)
{
	return limit_ns && load_of(&budget->closed_ns) == limit_ns;
}

/*
 * A program may close what is being opened: it has seen the limit that it was.  Then the marker
 * comes behind the store.  That is best effort: a thread whose end and next start were left in
 * between, and whose next end comes ahead of the marker, gives a wrong pair.
 */
static void set_limit(struct flow *flow, const struct load_state *load, u64 limit_ns)
{
	struct budget *budget = load->budget;
	u64 before_ns = load_of(&budget->limit_ns);
	bool was_closed = is_closed(budget, before_ns);

	if (was_closed)
		open_gate(flow, load);
	__atomic_store_n(&budget->limit_ns, limit_ns, __ATOMIC_RELEASE);
	if (!was_closed && is_closed(budget, before_ns))
		open_gate(flow, load);
}

/*
 * Where the programs wake user space again, and what they may take in the second that begins: what
 * the last one has left of it.  A mark that was passed meanwhile is taken at once.
 */
static void set_marks(struct flow *flow, u64 now_ns)
{
	const struct flow_budget *b = &flow->budget;
	/* Not below 0: a load that took less than others did since would have no mark. */
	s64 left_ns = MAX((s64)(b->counted_ns + step_ns(flow) - spent_ns(flow)), 0ll);
	u64 n_left = FLOW_BUDGET_STEPS - 1 - MIN(n_recent(b, now_ns), FLOW_BUDGET_STEPS - 1);
	s64 more_ns = (s64)(MIN(n_left, is_sampled(flow) ? STEPS_AHEAD : n_left) * step_ns(flow));

	for (u32 i = 0; i < flow->n_loads; i++) {
		struct budget *budget = flow->loads[i]->budget;
		u64 spent_ns = load_of(&budget->spent_ns);
		s64 share_ns = (left_ns + more_ns) / (s64)flow->n_loads;

		__atomic_store_n(&budget->more_ns,
				 (FLOW_BUDGET_STEPS - 1) * step_ns(flow) / flow->n_loads,
				 __ATOMIC_RELAXED);
		__atomic_store_n(&budget->limit_until_ns, now_ns + NS_PER_S, __ATOMIC_RELAXED);
		set_limit(flow, flow->loads[i], spent_ns + (u64)share_ns);
		__atomic_store_n(&budget->mark_ns, spent_ns + (u64)MIN(left_ns, share_ns),
				 __ATOMIC_RELAXED);
		/* Behind the marker of resume(). */
		__atomic_store_n(&budget->threshold, b->rests_until_ns ? 0 : BUDGET_ALL / b->one_in,
				 __ATOMIC_RELEASE);
	}
}

/* From now on it is looked whether more threads could be taken. */
static void begin_stretch(struct flow *flow, u64 now_ns)
{
	flow->budget.begun_ns = now_ns;
	flow->budget.begun_spent_ns = spent_ns(flow);
}

int flow_budget_open(struct flow *flow, int epoll_fd)
{
	struct epoll_event event = { .events = EPOLLIN };
	u64 now_ns;

	for (u32 i = 0; i < flow->n_loads; i++) {
		int fd = flow->loads[i]->map_fds[LOAD_MAP_WAKE];

		if (flow->loads[i]->wakes && epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &event))
			return -errno;
	}
	if (!flow_has_budget(flow))
		return 0;
	now_ns = base_monotonic_ns();
	flow->budget.one_in = flow->budget.was = 1;
	begin_stretch(flow, now_ns);
	flow->budget.counted_ns = flow->budget.begun_spent_ns;
	flow->budget.looked = (struct flow_budget_step){ now_ns, hook_ns(flow) };
	set_marks(flow, now_ns);
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
	u64 n = (spent_ns(flow) - b->counted_ns) / step_ns(flow);

	for (u64 i = n - MIN(n, (u64)FLOW_BUDGET_ENDS); i < n; i++) {
		double part = (double)(i + 1) / (double)n;

		b->steps[b->n_steps++ % FLOW_BUDGET_ENDS] = (struct flow_budget_step){
			between(b->looked.at_ns, now.at_ns, part),
			between(b->looked.hook_ns, now.hook_ns, part),
		};
	}
	b->counted_ns += n * step_ns(flow);
	b->looked = now;
}

/* What was taken since the first of some of the latest steps had ended. */
struct taken {
	u64 ns, hook_ns, in_ns;
};

static struct taken taken_in(const struct flow *flow, u32 n_ends)
{
	const struct flow_budget *b = &flow->budget;
	const struct flow_budget_step *first = &b->steps[(b->n_steps - n_ends) % FLOW_BUDGET_ENDS];
	u64 ns = spent_ns(flow) - (b->counted_ns - (n_ends - 1) * step_ns(flow));

	return (struct taken){ ns, MIN(b->looked.hook_ns - first->hook_ns, ns),
			       MAX(b->looked.at_ns - first->at_ns, 1ull) };
}

static void note_last(struct flow_budget *b, u32 one_in)
{
	b->last_real_ns[__builtin_ctz(one_in)] = base_realtime_ns();
}

static void sample(struct flow *flow, u32 one_in, u64 now_ns)
{
	struct flow_budget *b = &flow->budget;

	b->was = b->one_in;
	note_last(b, b->was);
	b->one_in = one_in;
	b->changed_real_ns = base_realtime_ns();
	begin_stretch(flow, now_ns);
}

/* From now on the threads are taken that were chosen. */
static void resume(struct flow *flow, u64 now_ns)
{
	struct flow_budget *b = &flow->budget;

	b->rests_until_ns = 0;
	b->resumed_ns = now_ns;
	note_last(b, b->was); /* of a window with some of the rest no count is that of one N */
	begin_stretch(flow, now_ns);
	for (u32 i = 0; i < flow->n_loads; i++)
		open_gate(flow, flow->loads[i]);
}

/* What the hooks leave for events; below 0: they alone are too much, however few threads are taken.
 */
static double left_ns(const struct flow *flow, const struct taken *taken)
{
	return 0.9 * (double)allowed_ns(flow) * (double)taken->in_ns / (double)NS_PER_S -
	       (double)taken->hook_ns;
}

/* One of how many threads keeps within the budget?  0: not one of the most. */
static u32 threads_for(const struct flow *flow, const struct taken *taken)
{
	const struct flow_budget *b = &flow->budget;
	double in_ns = (double)taken->in_ns, since_ns = (double)(b->looked.at_ns - b->resumed_ns);
	double left = left_ns(flow, taken);
	/* As many as in all of that time, while it rested too. */
	double events = (double)(taken->ns - taken->hook_ns) * in_ns / MIN(in_ns, MAX(since_ns, 1));
	u32 one_in = b->one_in;

	if (left <= 0 || one_in >= 1u << FLOW_SAMPLED_MAX)
		return 0;
	do {
		one_in *= 2;
		events /= 2;
	} while (events > left && one_in < 1u << FLOW_SAMPLED_MAX);
	return events > left ? 0 : one_in;
}

/* What a shorter time tells of a second is no figure for a hint. */
#define HINT_NS 10000000u

static void say_over(struct flow *flow, const struct taken *taken)
{
	double allowed = (double)flow->loads[0]->phys->settings->max_cpu / 10000;
	double percent = 100 / (double)taken->in_ns;
	struct diag *diag = diag_failure(
		flow->diags, "over-budget",
		"the query took %.2f %% of a CPU in %.0f ms (%.2f of it the hooks alone) where "
		"max_cpu allows %.2f %% in a second: it was detached",
		percent * (double)taken->ns, (double)taken->in_ns / 1e6,
		percent * (double)taken->hook_ns, allowed);

	if (left_ns(flow, taken) <= 0 && taken->in_ns >= HINT_NS)
		diag_hint(
			flow->diags, diag,
			"fewer threads (over_budget = 'sample') would not do: an event costs its "
			"hook's time whether it is taken or not; a stream of fewer events helps, or "
			"max_cpu = '%.0f%%'",
			ceil(2 * MAX(percent * (double)taken->hook_ns, allowed)));
	else if (is_sampled(flow) || left_ns(flow, taken) <= 0)
		diag_hint(flow->diags, diag,
			  "fewer threads would not do; a stream of fewer events helps, or a higher "
			  "max_cpu");
	else
		diag_hint(flow->diags, diag,
			  "over_budget = 'sample' takes the events of fewer threads; a stream "
			  "of fewer events costs less");
}

/* It was too much: the flow has to end. */
static void end_over(struct flow *flow, const struct taken *taken)
{
	for (u32 i = 0; i < flow->n_loads; i++)
		__atomic_store_n(&flow->loads[i]->budget->threshold, 0, __ATOMIC_RELAXED);
	flow->budget.is_over = true;
	say_over(flow, taken);
}

/* Would it be too much, with what the hooks cost for the rest of the second? */
static bool will_be_too_much(const struct flow *flow, u32 n)
{
	struct taken recent, all;
	double rest_ns;

	if (n < STEPS_KNOWN)
		return false;
	recent = taken_in(flow, STEPS_KNOWN);
	all = taken_in(flow, n);
	rest_ns = (double)NS_PER_S - (double)MIN(all.in_ns, NS_PER_S);
	return (double)(all.ns + step_ns(flow)) +
		       (double)recent.hook_ns * rest_ns / (double)recent.in_ns >=
	       (double)allowed_ns(flow);
}

/* The events of fewer threads are taken, if that will do. */
static bool takes_fewer(struct flow *flow, u32 n_ends)
{
	struct flow_budget *b = &flow->budget;
	struct taken taken = taken_in(flow, n_ends);
	u32 one_in = threads_for(flow, &taken);

	if (!one_in)
		return false;
	sample(flow, one_in, b->looked.at_ns);
	b->rests_until_ns = b->looked.at_ns + NS_PER_S;
	return true;
}

/* Was it too much?  Then the events of fewer threads are taken, or true: it has to end. */
static bool is_over(struct flow *flow)
{
	struct flow_budget *b = &flow->budget;
	u32 n = n_recent(b, b->looked.at_ns);
	u32 n_allowed = b->rests_until_ns ? STEPS_ALL : FLOW_BUDGET_STEPS;
	struct taken taken;

	if (is_sampled(flow) && !b->rests_until_ns && n < n_allowed && will_be_too_much(flow, n))
		takes_fewer(flow, STEPS_KNOWN);
	if (n < n_allowed ||
	    (is_sampled(flow) && !b->rests_until_ns && takes_fewer(flow, n_allowed)))
		return false;
	taken = taken_in(flow, n_allowed);
	end_over(flow, &taken);
	return true;
}

/* Of so long stretches in which it took little, each takes twice the threads. */
static void take_more_threads(struct flow *flow, u64 now_ns)
{
	struct flow_budget *b = &flow->budget;
	u64 ns = now_ns - b->begun_ns;

	if (b->one_in == 1 || b->rests_until_ns || ns < GROWS_NS)
		return;
	if ((spent_ns(flow) - b->begun_spent_ns) * THREADS_LOW <
	    allowed_ns(flow) * (ns / NS_PER_S)) {
		sample(flow, b->one_in / 2, now_ns);
		resume(flow, now_ns);
	} else {
		begin_stretch(flow, now_ns);
	}
}

bool flow_is_over_budget(struct flow *flow)
{
	struct flow_budget *b = &flow->budget;
	u64 now_ns = base_monotonic_ns();

	take_steps(flow, now_ns);
	if (is_over(flow))
		return true;
	if (b->rests_until_ns && b->rests_until_ns <= now_ns)
		resume(flow, now_ns);
	take_more_threads(flow, now_ns);
	set_marks(flow, now_ns);
	return false;
}

u64 flow_budget_due(const struct flow *flow)
{
	const struct flow_budget *b = &flow->budget;

	if (!flow_has_budget(flow) || b->one_in == 1)
		return 0;
	return b->rests_until_ns ?: b->begun_ns + GROWS_NS;
}

void flow_budget_tell(struct flow *flow, struct batch *batch)
{
	const struct flow_budget *b = &flow->budget;
	bool ended_before = batch->window_end_ns && batch->window_end_ns <= b->changed_real_ns;
	u32 now = ended_before ? b->was : b->one_in, least = now, most = now;

	for (u32 i = 0; i <= FLOW_SAMPLED_MAX; i++) {
		if (b->last_real_ns[i] <= batch->window_start_ns &&
		    !(b->rests_until_ns && b->was == 1u << i))
			continue;
		least = MIN(least, 1u << i);
		most = MAX(most, 1u << i);
	}
	batch->sampled = (struct batch_sampled){ now, most > now ? most : least };
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
