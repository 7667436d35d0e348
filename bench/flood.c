/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * flood LOAD N: makes the events of a load N times, and nothing else (bench/predict, bench/budget).
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static char byte;

static void must(long result)
{
	if (result < 0) {
		perror("flood");
		exit(1);
	}
}

static void make_preads(long n)
{
	int fd = open("/dev/zero", O_RDONLY);

	for (long i = 0; i < n; i++)
		must(pread(fd, &byte, 1, i & 1023));
}

static void make_other_calls(long n)
{
	for (long i = 0; i < n; i++)
		syscall(SYS_getppid);
}

/* Each datagram is taken again by who sent it. */
static void make_datagrams(long n)
{
	struct sockaddr_in to = { .sin_family = AF_INET,
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = socket(AF_INET, SOCK_DGRAM, 0);
	socklen_t bytes = sizeof(to);

	must(bind(fd, (struct sockaddr *)&to, sizeof(to)));
	must(getsockname(fd, (struct sockaddr *)&to, &bytes));
	for (long i = 0; i < n; i++) {
		must(sendto(fd, &byte, 1, 0, (struct sockaddr *)&to, sizeof(to)));
		must(recv(fd, &byte, 1, 0));
	}
}

static void exchange(int in, int out, long n, int begins)
{
	for (long i = 0; i < n; i++) {
		if (begins)
			must(write(out, &byte, 1));
		must(read(in, &byte, 1));
		if (!begins)
			must(write(out, &byte, 1));
	}
}

/* Two processes on one CPU wake each other up. */
static void make_switches(long n)
{
	int there[2], back[2];
	cpu_set_t cpu;

	CPU_ZERO(&cpu);
	CPU_SET((size_t)sched_getcpu(), &cpu);
	must(sched_setaffinity(0, sizeof(cpu), &cpu));
	must(pipe(there));
	must(pipe(back));
	if (!fork()) {
		exchange(there[0], back[1], n, 0);
		_exit(0);
	}
	exchange(back[0], there[1], n, 1);
	wait(NULL);
}

/* Of reading, for which the kernel has one page of zeros: else most is its giving pages out. */
static void make_faults(long n)
{
	const long pages = 256, bytes = pages * 4096;
	volatile char *memory =
		mmap(NULL, (size_t)bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	must(madvise((void *)memory, (size_t)bytes, MADV_NOHUGEPAGE));
	for (long i = 0; i < n; i++) {
		memory[i % pages * 4096];
		if (i % pages == pages - 1)
			must(madvise((void *)memory, (size_t)bytes, MADV_DONTNEED));
	}
}

static char *(*volatile function)(const char *) = basename;

static void call_function(long n)
{
	for (long i = 0; i < n; i++)
		function("a");
}

static void open_files(long n)
{
	for (long i = 0; i < n; i++) {
		int fd = open("/dev/null", O_WRONLY);

		must(write(fd, &byte, 1));
		must(close(fd));
	}
}

/*
 * flood: two million calls a second, of two threads which never sleep, so that no CPU is idle for
 * others; flood1: half as many, of one thread; steady: 20,000 of one; in so many ms.  What they
 * took is written for each ms, but of a batch that was interrupted as long as the usual one
 * takes; and what work took meanwhile that no tracer changes: by that the CPU's speed is known,
 * which neighbours of a virtual machine change by a third and more, within a second.
 */
enum { BATCH_NS = 100000, BATCHES = 10, WORK = 3000, THREADS_MAX = 2 };

struct spell {
	/* CLOCK_MONOTONIC; all batches together */
	unsigned long begin_ns, took_ns, work_ns;
};

static long n_spells, n_calls;

static unsigned long monotonic_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (unsigned long)t.tv_sec * 1000000000 + (unsigned long)t.tv_nsec;
}

static int by_size(const void *a, const void *b)
{
	unsigned long x = *(const unsigned long *)a, y = *(const unsigned long *)b;

	return x < y ? -1 : x > y;
}

static unsigned long without_interrupts(unsigned long *took_ns)
{
	unsigned long sum = 0, usual;

	qsort(took_ns, BATCHES, sizeof(*took_ns), by_size);
	usual = took_ns[BATCHES / 2];
	for (int i = 0; i < BATCHES; i++)
		sum += took_ns[i] > usual + usual / 4 ? usual : took_ns[i];
	return sum;
}

/*
 * One on the same core slows down a chain, whose operations wait for each other, not at all;
 * operations that do not, by twice; and calls by 1.6.  A third of the time is of the one, the rest
 * of the other, on a Xeon of 2.5 GHz, and there calls in relation to this differed by 3 % where to
 * a chain alone they did by 60.
 */
static void work(void)
{
	static volatile unsigned long result;
	unsigned long x = result, a = x, b = 1, c = 2, d = 3, e = 4, f = 5;

	for (unsigned long i = 0; i < WORK; i++)
		x = x * 6364136223846793005ul + 1;
	for (unsigned long i = 0; i < 2 * WORK; i++) {
		a += i;
		b ^= a + i;
		c += i * 3;
		d ^= c;
		e += d >> 3;
		f += e ^ i;
	}
	result = x + a + b + c + d + e + f;
}

static void *flood(void *spells)
{
	unsigned long due_ns = monotonic_ns(), now_ns = due_ns;
	unsigned long took_ns[BATCHES], work_ns[BATCHES];

	for (struct spell *s = spells; s < (struct spell *)spells + n_spells; s++) {
		s->begin_ns = now_ns;
		for (int i = 0; i < BATCHES; i++) {
			unsigned long begin_ns;

			while ((begin_ns = monotonic_ns()) < due_ns)
				;
			for (long k = 0; k < n_calls; k++)
				syscall(SYS_getpgid, 1);
			now_ns = monotonic_ns();
			took_ns[i] = now_ns - begin_ns;
			work();
			work_ns[i] = monotonic_ns() - now_ns;
			due_ns += BATCH_NS;
		}
		s->took_ns = without_interrupts(took_ns);
		s->work_ns = without_interrupts(work_ns);
	}
	return NULL;
}

static void flood_by(int n_threads, long n_calls_each, long ms)
{
	struct spell *spells;
	pthread_t threads[THREADS_MAX];

	n_spells = ms * 1000000 / (BATCH_NS * BATCHES);
	n_calls = n_calls_each;
	spells = calloc((size_t)(n_threads * n_spells), sizeof(*spells));
	must(spells ? 0 : -1);
	for (long i = 0; i < n_threads; i++)
		must(-pthread_create(&threads[i], NULL, flood, spells + i * n_spells));
	for (int i = 0; i < n_threads; i++)
		pthread_join(threads[i], NULL);
	for (long i = 0; i < n_threads * n_spells; i++)
		printf("%lu %lu %lu\n", spells[i].begin_ns, spells[i].took_ns, spells[i].work_ns);
}

static void flood_of_two(long ms)
{
	flood_by(2, 100, ms);
}

static void flood_of_one(long ms)
{
	flood_by(1, 100, ms);
}

static void call_steadily(long ms)
{
	flood_by(1, 2, ms);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*make)(long n);
	} loads[] = {
		{ "pread", make_preads },     { "others", make_other_calls },
		{ "sendto", make_datagrams }, { "switches", make_switches },
		{ "faults", make_faults },    { "function", call_function },
		{ "files", open_files },      { "flood", flood_of_two },
		{ "flood1", flood_of_one },   { "steady", call_steadily },
	};

	for (size_t i = 0; argc == 3 && i < sizeof(loads) / sizeof(*loads); i++)
		if (strcmp(argv[1], loads[i].name) == 0) {
			loads[i].make(atol(argv[2]));
			return 0;
		}
	fputs("usage: flood LOAD N\n", stderr);
	return 2;
}
