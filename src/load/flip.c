/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The exact switch of copies, and the count of events that programs did not see.
 *
 * A CPU has some slots, each with slices of its own in both copies of the state, and a
 * word (phys/phys.h).  A program does, with the first slot that it finds free:
 *	word = exchange(slot, BUSY); if word is BUSY, on to the next slot
 *	update, for each part, the slot's slice of the copy that the part's bit of `word`
 *	names, by plain loads and stores
 *	store(slot, word)
 * User space switches a slot by one instruction, repeated while the slot is BUSY:
 *	compare_exchange(slot, word, word with the bits of some parts changed)
 *
 * Step by step.  (1) A slot has one program at most: of several that exchange its word, on
 * whatever CPU and however they interrupt or preempt each other, one gets a word that is not
 * BUSY, and the word is BUSY from then on until that one stores it.  A program that was
 * preempted or interrupted still has its slot, and one that comes meanwhile takes another.
 * (2) Only free words are switched, so a program's copy is not changed under it, and what it
 * stores back is what user space would find there.  (3) Where the compare-and-exchange
 * succeeds, the word was free: every program that took the slot before has stored the word
 * after its last update, so all of it is seen from here (the store releases, the compare
 * acquires); every one that takes it later gets the new word.  So the switch is one instant
 * for the slot and all parts that are switched: an event lies in one copy of each, whole, and
 * in the same window for all.  (4) When all slots of all CPUs are
 * switched, no program holds an old copy and none will: they are read and cleared by plain
 * loads and stores.  No system call, no interrupt, no grace period, and a CPU that is
 * offline is as any other.
 *
 * User space holds nothing: were this thread stopped at any point, even for good, programs
 * would find as many free slots as before.  So no slot is kept in reserve for that.
 *
 * The deepest slots first: a program that interrupts another one takes a deeper slot, and
 * would else count a later event in the earlier window.
 */
#include <errno.h>
#include <sched.h>

#include "load/internal.h"

/* Programs run for less than a microsecond: a slot that is busy for so long is stuck. */
#define FLIP_TIMEOUT_NS (2ull * 1000 * 1000 * 1000)
/* A program that runs on another CPU is over within so many looks, or its CPU does other work. */
#define FLIP_LOOKS 1000

/* The epochs of some parts of a block, in the words of its slots. */
struct change {
	u64 mask, epochs;
};

/* false: the slot was busy, each time it was looked at. */
static bool switch_slot(u64 *slot, const struct change *change)
{
	for (u32 i = 0; i < FLIP_LOOKS; i++) {
		u64 seen = __atomic_load_n(slot, __ATOMIC_RELAXED);
		u64 word = (seen & ~change->mask) | change->epochs;

		if (seen != SLOT_BUSY &&
		    __atomic_compare_exchange_n(slot, &seen, word, false, __ATOMIC_SEQ_CST,
						__ATOMIC_RELAXED))
			return true;
	}
	return false;
}

static int flip_slot(u64 *slot, const struct change *change)
{
	u64 deadline_ns;

	if (switch_slot(slot, change))
		return 0;
	deadline_ns = base_monotonic_ns() + FLIP_TIMEOUT_NS;
	do {
		sched_yield();
		if (switch_slot(slot, change))
			return 0;
	} while (base_monotonic_ns() < deadline_ns);
	return -EBUSY;
}

static int flip_block(struct load_hooks *hooks, u32 block, const struct change *change)
{
	const struct phys_set *set = hooks->set;

	for (u32 cpu = 0; cpu < set->n_cpus; cpu++)
		for (u32 level = set->n_slots; level-- > 0;) {
			u64 *slot = &hooks->slots[block * set->n_cpus + cpu].slots[level];
			int err = flip_slot(slot, change);

			if (err)
				return err;
		}
	return 0;
}

int load_flip(struct load_state *const *states, u32 n_states)
{
	for (u32 block = 0; n_states && block < phys_n_blocks(states[0]->hooks->set); block++) {
		struct change change = { 0 };
		int err;

		for (u32 i = 0; i < n_states; i++) {
			u32 number = states[i]->phys->number;

			BUG_ON(states[i]->hooks != states[0]->hooks);
			if (number / BLOCK_PARTS != block)
				continue;
			change.mask |= 1ull << number % BLOCK_PARTS;
			change.epochs |= (states[i]->epoch ^ 1) << number % BLOCK_PARTS;
			if (states[i]->is_ending) {
				u64 over = 1ull << (SLOT_OVER_SHIFT + number % BLOCK_PARTS);

				change.mask |= over;
				change.epochs |= over;
			}
		}
		err = change.mask ? flip_block(states[0]->hooks, block, &change) : 0;
		if (err)
			return err;
	}
	for (u32 i = 0; i < n_states; i++) {
		states[i]->epoch ^= 1;
		states[i]->is_over = states[i]->is_ending;
	}
	return 0;
}

int load_reset(struct load_hooks *hooks, struct load_state *state)
{
	u32 number = state->phys->number % BLOCK_PARTS;
	const struct change zero = {
		.mask = 1ull << number | 1ull << (SLOT_OVER_SHIFT + number),
	};
	int err = flip_block(hooks, state->phys->number / BLOCK_PARTS, &zero);

	state->epoch = 0;
	state->is_ending = state->is_over = state->is_closed = false;
	return err;
}

/* To change nothing takes a slot that is free, as any change does. */
int load_settle(struct load_hooks *hooks)
{
	const struct change none = { 0 };
	int err = 0;

	for (u32 block = 0; !err && block < phys_n_blocks(hooks->set); block++)
		err = flip_block(hooks, block, &none);
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

bool load_serves(const struct load_program *program, const struct phys *phys)
{
	bool is_of_part = false;

	for (u32 k = 0; k < program->hook->n_uses; k++)
		is_of_part |= program->hook->uses[k].phys == phys;
	return is_of_part;
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
		if (load_serves(&hooks->programs[i], state->phys))
			missed += load_program_missed(hooks, i);
	missed = (s64)missed > (s64)state->missed_ahead ? missed - state->missed_ahead : 0;
	grown = missed > state->missed_before ? missed - state->missed_before : 0;
	state->missed_before = MAX(missed, state->missed_before);
	return grown;
}
