/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Stack objects -> places in the frame.  Jumps go forward, so an object is in use from the
 * first instruction that names it to the last one, or to the last use of its address; one
 * that enters a loop is in use to the loop's end.  Objects that are never in use together
 * share their bytes: the texts of a union's branches, for example.
 */
#include "bpf/ir.h"

struct object_use {
	u32 start, end; /* instructions; start IR_UNPLACED: none */
};

struct frame {
	const struct lir *lir;
	struct object_use *uses; /* [n_objects] */
	u32 *address_of;	 /* per vreg: one more than the object it points into; 0: none */
};

static void note(struct object_use *use, u32 start, u32 end)
{
	use->start = MIN(use->start, start);
	use->end = MAX(use->end, end);
}

/* What is computed from an address points into the object as well, as far as we know. */
static void find_uses(struct frame *f, const struct alloc *alloc)
{
	for (u32 i = 0; i < f->lir->insns.n; i++) {
		const struct ir_insn *insn = &f->lir->insns.at[i];
		u8 flags = ir_op_flags[insn->op];
		u32 object = 0;

		if (flags & OP_STACK) {
			note(&f->uses[insn->index], i, i);
			object = insn->op == IR_OP_STACK_ADDRESS ? insn->index + 1 : 0;
		} else if ((flags & OP_USE_A) && insn->op != IR_OP_LOAD) {
			object = f->address_of[insn->a];
		}
		if (!object && insn->b && insn->op == IR_OP_ALU)
			object = f->address_of[insn->b];
		if (!object || !(flags & OP_DEF) || !insn->d)
			continue;
		f->address_of[insn->d] = object;
		note(&f->uses[object - 1], i, alloc->ranges[insn->d].end / 2);
	}
}

/* The lowest words that are free from then on. */
static u32 place(u32 *free_at, u32 n_words, const struct object_use *use)
{
	u32 first = 0;

	for (u32 i = 0; i < first + n_words; i++)
		if (free_at[i] > use->start)
			first = i + 1;
	for (u32 i = 0; i < n_words; i++)
		free_at[first + i] = use->end + 1;
	return first;
}

u32 lir_lay_out_objects(const struct lir *lir, const struct alloc *alloc, struct arena *arena,
			s32 *ret_at)
{
	struct frame f = { .lir = lir,
			   .uses = arena_array(arena, struct object_use, lir->n_objects),
			   .address_of = arena_array(arena, u32, lir->n_vregs) };
	u32 *free_at, n_all = 0, n_used = 0;

	for (u32 i = 0; i < lir->n_objects; i++) {
		f.uses[i].start = IR_UNPLACED;
		n_all += (u32)ALIGN_UP(lir->object_bytes[i], 8) / 8;
	}
	find_uses(&f, alloc);
	for (u32 i = 0; i < lir->n_objects; i++)
		f.uses[i].end = alloc_end_of(alloc, f.uses[i].start, f.uses[i].end);
	free_at = arena_array(arena, u32, n_all);
	/* In the order of their first uses. */
	for (u32 i = 0; i < lir->insns.n; i++) {
		const struct ir_insn *insn = &lir->insns.at[i];
		const struct object_use *use = &f.uses[insn->index];
		u32 n_words;

		if (!(ir_op_flags[insn->op] & OP_STACK) || use->start != i)
			continue;
		n_words = (u32)ALIGN_UP(lir->object_bytes[insn->index], 8) / 8;
		n_words += place(free_at, n_words, use);
		n_used = MAX(n_used, n_words);
		ret_at[insn->index] = -(s32)MIN(8 * n_words, (u32)INT16_MAX);
	}
	return 8 * n_used;
}
