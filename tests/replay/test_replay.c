/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Queries and results worked out by hand, in every layout of the state, with the optimiser's
 * rules on and off; arithmetic at the ends of 64 bits; and more groups than there is room for.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "replay.h"

struct variant {
	const char *name;
	struct engine_options options;
};

/* Each case runs through all of them. */
static const struct variant variants[] = {
	{ "rules on, state auto", { "", "auto" } },
	{ "rules off, state auto", { "all", "auto" } },
	{ "rules on, state table", { "", "table" } },
	{ "rules off, state table", { "all", "table" } },
	{ "rules on, state kernel_map", { "", "kernel_map" } },
	{ "rules off, state kernel_map", { "all", "kernel_map" } },
	{ "rules on, state auto, old kernel", { "", "auto", .is_old_kernel = true } },
	{ "rules on, state auto, 5 panes", { "", "auto", .n_panes = 5 } },
	{ "rules off, state table, 30 panes", { "all", "table", .n_panes = 30 } },
};

/* --- Cases worked out by hand --- */

/* The query with the table t in place of the stream. */
static const char *sql_for_reference(const char *sql, struct arena *arena)
{
	const char *at = strstr(sql, REPLAY_STREAM);

	BUG_ON(!at);
	return arena_printf(arena, "%.*st%s", (int)(at - sql), sql, at + strlen(REPLAY_STREAM));
}

static bool rows_equal(const struct replay_case *c, struct result *got)
{
	struct result expected = c->expected;

	if (!c->is_ordered) {
		result_sort(&expected);
		result_sort(got);
	}
	/* Without rows the case does not say how many columns there are. */
	return (expected.n_rows == 0 && got->n_rows == 0) || result_equal(&expected, got);
}

static void print_case(const struct replay_case *c, const char *how, const struct result *got,
		       const char *error)
{
	struct buf out;

	buf_init(&out);
	buf_printf(&out, "cases.sql:%u: %s\n  %s\n  %s\n  expected:\n", c->line, c->name, c->sql,
		   how);
	result_print(&c->expected, &out);
	buf_puts(&out, "  got:\n");
	if (error)
		buf_printf(&out, "    %s\n", error);
	else
		result_print(got, &out);
	fprintf(stderr, "%s\n", out.at);
	buf_free(&out);
}

/* The hand-made answers are SQLite's, but where the case says why not. */
static void test_cases_reference(void **state)
{
	sqlite3 *db = reference_open();
	struct case_file *file;
	struct arena arena;
	u32 n_wrong = 0;

	arena_init(&arena);
	file = case_file_read(CASES_PATH, &arena);
	for (u32 i = 0; i < file->cases.n; i++) {
		struct replay_case *c = &file->cases.at[i];
		const char *error = NULL;
		struct result got;

		if (c->reason || c->refused)
			continue;
		reference_load(db, c->events.at, c->events.n);
		if (reference_run(db, sql_for_reference(c->sql, &arena), &arena, &got, &error) &&
		    rows_equal(c, &got))
			continue;
		print_case(c, "SQLite", &got, error);
		n_wrong++;
	}
	sqlite3_close(db);
	arena_free(&arena);
	assert_int_equal(n_wrong, 0);
}

static bool case_passes(struct replayer *engine, const struct replay_case *c,
			const struct variant *variant, struct arena *arena)
{
	struct engine_options options = variant->options;
	const char *error = NULL;
	struct result got = { 0 };
	bool ok, lost_ok = true;

	options.max_groups = c->max_groups;
	/* Each pane has room for so many: other groups are exact than in one table. */
	if (c->max_groups)
		options.n_panes = 0;
	ok = replayer_run(engine, c->sql, &options, c->events.at, c->events.n, arena, &got, &error);
	if (c->refused) {
		if (!ok && strstr(error, arena_printf(arena, "[%s]", c->refused)))
			return true;
	} else if (ok) {
		for (u32 i = 0; i < LOSS_N; i++)
			lost_ok &= i == LOSS_FAULT && !c->faults_checked
					   ? true
					   : got.lost[i] == c->expected.lost[i];
		if (lost_ok && (got.events == c->events.n || c->has_others) && rows_equal(c, &got))
			return true;
	}
	print_case(c, variant->name, &got, error);
	return false;
}

static void test_cases(void **state)
{
	struct case_file *file;
	struct replayer *engine;
	struct arena arena;
	u32 n_wrong = 0;

	arena_init(&arena);
	file = case_file_read(CASES_PATH, &arena);
	engine = replayer_open(&arena);
	for (u32 i = 0; i < file->cases.n; i++) {
		bool ok = true;

		for (u32 v = 0; v < ARRAY_SIZE(variants) && ok; v++)
			ok = case_passes(engine, &file->cases.at[i], &variants[v], &arena);
		n_wrong += !ok;
	}
	print_message("%u cases, %u ways each; %u wrong\n", file->cases.n,
		      (u32)ARRAY_SIZE(variants), n_wrong);
	arena_free(&arena);
	assert_int_equal(n_wrong, 0);
}

/* --- Checks with files of their own --- */

static void run_check(u32 (*check)(struct replayer *engine, u64 seed, struct buf *report))
{
	struct replayer *engine;
	struct arena arena;
	struct buf report;
	u32 n_wrong;

	arena_init(&arena);
	engine = replayer_open(&arena);
	buf_init(&report);
	n_wrong = check(engine, env_number("EBQL_SEED", 1), &report);
	if (n_wrong)
		fprintf(stderr, "%s\n", report.at);
	buf_free(&report);
	arena_free(&arena);
	assert_int_equal(n_wrong, 0);
}

static void test_other(void **state)
{
	run_check(other_check);
}

static void test_overflow(void **state)
{
	run_check(overflow_check);
}

/* --- Times that come out of order --- */

/* Rows are put in order; those of one time stay as they came: f_u32 is their number. */
static void test_order(void **state)
{
	enum { N = 190 }; /* so few are read at the end alone */
	struct rng rng = { env_number("EBQL_SEED", 1) };
	struct event events[N];
	struct replayer *engine;
	struct arena arena;

	arena_init(&arena);
	engine = replayer_open(&arena);
	for (u32 i = 0; i < N; i++) {
		event_init(&events[i]);
		events[i].integers[C_TIME] = 1000 + rng_below(&rng, 50);
		events[i].integers[C_U32] = i;
		event_encode(&events[i], &arena, &rng);
	}
	for (enum engine_rows rows = ROWS_OF_KERNEL; rows <= ROWS_OF_RAW_SCANS; rows++) {
		const struct engine_options options = { "", "auto", .rows = rows };
		const char *error = NULL;
		struct result got;

		/* With a select beside them SQLite reads the rows, also a kernel part's. */
		assert_true(replayer_run(engine,
					 "SELECT time, f_u32, (SELECT 1) FROM " REPLAY_STREAM,
					 &options, events, N, &arena, &got, &error));
		assert_int_equal(got.n_rows, N);
		for (u32 i = 3; i < 3 * N; i += 3) {
			const struct value *row = &got.values[i], *before = row - 3;

			assert_true(before[0].integer < row[0].integer ||
				    (before[0].integer == row[0].integer &&
				     before[1].integer < row[1].integer));
		}
	}
	arena_free(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cases_reference), cmocka_unit_test(test_cases),
		cmocka_unit_test(test_overflow),	cmocka_unit_test(test_other),
		cmocka_unit_test(test_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
