/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Streamed rows and their account.
 */
#include "drain/events.h"

int events_open(struct events *events, struct load_state *load, u64 rows_limit)
{
	*events = (struct events){ .load = load, .rows_limit = rows_limit };
	meter_open(&events->meter, load);
	return stream_open(&events->stream, load);
}

void events_close(struct events *events)
{
	stream_close(&events->stream);
}

void events_skip(struct events *events)
{
	struct stream_reader *stream = &events->stream;
	u64 end = stream->producer ? stream_written(stream) : 0;
	u32 n_bytes;

	while (stream->position < end && stream_next(stream, &n_bytes))
		;
	stream_release(stream);
}

void events_restart(struct events *events)
{
	events->stream.copy = (s32)events->load->epoch;
	meter_take_starts(&events->meter, &events->account);
	meter_take_missed(&events->meter, &events->account);
	events->account = (struct account){ 0 };
}

/*
 * A full ring loses what comes later than all that it holds, and has room again
 * only when it was read.  So what was lost while the writer stood at a position is
 * missing behind the rows up to there: a query that has its LIMIT of rows before
 * that lost nothing it was to see.
 */
static u64 ring_full(struct events *events)
{
	if (events->rows_limit == UINT64_MAX || !events->stream.producer)
		return events->ring_full;
	if (events->n_rows >= events->rows_limit)
		return events->ring_full_before;
	if (events->stream.position >= events->ring_full_position) {
		events->ring_full_before = events->ring_full_marked;
		events->ring_full_marked = events->ring_full;
		events->ring_full_position = stream_written(&events->stream);
	}
	return events->ring_full;
}

static void take(struct events *events, u64 copy, bool has_missed)
{
	struct account *account = &events->account;

	account->lost[LOSS_RING_FULL] = events->ring_full;
	meter_take_copy(&events->meter, copy, account);
	meter_take_starts(&events->meter, account);
	if (has_missed)
		meter_take_missed(&events->meter, account);
	events->ring_full = account->lost[LOSS_RING_FULL];
}

void events_account(struct events *events, bool has_missed)
{
	/* Not switched before the end: it is the one in use. */
	if (!events->is_ended)
		take(events, events->load->epoch, has_missed);
	events->account.lost[LOSS_RING_FULL] = ring_full(events);
}

u32 events_read(struct events *events, const struct value **ret_rows)
{
	u64 n_faults = events->n_faults;
	u32 n = stream_read(&events->stream,
			    MIN(events->rows_limit - events->n_rows, STREAM_BATCH_ROWS));

	*ret_rows = events->stream.values.at;
	events->n_rows += n;
	for (u64 i = 0; i < (u64)n * events->load->phys->n_columns; i++)
		events->n_faults += (*ret_rows)[i].has_fault;
	events->account.lost[LOSS_FAULT] += events->n_faults - n_faults;
	if (n)
		events_account(events, false);
	return n;
}

void events_end(struct events *events, bool is_switched)
{
	struct stream_reader *stream = &events->stream;
	u64 copy = events->load->epoch ^ is_switched;

	take(events, copy, true);
	events->is_ended = true;
	/* Else some rows are none of the run, or counted in the other copy. */
	events->is_whole = is_switched && stream->copy < 0;
	if (!is_switched || !stream->producer)
		return;
	stream->copy = (s32)copy;
	stream->end = stream_written(stream);
}

int events_finish(struct events *events, u64 before_ns)
{
	events_account(events, true);
	if (events->is_whole && events->rows_limit == UINT64_MAX)
		meter_check_rows(&events->account, events->n_rows);
	return meter_add_waiting(&events->meter, before_ns, &events->account);
}
