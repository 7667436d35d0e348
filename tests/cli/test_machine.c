/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What the machine refuses, or has taken away before: closed descriptors, a full disk, limits of
 * the process.  It is said so, once, and is neither a bug of ebql nor a wrong query.
 */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/base.h"
#include "base/buf.h"

enum { FILES_MAX = 64, ARGS_MAX = 12 };

struct limit {
	int resource;
	rlim_t value;
};

struct result {
	struct buf out, said;
	int status; /* as wait() has it */
};

#define CALLS "SELECT count(*) AS n FROM tracepoint:syscalls:sys_enter_read"
#define ROWS  "SELECT * FROM 'a.csv'"

static void read_all(FILE *file, struct buf *into)
{
	char chunk[4096];
	size_t n;

	rewind(file);
	buf_puts(into, "");
	while ((n = fread(chunk, 1, sizeof(chunk), file)) > 0)
		buf_put(into, chunk, n);
	fclose(file);
}

/* Runs ebql; bit i of `closed`: descriptor i is closed.  output: instead of a file, or NULL. */
static void run(const char *const *args, u32 closed, const char *output, const struct limit *limit,
		uid_t uid, struct result *result)
{
	const char *argv[ARGS_MAX] = { "ebql" };
	FILE *out = tmpfile(), *said = tmpfile();
	pid_t child;

	for (u32 n = 1; *args && n < ARRAY_SIZE(argv) - 1; n++)
		argv[n] = *args++;
	assert_true(out && said);
	child = fork();
	assert_true(child >= 0);
	if (!child) {
		struct rlimit both = { limit ? limit->value : 0, limit ? limit->value : 0 };

		dup2(open("/dev/null", O_RDONLY | O_CLOEXEC), 0);
		dup2(output ? open(output, O_WRONLY | O_CLOEXEC) : fileno(out), 1);
		dup2(fileno(said), 2);
		closefrom(3);
		/* Opened before the user is another, who may not get to where it lies. */
		if (open(EBQL_BINARY, O_RDONLY | O_CLOEXEC) != 3)
			_exit(97);
		for (int fd = 0; fd < 3; fd++)
			if (closed >> fd & 1)
				close(fd);
		if ((uid && setuid(uid)) || (limit && setrlimit((u32)limit->resource, &both)))
			_exit(99);
		fexecve(3, (char **)argv, environ);
		_exit(98);
	}
	assert_int_equal(waitpid(child, &result->status, 0), child);
	buf_init(&result->out);
	buf_init(&result->said);
	read_all(out, &result->out);
	read_all(said, &result->said);
}

static void result_free(struct result *result)
{
	buf_free(&result->out);
	buf_free(&result->said);
}

/* It ends by itself with this status, and has said this. */
static void expect_end(struct result *result, int status, const char *said)
{
	if (!WIFEXITED(result->status) || WEXITSTATUS(result->status) != status)
		fail_msg("ended with %x: %s", (u32)result->status, result->said.at);
	assert_string_equal(result->said.at, said);
}

static bool is_root(void)
{
	if (geteuid() == 0)
		return true;
	print_message("SKIP: needs root to trace\n");
	return false;
}

static u64 file_bytes(const char *path)
{
	struct buf bytes;
	u64 hash = 14695981039346656037ull;

	buf_init(&bytes);
	assert_int_equal(buf_read_file(&bytes, path, 1 << 20), 0);
	for (size_t i = 0; i < bytes.n; i++)
		hash = (hash ^ (u8)bytes.at[i]) * 1099511628211ull;
	buf_free(&bytes);
	return hash;
}

/* --- Closed descriptors --- */

static const char no_output[] = "ebql: standard output: Bad file descriptor\n";

static void test_closed(void **state)
{
	static const char *const kinds[] = { "r.arrows", "r.jsonl", "r.csv" };
	struct result result;

	for (u32 closed = 0; closed < 8; closed++) {
		bool has_out = !(closed & 2), has_said = !(closed & 4);
		const char *said = has_out || !has_said ? "" : no_output;

		run((const char *const[]){ "-o", "csv", ROWS, NULL }, closed, NULL, NULL, 0,
		    &result);
		expect_end(&result, !has_out, said);
		assert_string_equal(result.out.at, has_out ? "time,pid\n1,7\n2,8\n" : "");
		result_free(&result);
		run((const char *const[]){ "version", NULL }, closed, NULL, NULL, 0, &result);
		expect_end(&result, !has_out, said);
		result_free(&result);
		/* What is said of the missing times must not go into the file. */
		for (u32 i = 0; i < ARRAY_SIZE(kinds); i++) {
			static u64 expected[ARRAY_SIZE(kinds)];

			unlink(kinds[i]);
			run((const char *const[]){ "record", "-o", kinds[i],
						   "SELECT pid FROM 'a.csv'", NULL },
			    closed, NULL, NULL, 0, &result);
			assert_int_equal(result.status, 0);
			assert_int_equal(has_said, result.said.n > 0);
			assert_int_equal(result.out.n, 0);
			if (!closed)
				expected[i] = file_bytes(kinds[i]);
			assert_int_equal(file_bytes(kinds[i]), expected[i]);
			result_free(&result);
		}
	}
}

static void test_closed_live(void **state)
{
	struct result result;

	if (!is_root())
		skip();
	for (u32 closed = 0; closed < 8; closed++) {
		bool has_out = !(closed & 2), has_said = !(closed & 4);

		run((const char *const[]){ "-o", "json", "-d", "1ms", CALLS, NULL }, closed, NULL,
		    NULL, 0, &result);
		expect_end(&result, !has_out, has_out || !has_said ? "" : no_output);
		assert_int_equal(has_out, strstr(result.out.at, "{\"n\":") != NULL);
		result_free(&result);
	}
}

/* --- A full disk --- */

static void test_full(void **state)
{
	static const char *const commands[][4] = {
		{ "list", "--catalog", SNAPSHOT },
		{ "describe", "--catalog", SNAPSHOT, "block_io" },
		{ "explain", "--catalog", SNAPSHOT, "SELECT count(*) FROM block_io" },
		{ "explain", "--stage", "ast", ROWS },
		{ "doctor" },
		{ "help" },
		{ "list", "-h" },
		{ "version" },
		{ "SHOW VIEWS" },
		{ ROWS },
		{ "-o", "csv", ROWS },
	};

	for (u32 i = 0; i < ARRAY_SIZE(commands); i++) {
		const char *args[5] = { commands[i][0], commands[i][1], commands[i][2],
					commands[i][3] };
		struct result result;

		run(args, 0, "/dev/full", NULL, 0, &result);
		expect_end(&result, 1,
			   "ebql: standard output: No space left on device\n"
			   "  hint: there is no room left there, or no more that this user may "
			   "have\n");
		result_free(&result);
	}
}

/* The limit says so; the default of its signal would end ebql without a word. */
static void test_file_size(void **state)
{
	const struct limit limit = { RLIMIT_FSIZE, 512 };
	struct result result;

	run((const char *const[]){ "record", "-o", "r.arrows", ROWS, NULL }, 0, NULL, &limit, 0,
	    &result);
	expect_end(&result, 1,
		   "ebql: r.arrows: File too large\n"
		   "  hint: a limit is reached: of the sizes of files, RLIMIT_FSIZE (ulimit -f), "
		   "or of that file system\n");
	result_free(&result);
}

/* --- Limits --- */

static u32 count(const char *text, const char *word)
{
	u32 n = 0;

	while ((text = strstr(text, word))) {
		text += strlen(word);
		n++;
	}
	return n;
}

/*
 * With every limit of open files up to one that does: one message, that the limit is too low.  How
 * often the kernel refused a program or a map by it.
 */
static u32 expect_file_limits(const char *const *args)
{
	struct limit limit = { RLIMIT_NOFILE, 3 };
	struct result result;
	bool works = false;
	u32 n_tagged = 0;

	for (; !works && limit.value < FILES_MAX; limit.value++) {
		run(args, 0, NULL, &limit, 0, &result);
		assert_true(WIFEXITED(result.status));
		works = result.status == 0;
		/* Without a descriptor to spare the loader ends it before it begins. */
		if (!works && limit.value > 3 &&
		    (WEXITSTATUS(result.status) != 1 || count(result.said.at, "ulimit -n") != 1 ||
		     count(result.said.at, "Too many open files") != 1 ||
		     count(result.said.at, "\n") > 6 || strstr(result.said.at, "bug")))
			fail_msg("%u files: status %d: %s", (u32)limit.value,
				 WEXITSTATUS(result.status), result.said.at);
		n_tagged += count(result.said.at, "error[limit-reached]: cannot ");
		result_free(&result);
	}
	assert_true(works);
	return n_tagged;
}

static void test_files(void **state)
{
	expect_file_limits((const char *const[]){ "list", "--catalog", SNAPSHOT, "sched", NULL });
	expect_file_limits(
		(const char *const[]){ "describe", "--catalog", SNAPSHOT, "syscall:read", NULL });
	expect_file_limits((const char *const[]){ "explain", "--catalog", SNAPSHOT,
						  "SELECT count(*) FROM block_io", NULL });
	expect_file_limits((const char *const[]){ "describe", "a.csv", NULL });
	expect_file_limits((const char *const[]){ ROWS, NULL });
	expect_file_limits((const char *const[]){ "record", "-o", "r.arrows", ROWS, NULL });
	expect_file_limits((const char *const[]){ "-f", "a.sql", NULL });
}

static void test_files_live(void **state)
{
	static const char *const queries[] = {
		CALLS,
		"SELECT cpu, next_comm, count(*) AS n FROM tracepoint:sched:sched_switch "
		"GROUP BY cpu, next_comm ORDER BY length(next_comm)",
		"SELECT count(*), p99(latency) FROM irq",
		"SELECT pid, ret FROM syscall:read",
		"SELECT count(*) FROM tracepoint:sched:sched_switch WITH (state = 'kernel_map')",
		"SELECT depth FROM run_queue_depth WITH (pushdown = 'off')",
	};

	if (!is_root())
		skip();
	for (u32 i = 0; i < ARRAY_SIZE(queries); i++)
		assert_true(expect_file_limits((const char *const[]){ "-o", "csv", "-d", "1ms",
								      queries[i], NULL }) > 0);
	expect_file_limits((const char *const[]){ "-o", "csv", CALLS, "--", "true", NULL });
}

static void test_processes(void **state)
{
	const struct limit limit = { RLIMIT_NPROC, 0 };
	struct result result;

	if (!is_root())
		skip();
	run((const char *const[]){ CALLS, "--", "true", NULL }, 0, NULL, &limit, 65534, &result);
	expect_end(&result, 1,
		   "ebql: cannot start the command: Resource temporarily unavailable\n"
		   "  hint: a limit is reached: of processes and threads (ulimit -u, pids.max of "
		   "the cgroup) or of locked memory (ulimit -l)\n");
	result_free(&result);
}

/* Whatever there is of memory: an answer, or a word of why not. */
static void test_memory(void **state)
{
	struct limit limit = { RLIMIT_AS, 8 << 20 };
	struct result result;
	bool works = false;

#ifdef __SANITIZE_ADDRESS__
	print_message("SKIP: the sanitizer takes more addresses than the limit\n");
	skip();
#endif
	for (; !works && limit.value < 4ull << 30; limit.value += limit.value / 8) {
		run((const char *const[]){ "-o", "csv", ROWS, NULL }, 0, NULL, &limit, 0, &result);
		if (WIFSIGNALED(result.status) && WTERMSIG(result.status) == SIGKILL) {
			result_free(&result);
			continue; /* the kernel could not lay the program out */
		}
		assert_true(WIFEXITED(result.status));
		works = result.status == 0;
		if (!works && (WEXITSTATUS(result.status) != 1 || strstr(result.said.at, "bug")) &&
		    WEXITSTATUS(result.status) != 127)
			fail_msg("%lu bytes: status %x: %s", limit.value, result.status,
				 result.said.at);
		assert_true(works || result.said.n);
		result_free(&result);
	}
	assert_true(works);
}

static int setup(void **state)
{
	static char folder[] = "/tmp/ebql-test-machine-XXXXXX";

	return !mkdtemp(folder) || chdir(folder) ||
	       system("printf 'time,pid\\n1,7\\n2,8\\n' > a.csv; echo \"" ROWS "\" > a.sql");
}

static int teardown(void **state)
{
	char command[128], folder[64];

	if (!getcwd(folder, sizeof(folder)))
		return 1;
	snprintf(command, sizeof(command), "rm -r %s", folder);
	return system(command);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_closed),	  cmocka_unit_test(test_closed_live),
		cmocka_unit_test(test_full),	  cmocka_unit_test(test_file_size),
		cmocka_unit_test(test_files),	  cmocka_unit_test(test_files_live),
		cmocka_unit_test(test_processes), cmocka_unit_test(test_memory),
	};

	return cmocka_run_group_tests_name("machine", tests, setup, teardown);
}
