/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A short look at the rates of system calls, for the choice of the access path:
 * a raw tracepoint program counts all of them and the wanted ones, per CPU.
 */
#include <errno.h>
#include <sys/mman.h>
#include <time.h>

#include "load/internal.h"

/* One line a CPU: as many bytes as the control map has, no two CPUs on one cache line. */
struct survey_line {
	u64 all, wanted, unused[14];
};

static struct ir *survey_program(s32 syscall_nr, u32 n_cpus, struct arena *arena)
{
	struct ir *ir = ir_new(arena);
	vreg cpu = ir_reg(ir), line = ir_reg(ir), all = ir_reg(ir), wanted = ir_reg(ir);
	vreg number = ir_reg(ir), offset = ir_reg(ir);
	label out = ir_label(ir);

	ir_load(ir, number, ir_context(ir), 8, IR_U64);
	ir_call(ir, cpu, BPF_FUNC_get_smp_processor_id, 0, NULL);
	ir_branchi(ir, IR_GE, cpu, n_cpus, out);
	ir_alui(ir, IR_MUL, offset, cpu, sizeof(struct survey_line));
	ir_map_value(ir, line, 0, 0);
	ir_alu(ir, IR_ADD, line, line, offset);
	ir_load(ir, all, line, offsetof(struct survey_line, all), IR_U64);
	ir_alui(ir, IR_ADD, all, all, 1);
	ir_store(ir, line, offsetof(struct survey_line, all), IR_U64, all);
	ir_branchi(ir, IR_NE, number, syscall_nr, out);
	ir_load(ir, wanted, line, offsetof(struct survey_line, wanted), IR_U64);
	ir_alui(ir, IR_ADD, wanted, wanted, 1);
	ir_store(ir, line, offsetof(struct survey_line, wanted), IR_U64, wanted);
	ir_place(ir, out);
	ir_exit(ir, 0);
	return ir;
}

static int survey_load(struct ir *ir, int map_fd, struct arena *arena)
{
	const struct bpf_features features = { 0 };
	const char *reason;
	struct bpf_code code;
	union bpf_attr attr = { 0 };

	if (bpf_compile(ir, arena, &features, &code, &reason))
		BUG("survey: %s", reason);
	for (u32 i = 0; i < code.n_relocs; i++)
		code.insns[code.relocs[i].insn].imm = map_fd;
	attr.prog_type = BPF_PROG_TYPE_RAW_TRACEPOINT;
	attr.insns = sys_pointer(code.insns);
	attr.insn_cnt = code.n_insns;
	attr.license = sys_pointer(LOAD_LICENSE);
	return sys_prog_load(&attr);
}

/* Attached for the duration; 0 or -errno. */
static int survey_watch(int prog_fd, u64 duration_ns)
{
	struct timespec time = { (time_t)(duration_ns / 1000000000),
				 (long)(duration_ns % 1000000000) };
	int link_fd = sys_raw_tracepoint_open("sys_enter", prog_fd);

	if (link_fd < 0)
		return link_fd;
	while (nanosleep(&time, &time) < 0 && errno == EINTR)
		;
	close(link_fd);
	return 0;
}

double load_survey(s32 syscall_nr, u64 duration_ns, struct arena *arena)
{
	u32 n_cpus = load_possible_cpus();
	size_t bytes = n_cpus * sizeof(struct survey_line);
	int map_fd, prog_fd = -1, err;
	struct survey_line *lines, sum = { 0 };
	void *at;

	map_fd = sys_map_create(BPF_MAP_TYPE_ARRAY, "ebql_survey", 4, bytes, 1, BPF_F_MMAPABLE);
	if (map_fd < 0)
		return map_fd;
	err = sys_map_memory(map_fd, bytes, &at);
	if (!err) {
		lines = at;
		prog_fd = survey_load(survey_program(syscall_nr, n_cpus, arena), map_fd, arena);
		err = prog_fd < 0 ? prog_fd : survey_watch(prog_fd, duration_ns);
		for (u32 i = 0; i < n_cpus; i++) {
			sum.all += lines[i].all;
			sum.wanted += lines[i].wanted;
		}
		munmap(at, bytes);
	}
	sys_close(&prog_fd);
	sys_close(&map_fd);
	if (err)
		return err;
	return sum.all ? (double)sum.wanted / (double)sum.all : 0;
}
