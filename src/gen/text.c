/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Texts: brought into 8-byte words with zeros behind the end, so that equality
 * is equality of words and order is order of byte-swapped words.
 */
#include <stdlib.h>
#include <string.h>

#include "gen/internal.h"

#define COMM_BYTES 16

/*
 * Zeroes what stands behind the first NUL.  In (w - 0x01..) & ~w & 0x80.. the
 * lowest set bit is the top bit of the first zero byte of w; everything below
 * that byte is kept.  Once a word had a NUL, the following ones are zero.
 */
static void cut_at_nul(struct gen *g, stack_object text, u32 words)
{
	struct ir *ir = g->ir;
	label cut[64], end = ir_label(ir);

	BUG_ON(words > ARRAY_SIZE(cut));
	for (u32 i = 0; i < words; i++) {
		vreg w = gen_stack_load(g, text, 8 * i, IR_U64),
		     low = gen_imm(g, 0x0101010101010101ll);
		vreg zeros = gen_alu(g, IR_SUB, w, low);

		cut[i] = ir_label(ir);
		ir_alui(ir, IR_XOR, low, w, -1);
		ir_alu(ir, IR_AND, zeros, zeros, low);
		ir_imm(ir, low, (s64)0x8080808080808080ull);
		ir_alu(ir, IR_AND, zeros, zeros, low);
		label whole = ir_label(ir);

		ir_branchi(ir, IR_EQ, zeros, 0, whole);
		ir_neg(ir, low, zeros);
		ir_alu(ir, IR_AND, zeros, zeros, low);
		ir_alui(ir, IR_SHR, zeros, zeros, 7);
		ir_alui(ir, IR_SUB, zeros, zeros, 1);
		ir_alu(ir, IR_AND, w, w, zeros);
		ir_stack_store(ir, text, 8 * i, IR_U64, w);
		ir_jump(ir, cut[i]);
		ir_place(ir, whole);
	}
	ir_jump(ir, end);
	/* cut[i] falls through: zero word i + 1, then i + 2, ... */
	for (u32 i = 0; i < words; i++) {
		ir_place(ir, cut[i]);
		if (i + 1 < words)
			ir_stack_storei(ir, text, 8 * (i + 1), IR_U64, 0);
	}
	ir_place(ir, end);
}

/* A char array inside the record: loads as wide as its alignment and end allow. */
static void copy_from_record(struct gen *g, const struct field *f, stack_object text)
{
	static const enum ir_size sizes[] = {
		[1] = IR_U8, [2] = IR_U16, [4] = IR_U32, [8] = IR_U64
	};
	s32 from = gen_record_offset(g) + (s32)f->offset_bytes;
	u32 n = f->type.bytes, at = 0;

	if (n % 8)
		ir_stack_storei(g->ir, text, n / 8 * 8, IR_U64, 0);
	while (at < n) {
		u32 size = 8;

		while (size > n - at || (u32)(from + (s32)at) % size || at % size)
			size /= 2;
		ir_stack_store(g->ir, text, at, sizes[size],
			       gen_load(g, g->context, (u32)from + at, sizes[size]));
		at += size;
	}
}

/* Copies up to the NUL; the rest stays zero.  A text longer than its column is cut, and counted. */
static void read_string(struct gen *g, stack_object text, u32 bytes, vreg address, label null)
{
	vreg result = gen_probe_read(g, BPF_FUNC_probe_read_kernel_str, text, bytes + 2, address);
	label ok = ir_label(g->ir), whole = ir_label(g->ir);

	ir_branchi(g->ir, IR_SGE, result, 0, ok);
	gen_fault(g, null);
	ir_place(g->ir, ok);
	/* With its NUL: one byte more than the room and more means that the text is cut. */
	ir_branchi(g->ir, IR_LE, result, bytes + 1, whole);
	gen_count_fault(g);
	ir_place(g->ir, whole);
}

/* __data_loc: the low half of a u32 is the offset of the text in the record. */
static void copy_data_loc(struct gen *g, const struct field *f, stack_object text, label null)
{
	struct ir *ir = g->ir;
	vreg address = gen_load(g, g->context, (u32)gen_record_offset(g) + f->offset_bytes, IR_U32);

	ir_alui(ir, IR_AND, address, address, 0xffff);
	if (f->kind == FIELD_REL_LOC)
		ir_alui(ir, IR_ADD, address, address, f->offset_bytes + 4);
	if (gen_record_offset(g))
		ir_alui(ir, IR_ADD, address, address, gen_record_offset(g));
	ir_alu(ir, IR_ADD, address, address, g->context);
	read_string(g, text, f->type.bytes, address, null);
}

/* Typed loads from the current task (helper of kernel 5.11), whose comm may have a tail. */
static void copy_comm_from_task(struct gen *g, stack_object text)
{
	vreg task = gen_helper(g, BPF_FUNC_get_current_task_btf);

	gen_words_in(g, text, task, g->phys->task_comm_offset, COMM_BYTES / 8);
	cut_at_nul(g, text, COMM_BYTES / 8);
}

static void copy_comm(struct gen *g, stack_object text)
{
	vreg args[2];

	if (g->kind->has_header) {
		gen_words_in(g, text, g->context, offsetof(struct replay_header, comm),
			     COMM_BYTES / 8);
		return;
	}
	if (g->phys->task_comm_offset) {
		copy_comm_from_task(g, text);
		return;
	}
	args[0] = ir_reg(g->ir);
	args[1] = gen_imm(g, COMM_BYTES);
	ir_stack_address(g->ir, args[0], text, 0);
	/* Pads with zeros (strscpy_pad, kernel 5.11; strncpy before). */
	ir_call(g->ir, 0, BPF_FUNC_get_current_comm, 2, args);
}

/* comm for all uses of the event, read where the first of them needs it. */
static stack_object comm_once(struct gen *g)
{
	label known = ir_label(g->ir);

	if (!g->has_comm)
		g->comm = ir_stack(g->ir, COMM_BYTES + 8);
	g->has_comm = true;
	ir_branchi(g->ir, IR_NE, g->once[ONCE_COMM], 0, known);
	copy_comm(g, g->comm);
	ir_imm(g->ir, g->once[ONCE_COMM], 1);
	ir_place(g->ir, known);
	return g->comm;
}

/* One of several probes: its text from a table of them all. */
static void copy_probe(struct gen *g, const struct expr *e, stack_object text, label null)
{
	u32 words = gen_text_words(e), bytes = 8 * words, n = g->phys->n_probes, at;
	char *texts = arena_alloc(g->arena, (size_t)n * bytes);
	vreg code = ir_reg(g->ir);

	for (u32 i = 0; i < n; i++)
		memcpy(texts + (size_t)i * bytes, g->phys->probes[i],
		       MIN((u32)strlen(g->phys->probes[i]), bytes));
	at = gen_constant_table(g, texts, (size_t)n * bytes);
	ir_mov(g->ir, code, gen_probe_of(g, e, null));
	/* Never taken: it shows the verifier the code's range. */
	ir_branchi(g->ir, IR_GE, code, n, g->done);
	gen_words_in(g, text, gen_element(g, LOAD_MAP_CONST, at, code, bytes), 0, words);
}

static void copy_member(struct gen *g, const struct expr *e, stack_object text, label null)
{
	vreg address = gen_member_address(g, e, null), failed;
	label ok = ir_label(g->ir);

	if (e->member.is_char_pointer) {
		stack_object pointer = gen_scratch(g);

		gen_probe_read(g, BPF_FUNC_probe_read_kernel, pointer, 8, address);
		address = gen_stack_load(g, pointer, 0, IR_U64);
		read_string(g, text, e->type.bytes, address, null);
		return;
	}
	failed = gen_probe_read(g, BPF_FUNC_probe_read_kernel, text, e->type.bytes, address);
	ir_branchi(g->ir, IR_EQ, failed, 0, ok);
	gen_fault(g, null);
	ir_place(g->ir, ok);
	cut_at_nul(g, text, gen_text_words(e));
}

static void literal(struct gen *g, const struct expr *e, stack_object text)
{
	for (u32 i = 0; i < gen_text_words(e); i++)
		ir_stack_store(g->ir, text, 8 * i, IR_U64, gen_imm(g, (s64)gen_literal_word(e, i)));
}

/* Two bytes more than the words: one to see that a text goes on, one for the helper's NUL. */
static stack_object place_of(struct gen *g, const struct expr *e)
{
	stack_object text;

	for (u32 i = 0; i < g->texts.n; i++)
		if (expr_equal(g->texts.at[i].expr, e))
			return g->texts.at[i].object;
	text = ir_stack(g->ir, (u32)ALIGN_UP(8 * gen_text_words(e) + 2, 8));
	vec_push(g->arena, &g->texts, (struct memo){ .expr = e, .object = text });
	return text;
}

/* A column of a union is as wide as the widest of its branches. */
static void copy_branch(struct gen *g, const struct expr *e, stack_object text, label null)
{
	const struct expr *branch = gen_branch_of(g, e);
	stack_object from;

	gen_words_zero(g, text, gen_text_words(e) + 1);
	from = gen_text(g, branch, null);
	gen_words_copy(g, text, from, MIN(gen_text_words(branch), gen_text_words(e)));
}

stack_object gen_text(struct gen *g, const struct expr *e, label null)
{
	const struct stored *stored = gen_stored(g, e);
	u32 words = gen_text_words(e);
	stack_object text;

	for (u32 i = 0; i < g->memos.n; i++)
		if (!g->memos.at[i].reg && expr_equal(g->memos.at[i].expr, e))
			return g->memos.at[i].object;
	if (stored && !gen_is_probe(e)) {
		text = gen_stored_text(g, stored, null);
		vec_push(g->arena, &g->memos, (struct memo){ .expr = e, .object = text });
		return text;
	}
	ir_at(g->ir, e->span);
	text = e->kind == EXPR_SYSTEM && !gen_is_probe(e) && g->once[ONCE_COMM] ? comm_once(g)
										: place_of(g, e);
	if (e->kind == EXPR_NULL) {
		/* A branch of a union; nobody comes to what is behind the jump. */
		ir_jump(g->ir, null);
		return text;
	}
	if (e->kind == EXPR_TEXT) {
		literal(g, e, text);
	} else if (gen_is_probe(e)) {
		copy_probe(g, e, text, null);
	} else if (e->kind == EXPR_UNION) {
		copy_branch(g, e, text, null);
	} else if (e->kind == EXPR_SYSTEM) {
		if (!g->once[ONCE_COMM])
			copy_comm(g, text);
	} else if (e->kind == EXPR_MEMBER) {
		gen_words_zero(g, text, words + 1);
		copy_member(g, e, text, null);
	} else {
		const struct field *f = gen_field_of(g, e);

		if (f->kind == FIELD_FIXED) {
			copy_from_record(g, f, text);
			cut_at_nul(g, text, words);
		} else {
			gen_words_zero(g, text, words + 1);
			copy_data_loc(g, f, text, null);
		}
	}
	vec_push(g->arena, &g->memos, (struct memo){ .expr = e, .object = text });
	return text;
}

/* --- probe: its texts are known, so a condition on it is decided for each code at once --- */

static int text_order(const char *a, u32 a_bytes, const char *b, u32 b_bytes)
{
	int order = memcmp(a, b, MIN(a_bytes, b_bytes));

	return order ? order : (a_bytes > b_bytes) - (a_bytes < b_bytes);
}

static bool order_holds(enum ast_op op, int order)
{
	if (op == OP_EQ || op == OP_IS)
		return order == 0;
	if (op == OP_NE || op == OP_IS_NOT)
		return order != 0;
	if (op == OP_LT || op == OP_LE)
		return order < 0 || (order == 0 && op == OP_LE);
	return order > 0 || (order == 0 && op == OP_GE);
}

/* Is it known while the program is made?  What a start stored is not. */
static bool is_known_probe(const struct gen *g, const struct expr *e)
{
	return gen_is_probe(e) && !g->probe && !gen_stored(g, e);
}

/* yes for the codes whose byte in `holds` is 1. */
void gen_probe_table(struct gen *g, const struct expr *e, const u8 *holds, label yes, label no,
		     label null)
{
	u32 n = g->phys->n_probes, at;
	vreg code;

	if (is_known_probe(g, e)) {
		ir_jump(g->ir, holds[g->use->first_probe] ? yes : no);
		return;
	}
	code = gen_probe_of(g, e, null);
	at = gen_constant_table(g, holds, n);
	ir_branchi(g->ir, IR_GE, code, n, no);
	ir_branchi(g->ir, IR_NE, gen_load(g, gen_table_address(g, at, code), 0, IR_U8), 0, yes);
	ir_jump(g->ir, no);
}

static void probe_compare(struct gen *g, enum ast_op op, const struct expr *e,
			  const struct expr *literal_text, label yes, label no, label null)
{
	u8 *holds = arena_array(g->arena, u8, g->phys->n_probes);

	for (u32 i = 0; i < g->phys->n_probes; i++)
		holds[i] = order_holds(
			op, text_order(g->phys->probes[i], (u32)strlen(g->phys->probes[i]),
				       literal_text->text, literal_text->text_bytes));
	gen_probe_table(g, e, holds, yes, no, null);
}

/* --- Comparisons --- */

static void jump_to(struct gen *g, bool to_yes, label yes, label no)
{
	ir_jump(g->ir, to_yes ? yes : no);
}

/* Word i of a text, or 0 behind its capacity. */
static vreg word_of(struct gen *g, const struct expr *e, stack_object text, u32 i)
{
	if (i >= gen_text_words(e))
		return gen_imm(g, 0);
	if (e->kind == EXPR_TEXT)
		return gen_imm(g, (s64)gen_literal_word(e, i));
	return gen_stack_load(g, text, 8 * i, IR_U64);
}

/* Where the program has one stream, `probe` is a literal. */
static const struct expr *known_probe(struct gen *g, const struct expr *e)
{
	struct expr *text;

	if (!is_known_probe(g, e))
		return e;
	text = expr_new(g->arena, EXPR_TEXT, e->span);
	text->text = g->phys->probes[g->use->first_probe];
	text->text_bytes = (u32)strlen(text->text);
	text->type = type_text(text->text_bytes);
	return text;
}

void gen_text_compare(struct gen *g, enum ast_op op, const struct expr *a, const struct expr *b,
		      label yes, label no, label null)
{
	bool wants_order = op == OP_LT || op == OP_LE || op == OP_GT || op == OP_GE;
	stack_object x = 0, y = 0;
	u32 words;
	label differ;

	a = known_probe(g, a);
	b = known_probe(g, b);
	if (a->kind == EXPR_TEXT && b->kind == EXPR_TEXT) {
		jump_to(g,
			order_holds(op, text_order(a->text, a->text_bytes, b->text, b->text_bytes)),
			yes, no);
		return;
	}
	if (a->kind == EXPR_TEXT) {
		gen_text_compare(g, expr_op_mirrored(op), b, a, yes, no, null);
		return;
	}
	if (gen_is_probe(a) && b->kind == EXPR_TEXT) {
		probe_compare(g, op, a, b, yes, no, null);
		return;
	}
	x = gen_text(g, a, null);
	if (b->kind != EXPR_TEXT)
		y = gen_text(g, b, null);
	words = MAX(gen_text_words(a), gen_text_words(b));
	differ = order_holds(op, 1) && order_holds(op, -1) ? yes : no;
	for (u32 i = 0; i < words; i++) {
		vreg v = word_of(g, a, x, i), w = word_of(g, b, y, i);

		if (!wants_order) {
			ir_branch(g->ir, IR_NE, v, w, differ);
			continue;
		}
		ir_bswap(g->ir, v, v);
		ir_bswap(g->ir, w, w);
		ir_branch(g->ir, IR_LT, v, w, order_holds(op, -1) ? yes : no);
		ir_branch(g->ir, IR_GT, v, w, order_holds(op, 1) ? yes : no);
	}
	jump_to(g, order_holds(op, 0), yes, no);
}

/* Equal to one of these few? */
static void compare_each(struct gen *g, const struct expr *a, stack_object x,
			 const struct expr *const *sorted, u32 n, label yes)
{
	for (u32 j = 0; j < n; j++) {
		label other = ir_label(g->ir);

		for (u32 i = 0; i < gen_text_words(a); i++)
			ir_branch(g->ir, IR_NE, word_of(g, a, x, i), word_of(g, sorted[j], 0, i),
				  other);
		ir_jump(g->ir, yes);
		ir_place(g->ir, other);
	}
}

/* A balanced tree over the first words: a long chain is quadratic for the verifier. */
static void search_tree(struct gen *g, const struct expr *a, stack_object x,
			const struct expr *const *sorted, u32 n, label yes, label no)
{
	u32 half = n / 2;
	label below;

	while (half < n && half > 0 &&
	       gen_literal_word(sorted[half], 0) == gen_literal_word(sorted[half - 1], 0))
		half++;
	if (n <= 4 || half >= n) {
		compare_each(g, a, x, sorted, n, yes);
		ir_jump(g->ir, no);
		return;
	}
	below = ir_label(g->ir);
	ir_branch(g->ir, IR_LT, word_of(g, a, x, 0), word_of(g, sorted[half], 0, 0), below);
	search_tree(g, a, x, sorted + half, n - half, yes, no);
	ir_place(g->ir, below);
	search_tree(g, a, x, sorted, half, yes, no);
}

static int order_by_first_word(const void *a, const void *b)
{
	u64 x = gen_literal_word(*(const struct expr *const *)a, 0);
	u64 y = gen_literal_word(*(const struct expr *const *)b, 0);

	return x < y ? -1 : x > y;
}

static void search_texts(struct gen *g, const struct expr *e, stack_object x, label yes, label no)
{
	const struct expr *a = e->args[0], **sorted;
	u32 n = 0;

	sorted = arena_array(g->arena, const struct expr *, e->n_args);
	for (u32 j = 1; j < e->n_args; j++)
		if (e->args[j]->kind == EXPR_TEXT &&
		    e->args[j]->text_bytes <= 8 * gen_text_words(a))
			sorted[n++] = e->args[j];
	qsort(sorted, n, sizeof(*sorted), order_by_first_word);
	search_tree(g, a, x, sorted, n, yes, no);
}

void gen_text_in(struct gen *g, const struct expr *e, label yes, label no, label null)
{
	const struct expr *a = e->args[0];

	if (gen_is_probe(a)) {
		u8 *holds = arena_array(g->arena, u8, g->phys->n_probes);

		for (u32 i = 0; i < g->phys->n_probes; i++)
			for (u32 j = 1; j < e->n_args; j++)
				holds[i] |=
					text_order(g->phys->probes[i],
						   (u32)strlen(g->phys->probes[i]),
						   e->args[j]->text, e->args[j]->text_bytes) == 0;
		gen_probe_table(g, a, holds, yes, no, null);
		return;
	}
	if (a->kind == EXPR_TEXT) {
		bool found = false;

		for (u32 j = 1; j < e->n_args; j++)
			found |= text_order(a->text, a->text_bytes, e->args[j]->text,
					    e->args[j]->text_bytes) == 0;
		jump_to(g, found, yes, no);
		return;
	}
	search_texts(g, e, gen_text(g, a, null), yes, no);
}
