/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * struct flow and its steps: flow.c has the instants, flow_read.c the parts' rows,
 * flow_window.c the windows of time and the global count, flow_group.c the windows of
 * every group, flow_batch.c the losses and the batch.
 */
#ifndef EBQL_ENGINE_FLOW_INTERNAL_H
#define EBQL_ENGINE_FLOW_INTERNAL_H

#include "engine/flow.h"
#include "engine/flow_sql.h"
#include "rel/rel.h"
#include "tree/tree.h"
#include "engine/window.h"

#define FLOW_READ_ROWS 4096u
#define FLOW_MAX_BYTES (4ull << 30) /* of rows that are kept */

/* What happened in a stretch of time. */
struct flow_account {
	u64 events, matched;
	u64 lost[LOSS_N], unpaired[UNPAIRED_N];
};

struct flow_part {
	const struct cut_part *part;
	struct load *load; /* NULL: it has none */
	/* GROUPS */
	struct run *run;
	struct batch groups; /* its last batch; valid until its next */
	bool has_groups;     /* given since the flow's last batch */
	/* ROWS and TABLE */
	struct row_source *source;
	struct row_pool pool;
	struct row_fifo queue; /* rows of this window, and of those to come */
};

/* One instant: CLOCK_REALTIME, and the CLOCK_MONOTONIC of the rows of streams. */
struct flow_instant {
	u64 real_ns, monotonic_ns;
};

/* An account of the time up to an instant, for windows that overlap. */
struct flow_pane {
	struct flow_instant end;
	struct flow_account account;
};

struct flow_group;

/* A window of a group: rows[first .. first + n_rows). */
struct flow_closed {
	struct relation_session session;
	u64 first, n_rows;
	u64 number; /* of its first row */
};

/* Windows of their own for every combination of the keys. */
struct flow_groups {
	struct region buckets; /* struct flow_group * */
	u64 n_buckets, n_groups;
	struct scratch memory;
	struct row_pool keys;
	struct flow_group *free;
	struct flow_group *oldest, *newest; /* by the time of their last rows */
	struct value *key;		    /* of the row at hand */
	u64 n_taken;			    /* rows so far: they are numbered */
	/* The windows that closed and were not given yet: struct flow_closed, struct row *. */
	struct region closed, rows;
	u64 n_closed, n_rows;
	struct row *dropped; /* rows that belong to them and to no later window */
	struct region places;
	u64 n_places;
};

struct flow {
	const struct cut *cut;
	struct run_options options;
	struct run_sink sink;
	struct diags *diags;
	struct flow_part *parts;
	u32 n_parts;
	u64 max_bytes; /* FLOW_MAX_BYTES; tests set less */
	struct relation *relations;
	struct flow_sql sql;
	bool has_groups, has_rows; /* parts of these kinds */
	bool is_live;		   /* a part has streams: windows follow the clock */
	bool is_grouped;	   /* SESSION, COUNT PER ... */
	bool is_ended;		   /* the last batch was given */
	bool is_drained;	   /* by flow_drain_once(): all rows are in its window */
	u64 limit;		   /* of streamed rows */
	u64 n_streamed;

	struct flow_instant start;  /* of the run */
	struct flow_instant window; /* the start of the window under way */
	u64 next_ns;		    /* its nominal end, on CLOCK_REALTIME; 0: not known yet */
	struct flow_instant end;    /* of the run, when a boundary ended it; else 0 */
	s64 real_offset_ns;	    /* CLOCK_REALTIME minus CLOCK_MONOTONIC, when last looked at */
	struct flow_account since;  /* the last batch or pane */
	struct region panes;	    /* HOPPING: struct flow_pane, the oldest first */
	u32 n_panes;

	/* COUNT: numbers of the first row in the queue, of the first row of the next window, and
	 * of the first that no window had. */
	u64 first_row, next_row, fresh_row;
	/* Windows that rows end: see flow_account_rows(). */
	s64 n_other_events;
	u64 n_accounted_rows;
	bool has_span;
	u64 first_ns, last_ns; /* of all rows read, of a recording all there are; CLOCK_REALTIME */
	struct flow_groups groups;

	struct run_result result;
	struct flow_account total, sql_lost;
};

/* --- flow_batch.c --- */

/* Adds what the row sources saw and lost to `since`. */
void flow_account(struct flow *flow);
void flow_account_add(struct flow_account *to, const struct flow_account *from);
/*
 * For a window of n_rows that rows end: its account, as flow.h says.  Events that no row of
 * a window stands for (n_other_events) go to the first window given after they were seen.
 */
void flow_account_rows(struct flow *flow, u64 n_rows, struct flow_account *ret_account);
/*
 * Runs the SQL over the relations and hands the batch on; `account` is what happened in
 * it.  has_sql false: the batch has no rows (the end of a run that gave all before).
 */
int flow_give(struct flow *flow, u64 start_ns, u64 end_ns, const struct flow_account *account,
	      bool has_sql, bool is_last);
bool flow_is_windowed(const struct flow *flow);

/* A recorded row without a time, or from before 1970, is as early as can be. */
static inline u64 flow_time_of(const struct value *row)
{
	if (row->kind != VALUE_INT || row->integer < 0)
		return 0;
	return (u64)MIN(row->integer, (s128)(UINT64_MAX - 1));
}

/* --- flow_read.c --- */

struct flow_instant flow_now(struct flow *flow);
/* The instant on the clock of the part's rows. */
u64 flow_row_time(const struct flow_part *part, struct flow_instant at);
/* The rows' time on CLOCK_REALTIME. */
u64 flow_real_time(const struct flow *flow, const struct flow_part *part, u64 row_ns);
/*
 * Reads rows with a time before that instant into the part's queue, `limit` of them at
 * most: the number, or -errno.
 */
s64 flow_read(struct flow *flow, struct flow_part *part, u64 before_ns, u32 limit);
/* -E2BIG and the diagnostic too-many-rows when the rows that are kept take too much. */
int flow_check_memory(struct flow *flow);
/* Files: has some part rows that were not read yet, and when is the first of them? */
bool flow_peek(struct flow *flow, u64 *ret_time_ns);
/* Gives back the first n rows of the part's queue. */
void flow_drop(struct flow_part *part, u64 n);
/* The part of kind ROWS where there is one only; its number is that of its relation. */
struct flow_part *flow_row_part(struct flow *flow, struct relation **ret_relation);
/* The number of windows asked for will be reached with the next one. */
bool flow_is_last_window(const struct flow *flow);

/* --- flow_window.c --- */

/*
 * Every row from before `end` is in the queues: gives the window of time that ends there.
 * end_ns: the nominal end, from which the start is counted.
 */
int flow_window_give(struct flow *flow, struct flow_instant end, u64 end_ns, bool is_last);
/*
 * Files, before the first window: can there be windows over their span?  -EOVERFLOW, -E2BIG
 * after the diagnostic too-large, too-many-windows.
 */
int flow_check_span(struct flow *flow, u64 advance_ns);
/* HOPPING: a pane ends, and no window. */
void flow_pane_end(struct flow *flow, struct flow_instant end);
/* Takes rows into the count windows: gives those that are complete. */
int flow_count_take(struct flow *flow, bool is_end);

/* --- flow_group.c --- */

int flow_groups_open(struct flow *flow, struct arena *arena);
void flow_groups_close(struct flow *flow);
/*
 * Takes the rows of the queue; every row from before before_ns was there.  Gives the
 * windows that closed, if any did; is_end: those that are open too.
 */
int flow_groups_take(struct flow *flow, u64 before_ns, bool is_end);

#endif
