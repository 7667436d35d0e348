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
#include "gen/internal.h"

struct table {
	const struct phys_join *join;
	struct key_word *words;
	vreg base;   /* of the table: its header */
	vreg bucket; /* first of the PAIR_WAYS slots in which the key may stand */
	vreg now;    /* 0: not read */
};

/* --- What was looked up --- */

const struct stored *gen_stored(const struct gen *g, const struct expr *e)
{
	for (u32 i = 0; i < g->stored.n; i++)
		if (expr_equal(g->stored.at[i].expr, e))
			return &g->stored.at[i];
	return NULL;
}

static void test_null(struct gen *g, const struct stored *s, label null)
{
	if (s->nulls)
		ir_branchi(g->ir, IR_TEST, s->nulls, (s64)(1ull << s->null_bit), null);
}

vreg gen_stored_value(struct gen *g, const struct stored *s, label null)
{
	test_null(g, s, null);
	return s->reg;
}

stack_object gen_stored_text(struct gen *g, const struct stored *s, label null)
{
	test_null(g, s, null);
	return s->text;
}

const struct expr *gen_branch_of(const struct gen *g, const struct expr *e)
{
	for (u32 i = 0; i < e->n_args; i++)
		if (e->branches[i] == g->source->number)
			return e->args[i];
	BUG("a union without a branch of source %u", g->source->number);
}

/* --- Keys and buckets --- */

/* The key of this side; a NULL matches nothing. */
static void key_words(struct gen *g, const struct phys_step *step, struct key_word *words,
		      label null)
{
	const struct phys_join *j = step->join;

	for (u32 i = 0; i < j->n_keys; i++) {
		const struct phys_key *key = &j->keys[i];
		struct key_word *w = &words[key->first_word];
		struct expr *e = step->keys[i];

		ir_at(g->ir, e->span);
		if (!gen_is_text(e)) {
			w->reg = gen_value(g, e, null);
			continue;
		}
		stack_object text = gen_text(g, e, null);

		for (u32 k = 0; k < key->n_words; k++) {
			if (k < gen_text_words(e)) {
				w[k] = (struct key_word){ .object = text, .offset_bytes = 8 * k };
				continue;
			}
			w[k].reg = ir_reg(g->ir);
			ir_imm(g->ir, w[k].reg, 0);
		}
	}
}

/*
 * PAIR_THREAD: where the thread's registers are saved.  A typed pointer may not be
 * computed with, but two pointers may be subtracted (allow_ptr_leaks, CAP_PERFMON), and
 * the table stands where it stands for both programs.
 */
static void thread_word(struct gen *g, struct table *t)
{
	t->words[0].reg = ir_reg(g->ir);
	if (g->hook->is_typed)
		ir_alu(g->ir, IR_SUB, t->words[0].reg, g->registers, t->base);
	else
		ir_mov(g->ir, t->words[0].reg, g->registers);
}

/* PAIR_TABLE: groups of PAIR_WAYS; see phys.h.  PAIR_THREAD: the slots from its hash on. */
static void find_bucket(struct gen *g, struct table *t)
{
	const struct phys_join *j = t->join;
	u32 step = j->kind == PAIR_TABLE ? PAIR_WAYS : 1;
	vreg index = gen_key_hash(g, t->words, j->key_words);

	t->bucket = ir_reg(g->ir);
	ir_alui(g->ir, IR_SHR, index, index, 64 - __builtin_ctz(j->n_slots / step));
	ir_alui(g->ir, IR_MUL, index, index, step * j->slot_bytes);
	ir_alu(g->ir, IR_ADD, t->bucket, t->base, index);
	ir_alui(g->ir, IR_ADD, t->bucket, t->bucket, PAIR_HEADER_BYTES);
}

static struct table table_open(struct gen *g, const struct phys_step *step, label null)
{
	const struct phys_join *j = step->join;
	struct table t = { .join = j };

	ir_at(g->ir, step->span);
	t.words = arena_array(g->arena, struct key_word, MAX(j->key_words, 1u));
	if (j->kind == PAIR_TABLE)
		key_words(g, step, t.words, null);
	ir_at(g->ir, step->span);
	t.base = ir_reg(g->ir);
	ir_map_value(g->ir, t.base, LOAD_MAP_PAIR, (u32)j->offset_bytes);
	if (j->kind == PAIR_THREAD)
		thread_word(g, &t);
	find_bucket(g, &t);
	return t;
}

static s32 way_bytes(const struct table *t, u32 way, u32 offset_bytes)
{
	return (s32)(way * t->join->slot_bytes + offset_bytes);
}

/* Goes on where the key in this way is not ours. */
static void branch_other_key(struct gen *g, const struct table *t, u32 way, label other)
{
	struct ir *ir = g->ir;
	vreg differ = 0;

	for (u32 i = 0; i < t->join->key_words; i++) {
		vreg word = ir_reg(ir);

		ir_load(ir, word, t->bucket, way_bytes(t, way, PAIR_KEY_BYTES + 8 * i), IR_U64);
		if (t->join->key_words == 1) {
			ir_branch(ir, IR_NE, word, gen_key_load(g, &t->words[i]), other);
			return;
		}
		ir_alu(ir, IR_XOR, word, word, gen_key_load(g, &t->words[i]));
		if (differ)
			ir_alu(ir, IR_OR, differ, differ, word);
		else
			differ = word;
	}
	ir_branchi(ir, IR_NE, differ, 0, other);
}

/*
 * Which way it is, as a number that the verifier does not know: the header's word.  All
 * ways then go on as one, and what follows is verified once instead of PAIR_WAYS times.
 */
static void take_way(struct gen *g, const struct table *t, u32 way, vreg offset, label found)
{
	ir_load(g->ir, offset, t->base, (s32)(8 * way), IR_U64);
	ir_jump(g->ir, found);
}

static vreg slot_at(struct gen *g, const struct table *t, vreg offset, label never)
{
	vreg slot = ir_reg(g->ir);

	/* Never taken, and a multiple of 8: the header says so, which the verifier must see too. */
	ir_branchi(g->ir, IR_GT, offset, (PAIR_WAYS - 1) * t->join->slot_bytes, never);
	ir_alui(g->ir, IR_AND, offset, offset, -8);
	ir_alu(g->ir, IR_ADD, slot, t->bucket, offset);
	return slot;
}

/* The way whose start has this time and our key, if it is still there. */
static void find_time(struct gen *g, const struct table *t, vreg time, bool is_any_key, vreg offset,
		      label found)
{
	struct ir *ir = g->ir;

	for (u32 way = 0; way < PAIR_WAYS; way++) {
		vreg state = ir_reg(ir), its = ir_reg(ir);
		label next = ir_label(ir);

		ir_load(ir, its, t->bucket, way_bytes(t, way, PAIR_TIME_BYTES), IR_U64);
		ir_branch(ir, IR_NE, its, time, next);
		ir_load(ir, state, t->bucket, way_bytes(t, way, PAIR_STATE_BYTES), IR_U64);
		ir_branchi(ir, IR_NE, state, 2, next);
		if (!is_any_key)
			branch_other_key(g, t, way, next);
		take_way(g, t, way, offset, found);
		ir_place(ir, next);
	}
}

/* The latest start of our key (0: none), or, over all keys, the oldest (U64_MAX: none). */
static vreg best_time(struct gen *g, const struct table *t, bool is_oldest)
{
	struct ir *ir = g->ir;
	vreg best = ir_reg(ir);

	ir_imm(ir, best, is_oldest ? -1 : 0);
	for (u32 way = 0; way < PAIR_WAYS; way++) {
		vreg state = ir_reg(ir), time = ir_reg(ir);
		label next = ir_label(ir);

		ir_load(ir, state, t->bucket, way_bytes(t, way, PAIR_STATE_BYTES), IR_U64);
		ir_branchi(ir, IR_NE, state, 2, next);
		if (!is_oldest)
			branch_other_key(g, t, way, next);
		ir_load(ir, time, t->bucket, way_bytes(t, way, PAIR_TIME_BYTES), IR_U64);
		ir_branch(ir, is_oldest ? IR_GE : IR_LE, time, best, next);
		ir_mov(ir, best, time);
		ir_place(ir, next);
	}
	return best;
}

/* state: from -> to; goes to `lost` where another CPU was faster. */
static void exchange_state(struct gen *g, vreg slot, s32 from, s64 to, label lost)
{
	vreg old = ir_reg(g->ir), wanted = ir_reg(g->ir);

	ir_imm(g->ir, wanted, to);
	ir_compare_exchange(g->ir, old, slot, PAIR_STATE_BYTES, from, wanted);
	ir_branchi(g->ir, IR_NE, old, from, lost);
}

/* Gives the slot back; what was written into it before is seen by who takes it. */
static void publish_state(struct gen *g, vreg slot, s32 state)
{
#ifdef __x86_64__
	ir_storei(g->ir, slot, PAIR_STATE_BYTES, IR_U64, state);
#else
	vreg v = ir_reg(g->ir);

	ir_imm(g->ir, v, state);
	ir_atomic(g->ir, IR_ATOMIC_XCHG, v, slot, PAIR_STATE_BYTES, IR_U64, v);
#endif
}

/* --- Storing a start --- */

static void write_start(struct gen *g, const struct table *t, const struct streamed *values,
			vreg nulls, vreg slot)
{
	const struct phys_join *j = t->join;

	if (j->has_nulls)
		ir_store(g->ir, slot, (s32)j->nulls_bytes, IR_U64, nulls);
	for (u32 i = 0; i < j->n_columns; i++) {
		const struct pair_column *c = &j->columns[i];

		if (c->bytes_offset == PAIR_TIME_BYTES)
			continue;
		if (!values[i].is_text) {
			ir_store(g->ir, slot, (s32)c->bytes_offset, IR_U64, values[i].reg);
			continue;
		}
		for (u32 w = 0; w < c->n_words; w++) {
			vreg v = ir_reg(g->ir);

			ir_stack_load(g->ir, v, values[i].text, 8 * w, IR_U64);
			ir_store(g->ir, slot, (s32)(c->bytes_offset + 8 * w), IR_U64, v);
		}
	}
	ir_store(g->ir, slot, PAIR_TIME_BYTES, IR_U64, t->now);
}

/* The thread's slot: the first of its bucket nearly always; else another, or a new one. */
static void find_own_slot(struct gen *g, const struct table *t, vreg offset, label found)
{
	struct ir *ir = g->ir;

	for (u32 way = 1; way < PAIR_WAYS; way++) {
		label next = ir_label(ir);

		branch_other_key(g, t, way, next);
		take_way(g, t, way, offset, found);
		ir_place(ir, next);
	}
	for (u32 way = 0; way < PAIR_WAYS; way++) {
		vreg state = ir_reg(ir), slot = ir_reg(ir);
		label next = ir_label(ir);

		ir_load(ir, state, t->bucket, way_bytes(t, way, PAIR_STATE_BYTES), IR_U64);
		ir_branchi(ir, IR_NE, state, 0, next);
		ir_alui(ir, IR_ADD, slot, t->bucket, way_bytes(t, way, 0));
		exchange_state(g, slot, 0, 1, next);
		ir_store(ir, slot, PAIR_KEY_BYTES, IR_U64, gen_key_load(g, &t->words[0]));
		take_way(g, t, way, offset, found);
		ir_place(ir, next);
	}
	gen_count_unpaired(g, UNPAIRED_FULL);
	ir_jump(ir, g->done);
}

static void store_by_thread(struct gen *g, struct table *t, const struct streamed *values,
			    vreg nulls)
{
	struct ir *ir = g->ir;
	vreg slot = ir_reg(ir), offset = ir_reg(ir), before = ir_reg(ir);
	label other = ir_label(ir), found = ir_label(ir), write = ir_label(ir);
	label replaced = ir_label(ir);

	branch_other_key(g, t, 0, other);
	ir_imm(ir, offset, 0);
	ir_jump(ir, found);
	ir_place(ir, other);
	find_own_slot(g, t, offset, found);
	ir_place(ir, found);
	ir_mov(ir, slot, slot_at(g, t, offset, g->done));
	ir_load(ir, before, slot, PAIR_TIME_BYTES, IR_U64);
	t->now = gen_time(g);
	ir_branchi(ir, IR_NE, before, 0, replaced);
	ir_place(ir, write);
	write_start(g, t, values, nulls, slot);
	ir_jump(ir, g->done);
	ir_place(ir, replaced);
	gen_count_unpaired(g, UNPAIRED_OVERWRITTEN);
	write_start(g, t, values, nulls, slot);
	ir_jump(ir, g->done);
}

/* A slot of our own, its state 1: the one of our key (ASOF), a free one, or the oldest. */
static void take_slot(struct gen *g, const struct table *t, vreg offset, label own)
{
	struct ir *ir = g->ir;
	label full = ir_label(ir), lost = ir_label(ir), oldest = ir_label(ir);
	vreg slot;

	if (t->join->join == JOIN_ASOF) {
		label same = ir_label(ir), none = ir_label(ir);
		vreg latest = best_time(g, t, false);

		ir_branchi(ir, IR_EQ, latest, 0, none);
		find_time(g, t, latest, false, offset, same);
		ir_jump(ir, none);
		ir_place(ir, same);
		slot = slot_at(g, t, offset, g->done);
		exchange_state(g, slot, 2, 1, none);
		ir_jump(ir, own);
		ir_place(ir, none);
	}
	for (u32 way = 0; way < PAIR_WAYS; way++) {
		vreg state = ir_reg(ir);
		label next = ir_label(ir);

		ir_load(ir, state, t->bucket, way_bytes(t, way, PAIR_STATE_BYTES), IR_U64);
		ir_branchi(ir, IR_NE, state, 0, next);
		slot = ir_reg(ir);
		ir_alui(ir, IR_ADD, slot, t->bucket, way_bytes(t, way, 0));
		exchange_state(g, slot, 0, 1, next);
		take_way(g, t, way, offset, own);
		ir_place(ir, next);
	}
	find_time(g, t, best_time(g, t, true), true, offset, oldest);
	ir_jump(ir, full);
	ir_place(ir, oldest);
	slot = slot_at(g, t, offset, g->done);
	exchange_state(g, slot, 2, 1, lost);
	/* Of an ASOF join the oldest was most likely used already; an end that misses it says so.
	 */
	if (t->join->join == JOIN_PAIR)
		gen_count_unpaired(g, UNPAIRED_FULL);
	ir_jump(ir, own);
	ir_place(ir, lost);
	ir_place(ir, full);
	gen_count_unpaired(g, UNPAIRED_FULL);
	ir_jump(ir, g->done);
}

static void store_in_table(struct gen *g, struct table *t, const struct streamed *values,
			   vreg nulls)
{
	struct ir *ir = g->ir;
	vreg offset = ir_reg(ir), slot;
	label own = ir_label(ir);

	t->now = gen_time(g);
	take_slot(g, t, offset, own);
	ir_place(ir, own);
	slot = slot_at(g, t, offset, g->done);
	for (u32 i = 0; i < t->join->key_words; i++)
		ir_store(ir, slot, (s32)(PAIR_KEY_BYTES + 8 * i), IR_U64,
			 gen_key_load(g, &t->words[i]));
	write_start(g, t, values, nulls, slot);
	publish_state(g, slot, 2);
	ir_jump(ir, g->done);
}

void gen_store(struct gen *g, const struct phys_step *step)
{
	const struct phys_join *j = step->join;
	struct streamed *values = arena_array(g->arena, struct streamed, MAX(j->n_columns, 1u));
	label null = ir_label(g->ir);
	vreg nulls = ir_reg(g->ir);
	struct table t;

	ir_note(g->ir, "store for j%u", j->number);
	if (j->has_nulls)
		ir_imm(g->ir, nulls, 0);
	for (u32 i = 0; i < j->n_columns; i++) {
		const struct pair_column *c = &j->columns[i];

		if (c->bytes_offset != PAIR_TIME_BYTES)
			values[i] = gen_streamed(g, c->expr, false,
						 c->null_bit < 0 ? 0 : (u32)c->null_bit, nulls);
	}
	t = table_open(g, step, null);
	if (j->kind == PAIR_THREAD)
		store_by_thread(g, &t, values, nulls);
	else
		store_in_table(g, &t, values, nulls);
	ir_place(g->ir, null);
	if (j->join == JOIN_PAIR)
		gen_count_unpaired(g, UNPAIRED_NEVER_ENDED);
	ir_jump(g->ir, g->done);
}

/* --- Looking the partner up --- */

/* From here on the columns are known; registers and texts are filled by read_start(). */
static void know_columns(struct gen *g, const struct phys_join *j, vreg nulls, vreg time)
{
	for (u32 i = 0; i < j->n_columns; i++) {
		const struct pair_column *c = &j->columns[i];
		struct stored s = { .expr = c->expr, .null_bit = c->null_bit };

		if (c->null_bit >= 0)
			s.nulls = nulls;
		if (c->bytes_offset == PAIR_TIME_BYTES)
			s.reg = time;
		else if (gen_is_text(c->expr))
			s.text = ir_stack(g->ir, 8 * c->n_words);
		else
			s.reg = ir_reg(g->ir);
		vec_push(g->arena, &g->stored, s);
	}
}

static void read_start(struct gen *g, const struct phys_join *j, const struct stored *stored,
		       vreg nulls, vreg slot)
{
	struct ir *ir = g->ir;

	if (j->has_nulls)
		ir_load(ir, nulls, slot, (s32)j->nulls_bytes, IR_U64);
	for (u32 i = 0; i < j->n_columns; i++) {
		const struct pair_column *c = &j->columns[i];

		if (c->bytes_offset == PAIR_TIME_BYTES)
			continue;
		if (stored[i].reg) {
			ir_load(ir, stored[i].reg, slot, (s32)c->bytes_offset, IR_U64);
			continue;
		}
		for (u32 w = 0; w < c->n_words; w++) {
			vreg v = ir_reg(ir);

			ir_load(ir, v, slot, (s32)(c->bytes_offset + 8 * w), IR_U64);
			ir_stack_store(ir, stored[i].text, 8 * w, IR_U64, v);
		}
	}
}

/* No partner: all columns are NULL, and what is never looked at has some value all the same. */
static void read_nothing(struct gen *g, const struct phys_join *j, const struct stored *stored,
			 vreg nulls, vreg time)
{
	ir_imm(g->ir, nulls, -1);
	ir_imm(g->ir, time, 0);
	for (u32 i = 0; i < j->n_columns; i++) {
		if (stored[i].reg && stored[i].reg != time)
			ir_imm(g->ir, stored[i].reg, 0);
		for (u32 w = 0; !stored[i].reg && w < j->columns[i].n_words; w++)
			ir_stack_storei(g->ir, stored[i].text, 8 * w, IR_U64, 0);
	}
}

/* time: of the start, 0 where none waits. */
static void look_up_thread(struct gen *g, const struct table *t, const struct stored *stored,
			   vreg nulls, vreg time, label got, label none)
{
	struct ir *ir = g->ir;
	label other = ir_label(ir), found = ir_label(ir);
	vreg offset = ir_reg(ir), slot;

	branch_other_key(g, t, 0, other);
	ir_load(ir, time, t->bucket, PAIR_TIME_BYTES, IR_U64);
	ir_storei(ir, t->bucket, PAIR_TIME_BYTES, IR_U64, 0);
	read_start(g, t->join, stored, nulls, t->bucket);
	ir_branchi(ir, IR_NE, time, 0, got);
	ir_jump(ir, none);
	ir_place(ir, other);
	for (u32 way = 1; way < PAIR_WAYS; way++) {
		label next = ir_label(ir);

		branch_other_key(g, t, way, next);
		take_way(g, t, way, offset, found);
		ir_place(ir, next);
	}
	ir_jump(ir, none);
	ir_place(ir, found);
	slot = slot_at(g, t, offset, none);
	ir_load(ir, time, slot, PAIR_TIME_BYTES, IR_U64);
	ir_storei(ir, slot, PAIR_TIME_BYTES, IR_U64, 0);
	read_start(g, t->join, stored, nulls, slot);
	ir_branchi(ir, IR_NE, time, 0, got);
	ir_jump(ir, none);
}

/* Is the slot, now that it is ours (or read), still the start that was chosen? */
static void check_slot(struct gen *g, const struct table *t, vreg slot, vreg time, label changed)
{
	struct ir *ir = g->ir;
	vreg word = ir_reg(ir);

	ir_load(ir, word, slot, PAIR_TIME_BYTES, IR_U64);
	ir_branch(ir, IR_NE, word, time, changed);
	for (u32 i = 0; i < t->join->key_words; i++) {
		word = ir_reg(ir);
		ir_load(ir, word, slot, (s32)(PAIR_KEY_BYTES + 8 * i), IR_U64);
		ir_branch(ir, IR_NE, word, gen_key_load(g, &t->words[i]), changed);
	}
}

static void look_up_table(struct gen *g, const struct table *t, const struct stored *stored,
			  vreg nulls, vreg time, label got, label none)
{
	struct ir *ir = g->ir;
	label found = ir_label(ir), changed = ir_label(ir);
	vreg offset = ir_reg(ir), slot, state;

	ir_mov(ir, time, best_time(g, t, false));
	ir_branchi(ir, IR_EQ, time, 0, none);
	find_time(g, t, time, false, offset, found);
	ir_jump(ir, none); /* another CPU was faster */
	ir_place(ir, found);
	slot = slot_at(g, t, offset, none);
	if (t->join->join == JOIN_PAIR) {
		exchange_state(g, slot, 2, 1, none);
		check_slot(g, t, slot, time, changed);
		read_start(g, t->join, stored, nulls, slot);
		publish_state(g, slot, 0);
		ir_jump(ir, got);
		ir_place(ir, changed);
		publish_state(g, slot, 2);
		ir_jump(ir, none);
		return;
	}
	/* Not used up: read, then see that nobody wrote meanwhile. */
	read_start(g, t->join, stored, nulls, slot);
	state = ir_reg(ir);
	ir_load(ir, state, slot, PAIR_STATE_BYTES, IR_U64);
	ir_branchi(ir, IR_NE, state, 2, changed);
	check_slot(g, t, slot, time, changed);
	ir_jump(ir, got);
	ir_place(ir, changed);
	ir_jump(ir, none);
}

/* A partner that is too old, or whose clock is ahead of ours. */
static void check_age(struct gen *g, const struct table *t, vreg time, label too_old,
		      label negative)
{
	const struct phys_join *j = t->join;
	vreg age;

	if (j->within_ns || j->needs_order)
		ir_branch(g->ir, IR_LT, t->now, time, negative);
	if (!j->within_ns)
		return;
	age = ir_reg(g->ir);
	ir_alu(g->ir, IR_SUB, age, t->now, time);
	ir_branchi(g->ir, IR_GT, age, (s64)j->within_ns, too_old);
}

void gen_look_up(struct gen *g, const struct phys_step *step)
{
	const struct phys_join *j = step->join;
	struct ir *ir = g->ir;
	label got = ir_label(ir), none = ir_label(ir), too_old = ir_label(ir);
	label negative = ir_label(ir), joined = ir_label(ir), nothing = ir_label(ir);
	vreg nulls = ir_reg(ir), time = ir_reg(ir);
	u32 first = g->stored.n;
	const struct stored *stored;
	struct table t;
	vreg at = 0;

	ir_note(ir, "look up j%u", j->number);
	if (j->within_ns || j->needs_order)
		at = gen_time(g); /* before the search, which is none of the pair's time */
	t = table_open(g, step, none);
	t.now = at;
	know_columns(g, j, nulls, time);
	stored = &g->stored.at[first];
	if (j->kind == PAIR_THREAD)
		look_up_thread(g, &t, stored, nulls, time, got, none);
	else
		look_up_table(g, &t, stored, nulls, time, got, none);
	ir_place(ir, got);
	check_age(g, &t, time, too_old, negative);
	ir_jump(ir, joined);
	ir_place(ir, negative);
	gen_count(g, COUNTER_NEGATIVE);
	ir_jump(ir, g->done);
	ir_place(ir, too_old);
	gen_count_unpaired(g, UNPAIRED_EXPIRED);
	ir_jump(ir, j->is_left ? nothing : g->done);
	ir_place(ir, none);
	if (j->is_left) {
		ir_place(ir, nothing);
		read_nothing(g, j, stored, nulls, time);
	} else {
		gen_count_unpaired(g, UNPAIRED_NEVER_STARTED);
		ir_jump(ir, g->done);
	}
	ir_place(ir, joined);
}
