/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * PAIR JOIN and ASOF JOIN over recorded events: rows and left-overs of random starts and
 * ends against a list that is searched from end to end.
 *
 * EBQL_SEED.  EBQL_EVENTS: how many for each configuration.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "pair.h"

enum { N_EVENTS = 20000 };

#define TIMES "a.time, b.time, a.time - b.time"

static const struct configuration configurations[] = {
	{ "one key", "f_u8", 3, TIMES },
	{ "one value, twelve deep: the oldest give way", "f_u8", 1, TIMES, .most = 12 },
	{ "six values, twelve deep: only the ledger", "f_u8", 6, TIMES, .most = 40 },
	{ "two keys, one a text", "name, f_s16", 2, TIMES ", b.name", .max_in_flight = 4096 },
	{ "a long text key", "dl", 4, TIMES ", b.path" },
	{ "comm and tid", "comm, tid", 2, TIMES ", b.comm" },
	{ "signed keys", "f_s64, f_s8", 2, TIMES },
	{ "NULL keys", "f_u16", 3, TIMES, .keys_may_be_null = true },
	{ "LEFT, NULL keys", "f_u16", 3, TIMES ", b.f_s32, b.path", .is_left = true,
	  .keys_may_be_null = true },
	{ "WITHIN", "f_u8", 4, TIMES, .within_ns = 2000 },
	{ "WITHIN without times in the rows", "f_u8", 4, "a.f_u32, b.f_u32", .within_ns = 1500,
	  .is_skewed = true },
	{ "LEFT WITHIN", "f_u8", 4, TIMES ", b.f_u8", .is_left = true, .within_ns = 1500 },
	{ "clocks that differ", "f_u8", 3, TIMES, .is_skewed = true },
	{ "every column stored", "f_u8", 3,
	  "a.time, b.f_u8, b.f_s8, b.f_u16, b.f_s16, b.f_u32, b.f_s32, b.f_u64, b.f_s64, b.flag, "
	  "b.name, b.path, b.dl, b.ptr, b.pid, b.tid, b.ppid, b.uid, b.gid, b.comm, b.cpu, "
	  "b.cgroup, b.numa_node, a.comm, a.path" },
	{ "stored columns that may be NULL", "f_u8", 3,
	  TIMES ", iif(b.flag, b.f_s8, NULL), iif(b.flag, b.f_u64, NULL), "
		"iif(b.flag, b.name, NULL), iif(b.flag, b.dl, NULL), b.flag, b.f_s16 * 2" },
	{ "LEFT, stored columns that may be NULL", "f_u8", 5,
	  TIMES ", iif(b.flag, b.f_s8, NULL), iif(b.flag, b.path, NULL), b.f_s16 * 2",
	  .is_left = true },
	{ "the same event on both sides", "f_u8", 5, TIMES ", b.f_s64", .right = RIGHT_SAME },
	{ "a filtered right side", "f_u8", 3, TIMES ", b.f_u16", .right = RIGHT_FILTERED },
	{ "a union on the right side", "f_u8", 3, TIMES ", b.f_s32, b.path, b.pid",
	  .right = RIGHT_UNION },
	{ "WHERE on the left, behind the join", "f_u8", 2, TIMES ", a.f_u16",
	  .where = "a.f_u16 < 30000" },
	{ "WHERE on the right, behind the join", "f_u8", 2, TIMES ", b.f_u16",
	  .where = "b.f_u16 < 30000" },
	{ "ASOF", "f_u8", 6, TIMES ", b.path", .is_asof = true },
	{ "ASOF WITHIN", "f_u8", 4, TIMES, .is_asof = true, .within_ns = 1500 },
	{ "LEFT ASOF WITHIN, clocks that differ", "f_u8", 4, TIMES ", b.f_u8", .is_asof = true,
	  .is_left = true, .is_skewed = true, .within_ns = 1500 },
	{ "ASOF, text key, clocks that differ", "name", 6, TIMES, .is_asof = true,
	  .is_skewed = true },
	{ "LEFT ASOF", "f_u8, f_u16", 2, TIMES ", iif(b.flag, b.f_s64, NULL)", .is_asof = true,
	  .is_left = true, .keys_may_be_null = true },
	{ "ASOF, union", "f_u8", 6, TIMES ", b.f_s32", .is_asof = true, .right = RIGHT_UNION },
	{ "ASOF, many of one instant", "f_u8", 3, TIMES ", b.path", .is_asof = true,
	  .has_ties = true },
	{ "LEFT ASOF, union, many of one instant", "f_u8", 3, TIMES ", b.f_s32", .is_asof = true,
	  .is_left = true, .has_ties = true, .right = RIGHT_UNION },
	{ "ASOF, the same event", "f_u8", 6, TIMES ", b.path", .is_asof = true,
	  .right = RIGHT_SAME },
};

/* --- The query --- */

static void put_key(const struct configuration *c, struct buf *sql, const char *side,
		    enum replay_column key)
{
	const char *name = column_infos[key].name;

	if (c->keys_may_be_null)
		buf_printf(sql, "CASE WHEN %s.flag THEN %s.%s END", side, side, name);
	else
		buf_printf(sql, "%s.%s", side, name);
}

#define COLUMNS "f_u8, f_u16, f_s32, f_s64, flag, path, pid, time"

static const char *const right_sides[] = {
	[RIGHT_OTHER] = "tracepoint:test:other",
	[RIGHT_SAME] = "tracepoint:test:event",
	[RIGHT_FILTERED] = "(SELECT " COLUMNS " FROM tracepoint:test:other WHERE f_u16 < 40000)",
	[RIGHT_UNION] = "(SELECT " COLUMNS " FROM tracepoint:test:other WHERE f_u16 < 40000 UNION "
			"ALL SELECT " COLUMNS " FROM tracepoint:test:event WHERE flag)",
};

static void put_query(const struct model *m, struct buf *sql)
{
	const struct configuration *c = m->c;

	buf_printf(sql, "SELECT %s FROM tracepoint:test:event AS a %s%s JOIN %s AS b ON ", c->items,
		   c->is_left ? "LEFT " : "", c->is_asof ? "ASOF" : "PAIR", right_sides[c->right]);
	for (u32 i = 0; i < m->n_keys; i++) {
		buf_puts(sql, i ? " AND " : "");
		put_key(c, sql, "a", m->keys[i]);
		buf_puts(sql, " = ");
		put_key(c, sql, "b", m->keys[i]);
	}
	if (c->is_asof)
		buf_puts(sql, " AND a.time >= b.time");
	if (c->within_ns)
		buf_printf(sql, " WITHIN %uns", c->within_ns);
	if (c->where)
		buf_printf(sql, " WHERE %s", c->where);
}

/* --- Comparison --- */

/* The first row that differs, on both sides. */
static void print_difference(const struct result *expected, const struct result *got)
{
	u32 n = expected->n_columns, at = 0;
	struct buf out;

	buf_init(&out);
	while (at < MIN(expected->n_rows, got->n_rows)) {
		u32 i = 0;

		while (i < n && !value_compare(&expected->values[(size_t)at * n + i],
					       &got->values[(size_t)at * n + i]))
			i++;
		if (i < n)
			break;
		at++;
	}
	buf_printf(&out, "  %u rows expected, %u got; the first that differs is %u:\n",
		   expected->n_rows, got->n_rows, at);
	for (u32 side = 0; side < 2; side++) {
		const struct result *r = side ? got : expected;

		buf_puts(&out, side ? "    got" : "    expected");
		for (u32 i = 0; i < n && at < r->n_rows; i++) {
			buf_puts(&out, " | ");
			value_print(&r->values[(size_t)at * n + i], &out);
		}
		buf_putc(&out, '\n');
	}
	print_message("%s", out.at);
	buf_free(&out);
}

static bool counters_agree(const struct model *m, const struct result *got)
{
	bool agree = true;

	for (u32 i = 0; i < UNPAIRED_N; i++) {
		if (got->unpaired[i] == m->unpaired[i])
			continue;
		print_message("  %s: %lu, should be %lu\n", unpaired_names[i], got->unpaired[i],
			      m->unpaired[i]);
		agree = false;
	}
	for (u32 i = 0; i < LOSS_N; i++) {
		if (i == LOSS_UNPAIRED || got->lost[i] == m->lost[i])
			continue;
		print_message("  %s: %lu, should be %lu\n", loss_names[i], got->lost[i],
			      m->lost[i]);
		agree = false;
	}
	if (got->events != m->ends || got->matched != m->result.matched) {
		print_message("  events %lu, matched %lu, should be %lu and %lu\n", got->events,
			      got->matched, m->ends, m->result.matched);
		agree = false;
	}
	return agree;
}

/*
 * More starts than ways: which one gives way hangs on where keys are.  But every row is
 * one of the pairs that unlimited room gives, in their order, and nothing is lost untold.
 */
static bool ledger_agrees(const struct model *m, const struct result *got)
{
	const u64 *u = got->unpaired;
	u32 n = m->result.n_columns, at = 0;

	for (u32 i = 0; i < got->n_rows; i++, at++) {
		while (at < m->result.n_rows &&
		       (value_compare(&got->values[(size_t)i * n],
				      &m->result.values[(size_t)at * n]) ||
			value_compare(&got->values[(size_t)i * n + 1],
				      &m->result.values[(size_t)at * n + 1])))
			at++;
		if (at == m->result.n_rows) {
			print_message("  row %u pairs an end with a wrong start\n", i);
			return false;
		}
	}
	print_message("  %u of %u rows, full %lu\n", got->n_rows, m->result.n_rows,
		      u[UNPAIRED_FULL]);
	return u[UNPAIRED_FULL] > 0 && got->n_rows > 0 &&
	       got->n_rows + u[UNPAIRED_NEVER_STARTED] == m->ends &&
	       got->n_rows + u[UNPAIRED_NEVER_ENDED] + u[UNPAIRED_FULL] == m->starts;
}

/* In the kernel, and, where no start gives way at 8 of a key, in user space. */
static u32 n_ways(const struct configuration *c)
{
	return c->is_skewed || !pair_is_exact(c) || pair_most(c) > PAIR_WAYS ? 2 : 4;
}

static bool run_configuration(struct replayer *engine, const struct configuration *c, u64 seed,
			      u32 n_events)
{
	static const char *const rules[] = { "", "all" };
	bool is_exact = pair_is_exact(c), agree = true;
	struct rng rng = { seed };
	struct event *events;
	struct arena arena;
	struct model m;
	struct buf sql;

	arena_init(&arena);
	buf_init(&sql);
	events = arena_array(&arena, struct event, n_events);
	pair_model_run(&m, c, &arena, &rng, events, n_events);
	put_query(&m, &sql);
	for (u32 i = 0; i < n_ways(c); i++) {
		const struct engine_options options = { rules[i % 2], "auto",
							.max_in_flight = c->max_in_flight,
							.rows = i / 2 };
		const char *error = NULL;
		struct result got;
		bool agrees = replayer_run(engine, sql.at, &options, events, n_events, &arena, &got,
					   &error);

		if (!agrees)
			print_message("  %s\n", error);
		else if (!is_exact)
			agrees = ledger_agrees(&m, &got);
		else
			agrees = counters_agree(&m, &got);
		if (agrees && is_exact && !result_equal(&m.result, &got)) {
			print_difference(&m.result, &got);
			agrees = false;
		}
		if (!agrees)
			print_message("  %s\n  rules_off '%s', rows read in way %u, seed %lu\n",
				      sql.at, rules[i % 2], i / 2, seed);
		agree &= agrees;
	}
	print_message("%-48s %s: %u rows, never started %lu, never ended %lu, expired %lu, "
		      "negative %lu, full %lu\n",
		      c->name, agree ? "agrees" : "DIFFERS", m.result.n_rows,
		      m.unpaired[UNPAIRED_NEVER_STARTED], m.unpaired[UNPAIRED_NEVER_ENDED],
		      m.unpaired[UNPAIRED_EXPIRED], m.lost[LOSS_NEGATIVE],
		      m.unpaired[UNPAIRED_FULL]);
	buf_free(&sql);
	arena_free(&arena);
	return agree;
}

static void test_configurations(void **state)
{
	u64 seed = env_number("EBQL_SEED", 1);
	u32 n_events = env_number("EBQL_EVENTS", N_EVENTS), n_wrong = 0;
	struct replayer *engine;
	struct arena arena;

	arena_init(&arena);
	engine = replayer_open(&arena);
	for (u32 i = 0; i < ARRAY_SIZE(configurations); i++)
		n_wrong +=
			!run_configuration(engine, &configurations[i], seed * 1000 + i, n_events);
	arena_free(&arena);
	assert_int_equal(n_wrong, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_configurations) };

	return cmocka_run_group_tests_name("pair", tests, NULL, NULL);
}
