/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Hopping windows from the loop's timer to the sink, with a load layer of its own: each
 * switch counts a number of events that no other switch does, so that a window's count
 * tells which panes it is made of.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <sys/timerfd.h>
#include <time.h>
#include <cmocka.h>

#include "fake.h"
#include "hosted.h"

#define MS	    1000000ull
#define FLIPS_MAX   1000
#define BATCHES_MAX 300

struct bench {
	struct fake fake;
	struct arena arena;
	struct diags diags;
	struct load_hooks hooks;
	struct load_state load;
	struct control_line control[1];
	struct flow_result result;
	u64 start_ns;		 /* before the run */
	u64 flips_ns[FLIPS_MAX]; /* the ends of the panes */
	u32 n_flips, n_asked, n_armed;
	u32 n_ends, end_flips; /* that the run is over was said, before that flip */
	bool has_slow_flips;   /* each that ends a pane alone ends where the window does */
	struct batch batches[BATCHES_MAX];
	s128 counts[BATCHES_MAX];
	u32 batch_flips[BATCHES_MAX]; /* panes that had ended when it was given */
	u32 n_batches;
	u64 sink_sleep_ns;
};

static struct bench *bench;
/* Each time before a timer is set, the clock was: the kernel then sets it, and says ECANCELED once.
 */
static bool is_clock_set;

/* The latest boundary up to that instant. */
static u64 nominal(const struct bench *b, u64 ns)
{
	u64 size = b->fake.phys.window_ns, advance = b->fake.phys.advance_ns;
	u64 at = ns / advance * advance, begin = at + advance - size % advance;

	return begin <= ns ? begin : at;
}

u64 __real_base_realtime_ns(void);
u64 __wrap_base_realtime_ns(void);

/* Behind a flip the engine looks at the clock: that is the instant which both know. */
static bool has_flipped;

u64 __wrap_base_realtime_ns(void)
{
	if (!has_flipped)
		return __real_base_realtime_ns();
	has_flipped = false;
	return bench->flips_ns[bench->n_flips - 1];
}

int __real_timerfd_settime(int fd, int flags, const struct itimerspec *at,
			   struct itimerspec *ret_old);
int __wrap_timerfd_settime(int fd, int flags, const struct itimerspec *at,
			   struct itimerspec *ret_old);

/*
 * How late the machine wakes the loop is not ours to promise, but that it waits for the
 * next boundary is.
 */
int __wrap_timerfd_settime(int fd, int flags, const struct itimerspec *at,
			   struct itimerspec *ret_old)
{
	u64 at_ns = (u64)at->it_value.tv_sec * 1000000000 + (u64)at->it_value.tv_nsec;
	static u32 n_tries;

	if (flags & TFD_TIMER_CANCEL_ON_SET) {
		if (is_clock_set && n_tries++ % 2 == 0) {
			__real_timerfd_settime(fd, flags, at, ret_old);
			errno = ECANCELED;
			return -1;
		}
		bench->n_armed++;
		assert_int_equal(nominal(bench, at_ns), at_ns);
		assert_true(nominal(bench, at_ns - 1) <= base_realtime_ns());
	}
	return __real_timerfd_settime(fd, flags, at, ret_old);
}

bool load_tell_fallback(const struct load_program *program, const struct load_state *state,
			struct buf *text)
{
	return false;
}

int load_attach(struct load_hooks *hooks, struct diags *diags)
{
	return 0;
}

void load_detach(struct load_hooks *hooks)
{
}

/* The events of pane i: no two sums of consecutive panes are equal. */
static u64 pane_events(u32 i)
{
	return 3 + i % 7 * (i % 11);
}

int load_flip(struct load_state *const *states, u32 n_states, u64 patience_ns)
{
	struct load_state *load = states[0];
	u64 n = pane_events(bench->n_flips);

	u64 advance = bench->fake.phys.advance_ns, now_ns = __real_base_realtime_ns();
	u64 at_ns = nominal(bench, now_ns);

	assert_true(bench->n_flips < FLIPS_MAX);
	while (bench->has_slow_flips && at_ns % advance && now_ns < ALIGN_UP(at_ns, advance))
		now_ns = __real_base_realtime_ns();
	bench->flips_ns[bench->n_flips++] = now_ns;
	has_flipped = true;
	for (u64 i = 0; i < n; i++) {
		u64 key = i % 3;

		fake_update(&bench->fake, fake_row(&bench->fake, load->epoch, 0, 0, &key), 0, 0);
		fake_counters(&bench->fake, load->epoch, 0, 0)[COUNTER_EVENTS]++;
	}
	load->epoch ^= 1;
	return 0;
}

void load_end_starts(struct load_state *const *states, u32 n_states)
{
	bench->n_ends++;
	bench->end_flips = bench->n_flips;
}

bool load_close_starts(struct load_state *state)
{
	return false;
}

int load_settle(const struct load_hooks *hooks, u64 patience_ns)
{
	return 0;
}

u64 load_missed(struct load_state *load)
{
	/* Ahead of each flip, and behind it. */
	return bench->n_asked++ % 2 ? 0 : (bench->n_flips + 1) % 2;
}

static int take(void *context, const struct batch *batch)
{
	struct bench *b = context;
	u32 n = b->n_batches++;

	assert_true(n < BATCHES_MAX);
	b->batches[n] = *batch;
	b->batch_flips[n] = b->n_flips;
	b->counts[n] = 0;
	for (u32 i = 0; i < batch->n_rows; i++)
		b->counts[n] += batch->values[i * batch->schema->n_columns + 1].integer;
	if (b->sink_sleep_ns)
		nanosleep(&(struct timespec){ .tv_nsec = (long)b->sink_sleep_ns }, NULL);
	return 0;
}

static void bench_run(struct bench *b, u64 size_ns, u64 advance_ns, u32 n_windows, u64 duration_ns,
		      u64 sink_sleep_ns, bool has_slow_flips)
{
	struct cut_part part = { .kind = PART_GROUPS, .name = "w0" };
	struct cut cut = {
		.parts = &part,
		.n_parts = 1,
		.limit = -1,
		.window = { .kind = WINDOW_HOPPING, .size = size_ns, .advance = advance_ns },
	};
	struct load_state *load = &b->load;
	struct hosted hosted = { 0 };

	memset(b, 0, sizeof(*b));
	bench = b;
	b->sink_sleep_ns = sink_sleep_ns;
	b->has_slow_flips = has_slow_flips;
	arena_init(&b->arena);
	diags_init(&b->diags, &b->arena, "query", "", 0);
	fake_init(&b->fake, STATE_TABLE, 1, 1, 16);
	fake_key(&b->fake, type_int(64, false));
	fake_aggregate(&b->fake, AGGREGATE_COUNT, fake_cell(&b->fake, CELL_COUNT, false, false),
		       -1);
	fake_ready(&b->fake);
	b->fake.phys.window = WINDOW_HOPPING;
	b->fake.phys.window_ns = size_ns;
	b->fake.phys.advance_ns = advance_ns;
	part.columns = (struct schema){ b->fake.output.n_columns - 2, b->fake.columns };
	cut.output = b->fake.output;
	cut.picks = b->fake.picks;
	b->hooks.n_states = 1;
	b->load = (struct load_state){ .hooks = &b->hooks,
				       .phys = &b->fake.phys,
				       .state = b->fake.state,
				       .control = b->control };
	hosted.options = (struct host_options){ .counts_partial = true,
						.child_pid = -1,
						.child_go_fd = -1,
						.n_windows = n_windows,
						.duration_ns = duration_ns };
	hosted.input = (struct flow_input){ .cut = &cut,
					    .loads = &load,
					    .sink = { .batch = take, .context = b },
					    .arena = &b->arena,
					    .diags = &b->diags };
	b->start_ns = base_realtime_ns();
	assert_int_equal(hosted_run(&hosted), 0);
	b->result = hosted.result;
	/* Once before each pane; the last pane may end for another reason. */
	assert_in_range(b->n_armed, b->n_flips, b->n_flips + 1);
	/* The last flip, and no other, says that the run is over. */
	assert_int_equal(b->n_ends, 1);
	assert_int_equal(b->end_flips, b->n_flips - 1);
}

static void bench_free(struct bench *b)
{
	fake_free(&b->fake);
	arena_free(&b->arena);
}

/* The pane in which that instant is the first, or the number of panes. */
static u32 pane_from(const struct bench *b, u64 start_ns)
{
	u32 i = 0;

	while (i < b->n_flips && b->flips_ns[i] <= start_ns)
		i++;
	return i;
}

/*
 * Every window: made of whole panes, all up to now which its nominal interval has a part
 * of, and no others; and its bounds are those of these panes.
 */
static void check_windows(const struct bench *b)
{
	u64 size = b->fake.phys.window_ns, advance = b->fake.phys.advance_ns;
	u64 events = 0, missed = 0;
	bool is_counted[FLIPS_MAX] = { false };

	for (u32 i = 0; i < b->n_batches; i++) {
		const struct batch *batch = &b->batches[i];
		u32 from = pane_from(b, batch->window_start_ns), to = b->batch_flips[i];
		u64 last_flip_ns = b->flips_ns[to - 1], n = 0;
		u64 end = nominal(b, last_flip_ns) / advance * advance;
		u64 before = to > 1 ? nominal(b, b->flips_ns[to - 2]) : nominal(b, b->start_ns);

		assert_true(batch->is_windowed);
		assert_true(!batch->is_last || i == b->n_batches - 1);
		assert_true(batch->window_end_ns >= last_flip_ns);
		/* The last window ends early, unless it was due just then. */
		if (end <= before) {
			assert_true(batch->is_last);
			end += advance;
		}
		assert_true(from < to);
		assert_true(batch->window_start_ns < batch->window_end_ns);
		/* Not too few panes, and not too many: the first still overlaps the window. */
		if (from > 0)
			assert_true(nominal(b, b->flips_ns[from - 1]) <= end - size);
		assert_true(batch->is_last || nominal(b, b->flips_ns[from]) > end - size ||
			    (size >= advance && !is_counted[from]));
		for (u32 pane = from; pane < to; pane++) {
			n += pane_events(pane);
			if (is_counted[pane])
				continue;
			is_counted[pane] = true;
			events += pane_events(pane);
			missed += (pane + 1) % 2;
		}
		assert_int_equal(batch->account.events, n);
		assert_true(b->counts[i] == n);
	}
	/* A run that ends between two windows has given its last one before. */
	if (!b->n_batches || !b->batches[b->n_batches - 1].is_last)
		assert_true(b->flips_ns[b->n_flips - 1] % advance <= advance - size);
	/* Over the run each event is counted once, whatever the number of its windows. */
	assert_int_equal(b->result.account.events, events);
	assert_int_equal(b->result.account.lost[LOSS_MISSED], missed);
}

static void test_windows(void **state)
{
	static const struct {
		u64 size_ns, advance_ns;
		u32 n_windows;
	} cases[] = {
		{ 100 * MS, 10 * MS, 15 }, /* the advance divides the size */
		{ 70 * MS, 30 * MS, 6 },   /* it does not */
		{ 50 * MS, 20 * MS, 8 },   /* half of it does */
		{ 7 * MS, 3 * MS, 60 },
		{ 10 * MS, 30 * MS, 5 }, /* events between two windows are in none */
		{ 200 * MS, 5 * MS, 60 },
	};

	for (u32 i = 0; i < ARRAY_SIZE(cases); i++) {
		static struct bench b;

		bench_run(&b, cases[i].size_ns, cases[i].advance_ns, cases[i].n_windows, 0, 0,
			  false);
		assert_int_equal(b.n_batches, cases[i].n_windows);
		check_windows(&b);
		bench_free(&b);
	}
}

/* The end comes when it comes: the window that is open is given. */
static void test_duration(void **state)
{
	static struct bench b;
	u32 n_in_gap = 0, n;

	/* On where others had the CPU for that long. */
	for (n = 0; n < 14 || (!n_in_gap && n < 200); n++) {
		u64 ms = 20 + n % 14 * 3;

		bench_run(&b, 25 * MS, 10 * MS, 0, ms * MS, 0, false);
		check_windows(&b);
		bench_free(&b);
		/* In the gap between two windows there is none. */
		bench_run(&b, 5 * MS, 20 * MS, 0, ms * MS, 0, false);
		n_in_gap += !b.n_batches || !b.batches[b.n_batches - 1].is_last;
		check_windows(&b);
		bench_free(&b);
	}
	/* A gap is three quarters of the time, and the runs end all over it. */
	assert_in_range(n_in_gap, 1, n);
}

/* A sink slower than the panes: they are longer, and so are windows; nothing is lost. */
static void test_slow_sink(void **state)
{
	static struct bench b;
	u32 n = 0;

	bench_run(&b, 35 * MS, 10 * MS, 12, 0, 23 * MS, false);
	assert_int_equal(b.n_batches, 12);
	check_windows(&b);
	for (u32 i = 0; i < b.n_batches; i++)
		n += b.batches[i].window_end_ns - b.batches[i].window_start_ns > 36 * MS;
	assert_true(n >= 6);
	for (u32 i = 1; i < b.n_batches; i++)
		assert_true(b.batches[i].window_start_ns <= b.batches[i - 1].window_end_ns);
	bench_free(&b);
}

/* A pane's flip that takes until its window ends: the window ends there, or, the last one, at once.
 */
static void test_slow_flips(void **state)
{
	static struct bench b;

	for (u32 n = 1; n < 5; n++) {
		bench_run(&b, 70 * MS, 30 * MS, n, 0, 0, true);
		assert_int_equal(b.n_batches, n);
		check_windows(&b);
		bench_free(&b);
	}
}

/* Nothing is missing or counted twice, and the run goes on. */
static void test_clock_set(void **state)
{
	static struct bench b;

	is_clock_set = true;
	bench_run(&b, 70 * MS, 30 * MS, 6, 0, 0, false);
	is_clock_set = false;
	assert_int_equal(b.n_batches, 6);
	check_windows(&b);
	bench_free(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_windows),	   cmocka_unit_test(test_clock_set),
		cmocka_unit_test(test_duration),   cmocka_unit_test(test_slow_sink),
		cmocka_unit_test(test_slow_flips),
	};

	return cmocka_run_group_tests_name("run-hopping", tests, NULL, NULL);
}
