/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Kept windows -> the heat map's picture: in ASCII shades, whole, or in a terminal's
 * colours, drawn over the one before.
 *
 * Rows of the map are runs of equally many cells of the scheme, so the map's axis is
 * logarithmic where the scheme is.
 */
#include "out/heatmap.h"

#include <math.h>
#include <string.h>

#define HEATMAP_USUAL_HEIGHT 24u /* lines where there is no terminal */
#define HEATMAP_FRAME_LINES  6u	 /* two of legend, axis, instants, state, the cursor's line */
#define HEATMAP_SMALL_LINES  3u	 /* of these the first, the state and the cursor's ... */
#define HEATMAP_SMALL_HEIGHT 10u /* ... in terminals lower than this */
#define HEATMAP_MIN_HEIGHT   4u
#define HEATMAP_MIN_WIDTH    30u
#define LABEL_MIN_COLUMNS    4u

/* The map's rows for the cells that were seen, and its columns that are shown. */
struct heat_view {
	u32 lowest, a_row; /* row of a cell: cell / a_row - lowest */
	u32 n_rows;
	u32 from, n_columns; /* of state's columns, oldest first */
	u32 digits, label_columns;
	u64 largest;
};

/* --- The view --- */

/*
 * Rows for all cells that the kept windows hold, at most `height` and at most what --bins
 * says; none when they hold nothing.
 */
static void view_rows(struct out *out, u32 height, struct heat_view *view)
{
	const struct heat_state *state = out->state;
	u32 first = UINT32_MAX, last = 0;

	for (u32 i = 0; i < state->n_columns; i++) {
		const struct heat_column *column = &state->columns[i];

		if (column->n_cells == 0)
			continue;
		first = MIN(first, column->cells[0].cell);
		last = MAX(last, column->cells[column->n_cells - 1].cell);
	}
	view->a_row = 1;
	view->n_rows = 0;
	if (first > last)
		return;
	height = MIN(height, HEATMAP_ROWS_MAX);
	height = MIN(height, out_n_bins(out->options.bins, state->count, last - first + 1));
	/* Borders at multiples, so that rows stay what they are when the range grows. */
	while (last / view->a_row - first / view->a_row + 1 > height)
		view->a_row++;
	view->lowest = first / view->a_row;
	view->n_rows = last / view->a_row - view->lowest + 1;
}

/* The lower edge of a row. */
static void put_label(struct out *out, const struct heat_view *view, u32 row)
{
	struct heat_state *state = out->state;
	struct scheme_edges edges;

	buf_reset(&out->scratch);
	scheme_edges(&state->scheme, (view->lowest + row) * view->a_row, &edges);
	if (edges.has_lo)
		out_put_measure(&out->scratch, state->of, edges.lo, view->digits, OUT_NEAREST);
	else
		buf_puts(&out->scratch, "-inf");
}

static void view_labels(struct out *out, struct heat_view *view)
{
	struct heat_state *state = out->state;

	view->digits = OUT_DIGITS_USUAL;
	if (state->scheme.kind == SCHEME_LINEAR || state->scheme.kind == SCHEME_BOUNDS)
		view->digits = OUT_DIGITS_EXACT;
	for (u32 row = 0; row + 1 < view->n_rows; row++) {
		struct scheme_edges low, high;

		scheme_edges(&state->scheme, (view->lowest + row) * view->a_row, &low);
		scheme_edges(&state->scheme, (view->lowest + row + 1) * view->a_row, &high);
		if (low.has_lo)
			view->digits = MAX(view->digits, out_interval_digits(low.lo, high.lo));
	}
	view->label_columns = LABEL_MIN_COLUMNS;
	for (u32 row = 0; row < view->n_rows; row++) {
		put_label(out, view, row);
		view->label_columns = MAX(view->label_columns, (u32)out->scratch.n);
	}
}

static void view_grid(struct heat_state *state, struct heat_view *view)
{
	memset(state->grid, 0, (size_t)view->n_rows * view->n_columns * sizeof(u64));
	view->largest = 0;
	for (u32 i = 0; i < view->n_columns; i++) {
		const struct heat_column *column = &state->columns[view->from + i];

		for (u32 j = 0; j < column->n_cells; j++) {
			u32 row = column->cells[j].cell / view->a_row - view->lowest;
			u64 *at = &state->grid[(size_t)row * view->n_columns + i];

			*at += column->cells[j].count;
			view->largest = MAX(view->largest, *at);
		}
	}
}

/* 0 for no event, then 1 .. n_shades - 1 by the logarithm of the count. */
static u32 shade_of(u64 count, u64 largest, u32 n_shades)
{
	if (count == 0)
		return 0;
	if (largest <= 1)
		return n_shades - 1;
	return 1 + (u32)(log2((double)count) / log2((double)largest) * (n_shades - 2) + 0.5);
}

/* --- Shades --- */

static const char ascii_shades[] = " .:-=+*#%@";

#define N_ASCII_SHADES ((u32)sizeof(ascii_shades) - 1)

/* Of the 256 colours' 6 x 6 x 6 cube: from dark blue through green and yellow to red, white. */
static const u8 live_colours[] = { 0,  17,  18,	 19,  25,  31,	37,  43,  42,
				   76, 118, 190, 226, 220, 214, 208, 202, 196 };

static void put_colour(struct out *out, u32 shade)
{
	if (!shade) {
		buf_puts(&out->buf, "\x1b[0m");
		return;
	}
	buf_puts(&out->buf, "\x1b[48;5;");
	buf_put_u64(&out->buf, live_colours[shade]);
	buf_putc(&out->buf, 'm');
}

/* --- Lines of text --- */

/* Instants below the axis: where the first column begins, where the last one ends. */
static void put_instants(struct out *out, const struct heat_view *view, u32 width)
{
	struct heat_state *state = out->state;
	u32 n = view->n_columns;
	u64 start_ns = state->columns[view->from].start_ns;
	u64 end_ns = state->columns[view->from + n - 1].end_ns;
	bool is_short = out_is_short(start_ns, end_ns);

	buf_fill(&out->buf, ' ', view->label_columns + 2);
	out_put_instant(&out->buf, start_ns, is_short);
	buf_reset(&out->scratch);
	out_put_instant(&out->scratch, end_ns, is_short);
	if (n >= 2 * out->scratch.n + 2) {
		out_put_right(out, n - (u32)out->scratch.n);
	} else if (width == 0 || view->label_columns + 2 + 2 * out->scratch.n + 3 <= width) {
		buf_puts(&out->buf, " - ");
		out_put_right(out, 0);
	}
}

static void put_axis(struct out *out, const struct heat_view *view)
{
	buf_fill(&out->buf, ' ', view->label_columns + 1);
	buf_putc(&out->buf, '+');
	buf_fill(&out->buf, '-', view->n_columns);
}

/* A live map's lines erase what a longer one left there. */
static void end_line(struct out *out)
{
	struct heat_state *state = out->state;

	buf_puts(&out->buf, heatmap_is_live(out) ? "\x1b[K\n" : "\n");
	state->drawn_lines++;
}

static void put_row(struct out *out, const struct heat_view *view, u32 row)
{
	struct heat_state *state = out->state;
	const u64 *counts = &state->grid[(size_t)row * view->n_columns];
	bool is_live = heatmap_is_live(out);
	u32 shown = 0;

	put_label(out, view, row);
	out_put_right(out, view->label_columns);
	buf_puts(&out->buf, " |");
	for (u32 i = 0; i < view->n_columns; i++) {
		u32 shade = shade_of(counts[i], view->largest,
				     is_live ? ARRAY_SIZE(live_colours) : N_ASCII_SHADES);

		if (is_live && shade != shown)
			put_colour(out, shade);
		buf_putc(&out->buf, is_live ? ' ' : ascii_shades[shade]);
		shown = shade;
	}
	if (is_live && shown)
		put_colour(out, 0);
	/* No spaces at the end of a line of text. */
	while (!is_live && out->buf.at[out->buf.n - 1] == ' ')
		out->buf.n--;
	end_line(out);
	out_row_done(out);
}

static void put_map(struct out *out, const struct heat_view *view, u32 width, bool has_axis)
{
	for (u32 row = view->n_rows; row-- > 0;)
		put_row(out, view, row);
	if (!has_axis)
		return;
	put_axis(out, view);
	end_line(out);
	put_instants(out, view, width);
	end_line(out);
}

#define GAP	       "  "
#define LEGEND_ROWS    "rows: from the value on the left upward"
#define LEGEND_SCALE   "log scale, relative to the largest of the map"
#define LEGEND_COLOURS "colours: log scale"
#define TOO_SMALL      "terminal too small"

/* "4 cells a row" into buf, or false where each is its own. */
static bool legend_merged(struct buf *buf, u64 n, const char *what)
{
	buf_reset(buf);
	out_put_thousands(buf, n);
	buf_putc(buf, ' ');
	buf_puts(buf, what);
	return n > 1;
}

static bool is_too_small(const struct out *out)
{
	const struct out_options *options = &out->options;

	return options->is_terminal &&
	       ((options->width > 0 && options->width < HEATMAP_MIN_WIDTH) ||
		(options->height > 0 && options->height < HEATMAP_MIN_HEIGHT));
}

/* What the run saw and lost.  n_shown: columns that the picture has room for. */
static void put_totals(struct out *out, u64 n_shown)
{
	struct heat_state *state = out->state;
	struct out_flow flow;

	out_flow_init(&flow, out);
	buf_reset(&out->scratch);
	out_put_window(&out->scratch, &state->total);
	out_flow_put(out, &flow, out->scratch.at, out->scratch.n);
	out_flow_count(out, &flow, "windows ", state->n_windows);
	if (state->n_late > 0)
		out_flow_count(out, &flow, "late ", state->n_late);
	out_flow_count(out, &flow, "events ", state->total.account.events);
	out_flow_count(out, &flow, "matched ", state->total.account.matched);
	out_flow_count(out, &flow, "count ", state->count);
	if (state->n_unplaced > 0)
		out_flow_count(out, &flow, "unplaced ", state->n_unplaced);
	if (n_shown > 0 && state->n_windows > n_shown * state->a_column)
		out_flow_count(out, &flow, "shown: the last ", n_shown);
	buf_putc(&out->buf, '\n');
	out_put_notes(out, &state->total, 0);
}

/* --- The whole, in ASCII --- */

static void ascii_legend(struct out *out, const struct heat_view *view)
{
	struct heat_state *state = out->state;
	struct buf *scratch = &out->scratch;
	struct out_flow flow;

	out_flow_init(&flow, out);
	buf_reset(scratch);
	out_flow_next(out, &flow, out_put_visible(scratch, state->name, strlen(state->name), 0));
	buf_put(&out->buf, scratch->at, scratch->n);
	if (view->largest == 0) {
		buf_puts(&out->buf, GAP "no events\n");
		return;
	}
	buf_reset(scratch);
	buf_printf(scratch, "'%c' 1 .. '%c' ", ascii_shades[1], ascii_shades[N_ASCII_SHADES - 1]);
	out_put_thousands(scratch, view->largest);
	buf_puts(scratch, " events");
	out_flow_put(out, &flow, scratch->at, scratch->n);
	out_flow_put(out, &flow, LEGEND_SCALE, strlen(LEGEND_SCALE));
	out_flow_put(out, &flow, LEGEND_ROWS, strlen(LEGEND_ROWS));
	if (legend_merged(scratch, view->a_row, "cells a row"))
		out_flow_put(out, &flow, scratch->at, scratch->n);
	if (legend_merged(scratch, state->a_column, "windows a column"))
		out_flow_put(out, &flow, scratch->at, scratch->n);
	buf_putc(&out->buf, '\n');
}

/* In bands one below the other, each as wide as the terminal; all in one where width is 0. */
static void draw_all(struct out *out)
{
	struct heat_state *state = out->state;
	u32 height = out->options.height ? out->options.height : HEATMAP_USUAL_HEIGHT;
	struct heat_view view = { 0 };
	u32 band, n = state->n_columns;
	u64 largest;

	/* It scrolls, so all rows that were asked for are drawn, whatever the height. */
	if (out->options.bins != OUT_BINS_ALL)
		height = HEATMAP_ROWS_MAX + HEATMAP_FRAME_LINES;
	height = MAX(height, HEATMAP_FRAME_LINES + 1) - HEATMAP_FRAME_LINES;
	view_rows(out, height, &view);
	view_labels(out, &view);
	view.n_columns = n;
	view_grid(state, &view);
	largest = view.largest;
	band = n;
	if (out_width(out))
		band = MAX(out->options.width, view.label_columns + 3) - view.label_columns - 2;
	ascii_legend(out, &view);
	for (view.from = 0; view.from < n && !out->error; view.from += band) {
		view.n_columns = MIN(band, n - view.from);
		view_grid(state, &view);
		view.largest = largest;
		put_map(out, &view, out->options.width, true);
	}
}

/* --- Live, in colours --- */

/* Name, then the colours from 1 to the largest count; left out where it finds no room. */
static void live_legend(struct out *out, const struct heat_view *view, u32 width)
{
	struct heat_state *state = out->state;
	u32 left = width;

	buf_reset(&out->scratch);
	out_put_thousands(&out->scratch, view->largest);
	left -= out_put_visible(&out->buf, state->name, strlen(state->name), width);
	if (view->largest > 0 && left >= 5 + ARRAY_SIZE(live_colours) + out->scratch.n) {
		buf_puts(&out->buf, GAP "1 ");
		for (u32 shade = 1; shade < ARRAY_SIZE(live_colours); shade++) {
			put_colour(out, shade);
			buf_putc(&out->buf, ' ');
		}
		buf_puts(&out->buf, "\x1b[0m ");
		buf_put(&out->buf, out->scratch.at, out->scratch.n);
	}
	end_line(out);
}

/* As many parts as find room. */
static void live_legend_rows(struct out *out, const struct heat_view *view, u32 width)
{
	struct out_flow flow = { .limit = width, .is_one_line = true };

	out_flow_put(out, &flow, LEGEND_ROWS, strlen(LEGEND_ROWS));
	if (legend_merged(&out->scratch, view->a_row, "cells a row"))
		out_flow_put(out, &flow, out->scratch.at, out->scratch.n);
	out_flow_put(out, &flow, LEGEND_COLOURS, strlen(LEGEND_COLOURS));
	end_line(out);
}

static void live_state_line(struct out *out, const struct batch *batch, u32 width)
{
	struct heat_state *state = out->state;
	struct buf *buf = &out->scratch;

	buf_reset(buf);
	out_put_window(buf, batch);
	buf_puts(buf, "   count ");
	out_put_thousands(buf, state->window_count);
	if (state->window_n_unplaced > 0) {
		buf_puts(buf, "  unplaced ");
		out_put_thousands(buf, state->window_n_unplaced);
	}
	out_put_late(buf, "  ", batch);
	out_put_sampled(buf, "  ", batch);
	if (account_has_loss(&batch->account))
		buf_puts(buf, "  ");
	out_put_loss(buf, batch);
	out_put_visible(&out->buf, buf->at, buf->n, width);
	end_line(out);
}

/* Back to the first line that was drawn; a terminal of another size is wiped. */
static void live_home(struct out *out, u32 width, u32 height)
{
	struct heat_state *state = out->state;

	if (state->drawn_lines > 0 &&
	    (state->drawn_width != width || state->drawn_height != height))
		buf_puts(&out->buf, "\x1b[H\x1b[2J");
	else if (state->drawn_lines > 0)
		buf_printf(&out->buf, "\x1b[%uA\r", state->drawn_lines);
	state->drawn_lines = 0;
	state->drawn_width = width;
	state->drawn_height = height;
}

void heatmap_draw_live(struct out *out, const struct batch *batch)
{
	struct heat_state *state = out->state;
	/* The last column stays free: erasing behind a full line takes its last character. */
	u32 width = MAX(out->options.width ? out->options.width : 80, 2u) - 1;
	u32 height = out->options.height ? out->options.height : HEATMAP_USUAL_HEIGHT;
	bool is_small = height < HEATMAP_SMALL_HEIGHT;
	struct heat_view view = { 0 };
	u32 room;

	live_home(out, width, height);
	state->n_shown = 0;
	if (is_too_small(out)) {
		out_put_visible(&out->buf, TOO_SMALL, strlen(TOO_SMALL), width);
		end_line(out);
		buf_puts(&out->buf, "\x1b[J");
		return;
	}
	height -= is_small ? HEATMAP_SMALL_LINES : HEATMAP_FRAME_LINES;
	view_rows(out, height, &view);
	view_labels(out, &view);
	room = MAX(width, view.label_columns + 3) - view.label_columns - 2;
	view.n_columns = MIN(room, state->n_columns);
	view.from = state->n_columns - view.n_columns;
	state->n_shown = view.n_columns;
	view_grid(state, &view);
	live_legend(out, &view, width);
	if (!is_small)
		live_legend_rows(out, &view, width);
	put_map(out, &view, width, !is_small);
	live_state_line(out, batch, width);
	buf_puts(&out->buf, "\x1b[J");
}

void heatmap_draw_end(struct out *out)
{
	struct heat_state *state = out->state;

	if (state->n_columns == 0 || out->error)
		return;
	if (!heatmap_is_live(out)) {
		state->n_shown = state->n_columns;
		if (is_too_small(out))
			buf_puts(&out->buf, TOO_SMALL "\n");
		else
			draw_all(out);
	}
	put_totals(out, state->n_shown);
}
