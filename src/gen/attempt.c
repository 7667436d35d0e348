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

/* Goes to null where e was NULL before; *ret_failing: where to go when it is now. */
static vreg attempt_begin(struct gen *g, const struct expr *e, label null, label *ret_failing)
{
	vreg failed = 0;

	for (u32 i = 0; i < g->attempts.n; i++)
		if (expr_equal(g->attempts.at[i].expr, e))
			failed = g->attempts.at[i].failed;
	*ret_failing = null;
	if (!failed)
		return 0;
	*ret_failing = ir_label(g->ir);
	ir_branchi(g->ir, IR_NE, failed, 0, null);
	return failed;
}

static void attempt_end(struct gen *g, vreg failed, label failing, label null)
{
	label end = ir_label(g->ir);

	if (!failed)
		return;
	ir_jump(g->ir, end);
	ir_place(g->ir, failing);
	ir_imm(g->ir, failed, 1);
	ir_jump(g->ir, null);
	ir_place(g->ir, end);
}

vreg gen_cell_word(struct gen *g, const struct expr *e, label null)
{
	label failing;
	vreg failed = attempt_begin(g, e, null, &failing), v = gen_value(g, e, failing);

	attempt_end(g, failed, failing, null);
	return v;
}

stack_object gen_cell_text(struct gen *g, const struct expr *e, label null)
{
	label failing;
	vreg failed = attempt_begin(g, e, null, &failing);
	stack_object text = gen_text(g, e, failing);

	attempt_end(g, failed, failing, null);
	return text;
}

void gen_negative(struct gen *g)
{
	if (g->negative)
		ir_imm(g->ir, g->negative, 1);
	else
		gen_count(g, COUNTER_NEGATIVE);
}
