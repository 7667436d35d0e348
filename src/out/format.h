/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What the formats share inside this layer: numbers, intervals, quantiles and
 * charts as text, unique column names, safe text, and writing in pieces so that a
 * window of any size needs a buffer of fixed size.
 */
#ifndef EBQL_OUT_FORMAT_H
#define EBQL_OUT_FORMAT_H

#include "out/out.h"

extern const struct out_format out_table, out_expanded, out_json, out_csv, out_heatmap, out_arrow,
	out_jsonl, out_folded, out_flamegraph, out_line;

/* The sink takes what was written whenever it is more than this. */
#define OUT_CHUNK_BYTES (64 << 10)

/*
 * Behind each row, and within one that may become long.  False once something has failed
 * (out->error): the format can stop early.
 */
static inline bool out_row_done(struct out *out)
{
	if (out->buf.n >= OUT_CHUNK_BYTES)
		out->flush(out);
	return !out->error;
}

/* Columns of the terminal; 0: no limit. */
static inline u32 out_width(const struct out *out)
{
	return out->options.is_terminal ? out->options.width : 0;
}

/* "0x1f", without leading zeros. */
void out_put_hex(struct buf *buf, u128 value);

/* Up to three decimals; what is too large or too small for them with an exponent. */
void out_put_short_real(struct buf *buf, double value);

/* --- Values that are `of` a kind (struct type's of), for people: measure.c --- */

enum out_rounding { OUT_DOWN, OUT_NEAREST, OUT_UP };

#define OUT_DIGITS_USUAL 3u
#define OUT_DIGITS_EXACT 30u

/*
 * A DURATION with its unit and so many significant digits (whole units are never cut),
 * a POINTER in hex, another kind in plain digits: counts have thousands separators,
 * values have none, since in an interval a comma stands between its bounds.
 */
void out_put_measure(struct buf *buf, u8 of, s128 value, u32 digits, enum out_rounding rounding);
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
 * A DURATION within an interval: three digits, at most `most`, more than three only where its
 * text would else lie outside.
 */
void out_put_duration_within(struct buf *buf, s128 ns, const struct scheme_edges *edges, u32 most);

/* --- JSON: text.c --- */

void out_put_json_bound(struct buf *buf, bool has, s128 bound); /* null without one */
void out_put_json_count(struct buf *buf, const char *before, u64 count);
/* What the batch says of itself, `{"window_start":...}`: json.c. */
void out_put_json_batch(const struct out *out, struct buf *buf, const struct batch *batch,
			u64 n_rows);
/* A number, a text, or NULL. */
void out_put_json_scalar(struct buf *buf, struct type type, const struct value *value);

/* --- Values: value.c --- */

/* How a special value is shown: a histogram, quantiles, a top list.  One entry each. */
struct out_special {
	/* In a table's cell; NULL: it has a place of its own. */
	u32 (*n_lines)(const struct value *value);
	u32 (*put_line)(struct buf *buf, struct type type, const struct value *value, u32 line);
	void (*put_json)(struct buf *buf, struct type type, const struct value *value);
};

extern const struct out_special out_quantiles, out_histogram, out_top, out_stack;

/* Lines it takes in a table: a ladder has one for each rung, a top list one for each value. */
u32 out_n_lines(const struct value *value);
/* One of them, cut to max_width columns (0: whole).  Returns its width. */
u32 out_put_cell(struct out *out, struct buf *buf, struct type type, const struct value *value,
		 u32 line, u32 max_width);
/* As it stands in a row, and in CSV's cells where CSV has no form of its own for it. */
void out_put_json_value(struct buf *buf, struct type type, const struct value *value);

/* What a table shows in the "(other)" rows. */
#define OUT_OTHER "(other)"
/*
 * In those rows the keys are NULL: the first of these columns carries the mark.  n_columns where
 * none is shown; the mark then stands behind the rows.
 */
u32 out_other_column(const struct batch *batch);

/* --- Charts: chart.c --- */

/* Lines of bars from the first to the last cell that holds something, and a line of sums. */
void out_put_chart(struct out *out, u8 of, const struct histogram *histogram);
/* Bars for a histogram of n values in `span` cells, by options.bins; from 1. */
u32 out_n_bins(u32 bins, u64 n, u32 span);

/* --- Lines about a batch: account.c --- */

/*
 * "22:13:20.000 - 22:13:21.000   events 12  matched 12" above a window's rows, and an empty line
 * above that behind another window; and below the rows that it was late, and the losses.
 */
void out_put_window_head(struct out *out, const struct batch *batch, bool *has_output);
void out_put_notes(struct out *out, const struct batch *batch, u64 n_rows);
/* "22:13:20.000", of CLOCK_REALTIME; with is_short in microseconds. */
void out_put_instant(struct buf *buf, u64 realtime_ns, bool is_short);
/* So short a stretch of time that milliseconds do not tell its ends apart. */
bool out_is_short(u64 start_ns, u64 end_ns);
/* "22:13:20.000 - 22:13:21.000", or "no window" */
void out_put_window(struct buf *buf, const struct batch *batch);
/* `before` and "late: ...", without a line end; false: nothing, as it was not. */
bool out_put_late(struct buf *buf, const char *before, const struct batch *batch);
/* The same where max_cpu left out threads, or ended the run. */
bool out_put_sampled(struct buf *buf, const char *before, const struct batch *batch);
/* Of several batches in turn: the latest one's, and what there was before. */
void out_add_sampled(struct batch *total, const struct batch *batch);
/* "lost: ..." without a line end; nothing where nothing was lost. */
void out_put_loss(struct buf *buf, const struct batch *batch);

/* --- Columns: names.c --- */

/* reserved: ends with NULL.  0, or -ENOMEM: there is nothing to free then. */
int out_columns_init(struct out_columns *columns, const struct schema *schema,
		     const char *const *reserved, bool keeps_other);
void out_columns_free(struct out_columns *columns);
/*
 * What it has of a row; a bound that is not there is NULL.  Instants are CLOCK_REALTIME, as the
 * bounds of windows are, and as files have them.
 */
struct value out_column_value(const struct out *out, const struct out_column *column,
			      const struct value *row);

/* What is to be added to a TIMESTAMP of that type to make it one of CLOCK_REALTIME. */
static inline s64 out_clock_offset(const struct out *out, struct type type)
{
	return type.clock == CLOCK_MONO ? out->options.monotonic_to_realtime_ns : 0;
}

/* Has the schema a column of that name? */
bool out_has_column(const struct schema *schema, const char *name);
/* Is _other one of the columns?  Then nothing else tells it. */
bool out_selects_other(const struct schema *schema);

/* --- Text: text.c --- */

/* Bold from here on, or no more; nothing where escapes are not obeyed. */
void out_put_bold(struct out *out, bool is_bold);

/* out->scratch, padded with spaces behind it or before it. */
void out_put_left(struct out *out, u32 columns);
void out_put_right(struct out *out, u32 columns);

/*
 * Items on as few lines as the terminal's width allows, or 100 columns where there is
 * none: lines are broken between items, never within one.
 */
struct out_flow {
	u32 limit;
	bool is_one_line; /* what finds no room is left out */
	u32 column;	  /* of the line so far */
};

void out_flow_init(struct out_flow *flow, const struct out *out);
/* Makes room for an item of `width` columns: a gap, or a new line.  false: there is none. */
bool out_flow_next(struct out *out, struct out_flow *flow, u32 width);
/* "NAME12,345" as an item of its own: account.c. */
void out_flow_count(struct out *out, struct out_flow *flow, const char *name, u64 count);
/* Text as an item of its own. */
void out_flow_put(struct out *out, struct out_flow *flow, const char *text, size_t n);

/* The "(other)" row is the last; with UNNEST it is several, which reach to the end. */
static inline bool out_is_other(const struct batch *batch, u32 row)
{
	return batch->other_row >= 0 && row >= batch->other_row;
}

#endif
