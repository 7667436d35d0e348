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

#define TIMES                                                                                      \
	{ ITEM_A, C_TIME }, { ITEM_B, C_TIME },                                                    \
	{                                                                                          \
		ITEM_SPAN, C_TIME                                                                  \
	}

static const struct configuration configurations[] = {
	{ .name = "one key",
	  .keys = { C_U8 },
	  .n_keys = 1,
	  .n_values = 3,
	  .most = 8,
	  .items = { TIMES },
	  .n_items = 3 },
	{ .name = "one value, twelve deep: the oldest give way",
	  .keys = { C_U8 },
	  .n_keys = 1,
	  .n_values = 1,
	  .most = 12,
	  .items = { TIMES },
	  .n_items = 3 },
	{ .name = "six values, twelve deep: only the ledger",
	  .keys = { C_U8 },
	  .n_keys = 1,
	  .n_values = 6,
	  .most = 40,
	  .items = { TIMES },
	  .n_items = 3 },
	{ .name = "two keys, one a text",
	  .keys = { C_NAME, C_S16 },
	  .n_keys = 2,
	  .n_values = 2,
	  .most = 8,
	  .items = { TIMES, { ITEM_B, C_NAME } },
	  .n_items = 4,
	  .max_in_flight = 4096 },
	{ .name = "a long text key",
	  .keys = { C_DL },
	  .n_keys = 1,
	  .n_values = 4,
	  .most = 8,
	  .items = { TIMES, { ITEM_B, C_PATH } },
	  .n_items = 4 },
	{ .name = "comm and tid",
	  .keys = { C_COMM, C_TID },
	  .n_keys = 2,
	  .n_values = 2,
	  .most = 8,
	  .items = { TIMES, { ITEM_B, C_COMM } },
	  .n_items = 4 },
	{ .name = "signed keys",
	  .keys = { C_S64, C_S8 },
	  .n_keys = 2,
	  .n_values = 2,
	  .most = 8,
	  .items = { TIMES },
	  .n_items = 3 },
	{ .name = "NULL keys",
	  .keys = { C_U16 },
	  .n_keys = 1,
	  .keys_may_be_null = true,
	  .n_values = 3,
	  .most = 8,
	  .items = { TIMES },
	  .n_items = 3 },
	{ .name = "LEFT, NULL keys",
	  .is_left = true,
	  .keys = { C_U16 },
	  .n_keys = 1,
	  .keys_may_be_null = true,
	  .n_values = 3,
	  .most = 8,
	  .items = { TIMES, { ITEM_B, C_S32 }, { ITEM_B, C_PATH } },
	  .n_items = 5 },
	{ .name = "WITHIN",
	  .within_ns = 2000,
	  .keys = { C_U8 },
	  .n_keys = 1,
	  .n_values = 4,
	  .most = 8,
	  .items = { TIMES },
	  .n_items = 3 },
	{ .name = "WITHIN without times in the rows",
	  .within_ns = 1500,
	  .keys = { C_U8 },
	  .n_keys = 1,
	  .n_values = 4,
	  .most = 8,
	  .is_skewed = true,
	  .items = { { ITEM_A, C_U32 }, { ITEM_B, C_U32 } },
	  .n_items = 2 },
	{ .name = "LEFT WITHIN",
	  .is_left = true,
	  .within_ns = 1500,
	  .keys = { C_U8 },
	  .n_keys = 1,
	  .n_values = 4,
	  .most = 8,
	  .items = { TIMES, { ITEM_B, C_U8 } },
	  .n_items = 4 },
	{ .name = "clocks that differ",
	  .keys = { C_U8 },
	  .n_keys = 1,
	  .n_values = 3,
	  .most = 8,
	  .is_skewed = true,
	  .items = { TIMES },
	  .n_items = 3 },
	{ .name = "every column stored",
	  .keys = { C_U8 },
	  .n_keys = 1,
	  .n_values = 3,
	  .most = 8,
	  .items = { { ITEM_A, C_TIME },   { ITEM_B, C_U8 },	    { ITEM_B, C_S8 },
		     { ITEM_B, C_U16 },	   { ITEM_B, C_S16 },	    { ITEM_B, C_U32 },
		     { ITEM_B, C_S32 },	   { ITEM_B, C_U64 },	    { ITEM_B, C_S64 },
		     { ITEM_B, C_BOOL },   { ITEM_B, C_NAME },	    { ITEM_B, C_PATH },
		     { ITEM_B, C_DL },	   { ITEM_B, C_PTR },	    { ITEM_B, C_PID },
		     { ITEM_B, C_TID },	   { ITEM_B, C_PPID },	    { ITEM_B, C_UID },
		     { ITEM_B, C_GID },	   { ITEM_B, C_COMM },	    { ITEM_B, C_CPU },
		     { ITEM_B, C_CGROUP }, { ITEM_B, C_NUMA_NODE }, { ITEM_A, C_COMM },
		     { ITEM_A, C_PATH } },
	  .n_items = 25 },
	{ .name = "stored columns that may be NULL",
	  .keys = { C_U8 },
	  .n_keys = 1,
	  .n_values = 3,
	  .most = 8,
	  .items = { TIMES,
		     { ITEM_B_IF, C_S8 },
		     { ITEM_B_IF, C_U64 },
		     { ITEM_B_IF, C_NAME },
		     { ITEM_B_IF, C_DL },
		     { ITEM_B, C_BOOL },
		     { ITEM_TWICE, C_S16 } },
	  .n_items = 9 },
	{ .name = "LEFT, stored columns that may be NULL",
	  .is_left = true,
	  .keys = { C_U8 },
	  .n_keys = 1,
	  .n_values = 5,
	  .most = 8,
	  .items = { TIMES, { ITEM_B_IF, C_S8 }, { ITEM_B_IF, C_PATH }, { ITEM_TWICE, C_S16 } },
	  .n_items = 6 },
	{ .name = "the same event on both sides",
	  .keys = { C_U8 },
	  .n_keys = 1,
	  .right = RIGHT_SAME,
	  .n_values = 5,
	  .most = 8,
	  .items = { TIMES, { ITEM_B, C_S64 } },
	  .n_items = 4 },
	{ .name = "a filtered right side",
	  .keys = { C_U8 },
	  .n_keys = 1,
	  .right = RIGHT_FILTERED,
	  .n_values = 3,
	  .most = 8,
	  .items = { TIMES, { ITEM_B, C_U16 } },
	  .n_items = 4 },
	{ .name = "a union on the right side",
	  .keys = { C_U8 },
	  .n_keys = 1,
	  .right = RIGHT_UNION,
	  .n_values = 3,
	  .most = 8,
	  .items = { TIMES, { ITEM_B, C_S32 }, { ITEM_B, C_PATH }, { ITEM_B, C_PID } },
	  .n_items = 6 },
	{ .name = "WHERE on the left, behind the join",
	  .keys = { C_U8 },
	  .n_keys = 1,
	  .where = "a.f_u16 < 30000",
	  .n_values = 2,
	  .most = 8,
	  .items = { TIMES, { ITEM_A, C_U16 } },
	  .n_items = 4 },
	{ .name = "WHERE on the right, behind the join",
	  .keys = { C_U8 },
	  .n_keys = 1,
	  .where = "b.f_u16 < 30000",
	  .n_values = 2,
	  .most = 8,
	  .items = { TIMES, { ITEM_B, C_U16 } },
	  .n_items = 4 },
	{ .name = "ASOF",
	  .is_asof = true,
	  .keys = { C_U8 },
	  .n_keys = 1,
	  .n_values = 6,
	  .most = 8,
	  .items = { TIMES, { ITEM_B, C_PATH } },
	  .n_items = 4 },
	{ .name = "ASOF WITHIN",
	  .is_asof = true,
	  .within_ns = 1500,
	  .keys = { C_U8 },
	  .n_keys = 1,
	  .n_values = 4,
	  .most = 8,
	  .items = { TIMES },
	  .n_items = 3 },
	{ .name = "LEFT ASOF WITHIN, clocks that differ",
	  .is_asof = true,
	  .is_left = true,
	  .is_skewed = true,
	  .within_ns = 1500,
	  .keys = { C_U8 },
	  .n_keys = 1,
	  .n_values = 4,
	  .most = 8,
	  .items = { TIMES, { ITEM_B, C_U8 } },
	  .n_items = 4 },
	{ .name = "ASOF, text key, clocks that differ",
	  .is_asof = true,
	  .is_skewed = true,
	  .keys = { C_NAME },
	  .n_keys = 1,
	  .n_values = 6,
	  .most = 8,
	  .items = { TIMES },
	  .n_items = 3 },
	{ .name = "LEFT ASOF",
	  .is_asof = true,
	  .is_left = true,
	  .keys = { C_U8, C_U16 },
	  .n_keys = 2,
	  .keys_may_be_null = true,
	  .n_values = 2,
	  .most = 8,
	  .items = { TIMES, { ITEM_B_IF, C_S64 } },
	  .n_items = 4 },
	{ .name = "ASOF, union",
	  .is_asof = true,
	  .keys = { C_U8 },
	  .n_keys = 1,
	  .right = RIGHT_UNION,
	  .n_values = 6,
	  .most = 8,
	  .items = { TIMES, { ITEM_B, C_S32 } },
	  .n_items = 4 },
	{ .name = "ASOF, the same event",
	  .is_asof = true,
	  .keys = { C_U8 },
	  .n_keys = 1,
	  .right = RIGHT_SAME,
	  .n_values = 6,
	  .most = 8,
	  .items = { TIMES, { ITEM_B, C_PATH } },
	  .n_items = 4 },
};

/* --- The query --- */

static void put_column(struct buf *sql, const char *side, enum replay_column column)
{
	buf_printf(sql, "%s.%s", side, column_infos[column].name);
}

static void put_key(const struct configuration *c, struct buf *sql, const char *side,
		    enum replay_column key)
{
	if (c->keys_may_be_null)
		buf_printf(sql, "CASE WHEN %s.flag THEN ", side);
	put_column(sql, side, key);
	if (c->keys_may_be_null)
		buf_puts(sql, " END");
}

static void put_item(struct buf *sql, const struct pair_item *item)
{
	switch (item->side) {
	case ITEM_A:
		put_column(sql, "a", item->column);
		break;
	case ITEM_B:
		put_column(sql, "b", item->column);
		break;
	case ITEM_B_IF:
		buf_puts(sql, "iif(b.flag, ");
		put_column(sql, "b", item->column);
		buf_puts(sql, ", NULL)");
		break;
	case ITEM_SPAN:
		buf_puts(sql, "a.time - b.time");
		break;
	case ITEM_TWICE:
		put_column(sql, "b", item->column);
		buf_puts(sql, " * 2");
		break;
	}
}

#define COLUMNS "f_u8, f_u16, f_s32, f_s64, flag, path, pid, time"

static const char *const right_sides[] = {
	[RIGHT_OTHER] = "tracepoint:test:other",
	[RIGHT_SAME] = "tracepoint:test:event",
	[RIGHT_FILTERED] = "(SELECT " COLUMNS " FROM tracepoint:test:other WHERE f_u16 < 40000)",
	[RIGHT_UNION] = "(SELECT " COLUMNS " FROM tracepoint:test:other WHERE f_u16 < 40000 UNION "
			"ALL SELECT " COLUMNS " FROM tracepoint:test:event WHERE flag)",
};

static void put_query(const struct configuration *c, struct buf *sql)
{
	buf_puts(sql, "SELECT ");
	for (u32 i = 0; i < c->n_items; i++) {
		buf_puts(sql, i ? ", " : "");
		put_item(sql, &c->items[i]);
		buf_printf(sql, " AS c%u", i);
	}
	buf_printf(sql, " FROM tracepoint:test:event AS a %s%s JOIN %s AS b ON ",
		   c->is_left ? "LEFT " : "", c->is_asof ? "ASOF" : "PAIR", right_sides[c->right]);
	for (u32 i = 0; i < c->n_keys; i++) {
		buf_puts(sql, i ? " AND " : "");
		put_key(c, sql, "a", c->keys[i]);
		buf_puts(sql, " = ");
		put_key(c, sql, "b", c->keys[i]);
	}
	if (c->is_asof)
		buf_puts(sql, " AND a.time >= b.time");
	if (c->within_ns)
		buf_printf(sql, " WITHIN %uns", c->within_ns);
	if (c->where)
		buf_printf(sql, " WHERE %s", c->where);
}

/* --- Comparison --- */

static u64 env_number(const char *name, u64 otherwise)
{
	const char *text = getenv(name);

	return text && *text ? strtoull(text, NULL, 0) : otherwise;
}

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
	u32 n = m->c->n_items, at = 0;

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
	return c->is_skewed || !pair_is_exact(c) || c->most > PAIR_WAYS ? 2 : 4;
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
	put_query(c, &sql);
	events = arena_array(&arena, struct event, n_events);
	m = (struct model){ .c = c,
			    .arena = &arena,
			    .result = { .n_columns = c->n_items, .other_row = -1 } };
	m.waiting = arena_array(&arena, const struct event *, n_events + 1);
	pair_model_run(&m, &rng, events, n_events);
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
	const char *reason = NULL;
	struct replayer *engine;
	struct arena arena;

	(void)state;
	arena_init(&arena);
	engine = replayer_open(&arena, &reason);
	if (!engine) {
		print_message("SKIP: %s\n", reason);
		arena_free(&arena);
		skip();
	}
	for (u32 i = 0; i < ARRAY_SIZE(configurations); i++)
		n_wrong +=
			!run_configuration(engine, &configurations[i], seed * 1000 + i, n_events);
	arena_free(&arena);
	assert_int_equal(n_wrong, 0);
}

/* --- Worked out by hand --- */

/* Of f_u8 = 1 there are two starts and two ends, of 2 an end, of 3 a start; name is the comm. */
static const struct {
	enum event_stream stream;
	u8 key;
	const char *name;
} hand_events[] = {
	{ STREAM_OTHER, 1, "a" }, { STREAM_EVENT, 1, "b" }, { STREAM_EVENT, 2, "c" },
	{ STREAM_EVENT, 1, "d" }, { STREAM_OTHER, 3, "e" }, { STREAM_OTHER, 1, "f" },
	{ STREAM_EVENT, 1, "g" },
};

#define A_B " FROM tracepoint:test:event a PAIR JOIN tracepoint:test:* b ON a.f_u8 = b.f_u8"
#define LEFT_B                                                                                     \
	" FROM tracepoint:test:event a LEFT PAIR JOIN tracepoint:test:other b ON a.f_u8 = b.f_u8"
#define EITHER                                                                                     \
	"(SELECT name AS c FROM tracepoint:test:event UNION ALL SELECT NULL FROM "                 \
	"tracepoint:test:other) u"

/* Rows in the order in which they are sorted; columns joined by |. */
static const struct {
	const char *sql, *rows;
} hand_cases[] = {
	/* A start's probe, not the end's: as a column, a key, in conditions. */
	{ "SELECT a.name, b.probe, a.probe" A_B,
	  "b|tracepoint:test:other|tracepoint:test:event\n"
	  "d|tracepoint:test:event|tracepoint:test:event\n"
	  "g|tracepoint:test:other|tracepoint:test:event\n" },
	{ "SELECT b.probe, count(*)" A_B " GROUP BY b.probe",
	  "tracepoint:test:event|1\ntracepoint:test:other|2\n" },
	{ "SELECT b.probe, b.f_u8, count(*)" A_B " GROUP BY b.probe, b.f_u8",
	  "tracepoint:test:event|1|1\ntracepoint:test:other|1|2\n" },
	{ "SELECT a.name" A_B " WHERE b.probe LIKE '%:other'", "b\ng\n" },
	{ "SELECT a.name" A_B " WHERE b.probe NOT LIKE '%:other'", "d\n" },
	{ "SELECT a.name" A_B " WHERE b.probe GLOB '*event'", "d\n" },
	{ "SELECT a.name" A_B " WHERE b.probe IN ('tracepoint:test:other', 'x')", "b\ng\n" },
	{ "SELECT a.name" A_B " WHERE b.probe = 'tracepoint:test:event'", "d\n" },
	{ "SELECT a.name" A_B " WHERE 'tracepoint:test:event' < b.probe", "b\ng\n" },
	{ "SELECT a.name" A_B " WHERE a.probe = b.probe", "d\n" },
	{ "SELECT a.name" A_B " WHERE a.probe = 'tracepoint:test:event' AND b.probe <> a.probe",
	  "b\ng\n" },
	/* Conditions over both sides are computed by the end, with what was stored. */
	{ "SELECT a.name" A_B " WHERE b.probe LIKE '%:other' OR a.name = 'd'", "b\nd\ng\n" },
	{ "SELECT a.name" A_B " WHERE CASE WHEN a.name = 'g' THEN 0 ELSE b.probe LIKE '%r' END",
	  "b\n" },
	{ "SELECT count(b.probe), count(*), count(*) FILTER (WHERE b.probe LIKE '%r')" A_B,
	  "3|3|2\n" },
	/* NULL where a LEFT join finds no partner. */
	{ "SELECT a.name, b.probe" LEFT_B,
	  "b|tracepoint:test:other\nc|NULL\nd|NULL\ng|tracepoint:test:other\n" },
	{ "SELECT b.probe, count(*)" LEFT_B " GROUP BY b.probe",
	  "NULL|2\ntracepoint:test:other|2\n" },
	{ "SELECT b.probe, b.name, count(*)" LEFT_B " GROUP BY b.probe, b.name",
	  "NULL|NULL|2\ntracepoint:test:other|a|1\ntracepoint:test:other|f|1\n" },
	{ "SELECT count(b.probe), count(*)" LEFT_B, "2|4\n" },
	{ "SELECT a.name" LEFT_B " WHERE b.probe IS NULL", "c\nd\n" },
	{ "SELECT a.name" LEFT_B " WHERE b.probe IS NOT NULL", "b\ng\n" },
	{ "SELECT a.name" LEFT_B " WHERE b.probe LIKE '%other'", "b\ng\n" },
	{ "SELECT a.name" LEFT_B " WHERE NOT (b.probe LIKE '%x')", "b\ng\n" },
	{ "SELECT a.name" LEFT_B " WHERE b.probe LIKE '%other' IS NULL", "c\nd\n" },
	{ "SELECT a.name" LEFT_B " WHERE b.name IN ('a', 'x') OR a.name = 'c'", "b\nc\n" },
	{ "SELECT a.name" LEFT_B " WHERE b.probe IS NOT a.probe", "b\nc\nd\ng\n" },
	/* A branch of a union that is NULL, where the column is a text. */
	{ "SELECT c FROM " EITHER, "NULL\nNULL\nNULL\nb\nc\nd\ng\n" },
	{ "SELECT c, count(*) FROM " EITHER " GROUP BY c", "NULL|3\nb|1\nc|1\nd|1\ng|1\n" },
	{ "SELECT count(*), count(c) FROM " EITHER, "7|4\n" },
	{ "SELECT c FROM " EITHER " WHERE c > 'c' OR c IS NULL", "NULL\nNULL\nNULL\nd\ng\n" },
	{ "SELECT c FROM " EITHER " WHERE c LIKE 'b%' OR c IN ('d', 'e')", "b\nd\n" },
	{ "SELECT count(*) FROM " EITHER " WHERE c IS NOT 'd'", "6\n" },
	{ "SELECT count(*) FROM " EITHER " WHERE (c LIKE 'b%') IS NULL", "3\n" },
	{ "SELECT a.name FROM tracepoint:test:event a PAIR JOIN " EITHER " ON a.name = u.c", "" },
	/* Which branch a start is of only the start knows; without one a constant is NULL too. */
	{ "SELECT a.name, u.c FROM tracepoint:test:event a LEFT PAIR JOIN (SELECT f_u8, 'x' AS c "
	  "FROM tracepoint:test:other UNION ALL SELECT f_u8, NULL FROM tracepoint:test:event) u ON "
	  "a.f_u8 = u.f_u8",
	  "b|x\nc|NULL\nd|NULL\ng|x\n" },
	{ "SELECT a.name, u.n + 1 FROM tracepoint:test:event a LEFT PAIR JOIN (SELECT f_u8, 7 AS n "
	  "FROM tracepoint:test:other UNION ALL SELECT f_u8, f_u16 FROM tracepoint:test:event) u ON "
	  "a.f_u8 = u.f_u8",
	  "b|8\nc|NULL\nd|1\ng|8\n" },
	/* Conditions in ON that are no keys. */
	{ "SELECT a.name, b.name" A_B " AND b.name = 'a'", "b|a\n" },
	{ "SELECT a.name, b.name" A_B " AND 'd' = a.name", "d|b\n" },
	{ "SELECT a.name, b.name" LEFT_B " AND b.name = 'a'", "b|a\nc|NULL\nd|NULL\ng|NULL\n" },
};

static void hand_rows(struct result *result, struct buf *out)
{
	result_sort(result);
	for (u32 i = 0; i < result->n_rows * result->n_columns; i++) {
		const struct value *v = &result->values[i];

		if (v->kind == VALUE_TEXT)
			buf_put(out, v->text, v->n);
		else
			value_print(v, out);
		buf_putc(out, (i + 1) % result->n_columns ? '|' : '\n');
	}
	buf_puts(out, "");
}

static void test_by_hand(void **state)
{
	static const char *const rules[] = { "", "all" };
	struct event events[ARRAY_SIZE(hand_events)];
	struct rng garbage = { 1 };
	const char *reason = NULL;
	struct replayer *engine;
	struct arena arena;
	u32 n_wrong = 0;

	(void)state;
	arena_init(&arena);
	engine = replayer_open(&arena, &reason);
	if (!engine) {
		print_message("SKIP: %s\n", reason);
		arena_free(&arena);
		skip();
	}
	for (u32 i = 0; i < ARRAY_SIZE(hand_events); i++) {
		event_init(&events[i]);
		events[i].stream = hand_events[i].stream;
		events[i].integers[C_U8] = hand_events[i].key;
		events[i].integers[C_TIME] = 1000 + i;
		events[i].texts[C_NAME] = hand_events[i].name;
		events[i].text_bytes[C_NAME] = 1;
		event_encode(&events[i], &arena, &garbage);
	}
	for (u32 i = 0; i < 2 * ARRAY_SIZE(hand_cases); i++) {
		const struct engine_options options = { rules[i % 2], "auto" };
		const char *sql = hand_cases[i / 2].sql, *error = NULL;
		struct result got;
		struct buf rows;

		buf_init(&rows);
		if (replayer_run(engine, sql, &options, events, ARRAY_SIZE(events), &arena, &got,
				 &error))
			hand_rows(&got, &rows);
		if (error || strcmp(rows.at, hand_cases[i / 2].rows)) {
			print_message("%s\n  rules_off '%s'\n%s%s  should be\n%s", sql,
				      rules[i % 2], error ? error : "", rows.at ? rows.at : "",
				      hand_cases[i / 2].rows);
			n_wrong++;
		}
		buf_free(&rows);
	}
	arena_free(&arena);
	assert_int_equal(n_wrong, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_by_hand),
					    cmocka_unit_test(test_configurations) };

	return cmocka_run_group_tests_name("pair", tests, NULL, NULL);
}
