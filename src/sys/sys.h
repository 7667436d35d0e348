/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * bpf(2), perf_event_open(2), tracefs, and what this process may ask of them.  Own wrappers, since
 * libbpf's load two programs to learn of the kernel before they create the first map (45-80 us
 * at every start).  What returns an int returns a descriptor or 0, or -errno.
 */
#ifndef EBQL_SYS_SYS_H
#define EBQL_SYS_SYS_H

#include <linux/bpf.h>
#include <linux/capability.h>
#include <linux/version.h>
#include <unistd.h>

#include "base/base.h"

/* Newer than the headers of some distributions. */
#ifndef CAP_PERFMON
#define CAP_PERFMON 38
#define CAP_BPF	    39
#endif

/* KERNEL_VERSION() of the running kernel. */
u32 sys_kernel_version(void);

/* The first thing a program does: see rights.c.  Without it all stays effective that is. */
void sys_rights_init(void);
/*
 * No call needs more than the user's own rights any more: no capability is effective, and but
 * those of `kept` (SYS_CAP() of some, or all bits) none can become so again.
 */
void sys_rights_rest(u64 kept);
/* As after sys_rights_init(), with what was kept. */
void sys_rights_back(void);
/* Of a thread that calls nothing else of this header: it has no capability any more. */
void sys_rights_drop(void);
/* Is this one of CAP_... effective, here or where it is needed? */
bool sys_has_capability(u32 capability);
#define SYS_CAP(capability) (1ull << (capability))
/* The least that lets a user run queries. */
#define SYS_SETCAP "setcap cap_bpf,cap_perfmon,cap_dac_read_search=p "

/*
 * tracefs' root for sys_tracefs_file(): where it is mounted, else a mount of our own that nobody
 * else sees.  A descriptor; -EMFILE, -ENFILE; -ENODEV: it cannot be had.
 */
int sys_tracefs_open(void);
/* The descriptor of a file below it, for reading. */
int sys_tracefs_file(int tracefs_fd, const char *path);

/* /proc/kallsyms, with the addresses where this process may see them. */
int sys_kallsyms_open(void);
/* A file of /proc/PID, as CAP_SYS_PTRACE lets others see them, where there is that. */
int sys_process_file(u32 pid, const char *path);

/* Only the fields of `attr` that are set matter; see bpf(2). */
int sys_bpf(enum bpf_cmd command, union bpf_attr *attr);

int sys_map_create(enum bpf_map_type type, const char *name, u32 key_bytes, u32 value_bytes,
		   u32 max_entries, u32 flags);
/* The memory of a BPF_F_MMAPABLE array, to read and to write; see munmap(2). */
int sys_map_memory(int fd, size_t bytes, void **ret_at);
/* UPDATE, LOOKUP, DELETE, NEXT_KEY (value: the next key; key NULL: the first one) of an element. */
int sys_map_element(enum bpf_cmd command, int fd, const void *key, void *value);
/* Looks up and deletes *count elements at most, of those behind the position `from`. */
int sys_map_take_batch(int fd, const void *from, void *ret_position, void *keys, void *values,
		       u32 *count);
int sys_map_freeze(int fd);
/* Repeats what a signal interrupted (EAGAIN). */
int sys_prog_load(union bpf_attr *attr);
int sys_btf_load(const void *btf, u32 bytes);
/* struct bpf_map_info or bpf_prog_info, as the descriptor is. */
int sys_info(int fd, void *ret_info, u32 bytes);
/*
 * A descriptor: while it is open the kernel measures the run time of all BPF programs of the
 * machine (5.8; CAP_SYS_ADMIN).
 */
int sys_run_time_open(void);
/* The number that the kernel has for a module's BTF, or -errno (-ENOENT: it has none such); and a
 * descriptor of what has the number.  Both take CAP_SYS_ADMIN. */
s64 sys_btf_of_module(const char *module);
int sys_btf_open(u32 number);
/* The program's return value goes to *ret_value. */
int sys_prog_test_run(int fd, void *context, u32 context_bytes, u32 flags, u32 cpu, u32 *ret_value);
/* NULL: the typed one that the program was loaded for. */
int sys_raw_tracepoint_open(const char *name, int prog_fd);
/* The link of an iterator's program; and what read(2) walks its list by, once, from the start. */
int sys_iterator_link(int prog_fd);
int sys_iterator_open(int link_fd);
/* The perf event of a tracepoint, bound to one CPU. */
int sys_perf_open(u32 tracepoint_id, u32 cpu);
/* That of a place in a file's code, or of the return from there. */
struct sys_uprobe {
	u64 offset;
	u64 semaphore_offset; /* of 16 bits in the file's data that count who listens; 0: none */
	s32 pid;	      /* of this process alone; 0: of any */
	bool is_return;
};
/* -ENODEV: no uprobes here. */
int sys_uprobe_open(int file_fd, const struct sys_uprobe *probe);
/* In a file of its own, which nothing runs (6.3). */
int sys_uprobe_open_own(void);
bool sys_has_uprobes(u32 *ret_type);
/* That of a function's entry (offset_bytes: a place within) or return; -ENODEV: no kprobes here. */
int sys_kprobe_open(const char *function, u32 offset_bytes, bool is_return);
int sys_kprobe_open_at(u64 address, bool is_return);
/* That of another kind: the period-th each of `type`, `config` (PERF_TYPE_, PERF_COUNT_) on a CPU.
 */
/* It does not count until it is enabled. */
int sys_sample_open(u32 type, u64 config, u64 period, u32 cpu);
int sys_perf_enable(int perf_fd);
/* What it counted (of a clock ns), since then. */
u64 sys_perf_count(int perf_fd);
/* Attached until both are closed; *ret_link_fd stays as it is where there are no links (< 5.15). */
int sys_perf_attach(int perf_fd, int prog_fd, u64 cookie, int *ret_link_fd);
/* One link to all these functions, whose names are at these addresses; or -errno. */
int sys_kprobe_multi_open(int prog_fd, const u64 *names, const u64 *cookies, u32 n, bool is_return);
/* The same to places of a file, each with a cookie; the program was loaded for that. */
#define SYS_TRACE_UPROBE_MULTI ((enum bpf_attach_type)48)
struct sys_uprobes {
	const u64 *offsets, *semaphore_offsets, *cookies;
	u32 n;
	s32 pid; /* of this process alone (6.10: all its threads); 0: of any */
	bool is_return;
};
int sys_uprobe_multi_open(int prog_fd, int file_fd, const struct sys_uprobes *probes);

static inline u64 sys_pointer(const void *at)
{
	return (u64)(uintptr_t)at;
}

static inline void sys_close(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

#endif
