/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The commands of bpf(2) that this layer uses.  Own wrappers, since libbpf's load
 * two programs to learn of the kernel before they create the first map (45-80 us
 * at every start).  Each returns a descriptor or 0, or -errno.
 */
#ifndef EBQL_LOAD_SYS_H
#define EBQL_LOAD_SYS_H

#include <linux/bpf.h>

#include "base/base.h"

/* Only the fields of `attr` that are set matter; see bpf(2). */
int sys_bpf(enum bpf_cmd command, union bpf_attr *attr);

int sys_map_create(enum bpf_map_type type, const char *name, u32 key_bytes, u32 value_bytes,
		   u32 max_entries, u32 flags);
/* Stores the value of key 0 of an array. */
int sys_map_store(int fd, const void *value);
int sys_map_freeze(int fd);
/* Repeats what a signal interrupted (EAGAIN). */
int sys_prog_load(union bpf_attr *attr);
int sys_btf_load(const void *btf, u32 bytes);
int sys_prog_info(int fd, struct bpf_prog_info *ret_info);
/* The program's return value goes to *ret_value. */
int sys_prog_test_run(int fd, void *context, u32 context_bytes, u32 flags, u32 cpu, u32 *ret_value);
int sys_raw_tracepoint_open(const char *name, int prog_fd);
int sys_perf_link_create(int prog_fd, int perf_fd);

static inline u64 sys_pointer(const void *at)
{
	return (u64)(uintptr_t)at;
}

#endif
