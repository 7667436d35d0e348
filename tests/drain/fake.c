/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Follows the description of the layout in phys/phys.h, not the code that reads it.
 */
#include "fake.h"

#include <stdlib.h>
#include <string.h>

void fake_init(struct fake *fake, enum state_kind kind, u32 n_cpus, u32 n_levels, u64 max_groups)
{
	struct phys *phys = &fake->phys;

	memset(fake, 0, sizeof(*fake));
	arena_init(&fake->arena);
	phys->settings = &fake->settings;
	phys->arena = &fake->arena;
	phys->keys = fake->keys;
	phys->cells = fake->cells;
	phys->aggregates = fake->aggregates;
	fake->output.columns = fake->columns;
	phys->exists_cell = -1;
	phys->matched_cell = -1;
	phys->state = (struct state_layout){
		.kind = kind, .n_cpus = n_cpus, .n_levels = n_levels, .max_groups = max_groups
	};
}

void fake_null_word(struct fake *fake)
{
	fake->phys.state.key_words = 1;
}

struct phys_key *fake_key(struct fake *fake, struct type type)
{
	u32 n = fake->phys.n_keys++;
	struct phys_key *key = &fake->keys[n];

	fake->exprs[n].type = type;
	key->expr = &fake->exprs[n];
	key->null_bit = -1;
	key->first_word = fake->phys.state.key_words;
	key->n_words = type.kind == TYPE_TEXT || type.kind == TYPE_BLOB ? (type.bytes + 7) / 8 : 1;
	fake->phys.state.key_words += key->n_words;
	return key;
}

void fake_slice_key(struct fake *fake)
{
	u32 n = fake->phys.n_keys++;

	fake->exprs[n].type = type_int(32, false);
	fake->keys[n] =
		(struct phys_key){ .expr = &fake->exprs[n], .is_slice = true, .null_bit = -1 };
}

s32 fake_cell(struct fake *fake, enum cell_kind kind, bool is_wide, bool is_signed)
{
	fake->cells[fake->phys.n_cells] = (struct cell){ .kind = kind,
							 .is_wide = is_wide,
							 .is_signed = is_signed,
							 .n_bytes = is_wide ? 16 : 8 };
	return fake->phys.n_cells++;
}

void fake_aggregate(struct fake *fake, enum aggregate_kind kind, s32 count_cell, s32 value_cell)
{
	struct type type = type_int(64, true);

	if (kind == AGGREGATE_AVG)
		type.kind = TYPE_REAL;
	fake->aggregates[fake->phys.n_aggregates++] =
		(struct phys_aggregate){ kind, type, count_cell, value_cell };
}

s32 fake_histogram(struct fake *fake, const struct scheme *scheme, u32 chunk_cells, u32 pool_bytes,
		   bool is_signed)
{
	s32 number = fake_cell(fake, CELL_HISTOGRAM, false, false);
	struct cell *cell = &fake->cells[number];

	cell->scheme = scheme;
	cell->n_cells = scheme_n_cells(scheme);
	cell->n_bytes = 8 * cell->n_cells;
	cell->chunk_cells = chunk_cells;
	if (chunk_cells) {
		cell->n_chunks = (cell->n_cells + chunk_cells - 1) / chunk_cells;
		cell->unplaced_bytes = ALIGN_UP(4 * cell->n_chunks, 8);
		cell->n_bytes = cell->unplaced_bytes + 8;
		fake->phys.state.pool_bytes = pool_bytes;
	}
	fake_cell(fake, CELL_SUM, true, is_signed);
	fake_cell(fake, CELL_MIN, false, is_signed);
	fake_cell(fake, CELL_MAX, false, is_signed);
	return number;
}

void fake_statistic(struct fake *fake, enum aggregate_kind kind, s32 histogram_cell,
		    const u32 *q_ppb, u32 n_q, enum quantile_part part)
{
	u32 n = fake->phys.n_aggregates++;
	struct aggregate *a = &fake->logical[n];

	*a = (struct aggregate){ .kind = kind, .q_ppb = q_ppb, .n_q = n_q, .part = part };
	a->is_ladder = n_q > 1;
	a->type = type_int(64, true);
	if (kind == AGGREGATE_HISTOGRAM)
		a->type = (struct type){ .kind = TYPE_HISTOGRAM, .of = TYPE_INT };
	else if (a->is_ladder)
		a->type = (struct type){ .kind = TYPE_LADDER, .of = TYPE_INT };
	else if (part == QUANTILE_WHOLE)
		a->type = (struct type){ .kind = TYPE_QUANTILE, .of = TYPE_INT };
	fake->aggregates[n] = (struct phys_aggregate){ .kind = kind,
						       .type = a->type,
						       .count_cell = -1,
						       .value_cell = -1,
						       .histogram_cell = histogram_cell,
						       .sum_cell = histogram_cell + 1,
						       .min_cell = histogram_cell + 2,
						       .max_cell = histogram_cell + 3,
						       .aggregate = a };
}

static void schema(struct fake *fake)
{
	struct phys *phys = &fake->phys;
	u32 n = 0, i;

	for (i = 0; i < phys->n_keys; i++)
		fake->columns[n++].type = fake->exprs[i].type;
	for (i = 0; i < phys->n_aggregates; i++)
		fake->columns[n++].type = fake->aggregates[i].type;
	for (i = 0; i < 2; i++)
		fake->columns[n++].type = (struct type){ .kind = TYPE_TIMESTAMP, .bits = 64 };
	fake->output.n_columns = n;
	for (i = 0; i < n; i++)
		fake->picks[i] = (s32)i;
	fake->picks[n - 2] = -1; /* CUT_PICK_START */
	fake->picks[n - 1] = -2; /* CUT_PICK_END */
}

void fake_ready(struct fake *fake)
{
	struct state_layout *s = &fake->phys.state;
	u32 at = s->kind == STATE_TABLE ? 8 + 8 * s->key_words : 0, i;

	s->cells_bytes_offset = at;
	for (i = 0; i < fake->phys.n_cells; i++) {
		fake->cells[i].bytes_offset = at;
		at += fake->cells[i].n_bytes;
	}
	s->row_bytes = at;
	if (s->kind == STATE_TABLE) {
		s->n_rows = s->max_groups + 1;
		s->n_index = 16;
		while (s->n_index < 2 * s->max_groups)
			s->n_index *= 2;
	} else if (!s->n_rows) {
		s->n_rows = 1;
	}
	s->index_bytes_offset = 8 * COUNTER_N;
	s->rows_bytes_offset = s->index_bytes_offset + 4 * s->n_index;
	s->pool_bytes_offset = ALIGN_UP(s->rows_bytes_offset + s->n_rows * s->row_bytes, 64);
	s->slice_bytes = ALIGN_UP((u64)s->pool_bytes_offset + s->pool_bytes, 128);
	s->total_bytes = s->slice_bytes * STATE_COPIES * s->n_cpus * s->n_levels;
	fake->state = calloc(1, s->total_bytes);
	BUG_ON(!fake->state);
	schema(fake);
	drain_open(&fake->drain, NULL, &fake->phys, &fake->arena);
	BUG_ON(merge_open(&fake->merge, &fake->phys, &fake->arena));
}

void fake_free(struct fake *fake)
{
	merge_close(&fake->merge);
	scratch_free(&fake->scratch);
	free(fake->state);
	arena_free(&fake->arena);
}

u64 *fake_counters(struct fake *fake, u32 copy, u32 cpu, u32 level)
{
	return (u64 *)(fake->state + state_slice_offset(&fake->phys.state, copy, cpu, level));
}

u8 *fake_row(struct fake *fake, u32 copy, u32 cpu, u32 level, const u64 *words)
{
	const struct state_layout *s = &fake->phys.state;
	u64 *counters = fake_counters(fake, copy, cpu, level);
	u8 *slice = (u8 *)counters, *rows = slice + s->rows_bytes_offset, *row;
	u32 *index = (u32 *)(slice + s->index_bytes_offset), slot;

	if (s->kind == STATE_DIRECT)
		return rows + (s->key_words ? (words[0] - (u64)s->domain_lo) * s->row_bytes : 0);
	if (s->kind == STATE_KERNEL_MAP)
		return rows; /* only "(other)" is here */
	slot = (words[0] * 31 + words[s->key_words - 1]) & (s->n_index - 1);
	for (; index[slot]; slot = (slot + 1) & (s->n_index - 1)) {
		row = rows + (u64)index[slot] * s->row_bytes;
		if (!memcmp(row + 8, words, 8 * s->key_words))
			return row + s->cells_bytes_offset;
	}
	if (counters[COUNTER_ROWS] >= s->max_groups) {
		counters[COUNTER_TABLE_FULL]++;
		return rows + s->cells_bytes_offset;
	}
	index[slot] = ++counters[COUNTER_ROWS];
	row = rows + (u64)index[slot] * s->row_bytes;
	memcpy(row, &slot, sizeof(slot));
	memcpy(row + 8, words, 8 * s->key_words);
	return row + s->cells_bytes_offset;
}

void fake_update(struct fake *fake, u8 *cells, s32 cell, s128 value)
{
	const struct cell *c = &fake->cells[cell];
	u8 *at = cells + c->bytes_offset - fake->phys.state.cells_bytes_offset;
	u64 word, biased = (u64)value ^ (c->is_signed ? CELL_BIAS : 0);
	s128 wide;

	memcpy(&word, at, 8);
	switch (c->kind) {
	case CELL_COUNT:
		word++;
		break;
	case CELL_SUM:
		if (c->is_wide) {
			memcpy(&wide, at, 16);
			wide += value;
			memcpy(at, &wide, 16);
			return;
		}
		word += (u64)value;
		break;
	case CELL_MIN:
		word = MAX(word, ~biased);
		break;
	default:
		word = MAX(word, biased);
	}
	memcpy(at, &word, 8);
}

/* The word of that cell; NULL: the pool has no room for its chunk. */
static u8 *histogram_word(struct fake *fake, u8 *at, const struct cell *c, u64 *counters, u32 cell)
{
	const struct state_layout *s = &fake->phys.state;
	u32 chunk_bytes = 8 * c->chunk_cells, place;

	if (!c->chunk_cells)
		return at + 8 * (size_t)cell;
	at += 4 * (size_t)(cell / c->chunk_cells);
	memcpy(&place, at, 4);
	if (!place) {
		if (counters[COUNTER_POOL] + chunk_bytes > s->pool_bytes)
			return NULL;
		place = s->pool_bytes_offset + counters[COUNTER_POOL];
		counters[COUNTER_POOL] += chunk_bytes;
		memcpy(at, &place, 4);
	}
	return (u8 *)counters + place + 8 * (size_t)(cell % c->chunk_cells);
}

void fake_histogram_update(struct fake *fake, u8 *cells, u32 copy, u32 cpu, u32 level,
			   s32 histogram_cell, s128 value)
{
	const struct cell *c = &fake->cells[histogram_cell];
	u8 *at = cells + c->bytes_offset - fake->phys.state.cells_bytes_offset, *to;
	u64 *counters = fake_counters(fake, copy, cpu, level), word;

	to = histogram_word(fake, at, c, counters, scheme_cell(c->scheme, value));
	if (!to) {
		to = at + c->unplaced_bytes;
		counters[COUNTER_UNPLACED]++;
	}
	memcpy(&word, to, 8);
	word++;
	memcpy(to, &word, 8);
	for (s32 i = 1; i <= 3; i++)
		fake_update(fake, cells, histogram_cell + i, value);
}

void fake_drain(struct fake *fake, u32 copy)
{
	BUG_ON(drain_copy(&fake->drain, fake->state, copy, -1, &fake->merge, fake->counters));
}

bool fake_is_clean(const struct fake *fake)
{
	u64 i;

	for (i = 0; i < fake->phys.state.total_bytes; i++)
		if (fake->state[i])
			return false;
	return true;
}

struct value fake_value(const struct fake *fake, u32 position, u32 column)
{
	const struct rows rows = { .phys = &fake->phys,
				   .merge = &fake->merge,
				   .scratch = (struct scratch *)&fake->scratch,
				   .window_start_ns = 1000,
				   .window_end_ns = 2000,
				   .matched = 1 };
	struct value value;

	rows_value(&rows, position, column, &value);
	return value;
}
