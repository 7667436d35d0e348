/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * New threads and processes: they come out of the call that made them without having
 * gone into it.  That is no end of a call, so nothing is counted as never started.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "watch.h"

enum { N_SPAWNED = 1000 };

/* --- The workload --- */

static void *end_at_once(void *argument)
{
	return argument;
}

static bool make_thread(void)
{
	pthread_t thread;

	return !pthread_create(&thread, NULL, end_at_once, NULL) && !pthread_join(thread, NULL);
}

static bool make_process(const char *call)
{
	long child = -1;

#ifdef SYS_fork
	if (!strcmp(call, "fork"))
		child = syscall(SYS_fork);
#endif
	if (!strcmp(call, "clone"))
		child = syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
	if (!child)
		syscall(SYS_exit_group, 0);
	return child > 0 && waitpid((int)child, NULL, 0) == child;
}

enum { N_CALLING = 4 };

/* In and out of calls without end, with room for other programs' rows between them. */
static void *call_on(void *argument)
{
	for (volatile u32 i = 0;; i = 0) {
		syscall(SYS_getppid);
		while (++i < 10000)
			;
	}
	return argument;
}

/* "thread N", "fork N", "clone N": so many, one after the other; "call N": until the end. */
static int work(void)
{
	char line[64], call[16];
	u32 n;

	work_answer("pid %d\n", getpid());
	while (work_line(line, sizeof(line))) {
		if (sscanf(line, "%15s %u", call, &n) != 2)
			return 1;
		for (u32 i = 0; i < n; i++) {
			pthread_t thread;

			if (!strcmp(call, "call")    ? pthread_create(&thread, NULL, call_on, NULL)
			    : strcmp(call, "thread") ? !make_process(call)
						     : !make_thread())
				return 1;
		}
		work_answer("made\n");
	}
	return 0;
}

/* --- An ebql that attaches slowly --- */

enum { PAUSE_US = 20000 };

/* The process pauses behind each raw tracepoint that it attaches to. */
static void slow_down(int pid, int ready_fd)
{
	bool is_attaching = false;
	int status, signal = 0;

	if (ptrace(PTRACE_SEIZE, pid, NULL, PTRACE_O_TRACESYSGOOD) ||
	    ptrace(PTRACE_INTERRUPT, pid, NULL, NULL) || write(ready_fd, "", 1) != 1)
		return;
	while (waitpid(pid, &status, __WALL) == pid && WIFSTOPPED(status)) {
		struct __ptrace_syscall_info info = { 0 };

		signal = status >> 16 ? 0 : WSTOPSIG(status);
		if (signal == (SIGTRAP | 0x80)) {
			signal = 0;
			ptrace(PTRACE_GET_SYSCALL_INFO, pid, sizeof(info), &info);
			if (is_attaching && info.op == PTRACE_SYSCALL_INFO_EXIT)
				usleep(PAUSE_US);
			is_attaching = info.op == PTRACE_SYSCALL_INFO_ENTRY &&
				       info.entry.nr == SYS_bpf &&
				       info.entry.args[0] == BPF_RAW_TRACEPOINT_OPEN;
		}
		ptrace(PTRACE_SYSCALL, pid, NULL, (void *)(size_t)signal);
	}
}

/* Becomes argv[0]. */
static int run_slowly(char **argv)
{
	int pid = getpid(), ready[2], child;
	char byte;

	if (pipe2(ready, O_CLOEXEC))
		return 1;
	child = fork();
	if (!child) {
		if (!fork())
			slow_down(pid, ready[1]);
		_exit(0);
	}
	close(ready[1]);
	while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
		;
	if (read(ready[0], &byte, 1) != 1)
		return 1;
	execv(argv[0], argv);
	return 1;
}

/* --- What ebql says --- */

struct spawn {
	struct watch watch;
	const char *path, *call;
	u64 n_made; /* pairs of the calls that make threads or processes */
};

static bool is_making(u64 nr)
{
#ifdef SYS_fork
	if (nr == SYS_fork || nr == SYS_vfork)
		return true;
#endif
	return nr == SYS_clone || nr == SYS_clone3;
}

static void take_row(void *context, const struct line *line)
{
	struct spawn *s = context;

	if (is_making(line_number(line, "nr")))
		s->n_made += line_number(line, "n");
}

static int teardown(void **state)
{
	watch_close(&((struct spawn *)*state)->watch);
	return 0;
}

static void spawn_run(struct spawn *s, const char *what)
{
	char order[32];

	snprintf(order, sizeof(order), "%s %u", what, N_SPAWNED);
	watch_tell(&s->watch, order, "made");
	watch_end(&s->watch, -1);
}

/* All calls of one process; its main thread is inside one when the run begins. */
static void test_threads(void **state)
{
	struct spawn *s = *state;
	const struct reader_totals *t = &s->watch.reader.totals;

	watch_require();
	watch_open(&s->watch, take_row, s);
	watch_work(&s->watch, "spawn");
	watch_ebql(&s->watch,
		   "SET access_path = %s; SELECT nr, count(*) AS n FROM %s WHERE pid = %d "
		   "GROUP BY nr WINDOW TUMBLING 1ms",
		   s->path, s->call, s->watch.pid);
	spawn_run(s, "thread");
	assert_int_equal(s->n_made, N_SPAWNED);
	assert_true(t->never_started + t->began_before <= !strcmp(s->call, "syscall:*"));
	assert_true(t->n_batches > 1);
	assert_int_equal(t->full, 0);
}

/*
 * A call of the whole system, for a child's pid is another.  Who else calls it is paired
 * too; fork(2) itself nobody calls, as C libraries have their own.
 */
static void test_processes(void **state)
{
	struct spawn *s = *state;
	const struct reader_totals *t = &s->watch.reader.totals;

#ifndef SYS_fork
	if (!strcmp(s->call, "fork"))
		skip();
#endif
	watch_require();
	watch_open(&s->watch, take_row, s);
	watch_work(&s->watch, "spawn");
	watch_ebql(&s->watch,
		   "SET access_path = %s; SELECT nr, count(*) AS n FROM syscall:%s GROUP BY nr "
		   "WINDOW TUMBLING 1ms",
		   s->path, s->call);
	spawn_run(s, s->call);
	if (!strcmp(s->call, "fork"))
		assert_int_equal(s->n_made, N_SPAWNED);
	else
		assert_true(s->n_made >= N_SPAWNED);
	/* Others may be in the middle of theirs when the run begins: a few, not a thousand. */
	assert_true(t->never_started + t->began_before <= (strcmp(s->call, "fork") ? 10 : 0));
	assert_int_equal(t->full, 0);
}

/*
 * Threads in the middle of calls when the run begins: each has one end whose start was not seen,
 * however the calls are paired, since starts are attached first.
 */
static void test_calling(void **state)
{
	struct spawn *s = *state;
	const struct reader_totals *t = &s->watch.reader.totals;

	watch_require();
	for (u32 i = 0; i < 5; i++) {
		watch_open(&s->watch, take_row, s);
		watch_work(&s->watch, "spawn");
		watch_tell(&s->watch, "call 4", "made");
		watch_ebql(&s->watch,
			   "SET access_path = %s; SET pushdown = %s; SET ring_bytes = 16777216; "
			   "SELECT nr, count(*) AS n FROM syscall:getppid WHERE pid = %d "
			   "GROUP BY nr WINDOW TUMBLING 1ms",
			   s->path, s->call, s->watch.pid);
		watch_end(&s->watch, -1);
		if (!t->ring_full)
			assert_int_equal(t->never_started, 0);
		assert_true(t->began_before <= N_CALLING);
		watch_close(&s->watch);
	}
}

/* Starts of a join by keys must not crowd each other out while no end is attached. */
static void test_calling_by_keys(void **state)
{
	struct spawn *s = *state;
	const struct reader_totals *t = &s->watch.reader.totals;

	watch_require();
	for (u32 i = 0; i < 5; i++) {
		watch_open(&s->watch, take_row, s);
		watch_work(&s->watch, "spawn");
		watch_tell(&s->watch, "call 4", "made");
		watch_ebql(&s->watch,
			   "SET access_path = %s; SELECT 0 AS nr, count(*) AS n "
			   "FROM tracepoint:syscalls:sys_exit_getppid AS a PAIR JOIN "
			   "tracepoint:syscalls:sys_enter_getppid AS b ON a.tid = b.tid "
			   "AND a.pid = b.pid WITHIN 1s WINDOW TUMBLING 1ms",
			   s->path);
		watch_end(&s->watch, -1);
		assert_true(t->n_batches > 0);
		assert_int_equal(t->full, 0);
		watch_close(&s->watch);
	}
}

/*
 * There the ends are attached first, and what they count until the starts are is none of the run's,
 * however long that takes.
 */
static void test_attached_slowly(void **state)
{
	struct spawn *s = *state;
	struct proc *ebql = &s->watch.ebql;
	char query[512];
	const char *argv[] = { "/proc/self/exe", "--slowly",  proc_ebql(), "-o",
			       "json",		 "--verbose", query,	   NULL };

	watch_require();
	watch_open(&s->watch, take_row, s);
	watch_work(&s->watch, "spawn");
	watch_tell(&s->watch, "call 4", "made");
	snprintf(query, sizeof(query),
		 "SET access_path = raw; SELECT 0 AS nr, count(*) AS n "
		 "FROM tracepoint:syscalls:sys_exit_getppid AS a PAIR JOIN "
		 "tracepoint:syscalls:sys_enter_getppid AS b ON a.tid = b.tid AND a.pid = b.pid "
		 "WHERE a.pid = %d",
		 s->watch.pid);
	ebql->sink = reader_feed;
	ebql->sink_context = &s->watch.reader;
	proc_start(ebql, argv, 0);
	assert_true(proc_wait_text(ebql, "attached:", 60000));
	usleep(100000);
	watch_end(&s->watch, -1);
	assert_true(s->watch.reader.totals.matched > 0);
	assert_true(s->watch.reader.totals.never_started <= N_CALLING);
}

int main(int argc, char **argv)
{
	static const char *const paths[] = { "raw", "tracepoint" };
	static const struct {
		const char *call;
		CMUnitTestFunction test;
	} calls[] = {
		{ "syscall:*", test_threads },	  { "syscall:clone*", test_threads },
		{ "fork", test_processes },	  { "clone", test_processes },
		{ "on", test_calling },		  { "off", test_calling },
		{ "keys", test_calling_by_keys }, { "slowly", test_attached_slowly },
	};
	static struct spawn spawns[ARRAY_SIZE(paths) * ARRAY_SIZE(calls)];
	static char names[ARRAY_SIZE(spawns)][48];
	static struct CMUnitTest tests[ARRAY_SIZE(spawns)];
	u32 n = 0;

	if (argc == 3 && !strcmp(argv[1], "--work"))
		return work();
	if (argc > 2 && !strcmp(argv[1], "--slowly"))
		return run_slowly(argv + 2);
	for (u32 k = 0; k < ARRAY_SIZE(paths); k++) {
		for (u32 i = 0; i < ARRAY_SIZE(calls); i++) {
			/* Hundreds of tracepoints take their time to attach, with nothing new. */
			if (k && !strcmp(calls[i].call, "syscall:*"))
				continue;
			/* Perf events are attached one by one, ends too. */
			if (k && (calls[i].test == test_calling ||
				  calls[i].test == test_attached_slowly))
				continue;
			spawns[n] = (struct spawn){ .path = paths[k], .call = calls[i].call };
			snprintf(names[n], sizeof(names[n]), "%s %s", calls[i].call, paths[k]);
			tests[n].name = names[n];
			tests[n].test_func = calls[i].test;
			tests[n].teardown_func = teardown;
			tests[n].initial_state = &spawns[n];
			n++;
		}
	}
	return _cmocka_run_group_tests("spawn", tests, n, NULL, NULL);
}
