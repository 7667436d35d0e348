/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The exact switch of copies, and the count of events that programs did not see.
 *
 * A CPU has some slots, each with slices of its own in both copies of the state, and a
 * word (phys/phys.h).  A program does, with the first slot that it finds free:
 *	word = exchange(slot, BUSY); if word is BUSY, on to the next slot
 *	update the slot's slice of the copy that `word` names, by plain loads and stores
 *	store(slot, word)
 * User space switches a slot by one instruction, repeated while the slot is BUSY:
 *	compare_exchange(slot, word of the one copy, word of the other)
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
 * for the slot: an event lies in one copy, whole.  (4) When all slots of all CPUs are
 * switched, no program holds the old copy and none will: it is read and cleared by plain
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
#include <string.h>

#include "load/internal.h"

/* Programs run for less than a microsecond: a slot that is busy for so long is stuck. */
#define FLIP_TIMEOUT_NS (2ull * 1000 * 1000 * 1000)
/* A program that runs on another CPU is over within so many looks, or its CPU does other work. */
#define FLIP_LOOKS 1000

/* false: the slot was busy, each time it was looked at. */
static bool switch_slot(u64 *slot, u64 word)
{
	for (u32 i = 0; i < FLIP_LOOKS; i++) {
		u64 seen = __atomic_load_n(slot, __ATOMIC_RELAXED);

		if (seen != SLOT_BUSY &&
		    __atomic_compare_exchange_n(slot, &seen, word, false, __ATOMIC_SEQ_CST,
						__ATOMIC_RELAXED))
			return true;
	}
	return false;
}

static int flip_slot(u64 *slot, u64 word)
{
	u64 deadline_ns;

	if (switch_slot(slot, word))
		return 0;
	deadline_ns = base_monotonic_ns() + FLIP_TIMEOUT_NS;
	do {
		sched_yield();
		if (switch_slot(slot, word))
			return 0;
	} while (base_monotonic_ns() < deadline_ns);
	return -EBUSY;
}

int load_flip(struct load *load)
{
	const struct state_layout *s = &load->phys->state;
	u64 epoch = load->epoch ^ 1;

	for (u32 cpu = 0; cpu < s->n_cpus; cpu++)
		for (u32 level = s->n_levels; level-- > 0;) {
			int err = flip_slot(&load->control[cpu].slots[level],
					    slot_word(level, epoch));

			if (err)
				return err;
		}
	load->epoch = epoch;
	return 0;
}

/* Monotonic; one system call, 1-2 us, a program. */
static u64 recursion_misses(int fd)
{
	struct bpf_prog_info info;

	/* Kernels before 5.12 leave the field 0. */
	return sys_prog_info(fd, &info) ? 0 : info.recursion_misses;
}

/*
 * The kernel skips a program when it is already running on this CPU; for perf
 * tracepoints it skips it when any tracing program is, and counts that since 6.7
 * (trace_call_bpf()).  To these come the events that our programs gave up on
 * because every slot of the CPU was in use.
 */
u64 load_missed(struct load *load)
{
	u64 missed = 0, control_missed = 0;

	for (u32 i = 0; i < load->n_programs; i++) {
		struct load_program *program = &load->programs[i];
		u64 now = program->fd >= 0 ? recursion_misses(program->fd) : 0;

		if (now > program->missed_before) {
			missed += now - program->missed_before;
			program->missed_before = now;
		}
	}
	for (u32 cpu = 0; cpu < load->phys->state.n_cpus; cpu++)
		control_missed += __atomic_load_n(&load->control[cpu].missed, __ATOMIC_RELAXED);
	missed += control_missed - load->control_missed_before;
	load->control_missed_before = control_missed;
	return missed;
}
