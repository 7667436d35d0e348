/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Windows that rows end: SESSION, and COUNT, of every CPU or group, or of all rows as one
 * group.  Rows come in the order of their times, so the groups stand in a list in the order of
 * their last rows, and the sessions whose gap has passed are those at its beginning.  Every
 * window is a batch: sessions in the order of their ends, then of their starts, then of their
 * first rows; COUNT windows as they become complete.
 */
#include <errno.h>
#include <stdlib.h>

#include "engine/internal.h"

struct flow_group {
	struct key key;
	struct flow_group *older, *newer;
	struct row *first, *last; /* its rows, linked */
	u64 n_rows, last_ns;
	u64 n_fresh; /* rows at the end that no window had yet */
	u64 n_skip;  /* COUNT: rows to come that lie between two windows */
	u64 from_ns; /* COUNT: its first row may have been one of that time */
};

void flow_groups_open(struct flow *flow)
{
	flow->groups.keys.item_bytes = sizeof(struct flow_group);
	buf_init(&flow->groups.key);
}

void flow_groups_close(struct flow *flow)
{
	struct flow_groups *groups = &flow->groups;

	keys_close(&groups->keys);
	buf_free(&groups->key);
	region_free(&groups->rows);
	region_free(&groups->closed);
}

/* --- The groups --- */

static void list_remove(struct flow_groups *groups, struct flow_group *group)
{
	*(group->older ? &group->older->newer : &groups->oldest) = group->newer;
	*(group->newer ? &group->newer->older : &groups->newest) = group->older;
}

static void list_append(struct flow_groups *groups, struct flow_group *group)
{
	group->older = groups->newest;
	group->newer = NULL;
	*(groups->newest ? &groups->newest->newer : &groups->oldest) = group;
	groups->newest = group;
}

static void remove_group(struct flow_groups *groups, struct flow_group *group)
{
	list_remove(groups, group);
	keys_remove(&groups->keys, &group->key);
}

/* The group of the row, which becomes the newest; NULL: no memory. */
static struct flow_group *find_group(struct flow *flow, const struct row *row)
{
	const struct cut_window *window = &flow->cut->window;
	struct flow_groups *groups = &flow->groups;
	struct flow_group *group;
	u32 n = groups->keys.n;

	buf_reset(&groups->key);
	for (u32 i = 0; i < window->n_key_columns; i++)
		key_put(&groups->key, &row->values[window->key_columns[i]]);
	group = (struct flow_group *)keys_find(&groups->keys, &groups->key, true);
	if (!group)
		return NULL;
	if (groups->keys.n == n)
		list_remove(groups, group);
	list_append(groups, group);
	return group;
}

/* --- Windows --- */

/* The group's first n rows are a window, which has closed. */
static int emit(struct flow *flow, struct flow_group *group, u64 n)
{
	struct flow_groups *groups = &flow->groups;
	const struct flow_part *part = flow_row_part(flow);
	struct row *row = group->first, **rows;
	u64 first_ns = flow_time_of(row->values), end_ns = 0;
	struct flow_closed *closed;

	if (!region_need(&groups->closed, (groups->n_closed + 1) * sizeof(*closed)) ||
	    !region_need(&groups->rows, (groups->n_rows + n) * sizeof(row)))
		return -ENOMEM;
	closed = (struct flow_closed *)groups->closed.at + groups->n_closed++;
	*closed =
		(struct flow_closed){ .first = groups->n_rows, .n_rows = n, .number = row->number };
	closed->session.start_ns = flow_real_time(flow, part, first_ns);
	rows = (struct row **)groups->rows.at + groups->n_rows;
	for (u64 i = 0; i < n; i++, row = row->next) {
		rows[i] = row;
		end_ns = flow_time_of(row->values);
		closed->n_faults += row->n_faults;
	}
	closed->session.end_ns = flow_real_time(flow, part, end_ns);
	closed->from_ns = MIN(group->from_ns, first_ns);
	closed->to_ns = groups->closed_ns = group->from_ns = end_ns;
	if (flow->cut->window.kind == WINDOW_SESSION) {
		closed->from_ns = first_ns - MIN(flow->cut->window.size, first_ns);
		closed->to_ns = end_ns + MIN(flow->cut->window.size, UINT64_MAX - end_ns);
	}
	groups->n_rows += n;
	group->n_fresh = 0;
	return 0;
}

/* The first n rows are in no later window; they live until the batch was given. */
static void drop_rows(struct flow_groups *groups, struct flow_group *group, u64 n)
{
	for (u64 i = 0; i < n; i++) {
		struct row *row = group->first;

		group->first = row->next;
		row->next = groups->dropped;
		groups->dropped = row;
	}
	group->n_rows -= n;
}

/* Sessions whose next row, were it at this time, would be another session's, close. */
static int expire(struct flow *flow, u64 now_ns)
{
	struct flow_groups *groups = &flow->groups;
	struct flow_group *group;
	int err = 0;

	while (!err && (group = groups->oldest) && now_ns > group->last_ns &&
	       now_ns - group->last_ns > flow->cut->window.size) {
		err = emit(flow, group, group->n_rows);
		drop_rows(groups, group, group->n_rows);
		remove_group(groups, group);
	}
	return err;
}

static int add_row(struct flow *flow, struct row_pool *pool, struct row *row)
{
	const struct cut_window *window = &flow->cut->window;
	struct flow_groups *groups = &flow->groups;
	u64 time_ns = flow_time_of(row->values), n_dropped;
	struct flow_group *group;
	int err = window->kind == WINDOW_SESSION ? expire(flow, time_ns) : 0;

	group = find_group(flow, row);
	if (err || !group)
		return -ENOMEM;
	if (!group->n_rows)
		group->from_ns = MIN(groups->closed_ns, time_ns);
	group->last_ns = time_ns;
	row->number = groups->n_taken++;
	if (group->n_skip) {
		row_pool_give(pool, row);
		flow->n_other_events++;
		if (!--group->n_skip)
			remove_group(groups, group);
		return 0;
	}
	flow->total.lost[LOSS_FAULT] += row->n_faults; /* once, in however many windows it is */
	row->next = NULL;
	if (group->n_rows)
		group->last->next = row;
	else
		group->first = row;
	group->last = row;
	group->n_rows++;
	group->n_fresh++;
	if (window->kind == WINDOW_SESSION || group->n_rows < window->size)
		return 0;
	n_dropped = MIN(window->advance, window->size);
	err = emit(flow, group, window->size);
	drop_rows(groups, group, n_dropped);
	group->n_skip = window->advance - n_dropped;
	if (!group->n_rows && !group->n_skip)
		remove_group(groups, group);
	return err;
}

static int emit_open(struct flow *flow)
{
	int err = 0;

	for (struct flow_group *group = flow->groups.oldest; group && !err; group = group->newer)
		if (group->n_rows && group->n_fresh)
			err = emit(flow, group, group->n_rows);
	return err;
}

/* --- Batches --- */

static int compare_closed(const void *a, const void *b)
{
	const struct flow_closed *x = a, *y = b;

	if (x->session.end_ns != y->session.end_ns)
		return x->session.end_ns < y->session.end_ns ? -1 : 1;
	if (x->session.start_ns != y->session.start_ns)
		return x->session.start_ns < y->session.start_ns ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

/*
 * Sessions end in the order of their last rows; but those of one instant close together, by
 * whatever lot of rows, and have an order of their own.
 */
static void sort_closed(struct flow_groups *groups)
{
	struct flow_closed *closed = groups->closed.at;
	u64 i = 1;

	while (i < groups->n_closed && compare_closed(&closed[i - 1], &closed[i]) < 0)
		i++;
	if (i < groups->n_closed)
		qsort(closed, groups->n_closed, sizeof(*closed), compare_closed);
}

/* Of a file: all rows were taken, and no window is open that has a row of its own. */
static bool is_last_of_file(struct flow *flow)
{
	const struct flow_part *part = flow_row_part(flow);
	u64 time_ns;

	if (flow->is_live || part->queue.n || row_source_peek(part->source, &time_ns))
		return false;
	for (const struct flow_group *group = flow->groups.oldest; group; group = group->newer)
		if (group->n_fresh)
			return false;
	return true;
}

static int give_window(struct flow *flow, const struct flow_closed *closed, bool is_last)
{
	struct flow_groups *groups = &flow->groups;
	struct relation *relation = flow_row_part(flow)->relation;
	struct account account;
	int err = 0;

	relation_set_rows(relation, (struct row **)groups->rows.at + closed->first, closed->n_rows);
	relation->session = &closed->session;
	is_last |= flow->is_last_window;
	if (is_last)
		err = flow_finish_rows(flow);
	if (err)
		return err;
	flow_account_rows(flow, closed->n_rows, closed->from_ns, closed->to_ns, &account);
	account.lost[LOSS_FAULT] += closed->n_faults;
	flow->is_window_partial =
		flow->cut->window.kind == WINDOW_COUNT && closed->n_rows < flow->cut->window.size;
	return flow_give(flow, closed->session.start_ns, closed->session.end_ns, &account, true,
			 is_last);
}

static int give(struct flow *flow, bool is_end)
{
	struct flow_groups *groups = &flow->groups;
	struct flow_part *part = flow_row_part(flow);
	u64 n = groups->n_closed;
	struct account account;
	int err = 0;

	if (flow->cut->window.kind == WINDOW_SESSION)
		sort_closed(groups);
	for (u64 i = 0; i < n && !err && !flow->is_ended; i++)
		err = give_window(flow, (struct flow_closed *)groups->closed.at + i,
				  i == n - 1 && (is_end || is_last_of_file(flow)));
	if (!err && is_end && !n) { /* all were given before */
		flow_account_rows(flow, 0, UINT64_MAX, UINT64_MAX, &account);
		flow->is_window_partial = false;
		err = flow_give(flow, flow->last_ns, flow->last_ns, &account, false, true);
	}
	relation_set_rows(part->relation, NULL, 0);
	groups->n_rows = groups->n_closed = 0;
	while (groups->dropped) {
		struct row *row = groups->dropped;

		groups->dropped = row->next;
		row_pool_give(&part->pool, row);
	}
	return err;
}

int flow_groups_take(struct flow *flow, u64 before_ns, bool is_end)
{
	struct flow_part *part = flow_row_part(flow);
	int err = 0;

	while (part->queue.n && !err && !flow->is_ended) {
		struct row *row = *row_fifo_rows(&part->queue);

		row_fifo_drop(&part->queue, 1);
		err = add_row(flow, &part->pool, row);
		/* At once, so that rows between two windows are told between them. */
		if (!err && flow->cut->window.kind == WINDOW_COUNT && flow->groups.n_closed)
			err = give(flow, false);
	}
	if (!err && flow->cut->window.kind == WINDOW_SESSION)
		err = expire(flow, before_ns);
	if (!err && is_end)
		err = emit_open(flow);
	if (err)
		return err;
	return flow->groups.n_closed || is_end ? give(flow, is_end) : 0;
}
