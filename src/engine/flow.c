/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What happens in a flow, and when.
 *
 * Live (a part has streams): windows of time end at multiples of the advance on the wall
 * clock.  At such an instant the loads of all parts are flipped, and that switch is the end of
 * the window: of what was counted, of the rows that were streamed, and of the counters.  One that
 * comes late, since the output is slow, ends a longer window.
 *
 * Files alone: the rows' own times are the clock, and it runs as fast as they are read.
 */
#include <errno.h>
#include <string.h>

#include "engine/internal.h"

#define STREAM_ROUNDS 64

/* --- What kind of windows --- */

/* Groups alone have nothing to be read between boundaries. */
bool flow_is_polled(const struct flow *flow)
{
	return flow->has_rows || !flow->is_live || flow_has_events(flow);
}

u64 flow_next_boundary(const struct flow *flow, u64 now_ns)
{
	if (!flow->is_live || flow_is_row_driven(flow) || flow_has_events(flow))
		return 0;
	if (flow_is_timed(flow))
		return flow_boundary_behind(flow, now_ns);
	return flow->every_ns ? (now_ns / flow->every_ns + 1) * flow->every_ns : 0;
}

/* --- Rows --- */

/* Streamed rows: those in the queues are one batch. */
static int stream_take(struct flow *flow)
{
	struct account account;
	u64 n = 0;
	int err;

	for (u32 i = 0; i < flow->n_parts; i++) {
		struct flow_part *part = &flow->parts[i];

		if (!part->source)
			continue;
		n += part->queue.n;
		relation_set_rows(part->relation, row_fifo_rows(&part->queue), part->queue.n);
	}
	if (!n || flow->n_streamed >= flow->limit)
		return 0;
	flow_account(flow, false);
	account = flow->total;
	err = flow_give(flow, flow->is_live ? flow->start.real_ns : flow->first_ns,
			flow->is_live ? base_realtime_ns() : flow->last_ns, &account, true, false);
	for (u32 i = 0; i < flow->n_parts; i++)
		if (flow->parts[i].source)
			flow_drop(&flow->parts[i], flow->parts[i].queue.n);
	return err;
}

/* What is in the queues, into windows that rows end, or into a batch of streamed rows. */
static int take_rows(struct flow *flow, u64 before_ns)
{
	return flow->is_grouped ? flow_groups_take(flow, before_ns, false) : stream_take(flow);
}

/* Rows that are the answer as they are; is_all: those that are there, however many. */
static int take_events(struct flow *flow, bool is_all, bool *ret_more)
{
	struct events *events = flow->parts[0].events;
	int err = 0;

	*ret_more = false;
	for (u32 round = 0; !err && (is_all || round < STREAM_ROUNDS); round++) {
		const struct value *rows;
		u32 n = events_read(events, &rows);

		if (!n)
			return 0;
		err = flow_give_events(flow, rows, n, false);
	}
	*ret_more = true;
	return err;
}

/* --- Live --- */

/* The parts that the kernel aggregates end their windows, which were switched. */
static int close_groups(struct flow *flow, const struct flow_boundary *at, bool is_last)
{
	struct groups_end end = {
		.switched_ns = flow->switched.real_ns,
		.position = at->position,
		.expired = at->window_position - flow->cut->window.size,
		.has_window = at->has_window || is_last,
		.is_last = is_last,
		.before_ns = flow->switched.monotonic_ns,
	};
	int err = 0;

	for (u32 i = 0; i < flow->n_parts && !err; i++) {
		struct flow_part *part = &flow->parts[i];

		if (!part->groups)
			continue;
		end.is_unswitched = part->switch_error != 0;
		err = groups_end(part->groups, &end);
	}
	return err;
}

/* A window, pane or snapshot, all of whose parts were switched. */
static int take_boundary(struct flow *flow, struct flow_instant now, bool *ret_is_over)
{
	int err = flow_switch_error(flow);
	struct flow_instant end = err ? now : flow->switched;
	struct flow_boundary at = flow_boundary_at(flow, end.real_ns, false);

	if (flow->is_ending) {
		*ret_is_over = true;
		return 0;
	}
	/* The last window ended while its last pane was switched, which told nobody of the end. */
	flow->is_woken &= !at.n_windows;
	flow->is_overdue = !flow->is_woken && flow_ends_at(flow, &at);
	if (flow->is_overdue)
		at = flow_boundary_at(flow, now.real_ns, false);
	if (flow->is_woken)
		at = flow_boundary_ahead(flow);
	/*
	 * A program that did not end: the window goes on until it has.  Not where it was switched
	 * and its rows may be still to come.
	 */
	if (err == -EBUSY && !flow->is_unsettled)
		return 0;
	if (!err)
		err = close_groups(flow, &at, false);
	if (err)
		return err;
	flow->boundary = at;
	err = flow_read_all(flow, flow->switched);
	if (err)
		return err;
	if (!at.has_window)
		return flow_pane_end(flow, flow->switched, at.position);
	return flow_window_give(flow, flow->switched, &at, false);
}

static int live_poll(struct flow *flow, bool *ret_more)
{
	struct flow_instant now = flow_now(flow);
	u64 n, before_ns = 0;
	int err = 0;

	for (u32 i = 0; i < flow->n_parts && !err; i++)
		if (flow->parts[i].source)
			err = row_source_poll(flow->parts[i].source);
	if (err || !flow_is_row_driven(flow))
		return err;
	flow_switch(&flow, 1, FLOW_GLANCE_NS);
	err = flow_switch_error(flow);
	if (err)
		return err == -EBUSY ? 0 : err;
	err = flow_read_parts(flow, now, &n, ret_more);
	if (err)
		return err;
	if (!*ret_more)
		before_ns = flow_row_time(flow_row_part(flow), now);
	return take_rows(flow, before_ns);
}

/* --- Files --- */

u64 flow_n_windows(const struct flow *flow, u64 *ret_first_ns, u64 *ret_last_ns)
{
	*ret_first_ns = flow->first_ns;
	*ret_last_ns = flow->last_ns;
	if (!flow_is_timed(flow) || flow->is_live || !flow->has_span || flow->last_ns > INT64_MAX)
		return 0;
	return (flow->last_ns - flow->first_ns) / flow_advance_ns(flow);
}

/* The time that windows reach ends in 2262. */
static int check_span(struct flow *flow)
{
	if (flow->last_ns <= INT64_MAX)
		return 0;
	diag_failure(flow->diags, "too-large",
		     "a row's time, %llu ns, is beyond what windows reach",
		     (unsigned long long)flow->last_ns);
	return -EOVERFLOW;
}

/* Windows of the rows' own time: one lot of rows, or the window or pane they are complete for. */
static int file_window(struct flow *flow, bool *ret_more)
{
	struct flow_boundary at;
	struct flow_instant end;
	bool is_last;
	int err;
	u64 n;

	if (!flow->has_span)
		return 0;
	if (!flow->next_ns) {
		err = check_span(flow);
		if (err)
			return err;
		flow->next_ns = flow_boundary_behind(flow, flow->first_ns);
	}
	end = (struct flow_instant){ flow->next_ns, flow->next_ns, 0 };
	err = flow_read_parts(flow, end, &n, ret_more);
	if (err || *ret_more)
		return err;
	flow->next_ns = flow_boundary_behind(flow, end.real_ns);
	*ret_more = end.real_ns % flow_advance_ns(flow);
	if (*ret_more)
		return flow_pane_end(flow, end, end.real_ns);
	is_last = end.real_ns > flow->last_ns || flow->is_last_window;
	if (is_last)
		err = flow_finish_rows(flow);
	*ret_more = !is_last;
	at = flow_boundary_at(flow, end.real_ns, is_last);
	return err ? err : flow_window_give(flow, end, &at, is_last);
}

static int file_poll(struct flow *flow, bool *ret_more)
{
	const struct flow_instant end_of_time = { UINT64_MAX, UINT64_MAX, 0 };
	u64 n;
	int err;

	if (!flow->has_rows)
		return 0;
	if (flow_is_timed(flow))
		return file_window(flow, ret_more);
	err = flow_read_parts(flow, end_of_time, &n, ret_more);
	if (err || !flow_is_row_driven(flow))
		return err;
	return take_rows(flow, 0);
}

/* --- The end --- */

/* The last batch, of all that is in the queues. */
static int give_last(struct flow *flow, struct flow_instant end)
{
	struct flow_boundary at = flow_boundary_at(flow, end.real_ns, true);
	struct account account;
	bool has_window = !flow_is_row_driven(flow);

	/* HOPPING, in the gap between two windows: none was begun. */
	if (flow_is_timed(flow) && at.window_position >= at.position + flow->cut->window.size)
		return 0;
	if (flow->is_ended)
		return 0;
	if (flow->is_grouped)
		return flow_groups_take(flow, 0, true);
	if (flow_is_timed(flow) && !flow->is_live)
		has_window = flow->total.matched + flow->since.matched > 0;
	if (has_window)
		return flow_window_give(flow, end, &at, true);
	flow_account(flow, false);
	account = flow->total;
	return flow_give(flow, flow->is_live ? flow->start.real_ns : flow->first_ns,
			 flow->is_live ? end.real_ns : flow->last_ns, &account, false, true);
}

/*
 * Rows up to now are handed on, unless the query has all that it asked for.  The switch ends them
 * and what was counted, since detaching takes long; where it failed, detaching does.
 */
static int last_events(struct flow *flow)
{
	struct events *events = flow->parts[0].events;
	bool is_more, is_switched;
	int err = 0;

	flow->switched = flow_now(flow);
	flow->is_ending = true;
	flow_switch(&flow, 1, FLOW_PATIENCE_NS);
	is_switched = !flow_switch_error(flow);
	if (!is_switched)
		flow_detach(flow);
	events_end(events, is_switched || flow->is_unsettled);
	if (events->n_rows < events->rows_limit)
		err = take_events(flow, true, &is_more);
	if (!err)
		err = events_finish(events, flow->switched.monotonic_ns);
	return err ? err : flow_give_events(flow, NULL, 0, true);
}

/* The account and the rows are taken before the programs are detached, which takes long. */
static int live_last(struct flow *flow, bool is_switched, struct flow_instant *end)
{
	struct flow_boundary at;
	bool is_failed;
	int err;

	if (!is_switched || (flow_switch_error(flow) && !flow->is_unsettled)) {
		flow->is_ending = true;
		flow_switch(&flow, 1, FLOW_PATIENCE_NS);
	}
	is_failed = flow_switch_error(flow) != 0;
	if (is_failed && (flow_hooks(flow)->chains || flow_hooks(flow)->n_users > 1))
		return flow_switch_error(flow);
	/* Where the switch failed, detaching does: programs end before it returns. */
	if (is_failed) {
		flow_account(flow, true);
		flow_detach(flow);
		flow->switched = flow_now(flow);
		flow->switched.flip = UINT64_MAX;
	}
	flow_account(flow, is_failed);
	*end = flow->switched;
	at = flow_boundary_at(flow, end->real_ns, true);
	err = close_groups(flow, &at, true);
	if (!err)
		err = flow_read_all(flow, *end);
	flow_drop_behind(flow, *end);
	return err;
}

static int last(struct flow *flow, bool is_switched)
{
	struct flow_instant end = is_switched ? flow->now : flow_now(flow);
	int err = 0;

	if (flow_has_events(flow))
		return last_events(flow);
	if (flow->is_live)
		err = live_last(flow, is_switched, &end);
	else if (flow_is_timed(flow))
		end.real_ns = end.monotonic_ns = ALIGN_UP(flow->next_ns, flow_advance_ns(flow));
	if (!err)
		err = flow_finish_rows(flow);
	if (!err && !flow->is_ended && flow_is_row_driven(flow))
		err = take_rows(flow, 0);
	return err ? err : give_last(flow, end);
}

void flow_end(struct flow *flow, int err)
{
	if (flow->is_over)
		return;
	flow->err = err;
	flow_failed(flow, err);
	flow->is_over = true;
	flow_account(flow, false);
	for (u32 i = 0; i < flow->n_parts; i++)
		if (flow->parts[i].groups)
			groups_leave(flow->parts[i].groups);
}

/* Goes on, or ends it: with its last batch, or, after an error, without. */
static void go_on(struct flow *flow, int err, bool is_over, bool is_switched)
{
	if (err || is_over)
		flow_end(flow, err ? err : last(flow, is_switched));
}

void flow_take_boundary(struct flow *flow, struct flow_instant now)
{
	bool is_over = false;
	int err;

	flow_begin_turn(flow);
	err = take_boundary(flow, now, &is_over);
	go_on(flow, err, is_over, true);
}

void flow_poll(struct flow *flow, bool *ret_more)
{
	bool is_over;
	int err;

	*ret_more = false;
	flow_begin_turn(flow);
	if (flow_has_events(flow))
		err = take_events(flow, false, ret_more);
	else
		err = flow->is_live ? live_poll(flow, ret_more) : file_poll(flow, ret_more);
	is_over = flow->is_ended || (!flow->is_live && !*ret_more);
	if (flow_has_events(flow))
		is_over |= flow->parts[0].events->n_rows >= flow->limit;
	else if (flow->is_streaming)
		is_over |= flow->n_streamed >= flow->limit;
	flow->is_partial = flow->has_rows && !flow->is_live && !is_over;
	if (!err && !is_over && flow->sink.idle)
		err = flow->sink.idle(flow->sink.context);
	go_on(flow, err, is_over, false);
}

/* --- For the host --- */

bool flow_is_over(const struct flow *flow)
{
	return flow->is_over;
}

int flow_stop(struct flow *flow)
{
	flow_begin_turn(flow);
	if (!flow->is_over)
		go_on(flow, 0, true, false);
	return flow->err;
}

void flow_stop_at_window(struct flow *flow, bool wants_whole)
{
	flow->is_last_window = true;
	flow->wants_whole = wants_whole;
}

void flow_peek(struct flow *flow, struct account *ret_account)
{
	flow_account(flow, !flow_is_timed(flow) && !flow->is_over);
	*ret_account = flow->total;
	for (u32 i = 0; i < flow->n_parts; i++) {
		struct flow_part *part = &flow->parts[i];
		struct account seen = { 0 };

		if (part->groups)
			groups_peek(part->groups, &seen);
		if (part->events) {
			events_account(part->events, true);
			seen = part->events->account;
		}
		account_add(ret_account, &seen);
	}
}

bool flow_glance(struct flow *flow, struct account *ret_account, u64 *ret_n_groups)
{
	bool is_known = true;

	flow_peek(flow, ret_account);
	*ret_n_groups = 0;
	for (u32 i = 0; i < flow->n_parts; i++) {
		const struct flow_part *part = &flow->parts[i];

		if (part->groups)
			is_known &=
				groups_glance(part->groups, &ret_account->matched, ret_n_groups);
		else if (part->source)
			ret_account->matched += part->queue.n;
	}
	return is_known;
}

void flow_result(const struct flow *flow, struct flow_result *ret_result)
{
	*ret_result = (struct flow_result){ .account = flow->total,
					    .computed_ns = flow->computed_ns,
					    .is_partial = flow->is_partial };
	account_add(&ret_result->account, &flow->sql_lost);
	account_add(&ret_result->account, &flow->lists_lost);
	for (u32 i = 0; i < flow->n_parts; i++) {
		const struct flow_part *part = &flow->parts[i];

		if (part->groups)
			account_add(&ret_result->account, &part->groups->total);
		if (part->events)
			account_add(&ret_result->account, &part->events->account);
	}
}

struct load_state *const *flow_loads(const struct flow *flow, u32 *ret_n)
{
	*ret_n = flow->n_loads;
	return flow->loads;
}
