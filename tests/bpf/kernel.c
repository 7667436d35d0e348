/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Loads and runs what the encoder wrote, by plain bpf(2).
 */
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kernel.h"
#include "sys/sys.h"

static int map_create(u32 value_bytes, u32 n)
{
	return sys_map_create(BPF_MAP_TYPE_ARRAY, NULL, 4, value_bytes, n, BPF_F_MMAPABLE);
}

static u8 *map_memory(int fd, size_t bytes)
{
	void *at;

	return sys_map_memory(fd, bytes, &at) ? NULL : at;
}

/* One CPU, so that bpf_get_smp_processor_id() is known. */
static u32 stay_on_cpu(void)
{
	u32 cpu = (u32)sched_getcpu();
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	BUG_ON(sched_setaffinity(0, sizeof(set), &set));
	return cpu;
}

/* Asks the verifier, not the version: r0 = 6; r0 s/= 3; exit. */
static bool takes_signed_division(void)
{
	struct bpf_insn insns[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .imm = 6 },
		{ .code = BPF_ALU64 | BPF_DIV | BPF_K, .off = 1, .imm = 3 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	union bpf_attr attr = { .prog_type = BPF_PROG_TYPE_RAW_TRACEPOINT,
				.insns = (uintptr_t)insns,
				.insn_cnt = ARRAY_SIZE(insns),
				.license = (uintptr_t) "Dual BSD/GPL" };
	int fd = sys_prog_load(&attr);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

const char *kernel_open(struct kernel *kernel)
{
	memset(kernel, 0, sizeof(*kernel));
	kernel->maps[0] = map_create(ENV_BYTES, 1);
	if (kernel->maps[0] < 0)
		return kernel->maps[0] == -EPERM ? "no privilege to create BPF maps (CAP_BPF)"
						 : "BPF maps cannot be created";
	kernel->maps[1] = map_create(ENV_ROW_BYTES, ENV_ROWS);
	BUG_ON(kernel->maps[1] < 0);
	kernel->env.data = map_memory(kernel->maps[0], ENV_BYTES);
	kernel->env.rows = map_memory(kernel->maps[1], 4096);
	kernel->log = malloc(KERNEL_LOG_BYTES);
	BUG_ON(!kernel->env.data || !kernel->env.rows || !kernel->log);
	kernel->env.pid_tgid = (u64)getpid() << 32 | (u32)syscall(SYS_gettid);
	kernel->env.cpu = stay_on_cpu();
	kernel->has_signed_division = takes_signed_division();
	return NULL;
}

void kernel_close(struct kernel *kernel)
{
	if (kernel->env.data)
		munmap(kernel->env.data, ENV_BYTES);
	if (kernel->env.rows)
		munmap(kernel->env.rows, 4096);
	free(kernel->log);
	close(kernel->maps[0]);
	close(kernel->maps[1]);
}

int kernel_load(struct kernel *kernel, struct arena *arena, const struct bpf_code *code,
		const struct bpf_debug_info *info, u32 log_level)
{
	struct bpf_insn *insns = arena_array(arena, struct bpf_insn, code->n_insns);
	union bpf_attr attr = { .prog_type = BPF_PROG_TYPE_RAW_TRACEPOINT,
				.insns = (uintptr_t)insns,
				.insn_cnt = code->n_insns,
				.license = (uintptr_t) "Dual BSD/GPL",
				.log_level = log_level };
	int btf = -1, fd;

	memcpy(insns, code->insns, code->n_insns * sizeof(*insns));
	for (u32 i = 0; i < code->n_relocs; i++)
		insns[code->relocs[i].insn].imm = kernel->maps[code->relocs[i].map];
	kernel->log[0] = '\0';
	if (log_level) {
		attr.log_buf = (uintptr_t)kernel->log;
		attr.log_size = KERNEL_LOG_BYTES;
	}
	if (info) {
		btf = sys_btf_load(info->btf, info->btf_bytes);
		if (btf < 0)
			return btf;
		attr.prog_btf_fd = (u32)btf;
		attr.func_info = (uintptr_t)info->funcs;
		attr.func_info_cnt = info->n_funcs;
		attr.func_info_rec_size = sizeof(info->funcs[0]);
		attr.line_info = (uintptr_t)info->lines;
		attr.line_info_cnt = info->n_lines;
		attr.line_info_rec_size = sizeof(info->lines[0]);
	}
	fd = sys_prog_load(&attr);
	if (btf >= 0)
		close(btf);
	return fd;
}

int kernel_run(struct kernel *kernel, int fd, s32 *ret_value)
{
	return sys_prog_test_run(fd, kernel->env.ctx, sizeof(kernel->env.ctx), 0, 0,
				 (u32 *)ret_value);
}
