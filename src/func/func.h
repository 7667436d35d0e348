/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The functions of the language for SQLite, and values on their way into SQLite and
 * back.  SQL text made by cut/ calls them by the names listed here.
 *
 * Values that SQLite has no type for are blobs:
 *  - an integer of 2^63 and more, below 2^127: sorts above every integer, equal to itself
 *    only, so comparisons, ORDER BY, GROUP BY, IN, DISTINCT, min() and max() stay right;
 *    arithmetic goes through eb_add() and its like, other functions get it as what
 *    they can take, or not at all: an error.  Below -2^63 there is none: "too large";
 *  - histograms, quantiles and top lists: opaque to all but the functions made for them.
 *
 * Scalars.  NULL in, NULL out.
 *  eb_add eb_sub eb_mul eb_div eb_mod (a, b [, rule]), eb_neg(a [, rule]), eb_abs(a)
 *	exact on integers; a result that does not fit is NULL and counted as a fault, as is
 *	x / 0 and the absolute value of -2^63; on reals and texts as SQLite's own operators,
 *	where x / 0 is NULL only.
 *	rule: the type by the query: 's' signed, 'S' of signed arguments too, 'u' unsigned, 'r'
 *	REAL: a quotient is real, and what has no room in 64 bits
 *  eb_shl eb_shr eb_and eb_or (a, b [, rule]), eb_not(a)	as the kernel part computes them
 *  eb_chain(a, '+s', b, '*', c, ...)	eb_mul(eb_add(a, b, 's'), c) and so on, which SQLite's
 *	parser cannot nest deep: an operator (+ - * / % < > & |, the shifts as one letter) and
 *	perhaps its rule before each value
 *  eb_fit(x, rule)	an integer that does not fit is NULL and a fault; else x: for CASE
 *	whose branches are signed and unsigned
 *  eb_i64(x, place) eb_real(x) eb_clamp(x)	x, but of an integer of 2^63 and more the error "too
 *	large", a real, 2^31 - 1: for SQLite's own functions.  place: '@7-21', of the call in the
 *	query's text, which the error's message ends with
 *  eb_range(x)		x - 2^63, for the unsigned ORDER BY key of a RANGE frame
 *  eb_number('DIGITS')	the integer, of 2^63 and more too, or the real, rounded right
 *  eb_duration(x)	the ns of a text such as '1.5ms', NULL and a fault where it is none; else x
 *  eb_each(x)		x: a constant that is computed anew for each row, and so its faults
 *  eb_text(x)		the digits of an integer of 2^63 and more; else x
 *  eb_compare(a, b)	-1, 0, 1: a is before b, equal, behind it.  Numbers of all kinds by their
 *	exact values, without rounding: a real and an integer of 2^63 and more compare right, which
 *	SQLite's own operators do not do.  Texts are behind all numbers, blobs behind all texts;
 *	both go by their bytes
 *  eb_quantiles(h, edge, q_ppb...)	of a histogram: special, one quantile with its bounds or
 *	several; edge: 'mid', 'lower', 'upper', 'linear', or 'cont': percentile_cont
 *  eb_estimate(q) eb_lo(q) eb_hi(q)	of a quantile: numbers, infinite reals where there is no
 *	bound; what is no quantile passes through
 *  eb_histogram_empty(scheme)	of no values: of no rows eb_histogram() does not know its scheme and
 *	is NULL, and the kernel part's is empty
 *  eb_real_time(t)	an instant of CLOCK_MONOTONIC as one of CLOCK_REALTIME
 *  the naming functions: namings of cat.h
 *
 * The rule says what the kernel part's typed result can hold, since values alone do not
 * tell a signed type from an unsigned one (expr_rule() in plan/ knows it):
 *	's'	[-2^63, 2^63); shifts: the 64 bits as a signed number
 *	'S'	the same, and an argument of 2^63 and more is a fault too
 *	'u'	[0, 2^64); shifts: the 64 bits as an unsigned number
 *	none	[-2^63, 2^64); shifts: as 'u' where a is 2^63 and more, else as 's'; negation:
 *		as 's'.  With values below 2^63 and results too it is all the same.
 *
 * Aggregates.  NULLs are skipped.  FILTER goes with all, OVER with those marked *.
 *  eb_sum(x)* eb_total(x)* eb_avg(x)*	exact in 128 bits; with one real among the x as SQLite's;
 *	a text that is no number is a fault and adds nothing
 *  eb_sum_shown(x)*	as eb_sum(), and below -2^63 too: of which no other function but eb_text()
 *	may be asked, nor an operator
 *  eb_stddev_samp(x)* eb_stddev_pop(x)*	exact until the root (type/moments.h)
 *  eb_bit_or(x)* eb_bit_and(x)* eb_bit_xor(x)*	of two's complement
 *  eb_first(x, time)* eb_last(x, time)*	among equal times the first, the last row's
 *  eb_latest(x, time)*	as eb_last(), but a NULL is a value
 *  eb_histogram(x, scheme, select)	scheme as scheme_print() writes it; special; those of one
 *	`select` count a row with negative values once
 *  eb_histogram_merge(h, place)	all of one scheme, or an error
 *  eb_approx_count_distinct(x, bits)	as type/hll.h
 *  eb_top_k(x, k, weight, select)	special; exact: every error is 0
 *
 * In FROM.
 *  eb_cells(h)	a row for each cell of a histogram that is not empty, or each of a top list:
 *	columns a, b, c are lo, hi, count, or value, weight, error; `cell` is its number
 */
#ifndef EBQL_FUNC_FUNC_H
#define EBQL_FUNC_FUNC_H

#include "base/scratch.h"
#include "type/type.h"

struct sqlite3;
struct sqlite3_context;
struct sqlite3_stmt;
struct sqlite3_value;

/* What functions want to know of the batch, and tell of it. */
struct func_context {
	u64 n_lost_values; /* widens the bounds of quantiles */
	u64 n_faults;	   /* counted by eb_add() and its like */
	/*
	 * Values below zero that no histogram has cells for, and weights.  They too are missing
	 * from quantiles, but are known only when the statement has run: where this has grown, add
	 * it to n_lost_values and run the statement again.
	 */
	u64 n_negative;
	/* The latest: a row is counted once, be it negative for one argument or for several. */
	s64 negative_select;
	u64 negative_row; /* of its group: 1, 2, ... */
};

/* 0 or an SQLite error code.  The context must live as long as the connection. */
int func_register(struct sqlite3 *db, struct func_context *context);
/*
 * A value as the result of a column or function.  VALUE_TEXT is given as a text, which is
 * not copied: it must stay until the statement was reset.  Columns of TYPE_BLOB are for
 * sqlite3_result_blob() instead.  Everything else is copied.
 */
void func_result(struct sqlite3_context *context, const struct value *value);
/*
 * A result column of a statement as a value of that type: BOOL, DURATION, ... are
 * integers to SQLite.  Texts and special values are copied to the scratch.  -EOVERFLOW: a real that
 * stands for an integer (SQLite went over to floating point) and is no longer exact; -ENOMEM.
 */
int func_take(struct sqlite3_stmt *statement, int column, struct type type, struct scratch *scratch,
	      struct value *ret_value);
/* What a statement ended with: an integer did not fit, or an error that its message tells. */
enum func_refusal {
	FUNC_REFUSED_OTHERWISE,
	FUNC_TOO_LARGE,
	FUNC_MIXED_SCHEMES,
	FUNC_NO_INTEGER, /* an aggregate got what is none; the message begins with its name */
};
enum func_refusal func_refusal(struct sqlite3 *db);

#endif
