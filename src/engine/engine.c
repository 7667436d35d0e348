/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The instants of all flows: boundaries of windows on CLOCK_REALTIME, one timer for the
 * first of them, and the reading of rows every 10 ms, one timer on CLOCK_MONOTONIC.
 *
 * A boundary that passed while a slow output took its time is skipped, and that window is
 * longer: each flow's next one is the first that lies ahead when its batch was given.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "engine/internal.h"

#define NS_PER_S 1000000000ull
#define POLL_NS	 10000000ull
#define NAMES_NS 20000000ull /* stacks are given their names, while their processes live */

struct engine {
	int epoll_fd, boundary_fd, poll_fd;
	struct flow *flows;
	/* What the timers are set to; 0: nothing. */
	u64 boundary_ns, poll_ns;
	struct region due; /* struct flow * */
	struct engine_shared shared;
	struct flow_names names;
};

static int watch(struct engine *engine, int clock, int *ret_fd)
{
	struct epoll_event event = { .events = EPOLLIN };

	*ret_fd = timerfd_create(clock, TFD_CLOEXEC | TFD_NONBLOCK);
	if (*ret_fd < 0 || epoll_ctl(engine->epoll_fd, EPOLL_CTL_ADD, *ret_fd, &event))
		return -errno;
	return 0;
}

int engine_open(struct engine **ret_engine)
{
	struct engine *engine = calloc(1, sizeof(*engine));
	int err = 0;

	if (!engine)
		return -ENOMEM;
	engine->boundary_fd = engine->poll_fd = -1;
	engine->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (engine->epoll_fd < 0)
		err = -errno;
	if (!err)
		err = watch(engine, CLOCK_REALTIME, &engine->boundary_fd);
	if (!err)
		err = watch(engine, CLOCK_MONOTONIC, &engine->poll_fd);
	*ret_engine = err ? NULL : engine;
	if (err)
		engine_close(engine);
	return err;
}

void engine_close(struct engine *engine)
{
	const int fds[] = { engine->boundary_fd, engine->poll_fd, engine->epoll_fd };

	for (struct flow *flow = engine->flows; flow; flow = flow->next) {
		flow_end(flow, -ECANCELED);
		flow->engine = NULL;
	}
	for (u32 i = 0; i < ARRAY_SIZE(fds); i++)
		if (fds[i] >= 0)
			close(fds[i]);
	region_free(&engine->due);
	namer_close(engine->names.namer);
	if (engine->shared.release)
		engine->shared.release(engine->shared.shared);
	free(engine);
}

struct engine_shared *engine_shared(struct engine *engine)
{
	return &engine->shared;
}

int engine_fd(const struct engine *engine)
{
	return engine->epoll_fd;
}

/* --- Timers --- */

static int arm(int fd, int flags, u64 at_ns, u64 *armed_ns)
{
	const struct itimerspec at = { .it_value = { at_ns / NS_PER_S, at_ns % NS_PER_S } };

	if (at_ns == *armed_ns)
		return 0;
	*armed_ns = at_ns;
	return timerfd_settime(fd, TFD_TIMER_ABSTIME | flags, &at, NULL) ? -errno : 0;
}

/* The earlier of two instants, where 0 is never. */
static u64 earlier(u64 a, u64 b)
{
	return a && b ? MIN(a, b) : MAX(a, b);
}

/* The clock was set: other boundaries lie ahead now. */
static void find_boundaries(struct engine *engine)
{
	engine->boundary_ns = 0;
	for (struct flow *flow = engine->flows; flow; flow = flow->next)
		flow->boundary_ns = flow_next_boundary(flow, base_realtime_ns());
}

/* The first instant of all flows on each clock. */
static int arm_all(struct engine *engine)
{
	u64 boundary_ns, poll_ns;
	int err;

	do {
		boundary_ns = 0;
		poll_ns = earlier(engine->shared.due_ns, engine->names.due_ns);
		for (const struct flow *flow = engine->flows; flow; flow = flow->next) {
			if (flow->is_over)
				continue;
			boundary_ns = earlier(boundary_ns, flow->boundary_ns);
			poll_ns = earlier(poll_ns, flow->poll_ns);
			poll_ns = earlier(poll_ns, flow_budget_due(flow));
		}
		/*
		 * CANCEL_ON_SET: when the clock is set, reading the timer fails with ECANCELED, and
		 * so does setting it, where it was not read in between.
		 */
		err = arm(engine->boundary_fd, TFD_TIMER_CANCEL_ON_SET, boundary_ns,
			  &engine->boundary_ns);
		if (err == -ECANCELED)
			find_boundaries(engine);
	} while (err == -ECANCELED);
	return err ? err : arm(engine->poll_fd, 0, poll_ns, &engine->poll_ns);
}

/* 1: it has gone off; 0: not yet; -ECANCELED: the clock was set; or -errno. */
static int take_timer(int fd, u64 *armed_ns)
{
	u64 n_expired;

	if (read(fd, &n_expired, sizeof(n_expired)) < 0) {
		if (errno == EAGAIN)
			return 0;
		if (errno != ECANCELED)
			return -errno;
		*armed_ns = 0;
		return -ECANCELED;
	}
	*armed_ns = 0;
	return 1;
}

/* --- Steps --- */

static u32 find_due(struct engine *engine, u64 now_ns)
{
	u32 n = 0;

	for (struct flow *flow = engine->flows; flow; flow = flow->next) {
		flow->is_woken = !flow->is_over && flow_is_woken(flow);
		flow->is_due = !flow->is_over && flow->boundary_ns &&
			       (flow->boundary_ns <= now_ns || flow->is_woken);
		if (flow->is_due)
			((struct flow **)engine->due.at)[n++] = flow;
	}
	return n;
}

/* The windows of all flows that are due end at one instant; then each gives its batch. */
static void step_boundaries(struct engine *engine)
{
	struct flow **due = engine->due.at;
	u64 now_ns = base_realtime_ns();
	u32 n = find_due(engine, now_ns);

	for (u32 i = 0; i < n; i++) {
		struct flow_boundary at;

		due[i]->now = flow_now(due[i]);
		at = flow_boundary_at(due[i], due[i]->now.real_ns, false);
		due[i]->is_woken &= !at.n_windows;
		due[i]->is_ending = !due[i]->is_woken && flow_ends_at(due[i], &at);
	}
	if (n)
		flow_switch(due, n, FLOW_GLANCE_NS);
	for (u32 i = 0; i < n; i++) {
		u64 start_ns = flow_computed_ns();

		flow_take_boundary(due[i], due[i]->now);
		due[i]->computed_ns += flow_computed_ns() - start_ns;
	}
	/* As of one instant: equal windows go on together, also where an output was slow. */
	now_ns = base_realtime_ns();
	for (u32 i = 0; i < n; i++) {
		due[i]->boundary_ns = flow_next_boundary(
			due[i], due[i]->is_overdue ? due[i]->now.real_ns : now_ns);
		if (flow_switch_error(due[i]))
			due[i]->boundary_ns = MIN(due[i]->boundary_ns, now_ns + POLL_NS);
	}
}

static void step_polls(struct engine *engine)
{
	for (struct flow *flow = engine->flows; flow; flow = flow->next) {
		bool is_more;
		u64 start_ns;

		if (flow->is_over || !flow->poll_ns ||
		    (!flow->is_due && flow->poll_ns > base_monotonic_ns()))
			continue;
		start_ns = flow_computed_ns();
		flow_poll(flow, &is_more);
		flow->computed_ns += flow_computed_ns() - start_ns;
		flow->poll_ns = base_monotonic_ns() + (is_more ? 0 : POLL_NS);
	}
}

static void step_budgets(struct engine *engine)
{
	for (struct flow *flow = engine->flows; flow; flow = flow->next)
		if (!flow->is_over && flow_has_budget(flow) && flow_is_over_budget(flow))
			flow_stop(flow);
}

static void step_shared(struct engine *engine)
{
	struct engine_shared *shared = &engine->shared;

	if (shared->due_ns && shared->due_ns <= base_monotonic_ns())
		shared->due_ns = shared->step(shared->shared);
}

static void step_names(struct engine *engine)
{
	struct flow_names *names = &engine->names;
	u64 first_use = UINT64_MAX;

	if (!names->due_ns || names->due_ns > base_monotonic_ns())
		return;
	names->due_ns = 0;
	for (struct flow *flow = engine->flows; flow; flow = flow->next) {
		const struct load_hooks *hooks = flow_hooks(flow);

		if (!flow->is_over && flow_looks_at_processes(flow)) {
			flow_name_stacks(flow);
			names->due_ns = base_monotonic_ns() + NAMES_NS;
		}
		if (!flow_takes_stacks(flow))
			continue;
		first_use = MIN(first_use, flow_first_use(flow));
		/* The last one of its hooks: those stand together. */
		if (flow->next && flow_hooks(flow->next) == hooks)
			continue;
		load_stacks_forget(hooks, first_use);
		first_use = UINT64_MAX;
	}
}

int engine_step(struct engine *engine)
{
	int boundary = take_timer(engine->boundary_fd, &engine->boundary_ns);
	int poll = take_timer(engine->poll_fd, &engine->poll_ns);

	if (boundary < 0 && boundary != -ECANCELED)
		return boundary;
	if (poll < 0)
		return poll;
	if (boundary < 0)
		find_boundaries(engine);
	/* What they wake for is looked at below, each time. */
	for (struct flow *flow = engine->flows; flow; flow = flow->next)
		flow_take_wakes(flow);
	step_boundaries(engine);
	step_polls(engine);
	step_budgets(engine);
	step_names(engine);
	step_shared(engine);
	return arm_all(engine);
}

/* --- Flows --- */

/* Who holds up others, or the host? */
static void find_hasty(struct engine *engine)
{
	u32 n_live = 0;

	for (const struct flow *flow = engine->flows; flow; flow = flow->next)
		n_live += flow->is_live;
	for (struct flow *flow = engine->flows; flow; flow = flow->next)
		flow->is_hasty = flow->is_brief || n_live > flow->is_live;
}

static int insert(struct engine *engine, struct flow *flow)
{
	struct flow **at = &engine->flows;
	u64 n = 1;
	int err = flow_budget_open(flow, engine->epoll_fd);

	if (err)
		return err;
	for (struct flow *other = engine->flows; other; other = other->next)
		n++;
	if (!region_need(&engine->due, n * sizeof(struct flow *)))
		return -ENOMEM;
	flow->engine = engine;
	flow_open_names(flow, &engine->names);
	/* Beside those with the same hooks: see flow_switch(). */
	while (*at && (!flow_hooks(flow) || flow_hooks(*at) != flow_hooks(flow)))
		at = &(*at)->next;
	flow->next = *at;
	*at = flow;
	find_hasty(engine);
	flow->boundary_ns = flow_next_boundary(flow, base_realtime_ns());
	/* The first poll does not wait: all of a small file is there already. */
	flow->poll_ns = flow_is_polled(flow) ? base_monotonic_ns() : 0;
	return arm_all(engine);
}

int engine_add(struct engine *engine, const struct flow_input *input, struct flow **ret_flow)
{
	struct flow *flow = flow_open(input);
	int err;

	if (!flow)
		return -EINVAL;
	err = flow_attach(flow);
	flow->is_sink_open = !err;
	if (!err && input->sink.schema)
		err = input->sink.schema(input->sink.context, &input->cut->output);
	if (!err)
		err = insert(engine, flow);
	flow_failed(flow, err);
	if (err)
		flow_close(flow);
	else
		*ret_flow = flow;
	return err;
}

static void take_out(struct engine *engine, struct flow *flow)
{
	struct flow **at = &engine->flows;

	while (*at && *at != flow)
		at = &(*at)->next;
	if (*at)
		*at = flow->next;
	find_hasty(engine);
}

int flow_close(struct flow *flow)
{
	int closed = 0;

	if (flow->is_sink_open && flow->sink.close)
		closed = flow->sink.close(flow->sink.context,
					  flow->is_over ? flow->err : -ECANCELED);
	flow_detach(flow);
	if (flow->engine)
		take_out(flow->engine, flow);
	flow_free(flow);
	return closed;
}
