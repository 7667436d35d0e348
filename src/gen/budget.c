/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What a part may take of the CPU's time (phys/maps.h): its programs measure themselves, now and
 * then, wake user space where that is much, and leave the events that it has no time for.
 */
#include "gen/internal.h"

#define FRACTION_BITS 16

static vreg budget_at(struct gen *g)
{
	vreg at = ir_reg(g->ir);

	ir_map_value(g->ir, at, load_map_number(g->phys, LOAD_MAP_BUDGET), 0);
	return at;
}

static vreg budget_load(struct gen *g, u32 offset_bytes)
{
	return gen_load(g, budget_at(g), offset_bytes, IR_U64);
}

static vreg line_at(struct gen *g, vreg cpu, label none)
{
	ir_branchi(g->ir, IR_GE, cpu, g->set->n_cpus, none);
	return gen_element(g, load_map_number(g->phys, LOAD_MAP_BUDGET), sizeof(struct budget), cpu,
			   sizeof(struct budget_line));
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

/* Another second, of what may be taken behind a mark. */
static void begin_second(struct gen *g, vreg spent, vreg t)
{
	vreg at = budget_at(g);

	ir_store(g->ir, at, offsetof(struct budget, limit_ns), IR_U64,
		 gen_alu(g, IR_ADD, spent,
			 gen_load(g, at, offsetof(struct budget, more_ns), IR_U64)));
	ir_store(g->ir, at, offsetof(struct budget, limit_until_ns), IR_U64,
		 gen_alui(g, IR_ADD, t, (s64)BUDGET_NS));
}

static void branch_closed(struct gen *g, vreg at, label closed)
{
	ir_branch(g->ir, IR_EQ, gen_load(g, at, offsetof(struct budget, closed_ns), IR_U64),
		  gen_load(g, at, offsetof(struct budget, limit_ns), IR_U64), closed);
}

/* Wakes user space, if no other program has; it may have set another mark, so that is asked. */
static void pass_mark(struct gen *g, vreg spent)
{
	vreg mark = gen_imm(g, -1), at = budget_at(g), is_free = ir_reg(g->ir), t;
	label end = ir_label(g->ir), back = ir_label(g->ir);

	ir_atomic(g->ir, IR_ATOMIC_XCHG, mark, at, offsetof(struct budget, mark_ns), mark);
	ir_branch(g->ir, IR_LT, spent, mark, back);
	/* Where that fails the next one tries again. */
	ir_branchi(g->ir, IR_NE, wake(g), 0, back);
	t = now(g);
	ir_branch(g->ir, IR_LT, t, budget_load(g, offsetof(struct budget, limit_until_ns)), end);
	/* What is closed user space opens, which says when.  Best effort: another program may close
	 * it here, and what begins opens it with nothing said; that one saw the second not yet
	 * over. */
	branch_closed(g, budget_at(g), end);
	begin_second(g, spent, t);
	ir_jump(g->ir, end);
	ir_place(g->ir, back);
	ir_compare_exchange(g->ir, is_free, budget_at(g), offsetof(struct budget, mark_ns), IR_U64,
			    -1, mark);
	ir_place(g->ir, end);
}

/* What is closed stays so until user space looks; where it does not, each second has its limit. */
static void pass_limit(struct gen *g, vreg spent, vreg limit)
{
	vreg t = now(g), at = budget_at(g);
	label end = ir_label(g->ir), is_in_time = ir_label(g->ir);

	ir_branch(g->ir, IR_EQ, limit, gen_load(g, at, offsetof(struct budget, closed_ns), IR_U64),
		  end);
	ir_branch(g->ir, IR_LT, t, gen_load(g, at, offsetof(struct budget, limit_until_ns), IR_U64),
		  is_in_time);
	begin_second(g, spent, t);
	ir_jump(g->ir, end);
	ir_place(g->ir, is_in_time);
	ir_store(g->ir, at, offsetof(struct budget, closed_ns), IR_U64, limit);
	ir_place(g->ir, end);
}

static void charge(struct gen *g, vreg ns, bool is_hook)
{
	vreg at = budget_at(g), spent = ir_reg(g->ir), limit;
	label end = ir_label(g->ir), is_within = ir_label(g->ir);

	if (is_hook)
		ir_atomic(g->ir, IR_ATOMIC_ADD, 0, at, offsetof(struct budget, hook_ns), ns);
	ir_atomic(g->ir, IR_ATOMIC_FETCH_ADD, spent, at, offsetof(struct budget, spent_ns), ns);
	limit = budget_load(g, offsetof(struct budget, limit_ns));
	ir_branch(g->ir, IR_LT, spent, limit, is_within);
	pass_limit(g, spent, limit);
	ir_place(g->ir, is_within);
	ir_branch(g->ir, IR_LT, spent, budget_load(g, offsetof(struct budget, mark_ns)), end);
	pass_mark(g, spent);
	ir_place(g->ir, end);
}

/* So little that charges come evenly, and that what all CPUs owe is little. */
static s64 charged_eighths(const struct gen *g)
{
	return (s64)(g->phys->settings->max_cpu * (BUDGET_NS / 1000000) * 8 / 1024 /
		     MAX(g->set->n_cpus / 8, 1u));
}

/* The line's mean, in eighths: += (what it was now - mean) / 8; but where there is none yet. */
static void take_mean(struct gen *g, vreg line, u32 offset_bytes, vreg ns)
{
	vreg mean = gen_load(g, line, offset_bytes, IR_U64), most;
	label positive = ir_label(g->ir), known = ir_label(g->ir), usual = ir_label(g->ir),
	      end = ir_label(g->ir);

	ir_branchi(g->ir, IR_SGE, ns, 0, positive);
	ir_imm(g->ir, ns, 0);
	ir_place(g->ir, positive);
	ir_branchi(g->ir, IR_NE, mean, 0, known);
	ir_alui(g->ir, IR_SHL, mean, ns, 3);
	ir_jump(g->ir, end);
	ir_place(g->ir, known);
	most = gen_alui(g, IR_ADD, mean, BUDGET_MORE_NS);
	ir_branch(g->ir, IR_LE, ns, most, usual);
	ir_mov(g->ir, ns, most);
	ir_place(g->ir, usual);
	ir_alu(g->ir, IR_SUB, mean, mean, gen_alui(g, IR_SHR, mean, 3));
	ir_alu(g->ir, IR_ADD, mean, mean, ns);
	ir_place(g->ir, end);
	ir_store(g->ir, line, (s32)offset_bytes, IR_U64, mean);
}

/* What reading the clock takes, which is owed, too. */
static void take_clock(struct gen *g, vreg line, vreg owed)
{
	u64 eighths = budget_clock_eighths(g->phys->settings);
	vreg ns = now(g);
	label low = ir_label(g->ir), high = ir_label(g->ir);

	ir_alu(g->ir, IR_SUB, ns, now(g), ns);
	if (eighths) {
		ir_branchi(g->ir, IR_SGE, ns, (s64)eighths / 8 / BUDGET_CLOCK_TIMES, low);
		ir_imm(g->ir, ns, (s64)eighths / 8 / BUDGET_CLOCK_TIMES);
		ir_place(g->ir, low);
		ir_branchi(g->ir, IR_SLE, ns, (s64)eighths / 8 * BUDGET_CLOCK_TIMES, high);
		ir_imm(g->ir, ns, (s64)eighths / 8 * BUDGET_CLOCK_TIMES);
		ir_place(g->ir, high);
	}
	take_mean(g, line, offsetof(struct budget_line, clock), ns);
	ir_alu(g->ir, IR_ADD, owed, owed,
	       gen_alui(g, IR_SHL, gen_load(g, line, offsetof(struct budget_line, clock), IR_U64),
			1));
}

/* Where nothing is known of it, and nobody asks, it is not read. */
static bool takes_clock(const struct gen *g)
{
	const struct settings *settings = g->phys->settings;

	return settings->measures_clock || budget_clock_eighths(settings);
}

static void owe(struct gen *g, vreg line, vreg eighths, bool is_hook)
{
	u32 offset_bytes = is_hook ? offsetof(struct budget_line, hooks_owed)
				   : offsetof(struct budget_line, owed);
	vreg owed = gen_alu(g, IR_ADD, gen_load(g, line, offset_bytes, IR_U64), eighths);
	label end = ir_label(g->ir);

	ir_store(g->ir, line, (s32)offset_bytes, IR_U64, owed);
	ir_branchi(g->ir, IR_LT, owed, charged_eighths(g), end);
	ir_storei(g->ir, line, (s32)offset_bytes, IR_U64, 0);
	if (is_hook && takes_clock(g))
		take_clock(g, line, owed);
	charge(g, gen_alui(g, IR_SHR, owed, 3), is_hook);
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

/* What costs its time whosever event it is; at the CPU's speed, where that is known. */
static void charge_hook(struct gen *g)
{
	label end = ir_label(g->ir);
	vreg line = line_at(g, gen_current_cpu(g), end), eighths;
	double charged = 8 * phys_charged_ns(g->hook);
	u64 clock = budget_clock_eighths(g->phys->settings);

	if (clock) {
		eighths = gen_load(g, line, offsetof(struct budget_line, clock), IR_U64);
		ir_alu(g->ir, IR_MUL, eighths, eighths,
		       gen_imm(g, (s64)(charged / (double)clock * (1 << FRACTION_BITS))));
		ir_alui(g->ir, IR_SHR, eighths, eighths, FRACTION_BITS);
	} else {
		eighths = gen_imm(g, (s64)charged);
	}
	owe(g, line, eighths, true);
	ir_place(g->ir, end);
}

void gen_budget_hook(struct gen *g)
{
	const struct hook *hook = g->hook;

	for (u32 i = 0; i < hook->n_uses; i++) {
		if (!hook_charges(hook, i))
			continue;
		g->phys = hook->uses[i].phys;
		charge_hook(g);
	}
}

/* The idle threads of all CPUs have one id, but are as many. */
static vreg thread_hash(struct gen *g)
{
	vreg id = gen_helper(g, BPF_FUNC_get_current_pid_tgid);
	label is_thread = ir_label(g->ir);

	ir_extend(g->ir, id, id, IR_U32);
	ir_branchi(g->ir, IR_NE, id, 0, is_thread);
	ir_alui(g->ir, IR_XOR, id, gen_current_cpu(g), -1);
	ir_place(g->ir, is_thread);
	ir_alui(g->ir, IR_MUL, id, id, BUDGET_HASH);
	ir_extend(g->ir, id, id, IR_U32);
	return id;
}

/* Of other starts an end without one tells. */
static bool is_missed_silently(const struct phys_source *source)
{
	const struct phys_step *last = source->n_steps ? &source->steps[source->n_steps - 1] : NULL;

	return last && last->kind == STEP_STORE &&
	       (last->join->is_left || last->join->join == JOIN_ASOF);
}

/* Goes on where the event's thread is one that is taken, and else to g->done. */
static void take_thread(struct gen *g)
{
	vreg at = budget_at(g), threshold;
	label taken = ir_label(g->ir), left = ir_label(g->ir);

	threshold = gen_load(g, at, offsetof(struct budget, threshold), IR_U64);
	branch_closed(g, at, left);
	ir_branchi(g->ir, IR_NE, gen_alui(g, IR_SHR, threshold, 32), 0, taken);
	ir_branch(g->ir, IR_LT, thread_hash(g), threshold, taken);
	ir_place(g->ir, left);
	g->operator_number = g->source->first_operator;
	if (g->source->is_root || is_missed_silently(g->source))
		gen_count(g, COUNTER_OVER_BUDGET);
	ir_jump(g->ir, g->done);
	ir_place(g->ir, taken);
}

void gen_budget_branch_doubtful(struct gen *g, vreg start_time, label doubtful)
{
	if (g->phys->has_budget)
		ir_branch(g->ir, IR_LT, start_time,
			  budget_load(g, offsetof(struct budget, opened_ns)), doubtful);
}

static vreg this_line(struct gen *g, label none)
{
	return line_at(g, g->line ? g->cpu : gen_current_cpu(g), none);
}

void gen_budget_begin(struct gen *g, vreg begun)
{
	label end = ir_label(g->ir), is_far = ir_label(g->ir);
	vreg line, left, first;

	take_thread(g);
	line = this_line(g, end);
	owe(g, line, gen_load(g, line, offsetof(struct budget_line, mean), IR_U64), false);
	left = gen_load(g, line, offsetof(struct budget_line, events_left), IR_U64);
	ir_alui(g->ir, IR_SUB, left, left, 1);
	ir_store(g->ir, line, offsetof(struct budget_line, events_left), IR_U64, left);
	ir_branchi(g->ir, IR_SGE, left, 0, end);
	left = gen_load(g, line, offsetof(struct budget_line, distance), IR_U64);
	ir_store(g->ir, line, offsetof(struct budget_line, events_left), IR_U64, left);
	ir_branchi(g->ir, IR_GE, left, BUDGET_EVERY - 1, is_far);
	ir_alui(g->ir, IR_ADD, left, left, 1);
	ir_store(g->ir, line, offsetof(struct budget_line, distance), IR_U64, left);
	ir_place(g->ir, is_far);
	/* What reading the clock takes is none of it: as much is added to the instant. */
	first = now(g);
	ir_mov(g->ir, begun, now(g));
	ir_alu(g->ir, IR_ADD, begun, begun, begun);
	ir_alu(g->ir, IR_SUB, begun, begun, first);
	ir_place(g->ir, end);
}

void gen_budget_end(struct gen *g, vreg begun)
{
	label end = ir_label(g->ir);
	vreg ns;

	ir_branchi(g->ir, IR_EQ, begun, 0, end);
	ns = gen_alu(g, IR_SUB, now(g), begun);
	take_mean(g, this_line(g, end), offsetof(struct budget_line, mean), ns);
	ir_place(g->ir, end);
}
