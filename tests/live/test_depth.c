/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Running sums on this kernel: exact with two CPUs adding at once; run_queue_depth
 * against what is computed from a record of all its moves, the count of the switches and
 * the scheduler's own account of waiting; block_queue_depth on a loop device.
 */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "watch.h"

enum { WORKERS = 6, CPUS_MAX = 64, DEPTH_MAX = 64, TRIES = 4 };

#define RUN_NS 1500000000ull

/* --- Workloads --- */

struct worker {
	pthread_t thread;
	u32 number;
	int tid, wait_fd;
	bool is_done;
};

static void pin_to(size_t cpu, size_t n)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	for (size_t i = cpu; i < cpu + n; i++)
		CPU_SET(i, &set);
	sched_setaffinity(0, sizeof(set), &set); /* refused for CPUs that are not ours */
}

/* Busy, with naps; the even ones move from CPU to CPU. */
static void keep_busy(struct worker *w)
{
	u64 end_ns = base_monotonic_ns() + RUN_NS, random = 77 + w->number;
	size_t n_cpus = (size_t)sysconf(_SC_NPROCESSORS_ONLN);

	while (base_monotonic_ns() < end_ns) {
		u64 turn_ns;

		random = random * 6364136223846793005ull + 1442695040888963407ull;
		turn_ns = base_monotonic_ns() + (random >> 40) % 8000000;
		while (base_monotonic_ns() < turn_ns)
			;
		if (random >> 33 & 1)
			nanosleep(&(struct timespec){ 0, (random >> 44) % 3000000 }, NULL);
		if (w->number % 2 == 0)
			pin_to((random >> 50) % n_cpus, 1);
		else if ((random >> 57) % 8 == 0)
			pin_to(0, n_cpus);
	}
}

/* Waits in a read before and behind: it is at rest then. */
static void *worker_main(void *argument)
{
	struct worker *w = argument;
	char byte;

	__atomic_store_n(&w->tid, (int)syscall(SYS_gettid), __ATOMIC_RELEASE);
	if (read(w->wait_fd, &byte, 1) != 1)
		exit(1);
	keep_busy(w);
	__atomic_store_n(&w->is_done, true, __ATOMIC_RELEASE);
	if (read(w->wait_fd, &byte, 1) != 1)
		exit(1);
	return NULL;
}

/* Threads of the machine that run or could run now, but for the caller. */
static u64 n_runnable(void)
{
	FILE *file = fopen("/proc/loadavg", "r");
	u64 n = 1;

	if (file && fscanf(file, "%*s %*s %*s %lu", &n) != 1)
		n = 1;
	if (file)
		fclose(file);
	return n - 1;
}

/* "tids": the threads; "run": lets them go, answers "START END SUM N": of runnable threads. */
static int work_threads(void)
{
	struct worker workers[WORKERS] = { 0 };
	u64 start_ns, sum = 0, n = 0;
	char line[32], bytes[WORKERS] = { 0 };
	int fds[2];

	if (pipe(fds))
		return 1;
	for (u32 i = 0; i < WORKERS; i++) {
		workers[i].number = i;
		workers[i].wait_fd = fds[0];
		if (pthread_create(&workers[i].thread, NULL, worker_main, &workers[i]))
			return 1;
		while (!__atomic_load_n(&workers[i].tid, __ATOMIC_ACQUIRE))
			usleep(100);
	}
	work_answer("pid %d\n", getpid());
	while (work_line(line, sizeof(line))) {
		if (!strcmp(line, "tids")) {
			for (u32 i = 0; i < WORKERS; i++)
				work_answer("%d ", workers[i].tid);
			work_answer("tids\n");
			continue;
		}
		start_ns = base_monotonic_ns();
		if (write(fds[1], bytes, WORKERS) != WORKERS)
			return 1;
		for (u32 i = 0; i < WORKERS; i++)
			while (!__atomic_load_n(&workers[i].is_done, __ATOMIC_ACQUIRE)) {
				usleep(1000);
				sum += n_runnable();
				n++;
			}
		work_answer("%lu %lu %lu %lu ran\n", start_ns, base_monotonic_ns(), sum, n);
	}
	return 0;
}

enum { SWEEP_THREADS = 2, SWEEP_KEYS = 2000, SWEEP_ROUNDS = 60, FIRST_FD = 100000 };

static pthread_barrier_t sweep_barrier;

/* Calls that fail at once: the same new keys by all threads at the same time, then again. */
static void *sweep_main(void *argument)
{
	pin_to((size_t)argument, 1);
	pthread_barrier_wait(&sweep_barrier);
	for (int round = 0; round < SWEEP_ROUNDS; round++)
		for (int i = 0; i < SWEEP_KEYS; i++)
			syscall(SYS_lseek, FIRST_FD + i, 0, SEEK_SET);
	return NULL;
}

static int work_sweep(void)
{
	pthread_t threads[SWEEP_THREADS];
	char line[32];

	work_answer("pid %d\n", getpid());
	work_line(line, sizeof(line));
	pthread_barrier_init(&sweep_barrier, NULL, SWEEP_THREADS);
	for (size_t i = 0; i < SWEEP_THREADS; i++)
		if (pthread_create(&threads[i], NULL, sweep_main, (void *)i))
			return 1;
	for (u32 i = 0; i < SWEEP_THREADS; i++)
		pthread_join(threads[i], NULL);
	work_answer("ran\n");
	work_line(line, sizeof(line));
	return 0;
}

/* --- Sums with two CPUs at once --- */

struct move {
	u64 time_ns;
	s64 queued;
	u32 cpu, number;
	int tid;
	s8 change;
	bool is_switch;
};

struct depth {
	struct watch watch, other;
	u64 n_keys, n_calls; /* of the sweep */
	struct move *moves;
	u32 n_moves, moves_capacity;
	bool is_calm[CPUS_MAX]; /* a switch with queued = 0 was seen */
	u64 have[CPUS_MAX][DEPTH_MAX], want[CPUS_MAX][DEPTH_MAX], n_have;
	u32 cpu;
	u64 n_switches[3], n_depths, n_windows;
	u64 in_flight[2][DEPTH_MAX];
};

static int setup(void **state)
{
	*state = calloc(1, sizeof(struct depth));
	return *state ? 0 : -1;
}

static int teardown(void **state)
{
	struct depth *d = *state;

	if (d->other.is_started)
		watch_close(&d->other);
	watch_close(&d->watch);
	free(d->moves);
	free(d);
	return 0;
}

/* The sums of a key are 1, 2, ..., c, each once. */
static void take_key(void *context, const struct line *line)
{
	struct depth *d = context;
	u64 c = line_number(line, "c");

	assert_int_equal(line_number(line, "m"), c);
	assert_int_equal(line_number(line, "s"), c * (c + 1) / 2);
	d->n_keys++;
	d->n_calls += c;
}

static void test_two_cpus(void **state)
{
	struct depth *d = *state;

	watch_require();
	watch_open(&d->watch, take_key, d);
	watch_work(&d->watch, "sweep");
	watch_ebql(&d->watch,
		   "SELECT fd, count(*) AS c, max(n) AS m, sum(n) AS s FROM (SELECT fd, count(*) "
		   "OVER (PARTITION BY fd) AS n FROM tracepoint:syscalls:sys_enter_lseek WHERE "
		   "pid = %d AND fd >= %d) AS q GROUP BY fd",
		   d->watch.pid, FIRST_FD);
	watch_tell(&d->watch, "run", "ran\n");
	watch_end(&d->watch, 0);
	assert_int_equal(d->n_keys, SWEEP_KEYS);
	assert_int_equal(d->n_calls, SWEEP_THREADS * SWEEP_ROUNDS * SWEEP_KEYS);
}

/* --- run_queue_depth --- */

static bool is_true(const struct line *line, const char *path)
{
	const struct leaf *leaf = line_leaf(line, path);

	assert_true(leaf && leaf->kind == LEAF_BOOL);
	return leaf->integer != 0;
}

static void take_move(void *context, const struct line *line)
{
	struct depth *d = context;
	struct move *m;

	if (d->n_moves == d->moves_capacity) {
		d->moves_capacity = MAX(2 * d->moves_capacity, 4096u);
		d->moves = realloc(d->moves, d->moves_capacity * sizeof(*d->moves));
		BUG_ON(!d->moves);
	}
	m = &d->moves[d->n_moves];
	m->number = d->n_moves++;
	m->time_ns = line_number(line, "time");
	m->cpu = (u32)line_number(line, "cpu");
	m->change = (s8)line_leaf(line, "change")->integer;
	m->is_switch = is_true(line, "is_switch");
	m->queued = m->is_switch ? (s64)line_leaf(line, "queued")->integer : -1;
	m->tid = (int)line_number(line, "tid");
	BUG_ON(m->cpu >= CPUS_MAX);
	d->is_calm[m->cpu] |= m->queued == 0;
}

static int compare_moves(const void *a, const void *b)
{
	const struct move *x = a, *y = b;

	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	return (x->number > y->number) - (x->number < y->number);
}

static void take_depth(void *context, s64 lo, s64 hi, u64 n)
{
	struct depth *d = context;

	assert_true(lo >= 0 && hi == lo + 1 && lo < DEPTH_MAX);
	d->have[d->cpu][lo] += n;
	d->n_have += n;
}

static void take_cpu(void *context, const struct line *line)
{
	struct depth *d = context;

	d->cpu = (u32)line_number(line, "cpu");
	assert_int_equal(line_cells(line, "h", take_depth, d), line_number(line, "n"));
}

static bool is_worker(const int *tids, int tid)
{
	for (u32 i = 0; i < WORKERS; i++)
		if (tids[i] == tid)
			return true;
	return false;
}

/*
 * The view's definition, done over the record.  Returns the time that threads waited or
 * ran between the two instants.
 */
static u64 recompute(struct depth *d, const int *tids, u64 start_ns, u64 end_ns)
{
	s64 sum[CPUS_MAX] = { 0 }, calm[CPUS_MAX] = { 0 }, runnable_ns = 0;
	u64 since_ns[CPUS_MAX] = { 0 };
	bool is_calm[CPUS_MAX] = { 0 }, is_busy[CPUS_MAX] = { 0 };

	qsort(d->moves, d->n_moves, sizeof(*d->moves), compare_moves);
	for (u32 i = 0; i < d->n_moves; i++) {
		const struct move *m = &d->moves[i];
		u64 from_ns = MAX(since_ns[m->cpu], start_ns), to_ns = MIN(m->time_ns, end_ns);
		s64 depth;

		if (to_ns > from_ns)
			runnable_ns += (sum[m->cpu] - calm[m->cpu] + is_busy[m->cpu]) *
				       (s64)(to_ns - from_ns);
		since_ns[m->cpu] = m->time_ns;
		sum[m->cpu] += m->change;
		if (!m->is_switch)
			continue;
		is_busy[m->cpu] = m->tid != 0;
		depth = is_calm[m->cpu] ? sum[m->cpu] - calm[m->cpu] : m->queued;
		depth = MIN(MAX(depth, 0), m->queued);
		if (is_worker(tids, m->tid)) {
			assert_true(depth < DEPTH_MAX);
			d->want[m->cpu][depth]++;
		}
		if (m->queued == 0) {
			calm[m->cpu] = sum[m->cpu];
			is_calm[m->cpu] = true;
		}
	}
	return (u64)MAX(runnable_ns, 0);
}

/* Both know a switch with nothing queued of every CPU: their depths are the same from then on. */
static void wait_until_calm(struct depth *d)
{
	u32 n_cpus = (u32)sysconf(_SC_NPROCESSORS_ONLN);

	for (u64 end_ns = base_monotonic_ns() + 30000000000ull; base_monotonic_ns() < end_ns;) {
		u32 n = 0;

		for (u32 cpu = 0; cpu < CPUS_MAX; cpu++)
			n += d->is_calm[cpu];
		if (n == n_cpus)
			return;
		proc_pump(50);
	}
	print_message("SKIP: the machine is too busy\n");
	skip();
}

static bool depths_agree(struct depth *d)
{
	u64 start_ns, end_ns, sampled, n_samples, recorded, n_want = 0;
	int tids[WORKERS];
	const char *at;
	bool agree = true;

	watch_require();
	watch_open(&d->watch, take_cpu, d);
	watch_open(&d->other, take_move, d);
	watch_work(&d->watch, "threads");
	watch_tell(&d->watch, "tids", "tids\n");
	at = d->watch.work.out_text.at;
	assert_int_equal(sscanf(at, "%d %d %d %d %d %d", &tids[0], &tids[1], &tids[2], &tids[3],
				&tids[4], &tids[5]),
			 WORKERS);
	watch_ebql(&d->watch,
		   "SELECT cpu, histogram(depth, linear(0, %d, 1)) AS h, count(*) AS n FROM "
		   "run_queue_depth WHERE tid IN (%d, %d, %d, %d, %d, %d) GROUP BY cpu",
		   DEPTH_MAX, tids[0], tids[1], tids[2], tids[3], tids[4], tids[5]);
	watch_ebql(&d->other,
		   "SELECT time, cpu, change, is_switch, queued, tid FROM run_queue_moves");
	wait_until_calm(d);
	watch_tell(&d->watch, "run", "ran\n");
	assert_int_equal(sscanf(d->watch.work.out_text.at, "%lu %lu %lu %lu", &start_ns, &end_ns,
				&sampled, &n_samples),
			 4);
	watch_end(&d->watch, 0);
	watch_end(&d->other, 0);
	recorded = 1000 * recompute(d, tids, start_ns, end_ns) / (end_ns - start_ns);
	sampled = 1000 * sampled / MAX(n_samples, 1u);
	for (u32 cpu = 0; cpu < CPUS_MAX; cpu++)
		for (u32 i = 0; i < DEPTH_MAX; i++) {
			n_want += d->want[cpu][i];
			if (d->have[cpu][i] == d->want[cpu][i])
				continue;
			print_message("cpu %u, depth %u: %lu, the record says %lu\n", cpu, i,
				      d->have[cpu][i], d->want[cpu][i]);
			agree = false;
		}
	print_message("%lu switches, %u moves; on average %lu/1000 threads run or wait, of %lu "
		      "samples %lu/1000\n",
		      d->n_have, d->n_moves, recorded, n_samples, sampled);
	assert_int_equal(d->n_have, n_want);
	assert_true(n_want > 100);
	/* Samples are few, and see threads that sleep but were left in a queue: half apart. */
	assert_in_range(recorded, sampled / 2, sampled + sampled / 2);
	return agree;
}

/*
 * The record is in the order of its times, and a thread that is moved is added to a CPU's
 * sum from another one: where that is as near to a switch as the reading of the clock,
 * the orders differ.  That is rare, so it does not happen each time.
 */
static void test_recorded(void **state)
{
	struct depth *d = *state;

	for (u32 tries = 1; !depths_agree(d); tries++) {
		assert_true(tries < TRIES);
		watch_close(&d->other);
		watch_close(&d->watch);
		free(d->moves);
		memset(d, 0, sizeof(*d));
	}
}

static void take_count(void *context, const struct line *line)
{
	struct depth *d = context;
	u64 which = line_number(line, "which"), n = line_number(line, "n");

	assert_true(which == 1 || which == 2);
	d->n_switches[which] += n;
	if (which == 1) {
		d->n_depths += line_number(line, "d");
		return;
	}
	/* Ordered by `which`: both rows of the window are here. */
	assert_int_equal(d->n_switches[1], d->n_switches[2]);
	d->n_windows++;
}

/* As many depths as there are switches, in every window. */
static void test_totals(void **state)
{
	struct depth *d = *state;

	watch_require();
	watch_open(&d->watch, take_count, d);
	watch_work(&d->watch, "threads");
	watch_ebql(&d->watch,
		   "SELECT which, count(*) AS n, count(depth) AS d FROM (SELECT 1 AS which, depth "
		   "FROM run_queue_depth UNION ALL SELECT 2, NULL FROM "
		   "raw_tracepoint:sched_switch) AS u GROUP BY which WINDOW TUMBLING 50ms ORDER "
		   "BY which");
	watch_tell(&d->watch, "run", "ran\n");
	watch_end(&d->watch, 0);
	print_message("%lu switches in %lu windows\n", d->n_switches[2], d->n_windows);
	assert_int_equal(d->n_switches[1], d->n_switches[2]);
	assert_int_equal(d->n_depths, d->n_switches[1]);
	assert_true(d->n_windows >= 20 && d->n_switches[1] > 100);
}

/* --- block_queue_depth --- */

enum { DISK_BYTES = 16 << 20, IO_BYTES = 4096, IO_CALLS = 400, IO_THREADS = 4 };

static char disk_path[64], loop_path[32];

static void loop_command(const char *format, const char *path)
{
	char command[128], line[32] = "";
	FILE *pipe;

	snprintf(command, sizeof(command), format, path);
	pipe = popen(command, "r");
	if (pipe && fgets(line, sizeof(line), pipe))
		line[strcspn(line, "\n")] = 0;
	if (pipe && pclose(pipe) == 0)
		strcpy(loop_path, line);
}

static int disk_setup(void **state)
{
	int fd;

	loop_path[0] = 0;
	snprintf(disk_path, sizeof(disk_path), "/tmp/ebql-test-depth-%d.disk", getpid());
	fd = open(disk_path, O_CREAT | O_TRUNC | O_RDWR | O_CLOEXEC, 0600);
	if (fd >= 0 && !ftruncate(fd, DISK_BYTES) && geteuid() == 0)
		loop_command("losetup --find --show %s 2>/dev/null", disk_path);
	if (fd >= 0)
		close(fd);
	return setup(state);
}

static int disk_teardown(void **state)
{
	char path[32];

	teardown(state);
	strcpy(path, loop_path);
	if (path[0])
		loop_command("losetup --detach %s 2>/dev/null", path);
	unlink(disk_path);
	return 0;
}

static void *read_main(void *argument)
{
	u64 random = (u64)argument, n_bad = 0;
	int fd = open(loop_path, O_RDWR | O_DIRECT | O_CLOEXEC);
	void *buffer = NULL;

	n_bad += fd < 0 || posix_memalign(&buffer, IO_BYTES, IO_BYTES);
	for (u32 i = 0; i < IO_CALLS && !n_bad; i++) {
		off_t at;

		random = random * 6364136223846793005ull + 1442695040888963407ull;
		at = (off_t)(random >> 33) % (DISK_BYTES / IO_BYTES) * IO_BYTES;
		n_bad += (i % 4 ? pread(fd, buffer, IO_BYTES, at)
				: pwrite(fd, buffer, IO_BYTES, at)) != IO_BYTES;
	}
	free(buffer);
	close(fd);
	return (void *)n_bad;
}

static void take_in_flight(void *context, const struct line *line)
{
	struct depth *d = context;
	s128 depth = line_leaf(line, "depth")->integer;

	assert_true(depth >= 0 && depth < DEPTH_MAX);
	d->in_flight[is_true(line, "is_issue")][depth] += line_number(line, "n");
}

static void watch_disk(struct depth *d, u32 n_threads)
{
	pthread_t threads[IO_THREADS];
	struct stat stat_buf;

	watch_require();
	if (!loop_path[0]) {
		print_message("SKIP: no loop device can be made here\n");
		skip();
	}
	assert_int_equal(stat(loop_path, &stat_buf), 0);
	watch_open(&d->watch, take_in_flight, d);
	watch_ebql(&d->watch,
		   "SELECT is_issue, depth, count(*) AS n FROM block_queue_depth WHERE dev = %u "
		   "GROUP BY is_issue, depth",
		   major(stat_buf.st_rdev) << 20 | minor(stat_buf.st_rdev));
	for (u32 i = 0; i < n_threads; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, read_main, (void *)(u64)(i + 1)),
				 0);
	for (u32 i = 0; i < n_threads; i++) {
		void *n_bad;

		pthread_join(threads[i], &n_bad);
		assert_null(n_bad);
	}
	watch_end(&d->watch, 0);
}

/* One call at a time: one in flight when it is issued, none when it is done. */
static void test_block_one(void **state)
{
	struct depth *d = *state;

	watch_disk(d, 1);
	for (u32 i = 0; i < DEPTH_MAX; i++) {
		assert_int_equal(d->in_flight[1][i], i == 1 ? IO_CALLS : 0);
		assert_int_equal(d->in_flight[0][i], i == 0 ? IO_CALLS : 0);
	}
}

/* Up to each depth it goes as often as down from it, and never above the threads. */
static void test_block_many(void **state)
{
	struct depth *d = *state;
	u64 n = 0;

	watch_disk(d, IO_THREADS);
	for (u32 i = 0; i + 1 < DEPTH_MAX; i++) {
		assert_int_equal(d->in_flight[1][i + 1], d->in_flight[0][i]);
		assert_true(i + 1 <= IO_THREADS || !d->in_flight[1][i + 1]);
		n += d->in_flight[0][i];
	}
	assert_int_equal(n, IO_CALLS * IO_THREADS);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_two_cpus, setup, teardown),
		cmocka_unit_test_setup_teardown(test_recorded, setup, teardown),
		cmocka_unit_test_setup_teardown(test_totals, setup, teardown),
		cmocka_unit_test_setup_teardown(test_block_one, disk_setup, disk_teardown),
		cmocka_unit_test_setup_teardown(test_block_many, disk_setup, disk_teardown),
	};

	if (argc == 3 && !strcmp(argv[1], "--work"))
		return strcmp(argv[2], "sweep") ? work_threads() : work_sweep();
	return cmocka_run_group_tests_name("depth", tests, NULL, NULL);
}
