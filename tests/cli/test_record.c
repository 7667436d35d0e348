/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * ebql record and FROM 'FILE': what one writes the other reads, from kind to kind, and
 * system calls of which exactly so many are made.
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
#include "root.h"

static int shell(const char *command, struct buf *out)
{
	char chunk[4096];
	FILE *pipe = popen(command, "r");
	size_t n;
	int ended;

	assert_non_null(pipe);
	while ((n = fread(chunk, 1, sizeof(chunk), pipe)) > 0)
		buf_put(out, chunk, n);
	ended = pclose(pipe);
	assert_true(WIFEXITED(ended));
	return WEXITSTATUS(ended);
}

/* In the folder of the test; every $E is the binary. */
static void expect(const char *command, int status, const char *said)
{
	struct buf line, got;

	buf_init(&line);
	buf_init(&got);
	buf_puts(&got, "");
	buf_printf(&line, "exec 2>&1; E=%s; %s", EBQL_BINARY, command);
	assert_int_equal(shell(line.at, &got), status);
	assert_string_equal(got.at ? got.at : "", said);
	buf_free(&line);
	buf_free(&got);
}

#define SOURCE                                                                                     \
	"time,pid,comm,big,ratio\n"                                                                \
	"1700000000000000000,1,\"a\"\"b\",18446744073709551615,0.5\n"                              \
	"1700000000500000000,-2,\"\",,1e300\n"                                                     \
	"1700000001500000000,,,7,\n"

#define WRITTEN                                                                                    \
	"\"time\",\"pid\",\"comm\",\"big\",ratio\n"                                                \
	"1700000000000000000,1,\"a\"\"b\",18446744073709551615,0.5\n"                              \
	"1700000000500000000,-2,\"\",,1e+300\n"                                                    \
	"1700000001500000000,,,7,\n"

/* Through all three kinds, and back to the same bytes. */
static void test_kinds(void **state)
{
	expect("$E record -o b.arrows \"SELECT * FROM 'a.csv'\"; "
	       "$E record --output=c.jsonl \"SELECT * FROM 'b.arrows'\"; "
	       "$E record -od.csv \"SELECT * FROM 'c.jsonl'\"; cat d.csv",
	       0, WRITTEN);
	expect("head -2 c.jsonl", 0,
	       "{\"ebql\": {\"columns\": [{\"name\": \"time\", \"type\": \"TIMESTAMP\"}, "
	       "{\"name\": \"pid\", \"type\": \"INTEGER\"}, {\"name\": \"comm\", \"type\": "
	       "\"TEXT\"}, {\"name\": \"big\", \"type\": \"u64\"}, {\"name\": \"ratio\", "
	       "\"type\": \"REAL\"}]}}\n"
	       "{\"time\": 1700000000000000000, \"pid\": 1, \"comm\": \"a\\\"b\", \"big\": "
	       "18446744073709551615, \"ratio\": 0.5}\n");
	expect("$E -o jsonl \"SELECT * FROM 'b.arrows'\" | cmp - c.jsonl", 0, "");
	expect("$E -o arrow \"SELECT * FROM 'c.jsonl'\" | cmp - b.arrows", 0, "");
	expect("$E describe c.jsonl | head -4", 0,
	       "c.jsonl\n\ncolumn  type       meaning\ntime    TIMESTAMP  when it happened\n");
}

/* A row for each byte that a text can hold, alone and between others, then what looks like one. */
static void write_bytes(void)
{
	static const char *const like[] = { "\\\\x41",	      "\\\\\\\\x41", "\\\\x5cx41", "\\\\x",
					    "C:\\\\xyz",      "nan",	     "-inf",	   "-1",
					    "\\u2028\\u00a0", "\xe2\x82",    "_other",	   "1e5" };
	FILE *file = fopen("bytes.jsonl", "w");

	assert_non_null(file);
	fputs("{\"ebql\": {\"columns\": [{\"name\": \"time\", \"type\": \"TIMESTAMP\"}, "
	      "{\"name\": \"t\", \"type\": \"TEXT\"}, {\"name\": \"u\", \"type\": \"TEXT\"}]}}\n",
	      file);
	for (u32 byte = 1; byte < 256; byte++) {
		const char *escape = byte < 0x80 ? "\\u00" : "\\udc";

		fprintf(file, "{\"time\": %u, \"t\": \"%s%02x\", \"u\": \"a%s%02x,b\"}\n", byte,
			escape, byte, escape, byte);
	}
	for (u32 i = 0; i < ARRAY_SIZE(like); i++)
		fprintf(file, "{\"time\": %u, \"t\": \"%s\", \"u\": \"%s\"}\n", 256 + i, like[i],
			like[i]);
	fclose(file);
}

/* Each text comes back as it was, and every reader of lines sees a row in each. */
static void test_bytes(void **state)
{
	write_bytes();
	expect("$E -o jsonl \"SELECT time, t, u FROM 'bytes.jsonl'\" > b.jsonl; "
	       "$E -o csv --window-columns \"SELECT * FROM 'bytes.jsonl'\" > b.csv; wc -l < b.csv; "
	       "tr -d '\\n -~\\200-\\377' < b.csv | wc -c; "
	       "$E -o jsonl \"SELECT time, t, u FROM 'b.csv'\" | cmp - b.jsonl && echo same",
	       0, "268\n0\nsame\n");
	expect("$E record -o b.csv \"SELECT * FROM 'bytes.jsonl'\"; "
	       "$E -o jsonl \"SELECT time, t, u FROM 'b.csv'\" | cmp - b.jsonl && echo same; "
	       "rm b.csv b.jsonl",
	       0, "same\n");
	/* Without its mark it is a file as anybody writes them: only its escapes stay as they are.
	 */
	expect("$E -o csv \"SELECT * FROM 'bytes.jsonl' WHERE time IN (10, 65)\" > b.csv; cat b.csv; "
	       "$E -o csv \"SELECT time, t FROM 'b.csv'\"; rm b.csv",
	       0, "time,t,u\n10,\\x0a,\"a\\x0a,b\"\n65,A,\"aA,b\"\ntime,t\n10,\\x5cx0a\n65,A\n");
	/* A column of which every text is like a number. */
	expect("$E -o csv \"SELECT time, t FROM 'bytes.jsonl' WHERE time IN (49, 50)\" > b.csv; "
	       "$E describe b.csv | grep '^t '; rm b.csv",
	       0, "t       TEXT(1)    \n");
	/* Of others a backslash is one. */
	expect("printf 'a,b\\n\\\\x41,1\\n' > b.csv; $E -o csv \"SELECT * FROM 'b.csv'\" | cut -d, "
	       "-f1; rm b.csv bytes.jsonl",
	       0, "a\n\\x5cx41\n");
}

static void test_filter(void **state)
{
	expect("$E record -o b.csv \"SELECT time, pid * 2 AS twice FROM 'a.csv' WHERE big IS "
	       "NULL\"; cat b.csv",
	       0, "\"time\",twice\n1700000000500000000,-4\n");
}

/* Files are read to their ends, whatever ends other runs. */
static void test_whole(void **state)
{
	expect("$E -o csv -d 1ns \"SELECT count(*) AS n FROM 'many.csv'\"", 0,
	       "ebql: -d has no effect: the query reads only files, and these to their ends\n"
	       "n\n20000\n");
	expect("$E \"SELECT count(*) FROM 'a.csv'\" -- touch ran; ls ran 2>/dev/null", 2,
	       "ebql: -- COMMAND is for queries over streams; this one reads only files\n");
}

/* A recording without rows, or without a value in a column, has the types it would have had. */
static void test_empty(void **state)
{
	static const char *const kinds[] = { "arrows", "jsonl", "csv" };
	char command[512];

	for (u32 i = 0; i < ARRAY_SIZE(kinds); i++) {
		snprintf(
			command, sizeof(command),
			"$E record -o e.%s \"SELECT * FROM 'a.csv' WHERE pid = 99\"; $E -o csv "
			"\"SELECT count(*) AS n, sum(pid), max(ratio), max(big) - 1, max(comm) FROM "
			"'e.%s' WHERE comm <> 'x' WINDOW TUMBLING 1s\"",
			kinds[i], kinds[i]);
		expect(command, 0, "n,sum(pid),max(ratio),max(big) - 1,max(comm)\n");
		snprintf(
			command, sizeof(command),
			"$E record -o n.%s \"SELECT * FROM 'a.csv' WHERE ratio IS NULL\"; $E -o csv "
			"\"SELECT time, pid + 1 AS p, ratio / 2 AS r FROM 'n.%s' WHERE ratio IS NULL\"; rm e.* n.*",
			kinds[i], kinds[i]);
		expect(command, 0, "time,p,r\n1700000001500000000,,\n");
	}
}

/*
 * 20,000^3 rows take years: SQLite must let go of them.  Who has been on a CPU for half a second
 * has read the files long since.
 */
static void test_stopped(void **state)
{
	expect("$E -o csv \"SELECT count(*) FROM 'many.csv' a, 'many.csv' b, 'many.csv' c\" & "
	       "P=$!; until [ $(cut -d' ' -f14 /proc/$P/stat) -ge 50 ]; do sleep 0.05; done; "
	       "kill -TERM $P; wait $P",
	       3,
	       "count(*)\n"
	       "warning[interrupted]: the query was stopped while it computed rows: these are "
	       "missing\n");
}

static void test_refused(void **state)
{
	expect("$E record -o b.csv \"SELECT count(*) FROM 'a.csv'\"", 2,
	       "error[not-rows]: record takes the rows of single events, and the query has none\n"
	       "  query:1:1\n"
	       "  SELECT count(*) FROM 'a.csv'\n"
	       "  ^^^^^^^^^^^^^^^^^^^^^^^^^^^^\n"
	       "  hint: record the events with the columns that the query uses; then run the "
	       "query FROM 'FILE', as often as you like\n");
	expect("$E record -o ./a.csv \"SELECT * FROM 'a.csv'\" 2>&1 | head -1; cat a.csv", 0,
	       "error[unknown-file]: ./a.csv: the query reads the file that it would be recorded "
	       "in\n" SOURCE);
	expect("$E record -o b.txt \"SELECT * FROM 'a.csv'\"", 2,
	       "error[unknown-file]: b.txt: is no kind of file\n"
	       "  hint: files end with .arrows, .jsonl or .csv\n");
	expect("$E record \"SELECT * FROM 'a.csv'\"", 2,
	       "ebql: record: -o FILE says where the rows go, a file that ends with .arrows, "
	       ".jsonl or .csv\n");
	expect("$E record -o b.csv 'SHOW VIEWS'", 2,
	       "ebql: record: only a SELECT can be recorded\n");
	expect("$E record -o b.csv \"SELECT pid FROM 'a.csv'\"", 0,
	       "ebql: record: without a column \"time\" b.csv will be a table, with no windows "
	       "and no order; SELECT time, ...\n");
	expect("$E \"SELECT count(*) FROM 'a.csv' WINDOW COUNT 3 PER CPU\" 2>&1 | head -1", 0,
	       "error[unknown-column]: the rows have no column \"cpu\", which PER CPU goes by\n");
	expect("$E describe \"'a.csv'\" | head -1", 0, "a.csv\n");
	/* A wrong query does not touch what is there. */
	expect("echo kept > k.csv; $E record -o k.csv \"SELECT x FROM 'a.csv'\" 2>&1 | head -1; "
	       "cat k.csv",
	       0, "error[unknown-column]: a.csv has no column \"x\"\nkept\n");
}

/* 1,000 writes of one byte, as the kernel has them and as the recording has them. */
static void test_live(void **state)
{
	static const char *const files[] = { "w.arrows", "w.jsonl", "w.csv" };

	NEEDS_ROOT();
	for (u32 i = 0; i < ARRAY_SIZE(files); i++) {
		char command[512];

		snprintf(command, sizeof(command),
			 "$E record -o %s 'SELECT time, comm, count, latency, start_time FROM "
			 "syscall:write WHERE pid = target_pid()' -- dd if=/dev/zero of=/dev/null "
			 "bs=1 count=1000 status=none; "
			 "$E -o csv \"SELECT count(*) AS n, sum(count) AS bytes, "
			 "min(time - start_time - latency) AS least, "
			 "max(time - start_time - latency) AS most FROM '%s' WHERE comm = 'dd' AND "
			 "count = 1\"",
			 files[i], files[i]);
		expect(command, 0, "n,bytes,least,most\n1000,1000,0,0\n");
	}
}

#define WAIT_ATTACHED "until grep -qs attached: said; do sleep 0.05; done; "

/* A recording of its own writes: each holds those since the one before, four a second. */
static void test_own_writes(void **state)
{
	NEEDS_ROOT();
	expect("cp $E recorder; ./recorder record -v -o b.csv \"SELECT time FROM syscall:write WHERE "
	       "comm = 'recorder'\" -d 2 2>said & "
	       "P=$!; " WAIT_ATTACHED
	       "for i in 1 2 3; do ./recorder -o csv \"SELECT pid FROM 'a.csv'\" > d.csv; "
	       "done; wait $P; n=$(grep -c 1 b.csv); test $n -gt 3 -a $n -lt 40; echo $?",
	       0, "0\n");
	/* What was written is there, however the recording ends. */
	expect("rm said; "
	       "count() { $E -o csv \"SELECT count(*) AS n FROM 'b.arrows'\" 2>&1; }; "
	       "$E record -v -o b.arrows \"SELECT time, comm FROM syscall:write WHERE comm = 'dd' "
	       "AND count = 1\" 2>said & P=$!; " WAIT_ATTACHED
	       "dd if=/dev/zero of=/dev/null bs=1 count=5000 status=none; "
	       "for i in $(seq 100); do count | grep -q 5000 && break; sleep 0.2; done; "
	       "kill -9 $P; wait $P 2>/dev/null; count",
	       0, "n\n5000\n");
}

/* What a command prints is told from the results, and it has no descriptor of ours. */
static void test_results_file(void **state)
{
	NEEDS_ROOT();
	expect("ls /proc/self/fd > before; "
	       "$E -O r.csv -o csv \"SELECT comm, count(*) > 0 AS some FROM syscall:write WHERE pid = "
	       "target_pid() GROUP BY comm\" -- sh -c 'echo said; ls /proc/self/fd > after; true'; "
	       "diff before after; echo results; cat r.csv; rm r.csv before after",
	       0, "said\nresults\ncomm,some\nsh,1\n");
}

/* on_loss = 'fail' without a window: at once, and not when the command ends. */
static void test_loss(void **state)
{
	static const char *const queries[] = {
		"SELECT sum(count * 9223372036854775807) FROM syscall:write",
		"SELECT pid FROM syscall:write WHERE count * 9223372036854775807 > 5",
	};

	NEEDS_ROOT();
	for (u32 i = 0; i < ARRAY_SIZE(queries); i++) {
		char command[512];

		snprintf(command, sizeof(command),
			 "$E -o csv \"SET on_loss = 'fail'; %s\" -- sh -c "
			 "'echo lost > /dev/null; sleep 5; touch late' > /dev/null; echo $?; "
			 "ls late 2> /dev/null || echo early",
			 queries[i]);
		expect(command, 0, "3\nearly\n");
	}
}

static int open_folder(void **state)
{
	static char path[] = "/tmp/ebql-record-XXXXXX";
	FILE *file;

	if (!mkdtemp(path) || chdir(path) < 0)
		return -1;
	*state = path;
	file = fopen("a.csv", "w");
	if (!file || fputs(SOURCE, file) < 0 || fclose(file) < 0)
		return -1;
	file = fopen("many.csv", "w");
	if (!file || fputs("time,x\n", file) < 0)
		return -1;
	for (u32 i = 0; i < 20000; i++)
		if (fprintf(file, "%u,1\n", i) < 0)
			return -1;
	return fclose(file);
}

static int close_folder(void **state)
{
	static const char *const names[] = { "a.csv", "b.arrows", "b.csv",   "c.jsonl", "d.csv",
					     "k.csv", "w.arrows", "w.jsonl", "w.csv",	"many.csv",
					     "late",  "recorder", "said" };

	for (u32 i = 0; i < ARRAY_SIZE(names); i++)
		unlink(names[i]);
	return chdir("/") < 0 ? -1 : rmdir(*state);
}

/* Values below 0 have no cell in a logarithmic scheme: the median may be one of them. */
static void test_negative(void **state)
{
	expect("printf 'x,u\\n-5,1\\n-6,2\\n7,3\\n' >n.csv; "
	       "$E \"SELECT p50(x) AS x, quantiles(x, 0.5) AS l, p50(u) AS u FROM 'n.csv'\" | "
	       "sed '1d;4d'; rm n.csv",
	       0,
	       "x              l                   u\n"
	       "7 (-inf, inf)  p50  7 (-inf, inf)  2 [1, 3]\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_negative),     cmocka_unit_test(test_kinds),
		cmocka_unit_test(test_bytes),	     cmocka_unit_test(test_filter),
		cmocka_unit_test(test_whole),	     cmocka_unit_test(test_empty),
		cmocka_unit_test(test_stopped),	     cmocka_unit_test(test_refused),
		cmocka_unit_test(test_live),	     cmocka_unit_test(test_own_writes),
		cmocka_unit_test(test_results_file), cmocka_unit_test(test_loss),
	};

	return cmocka_run_group_tests(tests, open_folder, close_folder);
}
