/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Where programs find things in the kernel's structs, and stand in files; part of phys.h.
 */
#ifndef EBQL_PHYS_PLACES_H
#define EBQL_PHYS_PLACES_H

#include "base/base.h"

/* Where the numbers of processes are, in bytes: by BTF, of what the part's numbers need. */
struct pid_offsets {
	u32 real_parent, tgid, group_leader, thread_pid; /* in struct task_struct */
	u32 level, numbers;				 /* in struct pid */
	u32 nr, ns;					 /* in struct upid, of which there are */
	u32 inum;					 /* in struct pid_namespace */
};
#define UPID_BYTES 16

/* In bytes: of task_struct.sched_task_group, task_group.cfs_rq and cfs_rq.rq; from a CPU's run
 * queue to its this_cpu_off. */
struct percpu_places {
	u32 group, queues, queue;
	s32 distance;
};

/*
 * A function's entry, where the address to return to is on the stack.  auprobe is where the kernel
 * has what its instruction was: by that it puts that address into the stack itself
 * (is_uprobe_at_func_entry(), 6.12 and stable releases of others); 0: it never does.
 */
struct entry_places {
	bool is_entry, has_ibt;
	u32 utask, auprobe; /* in struct task_struct; in struct uprobe_task */
};

/* Of a program's file. */
struct hook_place {
	u64 offset, semaphore_offset; /* semaphore 0: none */
	u32 name;		      /* the number of its name among those of the hook */
};

#endif
