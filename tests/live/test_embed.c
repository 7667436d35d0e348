/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * embed.c, a program that has the engine within: both of its queries counted every call, and its
 * signal and its database are as it set them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/base.h"

static void test_embed(void **state)
{
	int a, n_a, b, n_b, alarms, is_kept;
	FILE *said;

	if (geteuid() != 0) {
		print_message("SKIP: not root\n");
		skip();
	}
	said = popen(EMBED_PROGRAM, "r");
	assert_non_null(said);
	assert_int_equal(
		fscanf(said, "a %d %d\nb %d %d\n%d %d\n", &a, &n_a, &b, &n_b, &alarms, &is_kept),
		6);
	assert_int_equal(pclose(said), 0);
	assert_int_equal(a, 100000);
	assert_int_equal(b, 100000);
	assert_true(n_a > 3 && n_b > 3);
	assert_true(alarms > 10 && is_kept);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_embed) };

	return cmocka_run_group_tests_name("embed", tests, NULL, NULL);
}
