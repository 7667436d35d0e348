/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Histogram -> bars: one line for each cell, or for each run of neighbouring cells,
 * from the first to the last that holds something: its range, count, share, share
 * of all up to it, and a bar; then a line of sums.
 */
#include "out/format.h"

#define BAR_USUAL_COLUMNS 40
#define BAR_MIN_COLUMNS	  4
#define GAP_MIN_CELLS	  4 /* so many empty lines in a row become one of "..." */

/* Cells that hold something, met in order in runs of `a_line` cells. */
struct walk {
	const struct histogram *histogram;
	u32 first, last; /* cells */
	u32 a_line;	 /* cells a line */
	u32 cell;	 /* the line's first */
	u32 at;		 /* histogram->cells[at] is the next that holds something */
	bool has_gaps;	 /* long empty stretches are skipped */
};

struct line {
	bool is_gap;
	struct scheme_edges edges;
	u64 count;
	u64 cumulated;
};

struct layout {
	u8 of;
	u32 digits;
	u32 range_columns, count_columns;
	u32 bar_columns;
	u64 largest;
};

/* --- Bins --- */

static u64 square_root_up(u64 n)
{
	u64 low = 0, high = (u64)1 << 32;

	while (low < high) {
		u64 middle = (low + high) / 2;

		if ((u128)middle * middle >= n)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

static u32 log2_up(u64 n)
{
	return n <= 1 ? 0 : 64 - (u32)__builtin_clzll(n - 1);
}

u32 out_n_bins(u32 bins, u64 n, u32 span)
{
	u64 wanted = bins;

	if (bins == OUT_BINS_ALL)
		return span;
	if (bins == OUT_BINS_SQRT)
		wanted = square_root_up(n);
	else if (bins == OUT_BINS_STURGES)
		wanted = log2_up(n) + 1;
	return (u32)MAX(MIN(wanted, span), 1u);
}

/* --- Lines --- */

/* Two hundred empty cells are a stretch of a scheme with many; of log2 or bounds they tell. */
static bool is_fine(const struct scheme *scheme)
{
	return scheme->kind == SCHEME_EXPONENTIAL || scheme->kind == SCHEME_LOGLINEAR ||
	       scheme->kind == SCHEME_LINEAR;
}

static void walk_init(struct walk *walk, const struct histogram *histogram, u32 bins)
{
	u32 first = histogram->cells[0].cell, last = histogram->cells[histogram->n_cells - 1].cell;
	u32 span = last - first + 1, n = out_n_bins(bins, histogram->count, span);

	*walk = (struct walk){
		.histogram = histogram,
		.first = first,
		.last = last,
		.a_line = (u32)(((u64)span + n - 1) / n),
		.cell = first,
		.has_gaps = is_fine(histogram->scheme),
	};
}

static void walk_again(struct walk *walk)
{
	walk->cell = walk->first;
	walk->at = 0;
}

/* False behind the last line.  The line's cumulated count is the caller's to carry on. */
static bool walk_next(struct walk *walk, struct line *line)
{
	const struct histogram *histogram = walk->histogram;
	struct scheme_edges last;
	u32 end, empty;

	if (walk->cell > walk->last || walk->at >= histogram->n_cells)
		return false;
	empty = (histogram->cells[walk->at].cell - walk->cell) / walk->a_line;
	line->is_gap = walk->has_gaps && empty >= GAP_MIN_CELLS;
	if (line->is_gap) {
		walk->cell += empty * walk->a_line;
		return true;
	}
	line->count = 0;
	end = MIN(walk->last - walk->cell, walk->a_line - 1) + walk->cell;
	for (; walk->at < histogram->n_cells && histogram->cells[walk->at].cell <= end; walk->at++)
		line->count += histogram->cells[walk->at].count;
	line->cumulated += line->count;
	scheme_edges(histogram->scheme, walk->cell, &line->edges);
	scheme_edges(histogram->scheme, end, &last);
	line->edges.hi = last.hi;
	line->edges.has_hi = last.has_hi;
	line->edges.is_hi_open = last.is_hi_open;
	walk->cell = end + 1;
	return true;
}

/* --- Layout --- */

/* Edges that somebody wrote are shown as written; else as few digits as tell them apart. */
static u32 edge_digits(struct walk *walk)
{
	const struct scheme *scheme = walk->histogram->scheme;
	u32 digits = OUT_DIGITS_USUAL;
	struct line line = { 0 };

	if (scheme->kind == SCHEME_LINEAR || scheme->kind == SCHEME_BOUNDS)
		return OUT_DIGITS_EXACT;
	for (walk_again(walk); walk_next(walk, &line);) {
		if (!line.is_gap && line.edges.has_lo && line.edges.has_hi)
			digits = MAX(digits, out_interval_digits(line.edges.lo, line.edges.hi));
	}
	return digits;
}

/* "  50.0%   99.95%": what stands between count and bar, with its gaps. */
#define SHARE_COLUMNS 19

static void set_layout(struct out *out, struct walk *walk, struct layout *layout)
{
	const struct out_options *options = &out->options;
	struct line line = { 0 };
	u32 text_columns;

	layout->digits = edge_digits(walk);
	layout->range_columns = 5;
	layout->count_columns = 5;
	for (walk_again(walk); walk_next(walk, &line);) {
		if (line.is_gap)
			continue;
		buf_reset(&out->scratch);
		out_put_interval(&out->scratch, layout->of, &line.edges, layout->digits, false);
		layout->range_columns = MAX(layout->range_columns, (u32)out->scratch.n);
		buf_reset(&out->scratch);
		out_put_thousands(&out->scratch, line.count);
		layout->count_columns = MAX(layout->count_columns, (u32)out->scratch.n);
		layout->largest = MAX(layout->largest, line.count);
	}
	layout->bar_columns = BAR_USUAL_COLUMNS;
	text_columns = layout->range_columns + 2 + layout->count_columns + SHARE_COLUMNS;
	if (options->is_terminal && options->width > 0)
		layout->bar_columns = MAX(options->width, text_columns) - text_columns;
	if (layout->bar_columns < BAR_MIN_COLUMNS)
		layout->bar_columns = 0;
}

/* --- Writing --- */

/* In eighths of a column; what is not 0 is seen. */
static void put_bar(struct out *out, const struct layout *layout, u64 count)
{
	u32 unit = out->is_utf8 ? 8 : 1;
	u64 length = (u64)((u128)count * layout->bar_columns * unit / layout->largest);

	if (count > 0 && length == 0 && layout->bar_columns > 0)
		length = 1;
	if (length > 0)
		buf_puts(&out->buf, "  ");
	if (!out->is_utf8) {
		buf_fill(&out->buf, '#', length);
		return;
	}
	for (; length >= 8; length -= 8)
		buf_puts(&out->buf, "\xe2\x96\x88");
	/* U+2588 is the full block, U+258F one eighth. */
	if (length > 0) {
		buf_puts(&out->buf, "\xe2\x96");
		buf_putc(&out->buf, (char)(0x90 - length));
	}
}

static void put_left(struct out *out, u32 columns)
{
	buf_put(&out->buf, out->scratch.at, out->scratch.n);
	if (out->scratch.n < columns)
		buf_fill(&out->buf, ' ', columns - out->scratch.n);
}

static void put_right(struct out *out, u32 columns)
{
	if (out->scratch.n < columns)
		buf_fill(&out->buf, ' ', columns - out->scratch.n);
	buf_put(&out->buf, out->scratch.at, out->scratch.n);
}

/* count / n as "12.5%" in 8 columns, of `parts` parts a hundred; is_floor: never rounded up. */
static void put_share(struct out *out, u64 count, u64 n, u32 decimals, u32 columns, bool is_floor)
{
	u32 scale = decimals == 2 ? 100 : 10;
	u64 share = (u64)(((u128)count * 100 * scale + (is_floor ? 0 : n / 2)) / n);

	buf_reset(&out->scratch);
	buf_printf(&out->scratch, "%llu.%0*llu%%", (unsigned long long)(share / scale),
		   (int)decimals, (unsigned long long)(share % scale));
	put_right(out, columns);
}

static void put_line(struct out *out, const struct layout *layout, const struct line *line, u64 n)
{
	buf_reset(&out->scratch);
	if (line->is_gap) {
		buf_puts(&out->buf, "...\n");
		return;
	}
	out_put_interval(&out->scratch, layout->of, &line->edges, layout->digits, false);
	put_left(out, layout->range_columns);
	buf_reset(&out->scratch);
	out_put_thousands(&out->scratch, line->count);
	put_right(out, layout->count_columns + 2);
	put_share(out, line->count, n, 1, 8, false);
	/* Rounded down: 100.00% says that nothing comes behind. */
	put_share(out, line->cumulated, n, 2, 9, true);
	put_bar(out, layout, line->count);
	buf_putc(&out->buf, '\n');
}

static void put_head(struct out *out, const struct layout *layout)
{
	buf_reset(&out->scratch);
	buf_puts(&out->scratch, "range");
	put_left(out, layout->range_columns);
	buf_reset(&out->scratch);
	buf_puts(&out->scratch, "count");
	put_right(out, layout->count_columns + 2);
	buf_puts(&out->buf, "   share    up to\n");
}

static void put_sums(struct out *out, u8 of, const struct histogram *histogram)
{
	u64 n = histogram->count + histogram->n_unplaced;
	struct buf *buf = &out->buf;

	buf_puts(buf, "count ");
	out_put_thousands(buf, histogram->count);
	if (n > 0) {
		buf_puts(buf, "  sum ");
		out_put_measure(buf, of, histogram->sum, OUT_DIGITS_USUAL, OUT_NEAREST);
		buf_puts(buf, "  min ");
		out_put_measure(buf, of, histogram->min, OUT_DIGITS_USUAL, OUT_NEAREST);
		buf_puts(buf, "  max ");
		out_put_measure(buf, of, histogram->max, OUT_DIGITS_USUAL, OUT_NEAREST);
		buf_puts(buf, "  avg ");
		out_put_average(buf, of, histogram->sum, n);
	}
	if (histogram->n_unplaced > 0) {
		buf_puts(buf, "  unplaced ");
		out_put_thousands(buf, histogram->n_unplaced);
	}
	buf_putc(buf, '\n');
}

void out_put_chart(struct out *out, u8 of, const struct histogram *histogram)
{
	struct layout layout = { .of = of };
	struct line line = { 0 };
	struct walk walk;

	if (histogram->count > 0) {
		walk_init(&walk, histogram, out->options.bins);
		set_layout(out, &walk, &layout);
		put_head(out, &layout);
		for (walk_again(&walk); walk_next(&walk, &line);) {
			put_line(out, &layout, &line, histogram->count);
			if (!out_row_done(out))
				return;
		}
	}
	put_sums(out, of, histogram);
}
