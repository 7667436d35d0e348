/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The yardsticks: what a careful programmer writes by hand for
 *
 *	SELECT fd, cpu, COUNT(*), MAX(count), AVG(count) ... GROUP BY fd, cpu WHERE pid == N
 *
 * with the kernel's own per-CPU hash map, once on the system call's tracepoint and
 * once on the raw tracepoint; and an empty program on each, the floor of the hook.
 * It has no windows: a reader would walk and delete the map, and lose what comes
 * between.
 */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

char _license[] SEC("license") = "Dual BSD/GPL";

/* Known when the program is loaded, so the verifier folds them into the code. */
const volatile __u32 wanted_pid = 0;
const volatile __u64 wanted_nr = 0;

struct group_key {
	__u32 fd;
	__u32 cpu;
};

struct group_value {
	__u64 count;
	__u64 sum;
	__u64 max;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_HASH);
	__uint(max_entries, 16384);
	__type(key, struct group_key);
	__type(value, struct group_value);
} groups SEC(".maps");

/* The record of events/syscalls/sys_enter_pread64/format. */
struct enter_pread64 {
	__u64 common;
	__s32 nr;
	__u32 padding;
	__u64 fd;
	__u64 buf;
	__u64 count;
	__s64 pos;
};

/* struct pt_regs, as far as needed: its layout is part of the ABI. */
struct registers {
#if defined(__TARGET_ARCH_arm64)
	__u64 x[31];
#define REGISTER_FD    x[0]
#define REGISTER_COUNT x[2]
#else
	__u64 r15, r14, r13, r12, bp, bx, r11, r10, r9, r8, ax, cx, dx, si, di;
#define REGISTER_FD    di
#define REGISTER_COUNT dx
#endif
};

static __always_inline void account(__u32 fd, __u64 bytes)
{
	struct group_key key = { .fd = fd, .cpu = bpf_get_smp_processor_id() };
	struct group_value first = { .count = 1, .sum = bytes, .max = bytes };
	struct group_value *value = bpf_map_lookup_elem(&groups, &key);

	if (!value) {
		if (bpf_map_update_elem(&groups, &key, &first, BPF_NOEXIST) == 0)
			return;
		value = bpf_map_lookup_elem(&groups, &key); /* another was quicker */
		if (!value)
			return;
	}
	value->count++;
	value->sum += bytes;
	if (bytes > value->max)
		value->max = bytes;
}

SEC("tracepoint/syscalls/sys_enter_pread64")
int hand_tracepoint(struct enter_pread64 *record)
{
	if ((__u32)(bpf_get_current_pid_tgid() >> 32) != wanted_pid)
		return 0;
	account((__u32)record->fd, record->count);
	return 0;
}

SEC("raw_tp/sys_enter")
int hand_raw(struct bpf_raw_tracepoint_args *ctx)
{
	const struct registers *registers = (const void *)ctx->args[0];
	__u64 fd, bytes;

	if (ctx->args[1] != wanted_nr)
		return 0;
	if ((__u32)(bpf_get_current_pid_tgid() >> 32) != wanted_pid)
		return 0;
	if (bpf_probe_read_kernel(&fd, sizeof(fd), &registers->REGISTER_FD) ||
	    bpf_probe_read_kernel(&bytes, sizeof(bytes), &registers->REGISTER_COUNT))
		return 0;
	account((__u32)fd, bytes);
	return 0;
}

SEC("tracepoint/syscalls/sys_enter_pread64")
int empty_tracepoint(void *record)
{
	return 0;
}

SEC("raw_tp/sys_enter")
int empty_raw(struct bpf_raw_tracepoint_args *ctx)
{
	return 0;
}
