/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A slot of this CPU, each part's slice of the copy in use, and the group's row in it.
 *
 * The slot is taken before anything of the slice is read and given back when all is
 * written; its word says the copy.  User space changes the words of free slots only, so
 * every event falls into one copy (load/flip.c).
 */
#include "gen/internal.h"

#define PROBE_STEPS 64

#ifdef __x86_64__
/* The processor keeps the order of stores: a plain one gives the slot back. */
#define STORES_ARE_ORDERED true
#else
#define STORES_ARE_ORDERED false
#endif

static s32 slot_bytes(u32 level)
{
	return (s32)(offsetof(struct slot_line, slots) + 8 * level);
}

/* Which of the CPU's slots it is, from its word: a number that the verifier does not know. */
static vreg slot_level(struct gen *g)
{
	return gen_alui(g, IR_AND, gen_alui(g, IR_SHR, g->word, SLOT_LEVEL_SHIFT),
			g->set->n_slots - 1);
}

/* The copy in use by this part. */
static vreg slot_epoch(struct gen *g)
{
	return gen_alui(g, IR_AND, gen_alui(g, IR_SHR, g->word, g->phys->number % BLOCK_PARTS), 1);
}

/* The first free slot of the CPU: nearly always the first of all. */
static void take_slot(struct gen *g)
{
	struct ir *ir = g->ir;
	vreg mark = ir_reg(ir);
	label got = ir_label(ir);
	u32 n = g->set->n_slots;

	g->word = ir_reg(ir);
	ir_imm(ir, mark, (s64)SLOT_BUSY);
	ir_atomic(ir, IR_ATOMIC_XCHG, g->word, g->line, slot_bytes(0), mark);
	if (n > 1)
		ir_branchi(ir, IR_SGE, g->word, 0, got);
	ir_cold(ir, n > 1);
	for (u32 level = 1; level < n; level++) {
		ir_imm(ir, mark, (s64)SLOT_BUSY);
		ir_atomic(ir, IR_ATOMIC_XCHG, g->word, g->line, slot_bytes(level), mark);
		if (level < n - 1)
			ir_branchi(ir, IR_SGE, g->word, 0, got);
	}
	ir_branchi(ir, IR_SLT, g->word, 0, g->busy);
	ir_cold(ir, false);
	ir_place(ir, got);
}

void gen_leave(struct gen *g)
{
	struct ir *ir = g->ir;
	vreg slot = g->line;

	if (g->set->n_slots > 1) {
		slot = slot_level(g);
		ir_alui(ir, IR_SHL, slot, slot, 3);
		ir_alu(ir, IR_ADD, slot, slot, g->line);
	}
	if (STORES_ARE_ORDERED)
		ir_store(ir, slot, slot_bytes(0), IR_U64, g->word);
	else
		ir_atomic(ir, IR_ATOMIC_XCHG, 0, slot, slot_bytes(0), g->word);
}

/* Where the lines end: see LOAD_MAP_SLOTS. */
static u32 missed_bytes(const struct gen *g)
{
	return phys_n_blocks(g->set) * g->set->n_cpus * sizeof(struct slot_line) +
	       8 * g->hook->number;
}

void gen_busy(struct gen *g)
{
	vreg one = gen_imm(g, 1), missed = ir_reg(g->ir);

	ir_map_value(g->ir, missed, LOAD_MAP_SLOTS, missed_bytes(g));
	ir_atomic(g->ir, IR_ATOMIC_ADD, 0, missed, 0, one);
	ir_exit(g->ir, 0);
}

/* Of this part: slices[copy][cpu * n_levels + level]; all three are in bounds, which the verifier
 * sees. */
void gen_take_slice(struct gen *g)
{
	const struct state_layout *s = &g->phys->state;
	struct ir *ir = g->ir;
	vreg copy = slot_epoch(g);

	g->slice = gen_element(g, load_map_number(g->phys, LOAD_MAP_STATE), 0, g->cpu,
			       s->n_levels * s->slice_bytes);
	ir_alui(ir, IR_MUL, copy, copy, (s64)state_slice_offset(s, 1, 0, 0));
	ir_alu(ir, IR_ADD, g->slice, g->slice, copy);
	if (s->n_levels > 1) {
		vreg level = slot_level(g);

		ir_alui(ir, IR_MUL, level, level, (s64)s->slice_bytes);
		ir_alu(ir, IR_ADD, g->slice, g->slice, level);
	}
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

static vreg table_row(struct gen *g, const struct key_word *words)
{
	const struct state_layout *s = &g->phys->state;
	struct ir *ir = g->ir;
	vreg row = ir_reg(ir), steps = ir_reg(ir), slot = hash(g, words);
	vreg entry = ir_reg(ir), number = ir_reg(ir), differ;
	label look = ir_label(ir), empty = ir_label(ir), full = ir_label(ir);
	label found = ir_label(ir);

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

	ir_branchi(g->ir, IR_NE, slot_epoch(g), 0, second);
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
	label found = ir_label(ir);
	u32 zeros;

	for (u32 i = 0; i < s->key_words; i++)
		ir_stack_store(ir, key, 8 * i, IR_U64, gen_key_load(g, &words[i]));
	ir_alui(ir, IR_MUL, writer, g->cpu, s->n_levels);
	if (s->n_levels > 1)
		ir_alu(ir, IR_ADD, writer, writer, slot_level(g));
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
