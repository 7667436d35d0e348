/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Rows of scans, from the ring buffer and from files, merged by time -> batches of tuples -> the
 * rows of the plan.  Where a part has both, the times of streams become those of
 * CLOCK_REALTIME, which files have, by the difference of the clocks at the start.
 */
#include <errno.h>
#include <string.h>
#include <strings.h>

#include "tree/internal.h"

#define MAX_IN_FLIGHT_DEFAULT 65536u /* that of the settings, which files have none of */

/* --- Opening --- */

static const struct file *file_of(const struct slot_source *s)
{
	const struct stream *stream = s->source->streams->streams.at[0];

	return stream->kind == STREAM_FILE ? stream->file : NULL;
}

static s32 file_column(const struct file *file, const struct expr *e)
{
	for (u32 i = 0; i < file->schema.n_columns; i++)
		if (e->name && strcasecmp(file->schema.columns[i].name, e->name) == 0)
			return (s32)i;
	return -1;
}

static bool open_file(struct row_scans *scans, struct slot_source *s, struct arena *arena)
{
	const struct file *file = file_of(s);
	u32 n = s->source->n_columns;

	s->file_columns = arena_array(arena, s32, n);
	for (u32 i = 1; i < n; i++)
		s->file_columns[i] = file_column(file, s->source->columns[i].expr);
	s->file = row_file_open(file, arena, scans->diags);
	return s->file;
}

static bool open_files(struct row_scans *scans, struct arena *arena)
{
	for (u32 i = 0; i < scans->slots.n_sources; i++) {
		struct slot_source *s = &scans->slots.sources[i];

		if (!file_of(s)) {
			scans->has_streams = true;
			continue;
		}
		scans->has_files = true;
		if (!open_file(scans, s, arena))
			return false;
	}
	return true;
}

struct row_scans *row_scans_open(const struct cut_part *part, const struct load_hooks *hooks,
				 const struct phys *phys, struct row_queue *queue,
				 const struct cancel *cancel, struct arena *arena,
				 struct diags *diags)
{
	struct row_scans *scans = arena_new(arena, struct row_scans);
	const struct plan *plan = phys ? phys->plan : part->plan;
	struct phys_source *sources = phys ? phys->sources : NULL;
	u32 n_sources = phys ? phys->n_sources : 0;

	scans->hooks = hooks;
	scans->phys = phys;
	scans->queue = queue;
	scans->diags = diags;
	scans->n_columns = part->columns.n_columns;
	if (!phys && !phys_scan_sources(plan, arena, diags, &sources, &n_sources))
		return NULL;
	scans->slots = (struct slots){ .arena = arena, .n_sources = n_sources };
	scans->slots.sources = arena_array(arena, struct slot_source, MAX(n_sources, 1u));
	for (u32 i = 0; i < n_sources; i++)
		scans->slots.sources[i].source = &sources[i];
	scans->sql = (struct row_sql){
		.cancel = cancel, .slots = &scans->slots, .diags = diags, .scratch = &scans->scratch
	};
	if (open_files(scans, arena)) {
		BUG_ON(scans->has_streams && !phys);
		if (scans->has_files && scans->has_streams)
			scans->clock_offset_ns = base_realtime_ns() - base_monotonic_ns();
		scans->tree =
			row_tree_open(plan, &scans->slots, &scans->sql, &scans->scratch,
				      phys ? phys->settings->max_in_flight : MAX_IN_FLIGHT_DEFAULT);
	}
	if (scans->tree)
		return scans;
	row_scans_close(scans);
	return NULL;
}

void row_scans_close(struct row_scans *scans)
{
	if (!scans)
		return;
	if (scans->tree)
		row_tree_close(scans->tree);
	for (u32 i = 0; i < scans->slots.n_sources; i++)
		row_file_close(scans->slots.sources[i].file);
	scratch_free(&scans->scratch);
}

/* --- Rows of scans --- */

/* Row n of the batch, an event of s: *ret_slots are those of the source, cleared. */
static int new_row(struct row_scans *scans, const struct slot_source *s, u64 time_ns, u32 n,
		   struct value **ret_slots)
{
	size_t n_bytes = sizeof(struct tuple) + scans->slots.n_slots * sizeof(struct value);
	struct tuple *t = scratch_alloc(&scans->scratch, n_bytes);

	if (!t)
		return -ENOMEM;
	memset(t, 0, n_bytes);
	t->seq = scans->n_seen++;
	t->time_ns = scans->newest_ns = time_ns;
	t->gaps = scans->gaps;
	scans->tuples[n] = t;
	scans->sources[n] = (u32)(s - scans->slots.sources);
	*ret_slots = &t->slots[s->first];
	return 0;
}

static int take_record(struct row_scans *scans, u32 n)
{
	const struct queue_entry *entry = queue_first(scans->queue, UINT64_MAX);
	u64 time_ns = entry->time_ns + scans->clock_offset_ns, flip = entry->flip;
	u32 n_bytes = entry->n_bytes;
	u8 *record = scratch_alloc(&scans->scratch, n_bytes);
	const struct slot_source *s;
	struct value *slots;
	int err;

	if (!record)
		return -ENOMEM;
	scans->gaps = entry->gaps;
	memcpy(record, queue_take(scans->queue), n_bytes);
	s = slots_source(&scans->slots, stream_source(record));
	err = new_row(scans, s, time_ns, n, &slots);
	if (err)
		return err;
	scans->tuples[n]->flip = flip;
	stream_decode(scans->hooks, scans->phys, s->source, record, slots);
	slots[0].integer = time_ns;
	return 0;
}

static int take_file_row(struct row_scans *scans, struct slot_source *s, const struct value *row,
			 u64 time_ns, u32 n)
{
	struct value *slots;
	int err = new_row(scans, s, time_ns, n, &slots);

	if (err)
		return err;
	slots[0] = (struct value){ .kind = VALUE_INT, .integer = time_ns };
	for (u32 i = 1; i < s->source->n_columns; i++) {
		if (s->file_columns[i] < 0)
			continue;
		slots[i] = row[s->file_columns[i]];
		if (slots[i].kind == VALUE_TEXT && slots[i].n) {
			char *text = scratch_alloc(&scans->scratch, slots[i].n);

			if (!text)
				return -ENOMEM;
			memcpy(text, slots[i].text, slots[i].n);
			slots[i].text = text;
		}
	}
	row_file_next(s->file);
	return 0;
}

/*
 * Of two rows of one time: is this one before the best so far?  Scans of one file go over its
 * rows in step: two rows are two events, each of which all scans see before the next one.  Of
 * different files the partners of an ASOF join come before those that look for them.
 */
static bool is_tie_won(const struct slot_source *s, const struct slot_source *best)
{
	if (strcmp(file_of(s)->path, file_of(best)->path) == 0)
		return s->file->position < best->file->position;
	return s->n_asof > best->n_asof;
}

/* The file with the next row. */
static int next_file(struct row_scans *scans, struct slot_source **ret_source,
		     const struct value **ret_row, u64 *ret_time_ns)
{
	*ret_source = NULL;
	for (u32 i = 0; scans->has_files && i < scans->slots.n_sources; i++) {
		struct slot_source *s = &scans->slots.sources[i], *best = *ret_source;
		const struct value *row;
		bool is_first;
		u64 time_ns;
		int got;

		if (!s->file)
			continue;
		got = row_file_peek(s->file, &row, &time_ns);
		if (got < 0)
			return got;
		if (!got)
			continue;
		is_first = !best || time_ns < *ret_time_ns ||
			   (time_ns == *ret_time_ns && is_tie_won(s, best));
		if (!is_first)
			continue;
		*ret_source = s;
		*ret_row = row;
		*ret_time_ns = time_ns;
	}
	return 0;
}

/* Up to `limit` rows of scans from before that time, in order; their number or -errno. */
static int gather(struct row_scans *scans, u64 before_ns, u32 limit)
{
	u64 stream_before_ns =
		before_ns == UINT64_MAX ? before_ns : before_ns - scans->clock_offset_ns;
	int err = 0;
	u32 n = 0;

	for (; n < limit && n < SCANS_BATCH_ROWS && !err; n++) {
		const struct queue_entry *entry = queue_first(scans->queue, stream_before_ns);
		struct slot_source *s;
		const struct value *row;
		u64 time_ns;

		err = next_file(scans, &s, &row, &time_ns);
		if (err)
			return err;
		if (s && time_ns >= before_ns && before_ns != UINT64_MAX)
			s = NULL;
		if (entry && (!s || entry->time_ns + scans->clock_offset_ns <= time_ns))
			err = take_record(scans, n);
		else if (s)
			err = take_file_row(scans, s, row, time_ns, n);
		else
			break;
	}
	return err ? err : (int)n;
}

/* --- Rows of the plan --- */

/*
 * Goes on until there are rows to hand out; 1, 0: none now, -errno.  A row of a scan makes one
 * row of the plan at most: no more are taken than are asked for, so that what nobody reads cannot
 * fail.
 */
static int next_rows(struct row_scans *scans, u64 before_ns, u32 limit)
{
	int n = 0;

	while (!scans->err && scans->at == scans->n_rows) {
		scans->at = scans->n_rows = 0;
		scratch_reset(&scans->scratch);
		n = gather(scans, before_ns, limit);
		if (n == 0)
			return 0;
		scans->err =
			n < 0 ? n
			      : row_tree_run(scans->tree, scans->tuples, scans->sources, (u32)n,
					     &scans->rows, &scans->triggers, &scans->n_rows);
	}
	return scans->err ? scans->err : 1;
}

static u64 time_of(const struct row_scans *scans, u32 row)
{
	const struct value *time = &scans->rows[(size_t)row * scans->n_columns];

	return time->kind == VALUE_INT ? (u64)time->integer : 0;
}

s64 row_scans_read(struct row_scans *scans, u64 before_ns, u32 limit, const struct value **ret_rows,
		   struct row_origin *ret_origins)
{
	int got = next_rows(scans, before_ns, limit);
	u32 n = 0;

	if (got <= 0)
		return got;
	*ret_rows = scans->rows + (size_t)scans->at * scans->n_columns;
	while (n < limit && scans->at < scans->n_rows &&
	       (time_of(scans, scans->at) < before_ns || before_ns == UINT64_MAX)) {
		const struct tuple *t = scans->triggers[scans->at++];

		ret_origins[n++] = (struct row_origin){ t->flip, t->n_faults };
	}
	return n;
}

bool row_scans_peek(struct row_scans *scans, u64 *ret_time_ns)
{
	int got;

	/* Rows of streams are not final before their time has passed. */
	if (scans->at == scans->n_rows && scans->has_streams)
		return false;
	got = next_rows(scans, UINT64_MAX, SCANS_BATCH_ROWS);
	/* An error is there to be read. */
	*ret_time_ns = got > 0 ? time_of(scans, scans->at) : 0;
	return got != 0;
}
