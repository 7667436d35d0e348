/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Records in the order of their times.  They come nearly so: a time is read a little
 * before the record takes its place in the ring buffer, so few are ever moved.
 */
#include <string.h>

#include "tree/internal.h"

#define TRIM_MIN_BYTES 65536u

bool queue_push(struct row_queue *q, const void *record, u32 n_bytes, u64 time_ns, u64 flip,
		struct gaps gaps)
{
	struct queue_entry *entries;
	u32 at = q->n;

	if (!region_need(&q->bytes, q->used_bytes + n_bytes) ||
	    !region_need(&q->entries, (q->n + 1ull) * sizeof(*entries)))
		return false;
	entries = q->entries.at;
	while (at > q->head && entries[at - 1].time_ns > time_ns)
		at--;
	memmove(&entries[at + 1], &entries[at], (q->n - at) * sizeof(*entries));
	entries[at] = (struct queue_entry){ time_ns, flip, q->used_bytes, n_bytes, gaps };
	memcpy((u8 *)q->bytes.at + q->used_bytes, record, n_bytes);
	q->used_bytes += ALIGN_UP(n_bytes, 8);
	q->n++;
	return true;
}

const struct queue_entry *queue_first(const struct row_queue *q, u64 before_ns)
{
	const struct queue_entry *first;

	if (q->head == q->n)
		return NULL;
	first = (const struct queue_entry *)q->entries.at + q->head;
	if (first->time_ns >= before_ns && before_ns != UINT64_MAX)
		return NULL;
	return first;
}

const u8 *queue_take(struct row_queue *q)
{
	const struct queue_entry *entries = q->entries.at;

	return (const u8 *)q->bytes.at + entries[q->head++].offset_bytes;
}

void queue_skip(struct row_queue *q, u64 flip)
{
	struct queue_entry *entries = q->entries.at;
	u32 n = q->head;

	for (u32 i = q->head; i < q->n; i++)
		if (entries[i].flip > flip)
			entries[n++] = entries[i];
	q->n = n;
}

/* When half of it is free: what is moved then was paid for by what was taken. */
void queue_trim(struct row_queue *q)
{
	struct queue_entry *entries = q->entries.at;
	u64 lowest = q->used_bytes;

	if (q->head == q->n) {
		q->head = q->n = 0;
		q->used_bytes = 0;
		return;
	}
	if (q->used_bytes < TRIM_MIN_BYTES || q->head < q->n - q->head)
		return;
	for (u32 i = q->head; i < q->n; i++)
		lowest = MIN(lowest, entries[i].offset_bytes);
	for (u32 i = q->head; i < q->n; i++)
		entries[i].offset_bytes -= lowest;
	memmove(entries, entries + q->head, (q->n - q->head) * sizeof(*entries));
	memmove(q->bytes.at, (u8 *)q->bytes.at + lowest, q->used_bytes - lowest);
	q->used_bytes -= lowest;
	q->n -= q->head;
	q->head = 0;
}

void queue_free(struct row_queue *q)
{
	region_free(&q->bytes);
	region_free(&q->entries);
	q->head = q->n = 0;
	q->used_bytes = 0;
}
