/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Windows that cannot end on time: a reader that stops for a second, an ebql that is stopped, and
 * CPUs that do other work.  The sums are the truth all the same, and each window says, to the
 * nanosecond, how late it was and how many it stands for.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>

#include "session.h"

#define CPUS_MAX 64
#define MS	 1000000ull
#define SELECT                                                                                     \
	"SELECT fd, cpu, count(*) AS n, sum(count) AS s, min(count) AS lo, max(count) AS hi "      \
	"FROM tracepoint:syscalls:sys_enter_pread64 WHERE pid = %d GROUP BY fd, cpu "
#define IN_USER_SPACE "SET pushdown = off; SET ring_bytes = 64MiB; "

/* --- What keeps ebql from its work --- */

static bool are_busy;

/* Before all that is not of real time, for 150 of 200 ms. */
static void *keep_busy(void *cpu)
{
	const struct sched_param first = { .sched_priority = 1 };
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET((long)cpu, &cpus);
	sched_setaffinity(0, sizeof(cpus), &cpus);
	if (sched_setscheduler(0, SCHED_FIFO, &first))
		setpriority(PRIO_PROCESS, 0, -10);
	while (__atomic_load_n(&are_busy, __ATOMIC_RELAXED)) {
		u64 end_ns = base_monotonic_ns() + 150 * MS;

		while (base_monotonic_ns() < end_ns)
			;
		usleep(50000);
	}
	return NULL;
}

static void load_machine(struct session *session)
{
	long n = MIN(sysconf(_SC_NPROCESSORS_ONLN), (long)CPUS_MAX);
	pthread_t threads[CPUS_MAX];

	__atomic_store_n(&are_busy, true, __ATOMIC_RELAXED);
	for (long i = 0; i < n; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, keep_busy, (void *)i), 0);
	usleep(1000000);
	__atomic_store_n(&are_busy, false, __ATOMIC_RELAXED);
	for (long i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
}

static void stop_reading(struct session *session)
{
	usleep(1000000);
}

static void stop_ebql(struct session *session)
{
	proc_signal(&session->ebql, SIGSTOP);
	usleep(500000);
	proc_signal(&session->ebql, SIGCONT);
}

typedef void (*disturb)(struct session *session);

/* --- Runs --- */

static struct session *start(void **state, const char *query, const char *every)
{
	struct session *session = *state;
	int n;

	session_require();
	session_load(session, "--calls", "60000", "--fds", "20", "--pause-every", "100",
		     "--pause-us", "3000", NULL);
	session_ebql(session, query, every, every ? "20ms" : NULL, NULL);
	/* Two windows' rows; of those that came already none is left in it. */
	while ((n = fcntl(session->ebql.out, F_SETPIPE_SZ, 4096)) < 0 && errno == EBUSY)
		proc_pump(1);
	assert_true(n >= 0);
	return session;
}

static void finish(struct session *session, disturb how)
{
	session_load_go(session);
	usleep(100000);
	how(session);
	session_load_wait(session);
	usleep(100000);
	session_end(session, SIGINT, 0);
}

static struct session *run(void **state, const char *query, u64 size_ns, u64 advance_ns,
			   disturb how)
{
	struct session *session = *state;

	/* Before it starts: its first windows may be there when it says that it did. */
	session->rows.size_ns = size_ns;
	session->rows.advance_ns = advance_ns;
	start(state, query, NULL);
	finish(session, how);
	assert_string_equal(session->rows.error, "");
	assert_int_equal(session->rows.lost, 0);
	assert_true(session->rows.was_last);
	/* In place of those of half a second, of 20 ms each at most. */
	if (how != load_machine)
		assert_true(session->rows.most_merged >= 10);
	return session;
}

static void expect_exact(void **state, const char *query, disturb how)
{
	session_expect_exact(run(state, query, 20 * MS, 0, how));
}

static void test_reader(void **state)
{
	expect_exact(state, SELECT "WINDOW TUMBLING 20ms", stop_reading);
}

static void test_reader_unpushed(void **state)
{
	expect_exact(state, IN_USER_SPACE SELECT "WINDOW TUMBLING 20ms", stop_reading);
}

static void test_stopped(void **state)
{
	expect_exact(state, SELECT "WINDOW TUMBLING 20ms", stop_ebql);
}

static void test_stopped_unpushed(void **state)
{
	expect_exact(state, IN_USER_SPACE SELECT "WINDOW TUMBLING 20ms", stop_ebql);
}

static void test_loaded(void **state)
{
	expect_exact(state, SELECT "WINDOW TUMBLING 20ms", load_machine);
}

static void test_loaded_unpushed(void **state)
{
	expect_exact(state, IN_USER_SPACE SELECT "WINDOW TUMBLING 20ms", load_machine);
}

/* HOPPING 25 ms by 10: each call is in two windows or three, and in one where that is late. */
static void expect_hopping(void **state, const char *query, disturb how)
{
	const struct session *session = run(state, query, 25 * MS, 10 * MS, how);
	const struct fold *rows = &session->rows, *truth = &session->truth;

	assert_int_equal(rows->n_cells, truth->n_cells);
	for (u32 i = 0; i < truth->capacity; i++) {
		const struct fold_cell *want = &truth->cells[i];
		u64 calls = 0;

		for (u32 k = 0; want->calls && k < rows->capacity; k++) {
			const struct fold_cell *have = &rows->cells[k];

			if (!have->calls || have->fd != want->fd || have->cpu != want->cpu)
				continue;
			calls = have->calls;
			assert_int_equal(have->min, want->min);
			assert_int_equal(have->max, want->max);
		}
		assert_in_range(calls, want->calls, 3 * want->calls);
	}
	assert_int_equal(rows->matched, rows->calls);
}

static void test_hopping_reader(void **state)
{
	expect_hopping(state, SELECT "WINDOW HOPPING 25ms BY 10ms", stop_reading);
}

static void test_hopping_unpushed(void **state)
{
	expect_hopping(state, IN_USER_SPACE SELECT "WINDOW HOPPING 25ms BY 10ms", stop_ebql);
}

static void test_hopping_loaded(void **state)
{
	expect_hopping(state, SELECT "WINDOW HOPPING 25ms BY 10ms", load_machine);
}

/* Snapshots are of all that came so far: the last one has the truth, whoever paused. */
static void test_snapshots(void **state)
{
	struct session *session =
		start(state,
		      "SELECT count(*) AS n FROM tracepoint:syscalls:sys_enter_pread64 "
		      "WHERE pid = %d",
		      "--every");
	const char *at, *last = NULL;
	u64 n = 0;

	session->ebql.sink = NULL;
	finish(session, stop_reading);
	for (at = session->ebql.out_text.at; (at = strstr(at, "{\"n\":")); at++)
		last = at;
	assert_non_null(last);
	assert_int_equal(sscanf(last, "{\"n\":%lu", &n), 1);
	assert_int_equal(n, session->truth.calls);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_reader, session_setup, session_teardown),
		cmocka_unit_test_setup_teardown(test_reader_unpushed, session_setup,
						session_teardown),
		cmocka_unit_test_setup_teardown(test_stopped, session_setup, session_teardown),
		cmocka_unit_test_setup_teardown(test_stopped_unpushed, session_setup,
						session_teardown),
		cmocka_unit_test_setup_teardown(test_loaded, session_setup, session_teardown),
		cmocka_unit_test_setup_teardown(test_loaded_unpushed, session_setup,
						session_teardown),
		cmocka_unit_test_setup_teardown(test_hopping_reader, session_setup,
						session_teardown),
		cmocka_unit_test_setup_teardown(test_hopping_unpushed, session_setup,
						session_teardown),
		cmocka_unit_test_setup_teardown(test_hopping_loaded, session_setup,
						session_teardown),
		cmocka_unit_test_setup_teardown(test_snapshots, session_setup, session_teardown),
	};

	return cmocka_run_group_tests_name("late", tests, NULL, NULL);
}
