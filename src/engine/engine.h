/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Loaded programs -> batches: closes windows on the wall clock, switches copies,
 * drains and merges the slices, reads the ring buffer, and runs the user part.
 * Allocates at start only.
 */
#ifndef EBQL_ENGINE_ENGINE_H
#define EBQL_ENGINE_ENGINE_H

#include "base/arena.h"
#include "base/diag.h"
#include "load/load.h"
#include "type/type.h"

struct run_options {
	u64 duration_ns;   /* 0: until stopped */
	u64 n_windows;	   /* 0: no limit */
	u64 every_ns;	   /* snapshots of a query without a window; 0: none */
	u64 n_rows;	   /* streamed rows to stop after; 0: no limit */
	bool ends_at_loss; /* where windows of time do not end: at once */
	/* -1: none; the run ends with it, and it (SIGTERM, after 1 s SIGKILL) with the run */
	int child_pid;
	int child_go_fd; /* a byte written here starts the child's exec */
};

struct run_sink {
	/* Returns 0 or -errno, which ends the run: nothing is handed on any more. */
	int (*batch)(void *context, const struct batch *batch);
	/* Where rows stream: every 10 ms and after each batch; may be NULL.  As batch(). */
	int (*idle)(void *context);
	/* Called once, when everything is attached and counting. */
	void (*attached)(void *context);
	void *context;
};

struct run_result {
	u64 lost[LOSS_N], unpaired[UNPAIRED_N]; /* over the whole run */
	u64 events, matched, windows;
	bool is_partial;  /* files: the run was stopped before all their rows were read */
	int child_status; /* as waitpid() gives it; -1: no child */
};

struct run;

/* NULL and a diagnostic (tag run-start): no memory, or no ring buffer. */
struct run *run_open(struct load *load, const struct run_options *options,
		     const struct run_sink *sink, struct arena *arena, struct diags *diags);
/*
 * Attaches, runs until the duration, the number of windows, the child's end, or
 * SIGINT, SIGTERM, SIGHUP (the third such signal kills); switches for the last time,
 * detaches, gives the last batch.  0 or -errno, -EPIPE and others of the sink
 * included.  Diagnostics: those of load_attach(), user-part (SQLite refuses the
 * user part, which is opened while the programs count), too-large (an integer
 * beyond 64 bits signed meets SQLite), too-many-rows; -EINTR and the warning
 * interrupted: loop_cancel() was due while SQLite computed.
 */
int run_loop(struct run *run, struct diags *diags, struct run_result *ret_result);
void run_close(struct run *run);
/* The signal that ended the latest run, once; 0: none did since the last call. */
int run_stop_signal(void);

/* Tests: flips once and gives everything counted so far as one batch; 0 or -errno. */
int run_drain_once(struct run *run, bool is_last);

/* The other runner is part of this interface. */
#include "engine/flow.h"

#endif
