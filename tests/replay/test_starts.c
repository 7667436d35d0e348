/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Queries whose joins are alike keep their starts in one table: beside each other they give what
 * each gives alone, rows, losses and what has no partner, also where the table is too small; half
 * of them without the rule, which have tables of their own.
 *
 * EBQL_SEED, EBQL_TEST_LONG: ten times as many rounds.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "replay.h"

#define N_BESIDE   14
#define EVENTS_MAX 400

#define COLUMNS "f_u8, f_u16, f_s32, f_s64, flag, path, time"

/* Neighbours differ in one thing, where they can. */
static const char *const joins[] = {
	"tracepoint:test:event a PAIR JOIN tracepoint:test:other b ON a.f_u8 = b.f_u8",
	"tracepoint:test:event a LEFT PAIR JOIN tracepoint:test:other b ON a.f_u8 = b.f_u8",
	"tracepoint:test:event a LEFT PAIR JOIN tracepoint:test:other b ON a.flag = b.flag",
	"tracepoint:test:event a PAIR JOIN tracepoint:test:event b ON a.f_u16 = b.f_u16",
	"tracepoint:test:event a ASOF JOIN tracepoint:test:other b ON a.f_u8 = b.f_u8 "
	"AND a.time >= b.time",
	"tracepoint:test:event a LEFT ASOF JOIN tracepoint:test:other b ON a.flag = b.flag "
	"AND a.time >= b.time",
	"tracepoint:test:event a PAIR JOIN tracepoint:test:other b ON a.flag = b.flag "
	"WITHIN 2000000ns",
	"tracepoint:test:event a PAIR JOIN tracepoint:test:other b ON a.flag = b.flag "
	"WITHIN 50000ns",
	"tracepoint:test:event a PAIR JOIN tracepoint:test:other b ON a.flag = b.flag",
	"tracepoint:test:event a PAIR JOIN (SELECT " COLUMNS " FROM tracepoint:test:other WHERE "
	"f_u16 < 40000) b ON CASE WHEN a.flag THEN a.f_u8 END = CASE WHEN b.flag THEN b.f_u8 END",
	"(SELECT " COLUMNS
	" FROM tracepoint:test:event WHERE f_u8 < 200) a ASOF JOIN (SELECT " COLUMNS
	" FROM tracepoint:test:other WHERE flag UNION ALL SELECT " COLUMNS
	" FROM tracepoint:test:event WHERE NOT flag) b ON a.flag = b.flag AND a.time >= b.time",
	"tracepoint:test:event a PAIR JOIN (SELECT o.f_u8 AS f_u8, o.f_u16 AS f_u16, o.f_s32 AS "
	"f_s32, q.f_s64 AS f_s64, o.flag AS flag, o.path AS path, o.time AS time FROM "
	"tracepoint:test:other o LEFT PAIR JOIN tracepoint:test:event q ON o.f_u8 = q.f_u8) b "
	"ON a.flag = b.flag",
};

/* What becomes of the rows. */
static const struct {
	const char *items, *where;
} rests[] = {
	{ "count(*)", "" },
	{ "count(*), sum(b.f_u8)", "" },
	{ "max(a.time - b.time), count(*)", "" },
	{ "b.f_u8, count(*)", "GROUP BY b.f_u8" },
	{ "b.path, count(*), min(a.f_s32)", "GROUP BY b.path" },
	{ "histogram(a.f_u16), max(b.f_s64)", "" },
	{ "sum(a.f_s32), count(b.f_s64)", "WHERE a.f_u8 < 100" },
	{ "count(*)", "WHERE a.f_u8 < 100 AND b.f_u8 < 100" },
	{ "a.f_u8, count(*)", "WHERE a.f_u8 < 100 AND b.f_u16 > 9000 GROUP BY a.f_u8" },
	{ "count(*), max(b.f_s32 / b.f_u8)", "" },
	{ "count(*), max(b.f_s32 / b.f_u8)", "WHERE b.f_s32 / b.f_u8 < 77" },
	{ "a.f_u8, b.f_u8, b.path", "" },
	{ "a.f_u8, a.time - b.time", "WHERE a.f_u16 > b.f_u16" },
	{ "b.flag, quantile(a.f_u16, 0.5), avg(b.f_u16)", "GROUP BY b.flag" },
};

static struct replayer *engine;
static struct arena arena, engine_arena;

static char *make_text(struct rng *rng, const char *join)
{
	u32 i = rng_below(rng, ARRAY_SIZE(rests));
	char *text =
		arena_printf(&arena, "SELECT %s FROM %s %s", rests[i].items, join, rests[i].where);

	/* One of an odd length counts its operators, and shares nothing. */
	return strlen(text) % 2 && rng_percent(rng, 95) ? arena_printf(&arena, "%s ", text) : text;
}

static void expect_same(const struct replay_query *beside, const struct dataset *data)
{
	struct result alone;
	const char *error;

	if (!replayer_run(engine, beside->sql, &beside->options, data->events, data->n_events,
			  &arena, &alone, &error))
		fail_msg("%s\n%s", beside->sql, error);
	if (beside->error)
		fail_msg("%s\nbeside others: %s", beside->sql, beside->error);
	result_sort(&alone);
	result_sort((struct result *)&beside->result);
	if (!result_equal(&alone, &beside->result) || alone.events != beside->result.events ||
	    alone.matched != beside->result.matched ||
	    memcmp(alone.lost, beside->result.lost, sizeof(alone.lost)) != 0 ||
	    memcmp(alone.unpaired, beside->result.unpaired, sizeof(alone.unpaired)) != 0) {
		struct buf out;

		buf_init(&out);
		result_print(&alone, &out);
		buf_puts(&out, "-- beside others:\n");
		result_print(&beside->result, &out);
		fail_msg("%s\n%s", beside->sql, out.at);
	}
}

static void check_round(u64 seed, u32 *n_sharing, u32 *n_full)
{
	struct rng rng = { seed };
	const char *few[2];
	u32 first, second;
	struct replay_query queries[N_BESIDE] = { 0 };
	struct dataset data;

	arena_init(&arena);
	dataset_random(&data, &arena, rng_below(&rng, N_DATASETS), seed);
	data.n_events = MIN(data.n_events, EVENTS_MAX);
	for (u32 i = 0; i < data.n_events; i++) {
		data.events[i].stream = rng_percent(&rng, 60) ? STREAM_OTHER : STREAM_EVENT;
		event_encode(&data.events[i], &arena, &rng);
	}
	first = rng_below(&rng, ARRAY_SIZE(joins));
	second = rng_percent(&rng, 50) ? first + 1 : rng_below(&rng, ARRAY_SIZE(joins));
	few[0] = joins[first];
	few[1] = joins[second % ARRAY_SIZE(joins)];
	for (u32 i = 0; i < N_BESIDE; i++) {
		queries[i].sql = make_text(&rng, few[rng_percent(&rng, 30)]);
		queries[i].options.rules_off = rng_percent(&rng, 20) ? "starts" : "";
		queries[i].options.max_in_flight = 64;
	}
	replayer_run_all(engine, queries, N_BESIDE, data.events, data.n_events, &arena);
	for (u32 i = 0; i < N_BESIDE; i++) {
		expect_same(&queries[i], &data);
		*n_sharing += queries[i].n_sharing;
		*n_full += queries[i].result.unpaired[UNPAIRED_FULL] > 0;
	}
	arena_free(&arena);
}

static void test_alike(void **state)
{
	u64 seed = env_number("EBQL_SEED", 1);
	u32 n = getenv("EBQL_TEST_LONG") ? 400 : 40, n_sharing = 0, n_full = 0;

	arena_init(&engine_arena);
	engine = replayer_open(&engine_arena);
	for (u32 i = 0; i < n; i++)
		check_round(seed * 1000 + i, &n_sharing, &n_full);
	print_message("%u queries, of which %u parts share starts; %u had no room for some\n",
		      n * N_BESIDE, n_sharing, n_full);
	assert_true(n_sharing > n * N_BESIDE / 3);
	assert_true(n_full > n / 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_alike) };

	return cmocka_run_group_tests_name("starts", tests, NULL, NULL);
}
