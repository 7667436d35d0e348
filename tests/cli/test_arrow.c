/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * -o arrow of windows: npm's apache-arrow finds in it what -o json says of the same windows
 * (arrow.js), of every value of tests/out/golden and of queries over a recording; and FROM reads
 * back what files have types for.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/base.h"
#include "base/buf.h"

/* In the folder of the test; every $E is the binary, $COMPARE the comparison. */
static void expect(const char *command, int status, const char *said)
{
	struct buf line, got;
	FILE *pipe;
	int ended;

	buf_init(&line);
	buf_init(&got);
	buf_printf(&line, "exec 2>&1; E=%s; COMPARE='node %s/arrow.js %s/node_modules'; %s",
		   EBQL_BINARY, HERE, BUILD_NODE, command);
	pipe = popen(line.at, "r");
	assert_non_null(pipe);
	assert_int_equal(buf_read(&got, fileno(pipe), 1 << 20), 0);
	ended = pclose(pipe);
	assert_true(WIFEXITED(ended));
	if (strcmp(got.at, said) != 0)
		fail_msg("%s\n%s", command, got.at);
	assert_int_equal(WEXITSTATUS(ended), status);
	buf_free(&line);
	buf_free(&got);
}

static void need_node(void)
{
	if (system("command -v node >/dev/null") ||
	    access(BUILD_NODE "/node_modules/apache-arrow", F_OK)) {
		print_message("SKIP: npm's apache-arrow is not installed (scripts/setup test)\n");
		skip();
	}
}

static void write_recording(void)
{
	FILE *file = fopen("a.csv", "w");

	assert_non_null(file);
	fputs("time,pid,comm,latency,size\n"
	      "1700000000000000000,1,\"a\",100,5\n"
	      "1700000000500000000,2,\"b\",20000,18446744073709551615\n"
	      "1700000000700000000,2,\"b\",,18446744073709551615\n"
	      "1700000000800000000,2,\"\xff\xc3\xb6\",9223372036854775807,0\n"
	      "1700000001500000000,,,7,3\n"
	      "1700000003500000000,1,\"a\",7,3\n",
	      file);
	assert_int_equal(fclose(file), 0);
}

static void compare(const char *query, const char *said)
{
	struct buf line;

	buf_init(&line);
	buf_printf(&line,
		   "Q=\"%s\"; $E -o json \"$Q\" >a.json; $E -o arrow \"$Q\" >a.arrows; "
		   "$COMPARE a.arrows a.json",
		   query);
	expect(line.at, 0, said);
	buf_free(&line);
}

/* Each case of tests/out in Arrow's form, and as JSON. */
static void test_golden(void **state)
{
	need_node();
	expect("for f in " GOLDEN "/*.arrow; do $COMPARE $f ${f%.arrow}.json 3600000000000 "
	       ">said || { cat said; exit 1; }; done; rm said",
	       0, "");
}

/* It does find a difference: a value, what a window says of itself, a window. */
static void test_comparison(void **state)
{
	need_node();
	compare("SELECT count(*) AS n FROM 'a.csv' WINDOW TUMBLING 1s",
		"4 batches, 4 rows: the same\n");
	expect("sed 's/\"n\":4/\"n\":5/' a.json >b.json; $COMPARE a.arrows b.json", 1,
	       "a.arrows: batch 0: row 0: n u64 Uint64 \"4n\" \"5n\"\n");
	expect("sed 's/\"events\":4/\"events\":5/' a.json >b.json; "
	       "$COMPARE a.arrows b.json | sed 's/ Map.*//;1q'",
	       0, "a.arrows: batch 0:\n");
	expect("sed '$d' a.json >b.json; $COMPARE a.arrows b.json", 1,
	       "a.arrows: 4 batches 3 windows\n");
	expect("rm b.json", 0, "");
}

static void test_queries(void **state)
{
	need_node();
	compare("SELECT comm, count(*) AS n, sum(size), histogram(latency), p50(latency), "
		"quantiles(latency, 0.5, 0.9), top_k(comm, 3), avg(latency), min(time), "
		"stddev(size), size > 3 AS big, NULL AS none, window_start FROM 'a.csv' GROUP BY comm, "
		"big WINDOW TUMBLING 1s",
		"4 batches, 5 rows: the same\n");
	compare("SELECT count(*) AS n, CASE WHEN count(*) > 1 THEN sum(size) ELSE -1 END AS s, "
		"sum(comm), max(comm), percentile_cont(0.5) WITHIN GROUP (ORDER BY pid), histogram(pid), "
		"p90(size, loglinear(7)), quantiles(size, 0, 1) FROM 'a.csv' WINDOW HOPPING 2s BY 1s",
		"4 batches, 4 rows: the same\n");
	compare("SELECT s, min(s + 0) AS least, max(s) AS most FROM (SELECT sum(size) AS s FROM "
		"'a.csv' GROUP BY pid) GROUP BY s",
		"1 batches, 3 rows: the same\n");
	/* No row at all. */
	compare("SELECT comm, histogram(pid) FROM 'a.csv' WHERE pid = 7 GROUP BY comm",
		"1 batches, 0 rows: the same\n");
}

static void test_read_back(void **state)
{
	expect("$E -o arrow \"SELECT comm, count(*) AS n, sum(pid) AS s, avg(pid) AS a, window_start AS "
	       "time FROM 'a.csv' GROUP BY comm WINDOW TUMBLING 1s\" >a.arrows; "
	       "$E describe a.arrows | tr -s ' '; $E -o csv \"SELECT comm, n, s, a, time, _other AS "
	       "o FROM 'a.arrows'\"",
	       0,
	       "a.arrows\n\ncolumn type meaning\ncomm TEXT(5) \nn u64 \ns INTEGER \na REAL \n"
	       "time TIMESTAMP when it happened\n_other BOOLEAN \n"
	       "comm,n,s,a,time,o\n"
	       "a,1,1,1.0,1700000000000000000,0\n"
	       "b,2,4,2.0,1700000000000000000,0\n"
	       "\xef\xbf\xbd\xc3\xb6,1,2,2.0,1700000000000000000,0\n"
	       ",1,,,1700000001000000000,0\n"
	       "a,1,1,1.0,1700000003000000000,0\n");
	/* What files have no types for. */
	expect("$E -o arrow \"SELECT histogram(pid) AS h FROM 'a.csv'\" >a.arrows; "
	       "$E \"SELECT count(*) FROM 'a.arrows'\"; "
	       "$E -o arrow \"SELECT sum(size) AS s FROM 'a.csv'\" >a.arrows; "
	       "$E \"SELECT s FROM 'a.arrows'\"",
	       2,
	       "error[bad-file]: a.arrows: column \"h\" is of a type that is not read here (list)\n"
	       "  query:1:22\n"
	       "  SELECT count(*) FROM 'a.arrows'\n"
	       "                       ^^^^^^^^^^\n"
	       "error[bad-file]: a.arrows: batch 1: row 1: a value out of range of \"s\"\n"
	       "  query:1:15\n"
	       "  SELECT s FROM 'a.arrows'\n"
	       "                ^^^^^^^^^^\n");
}

/* Where Arrow's types end: in words, and only the schema is written. */
static void test_refused(void **state)
{
	expect("$E -o arrow \"SELECT sum(latency * 1ns) AS d FROM 'a.csv'\" >a.arrows; echo $?; "
	       "wc -c <a.arrows",
	       0,
	       "ebql: standard output: column \"d\": a duration or time of 2^63 ns or more, which Arrow cannot "
	       "hold\n1\n336\n");
}

static void test_terminal(void **state)
{
	expect("script -qc \"$E -o arrow \\\"SELECT count(*) FROM 'a.csv'\\\"\" /dev/null "
	       "</dev/null | tr -d '\\r'",
	       0,
	       "error[not-rows]: -o arrow writes bytes that a terminal cannot show\n"
	       "  query:1:1\n"
	       "  SELECT count(*) FROM 'a.csv'\n"
	       "  ^^^^^^^^^^^^^^^^^^^^^^^^^^^^\n"
	       "  hint: > FILE.arrows\n");
}

static char folder[] = "/tmp/ebql-arrow-XXXXXX";

static int enter(void **state)
{
	if (!mkdtemp(folder) || chdir(folder))
		return -1;
	write_recording();
	return 0;
}

static int leave(void **state)
{
	static const char *const names[] = { "a.csv", "a.json", "a.arrows" };

	for (u32 i = 0; i < ARRAY_SIZE(names); i++)
		unlink(names[i]);
	return chdir("/") || rmdir(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_golden),	cmocka_unit_test(test_comparison),
		cmocka_unit_test(test_queries), cmocka_unit_test(test_read_back),
		cmocka_unit_test(test_refused), cmocka_unit_test(test_terminal),
	};

	return cmocka_run_group_tests_name("arrow", tests, enter, leave);
}
