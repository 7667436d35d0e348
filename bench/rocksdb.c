/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Random reads of RocksDB (db_bench readrandom) with Figure 12's query over its pread64 -> what a
 * read takes of CPU without a tracer, and what each tracer adds to it, in db_bench and in itself.
 *
 * Rounds: each contender once, in an order of its own, between two runs without any; a contender is
 * compared with the mean of the nearest two of these.  -g: in a guest whose clock counts
 * instructions (tests/vm/run -i), so that its nanoseconds are these; there by fentry, too.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"

struct config config = { .ebql = "build/ebql", .object = "handwritten.bpf.o" };

static const char *directory, *self;
static int n_rounds = 10, n_threads = 2;
static u64 n_reads = 100000; /* of each thread */
static const char *n_keys = "1000000";
static bool is_guest;

static const struct contender by_fentry[] = {
	{ "empty-fentry", "empty program, fentry", KIND_LIBBPF, "empty_pread_fentry", false },
	{ "hand-fentry", "hand-written C, PERCPU_HASH, fentry", KIND_LIBBPF, "hand_fentry", true },
	{ "ebql-fentry", "ebql, Figure 12, access_path = fentry", KIND_EBQL, "fentry", true },
};

static const struct way {
	const struct contender *contender; /* NULL: the tracer that streams all to user space */
} ways[] = {
	{ &contenders[EMPTY_RAW] }, { &contenders[EMPTY_TRACEPOINT] },
	{ &contenders[HAND_RAW] },  { &contenders[HAND_TRACEPOINT] },
	{ &contenders[EBQL_RAW] },  { &contenders[EBQL_TRACEPOINT] },
	{ &contenders[BPFTRACE] },  { NULL },
	{ &by_fentry[0] },	    { &by_fentry[1] },
	{ &by_fentry[2] },
};

#define N_BY_FENTRY 3

static int n_ways(void)
{
	return N_OF(ways) - (is_guest ? 0 : N_BY_FENTRY);
}

struct run {
	double read_us;	  /* CPU of db_bench a read */
	double tracer_us; /* CPU of the tracer's process a read */
	double counted;	  /* events a read, as the tracer told; 0: it counts none */
};

/* --- the tracer that streams every event to user space, which then groups them --- */

#define STREAM_NAME "every event to user space: ring buffer of 8 MiB, no wake-ups, read each 10 ms"

struct event {
	u64 fd, bytes;
};

#define N_GROUPS 4096

static struct group {
	u64 n, sum, max;
} groups[N_GROUPS];

static int take_event(void *context, void *data, size_t size)
{
	const struct event *event = data;
	struct group *group = &groups[event->fd % N_GROUPS];

	(void)context;
	if (size < sizeof(*event))
		return 0;
	group->n++;
	group->sum += event->bytes;
	group->max = event->bytes > group->max ? event->bytes : group->max;
	return 0;
}

static volatile sig_atomic_t is_over;

static void end(int signal)
{
	(void)signal;
	is_over = 1;
}

/* Prints "attached", later its count and what the ring had no room for. */
static int stream(void)
{
	struct contender c = {
		.id = "stream", .name = "stream", .kind = KIND_LIBBPF, .text = "stream_tracepoint"
	};
	struct attached a;
	u64 n = 0, n_dropped = 0;
	struct ring_buffer *ring;
	unsigned int zero = 0;

	signal(SIGINT, end);
	contender_attach(&a, &c);
	ring = ring_buffer__new(bpf_object__find_map_fd_by_name(a.object, "stream_ring"),
				take_event, NULL, NULL);
	if (!ring)
		fail("no ring buffer");
	puts("attached");
	fflush(stdout);
	while (!is_over) {
		sleep_ns(10000000);
		ring_buffer__consume(ring);
	}
	ring_buffer__consume(ring);
	bpf_map_lookup_elem(bpf_object__find_map_fd_by_name(a.object, "stream_dropped"), &zero,
			    &n_dropped);
	for (int i = 0; i < N_GROUPS; i++)
		n += groups[i].n;
	printf("counted %llu dropped %llu\n", (unsigned long long)n, (unsigned long long)n_dropped);
	return 0;
}

static void stream_start(struct process *p)
{
	char pid[16];

	snprintf(pid, sizeof(pid), "%d", config.traced_pid);
	process_start(p, (const char *[]){ self, "-p", config.object, "-S", pid, NULL });
	if (!process_wait_text(p, 0, "attached", 20000000000ull))
		fail("the stream does not attach: %s", p->texts[1]);
}

static u64 stream_end(struct process *p)
{
	unsigned long long n = 0, n_dropped = 0;
	const char *at;

	process_finish(p, SIGINT);
	at = strstr(p->texts[0], "counted");
	if (!at || sscanf(at, "counted %llu dropped %llu", &n, &n_dropped) != 2)
		fail("the stream says nothing: %s", p->texts[1]);
	if (n_dropped)
		fprintf(stderr, "rocksdb: the stream dropped %llu\n", n_dropped);
	process_free(p);
	return n;
}

/* --- db_bench --- */

/* Waits, as a process whose pid is known, until the pipe tells it to begin. */
static pid_t db_start(int *ret_go, u64 reads)
{
	char path[512], n[32], threads[32], num[32];
	int fds[2];
	pid_t pid;

	if (pipe(fds) || (pid = fork()) < 0)
		fail("cannot start db_bench");
	if (pid == 0) {
		char byte;

		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(fds[1]);
		if (read(fds[0], &byte, 1) != 1)
			_exit(1);
		close(fds[0]);
		if (!freopen("/dev/null", "w", stdout) || !freopen("/dev/null", "w", stderr))
			_exit(1);
		snprintf(path, sizeof(path), "--db=%s", directory);
		snprintf(n, sizeof(n), "--reads=%llu", (unsigned long long)reads);
		snprintf(threads, sizeof(threads), "--threads=%d", n_threads);
		snprintf(num, sizeof(num), "--num=%s", n_keys);
		execlp("db_bench", "db_bench",
		       reads ? "--benchmarks=readrandom" : "--benchmarks=fillseq,compact", path, n,
		       reads ? threads : "--threads=1",
		       reads ? "--use_existing_db=1" : "--use_existing_db=0", num, "--seed=1",
		       "--key_size=16", "--value_size=112", "--cache_size=0", "--mmap_read=0",
		       "--use_direct_reads=1", "--compression_type=none", "--disable_wal=1",
		       "--open_files=-1", NULL);
		_exit(127);
	}
	close(fds[0]);
	*ret_go = fds[1];
	return pid;
}

/* Its CPU time, in us. */
static double db_run(pid_t pid, int go)
{
	struct rusage usage;
	int status;

	if (write(go, "", 1) != 1)
		fail("db_bench does not begin");
	close(go);
	while (wait4(pid, &status, 0, &usage) < 0)
		if (errno != EINTR)
			fail("db_bench is lost");
	if (status)
		fail("db_bench ended with %d", status);
	return ((double)usage.ru_utime.tv_sec + (double)usage.ru_stime.tv_sec) * 1e6 +
	       (double)usage.ru_utime.tv_usec + (double)usage.ru_stime.tv_usec;
}

/* way: NULL for none. */
static struct run run(const struct way *way)
{
	const struct contender *c = way ? way->contender : NULL;
	double total = (double)n_reads * n_threads, cpu_ns = 0;
	struct run result = { 0 };
	struct process streaming, *p = NULL;
	struct attached a;
	u64 counted = 0;
	int go;
	pid_t pid = db_start(&go, n_reads);

	config.traced_pid = pid;
	if (c) {
		contender_attach(&a, c);
		p = c->kind == KIND_LIBBPF ? NULL : &a.process;
	} else if (way) {
		stream_start(&streaming);
		p = &streaming;
	}
	if (p)
		cpu_ns = (double)process_cpu_ns(p);
	result.read_us = db_run(pid, go) / total;
	if (p)
		result.tracer_us = ((double)process_cpu_ns(p) - cpu_ns) / 1e3 / total;
	if (c) {
		contender_detach(&a);
		counted = a.counted;
	} else if (way) {
		counted = stream_end(&streaming);
	}
	result.counted = (double)counted / total;
	return result;
}

/* --- all of it --- */

static void put(const struct way *way, const struct run *runs, const struct run *bases)
{
	size_t n = (size_t)n_rounds;
	double added[n_rounds], tracer[n_rounds], counted[n_rounds], low, high, middle;
	const char *unit = is_guest ? "" : " %";
	int digits = is_guest ? 0 : 1;

	for (int i = 0; i < n_rounds; i++) {
		double base = bases[i].read_us, one = is_guest ? 1e-3 : base / 100;

		added[i] = (runs[i].read_us + runs[i].tracer_us - base) / one;
		tracer[i] = runs[i].tracer_us / one;
		counted[i] = runs[i].counted;
	}
	low = quantile(added, n, 0.25);
	high = quantile(added, n, 0.75);
	middle = median(added, n);
	printf("| %s | %.*f%s | %.*f to %.*f%s | %.*f%s | %.4f |\n",
	       way->contender ? way->contender->name : STREAM_NAME, digits, middle, unit, digits,
	       low, digits, high, unit, digits, median(tracer, n), unit, median(counted, n));
}

/* Each way once, and the runs without any around it; of which it returns the last. */
static struct run measure_round(struct run before, struct run *ret_runs, struct run *ret_bases)
{
	int order[N_OF(ways)];

	for (int i = 0; i < n_ways(); i++) {
		int j = rand() % (i + 1);

		order[i] = order[j];
		order[j] = i;
	}
	for (int i = 0; i < n_ways(); i++) {
		struct run after;

		ret_runs[order[i]] = run(&ways[order[i]]);
		after = run(NULL);
		ret_bases[order[i]].read_us = (before.read_us + after.read_us) / 2;
		before = after;
	}
	return before;
}

static void measure(void)
{
	struct run runs[n_rounds][N_OF(ways)], bases[n_rounds][N_OF(ways)], before = run(NULL);
	struct run of_way[n_rounds], base_of_way[n_rounds];
	double base[n_rounds * n_ways()];

	for (int round = 0; round < n_rounds; round++) {
		before = measure_round(before, runs[round], bases[round]);
		for (int way = 0; way < n_ways(); way++)
			base[round * n_ways() + way] = bases[round][way].read_us;
		fprintf(stderr, "rocksdb: round %d of %d\n", round + 1, n_rounds);
	}
	printf("\n%d rounds; without a tracer a read takes %.*f %s (median).\n\n", n_rounds,
	       is_guest ? 0 : 2,
	       median(base, (size_t)n_rounds * (size_t)n_ways()) * (is_guest ? 1e3 : 1),
	       is_guest ? "instructions" : "us of CPU");
	printf("| | %s a read, added | half of the rounds | of that the tracer's process | events a read, as counted |\n"
	       "|---|---|---|---|---|\n",
	       is_guest ? "instructions" : "CPU");
	for (int way = 0; way < n_ways(); way++) {
		for (int round = 0; round < n_rounds; round++) {
			of_way[round] = runs[round][way];
			base_of_way[round] = bases[round][way];
		}
		put(&ways[way], of_way, base_of_way);
	}
}

static int print_warnings(enum libbpf_print_level level, const char *format, va_list list)
{
	return level == LIBBPF_WARN ? vfprintf(stderr, format, list) : 0;
}

int main(int argc, char **argv)
{
	bool is_stream = false;
	int c, go;
	pid_t pid;

	self = "/proc/self/exe";
	config.bpftrace = "bpftrace";
	while ((c = getopt(argc, argv, "e:p:d:r:n:k:gS:")) != -1) {
		if (c == 'e')
			config.ebql = optarg;
		else if (c == 'p')
			config.object = optarg;
		else if (c == 'd')
			directory = optarg;
		else if (c == 'r')
			n_rounds = atoi(optarg);
		else if (c == 'n')
			n_reads = strtoull(optarg, NULL, 10);
		else if (c == 'k')
			n_keys = optarg;
		else if (c == 'g')
			is_guest = true;
		else if (c == 'S')
			is_stream = (config.traced_pid = atoi(optarg)) > 0;
		else
			exit(2);
	}
	libbpf_set_print(print_warnings);
	if (is_stream)
		return stream();
	if (!directory || n_rounds < 1 || n_reads < 1)
		fail("-d DIRECTORY [-r ROUNDS] [-n READS of each thread] [-k KEYS] [-g]");
	srand((unsigned int)monotonic_ns());
	pid = db_start(&go, 0);
	db_run(pid, go);
	measure();
	return 0;
}
