/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Text that is being typed: where a statement ends, what may stand at the end, and
 * which sources it names.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "sql/sql.h"

static void test_end(void **state)
{
	static const struct {
		const char *text;
		size_t end;
		bool is_blank;
	} cases[] = {
		{ "", 0, true },
		{ " -- ;\n", 0, true },
		{ "/* ; */ ;x", 9, true },
		{ "SELECT 1; SELECT 2;", 9, false },
		{ "SELECT 1", 0, false },
		{ "SELECT ';' ; x", 12, false },
		{ "SELECT 'it''s;';", 16, false },
		{ "SELECT ';", 0, false },
		{ "SELECT \";\", `;`;", 16, false },
		{ "SELECT \";", 0, false },
		{ "SELECT 1 /* ;", 0, false },
		{ "SELECT 1 -- ;", 0, false },
		/* In a path a slash and a star are no comment before blanks. */
		{ "SELECT 1 FROM syscalls/sys_enter_*;", 35, false },
		{ "DESCRIBE a:b;", 13, false },
		{ "\x01\x02;", 3, false },
		{ "SELECT 5foo ? 0xzz;", 19, false },
		/* bpftrace's are one text, to the last brace of a line. */
		{ "kprobe:f { a(); b(); }\nSELECT", 22, false },
		{ "k:f { a(); } kr:f { b(\"}\"); }  \n", 29, false },
		{ "k:f { a();", 0, false },
		{ "SELECT { 1;", 11, false },
	};

	for (u32 i = 0; i < ARRAY_SIZE(cases); i++) {
		bool is_blank;

		assert_int_equal(
			sql_statement_bytes(cases[i].text, strlen(cases[i].text), &is_blank),
			cases[i].end);
		assert_int_equal(is_blank, cases[i].is_blank);
	}
}

static void test_command(void **state)
{
	static const struct {
		const char *text;
		size_t at;
	} cases[] = {
		{ "SELECT 1 \\gx", 9 }, { "\\g", 0 },	   { "SELECT '\\g', \"\\g\" -- \\g", 23 },
		{ "SELECT '\\g", 10 },	{ "SELECT 1", 8 },
	};

	for (u32 i = 0; i < ARRAY_SIZE(cases); i++)
		assert_int_equal(sql_command_at(cases[i].text, strlen(cases[i].text)), cases[i].at);
}

static void test_place(void **state)
{
	static const struct {
		const char *text, *word;
		enum sql_place place;
	} cases[] = {
		{ "", "", SQL_PLACE_START },
		{ "sel", "sel", SQL_PLACE_START },
		{ "SELECT 1; S", "S", SQL_PLACE_START },
		{ "SELECT ", "", SQL_PLACE_EXPRESSION },
		{ "SELECT pi", "pi", SQL_PLACE_EXPRESSION },
		{ "SELECT count(pi", "pi", SQL_PLACE_EXPRESSION },
		{ "SELECT s.pi", "pi", SQL_PLACE_MEMBER },
		{ "SELECT s.", "", SQL_PLACE_MEMBER },
		{ "SELECT 1 FROM ", "", SQL_PLACE_SOURCE },
		{ "SELECT 1 FROM t:sched:sw", "t:sched:sw", SQL_PLACE_SOURCE },
		{ "SELECT 1 FROM t/sched/", "t/sched/", SQL_PLACE_SOURCE },
		{ "SELECT 1 FROM a JOIN b", "b", SQL_PLACE_SOURCE },
		{ "describe sys", "sys", SQL_PLACE_SOURCE },
		{ "SELECT 1 FROM a W", "W", SQL_PLACE_EXPRESSION },
		{ "SET max", "max", SQL_PLACE_OPTION },
		{ "SET ", "", SQL_PLACE_OPTION },
		{ "SELECT 'pi", "", SQL_PLACE_NONE },
		{ "SELECT 1 -- pi\n /* pi", "", SQL_PLACE_NONE },
		{ "SELECT 12", "", SQL_PLACE_NONE },
		{ "SELECT a FROM s WHERE a = :pi", "", SQL_PLACE_NONE },
	};

	for (u32 i = 0; i < ARRAY_SIZE(cases); i++) {
		size_t n = strlen(cases[i].text), start = 0;

		assert_int_equal(sql_place_at_end(cases[i].text, n, &start), cases[i].place);
		assert_string_equal(cases[i].text + start, cases[i].word);
	}
}

static void visit(void *context, const char *source, size_t n)
{
	char *list = context;

	strncat(list, source, n);
	strcat(list, "|");
}

static void test_sources(void **state)
{
	static const char text[] = "SELECT (SELECT 1 FROM block_io), FROM t:a:b x PAIR JOIN "
				   "syscall:read ON 'FROM c' JOIN 'f.csv' -- FROM d\n"
				   "; SELECT 1 FROM e";
	char list[256] = "";

	sql_each_source(text, strlen(text), visit, list);
	assert_string_equal(list, "block_io|t:a:b|syscall:read|'f.csv'|");
	list[0] = '\0';
	sql_each_source("SELECT FROM WHERE", 17, visit, list);
	assert_string_equal(list, "");
}

static void test_keywords(void **state)
{
	const char *before = "";
	u32 n = 0;

	for (; sql_keyword(n); n++) {
		assert_true(strcmp(before, sql_keyword(n)) < 0);
		before = sql_keyword(n);
	}
	assert_true(n > 70);
}

/* Any bytes end somewhere, and within the text. */
static void test_garbage(void **state)
{
	srandom(1);
	for (u32 i = 0; i < 20000; i++) {
		static const char some[] = "from FROM ;'\"`/*-:. \n\xc3\xa9\xff";
		char text[40], list[512] = "";
		size_t n = (size_t)random() % sizeof(text), end, start;
		bool is_blank;

		for (size_t k = 0; k < n; k++)
			text[k] = random() % 8 ? some[(size_t)random() % sizeof(some)]
					       : (char)random();
		end = sql_statement_bytes(text, n, &is_blank);
		assert_true(end <= n);
		assert_true(end == 0 || text[end - 1] == ';');
		sql_place_at_end(text, n, &start);
		assert_true(start <= n);
		sql_each_source(text, n, visit, list);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_end),	 cmocka_unit_test(test_command),
		cmocka_unit_test(test_place),	 cmocka_unit_test(test_sources),
		cmocka_unit_test(test_keywords), cmocka_unit_test(test_garbage),
	};

	return cmocka_run_group_tests_name("scan", tests, NULL, NULL);
}
