/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Texts: brought into 8-byte words with zeros behind the end, so that equality
 * is equality of words and order is order of byte-swapped words.
 */
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
static void check_string(struct gen *g, vreg result, u32 bytes, label null)
{
	label whole = ir_label(g->ir);

	gen_requirei(g, IR_SGE, result, 0, null);
	/* With its NUL: one byte more than the room and more means that the text is cut. */
	ir_branchi(g->ir, IR_LE, result, bytes + 1, whole);
	gen_count_fault(g);
	ir_place(g->ir, whole);
}

static void read_string(struct gen *g, bool is_of_user, stack_object text, u32 bytes, vreg address,
			label null)
{
	enum bpf_func_id helper =
		is_of_user ? BPF_FUNC_probe_read_user_str : BPF_FUNC_probe_read_kernel_str;

	check_string(g, gen_probe_read(g, helper, text, bytes + 2, address), bytes, null);
}

/* Which half of the addresses it is in says whose memory it is, on x86-64 and arm64. */
static void read_string_anywhere(struct gen *g, const struct expr *e, stack_object text, label null)
{
	u32 bytes = e->integer ? e->type.bytes + 1 : e->type.bytes + 2;
	vreg address = gen_untagged(g, gen_member_address(g, e, null)), result = ir_reg(g->ir);
	label kernel = ir_label(g->ir), end = ir_label(g->ir);

	ir_branchi(g->ir, IR_SLT, address, 0, kernel);
	ir_mov(g->ir, result,
	       gen_probe_read(g, BPF_FUNC_probe_read_user_str, text, bytes, address));
	ir_jump(g->ir, end);
	ir_place(g->ir, kernel);
	ir_mov(g->ir, result,
	       gen_probe_read(g, BPF_FUNC_probe_read_kernel_str, text, bytes, address));
	ir_place(g->ir, end);
	/* Where the query says how long, that is all that it asks for. */
	check_string(g, result, e->integer ? bytes : e->type.bytes, null);
}

/* No file's name is longer than there is room for, but where the query says how long. */
static void read_name(struct gen *g, const struct expr *e, stack_object text, label null)
{
	vreg name = gen_value(g, e->args[0], null);
	vreg result =
		gen_probe_read(g, BPF_FUNC_probe_read_kernel_str, text, e->type.bytes + 1, name);

	gen_requirei(g, IR_SGE, result, 0, null);
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
	read_string(g, false, text, f->type.bytes, address, null);
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
	ir_mov(g->ir, code, gen_value(g, e, null));
	/* Never taken: it shows the verifier the code's range. */
	ir_branchi(g->ir, IR_GE, code, n, g->done);
	gen_words_in(g, text, gen_element(g, LOAD_MAP_CONST, at, code, bytes), 0, words);
}

static void copy_member(struct gen *g, const struct expr *e, stack_object text, label null)
{
	vreg address, failed;
	u32 offset;

	if (e->read == READ_TEXTS) {
		gen_strs(g, e, text, null);
		return;
	}
	if (e->read == READ_PATH) {
		gen_path(g, e, text, null);
		return;
	}
	if (e->read == READ_NAME) {
		read_name(g, e, text, null);
		return;
	}
	if (e->read == READ_TEXT) {
		read_string_anywhere(g, e, text, null);
		return;
	}
	if (!e->member.is_char_pointer && gen_member_direct(g, e, &address, &offset)) {
		gen_words_in(g, text, address, offset, gen_text_words(e));
		cut_at_nul(g, text, gen_text_words(e));
		return;
	}
	if (e->member.is_char_pointer) {
		read_string(g, e->is_of_user, text, e->type.bytes, gen_pointer(g, e, null), null);
		return;
	}
	address = gen_member_address(g, e, null);
	failed = gen_probe_read(g, gen_member_helper(e), text, e->type.bytes, address);
	if (!gen_is_trusted(g, e))
		gen_requirei(g, IR_EQ, failed, 0, null);
	cut_at_nul(g, text, gen_text_words(e));
}

static void literal(struct gen *g, const struct expr *e, stack_object text)
{
	for (u32 i = 0; i < gen_text_words(e); i++)
		ir_stack_store(g->ir, text, 8 * i, IR_U64, gen_imm(g, (s64)gen_literal_word(e, i)));
}

/*
 * Two bytes more than the words: one to see that a text goes on, one for the helper's NUL;
 * those that write more have more.
 */
static u32 place_bytes(const struct expr *e)
{
	u32 words = gen_text_words(e);

	if (e->kind == EXPR_MEMBER && e->read == READ_PATH)
		return 2 * 8 * words;
	return (u32)ALIGN_UP(8 * words + 2, 8) + (e->read == READ_TEXTS ? STRS_PIECE : 0);
}

static stack_object place_of(struct gen *g, const struct expr *e)
{
	stack_object text;

	for (u32 i = 0; i < g->texts.n; i++)
		if (expr_equal(g->texts.at[i].expr, e))
			return g->texts.at[i].object;
	text = ir_stack(g->ir, place_bytes(e));
	vec_push(g->arena, &g->texts, (struct memo){ .expr = e, .object = text });
	return text;
}

/*
 * A column of a union is as wide as the widest of its branches, and a tracepoint's text as wide as
 * it can be.  A number is the bytes of a text.
 */
static void copy_narrower(struct gen *g, const struct expr *e, const struct expr *narrower,
			  stack_object text, label null)
{
	stack_object from;

	gen_words_zero(g, text, gen_text_words(e) + 1);
	if (!gen_is_text(narrower)) {
		gen_store_unknown(g, text, gen_value(g, narrower, null));
		return;
	}
	from = gen_text(g, narrower, null);
	gen_words_copy(g, text, from, MIN(gen_text_words(narrower), gen_text_words(e)));
}

/* The branch's own text stands for the union's where that is no wider: the stack has 512 bytes. */
static const struct expr *as_wide(struct gen *g, const struct expr *e)
{
	const struct expr *branch = e->kind == EXPR_UNION ? gen_branch_of(g, e) : NULL;

	return branch && gen_is_text(branch) && gen_text_words(branch) == gen_text_words(e) ? branch
											    : NULL;
}

stack_object gen_text(struct gen *g, const struct expr *e, label null)
{
	const struct stored *stored = gen_stored(g, e);
	const struct expr *branch = stored ? NULL : as_wide(g, e);
	u32 words = gen_text_words(e);
	stack_object text;

	for (u32 i = 0; i < g->memos.n; i++)
		if (!g->memos.at[i].reg && expr_equal(g->memos.at[i].expr, e))
			return g->memos.at[i].object;
	if (stored && !gen_is_probe(e)) {
		gen_stored_test(g, stored, null);
		vec_push(g->arena, &g->memos, (struct memo){ .expr = e, .object = stored->text });
		return stored->text;
	}
	if (branch)
		return gen_text(g, branch, null);
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
		copy_narrower(g, e, gen_branch_of(g, e), text, null);
	} else if (e->kind == EXPR_SYSTEM) {
		if (!g->once[ONCE_COMM])
			copy_comm(g, text);
	} else if (e->kind == EXPR_MEMBER) {
		if (e->read != READ_TEXTS && e->read != READ_PATH)
			gen_words_zero(g, text, words + 1);
		copy_member(g, e, text, null);
	} else if (gen_raw_of(g, e)) {
		copy_narrower(g, e, gen_raw_of(g, e), text, null);
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

struct operand gen_operand(struct gen *g, const struct expr *e, label null)
{
	if (gen_has_words(e))
		return (struct operand){ .text = gen_text(g, e, null) };
	return (struct operand){ .reg = gen_value(g, e, null) };
}
