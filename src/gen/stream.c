/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * One event -> one row in the ring buffer (struct stream_header).  Room is taken last, when
 * every column is computed, so that no way leads past the submit; no wake-up is sent, the
 * reader looks every 10 ms.
 */
#include "gen/internal.h"

struct operand gen_nullable(struct gen *g, const struct expr *e, s32 bit, vreg nulls, vreg zero)
{
	bool may_be_null = e->nullable || e->kind == EXPR_NULL;
	label null = ir_label(g->ir), end = ir_label(g->ir);
	u32 fork = gen_fork(g);
	struct operand s;
	vreg v;

	ir_at(g->ir, e->span);
	s = gen_operand(g, e, may_be_null ? null : g->done);
	if (!may_be_null)
		return s;
	v = s.reg;
	if (v) {
		s.reg = ir_reg(g->ir);
		ir_mov(g->ir, s.reg, v);
	}
	ir_jump(g->ir, end);
	ir_place(g->ir, null);
	gen_join(g, fork);
	if (s.reg && zero)
		ir_mov(g->ir, s.reg, zero);
	else if (s.reg)
		ir_imm(g->ir, s.reg, 0);
	else
		gen_words_zero(g, s.text, gen_text_words(e));
	ir_alui(g->ir, IR_ADD, nulls, nulls, (s64)(1ull << bit)); /* not OR: see gen_running() */
	ir_place(g->ir, end);
	return s;
}

static void store(struct gen *g, const struct stream_column *c, const struct operand *s, vreg row)
{
	if (s->reg)
		ir_store(g->ir, row, (s32)c->bytes_offset, IR_U64, s->reg);
	else
		gen_words_out(g, row, c->bytes_offset, s->text, c->n_bytes / 8);
}

static vreg header_word(struct gen *g)
{
	if (g->kind->is_list)
		return gen_imm(g, 0);
	if (!g->phys->only_scans)
		return g->word;
	BUG_ON(g->source->number > STREAM_SOURCE_MASK);
	return gen_alui(g, IR_OR, g->word, (s64)g->source->number << STREAM_SOURCE_SHIFT);
}

/* To the ring buffer. */
static void reserve(struct gen *g, vreg row, u32 n_bytes)
{
	vreg args[3] = { ir_reg(g->ir), ir_reg(g->ir), ir_reg(g->ir) };
	label got = ir_label(g->ir);

	ir_map(g->ir, args[0], load_map_number(g->phys, LOAD_MAP_RING));
	ir_imm(g->ir, args[1], n_bytes);
	ir_imm(g->ir, args[2], 0);
	ir_call(g->ir, row, BPF_FUNC_ringbuf_reserve, 3, args);
	ir_branchi(g->ir, IR_NE, row, 0, got);
	gen_count(g, COUNTER_RING_FULL);
	ir_jump(g->ir, g->done);
	ir_place(g->ir, got);
}

static void submit(struct gen *g, vreg row)
{
	vreg args[2] = { row, gen_imm(g, BPF_RB_NO_WAKEUP) };

	ir_call(g->ir, 0, BPF_FUNC_ringbuf_submit, 2, args);
}

/*
 * To who reads the iterator, as a whole or not at all: where there is no room left the kernel hands
 * out what it has, and visits the object once more (bpf_seq_read()).
 */
static void write_out(struct gen *g, vreg row, u32 n_bytes)
{
	/* struct bpf_iter_meta begins with its seq_file. */
	vreg meta = gen_load(g, g->context, 0, IR_U64), failed = ir_reg(g->ir), n;
	vreg args[3] = { gen_load(g, meta, 0, IR_U64), row, gen_imm(g, n_bytes) };
	label done = ir_label(g->ir);

	ir_call(g->ir, failed, BPF_FUNC_seq_write, 3, args);
	ir_branchi(g->ir, IR_EQ, failed, 0, done);
	n = gen_load(g, g->slice, 8 * COUNTER_EVENTS, IR_U64);
	ir_store(g->ir, g->slice, 8 * COUNTER_EVENTS, IR_U64, gen_alui(g, IR_SUB, n, 1));
	ir_store(g->ir, g->slice, 8 * COUNTER_FAULT, IR_U64, g->faults_before);
	ir_place(g->ir, done);
}

void gen_stream(struct gen *g)
{
	const struct phys *p = g->phys;
	const struct phys_source *s = g->source;
	const struct stream_column *columns = p->only_scans ? s->columns : p->columns;
	u32 n_columns = p->only_scans ? s->n_columns : p->n_columns;
	struct operand *values = arena_array(g->arena, struct operand, n_columns);
	vreg nulls = gen_imm(g, 0), row = ir_reg(g->ir);
	u32 row_bytes = p->only_scans ? s->row_bytes : p->row_bytes;

	if (g->kind->is_list)
		ir_map_value(g->ir, row, load_map_number(p, LOAD_MAP_STATE),
			     p->state.rows_bytes_offset);
	for (u32 i = 0; i < n_columns; i++) {
		/* Whoever evaluates it counts the fault, if anybody does. */
		g->faults = columns[i].fault_bit < 0 ? 0 : nulls;
		g->fault_mask = columns[i].fault_bit < 0 ? 0 : 1ull << columns[i].fault_bit;
		values[i] = gen_nullable(g, columns[i].expr, (s32)i, nulls, 0);
		if (g->kind->is_list)
			store(g, &columns[i], &values[i], row);
	}
	g->faults = 0;
	ir_note(g->ir, "row");
	if (!g->kind->is_list)
		reserve(g, row, row_bytes);
	ir_store(g->ir, row, offsetof(struct stream_header, word), IR_U64, header_word(g));
	ir_store(g->ir, row, offsetof(struct stream_header, nulls), IR_U64, nulls);
	for (u32 i = 0; i < n_columns && !g->kind->is_list; i++)
		store(g, &columns[i], &values[i], row);
	if (g->kind->is_list)
		write_out(g, row, row_bytes);
	else
		submit(g, row);
	gen_count_out(g);
}
