/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The few bpf(2) commands by which run reads maps; 0 or -errno.
 */
#ifndef EBQL_DRAIN_SYS_H
#define EBQL_DRAIN_SYS_H

#include <errno.h>
#include <linux/bpf.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/base.h"

static inline int sys_bpf(enum bpf_cmd command, union bpf_attr *attr)
{
	return syscall(SYS_bpf, command, attr, sizeof(*attr)) < 0 ? -errno : 0;
}

static inline u64 sys_pointer(const void *at)
{
	return (u64)(uintptr_t)at;
}

/* NEXT_KEY (value: the next key; key NULL: the first one), LOOKUP and DELETE of one element. */
static inline int sys_map_element(enum bpf_cmd command, int fd, const void *key, void *value)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.map_fd = fd;
	attr.key = sys_pointer(key);
	attr.value = sys_pointer(value);
	return sys_bpf(command, &attr);
}

static inline int sys_map_take_batch(int fd, const void *from, void *ret_position, void *keys,
				     void *values, u32 *count)
{
	union bpf_attr attr;
	int err;

	memset(&attr, 0, sizeof(attr));
	attr.batch.map_fd = fd;
	attr.batch.in_batch = sys_pointer(from);
	attr.batch.out_batch = sys_pointer(ret_position);
	attr.batch.keys = sys_pointer(keys);
	attr.batch.values = sys_pointer(values);
	attr.batch.count = *count;
	err = sys_bpf(BPF_MAP_LOOKUP_AND_DELETE_BATCH, &attr);
	*count = attr.batch.count;
	return err;
}

static inline int sys_map_info(int fd, struct bpf_map_info *ret_info)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	memset(ret_info, 0, sizeof(*ret_info));
	attr.info.bpf_fd = fd;
	attr.info.info_len = sizeof(*ret_info);
	attr.info.info = sys_pointer(ret_info);
	return sys_bpf(BPF_OBJ_GET_INFO_BY_FD, &attr);
}

#endif
