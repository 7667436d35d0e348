/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Conditions on texts, and IN -> jumps.  What is known while the program is made is decided
 * here: literals, and for the column `probe` the answer for each of its texts, as a table.
 */
#include <stdlib.h>
#include <string.h>

#include "gen/internal.h"

/* x OP y, x IN (list of e), or x LIKE a pattern. */
struct question {
	const struct expr *e, *x;
	enum ast_op op;
	const struct expr *y;		   /* NULL: no comparison */
	const struct automaton *automaton; /* of LIKE */
};

bool gen_order_holds(enum ast_op op, int order)
{
	if (op == OP_EQ || op == OP_IS)
		return order == 0;
	if (op == OP_NE || op == OP_IS_NOT)
		return order != 0;
	if (op == OP_LT || op == OP_LE)
		return order < 0 || (order == 0 && op == OP_LE);
	return order > 0 || (order == 0 && op == OP_GE);
}

static void jump_to(struct gen *g, bool to_yes, label yes, label no)
{
	ir_jump(g->ir, to_yes ? yes : no);
}

/* --- What is known while the program is made --- */

static int text_order(const char *a, u32 a_bytes, const struct expr *b)
{
	int order = memcmp(a, b->text, MIN(a_bytes, b->text_bytes));

	return order ? order : (a_bytes > b->text_bytes) - (a_bytes < b->text_bytes);
}

/* The answer where x is this text. */
static bool holds(const struct question *q, const char *text, u32 n)
{
	if (q->automaton)
		return gen_automaton_takes(q->automaton, text);
	if (q->y)
		return gen_order_holds(q->op, text_order(text, n, q->y));
	for (u32 i = 1; i < q->e->n_args; i++)
		if (text_order(text, n, q->e->args[i]) == 0)
			return true;
	return false;
}

/* Where the program has one stream, its `probe` is a literal; what a start stored is not. */
static const struct expr *known_probe(struct gen *g, const struct expr *e)
{
	struct expr *text;

	if (!gen_is_probe(e) || g->probe || g->hook->n_names || gen_stored(g, e))
		return e;
	text = expr_new(g->arena, EXPR_TEXT, e->span);
	text->text = g->phys->probes[g->use->first_probe];
	text->text_bytes = (u32)strlen(text->text);
	text->type = type_text(text->text_bytes);
	return text;
}

/* Yes for the codes of the column `probe` whose byte in a table of answers is 1. */
static void look_up_probe(struct gen *g, const struct question *q, label yes, label no, label null)
{
	u32 n = g->phys->n_probes;
	u8 *answers = arena_array(g->arena, u8, n);
	vreg code = gen_value(g, q->x, null), at;

	for (u32 i = 0; i < n; i++)
		answers[i] = holds(q, g->phys->probes[i], (u32)strlen(g->phys->probes[i]));
	ir_branchi(g->ir, IR_GE, code, n, no);
	at = gen_table_address(g, gen_constant_table(g, answers, n), code);
	ir_branchi(g->ir, IR_NE, gen_load(g, at, 0, IR_U8), 0, yes);
	ir_jump(g->ir, no);
}

/* --- Word by word --- */

/* Word i of a value, or 0 behind the capacity of a text. */
static vreg word_of(struct gen *g, const struct expr *e, struct operand value, u32 i)
{
	if (e->kind == EXPR_INTEGER)
		return gen_imm(g, (s64)(u64)e->integer);
	if (e->kind == EXPR_TEXT)
		return gen_imm(g, (s64)gen_literal_word(e, i));
	if (value.reg)
		return value.reg;
	return i < gen_text_words(e) ? gen_stack_load(g, value.text, 8 * i, IR_U64) : gen_imm(g, 0);
}

static void compare_words(struct gen *g, const struct question *q, label yes, label no, label null)
{
	enum ast_op op = q->op;
	bool wants_order = op == OP_LT || op == OP_LE || op == OP_GT || op == OP_GE;
	label below = gen_order_holds(op, -1) ? yes : no, above = gen_order_holds(op, 1) ? yes : no;
	struct operand x = { .text = gen_text(g, q->x, null) }, y = { 0 };

	if (q->y->kind != EXPR_TEXT)
		y.text = gen_text(g, q->y, null);
	for (u32 i = 0; i < MAX(gen_text_words(q->x), gen_text_words(q->y)); i++) {
		vreg v = word_of(g, q->x, x, i), w = word_of(g, q->y, y, i);

		if (!wants_order) {
			ir_branch(g->ir, IR_NE, v, w, below); /* or above: it is the same */
			continue;
		}
		ir_bswap(g->ir, v, v);
		ir_bswap(g->ir, w, w);
		ir_branch(g->ir, IR_LT, v, w, below);
		ir_branch(g->ir, IR_GT, v, w, above);
	}
	jump_to(g, gen_order_holds(op, 0), yes, no);
}

/* --- IN --- */

/* A number, or the first word of a text. */
static s128 order_of(const struct expr *item)
{
	return item->kind == EXPR_TEXT ? (s128)gen_literal_word(item, 0) : item->integer;
}

static int by_order(const void *a, const void *b)
{
	s128 x = order_of(*(const struct expr *const *)a);
	s128 y = order_of(*(const struct expr *const *)b);

	return x < y ? -1 : x > y;
}

/* Equal to one of these few? */
static void compare_each(struct gen *g, const struct expr *x, struct operand value,
			 const struct expr *const *items, u32 n, label yes)
{
	for (u32 j = 0; j < n; j++) {
		label other = ir_label(g->ir);

		for (u32 i = 0; i < gen_text_words(x); i++)
			ir_branch(g->ir, IR_NE, word_of(g, x, value, i),
				  word_of(g, items[j], (struct operand){ 0 }, i), other);
		ir_jump(g->ir, yes);
		ir_place(g->ir, other);
	}
}

/* A balanced tree over the first words: a long chain is quadratic for the verifier. */
static void search(struct gen *g, const struct expr *x, struct operand value,
		   const struct expr *const *sorted, u32 n, label yes, label no)
{
	bool is_signed = !gen_is_text(x) && x->lo < 0;
	u32 half = n / 2;
	label below;

	while (half < n && half > 0 && order_of(sorted[half]) == order_of(sorted[half - 1]))
		half++;
	if (n <= 4 || half >= n) {
		compare_each(g, x, value, sorted, n, yes);
		ir_jump(g->ir, no);
		return;
	}
	below = ir_label(g->ir);
	ir_branch(g->ir, is_signed ? IR_SLT : IR_LT, word_of(g, x, value, 0),
		  word_of(g, sorted[half], (struct operand){ 0 }, 0), below);
	search(g, x, value, sorted + half, n - half, yes, no);
	ir_place(g->ir, below);
	search(g, x, value, sorted, half, yes, no);
}

/* Can x be this item? */
static bool is_possible(const struct expr *x, const struct expr *item)
{
	if (gen_is_text(x))
		return item->kind == EXPR_TEXT && item->text_bytes <= 8 * gen_text_words(x);
	return item->integer >= x->lo && item->integer <= x->hi;
}

void gen_in(struct gen *g, const struct expr *e, label yes, label no, label null)
{
	const struct expr *x = e->args[0];
	struct operand value = gen_operand(g, x, null);
	const struct expr **sorted = arena_array(g->arena, const struct expr *, e->n_args);
	u32 n = 0;

	for (u32 i = 1; i < e->n_args; i++)
		if (is_possible(x, e->args[i]))
			sorted[n++] = e->args[i];
	qsort(sorted, n, sizeof(*sorted), by_order);
	search(g, x, value, sorted, n, yes, no);
}

void gen_text_condition(struct gen *g, const struct expr *e, label yes, label no, label null)
{
	struct question q = { .e = e, .x = known_probe(g, e->args[0]), .op = e->op };

	if (e->kind == EXPR_LIKE)
		q.automaton = gen_automaton(g, e);
	if (e->kind == EXPR_OP)
		q.y = known_probe(g, e->args[1]);
	if (q.y && q.y->kind != EXPR_TEXT && q.x->kind == EXPR_TEXT) {
		const struct expr *literal = q.x;

		q.x = q.y;
		q.y = literal;
		q.op = expr_op_mirrored(q.op);
	}
	if (q.x->kind == EXPR_TEXT && (!q.y || q.y->kind == EXPR_TEXT))
		jump_to(g, holds(&q, q.x->text, q.x->text_bytes), yes, no);
	else if (gen_is_probe(q.x) && (!q.y || q.y->kind == EXPR_TEXT))
		look_up_probe(g, &q, yes, no, null);
	else if (q.automaton)
		gen_automaton_run(g, q.automaton, gen_text(g, q.x, null), gen_text_words(q.x), yes,
				  no);
	else if (q.y)
		compare_words(g, &q, yes, no, null);
	else
		gen_in(g, e, yes, no, null);
}
