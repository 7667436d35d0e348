/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Counters: of the slice that a part has, or of the control line where it only stores starts.
 */
#include "gen/internal.h"

/* A part that only stores starts here has no slice: what it counts stands in the control map. */
static void count_in_control(struct gen *g, u64 first_bytes, u32 stride_bytes, u32 offset_bytes)
{
	struct ir *ir = g->ir;
	vreg cpu = gen_current_cpu(g), line;
	label unknown = ir_label(ir);

	ir_branchi(ir, IR_GE, cpu, g->phys->state.n_cpus, unknown);
	line = gen_element(g, load_map_number(g->phys, LOAD_MAP_CONTROL), first_bytes, cpu,
			   stride_bytes);
	ir_atomic(ir, IR_ATOMIC_ADD, 0, line, (s32)offset_bytes, gen_imm(g, 1));
	ir_place(ir, unknown);
}

/* Those that a part without a slice has; 0, which is start_faults: none. */
static const u32 start_counters[COUNTER_N] = {
	[COUNTER_NEGATIVE] = offsetof(struct control_line, start_negative),
	[COUNTER_EVICTED] = offsetof(struct control_line, start_evicted),
	[COUNTER_RUNNING_FULL] = offsetof(struct control_line, start_running_full),
	[COUNTER_OVER_BUDGET] = offsetof(struct control_line, start_over_budget),
};

static void count_start(struct gen *g, u32 offset_bytes)
{
	count_in_control(g, 0, sizeof(struct control_line), offset_bytes);
}

void gen_count_operator(struct gen *g, u32 counter)
{
	const struct state_layout *s = &g->phys->state;
	u32 first_bytes = phys_operator_bytes(g->operator_number);

	if (!s->n_operators)
		return;
	if (g->slice)
		gen_add_one(g, gen_alui(g, IR_ADD, g->slice, phys_operator_bytes(1) + first_bytes),
			    8 * counter);
	else
		count_in_control(g, s->n_cpus * sizeof(struct control_line) + first_bytes,
				 phys_operator_bytes(s->n_operators), 8 * counter);
}

void gen_count_out(struct gen *g)
{
	gen_count_operator(g, COUNTER_MATCHED);
}

/* Of the part, and what is lost of the operator that lost it. */
static void count_for_one(struct gen *g, u32 counter, u32 start_bytes)
{
	BUG_ON(!g->slice && counter != COUNTER_FAULT && !start_bytes);
	if (g->slice)
		gen_add_one(g, g->slice, 8 * counter);
	else
		count_start(g, start_bytes);
	if (counter > COUNTER_MATCHED)
		gen_count_operator(g, counter);
}

void gen_each(struct gen *g, void (*one)(struct gen *g, const void *context), const void *context)
{
	const struct hook_use *use = g->use;
	u32 n = g->n_crowd;

	if (!n) {
		one(g, context);
		return;
	}
	g->n_crowd = 0;
	for (u32 i = 0; i < n; i++) {
		label over = ir_label(g->ir);

		gen_enter_use(g, g->crowd[i], over);
		one(g, context);
		ir_place(g->ir, over);
	}
	g->n_crowd = n;
	g->use = use;
	g->phys = use->phys;
	g->source = use->source;
	g->slice = 0;
}

struct counted {
	u32 counter, start_bytes;
};

static void count_it(struct gen *g, const void *context)
{
	const struct counted *c = context;

	count_for_one(g, c->counter, c->start_bytes);
}

static void count(struct gen *g, u32 counter, u32 start_bytes)
{
	gen_each(g, count_it, &(struct counted){ counter, start_bytes });
}

void gen_count(struct gen *g, enum counter counter)
{
	count(g, counter, start_counters[counter]);
}

void gen_count_unpaired(struct gen *g, enum unpaired kind)
{
	count(g, COUNTER_UNPAIRED + kind,
	      (u32)(offsetof(struct control_line, unpaired) + 8 * kind));
}

void gen_count_stored(struct gen *g)
{
	if (g->set->is_checked)
		count_start(g, offsetof(struct control_line, n_starts));
}

void gen_count_sample(struct gen *g)
{
	count_start(g, offsetof(struct control_line, n_samples));
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
