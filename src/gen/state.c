/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A slot of this CPU, and each part's slice of the copy in use.
 *
 * The slot is taken before the epochs are read, which say the copy, and given back when all is
 * written: so user space knows when no program writes a copy any more (load/flip.c).
 */
#include <stdlib.h>

#include "gen/internal.h"

/* Some ten us. */
#define DAWDLE_CALLS 500

static s32 slot_bytes(u32 level)
{
	return (s32)(offsetof(struct slot_line, slots) + 8 * level);
}

vreg gen_slot_level(struct gen *g)
{
	return gen_alui(g, IR_AND, gen_alui(g, IR_SHR, g->word, SLOT_LEVEL_SHIFT),
			g->set->n_slots - 1);
}

vreg gen_slot_epoch(struct gen *g)
{
	return gen_alui(g, IR_AND, gen_alui(g, IR_SHR, g->word, g->phys->number % BLOCK_PARTS), 1);
}

vreg gen_epochs(struct gen *g)
{
	vreg at = ir_reg(g->ir);

	ir_map_value(g->ir, at, LOAD_MAP_SLOTS, phys_epochs_bytes(g->set, g->hook->block));
	return gen_load(g, at, 0, IR_U64);
}

/*
 * The first free slot of the CPU: nearly always the first of all.  EBQL_NO_SLOTS in build-debug: it
 * is looked at, and not taken, which tests of windows must find (tests/vm/guest).
 */
static void take_slot(struct gen *g)
{
	bool is_broken = g->set->is_checked && getenv("EBQL_NO_SLOTS");
	enum ir_atomic take = is_broken ? IR_ATOMIC_FETCH_ADD : IR_ATOMIC_XCHG;
	s64 busy = is_broken ? 0 : (s64)SLOT_BUSY;
	struct ir *ir = g->ir;
	vreg mark = ir_reg(ir);
	label got = ir_label(ir);
	u32 n = g->set->n_slots;

	g->word = ir_reg(ir);
	ir_imm(ir, mark, busy);
	ir_atomic(ir, take, g->word, g->line, slot_bytes(0), mark);
	if (n > 1)
		ir_branchi(ir, IR_SGE, g->word, 0, got);
	ir_cold(ir, n > 1);
	for (u32 level = 1; level < n; level++) {
		ir_imm(ir, mark, busy);
		ir_atomic(ir, take, g->word, g->line, slot_bytes(level), mark);
		if (level < n - 1)
			ir_branchi(ir, IR_SGE, g->word, 0, got);
	}
	ir_branchi(ir, IR_SLT, g->word, 0, g->busy);
	ir_cold(ir, false);
	ir_place(ir, got);
	/* Behind the exchange, which is a barrier. */
	ir_alu(ir, IR_OR, g->word, g->word, gen_epochs(g));
}

void gen_dawdle(struct gen *g)
{
	label again = ir_label(g->ir);
	vreg n;

	if (!g->set->is_checked || !getenv("EBQL_DAWDLE"))
		return;
	n = gen_imm(g, DAWDLE_CALLS);
	ir_place(g->ir, again);
	gen_helper(g, BPF_FUNC_ktime_get_ns);
	ir_alui(g->ir, IR_SUB, n, n, 1);
	ir_branchi(g->ir, IR_NE, n, 0, again);
}

void gen_leave(struct gen *g)
{
	struct ir *ir = g->ir;
	vreg slot = g->line, word;

	if (g->set->n_slots > 1) {
		slot = gen_slot_level(g);
		word = gen_alui(g, IR_SHL, slot, SLOT_LEVEL_SHIFT);
		ir_alui(ir, IR_SHL, slot, slot, 3);
		ir_alu(ir, IR_ADD, slot, slot, g->line);
	} else {
		word = gen_imm(g, (s64)slot_word(0, 0));
	}
	if (g->set->arch->keeps_order)
		ir_store(ir, slot, slot_bytes(0), IR_U64, word);
	else
		ir_atomic(ir, IR_ATOMIC_XCHG, 0, slot, slot_bytes(0), word);
}

bool gen_is_handed(struct gen *g, const struct hook_use *use)
{
	u32 taken = use->streams[0]->is_syscall_exit ? 2 : 1;
	enum hand hand = use->hand;
	vreg tid, mark;

	if (hand == HAND_PLAIN || hand == HAND_IDLE)
		return hand == HAND_PLAIN;
	tid = gen_alui(g, IR_AND, gen_helper(g, BPF_FUNC_get_current_pid_tgid), MARKS_BYTES - 1);
	mark = ir_reg(g->ir);
	ir_map_value(g->ir, mark, LOAD_MAP_MARKS, 0);
	ir_alu(g->ir, IR_ADD, mark, mark, tid);
	if (hand == HAND_SECOND)
		ir_branchi(g->ir, IR_EQ, gen_load(g, mark, 0, IR_U8), taken, g->done);
	else
		ir_storei(g->ir, mark, 0, IR_U8, hand == HAND_TAKES ? taken : 0);
	return hand != HAND_LEAVES;
}

void gen_busy(struct gen *g)
{
	const struct hook *hook = g->hook;
	vreg one = gen_imm(g, 1);

	for (u32 i = 0; i < hook->n_uses; i++) {
		const struct phys *phys = hook->uses[i].phys;
		vreg missed = ir_reg(g->ir);

		if (i && phys == hook->uses[i - 1].phys)
			continue;
		g->done = ir_label(g->ir);
		if (gen_is_handed(g, &hook->uses[i])) {
			ir_map_value(g->ir, missed, LOAD_MAP_SLOTS,
				     phys_epochs_bytes(g->set, phys_n_blocks(g->set)) +
					     8 * phys->number);
			ir_atomic(g->ir, IR_ATOMIC_ADD, 0, missed, 0, one);
		}
		ir_place(g->ir, g->done);
	}
}

bool gen_needs_slice(const struct hook *hook, const struct phys *phys)
{
	for (u32 i = 0; i < hook->n_uses; i++) {
		const struct hook_use *use = &hook->uses[i];

		/* A stack is taken into what belongs to the slot. */
		if (!phys && use->phys->has_stacks)
			return true;
		if (use->source->is_root && (!phys || use->phys == phys) &&
		    use->hand != HAND_LEAVES && use->hand != HAND_IDLE)
			return true;
	}
	return false;
}

/*
 * Where the part's run is over: an end behind it takes no start, and is none of its events.  Of
 * several parts the bit is tested in a copy: what the verifier learns of the word itself it
 * follows up, for n parts 2^n ways.
 */
static void leave_if_over(struct gen *g, label over)
{
	u32 shift = SLOT_OVER_SHIFT + g->phys->number % BLOCK_PARTS;

	for (u32 i = 0; i < g->source->n_steps; i++) {
		const struct phys_join *join = g->source->steps[i].join;

		if (!join || join->join != JOIN_PAIR)
			continue;
		if (hook_n_parts(g->hook) > 1)
			ir_branchi(g->ir, IR_TEST, gen_alui(g, IR_SHR, g->word, shift), 1, over);
		else
			ir_branchi(g->ir, IR_TEST, g->word, (s64)(1ull << shift), over);
		return;
	}
}

void gen_leave_if_all_over(struct gen *g, vreg epochs, label over)
{
	u32 over_bits = g->n_crowd ? 0 : 1u << g->phys->number % BLOCK_PARTS;
	vreg bits = gen_alui(g, IR_SHR, epochs, SLOT_OVER_SHIFT);

	for (u32 i = 0; i < g->n_crowd; i++)
		over_bits |= 1u << g->crowd[i]->phys->number % BLOCK_PARTS;
	ir_branchi(g->ir, IR_EQ, gen_alui(g, IR_AND, bits, over_bits), over_bits, over);
}

/* Of this part: slices[copy][cpu * n_levels + level]; all three are in bounds, which the verifier
 * sees. */
static void take_slice(struct gen *g)
{
	const struct state_layout *s = &g->phys->state;
	struct ir *ir = g->ir;
	vreg copy;

	/* Who reads a list is alone with its program. */
	if (g->kind->is_list) {
		g->slice = ir_reg(ir);
		ir_map_value(ir, g->slice, load_map_number(g->phys, LOAD_MAP_STATE), 0);
		g->faults_before = gen_load(g, g->slice, 8 * COUNTER_FAULT, IR_U64);
		return;
	}
	copy = gen_slot_epoch(g);

	g->slice = gen_element(g, load_map_number(g->phys, LOAD_MAP_STATE), 0, g->cpu,
			       s->n_levels * s->slice_bytes);
	ir_alui(ir, IR_MUL, copy, copy, (s64)state_slice_offset(s, 1, 0, 0));
	ir_alu(ir, IR_ADD, g->slice, g->slice, copy);
	if (s->n_levels > 1) {
		vreg level = gen_slot_level(g);

		ir_alui(ir, IR_MUL, level, level, (s64)s->slice_bytes);
		ir_alu(ir, IR_ADD, g->slice, g->slice, level);
	}
}

void gen_enter_use(struct gen *g, const struct hook_use *use, label over)
{
	g->use = use;
	g->phys = use->phys;
	g->source = use->source;
	g->slice = 0;
	if (g->line)
		leave_if_over(g, over);
	if (gen_needs_slice(g->hook, g->phys))
		take_slice(g);
}

void gen_enter(struct gen *g, label out)
{
	struct ir *ir = g->ir;
	vreg kept = ir_reg(ir);
	u32 line = g->hook->block * g->set->n_cpus;

	g->cpu = gen_current_cpu(g);
	ir_branchi(ir, IR_GE, g->cpu, g->set->n_cpus, out);
	g->line = gen_element(g, LOAD_MAP_SLOTS, line * sizeof(struct slot_line), g->cpu,
			      sizeof(struct slot_line));
	/* Used again at the end only: that copy may lie on the stack, what is used now not. */
	ir_mov(ir, kept, g->line);
	take_slot(g);
	g->line = kept;
}
