/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Load generator: an exactly known number of pread64 calls -> the truth about them.
 *
 * Opens its descriptors, prints "pid PID", waits for a line on standard input (none with
 * --no-wait), performs the calls from pinned threads, prints the truth as lines
 * "fd cpu calls sum min max" (of the count argument), then "total calls sum ns", and waits
 * for the end of its input.  Every call reads /dev/null, which answers 0 at once whatever
 * count says, so counts can be large; with more --fds than the process may open, the rest
 * are closed and answer EBADF.  The sizes come from a generator with a fixed seed.
 *
 * --spin measures instead: prints "ns-per-call" of each batch of calls until its input ends.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { MAX_THREADS = 64, MAX_CPUS = 1024 };

enum size_mode {
	SIZE_FIXED, /* 100 */
	SIZE_SMALL, /* 1..4096 */
	SIZE_WIDE,  /* 0..2^40: sums pass 2^32 at once and stay below 2^63 for 8 M calls */
};

/* What happened to one fd on one cpu. */
struct cell {
	uint64_t calls, sum, min, max;
};

struct options {
	uint64_t calls;		/* in total, over all threads */
	uint64_t migrate_every; /* calls; 0: a thread stays on its cpu */
	uint64_t pause_every, pause_ns;
	uint32_t n_threads, n_fds, n_open_fds, first_fd;
	enum size_mode size_mode;
	bool is_pinned, waits;
};

struct worker {
	pthread_t thread;
	const struct options *options;
	const int *cpus;
	int n_cpus, index;
	uint64_t calls;
	struct cell *cells[MAX_CPUS]; /* by position in cpus, then by fd - first_fd */
};

static pthread_barrier_t start_line;
static char target[16];

static void die(const char *what)
{
	fprintf(stderr, "loadgen: %s: %s\n", what, strerror(errno));
	exit(1);
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* xorshift64*, Vigna 2016. */
static uint64_t next_random(uint64_t *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * 2685821657736338717ull;
}

static void pin_to(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET((size_t)cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		die("sched_setaffinity");
}

static uint64_t pick_size(enum size_mode mode, uint64_t random)
{
	switch (mode) {
	case SIZE_FIXED:
		return 100;
	case SIZE_SMALL:
		return (random & 4095) + 1;
	case SIZE_WIDE:
		return random & ((1ull << 40) - 1);
	}
	return 0;
}

static void *work(void *argument)
{
	struct worker *worker = argument;
	const struct options *options = worker->options;
	uint64_t random = 88172645463325252ull + (uint64_t)worker->index * 0x9e3779b97f4a7c15ull;
	int place = worker->index % worker->n_cpus;

	if (options->is_pinned)
		pin_to(worker->cpus[place]);
	pthread_barrier_wait(&start_line);
	for (uint64_t i = 0; i < worker->calls; i++) {
		uint64_t r = next_random(&random);
		uint32_t key = (uint32_t)((r >> 40) % options->n_fds);
		uint64_t size = pick_size(options->size_mode, r >> 8);
		struct cell *cell;

		if (options->migrate_every && i % options->migrate_every == 0 && i > 0) {
			place = (place + 1) % worker->n_cpus;
			pin_to(worker->cpus[place]);
		}
		if (options->pause_every && i % options->pause_every == 0 && i > 0)
			nanosleep(&(struct timespec){ .tv_nsec = (long)options->pause_ns }, NULL);
		if (syscall(SYS_pread64, (int)(options->first_fd + key), target, size, 0) != 0 &&
		    (errno != EBADF || key < options->n_open_fds))
			die("pread64");
		cell = &worker->cells[place][key];
		cell->sum += size;
		if (cell->calls == 0 || size < cell->min)
			cell->min = size;
		if (cell->calls == 0 || size > cell->max)
			cell->max = size;
		cell->calls++;
	}
	return NULL;
}

/* Descriptors beyond what the process may open stay closed; their calls give EBADF. */
static void open_fds(struct options *options)
{
	struct rlimit limit;
	int null = open("/dev/null", O_RDONLY);
	rlim_t wanted = options->first_fd + options->n_fds + 16;

	if (null < 0)
		die("/dev/null");
	if (getrlimit(RLIMIT_NOFILE, &limit))
		die("getrlimit");
	if (limit.rlim_cur < wanted) {
		struct rlimit raised = { wanted,
					 limit.rlim_max < wanted ? wanted : limit.rlim_max };

		if (setrlimit(RLIMIT_NOFILE, &raised)) {
			limit.rlim_cur = limit.rlim_max;
			if (setrlimit(RLIMIT_NOFILE, &limit))
				die("RLIMIT_NOFILE");
		}
	}
	for (uint32_t i = 0; i < options->n_fds; i++) {
		if (dup2(null, (int)(options->first_fd + i)) < 0) {
			if (errno != EBADF)
				die("dup2");
			break;
		}
		options->n_open_fds++;
	}
}

static void wait_for_line(void)
{
	char c;

	while (read(0, &c, 1) == 1)
		if (c == '\n')
			return;
}

static void add_cell(struct cell *to, const struct cell *from)
{
	if (from->calls == 0)
		return;
	if (to->calls == 0 || from->min < to->min)
		to->min = from->min;
	if (to->calls == 0 || from->max > to->max)
		to->max = from->max;
	to->calls += from->calls;
	to->sum += from->sum;
}

static void print_truth(const struct options *options, const struct worker *workers, uint64_t ns)
{
	const struct worker *first = &workers[0];
	struct cell total = { 0 };

	for (int cpu = 0; cpu < first->n_cpus; cpu++) {
		for (uint32_t key = 0; key < options->n_fds; key++) {
			struct cell cell = { 0 };

			for (uint32_t t = 0; t < options->n_threads; t++)
				add_cell(&cell, &workers[t].cells[cpu][key]);
			if (cell.calls == 0)
				continue;
			add_cell(&total, &cell);
			printf("%u %d %lu %lu %lu %lu\n", options->first_fd + key,
			       options->is_pinned ? first->cpus[cpu] : -1, cell.calls, cell.sum,
			       cell.min, cell.max);
		}
	}
	printf("total %lu %lu %lu\n", total.calls, total.sum, ns);
	fflush(stdout);
}

static void run_load(const struct options *options, const int *cpus, int n_cpus)
{
	struct worker *workers = calloc(options->n_threads, sizeof(*workers));
	uint64_t start_ns;

	if (!workers)
		die("memory");
	pthread_barrier_init(&start_line, NULL, options->n_threads + 1);
	for (uint32_t t = 0; t < options->n_threads; t++) {
		struct worker *worker = &workers[t];

		worker->options = options;
		worker->cpus = cpus;
		worker->n_cpus = options->is_pinned ? n_cpus : 1;
		worker->index = (int)t;
		worker->calls = options->calls / options->n_threads +
				(t < options->calls % options->n_threads);
		for (int i = 0; i < worker->n_cpus; i++) {
			worker->cells[i] = calloc(options->n_fds, sizeof(struct cell));
			if (!worker->cells[i])
				die("memory");
		}
	}
	printf("pid %d\n", getpid());
	fflush(stdout);
	if (options->waits)
		wait_for_line();
	for (uint32_t t = 0; t < options->n_threads; t++)
		if (pthread_create(&workers[t].thread, NULL, work, &workers[t]))
			die("pthread_create");
	start_ns = now_ns();
	pthread_barrier_wait(&start_line);
	for (uint32_t t = 0; t < options->n_threads; t++)
		pthread_join(workers[t].thread, NULL);
	print_truth(options, workers, now_ns() - start_ns);
	if (options->waits)
		while (read(0, target, sizeof(target)) > 0)
			;
}

/* One figure a line, about 20 ms each, until the input ends; for eyes and for the demo. */
static void spin(const struct options *options, const int *cpus)
{
	struct pollfd input = { .fd = 0, .events = POLLIN };

	if (options->is_pinned)
		pin_to(cpus[0]);
	printf("pid %d\n", getpid());
	fflush(stdout);
	while (!options->waits || poll(&input, 1, 0) == 0) {
		uint64_t start_ns = now_ns(), calls = 0, ns;

		do {
			for (int i = 0; i < 1000; i++)
				syscall(SYS_pread64, (int)options->first_fd, target, 16, 0);
			calls += 1000;
			ns = now_ns() - start_ns;
		} while (ns < 20000000);
		printf("%.1f\n", (double)ns / (double)calls);
		fflush(stdout);
	}
}

static void usage(void)
{
	fprintf(stderr, "usage: loadgen [--calls N] [--threads N] [--fds N] [--first-fd N]\n"
			"  [--size fixed|small|wide] [--no-pin] [--migrate CALLS] [--no-wait]\n"
			"  [--pause-every CALLS --pause-us N] [--spin]\n");
	exit(2);
}

static enum size_mode parse_size_mode(const char *name)
{
	if (!strcmp(name, "fixed"))
		return SIZE_FIXED;
	if (!strcmp(name, "small"))
		return SIZE_SMALL;
	if (!strcmp(name, "wide"))
		return SIZE_WIDE;
	usage();
	return SIZE_FIXED;
}

static bool parse_options(int argc, char **argv, struct options *ret_options)
{
	static const struct option longs[] = {
		{ "calls", 1, NULL, 'c' },	 { "threads", 1, NULL, 't' },
		{ "fds", 1, NULL, 'f' },	 { "first-fd", 1, NULL, 'F' },
		{ "size", 1, NULL, 's' },	 { "no-pin", 0, NULL, 'P' },
		{ "migrate", 1, NULL, 'm' },	 { "no-wait", 0, NULL, 'W' },
		{ "pause-every", 1, NULL, 'e' }, { "pause-us", 1, NULL, 'u' },
		{ "spin", 0, NULL, 'S' },	 { NULL, 0, NULL, 0 },
	};
	struct options *o = ret_options;
	bool is_spin = false;
	int c;

	while ((c = getopt_long(argc, argv, "", longs, NULL)) != -1) {
		uint64_t n = optarg ? strtoull(optarg, NULL, 0) : 0;

		switch (c) {
		case 'c':
			o->calls = n;
			break;
		case 't':
			o->n_threads = (uint32_t)n;
			break;
		case 'f':
			o->n_fds = (uint32_t)n;
			break;
		case 'F':
			o->first_fd = (uint32_t)n;
			break;
		case 's':
			o->size_mode = parse_size_mode(optarg);
			break;
		case 'P':
			o->is_pinned = false;
			break;
		case 'm':
			o->migrate_every = n;
			break;
		case 'W':
			o->waits = false;
			break;
		case 'e':
			o->pause_every = n;
			break;
		case 'u':
			o->pause_ns = n * 1000;
			break;
		case 'S':
			is_spin = true;
			break;
		default:
			usage();
		}
	}
	if (optind != argc || o->n_threads < 1 || o->n_threads > MAX_THREADS || o->n_fds < 1 ||
	    o->first_fd < 10 || o->pause_ns >= 1000000000)
		usage();
	return is_spin;
}

int main(int argc, char **argv)
{
	struct options options = {
		.calls = 1000000,
		.n_threads = 2,
		.n_fds = 1,
		.first_fd = 100,
		.size_mode = SIZE_SMALL,
		.is_pinned = true,
		.waits = true,
	};
	bool is_spin = parse_options(argc, argv, &options);
	int cpus[MAX_CPUS], n_cpus = 0;
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof(set), &set))
		die("sched_getaffinity");
	for (int cpu = 0; cpu < MAX_CPUS && cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET((size_t)cpu, &set))
			cpus[n_cpus++] = cpu;
	/* No more cpus than threads: the truth's memory stays small on wide machines. */
	if (n_cpus > (int)options.n_threads)
		n_cpus = (int)options.n_threads;
	open_fds(&options);
	if (is_spin)
		spin(&options, cpus);
	else
		run_load(&options, cpus, n_cpus);
	return 0;
}
