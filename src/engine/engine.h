/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Compiled queries -> batches.  The engine is passive: it does what is due when it is
 * stepped, and never waits; its host waits, by poll() on engine_fd(), and owns signals,
 * durations, output and memory limits.  A query that runs is a flow: the parts of its cut,
 * collected for each window, and the cut's SQL over them.
 *
 *	engine_open(&engine);
 *	engine_add(engine, &input, &flow);
 *	while (!flow_is_over(flow)) {
 *		poll(&(struct pollfd){ engine_fd(engine), POLLIN }, 1, -1);
 *		engine_step(engine);
 *	}
 *	flow_close(flow);
 *	engine_close(engine);
 *
 * Batches.  A window of time has the events and losses of its time.  Where rows end the
 * windows (COUNT, SESSION), every window is a batch; of its `events`, `matched` are its rows;
 * what WHERE dropped, and rows that lie between two windows, are counted once, in the first batch
 * that is given after they were seen.  So `events` of all batches add up to the events of the run,
 * but for rows that windows share, which each of them counts.
 * Losses are in every window that they may have been in, so those of all batches may add up to more
 * than the run's, which has each once.
 */
#ifndef EBQL_ENGINE_ENGINE_H
#define EBQL_ENGINE_ENGINE_H

#include "base/arena.h"
#include "base/cancel.h"
#include "base/diag.h"
#include "base/vec.h"
#include "cut/cut.h"
#include "load/load.h"
#include "type/type.h"

struct engine;
struct flow;

/*
 * Beside flows that are live, SQLite may compute so long for what one is due (a window, its last
 * batch), of the thread's time: all others wait meanwhile.  It is no share of the window, which may
 * be of an hour.
 */
#define ENGINE_SQL_NS 1000000000ull

struct flow_input {
	const struct cut *cut;
	/* loads[i], opened and not attached, belongs to parts[i]; NULL: it has no kernel part.
	 * All are of the same hooks. */
	struct load_state *const *loads;
	/* phys[i]: as loads[i] has it but for its windows, where others read that; NULL: as it has
	 * it. */
	const struct phys *const *phys;
	/* lists[i]: attached, the program that reads parts[i], a list of the kernel; else NULL. */
	const struct load_hooks *const *lists;
	u64 every_ns; /* snapshots of a query without a window; 0: none */
	u64 n_rows;   /* streamed rows to end after; 0: no limit */
	/* What it calls may call flow_stop_at_window(), and no other function of this header. */
	struct sink sink;
	const struct cancel *cancel; /* ends what SQLite computes for long; NULL: nothing does */
	bool is_brief;		     /* its SQL is limited even while it is alone: the host waits */
	struct arena *arena;	     /* and diags: live as long as the flow */
	struct diags *diags;
};

struct flow_result {
	struct account account; /* of the whole run */
	u64 computed_ns;	/* in user space, in engine_step(), with what its sink takes */
	bool is_partial;	/* files: the run was stopped before all their rows were read */
};

/* What an operator did since the run began: events came in, of which it handed on `matched`. */
struct flow_operator {
	const char *part; /* its name; NULL: it takes the rows of all parts */
	const char *text;
	bool is_kernel;
	struct account account;
	u64 n_single; /* handed on by a LEFT join without a partner */
	u64 sql_ns;   /* SQLite's time for it */
};

/* How much of its room something took: at most, or (is_last) what was left at the end. */
struct flow_room {
	const char *part, *what, *unit;
	u64 used, size;
	bool is_last;
};

struct flow_figures {
	VEC(struct flow_operator) operators; /* of a part, each behind what it reads */
	VEC(struct flow_room) rooms;
};

/* 0 or -errno. */
int engine_open(struct engine **ret_engine);
/* Ends what still runs, without last batches; each flow is still to be closed by flow_close(). */
void engine_close(struct engine *engine);
/*
 * What queries of the engine share above it; engine_close() calls release(), if it is set, and
 * engine_step() step() when it is due: it returns when it is next (CLOCK_MONOTONIC; 0: never).
 */
struct engine_shared {
	void *shared;
	void (*release)(void *shared);
	u64 (*step)(void *shared);
	u64 due_ns;
};
struct engine_shared *engine_shared(struct engine *engine);
/* To be polled for reading: something is due. */
int engine_fd(const struct engine *engine);
/*
 * Does what is due, for all flows: those of the same hooks whose windows end together end them at
 * one instant.
 * 0, or -errno of a timer.  What ends a flow is told by that flow.
 */
int engine_step(struct engine *engine);
/*
 * Attaches the query's programs, and it runs.  0, or -errno after a diagnostic: run-start, run-end,
 * those of files, and those of load_attach().
 */
int engine_add(struct engine *engine, const struct flow_input *input, struct flow **ret_flow);

/* It has given its last batch, or failed. */
bool flow_is_over(const struct flow *flow);
/* Does it have to look at processes, whose names of functions it shows? */
bool flow_names_processes(const struct flow *flow);
/*
 * Ends it now, unless it is over: what was counted so far is the last batch.  0, or the -errno
 * that ended it: of the sink, of the kernel, or after a diagnostic (user-part, too-large,
 * too-many-rows, too-slow; -EINTR and the warning interrupted: `cancel` was due while SQLite
 * computed).
 */
int flow_stop(struct flow *flow);
/* The window, or snapshot, under way is the last; wants_whole: the first that is not partial. */
void flow_stop_at_window(struct flow *flow, bool wants_whole);
/* Recordings: over how many windows of time, and which time, they reach; 0: it has none. */
u64 flow_n_windows(const struct flow *flow, u64 *ret_first_ns, u64 *ret_last_ns);
/*
 * What happened so far in a run without windows of time, a system call for each program; what
 * such windows lost is told when they end.
 */
void flow_peek(struct flow *flow, struct account *ret_account);
/* The same for who looks on: with about how many rows or groups there are; false: not known. */
bool flow_glance(struct flow *flow, struct account *ret_account, u64 *ret_n_groups);
void flow_result(const struct flow *flow, struct flow_result *ret_result);
/* Those of its parts that have one. */
struct load_state *const *flow_loads(const struct flow *flow, u32 *ret_n);
/*
 * Of a flow that is over, all that its operators did: those of the kernel where
 * settings.counts_operators was set when it was planned.
 */
void flow_figures(struct flow *flow, struct arena *arena, struct flow_figures *ret_figures);
/*
 * Closes its sink, whose error it returns, and then detaches its programs, which may take long.
 * The sink is told what ended the query: -ECANCELED where nothing had.
 */
int flow_close(struct flow *flow);

#endif
