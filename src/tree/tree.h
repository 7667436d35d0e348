/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Rows of a part of kind ROWS, in the order of their times: from the ring buffer as
 * the kernel part streams them; or, where only the scans run in the kernel or read
 * files, from the operators of the plan done here (filter, PAIR and ASOF JOIN, UNION
 * ALL, running sums), with SQLite for their expressions.
 */
#ifndef EBQL_TREE_TREE_H
#define EBQL_TREE_TREE_H

#include "cut/cut.h"
#include "base/cancel.h"
#include "drain/drain.h"
#include "load/load.h"

struct row_source;

/* Where a row comes from. */
struct row_origin {
	/* The number of the first flip that its event lies before (1, 2, ...), 0 where a file's row
	 * made it appear. */
	u64 flip;
	/* Counted by what user space computed of it; they count once it is in a window. */
	u64 n_faults;
};

/* load: attached by the caller, NULL where all scans read files.  cancel: may be NULL.  NULL after
 * a diagnostic, or for lack of memory. */
struct row_source *row_source_open(const struct cut_part *part, struct load_state *load,
				   const struct cancel *cancel, struct arena *arena,
				   struct diags *diags);
/*
 * Hands out, in order, up to `limit` rows whose time is less than before_ns.  The caller
 * promises that every event from before that time is in the ring buffer already
 * (load_flip() returned after it); UINT64_MAX: all there are.  Times of kernel rows are
 * CLOCK_MONOTONIC, those of files are as recorded (CLOCK_REALTIME); where a part has both,
 * all times are CLOCK_REALTIME, before_ns too.  Every row has part->columns.n_columns
 * values; row[0] is its time.  All live until the next call.
 * Returns the number of rows; 0: none now; -errno, all but -ENOMEM after a diagnostic.
 */
s64 row_source_read(struct row_source *source, u64 before_ns, u32 limit,
		    const struct value **ret_rows, const struct row_origin **ret_origins);
/*
 * load_flip() is about to switch the load, and a window to end with that: what no copy holds is
 * read before each flip and behind it.
 */
void row_source_before_flip(struct row_source *source);
/*
 * load_flip() has switched the load, and load_settle() returned: all that was streamed before it
 * is read into memory, none of it from *ret_before_ns or later, on the clock of the part's rows.
 * 0, or -errno after a diagnostic.
 */
int row_source_flipped(struct row_source *source, u64 *ret_before_ns);
/* That flip ended no window: it had waited, and another one follows at once. */
void row_source_go_on(struct row_source *source);
/*
 * The run began with the latest flip, or, where none was made, now: forgets what came before.
 * 0, or -errno after a diagnostic.
 */
int row_source_skip(struct row_source *source);
/*
 * max_cpu left events of its scans, up to now: what follows gets no partner from before.  Call it
 * ahead of the first event of a thread that was left; rows may come meanwhile, of what is taken all
 * the time or of programs that had begun before.
 */
void row_source_left(struct row_source *source);
/* Reads the ring buffer into memory, so that it does not run full; call it every 10 ms. */
int row_source_poll(struct row_source *source);
/*
 * Files: the time of the next row that has not been handed out; false: there is none.
 * After an error it is 0, so that the next row_source_read() can return it.
 */
bool row_source_peek(struct row_source *source, u64 *ret_time_ns);
/* Files: the times of the first and the last event, whatever becomes of them; false: none. */
bool row_source_span(const struct row_source *source, u64 *ret_first_ns, u64 *ret_last_ns);
/* What was read of scans is from up to that time; UINT64_MAX: rows come complete. */
u64 row_source_newest(const struct row_source *source);
/* Do values go on from event to event, or do rows say NULL where a start is missing, so that a loss
 * is one of all windows behind it? */
bool row_source_goes_on(const struct row_source *source);
/*
 * Adds what was seen and lost since the last call, up to the latest flip; is_all: up to now.
 * `matched` are the events whose rows were read, or wait to be.
 * *ret_repeated: of it, what may have happened in either of two windows, and was added to the one
 * before, too.
 */
void row_source_account(struct row_source *source, bool is_all, struct account *account,
			struct account *ret_repeated);
/*
 * After the last row was read and accounted: the starts from before that instant (CLOCK_MONOTONIC)
 * that never ended, which the next row_source_account() adds; those that came while hooks were
 * detached one by one may not end.  0 or -errno.
 */
int row_source_finish(struct row_source *source, u64 before_ns);
/* An operator that user space does: what came in (events), what it handed on (matched) and lost. */
struct row_operator {
	const struct plan *plan;
	struct account account;
	u64 n_single;			 /* handed on by a LEFT join without a partner */
	u64 sql_ns;			 /* SQLite's, of its expressions */
	u64 most_waiting, max_in_flight; /* of a join's starts */
};
/* Each behind what it reads; 0: the kernel does all of them. */
u32 row_source_n_operators(const struct row_source *source);
void row_source_operator(const struct row_source *source, u32 i, struct row_operator *ret_operator);
/* What its programs count, and the ring buffer; load is NULL where it has none. */
struct meter *row_source_meter(struct row_source *source);
const struct stream_reader *row_source_stream(const struct row_source *source);
void row_source_close(struct row_source *source);

#endif
