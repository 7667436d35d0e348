/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Histograms of successive windows -> a heat map: time across, values up, one column
 * a window, colour by count.  A terminal sees it grow, redrawn in place; a file (or
 * --ascii) gets the whole of it at the end, in ASCII shades.
 *
 * Rows of the map are runs of equally many cells of the scheme, so the map's axis is
 * logarithmic where the scheme is.  The groups of a window are summed.
 */
#include "out/format.h"

#include <stdlib.h>
#include <string.h>

#define HEATMAP_COLUMNS_MAX  2048u /* windows that are kept */
#define HEATMAP_USUAL_HEIGHT 24u   /* lines where there is no terminal */
#define HEATMAP_FRAME_LINES  5u	   /* title, axis, instants, state, and the cursor's line */
#define HEATMAP_ROWS_MAX     200u
#define LABEL_MIN_COLUMNS    4u

/* One window; the array grows to what the fullest window needed, and is used again. */
struct heat_column {
	struct histogram_cell *cells;
	u32 n_cells, capacity;
	u64 start_ns, end_ns;
};

struct heat_state {
	u32 histogram; /* the column of the schema that is drawn */
	const char *name;
	u8 of;
	struct scheme scheme; /* a copy: at the end the query's may be gone */
	bool has_scheme;
	u64 *counts; /* of the window, cell by cell */
	u64 *before; /* running totals: what the snapshot before held */
	u32 n_cells;
	struct heat_column *columns; /* a ring: the oldest is at `first` once it is full */
	u32 first, n_columns;
	u64 *grid; /* HEATMAP_ROWS_MAX * HEATMAP_COLUMNS_MAX */
	struct batch total;
	u64 n_windows;
	u64 count, n_unplaced;		     /* of the run */
	u64 window_count, window_n_unplaced; /* of the latest batch */
	u32 drawn_lines, drawn_width, drawn_height;
};

/* The map's rows for the cells that were seen, and its columns that are shown. */
struct heat_view {
	u32 lowest, a_row; /* row of a cell: cell / a_row - lowest */
	u32 n_rows;
	u32 from, n_columns; /* of state's columns, oldest first */
	u32 digits, label_columns;
	u64 largest;
};

static void heatmap_begin(struct out *out, const struct schema *schema)
{
	struct heat_state *state = calloc(1, sizeof(*state));

	BUG_ON(!state || !out_has_histogram(schema));
	while (schema->columns[state->histogram].type.kind != TYPE_HISTOGRAM)
		state->histogram++;
	state->name = strdup(schema->columns[state->histogram].name);
	state->of = schema->columns[state->histogram].type.of;
	state->columns = calloc(HEATMAP_COLUMNS_MAX, sizeof(*state->columns));
	state->grid = calloc((size_t)HEATMAP_ROWS_MAX * HEATMAP_COLUMNS_MAX, sizeof(u64));
	BUG_ON(!state->name || !state->columns || !state->grid);
	out->state = state;
}

/* --- Taking windows in --- */

static void take_scheme(struct heat_state *state, const struct scheme *scheme)
{
	size_t bytes = scheme->n_bounds * sizeof(*scheme->bounds);
	s64 *bounds = malloc(bytes + 1);

	state->n_cells = scheme_n_cells(scheme);
	state->counts = calloc(state->n_cells, sizeof(u64));
	state->before = calloc(state->n_cells, sizeof(u64));
	BUG_ON(!bounds || !state->counts || !state->before);
	if (bytes > 0)
		memcpy(bounds, scheme->bounds, bytes);
	state->scheme = *scheme;
	state->scheme.bounds = bounds;
	state->has_scheme = true;
}

/* All rows of a batch, summed into state->counts. */
static void sum_rows(struct heat_state *state, const struct batch *batch)
{
	state->window_count = state->window_n_unplaced = 0;
	for (u32 row = 0; row < batch->n_rows; row++) {
		const struct value *value =
			&batch->values[(u64)row * batch->schema->n_columns + state->histogram];
		const struct histogram *histogram = value->histogram;

		if (value->kind != VALUE_HISTOGRAM)
			continue;
		if (!state->has_scheme)
			take_scheme(state, histogram->scheme);
		for (u32 i = 0; i < histogram->n_cells; i++)
			state->counts[histogram->cells[i].cell] += histogram->cells[i].count;
		state->window_count += histogram->count;
		state->window_n_unplaced += histogram->n_unplaced;
	}
}

static struct heat_column *next_column(struct heat_state *state)
{
	if (state->n_columns < HEATMAP_COLUMNS_MAX)
		return &state->columns[state->n_columns++];
	state->first = (state->first + 1) % HEATMAP_COLUMNS_MAX;
	return &state->columns[(state->first + HEATMAP_COLUMNS_MAX - 1) % HEATMAP_COLUMNS_MAX];
}

static void column_add(struct heat_column *column, u32 cell, u64 count)
{
	if (column->n_cells == column->capacity) {
		column->capacity = column->capacity ? column->capacity * 2 : 16;
		column->cells = realloc(column->cells, column->capacity * sizeof(*column->cells));
		if (!column->cells)
			base_no_memory();
	}
	column->cells[column->n_cells++] = (struct histogram_cell){ cell, count };
}

/* state->counts, now 0 again, as a new column; of running totals what is new in them. */
static void take_column(struct heat_state *state, const struct batch *batch)
{
	struct heat_column *column = next_column(state);

	column->n_cells = 0;
	column->start_ns = batch->window_start_ns;
	column->end_ns = batch->window_end_ns;
	if (!batch->is_windowed && state->n_windows > 0)
		column->start_ns = state->total.window_end_ns;
	for (u32 cell = 0; cell < state->n_cells; cell++) {
		u64 count = state->counts[cell];

		if (!batch->is_windowed) {
			count -= MIN(state->before[cell], count);
			state->before[cell] = state->counts[cell];
		}
		if (count > 0)
			column_add(column, cell, count);
		state->counts[cell] = 0;
	}
}

/* The run's counters: sums of windows, or the latest running total. */
static void take_total(struct heat_state *state, const struct batch *batch)
{
	struct batch *total = &state->total;

	if (state->n_windows++ == 0)
		total->window_start_ns = batch->window_start_ns;
	total->window_end_ns = batch->window_end_ns;
	if (!batch->is_windowed) {
		total->events = total->matched = 0;
		memset(total->lost, 0, sizeof(total->lost));
		memset(total->unpaired, 0, sizeof(total->unpaired));
		state->count = state->n_unplaced = 0;
	}
	total->events += batch->events;
	total->matched += batch->matched;
	for (u32 i = 0; i < LOSS_N; i++)
		total->lost[i] += batch->lost[i];
	for (u32 i = 0; i < UNPAIRED_N; i++)
		total->unpaired[i] += batch->unpaired[i];
	state->count += state->window_count;
	state->n_unplaced += state->window_n_unplaced;
}

/* --- The view --- */

static const struct heat_column *column_at(const struct heat_state *state, u32 i)
{
	return &state->columns[(state->first + i) % HEATMAP_COLUMNS_MAX];
}

/* Rows for all cells that the kept windows hold; none when they hold nothing. */
static void view_rows(struct heat_state *state, u32 height, struct heat_view *view)
{
	u32 first = UINT32_MAX, last = 0;

	for (u32 i = 0; i < state->n_columns; i++) {
		const struct heat_column *column = column_at(state, i);

		if (column->n_cells == 0)
			continue;
		first = MIN(first, column->cells[0].cell);
		last = MAX(last, column->cells[column->n_cells - 1].cell);
	}
	view->a_row = 1;
	view->n_rows = 0;
	if (first > last)
		return;
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
		const struct heat_column *column = column_at(state, view->from + i);

		for (u32 j = 0; j < column->n_cells; j++) {
			u32 row = column->cells[j].cell / view->a_row - view->lowest;
			u64 *at = &state->grid[(size_t)row * view->n_columns + i];

			*at += column->cells[j].count;
			view->largest = MAX(view->largest, *at);
		}
	}
}

/* log2 n in 256ths, n not 0: each squaring of the mantissa yields one binary digit more. */
static u32 log2_256(u64 n)
{
	u32 log = 63 - (u32)__builtin_clzll(n);
	u64 mantissa = log > 31 ? n >> (log - 31) : n << (31 - log); /* [2^31, 2^32) */

	for (u32 i = 0; i < 8; i++) {
		u32 digit;

		mantissa = mantissa * mantissa >> 31;
		digit = (u32)(mantissa >> 32);
		mantissa >>= digit;
		log = log << 1 | digit;
	}
	return log;
}

/* 0 for no event, then 1 .. n_shades - 1 by the logarithm of the count. */
static u32 shade_of(u64 count, u64 largest, u32 n_shades)
{
	u32 highest;

	if (count == 0)
		return 0;
	if (largest <= 1)
		return n_shades - 1;
	highest = log2_256(largest);
	return 1 + (log2_256(count) * (n_shades - 2) + highest / 2) / highest;
}

/* --- Lines of text --- */

static void put_columns(struct out *out, u32 columns)
{
	if (out->scratch.n < columns)
		buf_fill(&out->buf, ' ', columns - out->scratch.n);
	buf_put(&out->buf, out->scratch.at, out->scratch.n);
}

/* Instants below the axis: where the first column begins, where the last one ends. */
static void put_instants(struct out *out, const struct heat_view *view, u32 width)
{
	struct heat_state *state = out->state;
	u32 n = view->n_columns;

	buf_fill(&out->buf, ' ', view->label_columns + 2);
	out_put_time_of_day(&out->buf, column_at(state, view->from)->start_ns);
	buf_reset(&out->scratch);
	out_put_time_of_day(&out->scratch, column_at(state, view->from + n - 1)->end_ns);
	if (n >= 2 * out->scratch.n + 2) {
		put_columns(out, n - (u32)out->scratch.n);
	} else if (width == 0 || view->label_columns + 2 + 2 * out->scratch.n + 3 <= width) {
		buf_puts(&out->buf, " - ");
		put_columns(out, 0);
	}
}

static void put_axis(struct out *out, const struct heat_view *view)
{
	buf_fill(&out->buf, ' ', view->label_columns + 1);
	buf_putc(&out->buf, '+');
	buf_fill(&out->buf, '-', view->n_columns);
}

/* --- The whole, in ASCII --- */

static const char ascii_shades[] = " .:-=+*#%@";

#define N_ASCII_SHADES ((u32)sizeof(ascii_shades) - 1)

static void ascii_legend(struct out *out, u64 largest)
{
	struct heat_state *state = out->state;

	out_put_visible(&out->buf, state->name, strlen(state->name), 0);
	if (largest == 0) {
		buf_puts(&out->buf, "   no events\n");
		return;
	}
	buf_printf(&out->buf, "   '%c' 1 .. '%c' ", ascii_shades[1],
		   ascii_shades[N_ASCII_SHADES - 1]);
	out_put_thousands(&out->buf, largest);
	buf_puts(&out->buf, " events, log scale, relative to the largest of the map\n");
}

static void ascii_band(struct out *out, const struct heat_view *view, u64 largest)
{
	struct heat_state *state = out->state;

	for (u32 row = view->n_rows; row-- > 0;) {
		const u64 *counts = &state->grid[(size_t)row * view->n_columns];
		u32 n = view->n_columns;

		put_label(out, view, row);
		put_columns(out, view->label_columns);
		buf_puts(&out->buf, " |");
		while (n > 0 && counts[n - 1] == 0)
			n--; /* no spaces at the end of a line */
		for (u32 i = 0; i < n; i++)
			buf_putc(&out->buf,
				 ascii_shades[shade_of(counts[i], largest, N_ASCII_SHADES)]);
		buf_putc(&out->buf, '\n');
		if (!out_row_done(out))
			return;
	}
	put_axis(out, view);
	buf_putc(&out->buf, '\n');
	put_instants(out, view, out->options.width);
	buf_putc(&out->buf, '\n');
}

static void ascii_sums(struct out *out)
{
	struct heat_state *state = out->state;
	struct buf *buf = &out->buf;

	out_put_window(buf, &state->total);
	buf_puts(buf, "   windows ");
	out_put_thousands(buf, state->n_windows);
	buf_puts(buf, "  events ");
	out_put_thousands(buf, state->total.events);
	buf_puts(buf, "  matched ");
	out_put_thousands(buf, state->total.matched);
	buf_puts(buf, "  count ");
	out_put_thousands(buf, state->count);
	if (state->n_unplaced > 0) {
		buf_puts(buf, "  unplaced ");
		out_put_thousands(buf, state->n_unplaced);
	}
	if (state->n_windows > state->n_columns) {
		buf_puts(buf, "  shown: the last ");
		out_put_thousands(buf, state->n_columns);
	}
	buf_putc(buf, '\n');
	out_put_loss(buf, &state->total);
	if (batch_has_loss(&state->total))
		buf_putc(buf, '\n');
}

/* In bands one below the other, each as wide as the terminal; all in one where width is 0. */
static void draw_all(struct out *out)
{
	struct heat_state *state = out->state;
	u32 height = out->options.height ? out->options.height : HEATMAP_USUAL_HEIGHT;
	struct heat_view view = { 0 };
	u32 band, n = state->n_columns;
	u64 largest;

	if (n == 0)
		return;
	height = MAX(height, HEATMAP_FRAME_LINES + 1) - HEATMAP_FRAME_LINES;
	view_rows(state, MIN(height, HEATMAP_ROWS_MAX), &view);
	view_labels(out, &view);
	view.n_columns = n;
	view_grid(state, &view);
	largest = view.largest;
	band = n;
	if (out->options.width > 0)
		band = MAX(out->options.width, view.label_columns + 3) - view.label_columns - 2;
	ascii_legend(out, largest);
	for (view.from = 0; view.from < n && !out->error; view.from += band) {
		view.n_columns = MIN(band, n - view.from);
		view_grid(state, &view);
		ascii_band(out, &view, largest);
	}
	ascii_sums(out);
}

/* --- Live, in colours --- */

/* Of the 256 colours' 6 x 6 x 6 cube: from dark blue through green and yellow to red, white. */
static const u8 live_colours[] = { 0,  17,  18,	 19,  25,  31,	37,  43,  42,
				   76, 118, 190, 226, 220, 214, 208, 202, 196 };

static void put_colour(struct out *out, u32 shade)
{
	buf_puts(&out->buf, "\x1b[48;5;");
	buf_put_u64(&out->buf, live_colours[shade]);
	buf_putc(&out->buf, 'm');
}

/* Ends a line: what an earlier, longer one left behind goes. */
static void live_end_line(struct out *out)
{
	struct heat_state *state = out->state;

	buf_puts(&out->buf, "\x1b[K\n");
	state->drawn_lines++;
}

static void live_row(struct out *out, const struct heat_view *view, u32 row)
{
	struct heat_state *state = out->state;
	const u64 *counts = &state->grid[(size_t)row * view->n_columns];
	u32 shown = 0;

	put_label(out, view, row);
	put_columns(out, view->label_columns);
	buf_puts(&out->buf, " |");
	for (u32 i = 0; i < view->n_columns; i++) {
		u32 shade = shade_of(counts[i], view->largest, ARRAY_SIZE(live_colours));

		if (shade != shown && shade == 0)
			buf_puts(&out->buf, "\x1b[0m");
		else if (shade != shown)
			put_colour(out, shade);
		buf_putc(&out->buf, ' ');
		shown = shade;
	}
	if (shown)
		buf_puts(&out->buf, "\x1b[0m");
	live_end_line(out);
}

/* Name, then the colours from 1 to the largest count; left out where it finds no room. */
static void live_legend(struct out *out, const struct heat_view *view, u32 width)
{
	struct heat_state *state = out->state;
	u32 left = width;

	buf_reset(&out->scratch);
	out_put_thousands(&out->scratch, view->largest);
	left -= out_put_visible(&out->buf, state->name, strlen(state->name), width);
	if (view->largest > 0 && left >= 8 + ARRAY_SIZE(live_colours) + out->scratch.n) {
		left -= 6 + ARRAY_SIZE(live_colours) + (u32)out->scratch.n;
		buf_puts(&out->buf, "   1 ");
		for (u32 shade = 1; shade < ARRAY_SIZE(live_colours); shade++) {
			put_colour(out, shade);
			buf_putc(&out->buf, ' ');
		}
		buf_puts(&out->buf, "\x1b[0m ");
		buf_put(&out->buf, out->scratch.at, out->scratch.n);
		if (left >= 50)
			buf_puts(&out->buf, "   log scale, relative to the screen's largest");
	}
	live_end_line(out);
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
	if (batch_has_loss(batch))
		buf_puts(buf, "  ");
	out_put_loss(buf, batch);
	out_put_visible(&out->buf, buf->at, buf->n, width);
	live_end_line(out);
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

static void live_draw(struct out *out, const struct batch *batch)
{
	struct heat_state *state = out->state;
	/* The last column stays free: erasing behind a full line takes its last character. */
	u32 width = MAX(out->options.width ? out->options.width : 80, 2u) - 1;
	u32 height = out->options.height ? out->options.height : HEATMAP_USUAL_HEIGHT;
	struct heat_view view = { 0 };
	u32 room;

	live_home(out, width, height);
	height = MAX(height, HEATMAP_FRAME_LINES + 1) - HEATMAP_FRAME_LINES;
	view_rows(state, MIN(height, HEATMAP_ROWS_MAX), &view);
	view_labels(out, &view);
	room = MAX(width, view.label_columns + 3) - view.label_columns - 2;
	view.n_columns = MIN(room, state->n_columns);
	view.from = state->n_columns - view.n_columns;
	view_grid(state, &view);
	live_legend(out, &view, width);
	for (u32 row = view.n_rows; row-- > 0;)
		live_row(out, &view, row);
	put_axis(out, &view);
	live_end_line(out);
	put_instants(out, &view, width);
	live_end_line(out);
	live_state_line(out, batch, width);
	buf_puts(&out->buf, "\x1b[J");
}

static bool is_live(const struct out *out)
{
	return out->options.is_terminal && !out->options.is_ascii;
}

static void heatmap_batch(struct out *out, const struct batch *batch)
{
	struct heat_state *state = out->state;

	sum_rows(state, batch);
	take_column(state, batch);
	take_total(state, batch);
	if (is_live(out))
		live_draw(out, batch);
}

static void heatmap_end(struct out *out)
{
	struct heat_state *state = out->state;

	if (!is_live(out) && !out->error)
		draw_all(out);
	for (u32 i = 0; i < HEATMAP_COLUMNS_MAX; i++)
		free(state->columns[i].cells);
	free(state->columns);
	free(state->grid);
	free(state->counts);
	free(state->before);
	free((s64 *)state->scheme.bounds);
	free((char *)state->name);
	free(state);
}

const struct out_format out_heatmap = {
	.name = "heatmap",
	.meaning = "a histogram's windows as columns of colour, live in a terminal",
	.needs_histogram = true,
	.begin = heatmap_begin,
	.batch = heatmap_batch,
	.end = heatmap_end,
};
