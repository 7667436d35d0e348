/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Running sums over recorded events: random unions of streams with random arguments and
 * keys against SQLite's window functions over the same rows, in the order of the events.
 *
 * EBQL_SEED.  EBQL_QUERIES: how many random ones.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "replay.h"

enum { N_QUERIES = 60, N_EVENTS = 600, ARMS_MAX = 3 };

static const char *const streams[] = { REPLAY_STREAM, "tracepoint:test:other" };

/* What may be summed: never near 64 bits.  Arguments with NULLs, of both signs, constants. */
static const char *const args[] = {
	"1",
	"-1",
	"f_s16",
	"f_u8 - 100",
	"flag",
	"f_s32",
	"f_u16 * 3",
	"f_u8 / 2",
	"iif(flag, f_s8, NULL)",
	"nullif(f_u8 & 1, 0)",
	"tid",
};

/* Keys of all kinds; those of one line may stand for each other in the arms of a union. */
static const char *const keys[][2] = {
	{ "cpu", "cpu" },
	{ "f_u8", "f_u8 & 7" },
	{ "f_s8", "f_u8 & 3" },
	{ "flag", "flag" },
	{ "name", "comm" },
	{ "f_s64", "f_s32" },
	{ "iif(flag, f_u8 & 3, NULL)", "f_u8 & 3" },
	{ "f_s16 / 10000", "f_u16 / 20000" },
	{ "path", "dl" },
	{ "f_u16 & 1", "f_u16 & 1" },
};

static const char *const conditions[] = { "f_u8 < 200", "flag", "f_s16 > -20000", "cpu = 0",
					  "f_u16 IS NOT NULL" };

static u64 env_number(const char *name, u64 otherwise)
{
	const char *text = getenv(name);

	return text && *text ? strtoull(text, NULL, 0) : otherwise;
}

static void make_events(struct event *events, struct arena *arena, struct rng *rng)
{
	struct dataset dataset;

	dataset_random(&dataset, arena, 0, rng_next(rng));
	for (u32 i = 0; i < N_EVENTS; i++) {
		struct event *e = &events[i];

		*e = dataset.events[rng_below(rng, dataset.n_events)];
		e->stream = rng_percent(rng, 50) ? STREAM_OTHER : STREAM_EVENT;
		e->texts[C_PROBE] = streams[e->stream];
		e->text_bytes[C_PROBE] = strlen(streams[e->stream]);
		e->integers[C_TIME] = 1000 + i;
		e->integers[C_CPU] = rng_below(rng, replay_cpus);
		event_encode(e, arena, rng);
	}
}

/* --- Random queries, as text for both --- */

struct running_query {
	struct buf ebql, sqlite;
	bool is_grouped;
};

static void both(struct running_query *q, const char *text)
{
	buf_puts(&q->ebql, text);
	buf_puts(&q->sqlite, text);
}

static const char *any(struct rng *rng, const char *const *of, u32 n)
{
	return of[rng_below(rng, n)];
}

/* FROM: the arms; seq orders the rows, of one event by the arms. */
static void put_union(struct running_query *q, struct rng *rng, const u32 *key, u32 n_keys)
{
	u32 n_arms = 1 + rng_below(rng, ARMS_MAX);

	for (u32 i = 0; i < n_arms; i++) {
		u32 stream = rng_below(rng, 2);

		both(q, i ? " UNION ALL SELECT time" : "SELECT time");
		buf_printf(&q->sqlite, ", rowid * 8 + %u AS seq", i);
		for (u32 k = 0; k < n_keys; k++) {
			both(q, ", ");
			both(q, keys[key[k]][rng_below(rng, 2)]);
			both(q, k ? " AS k1" : " AS k0");
		}
		both(q, ", ");
		both(q, any(rng, args, ARRAY_SIZE(args)));
		both(q, " AS x, ");
		both(q, i ? "f_u8" : "f_u16");
		both(q, " AS y");
		buf_printf(&q->ebql, " FROM %s", streams[stream]);
		buf_printf(&q->sqlite, " FROM t WHERE probe = '%s'", streams[stream]);
		if (!rng_percent(rng, 40))
			continue;
		buf_puts(&q->ebql, " WHERE ");
		buf_puts(&q->sqlite, " AND ");
		both(q, any(rng, conditions, ARRAY_SIZE(conditions)));
	}
}

static void put_sum(struct running_query *q, struct rng *rng, u32 n_keys, u32 number)
{
	static const char *const calls[] = {
		"SUM(x)",   "SUM(x)", "count(*)",
		"count(x)", "SUM(y)", "SUM(x) FILTER (WHERE y < 100)"
	};
	bool has_key = n_keys && rng_percent(rng, 85);
	char alias[16];

	both(q, ", ");
	both(q, any(rng, calls, ARRAY_SIZE(calls)));
	both(q, " OVER (");
	if (has_key)
		both(q, n_keys == 2 && rng_percent(rng, 70) ? "PARTITION BY k0, k1"
							    : "PARTITION BY k0");
	buf_puts(&q->ebql, rng_percent(rng, 30) ? " ORDER BY time)" : ")");
	buf_puts(&q->sqlite, " ORDER BY seq ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)");
	snprintf(alias, sizeof(alias), " AS r%u", number);
	both(q, alias);
}

static void make_query(struct running_query *q, struct rng *rng)
{
	u32 key[2] = { rng_below(rng, ARRAY_SIZE(keys)), rng_below(rng, ARRAY_SIZE(keys)) };
	u32 n_keys = rng_below(rng, 3), n_sums = 1 + rng_below(rng, 2);

	buf_init(&q->ebql);
	buf_init(&q->sqlite);
	q->is_grouped = rng_percent(rng, 40);
	if (q->is_grouped)
		both(q, n_keys ? "SELECT k0, count(*), count(r0), min(r0), max(r0), sum(r0)"
			       : "SELECT count(*), count(r0), min(r0), max(r0), sum(r0)");
	else
		both(q, n_sums == 2 ? "SELECT time, x, r0, r1 - r0" : "SELECT time, x, r0");
	both(q, " FROM (SELECT time, x, y");
	if (n_keys)
		both(q, n_keys == 2 ? ", k0, k1" : ", k0");
	for (u32 i = 0; i < n_sums; i++)
		put_sum(q, rng, n_keys, i);
	both(q, " FROM (");
	put_union(q, rng, key, n_keys);
	both(q, ") AS u");
	if (rng_percent(rng, 30))
		both(q, " WHERE y < 150");
	both(q, ") AS w");
	if (rng_percent(rng, 40))
		both(q, rng_percent(rng, 50) ? " WHERE r0 > 0" : " WHERE x IS NOT NULL");
	if (q->is_grouped && n_keys)
		both(q, " GROUP BY k0");
}

/* --- The comparison --- */

static void complain(const struct running_query *q, const struct result *expected,
		     struct result *got, const char *error)
{
	struct buf out;

	buf_init(&out);
	if (error) {
		buf_puts(&out, error);
	} else {
		buf_puts(&out, "expected\n");
		result_print(expected, &out);
		buf_puts(&out, "got\n");
		result_print(got, &out);
	}
	print_message("%s\n%s\n%.3000s\n", q->ebql.at, q->sqlite.at, out.at);
	buf_free(&out);
}

/* In the kernel and in user space. */
static bool check(struct replayer *engine, sqlite3 *db, const struct running_query *q,
		  const struct event *events, struct arena *arena)
{
	static const struct {
		const char *rules;
		enum engine_rows rows;
	} ways[] = {
		{ "", ROWS_OF_KERNEL },
		{ "all", ROWS_OF_KERNEL },
		{ "", ROWS_OF_RAW_SCANS },
	};
	const char *error = NULL;
	struct result expected, got;

	if (!reference_run(db, q->sqlite.at, arena, &expected, &error)) {
		complain(q, NULL, NULL, error);
		return false;
	}
	result_sort(&expected);
	for (u32 i = 0; i < ARRAY_SIZE(ways); i++) {
		const struct engine_options options = { ways[i].rules, "auto", .max_groups = 4096,
							.max_in_flight = 4096,
							.rows = ways[i].rows };
		bool is_run;

		is_run = replayer_run(engine, q->ebql.at, &options, events, N_EVENTS, arena, &got,
				      &error);
		if (is_run)
			result_sort(&got);
		if (is_run && result_equal(&expected, &got) && !got.lost[LOSS_TABLE_FULL])
			continue;
		print_message("rules_off '%s', rows %d\n", ways[i].rules, ways[i].rows);
		complain(q, &expected, &got, is_run ? NULL : error);
		return false;
	}
	return true;
}

static struct replayer *engine_or_skip(struct arena *arena)
{
	const char *reason = NULL;
	struct replayer *engine;

	arena_init(arena);
	engine = replayer_open(arena, &reason);
	if (engine)
		return engine;
	print_message("SKIP: %s\n", reason);
	arena_free(arena);
	skip();
	return NULL;
}

static void test_random(void **state)
{
	u64 seed = env_number("EBQL_SEED", 1);
	u32 n = env_number("EBQL_QUERIES", N_QUERIES), n_wrong = 0;
	sqlite3 *db = reference_open();
	struct replayer *engine;
	struct arena outer;

	(void)state;
	engine = engine_or_skip(&outer);
	for (u32 i = 0; i < n && n_wrong < 5; i++) {
		struct rng rng = { seed * 100000 + i };
		struct running_query q;
		struct event *events;
		struct arena arena;

		arena_init(&arena);
		events = arena_array(&arena, struct event, N_EVENTS);
		make_events(events, &arena, &rng);
		reference_load(db, events, N_EVENTS);
		make_query(&q, &rng);
		if (!check(engine, db, &q, events, &arena)) {
			print_message("seed %lu, query %u\n", seed, i);
			n_wrong++;
		}
		buf_free(&q.ebql);
		buf_free(&q.sqlite);
		arena_free(&arena);
	}
	sqlite3_close(db);
	arena_free(&outer);
	assert_int_equal(n_wrong, 0);
}

/* --- Fixed queries --- */

/* Both sides of a join; a sum of a sum; sums that a WHERE above and below leaves rows out of. */
static const char *const fixed[][2] = {
	{ "SELECT a.time, b.r FROM tracepoint:test:event AS a LEFT ASOF JOIN (SELECT time, "
	  "f_u8 & 15 AS k, SUM(f_s16) OVER (PARTITION BY f_u8 & 15) AS r FROM "
	  "tracepoint:test:other) AS b ON a.f_u8 & 15 = b.k AND a.time >= b.time",
	  "SELECT a.time, (SELECT b.r FROM (SELECT rowid AS seq, f_u8 & 15 AS k, SUM(f_s16) OVER "
	  "(PARTITION BY f_u8 & 15 ORDER BY rowid) AS r FROM t WHERE probe LIKE '%other') AS b "
	  "WHERE b.k = a.f_u8 & 15 AND b.seq <= a.rowid ORDER BY b.seq DESC LIMIT 1) FROM t AS a "
	  "WHERE a.probe LIKE '%event'" },
	{ "SELECT a.time, a.n - b.n FROM (SELECT time, cpu, count(*) OVER (PARTITION BY cpu) AS n "
	  "FROM tracepoint:test:event) AS a ASOF JOIN (SELECT time, cpu, n FROM (SELECT time, "
	  "cpu, f_u8, count(*) OVER (PARTITION BY cpu) AS n FROM tracepoint:test:event) AS c "
	  "WHERE f_u8 < 60) AS b ON a.cpu = b.cpu AND a.time >= b.time",
	  "WITH w AS (SELECT rowid AS seq, time, cpu, f_u8, count(*) OVER (PARTITION BY cpu ORDER "
	  "BY rowid) AS n FROM t WHERE probe LIKE '%event') SELECT * FROM (SELECT a.time, a.n - "
	  "(SELECT b.n FROM w AS b WHERE b.f_u8 < 60 AND b.cpu = a.cpu AND b.seq < a.seq ORDER BY "
	  "b.seq DESC LIMIT 1) AS d FROM w AS a) WHERE d IS NOT NULL" },
	{ "SELECT time, SUM(r) OVER (PARTITION BY k) AS s FROM (SELECT time, cpu AS k, SUM(f_u8) "
	  "OVER (PARTITION BY flag) AS r FROM tracepoint:test:event) AS q WHERE r > 1000",
	  "SELECT time, SUM(r) OVER (PARTITION BY k ORDER BY seq) AS s FROM (SELECT rowid AS seq, "
	  "time, cpu AS k, SUM(f_u8) OVER (PARTITION BY flag ORDER BY rowid) AS r FROM t WHERE "
	  "probe LIKE '%event') AS q WHERE r > 1000" },
	{ "SELECT probe, max(r), min(r) FROM (SELECT probe, SUM(f_s8) OVER (PARTITION BY probe) AS "
	  "r FROM tracepoint:test:*) AS q GROUP BY probe",
	  "SELECT probe, max(r), min(r) FROM (SELECT probe, SUM(f_s8) OVER (PARTITION BY probe "
	  "ORDER BY rowid) AS r FROM t) GROUP BY probe" },
};

static void test_fixed(void **state)
{
	struct rng rng = { 5 };
	sqlite3 *db = reference_open();
	struct replayer *engine;
	struct event *events;
	struct arena arena;
	u32 n_wrong = 0;

	(void)state;
	engine = engine_or_skip(&arena);
	events = arena_array(&arena, struct event, N_EVENTS);
	make_events(events, &arena, &rng);
	reference_load(db, events, N_EVENTS);
	for (u32 i = 0; i < ARRAY_SIZE(fixed); i++) {
		struct running_query q = { 0 };

		buf_init(&q.ebql);
		buf_init(&q.sqlite);
		buf_puts(&q.ebql, fixed[i][0]);
		buf_puts(&q.sqlite, fixed[i][1]);
		n_wrong += !check(engine, db, &q, events, &arena);
		buf_free(&q.ebql);
		buf_free(&q.sqlite);
	}
	sqlite3_close(db);
	arena_free(&arena);
	assert_int_equal(n_wrong, 0);
}

/* --- Where the sum has no value --- */

static struct result run_values(struct replayer *engine, struct arena *arena, const char *sql,
				struct event *events, u32 n, u64 max_groups)
{
	const struct engine_options options = { "", "auto", .max_groups = max_groups };
	const char *error = NULL;
	struct result got;

	if (!replayer_run(engine, sql, &options, events, n, arena, &got, &error))
		fail_msg("%s: %s", sql, error);
	return got;
}

/* Once it left 64 bits it is NULL for good; keys of their own go on. */
static void test_overflow(void **state)
{
	static const s64 values[] = { 1ll << 62, 1ll << 62, -(1ll << 62), -5, 7 };
	static const char *const expected[] = { "4611686018427387904", "NULL", "NULL", "NULL",
						"7" };
	struct event events[ARRAY_SIZE(values)];
	struct rng garbage = { 1 };
	struct replayer *engine;
	struct arena arena;
	struct result got;

	(void)state;
	engine = engine_or_skip(&arena);
	for (u32 i = 0; i < ARRAY_SIZE(values); i++) {
		event_init(&events[i]);
		events[i].integers[C_TIME] = 1000 + i;
		events[i].integers[C_S64] = values[i];
		events[i].integers[C_U64] = i == 1 ? (s128)1 << 63 : 3;
		events[i].integers[C_U8] = i == 4;
		event_encode(&events[i], &arena, &garbage);
	}
	got = run_values(engine, &arena,
			 "SELECT SUM(f_s64) OVER (PARTITION BY f_u8) AS r FROM " REPLAY_STREAM,
			 events, ARRAY_SIZE(events), 0);
	assert_int_equal(got.n_rows, ARRAY_SIZE(events));
	for (u32 i = 0; i < got.n_rows; i++) {
		struct buf text;

		buf_init(&text);
		value_print(&got.values[i], &text);
		assert_string_equal(text.at, expected[i]);
		buf_free(&text);
	}
	assert_int_equal(got.lost[LOSS_FAULT], 3);
	/* 2^63 has no signed form: the sum has left 64 bits with it, for good. */
	got = run_values(engine, &arena,
			 "SELECT SUM(f_u64) OVER (PARTITION BY f_u8) AS r FROM " REPLAY_STREAM,
			 events, 4, 0);
	assert_int_equal(got.lost[LOSS_FAULT], 3);
	assert_int_equal(got.values[0].integer, 3);
	for (u32 i = 1; i < 4; i++)
		assert_int_equal(got.values[i].kind, VALUE_NULL);
	arena_free(&arena);
}

/* More keys than slots: rows of a key without one are NULL and counted, the others exact. */
static void test_full(void **state)
{
	enum { N = 2000, N_KEYS = 300 };
	struct event *events;
	s64 sums[N_KEYS] = { 0 };
	struct rng rng = { 3 };
	struct replayer *engine;
	struct arena arena;
	struct result got;
	u64 n_null = 0;

	(void)state;
	engine = engine_or_skip(&arena);
	events = arena_array(&arena, struct event, N);
	for (u32 i = 0; i < N; i++) {
		event_init(&events[i]);
		events[i].integers[C_TIME] = 1000 + i;
		events[i].integers[C_S64] = 1000003ll * rng_below(&rng, N_KEYS);
		events[i].integers[C_S16] = rng_range(&rng, -100, 100);
		event_encode(&events[i], &arena, &rng);
	}
	got = run_values(engine, &arena,
			 "SELECT f_s64, SUM(f_s16) OVER (PARTITION BY f_s64) AS r, "
			 "-SUM(f_s16) OVER (PARTITION BY f_s64) AS s FROM " REPLAY_STREAM,
			 events, N, 16);
	assert_int_equal(got.n_rows, N);
	for (u32 i = 0; i < N; i++) {
		const struct value *row = &got.values[3 * i];
		s64 *sum = &sums[events[i].integers[C_S64] / 1000003];

		*sum += (s64)events[i].integers[C_S16];
		assert_true(row[0].integer == events[i].integers[C_S64]);
		if (row[1].kind == VALUE_NULL)
			n_null++;
		else
			assert_true(row[1].integer == *sum);
	}
	assert_int_equal(got.lost[LOSS_TABLE_FULL], n_null);
	/* 64 slots, the fewest there are: as many keys have sums. */
	assert_in_range(n_null, 1, N - N / N_KEYS * 32);
	arena_free(&arena);
}

/* Many sums: those of the same keys stand in one slot, and tables for others have a limit. */
static void test_many_sums(void **state)
{
	enum { N_SUMS = 16 };
	/* With an operator at the end each has a key of its own: as many tables as may be. */
	static const char *const keyed[] = { "f_s64", "f_u8",	  "iif(flag, f_s64, NULL), cpu",
					     "",      "f_s32 + ", "name, f_s32 / " };
	struct event *events;
	struct rng rng = { 6 };
	struct replayer *engine;
	struct arena arena;
	sqlite3 *db = reference_open();
	u32 n_wrong = 0;

	(void)state;
	engine = engine_or_skip(&arena);
	events = arena_array(&arena, struct event, N_EVENTS);
	make_events(events, &arena, &rng);
	reference_load(db, events, N_EVENTS);
	for (u32 i = 0; i < ARRAY_SIZE(keyed); i++) {
		struct running_query q = { 0 };

		buf_init(&q.ebql);
		buf_init(&q.sqlite);
		both(&q, "SELECT time");
		for (u32 n = 0; n < N_SUMS; n++) {
			bool is_apart = *keyed[i] && keyed[i][strlen(keyed[i]) - 1] == ' ';

			both(&q, ", SUM(");
			both(&q, args[n % 10]);
			both(&q, *keyed[i] ? ") OVER (PARTITION BY " : ") OVER (");
			both(&q, keyed[i]);
			for (u32 k = 0; is_apart && k <= n; k++)
				both(&q, k ? "1" : "2");
			buf_puts(&q.ebql, ")");
			buf_puts(&q.sqlite, " ORDER BY rowid)");
		}
		both(&q, " FROM ");
		buf_puts(&q.ebql, REPLAY_STREAM);
		buf_puts(&q.sqlite, "t WHERE probe = '" REPLAY_STREAM "'");
		n_wrong += !check(engine, db, &q, events, &arena);
		buf_free(&q.ebql);
		buf_free(&q.sqlite);
	}
	sqlite3_close(db);
	arena_free(&arena);
	assert_int_equal(n_wrong, 0);
}

/* A table of sums that is full says nothing of that of the groups: these stay exact. */
static void test_full_under_groups(void **state)
{
	enum { N = 1000, N_GROUPS = 4 };
	static const char *const states[] = { "auto", "table", "kernel_map" };
	struct event *events;
	u64 counts[N_GROUPS] = { 0 };
	struct rng rng = { 4 };
	struct replayer *engine;
	struct arena arena;

	(void)state;
	engine = engine_or_skip(&arena);
	events = arena_array(&arena, struct event, N);
	for (u32 i = 0; i < N; i++) {
		event_init(&events[i]);
		events[i].integers[C_TIME] = 1000 + i;
		events[i].integers[C_CPU] = rng_below(&rng, replay_cpus);
		events[i].integers[C_S64] = 1000003ll * rng_below(&rng, 300);
		events[i].integers[C_S32] = rng_below(&rng, N_GROUPS);
		event_encode(&events[i], &arena, &rng);
		counts[events[i].integers[C_S32]]++;
	}
	for (u32 i = 0; i < ARRAY_SIZE(states); i++) {
		const struct engine_options options = { "", states[i], .max_groups = 16 };
		const char *error = NULL;
		struct result got;
		u64 n_sums = 0;

		if (!replayer_run(
			    engine,
			    "SELECT g, count(*), count(r) FROM (SELECT f_s32 AS g, SUM(f_s16) "
			    "OVER (PARTITION BY f_s64) AS r FROM " REPLAY_STREAM
			    ") AS q GROUP BY g",
			    &options, events, N, &arena, &got, &error))
			fail_msg("%s", error);
		assert_int_equal(got.other_row, -1);
		assert_int_equal(got.n_rows, N_GROUPS);
		for (u32 row = 0; row < N_GROUPS; row++) {
			const struct value *v = &got.values[3 * row];

			assert_true(v[1].integer == counts[v[0].integer]);
			n_sums += (u64)v[2].integer;
		}
		assert_in_range(n_sums, 1, N - 1);
		assert_int_equal(got.lost[LOSS_TABLE_FULL], N - n_sums);
	}
	arena_free(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_overflow),
		cmocka_unit_test(test_full),
		cmocka_unit_test(test_full_under_groups),
		cmocka_unit_test(test_many_sums),
		cmocka_unit_test(test_fixed),
		cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests_name("running", tests, NULL, NULL);
}
