/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Joins: which columns of its starts the query needs, and the table they wait in.
 *
 * An end computes with what its partner stored: of every expression behind the look-up
 * the largest parts that read the join's right side only are stored, and nothing
 * else.  What can fail (x / 0) is no such part, since the end may never ask for it; what
 * must be read at the start is stored with a mark that it could not be.  Joins nearer to the root
 * come first in phys.joins, so what they store is known when it is asked for.
 *
 * Own tables in one mmapable array, always.  Measured for a pair, above two empty
 * programs that read the time (ARCHITECTURE.md): own table 4-7 ns, task storage 47,
 * kernel hash 59 (entries kept) to 204 (update and delete), LRU 235; nothing that
 * these three can do is missing here.
 */

#include "phys/internal.h"

#define COLUMNS_MAX    64
#define SLOT_ALIGN     8
#define IN_FLIGHT_MIN  16
#define OVERFLOW_SHARE 8 /* of the slots that threads own, so many are there again for others */

struct collect {
	struct phys *phys;
	struct phys_join *join;
	const struct plan *right;
	u32 n_bits; /* of the null word */
	u32 n_refused;
};

/* The time of the start itself stands in every slot. */
static bool is_start_time(const struct collect *c, const struct expr *e)
{
	if (e->kind == EXPR_UNION) {
		for (u32 i = 0; i < e->n_args; i++)
			if (e->args[i]->kind != EXPR_SYSTEM || e->args[i]->index != SYS_TIME ||
			    e->args[i]->source != e->branches[i])
				return false;
		return true;
	}
	return e->kind == EXPR_SYSTEM && e->index == SYS_TIME && c->right->kind != PLAN_UNION &&
	       e->source == plan_trigger(c->right);
}

static void add_column(struct collect *c, struct expr *e)
{
	struct phys_join *j = c->join;
	struct pair_column column = { .expr = e, .null_bit = -1, .fault_bit = -1 };

	for (u32 i = 0; i < j->n_columns; i++)
		if (expr_equal(j->columns[i].expr, e))
			return;
	if (j->n_columns == COLUMNS_MAX) {
		c->n_refused++;
		return;
	}
	if (is_start_time(c, e)) {
		column.bytes_offset = PAIR_TIME_BYTES;
		j->needs_order = true;
	}
	column.n_words = phys_words(e);
	if (e->nullable)
		column.null_bit = (s32)c->n_bits++;
	if (expr_can_fault(e, c->right))
		column.fault_bit = (s32)c->n_bits++;
	c->n_refused += c->n_bits > 64;
	j->columns[j->n_columns++] = column;
}

static void collect_parts(void *context, struct expr *e)
{
	struct collect *c = context;

	/* What an end without a partner makes of NULLs cannot come from the start.  Which branch
	 * a column of a union is, only the start knows. */
	if (expr_is_of(e, c->right) && (e->kind == EXPR_UNION || !expr_can_fail(e)) &&
	    (!c->join->is_left || e->kind == EXPR_UNION || expr_is_strict(e))) {
		if (!e->is_user_only && e->kind != EXPR_NULL) {
			add_column(c, e);
			return;
		}
	}
	for (u32 i = 0; i < e->n_args; i++)
		collect_parts(context, e->args[i]);
}

/* Every event that looks this join up meets the expressions behind the look-up. */
static void collect_columns(struct collect *c)
{
	for (u32 i = 0; i < c->phys->n_sources; i++) {
		const struct phys_source *s = &c->phys->sources[i];

		for (u32 j = 0; j < s->n_steps; j++)
			if (s->steps[j].kind == STEP_LOOKUP && s->steps[j].join == c->join)
				phys_each_behind(c->phys, s, j + 1, collect_parts, c);
	}
}

static void lay_out_slot(struct phys_join *j)
{
	u32 at = PAIR_KEY_BYTES + 8 * j->key_words;

	if (j->has_nulls) {
		j->nulls_bytes = at;
		at += 8;
	}
	for (u32 i = 0; i < j->n_columns; i++) {
		if (j->columns[i].bytes_offset)
			continue;
		j->columns[i].bytes_offset = at;
		at += 8 * j->columns[i].n_words;
	}
	/* Up to one cache line, slots that are a power of two wide share none. */
	j->slot_bytes = (u32)ALIGN_UP(at, SLOT_ALIGN);
	if (j->slot_bytes <= 32)
		j->slot_bytes = 32;
	else if (j->slot_bytes <= 64)
		j->slot_bytes = 64;
}

/* Do both sides key its rows by the thread of one system call? */
static bool is_of_thread(const struct phys *phys, const struct phys_join *join)
{
	bool is_syscalls = true;

	if (join->join != JOIN_PAIR || join->n_keys != 1)
		return false;
	for (u32 i = 0; i < phys->set->n_hooks && is_syscalls; i++) {
		const struct hook *hook = &phys->set->hooks[i];

		for (u32 k = 0; k < hook->n_uses; k++) {
			const struct phys_source *s = hook->uses[k].source;

			for (u32 j = 0; j < s->n_steps; j++) {
				const struct phys_step *step = &s->steps[j];

				if (step->join != join)
					continue;
				is_syscalls &= access_kinds[hook->path].is_of_calls &&
					       step->keys[0]->kind == EXPR_SYSTEM &&
					       step->keys[0]->index == SYS_TID &&
					       step->keys[0]->source == s->number;
			}
		}
	}
	return is_syscalls;
}

static void choose_table(struct phys *phys, struct phys_join *j)
{
	if (!j->plan->join.is_nesting && is_of_thread(phys, j)) {
		j->kind = PAIR_THREAD;
		j->reason = "system calls of a thread do not nest, and its saved registers name it";
		return;
	}
	j->kind = PAIR_TABLE;
	j->reason = j->join == JOIN_ASOF ? "the latest start of each key stays"
					 : "starts of one key may nest";
}

static u64 table_bytes(const struct phys_join *j)
{
	u64 n = j->n_slots + PAIR_WAYS - 1 + (u64)j->n_overflow;

	return ALIGN_UP(PAIR_HEADER_BYTES + n * j->slot_bytes, 64);
}

bool phys_joins(struct phys *phys, const struct phys_input *input, struct diags *diags)
{
	u64 limit = input->features->has_large_array_value ? PHYS_OFFSET_MAX : PHYS_VALUE_MAX;
	u64 at = 0;

	for (u32 i = 0; i < phys->n_joins; i++) {
		struct phys_join *j = &phys->joins[i];
		struct collect c = { .phys = phys, .join = j };

		c.right = j->plan->right;
		j->columns = arena_array(phys->arena, struct pair_column, COLUMNS_MAX);
		collect_columns(&c);
		if (c.n_refused) {
			return diag_refuse(diags, "too-many-columns", j->span,
					   "a join stores at most %u columns of a start" HINT
					   "use fewer columns of its right side",
					   COLUMNS_MAX);
		}
		j->has_nulls = c.n_bits > 0;
		choose_table(phys, j);
		lay_out_slot(j);
		j->n_slots = IN_FLIGHT_MIN;
		while (j->n_slots < input->settings->max_in_flight)
			j->n_slots *= 2;
		/* An old kernel's arrays end at 4 MiB: fewer starts then, and it is shown. */
		while (table_bytes(j) > limit / (phys->n_joins + phys->n_runnings) &&
		       j->n_slots > IN_FLIGHT_MIN)
			j->n_slots /= 2;
		j->overflow_bytes =
			PAIR_HEADER_BYTES + (u64)(j->n_slots + PAIR_WAYS - 1) * j->slot_bytes;
		if (j->kind == PAIR_THREAD)
			j->n_overflow = MAX(j->n_slots / OVERFLOW_SHARE, PAIR_WAYS);
		j->table_bytes = table_bytes(j);
		j->offset_bytes = at;
		at += j->table_bytes;
	}
	phys->pair_bytes = at;
	return true;
}
