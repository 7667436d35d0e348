/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Which starts are a run's, so that at its end each of them was taken by an end, or is told by what
 * became of it, or waits; and the end of all programs.
 */
#include <errno.h>
#include <linux/membarrier.h>
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "load/internal.h"

/* What is written now is seen everywhere so much later. */
#define AHEAD_NS (100ull * 1000)
#define NS_PER_S 1000000000ull

/*
 * Returns when no program that was attached is still running.  MEMBARRIER_CMD_GLOBAL
 * is synchronize_rcu(), which waits for everything that runs with preemption off,
 * 8-20 ms; kernels with nohz_full CPUs refuse it.  There this thread runs once on
 * every CPU instead: where a task runs, nothing is inside a non-preemptible part.
 */
void load_wait_for_programs(u32 n_cpus)
{
	cpu_set_t before[8], only[8]; /* 8,192 CPUs: Linux has no more */

	if (syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0) == 0 ||
	    sched_getaffinity(0, sizeof(before), before))
		return;
	for (u32 cpu = 0; cpu < n_cpus; cpu++) {
		CPU_ZERO_S(sizeof(only), only);
		CPU_SET_S(cpu, sizeof(only), only);
		sched_setaffinity(0, sizeof(only), only);
	}
	sched_setaffinity(0, sizeof(before), before);
}

/* Replayed events have other times, and none comes by itself. */
static bool has_starts(const struct load_state *state)
{
	const struct load_hooks *hooks = state->hooks;
	bool has = false;

	for (u32 i = 0; state->control && i < state->phys->n_joins; i++)
		has |= state->phys->joins[i].join == JOIN_PAIR;
	return has && hooks->programs[0].hook->path != ACCESS_REPLAY;
}

static void set_ns(u64 *word, u64 time_ns)
{
	__atomic_store_n(word, time_ns, __ATOMIC_SEQ_CST);
}

/*
 * Programs that only store starts take no slot, so that no switch stops them.  Which starts are the
 * run's is said by their times, and said ahead of that time: whoever reads a later clock sees it.
 */
static void set_and_wait(struct load_state *const *states, u32 n_states, size_t word)
{
	struct timespec until;
	u64 at_ns;
	u32 n;

	do {
		n = 0;
		at_ns = base_monotonic_ns() + AHEAD_NS;
		for (u32 i = 0; i < n_states; i++) {
			if (!has_starts(states[i]))
				continue;
			set_ns((u64 *)((u8 *)states[i]->control + word), at_ns);
			n++;
		}
	} while (n && base_monotonic_ns() >= at_ns);
	until = (struct timespec){ (time_t)(at_ns / NS_PER_S), (long)(at_ns % NS_PER_S) };
	while (n && clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR)
		;
}

void load_forget_starts(struct load_state *state)
{
	if (has_starts(state))
		set_ns(&state->control->starts_from_ns, UINT64_MAX);
}

void load_begin_starts(struct load_state *state)
{
	set_and_wait(&state, 1, offsetof(struct control_line, starts_from_ns));
}

void load_end_starts(struct load_state *const *states, u32 n_states)
{
	set_and_wait(states, n_states, offsetof(struct control_line, starts_end_ns));
	for (u32 i = 0; i < n_states; i++)
		states[i]->is_ending = has_starts(states[i]);
}

static bool has_same_starts(const struct load_state *state, const struct load_state *other)
{
	return other->phys && other->phys->n_joins && other->phys->starts == state->phys->starts;
}

/* Do parts whose run goes on use its table? */
static bool is_used_on(const struct load_state *state)
{
	const struct load_hooks *hooks = state->hooks;
	bool is_used = false;

	for (u32 i = 0; i < hooks->n_states; i++)
		is_used |= has_same_starts(state, &hooks->states[i]) && !hooks->states[i].is_over;
	return is_used && state->is_over;
}

/*
 * From here on starts of later come into free places alone, and those programs are over that began
 * before and may do more.  Of parts with one table the last one says so, for all: whichever their
 * programs ask.
 */
bool load_close_starts(struct load_state *state)
{
	const struct load_hooks *hooks = state->hooks;

	if (!state->is_ending)
		return !has_starts(state);
	if (is_used_on(state))
		return false;
	if (!state->is_closed) {
		for (u32 i = 0; i < hooks->n_states; i++) {
			struct load_state *other = &hooks->states[i];

			if (!has_same_starts(state, other))
				continue;
			set_ns(&other->control->closed_ns, state->control->starts_end_ns);
			other->is_closed = true;
		}
		load_wait_for_programs(hooks->set->n_cpus);
	}
	return state->is_over && !state->has_joined;
}
