/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Pieces of code that operators share: operations into a new register, elements of arrays,
 * texts word by word, tables of constants.
 */
#include <string.h>

#include "gen/internal.h"

vreg gen_imm(struct gen *g, s64 value)
{
	vreg v = ir_reg(g->ir);

	ir_imm(g->ir, v, value);
	return v;
}

vreg gen_alu(struct gen *g, enum ir_alu op, vreg a, vreg b)
{
	vreg v = ir_reg(g->ir);

	ir_alu(g->ir, op, v, a, b);
	return v;
}

vreg gen_alui(struct gen *g, enum ir_alu op, vreg a, s64 b)
{
	vreg v = ir_reg(g->ir);

	ir_alui(g->ir, op, v, a, b);
	return v;
}

vreg gen_load(struct gen *g, vreg base, u32 offset_bytes, enum ir_size size)
{
	vreg v = ir_reg(g->ir);

	ir_load(g->ir, v, base, (s32)offset_bytes, size);
	return v;
}

/* An atomic operation that gives a value is a barrier, before and behind it. */
vreg gen_load_in_order(struct gen *g, vreg base, u32 offset_bytes)
{
	vreg v;

	if (g->set->arch->keeps_order)
		return gen_load(g, base, offset_bytes, IR_U64);
	v = ir_reg(g->ir);
	ir_atomic(g->ir, IR_ATOMIC_FETCH_ADD, v, base, (s32)offset_bytes, gen_imm(g, 0));
	return v;
}

vreg gen_stack_load(struct gen *g, stack_object object, u32 offset_bytes, enum ir_size size)
{
	vreg v = ir_reg(g->ir);

	ir_stack_load(g->ir, v, object, offset_bytes, size);
	return v;
}

vreg gen_element(struct gen *g, u32 map, u64 offset_bytes, vreg index, u64 stride_bytes)
{
	vreg at = ir_reg(g->ir);

	ir_map_value(g->ir, at, map, (u32)offset_bytes);
	ir_alu(g->ir, IR_ADD, at, at, gen_alui(g, IR_MUL, index, (s64)stride_bytes));
	return at;
}

void gen_add_one(struct gen *g, vreg base, u32 offset_bytes)
{
	vreg n = gen_load(g, base, offset_bytes, IR_U64);

	ir_alui(g->ir, IR_ADD, n, n, 1);
	ir_store(g->ir, base, (s32)offset_bytes, IR_U64, n);
}

vreg gen_add(struct gen *g, vreg base, u32 offset_bytes, vreg v, vreg carry)
{
	vreg sum = gen_load(g, base, offset_bytes, IR_U64);
	label none = ir_label(g->ir);

	ir_alu(g->ir, IR_ADD, sum, sum, v);
	ir_store(g->ir, base, (s32)offset_bytes, IR_U64, sum);
	if (!carry)
		return sum;
	ir_branch(g->ir, IR_GE, sum, v, none);
	ir_alui(g->ir, IR_ADD, carry, carry, 1);
	ir_place(g->ir, none);
	return sum;
}

void gen_store_unknown(struct gen *g, stack_object to, vreg v)
{
	ir_stack_store(g->ir, to, 0, IR_U32, v);
	ir_stack_store(g->ir, to, 4, IR_U32, gen_alui(g, IR_SHR, v, 32));
}

void gen_words_in(struct gen *g, stack_object to, vreg base, u32 offset_bytes, u32 n_words)
{
	for (u32 i = 0; i < 8 * n_words; i += 8)
		ir_stack_store(g->ir, to, i, IR_U64, gen_load(g, base, offset_bytes + i, IR_U64));
}

void gen_words_out(struct gen *g, vreg base, u32 offset_bytes, stack_object from, u32 n_words)
{
	for (u32 i = 0; i < 8 * n_words; i += 8)
		ir_store(g->ir, base, (s32)(offset_bytes + i), IR_U64,
			 gen_stack_load(g, from, i, IR_U64));
}

void gen_words_copy(struct gen *g, stack_object to, stack_object from, u32 n_words)
{
	for (u32 i = 0; i < 8 * n_words; i += 8)
		ir_stack_store(g->ir, to, i, IR_U64, gen_stack_load(g, from, i, IR_U64));
}

void gen_words_zero(struct gen *g, stack_object to, u32 n_words)
{
	for (u32 i = 0; i < 8 * n_words; i += 8)
		ir_stack_storei(g->ir, to, i, IR_U64, 0);
}

u32 gen_constant_table(struct gen *g, const void *table, size_t bytes)
{
	struct buf *constants = g->constants;

	for (size_t at = 0; at + bytes <= constants->n; at += 8)
		if (memcmp(constants->at + at, table, bytes) == 0)
			return (u32)at;
	buf_fill(constants, 0, (8 - constants->n % 8) % 8);
	buf_put(constants, table, bytes);
	return (u32)(constants->n - bytes);
}

vreg gen_table_address(struct gen *g, u32 table, vreg offset)
{
	vreg at = ir_reg(g->ir);

	ir_map_value(g->ir, at, LOAD_MAP_CONST, table);
	ir_alu(g->ir, IR_ADD, at, at, offset);
	return at;
}
