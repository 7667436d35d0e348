/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A ring of pieces of text, bounded in number and bytes.
 */
#include "watch/keep.h"

#include <errno.h>
#include <stdlib.h>

struct piece {
	struct piece *next;
	struct buf text;
	u64 n;
};

struct keep_ring {
	u64 n_most, n;
	size_t bytes;
	struct buf head, now;
	bool has_head;	  /* it is whole */
	bool is_head_due; /* it does not stand there yet */
	struct piece *first, **end;
};

struct keep_ring *keep_open(u64 n)
{
	struct keep_ring *ring = calloc(1, sizeof(*ring));

	if (!ring)
		return NULL;
	ring->n_most = n;
	ring->end = &ring->first;
	buf_init(&ring->head);
	buf_init(&ring->now);
	return ring;
}

static void drop_first(struct keep_ring *ring)
{
	struct piece *piece = ring->first;

	ring->first = piece->next;
	if (!ring->first)
		ring->end = &ring->first;
	ring->n -= piece->n;
	ring->bytes -= piece->text.n;
	buf_free(&piece->text);
	free(piece);
}

void keep_free(struct keep_ring *ring)
{
	if (!ring)
		return;
	while (ring->first)
		drop_first(ring);
	buf_free(&ring->head);
	buf_free(&ring->now);
	free(ring);
}

int keep_put(void *context, struct buf *buf)
{
	struct keep_ring *ring = context;
	struct buf *to = ring->has_head ? &ring->now : &ring->head;

	buf_put(to, buf->at, buf->n);
	buf_reset(buf);
	return to->is_cut ? -ENOMEM : 0;
}

void keep_end(struct keep_ring *ring, u64 n)
{
	struct piece *piece = ring->now.n ? calloc(1, sizeof(*piece)) : NULL;

	ring->is_head_due |= !ring->has_head;
	ring->has_head = true;
	if (!piece)
		return;
	piece->n = n;
	piece->text = ring->now;
	buf_init(&ring->now);
	*ring->end = piece;
	ring->end = &piece->next;
	ring->n += n;
	ring->bytes += piece->text.n;
	while (ring->first != piece &&
	       (ring->n - ring->first->n >= ring->n_most || ring->bytes > KEEP_BYTES))
		drop_first(ring);
}

void keep_begin_again(struct keep_ring *ring)
{
	ring->is_head_due = true;
}

u64 keep_take(struct keep_ring *ring, struct buf *buf)
{
	u64 n = ring->n;

	if (ring->is_head_due)
		buf_put(buf, ring->head.at, ring->head.n);
	ring->is_head_due = false;
	while (ring->first) {
		buf_put(buf, ring->first->text.at, ring->first->text.n);
		drop_first(ring);
	}
	return n;
}
