/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The queries of fixed.c over rows, in every way that random ones are run (test_oracle.c).  The
 * first set of rows is for one program, the others are for a second one beside it (PART): the
 * verifier takes long.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "random.h"

/*
 * Row sets without ties: the order of rows is compared.  Of two faults in one expression the
 * kernel counts the first; random columns that fit have both or none.
 */
static void test_oracle_fixed(void **state)
{
	bool is_short = env_number("EBQL_QUERIES", ORACLE_QUERIES) < ORACLE_QUERIES;
	u32 n_sets = is_short ? PART + 1 : 3, n_failures = 0;
	u64 start_ns = base_monotonic_ns(), seed = 1;
	struct totals totals = { 0 };
	struct arena engine_arena;

	arena_init(&engine_arena);
	oracle_engine = replayer_open(&engine_arena);
	for (u32 set = 0; set < n_sets; set++) {
		struct rows rows = { .has_ties = true };
		struct oracle_query *queries;
		struct arena arena;

		arena_init(&arena);
		while (rows.has_ties || rows.is_big || rows.data.n_events < 50)
			rows_random(&rows, &arena, seed++);
		if ((set > 0) != PART) {
			rows_close(&rows);
			arena_free(&arena);
			continue;
		}
		queries = arena_array(&arena, struct oracle_query, fixed_n());
		for (u32 i = 0; i < fixed_n(); i++)
			fixed_query(i, &queries[i], &arena);
		n_failures +=
			oracle_check_all(queries, fixed_n(), fixed_n(), &rows, 0, set, &totals);
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
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_oracle_fixed) };

	return cmocka_run_group_tests_name("oracle_fixed", tests, NULL, NULL);
}
