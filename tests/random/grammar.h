/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The grammar of random queries: grammar.c has what can stand where, a line each, and
 * the makers of make_*.c draw from it.
 */
#ifndef EBQL_TESTS_GRAMMAR_H
#define EBQL_TESTS_GRAMMAR_H

#include "make.h"

/* What a production makes. */
enum place {
	NUMBER,	   /* an integer that arithmetic takes; its interval is known */
	WORD,	   /* any value of one word: durations, times, addresses, mixed branches too */
	CONDITION, /* 0, 1 or NULL */
	TEXT,
	REAL,
	GROUPED, /* an aggregate that is a number */
	MEASURE, /* an aggregate of any kind */
	BEHIND,	 /* computed of aggregates */
	HAVING,
	KEY,	 /* of groups */
	OVER,	 /* a function over other rows of the window */
	RUNNING, /* sums along the stream */
	PLACE_N
};

/* The interval of the values. */
enum range {
	RANGE_NONE,   /* not known */
	RANGE_TRUTH,  /* 0 or 1 */
	RANGE_FIRST,  /* of $0 */
	RANGE_BOTH,   /* of $0 and $1 together */
	RANGE_BINARY, /* of $0 op $1; sign is op, of shifts its first letter */
	RANGE_NEGATED,
	RANGE_SHIFTED, /* $0, by at most 7 bits */
	RANGE_INVERTED,
	RANGE_ABSOLUTE,
	RANGE_COUNT,   /* 0 .. the number of rows */
	RANGE_SUM,     /* of $0, over all rows */
	RANGE_SQUARES, /* REAL; but the sum of squares fits 64 bits */
	RANGE_AROUND,  /* of $0, and 0 */
	RANGE_BITS,    /* of words with the bits of $0 */
	RANGE_SMALL,   /* -200 .. 2^21 */
	RANGE_TEXT,    /* none: a text */
};

enum {
	WILD = 1,	    /* where numbers may leave 64 bits, alone */
	TIMED = 2,	    /* the row must have a time, which is $T */
	MAY_FAULT = 4,	    /* so that losses are not known to be none */
	OPAQUE = 8,	    /* cannot be sorted by */
	NO_BIG = 16,	    /* where all numbers fit 64 bits signed, alone */
	OF_USER_SPACE = 64, /* no key of a nested running sum in a query with a WINDOW */
	UNTIED = 32,	    /* hangs on the order of events of one instant */
};

struct production {
	enum place place;
	u32 weight;
	/*
	 * $0, $1, ...: the arguments, one for each letter of `args`.  sqlite: NULL is the same
	 * text, "" says that SQLite cannot: such queries are compared among the other ways.
	 *   n number   w word    c condition   t text   r real
	 *   v a column or a literal            l a literal
	 *   C a column of a word              N one that arithmetic takes
	 *   x a literal near the values of $0
	 *   T a text column                    X a text near those of $0
	 *   P, G a pattern near $0             s, S how far to shift left, right
	 *   D 2 .. 5                           B a number of 64 bits without sign
	 *   k a key                            a what is aggregated
	 *   f FILTER, or nothing               A an aggregate that is a number
	 *   M a measure                        R a small number, for sums
	 *   K the row's time
	 *   e an element of an array           p the address of a text
	 */
	const char *ebql, *args, *sqlite;
	enum range range;
	u32 flags;
	char sign;
	enum trait trait; /* NONE: that of the place */
};

extern const struct production productions[];
extern const u32 n_productions;

#endif
