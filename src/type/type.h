/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Types, schemas, values and batches: what columns hold and what windows hand
 * on.  Every layer from the catalog to the outputs speaks in these.
 */
#ifndef EBQL_TYPE_TYPE_H
#define EBQL_TYPE_TYPE_H

#include "base/arena.h"
#include "base/base.h"
#include "base/buf.h"

enum type_kind {
	TYPE_NULL,	/* of the literal NULL */
	TYPE_BOOL,	/* 0 or 1 */
	TYPE_INT,	/* bits 8..64, signed or not */
	TYPE_DURATION,	/* ns, 64 bits, signed or not */
	TYPE_TIMESTAMP, /* ns; see enum clock */
	TYPE_POINTER,	/* 64 bits, shown in hex */
	TYPE_TEXT,	/* at most `bytes` bytes, no NUL inside */
	TYPE_BLOB,	/* exactly `bytes` bytes */
	TYPE_REAL,	/* double; user space only */
};

struct type {
	u8 kind; /* enum type_kind */
	u8 bits; /* of integers: 8, 16, 32, 64 */
	bool is_signed;
	u32 bytes; /* of TEXT and BLOB: capacity in bytes */
};

/* "INTEGER", "u32", "TEXT(16)", ...: for DESCRIBE and messages. */
void type_print(struct type type, struct buf *out);
/* INT, BOOL, DURATION, TIMESTAMP, POINTER: one 64-bit word. */
bool type_is_word(struct type type);
/* Smallest and largest value a word type can hold. */
s128 type_min(struct type type);
s128 type_max(struct type type);

static inline struct type type_int(u8 bits, bool is_signed)
{
	return (struct type){ .kind = TYPE_INT, .bits = bits, .is_signed = is_signed };
}

static inline struct type type_text(u32 bytes)
{
	return (struct type){ .kind = TYPE_TEXT, .bytes = bytes };
}

struct column {
	const char *name;
	struct type type;
};

struct schema {
	u32 n_columns;
	struct column *columns;
};

enum value_kind {
	VALUE_NULL,
	VALUE_INT, /* any integer, BOOL, DURATION, TIMESTAMP, POINTER: exact in 128 bits */
	VALUE_REAL,
	VALUE_TEXT, /* TEXT and BLOB; points into memory that lives as long as the batch */
};

struct value {
	u8 kind; /* enum value_kind */
	u32 n;	 /* bytes of text */
	union {
		s128 integer;
		double real;
		const char *text;
	};
};

/* Why something that happened was not counted; language.md section 5. */
enum loss {
	LOSS_MISSED,	 /* the kernel skipped the program (recursion, maxactive) */
	LOSS_TABLE_FULL, /* events summed in the (other) row */
	LOSS_RING_FULL,	 /* rows that found no room in the ring buffer */
	LOSS_EVICTED,
	LOSS_UNPAIRED,
	LOSS_NEGATIVE,
	LOSS_FAULT, /* expressions that became NULL: failed read, x / 0, overflow */
	LOSS_N
};

extern const char *const loss_names[LOSS_N];

/* One window, one snapshot, or one run of streamed rows. */
struct batch {
	const struct schema *schema;
	u32 n_rows;
	struct value *values; /* n_rows * schema->n_columns, row after row */
	/* Row number of the "(other)" row, or -1: groups that found no room, summed. */
	s64 other_row;
	bool is_windowed; /* false: the two bounds are those of the run so far */
	bool is_last;
	u64 window_start_ns, window_end_ns; /* CLOCK_REALTIME */
	u64 events, matched;
	u64 lost[LOSS_N];
};

bool batch_has_loss(const struct batch *batch);

#endif
