/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Conservation of pairs: of a load of known system calls every end is a pair or counted
 * as one that never started, every start is a pair or counted by what became of it.
 * EBQL_TEST_LONG makes every cell of the first test 6,000,000 calls; --quick (slow
 * guests) few.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cmocka.h>

#include "delay.h"
#include "watch.h"

enum { BLOCKERS = 64, CHURN_AT_ONCE = 16, CHURN_CALLS = 3, SPINNERS = 4 };

static bool is_quick;

/* --- Workloads --- */

static int blocker_pipe[2];
static int blocker_tids[BLOCKERS];
static u32 calls_each;

static void call_readv(void)
{
	char byte;
	struct iovec one = { &byte, 1 };

	while (syscall(SYS_readv, blocker_pipe[0], &one, 1) < 0 && errno == EINTR)
		;
}

static void *block_once(void *argument)
{
	int *tid = argument;

	__atomic_store_n(tid, (int)syscall(SYS_gettid), __ATOMIC_RELEASE);
	call_readv();
	return NULL;
}

/* Is the thread inside readv, as the kernel sees it? */
static bool is_in_readv(int tid)
{
	char path[64], text[64] = "";
	FILE *file;
	int nr = -1;

	snprintf(path, sizeof(path), "/proc/self/task/%d/syscall", tid);
	file = fopen(path, "r");
	if (!file)
		return false;
	if (!fgets(text, sizeof(text), file) || sscanf(text, "%d", &nr) != 1)
		nr = -1;
	fclose(file);
	return nr == SYS_readv;
}

static void *call_many(void *argument)
{
	static const char null[1];
	struct iovec one = { (void *)null, 0 };

	(void)argument;
	for (u32 i = 0; i < calls_each; i++)
		syscall(SYS_readv, blocker_pipe[0], &one, 1); /* of no bytes: returns at once */
	return NULL;
}

/* "block": all threads wait in readv; "release": they go on; "call": as many calls at once. */
static int work_block(void)
{
	pthread_t threads[BLOCKERS];
	char line[64];

	if (pipe(blocker_pipe))
		return 1;
	while (work_line(line, sizeof(line))) {
		if (!strcmp(line, "block")) {
			for (u32 i = 0; i < BLOCKERS; i++) {
				blocker_tids[i] = 0;
				pthread_create(&threads[i], NULL, block_once, &blocker_tids[i]);
			}
			for (u32 i = 0; i < BLOCKERS; i++)
				while (!__atomic_load_n(&blocker_tids[i], __ATOMIC_ACQUIRE) ||
				       !is_in_readv(blocker_tids[i]))
					usleep(200);
			work_answer("blocked\n");
		} else if (!strcmp(line, "release")) {
			char bytes[BLOCKERS] = { 0 };

			if (write(blocker_pipe[1], bytes, BLOCKERS) != BLOCKERS)
				return 1;
			for (u32 i = 0; i < BLOCKERS; i++)
				pthread_join(threads[i], NULL);
			work_answer("released\n");
		} else if (sscanf(line, "call %u", &calls_each) == 1) {
			for (u32 i = 0; i < BLOCKERS; i++)
				pthread_create(&threads[i], NULL, call_many, NULL);
			for (u32 i = 0; i < BLOCKERS; i++)
				pthread_join(threads[i], NULL);
			work_answer("called\n");
		}
	}
	return 0;
}

static void *live_shortly(void *argument)
{
	char byte;

	for (u32 i = 0; i < CHURN_CALLS; i++)
		syscall(SYS_pread64, *(const int *)argument, &byte, 1, 0);
	return NULL;
}

/* "churn N": N threads, CHURN_AT_ONCE of them at once, of CHURN_CALLS calls each. */
static int work_churn(void)
{
	int null = open("/dev/null", O_RDONLY);
	pthread_t threads[CHURN_AT_ONCE];
	char line[64];
	u32 n;

	while (work_line(line, sizeof(line))) {
		if (sscanf(line, "churn %u", &n) != 1)
			return 1;
		for (u32 done = 0; done < n; done += CHURN_AT_ONCE) {
			for (u32 i = 0; i < CHURN_AT_ONCE; i++)
				if (pthread_create(&threads[i], NULL, live_shortly, &null))
					return 1;
			for (u32 i = 0; i < CHURN_AT_ONCE; i++)
				pthread_join(threads[i], NULL);
		}
		work_answer("churned\n");
	}
	return 0;
}

static void *call_for_ever(void *unused)
{
	const struct timespec pause = { .tv_nsec = 20000 };

	(void)unused;
	for (;;) {
		for (u32 i = 0; i < 50; i++)
			syscall(SYS_getppid);
		syscall(SYS_nanosleep, &pause, NULL);
	}
	return NULL;
}

/* Calls that go on while ebql attaches, and while it ends: until it is killed. */
static int work_spin(void)
{
	pthread_t thread;
	char line[64];

	while (work_line(line, sizeof(line))) {
		for (u32 i = 0; i < SPINNERS; i++)
			if (pthread_create(&thread, NULL, call_for_ever, NULL))
				return 1;
		work_answer("spinning\n");
	}
	return 0;
}

static int work(const char *mode)
{
	work_answer("pid %d\n", getpid());
	if (!strcmp(mode, "spin"))
		return work_spin();
	return !strcmp(mode, "block") ? work_block() : !strcmp(mode, "churn") ? work_churn() : 2;
}

/* --- What ebql says --- */

struct case_state {
	char name[64];
	struct watch watch;
	const char *path;
	bool is_delayed; /* ebql is, behind every third look at the clock */
	u32 window_ms;
	u64 n_calls;
	/* of the rows */
	u64 pairs, cells, counts;
	u64 pairs_of_pread;
	u32 n_bad_rows;
};

/* Columns n, h and perhaps nr. */
static void take_row(void *context, const struct line *line)
{
	struct case_state *c = context;
	u64 n = line_number(line, "n");
	u64 cells = line_cells(line, "h", NULL, NULL);

	c->pairs += n;
	c->cells += cells;
	c->counts += line_number(line, "h.count");
	if (line_number(line, "nr") == SYS_pread64)
		c->pairs_of_pread += n;
	if (cells != n || line_number(line, "h.count") != n ||
	    line_number(line, "h.min") > line_number(line, "h.max") ||
	    line_number(line, "h.sum") < line_number(line, "h.max"))
		c->n_bad_rows++;
}

static void print_ledger(const struct case_state *c)
{
	const struct reader_totals *t = &c->watch.reader.totals;

	print_message("%s: pairs %lu, never started %lu, began before %lu, expired %lu, negative "
		      "%lu; never ended %lu, overwritten %lu, full %lu\n",
		      c->path ? c->path : "", c->pairs, t->never_started, t->began_before,
		      t->expired, t->negative, t->never_ended, t->overwritten, t->full);
}

/* Both sides of the ledger, by equality. */
static void expect_ledger(const struct case_state *c, u64 starts, u64 ends)
{
	const struct reader_totals *t = &c->watch.reader.totals;
	u64 ended = c->pairs + t->never_started + t->began_before + t->expired + t->negative;
	u64 started =
		c->pairs + t->never_ended + t->overwritten + t->full + t->expired + t->negative;

	if (ended != ends || started != starts)
		print_ledger(c);
	assert_int_equal(ended, ends);
	assert_int_equal(started, starts);
	assert_int_equal(t->matched, c->pairs);
	assert_int_equal(c->n_bad_rows, 0);
	assert_int_equal(c->cells, c->pairs);
	assert_int_equal(t->unpaired, t->never_started + t->began_before + t->never_ended +
					      t->overwritten + t->full + t->expired);
	assert_int_equal(t->lost, t->negative);
}

static int case_teardown(void **state)
{
	struct case_state *c = *state;

	watch_close(&c->watch);
	unsetenv("LD_PRELOAD");
	return 0;
}

static void open_case(struct case_state *c, const char *mode)
{
	watch_require();
	watch_open(&c->watch, take_row, c);
	if (mode)
		watch_work(&c->watch, mode);
}

#define SELECT_READV                                                                               \
	"SELECT count(*) AS n, histogram(latency) AS h FROM syscall:readv WHERE pid = %d"

/* --- Tests --- */

static void test_known_calls(void **state)
{
	struct case_state *c = *state;
	char calls[32];
	const char *args[] = { "--calls", calls, "--threads", "2", NULL };

	open_case(c, NULL);
	snprintf(calls, sizeof(calls), "%lu", c->n_calls);
	watch_start(&c->watch, proc_loadgen(), args);
	watch_ebql(&c->watch,
		   "SET access_path = %s; SELECT pid, comm, count(*) AS n, histogram(latency) AS h "
		   "FROM syscall:pread64 WHERE pid = %d GROUP BY pid, comm WINDOW TUMBLING %ums",
		   c->path, c->watch.pid, c->window_ms);
	watch_tell(&c->watch, "go", "total ");
	watch_end(&c->watch, 0);
	expect_ledger(c, c->n_calls, c->n_calls);
	assert_int_equal(c->pairs, c->n_calls);
	if (c->window_ms == 1)
		assert_true(c->watch.reader.totals.n_batches > 1);
}

static u32 n_churn(void)
{
	return is_quick ? 2000 : 100000;
}

static void test_churn(void **state)
{
	struct case_state *c = *state;
	char order[32];

	open_case(c, "churn");
	watch_ebql(&c->watch,
		   "SET access_path = %s; SELECT tid %% 64 AS slot, count(*) AS n, "
		   "histogram(latency) AS h FROM syscall:pread64 WHERE pid = %d GROUP BY slot "
		   "WINDOW TUMBLING 100ms",
		   c->path, c->watch.pid);
	snprintf(order, sizeof(order), "churn %u", n_churn());
	watch_tell(&c->watch, order, "churned");
	watch_end(&c->watch, 0);
	expect_ledger(c, (u64)n_churn() * CHURN_CALLS, (u64)n_churn() * CHURN_CALLS);
	assert_int_equal(c->watch.reader.totals.unpaired, 0);
}

/* exit(2) begins and never returns: starts of dead threads, more of them than slots. */
static void test_dead_starts(void **state)
{
	struct case_state *c = *state;
	char order[32];

	open_case(c, "churn");
	watch_ebql(&c->watch,
		   "SET access_path = %s; SELECT count(*) AS n, histogram(latency) AS h "
		   "FROM syscall:exit WHERE pid = %d WITH (max_in_flight = 1024)",
		   c->path, c->watch.pid);
	snprintf(order, sizeof(order), "churn %u", n_churn());
	watch_tell(&c->watch, order, "churned");
	watch_end(&c->watch, -1);
	expect_ledger(c, n_churn(), 0);
}

/* Dead starts take nothing away from the living: all calls in one table. */
static void test_churn_of_all(void **state)
{
	struct case_state *c = *state;
	char order[32];

	open_case(c, "churn");
	watch_ebql(&c->watch,
		   "SELECT nr, count(*) AS n, histogram(latency) AS h FROM syscall:* "
		   "WHERE pid = %d GROUP BY nr WINDOW TUMBLING 100ms",
		   c->watch.pid);
	snprintf(order, sizeof(order), "churn %u", n_churn() / 5);
	watch_tell(&c->watch, order, "churned");
	watch_end(&c->watch, -1);
	assert_int_equal(c->pairs_of_pread, (u64)n_churn() / 5 * CHURN_CALLS);
	assert_int_equal(c->n_bad_rows, 0);
	assert_int_equal(c->watch.reader.totals.matched, c->pairs);
	assert_int_equal(c->watch.reader.totals.lost, 0);
	assert_int_equal(c->watch.reader.totals.full, 0);
}

/* A killed thread's call does return, or it never ends; it is counted in any case. */
static void test_killed(void **state)
{
	struct case_state *c = *state;

	open_case(c, "block");
	watch_ebql(&c->watch, "SET access_path = %s; " SELECT_READV, c->path, c->watch.pid);
	watch_tell(&c->watch, "call 3", "called");
	watch_tell(&c->watch, "block", "blocked");
	proc_signal(&c->watch.work, SIGKILL);
	assert_int_equal(proc_wait_exit(&c->watch.work, 60000), 128 + SIGKILL);
	watch_end(&c->watch, -1);
	expect_ledger(c, 4 * BLOCKERS, 4 * BLOCKERS - c->watch.reader.totals.never_ended);
	assert_true(c->pairs >= 3 * BLOCKERS);
	assert_int_equal(c->watch.reader.totals.never_started, 0);
}

/* Calls under way when tracing begins: ends without starts, and nothing else goes wrong. */
static void test_attach_in_flight(void **state)
{
	struct case_state *c = *state;

	open_case(c, "block");
	watch_tell(&c->watch, "block", "blocked");
	watch_ebql(&c->watch, "SET access_path = %s; " SELECT_READV " WINDOW TUMBLING 10ms",
		   c->path, c->watch.pid);
	watch_tell(&c->watch, "release", "released");
	watch_tell(&c->watch, "call 5", "called");
	watch_end(&c->watch, 0);
	/* A function is left through the trampoline that it was entered by. */
	expect_ledger(c, 5 * BLOCKERS, (strcmp(c->path, "fentry") ? 6 : 5) * BLOCKERS);
	/* Where threads have slots of their own it is known that these were not seen to start. */
	if (!strcmp(c->path, "raw"))
		assert_int_equal(c->watch.reader.totals.began_before, BLOCKERS);
	else if (!strcmp(c->path, "tracepoint"))
		assert_int_equal(c->watch.reader.totals.never_started, BLOCKERS);
	assert_int_equal(c->pairs, 5 * BLOCKERS);
}

static void test_detach_in_flight(void **state)
{
	struct case_state *c = *state;

	open_case(c, "block");
	watch_ebql(&c->watch, "SET access_path = %s; " SELECT_READV " WINDOW TUMBLING 10ms",
		   c->path, c->watch.pid);
	watch_tell(&c->watch, "call 5", "called");
	watch_tell(&c->watch, "block", "blocked");
	watch_end(&c->watch, 0);
	expect_ledger(c, 6 * BLOCKERS, 5 * BLOCKERS);
	assert_int_equal(c->watch.reader.totals.never_ended, BLOCKERS);
	assert_int_equal(c->pairs, 5 * BLOCKERS);
}

/*
 * Another trampoline comes to the function while calls are in it: the kernel may let them out past
 * those that were there.  Then it is told, and the calls behind them are not touched.
 */
static void test_others_attach(void **state)
{
	const char *const other[] = { proc_ebql(), "--verbose",
				      "SET access_path = fentry; "
				      "SELECT count(*) FROM fexit:" CALL_PREFIX "readv",
				      NULL };
	struct case_state *c = *state;
	const struct reader_totals *t = &c->watch.reader.totals;
	struct proc ebql = { 0 };

	open_case(c, "block");
	watch_ebql(&c->watch, "SET access_path = fentry; " SELECT_READV, c->watch.pid);
	watch_tell(&c->watch, "call 3", "called");
	watch_tell(&c->watch, "block", "blocked");
	proc_start(&ebql, other, 0);
	assert_true(proc_wait_text(&ebql, "attached", 60000));
	watch_tell(&c->watch, "release", "released");
	watch_tell(&c->watch, "call 2", "called");
	watch_end(&c->watch, -1);
	expect_ledger(c, 6 * BLOCKERS, c->pairs);
	print_message("%lu of %u calls returned unseen\n", t->overwritten + t->never_ended,
		      BLOCKERS);
	assert_in_range(c->pairs, 5 * BLOCKERS, 6 * BLOCKERS);
}

/* More calls at once than there is room for: what is lost is told, what is left is right. */
static void test_too_small(void **state)
{
	struct case_state *c = *state;
	const struct reader_totals *t = &c->watch.reader.totals;

	open_case(c, "block");
	watch_ebql(&c->watch, "SET access_path = %s; SET max_in_flight = 16; " SELECT_READV,
		   c->path, c->watch.pid);
	watch_tell(&c->watch, "block", "blocked");
	watch_tell(&c->watch, "release", "released");
	watch_end(&c->watch, 3);
	expect_ledger(c, BLOCKERS, BLOCKERS);
	/* 16 places from which a key may start, the seven behind the last of them, and the eight
	 * that threads without a place of their own share. */
	assert_in_range(c->pairs, 8, 16 + 7 + 8);
	assert_true(t->full >= BLOCKERS - 31);
	assert_int_equal(t->never_ended, 0);
}

/*
 * Far more threads than slots, but few at once: those of threads that ended are no loss,
 * since others share what is kept for them.
 */
static void test_dead_threads(void **state)
{
	struct case_state *c = *state;
	const struct reader_totals *t = &c->watch.reader.totals;
	u32 n = is_quick ? 800 : 8000;
	char line[32];

	open_case(c, "churn");
	watch_ebql(&c->watch,
		   "SET access_path = %s; SET max_in_flight = 64; "
		   "SELECT count(*) AS n, histogram(latency) AS h FROM syscall:pread64 "
		   "WHERE pid = %d",
		   c->path, c->watch.pid);
	snprintf(line, sizeof(line), "churn %u", n);
	watch_tell(&c->watch, line, "churned");
	watch_end(&c->watch, -1);
	expect_ledger(c, (u64)n * CHURN_CALLS, (u64)n * CHURN_CALLS);
	/* At most 16 at once in 64 places and more: eight of them may want the same eight. */
	assert_true(t->full * 100 <= c->pairs);
}

/* Two sources of one hook see an event at one instant, whatever they store it for. */
static void test_one_time(void **state)
{
	struct case_state *c = *state;
	u64 n_calls = 20 * BLOCKERS;

	open_case(c, "block");
	watch_ebql(&c->watch,
		   "SET access_path = %s; SELECT count(*) AS n, histogram(s.latency) FILTER "
		   "(WHERE s.start_time = e.time) AS h FROM syscall:readv AS s ASOF JOIN "
		   "tracepoint:syscalls:sys_enter_readv AS e ON s.tid = e.tid AND s.time >= e.time "
		   "WHERE s.pid = %d",
		   c->path, c->watch.pid);
	watch_tell(&c->watch, "call 20", "called");
	watch_end(&c->watch, -1);
	assert_int_equal(c->pairs, n_calls);
	assert_int_equal(c->cells, n_calls);
}

/* One key for all threads: every CPU takes slots from every other. */
static void test_contended(void **state)
{
	struct case_state *c = *state;
	u32 n = is_quick ? 100 : 20000;
	char line[32];

	open_case(c, "block");
	watch_ebql(
		&c->watch,
		"SET access_path = %s; SELECT count(*) AS n, histogram(x.time - e.time) AS h FROM "
		"(SELECT pid, time FROM tracepoint:syscalls:sys_exit_readv WHERE pid = %d) AS x "
		"PAIR JOIN (SELECT pid, time FROM tracepoint:syscalls:sys_enter_readv "
		"WHERE pid = %d) AS e ON x.pid = e.pid",
		c->path, c->watch.pid, c->watch.pid);
	snprintf(line, sizeof(line), "call %u", n);
	watch_tell(&c->watch, line, "called");
	watch_end(&c->watch, -1);
	expect_ledger(c, (u64)n * BLOCKERS, (u64)n * BLOCKERS);
	assert_true(c->pairs >= (u64)n * BLOCKERS / 100 * 99);
}

/* Be it delayed: ebql alone, not what it watches. */
static void begin_spin(struct case_state *c, const char *path, const char *calls)
{
	open_case(c, "spin");
	watch_tell(&c->watch, "spin", "spinning");
	if (c->is_delayed)
		setenv("LD_PRELOAD", DELAY_LIBRARY, 1);
	watch_ebql(&c->watch,
		   "SET access_path = %s; SELECT count(*) AS n, histogram(latency) AS h "
		   "FROM syscall:%s WHERE pid = %d WINDOW TUMBLING 50ms",
		   path, calls, c->watch.pid);
	unsetenv("LD_PRELOAD");
}

static void end_spin(struct case_state *c)
{
	usleep(150000);
	watch_end(&c->watch, -1);
	assert_int_equal(c->is_delayed, strstr(c->watch.ebql.err_text.at, DELAY_MARK) != NULL);
	assert_int_equal(c->watch.reader.totals.overwritten, 0);
}

/*
 * Calls go on all the time.  None is overwritten, since each returns: not those either which begin
 * while the run begins.  That each start was taken, is counted or waits at its end, ebql sees
 * itself, or it is aborted; be it delayed where it begins and ends the run, or not.
 */
static void test_calls_go_on(void **state)
{
	struct case_state *c = *state;
	const struct reader_totals *t = &c->watch.reader.totals;

	for (u32 i = 0; i < 3; i++) {
		begin_spin(c, c->path, i ? "nanosleep" : "getppid");
		end_spin(c);
		assert_int_equal(t->full, 0);
		assert_int_equal(t->lost, 0);
		assert_in_range(t->never_ended, 0, SPINNERS);
		assert_true(c->pairs > 0);
		watch_close(&c->watch);
	}
	begin_spin(c, "auto", "*");
	end_spin(c);
}

/* Rows as they come: one a pair. */
static void test_streamed(void **state)
{
	struct case_state *c = *state;

	open_case(c, "block");
	c->watch.reader.row = NULL;
	c->watch.reader.is_cumulative = true;
	watch_tell(&c->watch, "block", "blocked");
	watch_ebql(&c->watch,
		   "SET access_path = %s; SELECT latency FROM syscall:readv WHERE pid = %d",
		   c->path, c->watch.pid);
	watch_tell(&c->watch, "release", "released");
	watch_tell(&c->watch, "call 20", "called");
	watch_tell(&c->watch, "block", "blocked");
	watch_end(&c->watch, 0);
	c->pairs = c->cells = c->watch.reader.totals.n_rows;
	expect_ledger(c, 21 * BLOCKERS, (strcmp(c->path, "fentry") ? 21 : 20) * BLOCKERS);
	assert_int_equal(c->pairs, 20 * BLOCKERS);
}

/* By its own function where the kernel takes a trampoline there; else it is told why not. */
static void test_explained(void **state)
{
	const char *const argv[] = { proc_ebql(), "explain", "SELECT count(*) FROM syscall:pread64",
				     NULL };
	const char *want =
		proc_has_trampolines()
			? "hook fexit " CALL_PREFIX "pread64 (typed)"
			: "no trampoline on its function: this kernel permits no trampolines";
	struct proc ebql = { 0 };

	watch_require();
	proc_start(&ebql, argv, 0);
	assert_int_equal(proc_wait_exit(&ebql, 60000), 0);
	if (!strstr(ebql.out_text.at, want))
		fail_msg("%s", ebql.out_text.at);
	proc_end_all();
}

static u64 calls_of(u32 window_ms)
{
	if (getenv("EBQL_TEST_LONG") || (window_ms == 1000 && !is_quick))
		return 6000000;
	return is_quick ? 30000 : 600000;
}

int main(int argc, char **argv)
{
	static const u32 windows_ms[] = { 1, 10, 100, 1000 };
	static const char *const paths[] = { "raw", "tracepoint", "fentry" };
	static const struct {
		const char *name;
		CMUnitTestFunction test;
	} others[] = {
		{ "churn", test_churn },
		{ "dead_starts", test_dead_starts },
		{ "killed", test_killed },
		{ "attach_in_flight", test_attach_in_flight },
		{ "detach_in_flight", test_detach_in_flight },
		{ "too_small", test_too_small },
		{ "streamed", test_streamed },
		{ "dead_threads", test_dead_threads },
		{ "contended", test_contended },
		{ "one_time", test_one_time },
		{ "calls_go_on", test_calls_go_on },
	};
	static struct case_state
		cases[ARRAY_SIZE(paths) * (ARRAY_SIZE(windows_ms) + ARRAY_SIZE(others) + 1) + 3];
	static struct CMUnitTest tests[ARRAY_SIZE(cases)];
	u32 n = 0, n_paths = ARRAY_SIZE(paths) - !proc_has_trampolines();

	if (argc == 3 && !strcmp(argv[1], "--work"))
		return work(argv[2]);
	is_quick = argc > 1 && !strcmp(argv[1], "--quick");
	for (u32 k = 0; k < n_paths; k++) {
		for (u32 i = 0; i < ARRAY_SIZE(windows_ms); i++, n++) {
			cases[n].window_ms = windows_ms[i];
			cases[n].n_calls = calls_of(windows_ms[i]);
			snprintf(cases[n].name, sizeof(cases[n].name), "known_%ums_%s_%lu_calls",
				 windows_ms[i], paths[k], cases[n].n_calls);
			tests[n].test_func = test_known_calls;
			cases[n].path = paths[k];
		}
		for (u32 i = 0; i < ARRAY_SIZE(others); i++) {
			/* Its returns are not joined to entries alone. */
			if (others[i].test == test_contended && !strcmp(paths[k], "fentry"))
				continue;
			snprintf(cases[n].name, sizeof(cases[n].name), "%s_%s", others[i].name,
				 paths[k]);
			tests[n].test_func = others[i].test;
			cases[n++].path = paths[k];
		}
		snprintf(cases[n].name, sizeof(cases[n].name), "calls_go_on_delayed_%s", paths[k]);
		tests[n].test_func = test_calls_go_on;
		cases[n].is_delayed = true;
		cases[n++].path = paths[k];
	}
	snprintf(cases[n].name, sizeof(cases[n].name), "churn_of_all");
	tests[n++].test_func = test_churn_of_all;
	snprintf(cases[n].name, sizeof(cases[n].name), "attach_explained_fentry");
	tests[n++].test_func = test_explained;
	if (proc_has_trampolines()) {
		snprintf(cases[n].name, sizeof(cases[n].name), "others_attach_fentry");
		tests[n++].test_func = test_others_attach;
	}
	for (u32 i = 0; i < n; i++) {
		tests[i].name = cases[i].name;
		tests[i].teardown_func = case_teardown;
		tests[i].initial_state = &cases[i];
	}
	if (argc > 1 && argv[argc - 1][0] != '-')
		cmocka_set_test_filter(argv[argc - 1]);
	return _cmocka_run_group_tests("pair", tests, n, NULL, NULL);
}
