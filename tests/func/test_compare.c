/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * eb_compare() over every pair of edge values, against integers of twice the values:
 * each of these reals is a whole number of halves.
 */
#include <math.h>

#include "sql.h"

#define TWO_53 ((s128)1 << 53)
#define TWO_63 ((s128)1 << 63)
#define TWO_64 ((s128)1 << 64)

static const s128 integers[] = {
	-TWO_63,
	-TWO_63 + 1,
	-TWO_53 - 1,
	-TWO_53,
	-2,
	-1,
	0,
	1,
	2,
	TWO_53 - 1,
	TWO_53,
	TWO_53 + 1,
	TWO_63 - 1,
	TWO_63,
	TWO_63 + 1,
	TWO_64 - 1,
	TWO_64,
	TWO_64 + 1,
	((s128)1 << 100) - 1,
	(s128)1 << 100,
	((s128)1 << 100) + 1,
};

static const double reals[] = {
	-0x1p100,
	-0x1p64,
	-0x1p63,
	-0x1p53,
	-1.5,
	-1,
	-0.5,
	-0.0,
	0.5,
	1,
	1.5,
	4503599627370495.5,
	0x1p53,
	0x1p53 + 2,
	0x1p63,
	0x1p63 * (1 - 0x1p-53),
	0x1p63 * (1 + 0x1p-52),
	0x1p64,
	0x1p100,
};

#define N_INTEGERS ARRAY_SIZE(integers)
#define N_VALUES   (N_INTEGERS + ARRAY_SIZE(reals))

static s128 twice(u32 i)
{
	return i < N_INTEGERS ? 2 * integers[i] : (s128)(2 * reals[i - N_INTEGERS]);
}

static void test_numbers(void **state)
{
	char where[40];

	for (u32 i = 0; i < N_INTEGERS; i++)
		given[i] = integer_value(integers[i]);
	for (u32 i = 0; i < ARRAY_SIZE(reals); i++)
		given[N_INTEGERS + i] = (struct value){ .kind = VALUE_REAL, .real = reals[i] };
	for (u32 i = 0; i < N_VALUES; i++) {
		for (u32 k = 0; k < N_VALUES; k++) {
			snprintf(where, sizeof(where), "values %u, %u", i, k);
			expect_integer(ask("SELECT eb_compare(given(%u), given(%u))", i, k),
				       (twice(i) > twice(k)) - (twice(i) < twice(k)), where);
		}
	}
}

static void test_far_ends(void **state)
{
	given[0] = integer_value((s128)(((u128)1 << 127) - 1));
	given[1] = (struct value){ .kind = VALUE_REAL, .real = 0x1p127 };
	given[2] = (struct value){ .kind = VALUE_REAL, .real = INFINITY };
	given[3] = (struct value){ .kind = VALUE_REAL, .real = -INFINITY };
	given[4] = integer_value(-TWO_63);
	given[5] = (struct value){ .kind = VALUE_REAL, .real = -0x1.8p127 };
	given[6] = (struct value){ .kind = VALUE_REAL, .real = 0x1p-1074 };
	given[7] = integer_value(0);
	for (u32 i = 1; i < 3; i++) {
		expect_integer(ask("SELECT eb_compare(given(0), given(%u))", i), -1, "beyond");
		expect_integer(ask("SELECT eb_compare(given(%u), given(0))", i), 1, "beyond");
	}
	expect_integer(ask("SELECT eb_compare(given(4), given(3))"), 1, "-infinity");
	expect_integer(ask("SELECT eb_compare(given(5), given(4))"), -1, "below");
	expect_integer(ask("SELECT eb_compare(given(6), given(7))"), 1, "the least real");
	expect_integer(ask("SELECT eb_compare(given(2), given(2))"), 0, "infinity");
}

/* NULL, and the kinds in the order of SQLite. */
static void test_kinds(void **state)
{
	static const char *const ascending[] = { "-9e999", "9e999", "''",   "'-1'",
						 "'10'",   "'9'",   "'9a'", "'\xc3\xa4'",
						 "x''",	   "x'00'", "x'31'" };

	for (u32 i = 0; i < ARRAY_SIZE(ascending); i++) {
		expect_null(ask("SELECT eb_compare(NULL, %s)", ascending[i]), "NULL, x");
		expect_null(ask("SELECT eb_compare(%s, NULL)", ascending[i]), "x, NULL");
		for (u32 k = 0; k < ARRAY_SIZE(ascending); k++)
			expect_integer(ask("SELECT eb_compare(%s, %s)", ascending[i], ascending[k]),
				       (i > k) - (i < k), ascending[i]);
	}
	expect_null(ask("SELECT eb_compare(NULL, NULL)"), "NULL, NULL");
	given[0] = integer_value(TWO_64);
	expect_null(ask("SELECT eb_compare(NULL, given(0))"), "NULL, 2^64");
	expect_integer(ask("SELECT eb_compare(given(0), '')"), -1, "2^64, text");
	expect_integer(ask("SELECT eb_compare(x'00', given(0))"), 1, "blob, 2^64");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_numbers, open_sql, close_sql),
		cmocka_unit_test_setup_teardown(test_far_ends, open_sql, close_sql),
		cmocka_unit_test_setup_teardown(test_kinds, open_sql, close_sql),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
