/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * One batch of a flow: the losses of its parts, the SQL, the sink.
 */
#include <string.h>

#include "engine/flow_internal.h"

void flow_account_add(struct flow_account *to, const struct flow_account *from)
{
	to->events += from->events;
	to->matched += from->matched;
	for (u32 i = 0; i < LOSS_N; i++)
		to->lost[i] += from->lost[i];
	for (u32 i = 0; i < UNPAIRED_N; i++)
		to->unpaired[i] += from->unpaired[i];
}

void flow_account(struct flow *flow)
{
	for (u32 i = 0; i < flow->n_parts; i++) {
		struct batch seen = { 0 };
		struct flow_account account;

		if (!flow->parts[i].source)
			continue;
		row_source_account(flow->parts[i].source, &seen);
		/* What matched is what SQL gets to see: counted where the rows are read. */
		account = (struct flow_account){ .events = seen.events };
		memcpy(account.lost, seen.lost, sizeof(seen.lost));
		memcpy(account.unpaired, seen.unpaired, sizeof(seen.unpaired));
		flow_account_add(&flow->since, &account);
		flow_account_add(&flow->total, &account);
	}
}

void flow_account_rows(struct flow *flow, u64 n_rows, struct flow_account *ret_account)
{
	u64 n_read;

	flow_account(flow);
	n_read = flow->total.matched - flow->n_accounted_rows;
	flow->n_accounted_rows = flow->total.matched;
	flow->n_other_events += (s64)flow->since.events - (s64)n_read;
	*ret_account = flow->since;
	flow->since = (struct flow_account){ 0 };
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

static void add_to_batch(struct batch *batch, const struct flow_account *account)
{
	batch->events += account->events;
	batch->matched += account->matched;
	for (u32 i = 0; i < LOSS_N; i++)
		batch->lost[i] += account->lost[i];
	for (u32 i = 0; i < UNPAIRED_N; i++)
		batch->unpaired[i] += account->unpaired[i];
}

/* The groups of the kernel, which stay where their run has them until it closes again. */
static void take_groups(struct flow *flow, struct batch *batch)
{
	for (u32 i = 0; i < flow->n_parts; i++) {
		struct flow_part *part = &flow->parts[i];
		struct flow_account account;

		if (!part->run)
			continue;
		relation_set_values(&flow->relations[i], NULL, 0);
		if (!part->has_groups)
			continue;
		relation_set_values(&flow->relations[i], part->groups.values, part->groups.n_rows);
		account = (struct flow_account){ part->groups.events, part->groups.matched };
		memcpy(account.lost, part->groups.lost, sizeof(account.lost));
		memcpy(account.unpaired, part->groups.unpaired, sizeof(account.unpaired));
		add_to_batch(batch, &account);
		part->has_groups = false;
	}
}

/* What the functions counted: once a window, once a streamed row, or anew each snapshot. */
static int run_sql(struct flow *flow, u64 limit, struct batch *batch)
{
	struct flow_account counted = { 0 };
	int err = flow_sql_run(&flow->sql, limit, flow->diags, batch);

	counted.lost[LOSS_FAULT] = flow->sql.context.n_faults;
	counted.lost[LOSS_NEGATIVE] = flow->sql.context.n_negative;
	if (!flow_is_windowed(flow) && !flow->cut->is_streaming)
		flow->sql_lost = counted;
	else
		flow_account_add(&flow->sql_lost, &counted);
	return err;
}

int flow_give(struct flow *flow, u64 start_ns, u64 end_ns, const struct flow_account *account,
	      bool has_sql, bool is_last)
{
	struct batch batch = { .schema = &flow->cut->output,
			       .other_row = -1,
			       .is_windowed = flow_is_windowed(flow),
			       .is_last = is_last,
			       .window_start_ns = start_ns,
			       .window_end_ns = end_ns };
	u64 limit = UINT64_MAX;
	int err = 0;

	take_groups(flow, &batch);
	add_to_batch(&batch, account);
	if (flow->cut->is_streaming) {
		add_to_batch(&batch, &flow->sql_lost);
		limit = flow->limit - flow->n_streamed;
	}
	if (has_sql)
		err = run_sql(flow, limit, &batch);
	if (err)
		return err;
	flow->n_streamed += batch.n_rows;
	if (flow->cut->is_streaming && !batch.n_rows && !is_last)
		return 0;
	if (!flow->cut->is_streaming)
		flow->result.windows++;
	flow->is_ended = is_last;
	return flow->sink.batch(flow->sink.context, &batch);
}
