/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Samples: this test, as a workload, touches pages, takes naps and burns CPU time in code at an
 * address that it knows; ebql counts that by perf events.  Of a clock the rows themselves tell
 * which samples there were not: that many must have been told as missed.  --cpus (guests only):
 * takes CPU 1 offline while that goes on.
 */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <linux/perf_event.h>

#include <cmocka.h>

#include "session.h"
#include "watch.h"

enum { PAGE_BYTES = 4096, PAGES = 3000, NAPS = 100, CPUS_MAX = 64, TRIES = 20 };
/* Long ones in slow guests, where interrupts come late and windows end late. */
static u64 period_ns = 20000000, busy_ns = 500000000;
static u32 n_periods = 30;

#define FIRST_PAGE 0x200000000000
#define HOT_PAGE   0x210000000000
#define TEXT_OF(x) #x
#define TEXT(x)	   TEXT_OF(x)

/* --- The workload --- */

static void *map_at(u64 address, size_t bytes, int prot)
{
	u8 *at = mmap((void *)address, bytes, prot,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

	if (at == MAP_FAILED || madvise(at, bytes, MADV_NOHUGEPAGE))
		_exit(1);
	return at;
}

/* Where no page is, each touched page is one fault at its address. */
static void touch_pages(void)
{
	size_t bytes = (size_t)PAGES * PAGE_BYTES;
	volatile u8 *pages = map_at(FIRST_PAGE, bytes, PROT_READ | PROT_WRITE);

	for (u32 i = 0; i < PAGES; i++)
		pages[(size_t)i * PAGE_BYTES] = 1;
	munmap((void *)pages, bytes);
}

static u64 n_switches(void)
{
	struct rusage usage;

	getrusage(RUSAGE_THREAD, &usage);
	return (u64)(usage.ru_nvcsw + usage.ru_nivcsw);
}

/*
 * Naps in a stretch that is known by the thread's name; how often it was switched away from there,
 * or 0 where that happened on the border.
 */
static u64 take_naps(const char *name)
{
	struct timespec nap = { .tv_nsec = 1000000 };
	u64 before = n_switches(), begin, end;

	prctl(PR_SET_NAME, name);
	begin = n_switches();
	for (u32 i = 0; i < NAPS; i++)
		nanosleep(&nap, NULL);
	end = n_switches();
	prctl(PR_SET_NAME, "between");
	return before == begin && end == n_switches() ? end - begin : 0;
}

static void nap(void)
{
	char name[16];
	u64 n = 0;

	for (u32 i = 0; !n; i++) {
		snprintf(name, sizeof(name), "nap%u", i);
		n = take_naps(name);
	}
	work_answer("%s %llu\n", name, (unsigned long long)n);
}

/*
 * hot(n, name, name_behind): n rounds of a loop, under a name of the thread that it sets and leaves
 * itself: with that name nothing else in user space is met by a sample, nor the way there.  It is
 * copied to an address of its own.
 */
#define HOT_BYTES 64
void hot_code(u64 n, const char *name, const char *name_behind);
#ifdef __x86_64__
__asm__(".pushsection .text\n"
	"hot_code:\n"
	"	mov %rdi, %r8\n"
	"	mov %rdx, %r9\n"
	"	mov $157, %eax\n" /* prctl(PR_SET_NAME, name) */
	"	mov $15, %edi\n"
	"	syscall\n"
	"1:	dec %r8\n"
	"	jnz 1b\n"
	"	mov $157, %eax\n"
	"	mov $15, %edi\n"
	"	mov %r9, %rsi\n"
	"	syscall\n"
	"	ret\n"
	".popsection\n");
#else
__asm__(".pushsection .text\n"
	"hot_code:\n"
	"	mov x9, x0\n"
	"	mov x10, x2\n"
	"	mov x8, #167\n" /* prctl(PR_SET_NAME, name) */
	"	mov x0, #15\n"
	"	svc #0\n"
	"1:	sub x9, x9, #1\n"
	"	cbnz x9, 1b\n"
	"	mov x0, #15\n"
	"	mov x1, x10\n"
	"	svc #0\n"
	"	ret\n"
	".popsection\n");
#endif

static void *burn(void *unused)
{
	void (*hot)(u64 n, const char *name, const char *name_behind) = (void *)HOT_PAGE;
	const u64 some = 1000000;
	u64 ns = busy_ns;

	memcpy((void *)HOT_PAGE, (void *)hot_code, HOT_BYTES);
	__builtin___clear_cache((char *)HOT_PAGE, (char *)HOT_PAGE + HOT_BYTES);
	for (u32 i = 0; i < 5; i++) {
		u64 begin_ns = base_monotonic_ns();

		hot(some, "between", "between");
		ns = MIN(ns, base_monotonic_ns() - begin_ns);
	}
	hot(some * (busy_ns / ns + 1), "burning", "between");
	return NULL;
}

/* Calls of the system, which a slow program can be hooked to; on each CPU. */
static void *call(void *unused)
{
	u64 begin_ns = base_monotonic_ns();

	while (base_monotonic_ns() - begin_ns < busy_ns)
		for (u32 i = 0; i < 100; i++)
			syscall(SYS_getppid);
	return NULL;
}

static void run_on_each_cpu(void *(*run)(void *))
{
	pthread_t threads[CPUS_MAX];
	u32 n = (u32)MIN(sysconf(_SC_NPROCESSORS_ONLN), CPUS_MAX);

	for (u32 i = 0; i < n; i++)
		if (pthread_create(&threads[i], NULL, run, NULL))
			_exit(1);
	for (u32 i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
}

static int work(void)
{
	char line[32];

	map_at(HOT_PAGE, PAGE_BYTES, PROT_READ | PROT_WRITE | PROT_EXEC);
	work_answer("pid %d\n", getpid());
	while (work_line(line, sizeof(line))) {
		if (!strcmp(line, "touch"))
			touch_pages();
		else if (!strcmp(line, "nap"))
			nap();
		else
			run_on_each_cpu(strcmp(line, "burn") ? call : burn);
		work_answer("done\n");
	}
	return 0;
}

/* --- What ebql saw of it --- */

/* Of a clock on one CPU: the rows lie at multiples of the period behind base_ns, each a little
 * late.
 */
struct clock {
	u64 first_ns, last_ns, base_ns, n_periods, n;
	u64 latest_ns; /* as base_ns, by the one that was the latest */
};

struct seen {
	struct watch watch, slow;
	u64 n, as_expected, sum, n_rows, missed;
	u64 period_ns, start_ns, end_ns; /* CLOCK_MONOTONIC */
	struct clock clocks[CPUS_MAX];
	u64 n_of_nap[NAPS];
};

static void take_row(void *context, const struct line *line)
{
	struct seen *s = context;

	s->n += line_number(line, "n");
	s->as_expected += line_number(line, "as_expected");
	s->sum += line_number(line, "total");
	s->n_rows++;
}

static void skip_row(void *context, const struct line *line)
{
}

static void take_batch(void *context, const struct line *line)
{
	struct seen *s = context;

	s->start_ns = line_number(line, "_batch.window_start");
	s->end_ns = line_number(line, "_batch.window_end");
	s->missed += line_number(line, "_batch.lost.missed");
}

static void take_sample(void *context, const struct line *line)
{
	struct seen *s = context;
	u64 cpu = line_number(line, "cpu"), time_ns = line_number(line, "time");
	struct clock *clock = &s->clocks[MIN(cpu, CPUS_MAX - 1)];

	take_row(context, line);
	if (!clock->n++)
		clock->base_ns = clock->latest_ns = clock->first_ns = clock->last_ns = time_ns;
	clock->n_periods += (time_ns - clock->last_ns + s->period_ns / 2) / s->period_ns;
	clock->base_ns = MIN(clock->base_ns, time_ns - clock->n_periods * s->period_ns);
	clock->latest_ns = MAX(clock->latest_ns, time_ns - clock->n_periods * s->period_ns);
	clock->last_ns = time_ns;
}

/* The first sample was due a period behind the start of its clock, which is nearly the run's. */
static u64 due(const struct seen *s, const struct clock *clock)
{
	u64 first_ns = clock->base_ns;

	while (first_ns > s->start_ns + s->period_ns * 3 / 2)
		first_ns -= s->period_ns;
	return (s->end_ns - first_ns) / s->period_ns + 1;
}

/* Each sample that was due is a row or told as missed. */
static void expect_clocks(const struct seen *s, u32 n_cpus)
{
	u64 n_due = 0, n = 0;

	for (u32 cpu = 0; cpu < n_cpus; cpu++) {
		assert_true(s->clocks[cpu].n > 0);
		n_due += due(s, &s->clocks[cpu]);
		n += s->clocks[cpu].n;
	}
	assert_int_equal(n + s->missed, n_due);
	assert_int_equal(n, s->n_rows);
}

static int setup(void **state)
{
	*state = calloc(1, sizeof(struct seen));
	return *state ? 0 : -1;
}

static int teardown(void **state)
{
	struct seen *s = *state;

	watch_close(&s->slow);
	watch_close(&s->watch);
	free(s);
	return 0;
}

static struct seen *begin(void **state, void (*row)(void *context, const struct line *line))
{
	struct seen *s = *state;

	watch_require();
	watch_open(&s->watch, row, s);
	s->watch.reader.batch = take_batch;
	watch_work(&s->watch, "");
	return s;
}

/*
 * Did no clock start half a period away from the run, or have a sample due as the run ended?  And,
 * where samples are mostly in time, did none come so late that it could be the next one: then
 * base_ns would be of none.
 */
static bool is_clear(const struct seen *s, bool is_in_time)
{
	for (u32 cpu = 0; cpu < CPUS_MAX; cpu++) {
		const struct clock *clock = &s->clocks[cpu];
		u64 to_end_ns = (s->end_ns - clock->base_ns) % s->period_ns;
		u64 from_start_ns = (clock->base_ns - s->start_ns) % s->period_ns;

		if (clock->n &&
		    ((is_in_time && clock->latest_ns - clock->base_ns > s->period_ns / 4) ||
		     to_end_ns < s->period_ns / 4 || to_end_ns > s->period_ns * 3 / 4 ||
		     (from_start_ns > s->period_ns / 4 && from_start_ns < s->period_ns * 3 / 4)))
			return false;
	}
	return true;
}

/* For some periods and a half, while the workload does what the line says. */
static void run_for(struct seen *s, u32 n_periods, const char *line, const char *query)
{
	char duration[32];
	const char *argv[] = {
		proc_ebql(), "-o", "json", "--verbose", "-d", duration, query, NULL
	};
	struct watch *watch = &s->watch;
	int status;

	memset(s->clocks, 0, sizeof(s->clocks));
	s->n = s->as_expected = s->n_rows = s->missed = 0;
	snprintf(duration, sizeof(duration), "%llums",
		 (unsigned long long)(n_periods * s->period_ns + s->period_ns / 2) / 1000000);
	watch->ebql.sink = reader_feed;
	watch->ebql.sink_context = &watch->reader;
	proc_start(&watch->ebql, argv, 0);
	if (!proc_wait_text(&watch->ebql, "attached:", 30000))
		fail_msg("ebql did not attach: %s", watch->ebql.err_text.at);
	if (line)
		watch_tell(watch, line, "done\n");
	status = proc_wait_exit(&watch->ebql, 30000);
	assert_int_equal(status, s->missed ? 3 : 0);
	assert_string_equal(watch->reader.error, "");
	proc_forget(&watch->ebql);
}

/* Once more where a machine that did other work leaves it open what was due. */
static void watch_for(struct seen *s, u32 n_periods, const char *line, const char *format, ...)
{
	char query[1024];
	va_list args;
	u32 n = 0;

	va_start(args, format);
	vsnprintf(query, sizeof(query), format, args);
	va_end(args);
	do
		run_for(s, n_periods, line, query);
	while (!is_clear(s, n < TRIES / 4) && ++n < TRIES);
	assert_true(n < TRIES);
}

/* Each was counted, but those that the kernel left out: of whom these were nobody knows. */
static void expect_count(u64 n, u64 truth, u64 n_missed)
{
	assert_in_range(n, truth - MIN(truth, n_missed), truth);
}

/* Page i is touched once in each of two rounds, at i pages behind the first one. */
static void test_page_faults(void **state)
{
	struct seen *s = begin(state, take_row);

	watch_ebql(
		&s->watch,
		"SELECT count(*) AS n, sum((addr - " TEXT(
			FIRST_PAGE) ") / 4096) AS total, "
				    "count(*) FILTER (WHERE user_mode AND period = 1) AS as_expected "
				    "FROM software:page-faults:1 WHERE pid = %d "
				    "AND addr >= " TEXT(FIRST_PAGE) " AND addr < " TEXT(
					    FIRST_PAGE) " + %d * 4096 "
							"WINDOW TUMBLING 10ms",
		s->watch.pid, PAGES);
	watch_tell(&s->watch, "touch", "done\n");
	watch_tell(&s->watch, "touch", "done\n");
	watch_end(&s->watch, -1);
	expect_count(s->n, 2 * PAGES, s->missed);
	assert_int_equal(s->as_expected, s->n);
	if (s->n == 2 * PAGES)
		assert_int_equal(s->sum, PAGES * (PAGES - 1));
}

static void take_nap(void *context, const struct line *line)
{
	struct seen *s = context;
	unsigned nap;

	if (sscanf(line_text(line, "comm"), "nap%u", &nap) == 1)
		s->n_of_nap[MIN(nap, NAPS - 1u)] += line_number(line, "n");
}

/* Those that the kernel itself counted for the thread; one that it left out is missed. */
static void test_context_switches(void **state)
{
	struct seen *s = begin(state, take_nap);
	unsigned long long n;
	unsigned nap;

	watch_ebql(&s->watch,
		   "SELECT comm, count(*) AS n FROM software:context-switches:1 WHERE pid = %d "
		   "GROUP BY comm WINDOW TUMBLING 100ms",
		   s->watch.pid);
	watch_tell(&s->watch, "nap", "done\n");
	assert_int_equal(sscanf(s->watch.work.out_text.at, "nap%u %llu", &nap, &n), 2);
	watch_end(&s->watch, -1);
	assert_true(n > 0 && nap < NAPS);
	s->n = s->n_of_nap[nap];
	expect_count(s->n, n, s->missed);
}

static u32 n_online(void)
{
	return (u32)MIN(sysconf(_SC_NPROCESSORS_ONLN), CPUS_MAX);
}

/* A row each period, on one CPU. */
static void test_interval(void **state)
{
	struct seen *s = begin(state, take_sample);
	u32 cpu = 0;

	s->period_ns = period_ns;
	watch_for(s, n_periods, NULL, "SELECT time, cpu FROM interval:%ums",
		  (u32)(period_ns / 1000000));
	while (cpu < CPUS_MAX - 1 && !s->clocks[cpu].n)
		cpu++;
	assert_int_equal(s->clocks[cpu].n, s->n_rows);
	s->clocks[0] = s->clocks[cpu];
	expect_clocks(s, 1);
}

/* A sample each period on each CPU; those of the busy threads are in their loop. */
static void test_profile(void **state)
{
	struct seen *s = begin(state, take_sample);

	s->period_ns = period_ns;
	watch_for(s, n_periods, "burn",
		  "WITH samples AS (SELECT time, cpu, ip - %llu AS at, pid = %d AND "
		  "comm = 'burning' AND user_mode AS is_burning FROM profile:%u) "
		  "SELECT time, cpu, iif(is_burning, 1, 0) AS n, "
		  "iif(is_burning AND at >= 0 AND at < %u, 1, 0) AS as_expected FROM samples",
		  (unsigned long long)HOT_PAGE, s->watch.pid, (u32)(1000000000 / period_ns),
		  HOT_BYTES);
	expect_clocks(s, n_online());
	assert_true(s->n > 0);
	assert_int_equal(s->n, s->as_expected);
}

/* Beside a program that takes long, on a hook where the kernel lets no sample's program run. */
static void test_missed(void **state)
{
	struct seen *s = begin(state, take_sample);

	watch_open(&s->slow, skip_row, s);
	watch_ebql(
		&s->slow,
		"SET access_path = tracepoint; SELECT quantiles(time %% 7, 0.5), quantiles(time %% 9, 0.5), "
		"quantiles(time %% 11, 0.5), quantiles(time %% 13, 0.5), quantiles(time %% 17, 0.5) "
		"FROM tracepoint:syscalls:sys_enter_getppid WHERE pid = %d",
		s->watch.pid);
	s->period_ns = period_ns;
	watch_for(s, n_periods, "call", "SELECT time, cpu FROM profile:%u",
		  (u32)(1000000000 / period_ns));
	watch_end(&s->slow, 0);
	assert_true(s->missed > 0);
	expect_clocks(s, n_online());
}

static void write_query(const char *folder, const char *name, const char *query)
{
	char path[128], temporary[136];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s.sql", folder, name);
	snprintf(temporary, sizeof(temporary), "%s.new", path);
	file = fopen(temporary, "we");
	assert_non_null(file);
	fputs(query, file);
	assert_int_equal(fclose(file), 0);
	assert_int_equal(rename(temporary, path), 0);
}

/* Of two queries in one program the one that comes later has the events from then on. */
static void test_shared(void **state)
{
	struct seen *s = begin(state, take_row);
	char folder[] = "/tmp/ebql-test-sample-XXXXXX", query[512];
	const char *argv[] = { proc_ebql(), "watch", "-o", "json", folder, NULL };
	static const char *const names[] = { "n", "as_expected" };
	struct proc *ebql = &s->watch.ebql;

	assert_non_null(mkdtemp(folder));
	for (u32 i = 0; i < ARRAY_SIZE(names); i++) {
		snprintf(query, sizeof(query),
			 "SELECT count(*) AS %s FROM software:page-faults:1 WHERE pid = %d "
			 "AND addr >= " TEXT(FIRST_PAGE) " AND addr < " TEXT(
				 FIRST_PAGE) " + %d * 4096 "
					     "WINDOW TUMBLING 20ms",
			 names[i], s->watch.pid, PAGES);
		write_query(folder, names[i], query);
		if (!i) {
			ebql->sink = reader_feed;
			ebql->sink_context = &s->watch.reader;
			proc_start(ebql, argv, 0);
		}
		assert_true(
			proc_wait_text(ebql, i ? "its query runs" : "1 of 1 queries run", 30000));
		watch_tell(&s->watch, "touch", "done\n");
	}
	watch_end(&s->watch, -1);
	for (u32 i = 0; i < ARRAY_SIZE(names); i++) {
		snprintf(query, sizeof(query), "%s/%s.sql", folder, names[i]);
		unlink(query);
	}
	rmdir(folder);
	expect_count(s->n, 2 * PAGES, s->missed);
	expect_count(s->as_expected, PAGES, s->missed);
}

/* Where the machine counts no such events, that is said. */
static void test_hardware(void **state)
{
	struct perf_event_attr attr = { .type = PERF_TYPE_HARDWARE, .size = sizeof(attr) };
	struct seen *s = begin(state, take_row);
	int fd = (int)syscall(SYS_perf_event_open, &attr, -1, 0, -1, 0);
	const char *argv[] = { proc_ebql(), "-d",   "300ms",
			       "-o",	    "json", "SELECT count(*) AS n FROM hardware:cycles",
			       NULL };

	s->watch.ebql.sink = reader_feed;
	s->watch.ebql.sink_context = &s->watch.reader;
	proc_start(&s->watch.ebql, argv, 0);
	watch_tell(&s->watch, "call", "done\n");
	if (fd < 0) {
		assert_int_equal(proc_wait_exit(&s->watch.ebql, 30000), 1);
		assert_non_null(strstr(s->watch.ebql.err_text.at, "attach-failed"));
		assert_non_null(strstr(s->watch.ebql.err_text.at, "counts no such events"));
	} else {
		proc_wait_exit(&s->watch.ebql, 30000);
		assert_true(s->n > 0);
		close(fd);
	}
}

static void set_online(bool is_online)
{
	FILE *file = fopen("/sys/devices/system/cpu/cpu1/online", "we");

	assert_non_null(file);
	fputc('0' + is_online, file);
	assert_int_equal(fclose(file), 0);
	assert_int_equal(n_online(), 1 + is_online);
}

static void wait_batches(struct watch *watch, u64 n)
{
	u64 until = watch->reader.totals.n_batches + n;

	while (watch->reader.totals.n_batches < until) {
		assert_true(watch->ebql.out >= 0);
		proc_pump(100);
	}
}

/*
 * A CPU goes and comes again: while it is away nothing is due there, and what there is behind that
 * has no event: of a clock each period is missed, of others at least one in each window.
 */
static void test_cpus(void **state)
{
	static struct seen faults;
	struct seen *s = *state;
	u64 start_ns, gone_ns, away_ns, back_ns, int_ns, end_ns;

	s->period_ns = 50000000;
	watch_begin(&s->watch, take_row, s);
	s->watch.reader.batch = take_batch;
	watch_open(&s->slow, take_row, &faults);
	s->slow.reader.batch = take_batch;
	start_ns = base_monotonic_ns();
	watch_ebql(&s->watch, "SELECT count(*) AS n FROM profile:20 WINDOW TUMBLING 100ms");
	/* None of it comes, so that none can be missed for another reason. */
	watch_ebql(&s->slow,
		   "SELECT count(*) AS n FROM software:emulation-faults:1 WINDOW TUMBLING 100ms");
	wait_batches(&s->watch, 2);
	assert_int_equal(faults.missed, 0);
	set_online(false);
	gone_ns = base_monotonic_ns();
	wait_batches(&s->watch, 20);
	away_ns = base_monotonic_ns();
	/* One of these was looked at behind that. */
	wait_batches(&s->watch, 2);
	wait_batches(&s->slow, 2);
	assert_int_equal(faults.missed, 0);
	set_online(true);
	back_ns = base_monotonic_ns();
	wait_batches(&s->watch, 10);
	wait_batches(&s->slow, 2);
	assert_in_range(faults.missed, 1, s->slow.reader.totals.n_batches);
	int_ns = base_monotonic_ns();
	watch_end(&s->slow, 3);
	watch_end(&s->watch, 3);
	end_ns = base_monotonic_ns();
	assert_true(s->missed >= (int_ns - back_ns) / s->period_ns);
	assert_true(s->n + s->missed <= (end_ns - start_ns) / s->period_ns +
						(gone_ns - start_ns) / s->period_ns +
						(end_ns - away_ns) / s->period_ns + 3);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest cpus[] = { WATCH_TEST(test_cpus, struct seen) };
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_page_faults, setup, teardown),
		cmocka_unit_test_setup_teardown(test_context_switches, setup, teardown),
		cmocka_unit_test_setup_teardown(test_interval, setup, teardown),
		cmocka_unit_test_setup_teardown(test_profile, setup, teardown),
		cmocka_unit_test_setup_teardown(test_missed, setup, teardown),
		cmocka_unit_test_setup_teardown(test_shared, setup, teardown),
		cmocka_unit_test_setup_teardown(test_hardware, setup, teardown),
	};

	if (watch_is_quick(argc, argv)) {
		period_ns = 100000000;
		busy_ns = 1200000000;
		n_periods = 16;
	}
	if (argc == 3 && !strcmp(argv[1], "--work"))
		return work();
	if (argc == 2 && !strcmp(argv[1], "--cpus"))
		return cmocka_run_group_tests_name("sample", cpus, NULL, NULL);
	return cmocka_run_group_tests_name("sample", tests, NULL, NULL);
}
