/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Random queries over random rows give the same in every way: by the kernel's programs
 * with every rule of the optimiser, with none and with each one off, with pushdown off,
 * over a recording, and by SQLite alone; and so does every function over every type.
 *
 * EBQL_SEED, EBQL_FIRST and EBQL_QUERIES say which queries, and with EBQL_FIRST only these are
 * run; EBQL_TEST_LONG 10,000 of them; EBQL_FUNCTION=n begins with that function; EBQL_STRICT
 * reports also the differences that are known (answer.c).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "random.h"

enum { QUERIES = 400, QUERIES_LONG = 10000, QUERIES_OF_ROWS = 6, FAILURES_MAX = 5 };

static bool random_query(struct rows *rows, u64 seed, u32 number, struct totals *totals)
{
	struct rng rng = { (seed << 32) + number };
	struct oracle_query query;
	struct arena arena;
	bool is_good;

	rng.state = rng_next(&rng); /* neighbours are nothing alike */
	arena_init(&arena);
	oracle_query_random(&query, rows, &arena, &rng);
	is_good = oracle_check(&query, rows, seed, number, totals);
	arena_free(&arena);
	return is_good;
}

static void test_oracle(void **state)
{
	u64 seed = env_number("EBQL_SEED", 1), start_ns = base_monotonic_ns();
	u32 first = (u32)env_number("EBQL_FIRST", 0), n_failures = 0;
	u32 n = (u32)env_number("EBQL_QUERIES", getenv("EBQL_TEST_LONG") ? QUERIES_LONG : QUERIES);
	struct totals totals = { 0 };
	struct arena arena, engine_arena;
	struct rows rows = { 0 };
	s64 made = -1;

	arena_init(&engine_arena);
	oracle_engine = replayer_open(&engine_arena);
	arena_init(&arena);
	print_message("seed %llu, %u queries\n", (unsigned long long)seed, n);
	for (u32 i = first; i < first + n && n_failures < env_number("EBQL_FAILURES", FAILURES_MAX);
	     i++) {
		if (made != i / QUERIES_OF_ROWS) {
			rows_close(&rows);
			arena_free(&arena);
			arena_init(&arena);
			made = i / QUERIES_OF_ROWS;
			rows_random(&rows, &arena, seed * 1000003 + (u64)made * 7919);
		}
		n_failures += !random_query(&rows, seed, i, &totals);
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
		assert_true(totals.n_beside > totals.n_queries / 8);
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
	struct arena arena, engine_arena;
	struct totals totals = { 0 };
	struct rows rows = { 0 };
	const char **types;

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
		struct oracle_query query;

		functions_query(i, &query, &arena);
		n_failures += !oracle_check(&query, &rows, 0, i, &totals);
		types[i] = arena_strdup(&arena, totals.type);
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
		struct arena arena;

		arena_init(&arena);
		while (rows.has_ties || rows.is_big || rows.data.n_events < 50)
			rows_random(&rows, &arena, seed++);
		for (u32 i = 0; i < fixed_n(); i++) {
			struct oracle_query query;

			fixed_query(i, &query, &arena);
			n_failures += !oracle_check(&query, &rows, seed, i * 7 + set, &totals);
		}
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
