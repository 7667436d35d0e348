/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * max_cpu: a flood ends the query that may not take so much, and no other; or the events of fewer
 * threads are taken, of each all of them.  What was left alone is told, to the event.
 */
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

#include "map_memory.h"
#include "phys/maps.h"
#include "place.h"
#include "reader.h"

enum {
	THREADS = 64,
	CALLS_EACH = 500,
	FLOOD_EACH = 100,
	BURST = 100000,
	ACCOUNT_NS = 7,
	SAMPLE_NS = 11000 + ACCOUNT_NS, /* by the table */
	WAKES = 50,
	TURNS = 100
};

/* That nobody else makes: what is left alone is counted ahead of WHERE. */
#define RARE	  SYS_sched_rr_get_interval
#define RARE_NAME "tracepoint:syscalls:sys_enter_sched_rr_get_interval"

/* --- Threads that call --- */

/* They flood, or wait; or make CALLS_EACH calls of another argument, once. */
enum order { ORDER_WAIT, ORDER_FLOOD, ORDER_CALL, ORDER_END };
static enum order order;
static u32 n_done;
static u64 n_flooded;
static u32 tids[THREADS];

static void *work(void *number)
{
	bool has_called = false;
	enum order now;

	__atomic_store_n(&tids[number ? (long)number - 1 : 0], (u32)syscall(SYS_gettid),
			 __ATOMIC_RELEASE);
	while ((now = __atomic_load_n(&order, __ATOMIC_ACQUIRE)) != ORDER_END) {
		if (now == ORDER_FLOOD) {
			__atomic_add_fetch(&n_flooded, FLOOD_EACH, __ATOMIC_RELAXED);
			for (u32 i = 0; i < FLOOD_EACH; i++)
				syscall(RARE, 1, NULL);
			/* Of many threads the hooks alone would be too much. */
			if (number)
				usleep(10000);
			continue;
		}
		for (u32 i = 0; now == ORDER_CALL && !has_called && i < CALLS_EACH; i++)
			syscall(RARE, 2, NULL);
		if (now == ORDER_CALL && !has_called)
			__atomic_add_fetch(&n_done, 1, __ATOMIC_RELEASE);
		has_called |= now == ORDER_CALL;
		usleep(5000);
	}
	return NULL;
}

static void tell(enum order what)
{
	__atomic_store_n(&order, what, __ATOMIC_RELEASE);
}

/* --- Fewer threads --- */

static struct {
	u64 one_in, n_settled, n_rows; /* as the latest batch says; batches that say the same */
	u64 counts[THREADS];
	u64 n_others, n_all, n_left; /* n_left: told as left alone */
	bool is_over;
} seen;

static void take_row(void *context, const struct line *line)
{
	u64 arg = line_number(line, "arg");

	for (u32 i = 0; i < THREADS && arg == 2; i++)
		if (tids[i] == line_number(line, "tid"))
			seen.counts[i] += line_number(line, "n");
	seen.n_others += arg == 1;
	seen.n_all += line_number(line, "n");
}

static void take_batch(void *context, const struct line *line)
{
	u64 one_in = MAX(line_number(line, "_batch.sampled"), 1ull);
	u64 before = line_number(line, "_batch.sampled_before");

	seen.n_settled = one_in > 1 && one_in == before ? seen.n_settled + 1 : 0;
	seen.one_in = one_in;
	seen.n_left += line_number(line, "_batch.lost.over_budget");
	seen.is_over |= line_leaf(line, "_batch.over_budget") != NULL;
}

/* As the manual says which they are. */
static bool is_taken(u32 tid, u64 one_in)
{
	return tid * 2654435761u < (1ull << 32) / one_in;
}

static void wait_batches(struct proc *ebql, u64 n)
{
	seen.n_settled = 0;
	for (u32 i = 0; i < 600 && seen.n_settled < n && ebql->status < 0; i++)
		proc_pump(100);
	assert_true(seen.n_settled >= n);
}

static void test_sample(void **state)
{
	struct reader reader;
	struct proc ebql = { 0 };
	pthread_t threads[THREADS];
	char query[512];
	u64 one_in, n_taken = 0;

	session_require();
	tell(ORDER_WAIT);
	n_flooded = 0;
	for (long i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, work, (void *)(i + 1)), 0);
	for (u32 i = 0; i < THREADS; i++)
		while (!__atomic_load_n(&tids[i], __ATOMIC_ACQUIRE))
			usleep(1000);
	snprintf(query, sizeof(query),
		 "SELECT tid, pid AS arg, kstack, count(*) AS n "
		 "FROM " RARE_NAME " WHERE current.pid = %d "
		 "GROUP BY tid, arg, kstack WINDOW TUMBLING 200ms "
		 "WITH (max_cpu = '20%%', over_budget = 'sample')",
		 getpid());
	reader_init(&reader, take_row, NULL);
	reader.batch = take_batch;
	ebql.sink = reader_feed;
	ebql.sink_context = &reader;
	proc_start(&ebql,
		   (const char *const[]){ proc_ebql(), "-o", "json", "--verbose", query, NULL }, 0);
	assert_true(proc_wait_text(&ebql, "attached", LIMIT_MS));
	tell(ORDER_FLOOD);
	wait_batches(&ebql, 3);
	assert_true(seen.n_others > 0);
	tell(ORDER_WAIT);
	wait_batches(&ebql, 2);
	one_in = seen.one_in;
	tell(ORDER_CALL);
	while (__atomic_load_n(&n_done, __ATOMIC_ACQUIRE) < THREADS)
		proc_pump(10);
	wait_batches(&ebql, 2);
	tell(ORDER_END);
	proc_signal(&ebql, SIGINT);
	assert_int_equal(proc_wait_exit(&ebql, LIMIT_MS), 3);
	for (u32 i = 0; i < THREADS; i++) {
		pthread_join(threads[i], NULL);
		assert_int_equal(seen.counts[i], is_taken(tids[i], one_in) ? CALLS_EACH : 0);
		n_taken += is_taken(tids[i], one_in);
	}
	assert_true(n_taken > 0 && n_taken < THREADS);
	assert_int_equal(seen.one_in, one_in);
	assert_int_equal(seen.n_all + seen.n_left, n_flooded + THREADS * CALLS_EACH);
	assert_false(seen.is_over);
	reader_free(&reader);
	proc_forget(&ebql);
}

/* --- Its memory --- */

static void start_rare(struct proc *ebql, const char *options)
{
	char query[256];

	snprintf(query, sizeof(query), "SELECT count(*) AS n FROM " RARE_NAME " WITH (%s)",
		 options);
	proc_start(ebql,
		   (const char *const[]){ proc_ebql(), "-o", "json", "--verbose", query, NULL }, 0);
	assert_true(proc_wait_text(ebql, "attached", LIMIT_MS));
}

/* Of a burst that user space is too late for each event is seen, or told as left alone. */
static void test_closed(void **state)
{
	static const struct {
		const char *options;
		u32 n_ahead; /* pass the mark, so long before that their second is over */
	} cases[] = {
		{ "max_cpu = '0.1%'", 0 },
		{ "max_cpu = '0.1%'", 2000 },
		{ "max_cpu = '0.1%', over_budget = 'sample'", 0 },
	};

	session_require();
	for (u32 i = 0; i < ARRAY_SIZE(cases); i++) {
		u32 n_all = cases[i].n_ahead + BURST;
		struct proc ebql = { 0 };
		const char *left;
		u64 n_seen, n_left;

		start_rare(&ebql, cases[i].options);
		kill(ebql.pid, SIGSTOP);
		for (u32 k = 0; k < n_all; k++) {
			if (k && k == cases[i].n_ahead)
				usleep(1100000);
			syscall(RARE, 1, NULL);
		}
		kill(ebql.pid, SIGCONT);
		assert_int_equal(proc_wait_exit(&ebql, LIMIT_MS), 1);
		n_seen = strtoull(ebql.out_text.at + strlen("{\"n\":"), NULL, 10);
		left = strstr(ebql.out_text.at, "\"over_budget\":");
		assert_non_null(left);
		n_left = strtoull(left + strlen("\"over_budget\":"), NULL, 10);
		assert_int_equal(n_seen + n_left, n_all);
		assert_true(n_seen > 0 && n_left > BURST / 2);
		proc_forget(&ebql);
	}
}

/*
 * Who is woken sets another mark at once, as ebql does, which stands still here: the program that
 * woke stores nothing over it, or nobody would be woken any more.
 */
static void test_marks(void **state)
{
	struct proc ebql = { 0 };
	struct budget *budget;
	u64 *taken, *made, n = 0;
	pthread_t thread;
	u32 since;

	session_require();
	since = newest_map();
	tell(ORDER_WAIT);
	start_rare(&ebql, "max_cpu = '1%'");
	kill(ebql.pid, SIGSTOP);
	budget = map_memory(since, "ebql_budget", PROT_READ | PROT_WRITE, 0);
	taken = map_memory(since, "ebql_wake", PROT_READ | PROT_WRITE, 0);
	made = map_memory(since, "ebql_wake", PROT_READ, sysconf(_SC_PAGESIZE));
	/* A second may have four fifths of 10 ms, in sixteen steps, of which the last ends it. */
	assert_int_equal(budget->more_ns, 8000000 / 16 * 15);
	assert_int_equal(pthread_create(&thread, NULL, work, NULL), 0);
	tell(ORDER_FLOOD);
	for (u32 i = 0; i < WAKES; i++) {
		u64 before = __atomic_load_n(made, __ATOMIC_ACQUIRE);
		u64 end_ns = base_monotonic_ns() + LIMIT_MS / 6 * 1000000ull;

		__atomic_store_n(taken, before, __ATOMIC_RELEASE);
		__atomic_store_n(&budget->limit_ns, UINT64_MAX, __ATOMIC_RELAXED);
		__atomic_store_n(&budget->mark_ns, budget->spent_ns + 20000, __ATOMIC_RELAXED);
		while (__atomic_load_n(made, __ATOMIC_ACQUIRE) == before &&
		       base_monotonic_ns() < end_ns)
			sched_yield();
		n += *made != before;
		assert_int_equal(n, i + 1);
	}
	tell(ORDER_END);
	pthread_join(thread, NULL);
	kill(ebql.pid, SIGKILL);
	proc_wait_exit(&ebql, LIMIT_MS);
	proc_forget(&ebql);
}

/* --- Idle CPUs --- */

static void *wake_up(void *cpu_number)
{
	cpu_set_t cpu;

	CPU_ZERO(&cpu);
	CPU_SET((long)cpu_number, &cpu);
	sched_setaffinity(0, sizeof(cpu), &cpu);
	prctl(PR_SET_NAME, "ebql-turns");
	for (u32 i = 0; i < TURNS; i++)
		usleep(500);
	return NULL;
}

static void take_idle(void *context, const struct line *line)
{
	u64 *one_in = context, cpu = line_number(line, "cpu");

	seen.n_all += line_number(line, "n");
	if (line_number(line, "tid") == 0)
		assert_true(is_taken((u32)~cpu, *one_in));
}

/* The idle threads are taken as others are, that of each CPU or not: not all for their one id. */
static void test_idle(void **state)
{
	u32 n_cpus = (u32)sysconf(_SC_NPROCESSORS_ONLN);

	session_require();
	for (u64 one_in = 2; one_in <= 4; one_in *= 2) {
		struct proc ebql = { 0 };
		struct budget *budget;
		struct reader reader;
		u32 since = newest_map();

		memset(&seen, 0, sizeof(seen));
		reader_init(&reader, take_idle, &one_in);
		reader.batch = take_batch;
		ebql.sink = reader_feed;
		ebql.sink_context = &reader;
		proc_start(&ebql,
			   (const char *const[]){
				   proc_ebql(), "-o", "json", "--verbose",
				   "SELECT tid, cpu, count(*) AS n FROM "
				   "tracepoint:sched:sched_switch WHERE next_comm = 'ebql-turns' "
				   "GROUP BY tid, cpu WITH (max_cpu = '10000%')",
				   NULL },
			   0);
		assert_true(proc_wait_text(&ebql, "attached", LIMIT_MS));
		budget = map_memory(since, "ebql_budget", PROT_READ | PROT_WRITE, 0);
		__atomic_store_n(&budget->threshold, BUDGET_ALL / one_in, __ATOMIC_RELAXED);
		for (long cpu = 0; cpu < MIN(n_cpus, 4); cpu++) {
			pthread_t thread;

			assert_int_equal(pthread_create(&thread, NULL, wake_up, (void *)cpu), 0);
			pthread_join(thread, NULL);
		}
		proc_signal(&ebql, SIGINT);
		assert_int_equal(proc_wait_exit(&ebql, LIMIT_MS), 3);
		/* Others' switches are among those that were left alone. */
		assert_true(seen.n_left > 0);
		assert_true(seen.n_all + seen.n_left >= (u64)MIN(n_cpus, 4) * TURNS);
		reader_free(&reader);
		proc_forget(&ebql);
	}
}

/* --- The price of a hook --- */

/* What it measures reading the clock to take; head: of which machine the file is. */
static double calibrate(const char *path, char *head, size_t bytes)
{
	struct proc ebql = { 0 };
	struct buf costs;
	double clock_ns;
	char *at;

	proc_start(&ebql,
		   (const char *const[]){ proc_ebql(), "calibrate", "-n", "1", "-o", "csv", NULL },
		   0);
	assert_int_equal(proc_wait_exit(&ebql, 2 * LIMIT_MS), 0);
	proc_forget(&ebql);
	buf_init(&costs);
	assert_int_equal(buf_read_file(&costs, path, 65536), 0);
	buf_puts(&costs, "");
	at = strstr(costs.at, "\nclock ");
	assert_non_null(at);
	clock_ns = strtod(at + strlen("\nclock "), NULL);
	at = strstr(costs.at, "\nraw_call ");
	assert_non_null(at);
	snprintf(head, bytes, "%.*s", (int)(at - costs.at), costs.at);
	buf_free(&costs);
	return clock_ns;
}

static void write_costs(const char *path, const char *head, double clock_ns)
{
	FILE *file = fopen(path, "we");

	assert_non_null(file);
	fprintf(file, "%s\ntracepoint_call 100 1\nclock %.2f 1\naccount 20 1\nend\n", head,
		clock_ns);
	fclose(file);
}

/* The least of the latest means; each charge is `part` (in 65536ths) of reading the clock. */
static u64 check_prices(struct budget_line *line, u64 part)
{
	u64 least = UINT64_MAX;

	for (u32 i = 0; i < 10000; i++) {
		u64 charged = line->hooks_owed, clock = line->clock;

		/* Of a CPU that is slow. */
		if (i == 5000)
			line->clock = clock = 8 * 1000;
		syscall(RARE, 1, NULL);
		if (line->hooks_owed)
			assert_int_equal(line->hooks_owed - charged, clock * part >> 16);
		if (i >= 9000)
			least = MIN(least, line->clock);
	}
	return least;
}

/* Of a machine that was calibrated a hook costs what it does at the CPU's speed. */
static void test_speed(void **state)
{
	struct place *p = *state;
	struct proc *ebql = &p->session->ebql;
	char path[128], head[512];
	struct budget_line *line;
	cpu_set_t cpus, here;
	u32 since, cpu = (u32)sched_getcpu();
	double clock_ns;
	u64 known, mean;

	session_require();
	setenv("XDG_STATE_HOME", p->folder, 1);
	snprintf(path, sizeof(path), "%s/ebql/costs", p->folder);
	calibrate(path, head, sizeof(head));
	/* Another clock, or a machine that was slow then: that is forgotten. */
	write_costs(path, head, BUDGET_CLOCK_MOST_NS);
	clock_ns = calibrate(path, head, sizeof(head));
	assert_true(clock_ns >= BUDGET_CLOCK_LEAST_NS);
	assert_true(clock_ns < BUDGET_CLOCK_MOST_NS / BUDGET_CLOCK_TIMES);
	write_costs(path, head, clock_ns);
	known = (u64)(8 * clock_ns);
	since = newest_map();
	start_rare(ebql, "max_cpu = '5%', access_path = tracepoint");
	setenv("XDG_STATE_HOME", "/nonexistent", 1);
	line = (struct budget_line *)((struct budget *)map_memory(since, "ebql_budget",
								  PROT_READ | PROT_WRITE, 0) +
				      1) +
	       cpu;
	assert_int_equal(line->clock, known);
	CPU_ZERO(&here);
	CPU_SET(cpu, &here);
	sched_getaffinity(0, sizeof(cpus), &cpus);
	sched_setaffinity(0, sizeof(here), &here);
	mean = check_prices(line, (u64)(8 * (100 + 20) / (double)known * 65536));
	sched_setaffinity(0, sizeof(cpus), &cpus);
	/* It was read in truth: neither always nothing nor always much, which are cut. */
	assert_in_range(mean, known / BUDGET_CLOCK_TIMES + 8, known * BUDGET_CLOCK_TIMES - 8);
	proc_signal(ebql, SIGINT);
	assert_int_equal(proc_wait_exit(ebql, LIMIT_MS), 0);
}

/* --- Too much --- */

static void test_detach(void **state)
{
	struct proc ebql = { 0 };
	pthread_t thread;
	char query[256];
	u64 n;

	session_require();
	tell(ORDER_WAIT);
	n_flooded = 0;
	snprintf(query, sizeof(query),
		 "SELECT count(*) AS n FROM " RARE_NAME " "
		 "WHERE current.pid = %d WITH (max_cpu = '1%%')",
		 getpid());
	proc_start(&ebql,
		   (const char *const[]){ proc_ebql(), "-o", "json", "--verbose", query, NULL }, 0);
	assert_true(proc_wait_text(&ebql, "attached", LIMIT_MS));
	assert_int_equal(pthread_create(&thread, NULL, work, NULL), 0);
	tell(ORDER_FLOOD);
	assert_int_equal(proc_wait_exit(&ebql, LIMIT_MS), 1);
	tell(ORDER_END);
	pthread_join(thread, NULL);
	assert_non_null(strstr(ebql.err_text.at, "error[over-budget]: the query took "));
	assert_non_null(strstr(ebql.err_text.at,
			       " where max_cpu allows 1.00 % in a second: it was detached"));
	/* What would help: what the hooks alone cost is known by then. */
	assert_non_null(strstr(ebql.err_text.at, "whether it is taken or not; a stream of fewer "
						 "events helps, or max_cpu = '"));
	assert_non_null(
		strstr(ebql.out_text.at, "\"over_budget\":true,\"snapshot\":true,\"last\":true"));
	/* What came behind the end is told by nobody; calls of others cost their hook, too. */
	n = strtoull(ebql.out_text.at + strlen("{\"n\":"), NULL, 10);
	assert_true(n < n_flooded);
	proc_forget(&ebql);
}

static u64 hooks_charged_eighths(const struct budget *budget, u32 n_cpus)
{
	const struct budget_line *lines = (const struct budget_line *)(budget + 1);
	u64 sum = 8 * budget->hook_ns;

	for (u32 i = 0; i < n_cpus; i++)
		sum += lines[i].hooks_owed;
	return sum;
}

/*
 * What comes seldom is charged as what it is, from the first event on: each sample the table's
 * cost, and no event what the first of all took.
 */
static void test_quiet(void **state)
{
	static const char *const queries[] = {
		"SELECT count(*) AS n FROM profile:99 WITH (max_cpu = '100%')",
		"SELECT count(*) AS n FROM tracepoint:sched:sched_process_exit "
		"WITH (max_cpu = '1%')",
	};
	struct proc ebql[2] = { 0 };
	struct budget *budget = NULL;
	u64 n = 0, charged;

	session_require();
	for (u32 i = 0; i < 2; i++) {
		u32 since = newest_map();

		proc_start(&ebql[i],
			   (const char *const[]){ proc_ebql(), "-d", "1", "-o", "json", "--verbose",
						  queries[i], NULL },
			   0);
		assert_true(proc_wait_text(&ebql[i], "attached", LIMIT_MS));
		if (i == 0)
			budget = map_memory(since, "ebql_budget", PROT_READ, 0);
	}
	/* 3: the kernel skipped samples, as it may. */
	for (u32 i = 0; i < 2; i++) {
		int status = proc_wait_exit(&ebql[i], LIMIT_MS);

		assert_true(status == 0 || (i == 0 && status == 3));
		assert_null(strstr(ebql[i].err_text.at, "over-budget"));
		assert_null(strstr(ebql[i].out_text.at, "over_budget"));
		if (i == 0)
			n = strtoull(ebql[i].out_text.at + strlen("{\"n\":"), NULL, 10);
		proc_forget(&ebql[i]);
	}
	/* Some came behind the last batch. */
	charged = hooks_charged_eighths(budget, (u32)sysconf(_SC_NPROCESSORS_CONF));
	assert_true(n > 0);
	assert_int_equal(charged % (8 * SAMPLE_NS), 0);
	assert_in_range(charged / (8 * SAMPLE_NS), n, 2 * n + 100);
	/* The mean begins with BUDGET_FIRST, and no event may add more than BUDGET_MORE_NS / 8. */
	n = charged / (8 * SAMPLE_NS);
	assert_true(budget->spent_ns - budget->hook_ns <=
		    n * (BUDGET_FIRST + n * BUDGET_MORE_NS / 8));
}

static double surveyed_ns(const char *query)
{
	struct proc ebql = { 0 };
	const char *at;
	double ns;

	proc_start(&ebql,
		   (const char *const[]){ proc_ebql(), "survey", "-q", "-d", "100ms", "-o", "json",
					  query, NULL },
		   0);
	assert_int_equal(proc_wait_exit(&ebql, LIMIT_MS), 0);
	at = strstr(ebql.out_text.at, "\"ns_per_event\":");
	assert_non_null(at);
	ns = strtod(at + strlen("\"ns_per_event\":"), NULL);
	proc_forget(&ebql);
	return ns;
}

/* What it itself takes is part of what is expected, of each event once. */
static void test_expected(void **state)
{
	double without, with;

	session_require();
	without = surveyed_ns("SELECT count(*) FROM " RARE_NAME);
	with = surveyed_ns("SELECT count(*) FROM " RARE_NAME " WITH (max_cpu = '50%')");
	assert_true(without > 0);
	assert_true(with == without + ACCOUNT_NS);
	/* Of one part that reads them twice. */
	without = surveyed_ns("SELECT count(*) FROM (SELECT cpu FROM " RARE_NAME
			      " UNION ALL SELECT pid FROM " RARE_NAME ")");
	with = surveyed_ns("SELECT count(*) FROM (SELECT cpu FROM " RARE_NAME
			   " UNION ALL SELECT pid FROM " RARE_NAME ") WITH (max_cpu = '50%')");
	assert_true(with == without + ACCOUNT_NS);
}

/* Of two in one program one has to go; the other one counts all calls. */
static void test_others(void **state)
{
	struct place *p = *state;
	const struct buf *err = &p->session->ebql.err_text;
	u64 n = 0;

	session_require();
	place_write(p, "free.sql",
		    "SELECT count(*) AS n " CALLS
		    "WINDOW TUMBLING 20ms WITH (out = 'json:%s/free.out')",
		    getpid(), p->folder);
	place_write(p, "poor.sql",
		    "SELECT count(*) AS n " CALLS
		    "WINDOW TUMBLING 20ms WITH (out = 'json:%s/poor.out', max_cpu = '1%%')",
		    getpid(), p->folder);
	place_start(p, p->folder, NULL);
	for (; !err->n || !strstr(err->at, "error[over-budget]"); n += 100000) {
		assert_true(n < 100000000);
		place_call(100000);
		proc_pump(0);
	}
	place_call(1000);
	place_wait_status(p, "\"state\":\"failed\"");
	place_end(p, SIGTERM, 1);
	assert_int_equal(place_sum(p, "free.out", "\"n\":"), n + 1000);
	assert_true(place_sum(p, "poor.out", "\"n\":") < n);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_detach),
		cmocka_unit_test(test_sample),
		cmocka_unit_test(test_closed),
		cmocka_unit_test(test_marks),
		cmocka_unit_test(test_idle),
		cmocka_unit_test_setup_teardown(test_speed, place_setup, place_teardown),
		cmocka_unit_test(test_quiet),
		cmocka_unit_test(test_expected),
		cmocka_unit_test_setup_teardown(test_others, place_setup, place_teardown),
	};

	/* The table's costs, and not those of this machine. */
	setenv("XDG_STATE_HOME", "/nonexistent", 1);
	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests_name("max_cpu", tests, NULL, NULL);
}
