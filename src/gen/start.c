/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Of whose runs a join's start is, and what becomes of it: counted for each of these parts, so that
 * every start of a run is a pair or `unpaired`.
 */
#include "gen/slot.h"

/* Nobody counts what becomes of a start that is none of the run's. */
static void branch_other_run(struct gen *g, const struct start *start, label other)
{
	u32 bit = 1u << g->phys->number % BLOCK_PARTS;
	vreg control = ir_reg(g->ir);

	ir_branchi(g->ir, IR_NE, gen_alui(g, IR_AND, start->others, bit), 0, other);
	ir_map_value(g->ir, control, load_map_number(g->phys, LOAD_MAP_CONTROL),
		     offsetof(struct control_line, starts_from_ns));
	ir_branch(g->ir, IR_LT, start->time, gen_load(g, control, 0, IR_U64), other);
}

/*
 * One that happens now: asked once, where it is known what becomes of it.  One that took the start
 * of another join before was asked there whether the run is over: what has ended since is still its
 * own.
 */
struct start start_own(struct gen *g, vreg now)
{
	vreg epochs = gen_epochs(g), others = gen_alui(g, IR_SHR, epochs, SLOT_OTHERS_SHIFT), since;

	if (g->taken_at) {
		since = gen_alui(g, IR_XOR, g->taken_at, -1);
		ir_alu(g->ir, IR_AND, since, since, epochs);
		ir_alui(g->ir, IR_SHR, since, since, SLOT_OVER_SHIFT);
		ir_alui(g->ir, IR_AND, since, since, (1 << BLOCK_PARTS) - 1);
		ir_alui(g->ir, IR_XOR, since, since, -1);
		ir_alu(g->ir, IR_AND, others, others, since);
	}
	return (struct start){ now, others };
}

/*
 * What waits when the runs are over stays: a start behind that leaves.  One that was asked before
 * is none: its program is waited for before what waits is counted, unless other parts whose run
 * goes on store there too (load_close_starts()).
 */
void start_leave_waiting(struct gen *g)
{
	if (!g->taken_at)
		gen_leave_if_all_over(g, gen_epochs(g), g->done);
}

/* The check of the account: one more start of the run was stored, or taken by an end. */
struct check {
	struct start start;
	bool is_taken;
};

static void check(struct gen *g, const void *context)
{
	const struct check *c = context;
	label other = ir_label(g->ir);

	branch_other_run(g, &c->start, other);
	if (c->is_taken)
		gen_count_taken(g);
	else
		gen_count_stored(g);
	ir_place(g->ir, other);
}

bool start_is_checked(const struct gen *g, const struct phys_join *j)
{
	return g->set->is_checked && j->join == JOIN_PAIR;
}

void start_check(struct gen *g, const struct phys_join *j, struct start start, bool is_taken)
{
	if (start_is_checked(g, j))
		gen_each(g, check, &(struct check){ start, is_taken });
}

/* What became of a start, for each whose run has it. */
struct fate {
	struct start start;
	bool is_stored; /* the account does not have it yet */
	enum unpaired kind;
};

static void count_fate(struct gen *g, const void *context)
{
	const struct fate *fate = context;
	label other = ir_label(g->ir);

	branch_other_run(g, &fate->start, other);
	if (fate->is_stored)
		gen_count_stored(g);
	gen_count_unpaired(g, fate->kind);
	ir_place(g->ir, other);
}

void start_count(struct gen *g, struct start start, enum unpaired kind, bool is_stored)
{
	gen_each(g, count_fate, &(struct fate){ start, is_stored, kind });
}

/* What is told as expired was a start of the run for that alone, or is none at all. */
struct expired {
	const struct phys_join *join;
	struct start start;
};

static void check_one_expired(struct gen *g, const void *context)
{
	const struct expired *expired = context;
	label behind = ir_label(g->ir), end = ir_label(g->ir);

	if (expired->join->join == JOIN_PAIR) {
		branch_other_run(g, &expired->start, behind);
		ir_jump(g->ir, end);
	}
	ir_place(g->ir, behind);
	gen_count_stored(g);
	ir_place(g->ir, end);
}

void start_check_expired(struct gen *g, const struct phys_join *j, const struct start *start)
{
	if (g->set->is_checked)
		gen_each(g, check_one_expired, &(struct expired){ j, *start });
}

/* Is the run over?  What has a slot was asked as it took it; there is one answer for all joins. */
void start_ask_over(struct gen *g)
{
	if (!g->taken_at && !g->line) {
		g->taken_at = gen_epochs(g);
		gen_leave_if_all_over(g, g->taken_at, g->done);
	}
	g->taken_at = g->line ? g->word : g->taken_at;
}
