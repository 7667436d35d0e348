/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Windows that do not end on time, on a clock that is set by hand: no event between them is in
 * none, and they say so.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "flow_bench.h"

#define START_NS    (1000 * MS)
#define PANE_EVENTS 6 /* that the load layer counts before each switch */

static u64 open_us; /* when it is opened, behind START_NS */

/* Groups, sum(c1) of all; and rows, of which there is one each 100 us, first and last. */
static struct flow *late_open(struct bench *b, bool has_groups, u64 size, u64 advance)
{
	struct fake *fake = &b->fake;
	struct flow_input input;
	struct flow *flow;

	bench_init(b,
		   has_groups ? "SELECT sum(c1), count(*) FROM w0"
			      : "SELECT min(c1), max(c1) FROM w0",
		   2);
	b->is_texted = false;
	b->clock_ns = START_NS + open_us * 1000;
	b->cut.window = (struct cut_window){ size == advance ? WINDOW_TUMBLING : WINDOW_HOPPING,
					     size, advance };
	if (has_groups) {
		fake_init(fake, STATE_TABLE, 2, 1, 16);
		fake_key(fake, type_int(64, false));
		fake_aggregate(fake, AGGREGATE_COUNT, fake_cell(fake, CELL_COUNT, false, false),
			       -1);
		fake_ready(fake);
		fake->phys.window = b->cut.window.kind;
		fake->phys.window_ns = size;
		fake->phys.advance_ns = advance;
		add_part(b, PART_GROUPS, fake->output.n_columns - 2);
		b->parts[0].has_streams = true;
		b->load[0] = (struct load_state){ .hooks = &b->hooks,
						  .phys = &fake->phys,
						  .state = fake->state,
						  .control = b->control };
		b->loads[0] = &b->load[0];
		b->hooks.n_states = PARTS_MAX;
	} else {
		add_stream(b, MS / 10);
	}
	input = bench_input(b);
	flow = flow_open(&input);
	assert_non_null(flow);
	flow->clock_ns = b->clock_ns;
	assert_int_equal(flow_attach(flow), 0);
	return flow;
}

static void set_clock(struct bench *b, struct flow *flow, u64 us_behind)
{
	b->clock_ns = flow->clock_ns = START_NS + us_behind * 1000;
}

/* ebql is woken so long behind the start, as engine_step() has it. */
static void step(struct bench *b, struct flow *flow, u64 us_behind)
{
	struct flow_boundary at;

	set_clock(b, flow, us_behind);
	flow->now = flow_now(flow);
	at = flow_boundary_at(flow, flow->now.real_ns, false);
	flow->is_ending = flow_ends_at(flow, &at);
	flow_switch(&flow, 1, FLOW_GLANCE_NS);
	flow_take_boundary(flow, flow->now);
}

static void wake(struct bench *b, struct flow *flow, u64 us_behind)
{
	step(b, flow, us_behind);
	assert_false(flow_is_over(flow));
}

static void late_close(struct bench *b, struct flow *flow)
{
	assert_int_equal(flow_stop(flow), 0);
	flow_result(flow, &b->result);
	flow_close(flow);
	if (b->fake.state)
		fake_free(&b->fake);
	bench_free(b);
}

/*
 * 25 ms by 10: panes end at ..0 and at ..5, windows at ..0.  The pane up to 1015 had no window
 * when ebql was woken at 1062, and then there was one that nominally begins with 1035.
 */
static void test_hopping_late(void **state)
{
	static const u64 wakes_us[] = { 5000, 10000, 15000, 62000, 65000, 70000 };
	u64 n = 0;

	for (u32 has_groups = 0; has_groups < 2; has_groups++) {
		static struct bench b;
		struct flow *flow = late_open(&b, has_groups, 25 * MS, 10 * MS);
		const struct batch *late = &b.batches[1];

		for (u32 i = 0; i < ARRAY_SIZE(wakes_us); i++)
			wake(&b, flow, wakes_us[i]);
		assert_int_equal(b.n_batches, 3);
		assert_int_equal(late->window_start_ns, START_NS + 10 * MS);
		assert_int_equal(late->window_end_ns, START_NS + 62 * MS);
		if (has_groups) {
			assert_int_equal(b.firsts[1], 2 * PANE_EVENTS);
			assert_int_equal(late->account.events, 2 * PANE_EVENTS);
		} else {
			assert_int_equal(b.firsts[1], 100);
			assert_int_equal(b.seconds[1], 619);
		}
		/* Those of 1020, 1030, ... 1060. */
		assert_int_equal(late->n_merged, 5);
		assert_int_equal(late->late_ns, 2 * MS);
		assert_int_equal(b.batches[0].n_merged + b.batches[2].n_merged, 0);
		assert_int_equal(b.batches[0].late_ns + b.batches[2].late_ns, 0);
		/* 1045 to 1070: the pane that was closed late, and two more. */
		assert_int_equal(b.batches[2].window_start_ns, START_NS + 15 * MS);
		n = b.n_counted;
		late_close(&b, flow);
		if (has_groups)
			assert_int_equal(b.result.account.events, n + PANE_EVENTS);
	}
}

/* Where windows leave gaps what lies in one is in none, however late. */
static void test_gap_late(void **state)
{
	static const u64 wakes_us[] = { 15000, 20000, 35000, 40000, 71000, 75000, 101000 };

	for (u32 has_groups = 0; has_groups < 2; has_groups++) {
		static struct bench b;
		struct flow *flow = late_open(&b, has_groups, 5 * MS, 20 * MS);

		for (u32 i = 0; i < ARRAY_SIZE(wakes_us); i++)
			wake(&b, flow, wakes_us[i]);
		/* Up to 1020, 1040, 1060 and 1100. */
		assert_int_equal(b.n_batches, 4);
		assert_int_equal(b.batches[1].window_start_ns, START_NS + 35 * MS);
		assert_int_equal(b.batches[2].window_start_ns, START_NS + 40 * MS);
		assert_int_equal(b.batches[2].window_end_ns, START_NS + 71 * MS);
		assert_int_equal(b.batches[3].window_start_ns, START_NS + 75 * MS);
		for (u32 i = 0; i < 4; i++) {
			assert_int_equal(b.batches[i].n_merged, i == 3 ? 2 : 0);
			assert_int_equal(b.batches[i].late_ns, i == 2	? 11 * MS
							       : i == 3 ? 1 * MS
									: 0);
		}
		late_close(&b, flow);
	}
}

/*
 * What is late by more than a hundredth of the window says by how much; and where boundaries passed
 * unnoticed, how many windows ended as one.
 */
static void test_marks(void **state)
{
	static const struct {
		u64 wake_us, late_ns, n_merged;
	} cases[] = {
		{ 10000, 0, 0 },  { 20100, 0, 0 },   { 30101, MS / 10 + 1000, 0 },
		{ 40000, 0, 0 },  { 70000, 0, 3 },   { 109999, 10 * MS - 1000, 3 },
		{ 110001, 0, 0 }, { 300002, 0, 19 },
	};

	for (u32 has_groups = 0; has_groups < 2; has_groups++) {
		/* The run ends within a window: as soon as asked for; and behind a boundary. */
		for (u32 is_late_end = 0; is_late_end < 2; is_late_end++) {
			static struct bench b;
			struct flow *flow = late_open(&b, has_groups, 10 * MS, 10 * MS);
			const struct batch *last = &b.batches[ARRAY_SIZE(cases)];

			for (u32 i = 0; i < ARRAY_SIZE(cases); i++) {
				wake(&b, flow, cases[i].wake_us);
				assert_int_equal(b.n_batches, i + 1);
				assert_int_equal(b.batches[i].late_ns, cases[i].late_ns);
				assert_int_equal(b.batches[i].n_merged, cases[i].n_merged);
			}
			set_clock(&b, flow, is_late_end ? 323000 : 309000);
			assert_int_equal(flow_stop(flow), 0);
			assert_int_equal(b.n_batches, ARRAY_SIZE(cases) + 1);
			assert_true(last->is_last);
			assert_int_equal(last->late_ns, is_late_end ? 3 * MS : 0);
			assert_int_equal(last->n_merged, is_late_end ? 2 : 0);
			late_close(&b, flow);
		}
	}
}

/*
 * A program does not end when a window does: the window goes on, with what is counted meanwhile,
 * until it has, and is told as late; also where that window is said to be the last then, or the run
 * ends.
 */
static void test_busy(void **state)
{
	enum { GOES_ON, LAST_WINDOW, STOPPED, N_WAYS };

	for (u32 way = 0; way < 2 * N_WAYS; way++) {
		static struct bench b;
		struct flow *flow = late_open(&b, way < N_WAYS, 10 * MS, 10 * MS);
		u64 n_given = 0;

		b.flip_error = -EBUSY;
		wake(&b, flow, 10000);
		b.flip_errors = 2;
		wake(&b, flow, 20000);
		wake(&b, flow, 20100);
		assert_int_equal(b.n_batches, 1);
		if (way % N_WAYS == LAST_WINDOW)
			flow_stop_at_window(flow, false);
		set_clock(&b, flow, 23000);
		if (way % N_WAYS == STOPPED)
			assert_int_equal(flow_stop(flow), 0);
		else
			step(&b, flow, 23000);
		assert_int_equal(flow_is_over(flow), way % N_WAYS != GOES_ON);
		assert_int_equal(b.n_batches, 2);
		assert_int_equal(b.sources[0].n_gone_on, way >= N_WAYS);
		assert_int_equal(b.batches[1].window_start_ns, START_NS + 10 * MS);
		assert_int_equal(b.batches[1].window_end_ns, START_NS + 23 * MS);
		assert_int_equal(b.batches[1].late_ns, 3 * MS);
		assert_int_equal(b.batches[1].is_last, way % N_WAYS != GOES_ON);
		for (u32 i = 0; i < 2 && way < N_WAYS; i++)
			n_given += b.batches[i].account.events;
		if (way < N_WAYS)
			assert_int_equal(n_given, b.n_counted);
		else
			assert_true(b.firsts[1] == 100 && b.seconds[1] == 229);
		late_close(&b, flow);
	}
}

/* The switch that ends the run waits: what comes behind it is none of the run. */
static void test_busy_end(void **state)
{
	static struct bench b;
	struct flow *flow = late_open(&b, true, 10 * MS, 10 * MS);

	b.flip_error = -EBUSY;
	b.flip_errors = 1;
	flow_stop_at_window(flow, false);
	step(&b, flow, 10000);
	assert_true(flow_is_over(flow));
	assert_int_equal(b.n_batches, 1);
	assert_true(b.batches[0].is_last);
	assert_int_equal(b.batches[0].window_end_ns, START_NS + 10 * MS);
	assert_int_equal(b.batches[0].account.events, PANE_EVENTS);
	assert_int_equal(b.n_counted, 2 * PANE_EVENTS);
	late_close(&b, flow);
}

/* Which windows say that they are shorter than asked; and the first whole one as the last. */
static void test_partial(void **state)
{
	static const struct {
		u64 size, advance, open_us, wakes_us[5];
		const char *marks; /* of all windows, the one that ends with the run too */
	} cases[] = {
		{ 10 * MS, 10 * MS, 0, { 10000, 20000 }, "wwp" },
		{ 10 * MS, 10 * MS, 3000, { 10000, 20000, 30000 }, "pwwp" },
		/* Two in one: it begins with the run. */
		{ 10 * MS, 10 * MS, 3000, { 23000, 30000 }, "pwp" },
		{ 10 * MS, 10 * MS, 3000, { 10000, 43000 }, "pwp" },
		{ 20 * MS, 10 * MS, 3000, { 10000, 20000, 30000, 40000 }, "ppwwp" },
		/* It is longer than all that it stands for. */
		{ 20 * MS, 10 * MS, 3000, { 10000, 20000, 43000 }, "ppwp" },
		/* With gaps: the run begins in one, and in a window. */
		{ 10 * MS, 20 * MS, 3000, { 10000, 20000, 30000, 40000 }, "ww" },
		{ 10 * MS, 20 * MS, 13000, { 20000, 30000, 40000 }, "pw" },
	};

	for (u32 i = 0; i < 4 * ARRAY_SIZE(cases); i++) {
		u32 at = i / 4, n_marks = 0;
		static struct bench b;
		bool is_asked = i & 1;
		u64 end_us = 0;
		char marks[8] = "", wanted[8] = "";
		struct flow *flow;

		open_us = cases[at].open_us;
		flow = late_open(&b, i & 2, cases[at].size, cases[at].advance);
		if (is_asked)
			flow_stop_at_window(flow, true);
		for (u32 k = 0; cases[at].wakes_us[k] && !flow_is_over(flow); k++) {
			step(&b, flow, cases[at].wakes_us[k]);
			end_us = cases[at].wakes_us[k] + 5000;
		}
		assert_int_equal(flow_is_over(flow), is_asked);
		if (!is_asked)
			set_clock(&b, flow, end_us);
		assert_int_equal(flow_stop(flow), 0);
		for (; n_marks < b.n_batches; n_marks++)
			marks[n_marks] = b.batches[n_marks].is_partial ? 'p' : 'w';
		strcpy(wanted, cases[at].marks);
		if (is_asked)
			strchr(wanted, 'w')[1] = '\0';
		assert_string_equal(marks, wanted);
		late_close(&b, flow);
	}
	open_us = 0;
}

/* A clock that is set back, and far ahead. */
static void test_clock_set(void **state)
{
	static struct bench b;
	struct flow *flow = late_open(&b, true, 10 * MS, 10 * MS);

	wake(&b, flow, 10000);
	flow->boundary.real_ns += 1000 * MS; /* as if it had been that late before */
	wake(&b, flow, 20000);
	assert_int_equal(b.batches[1].late_ns, 0);
	assert_int_equal(b.batches[1].n_merged, 0);
	wake(&b, flow, 1020000);
	assert_int_equal(b.batches[2].late_ns, 0);
	assert_int_equal(b.batches[2].n_merged, 100);
	late_close(&b, flow);
}

/* Reading a recording is stopped: the window under way has the rows that were read. */
static void test_file_stopped(void **state)
{
	static const u64 size[] = { 10, 20 };

	for (u32 i = 0; i < ARRAY_SIZE(size); i++) {
		static struct bench b;
		struct flow_input input;
		struct flow *flow;
		bool is_more;

		bench_init(&b, "SELECT min(c1), count(*) FROM w0", 2);
		put_times(add_file(&b, 2), TIMES(101, 105, 112, 113, 119, 125));
		b.cut.window =
			(struct cut_window){ i ? WINDOW_HOPPING : WINDOW_TUMBLING, size[i], 10 };
		b.read_limit = 1;
		input = bench_input(&b);
		flow = flow_open(&input);
		assert_non_null(flow);
		assert_int_equal(flow_attach(flow), 0);
		for (u32 k = 0; k < 5; k++)
			flow_poll(flow, &is_more);
		assert_int_equal(flow_stop(flow), 0);
		assert_string_equal(b.text.at, i ? "[90,110) 1,2\n[100,120) 1,4!\n"
						 : "[100,110) 1,2\n[110,120) 3,2!\n");
		assert_int_equal(b.batches[1].late_ns + b.batches[1].n_merged, 0);
		late_close(&b, flow);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hopping_late), cmocka_unit_test(test_gap_late),
		cmocka_unit_test(test_marks),	     cmocka_unit_test(test_clock_set),
		cmocka_unit_test(test_file_stopped), cmocka_unit_test(test_busy),
		cmocka_unit_test(test_busy_end),     cmocka_unit_test(test_partial),
	};

	return cmocka_run_group_tests_name("run-flow-late", tests, NULL, NULL);
}
