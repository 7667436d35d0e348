/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * ebql's JSON lines -> one cell per (fd, cpu) over all windows, to be compared by
 * equality with what the load generator did.  Reads as a stream: a run may print
 * gigabytes.  Checks on the way what holds within each batch and between batches.
 */
#ifndef EBQL_TESTS_FOLD_H
#define EBQL_TESTS_FOLD_H

#include "base/base.h"
#include "base/buf.h"

struct fold_cell {
	s64 fd, cpu; /* -1 where the rows have no such column */
	u64 calls, sum, min, max;
};

struct fold {
	struct fold_cell *cells; /* open addressing; calls == 0 is free */
	u32 n_cells, capacity;
	u64 n_rows, n_windows, n_partial;
	u64 calls, sum; /* over all rows, the (other) row included */
	u64 other_calls;
	u64 events, matched, lost; /* over all batches */
	u64 lost_ring_full, lost_table_full;
	u64 first_start_ns, last_end_ns, longest_window_ns;
	u64 first_time_ns;   /* the column "time" of the first row that has one */
	bool was_last;	     /* a batch said "last":true */
	bool has_all_events; /* asked for: the events of each batch are the calls of its rows */
	/* HOPPING: windows overlap, or leave gaps; those that were not given, being late. */
	u64 advance_ns, n_skipped;
	/* Of windows of time; where it is asked for, each must say how late it was, and no more. */
	u64 size_ns, most_merged;
	u64 n_merged;	 /* those that others stand for */
	char error[256]; /* the first thing that was wrong; empty: nothing */

	/* of the batch being read */
	u64 batch_rows, batch_calls;
	struct buf line; /* an incomplete line */
	u64 n_lines;
};

void fold_init(struct fold *fold);
void fold_free(struct fold *fold);
/* Any piece of ebql -o json output.  Rows have some of: fd cpu n s lo hi count time. */
void fold_feed(struct fold *fold, const char *bytes, size_t n);
/* The load generator's "fd cpu calls sum min max" and "total" lines. */
void fold_truth(struct fold *fold, const char *text);
/* The same fold without the key cpu or fd (as GROUP BY without it gives it). */
void fold_drop_keys(struct fold *fold, bool drop_fd, bool drop_cpu);
/* True when every cell is equal; else fold->error says the first that differs. */
bool fold_equals(struct fold *fold, const struct fold *truth);

#endif
