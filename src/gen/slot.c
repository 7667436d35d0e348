/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Slots of a join's table: where a key may stand, which of the starts there is meant,
 * and taking a slot for oneself.
 */
#include "gen/slot.h"

/* --- Keys and buckets --- */

/* The key of this side; a NULL matches nothing. */
static void key_words(struct gen *g, const struct phys_step *step, struct key_word *words,
		      label null)
{
	const struct phys_join *j = step->join;

	for (u32 i = 0; i < j->n_keys; i++) {
		const struct phys_key *key = &j->keys[i];
		struct key_word *w = &words[key->first_word];
		struct expr *e = step->keys[i];

		ir_at(g->ir, e->span);
		if (!gen_is_text(e)) {
			w->reg = gen_value(g, e, null);
			w->has_ways = gen_is_computed(e) && !e->nullable;
			continue;
		}
		stack_object text = gen_text(g, e, null);

		for (u32 k = 0; k < key->n_words; k++) {
			w[k] = (struct key_word){ .object = text, .offset_bytes = 8 * k };
			if (k >= gen_text_words(e))
				w[k].reg = gen_imm(g, 0);
		}
	}
}

/*
 * PAIR_THREAD: where the thread's registers are saved.  A typed pointer may not be
 * computed with, but two pointers may be subtracted (allow_ptr_leaks, CAP_PERFMON), and
 * the table stands where it stands for both programs.
 */
static void thread_word(struct gen *g, struct table *t)
{
	bool has_registers = access_kinds[g->hook->path].is_of_calls;
	vreg registers = has_registers ? g->registers : gen_task_registers(g);

	t->words[0].reg = registers;
	if (g->hook->is_typed || !has_registers)
		t->words[0].reg = gen_alu(g, IR_SUB, registers, t->base);
}

/* PAIR_TABLE: groups of PAIR_WAYS; see phys.h.  PAIR_THREAD: the slots from its hash on. */
static void find_bucket(struct gen *g, struct table *t)
{
	const struct phys_join *j = t->join;
	u32 step = j->kind == PAIR_TABLE ? PAIR_WAYS : 1;
	vreg index = gen_alui(g, IR_SHR, t->hash, 64 - __builtin_ctz(j->n_slots / step));

	ir_alui(g->ir, IR_MUL, index, index, step * j->slot_bytes);
	t->bucket = gen_alu(g, IR_ADD, t->base, index);
	ir_alui(g->ir, IR_ADD, t->bucket, t->bucket, PAIR_HEADER_BYTES);
}

struct table table_overflow(struct gen *g, const struct table *t)
{
	const struct phys_join *j = t->join;
	struct table shared = *t;

	shared.bucket = t->base;
	if (j->n_overflow > PAIR_WAYS) { /* one group: a shift by 64 is none */
		vreg index =
			gen_alui(g, IR_SHR, t->hash, 64 - __builtin_ctz(j->n_overflow / PAIR_WAYS));

		ir_alui(g->ir, IR_MUL, index, index, PAIR_WAYS * j->slot_bytes);
		shared.bucket = gen_alu(g, IR_ADD, t->base, index);
	}
	shared.bucket = gen_alui(g, IR_ADD, shared.bucket, j->overflow_bytes);
	return shared;
}

struct table table_open(struct gen *g, const struct phys_step *step, label null)
{
	const struct phys_join *j = step->join;
	struct table t = { .join = j };

	ir_at(g->ir, step->span);
	t.words = arena_array(g->arena, struct key_word, MAX(j->key_words, 1u));
	if (j->kind == PAIR_TABLE)
		key_words(g, step, t.words, null);
	ir_at(g->ir, step->span);
	t.base = ir_reg(g->ir);
	ir_map_value(g->ir, t.base, load_map_number(g->phys, LOAD_MAP_PAIR), (u32)j->offset_bytes);
	if (j->kind == PAIR_THREAD)
		thread_word(g, &t);
	t.hash = gen_key_hash(g, t.words, j->key_words);
	find_bucket(g, &t);
	return t;
}

s32 table_way_bytes(const struct table *t, u32 way, u32 offset_bytes)
{
	return (s32)(way * t->join->slot_bytes + offset_bytes);
}

void table_branch_other_key(struct gen *g, const struct table *t, u32 way, label other)
{
	/* One word, of a thread: compared as it is, which is an instruction less. */
	vreg word = gen_load(g, t->bucket, (u32)table_way_bytes(t, way, PAIR_KEY_BYTES), IR_U64);

	BUG_ON(t->join->key_words != 1);
	ir_branch(g->ir, IR_NE, word, gen_key_load(g, t->words), other);
}

void table_take_way(struct gen *g, const struct table *t, u32 way, vreg offset, label found)
{
	ir_load(g->ir, offset, t->base, (s32)(8 * way), IR_U64);
	ir_jump(g->ir, found);
}

vreg table_slot_at(struct gen *g, const struct table *t, vreg offset, label none)
{
	/* A multiple of 8: so it is, which the verifier must see too. */
	ir_branchi(g->ir, IR_GT, offset, (PAIR_WAYS - 1) * t->join->slot_bytes, none);
	ir_alui(g->ir, IR_AND, offset, offset, -8);
	return gen_alu(g, IR_ADD, t->bucket, offset);
}

/* --- Choosing --- */

/* A word of the way's slot. */
static vreg word_of(struct gen *g, const struct table *t, u32 way, u32 offset_bytes)
{
	return gen_load(g, t->bucket, (u32)table_way_bytes(t, way, offset_bytes), IR_U64);
}

/* v = v is not 0 ? all ones : 0 */
static void spread(struct gen *g, vreg v)
{
	vreg negated = ir_reg(g->ir);

	ir_neg(g->ir, negated, v);
	ir_alu(g->ir, IR_OR, v, v, negated);
	ir_alui(g->ir, IR_SAR, v, v, 63);
}

static vreg state_of(struct gen *g, const struct table *t, u32 way)
{
	return gen_load(g, t->bucket, (u32)table_way_bytes(t, way, PAIR_STATE_BYTES), IR_U32);
}

/* All ones where the way does not hold a start (of our key), else 0. */
static vreg mask_other(struct gen *g, const struct table *t, u32 way, bool is_any_key)
{
	vreg differ = state_of(g, t, way);

	ir_alui(g->ir, IR_XOR, differ, differ, 2);
	if (!is_any_key)
		ir_alu(g->ir, IR_OR, differ, differ,
		       gen_key_differs(g, t->words, t->join->key_words, t->bucket,
				       (u32)table_way_bytes(t, way, PAIR_KEY_BYTES)));
	spread(g, differ);
	return differ;
}

/* d = mask is all ones ? value : d */
static void replace_where(struct gen *g, vreg mask, vreg d, vreg value)
{
	vreg change = gen_alu(g, IR_XOR, d, value);

	ir_alu(g->ir, IR_AND, change, change, mask);
	ir_alu(g->ir, IR_XOR, d, d, change);
}

static void replace_offset(struct gen *g, const struct table *t, vreg mask, vreg offset, u32 way)
{
	replace_where(g, mask, offset, gen_imm(g, way * t->join->slot_bytes));
}

/* All ones where a < b; both below 2^63, as times are. */
static vreg mask_less(struct gen *g, vreg a, vreg b)
{
	return gen_alui(g, IR_SAR, gen_alu(g, IR_SUB, a, b), 63);
}

struct choice table_free(struct gen *g, const struct table *t)
{
	struct choice c = { .offset = gen_imm(g, -1) };

	for (u32 way = PAIR_WAYS; way-- > 0;) {
		vreg state = state_of(g, t, way);

		spread(g, state);
		ir_alui(g->ir, IR_XOR, state, state, -1);
		replace_offset(g, t, state, c.offset, way);
	}
	return c;
}

struct choice table_latest(struct gen *g, const struct table *t)
{
	struct ir *ir = g->ir;
	struct choice c = { .offset = gen_imm(g, -1), .time = gen_imm(g, 0) };

	for (u32 way = PAIR_WAYS; way-- > 0;) {
		vreg other = mask_other(g, t, way, false);
		vreg time = word_of(g, t, way, PAIR_TIME_BYTES);

		if (t->now)
			ir_alu(ir, IR_OR, other, other, mask_less(g, t->now, time));
		ir_alui(ir, IR_XOR, other, other, -1);
		ir_alu(ir, IR_AND, time, time, other);
		other = mask_less(g, c.time, time);
		replace_where(g, other, c.time, time);
		replace_offset(g, t, other, c.offset, way);
	}
	return c;
}

struct choice table_oldest(struct gen *g, const struct table *t, bool is_any_key)
{
	struct ir *ir = g->ir;
	struct choice c = { .offset = gen_imm(g, -1), .time = gen_imm(g, INT64_MAX) };
	vreg n = gen_imm(g, PAIR_WAYS);

	c.tied = gen_imm(g, 0);
	for (u32 way = 0; way < PAIR_WAYS; way++) {
		vreg other = mask_other(g, t, way, is_any_key), less;
		vreg time = word_of(g, t, way, PAIR_TIME_BYTES);

		ir_alu(ir, IR_ADD, n, n, other);
		ir_alui(ir, IR_SHR, other, other, 1);
		ir_alu(ir, IR_OR, time, time, other); /* not meant: later than all others */
		less = mask_less(g, time, c.time);
		replace_where(g, less, c.time, time);
		replace_offset(g, t, less, c.offset, way);
		if (is_any_key)
			continue;
		/* Only 0 less 1 is below 0. */
		ir_alu(ir, IR_XOR, time, time, t->now);
		ir_alui(ir, IR_SUB, time, time, 1);
		ir_alu(ir, IR_OR, c.tied, c.tied, time);
	}
	if (!is_any_key) {
		/* n - 2 < 0: one start of the key is to be left alone. */
		ir_alui(ir, IR_SUB, n, n, 2);
		ir_alui(ir, IR_SAR, n, n, 63);
		ir_alu(ir, IR_OR, c.offset, c.offset, n);
	}
	return c;
}

/* --- Taking --- */

vreg slot_others(struct gen *g, vreg slot)
{
	return gen_load(g, slot, PAIR_OTHERS_BYTES, IR_U32);
}

void slot_exchange(struct gen *g, vreg slot, s32 from, s64 to, label lost)
{
	vreg old = ir_reg(g->ir), wanted = gen_imm(g, to);

	ir_compare_exchange(g->ir, old, slot, PAIR_STATE_BYTES, IR_U32, from, wanted);
	ir_branchi(g->ir, IR_NE, old, from, lost);
}

void slot_publish(struct gen *g, vreg slot, s32 state)
{
	if (g->set->arch->keeps_order)
		ir_storei(g->ir, slot, PAIR_STATE_BYTES, IR_U32, state);
	else /* it is ours, which is 1 */
		ir_compare_exchange(g->ir, 0, slot, PAIR_STATE_BYTES, IR_U32, 1, gen_imm(g, state));
}

void slot_check(struct gen *g, const struct table *t, vreg slot, vreg time, bool is_any_key,
		label changed)
{
	u32 n_words = t->join->key_words;

	ir_branch(g->ir, IR_NE, gen_load(g, slot, PAIR_TIME_BYTES, IR_U64), time, changed);
	if (!is_any_key)
		ir_branchi(g->ir, IR_NE,
			   gen_key_differs(g, t->words, n_words, slot, PAIR_KEY_BYTES), 0, changed);
}
