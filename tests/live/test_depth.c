/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Running sums on this kernel: exact with two CPUs adding at once; run_queue_depth
 * against the queues that follow from a record of the scheduler's events, the count of the
 * switches and the scheduler's own account of waiting; block_queue_depth on a loop device.
 */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "truth.h"
#include "watch.h"

enum { WORKERS = 6, DEPTH_MAX = 64, TRIES = 4, TIDS_MAX = 1 << 22 };

#define RUN_NS	  1500000000ull
#define PERIOD_NS 100000000ull
#define REST_NS	  20000000ull

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

static void *child_main(void *argument)
{
	return argument;
}

/* Busy, with naps; the even ones move from CPU to CPU.  All rest at the same time now and then. */
static void keep_busy(struct worker *w)
{
	u64 end_ns = base_monotonic_ns() + RUN_NS, random = 77 + w->number;
	size_t n_cpus = (size_t)sysconf(_SC_NPROCESSORS_ONLN);

	while (base_monotonic_ns() < end_ns) {
		pthread_t child;
		u64 turn_ns, part_ns = base_monotonic_ns() % PERIOD_NS;

		if (part_ns > PERIOD_NS - REST_NS)
			nanosleep(&(struct timespec){ 0, (long)(PERIOD_NS - part_ns) }, NULL);
		random = random * 6364136223846793005ull + 1442695040888963407ull;
		turn_ns = base_monotonic_ns() + (random >> 40) % 8000000;
		while (base_monotonic_ns() < turn_ns)
			;
		if (random >> 33 & 1)
			nanosleep(&(struct timespec){ 0, (random >> 44) % 3000000 }, NULL);
		/* Its timer wakes it before it is off the CPU. */
		nanosleep(&(struct timespec){ 0, 1 }, NULL);
		if ((random >> 35) % 2 && !pthread_create(&child, NULL, child_main, NULL))
			pthread_join(child, NULL);
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

	prctl(PR_SET_TIMERSLACK, 1);
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

/* A row of run_queue_depth. */
struct seen {
	u64 time_ns;
	s64 depth;
	u32 number, cpu;
	int tid;
};

struct depth {
	struct watch watch, other;
	u64 n_keys, n_calls; /* of the sweep */
	struct event *events;
	struct seen *seen;
	u32 n_events, events_capacity, n_seen, seen_capacity;
	bool is_calm[2][CPUS_MAX]; /* each record has a switch to the idle thread */
	u64 attached_ns, n_gaps;
	u32 n_cpus;
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
	free(d->events);
	free(d->seen);
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

/* As the kernel has it: two runs, and we, compare it. */
#define TIME "CAST(time AS INTEGER) AS time, "

/* The fields of the events; of a thread that is taken off, what the kernel says of its state. */
static const char events_query[] =
	"SELECT " TIME
	"cpu, 0 AS kind, next.pid AS thread, prev.pid AS prev_thread, cpu AS on_cpu, "
	"0 AS from_cpu, preempt AS is_preempted, prev_state <> 0 AS is_asleep, "
	"next.se.cfs_rq.rq.nr_running - iif(next.pid = 0, 0, 1) AS queued "
	"FROM raw_tracepoint:sched_switch UNION ALL "
	"SELECT " TIME "cpu, 1, pid, 0, target_cpu, 0, FALSE, FALSE, 0 "
	"FROM tracepoint:sched:sched_wakeup UNION ALL "
	"SELECT " TIME "cpu, 2, pid, 0, target_cpu, 0, FALSE, FALSE, 0 "
	"FROM tracepoint:sched:sched_wakeup_new UNION ALL "
	"SELECT " TIME "cpu, 3, pid, 0, dest_cpu, orig_cpu, FALSE, FALSE, 0 "
	"FROM tracepoint:sched:sched_migrate_task";

static void *grow(void *at, u32 n, u32 *capacity, size_t size)
{
	if (n < *capacity)
		return at;
	*capacity = MAX(2 * *capacity, 4096u);
	at = realloc(at, *capacity * size);
	BUG_ON(!at);
	return at;
}

static void take_event(void *context, const struct line *line)
{
	struct depth *d = context;
	struct event *e;

	d->events = grow(d->events, d->n_events, &d->events_capacity, sizeof(*d->events));
	e = &d->events[d->n_events];
	*e = (struct event){
		.time_ns = line_number(line, "time"),
		.number = d->n_events++,
		.cpu = (u32)line_number(line, "on_cpu"),
		.from = (u32)line_number(line, "from_cpu"),
		.at = (u32)line_number(line, "cpu"),
		.tid = (int)line_number(line, "thread"),
		.prev = (int)line_number(line, "prev_thread"),
		.kind = (enum event_kind)line_number(line, "kind"),
		.is_preempted = is_true(line, "is_preempted"),
		.is_asleep = is_true(line, "is_asleep"),
		.queued = (s64)line_leaf(line, "queued")->integer,
	};
	BUG_ON(e->cpu >= CPUS_MAX || e->from >= CPUS_MAX || e->at >= CPUS_MAX);
	BUG_ON((u32)e->tid >= TIDS_MAX || (u32)e->prev >= TIDS_MAX);
	d->is_calm[0][e->cpu] |=
		e->kind == EVENT_SWITCH && e->tid == 0 && e->time_ns > d->attached_ns;
}

static void take_seen(void *context, const struct line *line)
{
	struct depth *d = context;
	struct seen *s;

	d->seen = grow(d->seen, d->n_seen, &d->seen_capacity, sizeof(*d->seen));
	s = &d->seen[d->n_seen];
	*s = (struct seen){ .time_ns = line_number(line, "time"),
			    .depth = (s64)line_leaf(line, "depth")->integer,
			    .number = d->n_seen++,
			    .cpu = (u32)line_number(line, "cpu"),
			    .tid = (int)line_number(line, "tid") };
	BUG_ON(s->cpu >= CPUS_MAX);
	d->is_calm[1][s->cpu] |= s->tid == 0 && s->time_ns > d->attached_ns;
}

static int compare_events(const void *a, const void *b)
{
	const struct event *x = a, *y = b;

	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	return (x->number > y->number) - (x->number < y->number);
}

/* By CPU, then by time. */
static int compare_seen(const void *a, const void *b)
{
	const struct seen *x = a, *y = b;

	if (x->cpu != y->cpu)
		return x->cpu < y->cpu ? -1 : 1;
	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	return (x->number > y->number) - (x->number < y->number);
}

/* Replays the events; returns the time that threads waited or ran between the instants. */
static u64 replay(struct depth *d, u64 start_ns, u64 end_ns)
{
	struct truth t = { .threads = calloc(TIDS_MAX, sizeof(*t.threads)) };

	BUG_ON(!t.threads);
	qsort(d->events, d->n_events, sizeof(*d->events), compare_events);
	for (struct event *e = d->events; e < d->events + d->n_events; e++) {
		for (u32 cpu = 0; cpu < d->n_cpus; cpu++) {
			struct queue *q = &t.queues[cpu];
			u64 from_ns = MAX(q->since_ns, start_ns), to_ns = MIN(e->time_ns, end_ns);

			if (to_ns > from_ns)
				t.runnable_ns +=
					(q->n_waiting + (q->running != 0)) * (s64)(to_ns - from_ns);
			q->since_ns = e->time_ns;
		}
		truth_apply(&t, d->events, e);
		if (e->kind != EVENT_SWITCH || e->time_ns < d->attached_ns)
			continue;
		e->is_certain = truth_is_certain(&t, e);
		e->depth = t.queues[e->cpu].n_waiting;
	}
	free(t.threads);
	d->n_gaps = t.n_gaps;
	return (u64)t.runnable_ns;
}

/* The rows of a CPU that are the switches of the record: the same threads in the same order. */
static struct seen *rows_of(struct depth *d, u32 cpu)
{
	struct seen *end = d->seen + d->n_seen;

	for (struct seen *first = d->seen; first < end; first++) {
		struct seen *s = first;
		u32 i = 0;

		if (first->cpu != cpu)
			continue;
		for (; i < d->n_events; i++) {
			if (d->events[i].kind != EVENT_SWITCH || d->events[i].cpu != cpu)
				continue;
			if (s == end || s->cpu != cpu || d->events[i].tid != s->tid)
				break;
			s++;
		}
		if (i == d->n_events)
			return first;
	}
	fail_msg("cpu %u: the view's switches are not those of the record", cpu);
	return NULL;
}

/* Row by row. */
static bool compare(struct depth *d, u64 start_ns, u64 end_ns)
{
	u64 n_work = 0, n_compared = 0, n_different = 0, n_waits = 0;

	qsort(d->seen, d->n_seen, sizeof(*d->seen), compare_seen);
	for (u32 cpu = 0; cpu < d->n_cpus; cpu++) {
		const struct seen *s = rows_of(d, cpu);

		for (const struct event *e = d->events; e < d->events + d->n_events; e++) {
			bool is_work = e->time_ns >= start_ns && e->time_ns < end_ns;

			if (e->kind != EVENT_SWITCH || e->cpu != cpu)
				continue;
			n_work += is_work;
			n_compared += is_work && e->is_certain;
			n_waits += is_work && e->is_certain && e->depth > 1;
			if (e->is_certain && s->depth != e->depth && n_different++ < 10)
				print_message("cpu %u, %lu ns, to thread %d: %ld, the record says "
					      "%ld of %ld\n",
					      cpu, e->time_ns - start_ns, e->tid, s->depth,
					      e->depth, e->queued);
			s++;
		}
	}
	print_message("%lu of %lu switches compared, %lu with a depth above 1; %lu differ; "
		      "%lu gaps\n",
		      n_compared, n_work, n_waits, n_different, d->n_gaps);
	return n_different == 0 && n_compared >= 1000 && 10 * n_compared >= 9 * n_work &&
	       10 * n_waits >= n_compared;
}

/* Both know a switch to the idle thread of every CPU. */
static void wait_until_calm(struct depth *d)
{
	for (u64 end_ns = base_monotonic_ns() + 30000000000ull; base_monotonic_ns() < end_ns;) {
		u32 n = 0;

		for (u32 cpu = 0; cpu < d->n_cpus; cpu++)
			n += d->is_calm[0][cpu] && d->is_calm[1][cpu];
		if (n == d->n_cpus)
			return;
		proc_pump(50);
	}
	print_message("SKIP: the machine is too busy\n");
	skip();
}

/* The record is within the view's time: each of its switches is a row. */
static bool depths_agree(struct depth *d)
{
	u64 start_ns, end_ns, sampled, n_samples, recorded;

	watch_require();
	watch_open(&d->watch, take_seen, d);
	watch_open(&d->other, take_event, d);
	d->n_cpus = (u32)sysconf(_SC_NPROCESSORS_ONLN);
	d->attached_ns = UINT64_MAX;
	watch_work(&d->watch, "threads");
	watch_ebql(&d->watch, "SELECT " TIME "cpu, depth, tid FROM run_queue_depth");
	watch_ebql(&d->other, "%s", events_query);
	d->attached_ns = base_monotonic_ns();
	wait_until_calm(d);
	watch_tell(&d->watch, "run", "ran\n");
	assert_int_equal(sscanf(d->watch.work.out_text.at, "%lu %lu %lu %lu", &start_ns, &end_ns,
				&sampled, &n_samples),
			 4);
	watch_end(&d->other, -1);
	watch_end(&d->watch, -1);
	if (d->other.reader.totals.lost || d->watch.reader.totals.lost) {
		print_message("lost: %lu events, %lu rows\n", d->other.reader.totals.lost,
			      d->watch.reader.totals.lost);
		return false;
	}
	recorded = 1000 * replay(d, start_ns, end_ns) / (end_ns - start_ns);
	sampled = 1000 * sampled / MAX(n_samples, 1u);
	print_message("%u events; on average %lu/1000 threads run or wait, of %lu samples "
		      "%lu/1000\n",
		      d->n_events, recorded, n_samples, sampled);
	/* Samples are few, and see threads that sleep but were left in a queue: half apart. */
	assert_in_range(recorded, sampled / 2, sampled + sampled / 2);
	return compare(d, start_ns, end_ns);
}

/*
 * Tries again where events were lost, where too few switches are certain, and where a CPU
 * was away for longer than NEAR_NS between an event and the reading of its time.
 */
static void test_recorded(void **state)
{
	struct depth *d = *state;

	for (u32 tries = 1; !depths_agree(d); tries++) {
		assert_true(tries < TRIES);
		watch_close(&d->other);
		watch_close(&d->watch);
		free(d->events);
		free(d->seen);
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
	/* One that ends late stands for several. */
	assert_true(d->n_windows + d->watch.reader.totals.n_merged >= 20 && d->n_switches[1] > 100);
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
	snprintf(disk_path, sizeof(disk_path), "/var/tmp/ebql-test-depth-%d.disk", getpid());
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
