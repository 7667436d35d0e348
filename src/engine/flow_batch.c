/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * One batch of a flow: the losses of its parts, the SQL, the sink.
 */
#include <errno.h>

#include "engine/internal.h"
#include "lite/lite.h"

void flow_account(struct flow *flow, bool is_all)
{
	for (u32 i = 0; i < flow->n_parts; i++) {
		struct account seen = { 0 };

		if (!flow->parts[i].source)
			continue;
		row_source_account(flow->parts[i].source, is_all, &seen);
		/* What matched is what SQL gets to see: counted where the rows are read. */
		seen.matched = 0;
		account_add(&flow->since, &seen);
		account_add(&flow->total, &seen);
	}
}

void flow_account_rows(struct flow *flow, u64 n_rows, struct account *ret_account)
{
	u64 n_read;

	flow_account(flow, false);
	n_read = flow->total.matched - flow->n_accounted_rows;
	flow->n_accounted_rows = flow->total.matched;
	flow->n_other_events += (s64)flow->since.events - (s64)n_read;
	*ret_account = flow->since;
	flow->since = (struct account){ 0 };
	ret_account->matched = ret_account->events = n_rows;
	/* Less than none: rows come before the events they are of are counted. */
	if (flow->n_other_events > 0) {
		ret_account->events += (u64)flow->n_other_events;
		flow->n_other_events = 0;
	}
}

bool flow_is_windowed(const struct flow *flow)
{
	return flow->cut->window.kind != WINDOW_NONE;
}

static void group_value(void *context, u64 row, u32 column, struct scratch *scratch,
			struct value *ret_value)
{
	const struct flow_part *part = context;
	struct rows rows = part->groups->rows;

	rows.scratch = scratch;
	rows_value(&rows, ((const u32 *)part->positions.at)[row], column, ret_value);
}

/* The groups of the window as rows: they stay until their next window ends. */
static int set_groups(struct flow_part *part)
{
	const struct rows *rows = &part->groups->rows;
	struct relation_reader reader = { group_value, part, -1 };
	u32 position = rows_seek(rows, ROWS_FIRST);
	u64 n = 0;

	if (!region_need(&part->positions, MAX(rows_count(rows), 1u) * sizeof(u32)))
		return -ENOMEM;
	for (; position != ROWS_END; position = rows_next(rows, position)) {
		if (position == ROWS_OTHER)
			reader.other_row = (s64)n;
		((u32 *)part->positions.at)[n++] = position;
	}
	relation_set_reader(part->relation, &reader, n);
	return 0;
}

static int add_groups(struct flow *flow, struct batch *batch)
{
	int err = 0;

	for (u32 i = 0; i < flow->n_parts && !err; i++) {
		struct flow_part *part = &flow->parts[i];

		if (!part->groups)
			continue;
		relation_set_reader(part->relation, &(struct relation_reader){ .other_row = -1 },
				    0);
		if (!part->has_window)
			continue;
		err = set_groups(part);
		account_add(&batch->account, &part->groups->window);
		part->has_window = false;
	}
	return err;
}

/* What the functions counted: once a window, once a streamed row, or anew each snapshot. */
static int run_sql(struct flow *flow, u64 limit, struct batch *batch)
{
	struct account counted = { 0 };
	int err = flow_sql_run(&flow->sql, limit, flow->diags, batch);

	counted.lost[LOSS_FAULT] = flow->sql.context.n_faults;
	counted.lost[LOSS_NEGATIVE] = flow->sql.context.n_negative;
	if (!flow_is_windowed(flow) && !flow->is_streaming)
		flow->sql_lost = counted;
	else
		account_add(&flow->sql_lost, &counted);
	return err;
}

int flow_give(struct flow *flow, u64 start_ns, u64 end_ns, const struct account *account,
	      bool has_sql, bool is_last)
{
	struct batch batch = { .schema = &flow->cut->output,
			       .other_row = -1,
			       .is_windowed = flow_is_windowed(flow),
			       .is_last = is_last,
			       .window_start_ns = start_ns,
			       .window_end_ns = end_ns };
	u64 limit = UINT64_MAX;
	int err = flow_open_sql(flow);

	if (!err)
		err = add_groups(flow, &batch);
	if (err)
		return err;
	account_add(&batch.account, account);
	if (flow->is_streaming) {
		account_add(&batch.account, &flow->sql_lost);
		limit = flow->limit - flow->n_streamed;
	}
	if (has_sql && flow->is_plain)
		err = flow_sql_pick(&flow->sql, flow->cut, flow->parts[0].relation, &batch);
	else if (has_sql)
		err = run_sql(flow, limit, &batch);
	if (err)
		return err;
	flow->n_streamed += batch.n_rows;
	if (flow->is_streaming && !batch.n_rows && !is_last)
		return 0;
	if (!flow->is_streaming)
		flow->n_windows++;
	flow->is_ended = is_last;
	return flow->sink.batch(flow->sink.context, &batch);
}

int flow_give_events(struct flow *flow, const struct value *values, u32 n_rows, bool is_last)
{
	struct flow_part *part = &flow->parts[0];
	const struct phys *phys = part->load->phys;
	const struct item *items = part->part->plan->project.items;
	const struct cut *cut = flow->cut;
	u32 width = cut->output.n_columns;
	struct batch batch = { .schema = &cut->output,
			       .other_row = -1,
			       .n_rows = n_rows,
			       .is_last = is_last,
			       .window_start_ns = flow->start.real_ns,
			       .window_end_ns = base_realtime_ns(),
			       .account = part->events->account };

	if (!region_need(&flow->sql.values, ((u64)n_rows * width + 1) * sizeof(*values)))
		return -ENOMEM;
	batch.values = flow->sql.values.at;
	for (u32 row = 0; row < n_rows; row++, values += phys->n_columns) {
		struct value *to = (struct value *)batch.values + (u64)row * width;

		for (u32 i = 0; i < width; i++) {
			s32 item = cut->picks[i], column = phys->item_columns[item];

			to[i] = column >= 0 ? values[column] : lite_constant(items[item].expr);
		}
	}
	flow->n_streamed += n_rows;
	flow->is_ended = is_last;
	return flow->sink.batch(flow->sink.context, &batch);
}
