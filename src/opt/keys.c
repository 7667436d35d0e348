/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Rule keys: group keys that tell no groups apart.
 *
 * A key that a condition fixes (WHERE pid = 7 ... GROUP BY pid, fd) becomes that constant:
 * every row that comes to the aggregate has this value.  It stays a key, of one value,
 * which is neither hashed nor compared; so the query remains a grouped one, which has no
 * row where it has no events, and the key is NULL in the "(other)" row, as every key is.
 *
 * A key that is a function of other keys (GROUP BY pid, pid + 1) leaves: it is computed
 * from them behind the aggregate, once a group and not once an event.  Only what cannot
 * fault, and which is NULL where they are: in the "(other)" row.
 */
#include "opt/rules.h"

/* --- Fixed keys --- */

/* Conditions that hold for every row of the operator. */
static void collect(const struct plan *p, expr_vec *conjuncts, struct arena *arena)
{
	if (p->kind == PLAN_FILTER)
		for (u32 i = 0; i < p->filter.n_conjuncts; i++)
			vec_push(arena, conjuncts, p->filter.conjuncts[i]);
	if (p->kind == PLAN_DERIVED || p->relate.kind == RELATE_FULL)
		return;
	if (p->input)
		collect(p->input, conjuncts, arena);
	if (p->right && !p->join.is_left && p->relate.kind != RELATE_LEFT)
		collect(p->right, conjuncts, arena);
}

/* Not the event's own columns cpu, a key that costs nothing, and probe, which is a code. */
static bool can_be_fixed(const struct expr *key)
{
	if (key->kind == EXPR_SYSTEM && (key->index == SYS_CPU || key->index == SYS_PROBE))
		return false;
	if (key->kind == EXPR_UNION) {
		for (u32 i = 0; i < key->n_args; i++)
			if (!can_be_fixed(key->args[i]))
				return false;
	}
	return !expr_is_constant(key);
}

static struct expr *fixed_to(const struct expr *key, const struct expr *condition,
			     struct arena *arena)
{
	const struct expr *value;
	struct expr *fixed;

	if (condition->kind != EXPR_OP || (condition->op != OP_EQ && condition->op != OP_IS))
		return NULL;
	value = condition->args[expr_equal(condition->args[0], key)];
	if (!expr_equal(condition->args[0], key) && !expr_equal(condition->args[1], key))
		return NULL;
	if (type_is_word(key->type)) {
		if (value->kind != EXPR_INTEGER || value->integer < key->lo ||
		    value->integer > key->hi)
			return NULL;
		return expr_integer(arena, key->span, key->type, value->integer);
	}
	if (key->type.kind != TYPE_TEXT || value->kind != EXPR_TEXT ||
	    value->text_bytes > key->type.bytes)
		return NULL;
	fixed = expr_new(arena, EXPR_TEXT, key->span);
	fixed->type = key->type;
	fixed->text = value->text;
	fixed->text_bytes = value->text_bytes;
	return fixed;
}

void opt_fix_keys(struct plan *agg, const struct settings *settings, struct arena *arena)
{
	expr_vec conjuncts = { 0 };

	if (agg->kind != PLAN_AGGREGATE)
		return;
	collect(agg->input, &conjuncts, arena);
	for (u32 i = 0; i < agg->aggregate.n_keys; i++) {
		const struct expr *key = agg->aggregate.keys[i].expr;

		for (u32 k = 0; k < conjuncts.n && can_be_fixed(key); k++) {
			struct expr *fixed = fixed_to(key, conjuncts.at[k], arena);

			if (!fixed)
				continue;
			agg->aggregate.keys[i].expr = fixed;
			break;
		}
	}
}

/* --- Keys that follow from others --- */

struct dependence {
	struct arena *arena;
	const struct plan *agg;
	struct expr **keys;   /* their expressions */
	struct expr **values; /* over the keys that stay; NULL: not known yet */
	bool *is_gone;
};

/* Constants that keys were fixed to have the types of their keys, which columns show. */
static bool is_same_key(const struct expr *a, const struct expr *b)
{
	return type_equal(a->type, b->type) && expr_equal(a, b);
}

/* Is key i a function of the others?  Of two equal keys the first stays. */
static bool follows(const struct dependence *d, u32 i)
{
	struct expr *e = d->keys[i], **others;
	u32 n = d->agg->aggregate.n_keys;

	for (u32 k = 0; k < i; k++)
		if (is_same_key(d->keys[k], e))
			return true;
	if (e->kind != EXPR_OP || !expr_is_strict(e) || expr_can_fault(e, d->agg->input) ||
	    !expr_is_of(e, d->agg->input))
		return false;
	others = arena_array(d->arena, struct expr *, n);
	for (u32 k = 0; k < n; k++)
		others[k] = k != i && !expr_equal(d->keys[k], e) ? d->keys[k] : NULL;
	return opt_rewrite(e, others, others, n, d->arena) != NULL;
}

/* A larger expression is never part of a smaller one, so this ends. */
static struct expr *value_of(struct dependence *d, u32 i)
{
	u32 n = d->agg->aggregate.n_keys;
	struct expr **from, **to, *e = d->keys[i];

	if (d->values[i])
		return d->values[i];
	for (u32 k = 0; k < i; k++)
		if (is_same_key(d->keys[k], e))
			return d->values[i] = value_of(d, k);
	from = arena_array(d->arena, struct expr *, n);
	to = arena_array(d->arena, struct expr *, n);
	for (u32 k = 0; k < n; k++) {
		if (expr_equal(d->keys[k], e) || !opt_contains(e, d->keys[k]))
			continue;
		from[k] = d->keys[k];
		to[k] = value_of(d, k);
	}
	e = opt_rewrite(e, from, to, n, d->arena);
	e->nullable = true;
	return d->values[i] = e;
}

/* False: all keys stay. */
static bool find_dependence(struct dependence *d, const struct plan *agg, struct arena *arena)
{
	u32 n = agg->aggregate.n_keys, n_stay = 0;

	*d = (struct dependence){ .arena = arena, .agg = agg };
	d->keys = arena_array(arena, struct expr *, n);
	d->values = arena_array(arena, struct expr *, n);
	d->is_gone = arena_array(arena, bool, n);
	for (u32 i = 0; i < n; i++)
		d->keys[i] = agg->aggregate.keys[i].expr;
	for (u32 i = 0; i < n; i++) {
		d->is_gone[i] = follows(d, i);
		if (!d->is_gone[i])
			d->values[i] = expr_ref(arena, EXPR_KEY, d->keys[i]->span, d->keys[i],
						agg->aggregate.number, n_stay++);
	}
	for (u32 i = 0; i < n && n_stay < n; i++)
		value_of(d, i);
	return n_stay < n;
}

/* Behind the aggregate: references to keys -> their values. */
static struct expr *key_value(void *context, struct expr *e)
{
	const struct dependence *d = context;
	struct expr *copy;

	if (e->kind != EXPR_KEY || e->source != d->agg->aggregate.number)
		return e;
	copy = expr_copy(d->arena, d->values[e->index]);
	copy->span = e->span;
	return copy;
}

/* The operators from the root down to the aggregate. */
static struct plan *renew(const struct plan *p, struct dependence *d)
{
	struct plan *copy = plan_copy(p, d->arena);
	u32 n = 0;

	if (p->kind != PLAN_AGGREGATE) {
		plan_map_expr(copy, d->arena, key_value, d);
		copy->input = renew(p->input, d);
		return copy;
	}
	for (u32 i = 0; i < p->aggregate.n_keys; i++)
		if (!d->is_gone[i])
			copy->aggregate.keys[n++] = p->aggregate.keys[i];
	copy->aggregate.n_keys = n;
	return copy;
}

static void find_subquery(void *context, struct expr *e)
{
	*(bool *)context |= e->plan != NULL;
}

/*
 * Are all references to its keys in filters, items and sort keys above it?  Where nothing is
 * above, as in a part of a cut, whoever reads it counts its keys.
 */
static bool is_renewable(struct plan *p, const struct plan *agg)
{
	bool has_subquery = false;

	if (p == agg)
		return false;
	for (; p != agg; p = p->input) {
		if (p->kind == PLAN_OVER)
			return false;
		plan_each_own(p, find_subquery, &has_subquery);
	}
	return !has_subquery;
}

/* Before keys become constants: then what follows from them could not be seen. */
struct plan *opt_keys(struct plan *plan, struct arena *arena)
{
	const struct plan *agg = plan_find(plan, PLAN_AGGREGATE);
	struct dependence d;

	if (agg && is_renewable(plan, agg) && find_dependence(&d, agg, arena))
		return renew(plan, &d);
	return plan;
}
