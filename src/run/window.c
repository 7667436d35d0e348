/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * One batch: flip, drain the old copy, merge, losses, user part, sink.
 *
 * The switch is one instant for two windows: the end of one and the start of the
 * next.  The last window ends with a switch too; what the programs count between
 * it and their detaching lies behind the run's end and is dropped, so that the last
 * window is not longer by the time that detaching takes (8-84 ms).
 */
#include "run/window.h"

#include <errno.h>
#include <string.h>

#define STREAM_ROUNDS 64

struct run *run_open(struct load *load, const struct run_options *options,
		     const struct run_sink *sink, struct arena *arena, struct diags *diags)
{
	struct run *run = arena_new(arena, struct run);
	const struct phys *phys = load->phys;
	int err;

	run->load = load;
	run->phys = phys;
	run->options = *options;
	run->sink = *sink;
	run->arena = arena;
	run->diags = diags;
	run->result.child_status = -1;
	run->start_ns = run->window_start_ns = base_realtime_ns();
	run->rows_limit = options->n_rows ? options->n_rows : UINT64_MAX;
	if (phys->stream_limit >= 0)
		run->rows_limit = MIN(run->rows_limit, (u64)phys->stream_limit);
	drain_open(&run->drain, phys, arena);
	if (phys->is_streaming && load->map_fds[LOAD_MAP_RING] < 0)
		err = 0; /* no program names the ring buffer, when WHERE is never true */
	else if (phys->is_streaming)
		err = stream_open(&run->stream, phys, load->map_fds[LOAD_MAP_RING]);
	else
		err = merge_open(&run->merge, phys, arena);
	if (!err)
		return run;
	diag_plain(diags, "run-start", "cannot make room for %s: %s",
		   phys->is_streaming ? "rows" : "groups", strerror(-err));
	run_close(run);
	return NULL;
}

void run_close(struct run *run)
{
	if (run->is_user_open)
		user_close(&run->user);
	merge_close(&run->merge);
	stream_close(&run->stream);
}

int window_open_user(struct run *run)
{
	if (run->is_user_open)
		return 0;
	run->is_user_open = true;
	return user_open(&run->user, run->phys, run->diags);
}

static bool is_windowed(const struct run *run)
{
	return !run->phys->is_streaming && run->phys->window != WINDOW_NONE;
}

/* What the counters say, into the batch. */
static void account(const struct run *run, struct batch *batch)
{
	const u64 *c = run->counters;

	memset(batch->lost, 0, sizeof(batch->lost));
	batch->events = c[COUNTER_EVENTS];
	batch->matched = run->phys->has_matched ? c[COUNTER_MATCHED] : c[COUNTER_EVENTS];
	batch->lost[LOSS_MISSED] = run->missed + c[COUNTER_NESTED];
	batch->lost[LOSS_TABLE_FULL] = c[COUNTER_TABLE_FULL] + run->merge.n_folded;
	batch->lost[LOSS_RING_FULL] = c[COUNTER_RING_FULL];
	batch->lost[LOSS_FAULT] = c[COUNTER_FAULT];
}

/* Sums up windows; a batch of a query without window holds the run so far. */
static void add_to_result(struct run *run, const struct batch *batch)
{
	struct run_result *result = &run->result;
	u32 i;

	if (!batch->is_windowed) {
		result->events = result->matched = 0;
		memset(result->lost, 0, sizeof(result->lost));
	}
	result->events += batch->events;
	result->matched += batch->matched;
	for (i = 0; i < LOSS_N; i++)
		result->lost[i] += batch->lost[i];
	if (!run->phys->is_streaming)
		result->windows++;
}

static int emit(struct run *run, const struct rows *rows, struct batch *batch)
{
	int err = window_open_user(run);

	if (!err)
		err = user_run(&run->user, rows, run->diags, batch);
	if (err)
		return err;
	add_to_result(run, batch);
	return run->sink.batch(run->sink.context, batch);
}

/* Groups are kept from batch to batch where there is no window. */
static void begin(struct run *run)
{
	if (!is_windowed(run))
		return;
	merge_reset(&run->merge);
	memset(run->counters, 0, sizeof(run->counters));
	run->missed = 0;
}

static int drain(struct run *run, u32 copy)
{
	struct load *load = run->load;
	int map_fd = -1;

	if (run->phys->state.kind == STATE_KERNEL_MAP)
		map_fd = load->map_fds[copy ? LOAD_MAP_HASH1 : LOAD_MAP_HASH0];
	return drain_copy(&run->drain, load->state, copy, map_fd, &run->merge, run->counters);
}

static int hand_on(struct run *run, u64 end_ns, bool is_last)
{
	struct rows rows = { .phys = run->phys, .merge = &run->merge };
	struct batch batch = { .is_windowed = is_windowed(run), .is_last = is_last };

	run->missed += load_missed(run->load);
	account(run, &batch);
	batch.window_start_ns = batch.is_windowed ? run->window_start_ns : run->start_ns;
	batch.window_end_ns = end_ns;
	rows.window_start_ns = batch.window_start_ns;
	rows.window_end_ns = batch.window_end_ns;
	rows.matched = batch.matched;
	run->window_start_ns = end_ns;
	return emit(run, &rows, &batch);
}

int window_close(struct run *run)
{
	int err = load_flip(run->load);
	u64 end_ns = base_realtime_ns();

	if (err)
		return err;
	begin(run);
	err = drain(run, run->load->epoch ^ 1);
	return err ? err : hand_on(run, end_ns, false);
}

int window_close_last(struct run *run)
{
	int flip_err = load_flip(run->load), err;
	u64 end_ns = base_realtime_ns();

	load_detach(run->load);
	begin(run);
	if (!flip_err) {
		err = drain(run, run->load->epoch ^ 1);
	} else {
		/* No switch, so the end is that of the detaching; both copies hold events. */
		end_ns = base_realtime_ns();
		err = drain(run, 0);
		if (!err)
			err = drain(run, 1);
	}
	return err ? err : hand_on(run, end_ns, true);
}

/*
 * A full ring loses what comes later than all that it holds, and has room again
 * only when it was read.  So what was lost while the writer stood at a position is
 * missing behind the rows up to there: a query that has its LIMIT of rows before
 * that lost nothing it was to see.
 */
static void forgive_behind_limit(struct run *run)
{
	u64 *lost = &run->counters[COUNTER_RING_FULL];

	if (run->rows_limit == UINT64_MAX || !run->stream.producer)
		return;
	if (run->n_rows < run->rows_limit && run->stream.position >= run->ring_full_position) {
		run->ring_full_before = run->ring_full_marked;
		run->ring_full_marked = *lost;
		run->ring_full_position = stream_written(&run->stream);
	}
	if (run->n_rows >= run->rows_limit)
		*lost = run->ring_full_before;
}

static int hand_on_events(struct run *run, u32 n_events, bool is_last)
{
	struct rows rows = { .phys = run->phys,
			     .values = run->stream.values.at,
			     .n_events = n_events,
			     .n_columns = run->phys->n_columns };
	struct batch batch = { .is_last = is_last };

	memset(run->counters, 0, sizeof(run->counters));
	drain_peek_counters(&run->drain, run->load->state, run->counters);
	run->n_rows += n_events;
	forgive_behind_limit(run);
	if (is_last)
		run->missed += load_missed(run->load);
	account(run, &batch);
	batch.window_start_ns = run->start_ns;
	batch.window_end_ns = base_realtime_ns();
	return emit(run, &rows, &batch);
}

int window_stream(struct run *run, bool *ret_more)
{
	int round, err = 0;
	u32 n;

	*ret_more = false;
	for (round = 0; round < STREAM_ROUNDS && !err; round++) {
		n = stream_read(&run->stream,
				MIN(run->rows_limit - run->n_rows, STREAM_BATCH_ROWS));
		if (!n)
			return 0;
		err = hand_on_events(run, n, false);
	}
	*ret_more = true;
	return err;
}

int window_stream_last(struct run *run)
{
	bool is_more = true;
	int err = 0;

	load_detach(run->load);
	while (is_more && !err)
		err = window_stream(run, &is_more);
	return err ? err : hand_on_events(run, 0, true);
}

int run_drain_once(struct run *run, bool is_last)
{
	u64 end_ns;
	int err;

	if (run->phys->is_streaming)
		return hand_on_events(run, stream_read(&run->stream, run->rows_limit - run->n_rows),
				      is_last);
	err = load_flip(run->load);
	end_ns = base_realtime_ns();
	if (err)
		return err;
	begin(run);
	err = drain(run, run->load->epoch ^ 1);
	return err ? err : hand_on(run, end_ns, is_last);
}
