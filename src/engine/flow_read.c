/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Flips, which end windows, and the rows of the parts, from their sources to their queues.
 */
#include <errno.h>

#include "engine/internal.h"

struct flow_instant flow_now(struct flow *flow)
{
	struct flow_instant now;

	/* In this order an instant of the day is never taken for a later one of the rows. */
	now.flip = 0;
	now.monotonic_ns = flow->clock_ns ? flow->clock_ns : base_monotonic_ns();
	now.real_ns = flow->clock_ns ? flow->clock_ns : base_realtime_ns();
	flow->real_offset_ns = (s64)(now.real_ns - now.monotonic_ns);
	return now;
}

u64 flow_row_time(const struct flow_part *part, struct flow_instant at)
{
	return part->part->has_files ? at.real_ns : at.monotonic_ns;
}

u64 flow_real_time(const struct flow *flow, const struct flow_part *part, u64 row_ns)
{
	return part->part->has_files ? row_ns : row_ns + (u64)flow->real_offset_ns;
}

/* --- Flips --- */

static void unswitched(struct flow *flow)
{
	for (u32 i = 0; i < flow->n_parts; i++) {
		if (flow->parts[i].groups)
			groups_before_flip(flow->parts[i].groups);
		if (flow->parts[i].source && !flow_is_row_driven(flow))
			row_source_before_flip(flow->parts[i].source);
	}
	flow->unswitched = flow_now(flow);
}

static void switched(struct flow *flow, struct flow_instant now, int err)
{
	int failed = err;

	flow->is_unsettled = false;
	/* Lists alone: there is nothing to switch. */
	if (!flow->n_loads)
		flow->switched = now;
	if (!err && flow->n_loads) {
		u64 since_ns = flow->loads[0]->switched_ns;

		if (since_ns) { /* what comes behind is in the other copies since then */
			now.real_ns -= now.monotonic_ns - since_ns;
			now.monotonic_ns = since_ns;
		}
		now.flip = flow->switched.flip + 1;
		flow->switched = now;
		if (flow->has_rows || flow_has_events(flow))
			failed = load_settle(flow_hooks(flow), FLOW_PATIENCE_NS);
		flow_count_anew(flow);
		flow->is_unsettled = failed != 0;
	}
	for (u32 i = 0; i < flow->n_parts; i++) {
		struct flow_part *part = &flow->parts[i];

		/* Also where a program did not settle: its copy was switched all the same. */
		if (!err && part->source && part->load) {
			int error = row_source_flipped(part->source, &part->before_ns);

			failed = failed ? failed : error;
		}
		if (!err && part->groups)
			groups_flipped(part->groups);
		part->switch_error = part->load ? failed : 0;
	}
}

/* A switch, or what is left of the one that waits. */
static int switch_once(struct flow *const *flows, u32 n, struct load_state *const *states,
		       u32 n_states, u64 patience_ns)
{
	struct flow_instant now;
	int err;

	for (u32 i = 0; i < n; i++)
		unswitched(flows[i]);
	err = load_flip(states, n_states, patience_ns);
	now = flow_now(flows[0]);
	for (u32 i = 0; i < n; i++)
		switched(flows[i], now, err);
	return err;
}

/*
 * One that waits is finished, whoever of those that read the load began it.  The copies that are in
 * use since then are to be switched, too, and both belong to the same window.  false: they are not,
 * since it waits on, or ended the run.
 */
static bool finish(struct flow *const *flows, u32 n, struct load_state *const *states, u32 n_states,
		   u64 patience_ns)
{
	bool is_waiting = false;

	for (u32 i = 0; i < n_states; i++)
		is_waiting |= states[i]->waits_since_ns != 0;
	if (!is_waiting)
		return true;
	if (switch_once(flows, n, states, n_states, patience_ns) || flows[0]->has_ended_starts)
		return false;
	for (u32 i = 0; i < n; i++)
		for (u32 k = 0; k < flows[i]->n_parts; k++) {
			if (flows[i]->parts[k].groups)
				groups_take(flows[i]->parts[k].groups);
			if (flows[i]->parts[k].source)
				row_source_go_on(flows[i]->parts[k].source);
		}
	return true;
}

/*
 * Those whose run ends with this switch: what waits for ends is told with the last window.  Where
 * others read a load, starts and ends go on there.
 */
static void end_starts(struct flow *const *flows, u32 n)
{
	for (u32 i = 0; i < n; i++)
		for (u32 k = 0; k < flows[i]->n_parts; k++)
			if (flows[i]->parts[k].groups)
				flows[i]->parts[k].groups->is_ending = flows[i]->is_ending;
	for (u32 i = 0; i < n; i++) {
		struct flow *flow = flows[i];

		if (flow->is_ending && flow->n_loads && groups_are_ending(flow->loads[0]))
			load_end_starts(flow->loads, flow->n_loads);
		flow->has_ended_starts = flow->is_ending;
	}
}

/* Flows of one load switch it once. */
static u32 add_states(struct load_state **states, u32 n, const struct flow *flow)
{
	for (u32 i = 0; i < flow->n_loads; i++) {
		u32 k = 0;

		while (k < n && states[k] != flow->loads[i])
			k++;
		states[k] = flow->loads[i];
		n += k == n;
	}
	return n;
}

/*
 * All parts of the flows that share hooks at once: an event is in the same window for each that
 * sees it, whether it is counted there or its row is streamed, since a row says in which copy its
 * program counted.  What programs had begun before is over then, so that rows can be read by their
 * times up to now.
 */
void flow_switch(struct flow *const *flows, u32 n, u64 patience_ns)
{
	for (u32 first = 0, next; first < n; first = next) {
		struct load_hooks *hooks = flow_hooks(flows[first]);
		struct load_state **states = flows[first]->switching;
		u32 n_states = 0;

		for (next = first; next < n && flow_hooks(flows[next]) == hooks; next++)
			n_states = add_states(states, n_states, flows[next]);
		if (!finish(&flows[first], next - first, states, n_states, patience_ns))
			continue;
		end_starts(&flows[first], next - first);
		switch_once(&flows[first], next - first, states, n_states, patience_ns);
	}
}

int flow_switch_error(const struct flow *flow)
{
	for (u32 i = 0; i < flow->n_parts; i++)
		if (flow->parts[i].switch_error)
			return flow->parts[i].switch_error;
	return 0;
}

/* --- Rows --- */

/*
 * Windows end at flips, and rows come by their times: near a flip, one from behind it may come
 * before one from before it.
 */
static void order_last(struct flow_part *part, const struct row_origin *origin, bool is_ordered)
{
	struct row **rows = row_fifo_rows(&part->queue), *row;
	u64 at = part->queue.n - 1;

	row = rows[at];
	row->number = origin->flip;
	row->n_faults = MIN(origin->n_faults, (u64)UINT16_MAX);
	for (; is_ordered && row->number && at && rows[at - 1]->number > row->number; at--)
		rows[at] = rows[at - 1];
	rows[at] = row;
}

void flow_note(struct flow *flow, const struct account *seen)
{
	account_add(&flow->since, seen);
	if (flow->cut->window.kind != WINDOW_HOPPING)
		account_add(&flow->total, seen);
}

s64 flow_read(struct flow *flow, struct flow_part *part, u64 before_ns, u32 limit)
{
	u32 width = part->part->columns.n_columns;
	bool is_ordered = !flow_is_row_driven(flow);
	const struct value *rows;
	const struct row_origin *origins;
	struct account seen = { 0 };
	s64 n = row_source_read(part->source, before_ns, limit, &rows, &origins);

	for (s64 i = 0; i < n; i++) {
		const struct value *values = rows + (size_t)i * width;
		u64 time_ns = flow_real_time(flow, part, flow_time_of(values));

		if (!row_fifo_put(&part->queue, &part->pool, values))
			return -ENOMEM;
		order_last(part, &origins[i], is_ordered);
		/* Rows that end windows may lie between two. */
		if (!flow->is_grouped)
			seen.lost[LOSS_FAULT] += origins[i].n_faults;
		seen.matched++;
		if (!flow->has_span)
			flow->first_ns = flow->last_ns = time_ns;
		flow->has_span = true;
		flow->first_ns = MIN(flow->first_ns, time_ns);
		flow->last_ns = MAX(flow->last_ns, time_ns);
	}
	flow_note(flow, &seen);
	return n;
}

/*
 * Streamed rows: none behind LIMIT.  Of those that were read, the SQL may have dropped some: then
 * as many again as it dropped, lest a rare row be looked for one by one.
 */
static u32 lot_of(const struct flow *flow)
{
	u64 n_wanted = flow->limit - MIN(flow->n_streamed, flow->limit), n_dropped;

	if (!flow->is_streaming || !n_wanted)
		return flow->is_streaming ? 0 : FLOW_READ_ROWS;
	n_dropped = flow->total.matched - MIN(flow->n_streamed, flow->total.matched);
	return (u32)MIN(MAX(n_wanted, n_dropped), (u64)FLOW_READ_ROWS);
}

int flow_read_parts(struct flow *flow, struct flow_instant before, u64 *ret_n, bool *ret_more)
{
	u32 n_lot = lot_of(flow);

	*ret_n = 0;
	*ret_more = false;
	for (u32 i = 0; i < flow->n_parts; i++) {
		struct flow_part *part = &flow->parts[i];
		u64 before_ns;
		s64 n;

		if (!part->source || !n_lot)
			continue;
		before_ns = flow_row_time(part, before);
		if (before.flip)
			before_ns = MAX(before_ns, part->before_ns);
		n = flow_read(flow, part, before_ns, n_lot);
		if (n < 0)
			return (int)n;
		*ret_n += (u64)n;
		*ret_more |= n > 0;
	}
	return flow_check_memory(flow);
}

int flow_read_all(struct flow *flow, struct flow_instant before)
{
	bool is_more = true;
	int err = 0;
	u64 n;

	while (is_more && !err)
		err = flow_read_parts(flow, before, &n, &is_more);
	return err;
}

int flow_check_memory(struct flow *flow)
{
	u64 n_bytes = flow->groups.keys.pool.used_bytes;
	struct diag *diag;

	for (u32 i = 0; i < flow->n_parts; i++)
		n_bytes += row_pool_bytes(&flow->parts[i].pool);
	if (n_bytes <= flow->max_bytes)
		return 0;
	diag = diag_failure(flow->diags, "too-many-rows",
			    "the rows that the query must keep take more than %llu MiB",
			    (unsigned long long)(flow->max_bytes >> 20));
	diag_hint(flow->diags, diag,
		  "%s, or ask for fewer rows: WHERE, or LIMIT on a query that streams",
		  flow_is_windowed(flow) ? "make the window shorter" : "add a WINDOW");
	return -E2BIG;
}

void flow_drop(struct flow_part *part, u64 n)
{
	for (u64 i = 0; i < n; i++)
		row_pool_give(&part->pool, row_fifo_rows(&part->queue)[i]);
	row_fifo_drop(&part->queue, n);
}

struct flow_part *flow_row_part(struct flow *flow)
{
	u32 i = 0;

	while (!flow->parts[i].source)
		i++;
	return &flow->parts[i];
}
