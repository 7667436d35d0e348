/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The views that ship with ebql against other accounts of the same: run_queue against
 * the kernel's own sum of waiting times, off_cpu against what sleepers measured, block_io
 * on a loop device against what was read and written, and against fio's log.
 */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "watch.h"

/* --- The workload of run_queue and off_cpu --- */

enum worker_kind { BUSY, MOVING, SLEEPING, WORKER_KINDS };

enum { BUSY_THREADS = 3, MOVING_THREADS = 2, SLEEPING_THREADS = 2, WORKERS = 7, CPUS_MAX = 1024 };

#define RUN_NS	  2000000000ull
#define RUN_TRIES 10
#define SLEEP_NS  3000000ull

struct worker {
	u32 number;
	enum worker_kind kind;
	pthread_t thread;
	int tid;
	int wait_fd;		/* a byte read here lets it go */
	u64 n_sleeps, slept_ns; /* its own measurement */
	u64 first_ns;		/* when it got its first turn */
	bool is_done;
};

static int cpus[CPUS_MAX];
static u32 n_cpus;

static void pin_to(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET((size_t)cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		exit(1);
}

static void run_worker(struct worker *w)
{
	u64 end_ns = base_monotonic_ns() + RUN_NS, now_ns, move_ns = 0;
	u32 place = 0;

	while ((now_ns = base_monotonic_ns()) < end_ns) {
		if (w->kind == MOVING && now_ns >= move_ns) {
			pin_to(cpus[place++ % n_cpus]);
			move_ns = now_ns + 5000000;
		}
		if (w->kind == SLEEPING) {
			nanosleep(&(struct timespec){ 0, SLEEP_NS }, NULL);
			w->slept_ns += base_monotonic_ns() - now_ns;
			w->n_sleeps++;
		}
	}
}

/* By a name: in a PID namespace run_queue has the kernel's numbers, and these threads others. */
static void name_worker(char *ret_comm, u32 i, int pid)
{
	snprintf(ret_comm, 16, "w%u-%d", i, pid);
}

/* Waits in a read before the run and behind it: both ends of the account are at rest. */
static void *worker_main(void *argument)
{
	struct worker *w = argument;
	char byte, comm[16];

	pin_to(cpus[n_cpus - 1]);
	name_worker(comm, w->number, getpid());
	prctl(PR_SET_NAME, comm);
	__atomic_store_n(&w->tid, (int)syscall(SYS_gettid), __ATOMIC_RELEASE);
	if (read(w->wait_fd, &byte, 1) != 1)
		exit(1);
	w->first_ns = base_monotonic_ns();
	run_worker(w);
	__atomic_store_n(&w->is_done, true, __ATOMIC_RELEASE);
	if (read(w->wait_fd, &byte, 1) != 1)
		exit(1);
	return NULL;
}

static char state_of(int tid)
{
	char path[64], text[256] = "", *at;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", tid);
	file = fopen(path, "r");
	at = file && fgets(text, sizeof(text), file) ? strrchr(text, ')') : NULL;
	if (file)
		fclose(file);
	return at ? at[2] : '?';
}

/* Nanoseconds that the thread waited for a CPU, as the scheduler sums them up. */
static u64 run_delay_ns(int tid)
{
	unsigned long run_ns = 0, delay_ns = 0;
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/task/%d/schedstat", tid);
	file = fopen(path, "r");
	if (file && fscanf(file, "%lu %lu", &run_ns, &delay_ns) != 2)
		delay_ns = 0;
	if (file)
		fclose(file);
	return delay_ns;
}

static void wait_at_rest(struct worker *workers)
{
	for (u32 i = 0; i < WORKERS; i++)
		while (state_of(workers[i].tid) != 'S')
			usleep(1000);
}

/*
 * "run": all for RUN_NS; answers "TID KIND DELAY SLEEPS SLEPT FIRST" for each, then "ran".
 * FIRST: until it got its first turn.
 */
static int work(void)
{
	struct worker workers[WORKERS] = { 0 };
	u64 before_ns[WORKERS], start_ns;
	int fds[2];
	char line[32], bytes[WORKERS] = { 0 };
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof(set), &set) || pipe(fds))
		return 1;
	for (int cpu = 0; cpu < CPUS_MAX; cpu++)
		if (CPU_ISSET((size_t)cpu, &set))
			cpus[n_cpus++] = cpu;
	for (u32 i = 0; i < WORKERS; i++) {
		workers[i].kind = i < BUSY_THREADS		      ? BUSY
				  : i < BUSY_THREADS + MOVING_THREADS ? MOVING
								      : SLEEPING;
		workers[i].wait_fd = fds[0];
		workers[i].number = i;
		if (pthread_create(&workers[i].thread, NULL, worker_main, &workers[i]))
			return 1;
		while (!__atomic_load_n(&workers[i].tid, __ATOMIC_ACQUIRE))
			usleep(100);
	}
	wait_at_rest(workers);
	work_answer("pid %d\n", getpid());
	if (!work_line(line, sizeof(line)))
		return 1;
	for (u32 i = 0; i < WORKERS; i++)
		before_ns[i] = run_delay_ns(workers[i].tid);
	start_ns = base_monotonic_ns();
	if (write(fds[1], bytes, WORKERS) != WORKERS)
		return 1;
	for (u32 i = 0; i < WORKERS; i++)
		while (!__atomic_load_n(&workers[i].is_done, __ATOMIC_ACQUIRE))
			usleep(1000);
	wait_at_rest(workers);
	for (u32 i = 0; i < WORKERS; i++)
		work_answer("%d %d %lu %lu %lu %lu\n", workers[i].tid, workers[i].kind,
			    run_delay_ns(workers[i].tid) - before_ns[i], workers[i].n_sleeps,
			    workers[i].slept_ns, workers[i].first_ns - start_ns);
	work_answer("ran\n");
	work_line(line, sizeof(line));
	return 0;
}

/* --- run_queue, off_cpu --- */

struct account {
	int tid;
	int kind;
	u64 delay_ns, n_sleeps, slept_ns, first_ns; /* the workload's */
	u64 n, sum_ns;				    /* ebql's */
};

#define CELLS_MAX 2048

struct views {
	struct watch watch;
	struct account accounts[WORKERS];
	struct {
		char comm[16];
		u64 n, sum_ns;
	} rows[16384]; /* one a name of threads */
	u32 n_rows;
	/* block_io */
	u64 n_reads, n_writes, bytes_read, bytes_written;
	u64 cells[CELLS_MAX], n_in_cells, max_ns;
};

static void take_comm(void *context, const struct line *line)
{
	struct views *v = context;
	const char *comm = line_text(line, "comm");
	u32 i = 0;

	while (i < v->n_rows && strcmp(v->rows[i].comm, comm) != 0)
		i++;
	BUG_ON(i == ARRAY_SIZE(v->rows));
	v->n_rows = MAX(v->n_rows, i + 1);
	snprintf(v->rows[i].comm, sizeof(v->rows[i].comm), "%s", comm);
	v->rows[i].n += line_number(line, "n");
	v->rows[i].sum_ns += line_number(line, "s");
}

static int views_setup(void **state)
{
	*state = calloc(1, sizeof(struct views));
	return *state ? 0 : -1;
}

static int views_teardown(void **state)
{
	struct views *v = *state;

	watch_close(&v->watch);
	free(v);
	return 0;
}

/* False: too much was lost, as by an interrupt's event that found another program at work. */
static bool run_workers(struct views *v, const char *query)
{
	const char *at;

	watch_require();
	watch_open(&v->watch, take_comm, v);
	watch_work(&v->watch, "threads");
	watch_ebql(&v->watch, "%s", query);
	watch_tell(&v->watch, "run", "ran\n");
	watch_end(&v->watch, -1);
	at = v->watch.work.out_text.at;
	for (u32 i = 0; i < WORKERS; i++, at = strchr(at, '\n') + 1) {
		struct account *a = &v->accounts[i];
		char comm[16];

		assert_int_equal(sscanf(at, "%d %d %lu %lu %lu %lu", &a->tid, &a->kind,
					&a->delay_ns, &a->n_sleeps, &a->slept_ns, &a->first_ns),
				 6);
		name_worker(comm, i, v->watch.pid);
		for (u32 k = 0; k < v->n_rows; k++)
			if (strcmp(v->rows[k].comm, comm) == 0) {
				a->n += v->rows[k].n;
				a->sum_ns += v->rows[k].sum_ns;
			}
	}
	return v->watch.reader.totals.lost <= v->watch.reader.totals.events / 1000;
}

static bool is_near(u64 have, u64 want, u64 percent, u64 slack)
{
	u64 differ = have > want ? have - want : want - have;

	return differ <= want * percent / 100 + slack;
}

/* Do the waits of each thread, and of all, last as long as the kernel says? */
static bool agrees_with_schedstat(struct views *v)
{
	u64 have = 0, want = 0;
	bool is_good = run_workers(
		v, "SELECT comm, count(*) AS n, sum(latency) AS s FROM run_queue GROUP BY comm "
		   "WINDOW TUMBLING 100ms");

	for (u32 i = 0; i < WORKERS; i++) {
		const struct account *a = &v->accounts[i];

		have += a->sum_ns;
		want += a->delay_ns;
		print_message("thread %u (kind %d): %lu waits, %lu ns, schedstat %lu ns\n", i,
			      a->kind, a->n, a->sum_ns, a->delay_ns);
		/* A wait begins a little before its event: up to 5 us each. */
		is_good &= is_near(a->sum_ns, a->delay_ns, 1, a->n * 5000);
	}
	if (want == 0) {
		print_message("SKIP: this kernel counts no run delay in schedstat\n");
		skip();
	}
	assert_true(want > RUN_NS / 2);
	return is_good && is_near(have, want, 1, 0);
}

/*
 * Tried again where they differ, or much was lost: a host that takes the CPU away between the
 * kernel's look at its clock and the event lengthens one wait by milliseconds, and other work on
 * the machine preempts those that go to sleep.
 */
static void try_until(struct views *v, bool (*agrees)(struct views *v))
{
	for (u32 tries = 0; !agrees(v); tries++) {
		assert_true(tries < RUN_TRIES);
		watch_close(&v->watch);
		memset(v, 0, sizeof(*v));
	}
}

/* Busy threads on one CPU, others that move, others that sleep between them. */
static void test_run_queue(void **state)
{
	try_until(*state, agrees_with_schedstat);
}

/* One row a sleep; together no longer than measured, no shorter than asked for. */
static bool agrees_with_sleepers(struct views *v)
{
	bool is_good = run_workers(v, "SELECT comm, count(*) AS n, sum(latency) AS s FROM off_cpu "
				      "WHERE state = 1 GROUP BY comm WINDOW TUMBLING 100ms");

	for (u32 i = 0; i < WORKERS; i++) {
		const struct account *a = &v->accounts[i];

		if (a->kind != SLEEPING)
			continue;
		print_message("thread %u: %lu times off in %lu sleeps, %lu ns of %lu ns\n", i, a->n,
			      a->n_sleeps, a->sum_ns, a->slept_ns);
		assert_true(a->n <= a->n_sleeps);
		assert_true(a->sum_ns <= a->slept_ns);
		/* A thread that is preempted while it goes to sleep is off as preempted. */
		is_good &= a->n_sleeps > 50 && a->n >= a->n_sleeps - a->n_sleeps / 50;
		/* The timer is set a little before the thread is switched out. */
		is_good &= a->sum_ns >= a->n * (SLEEP_NS - SLEEP_NS / 50);
	}
	return is_good;
}

static void test_off_cpu(void **state)
{
	try_until(*state, agrees_with_sleepers);
}

/* Preempted and blocked times apart: a busy thread is off its CPU for the one only. */
static bool agrees_with_busy(struct views *v)
{
	u64 have = 0, want = 0;
	bool is_good = run_workers(v, "SELECT comm, count(*) AS n, sum(latency) AS s FROM off_cpu "
				      "WHERE preempted GROUP BY comm WINDOW TUMBLING 100ms");

	for (u32 i = 0; i < WORKERS; i++) {
		const struct account *a = &v->accounts[i];

		if (a->kind != BUSY)
			continue;
		/* It waits for its first turn too, which no preemption began. */
		have += a->sum_ns + a->first_ns;
		want += a->delay_ns;
	}
	assert_true(want > RUN_NS / 2);
	print_message("busy threads: %lu ns off, schedstat %lu ns\n", have, want);
	return is_good && is_near(have, want, 2, BUSY_THREADS * 5000000ull);
}

static void test_off_cpu_preempted(void **state)
{
	try_until(*state, agrees_with_busy);
}

/* --- block_io --- */

#define DISK_BYTES (64u << 20)

static char disk_path[64];
static char loop_path[32];

/* The first line of what a command says; empty where it fails. */
static void command_line(char *ret_line, size_t size, const char *command)
{
	FILE *pipe = popen(command, "r");

	ret_line[0] = 0;
	if (!pipe)
		return;
	if (!fgets(ret_line, (int)size, pipe))
		ret_line[0] = 0;
	ret_line[strcspn(ret_line, "\n")] = 0;
	if (pclose(pipe))
		ret_line[0] = 0;
}

/* Blocks that were written: reading others costs a disk nothing. */
static bool write_disk(int fd)
{
	static char block[1 << 20];

	for (u32 at = 0; at < DISK_BYTES; at += sizeof(block)) {
		memset(block, (int)(at >> 20) + 1, sizeof(block));
		if (write(fd, block, sizeof(block)) != (ssize_t)sizeof(block))
			return false;
	}
	return fsync(fd) == 0;
}

static int make_disk(void **state, const char *options)
{
	char command[256];
	int fd;

	snprintf(disk_path, sizeof(disk_path), "/var/tmp/ebql-test-views-%d.disk", getpid());
	loop_path[0] = 0;
	if (geteuid() == 0) {
		fd = open(disk_path, O_CREAT | O_TRUNC | O_RDWR | O_CLOEXEC, 0600);
		if (fd >= 0 && write_disk(fd)) {
			snprintf(command, sizeof(command),
				 "losetup --find --show %s %s 2>/dev/null", options, disk_path);
			command_line(loop_path, sizeof(loop_path), command);
		}
		if (fd >= 0)
			close(fd);
	}
	return views_setup(state);
}

static int disk_setup(void **state)
{
	return make_disk(state, "");
}

/* Past the page cache: a device that is slower than what a call costs besides. */
static int slow_disk_setup(void **state)
{
	return make_disk(state, "--direct-io=on");
}

static int disk_teardown(void **state)
{
	char command[256], line[8];

	views_teardown(state);
	if (loop_path[0]) {
		snprintf(command, sizeof(command), "losetup --detach %s", loop_path);
		command_line(line, sizeof(line), command);
	}
	unlink(disk_path);
	return 0;
}

/* loglinear(4): the cell's number. */
static u32 cell_of(u64 value)
{
	u32 shift = value < 32 ? 0 : 63 - (u32)__builtin_clzll(value) - 4;

	return (shift << 4) + (u32)(value >> shift);
}

static void take_cell(void *context, s64 lo, s64 hi, u64 n)
{
	struct views *v = context;

	assert_true(cell_of((u64)lo) < CELLS_MAX && cell_of((u64)hi - 1) == cell_of((u64)lo));
	v->cells[cell_of((u64)lo)] += n;
	v->n_in_cells += n;
}

static void take_request(void *context, const struct line *line)
{
	struct views *v = context;
	const char *rwbs = line_text(line, "rwbs");
	u64 n = line_number(line, "n"), bytes = line_number(line, "b");

	if (rwbs[0] == 'R') {
		v->n_reads += n;
		v->bytes_read += bytes;
	} else if (rwbs[0] == 'W') {
		v->n_writes += n;
		v->bytes_written += bytes;
	} else {
		fail_msg("a request \"%s\"", rwbs);
	}
	v->max_ns = MAX(v->max_ns, line_number(line, "h.max"));
	line_cells(line, "h", take_cell, v);
}

static void watch_disk(struct views *v)
{
	struct stat stat_buf;

	watch_require();
	if (!loop_path[0]) {
		print_message("SKIP: no loop device can be made here\n");
		skip();
	}
	assert_int_equal(stat(loop_path, &stat_buf), 0);
	watch_open(&v->watch, take_request, v);
	/* A device as the kernel numbers it: 12 bits and 20. */
	watch_ebql(&v->watch,
		   "SELECT rwbs, count(*) AS n, sum(bytes) AS b, histogram(latency, loglinear(4)) "
		   "AS h FROM block_io WHERE dev = %u GROUP BY rwbs WINDOW TUMBLING 100ms",
		   major(stat_buf.st_rdev) << 20 | minor(stat_buf.st_rdev));
}

/*
 * All of them, but for completions whose interrupt found another program at work on its
 * CPU: the kernel runs none of a perf tracepoint then (trace_call_bpf()), and the start
 * is one that never ended.
 */
static void expect_requests(const struct views *v, u64 n)
{
	assert_in_range(v->n_in_cells, n - n / 10, n);
	assert_true(n - v->n_in_cells <= v->watch.reader.totals.never_ended);
}

/* Every request by its count and bytes; none longer than the longest call. */
static void test_block_io(void **state)
{
	static const u32 sizes[] = { 512, 4096, 16384, 65536 };
	struct views *v = *state;
	u64 n[2] = { 0 }, bytes[2] = { 0 }, longest_ns = 0, random = 88172645463325252ull;
	void *buffer = NULL;
	int fd;

	watch_disk(v);
	fd = open(loop_path, O_RDWR | O_DIRECT | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(posix_memalign(&buffer, 4096, 65536), 0);
	memset(buffer, 7, 65536);
	for (u32 i = 0; i < 2000; i++) {
		u64 start_ns = base_monotonic_ns();
		u32 size;
		ssize_t done;
		off_t at;

		random = random * 6364136223846793005ull + 1442695040888963407ull;
		size = sizes[(random >> 33) % ARRAY_SIZE(sizes)];
		at = (off_t)((random >> 36) % (DISK_BYTES / 65536) * 65536);
		done = i % 3 == 0 ? pwrite(fd, buffer, size, at) : pread(fd, buffer, size, at);
		assert_int_equal(done, size);
		longest_ns = MAX(longest_ns, base_monotonic_ns() - start_ns);
		n[i % 3 == 0]++;
		bytes[i % 3 == 0] += size;
	}
	close(fd);
	free(buffer);
	watch_end(&v->watch, -1);
	assert_int_equal(v->n_in_cells, v->n_reads + v->n_writes);
	expect_requests(v, n[0] + n[1]);
	if (v->n_in_cells == n[0] + n[1]) {
		assert_int_equal(v->n_reads, n[0]);
		assert_int_equal(v->n_writes, n[1]);
		assert_int_equal(v->bytes_read, bytes[0]);
		assert_int_equal(v->bytes_written, bytes[1]);
	}
	assert_true(v->max_ns <= longest_ns);
}

static int compare_u64(const void *a, const void *b)
{
	u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return (x > y) - (x < y);
}

static u32 cell_of_rank(const struct views *v, u64 rank)
{
	u64 below = 0;

	for (u32 i = 0; i < CELLS_MAX; i++) {
		below += v->cells[i];
		if (below >= rank)
			return i;
	}
	return CELLS_MAX;
}

/*
 * 512 KiB are one request still.  Three at a time, each is with the device for long enough
 * that what a call costs beside it, 50 us of a busy machine's, is less than a cell.  fio
 * times libaio's calls from the end of their submission.
 */
enum { FIO_REQUESTS = 1000, FIO_BYTES = 512 << 10, FIO_TRIES = 5 };

/* Lines "time, latency, direction, size, offset, priority". */
static u32 read_fio_log(const char *path, u64 *ret_ns, u32 n_max)
{
	FILE *file = fopen(path, "r");
	unsigned long time_ms;
	char line[256];
	u32 n = 0;

	assert_non_null(file);
	while (n < n_max && fgets(line, sizeof(line), file))
		n += sscanf(line, "%lu, %lu", &time_ms, &ret_ns[n]) == 2;
	fclose(file);
	return n;
}

/* fio's own latencies, sorted: "clat" from the end of the submission, "lat" from its begin. */
static void take_log(const char *kind, u64 *ret_ns)
{
	char path[96];

	snprintf(path, sizeof(path), "%s_%s.1.log", disk_path, kind);
	assert_int_equal(read_fio_log(path, ret_ns, FIO_REQUESTS), FIO_REQUESTS);
	qsort(ret_ns, FIO_REQUESTS, sizeof(*ret_ns), compare_u64);
}

/*
 * One run.  No request is longer than fio's "lat", in any order statistic that is looked
 * at; true when they also are within a cell of fio's.  fio's threads do not wait behind other
 * work of a busy machine for a CPU, once the device is done, nor for one that sleeps; the host's
 * may keep them waiting.
 */
static bool agrees_with_fio(struct views *v)
{
	static const double q[] = { 0.5, 0.99 };
	u64 clat_ns[FIO_REQUESTS], lat_ns[FIO_REQUESTS];
	char command[768], line[64];
	bool agrees = true;

	watch_disk(v);
	snprintf(
		command, sizeof(command),
		"for cpu in $(seq $(nproc)); do "
		"timeout 60 chrt -i 0 sh -c 'while :; do :; done' & pids=\"$pids $!\"; done; "
		"timeout 60 chrt -f 50 fio --name=t --filename=%s --direct=1 --ioengine=libaio --iodepth=3 --rw=randread --bs=%d "
		"--number_ios=%d --size=%u --io_size=1g --write_lat_log=%s --output=/dev/null "
		"&& echo done; kill $pids",
		loop_path, FIO_BYTES, FIO_REQUESTS, DISK_BYTES, disk_path);
	command_line(line, sizeof(line), command);
	if (strcmp(line, "done")) {
		print_message("SKIP: fio cannot run here (libaio, O_DIRECT)\n");
		skip();
	}
	watch_end(&v->watch, -1);
	take_log("clat", clat_ns);
	take_log("lat", lat_ns);
	snprintf(command, sizeof(command), "rm -f %s_*.log", disk_path);
	command_line(line, sizeof(line), command);
	expect_requests(v, FIO_REQUESTS);
	assert_int_equal(v->n_in_cells, v->n_reads);
	assert_int_equal(v->bytes_read, v->n_reads * FIO_BYTES);
	for (u32 i = 0; i < ARRAY_SIZE(q); i++) {
		u32 rank = (u32)(q[i] * FIO_REQUESTS) - 1;
		s32 have = (s32)cell_of_rank(v, (u64)(q[i] * (double)v->n_in_cells));
		s32 low = (s32)cell_of(clat_ns[rank]), high = (s32)cell_of(lat_ns[rank]);

		print_message("p%.0f: fio %lu to %lu ns (cells %d, %d), block_io cell %d\n",
			      q[i] * 100, clat_ns[rank], lat_ns[rank], low, high, have);
		assert_true(have <= high + 1);
		agrees &= have >= low - 1 && have <= low + 1;
	}
	return agrees;
}

static void test_block_io_fio(void **state)
{
	struct views *v = *state;
	char line[64];

	command_line(line, sizeof(line), "fio --version 2>/dev/null");
	if (!line[0]) {
		print_message("SKIP: no fio\n");
		skip();
	}
	for (u32 tries = 0; !agrees_with_fio(v); tries++) {
		assert_true(tries < FIO_TRIES);
		watch_close(&v->watch);
		memset(v, 0, sizeof(*v));
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_run_queue, views_setup, views_teardown),
		cmocka_unit_test_setup_teardown(test_off_cpu, views_setup, views_teardown),
		cmocka_unit_test_setup_teardown(test_off_cpu_preempted, views_setup,
						views_teardown),
		cmocka_unit_test_setup_teardown(test_block_io, disk_setup, disk_teardown),
		cmocka_unit_test_setup_teardown(test_block_io_fio, slow_disk_setup, disk_teardown),
	};

	if (argc == 3 && !strcmp(argv[1], "--work"))
		return work();
	return cmocka_run_group_tests_name("views", tests, NULL, NULL);
}
