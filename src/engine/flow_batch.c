/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * One batch of a flow: the losses of its parts, the SQL, the sink.
 */
#include <errno.h>

#include "engine/internal.h"
#include "lite/lite.h"

/* --- Losses of windows that rows end --- */

/* There are too many: neighbours become one, which is of all the time of both. */
static void merge_losses(struct flow_groups *groups)
{
	struct flow_loss *losses = groups->losses;

	groups->n_losses /= 2;
	for (u32 i = 0; i < groups->n_losses; i++) {
		const struct flow_loss *next = &losses[2 * i + 1];

		losses[i] = losses[2 * i];
		losses[i].to_ns = MAX(losses[i].to_ns, next->to_ns);
		losses[i].is_told &= next->is_told;
		account_add(&losses[i].account, &next->account);
	}
}

static void add_loss(struct flow *flow, const struct flow_loss *loss)
{
	struct flow_groups *groups = &flow->groups;

	if (!account_has_loss(&loss->account))
		return;
	if (groups->n_losses == FLOW_LOSSES_MAX)
		merge_losses(groups);
	groups->losses[groups->n_losses++] = *loss;
	account_add(&flow->total, &loss->account);
}

/*
 * What is missing, or may be, belongs to the time in which it happened: between the flip, or the
 * row, up to which was looked before, and now; where values go on from event to event, to all
 * that follows.  The other causes are of rows that are there.
 */
static void take_losses(struct flow *flow, struct flow_part *part, struct account *seen)
{
	struct flow_groups *groups = &flow->groups;
	u64 newest_ns = row_source_newest(part->source);
	struct flow_loss loss = { .from_ns = groups->looked_ns,
				  .to_ns = newest_ns,
				  .account = account_take_lost_values(seen) };
	struct flow_loss lasting = { .from_ns = groups->looked_ns, .to_ns = UINT64_MAX };

	groups->looked_ns = newest_ns;
	if (flow->is_live) {
		loss.to_ns = flow_row_time(part, flow_now(flow));
		groups->looked_ns = MIN(newest_ns, flow_row_time(part, flow->unswitched));
	}
	if (row_source_goes_on(part->source)) {
		lasting.account.lost[LOSS_MISSED] = loss.account.lost[LOSS_MISSED];
		lasting.account.lost[LOSS_RING_FULL] = loss.account.lost[LOSS_RING_FULL];
		lasting.account.lost[LOSS_OVER_BUDGET] = loss.account.lost[LOSS_OVER_BUDGET];
		account_subtract(&loss.account, &lasting.account);
		add_loss(flow, &lasting);
	}
	add_loss(flow, &loss);
}

/* Each is told by every window that it may have been in, and by one at least. */
static void add_losses(struct flow_groups *groups, u64 from_ns, u64 to_ns, struct account *account)
{
	for (u32 i = 0; i < groups->n_losses; i++) {
		struct flow_loss *loss = &groups->losses[i];

		if (loss->is_told && (loss->to_ns < from_ns || loss->from_ns > to_ns))
			continue;
		account_add(account, &loss->account);
		loss->is_told = true;
	}
}

/* --- Accounts --- */

void flow_account(struct flow *flow, bool is_all)
{
	const struct cut_window *window = &flow->cut->window;
	bool has_gaps = window->kind == WINDOW_HOPPING && window->size < window->advance;

	for (u32 i = 0; i < flow->n_parts; i++) {
		struct account seen = { 0 }, repeated;

		if (!flow->parts[i].source)
			continue;
		row_source_account(flow->parts[i].source, is_all, &seen, &repeated);
		flow->n_other_events += (s64)seen.events - (s64)seen.matched;
		/* What matched is what SQL gets to see: counted where the rows are read. */
		seen.matched = 0;
		if (flow->is_grouped)
			take_losses(flow, &flow->parts[i], &seen);
		flow_note(flow, &seen);
		account_add(&flow->repeated, &repeated);
		/* Both windows have it, the run once; of panes in gaps it has nothing. */
		if (!has_gaps)
			account_subtract(&flow->total, &repeated);
	}
}

int flow_finish_rows(struct flow *flow)
{
	u64 before_ns = flow->is_live ? flow->switched.monotonic_ns : UINT64_MAX;
	int err = 0;

	flow_account(flow, false);
	for (u32 i = 0; i < flow->n_parts && !err; i++)
		if (flow->parts[i].source)
			err = row_source_finish(flow->parts[i].source, before_ns);
	return err;
}

void flow_account_rows(struct flow *flow, u64 n_rows, u64 from_ns, u64 to_ns,
		       struct account *ret_account)
{
	flow_account(flow, false);
	*ret_account = flow->since;
	flow->since = (struct account){ 0 };
	ret_account->matched = ret_account->events = n_rows;
	/* Less than none: of one event a union makes several rows. */
	if (flow->n_other_events > 0) {
		ret_account->events += (u64)flow->n_other_events;
		flow->n_other_events = 0;
	}
	add_losses(&flow->groups, from_ns, to_ns, ret_account);
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
	const struct merge *merge = part->groups->rows.merge;
	struct relation_reader reader = { group_value, part, -1 };
	u32 position = merge_seek(merge, 1);
	u64 n = 0;

	if (!region_need(&part->positions, MAX(merge->n_live, 1u) * sizeof(u32)))
		return -ENOMEM;
	for (; position != MERGE_END; position = merge_next(merge, position)) {
		if (position == MERGE_OTHER)
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
		if (!part->groups->has_window)
			continue;
		err = set_groups(part);
		account_add(&batch->account, &part->groups->window);
		part->groups->has_window = false;
	}
	return err;
}

static int hand_on(struct flow *flow, struct batch *batch)
{
	batch->fallback = flow->fallback;
	flow->fallback = NULL;
	if (flow_has_budget(flow))
		flow_budget_tell(flow, batch);
	flow_name_stacks(flow);
	return flow->sink.batch(flow->sink.context, batch);
}

int flow_give(struct flow *flow, u64 start_ns, u64 end_ns, const struct account *account,
	      bool has_sql, bool is_last)
{
	struct batch batch = { .schema = &flow->cut->output,
			       .other_row = -1,
			       .is_windowed = flow_is_windowed(flow),
			       .is_last = is_last,
			       .is_partial = flow->is_window_partial,
			       .window_start_ns = start_ns,
			       .window_end_ns = end_ns,
			       .late_ns = flow->late_ns,
			       .n_merged = flow->n_merged };
	u64 limit = UINT64_MAX;
	struct account lists = { 0 };
	int err = flow_open_sql(flow);

	if (!err)
		err = add_groups(flow, &batch);
	if (err)
		return err;
	account_add(&batch.account, account);
	if (has_sql)
		err = flow_read_lists(flow, &lists);
	if (err)
		return err;
	account_add(&batch.account, &lists);
	account_add(&flow->lists_lost, &lists);
	if (flow->is_streaming) {
		account_add(&batch.account, &flow->sql_lost);
		limit = flow->limit - flow->n_streamed;
	}
	if (has_sql && flow->is_plain)
		err = flow_pick(flow, &batch);
	else if (has_sql)
		err = flow_run_sql(flow, limit, &batch);
	if (err)
		return err;
	flow->n_streamed += batch.n_rows;
	if (flow->is_streaming && !batch.n_rows && !is_last)
		return 0;
	flow->is_ended = is_last;
	return hand_on(flow, &batch);
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
	return hand_on(flow, &batch);
}
