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

static void switched(struct flow *flow, struct flow_instant now, int err)
{
	int failed = err;

	if (!err && flow->n_loads) {
		now.flip = flow->switched.flip + 1;
		flow->switched = now;
		if (flow->has_rows)
			failed = load_settle(flow_hooks(flow));
	}
	for (u32 i = 0; i < flow->n_parts; i++) {
		struct flow_part *part = &flow->parts[i];

		/* Also where a program did not settle: its copy was switched all the same. */
		if (!err && part->source && part->load) {
			int error = row_source_flipped(part->source, &part->before_ns);

			failed = failed ? failed : error;
		}
		part->switch_error = part->load ? failed : 0;
	}
}

/*
 * All parts of the flows that share hooks at once: an event is in the same window for each that
 * sees it, whether it is counted there or its row is streamed, since a row says in which copy its
 * program counted.  What programs had begun before is over then, so that rows can be read by their
 * times up to now.
 */
void flow_switch(struct flow *const *flows, u32 n)
{
	for (u32 first = 0, next; first < n; first = next) {
		struct load_hooks *hooks = flow_hooks(flows[first]);
		struct load_state **states = flows[first]->switching;
		struct flow_instant now;
		u32 n_states = 0;
		int err;

		for (next = first; next < n && flow_hooks(flows[next]) == hooks; next++)
			for (u32 i = 0; i < flows[next]->n_loads; i++)
				states[n_states++] = flows[next]->loads[i];
		err = load_flip(states, n_states);
		now = flow_now(flows[first]);
		for (u32 i = first; i < next; i++)
			switched(flows[i], now, err);
	}
}

static int switch_error(const struct flow *flow)
{
	for (u32 i = 0; i < flow->n_parts; i++)
		if (flow->parts[i].switch_error)
			return flow->parts[i].switch_error;
	return 0;
}

/* --- What kind of windows --- */

u64 flow_advance_ns(const struct flow *flow)
{
	const struct cut_window *window = &flow->cut->window;

	return window->kind == WINDOW_HOPPING ? window->advance : window->size;
}

bool flow_is_timed(const struct flow *flow)
{
	return flow->cut->window.kind == WINDOW_TUMBLING ||
	       flow->cut->window.kind == WINDOW_HOPPING;
}

bool flow_is_row_driven(const struct flow *flow)
{
	if (!flow->has_rows)
		return false;
	return flow->is_streaming || flow->cut->window.kind == WINDOW_COUNT ||
	       flow->cut->window.kind == WINDOW_SESSION;
}

static bool has_events(const struct flow *flow)
{
	return flow->is_plain && flow->parts[0].events;
}

/* Groups alone have nothing to be read between boundaries. */
bool flow_is_polled(const struct flow *flow)
{
	return flow->has_rows || !flow->is_live || has_events(flow);
}

static const struct flow_part *first_groups(const struct flow *flow)
{
	u32 i = 0;

	while (!flow->parts[i].groups)
		i++;
	return &flow->parts[i];
}

/* HOPPING: windows begin so long after each multiple of the advance; 0: not there. */
static u64 between(const struct flow *flow)
{
	const struct cut_window *window = &flow->cut->window;

	return window->kind == WINDOW_HOPPING ? hop_between_ns(window->size, window->advance) : 0;
}

u64 flow_next_boundary(const struct flow *flow, u64 now_ns)
{
	u64 period_ns = 0, between_ns = 0, at_ns;

	if (!flow->is_live || flow_is_row_driven(flow) || has_events(flow))
		return 0;
	if (flow->has_groups) {
		period_ns = groups_period_ns(first_groups(flow)->load->phys);
		between_ns = groups_between_ns(first_groups(flow)->load->phys);
	} else if (flow_is_timed(flow)) {
		period_ns = flow_advance_ns(flow);
		between_ns = between(flow);
	}
	if (!period_ns)
		period_ns = flow->every_ns;
	if (!period_ns)
		return 0;
	at_ns = now_ns / period_ns * period_ns;
	return at_ns + (now_ns < at_ns + between_ns ? between_ns : period_ns);
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
	if (flow->is_grouped)
		return flow_groups_take(flow, before_ns, false);
	if (flow->cut->window.kind == WINDOW_COUNT)
		return flow_count_take(flow, false);
	return stream_take(flow);
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
static int close_groups(struct flow *flow, struct flow_instant now, bool is_last)
{
	for (u32 i = 0; i < flow->n_parts; i++) {
		struct flow_part *part = &flow->parts[i];
		int err;

		if (!part->groups)
			continue;
		if (is_last)
			err = groups_end_last(part->groups, flow->switched.real_ns,
					      part->switch_error == 0);
		else
			err = groups_end(part->groups, now.real_ns, flow->switched.real_ns);
		if (err)
			return err;
		part->has_window = part->groups->has_window;
	}
	return 0;
}

/* HOPPING: does a window end at this boundary, or does only a pane?  Others always do. */
static bool is_window_due(const struct flow *flow, u64 now_ns)
{
	if (flow->has_groups)
		return groups_is_due(first_groups(flow)->groups, now_ns);
	/* Where the clock of the day was set back, the next end is far. */
	return !flow_is_timed(flow) || now_ns >= flow->next_ns ||
	       flow->next_ns - now_ns > flow_advance_ns(flow);
}

/* A window, pane or snapshot, all of whose parts were switched. */
static int boundary(struct flow *flow, struct flow_instant now, bool *ret_is_over)
{
	bool is_due = is_window_due(flow, now.real_ns);
	u64 end_ns = now.real_ns, advance = flow_advance_ns(flow);
	int err;

	if (flow->is_last_window && is_due) {
		*ret_is_over = true;
		return 0;
	}
	err = switch_error(flow);
	if (!err)
		err = close_groups(flow, now, false);
	if (err)
		return err;
	if (flow_is_timed(flow))
		end_ns = now.real_ns / advance * advance;
	if (!is_due)
		return flow_pane_end(flow, flow->switched, end_ns + between(flow));
	flow->next_ns = end_ns + advance;
	err = flow_read_all(flow, flow->switched);
	return err ? err : flow_window_give(flow, flow->switched, end_ns, false);
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
	flow_switch(&flow, 1);
	err = switch_error(flow);
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

/* Windows of the rows' own time: one lot of rows, or the window they are complete for. */
static int file_window(struct flow *flow, bool *ret_more)
{
	u64 advance = flow_advance_ns(flow), n;
	struct flow_instant end;
	bool is_last;
	int err;

	if (!flow->has_span)
		return 0;
	if (!flow->next_ns) {
		err = check_span(flow);
		if (err)
			return err;
		flow->next_ns = (flow->first_ns / advance + 1) * advance;
	}
	end = (struct flow_instant){ flow->next_ns, flow->next_ns, 0 };
	err = flow_read_parts(flow, end, &n, ret_more);
	if (err || *ret_more)
		return err;
	is_last = flow->next_ns > flow->last_ns || flow->is_last_window;
	if (is_last)
		flow_finish_rows(flow);
	err = flow_window_give(flow, end, flow->next_ns, is_last);
	flow->next_ns += advance;
	*ret_more = !is_last;
	return err;
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

/* HOPPING, in the gap between two windows: none was begun. */
static bool is_in_gap(const struct flow *flow)
{
	if (flow->cut->window.kind != WINDOW_HOPPING || !flow->has_groups)
		return false;
	for (u32 i = 0; i < flow->n_parts; i++)
		if (flow->parts[i].has_window)
			return false;
	return true;
}

/* The last batch, of all that is in the queues. */
static int give_last(struct flow *flow, struct flow_instant end)
{
	struct account account;

	if (flow->is_ended || is_in_gap(flow))
		return 0;
	if (flow->is_grouped)
		return flow_groups_take(flow, 0, true);
	if (flow->cut->window.kind == WINDOW_COUNT)
		return flow_count_take(flow, true);
	if (flow_is_timed(flow) && flow->next_ns && (flow->is_live || flow->total.matched))
		return flow_window_give(flow, end, flow->next_ns, true);
	if (!flow_is_row_driven(flow) && !flow_is_timed(flow))
		return flow_window_give(flow, end, end.real_ns, true);
	flow_account(flow, false);
	account = flow->total;
	return flow_give(flow, flow->is_live ? flow->start.real_ns : flow->first_ns,
			 flow->is_live ? end.real_ns : flow->last_ns, &account, false, true);
}

/* Rows up to the detaching are handed on, unless the query has all that it asked for. */
static int last_events(struct flow *flow)
{
	struct events *events = flow->parts[0].events;
	u64 end_ns = base_monotonic_ns();
	bool is_more;
	int err = 0;

	if (events->n_rows < events->rows_limit) {
		events_end(events);
		flow_detach(flow);
		err = take_events(flow, true, &is_more);
	}
	if (!err)
		err = events_finish(events, end_ns);
	return err ? err : flow_give_events(flow, NULL, 0, true);
}

/* The account and the rows are taken before the programs are detached, which takes long. */
static int live_last(struct flow *flow, bool is_switched, struct flow_instant *end)
{
	bool is_failed;
	int err;

	if (!is_switched)
		flow_switch(&flow, 1);
	/* Where the switch failed, detaching does: programs end before it returns. */
	is_failed = switch_error(flow) != 0;
	if (is_failed) {
		flow_account(flow, true);
		flow_detach(flow);
		flow->switched = flow_now(flow);
		flow->switched.flip = UINT64_MAX;
	}
	flow_account(flow, is_failed);
	*end = flow->switched;
	err = close_groups(flow, *end, true);
	if (!err)
		err = flow_read_all(flow, *end);
	flow_drop_behind(flow, *end);
	return err;
}

static int last(struct flow *flow, bool is_switched)
{
	struct flow_instant end = is_switched ? flow->now : flow_now(flow);
	int err = 0;

	if (has_events(flow))
		return last_events(flow);
	if (flow->is_live)
		err = live_last(flow, is_switched, &end);
	else if (flow_is_timed(flow))
		end = (struct flow_instant){ flow->next_ns, flow->next_ns, 0 };
	flow_finish_rows(flow);
	if (!err && !flow->is_ended && flow_is_row_driven(flow))
		err = take_rows(flow, 0);
	return err ? err : give_last(flow, end);
}

void flow_failed(struct flow *flow, int err)
{
	if (err == -ENOMEM && !diags_failed(flow->diags))
		diag_failure(flow->diags, "too-many-rows",
			     "there is no memory for the rows and groups of the query");
}

/* Goes on, or ends it: with its last batch, or, after an error, without. */
static void go_on(struct flow *flow, int err, bool is_over, bool is_switched)
{
	if (!err && !is_over)
		return;
	flow->err = err ? err : last(flow, is_switched);
	flow_failed(flow, flow->err);
	flow->is_over = true;
	flow_detach(flow);
	flow_account(flow, false);
}

void flow_boundary(struct flow *flow, struct flow_instant now)
{
	bool is_over = false;
	int err = boundary(flow, now, &is_over);

	go_on(flow, err, is_over, true);
}

void flow_poll(struct flow *flow, bool *ret_more)
{
	bool is_over;
	int err;

	*ret_more = false;
	if (has_events(flow))
		err = take_events(flow, false, ret_more);
	else
		err = flow->is_live ? live_poll(flow, ret_more) : file_poll(flow, ret_more);
	is_over = flow->is_ended || (!flow->is_live && !*ret_more);
	if (has_events(flow))
		is_over |= flow->parts[0].events->n_rows >= flow->limit;
	else if (flow->is_streaming)
		is_over |= flow->n_streamed >= flow->limit;
	flow->is_partial = !flow->is_live && !is_over;
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
	if (!flow->is_over)
		go_on(flow, 0, true, false);
	return flow->err;
}

void flow_stop_at_window(struct flow *flow)
{
	flow->is_last_window = true;
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

void flow_result(const struct flow *flow, struct flow_result *ret_result)
{
	*ret_result = (struct flow_result){ .account = flow->total,
					    .windows = flow->n_windows,
					    .is_partial = flow->is_partial };
	account_add(&ret_result->account, &flow->sql_lost);
	for (u32 i = 0; i < flow->n_parts; i++) {
		const struct flow_part *part = &flow->parts[i];

		if (part->groups)
			account_add(&ret_result->account, &part->groups->total);
		if (part->events)
			account_add(&ret_result->account, &part->events->account);
	}
}

/* --- Tests --- */

int flow_drain_once(struct flow *flow, bool is_last)
{
	struct flow_instant end = flow_now(flow);
	int err = flow_open_sql(flow);
	bool is_more;

	if (err)
		return err;
	if (has_events(flow)) {
		err = take_events(flow, true, &is_more);
		if (!err && is_last)
			err = events_finish(flow->parts[0].events, UINT64_MAX);
		return err || !is_last ? err : flow_give_events(flow, NULL, 0, true);
	}
	flow_switch(&flow, 1);
	err = switch_error(flow);
	for (u32 i = 0; i < flow->n_parts && !err; i++) {
		struct flow_part *part = &flow->parts[i];

		if (!part->groups)
			continue;
		err = groups_end_replay(part->groups, is_last);
		part->has_window = !err && part->groups->has_window;
	}
	if (!err)
		err = flow_read_all(flow, (struct flow_instant){ UINT64_MAX, UINT64_MAX, 0 });
	if (err)
		return err;
	flow_account(flow, false);
	if (is_last)
		flow_finish_rows(flow);
	flow->is_drained = true;
	if (!flow_is_row_driven(flow))
		return flow_window_give(flow, end, end.real_ns, is_last);
	err = take_rows(flow, 0);
	return err || !is_last ? err : give_last(flow, end);
}

int flow_drain_at(struct flow *flow, u64 now_ns)
{
	const struct flow_instant now = { now_ns, now_ns, 0 };
	bool is_over = false;
	int err = flow_open_sql(flow);

	flow->real_offset_ns = 0;
	if (!flow->is_replayed) {
		flow->start = flow->window = now;
		flow->next_ns = (now_ns / flow_advance_ns(flow) + 1) * flow_advance_ns(flow);
		for (u32 i = 0; i < flow->n_parts; i++)
			if (flow->parts[i].groups)
				groups_start(flow->parts[i].groups, now_ns);
		flow->is_replayed = true;
		return err;
	}
	flow_switch(&flow, 1);
	flow->switched.real_ns = flow->switched.monotonic_ns = now_ns;
	return err ? err : boundary(flow, now, &is_over);
}
