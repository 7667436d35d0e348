/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The loop with a load layer of its own: "programs" count events whenever the loop
 * switches the epoch, so that every boundary finds events on both sides.
 */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include "fake.h"
#include "hosted.h"

#define MS	    1000000ull
#define BATCHES_MAX 256

struct bench {
	struct fake fake;
	struct arena arena;
	struct diags diags;
	struct load_hooks hooks;
	struct load_state load;
	struct control_line control[2];
	struct host_options options;
	u64 every_ns;
	struct flow_result result;
	int child_status;
	struct cut cut;
	struct cut_part part;
	/* the load layer */
	u64 n_counted, n_flips, n_missed;
	u32 events_a_flip; /* per CPU, before each switch; one more just behind it */
	bool is_attached, was_attached, is_idle;
	int flip_error, attach_error;
	/* the sink */
	struct batch batches[BATCHES_MAX];
	s128 counts[BATCHES_MAX];
	u32 n_batches;
	int sink_error;
	u64 sink_sleep_ns;
	int sink_signal;
};

static struct bench *bench;

static void count_events(u32 copy, u32 n)
{
	for (u32 cpu = 0; cpu < 2; cpu++) {
		for (u32 i = 0; i < n; i++) {
			u64 key = i % 3;

			fake_update(&bench->fake, fake_row(&bench->fake, copy, cpu, 0, &key), 0, 0);
			fake_counters(&bench->fake, copy, cpu, 0)[COUNTER_EVENTS]++;
			bench->n_counted++;
		}
	}
}

bool load_tell_fallback(const struct load_program *program, const struct load_state *state,
			struct buf *text)
{
	return false;
}

int load_attach(struct load_hooks *hooks, struct diags *diags)
{
	if (bench->attach_error)
		return bench->attach_error;
	bench->is_attached = bench->was_attached = true;
	return 0;
}

void load_detach(struct load_hooks *hooks)
{
	/* Until they are detached too, programs at starts see none of their ends. */
	bench->control[0].unpaired[UNPAIRED_OVERWRITTEN] += 100;
	bench->is_attached = false;
}

int load_flip(struct load_state *const *states, u32 n_states, u64 patience_ns)
{
	struct load_state *load = states[0];
	bench->n_flips++;
	if (!bench->is_idle)
		count_events(load->epoch, bench->events_a_flip);
	if (bench->flip_error)
		return bench->flip_error;
	load->epoch ^= 1;
	/* What comes behind the switch belongs to the next window. */
	if (!bench->is_idle)
		count_events(load->epoch, 1);
	return 0;
}

void load_end_starts(struct load_state *const *states, u32 n_states)
{
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
	u64 n = bench->n_missed;

	bench->n_missed = 0;
	return n;
}

static int take(void *context, const struct batch *batch)
{
	struct bench *b = context;
	u32 n = b->n_batches++;

	assert_true(n < BATCHES_MAX);
	b->batches[n] = *batch;
	b->counts[n] = 0;
	for (u32 i = 0; i < batch->n_rows; i++)
		b->counts[n] +=
			batch->values[i * batch->schema->n_columns + b->fake.phys.n_keys].integer;
	/* The answer does not wait for the detaching, unless the last switch failed. */
	assert_true(b->is_attached || b->flip_error);
	if (b->sink_sleep_ns)
		nanosleep(&(struct timespec){ .tv_nsec = b->sink_sleep_ns }, NULL);
	if (b->sink_signal)
		raise(b->sink_signal);
	return b->sink_error;
}

static void bench_init(struct bench *b, bool is_grouped, u64 window_ns)
{
	memset(b, 0, sizeof(*b));
	bench = b;
	arena_init(&b->arena);
	diags_init(&b->diags, &b->arena, "query", "", 0);
	fake_init(&b->fake, is_grouped ? STATE_TABLE : STATE_DIRECT, 2, 1, 16);
	if (is_grouped)
		fake_key(&b->fake, type_int(64, false));
	fake_aggregate(&b->fake, AGGREGATE_COUNT, fake_cell(&b->fake, CELL_COUNT, false, false),
		       -1);
	fake_ready(&b->fake);
	b->fake.phys.window = window_ns ? WINDOW_TUMBLING : WINDOW_NONE;
	b->fake.phys.window_ns = window_ns;
	b->hooks.n_states = 1;
	b->load = (struct load_state){ .hooks = &b->hooks,
				       .phys = &b->fake.phys,
				       .state = b->fake.state,
				       .control = b->control };
	b->part = (struct cut_part){ .kind = PART_GROUPS,
				     .name = "w0",
				     .columns = { b->fake.output.n_columns - 2, b->fake.columns } };
	b->cut = (struct cut){ .parts = &b->part,
			       .n_parts = 1,
			       .limit = -1,
			       .output = b->fake.output,
			       .picks = b->fake.picks,
			       .window = { .kind = b->fake.phys.window, .size = window_ns } };
	b->options =
		(struct host_options){ .child_pid = -1, .child_go_fd = -1, .counts_partial = true };
	b->events_a_flip = 5;
}

static struct flow_input bench_input(struct bench *b, struct load_state **load)
{
	*load = &b->load;
	return (struct flow_input){ .cut = &b->cut,
				    .loads = load,
				    .every_ns = b->every_ns,
				    .sink = { .batch = take, .context = b },
				    .arena = &b->arena,
				    .diags = &b->diags };
}

static int bench_run(struct bench *b)
{
	struct load_state *load;
	struct hosted hosted = { .options = b->options, .input = bench_input(b, &load) };
	int err = hosted_run(&hosted);

	b->result = hosted.result;
	b->child_status = hosted.child_status;
	assert_false(b->is_attached);
	return err;
}

static void bench_free(struct bench *b)
{
	fake_free(&b->fake);
	arena_free(&b->arena);
}

/* Bounds are shared, and nothing is lost or doubled between them. */
static void check_windows(struct bench *b)
{
	u64 n = 0;

	for (u32 i = 0; i < b->n_batches; i++) {
		const struct batch *batch = &b->batches[i];

		assert_true(batch->is_windowed);
		assert_int_equal(batch->is_last, i == b->n_batches - 1);
		assert_true(batch->window_start_ns < batch->window_end_ns);
		if (i)
			assert_int_equal(batch->window_start_ns, b->batches[i - 1].window_end_ns);
		assert_true(b->counts[i] == batch->account.events);
		assert_int_equal(batch->account.matched, batch->account.events);
		n += batch->account.events;
	}
	/* behind the last switch: after the end */
	assert_int_equal(n, b->n_counted - (b->is_idle ? 0 : 2));
	assert_int_equal(n, b->result.account.events);
}

static void check_aligned(const struct batch *batch, u64 window_ns)
{
	/* How late the machine wakes us is not ours to promise: but not early, nor by a window. */
	assert_true(batch->window_end_ns / window_ns == batch->window_start_ns / window_ns + 1 ||
		    batch->window_end_ns - batch->window_start_ns > window_ns);
}

static void test_windows(void **state)
{
	struct bench b;

	for (u32 grouped = 0; grouped < 2; grouped++) {
		bench_init(&b, grouped, 20 * MS);
		b.options.n_windows = 6;
		assert_int_equal(bench_run(&b), 0);
		assert_int_equal(b.n_batches, 6);
		assert_int_equal(b.n_flips, 6);
		check_windows(&b);
		for (u32 i = 0; i < 6; i++) {
			check_aligned(&b.batches[i], 20 * MS);
			assert_int_equal(b.batches[i].n_rows, grouped ? 3 : 1);
		}
		bench_free(&b);
	}
}

static void test_short_windows(void **state)
{
	struct bench b;

	bench_init(&b, true, 100000);
	b.options.n_windows = 200;
	assert_int_equal(bench_run(&b), 0);
	assert_int_equal(b.n_batches, 200);
	check_windows(&b);
	bench_free(&b);
}

static void test_idle(void **state)
{
	struct bench b;

	for (u32 grouped = 0; grouped < 2; grouped++) {
		bench_init(&b, grouped, 5 * MS);
		b.is_idle = true;
		b.options.n_windows = 3;
		assert_int_equal(bench_run(&b), 0);
		assert_int_equal(b.n_batches, 3);
		check_windows(&b);
		for (u32 i = 0; i < 3; i++)
			assert_int_equal(b.batches[i].n_rows, !grouped);
		bench_free(&b);
	}
}

/* A sink slower than the window: boundaries are skipped, windows longer, nothing lost. */
static void test_slow_sink(void **state)
{
	struct bench b;

	bench_init(&b, true, 10 * MS);
	b.sink_sleep_ns = 25 * MS;
	b.options.n_windows = 4;
	assert_int_equal(bench_run(&b), 0);
	assert_int_equal(b.n_batches, 4);
	check_windows(&b);
	for (u32 i = 1; i < 4; i++)
		assert_true(b.batches[i].window_end_ns - b.batches[i].window_start_ns >= 25 * MS);
	bench_free(&b);
}

static void test_duration(void **state)
{
	u64 limit_ns = base_monotonic_ns() + 300000 * MS;
	u32 n_batches;

	/* Again where others had the CPU all that time. */
	do {
		struct bench b;
		u64 start_ns;

		bench_init(&b, true, 10 * MS);
		b.options.duration_ns = 35 * MS;
		start_ns = base_monotonic_ns();
		assert_int_equal(bench_run(&b), 0);
		assert_true(base_monotonic_ns() - start_ns >= 35 * MS);
		check_windows(&b);
		n_batches = b.n_batches;
		bench_free(&b);
	} while (n_batches < 2 && base_monotonic_ns() < limit_ns);
	assert_true(n_batches >= 2);
}

static void test_accumulate(void **state)
{
	struct bench b;
	u64 n = 0;

	bench_init(&b, true, 0);
	b.every_ns = 5 * MS;
	b.options.n_windows = 4;
	assert_int_equal(bench_run(&b), 0);
	assert_int_equal(b.n_batches, 4);
	for (u32 i = 0; i < 4; i++) {
		const struct batch *batch = &b.batches[i];

		assert_false(batch->is_windowed);
		assert_int_equal(batch->is_last, i == 3);
		assert_int_equal(batch->window_start_ns, b.batches[0].window_start_ns);
		/* each flip: 10 before it, and 2 behind the one before */
		n += i ? 12 : 10;
		assert_int_equal(batch->account.events, n);
		assert_true(b.counts[i] == n);
		assert_int_equal(batch->n_rows, 3);
	}
	assert_int_equal(b.result.account.events, n);
	bench_free(&b);
	/* and without snapshots: one batch at the end */
	bench_init(&b, true, 0);
	b.options.duration_ns = 10 * MS;
	assert_int_equal(bench_run(&b), 0);
	assert_int_equal(b.n_batches, 1);
	assert_true(b.batches[0].is_last);
	assert_true(b.counts[0] == 10);
	bench_free(&b);
}

static void test_losses(void **state)
{
	struct bench b;
	u64 *counters;

	bench_init(&b, true, 5 * MS);
	b.options.n_windows = 2;
	b.n_missed = 3;
	counters = fake_counters(&b.fake, 0, 1, 0);
	counters[COUNTER_RING_FULL] = 5;
	counters[COUNTER_FAULT] = 6;
	assert_int_equal(bench_run(&b), 0);
	assert_int_equal(b.batches[0].account.lost[LOSS_MISSED], 3);
	assert_int_equal(b.batches[0].account.lost[LOSS_RING_FULL], 5);
	assert_int_equal(b.batches[0].account.lost[LOSS_FAULT], 6);
	for (u32 i = 0; i < LOSS_N; i++) {
		assert_int_equal(b.batches[1].account.lost[i], 0);
		assert_int_equal(b.result.account.lost[i], b.batches[0].account.lost[i]);
	}
	bench_free(&b);
}

/* Two flips end one window: what was found behind the first is told once in it, and in the next. */
static void test_losses_of_two_flips(void **state)
{
	for (u32 is_lasting = 0; is_lasting < 2; is_lasting++) {
		struct account window = { 0 }, next = { 0 }, repeated;
		struct meter meter;
		struct bench b;

		bench_init(&b, true, 5 * MS);
		b.fake.phys.n_runnings = is_lasting;
		meter_open(&meter, &b.load);
		b.n_missed = 3;
		meter_before_flip(&meter);
		b.n_missed = 4;
		meter_behind_flip(&meter, &window, &repeated);
		meter_go_on(&meter);
		b.n_missed = 5;
		meter_before_flip(&meter);
		b.n_missed = 6;
		meter_behind_flip(&meter, &window, &repeated);
		assert_int_equal(window.lost[LOSS_MISSED], 3 + 4 + 5 + 6);
		assert_int_equal(repeated.lost[LOSS_MISSED], 0);
		meter_before_flip(&meter);
		meter_behind_flip(&meter, &next, &repeated);
		assert_int_equal(next.lost[LOSS_MISSED], is_lasting ? 3 + 4 + 5 + 6 : 6);
		assert_int_equal(repeated.lost[LOSS_MISSED], next.lost[LOSS_MISSED]);
		bench_free(&b);
	}
}

/* Later windows may be wrong for want of what was missed, where values go on. */
static void test_lasting_losses(void **state)
{
	struct bench b;

	bench_init(&b, true, 5 * MS);
	b.fake.phys.n_runnings = 1;
	b.options.n_windows = 3;
	b.n_missed = 3;
	assert_int_equal(bench_run(&b), 0);
	for (u32 i = 0; i < 3; i++)
		assert_int_equal(b.batches[i].account.lost[LOSS_MISSED], 3);
	assert_int_equal(b.result.account.lost[LOSS_MISSED], 3);
	bench_free(&b);
}

/* --- Joins: starts count on control lines, ends in the slices --- */

#define SLOT_BYTES 24u

struct pair_bench {
	struct bench bench;
	struct phys_join join;
	u64 table[(PAIR_HEADER_BYTES + (64 + PAIR_WAYS - 1) * SLOT_BYTES) / 8];
};

static void pair_init(struct pair_bench *p, bool is_grouped, u64 window_ns)
{
	struct bench *b = &p->bench;

	memset(p, 0, sizeof(*p));
	bench_init(b, is_grouped, window_ns);
	p->join = (struct phys_join){
		.join = JOIN_PAIR, .kind = PAIR_TABLE, .slot_bytes = SLOT_BYTES, .n_slots = 64
	};
	b->fake.phys.joins = &p->join;
	b->fake.phys.n_joins = 1;
	b->load.pairs = (u8 *)p->table;
	b->load.map_fds[LOAD_MAP_PAIR] = -1;
}

/* count starts that wait since that time */
static void wait_since(struct pair_bench *p, u32 first, u32 count, u64 time_ns)
{
	for (u32 i = first; i < first + count; i++) {
		u64 *slot = &p->table[(PAIR_HEADER_BYTES + i * SLOT_BYTES) / 8];

		slot[0] = 2;
		slot[1] = time_ns;
	}
}

static void expect_unpaired(const struct batch *batch, const u64 wanted[UNPAIRED_N])
{
	u64 sum = 0;

	for (u32 i = 0; i < UNPAIRED_N; i++) {
		assert_int_equal(batch->account.unpaired[i], wanted[i]);
		sum += wanted[i];
	}
	assert_int_equal(batch->account.lost[LOSS_UNPAIRED], sum);
}

static void test_unpaired(void **state)
{
	static const u64 nothing[UNPAIRED_N];
	struct pair_bench p;
	struct bench *b = &p.bench;
	u64 *counters;

	pair_init(&p, true, 5 * MS);
	b->options.n_windows = 3;
	counters = fake_counters(&b->fake, 0, 1, 0);
	counters[COUNTER_NEGATIVE] = 2;
	counters[COUNTER_UNPLACED] = 9;
	counters[COUNTER_UNPAIRED + UNPAIRED_NEVER_STARTED] = 3;
	counters[COUNTER_UNPAIRED + UNPAIRED_EXPIRED] = 4;
	b->control[0].unpaired[UNPAIRED_OVERWRITTEN] = 5;
	b->control[1].unpaired[UNPAIRED_OVERWRITTEN] = 6;
	b->control[1].unpaired[UNPAIRED_NEVER_ENDED] = 7;
	b->control[0].start_faults = 8;
	b->control[0].start_negative = 2;
	b->control[1].start_negative = 7;
	wait_since(&p, 0, 10, 1);
	wait_since(&p, 10, 20, UINT64_MAX - 1); /* started after the run's end */
	assert_int_equal(bench_run(b), 0);
	expect_unpaired(&b->batches[0], (const u64[UNPAIRED_N]){ 3, 7, 11, 4, 0 });
	assert_int_equal(b->batches[0].account.lost[LOSS_NEGATIVE], 2 + 2 + 7);
	assert_int_equal(b->batches[0].account.lost[LOSS_TABLE_FULL], 9);
	assert_int_equal(b->batches[0].account.lost[LOSS_FAULT], 8);
	assert_int_equal(account_lost_values(&b->batches[0].account), 11 + 3 + 4);
	/* Control lines only grow: what was told once is not told again. */
	expect_unpaired(&b->batches[1], nothing);
	assert_int_equal(b->batches[1].account.lost[LOSS_FAULT], 0);
	assert_int_equal(b->batches[1].account.lost[LOSS_NEGATIVE], 0);
	expect_unpaired(&b->batches[2], (const u64[UNPAIRED_N]){ 0, 10, 0, 0, 0 });
	assert_int_equal(account_lost_values(&b->batches[2].account), 0);
	assert_int_equal(b->result.account.unpaired[UNPAIRED_NEVER_ENDED], 17);
	assert_int_equal(b->result.account.lost[LOSS_UNPAIRED], 35);
	bench_free(b);
	/* Without a window the run so far is told, the waiting ones once. */
	pair_init(&p, true, 0);
	b->every_ns = 5 * MS;
	b->options.n_windows = 3;
	b->control[0].unpaired[UNPAIRED_FULL] = 5;
	wait_since(&p, 0, 64, 1);
	assert_int_equal(bench_run(b), 0);
	expect_unpaired(&b->batches[0], (const u64[UNPAIRED_N]){ 0, 0, 0, 0, 5 });
	expect_unpaired(&b->batches[1], (const u64[UNPAIRED_N]){ 0, 0, 0, 0, 5 });
	expect_unpaired(&b->batches[2], (const u64[UNPAIRED_N]){ 0, 64, 0, 0, 5 });
	assert_int_equal(b->result.account.lost[LOSS_UNPAIRED], 69);
	bench_free(b);
}

static void test_bias(void **state)
{
	struct account account = { 0 };
	u64 *lost = account.lost, *unpaired = account.unpaired;

	assert_false(account_is_biased(&account));
	for (u32 i = 0; i < LOSS_N; i++) {
		lost[i] = 1;
		assert_int_equal(account_is_biased(&account), i != LOSS_UNPAIRED);
		lost[i] = 0;
	}
	lost[LOSS_UNPAIRED] = 1;
	for (u32 i = 0; i < UNPAIRED_N; i++) {
		unpaired[i] = 1;
		assert_int_equal(account_is_biased(&account),
				 i == UNPAIRED_EXPIRED || i == UNPAIRED_FULL);
		unpaired[i] = 0;
	}
}

static void test_matched(void **state)
{
	struct bench b;

	bench_init(&b, false, 5 * MS);
	b.fake.phys.has_matched = true;
	b.options.n_windows = 1;
	fake_counters(&b.fake, 0, 0, 0)[COUNTER_MATCHED] = 2;
	assert_int_equal(bench_run(&b), 0);
	assert_int_equal(b.batches[0].account.matched, 2);
	assert_int_equal(b.batches[0].account.events, 10);
	assert_int_equal(b.result.account.matched, 2);
	bench_free(&b);
}

static void test_signals(void **state)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP };
	struct bench b;

	for (u32 i = 0; i < ARRAY_SIZE(signals); i++) {
		bench_init(&b, true, 5 * MS);
		b.sink_signal = signals[i];
		assert_int_equal(bench_run(&b), 0);
		assert_int_equal(b.n_batches, 2); /* the one that raised it, and the last */
		check_windows(&b);
		bench_free(&b);
	}
	/* the handlers are gone: SIGTERM's action is the default again */
	struct sigaction action;

	sigaction(SIGTERM, NULL, &action);
	assert_true(action.sa_handler == SIG_DFL);
}

static void test_sink_error(void **state)
{
	struct bench b;

	bench_init(&b, true, 5 * MS);
	b.sink_error = -EPIPE;
	assert_int_equal(bench_run(&b), -EPIPE);
	assert_int_equal(b.n_batches, 1);
	bench_free(&b);
}

static void test_attach_error(void **state)
{
	struct bench b;

	bench_init(&b, true, 5 * MS);
	b.attach_error = -EPERM;
	assert_int_equal(bench_run(&b), -EPERM);
	assert_int_equal(b.n_batches, 0);
	bench_free(&b);
}

/* The last switch fails: what both copies hold is still given. */
static void test_flip_error(void **state)
{
	struct bench b;

	bench_init(&b, true, 0);
	b.options.duration_ns = 5 * MS;
	b.flip_error = -EBUSY;
	count_events(1, 3);
	assert_int_equal(bench_run(&b), 0);
	assert_int_equal(b.n_batches, 1);
	assert_true(b.counts[0] == 16 && b.n_counted == 16);
	bench_free(&b);
}

static int child_fork(int *ret_go_fd, unsigned int milliseconds, int status)
{
	int fds[2], pid;
	char go;

	assert_int_equal(pipe(fds), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		close(fds[1]);
		if (read(fds[0], &go, 1) != 1)
			_exit(99);
		usleep(1000 * milliseconds);
		_exit(status);
	}
	close(fds[0]);
	*ret_go_fd = fds[1];
	return pid;
}

static void test_child(void **state)
{
	struct bench b;
	u64 start_ns;

	bench_init(&b, true, 10 * MS);
	b.options.child_pid = child_fork(&b.options.child_go_fd, 35, 7);
	start_ns = base_monotonic_ns();
	assert_int_equal(bench_run(&b), 0);
	assert_true(base_monotonic_ns() - start_ns >= 35 * MS);
	assert_true(WIFEXITED(b.child_status));
	assert_int_equal(WEXITSTATUS(b.child_status), 7);
	check_windows(&b);
	close(b.options.child_go_fd);
	bench_free(&b);
	/* a run that ends first ends the child */
	bench_init(&b, true, 10 * MS);
	b.options.child_pid = child_fork(&b.options.child_go_fd, 60000, 0);
	b.options.n_windows = 2;
	assert_int_equal(bench_run(&b), 0);
	assert_true(WIFSIGNALED(b.child_status));
	assert_int_equal(WTERMSIG(b.child_status), SIGTERM);
	close(b.options.child_go_fd);
	bench_free(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_windows),
		cmocka_unit_test(test_short_windows),
		cmocka_unit_test(test_idle),
		cmocka_unit_test(test_slow_sink),
		cmocka_unit_test(test_duration),
		cmocka_unit_test(test_accumulate),
		cmocka_unit_test(test_losses),
		cmocka_unit_test(test_lasting_losses),
		cmocka_unit_test(test_losses_of_two_flips),
		cmocka_unit_test(test_unpaired),
		cmocka_unit_test(test_bias),
		cmocka_unit_test(test_matched),
		cmocka_unit_test(test_signals),
		cmocka_unit_test(test_sink_error),
		cmocka_unit_test(test_attach_error),
		cmocka_unit_test(test_flip_error),
		cmocka_unit_test(test_child),
	};

	return cmocka_run_group_tests_name("run-loop", tests, NULL, NULL);
}
