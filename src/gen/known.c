/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What is known on the way of an event without computing it: the columns of starts that were
 * looked up, and which branch of a union it is.
 */
#include "gen/internal.h"

const struct stored *gen_stored(const struct gen *g, const struct expr *e)
{
	for (u32 i = 0; i < g->stored.n; i++)
		if (expr_equal(g->stored.at[i].expr, e))
			return &g->stored.at[i];
	return NULL;
}

/* A read that failed at the start is a fault where its value is asked for: here. */
void gen_stored_test(struct gen *g, const struct stored *s, label null)
{
	label read = ir_label(g->ir), failed = ir_label(g->ir);

	if (s->fault_mask && !g->is_recount) {
		ir_branchi(g->ir, IR_TEST, s->nulls, (s64)s->fault_mask, failed);
		ir_jump(g->ir, read);
		ir_place(g->ir, failed);
		gen_count_fault(g);
	}
	ir_place(g->ir, read);
	if (s->null_mask)
		ir_branchi(g->ir, IR_TEST, s->nulls, (s64)s->null_mask, null);
}

const struct expr *gen_branch_of(const struct gen *g, const struct expr *e)
{
	for (u32 i = 0; i < e->n_args; i++)
		if (e->branches[i] == g->source->number)
			return e->args[i];
	BUG("a union without a branch of source %u", g->source->number);
}
