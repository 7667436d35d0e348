/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Rule members: members of one object that stand near each other are read by one call of a helper,
 * when the first of them is asked for.  Where that cannot be read each is read by itself, so what
 * is NULL, and counts as a fault, is the same as without the rule.
 */
#include <stdlib.h>

#include "opt/rules.h"

#define BYTES_MAX 32 /* read at once, onto the program's stack; a multiple of 8 */

struct member {
	struct expr *e, *object;
	u64 offset_bits; /* from the object on */
};

struct members {
	struct arena *arena;
	VEC(struct member) all;
};

/* Not of what is computed or read itself, where ways part: what was read is known on one of them.
 */
static bool is_column(const struct expr *object)
{
	return (object->kind == EXPR_FIELD || object->kind == EXPR_SYSTEM) && !object->nullable;
}

static void note(void *context, struct expr *e)
{
	struct members *m = context;
	struct member found = { .e = e };

	if (e->kind != EXPR_MEMBER || e->read != READ_MEMBER || expr_is_place(e))
		return;
	found.object = expr_object(e, &found.offset_bits);
	for (u32 i = 0; i < m->all.n; i++)
		if (expr_equal(m->all.at[i].e, e))
			return;
	if (is_column(found.object))
		vec_push(m->arena, &m->all, found);
}

/* From the word on in which the first of them stands: all that then can be read with it. */
static struct expr *reading_from(struct members *m, const struct member *first)
{
	struct expr *reading = expr_make(m->arena, EXPR_MEMBER, first->e->span, 1, first->object);
	u64 end_bits = 0;
	u32 n = 0;

	reading->read = READ_TOGETHER;
	reading->is_of_user = first->e->is_of_user;
	reading->member.offset_bits = first->offset_bits / 64 * 64;
	reading->integer = (s128)(reading->member.offset_bits / 8);
	reading->index = BYTES_MAX;
	for (u32 i = 0; i < m->all.n; i++) {
		const struct member *other = &m->all.at[i];

		if (!expr_is_read_by(other->e, other->object, other->offset_bits, reading))
			continue;
		end_bits = MAX(end_bits, other->offset_bits / 64 * 64 + 64);
		n++;
	}
	reading->index = (u32)((end_bits - reading->member.offset_bits) / 8);
	return n > 1 ? reading : NULL;
}

static int compare(const void *a, const void *b)
{
	const struct member *x = a, *y = b;

	return (x->offset_bits > y->offset_bits) - (x->offset_bits < y->offset_bits);
}

static bool is_read(const struct plan_scan *scan, const struct member *m)
{
	for (u32 i = 0; i < scan->n_readings; i++)
		if (expr_is_read_by(m->e, m->object, m->offset_bits, scan->readings[i]))
			return true;
	return false;
}

static void set_readings(struct members *m, struct plan_scan *scan)
{
	scan->n_readings = 0;
	scan->readings = arena_array(m->arena, struct expr *, m->all.n);
	for (u32 i = 0; i < m->all.n; i++) {
		const struct member *first = &m->all.at[i];
		struct expr *reading = NULL;

		if (first->object->source == scan->source && !is_read(scan, first))
			reading = reading_from(m, first);
		if (reading)
			scan->readings[scan->n_readings++] = reading;
	}
}

static struct plan *map(struct members *m, struct plan *plan)
{
	struct plan *copy = plan_copy(plan, m->arena), **below;

	for (u32 i = 0; !plan_reads_selects(copy) && (below = plan_slot(copy, i)); i++)
		*below = map(m, *below);
	if (copy->kind == PLAN_SCAN)
		set_readings(m, &copy->scan);
	return copy;
}

struct plan *opt_members(struct plan *plan, struct arena *arena)
{
	struct members m = { .arena = arena };

	plan_each_node(plan, note, &m);
	if (!m.all.n)
		return plan;
	qsort(m.all.at, m.all.n, sizeof(*m.all.at), compare);
	return map(&m, plan);
}
