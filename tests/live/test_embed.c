/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * embed.c, a program that has the library within: each of its queries counted every call of its
 * thread, and its signals, limits, capabilities, descriptors and database are as it set them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/base.h"

static void test_embed(void **state)
{
	int n[4], n_windows[4], n_alarms, is_changed;
	FILE *said;

	if (geteuid() != 0) {
		print_message("SKIP: not root\n");
		skip();
	}
	said = popen(EMBED_PROGRAM, "r");
	assert_non_null(said);
	for (int i = 0; i < 4; i++) {
		char name;

		assert_int_equal(fscanf(said, "%c %d %d\n", &name, &n[i], &n_windows[i]), 3);
		assert_int_equal(name, 'a' + i);
	}
	assert_int_equal(fscanf(said, "%d %d\n", &n_alarms, &is_changed), 2);
	assert_int_equal(pclose(said), 0);
	for (int i = 0; i < 4; i++) {
		assert_int_equal(n[i], 100000);
		assert_true(n_windows[i] > 3);
	}
	assert_true(n_alarms > 10);
	assert_false(is_changed);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_embed) };

	return cmocka_run_group_tests_name("embed", tests, NULL, NULL);
}
