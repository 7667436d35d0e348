/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * load_flip(): while threads make an exactly known number of calls, the epoch is
 * switched as fast as it goes and the old copy drained and cleared by plain loads
 * and stores; the sum must be the number of calls, on both access paths, with no
 * row ever seen half updated.  Programs that take no slot must fail this test.  Also slots
 * that are taken and left at any time by many threads, and what a busy slot does.
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

#define PATIENCE_NS   2000000000ull
#define N_THREADS     2
#define N_CALLS	      1500000ull /* a thread */
#define N_WRONG_CALLS 150000ull

static u32 n_running;
static u64 n_calls; /* of each */

static void *caller(void *context)
{
	cpu_set_t set;

	/* One thread on each CPU, as far as there are two; the flipper has no place of its own. */
	CPU_ZERO(&set);
	CPU_SET((size_t)context % sysconf(_SC_NPROCESSORS_ONLN), &set);
	sched_setaffinity(0, sizeof(set), &set);
	query_calls(n_calls);
	__atomic_sub_fetch(&n_running, 1, __ATOMIC_SEQ_CST);
	return NULL;
}

static int compare(const void *a, const void *b)
{
	u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return x < y ? -1 : x > y;
}

static void opened(struct query *query, enum access_path path, bool takes_no_slot)
{
	query_init(query, path);
	query->takes_no_slot = takes_no_slot;
	query_compile(query, 0);
	if (query_open(query, 1) || load_attach(&query->load, &query->diags)) {
		query_show(query);
		fail_msg("not opened or not attached");
	}
}

static int flip(struct query *query)
{
	return load_flip(&(struct load_state *){ query->load.states }, 1, PATIENCE_NS);
}

#define N_LATENCIES 65536

struct outcome {
	u64 sum, n_torn, n_copies_used;
};

/* Of N_THREADS * N_CALLS calls, what was found in all windows, and rows half updated. */
static struct outcome flip_under_load(enum access_path path, const char *name, bool takes_no_slot)
{
	static u64 latencies[N_LATENCIES];
	u64 n_flips = 0, sum = 0, n_torn = 0, n_copies_used = 0, total;
	struct outcome outcome;
	pthread_t threads[N_THREADS];
	struct query query;

	n_calls = takes_no_slot ? N_WRONG_CALLS : N_CALLS;
	total = N_THREADS * n_calls;
	opened(&query, path, takes_no_slot);
	n_running = N_THREADS;
	for (size_t i = 0; i < N_THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, caller, (void *)i), 0);
	while (__atomic_load_n(&n_running, __ATOMIC_SEQ_CST)) {
		u64 start_ns = base_monotonic_ns(), got;

		assert_int_equal(flip(&query), 0);
		latencies[n_flips++ % N_LATENCIES] = base_monotonic_ns() - start_ns;
		got = query_drain(&query, query.load.states->epoch ^ 1, &n_torn);
		n_copies_used += got > 0;
		sum += got;
	}
	for (u32 i = 0; i < N_THREADS; i++)
		pthread_join(threads[i], NULL);
	load_detach(&query.load);
	assert_int_equal(load_missed(query.load.states), 0);
	sum += query_drain(&query, 0, &n_torn) + query_drain(&query, 1, &n_torn);
	qsort(latencies, MIN(n_flips, N_LATENCIES), sizeof(*latencies), compare);
	print_message("%s: %llu calls, %llu flips, median %.1f us, 99th percentile %.1f us\n", name,
		      (unsigned long long)total, (unsigned long long)n_flips,
		      latencies[MIN(n_flips, N_LATENCIES) / 2] / 1e3,
		      latencies[MIN(n_flips, N_LATENCIES) * 99 / 100] / 1e3);
	load_close(&query.load);
	query_free(&query);
	outcome = (struct outcome){ sum, n_torn, n_copies_used };
	return outcome;
}

static void flip_is_exact(enum access_path path, const char *name)
{
	struct outcome outcome;

	SKIP_UNLESS(geteuid() == 0, "needs root to load programs");
	outcome = flip_under_load(path, name, false);
	assert_int_equal(outcome.sum, N_THREADS * N_CALLS);
	assert_int_equal(outcome.n_torn, 0);
	/* It was a test only if the calls were spread over many flips. */
	assert_true(outcome.n_copies_used > 100);
}

/*
 * The test is able to fail.  A switch must fall into a program that runs at that moment, which
 * is rare where one thread of the host emulates all CPUs in turn: tried until it is seen.
 */
static void test_without_slots(void **state)
{
	struct outcome outcome;
	u64 start_ns = base_monotonic_ns();

	SKIP_UNLESS(geteuid() == 0, "needs root to load programs");
	do {
		outcome = flip_under_load(ACCESS_RAW, "raw tracepoint, no slot taken", true);
		if (outcome.sum != N_THREADS * n_calls || outcome.n_torn)
			return;
	} while (base_monotonic_ns() - start_ns < 60000000000ull);
	fail_msg("no event was lost and no row was torn without slots");
}

static void test_exact_raw(void **state)
{
	flip_is_exact(ACCESS_RAW, "raw tracepoint");
}

static void test_exact_tracepoint(void **state)
{
	flip_is_exact(ACCESS_TRACEPOINT, "tracepoint");
}

static u64 *epochs_of(struct query *query)
{
	return &query->load.slots[query->phys.state.n_cpus].slots[0];
}

/* Another epoch, the same for every slot, and events go to the other copy. */
static void test_switches_copies(void **state)
{
	struct query query;
	u64 n_torn = 0;

	SKIP_UNLESS(geteuid() == 0, "needs root to load programs");
	opened(&query, ACCESS_RAW, false);
	for (u32 i = 0; i < 5; i++) {
		assert_int_equal(query.load.states->epoch, i & 1);
		query_calls(10 + i);
		assert_int_equal(flip(&query), 0);
		assert_int_equal(*epochs_of(&query), (i + 1) & 1);
		for (u32 cpu = 0; cpu < query.phys.state.n_cpus; cpu++)
			assert_int_equal(query.load.slots[cpu].slots[0], slot_word(0, 0));
		assert_int_equal(query_drain(&query, i & 1, &n_torn), 10 + i);
		assert_int_equal(query_drain(&query, (i + 1) & 1, &n_torn), 0);
	}
	load_close(&query.load);
	query_free(&query);
}

/*
 * A slot that stays busy: -EBUSY in bounded time.  Events are counted in the other copy from the
 * instant of the switch on; once the slot is free, the flip is finished, and not done again.
 */
static void test_busy_is_bounded(void **state)
{
	struct query query;
	u64 start_ns, ns, n_torn = 0;

	SKIP_UNLESS(geteuid() == 0, "needs root to load programs");
	opened(&query, ACCESS_RAW, false);
	query_calls(3);
	query.load.slots[0].slots[0] = SLOT_BUSY;
	start_ns = base_monotonic_ns();
	assert_int_equal(flip(&query), -EBUSY);
	ns = base_monotonic_ns() - start_ns;
	assert_in_range(ns, 1000000000ull, 4000000000ull);
	assert_int_equal(query.load.states->epoch, 0);
	assert_in_range(query.load.states->waits_since_ns, start_ns, start_ns + 1000000000ull);
	assert_int_equal(query.load.slots[0].slots[0], SLOT_BUSY);
	query.load.slots[0].slots[0] = slot_word(0, 0);
	query_calls(5);
	assert_int_equal(flip(&query), 0);
	assert_int_equal(query.load.states->epoch, 1);
	assert_in_range(query.load.states->switched_ns, start_ns, start_ns + 1000000000ull);
	assert_int_equal(query.load.states->waits_since_ns, 0);
	assert_int_equal(query_drain(&query, 0, &n_torn), 3);
	assert_int_equal(query_drain(&query, 1, &n_torn), 5);
	assert_int_equal(flip(&query), 0);
	assert_int_equal(query.load.states->switched_ns, 0);
	assert_int_equal(*epochs_of(&query), 0);
	load_close(&query.load);
	query_free(&query);
}

/* --- A switch under way --- */

static void run_on(u32 cpu, int policy)
{
	struct sched_param param = { .sched_priority = policy == SCHED_FIFO };
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	assert_int_equal(sched_setaffinity(0, sizeof(set), &set), 0);
	assert_int_equal(sched_setscheduler(0, policy, &param), 0);
}

static void *flipper(void *context)
{
	run_on(1, SCHED_OTHER);
	assert_int_equal(flip(context), 0);
	return NULL;
}

/*
 * The switch waits for a program on the second CPU.  A thread whose event was counted in the new
 * copy goes to that CPU: what it does there comes later, so it is never counted in the old one,
 * whenever the switch finds the slot free.  (While that thread is there, the switch does not run.)
 */
static void test_is_one_instant(void **state)
{
	cpu_set_t before;
	struct query query;
	pthread_t thread;
	u64 n_torn = 0;

	SKIP_UNLESS(geteuid() == 0, "needs root to load programs");
	SKIP_UNLESS(sysconf(_SC_NPROCESSORS_ONLN) > 1, "needs two CPUs");
	assert_int_equal(sched_getaffinity(0, sizeof(before), &before), 0);
	opened(&query, ACCESS_RAW, false);
	query_calls(5);
	run_on(0, SCHED_OTHER);
	__atomic_store_n(&query.load.slots[1].slots[0], SLOT_BUSY, __ATOMIC_SEQ_CST);
	assert_int_equal(pthread_create(&thread, NULL, flipper, &query), 0);
	while (!__atomic_load_n(epochs_of(&query), __ATOMIC_SEQ_CST))
		usleep(100);
	query_calls(10);
	run_on(1, SCHED_FIFO);
	__atomic_store_n(&query.load.slots[1].slots[0], slot_word(0, 0), __ATOMIC_SEQ_CST);
	query_calls(20);
	run_on(0, SCHED_OTHER);
	pthread_join(thread, NULL);
	assert_int_equal(query_drain(&query, 0, &n_torn), 5);
	assert_int_equal(query_drain(&query, 1, &n_torn), 30);
	assert_int_equal(sched_setaffinity(0, sizeof(before), &before), 0);
	load_close(&query.load);
	query_free(&query);
}

/* --- Threads in the place of programs: they may be stopped anywhere, also for long --- */

#define N_WORKERS     4
#define N_SWITCHES    1000 /* that found events */
#define N_MODEL_CPUS  2
#define N_MODEL_SLOTS 4

#define N_MODEL_PARTS 20 /* more than a block */

struct model {
	struct load_hooks hooks;
	struct phys_set set;
	struct phys parts[N_MODEL_PARTS];
	struct load_state states[N_MODEL_PARTS], *all[N_MODEL_PARTS];
	struct slot_line slots[2 * N_MODEL_CPUS + 2];
	/* Of each part and copy; two words that count the same. */
	u64 cells[N_MODEL_PARTS][2][N_MODEL_CPUS][N_MODEL_SLOTS][2];
	u64 n_events, n_missed;
	bool takes_no_slot, is_over;
};

static u64 *model_epochs(struct model *m, u32 block)
{
	return &m->slots[2 * N_MODEL_CPUS + block].slots[0];
}

/* What a program does for the parts of a block; false: every slot is taken. */
static bool model_program(struct model *m, u32 block, u32 cpu, u32 number)
{
	struct slot_line *line = &m->slots[block * N_MODEL_CPUS + cpu];
	u64 free = SLOT_BUSY, word;
	u32 level = 0;

	for (; m->takes_no_slot ? level == 0 : level < N_MODEL_SLOTS; level++) {
		free = m->takes_no_slot ? __atomic_load_n(&line->slots[0], __ATOMIC_SEQ_CST)
					: __atomic_exchange_n(&line->slots[level], SLOT_BUSY,
							      __ATOMIC_SEQ_CST);
		if (free != SLOT_BUSY)
			break;
	}
	if (free == SLOT_BUSY)
		return false;
	word = free | __atomic_load_n(model_epochs(m, block), __ATOMIC_RELAXED);
	for (u32 i = block * BLOCK_PARTS; i < MIN(N_MODEL_PARTS, (block + 1) * BLOCK_PARTS); i++) {
		u64 *cell = m->cells[i][word >> i % BLOCK_PARTS & 1][cpu][word >> SLOT_LEVEL_SHIFT];

		cell[0] = *(volatile u64 *)&cell[0] + 1;
		if (number % 256 == i)
			usleep(1);
		if (number % 4096 == i)
			usleep(100);
		cell[1] = *(volatile u64 *)&cell[1] + 1;
	}
	if (!m->takes_no_slot)
		__atomic_store_n(&line->slots[level], free, __ATOMIC_RELEASE);
	return true;
}

/* An event of both blocks' hooks: two programs, of which the first one is missed alone here. */
static bool model_event(struct model *m, u32 cpu, u32 number)
{
	if (!model_program(m, 0, cpu, number))
		return false;
	while (!model_program(m, 1, cpu, number))
		usleep(1);
	return true;
}

static void *worker(void *context)
{
	struct model *m = context;
	u64 n_missed = 0;
	u32 n = 0;

	while (!__atomic_load_n(&m->is_over, __ATOMIC_SEQ_CST)) {
		n++;
		n_missed += !model_event(m, n / 64 % N_MODEL_CPUS, n);
		if (n % 64 == 0)
			usleep(1);
	}
	__atomic_fetch_add(&m->n_events, n, __ATOMIC_SEQ_CST);
	__atomic_fetch_add(&m->n_missed, n_missed, __ATOMIC_SEQ_CST);
	return NULL;
}

static u64 model_drain(struct model *m, u32 part, u32 copy, u64 *ret_n_torn)
{
	u64 *cell = m->cells[part][copy][0][0], sum = 0;

	for (u32 i = 0; i < N_MODEL_CPUS * N_MODEL_SLOTS; i++, cell += 2) {
		*ret_n_torn += cell[0] != cell[1];
		sum += cell[0];
		cell[0] = cell[1] = 0;
	}
	return sum;
}

static void model_init(struct model *m)
{
	m->set = (struct phys_set){ .n_parts = N_MODEL_PARTS,
				    .n_cpus = N_MODEL_CPUS,
				    .n_slots = N_MODEL_SLOTS };
	m->hooks = (struct load_hooks){ .set = &m->set, .slots = m->slots };
	for (u32 i = 0; i < N_MODEL_PARTS; i++) {
		m->parts[i].number = i;
		m->states[i] = (struct load_state){ .hooks = &m->hooks, .phys = &m->parts[i] };
		m->all[i] = &m->states[i];
	}
	for (u32 i = 0; i < 2 * N_MODEL_CPUS; i++)
		for (u32 level = 0; level < N_MODEL_SLOTS; level++)
			m->slots[i].slots[level] = slot_word(level, 0);
}

/* The first part's sum; parts of one block that differ in a window count as torn. */
static struct outcome model_run(struct model *m, u32 n_switches)
{
	struct outcome outcome = { 0 };
	u64 sums[N_MODEL_PARTS] = { 0 };
	pthread_t threads[N_WORKERS];
	u32 n_used = 0;

	model_init(m);
	for (u32 i = 0; i < N_WORKERS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, worker, m), 0);
	while (n_used <= n_switches) {
		u64 got[N_MODEL_PARTS];

		if (n_used == n_switches) {
			__atomic_store_n(&m->is_over, true, __ATOMIC_SEQ_CST);
			for (u32 i = 0; i < N_WORKERS; i++)
				pthread_join(threads[i], NULL);
		}
		/* Where these threads seldom run, one may have a slot for long. */
		while (load_flip(m->all, N_MODEL_PARTS, PATIENCE_NS) == -EBUSY)
			;
		for (u32 i = 0; i < N_MODEL_PARTS; i++) {
			got[i] = model_drain(m, i, m->states[i].epoch ^ 1, &outcome.n_torn);
			outcome.n_torn += got[i] != got[i / BLOCK_PARTS * BLOCK_PARTS];
			sums[i] += got[i];
		}
		n_used += got[0] > 0 || n_used == n_switches;
	}
	for (u32 i = 0; i < N_MODEL_PARTS; i++)
		outcome.n_torn += sums[i] != sums[0];
	outcome.sum = sums[0];
	print_message("%llu events, %llu found no slot\n", (unsigned long long)m->n_events,
		      (unsigned long long)m->n_missed);
	return outcome;
}

/* What runs here is no kernel's: slow guests do less of it (--quick). */
static bool is_quick;

static void test_preempted(void **state)
{
	static struct model m;
	struct outcome outcome = model_run(&m, is_quick ? N_SWITCHES / 10 : N_SWITCHES);

	assert_int_equal(outcome.sum + m.n_missed, m.n_events);
	assert_int_equal(outcome.n_torn, 0);
}

static void test_preempted_without_slots(void **state)
{
	static struct model m = { .takes_no_slot = true };
	struct outcome outcome = model_run(&m, N_SWITCHES);

	assert_true(outcome.sum != m.n_events || outcome.n_torn);
}

/* Some parts, of both blocks: the others stay as they are, and what is busy is not passed by. */
static void test_some_parts(void **state)
{
	static struct model m;
	struct load_state *some[2] = { &m.states[3], &m.states[17] };

	model_init(&m);
	for (u32 round = 1; round < 4; round++) {
		assert_int_equal(load_flip(some, 2, PATIENCE_NS), 0);
		for (u32 i = 0; i < N_MODEL_PARTS; i++)
			assert_int_equal(m.states[i].epoch, i == 3 || i == 17 ? round & 1 : 0);
		assert_int_equal(*model_epochs(&m, 0), (round & 1) << 3);
		assert_int_equal(*model_epochs(&m, 1), (round & 1) << 1);
	}
	m.slots[N_MODEL_CPUS].slots[2] = SLOT_BUSY;
	assert_int_equal(load_flip(some, 2, PATIENCE_NS), -EBUSY);
	assert_int_equal(m.states[3].epoch, 1);
	/* Another part, which is switched; those that wait are not, a second time. */
	assert_int_equal(load_flip(&(struct load_state *){ &m.states[4] }, 1, PATIENCE_NS), -EBUSY);
	m.slots[N_MODEL_CPUS].slots[2] = slot_word(2, 0);
	assert_int_equal(load_flip(some, 2, PATIENCE_NS), 0);
	assert_int_equal(m.states[3].epoch, 0);
	assert_int_equal(*model_epochs(&m, 0), 1 << 4);
	assert_int_equal(*model_epochs(&m, 1), 0);
}

/* What programs gave up on themselves, each reported once. */
static void test_missed(void **state)
{
	struct query query;

	SKIP_UNLESS(geteuid() == 0, "needs root to load programs");
	opened(&query, ACCESS_RAW, false);
	assert_int_equal(load_missed(query.load.states), 0);
	query.load.missed[0] += 5;
	query.load.missed[0] += 2;
	assert_int_equal(load_missed(query.load.states), 7);
	assert_int_equal(load_missed(query.load.states), 0);
	query.load.missed[0] += 1;
	assert_int_equal(load_missed(query.load.states), 1);
	load_close(&query.load);
	query_free(&query);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_switches_copies),
		cmocka_unit_test(test_exact_raw),
		cmocka_unit_test(test_exact_tracepoint),
		cmocka_unit_test(test_without_slots),
		cmocka_unit_test(test_preempted),
		cmocka_unit_test(test_preempted_without_slots),
		cmocka_unit_test(test_some_parts),
		cmocka_unit_test(test_busy_is_bounded),
		cmocka_unit_test(test_is_one_instant),
		cmocka_unit_test(test_missed),
	};

	/* Chance, where one thread emulates all CPUs: test_preempted_without_slots forces it. */
	if (argc > 1 && !strcmp(argv[1], "--quick")) {
		cmocka_set_skip_filter("test_without_slots");
		is_quick = true;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
