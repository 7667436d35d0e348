/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Writes the snapshot that tests and offline explanations use:
 *   freeze > tests/catalog/kernel-RELEASE.snapshot
 * on a kernel whose tracefs and BTF are readable.  More patterns may follow as
 * arguments; without a pattern of its own a fact is not frozen.
 */
#include <stdio.h>
#include <unistd.h>

#include "snapshot.h"

static const char *const patterns[] = {
	"tracepoint:syscalls:sys_enter_read",
	"tracepoint:syscalls:sys_exit_read",
	"tracepoint:syscalls:sys_enter_write",
	"tracepoint:syscalls:sys_exit_write",
	"tracepoint:syscalls:sys_enter_pread64",
	"tracepoint:syscalls:sys_exit_pread64",
	"tracepoint:syscalls:sys_enter_openat",
	"tracepoint:syscalls:sys_exit_openat",
	"tracepoint:syscalls:sys_enter_sendto",
	"tracepoint:syscalls:sys_exit_sendto",
	"tracepoint:syscalls:sys_enter_newfstat",
	"tracepoint:syscalls:sys_exit_newfstat",
	"tracepoint:syscalls:sys_enter_fsync",
	"tracepoint:syscalls:sys_exit_fsync",
	"tracepoint:syscalls:sys_enter_clone",
	"tracepoint:syscalls:sys_exit_clone",
	"tracepoint:syscalls:sys_enter_clone3",
	"tracepoint:syscalls:sys_exit_clone3",
	"tracepoint:syscalls:sys_enter_fork",
	"tracepoint:syscalls:sys_exit_fork",
	"tracepoint:syscalls:sys_enter_vfork",
	"tracepoint:syscalls:sys_exit_vfork",
	"tracepoint:raw_syscalls:*",
	"tracepoint:sched:sched_switch",
	"tracepoint:sched:sched_wakeup",
	"tracepoint:sched:sched_wakeup_new",
	"tracepoint:sched:sched_waking",
	"tracepoint:sched:sched_process_exec",
	"tracepoint:sched:sched_process_exit",
	"tracepoint:irq:*",
	"tracepoint:block:block_rq_insert",
	"tracepoint:block:block_rq_issue",
	"tracepoint:block:block_rq_complete",
	"tracepoint:kmem:kmem_cache_alloc",
	"tracepoint:sock:inet_sock_set_state",
	"tracepoint:exceptions:page_fault_user",
	"tracepoint:exceptions:page_fault_kernel",
	"raw_tracepoint:sched_switch",
	"raw_tracepoint:sched_wakeup",
	"raw_tracepoint:sched_wakeup_new",
	"raw_tracepoint:sched_migrate_task",
	"raw_tracepoint:sched_process_exec",
	"raw_tracepoint:sys_enter",
	"raw_tracepoint:sys_exit",
	"raw_tracepoint:block_rq_issue",
	"raw_tracepoint:block_rq_insert",
	"raw_tracepoint:block_rq_complete",
	"raw_tracepoint:block_rq_requeue",
	"typedef:btf_trace_sys_enter",
	"typedef:btf_trace_sys_exit",
	"typedef:btf_trace_sched_switch",
	"typedef:btf_trace_sched_wakeup",
	"func:bpf_rdonly_cast",
	"struct:pt_regs",
	"struct:task_struct.thread_info.status",
	"struct:task_struct.real_parent",
	"struct:task_struct.parent",
	"struct:task_struct.group_leader",
	"struct:task_struct.tgid",
	"struct:task_struct.pid",
	"struct:task_struct.comm",
	"struct:task_struct.flags",
	"struct:task_struct.prio",
	"struct:task_struct.start_time",
	"struct:task_struct.mm",
	"struct:task_struct.cred",
	"struct:task_struct.__state",
	"struct:task_struct.on_cpu",
	"struct:task_struct.on_rq",
	"struct:task_struct.thread_info",
	"struct:thread_info.cpu",
	"struct:task_struct.se",
	"struct:sched_entity.cfs_rq",
	"struct:cfs_rq.rq",
	"struct:rq.nr_running",
	"struct:mm_struct.owner",
	"struct:cred.uid.val",
	"struct:cred.gid.val",
	"struct:request.__data_len",
	"struct:request.q",
	"struct:request.__sector",
	"struct:request.state",
	"struct:request_queue.disk",
	"struct:gendisk.major",
	"struct:gendisk.first_minor",
};

int main(int argc, char **argv)
{
	struct catalog *catalog;
	struct arena arena;
	struct buf out;
	int rc, more;

	arena_init(&arena);
	buf_init(&out);
	catalog = catalog_open_live(&arena);
	if (argc > 1)
		rc = snapshot_write(catalog, (const char *const *)argv + 1, argc - 1, &out);
	else
		rc = snapshot_write(catalog, patterns, ARRAY_SIZE(patterns), &out);
	if (rc)
		fprintf(stderr, "freeze: a pattern names nothing on this kernel\n");
	more = buf_flush(&out, STDOUT_FILENO);
	catalog_close(catalog);
	buf_free(&out);
	arena_free(&arena);
	return rc || more;
}
