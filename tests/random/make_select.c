/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Random selects: rows, groups, DISTINCT, functions over other rows, UNION and its like;
 * and the window of the whole.
 */
#include <string.h>

#include "grammar.h"

enum { ITEMS_MAX = 5 };

/* One select under way. */
struct select_maker {
	struct maker *m;
	struct scope scope;
	struct phrase *from, *where, *group, *having, *items, *order;
	bool is_distinct;
	u32 n_items;
};

/* "i7", "i7 DESC", ... */
static struct phrase *sort_key(struct maker *m, u32 number)
{
	static const char *const ways[] = { "", " DESC", " NULLS LAST", " DESC NULLS FIRST" };

	return phrase_new(
		m->arena, PHRASE_FIXED,
		arena_printf(m->arena, "i%u%s", number, ways[rng_below(m->rng, ARRAY_SIZE(ways))]),
		0);
}

static void add_item(struct select_maker *s, struct phrase *e)
{
	struct maker *m = s->m;
	u32 number = ++m->n_names;
	struct phrase *alias =
		phrase_new(m->arena, PHRASE_FIXED, arena_printf(m->arena, " AS i%u", number), 0);
	struct phrase *item = phrase_new(m->arena, PHRASE_FIXED, "$0$1", 2, e, alias);
	struct phrase *order = sort_key(m, number);

	item->tag = order->tag = number;
	phrase_list_add(m->arena, m->aliases, alias);
	phrase_list_add(m->arena, s->items, item);
	phrase_list_add(m->arena, s->order, order);
	s->n_items++;
}

static bool may_nest(const struct maker *m)
{
	return m->depth < 2 && m->shape != SHAPE_COUNT && m->shape != SHAPE_SESSION;
}

static struct phrase *where_condition(struct maker *m, const struct scope *scope)
{
	struct phrase *list = phrase_new(m->arena, PHRASE_LIST, " AND ", 0);
	u32 n = 1 + rng_percent(m->rng, 35) + rng_percent(m->rng, 15);

	for (u32 i = 0; i < n; i++)
		phrase_list_add(m->arena, list,
				may_nest(m) && rng_percent(m->rng, 8)
					? make_nested_condition(m, scope)
					: make(m, scope, CONDITION, 2));
	return list;
}

/* --- Kinds of select --- */

static void begin(struct select_maker *s, struct maker *m)
{
	*s = (struct select_maker){ .m = m };
	s->from = make_from(m, &s->scope);
	s->where = make_optional(m, " WHERE $0", where_condition(m, &s->scope), 60);
	s->group = s->having = phrase_new(m->arena, PHRASE_FIXED, "", 0);
	s->items = phrase_new(m->arena, PHRASE_LIST, ", ", 0);
	s->order = phrase_new(m->arena, PHRASE_LIST, ", ", 0);
}

static struct phrase *row_item(struct maker *m, const struct scope *scope)
{
	u32 dice = rng_below(m->rng, 100);

	if (dice < 6 && may_nest(m))
		return make_scalar(m, scope);
	return make(m, scope,
		    dice < 45	? KEY
		    : dice < 57 ? TEXT
		    : dice < 75 ? WORD
		    : dice < 80 ? REAL
				: NUMBER,
		    3);
}

static void make_row_items(struct select_maker *s)
{
	u32 n = 1 + rng_below(s->m->rng, ITEMS_MAX - 1);

	for (u32 i = 0; i < n; i++)
		add_item(s, row_item(s->m, &s->scope));
}

/* GROUP BY the name of an item, its number, or the key again. */
static struct phrase *key_again(struct select_maker *s, struct phrase *key, bool is_item)
{
	struct maker *m = s->m;
	u32 number = m->n_names, dice = rng_below(m->rng, 100);
	struct phrase *p;

	if (!is_item || dice >= 20)
		return key;
	p = phrase_new(m->arena, PHRASE_FIXED,
		       dice < 12 ? arena_printf(m->arena, "i%u", number)
				 : arena_printf(m->arena, "%u", s->n_items),
		       0);
	p->tag = number;
	m->has_alias_use |= dice < 12;
	return phrase_mark(p, TRAIT_GROUP_BY_ALIAS);
}

/* Another that follows from it; or WHERE says what it is. */
static void make_follower(struct select_maker *s, struct phrase *list, struct phrase *key)
{
	struct maker *m = s->m;
	struct phrase *p;

	if (key->class != PHRASE_INTEGER || key->lo < INT64_MIN / 2 || key->hi > INT64_MAX / 2 ||
	    key->n_args || strstr(key->ebql, "time") || strstr(key->ebql, "ptr"))
		return;
	if (rng_percent(m->rng, 50)) {
		p = phrase_new(m->arena, PHRASE_INTEGER, "($0 + 1)", 1, key);
		phrase_list_add(m->arena, list, p);
		add_item(s, p);
		return;
	}
	p = phrase_new(
		m->arena, PHRASE_INTEGER, "$0 = $1", 2, key,
		make_literal(m, rng_percent(m->rng, 70) ? rng_range(m->rng, 0, 2) : key->lo));
	phrase_list_add(m->arena, s->where->args[0], p);
	s->where->is_gone = false;
}

static void make_groups(struct select_maker *s)
{
	struct maker *m = s->m;
	struct phrase *list = phrase_new(m->arena, PHRASE_LIST, ", ", 0);
	u32 n = rng_percent(m->rng, 20) ? 0 : 1 + rng_below(m->rng, 2);

	for (u32 i = 0; i < n; i++) {
		struct phrase *key = make(m, &s->scope, KEY, 1);
		bool is_item = rng_percent(m->rng, 80);

		if (is_item)
			add_item(s, key);
		phrase_list_add(m->arena, list, key_again(s, key, is_item));
		if (rng_percent(m->rng, 15))
			make_follower(s, list, key);
	}
	if (n) {
		s->group = phrase_new(m->arena, PHRASE_FIXED, " GROUP BY $0", 1, list);
		s->having = make_optional(m, " HAVING $0", make(m, &s->scope, HAVING, 1), 25);
	}
	n = 1 + rng_below(m->rng, 3);
	for (u32 i = 0; i < n; i++)
		add_item(s, make(m, &s->scope, BEHIND, 1));
	/* Elsewhere these are the instants of a real run. */
	if (m->shape == SHAPE_HOPPING && rng_percent(m->rng, 40)) {
		struct phrase *bound = phrase_new(m->arena, PHRASE_REAL, "window_start", 0);

		bound->sqlite = ":from";
		add_item(s, bound);
		bound = phrase_new(m->arena, PHRASE_REAL, "window_end", 0);
		bound->sqlite = ":to";
		add_item(s, bound);
	}
}

/* WINDOW w AS (...), which stands where HAVING would. */
static void make_named_window(struct select_maker *s)
{
	static const struct {
		const char *form;
		enum place arg;
	} calls[] = { { "row_number() OVER w", KEY },
		      { "dense_rank() OVER w", KEY },
		      { "lag($0) OVER w", NUMBER },
		      { "max($0) OVER w", WORD },
		      { "first_value($0) OVER w", KEY } };
	struct maker *m = s->m;
	struct phrase *key = make(m, &s->scope, KEY, 1);

	for (u32 i = 0; i < 2; i++) {
		u32 which = rng_below(m->rng, ARRAY_SIZE(calls));
		struct phrase *arg = make(m, &s->scope, calls[which].arg, 2);

		add_item(s, phrase_new(m->arena, arg->class, calls[which].form, 1, arg));
	}
	s->having = phrase_new(
		m->arena, PHRASE_FIXED,
		arena_printf(m->arena, " WINDOW w AS (PARTITION BY $0 ORDER BY %s)", s->scope.time),
		1, key);
	phrase_mark(s->having, TRAIT_OVER);
	phrase_mark(s->having, TRAIT_NAMED_WINDOW);
}

/* row_number() OVER (...) and its like: the order is total by the time. */
static void make_over(struct select_maker *s)
{
	struct maker *m = s->m;

	if (!s->scope.time || m->rows->has_ties) {
		make_groups(s);
		return;
	}
	add_item(s, phrase_new(m->arena, PHRASE_FIXED, s->scope.time, 0));
	if (rng_percent(m->rng, 35))
		make_named_window(s);
	else
		for (u32 i = 0; i < 2; i++)
			add_item(s, make(m, &s->scope, OVER, 2));
}

/* Over single events SUM and count run along with them, in the order of their times. */
static void make_running(struct select_maker *s)
{
	struct maker *m = s->m;

	/* With a select in WHERE all rows are there at once: SQL's own meaning. */
	s->where = make_optional(m, " WHERE $0", make(m, &s->scope, CONDITION, 2), 50);
	for (u32 i = 0; i < 2; i++)
		add_item(s, make(m, &s->scope, KEY, 1));
	for (u32 i = 0; i < 2; i++) {
		struct phrase *p = make(m, &s->scope, RUNNING, 2);

		add_item(s, p);
	}
}

static void make_distinct(struct select_maker *s)
{
	s->is_distinct = true;
	make_row_items(s);
	if (!rng_percent(s->m->rng, 30))
		return;
	add_item(s, s->items->args[0]->args[0]);
	phrase_mark(s->items->args[s->n_items - 1], TRAIT_DOUBLED);
}

/* --- The whole select --- */

static struct phrase *put_together(struct select_maker *s)
{
	struct phrase *p = phrase_new(s->m->arena, PHRASE_FIXED,
				      s->is_distinct ? "SELECT DISTINCT $0 FROM $1$2$3$4"
						     : "SELECT $0 FROM $1$2$3$4",
				      5, s->items, s->from, s->where, s->group, s->having);

	phrase_mark(p, s->is_distinct ? TRAIT_DISTINCT : TRAIT_NONE);
	/* As the thesis writes it. */
	if (!s->is_distinct && rng_percent(s->m->rng, 10)) {
		p->sqlite = p->ebql;
		p->ebql = "SELECT $0 FROM $1$3$2$4";
	}
	return p;
}

static const char *window_text(struct maker *m, const struct oracle_query *query)
{
	unsigned long long size = query->size, advance = query->advance;

	switch (query->shape) {
	case SHAPE_TUMBLING:
		return arena_printf(m->arena, " WINDOW TUMBLING %lluns", size);
	case SHAPE_HOPPING:
		return arena_printf(m->arena, " WINDOW HOPPING %lluns BY %lluns", size, advance);
	case SHAPE_COUNT:
		return arena_printf(m->arena, " WINDOW COUNT (SIZE %llu, ADVANCE BY %llu)", size,
				    advance);
	case SHAPE_SESSION:
		return arena_printf(m->arena, " WINDOW SESSION (GAP %lluns)", size);
	default:
		return "";
	}
}

static void pick_shape(struct maker *m, struct oracle_query *query)
{
	static const enum window_shape shapes[] = { SHAPE_NONE,	    SHAPE_NONE,	    SHAPE_NONE,
						    SHAPE_NONE,	    SHAPE_NONE,	    SHAPE_TUMBLING,
						    SHAPE_TUMBLING, SHAPE_TUMBLING, SHAPE_HOPPING,
						    SHAPE_COUNT,    SHAPE_SESSION };

	query->shape = shapes[rng_below(m->rng, ARRAY_SIZE(shapes))];
	query->size = query->advance = 1000000ull * (1 + rng_below(m->rng, 9));
	if (query->shape == SHAPE_HOPPING)
		query->advance = 1000000ull * (1 + rng_below(m->rng, 6));
	if (query->shape == SHAPE_HOPPING && (query->advance == query->size || m->is_wild))
		query->shape = SHAPE_TUMBLING;
	if (query->shape == SHAPE_TUMBLING)
		query->advance = query->size;
	/* Of rows of one instant nobody says which are in the window. */
	if (query->shape == SHAPE_COUNT && m->rows->has_ties)
		query->shape = SHAPE_SESSION;
	if (query->shape == SHAPE_COUNT) {
		query->size = 1 + rng_below(m->rng, 20);
		query->advance = rng_percent(m->rng, 50) ? query->size : 1 + rng_below(m->rng, 25);
	}
	m->shape = query->shape;
}

/* UNION, EXCEPT, INTERSECT: the same classes of columns on both sides. */
static struct phrase *compound(struct maker *m, struct select_maker *first)
{
	static const char *const words[] = { "$0 UNION ALL $1", "$0 UNION $1", "$0 EXCEPT $1",
					     "$0 INTERSECT $1" };
	struct select_maker arms[2];
	struct phrase *p;

	for (u32 i = 0; i < 2; i++) {
		begin(&arms[i], m);
		add_item(&arms[i], make(m, &arms[i].scope, i ? WORD : KEY, 1));
		if (arms[i].items->args[0]->args[0]->class != PHRASE_INTEGER)
			arms[i].items->args[0]->args[0] = make_literal(m, 2);
	}
	*first = arms[0];
	p = phrase_new(m->arena, PHRASE_FIXED, words[rng_below(m->rng, ARRAY_SIZE(words))], 2,
		       put_together(&arms[0]), put_together(&arms[1]));
	return phrase_mark(p, TRAIT_COMPOUND);
}

/* The groups of one stream; SQLite numbers the sessions where it filters. */
static struct phrase *sessions(struct maker *m, struct select_maker *s, u64 gap_ns)
{
	const char *alias = make_name(m, "a"), *keys = "";
	struct phrase *all, *list = phrase_new(m->arena, PHRASE_LIST, ", ", 0);
	u32 n = rng_below(m->rng, 3);
	bool is_other = rng_percent(m->rng, 40);

	*s = (struct select_maker){ .m = m };
	s->from = make_stream(m, is_other, alias, &s->scope);
	s->where = make_optional(m, " WHERE $0", where_condition(m, &s->scope), 50);
	s->items = phrase_new(m->arena, PHRASE_LIST, ", ", 0);
	s->order = phrase_new(m->arena, PHRASE_LIST, ", ", 0);
	for (u32 i = 0; i < n; i++) {
		const struct seen *seen =
			pick_column(m, &s->scope,
				    rng_percent(m->rng, 30) ? PHRASE_TEXT : PHRASE_INTEGER, false);

		if (!seen)
			seen = &s->scope.columns.at[0];
		phrase_list_add(m->arena, list, make_column(m, seen));
		keys = arena_printf(m->arena, "%s%s%s", keys, *keys ? ", " : "", seen->text);
		if (rng_percent(m->rng, 70))
			add_item(s, make_column(m, seen));
	}
	s->having = make_optional(m, " HAVING $0", make(m, &s->scope, HAVING, 1), n ? 25 : 0);
	for (u32 i = 0; i < 3; i++)
		add_item(s, make(m, &s->scope, BEHIND, 1));
	const char *over = arena_printf(m->arena, "OVER (%s%s ORDER BY %s.time)",
					*keys ? "PARTITION BY " : "", keys, alias);

	all = phrase_new(m->arena, PHRASE_FIXED,
			 arena_printf(m->arena, "SELECT $0 FROM $1$2%s%s$3",
				      *keys ? " GROUP BY " : "", keys),
			 4, s->items, s->from, s->where, s->having);
	all->sqlite = arena_printf(
		m->arena,
		"SELECT $0 FROM (SELECT *, sum(is_new) %s AS session FROM (SELECT *, coalesce(%s.time - "
		"lag(%s.time) %s > %llu, 1) AS is_new FROM %s AS %s$2) AS %s) AS %s GROUP BY %s%s%s.session$3",
		over, alias, alias, over, (unsigned long long)gap_ns, is_other ? "ot" : "ev", alias,
		alias, alias, keys, *keys ? ", " : "", alias);
	return all;
}

/* SELECT * of what has names. */
static struct phrase *star(struct maker *m, struct select_maker *s)
{
	struct scope scope = { 0 };
	struct phrase *from = rng_percent(m->rng, 50) ? make_derived(m, make_name(m, "g"), &scope)
						      : make_cte(m, make_name(m, "g"), &scope);

	*s = (struct select_maker){ .m = m };
	s->order = phrase_new(m->arena, PHRASE_FIXED,
			      rng_percent(m->rng, 50) ? "1, 2, 3" : "3 DESC, 1, 2", 0);
	/* What it has less of when it is made smaller, nobody knows here. */
	m->has_opaque |= scope.columns.n < 3;
	return phrase_mark(phrase_new(m->arena, PHRASE_FIXED, "SELECT * FROM $0$1", 2, from,
				      make_where(m, &scope, 30)),
			   TRAIT_STAR);
}

enum body {
	BODY_ROWS,
	BODY_GROUPS,
	BODY_OVER,
	BODY_RUNNING,
	BODY_DISTINCT,
	BODY_COMPOUND,
	BODY_STAR
};

static const u32 body_weights[] = {
	[BODY_ROWS] = 32,    [BODY_GROUPS] = 39,  [BODY_OVER] = 7, [BODY_RUNNING] = 4,
	[BODY_DISTINCT] = 8, [BODY_COMPOUND] = 7, [BODY_STAR] = 6,
};

static enum body pick_body(struct maker *m)
{
	u32 total = 0, dice, i = 0;

	for (u32 k = 0; k < ARRAY_SIZE(body_weights); k++)
		total += body_weights[k];
	for (dice = rng_below(m->rng, total); dice >= body_weights[i]; i++)
		dice -= body_weights[i];
	return i;
}

static struct phrase *body(struct maker *m, struct select_maker *s, u64 size, bool *ret_is_rows)
{
	enum body body = pick_body(m);

	*ret_is_rows = false;
	if (m->shape == SHAPE_SESSION)
		return sessions(m, s, size);
	if (body == BODY_COMPOUND && m->shape != SHAPE_COUNT)
		return compound(m, s);
	if (body == BODY_STAR && m->shape != SHAPE_COUNT)
		return star(m, s);
	begin(s, m);
	switch (body) {
	case BODY_OVER:
		make_over(s);
		break;
	case BODY_DISTINCT:
		make_distinct(s);
		break;
	case BODY_RUNNING:
		if (m->shape == SHAPE_NONE && s->scope.time && !m->rows->has_ties) {
			make_running(s);
			*ret_is_rows = true;
			break;
		}
		/* fallthrough */
	case BODY_ROWS:
		make_row_items(s);
		*ret_is_rows = true;
		break;
	default:
		make_groups(s);
	}
	return put_together(s);
}

/* Some columns keep the names they have: SQLite gives those others. */
static void drop_aliases(struct maker *m, struct oracle_query *query)
{
	for (u32 i = 0; i < m->aliases->n_args; i++) {
		m->aliases->args[i]->is_gone = rng_percent(m->rng, 25);
		query->has_own_names |= m->aliases->args[i]->is_gone;
	}
}

/* SQLite has one way to say it. */
static struct phrase *make_limit(struct maker *m, u32 dice)
{
	static const struct {
		const char *ebql, *sqlite;
	} ways[] = { { " LIMIT $0 OFFSET 2" },
		     { " OFFSET 2 LIMIT $0", " LIMIT $0 OFFSET 2" },
		     { " OFFSET $0", " LIMIT -1 OFFSET $0" },
		     { " OFFSET 1 ROW FETCH NEXT $0 ROWS ONLY", " LIMIT $0 OFFSET 1" } };
	struct phrase *number = make_literal(m, rng_below(m->rng, 12)), *p;
	bool is_plain = dice >= ARRAY_SIZE(ways);

	p = make_optional(m, is_plain ? " LIMIT $0" : ways[dice].ebql, number, 40);
	if (!is_plain && ways[dice].sqlite)
		p->sqlite = ways[dice].sqlite;
	return p;
}

static const enum trait shape_traits[] = { [SHAPE_TUMBLING] = TRAIT_TUMBLING,
					   [SHAPE_HOPPING] = TRAIT_HOPPING,
					   [SHAPE_COUNT] = TRAIT_COUNT,
					   [SHAPE_SESSION] = TRAIT_SESSION };

void oracle_query_random(struct oracle_query *query, const struct rows *rows, struct arena *arena,
			 struct rng *rng)
{
	struct maker m = { .rows = rows, .arena = arena, .rng = rng, .is_wild = rows->is_big };
	struct phrase *select, *window, *order, *limit, *with;
	struct select_maker s;
	bool is_rows, has_order;

	m.has_reference = !m.is_wild && !rng_percent(rng, 15);
	m.aliases = phrase_new(arena, PHRASE_LIST, "", 0);
	m.with = phrase_new(arena, PHRASE_LIST, ", ", 0);
	*query = (struct oracle_query){ .has_reference = m.has_reference };
	pick_shape(&m, query);
	select = body(&m, &s, query->size, &is_rows);
	window = phrase_new(arena, PHRASE_FIXED, window_text(&m, query), 0);
	window->sqlite = "";
	has_order = !m.has_opaque && m.shape != SHAPE_SESSION &&
		    rng_percent(rng, is_rows ? 100 : 35) && (!is_rows || m.shape != SHAPE_NONE);
	limit = make_limit(&m, rng_below(rng, 10));
	order = phrase_new(arena, PHRASE_FIXED, has_order ? " ORDER BY $0$1" : "",
			   has_order ? 2 : 0, s.order, limit);
	if (!has_order && !m.has_alias_use && rng_percent(rng, 30))
		drop_aliases(&m, query);
	query->is_ordered = has_order;
	query->has_statistic = m.has_statistic;
	query->may_fault = m.may_fault || m.is_wild;
	query->spares_faults = m.spares_faults || (has_order && !limit->is_gone);
	with = phrase_new(arena, PHRASE_FIXED, m.with->n_args ? "WITH $0 " : "", 1, m.with);
	query->text = phrase_new(arena, PHRASE_FIXED, "$0$1$2$3", 4, with, select, window, order);
	phrase_mark(limit, TRAIT_LIMIT);
	phrase_mark(order, has_order ? TRAIT_ORDER : TRAIT_NONE);
	phrase_mark(query->text, shape_traits[m.shape]);
	phrase_mark(query->text, rows->has_ties ? TRAIT_TIES : TRAIT_NONE);
	phrase_mark(query->text, rows->is_big ? TRAIT_BIG : TRAIT_NONE);
	phrase_mark(query->text, query->may_fault ? TRAIT_FAULTS : TRAIT_NONE);
	if (m.shape == SHAPE_COUNT)
		query->times = phrase_new(
			arena, PHRASE_FIXED,
			arena_printf(arena, "SELECT %s FROM $0$1 ORDER BY 1", s.scope.time), 2,
			s.from, s.where);
}
