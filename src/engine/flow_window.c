/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Windows of time, and the global COUNT window: from the queues of rows to batches.
 *
 * Windows of time that follow each other share the very instant between them: on the
 * rows' clock too, where it was computed once, so that a clock that is being slewed
 * puts no row into both or into none.
 */
#include <errno.h>
#include <string.h>

#include "engine/internal.h"

static u64 cut_size(const struct flow *flow)
{
	return flow->cut->window.size;
}

/* --- Panes of HOPPING --- */

static struct flow_pane *panes(struct flow *flow)
{
	return flow->panes.at;
}

/* What came before the pane that ended there, nominally, belongs to no window any more. */
static void drop_panes(struct flow *flow, u64 start_ns)
{
	u32 n = 0;

	while (n + 1 < flow->n_panes && panes(flow)[n + 1].nominal_ns <= start_ns)
		n++;
	if (!n)
		return;
	flow->n_panes -= n;
	memmove(panes(flow), panes(flow) + n, flow->n_panes * sizeof(struct flow_pane));
}

/* The pane that ends there takes what happened since the one before. */
static int add_pane(struct flow *flow, struct flow_instant end, u64 nominal_ns)
{
	if (!region_need(&flow->panes, (flow->n_panes + 1ull) * sizeof(struct flow_pane)))
		return -ENOMEM;
	panes(flow)[flow->n_panes++] = (struct flow_pane){ end, nominal_ns, flow->since };
	flow->since = (struct account){ 0 };
	return 0;
}

int flow_pane_end(struct flow *flow, struct flow_instant end, u64 nominal_ns)
{
	/* Of groups alone the panes are kept in the kernel's room. */
	if (!flow->has_rows)
		return 0;
	flow_account(flow, false);
	return add_pane(flow, end, nominal_ns);
}

/*
 * Where the window begins that does so then, nominally.  Live that is where a pane ended: one that
 * was closed late is whole in all windows that it overlaps.
 */
static struct flow_instant instant_of(struct flow *flow, u64 start_ns)
{
	if (!flow->is_live)
		return (struct flow_instant){ start_ns, start_ns, 0 };
	for (u32 i = flow->n_panes; i-- > 0;)
		if (panes(flow)[i].nominal_ns <= start_ns)
			return panes(flow)[i].end;
	return flow->start;
}

/* --- Rows before and behind an instant --- */

static bool is_before(const struct flow_part *part, const struct row *row, struct flow_instant at)
{
	if (at.flip && row->number)
		return row->number <= at.flip;
	return flow_time_of(row->values) < flow_row_time(part, at);
}

void flow_drop_before(struct flow_part *part, struct flow_instant at)
{
	u64 n = 0;

	while (n < part->queue.n && is_before(part, row_fifo_rows(&part->queue)[n], at))
		n++;
	flow_drop(part, n);
}

void flow_drop_behind(struct flow *flow, struct flow_instant end)
{
	for (u32 i = 0; end.flip && i < flow->n_parts; i++) {
		struct flow_part *part = &flow->parts[i];
		struct row **rows = row_fifo_rows(&part->queue);
		u64 n = 0;

		for (u64 k = 0; part->source && k < part->queue.n; k++) {
			if (!rows[k]->number || rows[k]->number <= end.flip) {
				rows[n++] = rows[k];
				continue;
			}
			row_pool_give(&part->pool, rows[k]);
			flow->total.matched--;
		}
		part->queue.n = n;
	}
}

/* How many rows of the queue lie before that instant, which only flips leave some behind. */
static u64 n_before(const struct flow *flow, const struct flow_part *part, struct flow_instant end)
{
	u64 n = part->queue.n;

	while (end.flip && !flow->is_drained && n &&
	       !is_before(part, row_fifo_rows(&part->queue)[n - 1], end))
		n--;
	return n;
}

/* --- Windows of time --- */

/* The bounds of the kernel's groups are those of the window, where there are any. */
static const struct rows *groups_of(const struct flow *flow)
{
	for (u32 i = 0; i < flow->n_parts; i++)
		if (flow->parts[i].has_window)
			return &flow->parts[i].groups->rows;
	return NULL;
}

static struct flow_instant window_start(struct flow *flow, u64 end_ns)
{
	const struct rows *groups = groups_of(flow);
	u64 start_ns = end_ns > cut_size(flow) ? end_ns - cut_size(flow) : 0;
	struct flow_instant start;

	if (flow->cut->window.kind == WINDOW_NONE || flow->is_drained)
		return flow->start;
	if (groups && flow->cut->window.kind == WINDOW_HOPPING) {
		start = instant_of(flow, groups->window_start_ns);
		start.real_ns = groups->window_start_ns;
		return start;
	}
	if (flow->is_live && flow->cut->window.kind == WINDOW_TUMBLING)
		return flow->window;
	return instant_of(flow, start_ns);
}

/* The rows that are too old leave; the relations are those that stay, up to the end. */
static void take_rows(struct flow *flow, struct flow_instant start, struct flow_instant end,
		      struct account *account)
{
	for (u32 i = 0; i < flow->n_parts; i++) {
		struct flow_part *part = &flow->parts[i];
		u64 n;

		if (!part->source)
			continue;
		if (flow_is_windowed(flow) && !flow->is_drained)
			flow_drop_before(part, start);
		n = n_before(flow, part, end);
		relation_set_rows(part->relation, row_fifo_rows(&part->queue), n);
		account->matched += n;
	}
}

/* Losses of a HOPPING window are those of all panes that it reaches into. */
static void add_panes(struct flow *flow, struct flow_instant start, struct account *account)
{
	for (u32 i = 0; i < flow->n_panes; i++)
		if (panes(flow)[i].end.real_ns > start.real_ns)
			account_add(account, &panes(flow)[i].account);
}

int flow_window_give(struct flow *flow, struct flow_instant end, u64 end_ns, bool is_last)
{
	const struct cut_window *window = &flow->cut->window;
	struct account account = { 0 };
	struct flow_instant start = window_start(flow, end_ns);
	u64 start_ns = MIN(start.real_ns, end.real_ns);
	int err = 0;

	flow_account(flow, false);
	if (window->kind == WINDOW_HOPPING && flow->has_rows) {
		err = add_pane(flow, end, end_ns);
		add_panes(flow, start, &account);
	} else {
		account = window->kind == WINDOW_NONE ? flow->total : flow->since;
		account.matched = 0; /* the rows in the relations, which are counted now */
		flow->since = (struct account){ 0 };
	}
	take_rows(flow, start, end, &account);
	if (window->kind == WINDOW_NONE && !flow->is_live && flow->has_span) {
		start_ns = flow->first_ns;
		end.real_ns = flow->last_ns;
	}
	if (!err)
		err = flow_give(flow, start_ns, end.real_ns, &account, true, is_last);
	flow->window = end;
	if (window->kind == WINDOW_TUMBLING)
		for (u32 i = 0; i < flow->n_parts; i++)
			if (flow->parts[i].source)
				flow_drop(&flow->parts[i], n_before(flow, &flow->parts[i], end));
	if (window->kind == WINDOW_HOPPING && end_ns + window->advance > window->size)
		drop_panes(flow, end_ns + window->advance - window->size);
	return err;
}

/* --- COUNT --- */

static int give_count(struct flow *flow, u64 n, bool is_last)
{
	const struct flow_part *part = flow_row_part(flow);
	struct row **rows = row_fifo_rows(&part->queue);
	u64 start_ns = flow->last_ns, end_ns = flow->last_ns;
	struct account account;

	if (n) {
		start_ns = flow_real_time(flow, part, flow_time_of(rows[0]->values));
		end_ns = flow_real_time(flow, part, flow_time_of(rows[n - 1]->values));
	}
	if (is_last)
		flow_finish_rows(flow);
	relation_set_rows(part->relation, rows, n);
	flow_account_rows(flow, n, &account);
	return flow_give(flow, start_ns, end_ns, &account, n > 0, is_last);
}

/* Rows before the next window's first are in no window to come. */
static void drop_counted(struct flow *flow, struct flow_part *part)
{
	u64 n = MIN(part->queue.n, flow->next_row - flow->first_row);
	u64 n_given = flow->fresh_row > flow->first_row ? flow->fresh_row - flow->first_row : 0;

	flow_drop(part, n);
	flow->first_row += n;
	/* Between two windows. */
	if (n > n_given)
		flow->n_other_events += (s64)(n - n_given);
}

/* Files: no row is left behind the window that begins with next_row and is complete. */
static bool is_last_count(struct flow *flow, const struct flow_part *part)
{
	u64 time_ns;

	if (flow->is_last_window)
		return true;
	return !flow->is_live && part->queue.n == flow->cut->window.size &&
	       !row_source_peek(part->source, &time_ns);
}

int flow_count_take(struct flow *flow, bool is_end)
{
	const struct cut_window *window = &flow->cut->window;
	struct flow_part *part = flow_row_part(flow);
	int err = 0;

	drop_counted(flow, part);
	while (!err && !flow->is_ended && flow->first_row == flow->next_row &&
	       part->queue.n >= window->size) {
		err = give_count(flow, window->size, is_last_count(flow, part));
		flow->fresh_row = flow->next_row + window->size;
		flow->next_row += window->advance;
		drop_counted(flow, part);
	}
	if (err || !is_end || flow->is_ended)
		return err;
	if (flow->first_row + part->queue.n <= flow->fresh_row)
		return give_count(flow, 0, true);
	return give_count(flow, part->queue.n, true);
}
