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
#include "type/hll.h"
#include "type/moments.h"
#include "type/scheme.h"
#include "type/top.h"

enum type_kind {
	TYPE_NULL,	/* of the literal NULL */
	TYPE_BOOL,	/* 0 or 1; from here to POINTER: words, see type_is_word() */
	TYPE_INT,	/* bits 8..64, signed or not */
	TYPE_DURATION,	/* ns, 64 bits, signed or not */
	TYPE_TIMESTAMP, /* ns; see enum clock */
	TYPE_POINTER,	/* 64 bits, shown in hex */
	TYPE_TEXT,	/* at most `bytes` bytes; of events and files with no NUL inside */
	TYPE_BLOB,	/* exactly `bytes` bytes */
	TYPE_REAL,	/* double; user space only */
	TYPE_HISTOGRAM, /* `of`: the kind of the values in it */
	TYPE_QUANTILE,	/* an estimate with its bounds; `of` as above */
	TYPE_LADDER,	/* several quantiles of one thing */
	TYPE_TOP,	/* the most frequent values, with error bounds; `of` as above */
	TYPE_STACK,	/* the calls that led to an event; to programs the number of its slot */
};

/* What a TIMESTAMP counts its nanoseconds from. */
enum clock {
	CLOCK_REAL, /* CLOCK_REALTIME: 1970; windows' bounds, and all times in files */
	CLOCK_MONO, /* CLOCK_MONOTONIC: the start of the system; `time` of the kernel's events */
};

struct type {
	u8 kind;	/* enum type_kind */
	u8 bits;	/* of integers: 8, 16, 32, 64 */
	bool is_signed; /* of integers and times, and where `of` is one */
	u8 of;		/* enum type_kind: of what a histogram, quantile or ladder is */
	u32 bytes;	/* of TEXT and BLOB: capacity in bytes */
	u8 clock;	/* enum clock; of TIMESTAMP, and where `of` is one */
	/* An exact sum: of 64 bits to all that computes with it, but up to 128 as it is. */
	bool is_wide;
};

/* "INTEGER", "u32", "TEXT(16)", ...: for DESCRIBE and messages. */
void type_print(struct type type, struct buf *out);
/* INT, BOOL, DURATION, TIMESTAMP, POINTER: one 64-bit word. */
bool type_is_word(struct type type);
/* Have they the same values, shown alike? */
bool type_equal(struct type a, struct type b);
/* Smallest and largest value a word type can hold. */
s128 type_min(struct type type);
s128 type_max(struct type type);

static inline struct type type_int(u8 bits, bool is_signed)
{
	return (struct type){ .kind = TYPE_INT, .bits = bits, .is_signed = is_signed };
}

static inline struct type type_bool(void)
{
	return (struct type){ .kind = TYPE_BOOL, .bits = 8 };
}

static inline struct type type_text(u32 bytes)
{
	return (struct type){ .kind = TYPE_TEXT, .bytes = bytes };
}

enum window_bound { BOUND_NONE, BOUND_START, BOUND_END };

struct column {
	const char *name;
	struct type type;
	bool is_unnamed;	 /* the name is the call as it was written: no AS */
	bool is_other;		 /* it tells the "(other)" row, as outputs do: _other */
	enum window_bound bound; /* it is that of the window */
};

struct schema {
	u32 n_columns;
	struct column *columns;
};

enum value_kind {
	VALUE_NULL,
	VALUE_INT, /* any integer, BOOL, DURATION, TIMESTAMP, POINTER: exact in 128 bits */
	VALUE_REAL,
	VALUE_TEXT,	 /* TEXT and BLOB; points into memory that lives as long as the batch */
	VALUE_QUANTILES, /* quantiles[n]: one of a QUANTILE, several of a LADDER; lives as TEXT does
			  */
	VALUE_HISTOGRAM, /* histogram; lives as TEXT does */
	VALUE_TOP,	 /* top; lives as TEXT does */
	VALUE_STACK,	 /* stack; lives as TEXT does, where programs wrote it as long as they do */
};

/*
 * What is known of a quantile: it surely lies between lo and hi.  An edge that is
 * open is not itself a possible value.  Without has_lo (has_hi) there is no bound:
 * so much was lost that it can be as low (high) as any value.
 */
struct quantile {
	u32 q_ppb; /* q in billionths: 990000000 for p99 */
	bool has_lo, has_hi, is_lo_open, is_hi_open;
	bool is_interpolated; /* percentile_cont: estimate is a point between two ranks */
	s128 estimate;	      /* the edge rule's choice, within the bounds; hi missing: lo */
	double interpolated;  /* is_interpolated: in place of estimate */
	s128 lo, hi;
};

struct histogram_cell {
	u64 cell; /* number in the scheme; as wide as the count: its bytes have no gap */
	u64 count;
};

/* Only cells that hold something, in order. */
struct histogram {
	const struct scheme *scheme;
	const struct histogram_cell *cells;
	u32 n_cells;
	u64 count;	/* of all cells */
	u64 n_unplaced; /* values that are counted in sum, min and max but found no room in a cell
			 */
	s128 sum, min, max; /* exact; min and max only where something was counted */
};

/*
 * As programs write it (phys/stack.h); user space has each once, as long as anything may point to
 * it (load/stacks.c), and gives it names (sym/sym.h).  Equal stacks are of one process and have the
 * same addresses.
 */
struct stack {
	u32 pid; /* 0: the kernel's, or of no process that can be told */
	u16 n;
	u16 is_whole;		  /* 1: a program has written all of it */
	const char *const *names; /* of each address; NULL: not looked up */
	u64 addresses[]; /* where it is, then to where each call returns: the leaf is first */
};

struct value {
	u8 kind;	/* enum value_kind */
	bool has_fault; /* reading it failed, or cut it: who asks for the value counts a fault */
	u32 n;		/* bytes of text */
	union {
		s128 integer;
		double real;
		const char *text;
		const struct quantile *quantiles;
		const struct histogram *histogram;
		const struct top *top;
		const struct stack *stack;
	};
};

/*
 * The heaviest values of top_k(), the heaviest first.  The true weight of a row lies in
 * [weight - error, weight], and no value that is not listed weighs more than max_unlisted.
 */
struct top_row {
	struct value value; /* INT or TEXT */
	s128 weight, error;
};

struct top {
	const struct top_row *rows;
	u32 n_rows;
	s128 total; /* of all values, listed or not: exact */
	s128 max_unlisted;
};

/*
 * What the values that are not listed weigh together: in [lo, hi].  false: nothing, or there
 * may be none.
 */
bool top_others(const struct top *top, s128 *ret_lo, s128 *ret_hi);

/* Why something that happened was not counted; language.md section 5. */
enum loss {
	LOSS_MISSED,	 /* the kernel skipped the program (recursion, maxactive) */
	LOSS_TABLE_FULL, /* events summed in the (other) row */
	LOSS_RING_FULL,	 /* rows that found no room in the ring buffer */
	LOSS_EVICTED,
	LOSS_UNPAIRED,
	LOSS_NEGATIVE,
	LOSS_FAULT,	  /* expressions that became NULL: failed read, x / 0, overflow */
	LOSS_OVER_BUDGET, /* events, before WHERE, that max_cpu left no time for */
	LOSS_N
};

extern const char *const loss_names[LOSS_N];

/* Kinds of LOSS_UNPAIRED: why an event of a PAIR JOIN or a span found no partner. */
enum unpaired {
	UNPAIRED_NEVER_STARTED, /* an end whose start was not seen, or is no more there */
	UNPAIRED_NEVER_ENDED,	/* starts still waiting when the run ended */
	UNPAIRED_OVERWRITTEN,	/* a start that another one of the same thread replaced */
	UNPAIRED_EXPIRED,	/* a start older than WITHIN when its end came */
	UNPAIRED_FULL,		/* starts that found no room, or gave it to a newer one */
	UNPAIRED_BEGAN_BEFORE,	/* an end whose thread was not seen before: it began before the run
				 */
	UNPAIRED_N
};

extern const char *const unpaired_names[UNPAIRED_N];

/* What happened in a stretch of time: counts that add up. */
struct account {
	u64 events, matched;
	u64 lost[LOSS_N];
	u64 unpaired[UNPAIRED_N]; /* lost[LOSS_UNPAIRED] by kind */
};

void account_add(struct account *to, const struct account *from);
void account_subtract(struct account *from, const struct account *what);
bool account_has_loss(const struct account *account);
/*
 * At most so many values are missing from a histogram, all its groups together: events that
 * were missed, rows that found no room on their way to user space, ends without a start, and
 * differences below zero.
 * A start that was overwritten or found no room is not added: if it ends, that is an
 * end without a start; and a start still waiting is no value yet.
 */
u64 account_lost_values(const struct account *account);
/* Takes these out of it. */
struct account account_take_lost_values(struct account *account);
/*
 * Could these losses bias an answer?  All but three kinds of `unpaired`: calls under way
 * when the run begins end without a start, those under way at its end never end, and a
 * thread that dies within a call leaves a start for the next one to overwrite.  That
 * happens in every run; the losses that could cause it besides count by themselves
 * (`missed`, `full`, `expired`).
 */
bool account_is_biased(const struct account *account);

/* Events of one in so many threads were taken at the end of the batch, of a fixed choice; where
 * that was otherwise within its time: the most that it was, or, if that is `now`, the least.  1: of
 * all. */
struct batch_sampled {
	u32 now, before; /* 0: nobody asked */
};

/* One window, one snapshot, or one run of streamed rows. */
struct batch {
	const struct schema *schema;
	u32 n_rows;
	struct value *values; /* n_rows * schema->n_columns, row after row */
	/*
	 * Row number of the "(other)" row, or -1: groups that found no room, summed.  It is the
	 * last; with UNNEST it is the first of several, which reach to the end.
	 */
	s64 other_row;
	bool is_windowed; /* false: the two bounds are those of the run so far */
	bool is_last;
	bool is_partial; /* it is shorter than asked: the run began within it, or ended */
	u64 window_start_ns, window_end_ns; /* CLOCK_REALTIME; both 0: there was no row at all */
	/* How long behind its time the window ended, where that is more than 1 % of its size. */
	u64 late_ns;
	u64 n_merged; /* windows that are given as one, since it ended so late; 0: it is one */
	/* The first one: what is read otherwise than it would be by choice, and why; or NULL. */
	const char *fallback;
	/* Windows, or streamed rows, before it that the output had no room for. */
	u64 n_unwritten;
	struct batch_sampled sampled;
	bool is_over_budget; /* the last one: max_cpu ended the run */
	struct account account;
};

/* Of the same vocabulary; they need what is above. */
#include "type/aggregate.h"
#include "type/quantile.h"
#include "type/sink.h"
#include "type/special.h"
#include "type/stack.h"

#endif
