/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A failing query -> the smallest that still fails: one part is dropped at a time,
 * and stays dropped while the failure stays.
 */
#include <string.h>

#include "replay.h"

struct shrinker {
	struct query *query;
	struct arena *arena;
	bool (*fails)(void *context, const struct query *query);
	void *context;
	bool progress;
};

/* Keeps the candidate when it fails too. */
static bool keep(struct shrinker *s, const struct query *candidate)
{
	if (!s->fails(s->context, candidate))
		return false;
	*s->query = *candidate;
	s->progress = true;
	return true;
}

static bool uses_key(const struct node *node, u32 key)
{
	if (node->kind == NODE_KEY && node->column == key)
		return true;
	for (u32 i = 0; i < node->n_args; i++)
		if (uses_key(node->args[i], key))
			return true;
	return false;
}

static void drop_item(struct query *query, u32 item)
{
	memmove(&query->items[item], &query->items[item + 1],
		(query->n_items - item - 1) * sizeof(query->items[0]));
	query->n_items--;
	/* Keep the order total: fewer items, each still named once. */
	if (query->n_order_by) {
		u32 n = 0;

		for (u32 i = 0; i < query->n_order_by; i++) {
			if (query->order_by[i] == item)
				continue;
			query->order_by[n] = query->order_by[i] - (query->order_by[i] > item);
			query->order_down[n] = query->order_down[i];
			query->order_nulls[n++] = query->order_nulls[i];
		}
		query->n_order_by = n;
	}
}

/* A copy whose references to keys above `key` are one less. */
static struct node *renumber(struct shrinker *s, const struct node *node, u32 key)
{
	struct node *copy = arena_new(s->arena, struct node);

	*copy = *node;
	if (copy->kind == NODE_KEY && copy->column > key)
		copy->column--;
	copy->args = arena_array(s->arena, struct node *, node->n_args + 1);
	for (u32 i = 0; i < node->n_args; i++)
		copy->args[i] = renumber(s, node->args[i], key);
	return copy;
}

static void drop_key(struct shrinker *s, u32 key)
{
	struct query candidate = *s->query;

	if (candidate.having && uses_key(candidate.having, key))
		candidate.having = NULL;
	for (u32 i = candidate.n_items; i-- > 0;)
		if (uses_key(candidate.items[i], key))
			drop_item(&candidate, i);
	if (!candidate.n_items)
		return;
	memmove(&candidate.keys[key], &candidate.keys[key + 1],
		(candidate.n_keys - key - 1) * sizeof(candidate.keys[0]));
	memmove(&candidate.key_styles[key], &candidate.key_styles[key + 1],
		candidate.n_keys - key - 1);
	candidate.n_keys--;
	for (u32 i = 0; i < candidate.n_items; i++)
		candidate.items[i] = renumber(s, candidate.items[i], key);
	if (candidate.having)
		candidate.having = renumber(s, candidate.having, key);
	keep(s, &candidate);
}

static void shrink_clauses(struct shrinker *s)
{
	struct query candidate = *s->query;

	candidate.having = NULL;
	if (s->query->having)
		keep(s, &candidate);
	candidate = *s->query;
	candidate.limit = candidate.offset = -1;
	if (s->query->limit >= 0)
		keep(s, &candidate);
	candidate = *s->query;
	candidate.n_order_by = 0;
	if (s->query->n_order_by && s->query->limit < 0)
		keep(s, &candidate);
	candidate = *s->query;
	candidate.clauses_swapped = false;
	if (s->query->clauses_swapped)
		keep(s, &candidate);
	for (u32 i = 0; i < s->query->n_keys; i++) {
		candidate = *s->query;
		candidate.key_styles[i] = 0;
		if (s->query->key_styles[i])
			keep(s, &candidate);
	}
	for (u32 i = s->query->n_where; i-- > 0;) {
		candidate = *s->query;
		memmove(&candidate.where[i], &candidate.where[i + 1],
			(candidate.n_where - i - 1) * sizeof(candidate.where[0]));
		candidate.n_where--;
		keep(s, &candidate);
	}
	for (u32 i = s->query->n_items; i-- > 0 && s->query->n_items > 1;) {
		candidate = *s->query;
		drop_item(&candidate, i);
		keep(s, &candidate);
	}
	for (u32 i = s->query->n_keys; i-- > 0;)
		drop_key(s, i);
}

/* Tries `replacement` in *place; the query's tree is changed in place and changed back. */
static bool try_node(struct shrinker *s, struct node **place, struct node *replacement)
{
	struct node *old = *place;

	*place = replacement;
	if (s->fails(s->context, s->query)) {
		s->progress = true;
		return true;
	}
	*place = old;
	return false;
}

static void shrink_node(struct shrinker *s, struct node **place, bool is_key)
{
	struct node *node = *place;
	struct node *literal;

	for (u32 i = 0; i < node->n_args; i++)
		if (node->args[i]->class == node->class && node->kind != NODE_AGGREGATE &&
		    !(is_key && node->args[i]->kind == NODE_INTEGER) &&
		    try_node(s, place, node->args[i])) {
			shrink_node(s, place, is_key);
			return;
		}
	if (node->kind == NODE_AGGREGATE && node->has_filter) {
		node->n_args--;
		node->has_filter = false;
		if (s->fails(s->context, s->query)) {
			s->progress = true;
		} else {
			node->n_args++;
			node->has_filter = true;
		}
	}
	if (node->class == CLASS_INTEGER && node->n_args && !is_key &&
	    node->kind != NODE_AGGREGATE) {
		for (u32 v = 0; v < 2; v++) {
			literal = arena_new(s->arena, struct node);
			literal->kind = NODE_INTEGER;
			literal->integer = v;
			if (try_node(s, place, literal))
				return;
		}
	}
	while (node->kind == NODE_IN && node->n_args > 2) {
		node->n_args--;
		if (!s->fails(s->context, s->query)) {
			node->n_args++;
			break;
		}
		s->progress = true;
	}
	for (u32 i = 0; i < node->n_args; i++)
		shrink_node(s, &node->args[i], false);
}

void query_shrink(struct query *query, struct arena *arena,
		  bool (*fails)(void *context, const struct query *query), void *context)
{
	struct shrinker s = { query, arena, fails, context, true };

	for (u32 round = 0; s.progress && round < 8; round++) {
		s.progress = false;
		shrink_clauses(&s);
		for (u32 i = 0; i < query->n_where; i++)
			shrink_node(&s, &query->where[i], false);
		for (u32 i = 0; i < query->n_keys; i++)
			shrink_node(&s, &query->keys[i], true);
		for (u32 i = 0; i < query->n_items; i++)
			shrink_node(&s, &query->items[i], false);
		if (query->having)
			shrink_node(&s, &query->having, false);
	}
}
