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

/* What came before that instant belongs to no window any more. */
static void drop_panes(struct flow *flow, u64 start_ns)
{
	u32 n = 0;

	while (n < flow->n_panes && panes(flow)[n].end.real_ns < start_ns)
		n++;
	if (!n)
		return;
	flow->n_panes -= n;
	memmove(panes(flow), panes(flow) + n, flow->n_panes * sizeof(struct flow_pane));
}

/* The pane that ends there takes what happened since the one before. */
static void add_pane(struct flow *flow, struct flow_instant end)
{
	if (!region_need(&flow->panes, (flow->n_panes + 1ull) * sizeof(struct flow_pane)))
		base_no_memory();
	panes(flow)[flow->n_panes++] = (struct flow_pane){ end, flow->since };
	flow->since = (struct account){ 0 };
}

void flow_pane_end(struct flow *flow, struct flow_instant end)
{
	/* Of groups alone the panes are kept in the kernel's room. */
	if (!flow->has_rows)
		return;
	flow_account(flow);
	add_pane(flow, end);
}

/* An instant that may have been the end of a pane: then it is that very one. */
static struct flow_instant instant_of(struct flow *flow, u64 real_ns)
{
	for (u32 i = flow->n_panes; i-- > 0;)
		if (panes(flow)[i].end.real_ns == real_ns)
			return panes(flow)[i].end;
	return (struct flow_instant){ real_ns, real_ns - (u64)flow->real_offset_ns };
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

	if (flow->cut->window.kind == WINDOW_NONE || flow->is_drained)
		return flow->start;
	if (groups && flow->cut->window.kind == WINDOW_HOPPING)
		return instant_of(flow, groups->window_start_ns);
	if (flow->is_live && flow->cut->window.kind == WINDOW_TUMBLING)
		return flow->window;
	if (flow->is_live && start_ns <= flow->start.real_ns)
		return flow->start;
	return instant_of(flow, start_ns);
}

/* The rows that are too old leave; the relations are those that stay. */
static void take_rows(struct flow *flow, struct flow_instant start, struct account *account)
{
	for (u32 i = 0; i < flow->n_parts; i++) {
		struct flow_part *part = &flow->parts[i];
		u64 start_ns = flow_row_time(part, start), n = 0;
		struct row **rows = row_fifo_rows(&part->queue);

		if (!part->source)
			continue;
		if (flow_is_windowed(flow) && !flow->is_drained)
			while (n < part->queue.n && flow_time_of(rows[n]->values) < start_ns)
				n++;
		flow_drop(part, n);
		relation_set_rows(&flow->relations[i], row_fifo_rows(&part->queue), part->queue.n);
		account->matched += part->queue.n;
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
	int err;

	flow_account(flow);
	if (window->kind == WINDOW_HOPPING && flow->has_rows) {
		add_pane(flow, end);
		add_panes(flow, start, &account);
	} else {
		account = window->kind == WINDOW_NONE ? flow->total : flow->since;
		account.matched = 0; /* the rows in the relations, which are counted now */
		flow->since = (struct account){ 0 };
	}
	take_rows(flow, start, &account);
	if (window->kind == WINDOW_NONE && !flow->is_live && flow->has_span) {
		start_ns = flow->first_ns;
		end.real_ns = flow->last_ns;
	}
	err = flow_give(flow, start_ns, end.real_ns, &account, true, is_last);
	flow->window = end;
	if (window->kind == WINDOW_TUMBLING)
		for (u32 i = 0; i < flow->n_parts; i++)
			if (flow->parts[i].source)
				flow_drop(&flow->parts[i], flow->parts[i].queue.n);
	if (window->kind == WINDOW_HOPPING && end_ns + window->advance > window->size)
		drop_panes(flow, end_ns + window->advance - window->size);
	return err;
}

/* --- Files --- */

/* The time that windows reach ends in 2262. */
int flow_check_span(struct flow *flow)
{
	if (flow->last_ns <= INT64_MAX)
		return 0;
	diag_failure(flow->diags, "too-large",
		     "a row's time, %llu ns, is beyond what windows reach",
		     (unsigned long long)flow->last_ns);
	return -EOVERFLOW;
}

/* --- COUNT --- */

static int give_count(struct flow *flow, u64 n, bool is_last)
{
	struct relation *relation;
	const struct flow_part *part = flow_row_part(flow, &relation);
	struct row **rows = row_fifo_rows(&part->queue);
	u64 start_ns = flow->last_ns, end_ns = flow->last_ns;
	struct account account;

	if (n) {
		start_ns = flow_real_time(flow, part, flow_time_of(rows[0]->values));
		end_ns = flow_real_time(flow, part, flow_time_of(rows[n - 1]->values));
	}
	if (is_last)
		flow_finish_rows(flow);
	relation_set_rows(relation, rows, n);
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
	       !flow_peek_row(flow, &time_ns);
}

int flow_count_take(struct flow *flow, bool is_end)
{
	const struct cut_window *window = &flow->cut->window;
	struct relation *relation;
	struct flow_part *part = flow_row_part(flow, &relation);
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
