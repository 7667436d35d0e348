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

/* Any odd constant with its bits well mixed; this is 2^64 divided by the golden ratio. */
#define HASH_MULTIPLIER 0x9e3779b97f4a7c15ll

static vreg counter_add(struct gen *g, vreg base, s32 offset)
{
	vreg v = ir_reg(g->ir);

	ir_load(g->ir, v, base, offset, IR_U64);
	ir_alui(g->ir, IR_ADD, v, v, 1);
	ir_store(g->ir, base, offset, IR_U64, v);
	return v;
}

/* A part that only stores starts here has no slice: what it counts stands in the control line. */
static void count_start(struct gen *g, u32 offset_bytes)
{
	struct ir *ir = g->ir;
	vreg cpu = gen_current_cpu(g), line = ir_reg(ir), offset = ir_reg(ir), one = ir_reg(ir);
	label unknown = ir_label(ir);

	ir_branchi(ir, IR_GE, cpu, g->phys->state.n_cpus, unknown);
	ir_map_value(ir, line, load_map_number(g->phys, LOAD_MAP_CONTROL), 0);
	ir_alui(ir, IR_MUL, offset, cpu, sizeof(struct control_line));
	ir_alu(ir, IR_ADD, line, line, offset);
	ir_imm(ir, one, 1);
	ir_atomic(ir, IR_ATOMIC_ADD, 0, line, (s32)offset_bytes, IR_U64, one);
	ir_place(ir, unknown);
}

void gen_count(struct gen *g, enum counter counter)
{
	if (g->slice) {
		counter_add(g, g->slice, 8 * (s32)counter);
		return;
	}
	switch (counter) {
	case COUNTER_FAULT:
		count_start(g, offsetof(struct control_line, start_faults));
		break;
	case COUNTER_NEGATIVE:
		count_start(g, offsetof(struct control_line, start_negative));
		break;
	case COUNTER_EVICTED:
		count_start(g, offsetof(struct control_line, start_evicted));
		break;
	case COUNTER_RUNNING_FULL:
		count_start(g, offsetof(struct control_line, start_running_full));
		break;
	default:
		BUG("counter %d of a program without a slice", counter);
	}
}

void gen_count_unpaired(struct gen *g, enum unpaired kind)
{
	if (g->slice)
		counter_add(g, g->slice, 8 * (s32)(COUNTER_UNPAIRED + kind));
	else
		count_start(g, (u32)(offsetof(struct control_line, unpaired) + 8 * kind));
}

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
	vreg level = ir_reg(g->ir);

	ir_alui(g->ir, IR_SHR, level, g->word, SLOT_LEVEL_SHIFT);
	ir_alui(g->ir, IR_AND, level, level, g->set->n_slots - 1);
	return level;
}

/* The copy in use by this part. */
static vreg slot_epoch(struct gen *g)
{
	vreg epoch = ir_reg(g->ir);
	u32 bit = g->phys->number % BLOCK_PARTS;

	ir_alui(g->ir, IR_SHR, epoch, g->word, bit);
	ir_alui(g->ir, IR_AND, epoch, epoch, 1);
	return epoch;
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
	ir_atomic(ir, IR_ATOMIC_XCHG, g->word, g->line, slot_bytes(0), IR_U64, mark);
	if (n > 1)
		ir_branchi(ir, IR_SGE, g->word, 0, got);
	ir_cold(ir, n > 1);
	for (u32 level = 1; level < n; level++) {
		ir_imm(ir, mark, (s64)SLOT_BUSY);
		ir_atomic(ir, IR_ATOMIC_XCHG, g->word, g->line, slot_bytes(level), IR_U64, mark);
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
		ir_atomic(ir, IR_ATOMIC_XCHG, 0, slot, slot_bytes(0), IR_U64, g->word);
}

/* Where the lines end: see LOAD_MAP_SLOTS. */
static u32 missed_bytes(const struct gen *g)
{
	return phys_n_blocks(g->set) * g->set->n_cpus * sizeof(struct slot_line) +
	       8 * g->hook->number;
}

void gen_busy(struct gen *g)
{
	vreg one = ir_reg(g->ir), missed = ir_reg(g->ir);

	ir_imm(g->ir, one, 1);
	ir_map_value(g->ir, missed, LOAD_MAP_SLOTS, missed_bytes(g));
	ir_atomic(g->ir, IR_ATOMIC_ADD, 0, missed, 0, IR_U64, one);
	ir_exit(g->ir, 0);
}

/* Of this part: slices[copy][cpu * n_levels + level]; all three are in bounds, which the verifier
 * sees. */
void gen_take_slice(struct gen *g)
{
	const struct state_layout *s = &g->phys->state;
	struct ir *ir = g->ir;
	vreg copy = slot_epoch(g), offset = ir_reg(ir);

	g->slice = ir_reg(ir);
	ir_map_value(ir, g->slice, load_map_number(g->phys, LOAD_MAP_STATE), 0);
	ir_alui(ir, IR_MUL, offset, g->cpu, (s64)(s->n_levels * s->slice_bytes));
	ir_alu(ir, IR_ADD, g->slice, g->slice, offset);
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
	vreg offset = ir_reg(ir), kept = ir_reg(ir);
	u32 line = g->hook->block * g->set->n_cpus;

	g->cpu = gen_current_cpu(g);
	ir_branchi(ir, IR_GE, g->cpu, g->set->n_cpus, out);
	g->line = ir_reg(ir);
	ir_map_value(ir, g->line, LOAD_MAP_SLOTS, line * sizeof(struct slot_line));
	ir_alui(ir, IR_MUL, offset, g->cpu, sizeof(struct slot_line));
	ir_alu(ir, IR_ADD, g->line, g->line, offset);
	/* Used again at the end only: that copy may lie on the stack, what is used now not. */
	ir_mov(ir, kept, g->line);
	take_slot(g);
	g->line = kept;
}

/* --- Key words --- */

vreg gen_key_load(struct gen *g, const struct key_word *k)
{
	vreg v;

	if (k->reg)
		return k->reg;
	v = ir_reg(g->ir);
	if (k->is_constant)
		ir_imm(g->ir, v, k->constant);
	else
		ir_stack_load(g->ir, v, k->object, k->offset_bytes, IR_U64);
	return v;
}

bool gen_key_tells(const struct key_word *words, u32 n_words, u32 i)
{
	for (u32 k = 0; words[i].is_constant && k < n_words; k++)
		if (!words[k].is_constant)
			return false;
	return true;
}

static void set_null_bit(struct gen *g, const struct phys_key *key, vreg nulls)
{
	ir_alui(g->ir, IR_OR, nulls, nulls, (s64)(1ull << key->null_bit));
}

/* A nullable text: its words are copied aside, zero where the text is NULL. */
static void nullable_text(struct gen *g, const struct phys_key *key, vreg nulls,
			  struct key_word *words)
{
	stack_object copy = gen_stack(g, 8 * key->n_words), text;
	label null = ir_label(g->ir), end = ir_label(g->ir);
	u32 fork = gen_fork(g);

	text = gen_text(g, key->expr, null);
	for (u32 i = 0; i < key->n_words; i++) {
		vreg v = ir_reg(g->ir);

		ir_stack_load(g->ir, v, text, 8 * i, IR_U64);
		ir_stack_store(g->ir, copy, 8 * i, IR_U64, v);
		words[i] = (struct key_word){ .object = copy, .offset_bytes = 8 * i };
	}
	ir_jump(g->ir, end);
	ir_place(g->ir, null);
	for (u32 i = 0; i < key->n_words; i++)
		ir_stack_storei(g->ir, copy, 8 * i, IR_U64, 0);
	set_null_bit(g, key, nulls);
	gen_join(g, fork);
	ir_place(g->ir, end);
}

static vreg nullable_word(struct gen *g, const struct phys_key *key, vreg nulls)
{
	vreg v = ir_reg(g->ir);
	label null = ir_label(g->ir), end = ir_label(g->ir);
	u32 fork = gen_fork(g);

	ir_mov(g->ir, v,
	       key->is_probe ? gen_probe_of(g, key->expr, null) : gen_value(g, key->expr, null));
	ir_jump(g->ir, end);
	ir_place(g->ir, null);
	ir_imm(g->ir, v, 0);
	set_null_bit(g, key, nulls);
	gen_join(g, fork);
	ir_place(g->ir, end);
	return v;
}

/* A key that has one value in all groups (rule keys of opt/). */
static bool is_fixed(const struct phys_key *key)
{
	return key->expr->kind == EXPR_INTEGER || key->expr->kind == EXPR_TEXT;
}

static void fixed_words(const struct phys_key *key, struct key_word *words)
{
	const struct expr *e = key->expr;

	for (u32 i = 0; i < key->n_words; i++) {
		words[i].is_constant = true;
		words[i].constant =
			e->kind == EXPR_TEXT ? (s64)gen_literal_word(e, i) : (s64)(u64)e->integer;
	}
}

/* A key that may be NULL is known from here on, NULL or not: a fault in it is counted once. */
static void know_key(struct gen *g, const struct phys_key *key, const struct key_word *w,
		     vreg nulls)
{
	struct stored known = { .expr = key->expr,
				.nulls = nulls,
				.null_mask = 1ull << key->null_bit };

	for (u32 i = 0; i < g->stored.n; i++) {
		if (!expr_equal(g->stored.at[i].expr, key->expr))
			continue;
		g->stored.at[i].fault_mask = 0;
		return;
	}
	if (gen_is_text(key->expr))
		known.text = w->object;
	else
		known.reg = w->reg;
	vec_push(g->arena, &g->stored, known);
}

void gen_key_words(struct gen *g, const struct phys_key *keys, u32 n_keys, struct key_word *words)
{
	vreg nulls = 0;

	for (u32 i = 0; i < n_keys; i++) {
		if (keys[i].null_bit < 0 || nulls)
			continue;
		nulls = ir_reg(g->ir);
		ir_imm(g->ir, nulls, 0);
		words[0].reg = nulls;
	}
	for (u32 i = 0; i < n_keys; i++) {
		const struct phys_key *key = &keys[i];
		struct key_word *w = &words[key->first_word];

		if (key->is_slice)
			continue;
		ir_at(g->ir, key->expr->span);
		ir_note(g->ir, "key %s", key->name);
		if (is_fixed(key)) {
			fixed_words(key, w);
		} else if (key->null_bit >= 0 && (key->is_probe || !gen_is_text(key->expr))) {
			w->reg = nullable_word(g, key, nulls);
		} else if (key->is_probe) {
			w->reg = gen_probe_of(g, key->expr, g->done);
		} else if (key->null_bit >= 0) {
			nullable_text(g, key, nulls, w);
		} else if (gen_is_text(key->expr)) {
			stack_object text = gen_text(g, key->expr, g->done);

			for (u32 j = 0; j < key->n_words; j++)
				w[j] = (struct key_word){ .object = text, .offset_bytes = 8 * j };
		} else {
			w->reg = gen_value(g, key->expr, g->done);
		}
		if (key->null_bit >= 0 && !key->is_probe && !is_fixed(key))
			know_key(g, key, w, nulls);
	}
}

/* --- The open-addressing table --- */

vreg gen_key_hash(struct gen *g, const struct key_word *words, u32 n_words)
{
	vreg h = ir_reg(g->ir), multiplier = ir_reg(g->ir);
	bool is_first = true;

	ir_imm(g->ir, multiplier, HASH_MULTIPLIER);
	for (u32 i = 0; i < n_words; i++) {
		vreg w;

		if (!gen_key_tells(words, n_words, i))
			continue;
		w = gen_key_load(g, &words[i]);
		if (is_first) {
			ir_alu(g->ir, IR_MUL, h, w, multiplier);
			is_first = false;
			continue;
		}
		/* The product's good bits are its high ones: bring them down before the next. */
		vreg high = ir_reg(g->ir);

		ir_alui(g->ir, IR_SHR, high, h, 29);
		ir_alu(g->ir, IR_XOR, h, h, high);
		ir_alu(g->ir, IR_XOR, h, h, w);
		ir_alu(g->ir, IR_MUL, h, h, multiplier);
	}
	return h;
}

static vreg hash(struct gen *g, const struct key_word *words)
{
	const struct state_layout *s = &g->phys->state;
	vreg h = gen_key_hash(g, words, s->key_words);

	ir_alui(g->ir, IR_SHR, h, h, 64 - __builtin_ctz(s->n_index));
	return h;
}

static vreg row_address(struct gen *g, vreg number)
{
	const struct state_layout *s = &g->phys->state;
	vreg row = ir_reg(g->ir);

	ir_alui(g->ir, IR_MUL, row, number, s->row_bytes);
	ir_alu(g->ir, IR_ADD, row, row, g->slice);
	ir_alui(g->ir, IR_ADD, row, row, s->rows_bytes_offset);
	return row;
}

static vreg other_row(struct gen *g)
{
	vreg row = ir_reg(g->ir);

	ir_alui(g->ir, IR_ADD, row, g->slice, g->phys->state.rows_bytes_offset);
	return row;
}

/* A new group: the next row, its place into the index, its key into the row. */
static void insert(struct gen *g, const struct key_word *words, vreg slot, vreg entry, vreg row,
		   label full)
{
	const struct state_layout *s = &g->phys->state;
	struct ir *ir = g->ir;
	vreg rows = ir_reg(ir), at;

	ir_load(ir, rows, g->slice, 8 * COUNTER_ROWS, IR_U64);
	ir_branchi(ir, IR_GE, rows, (s64)s->max_groups, full);
	ir_alui(ir, IR_ADD, rows, rows, 1);
	ir_store(ir, g->slice, 8 * COUNTER_ROWS, IR_U64, rows);
	at = ir_reg(ir);
	ir_alui(ir, IR_MUL, at, rows, s->row_bytes);
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
	vreg entry = ir_reg(ir), number = ir_reg(ir), differ = 0;
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
	for (u32 i = 0; i < s->key_words; i++) {
		vreg stored;

		if (!gen_key_tells(words, s->key_words, i))
			continue;
		stored = ir_reg(ir);
		ir_load(ir, stored, row, 8 + 8 * (s32)i, IR_U64);
		if (s->key_words == 1) {
			ir_branch(ir, IR_EQ, stored, gen_key_load(g, &words[i]), found);
			break;
		}
		ir_alu(ir, IR_XOR, stored, stored, gen_key_load(g, &words[i]));
		if (differ)
			ir_alu(ir, IR_OR, differ, differ, stored);
		else
			differ = stored;
	}
	if (differ)
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
	stack_object key = gen_stack(g, 8 * (s->key_words + 1));
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
	buf_fill(g->constants, 0, (8 - g->constants->n % 8) % 8);
	zeros = (u32)g->constants->n;
	buf_fill(g->constants, 0, s->row_bytes);
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
	number = ir_reg(g->ir);
	ir_alui(g->ir, IR_SUB, number, gen_key_load(g, &words[0]), s->domain_lo);
	/* Never taken: the key's range is known.  It is the verifier who wants to see it. */
	ir_branchi(g->ir, IR_GE, number, s->n_rows, g->done);
	return row_address(g, number);
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
