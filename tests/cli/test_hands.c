/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What hands that know psql and sqlite3 do on a terminal.
 */
#include "terminal.h"

static void test_leave(void **state)
{
	struct terminal *t = *state;

	expect(t, "ebql> ");
	type(t, "SELECT 1\r");
	expect(t, " ...> ");
	type(t, "\\q\r");
	assert_int_equal(ended(t), 0);
	start(t, NULL);
	line(t, ".help");
	expect(t, "\\watch");
	line(t, ".tables");
	expect(t, "block_io");
	line(t, ".quit");
	assert_int_equal(ended(t), 0);
}

static void test_keys(void **state)
{
	struct terminal *t = *state;

	expect_line(t, "\\wa\t", "ebql> \\watch !");
	expect_line(t, "\\un\t", "ebql> \\unset !");
	expect_line(t, "\\cop\t", "ebql> \\copy !");
	line(t, "\\q");
	assert_int_equal(ended(t), 0);
}

/* A file of three rows, in the terminal's folder. */
static void rows(struct terminal *t)
{
	char path[96];
	FILE *file;

	snprintf(path, sizeof(path), "%s/x.csv", t->state);
	file = fopen(path, "w");
	assert_non_null(file);
	fputs("a\n1\n2\n3\n", file);
	assert_int_equal(fclose(file), 0);
}

static void test_watch(void **state)
{
	struct terminal *t = *state;
	char text[200];
	size_t from;

	rows(t);
	line(t, "\\watch");
	expect(t, "ebql: \\watch: no statement has been run that it could repeat");
	snprintf(text, sizeof(text), "SELECT count(*) AS there FROM '%s/x.csv' WHERE a >= :least;",
		 t->state);
	line(t, "\\set least 2");
	line(t, text);
	expect(t, "there\r\n");
	line(t, "\\watch 10ms");
	for (u32 i = 0; i < 3; i++)
		expect(t, "there\r\n");
	key(t, CTRL('C'));
	expect(t, "ebql> ");
	from = t->at;
	type(t, "\\! echo $((40 + 2))\r");
	expect(t, "42\r\n");
	expect(t, "ebql> ");
	/* It has ended. */
	assert_false(has_seen(t, from, "there"));
	key(t, CTRL('D'));
	assert_int_equal(ended(t), 0);
}

/* ^C is the command's: it ends, the shell does not, and nothing of it is left for the next line. */
static void test_command(void **state)
{
	struct terminal *t = *state;
	char text[160];

	rows(t);
	snprintf(text, sizeof(text), "\\! exec tail -f %s/x.csv", t->state);
	line(t, text);
	expect(t, "3\r\n");
	key(t, CTRL('C'));
	expect(t, "ebql> ");
	type(t, "\\! echo $((40 + 2))\r");
	expect(t, "42\r\n");
	line(t, "\\q");
	assert_int_equal(ended(t), 0);
}

/* The statement as it was typed is what the editor gets, and what it leaves is run. */
static void test_edit(void **state)
{
	struct terminal *t = *state;
	char text[200];

	rows(t);
	line(t, "\\q");
	assert_int_equal(ended(t), 0);
	setenv("EDITOR", "sed -i s/count/max/", 1);
	unsetenv("VISUAL");
	start(t, NULL);
	snprintf(text, sizeof(text), "SELECT count(a) FROM '%s/x.csv';", t->state);
	line(t, text);
	expect(t, "count(a)\r\n");
	line(t, "\\e");
	expect(t, "max(a)\r\n");
	expect(t, "3");
	line(t, "\\q");
	assert_int_equal(ended(t), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_leave, setup, teardown),
		cmocka_unit_test_setup_teardown(test_keys, setup, teardown),
		cmocka_unit_test_setup_teardown(test_watch, setup, teardown),
		cmocka_unit_test_setup_teardown(test_command, setup, teardown),
		cmocka_unit_test_setup_teardown(test_edit, setup, teardown),
	};

	return cmocka_run_group_tests_name("hands", tests, NULL, NULL);
}
