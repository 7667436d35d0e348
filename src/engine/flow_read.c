/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Rows of the parts, from their sources to their queues, and their clocks.
 */
#include <errno.h>

#include "engine/internal.h"

struct flow_instant flow_now(struct flow *flow)
{
	struct flow_instant now;

	/* In this order an instant of the day is never taken for a later one of the rows. */
	now.flip = 0;
	now.monotonic_ns = base_monotonic_ns();
	now.real_ns = base_realtime_ns();
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

/*
 * Windows end at flips, and rows come by their times: near a flip, one from behind it may come
 * before one from before it.
 */
static void order_last(struct flow_part *part, u64 flip, bool is_ordered)
{
	struct row **rows = row_fifo_rows(&part->queue), *row;
	u64 at = part->queue.n - 1;

	row = rows[at];
	row->number = flip;
	for (; is_ordered && row->number && at && rows[at - 1]->number > row->number; at--)
		rows[at] = rows[at - 1];
	rows[at] = row;
}

s64 flow_read(struct flow *flow, struct flow_part *part, u64 before_ns, u32 limit)
{
	u32 width = part->part->columns.n_columns;
	bool is_ordered = !flow_is_row_driven(flow);
	const struct value *rows;
	const u64 *flips;
	s64 n = row_source_read(part->source, before_ns, limit, &rows, &flips);

	for (s64 i = 0; i < n; i++) {
		const struct value *values = rows + (size_t)i * width;
		u64 time_ns = flow_real_time(flow, part, flow_time_of(values));

		if (!row_fifo_put(&part->queue, &part->pool, values))
			return -ENOMEM;
		order_last(part, flips[i], is_ordered);
		flow->total.matched++;
		if (!flow->has_span)
			flow->first_ns = flow->last_ns = time_ns;
		flow->has_span = true;
		flow->first_ns = MIN(flow->first_ns, time_ns);
		flow->last_ns = MAX(flow->last_ns, time_ns);
	}
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

void flow_finish_rows(struct flow *flow)
{
	for (u32 i = 0; i < flow->n_parts; i++)
		if (flow->parts[i].source)
			row_source_finish(flow->parts[i].source);
}
