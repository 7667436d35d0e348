/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * One batch: flip, drain the old copy, merge, losses, user part, sink.
 *
 * The switch is one instant for two windows: the end of one and the start of the
 * next.  The last window ends with a switch too; what the programs count between
 * it and their detaching lies behind the run's end and is dropped, so that the last
 * window is not longer by the time that detaching takes (8-84 ms).
 */
#include "engine/window.h"

#include <errno.h>
#include <string.h>

#include "engine/loop.h"

#define STREAM_ROUNDS 64

static int open_panes(struct run *run)
{
	const struct phys *phys = run->phys;

	run->hop.panes = arena_new(run->arena, struct panes);
	return panes_open(run->hop.panes, phys, hop_n_panes(phys->window_ns, phys->advance_ns),
			  run->arena);
}

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
	if (!err && phys->window == WINDOW_HOPPING)
		err = open_panes(run);
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
	if (run->hop.panes)
		panes_close(run->hop.panes);
	stream_close(&run->stream);
}

int window_open_user(struct run *run)
{
	if (run->is_user_open)
		return 0;
	run->is_user_open = true;
	return user_open(&run->user, run->phys, loop_cancel(), run->diags);
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
	u64 faults = 0, negative = 0, evicted = 0, running_full = 0, unpaired[UNPAIRED_N] = { 0 };

	if (!run->phys->n_joins || run->is_ended)
		return;
	for (u32 cpu = 0; cpu < run->phys->state.n_cpus; cpu++) {
		const struct control_line *line = &run->load->control[cpu];

		faults += __atomic_load_n(&line->start_faults, __ATOMIC_RELAXED);
		negative += __atomic_load_n(&line->start_negative, __ATOMIC_RELAXED);
		evicted += __atomic_load_n(&line->start_evicted, __ATOMIC_RELAXED);
		running_full += __atomic_load_n(&line->start_running_full, __ATOMIC_RELAXED);
		for (u32 i = 0; i < UNPAIRED_N; i++)
			unpaired[i] += __atomic_load_n(&line->unpaired[i], __ATOMIC_RELAXED);
	}
	run->tally.start_faults += grown(faults, &run->start_faults_before);
	run->tally.start_negative += grown(negative, &run->start_negative_before);
	run->tally.start_evicted += grown(evicted, &run->start_evicted_before);
	run->tally.counters[COUNTER_RUNNING_FULL] +=
		grown(running_full, &run->start_running_full_before);
	for (u32 i = 0; i < UNPAIRED_N; i++)
		run->tally.unpaired[i] += grown(unpaired[i], &run->unpaired_before[i]);
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
	run->tally.unpaired[UNPAIRED_NEVER_ENDED] += n;
	return 0;
}

/* What the counters say, into the batch. */
static void account(const struct run *run, const struct tally *tally, struct batch *batch)
{
	const u64 *c = tally->counters;

	memset(batch->lost, 0, sizeof(batch->lost));
	for (u32 i = 0; i < UNPAIRED_N; i++) {
		batch->unpaired[i] = tally->unpaired[i] + c[COUNTER_UNPAIRED + i];
		batch->lost[LOSS_UNPAIRED] += batch->unpaired[i];
	}
	batch->lost[LOSS_NEGATIVE] = c[COUNTER_NEGATIVE] + tally->start_negative;
	batch->lost[LOSS_EVICTED] = c[COUNTER_EVICTED] + tally->start_evicted;
	batch->events = c[COUNTER_EVENTS];
	batch->matched = run->phys->has_matched ? c[COUNTER_MATCHED] : c[COUNTER_EVENTS];
	batch->lost[LOSS_MISSED] = tally->missed + c[COUNTER_NESTED];
	batch->lost[LOSS_TABLE_FULL] = c[COUNTER_TABLE_FULL] + c[COUNTER_UNPLACED] +
				       c[COUNTER_RUNNING_FULL] + tally->n_folded;
	batch->lost[LOSS_RING_FULL] = c[COUNTER_RING_FULL];
	batch->lost[LOSS_FAULT] = c[COUNTER_FAULT] + tally->start_faults;
}

/*
 * Sums up windows; a batch of a query without window holds the run so far.  fresh: what
 * of the batch no batch before had too.
 */
static void add_to_result(struct run *run, const struct batch *batch, const struct batch *fresh)
{
	struct run_result *result = &run->result;
	u64 *n_full = &result->lost[LOSS_TABLE_FULL];
	u32 i;

	if (!batch->is_windowed) {
		result->events = result->matched = 0;
		memset(result->lost, 0, sizeof(result->lost));
		memset(result->unpaired, 0, sizeof(result->unpaired));
	}
	result->events += fresh->events;
	result->matched += fresh->matched;
	for (i = 0; i < LOSS_N; i++)
		result->lost[i] += fresh->lost[i];
	for (i = 0; i < UNPAIRED_N; i++)
		result->unpaired[i] += fresh->unpaired[i];
	/* Groups that had room in each of the panes may have none in their window. */
	*n_full = MAX(*n_full, batch->lost[LOSS_TABLE_FULL]);
	if (!run->phys->is_streaming)
		result->windows++;
}

/* fresh: as add_to_result() has it; NULL: all of the batch. */
static int emit(struct run *run, const struct rows *rows, struct batch *batch,
		const struct batch *fresh)
{
	int err = window_open_user(run);

	if (!err)
		err = user_run(&run->user, rows, run->diags, batch);
	if (err)
		return err;
	add_to_result(run, batch, fresh ? fresh : batch);
	return run->sink.batch(run->sink.context, batch);
}

/* What is counted now is merged there. */
static struct merge *target(struct run *run)
{
	return run->hop.panes ? &run->hop.panes->pane : &run->merge;
}

/* Groups are kept from batch to batch where there is no window. */
static void begin(struct run *run)
{
	if (!is_windowed(run))
		return;
	merge_reset(target(run));
	run->tally = (struct tally){ 0 };
}

static int drain(struct run *run, u32 copy)
{
	struct load *load = run->load;
	int map_fd = -1;

	if (run->phys->state.kind == STATE_KERNEL_MAP)
		map_fd = load->map_fds[copy ? LOAD_MAP_HASH1 : LOAD_MAP_HASH0];
	return drain_copy(&run->drain, load->state, copy, map_fd, target(run), run->tally.counters);
}

/* The merged groups and what was counted beside them, as one batch. */
static int give(struct run *run, const struct tally *tally, u64 start_ns, u64 end_ns, bool is_last,
		const struct batch *fresh)
{
	struct rows rows = { .phys = run->phys, .merge = &run->merge };
	struct batch batch = { .is_windowed = is_windowed(run), .is_last = is_last };

	account(run, tally, &batch);
	batch.window_start_ns = rows.window_start_ns = start_ns;
	batch.window_end_ns = rows.window_end_ns = end_ns;
	rows.matched = batch.matched;
	rows.n_lost_values = batch_lost_values(&batch);
	return emit(run, &rows, &batch, fresh);
}

/* --- HOPPING --- */

struct pane_end {
	u64 boundary_ns, position; /* the pane's nominal end */
	u64 expired;		   /* no window to come has the panes up to that position */
	bool is_due;		   /* a window ends too */
};

/* The latest boundary that has passed. */
static u64 boundary_before(const struct phys *phys, u64 now_ns)
{
	u64 between_ns = hop_between_ns(phys->window_ns, phys->advance_ns);
	u64 at_ns = now_ns / phys->advance_ns * phys->advance_ns;

	return between_ns && now_ns - at_ns >= between_ns ? at_ns + between_ns : at_ns;
}

/*
 * A pane that was closed late goes over several boundaries: it is in all windows that
 * would have a part of it, and the latest window that ended meanwhile ends now.
 */
static struct pane_end pane_end(const struct run *run, u64 now_ns, bool is_last)
{
	const struct phys *phys = run->phys;
	u64 end_ns = is_last ? now_ns : boundary_before(phys, now_ns);
	u64 window_end_ns = end_ns / phys->advance_ns * phys->advance_ns;
	u64 before_ns = run->hop.boundary_ns, position = run->hop.position;
	struct pane_end end = { .boundary_ns = end_ns };

	if (!before_ns)
		before_ns = position = boundary_before(phys, run->window_start_ns);
	end.is_due = window_end_ns == end_ns || window_end_ns > before_ns;
	if (!end.is_due)
		window_end_ns += phys->advance_ns;
	/* Where the clock was set back the pane is as long as one can be. */
	end.position = position + (end_ns > before_ns ? end_ns - before_ns : phys->advance_ns);
	end.expired = end.position - end_ns + window_end_ns - phys->window_ns;
	return end;
}

bool window_is_due(const struct run *run, u64 now_ns)
{
	return !run->hop.panes || pane_end(run, now_ns, false).is_due;
}

static int give_panes(struct run *run, u64 end_ns, bool is_last)
{
	struct panes *panes = run->hop.panes;
	struct batch fresh = { .is_windowed = true };
	struct tally tally = panes->kept, fresh_tally;
	u64 start_ns = end_ns;
	int err;

	/* The run ends in the gap between two windows: no window was begun. */
	if (!panes->n_kept)
		return 0;
	merge_reset(&run->merge);
	err = panes_merge(panes, &run->merge, &fresh_tally, &start_ns);
	if (err)
		return err;
	account(run, &fresh_tally, &fresh);
	tally.n_folded = run->merge.n_folded;
	return give(run, &tally, start_ns, end_ns, is_last, &fresh);
}

static int close_pane(struct run *run, u64 now_ns, u64 end_ns, bool is_last)
{
	struct pane_end end = pane_end(run, now_ns, is_last);
	int err = panes_push(run->hop.panes, end.position, run->window_start_ns, &run->tally);

	if (err)
		return err;
	run->window_start_ns = end_ns;
	run->hop.boundary_ns = end.boundary_ns;
	run->hop.position = end.position;
	panes_expire(run->hop.panes, end.expired);
	return end.is_due || is_last ? give_panes(run, end_ns, is_last) : 0;
}

/* now_ns: at or before the switch; end_ns: just after it. */
static int hand_on(struct run *run, u64 now_ns, u64 end_ns, bool is_last)
{
	u64 start_ns = is_windowed(run) ? run->window_start_ns : run->start_ns;

	run->tally.missed += load_missed(run->load);
	if (run->hop.panes)
		return close_pane(run, now_ns, end_ns, is_last);
	run->tally.n_folded = run->merge.n_folded;
	run->window_start_ns = end_ns;
	return give(run, &run->tally, start_ns, end_ns, is_last, NULL);
}

void window_switch(struct run *run)
{
	run->switch_error = load_flip(run->load);
	run->switched_ns = base_realtime_ns();
	run->is_switched = true;
}

static int take_switch(struct run *run, u64 *ret_ns)
{
	if (!run->is_switched)
		window_switch(run);
	run->is_switched = false;
	*ret_ns = run->switched_ns;
	return run->switch_error;
}

int window_restart(struct run *run)
{
	int err = take_switch(run, &run->start_ns);

	run->window_start_ns = run->start_ns;
	if (!err) {
		take_starts(run);
		err = drain(run, run->load->epoch ^ 1);
	}
	load_missed(run->load);
	merge_reset(target(run));
	run->tally = (struct tally){ 0 };
	return err;
}

int window_close_at(struct run *run, u64 now_ns)
{
	u64 end_ns;
	int err = take_switch(run, &end_ns);

	if (err)
		return err;
	begin(run);
	take_starts(run);
	err = drain(run, run->load->epoch ^ 1);
	return err ? err : hand_on(run, now_ns, end_ns, false);
}

int window_close(struct run *run)
{
	return window_close_at(run, base_realtime_ns());
}

int window_close_last(struct run *run)
{
	u64 end_ns;
	int flip_err = take_switch(run, &end_ns), err;

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
	return err ? err : hand_on(run, end_ns, end_ns, true);
}

/*
 * A full ring loses what comes later than all that it holds, and has room again
 * only when it was read.  So what was lost while the writer stood at a position is
 * missing behind the rows up to there: a query that has its LIMIT of rows before
 * that lost nothing it was to see.
 */
static void forgive_behind_limit(struct run *run)
{
	u64 *lost = &run->tally.counters[COUNTER_RING_FULL];

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
	u64 *unpaired = run->tally.counters + COUNTER_UNPAIRED;

	memset(run->tally.counters, 0, sizeof(run->tally.counters));
	drain_peek_counters(&run->drain, run->load->state, run->tally.counters);
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
		run->tally.missed += load_missed(run->load);
	take_starts(run);
	account(run, &run->tally, &batch);
	batch.window_start_ns = run->start_ns;
	batch.window_end_ns = base_realtime_ns();
	return emit(run, &rows, &batch, NULL);
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

bool window_has_loss(struct run *run)
{
	u64 now_ns = base_monotonic_ns();
	struct batch batch = { 0 };
	struct tally tally;

	take_starts(run);
	if (now_ns - run->loss_seen_ns >= WINDOW_LOSS_NS) {
		run->tally.missed += load_missed(run->load);
		run->loss_seen_ns = now_ns;
	}
	tally = run->tally;
	/* Those of a stream are never drained: the tally has them from before. */
	if (run->phys->is_streaming)
		memset(tally.counters, 0, sizeof(tally.counters));
	drain_peek_counters(&run->drain, run->load->state, tally.counters);
	account(run, &tally, &batch);
	return losses_are_biased(batch.lost, batch.unpaired);
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
	if (err || !run->hop.panes)
		return err ? err : hand_on(run, end_ns, end_ns, is_last);
	/* All panes so far. */
	err = panes_push(run->hop.panes, ++run->hop.position, run->start_ns, &run->tally);
	return err ? err : give_panes(run, end_ns, is_last);
}
