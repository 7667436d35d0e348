/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What a call is: programs that make calls in every way there is, and how many entries,
 * returns and pairs of them each access path counts, by equality.  `ebql describe syscall:X`
 * and the manual tell this table in words.  --quick (slow guests): fewer calls.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/reg.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "program32.h"
#include "watch.h"

/* The one that most ways call: harmless, and so is the call of its number (getsid) of 32-bit
 * programs.  A tracer changes it to the other. */
#define CALL	   PROGRAM32_CALL
#define CALL_OTHER SYS_sched_get_priority_max

#define STOPPED_AT_CALL	 (SIGTRAP | 0x80)
#define USER_DISPATCH	 59 /* PR_SET_SYSCALL_USER_DISPATCH, kernel 5.11 */
#define HIDE_BTF	 "EBQL_TEST_HIDE_BTF"
#define EXECS_LEFT	 "EBQL_TEST_EXECS"
#define EXEC_BY_EXECVEAT "at"

static u32 n_calls = 1000, n_execs = 1000;

/* Between a program that calls and its helper, which traces or wakes it. */
struct shared {
	int pids[32];
	u32 n_handled, n_returned; /* signals, calls */
};

static struct shared *shared;
static int wake[2]; /* what the blocking calls wait for */

static __attribute__((noreturn)) void fail_work(const char *what)
{
	fprintf(stderr, "%s: %s\n", what, strerror(errno));
	_exit(1);
}

/* --- Programs that call --- */

static void call_plain(void)
{
	for (u32 i = 0; i < n_calls; i++)
		syscall(CALL, 0);
}

static long call_with(u64 rax)
{
	long ret;

	__asm__ volatile("syscall" : "=a"(ret) : "a"(rax), "D"(0) : "rcx", "r11", "memory");
	return ret;
}

static void call_upper(void)
{
	for (u32 i = 0; i < n_calls; i++)
		if (call_with(0xdeadbeef00000000u | CALL) != 0 ||
		    call_with(0xffffffff00000000u | CALL) != 0)
			fail_work("the upper half of rax");
}

static void on_sigsys(int signal)
{
	(void)signal;
}

/* Seccomp's answer to CALL; it lets all else be. */
static void deny(u32 action)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, CALL, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, action),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { ARRAY_SIZE(filter), filter };

	signal(SIGSYS, on_sigsys);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
		fail_work("seccomp");
	call_plain();
}

static void call_int80(void)
{
	if (program32_call(n_calls))
		fail_work("int $0x80");
}

static void exec_32bit(void)
{
	program32_exec(n_calls);
	fail_work("execve of a 32-bit program");
}

static void call_denied(void)
{
	deny(SECCOMP_RET_ERRNO | EPERM);
}

static void call_trapped(void)
{
	deny(SECCOMP_RET_TRAP);
}

static volatile char dispatches;

static void on_dispatch(int signal)
{
	(void)signal;
	dispatches = 0;
}

static void call_dispatched(void)
{
	signal(SIGSYS, on_dispatch);
	if (prctl(USER_DISPATCH, 1, 0, 0, &dispatches))
		fail_work("syscall user dispatch");
	for (u32 i = 0; i < n_calls; i++) {
		dispatches = 1;
		syscall(CALL, 0);
	}
}

/* Stops before the calls and behind them: int3 is no call. */
static void call_traced(void)
{
	if (ptrace(PTRACE_TRACEME, 0, NULL, NULL))
		fail_work("PTRACE_TRACEME");
	__asm__ volatile("int3");
	call_plain();
	__asm__ volatile("int3");
}

static void on_usr1(int signal)
{
	(void)signal;
	__atomic_store_n(&shared->n_handled, shared->n_handled + 1, __ATOMIC_RELEASE);
}

static void call_interrupted(void)
{
	struct sigaction action = { .sa_handler = on_usr1, .sa_flags = SA_RESTART };
	char byte;
	struct iovec one = { &byte, 1 };

	sigaction(SIGUSR1, &action, NULL);
	for (u32 i = 0; i < n_calls; i++) {
		if (syscall(SYS_readv, wake[0], &one, 1) != 1)
			fail_work("readv");
		__atomic_store_n(&shared->n_returned, i + 1, __ATOMIC_RELEASE);
	}
}

static void call_restarted(void)
{
	char byte;

	for (u32 i = 0; i < n_calls; i++) {
		struct {
			int fd;
			short events, revents;
		} one = { wake[0], 1 /* POLLIN */, 0 };

		if (syscall(SYS_poll, &one, 1, 60000) != 1 || read(wake[0], &byte, 1) != 1)
			fail_work("poll");
	}
}

/* --- Programs that exec themselves, as often as the environment says --- */

static void exec_again(const char *mode)
{
	char *const args[] = { "test_calls", "--exec", (char *)mode, NULL };
	u32 left = (u32)atoi(getenv(EXECS_LEFT));
	char text[16];

	if (left == 0)
		_exit(0);
	snprintf(text, sizeof(text), "%u", left - 1);
	setenv(EXECS_LEFT, text, 1);
	if (!strcmp(mode, EXEC_BY_EXECVEAT))
		syscall(SYS_execveat, AT_FDCWD, "/proc/self/exe", args, environ, 0);
	else
		execve("/proc/self/exe", args, environ);
	fail_work("exec");
}

static void *exec_in_thread(void *mode)
{
	exec_again(mode);
	return NULL;
}

static int exec_from_thread(char *mode)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, exec_in_thread, mode))
		return 1;
	pthread_join(thread, NULL);
	return 1;
}

static void exec_begin(char *mode)
{
	char text[16];

	snprintf(text, sizeof(text), "%u", n_execs);
	setenv(EXECS_LEFT, text, 1);
	if (!strcmp(mode, EXEC_BY_EXECVEAT))
		exec_again(mode);
	exec_from_thread(mode);
}

static void exec_threads(void)
{
	exec_begin("thread");
}

static void exec_at(void)
{
	exec_begin(EXEC_BY_EXECVEAT);
}

/* --- Their helpers --- */

static int wait_stop(int pid)
{
	int status;

	if (waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status))
		fail_work("the traced program does not stop");
	return WSTOPSIG(status);
}

/* What is done at the entry of each call; how the program goes on from stop to stop. */
static void trace(int pid, int request, long number)
{
	u32 stops_a_call = request == PTRACE_SYSCALL ? 2 : 1, n = 0;

	if (wait_stop(pid) != SIGTRAP ||
	    ptrace(PTRACE_SETOPTIONS, pid, NULL, PTRACE_O_TRACESYSGOOD))
		fail_work("trace");
	for (;; n++) {
		if (ptrace(request, pid, NULL, NULL))
			fail_work("ptrace");
		if (wait_stop(pid) != STOPPED_AT_CALL)
			break;
		if (n % stops_a_call == 0 && number != CALL &&
		    ptrace(PTRACE_POKEUSER, pid, (void *)(8L * ORIG_RAX), (void *)number))
			fail_work("PTRACE_POKEUSER");
	}
	if (n != stops_a_call * n_calls || ptrace(PTRACE_CONT, pid, NULL, NULL))
		fail_work("the traced program's calls");
}

static void trace_change(int pid)
{
	trace(pid, PTRACE_SYSCALL, CALL_OTHER);
}

static void trace_cancel(int pid)
{
	trace(pid, PTRACE_SYSCALL, -1);
}

static void trace_emulate(int pid)
{
	trace(pid, PTRACE_SYSEMU, CALL);
}

/* Until the program waits in this call, as the kernel sees it. */
static void wait_in_call(int pid, int number)
{
	char path[64], text[256];
	int nr = -1;

	snprintf(path, sizeof(path), "/proc/%d/syscall", pid);
	while (nr != number) {
		int fd = open(path, O_RDONLY);
		ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

		if (n < 0)
			fail_work(path);
		close(fd);
		text[n] = 0;
		if (sscanf(text, "%d", &nr) != 1)
			nr = -1;
		if (nr != number)
			usleep(20);
	}
}

static void wake_one(void)
{
	if (write(wake[1], "", 1) != 1)
		fail_work("wake");
}

static void wait_count(const u32 *count, u32 wanted)
{
	while (__atomic_load_n(count, __ATOMIC_ACQUIRE) != wanted)
		usleep(20);
}

/* (A program that is being woken is still in its call, as the kernel sees it.) */
static void interrupt(int pid)
{
	for (u32 i = 0; i < n_calls; i++) {
		wait_count(&shared->n_returned, i);
		wait_in_call(pid, SYS_readv);
		kill(pid, SIGUSR1);
		wait_count(&shared->n_handled, i + 1);
		wait_in_call(pid, SYS_readv);
		wake_one();
	}
}

static void restart(int pid)
{
	if (ptrace(PTRACE_SEIZE, pid, NULL, NULL))
		fail_work("PTRACE_SEIZE");
	for (u32 i = 0; i < n_calls; i++) {
		wait_in_call(pid, SYS_poll);
		if (ptrace(PTRACE_INTERRUPT, pid, NULL, NULL))
			fail_work("PTRACE_INTERRUPT");
		wait_stop(pid);
		if (ptrace(PTRACE_CONT, pid, NULL, NULL))
			fail_work("PTRACE_CONT");
		wait_in_call(pid, SYS_restart_syscall);
		wake_one();
	}
}

/* --- The table --- */

enum watched { MIN, MAX, READV, POLL, RESTART, EXECVE, EXECVEAT, WATCHED_N };

static const char *const watched_names[WATCHED_N] = { "sched_get_priority_min",
						      "sched_get_priority_max",
						      "readv",
						      "poll",
						      "restart_syscall",
						      "execve",
						      "execveat" };

/* By access path: raw tracepoints by BTF and without, the perf tracepoints, the calls' functions.
 */
enum path { TYPED, RAW, TRACEPOINT, FENTRY, PATH_N };

struct promise {
	enum watched call;
	/* Times n_calls (execs: n_execs), or once. */
	u32 enters, exits, pairs;
	bool is_once, is_thread_lost; /* no pair where threads are known by number */
};

static const struct way {
	const char *name;
	void (*call)(void);
	void (*help)(int pid);
	struct promise promises[2];
	bool is_exec;
} ways[] = {
	{ "plain", call_plain, NULL, { { MIN, 1, 1, 1 } } },
	{ "upper_half", call_upper, NULL, { { MIN, 2, 2, 2 } } },
	{ "denied", call_denied, NULL, { { MIN, 0, 1, 0 } } },
	{ "trapped", call_trapped, NULL, { { MIN, 0, 1, 0 } } },
	{ "dispatched", call_dispatched, NULL, { { MIN } } },
	{ "changed", call_traced, trace_change, { { MIN }, { MAX, 1, 1, 1 } } },
	{ "cancelled", call_traced, trace_cancel, { { MIN } } },
	{ "emulated", call_traced, trace_emulate, { { MIN, 0, 1, 0 } } },
	{ "interrupted", call_interrupted, interrupt, { { READV, 2, 2, 2 } } },
	{ "restarted", call_restarted, restart, { { POLL, 1, 1, 1 }, { RESTART, 1, 1, 1 } } },
	{ "exec_from_thread",
	  exec_threads,
	  NULL,
	  { { EXECVE, 1, 1, 1, .is_thread_lost = true } },
	  .is_exec = true },
	{ "execveat",
	  exec_at,
	  NULL,
	  { { EXECVEAT, 1, 0, 0 }, { EXECVE, 0, 1, 0 } },
	  .is_exec = true },
	{ "int80", call_int80, NULL, { { MIN } } },
	{ "32bit", exec_32bit, NULL, { { MIN }, { EXECVE, 1, 0, 0, .is_once = true } } },
};

/* The last two are left out where the kernel runs no 32-bit programs (ia32_emulation=off). */
#define N_32BIT 2
static u32 n_ways;

static u32 count_ways(void)
{
	return ARRAY_SIZE(ways) - (program32_runs() ? 0 : N_32BIT);
}

/* --- The workload: all ways at once, each in a process of its own --- */

/* A program that waits for `go`, and its helper, which ends with 0 where both went well. */
static void start_way(u32 number, const int go[2])
{
	int pid = fork(), status;
	char c;

	if (pid)
		return;
	if (pipe(wake) || (pid = fork()) < 0)
		fail_work("start");
	if (pid == 0) {
		shared->pids[number] = getpid();
		close(go[1]);
		if (read(go[0], &c, 1) == 1)
			ways[number].call();
		_exit(0);
	}
	close(go[0]);
	close(go[1]);
	if (ways[number].help)
		ways[number].help(pid);
	if (waitpid(pid, &status, 0) != pid || status)
		fail_work(ways[number].name);
	_exit(0);
}

static int work(void)
{
	int go[2], status;
	bool is_good = true;
	char line[64];

	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	if (shared == MAP_FAILED || pipe(go))
		return 1;
	work_answer("pid %d\n", getpid());
	for (u32 i = 0; i < n_ways; i++)
		start_way(i, go);
	for (u32 i = 0; i < n_ways; i++)
		while (!__atomic_load_n(&shared->pids[i], __ATOMIC_ACQUIRE))
			usleep(100);
	while (work_line(line, sizeof(line))) {
		if (!strcmp(line, "pids")) {
			for (u32 i = 0; i < n_ways; i++)
				work_answer("%s%d", i ? ", " : "", shared->pids[i]);
			work_answer("\n");
			continue;
		}
		for (u32 i = 0; i < n_ways; i++)
			if (write(go[1], "", 1) != 1)
				return 1;
		for (u32 i = 0; i < n_ways; i++)
			is_good &= wait(&status) > 0 && status == 0;
		if (!is_good)
			return 1;
		work_answer("called\n");
	}
	return 0;
}

/* --- What ebql says --- */

enum kind { ENTERS, EXITS, PAIRS, KIND_N };

struct case_state {
	const char *name;
	enum path path;
	struct watch watch;
	int pids[ARRAY_SIZE(ways)];
	u64 counts[ARRAY_SIZE(ways)][WATCHED_N][KIND_N];
};

static void take_row(void *context, const struct line *line)
{
	struct case_state *c = context;

	for (u32 i = 0; i < n_ways; i++)
		if (c->pids[i] == (int)line_number(line, "pid"))
			c->counts[i][line_number(line, "call")][line_number(line, "kind")] +=
				line_number(line, "n");
}

static void put_query(const char *pids, enum path path, struct buf *query)
{
	static const char *const streams[KIND_N] = { "tracepoint:syscalls:sys_enter_",
						     "tracepoint:syscalls:sys_exit_", "syscall:" };
	static const char *const settings[PATH_N] = { "raw", "raw", "tracepoint", "fentry" };

	buf_printf(query, "SET access_path = %s; SELECT call, kind, pid, count(*) AS n FROM (",
		   settings[path]);
	for (u32 i = 0; i < WATCHED_N; i++)
		for (u32 k = 0; k < KIND_N; k++)
			if (k != EXITS || path != FENTRY)
				buf_printf(query, "%sSELECT %u AS call, %u AS kind, pid FROM %s%s",
					   i + k ? " UNION ALL " : "", i, k, streams[k],
					   watched_names[i]);
	buf_printf(query, ") WHERE pid IN (%s) GROUP BY call, kind, pid", pids);
}

static u64 promised(const struct way *way, u32 call, u32 kind, enum path path)
{
	for (u32 i = 0; i < ARRAY_SIZE(way->promises); i++) {
		const struct promise *p = &way->promises[i];
		u32 n = p->is_once ? 1 : way->is_exec ? n_execs : n_calls;

		if (p->call != call || !(p->enters | p->exits))
			continue;
		/* A function's returns are those of its entries, and are asked for with them. */
		if (kind == EXITS && path == FENTRY)
			return 0;
		if (kind == PAIRS)
			return p->is_thread_lost && path == TRACEPOINT ? 0 : (u64)n * p->pairs;
		return (u64)n * (kind == ENTERS ? p->enters : p->exits);
	}
	return 0;
}

/* The table, and the ledger: every entry is in a pair or unpaired, and so is every return. */
static void expect_promised(const struct case_state *c)
{
	const struct reader_totals *t = &c->watch.reader.totals;
	u64 starts = 0, ends = 0;
	u32 n_wrong = 0;

	for (u32 i = 0; i < n_ways; i++)
		for (u32 call = 0; call < WATCHED_N; call++) {
			const u64 *have = c->counts[i][call];
			u64 want[KIND_N];

			for (u32 k = 0; k < KIND_N; k++)
				want[k] = promised(&ways[i], call, k, c->path);
			starts += want[ENTERS] - want[PAIRS];
			ends += c->path == FENTRY ? 0 : want[EXITS] - want[PAIRS];
			if (!memcmp(have, want, sizeof(want)))
				continue;
			n_wrong++;
			print_error("%s, %s: %lu entries, %lu returns, %lu pairs instead of %lu, "
				    "%lu, %lu\n",
				    ways[i].name, watched_names[call], have[ENTERS], have[EXITS],
				    have[PAIRS], want[ENTERS], want[EXITS], want[PAIRS]);
		}
	assert_int_equal(n_wrong, 0);
	assert_int_equal(t->never_ended + t->overwritten + t->full, starts);
	assert_int_equal(t->never_started + t->began_before, ends);
	assert_int_equal(t->lost + t->expired, 0);
}

static void test_calls(void **state)
{
	struct case_state *c = *state;
	const char *at;
	struct buf query;
	int taken;

	watch_require();
	watch_open(&c->watch, take_row, c);
	watch_work(&c->watch, "calls");
	watch_tell(&c->watch, "pids", "\n");
	at = c->watch.work.out_text.at;
	for (u32 i = 0; i < n_ways; i++, at += taken)
		assert_int_equal(sscanf(at, "%d%*[, \n]%n", &c->pids[i], &taken), 1);
	buf_init(&query);
	put_query(c->watch.work.out_text.at, c->path, &query);
	if (c->path == RAW) {
		setenv(HIDE_BTF, proc_ebql(), 1);
		setenv("EBQL", "/proc/self/exe", 1);
	}
	watch_ebql(&c->watch, "%s", query.at);
	buf_free(&query);
	watch_tell(&c->watch, "go", "called\n");
	watch_end(&c->watch, -1);
	expect_promised(c);
}

static int teardown(void **state)
{
	struct case_state *c = *state;

	watch_close(&c->watch);
	if (getenv(HIDE_BTF))
		setenv("EBQL", getenv(HIDE_BTF), 1);
	unsetenv(HIDE_BTF);
	return 0;
}

static void test_32bit(void **state)
{
	watch_require();
	if (n_ways < ARRAY_SIZE(ways)) {
		print_message("SKIP: the kernel runs no 32-bit programs\n");
		skip();
	}
}

/* ebql, as it is where the kernel has no BTF. */
static int run_without_btf(char **argv)
{
	if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("none", "/sys/kernel/btf", "tmpfs", 0, NULL))
		return 1;
	execv(getenv(HIDE_BTF), argv);
	return 1;
}

int main(int argc, char **argv)
{
	static struct case_state cases[PATH_N] = { { "typed", TYPED },
						   { "raw", RAW },
						   { "tracepoint", TRACEPOINT },
						   { "fentry", FENTRY } };
	u32 n_paths = PATH_N - !proc_has_trampolines();
	struct CMUnitTest tests[PATH_N + 1];

	if (getenv(HIDE_BTF))
		return run_without_btf(argv);
	if (argc == 3 && !strcmp(argv[1], "--exec"))
		return strcmp(argv[2], EXEC_BY_EXECVEAT) ? exec_from_thread(argv[2])
							 : (exec_again(argv[2]), 1);
	if (watch_is_quick(argc, argv)) {
		n_calls = 20;
		n_execs = 5;
	}
	n_ways = count_ways();
	if (argc == 3 && !strcmp(argv[1], "--work"))
		return work();
	for (u32 i = 0; i < n_paths; i++)
		tests[i] =
			(struct CMUnitTest){ cases[i].name, test_calls, NULL, teardown, &cases[i] };
	tests[n_paths] = (struct CMUnitTest)cmocka_unit_test(test_32bit);
	return _cmocka_run_group_tests("calls", tests, n_paths + 1, NULL, NULL);
}
