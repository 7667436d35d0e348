/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Counters: of the slice that a part has, or of the control line where it only stores starts.
 */
#include "gen/internal.h"

/* A part that only stores starts here has no slice: what it counts stands in the control line. */
static void count_start(struct gen *g, u32 offset_bytes)
{
	struct ir *ir = g->ir;
	vreg cpu = gen_current_cpu(g), line;
	label unknown = ir_label(ir);

	ir_branchi(ir, IR_GE, cpu, g->phys->state.n_cpus, unknown);
	line = gen_element(g, load_map_number(g->phys, LOAD_MAP_CONTROL), 0, cpu,
			   sizeof(struct control_line));
	ir_atomic(ir, IR_ATOMIC_ADD, 0, line, (s32)offset_bytes, gen_imm(g, 1));
	ir_place(ir, unknown);
}

/* Those that a part without a slice has; 0, which is start_faults: none. */
static const u32 start_counters[COUNTER_N] = {
	[COUNTER_NEGATIVE] = offsetof(struct control_line, start_negative),
	[COUNTER_EVICTED] = offsetof(struct control_line, start_evicted),
	[COUNTER_RUNNING_FULL] = offsetof(struct control_line, start_running_full),
};

void gen_count(struct gen *g, enum counter counter)
{
	BUG_ON(!g->slice && counter != COUNTER_FAULT && !start_counters[counter]);
	if (g->slice)
		gen_add_one(g, g->slice, 8 * counter);
	else
		count_start(g, start_counters[counter]);
}

void gen_count_unpaired(struct gen *g, enum unpaired kind)
{
	if (g->slice)
		gen_add_one(g, g->slice, 8 * (COUNTER_UNPAIRED + kind));
	else
		count_start(g, (u32)(offsetof(struct control_line, unpaired) + 8 * kind));
}

void gen_count_stored(struct gen *g)
{
	if (g->set->is_checked)
		count_start(g, offsetof(struct control_line, n_starts));
}

void gen_count_taken(struct gen *g)
{
	if (g->slice)
		gen_add_one(g, g->slice, 8 * COUNTER_TAKEN);
	else
		count_start(g, offsetof(struct control_line, n_taken));
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

static void require(struct gen *g, label ok, label null)
{
	gen_count_fault(g);
	ir_jump(g->ir, null);
	ir_place(g->ir, ok);
}

void gen_require(struct gen *g, enum ir_condition condition, vreg a, vreg b, label null)
{
	label ok = ir_label(g->ir);

	ir_branch(g->ir, condition, a, b, ok);
	require(g, ok, null);
}

void gen_requirei(struct gen *g, enum ir_condition condition, vreg a, s64 b, label null)
{
	label ok = ir_label(g->ir);

	ir_branchi(g->ir, condition, a, b, ok);
	require(g, ok, null);
}
