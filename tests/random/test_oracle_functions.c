/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Every function over a value of every type, in every way that random queries are run
 * (test_oracle.c): names, types, printed forms and refusals.  EBQL_FUNCTION=n begins with that one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "random.h"

static void test_oracle_functions(void **state)
{
	u64 start_ns = base_monotonic_ns();
	u32 first = (u32)env_number("EBQL_FUNCTION", 0), n_failures = 0;
	/* Of a short run each fifth: 5 and the number of values have no divisor in common. */
	u32 step = !getenv("EBQL_UPDATE") &&
				   env_number("EBQL_QUERIES", ORACLE_QUERIES) < ORACLE_QUERIES
			   ? 5
			   : 1;
	struct oracle_query queries[CROWD];
	struct arena arena, engine_arena;
	struct totals totals = { 0 };
	struct rows rows = { 0 };
	const char **types;
	u32 n = 0;

	arena_init(&engine_arena);
	oracle_engine = replayer_open(&engine_arena);
	arena_init(&arena);
	rows_random(&rows, &arena, 4);
	types = arena_array(&arena, const char *, functions_n());
	for (u32 i = first;
	     i < functions_n() && n_failures < env_number("EBQL_FAILURES", ORACLE_FAILURES_MAX);
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

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_oracle_functions) };

	return cmocka_run_group_tests_name("oracle_functions", tests, NULL, NULL);
}
