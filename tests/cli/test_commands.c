/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * ebql list and ebql describe over the checked-in snapshot: output, complaints and
 * exit status against golden files (EBQL_UPDATE=1 writes them), and doctor's status; what EXPLAIN
 * ANALYZE says of a file.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <ctype.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"

#define ARGS_MAX 8

/* What a command wrote and returned. */
struct result {
	struct buf out, complaint;
	int status;
};

static int open_scratch(void)
{
	char path[] = "/tmp/ebql-test-XXXXXX";
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	unlink(path);
	return fd;
}

static void read_back(int fd, struct buf *into)
{
	char chunk[4096];
	ssize_t n;

	lseek(fd, 0, SEEK_SET);
	buf_puts(into, "");
	while ((n = read(fd, chunk, sizeof(chunk))) > 0)
		buf_put(into, chunk, n);
	close(fd);
}

static void run(char **argv, struct result *result)
{
	int out = open_scratch(), complaint = open_scratch(), status;
	pid_t child;

	child = fork();
	assert_true(child >= 0);
	if (!child) {
		dup2(out, STDOUT_FILENO);
		dup2(complaint, STDERR_FILENO);
		execv(EBQL_BINARY, argv);
		_exit(127);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	result->status = WEXITSTATUS(status);
	buf_init(&result->out);
	buf_init(&result->complaint);
	read_back(out, &result->out);
	read_back(complaint, &result->complaint);
}

static void check_golden(const char *name, const struct buf *text)
{
	char path[512], *expected = calloc(1, 1 << 16);
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s.txt", GOLDEN_DIR, name);
	if (getenv("EBQL_UPDATE")) {
		file = fopen(path, "we");
		assert_non_null(file);
		fwrite(text->at, 1, text->n, file);
		fclose(file);
	} else {
		file = fopen(path, "re");
		assert_non_null(file);
		expected[fread(expected, 1, (1 << 16) - 1, file)] = '\0';
		fclose(file);
		assert_string_equal(text->at, expected);
	}
	free(expected);
}

static const char *snapshot = SNAPSHOT;

/* Runs a command on the snapshot; what it writes to either side is the golden text. */
static void check(const char *name, char *command, const char *option, const char *argument,
		  int status)
{
	char *argv[ARGS_MAX] = { "ebql", command, "--catalog", (char *)snapshot };
	struct result result;
	int n = 4;

	if (option) {
		argv[n++] = "-o";
		argv[n++] = (char *)option;
	}
	if (argument)
		argv[n++] = (char *)argument;
	run(argv, &result);
	assert_int_equal(result.status, status);
	assert_true(!result.complaint.n == !status);
	buf_put(&result.out, result.complaint.at, result.complaint.n);
	check_golden(name, &result.out);
	buf_free(&result.out);
	buf_free(&result.complaint);
}

static void test_list(void **state)
{
	check("list-all", "list", NULL, NULL, 0);
	check("list-word", "list", NULL, "pread", 0);
	check("list-glob-json", "list", "json", "t:sched:sched_wak*", 0);
	check("list-none", "list", NULL, "nosuch", 1);
}

static void test_describe(void **state)
{
	check("describe-syscall", "describe", NULL, "tracepoint/syscalls/sys_enter_pread64", 0);
	check("describe-exit-json", "describe", "json", "t:syscalls:sys_exit_newfstat", 0);
	check("describe-span", "describe", NULL, "syscall:pread64", 0);
	check("describe-spans-json", "describe", "json", "syscall:*", 0);
	check("describe-shadow", "describe", NULL, "tracepoint:sched:sched_wakeup", 0);
	check("describe-kept", "describe", NULL, "t:block:block_rq_complete", 0);
	check("describe-kept-json", "describe", "json", "t:block:block_rq_complete", 0);
	/* prev_state is the field that this kernel may print otherwise. */
	snapshot = SNAPSHOT "/../kernel-6.1";
	check("describe-noted", "describe", NULL, "t:sched:sched_switch", 0);
	snapshot = SNAPSHOT;
	check("describe-raw", "describe", NULL, "rt:sched_switch", 0);
	check("describe-wildcard", "describe", NULL, "t:syscalls:sys_enter_*", 0);
	check("describe-misspelt", "describe", NULL, "t:sched:sched_swich", 2);
	check("describe-empty", "describe", NULL, ":", 2);
	/* A name, and no SQL. */
	check("describe-comment", "describe", NULL, "run_queue -- x", 2);
	check("describe-semicolon", "describe", NULL, "run_queue;", 2);
	check("describe-quote", "describe", NULL, "none.csv'", 2);
	check("describe-no-file", "describe", NULL, "'/nowhere.csv'", 2);
}

/* How long a time or percentage is that begins there; 0: there is none. */
static size_t measured(const char *text, const char *at)
{
	static const char *const units[] = { "ns", "us", "ms", "s", " %" };
	size_t n = strspn(at, "0123456789.");

	if (!n || (at > text && (isalnum((u8)at[-1]) || at[-1] == '_')))
		return 0;
	if (at - text > 6 && (!strncmp(at - 6, "_ns\": ", 6) || !strncmp(at - 6, "ent\": ", 6)))
		return n;
	for (u32 i = 0; i < ARRAY_SIZE(units); i++)
		if (!strncmp(at + n, units[i], strlen(units[i])) &&
		    !isalnum((u8)at[n + strlen(units[i])]))
			return n + strlen(units[i]);
	return 0;
}

/* Times and percentages, which no two runs share, become " #", whatever the blanks before them. */
static void mask(struct buf *text)
{
	struct buf masked;

	buf_init(&masked);
	for (const char *at = text->at; *at; at++) {
		size_t n = measured(text->at, at);

		if (!n) {
			buf_putc(&masked, *at);
			continue;
		}
		while (masked.n && masked.at[masked.n - 1] == ' ')
			masked.n--;
		buf_puts(&masked, " #");
		at += n - 1;
	}
	buf_free(text);
	*text = masked;
}

static void check_analysis(const char *name, char *option, char *format, char *sql)
{
	char *argv[] = { "ebql", "-o", format, option ? option : sql, option ? sql : NULL, NULL };
	struct result result;

	run(argv, &result);
	assert_int_equal(result.status, 0);
	buf_puts(&result.out, result.complaint.at);
	mask(&result.out);
	check_golden(name, &result.out);
	buf_free(&result.out);
	buf_free(&result.complaint);
}

#define PAIRS                                                                                      \
	"SELECT a.k AS k, count(*) AS n, max(a.v - b.v) AS most FROM 'calls.jsonl' AS a "          \
	"PAIR JOIN 'calls.jsonl' AS b ON a.k = b.k + 10 WHERE a.v > 2 GROUP BY a.k "               \
	"HAVING count(*) > 1"

/* Of a file: what each operator did is known, and the kernel has no part in it. */
static void test_analyze(void **state)
{
	char folder[] = "/tmp/ebql-test-XXXXXX";
	FILE *file;

	assert_non_null(mkdtemp(folder));
	assert_int_equal(chdir(folder), 0);
	file = fopen("calls.jsonl", "we");
	assert_non_null(file);
	/* Ends have keys from 10 on; that of 12 has no start, and the start 3 no end. */
	for (int i = 1; i <= 20; i++)
		fprintf(file, "{\"time\": %d000, \"k\": %d, \"v\": %d}\n", i,
			i % 2 ? i % 4 : 10 + (i - 1) % 4, i);
	fprintf(file, "{\"time\": 30000, \"k\": 12, \"v\": 30}\n");
	fclose(file);
	check_analysis("analyze-file", NULL, "table", "EXPLAIN ANALYZE " PAIRS);
	check_analysis("analyze-file-json", NULL, "json", "EXPLAIN ANALYZE " PAIRS);
	check_analysis("stats-file", "--stats", "csv", PAIRS);
	assert_int_equal(unlink("calls.jsonl"), 0);
	assert_int_equal(chdir("/"), 0);
	assert_int_equal(rmdir(folder), 0);
}

static void expect_usage(char **argv)
{
	struct result result;

	run(argv, &result);
	assert_int_equal(result.status, 2);
	assert_int_equal(result.out.n, 0);
	assert_true(result.complaint.n > 0);
	buf_free(&result.out);
	buf_free(&result.complaint);
}

static void test_usage(void **state)
{
	expect_usage((char *[]){ "ebql", "list", "a", "b", NULL });
	expect_usage((char *[]){ "ebql", "list", "-o", "xml", NULL });
	expect_usage((char *[]){ "ebql", "list", "--nosuch", NULL });
	expect_usage((char *[]){ "ebql", "describe", NULL });
	expect_usage((char *[]){ "ebql", "doctor", "now", NULL });
}

/* The status says the same as the lines: 1 exactly when one begins with "no". */
static void test_doctor(void **state)
{
	static const char *const others[] = { "kprobes  ", "trampolines (fentry)  ", "uprobes  " };
	char *argv[] = { "ebql", "doctor", NULL };
	struct result result;
	bool has_no;

	run(argv, &result);
	has_no = !strncmp(result.out.at, "no  ", 4) || strstr(result.out.at, "\nno  ");
	assert_int_equal(result.status, has_no);
	assert_non_null(strstr(result.out.at, "raw tracepoint attach"));
	/* What no query on tracepoints needs: told, and no "no". */
	for (u32 i = 0; i < ARRAY_SIZE(others); i++) {
		const char *line = strstr(result.out.at, others[i]);

		assert_non_null(line);
		assert_true(line[-4] == '-' || line[-4] == 'o');
		assert_false(strncmp(line - 4, "no", 2) == 0);
	}
	buf_free(&result.out);
	buf_free(&result.complaint);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_list),	cmocka_unit_test(test_describe),
		cmocka_unit_test(test_analyze), cmocka_unit_test(test_usage),
		cmocka_unit_test(test_doctor),
	};

	return cmocka_run_group_tests_name("commands", tests, NULL, NULL);
}
