/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Internal to gen/: the table of a join as one event sees it, and finding slots in it.
 */
#ifndef EBQL_GEN_SLOT_H
#define EBQL_GEN_SLOT_H

#include "gen/internal.h"

struct table {
	const struct phys_join *join;
	struct key_word *words;
	vreg base;   /* of the table: its header */
	vreg hash;   /* of the key: 64 bits */
	vreg bucket; /* first of the PAIR_WAYS slots in which the key may stand */
	vreg now;    /* 0: not read */
};

/* The key's words, and its bucket.  A key that is NULL goes to `null`. */
struct table table_open(struct gen *g, const struct phys_step *step, label null);
/* The same key in the groups that threads without a slot of their own share. */
struct table table_overflow(struct gen *g, const struct table *t);

s32 table_way_bytes(const struct table *t, u32 way, u32 offset_bytes);
/* Goes to `other` where the key in this way is not ours. */
void table_branch_other_key(struct gen *g, const struct table *t, u32 way, label other);
/*
 * Which way it is, as a number that the verifier does not know: the header's word.  All
 * ways then go on as one, and what follows is verified once instead of PAIR_WAYS times.
 */
void table_take_way(struct gen *g, const struct table *t, u32 way, vreg offset, label found);
/* The slot at that offset of the bucket; an offset that is none goes to `none`. */
vreg table_slot_at(struct gen *g, const struct table *t, vreg offset, label none);

/*
 * Without a branch, so that the verifier sees one way through it: over the slots of the bucket,
 * which one?  offset: of the slot, -1: none; `time`: of its start.
 */
struct choice {
	vreg offset, time;
	vreg tied; /* of table_oldest(): below 0 where a start of our key is from this instant */
};
/*
 * The latest start of our key, not after t->now if that is known; time 0: there is none.  Of one
 * time it is that in the last slot, as free ones are taken in order.
 */
struct choice table_latest(struct gen *g, const struct table *t);
/* The oldest start: of our key, where it has two at least, or of all keys. */
struct choice table_oldest(struct gen *g, const struct table *t, bool is_any_key);
/* The first slot that holds nothing; no time. */
struct choice table_free(struct gen *g, const struct table *t);

/* Of whose runs it is none, as it says. */
vreg slot_others(struct gen *g, vreg slot);
/* state: from -> to, at once; goes to `lost` where another CPU was faster. */
void slot_exchange(struct gen *g, vreg slot, s32 from, s64 to, label lost);
/* Gives the slot back; what was written into it before is seen by who takes it. */
void slot_publish(struct gen *g, vreg slot, s32 state);
/* Is the slot, now that it is ours (or read), still the start that was chosen? */
void slot_check(struct gen *g, const struct table *t, vreg slot, vreg time, bool is_any_key,
		label changed);

/* start.c */
/*
 * A start: its time, and of whose runs it is none, which was decided once, when it was stored
 * (load/starts.c).  That was read behind the time.
 */
struct start {
	vreg time, others;
};
/* One that happens now. */
struct start start_own(struct gen *g, vreg now);
/* Of the event at hand: may it not take a start any more, as the run is over?  Then it leaves. */
void start_ask_over(struct gen *g);
/* Ahead of a start that takes another's place: what waits when the runs are over stays. */
void start_leave_waiting(struct gen *g);
/* What became of it, for each part whose run has it; is_stored: the account does not have it yet.
 */
void start_count(struct gen *g, struct start start, enum unpaired kind, bool is_stored);
/* The check of the account: one more was stored or taken, or is too old to be taken. */
bool start_is_checked(const struct gen *g, const struct phys_join *j);
void start_check(struct gen *g, const struct phys_join *j, struct start start, bool is_taken);
void start_check_expired(struct gen *g, const struct phys_join *j, const struct start *start);

/* kept.c */
/* What all of the crowd keep of a start, and whose each column is; by itself its own. */
struct kept {
	struct phys_join join;
	const struct hook_use **owners; /* NULL: the use at hand */
};
struct kept gen_kept(struct gen *g, const struct phys_join *j);

#endif
