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
#include <stdbool.h>
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
	__u64 x[31], sp, pc, pstate, orig_x0;
	__s32 syscallno;
#define REGISTER_NR    syscallno
#define REGISTER_FD    x[0]
#define REGISTER_COUNT x[2]
#else
	__u64 r15, r14, r13, r12, bp, bx, r11, r10, r9, r8, ax, cx, dx, si, di, orig_ax;
#define REGISTER_NR    orig_ax
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

struct stream_event {
	__u64 fd, bytes;
};

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 8 << 20);
} stream_ring SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} stream_dropped SEC(".maps");

/* Every event goes to user space, which reads them when it likes. */
SEC("tracepoint/syscalls/sys_enter_pread64")
int stream_tracepoint(struct enter_pread64 *record)
{
	struct stream_event *event;
	__u32 zero = 0;
	__u64 *dropped;

	if ((__u32)(bpf_get_current_pid_tgid() >> 32) != wanted_pid)
		return 0;
	event = bpf_ringbuf_reserve(&stream_ring, sizeof(*event), 0);
	if (!event) {
		dropped = bpf_map_lookup_elem(&stream_dropped, &zero);
		if (dropped)
			__sync_fetch_and_add(dropped, 1);
		return 0;
	}
	event->fd = record->fd;
	event->bytes = record->count;
	bpf_ringbuf_submit(event, BPF_RB_NO_WAKEUP);
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

/*
 * Latency of a system call: the time of its start in a hash by thread, its latency's
 * power of two counted in a per-CPU array, or in a per-CPU hash by (pid, comm).  And
 * the floor: the same two hooks, which find their call and read the time.
 */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 10240);
	__type(key, __u32);
	__type(value, __u64);
} pair_starts SEC(".maps");

#define PAIR_CELLS 64

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, PAIR_CELLS);
	__type(key, __u32);
	__type(value, __u64);
} pair_cells SEC(".maps");

struct pair_key {
	__u32 pid;
	char comm[16];
};

struct pair_value {
	__u64 cells[PAIR_CELLS];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_HASH);
	__uint(max_entries, 10240);
	__type(key, struct pair_key);
	__type(value, struct pair_value);
} pair_groups SEC(".maps");

static const struct pair_value no_pairs SEC(".rodata.zero");

static __always_inline __u32 log2_of(__u64 v)
{
	__u32 r, shift, low = (__u32)(v >> 32);

	r = (low != 0) << 5;
	low = low ? low : (__u32)v;
	shift = (low > 0xffff) << 4;
	low >>= shift;
	r |= shift;
	shift = (low > 0xff) << 3;
	low >>= shift;
	r |= shift;
	shift = (low > 0xf) << 2;
	low >>= shift;
	r |= shift;
	shift = (low > 0x3) << 1;
	low >>= shift;
	r |= shift;
	return r | (low >> 1);
}

/* The latency of the call that ends; false where its start was not seen. */
static __always_inline bool take_latency(__u64 *latency)
{
	__u32 tid = (__u32)bpf_get_current_pid_tgid();
	__u64 *start = bpf_map_lookup_elem(&pair_starts, &tid);

	if (!start)
		return false;
	*latency = bpf_ktime_get_ns() - *start;
	bpf_map_delete_elem(&pair_starts, &tid);
	return true;
}

SEC("raw_tp/sys_enter")
int pair_enter(struct bpf_raw_tracepoint_args *ctx)
{
	__u32 tid;
	__u64 now;

	if (ctx->args[1] != wanted_nr)
		return 0;
	tid = (__u32)bpf_get_current_pid_tgid();
	now = bpf_ktime_get_ns();
	bpf_map_update_elem(&pair_starts, &tid, &now, BPF_ANY);
	return 0;
}

/* tp_btf: the registers may be read directly. */
SEC("tp_btf/sys_exit")
int pair_exit(__u64 *ctx)
{
	const struct registers *registers = (const void *)ctx[0];
	__u64 latency, *cell;
	__u32 i;

	if (registers->REGISTER_NR != wanted_nr || !take_latency(&latency))
		return 0;
	i = log2_of(latency);
	cell = bpf_map_lookup_elem(&pair_cells, &i);
	if (cell)
		(*cell)++;
	return 0;
}

SEC("tp_btf/sys_exit")
int pair_exit_grouped(__u64 *ctx)
{
	const struct registers *registers = (const void *)ctx[0];
	struct pair_key key = {};
	struct pair_value *value;
	__u64 latency;

	if (registers->REGISTER_NR != wanted_nr || !take_latency(&latency))
		return 0;
	key.pid = (__u32)(bpf_get_current_pid_tgid() >> 32);
	bpf_get_current_comm(key.comm, sizeof(key.comm));
	value = bpf_map_lookup_elem(&pair_groups, &key);
	if (!value) {
		bpf_map_update_elem(&pair_groups, &key, &no_pairs, BPF_NOEXIST);
		value = bpf_map_lookup_elem(&pair_groups, &key);
		if (!value)
			return 0;
	}
	value->cells[log2_of(latency) & (PAIR_CELLS - 1)]++;
	return 0;
}

SEC("raw_tp/sys_enter")
int floor_enter(struct bpf_raw_tracepoint_args *ctx)
{
	if (ctx->args[1] == wanted_nr)
		bpf_ktime_get_ns();
	return 0;
}

SEC("tp_btf/sys_exit")
int floor_exit(__u64 *ctx)
{
	const struct registers *registers = (const void *)ctx[0];

	if (registers->REGISTER_NR == wanted_nr)
		bpf_ktime_get_ns();
	return 0;
}

/*
 * bench/rocksdb -g: pread64() by its own function, whose one argument are the registers of the
 * call. Like bench/icount's not loaded unless asked for: not each kernel has trampolines.
 */
#ifndef __TARGET_ARCH_arm64
SEC("?fentry/__x64_sys_pread64")
int empty_pread_fentry(__u64 *ctx)
{
	return 0;
}

SEC("?fentry/__x64_sys_pread64")
int hand_fentry(__u64 *ctx)
{
	const struct registers *registers = (const void *)ctx[0];

	if ((__u32)(bpf_get_current_pid_tgid() >> 32) != wanted_pid)
		return 0;
	account((__u32)registers->REGISTER_FD, registers->REGISTER_COUNT);
	return 0;
}

/*
 * bench/icount: read() by its own function, which is called with the registers, and by the
 * tracepoints; count and latency as above.  Not loaded unless it asks for them.
 */
SEC("?fentry/__x64_sys_read")
int empty_fentry(__u64 *ctx)
{
	return 0;
}

SEC("?fexit/__x64_sys_read")
int empty_fexit(__u64 *ctx)
{
	return 0;
}

SEC("?tracepoint/syscalls/sys_enter_read")
int empty_enter_read(void *record)
{
	return 0;
}

SEC("?tracepoint/syscalls/sys_exit_read")
int empty_exit_read(void *record)
{
	return 0;
}

SEC("?raw_tp/sys_exit")
int empty_raw_exit(void *ctx)
{
	return 0;
}

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} n_reads SEC(".maps");

static __always_inline int count_read(void)
{
	__u32 zero = 0;
	__u64 *n = bpf_map_lookup_elem(&n_reads, &zero);

	if (n)
		(*n)++;
	return 0;
}

SEC("?fentry/__x64_sys_read")
int count_fentry(__u64 *ctx)
{
	return count_read();
}

SEC("?raw_tp/sys_enter")
int count_raw(struct bpf_raw_tracepoint_args *ctx)
{
	return ctx->args[1] == wanted_nr ? count_read() : 0;
}

SEC("?tracepoint/syscalls/sys_enter_read")
int count_tracepoint(void *record)
{
	return count_read();
}

SEC("?fentry/__x64_sys_read")
int pair_fentry(__u64 *ctx)
{
	__u32 tid = (__u32)bpf_get_current_pid_tgid();
	__u64 now = bpf_ktime_get_ns();

	bpf_map_update_elem(&pair_starts, &tid, &now, BPF_ANY);
	return 0;
}

SEC("?fexit/__x64_sys_read")
int pair_fexit(__u64 *ctx)
{
	__u64 latency, *cell;
	__u32 i;

	if (!take_latency(&latency))
		return 0;
	i = log2_of(latency);
	cell = bpf_map_lookup_elem(&pair_cells, &i);
	if (cell)
		(*cell)++;
	return 0;
}
#endif
