/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Parts whose joins are alike keep their starts in one table.  A start is stored there once, and an
 * end takes it once, for all of them: what leads to the joins must be the same, and what becomes of
 * a row behind the last one may differ.
 */
#include "phys/internal.h"

bool phys_may_share_starts(const struct phys *phys)
{
	for (u32 i = 0; i < phys->n_joins; i++)
		if (!phys->joins[i].plan->join.shares_starts)
			return false;
	return !phys->has_budget && phys->n_joins && !phys->n_runnings && !phys->only_scans &&
	       !phys->state.n_operators;
}

/* Of exprs of part a and part b. */
struct pair {
	const struct phys *a, *b;
};

/* Both number their sources in one order, one behind the other. */
static bool is_equal(const struct pair *p, const struct expr *x, const struct expr *y)
{
	return expr_equal_as(x, p->a->sources[0].number, y, p->b->sources[0].number);
}

static bool is_same_step(const struct pair *p, const struct phys_step *x, const struct phys_step *y)
{
	if (x->kind != y->kind || x->n_conjuncts != y->n_conjuncts || !x->join != !y->join ||
	    (x->join && (x->join->number != y->join->number || x->join->n_keys != y->join->n_keys)))
		return false;
	for (u32 i = 0; i < x->n_conjuncts; i++)
		if (!is_equal(p, x->conjuncts[i], y->conjuncts[i]))
			return false;
	for (u32 i = 0; x->join && i < x->join->n_keys; i++)
		if (!is_equal(p, x->keys[i], y->keys[i]))
			return false;
	return true;
}

static u32 n_steps_to_joins(const struct phys_source *s)
{
	u32 n = s->n_steps;

	while (n && !s->steps[n - 1].join)
		n--;
	return n;
}

static bool is_same_way(const struct pair *p, const struct phys_source *x,
			const struct phys_source *y)
{
	u32 n = n_steps_to_joins(x);
	bool is_same = n == n_steps_to_joins(y) &&
		       x->number - p->a->sources[0].number == y->number - p->b->sources[0].number;

	for (u32 i = 0; is_same && i < n; i++)
		is_same = is_same_step(p, &x->steps[i], &y->steps[i]);
	return is_same;
}

/* The n-th use of the part, or NULL. */
static const struct hook_use *use_of(const struct hook *hook, const struct phys *phys, u32 n)
{
	for (u32 i = 0; i < hook->n_uses; i++)
		if (hook->uses[i].phys == phys && n-- == 0)
			return &hook->uses[i];
	return NULL;
}

static const struct hook *same_hook(const struct phys_set *set, const struct hook *hook,
				    const struct phys *phys)
{
	for (u32 i = 0; i < set->n_hooks; i++)
		if (hook_is_same(&set->hooks[i], hook) && use_of(&set->hooks[i], phys, 0))
			return &set->hooks[i];
	return NULL;
}

/* Do they read the same events, in one order, and lead them to the joins alike? */
static bool has_same_ways(const struct pair *p)
{
	u32 n = 0;

	for (u32 i = 0; i < p->a->set->n_hooks; i++) {
		const struct hook *x = &p->a->set->hooks[i], *y;
		const struct hook_use *use, *other;

		if (!use_of(x, p->a, 0))
			continue;
		y = same_hook(p->b->set, x, p->b);
		for (u32 k = 0; (use = use_of(x, p->a, k)); k++, n++) {
			other = y ? use_of(y, p->b, k) : NULL;
			if (!other || !phys_has_same_streams(use, other) || use->hand ||
			    other->hand || !is_same_way(p, use->source, other->source))
				return false;
		}
	}
	return n == p->a->n_sources && n == p->b->n_sources;
}

static bool has_bit(s32 bit)
{
	return bit >= 0;
}

/* Where the other's starts keep that; NULL: nowhere. */
static const struct pair_column *column_of(const struct pair *p, const struct phys_join *other,
					   const struct pair_column *column)
{
	for (u32 i = 0; i < other->n_columns; i++) {
		const struct pair_column *c = &other->columns[i];

		if (c->n_words == column->n_words &&
		    !has_bit(c->null_bit) == !has_bit(column->null_bit) &&
		    !has_bit(c->fault_bit) == !has_bit(column->fault_bit) &&
		    is_equal(p, column->expr, c->expr))
			return c;
	}
	return NULL;
}

/* Every slot has it. */
static bool is_plain_time(const struct pair_column *c)
{
	return c->bytes_offset == PAIR_TIME_BYTES && !has_bit(c->null_bit) &&
	       !has_bit(c->fault_bit);
}

static bool is_same_join(const struct pair *p, const struct phys_join *x, const struct phys_join *y)
{
	bool is_same = x->join == y->join && x->is_left == y->is_left && x->kind == y->kind &&
		       x->n_keys == y->n_keys && x->within_ns == y->within_ns &&
		       x->n_slots == y->n_slots;

	/* Whose clock is behind its start's has no partner, for who asks for both times alone. */
	is_same &= !x->is_left || x->kind != PAIR_THREAD;
	/* Of several starts it takes none that is later than itself, either. */
	is_same &= x->needs_order == y->needs_order || x->kind == PAIR_THREAD ||
		   x->join == JOIN_ASOF || x->within_ns;
	for (u32 i = 0; is_same && i < x->n_keys; i++)
		is_same = x->keys[i].n_words == y->keys[i].n_words;
	for (u32 i = 0; is_same && i < x->n_columns; i++)
		is_same = is_plain_time(&x->columns[i]) || column_of(p, y, &x->columns[i]);
	return is_same;
}

/* Slots become as the other's are. */
static void adopt(const struct pair *p, struct phys_join *join, const struct phys_join *other)
{
	for (u32 i = 0; i < join->n_columns; i++) {
		struct pair_column *c = &join->columns[i];
		const struct pair_column *there = column_of(p, other, c);

		if (is_plain_time(c))
			continue;
		c->bytes_offset = there->bytes_offset;
		c->null_bit = there->null_bit;
		c->fault_bit = there->fault_bit;
	}
	join->has_nulls = other->has_nulls;
	join->nulls_bytes = other->nulls_bytes;
	join->slot_bytes = other->slot_bytes;
	join->overflow_bytes = other->overflow_bytes;
	join->table_bytes = other->table_bytes;
	join->offset_bytes = other->offset_bytes;
}

bool phys_share_starts(struct phys *phys, const struct phys *other)
{
	const struct pair p = { phys, other };

	if (!phys_may_share_starts(phys) || !phys_may_share_starts(other) ||
	    phys->n_joins != other->n_joins || !has_same_ways(&p))
		return false;
	for (u32 i = 0; i < phys->n_joins; i++)
		if (!is_same_join(&p, &phys->joins[i], &other->joins[i]))
			return false;
	for (u32 i = 0; i < phys->n_joins; i++)
		adopt(&p, &phys->joins[i], &other->joins[i]);
	phys->pair_bytes = other->pair_bytes;
	phys->starts = other->starts;
	return true;
}

bool phys_share_with(struct phys *phys, const struct phys_set *plan)
{
	for (u32 i = 0; i < plan->n_parts; i++)
		if (phys_share_starts(phys, plan->parts[i]))
			return true;
	return false;
}

static u32 n_columns(const struct phys *phys)
{
	u32 n = 0;

	for (u32 i = 0; i < phys->n_joins; i++)
		n += phys->joins[i].n_columns;
	return n;
}

/* Those that ask for most come first: others find there what they ask for. */
void phys_share_all_starts(struct phys_set *set)
{
	u64 is_placed = 0;

	/* Of several blocks no program serves all. */
	if (set->n_parts > BLOCK_PARTS)
		return;
	for (u32 k = 0; k < set->n_parts; k++) {
		u32 most = set->n_parts;

		for (u32 i = 0; i < set->n_parts; i++)
			if (!(is_placed >> i & 1) &&
			    (most == set->n_parts ||
			     n_columns(set->parts[i]) > n_columns(set->parts[most])))
				most = i;
		is_placed |= 1ull << most;
		for (u32 i = 0; i < set->n_parts; i++)
			if (!(is_placed >> i & 1) &&
			    phys_share_starts(set->parts[i], set->parts[most]))
				is_placed |= 1ull << i;
	}
}
