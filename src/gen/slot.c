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
			continue;
		}
		stack_object text = gen_text(g, e, null);

		for (u32 k = 0; k < key->n_words; k++) {
			if (k < gen_text_words(e)) {
				w[k] = (struct key_word){ .object = text, .offset_bytes = 8 * k };
				continue;
			}
			w[k].reg = ir_reg(g->ir);
			ir_imm(g->ir, w[k].reg, 0);
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
	t->words[0].reg = ir_reg(g->ir);
	if (g->hook->is_typed)
		ir_alu(g->ir, IR_SUB, t->words[0].reg, g->registers, t->base);
	else
		ir_mov(g->ir, t->words[0].reg, g->registers);
}

/* PAIR_TABLE: groups of PAIR_WAYS; see phys.h.  PAIR_THREAD: the slots from its hash on. */
static void find_bucket(struct gen *g, struct table *t)
{
	const struct phys_join *j = t->join;
	u32 step = j->kind == PAIR_TABLE ? PAIR_WAYS : 1;
	vreg index = ir_reg(g->ir);

	t->bucket = ir_reg(g->ir);
	ir_alui(g->ir, IR_SHR, index, t->hash, 64 - __builtin_ctz(j->n_slots / step));
	ir_alui(g->ir, IR_MUL, index, index, step * j->slot_bytes);
	ir_alu(g->ir, IR_ADD, t->bucket, t->base, index);
	ir_alui(g->ir, IR_ADD, t->bucket, t->bucket, PAIR_HEADER_BYTES);
}

struct table table_overflow(struct gen *g, const struct table *t)
{
	const struct phys_join *j = t->join;
	struct table shared = *t;
	vreg index = ir_reg(g->ir);

	shared.bucket = ir_reg(g->ir);
	if (j->n_overflow == PAIR_WAYS)
		ir_imm(g->ir, index, 0); /* one group: a shift by 64 is none */
	else
		ir_alui(g->ir, IR_SHR, index, t->hash,
			64 - __builtin_ctz(j->n_overflow / PAIR_WAYS));
	ir_alui(g->ir, IR_MUL, index, index, PAIR_WAYS * j->slot_bytes);
	ir_alu(g->ir, IR_ADD, shared.bucket, t->base, index);
	ir_alui(g->ir, IR_ADD, shared.bucket, shared.bucket, j->overflow_bytes);
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
	struct ir *ir = g->ir;
	vreg differ = 0;

	for (u32 i = 0; i < t->join->key_words; i++) {
		vreg word = ir_reg(ir);

		ir_load(ir, word, t->bucket, table_way_bytes(t, way, PAIR_KEY_BYTES + 8 * i),
			IR_U64);
		if (t->join->key_words == 1) {
			ir_branch(ir, IR_NE, word, gen_key_load(g, &t->words[i]), other);
			return;
		}
		ir_alu(ir, IR_XOR, word, word, gen_key_load(g, &t->words[i]));
		if (differ)
			ir_alu(ir, IR_OR, differ, differ, word);
		else
			differ = word;
	}
	ir_branchi(ir, IR_NE, differ, 0, other);
}

void table_take_way(struct gen *g, const struct table *t, u32 way, vreg offset, label found)
{
	ir_load(g->ir, offset, t->base, (s32)(8 * way), IR_U64);
	ir_jump(g->ir, found);
}

vreg table_slot_at(struct gen *g, const struct table *t, vreg offset, label none)
{
	vreg slot = ir_reg(g->ir);

	/* A multiple of 8: so it is, which the verifier must see too. */
	ir_branchi(g->ir, IR_GT, offset, (PAIR_WAYS - 1) * t->join->slot_bytes, none);
	ir_alui(g->ir, IR_AND, offset, offset, -8);
	ir_alu(g->ir, IR_ADD, slot, t->bucket, offset);
	return slot;
}

/* --- Choosing --- */

/* All ones where the way does not hold a start (of our key), else 0. */
static vreg mask_other(struct gen *g, const struct table *t, u32 way, bool is_any_key)
{
	struct ir *ir = g->ir;
	vreg differ = ir_reg(ir), negated = ir_reg(ir);

	ir_load(ir, differ, t->bucket, table_way_bytes(t, way, PAIR_STATE_BYTES), IR_U64);
	ir_alui(ir, IR_XOR, differ, differ, 2);
	for (u32 i = 0; !is_any_key && i < t->join->key_words; i++) {
		vreg word = ir_reg(ir);

		ir_load(ir, word, t->bucket, table_way_bytes(t, way, PAIR_KEY_BYTES + 8 * i),
			IR_U64);
		ir_alu(ir, IR_XOR, word, word, gen_key_load(g, &t->words[i]));
		ir_alu(ir, IR_OR, differ, differ, word);
	}
	ir_neg(ir, negated, differ);
	ir_alu(ir, IR_OR, differ, differ, negated);
	ir_alui(ir, IR_SAR, differ, differ, 63);
	return differ;
}

/* d = mask is all ones ? value : d */
static void replace_where(struct gen *g, vreg mask, vreg d, vreg value)
{
	vreg change = ir_reg(g->ir);

	ir_alu(g->ir, IR_XOR, change, d, value);
	ir_alu(g->ir, IR_AND, change, change, mask);
	ir_alu(g->ir, IR_XOR, d, d, change);
}

static void replace_offset(struct gen *g, const struct table *t, vreg mask, vreg offset, u32 way)
{
	vreg its = ir_reg(g->ir);

	ir_imm(g->ir, its, way * t->join->slot_bytes);
	replace_where(g, mask, offset, its);
}

/* All ones where a < b; both below 2^63, as times are. */
static vreg mask_less(struct gen *g, vreg a, vreg b)
{
	vreg mask = ir_reg(g->ir);

	ir_alu(g->ir, IR_SUB, mask, a, b);
	ir_alui(g->ir, IR_SAR, mask, mask, 63);
	return mask;
}

static struct choice choose_free(struct gen *g, const struct table *t)
{
	struct ir *ir = g->ir;
	struct choice c = { .offset = ir_reg(ir) };

	ir_imm(ir, c.offset, -1);
	for (u32 way = PAIR_WAYS; way-- > 0;) {
		vreg state = ir_reg(ir), negated = ir_reg(ir);

		ir_load(ir, state, t->bucket, table_way_bytes(t, way, PAIR_STATE_BYTES), IR_U64);
		ir_neg(ir, negated, state);
		ir_alu(ir, IR_OR, state, state, negated);
		ir_alui(ir, IR_SAR, state, state, 63);
		ir_alui(ir, IR_XOR, state, state, -1);
		replace_offset(g, t, state, c.offset, way);
	}
	return c;
}

static struct choice choose_latest(struct gen *g, const struct table *t)
{
	struct ir *ir = g->ir;
	struct choice c = { .offset = ir_reg(ir), .time = ir_reg(ir) };

	ir_imm(ir, c.offset, -1);
	ir_imm(ir, c.time, 0);
	for (u32 way = PAIR_WAYS; way-- > 0;) {
		vreg other = mask_other(g, t, way, false), time = ir_reg(ir);

		ir_load(ir, time, t->bucket, table_way_bytes(t, way, PAIR_TIME_BYTES), IR_U64);
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

static struct choice choose_oldest(struct gen *g, const struct table *t, bool is_any_key)
{
	struct ir *ir = g->ir;
	struct choice c = { ir_reg(ir), ir_reg(ir), ir_reg(ir) };
	vreg n = ir_reg(ir);

	ir_imm(ir, c.offset, -1);
	ir_imm(ir, c.time, INT64_MAX);
	ir_imm(ir, n, PAIR_WAYS);
	if (!is_any_key)
		ir_imm(ir, c.tied, 0);
	for (u32 way = 0; way < PAIR_WAYS; way++) {
		vreg other = mask_other(g, t, way, is_any_key), time = ir_reg(ir), less;

		ir_load(ir, time, t->bucket, table_way_bytes(t, way, PAIR_TIME_BYTES), IR_U64);
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

struct choice table_choose(struct gen *g, const struct table *t, enum choose which)
{
	switch (which) {
	case CHOOSE_LATEST:
		return choose_latest(g, t);
	case CHOOSE_OLDEST_OF_KEY:
		return choose_oldest(g, t, false);
	case CHOOSE_OLDEST:
		return choose_oldest(g, t, true);
	case CHOOSE_FREE:
		break;
	}
	return choose_free(g, t);
}

/* --- Taking --- */

void slot_exchange(struct gen *g, vreg slot, s32 from, s64 to, label lost)
{
	vreg old = ir_reg(g->ir), wanted = ir_reg(g->ir);

	ir_imm(g->ir, wanted, to);
	ir_compare_exchange(g->ir, old, slot, PAIR_STATE_BYTES, from, wanted);
	ir_branchi(g->ir, IR_NE, old, from, lost);
}

void slot_publish(struct gen *g, vreg slot, s32 state)
{
#ifdef __x86_64__
	ir_storei(g->ir, slot, PAIR_STATE_BYTES, IR_U64, state);
#else
	vreg v = ir_reg(g->ir);

	ir_imm(g->ir, v, state);
	ir_atomic(g->ir, IR_ATOMIC_XCHG, v, slot, PAIR_STATE_BYTES, IR_U64, v);
#endif
}

void slot_check(struct gen *g, const struct table *t, vreg slot, vreg time, bool is_any_key,
		label changed)
{
	struct ir *ir = g->ir;
	vreg word = ir_reg(ir);

	ir_load(ir, word, slot, PAIR_TIME_BYTES, IR_U64);
	ir_branch(ir, IR_NE, word, time, changed);
	for (u32 i = 0; !is_any_key && i < t->join->key_words; i++) {
		word = ir_reg(ir);
		ir_load(ir, word, slot, (s32)(PAIR_KEY_BYTES + 8 * i), IR_U64);
		ir_branch(ir, IR_NE, word, gen_key_load(g, &t->words[i]), changed);
	}
}
