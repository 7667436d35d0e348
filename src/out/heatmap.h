/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The state of a heat map, between the part that takes windows in (heatmap.c) and the
 * one that draws them (heatmap_draw.c).
 */
#ifndef EBQL_OUT_HEATMAP_H
#define EBQL_OUT_HEATMAP_H

#include "out/format.h"

#define HEATMAP_COLUMNS_MAX  2048u /* that are kept */
#define HEATMAP_FILE_COLUMNS 200u  /* of a file; as HEATMAP_COLUMNS_MAX even, to be halved */
#define HEATMAP_ROWS_MAX     200u

/* One window, or as many as there are to a column; the array grows to what the fullest window
 * needed, and is used again. */
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
	bool is_out_of_memory; /* a window found no room: the map ends there */
	u64 *counts;	       /* of the window, cell by cell */
	u64 *before;	       /* running totals: what the snapshot before held */
	u32 n_cells;
	u32 n_columns;
	u64 a_column; /* windows to a column, of which the last one has n_in_last so far */
	u64 n_in_last;
	struct batch total;
	u64 n_windows, n_late;
	u64 count, n_unplaced;		     /* of the run */
	u64 window_count, window_n_unplaced; /* of the latest batch */
	u32 drawn_lines, drawn_width, drawn_height, n_shown;
	struct heat_column columns[HEATMAP_COLUMNS_MAX]; /* the oldest first */
	u64 grid[HEATMAP_ROWS_MAX * HEATMAP_COLUMNS_MAX];
};

/* Redrawn in place at each window; else drawn once, at the end. */
static inline bool heatmap_is_live(const struct out *out)
{
	return out->has_escapes && !out->options.is_ascii;
}

/* The live map, of the newest windows, over the one before. */
void heatmap_draw_live(struct out *out, const struct batch *batch);
/* The picture, where it is not there yet, and what the run saw and lost. */
void heatmap_draw_end(struct out *out);

#endif
