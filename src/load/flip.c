/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The exact switch of epochs, and the count of events that programs did not see.
 *
 * A program of the query does, with preemption off, on its CPU's control line:
 *	level = busy; busy = level + 1; e = epoch; update copy e; busy = level
 * (The line holds the epoch and the place of that copy's slices; one flip writes both
 * and finds no program half way, so a program sees them agree.)
 * The flip program below runs on that same CPU, in an interrupt that BPF_PROG_TEST_RUN
 * sends (or, for the CPU of the caller, with preemption off), and does:
 *	if (busy) return 1; epoch = wanted; return 0
 * Both are on one CPU, so each sees the other's accesses in program order, and one
 * can only lie wholly inside a gap of the other.  The flip in a gap of a program:
 * before "busy = level + 1" it finds busy 0 and flips, and the program, which reads
 * the epoch later, takes the new one; behind it, it finds busy and leaves the epoch
 * alone; behind "busy = level" the update is complete.  A program in a gap of the
 * flip (an interrupt or NMI on the caller's CPU) has begun and ended before the
 * epoch is written: its update of the old copy is complete.  So when every CPU has
 * returned 0, no program holds the old epoch and none will read it, without waiting
 * for RCU.  The interrupt's completion orders the CPU's stores before our loads.
 *
 * This needs programs that are not preempted half way, since another task's
 * program would then put busy back under them.  Tracepoint programs are not: the
 * tracepoint itself disables preemption, and since 6.13, where system call
 * tracepoints may sleep, their BPF and perf probes do (commits 4aadde89d81f and
 * 65e7462a16ce).  Replayed programs run one at a time, in our own system call.
 *
 * An offline CPU answers ENXIO and runs no probe (tracepoints have cpu_online() as
 * their condition), so its epoch is stored from here; asked again, it must still be
 * offline, or else it answers as the others do.
 *
 * Measured on 2 CPUs: see tests/load, which prints it.
 */
#include <errno.h>
#include <sched.h>
#include <stddef.h>
#include <string.h>

#include "load/internal.h"

/*
 * Context: the epoch to set, and where this CPU's slices of that copy begin.  Setting (not
 * toggling) lets a half-done flip be repeated.  Returns 1 when this CPU is busy, else 0.
 */
static int flip_program_load(const struct load *load)
{
	const int fd = load->map_fds[LOAD_MAP_CONTROL];
	const s32 n_cpus = load->phys->state.n_cpus;
	const u8 load64 = BPF_LDX | BPF_MEM | BPF_DW, store64 = BPF_STX | BPF_MEM | BPF_DW;
	const u8 move = BPF_ALU64 | BPF_MOV;
	const struct bpf_insn insns[] = {
		{ .code = load64, .dst_reg = BPF_REG_6, .src_reg = BPF_REG_1, .off = 0 },
		{ .code = load64, .dst_reg = BPF_REG_7, .src_reg = BPF_REG_1, .off = 8 },
		{ .code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_get_smp_processor_id },
		{ .code = BPF_JMP | BPF_JGE | BPF_K,
		  .dst_reg = BPF_REG_0,
		  .off = 9,
		  .imm = n_cpus },
		{ .code = BPF_ALU64 | BPF_MUL | BPF_K,
		  .dst_reg = BPF_REG_0,
		  .imm = sizeof(struct control_line) },
		{ .code = BPF_LD | BPF_IMM | BPF_DW,
		  .dst_reg = BPF_REG_1,
		  .src_reg = BPF_PSEUDO_MAP_VALUE,
		  .imm = fd },
		{ 0 },
		{ .code = BPF_ALU64 | BPF_ADD | BPF_X, .dst_reg = BPF_REG_1, .src_reg = BPF_REG_0 },
		{ .code = load64,
		  .dst_reg = BPF_REG_2,
		  .src_reg = BPF_REG_1,
		  .off = offsetof(struct control_line, busy) },
		{ .code = BPF_JMP | BPF_JNE | BPF_K, .dst_reg = BPF_REG_2, .off = 4, .imm = 0 },
		{ .code = store64,
		  .dst_reg = BPF_REG_1,
		  .src_reg = BPF_REG_6,
		  .off = offsetof(struct control_line, epoch) },
		{ .code = store64,
		  .dst_reg = BPF_REG_1,
		  .src_reg = BPF_REG_7,
		  .off = offsetof(struct control_line, slice_offset) },
		{ .code = move | BPF_K, .dst_reg = BPF_REG_0, .imm = 0 },
		{ .code = BPF_JMP | BPF_EXIT },
		{ .code = move | BPF_K, .dst_reg = BPF_REG_0, .imm = 1 },
		{ .code = BPF_JMP | BPF_EXIT },
	};

	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.prog_type = BPF_PROG_TYPE_RAW_TRACEPOINT;
	attr.insns = sys_pointer(insns);
	attr.insn_cnt = ARRAY_SIZE(insns);
	attr.license = sys_pointer(LOAD_LICENSE);
	strcpy(attr.prog_name, "ebql_flip");
	return sys_prog_load(&attr);
}

int load_flip_open(struct load *load, struct diags *diags)
{
	int fd = flip_program_load(load);

	if (fd >= 0) {
		load->flip_fd = fd;
		return 0;
	}
	if (!load_refused(-fd, "load BPF programs", diags))
		diag_plain(diags, "verifier", "the kernel refused the epoch program: %s",
			   strerror(-fd));
	return fd;
}

/* Programs run for less than a microsecond: a CPU that is busy for so long is stuck. */
#define FLIP_TIMEOUT_NS (2ull * 1000 * 1000 * 1000)

/* Runs the flip program on this CPU: what it returns (0 or 1), or -errno. */
static int flip_run(struct load *load, u32 cpu, u64 epoch)
{
	u64 context[2] = { epoch, state_slice_offset(&load->phys->state, epoch, cpu, 0) };
	u32 value;
	int err = sys_prog_test_run(load->flip_fd, context, sizeof(context), BPF_F_TEST_RUN_ON_CPU,
				    cpu, &value);

	return err ? err : (int)value;
}

static int flip_cpu(struct load *load, u32 cpu, u64 epoch, u64 deadline_ns)
{
	int ret = flip_run(load, cpu, epoch);

	if (ret == -ENXIO) {
		__atomic_store_n(&load->control[cpu].slice_offset,
				 state_slice_offset(&load->phys->state, epoch, cpu, 0),
				 __ATOMIC_SEQ_CST);
		__atomic_store_n(&load->control[cpu].epoch, epoch, __ATOMIC_SEQ_CST);
		ret = flip_run(load, cpu, epoch);
		if (ret == -ENXIO)
			return 0;
	}
	/* Busy: the interrupt has hit a program, which goes on when the interrupt returns. */
	while (ret == 1 && base_monotonic_ns() < deadline_ns) {
		sched_yield();
		ret = flip_run(load, cpu, epoch);
		if (ret == -ENXIO) /* it went offline, which no program can be in the way of */
			return flip_cpu(load, cpu, epoch, deadline_ns);
	}
	return ret == 1 ? -EBUSY : ret;
}

int load_flip(struct load *load)
{
	u64 deadline_ns = base_monotonic_ns() + FLIP_TIMEOUT_NS;
	u64 epoch = load->epoch ^ 1;

	for (u32 cpu = 0; cpu < load->phys->state.n_cpus; cpu++) {
		int err = flip_cpu(load, cpu, epoch, deadline_ns);

		if (err)
			return err;
	}
	load->epoch = epoch;
	return 0;
}

/* Monotonic; one system call, 1-2 us, a program. */
static u64 recursion_misses(int fd)
{
	struct bpf_prog_info info;

	/* Kernels before 5.12 leave the field 0. */
	return sys_prog_info(fd, &info) ? 0 : info.recursion_misses;
}

/*
 * The kernel skips a program when it is already running on this CPU; for perf
 * tracepoints it skips it when any tracing program is, and counts that since 6.7
 * (trace_call_bpf()).  To these come the events that our programs gave up on
 * because every level of the CPU was in use.
 */
u64 load_missed(struct load *load)
{
	u64 missed = 0, control_missed = 0;

	for (u32 i = 0; i < load->n_programs; i++) {
		struct load_program *program = &load->programs[i];
		u64 now = program->fd >= 0 ? recursion_misses(program->fd) : 0;

		if (now > program->missed_before) {
			missed += now - program->missed_before;
			program->missed_before = now;
		}
	}
	for (u32 cpu = 0; cpu < load->phys->state.n_cpus; cpu++)
		control_missed += __atomic_load_n(&load->control[cpu].missed, __ATOMIC_RELAXED);
	missed += control_missed - load->control_missed_before;
	load->control_missed_before = control_missed;
	return missed;
}
