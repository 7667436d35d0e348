/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What measuring costs: the kernel reads its clock ahead of each program and behind it, and one
 * of the two readings lies within the time that it tells.
 */
#include <string.h>

#include "load/internal.h"

#define RUNS 1000

u64 load_empty_run_ns(void)
{
	const struct bpf_insn insns[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	struct bpf_prog_info info = { 0 };
	union bpf_attr attr;
	u64 context = 0;
	u32 value;
	int fd;

	memset(&attr, 0, sizeof(attr));
	attr.prog_type = BPF_PROG_TYPE_RAW_TRACEPOINT;
	attr.insns = sys_pointer(insns);
	attr.insn_cnt = ARRAY_SIZE(insns);
	attr.license = sys_pointer(LOAD_LICENSE);
	fd = sys_prog_load(&attr);
	for (u32 i = 0; i < RUNS && fd >= 0; i++)
		if (sys_prog_test_run(fd, &context, sizeof(context), 0, 0, &value))
			break;
	if (fd >= 0 && sys_info(fd, &info, sizeof(info)))
		info.run_cnt = 0;
	sys_close(&fd);
	return info.run_cnt ? info.run_time_ns / info.run_cnt : 0;
}
