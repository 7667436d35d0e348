/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Histogram -> bars: one line for each cell, or for each run of neighbouring cells,
 * from the first to the last that holds something: its range, count, share, share
 * of all up to it, and a bar; then a line of sums.  And JSON.
 */
#include "out/format.h"

#define BAR_USUAL_COLUMNS 40
#define BAR_MIN_COLUMNS	  4
#define GAP_MIN_LINES	  4 /* so many empty lines in a row become one of "..." */

/* Cells that hold something, met in order in runs of `a_line` cells. */
struct walk {
	const struct histogram *histogram;
	u32 last;   /* cell */
	u32 a_line; /* cells a line */
	u32 cell;   /* the line's first */
	u32 at;	    /* histogram->cells[at] is the next that holds something */
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
	bool has_share, has_up_to;
	u32 bar_columns; /* 0: no bars */
	u64 largest;
};

/* --- Bins --- */

static u64 root_up(u64 n)
{
	u64 root = base_root(n);

	return root + (root * root < n);
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
		wanted = root_up(n);
	else if (bins == OUT_BINS_STURGES)
		wanted = log2_up(n) + 1;
	return (u32)MAX(MIN(wanted, span), 1u);
}

/* --- Lines --- */

static void walk_init(struct walk *walk, const struct histogram *histogram, u32 bins)
{
	u32 first = histogram->cells[0].cell, last = histogram->cells[histogram->n_cells - 1].cell;
	u32 span = last - first + 1, n = out_n_bins(bins, histogram->count, span);

	*walk = (struct walk){
		.histogram = histogram,
		.last = last,
		.a_line = (u32)(((u64)span + n - 1) / n),
		.cell = first,
	};
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
	line->is_gap = empty >= GAP_MIN_LINES;
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
static u32 edge_digits(struct walk walk)
{
	const struct scheme *scheme = walk.histogram->scheme;
	u32 digits = OUT_DIGITS_USUAL;
	struct line line = { 0 };

	if (scheme->kind == SCHEME_LINEAR || scheme->kind == SCHEME_BOUNDS)
		return OUT_DIGITS_EXACT;
	while (walk_next(&walk, &line)) {
		if (!line.is_gap && line.edges.has_lo && line.edges.has_hi &&
		    line.edges.lo < line.edges.hi)
			digits = MAX(digits, out_interval_digits(line.edges.lo, line.edges.hi));
	}
	return digits;
}

#define SHARE_COLUMNS 8 /* "  100.0%" with one more, each of the two */
#define BAR_GAP	      2

/* What finds no room goes: the bar first, then the sum of shares, then the share. */
static void fit(struct layout *layout, u32 width)
{
	u32 columns = layout->range_columns + 2 + layout->count_columns;
	u32 all = columns + 2 * SHARE_COLUMNS + BAR_GAP;

	layout->has_share = columns + SHARE_COLUMNS <= width;
	layout->has_up_to = columns + 2 * SHARE_COLUMNS <= width;
	layout->bar_columns = all + BAR_MIN_COLUMNS <= width ? width - all : 0;
}

static void set_layout(struct out *out, struct walk walk, struct layout *layout)
{
	u32 width = out_width(out);
	struct line line = { 0 };

	layout->digits = edge_digits(walk);
	layout->range_columns = 5;
	layout->count_columns = 5;
	while (walk_next(&walk, &line)) {
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
	fit(layout, width ? width : UINT32_MAX);
	if (!width)
		layout->bar_columns = BAR_USUAL_COLUMNS;
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

/*
 * count / n as "12.5%".  Only all of n is 100.0% and only none of it 0.0%: so a line that says
 * "up to 100.0%" is the last that holds something.
 */
static void put_share(struct out *out, u64 count, u64 n)
{
	u32 share = (u32)(((u128)count * 1000 + n / 2) / n); /* parts of a thousand */

	if (count < n)
		share = MIN(share, 999u);
	buf_reset(&out->scratch);
	if (count > 0 && share == 0)
		buf_puts(&out->scratch, "<0.1%");
	else
		buf_printf(&out->scratch, "%u.%u%%", share / 10, share % 10);
	out_put_right(out, SHARE_COLUMNS);
}

static void put_line(struct out *out, const struct layout *layout, const struct line *line, u64 n)
{
	buf_reset(&out->scratch);
	if (line->is_gap) {
		buf_puts(&out->buf, "...\n");
		return;
	}
	out_put_interval(&out->scratch, layout->of, &line->edges, layout->digits, false);
	out_put_left(out, layout->range_columns);
	buf_reset(&out->scratch);
	out_put_thousands(&out->scratch, line->count);
	out_put_right(out, layout->count_columns + 2);
	if (layout->has_share)
		put_share(out, line->count, n);
	if (layout->has_up_to)
		put_share(out, line->cumulated, n);
	put_bar(out, layout, line->count);
	buf_putc(&out->buf, '\n');
}

static void put_head(struct out *out, const struct layout *layout)
{
	buf_reset(&out->scratch);
	buf_puts(&out->scratch, "range");
	out_put_left(out, layout->range_columns);
	buf_reset(&out->scratch);
	buf_puts(&out->scratch, "count");
	out_put_right(out, layout->count_columns + 2);
	if (layout->has_share)
		buf_puts(&out->buf, "   share");
	if (layout->has_up_to)
		buf_puts(&out->buf, "   up to");
	buf_putc(&out->buf, '\n');
}

static void put_sum(struct out *out, struct out_flow *flow, u8 of, const char *name, s128 value)
{
	buf_reset(&out->scratch);
	buf_puts(&out->scratch, name);
	out_put_measure(&out->scratch, of, value, OUT_DIGITS_USUAL, OUT_NEAREST);
	out_flow_put(out, flow, out->scratch.at, out->scratch.n);
}

static void put_average(struct buf *buf, u8 of, s128 sum, u64 n)
{
	s128 nearest = (sum + (sum < 0 ? -(s128)(n / 2) : (s128)(n / 2))) / n;

	if (of == TYPE_DURATION)
		out_put_duration(buf, nearest);
	else if (of == TYPE_TIMESTAMP)
		buf_put_s128(buf, nearest);
	else
		out_put_short_real(buf, (double)((long double)sum / n));
}

static void put_sums(struct out *out, u8 of, const struct histogram *histogram)
{
	u64 n = histogram->count + histogram->n_unplaced;
	struct out_flow flow;

	out_flow_init(&flow, out);
	out_flow_count(out, &flow, "count ", histogram->count);
	/* Instants have a mean, but no sum; addresses have neither. */
	if (n > 0 && of != TYPE_TIMESTAMP && of != TYPE_POINTER)
		put_sum(out, &flow, of, "sum ", histogram->sum);
	if (n > 0) {
		put_sum(out, &flow, of, "min ", histogram->min);
		put_sum(out, &flow, of, "max ", histogram->max);
	}
	if (n > 0 && of != TYPE_POINTER) {
		buf_reset(&out->scratch);
		buf_puts(&out->scratch, "avg ");
		put_average(&out->scratch, of, histogram->sum, n);
		out_flow_put(out, &flow, out->scratch.at, out->scratch.n);
	}
	if (histogram->n_unplaced > 0)
		out_flow_count(out, &flow, "unplaced ", histogram->n_unplaced);
	buf_putc(&out->buf, '\n');
}

void out_put_chart(struct out *out, u8 of, const struct histogram *histogram)
{
	struct layout layout = { .of = of };
	struct line line = { 0 };
	struct walk walk;

	if (histogram->count > 0) {
		walk_init(&walk, histogram, out->options.bins);
		set_layout(out, walk, &layout);
		put_head(out, &layout);
		while (walk_next(&walk, &line)) {
			put_line(out, &layout, &line, histogram->count);
			if (!out_row_done(out))
				return;
		}
	}
	put_sums(out, of, histogram);
}

/* --- JSON --- */

/* {"scheme":"log2","cells":[[lo,hi,count],...],"count":n,...} */
static void put_json(struct buf *buf, struct type type, const struct value *value)
{
	const struct histogram *histogram = value->histogram;
	bool has_values = histogram->count > 0 || histogram->n_unplaced > 0;

	buf_puts(buf, "{\"scheme\":\"");
	scheme_print(histogram->scheme, buf);
	buf_puts(buf, "\",\"cells\":[");
	for (u32 i = 0; i < histogram->n_cells; i++) {
		struct scheme_edges edges;

		scheme_edges(histogram->scheme, histogram->cells[i].cell, &edges);
		buf_puts(buf, i == 0 ? "[" : ",[");
		out_put_json_bound(buf, edges.has_lo, edges.lo);
		buf_putc(buf, ',');
		out_put_json_bound(buf, edges.has_hi, edges.hi);
		out_put_json_count(buf, ",", histogram->cells[i].count);
		buf_putc(buf, ']');
	}
	out_put_json_count(buf, "],\"count\":", histogram->count);
	buf_puts(buf, ",\"sum\":");
	buf_put_s128(buf, histogram->sum);
	buf_puts(buf, ",\"min\":");
	out_put_json_bound(buf, has_values, histogram->min);
	buf_puts(buf, ",\"max\":");
	out_put_json_bound(buf, has_values, histogram->max);
	if (histogram->n_unplaced > 0)
		out_put_json_count(buf, ",\"unplaced\":", histogram->n_unplaced);
	buf_putc(buf, '}');
}

/* Its lines are a chart: out_put_chart(). */
const struct out_special out_histogram = { NULL, NULL, put_json };
