/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Counters: of the slice that a part has, or of the control line where it only stores starts.
 */
#include "gen/internal.h"

static vreg counter_add(struct gen *g, vreg base, s32 offset)
{
	vreg v = ir_reg(g->ir);

	ir_load(g->ir, v, base, offset, IR_U64);
	ir_alui(g->ir, IR_ADD, v, v, 1);
	ir_store(g->ir, base, offset, IR_U64, v);
	return v;
}

/* A part that only stores starts here has no slice: what it counts stands in the control line. */
static void count_start(struct gen *g, u32 offset_bytes)
{
	struct ir *ir = g->ir;
	vreg cpu = gen_current_cpu(g), line = ir_reg(ir), offset = ir_reg(ir), one = ir_reg(ir);
	label unknown = ir_label(ir);

	ir_branchi(ir, IR_GE, cpu, g->phys->state.n_cpus, unknown);
	ir_map_value(ir, line, load_map_number(g->phys, LOAD_MAP_CONTROL), 0);
	ir_alui(ir, IR_MUL, offset, cpu, sizeof(struct control_line));
	ir_alu(ir, IR_ADD, line, line, offset);
	ir_imm(ir, one, 1);
	ir_atomic(ir, IR_ATOMIC_ADD, 0, line, (s32)offset_bytes, IR_U64, one);
	ir_place(ir, unknown);
}

void gen_count(struct gen *g, enum counter counter)
{
	if (g->slice) {
		counter_add(g, g->slice, 8 * (s32)counter);
		return;
	}
	if (counter == COUNTER_FAULT)
		count_start(g, offsetof(struct control_line, start_faults));
	else if (counter == COUNTER_NEGATIVE)
		count_start(g, offsetof(struct control_line, start_negative));
	else if (counter == COUNTER_EVICTED)
		count_start(g, offsetof(struct control_line, start_evicted));
	else if (counter == COUNTER_RUNNING_FULL)
		count_start(g, offsetof(struct control_line, start_running_full));
	else
		BUG("counter %d of a program without a slice", counter);
}

void gen_count_unpaired(struct gen *g, enum unpaired kind)
{
	if (g->slice)
		counter_add(g, g->slice, 8 * (s32)(COUNTER_UNPAIRED + kind));
	else
		count_start(g, (u32)(offsetof(struct control_line, unpaired) + 8 * kind));
}

void gen_count_fault(struct gen *g)
{
	if (g->is_recount)
		return;
	if (g->faults)
		ir_alui(g->ir, IR_OR, g->faults, g->faults, (s64)g->fault_mask);
	else
		gen_count(g, COUNTER_FAULT);
}

void gen_fault(struct gen *g, label null)
{
	gen_count_fault(g);
	ir_jump(g->ir, null);
}
