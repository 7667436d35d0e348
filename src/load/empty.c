/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Programs as they are written, most of them empty, and what measuring costs: the kernel reads its
 * clock ahead of each program and behind it, and one of the two readings lies within the time that
 * it tells.
 */
#include <string.h>
#include <unistd.h>

#include "load/internal.h"

#define RUNS 1000

int load_insns(union bpf_attr *attr, const struct bpf_insn *insns, u32 n)
{
	attr->insns = sys_pointer(insns);
	attr->insn_cnt = n;
	attr->license = sys_pointer(LOAD_LICENSE);
	return sys_prog_load(attr);
}

int load_empty(union bpf_attr *attr)
{
	const struct bpf_insn insns[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K },
		{ .code = BPF_JMP | BPF_EXIT },
	};

	return load_insns(attr, insns, ARRAY_SIZE(insns));
}

s32 load_initial_pid(void)
{
	const struct bpf_insn insns[] = {
		{ .code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_get_current_pid_tgid },
		{ .code = BPF_ALU64 | BPF_RSH | BPF_K, .imm = 32 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	union bpf_attr attr;
	u64 context = 0;
	u32 pid;
	int fd;

	memset(&attr, 0, sizeof(attr));
	attr.prog_type = BPF_PROG_TYPE_RAW_TRACEPOINT;
	fd = load_insns(&attr, insns, ARRAY_SIZE(insns));
	if (fd < 0 || sys_prog_test_run(fd, &context, sizeof(context), 0, 0, &pid))
		pid = (u32)getpid();
	sys_close(&fd);
	return (s32)pid;
}

u64 load_empty_run_ns(void)
{
	struct bpf_prog_info info = { 0 };
	union bpf_attr attr;
	u64 context = 0;
	u32 value;
	int fd;

	memset(&attr, 0, sizeof(attr));
	attr.prog_type = BPF_PROG_TYPE_RAW_TRACEPOINT;
	fd = load_empty(&attr);
	for (u32 i = 0; i < RUNS && fd >= 0; i++)
		if (sys_prog_test_run(fd, &context, sizeof(context), 0, 0, &value))
			break;
	if (fd >= 0 && sys_info(fd, &info, sizeof(info)))
		info.run_cnt = 0;
	sys_close(&fd);
	return info.run_cnt ? info.run_time_ns / info.run_cnt : 0;
}
