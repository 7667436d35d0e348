/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The table of costs, and files of a machine's own: read, ignored, written and read again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "look.h"

#define HEAD "ebql costs 1\nkernel 6.18.1 x86_64\ncpu A CPU\n"
#define CUT  "it was cut: its last line, end, is missing"

static const struct {
	const char *text, *ignored; /* NULL: it is used */
	double raw_ns;
} files[] = {
	{ HEAD "raw 12.5 0.25\nend\n", NULL, 12.5 },
	{ HEAD "raw 12.5 0.25 unsteady\nend", NULL, 12.5 },
	{ HEAD "end\n", NULL, 30 },
	{ HEAD "of_another_version 3 4\nraw 9 0\nend\n", NULL, 9 },
	{ HEAD "raw 9 0\n", CUT, 30 },
	{ HEAD "raw 9 0\nend\nraw 9 0\n", "line 6 is none of its", 30 },
	{ "ebql costs 1\nkernel 6.18.2 x86_64\ncpu A CPU\nraw 9 1\n",
	  "it is of kernel 6.18.2 x86_64, and this is 6.18.1 x86_64", 30 },
	{ "ebql costs 1\nkernel 6.18.1 x86_64\ncpu Another\nraw 9 1\n",
	  "it is of a CPU Another, and this is A CPU", 30 },
	{ "ebql costs 2\nkernel 6.18.1 x86_64\ncpu A CPU\nraw 9 1\n",
	  "it is no such file of this version", 30 },
	{ "", "it is no such file of this version", 30 },
	{ "ebql costs 1\nraw 9 1\nend\n", "it does not say of which machine it is", 30 },
	/* What stands before the broken line is not taken either. */
	{ HEAD "raw 9 1\nraw nan 1\n", "line 5 is none of its", 30 },
	{ HEAD "raw 9 1\ntime -1 1\n", "line 5 is none of its", 30 },
	{ HEAD "raw 1e300 1\n", "line 4 is none of its", 30 },
	{ HEAD "raw 9 1 1\n", "line 4 is none of its", 30 },
	{ HEAD "raw 9 1 un\n", "line 4 is none of its", 30 },
	{ HEAD "raw\n", "line 4 is none of its", 30 },
	{ HEAD "raw 9\n", "line 4 is none of its", 30 },
};

static void test_read(void **state)
{
	struct arena arena;

	arena_init(&arena);
	for (u32 i = 0; i < ARRAY_SIZE(files); i++) {
		struct costs costs;

		costs_read(&costs, files[i].text, "6.18.1 x86_64", "A CPU", &arena);
		if (files[i].ignored)
			assert_string_equal(costs.ignored, files[i].ignored);
		else
			assert_null(costs.ignored);
		assert_true(cost_ns(&costs, COST_RAW) == files[i].raw_ns);
		assert_true(costs.is_measured == (files[i].raw_ns != 30));
		assert_true(cost_ns(&costs, COST_UPROBE) == cost_infos[COST_UPROBE].ns);
	}
	arena_free(&arena);
}

/* Cut anywhere, but for the last line's end, it is not used: neither half a line nor half of them.
 */
static void test_cut(void **state)
{
	static const char text[] = HEAD "raw 12.5 0.25\ntime 30.25 1.5 unsteady\nlike 4 1\nend\n";
	struct arena arena;

	arena_init(&arena);
	for (size_t n = 0; n < sizeof(text); n++) {
		struct costs costs;

		costs_read(&costs, arena_strndup(&arena, text, n), "6.18.1 x86_64", "A CPU",
			   &arena);
		assert_true(costs.is_measured == (n >= sizeof(text) - 2));
		assert_true(!costs.ignored == costs.is_measured);
	}
	arena_free(&arena);
}

/* A clock that is of other rounds than the hooks is not known; those that are have an account. */
static void test_clock(void **state)
{
	struct costs costs;
	struct arena arena;

	arena_init(&arena);
	costs_read(&costs, HEAD "raw_call 40 1\nclock 20 1\nend\n", NULL, NULL, &arena);
	assert_true(cost_ns(&costs, COST_RAW_CALL) == 40);
	assert_true(cost_ns(&costs, COST_CLOCK) == 0);
	costs_read(&costs, HEAD "clock 20 1\naccount 5 1\nend\n", NULL, NULL, &arena);
	assert_true(cost_ns(&costs, COST_CLOCK) == 20);
	arena_free(&arena);
}

static void test_write(void **state)
{
	struct costs costs, again;
	struct arena arena;
	struct buf out;

	arena_init(&arena);
	buf_init(&out);
	costs_init(&costs);
	for (u32 i = 0; i < COST_N; i += 2)
		costs.of[i] = (struct cost_figure){ i + 0.25, i + 0.5, true, i % 4 == 0 };
	costs.of[COST_ACCOUNT] = (struct cost_figure){ 7, 1, true, false }; /* as the clock wants */
	costs_write(&costs, "6.1", "C", &out);
	costs_read(&again, out.at, "6.1", "C", &arena);
	assert_null(again.ignored);
	assert_memory_equal(again.of, costs.of, sizeof(costs.of));
	buf_free(&out);
	arena_free(&arena);
}

/* What no mechanism costs is not kept: a file that has it would not be read. */
static void test_take(void **state)
{
	static const double none[] = { NAN, INFINITY, -1, 1e8 };
	struct costs costs;

	costs_init(&costs);
	for (u32 i = 0; i < ARRAY_SIZE(none); i++) {
		assert_false(costs_take(&costs, COST_RAW, none[i], 1));
		assert_true(i == ARRAY_SIZE(none) - 1 || !costs_take(&costs, COST_RAW, 1, none[i]));
	}
	assert_false(costs.of[COST_RAW].is_measured);
	assert_true(costs_take(&costs, COST_RAW, 7, 0));
	assert_true(costs.of[COST_RAW].is_measured && cost_ns(&costs, COST_RAW) == 7);
}

/* Of the catalog: the file of the user's own place, or a snapshot's. */
static void test_catalog(void **state)
{
	char folder[] = "/tmp/ebql-costs-XXXXXX";
	struct costs costs;
	struct session s;
	struct buf out;
	char path[64];
	FILE *file;

	assert_non_null(mkdtemp(folder));
	setenv("XDG_STATE_HOME", folder, 1);
	session_open(&s, NULL);
	assert_false(catalog_costs(s.catalog)->is_measured);
	assert_null(catalog_costs(s.catalog)->path);
	snprintf(path, sizeof(path), "%s/ebql", folder);
	mkdir(path, 0700);
	snprintf(path, sizeof(path), "%s/ebql/costs", folder);
	assert_string_equal(costs_path(&s.arena), path);
	buf_init(&out);
	costs_init(&costs);
	costs.of[COST_RAW] = (struct cost_figure){ 7, 1, true };
	costs_write(&costs, costs_kernel(&s.arena), costs_cpu(&s.arena), &out);
	file = fopen(path, "w");
	fwrite(out.at, 1, out.n, file);
	fclose(file);
	session_close(&s);

	session_open(&s, NULL);
	assert_true(cost_ns(catalog_costs(s.catalog), COST_RAW) == 7);
	assert_string_equal(catalog_costs(s.catalog)->path, path);
	session_close(&s);
	/* Plans of a snapshot are the same everywhere. */
	session_open(&s, SNAPSHOT);
	assert_false(catalog_costs(s.catalog)->is_measured);
	session_close(&s);
	unlink(path);
	/* Nobody will ever write there. */
	assert_int_equal(mkfifo(path, 0600), 0);
	alarm(20);
	session_open(&s, NULL);
	assert_string_equal(catalog_costs(s.catalog)->ignored, "it is no regular file");
	assert_false(catalog_costs(s.catalog)->is_measured);
	session_close(&s);
	alarm(0);
	unlink(path);
	*strrchr(path, '/') = '\0';
	rmdir(path);
	rmdir(folder);
	buf_free(&out);
}

/* Each has a name of its own, and a word on it; but one they are more than nothing. */
static void test_table(void **state)
{
	for (u32 i = 0; i < COST_N; i++) {
		assert_non_null(cost_infos[i].name);
		assert_true(*cost_infos[i].meaning);
		assert_int_equal(cost_infos[i].ns > 0, i != COST_CLOCK);
		assert_null(strpbrk(cost_infos[i].name, " \n"));
		for (u32 k = 0; k < i; k++)
			assert_string_not_equal(cost_infos[i].name, cost_infos[k].name);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_read),  cmocka_unit_test(test_cut),
		cmocka_unit_test(test_write), cmocka_unit_test(test_catalog),
		cmocka_unit_test(test_table), cmocka_unit_test(test_take),
		cmocka_unit_test(test_clock),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
