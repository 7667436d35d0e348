/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Raw rows of the ring buffer and of files, merged by time -> batches of tuples -> the
 * rows of the plan.  Where a part has both, the times of streams become those of
 * CLOCK_REALTIME, which files have, by the difference of the clocks at the start.
 */
#include <errno.h>
#include <string.h>
#include <strings.h>

#include "tree/internal.h"

#define BATCH_ROWS	      512u
#define MAX_IN_FLIGHT_DEFAULT 65536u /* that of the settings, which files have none of */

struct row_raw {
	const struct phys *phys; /* NULL: files alone */
	struct diags *diags;
	struct slots slots;
	struct row_sql sql;
	struct scratch scratch;
	struct row_tree *tree;
	bool has_files, has_streams;
	u64 clock_offset_ns; /* of files and streams together: what is added to a stream's time */
	u64 n_seen;
	struct tuple *tuples[BATCH_ROWS];
	u32 sources[BATCH_ROWS];
	/* Rows of the last batch, handed out up to `at`. */
	const struct value *rows;
	struct tuple *const *triggers;
	u32 n_columns, n_rows, at;
	int err;
};

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

static bool open_file(struct row_raw *raw, struct slot_source *s, struct arena *arena)
{
	const struct file *file = file_of(s);
	u32 n = s->source->n_columns;

	s->file_columns = arena_array(arena, s32, n);
	for (u32 i = 1; i < n; i++)
		s->file_columns[i] = file_column(file, s->source->columns[i].expr);
	s->file = row_file_open(file, arena, raw->diags);
	return s->file;
}

static bool open_files(struct row_raw *raw, struct arena *arena)
{
	for (u32 i = 0; i < raw->slots.n_sources; i++) {
		struct slot_source *s = &raw->slots.sources[i];

		if (!file_of(s)) {
			raw->has_streams = true;
			continue;
		}
		raw->has_files = true;
		if (!open_file(raw, s, arena))
			return false;
	}
	return true;
}

struct row_raw *row_raw_open(const struct cut_part *part, const struct phys *phys,
			     const struct cancel *cancel, struct arena *arena, struct diags *diags)
{
	struct row_raw *raw = arena_new(arena, struct row_raw);
	const struct plan *plan = phys ? phys->plan : part->plan;
	struct phys_source *sources = phys ? phys->sources : NULL;
	u32 n_sources = phys ? phys->n_sources : 0;

	raw->phys = phys;
	raw->diags = diags;
	raw->n_columns = part->columns.n_columns;
	if (!phys && !phys_scan_sources(plan, arena, diags, &sources, &n_sources))
		return NULL;
	slots_init(&raw->slots, plan, sources, n_sources, arena);
	raw->sql = (struct row_sql){
		.cancel = cancel, .slots = &raw->slots, .diags = diags, .scratch = &raw->scratch
	};
	if (open_files(raw, arena)) {
		BUG_ON(raw->has_streams && !phys);
		if (raw->has_files && raw->has_streams)
			raw->clock_offset_ns = base_realtime_ns() - base_monotonic_ns();
		raw->tree =
			row_tree_open(plan, &raw->slots, &raw->sql, &raw->scratch,
				      phys ? phys->settings->max_in_flight : MAX_IN_FLIGHT_DEFAULT);
	}
	if (raw->tree)
		return raw;
	row_raw_close(raw);
	return NULL;
}

void row_raw_close(struct row_raw *raw)
{
	if (!raw)
		return;
	if (raw->tree)
		row_tree_close(raw->tree);
	for (u32 i = 0; i < raw->slots.n_sources; i++)
		row_file_close(raw->slots.sources[i].file);
	scratch_free(&raw->scratch);
}

u64 row_raw_time(const struct row_raw *raw, u64 time_ns)
{
	return time_ns + raw->clock_offset_ns;
}

void row_raw_flipped(struct row_raw *raw, u64 flip)
{
	row_tree_flipped(raw->tree, flip);
}

/* --- Raw rows --- */

/* Row n of the batch, an event of s: *ret_slots are those of the source, cleared. */
static int new_row(struct row_raw *raw, const struct slot_source *s, u64 time_ns, u32 n,
		   struct value **ret_slots)
{
	size_t n_bytes = sizeof(struct tuple) + raw->slots.n_slots * sizeof(struct value);
	struct tuple *t = scratch_alloc(&raw->scratch, n_bytes);

	if (!t)
		return -ENOMEM;
	memset(t, 0, n_bytes);
	t->seq = raw->n_seen++;
	t->time_ns = time_ns;
	raw->tuples[n] = t;
	raw->sources[n] = (u32)(s - raw->slots.sources);
	*ret_slots = &t->slots[s->first];
	return 0;
}

static int take_record(struct row_raw *raw, struct row_queue *queue, u32 n)
{
	const struct queue_entry *entry = queue_first(queue, UINT64_MAX);
	u64 time_ns = row_raw_time(raw, entry->time_ns), flip = entry->flip;
	u32 n_bytes = entry->n_bytes;
	u8 *record = scratch_alloc(&raw->scratch, n_bytes);
	const struct slot_source *s;
	struct value *slots;
	int err;

	if (!record)
		return -ENOMEM;
	memcpy(record, queue_take(queue), n_bytes);
	s = slots_source(&raw->slots, stream_source(record));
	err = new_row(raw, s, time_ns, n, &slots);
	if (err)
		return err;
	raw->tuples[n]->flip = flip;
	stream_decode(raw->phys, s->source, record, slots);
	slots[0].integer = time_ns;
	return 0;
}

static int take_file_row(struct row_raw *raw, struct slot_source *s, const struct value *row,
			 u64 time_ns, u32 n)
{
	struct value *slots;
	int err = new_row(raw, s, time_ns, n, &slots);

	if (err)
		return err;
	slots[0] = (struct value){ .kind = VALUE_INT, .integer = time_ns };
	for (u32 i = 1; i < s->source->n_columns; i++) {
		if (s->file_columns[i] < 0)
			continue;
		slots[i] = row[s->file_columns[i]];
		if (slots[i].kind == VALUE_TEXT && slots[i].n) {
			char *text = scratch_alloc(&raw->scratch, slots[i].n);

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
		return row_file_position(s->file) < row_file_position(best->file);
	return s->n_asof > best->n_asof;
}

/* The file with the next row. */
static int next_file(struct row_raw *raw, struct slot_source **ret_source,
		     const struct value **ret_row, u64 *ret_time_ns)
{
	*ret_source = NULL;
	for (u32 i = 0; raw->has_files && i < raw->slots.n_sources; i++) {
		struct slot_source *s = &raw->slots.sources[i], *best = *ret_source;
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

/* Up to `limit` raw rows from before that time, in order; their number or -errno. */
static int gather(struct row_raw *raw, struct row_queue *queue, u64 before_ns, u32 limit)
{
	u64 stream_before_ns =
		before_ns == UINT64_MAX ? before_ns : before_ns - raw->clock_offset_ns;
	int err = 0;
	u32 n = 0;

	for (; n < limit && n < BATCH_ROWS && !err; n++) {
		const struct queue_entry *entry = queue_first(queue, stream_before_ns);
		struct slot_source *s;
		const struct value *row;
		u64 time_ns;

		err = next_file(raw, &s, &row, &time_ns);
		if (err)
			return err;
		if (s && time_ns >= before_ns && before_ns != UINT64_MAX)
			s = NULL;
		if (entry && (!s || row_raw_time(raw, entry->time_ns) <= time_ns))
			err = take_record(raw, queue, n);
		else if (s)
			err = take_file_row(raw, s, row, time_ns, n);
		else
			break;
	}
	return err ? err : (int)n;
}

/* --- Rows of the plan --- */

/*
 * Goes on until there are rows to hand out; 1, 0: none now, -errno.  A raw row makes one row of
 * the plan at most: no more are taken than are asked for, so that what nobody reads cannot fail.
 */
static int next_rows(struct row_raw *raw, struct row_queue *queue, u64 before_ns, u32 limit)
{
	int n = 0;

	while (!raw->err && raw->at == raw->n_rows) {
		raw->at = raw->n_rows = 0;
		scratch_reset(&raw->scratch);
		n = gather(raw, queue, before_ns, limit);
		if (n == 0)
			return 0;
		raw->err = n < 0 ? n
				 : row_tree_run(raw->tree, raw->tuples, raw->sources, (u32)n,
						&raw->rows, &raw->triggers, &raw->n_rows);
	}
	return raw->err ? raw->err : 1;
}

static u64 time_of(const struct row_raw *raw, u32 row)
{
	const struct value *time = &raw->rows[(size_t)row * raw->n_columns];

	return time->kind == VALUE_INT ? (u64)time->integer : 0;
}

s64 row_raw_read(struct row_raw *raw, struct row_queue *queue, u64 before_ns, u32 limit,
		 const struct value **ret_rows, u64 *ret_flips)
{
	int got = next_rows(raw, queue, before_ns, limit);
	u32 n = 0;

	if (got <= 0)
		return got;
	*ret_rows = raw->rows + (size_t)raw->at * raw->n_columns;
	while (n < limit && raw->at < raw->n_rows &&
	       (time_of(raw, raw->at) < before_ns || before_ns == UINT64_MAX)) {
		ret_flips[n++] = raw->triggers[raw->at++]->flip;
	}
	return n;
}

bool row_raw_peek(struct row_raw *raw, struct row_queue *queue, u64 *ret_time_ns)
{
	int got;

	/* Rows of streams are not final before their time has passed. */
	if (raw->at == raw->n_rows && raw->has_streams)
		return false;
	got = next_rows(raw, queue, UINT64_MAX, BATCH_ROWS);
	/* An error is there to be read. */
	*ret_time_ns = got > 0 ? time_of(raw, raw->at) : 0;
	return got != 0;
}

bool row_raw_span(const struct row_raw *raw, u64 *ret_first_ns, u64 *ret_last_ns)
{
	bool has_span = false;

	for (u32 i = 0; i < raw->slots.n_sources; i++) {
		const struct row_file *rows = raw->slots.sources[i].file;
		const struct file *file = rows ? row_file_of(rows) : NULL;
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

void row_raw_account(const struct row_raw *raw, struct account *ret_account)
{
	struct account *account = ret_account;

	*account = *row_tree_account(raw->tree);
	account->lost[LOSS_FAULT] += raw->sql.context.n_faults;
	for (u32 i = 0; i < UNPAIRED_N; i++)
		account->lost[LOSS_UNPAIRED] += account->unpaired[i];
}

u64 row_raw_waiting(const struct row_raw *raw, u64 before_ns)
{
	return row_tree_waiting(raw->tree, before_ns);
}
