/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Selects within selects: sets and single values in conditions, and those whose columns
 * have names: in FROM, in WITH (read once or twice), as sides of a join.
 */
#include <string.h>

#include "grammar.h"

/* --- Sets and single values --- */

/* SELECT a column FROM a stream WHERE ...; letters as in make_scalar(). */
static struct phrase *of_stream(struct maker *m, const char *form)
{
	struct scope scope = { 0 };
	const struct seen *seen;
	struct phrase *from, *p;

	m->depth++;
	from = make_stream(m, rng_percent(m->rng, 60), make_name(m, "s"), &scope);
	seen = pick_column(m, &scope, PHRASE_INTEGER, false);
	p = phrase_new(m->arena, PHRASE_INTEGER, form, 3,
		       seen ? make_column(m, seen) : make_literal(m, 1), from,
		       make_where(m, &scope, 60));
	if (seen) {
		p->lo = seen->lo;
		p->hi = seen->hi;
	}
	m->depth--;
	return p;
}

struct phrase *make_set(struct maker *m, const struct scope *outer)
{
	return phrase_mark(of_stream(m, "(SELECT $0 FROM $1$2)"), TRAIT_IN_SELECT);
}

/* One of the other select's rows in sight: of the same column, where it is one of events. */
static struct phrase *correlated(struct maker *m, const struct seen *outer, const char *form)
{
	struct phrase *from, *condition, *p;
	struct scope scope = { 0 };
	const struct seen *inner, *x;

	m->depth++;
	from = make_stream(m, rng_percent(m->rng, 60), make_name(m, "s"), &scope);
	inner = pick_column(m, &scope, PHRASE_INTEGER, false);
	x = pick_column(m, &scope, PHRASE_INTEGER, false);
	if (outer->column >= 0 && !outer->is_compare_only)
		inner = &scope.columns.at[outer->column];
	condition = make(m, &scope, CONDITION, 1);
	m->depth--;
	p = phrase_new(m->arena, PHRASE_INTEGER, form, 5, from, make_column(m, inner),
		       make_column(m, outer), condition, make_column(m, x ? x : inner));
	p->lo = MIN(p->args[4]->lo, 0);
	p->hi = MAX(p->args[4]->hi, (s128)MAX(m->rows->data.n_events, 1u));
	return phrase_mark(p, TRAIT_CORRELATED);
}

struct phrase *make_scalar(struct maker *m, const struct scope *outer)
{
	static const char *const forms[] = { "(SELECT max($0) FROM $1$2)",
					     "(SELECT min($0) FROM $1$2)",
					     "(SELECT count($0) FROM $1$2)",
					     /* Those that SQLite has not */
					     "(SELECT p50($0) FROM $1$2)",
					     "(SELECT quantile($0, 0.9, log2) FROM $1$2)",
					     "(SELECT quantile_hi($0, 0.5) FROM $1$2)",
					     "(SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY "
					     "$0) FROM $1$2)",
					     "(SELECT approx_count_distinct($0) FROM $1$2)" };
	static const char *const of_outer[] = { "(SELECT count(*) FROM $0 WHERE $1 = $2 AND $3)",
						"(SELECT max($4) FROM $0 WHERE $1 = $2)",
						"(SELECT sum($4 > 1) FROM $0 WHERE $1 = $2)" };
	const struct seen *seen = pick_column(m, outer, PHRASE_INTEGER, false);
	u32 which = rng_below(m->rng, m->has_reference ? 3 : ARRAY_SIZE(forms));
	struct phrase *p;

	if (seen && rng_percent(m->rng, 25))
		return correlated(m, seen, of_outer[rng_below(m->rng, ARRAY_SIZE(of_outer))]);
	p = of_stream(m, forms[which]);
	m->has_statistic |= which > 2;
	if (which == 2) {
		p->lo = 0;
		p->hi = MAX(m->rows->data.n_events, 1u);
	}
	return phrase_mark(p, which > 2 ? TRAIT_SCALAR_STATISTIC : TRAIT_SCALAR);
}

struct phrase *make_nested_condition(struct maker *m, const struct scope *scope)
{
	static const char *const forms[] = { "($0 IN $1)", "($0 NOT IN $1)", "($0 >= $1)",
					     "coalesce($0 < $1, 1)", "($0 > $1 AND $0 < 1000)" };
	static const char *const exists[] = {
		"EXISTS (SELECT 1 FROM $0 WHERE $1 = $2 AND $3)",
		"(NOT EXISTS (SELECT 1 FROM $0 WHERE $1 = $2 AND $3))"
	};
	const struct seen *seen = pick_column(m, scope, PHRASE_INTEGER, false);
	u32 which = rng_below(m->rng, ARRAY_SIZE(forms) + 1);

	if (!seen)
		return make(m, scope, CONDITION, 2);
	if (which == ARRAY_SIZE(forms))
		return correlated(m, seen, exists[rng_percent(m->rng, 40)]);
	return phrase_new(m->arena, PHRASE_INTEGER, forms[which], 2, make_column(m, seen),
			  which < 2 ? make_set(m, scope) : make_scalar(m, scope));
}

/* --- Selects whose columns have names: the first is a key, the others are numbers --- */

enum { COLUMNS = 3 };

static void see(struct maker *m, struct scope *scope, const char *name, const struct phrase *p)
{
	if (p->class == PHRASE_REAL)
		return;
	vec_push(m->arena, &scope->columns,
		 (struct seen){
			 .text = name, .class = p->class, .lo = p->lo, .hi = p->hi, .column = -1 });
}

/* One arm; `like` has the columns of the first, which this one fits; else NULL. */
static struct phrase *arm(struct maker *m, const char *form, enum place first, enum place others,
			  struct scope *scope, const struct scope *like)
{
	struct phrase *items = phrase_new(m->arena, PHRASE_LIST, ", ", 0), *from, *key = NULL;
	struct scope inner = { 0 };

	from = make_stream(m, rng_percent(m->rng, 40), make_name(m, "a"), &inner);
	for (u32 i = 0; i < COLUMNS; i++) {
		const char *name = like ? like->columns.at[i].text : make_name(m, "c");
		struct phrase *e = make(m, &inner, i ? others : first, 1);
		struct seen *seen = like ? &like->columns.at[i] : NULL;

		if (e->class == PHRASE_REAL || (like && e->class != seen->class)) {
			e = make_column(m, pick_column(m, &inner,
						       like ? seen->class : PHRASE_INTEGER, false));
			if (i && others == GROUPED)
				e = phrase_new(m->arena, PHRASE_INTEGER, "count(*)", 0);
			else if (first == GROUPED)
				e = phrase_new(m->arena, e->class, "max($0)", 1, e);
		}
		if (i == 0)
			key = e;
		phrase_list_add(m->arena, items, make_named(m, e, name));
		see(m, scope, name, e);
		if (like) {
			seen->lo = MIN(seen->lo, e->lo);
			seen->hi = MAX(seen->hi, e->hi);
		}
	}
	scope->n_rows_max = inner.n_rows_max;
	return phrase_new(m->arena, PHRASE_FIXED, form, 4, items, from, make_where(m, &inner, 40),
			  key);
}

static struct phrase *groups(struct maker *m, struct scope *scope, const struct scope *like)
{
	return arm(m, "SELECT $0 FROM $1$2 GROUP BY $3", KEY, GROUPED, scope, like);
}

/* No key: one row, whatever happens. */
static struct phrase *one_row(struct maker *m, struct scope *scope, const struct scope *like)
{
	return arm(m, "SELECT $0 FROM $1$2", GROUPED, GROUPED, scope, like);
}

static struct phrase *distinct(struct maker *m, struct scope *scope, const struct scope *like)
{
	return arm(m, "SELECT DISTINCT $0 FROM $1$2", KEY, NUMBER, scope, like);
}

static struct phrase *plain(struct maker *m, struct scope *scope, const struct scope *like)
{
	return arm(m, "SELECT $0 FROM $1$2", KEY, NUMBER, scope, like);
}

static struct phrase *first_few(struct maker *m, struct scope *scope, const struct scope *like)
{
	return arm(m, "SELECT $0 FROM $1$2 GROUP BY $3 ORDER BY 2, 1, 3 LIMIT 4", KEY, GROUPED,
		   scope, like);
}

typedef struct phrase *(*arm_maker)(struct maker *m, struct scope *scope, const struct scope *like);

static struct phrase *union_of(struct maker *m, struct scope *scope)
{
	static const char *const words[] = { "$0 UNION ALL $1", "$0 UNION ALL $1", "$0 UNION $1",
					     "$0 EXCEPT $1", "$0 INTERSECT $1" };
	/* The first four aggregate. */
	static const arm_maker arms[] = { groups, groups, one_row, one_row, plain, distinct };
	struct scope other = { 0 };
	u32 first = rng_below(m->rng, ARRAY_SIZE(arms)),
	    second = rng_below(m->rng, ARRAY_SIZE(arms));
	struct phrase *a = arms[first](m, scope, NULL), *b, *p;

	if (scope->columns.n < COLUMNS)
		return a;
	b = arms[second](m, &other, scope);
	scope->n_rows_max += other.n_rows_max;
	p = phrase_new(m->arena, PHRASE_FIXED, words[rng_below(m->rng, ARRAY_SIZE(words))], 2, a,
		       b);
	return phrase_mark(p, MIN(first, second) < 4 ? TRAIT_COMPOUND : TRAIT_NONE);
}

struct phrase *make_columns(struct maker *m, struct scope *scope)
{
	static const struct {
		u32 weight;
		arm_maker make; /* NULL: a union of them */
	} kinds[] = { { 45, groups }, { 8, one_row },	{ 8, distinct },
		      { 5, plain },   { 6, first_few }, { 28, NULL } };
	u32 dice = rng_below(m->rng, 100), i = 0;
	struct phrase *p;

	for (; dice >= kinds[i].weight; i++)
		dice -= kinds[i].weight;
	m->depth++;
	p = kinds[i].make ? kinds[i].make(m, scope, NULL) : union_of(m, scope);
	m->depth--;
	scope->time = NULL;
	return p;
}

static void see_all(struct maker *m, struct scope *scope, const char *alias,
		    const struct scope *bare)
{
	for (u32 i = 0; i < bare->columns.n; i++) {
		struct seen seen = bare->columns.at[i];

		seen.text = arena_printf(m->arena, "%s.%s", alias, seen.text);
		seen.is_field = false;
		vec_push(m->arena, &scope->columns, seen);
	}
	scope->time = NULL;
	scope->n_rows_max = bare->n_rows_max;
}

static bool is_union(const struct phrase *select)
{
	return select->traits >> TRAIT_COMPOUND & 1;
}

struct phrase *make_derived(struct maker *m, const char *alias, struct scope *scope)
{
	struct scope bare = { 0 };
	struct phrase *select = make_columns(m, &bare), *p;

	see_all(m, scope, alias, &bare);
	p = phrase_new(m->arena, PHRASE_FIXED, arena_printf(m->arena, "($0) AS %s", alias), 1,
		       select);
	return phrase_mark(p, is_union(select) ? TRAIT_UNION_IN_FROM : TRAIT_NONE);
}

struct phrase *make_cte(struct maker *m, const char *alias, struct scope *scope)
{
	struct cte *cte;
	struct phrase *p;

	if (!m->ctes.n || rng_percent(m->rng, 25)) {
		struct cte fresh = { .name = make_name(m, "w") };
		struct phrase *select = make_columns(m, &fresh.scope);

		fresh.is_union = is_union(select);
		phrase_list_add(m->arena, m->with,
				phrase_new(m->arena, PHRASE_FIXED,
					   arena_printf(m->arena, "%s AS ($0)", fresh.name), 1,
					   select));
		vec_push(m->arena, &m->ctes, fresh);
	}
	cte = &m->ctes.at[rng_below(m->rng, m->ctes.n)];
	see_all(m, scope, alias, &cte->scope);
	p = phrase_new(m->arena, PHRASE_FIXED, arena_printf(m->arena, "%s AS %s", cte->name, alias),
		       0);
	phrase_mark(p, cte->n_reads++ ? TRAIT_WITH_TWICE : TRAIT_NONE);
	return phrase_mark(p, cte->is_union ? TRAIT_UNION_IN_WITH : TRAIT_NONE);
}
