/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Random selects: rows, groups, DISTINCT, functions over other rows, UNION and its like,
 * WITH; and the window of the whole.
 */
#include <string.h>

#include "make.h"

enum { ITEMS_MAX = 5, GROUPED_COLUMNS = 3 };

/* One select under way. */
struct select_maker {
	struct maker *m;
	struct scope scope;
	struct phrase *from, *where, *group, *having, *items, *order;
	struct phrase *keys[3];
	u32 n_keys;
	bool is_distinct;
	u32 n_items;
};

static struct phrase *optional(struct maker *m, const char *form, struct phrase *arg, u32 percent)
{
	struct phrase *p = phrase_new(m->arena, PHRASE_FIXED, form, 1, arg);

	p->is_optional = true;
	p->is_gone = !rng_percent(m->rng, percent);
	return p;
}

static void add_item(struct select_maker *s, struct phrase *e)
{
	static const char *const forms[] = { "i%u", "i%u DESC", "i%u NULLS LAST",
					     "i%u DESC NULLS FIRST" };
	struct maker *m = s->m;
	u32 number = ++m->n_names;
	struct phrase *item = phrase_new(m->arena, PHRASE_FIXED,
					 arena_printf(m->arena, "$0 AS i%u", number), 1, e);
	struct phrase *order;

	switch (rng_below(m->rng, ARRAY_SIZE(forms))) {
	case 0:
		order = phrase_new(m->arena, PHRASE_FIXED, arena_printf(m->arena, "i%u", number),
				   0);
		break;
	case 1:
		order = phrase_new(m->arena, PHRASE_FIXED,
				   arena_printf(m->arena, "i%u DESC", number), 0);
		break;
	case 2:
		order = phrase_new(m->arena, PHRASE_FIXED,
				   arena_printf(m->arena, "i%u NULLS LAST", number), 0);
		break;
	default:
		order = phrase_new(m->arena, PHRASE_FIXED,
				   arena_printf(m->arena, "i%u DESC NULLS FIRST", number), 0);
	}
	item->tag = order->tag = number;
	phrase_list_add(m->arena, s->items, item);
	phrase_list_add(m->arena, s->order, order);
	s->n_items++;
}

static bool may_nest(const struct maker *m)
{
	return m->depth < 2 && m->shape != SHAPE_COUNT && m->shape != SHAPE_SESSION;
}

/* EXISTS (SELECT ... WHERE b.k = a.k) */
static struct phrase *existence(struct maker *m, const struct seen *outer)
{
	const char *alias = make_name(m, "s");
	struct phrase *from, *condition;
	struct scope scope = { 0 };
	const struct seen *inner;

	m->depth++;
	from = make_stream(m, rng_percent(m->rng, 60), alias, &scope);
	inner = pick_column(m, &scope, PHRASE_INTEGER, false);
	if (outer->column >= 0 && !outer->is_compare_only)
		inner = &scope.columns.at[outer->column];
	condition = make_condition(m, &scope, 1);
	m->depth--;
	return phrase_new(m->arena, PHRASE_INTEGER,
			  rng_percent(m->rng, 60)
				  ? "EXISTS (SELECT 1 FROM $0 WHERE $1 = $2 AND $3)"
				  : "(NOT EXISTS (SELECT 1 FROM $0 WHERE $1 = $2 AND $3))",
			  4, from, make_column(m, inner), make_column(m, outer), condition);
}

/* x IN (SELECT ...), EXISTS, comparisons with (SELECT max(x) ...) */
static struct phrase *nested_condition(struct maker *m, const struct scope *scope)
{
	const struct seen *seen = pick_column(m, scope, PHRASE_INTEGER, false);
	u32 which = rng_below(m->rng, 5);

	if (!seen)
		return make_condition(m, scope, 2);
	if (which == 4)
		return existence(m, seen);
	struct phrase *e = make_column(m, seen);
	struct phrase *select = make_subselect(m, scope, PHRASE_INTEGER, which >= 2);

	switch (which) {
	case 0:
		return phrase_new(m->arena, PHRASE_INTEGER, "($0 IN $1)", 2, e, select);
	case 1:
		return phrase_new(m->arena, PHRASE_INTEGER, "($0 NOT IN $1)", 2, e, select);
	default:
		return phrase_new(m->arena, PHRASE_INTEGER,
				  which == 2 ? "($0 >= $1)" : "coalesce($0 < $1, 1)", 2, e, select);
	}
}

static struct phrase *where_condition(struct maker *m, const struct scope *scope)
{
	struct phrase *list = phrase_new(m->arena, PHRASE_LIST, " AND ", 0);
	u32 n = 1 + rng_percent(m->rng, 35) + rng_percent(m->rng, 15);

	for (u32 i = 0; i < n; i++)
		phrase_list_add(m->arena, list,
				may_nest(m) && rng_percent(m->rng, 8)
					? nested_condition(m, scope)
					: make_condition(m, scope, 2));
	return list;
}

struct phrase *make_subselect(struct maker *m, const struct scope *outer, enum phrase_class class,
			      bool is_scalar)
{
	const char *alias = make_name(m, "s");
	struct scope scope = { 0 };
	struct phrase *from, *p;
	const struct seen *seen;

	m->depth++;
	from = make_stream(m, rng_percent(m->rng, 60), alias, &scope);
	seen = pick_column(m, &scope, class, false);
	p = phrase_new(m->arena, class,
		       is_scalar ? "(SELECT max($0) FROM $1$2)" : "(SELECT $0 FROM $1$2)", 3,
		       seen ? make_column(m, seen) : make_literal(m, 1), from,
		       optional(m, " WHERE $0", make_condition(m, &scope, 2), 60));
	if (seen) {
		p->lo = seen->lo;
		p->hi = seen->hi;
	}
	m->depth--;
	return p;
}

/* --- Kinds of select --- */

static void begin(struct select_maker *s, struct maker *m)
{
	*s = (struct select_maker){ .m = m };
	s->from = make_from(m, &s->scope);
	s->where = optional(m, " WHERE $0", where_condition(m, &s->scope), 60);
	s->group = s->having = phrase_new(m->arena, PHRASE_FIXED, "", 0);
	s->items = phrase_new(m->arena, PHRASE_LIST, ", ", 0);
	s->order = phrase_new(m->arena, PHRASE_LIST, ", ", 0);
}

/* What only user space can do. */
static struct phrase *text_function(struct maker *m, const struct scope *scope)
{
	static const char *const forms[] = { "upper($0)",
					     "($0 || '-' || $1)",
					     "substr($0, 2, 3)",
					     "replace($0, 'a', $1)",
					     "lower($0 || $2)",
					     "coalesce(nullif($0, $1), 'x')",
					     "printf('%d:%s', $2, $0)",
					     "hex($0)" };
	struct phrase *a = make_text(m, scope), *b = make_text(m, scope);
	const struct seen *seen = pick_column(m, scope, PHRASE_INTEGER, false);

	return phrase_new(m->arena, PHRASE_TEXT, forms[rng_below(m->rng, ARRAY_SIZE(forms))], 3, a,
			  b, seen && !m->is_wild ? make_column(m, seen) : make_literal(m, 3));
}

static struct phrase *row_item(struct maker *m, const struct scope *scope)
{
	u32 dice = rng_below(m->rng, 100);

	if (dice < 45)
		return make_key(m, scope);
	if (dice < 55)
		return rng_percent(m->rng, 50) ? make_text(m, scope) : text_function(m, scope);
	if (dice < 58 && may_nest(m))
		return make_subselect(m, scope, PHRASE_INTEGER, true);
	return make_integer(m, scope, 3);
}

static void make_row_items(struct select_maker *s)
{
	u32 n = 1 + rng_below(s->m->rng, ITEMS_MAX - 1);

	for (u32 i = 0; i < n; i++)
		add_item(s, row_item(s->m, &s->scope));
}

/* What may stand behind the aggregation: keys, aggregates, and things computed of them. */
static struct phrase *behind(struct select_maker *s)
{
	struct maker *m = s->m;
	struct phrase *a = make_aggregate(m, &s->scope), *p;

	if (a->class != PHRASE_INTEGER || rng_percent(m->rng, 65))
		return a;
	p = phrase_new(m->arena, PHRASE_INTEGER,
		       rng_percent(m->rng, 50) ? "CASE WHEN $0 > 2 THEN $0 END" : "($0 / 3)", 1, a);
	p->lo = MIN(a->lo, 0);
	p->hi = MAX(a->hi, 0);
	return p;
}

static struct phrase *having(struct select_maker *s)
{
	static const char *const forms[] = { "count(*) > 1", "$0 >= $1", "$0 IS NOT NULL",
					     "($0 < $1 OR count(*) % 2 = 0)" };
	struct maker *m = s->m;
	struct phrase *a = make_aggregate(m, &s->scope);

	if (a->class != PHRASE_INTEGER)
		return phrase_new(m->arena, PHRASE_FIXED, "count(*) > 1", 0);
	return phrase_new(m->arena, PHRASE_FIXED, forms[rng_below(m->rng, ARRAY_SIZE(forms))], 2, a,
			  make_literal(m, rng_below(m->rng, 6)));
}

static void make_groups(struct select_maker *s)
{
	struct maker *m = s->m;
	struct phrase *list = phrase_new(m->arena, PHRASE_LIST, ", ", 0);
	u32 n = rng_percent(m->rng, 20) ? 0 : 1 + rng_below(m->rng, 2);

	for (u32 i = 0; i < n; i++) {
		s->keys[s->n_keys] = make_key(m, &s->scope);
		phrase_list_add(m->arena, list, s->keys[s->n_keys]);
		if (rng_percent(m->rng, 80))
			add_item(s, s->keys[s->n_keys]);
		s->n_keys++;
	}
	if (n) {
		s->group = phrase_new(m->arena, PHRASE_FIXED, " GROUP BY $0", 1, list);
		s->having = optional(m, " HAVING $0", having(s), 25);
	}
	n = 1 + rng_below(m->rng, 3);
	for (u32 i = 0; i < n; i++)
		add_item(s, behind(s));
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

/* row_number() OVER (...) and its like: the order is total by the time. */
static void make_over(struct select_maker *s)
{
	static const char *const forms[] = {
		"row_number() OVER (PARTITION BY $1 ORDER BY $2)",
		"rank() OVER (ORDER BY $0, $2)",
		"dense_rank() OVER (PARTITION BY $1 ORDER BY $0)",
		"lag($0) OVER (PARTITION BY $1 ORDER BY $2)",
		"lead($0, 2, -1) OVER (ORDER BY $2)",
		"max($0) OVER (PARTITION BY $1 ORDER BY $2 ROWS BETWEEN 3 PRECEDING AND CURRENT ROW)",
		"count(*) OVER (PARTITION BY $1 ORDER BY $2 ROWS BETWEEN 2 PRECEDING AND CURRENT ROW)",
		"sum($3) OVER (ORDER BY $2 ROWS 1 PRECEDING)",
		"min($0) OVER (PARTITION BY $1)",
		"first_value($0) OVER (PARTITION BY $1 ORDER BY $2 DESC)",
		"ntile(3) OVER (ORDER BY $2)",
	};
	struct maker *m = s->m;
	struct phrase *time;

	if (!s->scope.time) {
		make_groups(s);
		return;
	}
	time = phrase_new(m->arena, PHRASE_FIXED, s->scope.time, 0);
	add_item(s, time);
	for (u32 i = 0; i < 2; i++) {
		struct phrase *x = make_integer(m, &s->scope, 1), *p;

		p = phrase_new(m->arena, PHRASE_REAL, forms[rng_below(m->rng, ARRAY_SIZE(forms))],
			       4, x, make_key(m, &s->scope), time, make_condition(m, &s->scope, 1));
		add_item(s, p);
	}
}

/* Over single events SUM and count run along with them, in the order of their times. */
static void make_running(struct select_maker *s)
{
	static const char *const forms[] = { "sum($0) OVER (PARTITION BY $1)",
					     "count(*) OVER (PARTITION BY $1)",
					     "count($0) OVER (PARTITION BY $1 ORDER BY $2)",
					     "sum($0) FILTER (WHERE $3) OVER (ORDER BY $2)" };
	static const char *const sqlite[] = {
		"sum($0) OVER (PARTITION BY $1 ORDER BY $2)",
		"count(*) OVER (PARTITION BY $1 ORDER BY $2)",
		"count($0) OVER (PARTITION BY $1 ORDER BY $2)",
		"sum($0) FILTER (WHERE $3) OVER (ORDER BY $2)",
	};
	struct maker *m = s->m;

	/* With a select in WHERE all rows are there at once: SQL's own meaning. */
	s->where = optional(m, " WHERE $0", make_condition(m, &s->scope, 2), 50);
	for (u32 i = 0; i < 2; i++)
		add_item(s, make_key(m, &s->scope));
	for (u32 i = 0; i < 2; i++) {
		const struct seen *seen = pick_column(m, &s->scope, PHRASE_INTEGER, false);
		struct phrase *x = seen && seen->column >= 0 &&
						   !column_infos[seen->column].is_text &&
						   column_infos[seen->column].size_bytes < 8
					   ? make_column(m, seen)
					   : make_literal(m, 2);
		u32 which = rng_below(m->rng, ARRAY_SIZE(forms));
		struct phrase *p = phrase_new(m->arena, PHRASE_REAL, forms[which], 4, x,
					      make_key(m, &s->scope),
					      phrase_new(m->arena, PHRASE_FIXED, s->scope.time, 0),
					      make_condition(m, &s->scope, 1));

		p->sqlite = sqlite[which];
		add_item(s, p);
	}
}

static void make_distinct(struct select_maker *s)
{
	s->is_distinct = true;
	make_row_items(s);
}

/* --- The whole select --- */

static struct phrase *put_together(struct select_maker *s)
{
	return phrase_new(s->m->arena, PHRASE_FIXED,
			  s->is_distinct ? "SELECT DISTINCT $0 FROM $1$2$3$4"
					 : "SELECT $0 FROM $1$2$3$4",
			  5, s->items, s->from, s->where, s->group, s->having);
}

struct phrase *make_grouped_source(struct maker *m, const char *alias, struct scope *scope)
{
	struct select_maker s;
	struct phrase *list = phrase_new(m->arena, PHRASE_LIST, ", ", 0), *items;

	m->depth++;
	s = (struct select_maker){ .m = m };
	s.from = make_stream(m, rng_percent(m->rng, 40), make_name(m, "a"), &s.scope);
	s.where = optional(m, " WHERE $0", make_condition(m, &s.scope, 1), 40);
	items = phrase_new(m->arena, PHRASE_LIST, ", ", 0);
	for (u32 i = 0; i < GROUPED_COLUMNS; i++) {
		const char *name = make_name(m, "c");
		struct phrase *e = i == 0 ? make_key(m, &s.scope) : make_aggregate(m, &s.scope);

		if (i == 0)
			phrase_list_add(m->arena, list, e);
		phrase_list_add(m->arena, items,
				phrase_new(m->arena, PHRASE_FIXED,
					   arena_printf(m->arena, "$0 AS %s", name), 1, e));
		if (e->class == PHRASE_REAL)
			continue;
		vec_push(m->arena, &scope->columns,
			 (struct seen){ .text = arena_printf(m->arena, "%s.%s", alias, name),
					.class = e->class,
					.lo = e->lo,
					.hi = e->hi,
					.column = -1 });
	}
	m->depth--;
	scope->n_rows_max = s.scope.n_rows_max;
	scope->time = NULL;
	return phrase_new(m->arena, PHRASE_FIXED,
			  arena_printf(m->arena, "(SELECT $0 FROM $1$2 GROUP BY $3) AS %s", alias),
			  4, items, s.from, s.where, list);
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

	for (u32 i = 0; i < 2; i++) {
		begin(&arms[i], m);
		add_item(&arms[i], make_key(m, &arms[i].scope));
		if (arms[i].items->args[0]->args[0]->class != PHRASE_INTEGER)
			arms[i].items->args[0]->args[0] = make_literal(m, 2);
	}
	*first = arms[0];
	return phrase_new(m->arena, PHRASE_FIXED, words[rng_below(m->rng, ARRAY_SIZE(words))], 2,
			  put_together(&arms[0]), put_together(&arms[1]));
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
	s->where = optional(m, " WHERE $0", where_condition(m, &s->scope), 50);
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
	s->having = optional(m, " HAVING $0", having(s), n ? 25 : 0);
	for (u32 i = 0; i < 3; i++)
		add_item(s, behind(s));
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

static struct phrase *body(struct maker *m, struct select_maker *s, u64 size, bool *ret_is_rows)
{
	u32 dice = rng_below(m->rng, 100);

	*ret_is_rows = false;
	if (m->shape == SHAPE_SESSION)
		return sessions(m, s, size);
	if (dice < 8 && m->shape != SHAPE_COUNT)
		return compound(m, s);
	begin(s, m);
	if (dice < 40) {
		make_row_items(s);
		*ret_is_rows = true;
	} else if (dice < 82) {
		make_groups(s);
	} else if (dice < 88) {
		make_over(s);
	} else if (dice < 92 && m->shape == SHAPE_NONE && s->scope.time) {
		make_running(s);
		*ret_is_rows = true;
	} else {
		make_distinct(s);
	}
	return put_together(s);
}

void oracle_query_random(struct oracle_query *query, const struct rows *rows, struct arena *arena,
			 struct rng *rng)
{
	struct maker m = { .rows = rows, .arena = arena, .rng = rng, .is_wild = rows->is_big };
	struct select_maker s;
	struct phrase *select, *window, *order, *limit;
	bool is_rows, has_order;

	*query = (struct oracle_query){ .has_reference = !rows->is_big };
	pick_shape(&m, query);
	select = body(&m, &s, query->size, &is_rows);
	window = phrase_new(arena, PHRASE_FIXED, window_text(&m, query), 0);
	window->sqlite = "";
	has_order = !m.has_opaque && m.shape != SHAPE_SESSION &&
		    rng_percent(rng, is_rows ? 100 : 35) && (!is_rows || m.shape != SHAPE_NONE);
	limit = optional(&m, " LIMIT $0", make_literal(&m, rng_below(rng, 12)), 40);
	order = phrase_new(arena, PHRASE_FIXED, has_order ? " ORDER BY $0$1" : "", 2, s.order,
			   limit);
	query->is_ordered = has_order;
	query->text = phrase_new(arena, PHRASE_FIXED, "$0$1$2", 3, select, window, order);
	if (m.shape == SHAPE_COUNT)
		query->times = phrase_new(
			arena, PHRASE_FIXED,
			arena_printf(arena, "SELECT %s FROM $0$1 ORDER BY 1", s.scope.time), 2,
			s.from, s.where);
}
