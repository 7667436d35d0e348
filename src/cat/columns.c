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
		       COST_TIME },
	[SYS_PID] = { "pid", { TYPE_INT, 32 }, "the process (thread group)", COST_ID },
	[SYS_TID] = { "tid", { TYPE_INT, 32 }, "the thread", COST_ID },
	[SYS_PPID] = { "ppid", { TYPE_INT, 32 }, "the parent process", COST_PPID },
	[SYS_UID] = { "uid",
		      { TYPE_INT, 32 },
		      "the user, as the initial namespace numbers it",
		      COST_ID },
	[SYS_GID] = { "gid",
		      { TYPE_INT, 32 },
		      "the group, as the initial namespace numbers it",
		      COST_ID },
	[SYS_COMM] = { "comm", { TYPE_TEXT, .bytes = COMM_BYTES }, "the thread's name", COST_COMM },
	[SYS_CPU] = { "cpu", { TYPE_INT, 32 }, "the CPU it happened on", COST_NONE },
	[SYS_CGROUP] = { "cgroup",
			 { TYPE_INT, 64 },
			 "id of the process' cgroup (version 2)",
			 COST_ID },
	[SYS_NUMA_NODE] = { "numa_node", { TYPE_INT, 32 }, "the memory node of that CPU", COST_ID },
	[SYS_TASK] = { "task", { TYPE_POINTER, 64 }, "the thread's struct task_struct", COST_ID },
	[SYS_PROBE] = { "probe",
			{ TYPE_TEXT, .bytes = PROBE_BYTES },
			"the stream the event came from",
			COST_NONE },
	[SYS_KSTACK] = { "kstack",
			 { TYPE_STACK, 64 },
			 "the kernel's stack; kstack(n): its n innermost calls",
			 COST_KSTACK },
	[SYS_USTACK] = { "ustack",
			 { TYPE_STACK, 64 },
			 "the program's stack; ustack(n): its n innermost calls",
			 COST_USTACK },
	[SYS_FRAME] = { "__frame", { TYPE_POINTER, 64 }, "", COST_NONE },
	[SYS_TREE] = { "target_tree()", { TYPE_BOOL }, "", COST_PPID },
	[SYS_FUNCTION] = { "__function", { TYPE_INT, 32 }, "", COST_ID },
};
