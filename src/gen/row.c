/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The group's row in the part's slice: found by its key, or made.
 */
#include "gen/internal.h"

#define PROBE_STEPS 64

/* --- The open-addressing table --- */

static vreg hash(struct gen *g, const struct key_word *words)
{
	const struct state_layout *s = &g->phys->state;
	vreg h = gen_key_hash(g, words, s->key_words);

	ir_alui(g->ir, IR_SHR, h, h, 64 - __builtin_ctz(s->n_index));
	return h;
}

static vreg other_row(struct gen *g)
{
	return gen_alui(g, IR_ADD, g->slice, g->phys->state.rows_bytes_offset);
}

/* A new group: the next row, its place into the index, its key into the row. */
static void insert(struct gen *g, const struct key_word *words, vreg slot, vreg entry, vreg row,
		   label full)
{
	const struct state_layout *s = &g->phys->state;
	struct ir *ir = g->ir;
	vreg rows = gen_load(g, g->slice, 8 * COUNTER_ROWS, IR_U64), at;

	ir_branchi(ir, IR_GE, rows, (s64)s->max_groups, full);
	ir_alui(ir, IR_ADD, rows, rows, 1);
	ir_store(ir, g->slice, 8 * COUNTER_ROWS, IR_U64, rows);
	at = gen_alui(g, IR_MUL, rows, s->row_bytes);
	ir_alui(ir, IR_ADD, at, at, s->rows_bytes_offset);
	ir_store(ir, entry, (s32)s->index_bytes_offset, IR_U32, at);
	ir_alu(ir, IR_ADD, row, g->slice, at);
	ir_store(ir, row, 0, IR_U32, slot);
	for (u32 i = 0; i < s->key_words; i++)
		ir_store(ir, row, 8 + 8 * (s32)i, IR_U64, gen_key_load(g, &words[i]));
}

/* To `full` where one of the keys is a stack that there is no room for, on any CPU. */
static void leave_without_stack(struct gen *g, const struct key_word *words, label full)
{
	for (u32 i = 0; i < g->phys->n_keys; i++) {
		const struct phys_key *key = &g->phys->keys[i];

		label has_room;

		if (key->expr->type.kind != TYPE_STACK)
			continue;
		has_room = ir_label(g->ir);
		ir_branchi(g->ir, IR_NE, gen_key_load(g, &words[key->first_word]), STACK_NONE,
			   has_room);
		gen_count(g, COUNTER_STACK_FULL);
		ir_jump(g->ir, full);
		ir_place(g->ir, has_room);
	}
}

static vreg table_row(struct gen *g, const struct key_word *words)
{
	const struct state_layout *s = &g->phys->state;
	struct ir *ir = g->ir;
	vreg row = ir_reg(ir), steps = ir_reg(ir), slot = hash(g, words);
	vreg entry = ir_reg(ir), number = ir_reg(ir), differ;
	label look = ir_label(ir), empty = ir_label(ir), full = ir_label(ir);
	label found = ir_label(ir);

	leave_without_stack(g, words, full);
	ir_imm(ir, steps, PROBE_STEPS);
	ir_place(ir, look);
	ir_alui(ir, IR_SHL, entry, slot, 2);
	ir_alu(ir, IR_ADD, entry, entry, g->slice);
	ir_load(ir, number, entry, (s32)s->index_bytes_offset, IR_U32);
	ir_branchi(ir, IR_EQ, number, 0, empty);
	/* Never taken: it shows the verifier that the row lies in the slice. */
	ir_branchi(ir, IR_GT, number, s->rows_bytes_offset + (s64)s->max_groups * s->row_bytes,
		   full);
	ir_alu(ir, IR_ADD, row, g->slice, number);
	/*
	 * One branch for the whole key: in a loop the verifier keeps few states to prune
	 * by, and a branch per word multiplies the paths it walks with every step.
	 */
	differ = s->key_words == 1 ? gen_load(g, row, 8, IR_U64)
				   : gen_key_differs(g, words, s->key_words, row, 8);
	if (s->key_words == 1)
		ir_branch(ir, IR_EQ, differ, gen_key_load(g, words), found);
	else
		ir_branchi(ir, IR_EQ, differ, 0, found);
	ir_alui(ir, IR_ADD, slot, slot, 1);
	ir_alui(ir, IR_AND, slot, slot, s->n_index - 1);
	ir_alui(ir, IR_SUB, steps, steps, 1);
	ir_branchi(ir, IR_NE, steps, 0, look);
	ir_place(ir, full);
	gen_count(g, COUNTER_TABLE_FULL);
	ir_mov(ir, row, other_row(g));
	ir_jump(ir, found);
	ir_place(ir, empty);
	insert(g, words, slot, entry, row, full);
	ir_place(ir, found);
	return row;
}

/* --- The kernel's hash map --- */

static vreg kernel_map(struct gen *g)
{
	vreg map = ir_reg(g->ir);
	label second = ir_label(g->ir), end = ir_label(g->ir);

	ir_branchi(g->ir, IR_NE, gen_slot_epoch(g), 0, second);
	ir_map(g->ir, map, load_map_number(g->phys, LOAD_MAP_HASH0));
	ir_jump(g->ir, end);
	ir_place(g->ir, second);
	ir_map(g->ir, map, load_map_number(g->phys, LOAD_MAP_HASH1));
	ir_place(g->ir, end);
	return map;
}

/*
 * Key: the words, then cpu * n_levels + level: each entry has one writer, so the
 * cells need no atomics.  Inserts what is not there, then looks again.
 */
static vreg kernel_map_row(struct gen *g, const struct key_word *words)
{
	const struct state_layout *s = &g->phys->state;
	struct ir *ir = g->ir;
	stack_object key = ir_stack(g->ir, 8 * (s->key_words + 1));
	vreg row = ir_reg(ir), map = kernel_map(g), writer = ir_reg(ir);
	vreg args[4] = { map, ir_reg(ir), ir_reg(ir), ir_reg(ir) };
	label found = ir_label(ir), full = ir_label(ir);
	u32 zeros;

	leave_without_stack(g, words, full);
	for (u32 i = 0; i < s->key_words; i++)
		ir_stack_store(ir, key, 8 * i, IR_U64, gen_key_load(g, &words[i]));
	ir_alui(ir, IR_MUL, writer, g->cpu, s->n_levels);
	if (s->n_levels > 1)
		ir_alu(ir, IR_ADD, writer, writer, gen_slot_level(g));
	ir_stack_store(ir, key, 8 * s->key_words, IR_U64, writer);
	ir_stack_address(ir, args[1], key, 0);
	ir_call(ir, row, BPF_FUNC_map_lookup_elem, 2, args);
	ir_branchi(ir, IR_NE, row, 0, found);
	zeros = gen_constant_table(g, arena_alloc(g->arena, s->row_bytes), s->row_bytes);
	ir_map_value(ir, args[2], LOAD_MAP_CONST, zeros);
	ir_imm(ir, args[3], BPF_NOEXIST);
	ir_call(ir, 0, BPF_FUNC_map_update_elem, 4, args);
	ir_call(ir, row, BPF_FUNC_map_lookup_elem, 2, args);
	ir_branchi(ir, IR_NE, row, 0, found);
	ir_place(ir, full);
	gen_count(g, COUNTER_TABLE_FULL);
	ir_mov(ir, row, other_row(g));
	ir_place(ir, found);
	return row;
}

/* --- Direct --- */

static vreg direct_row(struct gen *g, const struct key_word *words)
{
	const struct state_layout *s = &g->phys->state;
	vreg number;

	if (s->n_rows == 1)
		return other_row(g);
	number = gen_alui(g, IR_SUB, gen_key_load(g, &words[0]), s->domain_lo);
	/* Never taken: the key's range is known.  It is the verifier who wants to see it. */
	ir_branchi(g->ir, IR_GE, number, s->n_rows, g->done);
	ir_alui(g->ir, IR_MUL, number, number, s->row_bytes);
	return gen_alu(g, IR_ADD, number, other_row(g));
}

vreg gen_row(struct gen *g)
{
	const struct state_layout *s = &g->phys->state;
	struct key_word *words = arena_array(g->arena, struct key_word, s->key_words + 1);

	if (!(s->kind == STATE_DIRECT && s->n_rows == 1))
		gen_key_words(g, g->phys->keys, g->phys->n_keys, words);
	ir_note(g->ir, "row");
	switch (s->kind) {
	case STATE_TABLE:
		return table_row(g, words);
	case STATE_KERNEL_MAP:
		return kernel_map_row(g, words);
	case STATE_DIRECT:
		return direct_row(g, words);
	case STATE_NONE:
		break;
	}
	BUG("a query that streams has no rows of groups");
}
