/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Running sums where they have no value: beyond 64 bits, and where there are more keys than
 * room.  All others are of tests/random.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "replay.h"

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

	arena_init(&arena);
	engine = replayer_open(&arena);
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

	arena_init(&arena);
	engine = replayer_open(&arena);
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

	arena_init(&arena);
	engine = replayer_open(&arena);
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
	};

	return cmocka_run_group_tests_name("running", tests, NULL, NULL);
}
