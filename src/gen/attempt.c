/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What several cells of a row compute of one event: a fault of one expression counts once,
 * however many filters its cells have, and so does a negative value.
 */
#include "gen/internal.h"

void gen_attempt_place(struct gen *g, const struct expr *e)
{
	/* A text that cannot be read has none, also where the column is never NULL. */
	if (!e || gen_is_probe(e) || !(e->nullable || gen_is_text(e)))
		return;
	for (u32 i = 0; i < g->attempts.n; i++) {
		struct attempt *a = &g->attempts.at[i];

		if (!expr_equal(a->expr, e))
			continue;
		if (!a->failed)
			a->failed = gen_imm(g, 0);
		return;
	}
	vec_push(g->arena, &g->attempts, (struct attempt){ .expr = e });
}

struct operand gen_cell_operand(struct gen *g, const struct expr *e, label null)
{
	label failing = ir_label(g->ir), end = ir_label(g->ir);
	struct operand value;
	vreg failed = 0;

	for (u32 i = 0; i < g->attempts.n; i++)
		if (expr_equal(g->attempts.at[i].expr, e))
			failed = g->attempts.at[i].failed;
	if (!failed)
		return gen_operand(g, e, null);
	ir_branchi(g->ir, IR_NE, failed, 0, null); /* it was NULL before */
	value = gen_operand(g, e, failing);
	ir_jump(g->ir, end);
	ir_place(g->ir, failing);
	ir_imm(g->ir, failed, 1);
	ir_jump(g->ir, null);
	ir_place(g->ir, end);
	return value;
}

void gen_negative(struct gen *g)
{
	if (g->negative)
		ir_imm(g->ir, g->negative, 1);
	else
		gen_count(g, COUNTER_NEGATIVE);
}
