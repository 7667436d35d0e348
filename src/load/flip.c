/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The exact switch of copies, and the count of events that programs did not see.
 *
 * A CPU has some slots, each with slices of its own in both copies of the state, and a
 * word; all CPUs have one word of epochs (phys/phys.h).  A program does, with the first slot that
 * it finds free:
 *	word = exchange(slot, BUSY); if word is BUSY, on to the next slot
 *	epochs = load(the word of epochs)
 *	update, for each part, the slot's slice of the copy that the part's bit of `epochs`
 *	names, by plain loads and stores
 *	store(slot, word); by an exchange where the machine does not keep stores in order
 * User space switches copies by one store to the word of epochs, and then waits until it has found
 * each slot free once.
 *
 * Step by step.  (1) A slot has one program at most: of several that exchange its word, on
 * whatever CPU and however they interrupt or preempt each other, one gets a word that is not
 * BUSY, and the word is BUSY from then on until that one stores it.  A program that was
 * preempted or interrupted still has its slot, and one that comes meanwhile takes another.
 * (2) The store is the one instant of the switch, for all CPUs and all parts that are switched: an
 * event lies in one copy of each, whole, and in the same window for all.  And whatever comes behind
 * an event that is in the new copy is in it, too, on whichever CPU: a thread that goes to another
 * one, as it may while this one waits, does not come back to the old copy there.  (3) Exchange and
 * store are full barriers.  Where a slot is found free behind the store, a program that takes it
 * later reads the new epochs, and all that took it before have stored its word after their last
 * updates, so all of these are seen from here (the store releases, the load acquires).  (4) When
 * each slot was found free, no program holds an old copy and none will: they are read and cleared
 * by plain loads and stores.  No system call, no interrupt, no grace period, and a CPU that is
 * offline is as any other.
 *
 * User space holds nothing: were this thread stopped at any point, even for good, programs
 * would find as many free slots as before.  So no slot is kept in reserve for that.
 */
#include <errno.h>
#include <sched.h>
#include <string.h>

#include "load/internal.h"

/* A program that runs on another CPU is over within so many looks, or its CPU does other work. */
#define FLIP_LOOKS 1000

static u64 *epochs_of(const struct load_hooks *hooks, u32 block)
{
	return (u64 *)((u8 *)hooks->slots + phys_epochs_bytes(hooks->set, block));
}

void load_change_epochs(const struct load_hooks *hooks, u32 block, u64 mask, u64 bits)
{
	u64 *epochs = epochs_of(hooks, block);

	__atomic_store_n(epochs, (*epochs & ~mask) | bits, __ATOMIC_SEQ_CST);
}

/* false: the slot was busy, each time it was looked at. */
static bool is_free(const u64 *slot)
{
	for (u32 i = 0; i < FLIP_LOOKS; i++)
		if (__atomic_load_n(slot, __ATOMIC_SEQ_CST) != SLOT_BUSY)
			return true;
	return false;
}

static int wait_slot(const u64 *slot, u64 patience_ns)
{
	u64 deadline_ns;

	if (is_free(slot))
		return 0;
	deadline_ns = base_monotonic_ns() + patience_ns;
	do {
		sched_yield();
		if (is_free(slot))
			return 0;
	} while (base_monotonic_ns() < deadline_ns);
	return -EBUSY;
}

static int wait_block(const struct load_hooks *hooks, u32 block, u64 patience_ns)
{
	const struct phys_set *set = hooks->set;

	for (u32 cpu = 0; cpu < set->n_cpus; cpu++)
		for (u32 level = 0; level < set->n_slots; level++) {
			const struct slot_line *line = &hooks->slots[block * set->n_cpus + cpu];
			int err = wait_slot(&line->slots[level], patience_ns);

			if (err)
				return err;
		}
	return 0;
}

/* Those of the block.  One that waits since an earlier call gets what it has. */
static void switch_block(struct load_state *const *states, u32 n_states, u32 block)
{
	u64 mask = 0, bits = 0;

	for (u32 i = 0; i < n_states; i++) {
		u32 number = states[i]->phys->number;

		BUG_ON(states[i]->hooks != states[0]->hooks);
		if (number / BLOCK_PARTS != block)
			continue;
		mask |= 1ull << number % BLOCK_PARTS;
		bits |= (states[i]->epoch ^ 1) << number % BLOCK_PARTS;
		if (states[i]->is_ending) {
			u64 ended = (1ull << SLOT_OVER_SHIFT | 1ull << SLOT_OTHERS_SHIFT)
				    << number % BLOCK_PARTS;

			mask |= ended;
			bits |= ended;
		}
	}
	if (mask)
		load_change_epochs(states[0]->hooks, block, mask | 1ull << SLOT_STACKS_SHIFT,
				   bits | load_stacks_bit(states[0]->hooks));
}

int load_flip(struct load_state *const *states, u32 n_states, u64 patience_ns)
{
	u32 n_blocks = n_states ? phys_n_blocks(states[0]->hooks->set) : 0;
	u64 now_ns;
	int err;

	if (n_states)
		load_stacks_turn(states, n_states);
	for (u32 block = 0; block < n_blocks; block++)
		switch_block(states, n_states, block);
	now_ns = base_monotonic_ns();
	err = n_states ? load_settle(states[0]->hooks, patience_ns) : 0;
	if (n_states && !err)
		load_stacks_flipped(states[0]->hooks);
	for (u32 i = 0; i < n_states; i++) {
		struct load_state *state = states[i];

		if (err) {
			state->waits_since_ns = state->waits_since_ns ?: now_ns;
			continue;
		}
		state->epoch ^= 1;
		state->is_over = state->is_ending;
		state->switched_ns = state->waits_since_ns;
		state->waits_since_ns = 0;
	}
	return err;
}

void load_reset(struct load_hooks *hooks, struct load_state *state)
{
	u32 number = state->phys->number % BLOCK_PARTS;
	u64 others = 1ull << SLOT_OTHERS_SHIFT << number;

	load_change_epochs(hooks, state->phys->number / BLOCK_PARTS,
			   1ull << number | 1ull << SLOT_OVER_SHIFT << number | others, others);
	state->epoch = state->waits_since_ns = state->switched_ns = 0;
	state->is_ending = state->is_over = state->is_closed = state->has_joined = false;
	state->n_missed = 0;
	memset(state->drained, 0, sizeof(state->drained));
}

int load_settle(const struct load_hooks *hooks, u64 patience_ns)
{
	int err = 0;

	for (u32 block = 0; !err && block < phys_n_blocks(hooks->set); block++)
		err = wait_block(hooks, block, patience_ns);
	return err;
}

u64 load_recursion_misses(const struct load_program *program)
{
	struct bpf_prog_info info;

	/* Kernels before 5.12 leave the field 0. */
	return sys_info(program->fd, &info, sizeof(info)) ? 0 : info.recursion_misses;
}

u64 load_program_missed(const struct load_hooks *hooks, u32 number)
{
	const struct load_program *program = load_entered(&hooks->programs[number]);

	return program->fd >= 0 ? load_kind(program)->missed(program) : 0;
}

bool load_serves(const struct load_program *program, u32 part)
{
	bool is_of_part = false;

	for (u32 k = 0; k < program->hook->n_uses; k++)
		is_of_part |= program->hook->uses[k].part == part &&
			      program->hook->uses[k].hand != HAND_IDLE;
	return is_of_part;
}

static u64 samples_taken(const struct load_state *state)
{
	u64 n = 0;

	for (u32 cpu = 0; cpu < state->phys->state.n_cpus; cpu++)
		n += __atomic_load_n(&state->control[cpu].n_samples, __ATOMIC_RELAXED);
	return n;
}

/* A sample that has only just become due is waited for. */
static u64 samples_missed(const struct load_state *state)
{
	u64 due = 0, until_ns = 0, taken;

	for (u32 i = 0; i < state->hooks->n_programs; i++) {
		const struct load_program *program = &state->hooks->programs[i];

		if (load_kind(program)->due && load_serves(program, state->phys->number))
			due += load_kind(program)->due(load_entered(program), &until_ns);
	}
	do
		taken = due ? samples_taken(state) : 0;
	while (due > taken + state->samples_missed && base_monotonic_ns() < until_ns);
	return due > taken ? due - taken : 0;
}

/*
 * The kernel skips a program when it is already running on this CPU; for perf
 * tracepoints it skips it when any tracing program is, and counts that since 6.7
 * (trace_call_bpf()).  To these come the events that our programs gave up on
 * because every slot of the CPU was in use.
 */
u64 load_missed(struct load_state *state)
{
	struct load_hooks *hooks = state->hooks;
	u64 missed = __atomic_load_n(&hooks->missed[state->phys->number], __ATOMIC_RELAXED), grown;

	for (u32 i = 0; i < hooks->n_programs; i++)
		if (load_serves(&hooks->programs[i], state->phys->number))
			missed += load_program_missed(hooks, i);
	state->samples_missed = samples_missed(state);
	missed += state->samples_missed;
	missed = (s64)missed > (s64)state->missed_ahead ? missed - state->missed_ahead : 0;
	grown = missed > state->missed_before ? missed - state->missed_before : 0;
	state->missed_before = MAX(missed, state->missed_before);
	return grown;
}
