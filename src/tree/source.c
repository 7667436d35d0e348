/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Rows of a part in the order of their times.  Here: those that the kernel part streams
 * complete, and the counters of both kinds; scans.c makes rows of bare scans.
 */
#include "tree/tree.h"

#include <errno.h>
#include <string.h>

#include "lite/lite.h"
#include "tree/internal.h"

/* Of records that wait for the end of their window. */
#define QUEUE_BYTES_MAX (4ull << 30)

/* From which to which position of the ring. */
struct gap {
	u64 from, to;
};

struct row_source {
	const struct cut_part *part;
	struct load_state *load;
	const struct phys *phys;
	const struct plan *project;
	struct diags *diags;
	struct row_scans *scans; /* NULL: rows come complete */
	struct stream_reader stream;
	struct meter meter;
	struct row_queue queue;
	u32 time_bytes;		       /* offset of the time in a record */
	struct region values, origins; /* of the rows handed out */
	u64 flip, newest_ns;	       /* how many were made; the latest time before the last */
	struct value *decoded;	       /* one row */
	bool is_finished;
	struct account left; /* starts that never ended, still to be told */
	struct account user; /* of the tree, what was told */
	/* What was counted up to the latest flip, still to be told; of it, what was told before. */
	struct account flipped, repeated;
	bool is_read_at_flips; /* what no copy holds, too */
	/* Of each copy, since it came into use: what was counted, and the records that were read.
	 */
	struct account counted[STATE_COPIES];
	u64 n_read[STATE_COPIES];
	bool has_unread; /* at a flip a program was stuck, and its record too */
	/* Bare scans: where a row may be missing before each row, and how often that was. */
	struct gap full_at, left_at;
	struct gaps gaps;
	u32 most_bytes; /* that a row takes */
};

static bool open_kernel(struct row_source *s)
{
	int err;

	s->phys = s->load->phys;
	meter_open(&s->meter, s->load);
	err = stream_open(&s->stream, s->load);
	if (err)
		diag_failure(s->diags, "run-start", "cannot make room for rows: %s" HINT "%s",
			     strerror(-err), diag_machine_hint(-err) ?: "");
	return !err;
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
	for (u32 i = 0; load && i < s->phys->n_sources; i++)
		s->most_bytes = MAX(s->most_bytes, s->phys->sources[i].row_bytes);
	s->most_bytes = ALIGN_UP(s->most_bytes, 8) + BPF_RINGBUF_HDR_SZ;
	s->scans = row_scans_open(part, s->load ? s->load->hooks : NULL, s->phys, &s->queue, cancel,
				  arena, diags);
	if (!s->scans) {
		row_source_close(s);
		return NULL;
	}
	s->meter.is_lasting = row_tree_goes_on(s->scans->tree);
	return s;
}

void row_source_close(struct row_source *s)
{
	row_scans_close(s->scans);
	stream_close(&s->stream);
	queue_free(&s->queue);
	region_free(&s->values);
	region_free(&s->origins);
}

/*
 * Before which flip it was: all from before the latest are here, and none is from behind the
 * next one, so it is the next, or the one behind it while that one is under way.
 */
static u64 flip_of(const struct row_source *s, const u8 *record)
{
	return s->flip + 1 + ((stream_copy(s->phys, record) ^ s->flip) & 1);
}

/*
 * Rows that found no room came when the ring had less than what one takes or, seen late, before it
 * was read last.  What takes its place behind *ret_end waits for the next look.
 */
static void look_for_gaps(struct row_source *s, u64 *ret_end)
{
	struct account now = { 0 };

	*ret_end = stream_written(&s->stream);
	meter_peek_slices(&s->meter, &now);
	if (now.lost[LOSS_RING_FULL] == s->meter.n_full)
		return;
	s->meter.n_full = now.lost[LOSS_RING_FULL];
	s->gaps.full++;
	if (s->full_at.to <= s->stream.position)
		s->full_at.from = s->stream.position + s->stream.mask - s->most_bytes;
	s->full_at.to = stream_written(&s->stream);
}

void row_source_left(struct row_source *s)
{
	if (!s->scans || !s->stream.producer)
		return;
	/* More than one gap ahead of what was read last: each row between them is by itself. */
	if (s->left_at.to < s->stream.position)
		s->left_at.from = stream_written(&s->stream);
	s->left_at.to = stream_written(&s->stream);
}

static bool is_in_gap(const struct row_source *s, const struct gap *gap, u64 before)
{
	return s->stream.position > gap->from && before <= gap->to;
}

int row_source_poll(struct row_source *s)
{
	u64 time_ns, flip, end = UINT64_MAX, before;
	const u8 *record;
	u32 n_bytes;

	queue_trim(&s->queue);
	if (s->scans && s->stream.producer)
		look_for_gaps(s, &end);
	while ((before = s->stream.position) < end &&
	       (record = stream_next(&s->stream, &n_bytes))) {
		s->gaps.full += is_in_gap(s, &s->full_at, before);
		s->gaps.left += is_in_gap(s, &s->left_at, before);
		memcpy(&time_ns, record + s->time_bytes, sizeof(time_ns));
		flip = flip_of(s, record);
		if (flip == s->flip + 1)
			s->newest_ns = MAX(s->newest_ns, time_ns);
		s->n_read[stream_copy(s->phys, record)]++;
		if (!queue_push(&s->queue, record, n_bytes, time_ns, flip, s->gaps))
			return -ENOMEM;
	}
	stream_release(&s->stream);
	if (s->queue.used_bytes <= QUEUE_BYTES_MAX)
		return 0;
	diag_failure(s->diags, "too-many-rows", "the rows of events take more than %llu MiB",
		     (unsigned long long)QUEUE_BYTES_MAX >> 20);
	return -E2BIG;
}

void row_source_before_flip(struct row_source *s)
{
	s->is_read_at_flips = true;
	if (s->load)
		meter_before_flip(&s->meter);
}

static void take_copy(struct row_source *s, u64 copy, struct account *to)
{
	struct account now = { 0 };

	meter_take_copy(&s->meter, copy, &now);
	account_add(&s->counted[copy], &now);
	account_add(to, &now);
}

/* The copy is used no more, and its rows are here. */
static void check_copy(struct row_source *s, u64 copy)
{
	if (!s->scans)
		meter_check_ends(&s->meter, &s->counted[copy]);
	if (!s->has_unread)
		meter_check_rows(&s->counted[copy], s->n_read[copy]);
	s->counted[copy] = (struct account){ 0 };
	s->n_read[copy] = 0;
}

int row_source_flipped(struct row_source *s, u64 *ret_before_ns)
{
	u64 end = s->stream.producer ? stream_written(&s->stream) : 0, copy = s->load->epoch ^ 1;
	int err = row_source_poll(s);
	struct account repeated, counted = { 0 };

	s->has_unread |= err || s->stream.position < end;
	take_copy(s, copy, &counted);
	account_add(&s->flipped, &counted);
	check_copy(s, copy);
	if (s->is_read_at_flips) {
		meter_behind_flip(&s->meter, &s->flipped, &repeated);
		account_add(&s->repeated, &repeated);
		if (s->scans && s->meter.is_lasting)
			s->meter.between.lost[LOSS_RING_FULL] += counted.lost[LOSS_RING_FULL];
	}
	*ret_before_ns = s->newest_ns + 1 + (s->scans ? s->scans->clock_offset_ns : 0);
	s->flip++;
	if (s->scans)
		row_tree_flipped(s->scans->tree, s->flip);
	return err;
}

void row_source_go_on(struct row_source *s)
{
	if (s->load && s->is_read_at_flips)
		meter_go_on(&s->meter);
}

int row_source_skip(struct row_source *s)
{
	int err = row_source_poll(s);

	queue_skip(&s->queue, s->flip ? s->flip : UINT64_MAX);
	return err;
}

/* --- Rows that come complete --- */

static void read_row(struct row_source *s, const u8 *record, struct value *ret_row)
{
	const s32 *columns = s->phys->item_columns;

	stream_decode(s->load->hooks, s->phys, NULL, record, s->decoded);
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
		((struct row_origin *)s->origins.at)[n] = (struct row_origin){ entry->flip, 0 };
		read_row(s, queue_take(&s->queue),
			 (struct value *)s->values.at + (size_t)n * n_columns);
		n++;
	}
	*ret_rows = s->values.at;
	return n;
}

s64 row_source_read(struct row_source *s, u64 before_ns, u32 limit, const struct value **ret_rows,
		    const struct row_origin **ret_origins)
{
	int err = row_source_poll(s);

	*ret_rows = NULL;
	if (!err && !region_need(&s->origins, limit * sizeof(struct row_origin)))
		err = -ENOMEM;
	*ret_origins = s->origins.at;
	if (err)
		return err;
	if (s->scans)
		return row_scans_read(s->scans, before_ns, limit, ret_rows, s->origins.at);
	return read_kernel(s, before_ns, limit, ret_rows);
}

bool row_source_peek(struct row_source *s, u64 *ret_time_ns)
{
	const struct queue_entry *first = queue_first(&s->queue, UINT64_MAX);

	if (s->scans)
		return row_scans_peek(s->scans, ret_time_ns);
	if (first)
		*ret_time_ns = first->time_ns;
	return first;
}

bool row_source_span(const struct row_source *s, u64 *ret_first_ns, u64 *ret_last_ns)
{
	bool has_span = false;

	for (u32 i = 0; s->scans && i < s->scans->slots.n_sources; i++) {
		const struct row_file *rows = s->scans->slots.sources[i].file;
		const struct file *file = rows ? rows->file : NULL;
		u64 last_ns;

		if (!file || !file->has_rows)
			continue;
		last_ns = MIN(file->last_ns, UINT64_MAX - 1);
		*ret_first_ns = has_span ? MIN(*ret_first_ns, file->first_ns) : file->first_ns;
		*ret_last_ns = has_span ? MAX(*ret_last_ns, last_ns) : last_ns;
		has_span = true;
	}
	return has_span;
}

/* --- Counters --- */

bool row_source_goes_on(const struct row_source *s)
{
	return s->meter.is_lasting;
}

u64 row_source_newest(const struct row_source *s)
{
	return s->scans ? s->scans->newest_ns : UINT64_MAX;
}

void row_source_account(struct row_source *s, bool is_all, struct account *account,
			struct account *ret_repeated)
{
	struct account now = s->flipped;

	*ret_repeated = s->repeated;
	s->flipped = s->repeated = (struct account){ 0 };
	if (s->load) {
		for (u32 copy = 0; is_all && copy < STATE_COPIES; copy++)
			take_copy(s, copy, &now);
		if (is_all || !s->is_read_at_flips) {
			meter_take_starts(&s->meter, &now);
			meter_take_missed(&s->meter, &now);
		}
		/* Of scans: what their events come to is counted here.  And no row comes of what
		 * found no room. */
		if (s->scans)
			now.events = now.matched = 0;
		else
			now.matched -= now.lost[LOSS_RING_FULL];
		/* Hooks are detached one by one: what finds no partner meanwhile is no news. */
		if (s->is_finished) {
			memset(now.unpaired, 0, sizeof(now.unpaired));
			now.lost[LOSS_UNPAIRED] = 0;
		}
	}
	account_add(account, &now);
	if (s->scans) {
		row_tree_account(s->scans->tree, &now);
		now.lost[LOSS_FAULT] += s->scans->sql.context.n_faults;
		for (u32 i = 0; i < UNPAIRED_N; i++)
			now.lost[LOSS_UNPAIRED] += now.unpaired[i];
		account_subtract(&now, &s->user);
		account_add(&s->user, &now);
		if (s->load)
			meter_doubt_ends(&s->meter, &now);
		account_add(account, &now);
	}
	account_add(account, &s->left);
	s->left = (struct account){ 0 };
}

int row_source_finish(struct row_source *s, u64 before_ns)
{
	u64 n;

	if (s->is_finished)
		return 0;
	s->is_finished = true;
	if (!s->scans)
		return meter_add_waiting(&s->meter, before_ns, &s->left);
	n = row_tree_waiting(s->scans->tree, s->part->has_files ? UINT64_MAX : before_ns);
	s->left.unpaired[UNPAIRED_NEVER_ENDED] = s->left.lost[LOSS_UNPAIRED] = n;
	return 0;
}

u32 row_source_n_operators(const struct row_source *s)
{
	return s->scans ? row_tree_n_operators(s->scans->tree) : 0;
}

void row_source_operator(const struct row_source *s, u32 i, struct row_operator *ret_operator)
{
	row_tree_operator(s->scans->tree, i, ret_operator);
}

struct meter *row_source_meter(struct row_source *s)
{
	return &s->meter;
}

const struct stream_reader *row_source_stream(const struct row_source *s)
{
	return &s->stream;
}
