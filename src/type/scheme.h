/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Bucket arithmetic: which cell of a histogram a value falls into, and what the
 * edges of a cell are.  gen/ emits the same arithmetic over the same tables that
 * drain/ reads the cells back with; this is the one place where it is written.
 *
 * log2, loglinear(b): with shift = floor(log2(v | 2^b)) - b, the cell of v is
 *	(shift << b) + (v >> shift)
 * (2^b linear cells to each power of two, as HdrHistogram; log2 is b = 0: {0}, {1},
 * [2, 4), [4, 8), ...).  The floor of the logarithm comes without a branch: all bits
 * below the highest are set, and the result times a de Bruijn constant, shifted right
 * by 58, indexes a table of 64.
 *
 * exponential(s): base 2^(2^-s), cell (base^(i-1), base^i], schema s of Prometheus and
 * OpenTelemetry, exact: a cell of loglinear(s + 1) either holds one integer only or at
 * most one edge, since it is then at most 2^-(s+1) of its start wide and edges lie a
 * factor 2^(2^-s) > 1 + 2^-(s+1) apart.  So the cell is
 * base[c] + (v > threshold[c]) with c the loglinear(s + 1) cell.
 *
 * linear(low, high, step): below, [low, low + step), ..., above.  bounds(b1, ..., bn):
 * below, [b1, b2), ..., above; a binary search in a table of a power of two of entries.
 */
#ifndef EBQL_TYPE_SCHEME_H
#define EBQL_TYPE_SCHEME_H

#include "base/arena.h"
#include "base/base.h"
#include "base/buf.h"

enum scheme_kind {
	SCHEME_LOG2,
	SCHEME_EXPONENTIAL, /* digits: s, 0..6 */
	SCHEME_LOGLINEAR,   /* digits: b, 1..10 */
	SCHEME_LINEAR,	    /* low, high, step: at most SCHEME_CELLS_MAX cells */
	SCHEME_BOUNDS,	    /* bounds[n_bounds], ascending, at most SCHEME_BOUNDS_MAX */
	SCHEME_N
};

#define SCHEME_BOUNDS_MAX 255u
#define SCHEME_CELLS_MAX  65536u

struct scheme {
	enum scheme_kind kind;
	u32 n_bounds;
	const s64 *bounds;
	union { /* what stands in its parentheses, but for bounds */
		s64 digits;
		struct {
			s64 low, high, step;
		};
		s64 numbers[3];
	};
};

/* [lo, hi) or, for exponential(s), (lo, hi]; every value in the cell is an integer. */
struct scheme_edges {
	s128 lo, hi;
	bool has_lo, has_hi; /* false: the cell reaches as far as values do */
	bool is_lo_open, is_hi_open;
};

const char *scheme_name(enum scheme_kind kind);

/* What stands in its parentheses. */
const s64 *scheme_numbers(const struct scheme *scheme, u32 *ret_n);
/* The scheme may point to the numbers.  false: there is none of these. */
bool scheme_of_numbers(enum scheme_kind kind, const s64 *numbers, u32 n, struct scheme *ret_scheme);
/* "log2", "exponential(3)", "bounds(1, 2, 5)". */
void scheme_print(const struct scheme *scheme, struct buf *out);
/*
 * And back; numbers: SCHEME_BOUNDS_MAX of them, which the scheme may point to.  false: something
 * else.
 */
bool scheme_read(const char *text, s64 *numbers, struct scheme *ret_scheme);
/* With bounds of its own, for free().  false: no memory. */
bool scheme_copy(const struct scheme *scheme, struct scheme *ret_copy);
bool scheme_equal(const struct scheme *a, const struct scheme *b);
/* Have negative values a cell?  Not in the logarithmic schemes: there they are counted apart. */
bool scheme_takes_negative(const struct scheme *scheme);
/*
 * Cells are numbered 0 .. n - 1, in the order of their values.  U32_MAX stands for a linear scheme
 * with more of them than that.
 */
u32 scheme_n_cells(const struct scheme *scheme);
/* The cell of a value in [-2^63, 2^64); not negative where scheme_takes_negative() is false. */
u32 scheme_cell(const struct scheme *scheme, s128 value);
void scheme_edges(const struct scheme *scheme, u32 cell, struct scheme_edges *ret_edges);

/* --- The tables, for generated code and scheme_cell() --- */

#define SCHEME_LOG2_MULTIPLIER 0x03f08cdd7b4e4b15ull /* de Bruijn: see scheme_log2_table */

/* floor(log2 v) = table[(smear(v) * SCHEME_LOG2_MULTIPLIER) >> 58], v not 0. */
extern const u8 scheme_log2_table[64];

/* b of the loglinear cells that the scheme's arithmetic starts with: 0, b, or s + 1. */
u32 scheme_digits(const struct scheme *scheme);

/*
 * exponential(s): for each cell of loglinear(s + 1) the cell of values up to the threshold,
 * and the threshold: the largest integer of that cell (U64_MAX where no edge lies in it).
 */
struct scheme_exponential {
	u32 n; /* entries: cells of loglinear(s + 1) */
	const u16 *base;
	const u64 *threshold;
};
void scheme_exponential_tables(u32 s, struct arena *arena, struct scheme_exponential *ret_tables);

#endif
