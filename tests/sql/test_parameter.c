/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Parameters: a text with values bound is the text with these values written in it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "sql/sql.h"

static struct sql_parameter values[] = {
	{ .name = "n", .kind = AST_INTEGER, .integer = 4096 },
	{ .name = "most", .kind = AST_INTEGER, .integer = UINT64_MAX },
	{ .name = "low", .kind = AST_INTEGER, .integer = 7, .is_negative = true },
	{ .name = "half", .kind = AST_REAL, .real = 0.5 },
	{ .name = "two", .kind = AST_REAL, .real = 2, .is_negative = true },
	{ .name = "who", .kind = AST_TEXT, .text = "it's :n", .text_bytes = 7 },
	{ .name = "every", .kind = AST_DURATION, .integer = 1500000 },
	{ .name = "nothing", .kind = AST_NULL },
	{ .name = "yes", .kind = AST_BOOL, .integer = 1 },
};

/* The tree, or what is wrong. */
static void parsed(const char *text, bool is_open, struct buf *out)
{
	struct sql_parameters parameters = { .is_open = is_open };
	struct ast_script *script;
	struct arena arena;
	struct diags diags;

	arena_init(&arena);
	for (u32 i = 0; i < ARRAY_SIZE(values); i++) {
		values[i].is_used = false;
		vec_push(&arena, &parameters.list, values[i]);
	}
	diags_init(&diags, &arena, "query", text, strlen(text));
	script = sql_parse_bound(&arena, &parameters, &diags);
	if (diags_failed(&diags))
		diags_print(&diags, out);
	else if (!is_open)
		sql_print_script(script, true, out);
	for (u32 i = 0; i < ARRAY_SIZE(values); i++)
		values[i].is_used = parameters.list.at[i].is_used;
	arena_free(&arena);
}

static void same(const char *bound, const char *written)
{
	struct buf a, b;

	buf_init(&a);
	buf_init(&b);
	parsed(bound, false, &a);
	parsed(written, false, &b);
	assert_string_equal(a.at, b.at);
	buf_free(&a);
	buf_free(&b);
}

static void test_values(void **state)
{
	same("SELECT :n, :most, -:n FROM s", "SELECT 4096, 18446744073709551615, -4096 FROM s");
	same("SELECT a + :low, - :low FROM s", "SELECT a + -7, - -7 FROM s");
	same("SELECT :half, :two FROM s", "SELECT 0.5, -2.0 FROM s");
	same("SELECT a FROM s WHERE comm = :who", "SELECT a FROM s WHERE comm = 'it''s :n'");
	same("SELECT a FROM s WHERE a IS NOT :nothing", "SELECT a FROM s WHERE a IS NOT NULL");
	same("SELECT a FROM s WHERE :yes OR a IN (:n,:low)",
	     "SELECT a FROM s WHERE TRUE OR a IN (4096, -7)");
	same("SELECT a BETWEEN :low AND :n, CASE WHEN a THEN :n ELSE :who END FROM s",
	     "SELECT a BETWEEN -7 AND 4096, CASE WHEN a THEN 4096 ELSE 'it''s :n' END FROM s");
}

static void test_places(void **state)
{
	same("SELECT count(*) FROM a:b:n WHERE x=:n GROUP BY pid WINDOW TUMBLING :every LIMIT :n",
	     "SELECT count(*) FROM a:b:n WHERE x=4096 GROUP BY pid WINDOW TUMBLING 1500us LIMIT 4096");
	same("SELECT count(*) FROM s WINDOW HOPPING (SIZE :n SECONDS, ADVANCE BY :every)",
	     "SELECT count(*) FROM s WINDOW HOPPING (SIZE 4096 SECONDS, ADVANCE BY 1500us)");
	same("SELECT count(*) FROM s WINDOW COUNT :n", "SELECT count(*) FROM s WINDOW COUNT 4096");
	same("SELECT a FROM s PAIR JOIN t ON s.tid = t.tid WITHIN :every",
	     "SELECT a FROM s PAIR JOIN t ON s.tid = t.tid WITHIN 1500us");
	same("SELECT sum(a) OVER (ORDER BY a RANGE :half PRECEDING) FROM s",
	     "SELECT sum(a) OVER (ORDER BY a RANGE 0.5 PRECEDING) FROM s");
	same("SET max_groups = :n; SELECT count(*) FROM s WITH (ring_bytes = :n)",
	     "SET max_groups = 4096; SELECT count(*) FROM s WITH (ring_bytes = 4096)");
	same("CREATE VIEW v AS SELECT a FROM s WHERE a = :n; SELECT a FROM v",
	     "CREATE VIEW v AS SELECT a FROM s WHERE a = 4096; SELECT a FROM v");
}

static void complains(const char *text, bool is_open, const char *message)
{
	struct buf out;

	buf_init(&out);
	parsed(text, is_open, &out);
	if (message ? !strstr(out.at, message) : out.n)
		fail_msg("%s: %s", text, out.at);
	buf_free(&out);
}

static void test_errors(void **state)
{
	complains("SELECT :nn FROM s", false, "hint: there is a value for :n");
	complains("SELECT :n FROM s WHERE :somebody = 1", false, "error[unbound-parameter]");
	complains("SELECT :n FROM s WHERE :somebody = 1", false, "hint: --set NAME=VALUE");
	complains("SELECT count(*) FROM s WINDOW TUMBLING :n", false, "hint: did you mean 4096ms?");
	complains("SELECT count(*) FROM s WINDOW COUNT :low", false, "found \":low\"");
	complains("SELECT a:n FROM s", false, "a stream's path stands behind FROM");
	complains("SELECT : n FROM s", false, "error[bad-byte]");
}

/* Where the values are yet to come, only what none could mend is an error. */
static void test_open(void **state)
{
	complains("SELECT :a, b FROM a:b:c WHERE :d WINDOW TUMBLING :e LIMIT :f", true, NULL);
	complains("SELECT :a b FROM s WHERE GROUP BY c", true, "expected an expression");
}

static void test_is_used(void **state)
{
	struct buf out;

	buf_init(&out);
	parsed("SELECT :n FROM s:who WHERE a = ':who' AND :yes -- :half", false, &out);
	buf_free(&out);
	for (u32 i = 0; i < ARRAY_SIZE(values); i++)
		assert_int_equal(values[i].is_used, strcmp(values[i].name, "n") == 0 ||
							    strcmp(values[i].name, "yes") == 0);
}

/* The tree of a script, with the words behind it; or what is wrong. */
static void script(const char *text, const char *const *words, const char *wanted)
{
	struct sql_parameters all = { 0 };
	struct ast_script *script;
	struct sql_head head;
	struct arena arena;
	struct diags diags;
	struct buf out;

	arena_init(&arena);
	buf_init(&out);
	for (; words && *words; words += 2)
		vec_push(&arena, &all.words,
			 (struct sql_word){ *words[0] ? words[0] : NULL, words[1] });
	diags_init(&diags, &arena, "query", text, strlen(text));
	if (sql_declared(&arena, &diags, &head) && sql_bind(&arena, &diags, &head, &all)) {
		script = sql_parse_bound(&arena, &all, &diags);
		if (!diags_failed(&diags))
			sql_print_script(script, false, &out);
	}
	diags_print(&diags, &out);
	if (strncmp(out.at ?: "", wanted, strlen(wanted)) != 0)
		fail_msg("%s: %s", text, out.at);
	buf_free(&out);
	arena_free(&arena);
}

#define WORDS(...) ((const char *const[]){ __VA_ARGS__, NULL })

static void test_script(void **state)
{
	static const char all[] = "#!/usr/bin/env ebql\r\n"
				  "-- What for?\n\n"
				  "--:a INTEGER=-4KiB x\n"
				  "-- :b REAL = 1  y\n"
				  "  -- :c  DURATION = 5ms\n"
				  "-- :d boolean = false\n"
				  "-- :e TEXT = 'it''s' z\n"
				  "-- :f STREAM = kprobe:vfs_*  w\n"
				  "-- :g TEXT = NULL\n"
				  "SELECT :a, :b, :c, :d, :e, :g FROM :f";

	script(all, NULL, "SELECT -4096, 1.0, 5ms, FALSE, 'it''s', NULL FROM kprobe:vfs_*");
	script(all,
	       WORDS("", "7", "", "2", "", "3", "", "true", "", "a 'b'", "", "syscall:read", "",
		     "NULL"),
	       "SELECT 7, 2.0, 3s, TRUE, 'a ''b''', 'NULL' FROM syscall:read");
	script(all, WORDS("g", "1", "", "-1", "b", "-0.5", "c", "1.5"),
	       "SELECT -1, -0.5, 1500ms, FALSE, 'it''s', '1' FROM kprobe:vfs_*");
	script("SELECT $1, $2, :n FROM s", WORDS("", "5", "", "5ms", "n", "five"),
	       "SELECT 5, 5ms, 'five' FROM s");
	script("SELECT $10 FROM s", WORDS("10", "x"), "SELECT 'x' FROM s");
	script("SELECT $1, :n FROM s", WORDS("", "-5ms", "n", "-1.5s"),
	       "SELECT -5ms, -1500ms FROM s");
	script("-- :a DURATION = -2s\nSELECT :a, 1 - :a FROM s", NULL,
	       "SELECT -2s, 1 - -2s FROM s");
	script("-- :a DURATION = 2s\nSELECT :a FROM s", WORDS("", "-3s"), "SELECT -3s FROM s");
	/* Behind the head there is nothing to declare. */
	script("SELECT :a FROM s\n-- :a INTEGER = 1", NULL, "error[unbound-parameter]");
}

static void test_script_errors(void **state)
{
	script("-- :a INTEGER\nSELECT :a FROM s", NULL, "error[unbound-parameter]");
	script("-- :a INTEGER\nSELECT :a FROM s", WORDS("", "1", "", "2"),
	       "error[unknown-parameter]");
	script("-- :a INTEGER\nSELECT :a FROM s", WORDS("", "1", "a", "2"), "error[bad-parameter]");
	script("-- :a INTEGER\nSELECT :a FROM s", WORDS("a", "1s"), "error[bad-parameter]");
	script("-- :a INTEGER\nSELECT :a FROM s", WORDS("a", ""), "error[bad-parameter]");
	script("-- :a INTEGER\nSELECT :a FROM s", WORDS("a", "99999999999999999999"),
	       "error[bad-parameter]");
	script("-- :a STREAM\nSELECT 1 FROM :a", WORDS("a", "t::x"), "error[bad-parameter]");
	script("-- :a STREAM\nSELECT 1 FROM :a", WORDS("a", "s WHERE 1"), "error[bad-parameter]");
	script("-- :a\nSELECT :a FROM s", NULL, "error[bad-declaration]");
	script("-- :a WORD = x\nSELECT :a FROM s", NULL, "error[bad-declaration]");
	script("-- :a INTEGER = \nSELECT :a FROM s", NULL, "error[bad-declaration]");
	script("-- :a INTEGER = 'x\nSELECT :a FROM s", NULL, "error[bad-declaration]");
	script("-- :a INTEGER = 1\n-- :a REAL = 1\nSELECT :a FROM s", NULL,
	       "error[duplicate-name]");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_script),	cmocka_unit_test(test_script_errors),
		cmocka_unit_test(test_values),	cmocka_unit_test(test_places),
		cmocka_unit_test(test_errors),	cmocka_unit_test(test_open),
		cmocka_unit_test(test_is_used),
	};

	return cmocka_run_group_tests_name("parameter", tests, NULL, NULL);
}
