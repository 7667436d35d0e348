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
	return load_insns(&attr, code.insns, code.n_insns);
}

int load_survey_begin(struct load_survey *survey, s32 syscall_nr)
{
	u32 n_cpus = load_possible_cpus();
	struct arena arena;
	int prog_fd = -1, err;

	arena_init(&arena);
	*survey = (struct load_survey){ .link_fd = -1,
					.map_fd = -1,
					.bytes = n_cpus * sizeof(struct survey_line) };
	if (!arena_reserve(&arena))
		return -ENOMEM;
	survey->map_fd = sys_map_create(BPF_MAP_TYPE_ARRAY, "ebql_survey", 4, (u32)survey->bytes, 1,
					BPF_F_MMAPABLE);
	err = MIN(survey->map_fd, 0);
	if (!err)
		err = sys_map_memory(survey->map_fd, survey->bytes, &survey->lines);
	if (!err)
		prog_fd = survey_load(survey_program(syscall_nr, n_cpus, &arena), survey->map_fd,
				      &arena);
	if (!err)
		err = MIN(prog_fd, 0);
	if (!err)
		survey->link_fd = sys_raw_tracepoint_open("sys_enter", prog_fd);
	if (!err)
		err = MIN(survey->link_fd, 0);
	survey->ns = base_monotonic_ns();
	sys_close(&prog_fd);
	arena_free(&arena);
	if (err)
		load_survey_end(survey, NULL);
	return err;
}

void load_survey_end(struct load_survey *survey, struct load_closer *closer)
{
	const struct survey_line *lines = survey->lines;

	survey->ns = base_monotonic_ns() - survey->ns;
	if (closer)
		load_closer_take(closer, &survey->link_fd);
	sys_close(&survey->link_fd);
	for (u32 i = 0; lines && i < survey->bytes / sizeof(*lines); i++) {
		survey->n_all += lines[i].all;
		survey->n_wanted += lines[i].wanted;
	}
	if (lines)
		munmap(survey->lines, survey->bytes);
	survey->lines = NULL;
	sys_close(&survey->map_fd);
}

double load_survey(s32 syscall_nr, u64 duration_ns)
{
	struct timespec time = { (time_t)(duration_ns / 1000000000),
				 (long)(duration_ns % 1000000000) };
	struct load_survey survey;
	int err = load_survey_begin(&survey, syscall_nr);

	if (err)
		return err;
	while (nanosleep(&time, &time) < 0 && errno == EINTR)
		;
	load_survey_end(&survey, NULL);
	return survey.n_all ? (double)survey.n_wanted / (double)survey.n_all : 0;
}
