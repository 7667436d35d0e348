/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Linear scan: each vreg gets one register or one stack slot for its whole live
 * range, [first write, last read].  Jumps go forward, so order of emission is an
 * order of time and that range is exact enough; a range that enters a loop lasts
 * to the loop's end.  Ranges across a call need r6..r9, which calls keep.
 */
#include "bpf/ir.h"

#define CALLER_SAVED 0x03f /* r0..r5 */
#define CALLEE_SAVED 0x3c0 /* r6..r9 */

struct scan {
	const struct lir *lir;
	struct arena *arena;
	struct alloc *alloc;
	u32 *calls; /* how many calls up to and with each instruction */
	u8 *depth;  /* loops around each instruction; NULL when there are none */
	u16 reserved;
	u16 used;		/* registers given out so far */
	vreg owner[BPF_N_REGS]; /* the latest; 0: none yet */
};

static void find_loops(struct scan *scan)
{
	const struct lir *lir = scan->lir;
	u32 *placed = arena_array(scan->arena, u32, lir->n_labels);

	for (u32 i = 0; i < lir->insns.n; i++) {
		const struct ir_insn *insn = &lir->insns.at[i];

		if (insn->op == IR_OP_LABEL)
			placed[insn->index] = i + 1;
		else if ((ir_op_flags[insn->op] & OP_JUMP) && placed[insn->index])
			vec_push(scan->arena, &scan->alloc->loops,
				 (struct loop){ placed[insn->index] - 1, i });
	}
	if (scan->alloc->loops.n == 0)
		return;
	scan->depth = arena_array(scan->arena, u8, lir->insns.n);
	for (u32 l = 0; l < scan->alloc->loops.n; l++)
		for (u32 i = scan->alloc->loops.at[l].start; i <= scan->alloc->loops.at[l].end; i++)
			scan->depth[i] = MIN(scan->depth[i] + 1, 5);
}

/* What a use costs when the vreg is in memory, or made anew, in units of about an instruction. */
static void add_cost(struct scan *scan, u32 at, vreg v, u32 cost)
{
	if (!scan->lir->insns.at[at].is_cold)
		scan->alloc->ranges[v].cost += cost << (scan->depth ? 3 * scan->depth[at] : 0);
}

/*
 * Numbers that a branch tests cost more: older verifiers (that of 6.1 among them)
 * forget bounds that were checked in a copy loaded from a spill slot.
 */
static void use(struct scan *scan, u32 at, vreg v, bool is_late, bool is_arg)
{
	bool is_tested = ir_op_flags[scan->lir->insns.at[at].op] & OP_JUMP;
	struct alloc_range *range = &scan->alloc->ranges[v];

	range->end = MAX(range->end, 2 * at + is_late);
	if (range->remade)
		add_cost(scan, at, v, is_arg ? 0 : 1);
	else
		add_cost(scan, at, v, is_arg ? 1 : is_tested ? 6 : 3);
}

static void define(struct scan *scan, u32 at, const struct ir_insn *insn)
{
	struct alloc_range *range = &scan->alloc->ranges[insn->d];

	range->once = range->start == ALLOC_NONE;
	if (range->once) {
		range->start = 2 * at + 1;
		range->def = at;
		range->remade = insn->op == IR_OP_IMM || insn->op == IR_OP_MAP ||
				insn->op == IR_OP_MAP_VALUE || insn->op == IR_OP_STACK_ADDRESS;
	} else {
		range->remade = false;
	}
	range->end = MAX(range->end, 2 * at + 1);
	if (!range->remade)
		add_cost(scan, at, insn->d, 2);
}

/*
 * Operands that must outlive the write of d, because d's register is written
 * first: the right one of a - b, the base of an atomic that returns a value.
 */
static bool is_late_a(const struct ir_insn *insn)
{
	return insn->op == IR_OP_ATOMIC && insn->d;
}

static bool is_late_b(const struct ir_insn *insn)
{
	return insn->op == IR_OP_ALU && !ir_alus[insn->sub].commutes && insn->a != insn->b;
}

static void find_ranges(struct scan *scan)
{
	const struct lir *lir = scan->lir;
	u32 n_calls = 0;

	for (vreg v = 0; v < lir->n_vregs; v++) {
		scan->alloc->ranges[v].start = ALLOC_NONE;
		scan->alloc->ranges[v].reg = scan->alloc->ranges[v].hint = -1;
	}
	for (u32 i = 0; i < lir->insns.n; i++) {
		const struct ir_insn *insn = &lir->insns.at[i];
		u8 flags = ir_op_flags[insn->op];

		if (flags & OP_USE_A)
			use(scan, i, insn->a, is_late_a(insn), false);
		if (insn->b)
			use(scan, i, insn->b, is_late_b(insn), false);
		for (u32 k = 0; k < insn->n_args; k++)
			use(scan, i, lir->args[insn->first_arg + k], false, true);
		n_calls += (flags & OP_CALL) != 0;
		scan->calls[i] = n_calls;
		if ((flags & OP_DEF) && insn->d)
			define(scan, i, insn);
	}
}

u32 alloc_end_of(const struct alloc *alloc, u32 start, u32 end)
{
	for (u32 l = 0; l < alloc->loops.n; l++) {
		const struct loop *loop = &alloc->loops.at[l];

		if (start >= loop->start || end < loop->start || end >= loop->end)
			continue;
		/* It may enter an earlier one by that. */
		end = loop->end;
		l = UINT32_MAX;
	}
	return end;
}

static void extend_over_loops(struct scan *scan)
{
	for (vreg v = 1; v < scan->lir->n_vregs; v++) {
		struct alloc_range *range = &scan->alloc->ranges[v];
		u32 end = alloc_end_of(scan->alloc, range->start / 2, range->end / 2);

		if (end > range->end / 2)
			range->end = 2 * end + 1;
	}
}

static void find_crossings(struct scan *scan)
{
	for (vreg v = 1; v < scan->lir->n_vregs; v++) {
		struct alloc_range *range = &scan->alloc->ranges[v];

		if (range->start == ALLOC_NONE)
			continue;
		/* Calls after the one that may define it, before the one that may read it last. */
		range->crosses = range->end > range->start &&
				 scan->calls[(range->end - 1) / 2] > scan->calls[range->start / 2];
	}
}

/* A range that ends as an argument wants that argument's register, and so does what it is from. */
static void find_hints(struct scan *scan)
{
	const struct lir *lir = scan->lir;

	for (u32 i = lir->insns.n; i-- > 0;) {
		const struct ir_insn *insn = &lir->insns.at[i];
		struct alloc_range *ranges = scan->alloc->ranges;
		u8 flags = ir_op_flags[insn->op];

		for (u32 k = 0; k < insn->n_args; k++) {
			struct alloc_range *range = &ranges[lir->args[insn->first_arg + k]];

			if (range->end == 2 * i && !range->crosses)
				range->hint = (s8)(k + 1);
		}
		if ((flags & (OP_DEF | OP_USE_A)) == (OP_DEF | OP_USE_A) &&
		    insn->op != IR_OP_LOAD && insn->op != IR_OP_ATOMIC &&
		    ranges[insn->d].hint >= 0 && ranges[insn->a].end == 2 * i &&
		    !ranges[insn->a].crosses)
			ranges[insn->a].hint = ranges[insn->d].hint;
	}
}

/* Registers in the order in which they are taken; those that the JIT must save come last. */
static const u8 order_any[] = { 0, 5, 4, 3, 2, 1, 6, 7, 8, 9 };
static const u8 order_kept[] = { 6, 7, 8, 9 };

static bool is_free(const struct scan *scan, u32 reg, u32 at)
{
	vreg owner = scan->owner[reg];

	return !(scan->reserved >> reg & 1) && (!owner || scan->alloc->ranges[owner].end < at);
}

/* The register in which the value already is, or will be made first. */
static s8 origin_reg(const struct scan *scan, const struct ir_insn *insn)
{
	const struct alloc_range *ranges = scan->alloc->ranges;
	u8 flags = ir_op_flags[insn->op];

	if (insn->op == IR_OP_CONTEXT)
		return 1;
	if (flags & OP_CALL)
		return 0;
	if (insn->op == IR_OP_ATOMIC)
		return ranges[insn->b].reg;
	if ((flags & OP_USE_A) && ranges[insn->a].reg >= 0 &&
	    ranges[insn->a].end == ranges[insn->d].start - 1)
		return ranges[insn->a].reg;
	if (insn->op == IR_OP_ALU && insn->b && ir_alus[insn->sub].commutes)
		return ranges[insn->b].reg;
	return -1;
}

static s8 pick_free(struct scan *scan, const struct ir_insn *insn)
{
	const struct alloc_range *range = &scan->alloc->ranges[insn->d];
	const u8 *order = range->crosses ? order_kept : order_any;
	u32 n = range->crosses ? ARRAY_SIZE(order_kept) : ARRAY_SIZE(order_any);
	u16 allowed = range->crosses ? CALLEE_SAVED : CALLER_SAVED | CALLEE_SAVED;
	s8 wanted[] = { range->hint, origin_reg(scan, insn) };

	for (u32 i = 0; i < ARRAY_SIZE(wanted); i++)
		if (wanted[i] >= 0 && (allowed >> wanted[i] & 1) &&
		    is_free(scan, (u32)wanted[i], range->start))
			return wanted[i];
	for (u32 i = 0; i < n; i++)
		if (is_free(scan, order[i], range->start))
			return (s8)order[i];
	return -1;
}

/* Cost per length: what is used rarely over a long way goes first. */
static bool is_cheaper(const struct alloc_range *a, const struct alloc_range *b)
{
	return (u64)a->cost * (b->end - b->start + 8) < (u64)b->cost * (a->end - a->start + 8);
}

/* No register is free: the cheapest of the rivals and v itself stays out. */
static void evict(struct scan *scan, vreg v)
{
	struct alloc_range *ranges = scan->alloc->ranges;
	u32 first = ranges[v].crosses ? 6 : 0;
	vreg victim = v;

	for (u32 reg = first; reg < BPF_N_REGS; reg++) {
		vreg owner = scan->owner[reg];

		if (!(scan->reserved >> reg & 1) && is_cheaper(&ranges[owner], &ranges[victim]))
			victim = owner;
	}
	if (victim == v)
		return;
	ranges[v].reg = ranges[victim].reg;
	ranges[victim].reg = -1;
	scan->owner[ranges[v].reg] = v;
}

static void assign(struct scan *scan, const struct ir_insn *insn)
{
	struct alloc_range *range = &scan->alloc->ranges[insn->d];

	/* An argument of calls is made in place as cheaply as it is moved there. */
	if (range->remade && range->crosses && range->cost <= 2)
		return;
	range->reg = pick_free(scan, insn);
	if (range->reg >= 0)
		scan->owner[range->reg] = insn->d;
	else
		evict(scan, insn->d);
}

/* Slots are used again once their range is over. */
static void assign_slots(struct scan *scan)
{
	const struct lir *lir = scan->lir;
	struct alloc *alloc = scan->alloc;
	u32 slot_end[BPF_STACK_BYTES / 8 + 1];

	for (u32 i = 0; i < lir->insns.n; i++) {
		const struct ir_insn *insn = &lir->insns.at[i];
		struct alloc_range *range = &alloc->ranges[insn->d];
		u32 slot = 0;

		if (!(ir_op_flags[insn->op] & OP_DEF) || !insn->d || range->def != i ||
		    range->reg >= 0 || range->remade)
			continue;
		alloc->n_spills++;
		while (slot < alloc->n_slots && slot_end[slot] >= range->start)
			slot++;
		/* One slot too many is enough to be refused. */
		slot = MIN(slot, BPF_STACK_BYTES / 8);
		alloc->n_slots = MAX(alloc->n_slots, slot + 1);
		slot_end[slot] = range->end;
		range->slot = (u8)slot;
	}
}

static void find_busy(struct scan *scan)
{
	struct alloc *alloc = scan->alloc;

	alloc->busy = arena_array(scan->arena, u16, scan->lir->insns.n);
	for (vreg v = 1; v < scan->lir->n_vregs; v++) {
		const struct alloc_range *range = &alloc->ranges[v];

		if (range->start == ALLOC_NONE || range->reg < 0)
			continue;
		for (u32 i = range->start / 2; i <= range->end / 2; i++)
			alloc->busy[i] |= (u16)(1u << range->reg);
	}
}

void lir_allocate(const struct lir *lir, struct arena *arena, u16 reserved, struct alloc *ret_alloc)
{
	struct scan scan = { .lir = lir, .arena = arena, .alloc = ret_alloc, .reserved = reserved };
	bool is_out = false;

	*ret_alloc =
		(struct alloc){ .ranges = arena_array(arena, struct alloc_range, lir->n_vregs) };
	scan.calls = arena_array(arena, u32, lir->insns.n);
	find_loops(&scan);
	find_ranges(&scan);
	extend_over_loops(&scan);
	find_crossings(&scan);
	find_hints(&scan);
	for (u32 i = 0; i < lir->insns.n; i++) {
		const struct ir_insn *insn = &lir->insns.at[i];

		if ((ir_op_flags[insn->op] & OP_DEF) && insn->d &&
		    ret_alloc->ranges[insn->d].def == i)
			assign(&scan, insn);
	}
	for (vreg v = 1; v < lir->n_vregs; v++)
		is_out |= ret_alloc->ranges[v].start != ALLOC_NONE && ret_alloc->ranges[v].reg < 0;
	if (is_out) {
		assign_slots(&scan);
		find_busy(&scan);
	}
}
