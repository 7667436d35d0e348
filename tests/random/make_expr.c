/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Random expressions over the columns that a place can name.  Every integer carries the
 * interval its values lie in, and but for wild queries none leaves 64 bits: there SQLite
 * turns to REAL and ebql to NULL.
 */
#include <string.h>

#include "make.h"

struct phrase *make_literal(struct maker *m, s128 value)
{
	struct buf text;
	struct phrase *p;

	buf_init(&text);
	buf_put_s128(&text, value);
	if (value < 0)
		p = phrase_new(m->arena, PHRASE_INTEGER, arena_printf(m->arena, "(%s)", text.at),
			       0);
	else
		p = phrase_new(m->arena, PHRASE_INTEGER, arena_strdup(m->arena, text.at), 0);
	p->lo = p->hi = value;
	buf_free(&text);
	return p;
}

static struct phrase *quoted(struct maker *m, const char *text)
{
	struct buf out;
	struct phrase *p;

	buf_init(&out);
	buf_putc(&out, '\'');
	for (; *text; text++) {
		buf_putc(&out, *text == '$' ? 'd' : *text);
		if (*text == '\'')
			buf_putc(&out, '\'');
	}
	buf_putc(&out, '\'');
	p = phrase_new(m->arena, PHRASE_TEXT, arena_strdup(m->arena, out.at), 0);
	buf_free(&out);
	return p;
}

struct phrase *make_column(struct maker *m, const struct seen *seen)
{
	struct phrase *p = phrase_new(m->arena, seen->class, seen->text, 0);

	p->lo = seen->lo;
	p->hi = seen->hi;
	return p;
}

const struct seen *pick_column(struct maker *m, const struct scope *scope, enum phrase_class class,
			       bool is_compare)
{
	u32 n = scope->columns.n;

	for (u32 i = 0; n && i < 24; i++) {
		/* The first of a stream are its small fields and keys: these more often. */
		u32 at = rng_below(m->rng, n);
		const struct seen *seen = &scope->columns.at[at];

		if (seen->class == class && (is_compare || !seen->is_compare_only))
			return seen;
	}
	return NULL;
}

bool phrase_fits(struct maker *m, struct phrase *p)
{
	if (interval_fits(p->lo, p->hi))
		return true;
	if (!m->is_wild)
		return false;
	p->lo = MAX(MIN(p->lo, INT64_MAX), INT64_MIN);
	p->hi = MAX(MIN(p->hi, (s128)UINT64_MAX), INT64_MIN);
	return true;
}

static struct phrase *literal(struct maker *m)
{
	static const s64 ends[] = { INT8_MIN,	INT8_MAX,  UINT8_MAX, INT16_MAX,
				    UINT16_MAX, INT32_MIN, INT32_MAX, UINT32_MAX,
				    INT64_MIN,	INT64_MAX, 1ll << 32, 1ll << 53 };

	/* -2^63 is no literal of SQLite's within parentheses and minus. */
	if (rng_percent(m->rng, 8)) {
		s64 end = ends[rng_below(m->rng, ARRAY_SIZE(ends))];

		return make_literal(m, MAX(end, INT64_MIN + 1));
	}
	return make_literal(m, rng_range(m->rng, -4, 12));
}

/* A value that some row has there, or its neighbour. */
static struct phrase *near(struct maker *m, const struct seen *seen)
{
	const struct dataset *data = &m->rows->data;
	s128 v;

	if (seen->column < 0 || !data->n_events || rng_percent(m->rng, 15))
		return literal(m);
	v = data->events[rng_below(m->rng, data->n_events)].integers[seen->column] +
	    (rng_percent(m->rng, 30) ? rng_range(m->rng, -1, 1) : 0);
	if (v == INT64_MIN || (!m->is_wild && !interval_fits(v, v)) || v > UINT64_MAX)
		return literal(m);
	return make_literal(m, v);
}

static struct phrase *binary(struct maker *m, const char *op, struct phrase *a, struct phrase *b)
{
	struct phrase *p = phrase_new(m->arena, PHRASE_INTEGER,
				      arena_printf(m->arena, "($0 %s $1)", op), 2, a, b);

	p->hi = 1; /* of a comparison */
	return p;
}

/* --- Integers --- */

static bool infer(struct maker *m, const char *op, struct phrase *p)
{
	struct node a = { .lo = p->args[0]->lo, .hi = p->args[0]->hi };
	struct node b = { .lo = p->args[1]->lo, .hi = p->args[1]->hi };
	struct node node = { .text = op, .args = (struct node *[]){ &a, &b } };

	if (op[0] == '/' && a.lo == INT64_MIN && b.lo <= -1 && b.hi >= -1 && !m->is_wild)
		return false;
	if (a.lo < INT64_MIN || b.lo < INT64_MIN || a.hi > UINT64_MAX || b.hi > UINT64_MAX)
		return false;
	interval_infer(&node);
	p->lo = node.lo;
	p->hi = node.hi;
	return phrase_fits(m, p);
}

/*
 * With a column only: of constants alone the rule fold computes what a program, which computes
 * with 64 bits, has to refuse.
 */
static struct phrase *with_big(struct maker *m, const struct scope *scope, const char *op)
{
	const struct seen *seen = pick_column(m, scope, PHRASE_INTEGER, false);
	struct phrase *big = make_literal(m, (s128)UINT64_MAX - rng_below(m->rng, 2)), *p;

	if (!seen || seen->column < 0)
		return NULL;
	p = binary(m, op, make_column(m, seen), big);
	return infer(m, op, p) ? p : NULL;
}

static struct phrase *arithmetic(struct maker *m, const struct scope *scope, u32 depth)
{
	static const char *const ops[] = { "+", "-", "*", "/", "%", "&", "|", "<<", ">>" };

	if (m->is_wild && rng_percent(m->rng, 6)) {
		struct phrase *p = with_big(m, scope, ops[rng_below(m->rng, 7)]);

		if (p)
			return p;
	}
	for (u32 i = 0; i < 5; i++) {
		const char *op = ops[rng_below(m->rng, ARRAY_SIZE(ops))];
		bool is_shift = op[0] == '<' || op[0] == '>';
		struct phrase *a = make_integer(m, scope, depth - 1);
		struct phrase *b =
			is_shift ? make_literal(m, rng_below(m->rng, op[0] == '<' ? 8 : 64))
				 : make_integer(m, scope, depth - 1);
		struct phrase *p = binary(m, op, a, b);

		if (infer(m, op, p))
			return p;
	}
	return literal(m);
}

static void widen(struct phrase *p, const struct phrase *by)
{
	p->lo = MIN(p->lo, by->lo);
	p->hi = MAX(p->hi, by->hi);
}

static struct phrase *either(struct maker *m, const struct scope *scope, u32 depth)
{
	static const char *const forms[] = {
		"CASE WHEN $2 THEN $0 ELSE $1 END",
		"CASE WHEN $2 THEN $0 WHEN $1 > 1 THEN $1 END",
		"iif($2, $0, $1)",
		"iif($2, $0, NULL)",
		"CASE $0 WHEN 1 THEN $1 WHEN 2 THEN $0 END",
		"coalesce($0, $1)",
		"ifnull($0, $1)",
		"nullif($0, $1)",
		"coalesce(iif($2, $0, NULL), $1, $0)",
	};
	struct phrase *a = make_integer(m, scope, depth - 1),
		      *b = make_integer(m, scope, depth - 1);
	struct phrase *p =
		phrase_new(m->arena, PHRASE_INTEGER, forms[rng_below(m->rng, ARRAY_SIZE(forms))], 3,
			   a, b, make_condition(m, scope, depth - 1));

	p->lo = a->lo;
	p->hi = a->hi;
	widen(p, b);
	return p;
}

static struct phrase *unary(struct maker *m, const struct scope *scope, u32 depth)
{
	static const char *const forms[] = { "(-$0)", "(~$0)", "abs($0)" };
	u32 which = rng_below(m->rng, ARRAY_SIZE(forms));
	struct phrase *a = make_integer(m, scope, depth - 1);
	struct phrase *p = phrase_new(m->arena, PHRASE_INTEGER, forms[which], 1, a);

	p->lo = which == 1 ? ~a->hi : which == 0 ? -a->hi : 0;
	p->hi = which == 1 ? ~a->lo : which == 0 ? -a->lo : MAX(-a->lo, a->hi);
	return phrase_fits(m, p) ? p : a;
}

struct phrase *make_integer(struct maker *m, const struct scope *scope, u32 depth)
{
	u32 dice = rng_below(m->rng, 100);
	const struct seen *seen;

	if (depth == 0 || dice < 35) {
		seen = rng_percent(m->rng, 85) ? pick_column(m, scope, PHRASE_INTEGER, false)
					       : NULL;
		return seen ? make_column(m, seen) : literal(m);
	}
	if (dice < 75)
		return arithmetic(m, scope, depth);
	if (dice < 87)
		return either(m, scope, depth);
	if (dice < 93)
		return unary(m, scope, depth);
	return make_condition(m, scope, depth - 1);
}

/* --- Texts --- */

static const char *near_text(struct maker *m, const struct seen *seen)
{
	const struct dataset *data = &m->rows->data;

	if (seen->column < 0 || !data->n_events || rng_percent(m->rng, 20))
		return "a";
	return data->events[rng_below(m->rng, data->n_events)].texts[seen->column];
}

struct phrase *make_text(struct maker *m, const struct scope *scope)
{
	const struct seen *seen = pick_column(m, scope, PHRASE_TEXT, true);

	return seen ? make_column(m, seen) : quoted(m, "b");
}

static struct phrase *like(struct maker *m, const struct seen *seen)
{
	static const char *const forms[] = { "($0 LIKE $1)", "($0 NOT LIKE $1)", "($0 GLOB $1)" };
	u32 which = rng_below(m->rng, ARRAY_SIZE(forms));
	const char *text = near_text(m, seen), *any = which == 2 ? "*" : "%";
	char one = which == 2 ? '?' : '_';
	char pattern[80];
	u32 n = 0;

	for (; *text && n < 60; text++) {
		u32 dice = rng_below(m->rng, 10);

		if (dice == 0)
			pattern[n++] = any[0];
		else if (dice == 1 || *text == '[')
			pattern[n++] = one;
		else
			pattern[n++] = *text;
	}
	if (rng_percent(m->rng, 50))
		pattern[n++] = any[0];
	return phrase_new(m->arena, PHRASE_INTEGER, forms[which], 2, make_column(m, seen),
			  quoted(m, arena_strndup(m->arena, pattern, n)));
}

static struct phrase *text_condition(struct maker *m, const struct scope *scope)
{
	static const char *const ops[] = { "=", "<>", "<", "<=", ">", ">=", "IS", "IS NOT" };
	const struct seen *seen = pick_column(m, scope, PHRASE_TEXT, true);
	struct phrase *a, *b;

	if (!seen)
		return literal(m);
	if (rng_percent(m->rng, 35))
		return like(m, seen);
	a = make_column(m, seen);
	b = rng_percent(m->rng, 30) ? make_text(m, scope) : quoted(m, near_text(m, seen));
	if (rng_percent(m->rng, 20))
		return phrase_new(m->arena, PHRASE_INTEGER,
				  rng_percent(m->rng, 50) ? "($0 IN ($1, 'b', ''))"
							  : "($0 NOT IN ($1, NULL))",
				  2, a, b);
	return binary(m, ops[rng_below(m->rng, ARRAY_SIZE(ops))], a, b);
}

/* --- Conditions --- */

static struct phrase *comparison(struct maker *m, const struct scope *scope, u32 depth)
{
	static const char *const ops[] = { "=",	 "==", "<>", "!=", "<",
					   "<=", ">",  ">=", "IS", "IS NOT" };
	const char *op = ops[rng_below(m->rng, ARRAY_SIZE(ops))];
	const struct seen *seen = pick_column(m, scope, PHRASE_INTEGER, true);

	if (seen && (!depth || rng_percent(m->rng, 50)))
		return binary(m, op, make_column(m, seen), near(m, seen));
	return binary(m, op, make_integer(m, scope, depth ? depth - 1 : 0),
		      make_integer(m, scope, depth ? depth - 1 : 0));
}

static struct phrase *membership(struct maker *m, const struct scope *scope, u32 depth)
{
	static const char *const forms[] = { "($0 BETWEEN $1 AND $2)", "($0 NOT BETWEEN $1 AND $2)",
					     "($0 IN ($1, $2, 3))", "($0 NOT IN ($1, $2))",
					     "($0 IN ($1, NULL, $2))" };
	const struct seen *seen = pick_column(m, scope, PHRASE_INTEGER, true);
	const char *form = forms[rng_below(m->rng, ARRAY_SIZE(forms))];
	struct phrase *p;

	if (!seen)
		return literal(m);
	p = phrase_new(m->arena, PHRASE_INTEGER, form, 3, make_column(m, seen), near(m, seen),
		       near(m, seen));
	p->hi = 1;
	return p;
}

struct phrase *make_condition(struct maker *m, const struct scope *scope, u32 depth)
{
	u32 dice = rng_below(m->rng, 100);
	struct phrase *p;

	if (depth && dice < 22)
		return binary(m, dice < 12 ? "AND" : "OR", make_condition(m, scope, depth - 1),
			      make_condition(m, scope, depth - 1));
	if (depth && dice < 28) {
		p = phrase_new(m->arena, PHRASE_INTEGER, "(NOT $0)", 1,
			       make_condition(m, scope, depth - 1));
		p->hi = 1;
		return p;
	}
	if (dice < 58)
		return comparison(m, scope, depth);
	if (dice < 63) /* not zero is true */
		return make_integer(m, scope, depth ? depth - 1 : 0);
	if (dice < 74)
		return membership(m, scope, depth);
	if (dice < 90)
		return text_condition(m, scope);
	p = phrase_new(m->arena, PHRASE_INTEGER, dice < 95 ? "($0 IS NULL)" : "($0 IS NOT NULL)", 1,
		       make_integer(m, scope, depth ? depth - 1 : 0));
	p->hi = 1;
	return p;
}

struct phrase *make_key(struct maker *m, const struct scope *scope)
{
	bool is_text = rng_percent(m->rng, 25);
	const struct seen *seen =
		pick_column(m, scope, is_text ? PHRASE_TEXT : PHRASE_INTEGER, true);
	struct phrase *p;

	if (!seen)
		seen = &scope->columns.at[0];
	if (is_text || seen->is_compare_only || seen->class != PHRASE_INTEGER ||
	    rng_percent(m->rng, 55))
		return make_column(m, seen);
	if (rng_percent(m->rng, 40)) {
		p = binary(m, "%", make_column(m, seen), make_literal(m, 2 + rng_below(m->rng, 4)));
		return infer(m, "%", p) ? p : p->args[0];
	}
	p = phrase_new(m->arena, PHRASE_INTEGER, "CASE WHEN $0 THEN $1 END", 2,
		       make_condition(m, scope, 1), make_column(m, seen));
	p->lo = seen->lo;
	p->hi = seen->hi;
	return p;
}

/* --- Aggregates --- */

static struct phrase *argument(struct maker *m, const struct scope *scope)
{
	const struct seen *seen = pick_column(m, scope, PHRASE_INTEGER, false);

	if (seen && rng_percent(m->rng, 60))
		return make_column(m, seen);
	return make_integer(m, scope, 2);
}

static struct phrase *filter(struct maker *m, const struct scope *scope)
{
	struct phrase *p = phrase_new(m->arena, PHRASE_FIXED, " FILTER (WHERE $0)", 1,
				      make_condition(m, scope, 1));

	p->is_optional = true;
	p->is_gone = !rng_percent(m->rng, 20);
	return p;
}

static s128 magnitude(const struct phrase *p)
{
	return MAX(p->lo < 0 ? -p->lo : p->lo, p->hi < 0 ? -p->hi : p->hi);
}

static struct phrase *summed(struct maker *m, struct phrase *arg, struct phrase *filter, u32 n_rows)
{
	struct phrase *p = phrase_new(m->arena, PHRASE_INTEGER, "sum($0)$1", 2, arg, filter);

	p->lo = MIN(arg->lo * n_rows, 0);
	p->hi = MAX(arg->hi * n_rows, 0);
	return phrase_fits(m, p) ? p : NULL;
}

static struct phrase *averaged(struct maker *m, struct phrase *arg, struct phrase *filter,
			       u32 n_rows)
{
	struct phrase *p;

	if (!m->is_wild && magnitude(arg) * n_rows > INT64_MAX)
		return NULL;
	p = phrase_new(m->arena, PHRASE_REAL, "avg($0)$1", 2, arg, filter);
	p->sqlite = "(CAST(sum($0)$1 AS REAL) / nullif(count($0)$1, 0))";
	return p;
}

static struct phrase *deviation(struct maker *m, struct phrase *arg, struct phrase *filter,
				u32 n_rows)
{
	bool is_population = rng_percent(m->rng, 40);
	s128 most = magnitude(arg);
	struct phrase *p;

	if (!m->is_wild && (most >> 31 || most * most * n_rows > INT64_MAX))
		return NULL;
	p = phrase_new(m->arena, PHRASE_REAL, is_population ? "stddev_pop($0)$1" : "stddev($0)$1",
		       2, arg, filter);
	p->sqlite = is_population ? "ref_stddev(count($0)$1, sum($0)$1, sum($0 * $0)$1, 1)"
				  : "ref_stddev(count($0)$1, sum($0)$1, sum($0 * $0)$1, 0)";
	return p;
}

/* min, max, first, last, and counts. */
static struct phrase *of_range(struct maker *m, const char *form, const char *reference,
			       struct phrase *arg, struct phrase *filter, const struct scope *scope)
{
	bool is_count = form[0] == 'c';
	struct phrase *p =
		phrase_new(m->arena, is_count ? PHRASE_INTEGER : arg->class, form, 2, arg, filter);

	if (reference)
		p->sqlite = arena_printf(m->arena, "%s($0, %s)$1", reference, scope->time);
	p->lo = is_count ? 0 : arg->lo;
	p->hi = is_count ? scope->n_rows_max : arg->hi;
	return p;
}

/* What SQLite has no function for: compared among the ways that have it. */
static struct phrase *statistic(struct maker *m, struct phrase *arg, struct phrase *filter)
{
	static const char *const forms[] = { "histogram($0)$1",
					     "histogram($0, linear(0, 100, 7))$1",
					     "p90($0)$1",
					     "quantile_lo($0, 0.5)$1",
					     "quantile_hi($0, 0.99)$1",
					     "quantiles($0, 0.25, 0.75, loglinear(2))$1",
					     "approx_count_distinct($0)$1" };

	m->has_opaque = true;
	return phrase_new(m->arena, PHRASE_REAL, forms[rng_below(m->rng, ARRAY_SIZE(forms))], 2,
			  arg, filter);
}

struct phrase *make_aggregate(struct maker *m, const struct scope *scope)
{
	struct phrase *arg = argument(m, scope), *only = filter(m, scope), *p = NULL;

	switch (rng_below(m->rng, 13)) {
	case 0:
	case 1:
		return of_range(m, "count(*)$1", NULL, arg, only, scope);
	case 2:
		if (rng_percent(m->rng, 30))
			arg = make_text(m, scope);
		return of_range(m, "count($0)$1", NULL, arg, only, scope);
	case 3:
		only->is_gone = true;
		if (rng_percent(m->rng, 30))
			arg = make_text(m, scope);
		return of_range(m, "count(DISTINCT $0)", NULL, arg, only, scope);
	case 4:
	case 5:
		p = summed(m, arg, only, scope->n_rows_max);
		break;
	case 6:
		return of_range(m, "min($0)$1", NULL, arg, only, scope);
	case 7:
		return of_range(m, "max($0)$1", NULL, arg, only, scope);
	case 8:
		p = averaged(m, arg, only, scope->n_rows_max);
		break;
	case 9:
		p = deviation(m, arg, only, scope->n_rows_max);
		break;
	case 10:
		if (scope->time)
			return of_range(m, "first($0)$1", "ref_first", arg, only, scope);
		break;
	case 11:
		if (scope->time)
			return of_range(m, "last($0)$1", "ref_last", arg, only, scope);
		break;
	default:
		if (m->is_wild)
			return statistic(m, arg, only);
	}
	return p ? p : of_range(m, "max($0)$1", NULL, arg, only, scope);
}
