/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Joins: a start is stored in the join's table, an end takes its columns out of it.
 * phys/phys.h says how a table is laid out and who may write what.
 *
 * Several CPUs use a table at once.  A slot of PAIR_THREAD belongs to one thread, which
 * is on one CPU: plain loads and stores, but for the claim.  A slot of PAIR_TABLE is
 * taken by a compare-and-exchange of its state, so it has one owner until it is given
 * back; a program that is interrupted between the two holds nobody up.
 */
#include "gen/slot.h"

/* How often an event tries again where other CPUs take what it has chosen. */
#define TRIES 3

static u64 bit_mask(s32 bit)
{
	return bit < 0 ? 0 : 1ull << bit;
}

/* Goes back to `again` as often as is allowed, then to `over`. */
static void try_again(struct gen *g, vreg tries, label again, label over)
{
	ir_alui(g->ir, IR_SUB, tries, tries, 1);
	ir_branchi(g->ir, IR_NE, tries, 0, again);
	ir_jump(g->ir, over);
}

/* --- Parts with one table --- */

static void be(struct gen *g, const struct hook_use *use)
{
	g->use = use;
	g->phys = use->phys;
	g->source = use->source;
}

static void count_stored(struct gen *g, const void *context)
{
	(void)context;
	gen_count_stored(g);
}

/* --- Storing a start --- */

static void write_start(struct gen *g, const struct table *t, const struct operand *values,
			vreg nulls, vreg slot)
{
	const struct phys_join *j = t->join;
	struct start start = { 0 };

	if (j->has_nulls)
		ir_store(g->ir, slot, (s32)j->nulls_bytes, IR_U64, nulls);
	for (u32 i = 0; i < j->n_columns; i++) {
		const struct pair_column *c = &j->columns[i];

		if (c->bytes_offset == PAIR_TIME_BYTES)
			continue;
		if (values[i].reg) {
			ir_store(g->ir, slot, (s32)c->bytes_offset, IR_U64, values[i].reg);
			continue;
		}
		gen_words_out(g, slot, c->bytes_offset, values[i].text, c->n_words);
	}
	/* With the time a thread's start is there for who looks at it from elsewhere. */
	if (j->join == JOIN_PAIR) {
		start = start_own(g, t->now);
		ir_store(g->ir, slot, PAIR_OTHERS_BYTES, IR_U32, start.others);
	}
	ir_store(g->ir, slot, PAIR_TIME_BYTES, IR_U64, t->now);
	if (j->join == JOIN_PAIR)
		start_check(g, j, start, false);
}

/* A start gave its room away; what is older than WITHIN was forgotten anyway. */
static void count_evicted(struct gen *g, const struct table *t, vreg slot, vreg time)
{
	label young = ir_label(g->ir), end = ir_label(g->ir);
	bool is_pair = t->join->join == JOIN_PAIR;

	if (t->join->within_ns) {
		ir_branchi(g->ir, IR_LE, gen_alu(g, IR_SUB, t->now, time), (s64)t->join->within_ns,
			   young);
		if (is_pair)
			start_count(g, (struct start){ time, slot_others(g, slot) },
				    UNPAIRED_EXPIRED, false);
		ir_jump(g->ir, end);
	}
	ir_place(g->ir, young);
	if (is_pair)
		start_count(g, (struct start){ time, slot_others(g, slot) }, UNPAIRED_FULL, false);
	else
		gen_count(g, COUNTER_EVICTED);
	ir_place(g->ir, end);
}

/*
 * A slot of our own, its state 1: the older one of our key (ASOF), a free one, or the oldest. ASOF:
 * tied, as struct choice has it.
 */
static void take_slot(struct gen *g, const struct table *t, vreg slot, vreg tied, label own)
{
	struct ir *ir = g->ir;
	label again = ir_label(ir), free = ir_label(ir), oldest = ir_label(ir);
	label back = ir_label(ir), retry = ir_label(ir), full = ir_label(ir);
	vreg tries = gen_imm(g, TRIES);
	bool is_pair = t->join->join == JOIN_PAIR;
	struct choice c;

	ir_place(ir, again);
	if (!is_pair) {
		/* Two starts of a key are kept: while one is written, the other can be read. */
		c = table_oldest(g, t, false);
		ir_mov(ir, tied, c.tied);
		ir_mov(ir, slot, table_slot_at(g, t, c.offset, free));
		slot_exchange(g, slot, 2, 1, retry);
		slot_check(g, t, slot, c.time, false, back);
		ir_jump(ir, own);
	}
	ir_place(ir, free);
	c = table_free(g, t);
	ir_mov(ir, slot, table_slot_at(g, t, c.offset, oldest));
	slot_exchange(g, slot, 0, 1, retry);
	ir_jump(ir, own);
	ir_place(ir, oldest);
	if (is_pair)
		start_leave_waiting(g);
	c = table_oldest(g, t, true);
	ir_mov(ir, slot, table_slot_at(g, t, c.offset, retry));
	slot_exchange(g, slot, 2, 1, retry);
	slot_check(g, t, slot, c.time, true, back);
	count_evicted(g, t, slot, c.time);
	ir_jump(ir, own);
	ir_place(ir, back);
	slot_publish(g, slot, 2);
	ir_place(ir, retry);
	try_again(g, tries, again, full);
	ir_place(ir, full);
	if (is_pair) {
		start_count(g, start_own(g, t->now), UNPAIRED_FULL, true);
	} else {
		gen_each(g, count_stored, NULL);
		gen_count_unpaired(g, UNPAIRED_FULL);
	}
	ir_jump(ir, g->done);
}

/*
 * ASOF, of two starts of one instant: the one written last is the partner.  Which that is nothing
 * in their slots says, so the one before is given back: here it is looked up, as ours is not
 * there yet, and given back when ours is.  -1: there is none.
 */
static struct choice find_tied(struct gen *g, const struct table *t, vreg tied)
{
	struct choice c = { .offset = gen_imm(g, -1), .time = gen_imm(g, 0) }, found;
	label single = ir_label(g->ir);

	ir_branchi(g->ir, IR_SGE, tied, 0, single);
	ir_cold(g->ir, true);
	found = table_latest(g, t);
	/* It may have been the oldest of all, and its slot is ours. */
	ir_branch(g->ir, IR_NE, found.time, t->now, single);
	ir_mov(g->ir, c.offset, found.offset);
	ir_mov(g->ir, c.time, found.time);
	ir_cold(g->ir, false);
	ir_place(g->ir, single);
	return c;
}

static void give_back_tied(struct gen *g, const struct table *t, const struct choice *tied)
{
	vreg slot = table_slot_at(g, t, tied->offset, g->done);
	label changed = ir_label(g->ir);

	ir_cold(g->ir, true);
	slot_exchange(g, slot, 2, 1, g->done);
	slot_check(g, t, slot, tied->time, false, changed);
	slot_publish(g, slot, 0);
	ir_jump(g->ir, g->done);
	ir_place(g->ir, changed);
	slot_publish(g, slot, 2);
	ir_cold(g->ir, false);
}

static void store_in_table(struct gen *g, const struct table *t, const struct operand *values,
			   vreg nulls)
{
	bool is_asof = t->join->join == JOIN_ASOF;
	struct ir *ir = g->ir;
	vreg slot = ir_reg(ir), tied = ir_reg(ir);
	label own = ir_label(ir);
	struct choice before;

	take_slot(g, t, slot, tied, own);
	ir_place(ir, own);
	if (is_asof)
		before = find_tied(g, t, tied);
	for (u32 i = 0; i < t->join->key_words; i++)
		ir_store(ir, slot, (s32)(PAIR_KEY_BYTES + 8 * i), IR_U64,
			 gen_key_load(g, &t->words[i]));
	write_start(g, t, values, nulls, slot);
	slot_publish(g, slot, 2);
	gen_count_out(g);
	if (is_asof)
		give_back_tied(g, t, &before);
	ir_jump(ir, g->done);
}

/* The thread's slot: the first of its bucket nearly always; else another, or a new one. */
static void find_own_slot(struct gen *g, const struct table *t, vreg offset, label found)
{
	struct ir *ir = g->ir;

	for (u32 way = 1; way < PAIR_WAYS; way++) {
		label next = ir_label(ir);

		table_branch_other_key(g, t, way, next);
		table_take_way(g, t, way, offset, found);
		ir_place(ir, next);
	}
	for (u32 way = 0; way < PAIR_WAYS; way++) {
		vreg state = ir_reg(ir), slot = ir_reg(ir);
		label next = ir_label(ir);

		ir_load(ir, state, t->bucket, table_way_bytes(t, way, PAIR_STATE_BYTES), IR_U32);
		ir_branchi(ir, IR_NE, state, 0, next);
		ir_alui(ir, IR_ADD, slot, t->bucket, table_way_bytes(t, way, 0));
		slot_exchange(g, slot, 0, 1, next);
		ir_store(ir, slot, PAIR_KEY_BYTES, IR_U64, gen_key_load(g, &t->words[0]));
		table_take_way(g, t, way, offset, found);
		ir_place(ir, next);
	}
}

static void store_by_thread(struct gen *g, struct table *t, const struct operand *values,
			    vreg nulls)
{
	struct ir *ir = g->ir;
	vreg slot = ir_reg(ir), offset = ir_reg(ir), before = ir_reg(ir);
	label other = ir_label(ir), found = ir_label(ir), replaced = ir_label(ir);
	u32 fork = gen_fork(g);
	struct table shared;

	table_branch_other_key(g, t, 0, other);
	ir_imm(ir, offset, 0);
	ir_jump(ir, found);
	ir_place(ir, other);
	ir_cold(ir, true);
	find_own_slot(g, t, offset, found);
	/* The slots belong to other threads, which may have ended: no slot of our own. */
	shared = table_overflow(g, t);
	shared.now = gen_time(g);
	store_in_table(g, &shared, values, nulls);
	ir_cold(ir, false);
	gen_join(g, fork);
	ir_place(ir, found);
	ir_mov(ir, slot, table_slot_at(g, t, offset, g->done));
	ir_load(ir, before, slot, PAIR_TIME_BYTES, IR_U64);
	t->now = gen_time(g);
	ir_branchi(ir, IR_NE, before, 0, replaced);
	write_start(g, t, values, nulls, slot);
	gen_count_out(g);
	ir_jump(ir, g->done);
	ir_place(ir, replaced);
	start_leave_waiting(g);
	start_count(g, (struct start){ before, slot_others(g, slot) }, UNPAIRED_OVERWRITTEN, false);
	write_start(g, t, values, nulls, slot);
	gen_count_out(g);
	ir_jump(ir, g->done);
}

void gen_store(struct gen *g, const struct phys_step *step)
{
	struct kept kept = gen_kept(g, step->join);
	const struct phys_join *j = &kept.join;
	const struct hook_use *use = g->use;
	struct operand *values = arena_array(g->arena, struct operand, MAX(j->n_columns, 1u));
	label null = ir_label(g->ir);
	vreg nulls = ir_reg(g->ir);
	struct table t;

	ir_note(g->ir, "store for j%u", j->number);
	if (g->taken_at)
		gen_dawdle(g);
	if (g->line && g->n_crowd)
		gen_leave_if_all_over(g, g->word, g->done);
	if (j->has_nulls)
		ir_imm(g->ir, nulls, 0);
	for (u32 i = 0; i < j->n_columns; i++) {
		const struct pair_column *c = &j->columns[i];

		if (c->bytes_offset == PAIR_TIME_BYTES)
			continue;
		g->faults = c->fault_bit < 0 ? 0 : nulls;
		g->fault_mask = bit_mask(c->fault_bit);
		be(g, kept.owners ? kept.owners[i] : use);
		values[i] = gen_nullable(g, c->expr, MAX(c->null_bit, 0), nulls, 0);
	}
	g->faults = 0;
	be(g, use);
	t = table_open(g, step, null);
	t.join = j;
	if (j->kind == PAIR_THREAD) {
		store_by_thread(g, &t, values, nulls);
	} else {
		t.now = gen_time(g);
		store_in_table(g, &t, values, nulls);
	}
	ir_place(g->ir, null);
	if (j->join == JOIN_PAIR) {
		/* Its time may not be known. */
		start_count(g, start_own(g, gen_imm(g, INT64_MAX)), UNPAIRED_NEVER_ENDED, true);
	}
	ir_jump(g->ir, g->done);
}

/* --- Looking the partner up --- */

/* Where a look-up goes on. */
struct ways_on {
	const struct stored *stored;
	vreg nulls;
	struct start start; /* others: where that is checked */
	label got, none;
	label unseen; /* the thread has no slot of its own, and a slot is free for it */
};

/* From here on the columns are known; registers and texts are filled by read_start(). */
static void know_columns(struct gen *g, const struct phys_join *j, vreg nulls, vreg time,
			 stored_vec *list)
{
	for (u32 i = 0; i < j->n_columns; i++) {
		const struct pair_column *c = &j->columns[i];
		struct stored s = { .expr = c->expr,
				    .null_mask = bit_mask(c->null_bit),
				    .fault_mask = bit_mask(c->fault_bit),
				    .join = j->number,
				    .bytes_offset = c->bytes_offset };

		if (s.null_mask | s.fault_mask)
			s.nulls = nulls;
		if (c->bytes_offset == PAIR_TIME_BYTES)
			s.reg = time;
		else if (gen_has_words(c->expr))
			s.text = ir_stack(g->ir, 8 * c->n_words);
		else
			s.reg = ir_reg(g->ir);
		vec_push(g->arena, list, s);
	}
}

static void read_start(struct gen *g, const struct phys_join *j, const struct ways_on *on,
		       vreg slot)
{
	const struct stored *stored = on->stored;
	struct ir *ir = g->ir;

	if (start_is_checked(g, j) || (g->phys->has_budget && j->join == JOIN_PAIR))
		ir_load(ir, on->start.others, slot, PAIR_OTHERS_BYTES, IR_U32);
	if (j->has_nulls)
		ir_load(ir, on->nulls, slot, (s32)j->nulls_bytes, IR_U64);
	for (u32 i = 0; i < j->n_columns; i++) {
		const struct pair_column *c = &j->columns[i];

		if (c->bytes_offset == PAIR_TIME_BYTES)
			continue;
		if (stored[i].reg) {
			ir_load(ir, stored[i].reg, slot, (s32)c->bytes_offset, IR_U64);
			continue;
		}
		gen_words_in(g, stored[i].text, slot, c->bytes_offset, c->n_words);
	}
}

/* No partner: all columns are NULL, and what is never looked at has some value all the same. */
static void read_nothing(struct gen *g, const struct phys_join *j, const struct stored *stored,
			 vreg nulls, vreg time)
{
	u64 all = 0;

	for (u32 i = 0; i < j->n_columns; i++)
		all |= bit_mask(j->columns[i].null_bit);
	ir_imm(g->ir, nulls, (s64)all);
	ir_imm(g->ir, time, 0);
	for (u32 i = 0; i < j->n_columns; i++) {
		if (!stored[i].reg)
			gen_words_zero(g, stored[i].text, j->columns[i].n_words);
		else if (stored[i].reg != time)
			ir_imm(g->ir, stored[i].reg, 0);
	}
}

static void look_up_table(struct gen *g, const struct table *t, const struct ways_on *on)
{
	struct ir *ir = g->ir;
	label again = ir_label(ir), back = ir_label(ir), retry = ir_label(ir);
	vreg tries = gen_imm(g, TRIES), slot;
	struct choice c;

	ir_place(ir, again);
	c = table_latest(g, t);
	ir_mov(ir, on->start.time, c.time);
	slot = table_slot_at(g, t, c.offset, on->none);
	if (t->join->join == JOIN_PAIR) {
		slot_exchange(g, slot, 2, 1, retry);
		slot_check(g, t, slot, on->start.time, false, back);
		read_start(g, t->join, on, slot);
		slot_publish(g, slot, 0);
		ir_jump(ir, on->got);
		ir_place(ir, back);
		slot_publish(g, slot, 2);
	} else {
		/* Not used up: read, then see that nobody wrote meanwhile. */
		read_start(g, t->join, on, slot);
		ir_branchi(ir, IR_NE, gen_load_in_order(g, slot, PAIR_STATE_BYTES), 2, retry);
		slot_check(g, t, slot, on->start.time, false, back);
		ir_jump(ir, on->got);
		ir_place(ir, back);
	}
	ir_place(ir, retry);
	try_again(g, tries, again, on->none);
}

static void take_own_start(struct gen *g, const struct table *t, const struct ways_on *on,
			   vreg slot, label none)
{
	ir_load(g->ir, on->start.time, slot, PAIR_TIME_BYTES, IR_U64);
	ir_storei(g->ir, slot, PAIR_TIME_BYTES, IR_U64, 0);
	read_start(g, t->join, on, slot);
	ir_branchi(g->ir, IR_NE, on->start.time, 0, on->got);
	ir_jump(g->ir, none);
}

/*
 * A thread without a slot that may have one was never here: its start would have taken it.  So this
 * end's call began before the run, which is said once of a thread, as it has a slot from then on.
 * Where all slots belong to others its start may have been crowded out.
 */
static void claim_unseen(struct gen *g, const struct table *t, const struct ways_on *on)
{
	struct ir *ir = g->ir;
	vreg slot = ir_reg(ir), state = ir_reg(ir);
	label free = ir_label(ir);

	ir_mov(ir, slot, t->bucket);
	for (u32 way = 0; way < PAIR_WAYS; way++) {
		ir_load(ir, state, slot, PAIR_STATE_BYTES, IR_U32);
		ir_branchi(ir, IR_EQ, state, 0, free);
		if (way < PAIR_WAYS - 1)
			ir_alui(ir, IR_ADD, slot, slot, t->join->slot_bytes);
	}
	ir_jump(ir, on->none);
	ir_place(ir, free);
	slot_exchange(g, slot, 0, 1, on->none);
	ir_store(ir, slot, PAIR_KEY_BYTES, IR_U64, gen_key_load(g, &t->words[0]));
	ir_jump(ir, on->unseen);
}

static void look_up_thread(struct gen *g, const struct table *t, const struct ways_on *on)
{
	struct ir *ir = g->ir;
	label other = ir_label(ir), found = ir_label(ir), unowned = ir_label(ir);
	label unshared = ir_label(ir);
	struct ways_on on_shared = *on;
	vreg offset = ir_reg(ir);
	struct table shared;

	table_branch_other_key(g, t, 0, other);
	take_own_start(g, t, on, t->bucket, on->none);
	ir_place(ir, other);
	ir_cold(ir, true);
	for (u32 way = 1; way < PAIR_WAYS; way++) {
		label next = ir_label(ir);

		table_branch_other_key(g, t, way, next);
		table_take_way(g, t, way, offset, found);
		ir_place(ir, next);
	}
	ir_jump(ir, unowned);
	ir_place(ir, found);
	take_own_start(g, t, on, table_slot_at(g, t, offset, on->none), on->none);
	ir_place(ir, unowned);
	on_shared.none = unshared;
	shared = table_overflow(g, t);
	look_up_table(g, &shared, &on_shared);
	ir_place(ir, unshared);
	claim_unseen(g, t, on);
	ir_cold(ir, false);
}

/* A partner that is too old, or (of a thread) whose clock is ahead of ours. */
static void check_age(struct gen *g, const struct table *t, vreg time, label too_old,
		      label negative)
{
	const struct phys_join *j = t->join;

	if (t->now && j->kind == PAIR_THREAD && !g->n_crowd)
		ir_branch(g->ir, IR_LT, t->now, time, negative);
	if (j->within_ns)
		ir_branchi(g->ir, IR_GT, gen_alu(g, IR_SUB, t->now, time), (s64)j->within_ns,
			   too_old);
}

void gen_look_up(struct gen *g, const struct phys_step *step)
{
	struct kept kept = gen_kept(g, step->join);
	const struct phys_join *j = &kept.join;
	stored_vec *list = g->n_crowd ? &g->looked_up : &g->stored;
	struct ir *ir = g->ir;
	label too_old = ir_label(ir), negative = ir_label(ir), joined = ir_label(ir);
	label nothing = ir_label(ir), doubtful = ir_label(ir);
	struct ways_on on = { .nulls = ir_reg(ir),
			      .start = { ir_reg(ir), ir_reg(ir) },
			      .got = ir_label(ir),
			      .none = ir_label(ir),
			      .unseen = ir_label(ir) };
	u32 first = list->n, fork;
	struct table t;
	vreg at = 0;

	ir_note(ir, "look up j%u", j->number);
	if (j->join == JOIN_PAIR && g->line && g->n_crowd)
		gen_leave_if_all_over(g, g->word, g->done);
	if (j->within_ns || j->needs_order || j->join == JOIN_ASOF)
		at = gen_time(g); /* before the search, which is none of the pair's time */
	fork = gen_fork(g);
	if (j->join == JOIN_PAIR)
		start_ask_over(g);
	t = table_open(g, step, on.none);
	t.join = j;
	t.now = at;
	know_columns(g, j, on.nulls, on.start.time, list);
	on.stored = &list->at[first];
	if (j->kind == PAIR_THREAD)
		look_up_thread(g, &t, &on);
	else
		look_up_table(g, &t, &on);
	ir_place(ir, on.got);
	gen_budget_branch_doubtful(g, on.start.time, doubtful);
	check_age(g, &t, on.start.time, too_old, negative);
	start_check(g, j, on.start, true);
	ir_jump(ir, joined);
	ir_place(ir, negative);
	start_check(g, j, on.start, true);
	gen_count(g, COUNTER_NEGATIVE);
	ir_jump(ir, j->is_left ? nothing : g->done);
	ir_place(ir, too_old);
	gen_count_unpaired(g, UNPAIRED_EXPIRED);
	start_check_expired(g, j, &on.start);
	ir_jump(ir, j->is_left ? nothing : g->done);
	if (j->kind == PAIR_THREAD) {
		ir_place(ir, on.unseen);
		gen_count_unpaired(g, UNPAIRED_BEGAN_BEFORE);
		ir_jump(ir, j->is_left ? nothing : g->done);
	}
	/* Its own end was left, as this one's start was; or they are a pair, which nobody knows. */
	if (g->phys->has_budget)
		ir_place(ir, doubtful);
	if (g->phys->has_budget && j->join == JOIN_PAIR)
		start_count(g, on.start, UNPAIRED_NEVER_ENDED, false);
	ir_place(ir, on.none);
	ir_place(ir, nothing);
	if (j->is_left) {
		gen_count_operator(g, COUNTER_EVENTS);
		read_nothing(g, j, on.stored, on.nulls, on.start.time);
		/* A key that is NULL came here before the later keys were computed. */
		gen_join(g, fork);
	} else {
		gen_count_unpaired(g, UNPAIRED_NEVER_STARTED);
		ir_jump(ir, g->done);
	}
	ir_place(ir, joined);
	if (g->n_crowd)
		gen_know_looked_up(g);
}
