/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Rows of a part in the order of their times.  Here: those that the kernel part streams
 * complete, and the counters of both kinds; raw.c makes rows of bare scans.
 */
#include "tree/tree.h"

#include <errno.h>
#include <string.h>

#include "drain/drain.h"
#include "lite/lite.h"
#include "tree/internal.h"

/* Of records that wait for the end of their window. */
#define QUEUE_BYTES_MAX (4ull << 30)

struct row_source {
	const struct cut_part *part;
	struct load_state *load;
	const struct phys *phys;
	const struct plan *project;
	struct diags *diags;
	struct row_raw *raw; /* NULL: rows come complete */
	struct stream_reader stream;
	struct meter meter;
	struct row_queue queue;
	u32 time_bytes;		     /* offset of the time in a record */
	struct region values, flips; /* of the rows handed out */
	u64 flip, newest_ns;	     /* how many were made; the latest time before the last */
	struct value *decoded;	     /* one row */
	bool has_kernel;
	bool is_finished, is_told; /* what waits at the end */
	u64 accounted_ns;    /* CLOCK_MONOTONIC, of the last row_source_account(); 0: none yet */
	u64 n_waiting;	     /* starts that never ended, still to be told */
	struct account user; /* of row_raw_account(), what was told */
};

static struct row_source *open_kernel(struct row_source *s)
{
	int err = 0;

	s->phys = s->load->phys;
	meter_open(&s->meter, s->load);
	s->has_kernel = true;
	/* No ring buffer: no program names it, when WHERE is never true. */
	if (s->load->map_fds[LOAD_MAP_RING] >= 0)
		err = stream_open(&s->stream, s->phys, s->load->map_fds[LOAD_MAP_RING]);
	if (!err)
		return s;
	diag_failure(s->diags, "run-start", "cannot make room for rows: %s", strerror(-err));
	return NULL;
}

struct row_source *row_source_open(const struct cut_part *part, struct load_state *load,
				   const struct cancel *cancel, struct arena *arena,
				   struct diags *diags)
{
	struct row_source *s = arena_new(arena, struct row_source);

	s->part = part;
	s->load = load;
	s->diags = diags;
	s->project = plan_find(part->plan, PLAN_PROJECT);
	BUG_ON(part->columns.n_columns != s->project->project.n_items);
	if (load && !open_kernel(s))
		return NULL;
	if (part->is_kernel) {
		BUG_ON(s->phys->item_columns[0] < 0);
		s->time_bytes = s->phys->columns[s->phys->item_columns[0]].bytes_offset;
		s->decoded = arena_array(arena, struct value, MAX(s->phys->n_columns, 1u));
		return s;
	}
	BUG_ON(load && !s->phys->only_scans);
	s->time_bytes = 2 * sizeof(u64); /* columns[0] of every source */
	s->raw = row_raw_open(part, s->phys, cancel, arena, diags);
	if (s->raw)
		return s;
	row_source_close(s);
	return NULL;
}

void row_source_close(struct row_source *s)
{
	row_raw_close(s->raw);
	stream_close(&s->stream);
	queue_free(&s->queue);
	region_free(&s->values);
	region_free(&s->flips);
}

/*
 * Before which flip it was: all from before the latest are here, and none is from behind the
 * next one, so it is the next, or the one behind it while that one is under way.
 */
static u64 flip_of(const struct row_source *s, const u8 *record)
{
	return s->flip + 1 + ((stream_copy(s->phys, record) ^ s->flip) & 1);
}

int row_source_poll(struct row_source *s)
{
	const u8 *record;
	u64 time_ns, flip;
	u32 n_bytes;

	queue_trim(&s->queue);
	while ((record = stream_next(&s->stream, &n_bytes))) {
		memcpy(&time_ns, record + s->time_bytes, sizeof(time_ns));
		flip = flip_of(s, record);
		if (flip == s->flip + 1)
			s->newest_ns = MAX(s->newest_ns, time_ns);
		if (!queue_push(&s->queue, record, n_bytes, time_ns, flip))
			return -ENOMEM;
	}
	stream_release(&s->stream);
	if (s->queue.used_bytes <= QUEUE_BYTES_MAX)
		return 0;
	diag_failure(s->diags, "too-many-rows", "the rows of events take more than %llu MiB",
		     (unsigned long long)QUEUE_BYTES_MAX >> 20);
	return -E2BIG;
}

int row_source_flipped(struct row_source *s, u64 *ret_before_ns)
{
	int err = row_source_poll(s);

	*ret_before_ns = s->raw ? row_raw_time(s->raw, s->newest_ns + 1) : s->newest_ns + 1;
	s->flip++;
	if (s->raw)
		row_raw_flipped(s->raw, s->flip);
	return err;
}

/* --- Rows that come complete --- */

static void read_row(struct row_source *s, const u8 *record, struct value *ret_row)
{
	const s32 *columns = s->phys->item_columns;

	stream_decode(s->phys, NULL, record, s->decoded);
	for (u32 i = 0; i < s->project->project.n_items; i++)
		ret_row[i] = columns[i] < 0 ? lite_constant(s->project->project.items[i].expr)
					    : s->decoded[columns[i]];
}

static s64 read_kernel(struct row_source *s, u64 before_ns, u32 limit,
		       const struct value **ret_rows)
{
	u32 n_columns = s->project->project.n_items, n = 0;
	const struct queue_entry *entry;

	while (n < limit && (entry = queue_first(&s->queue, before_ns))) {
		if (!region_need(&s->values, (n + 1ull) * n_columns * sizeof(struct value)))
			return -ENOMEM;
		((u64 *)s->flips.at)[n] = entry->flip;
		read_row(s, queue_take(&s->queue),
			 (struct value *)s->values.at + (size_t)n * n_columns);
		n++;
	}
	*ret_rows = s->values.at;
	return n;
}

s64 row_source_read(struct row_source *s, u64 before_ns, u32 limit, const struct value **ret_rows,
		    const u64 **ret_flips)
{
	int err = row_source_poll(s);

	*ret_rows = NULL;
	if (!err && !region_need(&s->flips, limit * sizeof(u64)))
		err = -ENOMEM;
	*ret_flips = s->flips.at;
	if (err)
		return err;
	if (s->raw)
		return row_raw_read(s->raw, &s->queue, before_ns, limit, ret_rows, s->flips.at);
	return read_kernel(s, before_ns, limit, ret_rows);
}

bool row_source_peek(struct row_source *s, u64 *ret_time_ns)
{
	const struct queue_entry *first = queue_first(&s->queue, UINT64_MAX);

	if (s->raw)
		return row_raw_peek(s->raw, &s->queue, ret_time_ns);
	if (first)
		*ret_time_ns = first->time_ns;
	return first;
}

bool row_source_span(const struct row_source *s, u64 *ret_first_ns, u64 *ret_last_ns)
{
	return s->raw && row_raw_span(s->raw, ret_first_ns, ret_last_ns);
}

/* --- Counters --- */

void row_source_account(struct row_source *s, bool is_all, struct account *account)
{
	struct account now = { 0 };

	if (s->has_kernel) {
		meter_take_copy(&s->meter, s->load->epoch ^ 1, &now);
		if (is_all)
			meter_take_copy(&s->meter, s->load->epoch, &now);
		meter_take_starts(&s->meter, &now);
		meter_take_missed(&s->meter, &now);
		/* Of scans: what their events come to is counted here. */
		if (s->raw)
			now.events = now.matched = 0;
		/* Hooks are detached one by one: what finds no partner meanwhile is no news. */
		if (s->is_finished) {
			memset(now.unpaired, 0, sizeof(now.unpaired));
			now.lost[LOSS_UNPAIRED] = 0;
		}
	}
	account_add(account, &now);
	if (s->raw) {
		row_raw_account(s->raw, &now);
		account_add(account, &now);
		account_subtract(account, &s->user);
		s->user = now;
	}
	account->unpaired[UNPAIRED_NEVER_ENDED] += s->n_waiting;
	account->lost[LOSS_UNPAIRED] += s->n_waiting;
	s->n_waiting = 0;
	if (!s->is_finished)
		s->accounted_ns = base_monotonic_ns();
}

/* Starts from before the last account: those that came while hooks were detached may not end. */
void row_source_finish(struct row_source *s)
{
	u64 before_ns = s->accounted_ns ? s->accounted_ns : UINT64_MAX;
	s64 n = 0;

	if (s->is_told)
		return;
	s->is_told = true;
	if (s->raw)
		n = (s64)row_raw_waiting(s->raw, s->part->has_files ? UINT64_MAX : before_ns);
	else if (s->phys->n_joins)
		n = pair_count_waiting(s->phys, s->load->pairs, s->load->map_fds[LOAD_MAP_PAIR],
				       before_ns);
	s->n_waiting = n > 0 ? (u64)n : 0;
	s->is_finished = s->accounted_ns != 0;
}
