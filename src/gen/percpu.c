/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A number that each CPU counts for itself, of an object whose memory is per CPU: all of them
 * added up.  Where a CPU has its part, a variable of that CPU says (this_cpu_off), which stands so
 * far from its run queue, as BTF knows; and the run queues are found by the current task's group.
 * (By name few kernels tell where such a variable is: CONFIG_KALLSYMS_ALL.)
 */
#include "gen/internal.h"

static vreg pointer_at(struct gen *g, vreg base, s64 offset_bytes)
{
	return gen_probe_load(g, gen_alui(g, IR_ADD, base, offset_bytes), IR_U64);
}

vreg gen_percpu_sum(struct gen *g, vreg address)
{
	const struct percpu_places *p = &g->hook->percpu;
	struct ir *ir = g->ir;
	vreg sum = gen_imm(g, 0), cpu = gen_imm(g, 0), at;
	vreg group = pointer_at(g, gen_helper(g, BPF_FUNC_get_current_task), p->group);
	vreg queues = pointer_at(g, group, p->queues);
	label next = ir_label(ir);

	ir_place(ir, next);
	at = gen_alu(g, IR_ADD, gen_alui(g, IR_SHL, cpu, 3), queues);
	at = pointer_at(g, gen_probe_load(g, at, IR_U64), p->queue);
	at = gen_alu(g, IR_ADD, pointer_at(g, at, p->distance), address);
	ir_alu(ir, IR_ADD, sum, sum, gen_probe_load(g, at, IR_U64));
	ir_alui(ir, IR_ADD, cpu, cpu, 1);
	ir_branchi(ir, IR_LT, cpu, g->set->n_cpus, next);
	return sum;
}
