/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Arithmetic at the ends of 64 bits, where SQLite turns to REAL: every operator
 * over every pair of boundary values against 128-bit arithmetic.  A result that
 * does not fit is NULL and counted; all others are exact.
 */
#include <string.h>

#include "replay.h"

static const s64 signed_ends[] = {
	INT64_MIN,
	INT64_MIN + 1,
	-(1ll << 62),
	-4294967297,
	-4294967296,
	-3037000500,
	-1000,
	-2,
	-1,
	0,
	1,
	2,
	1000,
	3037000499,
	3037000500,
	4294967296,
	4294967297,
	1ll << 62,
	INT64_MAX - 1,
	INT64_MAX,
};

static const u64 unsigned_ends[] = {
	0,	    1,		2,	   1000,       4294967295,	 4294967296,
	4294967297, 1ull << 62, INT64_MAX, 1ull << 63, (1ull << 63) + 1, UINT64_MAX - 1,
	UINT64_MAX,
};

static const char ops[] = { '+', '-', '*', '/', '%' };

/* False: NULL, because b is 0 or the result leaves [lo, hi]. */
static bool compute(char op, s128 a, s128 b, s128 lo, s128 hi, s128 *ret)
{
	switch (op) {
	case '+':
		*ret = a + b;
		break;
	case '-':
		*ret = a - b;
		break;
	case '*':
		if (__builtin_mul_overflow(a, b, ret))
			return false;
		break;
	default:
		if (b == 0)
			return false;
		*ret = op == '/' ? a / b : a % b;
	}
	return *ret >= lo && *ret <= hi;
}

struct check {
	struct replayer *engine;
	struct engine_options options;
	const struct dataset *dataset;
	struct arena *arena;
	struct buf *report;
	u32 n_wrong;
};

/*
 * One query over all events: the value of a column `op` a literal, or of the literal
 * `op` the column, for each value of the column.
 */
static void check_one(struct check *c, u32 column, char op, s128 literal, bool is_left, s128 lo,
		      s128 hi)
{
	const char *name = column_infos[column].name, *error = NULL;
	struct result expected = { .n_columns = 3, .other_row = -1 }, got;
	u64 n_faults = 0;
	struct buf sql;

	buf_init(&sql);
	buf_printf(&sql, "SELECT %s AS k, min(", name);
	if (is_left)
		buf_put_s128(&sql, literal);
	buf_printf(&sql, "%s %c %s", is_left ? "" : name, op, is_left ? name : "");
	if (!is_left)
		buf_put_s128(&sql, literal);
	buf_printf(&sql, ") AS v, count(*) AS n FROM " REPLAY_STREAM " GROUP BY %s", name);
	for (u32 i = 0; i < c->dataset->n_events; i++) {
		s128 x = c->dataset->events[i].integers[column];
		struct value row[3] = { { .kind = VALUE_INT, .integer = x },
					{ .kind = VALUE_NULL },
					{ .kind = VALUE_INT, .integer = 1 } };

		if (compute(op, is_left ? literal : x, is_left ? x : literal, lo, hi,
			    &row[1].integer))
			row[1].kind = VALUE_INT;
		else
			n_faults++;
		result_add_row(&expected, c->arena, row);
	}
	result_sort(&expected);
	if (replayer_run(c->engine, sql.at, &c->options, c->dataset->events, c->dataset->n_events,
			 c->arena, &got, &error)) {
		result_sort(&got);
		if (result_equal(&expected, &got) && got.lost[LOSS_FAULT] == n_faults)
			goto out;
	}
	if (c->n_wrong++ < 5) {
		buf_printf(c->report, "%s\n  %s, expected (%llu faults):\n", sql.at,
			   *c->options.rules_off ? "rules off" : "rules on",
			   (unsigned long long)n_faults);
		result_print(&expected, c->report);
		buf_puts(c->report, "  got:\n");
		if (error)
			buf_printf(c->report, "    %s\n", error);
		else
			result_print(&got, c->report);
	}
out:
	buf_free(&sql);
}

/* Differences that are never negative, whatever the column holds, are unsigned. */
static bool is_never_negative(char op, s64 literal, bool is_left)
{
	return op == '-' && literal == (is_left ? INT64_MAX : INT64_MIN);
}

static void check_signed(struct check *c)
{
	for (u32 o = 0; o < sizeof(ops); o++) {
		for (u32 i = 0; i < ARRAY_SIZE(signed_ends); i++) {
			for (u32 is_left = 0; is_left < 2; is_left++) {
				bool is_unsigned =
					is_never_negative(ops[o], signed_ends[i], is_left);

				check_one(c, C_S64, ops[o], signed_ends[i], is_left,
					  is_unsigned ? 0 : INT64_MIN,
					  is_unsigned ? (s128)UINT64_MAX : INT64_MAX);
			}
		}
	}
}

/* Without a negative value in reach the result is unsigned; a difference is signed. */
static void check_unsigned(struct check *c)
{
	for (u32 o = 0; o < sizeof(ops); o++) {
		for (u32 i = 0; i < ARRAY_SIZE(unsigned_ends); i++) {
			for (u32 is_left = 0; is_left < 2; is_left++) {
				bool is_signed =
					ops[o] == '-' && (is_left ? unsigned_ends[i] != UINT64_MAX
								  : unsigned_ends[i] != 0);

				check_one(c, C_U64, ops[o], unsigned_ends[i], is_left,
					  is_signed ? INT64_MIN : 0,
					  is_signed ? INT64_MAX : (s128)UINT64_MAX);
			}
		}
	}
}

static void fill(struct dataset *dataset, struct arena *arena, u32 column)
{
	u32 n = column == C_S64 ? ARRAY_SIZE(signed_ends) : ARRAY_SIZE(unsigned_ends);
	struct rng rng = { 5 };

	dataset->n_events = n;
	dataset->events = arena_array(arena, struct event, n);
	for (u32 i = 0; i < n; i++) {
		event_init(&dataset->events[i]);
		dataset->events[i].integers[column] =
			column == C_S64 ? (s128)signed_ends[i] : (s128)unsigned_ends[i];
		event_encode(&dataset->events[i], arena, &rng);
	}
}

u32 overflow_check(struct replayer *engine, u64 seed, struct buf *report)
{
	static const char *const rules_off[] = { "", "all" };
	struct check c = { .engine = engine, .report = report };
	struct dataset dataset = { 0 };
	struct arena arena;

	arena_init(&arena);
	c.arena = &arena;
	c.dataset = &dataset;
	for (u32 i = 0; i < ARRAY_SIZE(rules_off); i++) {
		c.options = (struct engine_options){ rules_off[i], "auto", 0 };
		fill(&dataset, &arena, C_S64);
		check_signed(&c);
		fill(&dataset, &arena, C_U64);
		check_unsigned(&c);
	}
	arena_free(&arena);
	return c.n_wrong;
}
