/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Random queries over random rows give the same in every way: by the kernel's programs
 * with every rule of the optimiser, with none and with each one off, with pushdown off,
 * over a recording, and by SQLite alone.  Each gives the same alone and beside 13 others of its
 * kind, in the programs that they share.
 *
 * EBQL_SEED, EBQL_FIRST and EBQL_QUERIES say which queries; EBQL_TEST_LONG 10,000 of them;
 * EBQL_STRICT reports also the differences that are known (answer.c).  What differs only beside
 * others needs them: EBQL_QUERIES=6.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "random.h"

enum { QUERIES = ORACLE_QUERIES, QUERIES_LONG = 10000 };

static void random_query(struct oracle_query *query, const struct rows *rows, struct arena *arena,
			 u64 seed, u32 number)
{
	struct rng rng = { (seed << 32) + number };

	rng.state = rng_next(&rng); /* neighbours are nothing alike */
	oracle_query_random(query, rows, arena, &rng);
}

static void test_oracle(void **state)
{
	u64 seed = env_number("EBQL_SEED", 6), start_ns = base_monotonic_ns();
	u32 first = (u32)env_number("EBQL_FIRST", 0), n_failures = 0, n_here;
	u32 n = (u32)env_number("EBQL_QUERIES", getenv("EBQL_TEST_LONG") ? QUERIES_LONG : QUERIES);
	struct oracle_query queries[CROWD];
	struct totals totals = { 0 };
	struct arena arena, engine_arena;
	struct rows rows = { 0 };

	arena_init(&engine_arena);
	oracle_engine = replayer_open(&engine_arena);
	arena_init(&arena);
	print_message("seed %llu, %u queries\n", (unsigned long long)seed, n);
	for (u32 i = first;
	     i < first + n && n_failures < env_number("EBQL_FAILURES", ORACLE_FAILURES_MAX);
	     i += n_here) {
		u32 of_rows = i / QUERIES_OF_ROWS;

		rows_close(&rows);
		arena_free(&arena);
		arena_init(&arena);
		rows_random(&rows, &arena, seed * 1000003 + (u64)of_rows * 7919);
		n_here = MIN((of_rows + 1) * QUERIES_OF_ROWS, first + n) - i;
		for (u32 k = 0; k < n_here; k++)
			random_query(&queries[k], &rows, &arena, seed, i + k);
		/* And those that run only beside them. */
		for (u32 k = n_here; k < CROWD; k++)
			random_query(&queries[k], &rows, &arena, ~seed, i + k);
		n_failures += oracle_check_all(queries, n_here, CROWD, &rows, seed, i, &totals);
	}
	rows_close(&rows);
	arena_free(&arena);
	arena_free(&engine_arena);
	totals_print(&totals, start_ns, n_failures);
	assert_int_equal(n_failures, 0);
	for (u32 i = 1; i < TRAIT_N && totals.n_queries >= QUERIES; i++)
		if (!totals.n_traits[i])
			fail_msg("no query that has rows has %s", trait_names[i]);
	/* A run that compares nothing but refusals and empty results would prove nothing. */
	if (totals.n_queries >= 100) {
		assert_true(totals.n_with_rows > totals.n_queries * 2 / 5);
		assert_true(totals.n_reference > totals.n_queries / 2);
		assert_true(totals.n_beside > totals.n_queries * 5);
		assert_true(totals.n_shared > totals.n_beside / 2);
		assert_true(totals.n_refused < totals.n_queries / 20);
		assert_true(totals.n_limited < totals.n_runs / 20);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_oracle) };

	return cmocka_run_group_tests_name("oracle", tests, NULL, NULL);
}
