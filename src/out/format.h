/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What the formats share inside this layer: numbers, intervals, quantiles and
 * charts as text, unique column names, safe text, and writing in pieces so that a
 * window of any size needs a buffer of fixed size.
 */
#ifndef EBQL_OUT_FORMAT_H
#define EBQL_OUT_FORMAT_H

#include "out/out.h"

/* The buffer is written out whenever it has grown beyond this. */
#define OUT_CHUNK_BYTES (64 << 10)

extern const struct out_format out_table, out_expanded, out_json, out_csv, out_heatmap, out_arrow,
	out_jsonl;

/*
 * Called after each row: writes when the buffer is full enough.  False once a
 * write has failed (out->error): the format can stop early.
 */
bool out_row_done(struct out *out);

/* "0x1f", without leading zeros. */
void out_put_hex(struct buf *buf, u64 value);
/* Lower-case hex digits, two a byte. */
void out_put_hex_bytes(struct buf *buf, const char *bytes, u32 n);
/* Plain digits, whatever the size. */
void out_put_integer(struct buf *buf, s128 value);
/* Shortest text that reads back as the same double; "3.0", never "3".  Finite values only. */
void out_put_real(struct buf *buf, double value);

/* 12,345 */
void out_put_thousands(struct buf *buf, s128 value);
/* Up to three decimals; what is too large or too small for them with an exponent. */
void out_put_short_real(struct buf *buf, double value);

/* --- Values that are `of` a kind (struct type's of), for people: quantile.c --- */

enum out_rounding { OUT_DOWN, OUT_NEAREST, OUT_UP };

#define OUT_DIGITS_USUAL 3u
#define OUT_DIGITS_EXACT 30u

/*
 * A DURATION with its unit and so many significant digits (whole units are never cut),
 * a POINTER in hex, another kind in plain digits: counts have thousands separators,
 * values have none, since in an interval a comma stands between its bounds.
 */
void out_put_measure(struct buf *buf, u8 of, s128 value, u32 digits, enum out_rounding rounding);
/* Has the sum of such values a meaning, has their mean one?  Instants have only a mean. */
bool out_has_sum(u8 of);
bool out_has_average(u8 of);
/* sum / n, n not 0. */
void out_put_average(struct buf *buf, u8 of, s128 sum, u64 n);
/* Significant digits at which [lo, hi] shows at most a quarter wider at either end. */
u32 out_interval_digits(s128 lo, s128 hi);
/*
 * "[64us, 128us)", "(-inf, 0ns)"; "7us" where the bounds are one value.  is_outward: lo rounded
 * down and hi up, so that what lies within the interval lies within its text; else both to the
 * nearest.
 */
void out_put_interval(struct buf *buf, u8 of, const struct scheme_edges *edges, u32 digits,
		      bool is_outward);
/*
 * "92.7us [64us, 128us)", "~" in front of an interpolated estimate; "90.041us" where only
 * one value is possible.  The estimate has three digits, more only where it would else
 * leave its interval; without an upper bound it is the lower one, rounded like that.
 */
void out_put_quantile(struct buf *buf, struct type type, const struct quantile *quantile);
/* "p99.9" of 999000000. */
void out_put_rung(struct buf *buf, u32 q_ppb);
/* As out_put_quantile() behind its rung, padded to the longest of the n rungs. */
void out_put_ladder_line(struct buf *buf, struct type type, const struct quantile *quantiles, u32 n,
			 u32 line);

/* --- Structured text, in JSON and in CSV's cells: json.c --- */

void out_put_json_estimate(struct buf *buf, const struct quantile *quantile);
void out_put_json_bound(struct buf *buf, bool has, s128 bound); /* null without one */
void out_put_json_ladder(struct buf *buf, const struct quantile *quantiles, u32 n);
void out_put_json_histogram(struct buf *buf, const struct histogram *histogram);
/* A value of that type, as it stands in a row. */
void out_put_json_value(struct buf *buf, struct type type, const struct value *value);

/* --- Top lists: top.c --- */

/* A line for each row, and one for the other values where there are any. */
u32 out_n_top_lines(const struct top *top);
/* "dd       [118, 120]"; "bash     12" where the weight is known.  Its width in columns. */
u32 out_put_top_line(struct buf *buf, struct type type, const struct top *top, u32 line);
/*
 * {"top":[{"value":"dd","lo":118,"hi":120},...],"other":{"lo":3,"hi":9,"max":2},"total":141}:
 * other: all values that are not listed, together; max: no one of them weighs more.
 */
void out_put_json_top(struct buf *buf, struct type type, const struct top *top);

/* --- Charts: chart.c --- */

/* Lines of bars from the first to the last cell that holds something, and a line of sums. */
void out_put_chart(struct out *out, u8 of, const struct histogram *histogram);
/* Bars for a histogram of n values in `span` cells, by options.bins; from 1. */
u32 out_n_bins(u32 bins, u64 n, u32 span);

/* --- Lines about a batch: table.c --- */

/*
 * A line of a cell as the table shows it, for a format that begins and ends as the table does;
 * NULL behind the last one.  A histogram's is empty.
 */
const struct buf *out_table_cell(struct out *out, const struct batch *batch, u32 row, u32 i,
				 u32 line);
/* "22:13:20.000 - 22:13:21.000   events 12  matched 12", and the losses below the rows. */
void out_put_window_line(struct out *out, const struct batch *batch);
void out_put_loss_line(struct out *out, const struct batch *batch);
/* "22:13:20.000", of CLOCK_REALTIME; with is_short in microseconds. */
void out_put_instant(struct buf *buf, u64 realtime_ns, bool is_short);
/* So short a stretch of time that milliseconds do not tell its ends apart. */
bool out_is_short(u64 start_ns, u64 end_ns);
/* "22:13:20.000 - 22:13:21.000" */
void out_put_window(struct buf *buf, const struct batch *batch);
/* "lost: ..." without a line end; nothing where nothing was lost. */
void out_put_loss(struct buf *buf, const struct batch *batch);

/* --- Names and text: out.c --- */

/*
 * What structured formats call their columns: a QUANTILE is three, NAME, NAME_lo and
 * NAME_hi.  Unique as out_put_unique_name() has it; the schema's own names come first.
 */
struct out_names {
	u32 n;		    /* 3 for each column of the schema; unused ones are NULL */
	const char **names; /* into texts */
	struct buf texts;
};

#define OUT_NAMES_A_COLUMN 3u

/* 0, or -ENOMEM: there is nothing to free then. */
int out_names_init(struct out_names *names, const struct schema *schema,
		   const char *const *reserved, u32 n_reserved);
void out_names_free(struct out_names *names);

/*
 * Name of a column, made unique among the schema's and the reserved names by a
 * suffix: fd, fd_2, fd_3.  Appended to buf.
 */
void out_put_unique_name(struct buf *buf, const struct schema *schema, u32 column,
			 const char *const *reserved, u32 n_reserved);
/* What is to be added to a TIMESTAMP of that type to make it one of CLOCK_REALTIME. */
static inline s64 out_clock_offset(const struct out *out, struct type type)
{
	return type.clock == CLOCK_MONO ? out->options.monotonic_to_realtime_ns : 0;
}

/* Has the schema a column of that name? */
bool out_has_column(const struct schema *schema, const char *name);

/*
 * Text as a terminal may safely show it: control bytes, bidirectional controls
 * and bytes that are no UTF-8 become \xNN.  Cut with an ellipsis when it is wider
 * than max_width columns (0: no limit).  Returns its width in columns.
 */
u32 out_put_visible(struct buf *buf, const char *text, size_t n, u32 max_width);

/*
 * Items on as few lines as the terminal's width allows, or 100 columns where there is
 * none: lines are broken between items, never within one.
 */
struct out_flow {
	u32 limit;
	u32 column; /* of the line so far */
};

void out_flow_init(struct out_flow *flow, const struct out *out);
/* Makes room for an item of `width` columns: a gap, or a new line. */
void out_flow_next(struct out *out, struct out_flow *flow, u32 width);
/* Text as an item of its own. */
void out_flow_put(struct out *out, struct out_flow *flow, const char *text, size_t n);

/* The "(other)" row is the last; with UNNEST it is several, which reach to the end. */
static inline bool out_is_other(const struct batch *batch, u32 row)
{
	return batch->other_row >= 0 && row >= batch->other_row;
}

/* The counters of streamed rows' small batches, closed by the last one. */
struct out_run {
	struct batch last; /* schema and values are not kept */
	u64 n_rows;
	bool is_closed;
};

/* Takes in one small batch; true when it was the last and the run is to be summed up. */
bool out_run_add(struct out_run *run, const struct batch *batch);

#endif
