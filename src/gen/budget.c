/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What a part may take of the CPU's time (phys/maps.h): its programs measure themselves, now and
 * then, wake user space where that is much, and leave the events that it has no time for.
 */
#include "gen/internal.h"

static vreg budget_at(struct gen *g)
{
	vreg at = ir_reg(g->ir);

	ir_map_value(g->ir, at, load_map_number(g->phys, LOAD_MAP_BUDGET), 0);
	return at;
}

/* line[offset] -= 1; goes to `none` unless it is the turn of this one, which is one in EVERY. */
static void count_down(struct gen *g, vreg cpu, u32 offset_bytes, label none)
{
	vreg line, left;

	ir_branchi(g->ir, IR_GE, cpu, g->set->n_cpus, none);
	line = gen_element(g, load_map_number(g->phys, LOAD_MAP_BUDGET), sizeof(struct budget), cpu,
			   sizeof(struct budget_line));
	left = gen_alui(g, IR_SUB, gen_load(g, line, offset_bytes, IR_U64), 1);
	ir_store(g->ir, line, (s32)offset_bytes, IR_U64, left);
	ir_branchi(g->ir, IR_SGE, left, 0, none);
	ir_storei(g->ir, line, (s32)offset_bytes, IR_U64, BUDGET_EVERY - 1);
}

/* The record says nothing.  Not 0: there was no room for it. */
static vreg wake(struct gen *g)
{
	stack_object nothing = ir_stack(g->ir, 8);
	vreg args[4] = { ir_reg(g->ir), ir_reg(g->ir), gen_imm(g, 8),
			 gen_imm(g, BPF_RB_FORCE_WAKEUP) };
	vreg failed = ir_reg(g->ir);

	ir_stack_storei(g->ir, nothing, 0, IR_U64, 0);
	ir_map(g->ir, args[0], load_map_number(g->phys, LOAD_MAP_WAKE));
	ir_stack_address(g->ir, args[1], nothing, 0);
	ir_call(g->ir, failed, BPF_FUNC_ringbuf_output, 4, args);
	return failed;
}

static vreg now(struct gen *g)
{
	return gen_helper(g, BPF_FUNC_ktime_get_ns);
}

static void charge(struct gen *g, vreg ns, bool is_hook)
{
	vreg at = budget_at(g), spent = ir_reg(g->ir);
	label end = ir_label(g->ir), is_within = ir_label(g->ir);

	if (is_hook)
		ir_atomic(g->ir, IR_ATOMIC_ADD, 0, at, offsetof(struct budget, hook_ns), ns);
	ir_atomic(g->ir, IR_ATOMIC_FETCH_ADD, spent, at, offsetof(struct budget, spent_ns), ns);
	ir_branch(g->ir, IR_LT, spent, gen_load(g, at, offsetof(struct budget, limit_ns), IR_U64),
		  is_within);
	ir_branch(g->ir, IR_GE, now(g),
		  gen_load(g, budget_at(g), offsetof(struct budget, limit_until_ns), IR_U64),
		  is_within);
	ir_storei(g->ir, budget_at(g), offsetof(struct budget, threshold), IR_U64, 0);
	ir_place(g->ir, is_within);
	ir_branch(g->ir, IR_LT, spent,
		  gen_load(g, budget_at(g), offsetof(struct budget, mark_ns), IR_U64), end);
	/* Where that fails the next one tries again. */
	ir_branchi(g->ir, IR_NE, wake(g), 0, end);
	ir_storei(g->ir, budget_at(g), offsetof(struct budget, mark_ns), IR_U64, -1);
	ir_place(g->ir, end);
}

void gen_wake_count(struct gen *g)
{
	vreg at = budget_at(g), n = ir_reg(g->ir), copy = gen_slot_epoch(g);
	label end = ir_label(g->ir);

	ir_alui(g->ir, IR_SHL, copy, copy, 3);
	ir_alu(g->ir, IR_ADD, at, at, copy);
	ir_atomic(g->ir, IR_ATOMIC_FETCH_ADD, n, at, offsetof(struct budget, n_counted),
		  gen_imm(g, 1));
	ir_branchi(g->ir, IR_NE, n, (s64)g->phys->settings->wake_count - 1, end);
	wake(g);
	ir_place(g->ir, end);
}

/* What the hook costs by itself, whosever event it is. */
static void charge_hook(struct gen *g)
{
	s64 ns = (s64)phys_hook_ns(g->hook) * BUDGET_EVERY;
	label end = ir_label(g->ir);

	count_down(g, gen_current_cpu(g), offsetof(struct budget_line, runs_left), end);
	charge(g, gen_imm(g, ns / hook_n_parts(g->hook)), true);
	ir_place(g->ir, end);
}

void gen_budget_hook(struct gen *g)
{
	const struct hook *hook = g->hook;

	for (u32 i = 0; i < hook->n_uses; i++) {
		if (!hook->uses[i].phys->has_budget || hook->uses[i].hand == HAND_IDLE ||
		    (i && hook->uses[i].phys == hook->uses[i - 1].phys))
			continue;
		g->phys = hook->uses[i].phys;
		charge_hook(g);
	}
}

/* Goes on where the event's thread is one that is taken, and else to g->done. */
static void take_thread(struct gen *g)
{
	vreg threshold = gen_load(g, budget_at(g), offsetof(struct budget, threshold), IR_U64);
	vreg hash;
	label taken = ir_label(g->ir);

	ir_branchi(g->ir, IR_NE, gen_alui(g, IR_SHR, threshold, 32), 0, taken);
	hash = gen_alui(g, IR_MUL, gen_helper(g, BPF_FUNC_get_current_pid_tgid), BUDGET_HASH);
	ir_extend(g->ir, hash, hash, IR_U32);
	ir_branch(g->ir, IR_LT, hash, threshold, taken);
	if (g->source->is_root)
		gen_add_one(g, g->slice, 8 * COUNTER_OVER_BUDGET);
	ir_jump(g->ir, g->done);
	ir_place(g->ir, taken);
}

void gen_budget_begin(struct gen *g, vreg begun)
{
	label end = ir_label(g->ir);
	vreg first;

	take_thread(g);
	count_down(g, g->line ? g->cpu : gen_current_cpu(g),
		   offsetof(struct budget_line, events_left), end);
	/* What reading the clock takes is none of it: as much is added to the instant. */
	first = now(g);
	ir_mov(g->ir, begun, now(g));
	ir_alu(g->ir, IR_ADD, begun, begun, begun);
	ir_alu(g->ir, IR_SUB, begun, begun, first);
	ir_place(g->ir, end);
}

void gen_budget_end(struct gen *g, vreg begun)
{
	label end = ir_label(g->ir), positive = ir_label(g->ir), usual = ir_label(g->ir);
	vreg ns;

	ir_branchi(g->ir, IR_EQ, begun, 0, end);
	ns = gen_alu(g, IR_SUB, now(g), begun);
	ir_branchi(g->ir, IR_SGE, ns, 0, positive);
	ir_imm(g->ir, ns, 0);
	ir_place(g->ir, positive);
	ir_branchi(g->ir, IR_LE, ns, BUDGET_MAX_NS, usual);
	ir_imm(g->ir, ns, BUDGET_MAX_NS);
	ir_place(g->ir, usual);
	ir_alui(g->ir, IR_MUL, ns, ns, BUDGET_EVERY);
	charge(g, ns, false);
	ir_place(g->ir, end);
}
