/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * LIKE and GLOB with a literal pattern: a non-deterministic automaton of at most
 * 63 states run in the bits of one register, one byte of text at a time.
 *
 * State i means: the first i elements (bytes, _ or [sets]) matched.  For byte c,
 * advance[c] has bit i where element i + 1 takes c; keep[c] has bit i where state
 * i stays: behind a %, and behind a _ while c continues a UTF-8 character.
 *     states = (states & advance[c]) << 1 | states & keep[c]
 */

#include "gen/internal.h"

struct automaton {
	struct {
		u64 advance, keep;
	} on[256];
	u32 n; /* elements; state n accepts */
};

static bool is_continuation(u32 c)
{
	return c >= 0x80 && c < 0xc0;
}

static u32 fold_case(u32 c)
{
	return c >= 'A' && c <= 'Z' ? c + 32 : c;
}

static void element_any(struct automaton *a)
{
	for (u32 c = 0; c < 256; c++) {
		if (!is_continuation(c))
			a->on[c].advance |= 1ull << a->n;
		else
			a->on[c].keep |= 2ull << a->n;
	}
	a->n++;
}

static void element_byte(struct automaton *a, u32 byte, bool is_glob)
{
	for (u32 c = 0; c < 256; c++)
		if (c == byte || (!is_glob && fold_case(c) == fold_case(byte)))
			a->on[c].advance |= 1ull << a->n;
	a->n++;
}

/* [abc], [a-z], [^...], a ] first is itself.  Returns the bytes it took, 0: no closing ]. */
static u32 element_set(struct automaton *a, const u8 *p, u32 n)
{
	bool in[256] = { false };
	u32 i = 1;
	bool negated = i < n && p[i] == '^';

	i += negated;
	for (u32 first = i; i < n && (p[i] != ']' || i == first); i++) {
		if (i + 2 < n && p[i + 1] == '-' && p[i + 2] != ']') {
			for (u32 c = p[i]; c <= p[i + 2]; c++)
				in[c] = true;
			i += 2;
		} else {
			in[p[i]] = true;
		}
	}
	if (i >= n)
		return 0;
	for (u32 c = 1; c < 256; c++)
		if (in[c] != negated)
			a->on[c].advance |= 1ull << a->n;
	a->n++;
	return i + 1;
}

const struct automaton *gen_automaton(struct gen *g, const struct expr *e)
{
	struct automaton *a = arena_new(g->arena, struct automaton);
	const u8 *p = (const u8 *)e->text;
	u8 many = e->is_glob ? '*' : '%', any = e->is_glob ? '?' : '_';

	for (u32 i = 0; i < e->text_bytes;) {
		u32 took = 1;

		BUG_ON(a->n >= 63 && p[i] != many); /* the cut leaves them to SQLite */
		if (p[i] == many) {
			for (u32 c = 0; c < 256; c++)
				a->on[c].keep |= 1ull << a->n;
		} else if (p[i] == any) {
			element_any(a);
		} else if (e->is_glob && p[i] == '[') {
			took = element_set(a, p + i, e->text_bytes - i);
			if (!took) {
				/* No closing bracket: SQLite matches nothing. */
				a->n++;
				break;
			}
		} else {
			element_byte(a, p[i], e->is_glob);
		}
		i += took;
	}
	return a;
}

bool gen_automaton_takes(const struct automaton *a, const char *text)
{
	u64 states = 1;

	for (const u8 *c = (const u8 *)text; *c; c++)
		states = (states & a->on[*c].advance) << 1 | (states & a->on[*c].keep);
	return states >> a->n & 1;
}

void gen_automaton_run(struct gen *g, const struct automaton *a, stack_object text, u32 words,
		       label yes, label no)
{
	struct ir *ir = g->ir;
	vreg states = gen_imm(g, 1), table = ir_reg(ir);
	label end = ir_label(ir);

	ir_map_value(ir, table, LOAD_MAP_CONST, gen_constant_table(g, a->on, sizeof(a->on)));
	for (u32 i = 0; i < 8 * words; i++) {
		vreg c = gen_stack_load(g, text, i, IR_U8), entry, keep;

		ir_branchi(ir, IR_EQ, c, 0, end);
		entry = gen_alu(g, IR_ADD, table, gen_alui(g, IR_SHL, c, 4));
		keep = gen_load(g, entry, 8, IR_U64);
		ir_alu(ir, IR_AND, keep, keep, states);
		ir_load(ir, entry, entry, 0, IR_U64);
		ir_alu(ir, IR_AND, states, states, entry);
		ir_alui(ir, IR_SHL, states, states, 1);
		ir_alu(ir, IR_OR, states, states, keep);
	}
	ir_place(ir, end);
	ir_alui(ir, IR_SHR, states, states, a->n);
	ir_alui(ir, IR_AND, states, states, 1);
	ir_branchi(ir, IR_NE, states, 0, yes);
	ir_jump(ir, no);
}
