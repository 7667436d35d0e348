/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Cells of a row: what one event does to the count, sum, minimum, maximum, the
 * histograms and sketches of its group.  Only this CPU writes the row, so plain loads and
 * stores do.  Zero is the neutral start of every cell.
 */
#include "gen/internal.h"

/* 128 bits: the high word takes the carry and, for a negative value, the sign. */
static void update_sum(struct gen *g, const struct cell *c, vreg row, struct operand value)
{
	vreg v = value.reg;
	vreg high = c->is_wide && c->is_signed ? gen_alui(g, IR_SAR, v, 63) : 0;
	vreg low = gen_add(g, row, c->bytes_offset, v, high);

	if (high) {
		gen_add(g, row, c->bytes_offset + 8, high, 0);
	} else if (c->is_wide) {
		label end = ir_label(g->ir);

		ir_branch(g->ir, IR_GE, low, v, end);
		gen_add_one(g, row, c->bytes_offset + 8);
		ir_place(g->ir, end);
	}
}

/* Biased so that unsigned order is the value's order; the minimum is that of the complement. */
static void update_extreme(struct gen *g, const struct cell *c, vreg row, struct operand value)
{
	struct ir *ir = g->ir;
	vreg biased = value.reg, known;
	u64 flip = (c->is_signed ? CELL_BIAS : 0) ^ (c->kind == CELL_MIN ? ~0ull : 0);
	label end = ir_label(ir);

	if (flip)
		biased = gen_alui(g, IR_XOR, biased, (s64)flip);
	known = gen_load(g, row, c->bytes_offset, IR_U64);
	ir_branch(ir, IR_LE, biased, known, end);
	ir_store(ir, row, (s32)c->bytes_offset, IR_U64, biased);
	ir_place(ir, end);
}

static void update_bits(struct gen *g, const struct cell *c, vreg row, vreg v)
{
	vreg bits = c->kind == CELL_AND ? gen_alui(g, IR_XOR, v, -1) : v;
	vreg known = gen_load(g, row, c->bytes_offset, IR_U64);

	ir_alu(g->ir, c->kind == CELL_XOR ? IR_XOR : IR_OR, known, known, bits);
	ir_store(g->ir, row, (s32)c->bytes_offset, IR_U64, known);
}

static void update(struct gen *g, const struct cell *c, vreg row, struct operand value)
{
	switch (c->kind) {
	case CELL_COUNT:
		gen_add_one(g, row, c->bytes_offset);
		return;
	case CELL_SUM:
		update_sum(g, c, row, value);
		return;
	case CELL_MIN:
	case CELL_MAX:
		update_extreme(g, c, row, value);
		return;
	case CELL_OR:
	case CELL_AND:
	case CELL_XOR:
		update_bits(g, c, row, value.reg);
		return;
	case CELL_HISTOGRAM:
		gen_histogram(g, c, row, value.reg);
		return;
	case CELL_FIRST:
	case CELL_LAST:
		gen_first_last(g, c, row, value);
		return;
	case CELL_SQUARES:
		gen_squares(g, c, row, value);
		return;
	case CELL_HLL:
		gen_registers(g, c, row, value);
		return;
	case CELL_TOP:
		gen_top(g, c, row, value);
		return;
	case CELL_NONE:
	case CELL_KIND_N:
		break;
	}
	BUG("cell kind %d", c->kind);
}

static bool same(const struct expr *a, const struct expr *b)
{
	return a && b ? expr_equal(a, b) : a == b;
}

/* Are they updated together, with one argument and one filter? */
static bool is_of_group(const struct cell *a, const struct cell *b)
{
	return same(a->arg, b->arg) && same(a->filter, b->filter);
}

/* Those of the group first .. that do, or do not, skip negative values. */
static void update_some(struct gen *g, u32 first, bool *done, vreg row, struct operand value,
			bool skips_negative)
{
	const struct cell *cells = g->phys->cells;

	for (u32 i = first; i < g->phys->n_cells; i++) {
		if (done[i] || cells[i].skips_negative != skips_negative ||
		    !is_of_group(&cells[i], &cells[first]))
			continue;
		done[i] = true;
		update(g, &cells[i], row, value);
		if ((s32)i == g->phys->wake_cell)
			gen_wake_count(g);
	}
}

static bool has_skipping(const struct gen *g, u32 first)
{
	const struct cell *cells = g->phys->cells;

	for (u32 i = first; i < g->phys->n_cells; i++)
		if (cells[i].skips_negative && is_of_group(&cells[i], &cells[first]))
			return true;
	return false;
}

static bool is_first_of_group(const struct gen *g, u32 at)
{
	const struct cell *cells = g->phys->cells;

	for (u32 i = 0; i < at; i++)
		if (is_of_group(&cells[i], &cells[at]))
			return false;
	return true;
}

/* --- An event is counted once, be it negative for one argument or for several --- */

static bool is_weight_signed(const struct cell *c)
{
	return c->weight && c->weight->lo < 0;
}

static void negative_begin(struct gen *g)
{
	u32 n = 0; /* places that may find a negative value */

	for (u32 i = 0; i < g->phys->n_cells; i++) {
		n += is_first_of_group(g, i) && has_skipping(g, i);
		n += is_weight_signed(&g->phys->cells[i]);
	}
	g->negative = n < 2 ? 0 : gen_imm(g, 0);
}

static void negative_end(struct gen *g)
{
	label none = ir_label(g->ir);

	if (!g->negative)
		return;
	ir_branchi(g->ir, IR_EQ, g->negative, 0, none);
	gen_count(g, COUNTER_NEGATIVE);
	ir_place(g->ir, none);
}

/* What is computed in one place only needs no mark. */
static void attempts_begin(struct gen *g)
{
	g->attempts.n = 0;
	for (u32 i = 0; i < g->phys->n_cells; i++) {
		if (is_first_of_group(g, i))
			gen_attempt_place(g, g->phys->cells[i].arg);
		gen_attempt_place(g, g->phys->cells[i].weight);
	}
}

/* All cells of one argument, which is evaluated once, with the filter of the first. */
static void update_group(struct gen *g, u32 first, bool *done, vreg row)
{
	const struct expr *arg = g->phys->cells[first].arg;
	label end = ir_label(g->ir);
	u32 fork = gen_fork(g);
	struct operand v = { 0 };

	if (arg) {
		ir_at(g->ir, arg->span);
		v = gen_cell_operand(g, arg, end);
	}
	update_some(g, first, done, row, v, false);
	if (has_skipping(g, first)) {
		label countable = ir_label(g->ir);

		ir_branchi(g->ir, IR_SGE, v.reg, 0, countable);
		gen_negative(g);
		ir_jump(g->ir, end);
		ir_place(g->ir, countable);
		update_some(g, first, done, row, v, true);
	}
	ir_place(g->ir, end);
	/* A text that cannot be read has none, also where the column is never NULL. */
	if (arg && (arg->nullable || gen_is_text(arg)))
		gen_join(g, fork);
}

/* All cells of one filter, which is evaluated once. */
static void update_filtered(struct gen *g, u32 first, bool *done, vreg row)
{
	const struct cell *cells = g->phys->cells;
	const struct expr *filter = cells[first].filter;
	label end = ir_label(g->ir);
	u32 fork = gen_fork(g);

	if (filter) {
		label yes = ir_label(g->ir);

		gen_condition(g, filter, yes, end, end, yes);
		ir_place(g->ir, yes);
		gen_join(g, fork);
	}
	for (u32 i = first; i < g->phys->n_cells; i++)
		if (!done[i] && same(cells[i].filter, filter))
			update_group(g, i, done, row);
	ir_place(g->ir, end);
	if (filter)
		gen_join(g, fork);
}

void gen_cells(struct gen *g, vreg row)
{
	bool *done = arena_array(g->arena, bool, g->phys->n_cells);

	negative_begin(g);
	attempts_begin(g);
	for (u32 i = 0; i < g->phys->n_cells; i++) {
		if (done[i])
			continue;
		ir_note(g->ir, "cells");
		update_filtered(g, i, done, row);
	}
	negative_end(g);
}
