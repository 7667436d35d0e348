/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The columns that every stream of the kernel has, whatever its event carries.
 * One entry is one column; gen knows how to read it, DESCRIBE prints its line.
 */
#include "cat/cat.h"

#define COMM_BYTES  16 /* TASK_COMM_LEN */
#define PROBE_BYTES 128

const struct system_column_info system_columns[SYS_N] = {
	[SYS_TIME] = { "time",
		       { TYPE_TIMESTAMP, 64, .clock = CLOCK_MONO },
		       "when it happened (CLOCK_MONOTONIC)",
		       30 },
	[SYS_PID] = { "pid", { TYPE_INT, 32 }, "the process (thread group)", 5 },
	[SYS_TID] = { "tid", { TYPE_INT, 32 }, "the thread", 5 },
	[SYS_PPID] = { "ppid", { TYPE_INT, 32 }, "the parent process", 40 },
	[SYS_UID] = { "uid", { TYPE_INT, 32 }, "the user, as the initial namespace numbers it", 5 },
	[SYS_GID] = { "gid",
		      { TYPE_INT, 32 },
		      "the group, as the initial namespace numbers it",
		      5 },
	[SYS_COMM] = { "comm", { TYPE_TEXT, .bytes = COMM_BYTES }, "the thread's name", 19 },
	[SYS_CPU] = { "cpu", { TYPE_INT, 32 }, "the CPU it happened on", 1 },
	[SYS_CGROUP] = { "cgroup", { TYPE_INT, 64 }, "id of the process' cgroup (version 2)", 5 },
	[SYS_NUMA_NODE] = { "numa_node", { TYPE_INT, 32 }, "the memory node of that CPU", 5 },
	[SYS_TASK] = { "task", { TYPE_POINTER, 64 }, "the thread's struct task_struct", 5 },
	[SYS_PROBE] = { "probe",
			{ TYPE_TEXT, .bytes = PROBE_BYTES },
			"the stream the event came from",
			1 },
	[SYS_KSTACK] = { "kstack",
			 { TYPE_STACK, 64 },
			 "the kernel's stack; kstack(n): its n innermost calls",
			 745 },
	[SYS_USTACK] = { "ustack",
			 { TYPE_STACK, 64 },
			 "the program's stack; ustack(n): its n innermost calls",
			 750 },
	[SYS_FRAME] = { "__frame", { TYPE_POINTER, 64 }, "", 1 },
};
