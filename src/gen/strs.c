/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * strs(p): the texts of a program that an array of pointers leads to, or those of a program or the
 * kernel that stand one behind the other, as one text with blanks between them.  Each step reads a
 * piece of a text to where the last one ended; a text of several pieces takes several steps.
 *
 * The steps are no loop: the verifier keeps its states by instruction, and drops those that seldom
 * match: of a loop of 48 steps it walked 443,000 instructions.
 */
#include "gen/internal.h"

#define TEXTS_LEAST 32 /* that are read, where there is room */

static const char more[] = { '.', '.', '.' };

struct strs {
	stack_object text;
	u32 room;   /* bytes */
	vreg piece; /* where the next one is read */
	vreg at;    /* of pointers: where that to this text stands */
	vreg end;   /* of texts one behind the other */
	vreg n;	    /* bytes of the text so far */
	label done, is_cut, failed;
};

/* The text whose pointer is there; behind the last one it is NULL. */
static void follow(struct gen *g, const struct strs *s)
{
	stack_object pointer = gen_scratch(g);
	vreg failed = gen_probe_read(g, BPF_FUNC_probe_read_user, pointer, 8, s->at);

	ir_branchi(g->ir, IR_NE, failed, 0, s->failed);
	ir_stack_load(g->ir, s->piece, pointer, 0, IR_U64);
	ir_branchi(g->ir, IR_EQ, s->piece, 0, s->done);
}

/* By the difference: of two addresses that are compared the verifier would keep each bound. */
static void follow_to_end(struct gen *g, const struct strs *s)
{
	ir_branchi(g->ir, IR_SLE, gen_alu(g, IR_SUB, s->end, s->piece), 0, s->done);
}

static void begin(struct gen *g, const struct expr *e, struct strs *s, label null)
{
	gen_words_zero(g, s->text, gen_text_words(e) + 1 + STRS_PIECE / 8);
	s->n = gen_imm(g, 0);
	if (e->n_args > 1) {
		s->end = gen_address(g, e->args[1], null);
		ir_mov(g->ir, s->piece, gen_address(g, e->args[0], null));
		follow_to_end(g, s);
		return;
	}
	s->at = ir_reg(g->ir);
	ir_mov(g->ir, s->at, gen_address(g, e->args[0], null));
	follow(g, s);
}

static vreg end_of(struct gen *g, const struct strs *s)
{
	vreg to = ir_reg(g->ir);

	ir_stack_address(g->ir, to, s->text, 0);
	return gen_alu(g, IR_ADD, to, s->n);
}

/* Behind a text, of whose last piece so many bytes were read, with its NUL. */
static void go_on(struct gen *g, const struct strs *s, vreg bytes)
{
	if (s->end) {
		ir_alu(g->ir, IR_ADD, s->piece, s->piece, bytes);
		follow_to_end(g, s);
	} else {
		ir_alui(g->ir, IR_ADD, s->at, s->at, 8);
		follow(g, s);
	}
	ir_branchi(g->ir, IR_GE, s->n, s->room, s->is_cut);
	ir_storei(g->ir, end_of(g, s), 0, IR_U8, ' ');
	ir_alui(g->ir, IR_ADD, s->n, s->n, 1);
}

/*
 * To the end, and room for a NUL: the last text may have none.  Without a branch, of which the
 * verifier would walk all that follows twice a step.
 */
static vreg most_bytes(struct gen *g, const struct strs *s)
{
	vreg least;

	if (!s->end)
		return gen_imm(g, STRS_PIECE);
	least = gen_alui(g, IR_SUB, gen_alu(g, IR_SUB, s->end, s->piece), STRS_PIECE - 1);
	least = gen_alu(g, IR_AND, least, gen_alui(g, IR_SAR, least, 63));
	least = gen_alui(g, IR_ADD, least, STRS_PIECE - 1);
	return gen_alui(g, IR_ADD, gen_alui(g, IR_AND, least, STRS_PIECE - 1), 1);
}

static void step(struct gen *g, const struct strs *s)
{
	vreg args[3] = { end_of(g, s), most_bytes(g, s), gen_untagged(g, s->piece) };
	vreg bytes = ir_reg(g->ir);
	label goes_on = ir_label(g->ir), next = ir_label(g->ir);

	/* The older helper tells by the address whose memory it is, on x86-64 and arm64. */
	ir_call(g->ir, bytes, s->end ? BPF_FUNC_probe_read_str : BPF_FUNC_probe_read_user_str, 3,
		args);
	ir_branchi(g->ir, IR_SLT, bytes, 0, s->failed);
	/* Of an empty text older kernels (6.1, 6.12) say 0, newer ones 1: its NUL. */
	ir_alu(g->ir, IR_ADD, bytes, bytes, gen_alui(g, IR_SHR, gen_alui(g, IR_SUB, bytes, 1), 63));
	ir_alu(g->ir, IR_ADD, s->n, s->n, bytes);
	ir_alui(g->ir, IR_SUB, s->n, s->n, 1);
	/* As many as were asked for: the rest of the text, maybe nothing, comes next. */
	ir_branchi(g->ir, IR_EQ, bytes, STRS_PIECE, goes_on);
	go_on(g, s, bytes);
	ir_alui(g->ir, IR_AND, s->n, s->n, 255);
	ir_jump(g->ir, next);
	ir_place(g->ir, goes_on);
	ir_alui(g->ir, IR_ADD, s->piece, s->piece, STRS_PIECE - 1);
	ir_branchi(g->ir, IR_GT, s->n, s->room, s->is_cut);
	/* Nothing, but the verifier forgets the least that it is, which differs from way to way. */
	ir_alui(g->ir, IR_AND, s->n, s->n, 255);
	ir_place(g->ir, next);
}

/* There is more than there is room for, or steps: the text says so itself. */
static void cut(struct gen *g, const struct strs *s, u32 words)
{
	u32 most = s->room - sizeof(more);
	label fits = ir_label(g->ir);
	vreg to;

	ir_branchi(g->ir, IR_LE, s->n, most, fits);
	ir_imm(g->ir, s->n, most);
	ir_place(g->ir, fits);
	to = end_of(g, s);
	for (u32 i = 0; i < sizeof(more); i++)
		ir_storei(g->ir, to, (s32)i, IR_U8, more[i]);
	for (u32 i = s->room; i < 8 * words; i++)
		ir_stack_storei(g->ir, s->text, i, IR_U8, 0);
}

void gen_strs(struct gen *g, const struct expr *e, stack_object text, label null)
{
	struct ir *ir = g->ir;
	struct strs s = { .text = text,
			  .room = e->type.bytes,
			  .piece = ir_reg(ir),
			  .done = ir_label(ir),
			  .is_cut = ir_label(ir),
			  .failed = ir_label(ir) };
	label end = ir_label(ir);

	begin(g, e, &s, null);
	for (u32 i = 0; i < TEXTS_LEAST + s.room / (STRS_PIECE - 1); i++)
		step(g, &s);
	ir_jump(ir, s.is_cut);
	ir_place(ir, s.failed);
	gen_count_fault(g);
	ir_jump(ir, null);
	ir_place(ir, s.done);
	ir_branchi(ir, IR_LE, s.n, s.room, end);
	ir_place(ir, s.is_cut);
	cut(g, &s, gen_text_words(e));
	ir_place(ir, end);
}
