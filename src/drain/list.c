/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Each read(2) of an iterator goes on with its walk: the kernel calls the program for one object
 * after the other until its buffer (8 pages) has no room, and visits the object that found none
 * once more in the next one, so that each row is there once.  The walk is no snapshot: what comes
 * and goes meanwhile may be in it or not.
 */
#include "drain/list.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "drain/stream.h"
#include "sys/sys.h"

#define READ_BYTES (128u << 10)

void list_open(struct list_reader *reader, const struct load_hooks *hooks)
{
	*reader = (struct list_reader){ .hooks = hooks, .fd = -1 };
}

static u64 *counters(const struct list_reader *reader)
{
	return (u64 *)reader->hooks->states[0].state;
}

int list_begin(struct list_reader *reader)
{
	const struct phys *phys = reader->hooks->states[0].phys;

	sys_close(&reader->fd);
	reader->n_bytes = reader->at = 0;
	if (!region_need(&reader->bytes, READ_BYTES + phys->row_bytes) ||
	    !region_need(&reader->values, (phys->n_columns + 1) * sizeof(struct value)))
		return -ENOMEM;
	counters(reader)[COUNTER_EVENTS] = counters(reader)[COUNTER_FAULT] = 0;
	reader->fd = sys_iterator_open(reader->hooks->programs[0].link_fd);
	return MIN(reader->fd, 0);
}

/* 1: a row more at least; 0: the walk is over; -errno. */
static int read_on(struct list_reader *reader, u32 row_bytes)
{
	u8 *bytes = reader->bytes.at;

	reader->n_bytes -= reader->at;
	memmove(bytes, bytes + reader->at, reader->n_bytes);
	reader->at = 0;
	while (reader->n_bytes < row_bytes) {
		ssize_t n = read(reader->fd, bytes + reader->n_bytes, READ_BYTES);

		/* EAGAIN: a million objects without a row. */
		if (n < 0 && errno != EAGAIN && errno != EINTR)
			return -errno;
		if (n == 0)
			return 0;
		reader->n_bytes += (size_t)MAX(n, 0);
	}
	return 1;
}

int list_next(struct list_reader *reader, const struct value **ret_row)
{
	const struct phys *phys = reader->hooks->states[0].phys;
	const u8 *record;
	int got = 1;

	if (reader->n_bytes - reader->at < phys->row_bytes)
		got = read_on(reader, phys->row_bytes);
	if (got <= 0) {
		reader->n_objects = counters(reader)[COUNTER_EVENTS];
		reader->n_faults = counters(reader)[COUNTER_FAULT];
		sys_close(&reader->fd);
		return got;
	}
	record = (const u8 *)reader->bytes.at + reader->at;
	reader->at += phys->row_bytes;
	stream_decode(reader->hooks, phys, NULL, record, reader->values.at);
	*ret_row = reader->values.at;
	return 1;
}

void list_close(struct list_reader *reader)
{
	if (!reader->hooks)
		return;
	sys_close(&reader->fd);
	region_free(&reader->bytes);
	region_free(&reader->values);
}
