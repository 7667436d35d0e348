/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Draws from the grammar (grammar.c) over the columns that a place can name.  Every integer
 * carries the interval its values lie in, and but for wild queries none leaves 64 bits:
 * there SQLite turns to REAL and ebql to NULL.
 */
#include <string.h>

#include "grammar.h"

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

struct phrase *make_optional(struct maker *m, const char *form, struct phrase *arg, u32 percent)
{
	struct phrase *p = phrase_new(m->arena, PHRASE_FIXED, form, 1, arg);

	p->is_optional = true;
	p->is_gone = !rng_percent(m->rng, percent);
	return p;
}

struct phrase *make_named(struct maker *m, struct phrase *e, const char *name)
{
	/* Nobody need read it. */
	m->spares_faults |= e->may_fault;
	return phrase_new(m->arena, PHRASE_FIXED, arena_printf(m->arena, "$0 AS %s", name), 1, e);
}

struct phrase *make_column(struct maker *m, const struct seen *seen)
{
	struct phrase *p = phrase_new(m->arena, seen->class, seen->text, 0);

	p->lo = seen->lo;
	p->hi = seen->hi;
	p->is_nullable = seen->is_nullable || seen->column < 0;
	p->may_fault = seen->column < 0;
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
	for (u32 i = 0; i < n; i++)
		if (scope->columns.at[i].class == class &&
		    (is_compare || !scope->columns.at[i].is_compare_only))
			return &scope->columns.at[i];
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

/* --- Intervals --- */

static s128 magnitude(const struct phrase *p)
{
	return MAX(p->lo < 0 ? -p->lo : p->lo, p->hi < 0 ? -p->hi : p->hi);
}

static bool infer_binary(struct maker *m, char op, struct phrase *p)
{
	struct interval a = { p->args[0]->lo, p->args[0]->hi },
			b = { p->args[1]->lo, p->args[1]->hi }, r;

	if (op == '/' && a.lo == INT64_MIN && b.lo <= -1 && b.hi >= -1 && !m->is_wild)
		return false;
	if (a.lo < INT64_MIN || b.lo < INT64_MIN || a.hi > UINT64_MAX || b.hi > UINT64_MAX)
		return false;
	r = interval_infer(op, a, b);
	p->lo = r.lo;
	p->hi = r.hi;
	return true;
}

/* false: such values may leave 64 bits. */
static bool infer(struct maker *m, const struct scope *scope, const struct production *of,
		  struct phrase *p)
{
	const struct phrase *a = p->n_args ? p->args[0] : NULL, *b = p->n_args > 1 ? p->args[1] : a;
	u32 n = scope->n_rows_max;

	switch (of->range) {
	case RANGE_NONE:
	case RANGE_TEXT:
		p->lo = INT64_MIN + 1;
		p->hi = INT64_MAX;
		return true;
	case RANGE_TRUTH:
		p->lo = 0;
		p->hi = 1;
		return true;
	case RANGE_SMALL:
		p->lo = -200;
		p->hi = 1 << 21;
		return true;
	case RANGE_COUNT:
		p->lo = 0;
		p->hi = n;
		return true;
	case RANGE_FIRST:
		p->lo = a->lo;
		p->hi = a->hi;
		return true;
	case RANGE_BOTH:
		p->lo = MIN(a->lo, b->lo);
		p->hi = MAX(a->hi, b->hi);
		return true;
	case RANGE_AROUND:
		p->lo = MIN(a->lo, 0);
		p->hi = MAX(a->hi, 0);
		return true;
	case RANGE_BITS:
		for (p->hi = 1; p->hi <= a->hi || -p->hi > a->lo; p->hi *= 2)
			;
		p->lo = a->lo < 0 ? -p->hi : 0;
		p->hi--;
		return true;
	case RANGE_BINARY:
		return infer_binary(m, of->sign, p) && phrase_fits(m, p);
	case RANGE_SHIFTED:
		p->lo = MIN(a->lo * 128, a->lo);
		p->hi = MAX(a->hi * 128, a->hi);
		return phrase_fits(m, p);
	case RANGE_NEGATED:
		p->lo = -a->hi;
		p->hi = -a->lo;
		return phrase_fits(m, p);
	case RANGE_INVERTED:
		p->lo = ~a->hi;
		p->hi = ~a->lo;
		return phrase_fits(m, p);
	case RANGE_ABSOLUTE:
		p->lo = 0;
		p->hi = magnitude(a);
		return phrase_fits(m, p);
	case RANGE_SUM:
		p->lo = MIN(a->lo * n, 0);
		p->hi = MAX(a->hi * n, 0);
		return phrase_fits(m, p);
	case RANGE_SQUARES:
		return m->is_wild ||
		       (!(magnitude(a) >> 31) && magnitude(a) * magnitude(a) * n <= INT64_MAX);
	}
	BUG("range %d", of->range);
}

/* --- Arguments --- */

static const char *near_text(struct maker *m, const struct seen *seen)
{
	const struct dataset *data = &m->rows->data;

	if (seen->column < 0 || !data->n_events || rng_percent(m->rng, 20))
		return "a";
	return data->events[rng_below(m->rng, data->n_events)].texts[seen->column];
}

/* A text of some row, with parts of it any. */
static struct phrase *pattern(struct maker *m, const struct seen *seen, bool is_glob)
{
	const char *text = near_text(m, seen), *any = is_glob ? "*" : "%";
	char one = is_glob ? '?' : '_';
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
	return quoted(m, arena_strndup(m->arena, pattern, n));
}

static struct phrase *filter(struct maker *m, const struct scope *scope)
{
	return phrase_mark(make_optional(m, " FILTER (WHERE $0)", make(m, scope, CONDITION, 1), 20),
			   TRAIT_FILTER);
}

static struct phrase *small(struct maker *m, const struct scope *scope)
{
	const struct seen *seen = pick_column(m, scope, PHRASE_INTEGER, false);
	bool is_small = seen && seen->column >= 0 && !column_infos[seen->column].is_text &&
			column_infos[seen->column].size_bytes < 8;

	return is_small ? make_column(m, seen) : make_literal(m, 2);
}

/* A field of an event, of that alias' or (NULL) of any. */
static const struct seen *pick_field(struct maker *m, const struct scope *scope, s32 column,
				     const char *alias)
{
	u32 n = scope->columns.n, start = n ? rng_below(m->rng, n) : 0;

	for (u32 i = 0; i < n; i++) {
		const struct seen *seen = &scope->columns.at[(start + i) % n];
		bool is_wanted = column >= 0
					 ? seen->column == column
					 : seen->class == PHRASE_INTEGER && !seen->is_compare_only;

		if (seen->is_field && is_wanted &&
		    (!alias || strncmp(seen->text, alias, strlen(alias)) == 0))
			return seen;
	}
	return NULL;
}

/* Of `bytes`, which stands where f_u8 and f_s8 do; by a number, or computed of the same event. */
static struct phrase *element(struct maker *m, const struct scope *scope)
{
	static const char *const forms[] = { "$0", "($0 % 3)", "nullif($0, 1)",
					     "CASE WHEN $0 > 0 THEN 1 ELSE $0 END" };
	const struct seen *first = pick_field(m, scope, C_U8, NULL), *seen;
	struct phrase *index, *p;
	const char *alias;

	if (!first)
		return NULL;
	alias = arena_printf(m->arena, "%.*s", (int)strcspn(first->text, ".") + 1, first->text);
	seen = rng_percent(m->rng, 30) ? NULL : pick_field(m, scope, -1, alias);
	index = seen ? phrase_new(m->arena, PHRASE_FIXED,
				  forms[rng_below(m->rng, ARRAY_SIZE(forms))], 1,
				  make_column(m, seen))
		     : phrase_new(m->arena, PHRASE_FIXED, rng_percent(m->rng, 50) ? "0" : "1", 0);
	p = phrase_new(m->arena, PHRASE_INTEGER, arena_printf(m->arena, "%sbytes[$0]", alias), 1,
		       index);
	p->sqlite =
		arena_printf(m->arena, "(CASE $0 WHEN 0 THEN %sf_u8 WHEN 1 THEN %sf_s8 & 255 END)",
			     alias, alias);
	p->hi = UINT8_MAX;
	p->is_nullable = true;
	return phrase_mark(p, TRAIT_ELEMENT);
}

/* One argument; `seen` is the column that the first one is, for those that are near it. */
static struct phrase *argument(struct maker *m, const struct scope *scope, char letter, u32 depth,
			       const struct seen **seen)
{
	u32 less = depth ? depth - 1 : 0;

	switch (letter) {
	case 'n':
		return make(m, scope, NUMBER, less);
	case 'w':
		return make(m, scope, WORD, less);
	case 'c':
		return make(m, scope, CONDITION, less);
	case 't':
		return make(m, scope, TEXT, less);
	case 'r':
		return make(m, scope, REAL, less);
	case 'A':
		return make(m, scope, GROUPED, 1);
	case 'M':
		return make(m, scope, MEASURE, 1);
	case 'k':
		return make(m, scope, KEY, 1);
	case 'f':
		return filter(m, scope);
	case 'l':
		return literal(m);
	case 'R':
		return small(m, scope);
	case 's':
		return make_literal(m, rng_below(m->rng, 8));
	case 'S':
		return make_literal(m, rng_below(m->rng, 64));
	case 'D':
		return make_literal(m, 2 + rng_below(m->rng, 4));
	case 'B':
		return make_literal(m, (s128)UINT64_MAX - rng_below(m->rng, 2));
	case 'e':
		return element(m, scope);
	case 'p':
		*seen = pick_field(m, scope, C_PTR, NULL);
		return *seen ? make_column(m, *seen) : NULL;
	case 'K':
		return phrase_new(m->arena, PHRASE_FIXED, scope->time, 0);
	case 'x':
		return *seen ? near(m, *seen) : literal(m);
	case 'X':
		return quoted(m, *seen ? near_text(m, *seen) : "b");
	case 'P':
	case 'G':
		return *seen ? pattern(m, *seen, letter == 'G') : quoted(m, "b");
	case 'a':
		if (rng_percent(m->rng, 40))
			return make(m, scope, NUMBER, 2);
		/* fallthrough */
	case 'v':
	case 'N':
		*seen = letter == 'v' && rng_percent(m->rng, 15)
				? NULL
				: pick_column(m, scope, PHRASE_INTEGER, false);
		return *seen ? make_column(m, *seen) : letter == 'N' ? NULL : literal(m);
	case 'C':
		*seen = pick_column(m, scope, PHRASE_INTEGER, true);
		return *seen ? make_column(m, *seen) : literal(m);
	case 'T':
		*seen = pick_column(m, scope, PHRASE_TEXT, true);
		return *seen ? make_column(m, *seen) : quoted(m, "b");
	}
	BUG("letter '%c'", letter);
}

/* --- Productions --- */

/* Nothing in it goes deeper. */
static bool is_leaf(const struct production *p)
{
	return !strpbrk(p->args, "nwctr");
}

static bool may_stand(const struct maker *m, const struct scope *scope, const struct production *p,
		      enum place place, u32 depth)
{
	if (p->place != place || (!depth && place <= TEXT && !is_leaf(p)))
		return false;
	if (p->sqlite && !*p->sqlite && m->has_reference)
		return false;
	if ((p->flags & OF_USER_SPACE) && m->is_running && m->shape != SHAPE_NONE)
		return false;
	if ((p->flags & WILD) && !m->is_wild)
		return false;
	if ((p->flags & NO_BIG) && m->is_wild)
		return false;
	if ((p->flags & UNTIED) && m->rows->has_ties)
		return false;
	/* Each session is a window of its own, for SQLite they are groups of one. */
	if (p->trait == TRAIT_OVER_GROUPS && m->shape == SHAPE_SESSION)
		return false;
	return scope->time || !((p->flags & TIMED) || strchr(p->args, 'K'));
}

static const struct production *draw(struct maker *m, const struct scope *scope, enum place place,
				     u32 depth)
{
	u32 total = 0, dice;

	for (u32 i = 0; i < n_productions; i++)
		if (may_stand(m, scope, &productions[i], place, depth))
			total += productions[i].weight;
	BUG_ON(!total);
	dice = rng_below(m->rng, total);
	for (u32 i = 0;; i++) {
		if (!may_stand(m, scope, &productions[i], place, depth))
			continue;
		if (dice < productions[i].weight)
			return &productions[i];
		dice -= productions[i].weight;
	}
}

/* $T -> the row's time */
static const char *with_time(struct maker *m, const struct scope *scope, const char *form)
{
	const char *at = form ? strstr(form, "$T") : NULL;

	return at ? arena_printf(m->arena, "%.*s%s%s", (int)(at - form), form, scope->time, at + 2)
		  : form;
}

static enum phrase_class class_of(const struct production *of, const struct phrase *p)
{
	if (of->place == TEXT || of->range == RANGE_TEXT)
		return PHRASE_TEXT;
	if (of->place == REAL || (of->flags & OPAQUE) || of->place == OVER)
		return PHRASE_REAL;
	if (of->range == RANGE_FIRST || of->range == RANGE_BOTH)
		return p->args[0]->class;
	return PHRASE_INTEGER;
}

static const enum trait place_traits[PLACE_N] = {
	[HAVING] = TRAIT_HAVING, [OVER] = TRAIT_OVER, [RUNNING] = TRAIT_RUNNING
};

/* Of its words or its arguments; and does a NULL among these spare what could fault? */
static void infer_faults(struct maker *m, const struct production *of, struct phrase *p)
{
	bool is_case = strstr(of->ebql, "CASE");

	p->is_nullable = strcasestr(of->ebql, "null") || of->place >= GROUPED ||
			 (is_case && !strstr(of->ebql, "ELSE"));
	/* In wild queries all arithmetic may leave 64 bits. */
	p->may_fault = m->is_wild && strpbrk(of->ebql, "+-*/%<~");
	if ((of->flags & MAY_FAULT) && p->args[1]->lo <= 0 && p->args[1]->hi >= 0)
		p->may_fault = m->may_fault = true;
	for (u32 i = 0; i < p->n_args; i++) {
		m->spares_faults |= (p->is_nullable || of->trait == TRAIT_BRANCH ||
				     of->trait == TRAIT_MIXED_BRANCH) &&
				    p->args[i]->may_fault;
		p->is_nullable |= p->args[i]->is_nullable;
		p->may_fault |= p->args[i]->may_fault;
	}
	p->is_nullable |= p->may_fault;
}

/* NULL: of these arguments it may leave 64 bits, or there is no such column. */
static struct phrase *produce(struct maker *m, const struct scope *scope,
			      const struct production *of, u32 depth)
{
	struct phrase *p = phrase_new(m->arena, PHRASE_INTEGER, of->ebql, 0);
	const struct seen *seen = NULL;

	p->args = arena_array(m->arena, struct phrase *, strlen(of->args) + 1);
	for (; of->args[p->n_args]; p->n_args++) {
		p->args[p->n_args] = argument(m, scope, of->args[p->n_args], depth, &seen);
		if (!p->args[p->n_args])
			return NULL;
	}
	p->sqlite = with_time(m, scope, of->sqlite);
	if (!infer(m, scope, of, p))
		return NULL;
	p->class = class_of(of, p);
	infer_faults(m, of, p);
	m->has_opaque |= (of->flags & OPAQUE) != 0;
	phrase_mark(p, of->trait ? of->trait : place_traits[of->place]);
	/* Alone it is its argument: nothing to look through when it is made smaller. */
	return strcmp(of->ebql, "$0") == 0 && !of->sqlite ? p->args[0] : p;
}

struct phrase *make(struct maker *m, const struct scope *scope, enum place place, u32 depth)
{
	/* Of numbers of 64 bits without sign SQLite makes no real ones. */
	if (place == REAL && m->is_wild)
		place = NUMBER;
	for (u32 i = 0; i < 12; i++) {
		struct phrase *p = produce(m, scope, draw(m, scope, place, depth), depth);

		if (p)
			return p;
	}
	switch (place) {
	case GROUPED:
	case MEASURE:
	case BEHIND:
		return phrase_new(m->arena, PHRASE_REAL, "count(*)", 0);
	case KEY:
		return make_column(m, &scope->columns.at[0]);
	default:
		return literal(m);
	}
}
