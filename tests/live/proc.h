/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Child processes of the live tests: started with pipes, read as they write,
 * waited for with a limit, killed at the end whatever happened.
 */
#ifndef EBQL_TESTS_PROC_H
#define EBQL_TESTS_PROC_H

#include <sys/resource.h>

#include "base/base.h"
#include "base/buf.h"

/* What the kernel's functions that are system calls begin with. */
#ifdef __aarch64__
#define CALL_PREFIX "__arm64_sys_"
#else
#define CALL_PREFIX "__x64_sys_"
#endif

struct proc {
	int pid;	  /* 0: not started or already waited for */
	int in, out, err; /* our ends; -1: closed */
	struct buf out_text, err_text;
	/* Takes standard output instead of out_text. */
	void (*sink)(void *context, const char *bytes, size_t n);
	void *sink_context;
	u64 start_ns, end_ns; /* CLOCK_MONOTONIC, around the life of the process */
	struct rusage usage;  /* once it ended */
	int status;	      /* exit status, or 128 + signal; -1: still runs */
};

enum proc_flags {
	PROC_NOBODY = 1, /* runs as uid and gid 65534 without capabilities */
};

/* argv[0] is a path.  Fails the test when it cannot be started. */
void proc_start(struct proc *proc, const char *const argv[], u32 flags);
/* Reads what all started processes have to say, for at most so long. */
void proc_pump(int timeout_ms);
/* Pumps until text stands in the process' stderr or stdout; false: not in time, or it ended. */
bool proc_wait_text(struct proc *proc, const char *text, int timeout_ms);
/* Pumps until the process ended; its status, or -1 when not in time. */
int proc_wait_exit(struct proc *proc, int timeout_ms);
void proc_write(struct proc *proc, const char *text);
void proc_close_in(struct proc *proc);
void proc_close_out(struct proc *proc);
void proc_signal(struct proc *proc, int signal);
/* After its end: frees what it said, so that the struct can start another. */
void proc_forget(struct proc *proc);
/* One of its sets, "CapEff" and the like. */
u64 proc_capabilities(int pid, const char *set);
/* Kills what still runs and frees everything of all processes. */
void proc_end_all(void);

/* A file beside this program in the build tree: "../../ebql". */
const char *proc_path(const char *relative);
/* $EBQL or build/ebql; $LOADGEN or build/tests/loadgen. */
const char *proc_ebql(void);
const char *proc_loadgen(void);
/* Does this kernel have functions' probes?  Then it takes trampolines, too. */
bool proc_has_trampolines(void);

#endif
