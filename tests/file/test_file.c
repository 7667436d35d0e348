/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Files of others: what their columns are, what their values, and what is said of files
 * that are broken.
 */
#include "files.h"

static void check(const char *name, const char *text, size_t n, const char *expected)
{
	struct folder folder = { 0 };
	struct buf out;

	buf_init(&out);
	folder_open(&folder);
	show(folder_write(&folder, name, text, n), &out);
	folder_close(&folder);
	assert_string_equal(out.at, expected);
	buf_free(&out);
}

#define CHECK(name, text, expected) check(name, text, sizeof(text) - 1, expected)

static void test_csv_types(void **state)
{
	CHECK("a.csv",
	      "i,u,wide,huge,r,s,q,mixed,none,zip\n"
	      "-1,18446744073709551615,-1,18446744073709551616,1.5,x,\"7\",1,,007\r\n"
	      "9223372036854775807,0,18446744073709551615,1,2,\"y,\"\"z\"\"\n\",\"\",a,,1\n"
	      ",,,,,,,,,\n",
	      "i INTEGER, u u64, wide TEXT(20), huge TEXT(20), r REAL, s TEXT(6), q TEXT(1), "
	      "mixed TEXT(1), none NULL, zip TEXT(3); time -1\n"
	      "-1, 18446744073709551615, '-1', '18446744073709551616', 1.5, 'x', '7', '1', NULL, "
	      "'007'\n"
	      "9223372036854775807, 0, '18446744073709551615', '1', 2, 'y,\"z\"\n', '', 'a', "
	      "NULL, '1'\n"
	      "NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL\n");
	CHECK("a.csv", "r\nnan\n1\n-inf\n1e3\n", "r REAL; time -1\nnan\n1\n-inf\n1000\n");
	CHECK("a.csv",
	      "\xef\xbb\xbf"
	      "a,A,,a\n1,2,3,4",
	      "a INTEGER, A_2 INTEGER, column_3 INTEGER, "
	      "a_3 INTEGER; time -1\n1, 2, 3, 4\n");
	CHECK("a.csv", "a,b\n\n1,2\n\n", "a INTEGER, b INTEGER; time -1\n1, 2\n");
	CHECK("a.csv", "a\n\n1\n", "a INTEGER; time -1\nNULL\n1\n");
	CHECK("a.csv", "a,b\n", "a NULL, b NULL; time -1\n");
	CHECK("a.csv", "a,Time\n", "a NULL, Time TIMESTAMP; time 1\n");
	/* What "-o csv" tells of windows and losses is no row. */
	CHECK("a.csv",
	      "a\n1\n# late merged=2 window_start=1 window_end=2\n# lost ring_full=3 window_start=1 window_end=2\n",
	      "a INTEGER; time -1\n1\n");
	CHECK("a.csv",
	      "a\n1\n# other 7\n# partial window_start=1 window_end=2\n# unwritten windows=1\n2\n",
	      "a INTEGER; time -1\n1\n2\n");
	/* Our own line of types is for columns without a value, and for those only. */
	CHECK("a.csv", "a,b,c\n# types INTEGER,TEXT,REAL\n",
	      "a INTEGER, b TEXT(1), c REAL; time -1\n");
	CHECK("a.csv", "time,b\n# types INTEGER,REAL\n", "time TIMESTAMP, b REAL; time 0\n");
	CHECK("a.csv", "a,b\nx,\n,\n# types INTEGER,INTEGER\n",
	      "a TEXT(1), b INTEGER; time -1\n'x', NULL\nNULL, NULL\n");
	CHECK("a.csv", "a,b\n,\n# types bogus\n", "a NULL, b NULL; time -1\nNULL, NULL\n");
}

static void test_time(void **state)
{
	CHECK("a.csv", "x,Time\n1,5\n2,6\n", "x INTEGER, Time TIMESTAMP; time 1\n1, 5\n2, 6\n");
	CHECK("a.csv", "time\n5\n-6\n", "time INTEGER; time -1\n5\n-6\n");
	CHECK("a.csv", "time,b\n5,1\n,1\n", "time INTEGER, b INTEGER; time -1\n5, 1\nNULL, 1\n");
	CHECK("a.csv", "time\n5.5\n", "time REAL; time -1\n5.5\n");
	CHECK("a.csv", "time\n12:00\n", "time TEXT(5); time -1\n'12:00'\n");
	CHECK("a.jsonl", "{\"time\": 5}\n{}\n", "time INTEGER; time -1\n5\nNULL\n");
	CHECK("a.jsonl", "{\"b\": 1}\n{\"time\": 5}\n",
	      "b INTEGER, time INTEGER; time -1\n1, NULL\nNULL, 5\n");
	CHECK("a.jsonl", "{\"time\": 5}\n", "time TIMESTAMP; time 0\n5\n");
}

static void test_csv_broken(void **state)
{
	CHECK("a.csv", "", "error[bad-file]: a.csv: is empty\n");
	CHECK("a.csv", "a,b", "a NULL, b NULL; time -1\n");
	/* The names may go on. */
	CHECK("a.csv", "a,b,", "error[bad-file]: a.csv: line 1: the file ends in the middle\n");
	CHECK("a.csv", "\"a\",", "error[bad-file]: a.csv: line 1: the file ends in the middle\n");
	CHECK("a.csv", "\"a\",\"b\"",
	      "error[bad-file]: a.csv: line 1: the file ends in the middle\n");
	CHECK("a.csv", "\"a\",b", "error[bad-file]: a.csv: line 1: the file ends in the middle\n");
	CHECK("a.csv", "a,b\r1,2\r",
	      "error[bad-file]: a.csv: line 1: a carriage return without a line feed behind it: "
	      "lines end with LF or CR LF\n");
	CHECK("a.csv", "\"a\",b\r1,2\r3,4\r",
	      "error[bad-file]: a.csv: line 1: a carriage return without a line feed behind it: "
	      "lines end with LF or CR LF\n");
	/* In a name of ours it stands in quotes. */
	CHECK("a.csv", "\"a\r\",b\n1,2\n", "a\r INTEGER, b INTEGER; time -1\n1, 2\n");
	CHECK("a.csv", "a,b\n1,2\n3\n",
	      "error[bad-file]: a.csv: line 3: 1 fields where the header has 2\n");
	CHECK("a.csv", "a\n\"x\ny\n",
	      "error[bad-file]: a.csv: line 2: a quoted field without its closing quote\n");
	CHECK("a.csv", "a,b\n\"x\n\"y,1\n",
	      "error[bad-file]: a.csv: line 2: field 1 goes on behind its closing quote\n");
	CHECK("a.csv", "a\nx\0y\n", "error[bad-file]: a.csv: line 2: a NUL byte\n");
	CHECK("a.csv", "a\n\"1\n2\"\n\"",
	      "error[bad-file]: a.csv: line 4: a quoted field without its closing quote\n");
	CHECK("a.txt", "a\n", "error[unknown-file]: a.txt: is no kind of file\n");
}

static void test_jsonl_types(void **state)
{
	CHECK("a.jsonl",
	      "{\"a\": 1, \"b\": true, \"c\": \"x\", \"d\": 1.5, \"e\": 18446744073709551615}\n"
	      "\n"
	      " { \"f\" : [1, {\"g\": \"]}\"}] , \"a\":-2, \"c\":3, \"d\":2 }\r\n"
	      "{\"b\": null, \"e\": 1, \"f\": {}, \"b\": false}",
	      "a INTEGER, b BOOLEAN, c TEXT(1), d REAL, e u64, f TEXT(16); time -1\n"
	      "1, 1, 'x', 1.5, 18446744073709551615, NULL\n"
	      "-2, NULL, '3', 2, NULL, '[1, {\"g\": \"]}\"}]'\n"
	      "NULL, 0, NULL, NULL, 1, '{}'\n");
	CHECK("a.jsonl",
	      "{\"a\": true, \"b\": 1, \"c\": null}\n{\"a\": 1, \"b\": -18446744073709551616}",
	      "a TEXT(4), b TEXT(21), c NULL; time -1\n'true', '1', NULL\n"
	      "'1', '-18446744073709551616', NULL\n");
	CHECK("a.jsonl",
	      "{\"\\u0061\": \"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e4\\ud83d\\ude00\"}\n{\"a\": 1}",
	      "a TEXT(14); time -1\n'\"\\/\b\f\n\r\t\xc3\xa4\xf0\x9f\x98\x80'\n'1'\n");
	/* Bytes that are no UTF-8, and surrogates that stand alone. */
	CHECK("a.jsonl", "{\"a\": \"\\udc80\\udcff\\ud83dx\\ude00\\ud83d\\u0041\"}",
	      "a TEXT(13); time -1\n'\x80\xff\xef\xbf\xbdx\xef\xbf\xbd\xef\xbf\xbd"
	      "A'\n");
	CHECK("a.jsonl", "{\"ebql\": 1}\n", "ebql INTEGER; time -1\n1\n");
}

static void test_jsonl_head(void **state)
{
	CHECK("a.jsonl",
	      "{\"ebql\": {\"version\": 9, \"columns\": [{\"name\": \"t\", \"type\": \"DURATION\"}, "
	      "{\"type\": \"BLOB(2)\", \"name\": \"b\"}, {\"name\": \"t\", \"type\": \"TEXT\"}]}}\n"
	      "{\"t\": 5, \"b\": \"4a6F\"}\n{}\n",
	      "t DURATION, b BLOB(2), t_2 TEXT(1); time -1\n5, 4a6f, NULL\nNULL, NULL, NULL\n");
}

static void test_jsonl_broken(void **state)
{
#define HEAD "{\"ebql\": {\"columns\": [{\"name\": \"a\", \"type\": \"u8\"}]}}\n"
	CHECK("a.jsonl", "", "error[bad-file]: a.jsonl: is empty\n");
	CHECK("a.jsonl", "{}\n", "error[bad-file]: a.jsonl: has no columns\n");
	CHECK("a.jsonl", "[1]\n", "error[bad-file]: a.jsonl: line 1: a line is no JSON object\n");
	CHECK("a.jsonl", "{\"a\": 1}\n{\"a\": }\n",
	      "error[bad-file]: a.jsonl: line 2: no JSON value\n");
	CHECK("a.jsonl", "{\"a\": 01}\n", "error[bad-file]: a.jsonl: line 1: no JSON value\n");
	CHECK("a.jsonl", "{\"a\": 1} {}\n",
	      "error[bad-file]: a.jsonl: line 1: more than one value in a line\n");
	CHECK("a.jsonl", "{\"a\": 1,}\n",
	      "error[bad-file]: a.jsonl: line 1: no name of a member\n");
	CHECK("a.jsonl", "{\"a\" 1}\n",
	      "error[bad-file]: a.jsonl: line 1: no colon behind a name\n");
	CHECK("a.jsonl", "{\"a\": [1 2]}\n",
	      "error[bad-file]: a.jsonl: line 1: no comma between two values\n");
	CHECK("a.jsonl", "{\"a\": \"x}\n",
	      "error[bad-file]: a.jsonl: line 1: a text without its closing quote\n");
	CHECK("a.jsonl", "{\"a\": \"\\x\"}\n",
	      "error[bad-file]: a.jsonl: line 1: an unknown escape in a text\n");
	CHECK("a.jsonl", "{\"a\": \"\\u00g0\"}\n",
	      "error[bad-file]: a.jsonl: line 1: \\u without four hex digits\n");
	CHECK("a.jsonl", "{\"a\": \"\\u0000\"}\n",
	      "error[bad-file]: a.jsonl: line 1: a NUL character in a text\n");
	CHECK("a.jsonl", HEAD "{\"b\": 1}\n",
	      "error[bad-file]: a.jsonl: line 2: \"b\" is none of the file's columns\n");
	CHECK("a.jsonl", HEAD "{\"a\": 255}\n{\"a\": 256}\n",
	      "error[bad-file]: a.jsonl: line 3: the value of \"a\" is 256, which is no u8\n");
	CHECK("a.jsonl", "{\"ebql\": {\"columns\": [{\"name\": \"a\", \"type\": \"?\"}]}}\n",
	      "error[bad-file]: a.jsonl: line 1: a line of columns that is not known here\n");
}

static void test_depth(void **state)
{
	struct buf text;

	buf_init(&text);
	buf_puts(&text, "{\"a\": ");
	buf_fill(&text, '[', 256);
	buf_fill(&text, ']', 256);
	buf_puts(&text, "}\n{\"a\": ");
	buf_fill(&text, '[', 100000);
	buf_putc(&text, '\n');
	check("a.jsonl", text.at, text.n,
	      "error[bad-file]: a.jsonl: line 2: values nested too deep\n");
	buf_free(&text);
}

/* A number with more digits than any needs, right up to the end of what is read at once. */
static void test_digits(void **state)
{
	struct buf text;

	buf_init(&text);
	buf_puts(&text, "r\n0.");
	buf_fill(&text, '1', (256u << 10) - text.n);
	check("a.csv", text.at, text.n, "r REAL; time -1\n0.1111111111111111\n");
	buf_free(&text);
}

/* A line that is longer than what is read at once. */
static void test_long(void **state)
{
	struct buf text, expected;

	buf_init(&text);
	buf_init(&expected);
	buf_puts(&text, "a,b\n1,\"");
	buf_fill(&text, 'x', 3000000);
	buf_puts(&text, "\"\n2,y\n");
	buf_puts(&expected, "a INTEGER, b TEXT(3000000); time -1\n1, '");
	buf_fill(&expected, 'x', 3000000);
	buf_puts(&expected, "'\n2, 'y'\n");
	check("a.csv", text.at, text.n, expected.at);
	buf_free(&text);
	buf_free(&expected);
}

static void test_missing(void **state)
{
	struct buf out;

	buf_init(&out);
	show("/nonexistent/a.csv", &out);
	assert_string_equal(out.at, "error[unknown-file]: a.csv: No such file or directory\n");
	buf_free(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_csv_types),  cmocka_unit_test(test_time),
		cmocka_unit_test(test_csv_broken), cmocka_unit_test(test_jsonl_types),
		cmocka_unit_test(test_jsonl_head), cmocka_unit_test(test_jsonl_broken),
		cmocka_unit_test(test_depth),	   cmocka_unit_test(test_long),
		cmocka_unit_test(test_digits),	   cmocka_unit_test(test_missing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
