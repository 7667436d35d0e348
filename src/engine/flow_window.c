/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Windows of time: from the queues of rows to batches.
 *
 * Windows of time that follow each other share the very instant between them: on the
 * rows' clock too, where it was computed once, so that a clock that is being slewed
 * puts no row into both or into none.
 */
#include <errno.h>
#include <string.h>

#include "engine/internal.h"

/* --- Boundaries --- */

/* HOPPING: windows begin so long after each multiple of the advance; 0: not there. */
static u64 between_ns(const struct flow *flow)
{
	const struct cut_window *window = &flow->cut->window;

	return window->kind == WINDOW_HOPPING ? hop_between_ns(window->size, window->advance) : 0;
}

static u64 boundary_before(const struct flow *flow, u64 now_ns)
{
	u64 advance = flow_advance_ns(flow), between = between_ns(flow);
	u64 at_ns = now_ns / advance * advance;

	return between && now_ns - at_ns >= between ? at_ns + between : at_ns;
}

u64 flow_boundary_behind(const struct flow *flow, u64 now_ns)
{
	u64 advance = flow_advance_ns(flow), between = between_ns(flow);
	u64 at_ns = now_ns / advance * advance;

	return at_ns + (now_ns < at_ns + between ? between : advance);
}

void flow_start(struct flow *flow, struct flow_instant start)
{
	flow->start = flow->window = start;
	if (flow_is_timed(flow))
		flow->boundary.real_ns = flow->boundary.position =
			boundary_before(flow, start.real_ns);
	for (u32 i = 0; i < flow->n_parts; i++)
		if (flow->parts[i].groups)
			groups_start(flow->parts[i].groups, start.real_ns);
}

/*
 * A pane that was closed late goes over several boundaries: it is in all windows that
 * would have a part of it, and the latest window that ended meanwhile ends now.
 */
struct flow_boundary flow_boundary_at(const struct flow *flow, u64 now_ns, bool is_last)
{
	const struct flow_boundary *before = &flow->boundary;
	struct flow_boundary at = { now_ns, now_ns, now_ns, true };
	u64 advance = flow_advance_ns(flow), window_ns;

	if (!flow_is_timed(flow) || !flow->is_live)
		return at;
	if (!is_last)
		at.real_ns = boundary_before(flow, now_ns);
	window_ns = at.real_ns / advance * advance;
	at.has_window = window_ns == at.real_ns || window_ns > before->real_ns;
	if (window_ns > before->real_ns)
		at.n_windows = window_ns / advance - before->real_ns / advance;
	if (!at.has_window)
		window_ns += advance;
	/* Where the clock was set back the pane is as long as one can be. */
	at.position = before->position +
		      (at.real_ns > before->real_ns ? at.real_ns - before->real_ns : advance);
	at.window_position = at.position - at.real_ns + window_ns;
	return at;
}

struct flow_boundary flow_boundary_ahead(const struct flow *flow)
{
	struct flow_boundary at = flow->boundary;

	at.window_position = at.position + flow_advance_ns(flow);
	at.has_window = true;
	at.n_windows = 1;
	return at;
}

/* Does the window that ends there span the boundaries it is aligned to?  Those of files do. */
static bool is_partial(const struct flow *flow, const struct flow_boundary *at)
{
	u64 size = flow->cut->window.size, advance = flow_advance_ns(flow);

	if (!flow_is_timed(flow) || !flow->is_live)
		return false;
	if (size >= advance)
		size = MAX(size, at->n_windows * advance);
	/* Positions agree with the clock at the start. */
	return !at->has_window || flow->is_woken || flow->is_cut ||
	       at->window_position < flow->start.real_ns + size;
}

bool flow_ends_at(const struct flow *flow, const struct flow_boundary *at)
{
	return flow->is_last_window && at->has_window &&
	       !(flow->wants_whole && is_partial(flow, at));
}

/* --- What lies before and behind an instant --- */

static bool is_before(const struct flow_part *part, const struct row *row, struct flow_instant at)
{
	if (at.flip && row->number)
		return row->number <= at.flip;
	return flow_time_of(row->values) < flow_row_time(part, at);
}

/* How many rows of the queue lie before that instant, which only flips leave some behind. */
static u64 n_before(const struct flow *flow, const struct flow_part *part, struct flow_instant end)
{
	u64 n = part->queue.n;

	while (end.flip && n && !is_before(part, row_fifo_rows(&part->queue)[n - 1], end))
		n--;
	return n;
}

/* What happened since the last batch or pane, which ends there: rows may be read from behind it. */
static struct account take_since(struct flow *flow, struct flow_instant end)
{
	struct account taken = flow->since, behind = { 0 };

	for (u32 i = 0; i < flow->n_parts; i++) {
		const struct flow_part *part = &flow->parts[i];
		u64 k = part->source ? n_before(flow, part, end) : part->queue.n;

		for (; k < part->queue.n; k++) {
			behind.matched++;
			behind.lost[LOSS_FAULT] += row_fifo_rows(&part->queue)[k]->n_faults;
		}
	}
	account_subtract(&taken, &behind);
	flow->since = behind;
	return taken;
}

/* --- Panes of HOPPING --- */

static struct flow_pane *panes(struct flow *flow)
{
	return flow->panes.at;
}

/* What came before the pane that ended there belongs to no window any more. */
static void drop_panes(struct flow *flow, u64 position)
{
	u32 n = 0;

	while (n + 1 < flow->n_panes && panes(flow)[n + 1].position <= position)
		n++;
	if (!n)
		return;
	flow->n_panes -= n;
	memmove(panes(flow), panes(flow) + n, flow->n_panes * sizeof(struct flow_pane));
}

/* What happened between two windows is in none, nor in the run's account. */
static int add_pane(struct flow *flow, struct flow_instant end, u64 position, bool is_in_window)
{
	struct flow_pane pane = { end, position, take_since(flow, end), flow->repeated };

	flow->repeated = (struct account){ 0 };
	if (!is_in_window)
		pane.account = pane.repeated = (struct account){ 0 };
	if (!region_need(&flow->panes, (flow->n_panes + 1ull) * sizeof(struct flow_pane)))
		return -ENOMEM;
	panes(flow)[flow->n_panes++] = pane;
	account_add(&flow->total, &pane.account);
	return 0;
}

int flow_pane_end(struct flow *flow, struct flow_instant end, u64 position)
{
	/* Of groups alone the panes are kept in the kernel's room. */
	if (!flow->has_rows)
		return 0;
	flow_account(flow, false);
	return add_pane(flow, end, position, flow->cut->window.size > flow->cut->window.advance);
}

/*
 * Where the window begins that does so then, nominally.  Live that is where a pane ended: one that
 * was closed late is whole in all windows that it overlaps.
 */
static struct flow_instant instant_of(struct flow *flow, u64 position)
{
	if (!flow->is_live)
		return (struct flow_instant){ position, position, 0 };
	for (u32 i = flow->n_panes; i-- > 0;)
		if (panes(flow)[i].position <= position)
			return panes(flow)[i].end;
	return flow->start;
}

/* Gives back the part's rows from before that instant. */
static void drop_before(struct flow_part *part, struct flow_instant at)
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
		struct account gone = { 0 };
		u64 n = 0;

		for (u64 k = 0; part->source && k < part->queue.n; k++) {
			if (!rows[k]->number || rows[k]->number <= end.flip) {
				rows[n++] = rows[k];
				continue;
			}
			gone.lost[LOSS_FAULT] += rows[k]->n_faults;
			gone.matched++;
			row_pool_give(&part->pool, rows[k]);
		}
		part->queue.n = n;
		account_subtract(&flow->since, &gone);
		if (flow->cut->window.kind != WINDOW_HOPPING)
			account_subtract(&flow->total, &gone);
	}
}

/* --- Windows of time --- */

/* Groups of the kernel whose window ended; NULL: there are none, or it did not. */
static const struct rows *group_rows(const struct flow *flow)
{
	for (u32 i = 0; i < flow->n_parts; i++)
		if (flow->parts[i].groups && flow->parts[i].groups->has_window)
			return &flow->parts[i].groups->rows;
	return NULL;
}

static struct flow_instant window_start(struct flow *flow, u64 end_position)
{
	/* The bounds of the kernel's groups are those of the window, where there are any. */
	const struct rows *groups = group_rows(flow);
	struct flow_instant start;

	if (flow->cut->window.kind == WINDOW_NONE)
		return flow->start;
	if (flow->is_live && flow->cut->window.kind == WINDOW_TUMBLING)
		return flow->window;
	start = instant_of(flow, end_position - MIN(flow->cut->window.size, end_position));
	/* One that is late by more than its size: what no window had yet is in this one. */
	if (flow->is_live && flow->cut->window.size >= flow->cut->window.advance &&
	    flow->window.monotonic_ns < start.monotonic_ns)
		start = flow->window;
	if (groups)
		start.real_ns = groups->window_start_ns;
	return start;
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
		if (flow_is_windowed(flow))
			drop_before(part, start);
		n = n_before(flow, part, end);
		relation_set_rows(part->relation, row_fifo_rows(&part->queue), n);
		account->matched += n;
	}
}

/* Losses of a HOPPING window are those of all panes that it reaches into. */
static void add_panes(struct flow *flow, struct flow_instant start, struct account *account)
{
	bool has_before = false;

	for (u32 i = 0; i < flow->n_panes; i++) {
		const struct flow_pane *pane = &panes(flow)[i];

		if (pane->end.real_ns <= start.real_ns)
			continue;
		account_add(account, &pane->account);
		if (has_before)
			account_subtract(account, &pane->repeated);
		has_before = true;
	}
}

/* The run's end is no late one of the window under way. */
static void note_lateness(struct flow *flow, struct flow_instant end,
			  const struct flow_boundary *at)
{
	u64 nominal_ns = at->real_ns - at->position + at->window_position;
	u64 late_ns = at->has_window && end.real_ns > nominal_ns ? end.real_ns - nominal_ns : 0;

	flow->late_ns = late_ns > flow->cut->window.size / 100 ? late_ns : 0;
	flow->n_merged = at->n_windows > 1 ? at->n_windows : 0;
	flow->is_window_partial = is_partial(flow, at);
	flow->is_cut = flow->is_woken;
}

int flow_window_give(struct flow *flow, struct flow_instant end, const struct flow_boundary *at,
		     bool is_last)
{
	const struct cut_window *window = &flow->cut->window;
	u64 position = at->window_position;
	struct account account = { 0 };
	struct flow_instant start = window_start(flow, position);
	u64 start_ns = MIN(start.real_ns, end.real_ns);
	int err = 0;

	note_lateness(flow, end, at);
	flow_account(flow, false);
	if (window->kind == WINDOW_HOPPING && flow->has_rows) {
		err = add_pane(flow, end, position, true);
		add_panes(flow, start, &account);
	} else {
		account = window->kind == WINDOW_NONE ? flow->total : take_since(flow, end);
	}
	account.matched = 0; /* the rows in the relations, which are counted now */
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
	if (window->kind == WINDOW_HOPPING && position + window->advance > window->size)
		drop_panes(flow, position + window->advance - window->size);
	return err;
}
