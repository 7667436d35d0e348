/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Random queries over random rows give the same in every way: by the kernel's programs
 * with every rule of the optimiser, with none and with each one off, with pushdown off,
 * over a recording, and by SQLite alone; and so does every function over every type.  Each gives
 * the same alone and beside 13 others of its kind, in the programs that they share.
 *
 * EBQL_SEED, EBQL_FIRST and EBQL_QUERIES say which queries, and with EBQL_FIRST only these are
 * run; EBQL_TEST_LONG 10,000 of them; EBQL_FUNCTION=n begins with that function; EBQL_STRICT
 * reports also the differences that are known (answer.c).  What differs only beside others needs
 * them: EBQL_QUERIES=6.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "random.h"

enum { QUERIES = 400, QUERIES_LONG = 10000, FAILURES_MAX = 5 };

static void random_query(struct oracle_query *query, const struct rows *rows, struct arena *arena,
			 u64 seed, u32 number)
{
	struct rng rng = { (seed << 32) + number };

	rng.state = rng_next(&rng); /* neighbours are nothing alike */
	oracle_query_random(query, rows, arena, &rng);
}

/* Those of the same rows, one after the other and then beside each other; how many are false. */
static u32 check_all(struct oracle_query *queries, u32 n_alone, u32 n, struct rows *rows, u64 seed,
		     u32 number, struct totals *totals)
{
	u32 n_failures = 0;

	for (u32 i = 0; i < n_alone; i++)
		n_failures += !oracle_check(&queries[i], rows, seed, number + i, totals);
	/* One that was reported is not what it was. */
	for (u32 i = 0; i < n && !n_failures; i += CROWD)
		n_failures += !oracle_check_crowd(queries + i, MIN(n - i, CROWD), rows, seed,
						  number, totals);
	return n_failures;
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
	for (u32 i = first; i < first + n && n_failures < env_number("EBQL_FAILURES", FAILURES_MAX);
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
		n_failures += check_all(queries, n_here, CROWD, &rows, seed, i, &totals);
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

/* Every function over a value of every type: names, types, printed forms and refusals. */
static void test_functions(void **state)
{
	u64 start_ns = base_monotonic_ns();
	u32 first = (u32)env_number("EBQL_FUNCTION", 0), n_failures = 0;
	/* Of a short run each fifth: 5 and the number of values have no divisor in common. */
	u32 step = !getenv("EBQL_UPDATE") && env_number("EBQL_QUERIES", QUERIES) < QUERIES ? 5 : 1;
	struct oracle_query queries[CROWD];
	struct arena arena, engine_arena;
	struct totals totals = { 0 };
	struct rows rows = { 0 };
	const char **types;
	u32 n = 0;

	if (getenv("EBQL_FIRST"))
		return;
	arena_init(&engine_arena);
	oracle_engine = replayer_open(&engine_arena);
	arena_init(&arena);
	rows_random(&rows, &arena, 4);
	types = arena_array(&arena, const char *, functions_n());
	for (u32 i = first;
	     i < functions_n() && n_failures < env_number("EBQL_FAILURES", FAILURES_MAX);
	     i += step) {
		functions_query(i, &queries[n], &arena);
		n_failures += !oracle_check(&queries[n++], &rows, 0, i, &totals);
		types[i] = arena_strdup(&arena, totals.type);
		if (n < CROWD && i + step < functions_n())
			continue;
		if (!n_failures)
			n_failures += !oracle_check_crowd(queries, n, &rows, 0, i + 1 - n, &totals);
		n = 0;
	}
	n_failures += functions_check_types(types);
	rows_close(&rows);
	arena_free(&arena);
	arena_free(&engine_arena);
	totals_print(&totals, start_ns, n_failures);
	assert_int_equal(n_failures, 0);
	assert_true(totals.n_with_rows > totals.n_queries / 2);
}

/*
 * Row sets without ties: the order of rows is compared.  Of two faults in one expression the
 * kernel counts the first; random columns that fit have both or none.
 */
static void test_fixed(void **state)
{
	u32 n_sets = env_number("EBQL_QUERIES", QUERIES) < QUERIES ? 1 : 3, n_failures = 0;
	u64 start_ns = base_monotonic_ns(), seed = 1;
	struct totals totals = { 0 };
	struct arena engine_arena;

	if (getenv("EBQL_FIRST"))
		return;
	arena_init(&engine_arena);
	oracle_engine = replayer_open(&engine_arena);
	for (u32 set = 0; set < n_sets; set++) {
		struct rows rows = { .has_ties = true };
		struct oracle_query *queries;
		struct arena arena;

		arena_init(&arena);
		while (rows.has_ties || rows.is_big || rows.data.n_events < 50)
			rows_random(&rows, &arena, seed++);
		queries = arena_array(&arena, struct oracle_query, fixed_n());
		for (u32 i = 0; i < fixed_n(); i++)
			fixed_query(i, &queries[i], &arena);
		n_failures += check_all(queries, fixed_n(), fixed_n(), &rows, seed, set, &totals);
		rows_close(&rows);
		arena_free(&arena);
	}
	arena_free(&engine_arena);
	totals_print(&totals, start_ns, n_failures);
	assert_int_equal(n_failures, 0);
	assert_true(totals.n_with_rows > totals.n_queries * 3 / 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_fixed),
					    cmocka_unit_test(test_functions),
					    cmocka_unit_test(test_oracle) };

	return cmocka_run_group_tests_name("oracle", tests, NULL, NULL);
}
