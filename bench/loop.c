/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A child, alone on its CPU, that makes system calls in a tight loop when it is
 * told to, and says how many and how long each took.
 *
 * Each batch is timed in chunks of LOOP_CHUNK calls and gives the chunks' median:
 * a chunk in which another process or the hypervisor took the CPU is one outlier,
 * not a shift of the figure.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"

struct order {
	enum loop_call call;
	u64 duration_ns; /* 0: until told to stop */
	int n_paced;	 /* so many preads each period, then sleep; 0: without a pause */
	u64 period_ns;
};

static struct {
	pid_t pid;
	int orders, results; /* pipes */
	atomic_bool *stop;   /* shared with the child */
} loop;

#define MAX_CHUNKS (1 << 20)

/* Inline, so that the loop holds nothing but the system call. */
static inline void make_calls(enum loop_call call, int fd)
{
	char byte;

	if (call == LOOP_PREAD)
		for (int i = 0; i < LOOP_CHUNK; i++)
			syscall(SYS_pread64, fd, &byte, 1ul, (long)i);
	else
		for (int i = 0; i < LOOP_CHUNK; i++)
			syscall(SYS_getppid);
}

static struct loop_result run_order(const struct order *order, int fd, double *chunk_ns)
{
	u64 begin_ns = monotonic_ns(), before_ns = begin_ns;
	struct loop_result result = { 0, 0 };
	size_t n = 0;

	for (;;) {
		make_calls(order->call, fd);
		u64 now_ns = monotonic_ns();

		result.calls += LOOP_CHUNK;
		if (n < MAX_CHUNKS)
			chunk_ns[n++] = (double)(now_ns - before_ns) / LOOP_CHUNK;
		before_ns = now_ns;
		if (order->duration_ns ? now_ns - begin_ns >= order->duration_ns
				       : atomic_load_explicit(loop.stop, memory_order_relaxed))
			break;
	}
	result.ns_per_call = median(chunk_ns, n);
	return result;
}

static struct loop_result run_paced(const struct order *order, int fd)
{
	struct loop_result result = { 0, 0 };
	u64 next_ns = monotonic_ns(), now_ns;
	char byte;

	while (!atomic_load_explicit(loop.stop, memory_order_relaxed)) {
		for (long i = 0; i < order->n_paced; i++)
			syscall(SYS_pread64, fd, &byte, 1ul, i);
		result.calls += (u64)order->n_paced;
		next_ns += order->period_ns;
		now_ns = monotonic_ns();
		if (next_ns > now_ns)
			sleep_ns(next_ns - now_ns);
	}
	return result;
}

static void child(int orders, int results)
{
	double *chunk_ns = malloc(MAX_CHUNKS * sizeof(*chunk_ns));
	int fd = open("/dev/zero", O_RDONLY);
	struct loop_result result;
	struct order order;

	if (!chunk_ns || fd < 0)
		_exit(1);
	pin_to_cpu(config.loop_cpu);
	while (read(orders, &order, sizeof(order)) == sizeof(order)) {
		result = order.n_paced ? run_paced(&order, fd) : run_order(&order, fd, chunk_ns);
		if (write(results, &result, sizeof(result)) != sizeof(result))
			break;
	}
	_exit(0);
}

void loop_start(void)
{
	int orders[2], results[2];

	loop.stop = mmap(NULL, sizeof(*loop.stop), PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (loop.stop == MAP_FAILED || pipe2(orders, O_CLOEXEC) || pipe2(results, O_CLOEXEC))
		fail("cannot make the loop's pipes");
	loop.pid = fork();
	if (loop.pid < 0)
		fail("cannot start the loop");
	if (loop.pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(orders[1]);
		close(results[0]);
		child(orders[0], results[1]);
	}
	close(orders[0]);
	close(results[1]);
	loop.orders = orders[1];
	loop.results = results[0];
}

void loop_stop(void)
{
	close(loop.orders);
	close(loop.results);
	waitpid(loop.pid, NULL, 0);
}

pid_t loop_pid(void)
{
	return loop.pid;
}

static void give(enum loop_call call, u64 duration_ns)
{
	const struct order order = { .call = call, .duration_ns = duration_ns };

	if (write(loop.orders, &order, sizeof(order)) != sizeof(order))
		fail("the loop does not take orders");
}

static struct loop_result take(void)
{
	struct loop_result result;

	if (read(loop.results, &result, sizeof(result)) != sizeof(result))
		fail("the loop ended early");
	return result;
}

struct loop_result loop_batch(enum loop_call call, u64 duration_ns)
{
	give(call, duration_ns);
	return take();
}

void loop_busy_begin(void)
{
	atomic_store(loop.stop, false);
	give(LOOP_PREAD, 0);
}

void loop_paced_begin(int n, u64 period_ns)
{
	const struct order order = { .call = LOOP_PREAD, .n_paced = n, .period_ns = period_ns };

	atomic_store(loop.stop, false);
	if (write(loop.orders, &order, sizeof(order)) != sizeof(order))
		fail("the loop does not take orders");
}

u64 loop_busy_end(void)
{
	atomic_store(loop.stop, true);
	return take().calls;
}
