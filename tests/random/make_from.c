/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Random members of FROM, and what SQLite gets in their place: a stream is a table, of
 * which it sees the rows of the window; the partner of a PAIR or ASOF JOIN is found by
 * brackets and by the latest time before, over all rows.
 */
#include <string.h>

#include "grammar.h"

const char *make_name(struct maker *m, const char *prefix)
{
	return arena_printf(m->arena, "%s%u", prefix, m->n_names++);
}

/* --- Streams --- */

static const u32 key_columns[] = { C_U8, C_S8, C_BOOL, C_NAME, C_CPU };

static void see(struct maker *m, struct scope *scope, const char *alias, u32 column)
{
	const struct column_info *info = &column_infos[column];

	vec_push(m->arena, &scope->columns,
		 (struct seen){ .text = arena_printf(m->arena, "%s.%s", alias, info->name),
				.class = info->is_text ? PHRASE_TEXT : PHRASE_INTEGER,
				.lo = m->rows->data.lo[column],
				.hi = m->rows->data.hi[column],
				.column = (s32)column,
				.is_compare_only = info->is_compare_only,
				.is_field = true });
}

struct phrase *make_stream(struct maker *m, bool is_other, const char *alias, struct scope *scope)
{
	struct phrase *p =
		phrase_new(m->arena, PHRASE_FIXED,
			   arena_printf(m->arena, is_other ? "$O AS %s" : "$E AS %s", alias), 0);

	p->sqlite =
		arena_printf(m->arena, "(SELECT * FROM %s$W) AS %s", is_other ? "ot" : "ev", alias);
	for (u32 i = 0; i < C_N; i++)
		see(m, scope, alias, i);
	/* These more often. */
	for (u32 i = 0; i < 3 * ARRAY_SIZE(key_columns); i++)
		see(m, scope, alias, key_columns[i % ARRAY_SIZE(key_columns)]);
	scope->time = arena_printf(m->arena, "%s.time", alias);
	scope->n_rows_max = MAX(m->rows->data.n_events, 1u);
	scope->is_stream = !is_other;
	return p;
}

static struct phrase *make_rows(struct maker *m, const char *alias, struct scope *scope);
static struct phrase *make_tree(struct maker *m, struct scope *scope);

struct phrase *make_where(struct maker *m, const struct scope *scope, u32 percent)
{
	return make_optional(m, " WHERE $0", make(m, scope, CONDITION, 2), percent);
}

static void see_item(struct maker *m, struct scope *scope, const char *alias, const char *name,
		     const struct phrase *p, s32 column)
{
	vec_push(m->arena, &scope->columns,
		 (struct seen){ .text = arena_printf(m->arena, "%s.%s", alias, name),
				.class = p->class,
				.lo = p->lo,
				.hi = p->hi,
				.column = column });
}

/* (SELECT x AS c0, ..., time AS time FROM ... WHERE ...) AS alias */
static struct phrase *nested(struct maker *m, const char *alias, struct scope *scope)
{
	struct scope inner = { 0 };
	struct phrase *items = phrase_new(m->arena, PHRASE_LIST, ", ", 0), *from, *p;
	u32 n = 2 + rng_below(m->rng, 3);

	m->depth++;
	from = make_tree(m, &inner);
	for (u32 i = 0; i < n; i++) {
		const char *name = make_name(m, "c");
		struct phrase *e;
		s32 column = -1;

		if (i == 0 || rng_percent(m->rng, 40)) {
			const struct seen *seen = pick_column(
				m, &inner, rng_percent(m->rng, 75) ? PHRASE_INTEGER : PHRASE_TEXT,
				false);

			if (!seen)
				seen = &inner.columns.at[0];
			e = make_column(m, seen);
			column = seen->column;
		} else {
			e = make(m, &inner, NUMBER, 2);
		}
		phrase_list_add(m->arena, items, make_named(m, e, name));
		see_item(m, scope, alias, name, e, column);
	}
	p = phrase_new(m->arena, PHRASE_FIXED,
		       arena_printf(m->arena, "(SELECT $0, %s AS time FROM $1$2) AS %s", inner.time,
				    alias),
		       3, items, from, make_where(m, &inner, 60));
	scope->time = arena_printf(m->arena, "%s.time", alias);
	scope->n_rows_max = inner.n_rows_max;
	m->depth--;
	return phrase_mark(p, TRAIT_NESTED);
}

/* (SELECT x AS c0, ..., time FROM $E UNION ALL SELECT ... FROM $O) AS alias */
static struct phrase *united(struct maker *m, const char *alias, struct scope *scope)
{
	static const u32 columns[] = { C_U8,  C_S8,  C_BOOL, C_NAME, C_U16, C_S32,
				       C_S64, C_U32, C_PATH, C_PID,  C_COMM };
	struct phrase *lists[2], *p;
	struct scope inner[2] = { 0 };
	const char *names[2];
	u32 n = 2 + rng_below(m->rng, 3);

	for (u32 i = 0; i < 2; i++) {
		names[i] = make_name(m, "u");
		lists[i] = phrase_new(m->arena, PHRASE_LIST, ", ", 0);
	}
	struct phrase *a = make_stream(m, false, names[0], &inner[0]);
	struct phrase *b = make_stream(m, true, names[1], &inner[1]);

	for (u32 k = 0; k < n; k++) {
		const char *name = make_name(m, "c");
		u32 column = columns[rng_below(m->rng, ARRAY_SIZE(columns))];
		bool is_constant = !column_infos[column].is_text && rng_percent(m->rng, 20);
		struct phrase *last = NULL;

		for (u32 i = 0; i < 2; i++) {
			struct phrase *e = make_column(m, &inner[i].columns.at[column]);

			if (is_constant && i)
				e = make_literal(m, rng_range(m->rng, -1, 3));
			phrase_list_add(m->arena, lists[i], make_named(m, e, name));
			if (last) {
				e->lo = MIN(e->lo, last->lo);
				e->hi = MAX(e->hi, last->hi);
			}
			last = e;
		}
		see_item(m, scope, alias, name, last, (s32)column);
	}
	p = phrase_new(m->arena, PHRASE_FIXED,
		       arena_printf(m->arena,
				    "(SELECT $0, %s.time AS time FROM $2$4 UNION ALL SELECT $1, "
				    "%s.time AS time FROM $3$5) AS %s",
				    names[0], names[1], alias),
		       6, lists[0], lists[1], a, b, make_where(m, &inner[0], 40),
		       make_where(m, &inner[1], 40));
	scope->time = arena_printf(m->arena, "%s.time", alias);
	scope->n_rows_max = MAX(m->rows->data.n_events, 1u);
	return phrase_mark(p, TRAIT_UNION_OF_STREAMS);
}

/* (SELECT k, sum(x) OVER (PARTITION BY k) AS s, time FROM ...) AS alias: in the order of time */
static struct phrase *running(struct maker *m, const char *alias, struct scope *scope)
{
	const char *key = make_name(m, "c"), *sum = make_name(m, "c"), *inside = make_name(m, "r");
	struct scope inner = { 0 };
	struct phrase *from, *k, *total, *p;

	m->depth++;
	from = make_rows(m, inside, &inner);
	m->depth--;
	k = make(m, &inner, KEY, 1);
	m->is_running = true;
	total = make(m, &inner, RUNNING, 1);
	m->is_running = false;
	p = phrase_new(m->arena, PHRASE_FIXED,
		       arena_printf(m->arena,
				    "(SELECT $1 AS %s, $2 AS %s, %s AS time FROM $0$3) AS %s", key,
				    sum, inner.time, alias),
		       4, from, k, total, make_where(m, &inner, 40));
	/* The sum is of all rows, then come those of the window. */
	p->sqlite = arena_printf(m->arena,
				 "(SELECT * FROM (SELECT $!1 AS %s, $!2 AS %s, %s AS time FROM "
				 "$!0$!3)$W) AS %s",
				 key, sum, inner.time, alias);
	see_item(m, scope, alias, key, k, -1);
	see_item(m, scope, alias, sum, total, -1);
	scope->time = arena_printf(m->arena, "%s.time", alias);
	scope->n_rows_max = inner.n_rows_max;
	return p;
}

static struct phrase *stream(struct maker *m, const char *alias, struct scope *scope)
{
	return make_stream(m, rng_percent(m->rng, 40), alias, scope);
}

static bool is_shallow(const struct maker *m)
{
	return m->depth < 2;
}

static bool is_shallow_untied(const struct maker *m)
{
	return m->depth < 2 && !m->rows->has_ties;
}

struct phrase *choose(struct maker *m, const struct choice *choices, u32 n, const char *alias,
		      struct scope *scope)
{
	u32 total = 0, dice, i = 0;

	for (u32 k = 0; k < n; k++)
		if (!choices[k].fits || choices[k].fits(m))
			total += choices[k].weight;
	for (dice = rng_below(m->rng, total);; i++) {
		if (choices[i].fits && !choices[i].fits(m))
			continue;
		if (dice < choices[i].weight)
			return choices[i].make(m, alias, scope);
		dice -= choices[i].weight;
	}
}

/* Rows of events, each with its time. */
static const struct choice row_sources[] = {
	{ 63, stream },
	{ 18, nested, is_shallow },
	{ 12, united, is_shallow },
	{ 7, running, is_shallow_untied },
};

static struct phrase *make_rows(struct maker *m, const char *alias, struct scope *scope)
{
	return choose(m, row_sources, ARRAY_SIZE(row_sources), alias, scope);
}

/* --- PAIR and ASOF JOIN --- */

/* A column of both sides, by which they meet. */
static bool pick_keys(struct maker *m, const struct scope *a, const struct scope *b,
		      struct phrase **ret_a, struct phrase **ret_b)
{
	for (u32 i = 0; i < 40; i++) {
		const struct seen *x = &a->columns.at[rng_below(m->rng, a->columns.n)];
		const struct seen *y = &b->columns.at[rng_below(m->rng, b->columns.n)];

		if (x->class != y->class || x->is_compare_only || y->is_compare_only)
			continue;
		if (i < 30 && (x->column != y->column || x->column < 0))
			continue;
		*ret_a = make_column(m, x);
		*ret_b = make_column(m, y);
		return true;
	}
	return false;
}

/*
 * Starts push, ends pop; an end at depth 0 pops nothing.  A start and the end that meets
 * it have the same depth.
 */
#define PAIRS                                                                                      \
	"(WITH e AS MATERIALIZED (SELECT %s AS t, -1 AS d, $2 AS k1, $4 AS k2 FROM $!0 WHERE $2 "  \
	"IS NOT NULL AND $4 IS NOT NULL UNION ALL SELECT %s, 1, $3, $5 FROM $!1 WHERE $3 IS NOT "  \
	"NULL AND $5 IS NOT NULL), s AS MATERIALIZED (SELECT *, sum(d) OVER (PARTITION BY k1, k2 " \
	"ORDER BY t, d ROWS UNBOUNDED PRECEDING) AS s FROM e), l AS MATERIALIZED (SELECT *, s - "  \
	"min(0, min(s) OVER (PARTITION BY k1, k2 ORDER BY t, d ROWS UNBOUNDED PRECEDING)) AS "     \
	"depth FROM s), m AS MATERIALIZED (SELECT *, lag(depth, 1, 0) OVER (PARTITION BY k1, k2 "  \
	"ORDER BY t, d) AS was FROM l) SELECT x.t AS at, max(y.t) AS bt FROM m AS x JOIN m AS y "  \
	"ON y.d = 1 AND y.k1 IS x.k1 AND y.k2 IS x.k2 AND y.depth = x.was AND y.t < x.t WHERE "    \
	"x.d = -1 AND x.was > 0 GROUP BY x.t)"

static const char *pair_sql(struct maker *m, const struct scope *a, const struct scope *b,
			    bool is_left, u64 within_ns)
{
	const char *p = make_name(m, "p"), *join = is_left ? "LEFT JOIN" : "JOIN", *most = "";

	if (within_ns)
		most = arena_printf(m->arena, " AND %s.at - %s.bt <= %llu", p, p,
				    (unsigned long long)within_ns);
	return arena_printf(m->arena, "$0 %s " PAIRS " AS %s ON %s.at = %s%s %s $!1 ON %s = %s.bt",
			    join, a->time, b->time, p, p, a->time, most, join, b->time, p);
}

static const char *asof_sql(struct maker *m, const struct scope *a, const struct scope *b,
			    bool is_left, u64 within_ns)
{
	const char *most = "";

	if (within_ns)
		most = arena_printf(m->arena, " AND %s - %s <= %llu", a->time, b->time,
				    (unsigned long long)within_ns);
	return arena_printf(m->arena,
			    "$0 %s $!1 ON %s = (SELECT max(%s) FROM $!1 WHERE $2 = $3 AND $4 = $5 "
			    "AND %s < %s)%s",
			    is_left ? "LEFT JOIN" : "JOIN", b->time, b->time, b->time, a->time,
			    most);
}

/*
 * Where events share an instant: those of the other stream come first then, and the last
 * that was written is the partner.
 */
static const char *tied_sql(struct maker *m, const struct scope *a, const char *b, bool is_left,
			    u64 within_ns)
{
	const char *most = "";

	if (within_ns)
		most = arena_printf(m->arena, " AND %s - %s.time <= %llu", a->time, b,
				    (unsigned long long)within_ns);
	return arena_printf(
		m->arena,
		"$0 %s $!1 ON %s.seq = (SELECT %s.seq FROM $!1 WHERE $2 = $3 AND $4 = $5 "
		"AND %s.time <= %s ORDER BY %s.time DESC, %s.seq DESC LIMIT 1)%s",
		is_left ? "LEFT JOIN" : "JOIN", b, b, b, a->time, b, b, most);
}

static void see_joined(struct maker *m, struct scope *scope, const struct scope *right,
		       bool is_left)
{
	for (u32 i = 0; i < right->columns.n; i++) {
		struct seen seen = right->columns.at[i];

		seen.is_nullable |= is_left;
		vec_push(m->arena, &scope->columns, seen);
	}
}

static struct phrase *paired(struct maker *m, struct phrase *left, struct scope *scope)
{
	struct scope b = { 0 };
	const char *alias = make_name(m, "b");
	bool is_left = rng_percent(m->rng, 35), has_ties = m->rows->has_ties, has_two;
	bool is_asof = has_ties || rng_percent(m->rng, 45);
	struct phrase *right, *p, *keys[4] = { 0 };
	u64 within_ns = rng_percent(m->rng, 25) ? 1 + rng_below(m->rng, 3000) * 1000ull : 0;
	const char *within = "";

	if (has_ties && !scope->is_stream)
		return left;
	right = has_ties ? make_stream(m, true, alias, &b) : make_rows(m, alias, &b);
	if (!pick_keys(m, scope, &b, &keys[0], &keys[1]))
		return left;
	has_two = rng_percent(m->rng, 30) && pick_keys(m, scope, &b, &keys[2], &keys[3]);
	if (!has_two)
		keys[2] = keys[3] = make_literal(m, 1);
	if (within_ns)
		within = arena_printf(m->arena, " WITHIN %lluns", (unsigned long long)within_ns);
	p = phrase_new(m->arena, PHRASE_FIXED,
		       arena_printf(m->arena, "$0 %s%s JOIN $1 ON $2 = $3%s%s%s%s%s%s",
				    is_left ? "LEFT " : "", is_asof ? "ASOF" : "PAIR",
				    has_two ? " AND $4 = $5" : "", is_asof ? " AND " : "",
				    is_asof ? scope->time : "", is_asof ? " >= " : "",
				    is_asof ? b.time : "", within),
		       6, left, right, keys[0], keys[1], keys[2], keys[3]);
	p->sqlite = has_ties  ? tied_sql(m, scope, alias, is_left, within_ns)
		    : is_asof ? asof_sql(m, scope, &b, is_left, within_ns)
			      : pair_sql(m, scope, &b, is_left, within_ns);
	see_joined(m, scope, &b, is_left);
	scope->is_stream = false;
	phrase_mark(p, is_left ? TRAIT_LEFT_PAIR : TRAIT_NONE);
	phrase_mark(p, within_ns ? TRAIT_WITHIN : TRAIT_NONE);
	return phrase_mark(p, is_asof ? TRAIT_ASOF : TRAIT_PAIR);
}

/* Rows of one stream to the windows: scans, and their joins. */
static struct phrase *make_tree(struct maker *m, struct scope *scope)
{
	struct phrase *p = make_rows(m, make_name(m, "a"), scope);

	while (rng_percent(m->rng, m->depth ? 8 : m->rows->has_ties ? 60 : 25)) {
		struct phrase *joined = paired(m, p, scope);

		if (joined == p)
			break;
		p = joined;
	}
	return p;
}

/* --- JOIN within the window --- */

static const struct choice members[] = {
	{ 64, make_rows },
	{ 22, make_derived, is_shallow },
	{ 40, make_cte, is_shallow },
};

/* Is it the name of one column, of one alias?  The keys of a stream are seen several times. */
static bool is_unique(const struct scope *scope, const char *text)
{
	const char *name = strrchr(text, '.');

	for (u32 i = 0; i < scope->columns.n; i++) {
		const char *other = scope->columns.at[i].text, *dot = strrchr(other, '.');

		if (dot && strcmp(dot, name) == 0 && strcmp(other, text) != 0)
			return false;
	}
	return true;
}

/* The name that both keys have, which no other column has: USING takes them as one; or NULL. */
static const char *shared_name(struct maker *m, const struct scope *a, const struct scope *b,
			       struct phrase *keys[2])
{
	for (u32 i = 0; i < 20; i++) {
		const struct seen *x = &a->columns.at[rng_below(m->rng, a->columns.n)];
		const char *name = strrchr(x->text, '.');

		for (u32 k = 0; name && k < b->columns.n; k++) {
			const struct seen *y = &b->columns.at[k];
			const char *other = strrchr(y->text, '.');

			if (!other || strcmp(name, other) != 0 || x->class != y->class ||
			    x->is_compare_only || !is_unique(a, x->text) || !is_unique(b, y->text))
				continue;
			keys[0] = make_column(m, x);
			keys[1] = make_column(m, y);
			return name + 1;
		}
	}
	return NULL;
}

static void may_miss(struct scope *scope, u32 first, u32 end)
{
	for (u32 i = first; i < end; i++)
		scope->columns.at[i].is_nullable = true;
}

static struct phrase *joined(struct maker *m, const char *alias, struct scope *scope)
{
	static const struct {
		const char *word;
		enum trait trait;
		bool misses_left, misses_right;
	} kinds[] = { { "JOIN", TRAIT_JOIN },
		      { "LEFT JOIN", TRAIT_LEFT_JOIN, .misses_right = true },
		      { "RIGHT JOIN", TRAIT_RIGHT_JOIN, .misses_left = true },
		      { "FULL JOIN", TRAIT_FULL_JOIN, true, true } };
	u32 kind = rng_below(m->rng, ARRAY_SIZE(kinds)), middle;
	struct scope right_scope = { 0 };
	struct phrase *keys[2], *on, *left, *right, *p;
	const char *name = NULL;
	const u64 unions = 1ull << TRAIT_UNION_IN_FROM | 1ull << TRAIT_UNION_IN_WITH;

	left = rng_percent(m->rng, 20) ? make_tree(m, scope)
				       : choose(m, members, ARRAY_SIZE(members), alias, scope);
	right = choose(m, members, ARRAY_SIZE(members), make_name(m, "j"), &right_scope);
	if (rng_percent(m->rng, 75))
		name = shared_name(m, scope, &right_scope, keys);
	if (!name && !pick_keys(m, scope, &right_scope, &keys[0], &keys[1]))
		return left;
	middle = scope->columns.n;
	see_joined(m, scope, &right_scope, kinds[kind].misses_right);
	on = name ? NULL : make_optional(m, " AND $0", make(m, scope, CONDITION, 1), 30);
	may_miss(scope, 0, kinds[kind].misses_left ? middle : 0);
	/* Several times, so that it is used. */
	for (u32 i = 0; name && i < 8; i++)
		vec_push(m->arena, &scope->columns,
			 (struct seen){ .text = name,
					.class = keys[0]->class,
					.lo = MIN(keys[0]->lo, keys[1]->lo),
					.hi = MAX(keys[0]->hi, keys[1]->hi),
					.column = -1,
					.is_nullable = true });
	scope->time = NULL; /* two events: none is the row's */
	scope->n_rows_max *= right_scope.n_rows_max;
	p = name ? phrase_new(m->arena, PHRASE_FIXED,
			      arena_printf(m->arena, "$0 %s $1 USING (%s)", kinds[kind].word, name),
			      2, left, right)
		 : phrase_new(m->arena, PHRASE_FIXED,
			      arena_printf(m->arena, "$0 %s $1 ON $2 = $3$4", kinds[kind].word), 5,
			      left, right, keys[0], keys[1], on);
	phrase_mark(p, (left->traits | right->traits) & unions ? TRAIT_UNION_JOINED : TRAIT_NONE);
	phrase_mark(p, name ? TRAIT_USING : TRAIT_NONE);
	return phrase_mark(p, kinds[kind].trait);
}

/* --- FROM --- */

static struct phrase *tree(struct maker *m, const char *alias, struct scope *scope)
{
	return make_tree(m, scope);
}

/* Windows that rows end are of one stream of rows. */
static bool is_timed(const struct maker *m)
{
	return m->shape != SHAPE_COUNT && m->shape != SHAPE_SESSION;
}

static bool is_timed_shallow(const struct maker *m)
{
	return m->depth < 2 && is_timed(m);
}

static const struct choice sources[] = {
	{ 66, tree },
	{ 22, joined, is_timed },
	{ 10, make_derived, is_timed_shallow },
	{ 6, make_cte, is_timed_shallow },
};

struct phrase *make_from(struct maker *m, struct scope *scope)
{
	return choose(m, sources, ARRAY_SIZE(sources), make_name(m, "j"), scope);
}
