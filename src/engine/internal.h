/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * struct flow and its steps.  Each file uses those before it here, and none behind it:
 * flow_sql.c the SQL, flow_read.c flips and the parts' rows, flow_budget.c what it may take of a
 * CPU, flow_batch.c the losses and the batch,
 * flow_window.c the windows of time, flow_group.c those that rows end, flow_open.c opening and
 * attaching, flow_figures.c what operators did, flow.c what a flow does at its instants, engine.c
 * the instants of all flows.
 */
#ifndef EBQL_ENGINE_INTERNAL_H
#define EBQL_ENGINE_INTERNAL_H

#include "drain/drain.h"
#include "engine/engine.h"
#include "func/func.h"
#include "rel/rel.h"
#include "sym/sym.h"
#include "tree/tree.h"

/* How long for a program that does not end: where it is tried again, and where not. */
#define FLOW_GLANCE_NS	 20000000ull
#define FLOW_PATIENCE_NS 2000000000ull
#define FLOW_READ_ROWS	 4096u
#define FLOW_MAX_BYTES	 (4ull << 30) /* of rows that are kept */

struct flow_part {
	const struct cut_part *part;
	struct load_state *load; /* NULL: it has none */
	struct relation *relation;
	int switch_error; /* of flow_switch() */
	/* GROUPS */
	struct groups *groups; /* NULL: another kind */
	/* Streamed rows that are the answer as they are */
	struct events *events;	 /* NULL: another kind */
	struct region positions; /* GROUPS: u32, of each row of the window in groups->rows */
	/* ROWS and TABLE */
	struct row_source *source;
	struct row_pool pool;
	struct row_fifo queue; /* rows of this window, and of those to come */
	u64 before_ns;	       /* those from before the latest flip are from before that */
	/* TABLE: a list of the kernel; hooks NULL: it is a file.  And room for a row. */
	struct list_reader list;
	struct value *row;
};

/*
 * One instant: CLOCK_REALTIME, and the CLOCK_MONOTONIC of the rows of streams.  Where it is that
 * of a flip: its number, by which rows of streams lie before or behind it, and not by their times,
 * which may be some microseconds on the other side.
 */
struct flow_instant {
	u64 real_ns, monotonic_ns;
	u64 flip; /* 1, 2, ...; 0: none was made then */
};

/*
 * Where a pane ends, nominally, and a window with it or behind it: CLOCK_REALTIME, and as positions
 * on a clock that agrees with it at the start of the run and is never set back.
 */
struct flow_boundary {
	u64 real_ns, position;
	u64 window_position; /* of the end of the window that ends too, or is under way */
	bool has_window;     /* it ends too */
	u64 n_windows;	     /* that end since the boundary before */
};

/* An account of the time up to an instant, for windows that overlap. */
struct flow_pane {
	struct flow_instant end;
	u64 position; /* of the end */
	struct account account;
	struct account repeated; /* of it, what the pane before has, too */
};

struct flow_group;

/* What is missing, or may be, of a stretch of time on the clock of the part's rows. */
struct flow_loss {
	u64 from_ns, to_ns;
	bool is_told; /* a window had it */
	struct account account;
};

#define FLOW_LOSSES_MAX 64

/* A window of a group: rows[first .. first + n_rows). */
struct flow_closed {
	struct relation_session session;
	u64 first, n_rows;
	u64 number; /* of its first row */
	u64 n_faults;
	u64 from_ns, to_ns; /* as in struct flow_loss: a row of that time may have been in it */
};

/* SESSION and COUNT: windows of their own for every combination of the keys. */
struct flow_groups {
	struct keys keys;		    /* struct flow_group */
	struct flow_group *oldest, *newest; /* by the time of their last rows */
	struct buf key;			    /* of the row at hand */
	u64 n_taken;			    /* rows so far: they are numbered 0, 1, ... */
	/* The windows that closed and were not given yet: struct flow_closed, struct row *. */
	struct region closed, rows;
	u64 n_closed, n_rows;
	struct row *dropped; /* rows that belong to them and to no later window */
	struct flow_loss losses[FLOW_LOSSES_MAX];
	u32 n_losses;
	u64 looked_ns; /* losses from before then were seen */
	u64 closed_ns; /* COUNT: the last row of the latest window that closed */
};

/* The SQL of a cut, prepared once. */
struct flow_sql {
	u32 n_computed; /* columns of the output that the statement yields */
	struct sqlite3 *db;
	struct sqlite3_stmt *statement;
	int start_parameter, end_parameter; /* 0: the text has none */
	struct func_context context;
	struct account done; /* rows that went in (events) and came out, and what they lost */
	u64 ns;		     /* that it took */
	/* CLOCK_THREAD_CPUTIME_ID: what it may still take of this turn; then it has to end. */
	u64 left_ns, end_ns;
	bool is_too_slow;
	struct region values;	/* output rows */
	struct scratch scratch; /* what they point to */
};

/* Of the stacks of all flows of an engine. */
struct flow_names {
	struct namer *namer; /* NULL: no flow took any yet, or there is no memory */
	u64 due_ns;	     /* CLOCK_MONOTONIC: they are looked at; 0: never */
};

#define FLOW_BUDGET_STEPS 16u /* of what is allowed in a second */
#define FLOW_BUDGET_ENDS  32u /* that are known */
#define FLOW_SAMPLED_MAX  10  /* 1 of 2^10 threads, or none */

struct flow_budget_step {
	u64 at_ns, hook_ns; /* hook_ns: of hooks up to then */
};

/* max_cpu; see flow_budget.c.  Times are CLOCK_MONOTONIC where nothing else is said. */
struct flow_budget {
	struct flow_budget_step steps[FLOW_BUDGET_ENDS], looked; /* the ends of the latest */
	u64 n_steps, counted_ns; /* how many in all; taken in them, and before */
	u64 begun_ns, begun_spent_ns;
	u64 rests_until_ns; /* no thread is taken: the second has had its part; 0: they are */
	u64 resumed_ns;	    /* when it had done so the last time; 0: it never did */
	u32 one_in, was;    /* of so many threads one is taken; ahead of the latest change */
	/* CLOCK_REALTIME: when that was changed the last time; when it was last one in 2^i. 0:
	 * never */
	u64 changed_real_ns, last_real_ns[FLOW_SAMPLED_MAX + 1];
	bool is_over;
};

struct flow {
	struct engine *engine;	  /* NULL: it is not stepped */
	struct flow_names *names; /* of the engine */
	struct flow *next;	  /* of the engine */
	const struct cut *cut;
	struct sink sink;
	bool is_sink_open;
	const struct cancel *cancel;
	bool is_brief; /* as in struct flow_input */
	bool is_hasty; /* so, or others are live: its SQL is limited */
	struct diags *diags;
	struct flow_part *parts;
	u32 n_parts;
	u64 max_bytes; /* FLOW_MAX_BYTES; tests set less */
	struct relation *relations;
	struct flow_sql sql;
	bool is_plain;			/* one part, no SQL of the cut */
	bool has_rows;			/* a part of rows */
	bool has_lists, are_lists_read; /* of the kernel; in this turn */
	bool is_streaming;
	bool is_live;	 /* a part has streams: windows follow the clock */
	bool is_grouped; /* SESSION, COUNT */
	bool is_ended;	 /* the last batch was given */
	bool is_over;	 /* or something failed: */
	int err;
	bool is_last_window; /* that under way is, */
	bool wants_whole;    /* if it is not partial */
	bool is_woken;	     /* it ends now, ahead of its time, */
	bool is_cut;	     /* or began so */
	bool is_overdue;     /* and its end went by: the next boundary is due */
	bool is_ending;	     /* the next flow_switch() ends the run, or did; so: */
	bool has_ended_starts;
	bool is_attached;
	const char *fallback; /* of the first batch, which takes it */
	u64 clock_ns;	      /* tests, of replayed events: what both clocks show; 0: they go */
	u64 limit;	      /* of streamed rows */
	u64 n_streamed;

	/* When something is to be done; 0: not by this clock. */
	u64 every_ns;	 /* snapshots */
	u64 boundary_ns; /* CLOCK_REALTIME: the next end of a window, pane or snapshot */
	u64 poll_ns;	 /* CLOCK_MONOTONIC */
	bool is_due;	 /* its boundary has passed, at: */
	struct flow_instant now;
	struct load_state **loads; /* of those parts that have one */
	u32 n_loads;
	struct load_state **switching; /* room for flow_switch(): all states of its hooks */
	struct flow_instant unswitched,
		switched;  /* just before the latest flow_switch(), behind it */
	bool is_unsettled; /* it was switched then, but rows from before may be still to come */

	struct flow_instant start;     /* of the run */
	struct flow_instant window;    /* the start of the window under way */
	struct flow_boundary boundary; /* live: the latest that has passed */
	u64 next_ns;		 /* files: the next boundary, CLOCK_REALTIME; 0: not known yet */
	s64 real_offset_ns;	 /* CLOCK_REALTIME minus CLOCK_MONOTONIC, when last looked at */
	struct account since;	 /* the last batch or pane */
	struct account repeated; /* of it, what the one before has, too */
	struct region panes;	 /* HOPPING: struct flow_pane, the oldest first */
	u32 n_panes;
	u64 late_ns, n_merged; /* of the window at hand, as struct batch has them */
	bool is_window_partial;

	/* Windows that rows end: see flow_account_rows(). */
	s64 n_other_events;
	bool has_span;
	u64 first_ns, last_ns; /* of all rows read, of a recording all there are; CLOCK_REALTIME */
	struct flow_groups groups;

	u64 computed_ns;
	struct flow_budget budget;
	bool is_partial;
	struct account total, sql_lost, lists_lost;
};

/* --- What kind of windows --- */

static inline bool flow_is_windowed(const struct flow *flow)
{
	return flow->cut->window.kind != WINDOW_NONE;
}

/* Windows of time, not of rows. */
static inline bool flow_is_timed(const struct flow *flow)
{
	return flow->cut->window.kind == WINDOW_TUMBLING ||
	       flow->cut->window.kind == WINDOW_HOPPING;
}

/* Streamed rows that are the answer as they are. */
static inline bool flow_has_events(const struct flow *flow)
{
	return flow->is_plain && flow->parts[0].events;
}

/* Do rows end the windows, and not the clock? */
static inline bool flow_is_row_driven(const struct flow *flow)
{
	return flow->has_rows && (flow->is_streaming || flow->is_grouped);
}

static inline u64 flow_advance_ns(const struct flow *flow)
{
	const struct cut_window *window = &flow->cut->window;

	return window->kind == WINDOW_HOPPING ? window->advance : window->size;
}

/* NULL: it has no programs. */
static inline struct load_hooks *flow_hooks(const struct flow *flow)
{
	return flow->n_loads ? flow->loads[0]->hooks : NULL;
}

/* A recorded row without a time, or from before 1970, is as early as can be. */
static inline u64 flow_time_of(const struct value *row)
{
	if (row->kind != VALUE_INT || row->integer < 0)
		return 0;
	return (u64)MIN(row->integer, (s128)(UINT64_MAX - 1));
}

/* --- flow_sql.c --- */

/* CLOCK_THREAD_CPUTIME_ID: that this thread has computed. */
u64 flow_computed_ns(void);
/* It is its turn: what it does from here on is one thing to the others, who wait. */
void flow_begin_turn(struct flow *flow);

/*
 * Prepares what the query needs SQLite for; once.  0, or -EINVAL and a diagnostic: user-part,
 * SQLite's message.
 */
int flow_open_sql(struct flow *flow);
void flow_close_sql(struct flow *flow);
/*
 * Runs it over the relations' rows: sets n_rows, values and other_row of the batch, and adds to
 * its losses what the functions counted.  `batch` has its bounds and losses.  At most `limit`
 * rows.  They live until the next call.  0, or -errno and a diagnostic: too-large, too-slow, or as
 * connect_refused() has it.
 */
int flow_run_sql(struct flow *flow, u64 limit, struct batch *batch);
/* The same without SQL: each row of the first relation, by the cut's picks.  0 or -ENOMEM. */
int flow_pick(struct flow *flow, struct batch *batch);

/* --- flow_read.c --- */

struct flow_instant flow_now(struct flow *flow);
/*
 * The one place where windows end: switches all parts of these flows, and of no others, at
 * one instant.  Those that share hooks stand together, and do so in one flip.  What failed
 * stands in the parts: -EBUSY where a program did not end in time; then all that is counted up to
 * the next call that goes well belongs to the windows that it ends.
 */
void flow_switch(struct flow *const *flows, u32 n, u64 patience_ns);
/* Of the parts of the flow, in its latest flow_switch(). */
int flow_switch_error(const struct flow *flow);
/* The instant on the clock of the part's rows. */
u64 flow_row_time(const struct flow_part *part, struct flow_instant at);
/* The rows' time on CLOCK_REALTIME. */
u64 flow_real_time(const struct flow *flow, const struct flow_part *part, u64 row_ns);
/*
 * Reads rows with a time before that instant into the part's queue, `limit` of them at
 * most: the number, or -errno.
 */
s64 flow_read(struct flow *flow, struct flow_part *part, u64 before_ns, u32 limit);
/* Adds to the batch or pane under way, and to the run, which a pane is added to at its end. */
void flow_note(struct flow *flow, const struct account *seen);
/* The number read, FLOW_READ_ROWS at most, from all parts; *ret_more: some part may have more. */
int flow_read_parts(struct flow *flow, struct flow_instant before, u64 *ret_n, bool *ret_more);
int flow_read_all(struct flow *flow, struct flow_instant before);
/* -E2BIG and the diagnostic too-many-rows when the rows that are kept take too much. */
int flow_check_memory(struct flow *flow);
/* Gives back the first n rows of the part's queue. */
void flow_drop(struct flow_part *part, u64 n);
/* The part of kind ROWS where there is one only. */
struct flow_part *flow_row_part(struct flow *flow);

/* --- flow_table.c --- */

/* list: attached, of a part that is one; NULL: a file.  0, or -errno, mostly after a diagnostic. */
int flow_open_table(struct flow *flow, struct flow_part *part, const struct load_hooks *list,
		    struct arena *arena);
/* The lists as they are now; adds the faults of their programs' conditions.  0, or -errno after a
 * diagnostic: iterator-read. */
int flow_read_lists(struct flow *flow, struct account *account);

/* --- flow_budget.c --- */

static inline bool flow_has_budget(const struct flow *flow)
{
	return flow->n_loads && flow->loads[0]->budget && flow->loads[0]->phys->has_budget;
}
/* wake_count: the window under way is to end now.  flow_count_anew(): it has. */
bool flow_is_woken(const struct flow *flow);
void flow_count_anew(struct flow *flow);
/* 0 or -errno. */
int flow_budget_open(struct flow *flow, int epoll_fd);
void flow_take_wakes(struct flow *flow);
/* Looks what it has taken, and sees to it that it takes less.  true, after a diagnostic: it has to
 * end. */
bool flow_is_over_budget(struct flow *flow);
/* CLOCK_MONOTONIC: it is to be asked again, whatever happens; 0: what happens wakes. */
u64 flow_budget_due(const struct flow *flow);
void flow_budget_tell(struct flow *flow, struct batch *batch);

/* --- flow_batch.c --- */

/* Adds what the row sources saw and lost to `since`, up to the latest flip; is_all: up to now. */
void flow_account(struct flow *flow, bool is_all);
/* Before the last batch: the starts of joins that never met an end are told with it. */
int flow_finish_rows(struct flow *flow);
/*
 * For a window of n_rows that rows end, and that rows between these times may have been in: its
 * account, as engine.h says.  Events that no row of
 * a window stands for (n_other_events) go to the first window given after they were seen.
 */
void flow_account_rows(struct flow *flow, u64 n_rows, u64 from_ns, u64 to_ns,
		       struct account *ret_account);
/*
 * Runs the SQL over the relations and hands the batch on; `account` is what happened in
 * it.  has_sql false: the batch has no rows (the end of a run that gave all before).
 */
int flow_give(struct flow *flow, u64 start_ns, u64 end_ns, const struct account *account,
	      bool has_sql, bool is_last);
/* Streamed rows that are the answer as they are. */
int flow_give_events(struct flow *flow, const struct value *rows, u32 n_rows, bool is_last);

/* --- flow_names.c --- */

void flow_open_names(struct flow *flow, struct flow_names *names);
/* Gives names to the stacks that programs met since the last time. */
bool flow_takes_stacks(const struct flow *flow);
/* And what the process runs whose addresses are named. */
bool flow_looks_at_processes(const struct flow *flow);
void flow_name_stacks(struct flow *flow);
/* It holds none that was read before then: load_stacks_forget(). */
u64 flow_first_use(const struct flow *flow);

/* --- flow_window.c --- */

/* The first boundary of windows of time behind that instant, on CLOCK_REALTIME. */
u64 flow_boundary_behind(const struct flow *flow, u64 now_ns);
/* Live: the run, its first window and its first pane begin there. */
void flow_start(struct flow *flow, struct flow_instant start);
/*
 * Live: the latest boundary up to then; is_last: the run's end, at once.  Where no clock ends
 * windows: that instant.
 */
struct flow_boundary flow_boundary_at(const struct flow *flow, u64 now_ns, bool is_last);
/* TUMBLING: the window under way, as if it ended at its time. */
struct flow_boundary flow_boundary_ahead(const struct flow *flow);
/* The window that ends there is the last one that was asked for. */
bool flow_ends_at(const struct flow *flow, const struct flow_boundary *at);
/*
 * Every row from before `end` is in the queues: gives the window of time that ends there, and
 * nominally at `at`.
 */
int flow_window_give(struct flow *flow, struct flow_instant end, const struct flow_boundary *at,
		     bool is_last);
/* HOPPING: a pane ends, and no window. */
int flow_pane_end(struct flow *flow, struct flow_instant end, u64 position);
/* The run ends there: what was read already of behind it is no more of it. */
void flow_drop_behind(struct flow *flow, struct flow_instant end);

/* --- flow_group.c --- */

void flow_groups_open(struct flow *flow);
void flow_groups_close(struct flow *flow);
/*
 * Takes the rows of the queue; every row from before before_ns was there.  Gives the
 * windows that closed, if any did; is_end: those that are open too.
 */
int flow_groups_take(struct flow *flow, u64 before_ns, bool is_end);

/* --- flow_open.c --- */

/* NULL after a diagnostic. */
struct flow *flow_open(const struct flow_input *input);
/* Attaches the programs, then opens SQLite, so that they start sooner. */
int flow_attach(struct flow *flow);
void flow_detach(struct flow *flow);
/* Of a flow that ended with an error: its diagnostic, where nobody gave one. */
void flow_failed(struct flow *flow, int err);
/* Of one that was detached, and is of no engine. */
void flow_free(struct flow *flow);

/* --- flow_figures.c --- */

/* What operators counted so far was before the run. */
void flow_forget_figures(struct flow *flow);

/* --- flow.c --- */

/* Ends it, unless it is over, without a last batch; err: why, as flow_stop() then returns it. */
void flow_end(struct flow *flow, int err);
/* A boundary has passed, at `now`, and flow_switch() was called. */
void flow_take_boundary(struct flow *flow, struct flow_instant now);
/* *ret_more: at once again. */
void flow_poll(struct flow *flow, bool *ret_more);
/* Is something to be done between boundaries? */
bool flow_is_polled(const struct flow *flow);
/* The first boundary behind that instant; 0: there is none. */
u64 flow_next_boundary(const struct flow *flow, u64 now_ns);

#endif
