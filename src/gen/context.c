/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What helpers and the context give by themselves: results of helpers, reads of memory, the
 * CPU, and the header of a replayed event.
 */
#include "gen/internal.h"

s32 gen_record_offset(const struct gen *g)
{
	return g->kind->has_header ? (s32)sizeof(struct replay_header) : 0;
}

stack_object gen_scratch(struct gen *g)
{
	if (!g->has_scratch)
		g->scratch = ir_stack(g->ir, 8);
	g->has_scratch = true;
	ir_stack_storei(g->ir, g->scratch, 0, IR_U64, 0);
	return g->scratch;
}

vreg gen_untagged(struct gen *g, vreg address)
{
	u8 n_bits = g->set->arch->tag_bits;

	return n_bits ? gen_alui(g, IR_SAR, gen_alui(g, IR_SHL, address, n_bits), n_bits) : address;
}

vreg gen_probe_read(struct gen *g, enum bpf_func_id helper, stack_object object, u32 bytes,
		    vreg address)
{
	bool is_of_user =
		helper == BPF_FUNC_probe_read_user || helper == BPF_FUNC_probe_read_user_str;
	/* The helper takes a tag for a wrong address, unless the program has asked for tags. */
	vreg args[3] = { ir_reg(g->ir), gen_imm(g, bytes),
			 is_of_user ? gen_untagged(g, address) : address };
	vreg result = ir_reg(g->ir);

	ir_stack_address(g->ir, args[0], object, 0);
	ir_call(g->ir, result, helper, 3, args);
	return result;
}

vreg gen_helper(struct gen *g, enum bpf_func_id helper)
{
	vreg v = ir_reg(g->ir);

	ir_call(g->ir, v, helper, 0, NULL);
	return v;
}

static const struct {
	u16 offset;
	enum ir_size size;
} replay_columns[SYS_N] = {
	[SYS_TIME] = { offsetof(struct replay_header, time_ns), IR_U64 },
	[SYS_PID] = { offsetof(struct replay_header, pid), IR_U32 },
	[SYS_TID] = { offsetof(struct replay_header, tid), IR_U32 },
	[SYS_PPID] = { offsetof(struct replay_header, ppid), IR_U32 },
	[SYS_UID] = { offsetof(struct replay_header, uid), IR_U32 },
	[SYS_GID] = { offsetof(struct replay_header, gid), IR_U32 },
	[SYS_COMM] = { offsetof(struct replay_header, comm), IR_U64 },
	[SYS_CPU] = { offsetof(struct replay_header, cpu), IR_U32 },
	[SYS_CGROUP] = { offsetof(struct replay_header, cgroup), IR_U64 },
	[SYS_NUMA_NODE] = { offsetof(struct replay_header, numa_node), IR_U32 },
	[SYS_PROBE] = { offsetof(struct replay_header, probe), IR_U32 },
};

vreg gen_replay_column(struct gen *g, u32 column)
{
	if (column >= SYS_TASK && column != SYS_PROBE) /* a recorded event has none */
		return gen_imm(g, 0);
	return gen_load(g, g->context, replay_columns[column].offset, replay_columns[column].size);
}

vreg gen_current_cpu(struct gen *g)
{
	if (g->kind->has_header)
		return gen_replay_column(g, SYS_CPU);
	return gen_helper(g, BPF_FUNC_get_smp_processor_id);
}

bool gen_has_loads(const struct gen *g)
{
	return g->phys->typed.cast_btf_id != 0;
}

vreg gen_load_word(struct gen *g, vreg address)
{
	vreg args[2] = { address, gen_imm(g, g->phys->typed.long_btf_id) }, pointer = ir_reg(g->ir);

	ir_kernel_call(g->ir, pointer, g->phys->typed.cast_btf_id, ARRAY_SIZE(args), args);
	return gen_load(g, pointer, 0, IR_U64);
}

/* What stands in the kernel's memory where it surely can be read. */
vreg gen_probe_load(struct gen *g, vreg address, enum ir_size size)
{
	stack_object copy;

	if (gen_has_loads(g)) {
		vreg v = gen_load_word(g, address);

		if (size != IR_U64)
			ir_extend(g->ir, v, v, size);
		return v;
	}
	copy = gen_scratch(g);
	gen_probe_read(g, BPF_FUNC_probe_read_kernel, copy, 8, address);
	return gen_stack_load(g, copy, 0, size);
}

/* A system call's tracepoint does not say where they are; the raw one's argument is the same. */
vreg gen_task_registers(struct gen *g)
{
	vreg task = gen_helper(g, BPF_FUNC_get_current_task_btf), registers = ir_reg(g->ir);

	ir_call(g->ir, registers, BPF_FUNC_task_pt_regs, 1, &task);
	return registers;
}

vreg gen_register(struct gen *g, u32 offset_bytes, enum ir_size size)
{
	if (g->hook->is_typed)
		return gen_load(g, g->registers, offset_bytes, size);
	return gen_probe_load(g, gen_alui(g, IR_ADD, g->registers, offset_bytes), size);
}
