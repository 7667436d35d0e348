/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * ebql's JSON lines -> their leaves, each with its path: {"h":{"cells":[[1,2,9]]}} gives
 * "h.cells[][]" three times, with 1, 2 and 9.  One line at a time; and the sums of what
 * all batches say of themselves.
 */
#ifndef EBQL_TESTS_READER_H
#define EBQL_TESTS_READER_H

#include "base/base.h"
#include "base/buf.h"

enum { READER_PATH_BYTES = 80, READER_TEXT_BYTES = 256 };

enum leaf_kind { LEAF_NULL, LEAF_INTEGER, LEAF_REAL, LEAF_TEXT, LEAF_BOOL };

struct leaf {
	enum leaf_kind kind;
	s128 integer; /* INTEGER, BOOL */
	double real;
	char path[READER_PATH_BYTES];
	char text[READER_TEXT_BYTES]; /* cut where longer */
};

/* A row, or a batch: the object under "_batch". */
struct line {
	struct leaf *leaves;
	u32 n, capacity;
	bool is_batch;
};

/* The first leaf with this path, or NULL. */
const struct leaf *line_leaf(const struct line *line, const char *path);
/* Its integer, or 0 where there is none. */
u64 line_number(const struct line *line, const char *path);
const char *line_text(const struct line *line, const char *path);

/* What batches say, summed up over all of them. */
struct reader_totals {
	u64 n_batches, n_rows, events, matched;
	u64 n_merged;	    /* windows that others stand for */
	u64 lost, unpaired; /* all kinds; lost without unpaired */
	u64 negative, ring_full;
	u64 never_started, never_ended, overwritten, expired, full, began_before;
};

struct reader {
	void (*row)(void *context, const struct line *line);
	void (*batch)(void *context, const struct line *line); /* may be NULL */
	void *context;
	bool is_cumulative; /* streamed rows: a batch tells of the run so far */
	struct reader_totals totals;
	char error[256]; /* the first thing that was wrong; empty: nothing */
	struct line line;
	struct buf rest; /* a line without its end */
	u64 batch_rows;
};

void reader_init(struct reader *reader, void (*row)(void *context, const struct line *line),
		 void *context);
void reader_free(struct reader *reader);
/* Any piece of ebql -o json output; `reader` is a struct reader, as struct proc's sink has it. */
void reader_feed(void *reader, const char *bytes, size_t n);

/*
 * A histogram of the row: calls cell() for each of its cells, in order, and returns the
 * sum of their counts.  An edge that is missing (below or above all) is INT64_MIN or MAX.
 */
u64 line_cells(const struct line *line, const char *name,
	       void (*cell)(void *context, s64 lo, s64 hi, u64 count), void *context);

#endif
