/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Aggregates as rows of one table: what the language calls each, which cell of a group's row
 * its value is read off, what type it yields, and which of SQLite's functions (func/func.h)
 * computes the same.  The binder, the cut, the physical plan and the shell go by it.
 */
#ifndef EBQL_TYPE_AGGREGATE_H
#define EBQL_TYPE_AGGREGATE_H

#include "type/type.h"

enum aggregate_kind {
	AGGREGATE_COUNT,
	AGGREGATE_SUM,
	AGGREGATE_MIN,
	AGGREGATE_MAX,
	AGGREGATE_AVG,
	AGGREGATE_BIT_OR,
	AGGREGATE_BIT_AND,
	AGGREGATE_BIT_XOR,
	AGGREGATE_HISTOGRAM,
	AGGREGATE_QUANTILE, /* quantile, quantiles, p50 ... p999, quantile_lo, quantile_hi,
			       percentile_cont */
	AGGREGATE_FIRST,    /* the value of the event with the least time, */
	AGGREGATE_LAST,	    /* and with the greatest; NULLs are skipped */
	AGGREGATE_STDDEV,   /* stddev, stddev_samp, stddev_pop, from exact integer sums */
	AGGREGATE_APPROX_COUNT_DISTINCT,
	AGGREGATE_TOP_K,
	AGGREGATE_TOTAL,
	AGGREGATE_GROUP_CONCAT,
	AGGREGATE_HISTOGRAM_MERGE,
	AGGREGATE_N
};

/* What lies in a group's row: src/phys/cell_ops.c has one entry of operations for each. */
enum cell_kind {
	CELL_NONE,  /* of aggregates that only SQLite has */
	CELL_COUNT, /* 1 word */
	CELL_SUM,   /* 1 word (is_wide false: cannot overflow) or 2: 128 bits, two's complement */
	CELL_MIN,   /* 1 word: maximum of the complement of the biased value; see CELL_BIAS */
	CELL_MAX,   /* 1 word: maximum of the biased value */
	CELL_OR,    /* 1 word */
	CELL_AND,   /* 1 word: OR of the complements */
	CELL_XOR,   /* 1 word */
	/*
	 * One u64 a cell of the scheme, or, when chunk_cells is not 0, one u32 for each
	 * chunk_cells of them: bytes from the slice to the chunk of u64 in the pool, 0 = none
	 * yet; and behind these (aligned to 8) one u64: values that found no room.
	 */
	CELL_HISTOGRAM,
	/*
	 * Order, then the value's n_words.  The order is 0 where there is no value, and greater
	 * for what is to stay: FIRST: the complement of the event's time; LAST: the time + 1.
	 */
	CELL_FIRST,
	CELL_LAST,
	CELL_SQUARES, /* the sum of the squares, in n_words (1, 2 or 3) words, the lowest first */
	CELL_HLL,     /* 2^hll_bits registers of a byte: type/hll.h */
	CELL_TOP,     /* a slice of type/top.h */
	CELL_KIND_N
};

/* MIN and MAX order values as unsigned: a signed value is biased by 2^63. */
#define CELL_BIAS (1ull << 63)

enum quantile_part { QUANTILE_WHOLE, QUANTILE_LO, QUANTILE_HI };

/* How it is called. */
enum aggregate_takes {
	TAKES_WORD,   /* (x): a whole number, a duration, a time; count: or * */
	TAKES_SCHEME, /* (x [, q ...] [, scheme]) */
	TAKES_VALUE,  /* (x [, ...]), x also a text */
};

/* Is a count of the values kept beside? */
enum aggregate_counts {
	COUNTS_WHERE_EMPTY, /* where a group may have none: the aggregate is NULL then */
	COUNTS_ALWAYS,
	COUNTS_NEVER, /* its cell knows whether it has any */
};

/* How its value is read off the cells of a group. */
enum aggregate_reads {
	READS_NUMBER,	 /* that of its cell */
	READS_MEAN,	 /* sum and count */
	READS_DEVIATION, /* and a cell of squares */
	READS_EVENT,	 /* FIRST, LAST */
	READS_HISTOGRAM, /* the histogram, and a sum, minimum and maximum beside it */
	READS_QUANTILES, /* the same */
	READS_TOP,
};

/* A type and the range of its values: of an argument, or of the result. */
struct type_range {
	struct type type;
	s128 lo, hi;
};

struct aggregate_info {
	const char *name;
	const char *meaning;
	enum aggregate_takes takes;
	enum cell_kind cell; /* what the value is read off; NONE: only SQLite has the aggregate */
	enum aggregate_counts counts;
	enum aggregate_reads reads;
	bool is_never_null; /* of no values: 0, or empty */
	/* The argument's type and range -> the result's.  NULL: its options decide (QUANTILE). */
	void (*result)(struct type_range *x);
	const char *sql;     /* what computes it in SQLite, or of QUANTILE the histogram */
	bool sql_takes_text; /* an integer of 2^63 and more is its digits */
	bool takes_integers; /* in SQLite too: no real numbers; texts where it takes those */
	const char *regroup; /* puts those of finer groups together in SQLite; NULL: none can */
};

extern const struct aggregate_info aggregate_infos[AGGREGATE_N];

/* What a name stands for. */
struct aggregate_name {
	const char *name;
	enum aggregate_kind kind;
	enum quantile_part part;
	u32 q_ppb;	      /* the q that the name says; 0: an argument */
	bool is_many;	      /* quantiles(x, q1, q2, ...) */
	bool is_interpolated; /* percentile_cont(q) WITHIN GROUP (ORDER BY x) */
	bool is_population;   /* STDDEV: divided by n, not n - 1 */
};

/* false: no aggregate is called so (in any case). */
bool aggregate_find(const char *name, struct aggregate_name *ret_name);
/* All names, from i = 0 on; NULL behind the last. */
const char *aggregate_name_at(u32 i);

#endif
