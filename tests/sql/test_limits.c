/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The parser at its limits: deep nesting, long chains, garbage, long texts.
 * Each ends in one clear diagnostic, quickly, on a small stack.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sql/sql.h"

static void repeat(struct buf *out, const char *text, u32 times)
{
	while (times--)
		buf_puts(out, text);
}

/* Parses head, n times part, middle, n times tail, and expects one error of this tag. */
static void expect_one(const char *tag, const char *head, const char *part, u32 n,
		       const char *middle, const char *tail)
{
	struct arena arena;
	struct diags diags;
	struct buf text;

	arena_init(&arena);
	buf_init(&text);
	buf_puts(&text, head);
	repeat(&text, part, n);
	buf_puts(&text, middle);
	repeat(&text, tail, n);
	diags_init(&diags, &arena, "query", text.at, text.n);
	sql_parse(&arena, &diags);
	assert_int_equal(diags.n_errors, 1);
	assert_string_equal(diags.list.at[0].tag, tag);
	buf_free(&text);
	arena_free(&arena);
}

static void test_nesting(void **state)
{
	static const char *const openings[][3] = {
		{ "(", "a", ")" },
		{ "NOT ", "a", "" },
		{ "- ", "a", "" },
		{ "~", "a", "" },
		{ "f(", "a", ")" },
		{ "(SELECT ", "1", ")" },
		{ "EXISTS(SELECT ", "1", ")" },
		{ "CASE WHEN ", "a", " THEN 1 END" },
		{ "CAST(", "a", " AS INTEGER)" },
		{ "a[", "1", "]" },
		{ "a IN (", "1", ")" },
		{ "a + (", "1", ")" },
		{ "1 FROM (SELECT ", "1", ")" },
	};
	u32 i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(openings); i++)
		expect_one("too-deep", "SELECT ", openings[i][0], 10000, openings[i][1],
			   openings[i][2]);
	expect_one("too-deep", "SELECT 1 FROM ", "(", 10000, "s", ")");
	expect_one("too-deep", "", "WITH a AS (", 10000, "SELECT 1", ") SELECT 1");
}

static void test_chains(void **state)
{
	static const char *const links[] = { " + a",	" - a",	     " OR a", " AND a", " = a",
					     " || a",	" < a",	     " & a",  " IS a",	" IS NULL",
					     " IN (1)", " LIKE 'a'", "[1]" };
	u32 i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(links); i++)
		expect_one("too-deep", "SELECT a", links[i], 100000, "", "");
	expect_one("too-deep", "SELECT 1 FROM a", " JOIN a", 100000, "", "");
}

/* Nested chains: the height of a tree is bounded, not only each chain in it. */
static void test_nested_chains(void **state)
{
	struct buf text;
	struct arena arena;
	struct diags diags;
	u32 i;

	(void)state;
	arena_init(&arena);
	buf_init(&text);
	buf_puts(&text, "SELECT ");
	for (i = 0; i < 20; i++)
		buf_puts(&text, "(SELECT (");
	buf_puts(&text, "a");
	for (i = 0; i < 20; i++) {
		repeat(&text, " + a", 100);
		buf_puts(&text, "))");
	}
	diags_init(&diags, &arena, "query", text.at, text.n);
	sql_parse(&arena, &diags);
	assert_int_equal(diags.n_errors, 1);
	assert_string_equal(diags.list.at[0].tag, "too-deep");
	buf_free(&text);
	arena_free(&arena);
}

/* What is within the limits does parse, print and compare. */
static void check_good(const char *head, const char *part, u32 n, const char *middle,
		       const char *tail)
{
	struct buf text, printed, tree, tree_again;
	struct ast_script *script;
	struct arena arena;
	struct diags diags;

	arena_init(&arena);
	buf_init(&text);
	buf_init(&printed);
	buf_init(&tree);
	buf_init(&tree_again);
	buf_puts(&text, head);
	repeat(&text, part, n);
	buf_puts(&text, middle);
	repeat(&text, tail, n);
	diags_init(&diags, &arena, "query", text.at, text.n);
	script = sql_parse(&arena, &diags);
	assert_false(diags_failed(&diags));
	sql_print_script(script, true, &tree);
	sql_print_script(script, false, &printed);
	diags_init(&diags, &arena, "query", printed.at, printed.n);
	script = sql_parse(&arena, &diags);
	assert_false(diags_failed(&diags));
	sql_print_script(script, true, &tree_again);
	assert_string_equal(tree.at, tree_again.at);
	buf_free(&tree_again);
	buf_free(&tree);
	buf_free(&printed);
	buf_free(&text);
	arena_free(&arena);
}

static void test_within_limits(void **state)
{
	(void)state;
	check_good("SELECT a", " + a", 999, "", "");
	check_good("SELECT ", "NOT ", 198, "a", "");
	check_good("SELECT ", "- ", 198, "a", "");
	check_good("SELECT ", "(a + ", 198, "a", ")");
	check_good("SELECT ", "f(", 198, "a", ")");
	check_good("SELECT a = NOT b, ", "(a = NOT ", 66, "b", ")");
	/* Wide is no problem. */
	check_good("SELECT 1", ", 1", 100000, "", "");
	check_good("SELECT a IN (1", ", 1", 100000, ")", "");
	check_good("SELECT 1", " UNION ALL SELECT 1", 10000, "", "");
	check_good("SELECT 1", "; SELECT 1", 10000, "", "");
}

static void test_too_long(void **state)
{
	u32 n = 10u << 20, i;
	char *text = malloc(n);
	struct arena arena;
	struct diags diags;
	struct buf out;

	(void)state;
	assert_non_null(text);
	srand(1);
	for (i = 0; i < n; i++)
		text[i] = (char)rand();
	arena_init(&arena);
	buf_init(&out);
	diags_init(&diags, &arena, "query", text, n);
	sql_parse(&arena, &diags);
	assert_int_equal(diags.n_errors, 1);
	assert_string_equal(diags.list.at[0].tag, "text-too-long");
	diags_print(&diags, &out);
	assert_true(out.n < 1000);
	buf_free(&out);
	arena_free(&arena);
	free(text);
}

/* Garbage just short of the limit: at most five errors, short when printed. */
static void test_garbage(void **state)
{
	static const char *const alphabets[] = {
		"abcdefghijklmnopqrstuvwxyz \n",
		"()[]",
		"+-*/%<>=!&|~",
		"0123456789.eExs",
		"'\"`-*/\n ",
		"\x80\xC3\xA9\xFF a",
		",;:. ",
		"(a,) ",
	};
	u32 n = 1u << 20, i, j;
	char *text = malloc(n);
	struct arena arena;
	struct diags diags;
	struct buf out;

	(void)state;
	assert_non_null(text);
	srand(2);
	for (i = 0; i < ARRAY_SIZE(alphabets); i++) {
		size_t n_letters = strlen(alphabets[i]);

		for (j = 0; j < n; j++)
			text[j] = alphabets[i][(size_t)rand() % n_letters];
		arena_init(&arena);
		buf_init(&out);
		diags_init(&diags, &arena, "query", text, n);
		sql_parse(&arena, &diags);
		assert_in_range(diags.n_errors, 1, DIAG_MAX);
		diags_print(&diags, &out);
		assert_true(out.n < DIAG_MAX * 1000);
		buf_free(&out);
		arena_free(&arena);
	}
	free(text);
}

static void test_exact_limit(void **state)
{
	u32 n = 1u << 20;
	struct arena arena;
	struct diags diags;
	struct buf text;

	(void)state;
	arena_init(&arena);
	buf_init(&text);
	buf_puts(&text, "SELECT 1");
	buf_fill(&text, ' ', n - text.n);
	diags_init(&diags, &arena, "query", text.at, text.n);
	sql_parse(&arena, &diags);
	assert_false(diags_failed(&diags));
	buf_putc(&text, ' ');
	diags_init(&diags, &arena, "query", text.at, text.n);
	sql_parse(&arena, &diags);
	assert_int_equal(diags.n_errors, 1);
	buf_free(&text);
	arena_free(&arena);
}

/* Expressions that differ in one thing each are not equal. */
static void test_equal(void **state)
{
	static const char *const different[] = {
		"a",
		"b",
		"a.b",
		"\"A b\"",
		"1",
		"2",
		"1.0",
		"1ns",
		"'a'",
		"'A'",
		"NULL",
		"TRUE",
		"-a",
		"+a",
		"a + b",
		"a - b",
		"b + a",
		"a AND b",
		"a IS NULL",
		"a IS NOT NULL",
		"a IN (1)",
		"a NOT IN (1)",
		"a IN (1, 2)",
		"a IN (SELECT 1)",
		"a IN (SELECT 2)",
		"a LIKE 'x'",
		"a GLOB 'x'",
		"a BETWEEN 1 AND 2",
		"f(a)",
		"g(a)",
		"f(a, b)",
		"f(*)",
		"f(DISTINCT a)",
		"f(a) FILTER (WHERE b)",
		"f(a) OVER ()",
		"f(a) OVER (ORDER BY b)",
		"f(a) OVER (ORDER BY b DESC)",
		"f(a) OVER (PARTITION BY b)",
		"f(a) WITHIN GROUP (ORDER BY b)",
		"a[1]",
		"a[2]",
		"CAST(a AS x)",
		"CAST(a AS y)",
		"CASE WHEN a THEN b END",
		"CASE WHEN a THEN b ELSE c END",
		"CASE a WHEN a THEN b END",
		"EXISTS (SELECT 1)",
		"NOT EXISTS (SELECT 1)",
		"(SELECT 1)",
		"(SELECT DISTINCT 1)",
		"(SELECT 1 FROM a:b)",
		"(SELECT 1 FROM a:B)",
		"(SELECT 1 FROM s WHERE a)",
		"(SELECT 1 FROM s WINDOW TUMBLING 1s)",
		"(SELECT 1 FROM s WINDOW TUMBLING 2s)",
		"(SELECT 1 FROM s JOIN t)",
		"(SELECT 1 FROM s LEFT JOIN t)",
		"(SELECT 1 LIMIT 1)",
		"(SELECT 1 UNION SELECT 2)",
		"(SELECT 1 UNION ALL SELECT 2)",
		"(SELECT 1 AS x)",
		"(WITH a AS (SELECT 1) SELECT 1)",
		"(SELECT 1 WITH (x = 1))",
	};
	struct buf trees[ARRAY_SIZE(different)], printed[ARRAY_SIZE(different)];
	struct ast_script *script;
	struct arena arena;
	struct diags diags;
	const char *text;
	u32 i, j;

	(void)state;
	arena_init(&arena);
	for (i = 0; i < ARRAY_SIZE(different); i++) {
		text = arena_printf(&arena, "SELECT %s", different[i]);
		diags_init(&diags, &arena, "query", text, strlen(text));
		script = sql_parse(&arena, &diags);
		assert_false(diags_failed(&diags));
		buf_init(&trees[i]);
		buf_init(&printed[i]);
		sql_print_script(script, true, &trees[i]);
		sql_print_script(script, false, &printed[i]);
		for (j = 0; j < i; j++)
			if (strcmp(trees[i].at, trees[j].at) == 0 ||
			    strcmp(printed[i].at, printed[j].at) == 0)
				fail_msg("%s and %s", different[i], different[j]);
	}
	for (i = 0; i < ARRAY_SIZE(different); i++) {
		buf_free(&trees[i]);
		buf_free(&printed[i]);
	}
	arena_free(&arena);
}

/* Spans: the text of a node is the text it was read from. */
static void test_spans(void **state)
{
	static const char text[] = "SELECT a + f(b, 'c') , x.y[ 2 ] IS NOT NULL FROM s";
	static const char *const items[] = { "a + f(b, 'c')", "x.y[ 2 ] IS NOT NULL" };
	struct ast_script *script;
	struct arena arena;
	struct diags diags;
	struct ast *expr;
	u32 i;

	(void)state;
	arena_init(&arena);
	diags_init(&diags, &arena, "query", text, sizeof(text) - 1);
	script = sql_parse(&arena, &diags);
	assert_false(diags_failed(&diags));
	for (i = 0; i < ARRAY_SIZE(items); i++) {
		expr = script->statements.at[0].select->items.at[i].expr;
		assert_int_equal(expr->span.end - expr->span.start, strlen(items[i]));
		assert_memory_equal(text + expr->span.start, items[i], strlen(items[i]));
	}
	expr = script->statements.at[0].select->items.at[1].expr->args[0]->args[0];
	assert_int_equal(expr->n_parts, 2);
	assert_memory_equal(text + expr->part_spans[1].start, "y", 1);
	assert_int_equal(expr->part_spans[1].end - expr->part_spans[1].start, 1);
	arena_free(&arena);
}

static void *run_all(void *ret_failed)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nesting),	      cmocka_unit_test(test_chains),
		cmocka_unit_test(test_nested_chains), cmocka_unit_test(test_within_limits),
		cmocka_unit_test(test_too_long),      cmocka_unit_test(test_garbage),
		cmocka_unit_test(test_exact_limit),   cmocka_unit_test(test_equal),
		cmocka_unit_test(test_spans),
	};

	*(int *)ret_failed = cmocka_run_group_tests(tests, NULL, NULL);
	return NULL;
}

int main(void)
{
	pthread_attr_t attributes;
	pthread_t thread;
	int failed = 1;

	/* A quarter of the usual stack, so that growth shows before users meet it. */
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, 2u << 20);
	if (pthread_create(&thread, &attributes, run_all, &failed))
		return 1;
	pthread_join(thread, NULL);
	return failed;
}
