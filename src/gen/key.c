/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Keys of groups, joins and running sums -> words, and their hash.
 */
#include "gen/internal.h"

/* Any odd constant with its bits well mixed; this is 2^64 divided by the golden ratio. */
#define HASH_MULTIPLIER 0x9e3779b97f4a7c15ll

vreg gen_key_load(struct gen *g, const struct key_word *k)
{
	if (k->reg)
		return k->reg;
	if (k->is_constant)
		return gen_imm(g, k->constant);
	return gen_stack_load(g, k->object, k->offset_bytes, IR_U64);
}

/* Is this word one that keys are told apart by?  Where all are constant, each is. */
static bool is_telling(const struct key_word *words, u32 n_words, u32 i)
{
	for (u32 k = 0; words[i].is_constant && k < n_words; k++)
		if (!words[k].is_constant)
			return false;
	return true;
}

vreg gen_key_differs(struct gen *g, const struct key_word *words, u32 n_words, vreg base,
		     u32 offset_bytes)
{
	vreg differ = 0;

	for (u32 i = 0; i < n_words; i++) {
		vreg word;

		if (!is_telling(words, n_words, i))
			continue;
		word = gen_load(g, base, offset_bytes + 8 * i, IR_U64);
		ir_alu(g->ir, IR_XOR, word, word, gen_key_load(g, &words[i]));
		if (differ)
			ir_alu(g->ir, IR_OR, differ, differ, word);
		else
			differ = word;
	}
	return differ;
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
static void know_key(struct gen *g, const struct phys_key *key, const struct operand *s, vreg nulls)
{

	for (u32 i = 0; i < g->stored.n; i++) {
		if (!expr_equal(g->stored.at[i].expr, key->expr))
			continue;
		g->stored.at[i].fault_mask = 0;
		return;
	}
	vec_push(g->arena, &g->stored,
		 (struct stored){ .expr = key->expr,
				  .reg = s->reg,
				  .text = s->text,
				  .nulls = nulls,
				  .null_mask = 1ull << key->null_bit });
}

/*
 * A hash becomes a place in an array, of which the verifier wants to know all, and with it of all
 * that it came from: of n keys that are this or that (0 and the bit of NULL) each combination, 2^n
 * ways through all that follows.  Bits of NULL that are asked for later do the same.  What comes
 * from memory it neither knows nor asks for.
 */
static vreg from_memory(struct gen *g, vreg v)
{
	if (!g->slice) /* a part that only stores starts here has none */
		return v;
	ir_store(g->ir, g->slice, 8 * COUNTER_HASH, IR_U64, v);
	return gen_load(g, g->slice, 8 * COUNTER_HASH, IR_U64);
}

void gen_key_words(struct gen *g, const struct phys_key *keys, u32 n_keys, struct key_word *words)
{
	u32 n_nullable = 0;
	vreg nulls = 0, zero = 0;

	for (u32 i = 0; i < n_keys; i++)
		n_nullable += keys[i].null_bit >= 0;
	if (n_nullable) {
		nulls = gen_imm(g, 0);
		/* Up to 6.8 a 0 on the stack is known for good once it is spilled (STACK_ZERO). */
		if (n_nullable > 1) {
			nulls = from_memory(g, nulls);
			zero = gen_alui(g, IR_ADD, nulls, 0);
		}
		words[0].reg = nulls;
	}
	for (u32 i = 0; i < n_keys; i++) {
		const struct phys_key *key = &keys[i];
		struct key_word *w = &words[key->first_word];
		bool has_ways = key->null_bit >= 0 || gen_is_computed(key->expr);
		struct operand s;

		if (key->is_slice)
			continue;
		ir_at(g->ir, key->expr->span);
		ir_note(g->ir, "key %s", key->name);
		if (is_fixed(key)) {
			fixed_words(key, w);
			continue;
		}
		s = gen_nullable(g, key->expr, key->null_bit, nulls, zero);
		for (u32 j = 0; j < key->n_words; j++)
			w[j] = (struct key_word){ .reg = s.reg,
						  .object = s.text,
						  .offset_bytes = 8 * j,
						  .has_ways = j == 0 && has_ways };
		if (key->null_bit >= 0 && !key->is_probe)
			know_key(g, key, &s, nulls);
	}
}

vreg gen_key_hash(struct gen *g, const struct key_word *words, u32 n_words)
{
	u32 n_ways = 0;
	vreg multiplier = gen_imm(g, HASH_MULTIPLIER), h = 0, high;

	for (u32 i = 0; i < n_words; i++) {
		vreg w;

		if (!is_telling(words, n_words, i))
			continue;
		n_ways += words[i].has_ways;
		w = gen_key_load(g, &words[i]);
		if (!h) {
			h = gen_alu(g, IR_MUL, w, multiplier);
			continue;
		}
		/* The product's good bits are its high ones: bring them down before the next. */
		high = gen_alui(g, IR_SHR, h, 29);
		ir_alu(g->ir, IR_XOR, h, h, high);
		ir_alu(g->ir, IR_XOR, h, h, w);
		ir_alu(g->ir, IR_MUL, h, h, multiplier);
	}
	return n_ways > 1 ? from_memory(g, h) : h;
}
