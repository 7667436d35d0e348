/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Which starts are a run's, so that at its end each of them was taken by an end, or is told by what
 * became of it, or waits; and the end of all programs.
 */
#include <linux/membarrier.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "load/internal.h"

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

/*
 * Programs that only store starts take no slot, so that no switch stops them.  So whether a start
 * is of the run is decided once, by the bit of the epochs that the program reads behind the start's
 * time, and stands in the start's slot from then on: whenever this thread comes to run, a start is
 * the run's for all who ask, or for none.
 * A table may outlast the part, and its number be another's then: that one's starts are from
 * starts_from_ns on, which is read before the bit is cleared.  One that was stored for the part
 * before has read that one's bit, and its own time before it, so it is from before.
 */
static void mark_starts(const struct load_state *state, bool are_others)
{
	u64 bit = 1ull << SLOT_OTHERS_SHIFT << state->phys->number % BLOCK_PARTS;

	load_change_epochs(state->hooks, state->phys->number / BLOCK_PARTS, bit,
			   are_others ? bit : 0);
}

void load_forget_starts(struct load_state *state)
{
	if (has_starts(state))
		mark_starts(state, true);
}

void load_begin_starts(struct load_state *state)
{
	if (!has_starts(state))
		return;
	__atomic_store_n(&state->control->starts_from_ns, base_monotonic_ns(), __ATOMIC_SEQ_CST);
	mark_starts(state, false);
}

void load_end_starts(struct load_state *const *states, u32 n_states)
{
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
 * Starts of later come into free places alone, since the runs of all parts with the table are over;
 * those programs are over, too, that began before and may do more.
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

			other->is_closed |= has_same_starts(state, other);
		}
		load_wait_for_programs(hooks->set->n_cpus);
	}
	return state->is_over && !state->has_joined;
}
