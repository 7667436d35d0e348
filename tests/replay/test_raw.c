/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The operators in user space over raw scans give the rows, in their order, and the
 * left-overs that the kernel part gives.
 *
 * EBQL_SEED.  EBQL_EVENTS: how many for each query.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "replay.h"

enum { N_EVENTS = 5000, N_KEYS = 3 };

#define EVENT "tracepoint:test:event"
#define OTHER "tracepoint:test:other"
#define ALL_B                                                                                      \
	"b.f_u8, b.f_s8, b.f_u16, b.f_s16, b.f_u32, b.f_s32, b.f_u64, b.f_s64, b.flag, b.name, "   \
	"b.path, b.dl, b.ptr, b.pid, b.tid, b.ppid, b.uid, b.gid, b.comm, b.cpu, b.cgroup, "       \
	"b.numa_node"
#define COLUMNS "f_u8, f_u16, f_s32, f_s64, flag, path, pid, time"
#define EITHER                                                                                     \
	"(SELECT " COLUMNS " FROM " OTHER " WHERE f_u16 < 40000 UNION ALL SELECT " COLUMNS         \
	" FROM " EVENT " WHERE flag)"
#define ON " ON a.f_u8 = b.f_u8"

static const char *const queries[] = {
	/* One scan. */
	"SELECT time FROM " EVENT,
	"SELECT time, f_u8, f_s8, f_u16, f_s16, f_u32, f_s32, f_u64, f_s64, flag, name, path, dl, "
	"ptr FROM " EVENT,
	"SELECT time, pid, tid, ppid, uid, gid, comm, cpu, cgroup, numa_node, probe FROM " EVENT,
	"SELECT time, 7, 'it''s', NULL, 9223372036854775807, -9223372036854775808 FROM " EVENT,
	"SELECT time, f_u8 FROM " EVENT " WHERE f_u16 < 30000",
	"SELECT time, f_u8 FROM " EVENT " WHERE f_u16 < 30000 AND flag OR f_s32 < 0",
	"SELECT time, name FROM " EVENT " WHERE name LIKE '%1%' AND path NOT GLOB '*2*'",
	"SELECT time, name FROM " EVENT " WHERE name IN ('a', 'ab', 'abc') OR comm > name",
	"SELECT time, f_u8 FROM " EVENT " WHERE f_u8 IN (1, 2, 250) AND f_s8 NOT IN (0, 1)",
	"SELECT time, f_u8 FROM " EVENT " WHERE f_u8 > 250 AND f_u8 < 2",
	"SELECT time, probe, f_s64 FROM tracepoint:test:* WHERE probe LIKE '%other' OR f_u8 > 1",
	"SELECT time, f_u8 FROM " EVENT " WHERE probe = 'tracepoint:test:event'",
	/* Arithmetic as the kernel does it: what does not fit is NULL. */
	"SELECT time, f_s64 + f_u64, f_s64 - f_u64, f_s64 * f_u8, f_u64 * f_u8, -f_s64, ~f_s64 "
	"FROM " EVENT,
	"SELECT time, f_u64 * 2, f_u64 * 2 + 1, f_u64 * 2 > f_s64, f_u64 * 2 - f_s64 FROM " EVENT,
	"SELECT time, f_s64 / f_s8, f_s64 % f_s8, f_u64 / f_u8, f_s64 / (f_s8 + 1) FROM " EVENT,
	"SELECT time, f_s64 & f_s32, f_s64 | f_u16, f_s64 << (f_u8 & 63), f_s64 >> (f_u8 & 63), "
	"f_u64 << 3, f_u64 >> f_s8, f_s32 << 40 FROM " EVENT,
	"SELECT time, (f_u64 * 2) << 1, (f_u64 * 2) >> 1, (f_u64 * 2) & 255, (f_u64 * 2) | 1 "
	"FROM " EVENT,
	"SELECT time, CASE WHEN f_u8 < 2 THEN f_s64 WHEN f_s8 < 0 THEN NULL ELSE f_u16 END FROM " EVENT,
	"SELECT time, CASE WHEN flag THEN f_u64 * 2 ELSE f_s8 END FROM " EVENT,
	"SELECT time, abs(f_s64), min(f_s64, f_u8), max(f_s8, f_s16), iif(flag, f_u8, NULL) "
	"FROM " EVENT,
	"SELECT time, f_u8 IS NULL, f_u8 / f_u16 IS NULL, f_u8 / f_u16 IS f_u8, NOT flag FROM " EVENT,
	"SELECT time, f_u64 * 2 = f_u64 * 2, f_u64 * 2 IN (1, 2), f_u64 * 2 < 9223372036854775808 "
	"FROM " EVENT,
	"SELECT time, f_u8 BETWEEN 1 AND 3, name = comm, name < 'b', flag = 1 FROM " EVENT,
	/* Unions. */
	"SELECT time, f_u8 FROM (SELECT time, f_u8 FROM " EVENT " UNION ALL SELECT time, f_u16 "
	"FROM " OTHER ")",
	"SELECT time, c, d FROM (SELECT time, name AS c, 1 AS d FROM " EVENT
	" WHERE f_u8 < 2 UNION ALL SELECT time, NULL, -1 FROM " OTHER
	") WHERE c LIKE '%1' OR d < 0",
	"SELECT time, c + 1, c > 5 FROM (SELECT time, 7 AS c FROM " EVENT
	" UNION ALL SELECT time, f_s32 FROM " OTHER " UNION ALL SELECT time, NULL FROM " EVENT ")",
	/* Running sums. */
	"SELECT time, SUM(f_s16) OVER (PARTITION BY f_u8) AS r, count(*) OVER (PARTITION BY cpu) "
	"FROM " EVENT,
	"SELECT time, d FROM (SELECT time, SUM(c) OVER (PARTITION BY k) AS d FROM (SELECT time, "
	"f_u8 AS k, 1 AS c FROM " OTHER " UNION ALL SELECT time, f_u8, -1 FROM " EVENT
	")) WHERE d > 0",
	"SELECT time, SUM(iif(flag, f_s64, NULL)) OVER (PARTITION BY name) FROM " EVENT,
	"SELECT a.time, b.r FROM " EVENT " a LEFT ASOF JOIN (SELECT time, f_u8, SUM(f_s16) OVER "
	"(PARTITION BY f_u8) AS r FROM " OTHER ") b" ON " AND a.time >= b.time",
	/* PAIR JOIN. */
	"SELECT a.time, b.time, a.time - b.time, a.f_u8 FROM " EVENT " a PAIR JOIN " OTHER " b" ON,
	"SELECT a.time, " ALL_B " FROM " EVENT " a PAIR JOIN " OTHER " b" ON,
	"SELECT a.time, " ALL_B " FROM " EVENT " a LEFT PAIR JOIN " OTHER " b" ON,
	"SELECT a.time, b.f_s16 FROM " EVENT " a PAIR JOIN " OTHER " b ON a.name = b.name AND "
	"a.f_u8 = b.f_u8",
	"SELECT a.time, b.f_s16 FROM " EVENT " a PAIR JOIN " OTHER
	" b ON CASE WHEN a.flag THEN a.f_u8 END = CASE WHEN b.flag THEN b.f_u8 END",
	"SELECT a.time, b.f_s16 FROM " EVENT " a LEFT PAIR JOIN " OTHER
	" b ON CASE WHEN a.flag THEN a.f_u8 END = CASE WHEN b.flag THEN b.f_u8 END",
	"SELECT a.time, b.time FROM " EVENT " a PAIR JOIN " OTHER " b" ON " WITHIN 500ns",
	"SELECT a.time, b.time, b.name FROM " EVENT " a LEFT PAIR JOIN " OTHER " b" ON
	" WITHIN 300ns",
	"SELECT a.time, b.time, b.path FROM " EVENT " a PAIR JOIN " EVENT " b" ON,
	"SELECT a.time, b.time, b.f_s32, b.path, b.pid FROM " EVENT " a PAIR JOIN " EITHER " b" ON,
	"SELECT a.time, b.f_s32 + 1, b.path FROM " EVENT " a LEFT PAIR JOIN " EITHER " b" ON,
	"SELECT a.time, iif(b.flag, b.f_s8, NULL), b.f_s16 * 2, b.name || '!' FROM " EVENT
	" a LEFT PAIR JOIN " OTHER " b" ON " WHERE a.f_u16 < 30000",
	"SELECT a.time, b.f_u16 FROM " EVENT " a PAIR JOIN " OTHER " b" ON
	" WHERE b.f_u16 < 30000 AND a.f_s32 > b.f_s32",
	"SELECT a.time, b.probe, a.probe FROM " EVENT " a PAIR JOIN (SELECT f_u8, probe FROM "
	"tracepoint:test:* WHERE flag OR probe LIKE '%other') b" ON
	" WHERE b.probe LIKE '%r' OR a.f_u8 = 1",
	"SELECT a.time, c.time, b.time FROM " EVENT " a PAIR JOIN " OTHER " b" ON
	" PAIR JOIN " OTHER " c ON a.f_u8 = c.f_u8",
	"SELECT a.time, a.f_u8, b.time FROM (SELECT time, f_u8 FROM " EVENT
	" UNION ALL SELECT time, f_u8 FROM " EVENT " WHERE flag) a PAIR JOIN " OTHER " b" ON,
	"SELECT x.time, x.s, x.p FROM (SELECT a.time, b.f_s16 AS s, 'pair' AS p FROM " EVENT
	" a PAIR JOIN " OTHER " b" ON " UNION ALL SELECT time, f_s8, NULL FROM " OTHER ") x",
	/* ASOF JOIN. */
	"SELECT a.time, b.time, b.path FROM " EVENT " a ASOF JOIN " OTHER " b" ON
	" AND a.time >= b.time",
	"SELECT a.time, b.time, b.f_s64 FROM " EVENT " a LEFT ASOF JOIN " OTHER " b" ON
	" AND a.time >= b.time WITHIN 700ns",
	"SELECT a.time, b.time, b.path FROM " EVENT " a ASOF JOIN " EVENT " b" ON
	" AND a.time >= b.time",
	"SELECT a.time, b.f_s32 FROM " EVENT " a LEFT ASOF JOIN " EITHER
	" b ON a.name = b.path AND a.time >= b.time",
	"SELECT a.time, b.time, c.time FROM " EVENT " a ASOF JOIN " OTHER " b" ON
	" AND a.time >= b.time PAIR JOIN " OTHER " c ON a.f_u8 = c.f_u8",
};

static u64 env_number(const char *name, u64 otherwise)
{
	const char *text = getenv(name);

	return text && *text ? strtoull(text, NULL, 0) : otherwise;
}

static const char *const names[] = { "a", "ab", "abcdefgh-1", "" };

/* At most so many starts in a lot, then enough ends for those of every key. */
enum { LOT = 40, LOT_STARTS = 7, LOT_ENDS = N_KEYS * (int)ARRAY_SIZE(names) * 2 * LOT_STARTS };

/*
 * Key columns have few values, the others whatever they can hold.  Which of many starts
 * give way hangs on the kernel's table: so there are never more of a key than its ways.
 */
static void make_event(struct event *e, u32 number, u32 *n_starts, struct rng *rng)
{
	u32 name = rng_below(rng, ARRAY_SIZE(names)), at = number % (LOT + LOT_ENDS);

	if (at == 0)
		*n_starts = 0;
	e->stream = STREAM_EVENT;
	e->integers[C_U8] = rng_below(rng, N_KEYS);
	if (at < LOT && *n_starts < LOT_STARTS && rng_percent(rng, 50)) {
		e->stream = STREAM_OTHER;
		++*n_starts;
	} else if (at >= LOT) {
		at -= LOT;
		e->integers[C_U8] = at % N_KEYS;
		name = at / N_KEYS % ARRAY_SIZE(names);
		e->integers[C_BOOL] = at < LOT_ENDS / 2;
	}
	e->texts[C_NAME] = names[name];
	e->text_bytes[C_NAME] = strlen(names[name]);
}

static void random_events(struct event *events, u32 n, u64 seed, struct arena *arena)
{
	struct rng rng = { seed };
	struct dataset data;
	u64 time_ns = 1000000;
	u32 n_starts = 0;

	for (u32 i = 0; i < n; i++) {
		struct event *e = &events[i];

		if (i % 200 == 0)
			dataset_random(&data, arena, 1 + rng_below(&rng, 5), rng_next(&rng) >> 32);
		*e = data.events[i % 200];
		make_event(e, i, &n_starts, &rng);
		time_ns += 1 + rng_below(&rng, 100);
		e->integers[C_TIME] = time_ns;
		event_encode(e, arena, &rng);
	}
}

static bool rows_equal(const struct result *a, const struct result *b, struct buf *report)
{
	u32 n = a->n_columns;

	if (a->n_rows != b->n_rows)
		buf_printf(report, "  %u rows, should be %u\n", b->n_rows, a->n_rows);
	for (u32 i = 0; i < MIN(a->n_rows, b->n_rows) * n; i++) {
		if (!value_compare(&a->values[i], &b->values[i]))
			continue;
		buf_printf(report, "  row %u, column %u: ", i / n, i % n);
		value_print(&b->values[i], report);
		buf_puts(report, ", should be ");
		value_print(&a->values[i], report);
		buf_putc(report, '\n');
		return false;
	}
	return a->n_rows == b->n_rows;
}

/*
 * Of one expression with several faults the kernel counts the first, SQLite computes on:
 * random ones have faults in both or in none.
 */
static bool counters_equal(const struct result *a, const struct result *b, bool is_strict,
			   struct buf *report)
{
	bool is_equal = a->events == b->events && a->matched == b->matched;

	if (!is_equal)
		buf_printf(report, "  events %lu, matched %lu, should be %lu and %lu\n", b->events,
			   b->matched, a->events, a->matched);
	for (u32 i = 0; i < UNPAIRED_N; i++) {
		if (a->unpaired[i] == b->unpaired[i])
			continue;
		buf_printf(report, "  %s %lu, should be %lu\n", unpaired_names[i], b->unpaired[i],
			   a->unpaired[i]);
		is_equal = false;
	}
	for (u32 i = 0; i < LOSS_N; i++) {
		if (a->lost[i] == b->lost[i] ||
		    (i == LOSS_FAULT && !is_strict && a->lost[i] && b->lost[i]))
			continue;
		buf_printf(report, "  %s %lu, should be %lu\n", loss_names[i], b->lost[i],
			   a->lost[i]);
		is_equal = false;
	}
	return is_equal;
}

enum verdict { VERDICT_WRONG, VERDICT_RIGHT, VERDICT_SKIPPED };

/* SQLite refuses a value: nothing is to be compared. */
static bool is_skipped(const char *error)
{
	return error && strstr(error, "[too-large]");
}

static enum verdict compare(struct replayer *engine, const char *sql, struct engine_options options,
			    enum engine_rows rows, const struct event *events, u32 n,
			    bool is_strict, u32 *n_rows)
{
	enum verdict verdict = VERDICT_WRONG;
	struct result expected, got;
	const char *error = NULL;
	struct buf report;
	struct arena arena;

	arena_init(&arena);
	buf_init(&report);
	buf_puts(&report, "");
	if (replayer_run(engine, sql, &options, events, n, &arena, &expected, &error)) {
		options.rows = rows;
		if (replayer_run(engine, sql, &options, events, n, &arena, &got, &error) &&
		    rows_equal(&expected, &got, &report) &&
		    counters_equal(&expected, &got, is_strict, &report)) {
			verdict = VERDICT_RIGHT;
			*n_rows += got.n_rows;
		}
	}
	if (is_skipped(error))
		verdict = VERDICT_SKIPPED;
	if (verdict == VERDICT_WRONG)
		print_message("%s\n  rules_off '%s', %s\n%s%s", sql, options.rules_off,
			      rows == ROWS_OF_RAW_SCANS ? "raw scans" : "rows of the kernel",
			      error ? error : "", report.at);
	buf_free(&report);
	arena_free(&arena);
	return verdict;
}

/* With and without the optimiser's rules. */
static u32 run_query(struct replayer *engine, const char *sql, const struct event *events, u32 n,
		     bool is_strict, u32 *n_rows)
{
	static const char *const rules[] = { "", "all" };
	u32 n_wrong = 0;

	for (u32 i = 0; i < ARRAY_SIZE(rules); i++) {
		struct engine_options options = { rules[i], "auto", .max_in_flight = 4096 };

		n_wrong += !compare(engine, sql, options, ROWS_OF_RAW_SCANS, events, n, is_strict,
				    n_rows);
	}
	return n_wrong;
}

static struct replayer *open_engine(struct arena *arena)
{
	const char *reason = NULL;
	struct replayer *engine;

	arena_init(arena);
	engine = replayer_open(arena, &reason);
	if (!engine) {
		print_message("SKIP: %s\n", reason);
		arena_free(arena);
		skip();
	}
	return engine;
}

static void test_queries(void **state)
{
	u32 n = (u32)env_number("EBQL_EVENTS", N_EVENTS), n_wrong = 0, n_rows = 0;
	struct arena arena;
	struct replayer *engine = open_engine(&arena);
	struct event *events = arena_array(&arena, struct event, n);

	(void)state;
	random_events(events, n, env_number("EBQL_SEED", 1), &arena);
	for (u32 i = 0; i < ARRAY_SIZE(queries); i++)
		n_wrong += run_query(engine, queries[i], events, n, true, &n_rows);
	print_message("%u rows of %u queries\n", n_rows, (u32)ARRAY_SIZE(queries));
	arena_free(&arena);
	assert_int_equal(n_wrong, 0);
	assert_true(n_rows > 0);
}

/* --- Times that come out of order --- */

static bool is_in_order(const struct result *result)
{
	for (u32 i = 1; i < result->n_rows; i++) {
		const struct value *before = &result->values[(i - 1) * 3], *row = before + 3;

		/* Of one time, they are in the order in which they came: f_u32 is their number. */
		if (before[0].integer > row[0].integer ||
		    (before[0].integer == row[0].integer && before[1].integer >= row[1].integer))
			return false;
	}
	return true;
}

static void test_order(void **state)
{
	/* So few are read at the end alone. */
	enum { N = 190 };
	struct rng rng = { env_number("EBQL_SEED", 1) };
	struct event events[N];
	struct arena arena;
	struct replayer *engine = open_engine(&arena);

	(void)state;
	for (u32 i = 0; i < N; i++) {
		event_init(&events[i]);
		events[i].integers[C_TIME] = 1000 + rng_below(&rng, 50);
		events[i].integers[C_U32] = i;
		event_encode(&events[i], &arena, &rng);
	}
	for (u32 i = 0; i < 2; i++) {
		const struct engine_options options = { "", "auto",
							.rows = i ? ROWS_OF_RAW_SCANS
								  : ROWS_OF_KERNEL };
		const char *error = NULL;
		struct result got;

		/* With a select beside them SQLite reads the rows, of a part of the kernel's too.
		 */
		assert_true(replayer_run(engine, "SELECT time, f_u32, (SELECT 1) FROM " EVENT,
					 &options, events, N, &arena, &got, &error));
		assert_int_equal(got.n_rows, N);
		assert_true(is_in_order(&got));
	}
	arena_free(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_queries),
					    cmocka_unit_test(test_order) };

	return cmocka_run_group_tests_name("raw", tests, NULL, NULL);
}
