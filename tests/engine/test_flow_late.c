/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Windows that end late, on a clock that is set by hand: no event between them is in none.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "flow_bench.h"

#define START_NS    (1000 * MS)
#define PANE_EVENTS 6 /* that the load layer counts before each switch */

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
	b->clock_ns = START_NS;
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
	flow->clock_ns = START_NS;
	assert_int_equal(flow_attach(flow), 0);
	return flow;
}

/* ebql is woken so long behind the start. */
static void wake(struct bench *b, struct flow *flow, u64 ms_behind)
{
	b->clock_ns = flow->clock_ns = START_NS + ms_behind * MS;
	flow_switch(&flow, 1);
	flow_take_boundary(flow, flow_now(flow));
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
	static const u64 wakes_ms[] = { 5, 10, 15, 62, 65, 70 };
	u64 n = 0;

	for (u32 has_groups = 0; has_groups < 2; has_groups++) {
		static struct bench b;
		struct flow *flow = late_open(&b, has_groups, 25 * MS, 10 * MS);
		const struct batch *late = &b.batches[1];

		for (u32 i = 0; i < ARRAY_SIZE(wakes_ms); i++)
			wake(&b, flow, wakes_ms[i]);
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
	static const u64 wakes_ms[] = { 15, 20, 35, 40, 71, 75, 101 };

	for (u32 has_groups = 0; has_groups < 2; has_groups++) {
		static struct bench b;
		struct flow *flow = late_open(&b, has_groups, 5 * MS, 20 * MS);

		for (u32 i = 0; i < ARRAY_SIZE(wakes_ms); i++)
			wake(&b, flow, wakes_ms[i]);
		/* Up to 1020, 1040, 1060 and 1100. */
		assert_int_equal(b.n_batches, 4);
		assert_int_equal(b.batches[1].window_start_ns, START_NS + 35 * MS);
		assert_int_equal(b.batches[2].window_start_ns, START_NS + 40 * MS);
		assert_int_equal(b.batches[2].window_end_ns, START_NS + 71 * MS);
		assert_int_equal(b.batches[3].window_start_ns, START_NS + 75 * MS);
		late_close(&b, flow);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hopping_late),
		cmocka_unit_test(test_gap_late),
	};

	return cmocka_run_group_tests_name("run-flow-late", tests, NULL, NULL);
}
