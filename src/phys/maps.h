/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The maps of programs, and what stands in that of a part's budget; part of phys.h.
 */
#ifndef EBQL_PHYS_MAPS_H
#define EBQL_PHYS_MAPS_H

#include "plan/plan.h"

#define STATE_COPIES 2u

/*
 * The maps that generated code names; gen/ emits their numbers in relocations, load/ creates
 * them.  Some are shared by all programs, the others are a part's own: load_map_number().
 */
enum load_shared_map {
	LOAD_MAP_SLOTS,	 /* mmapable array, one value: struct slot_line[][], and what was missed */
	LOAD_MAP_CONST,	 /* read-only array, one value: tables for LIKE, probe codes, ... */
	LOAD_MAP_CHAIN,	 /* of the hook, for sets that change: the programs there, CHAIN_PLACES */
	LOAD_MAP_MARKS,	 /* array, one value: MARKS_BYTES */
	LOAD_MAP_STACKS, /* mmapable array, one value: phys/stack.h */
	LOAD_MAP_SHARED_N
};

enum load_map {
	LOAD_MAP_CONTROL, /* mmapable array, one value: struct control_line[n_cpus] */
	LOAD_MAP_STATE,	  /* mmapable array, one value: the slices of struct state_layout */
	LOAD_MAP_RING,	  /* ring buffer of streamed rows */
	LOAD_MAP_HASH0,	  /* STATE_KERNEL_MAP: copy 0 and copy 1 */
	LOAD_MAP_HASH1,
	LOAD_MAP_PAIR,	 /* mmapable array, one value: the tables of joins and running sums */
	LOAD_MAP_BUDGET, /* mmapable array, one value: struct budget, budget_line[n_cpus] */
	LOAD_MAP_WAKE,	 /* ring buffer whose records say nothing: user space is to look */
	LOAD_MAP_N
};

/*
 * LOAD_MAP_BUDGET, of a part that wakes user space.  Where its time has a limit programs add up
 * what they take: on each CPU an event owes what one takes in the mean there, and, whether it is
 * the part's or not, what the hook and this account cost (phys_charged_ns()).  A little that is
 * owed stays on the CPU's own line.  For the mean the first events are measured, then fewer, at
 * last one in BUDGET_EVERY, from where the program knows that it is the part's to where it is done
 * with it; of what was interrupted only so much is taken as the mean can bear.  Where a debt of
 * hooks goes to the sum it is measured what reading the clock takes: where it is known what that
 * took when hooks cost so much (budget_clock_eighths()), they cost as much more or less now, since
 * CPUs change their speed, and neighbours on a core take of it.  Where the sum passes the mark,
 * user space is woken (LOAD_MAP_WAKE), once; where it passes the limit before its instant, no
 * thread is taken until user space has looked, which may be late where the CPUs are busy.  It sets
 * another limit then, and nothing that a program may still be about to store: what programs close
 * they close by the limit that it was. Where user space stands still (nobody reads its output),
 * programs give each second its limit. A start from before `opened_ns` may be one whose end was
 * left, and whose thread has begun another since: no end behind it is paired with it.
 */
#define BUDGET_EVERY   251  /* a prime: events that take turns are all met */
#define BUDGET_FIRST   256  /* the mean, in ns, ahead of the first event */
#define BUDGET_MORE_NS 1024 /* more than eight times the mean: interrupted, or its CPU stopped */
#define BUDGET_ALL     (1ull << 32)
#define BUDGET_NS      1000000000ull /* so long a limit holds */
/* Of what max_cpu allows programs and user space may tell so much; the rest is for what nobody
 * knows of: what it costs to detach them, and what hooks cost more than the clock tells, where
 * others use the same core (bench/budget). */
#define BUDGET_SHARE 0.8
/* By so much at most, up and down: another clock may have been chosen since. */
#define BUDGET_CLOCK_TIMES 4
/* A clock that takes less, or more, to read does not tell the CPU's speed. */
#define BUDGET_CLOCK_LEAST_NS 4
#define BUDGET_CLOCK_MOST_NS  1000

struct budget {
	u64 spent_ns, hook_ns; /* hook_ns: of that, of hooks */
	u64 unused[14];
	/* In a line of its own, which every event reads: those threads are taken whose hash
	 * (BUDGET_HASH) is below; BUDGET_ALL: all. */
	u64 threshold;
	u64 limit_ns, limit_until_ns; /* limit_until_ns: CLOCK_MONOTONIC */
	u64 closed_ns;		      /* that limit was passed: none are */
	u64 mark_ns;		      /* UINT64_MAX: it was passed */
	u64 more_ns;   /* who passes a mark or limit that has no time any more sets it so far */
	u64 opened_ns; /* CLOCK_MONOTONIC: more threads are taken than before; 0: all always were */
	u64 unused_too[9];
	/* wake_count: events so far that its cell counted, of each copy; all CPUs together. */
	u64 n_counted[STATE_COPIES];
	u64 unused_last[16 - STATE_COPIES];
};
struct budget_line {
	s64 events_left;	    /* to the next that is measured */
	u64 distance;		    /* of those that are */
	u64 mean, owed, hooks_owed; /* eighths of ns */
	u64 clock;		    /* the same: the mean of what reading it takes; 0: none yet */
	u64 unused[10];
};
_Static_assert(sizeof(struct budget) % 128 == 0 && sizeof(struct budget_line) == 128,
	       "two CPUs on one cache line cost 22 ns");

/* What reading the clock took when hooks cost what the table says; 0: not known, or no use. */
static inline u64 budget_clock_eighths(const struct settings *settings)
{
	double ns = cost_ns(settings->costs, COST_CLOCK);

	return ns >= BUDGET_CLOCK_LEAST_NS && ns <= BUDGET_CLOCK_MOST_NS ? (u64)(8 * ns) : 0;
}

/* What a thread's id is multiplied by, in 32 bits: as spread as ids are not (Knuth's multiplicative
 * hash).  The idle thread of a CPU, which has id 0, goes as -1 - cpu. */
#define BUDGET_HASH 2654435761u

#endif
