/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Rows of values -> columns as Arrow has them, for both who hand them on: as an IPC stream
 * (arrow_write.c) and as structures in memory (arrow_c.c).
 */
#ifndef EBQL_FILE_ARROW_BUILD_H
#define EBQL_FILE_ARROW_BUILD_H

#include "base/arena.h"
#include "base/buf.h"
#include "file/arrow.h"
#include "type/type.h"

/* A column, or a part of one, and its values so far. */
struct arrow_field {
	const char *name;
	enum arrow_type kind;
	struct type type;  /* of the values; in special values of a part of them */
	u32 bytes;	   /* of a value, of an offset; 0: bits, or none */
	bool is_lo, is_hi; /* a bound: outside of what the type holds there is none */
	u32 n_children;	   /* of a STRUCT; one of a LIST */
	struct arrow_field *children;
	struct arrow_field *dictionary; /* the texts that the values, ARROW_INT, are numbers of */
	u32 id;				/* of the dictionary */

	u64 n, n_nulls;
	struct buf validity; /* bits, the lowest first */
	struct buf values;   /* or offsets, one more than values */
	struct buf bytes_of; /* of texts */
	struct buf slots;    /* of a dictionary, by hash: u32, 1 + number of a text */
};

/* An error that the machine is to blame for. */
extern const char arrow_no_memory[];

struct arrow_frame {
	struct arrow_field root; /* a STRUCT of the columns */
	bool is_window;
	s64 offset_ns; /* added to instants of CLOCK_MONO */
	u32 n_dictionaries;
	struct buf text, stack;
	const char *error;  /* what could not be taken, after which nothing is right */
	const char *column; /* of which; NULL: of none */
};

/*
 * Recorded rows: texts byte for byte as they are, for FROM.  is_window: rows for other programs:
 * texts are UTF-8, each once in a dictionary, and behind the columns comes `_other`.
 * Memory of the fields is the arena's, that of their values is kept from batch to batch.
 */
void arrow_frame_init(struct arrow_frame *frame, const struct schema *schema, bool is_window,
		      struct arena *arena);
void arrow_frame_free(struct arrow_frame *frame);
/* These rows, in place of those before; other_row: as of a batch.  false: frame->error. */
bool arrow_frame_set(struct arrow_frame *frame, const struct value *values, u32 n_rows,
		     s64 other_row);
/*
 * The field's buffers in Arrow's order, their number; the first is that of the bits which say what
 * is not NULL, or NULL where all is there.
 */
u32 arrow_buffers(struct arrow_field *field, struct buf *ret_buffers[3]);

#endif
