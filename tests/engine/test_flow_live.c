/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Flows on the clock: windows of time share their bounds and each row is in its own, and
 * the groups of the kernel, alone and beside rows.
 */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <cmocka.h>

#include "flow_bench.h"

/* --- Live --- */

/* Bounds are shared; rows follow each other without gap or double. */
static void check_live(struct bench *b)
{
	s64 n = 0;

	for (u32 i = 0; i < b->n_batches; i++) {
		const struct batch *batch = &b->batches[i];

		assert_true(batch->is_windowed);
		assert_int_equal(batch->is_last, i == b->n_batches - 1);
		if (i)
			assert_int_equal(batch->window_start_ns, b->batches[i - 1].window_end_ns);
		assert_int_equal(b->firsts[i], n);
		n += b->seconds[i];
		assert_int_equal(batch->account.matched, b->seconds[i]);
	}
	assert_int_equal(n, b->result.account.matched);
}

static void live_init(struct bench *b, const char *sql, u64 step_ns)
{
	bench_init(b, sql, 2);
	b->is_texted = false;
	add_stream(b, step_ns);
}

static void test_live_tumbling(void **state)
{
	struct bench b;

	live_init(&b, "SELECT min(c1), count(*) FROM w0", 20000);
	b.cut.window = (struct cut_window){ WINDOW_TUMBLING, 10 * MS, 10 * MS };
	b.options.n_windows = 6;
	assert_int_equal(bench_run(&b), 0);
	assert_int_equal(b.n_batches, 6);
	check_live(&b);
	/* Each flip ends a window, to the row. */
	for (u32 i = 1; i < 6; i++) {
		u32 first = (u32)b.firsts[i];

		assert_true(live_time(&b.sources[0], first) >= b.flips_ns[i - 1]);
		if (first)
			assert_true(live_time(&b.sources[0], first - 1) < b.flips_ns[i - 1]);
	}
	bench_free(&b);
}

/* Until a time: again where others had the CPU for one of the ends. */
static void test_live_duration(void **state)
{
	u64 limit_ns = base_monotonic_ns() + 300000 * MS;
	u32 n_batches;

	do {
		struct bench b;

		live_init(&b, "SELECT min(c1), count(*) FROM w0", 20000);
		b.cut.window = (struct cut_window){ WINDOW_TUMBLING, 10 * MS, 10 * MS };
		b.options.duration_ns = 35 * MS;
		assert_int_equal(bench_run(&b), 0);
		check_live(&b);
		n_batches = b.n_batches;
		bench_free(&b);
	} while (n_batches < 3 && base_monotonic_ns() < limit_ns);
	assert_true(n_batches >= 3);
}

/* An output that is slow: windows are late, and longer. */
static void test_live_late(void **state)
{
	struct bench b;

	live_init(&b, "SELECT min(c1), count(*) FROM w0", 20000);
	b.cut.window = (struct cut_window){ WINDOW_TUMBLING, 5 * MS, 5 * MS };
	b.options.n_windows = 8;
	b.sink_sleep_ns = 12 * MS;
	assert_int_equal(bench_run(&b), 0);
	assert_int_equal(b.n_batches, 8);
	check_live(&b);
	for (u32 i = 1; i < 8; i++)
		assert_true(b.batches[i].window_end_ns - b.batches[i].window_start_ns >= 10 * MS);
	bench_free(&b);
}

/* A program that does not end, at a boundary, and at the end of the run. */
static void test_live_busy(void **state)
{
	struct bench b;

	live_init(&b, "SELECT min(c1), count(*) FROM w0", 20000);
	b.cut.window = (struct cut_window){ WINDOW_TUMBLING, 10 * MS, 10 * MS };
	b.options.n_windows = 4;
	b.flip_errors = 1;
	b.flip_error = -EBUSY;
	assert_int_equal(bench_run(&b), 0);
	assert_int_equal(b.n_batches, 4);
	check_live(&b);
	assert_true(b.batches[0].window_end_ns - b.batches[0].window_start_ns >= 10 * MS);
	bench_free(&b);
	/* Detaching ends it, unless another query keeps it attached. */
	for (u32 n_users = 1; n_users <= 2; n_users++) {
		live_init(&b, "SELECT min(c1), count(*) FROM w0", 20000);
		b.cut.window = (struct cut_window){ WINDOW_TUMBLING, 1000 * MS, 1000 * MS };
		b.options.duration_ns = 5 * MS;
		b.flip_errors = 1000;
		b.flip_error = -EBUSY;
		b.hooks.n_users = n_users;
		assert_int_equal(bench_run(&b), n_users > 1 ? -EBUSY : 0);
		assert_int_equal(b.n_batches, n_users == 1);
		assert_int_equal(b.diags.n_errors, n_users > 1);
		if (n_users > 1)
			assert_string_equal(b.diags.list.at[0].tag, "run-end");
		bench_free(&b);
	}
}

static void run_hopping(u64 size_ns)
{
	struct bench b;

	live_init(&b, "SELECT min(c1), max(c1) FROM w0", 20000);
	b.cut.window = (struct cut_window){ WINDOW_HOPPING, size_ns, 10 * MS };
	b.options.n_windows = 9;
	assert_int_equal(bench_run(&b), 0);
	assert_int_equal(b.n_batches, 9);
	for (u32 i = 0; i < 9; i++) {
		const struct batch *batch = &b.batches[i];

		u64 begins = i ? b.batches[0].window_start_ns : batch->window_start_ns;

		if (batch->account.matched)
			assert_int_equal(batch->account.matched, b.seconds[i] - b.firsts[i] + 1);
		/* A window begins with the run, or where an earlier one, or a pane, ended. */
		for (u32 k = 0; k < i; k++) {
			if (b.batches[k].window_end_ns != batch->window_start_ns)
				continue;
			begins = batch->window_start_ns;
			if (b.batches[k].account.matched)
				assert_int_equal(b.firsts[i], b.seconds[k] + 1);
		}
		if (size_ns % (10 * MS) == 0)
			assert_int_equal(batch->window_start_ns, begins);
	}
	bench_free(&b);
}

static void test_live_hopping(void **state)
{
	run_hopping(30 * MS);
	run_hopping(25 * MS);
}

/*
 * What lies between two windows is in none, nor in the run's account; and a run that ends there has
 * no last window.
 */
static void test_live_gaps(void **state)
{
	u32 n_in_gap = 0;

	for (u64 ms = 20; ms < 60; ms += 3) {
		struct bench b;
		u64 n = 0;

		live_init(&b, "SELECT min(c1), max(c1) FROM w0", 20000);
		b.cut.window = (struct cut_window){ WINDOW_HOPPING, 5 * MS, 20 * MS };
		b.options.duration_ns = ms * MS;
		assert_int_equal(bench_run(&b), 0);
		for (u32 i = 0; i < b.n_batches; i++) {
			const struct batch *batch = &b.batches[i];
			u64 matched = batch->account.matched;

			n += matched;
			if (matched)
				assert_int_equal(matched, b.seconds[i] - b.firsts[i] + 1);
			if (i)
				assert_true(batch->window_start_ns >=
					    b.batches[i - 1].window_end_ns);
		}
		n_in_gap += !b.n_batches || !b.batches[b.n_batches - 1].is_last;
		assert_int_equal(b.result.account.matched, n);
		bench_free(&b);
	}
	/* A gap is three quarters of the time, and the 14 runs end all over it. */
	assert_in_range(n_in_gap, 1, 14);
}

static void test_live_count(void **state)
{
	struct bench b;

	for (u32 round = 0; round < 2; round++) {
		live_init(&b, "SELECT min(c1), count(*) FROM w0", 100000);
		b.cut.window = (struct cut_window){ WINDOW_COUNT, 50, 50 };
		if (round)
			b.options.duration_ns = 40 * MS;
		else
			b.options.n_windows = 4;
		assert_int_equal(bench_run(&b), 0);
		if (!round)
			assert_int_equal(b.n_batches, 4);
		for (u32 i = 0; i < b.n_batches; i++) {
			bool is_last = i == b.n_batches - 1;

			assert_int_equal(b.batches[i].is_last, is_last);
			if (b.batches[i].n_rows)
				assert_int_equal(b.firsts[i], 50 * i);
			if (!is_last || !round)
				assert_int_equal(b.seconds[i], 50);
		}
		bench_free(&b);
	}
}

/* A session is over when its gap has passed, though no row comes that says so. */
static void test_live_session(void **state)
{
	struct bench b;

	live_init(&b, "SELECT count(DISTINCT session), count(*) FROM w0", 500 * MS);
	b.cut.window = (struct cut_window){ .kind = WINDOW_SESSION, .size = 5 * MS };
	b.options.duration_ns = 200 * MS;
	assert_int_equal(bench_run(&b), 0);
	assert_int_equal(b.n_batches, 2);
	assert_false(b.batches[0].is_last);
	assert_int_equal(b.firsts[0], 1);
	assert_int_equal(b.seconds[0], 1);
	assert_true(b.batches[1].is_last);
	assert_int_equal(b.batches[1].n_rows, 0);
	bench_free(&b);
	live_init(&b, "SELECT count(DISTINCT session), count(*) FROM w0", 100000);
	b.cut.window = (struct cut_window){ .kind = WINDOW_SESSION, .size = 5 * MS };
	b.options.duration_ns = 30 * MS;
	assert_int_equal(bench_run(&b), 0);
	assert_int_equal(b.n_batches, 1);
	assert_int_equal(b.firsts[0], 1);
	assert_int_equal(b.seconds[0], b.result.account.matched);
	assert_true(b.result.account.matched > 0);
	bench_free(&b);
}

static void test_live_streaming(void **state)
{
	struct bench b;

	live_init(&b, "SELECT c1, c0 FROM w0", 1000000);
	b.cut.is_streaming = true;
	b.n_rows = 30;
	b.flip_errors = 1; /* a CPU that was busy: the rows are there at the next look */
	b.flip_error = -EBUSY;
	assert_int_equal(bench_run(&b), 0);
	for (u32 i = 0, n = 0; i < b.n_batches; n += b.batches[i++].n_rows)
		if (b.batches[i].n_rows)
			assert_int_equal(b.firsts[i], n);
	assert_true(b.result.account.matched >= 30);
	bench_free(&b);
	live_init(&b, "SELECT c1, c0 FROM w0", 1000000);
	b.cut.is_streaming = true;
	b.sink_signal = SIGINT;
	assert_int_equal(bench_run(&b), 0);
	assert_true(b.batches[b.n_batches - 1].is_last);
	bench_free(&b);
}

static void test_live_snapshots(void **state)
{
	struct bench b;

	live_init(&b, "SELECT min(c1), count(*) FROM w0", 100000);
	b.every_ns = 10 * MS;
	b.options.n_windows = 3;
	assert_int_equal(bench_run(&b), 0);
	assert_int_equal(b.n_batches, 3);
	for (u32 i = 0; i < 3; i++) {
		assert_false(b.batches[i].is_windowed);
		assert_int_equal(b.firsts[i], 0);
		assert_int_equal(b.batches[i].account.matched, b.seconds[i]);
		assert_int_equal(b.batches[i].window_start_ns, b.batches[0].window_start_ns);
		if (i)
			assert_true(b.seconds[i] > b.seconds[i - 1]);
	}
	assert_int_equal(b.result.account.matched, b.seconds[2]);
	bench_free(&b);
}

/* --- Groups of the kernel --- */

static void groups_init(struct bench *b, const char *sql, u64 window_ns)
{
	struct fake *fake = &b->fake;

	bench_init(b, sql, 2);
	b->is_texted = false;
	fake_init(fake, STATE_TABLE, 2, 1, 16);
	fake_key(fake, type_int(64, false));
	fake_aggregate(fake, AGGREGATE_COUNT, fake_cell(fake, CELL_COUNT, false, false), -1);
	fake_ready(fake);
	fake->phys.window = window_ns ? WINDOW_TUMBLING : WINDOW_NONE;
	fake->phys.window_ns = window_ns;
	add_part(b, PART_GROUPS, fake->output.n_columns - 2);
	b->hooks.n_states = PARTS_MAX;
	b->load[0] = (struct load_state){
		.hooks = &b->hooks, .phys = &fake->phys, .state = fake->state, .control = b->control
	};
	b->loads[0] = &b->load[0];
	if (window_ns)
		b->cut.window = (struct cut_window){ WINDOW_TUMBLING, window_ns, window_ns };
}

static void test_groups(void **state)
{
	struct bench b;

	groups_init(&b, "SELECT sum(c1), count(*) FROM (SELECT * FROM w0 WHERE c0 > 0)", 10 * MS);
	b.options.n_windows = 5;
	assert_int_equal(bench_run(&b), 0);
	assert_int_equal(b.n_batches, 5);
	for (u32 i = 0; i < 5; i++) {
		const struct batch *batch = &b.batches[i];

		assert_int_equal(b.firsts[i], 5);
		assert_int_equal(b.seconds[i], 2);
		assert_int_equal(batch->account.events, 6);
		assert_int_equal(batch->is_last, i == 4);
		if (i)
			assert_int_equal(batch->window_start_ns, b.batches[i - 1].window_end_ns);
	}
	assert_int_equal(b.n_counted, b.result.account.events);
	fake_free(&b.fake);
	bench_free(&b);
	/* the run so far */
	groups_init(&b, "SELECT sum(c1), count(*) FROM w0", 0);
	b.every_ns = 5 * MS;
	b.options.n_windows = 3;
	assert_int_equal(bench_run(&b), 0);
	assert_int_equal(b.n_batches, 3);
	for (u32 i = 0; i < 3; i++) {
		assert_int_equal(b.firsts[i], 6 * (i + 1));
		assert_int_equal(b.batches[i].account.events, 6 * (i + 1));
	}
	assert_int_equal(b.result.account.events, 18);
	fake_free(&b.fake);
	bench_free(&b);
}

/* Rows beside groups: their windows end where the kernel switched. */
static void groups_and_rows_init(struct bench *b)
{
	groups_init(b,
		    "SELECT (SELECT min(c1) FROM w1), (SELECT count(*) FROM w1), "
		    "(SELECT sum(c1) FROM w0)",
		    10 * MS);
	b->cut.output.n_columns = 3;
	b->output[2] = b->output[1];
	b->options.n_windows = 5;
	add_stream(b, 50000);
}

static void test_groups_and_rows(void **state)
{
	struct bench b;

	groups_and_rows_init(&b);
	assert_int_equal(bench_run(&b), 0);
	assert_int_equal(b.n_batches, 5);
	for (u32 i = 0; i < 5; i++)
		b.batches[i].account.matched -= 6; /* of the groups */
	b.result.account.matched -= b.result.account.events;
	check_live(&b);
	fake_free(&b.fake);
	bench_free(&b);
}

/*
 * A program that is stuck behind a switch: the copies are switched, so the next boundary must not
 * switch them again.  At the end detaching ends it, and both copies are read.
 */
static void test_unsettled(void **state)
{
	/* The first is the start: what came before could not be told from the second window. */
	for (u32 flip = 1; flip <= 6; flip++) {
		bool is_last = flip == 6;
		struct bench b;

		groups_and_rows_init(&b);
		b.unsettled_flip = flip;
		assert_int_equal(bench_run(&b), is_last ? 0 : -EBUSY);
		assert_int_equal(b.n_batches, flip < 2 ? 0 : flip - 1 - !is_last);
		assert_int_equal(b.diags.n_errors, !is_last);
		if (!is_last)
			assert_string_equal(b.diags.list.at[0].tag, "run-end");
		for (u32 i = 0; i < b.n_batches; i++)
			assert_int_equal(b.batches[i].account.events, 6);
		fake_free(&b.fake);
		bench_free(&b);
	}
}

static void groups_hop(struct bench *b, u64 size, u64 advance)
{
	b->fake.phys.window = WINDOW_HOPPING;
	b->fake.phys.window_ns = size;
	b->fake.phys.advance_ns = advance;
	b->cut.window = (struct cut_window){ WINDOW_HOPPING, size, advance };
}

/* Panes of the kernel: a window is its panes, and rows lie in the same panes. */
static void test_groups_hopping(void **state)
{
	struct bench b;

	groups_init(&b,
		    "SELECT (SELECT min(c1) FROM w1), (SELECT max(c1) FROM w1), "
		    "(SELECT sum(c1) FROM w0)",
		    10 * MS);
	groups_hop(&b, 30 * MS, 10 * MS);
	b.cut.output.n_columns = 3;
	b.output[2] = b.output[1];
	b.options.n_windows = 8;
	add_stream(&b, 20000);
	assert_int_equal(bench_run(&b), 0);
	assert_int_equal(b.n_batches, 8);
	for (u32 i = 0; i < 8; i++) {
		const struct batch *batch = &b.batches[i];
		u64 n_rows = batch->account.matched - batch->account.events; /* of the stream */

		assert_int_equal(batch->is_last, i == 7);
		assert_int_equal(batch->account.events % 6, 0);
		assert_true(batch->account.events <= 18);
		if (n_rows)
			assert_int_equal(n_rows, b.seconds[i] - b.firsts[i] + 1);
		/* A window that begins where an earlier one ended has the rows from there on. */
		for (u32 k = 0; k < i; k++)
			if (b.batches[k].window_end_ns == batch->window_start_ns &&
			    b.batches[k].account.matched > b.batches[k].account.events)
				assert_int_equal(b.firsts[i], b.seconds[k] + 1);
	}
	/* One switch more, when all parts were attached: what came before is no news. */
	assert_int_equal(b.n_counted, b.result.account.events + 6);
	fake_free(&b.fake);
	bench_free(&b);
	/* neither divides the other: a boundary more where windows begin */
	groups_init(&b, "SELECT sum(c1), count(*) FROM w0", 10 * MS);
	groups_hop(&b, 25 * MS, 10 * MS);
	b.options.n_windows = 6;
	assert_int_equal(bench_run(&b), 0);
	assert_int_equal(b.n_batches, 6);
	for (u32 i = 0; i < 6; i++)
		assert_int_equal(b.firsts[i], b.batches[i].account.events);
	assert_int_equal(b.n_counted, b.result.account.events);
	fake_free(&b.fake);
	bench_free(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_live_tumbling),	cmocka_unit_test(test_live_late),
		cmocka_unit_test(test_live_busy),	cmocka_unit_test(test_live_hopping),
		cmocka_unit_test(test_live_gaps),	cmocka_unit_test(test_live_count),
		cmocka_unit_test(test_live_session),	cmocka_unit_test(test_live_streaming),
		cmocka_unit_test(test_live_snapshots),	cmocka_unit_test(test_groups),
		cmocka_unit_test(test_groups_and_rows), cmocka_unit_test(test_unsettled),
		cmocka_unit_test(test_groups_hopping),	cmocka_unit_test(test_live_duration),
	};

	return cmocka_run_group_tests_name("run-flow-live", tests, NULL, NULL);
}
