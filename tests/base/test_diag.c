/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Diagnostics as printed: place, carets, cuts, control bytes, how many.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/diag.h"

static struct arena arena;
static struct diags diags;
static struct buf out;

static int set_up(void **state)
{
	(void)state;
	arena_init(&arena);
	buf_init(&out);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	buf_free(&out);
	arena_free(&arena);
	return 0;
}

static void begin(const char *text)
{
	diags_init(&diags, &arena, "query", text, strlen(text));
}

static void expect(const char *expected)
{
	buf_reset(&out);
	diags_print(&diags, &out);
	assert_string_equal(out.at, expected);
}

/* One error over [start, end) of text. */
static void expect_place(const char *text, u32 start, u32 end, const char *expected)
{
	begin(text);
	diag_error(&diags, "tag", (struct span){ start, end }, "m");
	expect(expected);
}

static void test_plain_form(void **state)
{
	struct diag *diag;

	(void)state;
	begin("SELECT pidd FROM s");
	assert_false(diags_failed(&diags));
	diag = diag_error(&diags, "unknown-column", (struct span){ 7, 11 }, "no column \"%s\"",
			  "pidd");
	assert_true(diags_failed(&diags));
	diag_hint(&diags, diag, "did you mean \"%s\"?", "pid");
	expect("error[unknown-column]: no column \"pidd\"\n"
	       "  query:1:8\n"
	       "  SELECT pidd FROM s\n"
	       "         ^^^^\n"
	       "  hint: did you mean \"pid\"?\n");
}

static void test_no_place(void **state)
{
	(void)state;
	begin("SELECT 1");
	diag_hint(&diags, diag_plain(&diags, "no-privilege", "CAP_BPF is missing"), "sudo");
	expect("error[no-privilege]: CAP_BPF is missing\n  hint: sudo\n");
}

static void test_warning(void **state)
{
	u32 i;

	(void)state;
	begin("SELECT 1");
	diag_warning(&diags, "slow", (struct span){ 7, 8 }, "w");
	assert_false(diags_failed(&diags));
	expect("warning[slow]: w\n  query:1:8\n  SELECT 1\n         ^\n");
	/* Warnings take no room from errors, and are bounded too. */
	for (i = 1; i < 100; i++)
		diag_warning(&diags, "slow", (struct span){ 0, i }, "w");
	/* Of one place a thing is said once. */
	diag_warning(&diags, "slow", (struct span){ 7, 8 }, "w");
	assert_non_null(diag_error(&diags, "bad", (struct span){ 0, 6 }, "e"));
	assert_int_equal(diags.list.n, DIAG_MAX + 1);
	assert_int_equal(diags.n_errors, 1);
}

static void test_places(void **state)
{
	(void)state;
	/* Lines and columns count from 1, columns in characters. */
	expect_place("a\nbc\nd", 3, 4, "error[tag]: m\n  query:2:2\n  bc\n   ^\n");
	expect_place("gr\xC3\xB6\xC3\x9F x", 7, 8,
		     "error[tag]: m\n  query:1:6\n  gr\xC3\xB6\xC3\x9F x\n       ^\n");
	expect_place("\xE6\x97\xA5\xE6\x9C\xAC", 0, 6,
		     "error[tag]: m\n  query:1:1\n  \xE6\x97\xA5\xE6\x9C\xAC\n  ^^\n");
	/* Tabs stay, so that the caret stands under its word at any tab width. */
	expect_place("a\tb c", 4, 5, "error[tag]: m\n  query:1:5\n  a\tb c\n   \t  ^\n");
	/* At the end of the text, also behind blank lines. */
	expect_place("abc", 3, 3, "error[tag]: m\n  query:1:4\n  abc\n     ^\n");
	expect_place("abc \n\n", 6, 6, "error[tag]: m\n  query:1:4\n  abc \n     ^\n");
	expect_place("", 0, 0, "error[tag]: m\n  query:1:1\n  \n  ^\n");
	expect_place("\n", 1, 1, "error[tag]: m\n  query:1:1\n  \n  ^\n");
	/* Beyond it: never read. */
	expect_place("abc", 90, 95, "error[tag]: m\n  query:1:4\n  abc\n     ^\n");
	/* Several lines: carets to the end of the first. */
	expect_place("ab cd\nef", 3, 8, "error[tag]: m\n  query:1:4\n  ab cd\n     ^^\n");
	/* A carriage return is no part of the line. */
	expect_place("ab\r\ncd\r\n", 0, 4, "error[tag]: m\n  query:1:1\n  ab\n  ^^\n");
	expect_place("ab\r\ncd\r\n", 8, 8, "error[tag]: m\n  query:2:3\n  cd\n    ^\n");
}

static void test_control_bytes(void **state)
{
	(void)state;
	expect_place("a\x1b[31m b", 7, 8, "error[tag]: m\n  query:1:8\n  a.[31m b\n         ^\n");
	expect_place("a\xFF\x7F\xC2\x9B x", 6, 7,
		     "error[tag]: m\n  query:1:6\n  a... x\n       ^\n");
	begin("x");
	diag_hint(&diags, diag_plain(&diags, "tag", "a\x1b]b\nc\td\xFF"), "\r");
	expect("error[tag]: a.]b.c.d.\n  hint: .\n");
}

static void test_nul_in_text(void **state)
{
	static const char text[] = "a\0b c";

	(void)state;
	diags_init(&diags, &arena, "query", text, sizeof(text) - 1);
	diag_error(&diags, "tag", (struct span){ 1, 2 }, "m");
	expect("error[tag]: m\n  query:1:2\n  a.b c\n   ^\n");
}

static void test_long_lines(void **state)
{
	char text[1000], expected[1000];
	struct span whole = { 0, 999 };

	(void)state;
	memset(text, 'a', sizeof(text) - 1);
	text[999] = '\0';
	memset(text + 500, 'b', 3);
	begin(text);
	diag_error(&diags, "tag", (struct span){ 500, 503 }, "m");
	snprintf(expected, sizeof(expected),
		 "error[tag]: m\n  query:1:501\n  ...%.40sbbb%.57s...\n     %40s^^^\n", text, text,
		 "");
	expect(expected);
	/* A span wider than what is shown. */
	begin(text);
	diag_error(&diags, "tag", whole, "m");
	buf_reset(&out);
	diags_print(&diags, &out);
	assert_int_equal(out.n, strlen("error[tag]: m\n  query:1:1\n  ...\n  \n") + 200);
	/* Its end: the last half of the room. */
	begin(text);
	diag_error(&diags, "tag", (struct span){ 998, 999 }, "m");
	snprintf(expected, sizeof(expected),
		 "error[tag]: m\n  query:1:999\n  ...%.50s\n     %49s^\n", text, "");
	buf_reset(&out);
	diags_print(&diags, &out);
	assert_non_null(strstr(out.at, "  query:1:999\n  ...aaa"));
	assert_true(out.n < 200);
	assert_string_equal(out.at + out.n - 3, " ^\n");
}

/* No line of the source, nor a caret, is wider than a terminal; a tab is a blank there. */
static void test_terminal(void **state)
{
	char text[200];

	(void)state;
	memset(text, 'a', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	memcpy(text + 100, "\tbbb", 4);
	for (u32 columns = 40; columns <= 200; columns++) {
		const char *source, *caret;

		begin(text);
		diags.columns = columns;
		diag_error(&diags, "tag", (struct span){ 101, 104 }, "m");
		diag_error(&diags, "tag", (struct span){ 0, 199 }, "m");
		buf_reset(&out);
		diags_print(&diags, &out);
		source = strstr(out.at, ":102\n") + 5;
		caret = strchr(strchr(source, '\n') + 1, '^');
		assert_memory_equal(source + (caret - strchr(source, '\n')) - 2, " bbb", 4);
		for (const char *line = out.at; *line; line += strcspn(line, "\n") + 1)
			assert_in_range(strcspn(line, "\n"), 1, columns);
	}
}

static void test_many(void **state)
{
	u32 i;

	(void)state;
	begin("");
	for (i = 0; i < DIAG_MAX + 1; i++) {
		struct diag *diag = diag_plain(&diags, "tag", "%u", i);

		assert_int_equal(diag != NULL, i < DIAG_MAX);
		diag_hint(&diags, diag, "h");
	}
	buf_reset(&out);
	diags_print(&diags, &out);
	assert_non_null(strstr(out.at, "error[tag]: 4\n  hint: h\n... and 1 more error\n"));
	diag_plain(&diags, "tag", "more");
	buf_reset(&out);
	diags_print(&diags, &out);
	assert_non_null(strstr(out.at, "\n... and 2 more errors\n"));
	assert_int_equal(diags.n_errors, DIAG_MAX + 2);
}

static void test_failure(void **state)
{
	(void)state;
	begin("SELECT 1");
	diag_warning(&diags, "tag", (struct span){ 0, 6 }, "w");
	diag_error(&diags, "tag", (struct span){ 0, 8 }, "e");
	diag_plain(&diags, "tag", "p");
	assert_false(diags_have_failure(&diags));
	diag_failure(&diags, "tag", "f");
	assert_true(diags_have_failure(&diags));
	assert_int_equal(diags.n_errors, 3);
	begin("SELECT 1");
	diag_failure_at(&diags, "tag", (struct span){ 0, 6 }, "f");
	assert_true(diags_have_failure(&diags));
	expect("error[tag]: f\n"
	       "  query:1:1\n"
	       "  SELECT 1\n"
	       "  ^^^^^^\n");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_plain_form, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_no_place, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_warning, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_places, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_control_bytes, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_nul_in_text, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_long_lines, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_terminal, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_many, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_failure, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
