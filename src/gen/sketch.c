/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Cells of first, last, stddev, approx_count_distinct and top_k: what one event does to
 * them.  Hashes, registers and sets are those of type/hll.h and type/top.h, word by word.
 */
#include "gen/internal.h"
#include "type/type.h"

/* Word i of the value. */
static vreg word_of(struct gen *g, struct operand value, u32 i)
{
	return value.reg ? value.reg : gen_stack_load(g, value.text, 8 * i, IR_U64);
}

/* --- first, last --- */

/* Of events at one instant, FIRST keeps the one that came first, LAST the one that came last. */
void gen_first_last(struct gen *g, const struct cell *c, vreg row, struct operand value)
{
	struct ir *ir = g->ir;
	label end = ir_label(ir);
	u32 fork = gen_fork(g);
	vreg time = gen_value(g, c->time, end);
	vreg order = c->kind == CELL_FIRST ? gen_alui(g, IR_XOR, time, -1)
					   : gen_alui(g, IR_ADD, time, 1);

	ir_branch(ir, c->kind == CELL_FIRST ? IR_LE : IR_LT, order,
		  gen_load(g, row, c->bytes_offset, IR_U64), end);
	ir_store(ir, row, (s32)c->bytes_offset, IR_U64, order);
	for (u32 i = 0; i < c->n_words; i++)
		ir_store(ir, row, (s32)(c->bytes_offset + 8 + 8 * i), IR_U64, word_of(g, value, i));
	ir_place(ir, end);
	if (c->time->nullable)
		gen_join(g, fork);
}

/* --- stddev --- */

/*
 * m^2 in 128 bits: with m = b 2^32 + a it is b^2 2^64 + a b 2^33 + a^2.  The high word is
 * at most 2^64 - 2: a carry into it stays in it.
 */
static void square(struct gen *g, vreg m, vreg ret_low, vreg ret_high)
{
	struct ir *ir = g->ir;
	vreg a = ir_reg(ir), b = gen_alui(g, IR_SHR, m, 32), cross, part;
	label none = ir_label(ir);

	ir_extend(ir, a, m, IR_U32);
	cross = gen_alu(g, IR_MUL, a, b);
	ir_alu(ir, IR_MUL, ret_low, a, a);
	ir_alu(ir, IR_MUL, ret_high, b, b);
	part = gen_alui(g, IR_SHL, cross, 33);
	ir_alui(ir, IR_SHR, cross, cross, 31);
	ir_alu(ir, IR_ADD, ret_high, ret_high, cross);
	ir_alu(ir, IR_ADD, ret_low, ret_low, part);
	ir_branch(ir, IR_GE, ret_low, part, none);
	ir_alui(ir, IR_ADD, ret_high, ret_high, 1);
	ir_place(ir, none);
}

void gen_squares(struct gen *g, const struct cell *c, vreg row, struct operand value)
{
	struct ir *ir = g->ir;
	const u32 at = c->bytes_offset;
	vreg low = ir_reg(ir), high = ir_reg(ir), top, m = value.reg;

	if (c->n_words < 3) {
		ir_alu(ir, IR_MUL, low, m, m);
		ir_imm(ir, high, 0);
		gen_add(g, row, at, low, c->n_words == 2 ? high : 0);
		if (c->n_words == 2)
			gen_add(g, row, at + 8, high, 0);
		return;
	}
	if (c->is_signed) {
		vreg sign = gen_alui(g, IR_SAR, value.reg, 63);

		m = gen_alu(g, IR_XOR, value.reg, sign);
		ir_alu(ir, IR_SUB, m, m, sign);
	}
	square(g, m, low, high);
	top = gen_imm(g, 0);
	gen_add(g, row, at, low, high);
	gen_add(g, row, at + 8, high, top);
	gen_add(g, row, at + 16, top, 0);
}

/* --- approx_count_distinct --- */

static void shift_xor(struct gen *g, vreg h)
{
	ir_alu(g->ir, IR_XOR, h, h, gen_alui(g, IR_SHR, h, HLL_SHIFT));
}

/* hll_hash() */
static vreg hash_of(struct gen *g, struct operand value, u32 n_words)
{
	struct ir *ir = g->ir;
	vreg h = gen_alui(g, IR_ADD, word_of(g, value, 0), (s64)HLL_OFFSET);

	for (u32 i = 1; i < n_words; i++)
		ir_alu(ir, IR_ADD, h, h,
		       gen_alui(g, IR_MUL, word_of(g, value, i), (s64)hll_word_multiplier(i)));
	shift_xor(g, h);
	ir_alui(ir, IR_MUL, h, h, (s64)HLL_MULTIPLIER_1);
	shift_xor(g, h);
	ir_alui(ir, IR_MUL, h, h, (s64)HLL_MULTIPLIER_2);
	shift_xor(g, h);
	return h;
}

/*
 * hll_rank(): x ^ (x - 1) has all bits up to the lowest set one of x, which is what the
 * table of logarithms is indexed by.
 */
static vreg rank_of(struct gen *g, vreg hash, u32 bits)
{
	struct ir *ir = g->ir;
	vreg x = gen_alui(g, IR_SHR, hash, bits);
	u8 table[64];

	for (u32 i = 0; i < ARRAY_SIZE(table); i++)
		table[i] = scheme_log2_table[i] + 1;
	ir_alui(ir, IR_OR, x, x, (s64)(1ull << (64 - bits)));
	ir_alu(ir, IR_XOR, x, x, gen_alui(g, IR_SUB, x, 1));
	ir_alui(ir, IR_MUL, x, x, (s64)SCHEME_LOG2_MULTIPLIER);
	ir_alui(ir, IR_SHR, x, x, 58);
	return gen_load(g, gen_table_address(g, gen_constant_table(g, table, sizeof(table)), x), 0,
			IR_U8);
}

void gen_registers(struct gen *g, const struct cell *c, vreg row, struct operand value)
{
	struct ir *ir = g->ir;
	vreg hash = hash_of(g, value, c->n_words), rank = rank_of(g, hash, c->hll_bits);
	vreg at = gen_alui(g, IR_AND, hash, (s64)(1ull << c->hll_bits) - 1);
	label end = ir_label(ir);

	ir_alu(ir, IR_ADD, at, at, row);
	ir_branch(ir, IR_LE, rank, gen_load(g, at, c->bytes_offset, IR_U8), end);
	ir_store(ir, at, (s32)c->bytes_offset, IR_U8, rank);
	ir_place(ir, end);
}

/* --- top_k --- */

#define WAY_ARRAY_BYTES (8 * (s32)TOP_WAYS)

/* The event's weight, in the total too; what has none, or one below zero, goes to end. */
static vreg weight_of(struct gen *g, const struct cell *c, vreg row, label end)
{
	struct ir *ir = g->ir;
	vreg weight = ir_reg(ir), total = gen_load(g, row, c->bytes_offset, IR_U64);
	label fits = ir_label(ir), positive = ir_label(ir);

	if (!c->weight) {
		ir_imm(ir, weight, 1);
	} else {
		ir_mov(ir, weight, gen_cell_operand(g, c->weight, end).reg);
		if (c->weight->lo < 0) {
			ir_branchi(ir, IR_SGE, weight, 0, positive);
			gen_negative(g);
			ir_jump(ir, end);
			ir_place(ir, positive);
		}
		ir_branchi(ir, IR_EQ, weight, 0, end);
	}
	ir_alu(ir, IR_ADD, total, total, weight);
	if (c->weight) {
		ir_branch(ir, IR_GE, total, weight, fits);
		gen_count(g, COUNTER_FAULT);
		ir_jump(ir, end);
		ir_place(ir, fits);
	}
	ir_store(ir, row, (s32)c->bytes_offset, IR_U64, total);
	return weight;
}

/* The way of least weight, as bytes from the first, and its weight. */
static vreg least_way(struct gen *g, vreg set, s32 weights, vreg ret_least)
{
	struct ir *ir = g->ir;
	vreg way = gen_imm(g, 0);

	ir_load(ir, ret_least, set, weights, IR_U64);
	for (u32 i = 1; i < TOP_WAYS; i++) {
		vreg other = gen_load(g, set, (u32)weights + 8 * i, IR_U64);
		label more = ir_label(ir);

		ir_branch(ir, IR_GE, other, ret_least, more);
		ir_mov(ir, ret_least, other);
		ir_imm(ir, way, 8 * i);
		ir_place(ir, more);
	}
	return way;
}

/*
 * The ways in use are the first ones of a set, and a free one is all zeros: so a value 0
 * that is not there is found in the first free way, which is the one that it would take.
 */
void gen_top(struct gen *g, const struct cell *c, vreg row, struct operand value)
{
	struct ir *ir = g->ir;
	const s32 weights = (s32)c->bytes_offset + 8, values = weights + 2 * WAY_ARRAY_BYTES;
	vreg set, at = ir_reg(ir), known = ir_reg(ir), weight, hash;
	label found = ir_label(ir), end = ir_label(ir);
	u32 fork = gen_fork(g);

	weight = weight_of(g, c, row, end);
	hash = hash_of(g, value, c->top.n_words);
	set = gen_alui(g, IR_SHR, hash, 64 - __builtin_ctz(c->top.n_sets));
	ir_alui(ir, IR_MUL, set, set, top_set_bytes(&c->top));
	ir_alu(ir, IR_ADD, set, set, row);
	for (u32 way = 0; way < TOP_WAYS; way++) {
		label other = ir_label(ir);

		for (u32 i = 0; i < c->top.n_words; i++) {
			u32 place = (u32)values + i * WAY_ARRAY_BYTES + 8 * way;
			vreg stored = gen_load(g, set, place, IR_U64);

			ir_branch(ir, IR_NE, stored, word_of(g, value, i), other);
		}
		ir_alui(ir, IR_ADD, at, set, 8 * way);
		ir_jump(ir, found);
		ir_place(ir, other);
	}
	ir_alu(ir, IR_ADD, at, set, least_way(g, set, weights, known));
	ir_store(ir, at, weights + WAY_ARRAY_BYTES, IR_U64, known);
	for (u32 i = 0; i < c->top.n_words; i++)
		ir_store(ir, at, values + (s32)i * WAY_ARRAY_BYTES, IR_U64, word_of(g, value, i));
	ir_place(ir, found);
	ir_load(ir, known, at, weights, IR_U64);
	ir_alu(ir, IR_ADD, known, known, weight);
	ir_store(ir, at, weights, IR_U64, known);
	ir_place(ir, end);
	if (c->weight && c->weight->nullable)
		gen_join(g, fork);
}
