/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A running sum: the slot of the row's keys, an atomic add to it, and the new sum as a
 * column that is known from there on.  phys/phys.h says how the table is laid out.
 */
#include "gen/internal.h"

struct sum {
	const struct phys_running *r;
	vreg value, nulls; /* what comes out: bit 0 of nulls: it is NULL */
	label null, full, over, end;
};

static s32 at(const struct phys_running *r, s32 offset_bytes)
{
	return (s32)r->sum_bytes + offset_bytes;
}

/* What the verifier knows it follows up, for each value anew. */
static vreg unknown_zero(struct gen *g, const struct phys_running *r)
{
	vreg header = ir_reg(g->ir);

	ir_map_value(g->ir, header, load_map_number(g->phys, LOAD_MAP_PAIR), (u32)r->offset_bytes);
	return gen_load(g, header, 0, IR_U64);
}

static vreg slot_at(struct gen *g, const struct phys_running *r, vreg number)
{
	return gen_element(g, load_map_number(g->phys, LOAD_MAP_PAIR), r->slots_bytes, number,
			   r->slot_bytes);
}

static vreg direct_slot(struct gen *g, const struct sum *s, const struct key_word *words)
{
	const struct phys_running *r = s->r;
	vreg number;

	if (!r->n_keys) {
		number = ir_reg(g->ir);
		ir_map_value(g->ir, number, load_map_number(g->phys, LOAD_MAP_PAIR),
			     (u32)r->slots_bytes);
		return number;
	}
	number = gen_alui(g, IR_SUB, gen_key_load(g, &words[0]), r->domain_lo);
	/* Never taken: the key's range is known.  It is the verifier who wants to see it. */
	ir_branchi(g->ir, IR_GE, number, r->n_slots, g->done);
	return slot_at(g, r, number);
}

/*
 * The slot where the search begins, of a key with this hash.  A key may be a constant (of a
 * NULL it is): then the verifier would know the slot of every step, and walk what follows
 * for each anew.
 */
static vreg first_slot(struct gen *g, const struct phys_running *r, vreg hash)
{
	vreg number = gen_alui(g, IR_SHR, hash, 64 - __builtin_ctz(r->n_slots));

	ir_alu(g->ir, IR_XOR, number, number, unknown_zero(g, r));
	return gen_alui(g, IR_AND, number, r->n_slots - 1);
}

/* What a slot in use is marked by: the hash, which no free slot has. */
static vreg tag_of(struct gen *g, vreg hash)
{
	vreg tag = ir_reg(g->ir);
	label is_tag = ir_label(g->ir);

	ir_mov(g->ir, tag, hash);
	ir_branchi(g->ir, IR_NE, tag, 0, is_tag);
	ir_imm(g->ir, tag, 1);
	ir_place(g->ir, is_tag);
	return tag;
}

/*
 * Nobody waits: a slot is taken with its tag, at once, and whoever meets that tag before
 * the key is written takes the key for the same.
 */
static vreg table_slot(struct gen *g, const struct sum *s, const struct key_word *words,
		       vreg is_full)
{
	const struct phys_running *r = s->r;
	struct ir *ir = g->ir;
	vreg hash = gen_key_hash(g, words, r->key_words), tag = tag_of(g, hash);
	vreg number = first_slot(g, r, hash), steps = ir_reg(ir), slot = ir_reg(ir);
	vreg its = ir_reg(ir), old = ir_reg(ir), written;
	label look = ir_label(ir), free = ir_label(ir), next = ir_label(ir);
	label again = ir_label(ir), found = ir_label(ir);

	ir_imm(ir, steps, RUNNING_STEPS);
	ir_place(ir, look);
	ir_mov(ir, slot, slot_at(g, r, number));
	ir_load(ir, its, slot, RUNNING_TAG_BYTES, IR_U64);
	ir_branchi(ir, IR_EQ, its, 0, free);
	ir_branch(ir, IR_NE, its, tag, next);
	/* The key is read behind it. */
	ir_branchi(ir, IR_EQ, gen_load_in_order(g, slot, RUNNING_WRITTEN_BYTES), 0, found);
	/* One branch: see state.c. */
	ir_branchi(ir, IR_EQ, gen_key_differs(g, words, r->key_words, slot, RUNNING_KEY_BYTES), 0,
		   found);
	ir_place(ir, next);
	ir_alui(ir, IR_ADD, number, number, 1);
	ir_alui(ir, IR_AND, number, number, r->n_slots - 1);
	ir_place(ir, again);
	ir_alui(ir, IR_SUB, steps, steps, 1);
	ir_branchi(ir, IR_NE, steps, 0, look);
	if (is_full)
		ir_alui(ir, IR_ADD, is_full, is_full, 1);
	ir_jump(ir, s->full);
	ir_place(ir, free);
	ir_compare_exchange(ir, old, slot, RUNNING_TAG_BYTES, IR_U64, 0, tag);
	ir_branchi(ir, IR_NE, old, 0, again); /* another CPU's by now: of our key perhaps */
	for (u32 i = 0; i < r->key_words; i++)
		ir_store(ir, slot, (s32)(RUNNING_KEY_BYTES + 8 * i), IR_U64,
			 gen_key_load(g, &words[i]));
	/* The key is seen by who sees the mark: an exchange orders both. */
	written = gen_imm(g, 1);
	ir_atomic(ir, IR_ATOMIC_XCHG, written, slot, RUNNING_WRITTEN_BYTES, written);
	ir_place(ir, found);
	return slot;
}

static void leave_if_over(struct gen *g, const struct sum *s, vreg slot)
{
	u32 over = (u32)at(s->r, RUNNING_OVER_BYTES);

	if (s->r->may_overflow)
		ir_branchi(g->ir, IR_NE, gen_load(g, slot, over, IR_U64), 0, s->over);
}

/* The row adds nothing: the sum as it stands. */
static void read_sum(struct gen *g, const struct sum *s, vreg slot)
{
	leave_if_over(g, s, slot);
	ir_branchi(g->ir, IR_EQ, gen_load(g, slot, (u32)at(s->r, RUNNING_SET_BYTES), IR_U64), 0,
		   s->null);
	ir_load(g->ir, s->value, slot, at(s->r, RUNNING_SUM_BYTES), IR_U64);
	ir_jump(g->ir, s->end);
}

/* Signs: old + v overflowed when both differ from the sum. */
static void check_sum(struct gen *g, const struct sum *s, vreg slot, vreg old, vreg v)
{
	struct ir *ir = g->ir;
	vreg x = gen_alu(g, IR_XOR, old, s->value), y = gen_alu(g, IR_XOR, v, s->value);

	ir_branchi(ir, IR_SGE, gen_alu(g, IR_AND, x, y), 0, s->end);
	ir_storei(ir, slot, at(s->r, RUNNING_OVER_BYTES), IR_U64, 1);
	ir_jump(ir, s->over);
}

static void add(struct gen *g, const struct sum *s, vreg slot, label no_value)
{
	const struct expr *x = s->r->plan->running.arg;
	struct ir *ir = g->ir;
	vreg v = gen_value(g, x, no_value), old = ir_reg(ir);

	ir_at(ir, s->r->plan->span);
	if (x->hi > INT64_MAX) {
		label fits = ir_label(ir);

		ir_branchi(ir, IR_SGE, v, 0, fits);
		ir_storei(ir, slot, at(s->r, RUNNING_OVER_BYTES), IR_U64, 1);
		ir_jump(ir, s->over);
		ir_place(ir, fits);
	}
	leave_if_over(g, s, slot);
	if (x->nullable)
		ir_storei(ir, slot, at(s->r, RUNNING_SET_BYTES), IR_U64, 1);
	ir_atomic(ir, IR_ATOMIC_FETCH_ADD, old, slot, at(s->r, RUNNING_SUM_BYTES), v);
	ir_alu(ir, IR_ADD, s->value, old, v);
	if (s->r->may_overflow)
		check_sum(g, s, slot, old, v);
	else
		ir_jump(ir, s->end);
}

/* Whoever asks for the sum's value behind this step finds it as a stored column. */
static void know_sum(struct gen *g, const struct sum *s)
{
	const struct plan *p = s->r->plan;
	struct expr *e = expr_new(g->arena, EXPR_RUNNING, p->span);

	e->index = p->running.number;
	e->source = plan_trigger(p->input);
	e->type = type_int(64, true);
	if (p->running.arg->type.kind == TYPE_DURATION)
		e->type.kind = TYPE_DURATION;
	vec_push(g->arena, &g->stored,
		 (struct stored){ .expr = e, .reg = s->value, .nulls = s->nulls, .null_mask = 1 });
}

/* Found for the first sum of these keys, known to the others. */
static vreg slot_of(struct gen *g, const struct sum *s)
{
	const struct phys_running *r = s->r;
	struct key_word *words;
	vreg slot, is_full = 0;

	for (u32 i = 0; i < g->slots.n; i++) {
		if (g->slots.at[i].running != r->leader)
			continue;
		if (g->slots.at[i].is_full)
			ir_branchi(g->ir, IR_NE, g->slots.at[i].is_full, 0, s->full);
		return g->slots.at[i].slot;
	}
	BUG_ON(r->leader);
	words = arena_array(g->arena, struct key_word, r->key_words + 1);
	gen_key_words(g, r->keys, r->n_keys, words);
	ir_at(g->ir, r->plan->span);
	if (r->kind == RUNNING_TABLE && r->n_followers) {
		is_full = ir_reg(g->ir);
		ir_mov(g->ir, is_full, unknown_zero(g, r));
	}
	slot = r->kind == RUNNING_DIRECT ? direct_slot(g, s, words)
					 : table_slot(g, s, words, is_full);
	vec_push(g->arena, &g->slots, (struct running_slot){ r, slot, is_full });
	return slot;
}

void gen_running(struct gen *g, const struct phys_step *step)
{
	const struct phys_running *r = step->running;
	struct ir *ir = g->ir;
	struct sum s = { .r = r,
			 .value = ir_reg(ir),
			 .nulls = ir_reg(ir),
			 .null = ir_label(ir),
			 .full = ir_label(ir),
			 .over = ir_label(ir),
			 .end = ir_label(ir) };
	label no_value = ir_label(ir);
	vreg slot;
	u32 fork;

	ir_note(ir, "running sum r%u", r->number);
	ir_at(ir, step->span);
	/* Were it a constant, a sum that is NULL and one that is not would be two ways through all
	 * that follows, and n sums 2^n. */
	ir_mov(ir, s.nulls, unknown_zero(g, r));
	slot = slot_of(g, &s);
	fork = gen_fork(g);
	add(g, &s, slot, no_value);
	ir_place(ir, no_value);
	read_sum(g, &s, slot);
	ir_place(ir, s.full);
	gen_count(g, COUNTER_RUNNING_FULL);
	ir_jump(ir, s.null);
	ir_place(ir, s.over);
	gen_count(g, COUNTER_FAULT);
	ir_place(ir, s.null);
	ir_imm(ir, s.value, 0);
	ir_alui(ir, IR_ADD, s.nulls, s.nulls, 1); /* not OR: then it knew the bit */
	gen_join(g, fork);
	ir_place(ir, s.end);
	know_sum(g, &s);
}
