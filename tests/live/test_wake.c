/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * wake_count: the event that makes it ends the window, and each event is in one window all the
 * same; who has nothing to tell is woken by the ends of its windows alone.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "place.h"

enum { ROUNDS = 100, COUNT = 10, QUIET = 20 };

struct seen {
	u64 n_batches, n, slow, end_ns; /* the latest batch's end, and its row */
	struct proc ebql;
};

static u64 number_behind(const char *text, const char *key)
{
	const char *at = strstr(text, key);

	return at ? strtoull(at + strlen(key), NULL, 10) : 0;
}

/* Of what it said so far: each line whole. */
static void look(struct seen *seen)
{
	struct buf *text = &seen->ebql.out_text;
	const char *at = text->n ? text->at : "";

	proc_pump(1);
	at = text->n ? text->at : "";
	seen->n_batches = 0;
	for (const char *end; (end = strchr(at, '\n')); at = end + 1) {
		if (strncmp(at, "{\"_batch\"", 9) == 0) {
			seen->n_batches++;
			seen->end_ns = number_behind(at, "\"window_end\":");
		} else {
			seen->n = number_behind(at, "{\"n\":");
			seen->slow = number_behind(at, ",\"slow\":");
		}
	}
}

static void wait_batches(struct seen *seen, u64 n)
{
	for (u64 end_ns = base_monotonic_ns() + LIMIT_MS * 1000000ull;
	     seen->n_batches < n && base_monotonic_ns() < end_ns;)
		look(seen);
	assert_int_equal(seen->n_batches, n);
}

static void start(struct seen *seen, const char *size)
{
	char query[512];

	snprintf(query, sizeof(query),
		 "SELECT count(*) AS n, count(*) FILTER (WHERE s.pid = 7) AS slow "
		 "FROM tracepoint:syscalls:sys_enter_getpgid AS s WHERE current.pid = %d "
		 "WINDOW TUMBLING %s WITH (wake_count = %d)",
		 getpid(), size, COUNT);
	proc_start(&seen->ebql,
		   (const char *const[]){ proc_ebql(), "-o", "json", "--verbose", query, NULL }, 0);
	assert_true(proc_wait_text(&seen->ebql, "attached", LIMIT_MS));
}

static void end(struct seen *seen)
{
	proc_signal(&seen->ebql, SIGINT);
	assert_int_equal(proc_wait_exit(&seen->ebql, LIMIT_MS), 0);
	look(seen);
	proc_forget(&seen->ebql);
}

static int by_size(const void *a, const void *b)
{
	u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return x < y ? -1 : x > y;
}

/* In windows of a day, of which nobody waits for the end. */
static void test_wakes(void **state)
{
	struct seen seen = { 0 };
	u64 took_ns[ROUNDS];

	session_require();
	start(&seen, "1d");
	for (u32 round = 0; round < ROUNDS; round++) {
		u64 called_ns;

		/* Of others there may be as many as want to be. */
		for (u32 i = 0; i < 3 * COUNT; i++)
			syscall(SYS_getpgid, 8);
		for (u32 i = 0; i < COUNT - 1; i++)
			syscall(SYS_getpgid, 7);
		if (round < 3)
			usleep(50000);
		look(&seen);
		assert_int_equal(seen.n_batches, round);
		syscall(SYS_getpgid, 7);
		called_ns = base_realtime_ns();
		wait_batches(&seen, round + 1);
		assert_int_equal(seen.slow, COUNT);
		assert_int_equal(seen.n, 4 * COUNT);
		took_ns[round] = seen.end_ns > called_ns ? seen.end_ns - called_ns : 0;
	}
	/* That they ended at all is the proof: how soon is the machine's, and bench/budget's. */
	qsort(took_ns, ROUNDS, sizeof(*took_ns), by_size);
	print_message("# ended behind the event: median %.3f ms, p99 %.3f ms\n",
		      (double)took_ns[ROUNDS / 2] / 1e6, (double)took_ns[ROUNDS - 2] / 1e6);
	syscall(SYS_getpgid, 7);
	end(&seen);
	assert_int_equal(seen.n_batches, ROUNDS + 1);
	assert_int_equal(seen.slow, 1);
}

/* Counts go over ends of windows from no time: all events are in some window, on both sides. */
static void test_ends(void **state)
{
	struct seen seen = { 0 };
	struct buf *text = &seen.ebql.out_text;
	u64 n = 0, slow = 0;

	session_require();
	start(&seen, "20ms");
	for (u64 end_ns = base_monotonic_ns() + 1000000000; base_monotonic_ns() < end_ns; n += 100)
		for (u32 i = 0; i < 100; i++)
			syscall(SYS_getpgid, i % 25 ? 8 : 7);
	proc_signal(&seen.ebql, SIGINT);
	assert_int_equal(proc_wait_exit(&seen.ebql, LIMIT_MS), 0);
	for (const char *at = text->at; (at = strstr(at, "{\"n\":")); at++) {
		n -= number_behind(at, "{\"n\":");
		slow += number_behind(at, ",\"slow\":");
	}
	assert_int_equal(n, 0);
	assert_true(slow > COUNT);
	proc_forget(&seen.ebql);
}

/* How often it has gone to sleep, when it sleeps. */
static u64 sleeps(const struct seen *seen)
{
	char path[64], text[4096];
	size_t n;
	FILE *file;

	do {
		snprintf(path, sizeof(path), "/proc/%d/status", seen->ebql.pid);
		file = fopen(path, "r");
		assert_non_null(file);
		n = fread(text, 1, sizeof(text) - 1, file);
		fclose(file);
		text[n] = '\0';
	} while (!strstr(text, "State:\tS"));
	return number_behind(text, "\nvoluntary_ctxt_switches:\t");
}

/* The batches so far and the sleeps so far, of one time. */
static u64 sleeps_at(struct seen *seen)
{
	u64 n, batches;

	do {
		look(seen);
		batches = seen->n_batches;
		n = sleeps(seen);
		look(seen);
	} while (seen->n_batches != batches);
	return n;
}

static void test_quiet(void **state)
{
	struct seen seen = { 0 };
	u64 before, batches;

	session_require();
	start(&seen, "100ms");
	for (u32 i = 0; seen.n_batches < 3 && i < LIMIT_MS; i++)
		look(&seen);
	before = sleeps_at(&seen);
	batches = seen.n_batches;
	while (seen.n_batches < batches + QUIET)
		look(&seen);
	before = sleeps_at(&seen) - before;
	assert_int_equal(before, seen.n_batches - batches);
	end(&seen);
}

/* What sched_getattr(2) tells of a thread, up to its nice value, and of its slice. */
struct slice {
	u32 size, policy;
	u64 flags;
	s32 nice;
	u32 priority;
	u64 runtime_ns, others[2];
};

static struct slice slice_of(pid_t pid)
{
	struct slice slice = { 0 };

	assert_int_equal(syscall(SYS_sched_getattr, pid, &slice, sizeof(slice), 0), 0);
	return slice;
}

/* Where the kernel has slices of threads (6.12), it asks for a short one, which no child gets. */
static void test_runs_early(void **state)
{
	struct slice usual = slice_of(0), own;
	struct seen seen = { 0 };

	session_require();
	start(&seen, "1d");
	for (u32 i = 0; i < COUNT; i++)
		syscall(SYS_getpgid, 7);
	wait_batches(&seen, 1);
	own = slice_of(seen.ebql.pid);
	assert_int_equal(own.runtime_ns, usual.runtime_ns ? 100000 : 0);
	assert_int_equal(own.flags, usual.runtime_ns ? 1 : 0); /* reset on fork */
	assert_int_equal(own.policy, usual.policy);
	assert_int_equal(own.nice, -20); /* as proc_start() made it */
	end(&seen);
}

/* Two that ask the same: each counts for itself, and ends its own windows. */
static void test_alike(void **state)
{
	static const char *const outs[] = { "a.out", "b.out" };
	struct place *p = *state;

	session_require();
	for (u32 i = 0; i < 2; i++)
		place_write(p, i ? "b.sql" : "a.sql",
			    "SELECT count(*) FILTER (WHERE tid > 0) AS n " CALLS
			    "WINDOW TUMBLING 1d WITH (wake_count = 10, out = 'json:%s/%s')",
			    getpid(), p->folder, outs[i]);
	place_start(p, p->folder, NULL);
	for (u32 n = 1; n <= 3; n++) {
		u64 end_ns = base_monotonic_ns() + LIMIT_MS * 1000000ull / 6;

		place_call(10);
		for (u32 i = 0; i < 2; i++)
			while (place_sum(p, outs[i], "\"n\":") < n * 10) {
				assert_true(base_monotonic_ns() < end_ns);
				proc_pump(10);
			}
	}
	place_end(p, SIGTERM, 0);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_wakes),
		cmocka_unit_test(test_ends),
		cmocka_unit_test(test_quiet),
		cmocka_unit_test(test_runs_early),
		cmocka_unit_test_setup_teardown(test_alike, place_setup, place_teardown),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests_name("wake", tests, NULL, NULL);
}
