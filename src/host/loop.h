/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What ends a running query from outside: signals, a duration, a number of windows, the end
 * of a child, a loss.  The loop around the engine's steps.
 */
#ifndef EBQL_HOST_LOOP_H
#define EBQL_HOST_LOOP_H

#include <sys/resource.h>

#include "engine/engine.h"

/* What SQLite may take for all connections together. */
#define HOST_HEAP_BYTES (4ull << 30)

struct host_options {
	u64 duration_ns;     /* 0: until stopped */
	u64 n_windows;	     /* 0: no limit */
	bool counts_partial; /* among these */
	/* Each second, to who waits for its end; NULL: nobody does, and nothing wakes up for it. */
	void (*say_totals)(struct flow *flow, u64 elapsed_ns);
	bool ends_at_loss; /* where windows of time do not end: at once */
	/* -1: none; the run ends with it, and it (SIGTERM, after 1 s SIGKILL) with the run */
	int child_pid;
	bool adopts;	 /* its descendants whose parents are dead: target_tree() is of them, too */
	int child_go_fd; /* a byte written here starts its exec, whose errno comes back */
};

/* Of the command: how long it ran, and what it took with all that it waited for. */
struct host_child {
	u64 start_ns, ns;
	struct rusage usage;
	int status; /* as wait4() gives it; -1: there was none */
};

struct host {
	struct host_options options;
	struct engine *engine;
	struct flow *flow;
	u64 n_given; /* windows and snapshots that count */
	struct host_child child;
	int stop_fd, duration_fd, child_fd;
};

/* load_on_progress() of a program that has signals, and somebody who is told (or NULL). */
extern void (*host_say_progress)(const char *doing, const char *target, u32 n_done, u32 n_all);
bool host_tell_progress(const char *doing, const char *target, u32 n_done, u32 n_all);

/* Starts COMMAND, which waits for the host to run, or for the socket's end; 0 or -errno. */
int host_start_child(struct host_options *options, char **command);
/* The command is over: was it none that could be executed?  It has said why not. */
bool host_child_failed(const struct host_options *options);
/*
 * Takes SIGINT, SIGTERM, SIGHUP (the third such signal kills), one host at a time, and opens
 * the engine.  0 or -errno; host_close() after both.
 */
int host_open(struct host *host, const struct host_options *options);
/*
 * Due when the run was told to end and what is still being computed takes too long: 2 s
 * behind a first signal, none behind a second, 10 s behind the end of the duration.
 */
const struct cancel *host_cancel(void);
/* The same of what is being written, whatever the duration: who reads may take his time. */
const struct cancel *host_cancel_output(void);
/*
 * Runs host->flow (NULL: the command alone) to its end; 0 or -errno: of flow_stop(), or -E2BIG
 * after the diagnostic too-many-windows (of a recording, and no number of them was asked for).
 */
int host_run(struct host *host, struct diags *diags);
/*
 * For who has a loop of his own: host_start(); then host_wait(), which waits until something is
 * due, of the engine too, which it steps, or more_fd is ready (-1: none), or a time is over.  1:
 * the run was told to end; 0; or -errno.
 */
int host_start(struct host *host);
int host_wait(struct host *host, int more_fd, int timeout_ms);
/* Of a recording: -E2BIG after the diagnostic too-many-windows; n_windows: that was asked for. */
int host_check_windows(const struct flow *flow, u64 n_windows, struct diags *diags);
#define HOST_LOSS_POLL_MS 100
/* The sink was given a batch; NULL: it begins.  *n_given: windows and snapshots that count. */
void host_count(struct flow *flow, const struct host_options *options, const struct batch *batch,
		u64 *n_given);
/* The output is complete: the next signal ends the process at once. */
void host_given_all(void);
/* The engine, the child and the signals. */
void host_close(struct host *host);
/* Did it end so that the process ends, too? */
bool host_must_leave(void);
/* The signal that ended the latest run, once; 0: none did since the last call. */
int host_stop_signal(void);

#endif
