/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What several rules ask of expressions, and rewriting them by copy: may it count a
 * fault, is it a function of these others, what is it in one branch of a union.
 */
#include <string.h>
#include <strings.h>

#include "opt/rules.h"

static const struct plan *scan_of(const struct plan *p, u32 source)
{
	const struct plan *found = NULL;

	if (p->kind == PLAN_SCAN)
		return p->scan.source == source ? p : NULL;
	if (p->input)
		found = scan_of(p->input, source);
	if (!found && p->right)
		found = scan_of(p->right, source);
	for (u32 i = 0; i < p->n_inputs && !found; i++)
		found = scan_of(p->inputs[i], source);
	return found;
}

/* A text that does not stand in the record itself is read, and may be cut: counted both. */
static bool field_can_fault(const struct expr *e, const struct plan *tree)
{
	const struct plan *scan = scan_of(tree, e->source);

	if (e->type.kind != TYPE_TEXT)
		return false;
	for (u32 i = 0; scan && i < scan->scan.streams->streams.n; i++) {
		const struct stream *s = scan->scan.streams->streams.at[i];

		for (u32 k = 0; k < s->n_fields; k++)
			if (strcasecmp(s->fields[k].name, e->name) == 0 &&
			    s->fields[k].kind != FIELD_FIXED)
				return true;
	}
	return !scan;
}

bool opt_can_fault(const struct expr *e, const struct plan *tree)
{
	if (e->kind == EXPR_MEMBER || e->kind == EXPR_CALL || e->is_user_only || e->may_overflow)
		return true;
	if (e->kind == EXPR_FIELD)
		return field_can_fault(e, tree);
	if (e->kind == EXPR_OP && (e->op == OP_DIV || e->op == OP_MOD) && e->args[1]->lo <= 0 &&
	    e->args[1]->hi >= 0)
		return true;
	for (u32 i = 0; i < e->n_args; i++)
		if (opt_can_fault(e->args[i], tree))
			return true;
	return false;
}

bool opt_contains(const struct expr *e, const struct expr *part)
{
	if (expr_equal(e, part))
		return true;
	for (u32 i = 0; e->kind != EXPR_UNION && i < e->n_args; i++)
		if (opt_contains(e->args[i], part))
			return true;
	return false;
}

/* Of one with arguments. */
static struct expr *copied(const struct expr *e, struct arena *arena)
{
	struct expr *copy = arena_new(arena, struct expr);

	*copy = *e;
	copy->args = arena_array(arena, struct expr *, e->n_args);
	memcpy(copy->args, e->args, e->n_args * sizeof(*e->args));
	return copy;
}

struct expr *opt_rewrite(struct expr *e, struct expr *const *from, struct expr *const *to, u32 n,
			 struct arena *arena)
{
	struct expr *copy;

	for (u32 i = 0; i < n; i++)
		if (from[i] && expr_equal(e, from[i]))
			return to[i];
	if (e->kind == EXPR_FIELD || e->kind == EXPR_SYSTEM || e->kind == EXPR_RUNNING ||
	    e->kind == EXPR_UNION)
		return NULL;
	if (!e->n_args)
		return e;
	copy = copied(e, arena);
	for (u32 i = 0; i < e->n_args; i++) {
		copy->args[i] = opt_rewrite(e->args[i], from, to, n, arena);
		if (!copy->args[i])
			return NULL;
	}
	return copy;
}

struct expr *opt_branch(struct expr *e, u32 trigger, struct arena *arena)
{
	struct expr *copy = NULL;

	if (e->kind == EXPR_UNION) {
		for (u32 i = 0; i < e->n_args; i++) {
			if (e->branches[i] != trigger)
				continue;
			if (e->args[i]->kind != EXPR_NULL)
				return e->args[i];
			/* A NULL of the column's type: what stands above compares by it. */
			copy = expr_new(arena, EXPR_NULL, e->span);
			copy->type = e->type;
			copy->nullable = true;
			return copy;
		}
		return e;
	}
	for (u32 i = 0; i < e->n_args; i++) {
		struct expr *arg = opt_branch(e->args[i], trigger, arena);

		if (arg == e->args[i])
			continue;
		if (!copy)
			copy = copied(e, arena);
		copy->args[i] = arg;
	}
	return copy ? copy : e;
}

struct plan *opt_filter(struct plan *input, struct expr *const *conjuncts, u32 n,
			struct arena *arena)
{
	struct plan *p;

	if (!n)
		return input;
	p = arena_new(arena, struct plan);
	p->kind = PLAN_FILTER;
	p->input = input;
	p->span = conjuncts[0]->span;
	p->limit.count = -1;
	p->filter.n_conjuncts = n;
	p->filter.conjuncts = arena_array(arena, struct expr *, n);
	memcpy(p->filter.conjuncts, conjuncts, n * sizeof(*conjuncts));
	return p;
}
