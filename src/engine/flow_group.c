/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * SESSION windows, and COUNT windows of every CPU or group.  Rows come in the order of
 * their times, so the groups stand in a list in the order of their last rows, and the
 * sessions whose gap has passed are those at its beginning.  Every window is a batch:
 * sessions in the order of their ends, then of their starts, then of their first rows;
 * COUNT windows as they become complete.
 */
#include <stdlib.h>
#include <string.h>

#include "engine/internal.h"

struct flow_group {
	u64 hash;
	struct flow_group *next; /* in its bucket, or free */
	struct flow_group *older, *newer;
	struct row *key;
	struct row *first, *last; /* its rows, linked */
	u64 n_rows, last_ns;
	u64 n_fresh; /* rows at the end that no window had yet */
	u64 n_skip;  /* COUNT: rows to come that lie between two windows */
};

int flow_groups_open(struct flow *flow, struct arena *arena)
{
	struct flow_groups *groups = &flow->groups;

	groups->n_buckets = 1024;
	if (!region_need(&groups->buckets, groups->n_buckets * sizeof(void *)))
		base_no_memory();
	row_pool_open(&groups->keys, flow->cut->window.n_key_columns);
	groups->key = arena_array(arena, struct value, flow->cut->window.n_key_columns + 1);
	return 0;
}

void flow_groups_close(struct flow *flow)
{
	struct flow_groups *groups = &flow->groups;

	region_free(&groups->buckets);
	region_free(&groups->rows);
	region_free(&groups->places);
	region_free(&groups->closed);
	scratch_free(&groups->memory);
	row_pool_close(&groups->keys);
}

/* --- The table of groups --- */

static u64 mix(u64 hash, u64 word)
{
	hash = (hash ^ word) * 0x9E3779B97F4A7C15ull;
	return hash ^ hash >> 29;
}

static u64 hash_key(const struct value *key, u32 n)
{
	u64 hash = 0, word;
	double real;

	for (u32 i = 0; i < n; i++) {
		hash = mix(hash, key[i].kind);
		if (key[i].kind == VALUE_INT) {
			hash = mix(hash, (u64)key[i].integer);
		} else if (key[i].kind == VALUE_REAL) {
			/* -0.0 is 0.0 */
			real = key[i].real + 0.0;
			memcpy(&word, &real, sizeof(word));
			hash = mix(hash, word);
		} else if (key[i].kind == VALUE_TEXT) {
			for (u32 k = 0; k < key[i].n; k++)
				hash = mix(hash, (u8)key[i].text[k]);
		}
	}
	return hash;
}

/* NULLs are one group, as in GROUP BY. */
static bool is_same_key(const struct value *a, const struct value *b, u32 n)
{
	for (u32 i = 0; i < n; i++) {
		if (a[i].kind != b[i].kind)
			return false;
		if (a[i].kind == VALUE_INT && a[i].integer != b[i].integer)
			return false;
		if (a[i].kind == VALUE_REAL && a[i].real != b[i].real)
			return false;
		if (a[i].kind == VALUE_TEXT &&
		    (a[i].n != b[i].n || memcmp(a[i].text, b[i].text, a[i].n)))
			return false;
	}
	return true;
}

static struct flow_group **bucket_of(struct flow_groups *groups, u64 hash)
{
	return (struct flow_group **)groups->buckets.at + (hash & (groups->n_buckets - 1));
}

static void more_buckets(struct flow_groups *groups)
{
	struct flow_group *group;

	groups->n_buckets *= 2;
	if (!region_need(&groups->buckets, groups->n_buckets * sizeof(void *)))
		base_no_memory();
	memset(groups->buckets.at, 0, groups->n_buckets * sizeof(void *));
	for (group = groups->oldest; group; group = group->newer) {
		struct flow_group **bucket = bucket_of(groups, group->hash);

		group->next = *bucket;
		*bucket = group;
	}
}

static void list_remove(struct flow_groups *groups, struct flow_group *group)
{
	if (group->older)
		group->older->newer = group->newer;
	else
		groups->oldest = group->newer;
	if (group->newer)
		group->newer->older = group->older;
	else
		groups->newest = group->older;
}

static void list_append(struct flow_groups *groups, struct flow_group *group)
{
	group->older = groups->newest;
	group->newer = NULL;
	if (groups->newest)
		groups->newest->newer = group;
	else
		groups->oldest = group;
	groups->newest = group;
}

static struct flow_group *add_group(struct flow_groups *groups, u64 hash)
{
	struct flow_group *group = groups->free, **bucket;

	if (groups->n_groups >= groups->n_buckets)
		more_buckets(groups);
	if (group)
		groups->free = group->next;
	else
		group = scratch_alloc(&groups->memory, sizeof(*group));
	bucket = bucket_of(groups, hash);
	*group = (struct flow_group){ .hash = hash, .next = *bucket };
	group->key = row_pool_take(&groups->keys, groups->key);
	*bucket = group;
	list_append(groups, group);
	groups->n_groups++;
	return group;
}

static void remove_group(struct flow_groups *groups, struct flow_group *group)
{
	struct flow_group **at = bucket_of(groups, group->hash);

	while (*at != group)
		at = &(*at)->next;
	*at = group->next;
	list_remove(groups, group);
	row_pool_give(&groups->keys, group->key);
	group->next = groups->free;
	groups->free = group;
	groups->n_groups--;
}

/* The group of the row, which becomes the newest. */
static struct flow_group *find_group(struct flow *flow, const struct row *row)
{
	const struct cut_window *window = &flow->cut->window;
	struct flow_groups *groups = &flow->groups;
	struct flow_group *group;
	u64 hash;

	for (u32 i = 0; i < window->n_key_columns; i++)
		groups->key[i] = row->values[window->key_columns[i]];
	hash = hash_key(groups->key, window->n_key_columns);
	for (group = *bucket_of(groups, hash); group; group = group->next)
		if (group->hash == hash &&
		    is_same_key(group->key->values, groups->key, window->n_key_columns))
			break;
	if (!group)
		return add_group(groups, hash);
	list_remove(groups, group);
	list_append(groups, group);
	return group;
}

/* --- Windows --- */

static void *need(struct region *region, u64 n, size_t item_bytes)
{
	if (!region_need(region, (n + 1) * item_bytes))
		base_no_memory();
	return (u8 *)region->at + n * item_bytes;
}

/* The group's first n rows are a window, which has closed. */
static void emit(struct flow *flow, struct flow_group *group, u64 n)
{
	struct flow_groups *groups = &flow->groups;
	struct relation *relation;
	const struct flow_part *part = flow_row_part(flow, &relation);
	struct flow_closed *closed = need(&groups->closed, groups->n_closed, sizeof(*closed));
	struct row *row = group->first;
	u64 end_ns = 0;

	*closed =
		(struct flow_closed){ .first = groups->n_rows, .n_rows = n, .number = row->number };
	closed->session.start_ns = flow_real_time(flow, part, flow_time_of(row->values));
	for (u64 i = 0; i < n; i++, row = row->next) {
		*(struct row **)need(&groups->rows, groups->n_rows++, sizeof(row)) = row;
		end_ns = flow_time_of(row->values);
	}
	closed->session.end_ns = flow_real_time(flow, part, end_ns);
	groups->n_closed++;
	group->n_fresh = 0;
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

static void close_session(struct flow *flow, struct flow_group *group)
{
	emit(flow, group, group->n_rows);
	drop_rows(&flow->groups, group, group->n_rows);
	remove_group(&flow->groups, group);
}

/* Sessions whose next row, were it at this time, would be another session's. */
static void expire(struct flow *flow, u64 now_ns)
{
	struct flow_group *group = flow->groups.oldest;

	while (group && now_ns > group->last_ns &&
	       now_ns - group->last_ns > flow->cut->window.size) {
		struct flow_group *newer = group->newer;

		close_session(flow, group);
		group = newer;
	}
}

static void add_row(struct flow *flow, struct row_pool *pool, struct row *row)
{
	const struct cut_window *window = &flow->cut->window;
	struct flow_groups *groups = &flow->groups;
	u64 time_ns = flow_time_of(row->values), n_dropped;
	struct flow_group *group;

	if (window->kind == WINDOW_SESSION)
		expire(flow, time_ns);
	group = find_group(flow, row);
	group->last_ns = time_ns;
	if (group->n_skip) {
		row_pool_give(pool, row);
		flow->n_other_events++;
		if (!--group->n_skip)
			remove_group(groups, group);
		return;
	}
	row->next = NULL;
	row->number = groups->n_taken++;
	if (group->n_rows)
		group->last->next = row;
	else
		group->first = row;
	group->last = row;
	group->n_rows++;
	group->n_fresh++;
	if (window->kind == WINDOW_SESSION || group->n_rows < window->size)
		return;
	n_dropped = MIN(window->advance, window->size);
	emit(flow, group, window->size);
	drop_rows(groups, group, n_dropped);
	group->n_skip = window->advance - n_dropped;
	if (!group->n_rows && !group->n_skip)
		remove_group(groups, group);
}

static void emit_open(struct flow *flow)
{
	struct flow_groups *groups = &flow->groups;

	for (struct flow_group *group = groups->oldest; group; group = group->newer)
		if (group->n_rows && group->n_fresh)
			emit(flow, group, group->n_rows);
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

/* Rows of a window are numbered 1, 2, ...: the same places for all. */
static const struct relation_place *places_of(struct flow_groups *groups, u64 n)
{
	for (; groups->n_places < n; groups->n_places++) {
		struct relation_place *place =
			need(&groups->places, groups->n_places, sizeof(*place));

		*place = (struct relation_place){ 0, (u32)(groups->n_places + 1) };
	}
	return groups->places.at;
}

static int give_window(struct flow *flow, const struct flow_closed *closed, bool is_last)
{
	struct flow_groups *groups = &flow->groups;
	struct account account;
	struct relation *relation;

	flow_row_part(flow, &relation);
	relation_set_rows(relation, (struct row **)groups->rows.at + closed->first, closed->n_rows);
	relation->places = places_of(groups, closed->n_rows);
	relation->sessions = &closed->session;
	is_last |= flow->is_last_window;
	if (is_last)
		flow_finish_rows(flow);
	flow_account_rows(flow, closed->n_rows, &account);
	return flow_give(flow, closed->session.start_ns, closed->session.end_ns, &account, true,
			 is_last);
}

/* The end of a run whose windows were all given. */
static int give_end(struct flow *flow)
{
	struct account account;

	flow_account_rows(flow, 0, &account);
	return flow_give(flow, flow->last_ns, flow->last_ns, &account, false, true);
}

static int give(struct flow *flow, bool is_end)
{
	struct flow_groups *groups = &flow->groups;
	struct relation *relation;
	struct flow_part *part = flow_row_part(flow, &relation);
	u64 n = groups->n_closed;
	int err = 0;

	if (flow->cut->window.kind == WINDOW_SESSION)
		sort_closed(groups);
	for (u64 i = 0; i < n && !err && !flow->is_ended; i++)
		err = give_window(flow, (struct flow_closed *)groups->closed.at + i,
				  is_end && i == n - 1);
	if (!err && is_end && !n)
		err = give_end(flow);
	relation_set_rows(relation, NULL, 0);
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
	struct relation *relation;
	struct flow_part *part = flow_row_part(flow, &relation);
	struct row **rows = row_fifo_rows(&part->queue);

	for (u64 i = 0; i < part->queue.n; i++)
		add_row(flow, &part->pool, rows[i]);
	row_fifo_drop(&part->queue, part->queue.n);
	if (flow->cut->window.kind == WINDOW_SESSION)
		expire(flow, before_ns);
	if (is_end)
		emit_open(flow);
	return flow->groups.n_closed || is_end ? give(flow, is_end) : 0;
}
