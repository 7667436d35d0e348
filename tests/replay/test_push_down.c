/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Conditions above joins, unions and running sums: the same rows with each rule of the
 * optimiser off, with all on and all off, and by way of the raw scans, which no rule sees.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "opt/opt.h"
#include "pair.h"

enum { N_EVENTS = 3000 };

#define ITEMS "SELECT a.time, a.f_u16, b.f_u16, b.f_s32, a.f_u8"
#define EVENT " FROM tracepoint:test:event AS a "
#define OTHER " JOIN tracepoint:test:other AS b ON "
#define KEYS  "a.f_u8 = b.f_u8 AND a.f_s16 = b.f_s16"
#define LATER " AND a.time >= b.time"
#define UNION_SIDE                                                                                 \
	" JOIN (SELECT f_u8, f_s16, f_u16, f_s32, time, 1 AS k FROM tracepoint:test:other WHERE "  \
	"f_u16 < 40000 UNION ALL SELECT f_u8, f_s16, f_u16, f_s32, time, 2 FROM "                  \
	"tracepoint:test:event WHERE flag) AS b ON "
#define DIVIDED                                                                                    \
	" JOIN (SELECT f_u8, f_s16, f_u16, f_s32, time, 6 / f_u8 AS q FROM tracepoint:test:other " \
	"UNION ALL SELECT f_u8, f_s16, f_u16, f_s32, time, 7 / f_s16 FROM tracepoint:test:event "  \
	"WHERE flag) AS b ON "
#define EITHER                                                                                     \
	"(SELECT f_u8, f_s16, f_u16, 1 AS k, time FROM tracepoint:test:event WHERE f_s32 > 0 "     \
	"UNION ALL SELECT f_u8, f_s16, f_u16 / 2, 2, time FROM tracepoint:test:other UNION ALL "   \
	"SELECT a.f_u8, b.f_s16, b.f_u16, 3, a.time" EVENT "ASOF" OTHER KEYS LATER ") AS u"
#define DEPTH                                                                                      \
	"(SELECT time, f_u8, f_u16, SUM(d) OVER (PARTITION BY f_u8, f_s16) AS depth, f_s16 FROM "  \
	"(SELECT time, f_u8, f_s16, f_u16, 1 AS d FROM tracepoint:test:other UNION ALL SELECT "    \
	"time, f_u8, f_s16, f_u16, -1 FROM tracepoint:test:event) AS u) AS v"
#define DIVIDED_DEPTH                                                                              \
	"(SELECT time, f_u8, SUM(6 / f_s16) OVER (PARTITION BY f_u8) AS depth FROM "               \
	"tracepoint:test:other) AS v"

static const char *const queries[] = {
	/* On keys, on one side, on both, and what can fault. */
	ITEMS EVENT "PAIR" OTHER KEYS " WHERE a.f_u8 = 1",
	ITEMS EVENT "PAIR" OTHER KEYS " WHERE b.f_u8 IN (0, 2) AND a.f_s16 < 1",
	ITEMS EVENT "PAIR" OTHER KEYS " WHERE a.f_u16 < 30000",
	ITEMS EVENT "PAIR" OTHER KEYS " WHERE b.f_u16 < 30000 AND a.f_u8 + a.f_s16 > 0",
	ITEMS EVENT "PAIR" OTHER KEYS " WHERE a.f_u8 > b.f_u16 % 3 OR b.f_s16 = 0",
	ITEMS EVENT "PAIR" OTHER KEYS " WHERE 6 / a.f_u8 > 3 AND a.f_u8 < 2",
	ITEMS EVENT "PAIR" OTHER "a.f_u8 = b.f_s16 WHERE b.f_s16 < 3 AND a.f_u8 <> 0",
	ITEMS EVENT "PAIR" OTHER KEYS " WITHIN 1500ns WHERE a.f_s16 >= 0",
	ITEMS EVENT "LEFT PAIR" OTHER KEYS " WHERE a.f_u8 = 1",
	ITEMS EVENT "LEFT PAIR" OTHER KEYS " WHERE b.f_u8 = 1",
	ITEMS EVENT "LEFT PAIR" OTHER KEYS " WHERE b.f_u8 IS NULL AND a.f_s16 <> 1",
	ITEMS EVENT "LEFT PAIR" OTHER KEYS " WHERE a.f_u16 < 30000",
	ITEMS EVENT "ASOF" OTHER KEYS LATER " WHERE a.f_u8 = 1",
	ITEMS EVENT "ASOF" OTHER KEYS LATER " WHERE a.f_u16 < 30000 AND b.f_u16 < 30000",
	ITEMS EVENT "ASOF" OTHER KEYS LATER " WHERE b.f_s16 = 0 AND a.flag",
	ITEMS EVENT "LEFT ASOF" OTHER KEYS LATER " WHERE a.f_u16 < 30000",
	ITEMS EVENT "LEFT ASOF" OTHER KEYS LATER " WHERE b.f_u16 < 30000 OR a.f_u8 = 2",
	/* What faults behind a guard, before one, between two, as keys and below. */
	ITEMS EVENT "PAIR" OTHER KEYS " WHERE b.f_u8 <> 0 AND 6 / b.f_u8 >= 0",
	ITEMS EVENT "PAIR" OTHER KEYS " WHERE 6 / b.f_u8 >= 0 AND b.f_u8 <> 1 AND a.f_u16 < 30000",
	ITEMS EVENT "PAIR" OTHER KEYS " WHERE 6 / a.f_u8 > 1 AND a.f_s16 = 0",
	ITEMS EVENT "LEFT PAIR" OTHER KEYS " WHERE b.f_u8 IS NULL OR 6 / b.f_u8 > 1",
	ITEMS EVENT "ASOF" OTHER KEYS LATER " WHERE 9 / b.f_u8 > 3 AND a.f_u16 < 30000",
	ITEMS ", CASE WHEN b.f_u8 <> 0 THEN 6 / b.f_u8 END" EVENT "PAIR" OTHER KEYS,
	ITEMS ", 6 / (b.f_u8 - 1) + 6 / b.f_u8" EVENT "PAIR" OTHER KEYS " WHERE b.f_u8 <> 0",
	ITEMS EVENT "PAIR" OTHER
		    "12 / a.f_u8 = 12 / b.f_u8 AND a.f_s16 = b.f_s16 WHERE a.f_s16 = 0",
	ITEMS EVENT "LEFT PAIR" OTHER KEYS " WHERE coalesce(6 / b.f_u8, 7) > 3 AND a.f_u16 < 30000",
	"SELECT count(*), sum(100 / b.f_u8) FILTER (WHERE b.f_u8 <> 0) AS s" EVENT
	"PAIR" OTHER KEYS,
	"SELECT b.f_u16 / b.f_u8 AS k, count(*) AS n" EVENT "PAIR" OTHER KEYS
	" WHERE b.f_s16 <> 0 AND b.f_u8 > 0 GROUP BY k",
	/* Unions: on a side of a join, above branches that are joins, constants of branches. */
	ITEMS EVENT "ASOF" UNION_SIDE KEYS LATER " WHERE a.f_u8 < 2 AND b.k = 1",
	ITEMS EVENT "ASOF" UNION_SIDE KEYS LATER " WHERE b.f_u8 < 2 AND b.f_s16 <> 0",
	ITEMS EVENT "PAIR" UNION_SIDE KEYS " WHERE a.f_u8 = 0 AND b.f_u16 > 20000",
	"SELECT * FROM " EITHER " WHERE f_u8 = 1",
	"SELECT * FROM " EITHER " WHERE k <> 2 AND f_u16 > 20000",
	"SELECT * FROM " EITHER " WHERE 100 / (k - 1) >= 0 AND f_u8 = 1",
	ITEMS ", b.q" EVENT "ASOF" DIVIDED KEYS LATER " WHERE b.f_u8 <> 0 AND b.q >= 0",
	ITEMS EVENT "ASOF" DIVIDED KEYS LATER " WHERE a.f_u16 < 30000",
	"SELECT * FROM " EITHER " WHERE k = 3 OR f_s16 = 0 AND f_u16 / f_u8 > 20000",
	"SELECT f_u8, k, count(*), sum(f_u16) FROM " EITHER " WHERE f_u8 = 2 GROUP BY f_u8, k",
	"SELECT k, count(*) FROM " EITHER " WHERE k IN (1, 3) AND f_s16 < 1 GROUP BY k, k * 2",
	/* Sums of other keys are none of the query's; what reads no key must come to the sum. */
	"SELECT * FROM " DEPTH " WHERE f_u8 = 1",
	"SELECT * FROM " DEPTH " WHERE f_u8 + f_s16 < 2 AND f_u16 > 20000",
	"SELECT * FROM " DEPTH " WHERE 6 / f_u8 > 3 AND f_s16 = 0",
	"SELECT * FROM " DIVIDED_DEPTH " WHERE f_u8 = 1",
	"SELECT * FROM " DEPTH " WHERE depth > 1 AND f_s16 = 0",
	"SELECT f_u8, max(depth), count(*) FROM " DEPTH " WHERE f_u8 <> 0 GROUP BY f_u8",
};

/* Up to 8 starts wait for a PAIR JOIN, so none gives its room away. */
static const struct configuration configuration = {
	.name = "push down",
	.keys = { C_U8, C_S16 },
	.n_keys = 2,
	.n_values = 3,
	.most = 8,
	.n_items = 0,
};

/* What faults is the query's: no rule may make one more or spare one. */
static bool is_equal(const struct result *expected, const struct result *got)
{
	return result_equal(expected, got) && expected->events == got->events &&
	       expected->matched == got->matched &&
	       expected->lost[LOSS_FAULT] == got->lost[LOSS_FAULT];
}

struct job {
	struct replayer *engine;
	struct arena *arena;
	const struct event *events;
};

static void run(const struct job *job, const char *sql, const char *rules_off,
		enum engine_rows rows, struct result *ret_result)
{
	const struct engine_options options = { rules_off, "auto", .max_in_flight = 4096,
						.rows = rows };
	const char *error = NULL;

	if (!replayer_run(job->engine, sql, &options, job->events, N_EVENTS, job->arena, ret_result,
			  &error))
		fail_msg("%s\n  rules_off '%s': %s", sql, rules_off, error);
	result_sort(ret_result);
}

static void check(const struct job *job, const char *sql, const struct result *expected,
		  const char *rules_off, enum engine_rows rows)
{
	struct result got;
	struct buf out;

	run(job, sql, rules_off, rows, &got);
	if (is_equal(expected, &got))
		return;
	buf_init(&out);
	buf_printf(&out,
		   "%u rows, should be %u; matched %llu of %llu, should be %llu of %llu; faults "
		   "%llu, should be %llu",
		   got.n_rows, expected->n_rows, (unsigned long long)got.matched,
		   (unsigned long long)got.events, (unsigned long long)expected->matched,
		   (unsigned long long)expected->events, (unsigned long long)got.lost[LOSS_FAULT],
		   (unsigned long long)expected->lost[LOSS_FAULT]);
	fail_msg("%s\n  rules_off '%s', rows in way %d: %s", sql, rules_off, rows, out.at);
}

/* Not counted here: rows without a partner that a rule drops before they look for one. */
static void test_rules(void **state)
{
	struct event *events;
	const char *reason = NULL;
	struct arena arena;
	struct rng rng = { 11 };
	struct model m;
	struct job job;

	(void)state;
	arena_init(&arena);
	job = (struct job){ replayer_open(&arena, &reason), &arena, NULL };
	if (!job.engine) {
		print_message("SKIP: %s\n", reason);
		arena_free(&arena);
		skip();
	}
	events = arena_array(&arena, struct event, N_EVENTS);
	m = (struct model){ .c = &configuration, .arena = &arena };
	m.waiting = arena_array(&arena, const struct event *, N_EVENTS + 1);
	pair_model_run(&m, &rng, events, N_EVENTS);
	job.events = events;
	for (u32 i = 0; i < ARRAY_SIZE(queries); i++) {
		struct result expected;

		run(&job, queries[i], "all", ROWS_OF_KERNEL, &expected);
		print_message("%5u rows  %.100s ...\n", expected.n_rows, queries[i]);
		assert_true(expected.n_rows > 0);
		check(&job, queries[i], &expected, "", ROWS_OF_KERNEL);
		for (u32 k = 0; k < opt_n_rules; k++)
			check(&job, queries[i], &expected, opt_rules[k].name, ROWS_OF_KERNEL);
		if (!strstr(queries[i], "count("))
			check(&job, queries[i], &expected, "", ROWS_OF_RAW_SCANS);
	}
	arena_free(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_rules) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
