/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A query's physical plan and state memory made by hand, and the kernel part's side
 * of it in plain C: what a program does to a slice for one event.
 */
#ifndef EBQL_TESTS_RUN_FAKE_H
#define EBQL_TESTS_RUN_FAKE_H

#include "phys/phys.h"
#include "drain/drain.h"
#include "drain/merge.h"
#include "drain/rows.h"

#define FAKE_KEYS_MAX  8
#define FAKE_CELLS_MAX 16

struct fake {
	struct arena arena;
	struct settings settings;
	struct phys phys;
	struct phys_key keys[FAKE_KEYS_MAX];
	struct expr exprs[FAKE_KEYS_MAX];
	struct cell cells[FAKE_CELLS_MAX];
	struct phys_aggregate aggregates[FAKE_CELLS_MAX];
	struct aggregate logical[FAKE_CELLS_MAX];
	struct scratch scratch; /* of fake_value() */
	struct column columns[FAKE_KEYS_MAX + FAKE_CELLS_MAX + 2];
	/* Keys, aggregates, window_start, window_end: as a cut without SQL gives them. */
	struct schema output;
	s32 picks[FAKE_KEYS_MAX + FAKE_CELLS_MAX + 2];
	u8 *state;
	struct drain drain;
	struct merge merge;
	u64 counters[COUNTER_N];
};

void fake_init(struct fake *fake, enum state_kind kind, u32 n_cpus, u32 n_levels, u64 max_groups);
/* Keys first (the null word must be there before: has_null), then cells, then aggregates. */
void fake_null_word(struct fake *fake);
struct phys_key *fake_key(struct fake *fake, struct type type);
void fake_slice_key(struct fake *fake);
s32 fake_cell(struct fake *fake, enum cell_kind kind, bool is_wide, bool is_signed);
void fake_aggregate(struct fake *fake, enum aggregate_kind kind, s32 count_cell, s32 value_cell);
/*
 * A histogram and, behind it, its sum, min and max; chunk_cells 0: dense.  Returns its
 * number.  The pool of each slice has pool_bytes.
 */
s32 fake_histogram(struct fake *fake, const struct scheme *scheme, u32 chunk_cells, u32 pool_bytes,
		   bool is_signed);
/* HISTOGRAM, or QUANTILE of these q (n_q > 1: a ladder), over that histogram. */
void fake_statistic(struct fake *fake, enum aggregate_kind kind, s32 histogram_cell,
		    const u32 *q_ppb, u32 n_q, enum quantile_part part);
/* Lays out and zeroes the state; opens drain and merge. */
void fake_ready(struct fake *fake);
void fake_free(struct fake *fake);

/* The cells of the group's row in that slice (new if need be), or of "(other)". */
u8 *fake_row(struct fake *fake, u32 copy, u32 cpu, u32 level, const u64 *words);
u64 *fake_counters(struct fake *fake, u32 copy, u32 cpu, u32 level);
/* What the programs do with one value of a cell. */
void fake_update(struct fake *fake, u8 *cells, s32 cell, s128 value);

/* What the programs do with a value of a histogram, its sum, min and max. */
void fake_histogram_update(struct fake *fake, u8 *cells, u32 copy, u32 cpu, u32 level,
			   s32 histogram_cell, s128 value);

void fake_drain(struct fake *fake, u32 copy);
bool fake_is_clean(const struct fake *fake);
struct value fake_value(const struct fake *fake, u32 position, u32 column);

#endif
