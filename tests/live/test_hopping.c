/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Hopping windows of a load of known calls: where the advance divides the size each call
 * is in exactly size / advance windows, so the sums over all windows are so many times
 * the truth, by equality, and the extremes are the truth's.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "session.h"

#define RUNS_MAX 5
#define SELECT                                                                                     \
	"SELECT fd, cpu, count(*) AS n, sum(count) AS s, min(count) AS lo, max(count) AS hi "      \
	"FROM tracepoint:syscalls:sys_enter_pread64 WHERE pid = %d GROUP BY fd, cpu "

static void run_once(struct session *session, const char *query, u32 size_ms, u32 advance_ms)
{
	session->rows.advance_ns = advance_ms * 1000000ull;
	session->rows.size_ns = size_ms * 1000000ull;
	session_load(session, "--calls", session_is_long() ? "3000000" : "300000", "--fds", "50",
		     NULL);
	session_ebql(session, query, NULL);
	session_load_run(session);
	/* Until the last call is in all its windows: they end when it has left. */
	usleep(2 * MAX(size_ms, advance_ms) * 1000);
	session_end(session, SIGINT, 0);
	assert_string_equal(session->rows.error, "");
	assert_int_equal(session->rows.lost, 0);
	/* A run that ends in a gap has given its last window before. */
	assert_true(session->rows.was_last || advance_ms > size_ms);
}

/* Again where the machine woke ebql so late that it left out a window; but not for ever. */
static struct session *run(void **state, const char *query, u32 size_ms, u32 advance_ms)
{
	session_require();
	for (u32 i = 0; i < RUNS_MAX; i++) {
		if (i) {
			session_teardown(state);
			session_setup(state);
		}
		run_once(*state, query, size_ms, advance_ms);
		if (!((struct session *)*state)->rows.n_skipped)
			break;
	}
	return *state;
}

static const struct fold_cell *find(const struct fold *fold, s64 fd, s64 cpu)
{
	for (u32 i = 0; i < fold->capacity; i++)
		if (fold->cells[i].calls && fold->cells[i].fd == fd && fold->cells[i].cpu == cpu)
			return &fold->cells[i];
	fail_msg("no group (%ld, %ld)", fd, cpu);
	return NULL;
}

/* Each call is in at least `least` and at most `most` windows, but those that were left out. */
static void expect_times(const struct session *session, u64 least, u64 most)
{
	const struct fold *rows = &session->rows, *truth = &session->truth;

	if (rows->n_skipped)
		print_message("%lu windows were left out: no equality\n", rows->n_skipped);
	least -= MIN(least, rows->n_skipped);
	assert_int_equal(rows->n_cells, truth->n_cells);
	for (u32 i = 0; i < truth->capacity; i++) {
		const struct fold_cell *want = &truth->cells[i], *have;

		if (!want->calls)
			continue;
		have = find(rows, want->fd, want->cpu);
		assert_in_range(have->calls, least * want->calls, most * want->calls);
		assert_in_range(have->sum, least * want->sum, most * want->sum);
		assert_int_equal(have->min, want->min);
		assert_int_equal(have->max, want->max);
	}
	assert_int_equal(rows->matched, rows->calls);
	assert_in_range(rows->calls, least * truth->calls, most * truth->calls);
}

static void test_ten_times(void **state)
{
	expect_times(run(state, SELECT "WINDOW HOPPING 100ms BY 10ms", 100, 10), 10, 10);
}

static void test_forty_times(void **state)
{
	expect_times(run(state, SELECT "WINDOW HOPPING (SIZE 2s, ADVANCE BY 50ms)", 2000, 50), 40,
		     40);
}

static void test_thesis(void **state)
{
	expect_times(run(state, SELECT "WINDOW(time, 60, 20)", 60, 20), 3, 3);
}

/* 70 = 2 * 30 + 10: a third of the time is in three windows, the rest in two. */
static void test_uneven(void **state)
{
	const struct session *session = run(state, SELECT "WINDOW HOPPING 70ms BY 30ms", 70, 30);

	expect_times(session, 2, 3);
	assert_true(session->rows.n_skipped || session->rows.calls > 2 * session->truth.calls);
	assert_true(session->rows.calls < 3 * session->truth.calls);
}

/* Windows with gaps between them see each call once or not at all. */
static void test_gaps(void **state)
{
	const struct session *session = run(state, SELECT "WINDOW HOPPING 10ms BY 20ms", 10, 20);

	assert_true(session->rows.calls > 0 && session->rows.calls < session->truth.calls);
	for (u32 i = 0; i < session->rows.capacity; i++)
		if (session->rows.cells[i].calls)
			assert_true(session->rows.cells[i].calls <= find(&session->truth,
									 session->rows.cells[i].fd,
									 session->rows.cells[i].cpu)
									    ->calls);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_ten_times, session_setup, session_teardown),
		cmocka_unit_test_setup_teardown(test_forty_times, session_setup, session_teardown),
		cmocka_unit_test_setup_teardown(test_thesis, session_setup, session_teardown),
		cmocka_unit_test_setup_teardown(test_uneven, session_setup, session_teardown),
		cmocka_unit_test_setup_teardown(test_gaps, session_setup, session_teardown),
	};

	return cmocka_run_group_tests_name("hopping", tests, NULL, NULL);
}
