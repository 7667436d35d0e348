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

#include "run/pair.h"

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

static u64 grown(u64 now, u64 *before)
{
	u64 n = now - *before;

	*before = now;
	return n;
}

/*
 * What starts counted belongs to no window; it is told with the one in which it is seen.
 * Hooks are detached one by one: a start without its end is then no news.
 */
static void take_starts(struct run *run)
{
	u64 faults = 0, negative = 0, evicted = 0, unpaired[UNPAIRED_N] = { 0 };

	if (!run->phys->n_joins || run->is_ended)
		return;
	for (u32 cpu = 0; cpu < run->phys->state.n_cpus; cpu++) {
		const struct control_line *line = &run->load->control[cpu];

		faults += __atomic_load_n(&line->start_faults, __ATOMIC_RELAXED);
		negative += __atomic_load_n(&line->start_negative, __ATOMIC_RELAXED);
		evicted += __atomic_load_n(&line->start_evicted, __ATOMIC_RELAXED);
		for (u32 i = 0; i < UNPAIRED_N; i++)
			unpaired[i] += __atomic_load_n(&line->unpaired[i], __ATOMIC_RELAXED);
	}
	run->start_faults += grown(faults, &run->start_faults_before);
	run->start_negative += grown(negative, &run->start_negative_before);
	run->start_evicted += grown(evicted, &run->start_evicted_before);
	for (u32 i = 0; i < UNPAIRED_N; i++)
		run->unpaired[i] += grown(unpaired[i], &run->unpaired_before[i]);
}

/* At the end: the starts from before that instant which still wait. */
static int take_waiting(struct run *run, u64 before_ns)
{
	s64 n = 0;

	if (run->phys->n_joins)
		n = pair_count_waiting(run->phys, run->load->pairs,
				       run->load->map_fds[LOAD_MAP_PAIR], before_ns);
	if (n < 0)
		return (int)n;
	run->unpaired[UNPAIRED_NEVER_ENDED] += n;
	return 0;
}

/* What the counters say, into the batch. */
static void account(struct run *run, struct batch *batch)
{
	const u64 *c = run->counters;

	memset(batch->lost, 0, sizeof(batch->lost));
	for (u32 i = 0; i < UNPAIRED_N; i++) {
		batch->unpaired[i] = run->unpaired[i] + c[COUNTER_UNPAIRED + i];
		batch->lost[LOSS_UNPAIRED] += batch->unpaired[i];
	}
	batch->lost[LOSS_NEGATIVE] = c[COUNTER_NEGATIVE] + run->start_negative;
	batch->lost[LOSS_EVICTED] = c[COUNTER_EVICTED] + run->start_evicted;
	batch->events = c[COUNTER_EVENTS];
	batch->matched = run->phys->has_matched ? c[COUNTER_MATCHED] : c[COUNTER_EVENTS];
	batch->lost[LOSS_MISSED] = run->missed + c[COUNTER_NESTED];
	batch->lost[LOSS_TABLE_FULL] =
		c[COUNTER_TABLE_FULL] + c[COUNTER_UNPLACED] + run->merge.n_folded;
	batch->lost[LOSS_RING_FULL] = c[COUNTER_RING_FULL];
	batch->lost[LOSS_FAULT] = c[COUNTER_FAULT] + run->start_faults;
}

/* Sums up windows; a batch of a query without window holds the run so far. */
static void add_to_result(struct run *run, const struct batch *batch)
{
	struct run_result *result = &run->result;
	u32 i;

	if (!batch->is_windowed) {
		result->events = result->matched = 0;
		memset(result->lost, 0, sizeof(result->lost));
		memset(result->unpaired, 0, sizeof(result->unpaired));
	}
	result->events += batch->events;
	result->matched += batch->matched;
	for (i = 0; i < LOSS_N; i++)
		result->lost[i] += batch->lost[i];
	for (i = 0; i < UNPAIRED_N; i++)
		result->unpaired[i] += batch->unpaired[i];
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
	run->missed = run->start_faults = run->start_negative = run->start_evicted = 0;
	memset(run->unpaired, 0, sizeof(run->unpaired));
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
	rows.n_lost_values = batch_lost_values(&batch);
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
	take_starts(run);
	err = drain(run, run->load->epoch ^ 1);
	return err ? err : hand_on(run, end_ns, false);
}

int window_close_last(struct run *run)
{
	int flip_err = load_flip(run->load), err;
	u64 end_ns = base_realtime_ns();

	begin(run);
	/* Before the detaching, as near to the end as can be: ends go on using starts up. */
	if (!flip_err)
		take_starts(run);
	err = flip_err ? 0 : take_waiting(run, base_monotonic_ns());
	load_detach(run->load);
	if (flip_err)
		take_starts(run);
	if (!flip_err) {
		if (!err)
			err = drain(run, run->load->epoch ^ 1);
	} else {
		/* No switch, so the end is that of the detaching; both copies hold events. */
		end_ns = base_realtime_ns();
		err = take_waiting(run, UINT64_MAX);
		if (!err)
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

/* The counters of a query that streams, which go on from batch to batch. */
static void peek(struct run *run)
{
	u64 *unpaired = run->counters + COUNTER_UNPAIRED;

	memset(run->counters, 0, sizeof(run->counters));
	drain_peek_counters(&run->drain, run->load->state, run->counters);
	if (run->is_ended)
		memcpy(unpaired, run->unpaired_at_end, sizeof(run->unpaired_at_end));
	else
		memcpy(run->unpaired_at_end, unpaired, sizeof(run->unpaired_at_end));
}

static int hand_on_events(struct run *run, u32 n_events, bool is_last)
{
	struct rows rows = { .phys = run->phys,
			     .values = run->stream.values.at,
			     .n_events = n_events,
			     .n_columns = run->phys->n_columns };
	struct batch batch = { .is_last = is_last };

	peek(run);
	run->n_rows += n_events;
	forgive_behind_limit(run);
	if (is_last)
		run->missed += load_missed(run->load);
	take_starts(run);
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
	u64 end_ns = base_monotonic_ns();
	bool is_more = true;
	int err = 0;

	/* Rows up to the detaching are handed on; what found no partner after this is no news. */
	take_starts(run);
	peek(run);
	run->is_ended = true;
	load_detach(run->load);
	while (is_more && !err)
		err = window_stream(run, &is_more);
	if (!err)
		err = take_waiting(run, end_ns);
	return err ? err : hand_on_events(run, 0, true);
}

int run_drain_once(struct run *run, bool is_last)
{
	u64 end_ns;
	int err;

	if (run->phys->is_streaming) {
		err = is_last ? take_waiting(run, UINT64_MAX) : 0;
		return err ? err
			   : hand_on_events(
				     run, stream_read(&run->stream, run->rows_limit - run->n_rows),
				     is_last);
	}
	err = load_flip(run->load);
	end_ns = base_realtime_ns();
	if (err)
		return err;
	begin(run);
	take_starts(run);
	err = is_last ? take_waiting(run, UINT64_MAX) : 0;
	if (!err)
		err = drain(run, run->load->epoch ^ 1);
	return err ? err : hand_on(run, end_ns, is_last);
}
