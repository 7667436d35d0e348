/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * One event -> one row in the ring buffer (struct stream_header).  Room is taken last, when
 * every column is computed, so that no way leads past the submit; no wake-up is sent, the
 * reader looks every 10 ms.
 */
#include "gen/internal.h"

struct streamed gen_streamed(struct gen *g, const struct expr *e, bool is_probe, u32 bit,
			     vreg nulls)
{
	struct streamed s = { 0 };
	label null = ir_label(g->ir), end = ir_label(g->ir);
	bool is_text = gen_is_text(e) && !is_probe;
	u32 fork = gen_fork(g);

	ir_at(g->ir, e->span);
	if (!e->nullable && e->kind != EXPR_NULL) {
		if (is_text)
			return (struct streamed){ .text = gen_text(g, e, g->done),
						  .is_text = true };
		s.reg = is_probe ? gen_probe_of(g, e, g->done) : gen_value(g, e, g->done);
		return s;
	}
	s.is_text = is_text;
	if (is_text) {
		s.text = gen_text(g, e, null);
	} else {
		s.reg = ir_reg(g->ir);
		ir_mov(g->ir, s.reg, is_probe ? gen_probe_of(g, e, null) : gen_value(g, e, null));
	}
	ir_jump(g->ir, end);
	ir_place(g->ir, null);
	gen_join(g, fork);
	if (!is_text)
		ir_imm(g->ir, s.reg, 0);
	ir_alui(g->ir, IR_OR, nulls, nulls, (s64)(1ull << bit));
	ir_place(g->ir, end);
	return s;
}

static void store(struct gen *g, const struct stream_column *c, const struct streamed *s, vreg row)
{
	if (s->is_text)
		gen_words_out(g, row, c->bytes_offset, s->text, c->n_bytes / 8);
	else
		ir_store(g->ir, row, (s32)c->bytes_offset, IR_U64, s->reg);
}

static vreg header_word(struct gen *g)
{
	if (!g->phys->only_scans)
		return g->word;
	return gen_alui(g, IR_OR, g->word, (s64)g->source->number << STREAM_SOURCE_SHIFT);
}

void gen_stream(struct gen *g)
{
	const struct phys *p = g->phys;
	const struct phys_source *s = g->source;
	const struct stream_column *columns = p->only_scans ? s->columns : p->columns;
	u32 n_columns = p->only_scans ? s->n_columns : p->n_columns;
	struct streamed *values = arena_array(g->arena, struct streamed, n_columns);
	vreg nulls = gen_imm(g, 0), row = ir_reg(g->ir);
	vreg args[3] = { ir_reg(g->ir), ir_reg(g->ir), ir_reg(g->ir) };
	label got = ir_label(g->ir);

	for (u32 i = 0; i < n_columns; i++) {
		/* Whoever evaluates it counts the fault, if anybody does. */
		g->faults = columns[i].fault_bit < 0 ? 0 : nulls;
		g->fault_mask = columns[i].fault_bit < 0 ? 0 : 1ull << columns[i].fault_bit;
		values[i] = gen_streamed(g, columns[i].expr, columns[i].is_probe, i, nulls);
	}
	g->faults = 0;
	ir_note(g->ir, "row");
	ir_map(g->ir, args[0], load_map_number(g->phys, LOAD_MAP_RING));
	ir_imm(g->ir, args[1], p->only_scans ? s->row_bytes : p->row_bytes);
	ir_imm(g->ir, args[2], 0);
	ir_call(g->ir, row, BPF_FUNC_ringbuf_reserve, 3, args);
	ir_branchi(g->ir, IR_NE, row, 0, got);
	gen_count(g, COUNTER_RING_FULL);
	ir_jump(g->ir, g->done);
	ir_place(g->ir, got);
	ir_store(g->ir, row, offsetof(struct stream_header, word), IR_U64, header_word(g));
	ir_store(g->ir, row, offsetof(struct stream_header, nulls), IR_U64, nulls);
	for (u32 i = 0; i < n_columns; i++)
		store(g, &columns[i], &values[i], row);
	args[0] = row;
	ir_imm(g->ir, args[1], BPF_RB_NO_WAKEUP);
	ir_call(g->ir, 0, BPF_FUNC_ringbuf_submit, 2, args);
}
