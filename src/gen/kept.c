/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Parts that have one table of starts (phys/starts.c): what their program stores for all of them,
 * and what each knows of a start that was looked up for all.
 */
#include "gen/slot.h"

static bool has_column_at(const struct phys_join *j, u32 bytes_offset)
{
	for (u32 i = 0; i < j->n_columns; i++)
		if (j->columns[i].bytes_offset == bytes_offset)
			return true;
	return false;
}

struct kept gen_kept(struct gen *g, const struct phys_join *j)
{
	struct kept kept = { .join = *j };
	struct phys_join *all = &kept.join;
	u32 n = 0;

	if (!g->n_crowd)
		return kept;
	for (u32 i = 0; i < g->n_crowd; i++)
		n += g->crowd[i]->phys->joins[j->number].n_columns;
	all->columns = arena_array(g->arena, struct pair_column, n + 1);
	kept.owners = arena_array(g->arena, const struct hook_use *, n + 1);
	all->n_columns = 0;
	for (u32 i = 0; i < g->n_crowd; i++) {
		const struct phys_join *own = &g->crowd[i]->phys->joins[j->number];

		all->needs_order |= own->needs_order;
		for (u32 k = 0; k < own->n_columns; k++) {
			if (has_column_at(all, own->columns[k].bytes_offset))
				continue;
			kept.owners[all->n_columns] = g->crowd[i];
			all->columns[all->n_columns++] = own->columns[k];
		}
	}
	return kept;
}

void gen_know_looked_up(struct gen *g)
{
	stored_vec known = { 0 };

	for (u32 i = 0; i < g->looked_up.n; i++) {
		struct stored s = g->looked_up.at[i];
		const struct phys_join *j = &g->phys->joins[s.join];

		for (u32 k = 0; k < j->n_columns; k++)
			if (j->columns[k].bytes_offset == s.bytes_offset) {
				s.expr = j->columns[k].expr;
				vec_push(g->arena, &known, s);
			}
	}
	g->stored = known;
}

void gen_check_order(struct gen *g, const struct phys_step *step)
{
	const struct phys_join *j = step->join;
	label fine = ir_label(g->ir);

	for (u32 i = 0; j->kind == PAIR_THREAD && i < j->n_columns; i++) {
		const struct pair_column *c = &j->columns[i];

		if (c->bytes_offset != PAIR_TIME_BYTES)
			continue;
		ir_branch(g->ir, IR_GE, gen_time(g), gen_stored(g, c->expr)->reg, fine);
		gen_count(g, COUNTER_NEGATIVE);
		ir_jump(g->ir, g->done);
		ir_place(g->ir, fine);
		return;
	}
}
