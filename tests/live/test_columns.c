/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What columns hold, on live events: arguments at different places of different
 * system calls in one program, one time per event, IS over texts that may be NULL,
 * texts longer than their column.  The calls are made by this program itself, run
 * by ebql as its COMMAND.
 */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/base.h"

static char self[4096];

static void require_root(void)
{
	if (geteuid() == 0)
		return;
	print_message("SKIP: attaching needs root\n");
	skip();
}

/* The output of ebql -o json QUERY -- COMMAND; returns its exit status. */
static int ebql(const char *query, const char *command, char *ret_out, size_t out_bytes)
{
	const char *binary = getenv("EBQL") ? getenv("EBQL") : EBQL_BINARY;
	char line[8192];
	FILE *pipe;
	size_t n;
	int status;

	snprintf(line, sizeof(line), "%s -o json \"%s\" -- %s", binary, query, command);
	pipe = popen(line, "r");
	assert_non_null(pipe);
	n = fread(ret_out, 1, out_bytes - 1, pipe);
	ret_out[n] = '\0';
	status = pclose(pipe);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

/* fchmod(fd, 0711) three times, fchmodat(dirfd, path, 0750) five times; all fail. */
static int change_modes(void)
{
	for (int i = 0; i < 3; i++)
		syscall(SYS_fchmod, -1, 0711);
	for (int i = 0; i < 5; i++)
		syscall(SYS_fchmodat, AT_FDCWD, "/nonexistent/b", 0750);
	return 0;
}

static void test_argument_places(void **state)
{
	static const char *const paths[] = { "raw", "tracepoint" };
	char query[512], command[4200], out[65536];

	require_root();
	snprintf(command, sizeof(command), "%s --change-modes", self);
	for (u32 i = 0; i < ARRAY_SIZE(paths); i++) {
		snprintf(query, sizeof(query),
			 "SET access_path = %s; SELECT probe, mode, count(*) AS n FROM "
			 "tracepoint:syscalls:sys_enter_fchmod* WHERE pid = target_pid() "
			 "GROUP BY probe, mode",
			 paths[i]);
		assert_int_equal(ebql(query, command, out, sizeof(out)), 0);
		assert_non_null(strstr(out, "{\"probe\":\"tracepoint:syscalls:sys_enter_fchmod\","
					    "\"mode\":457,\"n\":3}\n"));
		assert_non_null(strstr(out, "{\"probe\":\"tracepoint:syscalls:sys_enter_fchmodat\","
					    "\"mode\":488,\"n\":5}\n"));
		assert_non_null(strstr(out, "\"rows\":2,"));
	}
}

/* However often an expression uses time, one event has one. */
static void test_one_time(void **state)
{
	unsigned long long n, even, odd;
	char command[4200], out[65536];

	require_root();
	snprintf(command, sizeof(command), "%s --calls", self);
	assert_int_equal(ebql("SELECT count(*) AS n, count(*) FILTER (WHERE time % 2 = 0) AS even, "
			      "count(*) FILTER (WHERE time % 2 = 1) AS odd FROM "
			      "tracepoint:syscalls:sys_enter_getppid WHERE pid = target_pid()",
			      command, out, sizeof(out)),
			 0);
	assert_int_equal(sscanf(out, "{\"n\":%llu,\"even\":%llu,\"odd\":%llu}", &n, &even, &odd),
			 3);
	assert_int_equal(n, 10000);
	assert_int_equal(even + odd, n);
	assert_true(even > 0 && odd > 0);
}

/* A kernel thread has no mm: its owner's name is NULL, which is not 'x'. */
static void test_text_is_not(void **state)
{
	unsigned long long n, is_not, is;
	char out[65536];

	require_root();
	/* Failed reads are faults, so the status is 3. */
	assert_int_equal(ebql("SELECT count(*) AS n, "
			      "count(*) FILTER (WHERE prev.mm.owner.comm IS NOT 'x') AS a, "
			      "count(*) FILTER (WHERE prev.mm.owner.comm IS 'x') AS b "
			      "FROM raw_tracepoint:sched_switch",
			      "sleep 0.2", out, sizeof(out)),
			 3);
	assert_int_equal(sscanf(out, "{\"n\":%llu,\"a\":%llu,\"b\":%llu}", &n, &is_not, &is), 3);
	assert_true(n > 0);
	assert_int_equal(is_not, n);
	assert_int_equal(is, 0);
}

/* A path of more than 64 bytes is cut, and that is told. */
static void test_long_text(void **state)
{
	char directory[] = "/tmp/ebql-test-columns-XXXXXX", path[128], command[4500], out[65536];
	const char *at;

	require_root();
	assert_non_null(mkdtemp(directory));
	snprintf(path, sizeof(path), "%s/%s", directory,
		 "0123456789012345678901234567890123456789012345678901234567890123456789");
	snprintf(command, sizeof(command),
		 "sh -c 'cp /bin/true %s; %s; /bin/true; rm %s; rmdir %s'", path, path, path,
		 directory);
	assert_int_equal(ebql("SELECT filename FROM tracepoint:sched:sched_process_exec WHERE "
			      "filename LIKE '/tmp/ebql-test-columns%'",
			      command, out, sizeof(out)),
			 3);
	path[64] = '\0';
	at = strstr(out, path);
	assert_non_null(at);
	assert_int_equal(at[64], '"');
	assert_non_null(strstr(out, "\"fault\":"));
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_argument_places),
		cmocka_unit_test(test_one_time),
		cmocka_unit_test(test_text_is_not),
		cmocka_unit_test(test_long_text),
	};

	if (argc > 1 && strcmp(argv[1], "--change-modes") == 0)
		return change_modes();
	if (argc > 1 && strcmp(argv[1], "--calls") == 0) {
		for (int i = 0; i < 10000; i++)
			syscall(SYS_getppid);
		return 0;
	}
	if (!realpath("/proc/self/exe", self))
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
