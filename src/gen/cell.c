/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Cells of a row: what one event does to the count, sum, minimum, maximum, the
 * histograms and sketches of its group.  Only this CPU writes the row, so plain loads and
 * stores do.  Zero
 * is the neutral start of every cell.
 */
#include "gen/internal.h"

static void update_count(struct gen *g, const struct cell *c, vreg row, const struct cell_value *v)
{
	vreg n = ir_reg(g->ir);

	(void)v;
	ir_load(g->ir, n, row, (s32)c->bytes_offset, IR_U64);
	ir_alui(g->ir, IR_ADD, n, n, 1);
	ir_store(g->ir, row, (s32)c->bytes_offset, IR_U64, n);
}

/* 128 bits: the high word takes the carry and, for a negative value, the sign. */
static void update_sum(struct gen *g, const struct cell *c, vreg row,
		       const struct cell_value *value)
{
	struct ir *ir = g->ir;
	vreg v = value->reg;
	const s32 low_at = (s32)c->bytes_offset, high_at = low_at + 8;
	vreg low = ir_reg(ir), high;
	label end = ir_label(ir);

	ir_load(ir, low, row, low_at, IR_U64);
	ir_alu(ir, IR_ADD, low, low, v);
	ir_store(ir, row, low_at, IR_U64, low);
	if (!c->is_wide)
		return;
	high = ir_reg(ir);
	if (!c->is_signed) {
		ir_branch(ir, IR_GE, low, v, end);
		ir_load(ir, high, row, high_at, IR_U64);
		ir_alui(ir, IR_ADD, high, high, 1);
		ir_store(ir, row, high_at, IR_U64, high);
		ir_place(ir, end);
		return;
	}
	vreg sign = ir_reg(ir);
	label no_carry = ir_label(ir);

	ir_alui(ir, IR_SAR, sign, v, 63);
	ir_load(ir, high, row, high_at, IR_U64);
	ir_alu(ir, IR_ADD, high, high, sign);
	ir_branch(ir, IR_GE, low, v, no_carry);
	ir_alui(ir, IR_ADD, high, high, 1);
	ir_place(ir, no_carry);
	ir_store(ir, row, high_at, IR_U64, high);
	ir_place(ir, end);
}

/* Biased so that unsigned order is the value's order; the minimum is that of the complement. */
static void update_extreme(struct gen *g, const struct cell *c, vreg row,
			   const struct cell_value *value)
{
	struct ir *ir = g->ir;
	vreg v = value->reg;
	vreg biased = v, known = ir_reg(ir);
	u64 flip = (c->is_signed ? CELL_BIAS : 0) ^ (c->kind == CELL_MIN ? ~0ull : 0);
	label end = ir_label(ir);

	if (flip) {
		biased = ir_reg(ir);
		ir_alui(ir, IR_XOR, biased, v, (s64)flip);
	}
	ir_load(ir, known, row, (s32)c->bytes_offset, IR_U64);
	ir_branch(ir, IR_LE, biased, known, end);
	ir_store(ir, row, (s32)c->bytes_offset, IR_U64, biased);
	ir_place(ir, end);
}

static void update_histogram(struct gen *g, const struct cell *c, vreg row,
			     const struct cell_value *value)
{
	gen_histogram(g, c, row, value->reg);
}

static void (*const update[CELL_KIND_N])(struct gen *g, const struct cell *c, vreg row,
					 const struct cell_value *value) = {
	[CELL_COUNT] = update_count,	     [CELL_SUM] = update_sum,
	[CELL_MIN] = update_extreme,	     [CELL_MAX] = update_extreme,
	[CELL_HISTOGRAM] = update_histogram, [CELL_FIRST] = gen_first_last,
	[CELL_LAST] = gen_first_last,	     [CELL_SQUARES] = gen_squares,
	[CELL_HLL] = gen_registers,	     [CELL_TOP] = gen_top,
};

static bool same(const struct expr *a, const struct expr *b)
{
	return a && b ? expr_equal(a, b) : a == b;
}

/* Those of the group first .. that do, or do not, skip negative values. */
static void update_some(struct gen *g, u32 first, bool *done, vreg row,
			const struct cell_value *value, bool skips_negative)
{
	const struct cell *cells = g->phys->cells, *f = &cells[first];

	for (u32 i = first; i < g->phys->n_cells; i++) {
		if (done[i] || cells[i].skips_negative != skips_negative ||
		    !same(cells[i].arg, f->arg) || !same(cells[i].filter, f->filter))
			continue;
		done[i] = true;
		update[cells[i].kind](g, &cells[i], row, value);
	}
}

/* An event is counted once, be it negative for one argument or for several. */
struct negative {
	u32 n_groups; /* arguments with their filter that have cells which skip negatives */
	vreg is_seen; /* more than one: counted at the end */
};

static bool has_skipping(const struct gen *g, u32 first)
{
	const struct cell *cells = g->phys->cells, *f = &cells[first];

	for (u32 i = first; i < g->phys->n_cells; i++)
		if (cells[i].skips_negative && same(cells[i].arg, f->arg) &&
		    same(cells[i].filter, f->filter))
			return true;
	return false;
}

static bool is_first_of_group(const struct gen *g, u32 at)
{
	const struct cell *cells = g->phys->cells;

	for (u32 i = 0; i < at; i++)
		if (same(cells[i].arg, cells[at].arg) && same(cells[i].filter, cells[at].filter))
			return false;
	return true;
}

static struct negative negative_begin(struct gen *g)
{
	struct negative negative = { 0 };

	for (u32 i = 0; i < g->phys->n_cells; i++)
		negative.n_groups += is_first_of_group(g, i) && has_skipping(g, i);
	if (negative.n_groups > 1) {
		negative.is_seen = ir_reg(g->ir);
		ir_imm(g->ir, negative.is_seen, 0);
	}
	return negative;
}

static void negative_note(struct gen *g, const struct negative *negative)
{
	if (negative->is_seen)
		ir_imm(g->ir, negative->is_seen, 1);
	else
		gen_count(g, COUNTER_NEGATIVE);
}

static void negative_end(struct gen *g, const struct negative *negative)
{
	label none = ir_label(g->ir);

	if (!negative->is_seen)
		return;
	ir_branchi(g->ir, IR_EQ, negative->is_seen, 0, none);
	gen_count(g, COUNTER_NEGATIVE);
	ir_place(g->ir, none);
}

/* All cells of one argument and one filter: both are evaluated once. */
static void update_group(struct gen *g, u32 first, bool *done, vreg row,
			 const struct negative *negative)
{
	const struct cell *cells = g->phys->cells, *f = &cells[first];
	/* A text that cannot be read has none, also where the column is never NULL. */
	bool is_conditional = f->filter || (f->arg && (f->arg->nullable || gen_is_text(f->arg)));
	label end = ir_label(g->ir);
	u32 fork = gen_fork(g);
	struct cell_value v = { 0 };

	if (f->filter) {
		label yes = ir_label(g->ir);
		u32 before = gen_fork(g);

		gen_condition(g, f->filter, yes, end, end, yes);
		ir_place(g->ir, yes);
		gen_join(g, before);
	}
	if (f->arg) {
		ir_at(g->ir, f->arg->span);
		if (gen_is_probe(f->arg))
			v.reg = gen_probe_of(g, f->arg, end);
		else if (gen_is_text(f->arg))
			v.text = gen_text(g, f->arg, end);
		else
			v.reg = gen_value(g, f->arg, end);
	}
	update_some(g, first, done, row, &v, false);
	if (has_skipping(g, first)) {
		label countable = ir_label(g->ir);

		ir_branchi(g->ir, IR_SGE, v.reg, 0, countable);
		negative_note(g, negative);
		ir_jump(g->ir, end);
		ir_place(g->ir, countable);
		update_some(g, first, done, row, &v, true);
	}
	ir_place(g->ir, end);
	if (is_conditional)
		gen_join(g, fork);
}

void gen_cells(struct gen *g, vreg row)
{
	bool *done = arena_array(g->arena, bool, g->phys->n_cells);
	struct negative negative = negative_begin(g);

	for (u32 i = 0; i < g->phys->n_cells; i++) {
		if (done[i])
			continue;
		ir_note(g->ir, "cells");
		update_group(g, i, done, row, &negative);
	}
	negative_end(g, &negative);
}
