/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * load_flip(): while threads make an exactly known number of calls, the epoch is
 * switched as fast as it goes and the old copy drained and cleared by plain loads
 * and stores; the sum must be the number of calls, on both access paths, with no
 * row ever seen half updated.  Also what a busy CPU and an offline CPU do.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "query.h"

#define N_THREADS 2
#define N_CALLS	  1500000ull /* a thread */

static u32 n_running;

static void *caller(void *context)
{
	cpu_set_t set;

	/* One thread on each CPU, as far as there are two; the flipper has no place of its own. */
	CPU_ZERO(&set);
	CPU_SET((size_t)context % sysconf(_SC_NPROCESSORS_ONLN), &set);
	sched_setaffinity(0, sizeof(set), &set);
	query_calls(N_CALLS);
	__atomic_sub_fetch(&n_running, 1, __ATOMIC_SEQ_CST);
	return NULL;
}

static int compare(const void *a, const void *b)
{
	u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return x < y ? -1 : x > y;
}

static void opened(struct query *query, enum access_path path)
{
	query_init(query, path);
	query_compile(query, 0);
	if (query_open(query, 1) || load_attach(&query->load, &query->diags)) {
		query_show(query);
		fail_msg("not opened or not attached");
	}
}

#define N_LATENCIES 65536

static void flip_is_exact(enum access_path path, const char *name)
{
	static u64 latencies[N_LATENCIES];
	u64 n_flips = 0, sum = 0, n_torn = 0, n_copies_used = 0, total = N_THREADS * N_CALLS;
	pthread_t threads[N_THREADS];
	struct query query;

	SKIP_UNLESS(geteuid() == 0, "needs root to load programs");
	opened(&query, path);
	n_running = N_THREADS;
	for (size_t i = 0; i < N_THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, caller, (void *)i), 0);
	while (__atomic_load_n(&n_running, __ATOMIC_SEQ_CST)) {
		u64 start_ns = base_monotonic_ns(), got;

		assert_int_equal(load_flip(&query.load), 0);
		latencies[n_flips++ % N_LATENCIES] = base_monotonic_ns() - start_ns;
		got = query_drain(&query, query.load.epoch ^ 1, &n_torn);
		n_copies_used += got > 0;
		sum += got;
	}
	for (u32 i = 0; i < N_THREADS; i++)
		pthread_join(threads[i], NULL);
	load_detach(&query.load);
	assert_int_equal(load_missed(&query.load), 0);
	sum += query_drain(&query, 0, &n_torn) + query_drain(&query, 1, &n_torn);
	qsort(latencies, MIN(n_flips, N_LATENCIES), sizeof(*latencies), compare);
	print_message("%s: %llu calls, %llu flips, median %.1f us, 99th percentile %.1f us\n", name,
		      (unsigned long long)total, (unsigned long long)n_flips,
		      latencies[MIN(n_flips, N_LATENCIES) / 2] / 1e3,
		      latencies[MIN(n_flips, N_LATENCIES) * 99 / 100] / 1e3);
	assert_int_equal(sum, total);
	assert_int_equal(n_torn, 0);
	/* It was a test only if the calls were spread over many flips. */
	assert_true(n_copies_used > 100);
	load_close(&query.load);
	query_free(&query);
}

static void test_exact_raw(void **state)
{
	flip_is_exact(ACCESS_RAW, "raw tracepoint");
}

static void test_exact_tracepoint(void **state)
{
	flip_is_exact(ACCESS_TRACEPOINT, "tracepoint");
}

/* Another epoch on every line, and events go to the other copy. */
static void test_switches_copies(void **state)
{
	struct query query;
	u64 n_torn = 0;

	SKIP_UNLESS(geteuid() == 0, "needs root to load programs");
	opened(&query, ACCESS_RAW);
	for (u32 i = 0; i < 5; i++) {
		assert_int_equal(query.load.epoch, i & 1);
		query_calls(10 + i);
		assert_int_equal(load_flip(&query.load), 0);
		for (u32 cpu = 0; cpu < query.phys.state.n_cpus; cpu++)
			assert_int_equal(query.load.control[cpu].epoch, (i + 1) & 1);
		assert_int_equal(query_drain(&query, i & 1, &n_torn), 10 + i);
		assert_int_equal(query_drain(&query, (i + 1) & 1, &n_torn), 0);
	}
	load_close(&query.load);
	query_free(&query);
}

/* A CPU that stays busy: -EBUSY in bounded time; once it is free, the flip is finished. */
static void test_busy_is_bounded(void **state)
{
	struct query query;
	u64 start_ns, ns;

	SKIP_UNLESS(geteuid() == 0, "needs root to load programs");
	opened(&query, ACCESS_RAW);
	query.load.control[0].busy = 1;
	start_ns = base_monotonic_ns();
	assert_int_equal(load_flip(&query.load), -EBUSY);
	ns = base_monotonic_ns() - start_ns;
	assert_in_range(ns, 1000000000ull, 4000000000ull);
	assert_int_equal(query.load.epoch, 0);
	assert_int_equal(query.load.control[0].epoch, 0);
	query.load.control[0].busy = 0;
	assert_int_equal(load_flip(&query.load), 0);
	for (u32 cpu = 0; cpu < query.phys.state.n_cpus; cpu++)
		assert_int_equal(query.load.control[cpu].epoch, 1);
	load_close(&query.load);
	query_free(&query);
}

/* CPUs that do not run (here: that do not exist) are switched from outside. */
static void test_offline_cpus(void **state)
{
	struct query query;

	SKIP_UNLESS(geteuid() == 0, "needs root to load programs");
	query_init(&query, ACCESS_RAW);
	query.phys.state.n_cpus += 3;
	query.phys.state.total_bytes = query.phys.state.slice_bytes * 2 * query.phys.state.n_cpus;
	query_compile(&query, 0);
	assert_int_equal(query_open(&query, 1), 0);
	for (u32 i = 1; i < 4; i++) {
		assert_int_equal(load_flip(&query.load), 0);
		for (u32 cpu = 0; cpu < query.phys.state.n_cpus; cpu++)
			assert_int_equal(query.load.control[cpu].epoch, i & 1);
	}
	load_close(&query.load);
	query_free(&query);
}

/* What programs gave up on themselves, each reported once. */
static void test_missed(void **state)
{
	struct query query;

	SKIP_UNLESS(geteuid() == 0, "needs root to load programs");
	opened(&query, ACCESS_RAW);
	assert_int_equal(load_missed(&query.load), 0);
	query.load.control[0].missed += 5;
	query.load.control[query.phys.state.n_cpus - 1].missed += 2;
	assert_int_equal(load_missed(&query.load), 7);
	assert_int_equal(load_missed(&query.load), 0);
	query.load.control[0].missed += 1;
	assert_int_equal(load_missed(&query.load), 1);
	load_close(&query.load);
	query_free(&query);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_switches_copies),	 cmocka_unit_test(test_exact_raw),
		cmocka_unit_test(test_exact_tracepoint), cmocka_unit_test(test_busy_is_bounded),
		cmocka_unit_test(test_offline_cpus),	 cmocka_unit_test(test_missed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
