/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * FROM -> the printed FROM: rows become parts, selects that the kernel aggregates are read
 * from their part, what several members read is a name of WITH; other selects stand
 * where they stood.
 */
#include "cut/build.h"

static void name_relation(struct cutter *c, u32 number, struct relation relation)
{
	c->relations[number] = relation;
}

static const char *new_alias(struct cutter *c)
{
	return arena_printf(c->arena, "t%u", c->n_aliases++);
}

/* Where every item of the select is a column of its groups: the column of each; else NULL. */
static const u32 *map_items(struct cutter *c, const struct chain *ch)
{
	const struct plan_project *p = &ch->project->project;
	u32 *map = arena_array(c->arena, u32, p->n_items + 1), n_keys;

	if (ch->limit || ch->sort || ch->distinct || ch->over || ch->having.n)
		return NULL;
	n_keys = ch->aggregate->aggregate.n_keys;
	for (u32 i = 0; i < p->n_items; i++) {
		const struct expr *e = p->items[i].expr;

		if (p->items[i].is_unnest || (e->kind != EXPR_KEY && e->kind != EXPR_AGGREGATE))
			return NULL;
		map[i] = e->kind == EXPR_KEY ? e->index : n_keys + e->index;
	}
	return map;
}

/* A select that the kernel aggregates, as it is. */
static bool from_groups(struct cutter *c, const struct plan *derived, struct buf *out)
{
	const char *alias;
	struct expr *distinct;
	struct chain chain;
	const u32 *map;
	u32 part;

	chain_read(derived->input, c->arena, &chain);
	cut_group_distinct(c, &chain);
	if (chain.set || !chain.aggregate || cut_refuse_groups(c, &chain, &distinct) || distinct)
		return false;
	map = map_items(c, &chain);
	if (!map)
		return false;
	part = cut_groups_part(c, chain.aggregate, CUT_KERNEL);
	c->has_aggregate = true;
	alias = new_alias(c);
	name_relation(c, derived->derived.relation,
		      (struct relation){ .alias = alias, .map = map });
	buf_printf(out, "w%u AS %s", part, alias);
	return true;
}

/* Selects nest in SQLite's parser some 15 deep: those within are names of WITH. */
#define NESTED_MAX 6u

static const char *with_name(struct cutter *c, const struct plan *select)
{
	const char *name;
	struct buf sql;

	for (u32 i = 0; i < c->shared.n; i++)
		if (c->shared.at[i].plan == select)
			return c->shared.at[i].name;
	name = arena_printf(c->arena, "s%u", c->shared.n);
	vec_push(c->arena, &c->shared, (struct shared){ select, name });
	buf_init_in(&sql, c->arena);
	cut_select(c, select, false, &sql);
	buf_printf(&c->with, "%s%s AS (%s)", c->with.n ? ", " : "", name, sql.at);
	return name;
}

/* --- Which selects are read twice --- */

static void count_plan(struct cutter *c, const struct plan *plan);

static void count_expr(void *context, struct expr *e)
{
	if (e->plan)
		count_plan(context, e->plan);
}

static void count_root(void *context, struct expr **e)
{
	expr_each(*e, count_expr, context);
}

static void count_operator(void *context, struct plan *p)
{
	struct cutter *c = context;

	plan_each_expr(p, count_root, c);
	if (p->kind != PLAN_DERIVED)
		return;
	for (u32 i = 0; i < c->derived.n; i++)
		if (c->derived.at[i].plan == p->input) {
			c->derived.at[i].n_uses++;
			return;
		}
	vec_push(c->arena, &c->derived, (struct derived){ p->input, 1 });
}

static void count_plan(struct cutter *c, const struct plan *plan)
{
	plan_each((struct plan *)plan, count_operator, c);
}

static bool is_shared(struct cutter *c, const struct plan *select)
{
	if (!c->derived.n)
		count_plan(c, c->query->plan);
	for (u32 i = 0; i < c->derived.n; i++)
		if (c->derived.at[i].plan == select)
			return c->derived.at[i].n_uses > 1;
	return false;
}

static void from_derived(struct cutter *c, const struct plan *derived, struct buf *out)
{
	const char *alias;

	if (from_groups(c, derived, out))
		return;
	if (is_shared(c, derived->input) ||
	    (c->depth % NESTED_MAX == NESTED_MAX - 1 && !c->n_outer)) {
		buf_puts(out, with_name(c, derived->input));
	} else {
		buf_putc(out, '(');
		cut_select(c, derived->input, false, out);
		buf_putc(out, ')');
	}
	alias = new_alias(c);
	name_relation(c, derived->derived.relation, (struct relation){ .alias = alias });
	buf_printf(out, " AS %s", alias);
}

static void from_table(struct cutter *c, const struct plan *p, struct buf *out)
{
	const struct schema *columns = &p->table.columns;
	const char **names = arena_array(c->arena, const char *, columns->n_columns);
	const char *alias = new_alias(c);

	for (u32 i = 0; i < columns->n_columns; i++)
		names[i] = columns->columns[i].name;
	name_relation(c, p->table.relation, (struct relation){ .alias = alias, .names = names });
	buf_printf(out, "\"%s\".\"%s\" AS %s", p->table.database->name, p->table.name, alias);
}

static void from_relate(struct cutter *c, const struct plan *p, struct buf *out)
{
	static const char *const words[] = { [RELATE_INNER] = " JOIN ",
					     [RELATE_LEFT] = " LEFT JOIN ",
					     [RELATE_CROSS] = " CROSS JOIN " };
	bool is_left = p->relate.kind == RELATE_LEFT, is_nested = p->right->kind == PLAN_RELATE;
	u32 first_right;

	cut_from(c, p->input, out);
	buf_puts(out, words[p->relate.kind]);
	first_right = c->rows.n;
	buf_puts(out, is_nested ? "(" : "");
	cut_from(c, p->right, out);
	buf_puts(out, is_nested ? ")" : "");
	for (u32 i = first_right; is_left && i < c->rows.n; i++) {
		c->rows.at[i]->is_nullable = true;
		/* Without a partner: that is known at the end only. */
		c->needs_all_rows |= !c->rows.at[i]->file;
	}
	cut_note(c, is_left ? "left join" : "join", p->relate.on, CUT_JOIN);
	if (!p->relate.on)
		return;
	buf_puts(out, " ON ");
	cut_put(c, p->relate.on, WANT_CONDITION, out);
}

/* A select that is printed in two clauses, as a sub-query in a key, reads the same rows in both. */
static struct rows *rows_of(struct cutter *c, const struct plan *tree)
{
	for (u32 i = 0; i < c->rows.n; i++)
		if (c->rows.at[i]->tree == tree)
			return c->rows.at[i];
	return cut_rows_add(c, tree, true);
}

void cut_from(struct cutter *c, const struct plan *from, struct buf *out)
{
	struct rows *rows;

	if (cut_is_rows(from)) {
		rows = rows_of(c, from);
		buf_printf(out, "w%u AS %s", rows->part, c->relations[rows->relation].alias);
		return;
	}
	if (from->kind == PLAN_FILTER) {
		/* A table's, whose rows no part tests. */
		BUG("a filter over %d in FROM", from->input->kind);
	}
	switch (from->kind) {
	case PLAN_RELATE:
		from_relate(c, from, out);
		return;
	case PLAN_DERIVED:
		from_derived(c, from, out);
		return;
	case PLAN_TABLE:
		from_table(c, from, out);
		return;
	default:
		BUG("plan kind %d in FROM", from->kind);
	}
}
