/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Histograms of successive windows -> a heat map: time across, values up, one column
 * a window, colour by count.  A terminal sees it grow, redrawn in place; a file (or
 * --ascii) gets the whole of it at the end, in ASCII shades: there neighbouring windows
 * are summed once they are too many, so that it shows a run of any length.
 * The groups of a window are summed.
 */
#include "out/heatmap.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int heatmap_begin(struct out *out, const struct schema *schema)
{
	struct heat_state *state = out->state;

	while (schema->columns[state->histogram].type.kind != TYPE_HISTOGRAM)
		state->histogram++;
	state->a_column = 1;
	state->name = schema->columns[state->histogram].name;
	state->of = schema->columns[state->histogram].type.of;
	return 0;
}

/* --- Taking windows in --- */

static void take_scheme(struct heat_state *state, const struct scheme *scheme)
{
	state->n_cells = scheme_n_cells(scheme);
	state->counts = calloc(state->n_cells, sizeof(u64));
	state->before = calloc(state->n_cells, sizeof(u64));
	state->has_scheme = scheme_copy(scheme, &state->scheme) && state->counts && state->before;
	state->is_out_of_memory = !state->has_scheme;
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
		if (state->is_out_of_memory)
			return;
		for (u32 i = 0; i < histogram->n_cells; i++)
			state->counts[histogram->cells[i].cell] += histogram->cells[i].count;
		state->window_count += histogram->count;
		state->window_n_unplaced += histogram->n_unplaced;
	}
}

/*
 * The column that a window goes to.  A live map drops its oldest; of a map that is drawn at the
 * end make_room() has seen to it that one is free.
 */
static struct heat_column *next_column(struct heat_state *state)
{
	struct heat_column *columns = state->columns, oldest = columns[0];

	if (state->n_columns > 0 && state->n_in_last < state->a_column) {
		state->n_in_last++;
		return &columns[state->n_columns - 1];
	}
	state->n_in_last = 1;
	if (state->n_columns < HEATMAP_COLUMNS_MAX) {
		state->n_columns++;
	} else {
		memmove(columns, columns + 1, (HEATMAP_COLUMNS_MAX - 1) * sizeof(*columns));
		columns[HEATMAP_COLUMNS_MAX - 1] = oldest;
	}
	columns[state->n_columns - 1].n_cells = 0;
	return &columns[state->n_columns - 1];
}

static void column_add(struct heat_state *state, struct heat_column *column, u32 cell, u64 count)
{
	u32 capacity = column->capacity ? column->capacity * 2 : 16;

	if (column->n_cells == column->capacity) {
		void *grown = realloc(column->cells, capacity * sizeof(*column->cells));

		if (!grown) {
			state->is_out_of_memory = true;
			return;
		}
		column->cells = grown;
		column->capacity = capacity;
	}
	column->cells[column->n_cells++] = (struct histogram_cell){ cell, count };
}

static void add_to_counts(struct heat_state *state, const struct heat_column *column)
{
	for (u32 i = 0; i < column->n_cells; i++)
		state->counts[column->cells[i].cell] += column->cells[i].count;
}

/* The column becomes what state->counts holds, which are 0 then. */
static void set_from_counts(struct heat_state *state, struct heat_column *column)
{
	column->n_cells = 0;
	for (u32 cell = 0; cell < state->n_cells; cell++) {
		if (state->counts[cell] > 0)
			column_add(state, column, cell, state->counts[cell]);
		state->counts[cell] = 0;
	}
}

/* All columns are taken and full: each two neighbours become one.  state->counts are 0. */
static void make_room(struct heat_state *state, u32 n_max)
{
	if (state->n_columns < n_max || state->n_in_last < state->a_column)
		return;
	for (u32 i = 0; i < n_max / 2; i++) {
		const struct heat_column *one = &state->columns[2 * i], *two = one + 1;
		u64 start_ns = one->start_ns, end_ns = two->end_ns;

		add_to_counts(state, one);
		add_to_counts(state, two);
		set_from_counts(state, &state->columns[i]);
		state->columns[i].start_ns = start_ns;
		state->columns[i].end_ns = end_ns;
	}
	state->n_columns = n_max / 2;
	state->a_column *= 2;
	state->n_in_last = state->a_column;
}

/* state->counts, now 0 again, into a column; of running totals what is new in them. */
static void take_column(struct heat_state *state, const struct batch *batch)
{
	struct heat_column *column = next_column(state);

	for (u32 cell = 0; cell < state->n_cells && !batch->is_windowed; cell++) {
		u64 count = state->counts[cell];

		state->counts[cell] = count - MIN(state->before[cell], count);
		state->before[cell] = count;
	}
	if (state->n_in_last == 1) {
		column->start_ns = batch->window_start_ns;
		if (!batch->is_windowed && state->n_windows > 0)
			column->start_ns = state->total.window_end_ns;
	}
	column->end_ns = batch->window_end_ns;
	add_to_counts(state, column);
	set_from_counts(state, column);
}

/* The run's counters: sums of windows, or the latest running total. */
static void take_total(struct heat_state *state, const struct batch *batch)
{
	struct batch *total = &state->total;

	if (state->n_windows++ == 0)
		total->window_start_ns = batch->window_start_ns;
	total->window_end_ns = batch->window_end_ns;
	state->n_late += batch->late_ns || batch->n_merged;
	if (!batch->is_windowed) {
		total->account = (struct account){ 0 };
		total->sampled = (struct batch_sampled){ 0 };
		state->count = state->n_unplaced = 0;
	}
	account_add(&total->account, &batch->account);
	out_add_sampled(total, batch);
	state->count += state->window_count;
	state->n_unplaced += state->window_n_unplaced;
}

static void heatmap_batch(struct out *out, const struct batch *batch)
{
	struct heat_state *state = out->state;

	if (!heatmap_is_live(out))
		make_room(state,
			  out->options.is_terminal ? HEATMAP_COLUMNS_MAX : HEATMAP_FILE_COLUMNS);
	sum_rows(state, batch);
	if (!state->is_out_of_memory)
		take_column(state, batch);
	if (state->is_out_of_memory) {
		out->error = -ENOMEM;
		return;
	}
	take_total(state, batch);
	if (heatmap_is_live(out))
		heatmap_draw_live(out, batch);
}

static void heatmap_end(struct out *out)
{
	struct heat_state *state = out->state;

	if (!out->error)
		heatmap_draw_end(out);
	for (u32 i = 0; i < HEATMAP_COLUMNS_MAX; i++)
		free(state->columns[i].cells);
	free(state->counts);
	free(state->before);
	free((s64 *)state->scheme.bounds);
}

const struct out_format out_heatmap = {
	.name = "heatmap",
	.meaning = "a histogram's windows as columns of colour, live in a terminal",
	.needs_histogram = true,
	.state_bytes = sizeof(struct heat_state),
	.begin = heatmap_begin,
	.batch = heatmap_batch,
	.end = heatmap_end,
};
