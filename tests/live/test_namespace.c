/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * PID namespaces: pid, tid, ppid, target_pid() and pid_in_ns() of an ebql that runs in one, or
 * watches one, against load generators inside, within and outside of it.
 *
 * This program is its own unshare and nsenter, which the guests lack:
 *   test_namespace --inside PROGRAM ARGS...      as process 1 of a new namespace
 *   test_namespace --beside PID PROGRAM ARGS...  in the namespace of process PID
 *   test_namespace --blind PROGRAM ARGS...       without /proc
 * They print "is PID", the program's number as it is seen from where they were started.
 */
#include <fcntl.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "session.h"

enum { LIMIT_MS = 60000 };

static char self[4096];

/* --- What this program does for the test --- */

static int complain(const char *what)
{
	perror(what);
	return 126;
}

static int join_namespaces(const char *pid)
{
	static const char *const names[] = { "pid", "mnt" };
	char path[64];
	int fds[2];

	for (u32 i = 0; i < 2; i++) {
		snprintf(path, sizeof(path), "/proc/%s/ns/%s", pid, names[i]);
		fds[i] = open(path, O_RDONLY | O_CLOEXEC);
	}
	for (u32 i = 0; i < 2; i++)
		if (setns(fds[i], 0))
			return -1;
	return 0;
}

enum how { INSIDE, BESIDE, BLIND };

static int run_program(char **argv, enum how how)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (how != BESIDE && mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL))
		return complain("mount");
	if (how == INSIDE && mount("proc", "/proc", "proc", 0, NULL))
		return complain("/proc");
	/* There may be several, one on the other. */
	while (how == BLIND && umount2("/proc", MNT_DETACH) == 0)
		;
	execv(argv[0], argv);
	return complain(argv[0]);
}

static int be_launcher(char **argv, enum how how)
{
	int pid, status, said[2];

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (pipe2(said, O_CLOEXEC))
		return complain("pipe");
	if (how == BESIDE ? join_namespaces(argv[0])
			  : unshare(how == INSIDE ? CLONE_NEWPID | CLONE_NEWNS : CLONE_NEWNS))
		return complain("namespaces");
	pid = fork();
	if (pid < 0)
		return complain("fork");
	close(said[pid == 0]);
	if (pid == 0) {
		/* A launcher within says its line behind ours. */
		if (read(said[0], &status, 1) < 0)
			complain("pipe");
		_exit(run_program(argv + (how == BESIDE), how));
	}
	fprintf(stderr, "is %d\n", pid);
	close(said[1]);
	signal(SIGINT, SIG_IGN);
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* --- Processes --- */

/* Of the test that runs; they outlive it, since a failure leaves it at once. */
static struct proc ebql, in, deep, out;

static void end_all(void)
{
	proc_end_all();
	ebql = in = deep = out = (struct proc){ 0 };
}

/* Starts it by --inside or --beside; its number as seen from there. */
static int start_by(struct proc *proc, const char *const argv[])
{
	const char *is;
	int pid = 0;

	proc_start(proc, argv, 0);
	if (proc_wait_text(proc, "is ", LIMIT_MS) && (is = strstr(proc->err_text.at, "is ")))
		pid = atoi(is + 3);
	if (pid < 1)
		fail_msg("not started: %s", proc->err_text.n ? proc->err_text.at : "silent");
	return pid;
}

static void run_load(struct proc *load)
{
	proc_write(load, "go\n");
	if (!proc_wait_text(load, "total ", LIMIT_MS))
		fail_msg("load: %s", load->err_text.n ? load->err_text.at : "silent");
}

/* argv: of an ebql with --verbose.  Lets the loads run, ends it and returns what it printed. */
static const char *watch(const char *const argv[], struct proc *const loads[])
{
	int pid = strcmp(argv[0], self) == 0 ? start_by(&ebql, argv) : 0;

	if (!pid)
		proc_start(&ebql, argv, 0);
	if (!proc_wait_text(&ebql, "attached", LIMIT_MS))
		fail_msg("ebql: %s", ebql.err_text.n ? ebql.err_text.at : "silent");
	for (u32 i = 0; loads[i]; i++)
		run_load(loads[i]);
	kill(pid ? pid : ebql.pid, SIGINT);
	if (proc_wait_exit(&ebql, LIMIT_MS) != 0)
		fail_msg("status %d: %s", ebql.status, ebql.err_text.at);
	return ebql.out_text.at;
}

static void expect_line(const char *out, const char *line, ...)
{
	char text[512];
	va_list args;

	va_start(args, line);
	vsnprintf(text, sizeof(text), line, args);
	va_end(args);
	if (!strstr(out, text))
		fail_msg("no %s in:\n%s", text, out);
}

static bool is_initial(void)
{
	struct stat ns;

	return stat("/proc/self/ns/pid", &ns) == 0 && ns.st_ino == 0xEFFFFFFC;
}

/* How the same query is computed: each must give the same rows. */
static const char *const ways[] = {
	"SET access_path = raw; ",
	"SET access_path = tracepoint; ",
	"SET pushdown = off; ",
	"SET state = kernel_map; ",
};

#define PREAD "tracepoint:syscalls:sys_enter_pread64"
#define CALLS "--calls", "1000", "--threads", "2"

/* --- Tests --- */

static int setup(void **state)
{
	session_require();
	return 0;
}

static int teardown(void **state)
{
	end_all();
	return 0;
}

/* unshare -pf --mount-proc ebql ... -- COMMAND: ebql is process 1, the command 2. */
static void test_command(void **state)
{
	char query[512];

	for (u32 i = 0; i < ARRAY_SIZE(ways); i++) {
		const char *argv[] = { self, "--inside",     proc_ebql(), "-o",	 "json", query,
				       "--", proc_loadgen(), "--no-wait", CALLS, NULL };

		snprintf(query, sizeof(query),
			 "%sSELECT pid, ppid, count(*) AS n, count(tid) AS threads FROM " PREAD
			 " WHERE pid = target_pid() AND fd >= 100 GROUP BY pid, ppid",
			 ways[i]);
		start_by(&ebql, argv);
		assert_int_equal(proc_wait_exit(&ebql, LIMIT_MS), 0);
		expect_line(ebql.out_text.at,
			    "{\"pid\":2,\"ppid\":1,\"n\":1000,\"threads\":1000}\n");
		end_all();
	}
}

/* A span's ends meet by thread, its condition is tested at both of them. */
static void test_span(void **state)
{
	static const char query[] = "SELECT pid, count(*) AS n FROM syscall:pread64 "
				    "WHERE pid = target_pid() AND fd >= 100 GROUP BY pid";
	const char *argv[] = { self, "--inside",     proc_ebql(), "-o",	 "json", query,
			       "--", proc_loadgen(), "--no-wait", CALLS, NULL };

	start_by(&ebql, argv);
	assert_int_equal(proc_wait_exit(&ebql, LIMIT_MS), 0);
	expect_line(ebql.out_text.at, "{\"pid\":2,\"n\":1000}\n");
	expect_line(ebql.out_text.at, "\"lost\":{}");
}

/* A recording holds what was seen. */
static void test_record(void **state)
{
	char file[] = "/tmp/ebql-namespace-XXXXXX.arrows", query[512];
	int fd = mkstemps(file, 7);
	const char *record[] = { self,
				 "--inside",
				 proc_ebql(),
				 "record",
				 "-o",
				 file,
				 "SELECT time, pid, tid, fd FROM " PREAD
				 " WHERE pid = target_pid() AND fd >= 100",
				 "--",
				 proc_loadgen(),
				 "--no-wait",
				 CALLS,
				 NULL };
	const char *read[] = { proc_ebql(), "-o", "json", query, NULL };

	assert_true(fd >= 0);
	start_by(&ebql, record);
	assert_int_equal(proc_wait_exit(&ebql, LIMIT_MS), 0);
	end_all();
	snprintf(query, sizeof(query),
		 "SELECT pid, count(*) AS n, count(DISTINCT tid) AS threads FROM '%s' GROUP BY pid",
		 file);
	proc_start(&ebql, read, 0);
	assert_int_equal(proc_wait_exit(&ebql, LIMIT_MS), 0);
	expect_line(ebql.out_text.at, "{\"pid\":2,\"n\":1000,\"threads\":2}\n");
	close(fd);
	unlink(file);
}

/* From outside: of a process in a namespace its number there and here, of others only this. */
static void test_from_outside(void **state)
{
	const char *inside[] = { self, "--inside", proc_loadgen(), CALLS, NULL };
	const char *outside[] = { proc_loadgen(), "--calls", "500", NULL };
	char query[512], path[64];
	struct stat ns;

	for (u32 i = 0; i < ARRAY_SIZE(ways); i++) {
		const char *argv[] = { proc_ebql(), "--verbose", "-o", "json", query, NULL };
		int pid = start_by(&in, inside);

		proc_start(&out, outside, 0);
		assert_true(proc_wait_text(&out, "pid ", LIMIT_MS));
		assert_true(proc_wait_text(&in, "pid 1\n", LIMIT_MS));
		snprintf(path, sizeof(path), "/proc/%d/ns/pid", pid);
		assert_int_equal(stat(path, &ns), 0);
		snprintf(
			query, sizeof(query),
			"%sSELECT pid_in_ns(%lu, %lu) AS there, pid AS here, count(*) AS n FROM " PREAD
			" WHERE pid IN (%d, %d) AND fd >= 100 GROUP BY there, here",
			ways[i], ns.st_dev, ns.st_ino, pid, out.pid);
		watch(argv, (struct proc *const[]){ &in, &out, NULL });
		expect_line(ebql.out_text.at, "{\"there\":1,\"here\":%d,\"n\":1000}\n", pid);
		expect_line(ebql.out_text.at, "{\"there\":null,\"here\":%d,\"n\":500}\n", out.pid);
		end_all();
	}
}

/*
 * From inside: a process of ours, one of a namespace within, which has a number here as well, and
 * one outside, which has none.  One pairs threads of all three.
 */
static void test_from_inside(void **state)
{
	static const char *const froms[] = { PREAD, "syscall:pread64" };
	const char *ours[] = { self, "--inside", proc_loadgen(), CALLS, NULL };
	const char *outside[] = { proc_loadgen(), "--calls", "500", NULL };
	char query[512], number[16];

	for (u32 i = 0; i < ARRAY_SIZE(ways) * ARRAY_SIZE(froms); i++) {
		const char *argv[] = { self, "--beside", number, proc_ebql(), "--verbose", "-p",
				       "1",  "-o",	 "json", query,	      NULL };
		const char *within[] = { self,		 "--beside", number, self, "--inside",
					 proc_loadgen(), "--calls",  "200",  NULL };
		const char *rows, *second;

		snprintf(number, sizeof(number), "%d", start_by(&in, ours));
		proc_start(&out, outside, 0);
		start_by(&deep, within);
		assert_true(proc_wait_text(&out, "pid ", LIMIT_MS));
		assert_true(proc_wait_text(&deep, "pid 1\n", LIMIT_MS));
		/* The second launcher's line: the number in our namespace. */
		assert_true(proc_wait_text(&deep, "\nis ", LIMIT_MS));
		second = strstr(deep.err_text.at, "\nis ") + 4;
		snprintf(query, sizeof(query),
			 "%sSELECT pid, count(*) AS n, count(tid) AS threads, count(ppid) AS "
			 "parents, count(*) FILTER (WHERE pid = target_pid()) AS target FROM %s "
			 "WHERE fd BETWEEN 100 AND 107 GROUP BY pid",
			 ways[i / ARRAY_SIZE(froms)], froms[i % ARRAY_SIZE(froms)]);
		rows = watch(argv, (struct proc *const[]){ &in, &deep, &out, NULL });
		expect_line(rows, "{\"pid\":1,\"n\":1000,\"threads\":1000,\"parents\":0,"
				  "\"target\":1000}\n");
		expect_line(rows,
			    "{\"pid\":%d,\"n\":200,\"threads\":200,\"parents\":200,"
			    "\"target\":0}\n",
			    atoi(second));
		expect_line(rows, "{\"pid\":null,\"n\":500,\"threads\":0,\"parents\":0,"
				  "\"target\":0}\n");
		end_all();
	}
}

/* Where the columns are told. */
static void test_describe(void **state)
{
	static const char note[] =
		"ebql runs in a PID namespace: pid, tid and ppid are its numbers";
	const char *argv[] = { self, "--inside", proc_ebql(), "describe", "t:sched:sched_switch",
			       NULL };

	start_by(&in, argv);
	assert_int_equal(proc_wait_exit(&in, LIMIT_MS), 0);
	expect_line(in.out_text.at, "%s", note);
	proc_start(&out, argv + 2, 0);
	assert_int_equal(proc_wait_exit(&out, LIMIT_MS), 0);
	/* Of this program itself, wherever it runs. */
	assert_int_equal(strstr(out.out_text.at, note) != NULL, !is_initial());
}

/* Whose numbers they are is not guessed silently. */
static void test_without_proc(void **state)
{
	const char *argv[] = { self,
			       "--blind",
			       proc_ebql(),
			       "-o",
			       "json",
			       "SELECT count(*) AS n FROM " PREAD " WHERE fd >= 100 AND "
			       "pid = target_pid()",
			       "--",
			       proc_loadgen(),
			       "--no-wait",
			       CALLS,
			       NULL };

	start_by(&ebql, argv);
	assert_int_equal(proc_wait_exit(&ebql, LIMIT_MS), 0);
	expect_line(ebql.err_text.at, "warning[no-proc]: ");
	if (is_initial())
		expect_line(ebql.out_text.at, "{\"n\":1000}\n");
}

int main(int argc, char **argv)
{
	static const char *const options[] = { "--inside", "--beside", "--blind" };
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_command, setup, teardown),
		cmocka_unit_test_setup_teardown(test_span, setup, teardown),
		cmocka_unit_test_setup_teardown(test_record, setup, teardown),
		cmocka_unit_test_setup_teardown(test_from_outside, setup, teardown),
		cmocka_unit_test_setup_teardown(test_from_inside, setup, teardown),
		cmocka_unit_test_setup_teardown(test_describe, setup, teardown),
		cmocka_unit_test_setup_teardown(test_without_proc, setup, teardown),
	};

	for (int i = 0; i < 3 && argc > 3; i++)
		if (strcmp(argv[1], options[i]) == 0)
			return be_launcher(argv + 2, i);
	BUG_ON(readlink("/proc/self/exe", self, sizeof(self) - 1) < 0);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
