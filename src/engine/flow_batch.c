/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * One batch of a flow: the losses of its parts, the SQL, the sink.
 */
#include "engine/internal.h"

void flow_account(struct flow *flow)
{
	for (u32 i = 0; i < flow->n_parts; i++) {
		struct account seen = { 0 };

		if (!flow->parts[i].source)
			continue;
		row_source_account(flow->parts[i].source, &seen);
		/* What matched is what SQL gets to see: counted where the rows are read. */
		seen.matched = 0;
		account_add(&flow->since, &seen);
		account_add(&flow->total, &seen);
	}
}

void flow_account_rows(struct flow *flow, u64 n_rows, struct account *ret_account)
{
	u64 n_read;

	flow_account(flow);
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

/* The groups are the batch, or relations of its SQL: they stay until their next window ends. */
static void add_groups(struct flow *flow, struct batch *batch)
{
	for (u32 i = 0; i < flow->n_parts; i++) {
		struct flow_part *part = &flow->parts[i];

		if (!part->groups)
			continue;
		relation_set_values(&flow->relations[i], NULL, 0);
		if (!part->has_window)
			continue;
		relation_set_values(&flow->relations[i], part->values.values, part->values.n_rows);
		account_add(&batch->account, &part->groups->window);
		part->has_window = false;
	}
}

int flow_take_groups(struct flow *flow, struct flow_part *part)
{
	part->has_window = part->groups->has_window;
	/* The answer itself is made when it is given. */
	if (!part->has_window || flow->is_plain)
		return 0;
	return user_run(&part->user, &part->groups->rows, flow->diags, &part->values);
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

static int run_plain(struct flow *flow, struct batch *batch)
{
	struct flow_part *part = &flow->parts[0];

	return user_run(&part->user, &part->groups->rows, flow->diags, batch);
}

int flow_give(struct flow *flow, u64 start_ns, u64 end_ns, const struct account *account,
	      bool has_sql, bool is_last)
{
	struct batch batch = { .schema = flow->output,
			       .other_row = -1,
			       .is_windowed = flow_is_windowed(flow),
			       .is_last = is_last,
			       .window_start_ns = start_ns,
			       .window_end_ns = end_ns };
	u64 limit = UINT64_MAX;
	int err = flow_open_sql(flow);

	if (err)
		return err;
	add_groups(flow, &batch);
	account_add(&batch.account, account);
	if (flow->is_streaming) {
		account_add(&batch.account, &flow->sql_lost);
		limit = flow->limit - flow->n_streamed;
	}
	if (has_sql)
		err = flow->is_plain ? run_plain(flow, &batch) : run_sql(flow, limit, &batch);
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
	const struct rows rows = {
		.phys = phys, .values = values, .n_events = n_rows, .n_columns = phys->n_columns
	};
	struct batch batch = { .is_last = is_last,
			       .window_start_ns = flow->start.real_ns,
			       .window_end_ns = base_realtime_ns(),
			       .account = part->events->account };
	int err = flow_open_sql(flow);

	if (!err)
		err = user_run(&part->user, &rows, flow->diags, &batch);
	if (err)
		return err;
	flow->n_streamed += n_rows;
	flow->is_ended = is_last;
	return flow->sink.batch(flow->sink.context, &batch);
}
