/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Random queries over random events: the kernel's answer must equal SQLite's, with
 * the optimiser's rules on and off and for every layout of the state.  A failure
 * is made small before it is printed.
 *
 *   EBQL_SEED=7 EBQL_QUERIES=20000 EBQL_FIRST=123 tests/replay/test_replay
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "opt/opt.h"
#include "replay.h"

#define FAILURES_MAX 5

struct variant {
	const char *name;
	struct engine_options options;
};

/* Each query runs through all of them. */
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

struct totals {
	u32 n_queries, n_runs, n_rows_some, n_where_some, n_grouped, n_streaming, n_having,
		n_ordered;
};

/* One comparison: this query, these rows, this way of running it. */
struct trial {
	struct engine *engine;
	sqlite3 *db;
	const struct event *events;
	u32 n_events;
	const struct variant *variant;
	struct buf *report; /* NULL: only the answer */
	bool has_reference; /* db holds these very events already */
	/* While shrinking: the failure to keep, "" a wrong result, else how it was refused. */
	const char *kind;
	char last_kind[64];
};

/* "load: error[verifier]: ..." -> "load: error[verifier]" */
static void note_kind(struct trial *trial, const char *error)
{
	size_t n = error ? strcspn(error, "]") : 0;

	snprintf(trial->last_kind, sizeof(trial->last_kind), "%.*s", (int)n, error ? error : "");
}

static u64 env_number(const char *name, u64 otherwise)
{
	const char *text = getenv(name);

	return text && *text ? strtoull(text, NULL, 0) : otherwise;
}

static bool reference_of(struct trial *trial, const struct query *query, struct arena *arena,
			 struct result *ret_result)
{
	const char *error = NULL;
	struct result matched;
	struct buf sql;
	bool ok;

	buf_init(&sql);
	query_print(query, DIALECT_SQLITE, &sql);
	ok = reference_run(trial->db, sql.at, arena, ret_result, &error);
	buf_reset(&sql);
	query_print_matched(query, &sql);
	ok = ok && reference_run(trial->db, sql.at, arena, &matched, &error);
	buf_free(&sql);
	if (!ok) {
		if (trial->report)
			buf_printf(trial->report, "SQLite refuses: %s\n", error);
		return false;
	}
	ret_result->has_counters = true;
	ret_result->events = trial->n_events;
	ret_result->matched = (u64)matched.values[0].integer;
	if (!query->n_order_by)
		result_sort(ret_result);
	return true;
}

static bool results_agree(const struct result *expected, const struct result *got)
{
	return result_equal(expected, got) && expected->events == got->events &&
	       expected->matched == got->matched && !got->lost[LOSS_TABLE_FULL] &&
	       !got->lost[LOSS_MISSED] && !got->lost[LOSS_RING_FULL];
}

/* True when ebql and SQLite differ. */
static bool trial_fails(void *context, const struct query *query)
{
	struct trial *trial = context;
	struct result expected, got;
	const char *error = NULL;
	struct arena arena;
	struct buf sql;
	bool fails = false;

	arena_init(&arena);
	buf_init(&sql);
	if (!trial->has_reference)
		reference_load(trial->db, trial->events, trial->n_events);
	trial->has_reference = true;
	if (!reference_of(trial, query, &arena, &expected))
		goto out; /* a shrinking step that SQLite refuses */
	query_print(query, DIALECT_EBQL, &sql);
	if (!engine_run(trial->engine, sql.at, &trial->variant->options, trial->events,
			trial->n_events, &arena, &got, &error)) {
		fails = true;
	} else {
		if (!query->n_order_by)
			result_sort(&got);
		fails = !results_agree(&expected, &got);
	}
	note_kind(trial, error);
	if (fails && trial->kind && strcmp(trial->kind, trial->last_kind) != 0)
		fails = false;
	if (trial->report && fails) {
		buf_printf(trial->report, "  %s\n  %s, %u events\n", sql.at, trial->variant->name,
			   trial->n_events);
		buf_puts(trial->report, "  SQLite:\n");
		result_print(&expected, trial->report);
		buf_puts(trial->report, "  ebql:\n");
		if (error)
			buf_printf(trial->report, "    %s\n", error);
		else
			result_print(&got, trial->report);
	}
out:
	buf_free(&sql);
	arena_free(&arena);
	return fails;
}

/* Halves, quarters, ... of the rows go while the failure stays. */
static void shrink_rows(struct trial *trial, const struct query *query, struct arena *arena)
{
	struct event *kept = arena_array(arena, struct event, trial->n_events + 1);
	u32 n = trial->n_events;

	memcpy(kept, trial->events, n * sizeof(*kept));
	for (u32 step = (n + 1) / 2; step; step = step == 1 ? 0 : (step + 1) / 2) {
		for (u32 at = 0; at < n;) {
			u32 gone = MIN(step, n - at);
			struct event *fewer = arena_array(arena, struct event, n + 1);

			memcpy(fewer, kept, at * sizeof(*kept));
			memcpy(fewer + at, kept + at + gone, (n - at - gone) * sizeof(*kept));
			trial->events = fewer;
			trial->n_events = n - gone;
			trial->has_reference = false;
			if (trial_fails(trial, query)) {
				kept = fewer;
				n -= gone;
			} else {
				at += gone;
			}
		}
	}
	trial->events = kept;
	trial->n_events = n;
	trial->has_reference = false;
}

static void print_events(const struct trial *trial, const struct query *query, struct buf *out)
{
	struct buf sql;

	buf_init(&sql);
	query_print(query, DIALECT_SQLITE, &sql);
	for (u32 j = 0; j < trial->n_events && j < 6; j++) {
		buf_puts(out, "    event");
		for (u32 i = 0; i < C_N; i++) {
			const struct column_info *info = &column_infos[i];

			if (!strstr(sql.at, info->name))
				continue;
			buf_printf(out, " %s=", info->name);
			if (info->is_text)
				buf_printf(out, "'%s'", trial->events[j].texts[i]);
			else
				buf_put_s128(out, trial->events[j].integers[i]);
		}
		buf_putc(out, '\n');
	}
	buf_free(&sql);
}

static void report_failure(const struct trial *original, const struct query *query, u64 seed,
			   u32 number)
{
	struct trial trial = *original;
	struct query small = *query;
	char kind[sizeof(trial.last_kind)];
	struct arena arena;
	struct buf out;

	arena_init(&arena);
	buf_init(&out);
	buf_printf(&out, "query %u differs (EBQL_SEED=%llu EBQL_FIRST=%u EBQL_QUERIES=1)\n", number,
		   (unsigned long long)seed, number);
	query_print(query, DIALECT_EBQL, &out);
	trial.db = reference_open();
	trial.has_reference = false;
	memcpy(kind, trial.last_kind, sizeof(kind));
	trial.kind = kind;
	/* Rows first: the tree is then shrunk over few of them. */
	shrink_rows(&trial, &small, &arena);
	query_shrink(&small, &arena, trial_fails, &trial);
	shrink_rows(&trial, &small, &arena);
	trial.report = &out;
	buf_puts(&out, "\n at its smallest:\n");
	if (!trial_fails(&trial, &small))
		buf_puts(&out, "  (does not fail when run again)\n");
	print_events(&trial, &small, &out);
	fprintf(stderr, "%s\n", out.at);
	sqlite3_close(trial.db);
	buf_free(&out);
	arena_free(&arena);
}

static u32 pick_dataset(struct rng *rng)
{
	/* The last two have few rows and none. */
	return rng_percent(rng, 92) ? rng_below(rng, N_DATASETS - 2)
				    : N_DATASETS - 2 + rng_below(rng, 2);
}

static void count_query(struct totals *totals, const struct query *query,
			const struct result *expected)
{
	totals->n_queries++;
	totals->n_rows_some += expected->n_rows > 0;
	totals->n_where_some += expected->matched > 0 && expected->matched < expected->events;
	totals->n_grouped += query->n_keys > 0;
	totals->n_streaming += query->is_streaming;
	totals->n_having += query->having != NULL;
	totals->n_ordered += query->n_order_by > 0;
}

struct bench {
	struct arena arena;
	struct dataset datasets[N_DATASETS];
	sqlite3 *dbs[N_DATASETS];
	u64 seed;
	u32 first, n_queries;
};

static void bench_open(struct bench *bench)
{
	arena_init(&bench->arena);
	bench->seed = env_number("EBQL_SEED", 1);
	bench->first = env_number("EBQL_FIRST", 0);
	bench->n_queries = env_number("EBQL_QUERIES", 2000);
	for (u32 i = 0; i < N_DATASETS; i++) {
		dataset_random(&bench->datasets[i], &bench->arena, i, bench->seed);
		bench->dbs[i] = reference_open();
		reference_load(bench->dbs[i], bench->datasets[i].events,
			       bench->datasets[i].n_events);
	}
}

static void bench_close(struct bench *bench)
{
	for (u32 i = 0; i < N_DATASETS; i++)
		sqlite3_close(bench->dbs[i]);
	arena_free(&bench->arena);
}

/* Query number n depends on the seed and n alone. */
static u32 bench_query(struct bench *bench, u32 n, struct arena *arena, struct query *ret_query)
{
	struct rng rng = { bench->seed * 0x10001 + n * 0x9e3779b9ull };
	u32 which = pick_dataset(&rng);

	query_random(ret_query, &bench->datasets[which], arena, &rng);
	return which;
}

static void fail_query(const struct query *query, u32 n, const char *what)
{
	struct buf sql;

	buf_init(&sql);
	query_print(query, DIALECT_SQLITE, &sql);
	print_message("query %u: %s\n", n, sql.at);
	buf_free(&sql);
	fail_msg("query %u: %s", n, what);
}

/*
 * The generator keeps its word: SQLite takes every query, gives the same with all
 * parentheses and with the needed ones, and no integer expression leaves its interval.
 */
static void test_generator(void **state)
{
	struct bench bench;

	bench_open(&bench);
	for (u32 n = bench.first; n < bench.first + bench.n_queries; n++) {
		struct result results[2];
		struct query query;
		struct arena arena;

		arena_init(&arena);
		u32 which = bench_query(&bench, n, &arena, &query);

		for (u32 i = 0; i < 2; i++) {
			struct trial trial = { .db = bench.dbs[which], .has_reference = true };

			query.all_parentheses = i;
			if (!reference_of(&trial, &query, &arena, &results[i]))
				fail_query(&query, n, "SQLite refuses it");
		}
		if (!result_equal(&results[0], &results[1]))
			fail_query(&query, n, "means another thing without parentheses");
		for (size_t i = 0; i < (size_t)results[0].n_rows * query.n_items; i++) {
			const struct node *item = query.items[i % query.n_items];
			const struct value *v = &results[0].values[i];

			if (item->class != CLASS_INTEGER || v->kind == VALUE_NULL)
				continue;
			if (v->kind != VALUE_INT || v->integer < item->lo || v->integer > item->hi)
				fail_query(&query, n, "an item leaves its interval");
		}
		arena_free(&arena);
	}
	bench_close(&bench);
}

/* Each query leaves out one rule, another one than the query before. */
static bool one_rule_off(struct trial *trial, const struct query *query, u32 n)
{
	static struct variant variant; /* a report made of the trial reads it */

	variant = (struct variant){ opt_rules[n % opt_n_rules].name,
				    { opt_rules[n % opt_n_rules].name, "auto" } };
	trial->variant = &variant;
	return !trial_fails(trial, query);
}

static bool run_query(struct bench *bench, struct engine *engine, u32 n, struct totals *totals)
{
	struct query query;
	struct arena arena;
	struct result expected;
	bool ok = true;

	arena_init(&arena);
	u32 which = bench_query(bench, n, &arena, &query);
	struct trial trial = {
		.engine = engine,
		.db = bench->dbs[which],
		.events = bench->datasets[which].events,
		.n_events = bench->datasets[which].n_events,
		.has_reference = true,
	};

	if (!reference_of(&trial, &query, &arena, &expected))
		BUG("SQLite refuses query %u", n);
	count_query(totals, &query, &expected);
	for (u32 v = 0; v < ARRAY_SIZE(variants) && ok; v++) {
		trial.variant = &variants[v];
		totals->n_runs++;
		if (trial_fails(&trial, &query)) {
			report_failure(&trial, &query, bench->seed, n);
			ok = false;
		}
	}
	if (ok && !one_rule_off(&trial, &query, n)) {
		report_failure(&trial, &query, bench->seed, n);
		ok = false;
	}
	totals->n_runs++;
	arena_free(&arena);
	return ok;
}

static void test_random(void **state)
{
	const char *reason = NULL;
	struct totals totals = { 0 };
	struct engine *engine;
	struct arena arena;
	struct bench bench;
	u32 n_failures = 0;
	const struct engine_stats *stats;
	u64 start_ns = base_monotonic_ns();

	arena_init(&arena);
	engine = engine_open(&arena, &reason);
	if (!engine) {
		print_message("SKIP: %s\n", reason);
		arena_free(&arena);
		skip();
	}
	bench_open(&bench);
	print_message("seed %llu, %u queries\n", (unsigned long long)bench.seed, bench.n_queries);
	for (u32 n = bench.first; n < bench.first + bench.n_queries && n_failures < FAILURES_MAX;
	     n++)
		n_failures += !run_query(&bench, engine, n, &totals);
	stats = engine_stats(engine);
	print_message("%u queries in %u runs: %u with rows, %u whose WHERE splits the events, "
		      "%u grouped, %u streamed, %u with HAVING, %u with ORDER BY\n"
		      "%.1f s (compile %.1f, load %.1f, replay %.1f); programs of at most %u "
		      "instructions, %u walked by the verifier; %u queries differ\n",
		      totals.n_queries, totals.n_runs, totals.n_rows_some, totals.n_where_some,
		      totals.n_grouped, totals.n_streaming, totals.n_having, totals.n_ordered,
		      (base_monotonic_ns() - start_ns) / 1e9, stats->compile_ns / 1e9,
		      stats->load_ns / 1e9, stats->replay_ns / 1e9, stats->most_insns,
		      stats->most_verified, n_failures);
	engine_close(engine);
	bench_close(&bench);
	arena_free(&arena);
	assert_int_equal(n_failures, 0);
	/* A run that compares nothing but empty results would prove nothing. */
	if (totals.n_queries >= 500) {
		assert_true(totals.n_rows_some > totals.n_queries / 2);
		assert_true(totals.n_where_some > totals.n_queries / 5);
		assert_true(totals.n_grouped > totals.n_queries / 3);
	}
}

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

static bool case_passes(struct engine *engine, const struct replay_case *c,
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
	ok = engine_run(engine, c->sql, &options, c->events.at, c->events.n, arena, &got, &error);
	if (c->refused) {
		if (!ok && strstr(error, arena_printf(arena, "[%s]", c->refused)))
			return true;
	} else if (ok) {
		for (u32 i = 0; i < LOSS_N; i++)
			lost_ok &= i == LOSS_FAULT && !c->faults_checked
					   ? true
					   : got.lost[i] == c->expected.lost[i];
		if (lost_ok && got.events == c->events.n && rows_equal(c, &got))
			return true;
	}
	print_case(c, variant->name, &got, error);
	return false;
}

static void test_cases(void **state)
{
	const char *reason = NULL;
	struct case_file *file;
	struct engine *engine;
	struct arena arena;
	u32 n_wrong = 0;

	arena_init(&arena);
	file = case_file_read(CASES_PATH, &arena);
	engine = engine_open(&arena, &reason);
	if (!engine) {
		print_message("SKIP: %s\n", reason);
		arena_free(&arena);
		skip();
	}
	for (u32 i = 0; i < file->cases.n; i++) {
		bool ok = true;

		for (u32 v = 0; v < ARRAY_SIZE(variants) && ok; v++)
			ok = case_passes(engine, &file->cases.at[i], &variants[v], &arena);
		n_wrong += !ok;
	}
	print_message("%u cases, %u ways each; %u wrong\n", file->cases.n,
		      (u32)ARRAY_SIZE(variants), n_wrong);
	engine_close(engine);
	arena_free(&arena);
	assert_int_equal(n_wrong, 0);
}

/* --- Checks with files of their own --- */

static void run_check(u32 (*check)(struct engine *engine, u64 seed, struct buf *report))
{
	const char *reason = NULL;
	struct engine *engine;
	struct arena arena;
	struct buf report;
	u32 n_wrong;

	arena_init(&arena);
	engine = engine_open(&arena, &reason);
	if (!engine) {
		print_message("SKIP: %s\n", reason);
		arena_free(&arena);
		skip();
	}
	buf_init(&report);
	n_wrong = check(engine, env_number("EBQL_SEED", 1), &report);
	if (n_wrong)
		fprintf(stderr, "%s\n", report.at);
	buf_free(&report);
	engine_close(engine);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_generator), cmocka_unit_test(test_cases_reference),
		cmocka_unit_test(test_cases),	  cmocka_unit_test(test_overflow),
		cmocka_unit_test(test_other),	  cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
