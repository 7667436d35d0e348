/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Beside another agent: a BPF program that has something to do on the perf tracepoints of sched
 * and raw_syscalls, which keeps the kernel from running any other of that kind on its CPU.  The
 * views miss nothing there and exit with 0; the same over the perf tracepoint does miss, or this
 * would show nothing.  (Kernel 5.18 and later: see prev_state in fields.sql.)
 */
#include <fcntl.h>
#include <linux/version.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "proc.h"
#include "reader.h"
#include "sys/sys.h"

enum { LIMIT_MS = 60000, RUNS = 2, TRIES = 4, SLEEPERS = 4 };

static char device[64], disk_path[64];

/* --- What happens: calls without an end, wakeups by interrupts in them, reads of a disk --- */

static void *call(void *context)
{
	for (;;)
		syscall(SYS_getppid);
	return NULL;
}

static void *sleep_shortly(void *context)
{
	prctl(PR_SET_TIMERSLACK, 1);
	for (;;)
		nanosleep(&(struct timespec){ 0, 20000 }, NULL);
	return NULL;
}

static int work(const char *disk)
{
	int fd = *disk ? open(disk, O_RDONLY | O_DIRECT | O_CLOEXEC) : -1;
	pthread_t thread;
	void *block;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (u32 i = 0; i < SLEEPERS; i++)
		pthread_create(&thread, NULL, sleep_shortly, NULL);
	for (long i = sysconf(_SC_NPROCESSORS_ONLN); i > 0; i--)
		pthread_create(&thread, NULL, call, NULL);
	/* This thread's alone. */
	setpriority(PRIO_PROCESS, 0, -20);
	printf("at work\n");
	fflush(stdout);
	if (posix_memalign(&block, 4096, 4096))
		return 2;
	for (u32 i = 0; fd >= 0 && pread(fd, block, 4096, i % 256 * 4096) == 4096; i++)
		;
	pause();
	return 0;
}

/* --- Who watches it --- */

/* The more it does for an event, the longer it keeps others out. */
#define NEIGHBOUR                                                                                  \
	"SET access_path = tracepoint; SELECT count(*), p99(time % 1000003, loglinear(7)), "       \
	"p99(time % 1000033, loglinear(6)), p99(time % 1000037, loglinear(5)), "                   \
	"p99(time % 1000039, loglinear(4)), p99(time % 1000081, loglinear(3)) FROM ("              \
	"SELECT time FROM tracepoint:raw_syscalls:sys_* UNION ALL SELECT time FROM "               \
	"tracepoint:sched:sched_wak* UNION ALL SELECT time FROM tracepoint:sched:sched_switch) AS x"

static const char *const views[] = {
	"SELECT count(*) AS n, p99(latency) AS q FROM run_queue WINDOW TUMBLING 100ms",
	"SELECT state, preempted, count(*) AS n, p99(latency) AS q FROM off_cpu "
	"GROUP BY state, preempted WINDOW TUMBLING 100ms",
	"SELECT rwbs, error, count(*) AS n, p99(latency) AS q FROM block_io "
	"GROUP BY rwbs, error WINDOW TUMBLING 100ms",
};

struct neighbours {
	struct proc load, agent, ebql[ARRAY_SIZE(views)];
	struct reader readers[ARRAY_SIZE(views)];
	u64 n_rows[ARRAY_SIZE(views)]; /* spans */
	u32 n_views;
	bool is_clean; /* the run: each view had rows, and room for all starts */
};

static void take(void *context, const struct line *line)
{
	*(u64 *)context += line_number(line, "n");
}

static int setup(void **state)
{
	char command[256];
	FILE *pipe;

	*state = calloc(1, sizeof(struct neighbours));
	snprintf(disk_path, sizeof(disk_path), "/var/tmp/ebql-test-neighbour-%d.disk", getpid());
	snprintf(command, sizeof(command),
		 "head -c 2M /dev/urandom >%s && losetup --find --show %s 2>/dev/null", disk_path,
		 disk_path);
	pipe = geteuid() ? NULL : popen(command, "r");
	if (pipe && !fgets(device, sizeof(device), pipe))
		device[0] = 0;
	device[strcspn(device, "\n")] = 0;
	if (pipe && pclose(pipe))
		device[0] = 0;
	return *state ? 0 : -1;
}

static int teardown(void **state)
{
	struct neighbours *n = *state;
	char command[128];

	proc_end_all();
	for (u32 i = 0; i < n->n_views; i++)
		reader_free(&n->readers[i]);
	snprintf(command, sizeof(command), "losetup --detach %s", device);
	if (device[0] && system(command))
		print_error("cannot: %s\n", command);
	unlink(disk_path);
	free(n);
	return 0;
}

static void start_neighbours(struct neighbours *n)
{
	const char *load[] = { "/proc/self/exe", "--work", device, NULL };
	const char *agent[] = { proc_ebql(), "--verbose", NEIGHBOUR, NULL };

	if (geteuid() != 0) {
		print_message("SKIP: needs root to trace\n");
		skip();
	}
	if (!device[0])
		print_message("no loop device can be made here: block_io is left out\n");
	n->n_views = ARRAY_SIZE(views) - !device[0];
	for (u32 i = 0; i < n->n_views; i++)
		reader_init(&n->readers[i], take, &n->n_rows[i]);
	proc_start(&n->load, load, 0);
	assert_true(proc_wait_text(&n->load, "at work\n", LIMIT_MS));
	kill(n->load.pid, SIGSTOP);
	proc_start(&n->agent, agent, 0);
	assert_true(proc_wait_text(&n->agent, "attached:", LIMIT_MS));
}

/* All views at once for a while; what the kernel kept from them. */
static u64 run_views(struct neighbours *n, const char *access_path)
{
	u64 lost = 0;

	n->is_clean = true;
	for (u32 i = 0; i < n->n_views; i++) {
		char text[512];
		const char *argv[] = { proc_ebql(), "-v", "-o", "json", "-d", "2s", text, NULL };

		snprintf(text, sizeof(text), "SET access_path = %s; %s", access_path, views[i]);
		reader_free(&n->readers[i]);
		reader_init(&n->readers[i], take, &n->n_rows[i]);
		n->n_rows[i] = 0;
		n->ebql[i].sink = reader_feed;
		n->ebql[i].sink_context = &n->readers[i];
		proc_start(&n->ebql[i], argv, 0);
	}
	/* Beside work that never sleeps, attaching and detaching may take a minute each. */
	for (u32 i = 0; i < n->n_views; i++)
		assert_true(proc_wait_text(&n->ebql[i], "attached:", LIMIT_MS));
	kill(n->load.pid, SIGCONT);
	usleep(800000);
	kill(n->load.pid, SIGSTOP);
	for (u32 i = 0; i < n->n_views; i++) {
		const struct reader_totals *totals = &n->readers[i].totals;
		int status = proc_wait_exit(&n->ebql[i], LIMIT_MS);

		print_message(
			"%s: %lu spans of %lu events, %lu lost, %lu full, exit status %d: %s\n",
			access_path, n->n_rows[i], totals->events, totals->lost, totals->full,
			status, views[i]);
		assert_string_equal(n->readers[i].error, "");
		assert_int_equal(status, totals->lost || totals->full ? 3 : 0);
		lost += totals->lost;
		n->is_clean &= n->n_rows[i] && !totals->full;
		proc_forget(&n->ebql[i]);
	}
	return lost;
}

/* A hook that is seldom kept out is seen here only. */
static void test_no_perf_tracepoint(void **state)
{
	for (u32 i = 0; i < ARRAY_SIZE(views); i++) {
		const char *argv[] = { proc_ebql(), "explain", views[i], NULL };
		struct proc explain = { 0 };

		proc_start(&explain, argv, 0);
		assert_int_equal(proc_wait_exit(&explain, LIMIT_MS), 0);
		assert_non_null(strstr(explain.out_text.at, "  hook raw tracepoint "));
		if (strstr(explain.out_text.at, "  hook tracepoint "))
			fail_msg("%s", explain.out_text.at);
		proc_forget(&explain);
	}
}

static void test_views_beside_an_agent(void **state)
{
	struct neighbours *n = *state;

	start_neighbours(n);
	/*
	 * Where the clock of a virtual machine's CPU is behind for a while, a thread is back there
	 * before it left, and its start stays: that has nothing to do with who else listens.  Nor
	 * has a disk that a busy machine does not come to read.
	 */
	for (u32 n_clean = 0, tries = 0; n_clean < RUNS; tries++) {
		assert_true(tries < RUNS + TRIES);
		assert_int_equal(run_views(n, "auto"), 0);
		n_clean += n->is_clean;
	}
	/* Before 6.7 (commit dd8657894c11) the kernel does not say what it skipped. */
	if (sys_kernel_version() < KERNEL_VERSION(6, 7, 0))
		return;
	for (u32 tries = 0; run_views(n, "tracepoint") == 0; tries++)
		assert_true(tries < TRIES);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_perf_tracepoint),
		cmocka_unit_test_setup_teardown(test_views_beside_an_agent, setup, teardown),
	};

	if (argc == 3 && !strcmp(argv[1], "--work"))
		return work(argv[2]);
	return cmocka_run_group_tests_name("neighbour", tests, NULL, NULL);
}
